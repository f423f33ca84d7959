/// What a caller may do. Each holds the ones before it.
package enum Scope: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable, Comparable {
    /// Look at views and transactions.
    case read = 1
    /// Buy and finish.
    case write = 2
    /// Make things happen in a test app.
    case test = 3
    /// Run the server.
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

    /// `read, write, test, admin`, for sentences.
    package static var names: String { Self.allCases.map(\.name).joined(separator: ", ") }
}
