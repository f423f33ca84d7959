import PerchBase
import PerchWire

// HTTP/2: frames in, and the rules of RFC 9113 for each of them.
extension Transport {
    /// Takes whole frames from the front of `bytes` and says how many bytes they were, and whether it stopped for the store.
    mutating func takeHTTP2Frames(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) -> (bytes: Int, isStopped: Bool) {
        var offset = 0
        while tables.connections.isTaken(index), tables.connections[index].phase.takesFrames,
            !tables.connections[index].flags.contains(.isReadPaused)
        {
            if offset < bytes.byteCount, self.defersInput(index, isFirst: offset == 0, &tables, &service) {
                return (offset, false)
            }
            guard let header = HTTP2FrameHeader(from: bytes, at: offset) else { return (offset, false) }
            do throws(HTTP2Fault) {
                guard header.length <= Limits.dataFrameBytesMax else {
                    throw HTTP2Fault(
                        .frameSize, "a frame has \(header.length) bytes, the limit is \(Limits.dataFrameBytesMax)")
                }
                let end = offset + HTTP2FrameHeader.byteCount + header.length
                guard end <= bytes.byteCount else { return (offset, false) }
                let body = bytes.extracting(offset + HTTP2FrameHeader.byteCount..<end)
                tables.counters.framesIn += 1
                self.work.spend(WorkMeter.frame)
                offset = end
                try self.takeHTTP2(header, body, index, &tables, &views, &service)
            } catch {
                self.closeHTTP2(index, error, &tables, &views, &service)
                return (bytes.byteCount, false)
            }
            if tables.asks.count >= asksMax, offset < bytes.byteCount { return (offset, true) }
        }
        let isOver = !tables.connections.isTaken(index) || !tables.connections[index].phase.takesFrames
        return (isOver ? bytes.byteCount : offset, false)
    }

    private mutating func takeHTTP2(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        if !self.http.connections[http].flags.contains(.hasSettings) {
            guard header.kind == .settings, !header.flags.contains(.ack) else {
                throw HTTP2Fault(.protocolError, "the first frame of a client is SETTINGS")
            }
            self.http.connections[http].flags.insert(.hasSettings)
        }
        let continuing = self.http.connections[http].continuing
        if continuing != 0 {
            guard header.kind == .continuation, header.stream == continuing else {
                throw HTTP2Fault(.protocolError, "a header block goes on in CONTINUATION, and another frame came")
            }
        }
        switch header.kind {
        case .data: try self.takeData(header, body, index, &tables, &views, &service)
        case .headers: try self.takeHeaders(header, body, index, &tables, &views, &service)
        case .continuation:
            guard continuing != 0 else { throw HTTP2Fault(.protocolError, "CONTINUATION without a header block") }
            try self.takeContinuation(header, body, index, &tables, &views, &service)
        case .settings: try self.takeSettings(header, body, index, &tables)
        case .windowUpdate: try self.takeWindowUpdate(header, body, index, &tables, &views, &service)
        case .reset: try self.takeReset(header, body, index, &tables, &views, &service)
        case .ping: try self.takePing(header, body, index, &tables, &views, &service)
        case .priority:
            guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "PRIORITY on stream 0") }
            guard header.length == 5 else {
                let stream = self.http.stream(index, header.stream)
                // A stream that is not open cannot be reset.
                guard stream >= 0 else { throw HTTP2Fault(.frameSize, "PRIORITY has not 5 bytes") }
                return self.resetHTTP2(stream, .frameSize, &tables, &views, &service)
            }
            try self.countControl(index, &tables)
        case .goAway:
            guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "GOAWAY on a stream") }
            guard header.length >= 8 else { throw HTTP2Fault(.frameSize, "GOAWAY has less than 8 bytes") }
            try self.countControl(index, &tables)
        case .pushPromise:
            throw HTTP2Fault(.protocolError, "clients push nothing")
        case nil:
            // A kind that is newer than this server: to be ignored.
            try self.countControl(index, &tables)
        }
    }

    /// Counts a frame that carries no data.
    private mutating func countControl(_ index: Int32, _ tables: inout Tables) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        guard
            self.http.connections[http].controls.take(
                Limits.httpControls, nowMilliseconds: tables.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "more than \(Limits.httpControls.burst) frames without data came, and more than \(Limits.httpControls.perSecond) a second"
            )
        }
    }

    /// Resets a stream because of a fault of its peer. Nothing else on the connection ends: the reset costs the peer its call.
    private mutating func resetHTTP2(
        _ stream: Int32, _ code: HTTP2Error, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let slot = self.http.streams[stream]
        self.keepUnsentControl(slot.connection, HTTP2.reset(slot.id, code), &tables)
        if !slot.flags.contains(.peerHasEnded) { self.rememberEarlyEnd(slot.connection, slot.id) }
        self.dropHTTPCall(stream, &tables, &views, &service)
    }

    /// Resets a stream that has no slot. What its peer has already sent on it is still expected.
    private mutating func resetUnopened(
        _ index: Int32, _ id: UInt32, _ code: HTTP2Error, endsStream: Bool, _ tables: inout Tables
    ) {
        self.keepUnsentControl(index, HTTP2.reset(id, code), &tables)
        if !endsStream { self.rememberEarlyEnd(index, id) }
    }

    // MARK: Kinds of frames

    private mutating func takeSettings(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables
    ) throws(HTTP2Fault) {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "SETTINGS on a stream") }
        if header.flags.contains(.ack) {
            guard header.length == 0 else { throw HTTP2Fault(.frameSize, "SETTINGS acknowledges, and has a body") }
            return try self.countControl(index, &tables)
        }
        guard header.length % 6 == 0 else { throw HTTP2Fault(.frameSize, "SETTINGS is no list of settings") }
        try self.countControl(index, &tables)
        let http = tables.connections[index].http
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
                let before = self.http.connections[http].initialWindow
                self.http.connections[http].initialWindow = Int32(value)
                if Int32(value) > before {
                    try self.countOpening(index, &tables)
                    try self.unblockAll(index, &tables)
                }
            case 5 where !(16_384...16_777_215).contains(value):
                throw HTTP2Fault(.protocolError, "MAX_FRAME_SIZE is \(value)")
            default: break
            }
        }
        self.keepUnsentControl(index, HTTP2FrameHeader.frame(.settings, flags: .ack, []), &tables)
    }

    private mutating func countOpening(_ index: Int32, _ tables: inout Tables) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        guard
            self.http.connections[http].openings.take(
                Limits.httpControls, nowMilliseconds: tables.now.monotonic) == nil
        else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "SETTINGS opened all windows more than \(Limits.httpControls.burst) times, and more than \(Limits.httpControls.perSecond) a second"
            )
        }
    }

    /// Streams begin with larger windows: those that waited may go on. A window beyond the largest ends the connection.
    private mutating func unblockAll(_ index: Int32, _ tables: inout Tables) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        let initial = Int64(self.http.connections[http].initialWindow)
        var stream = self.http.connections[http].firstStream
        while stream >= 0 {
            let slot = self.http.streams[stream]
            let window = initial + Int64(slot.credit)
            guard window <= HTTP2.windowMax else {
                throw HTTP2Fault(.flowControl, "INITIAL_WINDOW_SIZE makes the window of stream \(slot.id) too large")
            }
            if slot.flags.contains(.isBlocked), window > 0 { self.unblock(stream, &tables) }
            stream = slot.next
        }
    }

    private mutating func takeWindowUpdate(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        guard header.length == 4 else { throw HTTP2Fault(.frameSize, "WINDOW_UPDATE has not 4 bytes") }
        let increment = Int64(
            body.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)) } & 0x7FFF_FFFF)
        let http = tables.connections[index].http
        if header.stream == 0 {
            guard increment > 0 else { throw HTTP2Fault(.protocolError, "WINDOW_UPDATE of 0") }
            let window = self.http.connections[http].window
            guard window + increment <= HTTP2.windowMax else {
                throw HTTP2Fault(.flowControl, "the window of the connection would have \(window + increment) bytes")
            }
            self.http.connections[http].window = window + increment
            if window <= 0 { self.list(index, &tables) }
            return
        }
        let stream = self.http.stream(index, header.stream)
        guard stream >= 0 else { return try self.requireKnown(header, index, tables) }
        guard increment > 0 else { return self.resetHTTP2(stream, .protocolError, &tables, &views, &service) }
        let credit = Int64(self.http.streams[stream].credit) + increment
        let window = Int64(self.http.connections[http].initialWindow) + credit
        guard window <= HTTP2.windowMax, let kept = Int32(exactly: credit) else {
            return self.resetHTTP2(stream, .flowControl, &tables, &views, &service)
        }
        self.http.streams[stream].credit = kept
        if self.http.streams[stream].flags.contains(.isBlocked), window > 0 { self.unblock(stream, &tables) }
    }

    /// A frame for a stream without a slot: it is over, which is a legitimate race, or was never opened.
    private func requireKnown(_ header: HTTP2FrameHeader, _ index: Int32, _ tables: borrowing Tables) throws(HTTP2Fault)
    {
        let last = self.http.connections[tables.connections[index].http].lastStream
        guard header.stream <= last else {
            throw HTTP2Fault(.protocolError, "stream \(header.stream) was never opened")
        }
    }

    private mutating func takeReset(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "RST_STREAM on stream 0") }
        guard header.length == 4 else { throw HTTP2Fault(.frameSize, "RST_STREAM has not 4 bytes") }
        try self.requireKnown(header, index, tables)
        let stream = self.http.stream(index, header.stream)
        // Late: both ends were on their way.
        guard stream >= 0 else { return }
        tables.counters.httpStreamsReset += 1
        if !self.http.streams[stream].flags.contains(.peerHasEnded) {
            self.rememberEarlyEnd(index, header.stream, isByPeer: true)
        }
        self.dropHTTPCall(stream, &tables, &views, &service)
    }

    private mutating func takePing(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "PING on a stream") }
        guard header.length == 8 else { throw HTTP2Fault(.frameSize, "PING has not 8 bytes") }
        try self.countControl(index, &tables)
        if header.flags.contains(.ack) { return self.drainPingReturned(index, &tables, &views, &service) }
        let opaque = body.withUnsafeBytes { Array($0) }
        self.keepUnsentControl(index, HTTP2FrameHeader.frame(.ping, flags: .ack, opaque), &tables)
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
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "DATA on stream 0") }
        try self.requireKnown(header, index, tables)
        let range = try Self.unpadded(header, body)
        if range.isEmpty, !header.flags.contains(.endStream) { try self.countControl(index, &tables) }
        try self.receiveWindow(index, header, &tables)
        let stream = self.http.stream(index, header.stream)
        // Late bytes of a call that is over: their window is given back, and that is all.
        guard stream >= 0 else { return try self.takeLate(header.stream, index, &tables) }
        guard !self.http.streams[stream].flags.contains(.peerHasEnded) else {
            return self.resetHTTP2(stream, .streamClosed, &tables, &views, &service)
        }
        let ends = header.flags.contains(.endStream)
        if !self.http.lengths.isEmpty, let rest = self.http.lengths[stream] {
            guard range.count <= rest, range.count == rest || !ends else {
                self.noteMalformed(index, "a body has more or fewer bytes than its content-length", &tables)
                return self.resetHTTP2(stream, .protocolError, &tables, &views, &service)
            }
            self.http.lengths[stream] = rest - range.count
        }
        self.takeHTTPBody(stream, body.extracting(range), &tables, &views, &service)
        guard ends, self.http.stream(index, header.stream) == stream else { return }
        self.endHTTPRequest(stream, &tables, &views, &service)
    }

    /// Counts what came against the windows, and gives them back as it comes, whoever it was for.
    private mutating func receiveWindow(_ index: Int32, _ header: HTTP2FrameHeader, _ tables: inout Tables)
        throws(HTTP2Fault)
    {
        let http = tables.connections[index].http
        let count = Int32(header.length)
        self.http.connections[http].received += count
        let received = self.http.connections[http].received
        guard received <= HTTP2.windowDefault else {
            throw HTTP2Fault(
                .flowControl, "\(received) bytes came, the window of the connection is \(HTTP2.windowDefault)")
        }
        if received >= Limits.httpWindowReturnBytes {
            self.http.connections[http].received = 0
            self.keepUnsentControl(index, HTTP2.windowUpdate(0, UInt32(received)), &tables)
        }
        let stream = self.http.stream(index, header.stream)
        guard stream >= 0, !self.http.streams[stream].flags.contains(.peerHasEnded) else { return }
        self.http.streams[stream].received += count
        let ofStream = self.http.streams[stream].received
        guard ofStream <= HTTP2.windowDefault else {
            throw HTTP2Fault(
                .flowControl, "\(ofStream) bytes came, the window of stream \(header.stream) is \(HTTP2.windowDefault)")
        }
        if ofStream >= Limits.httpWindowReturnBytes, !header.flags.contains(.endStream) {
            self.http.streams[stream].received = 0
            self.keepUnsentControl(index, HTTP2.windowUpdate(header.stream, UInt32(ofStream)), &tables)
        }
    }

    // MARK: HEADERS

    private mutating func takeHeaders(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        guard header.stream & 1 == 1 else {
            throw HTTP2Fault(.protocolError, "stream \(header.stream) is none that clients open")
        }
        var range = try Self.unpadded(header, body)
        if header.flags.contains(.priority) {
            guard range.count >= 5 else { throw HTTP2Fault(.frameSize, "HEADERS is shorter than its priority") }
            range = range.lowerBound + 5..<range.upperBound
        }
        let http = tables.connections[index].http
        if header.flags.contains(.endStream) {
            self.http.connections[http].flags.insert(.blockEndsStream)
        } else {
            self.http.connections[http].flags.remove(.blockEndsStream)
        }
        if header.flags.contains(.endHeaders) {
            return try self.takeBlock(index, header.stream, body.extracting(range), &tables, &views, &service)
        }
        self.http.connections[http].continuing = header.stream
        self.http.connections[http].continuations = 0
        self.http.connections[http].blockSince = tables.now.monotonic
        self.http.blocks[index] = HeaderInflater.Block()
        try self.takePart(body.extracting(range), isLast: false, index, &tables, &views, &service)
        self.startFrameTimer(index, since: tables.now.monotonic, &tables)
    }

    private mutating func takeContinuation(
        _ header: HTTP2FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        self.http.connections[http].continuations += 1
        let count = Int(self.http.connections[http].continuations)
        guard count <= Limits.continuationsMax else {
            throw HTTP2Fault(
                .enhanceYourCalm,
                "a header block goes on in \(count) CONTINUATION frames, the limit is \(Limits.continuationsMax)")
        }
        try self.takePart(body, isLast: header.flags.contains(.endHeaders), index, &tables, &views, &service)
        guard header.flags.contains(.endHeaders), tables.connections[index].http == http,
            let block = self.http.blocks.removeValue(forKey: index)
        else { return }
        self.letGo(block.count, index, &tables)
        self.http.connections[http].continuing = 0
        let memory = self.http.fields
        memory.copyBytes(from: block.fields)
        try self.takeFields(
            index, header.stream,
            block.isTooLong ? nil : HeaderFields(UnsafeRawBufferPointer(rebasing: memory[..<block.fields.count])),
            &tables, &views, &service)
    }

    /// Decodes a part of a block in any case, because the table is the connection's. Its fields are held, within the bounds of
    /// partial frames.
    private mutating func takePart(
        _ part: borrowing RawSpan, isLast: Bool, _ index: Int32, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        guard var block = self.http.blocks.removeValue(forKey: index) else { return }
        self.work.spend(part.byteCount / WorkMeter.bytesPerUnit)
        let before = block.count
        let bytes = part.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        var isBroken = false
        do throws(HeaderInflater.Fault) {
            try self.inflater(of: index, tables).inflate(bytes, of: &block, isLast: isLast, by: self.http.fields)
        } catch {
            isBroken = true
        }
        self.http.blocks[index] = block
        let grown = block.count - before
        if grown < 0 {
            self.letGo(-grown, index, &tables)
        } else if grown > 0 {
            self.http.connections[http].heldBytes += Int32(grown)
            _ = self.makeRoom(forPartial: grown, index, &tables, &views, &service)
        }
        if isBroken { throw HTTP2Fault(.compression, "a header block cannot be decoded") }
    }

    private func inflater(of index: Int32, _ tables: borrowing Tables) -> HeaderInflater {
        guard let inflater = self.http.connections[tables.connections[index].http].inflater else {
            preconditionFailure("a connection of HTTP/2 decodes no header fields")
        }
        return inflater
    }

    /// Whether a connection may open one more stream: before its first valid credentials there are few. The head of the
    /// stream may have these.
    private mutating func admitsStream(
        _ index: Int32, _ head: RequestHead, isTooLong: Bool, _ tables: inout Tables, _ service: inout some Gate
    ) -> Bool {
        let count = Int(self.http.connections[tables.connections[index].http].streamCount)
        if count < Limits.unidentifiedStreamsMax || tables.connections[index].flags.contains(.isIdentified)
            || self.isIdentifiedByConnection(index, tables, service)
        {
            return true
        }
        if !isTooLong, head.malformed == nil,
            service.identifyByHead(index, head, &tables, &self) == nil,
            tables.connections[index].flags.contains(.isIdentified)
        {
            return true
        }
        tables.counters.refusalsByReason[.handshakeLimit, default: 0] += 1
        return false
    }

    /// A whole header block in one frame.
    private mutating func takeBlock(
        _ index: Int32, _ id: UInt32, _ block: borrowing RawSpan, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) throws(HTTP2Fault) {
        self.work.spend(block.byteCount / WorkMeter.bytesPerUnit)
        let bytes = block.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        let fields: HeaderFields
        do throws(HeaderInflater.Fault) {
            fields = try self.inflater(of: index, tables).inflate(bytes, into: self.http.fields)
        } catch {
            switch error {
            case .broken: throw HTTP2Fault(.compression, "a header block cannot be decoded")
            case .tooLong: return try self.takeFields(index, id, nil, &tables, &views, &service)
            }
        }
        try self.takeFields(index, id, fields, &tables, &views, &service)
    }

    /// The fields of a whole header block open a stream, or end one. Nil: they are too long.
    private mutating func takeFields(
        _ index: Int32, _ id: UInt32, _ fields: HeaderFields?, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) throws(HTTP2Fault) {
        let http = tables.connections[index].http
        let endsStream = self.http.connections[http].flags.contains(.blockEndsStream)
        let last = self.http.connections[http].lastStream
        self.work.spend(WorkMeter.head)
        guard id > last else {
            return try self.takeTrailers(index, id, fields, endsStream: endsStream, &tables, &views, &service)
        }
        var head = RequestHead()
        if let fields {
            for field in fields { head.take(http2: field.name, field.value) }
            head.finishHTTP2()
            if endsStream, head.malformed == nil, let length = head.contentLength, length > 0 {
                head.malformed = "content-length is \(length), and no body came"
            }
        }
        self.rememberOpening(index, id, after: last)
        self.http.connections[http].lastStream = id
        if self.http.connections[http].flags.contains(.hasSaidLast) { return }
        let isFull =
            Int(self.http.connections[http].streamCount + self.http.connections[http].heldCount)
            >= tables.settings.callsPerConnectionMax
        if isFull { tables.counters.refusalsByReason[.callsLimit, default: 0] += 1 }
        guard !isFull, self.admitsStream(index, head, isTooLong: fields == nil, &tables, &service) else {
            // No fault of the peer: it may not have read how many streams there may be.
            self.work.spend(WorkMeter.refusal)
            tables.counters.httpStreamsRefused += 1
            return self.resetUnopened(index, id, .refusedStream, endsStream: endsStream, &tables)
        }
        if let text = head.malformed {
            self.noteMalformed(index, text, &tables)
            return self.resetUnopened(index, id, .protocolError, endsStream: endsStream, &tables)
        }
        let stream = self.insertHTTPStream(index, id, head, &tables)
        if endsStream {
            self.http.streams[stream].flags.insert(.peerHasEnded)
        } else if let length = head.contentLength {
            self.http.lengths[stream] = length
        }
        guard fields != nil else {
            tables.counters.httpHeadsTooLong += 1
            self.respond(
                stream, 431, "the header fields exceed \(Limits.headerListBytesMax) bytes, the limit; send fewer",
                &tables)
            return
        }
        self.beginHTTPRequest(stream, head, &tables, &views, &service)
        guard self.http.stream(index, id) == stream else { return }
        if endsStream {
            // A request without a body.
            self.endHTTPRequest(stream, &tables, &views, &service)
        } else if head.marks.contains(.expectsContinue),
            self.http.streams[stream].flags.isDisjoint(with: [.isEnding, .isOpened])
        {
            let goOn = HeaderBlock(status: 100).bytes
            self.keepUnsentControl(
                index, HTTP2FrameHeader.frame(.headers, flags: .endHeaders, stream: id, goOn), &tables)
        }
    }

    private mutating func takeTrailers(
        _ index: Int32, _ id: UInt32, _ fields: HeaderFields?, endsStream: Bool, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) throws(HTTP2Fault) {
        let stream = self.http.stream(index, id)
        guard stream >= 0 else { return try self.takeLate(id, index, &tables) }
        guard !self.http.streams[stream].flags.contains(.peerHasEnded) else {
            return self.resetHTTP2(stream, .streamClosed, &tables, &views, &service)
        }
        guard let fields else { return self.resetHTTP2(stream, .enhanceYourCalm, &tables, &views, &service) }
        var fault = endsStream ? nil : "header fields within a body"
        for field in fields where fault == nil { fault = RequestHead.faultInTrailers(of: field.name, field.value) }
        if fault == nil, let rest = self.http.lengths[stream], rest > 0 {
            fault = "content-length promises \(rest) more bytes"
        }
        if let fault {
            self.noteMalformed(index, fault, &tables)
            return self.resetHTTP2(stream, .protocolError, &tables, &views, &service)
        }
        self.endHTTPRequest(stream, &tables, &views, &service)
    }

    /// A frame that only open streams have came for one without a slot.
    private mutating func takeLate(_ id: UInt32, _ index: Int32, _ tables: inout Tables) throws(HTTP2Fault) {
        let http = self.http.connections[tables.connections[index].http]
        guard id <= http.lastStream else { throw HTTP2Fault(.protocolError, "stream \(id) was never opened") }
        // Streams beyond the last one that was announced are opened in vain.
        guard !http.flags.contains(.hasSaidLast) else { return }
        switch self.kindOfClosed(index, id) {
        case .endedByUs: break
        case .resetByPeer, .forgotten: self.keepUnsentControl(index, HTTP2.reset(id, .streamClosed), &tables)
        case .skipped:
            throw HTTP2Fault(
                .protocolError, "stream \(id) comes after stream \(http.lastStream); the numbers of streams only rise")
        case .ended: throw HTTP2Fault(.streamClosed, "stream \(id) has ended, and a frame follows")
        }
    }

    /// A request that breaks a rule of RFC 9113, section 8: its stream is reset.
    private mutating func noteMalformed(_ index: Int32, _ text: String, _ tables: inout Tables) {
        tables.counters.refusalsByReason[.httpProtocol, default: 0] += 1
        if tables.notesEverything { tables.note(.ended, index, what: text) }
    }
}
