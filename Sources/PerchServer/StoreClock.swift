import PerchBase
import PerchLoop
import Synchronization

/// The wall clock as all threads of a server see it: it never runs backwards, not even across a restart.
///
/// Begins no earlier than the store's lease, stands still where the machine's clock was set back, and shows nothing that is
/// beyond the lease that is on the disk: whatever happens to this process and to the machine's clock, the next one begins
/// after all that was seen.
/// Sendable without a claim: three atomics, and a lock for what is done once in a while.
final class StoreClock: Sendable {
    private let latest: Atomic<Int64>
    /// What may be shown: the durable lease.
    private let bound: Atomic<Int64>
    /// Somebody has looked at a machine's clock that was beyond the bound: the store's thread is to renew the lease.
    private let isAwaited = Atomic<Bool>(false)
    private let wake = Mutex<WakeUp?>(nil)

    init(notBefore lease: Instant, bound: Instant) {
        self.latest = Atomic(lease.milliseconds)
        self.bound = Atomic(max(lease, bound).milliseconds)
    }

    /// Whom to wake when the clock stands at its bound: the store's thread.
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

    /// The lease on the disk goes further now. True: the clock stood at its bound, and goes on.
    func extend(to bound: Instant) -> Bool {
        self.bound.store(bound.milliseconds, ordering: .relaxed)
        return self.isAwaited.exchange(false, ordering: .relaxed)
    }
}
