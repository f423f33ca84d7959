/// The tables of a store's file, and the numbers that identify it.
enum Schema {
    /// The four letters `Prch`, in the header of each store's file.
    static let applicationID: Int64 = 0x5072_6368
    /// Counts the changes of the tables and of the forms of blobs. A file with a later schema is refused.
    static let version: Int64 = 5
    /// The earliest schema that `SQLiteStorage.convert` carries over. Older files are refused.
    static let earliestVersion: Int64 = 3

    /// Tables are keyed by what is looked up. Numbers are below 2^63, so their order is that of SQLite's integers.
    ///
    /// - `transactions` are keyed by app and ID: apps whose transactions come from outside may share an ID.
    /// - `transactions.state` is 0 for an unfinished one, 1 for a finished one, 2 for a finished one that is spent: a
    ///   consumable that was not refunded. `spends` says whether finishing it makes it so. `product` is a checksum of
    ///   the product's identifier: enough to skip the rows of others within the index, never taken for the identifier.
    ///   Without a rowid, since SQLite cannot seek to (date, rowid) in an index: it would walk through all of one date.
    /// - `facts.is_event` is in the index so that facts that are no event are skipped there.
    /// - `commits` has one row a revision. Its blob is a `CommitDetail`, absent for most. `app` is 0 for a change of the
    ///   store itself, and null for a commit of schema 4 or earlier, which the feed of changes does not reach.
    /// - `catalogues` stand beside the states that share them.
    /// - `images` are those of each app's newest catalogue, by the hash of their bytes. With a rowid, since the blobs are
    ///   long.
    static let statements =
        [
            "CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 1), blob BLOB NOT NULL)",
            """
            CREATE TABLE apps (app INTEGER PRIMARY KEY, effective INTEGER NOT NULL, revision INTEGER NOT NULL)
            """,
            """
            CREATE TABLE app_states (
                app INTEGER NOT NULL, effective INTEGER NOT NULL, revision INTEGER NOT NULL,
                catalogue_revision INTEGER NOT NULL, blob BLOB NOT NULL,
                PRIMARY KEY (app, effective, revision)) WITHOUT ROWID
            """,
            """
            CREATE TABLE catalogues (
                app INTEGER NOT NULL, revision INTEGER NOT NULL, blob BLOB NOT NULL, UNIQUE (app, revision))
            """,
            """
            CREATE TABLE images (app INTEGER NOT NULL, hash BLOB NOT NULL, blob BLOB NOT NULL, UNIQUE (app, hash))
            """,
            """
            CREATE TABLE aliases (
                app INTEGER NOT NULL, key BLOB NOT NULL, account INTEGER NOT NULL, PRIMARY KEY (app, key)) WITHOUT ROWID
            """,
            "CREATE TABLE records (account INTEGER PRIMARY KEY, blob BLOB NOT NULL)",
            Schema.transactions(named: "transactions"),
        ] + Schema.transactionIndexes + [
            """
            CREATE TABLE facts (
                revision INTEGER NOT NULL, ordinal INTEGER NOT NULL, account INTEGER NOT NULL,
                is_event INTEGER NOT NULL, blob BLOB NOT NULL, PRIMARY KEY (revision, ordinal)) WITHOUT ROWID
            """,
            "CREATE INDEX facts_by_account ON facts (account, revision, ordinal, is_event)",
            """
            CREATE TABLE commits (
                revision INTEGER PRIMARY KEY, committed INTEGER NOT NULL, app INTEGER, next_transaction INTEGER,
                next_account INTEGER, blob BLOB)
            """,
            """
            CREATE TABLE due (
                app INTEGER NOT NULL, instant INTEGER NOT NULL, account INTEGER NOT NULL,
                PRIMARY KEY (app, instant, account)) WITHOUT ROWID
            """,
            """
            CREATE TABLE answers (
                app INTEGER NOT NULL, key BLOB NOT NULL, kept INTEGER NOT NULL, blob BLOB NOT NULL,
                PRIMARY KEY (app, key)) WITHOUT ROWID
            """,
            "CREATE INDEX answers_by_age ON answers (kept)",
            "CREATE TABLE revocations (id BLOB PRIMARY KEY, expires INTEGER NOT NULL, blob BLOB NOT NULL) WITHOUT ROWID",
            "CREATE INDEX revocations_by_end ON revocations (expires)",
        ]

    private static func transactions(named name: String) -> String {
        """
        CREATE TABLE \(name) (
            app INTEGER NOT NULL, id INTEGER NOT NULL, account INTEGER NOT NULL, purchase_date INTEGER NOT NULL,
            state INTEGER NOT NULL, spends INTEGER NOT NULL, product INTEGER NOT NULL, blob BLOB NOT NULL,
            PRIMARY KEY (app, id)) WITHOUT ROWID
        """
    }

    private static let transactionIndexes = [
        "CREATE INDEX transactions_by_date ON transactions (account, purchase_date, id, state, product)",
        "CREATE INDEX transactions_unfinished ON transactions (account, purchase_date, id, product) WHERE state = 0",
    ]

    /// Makes the tables of schema 3 and 4 those of schema 5. `account_apps` holds the app of each account.
    static let conversion =
        [
            Schema.transactions(named: "transactions_of_apps"),
            """
            INSERT INTO transactions_of_apps
            SELECT a.app, t.id, t.account, t.purchase_date, t.state, t.spends, t.product, t.blob
            FROM transactions t CROSS JOIN account_apps a ON a.account = t.account
            """,
        ]
    /// The second half, once every row was found to have its app.
    static let conversionEnd =
        ["DROP TABLE transactions", "ALTER TABLE transactions_of_apps RENAME TO transactions"]
        + Schema.transactionIndexes
        + ["app INTEGER", "next_transaction INTEGER", "next_account INTEGER", "blob BLOB"].map {
            "ALTER TABLE commits ADD COLUMN \($0)"
        } + ["PRAGMA user_version = \(Schema.version)"]
}
