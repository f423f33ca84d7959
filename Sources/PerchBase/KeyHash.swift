/// Hashes caller-chosen keys for tables in memory: SipHash-1-3 under a random key of this process, so that a caller
/// cannot construct collisions.
///
/// `Hasher` uses the same function but absorbs keys in pieces: about 300 instructions for a key of fifteen bytes,
/// against 180 here.
package enum KeyHash {
    private static let keys = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    /// Hashes a key within an app.
    package static func hash(app: UInt32, _ key: borrowing RawSpan) -> UInt64 {
        self.hash(app: app, key, under: self.keys)
    }

    static func hash(app: UInt32, _ key: borrowing RawSpan, under keys: (UInt64, UInt64)) -> UInt64 {
        var state = SipState(keys.0, keys.1)
        state.absorb(UInt64(app), rounds: 1)
        state.absorb(key, before: MemoryLayout<UInt64>.size, rounds: 1)
        state.v2 ^= 0xff
        state.rounds(3)
        return state.folded
    }
}
