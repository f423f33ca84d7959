/// Every statement that the store runs while it is at work; each is prepared once, when it opens.
///
/// Every search is by an index: a test reads each one's plan.
enum Query: Int, CaseIterable {
    case begin, commit, rollback
    case header, setHeader
    case apps, setApp, insertAppState, appStateInForce, appStateAt, hasCatalogue, insertCatalogue, catalogue
    case image, insertImage, imageHashes, deleteImage
    case accountOfAlias, keyOfAccount, namesOfAccount, namesOfAccounts, setAlias, keysOfApp, removeAlias
    case record, nextAccount, setRecord
    case place, insertPlace, setPlace, putPlace, deletePlace, deletePlaces
    case transaction, insertEntry, insertOwnEntry, moveEntry, deleteEntry, deleteTransactions
    case listedOldestFirst, listedNewestFirst, allOldestFirst, allNewestFirst
    case unfinishedOldestFirst, unfinishedNewestFirst
    case insertFact, factsOfAccount, factsThrough, eventsOfAccount
    case insertCommit, commitTime, commitsAfter, firstFact, factsOfRevision
    case insertDue, deleteDue, dueThrough, earliestDue
    case insertCrossing, deleteCrossing, crossingsAfter, forgetCrossings
    case answer, answersKeptAt, setAnswer, deleteAnswer, forgetAnswers
    case eraseFirstFacts, eraseFacts, eraseEntries, setDetail
    case revocations, setRevocation, forgetRevokedTokens
    case item, items, itemCount, setItem, removeItem
    case sourcesFrom, setSources, deleteSources, sourcesToFill, deleteSourcesToFill

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"

        case .header: "SELECT blob FROM header WHERE id = 1"
        case .setHeader: "INSERT OR REPLACE INTO header (id, blob) VALUES (1, ?1)"

        // The one statement that reads a whole table: that of the apps, which are few.
        case .apps: "SELECT app, effective, revision FROM apps ORDER BY app"
        case .setApp: "INSERT OR REPLACE INTO apps (app, effective, revision) VALUES (?1, ?2, ?3)"
        case .insertAppState: "INSERT INTO app_states VALUES (?1, ?2, ?3, ?4, ?5)"
        case .appStateInForce:
            """
            SELECT revision, catalogue_revision, blob FROM app_states WHERE app = ?1 AND effective <= ?2
            ORDER BY effective DESC, revision DESC LIMIT 1
            """
        // The clock of an app never goes back: its states have the same order by instant as by revision.
        case .appStateAt:
            """
            SELECT revision, catalogue_revision, blob FROM app_states WHERE app = ?1 AND revision <= ?2
            ORDER BY effective DESC, revision DESC LIMIT 1
            """
        case .hasCatalogue: "SELECT 1 FROM catalogues WHERE app = ?1 AND revision = ?2"
        case .insertCatalogue: "INSERT INTO catalogues VALUES (?1, ?2, ?3)"
        case .catalogue: "SELECT blob FROM catalogues WHERE app = ?1 AND revision = ?2"

        case .image: "SELECT blob FROM images WHERE app = ?1 AND hash = ?2"
        case .insertImage: "INSERT INTO images VALUES (?1, ?2, ?3)"
        case .imageHashes: "SELECT hash FROM images WHERE app = ?1"
        case .deleteImage: "DELETE FROM images WHERE app = ?1 AND hash = ?2"

        case .accountOfAlias: "SELECT account FROM aliases WHERE app = ?1 AND key = ?2"
        case .keyOfAccount:
            // The store's own names begin with NUL.
            "SELECT key FROM aliases WHERE account = ?1 AND key >= X'01' ORDER BY app, key LIMIT 1"
        case .namesOfAccount: "SELECT app, key FROM aliases WHERE account = ?1 ORDER BY app, key"
        case .namesOfAccounts:
            """
            SELECT account, app, key FROM aliases WHERE account >= ?1 AND account <= ?2 ORDER BY account, app, key
            """
        case .keysOfApp: "SELECT key FROM aliases WHERE app = ?1 AND key > ?2 ORDER BY key"
        case .setAlias: "INSERT OR REPLACE INTO aliases VALUES (?1, ?2, ?3)"

        case .removeAlias: "DELETE FROM aliases WHERE app = ?1 AND key = ?2"

        case .record: "SELECT blob FROM accounts WHERE account = ?1 AND kind = 0 AND first = 0 AND second = 0"
        case .nextAccount: "SELECT account FROM accounts WHERE account >= ?1 ORDER BY account LIMIT 1"
        case .setRecord: "INSERT OR REPLACE INTO accounts VALUES (?1, 0, 0, 0, 0, NULL, NULL, ?2)"

        case .place: "SELECT account, purchase_date, state, spends FROM transactions WHERE app = ?1 AND id = ?2"
        case .insertPlace: "INSERT INTO transactions VALUES (?1, ?2, ?3, ?4, 0, ?5)"
        case .setPlace:
            "UPDATE transactions SET purchase_date = ?3, state = ?4, spends = ?5 WHERE app = ?1 AND id = ?2"
        case .putPlace: "INSERT OR REPLACE INTO transactions VALUES (?1, ?2, ?3, ?4, 0, ?5)"
        case .deletePlace: "DELETE FROM transactions WHERE app = ?1 AND id = ?2"
        case .deletePlaces:
            """
            DELETE FROM transactions
            WHERE app = ?1 AND id IN (SELECT second FROM accounts WHERE account = ?2 AND kind < 0)
            """

        case .transaction:
            Self.entries("e.account = ?1 AND e.kind = ?2 AND e.first = ?3 AND e.second = ?4")
        case .insertEntry: "INSERT INTO accounts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)"
        case .insertOwnEntry: "INSERT INTO accounts VALUES (?1, ?2, ?3, ?4, ?5, NULL, NULL, ?6)"
        case .moveEntry:
            """
            UPDATE accounts SET kind = ?5 WHERE account = ?1 AND kind = ?2 AND first = ?3 AND second = ?4
            """
        case .deleteEntry: "DELETE FROM accounts WHERE account = ?1 AND kind = ?2 AND first = ?3 AND second = ?4"
        case .deleteTransactions: "DELETE FROM accounts WHERE account = ?1 AND kind < 0"

        case .listedOldestFirst: Self.list([.unfinished, .finished], isNewestFirst: false)
        case .listedNewestFirst: Self.list([.unfinished, .finished], isNewestFirst: true)
        case .allOldestFirst: Self.list([.unfinished, .finished, .spent], isNewestFirst: false)
        case .allNewestFirst: Self.list([.unfinished, .finished, .spent], isNewestFirst: true)
        case .unfinishedOldestFirst: Self.list([.unfinished], isNewestFirst: false)
        case .unfinishedNewestFirst: Self.list([.unfinished], isNewestFirst: true)

        case .insertFact: "INSERT INTO facts VALUES (?1, ?2, ?3, ?4)"
        case .factsOfAccount: Self.facts(through: "")
        case .factsThrough: Self.facts(through: "AND e.first < -?2 AND e.first >= -?3") + " LIMIT ?4"
        case .eventsOfAccount:
            """
            SELECT -e.first, -e.second, c.committed, iif(e.second = 0, c.fact, f.blob)
            FROM accounts e CROSS JOIN commits c ON c.revision = -e.first
            LEFT JOIN facts f ON e.second < 0 AND f.revision = -e.first AND f.ordinal = -e.second
            WHERE e.account = ?1 AND e.kind = 1 AND (e.first, e.second) < (?2, ?3) AND e.mark = 1
            ORDER BY e.first DESC, e.second DESC
            """

        case .insertCommit: "INSERT INTO commits VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .commitTime: "SELECT committed FROM commits WHERE revision = ?1"
        case .commitsAfter:
            """
            SELECT revision, committed, app, next_transaction, next_account, blob FROM commits
            WHERE revision > ?1 ORDER BY revision LIMIT ?2
            """
        case .firstFact: "SELECT account, fact FROM commits WHERE revision = ?1 AND fact IS NOT NULL"
        case .factsOfRevision: "SELECT ordinal, account, blob FROM facts WHERE revision = ?1 ORDER BY ordinal"

        case .insertDue: "INSERT INTO due VALUES (?1, ?2, ?3)"
        case .deleteDue: "DELETE FROM due WHERE app = ?1 AND instant = ?2 AND account = ?3"
        case .dueThrough:
            "SELECT instant, account FROM due WHERE app = ?1 AND instant <= ?2 ORDER BY instant, account"
        case .earliestDue: "SELECT instant FROM due WHERE app = ?1 ORDER BY instant LIMIT 1"

        case .insertCrossing: "INSERT OR IGNORE INTO crossings VALUES (?1, ?2, ?3)"
        case .deleteCrossing: "DELETE FROM crossings WHERE app = ?1 AND instant = ?2 AND account = ?3"
        case .crossingsAfter:
            """
            SELECT instant, account FROM crossings
            WHERE app = ?1 AND (instant, account) > (?2, ?3) AND instant <= ?4 ORDER BY instant, account
            """
        case .forgetCrossings: "DELETE FROM crossings WHERE app = ?1 AND (instant, account) <= (?2, ?3)"

        case .answer: "SELECT blob FROM answers WHERE app = ?1 AND key = ?2"
        case .answersKeptAt: "SELECT app, key, blob FROM answers WHERE kept = ?1"
        case .deleteAnswer: "DELETE FROM answers WHERE app = ?1 AND key = ?2"
        case .setAnswer: "INSERT OR REPLACE INTO answers VALUES (?1, ?2, ?3, ?4)"
        case .forgetAnswers: "DELETE FROM answers WHERE kept < ?1"

        case .eraseFirstFacts:
            """
            UPDATE commits SET account = NULL, fact = NULL
            WHERE revision IN (SELECT -first FROM accounts WHERE account = ?1 AND kind = 1 AND second = 0)
            """
        case .eraseFacts:
            """
            DELETE FROM facts WHERE (revision, ordinal) IN (
                SELECT -first, -second FROM accounts WHERE account = ?1 AND kind = 1 AND second < 0)
            """
        case .eraseEntries: "DELETE FROM accounts WHERE account = ?1"
        case .setDetail: "UPDATE commits SET blob = ?2 WHERE revision = ?1"

        // All of them, when the store is opened: `Limits.revocationsMax` at most.
        case .revocations: "SELECT id, blob FROM revocations WHERE id > ?1 ORDER BY id"
        case .setRevocation: "INSERT OR REPLACE INTO revocations VALUES (?1, ?2, ?3)"
        case .forgetRevokedTokens: "DELETE FROM revocations WHERE expires < ?1"

        case .item: "SELECT blob FROM items WHERE kind = ?1 AND grp = ?2 AND key = ?3"
        case .items: "SELECT key, blob FROM items WHERE kind = ?1 AND grp = ?2 AND key > ?3 ORDER BY key"
        case .itemCount: "SELECT count(*) FROM items WHERE kind = ?1 AND grp = ?2"
        case .setItem: "INSERT OR REPLACE INTO items (kind, grp, key, blob) VALUES (?1, ?2, ?3, ?4)"
        case .removeItem: "DELETE FROM items WHERE kind = ?1 AND grp = ?2 AND key = ?3"

        case .sourcesFrom:
            """
            SELECT account, blob FROM sources WHERE app = ?1 AND account >= ?2 AND account < ?3
            ORDER BY account LIMIT ?4
            """
        case .setSources: "INSERT OR REPLACE INTO sources VALUES (?1, ?2, ?3)"
        case .deleteSources: "DELETE FROM sources WHERE app = ?1 AND account = ?2"
        case .sourcesToFill: "SELECT account FROM sources WHERE app = 0"
        case .deleteSourcesToFill: "DELETE FROM sources WHERE app = 0"
        }
    }

    /// Transactions of an account with the blob of the fact that holds each, or their own.
    private static func entries(_ condition: String, also column: String = "") -> String {
        """
        SELECT e.first AS date, e.second AS id, e.kind, e.revision, e.ordinal, iif(e.ordinal = 0, c.fact, f.blob), e.blob\(column)
        FROM accounts e LEFT JOIN commits c ON e.ordinal = 0 AND c.revision = e.revision
        LEFT JOIN facts f ON e.ordinal > 0 AND f.revision = e.revision AND f.ordinal = e.ordinal
        WHERE \(condition)
        """
    }

    /// The transactions of some kinds by date: SQLite merges the runs of the kinds.
    private static func list(_ kinds: [EntryKind], isNewestFirst: Bool) -> String {
        let runs = kinds.map { kind in
            Self.entries(
                "e.account = ?1 AND e.kind = \(kind.rawValue) AND (e.first, e.second) \(isNewestFirst ? "<" : ">") "
                    + "(?2, ?3) AND (?4 IS NULL OR e.mark = ?4)")
        }
        let direction = isNewestFirst ? " DESC" : ""
        return runs.joined(separator: "\nUNION ALL ") + "\nORDER BY date\(direction), id\(direction)"
    }

    /// All records, for a conversion.
    static let everyRecord = "SELECT account, blob FROM accounts WHERE kind = \(EntryKind.record.rawValue)"

    /// All transactions, with their accounts. For inspections, as is `strays`.
    static var everyTransaction: String {
        Self.entries("e.kind < 0", also: ", e.account")
    }

    /// Counts of rows without the row that must stand beside them.
    static let strays: [(what: String, sql: String)] = [
        (
            "transactions are not where their accounts have them",
            """
            SELECT count(*) FROM transactions t LEFT JOIN accounts e ON e.account = t.account AND e.kind = -1 - t.state
            AND e.first = t.purchase_date AND e.second = t.id WHERE e.account IS NULL
            """
        ),
        (
            "transactions of accounts cannot be found by their IDs",
            "SELECT (SELECT count(*) FROM accounts WHERE kind < 0) - (SELECT count(*) FROM transactions)"
        ),
        (
            "facts are not listed among their accounts' facts",
            """
            SELECT count(*) FROM (
                SELECT account, revision, 0 AS ordinal FROM commits WHERE fact IS NOT NULL
                UNION ALL SELECT account, revision, ordinal FROM facts) f
            LEFT JOIN accounts e ON e.account = f.account AND e.kind = 1 AND e.first = -f.revision
            AND e.second = -f.ordinal WHERE e.account IS NULL
            """
        ),
        (
            "listed facts are missing",
            """
            SELECT (SELECT count(*) FROM accounts WHERE kind = 1)
            - (SELECT count(*) FROM commits WHERE fact IS NOT NULL) - (SELECT count(*) FROM facts)
            """
        ),
    ]

    private static func facts(through condition: String) -> String {
        """
        SELECT -e.first, -e.second, iif(e.second = 0, c.fact, f.blob)
        FROM accounts e LEFT JOIN commits c ON e.second = 0 AND c.revision = -e.first
        LEFT JOIN facts f ON e.second < 0 AND f.revision = -e.first AND f.ordinal = -e.second
        WHERE e.account = ?1 AND e.kind = 1 \(condition) ORDER BY e.first DESC, e.second DESC
        """
    }
}
