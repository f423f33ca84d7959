import PerchBase
package import PerchIdentity
import PerchModel
package import PerchStore
import PerchWire

// The store's events: each part gets what is for it.
extension LoopCore {
    /// Applies the store's events of a tick, in commit order. Takes each out of the list, because iterating would copy
    /// it with all its references. The list is then empty and keeps its capacity.
    package mutating func handle(_ events: inout [StoreEvent]) {
        for place in events.indices {
            if place % Limits.prefetchedAtOnce == 0 { self.views.prefetch(events, from: place) }
            var event = StoreEvent.taken
            swap(&event, &events[place])
            self.handle(event)
        }
        events.removeAll(keepingCapacity: true)
    }

    package mutating func handle(_ event: consuming StoreEvent) {
        switch consume event {
        case .change(let change): self.apply(change)
        case .answer(let number, let answer): self.answered(number, answer)
        case .barrier(let number): self.views.holdBarrier(number)
        case .failed(let message): self.tables.storeFailure = message
        }
    }

    /// The server's own answer to a control request.
    package mutating func handle(control number: UInt64, _ answer: ControlAnswer) {
        guard case .call(let call, let generation) = self.redeem(number) else {
            preconditionFailure("control answer \(number) is for no call")
        }
        self.service.finishControl(call, generation: generation, answer, &self.tables, &self.views, &self.transport)
    }

    /// Replaces the authenticator. Identities of removed keys and names end.
    package mutating func trust(_ authenticator: Authenticator) {
        self.service.trust(authenticator, &self.tables, &self.views, &self.transport)
    }

    private mutating func redeem(_ number: UInt64) -> Ticket {
        let ticket = self.tables.redeem(number)
        self.transport.questionAnswered(ticket, &self.tables)
        return ticket
    }

    private mutating func apply(_ change: Change) {
        precondition(
            change.revision == self.tables.applied + 1, "revision \(change.revision) came after \(self.tables.applied)")
        self.tables.applied = change.revision
        self.tables.counters.changesApplied += 1
        // The store may have read the clock after this tick began. Its decisions must not show as of an earlier
        // instant.
        self.tables.now.wall = max(self.tables.now.wall, change.committed)
        self.views.took(change, &self.tables, &self.transport)
        if !change.revoked.isEmpty { self.service.revoke(change.revoked, &self.tables, &self.views, &self.transport) }
    }

    private mutating func answered(_ number: UInt64, _ answer: consuming StoreAnswer) {
        switch self.redeem(number) {
        case .account(let slot, let generation):
            self.views.tookAnswer(answer, slot, generation: generation, &self.tables, &self.transport)
        case .call(let call, let generation):
            guard self.tables.calls.isTaken(call, generation: generation) else { return }
            switch self.tables.calls[call].state {
            case .order: self.service.finishOrder(call, answer, &self.tables, &self.views, &self.transport)
            case .unary: self.service.finishUnary(call, answer, &self.tables, &self.views, &self.transport)
            case .watch, .updates, .appChanges, .copy, .several, .ending: return
            }
        case .updates(let call, let generation):
            guard self.tables.calls.isTaken(call, generation: generation), self.tables.calls[call].isFeed else {
                return
            }
            if let refusal = self.views.finishUpdates(call, answer, &self.tables, &self.transport) {
                self.service.end(call, WireStatus(refusal), &self.tables, &self.views, &self.transport)
            }
        case .look:
            self.service.finishAppSearch(answer, &self.tables, &self.views, &self.transport)
        }
    }
}
