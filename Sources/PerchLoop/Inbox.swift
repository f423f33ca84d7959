internal import PerchBase
internal import Synchronization

/// A queue from other threads into a loop: whole batches, in the order of posting.
///
/// Sendable without `@unchecked`: `queue` guards all shared state, except for a flag that is changed only under its
/// lock. The flag is set whenever an event is queued whose sender has woken the loop or found it awake.
///
/// It drops nothing and has no limit, because a loop's `applied` position depends on the order of events. `post`
/// returns the depth, and the sender must hold back.
package final class Inbox<Event: Sendable>: Sendable {
    /// The first field, so that its offset does not depend on `Event`. A generic class of another module is otherwise
    /// looked up at run time, which costs a thousand instructions in every iteration without events.
    private let hasNews = Atomic<Bool>(false)
    private let queue = Mutex<[Event]>([])
    private let wake: WakeUp

    package init(wake: WakeUp) {
        self.wake = wake
    }

    /// Queues an event and returns the number of queued events. Any thread may call it.
    ///
    /// It wakes the loop only if the inbox was empty: one system call a batch, not one an event.
    @discardableResult
    package func post(_ event: Event) -> Int {
        let depth = self.queue.withLock { queue in
            queue.append(event)
            self.hasNews.store(true, ordering: .releasing)
            return queue.count
        }
        if depth == 1 { self.wake.signal() }
        return depth
    }

    @discardableResult
    package func post(_ events: [Event]) -> Int {
        guard !events.isEmpty else { return self.queue.withLock { $0.count } }
        let depth = self.queue.withLock { queue in
            queue.append(contentsOf: events)
            self.hasNews.store(true, ordering: .releasing)
            return queue.count
        }
        if depth == events.count { self.wake.signal() }
        return depth
    }

    /// The number of queued events. Any thread may read it.
    package var depth: Int { self.queue.withLock { $0.count } }

    /// Takes all queued events. The loop must call it in every iteration, because a later event wakes the loop only if
    /// the inbox was emptied.
    ///
    /// It swaps the arrays under the lock. `events` must be empty; the inbox reuses its capacity, so nothing is
    /// allocated between bursts.
    package func take(into events: inout [Event]) {
        // A thread that is just posting wakes the loop afterwards.
        if self.hasNews.load(ordering: .acquiring) { self.takeNews(into: &events) }
    }

    @inline(never)
    private func takeNews(into events: inout [Event]) {
        precondition(events.isEmpty, "\(events.count) events of the last batch were not processed")
        if events.capacity > Limits.inboxCapacityKept { events = [] }
        var taken = events
        events = []
        self.queue.withLock {
            swap(&$0, &taken)
            self.hasNews.store(false, ordering: .relaxed)
        }
        events = taken
    }
}
