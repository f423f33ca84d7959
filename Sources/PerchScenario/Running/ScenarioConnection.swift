package import PerchBase
import PerchLoop
package import PerchTLS
package import PerchWire

/// A fault that ends a scenario: of the server or the connection, not an unexpected answer.
package struct ScenarioFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// Set if no server was available.
    package var refusal: ServerRefusal?

    package init(_ description: String) { self.description = description }

    /// The value of `--server` is neither a name nor an address.
    init(_ fault: SocketAddressFault) {
        self.description = "--server: \(fault)"
        self.refusal = ServerRefusal(code: StatusCode.invalidArgument.rawValue)
    }

    /// The server cannot be reached, or closed the connection.
    init(unavailable description: String) {
        self.description = description
        self.refusal = ServerRefusal(code: StatusCode.unavailable.rawValue)
    }

    init(_ error: TLSError) {
        self.description = "no TLS with the server: \(error)"
        let code: StatusCode =
            switch error.fault {
            case .certificate, .name, .refused: .unauthenticated
            default: .unavailable
            }
        self.refusal = ServerRefusal(code: code.rawValue)
    }

    /// The server closed the connection, with a reason or without.
    init(closed drain: Drain?) {
        let reason = drain.map { "\($0.reason): \($0.message)" } ?? "its own lines say why"
        self.init(unavailable: "the server closed the connection; \(reason)")
        if let drain, let code = ErrorReason(rawValue: drain.reason)?.code {
            self.refusal = ServerRefusal(code: code.rawValue, reason: drain.reason)
        }
    }
}

/// A `perch/1` connection that waits for each answer and records every message.
///
/// `PerchClient` does not serve here, because it shows the newest value only and a scenario counts every value. Must stay
/// on one thread.
package final class ScenarioConnection {
    /// A message of a stream, in the order in which it came.
    package struct Heard: Sendable {
        package var stream: UInt32
        package var response: Response
    }

    package let clientID: [UInt8]
    /// Receives each unary call and its answer.
    var onAnswer: ((Request, Result<Response, RefusedCall>) -> Void)?
    private let descriptor: Descriptor
    private let poller: Poller
    private let codec = MessageCodec()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.scenarioReceiveBytes, alignment: 16)
    private var decoder = FrameDecoder()
    /// Plaintext that is to be sent, or, once there is TLS, what it is sealed to.
    private var output: [UInt8] = []
    private let window = TLSWindow()
    private var secure: TLSClientSide?
    private var nextStream: UInt32 = 1
    private var methods: [UInt32: Method] = [:]
    /// Of calls that are answered once.
    private var answers: [UInt32: Response] = [:]
    private var statuses: [UInt32: Status] = [:]
    private var heard: [Heard] = []
    private var hasWelcome = false
    /// Why the server will close the connection.
    private var drain: Drain?
    /// Of the pair that `settle` waits for: those that have no value yet.
    private var awaited: Set<UInt32> = []
    /// Of the last BEAT behind both values of the pair.
    private var beat: UInt64?

    /// Connects and says hello.
    package init(
        to text: String, tls: (context: TLSContext, name: TLSServerName)? = nil, authorization: String, name: String
    ) throws(ScenarioFailure) {
        self.clientID = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        self.descriptor = try Self.connected(to: text)
        do throws(SystemError) {
            self.poller = try Poller()
            try self.poller.watch(self.descriptor.number, tag: 0, for: [.readable, .writable])
        } catch {
            throw ScenarioFailure(unavailable: "no connection to \(text): \(error)")
        }
        if let tls { try self.shakeHands(tls.context, tls.name) }
        let hello = Hello(
            protocolVersion: 1, authorization: authorization, clientName: name, accepts: [],
            clientID: self.clientID)
        try self.send(.hello, stream: 0) { codec throws(MessageError) in try codec.encode(hello) }
        let deadline = Self.deadline(Limits.scenarioAnswerMilliseconds)
        while !self.hasWelcome { try self.pump(until: deadline, "WELCOME") }
    }

    deinit {
        self.secure?.free()
        self.buffer.deallocate()
    }

    private func shakeHands(_ context: TLSContext, _ name: TLSServerName) throws(ScenarioFailure) {
        do throws(TLSError) {
            self.secure = try TLSClientSide(self.window, context, to: name)
        } catch {
            throw ScenarioFailure("TLS: \(error)")
        }
        let deadline = Self.deadline(Limits.scenarioAnswerMilliseconds)
        while self.secure?.isEstablished == false {
            try self.sendSealed()
            try self.pump(until: deadline, "TLS handshake")
        }
        try self.sendSealed()
    }

    /// Sends pending output of TLS.
    private func sendSealed() throws(ScenarioFailure) {
        self.output += self.secure?.output ?? []
        self.secure?.output = []
        try self.flushSealed()
    }

    /// Takes ciphertext.
    private func open(_ bytes: UnsafeRawBufferPointer) throws(ScenarioFailure) {
        let event = self.secure?.received(bytes, established: {}) { self.decoder.append($0.bytes) }
        switch event {
        case .continues, nil: break
        case .closed: throw ScenarioFailure(closed: self.drain)
        case .failed(let error): throw ScenarioFailure(error)
        }
    }

    /// A connection to the first address of the server that accepts one.
    private static func connected(to text: String) throws(ScenarioFailure) -> Descriptor {
        let addresses: [SocketAddress]
        do {
            addresses = try Destination(parsing: text).addresses()
        } catch let fault as SocketAddressFault {
            throw ScenarioFailure(fault)
        } catch {
            throw ScenarioFailure(unavailable: "no connection to \(text): \(error); is the name right?")
        }
        var failure = ""
        for address in addresses {
            do throws(SystemError) {
                let poller = try Poller()
                let descriptor = try Sockets.connect(to: address)
                try poller.watch(descriptor.number, tag: 0, for: .writable)
                switch Self.outcome(descriptor.number, poller) {
                case .connected: return descriptor
                case .failed(let errno): failure = "\(errno); is the server running there?"
                case .underWay: failure = "nothing answered within \(Limits.scenarioConnectMilliseconds / 1_000) s"
                }
            } catch {
                failure = "\(error)"
            }
        }
        throw ScenarioFailure(unavailable: "no connection to \(text): \(failure)")
    }

    /// The outcome of a started connection, within the time left.
    private static func outcome(_ descriptor: Int32, _ poller: Poller) -> ConnectOutcome {
        let deadline = Self.deadline(Limits.scenarioConnectMilliseconds)
        while true {
            _ = poller.wait(timeoutMilliseconds: 100)
            let outcome = Sockets.connectResult(descriptor)
            guard case .underWay = outcome, Clocks.monotonic() < deadline else { return outcome }
        }
    }

    private static func deadline(_ milliseconds: Int64) -> MonotonicTime {
        Clocks.monotonic().advanced(byMilliseconds: milliseconds)
    }

    // MARK: Asking

    /// Asks once and waits for the answer: a response, or the status that ended the call.
    package func ask(_ request: Request) throws(ScenarioFailure) -> Result<Response, RefusedCall> {
        let stream = try self.open(request)
        let deadline = Self.deadline(Limits.scenarioAnswerMilliseconds + 5_000)
        while true {
            if let status = self.statuses.removeValue(forKey: stream) {
                let answer = self.answers.removeValue(forKey: stream)
                let result: Result<Response, RefusedCall>
                if status.code != 0 {
                    result = .failure(RefusedCall(status))
                } else if let answer {
                    result = .success(answer)
                } else {
                    throw ScenarioFailure("\(request.method.path) ended well, but without an answer")
                }
                self.onAnswer?(request, result)
                return result
            }
            try self.pump(until: deadline, request.method.path)
        }
    }

    /// Opens a call; its messages are received from now on.
    package func open(_ request: Request) throws(ScenarioFailure) -> UInt32 {
        let stream = self.nextStream
        self.nextStream += 1
        self.methods[stream] = request.method
        // A stream has no deadline, but where it waits for a position, it would wait for ever without one.
        let timeout = request.method.isStreaming ? 0 : UInt64(Limits.scenarioAnswerMilliseconds)
        try self.send(.call, stream: stream) { codec throws(MessageError) in
            try codec.encodeCall(request, timeoutMilliseconds: timeout)
        }
        return stream
    }

    package func cancel(_ stream: UInt32) throws(ScenarioFailure) {
        try self.sendFrame(.cancel, stream: stream, [])
    }

    /// The status that ended a stream; nil while it is open.
    package func status(of stream: UInt32) -> Status? { self.statuses[stream] }

    /// The messages of all streams since the last call.
    package func takeHeard() -> [Heard] {
        defer { self.heard.removeAll() }
        return self.heard
    }

    // MARK: Silence

    /// Waits until the server has sent everything up to `position`, without a timeout guess.
    ///
    /// It opens two watches that require the position. When both have a value, the contract promises a BEAT with the
    /// revision up to which this connection has received everything. Both watch an account: they queue in the store behind
    /// every record that another watch waits for. A watch of products has its value at once, so its BEAT would not cover
    /// a record that is still pending.
    package func settle(at position: Position, app: AppReference) throws(ScenarioFailure) {
        self.beat = nil
        var asked: [UInt32] = []
        let deadline = Self.deadline(Limits.scenarioAnswerMilliseconds)
        while true {
            var pair: [UInt32] = []
            for number in 1...2 {
                let request = CurrentEntitlementRequest(
                    app: app, account: "perch.scenario.quiet", productID: "perch.scenario.quiet.\(number)",
                    atLeast: position)
                pair.append(try self.open(.currentEntitlementTask(request)))
            }
            asked += pair
            self.awaited = Set(pair)
            let retry = Self.deadline(Limits.scenarioQuietRetryMilliseconds)
            while self.beat.map({ $0 < position.revision }) ?? true, Clocks.monotonic() < retry {
                try self.pump(until: deadline, "BEAT", atMost: retry)
            }
            if let beat = self.beat, beat >= position.revision { break }
        }
        for stream in asked { try self.cancel(stream) }
        while asked.contains(where: { self.statuses[$0] == nil }) { try self.pump(until: deadline, "STATUS") }
        for stream in asked { self.statuses[stream] = nil }
        self.heard.removeAll { asked.contains($0.stream) }
    }

    // MARK: Bytes

    private func send(
        _ kind: FrameKind, stream: UInt32,
        _ encode: (MessageCodec) throws(MessageError) -> MessageCodec.Encoded
    ) throws(ScenarioFailure) {
        do throws(MessageError) {
            self.output.append(contentsOf: try encode(self.codec).frame(kind, stream: stream))
        } catch {
            throw ScenarioFailure("what is asked for cannot be written: \(error)")
        }
        try self.flush()
    }

    private func sendFrame(_ kind: FrameKind, stream: UInt32, _ payload: [UInt8]) throws(ScenarioFailure) {
        withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 4) { memory in
            FrameHeader(kind: kind, stream: stream, length: payload.count).write(into: memory)
            self.output.append(contentsOf: memory)
        }
        self.output.append(contentsOf: payload)
        try self.flush()
    }

    private func flush() throws(ScenarioFailure) {
        if self.secure != nil {
            let plaintext = self.output
            self.output = []
            if let error = plaintext.withUnsafeBytes({ self.secure?.seal($0) }) {
                throw ScenarioFailure(error)
            }
            try self.sendSealed()
        } else {
            try self.flushSealed()
        }
    }

    private func flushSealed() throws(ScenarioFailure) {
        let deadline = Self.deadline(Limits.scenarioAnswerMilliseconds)
        while !self.output.isEmpty {
            let outcome = self.output.withUnsafeBytes { Sockets.send(self.descriptor.number, $0) }
            switch outcome {
            case .wrote(let count): self.output.removeFirst(count)
            case .full: try self.pump(until: deadline, "room to write")
            case .broken(let errno): throw ScenarioFailure(unavailable: "the connection broke: \(errno)")
            }
        }
    }

    /// Reads what has arrived. Waits for it until `atMost`, then returns, or until `deadline`, then throws.
    private func pump(
        until deadline: MonotonicTime, _ what: String, atMost: MonotonicTime? = nil
    ) throws(ScenarioFailure) {
        switch Sockets.receive(self.descriptor.number, into: self.buffer) {
        case .bytes(let count):
            let bytes = UnsafeRawBufferPointer(rebasing: self.buffer[..<count])
            if self.secure == nil { self.decoder.append(bytes.bytes) } else { try self.open(bytes) }
            try self.takeFrames()
        case .empty:
            let now = Clocks.monotonic()
            guard now < deadline else {
                throw ScenarioFailure(unavailable: "the server did not answer in time: no \(what)")
            }
            let until = atMost.map { min($0, deadline) } ?? deadline
            self.poller.change(self.descriptor.number, tag: 0, to: .readable)
            _ = self.poller.wait(timeoutMilliseconds: Int(max(1, until.milliseconds(since: now))))
        case .end: throw ScenarioFailure(closed: self.drain)
        case .broken(let errno): throw ScenarioFailure(unavailable: "the connection broke: \(errno)")
        }
    }

    private func takeFrames() throws(ScenarioFailure) {
        while let frame = try self.nextFrame() {
            do throws(MessageError) {
                try self.take(frame)
            } catch {
                throw ScenarioFailure("the server sent what cannot be read: \(error)")
            }
        }
    }

    private func nextFrame() throws(ScenarioFailure) -> Frame? {
        do throws(FrameError) {
            return try self.decoder.next()
        } catch {
            throw ScenarioFailure("the server sent what is no frame: \(error)")
        }
    }

    private func take(_ frame: Frame) throws(MessageError) {
        let bytes = frame.payload.span.bytes
        let stream = frame.header.stream
        switch frame.header.kind {
        case .welcome:
            _ = try self.codec.decodeWelcome(bytes)
            self.hasWelcome = true
        case .message:
            guard let method = self.methods[stream] else { return }
            let response = try self.codec.decodeResponse(method, bytes)
            if method.isStreaming {
                self.heard.append(Heard(stream: stream, response: response))
                if response != .currentEntitlementTask(.loading) { self.awaited.remove(stream) }
            } else {
                self.answers[stream] = response
            }
        case .status:
            self.statuses[stream] = try self.codec.decodeStatus(bytes)
            self.methods[stream] = nil
        case .beat:
            let beat = try self.codec.decodeBeat(bytes)
            if self.awaited.isEmpty { self.beat = beat.revision }
        case .drain: self.drain = try self.codec.decodeDrain(bytes)
        case .ping, .pong, .hello, .call, .cancel: break
        }
    }
}

/// How a server could not be reached or went: gRPC's code and the word of the contract. For exit codes.
package struct ServerRefusal: Hashable, Sendable {
    package var code: Int32
    package var reason = ""

    package init(code: Int32, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

/// How a call was refused.
package struct RefusedCall: Error, Hashable, Sendable {
    package var code: Int32
    package var reason: String
    package var message: String

    init(code: Int32, reason: String, message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    init(_ status: Status) {
        self.code = status.code
        self.reason = status.reason
        self.message = status.message
    }
}
