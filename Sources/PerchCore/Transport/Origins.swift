import PerchBase

/// The addresses of connections, each stored once: a connection holds an index of four bytes.
struct Origins {
    private struct Entry {
        var address: PeerAddress
        var connectionCount: Int32
    }

    private var entries: [Entry] = []
    private var free: [Int32] = []
    private var index: [PeerAddress: Int32] = [:]

    var isEmpty: Bool { self.index.isEmpty }

    subscript(origin: Int32) -> PeerAddress { self.entries[Int(origin)].address }

    /// The index of an address, with one more connection.
    mutating func take(_ address: PeerAddress) -> Int32 {
        if let known = self.index[address] {
            self.entries[Int(known)].connectionCount += 1
            return known
        }
        let entry = Entry(address: address, connectionCount: 1)
        let place: Int32
        if let reused = self.free.popLast() {
            place = reused
            self.entries[Int(place)] = entry
        } else {
            place = Int32(self.entries.count)
            self.entries.append(entry)
        }
        self.index[address] = place
        return place
    }

    /// Removes one connection from an origin.
    mutating func release(_ origin: Int32) {
        self.entries[Int(origin)].connectionCount -= 1
        guard self.entries[Int(origin)].connectionCount == 0 else { return }
        self.index[self.entries[Int(origin)].address] = nil
        self.free.append(origin)
    }
}
