package import PerchBase
package import PerchModel
package import PerchStore

// The feed of changes: what other nodes have committed, and when this node may show it.
extension PostgresStorage {
    /// The head of the log, as one statement read it.
    struct Head {
        var end: LogEnd
        var nextTransaction: TransactionID
        var nextAccount: AccountNumber
        var committed: Instant
        /// No standby has to confirm commits: what can be read is durable.
        var isDurable: Bool
        var now: Instant
        /// An instant that has passed for all nodes.
        var passed: Instant
    }

    func head(_ rows: Rows) throws(StorageError) -> Head {
        guard !rows.isEmpty else { throw .failed("the database has no store any more; restore it, or begin a new one") }
        let (epoch, schema) = (rows.int64(0, 0), rows.int64(0, 1))
        guard epoch == Int64(self.currentHeader.epoch) else {
            throw .historyLost("its epoch is \(epoch), this node began with \(self.currentHeader.epoch)")
        }
        guard schema == Schema.version || schema == Schema.versionBeside else {
            throw schema > Schema.version
                ? .newerSchema(found: Int(schema), known: Int(Schema.version))
                : .olderSchema(found: Int(schema), known: Int(Schema.version))
        }
        let isEmpty = rows.isNull(0, 2)
        self.schema = schema
        return Head(
            end: LogEnd(revision: isEmpty ? 0 : rows.uint64(0, 2), mark: isEmpty ? 0 : rows.uint64(0, 3)),
            nextTransaction: rows.uint64(0, 4), nextAccount: rows.uint64(0, 5),
            committed: isEmpty ? .distantPast : Instant(milliseconds: rows.int64(0, 6)),
            isDurable: rows.int64(0, 7) != 0,
            now: Instant(milliseconds: rows.int64(0, 8) + self.opened.shift),
            passed: Instant(milliseconds: rows.int64(0, 9)))
    }

    /// The changes after `applied`, read with the head. Their hashes must lead from the one to the other.
    func news(_ rows: Rows, head: Head) throws(StorageError) -> News {
        self.lastLook = Monotonic.milliseconds()
        if head.isDurable { self.sealed = max(self.sealed, head.end.revision) }
        if self.time.read.revision <= self.applied.revision { self.time.before = self.time.read.instant }
        self.time.read = (max(head.passed, self.time.before), head.end.revision)
        if head.isDurable { self.time.sealed = max(self.time.sealed, head.passed) }
        guard head.end.revision >= self.applied.revision,
            head.end.revision > self.applied.revision || head.end.mark == self.applied.mark
        else {
            throw self.lostHistory(
                "its log ends at revision \(head.end.revision), this node has shown \(self.applied.revision) of another history"
            )
        }
        if head.end.revision == self.applied.revision {
            return .whole(after: self.applied.revision, [], end: self.applied)
        }
        guard !rows.isEmpty, rows.uint64(0, 0) == self.applied.revision + 1 else {
            throw .failed("the feed of changes does not reach back to revision \(self.applied.revision)")
        }
        let (changes, end) = try self.changes(rows, from: self.applied)
        guard changes.count < Limits.feedChangesAtOnce else { return .none }
        guard end == head.end else {
            throw self.lostHistory("its log has another revision \(self.applied.revision) than this node has shown")
        }
        return .whole(after: self.applied.revision, changes, end: end)
    }

    private func changes(_ rows: Rows, from start: LogEnd) throws(StorageError) -> ([StoredChange], LogEnd) {
        var end = start
        var changes: [StoredChange] = []
        for row in 0..<rows.count {
            let revision = rows.uint64(row, 0)
            let blob = rows.bytes(row, 1)
            end.follow(revision, blob, writer: rows.int64(row, 2))
            changes.append(try self.change(blob, revision: revision))
        }
        return (changes, end)
    }

    private func change(_ blob: [UInt8], revision: UInt64) throws(StorageError) -> StoredChange {
        var failure: StorageError?
        do throws(DecodingFault) {
            return try StoredChange(unsealing: blob, revision: revision) { (app, catalogue) throws(DecodingFault) in
                do throws(StorageError) {
                    return try self.catalogue(of: app, revision: catalogue)
                } catch {
                    failure = error
                    throw .invalid("catalogue", atOffset: 0)
                }
            }
        } catch {
            throw failure ?? .corrupt("revision \(revision) of the feed: \(error)")
        }
    }

    package func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]? {
        if case .whole(let after, let changes, let end) = self.news, after == revision, changes.count <= limit {
            if let last = changes.last { self.advance(to: end, last) }
            return changes
        }
        let rows = try self.read(.feed, [.number(revision), .integer(Int64(limit))])
        guard !rows.isEmpty else { return revision >= self.currentHeader.revision ? [] : nil }
        guard rows.uint64(0, 0) == revision + 1 else { return nil }
        let isNext = revision == self.applied.revision
        let (changes, end) = try self.changes(rows, from: isNext ? self.applied : LogEnd(revision: revision, mark: 0))
        if isNext, let last = changes.last { self.advance(to: end, last) }
        return changes
    }

    /// The engine takes changes of others.
    private func advance(to end: LogEnd, _ last: StoredChange) {
        self.applied = end
        self.news = .whole(after: end.revision, [], end: end)
        guard case .none = self.batch else { return }
        self.currentHeader.revision = end.revision
        self.currentHeader.nextTransaction = last.nextTransaction
        self.currentHeader.nextAccount = last.nextAccount
    }

    package func prefetch(_ requests: [StoreRequest], accounts: [AccountNumber]) throws(StorageError) {
        if case .open = self.batch {
            let planned = PlannedRead.records(accounts)
            let rows = try self.read(.planRecords, [.integers(accounts.map { Int64(clamping: $0) })])
            let found = try KnownReads([planned], [rows])
            self.known.records.merge(found.records) { $1 }
            return
        }
        self.plan = ReadPlan(requests: requests, accounts: accounts)
        self.known = KnownReads()
        self.news = .whole(after: self.applied.revision, [], end: self.applied)
        let reads = requests.contains { !$0.isMutation }
        // A batch reads the feed itself, under the lock.
        if !reads, !requests.isEmpty || !self.isLookDue { return }
        try self.look(keepsSnapshot: requests.contains { Self.readsFurther($0.body) })
    }

    private var isLookDue: Bool {
        self.announced > self.applied.revision
            || Monotonic.milliseconds() - self.lastLook >= Limits.feedPollMilliseconds
    }

    /// Whether the answer needs more than the plan fetches.
    private static func readsFurther(_ body: StoreRequest.Body) -> Bool {
        switch body {
        // Changes of apps are read after the tick's snapshot, and only up to what was applied. A slice of a copy may be newer than that: the
        // changes since its walk began follow it.
        case .record, .recordOf, .changes, .copySlice, .mutate, .order, .revoke, .note, .code, .look, .barrierReached:
            false
        case .recordAsKnown, .history, .keys, .accounts, .transactions, .events, .image, .item, .items, .find,
            .customers, .notes, .export, .ended, .awaited, .unread:
            true
        }
    }

    /// Reads the head, the feed and the plan, all of one state.
    private func look(keepsSnapshot: Bool) throws(StorageError) {
        let planned = self.plan.commands
        let closing = self.isSnapshotOpen ? 1 : 0
        var commands = closing == 1 ? [Command(.rollback)] : []
        commands += [
            Command(.beginReading), Command(.head),
            Command(.feed, [.number(self.applied.revision), .integer(Int64(Limits.feedChangesAtOnce))]),
        ]
        commands += planned.map(\.command)
        if !keepsSnapshot { commands.append(Command(.commit)) }
        self.isSnapshotOpen = false
        let rows = try self.request(commands)
        self.isSnapshotOpen = keepsSnapshot
        self.news = try self.news(rows[closing + 2], head: try self.head(rows[closing + 1]))
        self.known = try KnownReads(planned, rows[(closing + 3)..<(closing + 3 + planned.count)])
    }

    package func endReads() {
        guard self.isSnapshotOpen else { return }
        self.isSnapshotOpen = false
        self.known = KnownReads()
        self.main?.post([Command(.commit)])
    }

    // MARK: Time

    /// While a node of the version before is at work, the newest commit alone bounds what is decided.
    package var passed: Instant? {
        guard self.schema >= Schema.version else { return nil }
        return self.time.read.revision <= self.applied.revision ? self.time.read.instant : self.time.before
    }

    package var batchClock: Instant? { self.time.underLock }

    package var keepsRefusals: Bool { self.schema >= Schema.version }

    package func raisePassed(to instant: Instant) throws(StorageError) -> Bool {
        guard case .open = self.batch else { preconditionFailure("time passed outside a batch") }
        guard self.schema >= Schema.version else { return false }
        self.time.raised = max(instant, self.time.raised ?? .distantPast)
        return true
    }

    /// A batch that raised it is confirmed, or the head of the log has it.
    func passes(_ instant: Instant, isSealed: Bool) {
        self.time.read = (max(instant, self.time.read.instant), self.applied.revision)
        self.time.before = self.time.read.instant
        if isSealed { self.time.sealed = max(self.time.sealed, instant) }
    }

    package func confirmedPassed() throws(StorageError) -> Instant {
        let passed = self.passed ?? .distantPast
        if passed > self.time.sealed {
            try self.barrier(behind: self.applied)
            self.figures.seals += 1
            self.time.sealed = passed
        }
        return passed
    }

    // MARK: Sealing

    /// Passes a barrier where a change of another node may still be lost by a failover.
    package func seal() throws(StorageError) {
        if self.applied.revision > self.sealed {
            try self.barrier(behind: self.applied)
            self.figures.seals += 1
            self.sealed = self.applied.revision
        }
        self.shown = self.applied
    }
}
