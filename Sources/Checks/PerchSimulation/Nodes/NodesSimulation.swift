import PerchBase
import PerchModel
import PerchStore
import PerchTesting

/// Three engines on one database with a standby, driven by a seed: commits end in every way, networks are cut, nodes are killed, and
/// standbys are promoted. Compares the values and answers of all nodes with the promises of one store.
package final class NodesSimulation {
    package struct Totals: Sendable, CustomStringConvertible {
        package var seeds = 0
        package var acknowledged = 0
        package var published = 0
        package var unknown = 0
        package var failovers = 0
        package var restarts = 0
        package var reads = 0
        /// Changes of the app that readers were sent, and those of them that time caused.
        package var changes = 0
        package var crossings = 0
        package var breaches: [String] = []

        package init() {}

        package mutating func add(_ other: Self) {
            self.seeds += other.seeds
            self.acknowledged += other.acknowledged
            self.published += other.published
            self.unknown += other.unknown
            self.failovers += other.failovers
            self.restarts += other.restarts
            self.reads += other.reads
            self.changes += other.changes
            self.crossings += other.crossings
            self.breaches += other.breaches
        }

        package var description: String {
            "\(self.acknowledged) writes acknowledged, \(self.published) changes shown by a node, \(self.reads) reads, "
                + "\(self.changes) changes in readers' order, \(self.crossings) of them by time, "
                + "\(self.unknown) commits cut off, \(self.failovers) failovers, \(self.restarts) nodes began anew, "
                + "\(self.breaches.count) breaches"
        }
    }

    package static let usualSteps = 120
    private static let month: Int64 = 300_000

    /// A node, from its start to its end.
    private final class Node {
        let storage: SharedNode
        let engine: StoreEngine
        var loopRevision: UInt64 = 0
        /// The newest record of each account that its loops were sent.
        var shown: [AccountNumber: AccountRecord] = [:]
        /// Requests without an answer so far.
        var asked: [UInt64: Asked] = [:]
        /// Its clock less the true one, in milliseconds.
        let skew: Int64

        init(_ storage: SharedNode, _ engine: StoreEngine, skew: Int64) {
            self.storage = storage
            self.engine = engine
            self.skew = skew
        }
    }

    private enum Asked {
        case write(key: Int)
        /// Without a key.
        case once
        case read
        /// A reader of the app's changes asks for the next page.
        case changes(reader: Int)
    }

    /// Somebody who reads all changes of the app, of any node, by cursor.
    private struct Reader {
        var place: ChangePlace?
        var seen: [SeenChange] = []
        var isWaiting = false
    }

    /// One change of the app, as a reader got it.
    private struct SeenChange: Equatable {
        var place: ChangePlace
        var key: [UInt8]?
        var cause: Cause
        var position: Position
    }

    /// A write that was acknowledged.
    private struct Answered: Hashable {
        var transaction: TransactionID?
        var revision: UInt64
    }

    /// What a change makes of an account.
    private struct Shown: Equatable {
        var record: AccountRecord
        var facts: [Fact]
    }

    private let database = SharedDatabase()
    private var random: SeededRandom
    private let seed: UInt64
    private var nodes: [Node] = []
    private var now = Instant(milliseconds: 1_800_000_000_000)
    private var ticket: UInt64 = 0
    private var keys: [StoreRequest.Body] = []
    private var readers = [Reader](repeating: Reader(), count: 3)
    private var answers: [Int: Answered] = [:]
    /// Keys of writes that were refused for good.
    private var refused: Set<Int> = []
    /// A node of the version before was at work, beside which refusals are not kept.
    private var hadVersionBefore = false
    /// The change that a node has shown, by revision.
    private var history: [UInt64: [Shown]] = [:]
    private var totals = Totals()
    /// Other nodes run while one asks for the outcome of its commit; they start no further ones.
    private var isNested = false
    private var isOver = false
    /// No reader asks any more.
    private var isEnding = false

    package init(seed: UInt64) {
        self.seed = seed
        self.random = SeededRandom(seed: seed)
    }

    /// Runs one seed.
    package static func run(seed: UInt64, steps: Int = usualSteps) -> Totals {
        let simulation = NodesSimulation(seed: seed)
        simulation.totals.seeds = 1
        do throws(StorageError) {
            for index in 0..<3 { simulation.nodes.append(try simulation.start(index)) }
            for _ in 0..<steps where !simulation.isOver { try simulation.step() }
            if !simulation.isOver { try simulation.end() }
        } catch {
            simulation.breach("the storage failed: \(error)")
        }
        return simulation.totals
    }

    private func breach(_ what: String) {
        self.totals.breaches.append("seed \(self.seed): \(what)")
        self.isOver = true
    }

    private func start(_ index: Int) throws(StorageError) -> Node {
        let storage = self.database.node()
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        var settings = AppSettings()
        settings.timeRate = TimeRate(named: "monthlyRenewalEveryFiveMinutes") ?? .realTime
        _ = try engine.openApp(
            "com.example.app", .xcode, catalogue: Self.catalogue, source: "test", fileSettings: settings, wall: self.now
        )
        let node = Node(storage, engine, skew: Int64(self.random.below(40_000)) - 20_000)
        node.loopRevision = engine.beginLoops()
        return node
    }

    private static let catalogue: Catalogue = {
        var monthly = CatalogueSubscription(groupID: "G", level: 1, period: Period(1, .month))
        monthly.introductoryOffers = []
        func product(_ id: String, _ type: ProductType, _ subscription: CatalogueSubscription? = nil)
            -> CatalogueProduct
        {
            CatalogueProduct(
                id: id, type: type, referenceName: id, price: Money(milliunits: 990, currency: "USD"),
                isFamilyShareable: false, localizations: [], subscription: subscription)
        }
        return Catalogue(
            products: [
                product("silver", .autoRenewable, monthly), product("season", .nonRenewable),
                product("coins", .consumable),
            ],
            groups: [CatalogueGroup(id: "G", name: "G", localizations: [])], schemaVersion: "4.0")
    }()

    private static func token(_ number: UInt64) -> String {
        let digits = String(number)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    // MARK: Steps

    private func step() throws(StorageError) {
        let place = self.random.below(self.nodes.count)
        switch self.random.below(24) {
        case 0: self.now = self.now.advanced(byMilliseconds: Self.month / 2)
        case 8, 9: self.now = self.now.advanced(byMilliseconds: Self.month / 20)
        case 1:
            let storage = self.nodes[place].storage
            storage.isCut.toggle()
            storage.isUnheard = storage.isCut && self.random.bool()
        case 2: self.database.hasStandby.toggle()
        case 3: try self.failOver()
        case 4: try self.restart(place)
        case 5, 6: self.planFault(place)
        case 7: self.nodes[place].storage.sealFailures = 1 + self.random.below(2)
        default: break
        }
        self.now = self.now.advanced(byMilliseconds: Int64(self.random.below(2_000)))
        // Its own clock is one more that is not the nodes'.
        self.database.clock = self.now.advanced(byMilliseconds: Int64(self.seed % 5) * 5_000 - 20_000)
        if self.random.below(40) == 0 { self.database.knowsCommitsOnly.toggle() }
        if self.database.knowsCommitsOnly { self.hadVersionBefore = true }
        // Half of the time nobody writes, and readers see what time causes.
        try self.turn(place, count: self.random.bool() ? 0 : self.random.below(4))
    }

    /// Only what a standby confirmed survives; and that is what the promises are about.
    private func failOver() throws(StorageError) {
        self.totals.failovers += 1
        try self.database.failOver()
        self.database.hasStandby = true
    }

    /// `kill -9`: whatever it was asked stays unanswered.
    private func restart(_ place: Int) throws(StorageError) {
        self.totals.restarts += 1
        // Opening the store is a commit, which would not end without a standby.
        self.database.hasStandby = true
        self.forgetQuestions(of: self.nodes[place])
        self.nodes[place] = try self.start(place)
    }

    /// The readers of a node that was killed go on at any other.
    private func forgetQuestions(of node: Node) {
        for case .changes(let reader) in node.asked.values { self.readers[reader].isWaiting = false }
    }

    private func planFault(_ place: Int) {
        let node = self.nodes[place]
        switch self.random.below(4) {
        case 0:
            let other = (place + 1) % self.nodes.count
            node.storage.faults = [.superseded { [weak self] in self?.runNested(other) }]
        case 1: node.storage.faults = [.unreachable]
        default:
            self.totals.unknown += 1
            node.storage.faults = [.unknown(isWritten: self.random.bool(), outcomeFailures: self.random.below(3))]
        }
        // Another node writes before the outcome is known, or the primary is lost.
        let (other, what) = ((place + 1 + self.random.below(2)) % self.nodes.count, self.random.below(4))
        node.storage.whileOutcomeIsUnknown = { [weak self, weak node] in
            node?.storage.whileOutcomeIsUnknown = nil
            if what == 0 { self?.runNested(other) }
            if what == 1 { try? self?.failOver() }
        }
    }

    private func runNested(_ place: Int) {
        guard !self.isNested, !self.nodes[place].storage.isCut else { return }
        self.isNested = true
        try? self.turn(place, count: 2)
        self.isNested = false
    }

    /// Asks a node some things, and runs it once.
    private func turn(_ place: Int, count: Int) throws(StorageError) {
        let node = self.nodes[place]
        var requests: [StoreRequest] = []
        for _ in 0..<count {
            self.ticket += 1
            let account = AccountKey(app: 1, bytes: Array("account-\(self.random.below(4))".utf8))
            if self.random.below(4) == 0 {
                node.asked[self.ticket] = .read
                requests.append(StoreRequest(loop: 0, ticket: self.ticket, .record(account)))
                continue
            }
            if self.random.below(4) == 0 {
                // Without a key: each is bought once at most.
                let order = PurchaseOrder(productID: "coins", appAccountToken: Self.token(self.ticket))
                node.asked[self.ticket] = .once
                requests.append(
                    StoreRequest(
                        loop: 0, ticket: self.ticket, .mutate(.operation(.buy(order), account: account, app: 1))))
                continue
            }
            // Often one that was asked before, of this node or another.
            var key = self.keys.count
            if key > 0, self.random.below(3) == 0 { key = max(0, key - 1 - self.random.below(6)) }
            if key == self.keys.count {
                let product = ["silver", "season", "coins"][self.random.below(3)]
                var mutation = Mutation.operation(
                    self.random.below(4) == 0
                        ? .setAutoRenew(.product("silver"), isOn: self.random.bool())
                        : .buy(PurchaseOrder(productID: product)), account: account, app: 1)
                mutation.repeatable(under: Array("key-\(key)".utf8))
                self.keys.append(.mutate(mutation))
            }
            node.asked[self.ticket] = .write(key: key)
            requests.append(StoreRequest(loop: 0, ticket: self.ticket, self.keys[key]))
        }
        for reader in self.readers.indices
        where !self.isEnding && !self.readers[reader].isWaiting && self.random.bool() {
            self.ticket += 1
            self.readers[reader].isWaiting = true
            node.asked[self.ticket] = .changes(reader: reader)
            let start = self.readers[reader].place.map { ChangesAsked.Start.after($0) } ?? .oldest
            requests.append(
                StoreRequest(loop: 0, ticket: self.ticket, .changes(ChangesAsked(app: 1, start: start))))
        }
        var outbox = StoreEngine.Outbox(loops: 1)
        _ = node.engine.run(requests, wall: self.now.advanced(byMilliseconds: node.skew), into: &outbox)
        for event in outbox.events[0] { self.take(event, of: node) }
        if let failure = node.engine.failure {
            guard case .historyLost(SharedNode.onlyRead) = failure else {
                return self.breach("node \(place) failed: \(failure)")
            }
            try self.restart(place)
        }
    }

    // MARK: Promises

    private func take(_ event: StoreEvent, of node: Node) {
        switch event {
        case .change(let change): self.take(change, of: node)
        case .answer(let ticket, let answer):
            guard let asked = node.asked.removeValue(forKey: ticket) else {
                return self.breach("ticket \(ticket) is answered twice")
            }
            if case .changes(let reader) = asked { self.readers[reader].isWaiting = false }
            switch (asked, answer) {
            case (.changes, .refused(let refusal)) where refusal.reason == .tokenFuture:
                self.breach("a reader has a place that is lost: \(refusal.message)")
            case (.write(let key), .refused(let refusal)) where refusal.reason.isFinal:
                guard !self.hadVersionBefore else { break }
                if self.answers[key] != nil {
                    self.breach("key \(key) is refused after it was acknowledged: \(refusal)")
                }
                self.refused.insert(key)
            case (_, .refused): break
            case (.changes(let reader), .changes(let page)): self.took(page, by: reader)
            case (.write(let key), .mutated(let result, let position)):
                self.took(key, result, position.revision, of: node)
            case (.once, .mutated(_, let position)):
                if position.revision > self.database.confirmedRevision || position.revision > node.loopRevision {
                    self.breach("revision \(position.revision) is acknowledged, its loops are at \(node.loopRevision)")
                }
            case (.read, .record(let record)):
                self.totals.reads += 1
                let known = record.map { node.shown[$0.account] } ?? nil
                // Before its loops began, a node knows records that it has not shown.
                if let record, let known, record != known {
                    self.breach(
                        "a read shows account \(record.account) at revision \(record.revision), its loops were sent \(known.revision)"
                    )
                }
                if let record, record.revision > node.loopRevision {
                    self.breach("a read shows revision \(record.revision), its loops are at \(node.loopRevision)")
                }
            default: self.breach("ticket \(ticket) got \(answer)")
            }
        case .failed, .barrier: break
        }
    }

    private func take(_ change: Change, of node: Node) {
        self.totals.published += 1
        if change.revision != node.loopRevision + 1 {
            return self.breach("a loop was sent revision \(change.revision) after \(node.loopRevision)")
        }
        node.loopRevision = change.revision
        if change.revision > self.database.confirmedRevision {
            return self.breach(
                "revision \(change.revision) is shown, and a failover keeps \(self.database.confirmedRevision)")
        }
        let shown = change.accounts.map { Shown(record: $0.record, facts: $0.facts) }
        if let known = self.history[change.revision], known != shown {
            return self.breach("revision \(change.revision) is shown as two changes")
        }
        self.history[change.revision] = shown
        for account in change.accounts { node.shown[account.record.account] = account.record }
    }

    private func took(_ page: ChangePage, by reader: Int) {
        self.readers[reader].place = page.through
        self.readers[reader].seen += page.entries.map(Self.seen)
        self.totals.changes += page.entries.count
        self.totals.crossings += page.entries.count { $0.account?.isCrossing ?? false }
    }

    private static func seen(_ entry: ChangeEntry) -> SeenChange {
        SeenChange(place: entry.place, key: entry.account?.key, cause: entry.cause, position: entry.position)
    }

    /// Every reader, whatever nodes it went to, has what a reader of everything gets now, as far as it came.
    private func checkReaders() throws(StorageError) {
        let node = try self.start(0)
        var whole: [SeenChange] = []
        var start = ChangesAsked.Start.oldest
        for _ in 0..<10_000 {
            var outbox = StoreEngine.Outbox(loops: 1)
            self.now = self.now.advanced(byMilliseconds: Limits.passedMilliseconds)
            let request = StoreRequest(loop: 0, ticket: 1, .changes(ChangesAsked(app: 1, start: start)))
            _ = node.engine.run([request], wall: self.now, into: &outbox)
            var page: ChangePage?
            for case .answer(_, .changes(let found)) in outbox.events[0] { page = found }
            guard let page else { return self.breach("the changes of the app cannot be read in the end") }
            whole += page.entries.map(Self.seen)
            start = .after(page.through)
            if page.isComplete { break }
        }
        for (number, reader) in self.readers.enumerated() {
            let count = reader.seen.count
            guard count > whole.count || reader.seen != Array(whole.prefix(count)) else { continue }
            let place = zip(reader.seen, whole).enumerated().first { $1.0 != $1.1 }
            self.breach(
                "reader \(number) was sent \(count) changes in another order than the replay of \(whole.count): "
                    + "\(place.map { "\($0.offset): \($0.element.0), \($0.element.1)" } ?? "")")
        }
    }

    private func took(_ key: Int, _ result: MutationResult, _ revision: UInt64, of node: Node) {
        self.totals.acknowledged += 1
        var transaction: TransactionID?
        if case .transaction(let made, _, _) = result { transaction = made.id }
        let answered = Answered(transaction: transaction, revision: revision)
        if let known = self.answers[key], known != answered {
            return self.breach("key \(key) is answered \(answered) after \(known)")
        }
        self.answers[key] = answered
        if self.refused.contains(key) { self.breach("key \(key) is acknowledged after it was refused for good") }
        if revision > self.database.confirmedRevision {
            return self.breach(
                "revision \(revision) is acknowledged, and a failover keeps \(self.database.confirmedRevision)")
        }
        if revision > node.loopRevision {
            self.breach("revision \(revision) is acknowledged, its loops are at \(node.loopRevision)")
        }
    }

    /// All is well again: everything is answered, all nodes have one state, and what was acknowledged is there once.
    private func end() throws(StorageError) {
        self.database.hasStandby = true
        for place in self.nodes.indices {
            let storage = self.nodes[place].storage
            (storage.isCut, storage.isUnheard, storage.sealFailures, storage.faults) = (false, false, 0, [])
            storage.whileOutcomeIsUnknown = nil
        }
        for _ in 0..<4 {
            for place in self.nodes.indices where !self.isOver { try self.turn(place, count: 0) }
        }
        for _ in 0..<2 {
            // Everything that is due is settled.
            for place in self.nodes.indices {
                for _ in 0..<40 where !self.isOver {
                    self.now = self.now.advanced(byMilliseconds: Limits.passedMilliseconds)
                    try self.turn(place, count: 0)
                }
            }
        }
        // Questions that wait for time are answered.
        for place in self.nodes.indices {
            self.now = self.now.advanced(byMilliseconds: 2 * Limits.passedMilliseconds)
            self.isEnding = true
            for _ in 0..<3 where !self.isOver { try self.turn(place, count: 0) }
        }
        // Time stands, and all learn of the last changes.
        for _ in 0..<3 {
            for place in self.nodes.indices where !self.isOver { try self.turn(place, count: 0) }
        }
        guard !self.isOver else { return }
        for place in self.nodes.indices {
            if let ticket = self.nodes[place].asked.keys.min() { self.breach("ticket \(ticket) has no answer") }
            var (header, first) = (self.nodes[place].engine.header, self.nodes[0].engine.header)
            header.lease = .distantPast
            first.lease = .distantPast
            if header != first { self.breach("node \(place) ends with \(header), node 0 with \(first)") }
        }
        try self.checkStored()
        if !self.isOver { try self.checkReaders() }
    }

    private func checkStored() throws(StorageError) {
        let storage = self.database.node()
        var stored: [TransactionID: TransactionRow] = [:]
        for account in 1..<AccountNumber(max(1, storage.header().nextAccount)) {
            let record = try storage.record(account)
            for node in self.nodes {
                if let shown = node.shown[account], shown != record {
                    self.breach("account \(account) is stored otherwise than a node has shown it")
                }
            }
            var query = TransactionQuery(limit: 10_000)
            query.includesFinishedConsumables = true
            var starts: Set<[Int64]> = []
            var tokens: Set<String> = []
            for row in try storage.transactions(of: account, query) {
                if stored.updateValue(row, forKey: row.transaction.id) != nil {
                    self.breach("transaction \(row.transaction.id) is there twice")
                }
                let token = row.transaction.appAccountToken
                if !token.isEmpty, !tokens.insert(token).inserted {
                    self.breach("the purchase \(token) was made twice")
                }
                guard row.transaction.productType == .autoRenewable else { continue }
                let start = [
                    Int64(clamping: row.transaction.originalID), row.transaction.purchaseDate.milliseconds,
                ]
                if !starts.insert(start).inserted {
                    self.breach("account \(account) has two periods of one subscription that begin at \(start[1])")
                }
            }
        }
        for (key, answered) in self.answers {
            guard let transaction = answered.transaction else { continue }
            if stored[transaction] == nil { self.breach("key \(key) was acknowledged, and its transaction is lost") }
        }
    }
}
