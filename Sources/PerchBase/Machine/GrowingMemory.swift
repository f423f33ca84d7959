internal import CPerchMachine

/// Growing table memory in one piece. A large piece is its own memory mapping (`Limits.mappedPieceBytes`), so growing
/// moves its pages instead of copying them.
///
/// The process therefore never holds the old and the new piece at once, and untouched pages take no memory. Mappings
/// are used because allocators treat large pieces differently, and a table of a million watches must not depend on
/// that.
package enum GrowingMemory {
    /// Resizes `memory` from `oldCount` to `count` items; nil allocates a new piece. New items are not initialised.
    package static func resized<Item: BitwiseCopyable>(
        _ memory: UnsafeMutablePointer<Item>?, from oldCount: Int, to count: Int
    ) -> UnsafeMutablePointer<Item> {
        let stride = MemoryLayout<Item>.stride
        let piece = perch_piece_resize(
            memory, memory == nil ? 0 : oldCount * stride, count * stride, Limits.mappedPieceBytes)
        guard let piece else { fatalError("out of memory: cannot allocate \(count * stride) bytes for a table") }
        return piece.bindMemory(to: Item.self, capacity: count)
    }

    /// Frees a piece with capacity for `count` items.
    package static func free<Item: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Item>, _ count: Int) {
        perch_piece_free(memory, count * MemoryLayout<Item>.stride, Limits.mappedPieceBytes)
    }
}
