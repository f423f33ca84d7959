import PerchBase
import Synchronization

/// Events on their way from the loop to one consumer: all of them, in order, and not more than a few.
///
/// When `Limits.clientEventsMax` wait, the stream is paused; when the consumer has taken half of them, it is asked for
/// again. Sendable without a claim: all that is shared is behind `inside`.
final class UpdateCell: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private struct Inside {
        var items: [UpdateItem] = []
        /// Where the next item is; what lies before it is taken.
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
        /// `resumes`: the stream is to be asked for again.
        case item(UpdateItem, resumes: Bool)
        case end(PerchError?)
    }

    /// The loop. `pauses`: there is enough now.
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

    /// No more will come: the consumer takes what is there, and then this.
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

    /// The one consumer. The end comes also when its task is cancelled.
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
