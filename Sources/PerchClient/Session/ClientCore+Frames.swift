import PerchBase
import PerchWire

// Frames in and out.
extension ClientCore {
    /// Bytes came.
    package mutating func received(_ bytes: borrowing RawSpan) {
        guard self.isReading else { return }
        self.lastHeard = self.now.monotonic
        self.decoder.append(bytes)
        // A frame may end the connection. The bytes behind it are dropped then.
        while self.isReading {
            do throws(FrameError) {
                guard let frame = try self.decoder.next() else { return }
                self.take(frame)
            } catch {
                guard case .unknownKind(Self.kindOfAlert) = error else { return self.breach("\(error)") }
                self.lost(
                    PerchError(
                        code: .failedPrecondition, reason: .tlsRequired,
                        message: "the server speaks TLS, and this client spoke without"))
            }
        }
    }

    /// The first byte of an alert of TLS, with which such a server answers plaintext.
    private static let kindOfAlert: UInt8 = 0x15

    private var isReading: Bool {
        switch self.link {
        case .greeting, .open: true
        case .idle, .connecting, .waiting, .closed: false
        }
    }

    private mutating func take(_ frame: Frame) {
        let header = frame.header
        if let fault = self.fault(of: header) { return self.breach(fault) }
        do throws(MessageError) {
            let bytes = frame.payload.span.bytes
            switch header.kind {
            case .welcome: self.welcomed(try self.codec.decodeWelcome(bytes))
            case .message: self.takeMessage(frame)
            case .status: self.takeStatus(try self.codec.decodeStatus(bytes), stream: header.stream)
            case .beat:
                let beat = try self.codec.decodeBeat(bytes)
                self.own.saw(beat.revision)
                self.copiesHeard(beat)
                self.group.isOpen = false
                self.applyGroupIfComplete()
            case .ping: self.pong(frame.payload)
            case .pong: break
            case .drain: self.drained(try self.codec.decodeDrain(bytes))
            case .hello, .call, .cancel: preconditionFailure("judged by its header")
            }
        } catch {
            self.breach("a frame of kind \(header.kind.rawValue) cannot be read: \(error)")
        }
    }

    /// The fault of a frame, from its header alone; nil for none.
    private func fault(of header: FrameHeader) -> String? {
        let kind = header.kind.rawValue
        let isGreeting = if case .greeting = self.link { true } else { false }
        switch header.kind {
        case .hello, .call, .cancel:
            return "kind \(kind) came from the server, and only clients send it"
        case .message, .status:
            if header.stream == 0 { return "kind \(kind) came on stream 0, and belongs to a call" }
        case .welcome, .beat, .ping, .pong, .drain:
            if header.stream != 0 { return "kind \(kind) came on stream \(header.stream), and belongs to 0" }
        }
        if header.isCompressed, header.kind != .message || !self.settings.acceptsCompression {
            return "kind \(kind) came compressed, which was not offered"
        }
        switch header.kind {
        case .welcome where !isGreeting: return "WELCOME came twice"
        case .welcome, .drain: return nil
        case .ping where header.length != 8, .pong where header.length != 8:
            return "kind \(kind) has \(header.length) bytes, and needs 8"
        default: return isGreeting ? "kind \(kind) came before WELCOME" : nil
        }
    }

    // MARK: The connection

    private mutating func welcomed(_ welcome: Welcome) {
        let heartbeat = Int64(welcome.heartbeatSeconds == 0 ? self.settings.heartbeatSeconds : welcome.heartbeatSeconds)
        let frameBytes = Int(welcome.limits?.frameBytes ?? 0)
        self.link = .open(
            Open(
                since: self.now.monotonic,
                silenceMilliseconds: heartbeat * 500 * Limits.clientSilenceHalfHeartbeats,
                frameBytesMax: frameBytes == 0 ? Limits.frameBytesMax : min(frameBytes, Limits.frameBytesMax),
                serverVersion: welcome.serverVersion))
        self.attempts.failure = nil
        self.attempts.away = nil
        let store = StoreName(id: welcome.storeID, epoch: welcome.epoch)
        if let known = self.store, known != store {
            // Another store, or this one restored from a backup: tokens of known values are useless. A token kept by a
            // consumer stays: the server refuses it, and the consumer sees that.
            for id in self.watches.keys where self.watches[id]?.isTokenKept == false { self.watches[id]?.token = [] }
            self.own = OwnMutations()
        }
        self.store = store
        self.own.saw(welcome.revision)
        self.report(
            .connected(
                ServerInfo(
                    since: self.now.wall, version: welcome.serverVersion, storeID: StoreIdentity(bytes: store.id),
                    epoch: store.epoch, revision: welcome.revision, heartbeat: .seconds(heartbeat))))
        for id in self.watches.keys.sorted() { self.openWatch(id) }
        for id in self.updates.keys.sorted() { self.openUpdates(id) }
        for id in self.copies.keys.sorted() { self.sendCopy(id) }
        self.sendWaitingCalls()
    }

    /// The error of a call or a stream that the server refused. One that lacks a method is older than this client.
    func refused(_ status: Status) -> PerchError {
        var error = PerchError(status)
        guard error.reason == .unknownMethod, case .open(let open) = self.link else { return error }
        error.message += "; the server is older than this client: it is of the version \(open.serverVersion)"
        error.details["server_version"] = open.serverVersion
        return error
    }

    private mutating func drained(_ drain: Drain) {
        if drain.isFinal {
            self.lost(PerchError(drain), drain: drain)
        } else if case .open(var open) = self.link {
            open.drain = drain
            self.link = .open(open)
        }
    }

    private mutating func pong(_ bytes: [UInt8]) {
        guard self.output.count <= Limits.clientPongBytesMax else { return }
        self.send(.pong, stream: 0, bytes)
    }

    private mutating func send(_ kind: FrameKind, stream: UInt32, _ payload: [UInt8]) {
        let header = FrameHeader(kind: kind, stream: stream, length: payload.count)
        withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 4) { memory in
            header.write(into: memory)
            self.output.append(contentsOf: memory)
        }
        self.output.append(contentsOf: payload)
    }

    // MARK: Streams

    /// Whether a call can be opened now.
    var canOpen: Bool {
        guard case .open(let open) = self.link else { return false }
        return open.drain == nil && open.leaving == nil
    }

    /// Sends a CALL. Throws the fault of the request, without effect on the connection.
    mutating func open(
        _ request: Request, timeoutMilliseconds: Int64, metadata: [Metadata] = [], as use: StreamUse
    ) throws(PerchError) -> UInt32 {
        guard case .open(let open) = self.link else { preconditionFailure("a call was opened without a connection") }
        do throws(MessageError) {
            let encoded = try self.codec.encodeCall(
                request, timeoutMilliseconds: UInt64(max(timeoutMilliseconds, 0)), metadata: metadata)
            guard encoded.message.count <= open.frameBytesMax else {
                throw .tooLong(
                    message: "the call of \(request.method.path)", bytes: encoded.message.count,
                    limitBytes: open.frameBytesMax)
            }
            while self.streams[self.nextStream] != nil { self.nextStream = self.nextStream % FrameHeader.streamMax + 1 }
            let stream = self.nextStream
            self.nextStream = stream % FrameHeader.streamMax + 1
            self.streams[stream] = use
            self.output.append(contentsOf: encoded.frame(.call, stream: stream))
            return stream
        } catch {
            throw PerchError(WireStatus(error))
        }
    }

    /// Sends a CANCEL. The number is free again after its STATUS. Messages before it are dropped.
    mutating func abandon(_ stream: UInt32, isWatch: Bool, hasSpoken: Bool) {
        self.streams[stream] = .abandoned(isWatch: isWatch, hasSpoken: hasSpoken)
        self.send(.cancel, stream: stream, [])
    }

    private mutating func takeMessage(_ frame: Frame) {
        let stream = frame.header.stream
        guard let use = self.streams[stream] else {
            return self.breach("MESSAGE came on stream \(stream), which has no call")
        }
        let method: Method
        switch use {
        case .abandoned(let isWatch, let hasSpoken):
            if isWatch, !hasSpoken {
                self.streams[stream] = .abandoned(isWatch: true, hasSpoken: true)
                self.spokenCount += 1
            }
            return
        case .call(let id):
            guard let call = self.calls[id] else { preconditionFailure("stream \(stream) leads to no call") }
            if call.response != nil { return self.breach("a second MESSAGE came on stream \(stream), a unary call") }
            method = call.request.method
        case .watch(let id):
            guard let watch = self.watches[id] else { preconditionFailure("stream \(stream) leads to no watch") }
            method = watch.request.method
        case .updates(let id):
            guard let updates = self.updates[id] else { preconditionFailure("stream \(stream) leads to no events") }
            method = updates.request.method
        case .copy: method = .appEntitlements
        }
        let response: Response?
        do throws(MessageError) {
            response = try self.read(method, frame)
        } catch {
            return self.breach("a message of \(method.path) cannot be read: \(error)")
        }
        switch use {
        case .call(let id): self.calls[id]?.response = response.map { .read($0) } ?? .unreadable
        case .watch(let id): self.tookState(id, response)
        case .updates(let id): self.tookEvent(id, response)
        case .copy(let id): self.tookPart(id, response)
        case .abandoned: break
        }
    }

    /// Nil for a message that only a newer client can read: its `oneof` is empty.
    private func read(_ method: Method, _ frame: Frame) throws(MessageError) -> Response? {
        do throws(MessageError) {
            guard frame.header.isCompressed else {
                return try self.codec.decodeResponse(method, frame.payload.span.bytes)
            }
            let inflated: UnsafeRawBufferPointer
            do throws(InflateError) {
                inflated = try self.codec.inflate(frame.payload.span.bytes)
            } catch {
                throw .malformed(field: "\(error)", atByte: 0, fault: .refused)
            }
            return try self.codec.decodeResponse(method, inflated.bytes)
        } catch .missing {
            return nil
        }
    }

    private mutating func takeStatus(_ status: Status, stream: UInt32) {
        guard let use = self.streams.removeValue(forKey: stream) else {
            return self.breach("STATUS came on stream \(stream), which has no call")
        }
        switch use {
        case .call(let id):
            self.tookCallStatus(id, status)
        case .watch(let id):
            if self.watches[id]?.hasSpoken == true { self.spokenCount -= 1 }
            self.watches[id]?.lost()
            self.watchEnded(id, status)
        case .updates(let id):
            if self.updates[id]?.hasSpoken == true { self.spokenCount -= 1 }
            self.updates[id]?.lost()
            self.updatesEnded(id, status)
        case .copy(let id):
            if self.copies[id]?.hasSpoken == true { self.spokenCount -= 1 }
            self.copies[id]?.lost()
            self.copyEnded(id, status)
        case .abandoned(_, let hasSpoken):
            if hasSpoken { self.spokenCount -= 1 }
        }
        self.applyGroupIfComplete()
        self.closeIfLeft()
    }
}
