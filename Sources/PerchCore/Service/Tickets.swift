import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The purpose of a pending answer from the store or the server. Its number contains its slot.
enum Ticket: Hashable, BitwiseCopyable {
    /// The record of a watched account.
    case account(Int32, generation: UInt32)
    /// A unary call that waits.
    case call(Int32, generation: UInt32)
    /// The next events, or unfinished transactions, of a stream.
    case updates(Int32, generation: UInt32)
    /// A look for what other nodes have committed: see `AppSearch`.
    case look
}

extension Tables {
    /// Asks the store.
    mutating func ask(_ ticket: Ticket, _ body: consuming StoreRequest.Body) {
        self.asks.append(StoreRequest(loop: self.loop, ticket: self.issue(ticket), body))
    }

    /// A number for a new question: the ticket's slot and generation, so that answers cannot be confused.
    mutating func issue(_ ticket: Ticket) -> UInt64 {
        let place = self.tickets.insert(ticket)
        return UInt64(self.tickets.generation(place)) << 32 | UInt64(UInt32(bitPattern: place))
    }

    /// Removes a ticket for its answer; an answer without a question is a bug in Perch.
    mutating func redeem(_ number: UInt64) -> Ticket {
        let place = Int32(truncatingIfNeeded: number)
        guard self.tickets.isTaken(place, generation: UInt32(truncatingIfNeeded: number >> 32)) else {
            preconditionFailure("answer \(number) was never asked for")
        }
        let ticket = self.tickets[place]
        self.tickets.remove(place)
        return ticket
    }
}

extension LoopCore {
    mutating func redeem(_ number: UInt64) -> Ticket {
        let ticket = self.tables.redeem(number)
        self.transport.questionAnswered(ticket, &self.tables)
        return ticket
    }
}

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

extension LoopCore {
    /// Makes a unary call wait for an answer, or for another one.
    mutating func hold(_ call: Int32, _ pending: PendingCall) {
        let held = self.pendingPlace(of: call)
        if held >= 0 {
            self.service.pending[Int(held)] = pending
        } else if let place = self.service.freePending.popLast() {
            self.service.pending[Int(place)] = pending
            self.tables.calls[call].state = .unary(pending: place)
        } else {
            self.tables.calls[call].state = .unary(pending: Int32(self.service.pending.count))
            self.service.pending.append(pending)
        }
    }

    /// -1 if a call waits for nothing.
    private func pendingPlace(of call: Int32) -> Int32 {
        if case .unary(let place) = self.tables.calls[call].state { place } else { -1 }
    }

    /// The pending work of a unary call; nil if it waits for nothing.
    func pendingCall(_ call: Int32) -> PendingCall? {
        let place = self.pendingPlace(of: call)
        return place >= 0 ? self.service.pending[Int(place)] : nil
    }

    /// The question that a call waits for alone; nil: it waits for none, or others wait for the answer too.
    func question(of call: Int32) -> Ticket? {
        let generation = self.tables.calls.generation(call)
        switch self.tables.calls[call].state {
        case .order: return .call(call, generation: generation)
        case .unary(let place): return place >= 0 ? .call(call, generation: generation) : nil
        case .updates: return self.views.updates[call]?.isAsked == true ? .updates(call, generation: generation) : nil
        case .appChanges:
            return self.views.appChanges[call]?.isAsked == true ? .updates(call, generation: generation) : nil
        case .watch(let view):
            let account = self.views.slots[view].account
            guard account >= 0, self.views.accounts[account].isAsked, self.views.accounts[account].tenantCount == 1,
                self.views.slots[view].watchCount == 1
            else { return nil }
            return .account(account, generation: self.views.accounts.generation(account))
        case .several, .ending: return nil
        }
    }

    /// Drops the pending work of a unary call.
    mutating func dropPending(_ call: Int32) {
        let place = self.pendingPlace(of: call)
        guard place >= 0 else { return }
        self.tables.calls[call].state = .unary(pending: -1)
        self.service.pending[Int(place)] = nil
        self.service.freePending.append(place)
    }
}
