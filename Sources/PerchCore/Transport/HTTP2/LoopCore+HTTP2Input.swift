import PerchBase
import PerchWire

// HTTP/2: frames in, and the rules of RFC 9113 for each of them.
extension LoopCore {
    /// Takes whole frames from the front of `bytes` and says how many bytes they were, and whether it stopped for the store.
    mutating func takeHTTP2Frames(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int
    ) -> (bytes: Int, isStopped: Bool) {
        var offset = 0
        while self.tables.connections.isTaken(index), self.tables.connections[index].phase.takesFrames,
            !self.tables.connections[index].flags.contains(.isReadPaused)
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
                self.tables.counters.framesIn += 1
                self.transport.work.spend(WorkMeter.frame)
                offset = end
                try self.takeHTTP2(header, body, index)
            } catch {
                self.closeHTTP2(index, error)
                return (bytes.byteCount, false)
            }
            if self.tables.asks.count >= asksMax, offset < bytes.byteCount { return (offset, true) }
        }
        let isOver = !self.tables.connections.isTaken(index) || !self.tables.connections[index].phase.takesFrames
        return (isOver ? bytes.byteCount : offset, false)
    }

    private mutating func takeHTTP2(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        let http = self.tables.connections[index].http
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
                let stream = self.transport.http.stream(index, header.stream)
                // A stream that is not open cannot be reset.
                guard stream >= 0 else { throw HTTP2Fault(.frameSize, "PRIORITY has not 5 bytes") }
                return self.resetHTTP2(stream, .frameSize)
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
        let http = self.tables.connections[index].http
        guard
            self.transport.http.connections[http].controls.take(
                Limits.httpControls, nowMilliseconds: self.tables.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "more than \(Limits.httpControls.burst) frames without data came, and more than \(Limits.httpControls.perSecond) a second"
            )
        }
    }

    /// Resets a stream because of a fault of its peer. Nothing else on the connection ends: the reset costs the peer its call.
    private mutating func resetHTTP2(_ stream: Int32, _ code: HTTP2Error) {
        let slot = self.transport.http.streams[stream]
        self.oweControl(slot.connection, HTTP2.reset(slot.id, code))
        if !slot.flags.contains(.peerHasEnded) { self.rememberEarlyEnd(slot.connection, slot.id) }
        self.dropHTTPCall(stream)
    }

    /// Resets a stream that has no slot. What its peer has already sent on it is still expected.
    private mutating func resetUnopened(_ index: Int32, _ id: UInt32, _ code: HTTP2Error, endsStream: Bool) {
        self.oweControl(index, HTTP2.reset(id, code))
        if !endsStream { self.rememberEarlyEnd(index, id) }
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
        let http = self.tables.connections[index].http
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
        let http = self.tables.connections[index].http
        guard
            self.transport.http.connections[http].openings.take(
                Limits.httpControls, nowMilliseconds: self.tables.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "SETTINGS opened all windows more than \(Limits.httpControls.burst) times, and more than \(Limits.httpControls.perSecond) a second"
            )
        }
    }

    /// Streams begin with larger windows: those that waited may go on. A window beyond the largest ends the connection.
    private mutating func unblockAll(_ index: Int32) throws(HTTP2Fault) {
        let http = self.tables.connections[index].http
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
        let http = self.tables.connections[index].http
        if header.stream == 0 {
            guard increment > 0 else { throw HTTP2Fault(.protocolError, "WINDOW_UPDATE of 0") }
            let window = self.transport.http.connections[http].window
            guard window + increment <= HTTP2.windowMax else {
                throw HTTP2Fault(.flowControl, "the window of the connection would have \(window + increment) bytes")
            }
            self.transport.http.connections[http].window = window + increment
            if window <= 0 { self.transport.list(index, &self.tables) }
            return
        }
        let stream = self.transport.http.stream(index, header.stream)
        guard stream >= 0 else { return try self.requireKnown(header, index) }
        guard increment > 0 else { return self.resetHTTP2(stream, .protocolError) }
        let credit = Int64(self.transport.http.streams[stream].credit) + increment
        let window = Int64(self.transport.http.connections[http].initialWindow) + credit
        guard window <= HTTP2.windowMax, let kept = Int32(exactly: credit) else {
            return self.resetHTTP2(stream, .flowControl)
        }
        self.transport.http.streams[stream].credit = kept
        if self.transport.http.streams[stream].flags.contains(.isBlocked), window > 0 { self.unblock(stream) }
    }

    /// A frame for a stream without a slot: it is over, which is a legitimate race, or was never opened.
    private func requireKnown(_ header: HTTP2FrameHeader, _ index: Int32) throws(HTTP2Fault) {
        let last = self.transport.http.connections[self.tables.connections[index].http].lastStream
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
        let stream = self.transport.http.stream(index, header.stream)
        // Late: both ends were on their way.
        guard stream >= 0 else { return }
        self.tables.counters.httpStreamsReset += 1
        if !self.transport.http.streams[stream].flags.contains(.peerHasEnded) {
            self.rememberEarlyEnd(index, header.stream, isByPeer: true)
        }
        self.dropHTTPCall(stream)
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
        let stream = self.transport.http.stream(index, header.stream)
        // Late bytes of a call that is over: their window is given back, and that is all.
        guard stream >= 0 else { return try self.takeLate(header.stream, index) }
        guard !self.transport.http.streams[stream].flags.contains(.peerHasEnded) else {
            return self.resetHTTP2(stream, .streamClosed)
        }
        let ends = header.flags.contains(.endStream)
        if !self.transport.http.lengths.isEmpty, let rest = self.transport.http.lengths[stream] {
            guard range.count <= rest, range.count == rest || !ends else {
                self.noteMalformed(index, "a body has more or fewer bytes than its content-length")
                return self.resetHTTP2(stream, .protocolError)
            }
            self.transport.http.lengths[stream] = rest - range.count
        }
        self.takeHTTPBody(stream, body.extracting(range))
        guard ends, self.transport.http.stream(index, header.stream) == stream else { return }
        self.endHTTPRequest(stream)
    }

    /// Counts what came against the windows, and gives them back as it comes, whoever it was for.
    private mutating func receiveWindow(_ index: Int32, _ header: HTTP2FrameHeader) throws(HTTP2Fault) {
        let http = self.tables.connections[index].http
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
        let stream = self.transport.http.stream(index, header.stream)
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
        let http = self.tables.connections[index].http
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
        self.transport.http.connections[http].blockSince = self.tables.now.monotonic
        self.transport.http.blocks[index] = HeaderInflater.Block()
        try self.takePart(body.extracting(range), isLast: false, index)
        self.startFrameTimer(index, since: self.tables.now.monotonic)
    }

    private mutating func takeContinuation(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32
    ) throws(HTTP2Fault) {
        let http = self.tables.connections[index].http
        self.transport.http.connections[http].continuations += 1
        let count = Int(self.transport.http.connections[http].continuations)
        guard count <= Limits.continuationsMax else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "a header block goes on in \(count) CONTINUATION frames, the limit is \(Limits.continuationsMax)")
        }
        try self.takePart(body, isLast: header.flags.contains(.endHeaders), index)
        guard header.flags.contains(.endHeaders), self.tables.connections[index].http == http,
            let block = self.transport.http.blocks.removeValue(forKey: index)
        else { return }
        self.transport.letGo(block.count, index, &self.tables)
        self.transport.http.connections[http].continuing = 0
        let memory = self.transport.http.fields
        memory.copyBytes(from: block.fields)
        try self.takeFields(
            index, header.stream,
            block.isTooLong ? nil : HeaderFields(UnsafeRawBufferPointer(rebasing: memory[..<block.fields.count])))
    }

    /// Decodes a part of a block in any case, because the table is the connection's. Its fields are held, within the bounds of
    /// partial frames.
    private mutating func takePart(_ part: borrowing RawSpan, isLast: Bool, _ index: Int32) throws(HTTP2Fault) {
        let http = self.tables.connections[index].http
        guard var block = self.transport.http.blocks.removeValue(forKey: index) else { return }
        self.transport.work.spend(part.byteCount / WorkMeter.bytesPerUnit)
        let before = block.count
        let bytes = part.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        var isBroken = false
        do throws(HeaderInflater.Fault) {
            try self.inflater(of: index).inflate(bytes, of: &block, isLast: isLast, by: self.transport.http.fields)
        } catch {
            isBroken = true
        }
        self.transport.http.blocks[index] = block
        let grown = block.count - before
        if grown < 0 {
            self.transport.letGo(-grown, index, &self.tables)
        } else if grown > 0 {
            self.transport.http.connections[http].heldBytes += Int32(grown)
            _ = self.makeRoom(forPartial: grown, index)
        }
        if isBroken { throw HTTP2Fault(.compression, "a header block cannot be decoded") }
    }

    private func inflater(of index: Int32) -> HeaderInflater {
        guard let inflater = self.transport.http.connections[self.tables.connections[index].http].inflater else {
            preconditionFailure("a connection of HTTP/2 decodes no header fields")
        }
        return inflater
    }

    /// Whether a connection may open one more stream: before its first valid credentials there are few. The head of the
    /// stream may have these.
    private mutating func admitsStream(_ index: Int32, _ head: RequestHead, isTooLong: Bool) -> Bool {
        let count = Int(self.transport.http.connections[self.tables.connections[index].http].streamCount)
        if count < Limits.unidentifiedStreamsMax || self.tables.connections[index].flags.contains(.isIdentified)
            || self.isIdentifiedByConnection(index)
        {
            return true
        }
        if !isTooLong, head.malformed == nil,
            self.service.identifyByHead(index, head, &self.tables, &self.transport) == nil,
            self.tables.connections[index].flags.contains(.isIdentified)
        {
            return true
        }
        self.tables.counters.refusalsByReason[.handshakeLimit, default: 0] += 1
        return false
    }

    /// A whole header block in one frame.
    private mutating func takeBlock(
        _ index: Int32, _ id: UInt32, _ block: borrowing RawSpan
    ) throws(HTTP2Fault) {
        self.transport.work.spend(block.byteCount / WorkMeter.bytesPerUnit)
        let bytes = block.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        let fields: HeaderFields
        do throws(HeaderInflater.Fault) {
            fields = try self.inflater(of: index).inflate(bytes, into: self.transport.http.fields)
        } catch {
            switch error {
            case .broken: throw HTTP2Fault(.compression, "a header block cannot be decoded")
            case .tooLong: return try self.takeFields(index, id, nil)
            }
        }
        try self.takeFields(index, id, fields)
    }

    /// The fields of a whole header block open a stream, or end one. Nil: they are too long.
    private mutating func takeFields(_ index: Int32, _ id: UInt32, _ fields: HeaderFields?) throws(HTTP2Fault) {
        let http = self.tables.connections[index].http
        let endsStream = self.transport.http.connections[http].flags.contains(.blockEndsStream)
        let last = self.transport.http.connections[http].lastStream
        self.transport.work.spend(WorkMeter.head)
        guard id > last else { return try self.takeTrailers(index, id, fields, endsStream: endsStream) }
        var head = RequestHead()
        if let fields {
            for field in fields { head.take(http2: field.name, field.value) }
            head.finishHTTP2()
            if endsStream, head.malformed == nil, let length = head.contentLength, length > 0 {
                head.malformed = "content-length is \(length), and no body came"
            }
        }
        self.rememberOpening(index, id, after: last)
        self.transport.http.connections[http].lastStream = id
        if self.transport.http.connections[http].flags.contains(.hasSaidLast) { return }
        let isFull =
            Int(self.transport.http.connections[http].streamCount + self.transport.http.connections[http].heldCount)
            >= self.tables.settings.callsPerConnectionMax
        if isFull { self.tables.counters.refusalsByReason[.callsLimit, default: 0] += 1 }
        guard !isFull, self.admitsStream(index, head, isTooLong: fields == nil) else {
            // No fault of the peer: it may not have read how many streams there may be.
            self.transport.work.spend(WorkMeter.refusal)
            self.tables.counters.httpStreamsRefused += 1
            return self.resetUnopened(index, id, .refusedStream, endsStream: endsStream)
        }
        if let text = head.malformed {
            self.noteMalformed(index, text)
            return self.resetUnopened(index, id, .protocolError, endsStream: endsStream)
        }
        let stream = self.insertHTTPStream(index, id, head)
        if endsStream {
            self.transport.http.streams[stream].flags.insert(.peerHasEnded)
        } else if let length = head.contentLength {
            self.transport.http.lengths[stream] = length
        }
        guard fields != nil else {
            self.tables.counters.httpHeadsTooLong += 1
            self.transport.respond(
                stream, 431, "the header fields exceed \(Limits.headerListBytesMax) bytes, the limit; send fewer",
                &self.tables)
            return
        }
        self.beginHTTPRequest(stream, head)
        guard self.transport.http.stream(index, id) == stream else { return }
        if endsStream {
            // A request without a body.
            self.endHTTPRequest(stream)
        } else if head.marks.contains(.expectsContinue),
            self.transport.http.streams[stream].flags.isDisjoint(with: [.isEnding, .isOpened])
        {
            let goOn = HeaderBlock(status: 100).bytes
            self.oweControl(index, HTTP2FrameHeader.frame(.headers, flags: .endHeaders, stream: id, goOn))
        }
    }

    private mutating func takeTrailers(
        _ index: Int32, _ id: UInt32, _ fields: HeaderFields?, endsStream: Bool
    ) throws(HTTP2Fault) {
        let stream = self.transport.http.stream(index, id)
        guard stream >= 0 else { return try self.takeLate(id, index) }
        guard !self.transport.http.streams[stream].flags.contains(.peerHasEnded) else {
            return self.resetHTTP2(stream, .streamClosed)
        }
        guard let fields else { return self.resetHTTP2(stream, .enhanceYourCalm) }
        var fault = endsStream ? nil : "header fields within a body"
        for field in fields where fault == nil { fault = RequestHead.faultInTrailers(of: field.name, field.value) }
        if fault == nil, let rest = self.transport.http.lengths[stream], rest > 0 {
            fault = "content-length promises \(rest) more bytes"
        }
        if let fault {
            self.noteMalformed(index, fault)
            return self.resetHTTP2(stream, .protocolError)
        }
        self.endHTTPRequest(stream)
    }

    /// A frame that only open streams have came for one without a slot.
    private mutating func takeLate(_ id: UInt32, _ index: Int32) throws(HTTP2Fault) {
        let http = self.transport.http.connections[self.tables.connections[index].http]
        guard id <= http.lastStream else { throw HTTP2Fault(.protocolError, "stream \(id) was never opened") }
        // Streams beyond the last one that was announced are opened in vain.
        guard !http.flags.contains(.hasSaidLast) else { return }
        switch self.kindOfClosed(index, id) {
        case .endedByUs: break
        case .resetByPeer, .forgotten: self.oweControl(index, HTTP2.reset(id, .streamClosed))
        case .skipped:
            throw HTTP2Fault(
                .protocolError, "stream \(id) comes after stream \(http.lastStream); the numbers of streams only rise")
        case .ended: throw HTTP2Fault(.streamClosed, "stream \(id) has ended, and a frame follows")
        }
    }

    /// A request that breaks a rule of RFC 9113, section 8: its stream is reset.
    private mutating func noteMalformed(_ index: Int32, _ text: String) {
        self.tables.counters.refusalsByReason[.httpProtocol, default: 0] += 1
        if self.tables.notesEverything { self.tables.note(.ended, index, what: text) }
    }
}
