import PerchBase
import PerchModel

/// Writes messages of the push path directly from values, byte for byte as protobuf-c would. The design note has the
/// cost of each way.
///
/// Writes from the last byte to the first: a nested message is complete before its length is written, so nothing has to
/// be measured. Fields are therefore written in descending order of their numbers. As in proto3, default values are
/// omitted.
///
/// A handle, like `OutputBuffer`: `MessageCodec` owns it and destroys it.
struct PushWriter {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The output occupies the memory from here to its end.
    private var start: Int
    /// Whether to omit the fields that each signing changes: signing dates, JWS, device verification.
    private(set) var omitsSignatures = false
    /// Written into positions that have none.
    let epoch: UInt32
    /// The bytes of recent transactions; nil in a codec that does not reuse them.
    private let known: TransactionBytes?
    /// The last instant that was written, and its bytes: the last `count` of eight in memory order.
    private var lastInstant: (number: UInt64, bytes: UInt64, count: Int) = (0, 0, 0)
    /// The shared fields written before; nil for a writer without a cache.
    private let sales: SaleBytes?

    private static let capacityAtFirst = 4096
    /// Two numbers of at most ten bytes each; numbers are stored eight bytes at a time.
    private static let headBytesMax = 20

    init(known: TransactionBytes? = nil, sales: SaleBytes? = nil, epoch: UInt32 = 0) {
        self.epoch = epoch
        self.known = known
        self.sales = sales
        self.memory = .allocate(byteCount: Self.capacityAtFirst, alignment: 16)
        self.capacity = Self.capacityAtFirst
        self.start = Self.capacityAtFirst
    }

    func destroy() { self.memory.deallocate() }

    /// Begins a message; the previous contents are lost.
    mutating func begin(omitsSignatures: Bool = false) {
        if self.capacity > Limits.codecBytesKept {
            self.memory.deallocate()
            self.memory = .allocate(byteCount: Self.capacityAtFirst, alignment: 16)
            self.capacity = Self.capacityAtFirst
        }
        self.start = self.capacity
        self.omitsSignatures = omitsSignatures
    }

    var count: Int { self.capacity - self.start }

    /// The output, with `front` bytes of space before it.
    mutating func written(front: Int = 0) -> UnsafeMutableRawBufferPointer {
        self.makeRoom(front)
        return UnsafeMutableRawBufferPointer(start: self.memory + (self.start - front), count: self.count + front)
    }

    // MARK: Fields

    /// Writes a number unless it is 0.
    @inline(__always)
    mutating func number(_ field: UInt32, _ value: UInt64) {
        if value != 0 { self.present(field, value) }
    }

    @inline(__always)
    mutating func number(_ field: UInt32, _ value: UInt32) { self.number(field, UInt64(value)) }

    @inline(__always)
    mutating func instant(_ field: UInt32, _ value: Instant) {
        let number = UInt64(bitPattern: value.milliseconds)
        // Five fields of a purchase are the instant of its batch.
        guard number == self.lastInstant.number, number != 0 else { return self.newInstant(field, number) }
        self.makeRoom(Self.headBytesMax)
        self.memory.storeBytes(of: self.lastInstant.bytes, toByteOffset: self.start &- 8, as: UInt64.self)
        self.start &-= self.lastInstant.count
        self.varint(UInt64(field << 3))
    }

    private mutating func newInstant(_ field: UInt32, _ number: UInt64) {
        guard number != 0 else { return }
        let before = self.count
        self.makeRoom(2 * Self.headBytesMax)
        self.varint(number)
        let count = self.count - before
        if count <= 8 {
            // What stands behind the number is shifted out.
            let word = (self.memory + (self.start &+ count &- 8)).loadUnaligned(as: UInt64.self)
            self.lastInstant = (number, word, count)
        }
        self.varint(UInt64(field << 3))
    }

    @inline(__always)
    mutating func value(_ field: UInt32, _ value: some OpenEnumeration) {
        self.number(field, UInt64(bitPattern: Int64(value.rawValue)))
    }

    @inline(__always)
    mutating func flag(_ field: UInt32, _ value: Bool) { self.number(field, value ? 1 as UInt64 : 0) }

    /// Writes a number of a oneof if it is set, even if it is 0.
    @inline(__always)
    mutating func present(_ field: UInt32, _ value: UInt64) {
        self.makeRoom(Self.headBytesMax)
        self.varint(value)
        self.varint(UInt64(field << 3))
    }

    /// Writes text unless it is empty. Text ends before a NUL, as in C; our readers refuse NUL before.
    @inline(__always)
    mutating func text(_ field: UInt32, _ value: String) {
        if !value.isEmpty { self.nonempty(field, value) }
    }

    /// As above: a UUID is printed, another text copied.
    @inline(__always)
    mutating func text(_ field: UInt32, _ value: WrittenAccountToken) {
        guard let uuid = value.uuid else { return self.text(field, value.other) }
        self.makeRoom(AccountToken.textBytes)
        self.start -= AccountToken.textBytes
        uuid.write(into: self.memory + self.start)
        self.close(field, count: AccountToken.textBytes)
    }

    private mutating func nonempty(_ field: UInt32, _ value: String) {
        let span = value.utf8Span.span
        span.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var count = bytes.count
            if Self.hasNUL(base, count) { count = bytes.firstIndex(of: 0) ?? count }
            if count > 0 { self.copy(field, base, count) }
        }
    }

    /// Copies eight bytes at a time; the last eight overlap if the length is no multiple.
    @inline(__always)
    private static func hasNUL(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
        guard count >= 8 else {
            var offset = 0
            while offset < count {
                if base.load(fromByteOffset: offset, as: UInt8.self) == 0 { return true }
                offset += 1
            }
            return false
        }
        var offset = 0
        while offset < count - 8 {
            if Self.hasZero(base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) { return true }
            offset += 8
        }
        return Self.hasZero(base.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
    }

    @inline(__always)
    private static func hasZero(_ word: UInt64) -> Bool {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0
    }

    /// Writes an item of a list of texts, even if it is empty.
    mutating func item(_ field: UInt32, _ value: String) {
        let count = self.count
        self.text(field, value)
        if self.count == count { self.close(field, count: 0) }
    }

    mutating func bytes(_ field: UInt32, _ value: [UInt8]) {
        value.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress, !bytes.isEmpty { self.copy(field, base, bytes.count) }
        }
    }

    /// Writes a token in place.
    mutating func token(_ field: UInt32, _ token: ResumeToken) {
        self.makeRoom(ResumeToken.byteCount)
        self.start -= ResumeToken.byteCount
        token.write(
            into: UnsafeMutableRawBufferPointer(start: self.memory + self.start, count: ResumeToken.byteCount))
        self.close(field, count: ResumeToken.byteCount)
    }

    @inline(__always)
    private mutating func copy(_ field: UInt32, _ base: UnsafeRawPointer, _ count: Int) {
        self.makeRoom(count + Self.headBytesMax)
        self.start -= count
        (self.memory + self.start).copyMemory(from: base, byteCount: count)
        self.varint(UInt64(count))
        self.varint(UInt64(field << 3 | 2))
    }

    /// Writes a nested message by `fill`, even if it is empty.
    @inline(__always)
    mutating func message(_ field: UInt32, _ fill: (inout PushWriter) -> Void) {
        let count = self.count
        fill(&self)
        self.close(field, count: self.count - count)
    }

    /// Writes length and tag of the message just written.
    @inline(__always)
    private mutating func close(_ field: UInt32, count: Int) {
        self.makeRoom(Self.headBytesMax)
        self.varint(UInt64(count))
        self.varint(UInt64(field << 3 | 2))
    }

    // MARK: Transactions

    /// Writes a transaction's fields, or copies their bytes from an earlier message. `signatures` are the fields that
    /// each signing changes; `tail` writes the fields after them, and `head` those before.
    @inline(__always)
    mutating func transaction(
        _ transaction: Transaction, tail: (inout PushWriter) -> Void, signatures: (inout PushWriter) -> Void,
        head: (inout PushWriter) -> Void
    ) {
        if let parts = self.known?.parts(of: transaction) {
            self.copy(parts.tail)
            if !self.omitsSignatures { signatures(&self) }
            self.copy(parts.head)
            return
        }
        let before = self.count
        let sale = self.salePlace(of: transaction)
        if let sale { self.copy(sale.bytes.bytes(.plan, at: sale.place)) } else { tail(&self) }
        let tailCount = self.count - before
        if !self.omitsSignatures { signatures(&self) }
        let headBegan = self.count
        if let sale { self.head(transaction.contents, sale.bytes, at: sale.place) } else { head(&self) }
        guard let known = self.known else { return }
        // The most recently written part comes first in memory.
        let start = UnsafeRawPointer(self.memory + self.start)
        known.keep(
            TransactionBytes.Parts(
                head: UnsafeRawBufferPointer(start: start, count: self.count - headBegan),
                tail: UnsafeRawBufferPointer(start: start + (self.count - before - tailCount), count: tailCount)),
            of: transaction)
    }

    /// The digest of a transaction without rare fields: over its own fields, and the digest of those that it shares.
    mutating func digest(ofPlain transaction: Transaction) -> Digest {
        let contents = transaction.contents
        let sale = self.saleDigest(contents.fields.sale)
        var mixer = DigestMixer()
        mixer.mix(contents.fields.id, contents.fields.originalID)
        mixer.mix(
            UInt64(bitPattern: contents.fields.purchaseDate.milliseconds),
            UInt64(bitPattern: contents.fields.originalPurchaseDate.milliseconds))
        mixer.mix(sale.high, sale.low)
        if let token = contents.fields.accountToken { mixer.mix(token.high, token.low) }
        let flags: UInt64 =
            (contents.fields.isUpgraded ? 1 : 0) | (contents.fields.accountToken == nil ? 0 : 2)
            | (contents.fields.expirationDate == nil ? 0 : 4)
        mixer.mix(UInt64(bitPattern: contents.fields.expirationDate?.milliseconds ?? 0), flags)
        mixer.mix(UInt64(contents.fields.quantity), UInt64(UInt32(bitPattern: contents.fields.ownership.rawValue)))
        mixer.mix(contents.fields.appTransactionID)
        mixer.mix(contents.fields.webOrderLineItemID)
        return mixer.digest
    }

    /// The digest of the fields that the transactions of a sale share.
    private mutating func saleDigest(_ terms: SaleTerms) -> Digest {
        if let sales = self.sales, let place = self.salePlace(of: terms, sales) { return sales.digest(at: place) }
        let written = self.count
        let digest = self.writeSale(terms.fields)
        self.start = self.capacity - written
        return digest
    }

    /// Writes all shared fields, and digests them.
    private mutating func writeSale(_ sale: SaleFields) -> Digest {
        let before = self.count
        for index in 0..<SaleBytes.Run.count {
            if let run = SaleBytes.Run(rawValue: index) { self.write(run, of: sale) }
        }
        let bytes = UnsafeRawBufferPointer(start: self.memory + self.start, count: self.count - before)
        return Digest(ofValue: bytes.bytes)
    }

    /// Where the shared fields of a transaction without rare fields are kept; nil: all of its fields are written.
    private mutating func salePlace(of transaction: Transaction) -> (bytes: SaleBytes, place: Int)? {
        guard let sales = self.sales, transaction.contents.fields.rare == nil else { return nil }
        return self.salePlace(of: transaction.contents.fields.sale, sales).map { (sales, $0) }
    }

    @inline(__always)
    private mutating func salePlace(of terms: SaleTerms, _ sales: SaleBytes) -> Int? {
        sales.place(of: terms) ?? self.keep(terms, sales)
    }

    private mutating func keep(_ terms: SaleTerms, _ sales: SaleBytes) -> Int? {
        let written = self.count
        let digest = self.writeSale(terms.fields)
        let place = sales.keep(terms, digest) { run in
            let before = self.count
            self.write(run, of: terms.fields)
            return UnsafeRawBufferPointer(start: self.memory + self.start, count: self.count - before)
        }
        // Those were for the table.
        self.start = self.capacity - written
        return place
    }

    /// As `Transaction.write` writes these fields; a test compares both.
    private mutating func write(_ run: SaleBytes.Run, of sale: SaleFields) {
        switch run {
        case .app:
            self.text(4, sale.appBundleID)
        case .product:
            self.text(8, sale.subscriptionGroupID)
            self.value(7, sale.productType)
            self.text(6, sale.productID)
        case .place:
            if let value = sale.price { self.message(21) { value.write(to: &$0) } }
            self.value(20, sale.reason)
            if !sale.storefront.isBlank { self.message(19) { sale.storefront.write(to: &$0) } }
            self.value(18, sale.environment)
        case .plan:
            self.value(25, sale.billingPlan)
        }
    }

    /// The fields before the signatures of a transaction without rare fields.
    private mutating func head(_ contents: Transaction.Contents, _ sales: SaleBytes, at place: Int) {
        self.copy(sales.bytes(.place, at: place))
        if let uuid = contents.fields.accountToken { self.text(17, WrittenAccountToken(uuid: uuid)) }
        self.value(14, contents.fields.ownership)
        self.flag(13, contents.fields.isUpgraded)
        self.number(12, contents.fields.quantity)
        if let value = contents.fields.expirationDate { self.present(11, UInt64(bitPattern: value.milliseconds)) }
        self.instant(10, contents.fields.originalPurchaseDate)
        self.instant(9, contents.fields.purchaseDate)
        self.copy(sales.bytes(.product, at: place))
        self.text(5, contents.fields.appTransactionID)
        self.copy(sales.bytes(.app, at: place))
        self.text(3, contents.fields.webOrderLineItemID)
        self.number(2, contents.fields.originalID)
        self.number(1, contents.fields.id)
    }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        self.makeRoom(bytes.count)
        self.start -= bytes.count
        (self.memory + self.start).copyMemory(from: base, byteCount: bytes.count)
    }

    // MARK: Bytes

    @inline(__always)
    private mutating func varint(_ value: UInt64) {
        if value < 0x80 {
            self.start -= 1
            self.memory.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: self.start, as: UInt8.self)
            return
        }
        if value < 0x4000 {
            self.start &-= 2
            let word = UInt16(truncatingIfNeeded: value & 0x7F | 0x80 | (value >> 7) << 8)
            self.memory.storeBytes(of: word.littleEndian, toByteOffset: self.start, as: UInt16.self)
            return
        }
        self.longVarint(value)
    }

    /// Spreads up to eight groups of seven bits and stores them at once; the unused bytes before them are free space.
    private mutating func longVarint(_ value: UInt64) {
        guard value < 1 << 56 else { return self.longestVarint(value) }
        let count = (70 - value.leadingZeroBitCount) / 7
        var word = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4
        word = word & 0x0000_3FFF_0000_3FFF | (word & 0x0FFF_C000_0FFF_C000) << 2
        word = word & 0x007F_007F_007F_007F | (word & 0x3F80_3F80_3F80_3F80) << 1
        // Sets the continuation bit of all groups but the last.
        word |= 0x8080_8080_8080_8080 &- (1 << UInt64(8 &* count &- 1))
        word <<= UInt64(64 &- 8 &* count)
        self.memory.storeBytes(of: word.littleEndian, toByteOffset: self.start &- 8, as: UInt64.self)
        self.start &-= count
    }

    private mutating func longestVarint(_ value: UInt64) {
        let count = (70 - value.leadingZeroBitCount) / 7
        self.start -= count
        var rest = value
        for index in 0..<count - 1 {
            self.memory.storeBytes(
                of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: self.start + index, as: UInt8.self)
            rest >>= 7
        }
        self.memory.storeBytes(
            of: UInt8(truncatingIfNeeded: rest), toByteOffset: self.start + count - 1, as: UInt8.self)
    }

    @inline(__always)
    private mutating func makeRoom(_ count: Int) {
        if self.start < count { self.grow(count) }
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        let written = self.count
        var capacity = self.capacity * 2
        while capacity - written < count { capacity *= 2 }
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        (larger + (capacity - written)).copyMemory(from: self.memory + self.start, byteCount: written)
        self.memory.deallocate()
        self.memory = larger
        self.capacity = capacity
        self.start = capacity - written
    }
}
