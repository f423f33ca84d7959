import Synchronization

/// The changes that wait for one consumer: the newest of each account, in the order in which the accounts changed first.
final class CopyQueue: Sendable {
    private struct Inside {
        var order: [String] = []
        var taken = 0
        var changes: [String: CopyChange] = [:]
        var isReplaced = false
        var end: PerchError?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let inside = Mutex(Inside())

    func add(_ change: CopyChange) {
        let waiter = self.inside.withLock { inside -> CheckedContinuation<Void, Never>? in
            switch change {
            case .replaced:
                // What changed before is in the new copy.
                inside.order.removeAll()
                inside.taken = 0
                inside.changes.removeAll()
                inside.isReplaced = true
            case .account(let account, _, let after):
                if case .account(_, let before, _)? = inside.changes[account] {
                    inside.changes[account] = .account(account, before: before, after: after)
                } else {
                    inside.order.append(account)
                    inside.changes[account] = change
                }
            }
            defer { inside.waiter = nil }
            return inside.waiter
        }
        waiter?.resume()
    }

    func end(_ error: PerchError) {
        let waiter = self.inside.withLock { inside in
            inside.end = error
            defer { inside.waiter = nil }
            return inside.waiter
        }
        waiter?.resume()
    }

    /// The next change. Nil when the task is cancelled.
    func next() async throws(PerchError) -> CopyChange? {
        while true {
            if Task.isCancelled { return nil }
            let (change, end) = self.inside.withLock { inside -> (CopyChange?, PerchError?) in
                if inside.isReplaced {
                    inside.isReplaced = false
                    return (.replaced, nil)
                }
                guard inside.taken < inside.order.count else { return (nil, inside.end) }
                let account = inside.order[inside.taken]
                inside.taken += 1
                if inside.taken == inside.order.count || inside.taken >= 1_024 {
                    inside.order.removeSubrange(..<inside.taken)
                    inside.taken = 0
                }
                return (inside.changes.removeValue(forKey: account), nil)
            }
            if let change { return change }
            if let end { throw end }
            await self.wait()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let isOver = self.inside.withLock { inside in
                    if inside.isReplaced || inside.taken < inside.order.count || inside.end != nil || Task.isCancelled {
                        return true
                    }
                    precondition(inside.waiter == nil, "one iterator of a copy's changes is used by two tasks")
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
