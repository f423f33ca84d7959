import CPerchSQLite
import Glibc
package import PerchBase
package import PerchModel
import PerchStore

/// The contents of a generated store.
package struct StoreGeneration: Sendable {
    package var accounts: Int
    package var bundleID: String
    package var catalogue: Catalogue
    /// The bytes of the catalogue's images.
    package var images: [ImageContent] = []
    /// Origin of the catalogue, as a text for operators.
    package var catalogueSource: String
    /// The auto-renewable product that every account subscribes to.
    package var productID: String
    /// The instant of all purchases, by both clocks.
    package var now: Instant

    package init(
        accounts: Int, bundleID: String, catalogue: Catalogue, catalogueSource: String, productID: String, now: Instant
    ) {
        self.accounts = accounts
        self.bundleID = bundleID
        self.catalogue = catalogue
        self.catalogueSource = catalogueSource
        self.productID = productID
        self.now = now
    }
}

/// Why a store was not generated. Its partial file is removed.
package enum StoreGenerationError: Error, CustomStringConvertible {
    case exists(path: String)
    case notASubscription(productID: String, bundleID: String)
    case syncing(path: String, errorNumber: Int32)

    package var description: String {
        switch self {
        case .exists(let path):
            "\(path) is there already; name a place for a new store, or remove it first"
        case .notASubscription(let product, let bundleID):
            "\(product) is no auto-renewable subscription in the catalogue of \(bundleID); name one that is"
        case .syncing(let path, let number):
            "\(path) could not be synced, errno \(number); it was removed, since it may not be whole"
        }
    }
}

/// Writes a store of many accounts, as fast as it can: for measuring with, and for trying out.
///
/// Account N has the alias `user-N` and one subscription in force, bought in one revision by the usual decision. So each record is
/// the fold of its facts. The subscriptions end ten to eleven years after `now`, evenly spread, so no renewal is due soon.
/// `progress` receives the number of accounts so far.
package func generateStore(
    _ generation: StoreGeneration, at path: String, progress: (Int) -> Void = { _ in }
) throws {
    guard let product = generation.catalogue.product(generation.productID), product.subscription != nil else {
        throw StoreGenerationError.notASubscription(
            productID: generation.productID, bundleID: generation.bundleID)
    }
    guard access(path, F_OK) != 0 else { throw StoreGenerationError.exists(path: path) }
    let storage = try SQLiteStorage(path: path, for: .generation)
    do {
        try fill(storage, generation, progress)
        try storage.beginService()
        storage.close()
        try syncFile(path)
    } catch {
        storage.close()
        unlink(path)
        throw error
    }
}

private func fill(_ storage: SQLiteStorage, _ generation: StoreGeneration, _ progress: (Int) -> Void) throws {
    let now = generation.now
    let app = AppState(
        number: 1, bundleID: generation.bundleID, environment: .xcode, revision: 1, effective: now, committed: now,
        catalogue: generation.catalogue, catalogueRevision: 1, catalogueSource: generation.catalogueSource,
        settings: AppSettings(), clock: .running(offsetMilliseconds: 0))
    var first = StoredChange(revision: 1, committed: now, app: 1, nextTransaction: 1, nextAccount: 1)
    first.app = StoredAppState(state: app, fileSettings: app.settings)
    first.appCause = .catalog
    first.images = generation.images
    try storage.begin()
    try storage.apply(first)
    var numbers = TransactionNumbers(next: 1)
    for index in 0..<generation.accounts {
        try storage.apply(openedAndBought(index, of: generation, app: app, numbers: &numbers))
        if (index + 1) % Limits.generatedAccountsPerBatch == 0 {
            try storage.commit()
            progress(index + 1)
            try storage.begin()
        }
    }
    try storage.commit()
    progress(generation.accounts)
}

/// The revision in which an account is opened and buys.
private func openedAndBought(
    _ index: Int, of generation: StoreGeneration, app: AppState, numbers: inout TransactionNumbers
) throws(Refusal) -> StoredChange {
    let account = AccountNumber(index + 1)
    var record = AccountRecord(account: account, app: app.number)
    let opened = Fact(.opened(appTransactionID: String(numbers.take())), effective: generation.now)
    record.apply(opened)
    let order = PurchaseOrder(productID: generation.productID)
    let outcome = try decidePurchase(order, record: record, app: app, now: generation.now, numbers: &numbers)
    let year: Int64 = 365 * 86_400_000
    let spread = Int64(Double(index) / Double(generation.accounts) * Double(year))
    let facts = outcome.facts.map { fact in
        guard case .purchased(var transaction, let terms) = fact.body else { return fact }
        transaction.expirationDate = generation.now.advanced(byMilliseconds: 10 * year + spread)
        return Fact(.purchased(transaction, terms: terms), effective: fact.effective)
    }
    for fact in facts { record.apply(fact) }
    let revision = UInt64(index) + 2
    record.revision = revision
    record.committed = generation.now
    var change = StoredChange(
        revision: revision, committed: generation.now, app: app.number, nextTransaction: numbers.next,
        nextAccount: account + 1)
    change.facts = ([opened] + facts).map { StoredFact(account: account, fact: $0, origin: []) }
    change.records = [
        StoredRecord(
            record, due: record.attemptDue, sources: record.entitlementSources(after: generation.now))
    ]
    change.aliases = [(AccountKey(app: app.number, bytes: Array("user-\(account)".utf8)), account)]
    return change
}

/// Makes a file and its name durable. The file must not be open elsewhere in this process, because closing it drops locks.
private func syncFile(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreGenerationError.syncing(path: path, errorNumber: errno) }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StoreGenerationError.syncing(path: path, errorNumber: errno) }
    try StoreFile.syncDirectory(of: path)
}
