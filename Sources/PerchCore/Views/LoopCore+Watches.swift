import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Watches: who looks at which view. A watch has no queue; it is clean, or it owes its stream the newest value.
extension LoopCore {
    /// Attaches a call to a view, which is made if nobody looked at it yet.
    mutating func watch(_ call: Int32, app: AppNumber, account key: [UInt8]?, _ viewKey: ViewKey) {
        var accountSlot: Int32 = -1
        if let key { accountSlot = self.accountSlot(AccountKey(app: app, bytes: key)) }
        let view = self.viewSlot(app: app, account: accountSlot, viewKey)

        self.forgetRequest(of: call)
        self.calls[call].kind = .watch
        self.calls[call].target = view
        let first = self.views[view].firstWatch
        self.calls[call].nextInTarget = first
        self.calls[call].previousInTarget = -1
        if first >= 0 { self.calls[first].previousInTarget = call }
        self.views[view].firstWatch = call
        self.views[view].watchCount += 1
        let connection = self.calls[call].connection
        // It may have been waiting for its instant already.
        if !self.calls[call].flags.contains(.isWaiting) { self.connections[connection].waitingCount += 1 }
        self.calls[call].flags.formUnion([.isFirst, .isWaiting])
        if !self.calls[call].flags.contains(.hasToken) { self.sayLoading(call) }

        if self.canServe(view, call) {
            self.readyForFirst(call)
        } else {
            self.refresh(view)
        }
    }

    /// The constant first message of a call without a token.
    mutating func sayLoading(_ call: Int32) {
        guard !self.calls[call].flags.contains(.hasLoaded) else { return }
        self.calls[call].flags.formUnion([.owesLoading, .hasLoaded])
        self.ready(call)
    }

    /// Whether a view's value, as it is kept, can be given to one more watch.
    private func canServe(_ view: Int32, _ call: Int32) -> Bool {
        let slot = self.views[view]
        guard slot.state == .ready, !slot.isStale, !slot.isListed, slot.crossing > self.clock(of: slot.app) else {
            return false
        }
        let encodings = self.encodings(of: view)
        if let token = self.callTokens[call] {
            // Another loop may have computed the same value at a later instant: a position never goes back.
            guard token.position <= slot.position else { return false }
            return token.digest == slot.digest ? !encodings.unchanged.isNone : !encodings.snapshot.isNone
        }
        return !encodings.snapshot.isNone
    }

    /// Has a view computed again: at the end of this turn where the loop has all it needs, else when its record comes.
    mutating func refresh(_ view: Int32) {
        let account = self.views[view].account
        guard account >= 0 else {
            self.listView(view)
            return
        }
        if self.accounts[account].news >= 0 {
            self.listView(view)
        } else {
            self.askForRecord(account)
        }
    }

    /// A call's first value is there: `unchanged` if its token says so, else a snapshot.
    mutating func readyForFirst(_ call: Int32) {
        guard self.calls[call].flags.contains(.isWaiting) else { return }
        self.calls[call].flags.remove(.isWaiting)
        self.connections[self.calls[call].connection].waitingCount -= 1
        self.calls[call].flags.insert(.owesValue)
        // The token stays until something is said: the value may change, and come back to it, before that.
        if !self.callTokens.isEmpty, let token = self.callTokens[call] {
            if token.digest == self.views[self.calls[call].target].digest {
                self.calls[call].flags.insert(.owesUnchanged)
                self.counters.unchangedAnswers += 1
            } else {
                self.counters.resumedWithValue += 1
            }
        }
        self.ready(call)
    }

    mutating func leaveView(_ call: Int32) {
        let slot = self.calls[call]
        if !self.lateReaders.isEmpty { self.lateReaders[call] = nil }
        let view = slot.target
        if slot.previousInTarget >= 0 {
            self.calls[slot.previousInTarget].nextInTarget = slot.nextInTarget
        } else {
            self.views[view].firstWatch = slot.nextInTarget
        }
        if slot.nextInTarget >= 0 { self.calls[slot.nextInTarget].previousInTarget = slot.previousInTarget }
        self.views[view].watchCount -= 1
        if slot.flags.contains(.isWaiting) { self.connections[slot.connection].waitingCount -= 1 }
        self.calls[call].target = -1
        if self.views[view].watchCount == 0 { self.removeView(view) }
    }

    // MARK: Views and accounts

    private mutating func viewSlot(app: AppNumber, account: Int32, _ viewKey: ViewKey) -> Int32 {
        let known = self.findView(app: app, account: account, viewKey)
        guard known < 0 else { return known }
        let view = self.insertView(app: app, account: account, viewKey)
        if account >= 0 {
            let first = self.accounts[account].firstView
            self.views[view].nextInAccount = first
            if first >= 0 { self.views[first].previousInAccount = view }
            self.accounts[account].firstView = view
            self.accounts[account].tenantCount += 1
        }
        return view
    }

    private mutating func removeView(_ view: Int32) {
        self.dropEncodings(view)
        self.setCrossing(view, .distantFuture)
        let slot = self.views[view]
        self.forgetView(view)
        if slot.account >= 0 {
            if slot.previousInAccount >= 0 {
                self.views[slot.previousInAccount].nextInAccount = slot.nextInAccount
            } else {
                self.accounts[slot.account].firstView = slot.nextInAccount
            }
            if slot.nextInAccount >= 0 { self.views[slot.nextInAccount].previousInAccount = slot.previousInAccount }
        }
        self.views.remove(view)
        if slot.account >= 0 { self.releaseAccount(slot.account) }
    }

    mutating func accountSlot(_ key: AccountKey) -> Int32 {
        let known = self.findAccount(key)
        return known >= 0 ? known : self.insertAccount(key)
    }

    /// One tenant less; an account nobody looks at any more is forgotten.
    mutating func releaseAccount(_ slot: Int32) {
        self.accounts[slot].tenantCount -= 1
        guard self.accounts[slot].tenantCount == 0 else { return }
        self.forgetNumber(slot)
        self.removeAccount(slot)
    }

    mutating func askForRecord(_ slot: Int32) {
        guard !self.accounts[slot].isAsked else { return }
        self.accounts[slot].isAsked = true
        self.askedCount += 1
        self.counters.recordsAsked += 1
        self.ask(
            .account(slot, generation: self.accounts.generation(slot)), .record(self.accountKey(slot)))
    }

    mutating func listView(_ view: Int32) {
        guard !self.views[view].isListed else { return }
        self.views[view].isListed = true
        self.listedViews.append(view)
        if self.views[view].firstWatch >= 0 { self.calls.prefetch(self.views[view].firstWatch) }
    }
}
