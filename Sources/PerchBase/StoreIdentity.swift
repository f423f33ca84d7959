/// Sixteen random bytes that identify a store permanently. Tokens contain them, so that a token of another store is
/// refused.
public struct StoreIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, as a big-endian number.
    public var high: UInt64
    /// The last eight bytes, as a big-endian number.
    public var low: UInt64

    /// Creates an identity from its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses the bytes of WELCOME; nil unless there are sixteen.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        self.low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Big endian, so that the bytes read like `description`.
    public var bytes: [UInt8] {
        [self.high, self.low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// 32 hexadecimal digits.
    public var description: String { Digest(high: self.high, low: self.low).description }
}
