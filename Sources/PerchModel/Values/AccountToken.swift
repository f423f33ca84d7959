/// The UUID that an app gives its own customer, as 16 bytes.
///
/// Texts are written in lower case: `7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d`.
package struct AccountToken: BitwiseCopyable, Hashable, Sendable {
    /// The first eight bytes, big endian.
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Number of characters of the text.
    package static let textBytes = 36

    /// Reads 8, 4, 4, 4 and 12 hexadecimal digits of either case. Nil for any other bytes.
    package init?(parsing bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.textBytes, let base = bytes.baseAddress else { return nil }
        let hyphen = UInt8(ascii: "-")
        guard base.load(fromByteOffset: 8, as: UInt8.self) == hyphen,
            base.load(fromByteOffset: 13, as: UInt8.self) == hyphen,
            base.load(fromByteOffset: 18, as: UInt8.self) == hyphen,
            base.load(fromByteOffset: 23, as: UInt8.self) == hyphen
        else { return nil }
        func four(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        func eight(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let digits = (eight(0), four(9) | four(14) << 32, four(19) | four(24) << 32, eight(28))
        guard Self.areHexadecimal(digits.0), Self.areHexadecimal(digits.1), Self.areHexadecimal(digits.2),
            Self.areHexadecimal(digits.3)
        else { return nil }
        self.high = Self.number(digits.0) << 32 | Self.number(digits.1)
        self.low = Self.number(digits.2) << 32 | Self.number(digits.3)
    }

    /// Reads a text. Nil where it is not a UUID in its usual form.
    package init?(_ text: String) {
        guard text.utf8.count == Self.textBytes else { return nil }
        let parsed = text.utf8Span.span.withUnsafeBytes { AccountToken(parsing: $0) }
        guard let parsed else { return nil }
        self = parsed
    }

    /// Writes the text: `textBytes` bytes of ASCII.
    package func write(into memory: UnsafeMutableRawPointer) {
        let first = Self.digits(UInt32(truncatingIfNeeded: self.high >> 32))
        let second = Self.digits(UInt32(truncatingIfNeeded: self.high))
        let third = Self.digits(UInt32(truncatingIfNeeded: self.low >> 32))
        let fourth = Self.digits(UInt32(truncatingIfNeeded: self.low))
        func four(_ value: UInt64, _ offset: Int) {
            memory.storeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian, toByteOffset: offset, as: UInt32.self)
        }
        let hyphen = UInt8(ascii: "-")
        memory.storeBytes(of: first.littleEndian, toByteOffset: 0, as: UInt64.self)
        memory.storeBytes(of: hyphen, toByteOffset: 8, as: UInt8.self)
        four(second, 9)
        memory.storeBytes(of: hyphen, toByteOffset: 13, as: UInt8.self)
        four(second >> 32, 14)
        memory.storeBytes(of: hyphen, toByteOffset: 18, as: UInt8.self)
        four(third, 19)
        memory.storeBytes(of: hyphen, toByteOffset: 23, as: UInt8.self)
        four(third >> 32, 24)
        memory.storeBytes(of: fourth.littleEndian, toByteOffset: 28, as: UInt64.self)
    }

    package var text: String {
        String(unsafeUninitializedCapacity: Self.textBytes) { buffer in
            if let base = buffer.baseAddress { self.write(into: base) }
            return Self.textBytes
        }
    }

    // MARK: Eight digits in one word, the first in the lowest byte

    private static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// Whether each byte is 0 to 9, a to f, or A to F.
    @inline(__always)
    private static func areHexadecimal(_ word: UInt64) -> Bool {
        let top = Self.repeated(0x80)
        guard word & top == 0 else { return false }
        // A byte reaches 0x80 where it is at least the bound; bytes below 0x80 carry nothing into the next.
        func reaches(_ bytes: UInt64, _ bound: UInt8) -> UInt64 { bytes &+ Self.repeated(0x80 - bound) }
        let lower = word | Self.repeated(0x20)
        let digits = reaches(word, UInt8(ascii: "0")) & ~reaches(word, UInt8(ascii: "9") + 1)
        let letters = reaches(lower, UInt8(ascii: "a")) & ~reaches(lower, UInt8(ascii: "f") + 1)
        // A control character must not become a digit by its lower case: `digits` reads the word as it is.
        return (digits | letters) & top == top
    }

    /// The number that eight hexadecimal digits write.
    @inline(__always)
    private static func number(_ word: UInt64) -> UInt64 {
        // Letters are 9 more than their low half byte.
        let letters = (word >> 6) & Self.repeated(1)
        var value = (word & Self.repeated(0x0F)) &+ (letters &* 9)
        // The first digit is the highest: pairs to bytes, bytes to halves, halves to a word.
        value = (value << 4 | value >> 8) & 0x00FF_00FF_00FF_00FF
        value = (value << 8 | value >> 16) & 0x0000_FFFF_0000_FFFF
        return (value << 16 | value >> 32) & 0xFFFF_FFFF
    }

    /// Eight digits in lower case.
    @inline(__always)
    private static func digits(_ number: UInt32) -> UInt64 {
        var value = UInt64(number)
        value = (value >> 16 | value << 32) & 0x0000_FFFF_0000_FFFF
        value = (value >> 8 | value << 16) & 0x00FF_00FF_00FF_00FF
        value = (value >> 4 | value << 8) & Self.repeated(0x0F)
        // 10 and more get the distance from 9 to a.
        let letters = ((value &+ Self.repeated(6)) >> 4) & Self.repeated(1)
        return value &+ Self.repeated(UInt8(ascii: "0")) &+ letters &* UInt64(UInt8(ascii: "a") - UInt8(ascii: "9") - 1)
    }
}

/// An app account token as it was written: a UUID, or a text that is none.
///
/// Orders with such a text are refused. A peer may send one in a transaction; it is kept and passed on.
package struct WrittenAccountToken: Hashable, Sendable {
    package var uuid: AccountToken?
    /// Empty where there is none, or a UUID.
    package var other: String

    package init(uuid: AccountToken? = nil, other: String = "") {
        self.uuid = uuid
        self.other = other
    }

    package init(_ text: String) {
        self.uuid = text.isEmpty ? nil : AccountToken(text)
        self.other = self.uuid == nil ? text : ""
    }

    /// In lower case where it is a UUID; empty for none.
    package var text: String { self.uuid?.text ?? self.other }
    package var isEmpty: Bool { self.uuid == nil && self.other.isEmpty }
}
