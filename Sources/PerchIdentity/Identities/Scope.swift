/// The scope of a caller. Each scope includes those before it.
package enum Scope: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable, Comparable {
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

    /// `read, write, test, admin`, for messages.
    package static var names: String { Self.allCases.map(\.name).joined(separator: ", ") }
}
