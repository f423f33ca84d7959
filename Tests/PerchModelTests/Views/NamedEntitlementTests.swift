import PerchBase
import PerchModel
import PerchTesting
import Testing

private let present = Instant(milliseconds: 1_800_000_000_000)
private let hourLength: Int64 = 3_600_000

/// One thing that may entitle an account to a name.
private enum Source: Hashable {
    /// A reported subscription of a product: hours from now to its end, and whether its renewal is awaited.
    case line(id: TransactionID, product: String, end: Int64, renews: Bool, isRefunded: Bool)
    case lifetime(id: TransactionID, isRefunded: Bool)
    case grant(tier: String, end: Int64?)

    static func random(_ number: Int, _ random: inout SeededRandom) -> Source {
        let id = TransactionID(100 + number)
        let end = Int64.random(in: -30...60, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .lifetime(id: id, isRefunded: Bool.random(using: &random))
        case 1:
            let tier = ["", "gold", "silver", "bronze", "old"].randomElement(using: &random) ?? ""
            return .grant(tier: tier, end: Bool.random(using: &random) ? nil : end)
        default:
            return .line(
                id: id, product: ["gold", "silver", "bronze"].randomElement(using: &random) ?? "gold", end: end,
                renews: Bool.random(using: &random), isRefunded: Int.random(in: 0..<5, using: &random) == 0)
        }
    }

    func add(to record: inout AccountRecord) {
        switch self {
        case .grant(let tier, let end):
            let grant = EntitlementGrant(
                name: "plus", until: end.map { present.advanced(byMilliseconds: $0 * hourLength) }, reason: "",
                since: present.advanced(byMilliseconds: -hourLength), tier: tier)
            record.apply(Fact(.reported(.granted(grant)), effective: present))
        case .lifetime(let id, let isRefunded):
            self.report(id, "lifetime", .nonConsumable, end: nil, isRefunded, to: &record)
        case .line(let id, let product, let end, let renews, let isRefunded):
            self.report(id, product, .autoRenewable, end: end, isRefunded, to: &record)
            let date = present.advanced(byMilliseconds: end * hourLength)
            var info = RenewalInfo(
                originalTransactionID: id, currentProductID: product, willAutoRenew: renews, renewalDate: date,
                recentSubscriptionStartDate: date, environment: .production,
                signedDate: date.advanced(byMilliseconds: -hourLength))
            info.autoRenewPreference = renews ? product : nil
            record.apply(Fact(.reported(.renewal(info, renewalDate: date, content: .zero)), effective: present))
        }
    }

    private func report(
        _ id: TransactionID, _ product: String, _ type: ProductType, end: Int64?, _ isRefunded: Bool,
        to record: inout AccountRecord
    ) {
        let begin = present.advanced(byMilliseconds: -2_000 * hourLength)
        var transaction = Transaction(
            id: id, originalID: id, appBundleID: "com.example.app", productID: product, productType: type,
            purchaseDate: begin, originalPurchaseDate: begin, environment: .production,
            storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: begin)
        if let end {
            transaction.subscriptionGroupID = "21475432"
            transaction.webOrderLineItemID = "w\(id)"
            transaction.expirationDate = present.advanced(byMilliseconds: end * hourLength)
        }
        if isRefunded { transaction.revocation = Revocation(date: begin, reason: .other, type: .refundFull) }
        let original = ReportedOriginal(id: id)
        if let fact = original.fact(of: transaction, content: .zero) {
            record.apply(Fact(.reported(.transaction(fact)), effective: present))
        }
    }
}

@Suite struct `A named entitlement that has ended` {
    @Test func `ended with the access, and not with the period`() throws {
        let catalogue = Shop.catalogue().replacing(entitlements: [EntitlementRule(name: "plus", groupID: "G")])
        func ended(_ account: TestAccount) -> NamedEntitlement? {
            namedEntitlements(of: account.record, app: account.app, at: account.now).value.first
        }
        var emma = TestAccount(catalogue: catalogue)
        try emma.buy("silver")
        emma.advance(days: 5)
        try emma.refund(1)
        emma.advance(days: 5)
        #expect(ended(emma)?.isActive == false && ended(emma)?.until == at("2026-01-15"))
        var clara = TestAccount(catalogue: catalogue, settings: Shop.settings(billingIssues: true, grace: true))
        try clara.buy("silver")
        clara.advance(to: at("2026-03-15"))
        #expect(ended(clara)?.state == .inBillingRetryPeriod && ended(clara)?.until == at("2026-02-26"))
        clara.advance(to: at("2026-06-15"))
        #expect(ended(clara)?.state == .expired && ended(clara)?.until == at("2026-02-26"))
    }
}

@Suite struct `Named entitlements of any sources` {
    /// Mappings with tiers in every order, without some of them and with none.
    private static func rules(_ random: inout SeededRandom) -> [EntitlementRule] {
        let isTiered = Int.random(in: 0..<4, using: &random) > 0
        func tier(_ name: String) -> String { isTiered && Int.random(in: 0..<6, using: &random) > 0 ? name : "" }
        return [
            EntitlementRule(name: "plus", groupID: "G", level: 1, tier: tier("gold")),
            EntitlementRule(name: "plus", groupID: "G", level: 2, tier: tier("silver")),
            EntitlementRule(name: "plus", groupID: "G", level: 3, tier: tier("bronze")),
            EntitlementRule(name: "plus", productID: "lifetime", tier: tier("gold")),
        ].shuffled(using: &random)
    }

    private static func app(_ rules: [EntitlementRule]) -> AppState {
        var settings = AppSettings()
        settings.leewayMilliseconds = 24 * hourLength
        return AppState(
            number: 1, bundleID: "com.example.app", environment: .production, revision: 1, effective: .distantPast,
            committed: present, catalogue: OfferShop.catalogue().replacing(entitlements: rules), catalogueRevision: 1,
            catalogueSource: "", settings: settings, clock: .running(offsetMilliseconds: 0))
    }

    private static func shown(_ sources: [Source], _ app: AppState) throws -> NamedEntitlement {
        var record = AccountRecord(account: 1, app: 1)
        for source in sources { source.add(to: &record) }
        return try #require(namedEntitlements(of: record, app: app, at: present).value.first { $0.name == "plus" })
    }

    @Test func `change with a subscription, whatever the file names after it`() {
        var record = AccountRecord(account: 1, app: 1)
        Source.line(id: 100, product: "silver", end: 10, renews: false, isRefunded: false).add(to: &record)
        let rules = [
            EntitlementRule(name: "plus", groupID: "G"), EntitlementRule(name: "for life", productID: "lifetime"),
        ]
        for rules in [rules, rules.reversed()] {
            let viewed = namedEntitlements(of: record, app: Self.app(rules), at: present)
            #expect(viewed.nextCrossing == present.advanced(byMilliseconds: 10 * hourLength))
        }
    }

    /// A number that is less for a better tier, as the file lists them.
    private static func place(_ tier: String, _ rules: [EntitlementRule]) -> Int {
        rules.firstIndex { $0.tier == tier } ?? .max
    }

    private static func end(_ shown: NamedEntitlement) -> Instant { shown.until ?? .distantFuture }

    /// Several sources, among them one grant at most: a grant of the same name replaces the one before.
    private static func sources(_ random: inout SeededRandom) -> [Source] {
        var sources = (0..<Int.random(in: 1...4, using: &random)).map { Source.random($0, &random) }
        if let first = sources.firstIndex(where: \.isGrant) {
            let grant = sources[first]
            sources.removeAll(where: \.isGrant)
            sources.append(grant)
        }
        return sources
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `lose nothing by a grant`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var activeCount = 0
        for round in 0..<600 {
            let rules = Self.rules(&random)
            let app = Self.app(rules)
            let sources = Self.sources(&random).filter { !$0.isGrant }
            let before = try Self.shown(sources, app)
            let tier = ["", "gold", "silver", "bronze", "old"].randomElement(using: &random) ?? ""
            let grant = Source.grant(
                tier: tier, end: Bool.random(using: &random) ? nil : Int64.random(in: 1...90, using: &random))
            let after = try Self.shown(sources + [grant], app)
            #expect(after.isActive, "seed \(seed), round \(round): an active grant entitles")
            guard before.isActive else { continue }
            activeCount += 1
            let why = "seed \(seed), round \(round): \(rules.map(\.tier)) \(sources) with \(grant)"
            #expect(Self.place(after.tier, rules) <= Self.place(before.tier, rules), "\(why)")
            if tier.isEmpty { #expect(after.tier == before.tier, "\(why)") }
            if after.tier == before.tier { #expect(Self.end(after) >= Self.end(before), "\(why)") }
        }
        #expect(activeCount > 200)
    }

    /// The source that is shown of several is the one that is shown of any two of them and the rest, in any order: the rule is an order.
    @Test(arguments: [UInt64(11), 12, 13]) func `are those of the best source, however they are compared`(
        _ seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<600 {
            let app = Self.app(Self.rules(&random))
            let sources = Self.sources(&random)
            let shown = try Self.shown(sources, app)
            #expect(try Self.shown(sources.shuffled(using: &random), app) == shown, "seed \(seed), round \(round)")
            // A knock-out in a random order: each round leaves the source that is shown of two.
            var rest = sources.shuffled(using: &random)
            while rest.count > 1 {
                let (one, other) = (rest.removeLast(), rest.removeLast())
                let best = try Self.shown([one, other], app)
                rest.insert(try Self.shown([one], app) == best ? one : other, at: 0)
            }
            #expect(try Self.shown(rest, app) == shown, "seed \(seed), round \(round): \(sources)")
        }
    }

    @Test(arguments: [UInt64(21), 22]) func `end in the future while they are active`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<600 {
            let shown = try Self.shown(Self.sources(&random), Self.app(Self.rules(&random)))
            guard shown.isActive else { continue }
            #expect(shown.isLifetime == (shown.until == nil), "seed \(seed), round \(round): \(shown)")
            if let until = shown.until { #expect(until > present, "seed \(seed), round \(round): \(shown)") }
        }
    }

    @Test func `keep a tier beside a grant without one, where the file's best source has none either`() throws {
        let app = Self.app([
            EntitlementRule(name: "plus", groupID: "G", level: 1),
            EntitlementRule(name: "plus", groupID: "G", level: 2, tier: "silver"),
        ])
        let silver = Source.line(id: 1, product: "silver", end: 10, renews: true, isRefunded: false)
        let shown = try Self.shown([silver, .grant(tier: "", end: nil)], app)
        #expect(shown.tier == "silver" && shown.origin == .store)
        let gold = Source.line(id: 2, product: "gold", end: 10, renews: true, isRefunded: false)
        #expect(try Self.shown([gold, .grant(tier: "", end: nil)], app).origin == .store)
    }

    @Test func `of a file without tiers last as long as the longest source`() throws {
        let app = Self.app([EntitlementRule(name: "plus", groupID: "G")])
        let silver = Source.line(id: 1, product: "silver", end: 10, renews: true, isRefunded: false)
        let granted = try Self.shown([silver, .grant(tier: "", end: 20)], app)
        #expect(granted.origin == .grant && granted.until == present.advanced(byMilliseconds: 20 * hourLength))
        #expect(try Self.shown([silver, .grant(tier: "", end: 5)], app).origin == .store)
    }
}

extension Source {
    fileprivate var isGrant: Bool { if case .grant = self { true } else { false } }
}
