import PerchBase
import PerchWire

// HTTP connections and their streams: their lives and their pending output.
extension Transport {
    /// The first bytes say what a connection speaks. Nil: too few came.
    func wire(of bytes: borrowing RawSpan) -> Wire? {
        guard bytes.byteCount > 0 else { return nil }
        let first = bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return .perch1 }
        let count = min(bytes.byteCount, HTTP2.preface.count)
        for index in 0..<count
        where bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) != HTTP2.preface[index] {
            return .http1
        }
        return count == HTTP2.preface.count ? .http2 : nil
    }

    /// Bytes of a connection that is not known to speak perch/1.
    mutating func takeOtherProtocol(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) -> (bytes: Int, isStopped: Bool) {
        switch tables.connections[index].wire {
        case .http2: return self.takeHTTP2Frames(index, bytes, untilAsks: asksMax, &tables, &views, &service)
        case .http1: return self.takeHTTP1(index, bytes, untilAsks: asksMax, &tables, &views, &service)
        case .perch1: return self.takeFrames(index, bytes, untilAsks: asksMax, &tables, &views, &service)
        case .unknown: break
        }
        guard let wire = self.wire(of: bytes) else { return (0, false) }
        if wire == .perch1, tables.connections[index].flags.contains(.isIntake) {
            self.broken(index, &tables, &views, &service)
            return (bytes.byteCount, false)
        }
        if !self.negotiated.isEmpty, let chosen = self.negotiated.removeValue(forKey: index),
            chosen != wire
        {
            tables.connections[index].wire = chosen
            self.close(
                index,
                WireStatus(
                    .httpProtocol,
                    "TLS chose \(chosen.name) by ALPN, and the first bytes are those of \(wire.name); speak \(chosen.name), or offer \(wire.name) alone",
                    details: [StatusDetail(key: "http2_error", value: "\(HTTP2Error.protocolError.rawValue)")]),
                &tables, &views, &service)
            return (bytes.byteCount, false)
        }
        tables.connections[index].wire = wire
        guard wire.isHTTP else { return self.takeFrames(index, bytes, untilAsks: asksMax, &tables, &views, &service) }
        guard self.openHTTP(index, &tables, &views, &service) else { return (bytes.byteCount, false) }
        guard wire == .http2 else { return self.takeHTTP1(index, bytes, untilAsks: asksMax, &tables, &views, &service) }
        let rest = bytes.extracting(HTTP2.preface.count...)
        let taken = self.takeHTTP2Frames(index, rest, untilAsks: asksMax, &tables, &views, &service)
        return (HTTP2.preface.count + taken.bytes, taken.isStopped)
    }

    /// A connection turns out to speak HTTP. It keeps its handshake slot until its first accepted request.
    private mutating func openHTTP(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) -> Bool {
        var http = HTTPConnection()
        if tables.connections[index].wire == .http2 {
            guard let inflater = HeaderInflater() else {
                self.broken(index, &tables, &views, &service)
                return false
            }
            http.inflater = inflater
        } else {
            http.window = HTTP2.windowMax
            http.initialWindow = Int32(HTTP2.windowMax)
        }
        let identity: UInt32
        do throws(CallRefusal) {
            identity = try service.identify(index, "", &tables, &self)
        } catch {
            http.inflater?.free()
            self.close(index, error.status, &tables, &views, &service)
            return false
        }
        tables.connections[index].http = self.http.connections.insert(http)
        tables.connections[index].phase = .open
        if let status = service.admit(index, as: identity, &tables) {
            self.close(index, status, &tables, &views, &service)
            return false
        }
        service.noteGreeting(index, as: identity, &tables)
        if tables.connections[index].wire == .http2 {
            tables.counters.http2Connections += 1
            self.keepUnsentControl(index, HTTP2.settings(streamsMax: tables.settings.callsPerConnectionMax), &tables)
        } else {
            tables.counters.http1Connections += 1
        }
        let heartbeat = Int64(tables.connections[index].heartbeatSeconds)
        let spread = 1 + Int64(truncatingIfNeeded: UInt32(bitPattern: index) &* 2_654_435_761 >> 8) % heartbeat
        tables.connections[index].lastBeat = tables.now.monotonic - heartbeat * 1_000
        self.beats.insert(index, dueAt: tables.now.monotonic / 1_000 + spread)
        if tables.settings.connectionAgeMilliseconds > 0 {
            tables.scheduleDeadline(
                .connectionAge(index, tables.connections.generation(index)),
                at: tables.now.monotonic
                    + self.spread(tables.settings.connectionAgeMilliseconds, UInt32(bitPattern: index), tables))
        }
        return true
    }

    /// An age with its jitter, the same for the same seed.
    func spread(_ age: Int64, _ seed: UInt32, _ tables: borrowing Tables) -> Int64 {
        let part = age * Limits.ageJitterPercent / 100
        return part > 0 ? self.random(age - part...age + part, seed, tables) : age
    }

    /// A number of a range, the same for the same seed and time.
    func random(_ range: ClosedRange<Int64>, _ seed: UInt32, _ tables: borrowing Tables) -> Int64 {
        var random = SplitMix64(seed: UInt64(seed) << 20 ^ UInt64(truncatingIfNeeded: tables.now.monotonic))
        return range.lowerBound + Int64(random.next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// A frame of the connection's own: it needs no window.
    mutating func keepUnsentControl(_ index: Int32, _ frame: [UInt8], _ tables: inout Tables) {
        let payload = tables.payloads.insert(frame)
        self.keepUnsent(index, .control, stream: 0, payload, &tables)
    }

    // MARK: Streams

    mutating func insertHTTPStream(_ index: Int32, _ id: UInt32, _ head: RequestHead, _ tables: inout Tables) -> Int32 {
        let http = tables.connections[index].http
        let first = self.http.connections[http].firstStream
        var slot = HTTPStream(connection: index, id: id, form: head.form, next: first)
        if head.marks.contains(.acceptsDeflate) { slot.flags.insert(.acceptsZlib) }
        if head.marks.contains(.acceptsGzip) { slot.flags.insert(.acceptsGzip) }
        if head.form == .connectUnary {
            // A unary call of Connect has one message, and its encoding is that of the body.
            slot.flags.subtract([.acceptsZlib, .acceptsGzip])
            if head.marks.contains(.acceptsDeflateBody) { slot.flags.insert(.acceptsZlib) }
            if head.marks.contains(.acceptsGzipBody) { slot.flags.insert(.acceptsGzip) }
        }
        if head.marks.contains(.isJSON) { slot.flags.insert(.isJSON) }
        if head.marks.contains(.hasSuffix) { slot.flags.insert(.hasSuffix) }
        if head.marks.contains(.isOld) { slot.flags.insert(.hasLength) }
        if head.verb == .head {
            slot.isHead = true
            slot.flags.insert(.hasLength)
        }
        let stream = self.http.streams.insert(slot)
        if first >= 0 { self.http.streams[first].previous = stream }
        self.http.connections[http].firstStream = stream
        self.http.connections[http].streamCount += 1
        self.http.name(stream)
        return stream
    }

    /// Drops a call whose peer reset it or broke a rule on it. Nothing more is sent.
    mutating func dropHTTPCall(
        _ stream: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let call = self.http.streams[stream].call
        if call >= 0 {
            if !tables.calls[call].isEnding { tables.noteEnd(call, "CANCELLED") }
            self.holdPlace(of: call, &tables, &views)
            service.removeCall(call, &tables, &views, &self)
        }
        let connection = self.http.streams[stream].connection
        self.dropHTTPStream(stream, &tables)
        self.closeHTTPIfDrained(connection, &tables, &views, &service)
    }

    /// Removes a stream whose call is removed.
    mutating func dropHTTPStream(_ stream: Int32, _ tables: inout Tables) {
        let slot = self.http.streams[stream]
        let http = tables.connections[slot.connection].http
        if slot.flags.contains(.isReady) { self.unlistHTTP(stream, of: http) }
        if slot.flags.contains(.isBlocked) { self.http.connections[http].blockedCount -= 1 }
        if !slot.pinned.isNone { tables.payloads.release(slot.pinned) }
        var unsent = slot.firstUnsent
        while unsent >= 0 {
            let entry = self.unsent[unsent]
            self.http.connections[http].unsentBytes -= tables.payloads[entry.payload].count
            tables.payloads.release(entry.payload)
            self.unsent.remove(unsent)
            unsent = entry.next
        }
        if !self.http.requests.isEmpty { self.forgetHTTPRequest(stream, &tables) }
        if !self.http.healthWatches.isEmpty { self.forgetHealthWatch(stream, &tables) }
        if !self.http.clientIDs.isEmpty { self.http.clientIDs[stream] = nil }
        if !self.http.origins.isEmpty { self.http.origins[stream] = nil }
        if !self.http.lengths.isEmpty { self.http.lengths[stream] = nil }
        if slot.previous >= 0 {
            self.http.streams[slot.previous].next = slot.next
        } else {
            self.http.connections[http].firstStream = slot.next
        }
        if slot.next >= 0 { self.http.streams[slot.next].previous = slot.previous }
        self.http.connections[http].streamCount -= 1
        self.http.forget(stream)
        self.http.streams.remove(stream)
    }

    /// Drops the HTTP state of a connection whose calls are removed.
    mutating func leaveHTTP(_ index: Int32, _ tables: inout Tables) {
        let http = tables.connections[index].http
        guard http >= 0 else { return }
        while self.http.connections[http].firstStream >= 0 {
            self.dropHTTPStream(self.http.connections[http].firstStream, &tables)
        }
        self.http.connections[http].inflater?.free()
        if let block = self.http.blocks.removeValue(forKey: index) {
            self.letGo(block.count, index, &tables)
        }
        self.http.heads1[index] = nil
        self.http.closed[index] = nil
        self.http.connections.remove(http)
        tables.connections[index].http = -1
    }

    // MARK: Readiness

    /// A stream has something to write. Those that need no window stand before the others.
    @inline(__always)
    mutating func readyHTTP(_ stream: Int32, _ tables: inout Tables) {
        let slot = self.http.streams[stream]
        if slot.flags.isDisjoint(with: [.isReady, .isBlocked]) {
            let http = tables.connections[slot.connection].http
            if slot.flags.contains(.needsNoWindow) {
                self.readyFirst(stream, http)
                return self.list(slot.connection, &tables)
            }
            let last = self.http.connections[http].lastReady
            self.http.streams[stream].flags.insert(.isReady)
            self.http.streams[stream].nextReady = -1
            self.http.streams[stream].previousReady = last
            if last >= 0 {
                self.http.streams[last].nextReady = stream
            } else {
                self.http.connections[http].firstReady = stream
            }
            self.http.connections[http].lastReady = stream
        }
        self.list(slot.connection, &tables)
    }

    private mutating func readyFirst(_ stream: Int32, _ http: Int32) {
        let first = self.http.connections[http].firstReady
        self.http.streams[stream].flags.insert(.isReady)
        self.http.streams[stream].previousReady = -1
        self.http.streams[stream].nextReady = first
        if first >= 0 {
            self.http.streams[first].previousReady = stream
        } else {
            self.http.connections[http].lastReady = stream
        }
        self.http.connections[http].firstReady = stream
    }

    /// Moves a stream to the front if the rest of its output needs no window: trailers, or an end without bytes. Then a write
    /// without window need not look further.
    mutating func hastenEnd(_ stream: Int32, _ tables: inout Tables) {
        let slot = self.http.streams[stream]
        guard slot.flags.contains(.isEnding), !slot.flags.contains(.needsNoWindow), slot.pinned.isNone,
            slot.firstUnsent >= 0
        else { return }
        var entry = self.unsent[slot.firstUnsent]
        if entry.role == .head, entry.next >= 0 { entry = self.unsent[entry.next] }
        guard entry.role == .status, slot.form == .grpc || tables.payloads[entry.payload].isEmpty else { return }
        let http = tables.connections[slot.connection].http
        if slot.flags.contains(.isReady) { self.unlistHTTP(stream, of: http) }
        if slot.flags.contains(.isBlocked) {
            self.http.connections[http].blockedCount -= 1
        }
        self.http.streams[stream].flags.remove(.isBlocked)
        self.http.streams[stream].flags.insert(.needsNoWindow)
        if !slot.flags.isDisjoint(with: [.isReady, .isBlocked]) { self.readyHTTP(stream, &tables) }
    }

    mutating func unlistHTTP(_ stream: Int32, of http: Int32) {
        let slot = self.http.streams[stream]
        if slot.previousReady >= 0 {
            self.http.streams[slot.previousReady].nextReady = slot.nextReady
        } else {
            self.http.connections[http].firstReady = slot.nextReady
        }
        if slot.nextReady >= 0 {
            self.http.streams[slot.nextReady].previousReady = slot.previousReady
        } else {
            self.http.connections[http].lastReady = slot.previousReady
        }
        self.http.streams[stream].flags.remove(.isReady)
    }

    /// A stream without window leaves the list until its window opens.
    mutating func block(_ stream: Int32, of http: Int32) {
        self.unlistHTTP(stream, of: http)
        self.http.streams[stream].flags.insert(.isBlocked)
        self.http.connections[http].blockedCount += 1
    }

    /// The stream's window is open again.
    mutating func unblock(_ stream: Int32, _ tables: inout Tables) {
        self.http.streams[stream].flags.remove(.isBlocked)
        let slot = self.http.streams[stream]
        self.http.connections[tables.connections[slot.connection].http].blockedCount -= 1
        self.readyHTTP(stream, &tables)
    }

    /// Whether the stream of a call takes nothing now.
    func isHTTPBlocked(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let slot = self.http.streams[Int32(bitPattern: tables.calls[call].stream)]
        if slot.flags.contains(.isBlocked) { return true }
        return self.http.connections[tables.connections[slot.connection].http].window <= 0
    }

    func acceptsHTTPZlib(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        self.http.streams[Int32(bitPattern: tables.calls[call].stream)].reads == .zlib
    }

    // MARK: Pending output of a stream

    /// Queues output that is no state on a stream, until the kernel accepts it.
    mutating func keepUnsentHTTP(
        _ stream: Int32, _ role: Unsent.Role, _ payload: PayloadHandle, endsCall: Int32 = -1, _ tables: inout Tables
    ) {
        let slot = self.http.streams[stream]
        let unsent = self.unsent.insert(Unsent(role: role, stream: slot.id, payload: payload, endsCall: endsCall))
        if slot.lastUnsent >= 0 {
            self.unsent[slot.lastUnsent].next = unsent
        } else {
            self.http.streams[stream].firstUnsent = unsent
        }
        self.http.streams[stream].lastUnsent = unsent
        let http = tables.connections[slot.connection].http
        self.http.connections[http].unsentBytes += tables.payloads[payload].count
        if role == .status {
            // Set before the stream is listed.
            self.http.streams[stream].flags.insert(.isEnding)
            self.hastenEnd(stream, &tables)
        }
        self.pauseHTTP(slot.connection, &tables)
        if !slot.flags.contains(.waitsForBody) { self.readyHTTP(stream, &tables) }
    }

    /// Pauses reading from a connection with too many pending answer bytes.
    private mutating func pauseHTTP(_ index: Int32, _ tables: inout Tables) {
        let unsent = self.http.connections[tables.connections[index].http].unsentBytes
        guard unsent > tables.settings.unsentBytesMax, tables.connections[index].phase == .open,
            !tables.connections[index].flags.contains(.isReadPaused)
        else { return }
        tables.connections[index].flags.insert(.isReadPaused)
        tables.counters.readPauses += 1
        self.listen(index, &tables)
    }

    /// Removes and returns the first pending output of a stream.
    mutating func popUnsent(_ stream: Int32, _ tables: inout Tables) -> Unsent {
        let slot = self.http.streams[stream]
        let entry = self.unsent[slot.firstUnsent]
        self.unsent.remove(slot.firstUnsent)
        self.http.streams[stream].firstUnsent = entry.next
        if entry.next < 0 { self.http.streams[stream].lastUnsent = -1 }
        self.http.connections[tables.connections[slot.connection].http].unsentBytes -=
            tables.payloads[entry.payload].count
        return entry
    }

    // MARK: Ending

    /// A rule of HTTP/2 was broken: GOAWAY with its code.
    mutating func closeHTTP2(
        _ index: Int32, _ fault: HTTP2Fault, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let reason: ErrorReason = fault.code == .enhanceYourCalm ? .httpFlood : .httpProtocol
        self.close(
            index,
            WireStatus(
                reason, fault.text, details: [StatusDetail(key: "http2_error", value: "\(fault.code.rawValue)")]),
            &tables, &views, &service)
    }

    /// The GOAWAY frame that ends a connection of HTTP/2.
    func goAway(_ index: Int32, _ status: WireStatus, _ tables: borrowing Tables) -> [UInt8] {
        let told = status.details.first { $0.key == "http2_error" }.flatMap { UInt32($0.value) }
        let code = told.flatMap { HTTP2Error(rawValue: $0) }
        let other: HTTP2Error = status.code == .resourceExhausted ? .enhanceYourCalm : .noError
        let http = tables.connections[index].http
        let last = http >= 0 ? self.http.connections[http].lastStream : 0
        return HTTP2.goAway(last, code ?? other, "\(status.reason?.rawValue ?? ""): \(status.message)")
    }

    /// The server stops: no more streams, every call gets its end, then the connection ends.
    mutating func drainHTTP(
        _ index: Int32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let http = tables.connections[index].http
        guard !self.http.connections[http].flags.contains(.isLeaving) else { return }
        self.http.connections[http].flags.insert(.isLeaving)
        self.announceLastStream(index, status.reason, &tables)
        var call = tables.connections[index].firstCall
        while call >= 0 {
            let next = tables.calls[call].nextInConnection
            if service.isUnanswered(call, tables) {
                service.end(call, status, &tables, &views, &self)
            }
            call = next
        }
        self.endHealthWatches(of: index, &tables)
        tables.scheduleDeadline(
            .drained(index, tables.connections.generation(index)),
            at: tables.now.monotonic + tables.settings.drainMilliseconds)
        self.closeHTTPIfDrained(index, &tables, &views, &service)
    }

    /// The connection is old. No call fails by that: those under way go on to their end, and new ones take another connection.
    /// HTTP/2 says so at once, HTTP/1.1 with the head of its next response.
    mutating func ageHTTP(_ index: Int32, _ tables: inout Tables) {
        let http = tables.connections[index].http
        guard self.http.connections[http].flags.isDisjoint(with: [.isLeaving, .isAged]) else { return }
        self.http.connections[http].flags.insert(.isAged)
        self.announceLastStream(index, .ageLimit, &tables)
    }

    /// GOAWAY with the highest number: what is on its way is still served. The last stream's follows a round trip later.
    private mutating func announceLastStream(_ index: Int32, _ reason: ErrorReason?, _ tables: inout Tables) {
        let http = tables.connections[index].http
        guard tables.connections[index].wire == .http2,
            self.http.connections[http].flags.isDisjoint(with: [.awaitsDrainPing, .hasSaidLast])
        else { return }
        self.http.connections[http].flags.insert(.awaitsDrainPing)
        self.keepUnsentControl(index, HTTP2.goAway(UInt32(HTTP2.windowMax), .noError, reason?.rawValue ?? ""), &tables)
        self.keepUnsentControl(index, HTTP2FrameHeader.frame(.ping, [UInt8](repeating: 0x70, count: 8)), &tables)
        // A peer that does not answer the PING is told all the same.
        tables.scheduleDeadline(
            .lastStream(index, tables.connections.generation(index)),
            at: tables.now.monotonic + Limits.httpLastStreamMilliseconds)
    }

    /// The peer has answered our PING, so all that it sent before it knew of the end is here.
    mutating func drainPingReturned(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let http = tables.connections[index].http
        guard self.http.connections[http].flags.contains(.awaitsDrainPing) else { return }
        self.http.connections[http].flags.remove(.awaitsDrainPing)
        self.http.connections[http].flags.insert(.hasSaidLast)
        self.keepUnsentControl(index, HTTP2.goAway(self.http.connections[http].lastStream, .noError, ""), &tables)
        self.closeHTTPIfDrained(index, &tables, &views, &service)
    }

    /// Closes a leaving connection after its last stream ended and the peer knows which one that was. An old connection of
    /// HTTP/1.1 ends with the response that says so.
    mutating func closeHTTPIfDrained(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let http = tables.connections[index].http
        guard tables.connections[index].phase == .open, http >= 0,
            !self.http.connections[http].flags.isDisjoint(with: [.isLeaving, .hasSaidLast]),
            !self.http.connections[http].flags.contains(.awaitsDrainPing),
            self.http.connections[http].streamCount == 0, tables.connections[index].firstUnsent < 0,
            tables.connections[index].unfinished < 0
        else { return }
        self.leaveOpenPhase(index, to: .closing, &tables, &views, &service)
        tables.connections[index].flags.insert(.writesReason)
        self.linger(index, &tables, &views, &service)
        if tables.connections.isTaken(index) { self.finishClosing(index, &tables, &views, &service) }
    }

    // MARK: Time

    /// Once a heartbeat: bookmarks, and a PING for a peer that gets none.
    mutating func httpBeatDue(_ index: Int32, _ second: Int64, _ tables: inout Tables, _ views: inout some Source) {
        let interval = Int64(tables.connections[index].heartbeatSeconds)
        let due = tables.connections[index].lastBeat / 1_000 + interval
        guard due <= second else {
            self.beats.insert(index, dueAt: due)
            return
        }
        self.beats.insert(index, dueAt: second + interval)
        tables.connections[index].lastBeat = tables.now.monotonic
        self.markBookmarks(index, &tables)
        self.stopWaitingForBodies(of: index, &tables)
        guard tables.connections.isTaken(index), tables.connections[index].phase == .open,
            tables.connections[index].wire == .http2
        else { return }
        let http = tables.connections[index].http
        // Streams that wait for their windows hear nothing, and silence would be taken for a dead connection.
        if tables.connections[index].watchCount == 0 || views.hasFailedWatch(index, tables)
            || self.http.connections[http].blockedCount > 0
            || self.http.connections[http].window <= 0
        {
            self.keepUnsentControl(index, HTTP2FrameHeader.frame(.ping, [UInt8](repeating: 0, count: 8)), &tables)
        }
    }

    /// The value that a stream's bookmark waited for is ready.
    mutating func releaseBookmark(of call: Int32, _ tables: inout Tables) {
        let stream = Int32(bitPattern: tables.calls[call].stream)
        guard self.http.streams.isTaken(stream), self.http.streams[stream].flags.contains(.hasUnsentBookmark) else {
            return
        }
        self.readyHTTP(stream, &tables)
    }

    /// Queues a bookmark on every stream of a connection, behind its pending output.
    mutating func markBookmarks(_ index: Int32, _ tables: inout Tables) {
        guard tables.connections[index].watchCount > 0 else { return }
        var call = tables.connections[index].firstCall
        while call >= 0 {
            if tables.calls[call].view >= 0 || tables.calls[call].isFeed {
                let stream = Int32(bitPattern: tables.calls[call].stream)
                self.http.streams[stream].flags.insert(.hasUnsentBookmark)
                self.readyHTTP(stream, &tables)
            }
            call = tables.calls[call].nextInConnection
        }
    }
}
