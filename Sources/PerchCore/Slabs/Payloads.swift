internal import Glibc
import PerchBase

/// A handle to bytes that are encoded once and shared by all receivers.
struct PayloadHandle: BitwiseCopyable, Hashable {
    var index: Int32
    static let none = PayloadHandle(index: -1)
    var isNone: Bool { self.index < 0 }
}

/// Other forms of a message, each made for its first reader.
struct MessageForms {
    /// Where it is compressed at all: the deflated bytes that gzip shares.
    var zlib = PayloadHandle.none
    var gzip = PayloadHandle.none
    /// It does not get smaller.
    var isGzipUseless = false
    var json = PayloadHandle.none
    var jsonGzip = PayloadHandle.none
    var isJSONGzipUseless = false
    var event = PayloadHandle.none
    /// The message in the envelope of a call of several watches, by the place of the watch.
    var envelopes: [UInt32: PayloadHandle] = [:]

    /// Without the envelopes.
    var all: InlineArray<5, PayloadHandle> { [self.zlib, self.gzip, self.json, self.jsonGzip, self.event] }
}

/// Immutable encoded frame bodies (Length-Prefixed-Messages) with a manual reference count: another reference costs one
/// addition.
struct Payloads: ~Copyable {
    private struct Payload: BitwiseCopyable {
        var bytes: UnsafeMutableRawPointer
        var count: Int32
        var references: Int32
    }

    private var slab = Slab<Payload>()
    private var pool = Pool()
    private(set) var bytes = 0
    /// Other forms of payloads, such as JSON, by their plain form. They live as long as it.
    private(set) var forms: [Int32: MessageForms] = [:]
    /// Number of payloads ever made, for the counter of encodings.
    private(set) var madeCount: UInt64 = 0

    /// A copy of `body` with one reference, which the caller owns.
    mutating func insert(_ body: UnsafeRawBufferPointer) -> PayloadHandle {
        let copy = self.pool.take(body.count)
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
        let payload = self.slab[handle.index]
        guard payload.references == 0 else { return }
        self.bytes -= Int(payload.count)
        self.pool.give(payload.bytes, Int(payload.count))
        self.slab.remove(handle.index)
        if !self.forms.isEmpty { self.releaseForms(of: handle) }
    }

    private mutating func releaseForms(of plain: PayloadHandle) {
        guard let forms = self.forms.removeValue(forKey: plain.index) else { return }
        let all = forms.all
        for index in all.indices where !all[index].isNone { self.release(all[index]) }
        for envelope in forms.envelopes.values { self.release(envelope) }
    }

    /// Changes the forms of a plain payload. It takes over a reference to each new one.
    mutating func setForms(of plain: PayloadHandle, _ change: (inout MessageForms) -> Void) {
        change(&self.forms[plain.index, default: MessageForms()])
    }

    var count: Int { Int(self.slab.count) }
    var memoryBytes: Int { self.bytes + self.slab.memoryBytes }

    /// Traps if the counts differ from the found references, by index.
    func checkInvariants(_ references: [Int32: Int32]) {
        var total = 0
        for index in 0..<self.slab.extent where self.slab.isTaken(index) {
            let payload = self.slab[index]
            total += Int(payload.count)
            precondition(
                payload.references == references[index] ?? 0,
                "payload \(index) counts \(payload.references) holders, it has \(references[index] ?? 0)")
        }
        precondition(references.count == Int(self.slab.count), "a reference to a freed payload exists")
        precondition(total == self.bytes, "\(total) bytes in payloads, \(self.bytes) counted")
    }

    deinit {
        for index in 0..<self.slab.extent where self.slab.isTaken(index) { free(self.slab[index].bytes) }
        self.pool.destroy()
    }

    /// Memory for bodies, which come and go with every change. Freed pieces of up to 16 × 64 bytes are reused. Longer
    /// ones, and pieces beyond a limit for each size, go to the allocator.
    private struct Pool: BitwiseCopyable {
        private static let unit = 64
        private static let sizes = 16

        /// The last freed piece of each size, which contains the one before it.
        private var free = InlineArray<16, UnsafeMutableRawPointer?>(repeating: nil)
        private var kept = InlineArray<16, Int32>(repeating: 0)

        @inline(__always)
        private static func size(_ count: Int) -> Int { max(0, count &- 1) / Self.unit }

        mutating func take(_ count: Int) -> UnsafeMutableRawPointer {
            let size = Self.size(count)
            if size < Self.sizes, let piece = self.free[size] {
                self.free[size] = piece.load(as: UnsafeMutableRawPointer?.self)
                self.kept[size] &-= 1
                return piece
            }
            guard let piece = malloc(size < Self.sizes ? (size + 1) * Self.unit : count) else {
                fatalError("there is no memory for \(count) bytes")
            }
            return piece
        }

        mutating func give(_ piece: UnsafeMutableRawPointer, _ count: Int) {
            let size = Self.size(count)
            guard size < Self.sizes, self.kept[size] < Limits.payloadPiecesKept else { return Glibc.free(piece) }
            piece.storeBytes(of: self.free[size], as: UnsafeMutableRawPointer?.self)
            self.free[size] = piece
            self.kept[size] &+= 1
        }

        func destroy() {
            for size in 0..<Self.sizes {
                var piece = self.free[size]
                while let next = piece {
                    piece = next.load(as: UnsafeMutableRawPointer?.self)
                    Glibc.free(next)
                }
            }
        }
    }
}
