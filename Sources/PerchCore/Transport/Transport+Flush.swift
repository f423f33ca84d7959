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

/// One write to a connection while it is laid out.
struct WritePlan {
    let connection: Int32
    let firstSegment: Int
    let firstFrame: Int
    var bytes = 0
    /// Bytes that the peer's windows still take: on all streams together, and on the stream under way.
    var window = Int.max
    var streamWindow = Int.max
    /// The head of the response under way is sent, or laid out.
    var hasHead = true
    /// A value, or `loading`, is laid out.
    var hasValue = false
    /// A value is being computed again, because its encoding was freed. It follows in a later tick.
    var lacksValue = false
    /// The write has no room for more.
    var isFull = false
}

/// Where the messages of a call go, and how its peer reads them.
struct MessageTarget<F: Framing> {
    /// The number on the wire.
    var number: UInt32
    /// The stream of HTTP; -1 on perch/1.
    var stream: Int32 = -1
    var kind: F.Kind
    var form: ReadForm
}

// The write planner: the frames of each connection in this tick, and the rest after a short write. Protocols differ in their
// framing, and in where output is pending: perch/1 lists calls, HTTP lists streams (`planStreams`).
//
// A plan changes only the staging memory; over HTTP it also asks for freed values. Output stays pending until the driver
// reports the write. After a short write a connection keeps its unfinished frame and nothing else.
extension Transport {
    /// Plans the next batch of writes. Zero: this tick has no more output.
    mutating func planWrites(_ tables: inout Tables, _ views: inout some Source) -> Int {
        self.staging.clear()
        var index = self.plannedCount
        while index < self.listedConnections.count {
            let connection = self.listedConnections[index]
            guard tables.connections.isTaken(connection),
                tables.connections[connection].flags.contains(.isListed)
            else {
                index += 1
                continue
            }
            if self.staging.room < Limits.copiedFrameBytesMax + 64 { break }
            tables.connections[connection].flags.remove(.isListed)
            switch tables.connections[connection].wire {
            case .http2: self.planWrite(connection, HTTP2Framing.self, &tables, &views)
            case .http1: self.planWrite(connection, HTTP1Framing.self, &tables, &views)
            case .perch1, .unknown: self.planWrite(connection, Perch1Framing.self, &tables, &views)
            }
            index += 1
        }
        self.plannedCount = index
        if index == self.listedConnections.count {
            self.listedConnections.removeAll(keepingCapacity: true)
            self.plannedCount = 0
        }
        return self.staging.writes.count
    }

    /// Writes to the watchers before the callers of this tick, if there are few watchers. They get the change one write
    /// earlier; its caller already knows it.
    mutating func putWatchersFirst(after answered: Int) {
        let watchers = self.listedConnections.count - answered
        guard answered > self.plannedCount, watchers > 0, watchers <= Limits.watchersBeforeAnswers else { return }
        self.listedConnections[self.plannedCount..<answered].reverse()
        self.listedConnections[answered...].reverse()
        self.listedConnections[self.plannedCount...].reverse()
    }

    /// Sends the BEAT of groups that waited for the end of a sweep.
    mutating func releaseGroups(_ tables: inout Tables, _ views: inout some Source) {
        guard !self.heldGroups.isEmpty, !views.isSweeping else { return }
        for connection in self.heldGroups where tables.connections.isTaken(connection) {
            self.list(connection, &tables)
        }
        self.heldGroups.removeAll()
    }

    /// Number of connections that may have output.
    var listedCount: Int { self.listedConnections.count - self.plannedCount }

    func listedConnection(_ place: Int) -> Int32 { self.listedConnections[self.plannedCount + place] }

    func plannedWrite(_ index: Int) -> PlannedWrite {
        let write = self.staging.writes[index]
        return PlannedWrite(
            connection: write.connection, socket: write.socket, byteCount: write.byteCount,
            segmentCount: write.segmentCount, firstSegment: write.firstSegment)
    }

    /// A segment of a planned write.
    func segment(_ index: Int, of write: PlannedWrite) -> UnsafeRawBufferPointer {
        let segment = self.staging.segments[write.firstSegment + index]
        return UnsafeRawBufferPointer(start: segment.base, count: segment.count)
    }

    /// Appends the frames of one connection, in order: the unfinished one, its own, and those of its calls or streams.
    @inline(__always)
    private mutating func planWrite<F: Framing>(
        _ connection: Int32, _: F.Type, _ tables: inout Tables, _ views: inout some Source
    ) {
        let slot = tables.connections[connection]
        var plan = WritePlan(
            connection: connection, firstSegment: self.staging.segments.count,
            firstFrame: self.staging.frames.count)
        if slot.unfinished >= 0 { self.planUnfinished(&plan, &tables) }
        var unsent = slot.firstUnsent
        while unsent >= 0, !plan.isFull {
            let entry = self.unsent[unsent]
            self.append(.unsent, entry.payload, F.self, F.kind(of: entry.role), entry.stream, &plan, &tables)
            unsent = entry.next
        }
        self.planOutput(slot, &plan, F.self, &tables, &views)
        guard plan.bytes > 0 else {
            // The core has no output that waits for the kernel: it was sent, or is being recomputed.
            if !slot.flags.contains(.isHeldBelow) { self.stopsStalling(connection, &tables) }
            // All pending output waits for the peer's windows, so its WINDOW_UPDATE must be read.
            if slot.http >= 0 { self.resumeReading(connection, waitsForPeer: true, &tables) }
            return
        }
        self.staging.writes.append(
            Staging.Write(
                connection: connection, socket: slot.socket, firstSegment: plan.firstSegment,
                segmentCount: self.staging.segments.count - plan.firstSegment, firstFrame: plan.firstFrame,
                frameCount: self.staging.frames.count - plan.firstFrame, byteCount: plan.bytes))
    }

    @inline(__always)
    private mutating func planOutput<F: Framing>(
        _ slot: Connection, _ plan: inout WritePlan, _: F.Type, _ tables: inout Tables, _ views: inout some Source
    ) {
        guard slot.phase == .open else { return }
        if slot.http >= 0 {
            self.planStreams(slot.http, &plan, F.self, &tables, &views)
        } else {
            self.planCalls(slot, &plan, &tables, &views)
        }
    }

    /// Appends what the calls of perch/1 say, and a BEAT behind a group of values.
    @inline(__always)
    private mutating func planCalls(
        _ slot: Connection, _ plan: inout WritePlan, _ tables: inout Tables, _ views: inout some Source
    ) {
        var target = MessageTarget<Perch1Framing>(
            number: 0, kind: .message, form: slot.flags.contains(.acceptsZlib) ? .zlib : .plain)
        var call = slot.firstDirty
        while call >= 0, !plan.isFull {
            let next = tables.calls[call].nextDirty
            target.number = tables.calls[call].stream
            _ = self.planCall(call, target, &plan, &tables, &views)
            call = next
        }
        let endsGroup = (plan.hasValue || slot.flags.contains(.hasOpenGroup)) && slot.watchCount > 1
        guard endsGroup || slot.flags.contains(.wantsBeat), !plan.isFull else { return }
        if views.isSweeping {
            // The BEAT follows the sweep's end, or the remaining output.
            self.heldGroups.append(plan.connection)
        } else if slot.waitingCount == 0, !plan.lacksValue {
            let beat = self.beatBody(revision: views.vouchedRevision(plan.connection, tables), &tables)
            self.append(.beat, beat, Perch1Framing.self, .beat, 0, &plan, &tables)
            tables.payloads.release(beat)
        }
    }

    private mutating func beatBody(revision: UInt64, _ tables: inout Tables) -> PayloadHandle {
        let beat = Beat(revision: revision, serverTime: tables.now.wall)
        return tables.encoded { codec throws(MessageError) in try codec.encode(beat) }
    }

    /// Appends the rest of a partly written frame.
    private mutating func planUnfinished(_ plan: inout WritePlan, _ tables: inout Tables) {
        guard let rest = self.unfinishedFrames[plan.connection] else { return }
        var taken = rest.taken
        for piece in rest.pieces {
            let skipped = min(taken, piece.count)
            taken -= skipped
            guard skipped < piece.count, let base = tables.payloads[piece.payload].baseAddress else { continue }
            self.staging.refer(base + piece.offset + skipped, count: piece.count - skipped)
            plan.bytes += piece.count - skipped
        }
        self.staging.frames.append(
            Staging.Frame(
                role: .unfinished, end: Int32(truncatingIfNeeded: plan.bytes),
                count: Int32(truncatingIfNeeded: plan.bytes)))
    }

    // MARK: One call, one message, one frame

    /// Appends the output of a watch or a stream of events; false if the write or a window is full.
    @inline(__always)
    mutating func planCall<F: Framing>(
        _ call: Int32, _ target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables,
        _ views: inout some Source
    ) -> Bool {
        let flags = tables.calls[call].flags
        if flags.contains(.hasUnsentLoading) {
            let loading = self.form(of: views.loading, target.form, .subscriptionStatusTask, &tables, &views)
            guard self.append(.loading, loading, of: call, to: target, &plan, &tables) else { return false }
            plan.hasValue = true
        }
        if flags.contains(.hasUnsentValue) {
            let body = self.form(of: call, target.form, &tables, &views)
            if body.isNone {
                plan.lacksValue = true
                // On perch/1 `writable` has asked for it.
                if target.stream >= 0 { views.refresh(tables.calls[call].view, &tables) }
            } else {
                guard self.append(.value, body, of: call, to: target, &plan, &tables) else { return false }
                plan.hasValue = true
            }
        }
        guard tables.calls[call].isFeed else { return true }
        for event in views.eventsReady(call, tables) {
            let body = self.form(ofEvent: event.payload, call, target.form, &tables, &views)
            guard self.append(.event, body, of: call, to: target, &plan, &tables) else { return false }
        }
        // A stream that was slow requests the events that it missed.
        if target.stream >= 0, !views.hasEventsToSay(call, tables) {
            views.resumeUpdates(call, &tables)
        }
        return true
    }

    /// Appends a message, as far as the windows allow; false if a part is left.
    @inline(__always)
    mutating func append<F: Framing>(
        _ role: Staging.Frame.Role, _ payload: PayloadHandle, of call: Int32 = -1, to target: MessageTarget<F>,
        _ plan: inout WritePlan, _ tables: inout Tables
    ) -> Bool {
        guard plan.hasHead || self.planHead(target, &plan, &tables) else { return false }
        return self.appendWhole(role, payload, of: call, to: target, &plan, &tables)
            || self.appendParts(role, payload, of: call, to: target, &plan, &tables)
    }

    /// Appends a message as one copied frame, as most are; false if it does not fit into one.
    @inline(__always)
    mutating func appendWhole<F: Framing>(
        _ role: Staging.Frame.Role, _ payload: PayloadHandle, of call: Int32, to target: MessageTarget<F>,
        _ plan: inout WritePlan, _ tables: inout Tables
    ) -> Bool {
        let body = tables.payloads[payload]
        let most = body.count + F.aroundBytesMax
        guard most <= Limits.copiedFrameBytesMax, self.hasRoom(most, copied: most, plan),
            !F.hasWindows || body.count <= min(plan.window, plan.streamWindow)
        else { return false }
        let place = self.staging.end
        var used = F.open(target.kind, target.number, count: body.count, ends: false, at: place)
        (place + used).copyMemory(from: body.baseAddress.unsafelyUnwrapped, byteCount: body.count)
        used += body.count
        used += F.close(target.kind, count: body.count, ends: false, at: place + used)
        self.staging.advance(used, firstSegment: plan.firstSegment)
        plan.bytes += used
        if F.hasWindows {
            plan.window -= body.count
            plan.streamWindow -= body.count
        }
        self.staging.frames.append(
            Staging.Frame(
                role: role, stream: target.stream, call: call, payload: payload,
                flow: F.hasWindows ? Int32(truncatingIfNeeded: body.count) : 0,
                end: Int32(truncatingIfNeeded: plan.bytes), count: Int32(truncatingIfNeeded: used)))
        return true
    }

    /// Appends a message from `start` on, in frames of their longest length.
    @inline(never)
    mutating func appendParts<F: Framing>(
        _ role: Staging.Frame.Role, _ payload: PayloadHandle, of call: Int32 = -1, from start: Int = 0,
        ends: Bool = false, to target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables
    ) -> Bool {
        guard plan.hasHead || self.planHead(target, &plan, &tables) else { return false }
        let body = tables.payloads[payload]
        var place = start
        repeat {
            let rest = body.count - place
            var part = min(rest, F.partBytesMax)
            if F.hasWindows {
                part = max(0, min(part, plan.window, plan.streamWindow))
                if part == 0, rest > 0 { return false }
            }
            let bytes = UnsafeRawBufferPointer(start: body.baseAddress.unsafelyUnwrapped + place, count: part)
            let ends = ends && part == rest
            guard let count = self.stage(bytes, F.self, target.kind, target.number, ends: ends, &plan) else {
                return false
            }
            if F.hasWindows {
                plan.window -= part
                plan.streamWindow -= part
            }
            self.staging.frames.append(
                Staging.Frame(
                    role: role, isFirst: place == start && role != .pinned, isLast: part == rest,
                    stream: target.stream, call: call, payload: payload,
                    offset: Int32(truncatingIfNeeded: place + part),
                    flow: F.hasWindows ? Int32(truncatingIfNeeded: part) : 0,
                    end: Int32(truncatingIfNeeded: plan.bytes), count: Int32(truncatingIfNeeded: count)))
            place += part
        } while place < body.count
        return true
    }

    /// Appends a frame with a whole payload.
    @discardableResult
    mutating func append<F: Framing>(
        _ role: Staging.Frame.Role, _ payload: PayloadHandle, _: F.Type, _ kind: F.Kind, _ number: UInt32,
        stream: Int32 = -1, ends: Bool = false, _ plan: inout WritePlan, _ tables: inout Tables
    ) -> Bool {
        let body = tables.payloads[payload]
        guard let count = self.stage(body, F.self, kind, number, ends: ends, &plan) else { return false }
        self.staging.frames.append(
            Staging.Frame(
                role: role, stream: stream, payload: payload, end: Int32(truncatingIfNeeded: plan.bytes),
                count: Int32(truncatingIfNeeded: count)))
        return true
    }

    /// Puts bytes and what stands around them into the write, short ones as a copy. Returns how many; nil without room.
    @inline(__always)
    private mutating func stage<F: Framing>(
        _ bytes: UnsafeRawBufferPointer, _: F.Type, _ kind: F.Kind, _ number: UInt32, ends: Bool,
        _ plan: inout WritePlan
    ) -> Int? {
        // Also where fewer bytes stand around it: behind a head there is room for the end of an HTTP/1.1 response, then.
        let whole = bytes.count + F.aroundBytesMax
        let isCopied = whole <= Limits.copiedFrameBytesMax
        guard self.hasRoom(whole, copied: isCopied ? whole : F.aroundBytesMax, plan) else {
            plan.isFull = true
            return nil
        }
        var used = F.open(kind, number, count: bytes.count, ends: ends, at: self.staging.end)
        var referred = 0
        if let base = bytes.baseAddress, bytes.count > 0 {
            if isCopied {
                (self.staging.end + used).copyMemory(from: base, byteCount: bytes.count)
                used += bytes.count
            } else {
                self.staging.advance(used, firstSegment: plan.firstSegment)
                self.staging.refer(base, count: bytes.count)
                (referred, used) = (used + bytes.count, 0)
            }
        }
        used += F.close(kind, count: bytes.count, ends: ends, at: self.staging.end + used)
        self.staging.advance(used, firstSegment: plan.firstSegment)
        plan.bytes += referred + used
        return referred + used
    }

    /// Whether `count` more bytes fit into the write, `copied` of them into the staging memory.
    @inline(__always)
    func hasRoom(_ count: Int, copied: Int, _ plan: WritePlan) -> Bool {
        (plan.bytes == 0 || plan.bytes + count <= Limits.writeBytesMax) && self.staging.room >= copied
    }
}
