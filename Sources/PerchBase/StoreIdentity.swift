/// Sixteen random bytes that name a store for ever: in tokens, so that one from another store is refused.
public struct StoreIdentity: Hashable, Sendable, CustomStringConvertible {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public var description: String { Digest(high: self.high, low: self.low).description }
}
