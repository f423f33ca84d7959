/// The hash chain of a log: each mark is a hash of the mark before, the revision and what the revision wrote.
///
/// Two logs with the same mark at a revision are the same up to it. SipHash-2-4, keyed by the mark before and the revision. The
/// marks are stored, so the function never changes.
package enum ChainMark {
    package static func next(after mark: UInt64, revision: UInt64, _ bytes: [UInt8]) -> UInt64 {
        var state = SipState(mark, revision)
        state.absorb(bytes.span.bytes, rounds: 2)
        state.v2 ^= 0xff
        state.rounds(4)
        return state.folded
    }
}
