import PerchBase
import PerchModel
import PerchWire

// Connections: frames in, and their permitted order.
extension LoopCore {
    /// Begins a tick. `now` never runs backwards, on either clock.
    package mutating func begin(_ now: Moment) {
        assert(now.monotonic >= self.tables.now.monotonic && now.wall >= self.tables.now.wall, "a clock ran backwards")
        self.tables.now = now
        self.tables.counters.turns += 1
        self.transport.work.begin()
        (self.service.tokens.first, self.service.tokens.later) = (0, 0)
    }

    /// Whether the driver should continue to read this connection in this tick.
    package func wantsInput(_ connection: Int32) -> Bool {
        self.tables.connections.isTaken(connection)
            && !self.tables.connections[connection].flags.contains(.isReadPaused)
            && !self.transport.work.waits(connection)
    }

    package func socket(of connection: Int32) -> Int32? {
        self.tables.connections.isTaken(connection) ? self.tables.connections[connection].socket : nil
    }

    package var connectionCount: Int { Int(self.tables.connections.count) }

    /// Receives bytes. Whole frames are handled; the rest is kept.
    ///
    /// Returns the number of bytes handled. That is all of them, unless so many requests wait for the store that it
    /// should be asked first. At least one frame is handled each time.
    @discardableResult
    package mutating func received(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int = .max
    ) -> Int {
        guard self.tables.connections.isTaken(index) else { return bytes.byteCount }
        self.tables.connections[index].flags.insert(.hasSpoken)
        self.transport.work.read(index)
        let taken = self.takeInput(index, bytes, untilAsks: asksMax)
        self.tables.counters.bytesIn += UInt64(taken)
        return taken
    }

    private mutating func takeInput(_ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int) -> Int {
        let count = bytes.byteCount
        guard self.tables.connections[index].phase.takesFrames else {
            if !self.transport.admission.refused.isEmpty { self.sayRefusal(index, bytes) }
            return count
        }
        guard self.tables.connections[index].flags.contains(.hasPartialInput) else {
            let taken = self.takeFrames(index, bytes, untilAsks: asksMax)
            if taken.isStopped { return taken.bytes }
            if taken.bytes < count {
                let rest = bytes.withUnsafeBytes { Array($0[taken.bytes...]) }
                self.keepPartial(index, rest, since: self.tables.now.monotonic)
            }
            return count
        }
        // In place, so that a frame that arrives byte by byte costs no more than its bytes.
        let before = self.transport.partialInputs[index]?.bytes.count ?? 0
        self.transport.partialBytes += count
        bytes.withUnsafeBytes { self.transport.partialInputs[index]?.bytes.append(contentsOf: $0) }
        guard self.makeRoom(forPartial: count, index), self.isPartialDue(index, from: before) else { return count }
        var partial = self.takePartial(index)
        let taken = self.takeFrames(index, partial.bytes.span.bytes, untilAsks: .max).bytes
        if taken < partial.bytes.count {
            partial.bytes.removeFirst(taken)
            // The rest is a later frame, unless no frame was complete.
            self.keepPartial(index, partial.bytes, since: taken > 0 ? self.tables.now.monotonic : partial.since)
        }
        return count
    }

    /// Handles whole frames from the front of `bytes`. Returns their bytes, and whether it stopped for the store.
    mutating func takeFrames(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int
    ) -> (bytes: Int, isStopped: Bool) {
        if self.tables.connections[index].wire != .perch1 { return self.takeOther(index, bytes, untilAsks: asksMax) }
        var offset = 0
        while self.tables.connections.isTaken(index), self.tables.connections[index].phase.takesFrames,
            !self.tables.connections[index].flags.contains(.isReadPaused)
        {
            if offset < bytes.byteCount, self.defersInput(index, isFirst: offset == 0) { return (offset, false) }
            let header: FrameHeader
            do throws(FrameError) {
                // HELLO has a smaller limit, checked after the order of frames.
                guard let read = try FrameHeader.read(from: bytes, at: offset, lengthLimit: .max) else {
                    return (offset, false)
                }
                header = read
            } catch {
                self.close(index, WireStatus(error))
                return (bytes.byteCount, false)
            }
            if let status = self.judge(header, index) {
                self.close(index, status)
                return (bytes.byteCount, false)
            }
            let end = offset + FrameHeader.byteCount + header.length
            guard end <= bytes.byteCount else { return (offset, false) }
            let body = bytes.extracting(offset + FrameHeader.byteCount..<end)
            self.tables.counters.framesIn += 1
            offset = end
            self.take(header, body, index)
            if self.tables.asks.count >= asksMax, offset < bytes.byteCount { return (offset, true) }
        }
        let isOver = !self.tables.connections.isTaken(index) || !self.tables.connections[index].phase.takesFrames
        return (isOver ? bytes.byteCount : offset, false)
    }

    /// Checks a frame by its header: kind, direction, stream, compression, order, length, number.
    private func judge(_ header: FrameHeader, _ index: Int32) -> WireStatus? {
        let isGreeting = self.tables.connections[index].phase == .greeting
        switch header.kind {
        case .welcome, .message, .status, .beat, .drain:
            return WireStatus(
                .kindNotForClients,
                "\(header.kind.named) is sent by servers only; a client sends HELLO, CALL, CANCEL, PING and PONG",
                details: [.found(header.kind.rawValue)])
        case .hello, .ping, .pong:
            if header.stream != 0 {
                return WireStatus(
                    .streamNotZero, "\(header.kind.named) belongs to stream 0, it came on \(header.stream)",
                    details: [.found(header.stream), StatusDetail(key: "expected", value: "0")])
            }
        case .call, .cancel:
            if header.stream == 0 {
                return WireStatus(
                    .streamZero, "\(header.kind.named) needs a stream number from 1 to 16777215, it came on 0",
                    details: [.found(0), StatusDetail(key: "expected", value: "1 to \(FrameHeader.streamMax)")])
            }
        }
        if header.isCompressed, header.kind != .call || isGreeting {
            return WireStatus(
                .compressionNotOffered,
                isGreeting
                    ? "nothing is compressed before WELCOME has said what the server takes; send \(header.kind.named) as it is"
                    : "\(header.kind.named) is never compressed; send it as it is",
                details: [.found(header.kind.rawValue)])
        }
        if isGreeting, header.kind != .hello {
            return WireStatus(
                .helloExpected, "\(header.kind.named) came before HELLO; greet first",
                details: [.found(header.kind.rawValue)])
        }
        if !isGreeting, header.kind == .hello {
            return WireStatus(.helloRepeated, "HELLO came twice; once a connection is enough")
        }
        if header.length > self.frameBytesMax(of: index) { return self.tooLong(header, index) }
        switch header.kind {
        case .call:
            guard self.transport.call(index, header.stream, self.tables) != nil else { return nil }
            return WireStatus(
                .streamLive,
                "stream \(header.stream) has a call that has not ended; take another number until its STATUS",
                details: [.found(header.stream)])
        case .ping, .pong:
            guard header.length != 8 else { return nil }
            return WireStatus(
                .pingLength, "PING and PONG carry 8 bytes, this one carries \(header.length)",
                details: [.found(header.length), .limit(8)])
        case .cancel:
            guard header.length != 0 else { return nil }
            return WireStatus(
                .cancelNotEmpty, "CANCEL is empty, this one carries \(header.length) bytes",
                details: [.found(header.length), .limit(0)])
        default:
            return nil
        }
    }

    private mutating func take(_ header: FrameHeader, _ body: borrowing RawSpan, _ index: Int32) {
        switch header.kind {
        case .hello:
            self.greet(index, body)
        case .call:
            self.openCall(header, body, index)
        case .cancel:
            // Not live: a legitimate race with the call's own end.
            guard let call = self.transport.call(index, header.stream, self.tables), !self.tables.calls[call].isEnding
            else { return }
            self.service.end(
                call, WireStatus(.cancelled, "the client cancelled"), &self.tables, &self.views, &self.transport)
        case .ping:
            var pong = [UInt8](repeating: 0, count: 13)
            pong[4] = 8
            body.withUnsafeBytes { pong.replaceSubrange(5..., with: $0) }
            let payload = self.tables.payloads.insert(pong)
            self.transport.owe(index, .pong, stream: 0, payload, &self.tables)
        default:
            break
        }
    }

    // MARK: Ending

    /// Every connection gets it when the server stops. `RetryInfo` gets the middle of the times that DRAIN has.
    var shuttingDown: WireStatus {
        let pause = self.pause(for: .shuttingDown)
        return WireStatus(
            .shuttingDown, "the server is stopping; connect again, with your resume tokens",
            details: [
                StatusDetail(key: "retry_after_ms", value: "\(UInt64(pause.after) + UInt64(pause.jitter) / 2)")
            ])
    }

    /// When clients may return after a DRAIN with this reason.
    private func pause(
        for reason: ErrorReason?, endsAcceptedCredentials: Bool = false
    ) -> (after: UInt32, jitter: UInt32) {
        guard let reason else { return (0, Limits.drainShortJitterMilliseconds) }
        guard reason != .shuttingDown, reason != .storeUnreachable else {
            return (self.tables.settings.returnAfterMilliseconds, Limits.drainJitterMilliseconds)
        }
        return reason.drainPause(endsAcceptedCredentials: endsAcceptedCredentials)
    }

    /// Closes with a reason that the peer can read: finishes the current frame, writes DRAIN, shuts down the writing
    /// side, and reads input for a while.
    ///
    /// `wait`: milliseconds after which the client may return, if the reason has no default.
    mutating func close(_ index: Int32, _ status: WireStatus, reconnectAfterMilliseconds wait: UInt32? = nil) {
        guard self.tables.connections[index].phase.takesFrames else { return }
        if let reason = status.reason { self.tables.counters.refusalsByReason[reason, default: 0] += 1 }
        let wasOpen = self.tables.connections[index].phase == .open
        let goodbye = self.httpFarewell(index, status)
        self.leaveOpenPhase(index, to: .closing)
        self.dropOwed(index)
        if let goodbye {
            let payload = self.tables.payloads.insert(goodbye)
            self.transport.owe(index, .control, stream: 0, payload, &self.tables)
        } else {
            self.oweDrain(index, status, endsAcceptedCredentials: wasOpen, wait: wait)
        }
        self.tables.connections[index].flags.insert(.writesReason)
        self.linger(index)
    }

    /// The last frame of a perch/1 connection.
    mutating func oweDrain(_ index: Int32, _ status: WireStatus, endsAcceptedCredentials: Bool, wait: UInt32?) {
        var pause = self.pause(for: status.reason, endsAcceptedCredentials: endsAcceptedCredentials)
        if let wait { pause = (wait, max(Limits.drainShortJitterMilliseconds, wait)) }
        let drain = status.drain(
            isFinal: true, reconnectAfterMilliseconds: pause.after, jitterMilliseconds: pause.jitter)
        let payload = self.tables.encoded { codec throws(MessageError) in try codec.encode(drain) }
        self.transport.owe(index, .farewell, stream: 0, payload, &self.tables)
    }

    /// Bounds the time and the number of closing connections.
    mutating func linger(_ index: Int32) {
        self.tables.scheduleDeadline(
            .dying(index, self.tables.connections.generation(index)),
            at: self.tables.now.monotonic + self.tables.settings.lingerMilliseconds)
        self.transport.admission.closing.add(1, to: index, origin: self.tables.connections[index].origin)
        if self.transport.admission.closing.count > self.tables.settings.dyingConnectionsMax {
            self.tables.counters.dyingCutOff += 1
            let victim = self.transport.admission.closing.victim
            self.remove(victim)
            guard victim != index else { return }
        }
        self.tables.connections[index].flags.remove(.isReadPaused)
        self.transport.listen(index, &self.tables)
    }

    /// Ends every call of a connection and drops its output.
    mutating func leaveOpenPhase(_ index: Int32, to phase: Connection.Phase) {
        self.tables.connections[index].phase = phase
        self.service.letGoIdentity(of: index, &self.tables)
        // The output list is dropped as a whole, before its members.
        while self.tables.connections[index].firstDirty >= 0 {
            let call = self.tables.connections[index].firstDirty
            self.tables.connections[index].firstDirty = self.tables.calls[call].nextDirty
            self.tables.calls[call].flags.remove(.isListed)
        }
        self.tables.connections[index].lastDirty = -1
        while self.tables.connections[index].firstCall >= 0 {
            self.service.removeCall(
                self.tables.connections[index].firstCall, &self.tables, &self.views, &self.transport)
        }
        if self.tables.connections[index].http >= 0 { self.leaveHTTP(index) }
        self.tables.connections[index].flags.subtract([.wantsBeat, .hasOpenGroup])
        _ = self.transport.beats.remove(index)
        if self.tables.connections[index].flags.contains(.hasPartialInput) { _ = self.takePartial(index) }
        self.transport.admission.handshakes.remove(index)
        self.transport.admission.handshakeBytes.remove(index)
        self.transport.work.forget(index)
    }

    /// The peer will send nothing more.
    package mutating func peerEnded(_ index: Int32) {
        guard self.tables.connections.isTaken(index) else { return }
        guard
            !self.tables.connections[index].flags.contains(.peerHasEnded)
                || !self.tables.connections[index].phase.takesFrames
        else {
            return
        }
        self.tables.connections[index].flags.insert(.peerHasEnded)
        switch self.tables.connections[index].phase {
        case .open where self.tables.connections[index].wire == .http1:
            self.http1PeerEnded(index)
        case .greeting, .open:
            // A closing connection was kept only for its peer, which has now closed too.
            self.remove(index)
        case .closing:
            if self.transport.admission.refused[index] != nil { return self.remove(index) }
            self.transport.listen(index, &self.tables)
        case .dying:
            self.remove(index)
        }
    }

    /// The connection is gone: reset, or refused by the kernel.
    package mutating func broken(_ index: Int32) {
        guard self.tables.connections.isTaken(index) else { return }
        self.remove(index)
    }

    mutating func remove(_ index: Int32) {
        if self.tables.connections[index].phase.takesFrames { self.leaveOpenPhase(index, to: .dying) }
        self.dropOwed(index)
        if self.tables.connections[index].unfinished >= 0 { self.dropUnfinished(index) }
        self.transport.admission.closing.remove(index)
        if !self.transport.admission.refused.isEmpty { self.transport.admission.refused[index] = nil }
        self.transport.clientIDs[index] = nil
        self.transport.certificates[index] = nil
        if !self.transport.negotiated.isEmpty { self.transport.negotiated[index] = nil }
        self.service.credentialFailures[index] = nil
        let origin = self.tables.connections[index].origin
        if self.tables.connections[index].flags.contains(.countsForAddress) {
            self.tables.quotas.leave(
                self.transport.admission.origins[origin], nowMilliseconds: self.tables.now.monotonic)
        }
        self.transport.admission.origins.release(origin)
        _ = self.transport.stalls.remove(index)
        self.tables.counters.connectionsClosed += 1
        self.tables.noteClosing(index)
        self.tables.effects.append(.close(connection: index, socket: self.tables.connections[index].socket))
        self.tables.connections.remove(index)
        self.reportDrained()
    }
}

extension Transport {
    /// The events that the driver must wait for.
    func listenEffect(_ index: Int32, _ tables: borrowing Tables) -> Effect {
        let connection = tables.connections[index]
        let reading = !connection.flags.contains(.isReadPaused) && !connection.flags.contains(.peerHasEnded)
        return .listen(
            connection: index, socket: connection.socket, reading: reading,
            writing: connection.flags.contains(.isFull))
    }

    mutating func listen(_ index: Int32, _ tables: inout Tables) {
        tables.effects.append(self.listenEffect(index, tables))
    }

    /// Adds output that is not state: it stays pending until it is sent.
    mutating func owe(
        _ index: Int32, _ role: Owed.Role, stream: UInt32, _ payload: PayloadHandle, endsCall: Int32 = -1,
        _ tables: inout Tables
    ) {
        let slot = self.owed.insert(Owed(role: role, stream: stream, payload: payload, endsCall: endsCall))
        let last = tables.connections[index].lastOwed
        if last >= 0 { self.owed[last].next = slot } else { tables.connections[index].firstOwed = slot }
        tables.connections[index].lastOwed = slot
        tables.connections[index].owedBytes += Int32(tables.payloads[payload].count + 4)
        if Int(tables.connections[index].owedBytes) > tables.settings.owedBytesMax,
            tables.connections[index].phase == .open, !tables.connections[index].flags.contains(.isReadPaused)
        {
            tables.connections[index].flags.insert(.isReadPaused)
            tables.counters.readPauses += 1
            self.listen(index, &tables)
        }
        self.list(index, &tables)
    }
}

extension LoopCore {
    mutating func dropOwed(_ index: Int32) {
        var slot = self.tables.connections[index].firstOwed
        while slot >= 0 {
            let owed = self.transport.owed[slot]
            self.tables.payloads.release(owed.payload)
            self.transport.owed.remove(slot)
            slot = owed.next
        }
        self.tables.connections[index].firstOwed = -1
        self.tables.connections[index].lastOwed = -1
        self.tables.connections[index].owedBytes = 0
    }
}

extension Transport {
    /// Adds a connection to the list of those with output.
    @inline(__always)
    mutating func list(_ index: Int32, _ tables: inout Tables) {
        guard tables.connections[index].flags.isDisjoint(with: [.isListed, .isFull]) else { return }
        tables.connections[index].flags.insert(.isListed)
        self.listedConnections.append(index)
    }
}

extension LoopCore {
    // MARK: Draining

    /// Begins the drain: every connection gets DRAIN, every call its STATUS, and then every connection closes.
    package mutating func beginDrain() {
        guard !self.transport.draining else { return }
        self.transport.draining = true
        self.transport.drainDeadline = self.tables.now.monotonic + self.tables.settings.drainMilliseconds
        let status = self.shuttingDown
        var index: Int32 = 0
        while index < self.tables.connections.extent {
            if self.tables.connections.isTaken(index), self.tables.connections[index].phase.takesFrames {
                self.drain(index, status)
            }
            index += 1
        }
        self.reportDrained()
    }

    /// Closes every connection, because this node has lost its store and others have not. Whoever comes is still let in: an operator,
    /// and a client that has only this address.
    package mutating func sendAway() {
        let status = WireStatus(
            .storeUnreachable,
            "this server has been cut off from its store for \(Limits.nodeGoneMilliseconds / 1_000) s; go on at another one, with your resume tokens"
        )
        var index: Int32 = 0
        while index < self.tables.connections.extent {
            if self.tables.connections.isTaken(index), self.tables.connections[index].phase == .open {
                if self.tables.connections[index].http >= 0 {
                    self.drainHTTP(index, status)
                } else {
                    self.close(index, status)
                }
            }
            index += 1
        }
    }

    private mutating func drain(_ index: Int32, _ status: WireStatus) {
        self.tables.counters.connectionsDrained += 1
        if self.tables.connections[index].http >= 0 { return self.drainHTTP(index, status) }
        guard self.tables.connections[index].phase == .open, self.tables.connections[index].callCount > 0 else {
            self.close(index, status)
            return
        }
        // The final DRAIN, which holds, has the same times.
        let pause = self.pause(for: .shuttingDown)
        let notice = status.drain(
            isFinal: false, reconnectAfterMilliseconds: pause.after, jitterMilliseconds: pause.jitter)
        let noticePayload = self.tables.encoded { codec throws(MessageError) in try codec.encode(notice) }
        self.transport.owe(index, .farewell, stream: 0, noticePayload, &self.tables)
        var call = self.tables.connections[index].firstCall
        while call >= 0 {
            let next = self.tables.calls[call].nextInConnection
            // A unary call that waits for the store still gets its answer, which ends it. A call that waits for a
            // position ends now, because the position may never be reached.
            if self.service.isUnanswered(call, self.tables) {
                self.service.end(call, status, &self.tables, &self.views, &self.transport)
            }
            call = next
        }
        self.tables.scheduleDeadline(
            .drained(index, self.tables.connections.generation(index)), at: self.transport.drainDeadline)
        self.closeIfDrained(index)
    }

    /// Closes a draining connection after its last call has ended.
    mutating func closeIfDrained(_ index: Int32) {
        guard self.transport.draining, self.tables.connections[index].phase == .open,
            self.tables.connections[index].callCount == 0,
            self.tables.connections[index].firstOwed < 0
        else { return }
        self.close(index, self.shuttingDown)
    }

    mutating func reportDrained() {
        if self.transport.draining, self.tables.connections.count == 0 { self.tables.effects.append(.drained) }
    }
}

extension Connection.Phase {
    /// Before the end has begun.
    var takesFrames: Bool { self == .greeting || self == .open }
}
