import PerchBase
import PerchWire

// Memory that open calls hold, and whether there is space for another call.
extension Service {
    /// Bytes that the calls of this loop hold: a slot each, their watches, waits, pending answers and long requests.
    /// Spare capacity of tables does not count, so the number falls when calls end.
    func callsBytes(_ tables: borrowing Tables, _ views: borrowing some Source) -> Int {
        Int(tables.calls.count) * (Slab<CallSlot>.bytesPerElement + SlotTable.bytesPerSlotMax)
            + (self.waiting.count + self.appSearch.count) * WaitingCalls.bytesPerWaiter
            + tables.callTokens.count * MemoryLayout<ResumeToken>.stride
            + views.heldBytes + tables.payloads.bytes + self.room.bytes
    }

    /// Refuses a call that would hold memory for long, if all loops together hold too much already.
    func requireRoom(_ count: Int, _ tables: borrowing Tables, _ views: borrowing some Source)
        throws(CallRefusal)
    {
        let held = self.callsBytes(tables, views) + self.room.bytesElsewhere
        guard held + count > tables.settings.callsBytesMax else { return }
        throw CallRefusal(
            .callsBytesLimit,
            "the calls of this server hold \(held) bytes and this one would add \(count), the limit is \(tables.settings.callsBytesMax); end some, watch fewer products at once, or come back later",
            details: [.found(held + count), .limit(tables.settings.callsBytesMax), .setting("calls-bytes")])
    }

    /// Counts a long request until its call has an answer, or is a watch.
    mutating func countRequest(of call: Int32, _ count: Int) {
        guard count > Limits.smallRequestBytes else { return }
        self.room.requests[call] = Int32(count)
        self.room.bytes += count
    }

    /// Drops the long request of a call that ended or no longer needs it.
    mutating func forgetRequest(of call: Int32) {
        guard !self.room.requests.isEmpty, let count = self.room.requests.removeValue(forKey: call)
        else {
            return
        }
        self.room.bytes -= Int(count)
    }
}
