internal import PerchBase
internal import PerchModel

/// A cache of encoded transactions. A purchase's transaction is written three times: in the answer, for the digest of
/// the changed view, and in the pushed value. The bytes differ only in the fields that each signing changes, which are
/// adjacent. So the bytes before and after those are kept and copied.
///
/// A hash table of fixed size by transaction ID; a new entry replaces the old one in its slot. A handle, like
/// `OutputBuffer`: `MessageCodec` owns it and destroys it.
struct TransactionBytes {
    /// The encoded fields before and after those that each signing changes.
    struct Parts {
        var head: UnsafeRawBufferPointer
        var tail: UnsafeRawBufferPointer
    }

    private struct Place {
        /// The transaction's contents. Retained, so that no other object can have the same address.
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

    /// Nil if the transaction was not written recently. Valid until the next call of `keep`.
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

    /// Keeps a copy, unless it is too long.
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
