import CPerchProto
import PerchBase
import PerchJSON

/// Reads canonical proto3 JSON into protobuf's bytes, which then pass the same checks as any other request.
///
/// It accepts what protobuf's JSON mapping demands of readers: names in lowerCamelCase and as in the contract, numbers as
/// numbers or texts, enumerations by name or number, Base64 in both alphabets, null for an absent field. It refuses
/// unknown fields, because a person with `curl` needs to learn of a misspelt one.
struct MessageJSONReader {
    private var output: [UInt8] = []
    /// The names on the way to the current value, for errors.
    private var path: [String] = []

    static func bytes(of document: [UInt8], as message: MessageDescription) throws(MessageJSONError) -> [UInt8] {
        let value: JSONValue
        do {
            var limits = JSONLimits()
            limits.bytes = Limits.jsonRequestBytesMax
            // A file is one string. The document itself is limited.
            limits.stringBytes = max(limits.stringBytes, document.count)
            value = try JSONReader.read(document, limits: limits)
        } catch {
            throw .notJSON(error)
        }
        var reader = MessageJSONReader()
        try reader.object(value, as: message)
        return reader.output
    }

    private mutating func object(_ value: JSONValue, as message: MessageDescription) throws(MessageJSONError) {
        guard let members = value.members else { throw self.wrong(value, expected: "an object") }
        var seen: Set<UInt32> = []
        for member in members {
            guard let field = message.fields.first(where: { $0.jsonName == member.key || $0.name == member.key }) else {
                throw .unknownField(
                    field: self.path(to: member.key), at: member.place, message: message.fullName,
                    nearest: nearest(to: member.key, in: message.fields.map(\.jsonName)))
            }
            self.path.append(field.jsonName)
            // Fields of one `oneof` share the place of their case, which no other field has.
            let identity = field.presence == .oneof ? field.pointer.pointee.quantifier_offset | 1 << 31 : field.number
            if !member.value.isNull {
                guard seen.insert(identity).inserted else {
                    throw .secondValue(field: self.path(to: nil), at: member.place)
                }
                try self.field(field, member.value)
            }
            self.path.removeLast()
        }
    }

    private mutating func field(_ field: FieldDescription, _ value: JSONValue) throws(MessageJSONError) {
        guard field.presence == .repeated else {
            self.tag(field.number, Self.wireType(of: field.type))
            return try self.value(value, of: field)
        }
        guard let elements = value.array else { throw self.wrong(value, expected: "an array") }
        guard !elements.isEmpty else { return }
        if field.isPacked {
            self.tag(field.number, 2)
            try self.delimited { reader throws(MessageJSONError) in
                for element in elements { try reader.value(element, of: field) }
            }
        } else {
            for element in elements {
                self.tag(field.number, Self.wireType(of: field.type))
                try self.value(element, of: field)
            }
        }
    }

    private mutating func value(_ value: JSONValue, of field: FieldDescription) throws(MessageJSONError) {
        switch field.type {
        case PROTOBUF_C_TYPE_INT32:
            self.number(UInt64(bitPattern: Int64(try self.integer(value, Int32.self))))
        case PROTOBUF_C_TYPE_INT64: self.number(UInt64(bitPattern: try self.integer(value, Int64.self)))
        case PROTOBUF_C_TYPE_UINT32: self.number(UInt64(try self.integer(value, UInt32.self)))
        case PROTOBUF_C_TYPE_UINT64: self.number(try self.integer(value, UInt64.self))
        case PROTOBUF_C_TYPE_SINT32:
            let integer = try self.integer(value, Int32.self)
            self.number(UInt64(UInt32(bitPattern: integer << 1 ^ integer >> 31)))
        case PROTOBUF_C_TYPE_SINT64:
            let integer = try self.integer(value, Int64.self)
            self.number(UInt64(bitPattern: integer << 1 ^ integer >> 63))
        case PROTOBUF_C_TYPE_FIXED32: self.fixed(try self.integer(value, UInt32.self))
        case PROTOBUF_C_TYPE_SFIXED32: self.fixed(UInt32(bitPattern: try self.integer(value, Int32.self)))
        case PROTOBUF_C_TYPE_FIXED64: self.fixed(try self.integer(value, UInt64.self))
        case PROTOBUF_C_TYPE_SFIXED64: self.fixed(UInt64(bitPattern: try self.integer(value, Int64.self)))
        case PROTOBUF_C_TYPE_FLOAT: self.fixed(try self.float(value).bitPattern)
        case PROTOBUF_C_TYPE_DOUBLE: self.fixed(try self.fraction(value).bitPattern)
        case PROTOBUF_C_TYPE_BOOL:
            guard let flag = value.boolean else { throw self.wrong(value, expected: "true or false") }
            self.number(flag ? 1 : 0)
        case PROTOBUF_C_TYPE_ENUM:
            self.number(UInt64(bitPattern: Int64(try self.choice(value, of: field.enumeration))))
        case PROTOBUF_C_TYPE_STRING:
            guard let text = value.string else { throw self.wrong(value, expected: "a string") }
            self.number(UInt64(text.utf8.count))
            self.output.append(contentsOf: text.utf8)
        case PROTOBUF_C_TYPE_BYTES:
            guard let bytes = value.string.flatMap({ Base64.decodeLenient($0) }) else {
                throw self.wrong(value, expected: "bytes as a Base64 string")
            }
            self.number(UInt64(bytes.count))
            self.output.append(contentsOf: bytes)
        case PROTOBUF_C_TYPE_MESSAGE:
            try self.delimited { reader throws(MessageJSONError) in try reader.object(value, as: field.message) }
        default: preconditionFailure("\(field.name) has the unknown type \(field.type)")
        }
    }

    // MARK: Values

    private func integer<Value: FixedWidthInteger>(
        _ value: JSONValue, _ type: Value.Type
    ) throws(MessageJSONError) -> Value {
        let text: String? = if case .number(let digits) = value.content { digits } else { value.string }
        if let text, let integer = Value(text), !text.hasPrefix("+") { return integer }
        // `1.0` and `1e3` are whole numbers too. A binary fraction holds them exactly up to 2^53.
        if let text, !text.isEmpty, text.utf8.allSatisfy(Self.isPartOfNumber), let double = Double(text),
            double.magnitude <= 0x1p53, let integer = Value(exactly: double)
        {
            return integer
        }
        throw self.wrong(value, expected: "a whole number from \(Value.min) to \(Value.max)")
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func fraction(_ value: JSONValue) throws(MessageJSONError) -> Double {
        switch value.content {
        case .number(let text):
            if let double = Double(text), double.isFinite { return double }
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text):
            if !text.isEmpty, text.utf8.allSatisfy(Self.isPartOfNumber), let double = Double(text), double.isFinite {
                return double
            }
        default: break
        }
        throw self.wrong(value, expected: "a number")
    }

    private func float(_ value: JSONValue) throws(MessageJSONError) -> Float {
        let double = try self.fraction(value)
        let float = Float(double)
        guard float.isFinite || !double.isFinite else { throw self.wrong(value, expected: "a number of 32 bits") }
        return float
    }

    private func choice(
        _ value: JSONValue, of enumeration: UnsafePointer<ProtobufCEnumDescriptor>
    ) throws(MessageJSONError) -> Int32 {
        if case .number = value.content { return try self.integer(value, Int32.self) }
        if let text = value.string, let known = enumeration.names.first(where: { $0.name == text }) {
            return known.number
        }
        let names = enumeration.names.map(\.name)
        let closest = value.string.flatMap { text in
            names.first { $0.hasSuffix("_" + text.uppercased()) } ?? nearest(to: text, in: names)
        }
        throw self.wrong(
            value, expected: closest.map { "one of its names, such as \($0)" } ?? names.joined(separator: ", "))
    }

    /// The error for a value that its field cannot take. It quotes no text of the caller's.
    private func wrong(_ value: JSONValue, expected: String) -> MessageJSONError {
        let found: String =
            switch value.content {
            case .number(let digits): digits.utf8.count <= 40 ? "the number \(digits)" : "a number"
            case .string: "a string that does not fit"
            default: value.kind
            }
        return .wrongValue(field: self.path(to: nil), at: value.place, found: found, expected: expected)
    }

    private func path(to last: String?) -> String {
        (self.path + (last.map { [$0] } ?? [])).joined(separator: ".")
    }

    // MARK: Bytes

    private static func wireType(of type: ProtobufCType) -> UInt32 {
        switch type {
        case PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_DOUBLE: 1
        case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_MESSAGE: 2
        case PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_FLOAT: 5
        default: 0
        }
    }

    private mutating func tag(_ number: UInt32, _ wireType: UInt32) {
        self.number(UInt64(number) << 3 | UInt64(wireType))
    }

    private mutating func number(_ value: UInt64) {
        var value = value
        while value > 0x7F {
            self.output.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.output.append(UInt8(truncatingIfNeeded: value))
    }

    private mutating func fixed(_ value: some FixedWidthInteger) {
        var rest = value
        for _ in 0..<MemoryLayout.size(ofValue: value) {
            self.output.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Writes the length of what `write` writes, and then that.
    private mutating func delimited(
        _ write: (inout MessageJSONReader) throws(MessageJSONError) -> Void
    ) throws(MessageJSONError) {
        var inner = MessageJSONReader()
        inner.path = self.path
        try write(&inner)
        self.number(UInt64(inner.output.count))
        self.output.append(contentsOf: inner.output)
    }
}
