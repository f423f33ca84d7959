import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Watches of views. A watch has no queue; it is clean, or the newest value is pending.
extension LoopCore {
    /// Attaches a call to a view, creating the view for its first watch.
    mutating func watch(_ call: Int32, of app: AppNumber, account key: [UInt8]?, _ viewKey: ViewKey) {
        var accountSlot: Int32 = -1
        if let key { accountSlot = self.accountSlot(AccountKey(app: app, bytes: key)) }
        let view = self.viewSlot(app: app, account: accountSlot, viewKey)

        self.forgetRequest(of: call)
        self.tables.calls[call].state = .watch(view: view)
        let first = self.views.slots[view].firstWatch
        self.tables.calls[call].nextInTarget = first
        self.tables.calls[call].previousInTarget = -1
        if first >= 0 { self.tables.calls[first].previousInTarget = call }
        self.views.slots[view].firstWatch = call
        self.views.slots[view].watchCount += 1
        // It may have been waiting for its instant already.
        if !self.tables.calls[call].flags.contains(.isWaiting) { self.transport.holdBeats(for: call, &self.tables) }
        self.tables.calls[call].flags.formUnion([.isFirst, .isWaiting])
        if !self.tables.calls[call].flags.contains(.hasToken) { self.sayLoading(call) }

        if self.canServe(view, call) {
            self.readyForFirst(call)
        } else {
            self.refresh(view)
        }
    }

    /// Sends the constant first message of a call without a token.
    mutating func sayLoading(_ call: Int32) {
        // A watch that another call carries is loading until its first message.
        guard !self.tables.calls[call].flags.contains(.hasLoaded), self.tables.part(call) == nil else { return }
        self.tables.calls[call].flags.formUnion([.owesLoading, .hasLoaded])
        self.transport.ready(call, &self.tables)
    }

    /// Whether the kept value of a view can be sent to another watch.
    private func canServe(_ view: Int32, _ call: Int32) -> Bool {
        let slot = self.views.slots[view]
        guard slot.state == .ready, !slot.isStale, !slot.isListed, slot.crossing > self.tables.clock(of: slot.app)
        else {
            return false
        }
        let encodings = self.encodings(of: view)
        if let token = self.tables.callTokens[call] {
            // Another loop may have computed the same value at a later instant, and a position never decreases.
            guard token.position <= slot.position else { return false }
            return token.digest == slot.digest ? !encodings.unchanged.isNone : !encodings.snapshot.isNone
        }
        return !encodings.snapshot.isNone
    }

    /// Recomputes a view: at the end of this tick if the loop has all data, else when its record arrives.
    mutating func refresh(_ view: Int32) {
        let account = self.views.slots[view].account
        guard account >= 0 else {
            self.listView(view)
            return
        }
        if self.views.accounts[account].news >= 0 {
            self.listView(view)
        } else {
            self.askForRecord(account)
        }
    }

    /// The first value of a call is ready: `unchanged` if its token matches, else a snapshot.
    mutating func readyForFirst(_ call: Int32) {
        guard self.tables.calls[call].flags.contains(.isWaiting) else { return }
        self.tables.calls[call].flags.remove(.isWaiting)
        self.transport.releaseBeats(for: call, &self.tables)
        self.tables.calls[call].flags.insert(.owesValue)
        // The token is kept until the first answer is sent, because the value may change and return to it before that.
        if !self.tables.callTokens.isEmpty, let token = self.tables.callTokens[call] {
            if token.digest == self.views.slots[self.tables.calls[call].view].digest {
                self.tables.calls[call].flags.insert(.owesUnchanged)
                self.tables.counters.unchangedAnswers += 1
            } else {
                self.tables.counters.resumedWithValue += 1
            }
        }
        self.transport.ready(call, &self.tables)
    }

    mutating func leaveView(_ call: Int32, _ view: Int32) {
        let slot = self.tables.calls[call]
        if !self.views.lateReaders.isEmpty { self.views.lateReaders[call] = nil }
        if slot.previousInTarget >= 0 {
            self.tables.calls[slot.previousInTarget].nextInTarget = slot.nextInTarget
        } else {
            self.views.slots[view].firstWatch = slot.nextInTarget
        }
        if slot.nextInTarget >= 0 { self.tables.calls[slot.nextInTarget].previousInTarget = slot.previousInTarget }
        self.views.slots[view].watchCount -= 1
        if slot.flags.contains(.isWaiting) || self.views.slots[view].isStale {
            self.transport.releaseBeats(for: call, &self.tables)
        }
        if self.views.slots[view].watchCount == 0 { self.removeView(view) }
    }

    // MARK: Views and accounts

    private mutating func viewSlot(app: AppNumber, account: Int32, _ viewKey: ViewKey) -> Int32 {
        let known = self.views.findView(app: app, account: account, viewKey)
        guard known < 0 else { return known }
        let view = self.views.insertView(app: app, account: account, viewKey)
        if account >= 0 {
            let first = self.views.accounts[account].firstView
            self.views.slots[view].nextInAccount = first
            if first >= 0 { self.views.slots[first].previousInAccount = view }
            self.views.accounts[account].firstView = view
            self.views.accounts[account].tenantCount += 1
        }
        return view
    }

    private mutating func removeView(_ view: Int32) {
        self.dropEncodings(view)
        self.setCrossing(view, .distantFuture)
        self.setFailed(view, false)
        let slot = self.views.slots[view]
        self.views.forgetView(view)
        if slot.account >= 0 {
            if slot.previousInAccount >= 0 {
                self.views.slots[slot.previousInAccount].nextInAccount = slot.nextInAccount
            } else {
                self.views.accounts[slot.account].firstView = slot.nextInAccount
            }
            if slot.nextInAccount >= 0 {
                self.views.slots[slot.nextInAccount].previousInAccount = slot.previousInAccount
            }
        }
        self.views.slots.remove(view)
        if slot.account >= 0 { self.releaseAccount(slot.account) }
    }

    mutating func accountSlot(_ key: AccountKey) -> Int32 {
        let known = self.views.findAccount(key)
        return known >= 0 ? known : self.views.insertAccount(key)
    }

    /// Removes one user of an account slot; an account without users is freed.
    mutating func releaseAccount(_ slot: Int32) {
        self.views.accounts[slot].tenantCount -= 1
        guard self.views.accounts[slot].tenantCount == 0 else { return }
        self.views.forgetNumber(slot)
        self.views.removeAccount(slot)
    }

    mutating func askForRecord(_ slot: Int32) {
        guard !self.views.accounts[slot].isAsked else { return }
        self.views.accounts[slot].isAsked = true
        self.service.askedCount += 1
        self.tables.counters.recordsAsked += 1
        self.tables.ask(
            .account(slot, generation: self.views.accounts.generation(slot)), .record(self.views.accountKey(slot)))
    }

    mutating func listView(_ view: Int32) {
        guard !self.views.slots[view].isListed else { return }
        self.views.slots[view].isListed = true
        self.views.listedViews.append(view)
        if self.views.slots[view].firstWatch >= 0 { self.tables.calls.prefetch(self.views.slots[view].firstWatch) }
    }
}
