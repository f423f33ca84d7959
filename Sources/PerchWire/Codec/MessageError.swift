/// Why bytes are not the expected message, or why a message cannot be sent.
///
/// `field` is a path in the contract's names: `perch.v1.PurchaseRequest.app.bundle_id`. It never contains the message's
/// contents.
package enum MessageError: Error, Equatable, Sendable, CustomStringConvertible {
    case malformed(field: String, atByte: Int, fault: Fault)
    case tooDeep(field: String, limit: Int)
    case tooManyFields(message: String, limit: Int)
    case tooManyItems(field: String, count: Int, limit: Int)
    case notUTF8(field: String, atByte: Int)
    case hasNUL(field: String, atByte: Int)
    /// A required field is missing.
    case missing(field: String)
    /// A field has a value without a meaning. `found` is a number or one of our words, never the caller's text.
    case invalid(field: String, found: String, expected: String)
    /// What was to be sent.
    case tooLong(message: String, bytes: Int, limitBytes: Int)
    case tooMuchMemory(message: String, limitBytes: Int)

    package enum Fault: Equatable, Sendable {
        /// The message ends within a tag or a number.
        case truncated
        /// A length reaches beyond the end of its message.
        case lengthBeyondEnd(declaredBytes: UInt64, leftBytes: Int)
        /// A number of more than ten bytes, or a tag or length of more than five.
        case overlongNumber
        case fieldNumberZero
        case fieldNumberTooLarge
        case group
        case unknownWireType(UInt8)
        case wrongWireType(found: UInt8, expected: UInt8)
        /// Packed numbers that end inside a number.
        case brokenPacking
        /// The scan accepted the message, but protobuf-c refused it.
        case refused
    }

    package var description: String {
        switch self {
        case .malformed(let field, let byte, let fault): "\(field) is malformed at byte \(byte): \(fault)"
        case .tooDeep(let field, let limit):
            "\(field) is nested more than \(limit) messages deep; send a flatter message"
        case .tooManyFields(let message, let limit):
            "\(message) has more than \(limit) singular fields; send each field once"
        case .tooManyItems(let field, let count, let limit):
            "\(field) brings the message to \(count) items, the limit is \(limit); ask for less at a time"
        case .notUTF8(let field, let byte):
            "\(field) is not UTF-8 at byte \(byte) of it; text is UTF-8, bytes go elsewhere"
        case .hasNUL(let field, let byte): "\(field) has a NUL at byte \(byte) of it; send text without NUL"
        case .missing(let field): "\(field) is missing; set it"
        case .invalid(let field, let found, let expected): "\(field) is \(found); send \(expected)"
        case .tooLong(let message, let bytes, let limit):
            "\(message) would have \(bytes) bytes, the limit is \(limit); ask for less at a time"
        case .tooMuchMemory(let message, let limit):
            "\(message) would need more than \(limit) bytes of memory; ask for less at a time"
        }
    }
}

extension MessageError.Fault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated: "the message ends there, within a field"
        case .lengthBeyondEnd(let declared, let left): "a length of \(declared) bytes, and \(left) are left"
        case .overlongNumber: "a number with more bytes than its type has"
        case .fieldNumberZero: "field number 0"
        case .fieldNumberTooLarge: "a field number above 536870911"
        case .group: "a group, which proto3 does not have"
        case .unknownWireType(let type): "wire type \(type), which does not exist"
        case .wrongWireType(let found, let expected): "wire type \(found) where the contract has \(expected)"
        case .brokenPacking: "packed numbers that do not end with the field"
        case .refused: "protobuf-c refused it"
        }
    }
}
