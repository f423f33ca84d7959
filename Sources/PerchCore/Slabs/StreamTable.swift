/// Which call a stream number of a connection stands for: an open-addressed table of plain integers.
struct StreamTable: ~Copyable {
    private struct Entry: BitwiseCopyable {
        var key: UInt64
        var call: Int32
    }

    private static let empty = UInt64.max
    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private(set) var count = 0

    init() {
        self.mask = 255
        self.entries = .allocate(capacity: 256)
        self.entries.initialize(repeating: Entry(key: Self.empty, call: -1), count: 256)
    }

    deinit { self.entries.deallocate() }

    private static func key(_ connection: Int32, _ stream: UInt32) -> UInt64 {
        UInt64(UInt32(bitPattern: connection)) << 24 | UInt64(stream)
    }

    private func home(_ key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & self.mask
    }

    func call(_ connection: Int32, _ stream: UInt32) -> Int32? {
        let key = Self.key(connection, stream)
        var index = self.home(key)
        while self.entries[index].key != Self.empty {
            if self.entries[index].key == key { return self.entries[index].call }
            index = (index + 1) & self.mask
        }
        return nil
    }

    mutating func insert(_ connection: Int32, _ stream: UInt32, call: Int32) {
        if self.count * 4 >= (self.mask + 1) * 3 { self.grow() }
        self.place(Entry(key: Self.key(connection, stream), call: call))
        self.count += 1
    }

    private mutating func place(_ entry: Entry) {
        var index = self.home(entry.key)
        while self.entries[index].key != Self.empty { index = (index + 1) & self.mask }
        self.entries[index] = entry
    }

    mutating func remove(_ connection: Int32, _ stream: UInt32) {
        let key = Self.key(connection, stream)
        var index = self.home(key)
        while self.entries[index].key != key {
            precondition(self.entries[index].key != Self.empty, "stream \(stream) was freed twice")
            index = (index + 1) & self.mask
        }
        // Close the hole, so that no probe stops early.
        var hole = index
        var next = (hole + 1) & self.mask
        while self.entries[next].key != Self.empty {
            let distance = (next - self.home(self.entries[next].key)) & self.mask
            if distance >= (next - hole) & self.mask {
                self.entries[hole] = self.entries[next]
                hole = next
            }
            next = (next + 1) & self.mask
        }
        self.entries[hole].key = Self.empty
        self.count -= 1
    }

    private mutating func grow() {
        let old = self.entries
        let capacity = self.mask + 1
        self.mask = capacity * 2 - 1
        self.entries = .allocate(capacity: capacity * 2)
        self.entries.initialize(repeating: Entry(key: Self.empty, call: -1), count: capacity * 2)
        for index in 0..<capacity where old[index].key != Self.empty { self.place(old[index]) }
        old.deallocate()
    }

    var memoryBytes: Int { (self.mask + 1) * MemoryLayout<Entry>.stride }
}
