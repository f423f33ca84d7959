public import PerchBase
import PerchWire
import Synchronization

/// A state stream: the newest state, and each newer one.
///
/// The stream is open while at least one task iterates over it, over any number of connections. It has no queue: a slow
/// consumer skips states, never the last, and never sees the same value twice in a row. When all iterations have ended, by
/// `break` or by cancelling their tasks, the client cancels the call. A later iteration starts with `loading`; the server does
/// not send an unchanged value again. An iteration beside another one sees the newest state at once.
///
///     for await state in client.subscriptionStatusTask(account: "anna", group: "premium") {
///         if case .success(let statuses, let info) = state { … }
///     }
public struct EntitlementTask<Value: Hashable & Sendable>: AsyncSequence, Sendable {
    /// One state.
    public typealias Element = EntitlementTaskState<Value>
    /// The sequence does not fail: a failure is a state.
    public typealias Failure = Never

    private let watch: OpenWatch<Value>

    init(_ watch: OpenWatch<Value>) {
        self.watch = watch
    }

    /// The newest state; `loading` before the first iteration.
    public var current: EntitlementTaskState<Value> { self.watch.cell.state }

    /// Since when the server cannot be reached, by the wall clock; nil while it can. The newest state is at least as old.
    public var disconnectedSince: Instant? { self.watch.client.disconnectedSince }

    /// The last good value. It is kept through failures and lost connections, while a task iterates.
    public var last: Value? { self.watch.cell.state.value }

    /// The same stream, started after the value of `token`: a `ValueInfo.token` that may be kept across processes.
    ///
    /// If that value is current, the server answers `unchanged` instead of sending it. A refused token, of another view
    /// or another store, is a final failure, because a start without it would hide the refusal.
    public func since(_ token: [UInt8]) -> EntitlementTask { EntitlementTask(self.watch.since(token)) }

    /// Starts an iteration.
    public func makeAsyncIterator() -> Iterator {
        Iterator(WatchReader(self.watch))
    }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: WatchReader<Value>
        private var seen: UInt64 = 0

        init(_ reader: WatchReader<Value>) {
            self.reader = reader
        }

        /// The next state. Nil after a final failure, such as `CLOSED`, and when the task is cancelled;
        /// later calls then return nil too, in any task. For a time limit, race the whole loop and not `next`.
        public mutating func next() async -> EntitlementTaskState<Value>? {
            await self.next(isolation: nil)
        }

        /// The next state, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> EntitlementTaskState<Value>? {
            guard !self.reader.isOver else { return nil }
            let state = await self.reader.watch.cell.next(after: &self.seen)
            if state == nil { self.reader.end() }
            return state
        }
    }
}

/// The shared part of all iterations over one stream: its cell and their number.
///
/// Sendable without a claim: the mutable state is in `cell` and behind `open`. The lock of `open` is held while
/// commands are posted, so that opening and closing reach the loop in order.
final class OpenWatch<Value: Hashable & Sendable>: Sendable {
    let client: PerchClient
    let request: Request
    let atLeast: Position?
    private let token: [UInt8]
    let cell = LatestCell<EntitlementTaskState<Value>>(.loading)
    private let wrap: @Sendable (Value) -> WatchValue
    private let unwrap: @Sendable (WatchValue) -> Value?
    private let open = Mutex<(readers: Int, id: ItemID)>((0, 0))

    init(
        _ client: PerchClient, _ request: Request, atLeast: Position?, token: [UInt8] = [],
        wrap: @escaping @Sendable (Value) -> WatchValue, unwrap: @escaping @Sendable (WatchValue) -> Value?
    ) {
        self.client = client
        self.request = request
        self.atLeast = atLeast
        self.token = token
        self.wrap = wrap
        self.unwrap = unwrap
    }

    fileprivate func since(_ token: [UInt8]) -> OpenWatch {
        OpenWatch(self.client, self.request, atLeast: self.atLeast, token: token, wrap: self.wrap, unwrap: self.unwrap)
    }

    fileprivate func enter() {
        self.open.withLock { open in
            open.readers += 1
            guard open.readers == 1 else { return }
            open.id = self.client.loop.newID()
            // After a final failure the stream starts again without a token: every token was refused.
            let (life, before) = self.cell.restart(.loading)
            // After a failure, the last value has no token, and the stream's first token belongs to another value.
            let token = before?.value == nil || before?.info != nil ? self.token : []
            self.client.post(
                .watch(
                    open.id, self.request, atLeast: self.atLeast, last: before?.value.map { self.wrap($0) },
                    info: before?.info, token: token, WatchSink(cell: self.cell, life: life, unwrap: self.unwrap)))
        }
    }

    fileprivate func leave() {
        self.open.withLock { open in
            open.readers -= 1
            if open.readers == 0 { self.client.post(.unwatch(open.id)) }
        }
    }
}

/// One iteration over a stream. It ends when its task is cancelled, at the end of the stream, or when it is released.
final class WatchReader<Value: Hashable & Sendable>: Sendable {
    let watch: OpenWatch<Value>
    private let hasEnded = Atomic<Bool>(false)

    init(_ watch: OpenWatch<Value>) {
        self.watch = watch
        watch.enter()
    }

    func end() {
        if !self.hasEnded.exchange(true, ordering: .relaxed) { self.watch.leave() }
    }

    var isOver: Bool { self.hasEnded.load(ordering: .relaxed) }

    deinit { self.end() }
}

/// The loop's side of a watch: its consumers' cell, without a reference that would keep a client alive.
struct WatchSink: Sendable {
    /// Sets the state; returns the tasks to resume after the whole group is set.
    let show: @Sendable (EntitlementTaskState<WatchValue>, _ isNews: Bool) -> [CheckedContinuation<Void, Never>]
    let end: @Sendable () -> [CheckedContinuation<Void, Never>]

    init<Value>(
        cell: LatestCell<EntitlementTaskState<Value>>, life: UInt64, unwrap: @escaping @Sendable (WatchValue) -> Value?
    ) {
        self.show = { state, isNews in
            let shown: EntitlementTaskState<Value>
            switch state {
            case .loading: shown = .loading
            case .unchanged(let info): shown = .unchanged(info: info)
            case .failure(let failure, let last): shown = .failure(failure, last: last.flatMap { unwrap($0) })
            case .success(let value, let info):
                guard let value = unwrap(value) else { preconditionFailure("a watch was given another view's value") }
                shown = .success(value, info: info)
            }
            return cell.set(shown, isNews: isNews, life: life)
        }
        self.end = { cell.end(life: life) }
    }
}
