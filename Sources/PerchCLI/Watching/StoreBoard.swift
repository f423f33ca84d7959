import PerchBase
import PerchClient
import PerchModel

/// The rows of all accounts of `perch store watch`, and the filter that selects those that are shown. A value: each
/// pushed list of rows returns the changes that it causes.
struct StoreBoard {
    /// The filter of rows; an empty one shows all.
    struct Filter: Hashable, Sendable {
        var products: Set<String> = []
        /// Names of states of renewal, and of kinds of rows.
        var states: Set<String> = []

        /// Values of `--state`.
        static let stateNames =
            Array(RenewalState.names.dropFirst())
            + BoardRow.Kind.allCases.map(\.rawValue).filter { $0 != "subscription" }

        func shows(_ row: BoardRow) -> Bool {
            guard self.products.isEmpty || self.products.contains(row.productID) else { return false }
            guard !self.states.isEmpty else { return true }
            return self.states.contains(row.renewalState?.description ?? row.key.kind.rawValue)
        }
    }

    /// One source of rows. Its new rows replace its earlier ones.
    enum Source: Hashable, Sendable {
        case group(String)
        case details
        case intents
        case messages
    }

    enum Change: Hashable, Sendable {
        case shown(BoardRow)
        case changed(BoardRow)
        case gone(BoardRow)

        var row: BoardRow {
            switch self {
            case .shown(let row), .changed(let row), .gone(let row): row
            }
        }
    }

    let filter: Filter
    /// The latest known instant of the app's clock.
    private(set) var now: Instant = .distantPast
    private var sources: [String: [Source: [BoardRow]]] = [:]
    private var failures: [String: [Source: String]] = [:]

    init(filter: Filter) { self.filter = filter }

    mutating func reached(_ instant: Instant) { self.now = max(self.now, instant) }

    /// Replaces the rows of a source. Returns the changes in the order of rows.
    mutating func set(_ rows: [BoardRow], of source: Source, account: String) -> [Change] {
        self.failures[account]?[source] = nil
        let shown = rows.filter { self.filter.shows($0) }
        let before = self.sources[account]?[source] ?? []
        self.sources[account, default: [:]][source] = shown
        let old = Dictionary(before.map { ($0.key, $0) }) { first, _ in first }
        let new = Set(shown.map(\.key))
        var changes: [Change] = []
        for row in before where !new.contains(row.key) { changes.append(.gone(row)) }
        for row in shown.sorted(by: { $0.key < $1.key }) where old[row.key] != row {
            changes.append(old[row.key] == nil ? .shown(row) : .changed(row))
        }
        return changes
    }

    /// Marks a source as failed. Its earlier rows stay.
    mutating func fail(_ message: String, of source: Source, account: String) {
        self.failures[account, default: [:]][source] = message
    }

    var accounts: [String] { self.sources.keys.sorted() }

    /// In order.
    var rows: [BoardRow] {
        self.sources.values.flatMap { $0.values.joined() }.sorted { $0.key < $1.key }
    }

    /// The failures, each with its account.
    var failureLines: [String] {
        self.failures.keys.sorted().flatMap { account in
            Set(self.failures[account, default: [:]].values).sorted().map { "\(printable(account)): \($0)" }
        }
    }
}
