package import PerchBase
import PerchModel
package import PerchStore

/// Durable storage in a database of PostgreSQL, which several nodes may have open. Belongs to the store's thread.
///
/// A batch takes two round trips: `begin` locks the `store` row and reads the head of the log, the changes of other nodes and the
/// records of the tick; `commit` writes everything and commits. See Design.md.
package final class PostgresStorage: Storage {
    package let location: PostgresLocation
    /// This process among the nodes of the store.
    package let node: NodeIdentity
    /// Batches and reads; nil while the database is out of reach.
    var main: Connection?
    /// Notifications, heartbeats and barriers.
    var side: Connection?
    var reach = Reach()
    /// The store as it was opened. Another identity is another store.
    let opened: Opened

    /// As the open batch has it.
    var currentHeader: StoreHeader
    private var committedHeader: StoreHeader
    /// The end of the log that the engine has applied.
    var applied: LogEnd
    /// The last revision that survives a failover: everything up to it may be published.
    var sealed: UInt64
    /// The end of what this node may have shown: what it has applied, as far as it is sealed.
    var shown: LogEnd
    /// The greatest revision that another node has announced.
    var announced: UInt64 = 0

    var batch = Batch.none
    var writes = PendingWrites()
    /// What this tick reads first.
    var plan = ReadPlan(requests: [], accounts: [])
    /// The results of the plan, and the batch's own writes over them.
    var known = KnownReads()
    /// Changes that came with another request, for `changes(after:limit:)`.
    var news = News.none
    /// A read transaction is open, so that all reads of the tick see one state.
    var isSnapshotOpen = false
    /// When the feed was last read, by the monotonic clock.
    var lastLook: Int64 = 0
    /// The last batch whose commit may have been lost.
    private var pending: LogEnd?
    var latestCatalogue: (app: AppNumber, revision: UInt64, catalogue: Catalogue)?
    var figures = DatabaseFigures()
    /// All nodes, as the last heartbeat found them.
    package internal(set) var nodes: [NodeReport] = []
    /// For tests: is released after the connections are closed.
    package var owner: AnyObject?

    /// A revision of the log, and the hash of everything up to it.
    struct LogEnd: Equatable {
        var revision: UInt64
        var mark: UInt64

        /// `writer`: the number of the node. Two of them may make the same change of the same revision, for two requests.
        mutating func follow(_ revision: UInt64, _ blob: [UInt8], writer: Int64) {
            self.mark = ChainMark.next(after: self.mark ^ UInt64(bitPattern: writer), revision: revision, blob)
            self.revision = revision
        }
    }

    /// Instants that have passed for all nodes.
    struct PassedTime {
        /// As the last head of the log said, and the revision of that head.
        var read = (instant: Instant(milliseconds: 0), revision: UInt64(0))
        /// The same of the head before it, all of whose changes the engine has.
        var before = Instant(milliseconds: 0)
        /// Up to which it survives a failover.
        var sealed = Instant.distantPast
        /// What the open batch raises it to.
        var raised: Instant?
        /// The database's clock when the open batch took the lock; nil: it does not agree with this node's.
        var underLock: Instant?
    }

    /// The schema of the tables, as last read: nodes of the version before may be at work.
    var schema: Int64 {
        get { self.reach.schema }
        set { self.reach.schema = newValue }
    }

    var time: PassedTime {
        get { self.reach.time }
        set { self.reach.time = newValue }
    }

    enum Batch {
        case none
        /// `end`: the end of the log with the batch's own changes. `base`: without. `isFenced`: the fence is behind us.
        case open(base: LogEnd, end: LogEnd, isFenced: Bool)
        /// A write failed; the transaction can only be rolled back.
        case broken(StorageError)
    }

    /// Changes of others that wait for the engine.
    enum News {
        /// Nothing is known: the feed has to be read.
        case none
        /// All changes after a revision, up to the head, which is `end`.
        case whole(after: UInt64, [StoredChange], end: LogEnd)
    }

    init(
        _ location: PostgresLocation, node: NodeIdentity, main: Connection, side: Connection, opened: Opened,
        header: StoreHeader,
        end: LogEnd
    ) {
        self.location = location
        self.node = node
        self.main = main
        self.side = side
        self.opened = opened
        self.currentHeader = header
        self.committedHeader = header
        self.applied = end
        self.sealed = end.revision
        self.shown = end
    }

    deinit {
        self.close()
        self.owner = nil
    }

    package let isShared = true

    /// This start has given the tables of the version before what they lacked.
    package var hasGrown: Bool { self.opened.hasGrown }
    /// This start has noticed that the log lacks a revision which was shown, and has raised the epoch.
    package var lostRevision: UInt64? { self.opened.lostRevision }

    package func header() -> StoreHeader { self.currentHeader }

    // MARK: A batch

    package func begin() throws(StorageError) {
        guard case .none = self.batch else { preconditionFailure("a batch began inside a batch") }
        self.writes.removeAll()
        self.news = .none
        var commands = self.isSnapshotOpen ? [Command(.rollback)] : []
        let closing = commands.count
        self.isSnapshotOpen = false
        commands += [
            Command(.begin), Command(.lock), Command(.head),
            Command(.feed, [.number(self.applied.revision), .integer(Int64(Limits.feedChangesAtOnce))]),
        ]
        let planned = self.plan.commands
        commands += planned.map(\.command)
        let sent = Monotonic.milliseconds()
        let rows = try self.request(commands)
        do throws(StorageError) {
            let head = try self.head(rows[closing + 2])
            let fits = self.reach.clock.agrees(
                database: head.now.milliseconds, sent: sent, received: Monotonic.milliseconds())
            self.time.underLock = fits ? head.now : nil
            self.news = try self.news(rows[closing + 3], head: head)
            self.known = try KnownReads(planned, rows[(closing + 4)...])
            self.currentHeader.revision = head.end.revision
            self.currentHeader.nextTransaction = head.nextTransaction
            self.currentHeader.nextAccount = head.nextAccount
            self.committedHeader = self.currentHeader
            self.batch = .open(base: head.end, end: head.end, isFenced: false)
        } catch {
            self.batch = .broken(error)
            self.rollback()
            throw error
        }
    }

    package func commit() throws(StorageError) {
        guard case .open(let base, let end, _) = self.batch else {
            guard case .broken(let error) = self.batch else { preconditionFailure("a commit outside a batch") }
            self.rollback()
            throw error
        }
        guard let main = self.main else {
            self.rollback()
            throw .unreachable("the connection was lost before the commit")
        }
        var commands = self.takeWrites()
        if self.currentHeader.lease != self.committedHeader.lease {
            commands.append(
                Command(.setLease, [.integer(self.node.id), .integer(self.currentHeader.lease.milliseconds)]))
        }
        if let raised = self.time.raised { commands.append(Command(.setPassed, [.integer(raised.milliseconds)])) }
        commands.append(Command(.commit))
        self.pending = end
        let warnings = main.warnings
        let sent = Monotonic.milliseconds()
        do throws(PostgresError) {
            _ = try main.run(commands)
        } catch {
            self.figures.conflicts += error.storageError == .superseded ? 1 : 0
            let meaning = error.storageError
            if !error.endsConnection {
                self.batch = .broken(meaning)
                self.rollback()
                throw meaning
            }
            self.dropMain(error)
            self.forget()
            self.figures.unknownCommits += 1
            throw .unknown(error.description)
        }
        if main.warnings > warnings {
            // The wait for a standby was cancelled: the commit is there, and a failover may still lose it.
            let warning = main.lastWarning
            self.dropMain(.lost(warning))
            self.forget()
            self.figures.unknownCommits += 1
            throw .unknown(warning)
        }
        // A confirmed commit proves as much as a heartbeat.
        self.reach.lastBeat = max(self.reach.lastBeat, sent)
        self.committedHeader = self.currentHeader
        self.batch = .none
        self.known = KnownReads()
        self.plan = ReadPlan(requests: [], accounts: [])
        self.news = .whole(after: end.revision, [], end: end)
        self.applied = end
        self.shown = end
        self.sealed = max(self.sealed, end.revision)
        if let raised = self.time.raised { self.passes(raised, isSealed: true) }
        self.forgetTime()
        if end != base { self.announce(end.revision) }
    }

    private func forgetTime() {
        self.time.raised = nil
        self.time.underLock = nil
    }

    package func rollback() {
        if case .none = self.batch { return }
        self.forget()
        self.main?.post([Command(.rollback)])
        if self.main?.isOpen == false { self.main = nil }
    }

    /// Drops the open batch.
    private func forget() {
        self.batch = .none
        self.currentHeader = self.committedHeader
        self.writes.removeAll()
        self.known = KnownReads()
        self.news = .none
        self.latestCatalogue = nil
        self.forgetTime()
    }

    /// Waits, under the lock, until the session of the lost commit has ended, then compares the hash of the log.
    package func hasCommitted(_ revision: UInt64) throws(StorageError) -> Bool {
        guard let pending = self.pending, pending.revision == revision else { return false }
        let rows = try self.request([Command(.begin), Command(.lock), Command(.markOf, [.number(revision)])])
        self.main?.post([Command(.rollback)])
        guard !rows[2].isEmpty, rows[2].uint64(0, 0) == pending.mark else { return false }
        // A commit behind it: where that is confirmed, so is the one before.
        try self.barrier(behind: pending)
        self.applied = pending
        self.shown = pending
        self.sealed = max(self.sealed, pending.revision)
        self.committedHeader.revision = pending.revision
        self.currentHeader = self.committedHeader
        self.announce(pending.revision)
        return true
    }

    package func setLease(until instant: Instant) throws(StorageError) {
        guard case .open = self.batch else { preconditionFailure("a lease outside a batch") }
        self.currentHeader.lease = instant
    }

    package func close() {
        self.rollback()
        self.remember()
        if let side = self.side { _ = try? side.run([Command(.leave, [.integer(self.node.id)])]) }
        self.main?.close()
        self.side?.close()
        self.main = nil
        self.side = nil
    }

    // MARK: Requests

    /// Runs commands, with a new connection where the old one is lost. Nothing is at stake: no batch has written.
    func request(_ commands: [Command]) throws(StorageError) -> [Rows] {
        // Within a snapshot a new connection would see another state.
        let wasOpen = self.main?.isOpen ?? false && !self.isSnapshotOpen
        do throws(PostgresError) {
            return try self.connected().run(commands)
        } catch {
            self.isSnapshotOpen = false
            guard error.endsConnection else {
                self.main?.post([Command(.rollback)])
                throw error.storageError
            }
            self.dropMain(error)
            guard wasOpen else { throw error.storageError }
        }
        // The server closed an idle session, as when it restarts.
        do throws(PostgresError) {
            return try self.connected().run(commands)
        } catch {
            if error.endsConnection { self.dropMain(error) } else { self.main?.post([Command(.rollback)]) }
            throw error.storageError
        }
    }

    /// Runs a read: of the batch, of the tick's snapshot, or by itself.
    func read(_ query: Query, _ values: [Value]) throws(StorageError) -> Rows {
        self.figures.reads += 1
        switch self.batch {
        case .broken(let error): throw error
        case .none:
            return try self.request([Command(query, values)])[0]
        case .open(let base, let end, _):
            guard let main = self.main else { throw .unreachable("the connection was lost") }
            let writes = self.takeWrites()
            do throws(PostgresError) {
                let rows = try main.run(writes + [Command(query, values)])
                if !writes.isEmpty { self.batch = .open(base: base, end: end, isFenced: true) }
                return rows[writes.count]
            } catch {
                if error.endsConnection { self.dropMain(error) }
                let meaning = error.storageError
                self.batch = .broken(meaning)
                throw meaning
            }
        }
    }

    /// The batch's writes since the last request, behind its fence.
    private func takeWrites() -> [Command] {
        guard case .open(let base, let end, let isFenced) = self.batch else { return [] }
        let commands = self.writes.commands
        self.writes.removeAll()
        guard !isFenced, end != base else { return commands }
        let fence: [Value] = [
            .integer(Int64(self.currentHeader.epoch)), .integer(self.schema), .number(base.revision),
            .integer(Int64(bitPattern: base.mark)),
        ]
        return [Command(.fence, fence)] + commands
    }

    func dropMain(_ error: PostgresError) {
        self.main?.close()
        self.main = nil
        self.isSnapshotOpen = false
        self.figures.lastLoss = error.description
    }

    /// Tells the other nodes of a revision that is durable everywhere.
    private func announce(_ revision: UInt64) {
        self.main?.post([Command(.notify, [.text("\(self.currentHeader.epoch):\(revision)")])])
    }
}

/// A process that has the store open.
package struct NodeIdentity: Hashable, Sendable {
    /// Random, above zero.
    package let id: Int64
    /// For operators, such as the host's name and the port.
    package let name: String
    package let version: String

    package init(id: Int64, name: String, version: String) {
        self.id = id
        self.name = name
        self.version = version
    }
}
