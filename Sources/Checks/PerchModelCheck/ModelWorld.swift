package import PerchBase
package import PerchModel
package import PerchStore

/// The world of the model's checks: a store with a few accounts, without loops. Only events move its clock.
package final class ModelWorld {
    package static let accounts = ["ann", "ben", "cat", "dan"]
    package static let begin = Instant(milliseconds: 1_769_680_800_000)

    package let app: AppNumber
    package let storage: MemoryStorage
    private let engine: StoreEngine
    private var nextTicket: UInt64 = 1
    /// Committed changes that are not processed yet.
    private var changes: [Change] = []
    /// The last mutation with a key, and its answer.
    package private(set) var lastKeyed: (mutation: Mutation, answer: Answer)?
    private var nextKey: UInt64 = 1

    /// The outcome of a mutation.
    package enum Answer: Hashable, Sendable {
        case done(MutationResult, Position)
        case refused(Refusal)
        /// The store does not answer.
        case stuck
        /// A repetition under the same key had another answer.
        case differs(first: String, again: String)
    }

    package init() {
        do throws(StorageError) {
            self.storage = MemoryStorage(identity: StoreIdentity(high: 0x4D6F_6465, low: 1))
            self.engine = try StoreEngine(storage: self.storage, loops: 1, cacheBytesMax: 1 << 20)
            self.app = try self.engine.openApp(
                ModelShop.bundleID, .xcode, catalogue: ModelShop.catalogue(), source: "model check",
                fileSettings: AppSettings(), wall: Self.begin)
        } catch {
            preconditionFailure("a new store in memory cannot be opened: \(error)")
        }
        var freeze = AppChange()
        freeze.clock = .frozen(at: Self.begin)
        _ = self.change(freeze)
        _ = self.takeChanges()
    }

    package var state: AppState {
        guard let state = self.engine.app(ModelShop.bundleID, .xcode) else { preconditionFailure("the app is gone") }
        return state
    }

    package var now: Instant { self.state.clock.now(wall: Self.begin) }
    package var revision: UInt64 { self.engine.header.revision }

    package func key(_ account: Int) -> AccountKey {
        AccountKey(app: self.app, bytes: Array(Self.accounts[account].utf8))
    }

    package func number(of account: Int) -> AccountNumber? { self.storage.account(self.key(account)) }

    package func record(_ account: Int) -> AccountRecord? {
        self.number(of: account).flatMap { self.storage.record($0) }
    }

    /// All of them, oldest first.
    package func rows(_ account: Int) -> [TransactionRow] {
        guard let number = self.number(of: account) else { return [] }
        var query = TransactionQuery(limit: .max)
        query.includesFinishedConsumables = true
        return self.storage.transactions(of: number, query)
    }

    /// The answer of a read.
    func read(_ body: StoreRequest.Body) -> StoreAnswer? {
        let ticket = self.nextTicket
        self.nextTicket += 1
        var outbox = StoreEngine.Outbox(loops: 1)
        _ = self.engine.run([StoreRequest(loop: 0, ticket: ticket, body)], wall: Self.begin, into: &outbox)
        for case .answer(ticket, let answer) in outbox.events[0] { return answer }
        return nil
    }

    /// A list, read page by page; nil if it does not end.
    func list(_ account: Int, _ query: TransactionQuery) -> [TransactionRow]? {
        var query = query
        var rows: [TransactionRow] = []
        for _ in 0..<10_000 {
            guard case .transactions(let page, let hasMore)? = self.read(.transactions(self.key(account), query)) else {
                return nil
            }
            rows += page
            guard hasMore, let last = page.last?.transaction else { return rows }
            query.after = TransactionQuery.Place(purchaseDate: last.purchaseDate, id: last.id)
        }
        return nil
    }

    package func takeChanges() -> [Change] {
        defer { self.changes.removeAll() }
        return self.changes
    }

    // MARK: What happens

    /// Sends a mutation under a new key, so that it can be repeated.
    package func ask(_ mutation: Mutation) -> Answer {
        var mutation = mutation
        mutation.repeatable(
            under: withUnsafeBytes(of: self.nextKey.bigEndian) { Array($0) }, of: Digest(high: self.nextKey, low: 1))
        self.nextKey += 1
        let answer = self.run(mutation)
        self.lastKeyed = (mutation, answer)
        return answer
    }

    /// Repeats the last mutation.
    package func askAgain() -> Answer? {
        self.lastKeyed.map { self.run($0.mutation) }
    }

    package func change(_ change: AppChange) -> Answer {
        var mutation = Mutation(.app(self.app), needsTestApp: true) { _ in .commitApp(change, answer: .none) }
        mutation.waitsForSettling = change.clock != nil
        return self.run(mutation)
    }

    package func advance(to instant: Instant) -> Answer {
        var change = AppChange()
        change.clock = .frozen(at: instant)
        return self.change(change)
    }

    private func run(_ mutation: Mutation) -> Answer {
        let ticket = self.nextTicket
        self.nextTicket += 1
        var requests = [StoreRequest(loop: 0, ticket: ticket, .mutate(mutation))]
        var answer: Answer?
        for _ in 0..<2_000 {
            var outbox = StoreEngine.Outbox(loops: 1)
            _ = self.engine.run(requests, wall: Self.begin, into: &outbox)
            requests = []
            for event in outbox.events[0] {
                switch event {
                case .change(let change):
                    self.changes.append(change)
                case .barrier(let number):
                    requests.append(StoreRequest(loop: 0, ticket: 0, .barrierReached(number)))
                case .answer(ticket, .mutated(let result, let position)):
                    answer = .done(result, position)
                case .answer(ticket, .refused(let refusal)):
                    answer = .refused(refusal)
                case .answer, .failed:
                    preconditionFailure("the store in memory answered \(event)")
                }
            }
            // Renewals that it made due are settled too, as on the store's own thread.
            let due = self.storage.earliestDue(self.app) ?? .distantFuture
            if let answer, due > self.now { return answer }
        }
        return .stuck
    }
}

/// The state at one moment, for laws that compare before with after.
package struct ModelSnapshot {
    package var now: Instant
    package var revision: UInt64
    package var app: AppState
    package var records: [AccountRecord?]
    package var rows: [[TransactionRow]]

    /// `earlier` is reused for accounts that no revision has touched since.
    package init(of world: ModelWorld, after earlier: ModelSnapshot? = nil) {
        self.now = world.now
        self.revision = world.revision
        self.app = world.state
        let records = ModelWorld.accounts.indices.map { world.record($0) }
        self.records = records
        self.rows = ModelWorld.accounts.indices.map { account in
            if let earlier, earlier.records[account]?.revision == records[account]?.revision {
                return earlier.rows[account]
            }
            return world.rows(account)
        }
    }

    package func line(_ account: Int, _ group: String) -> Line? {
        guard let record = self.records[account], let index = record.ownLineIndex(inGroup: group) else { return nil }
        return record.lines[index]
    }
}
