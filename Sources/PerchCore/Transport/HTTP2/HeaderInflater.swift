import CPerchHPACK
import PerchBase

/// What one connection's peer compressed its header fields with: HPACK's reading half. The one face of libnghttp2.
///
/// A pointer, so that it fits into a slab; its holder frees it.
struct HeaderInflater: BitwiseCopyable {
    enum Fault: Error {
        /// The tables of both sides differ from now on: the connection ends.
        case broken
        /// The fields exceed `Limits.headerListBytesMax`: the request is refused, the connection goes on.
        case tooLong
    }

    /// A header block that comes in parts: what was decoded so far. Fields beyond the limit are decoded and dropped, so that a
    /// block is never held, however long it is.
    struct Block {
        fileprivate var state = perch_hpack_block()
        fileprivate(set) var fields: [UInt8] = []

        var isTooLong: Bool { self.state.is_too_long != 0 }
        /// Bytes that are held of it: its fields, and the part of one.
        var count: Int { self.fields.count + self.state.pending }
    }

    private let decoder: OpaquePointer

    /// Nil without memory.
    init?() {
        guard let decoder = perch_hpack_new() else { return nil }
        self.decoder = decoder
    }

    func free() { perch_hpack_free(self.decoder) }

    /// Decodes one whole block. The fields lie in `memory` until it is used again; it has `Limits.headerListBytesMax` bytes.
    func inflate(
        _ block: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> HeaderFields {
        var state = perch_hpack_block()
        let count = try self.inflate(block, &state, isLast: true, into: memory)
        guard state.is_too_long == 0 else { throw .tooLong }
        return HeaderFields(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Decodes one part of a block, by way of `memory`.
    func inflate(
        _ part: UnsafeRawBufferPointer, of block: inout Block, isLast: Bool,
        by memory: UnsafeMutableRawBufferPointer
    ) throws(Fault) {
        let count = try self.inflate(part, &block.state, isLast: isLast, into: memory)
        if block.isTooLong {
            block.fields = []
        } else {
            block.fields.append(contentsOf: memory[..<count])
        }
    }

    private func inflate(
        _ part: UnsafeRawBufferPointer, _ state: inout perch_hpack_block, isLast: Bool,
        into memory: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> Int {
        precondition(memory.count >= Limits.headerListBytesMax, "header fields have no room")
        // An empty part has no address; C wants one.
        let count = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { spare in
            perch_hpack_inflate(
                self.decoder, &state,
                (part.baseAddress ?? UnsafeRawPointer(spare.baseAddress.unsafelyUnwrapped))
                    .assumingMemoryBound(to: UInt8.self),
                part.count, isLast ? 1 : 0, memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
                Limits.headerListBytesMax)
        }
        guard count >= 0 else { throw .broken }
        return count
    }
}

/// Header fields in the order in which they came.
struct HeaderFields: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.rest = bytes }

    mutating func next() -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard self.rest.count >= 8 else { return nil }
        let nameCount = Int(self.rest.loadUnaligned(as: UInt32.self))
        let valueCount = Int(self.rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let name = UnsafeRawBufferPointer(rebasing: self.rest[8..<8 + nameCount])
        let value = UnsafeRawBufferPointer(rebasing: self.rest[8 + nameCount..<8 + nameCount + valueCount])
        self.rest = UnsafeRawBufferPointer(rebasing: self.rest[(8 + nameCount + valueCount)...])
        return (name, value)
    }
}
