import Synchronization

/// The newest state of a stream, for any number of readers that each want to see every newer one.
///
/// There is no queue: a slow reader gets the newest state and misses those between. Sendable without a claim: all
/// shared state is behind `inside`.
final class LatestCell<State: Sendable>: Sendable {
    /// A waiting reader. Resumed by its last holder, outside of the lock.
    typealias Waiter = CheckedContinuation<Void, Never>

    private struct Inside {
        var state: State
        /// Rises with each state that wakes readers.
        var version: UInt64 = 1
        var hasEnded = false
        /// Incremented at each restart: states set for an earlier life are dropped.
        var life: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0

        mutating func takeWaiters() -> [Waiter] {
            defer { self.waiters.removeAll() }
            return Array(self.waiters.values)
        }
    }

    private let inside: Mutex<Inside>

    init(_ state: State) {
        self.inside = Mutex(Inside(state: state))
    }

    var state: State { self.inside.withLock { $0.state } }

    /// May be called on any thread. Returns the waiting readers, to resume after the whole group is set.
    func set(_ state: State, isNews: Bool = true, life: UInt64 = 0) -> [Waiter] {
        self.inside.withLock { inside in
            guard inside.life == life else { return [] }
            inside.state = state
            guard isNews else { return [] }
            inside.version += 1
            return inside.takeWaiters()
        }
    }

    /// Ends the cell: readers see the last state, and then the end.
    func end(life: UInt64 = 0) -> [Waiter] {
        self.inside.withLock { inside in
            guard inside.life == life else { return [] }
            inside.hasEnded = true
            return inside.takeWaiters()
        }
    }

    /// Restarts the cell with this state. Returns the last state before, unless the cell had ended.
    func restart(_ state: State) -> (life: UInt64, before: State?) {
        self.inside.withLock { inside in
            let before = inside.hasEnded ? nil : inside.state
            inside.hasEnded = false
            inside.state = state
            inside.version += 1
            inside.life += 1
            return (inside.life, before)
        }
    }

    /// The newest state, if it is newer than `seen`, else waits for one. Nil at the end, and when the task is
    /// cancelled.
    func next(after seen: inout UInt64) async -> State? {
        while true {
            if Task.isCancelled { return nil }
            let (news, hasEnded) = self.inside.withLock { inside -> ((State, UInt64)?, Bool) in
                (inside.version > seen ? (inside.state, inside.version) : nil, inside.hasEnded)
            }
            if let (state, version) = news {
                seen = version
                return state
            }
            if hasEnded { return nil }
            await self.wait(after: seen)
        }
    }

    /// Returns when there may be a newer state, or the task is cancelled.
    private func wait(after seen: UInt64) async {
        let ticket = self.inside.withLock { inside in
            inside.lastWaiter += 1
            return inside.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                // The flag of cancellation is set before its handler runs. So either it is seen here, or the handler
                // comes later and finds the waiter.
                let isOver = self.inside.withLock { inside in
                    if inside.version > seen || inside.hasEnded || Task.isCancelled { return true }
                    inside.waiters[ticket] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            let waiter = self.inside.withLock { $0.waiters.removeValue(forKey: ticket) }
            waiter?.resume()
        }
    }
}
