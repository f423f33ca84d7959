/// Reads the state, position and token of a pushed message without a decoder.
///
/// A decoder creates a Swift value for each message, which costs more than the server spends on sending it. A test
/// compares this with `MessageCodec`.
package struct PushScan: Equatable, Sendable {
    package enum State: UInt8, Sendable { case loading = 1, failure = 2, success = 3, unchanged = 4 }

    package var state: State?
    /// A bookmark is alone in its message.
    package var isBookmark = false
    package var revision: UInt64 = 0
    package var asOf: Int64 = 0
    /// Offset and length of the resume token; 0 if there is none.
    package var tokenStart = 0
    package var tokenCount = 0

    package init() {}

    /// Nil if the bytes are not such a message.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var fields = FieldScan(bytes, 0, bytes.count)
        while fields.next() {
            switch fields.number {
            case 1...4: self.state = State(rawValue: UInt8(fields.number))
            case 5: guard self.readInfo(bytes, fields) else { return nil }
            case 15: self.isBookmark = true
            default: break
            }
        }
        guard fields.isWhole else { return nil }
    }

    private mutating func readInfo(_ bytes: UnsafeRawBufferPointer, _ info: FieldScan) -> Bool {
        var fields = FieldScan(bytes, info.start, info.end)
        while fields.next() {
            switch fields.number {
            case 1:
                guard let position = Self.position(bytes, fields) else { return false }
                (self.revision, self.asOf) = position
            case 5: (self.tokenStart, self.tokenCount) = (fields.start, fields.end - fields.start)
            default: break
            }
        }
        return fields.isWhole
    }

    private static func position(
        _ bytes: UnsafeRawBufferPointer, _ field: FieldScan
    ) -> (revision: UInt64, asOf: Int64)? {
        var fields = FieldScan(bytes, field.start, field.end)
        var (revision, asOf): (UInt64, Int64) = (0, 0)
        while fields.next() {
            if fields.number == 1 { revision = fields.value }
            if fields.number == 2 { asOf = Int64(bitPattern: fields.value) }
        }
        return fields.isWhole ? (revision, asOf) : nil
    }

    /// The revision of a mutation's answer, its field 1.
    package static func revision(ofAnswer bytes: UnsafeRawBufferPointer) -> UInt64? {
        var fields = FieldScan(bytes, 0, bytes.count)
        while fields.next() {
            if fields.number == 1 { return Self.position(bytes, fields)?.revision }
        }
        return nil
    }
}

/// Iterates over the fields of a protobuf message.
struct FieldScan {
    private let bytes: UnsafeRawBufferPointer
    private var at: Int
    private let limit: Int
    private(set) var number = 0
    /// The value of a varint field.
    private(set) var value: UInt64 = 0
    /// The range of a field with a length.
    private(set) var start = 0
    private(set) var end = 0
    /// False if the bytes ended within a field, or for an unknown wire type.
    private(set) var isWhole = true

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) {
        self.bytes = bytes
        self.at = start
        self.limit = end
    }

    @inline(__always)
    mutating func next() -> Bool {
        guard self.at < self.limit else { return false }
        let tag = self.varint()
        self.number = Int(truncatingIfNeeded: tag >> 3)
        self.value = 0
        (self.start, self.end) = (0, 0)
        switch tag & 7 {
        case 0: self.value = self.varint()
        case 1: self.skip(8)
        case 2: self.skip(Int(truncatingIfNeeded: self.varint() & 0x7FFF_FFFF))
        case 5: self.skip(4)
        default: self.isWhole = false
        }
        if self.number == 0 { self.isWhole = false }
        return self.isWhole
    }

    @inline(__always)
    private mutating func skip(_ count: Int) {
        guard count <= self.limit - self.at else {
            self.isWhole = false
            return
        }
        self.start = self.at
        self.at += count
        self.end = self.at
    }

    @inline(__always)
    private mutating func varint() -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while self.at < self.limit, shift < 70 {
            let byte = self.bytes.load(fromByteOffset: self.at, as: UInt8.self)
            self.at += 1
            // A padded varint may have bits beyond the 64th. They are dropped.
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        self.isWhole = false
        return 0
    }
}
