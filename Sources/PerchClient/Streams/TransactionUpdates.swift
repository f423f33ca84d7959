import PerchWire
import Synchronization

/// The events of an account's transactions: each one once, in order, over any number of connections.
///
/// Without a cursor, the unfinished transactions come first. Each iteration opens its own stream. It throws if
/// continuing would leave a gap, with `CURSOR_TOO_OLD` or another reason code: then list the transactions, and start
/// without a cursor.
///
///     for try await update in client.transactionUpdates(account: "anna") { … }
public struct TransactionUpdates: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = TransactionUpdate
    /// The sequence fails with the client's error.
    public typealias Failure = PerchError

    private let start: UpdatesStart

    init(_ start: UpdatesStart) {
        self.start = start
    }

    /// The position from which a later stream resumes: after all delivered events, and after own events that an answer
    /// has reported. Nil during the replay of unfinished transactions. If several iterations run, it belongs to the one
    /// started last; each has `TransactionUpdate.cursor`.
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

        /// The next event. Nil when the task is cancelled; later calls then return nil too, in any task.
        public mutating func next() async throws(PerchError) -> TransactionUpdate? {
            try await self.next(isolation: nil)
        }

        /// The next event, on the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(PerchError) -> TransactionUpdate? {
            while let item = try await self.reader.next() {
                if let update = item.update { return update }
            }
            return nil
        }
    }
}

/// The starting point of every iteration.
final class UpdatesStart: Sendable {
    let client: PerchClient
    let request: EventsRequest
    let includesOwn: Bool
    let place: Mutex<Place>

    /// The place of the iteration that started last.
    struct Place {
        var reader: ItemID = 0
        var cursor: UpdateCursor?
    }

    init(_ client: PerchClient, _ request: EventsRequest, includesOwn: Bool) {
        self.client = client
        self.request = request
        self.includesOwn = includesOwn
        self.place = Mutex(Place(cursor: Self.cursor(of: request)))
    }

    static func cursor(of request: EventsRequest) -> UpdateCursor? {
        request.start.isEmpty ? nil : UpdateCursor(bytes: request.start)
    }
}

/// One iteration. It ends when its task is cancelled, at the end of the stream, or when it is released.
final class UpdatesReader: Sendable {
    let start: UpdatesStart
    let cell = UpdateCell()
    private let id: ItemID
    private let hasEnded = Atomic<Bool>(false)

    init(_ start: UpdatesStart) {
        self.start = start
        let id = start.client.loop.newID()
        self.id = id
        start.place.withLock {
            $0 = UpdatesStart.Place(reader: id, cursor: UpdatesStart.cursor(of: start.request))
        }
        start.client.post(.follow(self.id, start.request, includesOwn: start.includesOwn, self.cell))
    }

    /// The next item. Nil when the task is cancelled.
    func next() async throws(PerchError) -> UpdateItem? {
        guard !self.isOver else { return nil }
        switch await self.cell.next() {
        case .item(let item, let resumes):
            if resumes { self.resume() }
            if let cursor = item.cursor { self.passed(cursor) }
            return item
        case .end(let error):
            self.end()
            guard let error else { return nil }
            throw error
        }
    }

    /// Notes that everything before this cursor was delivered.
    func passed(_ cursor: UpdateCursor) {
        self.start.place.withLock { if $0.reader == self.id { $0.cursor = cursor } }
    }

    var isOver: Bool { self.hasEnded.load(ordering: .relaxed) }

    func resume() { self.start.client.post(.resume(self.id)) }

    func end() {
        if !self.hasEnded.exchange(true, ordering: .relaxed) { self.start.client.post(.unfollow(self.id)) }
    }

    deinit { self.end() }
}
