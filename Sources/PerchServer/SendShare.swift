import PerchBase
import PerchLoop

/// How much one iteration of a loop sends. The kernel copies a megabyte in a millisecond, and nobody else is served meanwhile.
struct SendShare {
    /// Bytes of long writes so far.
    private var bulk = 0
    /// The pieces of the write that is sent now.
    var pieces: [SendPiece] = []

    /// An iteration begins to send.
    mutating func begin() { self.bulk = 0 }

    /// The bytes of a write that go out now: all, until long writes have had their part of the iteration. The rest follows like that of
    /// a partial send.
    @inline(__always)
    mutating func take(_ byteCount: Int) -> Int {
        guard byteCount > Limits.shortWriteBytes else { return byteCount }
        guard self.bulk < Limits.bulkBytesPerTurn else { return Limits.shortWriteBytes }
        self.bulk += byteCount
        return byteCount
    }
}
