import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Watches of views. A watch has no queue; it is clean, or the newest value is pending.
extension Views: ViewSource {
    /// Attaches a call to a view, creating the view for its first watch.
    mutating func watch(
        _ call: Int32, of app: AppNumber, account key: [UInt8]?, _ viewKey: ViewKey, _ tables: inout Tables,
        _ sink: inout some Sink
    ) {
        var accountSlot: Int32 = -1
        if let key { accountSlot = self.accountSlot(AccountKey(app: app, bytes: key)) }
        let view = self.viewSlot(app: app, account: accountSlot, viewKey)

        tables.calls[call].state = .watch(view: view)
        let first = self.slots[view].firstWatch
        tables.calls[call].nextInTarget = first
        tables.calls[call].previousInTarget = -1
        if first >= 0 { tables.calls[first].previousInTarget = call }
        self.slots[view].firstWatch = call
        self.slots[view].watchCount += 1
        // It may have been waiting for its instant already.
        if !tables.calls[call].flags.contains(.isWaiting) { sink.holdBeats(for: call, &tables) }
        tables.calls[call].flags.formUnion([.isFirst, .isWaiting])
        if !tables.calls[call].flags.contains(.hasToken) { self.sayLoading(call, &tables, &sink) }

        if self.canServe(view, call, tables) {
            self.readyForFirst(call, &tables, &sink)
        } else {
            self.refresh(view, &tables)
        }
    }

    /// Sends the constant first message of a call without a token.
    mutating func sayLoading(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        // A watch that another call carries is loading until its first message.
        guard !tables.calls[call].flags.contains(.hasLoaded), tables.part(call) == nil else { return }
        tables.calls[call].flags.formUnion([.hasUnsentLoading, .hasLoaded])
        sink.ready(call, &tables)
    }

    /// Whether the kept value of a view can be sent to another watch.
    private func canServe(_ view: Int32, _ call: Int32, _ tables: borrowing Tables) -> Bool {
        let slot = self.slots[view]
        guard slot.state == .ready, !slot.isStale, !slot.isListed, slot.crossing > tables.clock(of: slot.app)
        else {
            return false
        }
        let encodings = self.encodings(of: view)
        if let token = tables.callTokens[call] {
            // Another loop may have computed the same value at a later instant, and a position never decreases.
            guard token.position <= slot.position else { return false }
            return token.digest == slot.digest ? !encodings.unchanged.isNone : !encodings.snapshot.isNone
        }
        return !encodings.snapshot.isNone
    }

    /// Recomputes a view: at the end of this tick if the loop has all data, else when its record arrives.
    mutating func refresh(_ view: Int32, _ tables: inout Tables) {
        let account = self.slots[view].account
        guard account >= 0 else {
            self.listView(view, &tables)
            return
        }
        if self.accounts[account].news >= 0 {
            self.listView(view, &tables)
        } else {
            self.askForRecord(account, &tables)
        }
    }

    /// The first value of a call is ready: `unchanged` if its token matches, else a snapshot.
    mutating func readyForFirst(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard tables.calls[call].flags.contains(.isWaiting) else { return }
        tables.calls[call].flags.remove(.isWaiting)
        sink.releaseBeats(for: call, &tables)
        tables.calls[call].flags.insert(.hasUnsentValue)
        // The token is kept until the first answer is sent, because the value may change and return to it before that.
        if !tables.callTokens.isEmpty, let token = tables.callTokens[call] {
            if token.digest == self.slots[tables.calls[call].view].digest {
                tables.calls[call].flags.insert(.hasUnsentUnchanged)
                tables.counters.unchangedAnswers += 1
            } else {
                tables.counters.resumedWithValue += 1
            }
        }
        sink.ready(call, &tables)
    }

    /// A call leaves what it watches.
    mutating func leave(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        switch tables.calls[call].state {
        case .watch(let view): self.leaveView(call, view, &tables, &sink)
        case .updates: self.leaveUpdates(call, &tables, &sink)
        case .appChanges: self.leaveAppChanges(call, &tables, &sink)
        case .copy: self.leaveCopy(call, &tables, &sink)
        case .unary, .order, .several, .ending: preconditionFailure("call \(call) watches nothing")
        }
    }

    /// The question that a watch or a stream waits for alone; nil: it waits for none, or others wait for the answer too.
    func question(of call: Int32, _ tables: borrowing Tables) -> Ticket? {
        let generation = tables.calls.generation(call)
        switch tables.calls[call].state {
        case .updates: return self.updates[call]?.isAsked == true ? .updates(call, generation: generation) : nil
        case .appChanges: return self.appChanges[call]?.isAsked == true ? .updates(call, generation: generation) : nil
        case .copy:
            let isAsked = self.appStreams.copies[call]?.isAsked == true
            return isAsked ? .updates(call, generation: generation) : nil
        case .watch(let view):
            let account = self.slots[view].account
            guard account >= 0, self.accounts[account].isAsked, self.accounts[account].holderCount == 1,
                self.slots[view].watchCount == 1
            else { return nil }
            return .account(account, generation: self.accounts.generation(account))
        case .unary, .order, .several, .ending: return nil
        }
    }

    /// Bytes that watches and streams hold, without spare capacity.
    var heldBytes: Int {
        Int(self.slots.count) * (Slab<ViewSlot>.bytesPerElement + SlotTable.bytesPerSlotMax)
            + Int(self.accounts.count) * (Slab<AccountSlot>.bytesPerElement + 2 * SlotTable.bytesPerSlotMax)
            + self.updates.count * MemoryLayout<UpdatesState>.stride
            + self.appChanges.count * MemoryLayout<AppChangesState>.stride
            + self.appStreams.copies.count * MemoryLayout<CopyState>.stride
            + self.accountKeys.keptBytes + self.viewKeys.bytes
    }

    private mutating func leaveView(_ call: Int32, _ view: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        let slot = tables.calls[call]
        if !self.lateReaders.isEmpty { self.lateReaders[call] = nil }
        if slot.previousInTarget >= 0 {
            tables.calls[slot.previousInTarget].nextInTarget = slot.nextInTarget
        } else {
            self.slots[view].firstWatch = slot.nextInTarget
        }
        if slot.nextInTarget >= 0 { tables.calls[slot.nextInTarget].previousInTarget = slot.previousInTarget }
        self.slots[view].watchCount -= 1
        if slot.flags.contains(.isWaiting) || self.slots[view].isStale {
            sink.releaseBeats(for: call, &tables)
        }
        if self.slots[view].watchCount == 0 { self.removeView(view, &tables) }
    }

    // MARK: Views and accounts

    private mutating func viewSlot(app: AppNumber, account: Int32, _ viewKey: ViewKey) -> Int32 {
        let known = self.findView(app: app, account: account, viewKey)
        guard known < 0 else { return known }
        let view = self.insertView(app: app, account: account, viewKey)
        if account >= 0 {
            let first = self.accounts[account].firstView
            self.slots[view].nextInAccount = first
            if first >= 0 { self.slots[first].previousInAccount = view }
            self.accounts[account].firstView = view
            self.accounts[account].holderCount += 1
        }
        return view
    }

    private mutating func removeView(_ view: Int32, _ tables: inout Tables) {
        self.dropEncodings(view, &tables)
        self.setCrossing(view, .distantFuture)
        self.setFailed(view, false)
        let slot = self.slots[view]
        self.forgetView(view)
        if slot.account >= 0 {
            if slot.previousInAccount >= 0 {
                self.slots[slot.previousInAccount].nextInAccount = slot.nextInAccount
            } else {
                self.accounts[slot.account].firstView = slot.nextInAccount
            }
            if slot.nextInAccount >= 0 {
                self.slots[slot.nextInAccount].previousInAccount = slot.previousInAccount
            }
        }
        self.slots.remove(view)
        if slot.account >= 0 { self.releaseAccount(slot.account) }
    }

    mutating func accountSlot(_ key: AccountKey) -> Int32 {
        let known = self.findAccount(key)
        return known >= 0 ? known : self.insertAccount(key)
    }

    /// Removes one user of an account slot; an account without users is freed.
    mutating func releaseAccount(_ slot: Int32) {
        self.accounts[slot].holderCount -= 1
        guard self.accounts[slot].holderCount == 0 else { return }
        self.forgetNumber(slot)
        self.removeAccount(slot)
    }

    mutating func askForRecord(_ slot: Int32, _ tables: inout Tables) {
        guard !self.accounts[slot].isAsked else { return }
        self.accounts[slot].isAsked = true
        self.loads.asked += 1
        tables.counters.recordsAsked += 1
        tables.ask(.account(slot, generation: self.accounts.generation(slot)), .record(self.accountKey(slot)))
    }

    mutating func listView(_ view: Int32, _ tables: inout Tables) {
        guard !self.slots[view].isListed else { return }
        self.slots[view].isListed = true
        self.listedViews.append(view)
        if self.slots[view].firstWatch >= 0 { tables.calls.prefetch(self.slots[view].firstWatch) }
    }
}
