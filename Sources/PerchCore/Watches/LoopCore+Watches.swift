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
        let view = self.viewSlot(app: app, account: accountSlot, key: key ?? [], viewKey)

        self.calls[call].kind = .watch
        self.calls[call].target = view
        let first = self.views[view].firstWatch
        self.calls[call].nextInTarget = first
        self.calls[call].previousInTarget = -1
        if first >= 0 { self.calls[first].previousInTarget = call }
        self.views[view].firstWatch = call
        self.views[view].watchCount += 1
        let connection = self.calls[call].connection
        self.connections[connection].watchCount += 1
        self.connections[connection].waitingCount += 1
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
        self.listCall(call)
    }

    /// Whether a view's value, as it is kept, can be given to one more watch.
    private func canServe(_ view: Int32, _ call: Int32) -> Bool {
        let slot = self.views[view]
        guard slot.state == .ready, !slot.isStale, !slot.isListed, slot.crossing > self.clock(of: slot.app) else {
            return false
        }
        if let token = self.callTokens[call] {
            return token.digest == slot.digest ? !slot.unchanged.isNone : !slot.snapshot.isNone
        }
        return !slot.snapshot.isNone
    }

    /// Has a view computed again: at the end of this turn where the loop has all it needs, else when its record comes.
    mutating func refresh(_ view: Int32) {
        let account = self.views[view].account
        guard account >= 0 else {
            self.listView(view)
            return
        }
        if self.records[account] != nil {
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
        if let token = self.callTokens.removeValue(forKey: call) {
            if token.digest == self.views[self.calls[call].target].digest {
                self.calls[call].flags.insert(.owesUnchanged)
                self.counters.unchangedAnswers += 1
            } else {
                self.counters.resumedWithValue += 1
            }
        }
        self.listCall(call)
    }

    mutating func leaveView(_ call: Int32) {
        let slot = self.calls[call]
        self.lateReaders[call] = nil
        let view = slot.target
        if slot.previousInTarget >= 0 {
            self.calls[slot.previousInTarget].nextInTarget = slot.nextInTarget
        } else {
            self.views[view].firstWatch = slot.nextInTarget
        }
        if slot.nextInTarget >= 0 { self.calls[slot.nextInTarget].previousInTarget = slot.previousInTarget }
        self.views[view].watchCount -= 1
        self.connections[slot.connection].watchCount -= 1
        if slot.flags.contains(.isWaiting) { self.connections[slot.connection].waitingCount -= 1 }
        self.calls[call].target = -1
        if self.views[view].watchCount == 0 { self.removeView(view) }
    }

    // MARK: Views and accounts

    private mutating func viewSlot(app: AppNumber, account: Int32, key: [UInt8], _ viewKey: ViewKey) -> Int32 {
        let name = ViewName(account: account, digest: viewKey.digest(app: app, account: key))
        if let view = self.viewIndex[name] { return view }
        let view = self.views.insert(ViewSlot(account: account, app: app))
        self.viewIndex[name] = view
        if Int(view) == self.viewKeys.count {
            self.viewKeys.append(viewKey)
        } else {
            self.viewKeys[Int(view)] = viewKey
        }
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
        let key = slot.account >= 0 ? self.accountKeys[Int(slot.account)].bytes : []
        let digest = self.viewKeys[Int(view)].digest(app: slot.app, account: key)
        self.viewIndex[ViewName(account: slot.account, digest: digest)] = nil
        self.viewKeys[Int(view)] = .status(group: "")
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
        if let slot = self.accountIndex[key] { return slot }
        let slot = self.accounts.insert(AccountSlot(app: key.app))
        self.accountIndex[key] = slot
        if Int(slot) == self.accountKeys.count {
            self.accountKeys.append(key)
        } else {
            self.accountKeys[Int(slot)] = key
        }
        return slot
    }

    /// One tenant less; an account nobody looks at any more is forgotten.
    mutating func releaseAccount(_ slot: Int32) {
        self.accounts[slot].tenantCount -= 1
        guard self.accounts[slot].tenantCount == 0 else { return }
        self.forgetNumber(slot)
        let key = self.accountKeys[Int(slot)]
        self.accountIndex[key] = nil
        self.accountKeys[Int(slot)] = AccountKey(app: 0, bytes: [])
        self.records[slot] = nil
        self.recordCauses[slot] = nil
        self.accounts.remove(slot)
    }

    /// From now on changes of account `number` concern this slot.
    mutating func setNumber(_ slot: Int32, _ number: AccountNumber) {
        if self.accounts[slot].hasNumber {
            guard self.accounts[slot].number != number else { return }
            self.forgetNumber(slot)
        }
        self.accounts[slot].hasNumber = true
        self.accounts[slot].number = number
        self.accounts[slot].nextOfNumber = self.accountsOfNumber[number] ?? -1
        self.accountsOfNumber[number] = slot
    }

    private mutating func forgetNumber(_ slot: Int32) {
        guard self.accounts[slot].hasNumber else { return }
        let number = self.accounts[slot].number
        self.accounts[slot].hasNumber = false
        let next = self.accounts[slot].nextOfNumber
        guard var current = self.accountsOfNumber[number] else { return }
        if current == slot {
            self.accountsOfNumber[number] = next >= 0 ? next : nil
            return
        }
        while self.accounts[current].nextOfNumber != slot { current = self.accounts[current].nextOfNumber }
        self.accounts[current].nextOfNumber = next
    }

    mutating func askForRecord(_ slot: Int32) {
        guard !self.accounts[slot].isAsked else { return }
        self.accounts[slot].isAsked = true
        self.askedCount += 1
        self.counters.recordsAsked += 1
        self.ask(
            .account(slot, generation: self.accounts.generation(slot)), .record(self.accountKeys[Int(slot)]))
    }

    mutating func listView(_ view: Int32) {
        guard !self.views[view].isListed else { return }
        self.views[view].isListed = true
        self.listedViews.append(view)
    }
}
