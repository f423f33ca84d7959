import Synchronization

/// Bytes held by the calls of each loop. Their limit belongs to the process, so each loop reads the others' figures at
/// the beginning of its ticks.
///
/// Sendable without a claim: one atomic for each loop, written by that loop alone. Two loops that check at the same
/// instant may each accept one call too many. Other limits of the process are divided among the loops.
final class SharedLimits: Sendable {
    private final class Share: Sendable {
        let callsBytes = Atomic<Int>(0)
    }

    private let shares: [Share]

    init(loops: Int) { self.shares = (0..<loops).map { _ in Share() } }

    func publish(_ loop: Int, callsBytes: Int) {
        self.shares[loop].callsBytes.store(callsBytes, ordering: .relaxed)
    }

    /// Bytes held by the calls of all other loops.
    func callsBytes(elsewhereThan loop: Int) -> Int {
        var sum = 0
        for (index, share) in self.shares.enumerated() where index != loop {
            sum += share.callsBytes.load(ordering: .relaxed)
        }
        return sum
    }
}
