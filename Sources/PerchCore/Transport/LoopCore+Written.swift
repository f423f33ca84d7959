import PerchBase
import PerchWire

// What became of a write: only what the kernel accepted is no longer pending.
extension LoopCore {
    /// Reports the result of one write of the batch.
    package mutating func wrote(_ index: Int, _ result: WriteResult) {
        let write = self.transport.staging.writes[index]
        let connection = write.connection
        guard self.tables.connections.isTaken(connection) else { return }
        self.tables.counters.writes += 1
        let taken: Int
        switch result {
        case .wrote(let count): taken = count
        case .held(let count):
            taken = count
            self.tables.connections[connection].flags.insert(.isHeldBelow)
        case .broken:
            self.remove(connection)
            return
        }
        self.tables.counters.bytesOut += UInt64(taken)
        let isHTTP = self.tables.connections[connection].wire.isHTTP
        var (hasNews, hasData) = (false, false)
        for place in write.firstFrame..<write.firstFrame + write.frameCount {
            let frame = self.transport.staging.frames[place]
            let isWhole = taken >= Int(frame.end)
            if !isWhole {
                let part = taken - Int(frame.end - frame.count)
                if frame.role == .unfinished { self.transport.unfinishedFrames[connection]?.taken += part }
                guard part > 0, frame.role != .unfinished else { break }
                self.keepUnfinished(frame, write, from: taken)
            }
            if frame.role.isNews {
                hasNews = true
                if !isHTTP { self.openGroup(connection) }
            }
            if frame.role.isData { hasData = true }
            self.frameTaken(frame, connection)
            guard self.tables.connections.isTaken(connection) else { return }
            if !isWhole { break }
        }
        let http = self.tables.connections[connection].http
        if http < 0 {
            self.unlistClean(connection)
        } else {
            if hasData { self.transport.http.connections[http].controls = RateMeter() }
            // A client that asked for groups gets a bookmark on every stream right after a change.
            if hasNews, self.transport.http.connections[http].flags.contains(.wantsGroups) {
                self.markBookmarks(connection)
            }
        }
        self.afterWrite(connection, taken: taken, isWhole: taken == write.byteCount)
    }

    /// Keeps the rest of a frame that the kernel took a part of.
    private mutating func keepUnfinished(_ frame: Staging.Frame, _ write: Staging.Write, from taken: Int) {
        var rest = UnfinishedFrame()
        var place = 0
        for index in write.firstSegment..<write.firstSegment + write.segmentCount {
            let segment = self.transport.staging.segments[index]
            let (from, to) = (max(taken, place), min(Int(frame.end), place + segment.count))
            if from < to {
                let bytes = UnsafeRawBufferPointer(start: segment.base + (from - place), count: to - from)
                if self.transport.staging.isCopy(segment) {
                    rest.pieces.append((self.tables.payloads.insert(bytes), 0, bytes.count))
                } else {
                    self.tables.payloads.retain(frame.payload)
                    let start = self.tables.payloads[frame.payload].baseAddress.unsafelyUnwrapped
                    rest.pieces.append((frame.payload, segment.base + (from - place) - start, bytes.count))
                }
            }
            place += segment.count
        }
        self.transport.unfinishedFrames[write.connection] = rest
        self.tables.connections[write.connection].unfinished = 0
    }

    mutating func dropUnfinished(_ connection: Int32) {
        if let rest = self.transport.unfinishedFrames.removeValue(forKey: connection) {
            for piece in rest.pieces { self.tables.payloads.release(piece.payload) }
        }
        self.tables.connections[connection].unfinished = -1
    }

    /// A frame is accepted by the kernel, or will be: its content is no longer pending.
    @inline(__always)
    private mutating func frameTaken(_ frame: Staging.Frame, _ connection: Int32) {
        self.tables.counters.framesOut += 1
        switch frame.role {
        case .unfinished:
            self.dropUnfinished(connection)
        case .owed:
            let entry = self.transport.popOwed(ofConnection: connection, &self.tables)
            self.tables.payloads.release(entry.payload)
            if entry.endsCall >= 0 {
                self.service.removeCall(entry.endsCall, &self.tables, &self.views, &self.transport)
            }
        case .beat:
            self.tables.counters.beatsSent += 1
            self.tables.connections[connection].flags.subtract([.wantsBeat, .hasOpenGroup])
            self.tables.connections[connection].lastBeat = self.tables.now.monotonic
            self.tables.connections[connection].vouchedRevision = self.views.vouchedRevision(connection, self.tables)
        case .head:
            self.headTaken(frame.stream)
        case .end:
            self.endHTTPStream(frame.stream)
        case .pinned, .bookmark, .answer, .loading, .value, .event:
            if frame.stream >= 0 { self.partTaken(frame, connection) }
            if frame.isFirst { self.messageBegun(frame) }
            if frame.isLast, frame.stream >= 0 { self.messageTaken(frame) }
        }
    }

    /// A message is on its way, and what follows it can be planned.
    @inline(__always)
    private mutating func messageBegun(_ frame: Staging.Frame) {
        switch frame.role {
        case .loading: self.tables.calls[frame.call].flags.remove(.owesLoading)
        case .value: self.valueTaken(frame.call)
        case .event: self.views.eventTaken(frame.call, &self.tables, &self.transport)
        case .bookmark: self.bookmarkTaken(frame.stream)
        case .answer: self.answerTaken(frame.stream)
        case .unfinished, .owed, .beat, .head, .pinned, .end: break
        }
    }
}

extension Transport {
    /// Removes and returns the first pending output of a connection.
    mutating func popOwed(ofConnection connection: Int32, _ tables: inout Tables) -> Owed {
        let slot = tables.connections[connection].firstOwed
        let entry = self.owed[slot]
        self.owed.remove(slot)
        tables.connections[connection].firstOwed = entry.next
        if entry.next < 0 { tables.connections[connection].lastOwed = -1 }
        tables.connections[connection].owedBytes -= Int32(tables.payloads[entry.payload].count + 4)
        return entry
    }
}

extension LoopCore {
    @inline(__always)
    mutating func valueTaken(_ call: Int32) {
        self.tables.counters.valuesPushed += 1
        self.tables.calls[call].flags.subtract([.owesValue, .owesUnchanged, .isFirst])
        if !self.views.lateReaders.isEmpty { self.views.lateReaders[call] = nil }
        if !self.tables.callTokens.isEmpty { self.tables.callTokens[call] = nil }
        let view = self.tables.calls[call].view
        // A value sent to its only watcher is not kept: it can be recomputed.
        if self.views.slots[view].watchCount == 1 { self.views.dropEncodings(view, &self.tables) }
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
            !self.tables.calls[call].isFeed || !self.views.hasEventsToSay(call, self.tables)
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

    private mutating func afterWrite(_ connection: Int32, taken: Int, isWhole: Bool) {
        self.noteFullness(connection, taken: taken, allTaken: isWhole)
        guard isWhole else { return self.resumeReading(connection) }
        let slot = self.tables.connections[connection]
        let hasReady = slot.http >= 0 && self.transport.http.connections[slot.http].firstReady >= 0
        // More output than one write's, a value that is still being computed, or a BEAT that did not fit.
        if slot.firstOwed >= 0 || slot.firstDirty >= 0 || hasReady || self.owesBeat(slot) {
            self.transport.list(connection, &self.tables)
        }
        // Without a ready stream, all pending output waits for the peer's windows.
        self.resumeReading(connection, waitsForPeer: slot.http >= 0 && !hasReady)
        if slot.http >= 0 { self.closeHTTPIfDrained(connection) } else { self.closeIfDrained(connection) }
        if self.tables.connections.isTaken(connection) { self.finishClosing(connection) }
    }

    private func owesBeat(_ slot: Connection) -> Bool {
        guard slot.phase == .open, slot.waitingCount == 0, !self.views.isSweeping else { return false }
        return slot.flags.contains(.wantsBeat) || slot.flags.contains(.hasOpenGroup) && slot.watchCount > 1
    }

    /// A connection that has taken enough of its pending answers, or waits for its peer's windows, is read from again.
    mutating func resumeReading(_ connection: Int32, waitsForPeer: Bool = false) {
        let slot = self.tables.connections[connection]
        guard slot.flags.contains(.isReadPaused) else { return }
        var owed = Int(slot.owedBytes)
        if slot.wire.isHTTP {
            guard slot.http >= 0, !slot.flags.contains(.isFull) else { return }
            owed = self.transport.http.connections[slot.http].owedBytes
        }
        guard waitsForPeer || owed <= self.tables.settings.owedBytesMax / 2 else { return }
        self.tables.connections[connection].flags.remove(.isReadPaused)
        self.transport.listen(connection, &self.tables)
        // Frames received before the pause are handled in the next tick, in the ordinary way.
        if slot.flags.contains(.hasPartialInput) { self.pauseInput(connection) }
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
        self.transport.listen(connection, &self.tables)
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
        self.transport.listen(connection, &self.tables)
        // Streams of HTTP refresh freed values when they are planned.
        if self.tables.connections[connection].http < 0 { self.refreshLetGo(connection) }
        self.transport.list(connection, &self.tables)
    }

    /// Recomputes pending values whose encodings were freed while the stream was full.
    private mutating func refreshLetGo(_ connection: Int32) {
        var call = self.tables.connections[connection].firstDirty
        while call >= 0 {
            let slot = self.tables.calls[call]
            if slot.isFeed {
                self.views.resumeUpdates(call, &self.tables)
            } else if case .watch(let view) = slot.state, slot.flags.contains(.owesValue),
                self.views.encoding(for: call, zlib: false, self.tables).isNone
            {
                self.views.refresh(view, &self.tables)
            }
            call = slot.nextDirty
        }
    }
}
