import PerchBase
import PerchWire

/// A write on a connection of the HTTP family that is being laid out.
struct HTTPPlan {
    var connection: Int32
    var http: Int32
    var isHTTP2: Bool
    var firstSegment: Int
    var bytes = 0
    /// The initial window of the peer's streams.
    var initialWindow: Int64
    /// Of the connection, less what this plan uses.
    var window: Int64
    /// Of the stream under way, likewise.
    var streamWindow: Int64 = 0
    /// The write has no room for more.
    var isFull = false
}

// The usual output of a stream: one whole value in one DATA frame. `planStream` and `httpFrameTaken` do the same in general. A
// further watcher costs what these two functions cost.
extension LoopCore {
    /// Appends a stream's value, if the value is all of its output and fits. False: `planStream` decides.
    @inline(__always)
    mutating func planWholeValue(_ stream: Int32, _ plan: inout HTTPPlan) -> Bool {
        let slot = self.transport.http.streams[stream]
        guard plan.isHTTP2, slot.flags.contains(.hasSentHead),
            slot.flags.isDisjoint(with: [.owesBookmark, .isJSON, .isEnding]), slot.form != .events, slot.firstOwed < 0,
            slot.pinned.isNone, slot.call >= 0, self.tables.calls[slot.call].view >= 0
        else { return false }
        let flags = self.tables.calls[slot.call].flags
        guard flags.contains(.owesValue), !flags.contains(.owesLoading) else { return false }
        let payload = self.form(of: slot.call, slot)
        guard !payload.isNone else { return false }
        let body = self.tables.payloads[payload]
        let count = HTTP2FrameHeader.byteCount + body.count
        guard count <= Limits.copiedFrameBytesMax, plan.bytes + count <= Limits.writeBytesMax,
            Int64(body.count) <= min(plan.window, plan.initialWindow + Int64(slot.credit)),
            self.transport.staging.room >= count
        else { return false }
        let place = self.transport.staging.memory + self.transport.staging.used
        HTTP2FrameHeader.write(.data, [], slot.id, body.count, at: place)
        (place + HTTP2FrameHeader.byteCount).copyMemory(
            from: body.baseAddress.unsafelyUnwrapped, byteCount: body.count)
        self.transport.staging.advance(count, firstSegment: plan.firstSegment)
        plan.bytes += count
        plan.window -= Int64(body.count)
        let length = Int32(truncatingIfNeeded: body.count)
        self.transport.staging.httpFrames.append(
            HTTPFrame(
                role: .value, stream: stream, payload: payload, offset: length, flow: length, end: plan.bytes,
                count: count))
        return true
    }

    /// The kernel accepted all of a value.
    @inline(__always)
    mutating func wholeValueTaken(_ frame: HTTPFrame, _ connection: Int32) {
        self.tables.counters.framesOut += 1
        let http = self.tables.connections[connection].http
        self.transport.http.connections[http].window -= Int64(frame.flow)
        self.transport.http.streams[frame.stream].credit -= frame.flow
        self.valueTaken(frame.call >= 0 ? frame.call : self.transport.http.streams[frame.stream].call, connection)
        if self.transport.http.streams[frame.stream].flags.contains(.isEnding) {
            self.hastenEnd(frame.stream)
        } else {
            self.unlistIfDone(frame.stream)
        }
    }
}
