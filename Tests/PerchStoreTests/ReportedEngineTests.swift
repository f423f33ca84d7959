import PerchBase
import PerchModel
import PerchModelCheck
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

/// An engine with an app of the App Store, driven by hand.
final class ReportedStore {
    static let start = Instant(milliseconds: 1_800_000_000_000)
    let engine: StoreEngine
    let storage: any Storage
    var wall = ReportedStore.start
    private(set) var changes: [Change] = []
    private var ticket: UInt64 = 0

    init(
        on storage: any Storage, settings: AppSettings = AppSettings(), environment: AppEnvironment = .production,
        catalogue: Catalogue = Catalogue(products: [], groups: [], schemaVersion: "4.0")
    ) throws {
        self.storage = storage
        self.engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        _ = try self.engine.openApp(
            "com.example.app", environment, catalogue: catalogue, source: "test", fileSettings: settings,
            wall: self.wall)
    }

    func ask(_ body: StoreRequest.Body) throws -> StoreAnswer {
        self.ticket += 1
        var outbox = StoreEngine.Outbox(loops: 1)
        self.engine.sendBeat()
        _ = self.engine.run(
            [StoreRequest(loop: 0, ticket: self.ticket, body)], wall: self.wall, into: &outbox)
        var found: StoreAnswer?
        for event in outbox.events[0] {
            switch event {
            case .change(let change): self.changes.append(change)
            case .answer(self.ticket, let answer): found = answer
            default: break
            }
        }
        return try #require(found)
    }

    @discardableResult
    func tell(_ request: ReportedRequest, app: AppNumber = 1, key: [UInt8] = []) throws -> ReportedOutcome {
        var mutation = Mutation.reported(request, app: app)
        if !key.isEmpty { mutation.repeatable(under: key) }
        switch try self.ask(.mutate(mutation)) {
        case .mutated(.reported(let outcome), _): return outcome
        case .refused(let refusal): throw refusal
        default: throw Unexpected()
        }
    }

    struct Unexpected: Error {}

    func refusal(_ request: ReportedRequest) throws -> Refusal.Reason? {
        do {
            try self.tell(request)
            return nil
        } catch let refusal as Refusal {
            return refusal.reason
        }
    }

    func key(_ name: String, app: AppNumber = 1) -> AccountKey { AccountKey(app: app, bytes: Array(name.utf8)) }

    func record(_ name: String, app: AppNumber = 1) throws -> AccountRecord? {
        guard case .record(let record) = try self.ask(.record(self.key(name, app: app))) else { throw Unexpected() }
        return record
    }

    func state(_ name: String, at now: Instant? = nil) throws -> [RenewalState] {
        let app = try #require(self.engine.apps[1]?.state)
        return subscriptionStatuses(of: try self.record(name), inGroup: "g", app: app, at: now ?? self.wall).value
            .statuses.map(\.state)
    }

    /// The states as of an instant, with all that is known now.
    func past(_ name: String, at instant: Instant) throws -> [RenewalState] {
        let known = KnownAs(revision: 0, instant: instant)
        guard case .recordAsKnown(let record, let app) = try self.ask(.recordAsKnown(self.key(name), known)) else {
            throw Unexpected()
        }
        return subscriptionStatuses(of: record, inGroup: "g", app: app, at: instant).value.statuses.map(\.state)
    }

    func found(_ sought: AccountSought, app: AppNumber = 1) throws -> FoundAccount? {
        guard case .found(let account) = try self.ask(.find(app, sought)) else { throw Unexpected() }
        return account
    }
}

/// Reports of one subscription.
struct ReportedLine {
    static let day: Int64 = 86_400_000
    static let alice = "00000000-0000-0000-0000-00000000000a"
    static let bob = "00000000-0000-0000-0000-00000000000b"

    static func transaction(
        _ id: TransactionID, of original: TransactionID = 100, period: Int64 = 0, token: String = "",
        signedAfter: Int64 = 0, revoked: Bool = false
    ) -> ReportedValue {
        let begin = ReportedStore.start.advanced(byMilliseconds: (period * 30 - 1) * Self.day)
        var transaction = Transaction(
            id: id, originalID: original, appBundleID: "com.example.app", productID: "pro", productType: .autoRenewable,
            purchaseDate: begin, originalPurchaseDate: ReportedStore.start.advanced(byMilliseconds: -Self.day),
            environment: .production, storefront: Storefront(countryCode: "USA"),
            reason: period == 0 ? .purchase : .renewal, signedDate: begin.advanced(byMilliseconds: signedAfter))
        transaction.subscriptionGroupID = "g"
        transaction.webOrderLineItemID = "w\(original)-\(period)"
        transaction.expirationDate = begin.advanced(byMilliseconds: 30 * Self.day)
        transaction.appAccountToken = token
        transaction.appTransactionID = "70\(original)"
        if revoked {
            transaction.revocation = Revocation(date: transaction.signedDate, reason: .other, type: .refundFull)
        }
        return .transaction(transaction, content: Digest(high: id, low: UInt64(bitPattern: signedAfter)))
    }

    static func renewal(
        of original: TransactionID = 100, renews: Bool, signedAfter: Int64, isInBillingRetry: Bool = false
    ) -> ReportedValue {
        let signed = ReportedStore.start.advanced(byMilliseconds: -Self.day + signedAfter)
        let end = ReportedStore.start.advanced(byMilliseconds: 29 * Self.day)
        var info = RenewalInfo(
            originalTransactionID: original, currentProductID: "pro", willAutoRenew: renews, renewalDate: end,
            recentSubscriptionStartDate: signed, environment: .production, signedDate: signed)
        info.isInBillingRetry = isInBillingRetry
        info.autoRenewPreference = renews ? "pro" : nil
        return .renewal(info, renewalDate: end, content: Digest(high: original, low: UInt64(bitPattern: signedAfter)))
    }
}

extension ReportedStore {
    /// The notifications that are kept.
    func notifications() throws -> [KeptNotification] {
        try self.storage.items(.notification, group: KeptNotification.group, after: [], limit: 500)
            .compactMap { KeptNotification($0) }
    }
}

extension ReportedRequest {
    /// A notification that is kept as it came.
    static func notified(
        _ jws: String, about original: TransactionID, reports: [ReportedValue], signedAfter: Int64 = 0
    ) -> ReportedRequest {
        let signed = ReportedStore.start.advanced(byMilliseconds: signedAfter)
        let kept = KeptNotification(
            received: ReportedStore.start, signed: signed, bundleID: "com.example.app", type: "DID_RENEW",
            subtype: "BILLING_RECOVERY", jws: jws, about: [DeadLetter.about(original: original)])
        let notice = NotificationNotice(
            type: "DID_RENEW", subtype: "BILLING_RECOVERY", uuid: jws, signed: signed, transactionID: original)
        return .reports(
            reports, source: .notification, claimant: nil, notice: NotedNotification(notice, kept: kept))
    }

    static func reports(_ reports: ReportedValue..., by claimant: AccountKey? = nil) -> ReportedRequest {
        .reports(reports, source: claimant == nil ? .notification : .submission, claimant: claimant)
    }
}

@Suite struct `A reported app` {
    @Test(arguments: all)
    func `folds reports into the account that the token names, once`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        #expect(try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice"))).news == 0)
        let report = ReportedLine.transaction(100, token: ReportedLine.alice)
        #expect(try store.tell(.reports(report)).news == 1)
        #expect(try store.state("alice") == [.subscribed])
        let revision = store.engine.header.revision
        #expect(try store.tell(.reports(report)).duplicates == 1)
        #expect(store.engine.header.revision == revision, "an exact duplicate makes no revision")
        // A refund, and its reversal.
        try store.tell(
            .reports(ReportedLine.transaction(100, token: ReportedLine.alice, signedAfter: 2_000, revoked: true)))
        #expect(try store.state("alice") == [.revoked])
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice, signedAfter: 3_000)))
        #expect(try store.state("alice") == [.subscribed])
        // An older report is kept once, and changes nothing now.
        let old = ReportedLine.transaction(100, token: ReportedLine.alice, signedAfter: 1_000)
        #expect(try store.tell(.reports(old)).stale == 1)
        #expect(try store.tell(.reports(old)).duplicates == 1)
        #expect(try store.state("alice") == [.subscribed])
    }

    @Test(arguments: all)
    func `keeps rows, events and lookups of every ID`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice")))
        try store.tell(.reports(ReportedLine.transaction(105, token: ReportedLine.alice, signedAfter: 9)))
        // A restore brought another ID; then the first one arrives, which is the lowest.
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        func rows() throws -> [TransactionID] {
            guard
                case .transactions(let rows, false) = try store.ask(
                    .transactions(store.key("alice"), TransactionQuery(limit: 10)))
            else { throw ReportedStore.Unexpected() }
            return rows.map(\.transaction.id)
        }
        #expect(try rows() == [100])
        for id: TransactionID in [100, 105] {
            #expect(try store.found(.transaction(id))?.key == Array("alice".utf8), "\(id)")
        }
        #expect(try store.found(.transaction(7)) == nil)
        #expect(try store.found(.alias(.appAccountToken(ReportedLine.alice)))?.key == Array("alice".utf8))
        // Nothing is unfinished: only a device knows.
        var query = TransactionQuery(limit: 10)
        query.unfinishedOnly = true
        guard case .transactions(let unfinished, _) = try store.ask(.transactions(store.key("alice"), query)) else {
            throw ReportedStore.Unexpected()
        }
        #expect(unfinished.isEmpty)
        let account = try #require(try store.record("alice")?.account)
        let events = try store.storage.events(of: account, after: EventPlace(revision: 0, ordinal: 0), limit: 10)
        #expect(events.map(\.kind) == [.purchased, .changed])
        // The fold of the facts is the record.
        var folded = AccountRecord(account: account, app: 1)
        for fact in try store.storage.facts(of: account) { folded.apply(fact) }
        #expect(folded.reported == (try store.record("alice")?.reported))
    }

    @Test(arguments: all)
    func `gives an unclaimed original to its customer once an alias names one`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        #expect(try store.found(.transaction(100))?.isUnclaimed == true)
        #expect(try store.record("alice") == nil)
        // No client can list or name an unclaimed account.
        guard case .keys(let keys, false) = try store.ask(.keys(1, after: [], limit: 10)) else {
            throw ReportedStore.Unexpected()
        }
        #expect(keys.isEmpty)
        #expect(try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice"))).moved == 1)
        #expect(try store.state("alice") == [.subscribed])
        #expect(try store.found(.transaction(100))?.key == Array("alice".utf8))
        // Both accounts are in one change.
        #expect(store.changes.last?.accounts.count == 2)
        #expect(try store.tell(.detach(.appAccountToken(ReportedLine.alice))).moved == 1)
        #expect(try store.state("alice") == [])
        #expect(try store.found(.transaction(100))?.isUnclaimed == true)
    }

    @Test(arguments: all)
    func `says who had what gets another account`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        func previous(_ request: ReportedRequest) throws -> String {
            String(decoding: try store.tell(request).previousKey, as: UTF8.self)
        }
        let token = AccountAlias.appAccountToken(ReportedLine.alice)
        let hash = try #require(EmailHash.hash(of: "alice@example.com"))
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.bob)))
        #expect(try previous(.attach(token, to: store.key("alice"))) == "", "it was nobody's")
        #expect(try previous(.attach(token, to: store.key("alice"))) == "", "it was hers already")
        #expect(try previous(.attach(token, to: store.key("bob"))) == "alice")
        #expect(try previous(.detach(token)) == "bob")
        #expect(try previous(.attachEmail(hash, to: store.key("alice"))) == "")
        #expect(try previous(.attachEmail(hash, to: store.key("bob"))) == "alice")
        #expect(try previous(.detachEmail(hash)) == "bob")
        #expect(try previous(.claim(100, for: store.key("alice"))) == "", "it was unclaimed")
        #expect(try previous(.claim(100, for: store.key("bob"))) == "alice")
    }

    @Test func `a token that is the customer's key needs no alias`() throws {
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        // The account is opened by another purchase; the first one follows.
        try store.tell(.reports(ReportedLine.transaction(200, of: 200), by: store.key(ReportedLine.alice)))
        #expect(try store.state(ReportedLine.alice).count == 2)
    }

    @Test(arguments: ClaimPolicy.allCases)
    func `claims follow the app's policy`(_ policy: ClaimPolicy) throws {
        var settings = AppSettings()
        settings.claimPolicy = policy
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)), settings: settings)
        let (alice, bob) = (store.key("alice"), store.key("bob"))
        let report = ReportedLine.transaction(100)
        // Nobody has it: whoever submits it gets it.
        #expect(try store.refusal(.reports(report, by: alice)) == nil)
        #expect(try store.state("alice") == [.subscribed])
        #expect(try store.refusal(.reports(report, by: alice)) == nil, "unchanged")
        // Another account has it, and it entitles.
        let expected: Refusal.Reason? = policy == .transfer ? nil : .ownedByOther
        #expect(try store.refusal(.reports(report, by: bob)) == expected)
        #expect(try store.state("bob") == (policy == .transfer ? [.subscribed] : []))
        if policy == .transfer {
            #expect(try store.state("alice") == [])
            #expect(store.changes.last?.accounts.count == 2, "loss and gain are one revision")
            return
        }
        // Ended, it is free for another account where the policy says so. What the report says is kept in any case.
        store.wall = ReportedStore.start.advanced(byMilliseconds: 90 * ReportedLine.day)
        let refund = ReportedLine.transaction(100, signedAfter: 5_000, revoked: true)
        #expect(try store.refusal(.reports(refund, by: bob)) == (policy == .keep ? .ownedByOther : nil))
        #expect(try store.state(policy == .keep ? "alice" : "bob") == [.revoked])
        // An administrator is not bound by it.
        #expect(try store.refusal(.claim(100, for: store.key("carol"))) == nil)
        #expect(try store.state("carol") == [.revoked])
    }

    @Test func `a claim of an original whose token names another customer is refused unless claims transfer`() throws {
        var settings = AppSettings()
        settings.claimPolicy = .transferIfInactive
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)), settings: settings)
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice), by: store.key("bob")))
        try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice")))
        store.wall = ReportedStore.start.advanced(byMilliseconds: 90 * ReportedLine.day)
        #expect(try store.state("bob") == [.expired], "a claim stands above a token")
        let again = ReportedLine.transaction(100, token: ReportedLine.alice, signedAfter: 5_000)
        #expect(try store.refusal(.reports(again, by: store.key("carol"))) == .ownedByOther)
        #expect(try store.refusal(.reports(again, by: store.key("alice"))) == nil)
    }

    @Test(arguments: all)
    func `merges an account into another, with its key`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.reports(ReportedLine.transaction(100), by: store.key("anon")))
        try store.tell(.reports(ReportedLine.transaction(200, of: 200), by: store.key("alice")))
        #expect(try store.tell(.merge(store.key("anon"), into: store.key("alice"))).moved == 1)
        #expect(try store.state("alice") == [.subscribed, .subscribed])
        #expect(try store.record("anon") == (try store.record("alice")))
        #expect(try store.refusal(.merge(store.key("nobody"), into: store.key("alice"))) == .accountUnknown)
    }

    @Test(arguments: all)
    func `says who owned what before its account was opened`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        // Bought a day before anything was reported, and known to nobody until the alias came.
        let bought = ReportedStore.start.advanced(byMilliseconds: -ReportedLine.day)
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        try store.tell(.reports(ReportedLine.transaction(200, of: 200), by: store.key("anon")))
        try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice")))
        #expect(try store.past("alice", at: bought) == [.subscribed])
        #expect(try store.past("alice", at: bought.advanced(byMilliseconds: -1)) == [])
        try store.tell(.merge(store.key("anon"), into: store.key("alice")))
        #expect(try store.past("alice", at: bought) == [.subscribed, .subscribed])
    }

    @Test(arguments: all)
    func `says what an original was in another account`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        let end = ReportedStore.start.advanced(byMilliseconds: 29 * ReportedLine.day)
        let retry = end.advanced(byMilliseconds: ReportedLine.day)
        try store.tell(.reports(ReportedLine.transaction(100)))
        try store.tell(
            .reports(ReportedLine.renewal(renews: true, signedAfter: 30 * ReportedLine.day, isInBillingRetry: true)))
        // A charge succeeded a month later; only then an account was named, and the original moved on.
        store.wall = ReportedStore.start.advanced(byMilliseconds: 65 * ReportedLine.day)
        try store.tell(
            .reports(
                ReportedLine.transaction(101, period: 2),
                ReportedLine.renewal(renews: true, signedAfter: 61 * ReportedLine.day)))
        for name in ["alice", "bob", "alice"] {
            try store.tell(.claim(100, for: store.key(name)))
            for owner in ["alice", "bob"] {
                let owns = owner == name
                #expect(try store.past(owner, at: ReportedStore.start) == (owns ? [.subscribed] : []))
                #expect(try store.past(owner, at: retry) == (owns ? [.inBillingRetryPeriod] : []))
            }
        }
        #expect(try store.state("alice") == [.subscribed])
    }

    @Test func `two apps with equal transaction numbers do not meet`() throws {
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        let second = try store.engine.openApp(
            "com.example.app", .sandbox, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"),
            source: "test", fileSettings: AppSettings(), wall: store.wall)
        try store.tell(.reports(ReportedLine.transaction(100), by: store.key("alice")))
        try store.tell(
            .reports(ReportedLine.transaction(100, signedAfter: 1, revoked: true), by: store.key("alice", app: second)),
            app: second)
        #expect(try store.state("alice") == [.subscribed])
        let other = try #require(store.engine.apps[second]?.state)
        let statuses = subscriptionStatuses(
            of: try store.record("alice", app: second), inGroup: "g", app: other, at: store.wall)
        #expect(statuses.value.statuses.map(\.state) == [.revoked])
    }

    @Test func `stays subscribed while news may be late, for the leeway of the app`() throws {
        var settings = AppSettings()
        settings.leewayMilliseconds = 3_600_000
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)), settings: settings)
        try store.tell(
            .reports(
                ReportedLine.transaction(100), ReportedLine.renewal(renews: true, signedAfter: 0),
                by: store.key("alice")))
        let end = ReportedStore.start.advanced(byMilliseconds: 29 * ReportedLine.day)
        #expect(try store.state("alice", at: end) == [.subscribed], "no gap: the renewal's news may be late")
        #expect(try store.state("alice", at: end.advanced(byMilliseconds: 3_599_999)) == [.subscribed])
        #expect(try store.state("alice", at: end.advanced(byMilliseconds: 3_600_000)) == [.expired])
        try store.tell(.reports(ReportedLine.renewal(renews: false, signedAfter: 10)))
        #expect(try store.state("alice", at: end) == [.expired], "renewal is off: nothing is awaited")
    }

    @Test(arguments: all)
    func `keeps items within their limit, and drops them`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        for key: UInt8 in 1...3 {
            try store.tell(.keep(StoredItem(ItemKey(.deadLetter, key: [key]), [key, key]), limit: 3))
        }
        #expect(try store.refusal(.keep(StoredItem(ItemKey(.deadLetter, key: [9]), []), limit: 3)) == .itemLimit)
        // The same one again takes no further place.
        #expect(try store.refusal(.keep(StoredItem(ItemKey(.deadLetter, key: [2]), [7]), limit: 3)) == nil)
        guard case .items(let items, true) = try store.ask(.items(.deadLetter, groups: [[]], after: [1], limit: 1))
        else {
            throw ReportedStore.Unexpected()
        }
        #expect(items == [StoredItem(ItemKey(.deadLetter, key: [2]), [7])])
        #expect(try store.refusal(.drop(ItemKey(.deadLetter, key: [2]))) == nil)
        #expect(try store.refusal(.drop(ItemKey(.deadLetter, key: [2]))) == .itemUnknown)
        #expect(try store.storage.itemCount(.deadLetter, group: []) == 2)
    }

    @Test(arguments: all)
    func `lists items of several groups in pages, and says which page is the last`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        for (group, key) in [(UInt8(0), UInt8(1)), (0, 2), (1, 3)] {
            try store.tell(.keep(StoredItem(ItemKey(.deadLetter, group: [group], key: [key]), []), limit: 9))
        }
        func page(_ groups: [[UInt8]], after: [UInt8], limit: Int) throws -> (keys: [[UInt8]], hasMore: Bool) {
            let answer = try store.ask(.items(.deadLetter, groups: groups, after: after, limit: limit))
            guard case .items(let items, let hasMore) = answer else { throw ReportedStore.Unexpected() }
            return (items.map { $0.key.group + $0.key.key }, hasMore)
        }
        let first = try page([[0], [1]], after: [], limit: 2)
        #expect(first == ([[0, 1], [0, 2]], true))
        #expect(try page([[0], [1]], after: [2], limit: 2) == ([[1, 3]], false))
        #expect(try page([[1]], after: [3], limit: 2) == ([], false))
        #expect(try page([[0], [1]], after: [], limit: 3) == ([[0, 1], [0, 2], [1, 3]], false))
    }

    @Test(arguments: all)
    func `keeps a notification once, with what became of it, and lets the oldest go`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        let bought = ReportedLine.transaction(100, token: ReportedLine.alice)
        try store.tell(.reports(bought))
        let renewed = [bought, ReportedLine.transaction(101, period: 1, token: ReportedLine.alice)]
        try store.tell(.notified("first", about: 100, reports: renewed, signedAfter: 1))
        let first = try #require(try store.notifications().first)
        #expect(first.outcome.news == 1 && first.outcome.duplicates == 1 && first.outcome.stale == 0)
        #expect(first.revision == store.engine.header.revision && first.subtype == "BILLING_RECOVERY")
        let revision = store.engine.header.revision
        #expect(try store.tell(.notified("first", about: 100, reports: renewed, signedAfter: 1)).duplicates == 2)
        #expect(store.engine.header.revision == revision, "a repetition writes nothing")
        #expect(try store.notifications() == [first])
        let key = try #require(ItemKey(ofID: DeadLetter.id(of: first.key)))
        #expect(key == first.key && DeadLetter.key(ofID: DeadLetter.id(of: first.key)) == nil)
        // One without a purchase, such as TEST, is kept too.
        for count in 0..<Int64(Limits.notificationsKeptMax) {
            try store.tell(.notified("test \(count)", about: 0, reports: [], signedAfter: 2 + count))
        }
        let left = try store.notifications()
        #expect(left.count == Limits.notificationsKeptMax && left.first?.jws == "test 0")
    }

    @Test func `a batch that fails leaves nothing behind`() throws {
        let storage = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
        let store = try ReportedStore(on: storage)
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        let before = store.engine.header.revision
        storage.nextCommitFailure = .unreachable("as the test wants it")
        #expect(
            try store.refusal(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice")))
                == .storeUnreachable)
        #expect(store.engine.header.revision == before)
        #expect(try store.record("alice") == nil)
        #expect(try store.found(.transaction(100))?.isUnclaimed == true)
        #expect(storage.transaction(1, 100) != nil)
        storage.nextCommitFailure = .unreachable("as the test wants it")
        #expect(try store.refusal(.keep(StoredItem(ItemKey(.deadLetter, key: [1]), []), limit: 3)) == .storeUnreachable)
        #expect(storage.itemCount(.deadLetter, group: []) == 0)
    }

    /// Random reports of several customers, aliases and claims among them, in any order and repeated, lead to what the model
    /// says. `Tests/PerchModelTests` and `modelcheck told` have the rules; here are the accounts, in each storage.
    @Test(arguments: all)
    func `any order of reports leads to the accounts that the model says`(
        _ implementation: StorageImplementation
    ) throws {
        for seed in 0..<UInt64(implementation == .memory ? 60 : 12) {
            var random = SeededRandom(seed: seed &* 977 &+ 5)
            let reported = ReportedLives(seed: seed)
            var book = ReportedBook()
            for report in reported.reports {
                if case .alias = report { continue }
                if case .claim = report { continue }
                _ = book.fold(report)
            }
            var seen: [[String: ReportedRecord]] = []
            for _ in 0..<3 {
                let store = try ReportedStore(on: try implementation.make().storage)
                for token in 0..<2 {
                    try store.tell(
                        .attach(
                            .appAccountToken("00000000-0000-0000-0000-00000000000\(token)"), to: store.key("c\(token)"))
                    )
                }
                for report in reported.reports.shuffled(using: &random) {
                    if case .alias = report { continue }
                    if case .claim = report { continue }
                    for _ in 0...random.below(2) { try store.tell(.reports(report)) }
                }
                var records: [String: ReportedRecord] = [:]
                for token in 0..<2 { records["c\(token)"] = try store.record("c\(token)")?.reported }
                seen.append(records)
                for original in book.originals.values {
                    let found = try #require(try store.found(.transaction(original.id)), "seed \(seed)")
                    #expect(found.record.reported?.original(original.id) == original, "seed \(seed), \(original.id)")
                }
            }
            #expect(seen.allSatisfy { $0 == seen[0] }, "seed \(seed)")
        }
    }
}
