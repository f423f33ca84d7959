internal import CPerchLinux
internal import PerchBase

/// How the process's allocator deals with what is large.
package enum MappedMemory {
    /// Once, before there are threads. See `Limits.mappedPieceBytes`.
    package static func begin() {
        let result = perch_map_pieces_from(Int32(clamping: Limits.mappedPieceBytes))
        precondition(result == 1, "mallopt knows no bound for mappings")
    }
}
