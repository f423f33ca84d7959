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
        if self.connections[index].flags.contains(.isIdentified) { return self.settings.frameBytesMax }
        return self.connections[index].phase == .greeting
            ? Limits.helloBytesMax : min(self.settings.unidentifiedFrameBytesMax, self.settings.frameBytesMax)
    }

    /// The status for a frame that is too long.
    func tooLong(_ header: FrameHeader, _ index: Int32) -> WireStatus {
        let limit = self.frameBytesMax(of: index)
        var status = WireStatus(
            FrameError.tooLong(kind: header.kind, declaredBytes: header.length, limitBytes: limit))
        if self.connections[index].flags.contains(.isIdentified) {
            status.details.append(.setting("frame-bytes"))
        } else if self.connections[index].phase == .open {
            status.message += "; this connection has shown no valid credentials, which allow longer frames"
            status.details.append(.setting("unidentified-frame-bytes"))
        }
        return status
    }

    /// Whether the kept part of a frame must be read again: its header was incomplete before, and so unchecked, or the
    /// frame is now complete.
    func isPartialDue(_ index: Int32, from before: Int) -> Bool {
        guard let partial = self.transport.partialInputs[index]?.bytes else { return true }
        if self.connections[index].wire != .perch1 { return self.isHTTPPartialDue(index, partial, from: before) }
        guard before >= FrameHeader.byteCount else { return true }
        let length = partial[5..<9].reduce(0) { $0 << 8 | Int($1) }
        return partial.count >= FrameHeader.byteCount + length || length > self.frameBytesMax(of: index)
    }

    mutating func takePartial(_ index: Int32) -> PartialInput {
        self.connections[index].flags.remove(.hasPartialInput)
        let partial = self.transport.partialInputs.removeValue(forKey: index) ?? PartialInput(bytes: [], since: 0)
        self.transport.partialBytes -= partial.bytes.count
        if self.connections[index].flags.contains(.isIdentified) {
            self.transport.admission.partialFrames.remove(index)
        } else {
            self.transport.admission.handshakeBytes.add(
                -partial.bytes.count, to: index, origin: self.connections[index].origin)
        }
        return partial
    }

    /// Keeps the part of a frame that began at `since`.
    mutating func keepPartial(_ index: Int32, _ rest: [UInt8], since: Int64) {
        guard self.connections.isTaken(index), self.connections[index].phase.takesFrames, !rest.isEmpty else { return }
        self.connections[index].flags.insert(.hasPartialInput)
        self.transport.partialBytes += rest.count
        self.transport.partialInputs[index] = PartialInput(bytes: rest, since: since)
        guard self.makeRoom(forPartial: rest.count, index) else { return }
        guard self.connections[index].phase == .open, !self.connections[index].flags.contains(.hasFrameTimer) else {
            return
        }
        self.connections[index].flags.insert(.hasFrameTimer)
        self.scheduleDeadline(
            .frame(index, self.connections.generation(index)), at: since + self.frameTimeoutMilliseconds(of: index))
    }

    /// Counts bytes of a partial frame. Beyond the limit, the oldest partial frame of the address with the most bytes
    /// gives way. False: it was this one.
    mutating func makeRoom(forPartial count: Int, _ index: Int32) -> Bool {
        guard self.connections[index].flags.contains(.isIdentified) else { return self.charge(count, index) }
        self.transport.admission.partialFrames.add(count, to: index, origin: self.connections[index].origin)
        let limit = self.settings.partialFramesBytesMax
        while self.transport.admission.partialFrames.weight > limit {
            let victim = self.transport.admission.partialFrames.victim
            let held = self.transport.admission.partialFrames.weight
            let own = self.transport.admission.partialFrames.weight(ofOrigin: self.connections[victim].origin)
            self.close(
                victim,
                WireStatus(
                    .partialFramesLimit,
                    "\(held) bytes of incomplete frames wait here, the limit is \(limit); this address holds most of them (\(own)), and this connection's is its oldest: send whole frames, or fewer at once",
                    details: [.found(held), .limit(limit), .setting("partial-frames-bytes")]))
        }
        return self.connections[index].phase.takesFrames
    }

    private func frameTimeoutMilliseconds(of index: Int32) -> Int64 {
        let limit = self.settings.frameTimeoutMilliseconds
        return self.connections[index].flags.contains(.isIdentified)
            ? limit : min(limit, self.settings.helloTimeoutMilliseconds)
    }

    /// A connection has at most one such timer. It is set again for a frame that began later.
    mutating func frameTimerFired(_ index: Int32) {
        self.connections[index].flags.remove(.hasFrameTimer)
        guard self.connections[index].phase == .open, let partial = self.transport.partialInputs[index] else { return }
        let limit = self.frameTimeoutMilliseconds(of: index)
        // The server paused reading, so the peer cannot send the rest.
        let isPaused = self.connections[index].flags.contains(.isReadPaused)
        let due = isPaused ? self.now.monotonic + limit : partial.since + limit
        guard due <= self.now.monotonic else {
            self.connections[index].flags.insert(.hasFrameTimer)
            self.scheduleDeadline(.frame(index, self.connections.generation(index)), at: due)
            return
        }
        let isIdentified = self.connections[index].flags.contains(.isIdentified)
        self.close(
            index,
            WireStatus(
                .frameTimeout,
                "a frame is incomplete \(limit) ms after its first byte, the limit; \(partial.bytes.count) bytes of it came: send shorter frames, or find out what delays them",
                details: [
                    .found(self.now.monotonic - partial.since), .limit(limit),
                    .setting(isIdentified ? "frame-timeout" : "hello-timeout"),
                ]))
    }
}
