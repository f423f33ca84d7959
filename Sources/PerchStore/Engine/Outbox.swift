extension StoreEngine {
    /// The events of one run: a list for each loop, each in commit order.
    package struct Outbox: Sendable {
        package var events: [[StoreEvent]]
        /// The loops that receive every change. The lists behind them belong to askers that receive answers only.
        let loops: Int

        package init(loops: Int, askers: Int = 0) {
            self.loops = loops
            self.events = Array(repeating: [], count: loops + askers)
        }

        /// Empties it for the next run.
        package mutating func clear() {
            for place in self.events.indices where !self.events[place].isEmpty { self.events[place] = [] }
        }

        /// Reserves capacity for changes, and for the answers if there is only one loop.
        mutating func reserve(changes: Int, answers: Int) {
            for loop in 0..<self.loops {
                self.events[loop].reserveCapacity(
                    self.events[loop].count + changes + (self.loops == 1 ? answers : 0))
            }
        }

        mutating func broadcast(_ event: StoreEvent) {
            for loop in 0..<self.loops { self.events[loop].append(event) }
        }

        mutating func answer(_ request: StoreRequest, _ answer: StoreAnswer) {
            self.answer(loop: request.loop, ticket: request.ticket, answer)
        }

        mutating func answer(loop: Int, ticket: UInt64, _ answer: consuming StoreAnswer) {
            self.events[loop].append(.answer(ticket: ticket, answer))
        }
    }
}
