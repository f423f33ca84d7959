import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The rest of a unary call's work, after its answer arrives. Stored beside the slabs; the state of a waiting
/// call names its place.
struct PendingCall {
    var request: Request
    var app: AppNumber
    /// What the method gets back with the answer.
    var kept = ""
    /// The store has the answer, not the server.
    var asksStore = false
    /// Why the call is refused once a dead letter is kept.
    var refusal: WireStatus?
    /// Values of a submission that were not taken.
    var refusedValues: [RefusedValue] = []
}

extension Service {
    /// Makes a unary call wait for an answer, or for another one.
    mutating func hold(_ call: Int32, _ pending: PendingCall, _ tables: inout Tables) {
        let held = self.pendingPlace(of: call, tables)
        if held >= 0 {
            self.pending[Int(held)] = pending
        } else if let place = self.freePending.popLast() {
            self.pending[Int(place)] = pending
            tables.calls[call].state = .unary(pending: place)
        } else {
            tables.calls[call].state = .unary(pending: Int32(self.pending.count))
            self.pending.append(pending)
        }
    }

    /// -1 if a call waits for nothing.
    private func pendingPlace(of call: Int32, _ tables: borrowing Tables) -> Int32 {
        if case .unary(let place) = tables.calls[call].state { place } else { -1 }
    }

    /// The pending work of a unary call; nil if it waits for nothing.
    func pendingCall(_ call: Int32, _ tables: borrowing Tables) -> PendingCall? {
        let place = self.pendingPlace(of: call, tables)
        return place >= 0 ? self.pending[Int(place)] : nil
    }

    /// Drops the pending work of a unary call.
    mutating func dropPending(_ call: Int32, _ tables: inout Tables) {
        let place = self.pendingPlace(of: call, tables)
        guard place >= 0 else { return }
        tables.calls[call].state = .unary(pending: -1)
        self.pending[Int(place)] = nil
        self.freePending.append(place)
    }
}
