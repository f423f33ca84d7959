internal import PerchBase
internal import Synchronization

/// The way into a loop from other threads: whole batches, in the order of posting.
///
/// Sendable without a claim: all that is shared is behind `queue`. It drops nothing and has no limit of its own,
/// because its order is what a loop's `applied` rests on: who posts is told the depth, and holds back.
package final class Inbox<Event: Sendable>: Sendable {
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
        precondition(events.isEmpty, "\(events.count) events of the last batch were not dealt with")
        if events.capacity > Limits.inboxCapacityKept { events = [] }
        var taken = events
        events = []
        self.queue.withLock { swap(&$0, &taken) }
        events = taken
    }
}
