import PerchBase
import PerchLoop

/// How much one iteration of a loop sends. The kernel copies a megabyte in a millisecond, and nobody else is served meanwhile.
struct SendShare {
    /// Bytes that long writes have sent so far.
    private var bulk = 0
    /// The pieces of the write that is sent now.
    var pieces: [SendPiece] = []

    /// An iteration begins to send.
    mutating func begin() { self.bulk = 0 }

    /// The bytes of a write that may go out now. A short one goes out whole. Long ones do as long as they have a part of the iteration
    /// left, then each sends a little, and then they wait. What is left follows like the rest of a partial send, when the socket is
    /// writable: to the core such a connection is full for a moment.
    @inline(__always)
    func part(of byteCount: Int) -> Int {
        guard byteCount > Limits.shortWriteBytes else { return byteCount }
        if self.bulk < Limits.bulkBytesPerTurn { return byteCount }
        return self.bulk < 4 * Limits.bulkBytesPerTurn ? Limits.shortWriteBytes : 0
    }

    /// A write of `byteCount` bytes has sent so many.
    @inline(__always)
    mutating func sent(_ count: Int, of byteCount: Int) {
        if byteCount > Limits.shortWriteBytes { self.bulk += count }
    }
}
