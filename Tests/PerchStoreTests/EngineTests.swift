import PerchBase
import PerchModel
import PerchStore
import Testing

@Suite struct `The store's engine` {
    private static let start = Instant(milliseconds: 1_800_000_000_000)

    /// An engine over a storage with one test app.
    private static func engine(on storage: any Storage, wall: Instant = start) throws -> StoreEngine {
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        _ = try engine.openApp(
            "com.example.app", .xcode, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"),
            source: "test", fileSettings: AppSettings(), wall: wall)
        return engine
    }

    private static func memory() -> MemoryStorage { MemoryStorage(identity: StoreIdentity(high: 1, low: 2)) }

    /// Sets the app's time rate unless it is that already, as the service does.
    private static func setRate(_ rate: TimeRate, key: [UInt8] = []) -> Mutation {
        var mutation = Mutation(.app(1), needsTestApp: true) { view throws(Refusal) in
            if view.app.settings.timeRate == rate { return .unchanged(answer: .none) }
            var change = AppChange()
            change.settings = view.app.settings
            change.settings?.timeRate = rate
            return .commitApp(change, answer: .none)
        }
        if !key.isEmpty { mutation.repeatable(under: key) }
        return mutation
    }

    private static func run(_ engine: StoreEngine, _ mutation: Mutation) throws -> (MutationResult, Position) {
        var outbox = StoreEngine.Outbox(loops: 1)
        _ = engine.run([StoreRequest(loop: 0, ticket: 7, .mutate(mutation))], wall: Self.start, into: &outbox)
        for case .answer(7, .mutated(let result, let position)) in outbox.events[0] { return (result, position) }
        throw Unanswered()
    }

    private struct Unanswered: Error {}

    @Test func `a new app starts with the given clock, also one in the past, and keeps it`() throws {
        let storage = Self.memory()
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        func open(_ clock: AppClock) throws -> AppClock? {
            let number = try engine.openApp(
                "com.example.app", .xcode, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"),
                source: "test", fileSettings: AppSettings(), clock: clock, wall: Self.start)
            return engine.apps[number]?.state.clock
        }
        let past = AppClock.frozen(at: Instant(milliseconds: 1_000))
        #expect(try open(past) == past)
        // The app exists by now: its first clock stays.
        #expect(try open(.running(offsetMilliseconds: 0)) == past)
    }

    @Test func `keeps one authority, whoever brings another`() throws {
        let storage = Self.memory()
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        func open(_ bundleID: String, _ authority: [UInt8]) throws {
            _ = try engine.openApp(
                bundleID, .xcode, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"), source: "test",
                fileSettings: AppSettings(), secrets: [StoredItem(ItemKey(.authority), authority)], wall: Self.start)
        }
        #expect(try engine.secret(.authority) == nil)
        try open("com.example.one", [1, 2, 3])
        let revision = engine.header.revision
        try open("com.example.two", [4])
        #expect(engine.header.revision == revision + 1)
        try engine.keep([StoredItem(ItemKey(.authority), [5])], wall: Self.start)
        #expect(try engine.secret(.authority) == [1, 2, 3])
        #expect(engine.header.revision == revision + 1)
        let again = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        #expect(try again.secret(.authority) == [1, 2, 3])
    }

    @Test func `a store of an earlier version gets its authority later`() throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        #expect(try engine.secret(.authority) == nil)
        try engine.keep([StoredItem(ItemKey(.authority), [9, 8])], wall: Self.start)
        #expect(try engine.secret(.authority) == [9, 8])
        // It still takes changes.
        #expect(
            try Self.run(engine, Self.setRate(try #require(TimeRate(rawValue: 1)))).1.revision == engine.header.revision
        )
    }

    @Test func `a key whose request changed nothing is answered as before when it would change something`() throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        let hourly = try #require(TimeRate(rawValue: 1))
        let (_, first) = try Self.run(engine, Self.setRate(.realTime, key: [1]))
        #expect(engine.header.revision == first.revision, "it changes nothing")
        _ = try Self.run(engine, Self.setRate(hourly))

        let (_, again) = try Self.run(engine, Self.setRate(.realTime, key: [1]))
        #expect(again == first)
        #expect(engine.app("com.example.app", .xcode)?.settings.timeRate == hourly)

        let (_, afterRestart) = try Self.run(try Self.engine(on: storage), Self.setRate(.realTime, key: [1]))
        #expect(afterRestart == first)
    }

    @Test func `the store's engine finds apps by number, and refuses unknown numbers`() throws {
        let engine = try Self.engine(on: Self.memory())
        for name in ["com.example.second", "com.example.third"] {
            _ = try engine.openApp(
                name, .xcode, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"), source: "test",
                fileSettings: AppSettings(), wall: Self.start)
        }
        #expect(engine.apps.states.map(\.number) == [1, 2, 3])
        #expect(engine.apps[3]?.state.bundleID == "com.example.third")
        #expect(engine.app("com.example.second", .xcode)?.number == 2)
        for number in [0, 4, .max] as [AppNumber] { #expect(engine.apps[number] == nil) }
        var outbox = StoreEngine.Outbox(loops: 1)
        let mutation = Mutation(.app(.max), needsTestApp: true) { _ in .unchanged(answer: .none) }
        _ = engine.run([StoreRequest(loop: 0, ticket: 1, .mutate(mutation))], wall: Self.start, into: &outbox)
        guard case .answer(1, .refused(let refusal))? = outbox.events[0].first else {
            Issue.record("an app that is not was not refused: \(outbox.events[0])")
            return
        }
        #expect(refusal.reason == .appUnknown)
    }

    /// Mutations that share an account, open one, name none, or change the app, in a batch longer than one group of prefetches.
    @Test func `a batch has the same result with and without prefetching`() throws {
        func run(inBatchesOf size: Int) throws -> (changes: [Int: AccountRecord], answers: [UInt64]) {
            let storage = Self.memory()
            let engine = try Self.engine(on: storage)
            var requests: [StoreRequest] = []
            for number in 0..<3 * Limits.prefetchedAtOnce + 1 {
                let subject: Subject =
                    switch number % 5 {
                    case 3: .owner(app: 1, of: 99)
                    case 4: .app(1)
                    default: .account(AccountKey(app: 1, bytes: Array("customer \(number % 7)".utf8)), opens: true)
                    }
                let mutation = Mutation(subject, needsTestApp: true) { view in
                    guard let record = view.record else { return .unchanged(answer: .none) }
                    let fact = Fact(.storefrontSet(number % 2 == 0 ? "FRA" : "USA"), effective: view.now)
                    return .commit([AccountFacts(account: record.account, facts: [fact])], answer: .none)
                }
                requests.append(StoreRequest(loop: 0, ticket: UInt64(number), .mutate(mutation)))
            }
            var answers: [UInt64] = []
            for start in stride(from: 0, to: requests.count, by: size) {
                var outbox = StoreEngine.Outbox(loops: 1)
                let batch = Array(requests[start..<min(start + size, requests.count)])
                _ = engine.run(batch, wall: Self.start, into: &outbox)
                for case .answer(let ticket, _) in outbox.events[0] { answers.append(ticket) }
            }
            var records: [Int: AccountRecord] = [:]
            for account in 1...7 { records[account] = storage.record(AccountNumber(account)) }
            return (records, answers)
        }
        let together = try run(inBatchesOf: .max / 2)
        let alone = try run(inBatchesOf: 1)
        #expect(together.changes == alone.changes)
        #expect(together.changes.count == 7)
        #expect(together.answers == alone.answers)
        #expect(together.answers.count == 3 * Limits.prefetchedAtOnce + 1)
    }

    /// A key may name an account about which nothing is written.
    @Test func `prefetching skips an account that has no place yet`() throws {
        let storage = Self.memory()
        let key = AccountKey(app: 1, bytes: Array("anna".utf8))
        var change = StoredChange(
            revision: 1, committed: Self.start, app: 1, nextTransaction: 1, nextAccount: (1 << 40) + 1)
        change.aliases = [(key, 1 << 40)]
        storage.begin()
        storage.apply(change)
        try storage.commit()
        let mutation = Mutation(.account(key, opens: false), needsTestApp: true) { _ in .unchanged(answer: .none) }
        let request = StoreRequest(loop: 0, ticket: 1, .mutate(mutation))
        storage.warm([request, request], from: 0)
        #expect(storage.record(1 << 40) == nil)
    }

    @Test func `the store's engine keeps the images of an edited catalogue, and deletes those of a replaced one`()
        throws
    {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        let image = ImageContent([0xFF, 0xD8, 0xFF])
        func load(_ images: [ImageContent]?) throws {
            let mutation = Mutation(.app(1), needsTestApp: true) { view throws(Refusal) in
                var change = AppChange()
                change.catalogue = (view.app.catalogue, "test")
                change.images = images
                return .commitApp(change, answer: .none)
            }
            _ = try Self.run(engine, mutation)
        }
        try load([image])
        try load(nil)
        #expect(storage.image(1, image.hash) == image.bytes)
        try load([])
        #expect(storage.image(1, image.hash) == nil)
    }

    @Test func `a start on a full disk serves the stored state and reports it`() throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        let mutation = Self.setRate(try #require(TimeRate(rawValue: 1)))
        storage.nextCommitFailure = .full("of the test")
        #expect(try !engine.mutateAtStart(mutation, wall: Self.start, machine: Self.start))
        #expect(engine.apps[1]?.state.settings.timeRate != TimeRate(rawValue: 1))
        #expect(try engine.mutateAtStart(mutation, wall: Self.start, machine: Self.start))
        #expect(engine.apps[1]?.state.settings.timeRate == TimeRate(rawValue: 1))
    }

    @Test func `a lease that fits on a full disk does not end the lack of space`() throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        engine.prove(machine: Self.start)
        #expect(engine.clockBound == engine.header.lease)
        storage.nextCommitFailure = .full("of the test")
        #expect(throws: Unanswered.self) { try Self.run(engine, Self.setRate(#require(TimeRate(rawValue: 1)))) }
        #expect(engine.isWithoutRoom)
        #expect(engine.clockBound == .distantFuture, "streams go on, so the clock does")
        let medium = ScriptedMedium()
        storage.maintenance = medium
        medium.hasRoom = false
        engine.prove(machine: Self.start.advanced(byMilliseconds: 20_000))
        #expect(engine.isWithoutRoom, "nobody could buy")
        medium.hasRoom = true
        engine.prove(machine: Self.start.advanced(byMilliseconds: 40_000))
        #expect(!engine.isWithoutRoom)
        #expect(engine.clockBound == Self.start.advanced(byMilliseconds: 52_000))
    }

    /// Compares the engine with one that starts on the stored state.
    @Test(arguments: ["setting", "catalogue", "clock", "account", "all of them"])
    func `a batch that finds no space leaves the engine as the store is`(_ kind: String) throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        let account = Mutation(
            .account(AccountKey(app: 1, bytes: Array("anna".utf8)), opens: true), needsTestApp: true
        ) { view in
            let fact = Fact(.storefrontSet("FRA"), effective: view.now)
            return .commit([AccountFacts(account: view.accountRecord.account, facts: [fact])], answer: .none)
        }
        func changed(_ change: AppChange) -> Mutation {
            Mutation(.app(1), needsTestApp: true) { _ in .commitApp(change, answer: .none) }
        }
        var (catalogue, clock) = (AppChange(), AppChange())
        catalogue.catalogue = (Catalogue(products: [], groups: [], schemaVersion: "4.1"), "another")
        clock.clock = .running(offsetMilliseconds: 1_000)
        let kinds = [
            "setting": Self.setRate(try #require(TimeRate(rawValue: 1))), "catalogue": changed(catalogue),
            "clock": changed(clock), "account": account,
        ]
        let asked = kinds[kind].map { [$0] } ?? kinds.keys.sorted().compactMap { kinds[$0] }
        let requests = asked.enumerated().map { StoreRequest(loop: 0, ticket: UInt64($0), .mutate($1)) }
        func run() -> Int {
            var outbox = StoreEngine.Outbox(loops: 1)
            _ = engine.run(requests, wall: Self.start, into: &outbox)
            return outbox.events[0].count { if case .answer(_, .mutated) = $0 { true } else { false } }
        }
        func checkKnown() throws {
            let stored = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
            #expect(engine.header == stored.header)
            #expect(engine.apps.states.map { "\($0)" } == stored.apps.states.map { "\($0)" })
        }
        let before = engine.header
        storage.nextCommitFailure = .full("of the test")
        #expect(run() == 0)
        #expect(engine.header.revision == before.revision)
        try checkKnown()
        // And with room all of it is done.
        #expect(run() == asked.count)
        #expect(engine.header.revision == before.revision + UInt64(asked.count))
        try checkKnown()
    }

    @Test func `a change that fits ends the lack of space, whatever the medium reports`() throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        let medium = ScriptedMedium()
        storage.maintenance = medium
        medium.hasRoom = false
        storage.nextCommitFailure = .full("of the test")
        engine.prove(machine: Self.start)
        #expect(engine.isWithoutRoom)
        _ = try Self.run(engine, Self.setRate(#require(TimeRate(rawValue: 1))))
        #expect(!engine.isWithoutRoom)
    }

    /// A defect of the bug bank that no test found once: the answer is not kept with the change, so a client that repeats an
    /// unanswered request buys twice.
    @Test func `the answer to a key is kept with what it answered, and lasts a restart`() throws {
        let storage = Self.memory()
        let hourly = try #require(TimeRate(rawValue: 1))
        let first = try Self.run(try Self.engine(on: storage), Self.setRate(hourly, key: [5]))
        let restarted = try Self.engine(on: storage)
        let revision = restarted.header.revision
        #expect(storage.answer(to: MutationKey(app: 1, bytes: [5]))?.position == first.1)
        let again = try Self.run(restarted, Self.setRate(hourly, key: [5]))
        #expect(again.1 == first.1)
        #expect(restarted.counters.replays == 1)
        #expect(restarted.header.revision == revision)
    }

    @Test func `the store's engine forgets revoked tokens that have ended, in memory and on disk`() throws {
        let storage = Self.memory()
        let engine = try Self.engine(on: storage)
        func revoke(_ id: String, lasting milliseconds: Int64, at wall: Instant) -> [StoreEvent] {
            var outbox = StoreEngine.Outbox(loops: 1)
            let token = RevokedToken(id: id, expires: Self.start.advanced(byMilliseconds: milliseconds))
            _ = engine.run([StoreRequest(loop: 0, ticket: 7, .revoke(token))], wall: wall, into: &outbox)
            return outbox.events[0]
        }
        #expect(revoke("a", lasting: 1_000, at: Self.start).count == 2)
        #expect(revoke("a", lasting: 1_000, at: Self.start).count == 1, "a known token changes nothing")
        let revision = engine.header.revision
        #expect(revoke("a", lasting: 2_000, at: Self.start).count == 2, "it is remembered for longer")
        #expect(engine.header.revision == revision + 1)
        #expect(engine.revoked.map(\.id) == ["a"])
        let later = Self.start.advanced(byMilliseconds: 2_001 + Limits.tokenSkewMilliseconds)
        _ = revoke("b", lasting: 1_000_000, at: later)
        #expect(engine.revoked.map(\.id) == ["b"])
        #expect(storage.revokedTokens() == engine.revoked)
        storage.nextCommitFailure = .full("the disk")
        let events = revoke("c", lasting: 1_000_000, at: later)
        guard case .answer(7, .refused(let refusal))? = events.last else { throw Unanswered() }
        #expect(refusal.reason == .storeFull)
        #expect(events.count == 1, "no loop receives a change that is not durable")
        #expect(engine.revoked.map(\.id) == ["b"])
    }

    @Test func `repeated crashes do not advance the clock by a lease each`() throws {
        let storage = Self.memory()
        _ = try Self.engine(on: storage)
        var machine = Self.start
        var lease = Instant.distantPast
        for crash in 0..<50 {
            let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
            // As the server's clock: no earlier than the lease.
            let wall = max(machine, engine.header.lease)
            #expect(wall.milliseconds(since: machine) <= Limits.leaseMilliseconds, "after \(crash) crashes")
            #expect(wall >= lease)
            lease = wall
            var outbox = StoreEngine.Outbox(loops: 1)
            let wake = engine.run([], wall: wall, machine: machine, into: &outbox)
            #expect(engine.header.lease > machine, "what is shown is covered by a lease")
            #expect(try #require(wake) > machine, "it does not spin while its clock stands")
            machine = machine.advanced(byMilliseconds: 900)
        }
    }
}
