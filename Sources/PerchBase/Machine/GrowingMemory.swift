internal import CPerchMachine

/// Memory of tables, in one piece that grows: a large one is a mapping of its own (`Limits.mappedPieceBytes`), whose pages are
/// moved and not copied. So the process never holds the old and the new one, and what was never touched is nobody's memory.
///
/// Not the allocator's: what one allocator does for large pieces, another does not, and a table of a million watches is not
/// to depend on it.
package enum GrowingMemory {
    /// `memory` with room for `count` items instead of `oldCount`; nil: a new piece. What is new is not initialised.
    package static func resized<Item: BitwiseCopyable>(
        _ memory: UnsafeMutablePointer<Item>?, from oldCount: Int, to count: Int
    ) -> UnsafeMutablePointer<Item> {
        let stride = MemoryLayout<Item>.stride
        let piece = perch_piece_resize(
            memory, memory == nil ? 0 : oldCount * stride, count * stride, Limits.mappedPieceBytes)
        guard let piece else { fatalError("there is no memory for \(count * stride) bytes") }
        return piece.bindMemory(to: Item.self, capacity: count)
    }

    /// Gives back what has room for `count` items.
    package static func free<Item: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Item>, _ count: Int) {
        perch_piece_free(memory, count * MemoryLayout<Item>.stride, Limits.mappedPieceBytes)
    }
}
