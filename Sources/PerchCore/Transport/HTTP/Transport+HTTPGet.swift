import PerchBase
import PerchJSON
import PerchWire

// GET: reads without side effects, and streams as server-sent events. And who may ask: pages of other origins.
extension Transport {
    // MARK: Origins

    /// Bytes of the origin of a page, which its stream keeps. A longer one is not allowed.
    private static let originBytesMax = 512

    /// Whether a request may be answered, by its Host. False: it was refused.
    mutating func acceptsHost(_ stream: Int32, _ head: RequestHead, _ tables: inout Tables) -> Bool {
        let index = self.http.streams[stream].connection
        // Apple's listener takes any name: a proxy before it has the public one or its own, what comes is signed, and the answer
        // holds nothing of the store.
        guard tables.settings.hosts.kind != .any, !tables.connections[index].flags.contains(.isIntake),
            let text = tables.settings.hosts.refusal(of: head.authority)
        else { return true }
        self.respond(stream, 421, text, &tables)
        return false
    }

    /// Whether a request may be answered, by its Host and its Origin. False: it was refused.
    ///
    /// A page of a foreign site must not reach a server that answers everyone on this machine, neither by its own name for
    /// 127.0.0.1 nor by asking across origins.
    mutating func acceptsOrigin(_ stream: Int32, _ head: RequestHead, _ tables: inout Tables) -> Bool {
        guard self.acceptsHost(stream, head, &tables) else { return false }
        guard !head.origin.isEmpty else { return true }
        let origin = String(decoding: head.origin, as: UTF8.self)
        if origin == "http://\(String(decoding: head.authority, as: UTF8.self))"
            || origin == "https://\(String(decoding: head.authority, as: UTF8.self))"
        {
            return true
        }
        guard head.origin.count <= Self.originBytesMax,
            tables.settings.origins.contains("*") || tables.settings.origins.contains(origin)
        else {
            self.respond(
                stream, 403,
                "pages of \(origin.prefix(Self.originBytesMax)) may not ask here; --allow-origin names those that may",
                &tables)
            return false
        }
        // gRPC itself is not what pages speak.
        guard head.form != .grpc else { return true }
        self.http.origins[stream] = origin
        self.http.streams[stream].flags.insert(.isCrossOrigin)
        return true
    }

    func crossOriginFields(_ stream: Int32) -> [(name: String, value: String)] {
        [
            ("access-control-allow-origin", self.http.origins[stream] ?? ""), ("vary", "origin"),
            (
                "access-control-expose-headers",
                "grpc-status, grpc-message, grpc-status-details-bin, grpc-encoding, grpc-retry-pushback-ms, connect-content-encoding, perch-reason, retry-after"
            ),
        ]
    }

    mutating func answerPreflight(_ stream: Int32, _ tables: inout Tables) {
        self.respond(
            stream, 204, [], contentType: "text/plain",
            extra: [
                ("access-control-allow-methods", "GET, POST"),
                (
                    "access-control-allow-headers",
                    "authorization, baggage, connect-accept-encoding, connect-content-encoding, connect-protocol-version, connect-timeout-ms, content-encoding, content-type, grpc-accept-encoding, grpc-encoding, grpc-timeout, last-event-id, perch-client-id, perch-client-id-bin, perch-groups, perch-heartbeat, traceparent, tracestate, x-grpc-web, x-user-agent"
                ),
                ("access-control-max-age", "7200"),
            ], endsCall: -1, &tables)
    }

    // MARK: GET

    /// A read as GET: Connect's own form (`?encoding=json&message=…`), or the fields of the request by name. A HEAD runs the
    /// read as well, because only its answer has the status and the length of the head.
    mutating func beginHTTPGet(
        _ stream: Int32, _ head: RequestHead, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        self.http.streams[stream].form = .plain
        self.http.streams[stream].flags.insert(.dropsBody)
        let question = head.path.firstIndex(of: UInt8(ascii: "?"))
        let path = Array(question.map { head.path[..<$0] } ?? head.path[...])
        guard case .method(let method)? = Self.namedTarget(path) else {
            if self.answerFile(stream, path, head, &tables, &views, &service) { return }
            return self.respond(
                stream, 404,
                "there is nothing here; POST /perch.v1.EntitlementService/GetSubscriptionStatus is an example",
                &tables)
        }
        guard method.isSafe else {
            return self.respond(
                stream, 405, "\(method.path) changes something; use POST", extra: [("allow", "POST")], &tables)
        }
        if method.isStreaming, head.verb == .head {
            return self.respond(
                stream, 405, "\(method.path) answers with a stream, which has no HEAD; use GET or POST",
                extra: [("allow", "GET, POST")], &tables)
        }
        let query: Query
        do throws(CallRefusal) {
            query = try Self.query(question.map { head.path[($0 + 1)...] } ?? [])
        } catch {
            return self.refuseHTTP(stream, error.status, &tables, &service)
        }
        if query.contains(where: { $0.name == "authorization" || $0.name == "token" || $0.name == "access_token" }) {
            return self.respond(
                stream, 400, "tokens do not belong into an address, which is logged; send them as authorization",
                &tables)
        }
        let hasEncoding = query.contains { $0.name == "encoding" }
        if method.isStreaming, !head.marks.contains(.acceptsEvents) || hasEncoding {
            return self.respond(
                stream, 406,
                "\(method.path) answers with a stream; send `Accept: text/event-stream`, or POST application/connect+json",
                &tables)
        }
        var head = head
        if let encoding = query.first(where: { $0.name == "encoding" })?.value, encoding != Array("json".utf8),
            encoding != Array("proto".utf8)
        {
            return self.respond(stream, 415, "encoding is neither proto nor json", &tables)
        }
        if let fault = self.setForm(of: stream, method, query, &head) {
            return self.refuseHTTP(stream, fault, &tables, &service)
        }
        let message: [UInt8]
        do throws(CallRefusal) {
            message = try self.message(of: query, stream, method, head, &tables)
        } catch {
            return self.refuseHTTP(stream, error.status, &tables, &service)
        }
        if let status = self.refusal(of: head, .method(method), stream, tables) {
            return self.refuseHTTP(stream, status, &tables, &service)
        }
        self.accepted(stream, head, .method(method), &tables, &views, &service)
        self.http.streams[stream].flags.insert(.isOpened)
        self.openHTTPCall(stream, method, head, message, &tables, &views, &service)
    }

    /// How a GET is answered.
    private mutating func setForm(
        of stream: Int32, _ method: Method, _ query: Query, _ head: inout RequestHead
    ) -> WireStatus? {
        if method.isStreaming {
            self.http.streams[stream].form = .events
            self.http.streams[stream].flags.insert(.isJSON)
            if !head.lastEventID.isEmpty { self.http.streams[stream].flags.insert(.hasEventID) }
            return nil
        }
        self.http.streams[stream].form = .connectUnary
        let encoding = query.first { $0.name == "encoding" }
        if encoding?.value != Array("proto".utf8) { self.http.streams[stream].flags.insert(.isJSON) }
        if let version = query.first(where: { $0.name == "connect" })?.value, version != Array("v1".utf8) {
            head.marks.insert(.hasOtherConnectVersion)
        }
        if let compression = query.first(where: { $0.name == "compression" }) {
            compression.value.withUnsafeBytes { head.encoding = RequestHead.encoding($0) }
        }
        return head.encoding == .unknown
            ? WireStatus(.encodingUnknown, "compression is none of \(GRPCStatusFields.encodings)") : nil
    }

    /// The bytes of the request that a query stands for, in the codec of its stream.
    private mutating func message(
        of query: Query, _ stream: Int32, _ method: Method, _ head: RequestHead, _ tables: inout Tables
    ) throws(CallRefusal) -> [UInt8] {
        guard query.contains(where: { $0.name == "encoding" || $0.name == "connect" }) else {
            var fields: [(name: String, value: String)] = []
            for (name, value) in query {
                guard let text = String(validating: value, as: UTF8.self) else {
                    throw CallRefusal(.textNotUTF8, "\(name) is not UTF-8", details: [.field(name)])
                }
                fields.append((name, text))
            }
            // EventSource comes back with the identifier of its last event, which is the token.
            if !head.lastEventID.isEmpty, method.isStreaming {
                let isFeed = method == .transactionUpdates || method == .appChanges
                let name = isFeed ? "cursor" : "resumeToken"
                let id = String(decoding: head.lastEventID, as: UTF8.self)
                fields.removeAll { $0.name == name || $0.name == "resume_token" }
                if Base64.decodeLenient(id) != nil {
                    fields.append((name, id))
                } else if isFeed {
                    throw CallRefusal(.cursorMalformed, "Last-Event-ID is not base64; begin without it")
                }
            }
            do throws(MessageJSONError) {
                return try MessageCodec.json(ofQuery: fields, method)
            } catch {
                throw CallRefusal(Self.status(of: error))
            }
        }
        for name in ["connect", "encoding", "base64", "compression", "message"] {
            let count = query.count { $0.name == name }
            guard count <= 1 else {
                throw CallRefusal(
                    .fieldInvalid, "\(name) stands \(count) times in the query; send it once",
                    details: [.field(name), .found(count), .limit(1)])
            }
        }
        guard var message = query.first(where: { $0.name == "message" })?.value else {
            throw CallRefusal(.fieldMissing, "the query has no message", details: [.field("message")])
        }
        if query.contains(where: { $0.name == "base64" && $0.value == [UInt8(ascii: "1")] }) {
            guard let bytes = Base64.decodeLenient(String(decoding: message, as: UTF8.self)) else {
                throw CallRefusal(.fieldInvalid, "message is not base64", details: [.field("message")])
            }
            message = bytes
        }
        guard head.encoding != .identity, !message.isEmpty else { return message }
        do throws(InflateError) {
            return Array(
                try tables.codec.inflate(
                    message.span.bytes, limit: method.requestBytesMax, isGzip: head.encoding == .gzip))
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }

    private typealias Query = [(name: String, value: [UInt8])]

    /// The pairs of a query, without percent-encoding.
    private static func query(_ bytes: ArraySlice<UInt8>) throws(CallRefusal) -> Query {
        var query: Query = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            guard
                let name = String(validating: try self.unescaped(equals.map { pair[..<$0] } ?? pair), as: UTF8.self)
            else { throw CallRefusal(.textNotUTF8, "the name of a query's field is not UTF-8") }
            query.append((name, try self.unescaped(equals.map { pair[($0 + 1)...] } ?? [])))
        }
        return query
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) throws(CallRefusal) -> [UInt8] {
        var result: [UInt8] = []
        var place = bytes.startIndex
        while place < bytes.endIndex {
            let byte = bytes[place]
            guard byte == UInt8(ascii: "%") else {
                result.append(byte == UInt8(ascii: "+") ? 32 : byte)
                place += 1
                continue
            }
            guard place + 2 < bytes.endIndex, let high = self.digit(bytes[place + 1]),
                let low = self.digit(bytes[place + 2])
            else {
                throw CallRefusal(
                    .messageMalformed,
                    "the query has a % without two hexadecimal digits behind it; a % itself is written %25")
            }
            result.append(high << 4 | low)
            place += 3
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
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
