import PerchBase
import PerchWire

// What became of a write: only what the kernel accepted is no longer pending.
extension Transport {
    /// Reports the result of one write of the batch.
    mutating func wrote(
        _ index: Int, _ result: WriteResult, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let write = self.staging.writes[index]
        let connection = write.connection
        guard tables.connections.isTaken(connection) else { return }
        tables.counters.writes += 1
        let taken: Int
        switch result {
        case .wrote(let count): taken = count
        case .held(let count):
            taken = count
            tables.connections[connection].flags.insert(.isHeldBelow)
        case .broken:
            self.remove(connection, &tables, &views, &service)
            return
        }
        tables.counters.bytesOut += UInt64(taken)
        let http = tables.connections[connection].http
        var roles = Staging.Frame.Roles()
        for place in write.firstFrame..<write.firstFrame + write.frameCount {
            let frame = self.staging.frames[place]
            let isWhole = taken >= Int(frame.end)
            if !isWhole, !self.keepUnfinished(frame, write, from: taken, &tables) { break }
            roles.insert(frame.role)
            self.frameTaken(frame, connection, http, &tables, &views, &service)
            guard tables.connections.isTaken(connection) else { return }
            if !isWhole { break }
        }
        if http < 0 {
            self.unlistClean(connection, &tables, &views)
        } else if tables.connections[connection].http >= 0 {
            if roles.hasData { self.http.connections[http].controls = RateMeter() }
            // A client that asked for groups gets a bookmark on every stream right after a change.
            if roles.hasNews, self.http.connections[http].flags.contains(.wantsGroups) {
                self.markBookmarks(connection, &tables)
            }
        }
        self.afterWrite(connection, taken: taken, isWhole: taken == write.byteCount, &tables, &views, &service)
    }

    /// Keeps the rest of a frame that the kernel took a part of. False: it took nothing of it, or a further part of a kept rest.
    private mutating func keepUnfinished(
        _ frame: Staging.Frame, _ write: Staging.Write, from taken: Int, _ tables: inout Tables
    ) -> Bool {
        if frame.role == .unfinished {
            self.unfinishedFrames[write.connection]?.taken += taken
            return false
        }
        guard taken > Int(frame.end - frame.count) else { return false }
        var rest = UnfinishedFrame()
        var place = 0
        for index in write.firstSegment..<write.firstSegment + write.segmentCount {
            let segment = self.staging.segments[index]
            let (from, to) = (max(taken, place), min(Int(frame.end), place + segment.count))
            if from < to {
                let bytes = UnsafeRawBufferPointer(start: segment.base + (from - place), count: to - from)
                if self.staging.isCopy(segment) {
                    rest.pieces.append((tables.payloads.insert(bytes), 0, bytes.count))
                } else {
                    tables.payloads.retain(frame.payload)
                    let start = tables.payloads[frame.payload].baseAddress.unsafelyUnwrapped
                    rest.pieces.append((frame.payload, segment.base + (from - place) - start, bytes.count))
                }
            }
            place += segment.count
        }
        self.unfinishedFrames[write.connection] = rest
        tables.connections[write.connection].unfinished = 0
        return true
    }

    mutating func dropUnfinished(_ connection: Int32, _ tables: inout Tables) {
        if let rest = self.unfinishedFrames.removeValue(forKey: connection) {
            for piece in rest.pieces { tables.payloads.release(piece.payload) }
        }
        tables.connections[connection].unfinished = -1
    }

    /// A frame is accepted by the kernel, or will be: its content is no longer pending.
    @inline(__always)
    private mutating func frameTaken(
        _ frame: Staging.Frame, _ connection: Int32, _ http: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        tables.counters.framesOut += 1
        if frame.stream >= 0 { self.partTaken(frame, http, &tables) }
        if frame.isFirst {
            switch frame.role {
            case .unfinished:
                self.dropUnfinished(connection, &tables)
            case .unsent:
                let entry = self.popUnsent(ofConnection: connection, &tables)
                tables.payloads.release(entry.payload)
                if entry.endsCall >= 0 { service.removeCall(entry.endsCall, &tables, &views, &self) }
            case .beat:
                tables.counters.beatsSent += 1
                tables.connections[connection].flags.subtract([.wantsBeat, .hasOpenGroup])
                tables.connections[connection].lastBeat = tables.now.monotonic
                tables.connections[connection].vouchedRevision = views.vouchedRevision(connection, tables)
            case .loading:
                tables.calls[frame.call].flags.remove(.hasUnsentLoading)
                if http < 0 { self.openGroup(connection, &tables) }
            case .value:
                self.valueTaken(frame.call, &tables, &views)
                // On HTTP the streams' own bookmarks end a group.
                if http < 0 { self.openGroup(connection, &tables) }
            case .event:
                views.eventTaken(frame.call, &tables, &self)
                if http < 0 { self.openGroup(connection, &tables) }
            case .head: return self.headTaken(frame.stream, &tables)
            case .end: return self.endHTTPStream(frame.stream, &tables, &views, &service)
            case .bookmark: self.bookmarkTaken(frame.stream, &tables)
            case .answer: self.answerTaken(frame.stream, &tables)
            case .pinned: break
            }
        }
        if frame.stream >= 0, frame.isLast { self.messageTaken(frame, http, &tables, &views, &service) }
    }

    /// Removes and returns the first pending output of a connection.
    mutating func popUnsent(ofConnection connection: Int32, _ tables: inout Tables) -> Unsent {
        let slot = tables.connections[connection].firstUnsent
        let entry = self.unsent[slot]
        self.unsent.remove(slot)
        tables.connections[connection].firstUnsent = entry.next
        if entry.next < 0 { tables.connections[connection].lastUnsent = -1 }
        tables.connections[connection].unsentBytes -= Int32(tables.payloads[entry.payload].count + 4)
        return entry
    }

    @inline(__always)
    mutating func valueTaken(_ call: Int32, _ tables: inout Tables, _ views: inout some Source) {
        tables.counters.valuesPushed += 1
        tables.calls[call].flags.subtract([.hasUnsentValue, .hasUnsentUnchanged, .isFirst])
        views.valueTaken(call, &tables)
    }

    @inline(__always)
    private mutating func openGroup(_ connection: Int32, _ tables: inout Tables) {
        if tables.connections[connection].watchCount > 1 {
            tables.connections[connection].flags.insert(.hasOpenGroup)
        }
    }

    /// Removes calls without output from the front of a connection's list.
    private mutating func unlistClean(_ connection: Int32, _ tables: inout Tables, _ views: inout some Source) {
        var call = tables.connections[connection].firstDirty
        while call >= 0, tables.calls[call].flags.isDisjoint(with: [.hasUnsentLoading, .hasUnsentValue]),
            !tables.calls[call].isFeed || !views.hasEventsToSay(call, tables)
        {
            let next = tables.calls[call].nextDirty
            tables.calls[call].nextDirty = -1
            tables.calls[call].flags.remove(.isListed)
            call = next
        }
        tables.connections[connection].firstDirty = call
        if call >= 0 { tables.calls[call].previousDirty = -1 }
        if call < 0 { tables.connections[connection].lastDirty = -1 }
    }

    private mutating func afterWrite(
        _ connection: Int32, taken: Int, isWhole: Bool, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        self.noteFullness(connection, taken: taken, allTaken: isWhole, &tables)
        guard isWhole else { return self.resumeReading(connection, &tables) }
        let slot = tables.connections[connection]
        let hasReady = slot.http >= 0 && self.http.connections[slot.http].firstReady >= 0
        // More output than one write's, a value that is still being computed, or a BEAT that did not fit.
        if slot.firstUnsent >= 0 || slot.firstDirty >= 0 || hasReady || self.hasUnsentBeat(slot, views) {
            self.list(connection, &tables)
        }
        // Without a ready stream, all pending output waits for the peer's windows.
        self.resumeReading(connection, waitsForPeer: slot.http >= 0 && !hasReady, &tables)
        if slot.http >= 0 {
            self.closeHTTPIfDrained(connection, &tables, &views, &service)
        } else {
            self.closeIfDrained(connection, &tables, &views, &service)
        }
        if tables.connections.isTaken(connection) { self.finishClosing(connection, &tables, &views, &service) }
    }

    private func hasUnsentBeat(_ slot: Connection, _ views: borrowing some Source) -> Bool {
        guard slot.phase == .open, slot.waitingCount == 0, !views.isSweeping else { return false }
        return slot.flags.contains(.wantsBeat) || slot.flags.contains(.hasOpenGroup) && slot.watchCount > 1
    }

    /// A connection that has taken enough of its pending answers, or waits for its peer's windows, is read from again.
    mutating func resumeReading(_ connection: Int32, waitsForPeer: Bool = false, _ tables: inout Tables) {
        let slot = tables.connections[connection]
        guard slot.flags.contains(.isReadPaused) else { return }
        var unsent = Int(slot.unsentBytes)
        if slot.wire.isHTTP {
            guard slot.http >= 0, !slot.flags.contains(.isFull) else { return }
            unsent = self.http.connections[slot.http].unsentBytes
        }
        guard waitsForPeer || unsent <= tables.settings.unsentBytesMax / 2 else { return }
        tables.connections[connection].flags.remove(.isReadPaused)
        self.listen(connection, &tables)
        // Frames received before the pause are handled in the next tick, in the ordinary way.
        if slot.flags.contains(.hasPartialInput) { self.pauseInput(connection) }
    }

    /// Notes whether the kernel accepted all of a write: a connection that is full waits for `writable`, and may stall.
    @inline(__always)
    mutating func noteFullness(_ connection: Int32, taken: Int, allTaken: Bool, _ tables: inout Tables) {
        let flags = tables.connections[connection].flags
        if allTaken, !flags.contains(.isHeldBelow) {
            self.stopsStalling(connection, &tables)
        } else {
            self.startsStalling(connection, hasProgress: taken > 0, &tables)
        }
        guard flags.contains(.isFull) == allTaken else { return }
        tables.connections[connection].flags.formSymmetricDifference(.isFull)
        self.listen(connection, &tables)
    }

    /// Output waits for the kernel: from now on, or since the kernel last accepted bytes.
    mutating func startsStalling(_ connection: Int32, hasProgress: Bool, _ tables: inout Tables) {
        guard hasProgress || tables.connections[connection].stalledSince == 0 else { return }
        tables.connections[connection].stalledSince = tables.now.monotonic
        guard !self.stalls.contains(connection) else { return }
        let wait = tables.settings.writeStallMilliseconds
        self.stalls.insert(connection, dueAt: (tables.now.monotonic + wait) / 1_000 + 1)
    }

    @inline(__always)
    mutating func stopsStalling(_ connection: Int32, _ tables: inout Tables) {
        guard tables.connections[connection].stalledSince != 0 else { return }
        tables.connections[connection].stalledSince = 0
        _ = self.stalls.remove(connection)
    }

    /// A closing connection whose DRAIN is written: shuts down the writing side; a timer does the rest.
    mutating func finishClosing(
        _ connection: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections[connection].phase == .closing, tables.connections[connection].firstUnsent < 0,
            tables.connections[connection].unfinished < 0
        else { return }
        tables.connections[connection].phase = .dying
        tables.effects.append(.shutDownWriting(connection: connection, socket: tables.connections[connection].socket))
        if tables.connections[connection].flags.contains(.peerHasEnded) {
            self.remove(connection, &tables, &views, &service)
        }
    }

    /// The kernel has room again.
    mutating func writable(_ connection: Int32, _ tables: inout Tables, _ views: inout some Source) {
        guard tables.connections.isTaken(connection) else { return }
        guard tables.connections[connection].flags.contains(.isFull) else { return }
        tables.connections[connection].flags.remove(.isFull)
        self.listen(connection, &tables)
        // Streams of HTTP refresh freed values when they are planned.
        if tables.connections[connection].http < 0 { self.refreshLetGo(connection, &tables, &views) }
        self.list(connection, &tables)
    }

    /// Recomputes pending values whose encodings were freed while the stream was full.
    private mutating func refreshLetGo(_ connection: Int32, _ tables: inout Tables, _ views: inout some Source) {
        var call = tables.connections[connection].firstDirty
        while call >= 0 {
            let slot = tables.calls[call]
            if slot.isFeed {
                views.resumeUpdates(call, &tables)
            } else if case .watch(let view) = slot.state, slot.flags.contains(.hasUnsentValue),
                views.encoding(for: call, zlib: false, tables).isNone
            {
                views.refresh(view, &tables)
            }
            call = slot.nextDirty
        }
    }
}
