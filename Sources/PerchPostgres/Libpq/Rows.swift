import CPerchPostgres

/// The rows of one command. Owns libpq's result.
final class Rows {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { perch_pq_clear(self.handle) }

    var count: Int { Int(perch_pq_rows(self.handle)) }
    var isEmpty: Bool { self.count == 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { perch_pq_is_null(self.handle, Int32(row), Int32(column)) != 0 }

    /// An integer of any width, or a boolean as 0 or 1.
    func int64(_ row: Int, _ column: Int) -> Int64 {
        let value = UnsafeRawBufferPointer(
            start: perch_pq_value(self.handle, Int32(row), Int32(column)),
            count: Int(perch_pq_length(self.handle, Int32(row), Int32(column))))
        switch value.count {
        case 8: return Int64(bigEndian: value.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: value.loadUnaligned(as: Int32.self)))
        case 2: return Int64(Int16(bigEndian: value.loadUnaligned(as: Int16.self)))
        case 1: return Int64(value[0])
        default: preconditionFailure("column \(column) has \(value.count) bytes and is no integer")
        }
    }

    func uint64(_ row: Int, _ column: Int) -> UInt64 { UInt64(bitPattern: self.int64(row, column)) }

    func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        let count = Int(perch_pq_length(self.handle, Int32(row), Int32(column)))
        return Array(UnsafeBufferPointer(start: perch_pq_value(self.handle, Int32(row), Int32(column)), count: count))
    }

    func text(_ row: Int, _ column: Int) -> String { String(decoding: self.bytes(row, column), as: UTF8.self) }
}
