import PerchBase
import PerchModel
import PerchTesting
import Testing

private let present = Instant(milliseconds: 1_800_000_000_000)
private let hourLength: Int64 = 3_600_000

private func hours(_ count: Int) -> Instant { present.advanced(byMilliseconds: Int64(count) * hourLength) }

/// A reported account: lines whose periods are known in advance or not, purchases, grants. Few instants, so that many are the same.
private struct ReportedLife {
    var record = AccountRecord(account: 1, app: 1)
    private var random: SeededRandom

    init(_ random: inout SeededRandom) {
        self.random = SeededRandom(seed: random.next())
        var reported = ReportedRecord()
        for number in 0..<self.random.below(4) { reported.add(self.original(TransactionID(100 * (number + 1)))) }
        self.record.reported = reported
        for _ in 0..<self.random.below(3) {
            let until = self.random.optional { hours($0.below(60)) }
            let grant = EntitlementGrant(
                name: self.random.element(["plus", "extra", "support"]), until: until, reason: "", since: hours(-1),
                tier: self.random.element(["", "gold", "silver", "old"]))
            self.record.grants.removeAll { $0.name == grant.name }
            self.record.grants.append(grant)
        }
    }

    private mutating func original(_ id: TransactionID) -> ReportedOriginal {
        var original = ReportedOriginal(id: id)
        guard self.random.below(4) > 0 else {
            var bought = self.transaction(id, id, self.random.element(["lifetime", "season"]), .nonConsumable)
            bought.purchaseDate = hours(self.random.below(40) - 30)
            bought.revocation = self.revocation()
            _ = original.fold(bought, stamp: ReportStamp(signed: present, content: .zero))
            return original
        }
        var begin = self.random.below(40) - 40
        var last: Transaction?
        for period in 0...self.random.below(4) {
            let product = self.random.element(["gold", "silver", "silver", "bronze", "unlisted"])
            var next = self.transaction(id + TransactionID(period), id, product, .autoRenewable)
            next.subscriptionGroupID = self.random.element(["21475432", "G"])
            next.webOrderLineItemID = "w\(id + TransactionID(period))"
            next.purchaseDate = hours(begin)
            let end = begin + 1 + self.random.below(30)
            next.expirationDate = hours(end)
            next.isUpgraded = self.random.below(6) == 0
            next.revocation = self.revocation()
            _ = original.fold(next, stamp: ReportStamp(signed: hours(begin), content: .zero))
            last = next
            // The next period follows, begins early by an upgrade, or late after a retry.
            begin = max(begin + 1, end + self.random.element([0, 0, 0, -3, 4]))
        }
        guard let last, self.random.below(4) > 0 else { return original }
        let end = last.expirationDate ?? present
        let date = self.random.element([end, end, end.advanced(byMilliseconds: 20 * hourLength)])
        var info = RenewalInfo(
            originalTransactionID: id, currentProductID: last.productID, willAutoRenew: self.random.bool(),
            renewalDate: date, recentSubscriptionStartDate: last.purchaseDate, environment: .production,
            signedDate: present)
        info.isInBillingRetry = self.random.below(3) == 0
        info.gracePeriodExpirationDate =
            self.random.below(3) == 0 ? end.advanced(byMilliseconds: Int64(self.random.below(50)) * hourLength) : nil
        info.expirationReason = self.random.below(4) == 0 ? .billingError : nil
        _ = original.fold(
            info, renewalDate: self.random.below(4) > 0 ? date : nil,
            stamp: ReportStamp(signed: present, content: .zero))
        return original
    }

    private mutating func revocation() -> Revocation? {
        guard self.random.below(6) == 0 else { return nil }
        return Revocation(date: hours(self.random.below(50) - 20), reason: .other, type: .refundFull)
    }

    private func transaction(
        _ id: TransactionID, _ original: TransactionID, _ product: String, _ type: ProductType
    ) -> Transaction {
        Transaction(
            id: id, originalID: original, appBundleID: "com.example.app", productID: product, productType: type,
            purchaseDate: present, originalPurchaseDate: hours(-100), environment: .production,
            storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: present)
    }
}

@Suite struct `Segments of a copy` {
    private static let mapping = [
        EntitlementRule(name: "plus", groupID: "G", level: 1, tier: "gold"),
        EntitlementRule(name: "plus", groupID: "G", level: 2, tier: "silver"),
        EntitlementRule(name: "plus", productID: "lifetime", tier: "gold"),
        EntitlementRule(name: "extra", productID: "bronze"),
        EntitlementRule(name: "extra", groupID: "G", level: 2),
        EntitlementRule(name: "season", productID: "season"),
        EntitlementRule(name: "old", productID: "unlisted"),
        EntitlementRule(name: "weekly", groupID: "H", tier: "week"),
    ]

    private static func reportedApp(_ random: inout SeededRandom) -> AppState {
        var settings = AppSettings()
        settings.leewayMilliseconds = random.element([0, 5, 24, 100]) * hourLength
        return AppState(
            number: 1, bundleID: "com.example.app", environment: .production, revision: 1, effective: .distantPast,
            committed: present,
            catalogue: Shop.catalogue().replacing(entitlements: Self.mapping.shuffled(using: &random)),
            catalogueRevision: 1, catalogueSource: "", settings: settings, clock: .running(offsetMilliseconds: 0))
    }

    /// Compares the segments with the view at each instant at which either can change, and beside it.
    @discardableResult
    private static func compare(
        _ record: AccountRecord, _ app: AppState, from now: Instant, _ instants: [Instant], _ why: String
    ) -> Int {
        let sources = record.entitlementSources(after: now)
        let segments = EntitlementPlan(app).segments(of: sources, after: now)
        var instants = Set(instants + [now])
        for source in sources { instants.formUnion([source.from, source.end, source.shown]) }
        for segment in segments { instants.insert(segment.until) }
        for crossing in record.crossings(after: now, leewayMilliseconds: app.renewalLeewayMilliseconds) {
            instants.insert(crossing)
        }
        instants.formUnion(instants.flatMap { [$0.advanced(byMilliseconds: -1), $0.advanced(byMilliseconds: 1)] })
        var activeCount = 0
        for instant in instants.sorted() where instant >= now && instant < .distantFuture {
            var rest = namedEntitlements(of: record, app: app, at: instant).value.filter(\.isActive)
            var seen: Set<String> = []
            for segment in segments where instant < segment.until && seen.insert(segment.grade.name).inserted {
                guard segment.reason != .unspecified else { continue }
                let place = rest.firstIndex { $0.name == segment.grade.name }
                guard let place else {
                    Issue.record("\(why): \(segment) at \(instant), and the view denies it")
                    return activeCount
                }
                let shown = rest.remove(at: place)
                activeCount += 1
                let reason = segment.reason == .renewalAwaited ? .subscribed : segment.reason
                guard shown.tier == segment.grade.tier, shown.reason == "\(reason)",
                    segment.until <= shown.until ?? .distantFuture
                else {
                    Issue.record("\(why): \(segment) at \(instant), and the view has \(shown)")
                    return activeCount
                }
            }
            guard rest.isEmpty else {
                Issue.record("\(why): at \(instant) the segments \(segments) miss \(rest) of \(sources)")
                return activeCount
            }
        }
        return activeCount
    }

    @Test(arguments: UInt64(1)...4) func `are what the view of a reported account shows`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var activeCount = 0
        for round in 0..<150 {
            let app = Self.reportedApp(&random)
            let life = ReportedLife(&random)
            let now = hours(random.below(60) - 40)
            let instants = (0..<8).map { _ in hours(random.below(200) - 40) }
            activeCount += Self.compare(life.record, app, from: now, instants, "seed \(seed), round \(round)")
        }
        #expect(activeCount > 1_000)
    }

    /// A customer of a test app, after each thing that happens.
    @Test(arguments: UInt64(1)...4) func `are what the view of a test account shows`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var activeCount = 0
        for round in 0..<12 {
            var account = TestAccount(
                catalogue: Shop.catalogue().replacing(entitlements: Self.mapping.shuffled(using: &random)),
                settings: Shop.settings(billingIssues: random.bool(), grace: random.bool()))
            for step in 0..<10 {
                let hasLine = account.record.ownLineIndex(inGroup: "G") != nil
                // Many are refused, which changes nothing.
                switch random.below(hasLine ? 7 : 3) {
                case 0, 1, 2: _ = try? account.buy(random.element(Shop.all))
                case 3: try? account.setAutoRenew(random.bool())
                case 4: _ = try? account.refund(random.element(account.rows).id)
                case 5: try? account.expire()
                default: _ = try? account.forceRenewal()
                }
                let why = "seed \(seed), round \(round), step \(step)"
                // Before its due attempts are settled, and after.
                let later = account.now.advanced(byMilliseconds: Int64(random.below(60)) * 24 * hourLength)
                activeCount += Self.compare(account.record, account.app, from: account.now, [later], why)
                account.advance(to: later)
                activeCount += Self.compare(account.record, account.app, from: account.now, [], why)
            }
            account.settings.simulatedErrors[.verification] = .invalidSignature
            Self.compare(account.record, account.app, from: account.now, [], "seed \(seed), round \(round), unverified")
        }
        #expect(activeCount > 500)
    }

    /// Gold until Friday and silver until Sunday are two, and so is a renewal that was reported a day ahead.
    @Test func `follow each other`() {
        func subscribed(_ product: String, _ line: UInt32, from: Int = -10, to end: Int) -> EntitlementSource {
            EntitlementSource(
                .subscribed, productID: product, groupID: "G", line: line, from: hours(from), end: hours(end),
                shown: hours(end))
        }
        let plan = EntitlementPlan(Shop.app(catalogue: Shop.catalogue().replacing(entitlements: Self.mapping)))
        let (gold, silver) = (
            EntitlementGrade(name: "plus", tier: "gold"), EntitlementGrade(name: "plus", tier: "silver")
        )
        let extra = EntitlementSegment(EntitlementGrade(name: "extra", tier: ""), .subscribed, until: hours(50))
        #expect(
            plan.segments(of: [subscribed("silver", 0, to: 50), subscribed("gold", 1, to: 10)], after: present) == [
                extra, EntitlementSegment(gold, .subscribed, until: hours(10)),
                EntitlementSegment(silver, .subscribed, until: hours(50)),
            ])
        #expect(
            plan.segments(of: [subscribed("gold", 0, to: 5), subscribed("gold", 0, from: 7, to: 9)], after: present)
                == [
                    EntitlementSegment(gold, .subscribed, until: hours(5)),
                    EntitlementSegment(EntitlementGrade(name: "plus", tier: ""), .unspecified, until: hours(7)),
                    EntitlementSegment(gold, .subscribed, until: hours(9)),
                ])
        #expect(plan.segments(of: [subscribed("gold", 0, to: 5)], after: hours(5)).isEmpty)
    }
}
