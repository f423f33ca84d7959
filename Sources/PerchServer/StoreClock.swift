import PerchBase
import PerchLoop
import Synchronization

/// The wall clock of all threads of a server. It never runs backwards, even across a restart.
///
/// It follows the machine's wall clock. A node of several follows the clock of their storage instead, by the machine's clock that counts
/// suspend, and does not read the wall clock.
///
/// Begins no earlier than the store's lease, stands still if the machine's clock was set back, and never passes the
/// lease on disk. So whatever happens to this process and to the machine's clock, the next process begins after every
/// instant that was shown. Sendable without a claim: atomics, and a lock for rare operations.
final class StoreClock: Sendable {
    /// Twice the latest instant that was shown, in milliseconds; odd while the clock is held. One word, so that no thread can show a
    /// later instant after `hold` has returned.
    private let latest: Atomic<Int64>
    /// The latest instant that may be shown: the durable lease.
    private let bound: Atomic<Int64>
    /// A thread has seen the machine's clock beyond the bound: the store's thread must renew the lease.
    private let isAwaited = Atomic<Bool>(false)
    /// The storage's clock less the monotonic one, in milliseconds; `.min` while the machine's wall clock is followed.
    private let offset = Atomic<Int64>(.min)
    /// The millisecond of the monotonic clock until which this node vouches for its positions.
    private let vouchedUntil = Atomic<Int64>(.max)
    private let wake = Mutex<WakeUp?>(nil)

    init(notBefore lease: Instant, bound: Instant) {
        self.latest = Atomic(Self.word(lease.milliseconds))
        self.bound = Atomic(max(lease, bound).milliseconds)
    }

    private static func word(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, Int64.min / 2), Int64.max / 2) << 1
    }

    /// The thread to wake when the clock stops at its bound: the store's.
    func wakes(_ wake: WakeUp) { self.wake.withLock { $0 = wake } }

    func now() -> Instant { self.now(machine: self.machine()) }

    /// The machine's clock, or that of the storage which several nodes follow.
    func machine() -> Instant { Self.machine(offset: self.offset.load(ordering: .relaxed)) }

    /// `offset`: of a storage's clock to the monotonic one; `.min`: the machine's wall clock.
    static func machine(offset: Int64) -> Instant {
        if offset == .min { return Clocks.wall() }
        return Instant(milliseconds: Clocks.monotonic().nanoseconds / 1_000_000 + offset)
    }

    /// Follows a storage's clock, which is ahead of the monotonic one by so many milliseconds.
    func follow(offset: Int64) { self.offset.store(offset, ordering: .relaxed) }

    /// The storage has confirmed a heartbeat that was sent so many milliseconds ago. What this node knows counts for a while after it.
    func vouch(sinceBeat: Int64, now: MonotonicTime) {
        self.vouchedUntil.store(
            now.nanoseconds / 1_000_000 + Limits.freshnessMilliseconds - sinceBeat, ordering: .relaxed)
    }

    /// Asked by the loops themselves, because the store's thread may be waiting for a database that is gone.
    func vouches(at now: MonotonicTime) -> Bool {
        now.nanoseconds / 1_000_000 <= self.vouchedUntil.load(ordering: .relaxed)
    }

    /// When it no longer vouches, unless another heartbeat is confirmed; nil: it always does.
    var vouchesUntil: MonotonicTime? {
        let until = self.vouchedUntil.load(ordering: .relaxed)
        return until == .max ? nil : MonotonicTime(nanoseconds: until * 1_000_000)
    }

    /// Moves the clock to an instant that another node has shown.
    func reach(_ instant: Instant) {
        let wanted = Self.word(instant.milliseconds)
        var word = self.latest.load(ordering: .relaxed)
        while word < wanted {
            // Keeps the mark of a held clock.
            let (isExchanged, found) = self.latest.weakCompareExchange(
                expected: word, desired: wanted | word & 1, ordering: .relaxed)
            word = isExchanged ? wanted : found
        }
    }

    func now(machine: Instant) -> Instant {
        let bound = self.bound.load(ordering: .relaxed)
        if machine.milliseconds > bound, !self.isAwaited.exchange(true, ordering: .relaxed) {
            self.wake.withLock { $0 }?.signal()
        }
        let wanted = Self.word(min(machine.milliseconds, bound))
        var word = self.latest.load(ordering: .relaxed)
        while word < wanted, word & 1 == 0 {
            let (isExchanged, found) = self.latest.weakCompareExchange(
                expected: word, desired: wanted, ordering: .relaxed)
            word = isExchanged ? wanted : found
        }
        return Instant(milliseconds: word >> 1)
    }

    /// Stops the clock at the latest instant that any thread has shown, until `release`.
    func hold() { self.latest.bitwiseOr(1, ordering: .relaxed) }

    /// True: the clock was held, and runs again.
    func release() -> Bool { self.latest.bitwiseAnd(~1, ordering: .relaxed).oldValue & 1 == 1 }

    /// The store's thread has tried to extend the lease on disk. True if the clock had stopped at its bound and now continues.
    ///
    /// Where the machine's clock is beyond the bound still, as while a database is away, the threads stay asleep: each that was woken
    /// would only find the clock standing, and wake the store's thread again.
    func extend(to bound: Instant, machine: Instant) -> Bool {
        self.bound.store(bound.milliseconds, ordering: .relaxed)
        guard machine <= bound else { return false }
        return self.isAwaited.exchange(false, ordering: .relaxed)
    }
}
