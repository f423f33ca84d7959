import PerchBase
import PerchModel
import PerchWire

/// One frame of a write on a connection of the HTTP family.
struct HTTPFrame: BitwiseCopyable {
    enum Role: UInt8 {
        case unfinished
        case control
        case head
        /// The rest of a message that was begun before.
        case pinned
        case loading
        case value
        case event
        case bookmark
        /// An owed message, or the end of a stream that is one.
        case owed
        /// The end of a stream, as trailers or as the last chunk.
        case end
    }

    var role: Role
    /// Of a message: this frame begins it, or completes it.
    var isFirst = true
    var isLast = true
    var stream: Int32 = -1
    /// The watch whose message it is, where the stream's call carries several; else -1.
    var call: Int32 = -1
    /// The message, and how much of it is said with this frame.
    var payload = PayloadHandle.none
    var offset: Int32 = 0
    /// Bytes that count against the windows.
    var flow: Int32 = 0
    /// Bytes of the write up to the end of this frame, and of this frame.
    var end: Int
    var count: Int
}

// Flush planning for the HTTP family. As for perch/1, a plan changes nothing but the staging memory, and `wrote` says what was
// taken. Readiness is each stream's: one without window leaves the list, and the next goes on.
extension LoopCore {
    /// What became of one message.
    private enum Laid { case all, part, none }

    mutating func planHTTPWrite(_ connection: Int32) {
        let slot = self.tables.connections[connection]
        let firstFrame = self.transport.staging.httpFrames.count
        var plan = HTTPPlan(
            connection: connection, http: slot.http, isHTTP2: slot.wire == .http2,
            firstSegment: self.transport.staging.segments.count,
            initialWindow: slot.http >= 0 ? Int64(self.transport.http.connections[slot.http].initialWindow) : 0,
            window: slot.http >= 0 ? self.transport.http.connections[slot.http].window : 0)
        if slot.unfinished >= 0 { self.planHTTPUnfinished(&plan) }
        var owed = slot.firstOwed
        while owed >= 0, !plan.isFull {
            let entry = self.transport.owed[owed]
            self.planControl(entry.payload, &plan)
            owed = entry.next
        }
        if slot.phase == .open, slot.http >= 0 {
            var stream = self.transport.http.connections[slot.http].firstReady
            while stream >= 0, !plan.isFull {
                let next = self.transport.http.streams[stream].nextReady
                // The connection window is used up: only trailers can go out, and they stand first.
                if plan.window <= 0, !self.transport.http.streams[stream].flags.contains(.needsNoWindow) { break }
                self.tables.counters.streamsPlanned += 1
                if !self.planWholeValue(stream, &plan) { self.planStream(stream, &plan) }
                stream = next
            }
        }
        guard plan.bytes > 0 else {
            if !slot.flags.contains(.isHeldBelow) { self.stopsStalling(connection) }
            // All pending output waits for the peer's windows, so its WINDOW_UPDATE must be read.
            self.resumeHTTPReading(connection, waitsForPeer: true)
            return
        }
        self.transport.staging.writes.append(
            Staging.Write(
                connection: connection, socket: slot.socket, firstSegment: plan.firstSegment,
                segmentCount: self.transport.staging.segments.count - plan.firstSegment, firstFrame: firstFrame,
                frameCount: self.transport.staging.httpFrames.count - firstFrame, byteCount: plan.bytes))
    }

    private mutating func planHTTPUnfinished(_ plan: inout HTTPPlan) {
        guard let rest = self.transport.unfinishedFrames[plan.connection] else { return }
        let body = self.tables.payloads[rest.payload]
        self.transport.staging.refer(
            body.baseAddress.unsafelyUnwrapped + rest.offset, count: body.count - rest.offset)
        plan.bytes += body.count - rest.offset
        self.note(HTTPFrame(role: .unfinished, end: plan.bytes, count: body.count - rest.offset), &plan)
    }

    @inline(__always)
    private mutating func note(_ frame: HTTPFrame, _ plan: inout HTTPPlan) {
        self.transport.staging.httpFrames.append(frame)
    }

    /// Whether `count` more bytes fit into the write, `copied` of them into the staging memory.
    @inline(__always)
    private func hasRoom(_ count: Int, copied: Int, _ plan: HTTPPlan) -> Bool {
        (plan.bytes == 0 || plan.bytes + count <= Limits.writeBytesMax) && self.transport.staging.room >= copied
    }

    private mutating func planControl(_ payload: PayloadHandle, _ plan: inout HTTPPlan) {
        let body = self.tables.payloads[payload]
        guard self.hasRoom(body.count, copied: body.count, plan) else {
            plan.isFull = true
            return
        }
        if let base = body.baseAddress, body.count > 0 {
            self.transport.staging.copy(base, count: body.count, firstSegment: plan.firstSegment)
        }
        plan.bytes += body.count
        self.note(HTTPFrame(role: .control, end: plan.bytes, count: body.count), &plan)
    }

    // MARK: A stream

    /// Appends the output of one stream in order: head, partly sent message, values or events, bookmark, pending answers,
    /// end.
    private mutating func planStream(_ stream: Int32, _ plan: inout HTTPPlan) {
        let before = plan.bytes
        plan.streamWindow = plan.initialWindow + Int64(self.transport.http.streams[stream].credit)
        let isDone = self.planMessages(stream, &plan)
        guard !plan.isFull else { return }
        if !isDone, plan.bytes == before, plan.streamWindow <= 0, plan.window > 0 {
            // Its window is used up: the stream is out of the list until WINDOW_UPDATE.
            self.block(stream)
        } else if isDone, plan.bytes == before {
            // Nothing to say, or a value that is being computed: it is listed again with that.
            self.unlistHTTP(stream)
        }
    }

    /// Returns true if the stream has no more output now.
    private mutating func planMessages(_ stream: Int32, _ plan: inout HTTPPlan) -> Bool {
        let slot = self.transport.http.streams[stream]
        var hasHead = slot.flags.contains(.hasSentHead)
        if !slot.pinned.isNone {
            guard
                self.planMessage(
                    .pinned, stream, slot.pinned, from: Int(slot.offset),
                    ends: slot.flags.contains(.endsAfterPinned), &plan) == .all
            else { return false }
            if slot.flags.contains(.endsAfterPinned) { return true }
        }
        let call = slot.call
        if call >= 0, !self.tables.calls[call].isEnding {
            guard self.planCallMessages(call, stream, slot, &hasHead, &plan) else { return false }
        }
        return self.planOwed(stream, slot, &hasHead, &plan)
    }

    private mutating func planCallMessages(
        _ call: Int32, _ stream: Int32, _ slot: HTTPStream, _ hasHead: inout Bool, _ plan: inout HTTPPlan
    ) -> Bool {
        // A bookmark never passes a pending value, nor one that the clock has made old and that is being computed.
        var mayMark = true
        if self.tables.calls[call].state == .several {
            for part in self.service.carried.wholes[call] ?? [] {
                guard self.planWatch(part, stream, slot, &hasHead, &mayMark, &plan) else { return false }
            }
        } else {
            guard self.planWatch(call, stream, slot, &hasHead, &mayMark, &plan) else { return false }
        }
        guard slot.flags.contains(.owesBookmark), mayMark else { return true }
        if self.isSweeping {
            // It comes with the end of the sweep.
            self.transport.heldGroups.append(slot.connection)
            return false
        }
        guard self.planHead(stream, slot, &hasHead, &plan) else { return false }
        return self.planMessage(.bookmark, stream, self.bookmark(slot), &plan) == .all
    }

    /// Appends the output of one watch; false if the write or a window is full.
    private mutating func planWatch(
        _ call: Int32, _ stream: Int32, _ slot: HTTPStream, _ hasHead: inout Bool, _ mayMark: inout Bool,
        _ plan: inout HTTPPlan
    ) -> Bool {
        let flags = self.tables.calls[call].flags
        if flags.contains(.owesLoading) {
            guard self.planHead(stream, slot, &hasHead, &plan) else { return false }
            let loading = slot.flags.contains(.isJSON) ? self.loadingJSON(slot) : self.views.loading
            guard self.planMessage(.loading, stream, loading, of: call, &plan) == .all else { return false }
        }
        if flags.contains(.owesValue) {
            let body = self.form(of: call, slot)
            if body.isNone {
                // Freed while the stream accepted nothing: it is computed again, and the stream is listed then.
                self.refresh(self.tables.calls[call].view)
                mayMark = false
            } else {
                guard self.planHead(stream, slot, &hasHead, &plan) else { return false }
                guard self.planMessage(.value, stream, body, of: call, &plan) == .all else { return false }
            }
        }
        if self.tables.calls[call].isFeed {
            for event in self.eventsReady(call) {
                guard self.planHead(stream, slot, &hasHead, &plan) else { return false }
                let body = self.form(ofEvent: event.payload, call, slot)
                guard self.planMessage(.event, stream, body, of: call, &plan) == .all else { return false }
            }
            // A stream that was slow requests the events that it missed.
            if !self.hasEventsToSay(call) { self.resumeUpdates(call) }
        }
        if flags.contains(.isWaiting) || self.isBehindClock(call) || self.hasFailed(call) { mayMark = false }
        return true
    }

    private mutating func planOwed(
        _ stream: Int32, _ slot: HTTPStream, _ hasHead: inout Bool, _ plan: inout HTTPPlan
    ) -> Bool {
        var owed = self.transport.http.streams[stream].firstOwed
        while owed >= 0 {
            let entry = self.transport.owed[owed]
            switch entry.role {
            case .head:
                guard hasHead || self.planHeadFrame(stream, entry.payload, &plan) else { return false }
                hasHead = true
            case .status:
                return self.planEnd(stream, slot, entry.payload, &hasHead, &plan)
            default:
                guard self.planHead(stream, slot, &hasHead, &plan) else { return false }
                // One message after another, so that each is popped as it is taken.
                let from = slot.form == .connectUnary ? 5 : 0
                guard self.planMessage(.owed, stream, entry.payload, from: from, &plan) == .all else { return false }
            }
            owed = entry.next
        }
        return true
    }

    /// The head of a response, before its first message.
    private mutating func planHead(
        _ stream: Int32, _ slot: HTTPStream, _ hasHead: inout Bool, _ plan: inout HTTPPlan
    ) -> Bool {
        guard !hasHead else { return true }
        let owed = self.transport.http.streams[stream].firstOwed
        let head: PayloadHandle
        if owed >= 0, self.transport.owed[owed].role == .head {
            head = self.transport.owed[owed].payload
        } else {
            head = self.callHead(stream)
        }
        guard self.planHeadFrame(stream, head, &plan) else { return false }
        hasHead = true
        return true
    }

    private mutating func planHeadFrame(_ stream: Int32, _ payload: PayloadHandle, _ plan: inout HTTPPlan) -> Bool {
        let body = self.tables.payloads[payload]
        let front = plan.isHTTP2 ? HTTP2FrameHeader.byteCount : 0
        guard self.hasRoom(front + body.count, copied: front + body.count, plan) else {
            plan.isFull = true
            return false
        }
        if plan.isHTTP2 {
            self.stageHeader(.headers, .endHeaders, self.transport.http.streams[stream].id, body.count, plan)
        }
        self.transport.staging.copy(
            body.baseAddress.unsafelyUnwrapped, count: body.count, firstSegment: plan.firstSegment)
        plan.bytes += front + body.count
        self.note(HTTPFrame(role: .head, stream: stream, end: plan.bytes, count: front + body.count), &plan)
        return true
    }

    /// The end of a stream: trailers of gRPC, else a last message.
    private mutating func planEnd(
        _ stream: Int32, _ slot: HTTPStream, _ payload: PayloadHandle, _ hasHead: inout Bool, _ plan: inout HTTPPlan
    ) -> Bool {
        guard slot.form == .grpc else {
            guard self.planHead(stream, slot, &hasHead, &plan) else { return false }
            return self.planMessage(.owed, stream, payload, ends: true, &plan) == .all
        }
        // Without a response's head, trailers are all there is: one frame, with the content type.
        let trailers = self.tables.payloads[payload]
        let head = hasHead ? .none : self.callHead(stream)
        let headCount = head.isNone ? 0 : self.tables.payloads[head].count
        let count = HTTP2FrameHeader.byteCount + headCount + trailers.count
        guard self.hasRoom(count, copied: count, plan) else {
            plan.isFull = true
            return false
        }
        self.stageHeader(.headers, [.endHeaders, .endStream], slot.id, headCount + trailers.count, plan)
        if headCount > 0 {
            self.transport.staging.copy(
                self.tables.payloads[head].baseAddress.unsafelyUnwrapped, count: headCount,
                firstSegment: plan.firstSegment)
        }
        self.transport.staging.copy(
            trailers.baseAddress.unsafelyUnwrapped, count: trailers.count, firstSegment: plan.firstSegment)
        plan.bytes += count
        self.note(HTTPFrame(role: .end, stream: stream, end: plan.bytes, count: count), &plan)
        return true
    }

    @inline(__always)
    private mutating func stageHeader(
        _ kind: HTTP2FrameHeader.Kind, _ flags: HTTP2FrameHeader.Flags, _ id: UInt32, _ count: Int, _ plan: HTTPPlan
    ) {
        let place = self.transport.staging.memory + self.transport.staging.used
        HTTP2FrameHeader.write(kind, flags, id, count, at: place)
        self.transport.staging.advance(HTTP2FrameHeader.byteCount, firstSegment: plan.firstSegment)
    }

    // MARK: A message

    /// Appends a message in DATA frames, as far as the windows allow.
    @inline(__always)
    private mutating func planMessage(
        _ role: HTTPFrame.Role, _ stream: Int32, _ payload: PayloadHandle, of call: Int32 = -1, from start: Int = 0,
        ends: Bool = false, _ plan: inout HTTPPlan
    ) -> Laid {
        let body = self.tables.payloads[payload]
        let slot = self.transport.http.streams[stream]
        var place = start
        var isFirst = role != .pinned
        repeat {
            let rest = body.count - place
            let count = Int(
                min(Int64(min(rest, Limits.dataFrameBytesMax)), max(0, min(plan.window, plan.streamWindow))))
            if count == 0, rest > 0 { return place > start ? .part : .none }
            let isLast = count == rest
            guard let written = self.planData(slot, body, place, count, isLast: isLast, ends: ends, plan) else {
                plan.isFull = true
                return place > start ? .part : .none
            }
            place += count
            plan.bytes += written
            if plan.isHTTP2 {
                plan.window -= Int64(count)
                plan.streamWindow -= Int64(count)
            }
            var frame = HTTPFrame(
                role: role, stream: stream, call: call, payload: payload, offset: Int32(place),
                flow: plan.isHTTP2 ? Int32(count) : 0,
                end: plan.bytes, count: written)
            (frame.isFirst, frame.isLast) = (isFirst, isLast)
            self.note(frame, &plan)
            isFirst = false
        } while place < body.count
        return .all
    }

    /// Lays out one DATA frame, or one chunk; nil without room. Returns its bytes.
    private mutating func planData(
        _ slot: HTTPStream, _ body: UnsafeRawBufferPointer, _ place: Int, _ count: Int, isLast: Bool, ends: Bool,
        _ plan: HTTPPlan
    ) -> Int? {
        let isCopied = count + HTTP2FrameHeader.byteCount <= Limits.copiedFrameBytesMax
        // The head of a chunk, the line end behind it, and the last chunk are at most 16 bytes.
        let around = plan.isHTTP2 ? HTTP2FrameHeader.byteCount : 16
        guard self.hasRoom(count + around, copied: around + (isCopied ? count : 0), plan) else { return nil }
        let before = self.transport.staging.used
        let isChunked = !plan.isHTTP2 && !slot.flags.contains(.hasLength)
        if plan.isHTTP2 {
            self.stageHeader(.data, ends && isLast ? .endStream : [], slot.id, count, plan)
        } else if isChunked, count > 0 {
            self.stage(Array((String(count, radix: 16) + "\r\n").utf8), plan)
        }
        if count > 0, let base = body.baseAddress {
            if isCopied {
                self.transport.staging.copy(base + place, count: count, firstSegment: plan.firstSegment)
            } else {
                self.transport.staging.refer(base + place, count: count)
            }
            if isChunked { self.stage([13, 10], plan) }
        }
        if isChunked, ends, isLast { self.stage([0x30, 13, 10, 13, 10], plan) }
        return self.transport.staging.used - before + (isCopied ? 0 : count)
    }

    private mutating func stage(_ bytes: [UInt8], _ plan: HTTPPlan) {
        bytes.withUnsafeBytes {
            self.transport.staging.copy(
                $0.baseAddress.unsafelyUnwrapped, count: $0.count, firstSegment: plan.firstSegment)
        }
    }

    // MARK: After a write

    mutating func wroteHTTP(_ write: Staging.Write, taken: Int) {
        let connection = write.connection
        var allTaken = true
        var saidValue = false
        var saidData = false
        for place in 0..<write.frameCount {
            let frame = self.transport.staging.httpFrames[write.firstFrame + place]
            if frame.role == .value, frame.isFirst, frame.isLast, taken >= frame.end {
                self.wholeValueTaken(frame, connection)
                (saidValue, saidData) = (true, true)
                continue
            }
            let start = frame.end - frame.count
            guard taken >= frame.end || taken > start || frame.role == .unfinished else {
                allTaken = false
                break
            }
            if taken < frame.end {
                allTaken = false
                if frame.role == .unfinished {
                    self.transport.unfinishedFrames[connection]?.advance(by: taken - start)
                    break
                }
                self.keepHTTPUnfinished(frame, write, from: taken)
            }
            if frame.role == .value || frame.role == .event || frame.role == .loading { saidValue = true }
            if frame.role != .control, frame.role != .unfinished { saidData = true }
            self.httpFrameTaken(frame, connection)
            guard self.tables.connections.isTaken(connection) else { return }
            if !allTaken { break }
        }
        if saidValue { self.markGroup(connection) }
        let http = self.tables.connections[connection].http
        if saidData, http >= 0 { self.transport.http.connections[http].controls = RateMeter() }
        self.afterHTTPWrite(connection, taken: taken, allTaken: allTaken && taken == write.byteCount)
    }

    /// The rest of a frame that the kernel took a part of: a copy, at most one DATA frame.
    private mutating func keepHTTPUnfinished(_ frame: HTTPFrame, _ write: Staging.Write, from taken: Int) {
        var rest: [UInt8] = []
        rest.reserveCapacity(frame.end - taken)
        var place = 0
        for index in 0..<write.segmentCount {
            let segment = self.transport.staging.segments[write.firstSegment + index]
            let (from, to) = (max(taken, place), min(frame.end, place + segment.count))
            if from < to {
                rest.append(contentsOf: UnsafeRawBufferPointer(start: segment.base + (from - place), count: to - from))
            }
            place += segment.count
        }
        let payload = self.tables.payloads.insert(rest)
        self.transport.unfinishedFrames[write.connection] = UnfinishedFrame(bytes: [], payload: payload, offset: 0)
        self.tables.connections[write.connection].unfinished = 0
    }

    /// The kernel accepted a frame: its content is no longer pending.
    @inline(__always)
    private mutating func httpFrameTaken(_ frame: HTTPFrame, _ connection: Int32) {
        self.tables.counters.framesOut += 1
        switch frame.role {
        case .unfinished: return self.dropUnfinished(connection)
        case .control:
            let slot = self.tables.connections[connection].firstOwed
            let entry = self.transport.owed[slot]
            self.tables.connections[connection].firstOwed = entry.next
            if entry.next < 0 { self.tables.connections[connection].lastOwed = -1 }
            self.tables.connections[connection].owedBytes -= Int32(self.tables.payloads[entry.payload].count + 4)
            self.tables.payloads.release(entry.payload)
            self.transport.owed.remove(slot)
            return
        case .head:
            self.transport.http.streams[frame.stream].flags.insert(.hasSentHead)
            let owed = self.transport.http.streams[frame.stream].firstOwed
            if owed >= 0, self.transport.owed[owed].role == .head {
                let entry = self.popOwed(frame.stream)
                self.tables.payloads.release(entry.payload)
            }
            return
        case .end:
            let entry = self.popOwed(frame.stream)
            self.tables.payloads.release(entry.payload)
            return self.endHTTPStream(frame.stream)
        case .pinned, .loading, .value, .event, .bookmark, .owed: break
        }
        let http = self.tables.connections[connection].http
        self.transport.http.connections[http].window -= Int64(frame.flow)
        self.transport.http.streams[frame.stream].credit -= frame.flow
        self.messageTaken(frame, connection)
    }

    @inline(__always)
    private mutating func messageTaken(_ frame: HTTPFrame, _ connection: Int32) {
        let stream = frame.stream
        if frame.isFirst, !frame.isLast {
            // Begun: it stays until it is complete, whatever comes after it.
            self.tables.payloads.retain(frame.payload)
            self.transport.http.streams[stream].pinned = frame.payload
        }
        self.transport.http.streams[stream].offset = frame.offset
        var ends = self.transport.http.streams[stream].flags.contains(.endsAfterPinned)
        if frame.isFirst {
            let call = frame.call >= 0 ? frame.call : self.transport.http.streams[stream].call
            switch frame.role {
            case .loading: self.tables.calls[call].flags.remove(.owesLoading)
            case .value: self.valueTaken(call, connection)
            case .event: self.eventTaken(call)
            case .bookmark:
                self.tables.counters.bookmarksSent += 1
                self.transport.http.streams[stream].flags.remove(.owesBookmark)
            case .owed:
                let entry = self.popOwed(stream)
                self.tables.payloads.release(entry.payload)
                if entry.role == .status {
                    ends = true
                    self.transport.http.streams[stream].flags.insert(.endsAfterPinned)
                }
            default: break
            }
        }
        guard frame.isLast else { return }
        if !frame.isFirst {
            self.tables.payloads.release(self.transport.http.streams[stream].pinned)
            self.transport.http.streams[stream].pinned = .none
        }
        if ends, frame.role == .owed || frame.role == .pinned { return self.endHTTPStream(stream) }
        if self.transport.http.streams[stream].flags.contains(.isEnding) {
            self.hastenEnd(stream)
        } else {
            self.unlistIfDone(stream)
        }
    }

    /// A watch whose value is sent leaves the list, so that the next write does not look at it.
    @inline(__always)
    mutating func unlistIfDone(_ stream: Int32) {
        let slot = self.transport.http.streams[stream]
        guard slot.flags.contains(.isReady), !slot.flags.contains(.owesBookmark), slot.pinned.isNone,
            slot.firstOwed < 0, slot.call >= 0, self.tables.calls[slot.call].view >= 0,
            self.tables.calls[slot.call].flags.isDisjoint(with: [.owesLoading, .owesValue])
        else { return }
        self.unlistHTTP(stream)
    }

    /// A response is complete.
    private mutating func endHTTPStream(_ stream: Int32) {
        let slot = self.transport.http.streams[stream]
        if slot.call >= 0 { self.removeCall(slot.call) }
        if self.tables.connections[slot.connection].wire == .http2 {
            // The peer may still send: RST_STREAM(NO_ERROR) stops it.
            if !slot.flags.contains(.peerHasEnded) {
                self.oweControl(slot.connection, HTTP2.reset(slot.id, .noError))
                self.rememberEarlyEnd(slot.connection, slot.id)
            }
            self.dropHTTPStream(stream)
        } else {
            self.dropHTTPStream(stream)
            self.endHTTP1Response(slot.connection)
        }
    }

    /// A client that asked for groups gets a bookmark on every stream right after a change.
    private mutating func markGroup(_ connection: Int32) {
        let http = self.tables.connections[connection].http
        guard http >= 0, self.transport.http.connections[http].flags.contains(.wantsGroups) else { return }
        self.markBookmarks(connection)
    }

    private mutating func afterHTTPWrite(_ connection: Int32, taken: Int, allTaken: Bool) {
        self.noteFullness(connection, taken: taken, allTaken: allTaken)
        guard allTaken else { return }
        let slot = self.tables.connections[connection]
        if slot.http >= 0 {
            // Ready streams are planned again; those without output leave the list then.
            if slot.firstOwed >= 0 || self.transport.http.connections[slot.http].firstReady >= 0 {
                self.list(connection)
            }
        } else if slot.firstOwed >= 0 {
            self.list(connection)
        }
        // Without a ready stream, all pending output waits for the peer's windows.
        let waits = slot.http >= 0 && self.transport.http.connections[slot.http].firstReady < 0
        self.resumeHTTPReading(connection, waitsForPeer: waits)
        self.closeHTTPIfDrained(connection)
        if self.tables.connections.isTaken(connection) { self.finishClosing(connection) }
    }

    /// A connection that has taken enough of what it was owed, or waits for its peer's windows, is read from again.
    private mutating func resumeHTTPReading(_ connection: Int32, waitsForPeer: Bool) {
        let slot = self.tables.connections[connection]
        guard slot.flags.contains(.isReadPaused), slot.http >= 0, !slot.flags.contains(.isFull) else { return }
        let owed = self.transport.http.connections[slot.http].owedBytes
        guard waitsForPeer || owed <= self.tables.settings.owedBytesMax / 2 else { return }
        self.tables.connections[connection].flags.remove(.isReadPaused)
        self.listen(connection)
        guard self.tables.connections[connection].flags.contains(.hasPartialInput) else { return }
        self.pauseInput(connection)
    }
}
