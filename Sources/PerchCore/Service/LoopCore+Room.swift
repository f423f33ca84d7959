import PerchBase
import PerchWire

// What calls hold for as long as they are open, and whether there is room for one more that stays.
extension LoopCore {
    /// Bytes that the calls of this loop hold: a slot each, and what they watch, wait for and are owed, with what they said
    /// about it. Without what tables keep for later, so that it falls when calls end.
    package var callsBytes: Int {
        let slots =
            Int(self.calls.count) * (Slab<CallSlot>.bytesPerElement + SlotTable.bytesPerSlotMax)
            + Int(self.views.slots.count) * (Slab<ViewSlot>.bytesPerElement + SlotTable.bytesPerSlotMax)
            + Int(self.views.accounts.count) * (Slab<AccountSlot>.bytesPerElement + 2 * SlotTable.bytesPerSlotMax)
        let beside =
            self.service.waiting.count * WaitingCalls.bytesPerWaiter
            + self.views.updates.count * MemoryLayout<UpdatesState>.stride
            + self.service.callTokens.count * MemoryLayout<ResumeToken>.stride
        return slots + beside + self.views.accountKeys.keptBytes + self.views.viewKeys.bytes + self.payloads.bytes
            + self.service.requestBytes
    }

    /// Refuses a call that would stay, or hold much, where all loops together hold too much already.
    func requireRoom(_ count: Int) throws(CallRefusal) {
        let held = self.callsBytes + self.callsBytesElsewhere
        guard held + count > self.settings.callsBytesMax else { return }
        throw CallRefusal(
            .callsBytesLimit,
            "the calls of this server hold \(held) bytes and this one would add \(count), the limit is \(self.settings.callsBytesMax); end some, watch fewer products at once, or come back later",
            details: [.found(held + count), .limit(self.settings.callsBytesMax), .setting("calls-bytes")])
    }

    /// A long request is kept until its call has an answer, or is a watch.
    mutating func keepRequest(of call: Int32, _ count: Int) {
        guard count > Limits.smallRequestBytes else { return }
        self.service.longRequests[call] = Int32(count)
        self.service.requestBytes += count
    }

    /// Its call is over, or holds something else instead.
    mutating func forgetRequest(of call: Int32) {
        guard !self.service.longRequests.isEmpty, let count = self.service.longRequests.removeValue(forKey: call) else {
            return
        }
        self.service.requestBytes -= Int(count)
    }
}
