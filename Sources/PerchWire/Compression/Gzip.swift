import CPerchZlib

/// What stands around deflated bytes in gzip (RFC 1952).
enum Gzip {
    /// Deflate, no name, no time, no system.
    static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]

    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(
            truncatingIfNeeded: crc32(0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count)))
    }
}
