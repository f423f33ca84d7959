import PerchBase

/// Random values from a seed: the same seed draws the same values.
package struct SeededRandom: RandomNumberGenerator {
    private var generator: SplitMix64

    package init(seed: UInt64) { self.generator = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { self.generator.next() }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    package mutating func bool() -> Bool { self.next() & 1 == 1 }

    package mutating func element<Value>(_ values: [Value]) -> Value { values[self.below(values.count)] }

    /// Nil half of the time.
    package mutating func optional<Value>(_ value: (inout SeededRandom) -> Value) -> Value? {
        self.bool() ? value(&self) : nil
    }

    package mutating func array<Value>(upTo count: Int, _ value: (inout SeededRandom) -> Value) -> [Value] {
        (0..<self.below(count + 1)).map { _ in value(&self) }
    }

    /// A number of any length in bits, so that small ones are as likely as the greatest.
    package mutating func uint64() -> UInt64 {
        let bits = self.below(65)
        return bits == 0 ? 0 : self.next() >> UInt64(64 - bits)
    }

    package mutating func int64() -> Int64 { Int64(bitPattern: self.uint64()) &* (self.bool() ? 1 : -1) }
    package mutating func int32() -> Int32 { Int32(truncatingIfNeeded: self.int64()) }
    package mutating func uint32() -> UInt32 { UInt32(truncatingIfNeeded: self.uint64()) }

    package mutating func bytes(upTo count: Int) -> [UInt8] {
        self.array(upTo: count) { UInt8(truncatingIfNeeded: $0.next()) }
    }

    /// Text in several scripts, sometimes empty, sometimes with a NUL.
    package mutating func string() -> String {
        let alphabet: [Character] = ["a", "Z", "7", ".", "ü", "日", "🐦", "\u{0}", " ", "-"]
        return String(self.array(upTo: 12) { $0.element(alphabet) })
    }
}
