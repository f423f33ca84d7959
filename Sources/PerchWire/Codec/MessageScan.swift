import CPerchProto
import PerchBase

/// Checks a serialized message before protobuf-c reads it. Refuses input that protobuf-c would accept, or would pay too
/// much for: invalid text, text with NUL, too many fields or items, too much nesting. protobuf-c's generated
/// descriptors drive it, so it needs no list of the contract's fields.
///
/// Uses a few words of memory; the path of a field is built only for an error.
struct MessageScan {
    private typealias Path = InlineArray<32, UnsafePointer<ProtobufCFieldDescriptor>?>

    private let bytes: UnsafeRawBufferPointer
    private let singularFieldsMax: Int
    private var singularFields = 0
    private var items = 0
    /// The fields that lead to the current position; the first `depth` are valid.
    ///
    /// Stored outside, so that a scan is a few words and stays in registers.
    private let path: UnsafeMutablePointer<Path>
    private var depth = 0
    private let root: UnsafePointer<ProtobufCMessageDescriptor>

    /// A singular message field came more than once.
    private var hasPieces = false

    /// Scans all of `bytes` as a message of `root`. True if a nested message comes in pieces: see `MessageMerge`.
    static func check(
        _ bytes: UnsafeRawBufferPointer, as root: UnsafePointer<ProtobufCMessageDescriptor>, singularFieldsMax: Int
    ) throws(MessageError) -> Bool {
        precondition(Limits.protobufDepthMax == 32, "the path has room for 32 fields")
        var path = Path(repeating: nil)
        return try withUnsafeMutablePointer(to: &path) { path throws(MessageError) in
            var scan = MessageScan(bytes: bytes, singularFieldsMax: singularFieldsMax, path: path, root: root)
            try scan.message(root, 0, bytes.count)
            return scan.hasPieces
        }
    }

    private init(
        bytes: UnsafeRawBufferPointer, singularFieldsMax: Int, path: UnsafeMutablePointer<Path>,
        root: UnsafePointer<ProtobufCMessageDescriptor>
    ) {
        self.bytes = bytes
        self.singularFieldsMax = singularFieldsMax
        self.path = path
        self.root = root
    }

    private mutating func message(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ start: Int, _ end: Int
    ) throws(MessageError) {
        var at = start
        // Fields mostly come in ascending order, so the search continues at the last one found.
        var hint = 0
        /// The singular message fields seen so far, by index in the description.
        var seen: UInt64 = 0
        while at < end {
            let fieldStart = at
            let tag = try self.tag(&at, end)
            let wireType = UInt8(truncatingIfNeeded: tag & 7)
            let number = tag >> 3
            guard let field = Self.field(number, of: descriptor, &hint) else {
                try self.countSingular()
                try self.skip(wireType, &at, end, fieldStart)
                continue
            }
            if field.pointee.type == PROTOBUF_C_TYPE_MESSAGE, field.pointee.label != PROTOBUF_C_LABEL_REPEATED {
                // Fields beyond the 64th all use one bit, which may cause a needless merge. That is slow, but correct.
                let bit: UInt64 = hint < 64 ? 1 << UInt64(hint) : ~0
                if seen & bit != 0 { self.hasPieces = true }
                seen |= bit
            }
            self.path.pointee[self.depth] = field
            self.depth += 1
            try self.value(of: field, wireType, &at, end)
            self.depth -= 1
        }
    }

    private mutating func value(
        of field: UnsafePointer<ProtobufCFieldDescriptor>, _ wireType: UInt8, _ at: inout Int, _ end: Int
    ) throws(MessageError) {
        let expected = Self.wireType(of: field.pointee.type)
        let isRepeated = field.pointee.label == PROTOBUF_C_LABEL_REPEATED
        if wireType != expected {
            // Lists of numbers may come packed, whatever the contract declares.
            guard isRepeated, wireType == 2 else {
                if wireType == 3 || wireType == 4 { throw self.malformed(at, .group) }
                if wireType > 5 { throw self.malformed(at, .unknownWireType(wireType)) }
                throw self.malformed(at, .wrongWireType(found: wireType, expected: expected))
            }
            let packedEnd = try self.length(&at, end)
            try self.packed(expected, at, packedEnd)
            at = packedEnd
            return
        }
        if isRepeated { try self.countItems(1) } else { try self.countSingular() }
        switch expected {
        case 0: _ = try self.varint(&at, end, bytesMax: 10)
        case 1: try self.fixed(8, &at, end)
        case 5: try self.fixed(4, &at, end)
        default:
            let valueEnd = try self.length(&at, end)
            if field.pointee.type == PROTOBUF_C_TYPE_STRING {
                try self.text(at, valueEnd)
            } else if field.pointee.type == PROTOBUF_C_TYPE_MESSAGE {
                guard self.depth < Limits.protobufDepthMax else {
                    throw .tooDeep(field: self.pathText, limit: Limits.protobufDepthMax)
                }
                try self.message(
                    field.pointee.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self), at, valueEnd)
            }
            at = valueEnd
        }
    }

    /// Counts the numbers of a packed list; varints by their last bytes.
    private mutating func packed(_ wireType: UInt8, _ start: Int, _ end: Int) throws(MessageError) {
        switch wireType {
        case 0:
            var at = start
            var count = 0
            while at < end {
                _ = try self.varint(&at, end, bytesMax: 10)
                count += 1
            }
            try self.countItems(count)
        default:
            let width = wireType == 1 ? 8 : 4
            guard (end - start) % width == 0 else { throw self.malformed(start, .brokenPacking) }
            try self.countItems((end - start) / width)
        }
    }

    private func text(_ start: Int, _ end: Int) throws(MessageError) {
        let text = UnsafeRawBufferPointer(rebasing: self.bytes[start..<end])
        let fault: TextFault
        do {
            try text.bytes.checkText()
            return
        } catch {
            fault = error
        }
        switch fault {
        case .notUTF8(let offset): throw .notUTF8(field: self.pathText, atByte: offset)
        case .containsNUL(let offset): throw .hasNUL(field: self.pathText, atByte: offset)
        }
    }

    private func skip(_ wireType: UInt8, _ at: inout Int, _ end: Int, _ start: Int) throws(MessageError) {
        switch wireType {
        case 0: _ = try self.varint(&at, end, bytesMax: 10)
        case 1: try self.fixed(8, &at, end)
        case 2: at = try self.length(&at, end)
        case 5: try self.fixed(4, &at, end)
        case 3, 4: throw self.malformed(start, .group)
        default: throw self.malformed(start, .unknownWireType(wireType))
        }
    }

    // MARK: Numbers

    /// A tag has at most five bytes, because it is a 32-bit number.
    @inline(__always)
    private func tag(_ at: inout Int, _ end: Int) throws(MessageError) -> UInt32 {
        let start = at
        let value = try self.varint(&at, end, bytesMax: 5)
        guard value <= UInt64(UInt32.max) else { throw self.malformed(start, .fieldNumberTooLarge) }
        guard value >> 3 != 0 else { throw self.malformed(start, .fieldNumberZero) }
        return UInt32(truncatingIfNeeded: value)
    }

    /// The end offset of a length-delimited value.
    @inline(__always)
    private func length(_ at: inout Int, _ end: Int) throws(MessageError) -> Int {
        let start = at
        let length = try self.varint(&at, end, bytesMax: 5)
        guard length <= UInt64(end - at) else {
            throw self.malformed(start, .lengthBeyondEnd(declaredBytes: length, leftBytes: end - at))
        }
        return at + Int(length)
    }

    @inline(__always)
    private func varint(_ at: inout Int, _ end: Int, bytesMax: Int) throws(MessageError) -> UInt64 {
        if at < end, self.bytes[at] < 0x80 {
            at += 1
            return UInt64(self.bytes[at - 1])
        }
        return try self.longVarint(&at, end, bytesMax: bytesMax)
    }

    private func longVarint(_ at: inout Int, _ end: Int, bytesMax: Int) throws(MessageError) -> UInt64 {
        var value: UInt64 = 0
        var index = 0
        while index < bytesMax {
            guard at + index < end else { throw self.malformed(at, .truncated) }
            let byte = self.bytes[at + index]
            value |= UInt64(byte & 0x7F) << (7 * UInt64(index))
            index += 1
            if byte < 0x80 {
                at += index
                return value
            }
        }
        throw self.malformed(at, .overlongNumber)
    }

    private func fixed(_ width: Int, _ at: inout Int, _ end: Int) throws(MessageError) {
        guard end - at >= width else { throw self.malformed(at, .truncated) }
        at += width
    }

    // MARK: Counting

    private mutating func countSingular() throws(MessageError) {
        self.singularFields += 1
        guard self.singularFields <= self.singularFieldsMax else {
            throw .tooManyFields(message: self.rootName, limit: self.singularFieldsMax)
        }
    }

    private mutating func countItems(_ count: Int) throws(MessageError) {
        self.items += count
        guard self.items <= Limits.protobufRepeatedItemsMax else {
            throw .tooManyItems(field: self.pathText, count: self.items, limit: Limits.protobufRepeatedItemsMax)
        }
    }

    // MARK: Descriptions

    @inline(__always)
    private static func field(
        _ number: UInt32, of descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ hint: inout Int
    ) -> UnsafePointer<ProtobufCFieldDescriptor>? {
        let count = Int(descriptor.pointee.n_fields)
        guard count > 0, let fields = descriptor.pointee.fields else { return nil }
        for step in 0..<count {
            var index = hint + step
            if index >= count { index -= count }
            if fields[index].id == number {
                hint = index
                return fields + index
            }
        }
        return nil
    }

    private static func wireType(of type: ProtobufCType) -> UInt8 {
        switch type {
        case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_MESSAGE: 2
        case PROTOBUF_C_TYPE_DOUBLE, PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64: 1
        case PROTOBUF_C_TYPE_FLOAT, PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32: 5
        default: 0
        }
    }

    @inline(never)
    private func malformed(_ at: Int, _ fault: MessageError.Fault) -> MessageError {
        .malformed(field: self.pathText, atByte: at, fault: fault)
    }

    private var rootName: String { String(cString: self.root.pointee.name) }

    private var pathText: String {
        var text = self.rootName
        for index in 0..<self.depth {
            if let field = self.path.pointee[index] { text += "." + String(cString: field.pointee.name) }
        }
        return text
    }
}
