import PerchBase
import PerchCore
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore

extension LoopCensus {
    /// Upper bound for a watch of an account with no other watches, without the account's key.
    var watchBytes: Int { self.callBytes + self.viewBytes }
}

/// A loop's report about itself.
struct LoopReport: Sendable {
    var counters: LoopCounters
    var census: LoopCensus
    var acceptor: Acceptor.Counters
    var measures: LoopMeasures
    var tls = TLSCounters()
    /// Reason of the last refused credentials; empty if none were.
    var credentialRefusal = ""
}

/// A loop's measurements of its own ticks.
struct LoopMeasures: Sendable {
    /// Microseconds from waking up to the end of the tick.
    var turnMicroseconds = Histogram()
    /// Microseconds from a commit to the end of the flush that sent its value to watchers, for the oldest commit of a
    /// tick.
    var pushMicroseconds = Histogram()
    /// Number of events in the inbox when the loop took them.
    var inboxEvents = Histogram()
}

/// The store thread's report about itself.
struct StoreReport: Sendable {
    var counters: StoreEngine.Counters
    var census: StoreCensus
    var figures: StorageFigures
    var measures: StoreMeasures
    /// The last batch failed for lack of disk space.
    var isWithoutRoom: Bool
    /// Why the store can no longer acknowledge anything.
    var failure: String?
    /// When a group commit last failed, by the machine's clock.
    var failedCommit: Instant?
    var apps: [AppReport]
    /// The last complete count of subscriptions; nil before the first.
    var subscriptions: SubscriptionReport?
    /// Of a store that several nodes share.
    var sharing: SharingReport?
    /// Groups of reported products that the catalogue names otherwise.
    var groupDifferences: [GroupDifference] { self.counters.groupDifferences }
}

/// The nodes of a shared store, as this one sees them.
struct SharingReport: Sendable {
    var nodes: [NodeReport]
    var ownID: Int64
    var figures: DatabaseFigures
    var sinceBeatMilliseconds: Int64
    /// The database's clock less the machine's wall clock, which counts for nothing else.
    var clockOffsetMilliseconds: Int64
    /// By how much the database's clock jumped against the one that this node goes on with.
    var clockJumpMilliseconds: Int64 = 0
}

extension ReachObstacle {
    /// What an operator sees.
    var finding: String {
        let silence = "for \(Limits.freshnessMilliseconds / 1_000) s"
        return switch self {
        case .silence: "the database of the store has said nothing \(silence)"
        case .refusal: "the database of the store takes no session \(silence)"
        case .noStandby:
            "the database of the store has confirmed no commit \(silence), for lack of a synchronous standby"
        }
    }

    /// What helps, and whether another node does.
    var advice: String {
        switch self {
        case .silence: "go to another node, and look at the network between this one and the database"
        case .refusal: "start the database or let it admit sessions; other nodes are as cut off as this one"
        case .noStandby:
            "start a standby, or take it out of synchronous_standby_names; other nodes wait as this one does"
        }
    }
}

extension SharingReport {
    init(_ sharing: any StoreSharing) {
        self.nodes = sharing.nodes
        self.ownID = sharing.nodeID
        self.figures = sharing.databaseFigures
        self.sinceBeatMilliseconds = sharing.sinceBeat
        self.clockOffsetMilliseconds = StoreClock.machine(offset: sharing.clockOffset).milliseconds(
            since: Clocks.wall())
        self.clockJumpMilliseconds = sharing.clockJump
    }
}

/// Subscriptions by state, and when they were counted by the machine's clock.
struct SubscriptionReport: Sendable {
    var count: SubscriptionCount
    var counted: Instant
}

struct StoreMeasures: Sendable {
    /// From taking a batch to the end of its commit.
    var batchMicroseconds = Histogram()
    /// The storage's own part of that time, fsync included.
    var commitMicroseconds = Histogram()
    var batchChanges = Histogram()
    /// Number of requests in the inbox when the store took them.
    var inboxRequests = Histogram()
    /// Time that a backup blocked the store's thread, per step.
    var copyStallMicroseconds = Histogram()
}

/// Sizes of the store's data in memory.
struct StoreCensus: Sendable {
    var records: Int
    var cacheBytes: Int
    var cacheHits: Int
    var cacheMisses: Int
    var cacheEvictions: Int
    var revision: UInt64
}

/// An app, and when its catalogue was loaded.
struct AppReport: Sendable {
    var bundleID: String
    var environment: AppEnvironment
    var productCount: Int
    var catalogueRevision: UInt64
    var catalogueLoaded: Instant?
    /// Whether its catalogue has named entitlements.
    var namesEntitlements = false
}

/// The receiver of a report.
enum ReportAsker {
    /// A call of `GetServerStatus`.
    case call(loop: Int, ticket: UInt64)
    /// A request over HTTP.
    case page(connection: UInt64, Page)
    /// The service manager's watchdog.
    case watchdog
    /// The log's check for limits that were reached.
    case attention
}

/// The pages of the HTTP listener.
enum Page: String, CaseIterable {
    case metrics = "/metrics"
    /// Whether the loops tick, for a supervisor that restarts a hanging server.
    case health = "/healthz"
    /// Whether clients should be sent here.
    case readiness = "/readyz"
    case status = "/status"

    /// The answer to `/`: each path with its purpose.
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

/// The open questions to the threads: each is complete when all asked threads have answered, or are late.
///
/// A hanging thread delays only the questions to it. Answers to an abandoned question are dropped.
struct ReportDesk {
    struct Report {
        let asker: ReportAsker
        let deadline: MonotonicTime
        fileprivate(set) var loops: [LoopReport?]
        fileprivate(set) var store: StoreReport?
        fileprivate var loopsAwaited: Set<Int>
        fileprivate var isStoreAwaited: Bool

        var isComplete: Bool { self.loopsAwaited.isEmpty && !self.isStoreAwaited }

        /// `loop 1 and the store`: the threads that have not answered.
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

    /// Opens a question; the caller sends its number to the threads asked.
    mutating func open(_ asker: ReportAsker, loops: Bool, store: Bool, deadline: MonotonicTime) -> UInt64 {
        let number = self.nextNumber
        self.nextNumber += 1
        self.reports[number] = Report(
            asker: asker, deadline: deadline, loops: Array(repeating: nil, count: self.loopCount),
            loopsAwaited: loops ? Set(0..<self.loopCount) : [], isStoreAwaited: store)
        return number
    }

    /// The whole report, if this was the last missing answer.
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

    /// The reports whose deadline has passed, oldest first.
    mutating func late(now: MonotonicTime) -> [Report] {
        let numbers = self.reports.filter { $0.value.deadline <= now }.keys.sorted()
        return numbers.compactMap { self.reports.removeValue(forKey: $0) }
    }

    var nextDeadline: MonotonicTime? {
        self.reports.values.map(\.deadline).min()
    }
}
