internal import CPerchMachine

/// The Castagnoli checksum, which protects records, facts and tokens against flipped bits.
///
/// The token of each pushed value contains one. Most processors have an instruction for it. The table fallback takes
/// 350 instructions and about seventy cache lines of an 8 KiB table, which are cold after a loop has slept.
package enum CRC32C {
    private static let hasInstruction = perch_crc32c_is_available()

    package static func checksum(_ bytes: borrowing RawSpan, continuing previous: UInt32 = 0) -> UInt32 {
        guard Self.hasInstruction else { return Self.checksumByTables(bytes, continuing: previous) }
        return bytes.withUnsafeBytes { ~perch_crc32c(~previous, $0.baseAddress, $0.count) }
    }

    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        self.checksum(bytes.span.bytes)
    }

    // MARK: Fallback without the instruction

    /// Eight tables process eight bytes at a time.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? (value >> 1) ^ 0x82F6_3B78 : value >> 1 }
            tables[index] = value
        }
        for table in 1..<8 {
            for index in 0..<256 {
                let previous = tables[(table - 1) * 256 + index]
                tables[table * 256 + index] = (previous >> 8) ^ tables[Int(previous & 0xFF)]
            }
        }
        return tables
    }()

    static func checksumByTables(_ bytes: borrowing RawSpan, continuing previous: UInt32 = 0) -> UInt32 {
        var value = ~previous
        var offset = 0
        Self.tables.withUnsafeBufferPointer { table in
            while bytes.byteCount - offset >= 8 {
                let word = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
                let low = UInt32(truncatingIfNeeded: word) ^ value
                let high = UInt32(truncatingIfNeeded: word >> 32)
                value =
                    table[7 * 256 + Int(low & 0xFF)] ^ table[6 * 256 + Int((low >> 8) & 0xFF)]
                    ^ table[5 * 256 + Int((low >> 16) & 0xFF)] ^ table[4 * 256 + Int(low >> 24)]
                    ^ table[3 * 256 + Int(high & 0xFF)] ^ table[2 * 256 + Int((high >> 8) & 0xFF)]
                    ^ table[1 * 256 + Int((high >> 16) & 0xFF)] ^ table[Int(high >> 24)]
                offset += 8
            }
            while offset < bytes.byteCount {
                let byte = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
                value = (value >> 8) ^ table[Int((value ^ UInt32(byte)) & 0xFF)]
                offset += 1
            }
        }
        return ~value
    }
}
