import PerchBase
import PerchJSON
import PerchWire

// Responses of the HTTP family: heads, messages in the form that the peer reads, and ends.
extension Transport {
    /// The answer of a unary call, a Length-Prefixed-Message, as service and codec made it.
    mutating func sendHTTP(_ call: Int32, _ payload: PayloadHandle, _ tables: inout Tables) {
        let stream = Int32(bitPattern: tables.calls[call].stream)
        let slot = self.http.streams[stream]
        if slot.flags.contains(.isJSON) {
            let json = self.json(of: payload, tables.calls[call].method, &tables)
            tables.payloads.release(payload)
            return slot.form == .connectUnary
                ? self.keepUnsentUnary(stream, json, &tables) : self.keepUnsentHTTP(stream, .answer, json, &tables)
        }
        if slot.form == .connectUnary { return self.keepUnsentUnary(stream, payload, &tables) }
        guard !slot.flags.contains(.acceptsZlib), slot.flags.contains(.acceptsGzip) else {
            return self.keepUnsentHTTP(stream, .answer, payload, &tables)
        }
        let smaller = self.gzipped(payload, &tables)
        guard !smaller.isNone else { return self.keepUnsentHTTP(stream, .answer, payload, &tables) }
        tables.payloads.release(payload)
        self.keepUnsentHTTP(stream, .answer, smaller, &tables)
    }

    /// The answer of a unary call of Connect: compressed as a body if its client accepts that, and it gets smaller.
    private mutating func keepUnsentUnary(_ stream: Int32, _ plain: PayloadHandle, _ tables: inout Tables) {
        let slot = self.http.streams[stream]
        // The end of the call sends the head.
        guard !slot.isHead else { return tables.payloads.release(plain) }
        var smaller = PayloadHandle.none
        if slot.flags.contains(.acceptsGzip) {
            smaller = self.gzipped(plain, &tables)
        } else if slot.flags.contains(.acceptsZlib), tables.payloads[plain].count >= Limits.compressBytesMin + 5,
            let made = tables.codec.compressed(UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...]))
        {
            tables.counters.valuesCompressed += 1
            smaller = tables.payloads.insert(Array(made.prefixed))
        }
        guard !smaller.isNone else { return self.keepUnsentHTTP(stream, .answer, plain, &tables) }
        tables.payloads.release(plain)
        var fields = [
            ("content-type", "application/\(slot.flags.contains(.isJSON) ? "json" : "proto")"),
            ("content-encoding", slot.flags.contains(.acceptsGzip) ? "gzip" : "deflate"),
            ("accept-encoding", "gzip,deflate"), ("cache-control", "no-store"),
        ]
        if self.isChunked(slot, tables) { fields.append(("transfer-encoding", "chunked")) }
        self.keepUnsentHTTP(
            stream, .head, tables.payloads.insert(self.responseHead(stream, 200, fields, &tables)), &tables)
        self.keepUnsentHTTP(stream, .answer, smaller, &tables)
    }

    /// A plain message compressed with gzip; none where it would not get smaller.
    mutating func gzipped(_ plain: PayloadHandle, _ tables: inout Tables) -> PayloadHandle {
        guard tables.payloads[plain].count >= Limits.compressBytesMin + 5 else { return .none }
        let message = UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...])
        guard let smaller = tables.codec.gzipped(message) else { return .none }
        tables.counters.valuesCompressed += 1
        return tables.payloads.insert(smaller)
    }

    /// A plain message as JSON behind the same prefix.
    mutating func json(of plain: PayloadHandle, _ method: Method, _ tables: inout Tables) -> PayloadHandle {
        let text = tables.codec.json(ofResponse: method, UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...]))
        return tables.payloads.insert(Self.prefixed(text, flags: 0))
    }

    /// Bytes behind gRPC's prefix.
    static func prefixed(_ message: [UInt8], flags: UInt8) -> [UInt8] {
        var bytes: [UInt8] = [flags]
        withUnsafeBytes(of: UInt32(message.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: message)
        return bytes
    }

    // MARK: Ends

    /// The end of a call, with or without a slot, in the form of its stream.
    mutating func sendHTTPEnd(_ stream: Int32, _ status: WireStatus, endsCall: Int32, _ tables: inout Tables) {
        guard self.http.streams.isTaken(stream) else { return }
        let slot = self.http.streams[stream]
        guard !slot.flags.contains(.isEnding) else { return }
        // The messages of gRPC's own services are whole answers, as the last state of Health.Watch is.
        if status.code != .ok, slot.flags.contains(.hasSentHead) || endsCall >= 0, !slot.flags.contains(.isService) {
            self.dropUnsaid(stream, &tables)
        }
        switch slot.form {
        case .grpc:
            self.keepUnsentHTTP(stream, .status, self.trailers(status, &tables), endsCall: endsCall, &tables)
        case .grpcWeb:
            var text: [UInt8] = []
            for field in GRPCStatusFields(status).fields {
                text.append(contentsOf: field.name.utf8)
                text.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")])
                text.append(contentsOf: field.value)
                text.append(contentsOf: [13, 10])
            }
            let payload = tables.payloads.insert(Self.prefixed(text, flags: 0x80))
            self.keepUnsentHTTP(stream, .status, payload, endsCall: endsCall, &tables)
        case .connectStream:
            let body = status.code == .ok ? Array("{}".utf8) : status.connectEnd
            let payload = tables.payloads.insert(Self.prefixed(body, flags: 2))
            self.keepUnsentHTTP(stream, .status, payload, endsCall: endsCall, &tables)
        case .connectUnary:
            guard status.code != .ok else {
                let nothing = tables.payloads.insert([UInt8]())
                return self.keepUnsentHTTP(stream, .status, nothing, endsCall: endsCall, &tables)
            }
            let isIntake = tables.connections[slot.connection].flags.contains(.isIntake)
            let answer = isIntake ? status.intakeHTTPStatus : status.code.connectHTTPStatus
            if isIntake {
                let reason = status.reason?.rawValue ?? "\(status.code)"
                tables.noteRefusedNotification(slot.connection, answer, reason, status.message)
            }
            self.respond(stream, status, answer, endsCall: endsCall, &tables)
        case .events:
            guard slot.flags.contains(.hasSentHead) || self.comesBack(slot, status) else {
                return self.respond(stream, status, status.code.connectHTTPStatus, endsCall: endsCall, &tables)
            }
            self.keepUnsentHTTP(
                stream, .status, tables.payloads.insert(self.endEvent(stream, status, tables)), endsCall: endsCall,
                &tables)
        case .plain:
            self.respond(stream, status, status.code.connectHTTPStatus, endsCall: endsCall, &tables)
        }
    }

    /// An error with a head of its own.
    mutating func respond(_ stream: Int32, _ status: WireStatus, _ code: Int, endsCall: Int32, _ tables: inout Tables) {
        self.respond(
            stream, code, status.connectJSON, contentType: "application/json", extra: Self.errorFields(status),
            endsCall: endsCall, &tables)
    }

    /// What programs read of an error without its body.
    static func errorFields(_ status: WireStatus) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let reason = status.reason { fields.append(("perch-reason", reason.rawValue)) }
        // Whole seconds, so that nobody returns too early.
        if let wait = status.retryAfterMilliseconds { fields.append(("retry-after", "\((wait + 999) / 1_000)")) }
        return fields
    }

    // MARK: Events

    /// Whether an `EventSource` that is refused may succeed later. It never comes back after another status than 200, so such
    /// a refusal is an event.
    private func comesBack(_ slot: HTTPStream, _ status: WireStatus) -> Bool {
        status.retryAfterMilliseconds != nil
            || slot.flags.contains(.hasEventID) && status.reason?.retry == .withoutToken
    }

    /// Says when an `EventSource` comes back, should its connection break. The line stands before the next event, so that each
    /// event has data.
    mutating func sayRetry(_ stream: Int32, _ tables: inout Tables) {
        let range = Limits.eventRetryMilliseconds
        let wait = self.random(range.lowerBound...range.upperBound, UInt32(bitPattern: stream), tables)
        self.keepUnsentHTTP(stream, .answer, tables.payloads.insert(Array("retry: \(wait)\n".utf8)), &tables)
    }

    /// The last event of a stream: why it ends, and when to come back. A cursor that is refused is taken away, or the
    /// `EventSource` would send it again.
    private func endEvent(_ stream: Int32, _ status: WireStatus, _ tables: borrowing Tables) -> [UInt8] {
        let wait = Int64(clamping: status.retryAfterMilliseconds ?? UInt64(Limits.drainShortJitterMilliseconds))
        let retry = self.random(wait / 2...wait + wait / 2, UInt32(bitPattern: stream), tables)
        let id = status.reason?.retry == .withoutToken ? "id\n" : ""
        return Array("event: end\nretry: \(retry)\n\(id)data: ".utf8) + status.connectJSON + [10, 10]
    }

    /// The key of the trailers of calls that went well, among the heads.
    static let okTrailers: UInt32 = 1 << 31

    /// Trailers; those of a call that went well are the same for all.
    private mutating func trailers(_ status: WireStatus, _ tables: inout Tables) -> PayloadHandle {
        guard status.code == .ok else {
            self.work.spend(WorkMeter.refusal)
            return tables.payloads.insert(GRPCStatusFields(status).block)
        }
        let key = Self.okTrailers
        if let known = self.http.heads[key] {
            tables.payloads.retain(known)
            return known
        }
        let payload = tables.payloads.insert(GRPCStatusFields(.ok).block)
        tables.payloads.retain(payload)
        self.http.heads[key] = payload
        return payload
    }

    /// Drops the pending output of a failing call. A partly sent message is still completed.
    private mutating func dropUnsaid(_ stream: Int32, _ tables: inout Tables) {
        while self.http.streams[stream].firstUnsent >= 0 {
            let entry = self.popUnsent(stream, &tables)
            tables.payloads.release(entry.payload)
        }
        self.http.streams[stream].flags.remove(.hasUnsentBookmark)
    }

    // MARK: Plain answers

    /// A line of text for people.
    mutating func respond(
        _ stream: Int32, _ status: Int, _ text: String, extra: [(name: String, value: String)] = [],
        _ tables: inout Tables
    ) {
        let index = self.http.streams[stream].connection
        if status >= 300, tables.connections[index].flags.contains(.isIntake) {
            let reason: ErrorReason = status == 413 ? .appleTooLong : .httpProtocol
            if self.http.streams[stream].flags.contains(.isNotification) {
                tables.noteRefusedNotification(index, status, reason.rawValue, text)
            } else {
                tables.counters.strayRequests[status, default: 0] += 1
            }
        }
        self.respond(
            stream, status, Array((text + "\n").utf8), contentType: "text/plain; charset=utf-8", extra: extra,
            endsCall: -1, &tables)
    }

    /// Answers with a head of its own and a body.
    mutating func respond(
        _ stream: Int32, _ status: Int, _ body: [UInt8], contentType: String,
        extra: [(name: String, value: String)] = [], endsCall: Int32, _ tables: inout Tables
    ) {
        self.respond(
            stream, status, tables.payloads.insert(body), contentType: contentType, extra: extra,
            endsCall: endsCall, &tables)
    }

    /// The same with a body that may be shared; the caller's reference passes to the answer.
    mutating func respond(
        _ stream: Int32, _ status: Int, _ body: PayloadHandle, contentType: String,
        extra: [(name: String, value: String)] = [], endsCall: Int32, _ tables: inout Tables
    ) {
        self.work.spend(WorkMeter.refusal)
        self.forgetHTTPRequest(stream, &tables)
        self.http.streams[stream].form = .plain
        self.http.streams[stream].flags.insert(.hasLength)
        let slot = self.http.streams[stream]
        if !slot.flags.contains(.peerHasEnded), tables.connections[slot.connection].wire == .http2 {
            self.http.streams[stream].flags.insert(.waitsForBody)
        }
        // An answer that never has a body says nothing about one.
        let own =
            status == 304 || status == 204
            ? [] : [("content-type", contentType), ("content-length", "\(tables.payloads[body].count)")]
        let fields = own + extra
        let head = tables.payloads.insert(self.responseHead(stream, status, fields, &tables))
        self.keepUnsentHTTP(stream, .head, head, &tables)
        var payload = body
        if slot.isHead {
            tables.payloads.release(body)
            payload = tables.payloads.insert([])
        }
        self.keepUnsentHTTP(stream, .status, payload, endsCall: endsCall, &tables)
    }

    /// The head of a response in the bytes of its connection.
    mutating func responseHead(
        _ stream: Int32, _ status: Int, _ fields: [(name: String, value: String)], _ tables: inout Tables
    ) -> [UInt8] {
        let slot = self.http.streams[stream]
        var all = fields + self.commonFields(status, &tables)
        // A browser must not guess that JSON or text is a page.
        if slot.form != .grpc, !all.contains(where: { $0.name == "x-content-type-options" }) {
            all.append(("x-content-type-options", "nosniff"))
        }
        if slot.flags.contains(.isCrossOrigin) { all.append(contentsOf: self.crossOriginFields(stream)) }
        if tables.connections[slot.connection].wire == .http2 {
            var block = HeaderBlock(status: status)
            for field in all { block.add(field.name, field.value) }
            return block.bytes
        }
        if self.isLastHTTP1Response(slot.connection, &tables) { all.append(("connection", "close")) }
        var text = "HTTP/1.1 \(status) \(Self.phrase(status))\r\n"
        for field in all { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// Fields that RFC 9110 wants in every response, or in each with this status.
    mutating func commonFields(_ status: Int, _ tables: inout Tables) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [("date", self.httpDate(&tables))]
        if status == 401 { fields.append(("www-authenticate", "Bearer")) }
        return fields
    }

    private mutating func httpDate(_ tables: inout Tables) -> String {
        let second = tables.now.wall.milliseconds / 1_000
        if self.http.date.second != second {
            self.http.date = (second, Instant(milliseconds: second * 1_000).httpDate)
        }
        return self.http.date.text
    }

    /// Whether the body of a response comes in chunks.
    func isChunked(_ slot: HTTPStream, _ tables: borrowing Tables) -> Bool {
        tables.connections[slot.connection].wire == .http1 && !slot.flags.contains(.hasLength)
    }

    static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 204: "No Content"
        case 302: "Found"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 499: "Client Closed Request"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }

    /// Drops the shared heads of an earlier second, because they have its date.
    private mutating func forgetOldHeads(_ tables: inout Tables) {
        let second = tables.now.wall.milliseconds / 1_000
        guard self.http.headsSecond != second else { return }
        self.http.headsSecond = second
        for (key, head) in self.http.heads where key != Transport.okTrailers {
            tables.payloads.release(head)
            self.http.heads[key] = nil
        }
    }

    /// The head of a call's response: the same for all calls of one form on one kind of connection, within a second.
    mutating func callHead(_ stream: Int32, _ tables: inout Tables) -> PayloadHandle {
        self.forgetOldHeads(&tables)
        let slot = self.http.streams[stream]
        let wire = tables.connections[slot.connection].wire
        let encoding = Self.encoding(of: slot)
        var key = UInt32(wire.rawValue) | UInt32(slot.form.rawValue) << 4 | UInt32(encoding.rawValue) << 8
        if slot.flags.contains(.isJSON) { key |= 1 << 12 }
        if slot.flags.contains(.hasSuffix) { key |= 1 << 13 }
        // An answer to another origin names it, and the last one of a connection says so: such heads are not shared.
        let isLast = wire == .http1 && self.isLastHTTP1Response(slot.connection, &tables)
        let isShared = !slot.flags.contains(.isCrossOrigin) && !isLast
        if slot.flags.contains(.hasLength) { key |= 1 << 14 }
        if isShared, let known = self.http.heads[key] { return known }
        let codec = slot.flags.contains(.isJSON) ? "json" : "proto"
        var fields: [(name: String, value: String)] = []
        switch slot.form {
        case .grpc:
            fields.append(("content-type", "application/grpc" + (slot.flags.contains(.hasSuffix) ? "+\(codec)" : "")))
            if encoding != .identity { fields.append(("grpc-encoding", encoding == .gzip ? "gzip" : "deflate")) }
            fields.append(("grpc-accept-encoding", GRPCStatusFields.encodings))
        case .grpcWeb:
            fields.append(("content-type", "application/grpc-web+\(codec)"))
            if encoding != .identity { fields.append(("grpc-encoding", encoding == .gzip ? "gzip" : "deflate")) }
            fields.append(("grpc-accept-encoding", GRPCStatusFields.encodings))
        case .connectStream:
            fields.append(("content-type", "application/connect+\(codec)"))
            if encoding != .identity {
                fields.append(("connect-content-encoding", encoding == .gzip ? "gzip" : "deflate"))
            }
            fields.append(("connect-accept-encoding", "gzip,deflate"))
        case .connectUnary:
            fields.append(("content-type", "application/\(codec)"))
            fields.append(("accept-encoding", "gzip,deflate"))
        case .events:
            fields.append(("content-type", "text/event-stream"))
        case .plain:
            fields.append(("content-type", "application/octet-stream"))
        }
        if slot.form != .grpc { fields.append(("cache-control", "no-store")) }
        // nginx would collect a stream before it passes it on.
        if wire == .http1, slot.form != .connectUnary { fields.append(("x-accel-buffering", "no")) }
        if self.isChunked(slot, tables) { fields.append(("transfer-encoding", "chunked")) }
        let payload = tables.payloads.insert(self.responseHead(stream, 200, fields, &tables))
        if isShared {
            self.http.heads[key] = payload
        } else {
            // Kept as the first pending output of the stream.
            self.keepUnsentFirst(stream, payload, &tables)
        }
        return payload
    }

    /// How the messages of a stream are compressed, where they are.
    private static func encoding(of slot: HTTPStream) -> MessageEncoding {
        switch slot.form {
        case .events, .plain, .connectUnary: .identity
        case .grpc, .grpcWeb, .connectStream:
            switch slot.reads {
            case .plain, .json, .event: .identity
            case .zlib: .deflate
            case .gzip, .jsonGzip: .gzip
            }
        }
    }

    /// Queues a head before the pending output of a stream.
    private mutating func keepUnsentFirst(_ stream: Int32, _ payload: PayloadHandle, _ tables: inout Tables) {
        let slot = self.http.streams[stream]
        let unsent = self.unsent.insert(
            Unsent(role: .head, stream: slot.id, payload: payload, endsCall: -1, next: slot.firstUnsent))
        self.http.streams[stream].firstUnsent = unsent
        if slot.lastUnsent < 0 { self.http.streams[stream].lastUnsent = unsent }
        self.http.connections[tables.connections[slot.connection].http].unsentBytes += tables.payloads[payload].count
    }
}

extension StatusCode {
    /// The HTTP status that Connect gives a code.
    var connectHTTPStatus: Int {
        switch self {
        case .ok: 200
        case .cancelled: 499
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .deadlineExceeded: 504
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .permissionDenied: 403
        case .resourceExhausted: 429
        case .unimplemented: 501
        case .unavailable: 503
        case .unauthenticated: 401
        case .unknown, .internal, .dataLoss: 500
        }
    }
}

extension WireStatus {
    /// Connect's error as JSON: code, text, and the details as base64.
    var connectJSON: [UInt8] {
        var text = #"{"code":"\#(self.code.connectName)""#
        if !self.message.isEmpty { text += #","message":"\#(Self.escaped(self.message))""# }
        let details = self.richDetails(readable: true)
        if !details.isEmpty {
            text += #","details":["#
            text += details.map {
                #"{"type":"\#($0.type)","value":"\#(Base64.unpadded($0.bytes))","debug":\#($0.json)}"#
            }.joined(separator: ",")
            text += "]"
        }
        return Array((text + "}").utf8)
    }

    /// The last message of a stream of Connect that failed: the error, and the reason as a trailer.
    var connectEnd: [UInt8] {
        let metadata = self.reason.map { #","metadata":{"perch-reason":["\#($0.rawValue)"]}"# } ?? ""
        return Array(#"{"error":"#.utf8) + self.connectJSON + Array((metadata + "}").utf8)
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case let other where other.value < 0x20:
                let digits = String(other.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
