import PerchBase
package import PerchModel
package import PerchWire

/// A `perch/1` client in memory. It uses the real format and records every message.
package final class WireClient {
    /// A message of the server.
    package enum Event: Sendable {
        case welcome(Welcome)
        case message(stream: UInt32, Response)
        case status(stream: UInt32, Status)
        case beat(Beat)
        case ping([UInt8])
        case pong([UInt8])
        case drain(Drain)
        /// The server closed the connection, or it broke.
        case ended
    }

    package let socket: SimulatedSocket
    package private(set) var events: [Event] = []
    /// Every received byte; recorded only for tests that compare bytes.
    package var keepsBytes = false
    package private(set) var bytes: [UInt8] = []
    package private(set) var compressedFrameCount = 0
    /// Called with each event on arrival.
    package var onEvent: ((Event) -> Void)?

    private let codec = MessageCodec()
    private var decoder = FrameDecoder()
    private var methods: [UInt32: Method] = [:]
    private var nextStream: UInt32 = 1
    private var hasEnded = false

    package init(socket: SimulatedSocket) { self.socket = socket }

    // MARK: Saying

    package func hello(
        clientID: [UInt8] = [], heartbeatSeconds: UInt32 = 0, accepts: [Encoding] = [], version: UInt32 = 1,
        authorization: String = ""
    ) {
        let hello = Hello(
            protocolVersion: version, authorization: authorization, clientName: "simulated", accepts: accepts,
            heartbeatSeconds: heartbeatSeconds, clientID: clientID)
        self.send(.hello) { codec throws(MessageError) in try codec.encode(hello) }
    }

    @discardableResult
    package func call(
        _ request: Request, timeoutMilliseconds: UInt64 = 0, authorization: String? = nil, _ another: String? = nil
    ) -> UInt32 {
        let stream = self.nextStream
        self.nextStream += 1
        self.methods[stream] = request.method
        self.send(.call, stream: stream) { codec throws(MessageError) in
            try codec.encodeCall(
                request, timeoutMilliseconds: timeoutMilliseconds,
                metadata: [authorization, another].compactMap { $0 }.map {
                    Metadata(key: "authorization", value: Array($0.utf8))
                })
        }
        return stream
    }

    /// A call with arbitrary bytes as its request.
    @discardableResult
    package func call(_ method: Method, requestBytes: [UInt8], compressed: Bool = false) -> UInt32 {
        let stream = self.nextStream
        self.nextStream += 1
        self.methods[stream] = method
        do throws(MessageError) {
            guard compressed else {
                // Written by hand, because our own encoder makes no frame beyond the limits.
                func field(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
                    var (length, digits) = (bytes.count, [UInt8]())
                    repeat {
                        digits.append(UInt8(truncatingIfNeeded: length & 0x7F | (length > 0x7F ? 0x80 : 0)))
                        length >>= 7
                    } while length > 0
                    return [tag] + digits + bytes
                }
                self.sendFrame(.call, stream: stream, field(0x0A, Array(method.path.utf8)) + field(0x22, requestBytes))
                return stream
            }
            _ = try requestBytes.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
                try self.codec.encodeCall(path: method.path, request: bytes)
            }
            guard let smaller = self.codec.compressed() else { preconditionFailure("it does not get smaller") }
            self.socket.clientSends(Array(smaller.frame(.call, stream: stream)))
        } catch {
            preconditionFailure("a request of a test cannot be encoded: \(error)")
        }
        return stream
    }

    package func cancel(_ stream: UInt32) { self.sendEmpty(.cancel, stream: stream) }

    package func ping(_ bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]) {
        self.sendFrame(.ping, stream: 0, bytes)
    }

    package func sendFrame(_ kind: FrameKind, stream: UInt32, _ payload: [UInt8]) {
        var frame = [UInt8](repeating: 0, count: FrameHeader.byteCount)
        frame.withUnsafeMutableBytes {
            FrameHeader(kind: kind, stream: stream, length: payload.count).write(into: $0)
        }
        self.socket.clientSends(frame + payload)
    }

    package func sendBytes(_ bytes: [UInt8]) { self.socket.clientSends(bytes) }

    private func sendEmpty(_ kind: FrameKind, stream: UInt32) { self.sendFrame(kind, stream: stream, []) }

    private func send(
        _ kind: FrameKind, stream: UInt32 = 0, _ encode: (MessageCodec) throws(MessageError) -> MessageCodec.Encoded
    ) {
        do throws(MessageError) {
            self.socket.clientSends(Array(try encode(self.codec).frame(kind, stream: stream)))
        } catch {
            preconditionFailure("a request of a test cannot be encoded: \(error)")
        }
    }

    // MARK: Hearing

    /// Reads bytes from the network, in pieces of any size.
    package func take(_ more: [UInt8]) {
        if self.keepsBytes { self.bytes.append(contentsOf: more) }
        self.decoder.append(more)
        do {
            while let frame = try self.decoder.next() { try self.take(frame) }
        } catch {
            preconditionFailure("the server sent what cannot be read: \(error)")
        }
        if self.socket.isAtEndForClient { self.end() }
    }

    package func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.note(.ended)
    }

    package var isOpen: Bool { !self.hasEnded }

    /// Bytes of a frame that is not whole yet.
    package var partialByteCount: Int { self.decoder.bufferedByteCount }

    private func take(_ frame: Frame) throws {
        var payload = frame.payload
        if frame.header.isCompressed {
            self.compressedFrameCount += 1
            payload = Array(try self.codec.inflate(payload.span.bytes))
        }
        let bytes = payload.span.bytes
        let stream = frame.header.stream
        switch frame.header.kind {
        case .welcome: self.note(.welcome(try self.codec.decodeWelcome(bytes)))
        case .message:
            guard let method = self.methods[stream] else {
                preconditionFailure("a message on stream \(stream), which has no call")
            }
            self.note(.message(stream: stream, try self.codec.decodeResponse(method, bytes)))
        case .status:
            let status = try self.codec.decodeStatus(bytes)
            self.methods[stream] = nil
            self.note(.status(stream: stream, status))
        case .beat: self.note(.beat(try self.codec.decodeBeat(bytes)))
        case .pong: self.note(.pong(payload))
        case .drain: self.note(.drain(try self.codec.decodeDrain(bytes)))
        case .ping:
            self.note(.ping(payload))
            self.sendFrame(.pong, stream: 0, payload)
        case .hello, .call, .cancel: preconditionFailure("the server sent kind \(frame.header.kind)")
        }
    }

    private func note(_ event: Event) {
        self.events.append(event)
        self.onEvent?(event)
    }

    package func forgetEvents() { self.events.removeAll() }

    // MARK: What was heard

    package func messages(on stream: UInt32) -> [Response] {
        self.events.compactMap { if case .message(stream, let response) = $0 { response } else { nil } }
    }

    package func status(of stream: UInt32) -> Status? {
        for case .status(stream, let status) in self.events { return status }
        return nil
    }

    package var beats: [Beat] {
        self.events.compactMap { if case .beat(let beat) = $0 { beat } else { nil } }
    }

    package var drains: [Drain] {
        self.events.compactMap { if case .drain(let drain) = $0 { drain } else { nil } }
    }

    package var welcome: Welcome? {
        for case .welcome(let welcome) in self.events { return welcome }
        return nil
    }

    package func statuses(on stream: UInt32) -> [TaskState<SubscriptionStatuses>] {
        self.messages(on: stream).compactMap { response in
            if case .subscriptionStatusTask(let state) = response { state } else { nil }
        }
    }

    package func entitlements(on stream: UInt32) -> [TaskState<Verified<Transaction>?>] {
        self.messages(on: stream).compactMap { response in
            if case .currentEntitlementTask(let state) = response { state } else { nil }
        }
    }

    package func products(on stream: UInt32) -> [TaskState<Products>] {
        self.messages(on: stream).compactMap { response in
            if case .productsTask(let state) = response { state } else { nil }
        }
    }

    package func updates(on stream: UInt32) -> [TransactionEvent] {
        self.messages(on: stream).compactMap { response in
            if case .transactionUpdates(let event) = response { event } else { nil }
        }
    }
}

extension TaskState {
    package var isLoading: Bool { self == .loading }

    package var isUnchanged: Bool {
        if case .unchanged = self { true } else { false }
    }

    /// The value of a success; nil for anything else.
    package var value: Value? {
        if case .success(let value, _) = self { value } else { nil }
    }

    package var failure: Failure? {
        if case .failure(let failure, _) = self { failure } else { nil }
    }

    package var info: ValueInfo? {
        switch self {
        case .loading: nil
        case .failure(_, let info), .success(_, let info), .unchanged(let info): info
        }
    }
}
