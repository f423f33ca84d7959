import Glibc
import PerchBase
import PerchLoop
import PerchModel
import PerchTesting
import PerchWire
import Synchronization
import Testing

@testable import PerchClient

/// Batches and times that read like what a server says.
private enum Said {
    static let plus = CopyTable.Grade(name: "plus", tier: "")
    static let gold = CopyTable.Grade(name: "plus", tier: "gold")
    static let pro = CopyTable.Grade(name: "pro", tier: "")
    static let grades = [plus, gold, pro]

    struct Account {
        var key: String
        var segments: [(grade: UInt32, until: Int64, reason: UInt8)] = []
        var aliases: [String] = []
    }

    static func columns(_ accounts: [Account]) -> CopyTable.Columns {
        var columns = CopyTable.Columns()
        for (index, account) in accounts.enumerated() {
            columns.keys += Array(account.key.utf8)
            columns.keyEnds.append(UInt32(columns.keys.count))
            for segment in account.segments {
                columns.grades.append(segment.grade)
                columns.untils.append(segment.until)
                columns.reasons.append(segment.reason)
            }
            columns.segmentEnds.append(UInt32(columns.grades.count))
            for alias in account.aliases {
                columns.aliases += Array(alias.utf8)
                columns.aliasEnds.append(UInt32(columns.aliases.count))
                columns.aliasAccounts.append(UInt32(index))
            }
        }
        return columns
    }

    static func position(_ revision: UInt64) -> Position {
        Position(revision: revision, asOf: Instant(milliseconds: 0), epoch: 1)
    }

    /// A whole copy whose app's clock shows 1,000 when the monotonic clock shows 0.
    static func machine(
        _ accounts: [Account], isTestApp: Bool = false, isFrozen: Bool = false, shard: UInt32 = 0, of count: UInt32 = 0
    ) throws -> CopyMachine {
        var machine = CopyMachine(shard: shard, shardCount: count)
        let time = CopyMachine.CopyTime(app: 1_000, monotonic: 0, isFrozen: isFrozen, isTestApp: isTestApp)
        try machine.begin(isResumed: false, grades: Self.grades, names: ["plus", "pro"], time: time, now: 0)
        _ = try machine.accounts(Self.columns(accounts), moreGrades: [], position: nil, token: [], time: nil, now: 0)
        _ = try machine.end(position: Self.position(5), token: [5], now: 0)
        return machine
    }
}

extension CopyMachine {
    fileprivate func has(_ account: String, _ name: String, at now: Int64 = 0) -> Bool? {
        account.utf8Span.span.withUnsafeBytes { self.has($0, name, now: now) }
    }

    fileprivate func answer(_ account: String, _ name: String, at now: Int64 = 0) -> Answer {
        account.utf8Span.span.withUnsafeBytes { self.answer($0, name, now: now) }
    }

    fileprivate mutating func change(_ accounts: [Said.Account], _ revision: UInt64, at now: Int64 = 0) throws {
        _ = try self.accounts(
            Said.columns(accounts), moreGrades: [], position: Said.position(revision), token: [UInt8(revision)],
            time: nil, now: now)
    }
}

@Suite struct `a copy` {
    @Test func `answers by the app's clock, and ends each segment by itself`() throws {
        let machine = try Said.machine([
            .init(key: "anna", segments: [(1, 2_000, 1), (0, 3_000, 1), (2, .max, 4)]),
            .init(key: "bob", segments: [(0, 2_000, 1), (0, 4_000, 0), (0, 5_000, 5)]),
        ])
        #expect(machine.has("anna", "plus") == true && machine.has("anna", "pro") == true)
        #expect(
            machine.answer("anna", "plus") == .entitled(tier: "gold", until: Instant(milliseconds: 3_000), reason: 1))
        #expect(
            machine.answer("anna", "plus", at: 1_000)
                == .entitled(tier: "", until: Instant(milliseconds: 3_000), reason: 1))
        #expect(machine.has("anna", "plus", at: 1_999) == true && machine.has("anna", "plus", at: 2_000) == false)
        #expect(machine.answer("anna", "pro", at: 1 << 40) == .entitled(tier: "", until: .distantFuture, reason: 4))
        // A gap between two grants.
        #expect(
            [0, 999, 1_000, 2_999, 3_000, 3_999, 4_000].map { machine.has("bob", "plus", at: $0) }
                == [true, true, false, false, true, true, false])
        #expect(machine.has("nobody", "plus") == false && machine.answer("nobody", "plus") == .notEntitled)
    }

    @Test func `knows what it does not know`() throws {
        #expect(CopyMachine().has("anna", "plus") == nil && CopyMachine().answer("anna", "plus") == .notReady)
        let machine = try Said.machine([.init(key: "anna", segments: [(0, .max, 4)])])
        #expect(machine.has("anna", "plsu") == nil && machine.answer("anna", "plsu") == .unknownName)
    }

    @Test func `stands still where the app's clock is frozen`() throws {
        let machine = try Said.machine([.init(key: "anna", segments: [(0, 1_001, 1)])], isTestApp: true, isFrozen: true)
        #expect(machine.has("anna", "plus", at: 1 << 40) == true)
    }

    @Test func `of a test app ends an awaited renewal two seconds after it began, if it is cut off`() throws {
        var machine = try Said.machine(
            [
                .init(key: "anna", segments: [(0, 2_000, 1), (0, .max, 3)]),
                .init(key: "bob", segments: [(0, .max, 3)]),
            ], isTestApp: true)
        #expect(machine.has("anna", "plus", at: 9_000) == true, "it is connected, and nothing else was said")
        #expect(
            machine.answer("anna", "plus", at: 500)
                == .entitled(tier: "", until: Instant(milliseconds: 2_000), reason: 1))
        #expect(
            machine.answer("anna", "plus", at: 9_000)
                == .entitled(tier: "", until: Instant(milliseconds: 2_000), reason: 3))
        machine.lost(isAway: true)
        // Cut off since 0, when the app's clock showed 1,000: hers begins at 2,000, his began before.
        #expect(machine.has("anna", "plus", at: 2_999) == true && machine.has("anna", "plus", at: 3_000) == false)
        #expect(machine.has("bob", "plus", at: 1_999) == true && machine.has("bob", "plus", at: 2_000) == false)
        machine.bookmark(6, now: 3_000)
        #expect(machine.has("anna", "plus", at: 3_000) == true && machine.has("bob", "plus", at: 3_000) == true)
        var sold = try Said.machine([.init(key: "bob", segments: [(0, .max, 3)])])
        sold.lost(isAway: true)
        #expect(sold.has("bob", "plus", at: 1 << 40) == true, "the App Store may be late for ever")
    }

    @Test func `replaces entries whole, and deletes empty ones`() throws {
        var machine = try Said.machine([
            .init(key: "anna", segments: [(0, .max, 4), (2, .max, 4)], aliases: ["a1", "a2"])
        ])
        #expect(machine.has("a1", "plus") == true && machine.has("a2", "pro") == true)
        try machine.change([.init(key: "anna", segments: [(0, .max, 4)], aliases: ["a2"])], 6)
        #expect(machine.has("anna", "pro") == false && machine.has("a1", "plus") == false)
        #expect(machine.has("a2", "plus") == true && machine.position == Said.position(6) && machine.token == [6])
        try machine.change([.init(key: "anna")], 7)
        #expect(machine.has("anna", "plus") == false && machine.has("a2", "plus") == false)
        #expect(machine.whole.table.count == 0 && machine.whole.table.aliasCount == 0)
    }

    @Test func `lets an entry go before an alias, and an alias move in one batch`() throws {
        var machine = try Said.machine([
            .init(key: "anna", segments: [(0, .max, 4)], aliases: ["x", "bob"]),
            .init(key: "bob", segments: [(2, .max, 4)]),
        ])
        #expect(machine.has("bob", "plus") == false && machine.has("bob", "pro") == true)
        try machine.change(
            [
                .init(key: "anna", segments: [(0, .max, 4)], aliases: ["y"]),
                .init(key: "bob", segments: [(2, .max, 4)], aliases: ["x"]),
            ], 6)
        #expect(
            machine.has("x", "plus") == false && machine.has("x", "pro") == true && machine.has("y", "plus") == true)
        // A merge: bob's key becomes an alias of anna.
        try machine.change(
            [.init(key: "bob"), .init(key: "anna", segments: [(0, .max, 4)], aliases: ["bob", "x"])], 7)
        #expect(
            machine.has("bob", "plus") == true && machine.has("bob", "pro") == false && machine.has("x", "plus") == true
        )
    }

    @Test func `keeps the old entries until the new ones are whole`() throws {
        var machine = try Said.machine([.init(key: "anna", segments: [(0, .max, 4)])])
        let time = CopyMachine.CopyTime(app: 9_000, monotonic: 10)
        try machine.begin(isResumed: false, grades: [Said.pro], names: ["pro"], time: time, now: 10)
        _ = try machine.accounts(
            Said.columns([.init(key: "bob", segments: [(0, .max, 4)])]), moreGrades: [], position: nil, token: [],
            time: nil, now: 10)
        #expect(machine.has("anna", "plus") == true && machine.has("bob", "pro") == false && machine.token == [5])
        machine.lost(isAway: true)
        #expect(!machine.isFilling && machine.has("anna", "plus") == true)
        try machine.begin(isResumed: false, grades: [Said.pro], names: ["pro"], time: time, now: 20)
        _ = try machine.end(position: Said.position(9), token: [9], now: 20)
        #expect(machine.answer("anna", "plus", at: 20) == .unknownName && machine.has("bob", "pro", at: 20) == false)
        try machine.begin(isResumed: true, grades: [Said.pro], names: ["pro", "new"], time: time, now: 30)
        #expect(machine.has("anna", "new", at: 30) == false && machine.position == Said.position(9))
    }

    @Test func `takes grants of names that the app's file does not have`() throws {
        var machine = try Said.machine([])
        _ = try machine.accounts(
            Said.columns([.init(key: "anna", segments: [(3, .max, 5)])]),
            moreGrades: [CopyTable.Grade(name: "beta", tier: "")], position: Said.position(6), token: [6], time: nil,
            now: 0)
        #expect(machine.has("anna", "beta") == true && machine.has("bob", "beta") == false)
    }

    @Test func `follows the server's clock, and is not set back by a word that was late`() {
        var time = CopyMachine.CopyTime(app: 1_000, monotonic: 0, server: 50_000)
        time.correct(server: 60_020, 10_000)
        #expect(time.now(10_000) == 11_020 && time.now(11_000) == 12_020)
        // Read three seconds late.
        time.correct(server: 67_020, 20_000)
        #expect(time.now(20_000) == 21_020)
        time.correct(server: 0, 25_000)
        time.correct(server: 80_020, 30_000)
        // The process sleeps for a minute, and reads what its socket has kept.
        for said in stride(from: Int64(90_020), through: 140_020, by: 10_000) {
            time.correct(server: said, 90_000)
            #expect(time.now(90_000) == 91_020)
        }
        var still = CopyMachine.CopyTime(app: 1_000, monotonic: 0, isFrozen: true, server: 50_000)
        still.correct(server: 90_000, 10_000)
        #expect(still.now(10_000) == 1_000)
    }

    /// A server's clock never goes back: where its machine's clock is set back, it stands still until that hour has come.
    @Test func `follows a clock that was an hour ahead for a minute, and came back`() {
        let hour: Int64 = 3_600_000
        var time = CopyMachine.CopyTime(app: 0, monotonic: 0, server: 50_000)
        var shown: Int64 = 0
        for now in stride(from: Int64(10_000), through: hour + 120_000, by: 10_000) {
            shown = max(shown, now < 60_000 ? now + hour : now)
            time.correct(server: 50_000 + shown, now)
            #expect(time.now(now) >= shown, "an entry would end late")
            #expect(time.now(now) <= shown + 20_000, "an entry would end early")
        }
        #expect(time.now(hour + 120_000) == hour + 120_000)
    }

    @Test func `ends an entitlement by the server's clock`() throws {
        var machine = CopyMachine()
        let time = CopyMachine.CopyTime(app: 1_000, monotonic: 0, server: 50_000)
        try machine.begin(isResumed: false, grades: Said.grades, names: ["plus"], time: time, now: 0)
        _ = try machine.accounts(
            Said.columns([.init(key: "anna", segments: [(0, 12_000, 1)])]), moreGrades: [], position: nil, token: [],
            time: nil, now: 0)
        _ = try machine.end(position: Said.position(5), token: [5], now: 0)
        machine.bookmark(5, server: 60_500, now: 10_000)
        #expect(machine.has("anna", "plus", at: 10_499) == true && machine.has("anna", "plus", at: 10_500) == false)
    }

    @Test func `of some names knows no others, also those of grants and of a copy that goes on`() throws {
        var machine = CopyMachine(asked: ["plus"])
        let time = CopyMachine.CopyTime(app: 1_000, monotonic: 0)
        let anna = Said.columns([.init(key: "anna", segments: [(0, .max, 4), (2, .max, 4)])])
        try machine.begin(isResumed: false, grades: Said.grades, names: ["plus", "pro"], time: time, now: 0)
        _ = try machine.accounts(anna, moreGrades: [], position: nil, token: [], time: nil, now: 0)
        _ = try machine.end(position: Said.position(5), token: [5], now: 0)
        #expect(machine.has("anna", "plus") == true && machine.answer("anna", "pro") == .unknownName)
        try machine.begin(isResumed: true, grades: Said.grades, names: ["plus", "pro"], time: time, now: 0)
        _ = try machine.accounts(
            anna, moreGrades: [CopyTable.Grade(name: "beta", tier: "")], position: nil, token: [], time: nil, now: 0)
        #expect(machine.whole.table.names == ["plus"] && machine.answer("anna", "beta") == .unknownName)
        #expect(machine.has("anna", "pro") == nil && machine.has("anna", "plus") == true)
    }

    @Test func `of a shard refuses what it cannot know`() throws {
        // CRC-32 of "123456789" is 0xCBF43926.
        #expect(CopyShard.number(of: "123456789", count: 256) == 0x26)
        let keys = (0..<8).map { "account-\($0)" }
        let own = keys.filter { CopyShard.number(of: $0, count: 2) == 1 }
        let machine = try Said.machine(
            own.map { .init(key: $0, segments: [(0, .max, 4)], aliases: ["alias of \($0)"]) }, shard: 1, of: 2)
        for key in keys { #expect(machine.has(key, "plus") == (own.contains(key) ? true : nil)) }
        for key in own { #expect(machine.answer("alias of \(key)", "plus") == .otherShard) }
    }

    @Test func `refuses columns that do not fit, without effect`() throws {
        var machine = try Said.machine([.init(key: "anna", segments: [(0, .max, 4)])])
        let good = Said.columns([.init(key: "bob", segments: [(0, .max, 4)], aliases: ["b"])])
        let faults: [(inout CopyTable.Columns) -> Void] = [
            { $0.keyEnds = [9] }, { $0.keyEnds = [] }, { $0.segmentEnds = [2] }, { $0.segmentEnds = [0] },
            { $0.grades = [7] }, { $0.untils = [] }, { $0.reasons = [1, 1] }, { $0.aliasAccounts = [1] },
            { $0.aliasEnds = [0] }, { $0.aliasEnds = [2] }, { $0.aliasAccounts = [] },
        ]
        for fault in faults {
            var bad = good
            fault(&bad)
            #expect(throws: ColumnFault.self) {
                try machine.accounts(bad, moreGrades: [], position: nil, token: [], time: nil, now: 0)
            }
        }
        #expect(machine.has("bob", "plus") == false && machine.has("anna", "plus") == true)
        #expect(throws: ColumnFault.self) { try machine.end(position: Said.position(1), token: [], now: 0) }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `holds what a dictionary holds, over random changes`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var machine = try Said.machine([])
        var expected: [String: (grade: UInt32, aliases: [String])] = [:]
        // Keys around the forty bytes that a record has space for.
        let keys = (0..<60).map { String(repeating: "k", count: 1 + $0 * 3 % 120) + "\($0)" }
        for step in 1...400 as ClosedRange<UInt64> {
            var accounts: [Said.Account] = []
            for key in Set((0...random.below(4)).map { _ in keys[random.below(keys.count)] }).sorted() {
                var account = Said.Account(key: key)
                if random.below(3) > 0 {
                    let count = 1 + random.below(3)
                    account.segments = (0..<count).map { _ in (UInt32(random.below(3)), .max, 4) }
                    account.aliases = (0..<random.below(3)).map { "\(key.suffix(90)) alias \($0)" }
                }
                expected[key] = account.segments.isEmpty ? nil : (account.segments[0].grade, account.aliases)
                accounts.append(account)
            }
            try machine.change(accounts, step % 200 + 6)
            guard step % 40 == 0 else { continue }
            #expect(machine.whole.table.count == expected.count)
            for key in keys {
                let name = expected[key].map { Said.grades[Int($0.grade)].name } ?? "plus"
                #expect(machine.has(key, name) == (expected[key] != nil), "seed \(seed), step \(step), \(key)")
                for alias in expected[key]?.aliases ?? [] { #expect(machine.has(alias, name) == true) }
            }
            #expect(machine.whole.table.aliasCount == expected.values.reduce(0) { $0 + Set($1.aliases).count })
        }
    }
}

@Suite struct `a copy in a file` {
    private let subject = CopyFile.Subject(app: "shop", names: [], shard: 0, shardCount: 0)
    private let folder = TemporaryDirectory()

    private func bytes(_ machine: CopyMachine, now: Int64 = 0, wall: Int64 = 50_000) -> [UInt8] {
        var writer = CopyFile.Writer()
        writer.add(accounts: 0..<machine.whole.table.placeCount, of: machine.whole.table)
        writer.end(self.subject, machine, now: now, wall: Instant(milliseconds: wall))
        return writer.finish()
    }

    @Test func `answers after a restart as before, by the time that has passed`() throws {
        let machine = try Said.machine([
            .init(key: "anna", segments: [(1, 2_000, 1), (0, 3_000, 1)], aliases: ["a"]),
            .init(key: String(repeating: "b", count: 200), segments: [(2, .max, 4)]),
        ])
        let path = self.folder.file("perch.copy")
        #expect(CopyFile.replace(path, with: self.bytes(machine, now: 100)) == nil)
        // The other process's monotonic clock shows 7,000; half a second of the wall clock has passed.
        let read = CopyFile.read(path, self.subject, now: 7_000, wall: Instant(milliseconds: 50_500))
        let kept = try #require(read.machine)
        #expect(
            kept.answer("a", "plus", at: 7_000)
                == .entitled(tier: "gold", until: Instant(milliseconds: 3_000), reason: 1))
        #expect(kept.has("anna", "plus", at: 8_399) == true && kept.has("anna", "plus", at: 8_400) == false)
        #expect(kept.has(String(repeating: "b", count: 200), "pro", at: 7_000) == true)
        #expect(kept.position == Said.position(5) && kept.token == [5] && kept.heard == 6_400)
        #expect(TemporaryDirectory.names(in: self.folder.path) == ["perch.copy"])
    }

    @Test func `is ignored if it is damaged, cut off, of another subject, or not there`() throws {
        let bytes = self.bytes(try Said.machine([.init(key: "anna", segments: [(0, .max, 4)])]))
        let wall = Instant(milliseconds: 50_000)
        #expect(throws: Never.self) { try CopyFile.machine(bytes, self.subject, now: 0, wall: wall) }
        for place in bytes.indices {
            var bad = bytes
            bad[place] ^= 0x10
            #expect(throws: ColumnFault.self) { try CopyFile.machine(bad, self.subject, now: 0, wall: wall) }
            #expect(throws: ColumnFault.self) {
                try CopyFile.machine(Array(bytes[..<place]), self.subject, now: 0, wall: wall)
            }
        }
        var other = self.subject
        other.app = "other"
        #expect(throws: ColumnFault.self) { try CopyFile.machine(bytes, other, now: 0, wall: wall) }
        let read = CopyFile.read(self.folder.file("none"), self.subject, now: 0, wall: wall)
        #expect(read.machine == nil && read.fault == nil)
    }

    @Test func `is the copy at one position, whatever comes between its slices`() throws {
        var machine = try Said.machine([
            .init(key: "anna", segments: [(0, .max, 4)], aliases: ["x"]),
            .init(key: "bert", segments: [(0, .max, 4)]), .init(key: "cora", segments: [(0, .max, 4)], aliases: ["y"]),
        ])
        var writer = CopyFile.Writer()
        machine.beginRecording()
        writer.add(accounts: 0..<1, of: machine.whole.table)
        // Cora is at the place that was free, before the next slice; the grade, dora and both aliases are new or elsewhere.
        try machine.change([.init(key: "anna"), .init(key: "cora")], 6)
        try machine.change([.init(key: "cora", segments: [(2, .max, 4)], aliases: ["x"])], 7)
        _ = try machine.accounts(
            Said.columns([.init(key: "dora", segments: [(3, .max, 5)], aliases: ["y"])]),
            moreGrades: [CopyTable.Grade(name: "beta", tier: "")], position: Said.position(8), token: [8], time: nil,
            now: 0)
        writer.add(accounts: 1..<2, of: machine.whole.table)
        try machine.change([.init(key: "bert")], 9)
        writer.add(changed: try #require(machine.recorded), of: machine.whole.table)
        writer.end(self.subject, machine, now: 0, wall: Instant(milliseconds: 50_000))
        let kept = try CopyFile.machine(writer.finish(), self.subject, now: 0, wall: Instant(milliseconds: 50_000))
        #expect(kept.position == machine.position && kept.token == [9] && kept.whole.table.count == 2)
        for account in ["anna", "bert", "cora", "dora", "x", "y"] {
            for name in ["plus", "pro", "beta"] {
                #expect(kept.answer(account, name) == machine.answer(account, name), "\(account) \(name)")
            }
        }
        #expect(kept.has("x", "pro") == true && kept.has("y", "beta") == true)
        _ = try machine.begin(
            isResumed: false, grades: [], names: [], time: CopyMachine.CopyTime(app: 0, monotonic: 0), now: 0)
        _ = try machine.end(position: Said.position(10), token: [10], now: 0)
        #expect(machine.recorded == nil, "what was recorded is of the copy before")
    }

    @Test func `is without a name that was taken away while it was written`() throws {
        var machine = try Said.machine([.init(key: "anna", segments: [(0, .max, 4)], aliases: ["x"])])
        var writer = CopyFile.Writer()
        machine.beginRecording()
        writer.add(accounts: 0..<1, of: machine.whole.table)
        try machine.change([.init(key: "anna", segments: [(0, .max, 4)])], 6)
        writer.add(changed: try #require(machine.recorded), of: machine.whole.table)
        writer.end(self.subject, machine, now: 0, wall: Instant(milliseconds: 50_000))
        let kept = try CopyFile.machine(writer.finish(), self.subject, now: 0, wall: Instant(milliseconds: 50_000))
        for account in ["anna", "x"] { #expect(kept.answer(account, "plus") == machine.answer(account, "plus")) }
        #expect(kept.has("x", "plus") == false)
    }

    @Test func `is tried again after a pause, and its failure is logged once`() async throws {
        let log = Log()
        let place = self.folder.file("later")
        let core = CopyCore(self.subject, path: place + "/perch.copy", observer: log, pause: .milliseconds(20))
        core.becomeWhole()
        let task = Task { await core.saveUntilCancelled() }
        defer { task.cancel() }
        while log.lines.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        for _ in 0..<3 { core.save() }
        #expect(log.lines.count == 1 && log.lines.first?.message.contains("was not kept") == true)
        try #require(mkdir(place, 0o700) == 0)
        func kept() -> CopyMachine? {
            CopyFile.read(place + "/perch.copy", self.subject, now: 0, wall: Instant(milliseconds: 0)).machine
        }
        while kept() == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `is written by one task at a time`() async throws {
        let log = Log()
        let path = self.folder.file("perch.copy")
        let core = CopyCore(self.subject, path: path, observer: log)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for revision in 5..<25 as Range<UInt64> {
                        core.becomeWhole(revision)
                        core.save()
                    }
                }
            }
        }
        core.save()
        #expect(log.lines.isEmpty)
        #expect(CopyFile.read(path, self.subject, now: 0, wall: Instant(milliseconds: 0)).machine != nil)
    }

    @Test func `is written again only after the pause, and when the copy is closed`() async throws {
        let path = self.folder.file("perch.copy")
        let core = CopyCore(self.subject, path: path, pause: .seconds(1_000))
        core.becomeWhole()
        let task = Task { await core.saveUntilCancelled() }
        defer { task.cancel() }
        while TemporaryDirectory.names(in: self.folder.path) != ["perch.copy"] {
            try await Task.sleep(for: .milliseconds(5))
        }
        core.becomeWhole(7)
        try await Task.sleep(for: .milliseconds(300))
        func kept() -> CopyMachine? {
            CopyFile.read(path, self.subject, now: 0, wall: Instant(milliseconds: 0)).machine
        }
        #expect(kept()?.position?.revision == 5)
        core.close()
        #expect(kept()?.position?.revision == 7)
        core.becomeWhole(8)
        core.save()
        #expect(kept()?.position?.revision == 7, "the file may be another copy's now")
    }

    @Test func `has the newest copy when it is closed, also if that became whole meanwhile`() async throws {
        for round in 0..<20 {
            let path = self.folder.file("perch-\(round).copy")
            let core = CopyCore(self.subject, path: path)
            core.becomeWhole(1)
            let writer = Task { core.save() }
            let filler = Task { for revision in 2...30 as ClosedRange<UInt64> { core.becomeWhole(revision) } }
            await filler.value
            core.close()
            await writer.value
            let read = CopyFile.read(path, self.subject, now: 0, wall: Instant(milliseconds: 0))
            #expect(read.machine?.position?.revision == 30, "\(read.fault ?? "")")
        }
    }

    @Test func `can be read whatever copies write it`() async throws {
        let log = Log()
        let path = self.folder.file("perch.copy")
        await withTaskGroup { group in
            for _ in 0..<4 {
                let core = CopyCore(self.subject, path: nil, observer: log)
                group.addTask {
                    for revision in 5..<25 as Range<UInt64> {
                        core.becomeWhole(revision)
                        if let bytes = core.bytesToSave() { #expect(CopyFile.replace(path, with: bytes) == nil) }
                    }
                }
            }
        }
        #expect(CopyFile.read(path, self.subject, now: 0, wall: Instant(milliseconds: 0)).machine != nil)
    }
}

private final class Log: PerchClientObserver {
    private let inside = Mutex<[ClientLogLine]>([])
    var lines: [ClientLogLine] { self.inside.withLock { $0 } }
    func log(_ line: ClientLogLine) { self.inside.withLock { $0.append(line) } }
}

extension CopyCore {
    fileprivate func say(_ part: CopyPart, at now: Int64 = 0) -> ColumnFault? {
        let (waiters, fault) = self.take(part, now: now)
        for waiter in waiters { waiter.resume() }
        return fault
    }

    fileprivate func lose(_ reason: PerchError.Reason = .connectFailed) {
        let code: PerchError.Code = reason == .connectFailed ? .unavailable : .unauthenticated
        for waiter in self.lost(PerchError(code: code, reason: reason, message: "lost")) { waiter.resume() }
    }

    /// A copy without accounts comes.
    fileprivate func becomeWhole(_ revision: UInt64 = 5, epoch: UInt32 = 1, at now: Int64 = 0) {
        let position = Position(revision: revision, asOf: Instant(milliseconds: 0), epoch: epoch)
        _ = self.say(CopyPart(begin: CopyBegin(names: ["plus"])), at: now)
        _ = self.say(CopyPart(end: CopyEnd(position: position, resumeToken: [UInt8(revision)])), at: now)
    }
}

@Suite struct `a copy as it is asked` {
    private let core: CopyCore
    private let log = Log()

    init() {
        self.core = CopyCore(
            CopyFile.Subject(app: "shop", names: [], shard: 0, shardCount: 0), path: nil, observer: self.log)
    }

    private func ready(within timeout: Duration?) async -> PerchError? {
        do {
            try await self.core.wait(for: nil, timeout: timeout)
            return nil
        } catch {
            return error
        }
    }

    private func waiting(for revision: UInt64, epoch: UInt32 = 1, _ timeout: Duration? = nil) async -> PerchError? {
        do {
            try await self.core.wait(
                for: Position(revision: revision, asOf: Instant(milliseconds: 0), epoch: epoch), timeout: timeout)
            return nil
        } catch {
            return error
        }
    }

    @Test func `refuses keys that cannot be those of accounts, on the short way too`() throws {
        self.core.becomeWhole()
        #expect(self.core.has("anna", "plus") == false)
        for key in ["", String(repeating: "k", count: 256), "a\0b"] {
            #expect(self.core.has(key, "plus") == nil)
            let error = #expect(throws: PerchError.self) { try self.core.entitlement(key, "plus") }
            #expect(error?.reason == .accountKey)
        }
    }

    @Test func `says why nothing comes any more, and goes on to answer`() async throws {
        self.core.becomeWhole()
        let waiter = Task { await self.waiting(for: 6) }
        #expect(self.core.error == nil)
        let revoked = PerchError(code: .unauthenticated, reason: "TOKEN_REVOKED", message: "it was revoked")
        for waiter in self.core.end(revoked) { waiter.resume() }
        #expect(await waiter.value == revoked && self.core.error == revoked)
        #expect(await self.waiting(for: 6) == revoked)
        #expect(await self.waiting(for: 5) == nil)
        let queue = CopyQueue()
        self.core.listen(queue)
        #expect(await #expect(throws: PerchError.self) { try await queue.next() } == revoked)
        #expect(self.core.has("anna", "plus") == false)
        self.core.close()
        #expect(self.log.lines.map(\.message) == ["the copy gets no more changes: it was revoked"])
        #expect(#expect(throws: PerchError.self) { try self.core.entitlement("anna", "plus") }?.reason == .closed)
    }

    @Test func `is enough while the server is away, and not where it refuses the credentials`() async throws {
        self.core.becomeWhole()
        _ = self.core.say(CopyPart(begin: CopyBegin(isResumed: true, names: ["plus"])))
        let waiter = Task { await self.ready(within: nil) }
        self.core.lose(.credentialsExpired)
        #expect(await self.ready(within: .zero)?.reason == .deadline)
        self.core.lose()
        #expect(await waiter.value == nil, "who waited when the server went away waits no longer")
    }

    /// A copy that goes on has what it missed when the server says so, and no change before that makes it new.
    @Test func `is as old as before until it has what it missed`() async throws {
        let now = Clocks.monotonic().nanoseconds / 1_000_000
        func age() -> Duration { self.core.age ?? .zero }
        self.core.becomeWhole(at: now - 1_000_000_000)
        self.core.lose()
        #expect(await self.ready(within: .zero) == nil)
        _ = self.core.say(CopyPart(begin: CopyBegin(isResumed: true, names: ["plus"])), at: now - 900_000_000)
        let position = Position(revision: 6, asOf: Instant(milliseconds: 0), epoch: 1)
        let batch = CopyBatch(position: position, resumeToken: [6])
        _ = self.core.say(CopyPart(accounts: batch), at: now - 800_000_000)
        #expect(self.core.position?.revision == 6 && age() >= .seconds(1_000_000))
        #expect(await self.ready(within: .milliseconds(20))?.reason == .deadline)
        let waiter = Task { await self.ready(within: nil) }
        for waiter in self.core.heard(6, now: now - 700_000_000) { waiter.resume() }
        #expect(await waiter.value == nil)
        #expect(age() >= .seconds(700_000) && age() < .seconds(800_000))
        _ = self.core.say(CopyPart(accounts: batch), at: now - 500_000_000)
        #expect(age() >= .seconds(500_000) && age() < .seconds(700_000))
        // While another copy is filled, this one gets no changes.
        _ = self.core.say(CopyPart(begin: CopyBegin(names: ["plus"])), at: now - 400_000_000)
        _ = self.core.say(CopyPart(accounts: CopyBatch()), at: now - 100_000_000)
        #expect(age() >= .seconds(400_000))
    }

    @Test func `is begun anew once after a part that cannot be read, and hides nothing meanwhile`() throws {
        self.core.becomeWhole()
        let bad = CopyPart(accounts: CopyBatch(keys: [1], keyEnds: [9]))
        let fault = try #require(self.core.say(bad))
        #expect(self.core.beginsAnew(after: fault) && !self.core.beginsAnew(after: fault))
        // What the old stream said behind it.
        let later = Position(revision: 9, asOf: Instant(milliseconds: 0), epoch: 1)
        #expect(self.core.say(CopyPart(accounts: CopyBatch(position: later, resumeToken: [9]))) == nil)
        #expect(self.core.heard(9, now: 0).isEmpty)
        #expect(self.core.position?.revision == 5 && self.core.token == [5])
        self.core.becomeWhole(8)
        #expect(self.core.position?.revision == 8 && self.core.token == [8])
    }

    @Test func `waits for a newer history until the connection has said which one it has`() async throws {
        self.core.becomeWhole()
        #expect(await self.waiting(for: 3, epoch: 2)?.reason == .tokenOtherStore)
        self.core.lose()
        #expect(await self.waiting(for: 3, epoch: 2, .milliseconds(20))?.reason == .deadline)
        let waiter = Task { await self.waiting(for: 3, epoch: 2) }
        self.core.becomeWhole(4, epoch: 2)
        #expect(await waiter.value == nil)
        #expect(await self.waiting(for: 3, epoch: 1)?.reason == .tokenOtherStore)
        self.core.lose()
        let other = Task { await self.waiting(for: 3, epoch: 3) }
        _ = self.core.say(CopyPart(begin: CopyBegin(isResumed: true, names: ["plus"])))
        for waiter in self.core.heard(4, now: 0) { waiter.resume() }
        #expect(await other.value?.reason == .tokenOtherStore)
    }

    @Test func `is asked for without its token after a part that cannot be read`() throws {
        let server = ScriptedServer()
        let id = ItemID(1)
        server.core.openCopy(id, AppEntitlementsRequest(resumeToken: [5]))
        try server.connect()
        let first = try server.call()
        #expect(first.request == .appEntitlements(AppEntitlementsRequest(resumeToken: [5])))
        try server.say(.appEntitlements(CopyPart(begin: CopyBegin(isResumed: true))), on: first.stream)
        _ = server.actions()
        try server.beat(6, at: Instant(milliseconds: 9))
        #expect(server.actions().contains(.copyHeard(id, 6, Instant(milliseconds: 9))))
        server.core.beginCopyAnew(id)
        let sent = try server.sent()
        #expect(sent.map(\.kind) == [.cancel, .call] && sent.first?.stream == first.stream)
        #expect(sent.last?.request == .appEntitlements(AppEntitlementsRequest()))
        // The old stream goes on for a moment, and counts for nothing.
        _ = server.actions()
        let late = CopyPart(accounts: CopyBatch(resumeToken: [9]))
        try server.say(.appEntitlements(late), on: first.stream)
        #expect(server.actions().isEmpty)
    }
}
