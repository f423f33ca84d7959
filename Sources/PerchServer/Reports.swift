import PerchBase
import PerchCore
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore

extension LoopCensus {
    /// Of a watch of an account that nobody else watches, beside the account's key; at the most.
    var watchBytes: Int { self.callBytes + self.viewBytes }
}

/// What a loop says of itself.
struct LoopReport: Sendable {
    var counters: LoopCounters
    var census: LoopCensus
    var acceptor: Acceptor.Counters
    var measures: LoopMeasures
    var tls = TLSCounters()
    /// Why credentials were refused last; empty for never.
    var credentialRefusal = ""
}

/// What a loop measures of its own turns.
struct LoopMeasures: Sendable {
    /// Microseconds from waking up to the end of the turn.
    var turnMicroseconds = Histogram()
    /// Microseconds from a commit to the end of the flush that gave watchers its value, for the oldest commit of a turn.
    var pushMicroseconds = Histogram()
    /// Events that waited in the inbox when it was taken.
    var inboxEvents = Histogram()
}

/// What the store's thread says of itself.
struct StoreReport: Sendable {
    var counters: StoreEngine.Counters
    var census: StoreCensus
    var figures: StorageFigures
    var measures: StoreMeasures
    /// The last batch found no room.
    var isWithoutRoom: Bool
    /// Why nothing can be acknowledged any more.
    var failure: String?
    /// When a group commit failed last, by the machine's clock.
    var failedCommit: Instant?
    var apps: [AppReport]
}

struct StoreMeasures: Sendable {
    /// From taking a batch to the end of its commit.
    var batchMicroseconds = Histogram()
    /// Of those the storage's own part, fsync included.
    var commitMicroseconds = Histogram()
    var batchChanges = Histogram()
    /// Requests that waited in the inbox when it was taken.
    var inboxRequests = Histogram()
    /// For which a backup kept the thread from its other work, each time.
    var copyStallMicroseconds = Histogram()
}

/// How much the store holds in memory.
struct StoreCensus: Sendable {
    var records: Int
    var cacheBytes: Int
    var cacheHits: Int
    var cacheMisses: Int
    var cacheEvictions: Int
    var revision: UInt64
}

/// An app, and since when it has its catalogue.
struct AppReport: Sendable {
    var bundleID: String
    var environment: AppEnvironment
    var productCount: Int
    var catalogueRevision: UInt64
    var catalogueLoaded: Instant?
}

/// Who wants to know how the threads are.
enum ReportAsker {
    /// A call of `GetServerStatus`.
    case call(loop: Int, ticket: UInt64)
    /// A request over HTTP.
    case page(connection: UInt64, Page)
    /// The service manager's watchdog.
    case watchdog
    /// The log: what has been refused since the last look?
    case attention
}

/// What can be read over HTTP.
enum Page: String, CaseIterable {
    case metrics = "/metrics"
    /// Whether the loops turn. For who restarts what hangs.
    case health = "/healthz"
    /// Whether clients should be sent here.
    case readiness = "/readyz"
    case status = "/status"

    /// What `/` answers: each path with what it is for.
    static let index = Self.allCases.map { "\($0.rawValue)  \($0.meaning)" }.joined(separator: "\n")

    private var meaning: String {
        switch self {
        case .metrics: "metrics in Prometheus' text format"
        case .health: "200 while every loop answers within a second; for a supervisor that restarts"
        case .readiness: "200 while clients should be sent here; for a load balancer"
        case .status: "how the server is, as JSON; for people"
        }
    }

    var asksLoops: Bool { self != .readiness }
    var asksStore: Bool { self != .health }
}

/// Questions to the threads that are under way: each is complete when all that it asks have answered, or late.
///
/// A thread that hangs holds up only what asks it. What comes after its question was given up is dropped.
struct ReportDesk {
    struct Report {
        let asker: ReportAsker
        let deadline: MonotonicTime
        fileprivate(set) var loops: [LoopReport?]
        fileprivate(set) var store: StoreReport?
        fileprivate var loopsAwaited: Set<Int>
        fileprivate var isStoreAwaited: Bool

        var isComplete: Bool { self.loopsAwaited.isEmpty && !self.isStoreAwaited }

        /// `loop 1 and the store`: who has not answered.
        var awaited: String {
            let names = self.loopsAwaited.sorted().map { "loop \($0)" } + (self.isStoreAwaited ? ["the store"] : [])
            return names.joined(separator: " and ")
        }
    }

    private let loopCount: Int
    private var reports: [UInt64: Report] = [:]
    private var nextNumber: UInt64 = 1

    init(loops: Int) { self.loopCount = loops }

    var count: Int { self.reports.count }

    /// Notes a question; the caller sends its number to those asked.
    mutating func open(_ asker: ReportAsker, loops: Bool, store: Bool, deadline: MonotonicTime) -> UInt64 {
        let number = self.nextNumber
        self.nextNumber += 1
        self.reports[number] = Report(
            asker: asker, deadline: deadline, loops: Array(repeating: nil, count: self.loopCount),
            loopsAwaited: loops ? Set(0..<self.loopCount) : [], isStoreAwaited: store)
        return number
    }

    /// The whole report, if this was the last that it waited for.
    mutating func took(_ number: UInt64, loop: Int, _ part: LoopReport) -> Report? {
        guard self.reports[number] != nil else { return nil }
        self.reports[number]?.loops[loop] = part
        self.reports[number]?.loopsAwaited.remove(loop)
        return self.closed(number)
    }

    mutating func took(_ number: UInt64, store part: StoreReport) -> Report? {
        guard self.reports[number] != nil else { return nil }
        self.reports[number]?.store = part
        self.reports[number]?.isStoreAwaited = false
        return self.closed(number)
    }

    private mutating func closed(_ number: UInt64) -> Report? {
        guard let report = self.reports[number], report.isComplete else { return nil }
        self.reports[number] = nil
        return report
    }

    /// Those whose time is over, oldest first: they are not waited for any more.
    mutating func late(now: MonotonicTime) -> [Report] {
        let numbers = self.reports.filter { $0.value.deadline <= now }.keys.sorted()
        return numbers.compactMap { self.reports.removeValue(forKey: $0) }
    }

    var nextDeadline: MonotonicTime? {
        self.reports.values.map(\.deadline).min()
    }
}
