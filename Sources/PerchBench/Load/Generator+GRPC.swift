import PerchBase
import PerchLoop
import PerchWire

// The same load over gRPC. A watch has the stream number 2n - 1 for its place n on the connection; a writer's calls have rising
// numbers. Windows are given back as grpc-go does without its estimate of the bandwidth: at a quarter of 64 KiB.
extension Generator {
    /// What HTTP/2 adds to a connection.
    struct HTTP2Link {
        /// Bytes that the server takes at present.
        var credit = Int64(GRPCFrames.window)
        /// Received bytes that were not given back yet.
        var unreturned: Int32 = 0
        /// Watches that were called.
        var called: Int32 = 0
        /// Calls of a writer that wait for credit.
        var withheld: [(bytes: [UInt8], flow: Int)] = []
        /// The writer's stream of each call, by half its number.
        var streams: [UInt32] = []
        /// Frames to send after the frames that were read.
        var replies: [UInt8] = []
    }

    /// The stream of a message whose end has not come yet.
    struct MessageStream: Hashable {
        var connection: Int32
        var number: UInt32
    }

    /// What HTTP/2 adds to a generator.
    struct HTTP2State {
        var links: [HTTP2Link] = []
        /// Bytes received on the stream of each watch that were not given back yet.
        var streamBytes: [Int32] = []
        var partialMessages: [MessageStream: [UInt8]] = [:]

        init() {}

        init(connections: Int, watches: Int) {
            self.links = Array(repeating: HTTP2Link(), count: connections)
            self.streamBytes = Array(repeating: 0, count: watches)
        }

        /// Forgets a connection.
        mutating func drop(_ index: Int, watches: Range<Int>) {
            guard !self.links.isEmpty else { return }
            self.links[index] = HTTP2Link()
            for watch in watches { self.streamBytes[watch] = 0 }
            for key in self.partialMessages.keys where key.connection == Int32(index) {
                self.partialMessages[key] = nil
            }
        }
    }

    // MARK: Sending

    /// Appends a change's call to its writer's output.
    func appendCall(_ template: CallTemplate, writer: Int, stream: UInt32, account: Int, change: Int = 0) {
        guard self.dialect.isGRPC else {
            return template.append(to: &self.writers[writer].out, stream: stream, account: account, change: change)
        }
        let number = UInt32(self.http2.links[writer].streams.count) * 2 + 1
        self.http2.links[writer].streams.append(stream)
        if self.http2.links[writer].credit < template.flowBytes || !self.http2.links[writer].withheld.isEmpty {
            var bytes: [UInt8] = []
            template.append(to: &bytes, stream: number, account: account, change: change)
            self.http2.links[writer].withheld.append((bytes, template.flowBytes))
            return
        }
        self.http2.links[writer].credit -= Int64(template.flowBytes)
        template.append(to: &self.writers[writer].out, stream: number, account: account, change: change)
    }

    /// Calls the watches of a connection, as far as its credit allows.
    private func callWatches(_ index: Int) {
        let connection = self.connections[index]
        var out: [UInt8] = []
        while self.http2.links[index].called < connection.watchCount {
            let place = self.http2.links[index].called
            var call: [UInt8] = []
            let flow = self.appendWatch(
                Int(connection.firstWatch + place), stream: UInt32(place) * 2 + 1, connection.isReturning, &call)
            guard self.http2.links[index].credit >= flow else { break }
            self.http2.links[index].credit -= Int64(flow)
            self.http2.links[index].called += 1
            out += call
        }
        self.http2.links[index].replies += out
    }

    private func sendWithheld(_ index: Int) {
        guard !self.http2.links[index].withheld.isEmpty else { return }
        var count = 0
        for call in self.http2.links[index].withheld {
            guard self.http2.links[index].credit >= call.flow else { break }
            self.http2.links[index].credit -= Int64(call.flow)
            self.writers[index].out += call.bytes
            count += 1
        }
        self.http2.links[index].withheld.removeFirst(count)
    }

    // MARK: Receiving

    /// Handles complete frames in order and returns their length.
    func http2Frames(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) -> Int {
        var at = 0
        while bytes.count - at >= GRPCFrames.headerBytes {
            let head = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
            let number = UInt32(
                bigEndian: bytes.loadUnaligned(fromByteOffset: at + GRPCFrames.streamOffset, as: UInt32.self))
            let length = Int(head >> 8)
            let start = at + GRPCFrames.headerBytes
            guard length <= GRPCFrames.frameBytesMax else {
                self.giveUp("received a frame of \(length) bytes, the limit is \(GRPCFrames.frameBytesMax)")
                return bytes.count
            }
            guard bytes.count - start >= length else { break }
            let body = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
            let flags = bytes[at + 4]
            at = start + length
            self.http2Frame(
                index, GRPCFrames.Kind(rawValue: UInt8(head & 0xFF)), flags, number & 0x7FFF_FFFF, body, now)
            if self.connections[index].phase == .closed { return bytes.count }
        }
        if !self.http2.links[index].replies.isEmpty {
            var replies: [UInt8] = []
            swap(&replies, &self.http2.links[index].replies)
            replies.withUnsafeBytes { self.send(index, $0) }
        }
        return at
    }

    @inline(__always)
    private func http2Frame(
        _ index: Int, _ kind: GRPCFrames.Kind?, _ flags: UInt8, _ number: UInt32, _ body: UnsafeRawBufferPointer,
        _ now: Int64
    ) {
        switch kind {
        case .data: self.data(index, flags, number, body, at: now)
        case .headers:
            if flags & GRPCFrames.endStream != 0 { self.trailers(index, number, body) }
        case .reset: self.streamEnded(index, number, Status(code: StatusCode.internal.rawValue, reason: "RST_STREAM"))
        case .settings:
            guard flags & GRPCFrames.ack == 0 else { return }
            self.http2.links[index].replies += GRPCFrames.frame(.settings, flags: GRPCFrames.ack, stream: 0, [])
            self.greeted(index)
        case .ping:
            guard flags & GRPCFrames.ack == 0 else { return }
            self.http2.links[index].replies += GRPCFrames.frame(.ping, flags: GRPCFrames.ack, stream: 0, Array(body))
        case .goAway:
            let text =
                body.count > 8 ? String(decoding: UnsafeRawBufferPointer(rebasing: body[8...]), as: UTF8.self) : ""
            self.lost(index, text.isEmpty ? "GOAWAY" : text)
        case .windowUpdate:
            // No request is longer than the window of its stream.
            guard number == 0, body.count == 4 else { return }
            self.http2.links[index].credit += Int64(
                UInt32(bigEndian: body.loadUnaligned(as: UInt32.self)) & 0x7FFF_FFFF)
            if self.connections[index].isWriter {
                self.sendWithheld(index)
            } else if self.connections[index].phase == .open {
                self.callWatches(index)
            }
        case nil: return
        }
    }

    /// grpc-go calls when it has the server's SETTINGS.
    private func greeted(_ index: Int) {
        guard self.connections[index].phase == .greeting else { return }
        self.connections[index].phase = .open
        if self.connections[index].isWriter { self.writerOpened() } else { self.callWatches(index) }
    }

    private func data(_ index: Int, _ flags: UInt8, _ number: UInt32, _ body: UnsafeRawBufferPointer, at now: Int64) {
        self.giveBack(index, number, Int32(body.count))
        var rest = body
        if flags & GRPCFrames.padded != 0, let pad = body.first {
            rest = UnsafeRawBufferPointer(rebasing: body[1..<max(1, body.count - Int(pad))])
        }
        let key = MessageStream(connection: Int32(index), number: number)
        guard !self.http2.partialMessages.isEmpty, var held = self.http2.partialMessages.removeValue(forKey: key) else {
            return self.messages(index, number, rest, key, at: now)
        }
        held.append(contentsOf: rest)
        held.withUnsafeBytes { self.messages(index, number, $0, key, at: now) }
    }

    @inline(__always)
    private func giveBack(_ index: Int, _ number: UInt32, _ count: Int32) {
        self.http2.links[index].unreturned += count
        if self.http2.links[index].unreturned >= GRPCFrames.returnBytes {
            self.http2.links[index].replies += GRPCFrames.windowUpdate(0, self.http2.links[index].unreturned)
            self.http2.links[index].unreturned = 0
        }
        // An answer is shorter than the window of its stream.
        guard !self.connections[index].isWriter else { return }
        let watch = Int(self.connections[index].firstWatch) + Int(number / 2)
        guard watch < self.http2.streamBytes.count else { return }
        self.http2.streamBytes[watch] += count
        if self.http2.streamBytes[watch] >= GRPCFrames.returnBytes {
            self.http2.links[index].replies += GRPCFrames.windowUpdate(number, self.http2.streamBytes[watch])
            self.http2.streamBytes[watch] = 0
        }
    }

    private func messages(
        _ index: Int, _ number: UInt32, _ bytes: UnsafeRawBufferPointer, _ key: MessageStream, at now: Int64
    ) {
        var at = 0
        while bytes.count - at >= 5 {
            let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at + 1, as: UInt32.self)))
            guard length <= Limits.frameBytesMax else {
                return self.giveUp("received a message of \(length) bytes, the limit is \(Limits.frameBytesMax)")
            }
            guard bytes.count - at - 5 >= length else { break }
            let message = UnsafeRawBufferPointer(rebasing: bytes[at + 5..<at + 5 + length])
            if self.connections[index].isWriter {
                guard let stream = self.writerStream(index, number) else { return }
                self.answer(writer: index, stream, message, at: now)
            } else {
                self.pushed(index, number / 2 + 1, message, bytes[at] & 1 == 1, at: now)
            }
            guard self.connections[index].phase != .closed else { return }
            at += 5 + length
        }
        if at < bytes.count { self.http2.partialMessages[key] = Array(bytes[at...]) }
    }

    private func writerStream(_ index: Int, _ number: UInt32) -> UInt32? {
        guard number & 1 == 1, Int(number / 2) < self.http2.links[index].streams.count else {
            self.giveUp("received an answer on stream \(number), which was never opened")
            return nil
        }
        return self.http2.links[index].streams[Int(number / 2)]
    }

    // MARK: Ending

    /// The end of a call. Only Perch's own trailers can be read; a call that was answered has ended well with any server.
    private func trailers(_ index: Int, _ number: UInt32, _ block: UnsafeRawBufferPointer) {
        let code = GRPCFrames.field("grpc-status", of: block).flatMap { UInt32($0) }
        let isAnswered = self.connections[index].isWriter && code == nil
        var status = Status(code: code.map { Int32(clamping: $0) } ?? (isAnswered ? 0 : 2))
        if status.code != 0 {
            status.message = GRPCFrames.field("grpc-message", of: block) ?? ""
            status.reason = Self.reason(of: block)
        }
        self.streamEnded(index, number, status)
    }

    private func streamEnded(_ index: Int, _ number: UInt32, _ status: Status) {
        guard self.connections[index].isWriter else { return self.ended(index, number / 2 + 1, status) }
        guard let stream = self.writerStream(index, number) else { return }
        self.ended(index, stream, status)
    }

    /// The reason in `google.rpc.ErrorInfo`: the first detail of `google.rpc.Status`, its first field.
    private static func reason(of block: UnsafeRawBufferPointer) -> String {
        guard let text = GRPCFrames.field("grpc-status-details-bin", of: block) else { return "" }
        let letters = text.utf8.map {
            $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
        }
        guard let bytes = Base64URL.decode(letters) else { return "" }
        return bytes.withUnsafeBytes { bytes in
            func piece(_ number: Int, _ range: Range<Int>) -> Range<Int>? {
                var fields = FieldScan(bytes, range.lowerBound, range.upperBound)
                while fields.next() { if fields.number == number { return fields.start..<fields.end } }
                return nil
            }
            guard let detail = piece(3, 0..<bytes.count), let info = piece(2, detail), let reason = piece(1, info)
            else { return "" }
            return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[reason]), as: UTF8.self)
        }
    }
}

extension Generator.Dialect {
    var isGRPC: Bool { if case .perch(.grpc) = self { true } else { false } }

    /// The transport of calls; of no use to Redis.
    var transport: BenchTransport { if case .perch(let transport) = self { transport } else { .perch } }
}
