internal import PerchBase
internal import PerchModel

/// What the transactions of the last turns were written as. That of a purchase is written three times: in its answer, for
/// the digest of the view that it changes, and in the value that is pushed. The bytes are the same but for the fields that
/// signing again changes, which stand in one piece: so what lies on both sides of it is kept, and copied.
///
/// A table of fixed size by the numbers of transactions, the newest in the place of an older one. A handle, as
/// `OutputBuffer`: `MessageCodec` owns it and destroys it.
struct TransactionBytes {
    /// The fields before and behind those that signing changes.
    struct Parts {
        var head: UnsafeRawBufferPointer
        var tail: UnsafeRawBufferPointer
    }

    private struct Place {
        /// Whose they are. Held, so that no other can be found where this one was.
        var contents: Transaction.Contents?
        var headCount: Int32 = 0
        var tailCount: Int32 = 0
    }

    private let places: UnsafeMutablePointer<Place>
    private let memory: UnsafeMutableRawPointer

    init() {
        precondition(Limits.writtenTransactions.nonzeroBitCount == 1, "places are found by a mask")
        self.places = .allocate(capacity: Limits.writtenTransactions)
        self.places.initialize(repeating: Place(), count: Limits.writtenTransactions)
        self.memory = .allocate(
            byteCount: Limits.writtenTransactions * Limits.writtenTransactionBytesMax, alignment: 16)
    }

    func destroy() {
        self.places.deinitialize(count: Limits.writtenTransactions)
        self.places.deallocate()
        self.memory.deallocate()
    }

    private static func place(of transaction: Transaction) -> Int {
        Int(truncatingIfNeeded: transaction.contents.fields.id & UInt64(Limits.writtenTransactions - 1))
    }

    /// Nil where it was not written lately. Valid until the next one is kept.
    func parts(of transaction: Transaction) -> Parts? {
        let index = Self.place(of: transaction)
        let place = self.places + index
        guard place.pointee.contents === transaction.contents else { return nil }
        let bytes = UnsafeRawPointer(self.memory + index * Limits.writtenTransactionBytesMax)
        let headCount = Int(place.pointee.headCount)
        return Parts(
            head: UnsafeRawBufferPointer(start: bytes, count: headCount),
            tail: UnsafeRawBufferPointer(start: bytes + headCount, count: Int(place.pointee.tailCount)))
    }

    /// Keeps a copy; a long one is not kept.
    func keep(_ parts: Parts, of transaction: Transaction) {
        let (headCount, tailCount) = (parts.head.count, parts.tail.count)
        guard headCount + tailCount <= Limits.writtenTransactionBytesMax else { return }
        let index = Self.place(of: transaction)
        let bytes = self.memory + index * Limits.writtenTransactionBytesMax
        UnsafeMutableRawBufferPointer(start: bytes, count: headCount).copyMemory(from: parts.head)
        UnsafeMutableRawBufferPointer(start: bytes + headCount, count: tailCount).copyMemory(from: parts.tail)
        self.places[index] = Place(
            contents: transaction.contents, headCount: Int32(headCount), tailCount: Int32(tailCount))
    }
}
