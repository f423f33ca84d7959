internal import PerchBase
internal import Synchronization

/// The way into a loop from other threads: whole batches, in the order of posting.
///
/// Sendable without a claim: all that is shared is behind `queue`, but for a flag that is set and cleared under its lock: it
/// stands whenever an event waits whose poster has woken the loop, or found it woken. It drops nothing and has no limit of its own,
/// because its order is what a loop's `applied` rests on: who posts is told the depth, and holds back.
package final class Inbox<Event: Sendable>: Sendable {
    /// First, so that its place does not depend on `Event`: a generic class of another module is looked up at run time, type
    /// by type, and to find that nothing had come took a thousand instructions in every turn.
    private let hasNews = Atomic<Bool>(false)
    private let queue = Mutex<[Event]>([])
    private let wake: WakeUp

    package init(wake: WakeUp) {
        self.wake = wake
    }

    /// Any thread. Wakes the loop only when the inbox was empty: one system call a batch, not one an event.
    ///
    /// Returns how many events wait, these included.
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

    /// Any thread. How many events wait now.
    package var depth: Int { self.queue.withLock { $0.count } }

    /// The loop's thread, in every turn: an event posted later wakes the loop only if this has emptied the inbox.
    ///
    /// One swap under the lock. `events` comes in empty, and its room is what is posted into next: nothing is
    /// allocated between bursts.
    package func take(into events: inout [Event]) {
        // Whoever is posting just now wakes the loop when he has.
        if self.hasNews.load(ordering: .acquiring) { self.takeNews(into: &events) }
    }

    @inline(never)
    private func takeNews(into events: inout [Event]) {
        precondition(events.isEmpty, "\(events.count) events of the last batch were not dealt with")
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
