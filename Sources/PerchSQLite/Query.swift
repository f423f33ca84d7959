/// Every statement that the store runs while it is at work; each is prepared once, when it opens.
///
/// Every search is by an index: a test reads each one's plan.
enum Query: Int, CaseIterable {
    case begin, commit, rollback
    case header, setHeader
    case apps, setApp, insertAppState, appStateInForce, appStateAt, hasCatalogue, insertCatalogue, catalogue
    case image, insertImage, imageHashes, deleteImage
    case accountOfAlias, setAlias, keysOfApp
    case record, setRecord
    case transaction, insertTransaction, updateTransaction, finishTransaction
    case deleteTransaction, deleteTransactions
    case transactionsOldestFirst, transactionsNewestFirst, unfinishedOldestFirst, unfinishedNewestFirst
    case insertFact, factsOfAccount, factsThrough, eventsOfAccount
    case insertCommit, commitTime, commitsAfter, factsOfRevision
    case insertDue, deleteDue, dueThrough, earliestDue
    case answer, setAnswer, forgetAnswers
    case revocations, setRevocation, forgetRevokedTokens

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
        case .keysOfApp: "SELECT key FROM aliases WHERE app = ?1 AND key > ?2 ORDER BY key"
        case .setAlias: "INSERT OR REPLACE INTO aliases VALUES (?1, ?2, ?3)"

        case .record: "SELECT blob FROM records WHERE account = ?1"
        case .setRecord: "INSERT OR REPLACE INTO records VALUES (?1, ?2)"

        case .transaction: "SELECT account, state, blob FROM transactions WHERE app = ?1 AND id = ?2"
        case .insertTransaction: "INSERT INTO transactions VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7)"
        case .updateTransaction:
            """
            UPDATE transactions SET purchase_date = ?3, spends = ?4, product = ?5, blob = ?6,
            state = CASE WHEN state = 0 THEN 0 ELSE 1 + ?4 END WHERE app = ?1 AND id = ?2
            """
        case .finishTransaction: "UPDATE transactions SET state = 1 + spends WHERE app = ?1 AND id = ?2"

        case .deleteTransaction: "DELETE FROM transactions WHERE app = ?1 AND id = ?2"
        case .deleteTransactions: "DELETE FROM transactions WHERE account = ?1"

        case .transactionsOldestFirst:
            """
            SELECT id, state, blob FROM transactions
            WHERE account = ?1 AND (purchase_date, id) > (?2, ?3) AND state <= ?4 AND (?5 IS NULL OR product = ?5)
            ORDER BY purchase_date, id
            """
        case .transactionsNewestFirst:
            """
            SELECT id, state, blob FROM transactions
            WHERE account = ?1 AND (purchase_date, id) < (?2, ?3) AND state <= ?4 AND (?5 IS NULL OR product = ?5)
            ORDER BY purchase_date DESC, id DESC
            """
        case .unfinishedOldestFirst:
            """
            SELECT id, state, blob FROM transactions
            WHERE account = ?1 AND (purchase_date, id) > (?2, ?3) AND state = 0 AND (?4 IS NULL OR product = ?4)
            ORDER BY purchase_date, id
            """
        case .unfinishedNewestFirst:
            """
            SELECT id, state, blob FROM transactions
            WHERE account = ?1 AND (purchase_date, id) < (?2, ?3) AND state = 0 AND (?4 IS NULL OR product = ?4)
            ORDER BY purchase_date DESC, id DESC
            """

        case .insertFact: "INSERT INTO facts VALUES (?1, ?2, ?3, ?4, ?5)"
        case .factsOfAccount:
            "SELECT revision, ordinal, blob FROM facts WHERE account = ?1 ORDER BY revision, ordinal"
        case .factsThrough:
            """
            SELECT revision, ordinal, blob FROM facts WHERE account = ?1 AND revision <= ?2 ORDER BY revision, ordinal
            LIMIT ?3
            """
        case .eventsOfAccount:
            """
            SELECT facts.revision, facts.ordinal, commits.committed, facts.blob
            FROM facts CROSS JOIN commits ON commits.revision = facts.revision
            WHERE facts.account = ?1 AND (facts.revision, facts.ordinal) > (?2, ?3) AND facts.is_event = 1
            ORDER BY facts.revision, facts.ordinal
            """

        case .insertCommit: "INSERT INTO commits VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        case .commitTime: "SELECT committed FROM commits WHERE revision = ?1"
        case .commitsAfter:
            """
            SELECT revision, committed, app, next_transaction, next_account, blob FROM commits WHERE revision > ?1
            ORDER BY revision LIMIT ?2
            """
        case .factsOfRevision: "SELECT ordinal, account, blob FROM facts WHERE revision = ?1 ORDER BY ordinal"

        case .insertDue: "INSERT INTO due VALUES (?1, ?2, ?3)"
        case .deleteDue: "DELETE FROM due WHERE app = ?1 AND instant = ?2 AND account = ?3"
        case .dueThrough:
            "SELECT instant, account FROM due WHERE app = ?1 AND instant <= ?2 ORDER BY instant, account"
        case .earliestDue: "SELECT instant FROM due WHERE app = ?1 ORDER BY instant LIMIT 1"

        case .answer: "SELECT blob FROM answers WHERE app = ?1 AND key = ?2"
        case .setAnswer: "INSERT OR REPLACE INTO answers VALUES (?1, ?2, ?3, ?4)"
        case .forgetAnswers: "DELETE FROM answers WHERE kept < ?1"

        // All of them, when the store is opened: `Limits.revocationsMax` at most.
        case .revocations: "SELECT id, blob FROM revocations WHERE id > ?1 ORDER BY id"
        case .setRevocation: "INSERT OR REPLACE INTO revocations VALUES (?1, ?2, ?3)"
        case .forgetRevokedTokens: "DELETE FROM revocations WHERE expires < ?1"
        }
    }
}
