import CPerchProto
import PerchBase
package import PerchJSON

extension MessageCodec {
    /// A request in protobuf's bytes, from its canonical JSON.
    package static func requestBytes(
        _ method: Method, ofJSON document: [UInt8]
    ) throws(MessageJSONError) -> [UInt8] {
        try MessageJSONReader.bytes(of: document, as: method.requestDescriptor)
    }

    /// Writes the canonical JSON of an encoded response as one value.
    package func writeJSON(
        ofResponse method: Method, _ bytes: borrowing RawSpan, to json: inout JSONWriter
    ) throws(MessageError) {
        let message = method.responseDescriptor
        let structure = try self.unpack(message, bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
        MessageJSONWriter.object(structure, as: message, to: &json)
    }

    /// Writes the canonical JSON of a response as one value.
    package func writeJSON(_ response: Response, to json: inout JSONWriter) throws(MessageError) {
        let bytes = [UInt8](try self.encode(response).message)
        try self.writeJSON(ofResponse: response.method, bytes.span.bytes, to: &json)
    }

    /// Writes the members of a response into an object that the caller began.
    package func writeJSONMembers(of response: Response, to json: inout JSONWriter) throws(MessageError) {
        let bytes = [UInt8](try self.encode(response).message)
        let message = response.method.responseDescriptor
        let structure = try self.unpack(message, bytes.span.bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
        MessageJSONWriter.members(of: structure, as: message, to: &json, zeros: true)
    }

    /// Each element of a response's list as a document of its own. `path` leads to the list by JSON names:
    /// `success.products`.
    package func jsonElements(_ path: String, of response: Response) throws(MessageError) -> [[UInt8]] {
        let bytes = [UInt8](try self.encode(response).message)
        var message = response.method.responseDescriptor
        var structure = UnsafeRawPointer(
            try self.unpack(message, bytes.span.bytes, singularFieldsMax: Limits.responseSingularFieldsMax))
        for name in path.split(separator: ".") {
            guard let field = message.fields.first(where: { $0.jsonName == name }),
                field.type == PROTOBUF_C_TYPE_MESSAGE
            else { preconditionFailure("\(message.fullName) has no message \(name)") }
            if field.presence == .repeated {
                return (0..<field.count(in: structure)).map {
                    Self.document(field.value($0, in: structure).load(as: UnsafeRawPointer.self), as: field.message)
                }
            }
            guard field.count(in: structure) == 1 else { return [] }
            structure = field.value(0, in: structure).load(as: UnsafeRawPointer.self)
            message = field.message
        }
        preconditionFailure("\(path) is no list of \(response.method)")
    }

    private static func document(_ structure: UnsafeRawPointer, as message: MessageDescription) -> [UInt8] {
        var json = JSONWriter(limitBytes: .max)
        MessageJSONWriter.object(structure, as: message, to: &json)
        do {
            return try json.finish()
        } catch {
            preconditionFailure("a document without limit overflowed: \(error)")
        }
    }
}
