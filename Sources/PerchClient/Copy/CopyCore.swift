import PerchBase
import PerchLoop
import PerchModel
import PerchWire
import Synchronization

/// The shared part of a copy: the loop enters what comes, any thread asks. Sendable without a claim: all of it is behind `inside`.
///
/// The loop applies each batch before it reads on, so nothing queues up: a copy that is filled faster than this process can enter it is
/// held back by the socket.
final class CopyCore: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    fileprivate struct Inside {
        var machine: CopyMachine
        /// Why checks throw: the copy was closed, or can never be whole.
        var end: PerchError?
        /// Why nothing comes any more; a whole copy goes on to answer.
        var final: PerchError?
        /// A part could not be read. Nothing counts until a new copy begins, because a later change would hide the one that is missing.
        var isBroken = false
        /// When the copy was last fetched anew for such a part.
        var begunAnew: Int64?
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
        var queues: [ObjectIdentifier: CopyQueue] = [:]
        /// Something came since the file was written.
        var isUnsaved = false

        /// How far the copy is on the way to a position.
        enum Way {
            case isThere
            case isOnTheWay
            case isOver(PerchError)
        }

        func way(to position: Position?) -> Way {
            let own = self.machine.position
            if position == nil, let error = self.end ?? self.final { return .isOver(error) }
            if let position, let own, position.epoch != 0, own.epoch != 0, position.epoch != own.epoch {
                // A newer store is that of the next connection, or what this one has not said yet.
                if position.epoch < own.epoch || self.machine.isCurrent {
                    return .isOver(
                        PerchError(
                            code: .failedPrecondition, reason: .tokenOtherStore,
                            message:
                                "the position is of epoch \(position.epoch), and the copy is of epoch \(own.epoch): this history may lack what it saw"
                        ))
                }
            } else if self.machine.has(position) {
                return .isThere
            }
            return (self.end ?? self.final).map { .isOver($0) } ?? .isOnTheWay
        }

        mutating func takeWaiters() -> [Waiter] {
            defer { self.waiters.removeAll() }
            return Array(self.waiters.values)
        }
    }

    private struct Saving {
        /// The log has the reason.
        var hasFailed = false
        var isOver = false
    }

    let path: String?
    private let subject: CopyFile.Subject
    private let stale: StaleCopy
    private let observer: (any PerchClientObserver)?
    private let clock: @Sendable () -> Int64
    private let inside: Mutex<Inside>
    /// One save at a time, and none after `close`.
    private let saving = Mutex(Saving())
    /// How long nothing is written after a save.
    private let pause: Duration

    init(
        _ subject: CopyFile.Subject, path: String?, stale: StaleCopy = .keep,
        observer: (any PerchClientObserver)? = nil, pause: Duration = .seconds(10),
        clock: @escaping @Sendable () -> Int64 = { Clocks.monotonic().nanoseconds / 1_000_000 }
    ) {
        self.subject = subject
        self.path = path
        self.stale = stale
        self.observer = observer
        self.pause = pause
        self.clock = clock
        var machine = CopyMachine(shard: subject.shard, shardCount: subject.shardCount, asked: subject.names)
        if let path {
            let read = CopyFile.read(path, subject, now: clock(), wall: Clocks.wall())
            if let kept = read.machine { machine = kept }
            if let fault = read.fault {
                observer?.log(ClientLogLine(level: .warning, message: "the copy is fetched anew: \(fault)"))
            }
        }
        self.inside = Mutex(Inside(machine: machine))
    }

    var token: [UInt8] { self.inside.withLock { $0.machine.token } }
    var isWhole: Bool { self.inside.withLock { $0.machine.isWhole } }
    var names: [String] { self.inside.withLock { $0.machine.whole.table.names } }
    /// Why nothing comes any more.
    var error: PerchError? { self.inside.withLock { $0.final } }
    var count: Int { self.inside.withLock { $0.machine.whole.table.count } }
    var position: Position? { self.inside.withLock { $0.machine.position } }

    var age: Duration? {
        let now = self.clock()
        return self.inside.withLock { $0.machine.heard }.map { .milliseconds(max(now - $0, 0)) }
    }

    // MARK: Questions

    /// The frequent answer; nil: `entitlement` gives it, or says why there is none.
    func has(_ account: String, _ name: String) -> Bool? {
        guard case .keep = self.stale else { return nil }
        let now = self.clock()
        return account.utf8Span.span.withUnsafeBytes { key in
            // A UUID may be written in capitals.
            guard (1...255).contains(key.count), key.count != 36 else { return nil }
            let has = self.inside.withLock { inside in
                inside.end == nil ? inside.machine.has(key, name, now: now) : nil
            }
            // A key that cannot be one must not read as "no". No account that has something has such a key.
            return has == false && key.contains(0) ? nil : has
        }
    }

    func entitlement(_ account: String, _ name: String) throws(PerchError) -> CopiedEntitlement? {
        let length = account.utf8.count
        guard (1...255).contains(length), !account.utf8.contains(0) else {
            throw PerchError(
                code: .invalidArgument, reason: .accountKey,
                message: "the account key has \(length) bytes; it has 1 to 255, and no NUL",
                details: ["found": "\(length)", "limit": "255"])
        }
        let now = self.clock()
        let (answer, end, heard, names) = self.inside.withLock { inside in
            let key = inside.machine.time.isTestApp ? account : account.normalisedUUID
            let answer = key.utf8Span.span.withUnsafeBytes { inside.machine.answer($0, name, now: now) }
            return (
                answer, inside.end, inside.machine.heard, answer == .unknownName ? inside.machine.whole.table.names : []
            )
        }
        if let end { throw end }
        switch answer {
        case .notReady:
            throw PerchError(
                code: .unavailable, reason: .copyNotReady,
                message:
                    "the copy is not complete yet; wait for it with ready(), or give it a file that survives a restart")
        case .unknownName:
            throw PerchError(
                code: .notFound, reason: .entitlementUnknown,
                message: "the app has no entitlement \"\(name)\"; it has \(names.sorted().joined(separator: ", "))")
        case .otherShard:
            throw PerchError(
                code: .failedPrecondition, reason: .otherShard,
                message:
                    "this copy has shard \(self.subject.shard) of \(self.subject.shardCount), and the key belongs to another or is an alias; ask by the account's own key there"
            )
        case .notEntitled, .entitled: break
        }
        let silence = now - (heard ?? now)
        switch self.stale {
        case .refuse(let limit) where silence > limit.wholeMilliseconds:
            throw PerchError(
                code: .unavailable, reason: .copyStale,
                message: "the copy is \(silence) ms older than the server, the limit is \(limit.wholeMilliseconds)")
        case .deny(let limit) where silence > limit.wholeMilliseconds: return nil
        case .keep, .deny, .refuse: break
        }
        guard case .entitled(let tier, let until, let reason) = answer else { return nil }
        return CopiedEntitlement(
            name: name, tier: tier, until: until, reason: EntitlementReason(rawValue: Int32(reason)))
    }

    // MARK: Waiting

    /// Returns when the copy is whole and has reached `position`.
    func wait(for position: Position?, timeout: Duration?) async throws(PerchError) {
        let limit = timeout.map { self.clock() &+ $0.wholeMilliseconds }
        while true {
            switch self.inside.withLock({ $0.way(to: position) }) {
            case .isThere: return
            case .isOver(let error): throw error
            case .isOnTheWay: break
            }
            if Task.isCancelled { throw .cancelledHere }
            let left = limit.map { $0 - self.clock() }
            if let left, left <= 0 {
                throw PerchError(
                    code: .deadlineExceeded, reason: .deadline,
                    message: position == nil
                        ? "the copy did not have in time what it missed; see how the connection is, or allow more time"
                        : "the copy did not reach the position in time; see how the connection is, or allow more time")
            }
            await self.sleep(left) { [clock] inside in
                // The alarm may have rung before it could find the waiter.
                if let limit, clock() >= limit { return false }
                if case .isOnTheWay = inside.way(to: position) { return true }
                return false
            }
        }
    }

    /// Returns when something has come, after `milliseconds`, or when the task is cancelled.
    private func sleep(_ milliseconds: Int64?, while isNeeded: @escaping @Sendable (borrowing Inside) -> Bool) async {
        let ticket = self.inside.withLock { inside in
            inside.lastWaiter += 1
            return inside.lastWaiter
        }
        let alarm = milliseconds.map { milliseconds in
            Task {
                try? await Task.sleep(for: .milliseconds(milliseconds))
                self.wake(ticket)
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isOver = self.inside.withLock { inside in
                    guard isNeeded(inside), !Task.isCancelled else { return true }
                    inside.waiters[ticket] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            self.wake(ticket)
        }
        alarm?.cancel()
    }

    private func wake(_ ticket: UInt64) {
        let waiter = self.inside.withLock { $0.waiters.removeValue(forKey: ticket) }
        waiter?.resume()
    }

    // MARK: The loop's side

    /// Enters a part of the stream. Returns the tasks to resume, and the fault of a part that cannot be read.
    func take(_ part: CopyPart, now: Int64) -> (waiters: [Waiter], fault: ColumnFault?) {
        self.inside.withLock { inside in
            if inside.isBroken {
                guard let begin = part.begin, !begin.isResumed else { return ([], nil) }
                inside.isBroken = false
            }
            do throws(ColumnFault) {
                if let begin = part.begin {
                    try inside.machine.begin(
                        isResumed: begin.isResumed, grades: begin.grades.map { CopyTable.Grade($0) },
                        names: begin.names,
                        time: CopyMachine.CopyTime(begin.clock, now), now: now)
                }
                if let batch = part.accounts { try inside.enter(batch, now) }
                if let end = part.end {
                    _ = try inside.machine.end(position: end.position, token: end.resumeToken, now: now)
                    inside.isUnsaved = true
                    for queue in inside.queues.values { queue.add(.replaced) }
                }
                if let bookmark = part.bookmark {
                    inside.machine.bookmark(
                        bookmark.revision, server: bookmark.serverTime.milliseconds, now: now)
                }
            } catch {
                inside.machine.lost(isAway: false)
                inside.isBroken = true
                return (inside.takeWaiters(), error)
            }
            return (inside.takeWaiters(), nil)
        }
    }

    /// Everything up to a revision was said, when the server's clock showed `server`.
    func heard(_ revision: UInt64, server: Instant = Instant(milliseconds: 0), now: Int64) -> [Waiter] {
        self.inside.withLock { inside in
            guard !inside.isBroken else { return [] }
            inside.machine.bookmark(revision, server: server.milliseconds, now: now)
            return inside.takeWaiters()
        }
    }

    /// The stream has ended, or could not begin.
    func lost(_ reason: PerchError) -> [Waiter] {
        self.inside.withLock { inside in
            inside.machine.lost(isAway: reason.isTransient)
            return inside.takeWaiters()
        }
    }

    private static let anewMilliseconds: Int64 = 3_600_000

    /// Whether a copy that could not be read is fetched anew: once an hour, because a server that says the same again would be asked for
    /// ever.
    func beginsAnew(after fault: ColumnFault) -> Bool {
        let now = self.clock()
        let begins = self.inside.withLock { inside in
            if let last = inside.begunAnew, now - last < Self.anewMilliseconds { return false }
            inside.begunAnew = now
            return true
        }
        if begins { self.observer?.log(ClientLogLine(level: .warning, message: "the copy is fetched anew: \(fault)")) }
        return begins
    }

    /// The stream has ended for good. A copy that is whole goes on to answer, unless it was closed.
    func end(_ error: PerchError) -> [Waiter] {
        let (waiters, queues, isNews) = self.inside.withLock { inside in
            if !inside.machine.isWhole || error.reason == .closed { inside.end = error }
            let isNews = inside.final == nil && error.reason != .closed
            if inside.final == nil { inside.final = error }
            inside.machine.lost(isAway: false)
            defer { inside.queues.removeAll() }
            return (inside.takeWaiters(), Array(inside.queues.values), isNews)
        }
        if isNews {
            self.observer?.log(
                ClientLogLine(
                    level: .error, message: "the copy gets no more changes: \(error.message)",
                    metadata: ["reason": error.reason.rawValue]))
        }
        for queue in queues { queue.end(error) }
        return waiters
    }

    /// Writes the file for the last time. A program may open another copy with it as soon as this returns.
    func close() {
        self.save(isLast: true)
        for waiter in self.end(.clientClosed) { waiter.resume() }
    }

    func listen(_ queue: CopyQueue) {
        let end = self.inside.withLock { inside in
            let end = inside.end ?? inside.final
            if end == nil { inside.queues[ObjectIdentifier(queue)] = queue }
            return end
        }
        if let end { queue.end(end) }
    }

    func unlisten(_ queue: CopyQueue) {
        self.inside.withLock { $0.queues[ObjectIdentifier(queue)] = nil }
    }

    // MARK: The file

    /// Saves what comes until the task is cancelled, at most once in each pause: a disk that is full, or an app with many changes, must
    /// not keep a processor busy.
    func saveUntilCancelled() async {
        while !Task.isCancelled {
            let isUnsaved = self.inside.withLock { $0.isUnsaved }
            if isUnsaved { self.save() }
            try? await Task.sleep(for: isUnsaved || self.isWhole ? self.pause : min(self.pause, .milliseconds(100)))
        }
    }

    /// Writes the file, if something came since the last time.
    func save(isLast: Bool = false) {
        guard let path else { return }
        self.saving.withLock { saving in
            if saving.isOver { return }
            saving.isOver = isLast
            guard let bytes = self.bytesToSave() else { return }
            guard let fault = CopyFile.replace(path, with: bytes) else {
                saving.hasFailed = false
                return
            }
            self.inside.withLock { $0.isUnsaved = true }
            guard !saving.hasFailed else { return }
            saving.hasFailed = true
            self.observer?.log(ClientLogLine(level: .warning, message: "the copy was not kept: \(fault)"))
        }
    }

    /// The bytes of the file; nil if nothing has come since the last time.
    func bytesToSave() -> [UInt8]? {
        while true {
            let generation = self.inside.withLock { inside -> UInt64? in
                guard inside.isUnsaved, inside.machine.isWhole else { return nil }
                inside.machine.beginRecording()
                return inside.machine.generation
            }
            guard let generation else { return nil }
            if let bytes = self.bytesToSave(of: generation) { return bytes }
        }
    }

    /// The bytes of the file; nil if another copy has become whole meanwhile.
    private func bytesToSave(of generation: UInt64) -> [UInt8]? {
        var writer = CopyFile.Writer()
        var place = 0
        while true {
            let isAtEnd = self.inside.withLock { inside -> Bool? in
                guard inside.machine.generation == generation, let changed = inside.machine.recorded else { return nil }
                let table = inside.machine.whole.table
                guard place >= table.placeCount else {
                    writer.add(accounts: place..<place + 2_048, of: table)
                    place += 2_048
                    return false
                }
                writer.add(changed: changed, of: table)
                writer.end(self.subject, inside.machine, now: self.clock(), wall: Clocks.wall())
                inside.machine.endRecording()
                inside.isUnsaved = false
                return true
            }
            guard let isAtEnd else { return nil }
            if isAtEnd { return writer.finish() }
        }
    }

    /// All accounts; nil while the copy is not complete, or if no entry has changed since the snapshot with this count.
    func snapshot(after changeCount: UInt64?) -> CopySnapshot? {
        let now = self.clock()
        return self.inside.withLock { inside in
            guard inside.machine.isWhole, let position = inside.machine.position,
                inside.machine.changeCount != changeCount
            else { return nil }
            return CopySnapshot(inside.machine, position, now: now)
        }
    }
}

extension CopyCore.Inside {
    mutating func enter(_ batch: CopyBatch, _ now: Int64) throws(ColumnFault) {
        let columns = CopyTable.Columns(
            keys: batch.keys, keyEnds: batch.keyEnds, segmentEnds: batch.segmentEnds, grades: batch.grades,
            untils: batch.untils, reasons: batch.reasons, aliases: batch.aliases, aliasEnds: batch.aliasEnds,
            aliasAccounts: batch.aliasAccounts)
        let isSeen = !self.machine.isFilling && !self.queues.isEmpty && !batch.keyEnds.isEmpty
        let keys = isSeen ? columns.keyTexts : []
        let before = keys.map { self.machine.entitlements(of: $0, now: now) }
        _ = try self.machine.accounts(
            columns, moreGrades: batch.moreGrades.map { CopyTable.Grade($0) }, position: batch.position,
            token: batch.resumeToken, time: batch.clock.map { CopyMachine.CopyTime($0, now) }, now: now)
        if !self.machine.isFilling { self.isUnsaved = true }
        for (key, before) in zip(keys, before) {
            let after = self.machine.entitlements(of: key, now: now)
            guard before != after else { continue }
            for queue in self.queues.values { queue.add(.account(key, before: before, after: after)) }
        }
    }
}

extension CopyMachine.CopyTime {
    fileprivate init(_ clock: CopyClock, _ now: Int64) {
        self.init(
            app: clock.appTime.milliseconds, monotonic: now, isFrozen: clock.isFrozen, isTestApp: clock.isTestApp,
            server: clock.serverTime.milliseconds)
    }
}

extension CopyTable.Grade {
    fileprivate init(_ grade: EntitlementGrade) { self.init(name: grade.name, tier: grade.tier) }
}

extension CopyTable.Columns {
    /// The keys as texts; empty for columns that do not fit.
    var keyTexts: [String] {
        var from = 0
        var texts: [String] = []
        for end in self.keyEnds {
            guard from < end, Int(end) <= self.keys.count else { return [] }
            texts.append(String(decoding: self.keys[from..<Int(end)], as: UTF8.self))
            from = Int(end)
        }
        return texts
    }
}

extension CopyMachine {
    /// Whether the copy is whole and has everything up to `position`; nil: all that it missed, unless the server is away.
    func has(_ position: Position?) -> Bool {
        guard self.isWhole, let own = self.position else { return false }
        guard let position else { return self.isCurrent || self.isAway }
        return position.revision <= own.revision
    }

    /// What an account has now, by name.
    func entitlements(of account: String, now: Int64) -> [String: CopiedEntitlement] {
        var all: [String: CopiedEntitlement] = [:]
        account.utf8Span.span.withUnsafeBytes { key in
            for name in self.whole.table.names {
                guard case .entitled(let tier, let until, let reason) = self.answer(key, name, now: now) else {
                    continue
                }
                all[name] = CopiedEntitlement(
                    name: name, tier: tier, until: until, reason: EntitlementReason(rawValue: Int32(reason)))
            }
        }
        return all
    }
}

extension String {
    /// In lower case if it has the form of a UUID: the App Store writes its tokens so, whatever the case in which callers do.
    var normalisedUUID: String {
        let bytes = Array(self.utf8)
        guard bytes.count == 36 else { return self }
        for (place, byte) in bytes.enumerated() {
            switch place {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return self }
            default:
                let isDigit =
                    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
                guard isDigit else { return self }
            }
        }
        return self.lowercased()
    }
}
