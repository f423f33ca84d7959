/// The fields of a message that `MessageScan` has accepted, without checking them again.
struct ScannedFields {
    struct Field {
        var number: UInt64
        var wireType: UInt64
        /// Of a number.
        var value: UInt64
        /// The range of the contents, for other field types.
        var range: Range<Int>
        /// The range from the first byte of the tag to the last of the contents.
        var whole: Range<Int>
    }

    private let bytes: UnsafeRawBufferPointer
    private var at: Int
    private let end: Int

    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        self.at = range.lowerBound
        self.end = range.upperBound
    }

    mutating func next() -> Field? {
        guard self.at < self.end else { return nil }
        let start = self.at
        let tag = self.varint()
        var field = Field(number: tag >> 3, wireType: tag & 7, value: 0, range: 0..<0, whole: 0..<0)
        switch field.wireType {
        case 0: field.value = self.varint()
        case 1: field.range = self.take(8)
        case 5: field.range = self.take(4)
        default: field.range = self.take(Int(self.varint()))
        }
        field.whole = start..<self.at
        return field
    }

    private mutating func take(_ count: Int) -> Range<Int> {
        defer { self.at += count }
        return self.at..<(self.at + count)
    }

    private mutating func varint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = self.bytes[self.at]
            self.at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }
}
