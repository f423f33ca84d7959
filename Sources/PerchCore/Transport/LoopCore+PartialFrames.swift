import PerchBase
import PerchWire

/// The received part of an incomplete frame.
struct PartialInput {
    var bytes: [UInt8]
    /// When its first byte arrived, in monotonic milliseconds.
    var since: Int64
}

// Partial frames: kept until they are complete, within limits of size, time, and the sum over all connections.
extension LoopCore {
    /// The longest message that a connection may send now.
    func frameBytesMax(of index: Int32) -> Int {
        if self.tables.connections[index].flags.contains(.isIdentified) { return self.tables.settings.frameBytesMax }
        return self.tables.connections[index].phase == .greeting
            ? Limits.helloBytesMax
            : min(self.tables.settings.unidentifiedFrameBytesMax, self.tables.settings.frameBytesMax)
    }

    /// The status for a frame that is too long.
    func tooLong(_ header: FrameHeader, _ index: Int32) -> WireStatus {
        let limit = self.frameBytesMax(of: index)
        var status = WireStatus(
            FrameError.tooLong(kind: header.kind, declaredBytes: header.length, limitBytes: limit))
        if self.tables.connections[index].flags.contains(.isIdentified) {
            status.details.append(.setting("frame-bytes"))
        } else if self.tables.connections[index].phase == .open {
            status.message += "; this connection has shown no valid credentials, which allow longer frames"
            status.details.append(.setting("unidentified-frame-bytes"))
        }
        return status
    }

    /// Whether the kept part of a frame must be read again: its header was incomplete before, and so unchecked, or the
    /// frame is now complete.
    func isPartialDue(_ index: Int32, from before: Int) -> Bool {
        guard let partial = self.transport.partialInputs[index]?.bytes else { return true }
        if self.tables.connections[index].wire != .perch1 { return self.isHTTPPartialDue(index, partial, from: before) }
        guard before >= FrameHeader.byteCount else { return true }
        let length = partial[5..<9].reduce(0) { $0 << 8 | Int($1) }
        return partial.count >= FrameHeader.byteCount + length || length > self.frameBytesMax(of: index)
    }

    mutating func takePartial(_ index: Int32) -> PartialInput {
        self.tables.connections[index].flags.remove(.hasPartialInput)
        let partial = self.transport.partialInputs.removeValue(forKey: index) ?? PartialInput(bytes: [], since: 0)
        self.transport.partialBytes -= partial.bytes.count
        self.transport.release(partial.bytes.count, index, &self.tables)
        return partial
    }

    /// Keeps the part of a frame that began at `since`.
    mutating func keepPartial(_ index: Int32, _ rest: [UInt8], since: Int64) {
        guard self.tables.connections.isTaken(index), self.tables.connections[index].phase.takesFrames, !rest.isEmpty
        else { return }
        self.tables.connections[index].flags.insert(.hasPartialInput)
        self.transport.partialBytes += rest.count
        self.transport.partialInputs[index] = PartialInput(bytes: rest, since: since)
        guard self.makeRoom(forPartial: rest.count, index) else { return }
        self.startFrameTimer(index, since: since)
    }

    /// Counts bytes of a partial frame, or of an incomplete request. Beyond the limit, the oldest holder of the address with
    /// the most bytes gives way: its connection, or on HTTP its incomplete requests. False: this connection was closed.
    mutating func makeRoom(forPartial count: Int, _ index: Int32) -> Bool {
        guard self.tables.connections[index].flags.contains(.isIdentified) else { return self.charge(count, index) }
        self.transport.admission.partialFrames.add(count, to: index, origin: self.tables.connections[index].origin)
        let limit = self.tables.settings.partialFramesBytesMax
        while self.transport.admission.partialFrames.weight > limit {
            let victim = self.transport.admission.partialFrames.victim
            let held = self.transport.admission.partialFrames.weight
            let own = self.transport.admission.partialFrames.weight(ofOrigin: self.tables.connections[victim].origin)
            let status = WireStatus(
                .partialFramesLimit,
                "\(held) bytes of incomplete frames wait here, the limit is \(limit); this address holds most of them (\(own)), and this connection's is its oldest: send whole frames, or fewer at once",
                details: [.found(held), .limit(limit), .setting("partial-frames-bytes")])
            // A connection of HTTP carries the calls of many, so those that hold most end, and the others go on.
            if self.tables.connections[victim].http >= 0, self.refuseHeldRequests(of: victim, status) { continue }
            self.close(victim, status)
        }
        return self.tables.connections[index].phase.takesFrames
    }
}

extension Transport {
    /// Gives back bytes that were counted with `makeRoom`.
    mutating func release(_ count: Int, _ index: Int32, _ tables: inout Tables) {
        guard count > 0 else { return }
        if tables.connections[index].flags.contains(.isIdentified) {
            self.admission.partialFrames.release(count, of: index)
        } else if self.admission.handshakeBytes.contains(index) {
            self.admission.handshakeBytes.add(
                -count, to: index, origin: tables.connections[index].origin)
        }
    }
}

extension LoopCore {
    private func frameTimeoutMilliseconds(of index: Int32) -> Int64 {
        let limit = self.tables.settings.frameTimeoutMilliseconds
        return self.tables.connections[index].flags.contains(.isIdentified)
            ? limit : min(limit, self.tables.settings.helloTimeoutMilliseconds)
    }

    /// A frame, a header block or a request is incomplete since `since`. A connection has at most one such timer. It is set
    /// again for one that began later.
    mutating func startFrameTimer(_ index: Int32, since: Int64) {
        guard self.tables.connections[index].phase == .open,
            !self.tables.connections[index].flags.contains(.hasFrameTimer)
        else {
            return
        }
        self.tables.connections[index].flags.insert(.hasFrameTimer)
        self.tables.scheduleDeadline(
            .frame(index, self.tables.connections.generation(index)),
            at: since + self.frameTimeoutMilliseconds(of: index))
    }

    mutating func frameTimerFired(_ index: Int32) {
        self.tables.connections[index].flags.remove(.hasFrameTimer)
        guard self.tables.connections[index].phase == .open else { return }
        let limit = self.frameTimeoutMilliseconds(of: index)
        if let since = self.partialSince(index), since + limit <= self.tables.now.monotonic {
            let bytes =
                self.transport.partialInputs[index]?.bytes.count ?? self.transport.http.blocks[index]?.count ?? 0
            return self.close(
                index,
                WireStatus(
                    .frameTimeout,
                    "a frame is incomplete \(limit) ms after its first byte, the limit; \(bytes) bytes of it came: send shorter frames, or find out what delays them",
                    details: [
                        .found(self.tables.now.monotonic - since), .limit(limit),
                        .setting(self.frameTimeoutSetting(index)),
                    ]))
        }
        // The server paused reading, so the peer cannot send the rest.
        let isPaused = self.tables.connections[index].flags.contains(.isReadPaused)
        var oldest = isPaused ? self.tables.now.monotonic : self.endLateRequests(of: index, after: limit)
        guard self.tables.connections.isTaken(index), self.tables.connections[index].phase == .open else { return }
        if let since = self.partialSince(index) { oldest = min(oldest ?? since, since) }
        guard let oldest else { return }
        // Of thousands of requests not each fires the timer.
        let due = max(oldest + limit, self.tables.now.monotonic + max(1, limit / 16))
        self.tables.connections[index].flags.insert(.hasFrameTimer)
        self.tables.scheduleDeadline(.frame(index, self.tables.connections.generation(index)), at: due)
    }

    private func frameTimeoutSetting(_ index: Int32) -> String {
        self.tables.connections[index].flags.contains(.isIdentified) ? "frame-timeout" : "hello-timeout"
    }

    /// When the incomplete frame of a connection began; nil for none. While the server does not read, the peer cannot send
    /// the rest.
    private func partialSince(_ index: Int32) -> Int64? {
        var since = self.transport.partialInputs[index]?.since
        let http = self.tables.connections[index].http
        if http >= 0 {
            let slot = self.transport.http.connections[http]
            // What follows a request of HTTP/1 waits for its response.
            if slot.flags.contains(.isResponding) { return nil }
            if slot.continuing != 0 { since = min(since ?? slot.blockSince, slot.blockSince) }
        }
        guard let since else { return nil }
        return self.tables.connections[index].flags.contains(.isReadPaused) ? self.tables.now.monotonic : since
    }
}

// Incomplete requests of HTTP count as partial frames do.
extension LoopCore {
    /// Keeps a request whose head has come and whose body has not.
    mutating func keepRequest(_ stream: Int32, _ request: HTTPRequest) {
        self.transport.http.requests[stream] = request
        if self.holdRequest(stream, request.heldBytes) {
            self.startFrameTimer(self.transport.http.streams[stream].connection, since: request.since)
        }
    }

    /// Counts bytes of an incomplete request that is kept. False: the request was refused, or its connection is closed.
    mutating func holdRequest(_ stream: Int32, _ count: Int) -> Bool {
        let index = self.transport.http.streams[stream].connection
        let http = self.tables.connections[index].http
        self.transport.http.connections[http].heldBytes += Int32(count)
        guard self.makeRoom(forPartial: count, index), self.transport.http.requests[stream] != nil else { return false }
        let held = Int(self.transport.http.connections[http].heldBytes)
        let limit =
            self.tables.connections[index].flags.contains(.isIdentified) || self.isIdentifiedByConnection(index)
            ? Limits.httpRequestsBytesMax : Limits.unidentifiedHeldBytesMax
        guard held > limit else { return true }
        self.refuseHTTP(
            stream,
            WireStatus(
                .partialFramesLimit,
                "requests of \(held) bytes wait on this connection for their ends, the limit is \(limit); send whole requests",
                details: [.found(held), .limit(limit)]))
        return false
    }
}

extension Transport {
    /// Bytes of requests or header blocks of a connection are no longer held.
    mutating func letGo(_ count: Int, _ index: Int32, _ tables: inout Tables) {
        self.http.connections[tables.connections[index].http].heldBytes -= Int32(count)
        self.release(count, index, &tables)
    }
}

extension LoopCore {
    /// Ends the newest incomplete requests of a connection, until it holds half as much. False: it has none.
    private mutating func refuseHeldRequests(of index: Int32, _ status: WireStatus) -> Bool {
        let http = self.tables.connections[index].http
        let rest = self.transport.http.connections[http].heldBytes / 2
        var isAnyRefused = false
        var stream = self.transport.http.connections[http].firstStream
        while stream >= 0, self.transport.http.connections[http].heldBytes > rest {
            let next = self.transport.http.streams[stream].next
            if self.transport.http.requests[stream] != nil {
                self.refuseHTTP(stream, status)
                isAnyRefused = true
            }
            stream = next
        }
        return isAnyRefused
    }

    /// Refuses requests that stayed incomplete for too long. Returns when the oldest of the others began.
    private mutating func endLateRequests(of index: Int32, after limit: Int64) -> Int64? {
        let http = self.tables.connections[index].http
        guard http >= 0, !self.transport.http.requests.isEmpty else { return nil }
        var oldest: Int64?
        var stream = self.transport.http.connections[http].firstStream
        while stream >= 0 {
            let next = self.transport.http.streams[stream].next
            if let request = self.transport.http.requests[stream], request.isIncomplete {
                if request.since + limit <= self.tables.now.monotonic {
                    self.refuseHTTP(
                        stream,
                        WireStatus(
                            .frameTimeout,
                            "the request is incomplete after \(self.tables.now.monotonic - request.since) ms, the limit is \(limit)",
                            details: [.limit(limit), .setting(self.frameTimeoutSetting(index))]))
                } else {
                    oldest = min(oldest ?? request.since, request.since)
                }
            }
            stream = next
        }
        return oldest
    }
}
