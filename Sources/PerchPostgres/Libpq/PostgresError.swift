import PerchBase
import PerchStore

/// Why a request to PostgreSQL failed.
struct PostgresError: Error, CustomStringConvertible {
    /// The five characters of SQL; empty where the connection was lost.
    var state: String
    var message: String
    /// A refusal that was found while a connection was checked.
    var carried: PostgresOpenError?

    init(state: String, message: String, carried: PostgresOpenError? = nil) {
        self.state = state
        self.message = message
        self.carried = carried
    }

    /// The connection broke, or its answer did not arrive in time. It must not be used again.
    static func lost(_ message: String) -> PostgresError { PostgresError(state: "", message: message) }

    /// Whether the request's outcome is not known.
    var isLost: Bool { self.state.isEmpty }

    /// Whether the session is of no more use: it ends (57P0x, 25P0x), or its server only reads (25006).
    var endsConnection: Bool {
        self.isLost || self.state.hasPrefix("08") || self.state.hasPrefix("57P") || self.state == "25006"
            || self.state == "25P03" || self.state == "25P04"
    }

    /// The error for the engine where nothing was written.
    var storageError: StorageError {
        if self.endsConnection { return .unreachable(self.description) }
        if self.state == Self.otherStore || self.state == Self.otherHistory { return .historyLost(self.message) }
        switch self.state {
        case "53100": return .full(self.description)
        // The fence of the log, or a revision that another node has written: the batch was decided on an old state.
        case "22012", "23505", "40001", "40P01": return .superseded
        case "55P03": return .unreachable("another node holds the store's lock: \(self.description)")
        case "57014": return .unreachable("PostgreSQL cancelled a statement: \(self.description)")
        // Too many connections, no memory; the disk of the server: PostgreSQL restarts after these, or goes on.
        case _ where self.state.hasPrefix("53") || self.state.hasPrefix("58"):
            return .unreachable(self.description)
        case _ where self.state.hasPrefix("XX"): return .corrupt(self.description)
        default: return .failed(self.description)
        }
    }

    var description: String {
        self.isLost ? self.message : "PostgreSQL says \"\(self.message)\" (\(self.state))"
    }
}

extension PostgresOpenError {
    /// As an error of the connection.
    var carried: PostgresError { PostgresError(state: "", message: self.description, carried: self) }
}
