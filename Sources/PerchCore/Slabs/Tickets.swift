import PerchStore

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
