import CPerchProto
import PerchBase
import PerchJSON

// JSON as HTTP carries it.
extension MessageCodec {
    /// The canonical JSON of an encoded response. One that we encoded ourselves can be read.
    package func json(ofResponse method: Method, _ message: UnsafeRawBufferPointer) -> [UInt8] {
        if let json = self.transcoder.json(of: message, as: method.responseDescriptor) { return json }
        var json = JSONWriter(limitBytes: .max)
        do {
            try self.writeJSON(ofResponse: method, message.bytes, to: &json)
            return try json.finish()
        } catch {
            preconditionFailure("a response of our own could not be written as JSON: \(error)")
        }
    }

    /// What a stream goes on from after an encoded response: its resume token or cursor; nil where it has none.
    package func resumeToken(ofResponse method: Method, _ message: UnsafeRawBufferPointer) -> [UInt8]? {
        // `info.resume_token` of state streams, `cursor` of events. One event has one identifier, and several watches have as many
        // tokens: their client keeps them itself.
        guard method != .watch else { return nil }
        if method == .appEntitlements { return Self.resumeToken(ofCopyPart: message) }
        var fields = ProtobufFields(Array(message)[...])
        let cursor: UInt32? =
            switch method {
            case .transactionUpdates: 3
            case .appChanges: 8
            default: nil
            }
        while let field = fields.next() {
            guard field.field == cursor ?? 5, case .piece(let piece) = field.value else { continue }
            if cursor != nil { return piece.isEmpty ? nil : Array(piece) }
            var info = ProtobufFields(piece)
            while let inner = info.next() {
                if inner.field == 5, case .piece(let token) = inner.value { return Array(token) }
            }
        }
        return nil
    }

    /// `accounts.resume_token` and `end.resume_token`.
    private static func resumeToken(ofCopyPart message: UnsafeRawBufferPointer) -> [UInt8]? {
        var fields = ProtobufFields(Array(message)[...])
        while let field = fields.next() {
            let number: UInt32? =
                switch field.field {
                case 2: 13
                case 3: 2
                default: nil
                }
            guard let number, case .piece(let part) = field.value else { continue }
            var inner = ProtobufFields(part)
            while let found = inner.next() {
                if found.field == number, case .piece(let token) = found.value { return Array(token) }
            }
        }
        return nil
    }

    /// The JSON of a request whose fields stand in a query: `account=alice&groupId=plus&app.bundleId=…`. A field that repeats
    /// is a list.
    package static func json(
        ofQuery query: [(name: String, value: String)], _ method: Method
    ) throws(MessageJSONError) -> [UInt8] {
        guard query.count <= Limits.queryFieldsMax else {
            throw .queryTooLarge(found: "\(query.count) fields", limit: "\(Limits.queryFieldsMax)")
        }
        let root = QueryNode()
        for (name, value) in query {
            var node = root
            let parts = name.split(separator: ".")
            // The tree is written and freed by recursion, so its depth is bounded before it is built.
            guard parts.count < Limits.jsonDepth else {
                throw .queryTooLarge(found: "a path of \(parts.count) names", limit: "\(Limits.jsonDepth - 1)")
            }
            for part in parts { node = node.member(String(part)) }
            node.values.append(value)
        }
        var json = JSONWriter(limitBytes: .max)
        try root.write(to: &json, as: method.requestDescriptor)
        do {
            return try json.finish()
        } catch {
            preconditionFailure("a document without limit overflowed: \(error)")
        }
    }
}

/// The fields of a query as a tree.
private final class QueryNode {
    private var members: [(name: String, node: QueryNode)] = []
    var values: [String] = []

    func member(_ name: String) -> QueryNode {
        if let known = self.members.first(where: { $0.name == name }) { return known.node }
        let node = QueryNode()
        self.members.append((name, node))
        return node
    }

    /// `path`: the names on the way to this node.
    func write(
        to json: inout JSONWriter, as message: MessageDescription?, path: String = ""
    ) throws(MessageJSONError) {
        json.beginObject()
        for (name, node) in self.members {
            json.key(name)
            let field = message?.fields.first { $0.jsonName == name || $0.name == name }
            if !node.members.isEmpty {
                guard node.values.isEmpty else {
                    throw .repeatedField(field: path + name, count: node.values.count + 1)
                }
                let isMessage = field?.type == PROTOBUF_C_TYPE_MESSAGE
                try node.write(to: &json, as: isMessage ? field?.message : nil, path: path + name + ".")
            } else if field?.presence == .repeated {
                json.beginArray()
                for value in node.values { Self.write(value, field, to: &json) }
                json.endArray()
            } else {
                guard node.values.count <= 1 else {
                    throw .repeatedField(field: path + name, count: node.values.count)
                }
                Self.write(node.values.last ?? "", field, to: &json)
            }
        }
        json.endObject()
    }

    private static func write(_ value: String, _ field: FieldDescription?, to json: inout JSONWriter) {
        if field?.type == PROTOBUF_C_TYPE_BOOL, value == "true" || value == "false" {
            json.boolean(value == "true")
        } else {
            json.string(value)
        }
    }
}
