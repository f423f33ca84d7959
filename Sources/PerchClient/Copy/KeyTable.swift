import Glibc

/// Records of 64 bytes by short keys of bytes, for millions of them. A lookup touches one slot and one record.
///
/// Keys of up to 40 bytes are in their records, longer ones in an arena. The hash has a random seed, because callers name accounts.
struct KeyTable: Sendable {
    /// A key, and what its table knows of it. The meaning of the last fields is that of `CopyTable`.
    struct Record: Sendable {
        /// The bytes of a key behind its first 24. First, because a check of a shorter key does not read them: the other 48 bytes of a
        /// record are one line of the cache where a big array begins 48 bytes into a line, as with glibc.
        fileprivate var tail: (UInt64, UInt64)
        /// The key's first 24 bytes, padded with zeros. Of a key that is too long for the record: its place in the arena, and its first 16
        /// bytes; `tail` has the next 16.
        fileprivate var words: (UInt64, UInt64, UInt64)
        /// 0: no key is here.
        fileprivate(set) var length: UInt8
        var reason: UInt8 = 0
        var extraCount: UInt16 = 0
        var number: UInt32 = 0
        var until: Int64 = 0
        var first: UInt32 = 0
        var alias: Int32 = -1
    }

    /// By number. The numbers of removed keys are used again.
    private(set) var records: [Record] = []
    private var free: [Int32] = []
    /// By hash: its upper half, and the record's number plus one; 0 where none is. Its count is a power of two.
    private var slots: [UInt64]
    private var arena: [UInt8] = []
    /// Bytes of the arena that no key has any more.
    private var waste = 0
    private let seed: UInt64

    private static let inlineBytes = 40

    init(seed: UInt64 = .random(in: .min ... .max)) {
        self.seed = seed
        self.slots = [UInt64](repeating: 0, count: 16)
    }

    var count: Int { self.records.count - self.free.count }

    subscript(_ number: Int32) -> Record {
        get { self.records[Int(number)] }
        _modify { yield &self.records[Int(number)] }
    }

    /// A key as it is looked up.
    private struct Key {
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var tail: (UInt64, UInt64) = (0, 0)
        var hash: UInt64
        let bytes: UnsafeRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer, seed: UInt64) {
            self.bytes = bytes
            var state = seed ^ UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15
            var offset = 0
            var index = 0
            while offset < bytes.count {
                var word: UInt64 = 0
                let count = min(bytes.count - offset, 8)
                if count == 8 {
                    word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                } else if offset > 0 {
                    // The last eight bytes, without those that are in the word before.
                    word =
                        bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self) >> UInt64(64 - 8 * count)
                } else {
                    for place in 0..<count { word |= UInt64(bytes[offset + place]) << UInt64(8 * place) }
                }
                state = Self.fold(state ^ word, 0xA076_1D64_78BD_642F)
                switch index {
                case 0: self.words.0 = word
                case 1: self.words.1 = word
                case 2: self.words.2 = word
                case 3: self.tail.0 = word
                case 4: self.tail.1 = word
                default: break
                }
                index += 1
                offset += 8
            }
            self.hash = Self.fold(state, seed | 0xE703_7ED1_A0B4_28DB)
            if bytes.count > KeyTable.inlineBytes {
                (self.words, self.tail) = ((0, self.words.0, self.words.1), (self.words.2, self.tail.0))
            }
        }

        @inline(__always)
        private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
            let product = left.multipliedFullWidth(by: right)
            return product.high ^ product.low
        }

        var tag: UInt64 { self.hash & 0xFFFF_FFFF_0000_0000 }
    }

    /// The record of a key; nil if it is not there.
    func find(_ bytes: UnsafeRawBufferPointer) -> Int32? {
        let slot = self.slots[self.place(of: Key(bytes, seed: self.seed))]
        return slot == 0 ? nil : Int32(truncatingIfNeeded: slot & 0xFFFF_FFFF) - 1
    }

    /// The slot of a key, or the empty one where it belongs.
    private func place(of key: Key) -> Int {
        let mask = self.slots.count - 1
        var place = Int(truncatingIfNeeded: key.hash) & mask
        while true {
            let slot = self.slots[place]
            if slot == 0 { return place }
            if slot & 0xFFFF_FFFF_0000_0000 == key.tag, self.holds(Int(slot & 0xFFFF_FFFF) - 1, key) { return place }
            place = (place + 1) & mask
        }
    }

    private func holds(_ number: Int, _ key: Key) -> Bool {
        self.records.withUnsafeBufferPointer { records in
            let count = key.bytes.count
            guard Int(records[number].length) == count, records[number].words.1 == key.words.1,
                records[number].words.2 == key.words.2
            else { return false }
            if count <= 24 { return records[number].words.0 == key.words.0 }
            guard records[number].tail == key.tail else { return false }
            if count <= Self.inlineBytes { return records[number].words.0 == key.words.0 }
            return self.arena.withUnsafeBytes { arena in
                guard let own = arena.baseAddress, let other = key.bytes.baseAddress else { return false }
                return memcmp(own + Int(records[number].words.0), other, count) == 0
            }
        }
    }

    /// The record of a key of 1 to 255 bytes, which is added if it is not there.
    mutating func insert(_ bytes: UnsafeRawBufferPointer) -> (number: Int32, isNew: Bool) {
        if (self.count + 1) * 4 > self.slots.count * 3 { self.grow() }
        var key = Key(bytes, seed: self.seed)
        let place = self.place(of: key)
        if self.slots[place] != 0 { return (Int32(truncatingIfNeeded: self.slots[place] & 0xFFFF_FFFF) - 1, false) }
        if bytes.count > Self.inlineBytes {
            key.words.0 = UInt64(self.arena.count)
            self.arena.append(contentsOf: bytes)
        }
        let record = Record(tail: key.tail, words: key.words, length: UInt8(bytes.count))
        let number: Int32
        if let used = self.free.popLast() {
            number = used
            self.records[Int(number)] = record
        } else {
            if self.records.count == self.records.capacity { self.growRecords() }
            number = Int32(self.records.count)
            self.records.append(record)
        }
        self.slots[place] = key.tag | UInt64(UInt32(number) + 1)
        return (number, true)
    }

    mutating func remove(_ number: Int32) {
        let mask = self.slots.count - 1
        var hole = self.key(number) { self.place(of: Key($0, seed: self.seed)) }
        self.slots[hole] = 0
        let length = Int(self.records[Int(number)].length)
        if length > Self.inlineBytes { self.waste += length }
        self.records[Int(number)].length = 0
        self.free.append(number)
        // Moves those behind the hole that would not be found any more.
        var next = (hole + 1) & mask
        while self.slots[next] != 0 {
            let home = self.home(of: self.slots[next], mask)
            if (next - home) & mask >= (next - hole) & mask {
                self.slots[hole] = self.slots[next]
                self.slots[next] = 0
                hole = next
            }
            next = (next + 1) & mask
        }
        if self.waste > 4_096, self.waste * 2 > self.arena.count { self.compact() }
    }

    private func home(of slot: UInt64, _ mask: Int) -> Int {
        self.key(Int32(truncatingIfNeeded: slot & 0xFFFF_FFFF) - 1) { bytes in
            Int(truncatingIfNeeded: Key(bytes, seed: self.seed).hash) & mask
        }
    }

    private mutating func grow() {
        let old = self.slots
        self.slots = [UInt64](unsafeUninitializedCapacity: old.count * 2) { slots, count in
            Self.useHugePages(for: UnsafeMutableRawBufferPointer(slots))
            slots.initialize(repeating: 0)
            count = slots.count
        }
        let mask = self.slots.count - 1
        for slot in old where slot != 0 {
            var place = self.home(of: slot, mask)
            while self.slots[place] != 0 { place = (place + 1) & mask }
            self.slots[place] = slot
        }
    }

    private mutating func growRecords() {
        let old = self.records
        self.records = [Record](unsafeUninitializedCapacity: max(old.count * 2, 16)) { records, count in
            Self.useHugePages(for: UnsafeMutableRawBufferPointer(records))
            (_, count) = records.initialize(from: old)
        }
    }

    /// A check of one among millions of accounts costs a miss of the TLB at each place that it reads, unless the pages are huge.
    private static func useHugePages(for bytes: UnsafeMutableRawBufferPointer) {
        let page = 1 << 21
        guard bytes.count >= 2 * page, let start = bytes.baseAddress else { return }
        let first = start.alignedUp(toMultipleOf: page)
        let last = (start + bytes.count).alignedDown(toMultipleOf: page)
        // A kernel that has none of them goes on with small ones.
        _ = madvise(first, last - first, MADV_HUGEPAGE)
    }

    private mutating func compact() {
        var kept: [UInt8] = []
        kept.reserveCapacity(self.arena.count - self.waste)
        for index in self.records.indices where Int(self.records[index].length) > Self.inlineBytes {
            let start = Int(self.records[index].words.0)
            self.records[index].words.0 = UInt64(kept.count)
            kept.append(contentsOf: self.arena[start..<start + Int(self.records[index].length)])
        }
        self.arena = kept
        self.waste = 0
    }

    private func key<Result>(_ number: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let record = self.records[Int(number)]
        let length = Int(record.length)
        guard length > Self.inlineBytes else {
            let words = (record.words.0, record.words.1, record.words.2, record.tail.0, record.tail.1)
            return withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
        }
        return self.arena.withUnsafeBytes { arena in
            let start = Int(record.words.0)
            return body(UnsafeRawBufferPointer(rebasing: arena[start..<start + length]))
        }
    }

    /// A key as text.
    func text(_ number: Int32) -> String { self.key(number) { String(decoding: $0, as: UTF8.self) } }
}
