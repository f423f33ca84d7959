package import PerchBase
package import PerchModel

/// A purchase without an offer or a date, as a loop asks for it: nearly all purchases.
///
/// Of fixed size and without references, because it is copied from list to list between its frame and its decision. A
/// product is named by its place in the catalogue that the loop knew.
package struct StoreOrder: BitwiseCopyable, Sendable {
    package let app: AppNumber
    /// Place among the products of the catalogue.
    package let product: Int32
    package let catalogueRevision: UInt64
    package let quantity: UInt32
    package let accountToken: AccountToken?
    package let account: OrderAccount
    /// The `client_id` of the caller's connection; empty for a purchase outside the app.
    package let origin: OrderOrigin
    /// The idempotency key, and the digest of the request; empty for none.
    package let key: OrderKey
    package let digest: Digest

    package init(
        app: AppNumber, product: Int32, catalogueRevision: UInt64, quantity: UInt32, accountToken: AccountToken?,
        account: OrderAccount, origin: OrderOrigin, key: OrderKey = .none, digest: Digest = .zero
    ) {
        self.app = app
        self.product = product
        self.catalogueRevision = catalogueRevision
        self.quantity = quantity
        self.accountToken = accountToken
        self.account = account
        self.origin = origin
        self.key = key
        self.digest = digest
    }

    /// Nil for an order without a key.
    var mutationKey: MutationKey? { self.key.isEmpty ? nil : MutationKey(app: self.app, bytes: self.key.bytes) }

    var accountKey: AccountKey { self.account.key(app: self.app) }

    /// The same order in the general form. `catalogue` is the one of `catalogueRevision`.
    package func general(_ catalogue: Catalogue) -> Mutation {
        let order = PurchaseOrder(
            productID: catalogue.products[Int(self.product)].id, quantity: self.quantity,
            accountToken: WrittenAccountToken(uuid: self.accountToken))
        var mutation = Mutation.operation(
            .buy(order), account: self.accountKey, app: self.app, origin: self.origin.clientID)
        if !self.key.isEmpty { mutation.repeatable(under: self.key.bytes, of: self.digest) }
        return mutation
    }
}

/// The ID of a client, in place.
package struct OrderOrigin: BitwiseCopyable, Sendable {
    private var bytes: InlineArray<32, UInt8>
    private let count: UInt8

    /// No client.
    package static let none = OrderOrigin([])

    package init(_ clientID: [UInt8]) {
        precondition(clientID.count <= Limits.clientIDBytesMax, "an ID of \(clientID.count) bytes")
        self.count = UInt8(clientID.count)
        self.bytes = InlineArray(repeating: 0)
        clientID.withUnsafeBytes { id in
            withUnsafeMutableBytes(of: &self.bytes) { $0.copyMemory(from: id) }
        }
    }

    package var clientID: [UInt8] { self.count == 0 ? [] : (0..<Int(self.count)).map { self.bytes[$0] } }
}

/// An idempotency key of at most `bytesMax` bytes, in place.
package struct OrderKey: BitwiseCopyable, Sendable {
    private var stored: InlineArray<40, UInt8>
    private let count: UInt8

    package static let bytesMax = 40
    package static let none = OrderKey()

    private init() {
        self.count = 0
        self.stored = InlineArray(repeating: 0)
    }

    /// Nil for a longer key.
    @inline(__always)
    package init?(_ key: UnsafeRawBufferPointer) {
        guard key.count <= Self.bytesMax else { return nil }
        self.count = UInt8(key.count)
        self.stored = InlineArray(repeating: 0)
        withUnsafeMutableBytes(of: &self.stored) { $0.copyMemory(from: key) }
    }

    package var isEmpty: Bool { self.count == 0 }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: self.stored) { [UInt8]($0[..<Int(self.count)]) }
    }
}

/// An account's key of at most `bytesMax` bytes, in place, with its hash.
package struct OrderAccount: BitwiseCopyable, Sendable {
    private var bytes: InlineArray<40, UInt8>
    private let count: UInt8
    package let hash: UInt64

    package static let bytesMax = 40

    /// Nil for an empty key, and for a longer one.
    @inline(__always)
    package init?(app: AppNumber, _ key: UnsafeRawBufferPointer) {
        guard let base = key.baseAddress, (1...Self.bytesMax).contains(key.count) else { return nil }
        self.count = UInt8(key.count)
        self.hash = KeyHash.hash(app: app, key.bytes)
        self.bytes = InlineArray(repeating: 0)
        withUnsafeMutableBytes(of: &self.bytes) { $0.baseAddress?.copyMemory(from: base, byteCount: key.count) }
    }

    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: self.bytes) { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(self.count)])) }
    }

    func key(app: AppNumber) -> AccountKey {
        AccountKey(app: app, bytes: self.withBytes { [UInt8]($0) })
    }
}

/// A purchase as the engine writes it: one account, one fact, one new transaction, nothing else.
///
/// `StoredChange(purchase)` is the general form of the same change.
package struct StoredPurchase: Sendable {
    package let revision: UInt64
    package let committed: Instant
    package let app: AppNumber
    package let account: AccountNumber
    package let transaction: Transaction
    /// On the app's clock.
    package let effective: Instant
    package let origin: [UInt8]
    /// The new record.
    package let record: AccountRecord
    /// When the account's next attempt is due. A purchase does not move it.
    package let due: Instant?
    package let nextTransaction: TransactionID
    package let nextAccount: AccountNumber
    /// The answer to the key of the order.
    package let answer: KeyedAnswer?

    package var fact: Fact { Fact(.purchased(self.transaction, terms: nil), effective: self.effective) }
}

extension StoredChange {
    package init(_ purchase: StoredPurchase) {
        self.init(
            revision: purchase.revision, committed: purchase.committed, app: purchase.app,
            nextTransaction: purchase.nextTransaction, nextAccount: purchase.nextAccount)
        self.facts = [StoredFact(account: purchase.account, fact: purchase.fact, origin: purchase.origin)]
        // A consumable entitles to nothing.
        let isKept = purchase.transaction.productType != .consumable
        self.records = [
            StoredRecord(
                purchase.record, due: purchase.due, previousDue: purchase.due,
                sources: isKept ? purchase.record.entitlementSources(after: purchase.effective) : nil)
        ]
        self.answer = purchase.answer.map { Boxed($0) }
    }
}
