import PerchBase
import PerchWire

// Requests of the HTTP family: from a head and a body to a call, or to a refusal in the peer's own protocol.
extension Transport {
    /// A request's head has come.
    mutating func beginHTTPRequest(
        _ stream: Int32, _ head: RequestHead, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let index = self.http.streams[stream].connection
        if head.marks.contains(.hasUnknownExpectation) {
            return self.respond(stream, 417, "expect has one meaning: 100-continue", &tables)
        }
        if tables.connections[index].flags.contains(.isIntake) {
            return self.beginPost(stream, head, &tables, &views, &service)
        }
        guard self.acceptsOrigin(stream, head, &tables) else { return }
        if head.marks.contains(.isPreflight), head.verb == .options { return self.answerPreflight(stream, &tables) }
        switch head.verb {
        case .post: break
        case .get, .head: return self.beginHTTPGet(stream, head, &tables, &views, &service)
        case .none, .options, .connect, .other:
            return self.respond(
                stream, 405, "use POST, or GET for reads", extra: [("allow", "GET, HEAD, POST")], &tables)
        }
        // Connect refuses a codec that it does not know by HTTP's status, gRPC by its own.
        let isConnect = head.form == .connectUnary || head.form == .connectStream
        guard head.form != .plain, !isConnect || !head.marks.contains(.hasUnknownCodec) else {
            return self.respondUnsupported(stream, Self.callAdvice(head), &tables)
        }
        if head.form == .grpc, tables.connections[index].wire == .http1 {
            return self.respond(
                stream, 505, "gRPC needs HTTP/2; over HTTP/1.1, call with application/json or application/proto",
                &tables)
        }
        guard let target = Self.namedTarget(head.path) else {
            let path = String(decoding: head.path.prefix(128), as: UTF8.self)
            return self.refuseHTTP(
                stream,
                WireStatus(
                    .unknownMethod, "there is no method \(path); proto/perch and reflection list what there is"),
                &tables, &service)
        }
        if let advice = self.formAdvice(stream, target) { return self.respondUnsupported(stream, advice, &tables) }
        if let status = self.refusal(of: head, target, stream, tables) {
            return self.refuseHTTP(stream, status, &tables, &service)
        }
        // A stranger's token is verified before the server waits for a body.
        if let status = service.identifyByHead(index, head, &tables, &self) {
            return self.refuseHTTP(stream, status, &tables, &service)
        }
        self.accepted(stream, head, target, &tables, &views, &service)
        if case .service = target { self.http.streams[stream].flags.insert(.isService) }
        self.keepRequest(
            stream, HTTPRequest(head: head, target: target, since: tables.now.monotonic), &tables, &views, &service)
    }

    /// A request on the listener of Apple's notifications.
    private mutating func beginPost(
        _ stream: Int32, _ head: RequestHead, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        guard self.acceptsHost(stream, head, &tables) else { return }
        self.identified(self.http.streams[stream].connection, &tables)
        guard head.path == Self.notificationsPath else {
            return self.respond(
                stream, 404, "this port takes App Store notifications: POST /apple/notifications", &tables)
        }
        guard head.verb == .post else {
            return self.respond(stream, 405, "use POST", extra: [("allow", "POST")], &tables)
        }
        self.http.streams[stream].flags.insert(.isNotification)
        // Whatever the content type says, the body is JSON.
        self.http.streams[stream].form = .connectUnary
        self.http.streams[stream].flags.insert(.isJSON)
        var asked = head
        asked.metadata = []
        self.keepRequest(
            stream, HTTPRequest(head: asked, target: .method(.submitNotification), since: tables.now.monotonic),
            &tables, &views, &service)
    }

    static let notificationsPath = Array("/apple/notifications".utf8)

    /// The target of a path; nil for an unknown path.
    static func namedTarget(_ path: [UInt8]) -> HTTPTarget? {
        if let method = path.withUnsafeBytes({ Method(path: $0) }) { return .method(method) }
        guard path.count < 128 else { return nil }
        return HTTPService(rawValue: String(decoding: path, as: UTF8.self)).map { .service($0) }
    }

    /// A request's head is in order: its wishes count from here on.
    mutating func accepted(
        _ stream: Int32, _ head: RequestHead, _ target: HTTPTarget?, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let index = self.http.streams[stream].connection
        self.identifiedByConnection(index, &tables, &service)
        self.takeWishes(head, target, index, &tables)
        if !head.clientID.isEmpty { self.http.clientIDs[stream] = head.clientID }
    }

    /// The fault of a request that shows in its head alone. Connect's protocol gives some faults of a head INVALID_ARGUMENT,
    /// which HTTP tells as 400, where gRPC has INTERNAL.
    func refusal(of head: RequestHead, _ target: HTTPTarget, _ stream: Int32, _ tables: borrowing Tables) -> WireStatus?
    {
        var status = self.anyRefusal(of: head, target, stream, tables)
        let form = self.http.streams[stream].form
        if form != .grpc, form != .grpcWeb,
            status?.reason == .timeoutMalformed || status?.reason == .protocolVersion
        {
            status?.code = .invalidArgument
        }
        return status
    }

    private func anyRefusal(of head: RequestHead, _ target: HTTPTarget, _ stream: Int32, _ tables: borrowing Tables)
        -> WireStatus?
    {
        if head.marks.contains(.hasOtherConnectVersion) {
            return WireStatus(
                .protocolVersion, "connect-protocol-version is not 1, the version that is spoken here",
                details: [.field("connect-protocol-version"), StatusDetail(key: "expected", value: "1")])
        }
        if head.marks.contains(.hasUnknownCodec) {
            return WireStatus(.encodingUnknown, "the codec of content-type is none of proto and json")
        }
        if head.marks.contains(.isJSON), case .service(let service) = target, service.isConversation {
            return WireStatus(.encodingUnknown, "reflection speaks proto only")
        }
        if head.encoding == .unknown || head.contentEncoding == .unknown {
            return WireStatus(.encodingUnknown, "the message encoding is none of \(GRPCStatusFields.encodings)")
        }
        switch head.timeout {
        case .malformed:
            return WireStatus(
                .timeoutMalformed,
                "the timeout is malformed: grpc-timeout has up to eight digits and one of H, M, S, m, u, n, connect-timeout-ms up to ten digits"
            )
        case .milliseconds(0): return WireStatus(.deadline, "the call's deadline has passed")
        case .none, .milliseconds: break
        }
        guard head.clientID.count <= Limits.clientIDBytesMax else {
            return WireStatus(
                .fieldInvalid,
                "perch-client-id has \(head.clientID.count) bytes, the limit is \(Limits.clientIDBytesMax)",
                details: [
                    .field("perch-client-id"), .found(head.clientID.count), .limit(Limits.clientIDBytesMax),
                ])
        }
        return self.refusalOfBlocked(stream, tables)
    }

    /// Nil as long as the answers that wait on a connection for its windows are within their limit.
    func refusalOfBlocked(_ stream: Int32, _ tables: borrowing Tables) -> WireStatus? {
        let http = tables.connections[self.http.streams[stream].connection].http
        let found = self.http.connections[http].unsentBytes
        guard found > Limits.httpBlockedBytesMax else { return nil }
        return WireStatus(
            .callsBytesLimit,
            "answers of \(found) bytes wait on this connection for its windows, the limit is \(Limits.httpBlockedBytesMax); read them first",
            details: [.found(found), .limit(Limits.httpBlockedBytesMax)])
    }

    /// A server without credentials knows everyone, and a certificate is as good as a token: the handshake is over with the
    /// first request.
    private mutating func identifiedByConnection(_ index: Int32, _ tables: inout Tables, _ service: inout some Gate) {
        if self.isIdentifiedByConnection(index, tables, service) { self.identified(index, &tables) }
    }

    func isIdentifiedByConnection(_ index: Int32, _ tables: borrowing Tables, _ service: borrowing some Gate) -> Bool {
        !service.hasAuthenticator || tables.connections[index].identity != IdentityTable.nobody
    }

    /// Applies the settings that a call makes for its whole connection. Behind a proxy a connection carries the calls of many
    /// clients, so a call can shorten the interval of bookmarks, and lengthen it only while it is the only one.
    private mutating func takeWishes(_ head: RequestHead, _ target: HTTPTarget?, _ index: Int32, _ tables: inout Tables)
    {
        let isStreaming = if case .method(let method) = target { method.isStreaming } else { false }
        if head.heartbeatSeconds > 0 || isStreaming {
            let asked = head.heartbeatSeconds > 0 ? head.heartbeatSeconds : Limits.heartbeatSecondsDefault
            let seconds = UInt16(min(max(asked, Limits.heartbeatSecondsMin), Limits.heartbeatSecondsMax))
            let present = tables.connections[index].heartbeatSeconds
            let streams = self.http.connections[tables.connections[index].http].streamCount
            if seconds < present || seconds > present && head.heartbeatSeconds > 0 && streams <= 1 {
                tables.connections[index].heartbeatSeconds = seconds
                if self.beats.remove(index) {
                    self.beats.insert(index, dueAt: tables.now.monotonic / 1_000 + Int64(seconds))
                }
            }
        }
        if head.marks.contains(.wantsGroups) {
            self.http.connections[tables.connections[index].http].flags.insert(.wantsGroups)
        }
    }

    // MARK: Bodies

    /// Bytes of a request's body.
    mutating func takeHTTPBody(
        _ stream: Int32, _ bytes: borrowing RawSpan, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        guard bytes.byteCount > 0 else { return }
        let slot = self.http.streams[stream]
        if slot.flags.contains(.dropsBody) { return }
        // The rest of a request that was refused.
        if slot.flags.contains(.isEnding) { return self.skipBody(stream, bytes.byteCount, &tables) }
        if slot.flags.contains(.isOpened) {
            return self.refuseSecondMessage(stream, &tables, &views, &service)
        }
        guard self.http.requests[stream] != nil else { return }
        bytes.withUnsafeBytes { self.http.requests[stream]?.body.append(contentsOf: $0) }
        guard self.holdRequest(stream, bytes.byteCount, &tables, &views, &service) else { return }
        if slot.form == .connectUnary {
            let limit = self.requestBytesMax(stream, tables)
            let count = self.http.requests[stream]?.body.count ?? 0
            if count > limit { self.refuseHTTP(stream, self.tooLong(stream, count, limit, tables), &tables, &service) }
            return
        }
        self.takeMessages(stream, &tables, &views, &service)
    }

    /// The longest message of a request, as it comes: compressed, or as JSON, which is longer.
    private func requestBytesMax(_ stream: Int32, _ tables: borrowing Tables) -> Int {
        guard let request = self.http.requests[stream] else { return 0 }
        let index = self.http.streams[stream].connection
        let limit: Int
        switch request.target {
        case .method(let method):
            limit = method.requestBytesMax
            if method.isWholeBeforeCredentials { return limit }
        case .service: limit = Limits.requestBytesMax
        }
        return tables.connections[index].flags.contains(.isIdentified)
            ? limit : min(limit, tables.settings.unidentifiedFrameBytesMax)
    }

    func tooLong(_ stream: Int32, _ found: Int, _ limit: Int, _ tables: borrowing Tables) -> WireStatus {
        var reason = ErrorReason.requestTooLong
        if case .method(let method)? = self.http.requests[stream]?.target { reason = method.reasonOfTooLong }
        return WireStatus(
            reason,
            "the request has \(found) bytes, the limit is \(limit)", details: [.found(found), .limit(limit)])
    }

    /// Takes the messages that have come whole.
    private mutating func takeMessages(
        _ stream: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        while self.http.streams.isTaken(stream), let request = self.http.requests[stream],
            request.body.count >= 5
        {
            let (flags, length) = (request.body[0], request.body[1..<5].reduce(0) { $0 << 8 | Int($1) })
            guard flags & 0xFE == 0 else {
                return self.refuseHTTP(
                    stream,
                    WireStatus(.envelopeInvalid, "the first byte of a message is \(flags), neither 0 nor 1"), &tables,
                    &service)
            }
            if flags == 1, request.head.encoding == .identity {
                return self.refuseHTTP(
                    stream,
                    WireStatus(.envelopeInvalid, "a message says that it is compressed, and no encoding was named"),
                    &tables, &service)
            }
            let limit = self.requestBytesMax(stream, tables)
            guard length <= limit else {
                return self.refuseHTTP(stream, self.tooLong(stream, length, limit, tables), &tables, &service)
            }
            guard request.body.count >= 5 + length else { return }
            let isConversation =
                if case .service(let service) = request.target { service.isConversation } else { false }
            if !isConversation, request.body.count > 5 + length {
                return self.refuseSecondMessage(stream, &tables, &views, &service)
            }
            let message = Array(request.body[5..<5 + length])
            self.dropRequestBytes(stream, 5 + length, &tables)
            self.http.requests[stream]?.messageCount += 1
            self.http.requests[stream]?.since = tables.now.monotonic
            if !isConversation { self.http.streams[stream].flags.insert(.isOpened) }
            self.takeMessage(
                stream, request, message, isCompressed: flags == 1, limit: limit, &tables, &views, &service)
        }
    }

    private mutating func refuseSecondMessage(
        _ stream: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let status = WireStatus(.envelopeInvalid, "a second message came, and the method takes one")
        let call = self.http.streams[stream].call
        if call >= 0 {
            service.end(call, status, &tables, &views, &self)
        } else {
            self.refuseHTTP(stream, status, &tables, &service)
        }
    }

    private mutating func dropRequestBytes(_ stream: Int32, _ count: Int, _ tables: inout Tables) {
        self.http.requests[stream]?.body.removeFirst(count)
        self.letGo(count, self.http.streams[stream].connection, &tables)
    }

    mutating func forgetHTTPRequest(_ stream: Int32, _ tables: inout Tables) {
        guard let request = self.http.requests.removeValue(forKey: stream) else { return }
        self.letGo(request.heldBytes, self.http.streams[stream].connection, &tables)
    }

    /// The request of a stream is complete.
    mutating func endHTTPRequest(
        _ stream: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        self.http.streams[stream].flags.insert(.peerHasEnded)
        self.stopWaitingForBody(stream, &tables)
        let slot = self.http.streams[stream]
        if slot.flags.contains(.isEnding) || slot.flags.contains(.isOpened) { return }
        guard let request = self.http.requests[stream] else { return }
        if slot.form == .connectUnary {
            self.http.streams[stream].flags.insert(.isOpened)
            let message = request.body
            self.dropRequestBytes(stream, message.count, &tables)
            // Nothing is nothing, compressed or not.
            let isCompressed = request.head.contentEncoding != .identity && !message.isEmpty
            let limit = self.requestBytesMax(stream, tables)
            var asked = request
            asked.head.encoding = request.head.contentEncoding
            return self.takeMessage(
                stream, asked, message, isCompressed: isCompressed, limit: limit, &tables, &views, &service)
        }
        if case .service(let service) = request.target, service.isConversation, request.body.isEmpty {
            self.forgetHTTPRequest(stream, &tables)
            return self.sendHTTPEnd(stream, .ok, endsCall: -1, &tables)
        }
        self.refuseHTTP(
            stream,
            WireStatus(
                .envelopeInvalid,
                request.body.isEmpty ? "the request has no message" : "the request ends within a message"), &tables,
            &service)
    }

    /// Skips the body of a refused request. The answer waits for at most a usual request's length.
    private mutating func skipBody(_ stream: Int32, _ count: Int, _ tables: inout Tables) {
        guard self.http.streams[stream].flags.contains(.waitsForBody) else { return }
        self.http.streams[stream].offset += Int32(count)
        if Int(self.http.streams[stream].offset) > Limits.requestBytesMax { self.stopWaitingForBody(stream, &tables) }
    }

    /// Once a heartbeat: answers that waited for the bodies of their requests go out.
    mutating func stopWaitingForBodies(of index: Int32, _ tables: inout Tables) {
        var stream = self.http.connections[tables.connections[index].http].firstStream
        while stream >= 0 {
            let next = self.http.streams[stream].next
            self.stopWaitingForBody(stream, &tables)
            stream = next
        }
    }

    private mutating func stopWaitingForBody(_ stream: Int32, _ tables: inout Tables) {
        guard self.http.streams[stream].flags.contains(.waitsForBody) else { return }
        self.http.streams[stream].flags.remove(.waitsForBody)
        self.http.streams[stream].offset = 0
        self.readyHTTP(stream, &tables)
    }

    /// One whole message of a request.
    private mutating func takeMessage(
        _ stream: Int32, _ request: HTTPRequest, _ message: [UInt8], isCompressed: Bool, limit: Int,
        _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        var message = message
        if isCompressed {
            do throws(InflateError) {
                message = Array(
                    try tables.codec.inflate(
                        message.span.bytes, limit: limit, isGzip: request.head.encoding == .gzip))
            } catch {
                return self.refuseHTTP(stream, WireStatus(error), &tables, &service)
            }
        }
        switch request.target {
        case .service(let asked):
            if !asked.isConversation { self.forgetHTTPRequest(stream, &tables) }
            tables.counters.httpServiceCalls += 1
            self.serve(stream, asked, message, &tables, &views, &service)
        case .method(let method):
            self.forgetHTTPRequest(stream, &tables)
            self.openHTTPCall(stream, method, request.head, message, &tables, &views, &service)
        }
    }

    /// Opens the call of a request.
    mutating func openHTTPCall(
        _ stream: Int32, _ method: Method, _ head: RequestHead, _ message: [UInt8], _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        let index = self.http.streams[stream].connection
        if self.isLeavingHTTP(index, tables) {
            return self.refuseHTTP(stream, self.shuttingDown(tables), &tables, &service)
        }
        var bytes = message
        if self.http.streams[stream].flags.contains(.isJSON) {
            do throws(CallRefusal) {
                bytes = try self.requestBytes(ofJSON: message, method)
            } catch {
                return self.refuseHTTP(stream, error.status, &tables, &service)
            }
        }
        switch self.http.streams[stream].form {
        case .grpc: tables.counters.grpcCalls += 1
        case .grpcWeb: tables.counters.grpcWebCalls += 1
        case .connectUnary, .connectStream: tables.counters.connectCalls += 1
        case .events, .plain: tables.counters.eventCalls += 1
        }
        var timeout: UInt64 = 0
        if case .milliseconds(let told) = head.timeout { timeout = told }
        var opening = Opening(method: method, timeoutMilliseconds: timeout, metadata: head.metadata)
        let isEvents = self.http.streams[stream].form == .events
        opening.forgivesToken = isEvents && !head.lastEventID.isEmpty
        // Refused credentials close no connection of HTTP.
        _ = service.open(
            index, stream: UInt32(bitPattern: stream), opening, request: bytes.span.bytes, &tables, &views,
            &self)
        guard self.http.streams.isTaken(stream) else { return }
        let call = self.http.streams[stream].call
        if isEvents, call >= 0, !tables.calls[call].isEnding { self.sayRetry(stream, &tables) }
        guard call >= 0, method.isStreaming, tables.settings.streamAgeMilliseconds > 0 else { return }
        tables.scheduleDeadline(
            .streamAge(call, tables.calls.generation(call)),
            at: tables.now.monotonic
                + self.spread(tables.settings.streamAgeMilliseconds, UInt32(bitPattern: call), tables))
    }

    func isLeavingHTTP(_ index: Int32, _ tables: borrowing Tables) -> Bool {
        self.draining
            || self.http.connections[tables.connections[index].http].flags.contains(.isLeaving)
    }

    /// The right content type for a call of Connect in the wrong one: it has one for unary and one for streaming methods.
    private func formAdvice(_ stream: Int32, _ target: HTTPTarget) -> String? {
        let (path, isStreaming) =
            switch target {
            case .method(let method): (method.path, method.isStreaming)
            case .service(let service): (service.rawValue, service.isStreaming)
            }
        switch (self.http.streams[stream].form, isStreaming) {
        case (.connectUnary, true):
            return
                "\(path) answers with a stream; POST application/connect+json or application/connect+proto, or GET with `Accept: text/event-stream`"
        case (.connectStream, false): return "\(path) answers once; POST application/json or application/proto"
        default: return nil
        }
    }

    private mutating func respondUnsupported(_ stream: Int32, _ advice: String, _ tables: inout Tables) {
        self.respond(stream, 415, advice, extra: [("accept-post", "application/json, application/proto")], &tables)
    }

    /// The right call, for a request with a content type that this server does not take, such as a form.
    private static func callAdvice(_ head: RequestHead) -> String {
        let types = "application/grpc, application/grpc-web+proto"
        guard case .method(let method) = Self.namedTarget(head.path) else {
            return "the content-type must be application/json, application/proto, \(types)"
        }
        let url = String(decoding: head.authority.prefix(255), as: UTF8.self) + method.path
        return method.isStreaming
            ? "ask for events: curl -N -H 'accept: text/event-stream' '\(url)?account=…'. The content-type of a POST must be application/connect+json, application/connect+proto, \(types)"
            : "send JSON: curl -H 'content-type: application/json' -d '{…}' \(url). The content-type must be application/json, application/proto, \(types)"
    }

    /// Ends a stream that has no call.
    mutating func refuseHTTP(
        _ stream: Int32, _ status: WireStatus, _ tables: inout Tables, _ service: inout some Gate
    ) {
        let index = self.http.streams[stream].connection
        if case .method(.submitNotification)? = self.http.requests[stream]?.target,
            !tables.connections[index].flags.contains(.isIntake)
        {
            let reason = status.reason?.rawValue ?? "\(status.code)"
            tables.noteRefusedNotification(index, status.code.connectHTTPStatus, reason, status.message)
        }
        self.forgetHTTPRequest(stream, &tables)
        service.refuse(
            self.http.streams[stream].connection, UInt32(bitPattern: stream), status, &tables,
            &self)
    }
}
