import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

/// A store with one test app, whose families share, and whose clock is moved by hand.
final class FamilyStore {
    static let start = Instant(milliseconds: 1_800_000_000_000)
    static let month: Int64 = 5 * 60_000

    let storage: any Storage
    let engine: StoreEngine
    var now = start
    /// Every change, in order.
    private(set) var changes: [Change] = []
    private var ticket: UInt64 = 0

    init(
        without withdrawn: Set<String> = [],
        storage: any Storage = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
    ) throws {
        self.storage = storage
        self.engine = try StoreEngine(storage: self.storage, loops: 1, cacheBytesMax: 1 << 20)
        var settings = AppSettings()
        settings.timeRate = TimeRate(named: "monthlyRenewalEveryFiveMinutes") ?? .realTime
        _ = try self.engine.openApp(
            "com.example.app", .xcode, catalogue: Self.catalogue, source: "test", fileSettings: settings,
            wall: self.now)
    }

    static let catalogue: Catalogue = {
        func plan(_ id: String, level: Int32, price: Int64, isShareable: Bool = true) -> CatalogueProduct {
            var subscription = CatalogueSubscription(groupID: "G", level: level, period: Period(1, .month))
            subscription.introductoryOffers = []
            return CatalogueProduct(
                id: id, type: .autoRenewable, referenceName: id, price: Money(milliunits: price, currency: "USD"),
                isFamilyShareable: isShareable, localizations: [], subscription: subscription)
        }
        func product(_ id: String, _ type: ProductType, isShareable: Bool) -> CatalogueProduct {
            CatalogueProduct(
                id: id, type: type, referenceName: id, price: Money(milliunits: 990, currency: "USD"),
                isFamilyShareable: isShareable, localizations: [])
        }
        return Catalogue(
            products: [
                plan("gold", level: 1, price: 19_990), plan("silver", level: 2, price: 9_990),
                plan("alone", level: 1, price: 29_990, isShareable: false),
                product("lifetime", .nonConsumable, isShareable: true),
                product("season", .nonRenewable, isShareable: false), product("coins", .consumable, isShareable: false),
            ],
            groups: [CatalogueGroup(id: "G", name: "G", localizations: [])], schemaVersion: "4.0")
    }()

    var app: AppState { self.engine.app("com.example.app", .xcode)! }

    static func key(_ account: String) -> AccountKey { AccountKey(app: 1, bytes: Array(account.utf8)) }

    @discardableResult
    func mutate(_ mutation: Mutation) throws -> MutationResult { try self.order(.mutate(mutation)) }

    @discardableResult
    func order(_ body: StoreRequest.Body) throws -> MutationResult {
        self.ticket += 1
        var outbox = StoreEngine.Outbox(loops: 1)
        self.engine.sendBeat()
        _ = self.engine.run(
            [StoreRequest(loop: 0, ticket: self.ticket, body)], wall: self.now, into: &outbox)
        var result: Result<MutationResult, Refusal>?
        for event in outbox.events[0] {
            switch event {
            case .change(let change): self.changes.append(change)
            case .answer(self.ticket, .mutated(let answer, _)): result = .success(answer)
            case .answer(self.ticket, .refused(let refusal)): result = .failure(refusal)
            default: break
            }
        }
        return try #require(result).get()
    }

    @discardableResult
    func operate(_ operation: StoreOperation, _ account: String?) throws -> MutationResult {
        try self.mutate(.operation(operation, account: account.map(Self.key), app: 1))
    }

    func revoke(_ id: String) throws {
        let token = RevokedToken(id: id, expires: self.now.advanced(byMilliseconds: 60_000))
        var outbox = StoreEngine.Outbox(loops: 1)
        self.engine.sendBeat()
        _ = self.engine.run([StoreRequest(loop: 0, ticket: 0, .revoke(token))], wall: self.now, into: &outbox)
        for case .change(let change) in outbox.events[0] { self.changes.append(change) }
    }

    /// Buys as a customer does.
    @discardableResult
    func buy(_ product: String, _ account: String) throws -> Transaction {
        let mutation = Mutation(.account(Self.key(account), opens: true), needsTestApp: true) {
            view throws(Refusal) in
            let outcome = try decidePurchase(
                PurchaseOrder(productID: product), record: view.accountRecord, app: view.app, now: view.now,
                numbers: &view.numbers)
            return .commit(
                [AccountFacts(account: view.accountRecord.account, facts: outcome.facts)],
                answer: .transaction(outcome.transaction, wasHeld: outcome.wasHeld))
        }
        return try Self.transaction(try self.mutate(mutation))
    }

    static func transaction(_ result: MutationResult) throws -> Transaction {
        guard case .transaction(let transaction, _, _) = result else { throw Unexpected(result: result) }
        return transaction
    }

    struct Unexpected: Error { let result: MutationResult }

    /// Moves the clock and lets the store settle due attempts.
    func advance(_ milliseconds: Int64) {
        self.now = self.now.advanced(byMilliseconds: milliseconds)
        for _ in 0..<100 {
            var outbox = StoreEngine.Outbox(loops: 1)
            self.engine.sendBeat()
            let wake = self.engine.run([], wall: self.now, into: &outbox)
            for case .change(let change) in outbox.events[0] { self.changes.append(change) }
            if wake.map({ $0 > self.now }) ?? true { return }
        }
    }

    /// The products of the lines that an account had at an instant, as is known now.
    func past(_ account: String, _ instant: Instant) throws -> [String] {
        var outbox = StoreEngine.Outbox(loops: 1)
        let read = StoreRequest.Body.recordAsKnown(Self.key(account), KnownAs(revision: 0, instant: instant))
        _ = self.engine.run([StoreRequest(loop: 0, ticket: 1, read)], wall: self.now, into: &outbox)
        for case .answer(1, .recordAsKnown(let record, _)) in outbox.events[0] {
            return record?.lines.map(\.latest.productID) ?? []
        }
        for case .answer(1, .refused(let refusal)) in outbox.events[0] { throw refusal }
        throw Unanswered()
    }

    struct Unanswered: Error {}

    func record(_ account: String) throws -> AccountRecord {
        let number = try #require(try self.storage.account(Self.key(account)))
        return try #require(try self.storage.record(number))
    }

    func rows(_ account: String) throws -> [Transaction] {
        let number = try #require(try self.storage.account(Self.key(account)))
        var query = TransactionQuery(limit: 10_000)
        query.includesFinishedConsumables = true
        return try self.storage.transactions(of: number, query).map(\.transaction)
    }

    func states(_ account: String) throws -> [RenewalState] {
        subscriptionStatuses(of: try self.record(account), inGroup: "G", app: self.app, at: self.now).value.statuses
            .map(\.state)
    }

    func entitlement(_ product: String, _ account: String) throws -> Transaction? {
        currentEntitlement(of: try self.record(account), toProduct: product, app: self.app, at: self.now).value?.value
    }

    /// Whether a tester took the latest transaction of a shared line out of the member's account, and none came since.
    private func wasTakenOut(of member: AccountNumber, _ original: TransactionID) throws -> Bool {
        var latest: TransactionID?
        for fact in try self.storage.facts(of: member) {
            switch fact.body {
            case .sharedLineSet(let line, _) where line.originalID == original: latest = line.latest.id
            case .deleted(latest, _): latest = nil
            default: break
            }
        }
        return latest == nil
    }

    /// The first difference between the members' copies and the purchaser's line; nil if there is none.
    func fault(of purchaser: String, members: [String]) throws -> String? {
        let record = try self.record(purchaser)
        for name in members + [purchaser] {
            let member = try self.record(name)
            var folded = AccountRecord(account: member.account, app: member.app)
            for fact in try self.storage.facts(of: member.account) { folded.apply(fact) }
            folded.revision = member.revision
            folded.committed = member.committed
            if folded != member { return "\(name): the record is not the fold of its facts" }
            let rows = try self.rows(name)
            for line in member.lines where !rows.contains(line.latest) { return "\(name): no row of \(line.latest.id)" }
        }
        for share in record.shares {
            guard let index = record.lineIndex(original: share.original) else { continue }
            let line = record.lines[index]
            for name in members {
                let member = try self.record(name)
                guard member.account == share.member,
                    let copy = member.lineIndex(original: share.memberOriginal).map({ member.lines[$0] })
                else { continue }
                if try self.wasTakenOut(of: member.account, share.memberOriginal) { continue }
                if copy.latest.revocation != nil {
                    let isShareable = self.app.catalogue.product(line.latest.productID)?.isFamilyShareable == true
                    if line.latest.revocation == nil, isShareable { return "\(name): revoked, the purchaser is not" }
                    continue
                }
                let expected = mirrored(
                    line, as: share, id: copy.latest.id, originalPurchaseDate: copy.latest.originalPurchaseDate,
                    of: member)
                if copy != expected { return "\(name): \(copy) is not \(expected)" }
            }
        }
        return nil
    }
}

extension StoreEngine {
    /// As the store's thread does before each tick: without heartbeats a node of several is refused its reads after some seconds.
    func sendBeat() { self.sharing?.beat(NodeState(calls: 0, isDraining: false)) }
}
