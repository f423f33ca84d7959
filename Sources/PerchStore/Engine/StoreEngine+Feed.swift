import PerchBase
import PerchModel

// The feed of changes: the commits of this node and of others, in one order.
extension StoreEngine {
    /// Applies the new commits of other nodes, in order. `publishNews` sends them to the loops.
    ///
    /// Called before a tick reads, and again inside a batch, once the storage's lock is held: what others commit in between
    /// must be applied before anything is decided.
    func refresh() throws(StorageError) {
        while true {
            guard
                let changes = try self.storage.changes(
                    after: self.header.revision, limit: Limits.feedChangesAtOnce)
            else {
                throw .failed("the feed of changes does not reach back to revision \(self.header.revision)")
            }
            for change in changes { self.follow(change) }
            if changes.count < Limits.feedChangesAtOnce { return }
        }
    }

    /// One change of another node.
    private func follow(_ stored: StoredChange) {
        precondition(
            stored.revision == self.header.revision + 1,
            "the feed has revision \(stored.revision) after \(self.header.revision)")
        self.header.follow(stored)
        self.others.newestCommit = max(self.newestCommit, stored.committed)
        if let app = stored.app { self.apps[app.state.number] = app }
        for place in stored.records.indices {
            let record = stored.records[place].record
            if self.cachesRecords { self.cache.replace(record) }
            let (due, previousDue) = (stored.records[place].due, stored.records[place].previousDue)
            guard due != previousDue else { continue }
            self.follow(Batch.DueMove(app: record.app, account: record.account, from: previousDue, to: due))
        }
        for token in stored.revoked { self.revocations[token.id] = token.expires }
        self.remember(erasedBy: stored)
        self.others.news.append(Change(stored))
    }

    func follow(_ move: Batch.DueMove) {
        let place = Int(move.app)
        // A window that was never read has nothing to follow.
        guard place < self.dueWindows.count else { return }
        self.dueWindows[place].move(move.account, from: move.from, to: move.to)
    }

    /// Sends the changes of other nodes to every loop, once they would survive the loss of the storage's server.
    func publishNews(into outbox: inout Outbox) {
        if self.others.news.isEmpty { return }
        do throws(StorageError) {
            try self.storage.seal()
        } catch {
            // They wait, and reads are refused meanwhile.
            if error.isPassing { self.isUnreachable = true } else { self.fail(error) }
            return
        }
        self.publish(self.others.news, into: &outbox)
        self.others.news.removeAll(keepingCapacity: true)
    }

    func publish(_ changes: [Change], into outbox: inout Outbox) {
        for change in changes { outbox.broadcast(.change(change)) }
    }

    /// The revision at which loops begin. Changes of before are not sent to them.
    package func beginLoops() -> UInt64 {
        self.others.news.removeAll()
        return self.header.revision
    }

    /// The instant of the earliest due renewal of an app, among committed records.
    func earliestDue(_ app: AppNumber) throws(StorageError) -> Instant? {
        let place = Int(app)
        while self.dueWindows.count <= place { self.dueWindows.append(DueWindow()) }
        if self.dueWindows[place].needsEntries {
            let found = try self.storage.due(app, through: .distantFuture, limit: Limits.dueEntriesHeld + 1)
            self.dueWindows[place].load(found)
        }
        return self.dueWindows[place].entries.first?.instant
    }
}
