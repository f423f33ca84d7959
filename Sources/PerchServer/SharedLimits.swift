import Synchronization

/// What each loop holds of the limits that belong to the process: read by the others when they accept, and at the
/// beginning of their turns.
///
/// Sendable without a claim: three atomics for each loop, written by that loop alone. Two loops that judge at the
/// same instant may both let one pass.
final class SharedLimits: Sendable {
    private final class Share: Sendable {
        let handshakes = Atomic<Int>(0)
        let partialBytes = Atomic<Int>(0)
        let callsBytes = Atomic<Int>(0)
    }

    private let shares: [Share]

    init(loops: Int) { self.shares = (0..<loops).map { _ in Share() } }

    func publish(_ loop: Int, handshakes: Int, partialBytes: Int, callsBytes: Int) {
        self.shares[loop].handshakes.store(handshakes, ordering: .relaxed)
        self.shares[loop].partialBytes.store(partialBytes, ordering: .relaxed)
        self.shares[loop].callsBytes.store(callsBytes, ordering: .relaxed)
    }

    /// What all loops but one hold.
    func elsewhere(than loop: Int) -> (handshakes: Int, partialBytes: Int, callsBytes: Int) {
        var sum = (handshakes: 0, partialBytes: 0, callsBytes: 0)
        for (index, share) in self.shares.enumerated() where index != loop {
            sum.handshakes += share.handshakes.load(ordering: .relaxed)
            sum.partialBytes += share.partialBytes.load(ordering: .relaxed)
            sum.callsBytes += share.callsBytes.load(ordering: .relaxed)
        }
        return sum
    }
}
