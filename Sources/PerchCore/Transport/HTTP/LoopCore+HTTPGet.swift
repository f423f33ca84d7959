import PerchBase
import PerchJSON
import PerchWire

// GET: reads without side effects, and streams as server-sent events. And who may ask: pages of other origins.
extension LoopCore {
    // MARK: Origins

    /// Bytes of the origin of a page, which its stream keeps. A longer one is not allowed.
    private static let originBytesMax = 512

    /// Whether a request may be answered, by its Host. False: it was refused.
    mutating func acceptsHost(_ stream: Int32, _ head: RequestHead) -> Bool {
        let index = self.transport.http.streams[stream].connection
        let rule =
            self.connections[index].flags.contains(.isIntake) ? self.settings.intakeHosts : self.settings.hosts
        guard rule.kind != .any, let text = rule.refusal(of: head.authority) else { return true }
        self.respond(stream, 421, text)
        return false
    }

    /// Whether a request may be answered, by its Host and its Origin. False: it was refused.
    ///
    /// A page of a foreign site must not reach a server that answers everyone on this machine, neither by its own name for
    /// 127.0.0.1 nor by asking across origins.
    mutating func acceptsOrigin(_ stream: Int32, _ head: RequestHead) -> Bool {
        guard self.acceptsHost(stream, head) else { return false }
        guard !head.origin.isEmpty else { return true }
        let origin = String(decoding: head.origin, as: UTF8.self)
        if origin == "http://\(String(decoding: head.authority, as: UTF8.self))"
            || origin == "https://\(String(decoding: head.authority, as: UTF8.self))"
        {
            return true
        }
        guard head.origin.count <= Self.originBytesMax,
            self.settings.origins.contains("*") || self.settings.origins.contains(origin)
        else {
            self.respond(
                stream, 403,
                "pages of \(origin.prefix(Self.originBytesMax)) may not ask here; --allow-origin names those that may")
            return false
        }
        // gRPC itself is not what pages speak.
        guard head.form != .grpc else { return true }
        self.transport.http.origins[stream] = origin
        self.transport.http.streams[stream].flags.insert(.isCrossOrigin)
        return true
    }

    func crossOriginFields(_ stream: Int32) -> [(name: String, value: String)] {
        [
            ("access-control-allow-origin", self.transport.http.origins[stream] ?? ""), ("vary", "origin"),
            (
                "access-control-expose-headers",
                "grpc-status, grpc-message, grpc-status-details-bin, grpc-encoding, connect-content-encoding"
            ),
        ]
    }

    mutating func answerPreflight(_ stream: Int32) {
        self.respond(
            stream, 204, [], contentType: "text/plain",
            extra: [
                ("access-control-allow-methods", "GET, POST"),
                (
                    "access-control-allow-headers",
                    "authorization, content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, last-event-id, perch-client-id, perch-groups, perch-heartbeat, x-grpc-web, x-user-agent"
                ),
                ("access-control-max-age", "7200"),
            ], endsCall: -1)
    }

    // MARK: GET

    /// A read as GET: Connect's own form (`?encoding=json&message=…`), or the fields of the request by name. A HEAD runs the
    /// read as well, because only its answer has the status and the length of the head.
    mutating func beginHTTPGet(_ stream: Int32, _ head: RequestHead) {
        self.transport.http.streams[stream].form = .plain
        let question = head.path.firstIndex(of: UInt8(ascii: "?"))
        let path = Array(question.map { head.path[..<$0] } ?? head.path[...])
        guard case .method(let method)? = Self.target(path) else {
            if self.answerFile(stream, path, head) { return }
            return self.respond(
                stream, 404,
                "there is nothing here; POST /perch.v1.EntitlementService/GetSubscriptionStatus is an example")
        }
        guard method.isSafe else {
            return self.respond(
                stream, 405, "\(method.path) changes something; use POST", extra: [("allow", "POST")])
        }
        if method.isStreaming, head.verb == .head {
            return self.respond(
                stream, 405, "\(method.path) answers with a stream, which has no HEAD; use GET or POST",
                extra: [("allow", "GET, POST")])
        }
        let query = Self.query(question.map { head.path[($0 + 1)...] } ?? [])
        if query.contains(where: { $0.name == "authorization" || $0.name == "token" || $0.name == "access_token" }) {
            return self.respond(
                stream, 400, "tokens do not belong into an address, which is logged; send them as authorization")
        }
        let hasEncoding = query.contains { $0.name == "encoding" }
        if method.isStreaming, !head.marks.contains(.acceptsEvents) || hasEncoding {
            return self.respond(
                stream, 406,
                "\(method.path) answers with a stream; send `Accept: text/event-stream`, or POST application/connect+json"
            )
        }
        var head = head
        if let fault = self.setForm(of: stream, method, query, &head) { return self.refuseHTTP(stream, fault) }
        let message: [UInt8]
        do throws(CallRefusal) {
            message = try self.message(of: query, stream, method, head)
        } catch {
            return self.refuseHTTP(stream, error.status)
        }
        if let status = self.refusal(of: head, .method(method), stream) { return self.refuseHTTP(stream, status) }
        self.accepted(stream, head, .method(method))
        self.transport.http.streams[stream].flags.insert(.isOpened)
        self.openHTTPCall(stream, method, head, message)
    }

    /// How a GET is answered.
    private mutating func setForm(
        of stream: Int32, _ method: Method, _ query: [(name: String, value: [UInt8])], _ head: inout RequestHead
    ) -> WireStatus? {
        let encoding = query.first { $0.name == "encoding" }.map { String(decoding: $0.value, as: UTF8.self) }
        if method.isStreaming {
            self.transport.http.streams[stream].form = .events
            self.transport.http.streams[stream].flags.insert(.isJSON)
            return nil
        }
        self.transport.http.streams[stream].form = .connectUnary
        switch encoding {
        case nil, "json": self.transport.http.streams[stream].flags.insert(.isJSON)
        case "proto": break
        default: return WireStatus(.encodingUnknown, "encoding is neither proto nor json")
        }
        if let compression = query.first(where: { $0.name == "compression" }) {
            compression.value.withUnsafeBytes { head.encoding = RequestHead.encoding($0) }
        }
        return head.encoding == .unknown
            ? WireStatus(.encodingUnknown, "compression is none of \(GRPCStatusFields.encodings)") : nil
    }

    /// The bytes of the request that a query stands for, in the codec of its stream.
    private mutating func message(
        of query: [(name: String, value: [UInt8])], _ stream: Int32, _ method: Method, _ head: RequestHead
    ) throws(CallRefusal) -> [UInt8] {
        guard query.contains(where: { $0.name == "encoding" || $0.name == "connect" }) else {
            var fields = query.map { (name: $0.name, value: String(decoding: $0.value, as: UTF8.self)) }
            // EventSource comes back with the identifier of its last event, which is the token.
            if !head.lastEventID.isEmpty, method.isStreaming {
                let name = method == .transactionUpdates || method == .appChanges ? "cursor" : "resumeToken"
                fields.removeAll { $0.name == name }
                fields.append((name, String(decoding: head.lastEventID, as: UTF8.self)))
            }
            do throws(MessageJSONError) {
                return try MessageCodec.json(ofQuery: fields, method)
            } catch {
                throw CallRefusal(Self.status(of: error))
            }
        }
        var message = query.first { $0.name == "message" }?.value ?? []
        if query.contains(where: { $0.name == "base64" && $0.value == [UInt8(ascii: "1")] }) {
            guard let bytes = Base64.decodeLenient(String(decoding: message, as: UTF8.self)) else {
                throw CallRefusal(.fieldInvalid, "message is not base64", details: [.field("message")])
            }
            message = bytes
        }
        guard head.encoding != .identity else { return message }
        do throws(InflateError) {
            return Array(
                try self.codec.inflate(
                    message.span.bytes, limit: method.requestBytesMax, isGzip: head.encoding == .gzip))
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }

    /// The pairs of a query, without percent-encoding.
    private static func query(_ bytes: ArraySlice<UInt8>) -> [(name: String, value: [UInt8])] {
        bytes.split(separator: UInt8(ascii: "&")).map { pair in
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = self.unescaped(equals.map { pair[..<$0] } ?? pair)
            return (String(decoding: name, as: UTF8.self), self.unescaped(equals.map { pair[($0 + 1)...] } ?? []))
        }
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var place = bytes.startIndex
        while place < bytes.endIndex {
            let byte = bytes[place]
            if byte == UInt8(ascii: "%"), place + 2 < bytes.endIndex,
                let value = UInt8(String(decoding: bytes[place + 1...place + 2], as: UTF8.self), radix: 16)
            {
                result.append(value)
                place += 3
            } else {
                result.append(byte == UInt8(ascii: "+") ? 32 : byte)
                place += 1
            }
        }
        return result
    }

    // MARK: JSON

    /// A request in protobuf's bytes.
    func requestBytes(ofJSON document: [UInt8], _ method: Method) throws(CallRefusal) -> [UInt8] {
        do throws(MessageJSONError) {
            return try MessageCodec.requestBytes(method, ofJSON: document.isEmpty ? Array("{}".utf8) : document)
        } catch {
            throw CallRefusal(Self.status(of: error))
        }
    }

    private static func status(of error: MessageJSONError) -> WireStatus {
        guard let field = error.field else { return WireStatus(.messageMalformed, error.description) }
        return WireStatus(.fieldInvalid, error.description, details: [.field(field)])
    }
}
