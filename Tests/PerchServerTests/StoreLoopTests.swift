import PerchBase
import PerchLoop
import PerchMetrics
import PerchModel
import PerchSQLite
import PerchStore
import PerchTesting
import Testing

@testable import PerchServer

/// A store's loop without its thread: the test runs its ticks.
private final class SteppedStore {
    let storage: SQLiteStorage
    let engine: StoreEngine
    let driver: StoreLoop
    let app: AppNumber
    private let folder = TemporaryDirectory()
    private let requests: Inbox<StoreRequest>
    private let questions: Inbox<StoreQuestion>
    private let loop: Inbox<LoopEvent>
    private let control: Inbox<ControlEvent>

    init() throws {
        let wake = try WakeUp()
        self.storage = try SQLiteStorage(path: self.folder.file("perch.db"))
        let engine = try StoreEngine(storage: self.storage, loops: 1, cacheBytesMax: 1 << 20)
        let clock = StoreClock(notBefore: engine.header.lease, bound: .distantFuture)
        self.app = try engine.openApp(
            "com.example.app", .xcode, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"),
            source: "shop", fileSettings: AppSettings(), wall: clock.now())
        self.engine = engine
        self.requests = Inbox(wake: wake)
        self.questions = Inbox(wake: wake)
        self.loop = Inbox(wake: wake)
        self.control = Inbox(wake: wake)
        self.driver = StoreLoop(
            engine: engine, inbox: self.requests, questions: self.questions, loops: [self.loop], control: self.control,
            clock: clock)
    }

    deinit { self.storage.close() }

    /// As a loop that has this store to itself asks it.
    func turn(asking asks: [StoreRequest]) -> (told: [StoreEvent], committed: UInt64?, left: Int) {
        var asks = asks
        var told: [StoreEvent] = []
        let answer = self.driver.turn(now: Clocks.monotonic(), asks: &asks, told: &told)
        return (told, answer.committed, asks.count)
    }

    /// How much waits in the loop's inbox whenever a commit begins or has ended.
    func watchDepth() -> Depths {
        let depths = Depths()
        let loop = self.loop
        self.engine.timing.stopwatch = {
            depths.seen.append(loop.depth)
            return 0
        }
        return depths
    }

    final class Depths { var seen: [Int] = [] }

    /// The events in the loop's inbox.
    var posted: [LoopEvent] {
        var events: [LoopEvent] = []
        self.loop.take(into: &events)
        return events
    }

    /// Gives the app a catalogue with a source of that many bytes, to make the store write.
    func rename(bytes: Int) {
        let source = String(repeating: "x", count: bytes)
        let mutation = Mutation(.app(self.app), needsTestApp: false) { view throws(Refusal) in
            var change = AppChange()
            change.catalogue = (view.app.catalogue, source)
            return .commitApp(change, answer: .none)
        }
        self.requests.post(StoreRequest(loop: 0, ticket: 1, .mutate(mutation)))
    }

    func ask(proves: Bool) { self.questions.post(.report(number: 1, proves: proves)) }

    /// Starts a backup, whose pages are copied from the next tick on; returns its path.
    func copy(to name: String) -> String {
        let path = self.folder.file(name)
        self.questions.post(.copy(path: path))
        return path
    }

    func stop() { self.questions.post(.stop) }

    var files: [String] { TemporaryDirectory.names(in: self.folder.path) }

    /// One tick; the events for the loop and the control thread.
    func turn() -> (loop: [LoopEvent], control: [ControlEvent]) {
        _ = self.driver.turn(now: Clocks.monotonic())
        var (events, told): ([LoopEvent], [ControlEvent]) = ([], [])
        self.loop.take(into: &events)
        self.control.take(into: &told)
        return (events, told)
    }

    func report(proves: Bool = false) throws -> StoreReport {
        self.ask(proves: proves)
        for event in self.turn().control {
            if case .storeReport(_, let report) = event { return report }
        }
        throw ServerError("nothing was reported")
    }
}

@Suite struct `the store's thread` {
    @Test func `the store's thread measures its commits, and sends their time to the loops`() throws {
        let store = try SteppedStore()
        // A separate commit opened the app.
        let opened = try store.report().measures.batchChanges.count
        let before = Clocks.microseconds()
        store.rename(bytes: 10)
        let told = store.turn().loop
        guard case .store(let events, let time?)? = told.first else {
            Issue.record("the change came without the time of its commit: \(told)")
            return
        }
        #expect(time >= before && time <= Clocks.microseconds())
        guard case .change? = events.first else {
            Issue.record("no change: \(told)")
            return
        }
        let report = try store.report()
        #expect(report.measures.commitMicroseconds.count >= 1)
        #expect(report.measures.batchChanges.count == opened + 1)
        #expect(report.measures.batchChanges.max == 1)
        #expect(report.measures.inboxRequests.count == 1)
        #expect(report.figures.fileBytes > 0)
        #expect(report.figures.logBytes > 0)
        #expect(report.apps.map(\.bundleID) == ["com.example.app"])
        #expect(report.apps.first?.catalogueLoaded != nil)
    }

    @Test func `the store's thread answers a loop that drives it at once, including earlier questions`() throws {
        let store = try SteppedStore()
        store.rename(bytes: 10)
        let key = AccountKey(app: store.app, bytes: Array("anna".utf8))
        let before = Clocks.microseconds()
        let first = store.turn(asking: [StoreRequest(loop: 0, ticket: 2, .record(key))])
        #expect(first.left == 0)
        #expect(store.posted.isEmpty)
        guard case .answer(2, .record(nil))? = first.told.first, case .change? = first.told.dropFirst().first,
            case .answer(1, .mutated)? = first.told.last
        else {
            Issue.record("the read, the change and its answer were to come: \(first.told)")
            return
        }
        #expect((before...Clocks.microseconds()).contains(try #require(first.committed)))
        // The commit time belongs to that tick alone.
        let second = store.turn(asking: [StoreRequest(loop: 0, ticket: 3, .record(key))])
        #expect(second.told.count == 1)
        #expect(second.committed == nil)
    }

    @Test func `the store's thread sends changes to the loops before it commits anything else`() throws {
        let store = try SteppedStore()
        let depths = store.watchDepth()
        store.rename(bytes: 10)
        store.ask(proves: true)
        _ = store.turn()
        // The change's commit, then that of the proof.
        #expect(depths.seen == [0, 0, 1, 1])
    }

    @Test func `the store's thread stamps nothing that is no change`() throws {
        let store = try SteppedStore()
        #expect(store.turn().loop.isEmpty)
    }

    @Test func `the store's thread proves that it works by an invisible commit`() throws {
        let store = try SteppedStore()
        let idle = try store.report()
        let again = try store.report()
        #expect(again.counters.batches == idle.counters.batches)
        let proven = try store.report(proves: true)
        #expect(proven.counters.batches == idle.counters.batches + 1)
        #expect(proven.census.revision == idle.census.revision)
        #expect(proven.failure == nil)
    }

    @Test func `the store's thread copies between its batches, and has each of them wait for no more than some pages`()
        throws
    {
        let store = try SteppedStore()
        store.rename(bytes: 4_000_000)
        _ = store.turn()
        let path = store.copy(to: "copy.db")
        var (turns, outcome): (UInt64, CopyOutcome?) = (0, nil)
        while outcome == nil, turns < 10_000 {
            turns += 1
            store.rename(bytes: 1_000 + Int(turns))
            let told = store.turn()
            let events = told.loop.flatMap { (event) -> [StoreEvent] in
                if case .store(let events, _) = event { events } else { [] }
            }
            #expect(events.contains { if case .change = $0 { true } else { false } }, "turn \(turns)")
            for case .copied(let found) in told.control { outcome = found }
        }
        guard case .copied(let revision, let stall)? = outcome else {
            Issue.record("the copy ended with \(String(describing: outcome))")
            return
        }
        // The app was opened, and then renamed in every tick.
        #expect(revision == turns + 2)
        let stalls = try store.report().measures.copyStallMicroseconds
        #expect(stalls.count == turns)
        #expect(stall >= stalls.max)
        _ = try StoreBackup.complete(path)
        #expect(try StoreRestore.verify(path).revision == revision)
        #expect(store.files.contains("copy.db") && !store.files.contains("copy.db.partial"))
    }

    @Test func `the store's thread gives a copy up when it stops, and leaves nothing of it`() throws {
        let store = try SteppedStore()
        store.rename(bytes: 40_000_000)
        _ = store.turn()
        _ = store.copy(to: "copy.db")
        _ = store.turn()
        #expect(store.files.contains("copy.db.partial"))
        store.stop()
        let told = store.turn().control
        #expect(told.contains { if case .copied(.failed(let text)) = $0 { text.contains("stopping") } else { false } })
        #expect(told.contains { if case .storeStopped = $0 { true } else { false } })
        #expect(store.files == ["perch.db"])
    }

    @Test func `the store's thread says why there is no copy`() throws {
        let store = try SteppedStore()
        _ = store.copy(to: "perch.db")
        let told = store.turn().control
        #expect(
            told.contains { if case .copied(.failed(let text)) = $0 { text.contains("there already") } else { false } })
    }

    @Test func `the store's thread reports a full disk, and its end, once each`() throws {
        let store = try SteppedStore()
        func news() -> [Bool] {
            store.turn().control.compactMap { if case .storeRoom(let isThere) = $0 { isThere } else { nil } }
        }
        #expect(news().isEmpty)
        try store.storage.limitPages(to: 1)
        store.rename(bytes: 400_000)
        #expect(news() == [false])
        store.rename(bytes: 400_000)
        #expect(news().isEmpty)
        let full = try store.report()
        #expect(full.isWithoutRoom)
        #expect(full.failure == nil)
        #expect(full.failedCommit != nil)
        #expect(full.counters.failedBatches == 2)
        try store.storage.limitPages(to: SQLiteStorage.pagesMax)
        store.rename(bytes: 400_000)
        #expect(news() == [true])
        #expect(try !store.report().isWithoutRoom)
    }
}
