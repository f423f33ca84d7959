import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

@Suite struct `Every storage` {
    @Test(arguments: all)
    func `every storage is empty when it is new`(_ implementation: StorageImplementation) throws {
        let storage = try implementation.make().storage
        let header = try storage.header()
        #expect(header.epoch == 1)
        #expect(header.revision == 0)
        #expect(header.nextTransaction == 1)
        #expect(header.nextAccount == 1)
        #expect(header.lease == .distantPast)
        #expect(try storage.appStates().isEmpty)
        #expect(try storage.appState(1, inForceAt: .distantFuture) == nil)
        #expect(try storage.earliestDue(1) == nil)
        #expect(try storage.due(1, through: .distantFuture, limit: 10) == [])
    }

    @Test(arguments: all)
    func `every storage finds nothing under a number that was never stored`(_ implementation: StorageImplementation)
        throws
    {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        try store.write(builder.facts(1, [.purchased(ChangeBuilder.transaction(0), terms: nil)]))
        for number in [UInt64(2), 1 << 62, 1 << 63, UInt64.max] {
            #expect(try store.storage.record(number) == nil)
            #expect(try store.storage.transaction(1, number) == nil)
            #expect(try store.storage.commitTime(of: number) == nil)
            #expect(try store.storage.facts(of: number) == [])
            #expect(try store.storage.transactions(of: number, TransactionQuery(limit: 9)) == [])
            let place = EventPlace(revision: number, ordinal: .max)
            #expect(try store.storage.events(of: 1, after: place, limit: 9) == [])
        }
        #expect(try store.storage.account(AccountKey(app: 1, bytes: [1])) == nil)
        #expect(try store.storage.answer(to: MutationKey(app: 1, bytes: [1])) == nil)
        #expect(try store.storage.transaction(1, 0) != nil, "zero is a valid number")
    }

    @Test(arguments: all)
    func `every storage advances its counters with each change of a batch`(_ implementation: StorageImplementation)
        throws
    {
        let store = try implementation.make()
        let identity = try store.storage.header().identity
        var builder = ChangeBuilder()
        try store.write([builder.change(), builder.change(), builder.change()])
        let header = try store.storage.header()
        #expect(header.revision == 3)
        #expect(header.nextTransaction == 30)
        #expect(header.nextAccount == 300)
        #expect(header.identity == identity)
        #expect(try (1...3).map { try store.storage.commitTime(of: $0)?.milliseconds } == [1_000, 2_000, 3_000])
    }

    @Test(arguments: all)
    func `reads the writes of its own batch, and forgets them after a rollback`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var script = StorageScript(seed: 11)
        try store.write((0..<40).map { _ in script.change() })
        let before = try store.storage.transcript(of: script)

        try store.storage.begin()
        for _ in 0..<40 { try store.storage.apply(script.change()) }
        try store.storage.setLease(until: Instant(milliseconds: 77))
        try store.storage.forgetAnswers(before: StorageScript.days[3])
        let within = try store.storage.transcript(of: script)
        store.storage.rollback()

        var sameScript = StorageScript(seed: 11)
        for _ in 0..<40 { _ = sameScript.change() }
        #expect(try store.storage.transcript(of: sameScript) == before)

        // Written for good, it reads as it did within the batch.
        try store.storage.begin()
        for _ in 0..<40 { try store.storage.apply(sameScript.change()) }
        try store.storage.setLease(until: Instant(milliseconds: 77))
        try store.storage.forgetAnswers(before: StorageScript.days[3])
        try store.storage.commit()
        #expect(try store.storage.transcript(of: sameScript) == within)
        #expect(within != before)
    }

    @Test(arguments: all)
    func `storage keeps nothing of a batch without space, and continues when there is some`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var script = StorageScript(seed: 5)
        try store.write((0..<20).map { _ in script.change() })
        let before = try store.storage.transcript(of: script)

        var next = script
        let changes = (0..<200).map { _ in next.change() }
        try store.takeRoom()
        let error = #expect(throws: StorageError.self) { try store.write(changes) }
        guard case .full = error else {
            Issue.record("not for want of room: \(String(describing: error))")
            return
        }
        #expect(try store.storage.transcript(of: script) == before)

        try store.makeRoom()
        try store.write(changes)
        #expect(try store.storage.header().revision == next.revision)
    }

    @Test(arguments: all)
    func `every storage finds an account by each of its keys, bytewise and within its app`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let key = AccountKey(app: 1, bytes: [0x61])
        let upper = AccountKey(app: 1, bytes: [0x41])
        let longer = AccountKey(app: 1, bytes: [0x61, 0x20])
        let elsewhere = AccountKey(app: 2, bytes: [0x61])
        try store.write(builder.change { $0.aliases = [(key, 1), (longer, 1), (elsewhere, 2)] })
        #expect(try store.storage.account(key) == 1)
        #expect(try store.storage.account(longer) == 1)
        #expect(try store.storage.account(elsewhere) == 2)
        #expect(try store.storage.account(upper) == nil)
        try store.write(builder.change { $0.aliases = [(key, 3)] })
        #expect(try store.storage.account(key) == 3, "a key can move")
        #expect(try store.storage.account(longer) == 1)
    }

    @Test(arguments: all)
    func `every storage keeps the newest record`(_ implementation: StorageImplementation) throws {
        let store = try implementation.make()
        var random = SeededRandom(seed: 2)
        var builder = ChangeBuilder()
        let (first, second) = (random.record(1), random.record(1))
        try store.write(builder.change { $0.records = [StoredRecord(first)] })
        #expect(try store.storage.record(1) == first)
        try store.write(builder.change { $0.records = [StoredRecord(second)] })
        #expect(try store.storage.record(1) == second)
    }

    @Test(arguments: all)
    func `storage lists due accounts by instant, then account, for each app`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        let storage = store.storage
        var builder = ChangeBuilder()
        try store.write([
            builder.due(3, 50), builder.due(1, 70), builder.due(2, 50), builder.due(4, -5), builder.due(5, app: 2, 1),
            builder.due(6, nil),
        ])
        func due(through instant: Int64, limit: Int = 10) throws -> [AccountNumber] {
            try storage.due(1, through: Instant(milliseconds: instant), limit: limit).map(\.account)
        }
        #expect(try due(through: .max) == [4, 2, 3, 1])
        #expect(try due(through: .max, limit: 2) == [4, 2])
        #expect(try due(through: .max, limit: 0) == [])
        #expect(try due(through: 50) == [4, 2, 3], "an instant itself is due")
        #expect(try due(through: 49) == [4])
        #expect(try due(through: -6) == [])
        #expect(try storage.earliestDue(1) == Instant(milliseconds: -5))
        #expect(try storage.earliestDue(2) == Instant(milliseconds: 1))

        try store.write([builder.due(4, 60, previous: -5), builder.due(2, nil, previous: 50)])
        #expect(try due(through: .max) == [3, 4, 1])
        #expect(try storage.earliestDue(1) == Instant(milliseconds: 50))
        try store.write(builder.due(3, 50, previous: 50))
        #expect(try due(through: .max) == [3, 4, 1], "what stays is there once")
    }

    @Test(arguments: all)
    func `every storage returns the app state in force at an instant, the newest of two that begin together`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        try store.write([
            builder.app(1, effective: 10, marker: "a"), builder.app(2, effective: 15, marker: "other"),
            builder.app(1, effective: 20, marker: "b"), builder.app(1, effective: 20, marker: "c", catalogue: 4),
            builder.app(1, effective: 30, marker: "d", catalogue: 4),
        ])
        func state(at instant: Int64) throws -> AppState? {
            try store.storage.appState(1, inForceAt: Instant(milliseconds: instant))?.state
        }
        #expect(try state(at: 9) == nil)
        #expect(try state(at: 10)?.catalogueSource == "a")
        #expect(try state(at: 19)?.catalogueSource == "a")
        #expect(try state(at: 20)?.catalogueSource == "c")
        #expect(try state(at: 29)?.catalogueSource == "c")
        #expect(try state(at: .max)?.catalogueSource == "d")
        #expect(try state(at: 10)?.catalogue.schemaVersion == "of 1")
        #expect(try state(at: 30)?.catalogue.schemaVersion == "of 4")
        #expect(try store.storage.appStates().map(\.state.catalogueSource) == ["d", "other"])
    }

    @Test(arguments: all)
    func `every storage returns the state of an app at a revision, whatever other apps do`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        try store.write([
            builder.change(), builder.app(1, effective: 10, marker: "a"),
            builder.app(2, effective: 99, marker: "other"),
            builder.change(), builder.app(1, effective: 10, marker: "b"),
            builder.app(1, effective: 30, marker: "c", catalogue: 6), builder.change(),
        ])
        func source(_ app: AppNumber, at revision: UInt64) throws -> String? {
            let found = try store.storage.appState(app, at: revision)
            #expect(found.map { $0.state.number == app && $0.state.revision <= revision } ?? true)
            return found?.state.catalogueSource
        }
        #expect(try source(1, at: 0) == nil)
        #expect(try source(1, at: 1) == nil, "not yet")
        #expect(try source(1, at: 2) == "a", "its own revision is its first")
        #expect(try source(1, at: 4) == "a")
        #expect(try source(1, at: 5) == "b", "the newer one of two that began at once")
        #expect(try source(1, at: 6) == "c")
        #expect(try store.storage.appState(1, at: 6)?.state.catalogue.schemaVersion == "of 6")
        #expect(try source(1, at: .max) == "c")
        #expect(try source(2, at: 2) == nil)
        #expect(try source(2, at: 3) == "other")
        #expect(try source(3, at: .max) == nil)
    }

    @Test(arguments: all)
    func `reads the first facts up to a revision, and no more than the limit`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        try store.write([
            builder.facts(1, [.finished(1), .finished(2)]), builder.facts(2, [.finished(9)]),
            builder.facts(1, [.finished(3)]),
        ])
        func read(_ revision: UInt64, _ limit: Int) throws -> [UInt64] {
            try store.storage.facts(of: 1, after: 0, through: revision, limit: limit).map(\.revision)
        }
        #expect(try read(.max, 10) == [1, 1, 3])
        #expect(try read(.max, 3) == [1, 1, 3])
        #expect(try read(.max, 2) == [1, 1])
        #expect(try read(.max, 0) == [])
        #expect(try read(2, 10) == [1, 1])
        #expect(try read(0, 10) == [])
    }

    @Test(arguments: all)
    func `every storage keeps the images of each app's newest catalogue, and no other ones`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let (a, b, c) = (ImageContent([1, 2, 3]), ImageContent([4]), ImageContent([]))
        func load(_ images: [ImageContent]?, app: AppNumber = 1) -> StoredChange {
            var change = builder.app(app, effective: 0, marker: "x")
            change.images = images
            return change
        }
        func kept(_ app: AppNumber = 1) throws -> [[UInt8]?] {
            try [a, b, c].map { try store.storage.image(app, $0.hash) }
        }
        #expect(try kept() == [nil, nil, nil])
        try store.write([load([a, b, a]), load([c], app: 2)])
        #expect(try kept() == [a.bytes, b.bytes, nil])
        #expect(try kept(2) == [nil, nil, c.bytes])
        try store.write(load(nil))
        #expect(try kept() == [a.bytes, b.bytes, nil], "a change of a setting leaves them")
        try store.storage.begin()
        try store.storage.apply(load([c]))
        #expect(try kept() == [nil, nil, c.bytes])
        store.storage.rollback()
        #expect(try kept() == [a.bytes, b.bytes, nil])
        try store.write(load([b, c]))
        #expect(try kept() == [nil, b.bytes, c.bytes])
        try store.write(load([]))
        #expect(try kept() == [nil, nil, nil])
        #expect(try kept(2) == [nil, nil, c.bytes])
    }

    @Test(arguments: all)
    func `every storage keeps an answer with its key, until those of its time are forgotten`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        var random = SeededRandom(seed: 9)
        func key(_ byte: UInt8, app: AppNumber = 1) -> MutationKey { MutationKey(app: app, bytes: [byte]) }
        var answers: [MutationKey: KeptAnswer] = [:]
        for (key, kept) in [(key(1), Int64(10)), (key(2), 20), (key(3), 30), (key(1, app: 2), 40)] {
            var answer = random.keptAnswer()
            answer.kept = Instant(milliseconds: kept)
            answers[key] = answer
            try store.write(builder.change { $0.answer = Boxed(KeyedAnswer(key: key, answer: answer)) })
        }
        let revision = try store.storage.header().revision
        for isUndone in [true, false] {
            var answer = random.keptAnswer()
            answer.kept = Instant(milliseconds: 50)
            try store.storage.begin()
            try store.storage.keep(answer, for: key(isUndone ? 4 : 5))
            if isUndone { store.storage.rollback() } else { try store.storage.commit() }
            if !isUndone { answers[key(5)] = answer }
        }
        #expect(try store.storage.answer(to: key(4)) == nil)
        #expect(try store.storage.header().revision == revision, "an answer alone is no change")
        for (key, answer) in answers { #expect(try store.storage.answer(to: key) == answer) }
        try store.storage.begin()
        try store.storage.forgetAnswers(before: Instant(milliseconds: 20))
        try store.storage.commit()
        #expect(try store.storage.answer(to: key(1)) == nil)
        #expect(try store.storage.answer(to: key(2)) == answers[key(2)], "kept at the instant itself: not before it")
        #expect(try store.storage.answer(to: key(3)) == answers[key(3)])
        #expect(try store.storage.answer(to: key(1, app: 2)) == answers[key(1, app: 2)])
    }

    @Test(arguments: all)
    func `every storage remembers revoked tokens with their revision, until they would have ended`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        let storage = store.storage
        var builder = ChangeBuilder()
        func token(_ id: String, _ expires: Int64) -> RevokedToken {
            RevokedToken(id: id, expires: Instant(milliseconds: expires))
        }
        func forget(before instant: Int64, isUndone: Bool = false) throws {
            try storage.begin()
            try storage.forgetRevokedTokens(before: Instant(milliseconds: instant))
            if isUndone { storage.rollback() } else { try storage.commit() }
        }
        let eternal = RevokedToken(id: "c", expires: .distantFuture)
        try store.write(builder.change(app: 0) { $0.revoked = [token("b", 20), token("a", 10), eternal] })
        let all = [token("a", 10), token("b", 20), eternal]
        #expect(try storage.revokedTokens() == all)
        #expect(try storage.header().revision == 1)
        try storage.begin()
        try storage.apply(builder.change(app: 0) { $0.revoked = [token("d", 40), token("a", 99)] })
        storage.rollback()
        try forget(before: 50, isUndone: true)
        #expect(try storage.revokedTokens() == all)
        try store.write(builder.change(app: 0) { $0.revoked = [token("a", 30)] })
        try forget(before: 30)
        #expect(try storage.revokedTokens() == [token("a", 30), eternal])
        let changes = try #require(try storage.changes(after: 0, limit: 10))
        #expect(changes.map(\.revision) == [1, 3])
        #expect(changes.map(\.revoked) == [[token("b", 20), token("a", 10), eternal], [token("a", 30)]])
        #expect(changes.allSatisfy { $0.records.isEmpty && $0.facts.isEmpty && $0.app == nil })
    }

    /// Apps whose transactions come from outside may share an ID, and their IDs are far apart.
    @Test(arguments: all)
    func `every storage keeps transactions of two apps with the same ID apart`(_ implementation: StorageImplementation)
        throws
    {
        let store = try implementation.make()
        let storage = store.storage
        var builder = ChangeBuilder()
        let ids: [TransactionID] = [3, 2_000_000_999_888_777]
        func facts(_ app: AppNumber, _ bodies: [Fact.Body]) -> StoredChange {
            builder.change(app: app) { change in
                change.facts = bodies.map {
                    StoredFact(account: UInt64(app), fact: Fact($0, effective: ChangeBuilder.start), origin: [])
                }
            }
        }
        func bought(_ app: AppNumber) -> [Fact.Body] {
            ids.map { .purchased(ChangeBuilder.transaction($0, product: "of app \(app)"), terms: nil) }
        }
        func state(_ app: AppNumber) throws -> [String] {
            try ids.map { id in
                guard let row = try storage.transaction(app, id) else { return "none" }
                return "\(row.transaction.productID) \(row.isFinished)"
            }
        }
        try store.write([facts(1, bought(1)), facts(2, bought(2))])
        #expect(try state(1) == ["of app 1 false", "of app 1 false"])
        #expect(try state(2) == ["of app 2 false", "of app 2 false"])
        #expect(try storage.transaction(3, ids[0]) == nil)
        try storage.begin()
        try storage.apply(facts(1, [.deleted(ids[0], remainder: Remainder(lines: [], owned: [], histories: []))]))
        try storage.apply(facts(2, [.finished(ids[1])]))
        #expect(try state(1) == ["none", "of app 1 false"])
        #expect(try state(2) == ["of app 2 false", "of app 2 true"])
        storage.rollback()
        #expect(try state(1) == ["of app 1 false", "of app 1 false"])
        #expect(try state(2) == ["of app 2 false", "of app 2 false"])
        try store.write(facts(1, ids.map { .finished($0) } + [.cleared]))
        #expect(try state(1) == ["none", "none"])
        #expect(try state(2) == ["of app 2 false", "of app 2 false"])
        #expect(try storage.transactions(of: 2, TransactionQuery(limit: 9)).map(\.transaction.id) == ids)
        try store.write(facts(1, bought(1)))
        #expect(try state(1) == ["of app 1 false", "of app 1 false"])
    }

    @Test(arguments: all)
    func `every storage stores a lease with its batch, and forgets it after a rollback`(
        _ implementation: StorageImplementation
    )
        throws
    {
        let storage = try implementation.make().storage
        try storage.begin()
        try storage.setLease(until: Instant(milliseconds: 5))
        #expect(try storage.header().lease == Instant(milliseconds: 5))
        try storage.commit()
        try storage.begin()
        try storage.setLease(until: Instant(milliseconds: 9))
        storage.rollback()
        #expect(try storage.header().lease == Instant(milliseconds: 5))
        storage.rollback()
        #expect(try storage.header().lease == Instant(milliseconds: 5), "outside a batch there is nothing to undo")
    }

    @Test(arguments: all)
    func `every storage returns the events of an account in order after a place, and no other facts`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let (first, second) = (ChangeBuilder.transaction(1), ChangeBuilder.transaction(2))
        let refunded = ChangeBuilder.transaction(1, isRevoked: true)
        try store.write([
            builder.facts(1, [.opened(appTransactionID: "9"), .purchased(first, terms: nil)], origin: [7]),
            builder.facts(2, [.purchased(second, terms: nil)]),
            builder.facts(1, [.finished(1), .revoked(refunded, fallback: nil), .upgradedFrom(refunded)], origin: [8]),
        ])
        func places(after revision: UInt64, _ ordinal: UInt32, limit: Int = 9) throws -> [EventPlace] {
            let place = EventPlace(revision: revision, ordinal: ordinal)
            return try store.storage.events(of: 1, after: place, limit: limit).map(\.place)
        }
        let (bought, revoked) = (EventPlace(revision: 1, ordinal: 1), EventPlace(revision: 3, ordinal: 1))
        let changed = EventPlace(revision: 3, ordinal: 2)
        #expect(try places(after: 0, 0) == [bought, revoked, changed])
        #expect(try places(after: 0, 0, limit: 1) == [bought])
        #expect(try places(after: 0, 0, limit: 0) == [])
        #expect(try places(after: 1, 0) == [bought, revoked, changed])
        #expect(try places(after: 1, 1) == [revoked, changed])
        #expect(try places(after: 2, .max) == [revoked, changed])
        #expect(try places(after: 3, 1) == [changed])
        #expect(try places(after: 3, 2) == [])
        let events = try store.storage.events(of: 1, after: EventPlace(revision: 0, ordinal: 0), limit: 9)
        #expect(events.map(\.kind) == [.purchased, .revoked, .changed])
        #expect(events.map(\.origin) == [[7], [8], [8]])
        #expect(events.map(\.committed.milliseconds) == [1_000, 3_000, 3_000])
        #expect(events.map(\.transaction) == [first, refunded, refunded])
        #expect(
            try store.storage.facts(of: 1).map(\.body) == [
                .opened(appTransactionID: "9"), .purchased(first, terms: nil), .finished(1),
                .revoked(refunded, fallback: nil), .upgradedFrom(refunded),
            ])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `every storage agrees with every other implementation after a long random sequence`(_ seed: UInt64) throws {
        let stores = try all.map { try $0.make() }
        var script = StorageScript(seed: seed)
        for _ in 0..<25 {
            var next = script
            let changes = (0...next.random.below(8)).map { _ in next.change() }
            let isKept = next.random.below(4) > 0
            let forgets = next.random.below(6) == 0
            let lease = Instant(milliseconds: Int64(next.revision))
            for store in stores {
                try store.storage.begin()
                for change in changes { try store.storage.apply(change) }
                if forgets { try store.storage.forgetAnswers(before: StorageScript.days[2]) }
                try store.storage.setLease(until: lease)
                if isKept { try store.storage.commit() } else { store.storage.rollback() }
            }
            if isKept { script = next } else { script.random = next.random }
        }
        let transcripts = try stores.map { store in
            // All but the identity, which is each store's own.
            try store.storage.transcript(of: script).map { line in
                line.hasPrefix("header") ? String(line.drop { $0 != "," }) : line
            }
        }
        for transcript in transcripts.dropFirst() { #expect(transcript == transcripts[0], "seed \(seed)") }
    }
}
