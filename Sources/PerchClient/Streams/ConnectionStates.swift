/// The states of a client's connection: the current one, and each newer one. A slow consumer skips states, never the last.
public struct ConnectionStates: AsyncSequence, Sendable {
    /// One connection state.
    public typealias Element = ConnectionState
    public typealias Failure = Never

    private let client: PerchClient
    private let cell: LatestCell<ConnectionState>

    init(_ client: PerchClient, _ cell: LatestCell<ConnectionState>) {
        self.client = client
        self.cell = cell
    }

    /// The current state.
    public var current: ConnectionState { self.cell.state }

    /// Starts an iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(self.client, self.cell) }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the client alive during the iteration.
        private let client: PerchClient
        private let cell: LatestCell<ConnectionState>
        private var seen: UInt64 = 0

        init(_ client: PerchClient, _ cell: LatestCell<ConnectionState>) {
            self.client = client
            self.cell = cell
        }

        /// The next state; nil after `closed`, and when the task is cancelled.
        public mutating func next() async -> ConnectionState? {
            await self.next(isolation: nil)
        }

        /// The next connection state, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ConnectionState? {
            await self.cell.next(after: &self.seen)
        }
    }
}
