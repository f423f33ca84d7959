import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

extension ReportedStore {
    /// A notification that asks about a refund of the transaction 101.
    fileprivate func askAbout(_ uuid: String, signed: Instant, reason: String = "OTHER") throws {
        let notice = NotificationNotice(
            type: "CONSUMPTION_REQUEST", subtype: "", uuid: uuid, signed: signed, transactionID: 101)
        try self.tell(
            .reports(
                [ReportedLine.transaction(101)], source: .notification, claimant: nil,
                notice: NotedNotification(notice, consumptionReason: reason)))
    }

    fileprivate func questions() throws -> [ConsumptionCase] {
        let body = StoreRequest.Body.items(.consumption, groups: [ItemKey.appGroup(1)], after: [], limit: 10)
        guard case .items(let items, _) = try self.ask(body) else { throw Unexpected() }
        return items.compactMap { ConsumptionCase($0) }
    }
}

/// What the App Store asks about purchases whose customers want refunds.
@Suite struct `questions of the App Store` {
    private static let yes = ConsumptionAnswer(
        hasConsent: true, delivery: .delivered, consumedMilli: 80_000, preference: .decline)
    private static let no = ConsumptionAnswer(hasConsent: true, hasSample: true, delivery: .other)

    @Test(arguments: all) func `are stored with the notification, until an answer was taken`(
        _ kind: StorageImplementation
    ) throws {
        let store = try ReportedStore(on: try kind.make().storage)
        try store.askAbout("one", signed: store.wall, reason: "UNINTENDED_PURCHASE")
        let asked = try #require(try store.questions().first)
        #expect(asked.transaction == 101 && asked.original == 100 && asked.reason == "UNINTENDED_PURCHASE")
        #expect(asked.state == .open && asked.answer == nil)
        #expect(asked.deadline == store.wall.advanced(byMilliseconds: 12 * 3_600_000))
        // It comes again, as a retry and as another notification.
        try store.askAbout("one", signed: store.wall)
        try store.askAbout("two", signed: store.wall.advanced(byMilliseconds: 1_000))
        #expect(try store.questions() == [asked])
        try store.tell(.answer(101, Self.yes))
        try store.tell(.answer(101, Self.yes))
        #expect(try store.questions().map(\.state) == [.answered])
        #expect(try store.questions().first?.answer == Self.yes)
        // Another answer is given while the first one is sent: what is said to that one says nothing of this.
        try store.tell(.answer(101, Self.no))
        try store.tell(.answered(101, Self.yes, refusing: nil))
        #expect(try store.questions().map(\.state) == [.answered])
        try store.tell(.answered(101, Self.no, refusing: "4000044 no consent"))
        #expect(try store.questions().map(\.state) == [.refused])
        #expect(try store.questions().first?.message == "4000044 no consent")
        try store.tell(.answer(101, Self.yes))
        try store.tell(.answered(101, Self.yes, refusing: nil))
        #expect(try store.questions().map(\.state) == [.sent])
        #expect(try store.refusal(.answer(101, Self.no)) == .refundNotPossible)
        // The App Store asks anew.
        try store.askAbout("three", signed: store.wall.advanced(byMilliseconds: 60_000))
        #expect(try store.questions().map(\.state) == [.open])
    }

    @Test func `end with their deadlines`() throws {
        let store = try ReportedStore(on: try StorageImplementation.memory.make().storage)
        try store.askAbout("one", signed: store.wall)
        #expect(try store.refusal(.answer(102, Self.yes)) == .transactionUnknown)
        store.wall = store.wall.advanced(byMilliseconds: 12 * 3_600_000)
        #expect(try store.refusal(.answer(101, Self.yes)) == .refundNotPossible)
        // The customer asks again, and the first question was never answered.
        try store.askAbout("two", signed: store.wall)
        #expect(try store.questions().map(\.deadline) == [store.wall.advanced(byMilliseconds: 12 * 3_600_000)])
        try store.tell(.answer(101, Self.yes))
        let other = try ReportedStore(on: try StorageImplementation.memory.make().storage)
        try other.askAbout("old", signed: other.wall.advanced(byMilliseconds: -12 * 3_600_000))
        #expect(try other.questions().isEmpty, "a notification that is fetched late asks nothing")
    }

    @Test func `go with the account`() throws {
        let store = try ReportedStore(on: try StorageImplementation.memory.make().storage)
        try store.tell(.reports([ReportedLine.transaction(101)], source: .submission, claimant: store.key("anna")))
        try store.askAbout("one", signed: store.wall)
        #expect(try store.questions().count == 1)
        guard case .mutated = try store.ask(.mutate(.reported(.erase(store.key("anna")), app: 1))) else {
            return #expect(Bool(false), "she is erased")
        }
        #expect(try store.questions().isEmpty)
    }

    @Test func `are read as they were written`() {
        var asked = ConsumptionCase(transaction: 1, original: 2, reason: "OTHER", asked: ReportedStore.start)
        asked.state = .refused
        asked.message = "no"
        #expect(ConsumptionCase(asked.item(7)) == asked)
        asked.answer = Self.no
        #expect(ConsumptionCase(asked.item(7)) == asked)
        #expect(ConsumptionCase(StoredItem(ConsumptionCase.key(1, app: 7), [1])) == nil)
    }
}

/// Histories that were read to their ends.
@Suite struct `histories of the App Store` {
    private static func unread(_ store: ReportedStore, isWhole: Bool = false) throws -> [UnreadHistory] {
        let body = StoreRequest.Body.unread(1, from: 0, since: store.wall, isWhole: isWhole, limit: 100)
        guard case .unread(let accounts, _, false) = try store.ask(body) else { throw ReportedStore.Unexpected() }
        return accounts
    }

    private static func eligibility(_ store: ReportedStore) throws -> Eligibility {
        introductoryEligibility(
            of: try store.record("anna"), inGroup: "g", app: try #require(store.engine.apps[1]?.state), at: store.wall)
    }

    @Test(arguments: all) func `make introductory eligibility known`(_ kind: StorageImplementation) throws {
        let store = try ReportedStore(on: try kind.make().storage)
        try store.tell(.reports([ReportedLine.transaction(101)], source: .notification, claimant: nil))
        #expect(try Self.unread(store).isEmpty, "nobody has claimed anything")
        #expect(try Self.unread(store, isWhole: true).count == 1)
        try store.tell(.reports([ReportedLine.transaction(101)], source: .submission, claimant: store.key("anna")))
        let account = try #require(try Self.unread(store).first)
        #expect(account.originals == [100] && account.places.isEmpty)
        #expect(try Self.eligibility(store) == .unknown)
        let history = ReportedHistory(read: store.wall, places: [.init(original: 100, revision: "r1")])
        // Another customer's history says nothing of this one.
        try store.tell(.read(history, of: [200]))
        #expect(try Self.eligibility(store) == .unknown)
        try store.tell(.read(history, of: [100]))
        #expect(try Self.eligibility(store) == .eligible)
        #expect(try Self.unread(store).isEmpty)
        store.wall = store.wall.advanced(byMilliseconds: 1)
        #expect(try Self.unread(store).first?.places == history.places)
        // A renewal is of the same customer; another original may be another's.
        try store.tell(.reports([ReportedLine.transaction(102, period: 1)], source: .notification, claimant: nil))
        #expect(try Self.eligibility(store) == .eligible)
        try store.tell(
            .reports([ReportedLine.transaction(301, of: 300)], source: .submission, claimant: store.key("anna")))
        #expect(try Self.eligibility(store) == .unknown)
        #expect(try Self.unread(store).first?.places.isEmpty == true)
    }

    @Test func `do not hide an offer that was had`() throws {
        let store = try ReportedStore(on: try StorageImplementation.memory.make().storage)
        guard case .transaction(var transaction, let content) = ReportedLine.transaction(101) else { return }
        transaction.offer = TransactionOffer(id: "", type: .introductory, paymentMode: .freeTrial, period: nil)
        try store.tell(
            .reports([.transaction(transaction, content: content)], source: .submission, claimant: store.key("anna")))
        try store.tell(.read(ReportedHistory(read: store.wall, places: []), of: [100]))
        #expect(try Self.eligibility(store) == .ineligible)
    }

    @Test func `are rehearsed without a change`() throws {
        let store = try ReportedStore(on: try StorageImplementation.memory.make().storage)
        let reports = ReportedRequest.reports(
            [ReportedLine.transaction(101)], source: .history, claimant: store.key("anna"))
        guard case .mutated(.reported(let outcome), _) = try store.ask(.mutate(.reported(reports, app: 1).rehearsed))
        else { return #expect(Bool(false), "an outcome") }
        #expect(outcome.news == 1 && outcome.changed == 1)
        #expect(try store.record("anna") == nil)
        #expect(store.changes.isEmpty)
        #expect(try store.tell(reports).news == 1)
        // The same transaction, signed anew, changes nothing that anybody sees.
        let again = try store.tell(
            .reports([ReportedLine.transaction(101, signedAfter: 5_000)], source: .history, claimant: nil))
        #expect(again.news == 1 && again.changed == 0)
        // Nor does a token, which a server has set: no notification tells it.
        func signed(after milliseconds: Int64, _ change: (inout Transaction) -> Void) throws -> ReportedOutcome {
            guard case .transaction(var transaction, _) = ReportedLine.transaction(101, signedAfter: milliseconds)
            else {
                preconditionFailure("a transaction")
            }
            change(&transaction)
            let content = Digest(of: [UInt8(truncatingIfNeeded: milliseconds)])
            return try store.tell(
                .reports([.transaction(transaction, content: content)], source: .history, claimant: nil))
        }
        let token = "0b5c2f1e-6a44-4a8b-9f27-3d0f1a2b3c4d"
        let named = try signed(after: 6_000) { $0.appAccountToken = token }
        #expect(named.news == 1 && named.changed == 0)
        let upgraded = try signed(after: 7_000) {
            $0.appAccountToken = token
            $0.isUpgraded = true
        }
        #expect(upgraded.news == 1 && upgraded.changed == 1)
    }
}
