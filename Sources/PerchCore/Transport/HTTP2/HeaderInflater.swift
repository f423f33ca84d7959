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
        precondition(memory.count >= Limits.headerListBytesMax, "header fields have no room")
        // An empty block has no address; C wants one.
        let count = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { spare in
            perch_hpack_inflate(
                self.decoder,
                (block.baseAddress ?? UnsafeRawPointer(spare.baseAddress.unsafelyUnwrapped))
                    .assumingMemoryBound(to: UInt8.self),
                block.count, memory.baseAddress?.assumingMemoryBound(to: UInt8.self), Limits.headerListBytesMax)
        }
        if count == Int(PERCH_HPACK_TOO_LONG) { throw .tooLong }
        guard count >= 0 else { throw .broken }
        return HeaderFields(UnsafeRawBufferPointer(rebasing: memory[..<count]))
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
