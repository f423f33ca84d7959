import Synchronization

/// The changes of all accounts of an app: each one once, in order, over any number of connections.
///
/// Each iteration opens its own stream. It throws if going on would leave a gap, with `CURSOR_TOO_OLD` or another reason
/// code: then read the accounts that matter, and start without a cursor.
///
///     for try await change in client.appChanges(after: stored) {
///         try await handle(change)      // then keep change.cursor: a crash in between delivers it again
///     }
public struct AppChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = AppChange
    /// The sequence fails with the client's error.
    public typealias Failure = PerchError

    private let start: UpdatesStart

    init(_ start: UpdatesStart) {
        self.start = start
    }

    /// The place from which a later stream goes on: after all delivered changes, and after those that the filter left out.
    /// If several iterations run, it belongs to the one started last; each has `AppChange.cursor`.
    public var cursor: UpdateCursor? { self.start.place.withLock { $0.cursor } }

    /// Starts an iteration.
    public func makeAsyncIterator() -> Iterator {
        Iterator(UpdatesReader(self.start))
    }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: UpdatesReader

        init(_ reader: UpdatesReader) {
            self.reader = reader
        }

        /// The next change. Nil when the task is cancelled; later calls then return nil too, in any task.
        public mutating func next() async throws(PerchError) -> AppChange? {
            try await self.next(isolation: nil)
        }

        /// The next change, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PerchError) -> AppChange? {
            while let item = try await self.reader.next() {
                if let change = item.change { return change }
            }
            return nil
        }
    }
}
