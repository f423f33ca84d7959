import PerchBase

/// Every statement of a store at work. Each connection prepares them once.
enum Query: Int, CaseIterable {
    case begin, beginReading, commit, rollback, lock, head, fence, now, setPassed, finishUpgrade
    case feed, insertFeed, trimFeed, insertCommits, commitTime, commitsAfter, markOf
    case planKeys, planRecords, recordsFrom, planTransactions, planAnswers
    case apps, setApp, insertAppState, appStateInForce, appStateAt, insertCatalogue, catalogue
    case image, insertImage, deleteImages
    case setAliases, removeAliases, keyOfAccount, namesOfAccount, namesOfAccounts, keysOfApp
    case setRecords, setDueRecords, dueThrough, earliestDue
    case insertFacts, factsOfAccount, factsThrough, factsOfRevisions, eventsOfAccount
    case insertCrossings, deleteCrossings, crossingsAfter, forgetCrossings
    case insertTransactions, putTransaction, finishTransactions, updateTransaction, deleteTransaction,
        deleteOwnTransaction
    case deleteTransactions
    case listedOldestFirst, listedNewestFirst, allOldestFirst, allNewestFirst
    case unfinishedOldestFirst, unfinishedNewestFirst
    case answersKeptAt, setAnswers, deleteAnswer, forgetAnswers
    case eraseFacts, eraseTransactions, setDetail
    case revocations, setRevocations, forgetRevocations
    case item, items, itemCount, setItem, removeItem
    case keepCode, takeCode, takeSender
    case insertNode, setLease, beat, touch, nodes, forgetNodes, leave, notify, setEpoch

    var name: String { "s\(self.rawValue)" }

    /// The clock of the database, in milliseconds.
    private static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    var sql: String {
        switch self {
        case .begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .beginReading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .lock: "SELECT id FROM store WHERE id = 1 FOR UPDATE"
        // Whether no standby has to confirm commits: then whatever can be read is durable.
        case .head:
            """
            SELECT s.epoch, s.schema, c.revision, c.mark, greatest(c.next_transaction, s.first_id),
                greatest(c.next_account, s.first_id), c.committed, (current_setting('synchronous_standby_names') = ''),
                \(Self.clock), s.passed, s.first_id
            FROM store s LEFT JOIN LATERAL (SELECT * FROM commits ORDER BY revision DESC LIMIT 1) c ON true WHERE s.id = 1
            """
        // Divides by zero unless the log still ends where the batch was decided.
        case .fence:
            """
            SELECT 1 / (CASE WHEN s.epoch = $1::bigint AND s.schema = $2::bigint
                AND coalesce((SELECT max(revision) FROM commits), 0) = $3::bigint
                AND coalesce((SELECT mark FROM commits WHERE revision = $3::bigint), 0) = $4::bigint THEN 1 ELSE 0 END)
            FROM store s WHERE s.id = 1
            """
        case .now: "SELECT \(Self.clock)"
        case .setPassed: "UPDATE store SET passed = $1::bigint WHERE id = 1 AND passed < $1::bigint"
        // Nodes of the version before that were only suspended find the new one at their next batch, and end.
        case .finishUpgrade:
            """
            UPDATE store SET schema = \(Schema.version), passed = greatest(passed, \(Self.clock) + $1::bigint)
            WHERE id = 1 AND schema = \(Schema.versionBeside) AND NOT EXISTS (
                SELECT FROM nodes WHERE schema < \(Schema.version)
                AND beat > \(Self.clock) - \(Limits.versionGoneMilliseconds))
            """

        case .feed:
            "SELECT revision, blob, writer FROM feed WHERE revision > $1::bigint ORDER BY revision LIMIT $2::bigint"
        case .insertFeed: "INSERT INTO feed SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[])"
        case .trimFeed:
            """
            DELETE FROM feed WHERE revision < least($1::bigint, coalesce((SELECT max(revision) FROM commits
                WHERE revision < $1::bigint AND committed < $2::bigint), 0))
            """
        case .insertCommits:
            """
            INSERT INTO commits SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
                $6::bigint[], $7::bigint[], $8::bytea[])
            """
        case .commitTime: "SELECT committed FROM commits WHERE revision = $1::bigint"
        case .commitsAfter:
            """
            SELECT revision, committed, app, next_transaction, next_account, detail FROM commits
            WHERE revision > $1::bigint AND revision <= $2::bigint ORDER BY revision LIMIT $3::bigint
            """
        case .markOf: "SELECT mark FROM commits WHERE revision = $1::bigint"

        case .planKeys:
            """
            SELECT k.n, a.account, r.blob FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS k (app, key, n)
            JOIN aliases a ON a.app = k.app AND a.key = k.key LEFT JOIN accounts r ON r.account = a.account
            """
        case .planRecords: "SELECT account, blob FROM accounts WHERE account = ANY ($1::bigint[])"
        case .recordsFrom:
            """
            SELECT account, blob FROM accounts WHERE account >= $1::bigint AND account < $2::bigint
            ORDER BY account LIMIT $3::bigint
            """
        case .planTransactions:
            """
            SELECT k.n, t.account, r.blob, t.state, t.revision, t.ordinal, f.blob, t.blob
            FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS k (app, id, n)
            JOIN transactions t ON t.app = k.app AND t.id = k.id
            LEFT JOIN facts f ON f.account = t.account AND f.revision = t.revision AND f.ordinal = t.ordinal
            LEFT JOIN accounts r ON r.account = t.account
            """
        case .planAnswers:
            """
            SELECT k.n, a.blob FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS k (app, key, n)
            JOIN answers a ON a.app = k.app AND a.key = k.key
            """

        case .apps: "SELECT app, effective FROM apps ORDER BY app"
        case .setApp:
            """
            INSERT INTO apps VALUES ($1::bigint, $2::bigint, $3::bigint)
            ON CONFLICT (app) DO UPDATE SET effective = EXCLUDED.effective, revision = EXCLUDED.revision
            """
        case .insertAppState:
            "INSERT INTO app_states VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bytea)"
        case .appStateInForce: Self.appState("s.effective <= $2::bigint")
        case .appStateAt: Self.appState("s.revision <= $2::bigint")
        case .insertCatalogue:
            "INSERT INTO catalogues VALUES ($1::bigint, $2::bigint, $3::bytea) ON CONFLICT DO NOTHING"
        case .catalogue: "SELECT blob FROM catalogues WHERE app = $1::bigint AND revision = $2::bigint"

        case .image: "SELECT blob FROM images WHERE app = $1::bigint AND hash = $2::bytea"
        case .insertImage: "INSERT INTO images VALUES ($1::bigint, $2::bytea, $3::bytea) ON CONFLICT DO NOTHING"
        case .deleteImages: "DELETE FROM images WHERE app = $1::bigint AND NOT (hash = ANY ($2::bytea[]))"

        case .setAliases:
            """
            INSERT INTO aliases SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[])
            ON CONFLICT (app, key) DO UPDATE SET account = EXCLUDED.account
            """
        case .removeAliases:
            """
            DELETE FROM aliases a USING unnest($1::bigint[], $2::bytea[]) AS k (app, key)
            WHERE a.app = k.app AND a.key = k.key
            """
        // The store's own names begin with NUL.
        case .keyOfAccount:
            """
            SELECT key FROM aliases WHERE account = $1::bigint AND key >= '\\x01'::bytea ORDER BY app, key LIMIT 1
            """
        case .namesOfAccount: "SELECT app, key FROM aliases WHERE account = $1::bigint ORDER BY app, key"
        case .namesOfAccounts:
            "SELECT account, app, key FROM aliases WHERE account = ANY ($1::bigint[]) ORDER BY account, app, key"
        case .keysOfApp:
            "SELECT key FROM aliases WHERE app = $1::bigint AND key > $2::bytea ORDER BY key LIMIT $3::bigint"

        case .setRecords:
            """
            INSERT INTO accounts (account, app, blob) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])
            ON CONFLICT (account) DO UPDATE SET blob = EXCLUDED.blob
            """
        case .setDueRecords:
            """
            INSERT INTO accounts (account, app, blob, due)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[])
            ON CONFLICT (account) DO UPDATE SET blob = EXCLUDED.blob, due = EXCLUDED.due
            """
        case .dueThrough:
            """
            SELECT due, account FROM accounts WHERE app = $1::bigint AND due IS NOT NULL AND due <= $2::bigint
            ORDER BY due, account LIMIT $3::bigint
            """
        case .earliestDue:
            "SELECT due FROM accounts WHERE app = $1::bigint AND due IS NOT NULL ORDER BY due, account LIMIT 1"

        case .insertFacts:
            "INSERT INTO facts SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])"
        case .factsOfAccount:
            "SELECT revision, ordinal, blob FROM facts WHERE account = $1::bigint ORDER BY revision, ordinal"
        case .factsThrough:
            """
            SELECT revision, ordinal, blob FROM facts
            WHERE account = $1::bigint AND revision > $2::bigint AND revision <= $3::bigint
            ORDER BY revision, ordinal LIMIT $4::bigint
            """
        case .factsOfRevisions:
            """
            SELECT revision, ordinal, blob, account FROM facts WHERE revision > $1::bigint AND revision <= $2::bigint
            ORDER BY revision, ordinal
            """
        case .eventsOfAccount:
            """
            SELECT f.revision, f.ordinal, c.committed, f.blob FROM facts f JOIN commits c ON c.revision = f.revision
            WHERE f.account = $1::bigint AND (f.revision, f.ordinal) > ($2::bigint, $3::bigint) AND f.is_event = 1
            ORDER BY f.revision, f.ordinal LIMIT $4::bigint
            """

        case .insertCrossings:
            """
            INSERT INTO crossings SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING
            """
        case .deleteCrossings:
            """
            DELETE FROM crossings c USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k (app, instant, account)
            WHERE c.app = k.app AND c.instant = k.instant AND c.account = k.account
            """
        case .crossingsAfter:
            """
            SELECT instant, account FROM crossings WHERE app = $1::bigint
            AND (instant, account) > ($2::bigint, $3::bigint) AND instant <= $4::bigint ORDER BY instant, account LIMIT $5::bigint
            """
        case .forgetCrossings:
            "DELETE FROM crossings WHERE app = $1::bigint AND (instant, account) <= ($2::bigint, $3::bigint)"

        case .insertTransactions:
            """
            INSERT INTO transactions SELECT app, id, account, purchase_date, 0, spends, product, revision, ordinal, ''::bytea
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                $8::bigint[]) AS t (app, id, account, purchase_date, spends, product, revision, ordinal)
            """
        // It may belong to another account until now.
        case .putTransaction:
            """
            INSERT INTO transactions VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, 0, $5::bigint, $6::bigint, 0, 0,
                $7::bytea)
            ON CONFLICT (app, id) DO UPDATE SET account = EXCLUDED.account, purchase_date = EXCLUDED.purchase_date, state = 0,
                spends = EXCLUDED.spends, product = EXCLUDED.product, revision = 0, ordinal = 0, blob = EXCLUDED.blob
            """
        case .finishTransactions:
            """
            UPDATE transactions t SET state = 1 + t.spends FROM unnest($1::bigint[], $2::bigint[]) AS k (app, id)
            WHERE t.app = k.app AND t.id = k.id AND t.state = 0
            """
        case .updateTransaction:
            """
            UPDATE transactions SET purchase_date = $3::bigint, spends = $4::bigint, product = $5::bigint,
                revision = $6::bigint, ordinal = $7::bigint, blob = '',
                state = CASE WHEN state = 0 THEN 0 ELSE 1 + $4::bigint END
            WHERE app = $1::bigint AND id = $2::bigint
            """
        case .deleteTransaction: "DELETE FROM transactions WHERE app = $1::bigint AND id = $2::bigint"
        case .deleteOwnTransaction:
            "DELETE FROM transactions WHERE app = $1::bigint AND id = $2::bigint AND account = $3::bigint"
        case .deleteTransactions:
            "DELETE FROM transactions WHERE app = $1::bigint AND account = $2::bigint AND state IN (0, 1, 2)"

        case .listedOldestFirst: Self.list([0, 1], isNewestFirst: false)
        case .listedNewestFirst: Self.list([0, 1], isNewestFirst: true)
        case .allOldestFirst: Self.list([0, 1, 2], isNewestFirst: false)
        case .allNewestFirst: Self.list([0, 1, 2], isNewestFirst: true)
        case .unfinishedOldestFirst: Self.list([0], isNewestFirst: false)
        case .unfinishedNewestFirst: Self.list([0], isNewestFirst: true)

        case .answersKeptAt: "SELECT app, key, blob FROM answers WHERE kept = $1::bigint"
        case .deleteAnswer: "DELETE FROM answers WHERE app = $1::bigint AND key = $2::bytea"
        case .eraseFacts: "DELETE FROM facts WHERE account = $1::bigint AND revision < $2::bigint"
        case .eraseTransactions: "DELETE FROM transactions WHERE account = $1::bigint"
        case .setDetail: "UPDATE commits SET detail = $2::bytea WHERE revision = $1::bigint"
        case .setAnswers:
            """
            INSERT INTO answers SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[])
            ON CONFLICT (app, key) DO UPDATE SET kept = EXCLUDED.kept, blob = EXCLUDED.blob
            """
        case .forgetAnswers: "DELETE FROM answers WHERE kept < $1::bigint"

        case .revocations: "SELECT id, blob FROM revocations ORDER BY id"
        case .setRevocations:
            """
            INSERT INTO revocations SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[])
            ON CONFLICT (id) DO UPDATE SET expires = EXCLUDED.expires, blob = EXCLUDED.blob
            """
        case .forgetRevocations: "DELETE FROM revocations WHERE expires < $1::bigint"

        case .item: "SELECT blob FROM items WHERE kind = $1::bigint AND grp = $2::bytea AND key = $3::bytea"
        case .items:
            """
            SELECT key, blob FROM items WHERE kind = $1::bigint AND grp = $2::bytea AND key > $3::bytea
            ORDER BY key LIMIT $4::bigint
            """
        case .itemCount: "SELECT count(*) FROM items WHERE kind = $1::bigint AND grp = $2::bytea"
        case .setItem:
            """
            INSERT INTO items VALUES ($1::bigint, $2::bytea, $3::bytea, $4::bytea)
            ON CONFLICT (kind, grp, key) DO UPDATE SET blob = EXCLUDED.blob
            """
        case .removeItem: "DELETE FROM items WHERE kind = $1::bigint AND grp = $2::bytea AND key = $3::bytea"

        // The newest are kept, as in the memory of a server that has its store alone.
        case .keepCode:
            """
            WITH gone AS (DELETE FROM console_codes WHERE ends <= \(Self.clock)
                OR id IN (SELECT id FROM console_codes ORDER BY ends DESC OFFSET $4::bigint - 1))
            INSERT INTO console_codes VALUES ($1::bytea, \(Self.clock) + $2::bigint, $3::bytea) ON CONFLICT DO NOTHING
            """
        case .takeCode: "DELETE FROM console_codes WHERE id = $1::bytea AND ends > \(Self.clock) RETURNING blob"

        // A row that does not match is not locked, so no node waits for the heartbeat of the one that has it.
        case .takeSender:
            """
            UPDATE sender SET node = $1::bigint, ends = \(Self.clock) + $2::bigint
            WHERE id = 1 AND (node = $1::bigint OR ends <= \(Self.clock)) RETURNING ends
            """

        case .insertNode:
            """
            INSERT INTO nodes VALUES ($1::bigint, convert_from($2::bytea, 'UTF8'), convert_from($3::bytea, 'UTF8'),
                \(Self.clock), \(Self.clock), $4::bigint, $5::bigint, 0, 0, \(Schema.version))
            ON CONFLICT (id) DO UPDATE SET beat = EXCLUDED.beat
            """
        case .setLease: "UPDATE nodes SET lease = $2::bigint WHERE id = $1::bigint"
        case .beat:
            """
            UPDATE nodes SET beat = \(Self.clock), applied = $2::bigint, streams = $3::bigint, draining = $4::bigint
            WHERE id = $1::bigint RETURNING beat
            """
        case .touch: "UPDATE nodes SET beat = \(Self.clock) WHERE id = $1::bigint"
        case .nodes:
            """
            SELECT id, convert_to(name, 'UTF8'), convert_to(version, 'UTF8'), started, \(Self.clock) - beat, applied, lease,
                streams, draining, schema FROM nodes ORDER BY started, id
            """
        case .forgetNodes: "DELETE FROM nodes WHERE beat < $1::bigint AND lease < $2::bigint AND id <> $3::bigint"
        // Its lease counts until it has passed.
        case .leave: "UPDATE nodes SET beat = 0, draining = 1 WHERE id = $1::bigint"
        // A separate transaction without a sync. It announces a revision that is durable everywhere.
        case .notify:
            """
            SELECT set_config('synchronous_commit', 'off', true), pg_notify('perch', convert_from($1::bytea, 'UTF8'))
            """
        case .setEpoch: "UPDATE store SET epoch = $1::bigint, system = $2::bigint WHERE id = 1"
        }
    }

    /// A state of an app, and its catalogue. The clock of an app never goes back: its states have the same order by instant as by
    /// revision.
    private static func appState(_ condition: String) -> String {
        """
        SELECT s.revision, s.catalogue_revision, s.blob FROM app_states s WHERE s.app = $1::bigint AND \(condition)
        ORDER BY s.effective DESC, s.revision DESC LIMIT 1
        """
    }

    /// The transactions of some states by date: PostgreSQL merges the runs of the states.
    private static func list(_ states: [Int], isNewestFirst: Bool) -> String {
        let direction = isNewestFirst ? " DESC" : ""
        let runs = states.map { state in
            """
            (SELECT t.purchase_date, t.id, t.state, t.revision, t.ordinal, f.blob, t.blob AS own FROM transactions t
            LEFT JOIN facts f ON f.account = t.account AND f.revision = t.revision AND f.ordinal = t.ordinal
            WHERE t.account = $1::bigint AND t.state = \(state)
            AND (t.purchase_date, t.id) \(isNewestFirst ? "<" : ">") ($2::bigint, $3::bigint)
            AND ($4::bigint IS NULL OR t.product = $4::bigint)
            ORDER BY t.purchase_date\(direction), t.id\(direction) LIMIT $5::bigint)
            """
        }
        return "SELECT * FROM (" + runs.joined(separator: "\nUNION ALL ")
            + ") u\nORDER BY purchase_date\(direction), id\(direction) LIMIT $5::bigint"
    }
}
