import PerchBase
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

    private mutating func apply(_ change: Change) {
        precondition(
            change.revision == self.tables.applied + 1, "revision \(change.revision) came after \(self.tables.applied)")
        self.tables.applied = change.revision
        self.tables.counters.changesApplied += 1
        // The store may have read the clock after this tick began. Its decisions must not show as of an earlier
        // instant.
        self.tables.now.wall = max(self.tables.now.wall, change.committed)
        self.views.took(change, &self.tables, &self.transport)
        if !change.revoked.isEmpty { self.revoke(change.revoked) }
    }

    private mutating func answered(_ number: UInt64, _ answer: consuming StoreAnswer) {
        switch self.redeem(number) {
        case .account(let slot, let generation):
            self.views.tookAnswer(answer, slot, generation: generation, &self.tables, &self.transport)
        case .call(let call, let generation):
            guard self.tables.calls.isTaken(call, generation: generation) else { return }
            switch self.tables.calls[call].state {
            case .order: self.finishOrder(call, answer)
            case .unary: self.finishUnary(call, answer)
            case .watch, .updates, .appChanges, .several, .ending: return
            }
        case .updates(let call, let generation):
            guard self.tables.calls.isTaken(call, generation: generation), self.tables.calls[call].isFeed else {
                return
            }
            if let refusal = self.views.finishUpdates(call, answer, &self.tables, &self.transport) {
                self.end(call, WireStatus(refusal))
            }
        case .look:
            self.finishAppSearch(answer)
        }
    }
}
