import PerchBase
import PerchWire

// Places of streams that ended before their question was answered.
//
// A client may reset a stream at any time: it has only met its deadline. The question to the store goes on, and costs as much as
// one whose answer is awaited. So it keeps its place among the streams of its connection until the answer comes. Beyond the
// limit of streams a call gets REFUSED_STREAM, and no connection is closed for resets, however fast they come.
extension Transport {
    /// Must be called before the call of a stream ends without its answer.
    mutating func holdPlace(of call: Int32, _ tables: inout Tables, _ views: inout some Source) {
        for part in tables.parts(of: call) { self.holdPlace(of: part, &tables, &views) }
        let index = tables.calls[call].connection
        let http = tables.connections[index].http
        guard http >= 0, let question = self.question(of: call, tables, views) else { return }
        self.http.heldPlaces[question] = HeldPlace(connection: index, generation: tables.connections.generation(index))
        self.http.connections[http].heldCount += 1
    }

    /// The question that a call waits for alone.
    private func question(of call: Int32, _ tables: borrowing Tables, _ views: borrowing some Source)
        -> Ticket?
    {
        switch tables.calls[call].state {
        case .order: .call(call, generation: tables.calls.generation(call))
        case .unary(let pending): pending >= 0 ? .call(call, generation: tables.calls.generation(call)) : nil
        case .watch, .updates, .appChanges, .copy, .several, .ending: views.question(of: call, tables)
        }
    }

    /// A question was answered. The place of its stream is free, if that had ended before.
    mutating func releasePlace(of question: Ticket, _ tables: inout Tables) {
        guard let place = self.http.heldPlaces.removeValue(forKey: question),
            tables.connections.isTaken(place.connection, generation: place.generation),
            tables.connections[place.connection].http >= 0
        else { return }
        self.http.connections[tables.connections[place.connection].http].heldCount -= 1
    }
}
