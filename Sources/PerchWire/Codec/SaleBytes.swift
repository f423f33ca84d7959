internal import PerchBase
internal import PerchModel

/// The encoded fields that transactions of one sale share: written once, then copied into each transaction.
///
/// A table of fixed size by the terms' content; newer entries replace older ones. A second table finds terms by their
/// identity. Accounts that bought before an app changed, or in the general way, have terms of their own with the same
/// content. A handle like `OutputBuffer`, owned and destroyed by `MessageCodec`.
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
        var terms: SaleTerms?
        /// Changes with the terms.
        var version: UInt32 = 0
        var counts = InlineArray<4, Int32>(repeating: 0)
        var digest = Digest.zero
    }

    /// Where terms that were used lately stand.
    private struct Known {
        /// Held, so that no other terms can have this address.
        var terms: SaleTerms?
        var place: Int32 = 0
        var version: UInt32 = 0
    }

    private let places: UnsafeMutablePointer<Place>
    private let known: UnsafeMutablePointer<Known>
    private let memory: UnsafeMutableRawPointer

    init() {
        precondition(Limits.writtenSales.nonzeroBitCount == 1, "places are found by a mask")
        self.places = .allocate(capacity: Limits.writtenSales)
        self.places.initialize(repeating: Place(), count: Limits.writtenSales)
        self.known = .allocate(capacity: Limits.writtenSales)
        self.known.initialize(repeating: Known(), count: Limits.writtenSales)
        self.memory = .allocate(byteCount: Limits.writtenSales * Run.count * Limits.writtenRunBytesMax, alignment: 16)
    }

    func destroy() {
        self.places.deinitialize(count: Limits.writtenSales)
        self.places.deallocate()
        self.known.deinitialize(count: Limits.writtenSales)
        self.known.deallocate()
        self.memory.deallocate()
    }

    /// The place of some terms; nil where they are not written yet.
    @inline(__always)
    func place(of terms: SaleTerms) -> Int? {
        let slot = Self.slot(terms)
        let place = Int(self.known[slot].place)
        if self.known[slot].terms === terms, self.known[slot].version == self.places[place].version { return place }
        return self.find(terms)
    }

    private func find(_ terms: SaleTerms) -> Int? {
        let place = Self.place(terms)
        guard let kept = self.places[place].terms, kept == terms else { return nil }
        self.know(terms, at: place)
        return place
    }

    private func know(_ terms: SaleTerms, at place: Int) {
        self.known[Self.slot(terms)] = Known(
            terms: terms, place: Int32(place), version: self.places[place].version)
    }

    /// By identity.
    @inline(__always)
    private static func slot(_ terms: SaleTerms) -> Int {
        let address = UInt(bitPattern: Unmanaged.passUnretained(terms).toOpaque())
        return Int(bitPattern: (address >> 4 ^ address >> 10) & UInt(Limits.writtenSales - 1))
    }

    /// By content.
    private static func place(_ terms: SaleTerms) -> Int {
        var mixer = DigestMixer()
        mixer.mix(terms.fields.productID)
        mixer.mix(
            UInt64(bitPattern: terms.fields.price?.milliunits ?? -1), UInt64(terms.fields.storefront.id.utf8.count))
        return Int(truncatingIfNeeded: mixer.digest.low & UInt64(Limits.writtenSales - 1))
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
        self.places[place].version &+= 1
        for index in 0..<Run.count {
            guard let run = Run(rawValue: index) else { return nil }
            let bytes = write(run)
            guard bytes.count <= Limits.writtenRunBytesMax else { return nil }
            let start = self.memory + (place * Run.count + index) * Limits.writtenRunBytesMax
            UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyMemory(from: bytes)
            counts[index] = Int32(bytes.count)
        }
        self.places[place] = Place(
            terms: terms, version: self.places[place].version, counts: counts, digest: digest)
        self.know(terms, at: place)
        return place
    }
}
