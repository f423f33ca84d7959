import PerchBase
import PerchModel

/// An LRU cache of account records, bounded in bytes. Belongs to the store's thread; a miss is a point read.
struct RecordCache {
    /// A record's place in the order of use. Apart from the records, so that a use moves only numbers.
    private struct Link {
        var account: AccountNumber
        var bytes: Int
        var newer: Int32
        var older: Int32
    }

    private var records: [AccountRecord?] = []
    private var links: [Link] = []
    private var free: [Int32] = []
    private var index: [AccountNumber: Int32] = [:]
    private var newest: Int32 = -1
    private var oldest: Int32 = -1
    private(set) var bytes = 0
    private(set) var hitCount = 0
    private(set) var missCount = 0
    /// Records that were evicted.
    private(set) var evictionCount = 0
    let bytesMax: Int

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var count: Int { self.index.count }

    mutating func record(_ account: AccountNumber) -> AccountRecord? {
        guard let slot = self.index[account] else {
            self.missCount += 1
            return nil
        }
        self.hitCount += 1
        self.use(slot)
        return self.records[Int(slot)]
    }

    mutating func insert(_ record: AccountRecord) {
        let bytes = Self.estimatedBytes(record)
        let slot: Int32
        if let known = self.index[record.account] {
            slot = known
            self.bytes += bytes - self.links[Int(slot)].bytes
            self.links[Int(slot)].bytes = bytes
            self.records[Int(slot)] = record
            self.use(slot)
        } else {
            let link = Link(account: record.account, bytes: bytes, newer: -1, older: -1)
            if let reused = self.free.popLast() {
                slot = reused
                self.links[Int(slot)] = link
                self.records[Int(slot)] = record
            } else {
                slot = Int32(self.links.count)
                self.links.append(link)
                self.records.append(record)
            }
            self.index[record.account] = slot
            self.bytes += bytes
            self.linkNewest(slot)
        }
        while self.bytes > self.bytesMax, self.oldest != slot {
            self.remove(self.links[Int(self.oldest)].account)
            self.evictionCount += 1
        }
    }

    /// Replaces a record that is cached. Another node's change is no use of the account here.
    mutating func replace(_ record: AccountRecord) {
        if self.index[record.account] != nil { self.insert(record) }
    }

    mutating func remove(_ account: AccountNumber) {
        guard let slot = self.index.removeValue(forKey: account) else { return }
        self.unlink(slot)
        self.bytes -= self.links[Int(slot)].bytes
        self.records[Int(slot)] = nil
        self.free.append(slot)
    }

    private mutating func use(_ slot: Int32) {
        guard slot != self.newest else { return }
        self.unlink(slot)
        self.linkNewest(slot)
    }

    private mutating func linkNewest(_ slot: Int32) {
        self.links[Int(slot)].newer = -1
        self.links[Int(slot)].older = self.newest
        if self.newest >= 0 { self.links[Int(self.newest)].newer = slot }
        self.newest = slot
        if self.oldest < 0 { self.oldest = slot }
    }

    private mutating func unlink(_ slot: Int32) {
        let link = self.links[Int(slot)]
        if link.newer >= 0 { self.links[Int(link.newer)].older = link.older } else { self.newest = link.older }
        if link.older >= 0 { self.links[Int(link.older)].newer = link.newer } else { self.oldest = link.newer }
    }

    /// The approximate size of a record in memory: its fixed part, and the struct and strings of each transaction.
    static func estimatedBytes(_ record: AccountRecord) -> Int {
        512 + record.lines.count * 1_024 + record.owned.count * 768 + record.histories.count * 128
            + (record.reported?.entryCount ?? 0) * 1_024
            + record.pendingPurchases.count * 512 + record.intents.count * 256 + record.shares.count * 32
            + record.awaitingSync.count * 768 + record.extensions.count * 16 + record.refundRequests.count * 8
    }

    /// Checks that every entry is linked once in both directions, and that the bytes add up.
    func checkInvariants() {
        var seen = 0
        var total = 0
        var slot = self.newest
        var previous: Int32 = -1
        while slot >= 0 {
            let entry = self.links[Int(slot)]
            precondition(entry.newer == previous, "the list of records is torn")
            precondition(self.index[entry.account] == slot, "a record is listed that is not indexed")
            seen += 1
            total += entry.bytes
            previous = slot
            slot = entry.older
        }
        precondition(previous == self.oldest && seen == self.index.count && total == self.bytes)
    }
}
