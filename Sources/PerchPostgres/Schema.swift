/// The tables of a store on PostgreSQL, in the schema `perch` of its database.
enum Schema {
    /// Counts the changes of the tables and of the forms of blobs.
    static let version: Int64 = 3
    /// The version before, whose nodes work beside those of this one.
    static let versionBeside: Int64 = 2
    static let earliestVersion: Int64 = 1

    /// What leads from an earlier version to the one before this. Nodes of the earlier version end: they refuse the new one.
    static let upgrades: [(version: Int64, statement: String)] = [
        // The changes of version 1 have marks without a writer, which are those of writer 0.
        (2, "ALTER TABLE feed ADD COLUMN writer bigint NOT NULL DEFAULT 0")
    ]

    /// What the version before lacks. Its nodes go on beside these columns: no statement of theirs names them. Each is a change of the
    /// catalogue alone, whatever the number of rows.
    ///
    /// `store.schema` stays at the version before while a node of it lives, and rises once none does: `Query.finishUpgrade`.
    static let growth = [
        "ALTER TABLE store ADD COLUMN IF NOT EXISTS passed bigint NOT NULL DEFAULT 0",
        "ALTER TABLE store ADD COLUMN IF NOT EXISTS first_id bigint NOT NULL DEFAULT 1",
        "ALTER TABLE nodes ADD COLUMN IF NOT EXISTS schema bigint NOT NULL DEFAULT 2",
        Self.consoleCodes, Self.sender,
    ]

    /// With its only row, so that one statement makes both.
    private static let sender =
        "CREATE TABLE IF NOT EXISTS sender AS SELECT 1::bigint AS id, 0::bigint AS node, 0::bigint AS ends"

    private static let consoleCodes =
        "CREATE TABLE IF NOT EXISTS console_codes (id bytea PRIMARY KEY, ends bigint NOT NULL, blob bytea NOT NULL)"

    /// Makes the tokens of a lost history invalid. Numbers begin anew at the epoch times 2^40, so that none is given out twice. An epoch
    /// that is too great for that was drawn at random by a restore into a file: numbers then begin at the next multiple.
    static let raisedEpoch = """
        epoch = epoch + 1, first_id = greatest(first_id, 1099511627776 * CASE WHEN epoch < 4194303 THEN epoch + 1
            ELSE 1 + greatest(first_id, (SELECT next_transaction FROM commits ORDER BY revision DESC LIMIT 1))
            / 1099511627776 END)
        """

    /// Tables are keyed by what is looked up. Numbers are below 2^63. Blobs are sealed as in a file.
    ///
    /// - `store` has one row, whose lock is the right to write. `passed` is an instant that has passed for all nodes, and only rises.
    ///   `first_id` bounds the numbers of transactions and accounts from below, once history was lost.
    /// - `commits` has one row a revision, for good. The newest is the store's header. `mark` chains the revisions: see
    ///   `ChainMark`.
    ///   `detail` is a `CommitDetail`, empty for most.
    /// - `feed` has whole changes for other nodes, for some minutes.
    /// - `accounts` has the record of each account, and when its next renewal is due.
    /// - `facts` has all facts of an account in order. `transactions` names the fact that holds each transaction. `state` is 0 for
    ///   an unfinished one, 1 for a finished one, 2 for a finished one that is spent: a consumable that was not refunded.
    ///   `spends` says whether finishing it makes it so. `product` is a checksum of the product's identifier. Where no fact holds
    ///   it, `blob` does: in an App Store app, where several reports make up one transaction. It is empty elsewhere.
    /// - `items` are values that no record and no fact holds: see `ItemKind`.
    /// - `crossings` has the instants at which lines of accounts change their state by time alone, those of the past too.
    /// - `nodes` has the processes that have the store open.
    /// - `console_codes` has tokens that wait for their browsers, for a minute. `id` does not reveal the code, which alone opens `blob`.
    /// - `sender` has one row: the node that sends requests to other servers, and until when.
    ///
    /// A record is rewritten with each change of its account. The free space in the pages of `accounts` keeps the new version on
    /// the page of the old one. Then no index changes.
    static let statements = [
        """
        CREATE TABLE store (
            id bigint PRIMARY KEY CHECK (id = 1), identity bytea NOT NULL, epoch bigint NOT NULL, schema bigint NOT NULL,
            system bigint NOT NULL, passed bigint NOT NULL DEFAULT 0, first_id bigint NOT NULL DEFAULT 1)
        """,
        """
        CREATE TABLE commits (
            revision bigint PRIMARY KEY, committed bigint NOT NULL, app bigint NOT NULL, mark bigint NOT NULL,
            epoch bigint NOT NULL, next_transaction bigint NOT NULL, next_account bigint NOT NULL,
            detail bytea NOT NULL)
        """,
        "CREATE TABLE feed (revision bigint PRIMARY KEY, blob bytea NOT NULL, writer bigint NOT NULL)",
        """
        CREATE TABLE accounts (account bigint PRIMARY KEY, app bigint NOT NULL, due bigint, blob bytea NOT NULL)
        WITH (fillfactor = 70)
        """,
        "CREATE INDEX accounts_by_due ON accounts (app, due, account) WHERE due IS NOT NULL",
        """
        CREATE TABLE facts (
            account bigint NOT NULL, revision bigint NOT NULL, ordinal bigint NOT NULL, is_event bigint NOT NULL,
            blob bytea NOT NULL, PRIMARY KEY (account, revision, ordinal))
        """,
        "CREATE INDEX facts_by_revision ON facts (revision, ordinal)",
        """
        CREATE TABLE transactions (
            app bigint NOT NULL, id bigint NOT NULL, account bigint NOT NULL, purchase_date bigint NOT NULL,
            state bigint NOT NULL, spends bigint NOT NULL, product bigint NOT NULL, revision bigint NOT NULL,
            ordinal bigint NOT NULL, blob bytea NOT NULL, PRIMARY KEY (app, id))
        """,
        "CREATE INDEX transactions_by_date ON transactions (account, state, purchase_date, id)",
        "CREATE TABLE aliases (app bigint NOT NULL, key bytea NOT NULL, account bigint NOT NULL, PRIMARY KEY (app, key))",
        "CREATE INDEX aliases_by_account ON aliases (account)",
        """
        CREATE TABLE crossings (
            app bigint NOT NULL, instant bigint NOT NULL, account bigint NOT NULL, PRIMARY KEY (app, instant, account))
        """,
        "CREATE TABLE apps (app bigint PRIMARY KEY, effective bigint NOT NULL, revision bigint NOT NULL)",
        """
        CREATE TABLE app_states (
            app bigint NOT NULL, effective bigint NOT NULL, revision bigint NOT NULL, catalogue_revision bigint NOT NULL,
            blob bytea NOT NULL, PRIMARY KEY (app, effective, revision))
        """,
        "CREATE TABLE catalogues (app bigint NOT NULL, revision bigint NOT NULL, blob bytea NOT NULL, PRIMARY KEY (app, revision))",
        "CREATE TABLE images (app bigint NOT NULL, hash bytea NOT NULL, blob bytea NOT NULL, PRIMARY KEY (app, hash))",
        """
        CREATE TABLE answers (
            app bigint NOT NULL, key bytea NOT NULL, kept bigint NOT NULL, blob bytea NOT NULL, PRIMARY KEY (app, key))
        """,
        "CREATE INDEX answers_by_age ON answers (kept)",
        "CREATE TABLE revocations (id bytea PRIMARY KEY, expires bigint NOT NULL, blob bytea NOT NULL)",
        "CREATE INDEX revocations_by_end ON revocations (expires)",
        """
        CREATE TABLE items (
            kind bigint NOT NULL, grp bytea NOT NULL, key bytea NOT NULL, blob bytea NOT NULL, PRIMARY KEY (kind, grp, key))
        """,
        """
        CREATE TABLE nodes (
            id bigint PRIMARY KEY, name text NOT NULL, version text NOT NULL, started bigint NOT NULL, beat bigint NOT NULL,
            applied bigint NOT NULL, lease bigint NOT NULL, streams bigint NOT NULL, draining bigint NOT NULL,
            schema bigint NOT NULL DEFAULT 2)
        """,
        Self.consoleCodes,
        Self.sender,
    ]

    /// The tables, for a database that has some of its own.
    static let tables = [
        "store", "commits", "feed", "accounts", "facts", "transactions", "aliases", "apps", "app_states", "catalogues",
        "images", "answers", "revocations", "nodes", "crossings", "items", "console_codes",
        "sender",
    ]
}
