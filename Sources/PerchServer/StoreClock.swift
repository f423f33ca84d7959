import PerchBase
import PerchLoop
import Synchronization

/// The wall clock of all threads of a server. It never runs backwards, even across a restart.
///
/// Begins no earlier than the store's lease, stands still if the machine's clock was set back, and never passes the
/// lease on disk. So whatever happens to this process and to the machine's clock, the next process begins after every
/// instant that was shown. Sendable without a claim: three atomics, and a lock for rare operations.
final class StoreClock: Sendable {
    private let latest: Atomic<Int64>
    /// The latest instant that may be shown: the durable lease.
    private let bound: Atomic<Int64>
    /// A thread has seen the machine's clock beyond the bound: the store's thread must renew the lease.
    private let isAwaited = Atomic<Bool>(false)
    private let wake = Mutex<WakeUp?>(nil)

    init(notBefore lease: Instant, bound: Instant) {
        self.latest = Atomic(lease.milliseconds)
        self.bound = Atomic(max(lease, bound).milliseconds)
    }

    /// The thread to wake when the clock stops at its bound: the store's.
    func wakes(_ wake: WakeUp) { self.wake.withLock { $0 = wake } }

    func now() -> Instant { self.now(machine: Clocks.wall()) }

    func now(machine: Instant) -> Instant {
        let bound = self.bound.load(ordering: .relaxed)
        if machine.milliseconds > bound, !self.isAwaited.exchange(true, ordering: .relaxed) {
            self.wake.withLock { $0 }?.signal()
        }
        let (_, latest) = self.latest.max(min(machine.milliseconds, bound), ordering: .relaxed)
        return Instant(milliseconds: latest)
    }

    /// The lease on disk is extended. True if the clock had stopped at its bound and now continues.
    func extend(to bound: Instant) -> Bool {
        self.bound.store(bound.milliseconds, ordering: .relaxed)
        return self.isAwaited.exchange(false, ordering: .relaxed)
    }
}
