import PerchBase
import PerchWire

// Requests of the HTTP family: from a head and a body to a call, or to a refusal in the peer's own protocol.
extension LoopCore {
    /// A request's head has come.
    mutating func beginHTTPRequest(_ stream: Int32, _ head: RequestHead) {
        let index = self.transport.http.streams[stream].connection
        if head.marks.contains(.hasUnknownExpectation) {
            return self.transport.respond(stream, 417, "expect has one meaning: 100-continue", &self.tables)
        }
        if self.tables.connections[index].flags.contains(.isIntake) { return self.beginPost(stream, head) }
        guard self.acceptsOrigin(stream, head) else { return }
        if head.marks.contains(.isPreflight), head.verb == .options { return self.answerPreflight(stream) }
        switch head.verb {
        case .post: break
        case .get, .head: return self.beginHTTPGet(stream, head)
        case .none, .options, .connect, .other:
            return self.transport.respond(
                stream, 405, "use POST, or GET for reads", extra: [("allow", "GET, HEAD, POST")], &self.tables)
        }
        // Connect refuses a codec that it does not know by HTTP's status, gRPC by its own.
        let isConnect = head.form == .connectUnary || head.form == .connectStream
        guard head.form != .plain, !isConnect || !head.marks.contains(.hasUnknownCodec) else {
            return self.respondUnsupported(stream, Self.callAdvice(head))
        }
        if head.form == .grpc, self.tables.connections[index].wire == .http1 {
            return self.transport.respond(
                stream, 505, "gRPC needs HTTP/2; over HTTP/1.1, call with application/json or application/proto",
                &self.tables)
        }
        guard let target = Self.target(head.path) else {
            let path = String(decoding: head.path.prefix(128), as: UTF8.self)
            return self.refuseHTTP(
                stream,
                WireStatus(
                    .unknownMethod, "there is no method \(path); proto/perch and reflection list what there is"))
        }
        if let advice = self.formAdvice(stream, target) { return self.respondUnsupported(stream, advice) }
        if let status = self.refusal(of: head, target, stream) { return self.refuseHTTP(stream, status) }
        // A stranger's token is verified before the server waits for a body.
        if let status = self.service.identifyByHead(index, head, &self.tables, &self.transport) {
            return self.refuseHTTP(stream, status)
        }
        self.accepted(stream, head, target)
        if case .service = target { self.transport.http.streams[stream].flags.insert(.isService) }
        self.keepRequest(stream, HTTPRequest(head: head, target: target, since: self.tables.now.monotonic))
    }

    /// A request on the listener of Apple's notifications.
    private mutating func beginPost(_ stream: Int32, _ head: RequestHead) {
        guard self.acceptsHost(stream, head) else { return }
        self.transport.identified(self.transport.http.streams[stream].connection, &self.tables)
        guard head.path == Self.notificationsPath else {
            return self.transport.respond(
                stream, 404, "this port takes App Store notifications: POST /apple/notifications", &self.tables)
        }
        guard head.verb == .post else {
            return self.transport.respond(stream, 405, "use POST", extra: [("allow", "POST")], &self.tables)
        }
        // Whatever the content type says, the body is JSON.
        self.transport.http.streams[stream].form = .connectUnary
        self.transport.http.streams[stream].flags.insert(.isJSON)
        var asked = head
        asked.metadata = []
        self.keepRequest(
            stream, HTTPRequest(head: asked, target: .method(.submitNotification), since: self.tables.now.monotonic))
    }

    static let notificationsPath = Array("/apple/notifications".utf8)

    /// The target of a path; nil for an unknown path.
    static func target(_ path: [UInt8]) -> HTTPTarget? {
        if let method = path.withUnsafeBytes({ Method(path: $0) }) { return .method(method) }
        guard path.count < 128 else { return nil }
        return HTTPService(rawValue: String(decoding: path, as: UTF8.self)).map { .service($0) }
    }

    /// A request's head is in order: its wishes count from here on.
    mutating func accepted(_ stream: Int32, _ head: RequestHead, _ target: HTTPTarget?) {
        let index = self.transport.http.streams[stream].connection
        self.identifiedByConnection(index)
        self.takeWishes(head, target, index)
        if !head.clientID.isEmpty { self.transport.http.clientIDs[stream] = head.clientID }
    }

    /// The fault of a request that shows in its head alone. Connect's protocol gives some faults of a head INVALID_ARGUMENT,
    /// which HTTP tells as 400, where gRPC has INTERNAL.
    func refusal(of head: RequestHead, _ target: HTTPTarget, _ stream: Int32) -> WireStatus? {
        var status = self.anyRefusal(of: head, target, stream)
        let form = self.transport.http.streams[stream].form
        if form != .grpc, form != .grpcWeb,
            status?.reason == .timeoutMalformed || status?.reason == .protocolVersion
        {
            status?.code = .invalidArgument
        }
        return status
    }

    private func anyRefusal(of head: RequestHead, _ target: HTTPTarget, _ stream: Int32) -> WireStatus? {
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
            return WireStatus(
                .encodingUnknown, "the message encoding is none of \(GRPCStatusFields.encodings)")
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
        return self.refusalOfBlocked(stream)
    }

    /// Nil as long as the answers that wait on a connection for its windows are within their limit.
    func refusalOfBlocked(_ stream: Int32) -> WireStatus? {
        let http = self.tables.connections[self.transport.http.streams[stream].connection].http
        let found = self.transport.http.connections[http].owedBytes
        guard found > Limits.httpBlockedBytesMax else { return nil }
        return WireStatus(
            .callsBytesLimit,
            "answers of \(found) bytes wait on this connection for its windows, the limit is \(Limits.httpBlockedBytesMax); read them first",
            details: [.found(found), .limit(Limits.httpBlockedBytesMax)])
    }

    /// A server without credentials knows everyone, and a certificate is as good as a token: the handshake is over with the
    /// first request.
    private mutating func identifiedByConnection(_ index: Int32) {
        if self.isIdentifiedByConnection(index) { self.transport.identified(index, &self.tables) }
    }

    func isIdentifiedByConnection(_ index: Int32) -> Bool {
        self.service.authenticator == nil || self.tables.connections[index].identity != IdentityTable.nobody
    }

    /// Applies the settings that a call makes for its whole connection. Behind a proxy a connection carries the calls of many
    /// clients, so a call can shorten the interval of bookmarks, and lengthen it only while it is the only one.
    private mutating func takeWishes(_ head: RequestHead, _ target: HTTPTarget?, _ index: Int32) {
        let isStreaming = if case .method(let method) = target { method.isStreaming } else { false }
        if head.heartbeatSeconds > 0 || isStreaming {
            let asked = head.heartbeatSeconds > 0 ? head.heartbeatSeconds : Limits.heartbeatSecondsDefault
            let seconds = UInt16(min(max(asked, Limits.heartbeatSecondsMin), Limits.heartbeatSecondsMax))
            let present = self.tables.connections[index].heartbeatSeconds
            let streams = self.transport.http.connections[self.tables.connections[index].http].streamCount
            if seconds < present || seconds > present && head.heartbeatSeconds > 0 && streams <= 1 {
                self.tables.connections[index].heartbeatSeconds = seconds
                if self.transport.beats.remove(index) {
                    self.transport.beats.insert(index, dueAt: self.tables.now.monotonic / 1_000 + Int64(seconds))
                }
            }
        }
        if head.marks.contains(.wantsGroups) {
            self.transport.http.connections[self.tables.connections[index].http].flags.insert(.wantsGroups)
        }
    }

    // MARK: Bodies

    /// Bytes of a request's body.
    mutating func takeHTTPBody(_ stream: Int32, _ bytes: borrowing RawSpan) {
        guard bytes.byteCount > 0 else { return }
        let slot = self.transport.http.streams[stream]
        if slot.flags.contains(.dropsBody) { return }
        // The rest of a request that was refused.
        if slot.flags.contains(.isEnding) { return self.skipBody(stream, bytes.byteCount) }
        if slot.flags.contains(.isOpened) {
            return self.refuseSecondMessage(stream)
        }
        guard self.transport.http.requests[stream] != nil else { return }
        bytes.withUnsafeBytes { self.transport.http.requests[stream]?.body.append(contentsOf: $0) }
        guard self.holdRequest(stream, bytes.byteCount) else { return }
        if slot.form == .connectUnary {
            let limit = self.requestBytesMax(stream)
            let count = self.transport.http.requests[stream]?.body.count ?? 0
            if count > limit { self.refuseHTTP(stream, self.tooLong(stream, count, limit)) }
            return
        }
        self.takeMessages(stream)
    }

    /// The longest message of a request, as it comes: compressed, or as JSON, which is longer.
    private func requestBytesMax(_ stream: Int32) -> Int {
        guard let request = self.transport.http.requests[stream] else { return 0 }
        let index = self.transport.http.streams[stream].connection
        let limit: Int
        switch request.target {
        case .method(let method):
            limit = method.requestBytesMax
            if method.isWholeBeforeCredentials { return limit }
        case .service: limit = Limits.requestBytesMax
        }
        return self.tables.connections[index].flags.contains(.isIdentified)
            ? limit : min(limit, self.tables.settings.unidentifiedFrameBytesMax)
    }

    private func tooLong(_ stream: Int32, _ found: Int, _ limit: Int) -> WireStatus {
        var reason = ErrorReason.requestTooLong
        if case .method(let method)? = self.transport.http.requests[stream]?.target { reason = method.reasonOfTooLong }
        return WireStatus(
            reason,
            "the request has \(found) bytes, the limit is \(limit)", details: [.found(found), .limit(limit)])
    }

    /// Takes the messages that have come whole.
    private mutating func takeMessages(_ stream: Int32) {
        while self.transport.http.streams.isTaken(stream), let request = self.transport.http.requests[stream],
            request.body.count >= 5
        {
            let (flags, length) = (request.body[0], request.body[1..<5].reduce(0) { $0 << 8 | Int($1) })
            guard flags & 0xFE == 0 else {
                return self.refuseHTTP(
                    stream,
                    WireStatus(.envelopeInvalid, "the first byte of a message is \(flags), neither 0 nor 1"))
            }
            if flags == 1, request.head.encoding == .identity {
                return self.refuseHTTP(
                    stream,
                    WireStatus(.envelopeInvalid, "a message says that it is compressed, and no encoding was named"))
            }
            let limit = self.requestBytesMax(stream)
            guard length <= limit else { return self.refuseHTTP(stream, self.tooLong(stream, length, limit)) }
            guard request.body.count >= 5 + length else { return }
            let isConversation =
                if case .service(let service) = request.target { service.isConversation } else { false }
            if !isConversation, request.body.count > 5 + length { return self.refuseSecondMessage(stream) }
            let message = Array(request.body[5..<5 + length])
            self.dropRequestBytes(stream, 5 + length)
            self.transport.http.requests[stream]?.messageCount += 1
            self.transport.http.requests[stream]?.since = self.tables.now.monotonic
            if !isConversation { self.transport.http.streams[stream].flags.insert(.isOpened) }
            self.takeMessage(stream, request, message, isCompressed: flags == 1, limit: limit)
        }
    }

    private mutating func refuseSecondMessage(_ stream: Int32) {
        let status = WireStatus(.envelopeInvalid, "a second message came, and the method takes one")
        let call = self.transport.http.streams[stream].call
        if call >= 0 {
            self.service.end(call, status, &self.tables, &self.views, &self.transport)
        } else {
            self.refuseHTTP(stream, status)
        }
    }

    private mutating func dropRequestBytes(_ stream: Int32, _ count: Int) {
        self.transport.http.requests[stream]?.body.removeFirst(count)
        self.transport.letGo(count, self.transport.http.streams[stream].connection, &self.tables)
    }
}

extension Transport {
    mutating func forgetHTTPRequest(_ stream: Int32, _ tables: inout Tables) {
        guard let request = self.http.requests.removeValue(forKey: stream) else { return }
        self.letGo(request.heldBytes, self.http.streams[stream].connection, &tables)
    }
}

extension LoopCore {
    /// The request of a stream is complete.
    mutating func endHTTPRequest(_ stream: Int32) {
        self.transport.http.streams[stream].flags.insert(.peerHasEnded)
        self.stopWaitingForBody(stream)
        let slot = self.transport.http.streams[stream]
        if slot.flags.contains(.isEnding) || slot.flags.contains(.isOpened) { return }
        guard let request = self.transport.http.requests[stream] else { return }
        if slot.form == .connectUnary {
            self.transport.http.streams[stream].flags.insert(.isOpened)
            let message = request.body
            self.dropRequestBytes(stream, message.count)
            // Nothing is nothing, compressed or not.
            let isCompressed = request.head.contentEncoding != .identity && !message.isEmpty
            let limit = self.requestBytesMax(stream)
            var asked = request
            asked.head.encoding = request.head.contentEncoding
            return self.takeMessage(stream, asked, message, isCompressed: isCompressed, limit: limit)
        }
        if case .service(let service) = request.target, service.isConversation, request.body.isEmpty {
            self.transport.forgetHTTPRequest(stream, &self.tables)
            return self.transport.sendHTTPEnd(stream, .ok, endsCall: -1, &self.tables)
        }
        self.refuseHTTP(
            stream,
            WireStatus(
                .envelopeInvalid,
                request.body.isEmpty ? "the request has no message" : "the request ends within a message"))
    }

    /// Skips the body of a refused request. The answer waits for at most a usual request's length.
    private mutating func skipBody(_ stream: Int32, _ count: Int) {
        guard self.transport.http.streams[stream].flags.contains(.waitsForBody) else { return }
        self.transport.http.streams[stream].offset += Int32(count)
        if Int(self.transport.http.streams[stream].offset) > Limits.requestBytesMax { self.stopWaitingForBody(stream) }
    }

    /// Once a heartbeat: answers that waited for the bodies of their requests go out.
    mutating func stopWaitingForBodies(of index: Int32) {
        var stream = self.transport.http.connections[self.tables.connections[index].http].firstStream
        while stream >= 0 {
            let next = self.transport.http.streams[stream].next
            self.stopWaitingForBody(stream)
            stream = next
        }
    }

    private mutating func stopWaitingForBody(_ stream: Int32) {
        guard self.transport.http.streams[stream].flags.contains(.waitsForBody) else { return }
        self.transport.http.streams[stream].flags.remove(.waitsForBody)
        self.transport.http.streams[stream].offset = 0
        self.transport.readyHTTP(stream, &self.tables)
    }

    /// One whole message of a request.
    private mutating func takeMessage(
        _ stream: Int32, _ request: HTTPRequest, _ message: [UInt8], isCompressed: Bool, limit: Int
    ) {
        var message = message
        if isCompressed {
            do throws(InflateError) {
                message = Array(
                    try self.tables.codec.inflate(
                        message.span.bytes, limit: limit, isGzip: request.head.encoding == .gzip))
            } catch {
                return self.refuseHTTP(stream, WireStatus(error))
            }
        }
        switch request.target {
        case .service(let service):
            if !service.isConversation { self.transport.forgetHTTPRequest(stream, &self.tables) }
            self.tables.counters.httpServiceCalls += 1
            self.serve(stream, service, message)
        case .method(let method):
            self.transport.forgetHTTPRequest(stream, &self.tables)
            self.openHTTPCall(stream, method, request.head, message)
        }
    }

    /// Opens the call of a request.
    mutating func openHTTPCall(_ stream: Int32, _ method: Method, _ head: RequestHead, _ message: [UInt8]) {
        let index = self.transport.http.streams[stream].connection
        if self.isLeavingHTTP(index) { return self.refuseHTTP(stream, self.shuttingDown) }
        var bytes = message
        if self.transport.http.streams[stream].flags.contains(.isJSON) {
            do throws(CallRefusal) {
                bytes = try self.requestBytes(ofJSON: message, method)
            } catch {
                return self.refuseHTTP(stream, error.status)
            }
        }
        switch self.transport.http.streams[stream].form {
        case .grpc: self.tables.counters.grpcCalls += 1
        case .grpcWeb: self.tables.counters.grpcWebCalls += 1
        case .connectUnary, .connectStream: self.tables.counters.connectCalls += 1
        case .events, .plain: self.tables.counters.eventCalls += 1
        }
        var timeout: UInt64 = 0
        if case .milliseconds(let told) = head.timeout { timeout = told }
        var opening = Opening(method: method, timeoutMilliseconds: timeout, metadata: head.metadata)
        let isEvents = self.transport.http.streams[stream].form == .events
        opening.forgivesToken = isEvents && !head.lastEventID.isEmpty
        // Refused credentials close no connection of HTTP.
        _ = self.service.open(
            index, stream: UInt32(bitPattern: stream), opening, request: bytes.span.bytes, &self.tables, &self.views,
            &self.transport)
        guard self.transport.http.streams.isTaken(stream) else { return }
        let call = self.transport.http.streams[stream].call
        if isEvents, call >= 0, !self.tables.calls[call].isEnding { self.sayRetry(stream) }
        guard call >= 0, method.isStreaming, self.tables.settings.streamAgeMilliseconds > 0 else { return }
        self.tables.scheduleDeadline(
            .streamAge(call, self.tables.calls.generation(call)),
            at: self.tables.now.monotonic
                + self.spread(self.tables.settings.streamAgeMilliseconds, UInt32(bitPattern: call)))
    }

    func isLeavingHTTP(_ index: Int32) -> Bool {
        self.transport.draining
            || self.transport.http.connections[self.tables.connections[index].http].flags.contains(.isLeaving)
    }

    /// The right content type for a call of Connect in the wrong one: it has one for unary and one for streaming methods.
    private func formAdvice(_ stream: Int32, _ target: HTTPTarget) -> String? {
        let (path, isStreaming) =
            switch target {
            case .method(let method): (method.path, method.isStreaming)
            case .service(let service): (service.rawValue, service.isStreaming)
            }
        switch (self.transport.http.streams[stream].form, isStreaming) {
        case (.connectUnary, true):
            return
                "\(path) answers with a stream; POST application/connect+json or application/connect+proto, or GET with `Accept: text/event-stream`"
        case (.connectStream, false): return "\(path) answers once; POST application/json or application/proto"
        default: return nil
        }
    }

    private mutating func respondUnsupported(_ stream: Int32, _ advice: String) {
        self.transport.respond(
            stream, 415, advice, extra: [("accept-post", "application/json, application/proto")], &self.tables)
    }

    /// The right call, for a request with a content type that this server does not take, such as a form.
    private static func callAdvice(_ head: RequestHead) -> String {
        let types = "application/grpc, application/grpc-web+proto"
        guard case .method(let method) = Self.target(head.path) else {
            return "the content-type must be application/json, application/proto, \(types)"
        }
        let url = String(decoding: head.authority.prefix(255), as: UTF8.self) + method.path
        return method.isStreaming
            ? "ask for events: curl -N -H 'accept: text/event-stream' '\(url)?account=…'. The content-type of a POST must be application/connect+json, application/connect+proto, \(types)"
            : "send JSON: curl -H 'content-type: application/json' -d '{…}' \(url). The content-type must be application/json, application/proto, \(types)"
    }

    /// Ends a stream that has no call.
    mutating func refuseHTTP(_ stream: Int32, _ status: WireStatus) {
        let index = self.transport.http.streams[stream].connection
        if case .method(.submitNotification)? = self.transport.http.requests[stream]?.target,
            !self.tables.connections[index].flags.contains(.isIntake)
        {
            let reason = status.reason?.rawValue ?? "\(status.code)"
            self.tables.noteRefusedNotification(index, status.code.connectHTTPStatus, reason, status.message)
        }
        self.transport.forgetHTTPRequest(stream, &self.tables)
        self.service.refuse(
            self.transport.http.streams[stream].connection, UInt32(bitPattern: stream), status, &self.tables,
            &self.transport)
    }
}
