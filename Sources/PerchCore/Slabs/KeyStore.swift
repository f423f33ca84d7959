internal import Glibc
import PerchBase

/// Account keys, contiguous in one block of memory: no object, no header, a handle of five bytes.
///
/// Allocated in pieces of eight bytes. A freed place is reused for a key with the same number of pieces. A key has 1 to
/// 255 bytes, so there are 32 free lists, each linked through the freed places.
struct KeyStore: ~Copyable {
    private static let pieceBytes = MemoryLayout<UInt64>.size

    /// Each a piece of `pieceBytes`.
    private var base: UnsafeMutablePointer<UInt64>
    private var capacity: Int32
    private var used: Int32 = 0
    private var keptPieces = 0
    /// By number of pieces: the first free place of that size, which contains the next one.
    private var holes = [Int32](repeating: -1, count: 33)

    init() {
        self.capacity = 64
        self.base = GrowingMemory.resized(nil, from: 0, to: 64)
    }

    deinit { GrowingMemory.free(self.base, Int(self.capacity)) }

    private static func pieces(_ count: Int) -> Int { max(1, (count + Self.pieceBytes - 1) / Self.pieceBytes) }

    /// Stores a copy, and returns its place.
    mutating func insert(_ key: borrowing RawSpan) -> Int32 {
        precondition(key.byteCount <= 255, "a key of \(key.byteCount) bytes was let through")
        let pieces = Self.pieces(key.byteCount)
        self.keptPieces += pieces
        let place: Int32
        if self.holes[pieces] >= 0 {
            place = self.holes[pieces]
            self.holes[pieces] = self.pointer(place).load(as: Int32.self)
        } else {
            while self.capacity - self.used < Int32(pieces) { self.grow() }
            place = self.used
            self.used += Int32(pieces)
        }
        key.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { self.pointer(place).copyMemory(from: base, byteCount: bytes.count) }
        }
        return place
    }

    mutating func remove(_ place: Int32, count: Int) {
        let pieces = Self.pieces(count)
        self.keptPieces -= pieces
        self.pointer(place).storeBytes(of: self.holes[pieces], as: Int32.self)
        self.holes[pieces] = place
    }

    @inline(__always)
    func holds(_ key: UnsafeRawBufferPointer, at place: Int32, count: Int) -> Bool {
        guard count == key.count, let base = key.baseAddress else { return false }
        return memcmp(self.pointer(place), base, count) == 0
    }

    /// Prefetches a key.
    @inline(__always)
    func prefetch(_ place: Int32) { Prefetch.bytes(self.pointer(place), 1) }

    func bytes(_ place: Int32, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: self.pointer(place), count: count)
    }

    @inline(__always)
    private func pointer(_ place: Int32) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(self.base + Int(place)) }

    private mutating func grow() {
        let before = Int(self.capacity)
        self.capacity *= 2
        self.base = GrowingMemory.resized(self.base, from: before, to: Int(self.capacity))
    }

    /// Bytes of the stored keys.
    var keptBytes: Int { self.keptPieces * Self.pieceBytes }

    /// Bytes that were ever used.
    var memoryBytes: Int { Int(self.used) * Self.pieceBytes }
}
