/// A handle to bytes that are encoded once and shared by everybody they are sent to.
struct PayloadHandle: BitwiseCopyable, Hashable {
    var index: Int32
    static let none = PayloadHandle(index: -1)
    var isNone: Bool { self.index < 0 }
}

/// Immutable encoded frame bodies (Length-Prefixed-Messages), counted by hand: taking one more reference is an addition.
struct Payloads: ~Copyable {
    private struct Payload: BitwiseCopyable {
        var bytes: UnsafeMutableRawPointer
        var count: Int32
        var references: Int32
    }

    private var slab = Slab<Payload>()
    private(set) var bytes = 0
    /// Payloads ever made: what the counter of encodings tells.
    private(set) var madeCount: UInt64 = 0

    /// A copy of `body` with one reference, the caller's.
    mutating func insert(_ body: UnsafeRawBufferPointer) -> PayloadHandle {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(body.count, 1), alignment: 8)
        if let base = body.baseAddress { copy.copyMemory(from: base, byteCount: body.count) }
        self.bytes += body.count
        self.madeCount += 1
        return PayloadHandle(
            index: self.slab.insert(Payload(bytes: copy, count: Int32(body.count), references: 1)))
    }

    mutating func insert(_ body: [UInt8]) -> PayloadHandle {
        body.withUnsafeBytes { self.insert($0) }
    }

    @inline(__always)
    subscript(handle: PayloadHandle) -> UnsafeRawBufferPointer {
        let payload = self.slab[handle.index]
        return UnsafeRawBufferPointer(start: payload.bytes, count: Int(payload.count))
    }

    mutating func retain(_ handle: PayloadHandle) {
        self.slab[handle.index].references += 1
    }

    mutating func release(_ handle: PayloadHandle) {
        self.slab[handle.index].references -= 1
        guard self.slab[handle.index].references == 0 else { return }
        self.bytes -= Int(self.slab[handle.index].count)
        self.slab[handle.index].bytes.deallocate()
        self.slab.remove(handle.index)
    }

    var count: Int { Int(self.slab.count) }
    var memoryBytes: Int { self.bytes + self.slab.memoryBytes }

    /// Traps where the counts differ from the holders that were found, by index.
    func checkInvariants(_ references: [Int32: Int32]) {
        var total = 0
        for index in 0..<self.slab.extent where self.slab.isTaken(index) {
            let payload = self.slab[index]
            total += Int(payload.count)
            precondition(
                payload.references == references[index] ?? 0,
                "payload \(index) counts \(payload.references) holders, it has \(references[index] ?? 0)")
        }
        precondition(references.count == Int(self.slab.count), "somebody holds a payload that is gone")
        precondition(total == self.bytes, "\(total) bytes in payloads, \(self.bytes) counted")
    }

    deinit {
        for index in 0..<self.slab.extent where self.slab.isTaken(index) { self.slab[index].bytes.deallocate() }
    }
}
