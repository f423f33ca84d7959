import PerchBase
import PerchWire

// HTTP connections and their streams: their lives and their pending output.
extension LoopCore {
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
    mutating func takeOther(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int
    ) -> (bytes: Int, isStopped: Bool) {
        switch self.tables.connections[index].wire {
        case .http2: return self.takeHTTP2Frames(index, bytes, untilAsks: asksMax)
        case .http1: return self.takeHTTP1(index, bytes, untilAsks: asksMax)
        case .perch1: return self.takeFrames(index, bytes, untilAsks: asksMax)
        case .unknown: break
        }
        guard let wire = self.wire(of: bytes) else { return (0, false) }
        if wire == .perch1, self.tables.connections[index].flags.contains(.isIntake) {
            self.broken(index)
            return (bytes.byteCount, false)
        }
        if !self.transport.negotiated.isEmpty, let chosen = self.transport.negotiated.removeValue(forKey: index),
            chosen != wire
        {
            self.tables.connections[index].wire = chosen
            self.close(
                index,
                WireStatus(
                    .httpProtocol,
                    "TLS chose \(chosen.name) by ALPN, and the first bytes are those of \(wire.name); speak \(chosen.name), or offer \(wire.name) alone",
                    details: [StatusDetail(key: "http2_error", value: "\(HTTP2Error.protocolError.rawValue)")]))
            return (bytes.byteCount, false)
        }
        self.tables.connections[index].wire = wire
        guard wire.isHTTP else { return self.takeFrames(index, bytes, untilAsks: asksMax) }
        guard self.openHTTP(index) else { return (bytes.byteCount, false) }
        guard wire == .http2 else { return self.takeHTTP1(index, bytes, untilAsks: asksMax) }
        let rest = bytes.extracting(HTTP2.preface.count...)
        let taken = self.takeHTTP2Frames(index, rest, untilAsks: asksMax)
        return (HTTP2.preface.count + taken.bytes, taken.isStopped)
    }

    /// A connection turns out to speak HTTP. It keeps its handshake slot until its first accepted request.
    private mutating func openHTTP(_ index: Int32) -> Bool {
        var http = HTTPConnection()
        if self.tables.connections[index].wire == .http2 {
            guard let inflater = HeaderInflater() else {
                self.broken(index)
                return false
            }
            http.inflater = inflater
        } else {
            http.window = HTTP2.windowMax
            http.initialWindow = Int32(HTTP2.windowMax)
        }
        let identity: UInt32
        do throws(CallRefusal) {
            identity = try self.service.identify(index, "", &self.tables, &self.transport)
        } catch {
            http.inflater?.free()
            self.close(index, error.status)
            return false
        }
        self.tables.connections[index].http = self.transport.http.connections.insert(http)
        self.tables.connections[index].phase = .open
        if let status = self.service.admit(index, as: identity, &self.tables) {
            self.close(index, status)
            return false
        }
        self.service.noteGreeting(index, as: identity, &self.tables)
        if self.tables.connections[index].wire == .http2 {
            self.tables.counters.http2Connections += 1
            self.oweControl(index, HTTP2.settings(streamsMax: self.tables.settings.callsPerConnectionMax))
        } else {
            self.tables.counters.http1Connections += 1
        }
        let heartbeat = Int64(self.tables.connections[index].heartbeatSeconds)
        let spread = 1 + Int64(truncatingIfNeeded: UInt32(bitPattern: index) &* 2_654_435_761 >> 8) % heartbeat
        self.tables.connections[index].lastBeat = self.tables.now.monotonic - heartbeat * 1_000
        self.transport.beats.insert(index, dueAt: self.tables.now.monotonic / 1_000 + spread)
        if self.tables.settings.connectionAgeMilliseconds > 0 {
            self.tables.scheduleDeadline(
                .connectionAge(index, self.tables.connections.generation(index)),
                at: self.tables.now.monotonic
                    + self.spread(self.tables.settings.connectionAgeMilliseconds, UInt32(bitPattern: index)))
        }
        return true
    }

    /// An age with its jitter, the same for the same seed.
    func spread(_ age: Int64, _ seed: UInt32) -> Int64 {
        let part = age * Limits.ageJitterPercent / 100
        return part > 0 ? self.transport.random(age - part...age + part, seed, self.tables) : age
    }
}

extension Transport {
    /// A number of a range, the same for the same seed and time.
    func random(_ range: ClosedRange<Int64>, _ seed: UInt32, _ tables: borrowing Tables) -> Int64 {
        var random = SplitMix64(seed: UInt64(seed) << 20 ^ UInt64(truncatingIfNeeded: tables.now.monotonic))
        return range.lowerBound + Int64(random.next() % UInt64(range.upperBound - range.lowerBound + 1))
    }
}

extension LoopCore {
    /// A frame of the connection's own: it needs no window.
    mutating func oweControl(_ index: Int32, _ frame: [UInt8]) {
        let payload = self.tables.payloads.insert(frame)
        self.transport.owe(index, .control, stream: 0, payload, &self.tables)
    }

    // MARK: Streams

    mutating func insertHTTPStream(_ index: Int32, _ id: UInt32, _ head: RequestHead) -> Int32 {
        let http = self.tables.connections[index].http
        let first = self.transport.http.connections[http].firstStream
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
        let stream = self.transport.http.streams.insert(slot)
        if first >= 0 { self.transport.http.streams[first].previous = stream }
        self.transport.http.connections[http].firstStream = stream
        self.transport.http.connections[http].streamCount += 1
        self.transport.http.name(stream)
        return stream
    }

    /// Drops a call whose peer reset it or broke a rule on it. Nothing more is sent.
    mutating func dropHTTPCall(_ stream: Int32) {
        let call = self.transport.http.streams[stream].call
        if call >= 0 {
            if !self.tables.calls[call].isEnding { self.tables.noteEnd(call, "CANCELLED") }
            self.holdPlace(of: call)
            self.service.removeCall(call, &self.tables, &self.views, &self.transport)
        }
        let connection = self.transport.http.streams[stream].connection
        self.dropHTTPStream(stream)
        self.closeHTTPIfDrained(connection)
    }

    /// Removes a stream whose call is removed.
    mutating func dropHTTPStream(_ stream: Int32) {
        let slot = self.transport.http.streams[stream]
        let http = self.tables.connections[slot.connection].http
        if slot.flags.contains(.isReady) { self.transport.unlistHTTP(stream, &self.tables) }
        if slot.flags.contains(.isBlocked) { self.transport.http.connections[http].blockedCount -= 1 }
        if !slot.pinned.isNone { self.tables.payloads.release(slot.pinned) }
        var owed = slot.firstOwed
        while owed >= 0 {
            let entry = self.transport.owed[owed]
            self.transport.http.connections[http].owedBytes -= self.tables.payloads[entry.payload].count
            self.tables.payloads.release(entry.payload)
            self.transport.owed.remove(owed)
            owed = entry.next
        }
        if !self.transport.http.requests.isEmpty { self.transport.forgetHTTPRequest(stream, &self.tables) }
        if !self.transport.http.healthWatches.isEmpty { self.forgetHealthWatch(stream) }
        if !self.transport.http.clientIDs.isEmpty { self.transport.http.clientIDs[stream] = nil }
        if !self.transport.http.origins.isEmpty { self.transport.http.origins[stream] = nil }
        if !self.transport.http.lengths.isEmpty { self.transport.http.lengths[stream] = nil }
        if slot.previous >= 0 {
            self.transport.http.streams[slot.previous].next = slot.next
        } else {
            self.transport.http.connections[http].firstStream = slot.next
        }
        if slot.next >= 0 { self.transport.http.streams[slot.next].previous = slot.previous }
        self.transport.http.connections[http].streamCount -= 1
        self.transport.http.forget(stream)
        self.transport.http.streams.remove(stream)
    }

    /// Drops the HTTP state of a connection whose calls are removed.
    mutating func leaveHTTP(_ index: Int32) {
        let http = self.tables.connections[index].http
        guard http >= 0 else { return }
        while self.transport.http.connections[http].firstStream >= 0 {
            self.dropHTTPStream(self.transport.http.connections[http].firstStream)
        }
        self.transport.http.connections[http].inflater?.free()
        if let block = self.transport.http.blocks.removeValue(forKey: index) {
            self.transport.letGo(block.count, index, &self.tables)
        }
        self.transport.http.heads1[index] = nil
        self.transport.http.closed[index] = nil
        self.transport.http.connections.remove(http)
        self.tables.connections[index].http = -1
    }
}

extension Transport {
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
            slot.firstOwed >= 0
        else { return }
        var entry = self.owed[slot.firstOwed]
        if entry.role == .head, entry.next >= 0 { entry = self.owed[entry.next] }
        guard entry.role == .status, slot.form == .grpc || tables.payloads[entry.payload].isEmpty else { return }
        if slot.flags.contains(.isReady) { self.unlistHTTP(stream, &tables) }
        if slot.flags.contains(.isBlocked) {
            self.http.connections[tables.connections[slot.connection].http].blockedCount -= 1
        }
        self.http.streams[stream].flags.remove(.isBlocked)
        self.http.streams[stream].flags.insert(.needsNoWindow)
        if !slot.flags.isDisjoint(with: [.isReady, .isBlocked]) { self.readyHTTP(stream, &tables) }
    }

    mutating func unlistHTTP(_ stream: Int32, _ tables: inout Tables) {
        let slot = self.http.streams[stream]
        let http = tables.connections[slot.connection].http
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
}

extension LoopCore {
    /// A stream without window leaves the list until its window opens.
    mutating func block(_ stream: Int32) {
        self.transport.unlistHTTP(stream, &self.tables)
        self.transport.http.streams[stream].flags.insert(.isBlocked)
        let http = self.tables.connections[self.transport.http.streams[stream].connection].http
        self.transport.http.connections[http].blockedCount += 1
    }

    /// The stream's window is open again.
    mutating func unblock(_ stream: Int32) {
        self.transport.http.streams[stream].flags.remove(.isBlocked)
        let slot = self.transport.http.streams[stream]
        self.transport.http.connections[self.tables.connections[slot.connection].http].blockedCount -= 1
        self.transport.readyHTTP(stream, &self.tables)
    }
}

extension Transport {
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
    mutating func oweHTTP(
        _ stream: Int32, _ role: Owed.Role, _ payload: PayloadHandle, endsCall: Int32 = -1, _ tables: inout Tables
    ) {
        let slot = self.http.streams[stream]
        let owed = self.owed.insert(Owed(role: role, stream: slot.id, payload: payload, endsCall: endsCall))
        if slot.lastOwed >= 0 {
            self.owed[slot.lastOwed].next = owed
        } else {
            self.http.streams[stream].firstOwed = owed
        }
        self.http.streams[stream].lastOwed = owed
        let http = tables.connections[slot.connection].http
        self.http.connections[http].owedBytes += tables.payloads[payload].count
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
        let owed = self.http.connections[tables.connections[index].http].owedBytes
        guard owed > tables.settings.owedBytesMax, tables.connections[index].phase == .open,
            !tables.connections[index].flags.contains(.isReadPaused)
        else { return }
        tables.connections[index].flags.insert(.isReadPaused)
        tables.counters.readPauses += 1
        self.listen(index, &tables)
    }

    /// Removes and returns the first pending output of a stream.
    mutating func popOwed(_ stream: Int32, _ tables: inout Tables) -> Owed {
        let slot = self.http.streams[stream]
        let entry = self.owed[slot.firstOwed]
        self.owed.remove(slot.firstOwed)
        self.http.streams[stream].firstOwed = entry.next
        if entry.next < 0 { self.http.streams[stream].lastOwed = -1 }
        self.http.connections[tables.connections[slot.connection].http].owedBytes -=
            tables.payloads[entry.payload].count
        return entry
    }
}

extension LoopCore {
    // MARK: Ending

    /// A rule of HTTP/2 was broken: GOAWAY with its code.
    mutating func closeHTTP2(_ index: Int32, _ fault: HTTP2Fault) {
        let reason: ErrorReason = fault.code == .enhanceYourCalm ? .httpFlood : .httpProtocol
        self.close(
            index,
            WireStatus(
                reason, fault.text, details: [StatusDetail(key: "http2_error", value: "\(fault.code.rawValue)")]))
    }

    /// The GOAWAY frame that ends a connection of HTTP/2.
    func goAway(_ index: Int32, _ status: WireStatus) -> [UInt8] {
        let told = status.details.first { $0.key == "http2_error" }.flatMap { UInt32($0.value) }
        let code = told.flatMap { HTTP2Error(rawValue: $0) }
        let other: HTTP2Error = status.code == .resourceExhausted ? .enhanceYourCalm : .noError
        let http = self.tables.connections[index].http
        let last = http >= 0 ? self.transport.http.connections[http].lastStream : 0
        return HTTP2.goAway(last, code ?? other, "\(status.reason?.rawValue ?? ""): \(status.message)")
    }

    /// The server stops: no more streams, every call gets its end, then the connection ends.
    mutating func drainHTTP(_ index: Int32, _ status: WireStatus) {
        let http = self.tables.connections[index].http
        guard !self.transport.http.connections[http].flags.contains(.isLeaving) else { return }
        self.transport.http.connections[http].flags.insert(.isLeaving)
        self.announceLastStream(index, status.reason)
        var call = self.tables.connections[index].firstCall
        while call >= 0 {
            let next = self.tables.calls[call].nextInConnection
            if self.service.isUnanswered(call, self.tables) {
                self.service.end(call, status, &self.tables, &self.views, &self.transport)
            }
            call = next
        }
        self.endHealthWatches(of: index)
        self.tables.scheduleDeadline(
            .drained(index, self.tables.connections.generation(index)),
            at: self.tables.now.monotonic + self.tables.settings.drainMilliseconds)
        self.closeHTTPIfDrained(index)
    }

    /// The connection is old. No call fails by that: those under way go on to their end, and new ones take another connection.
    /// HTTP/2 says so at once, HTTP/1.1 with the head of its next response.
    mutating func ageHTTP(_ index: Int32) {
        let http = self.tables.connections[index].http
        guard self.transport.http.connections[http].flags.isDisjoint(with: [.isLeaving, .isAged]) else { return }
        self.transport.http.connections[http].flags.insert(.isAged)
        self.announceLastStream(index, .ageLimit)
    }

    /// GOAWAY with the highest number: what is on its way is still served. The last stream's follows a round trip later.
    private mutating func announceLastStream(_ index: Int32, _ reason: ErrorReason?) {
        let http = self.tables.connections[index].http
        guard self.tables.connections[index].wire == .http2,
            self.transport.http.connections[http].flags.isDisjoint(with: [.awaitsDrainPing, .hasSaidLast])
        else { return }
        self.transport.http.connections[http].flags.insert(.awaitsDrainPing)
        self.oweControl(index, HTTP2.goAway(UInt32(HTTP2.windowMax), .noError, reason?.rawValue ?? ""))
        self.oweControl(index, HTTP2FrameHeader.frame(.ping, [UInt8](repeating: 0x70, count: 8)))
        // A peer that does not answer the PING is told all the same.
        self.tables.scheduleDeadline(
            .lastStream(index, self.tables.connections.generation(index)),
            at: self.tables.now.monotonic + Limits.httpLastStreamMilliseconds)
    }

    /// The peer has answered our PING, so all that it sent before it knew of the end is here.
    mutating func drainPingReturned(_ index: Int32) {
        let http = self.tables.connections[index].http
        guard self.transport.http.connections[http].flags.contains(.awaitsDrainPing) else { return }
        self.transport.http.connections[http].flags.remove(.awaitsDrainPing)
        self.transport.http.connections[http].flags.insert(.hasSaidLast)
        self.oweControl(index, HTTP2.goAway(self.transport.http.connections[http].lastStream, .noError, ""))
        self.closeHTTPIfDrained(index)
    }

    /// Closes a leaving connection after its last stream ended and the peer knows which one that was. An old connection of
    /// HTTP/1.1 ends with the response that says so.
    mutating func closeHTTPIfDrained(_ index: Int32) {
        let http = self.tables.connections[index].http
        guard self.tables.connections[index].phase == .open, http >= 0,
            !self.transport.http.connections[http].flags.isDisjoint(with: [.isLeaving, .hasSaidLast]),
            !self.transport.http.connections[http].flags.contains(.awaitsDrainPing),
            self.transport.http.connections[http].streamCount == 0, self.tables.connections[index].firstOwed < 0,
            self.tables.connections[index].unfinished < 0
        else { return }
        self.leaveOpenPhase(index, to: .closing)
        self.tables.connections[index].flags.insert(.writesReason)
        self.linger(index)
        if self.tables.connections.isTaken(index) { self.finishClosing(index) }
    }

    // MARK: Time

    /// Once a heartbeat: bookmarks, and a PING for a peer that gets none.
    mutating func httpBeatDue(_ index: Int32, _ second: Int64) {
        let interval = Int64(self.tables.connections[index].heartbeatSeconds)
        let due = self.tables.connections[index].lastBeat / 1_000 + interval
        guard due <= second else {
            self.transport.beats.insert(index, dueAt: due)
            return
        }
        self.transport.beats.insert(index, dueAt: second + interval)
        self.tables.connections[index].lastBeat = self.tables.now.monotonic
        self.markBookmarks(index)
        self.stopWaitingForBodies(of: index)
        guard self.tables.connections.isTaken(index), self.tables.connections[index].phase == .open,
            self.tables.connections[index].wire == .http2
        else { return }
        let http = self.tables.connections[index].http
        // Streams that wait for their windows hear nothing, and silence would be taken for a dead connection.
        if self.tables.connections[index].watchCount == 0 || self.views.hasFailedWatch(index, self.tables)
            || self.transport.http.connections[http].blockedCount > 0
            || self.transport.http.connections[http].window <= 0
        {
            self.oweControl(index, HTTP2FrameHeader.frame(.ping, [UInt8](repeating: 0, count: 8)))
        }
    }
}

extension Transport {
    /// The value that a stream's bookmark waited for is ready.
    mutating func releaseBookmark(of call: Int32, _ tables: inout Tables) {
        let stream = Int32(bitPattern: tables.calls[call].stream)
        guard self.http.streams.isTaken(stream),
            self.http.streams[stream].flags.contains(.owesBookmark)
        else { return }
        self.readyHTTP(stream, &tables)
    }
}

extension LoopCore {
    /// Queues a bookmark on every stream of a connection, behind its pending output.
    mutating func markBookmarks(_ index: Int32) {
        guard self.tables.connections[index].watchCount > 0 else { return }
        var call = self.tables.connections[index].firstCall
        while call >= 0 {
            if self.tables.calls[call].view >= 0 || self.tables.calls[call].isFeed {
                let stream = Int32(bitPattern: self.tables.calls[call].stream)
                self.transport.http.streams[stream].flags.insert(.owesBookmark)
                self.transport.readyHTTP(stream, &self.tables)
            }
            call = self.tables.calls[call].nextInConnection
        }
    }
}
