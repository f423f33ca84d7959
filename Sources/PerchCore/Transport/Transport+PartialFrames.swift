import PerchBase
import PerchWire

/// The received part of an incomplete frame.
struct PartialInput {
    var bytes: [UInt8]
    /// When its first byte arrived, in monotonic milliseconds.
    var since: Int64
}

// Partial frames: kept until they are complete, within limits of size, time, and the sum over all connections.
extension Transport {
    /// The longest message that a connection may send now.
    func frameBytesMax(of index: Int32, _ tables: borrowing Tables) -> Int {
        if tables.connections[index].flags.contains(.isIdentified) { return tables.settings.frameBytesMax }
        return tables.connections[index].phase == .greeting
            ? Limits.helloBytesMax
            : min(tables.settings.unidentifiedFrameBytesMax, tables.settings.frameBytesMax)
    }

    /// The status for a frame that is too long.
    func tooLong(_ header: FrameHeader, _ index: Int32, _ tables: borrowing Tables) -> WireStatus {
        let limit = self.frameBytesMax(of: index, tables)
        var status = WireStatus(FrameError.tooLong(kind: header.kind, declaredBytes: header.length, limitBytes: limit))
        if tables.connections[index].flags.contains(.isIdentified) {
            status.details.append(.setting("frame-bytes"))
        } else if tables.connections[index].phase == .open {
            status.message += "; this connection has shown no valid credentials, which allow longer frames"
            status.details.append(.setting("unidentified-frame-bytes"))
        }
        return status
    }

    /// Whether the kept part of a frame must be read again: its header was incomplete before, and so unchecked, or the
    /// frame is now complete.
    func isPartialDue(_ index: Int32, from before: Int, _ tables: borrowing Tables) -> Bool {
        guard let partial = self.partialInputs[index]?.bytes else { return true }
        if tables.connections[index].wire != .perch1 {
            return self.isHTTPPartialDue(index, partial, from: before, tables)
        }
        guard before >= FrameHeader.byteCount else { return true }
        let length = partial[5..<9].reduce(0) { $0 << 8 | Int($1) }
        return partial.count >= FrameHeader.byteCount + length || length > self.frameBytesMax(of: index, tables)
    }

    mutating func takePartial(_ index: Int32, _ tables: inout Tables) -> PartialInput {
        tables.connections[index].flags.remove(.hasPartialInput)
        let partial = self.partialInputs.removeValue(forKey: index) ?? PartialInput(bytes: [], since: 0)
        self.partialBytes -= partial.bytes.count
        self.release(partial.bytes.count, index, &tables)
        return partial
    }

    /// Keeps the part of a frame that began at `since`.
    mutating func keepPartial(
        _ index: Int32, _ rest: [UInt8], since: Int64, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(index), tables.connections[index].phase.takesFrames, !rest.isEmpty
        else { return }
        tables.connections[index].flags.insert(.hasPartialInput)
        self.partialBytes += rest.count
        self.partialInputs[index] = PartialInput(bytes: rest, since: since)
        guard self.makeRoom(forPartial: rest.count, index, &tables, &views, &service) else { return }
        self.startFrameTimer(index, since: since, &tables)
    }

    /// Counts bytes of a partial frame, or of an incomplete request. Beyond the limit, the oldest holder of the address with
    /// the most bytes gives way: its connection, or on HTTP its incomplete requests. False: this connection was closed.
    mutating func makeRoom(
        forPartial count: Int, _ index: Int32, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) -> Bool {
        guard tables.connections[index].flags.contains(.isIdentified) else {
            return self.charge(count, index, &tables, &views, &service)
        }
        self.admission.partialFrames.add(count, to: index, origin: tables.connections[index].origin)
        let limit = tables.settings.partialFramesBytesMax
        while self.admission.partialFrames.weight > limit {
            let victim = self.admission.partialFrames.victim
            let held = self.admission.partialFrames.weight
            let own = self.admission.partialFrames.weight(ofOrigin: tables.connections[victim].origin)
            let status = WireStatus(
                .partialFramesLimit,
                "\(held) bytes of incomplete frames wait here, the limit is \(limit); this address holds most of them (\(own)), and this connection's is its oldest: send whole frames, or fewer at once",
                details: [.found(held), .limit(limit), .setting("partial-frames-bytes")])
            // A connection of HTTP carries the calls of many, so those that hold most end, and the others go on.
            if tables.connections[victim].http >= 0, self.refuseHeldRequests(of: victim, status, &tables, &service) {
                continue
            }
            self.close(victim, status, &tables, &views, &service)
        }
        return tables.connections[index].phase.takesFrames
    }

    /// Gives back bytes that were counted with `makeRoom`.
    mutating func release(_ count: Int, _ index: Int32, _ tables: inout Tables) {
        guard count > 0 else { return }
        if tables.connections[index].flags.contains(.isIdentified) {
            self.admission.partialFrames.release(count, of: index)
        } else if self.admission.handshakeBytes.contains(index) {
            self.admission.handshakeBytes.add(-count, to: index, origin: tables.connections[index].origin)
        }
    }

    private func frameTimeoutMilliseconds(of index: Int32, _ tables: borrowing Tables) -> Int64 {
        let limit = tables.settings.frameTimeoutMilliseconds
        return tables.connections[index].flags.contains(.isIdentified)
            ? limit : min(limit, tables.settings.helloTimeoutMilliseconds)
    }

    /// A frame, a header block or a request is incomplete since `since`. A connection has at most one such timer. It is set
    /// again for one that began later.
    mutating func startFrameTimer(_ index: Int32, since: Int64, _ tables: inout Tables) {
        guard tables.connections[index].phase == .open,
            !tables.connections[index].flags.contains(.hasFrameTimer)
        else {
            return
        }
        tables.connections[index].flags.insert(.hasFrameTimer)
        tables.scheduleDeadline(
            .frame(index, tables.connections.generation(index)),
            at: since + self.frameTimeoutMilliseconds(of: index, tables))
    }

    mutating func frameTimerFired(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        tables.connections[index].flags.remove(.hasFrameTimer)
        guard tables.connections[index].phase == .open else { return }
        let limit = self.frameTimeoutMilliseconds(of: index, tables)
        if let since = self.partialSince(index, tables), since + limit <= tables.now.monotonic {
            let bytes = self.partialInputs[index]?.bytes.count ?? self.http.blocks[index]?.count ?? 0
            return self.close(
                index,
                WireStatus(
                    .frameTimeout,
                    "a frame is incomplete \(limit) ms after its first byte, the limit; \(bytes) bytes of it came: send shorter frames, or find out what delays them",
                    details: [
                        .found(tables.now.monotonic - since), .limit(limit),
                        .setting(self.frameTimeoutSetting(index, tables)),
                    ]), &tables, &views, &service)
        }
        // The server paused reading, so the peer cannot send the rest.
        let isPaused = tables.connections[index].flags.contains(.isReadPaused)
        var oldest = isPaused ? tables.now.monotonic : self.endLateRequests(of: index, after: limit, &tables, &service)
        guard tables.connections.isTaken(index), tables.connections[index].phase == .open else { return }
        if let since = self.partialSince(index, tables) { oldest = min(oldest ?? since, since) }
        guard let oldest else { return }
        // Of thousands of requests not each fires the timer.
        let due = max(oldest + limit, tables.now.monotonic + max(1, limit / 16))
        tables.connections[index].flags.insert(.hasFrameTimer)
        tables.scheduleDeadline(.frame(index, tables.connections.generation(index)), at: due)
    }

    private func frameTimeoutSetting(_ index: Int32, _ tables: borrowing Tables) -> String {
        tables.connections[index].flags.contains(.isIdentified) ? "frame-timeout" : "hello-timeout"
    }

    /// When the incomplete frame of a connection began; nil for none. While the server does not read, the peer cannot send
    /// the rest.
    private func partialSince(_ index: Int32, _ tables: borrowing Tables) -> Int64? {
        var since = self.partialInputs[index]?.since
        let http = tables.connections[index].http
        if http >= 0 {
            let slot = self.http.connections[http]
            // What follows a request of HTTP/1 waits for its response.
            if slot.flags.contains(.isResponding) { return nil }
            if slot.continuing != 0 { since = min(since ?? slot.blockSince, slot.blockSince) }
        }
        guard let since else { return nil }
        return tables.connections[index].flags.contains(.isReadPaused) ? tables.now.monotonic : since
    }
}

// Incomplete requests of HTTP count as partial frames do.
extension Transport {
    /// Keeps a request whose head has come and whose body has not.
    mutating func keepRequest(
        _ stream: Int32, _ request: HTTPRequest, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        self.http.requests[stream] = request
        if self.holdRequest(stream, request.heldBytes, &tables, &views, &service) {
            self.startFrameTimer(self.http.streams[stream].connection, since: request.since, &tables)
        }
    }

    /// Counts bytes of an incomplete request that is kept. False: the request was refused, or its connection is closed.
    mutating func holdRequest(
        _ stream: Int32, _ count: Int, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) -> Bool {
        let index = self.http.streams[stream].connection
        let http = tables.connections[index].http
        self.http.connections[http].heldBytes += Int32(count)
        guard self.makeRoom(forPartial: count, index, &tables, &views, &service), self.http.requests[stream] != nil
        else { return false }
        let held = Int(self.http.connections[http].heldBytes)
        let limit =
            tables.connections[index].flags.contains(.isIdentified)
                || self.isIdentifiedByConnection(index, tables, service)
            ? Limits.httpRequestsBytesMax : Limits.unidentifiedHeldBytesMax
        guard held > limit else { return true }
        self.refuseHTTP(
            stream,
            WireStatus(
                .partialFramesLimit,
                "requests of \(held) bytes wait on this connection for their ends, the limit is \(limit); send whole requests",
                details: [.found(held), .limit(limit)]), &tables, &service)
        return false
    }

    /// Bytes of requests or header blocks of a connection are no longer held.
    mutating func letGo(_ count: Int, _ index: Int32, _ tables: inout Tables) {
        self.http.connections[tables.connections[index].http].heldBytes -= Int32(count)
        self.release(count, index, &tables)
    }

    /// Ends the newest incomplete requests of a connection, until it holds half as much. False: it has none.
    private mutating func refuseHeldRequests(
        of index: Int32, _ status: WireStatus, _ tables: inout Tables, _ service: inout some Gate
    ) -> Bool {
        let http = tables.connections[index].http
        let rest = self.http.connections[http].heldBytes / 2
        var isAnyRefused = false
        var stream = self.http.connections[http].firstStream
        while stream >= 0, self.http.connections[http].heldBytes > rest {
            let next = self.http.streams[stream].next
            if self.http.requests[stream] != nil {
                self.refuseHTTP(stream, status, &tables, &service)
                isAnyRefused = true
            }
            stream = next
        }
        return isAnyRefused
    }

    /// Refuses requests that stayed incomplete for too long. Returns when the oldest of the others began.
    private mutating func endLateRequests(
        of index: Int32, after limit: Int64, _ tables: inout Tables, _ service: inout some Gate
    ) -> Int64? {
        let http = tables.connections[index].http
        guard http >= 0, !self.http.requests.isEmpty else { return nil }
        var oldest: Int64?
        var stream = self.http.connections[http].firstStream
        while stream >= 0 {
            let next = self.http.streams[stream].next
            if let request = self.http.requests[stream], request.isIncomplete {
                if request.since + limit <= tables.now.monotonic {
                    self.refuseHTTP(
                        stream,
                        WireStatus(
                            .frameTimeout,
                            "the request is incomplete after \(tables.now.monotonic - request.since) ms, the limit is \(limit)",
                            details: [.limit(limit), .setting(self.frameTimeoutSetting(index, tables))]), &tables,
                        &service)
                } else {
                    oldest = min(oldest ?? request.since, request.since)
                }
            }
            stream = next
        }
        return oldest
    }
}
