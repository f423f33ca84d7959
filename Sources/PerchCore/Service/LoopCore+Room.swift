import PerchBase
import PerchWire

// Memory that open calls hold, and whether there is space for another call.
extension LoopCore {
    /// Bytes that the calls of this loop hold: a slot each, their watches, waits, pending answers and long requests.
    /// Spare capacity of tables does not count, so the number falls when calls end.
    package var callsBytes: Int {
        let slots =
            Int(self.tables.calls.count) * (Slab<CallSlot>.bytesPerElement + SlotTable.bytesPerSlotMax)
            + Int(self.views.slots.count) * (Slab<ViewSlot>.bytesPerElement + SlotTable.bytesPerSlotMax)
            + Int(self.views.accounts.count) * (Slab<AccountSlot>.bytesPerElement + 2 * SlotTable.bytesPerSlotMax)
        let beside =
            (self.service.waiting.count + self.service.appSearch.count) * WaitingCalls.bytesPerWaiter
            + self.views.updates.count * MemoryLayout<UpdatesState>.stride
            + self.views.appChanges.count * MemoryLayout<AppChangesState>.stride
            + self.tables.callTokens.count * MemoryLayout<ResumeToken>.stride
        return slots + beside + self.views.accountKeys.keptBytes + self.views.viewKeys.bytes
            + self.tables.payloads.bytes
            + self.service.room.bytes
    }

    /// Refuses a call that would hold memory for long, if all loops together hold too much already.
    func requireRoom(_ count: Int) throws(CallRefusal) {
        let held = self.callsBytes + self.callsBytesElsewhere
        guard held + count > self.tables.settings.callsBytesMax else { return }
        throw CallRefusal(
            .callsBytesLimit,
            "the calls of this server hold \(held) bytes and this one would add \(count), the limit is \(self.tables.settings.callsBytesMax); end some, watch fewer products at once, or come back later",
            details: [.found(held + count), .limit(self.tables.settings.callsBytesMax), .setting("calls-bytes")])
    }

    /// Counts a long request until its call has an answer, or is a watch.
    mutating func keepRequest(of call: Int32, _ count: Int) {
        guard count > Limits.smallRequestBytes else { return }
        self.service.room.requests[call] = Int32(count)
        self.service.room.bytes += count
    }

    /// Drops the long request of a call that ended or no longer needs it.
    mutating func forgetRequest(of call: Int32) {
        guard !self.service.room.requests.isEmpty, let count = self.service.room.requests.removeValue(forKey: call)
        else {
            return
        }
        self.service.room.bytes -= Int(count)
    }
}
