import PerchBase
import PerchModel

/// The decisions of a copy, as a value: parts of the stream and the time go in, answers come out. No clock, no socket, no lock.
///
///     empty ──begin──▶ filling ──end──▶ whole ──begin──▶ whole, and filling beside it ──end──▶ whole
///
/// A lost connection drops what is being filled, and keeps what is whole. Instants are the app's clock, which `CopyTime` derives from
/// the monotonic clock, so that a wall clock that jumps changes nothing.
struct CopyMachine: Sendable {
    /// The app's clock, as of a moment of the monotonic clock.
    struct CopyTime: Equatable, Sendable {
        /// Milliseconds since the Unix epoch.
        var app: Int64
        /// Milliseconds of the monotonic clock at the same moment.
        var monotonic: Int64
        var isFrozen = false
        /// Perch itself is the store of this app, so keys are as callers write them, and renewals are two seconds away.
        var isTestApp = false
        /// The server's clock at the same moment, in milliseconds since the Unix epoch; 0: not known.
        var server: Int64 = 0
        /// How far the server's clock has gone ahead of the monotonic clock since; negative: it has fallen behind.
        private(set) var drift: Int64 = 0
        /// The largest drift among the words since `wordsBegan`, and among those of the interval before.
        private var (newest, before): (Int64, Int64) = (0, 0)
        private var wordsBegan: Int64

        init(
            app: Int64, monotonic: Int64, isFrozen: Bool = false, isTestApp: Bool = false, server: Int64 = 0
        ) {
            self.app = app
            self.monotonic = monotonic
            self.isFrozen = isFrozen
            self.isTestApp = isTestApp
            self.server = server
            self.wordsBegan = monotonic
        }

        func now(_ monotonic: Int64) -> Int64 {
            self.isFrozen ? self.app : self.app &+ (monotonic &- self.monotonic) &+ self.drift
        }

        /// The latest clock of the last words counts, because a word that was read late shows an earlier one. So the copy follows a
        /// server's clock that goes ahead at once, and one that stands still after at most two intervals and a heartbeat.
        mutating func correct(server: Int64, _ now: Int64) {
            guard !self.isFrozen, server > 0, self.server > 0 else { return }
            let found = (server &- self.server) &- (now &- self.monotonic)
            if now &- self.wordsBegan >= Self.wordCountsMilliseconds {
                (self.before, self.newest, self.wordsBegan) = (self.newest, found, now)
            }
            self.newest = max(self.newest, found)
            self.drift = max(self.before, self.newest)
        }

        /// How long a word of the server's clock counts at least: a heartbeat, so that a word in time follows those that were late.
        private static let wordCountsMilliseconds: Int64 = 10_000
    }

    /// A table, and the meaning of the numbers in the batches that fill it.
    struct Filled: Sendable {
        var table: CopyTable
        /// The table's number of each grade of `begin`.
        var grades: [UInt32] = []

        init(asked: [String] = []) { self.table = CopyTable(asked: asked) }
    }

    /// What a part of the stream led to.
    struct Outcome: Equatable, Sendable {
        /// The copy is whole, or another one has replaced it.
        var becameWhole = false
        /// Accounts whose entry was replaced; nil: all may have changed.
        var accounts: [String]? = []
    }

    /// The whole copy, which answers; empty before there is one. Not an optional, because it is read in place.
    private(set) var whole: Filled
    private(set) var isWhole = false
    private(set) var time = CopyTime(app: 0, monotonic: 0)
    private var filling: Filled?
    private var fillingTime = CopyTime(app: 0, monotonic: 0)
    /// Rises with each copy that becomes whole.
    private(set) var generation: UInt64 = 0
    /// Rises with each change of an entry of the whole copy.
    private(set) var changeCount: UInt64 = 0
    /// The accounts that have changed since `beginRecording`; nil: nobody records.
    private(set) var recorded: Set<String>?
    /// Where the whole copy is.
    private(set) var position: Position?
    /// Where the next stream goes on; empty: it begins a new copy.
    private(set) var token: [UInt8] = []
    /// Milliseconds of the monotonic clock when the copy was last as new as the server; nil before.
    private(set) var heard: Int64?
    /// Whether this connection has said everything that the copy missed. Its epoch is then that of the store.
    private(set) var isCurrent = false
    /// Whether the copy was not as new as the server since the connection was lost, so that the server's word cannot have come.
    private(set) var isCut = true
    /// Whether the server is away: the last connection is lost, or could not be made, for a reason that passes. A server that is there and
    /// refuses the credentials is not.
    private(set) var isAway = false
    /// Shards; 0 or 1: the copy has every account.
    let shard: UInt32
    let shardCount: UInt32
    /// The only names that the copy was asked to hold; empty: all.
    private let asked: [String]

    init(shard: UInt32 = 0, shardCount: UInt32 = 0, asked: [String] = []) {
        self.whole = Filled(asked: asked)
        self.asked = asked
        self.shard = shard
        self.shardCount = shardCount
    }

    /// A copy as it was kept.
    init(
        _ filled: Filled, time: CopyTime, position: Position, token: [UInt8], heard: Int64, shard: UInt32,
        shardCount: UInt32, asked: [String]
    ) {
        self.init(shard: shard, shardCount: shardCount, asked: asked)
        self.whole = filled
        self.isWhole = true
        self.time = time
        self.position = position
        self.token = token
        self.heard = heard
    }

    var isFilling: Bool { self.filling != nil }

    // MARK: Parts of the stream

    mutating func begin(
        isResumed: Bool, grades: [CopyTable.Grade], names: [String], time: CopyTime, now: Int64
    ) throws(ColumnFault) {
        self.isAway = false
        self.hear(now)
        guard isResumed else {
            var filled = Filled(asked: self.asked)
            for name in names { filled.table.add(name: name) }
            filled.grades = grades.map { filled.table.add($0) }
            self.filling = filled
            self.fillingTime = time
            return
        }
        guard self.isWhole else { throw ColumnFault(description: "a copy goes on that there is not") }
        self.filling = nil
        self.time = time
        for name in names { self.whole.table.add(name: name) }
        self.whole.grades = grades.map { self.whole.table.add($0) }
    }

    /// A batch: of the copy that is filled, or a change of the whole one.
    mutating func accounts(
        _ columns: CopyTable.Columns, moreGrades: [CopyTable.Grade], position: Position?, token: [UInt8],
        time: CopyTime?, now: Int64
    ) throws(ColumnFault) -> Outcome {
        self.hear(now)
        var outcome = Outcome()
        if self.filling != nil {
            if let time { self.fillingTime = time }
            try self.filling?.apply(columns, moreGrades) { _ in }
            return outcome
        }
        guard self.isWhole else { throw ColumnFault(description: "a batch came before `begin`") }
        if let time { self.time = time }
        var changed: [String] = []
        try self.whole.apply(columns, moreGrades) { changed.append(String(decoding: $0, as: UTF8.self)) }
        if let position { self.position = position }
        if !token.isEmpty { self.token = token }
        if !changed.isEmpty { self.changeCount += 1 }
        self.recorded?.formUnion(changed)
        outcome.accounts = changed
        return outcome
    }

    mutating func end(position: Position, token: [UInt8], now: Int64) throws(ColumnFault) -> Outcome {
        guard let filled = self.filling else { throw ColumnFault(description: "`end` came without `begin`") }
        self.whole = filled
        self.isWhole = true
        self.isCurrent = true
        self.time = self.fillingTime
        self.filling = nil
        self.hear(now)
        self.generation += 1
        self.changeCount += 1
        self.recorded = nil
        self.position = position
        self.token = token
        return Outcome(becameWhole: true, accounts: nil)
    }

    /// Everything up to `revision` was said, when the server's clock showed `server`; 0: not known.
    mutating func bookmark(_ revision: UInt64, server: Int64 = 0, now: Int64) {
        if self.isWhole, self.filling == nil { self.isCurrent = true }
        self.hear(now)
        self.time.correct(server: server, now)
        if self.filling != nil { self.fillingTime.correct(server: server, now) }
        guard self.filling == nil, let position = self.position, revision > position.revision else { return }
        self.position?.revision = revision
    }

    /// Notes from now on which accounts change, until the copy is replaced.
    mutating func beginRecording() { self.recorded = [] }

    mutating func endRecording() { self.recorded = nil }

    /// A word of the server: what is whole is as new as the server, unless it has not yet what it missed, or another copy gets the changes.
    private mutating func hear(_ now: Int64) {
        guard self.isCurrent, self.filling == nil else { return }
        self.heard = now
        self.isCut = false
    }

    /// The connection is lost: the next one begins a copy again that was not whole.
    mutating func lost(isAway: Bool) {
        self.filling = nil
        self.isCurrent = false
        self.isCut = true
        self.isAway = isAway
    }

    // MARK: Questions

    /// The answer to a question about an account and a name.
    enum Answer: Equatable, Sendable {
        case entitled(tier: String, until: Instant, reason: UInt8)
        case notEntitled
        /// No copy is whole yet.
        case notReady
        /// The app has no such name.
        case unknownName
        /// The account belongs to another shard, or the key is an alias, of which a copy of some shards knows only some.
        case otherShard
    }

    /// Whether an account has a name now: the frequent question. Nil: `answer` says why there is no answer.
    func has(_ account: UnsafeRawBufferPointer, _ name: String, now: Int64) -> Bool? {
        guard self.isWhole, let number = self.whole.table.number(ofName: name) else { return nil }
        if self.shardCount > 1, Self.shard(of: account, self.shardCount) != self.shard { return nil }
        guard let found = self.whole.table.find(account) else { return false }
        if found.isAlias, self.shardCount > 1 { return nil }
        guard let place = self.place(of: number, found.account, now) else { return false }
        return self.whole.table.segment(place, of: found.account).reason != 0
    }

    /// What an account has of a name now, or why that is not known.
    func answer(_ account: UnsafeRawBufferPointer, _ name: String, now: Int64) -> Answer {
        guard self.isWhole else { return .notReady }
        guard let number = self.whole.table.number(ofName: name) else { return .unknownName }
        guard let entitled = self.has(account, name, now: now) else { return .otherShard }
        guard entitled, let account = self.whole.table.find(account)?.account,
            let place = self.place(of: number, account, now)
        else { return .notEntitled }
        // The end of the run: the tier may change within it. A renewal that is awaited without an end is none yet: the boundary before it
        // is what is known.
        var end = self.end(of: place, account, number, now)
        if self.isAwaited(place, of: account), let began = self.begin(of: place, account, number) { end = began }
        for next in place + 1..<max(self.whole.table.segmentCount(of: account), place + 1) {
            let segment = self.whole.table.segment(next, of: account)
            guard self.whole.table.isName(number, segment), segment.reason != 0, !self.isAwaited(next, of: account)
            else { break }
            end = self.end(of: next, account, number, now)
        }
        let segment = self.whole.table.segment(place, of: account)
        return .entitled(
            tier: self.whole.table.grades[Int(segment.grade)].tier,
            until: end == .max ? .distantFuture : Instant(milliseconds: end), reason: segment.reason)
    }

    /// The place of a name's segment that counts now: the first whose end is later.
    private func place(of name: Int32, _ account: Int32, _ now: Int64) -> Int? {
        let app = self.time.now(now)
        for place in 0..<self.whole.table.segmentCount(of: account) {
            guard self.whole.table.isName(name, self.whole.table.segment(place, of: account)) else { continue }
            if self.end(of: place, account, name, now) > app { return place }
        }
        return nil
    }

    /// Whether a segment is that of a renewal of which nothing is known.
    private func isAwaited(_ place: Int, of account: Int32) -> Bool {
        let segment = self.whole.table.segment(place, of: account)
        return segment.reason == 3 && segment.until == .max
    }

    /// When a segment began; nil for the first one of a name.
    private func begin(of place: Int, _ account: Int32, _ name: Int32) -> Int64? {
        guard place > 0 else { return nil }
        let before = self.whole.table.segment(place - 1, of: account)
        return self.whole.table.isName(name, before) ? before.until : nil
    }

    /// When a segment ends. A renewal that a test app awaits is at most two seconds away: a copy that is cut off ends the segment two
    /// seconds after it began. A connected one goes on, because the server would say that it has ended.
    private func end(of place: Int, _ account: Int32, _ name: Int32, _ now: Int64) -> Int64 {
        let segment = self.whole.table.segment(place, of: account)
        guard segment.reason == 3, segment.until == .max, self.time.isTestApp, self.isCut, let heard = self.heard
        else { return segment.until }
        return (self.begin(of: place, account, name) ?? self.time.now(heard)) &+ Self.awaitedMilliseconds
    }

    private static let awaitedMilliseconds: Int64 = 2_000

    /// The shard of an account: the CRC-32 of zlib, gzip and PNG of its key.
    static func shard(of account: UnsafeRawBufferPointer, _ count: UInt32) -> UInt32 {
        var value: UInt32 = .max
        for byte in account { value = Self.table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
        return ~value % count
    }

    private static let table: [UInt32] = (0..<256).map { index in
        var value = UInt32(index)
        for _ in 0..<8 { value = value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
        return value
    }
}

extension CopyMachine.Filled {
    fileprivate mutating func apply(
        _ columns: CopyTable.Columns, _ moreGrades: [CopyTable.Grade], changed: (UnsafeRawBufferPointer) -> Void
    ) throws(ColumnFault) {
        var grades = self.grades
        for grade in moreGrades { grades.append(self.table.add(grade)) }
        try self.table.apply(columns, grades: grades, changed: changed)
    }
}
