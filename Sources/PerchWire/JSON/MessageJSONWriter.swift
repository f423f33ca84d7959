import CPerchProto
import PerchBase
import PerchJSON

/// Writes a message as canonical proto3 JSON: lowerCamelCase names, defaults left out, 64-bit numbers as strings,
/// enumerations by name (an unknown one by number), bytes as Base64.
///
/// protobuf-c's descriptions drive it, so a new field of the contract needs no line here.
enum MessageJSONWriter {
    /// `zeros`: fractions are written even if they are 0, which readers of canonical JSON accept.
    static func object(
        _ structure: UnsafeRawPointer, as message: MessageDescription, to json: inout JSONWriter, zeros: Bool = false
    ) {
        json.beginObject()
        self.members(of: structure, as: message, to: &json, zeros: zeros)
        json.endObject()
    }

    static func members(
        of structure: UnsafeRawPointer, as message: MessageDescription, to json: inout JSONWriter, zeros: Bool = false
    ) {
        for field in message.fields {
            let count = field.count(in: structure)
            if count == 0 || field.presence == .implicit && self.isDefault(field, structure) {
                // A measured 0 is a value for who asked for every value.
                guard count > 0, zeros, field.type == PROTOBUF_C_TYPE_DOUBLE else { continue }
            }
            json.key(field.jsonName)
            guard field.presence == .repeated else {
                self.value(field.value(0, in: structure), of: field, to: &json, zeros: zeros)
                continue
            }
            json.beginArray()
            for index in 0..<count { self.value(field.value(index, in: structure), of: field, to: &json, zeros: zeros) }
            json.endArray()
        }
    }

    private static func isDefault(_ field: FieldDescription, _ structure: UnsafeRawPointer) -> Bool {
        let value = field.value(0, in: structure)
        switch field.type {
        case PROTOBUF_C_TYPE_STRING:
            guard let text = value.load(as: UnsafePointer<CChar>?.self) else { return true }
            return text.pointee == 0
        case PROTOBUF_C_TYPE_BYTES: return value.load(as: ProtobufCBinaryData.self).len == 0
        case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_UINT64,
            PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_DOUBLE:
            return value.load(as: UInt64.self) == 0
        default: return value.load(as: UInt32.self) == 0
        }
    }

    private static func value(
        _ value: UnsafeRawPointer, of field: FieldDescription, to json: inout JSONWriter, zeros: Bool
    ) {
        switch field.type {
        case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_SFIXED32:
            json.integer(value.load(as: Int32.self))
        case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32: json.integer(value.load(as: UInt32.self))
        case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64:
            json.string(String(value.load(as: Int64.self)))
        case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64: json.string(String(value.load(as: UInt64.self)))
        case PROTOBUF_C_TYPE_FLOAT: self.fraction(Double(value.load(as: Float.self)), to: &json)
        case PROTOBUF_C_TYPE_DOUBLE: self.fraction(value.load(as: Double.self), to: &json)
        case PROTOBUF_C_TYPE_BOOL: json.boolean(value.load(as: Int32.self) != 0)
        case PROTOBUF_C_TYPE_ENUM:
            let number = value.load(as: Int32.self)
            if let name = field.enumeration.name(of: number) { json.string(name) } else { json.integer(number) }
        case PROTOBUF_C_TYPE_STRING: json.string(String(wire: value.load(as: UnsafeMutablePointer<CChar>?.self)))
        case PROTOBUF_C_TYPE_BYTES:
            let data = value.load(as: ProtobufCBinaryData.self)
            json.string(Base64.encode(UnsafeBufferPointer(start: data.data, count: data.data == nil ? 0 : data.len)))
        case PROTOBUF_C_TYPE_MESSAGE:
            self.object(value.load(as: UnsafeRawPointer.self), as: field.message, to: &json, zeros: zeros)
        default: preconditionFailure("\(field.name) has the unknown type \(field.type)")
        }
    }

    /// The text of a fraction, as `fraction` writes it.
    static func text(of value: Double) -> String {
        if value.isNaN { return "\"NaN\"" }
        if value.isInfinite { return value < 0 ? "\"-Infinity\"" : "\"Infinity\"" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53, value != 0 || value.sign == .plus {
            return String(whole)
        }
        return String(value)
    }

    /// JSON has no infinities and no NaN, so protobuf writes them as texts. A whole number has no fraction.
    private static func fraction(_ value: Double, to json: inout JSONWriter) {
        if value.isNaN {
            json.string("NaN")
        } else if value.isInfinite {
            json.string(value < 0 ? "-Infinity" : "Infinity")
        } else if let whole = Int64(exactly: value), whole.magnitude < 1 << 53, value != 0 || value.sign == .plus {
            json.integer(whole)
        } else {
            json.double(value)
        }
    }
}
