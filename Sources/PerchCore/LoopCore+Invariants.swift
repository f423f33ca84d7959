import PerchBase
import PerchModel
import PerchWire

// Invariants of a loop's tables between two ticks. Linear in size; for tests and the simulator.
extension LoopCore {
    /// Traps if the tables contradict each other. Must be called between ticks.
    package func checkInvariants() {
        var references: [Int32: Int32] = [:]
        func refer(_ payload: PayloadHandle) {
            if !payload.isNone { references[payload.index, default: 0] += 1 }
        }
        refer(self.views.loading)
        refer(self.transport.okStatus)
        for payload in self.transport.http.files.values { refer(payload) }
        refer(self.transport.welcomed.payload)
        self.transport.checkHTTP(refer, self.tables)
        self.checkConnections(refer)
        self.checkCalls()
        self.checkViews(refer)
        self.checkAccounts()
        self.checkIdentities()
        for (call, state) in self.views.updates {
            precondition(
                self.tables.calls.isTaken(call) && self.tables.calls[call].state == .updates(account: state.account),
                "events for call \(call), which is gone")
            precondition(state.taken <= state.ready.count, "call \(call) took more events than there were")
            for event in state.ready[state.taken...] { refer(event.payload) }
        }
        for (call, state) in self.views.appChanges {
            precondition(
                self.tables.calls.isTaken(call) && self.tables.calls[call].state == .appChanges,
                "changes for call \(call), which is gone"
            )
            precondition(state.taken <= state.ready.count, "call \(call) took more changes than there were")
            for event in state.ready[state.taken...] { refer(event.payload) }
        }
        for (call, state) in self.views.appStreams.copies {
            precondition(
                self.tables.calls.isTaken(call) && self.tables.calls[call].state == .copy,
                "a copy for call \(call), which is gone")
            precondition(state.taken <= state.ready.count, "call \(call) took more batches than there were")
            for event in state.ready[state.taken...] { refer(event.payload) }
        }
        precondition(self.views.appStreams.encodedBatches.isEmpty, "batches of a tick that has ended")
        precondition(
            self.views.encodedChanges.isEmpty && self.views.appStreams.changesToAsk.isEmpty,
            "changes of a tick that has ended")
        self.tables.payloads.checkInvariants(references)
        var accountTickets = 0
        for place in 0..<self.tables.tickets.extent where self.tables.tickets.isTaken(place) {
            if case .account = self.tables.tickets[place] { accountTickets += 1 }
        }
        precondition(
            self.views.loads.asked == self.views.loads.answered + UInt64(accountTickets),
            "\(self.views.loads.asked) records asked, \(self.views.loads.answered) answered, \(accountTickets) under way"
        )
        self.tables.deadlines.checkInvariants()
        self.transport.beats.checkInvariants()
        self.transport.stalls.checkInvariants()
    }

    /// Traps if any state is left after all connections are gone.
    package func checkIsEmpty() {
        self.checkInvariants()
        precondition(self.tables.connections.count == 0, "\(self.tables.connections.count) connections are left")
        precondition(self.tables.calls.count == 0, "\(self.tables.calls.count) calls are left")
        precondition(self.transport.unsent.count == 0, "\(self.transport.unsent.count) unsent frames are left")
        precondition(self.views.slots.count == 0, "\(self.views.slots.count) views are left")
        precondition(self.views.accounts.count == 0, "\(self.views.accounts.count) accounts are left")
        let kept = 2 + self.transport.http.heads.count + self.transport.lastingFormCount(self.tables, self.views)
        precondition(self.tables.payloads.count == kept, "\(self.tables.payloads.count - kept) payloads are leaked")
        precondition(
            self.transport.http.connections.count == 0 && self.transport.http.streams.count == 0
                && self.transport.http.table.count == 0 && self.transport.http.requests.isEmpty
                && self.transport.http.heads1.isEmpty && self.transport.work.waiting.isEmpty
                && self.transport.http.blocks.isEmpty && self.transport.http.closed.isEmpty
                && self.transport.http.lengths.isEmpty && self.transport.http.heldPlaces.isEmpty
                && self.transport.http.healthWatches.isEmpty
                && self.transport.http.clientIDs.isEmpty && self.transport.http.origins.isEmpty
                && self.tables.payloads.forms.keys.allSatisfy { $0 == self.views.loading.index }
                && self.transport.http.bookmark.isNone,
            "connections of HTTP are left")
        precondition(self.transport.streams.count == 0, "\(self.transport.streams.count) stream numbers are left")
        precondition(self.tables.tickets.count == 0, "\(self.tables.tickets.count) tickets are left")
        precondition(self.service.appSearch.isEmpty, "\(self.service.appSearch.count) calls look for their app")
        precondition(self.service.waiting.isEmpty, "\(self.service.waiting.count) waiters are left")
        precondition(
            self.service.pending.count == self.service.freePending.count && self.tables.callTokens.isEmpty
                && self.tables.carried.wholes.isEmpty
                && self.views.updates.isEmpty && self.views.appChanges.isEmpty && self.views.appStreams.copies.isEmpty,
            "calls are left")
        precondition(
            self.service.room.requests.isEmpty && self.service.room.bytes == 0
                && self.views.accountKeys.keptBytes == 0,
            "what calls said is left")
        precondition(
            self.views.viewTable.count == 0 && self.views.accountTable.count == 0 && self.views.viewKeys.count == 0,
            "an index is not empty")
        precondition(self.views.encodings.count == 0, "\(self.views.encodings.count) encodings are left")
        precondition(self.views.numberTable.count == 0, "numbers of accounts are left")
        precondition(self.transport.negotiated.isEmpty, "protocols of connections are left")
        precondition(
            self.transport.clientIDs.isEmpty && self.transport.certificates.isEmpty, "names of clients are left")
        precondition(
            self.transport.admission.origins.isEmpty && self.service.callIdentities.isEmpty
                && self.service.credentialFailures.isEmpty,
            "what quotas count is left")
        precondition(
            self.transport.partialInputs.isEmpty && self.transport.partialBytes == 0,
            "\(self.transport.partialBytes) partial bytes are left")
        precondition(
            self.transport.unfinishedFrames.isEmpty,
            "\(self.transport.unfinishedFrames.count) unfinished frames are left")
        precondition(
            self.transport.admission.closing.isEmpty && self.transport.handshakes == 0
                && self.transport.admission.refused.isEmpty, "\(self.transport.handshakes) handshakes are left")
        precondition(self.transport.beats.count == 0 && self.transport.stalls.count == 0, "a wheel is not empty")
        precondition(self.views.crossings.values.allSatisfy { $0.count == 0 }, "crossings are left")
        precondition(self.views.sweep.isEmpty && self.views.loads.barriers.isEmpty, "a sweep or a barrier is left")
    }

    private func checkIdentities() {
        var uses: [UInt32: Int] = [:]
        for connection in 0..<self.tables.connections.extent where self.tables.connections.isTaken(connection) {
            let slot = self.tables.connections[connection]
            guard slot.flags.contains(.isCounted) else {
                precondition(slot.identity == IdentityTable.nobody, "connection \(connection) is somebody's, uncounted")
                continue
            }
            precondition(slot.phase == .open, "connection \(connection) counts for an identity, but is not open")
            if slot.identity != IdentityTable.nobody { uses[slot.identity, default: 0] += 1 }
        }
        for (call, identity) in self.service.callIdentities {
            precondition(self.tables.calls.isTaken(call), "a call that is gone has an identity")
            if identity != IdentityTable.nobody { uses[identity, default: 0] += 1 }
        }
        self.service.identities.checkInvariants(uses: uses)
    }

    private func checkConnections(_ refer: (PayloadHandle) -> Void) {
        var callCount: Int32 = 0
        var unsentCount: Int32 = 0
        var greeting = 0
        var partial = 0
        var unfinished = 0
        for index in 0..<self.tables.connections.extent where self.tables.connections.isTaken(index) {
            let slot = self.tables.connections[index]
            callCount += self.checkCallList(index)
            var unsent = slot.firstUnsent
            var last: Int32 = -1
            var bytes = 0
            while unsent >= 0 {
                let entry = self.transport.unsent[unsent]
                refer(entry.payload)
                bytes += self.tables.payloads[entry.payload].count + 4
                unsentCount += 1
                if entry.endsCall >= 0 {
                    precondition(
                        self.tables.calls.isTaken(entry.endsCall) && self.tables.calls[entry.endsCall].isEnding,
                        "a status is pending for a call that does not end")
                }
                last = unsent
                unsent = entry.next
            }
            precondition(
                last == slot.lastUnsent && bytes == Int(slot.unsentBytes), "the unsent frames of \(index) are torn")
            self.checkDirtyList(index)
            let holdsSlot = slot.phase.takesFrames && !slot.flags.contains(.isIdentified)
            precondition(
                self.transport.admission.handshakes.contains(index) == holdsSlot,
                "connection \(index) lost its handshake slot")
            if holdsSlot { greeting += 1 }
            let isClosing = slot.phase == .closing || slot.phase == .dying
            precondition(
                self.transport.admission.closing.contains(index) == isClosing,
                "connection \(index) is listed wrongly as dying")
            precondition(
                slot.flags.contains(.hasPartialInput) == (self.transport.partialInputs[index] != nil),
                "the partial input of connection \(index) is lost")
            if slot.flags.contains(.hasPartialInput) { partial += 1 }
            precondition(
                (slot.unfinished >= 0) == (self.transport.unfinishedFrames[index] != nil),
                "the unfinished frame of connection \(index) is lost")
            if let rest = self.transport.unfinishedFrames[index] {
                for piece in rest.pieces { refer(piece.payload) }
                unfinished += 1
            }
            precondition(
                slot.flags.contains(.isListed)
                    == self.transport.listedConnections[self.transport.plannedCount...].contains(index),
                "connection \(index) is listed wrongly as having something to write")
            precondition(
                self.transport.beats.contains(index) == (slot.phase == .open),
                "connection \(index) has lost its heartbeat")
        }
        precondition(
            callCount == self.tables.calls.count, "\(callCount) calls in lists, \(self.tables.calls.count) in the slab")
        precondition(
            self.tables.counters.callsOpened - self.tables.counters.callsEnded == UInt64(callCount),
            "\(self.tables.counters.callsOpened) calls opened, \(self.tables.counters.callsEnded) ended, and \(callCount) are there"
        )
        precondition(
            unsentCount + self.transport.httpUnsentCount == self.transport.unsent.count,
            "\(unsentCount) unsent frames in lists, \(self.transport.unsent.count) in the slab")
        self.checkAdmission()
        precondition(
            greeting == self.transport.handshakes, "\(greeting) connections greet, \(self.transport.handshakes) counted"
        )
        precondition(partial == self.transport.partialInputs.count, "a partial input has no connection")
        precondition(
            self.transport.partialInputs.values.reduce(0) { $0 + $1.bytes.count } == self.transport.partialBytes,
            "partial bytes do not add up")
        precondition(unfinished == self.transport.unfinishedFrames.count, "an unfinished frame has no connection")
        precondition(
            self.transport.streams.count + self.transport.httpCallCount + self.tables.carried.parts.count
                == Int(self.tables.calls.count),
            "stream numbers and calls differ")
    }

    private func checkCallList(_ index: Int32) -> Int32 {
        let slot = self.tables.connections[index]
        var count: Int32 = 0
        var watches: Int32 = 0
        var waiting: Int32 = 0
        var previous: Int32 = -1
        var call = slot.firstCall
        while call >= 0 {
            let entry = self.tables.calls[call]
            precondition(entry.connection == index && entry.previousInConnection == previous, "a call list is torn")
            let named =
                self.tables.part(call) == nil
                ? slot.wire.isHTTP
                    ? self.transport.http.streams[Int32(bitPattern: entry.stream)].call
                    : self.transport.call(index, entry.stream, self.tables)
                : call
            precondition(named == call, "stream \(entry.stream) means another call")
            if entry.method.isStreaming, !entry.isEnding { watches += 1 }
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
        if self.tables.calls[call].flags.contains(.isWaiting) { return true }
        return self.views.isBehindClock(call, self.tables)
    }

    private func checkDirtyList(_ index: Int32) {
        let slot = self.tables.connections[index]
        var listed = 0
        var last: Int32 = -1
        var call = slot.firstDirty
        while call >= 0 {
            let entry = self.tables.calls[call]
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
            let entry = self.tables.calls[call]
            if entry.flags.contains(.isListed) { marked += 1 }
            let hasUnsent = !entry.flags.isDisjoint(with: [.hasUnsentLoading, .hasUnsentValue])
            precondition(
                !hasUnsent || entry.flags.contains(.isListed) || slot.wire.isHTTP,
                "call \(call) has pending output but is not listed")
            call = entry.nextInConnection
        }
        precondition(marked == listed, "connection \(index) lists \(listed) dirty calls, \(marked) are marked")
    }

    private func checkCalls() {
        var waiting = 0
        for call in 0..<self.tables.calls.extent where self.tables.calls.isTaken(call) {
            guard case .unary(let pending) = self.tables.calls[call].state, pending >= 0 else { continue }
            precondition(self.service.pendingCall(call, self.tables) != nil, "call \(call) waits with nothing")
            waiting += 1
        }
        precondition(waiting + self.service.freePending.count == self.service.pending.count, "a pending call is gone")
        for (call, _) in self.tables.callTokens {
            precondition(
                self.tables.calls.isTaken(call) && self.tables.calls[call].flags.contains(.hasToken),
                "a token's call is gone")
        }
        for (call, _) in self.views.lateReaders {
            precondition(
                self.tables.calls.isTaken(call) && self.tables.calls[call].flags.contains(.hasUnsentValue),
                "a late reader has nothing unsent")
        }
        for (part, place) in self.tables.carried.parts {
            precondition(
                self.tables.calls.isTaken(part) && self.tables.calls.isTaken(place.whole)
                    && self.tables.calls[place.whole].state == .several
                    && self.tables.calls[part].stream == self.tables.calls[place.whole].stream
                    && self.tables.carried.wholes[place.whole]?.contains(part) == true,
                "a watch has lost the call that carries it")
        }
        precondition(
            self.tables.carried.wholes.values.reduce(0) { $0 + $1.count } == self.tables.carried.parts.count,
            "a call carries a watch that is gone")
        precondition(
            self.service.room.requests.keys.allSatisfy { self.tables.calls.isTaken($0) }
                && self.service.room.requests.values.reduce(0) { $0 + Int($1) } == self.service.room.bytes,
            "the requests that calls keep do not add up")
        self.service.appSearch.checkInvariants { self.tables.calls.isTaken($0.call, generation: $0.generation) }
        self.service.waiting.checkInvariants { self.tables.calls.isTaken($0.call, generation: $0.generation) }
    }

    private func checkViews(_ refer: (PayloadHandle) -> Void) {
        var count: Int32 = 0
        var timers = 0
        var encodings: Int32 = 0
        var failed = 0
        for view in 0..<self.views.slots.extent where self.views.slots.isTaken(view) {
            let slot = self.views.slots[view]
            count += 1
            let all = self.views.encodings(of: view).all
            for index in all.indices { refer(all[index]) }
            if slot.encodings >= 0 { encodings += 1 }
            if slot.hasFailed { failed += 1 }
            var watches: Int32 = 0
            var previous: Int32 = -1
            var call = slot.firstWatch
            while call >= 0 {
                let entry = self.tables.calls[call]
                precondition(
                    entry.state == .watch(view: view) && entry.previousInTarget == previous,
                    "the watches of view \(view) are torn")
                watches += 1
                previous = call
                call = entry.nextInTarget
            }
            precondition(watches == slot.watchCount && watches > 0, "view \(view) counts \(slot.watchCount) watches")
            precondition(
                self.views.findView(app: slot.app, account: slot.account, self.views.viewKeys[slot.key]) == view,
                "view \(view) is not found by its name")
            let isScheduled = slot.crossingTimer != .none
            precondition(isScheduled == (slot.crossing < .distantFuture), "view \(view) has lost its crossing")
            if isScheduled {
                timers += 1
                precondition(
                    self.views.crossings[slot.app]?.isScheduled(slot.crossingTimer) ?? false,
                    "a crossing is not scheduled")
            }
        }
        precondition(
            count == self.views.slots.count && Int(count) == self.views.viewTable.count, "views and their index differ")
        self.views.viewKeys.checkInvariants()
        precondition(self.views.viewKeys.viewCount == Int(count), "the keys of views are counted wrongly")
        precondition(encodings == self.views.encodings.count, "encodings are leaked")
        precondition(
            failed == self.views.failedViewCount, "\(failed) views failed, \(self.views.failedViewCount) counted")
        timers += self.views.appChanges.values.filter { $0.timer != .none }.count
        precondition(self.views.crossings.values.reduce(0) { $0 + $1.count } == timers, "a crossing has no view")
        for heap in self.views.crossings.values { heap.checkInvariants() }
    }

    private func checkAccounts() {
        var count: Int32 = 0
        var numbered = 0
        for account in 0..<self.views.accounts.extent where self.views.accounts.isTaken(account) {
            let slot = self.views.accounts[account]
            count += 1
            precondition(self.views.findAccount(self.views.accountKey(account)) == account, "an account is not indexed")
            var holders: Int32 = 0
            var previous: Int32 = -1
            var view = slot.firstView
            while view >= 0 {
                precondition(
                    self.views.slots[view].account == account && self.views.slots[view].previousInAccount == previous,
                    "the views of account \(account) are torn")
                holders += 1
                previous = view
                view = self.views.slots[view].nextInAccount
            }
            previous = -1
            var call = slot.firstUpdates
            while call >= 0 {
                precondition(
                    self.tables.calls[call].state == .updates(account: account)
                        && self.tables.calls[call].previousInTarget == previous,
                    "the streams of account \(account) are torn")
                holders += 1
                previous = call
                call = self.tables.calls[call].nextInTarget
            }
            precondition(
                holders == slot.holderCount && holders > 0, "account \(account) counts \(slot.holderCount) holders")
            precondition(slot.news == -1, "account \(account) has news of a turn that has ended")
            if slot.hasNumber { numbered += 1 }
        }
        precondition(
            count == self.views.accounts.count && Int(count) == self.views.accountTable.count,
            "accounts and index differ")
        var listed = 0
        var numbers = 0
        for account in 0..<self.views.accounts.extent where self.views.accounts.isTaken(account) {
            let number = self.views.accounts[account].number
            guard self.views.accounts[account].hasNumber, self.views.firstOfNumber(number) == account else { continue }
            numbers += 1
            var slot = account
            while slot >= 0 {
                precondition(
                    self.views.accounts[slot].hasNumber && self.views.accounts[slot].number == number,
                    "an account's number is wrong")
                listed += 1
                slot = self.views.accounts[slot].nextOfNumber
            }
        }
        precondition(numbers == self.views.numberTable.count, "the table of numbers is wrong")
        precondition(listed == numbered, "\(listed) accounts listed by number, \(numbered) have one")
    }

    private func checkAdmission() {
        self.transport.admission.handshakes.checkInvariants()
        self.transport.admission.handshakeBytes.checkInvariants()
        self.transport.admission.partialFrames.checkInvariants()
        self.transport.admission.closing.checkInvariants()
        var held = 0
        for (connection, partial) in self.transport.partialInputs
        where self.tables.connections[connection].flags.contains(.isIdentified) {
            held += partial.bytes.count
        }
        for index in 0..<self.tables.connections.extent
        where self.tables.connections.isTaken(index) && self.tables.connections[index].http >= 0
            && self.tables.connections[index].flags.contains(.isIdentified)
        {
            held += Int(self.transport.http.connections[self.tables.connections[index].http].heldBytes)
        }
        precondition(held == self.transport.admission.partialFrames.weight, "bytes of partial frames do not add up")
    }
}
