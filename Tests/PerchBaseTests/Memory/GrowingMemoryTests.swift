import PerchBase
import Testing

@Suite struct `memory that grows` {
    /// Sizes on both sides of the limit where a piece becomes its own mapping.
    @Test func `keeps its contents through every growth`() {
        let steps = [1, 64, Limits.mappedPieceBytes / 8 - 1, Limits.mappedPieceBytes / 8, 100_000, 1_000_000]
        var count = 0
        var memory: UnsafeMutablePointer<UInt64>?
        for larger in steps {
            let grown = GrowingMemory.resized(memory, from: count, to: larger)
            for index in count..<larger { (grown + index).initialize(to: UInt64(index) &* 0x9E37_79B9) }
            (memory, count) = (grown, larger)
        }
        guard let memory else { return }
        #expect((0..<count).allSatisfy { memory[$0] == UInt64($0) &* 0x9E37_79B9 })
        GrowingMemory.free(memory, count)
    }

    @Test func `returns to the allocator when it shrinks`() {
        let count = Limits.mappedPieceBytes
        let large = GrowingMemory.resized(nil as UnsafeMutablePointer<UInt64>?, from: 0, to: count)
        for index in 0..<10 { (large + index).initialize(to: UInt64(index)) }
        let small = GrowingMemory.resized(large, from: count, to: 10)
        #expect((0..<10).allSatisfy { small[$0] == UInt64($0) })
        GrowingMemory.free(small, 10)
    }
}
