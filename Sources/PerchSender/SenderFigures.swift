/// Counters of the sender.
package struct SenderFigures: Hashable, Sendable {
    /// Attempts that were begun.
    package var attempts: UInt64 = 0
    package var retries: UInt64 = 0
    /// Answers with status 429.
    package var throttles: UInt64 = 0
    /// Answers by the first digit of their status, from `1` to `5`.
    package var answers: [Int: UInt64] = [:]
    /// Attempts without an answer, by the kind of the fault.
    package var faults: [SenderFault.Kind: UInt64] = [:]
    /// Requests that wait or are under way now.
    package var waiting = 0

    package init() {}

    mutating func count(_ answer: SenderAnswer) {
        self.answers[answer.status / 100, default: 0] += 1
        if answer.status == 429 { self.throttles += 1 }
    }

    mutating func count(_ fault: SenderFault) { self.faults[fault.kind, default: 0] += 1 }
}
