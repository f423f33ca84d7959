import PerchBase

/// The memory in which a batch of frames is assembled before writing: one block for the whole loop, empty after each
/// flush. Small frames are copied in, so that a connection's frames of a tick leave in one system call; large ones are
/// referenced.
struct Staging: ~Copyable {
    /// A piece of a write: in the staging memory, or a payload.
    struct Segment: BitwiseCopyable {
        var base: UnsafeRawPointer
        var count: Int
    }

    /// One frame of a write: its call, and its end in the write.
    struct Frame: BitwiseCopyable {
        enum Role: UInt8 {
            case unfinished
            case owed
            case loading
            case value
            case event
            case beat
        }

        var role: Role
        /// The call, for `loading`, `value` and `event`.
        var call: Int32
        /// The referenced body; none if it was copied.
        var payload: PayloadHandle
        /// Bytes of the write up to the end of this frame.
        var end: Int
        /// Bytes of this frame.
        var count: Int
    }

    /// All segments for one connection in one system call.
    struct Write: BitwiseCopyable {
        var connection: Int32
        var socket: Int32
        var firstSegment: Int
        var segmentCount: Int
        var firstFrame: Int
        var frameCount: Int
        var byteCount: Int
    }

    let memory: UnsafeMutableRawPointer
    var used = 0
    var segments: [Segment] = []
    var frames: [Frame] = []
    /// Of writes to connections of the HTTP family.
    var httpFrames: [HTTPFrame] = []
    var writes: [Write] = []

    init() {
        self.memory = .allocate(byteCount: Limits.stagingBytes, alignment: 64)
    }

    deinit { self.memory.deallocate() }

    mutating func clear() {
        if self.frames.isEmpty, self.used == 0, self.httpFrames.isEmpty { return }
        self.used = 0
        self.segments.removeAll(keepingCapacity: true)
        self.frames.removeAll(keepingCapacity: true)
        self.httpFrames.removeAll(keepingCapacity: true)
        self.writes.removeAll(keepingCapacity: true)
    }

    var room: Int { Limits.stagingBytes - self.used }

    /// Appends a copy of bytes to the write.
    @inline(__always)
    mutating func copy(_ bytes: UnsafeRawPointer, count: Int, firstSegment: Int) {
        let place = self.memory + self.used
        place.copyMemory(from: bytes, byteCount: count)
        self.took(place, count, firstSegment)
    }

    /// Bytes that the caller has written behind what the write has so far.
    @inline(__always)
    mutating func advance(_ count: Int, firstSegment: Int) {
        self.took(self.memory + self.used, count, firstSegment)
    }

    /// Four bytes of address.
    @inline(__always)
    mutating func address(kind: UInt8, stream: UInt32, firstSegment: Int) {
        let place = self.memory + self.used
        place.storeBytes(of: (UInt32(kind) << 24 | stream).bigEndian, as: UInt32.self)
        self.took(place, 4, firstSegment)
    }

    @inline(__always)
    private mutating func took(_ place: UnsafeMutableRawPointer, _ count: Int, _ firstSegment: Int) {
        self.used += count
        let last = self.segments.count - 1
        if last >= firstSegment, self.segments[last].base + self.segments[last].count == UnsafeRawPointer(place) {
            self.segments[last].count += count
        } else {
            self.segments.append(Segment(base: UnsafeRawPointer(place), count: count))
        }
    }

    mutating func refer(_ bytes: UnsafeRawPointer, count: Int) {
        self.segments.append(Segment(base: bytes, count: count))
    }
}

/// The rest of a partly written frame: its copied bytes, then its payload.
struct UnfinishedFrame {
    /// A copy of the rest; for a referenced frame at most its address.
    var bytes: [UInt8]
    var payload: PayloadHandle
    /// Written bytes of the payload.
    var offset: Int

    /// Advances by the number of written bytes.
    mutating func advance(by written: Int) {
        let copied = min(written, self.bytes.count)
        self.bytes.removeFirst(copied)
        self.offset += written - copied
    }
}
