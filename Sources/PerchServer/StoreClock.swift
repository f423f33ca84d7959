import PerchBase
import PerchLoop
import Synchronization

/// The wall clock as all threads of a server see it: it never runs backwards, not even across a restart.
///
/// Begins no earlier than the store's lease, and stands still where the machine's clock was set back.
/// Sendable without a claim: one atomic number.
final class StoreClock: Sendable {
    private let latest: Atomic<Int64>

    init(notBefore lease: Instant) {
        self.latest = Atomic(lease.milliseconds)
    }

    func now() -> Instant {
        let wall = Clocks.wall().milliseconds
        let (_, latest) = self.latest.max(wall, ordering: .relaxed)
        return Instant(milliseconds: latest)
    }
}
