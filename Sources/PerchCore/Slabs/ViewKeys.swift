import PerchBase
import PerchModel

/// The keys of views, each stored once: ten thousand accounts with a watch of the same product share one key.
struct ViewKeys {
    private struct Entry {
        var key: ViewKey
        var viewCount: Int32
        /// What the key adds to the bytes that name a view, after the account.
        var named: [UInt8]

        var heldBytes: Int { self.key.heldBytes + 32 + self.named.count }
    }

    private var entries: [Entry] = []
    private var free: [Int32] = []
    private var index: [ViewKey: Int32] = [:]
    /// Bytes of the keys, each counted once.
    private(set) var bytes = 0

    subscript(place: Int32) -> ViewKey { self.entries[Int(place)].key }

    /// Sixteen bytes that name a view in resume tokens: `ViewKey.digest`, without the key's own bytes made again.
    func digest(of place: Int32, app: AppNumber, account: UnsafeRawBufferPointer) -> Digest {
        self.entries[Int(place)].named.withUnsafeBytes { ViewKey.digest(app: app, account: account, named: $0) }
    }

    /// The index of a key; nil if no view has it.
    func place(_ key: ViewKey) -> Int32? { self.index[key] }

    /// Adds a reference from a view to this key.
    mutating func take(_ key: ViewKey) -> Int32 {
        if let place = self.index[key] {
            self.entries[Int(place)].viewCount += 1
            return place
        }
        let place: Int32
        let entry = Entry(key: key, viewCount: 1, named: key.named)
        if let reused = self.free.popLast() {
            place = reused
            self.entries[Int(place)] = entry
        } else {
            place = Int32(self.entries.count)
            self.entries.append(entry)
        }
        self.index[key] = place
        self.bytes += entry.heldBytes
        return place
    }

    /// One view less has it.
    mutating func release(_ place: Int32) {
        self.entries[Int(place)].viewCount -= 1
        guard self.entries[Int(place)].viewCount == 0 else { return }
        self.index[self.entries[Int(place)].key] = nil
        self.bytes -= self.entries[Int(place)].heldBytes
        self.entries[Int(place)] = Entry(key: .intents, viewCount: 0, named: [])
        self.free.append(place)
    }

    var count: Int { self.index.count }

    /// Traps if the bytes do not add up.
    func checkInvariants() {
        let found = self.index.values.reduce(0) { $0 + self.entries[Int($1)].heldBytes }
        precondition(found == self.bytes, "\(found) bytes in keys of views, \(self.bytes) counted")
    }

    /// Number of views that have one of these keys.
    var viewCount: Int { self.entries.reduce(0) { $0 + Int($1.viewCount) } }
}
