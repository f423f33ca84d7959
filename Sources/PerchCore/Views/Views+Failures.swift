import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Loads that failed: a state of a watch, not its end. The loop asks again by itself, and the next good load pushes success.
//
// While the store is away, one account of the failed ones is asked for at a time. Once it is there again, so are the others, in
// bounded pieces.
extension Views {
    /// The record of an account could not be read.
    mutating func failViews(of slot: Int32, _ refusal: Refusal, _ tables: inout Tables, _ sink: inout some Sink) {
        self.accounts[slot].hasFailed = true
        self.askAgain(slot, &tables)
        var view = self.accounts[slot].firstView
        while view >= 0 {
            self.fail(view, refusal, &tables, &sink)
            view = self.slots[view].nextInAccount
        }
    }

    /// An equal value is never pushed twice: a watch that has been sent a failure waits for success.
    private mutating func fail(_ view: Int32, _ refusal: Refusal, _ tables: inout Tables, _ sink: inout some Sink) {
        self.catchUpWithClock(view, &tables, &sink)
        let hadFailed = self.slots[view].hasFailed
        if hadFailed, !self.hasWaiting(view, tables) { return }
        if !hadFailed { self.rememberSaid(view, &tables) }
        // Not `applied`: the next good value has the revision that made it, which may be older.
        let app = self.slots[view].app
        var info = ValueInfo()
        info.position = Position(
            revision: max(self.slots[view].position.revision, tables.apps[app]?.revision ?? 0),
            asOf: tables.clock(of: app))
        info.committed = tables.now.wall
        let response = self.viewKeys[self.slots[view].key].failed(WireStatus(refusal).failure, info)
        var encodings = Encodings()
        encodings.previousDigest = self.slots[view].digest
        if hadFailed, self.slots[view].encodings >= 0 {
            encodings.previousDigest = self.encodings(of: view).previousDigest
        }
        self.dropEncodings(view, &tables)
        let payload = tables.encoded { codec throws(MessageError) in try codec.encode(response) }
        tables.payloads.retain(payload)
        (encodings.snapshot, encodings.change) = (payload, payload)
        self.keepEncodings(view, encodings)
        self.setFailed(view, true)
        self.slots[view].state = .empty
        self.slots[view].digest = .zero
        var call = self.slots[view].firstWatch
        while call >= 0 {
            let isWaiting = tables.calls[call].flags.contains(.isWaiting)
            self.readyForFirst(call, &tables, &sink)
            tables.calls[call].flags.remove(.hasUnsentUnchanged)
            if isWaiting || !hadFailed { tables.calls[call].flags.insert(.hasUnsentValue) }
            if tables.calls[call].flags.contains(.hasUnsentValue) { sink.ready(call, &tables) }
            call = tables.calls[call].nextInTarget
        }
    }

    mutating func setFailed(_ view: Int32, _ hasFailed: Bool) {
        guard self.slots[view].hasFailed != hasFailed else { return }
        self.slots[view].hasFailed = hasFailed
        self.failedViewCount += hasFailed ? 1 : -1
    }

    // MARK: Loading again

    private mutating func askAgain(_ slot: Int32, _ tables: inout Tables) {
        if self.failedAccounts.isEmpty {
            self.asksAgainAt = tables.now.monotonic + Limits.storageRetryMilliseconds
        }
        guard !self.accounts[slot].isListedAgain else { return }
        self.accounts[slot].isListedAgain = true
        self.failedAccounts.append(slot)
    }

    /// Asks for the account that has waited longest.
    mutating func retryLoads(_ tables: inout Tables) {
        guard !self.failedAccounts.isEmpty, tables.now.monotonic >= self.asksAgainAt else { return }
        self.asksAgainAt = tables.now.monotonic + Limits.storageRetryMilliseconds
        var count = 0
        for slot in self.failedAccounts {
            count += 1
            guard self.accounts.isTaken(slot), self.accounts[slot].isListedAgain else { continue }
            self.accounts[slot].isListedAgain = false
            self.askForRecord(slot, &tables)
            break
        }
        self.failedAccounts.removeFirst(count)
    }

    /// A record arrived. If it is one that had failed, the store is there again for the others too.
    mutating func loadedAgain(_ slot: Int32) {
        guard self.accounts[slot].hasFailed else { return }
        self.accounts[slot].hasFailed = false
        for slot in self.failedAccounts
        where self.accounts.isTaken(slot) && self.accounts[slot].isListedAgain {
            self.accounts[slot].isListedAgain = false
            self.sweep.append(slot)
        }
        self.failedAccounts.removeAll(keepingCapacity: true)
    }

    // MARK: Bookmarks

    /// Whether the view of a watch is in failure.
    @inline(__always)
    func hasFailed(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let view = tables.calls[call].view
        return view >= 0 && self.slots[view].hasFailed
    }

    /// Whether a watch of a connection is in failure.
    func hasFailedWatch(_ connection: Int32, _ tables: borrowing Tables) -> Bool {
        guard self.failedViewCount > 0 else { return false }
        var call = tables.connections[connection].firstCall
        while call >= 0 {
            if self.hasFailed(call, tables) { return true }
            if tables.calls[call].state == .several, let parts = tables.carried.wholes[call],
                parts.contains(where: { self.hasFailed($0, tables) })
            {
                return true
            }
            call = tables.calls[call].nextInConnection
        }
        return false
    }

    /// The revision of a BEAT. It does not rise while a watch of the connection is in failure: the BEAT then ends a group, and
    /// proves that the connection lives.
    func vouchedRevision(_ connection: Int32, _ tables: borrowing Tables) -> UInt64 {
        self.hasFailedWatch(connection, tables) ? tables.connections[connection].vouchedRevision : tables.applied
    }
}
