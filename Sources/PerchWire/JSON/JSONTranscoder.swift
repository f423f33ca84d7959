import CPerchProto
import PerchBase
import PerchJSON

/// Writes the canonical JSON of a message straight from its bytes, as `MessageJSONWriter` does from its structure.
///
/// It knows each message of the contract as a plan: the fields in ascending order, each with the bytes of its key. So one pass
/// over the message makes the document, without a structure and without a text in between. The design note has the cost. A
/// message that is not as our encoders write it (another order, unknown fields, a NUL in a text) is refused, and takes the
/// other way.
///
/// One for each thread, like its codec: plans are made when a message is first written, and live as long as this.
final class JSONTranscoder {
    private struct Name: BitwiseCopyable {
        var number: Int32
        var text: UnsafeRawBufferPointer
    }

    private struct Field: BitwiseCopyable {
        var number: UInt32
        var type: ProtobufCType
        var wireType: UInt8
        var isRepeated: Bool
        /// The default means absent.
        var isImplicit: Bool
        /// The name in quotes, and the colon.
        var key: UnsafeRawBufferPointer
        /// Of an enumeration: its names in quotes.
        var names: UnsafeBufferPointer<Name>
        /// Of a message.
        var plan: UnsafeMutablePointer<Plan>?
    }

    private struct Plan: BitwiseCopyable {
        var fields: UnsafeMutableBufferPointer<Field>
    }

    private var plans: [MessageDescription: UnsafeMutablePointer<Plan>] = [:]
    private var blocks: [UnsafeMutableRawPointer] = []
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    private static let capacityAtFirst = 4096
    /// A number of 64 bits with its sign and quotes, and what stands around it.
    private static let scalarBytesMax = 32

    init() {
        self.capacity = Self.capacityAtFirst
        self.memory = .allocate(byteCount: Self.capacityAtFirst, alignment: 16)
    }

    deinit {
        self.memory.deallocate()
        for block in self.blocks { block.deallocate() }
    }

    /// The JSON of an encoded message; nil where it has to be written from its structure.
    func json(of message: UnsafeRawBufferPointer, as description: MessageDescription) -> [UInt8]? {
        if self.capacity > Limits.codecBytesKept {
            self.memory.deallocate()
            self.capacity = Self.capacityAtFirst
            self.memory = .allocate(byteCount: self.capacity, alignment: 16)
        }
        self.count = 0
        guard self.object(message, self.plan(of: description), depth: 0) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: self.memory, count: self.count))
    }

    // MARK: Plans

    private func plan(of description: MessageDescription) -> UnsafeMutablePointer<Plan> {
        if let known = self.plans[description] { return known }
        let fields = Array(description.fields)
        let plan = self.block(Plan.self, 1)
        let planned = self.block(Field.self, fields.count)
        plan.initialize(to: Plan(fields: UnsafeMutableBufferPointer(start: planned, count: fields.count)))
        // Known before its fields are, because a message may contain itself.
        self.plans[description] = plan
        let ascending = fields.sorted { $0.number < $1.number }
        for (place, field) in ascending.enumerated() {
            let names = field.type == PROTOBUF_C_TYPE_ENUM ? field.enumeration.names : []
            let named = self.block(Name.self, names.count)
            for (index, name) in names.enumerated() {
                (named + index).initialize(to: Name(number: name.number, text: self.bytes("\"\(name.name)\"")))
            }
            (planned + place).initialize(
                to: Field(
                    number: field.number, type: field.type, wireType: Self.wireType(of: field.type),
                    isRepeated: field.presence == .repeated, isImplicit: field.presence == .implicit,
                    key: self.bytes("\"\(field.jsonName)\":"),
                    names: UnsafeBufferPointer(start: named, count: names.count),
                    plan: field.type == PROTOBUF_C_TYPE_MESSAGE ? self.plan(of: field.message) : nil))
        }
        return plan
    }

    private func block<Element: BitwiseCopyable>(_ type: Element.Type, _ count: Int) -> UnsafeMutablePointer<Element> {
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: max(1, count) * MemoryLayout<Element>.stride, alignment: 16)
        self.blocks.append(block)
        return block.bindMemory(to: Element.self, capacity: max(1, count))
    }

    private func bytes(_ text: String) -> UnsafeRawBufferPointer {
        let utf8 = Array(text.utf8)
        let block = self.block(UInt8.self, utf8.count)
        for (index, byte) in utf8.enumerated() { (block + index).initialize(to: byte) }
        return UnsafeRawBufferPointer(start: block, count: utf8.count)
    }

    private static func wireType(of type: ProtobufCType) -> UInt8 {
        switch type {
        case PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_DOUBLE: 1
        case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_MESSAGE: 2
        case PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_FLOAT: 5
        default: 0
        }
    }

    // MARK: Reading

    private struct Reader {
        var place: UnsafeRawPointer
        let end: UnsafeRawPointer

        init(_ bytes: UnsafeRawBufferPointer) {
            let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
            (self.place, self.end) = (start, start + bytes.count)
        }

        var isAtEnd: Bool { self.place == self.end }

        @inline(__always)
        mutating func varint() -> UInt64? {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while self.place < self.end, shift < 64 {
                let byte = self.place.load(as: UInt8.self)
                self.place += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }

        @inline(__always)
        mutating func fixed(_ count: Int) -> UInt64? {
            guard self.end - self.place >= count else { return nil }
            defer { self.place += count }
            return count == 8
                ? UInt64(littleEndian: self.place.loadUnaligned(as: UInt64.self))
                : UInt64(UInt32(littleEndian: self.place.loadUnaligned(as: UInt32.self)))
        }

        @inline(__always)
        mutating func piece() -> UnsafeRawBufferPointer? {
            guard let count = self.varint(), count <= UInt64(self.end - self.place) else { return nil }
            defer { self.place += Int(count) }
            return UnsafeRawBufferPointer(start: self.place, count: Int(count))
        }

        @inline(__always)
        mutating func number(_ wireType: UInt8) -> UInt64? {
            wireType == 0 ? self.varint() : self.fixed(wireType == 1 ? 8 : 4)
        }
    }

    // MARK: Writing

    /// False: the message is not as our encoders write it.
    private func object(_ bytes: UnsafeRawBufferPointer, _ plan: UnsafeMutablePointer<Plan>, depth: Int) -> Bool {
        guard depth < Limits.protobufDepthMax else { return false }
        let fields = plan.pointee.fields
        var reader = Reader(bytes)
        var place = 0
        var last: UInt32 = 0
        var isInList = false
        var isEmpty = true
        self.put(UInt8(ascii: "{"))
        while !reader.isAtEnd {
            guard let tag = reader.varint(), let number = UInt32(exactly: tag >> 3) else { return false }
            while place < fields.count, fields[place].number < number { place += 1 }
            guard place < fields.count, fields[place].number == number else { return false }
            let field = fields[place]
            if number != last, isInList {
                self.put(UInt8(ascii: "]"))
                isInList = false
            }
            // Only a list has a field twice.
            guard number != last || isInList else { return false }
            let wireType = UInt8(truncatingIfNeeded: tag & 7)
            let isPacked = field.isRepeated && wireType == 2 && field.wireType != 2
            guard wireType == field.wireType || isPacked else { return false }
            if field.isRepeated {
                if !isInList { self.begin(field, &isEmpty) }
                guard self.element(&reader, field, isPacked: isPacked, isFirst: !isInList, depth: depth) else {
                    return false
                }
                isInList = true
            } else if wireType == 2 {
                guard let piece = reader.piece() else { return false }
                if !field.isImplicit || !piece.isEmpty {
                    self.key(field, &isEmpty)
                    guard self.piece(piece, field, depth: depth) else { return false }
                }
            } else {
                guard let value = reader.number(wireType) else { return false }
                if !field.isImplicit || value != 0 {
                    self.key(field, &isEmpty)
                    self.scalar(value, field)
                }
            }
            last = number
        }
        if isInList { self.put(UInt8(ascii: "]")) }
        self.put(UInt8(ascii: "}"))
        return true
    }

    private func key(_ field: Field, _ isEmpty: inout Bool) {
        if !isEmpty { self.put(UInt8(ascii: ",")) }
        isEmpty = false
        self.put(field.key)
    }

    private func begin(_ field: Field, _ isEmpty: inout Bool) {
        self.key(field, &isEmpty)
        self.put(UInt8(ascii: "["))
    }

    /// One element of a list, or all of a packed one.
    private func element(
        _ reader: inout Reader, _ field: Field, isPacked: Bool, isFirst: Bool, depth: Int
    ) -> Bool {
        var isFirst = isFirst
        if isPacked {
            guard let piece = reader.piece() else { return false }
            var packed = Reader(piece)
            while !packed.isAtEnd {
                guard let value = packed.number(field.wireType) else { return false }
                if !isFirst { self.put(UInt8(ascii: ",")) }
                isFirst = false
                self.scalar(value, field)
            }
            return true
        }
        if !isFirst { self.put(UInt8(ascii: ",")) }
        if field.wireType == 2 {
            guard let piece = reader.piece() else { return false }
            return self.piece(piece, field, depth: depth)
        }
        guard let value = reader.number(field.wireType) else { return false }
        self.scalar(value, field)
        return true
    }

    private func piece(_ piece: UnsafeRawBufferPointer, _ field: Field, depth: Int) -> Bool {
        switch field.type {
        case PROTOBUF_C_TYPE_STRING: return self.text(piece)
        case PROTOBUF_C_TYPE_BYTES:
            self.put(UInt8(ascii: "\""))
            self.base64(piece)
            self.put(UInt8(ascii: "\""))
            return true
        default:
            guard let plan = field.plan else { return false }
            return self.object(piece, plan, depth: depth + 1)
        }
    }

    private func scalar(_ value: UInt64, _ field: Field) {
        switch field.type {
        case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SFIXED32:
            self.integer(Int64(Int32(truncatingIfNeeded: value)))
        case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32: self.integer(Int64(UInt32(truncatingIfNeeded: value)))
        case PROTOBUF_C_TYPE_SINT32:
            let folded = UInt32(truncatingIfNeeded: value)
            self.integer(Int64(Int32(bitPattern: folded >> 1) ^ -Int32(bitPattern: folded & 1)))
        case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SFIXED64: self.quoted(Int64(bitPattern: value))
        case PROTOBUF_C_TYPE_SINT64: self.quoted(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
        case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64:
            self.put(UInt8(ascii: "\""))
            self.digits(value, isNegative: false)
            self.put(UInt8(ascii: "\""))
        case PROTOBUF_C_TYPE_BOOL: self.put(value != 0 ? "true" : "false")
        case PROTOBUF_C_TYPE_ENUM:
            let number = Int32(truncatingIfNeeded: value)
            if let name = field.names.first(where: { $0.number == number }) {
                self.put(name.text)
            } else {
                self.integer(Int64(number))
            }
        case PROTOBUF_C_TYPE_FLOAT:
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: value))
            self.put(MessageJSONWriter.text(of: Double(float)).utf8)
        default: self.put(MessageJSONWriter.text(of: Double(bitPattern: value)).utf8)
        }
    }

    // MARK: Bytes

    @inline(__always)
    private func makeRoom(_ more: Int) {
        if self.count + more > self.capacity { self.grow(more) }
    }

    private func grow(_ more: Int) {
        let capacity = max(2 * self.capacity, self.count + more)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        memory.copyMemory(from: self.memory, byteCount: self.count)
        self.memory.deallocate()
        (self.memory, self.capacity) = (memory, capacity)
    }

    @inline(__always)
    private func put(_ byte: UInt8) {
        self.makeRoom(1)
        self.memory.storeBytes(of: byte, toByteOffset: self.count, as: UInt8.self)
        self.count += 1
    }

    @inline(__always)
    private func put(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        self.makeRoom(bytes.count)
        (self.memory + self.count).copyMemory(from: base, byteCount: bytes.count)
        self.count += bytes.count
    }

    @inline(__always)
    private func put(_ text: StaticString) {
        self.put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private func put(_ text: some Collection<UInt8>) { for byte in text { self.put(byte) } }

    private func quoted(_ value: Int64) {
        self.put(UInt8(ascii: "\""))
        self.integer(value)
        self.put(UInt8(ascii: "\""))
    }

    private func integer(_ value: Int64) { self.digits(value.magnitude, isNegative: value < 0) }

    private func digits(_ value: UInt64, isNegative: Bool) {
        self.makeRoom(Self.scalarBytesMax)
        if isNegative { self.put(UInt8(ascii: "-")) }
        var length = 1
        var bound: UInt64 = 10
        while length < 20, value >= bound {
            length += 1
            let (next, overflows) = bound.multipliedReportingOverflow(by: 10)
            if overflows { break }
            bound = next
        }
        var rest = value
        for place in stride(from: length - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
            self.memory.storeBytes(of: digit, toByteOffset: self.count + place, as: UInt8.self)
            rest /= 10
        }
        self.count += length
    }

    /// A text in quotes, with the escapes of `JSONWriter`. False: it has a NUL.
    private func text(_ bytes: UnsafeRawBufferPointer) -> Bool {
        self.makeRoom(bytes.count + 2)
        self.put(UInt8(ascii: "\""))
        var start = 0
        for place in 0..<bytes.count {
            let byte = bytes[place]
            // Most letters.
            if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
            // U+0080 to U+009F are C2 and one more byte.
            let isHighControl = byte == 0xC2 && place + 1 < bytes.count && bytes[place + 1] < 0xA0
            if byte >= 0x80, !isHighControl { continue }
            guard byte != 0 else { return false }
            self.put(UnsafeRawBufferPointer(rebasing: bytes[start..<place]))
            self.escape(isHighControl ? bytes[place + 1] : byte)
            start = place + (isHighControl ? 2 : 1)
        }
        if start < bytes.count { self.put(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
        self.put(UInt8(ascii: "\""))
        return true
    }

    private func escape(_ code: UInt8) {
        switch code {
        case UInt8(ascii: "\""): self.put("\\\"")
        case UInt8(ascii: "\\"): self.put("\\\\")
        case 10: self.put("\\n")
        case 13: self.put("\\r")
        case 9: self.put("\\t")
        default:
            self.put("\\u00")
            self.put(Self.digit(code >> 4))
            self.put(Self.digit(code & 15))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")
    }

    private func base64(_ bytes: UnsafeRawBufferPointer) {
        self.makeRoom((bytes.count + 2) / 3 * 4)
        var place = 0
        while place < bytes.count {
            let group = min(3, bytes.count - place)
            var word: UInt32 = 0
            for index in 0..<3 { word = word << 8 | (index < group ? UInt32(bytes[place + index]) : 0) }
            for index in 0..<4 {
                self.put(index <= group ? Self.letter(word >> UInt32(18 - 6 * index) & 63) : UInt8(ascii: "="))
            }
            place += 3
        }
    }

    private static func letter(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        switch value {
        case 0..<26: return value + UInt8(ascii: "A")
        case 26..<52: return value - 26 + UInt8(ascii: "a")
        case 52..<62: return value - 52 + UInt8(ascii: "0")
        case 62: return UInt8(ascii: "+")
        default: return UInt8(ascii: "/")
        }
    }
}
