/// The scope of a caller. `read` to `admin` are a ladder: each includes those before it. `ingest` stands beside it: it allows
/// nothing but to submit what the App Store signed, and `admin` includes it.
package enum Scope: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable, Comparable {
    /// Submit what the App Store signed. A token may have it beside a scope of the ladder.
    case ingest = 0
    /// Read views and transactions.
    case read = 1
    /// Buy and finish.
    case write = 2
    /// Operate the store of a test app.
    case test = 3
    /// Administer the server.
    case admin = 4

    package static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }

    package var name: String {
        switch self {
        case .ingest: "ingest"
        case .read: "read"
        case .write: "write"
        case .test: "test"
        case .admin: "admin"
        }
    }

    package init?(named name: some StringProtocol) {
        guard let scope = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = scope
    }

    /// The scopes of a text: the highest of the ladder, and whether `ingest` is among them. Words are separated by spaces or commas.
    /// Nil: no word is a scope. `allowsOthers`: words of other services are skipped, else they make it nil.
    package static func several(named text: String, allowsOthers: Bool) -> (scope: Scope, ingests: Bool)? {
        let words = text.split { $0 == " " || $0 == "," }
        let scopes = words.compactMap { Scope(named: $0) }
        guard let scope = scopes.max(), allowsOthers || scopes.count == words.count else { return nil }
        return (scope, scopes.contains(.ingest))
    }

    /// `ingest, read, write, test, admin`, for messages.
    package static var names: String { Self.allCases.map(\.name).joined(separator: ", ") }
}
