/// The tables of a store's file, and the numbers that identify it.
enum Schema {
    /// The four letters `Prch`, in the header of each store's file.
    static let applicationID: Int64 = 0x5072_6368
    /// Counts the changes of the tables and of the forms of blobs. A file with a later schema is refused.
    static let version: Int64 = 7
    /// The earliest schema that `SQLiteStorage.convert` carries over. Older files are refused.
    static let earliestVersion: Int64 = 3

    /// Tables are keyed by what is looked up. Numbers are below 2^63, so their order is that of SQLite's integers.
    ///
    /// - `commits` has one row a revision, with the change's first fact and that fact's account. `blob` is a `CommitDetail`,
    ///   absent for most. `app` is 0 for a change of the store itself, and null for a commit of schema 4 or earlier, which the
    ///   feed of changes does not reach.
    /// - `facts` has the facts after the first one.
    /// - `accounts` has what belongs to an account, in rows that are neighbours: see `EntryKind`. A change of an account
    ///   touches one page there.
    /// - `transactions` finds a row of `accounts` by app and ID: apps whose transactions come from outside may share an ID.
    ///   `state` is 0 for an unfinished one, 1 for a finished one, 2 for a finished one that is spent: a consumable that was
    ///   not refunded. `spends` says whether finishing it makes it so.
    /// - `crossings` has the instants at which lines of accounts change their state by time alone, those of the past too. A
    ///   reader of an app's changes finds them in order. `due` has the attempts that the store itself has to make.
    /// - `sources` has what entitles each account that has something, for copies of an app's entitlements: see `SourcesRow`. Its
    ///   rows are apart from those of `accounts`, since a copy reads all of them in order. The row of app 0 names the first account
    ///   that a version without this table has written, and whose row is not filled yet; without that row none is missing.
    /// - `catalogues` stand beside the states that share them.
    /// - `items` are values that no record and no fact holds: see `ItemKind`. With a rowid, since some blobs are long.
    /// - `images` are those of each app's newest catalogue, by the hash of their bytes. With a rowid, since the blobs are
    ///   long.
    ///
    /// A table whose key has several columns is without a rowid: SQLite cannot seek to (date, rowid) in an index, it would
    /// walk through all of one date.
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
            Schema.accounts,
            Schema.transactions,
            Schema.facts,
            Schema.commits,
            """
            CREATE TABLE due (
                app INTEGER NOT NULL, instant INTEGER NOT NULL, account INTEGER NOT NULL,
                PRIMARY KEY (app, instant, account)) WITHOUT ROWID
            """,
        ] + Schema.changesOfApps + [
            """
            CREATE TABLE answers (
                app INTEGER NOT NULL, key BLOB NOT NULL, kept INTEGER NOT NULL, blob BLOB NOT NULL,
                PRIMARY KEY (app, key)) WITHOUT ROWID
            """,
            "CREATE INDEX answers_by_age ON answers (kept)",
            "CREATE TABLE revocations (id BLOB PRIMARY KEY, expires INTEGER NOT NULL, blob BLOB NOT NULL) WITHOUT ROWID",
            "CREATE INDEX revocations_by_end ON revocations (expires)",
            Schema.items,
            Schema.sources,
        ]

    /// What readers of an app's changes need: crossings in order, and the key of an account.
    private static let changesOfApps = [
        """
        CREATE TABLE crossings (
            app INTEGER NOT NULL, instant INTEGER NOT NULL, account INTEGER NOT NULL,
            PRIMARY KEY (app, instant, account)) WITHOUT ROWID
        """,
        "CREATE INDEX aliases_by_account ON aliases (account)",
    ]

    private static let items = """
        CREATE TABLE items (
            kind INTEGER NOT NULL, grp BLOB NOT NULL, key BLOB NOT NULL, blob BLOB NOT NULL, UNIQUE (kind, grp, key))
        """

    private static let sources = """
        CREATE TABLE sources (
            app INTEGER NOT NULL, account INTEGER NOT NULL, blob BLOB, PRIMARY KEY (app, account)) WITHOUT ROWID
        """

    private static let accounts = """
        CREATE TABLE accounts (
            account INTEGER NOT NULL, kind INTEGER NOT NULL, first INTEGER NOT NULL, second INTEGER NOT NULL,
            mark INTEGER NOT NULL, revision INTEGER, ordinal INTEGER, blob BLOB,
            PRIMARY KEY (account, kind, first, second)) WITHOUT ROWID
        """

    private static let transactions = """
        CREATE TABLE transactions (
            app INTEGER NOT NULL, id INTEGER NOT NULL, account INTEGER NOT NULL, purchase_date INTEGER NOT NULL,
            state INTEGER NOT NULL, spends INTEGER NOT NULL, PRIMARY KEY (app, id)) WITHOUT ROWID
        """

    private static let facts = """
        CREATE TABLE facts (
            revision INTEGER NOT NULL, ordinal INTEGER NOT NULL, account INTEGER NOT NULL, blob BLOB NOT NULL,
            PRIMARY KEY (revision, ordinal)) WITHOUT ROWID
        """

    private static let commits = """
        CREATE TABLE commits (
            revision INTEGER PRIMARY KEY, committed INTEGER NOT NULL, app INTEGER, next_transaction INTEGER,
            next_account INTEGER, blob BLOB, account INTEGER, fact BLOB)
        """

    // MARK: Earlier schemas

    /// Makes the tables of schema 6 those of schema 7. The rows of `sources` are filled while the store serves.
    static let conversionTo7 = [
        Schema.sources, "INSERT INTO sources SELECT 0, 1, NULL WHERE EXISTS (SELECT 1 FROM accounts)",
    ]

    /// Makes the tables of schema 3 and 4 those of schema 5. `account_apps` holds the app of each account.
    static let conversionTo5 = [
        """
        CREATE TABLE transactions_of_apps (
            app INTEGER NOT NULL, id INTEGER NOT NULL, account INTEGER NOT NULL, purchase_date INTEGER NOT NULL,
            state INTEGER NOT NULL, spends INTEGER NOT NULL, product INTEGER NOT NULL, blob BLOB NOT NULL,
            PRIMARY KEY (app, id)) WITHOUT ROWID
        """,
        """
        INSERT INTO transactions_of_apps
        SELECT a.app, t.id, t.account, t.purchase_date, t.state, t.spends, t.product, t.blob
        FROM transactions t CROSS JOIN account_apps a ON a.account = t.account
        """,
    ]
    /// The second half, once every row was found to have its app.
    static let conversionTo5End =
        [
            "DROP TABLE transactions", "ALTER TABLE transactions_of_apps RENAME TO transactions",
            "CREATE INDEX transactions_by_date ON transactions (account, purchase_date, id, state, product)",
        ]
        + ["app INTEGER", "next_transaction INTEGER", "next_account INTEGER", "blob BLOB"].map {
            "ALTER TABLE commits ADD COLUMN \($0)"
        }

    /// Makes the tables of schema 5 those of schema 6.
    ///
    /// Rows of `accounts` are written in the order of the accounts, three times, so each pass goes through the table once.
    /// Transactions keep their blobs, because schema 5 does not say which fact holds one.
    static let conversionTo6 =
        [
            "ALTER TABLE transactions RENAME TO old_transactions", "ALTER TABLE facts RENAME TO old_facts",
            "ALTER TABLE commits RENAME TO old_commits", Schema.accounts, Schema.transactions, Schema.facts,
            Schema.commits, Schema.items,
            """
            INSERT INTO accounts SELECT account, \(EntryKind.record.rawValue), 0, 0, 0, NULL, NULL, blob FROM records
            ORDER BY account
            """,
            """
            INSERT INTO accounts SELECT account, \(EntryKind.fact.rawValue), -revision, -ordinal, is_event, NULL, NULL, NULL
            FROM old_facts INDEXED BY facts_by_account ORDER BY account, revision, ordinal
            """,
            """
            INSERT INTO accounts
            SELECT account, \(EntryKind.unfinished.rawValue) - state, purchase_date, id, product, NULL, NULL, blob
            FROM old_transactions INDEXED BY transactions_by_date ORDER BY account, purchase_date, id
            """,
            """
            INSERT INTO transactions SELECT app, id, account, purchase_date, state, spends FROM old_transactions
            ORDER BY app, id
            """,
            """
            INSERT INTO commits SELECT c.revision, c.committed, c.app, c.next_transaction, c.next_account, c.blob, f.account,
                f.blob
            FROM old_commits c LEFT JOIN old_facts f ON f.revision = c.revision AND f.ordinal = 0 ORDER BY c.revision
            """,
            """
            INSERT INTO facts SELECT revision, ordinal, account, blob FROM old_facts WHERE ordinal > 0
            ORDER BY revision, ordinal
            """,
        ] + ["old_transactions", "old_facts", "old_commits", "records"].map { "DROP TABLE \($0)" }
        + Schema.changesOfApps
}

/// What a row of `accounts` is. The kinds are ordered so that what a purchase writes stands together: the newest unfinished
/// transaction, the record, and the newest fact.
enum EntryKind: Int64 {
    /// Transactions by state, as in `transactions.state`. `first` is the purchase date, `second` the ID. `mark` is a checksum
    /// of the product's identifier: enough to skip the rows of others, never taken for the identifier. `revision` and
    /// `ordinal` are the place of the fact that holds the transaction. They are null where `blob` holds it: in a row of an
    /// earlier schema, and in an App Store app, where several reports make up one transaction.
    case spent = -3
    case finished = -2
    case unfinished = -1
    /// The account's record in `blob`; the other columns are 0.
    case record = 0
    /// A fact: `first` is its negative revision and `second` its negative ordinal, so the newest comes first. `mark` says
    /// whether it is an event.
    case fact = 1
}
