import PerchApple
import PerchBase
import PerchJSON
import PerchModel
import PerchStore
import PerchWire

/// Signed values all the way: what a payload says is folded by a store, and read in every way. A line is a payload.
///
/// No number, date or text of a signed value may end the process, on whatever way it goes.
final class FoldTarget: FuzzTarget {
    static let name = "fold"
    static let reaches = ["PerchModel/Reported", "PerchStore/Reported"]

    private static let wall = Instant(milliseconds: 1_800_000_000_000)
    private let codec = MessageCodec()

    private static let catalogue: Catalogue = {
        func product(_ id: String, _ type: ProductType, level: Int32? = nil) -> CatalogueProduct {
            CatalogueProduct(
                id: id, type: type, referenceName: "", price: Money(milliunits: 1_000, currency: "USD"),
                isFamilyShareable: false, localizations: [],
                subscription: level.map { CatalogueSubscription(groupID: "g", level: $0, period: Period(1, .month)) })
        }
        return Catalogue(
            products: [
                product("p", .autoRenewable, level: 1), product("q", .autoRenewable, level: 2),
                product("n", .nonConsumable),
            ], groups: [CatalogueGroup(id: "g", name: "", localizations: [])], schemaVersion: "4.0",
            entitlements: [
                EntitlementRule(name: "e", groupID: "g", level: 1, tier: "t"),
                EntitlementRule(name: "e", productID: "n"),
            ])
    }()

    static func seeds() -> [[UInt8]] {
        let subscription =
            #"{"transactionId":"12","originalTransactionId":"11","webOrderLineItemId":"1","bundleId":"a","productId":"p","subscriptionGroupIdentifier":"h","purchaseDate":1799000000000,"expiresDate":1801000000000,"signedDate":1799000000000,"type":"Auto-Renewable Subscription","offerType":1,"offerPeriod":"P1M","price":990,"currency":"USD","environment":"Sandbox","appAccountToken":"7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d","appTransactionId":"7"}"#
        let renewal =
            #"{"originalTransactionId":"11","productId":"p","autoRenewProductId":"q","autoRenewStatus":1,"signedDate":1799000000001,"renewalDate":1801000000000,"gracePeriodExpiresDate":1801000000001,"isInBillingRetryPeriod":true,"priceIncreaseStatus":0,"eligibleWinBackOfferIds":["w"],"environment":"Sandbox"}"#
        let owned =
            #"{"transactionId":"9223372036854775806","bundleId":"a","productId":"n","purchaseDate":0,"signedDate":253402300799999,"type":"Non-Consumable","revocationDate":1,"environment":"Sandbox","appTransactionId":"7"}"#
        let coins =
            #"{"transactionId":"5","bundleId":"a","productId":"c","purchaseDate":5,"signedDate":7,"type":"Consumable","quantity":3,"environment":"Sandbox"}"#
        return [
            subscription, renewal, owned, coins, "\(renewal)\n\(subscription)\n\(subscription)", "\(coins)\n\(owned)",
        ]
        .map { Array($0.utf8) }
    }

    func run(_ bytes: [UInt8]) -> Bool {
        let reports = bytes.split(separator: 10).prefix(8).flatMap { Self.reports(Array($0)) }
        guard !reports.isEmpty else { return false }
        guard
            let engine = try? StoreEngine(
                storage: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)), loops: 1, cacheBytesMax: 1 << 16),
            (try? engine.openApp(
                "a", .sandbox, catalogue: Self.catalogue, source: "", fileSettings: AppSettings(), wall: Self.wall))
                != nil,
            let app = engine.app("a", .sandbox)
        else { fatalError("fuzz: an engine in memory does not start") }
        let key = AccountKey(app: app.number, bytes: Array("k".utf8))
        for report in reports {
            self.tell(.reports([report], source: .notification, claimant: nil), engine, app)
        }
        self.tell(.reports(reports, source: .submission, claimant: key), engine, app)
        self.tell(
            .grant(EntitlementGrant(name: "e", until: nil, reason: "", since: Self.wall, tier: "t"), to: key), engine,
            app)
        for report in reports {
            guard let id = Self.original(of: report) else { continue }
            guard case .found(let found?) = self.ask(.find(app.number, .transaction(id)), engine) else {
                fatalError("fuzz: an original that was folded is nobody's")
            }
            hold(
                (try? AccountRecord(unsealing: found.record.sealed(), of: found.record.account)) == found.record,
                "a record is read as another")
            self.read(found.record, app)
        }
        return true
    }

    private static func reports(_ line: [UInt8]) -> [ReportedValue] {
        var limits = JSONLimits()
        limits.depth = Limits.appleDepthMax
        limits.values = Limits.appleValuesMax
        guard let value = try? JSONReader.read(line, limits: limits), value.members != nil else { return [] }
        let fields = PayloadFields(value)
        let digest = fields.contentDigest
        var reports: [ReportedValue] = []
        if let transaction = try? TransactionPayload(fields).transaction() {
            reports.append(.transaction(transaction, content: digest))
        }
        let info = RenewalInfoPayload(fields)
        if let reported = try? info.renewalInfo() {
            reports.append(.renewal(reported, renewalDate: info.renewalDate, content: digest))
        }
        return reports
    }

    private static func original(of report: ReportedValue) -> TransactionID? {
        switch report {
        case .transaction(let transaction, _): transaction.originalID
        case .renewal(let info, _, _): info.originalTransactionID
        case .alias, .claim: nil
        }
    }

    private func ask(_ body: StoreRequest.Body, _ engine: StoreEngine) -> StoreAnswer {
        var outbox = StoreEngine.Outbox(loops: 1)
        _ = engine.run([StoreRequest(loop: 0, ticket: 1, body)], wall: Self.wall, into: &outbox)
        for event in outbox.events[0] { if case .answer(1, let answer) = event { return answer } }
        fatalError("fuzz: a question has no answer")
    }

    private func tell(_ request: ReportedRequest, _ engine: StoreEngine, _ app: AppState) {
        _ = self.ask(.mutate(.reported(request, app: app.number)), engine)
    }

    /// Every view of an account, now and at instants far away, and its form on the wire.
    private func read(_ record: AccountRecord, _ app: AppState) {
        for now in [Self.wall, Instant(milliseconds: 0), Instant(milliseconds: Limits.readableMilliseconds.upperBound)]
        {
            for group in record.groupIDs(in: app.catalogue) + ["g"] {
                let statuses = subscriptionStatuses(of: record, inGroup: group, app: app, at: now)
                self.encode(.getSubscriptionStatus(.success(statuses.value, ValueInfo())))
                _ = explainStatus(of: record, inGroup: group, rows: [], app: app, at: now)
                let offers = offerEligibility(of: record, inGroup: group, product: "", app: app, at: now)
                self.encode(
                    .getOfferEligibility(
                        OfferEligibilityAnswer(value: offers, position: Position(revision: 1, asOf: now))))
                let plans = planOptions(of: record, inGroup: group, locale: "", app: app, at: now)
                self.encode(
                    .listPlanOptions(PlanOptionList(options: plans, position: Position(revision: 1, asOf: now))))
            }
            for product in ["p", "q", "n", "c"] {
                _ = currentEntitlement(of: record, toProduct: product, app: app, at: now)
                _ = explainEntitlement(of: record, toProduct: product, rows: [], app: app, at: now)
            }
            for entitlement in namedEntitlements(of: record, app: app, at: now).value {
                hold(
                    !entitlement.isActive || entitlement.until.map { $0 > now } ?? true,
                    "an active entitlement ended at \(entitlement.until ?? now), and it is \(now)")
            }
            _ = storeMessages(of: record, app: app, at: now)
            _ = try? appTransaction(of: record, app: app)
        }
    }

    private func encode(_ response: Response) {
        hold((try? self.codec.encode(response)) != nil, "an answer cannot be written")
    }
}
