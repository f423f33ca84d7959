import PerchBase
import PerchModel
import PerchWire

// Connections: frames in, and their permitted order.
extension Transport {
    /// Whether the driver should continue to read this connection in this tick.
    func wantsInput(_ connection: Int32, _ tables: borrowing Tables) -> Bool {
        tables.connections.isTaken(connection)
            && !tables.connections[connection].flags.contains(.isReadPaused)
            && !self.work.waits(connection)
    }

    func socket(of connection: Int32, _ tables: borrowing Tables) -> Int32? {
        tables.connections.isTaken(connection) ? tables.connections[connection].socket : nil
    }

    func connectionCount(_ tables: borrowing Tables) -> Int { Int(tables.connections.count) }

    /// Receives bytes. Whole frames are handled; the rest is kept.
    ///
    /// Returns the number of bytes handled. That is all of them, unless so many requests wait for the store that it
    /// should be asked first. At least one frame is handled each time.
    @discardableResult
    mutating func received(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int = .max, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) -> Int {
        guard tables.connections.isTaken(index) else { return bytes.byteCount }
        tables.connections[index].flags.insert(.hasSpoken)
        self.work.read(index)
        let taken = self.takeInput(index, bytes, untilAsks: asksMax, &tables, &views, &service)
        tables.counters.bytesIn += UInt64(taken)
        return taken
    }

    private mutating func takeInput(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) -> Int {
        let count = bytes.byteCount
        guard tables.connections[index].phase.takesFrames else {
            if !self.admission.refused.isEmpty { self.sayRefusal(index, bytes, &tables) }
            return count
        }
        guard tables.connections[index].flags.contains(.hasPartialInput) else {
            let taken = self.takeFrames(index, bytes, untilAsks: asksMax, &tables, &views, &service)
            if taken.isStopped { return taken.bytes }
            if taken.bytes < count {
                let rest = bytes.withUnsafeBytes { Array($0[taken.bytes...]) }
                self.keepPartial(index, rest, since: tables.now.monotonic, &tables, &views, &service)
            }
            return count
        }
        // In place, so that a frame that arrives byte by byte costs no more than its bytes.
        let before = self.partialInputs[index]?.bytes.count ?? 0
        self.partialBytes += count
        bytes.withUnsafeBytes { self.partialInputs[index]?.bytes.append(contentsOf: $0) }
        guard self.makeRoom(forPartial: count, index, &tables, &views, &service),
            self.isPartialDue(index, from: before, tables)
        else { return count }
        var partial = self.takePartial(index, &tables)
        let taken = self.takeFrames(index, partial.bytes.span.bytes, untilAsks: .max, &tables, &views, &service).bytes
        if taken < partial.bytes.count {
            partial.bytes.removeFirst(taken)
            // The rest is a later frame, unless no frame was complete.
            self.keepPartial(
                index, partial.bytes, since: taken > 0 ? tables.now.monotonic : partial.since, &tables, &views, &service
            )
        }
        return count
    }

    /// Handles whole frames from the front of `bytes`. Returns their bytes, and whether it stopped for the store.
    mutating func takeFrames(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) -> (bytes: Int, isStopped: Bool) {
        if tables.connections[index].wire != .perch1 {
            return self.takeOtherProtocol(index, bytes, untilAsks: asksMax, &tables, &views, &service)
        }
        var offset = 0
        while tables.connections.isTaken(index), tables.connections[index].phase.takesFrames,
            !tables.connections[index].flags.contains(.isReadPaused)
        {
            if offset < bytes.byteCount, self.defersInput(index, isFirst: offset == 0, &tables, &service) {
                return (offset, false)
            }
            let header: FrameHeader
            do throws(FrameError) {
                // HELLO has a smaller limit, checked after the order of frames.
                guard let read = try FrameHeader.read(from: bytes, at: offset, lengthLimit: .max) else {
                    return (offset, false)
                }
                header = read
            } catch {
                self.close(index, WireStatus(error), &tables, &views, &service)
                return (bytes.byteCount, false)
            }
            if let status = self.judge(header, index, tables) {
                self.close(index, status, &tables, &views, &service)
                return (bytes.byteCount, false)
            }
            let end = offset + FrameHeader.byteCount + header.length
            guard end <= bytes.byteCount else { return (offset, false) }
            let body = bytes.extracting(offset + FrameHeader.byteCount..<end)
            tables.counters.framesIn += 1
            offset = end
            self.take(header, body, index, &tables, &views, &service)
            if tables.asks.count >= asksMax, offset < bytes.byteCount { return (offset, true) }
        }
        let isOver = !tables.connections.isTaken(index) || !tables.connections[index].phase.takesFrames
        return (isOver ? bytes.byteCount : offset, false)
    }

    /// Checks a frame by its header: kind, direction, stream, compression, order, length, number.
    private func judge(_ header: FrameHeader, _ index: Int32, _ tables: borrowing Tables) -> WireStatus? {
        let isGreeting = tables.connections[index].phase == .greeting
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
        if header.length > self.frameBytesMax(of: index, tables) { return self.tooLong(header, index, tables) }
        switch header.kind {
        case .call:
            guard self.call(index, header.stream, tables) != nil else { return nil }
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

    private mutating func take(
        _ header: FrameHeader, _ body: borrowing RawSpan, _ index: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        switch header.kind {
        case .hello:
            self.greet(index, body, &tables, &views, &service)
        case .call:
            self.openCall(header, body, index, &tables, &views, &service)
        case .cancel:
            // Not live: a legitimate race with the call's own end.
            guard let call = self.call(index, header.stream, tables), !tables.calls[call].isEnding else { return }
            service.end(call, WireStatus(.cancelled, "the client cancelled"), &tables, &views, &self)
        case .ping:
            var pong = [UInt8](repeating: 0, count: 13)
            pong[4] = 8
            body.withUnsafeBytes { pong.replaceSubrange(5..., with: $0) }
            let payload = tables.payloads.insert(pong)
            self.keepUnsent(index, .pong, stream: 0, payload, &tables)
        default:
            break
        }
    }

    // MARK: Ending

    /// Every connection gets it when the server stops. `RetryInfo` gets the middle of the times that DRAIN has.
    func shuttingDown(_ tables: borrowing Tables) -> WireStatus {
        let pause = self.pause(for: .shuttingDown, tables)
        return WireStatus(
            .shuttingDown, "the server is stopping; connect again, with your resume tokens",
            details: [
                StatusDetail(key: "retry_after_ms", value: "\(UInt64(pause.after) + UInt64(pause.jitter) / 2)")
            ])
    }

    /// When clients may return after a DRAIN with this reason.
    private func pause(
        for reason: ErrorReason?, endsAcceptedCredentials: Bool = false, _ tables: borrowing Tables
    ) -> (after: UInt32, jitter: UInt32) {
        guard let reason else { return (0, Limits.drainShortJitterMilliseconds) }
        guard reason != .shuttingDown, reason != .storeUnreachable else {
            return (tables.settings.returnAfterMilliseconds, Limits.drainJitterMilliseconds)
        }
        return reason.drainPause(endsAcceptedCredentials: endsAcceptedCredentials)
    }

    /// Closes with a reason that the peer can read: finishes the current frame, writes DRAIN, shuts down the writing
    /// side, and reads input for a while.
    ///
    /// `wait`: milliseconds after which the client may return, if the reason has no default.
    mutating func close(
        _ index: Int32, _ status: WireStatus, reconnectAfterMilliseconds wait: UInt32? = nil, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections[index].phase.takesFrames else { return }
        if let reason = status.reason { tables.counters.refusalsByReason[reason, default: 0] += 1 }
        let wasOpen = tables.connections[index].phase == .open
        let goodbye = self.httpFarewell(index, status, &tables)
        self.leaveOpenPhase(index, to: .closing, &tables, &views, &service)
        self.dropUnsent(index, &tables)
        if let goodbye {
            let payload = tables.payloads.insert(goodbye)
            self.keepUnsent(index, .control, stream: 0, payload, &tables)
        } else {
            self.keepUnsentDrain(index, status, endsAcceptedCredentials: wasOpen, wait: wait, &tables)
        }
        tables.connections[index].flags.insert(.writesReason)
        self.linger(index, &tables, &views, &service)
    }

    /// The last frame of a perch/1 connection.
    mutating func keepUnsentDrain(
        _ index: Int32, _ status: WireStatus, endsAcceptedCredentials: Bool, wait: UInt32?, _ tables: inout Tables
    ) {
        var pause = self.pause(for: status.reason, endsAcceptedCredentials: endsAcceptedCredentials, tables)
        if let wait { pause = (wait, max(Limits.drainShortJitterMilliseconds, wait)) }
        let drain = status.drain(
            isFinal: true, reconnectAfterMilliseconds: pause.after, jitterMilliseconds: pause.jitter)
        let payload = tables.encoded { codec throws(MessageError) in try codec.encode(drain) }
        self.keepUnsent(index, .farewell, stream: 0, payload, &tables)
    }

    /// Bounds the time and the number of closing connections.
    mutating func linger(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        tables.scheduleDeadline(
            .dying(index, tables.connections.generation(index)),
            at: tables.now.monotonic + tables.settings.lingerMilliseconds)
        self.admission.closing.add(1, to: index, origin: tables.connections[index].origin)
        if self.admission.closing.count > tables.settings.dyingConnectionsMax {
            tables.counters.dyingCutOff += 1
            let victim = self.admission.closing.victim
            self.remove(victim, &tables, &views, &service)
            guard victim != index else { return }
        }
        tables.connections[index].flags.remove(.isReadPaused)
        self.listen(index, &tables)
    }

    /// Ends every call of a connection and drops its output.
    mutating func leaveOpenPhase(
        _ index: Int32, to phase: Connection.Phase, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        tables.connections[index].phase = phase
        service.letGoIdentity(of: index, &tables)
        // The output list is dropped as a whole, before its members.
        while tables.connections[index].firstDirty >= 0 {
            let call = tables.connections[index].firstDirty
            tables.connections[index].firstDirty = tables.calls[call].nextDirty
            tables.calls[call].flags.remove(.isListed)
        }
        tables.connections[index].lastDirty = -1
        while tables.connections[index].firstCall >= 0 {
            service.removeCall(tables.connections[index].firstCall, &tables, &views, &self)
        }
        if tables.connections[index].http >= 0 { self.leaveHTTP(index, &tables) }
        tables.connections[index].flags.subtract([.wantsBeat, .hasOpenGroup])
        _ = self.beats.remove(index)
        if tables.connections[index].flags.contains(.hasPartialInput) { _ = self.takePartial(index, &tables) }
        self.admission.handshakes.remove(index)
        self.admission.handshakeBytes.remove(index)
        self.work.forget(index)
    }

    /// The peer will send nothing more.
    mutating func peerEnded(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(index) else { return }
        guard
            !tables.connections[index].flags.contains(.peerHasEnded)
                || !tables.connections[index].phase.takesFrames
        else {
            return
        }
        tables.connections[index].flags.insert(.peerHasEnded)
        switch tables.connections[index].phase {
        case .open where tables.connections[index].wire == .http1:
            self.http1PeerEnded(index, &tables, &views, &service)
        case .greeting, .open:
            // A closing connection was kept only for its peer, which has now closed too.
            self.remove(index, &tables, &views, &service)
        case .closing:
            if self.admission.refused[index] != nil { return self.remove(index, &tables, &views, &service) }
            self.listen(index, &tables)
        case .dying:
            self.remove(index, &tables, &views, &service)
        }
    }

    /// The connection is gone: reset, or refused by the kernel.
    mutating func broken(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(index) else { return }
        self.remove(index, &tables, &views, &service)
    }

    mutating func remove(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        if tables.connections[index].phase.takesFrames {
            self.leaveOpenPhase(index, to: .dying, &tables, &views, &service)
        }
        self.dropUnsent(index, &tables)
        if tables.connections[index].unfinished >= 0 { self.dropUnfinished(index, &tables) }
        self.admission.closing.remove(index)
        if !self.admission.refused.isEmpty { self.admission.refused[index] = nil }
        self.clientIDs[index] = nil
        self.certificates[index] = nil
        if !self.negotiated.isEmpty { self.negotiated[index] = nil }
        service.forget(index)
        let origin = tables.connections[index].origin
        if tables.connections[index].flags.contains(.countsForAddress) {
            tables.quotas.leave(self.admission.origins[origin], nowMilliseconds: tables.now.monotonic)
        }
        self.admission.origins.release(origin)
        _ = self.stalls.remove(index)
        tables.counters.connectionsClosed += 1
        tables.noteClosing(index)
        tables.effects.append(.close(connection: index, socket: tables.connections[index].socket))
        tables.connections.remove(index)
        self.reportDrained(&tables)
    }

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
    mutating func keepUnsent(
        _ index: Int32, _ role: Unsent.Role, stream: UInt32, _ payload: PayloadHandle, endsCall: Int32 = -1,
        _ tables: inout Tables
    ) {
        let slot = self.unsent.insert(Unsent(role: role, stream: stream, payload: payload, endsCall: endsCall))
        let last = tables.connections[index].lastUnsent
        if last >= 0 { self.unsent[last].next = slot } else { tables.connections[index].firstUnsent = slot }
        tables.connections[index].lastUnsent = slot
        tables.connections[index].unsentBytes += Int32(tables.payloads[payload].count + 4)
        if Int(tables.connections[index].unsentBytes) > tables.settings.unsentBytesMax,
            tables.connections[index].phase == .open, !tables.connections[index].flags.contains(.isReadPaused)
        {
            tables.connections[index].flags.insert(.isReadPaused)
            tables.counters.readPauses += 1
            self.listen(index, &tables)
        }
        self.list(index, &tables)
    }

    mutating func dropUnsent(_ index: Int32, _ tables: inout Tables) {
        var slot = tables.connections[index].firstUnsent
        while slot >= 0 {
            let unsent = self.unsent[slot]
            tables.payloads.release(unsent.payload)
            self.unsent.remove(slot)
            slot = unsent.next
        }
        tables.connections[index].firstUnsent = -1
        tables.connections[index].lastUnsent = -1
        tables.connections[index].unsentBytes = 0
    }

    /// Adds a connection to the list of those with output.
    @inline(__always)
    mutating func list(_ index: Int32, _ tables: inout Tables) {
        guard tables.connections[index].flags.isDisjoint(with: [.isListed, .isFull]) else { return }
        tables.connections[index].flags.insert(.isListed)
        self.listedConnections.append(index)
    }

    // MARK: Draining

    /// Begins the drain: every connection gets DRAIN, every call its STATUS, and then every connection closes.
    mutating func beginDrain(_ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate) {
        guard !self.draining else { return }
        self.draining = true
        self.drainDeadline = tables.now.monotonic + tables.settings.drainMilliseconds
        let status = self.shuttingDown(tables)
        var index: Int32 = 0
        while index < tables.connections.extent {
            if tables.connections.isTaken(index), tables.connections[index].phase.takesFrames {
                self.drain(index, status, &tables, &views, &service)
            }
            index += 1
        }
        self.reportDrained(&tables)
    }

    /// Closes every connection, because this node has lost its store and others have not. Whoever comes is still let in: an operator,
    /// and a client that has only this address.
    mutating func sendAway(_ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate) {
        let status = WireStatus(
            .storeUnreachable,
            "this server has been cut off from its store for \(Limits.nodeGoneMilliseconds / 1_000) s; go on at another one, with your resume tokens"
        )
        var index: Int32 = 0
        while index < tables.connections.extent {
            if tables.connections.isTaken(index), tables.connections[index].phase == .open {
                if tables.connections[index].http >= 0 {
                    self.drainHTTP(index, status, &tables, &views, &service)
                } else {
                    self.close(index, status, &tables, &views, &service)
                }
            }
            index += 1
        }
    }

    private mutating func drain(
        _ index: Int32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        tables.counters.connectionsDrained += 1
        if tables.connections[index].http >= 0 { return self.drainHTTP(index, status, &tables, &views, &service) }
        guard tables.connections[index].phase == .open, tables.connections[index].callCount > 0 else {
            self.close(index, status, &tables, &views, &service)
            return
        }
        // The final DRAIN, which holds, has the same times.
        let pause = self.pause(for: .shuttingDown, tables)
        let notice = status.drain(
            isFinal: false, reconnectAfterMilliseconds: pause.after, jitterMilliseconds: pause.jitter)
        let noticePayload = tables.encoded { codec throws(MessageError) in try codec.encode(notice) }
        self.keepUnsent(index, .farewell, stream: 0, noticePayload, &tables)
        var call = tables.connections[index].firstCall
        while call >= 0 {
            let next = tables.calls[call].nextInConnection
            // A unary call that waits for the store still gets its answer, which ends it. A call that waits for a
            // position ends now, because the position may never be reached.
            if service.isUnanswered(call, tables) {
                service.end(call, status, &tables, &views, &self)
            }
            call = next
        }
        tables.scheduleDeadline(.drained(index, tables.connections.generation(index)), at: self.drainDeadline)
        self.closeIfDrained(index, &tables, &views, &service)
    }

    /// Closes a draining connection after its last call has ended.
    mutating func closeIfDrained(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        guard self.draining, tables.connections[index].phase == .open,
            tables.connections[index].callCount == 0,
            tables.connections[index].firstUnsent < 0
        else { return }
        self.close(index, self.shuttingDown(tables), &tables, &views, &service)
    }

    mutating func reportDrained(_ tables: inout Tables) {
        if self.draining, tables.connections.count == 0 { tables.effects.append(.drained) }
    }
}

extension Connection.Phase {
    /// Before the end has begun.
    var takesFrames: Bool { self == .greeting || self == .open }
}
