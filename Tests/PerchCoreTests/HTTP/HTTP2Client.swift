import PerchBase
import PerchModel
import PerchSimulation
import PerchWire

@testable import PerchCore

/// A client of HTTP/2 in memory, which keeps every frame: frames as they are, header blocks decoded, messages of gRPC
/// reassembled.
final class HTTP2Client {
    struct Frame {
        var header: HTTP2FrameHeader
        var body: [UInt8]
    }

    struct Stream {
        var method: PerchWire.Method?
        var head: [String: String] = [:]
        var trailers: [String: String] = [:]
        var bytes: [UInt8] = []
        var messages: [[UInt8]] = []
        var hasEnded = false
        var resetCode: UInt32?
        var dataFrameCount = 0
    }

    let world: World
    let socket: SimulatedSocket
    private(set) var frames: [Frame] = []
    private(set) var streams: [UInt32: Stream] = [:]
    private(set) var goAways: [(last: UInt32, code: UInt32, text: String)] = []
    private(set) var pings = 0
    private(set) var hasEnded = false
    /// Whether a PING of the server is answered.
    var answersPings = true
    private var input: [UInt8] = []
    private var nextStream: UInt32 = 1
    private let codec = MessageCodec()
    private let inflater = HeaderInflater()
    private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Limits.headerListBytesMax, alignment: 8)

    /// `initialWindow`: what the server may send on a stream at first.
    init(_ world: World, initialWindow: UInt32? = nil, says preface: Bool = true, isIntake: Bool = false) {
        self.world = world
        let loop = world.loops[0]
        // The driver knows a socket by its number.
        let before = Int(loop.core.counters.connectionsAccepted) + loop.backlog.count
        self.socket = SimulatedSocket(number: 9_000 + Int32(before))
        self.socket.isIntake = isIntake
        loop.backlog.append(self.socket)
        guard preface else { return }
        self.socket.clientSends(HTTP2.preface)
        self.settings(initialWindow: initialWindow)
        self.settle()
    }

    deinit {
        self.inflater?.free()
        self.memory.deallocate()
    }

    // MARK: Saying

    func send(
        _ kind: HTTP2FrameHeader.Kind, _ flags: HTTP2FrameHeader.Flags = [], _ stream: UInt32 = 0, _ body: [UInt8]
    ) {
        self.socket.clientSends(HTTP2FrameHeader.frame(kind, flags: flags, stream: stream, body))
    }

    func settings(initialWindow: UInt32?) {
        var body: [UInt8] = []
        if let initialWindow {
            body = [0, 4]
            withUnsafeBytes(of: initialWindow.bigEndian) { body.append(contentsOf: $0) }
        }
        self.send(.settings, [], 0, body)
    }

    func window(_ stream: UInt32, _ increment: UInt32) {
        self.socket.clientSends(HTTP2.windowUpdate(stream, increment))
    }

    static func head(
        _ path: String, _ more: [(String, String)] = [], type: String = "application/grpc"
    ) -> [UInt8] {
        var block = HeaderBlock()
        for (name, value) in [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
            ("content-type", type), ("te", "trailers"),
        ] + more { block.add(name, value) }
        return block.bytes
    }

    /// A GET of a file.
    func get(_ path: String) {
        let stream = self.nextStream
        self.nextStream += 2
        self.streams[stream] = Stream()
        var block = HeaderBlock()
        for (name, value) in [
            (":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
        ] { block.add(name, value) }
        self.send(.headers, [.endHeaders, .endStream], stream, block.bytes)
    }

    @discardableResult
    func call(_ request: Request, _ more: [(String, String)] = [], ends: Bool = true) -> UInt32 {
        let stream = self.open(request.method.path, more)
        self.streams[stream]?.method = request.method
        do {
            self.send(.data, ends ? .endStream : [], stream, Array(try self.codec.encode(request).prefixed))
        } catch {
            preconditionFailure("a request could not be encoded: \(error)")
        }
        return stream
    }

    /// A request's head alone.
    func open(
        _ path: String, _ more: [(String, String)] = [], type: String = "application/grpc",
        _ flags: HTTP2FrameHeader.Flags = [], padded: ([UInt8]) -> [UInt8] = { $0 }
    ) -> UInt32 {
        let stream = self.nextStream
        self.nextStream += 2
        self.streams[stream] = Stream()
        self.send(.headers, flags.union(.endHeaders), stream, padded(Self.head(path, more, type: type)))
        return stream
    }

    /// A request with these fields alone, whatever they are.
    ///
    /// `raw`: the block as it is, before the fields.
    func block(
        _ fields: [(String, String)], _ flags: HTTP2FrameHeader.Flags = .endStream, on stream: UInt32,
        raw: [UInt8] = []
    ) {
        var block = HeaderBlock()
        for (name, value) in fields { block.add(name, value) }
        self.streams[stream] = self.streams[stream] ?? Stream()
        self.nextStream = max(self.nextStream, stream + 2)
        self.send(.headers, flags.union(.endHeaders), stream, raw + block.bytes)
    }

    /// The method whose responses come on a stream.
    func expect(_ method: PerchWire.Method, on stream: UInt32) {
        self.streams[stream, default: Stream()].method = method
        self.nextStream = max(self.nextStream, stream + 2)
    }

    // MARK: Hearing

    func settle() {
        var isMoving = true
        while isMoving {
            isMoving = self.socket.deliverToServer()
            self.world.settle()
            let bytes = self.socket.deliverToClient()
            if !bytes.isEmpty { isMoving = true }
            self.input.append(contentsOf: bytes)
            self.read()
            if self.socket.isAtEndForClient { self.hasEnded = true }
        }
        self.world.loops[0].core.checkInvariants()
    }

    private func read() {
        while let header = HTTP2FrameHeader(from: self.input.span.bytes, at: 0), self.input.count >= 9 + header.length {
            let body = Array(self.input[9..<9 + header.length])
            self.input.removeFirst(9 + header.length)
            self.frames.append(Frame(header: header, body: body))
            self.take(header, body)
        }
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private func take(_ header: HTTP2FrameHeader, _ body: [UInt8]) {
        switch header.kind {
        case .headers:
            var fields: [String: String] = [:]
            do {
                let decoded = try body.withUnsafeBytes { bytes throws(HeaderInflater.Fault) in
                    try self.inflater?.inflate(bytes, into: self.memory)
                }
                for field in decoded ?? HeaderFields(UnsafeRawBufferPointer(start: nil, count: 0)) {
                    fields[String(decoding: field.name, as: UTF8.self)] = String(decoding: field.value, as: UTF8.self)
                }
            } catch {
                preconditionFailure("the server's header block cannot be decoded: \(error)")
            }
            if self.streams[header.stream]?.head.isEmpty == true { self.streams[header.stream]?.head = fields }
            if fields["grpc-status"] != nil { self.streams[header.stream]?.trailers = fields }
        case .data:
            self.streams[header.stream]?.dataFrameCount += 1
            self.streams[header.stream]?.bytes.append(contentsOf: body)
            self.takeMessages(header.stream)
        case .reset: self.streams[header.stream]?.resetCode = self.number(body[...])
        case .goAway:
            self.goAways.append(
                (
                    self.number(body[..<4]), self.number(body[4..<8]), String(decoding: body[8...], as: UTF8.self)
                ))
        case .ping where !header.flags.contains(.ack):
            self.pings += 1
            if self.answersPings { self.send(.ping, .ack, 0, body) }
        case .settings where !header.flags.contains(.ack): self.send(.settings, .ack, 0, [])
        default: break
        }
        if header.kind == .data || header.kind == .headers, header.flags.contains(.endStream) {
            self.streams[header.stream]?.hasEnded = true
        }
    }

    private func takeMessages(_ stream: UInt32) {
        while let bytes = self.streams[stream]?.bytes, bytes.count >= 5 {
            let length = Int(self.number(bytes[1..<5]))
            guard bytes.count >= 5 + length else { return }
            self.streams[stream]?.messages.append(Array(bytes[..<(5 + length)]))
            self.streams[stream]?.bytes.removeFirst(5 + length)
        }
    }

    // MARK: What was heard

    subscript(stream: UInt32) -> Stream { self.streams[stream] ?? Stream() }

    /// The messages of a stream as values; bookmarks left out.
    func responses(_ stream: UInt32) -> [Response] {
        guard let method = self[stream].method else { return [] }
        return self[stream].messages.compactMap { message in
            guard Self.bookmark(message) == nil else { return nil }
            let bytes = Array(message[5...])
            return try? self.codec.decodeResponse(method, bytes.span.bytes)
        }
    }

    func statuses(_ stream: UInt32) -> [TaskState<SubscriptionStatuses>] {
        self.responses(stream).compactMap { if case .subscriptionStatusTask(let state) = $0 { state } else { nil } }
    }

    func products(_ stream: UInt32) -> [TaskState<Products>] {
        self.responses(stream).compactMap { if case .productsTask(let state) = $0 { state } else { nil } }
    }

    /// The revision of a message that is a bookmark.
    static func bookmark(_ message: [UInt8]) -> UInt64? {
        var fields = ProtobufFields(message[5...])
        while let field = fields.next() {
            guard field.field == 15, case .piece(let piece) = field.value else { continue }
            var inner = ProtobufFields(piece)
            while let number = inner.next() {
                if number.field == 1, case .number(let revision) = number.value { return revision }
            }
            return 0
        }
        return nil
    }

    func bookmarks(_ stream: UInt32) -> [UInt64] { self[stream].messages.compactMap { Self.bookmark($0) } }

    func code(_ stream: UInt32) -> Int? { self[stream].trailers["grpc-status"].flatMap { Int($0) } }
}
