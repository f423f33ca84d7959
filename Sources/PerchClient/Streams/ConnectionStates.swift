import PerchBase
import Synchronization

/// The states of a client's connection: the current one, and each newer one. A slow consumer skips states, never the last.
public struct ConnectionStates: AsyncSequence, Sendable {
    /// One connection state.
    public typealias Element = ConnectionState
    /// The sequence does not fail.
    public typealias Failure = Never

    private let client: PerchClient
    private let cell: ConnectionCell

    init(_ client: PerchClient, _ cell: ConnectionCell) {
        self.client = client
        self.cell = cell
    }

    /// The current state.
    public var current: ConnectionState { self.cell.states.state }

    /// Starts an iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(self.client, self.cell) }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the client alive during the iteration.
        private let client: PerchClient
        private let cell: ConnectionCell
        private var seen: UInt64 = 0

        init(_ client: PerchClient, _ cell: ConnectionCell) {
            self.client = client
            self.cell = cell
        }

        /// The next state; nil after `closed`, and when the task is cancelled.
        public mutating func next() async -> ConnectionState? {
            await self.next(isolation: nil)
        }

        /// The next connection state, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ConnectionState? {
            await self.cell.states.next(after: &self.seen)
        }
    }
}

/// What callers see of a connection: its states, and since when there is none.
final class ConnectionCell: Sendable {
    let states = LatestCell<ConnectionState>(.idle)
    /// Milliseconds of the wall clock; `Int64.min` while there is a connection, or none is needed.
    private let since = Atomic<Int64>(.min)

    /// Since when there is no connection although a call or a stream needs one.
    var disconnectedSince: Instant? {
        let since = self.since.load(ordering: .relaxed)
        return since == .min ? nil : Instant(milliseconds: since)
    }

    /// May be called on any thread. Returns the waiting readers; `closed` is the last state.
    func set(_ state: ConnectionState, disconnectedSince: Instant?) -> [LatestCell<ConnectionState>.Waiter] {
        self.since.store(disconnectedSince?.milliseconds ?? .min, ordering: .relaxed)
        let waiters = self.states.set(state)
        return state == .closed ? waiters + self.states.end() : waiters
    }

    func close() -> [LatestCell<ConnectionState>.Waiter] { self.set(.closed, disconnectedSince: nil) }
}
