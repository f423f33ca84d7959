import PerchBase
import PerchModel
import PerchWire

// The output of streams of HTTP, for the planner. Readiness is each stream's: one without window leaves the list, and the next
// goes on.
extension Transport {
    /// Appends the output of the ready streams of a connection.
    mutating func planStreams<F: Framing>(
        _ http: Int32, _ plan: inout WritePlan, _: F.Type, _ tables: inout Tables, _ views: inout some Source
    ) {
        let initialWindow = Int(self.http.connections[http].initialWindow)
        plan.window = Int(self.http.connections[http].window)
        var stream = self.http.connections[http].firstReady
        while stream >= 0, !plan.isFull {
            let next = self.http.streams[stream].nextReady
            // The connection window is used up: only trailers can go out, and they stand first.
            if plan.window <= 0, !self.http.streams[stream].flags.contains(.needsNoWindow) { break }
            tables.counters.streamsPlanned += 1
            plan.streamWindow = initialWindow + Int(self.http.streams[stream].credit)
            self.planStream(stream, of: http, &plan, F.self, &tables, &views)
            stream = next
        }
    }

    @inline(__always)
    private mutating func planStream<F: Framing>(
        _ stream: Int32, of http: Int32, _ plan: inout WritePlan, _: F.Type, _ tables: inout Tables,
        _ views: inout some Source
    ) {
        let slot = self.http.streams[stream]
        // A body of known length has nothing around it in HTTP/1.1.
        let isWhole = slot.flags.contains(.hasLength) && !F.hasWindows
        let target = MessageTarget<F>(
            number: slot.id, stream: stream, kind: F.kind(of: isWhole ? .control : .answer), form: slot.reads)
        let before = plan.bytes
        plan.hasHead = slot.flags.contains(.hasSentHead)
        plan.lacksValue = false
        var isDone = false
        // Most streams send a value, and nothing beside it.
        if slot.isQuiet, tables.calls[slot.call].hasUnsentValueOnly,
            case let value = self.form(of: slot.call, target.form, &tables, &views), !value.isNone
        {
            if self.appendWhole(.value, value, of: slot.call, to: target, &plan, &tables) { return }
            isDone = self.appendParts(.value, value, of: slot.call, to: target, &plan, &tables)
        } else {
            isDone = self.planMessages(slot, target, &plan, &tables, &views)
        }
        guard !plan.isFull, plan.bytes == before else { return }
        if isDone {
            // Nothing to say, or a value that is being computed: it is listed again with that.
            self.unlistHTTP(stream, of: http)
        } else if plan.streamWindow <= 0, plan.window > 0 {
            // Its window is used up: the stream is out of the list until WINDOW_UPDATE.
            self.block(stream, of: http)
        }
    }

    /// Appends the output of one stream in order: partly sent message, values or events, bookmark, pending answers, end. True
    /// if it has no more output now.
    @inline(__always)
    private mutating func planMessages<F: Framing>(
        _ slot: HTTPStream, _ target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables,
        _ views: inout some Source
    ) -> Bool {
        if !slot.pinned.isNone {
            let ends = slot.flags.contains(.endsAfterPinned)
            guard self.appendParts(.pinned, slot.pinned, from: Int(slot.offset), ends: ends, to: target, &plan, &tables)
            else {
                return false
            }
            if ends { return true }
        }
        let call = slot.call
        if call >= 0, !tables.calls[call].isEnding {
            if case .several = tables.calls[call].state {
                for part in tables.parts(of: call) {
                    guard self.planCall(part, target, &plan, &tables, &views) else { return false }
                }
            } else {
                guard self.planCall(call, target, &plan, &tables, &views) else { return false }
            }
            guard !slot.flags.contains(.hasUnsentBookmark) || self.planBookmark(target, &plan, &tables, &views) else {
                return false
            }
        }
        return slot.firstUnsent < 0 || self.planAnswers(target, &plan, &tables)
    }

    /// Appends a bookmark. It never passes a pending value, nor one that the clock has made old and that is being computed.
    private mutating func planBookmark<F: Framing>(
        _ target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables,
        _ views: inout some Source
    ) -> Bool {
        let call = self.http.streams[target.stream].call
        guard !plan.lacksValue, !self.isLate(call, tables, views),
            !tables.parts(of: call).contains(where: { self.isLate($0, tables, views) })
        else {
            return true
        }
        if views.isSweeping {
            // It comes with the end of the sweep.
            self.heldGroups.append(plan.connection)
            return false
        }
        return self.append(.bookmark, self.bookmark(target.form, &tables, &views), to: target, &plan, &tables)
    }

    /// Whether a watch waits for a value that a bookmark would vouch for.
    private func isLate(_ call: Int32, _ tables: borrowing Tables, _ views: borrowing some Source)
        -> Bool
    {
        tables.calls[call].flags.contains(.isWaiting) || views.isBehindClock(call, tables)
            || views.hasFailed(call, tables)
    }

    /// Appends what a stream has unsent: answers, and its end.
    private mutating func planAnswers<F: Framing>(
        _ target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables
    ) -> Bool {
        let form = self.http.streams[target.stream].form
        var unsent = self.http.streams[target.stream].firstUnsent
        while unsent >= 0 {
            let entry = self.unsent[unsent]
            switch entry.role {
            case .head:
                guard plan.hasHead || self.planHead(target, &plan, &tables) else { return false }
            case .status where form == .grpc:
                return self.planTrailers(entry.payload, target, &plan, &tables)
            default:
                let from = form == .connectUnary && entry.role != .status ? 5 : 0
                guard
                    self.appendParts(
                        .answer, entry.payload, from: from, ends: entry.role == .status, to: target, &plan, &tables)
                else { return false }
            }
            unsent = entry.next
        }
        return true
    }

    /// Appends the head of a response, before its first message.
    @inline(never)
    mutating func planHead<F: Framing>(_ target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables)
        -> Bool
    {
        let unsent = self.http.streams[target.stream].firstUnsent
        let isOwn = unsent >= 0 && self.unsent[unsent].role == .head
        let head = isOwn ? self.unsent[unsent].payload : self.callHead(target.stream, &tables)
        plan.hasHead = self.append(
            .head, head, F.self, F.kind(of: .head), target.number, stream: target.stream, &plan, &tables)
        return plan.hasHead
    }

    /// Appends the trailers of gRPC. Without a response's head they are all there is: one frame, with the content type.
    private mutating func planTrailers<F: Framing>(
        _ payload: PayloadHandle, _ target: MessageTarget<F>, _ plan: inout WritePlan, _ tables: inout Tables
    ) -> Bool {
        let trailers = tables.payloads[payload]
        let head =
            plan.hasHead
            ? UnsafeRawBufferPointer(start: nil, count: 0) : tables.payloads[self.callHead(target.stream, &tables)]
        let count = head.count + trailers.count
        guard self.hasRoom(count + F.aroundBytesMax, copied: count + F.aroundBytesMax, plan) else {
            plan.isFull = true
            return false
        }
        let place = self.staging.end
        let start = place + F.open(F.kind(of: .head), target.number, count: count, ends: true, at: place)
        UnsafeMutableRawBufferPointer(start: start, count: head.count).copyMemory(from: head)
        UnsafeMutableRawBufferPointer(start: start + head.count, count: trailers.count).copyMemory(from: trailers)
        let used = start - place + count
        self.staging.advance(used, firstSegment: plan.firstSegment)
        plan.bytes += used
        self.staging.frames.append(
            Staging.Frame(
                role: .end, stream: target.stream, end: Int32(truncatingIfNeeded: plan.bytes),
                count: Int32(truncatingIfNeeded: used)))
        return true
    }

    // MARK: After a write

    mutating func headTaken(_ stream: Int32, _ tables: inout Tables) {
        self.http.streams[stream].flags.insert(.hasSentHead)
        let unsent = self.http.streams[stream].firstUnsent
        guard unsent >= 0, self.unsent[unsent].role == .head else { return }
        tables.payloads.release(self.popUnsent(stream, &tables).payload)
    }

    /// Counts a part of a message against the windows.
    @inline(__always)
    mutating func partTaken(_ frame: Staging.Frame, _ http: Int32, _ tables: inout Tables) {
        self.http.connections[http].window -= Int64(frame.flow)
        self.http.streams[frame.stream].credit -= frame.flow
        if !frame.isLast { self.pin(frame, &tables) }
    }

    /// A message is begun: it stays until it is complete, whatever comes after it.
    private mutating func pin(_ frame: Staging.Frame, _ tables: inout Tables) {
        if frame.isFirst { tables.payloads.retain(frame.payload) }
        self.http.streams[frame.stream].pinned = frame.payload
        self.http.streams[frame.stream].offset = frame.offset
    }

    mutating func bookmarkTaken(_ stream: Int32, _ tables: inout Tables) {
        tables.counters.bookmarksSent += 1
        self.http.streams[stream].flags.remove(.hasUnsentBookmark)
    }

    mutating func answerTaken(_ stream: Int32, _ tables: inout Tables) {
        let entry = self.popUnsent(stream, &tables)
        tables.payloads.release(entry.payload)
        if entry.role == .status { self.http.streams[stream].flags.insert(.endsAfterPinned) }
    }

    /// A message is complete.
    @inline(__always)
    mutating func messageTaken(
        _ frame: Staging.Frame, _ http: Int32, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        let stream = frame.stream
        if !frame.isFirst {
            tables.payloads.release(self.http.streams[stream].pinned)
            self.http.streams[stream].pinned = .none
        }
        let flags = self.http.streams[stream].flags
        if flags.isDisjoint(with: [.endsAfterPinned, .isEnding]) {
            self.unlistIfDone(stream, of: http, tables)
        } else if flags.contains(.endsAfterPinned), frame.role == .answer || frame.role == .pinned {
            self.endHTTPStream(stream, &tables, &views, &service)
        } else {
            self.hastenEnd(stream, &tables)
        }
    }

    /// A watch whose value is sent leaves the list, so that the next write does not look at it.
    @inline(__always)
    mutating func unlistIfDone(_ stream: Int32, of http: Int32, _ tables: borrowing Tables) {
        let slot = self.http.streams[stream]
        guard slot.flags.intersection([.isReady, .hasUnsentBookmark]) == .isReady, slot.pinned.isNone,
            slot.firstUnsent < 0, slot.call >= 0, tables.calls[slot.call].view >= 0,
            tables.calls[slot.call].flags.isDisjoint(with: [.hasUnsentLoading, .hasUnsentValue])
        else { return }
        self.unlistHTTP(stream, of: http)
    }

    /// A response is complete.
    mutating func endHTTPStream(
        _ stream: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let slot = self.http.streams[stream]
        if slot.call >= 0 { service.removeCall(slot.call, &tables, &views, &self) }
        if tables.connections[slot.connection].wire == .http2 {
            // The peer may still send: RST_STREAM(NO_ERROR) stops it.
            if !slot.flags.contains(.peerHasEnded) {
                self.keepUnsentControl(slot.connection, HTTP2.reset(slot.id, .noError), &tables)
                self.rememberEarlyEnd(slot.connection, slot.id)
            }
            self.dropHTTPStream(stream, &tables)
        } else {
            self.dropHTTPStream(stream, &tables)
            self.endHTTP1Response(slot.connection, &tables)
        }
    }
}
