import PerchBase
import Synchronization

/// Events on their way from the loop to one consumer: all of them, in order, up to a limit.
///
/// When `Limits.clientEventsMax` wait, the stream is paused. After the consumer has taken half of them, it resumes.
/// Sendable without a claim: all shared state is behind `inside`.
final class UpdateCell: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private struct Inside {
        var items: [UpdateItem] = []
        /// Index of the next item; earlier ones are delivered.
        var taken = 0
        var isPaused = false
        var end: PerchError?
        var hasEnded = false
        var waiter: Waiter?

        var count: Int { self.items.count - self.taken }
    }

    private let inside = Mutex(Inside())

    /// What a consumer gets.
    enum Taken {
        /// `resumes`: the stream must be requested again.
        case item(UpdateItem, resumes: Bool)
        case end(PerchError?)
    }

    /// Called by the loop. `pauses`: the queue is full.
    func append(_ items: [UpdateItem]) -> (waiter: Waiter?, pauses: Bool) {
        self.inside.withLock { inside in
            if inside.taken > 0 {
                inside.items.removeSubrange(..<inside.taken)
                inside.taken = 0
            }
            inside.items.append(contentsOf: items)
            let pauses = !inside.isPaused && inside.count >= Limits.clientEventsMax
            if pauses { inside.isPaused = true }
            defer { inside.waiter = nil }
            return (inside.waiter, pauses)
        }
    }

    /// Ends the cell: the consumer gets the remaining items, and then the end.
    func end(_ error: PerchError?) -> Waiter? {
        self.inside.withLock { inside in
            if !inside.hasEnded {
                inside.hasEnded = true
                inside.end = error
            }
            defer { inside.waiter = nil }
            return inside.waiter
        }
    }

    /// Called by the only consumer. Also ends when its task is cancelled.
    func next() async -> Taken {
        while true {
            if Task.isCancelled { return .end(nil) }
            let taken = self.inside.withLock { inside -> Taken? in
                guard inside.count > 0 else { return inside.hasEnded ? .end(inside.end) : nil }
                let item = inside.items[inside.taken]
                inside.taken += 1
                if inside.taken == inside.items.count {
                    inside.items.removeAll(keepingCapacity: true)
                    inside.taken = 0
                }
                let resumes = inside.isPaused && inside.count <= Limits.clientEventsMax / 2
                if resumes { inside.isPaused = false }
                return .item(item, resumes: resumes)
            }
            if let taken { return taken }
            await self.wait()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                // As in `LatestCell`: a cancellation is seen here, or finds the waiter.
                let isOver = self.inside.withLock { inside in
                    if inside.count > 0 || inside.hasEnded || Task.isCancelled { return true }
                    precondition(inside.waiter == nil, "one iterator of transaction updates is used by two tasks")
                    inside.waiter = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            let waiter = self.inside.withLock { inside in
                defer { inside.waiter = nil }
                return inside.waiter
            }
            waiter?.resume()
        }
    }
}
