import PerchBase
import PerchModel
import PerchWire

/// The bytes of one system call for one connection. The pointers are valid until `wrote` is called for the batch.
package struct PlannedWrite {
    package let connection: Int32
    package let socket: Int32
    package let byteCount: Int
    package let segmentCount: Int
    let firstSegment: Int
}

/// What became of a write.
package enum WriteResult: Equatable {
    case wrote(Int)
    /// The layer below accepted that many bytes, and the kernel not all of them.
    case held(Int)
    case broken
}

// Flush planning: the frames for each connection in this tick, and the rest after a short write.
//
// A plan changes only the staging memory; over HTTP it also asks for freed values. Output stays pending until the driver
// reports the write. After a short write a connection keeps its unfinished frame and nothing else.
extension LoopCore {
    /// Plans the next batch of writes. Zero: this tick has no more output.
    package mutating func planWrites() -> Int {
        self.transport.staging.clear()
        var index = 0
        while index < self.transport.listedConnections.count {
            let connection = self.transport.listedConnections[index]
            guard self.tables.connections.isTaken(connection),
                self.tables.connections[connection].flags.contains(.isListed)
            else {
                index += 1
                continue
            }
            if self.transport.staging.room < Limits.copiedFrameBytesMax + 64 { break }
            self.tables.connections[connection].flags.remove(.isListed)
            self.planWrite(connection)
            index += 1
        }
        self.transport.listedConnections.removeFirst(index)
        return self.transport.staging.writes.count
    }

    /// Number of connections that may have output.
    package var listedCount: Int { self.transport.listedConnections.count }

    package func listedConnection(_ place: Int) -> Int32 { self.transport.listedConnections[place] }

    package func plannedWrite(_ index: Int) -> PlannedWrite {
        let write = self.transport.staging.writes[index]
        return PlannedWrite(
            connection: write.connection, socket: write.socket, byteCount: write.byteCount,
            segmentCount: write.segmentCount, firstSegment: write.firstSegment)
    }

    /// A segment of a planned write.
    package func segment(_ index: Int, of write: PlannedWrite) -> UnsafeRawBufferPointer {
        let segment = self.transport.staging.segments[write.firstSegment + index]
        return UnsafeRawBufferPointer(start: segment.base, count: segment.count)
    }

    /// Appends the frames of one connection, in order: the unfinished one, pending answers, values and events, a BEAT.
    private mutating func planWrite(_ connection: Int32) {
        if self.tables.connections[connection].wire.isHTTP { return self.planHTTPWrite(connection) }
        let firstSegment = self.transport.staging.segments.count
        let firstFrame = self.transport.staging.frames.count
        let slot = self.tables.connections[connection]
        var bytes = slot.unfinished >= 0 ? self.planUnfinished(connection, firstSegment) : 0

        var isComplete = true
        var owed = slot.firstOwed
        while owed >= 0, isComplete {
            let entry = self.transport.owed[owed]
            isComplete = self.append(
                .owed, call: -1, kind: entry.role.kind, stream: entry.stream, entry.payload, &bytes, firstSegment)
            owed = entry.next
        }

        var said = Said(
            value: slot.flags.contains(.hasOpenGroup), isAll: slot.waitingCount == 0 && !self.isSweeping)
        let zlib = slot.flags.contains(.acceptsZlib)
        var call = slot.firstDirty
        while call >= 0, isComplete {
            let next = self.tables.calls[call].nextDirty
            isComplete = self.planCall(call, zlib: zlib, &said, &bytes, firstSegment)
            call = next
        }

        if slot.phase == .open, isComplete, slot.flags.contains(.wantsBeat) || (said.value && slot.watchCount > 1) {
            if said.isAll {
                let beat = self.beatBody(revision: self.vouchedRevision(connection))
                _ = self.append(.beat, call: -1, kind: .beat, stream: 0, beat, &bytes, firstSegment)
                self.tables.payloads.release(beat)
            } else if self.isSweeping {
                // The BEAT follows the sweep's end, or the remaining output.
                self.transport.heldGroups.append(connection)
            }
        }
        guard bytes > 0 else {
            // The core has no output that waits for the kernel: it was sent, or is being recomputed.
            if !slot.flags.contains(.isHeldBelow) { self.stopsStalling(connection) }
            return
        }
        self.transport.staging.writes.append(
            Staging.Write(
                connection: connection, socket: slot.socket, firstSegment: firstSegment,
                segmentCount: self.transport.staging.segments.count - firstSegment, firstFrame: firstFrame,
                frameCount: self.transport.staging.frames.count - firstFrame, byteCount: bytes))
    }

    /// The content of a planned write for one connection.
    private struct Said {
        /// A value, or an event.
        var value: Bool
        /// Whether the connection is complete up to `applied`, so that a BEAT may follow.
        var isAll: Bool
    }

    /// Appends the rest of a partly written frame. Returns its bytes.
    private mutating func planUnfinished(_ connection: Int32, _ firstSegment: Int) -> Int {
        guard let rest = self.transport.unfinishedFrames[connection] else { return 0 }
        rest.bytes.withUnsafeBytes { buffer in
            if let base = buffer.baseAddress, !buffer.isEmpty {
                self.transport.staging.copy(base, count: buffer.count, firstSegment: firstSegment)
            }
        }
        var bytes = rest.bytes.count
        if !rest.payload.isNone {
            let body = self.tables.payloads[rest.payload]
            self.transport.staging.refer(
                body.baseAddress.unsafelyUnwrapped + rest.offset, count: body.count - rest.offset)
            bytes += body.count - rest.offset
        }
        self.transport.staging.frames.append(
            Staging.Frame(role: .unfinished, call: -1, payload: rest.payload, end: bytes, count: bytes))
        return bytes
    }

    /// Appends the output of one call; false if the write is full.
    @inline(__always)
    private mutating func planCall(
        _ call: Int32, zlib: Bool, _ said: inout Said, _ bytes: inout Int, _ firstSegment: Int
    ) -> Bool {
        let stream = self.tables.calls[call].stream
        if self.tables.calls[call].flags.contains(.owesLoading) {
            guard
                self.append(
                    .loading, call: call, kind: .message, stream: stream, self.views.loading, &bytes, firstSegment)
            else { return false }
            said.value = true
        }
        if self.tables.calls[call].flags.contains(.owesValue) {
            let body: PayloadHandle
            if let part = self.part(call) {
                body = self.envelope(ofValue: call, part, zlib: zlib)
            } else {
                if zlib { self.compressForReader(call) }
                body = self.encoding(for: call, zlib: zlib)
            }
            if body.isNone {
                // A value whose encoding was freed is being recomputed and follows in a later tick.
                said.isAll = false
            } else {
                guard self.append(.value, call: call, kind: .message, stream: stream, body, &bytes, firstSegment) else {
                    return false
                }
                said.value = true
            }
        }
        guard self.tables.calls[call].isFeed else { return true }
        for event in self.eventsReady(call) {
            let body = self.part(call).map { self.envelope(of: event.payload, call, $0) } ?? event.payload
            let isAppended = self.append(
                .event, call: call, kind: .message, stream: stream, body, &bytes, firstSegment)
            guard isAppended else { return false }
        }
        return true
    }

    /// Appends one frame if it fits into this write; false if the write is full.
    @inline(__always)
    private mutating func append(
        _ role: Staging.Frame.Role, call: Int32, kind: FrameKind, stream: UInt32, _ payload: PayloadHandle,
        _ bytes: inout Int, _ firstSegment: Int
    ) -> Bool {
        let body = self.tables.payloads[payload]
        let count = body.count + 4
        guard bytes == 0 || bytes + count <= Limits.writeBytesMax else { return false }
        let isCopied = count <= Limits.copiedFrameBytesMax || role == .beat
        guard self.transport.staging.room >= (isCopied ? count : 4) else { return false }
        self.transport.staging.address(kind: kind.rawValue, stream: stream, firstSegment: firstSegment)
        if let base = body.baseAddress {
            if isCopied {
                self.transport.staging.copy(base, count: body.count, firstSegment: firstSegment)
            } else {
                self.transport.staging.refer(base, count: body.count)
            }
        }
        bytes += count
        self.transport.staging.frames.append(
            Staging.Frame(
                role: role, call: call, payload: isCopied ? .none : payload, end: bytes, count: count))
        return true
    }

    mutating func compressForReader(_ call: Int32) {
        let view = self.tables.calls[call].view
        let flags = self.tables.calls[call].flags
        guard view >= 0, !flags.contains(.owesUnchanged) else { return }
        let place = self.views.slots[view].encodings
        guard place >= 0 else { return }
        if flags.contains(.isFirst) {
            guard !self.views.encodings[place].snapshot.isNone, self.views.encodings[place].snapshotZlib.isNone else {
                return
            }
            self.views.encodings[place].snapshotZlib = self.compressed(self.views.encodings[place].snapshot, .none)
        } else {
            guard !self.views.encodings[place].change.isNone, self.views.encodings[place].changeZlib.isNone else {
                return
            }
            self.views.encodings[place].changeZlib = self.compressed(self.views.encodings[place].change, .none)
        }
    }

    private mutating func beatBody(revision: UInt64) -> PayloadHandle {
        let beat = Beat(revision: revision, serverTime: self.tables.now.wall)
        return self.encoded { codec throws(MessageError) in try codec.encode(beat) }
    }

    // MARK: What was taken

    /// Reports the result of one write of the batch.
    package mutating func wrote(_ index: Int, _ result: WriteResult) {
        let write = self.transport.staging.writes[index]
        guard self.tables.connections.isTaken(write.connection) else { return }
        self.tables.counters.writes += 1
        let taken: Int
        switch result {
        case .wrote(let count): taken = count
        case .held(let count):
            taken = count
            self.tables.connections[write.connection].flags.insert(.isHeldBelow)
        case .broken:
            self.remove(write.connection)
            return
        }
        self.tables.counters.bytesOut += UInt64(taken)
        let connection = write.connection
        if self.tables.connections[connection].wire.isHTTP { return self.wroteHTTP(write, taken: taken) }
        var allTaken = true
        for offset in 0..<write.frameCount {
            let frame = self.transport.staging.frames[write.firstFrame + offset]
            let start = frame.end - frame.count
            if taken >= frame.end {
                self.frameTaken(frame, connection, rest: 0)
            } else if taken > start || (frame.role == .unfinished) {
                // The kernel accepted a part: only the rest of this frame is kept.
                allTaken = false
                self.keepUnfinished(frame, connection, written: max(taken - start, 0), write: write, start: start)
                break
            } else {
                allTaken = false
                break
            }
            guard self.tables.connections.isTaken(connection) else { return }
        }
        self.unlistClean(connection)
        self.afterWrite(connection, taken: taken, allTaken: allTaken && taken == write.byteCount)
    }

    private mutating func keepUnfinished(
        _ frame: Staging.Frame, _ connection: Int32, written: Int, write: Staging.Write, start: Int
    ) {
        if frame.role == .unfinished {
            self.transport.unfinishedFrames[connection]?.advance(by: written)
            return
        }
        // At most the bytes of a copied frame are copied, because they must fit into the staging memory again.
        let copiedCount = frame.payload.isNone ? frame.count : 4
        var rest: [UInt8] = []
        if written < copiedCount {
            rest.reserveCapacity(copiedCount - written)
            var place = 0
            for index in 0..<write.segmentCount {
                let segment = self.transport.staging.segments[write.firstSegment + index]
                let from = max(start + written, place)
                let to = min(start + copiedCount, place + segment.count)
                if from < to {
                    rest.append(
                        contentsOf: UnsafeRawBufferPointer(start: segment.base + (from - place), count: to - from))
                }
                place += segment.count
            }
        }
        if !frame.payload.isNone { self.tables.payloads.retain(frame.payload) }
        self.transport.unfinishedFrames[connection] = UnfinishedFrame(
            bytes: rest, payload: frame.payload, offset: max(0, written - copiedCount))
        self.tables.connections[connection].unfinished = 0
        self.frameTaken(frame, connection, rest: frame.count - written)
    }

    mutating func dropUnfinished(_ connection: Int32) {
        if let rest = self.transport.unfinishedFrames.removeValue(forKey: connection), !rest.payload.isNone {
            self.tables.payloads.release(rest.payload)
        }
        self.tables.connections[connection].unfinished = -1
    }

    /// A frame is accepted by the kernel, or will be: its content is no longer pending.
    private mutating func frameTaken(_ frame: Staging.Frame, _ connection: Int32, rest: Int) {
        self.tables.counters.framesOut += 1
        switch frame.role {
        case .unfinished:
            self.dropUnfinished(connection)
        case .owed:
            let slot = self.tables.connections[connection].firstOwed
            let entry = self.transport.owed[slot]
            self.tables.connections[connection].firstOwed = entry.next
            if entry.next < 0 { self.tables.connections[connection].lastOwed = -1 }
            self.tables.connections[connection].owedBytes -= Int32(self.tables.payloads[entry.payload].count + 4)
            self.tables.payloads.release(entry.payload)
            self.transport.owed.remove(slot)
            if entry.endsCall >= 0 { self.removeCall(entry.endsCall) }
        case .loading:
            self.tables.calls[frame.call].flags.remove(.owesLoading)
            self.openGroup(connection)
        case .value:
            self.valueTaken(frame.call, connection)
        case .event:
            self.eventTaken(frame.call)
            self.openGroup(connection)
        case .beat:
            self.tables.counters.beatsSent += 1
            self.tables.connections[connection].flags.subtract([.wantsBeat, .hasOpenGroup])
            self.tables.connections[connection].lastBeat = self.tables.now.monotonic
            self.tables.connections[connection].vouchedRevision = self.vouchedRevision(connection)
        }
    }

    @inline(__always)
    mutating func valueTaken(_ call: Int32, _ connection: Int32) {
        self.tables.counters.valuesPushed += 1
        self.tables.calls[call].flags.subtract([.owesValue, .owesUnchanged, .isFirst])
        if !self.views.lateReaders.isEmpty { self.views.lateReaders[call] = nil }
        if !self.service.callTokens.isEmpty { self.service.callTokens[call] = nil }
        self.openGroup(connection)
        let view = self.tables.calls[call].view
        // A value sent to its only watcher is not kept: it can be recomputed.
        if self.views.slots[view].watchCount == 1 { self.dropEncodings(view) }
    }

    @inline(__always)
    private mutating func openGroup(_ connection: Int32) {
        if self.tables.connections[connection].watchCount > 1 {
            self.tables.connections[connection].flags.insert(.hasOpenGroup)
        }
    }

    /// Removes calls without output from the front of a connection's list.
    private mutating func unlistClean(_ connection: Int32) {
        var call = self.tables.connections[connection].firstDirty
        while call >= 0, self.tables.calls[call].flags.isDisjoint(with: [.owesLoading, .owesValue]),
            !self.tables.calls[call].isFeed || !self.hasEventsToSay(call)
        {
            let next = self.tables.calls[call].nextDirty
            self.tables.calls[call].nextDirty = -1
            self.tables.calls[call].flags.remove(.isListed)
            call = next
        }
        self.tables.connections[connection].firstDirty = call
        if call >= 0 { self.tables.calls[call].previousDirty = -1 }
        if call < 0 { self.tables.connections[connection].lastDirty = -1 }
    }

    private mutating func afterWrite(_ connection: Int32, taken: Int, allTaken: Bool) {
        self.noteFullness(connection, taken: taken, allTaken: allTaken)
        if allTaken {
            let slot = self.tables.connections[connection]
            if slot.firstOwed >= 0 || slot.firstDirty >= 0 {
                // More output than one call's, or a value that is still being computed.
                if slot.firstOwed >= 0 || self.hasSomethingReady(connection) { self.list(connection) }
            } else if slot.phase == .open, slot.waitingCount == 0, !self.isSweeping {
                // A BEAT that did not fit into this write is sent next.
                let hasGroup = slot.flags.contains(.hasOpenGroup) && slot.watchCount > 1
                if hasGroup || slot.flags.contains(.wantsBeat) { self.list(connection) }
            }
            self.resumeReading(connection)
            self.closeIfDrained(connection)
            self.finishClosing(connection)
        } else {
            self.resumeReading(connection)
        }
    }

    /// Notes whether the kernel accepted all of a write: a connection that is full waits for `writable`, and may stall.
    @inline(__always)
    mutating func noteFullness(_ connection: Int32, taken: Int, allTaken: Bool) {
        let flags = self.tables.connections[connection].flags
        if allTaken, !flags.contains(.isHeldBelow) {
            self.stopsStalling(connection)
        } else {
            self.startsStalling(connection, hasProgress: taken > 0)
        }
        guard flags.contains(.isFull) == allTaken else { return }
        self.tables.connections[connection].flags.formSymmetricDifference(.isFull)
        self.listen(connection)
    }

    /// Output waits for the kernel: from now on, or since the kernel last accepted bytes.
    mutating func startsStalling(_ connection: Int32, hasProgress: Bool) {
        guard hasProgress || self.tables.connections[connection].stalledSince == 0 else { return }
        self.tables.connections[connection].stalledSince = self.tables.now.monotonic
        guard !self.transport.stalls.contains(connection) else { return }
        let wait = self.tables.settings.writeStallMilliseconds
        self.transport.stalls.insert(connection, dueAt: (self.tables.now.monotonic + wait) / 1_000 + 1)
    }

    @inline(__always)
    mutating func stopsStalling(_ connection: Int32) {
        guard self.tables.connections[connection].stalledSince != 0 else { return }
        self.tables.connections[connection].stalledSince = 0
        _ = self.transport.stalls.remove(connection)
    }

    private func hasSomethingReady(_ connection: Int32) -> Bool {
        var call = self.tables.connections[connection].firstDirty
        while call >= 0 {
            let slot = self.tables.calls[call]
            if slot.flags.contains(.owesLoading) { return true }
            if slot.isFeed, self.hasEventsToSay(call) { return true }
            if slot.flags.contains(.owesValue), !self.encoding(for: call, zlib: false).isNone { return true }
            call = slot.nextDirty
        }
        return false
    }

    /// Resumes reading from a connection after enough of its pending answers were sent.
    private mutating func resumeReading(_ connection: Int32) {
        guard self.tables.connections[connection].flags.contains(.isReadPaused),
            Int(self.tables.connections[connection].owedBytes) <= self.tables.settings.owedBytesMax / 2
        else { return }
        self.tables.connections[connection].flags.remove(.isReadPaused)
        self.listen(connection)
        guard self.tables.connections[connection].flags.contains(.hasPartialInput) else { return }
        // Frames received before the pause are handled in the next tick, in the ordinary way.
        self.pauseInput(connection)
    }

    /// A closing connection whose DRAIN is written: shuts down the writing side; a timer does the rest.
    mutating func finishClosing(_ connection: Int32) {
        guard self.tables.connections[connection].phase == .closing, self.tables.connections[connection].firstOwed < 0,
            self.tables.connections[connection].unfinished < 0
        else { return }
        self.tables.connections[connection].phase = .dying
        self.tables.effects.append(
            .shutDownWriting(connection: connection, socket: self.tables.connections[connection].socket))
        if self.tables.connections[connection].flags.contains(.peerHasEnded) { self.remove(connection) }
    }

    /// The kernel has room again.
    package mutating func writable(_ connection: Int32) {
        guard self.tables.connections.isTaken(connection) else { return }
        guard self.tables.connections[connection].flags.contains(.isFull) else { return }
        self.tables.connections[connection].flags.remove(.isFull)
        self.listen(connection)
        // Streams of HTTP refresh freed values when they are planned.
        if self.tables.connections[connection].http < 0 { self.refreshLetGo(connection) }
        self.list(connection)
    }

    /// Recomputes pending values whose encodings were freed while the stream was full.
    private mutating func refreshLetGo(_ connection: Int32) {
        var call = self.tables.connections[connection].firstDirty
        while call >= 0 {
            let slot = self.tables.calls[call]
            if slot.isFeed {
                self.resumeUpdates(call)
            } else if case .watch(let view) = slot.state, slot.flags.contains(.owesValue),
                self.encoding(for: call, zlib: false).isNone
            {
                self.refresh(view)
            }
            call = slot.nextDirty
        }
    }
}
