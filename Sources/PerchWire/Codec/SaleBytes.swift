internal import PerchBase
internal import PerchModel

/// The encoded fields that transactions of one sale share: written once, then copied into each transaction.
///
/// A table of fixed size by the identity of the terms; newer entries replace older ones. A handle like `OutputBuffer`, owned
/// and destroyed by `MessageCodec`.
struct SaleBytes {
    /// Runs of fields between those of the single transaction, from the first field number to the last.
    enum Run: Int {
        /// Field 4.
        case app
        /// Fields 6 to 8.
        case product
        /// Fields 18 to 21.
        case place
        /// Field 25.
        case plan

        static let count = 4
    }

    private struct Place {
        /// Held, so that no other terms can have this address.
        var terms: SaleTerms?
        var counts = InlineArray<4, Int32>(repeating: 0)
        var digest = Digest.zero
    }

    private let places: UnsafeMutablePointer<Place>
    private let memory: UnsafeMutableRawPointer

    init() {
        precondition(Limits.writtenSales.nonzeroBitCount == 1, "places are found by a mask")
        self.places = .allocate(capacity: Limits.writtenSales)
        self.places.initialize(repeating: Place(), count: Limits.writtenSales)
        self.memory = .allocate(byteCount: Limits.writtenSales * Run.count * Limits.writtenRunBytesMax, alignment: 16)
    }

    func destroy() {
        self.places.deinitialize(count: Limits.writtenSales)
        self.places.deallocate()
        self.memory.deallocate()
    }

    /// The place of some terms; nil where they are not written yet.
    @inline(__always)
    func place(of terms: SaleTerms) -> Int? {
        let place = Self.place(terms)
        return self.places[place].terms === terms ? place : nil
    }

    @inline(__always)
    private static func place(_ terms: SaleTerms) -> Int {
        let address = UInt(bitPattern: Unmanaged.passUnretained(terms).toOpaque())
        return Int(bitPattern: (address >> 4 ^ address >> 10) & UInt(Limits.writtenSales - 1))
    }

    @inline(__always)
    func bytes(_ run: Run, at place: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: self.memory + (place * Run.count + run.rawValue) * Limits.writtenRunBytesMax,
            count: Int(self.places[place].counts[run.rawValue]))
    }

    /// Of all runs.
    @inline(__always)
    func digest(at place: Int) -> Digest { self.places[place].digest }

    /// Keeps the runs of some terms, each written by `write`; nil where one is too long to be kept.
    func keep(_ terms: SaleTerms, _ digest: Digest, _ write: (Run) -> UnsafeRawBufferPointer) -> Int? {
        let place = Self.place(terms)
        var counts = InlineArray<4, Int32>(repeating: 0)
        self.places[place].terms = nil
        for index in 0..<Run.count {
            guard let run = Run(rawValue: index) else { return nil }
            let bytes = write(run)
            guard bytes.count <= Limits.writtenRunBytesMax else { return nil }
            let start = self.memory + (place * Run.count + index) * Limits.writtenRunBytesMax
            UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyMemory(from: bytes)
            counts[index] = Int32(bytes.count)
        }
        self.places[place] = Place(terms: terms, counts: counts, digest: digest)
        return place
    }
}
