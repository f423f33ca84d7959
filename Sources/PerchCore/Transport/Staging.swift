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

    /// One frame of a write, and what is said with it.
    struct Frame: BitwiseCopyable {
        enum Role: UInt8 {
            /// The rest of a frame that the kernel took a part of.
            case unfinished
            /// The first pending output of the connection.
            case unsent
            case beat

            // Of a stream of HTTP:

            case head
            /// The rest of a message that was begun before.
            case pinned
            case bookmark
            /// The first pending output of the stream.
            case answer
            /// The end of the stream, where it is no message.
            case end

            // Of a watch, or of a stream of events:

            case loading
            case value
            case event
        }

        /// The roles in a write.
        struct Roles {
            private var bits: UInt16 = 0

            @inline(__always)
            mutating func insert(_ role: Role) { self.bits |= 1 << UInt16(role.rawValue) }

            /// News of a watch, or of a stream of events.
            var hasNews: Bool { self.bits >> UInt16(Role.loading.rawValue) != 0 }
            /// Anything of a stream of HTTP.
            var hasData: Bool { self.bits >> UInt16(Role.head.rawValue) != 0 }
        }

        var role: Role
        /// Of a message: this frame begins it, or completes it.
        var isFirst = true
        var isLast = true
        /// The stream of HTTP; -1 on perch/1.
        var stream: Int32 = -1
        /// The call whose news it is.
        var call: Int32 = -1
        var payload = PayloadHandle.none
        /// How much of the payload is said with this frame.
        var offset: Int32 = 0
        /// Bytes that count against the windows.
        var flow: Int32 = 0
        /// Bytes of the write up to the end of this frame, and of this frame.
        var end: Int32 = 0
        var count: Int32 = 0
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
    var writes: [Write] = []

    init() {
        self.memory = .allocate(byteCount: Limits.stagingBytes, alignment: 64)
    }

    deinit { self.memory.deallocate() }

    mutating func clear() {
        if self.frames.isEmpty, self.used == 0 { return }
        self.used = 0
        self.segments.removeAll(keepingCapacity: true)
        self.frames.removeAll(keepingCapacity: true)
        self.writes.removeAll(keepingCapacity: true)
    }

    var room: Int { Limits.stagingBytes - self.used }

    /// Where the next bytes of a write are put.
    var end: UnsafeMutableRawPointer {
        @inline(__always) get { self.memory + self.used }
    }

    /// Takes bytes that the caller has put at `end` into the write.
    @inline(__always)
    mutating func advance(_ count: Int, firstSegment: Int) {
        guard count > 0 else { return }
        let place = self.end
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

    /// Whether a segment is a copy, and no payload.
    func isCopy(_ segment: Segment) -> Bool {
        segment.base >= UnsafeRawPointer(self.memory) && segment.base < UnsafeRawPointer(self.memory + self.used)
    }
}

/// A frame that the kernel took a part of. What is kept of it is a copy, or a reference to its message.
struct UnfinishedFrame {
    /// In their order, without what had been taken when the frame was kept.
    var pieces: [(payload: PayloadHandle, offset: Int, count: Int)] = []
    /// Bytes of them that the kernel has taken since.
    var taken = 0
}
