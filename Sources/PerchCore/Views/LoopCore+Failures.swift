import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Loads that failed: a state of a watch, not its end. The loop asks again by itself, and the next good load pushes success.
//
// While the store is away, one account of the failed ones is asked for at a time. Once it is there again, so are the others, in
// bounded pieces.
extension LoopCore {
    /// The record of an account could not be read.
    mutating func failViews(of slot: Int32, _ refusal: Refusal) {
        self.views.accounts[slot].hasFailed = true
        self.askAgain(slot)
        var view = self.views.accounts[slot].firstView
        while view >= 0 {
            self.fail(view, refusal)
            view = self.views.slots[view].nextInAccount
        }
    }

    /// An equal value is never pushed twice: a watch that has been sent a failure waits for success.
    private mutating func fail(_ view: Int32, _ refusal: Refusal) {
        self.catchUpWithClock(view)
        let hadFailed = self.views.slots[view].hasFailed
        if hadFailed, !self.hasWaiting(view) { return }
        if !hadFailed { self.rememberSaid(view) }
        // Not `applied`: the next good value has the revision that made it, which may be older.
        let app = self.views.slots[view].app
        var info = ValueInfo()
        info.position = Position(
            revision: max(self.views.slots[view].position.revision, self.tables.apps[app]?.revision ?? 0),
            asOf: self.tables.clock(of: app))
        info.committed = self.tables.now.wall
        let response = self.views.viewKeys[self.views.slots[view].key].failed(WireStatus(refusal).failure, info)
        var encodings = Encodings()
        encodings.previousDigest = self.views.slots[view].digest
        if hadFailed, self.views.slots[view].encodings >= 0 {
            encodings.previousDigest = self.encodings(of: view).previousDigest
        }
        self.dropEncodings(view)
        let payload = self.tables.encoded { codec throws(MessageError) in try codec.encode(response) }
        self.tables.payloads.retain(payload)
        (encodings.snapshot, encodings.change) = (payload, payload)
        self.keepEncodings(view, encodings)
        self.setFailed(view, true)
        self.views.slots[view].state = .empty
        self.views.slots[view].digest = .zero
        var call = self.views.slots[view].firstWatch
        while call >= 0 {
            let isWaiting = self.tables.calls[call].flags.contains(.isWaiting)
            self.readyForFirst(call)
            self.tables.calls[call].flags.remove(.owesUnchanged)
            if isWaiting || !hadFailed { self.tables.calls[call].flags.insert(.owesValue) }
            if self.tables.calls[call].flags.contains(.owesValue) { self.transport.ready(call, &self.tables) }
            call = self.tables.calls[call].nextInTarget
        }
    }

    mutating func setFailed(_ view: Int32, _ hasFailed: Bool) {
        guard self.views.slots[view].hasFailed != hasFailed else { return }
        self.views.slots[view].hasFailed = hasFailed
        self.views.failedViewCount += hasFailed ? 1 : -1
    }

    // MARK: Loading again

    private mutating func askAgain(_ slot: Int32) {
        if self.views.failedAccounts.isEmpty {
            self.views.asksAgainAt = self.tables.now.monotonic + Limits.storageRetryMilliseconds
        }
        guard !self.views.accounts[slot].isListedAgain else { return }
        self.views.accounts[slot].isListedAgain = true
        self.views.failedAccounts.append(slot)
    }

    /// Asks for the account that has waited longest.
    mutating func retryLoads() {
        guard !self.views.failedAccounts.isEmpty, self.tables.now.monotonic >= self.views.asksAgainAt else { return }
        self.views.asksAgainAt = self.tables.now.monotonic + Limits.storageRetryMilliseconds
        var count = 0
        for slot in self.views.failedAccounts {
            count += 1
            guard self.views.accounts.isTaken(slot), self.views.accounts[slot].isListedAgain else { continue }
            self.views.accounts[slot].isListedAgain = false
            self.askForRecord(slot)
            break
        }
        self.views.failedAccounts.removeFirst(count)
    }

    /// A record arrived. If it is one that had failed, the store is there again for the others too.
    mutating func loadedAgain(_ slot: Int32) {
        guard self.views.accounts[slot].hasFailed else { return }
        self.views.accounts[slot].hasFailed = false
        for slot in self.views.failedAccounts
        where self.views.accounts.isTaken(slot) && self.views.accounts[slot].isListedAgain {
            self.views.accounts[slot].isListedAgain = false
            self.views.sweep.append(slot)
        }
        self.views.failedAccounts.removeAll(keepingCapacity: true)
    }

    // MARK: Bookmarks

    /// Whether the view of a watch is in failure.
    @inline(__always)
    func hasFailed(_ call: Int32) -> Bool {
        let view = self.tables.calls[call].view
        return view >= 0 && self.views.slots[view].hasFailed
    }

    /// Whether a watch of a connection is in failure.
    func hasFailedWatch(_ connection: Int32) -> Bool {
        guard self.views.failedViewCount > 0 else { return false }
        var call = self.tables.connections[connection].firstCall
        while call >= 0 {
            if self.hasFailed(call) { return true }
            if self.tables.calls[call].state == .several, let parts = self.tables.carried.wholes[call],
                parts.contains(where: { self.hasFailed($0) })
            {
                return true
            }
            call = self.tables.calls[call].nextInConnection
        }
        return false
    }

    /// The revision of a BEAT. It does not rise while a watch of the connection is in failure: the BEAT then ends a group, and
    /// proves that the connection lives.
    func vouchedRevision(_ connection: Int32) -> UInt64 {
        self.hasFailedWatch(connection) ? self.tables.connections[connection].vouchedRevision : self.tables.applied
    }
}
