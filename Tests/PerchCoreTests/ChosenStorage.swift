import Glibc
import PerchPostgres
import PerchSimulation
import PostgresTesting
import Testing

/// Runs the worlds of a suite on the storage that `PERCH_TEST_STORAGE` names: `postgres`, or memory without it.
///
/// `Tests/Nodes/run service` runs the suites of the service with it on PostgreSQL.
struct ChosenStorage: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    /// Once, before any test changes an environment.
    static let chosen = getenv("PERCH_TEST_STORAGE").map { String(cString: $0) }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        switch Self.chosen {
        case "postgres":
            try await World.$newStorage.withValue({ try! TestDatabase().open() }) { try await function() }
        case nil:
            try await function()
        case .some(let other):
            Issue.record("PERCH_TEST_STORAGE=\(other): it is postgres, or not set")
        }
    }
}

/// Without this, a trait that does nothing would let every suite pass on memory.
@Suite(.onChosenStorage) struct `the storage of tests` {
    @Test func `is the chosen one`() {
        let isPostgres = World().storage is PostgresStorage
        #expect(isPostgres == (ChosenStorage.chosen == "postgres"))
    }
}

extension Trait where Self == ChosenStorage {
    /// The worlds of this suite run on the storage that the environment chooses.
    static var onChosenStorage: Self { Self() }
}
