import PerchBase
import PerchModel
import PerchSQLite
import PerchStore
import PerchTesting
import PostgresTesting

/// Each implementation of storage: the contract suite runs against all of them.
enum StorageImplementation: CaseIterable, Sendable {
    case memory
    case sqlite
    case postgres

    /// A new, empty store.
    func make() throws -> StoreUnderTest {
        switch self {
        case .memory:
            let storage = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
            return StoreUnderTest(storage: storage) { storage.nextCommitFailure = .full("as the test wants it") }
        case .sqlite:
            let directory = TemporaryDirectory()
            let storage = try SQLiteStorage(path: directory.file("store"))
            return StoreUnderTest(storage: storage, directory: directory) {
                // No page more: the next change finds no room.
                try storage.limitPages(to: 1)
            } makeRoom: {
                try storage.limitPages(to: SQLiteStorage.pagesMax)
            }
        case .postgres:
            let database = TestDatabase()
            let storage = try database.open()
            return StoreUnderTest(storage: storage) {
                // As a full disk: the server raises its error at the next change.
                database.run(
                    """
                    CREATE FUNCTION perch.no_room() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
                    CREATE TRIGGER no_room BEFORE INSERT ON perch.commits EXECUTE FUNCTION perch.no_room();
                    """)
            } makeRoom: {
                database.run("DROP TRIGGER no_room ON perch.commits")
            }
        }
    }
}

/// A store under test, and the operations of tests on it.
final class StoreUnderTest {
    let storage: any Storage
    private let directory: TemporaryDirectory?
    /// Lets the next batch fail for want of room, in one of its changes or in its commit.
    let takeRoom: () throws -> Void
    let makeRoom: () throws -> Void

    init(
        storage: any Storage, directory: TemporaryDirectory? = nil, takeRoom: @escaping () throws -> Void,
        makeRoom: @escaping () throws -> Void = {}
    ) {
        self.storage = storage
        self.directory = directory
        self.takeRoom = takeRoom
        self.makeRoom = makeRoom
    }

    /// Commits one batch of changes; rolls it back if that throws.
    func write(_ changes: [StoredChange]) throws {
        try self.storage.begin()
        do {
            for change in changes { try self.storage.apply(change) }
            try self.storage.commit()
        } catch {
            self.storage.rollback()
            throw error
        }
    }

    func write(_ change: StoredChange) throws { try self.write([change]) }
}

/// Builds changes of a few plain values.
struct ChangeBuilder {
    private(set) var revision: UInt64 = 0

    static let start = Instant(milliseconds: 1_700_000_000_000)

    mutating func change(app: AppNumber = 1, _ fill: (inout StoredChange) -> Void = { _ in }) -> StoredChange {
        self.revision += 1
        var change = StoredChange(
            revision: self.revision, committed: Instant(milliseconds: Int64(self.revision) * 1_000), app: app,
            nextTransaction: self.revision * 10, nextAccount: self.revision * 100)
        fill(&change)
        return change
    }

    mutating func facts(_ account: AccountNumber, _ bodies: [Fact.Body], origin: [UInt8] = []) -> StoredChange {
        self.change { change in
            change.facts = bodies.map {
                StoredFact(account: account, fact: Fact($0, effective: Self.start), origin: origin)
            }
        }
    }

    mutating func due(
        _ account: AccountNumber, app: AppNumber = 1, _ due: Int64?, previous: Int64? = nil
    ) -> StoredChange {
        self.change(app: app) { change in
            let record = AccountRecord(account: account, app: app)
            change.records = [
                StoredRecord(
                    record, due: due.map { Instant(milliseconds: $0) },
                    previousDue: previous.map { Instant(milliseconds: $0) })
            ]
        }
    }

    /// `marker` distinguishes two states.
    mutating func app(_ app: AppNumber, effective: Int64, marker: String, catalogue: UInt64 = 1) -> StoredChange {
        self.change(app: app) { change in
            let state = AppState(
                number: app, bundleID: "app", environment: .xcode, revision: change.revision,
                effective: Instant(milliseconds: effective), committed: change.committed,
                catalogue: Catalogue(products: [], groups: [], schemaVersion: "of \(catalogue)"),
                catalogueRevision: catalogue, catalogueSource: marker, settings: AppSettings(),
                clock: .frozen(at: Instant(milliseconds: effective)))
            change.app = StoredAppState(state: state, fileSettings: AppSettings())
        }
    }

    static func transaction(
        _ id: TransactionID, day: Int64 = 0, product: String = "pro", type: ProductType = .nonConsumable,
        isRevoked: Bool = false
    ) -> Transaction {
        let date = Self.start.advanced(byMilliseconds: day * 86_400_000)
        var transaction = Transaction(
            id: id, originalID: id, appBundleID: "app", productID: product, productType: type, purchaseDate: date,
            originalPurchaseDate: date, environment: .xcode, storefront: Storefront(countryCode: "USA"),
            reason: .purchase, signedDate: date)
        if isRevoked { transaction.revocation = Revocation(date: date, reason: .other) }
        return transaction
    }
}
