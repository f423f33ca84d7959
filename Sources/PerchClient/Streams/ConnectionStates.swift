/// What a client's connection is doing: now, and at each change. A slow consumer skips states between, never the last.
public struct ConnectionStates: AsyncSequence, Sendable {
    public typealias Element = ConnectionState
    public typealias Failure = Never

    private let client: PerchClient
    private let cell: LatestCell<ConnectionState>

    init(_ client: PerchClient, _ cell: LatestCell<ConnectionState>) {
        self.client = client
        self.cell = cell
    }

    /// What it is doing now.
    public var current: ConnectionState { self.cell.state }

    public func makeAsyncIterator() -> Iterator { Iterator(self.client, self.cell) }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        /// A client lives as long as somebody looks at what came from it.
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

        public mutating func next(isolation actor: isolated (any Actor)?) async -> ConnectionState? {
            await self.cell.next(after: &self.seen)
        }
    }
}
