/// Reads values in the store's own form, never past the end, whatever the bytes are.
///
/// A length is believed only as far as there are bytes for it, so no input makes it allocate more than its own size
/// times that of the largest value.
package struct ByteReader {
    private let bytes: [UInt8]
    private let end: Int
    package private(set) var offset: Int
    /// The form of the blob that these bytes are from: what it holds depends on it.
    let form: UInt8

    package init(_ bytes: [UInt8]) {
        self.init(bytes, from: 0, to: bytes.count)
    }

    package init(_ bytes: [UInt8], from start: Int, to end: Int, form: UInt8 = 1) {
        precondition(start >= 0 && start <= end && end <= bytes.count, "a reader beyond its bytes")
        self.bytes = bytes
        self.offset = start
        self.end = end
        self.form = form
    }

    package var remaining: Int { self.end - self.offset }

    /// Nothing may follow the last field.
    package func finish() throws(DecodingFault) {
        guard self.remaining == 0 else { throw .trailing(bytes: self.remaining) }
    }

    package mutating func byte() throws(DecodingFault) -> UInt8 {
        guard self.offset < self.end else { throw .truncated(atOffset: self.offset) }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    package mutating func uint64() throws(DecodingFault) -> UInt64 {
        let start = self.offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try self.byte()
            // The tenth byte has room for one bit; and a last byte of zero says nothing that its absence would not.
            guard shift < 63 || byte <= 1, byte != 0 || shift == 0 else { throw .overlong(atOffset: start) }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    package mutating func uint32() throws(DecodingFault) -> UInt32 {
        let start = self.offset
        guard let value = UInt32(exactly: try self.uint64()) else { throw .overlong(atOffset: start) }
        return value
    }

    package mutating func int64() throws(DecodingFault) -> Int64 {
        let value = try self.uint64()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func int32() throws(DecodingFault) -> Int32 {
        let start = self.offset
        guard let value = Int32(exactly: try self.int64()) else { throw .overlong(atOffset: start) }
        return value
    }

    package mutating func bool() throws(DecodingFault) -> Bool {
        let start = self.offset
        switch try self.byte() {
        case 0: return false
        case 1: return true
        default: throw .invalid("flag", atOffset: start)
        }
    }

    package mutating func blob() throws(DecodingFault) -> [UInt8] {
        Array(self.bytes[try self.lengthPrefixed()])
    }

    package mutating func string() throws(DecodingFault) -> String {
        let range = try self.lengthPrefixed()
        guard let text = String(validating: self.bytes[range], as: UTF8.self) else {
            throw .notUTF8(atOffset: range.lowerBound)
        }
        return text
    }

    /// Goes past a text, and returns an empty one.
    mutating func skipString() throws(DecodingFault) -> String {
        _ = try self.lengthPrefixed()
        return ""
    }

    package mutating func fixed64() throws(DecodingFault) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<8 { value = value << 8 | UInt64(try self.byte()) }
        return value
    }

    package mutating func fixed32() throws(DecodingFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 { value = value << 8 | UInt32(try self.byte()) }
        return value
    }

    mutating func value<Value: StoreCoded>(_: Value.Type = Value.self) throws(DecodingFault) -> Value {
        try Value(from: &self)
    }

    mutating func optional<Value: StoreCoded>(_: Value.Type = Value.self) throws(DecodingFault) -> Value? {
        try self.bool() ? try Value(from: &self) : nil
    }

    mutating func array<Value: StoreCoded>(of _: Value.Type = Value.self) throws(DecodingFault) -> [Value] {
        let start = self.offset
        // Each value has at least one byte.
        let count = try self.uint64()
        guard count <= UInt64(self.remaining) else { throw .truncated(atOffset: start) }
        var values: [Value] = []
        for _ in 0..<count { values.append(try Value(from: &self)) }
        return values
    }

    private mutating func lengthPrefixed() throws(DecodingFault) -> Range<Int> {
        let length = try self.uint64()
        guard length <= UInt64(self.remaining) else { throw .truncated(atOffset: self.offset) }
        let range = self.offset..<self.offset + Int(length)
        self.offset = range.upperBound
        return range
    }
}
