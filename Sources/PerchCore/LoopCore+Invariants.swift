import PerchBase
import PerchModel
import PerchWire

// What must hold of the tables of a loop between two turns. Linear; for tests and the simulator.
extension LoopCore {
    /// Traps where the tables contradict each other. Between turns only.
    package func checkInvariants() {
        var references: [Int32: Int32] = [:]
        func refer(_ payload: PayloadHandle) {
            if !payload.isNone { references[payload.index, default: 0] += 1 }
        }
        refer(self.loading)
        refer(self.okStatus)
        refer(self.welcomed.payload)
        self.checkConnections(refer)
        self.checkCalls()
        self.checkViews(refer)
        self.checkAccounts()
        self.checkIdentities()
        for (call, state) in self.updates {
            precondition(
                self.calls.isTaken(call) && self.calls[call].kind == .updates, "events for call \(call), which is gone")
            precondition(state.taken <= state.ready.count, "call \(call) took more events than there were")
            for event in state.ready[state.taken...] { refer(event.payload) }
        }
        self.payloads.checkInvariants(references)
        var accountTickets = 0
        for place in 0..<self.tickets.extent where self.tickets.isTaken(place) {
            if case .account = self.tickets[place] { accountTickets += 1 }
        }
        precondition(
            self.askedCount == self.answeredCount + UInt64(accountTickets),
            "\(self.askedCount) records asked, \(self.answeredCount) answered, \(accountTickets) under way")
        self.deadlines.checkInvariants()
        self.beats.checkInvariants()
        self.stalls.checkInvariants()
    }

    /// Traps where anything is left of connections that are all gone.
    package func checkIsEmpty() {
        self.checkInvariants()
        precondition(self.connections.count == 0, "\(self.connections.count) connections are left")
        precondition(self.calls.count == 0, "\(self.calls.count) calls are left")
        precondition(self.owed.count == 0, "\(self.owed.count) owed frames are left")
        precondition(self.views.count == 0, "\(self.views.count) views are left")
        precondition(self.accounts.count == 0, "\(self.accounts.count) accounts are left")
        precondition(self.payloads.count == 2, "\(self.payloads.count - 2) payloads are leaked")
        precondition(self.streams.count == 0, "\(self.streams.count) stream numbers are left")
        precondition(self.tickets.count == 0, "\(self.tickets.count) tickets are left")
        precondition(self.waiting.isEmpty, "\(self.waiting.count) waiters are left")
        precondition(
            self.pending.count == self.freePending.count && self.callTokens.isEmpty && self.updates.isEmpty,
            "calls are left")
        precondition(
            self.longRequests.isEmpty && self.requestBytes == 0 && self.accountKeys.keptBytes == 0,
            "what calls said is left")
        precondition(
            self.viewTable.count == 0 && self.accountTable.count == 0 && self.viewKeys.count == 0,
            "an index is not empty")
        precondition(self.encodings.count == 0, "\(self.encodings.count) encodings are left")
        precondition(self.numberTable.count == 0, "numbers of accounts are left")
        precondition(self.clientIDs.isEmpty && self.certificates.isEmpty, "names of clients are left")
        precondition(
            self.admission.origins.isEmpty && self.callIdentities.isEmpty && self.credentialFailures.isEmpty,
            "what quotas count is left")
        precondition(
            self.partialInputs.isEmpty && self.partialBytes == 0, "\(self.partialBytes) partial bytes are left")
        precondition(self.unfinishedFrames.isEmpty, "\(self.unfinishedFrames.count) unfinished frames are left")
        precondition(self.admission.closing.isEmpty && self.handshakes == 0, "\(self.handshakes) handshakes are left")
        precondition(self.beats.count == 0 && self.stalls.count == 0, "a wheel is not empty")
        precondition(self.crossings.values.allSatisfy { $0.count == 0 }, "crossings are left")
        precondition(self.sweep.isEmpty && self.heldBarriers.isEmpty, "a sweep or a barrier is left")
    }

    private func checkIdentities() {
        var uses: [UInt32: Int] = [:]
        for connection in 0..<self.connections.extent where self.connections.isTaken(connection) {
            let slot = self.connections[connection]
            guard slot.flags.contains(.isCounted) else {
                precondition(slot.identity == IdentityTable.nobody, "connection \(connection) is somebody's, uncounted")
                continue
            }
            precondition(slot.phase == .open, "connection \(connection) counts for somebody, and is not open")
            if slot.identity != IdentityTable.nobody { uses[slot.identity, default: 0] += 1 }
        }
        for (call, identity) in self.callIdentities {
            precondition(self.calls.isTaken(call), "a call that is gone has an identity")
            if identity != IdentityTable.nobody { uses[identity, default: 0] += 1 }
        }
        self.identities.checkInvariants(uses: uses)
    }

    private func checkConnections(_ refer: (PayloadHandle) -> Void) {
        var callCount: Int32 = 0
        var owedCount: Int32 = 0
        var greeting = 0
        var partial = 0
        var unfinished = 0
        for index in 0..<self.connections.extent where self.connections.isTaken(index) {
            let slot = self.connections[index]
            callCount += self.checkCallList(index)
            var owed = slot.firstOwed
            var last: Int32 = -1
            var bytes = 0
            while owed >= 0 {
                let entry = self.owed[owed]
                refer(entry.payload)
                bytes += self.payloads[entry.payload].count + 4
                owedCount += 1
                if entry.endsCall >= 0 {
                    precondition(
                        self.calls.isTaken(entry.endsCall) && self.calls[entry.endsCall].kind == .ending,
                        "a status is owed for a call that does not end")
                }
                last = owed
                owed = entry.next
            }
            precondition(last == slot.lastOwed && bytes == Int(slot.owedBytes), "the owed frames of \(index) are torn")
            self.checkDirtyList(index)
            let holdsSlot = slot.phase.takesFrames && !slot.flags.contains(.isIdentified)
            precondition(
                self.admission.handshakes.contains(index) == holdsSlot, "connection \(index) lost its handshake slot")
            if holdsSlot { greeting += 1 }
            let isClosing = slot.phase == .closing || slot.phase == .dying
            precondition(
                self.admission.closing.contains(index) == isClosing, "connection \(index) is listed wrongly as dying")
            precondition(
                slot.flags.contains(.hasPartialInput) == (self.partialInputs[index] != nil),
                "the partial input of connection \(index) is lost")
            if slot.flags.contains(.hasPartialInput) { partial += 1 }
            precondition(
                (slot.unfinished >= 0) == (self.unfinishedFrames[index] != nil),
                "the unfinished frame of connection \(index) is lost")
            if let rest = self.unfinishedFrames[index] {
                refer(rest.payload)
                unfinished += 1
            }
            precondition(
                slot.flags.contains(.isListed) == self.listedConnections.contains(index),
                "connection \(index) is listed wrongly as having something to write")
            precondition(
                self.beats.contains(index) == (slot.phase == .open), "connection \(index) has lost its heartbeat")
        }
        precondition(callCount == self.calls.count, "\(callCount) calls in lists, \(self.calls.count) in the slab")
        precondition(
            self.counters.callsOpened - self.counters.callsEnded == UInt64(callCount),
            "\(self.counters.callsOpened) calls opened, \(self.counters.callsEnded) ended, and \(callCount) are there")
        precondition(owedCount == self.owed.count, "\(owedCount) owed frames in lists, \(self.owed.count) in the slab")
        self.checkAdmission()
        precondition(greeting == self.handshakes, "\(greeting) connections greet, \(self.handshakes) counted")
        precondition(partial == self.partialInputs.count, "a partial input has no connection")
        precondition(
            self.partialInputs.values.reduce(0) { $0 + $1.bytes.count } == self.partialBytes,
            "partial bytes do not add up")
        precondition(
            self.longRequests.keys.allSatisfy { self.calls.isTaken($0) }
                && self.longRequests.values.reduce(0) { $0 + Int($1) } == self.requestBytes,
            "the requests that calls keep do not add up")
        self.viewKeys.checkInvariants()
        precondition(unfinished == self.unfinishedFrames.count, "an unfinished frame has no connection")
        precondition(self.streams.count == Int(self.calls.count), "stream numbers and calls differ")
    }

    private func checkCallList(_ index: Int32) -> Int32 {
        let slot = self.connections[index]
        var count: Int32 = 0
        var watches: Int32 = 0
        var waiting: Int32 = 0
        var previous: Int32 = -1
        var call = slot.firstCall
        while call >= 0 {
            let entry = self.calls[call]
            precondition(entry.connection == index && entry.previousInConnection == previous, "a call list is torn")
            precondition(self.call(index, entry.stream) == call, "stream \(entry.stream) means another call")
            if entry.method.isStreaming, entry.kind != .ending { watches += 1 }
            if self.isWaitedFor(call) { waiting += 1 }
            count += 1
            previous = call
            call = entry.nextInConnection
        }
        precondition(count == slot.callCount, "connection \(index) lists \(count) calls, \(slot.callCount) counted")
        precondition(
            watches == slot.watchCount, "connection \(index) has \(watches) watches, \(slot.watchCount) counted")
        precondition(
            waiting == slot.waitingCount, "connection \(index) has \(waiting) waiting, \(slot.waitingCount) counted")
        return count
    }

    private func isWaitedFor(_ call: Int32) -> Bool {
        self.calls[call].flags.contains(.isWaiting)
    }

    private func checkDirtyList(_ index: Int32) {
        let slot = self.connections[index]
        var listed = 0
        var last: Int32 = -1
        var call = slot.firstDirty
        while call >= 0 {
            let entry = self.calls[call]
            precondition(entry.connection == index && entry.flags.contains(.isListed), "a dirty list is torn")
            listed += 1
            precondition(listed <= Int(slot.callCount), "the dirty list of connection \(index) has a ring")
            last = call
            call = entry.nextDirty
        }
        precondition(last == slot.lastDirty, "the dirty list of connection \(index) has lost its end")
        var marked = 0
        call = slot.firstCall
        while call >= 0 {
            let entry = self.calls[call]
            if entry.flags.contains(.isListed) { marked += 1 }
            let owes = !entry.flags.isDisjoint(with: [.owesLoading, .owesValue])
            precondition(!owes || entry.flags.contains(.isListed), "call \(call) owes something and is not listed")
            call = entry.nextInConnection
        }
        precondition(marked == listed, "connection \(index) lists \(listed) dirty calls, \(marked) are marked")
    }

    private func checkCalls() {
        var waiting = 0
        for call in 0..<self.calls.extent where self.calls.isTaken(call) && self.calls[call].kind == .unary {
            guard self.calls[call].target >= 0 else { continue }
            precondition(self.pendingCall(call) != nil, "call \(call) waits with nothing")
            waiting += 1
        }
        precondition(waiting + self.freePending.count == self.pending.count, "a pending call is gone")
        for (call, _) in self.callTokens {
            precondition(
                self.calls.isTaken(call) && self.calls[call].flags.contains(.hasToken), "a token's call is gone")
        }
        for (call, _) in self.lateReaders {
            precondition(
                self.calls.isTaken(call) && self.calls[call].flags.contains(.owesValue), "a late reader owes nothing")
        }
        self.waiting.checkInvariants { self.calls.isTaken($0.call, generation: $0.generation) }
    }

    private func checkViews(_ refer: (PayloadHandle) -> Void) {
        var count: Int32 = 0
        var timers = 0
        var encodings: Int32 = 0
        for view in 0..<self.views.extent where self.views.isTaken(view) {
            let slot = self.views[view]
            count += 1
            let all = self.encodings(of: view).all
            for index in all.indices { refer(all[index]) }
            if slot.encodings >= 0 { encodings += 1 }
            var watches: Int32 = 0
            var previous: Int32 = -1
            var call = slot.firstWatch
            while call >= 0 {
                let entry = self.calls[call]
                precondition(
                    entry.kind == .watch && entry.target == view && entry.previousInTarget == previous,
                    "the watches of view \(view) are torn")
                watches += 1
                previous = call
                call = entry.nextInTarget
            }
            precondition(watches == slot.watchCount && watches > 0, "view \(view) counts \(slot.watchCount) watches")
            precondition(
                self.findView(app: slot.app, account: slot.account, self.viewKeys[slot.key]) == view,
                "view \(view) is not found by its name")
            let isScheduled = slot.crossingTimer != .none
            precondition(isScheduled == (slot.crossing < .distantFuture), "view \(view) has lost its crossing")
            if isScheduled {
                timers += 1
                precondition(
                    self.crossings[slot.app]?.isScheduled(slot.crossingTimer) ?? false, "a crossing is not scheduled")
            }
        }
        precondition(count == self.views.count && Int(count) == self.viewTable.count, "views and their index differ")
        precondition(self.viewKeys.viewCount == Int(count), "the keys of views are counted wrongly")
        precondition(encodings == self.encodings.count, "encodings are leaked")
        precondition(self.crossings.values.reduce(0) { $0 + $1.count } == timers, "a crossing has no view")
        for heap in self.crossings.values { heap.checkInvariants() }
    }

    private func checkAccounts() {
        var count: Int32 = 0
        var numbered = 0
        for account in 0..<self.accounts.extent where self.accounts.isTaken(account) {
            let slot = self.accounts[account]
            count += 1
            precondition(self.findAccount(self.accountKey(account)) == account, "an account is not indexed")
            var tenants: Int32 = 0
            var previous: Int32 = -1
            var view = slot.firstView
            while view >= 0 {
                precondition(
                    self.views[view].account == account && self.views[view].previousInAccount == previous,
                    "the views of account \(account) are torn")
                tenants += 1
                previous = view
                view = self.views[view].nextInAccount
            }
            previous = -1
            var call = slot.firstUpdates
            while call >= 0 {
                precondition(
                    self.calls[call].kind == .updates && self.calls[call].target == account
                        && self.calls[call].previousInTarget == previous, "the streams of account \(account) are torn")
                tenants += 1
                previous = call
                call = self.calls[call].nextInTarget
            }
            precondition(
                tenants == slot.tenantCount && tenants > 0, "account \(account) counts \(slot.tenantCount) tenants")
            precondition(slot.news == -1, "account \(account) has news of a turn that has ended")
            if slot.hasNumber { numbered += 1 }
        }
        precondition(count == self.accounts.count && Int(count) == self.accountTable.count, "accounts and index differ")
        var listed = 0
        var numbers = 0
        for account in 0..<self.accounts.extent where self.accounts.isTaken(account) {
            let number = self.accounts[account].number
            guard self.accounts[account].hasNumber, self.firstOfNumber(number) == account else { continue }
            numbers += 1
            var slot = account
            while slot >= 0 {
                precondition(
                    self.accounts[slot].hasNumber && self.accounts[slot].number == number,
                    "an account's number is wrong")
                listed += 1
                slot = self.accounts[slot].nextOfNumber
            }
        }
        precondition(numbers == self.numberTable.count, "the table of numbers is wrong")
        precondition(listed == numbered, "\(listed) accounts listed by number, \(numbered) have one")
    }

    private func checkAdmission() {
        self.admission.handshakes.checkInvariants()
        self.admission.handshakeBytes.checkInvariants()
        self.admission.partialFrames.checkInvariants()
        self.admission.closing.checkInvariants()
        var held = 0
        for (connection, partial) in self.partialInputs
        where self.connections[connection].flags.contains(.isIdentified) {
            held += partial.bytes.count
        }
        precondition(held == self.admission.partialFrames.weight, "bytes of partial frames do not add up")
    }
}
