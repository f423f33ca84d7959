import PerchBase
import PerchWire

// HTTP/2: frames in, and the rules of RFC 9113 for each of them.
extension LoopCore {
    /// Takes whole frames from the front of `bytes` and says how many bytes they were, and whether it stopped for the store.
    mutating func takeHTTP2Frames(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int
    ) -> (bytes: Int, isStopped: Bool) {
        var offset = 0
        while self.connections.isTaken(index), self.connections[index].phase.takesFrames,
            !self.connections[index].flags.contains(.isReadPaused)
        {
            if offset < bytes.byteCount, self.defersInput(index, isFirst: offset == 0) { return (offset, false) }
            guard let header = HTTP2FrameHeader(from: bytes, at: offset) else { return (offset, false) }
            do throws(HTTP2Fault) {
                guard header.length <= Limits.dataFrameBytesMax else {
                    throw HTTP2Fault(
                        .frameSize, "a frame has \(header.length) bytes, the limit is \(Limits.dataFrameBytesMax)")
                }
                let end = offset + HTTP2FrameHeader.byteCount + header.length
                guard end <= bytes.byteCount else { return (offset, false) }
                let body = bytes.extracting(offset + HTTP2FrameHeader.byteCount..<end)
                self.counters.framesIn += 1
                self.transport.work.spend(WorkMeter.frame)
                offset = end
                try self.takeHTTP2(header, body, index)
            } catch {
                self.closeHTTP2(index, error)
                return (bytes.byteCount, false)
            }
            if self.asks.count >= asksMax, offset < bytes.byteCount { return (offset, true) }
        }
        let isOver = !self.connections.isTaken(index) || !self.connections[index].phase.takesFrames
        return (isOver ? bytes.byteCount : offset, false)
    }

    private mutating func takeHTTP2(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        let http = self.connections[index].http
        if !self.transport.http.connections[http].flags.contains(.hasSettings) {
            guard header.kind == .settings, !header.flags.contains(.ack) else {
                throw HTTP2Fault(.protocolError, "the first frame of a client is SETTINGS")
            }
            self.transport.http.connections[http].flags.insert(.hasSettings)
        }
        let continuing = self.transport.http.connections[http].continuing
        if continuing != 0 {
            guard header.kind == .continuation, header.stream == continuing else {
                throw HTTP2Fault(.protocolError, "a header block goes on in CONTINUATION, and another frame came")
            }
        }
        switch header.kind {
        case .data: try self.takeData(header, body, index)
        case .headers: try self.takeHeaders(header, body, index)
        case .continuation:
            guard continuing != 0 else { throw HTTP2Fault(.protocolError, "CONTINUATION without a header block") }
            try self.takeContinuation(header, body, index)
        case .settings: try self.takeSettings(header, body, index)
        case .windowUpdate: try self.takeWindowUpdate(header, body, index)
        case .reset: try self.takeReset(header, body, index)
        case .ping: try self.takePing(header, body, index)
        case .priority:
            guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "PRIORITY on stream 0") }
            guard header.length == 5 else {
                return try self.resetHTTP2(index, header.stream, .frameSize, stream: -1)
            }
            try self.countControl(index)
        case .goAway:
            guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "GOAWAY on a stream") }
            guard header.length >= 8 else { throw HTTP2Fault(.frameSize, "GOAWAY has less than 8 bytes") }
            try self.countControl(index)
        case .pushPromise:
            throw HTTP2Fault(.protocolError, "clients push nothing")
        case nil:
            // A kind that is newer than this server: to be ignored.
            try self.countControl(index)
        }
    }

    /// Counts a frame that carries no data.
    private mutating func countControl(_ index: Int32) throws(HTTP2Fault) {
        let http = self.connections[index].http
        guard
            self.transport.http.connections[http].controls.take(
                Limits.httpControls, nowMilliseconds: self.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "more than \(Limits.httpControls.burst) frames without data came, and more than \(Limits.httpControls.perSecond) a second"
            )
        }
    }

    /// Counts a stream that was reset, by the peer or because of it.
    private mutating func countReset(_ index: Int32) throws(HTTP2Fault) {
        let http = self.connections[index].http
        guard
            self.transport.http.connections[http].resets.take(
                Limits.httpResets, nowMilliseconds: self.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "more than \(Limits.httpResets.burst) streams were reset, and more than \(Limits.httpResets.perSecond) a second"
            )
        }
    }

    /// Resets a stream because of a fault of its peer. `stream` is its slot, or -1 where it has none.
    mutating func resetHTTP2(
        _ index: Int32, _ id: UInt32, _ code: HTTP2Error, stream: Int32
    ) throws(HTTP2Fault) {
        self.oweControl(index, HTTP2.reset(id, code))
        if stream >= 0 { self.dropHTTPCall(stream) }
        try self.countReset(index)
    }

    // MARK: Kinds of frames

    private mutating func takeSettings(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "SETTINGS on a stream") }
        if header.flags.contains(.ack) {
            guard header.length == 0 else { throw HTTP2Fault(.frameSize, "SETTINGS acknowledges, and has a body") }
            return try self.countControl(index)
        }
        guard header.length % 6 == 0 else { throw HTTP2Fault(.frameSize, "SETTINGS is no list of settings") }
        try self.countControl(index)
        let http = self.connections[index].http
        for place in stride(from: 0, to: header.length, by: 6) {
            let (id, value) = body.withUnsafeBytes { bytes in
                (
                    UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)),
                    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place + 2, as: UInt32.self))
                )
            }
            switch id {
            case 2 where value > 1: throw HTTP2Fault(.protocolError, "ENABLE_PUSH is \(value), neither 0 nor 1")
            case 4:
                guard value <= HTTP2.windowMax else {
                    throw HTTP2Fault(.flowControl, "INITIAL_WINDOW_SIZE is \(value)")
                }
                let before = self.transport.http.connections[http].initialWindow
                self.transport.http.connections[http].initialWindow = Int32(value)
                if Int32(value) > before {
                    try self.countOpening(index)
                    try self.unblockAll(index)
                }
            case 5 where !(16_384...16_777_215).contains(value):
                throw HTTP2Fault(.protocolError, "MAX_FRAME_SIZE is \(value)")
            default: break
            }
        }
        self.oweControl(index, HTTP2FrameHeader.frame(.settings, flags: .ack, []))
    }

    private mutating func countOpening(_ index: Int32) throws(HTTP2Fault) {
        let http = self.connections[index].http
        guard
            self.transport.http.connections[http].openings.take(
                Limits.httpControls, nowMilliseconds: self.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "SETTINGS opened all windows more than \(Limits.httpControls.burst) times, and more than \(Limits.httpControls.perSecond) a second"
            )
        }
    }

    /// Streams begin with larger windows: those that waited may go on. A window beyond the largest ends the connection.
    private mutating func unblockAll(_ index: Int32) throws(HTTP2Fault) {
        let http = self.connections[index].http
        let initial = Int64(self.transport.http.connections[http].initialWindow)
        var stream = self.transport.http.connections[http].firstStream
        while stream >= 0 {
            let slot = self.transport.http.streams[stream]
            let window = initial + Int64(slot.credit)
            guard window <= HTTP2.windowMax else {
                throw HTTP2Fault(.flowControl, "INITIAL_WINDOW_SIZE makes the window of stream \(slot.id) too large")
            }
            if slot.flags.contains(.isBlocked), window > 0 { self.unblock(stream) }
            stream = slot.next
        }
    }

    private mutating func takeWindowUpdate(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        guard header.length == 4 else { throw HTTP2Fault(.frameSize, "WINDOW_UPDATE has not 4 bytes") }
        let increment = Int64(
            body.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)) } & 0x7FFF_FFFF)
        let http = self.connections[index].http
        if header.stream == 0 {
            guard increment > 0 else { throw HTTP2Fault(.protocolError, "WINDOW_UPDATE of 0") }
            let window = self.transport.http.connections[http].window
            guard window + increment <= HTTP2.windowMax else {
                throw HTTP2Fault(.flowControl, "the window of the connection would have \(window + increment) bytes")
            }
            self.transport.http.connections[http].window = window + increment
            if window <= 0 { self.list(index) }
            return
        }
        let stream = self.httpStream(index, header.stream)
        guard stream >= 0 else { return try self.requireKnown(header, index) }
        guard increment > 0 else { return try self.resetHTTP2(index, header.stream, .protocolError, stream: stream) }
        let credit = Int64(self.transport.http.streams[stream].credit) + increment
        let window = Int64(self.transport.http.connections[http].initialWindow) + credit
        guard window <= HTTP2.windowMax, let kept = Int32(exactly: credit) else {
            return try self.resetHTTP2(index, header.stream, .flowControl, stream: stream)
        }
        self.transport.http.streams[stream].credit = kept
        if self.transport.http.streams[stream].flags.contains(.isBlocked), window > 0 { self.unblock(stream) }
    }

    /// A frame for a stream without a slot: it is over, which is a legitimate race, or was never opened.
    private func requireKnown(_ header: HTTP2FrameHeader, _ index: Int32) throws(HTTP2Fault) {
        let last = self.transport.http.connections[self.connections[index].http].lastStream
        guard header.stream <= last else {
            throw HTTP2Fault(.protocolError, "stream \(header.stream) was never opened")
        }
    }

    private mutating func takeReset(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "RST_STREAM on stream 0") }
        guard header.length == 4 else { throw HTTP2Fault(.frameSize, "RST_STREAM has not 4 bytes") }
        try self.requireKnown(header, index)
        let stream = self.httpStream(index, header.stream)
        // Late: both ends were on their way.
        guard stream >= 0 else { return }
        // One that was answered, if only in part, has cost its peer as much as us.
        let isAnswered = self.transport.http.streams[stream].flags.contains(.hasSentHead)
        self.dropHTTPCall(stream)
        if !isAnswered { try self.countReset(index) }
    }

    private mutating func takePing(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "PING on a stream") }
        guard header.length == 8 else { throw HTTP2Fault(.frameSize, "PING has not 8 bytes") }
        try self.countControl(index)
        if header.flags.contains(.ack) { return self.drainPingReturned(index) }
        let opaque = body.withUnsafeBytes { Array($0) }
        self.oweControl(index, HTTP2FrameHeader.frame(.ping, flags: .ack, opaque))
    }

    // MARK: DATA

    /// The bytes of a padded frame without the padding.
    private static func unpadded(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan
    ) throws(HTTP2Fault) -> Range<Int> {
        guard header.flags.contains(.padded) else { return 0..<body.byteCount }
        guard body.byteCount >= 1 else { throw HTTP2Fault(.frameSize, "a padded frame is empty") }
        let padding = Int(body.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
        guard padding < body.byteCount else {
            throw HTTP2Fault(.protocolError, "the padding of a frame is longer than the frame")
        }
        return 1..<body.byteCount - padding
    }

    private mutating func takeData(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "DATA on stream 0") }
        try self.requireKnown(header, index)
        let range = try Self.unpadded(header, body)
        if range.isEmpty, !header.flags.contains(.endStream) { try self.countControl(index) }
        try self.receiveWindow(index, header)
        let stream = self.httpStream(index, header.stream)
        // Late bytes of a call that is over: their window is given back, and that is all.
        guard stream >= 0 else { return }
        guard !self.transport.http.streams[stream].flags.contains(.peerHasEnded) else {
            return try self.resetHTTP2(index, header.stream, .streamClosed, stream: stream)
        }
        self.takeHTTPBody(stream, body.extracting(range))
        guard header.flags.contains(.endStream), self.httpStream(index, header.stream) == stream else { return }
        self.endHTTPRequest(stream)
    }

    /// Counts what came against the windows, and gives them back as it comes, whoever it was for.
    private mutating func receiveWindow(_ index: Int32, _ header: HTTP2FrameHeader) throws(HTTP2Fault) {
        let http = self.connections[index].http
        let count = Int32(header.length)
        self.transport.http.connections[http].received += count
        let received = self.transport.http.connections[http].received
        guard received <= HTTP2.windowDefault else {
            throw HTTP2Fault(
                .flowControl, "\(received) bytes came, the window of the connection is \(HTTP2.windowDefault)")
        }
        if received >= Limits.httpWindowReturnBytes {
            self.transport.http.connections[http].received = 0
            self.oweControl(index, HTTP2.windowUpdate(0, UInt32(received)))
        }
        let stream = self.httpStream(index, header.stream)
        guard stream >= 0, !self.transport.http.streams[stream].flags.contains(.peerHasEnded) else { return }
        self.transport.http.streams[stream].received += count
        let ofStream = self.transport.http.streams[stream].received
        guard ofStream <= HTTP2.windowDefault else {
            throw HTTP2Fault(
                .flowControl, "\(ofStream) bytes came, the window of stream \(header.stream) is \(HTTP2.windowDefault)")
        }
        if ofStream >= Limits.httpWindowReturnBytes, !header.flags.contains(.endStream) {
            self.transport.http.streams[stream].received = 0
            self.oweControl(index, HTTP2.windowUpdate(header.stream, UInt32(ofStream)))
        }
    }

    // MARK: HEADERS

    private mutating func takeHeaders(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        guard header.stream & 1 == 1 else {
            throw HTTP2Fault(.protocolError, "stream \(header.stream) is none that clients open")
        }
        var range = try Self.unpadded(header, body)
        if header.flags.contains(.priority) {
            guard range.count >= 5 else { throw HTTP2Fault(.frameSize, "HEADERS is shorter than its priority") }
            range = range.lowerBound + 5..<range.upperBound
        }
        let http = self.connections[index].http
        if header.flags.contains(.endStream) {
            self.transport.http.connections[http].flags.insert(.blockEndsStream)
        } else {
            self.transport.http.connections[http].flags.remove(.blockEndsStream)
        }
        if header.flags.contains(.endHeaders) {
            return try self.takeBlock(index, header.stream, body.extracting(range))
        }
        self.transport.http.connections[http].continuing = header.stream
        self.transport.http.connections[http].continuations = 0
        self.transport.http.connections[http].blockSince = self.now.monotonic
        self.transport.http.blocks[index] = []
        self.keepBlock(index, body.extracting(range))
        self.startFrameTimer(index, since: self.now.monotonic)
    }

    /// Holds a part of a header block, within the bounds of partial frames.
    private mutating func keepBlock(_ index: Int32, _ bytes: borrowing RawSpan) {
        bytes.withUnsafeBytes { self.transport.http.blocks[index]?.append(contentsOf: $0) }
        self.transport.http.connections[self.connections[index].http].heldBytes += Int32(bytes.byteCount)
        _ = self.makeRoom(forPartial: bytes.byteCount, index)
    }

    private mutating func takeContinuation(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        let http = self.connections[index].http
        self.transport.http.connections[http].continuations += 1
        let count = Int(self.transport.http.connections[http].continuations)
        let length = (self.transport.http.blocks[index]?.count ?? 0) + body.byteCount
        guard count <= Limits.continuationsMax, length <= Limits.headerListBytesMax else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "a header block has \(length) bytes in \(count) CONTINUATION frames; the limits are \(Limits.headerListBytesMax) and \(Limits.continuationsMax)"
            )
        }
        self.keepBlock(index, body)
        guard header.flags.contains(.endHeaders), self.connections[index].http == http else { return }
        self.transport.http.connections[http].continuing = 0
        let block = self.transport.http.blocks.removeValue(forKey: index) ?? []
        self.letGo(block.count, index)
        try self.takeBlock(index, header.stream, block.span.bytes)
    }

    /// Whether a connection may open one more stream: before its first valid credentials there are few. The head of the
    /// stream may have these.
    private mutating func admitsStream(_ index: Int32, _ head: RequestHead, isTooLong: Bool) -> Bool {
        let count = Int(self.transport.http.connections[self.connections[index].http].streamCount)
        if count < Limits.unidentifiedStreamsMax || self.connections[index].flags.contains(.isIdentified)
            || self.isIdentifiedByConnection(index)
        {
            return true
        }
        if !isTooLong, head.malformed == nil, self.identifyByHead(index, head) == nil,
            self.connections[index].flags.contains(.isIdentified)
        {
            return true
        }
        self.counters.refusalsByReason[.handshakeLimit, default: 0] += 1
        return false
    }

    /// A whole header block: it opens a stream, or ends one.
    private mutating func takeBlock(
        _ index: Int32, _ id: UInt32, _ block: borrowing RawSpan
    ) throws(HTTP2Fault) {
        let http = self.connections[index].http
        let endsStream = self.transport.http.connections[http].flags.contains(.blockEndsStream)
        guard let inflater = self.transport.http.connections[http].inflater else {
            preconditionFailure("a connection of HTTP/2 decodes no header fields")
        }
        var head = RequestHead()
        self.transport.work.spend(WorkMeter.head + block.byteCount / WorkMeter.bytesPerUnit)
        var isTooLong = false
        let isTrailer = id <= self.transport.http.connections[http].lastStream
        let memory = self.transport.http.fields
        do throws(HeaderInflater.Fault) {
            // Decoded in any case: the table is the connection's.
            let bytes = block.withUnsafeBytes { UnsafeRawBufferPointer($0) }
            let fields = try inflater.inflate(bytes, into: memory)
            if !isTrailer {
                for field in fields { head.take(http2: field.name, field.value) }
                head.finishHTTP2()
            }
        } catch {
            switch error {
            case .broken: throw HTTP2Fault(.compression, "a header block cannot be decoded")
            case .tooLong: isTooLong = true
            }
        }
        if isTrailer {
            let stream = self.httpStream(index, id)
            guard stream >= 0 else { return try self.countControl(index) }
            guard endsStream, !self.transport.http.streams[stream].flags.contains(.peerHasEnded) else {
                return try self.resetHTTP2(
                    index, id, endsStream ? .streamClosed : .protocolError, stream: stream)
            }
            return self.endHTTPRequest(stream)
        }
        self.transport.http.connections[http].lastStream = id
        if self.transport.http.connections[http].flags.contains(.hasSaidLast) { return }
        let count = Int(self.transport.http.connections[http].streamCount)
        guard count < self.settings.callsPerConnectionMax, self.admitsStream(index, head, isTooLong: isTooLong) else {
            // No fault of the peer: it may not have read how many streams there may be.
            self.transport.work.spend(WorkMeter.refusal)
            return self.oweControl(index, HTTP2.reset(id, .refusedStream))
        }
        if let text = head.malformed, !isTooLong {
            self.counters.refusalsByReason[.httpProtocol, default: 0] += 1
            if self.notesEverything { self.note(.ended, index, what: text) }
            return try self.resetHTTP2(index, id, .protocolError, stream: -1)
        }
        let stream = self.insertHTTPStream(index, id, head)
        if endsStream { self.transport.http.streams[stream].flags.insert(.peerHasEnded) }
        if isTooLong {
            self.respond(
                stream, 431, "the header fields exceed \(Limits.headerListBytesMax) bytes, the limit; send fewer")
            return
        }
        self.beginHTTPRequest(stream, head)
        // A request without a body.
        guard endsStream, self.httpStream(index, id) == stream else { return }
        self.endHTTPRequest(stream)
    }
}
