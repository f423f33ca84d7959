import PostgresTesting
import Testing

@testable import PerchPostgres

/// A search for customers while somebody types: the rows that it reads are counted by PostgreSQL.
@Suite struct `A search of keys` {
    @Test func `reads as many rows as its page among half a million accounts`() throws {
        let database = TestDatabase()
        try database.open().close()
        let fills = database.run(
            """
            INSERT INTO perch.aliases
                SELECT 1, convert_to('user-' || lpad(i::text, 9, '0'), 'UTF8'), i FROM generate_series(1, 500000) AS i;
            ANALYZE perch.aliases;
            """)
        #expect(fills)
        #expect(database.run(Self.counting(.keysOfApp, "1, 'user-000250000'::bytea, 21", rows: 21)))
        #expect(database.run(Self.counting(.keyOfAccount, "250000", rows: 1)))
        #expect(
            database.run(
                Self.counting(.planKeys, "ARRAY[1::bigint], ARRAY['user-000250000'::bytea]", rows: 1)))
        // The count is one: a page of two is more than one row.
        #expect(!database.run(Self.counting(.keysOfApp, "1, 'user-000250000'::bytea, 2", rows: 1)))
    }

    /// Fails where the plan reads the whole of `aliases`, or more of its rows than these.
    private static func counting(_ query: Query, _ values: String, rows: Int) -> String {
        """
        SET search_path TO perch;
        PREPARE asked AS \(query.sql);
        DO $$
        DECLARE plan jsonb; node jsonb;
        BEGIN
            EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked(\(values.replacing("'", with: "''")))' INTO plan;
            FOR node IN SELECT jsonb_path_query(plan, '$.** ? (@."Relation Name" == "aliases")') LOOP
                IF node ->> 'Node Type' LIKE 'Seq%' OR (node ->> 'Actual Rows')::float * (node ->> 'Actual Loops')::float
                    + coalesce((node ->> 'Rows Removed by Filter')::float, 0) > \(rows)
                THEN RAISE EXCEPTION 'it reads too much: %', plan; END IF;
            END LOOP;
        END $$;
        """
    }
}
