/// Everything that a bench measures as one number: the one table of names for reports, comparisons and --fail-if.
package enum Figure: String, Hashable, Sendable, CaseIterable {
    case pushP50 = "push_p50"
    case pushP90 = "push_p90"
    case pushP99 = "push_p99"
    case pushP999 = "push_p999"
    case pushMax = "push_max"
    case pushMean = "push_mean"
    case answerP50 = "answer_p50"
    case answerP99 = "answer_p99"
    case answerMax = "answer_max"
    case firstP50 = "first_p50"
    case firstP99 = "first_p99"
    case firstMax = "first_max"
    case deliveriesPerSecond = "deliveries_per_second"
    case changesPerSecond = "changes_per_second"
    case convergedPerSecond = "converged_per_second"
    case opensPerSecond = "opens_per_second"
    case bytesPerSecond = "bytes_per_second"
    case cpuPerMillion = "cpu_per_million"
    case cpuPerConverged = "cpu_per_converged"
    case serverCPU = "server_cpu"
    case rssPerWatch = "rss_per_watch"
    case rssPerConnection = "rss_per_connection"
    case socketBytesPerConnection = "socket_bytes_per_connection"
    case residentBytes = "rss"
    case residentGrowth = "rss_growth_per_hour"
    case valueBytes = "value_bytes"
    case answerBytes = "answer_bytes"
    case fsyncP50 = "fsync_p50"
    case fsyncP99 = "fsync_p99"
    case pushBeyondFsync = "push_beyond_fsync"
    case changesPerCommit = "changes_per_commit"
    case encodingsPerChange = "encodings_per_change"
    case compressionsPerChange = "compressions_per_change"
    case due, answered, refused, unsent
    case refusedShare = "refused_share"
    case deliveries, changes, conflated, lost, unopened, gaps, duplicates, reorderings, foreign, unchanged, refusals,
        closes
    case tlsHandshakes = "tls_handshakes"
    case tlsResumed = "tls_resumed"
    case plays, failures
    case generatorCPU = "generator_cpu"
    case lagP99 = "lag_p99"

    package enum Unit: Sendable { case nanoseconds, seconds, bytes, perSecond, bytesPerSecond, share, count, quotient }

    package var unit: Unit {
        switch self {
        case .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean, .answerP50, .answerP99, .answerMax,
            .firstP50, .firstP99, .firstMax, .lagP99, .cpuPerConverged, .fsyncP50, .fsyncP99, .pushBeyondFsync:
            .nanoseconds
        case .cpuPerMillion: .seconds
        case .deliveriesPerSecond, .changesPerSecond, .convergedPerSecond, .opensPerSecond: .perSecond
        case .bytesPerSecond: .bytesPerSecond
        case .rssPerWatch, .rssPerConnection, .socketBytesPerConnection, .valueBytes, .answerBytes, .residentBytes,
            .residentGrowth:
            .bytes
        case .changesPerCommit, .encodingsPerChange, .compressionsPerChange: .quotient
        case .serverCPU, .generatorCPU, .refusedShare: .share
        case .due, .answered, .refused, .unsent, .deliveries, .changes, .conflated, .lost, .unopened, .gaps,
            .duplicates, .reorderings, .foreign, .unchanged,
            .refusals,
            .closes, .tlsHandshakes, .tlsResumed, .plays, .failures:
            .count
        }
    }

    /// Which way is better; nil where neither is.
    package var isBetterHigher: Bool? {
        switch self {
        case .deliveriesPerSecond, .changesPerSecond, .convergedPerSecond, .opensPerSecond, .changesPerCommit: true
        // Fewer bytes may be better compressed ones.
        case .bytesPerSecond, .due, .answered, .deliveries, .changes, .conflated, .foreign, .unchanged, .valueBytes,
            .answerBytes, .serverCPU,
            .generatorCPU, .lagP99, .fsyncP50, .fsyncP99, .tlsHandshakes, .tlsResumed, .plays, .residentBytes:
            nil
        default: false
        }
    }

    /// What stands for several rounds. What must never happen must not be hidden by one median, nor the worst that did.
    package func over(_ rounds: [Double]) -> Double {
        switch self {
        case .pushMax, .answerMax, .firstMax: rounds.max() ?? 0
        default: self.unit == .count ? rounds.reduce(0, +) : median(rounds)
        }
    }

    /// Whether it says something in comparison with the floor.
    package var hasRatio: Bool {
        switch self {
        case .due, .answered, .refused, .refusedShare, .unsent, .deliveries, .changes, .conflated, .lost, .unopened,
            .gaps,
            .duplicates, .reorderings, .foreign, .unchanged, .refusals, .closes, .tlsHandshakes, .tlsResumed, .plays,
            .failures, .generatorCPU, .lagP99, .valueBytes, .answerBytes,
            .serverCPU,
            .socketBytesPerConnection,
            .fsyncP50, .fsyncP99, .pushBeyondFsync, .residentBytes, .residentGrowth, .encodingsPerChange,
            .compressionsPerChange:
            false
        default: true
        }
    }

    /// Whether a run of this workload may have it. What it never has is refused before the load.
    package func isMeasured(by workload: Workload) -> Bool {
        switch self {
        case .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean, .deliveriesPerSecond, .pushBeyondFsync:
            switch workload {
            case .hot, .keyed, .mux, .catalog, .mixed, .scenario: true
            case .storm, .resume, .idle, .buy: false
            }
        case .due, .answered, .refused, .refusedShare, .unsent:
            switch workload {
            case .hot, .keyed, .mux, .catalog, .buy, .mixed: true
            case .storm, .resume, .idle, .scenario: false
            }
        case .answerP50, .answerP99, .answerMax, .changesPerSecond, .lagP99:
            switch workload {
            case .hot, .keyed, .mux, .catalog, .buy, .mixed, .scenario: true
            case .storm, .resume, .idle: false
            }
        case .convergedPerSecond, .encodingsPerChange, .compressionsPerChange:
            switch workload {
            case .hot, .keyed, .mux, .catalog, .mixed: true
            case .storm, .resume, .idle, .buy, .scenario: false
            }
        case .firstP50, .firstP99, .firstMax:
            switch workload {
            case .storm, .resume, .mixed, .scenario: true
            case .hot, .keyed, .mux, .catalog, .idle, .buy: false
            }
        case .unopened: workload == .storm || workload == .resume || workload == .mixed
        case .opensPerSecond: workload == .storm || workload == .resume
        case .cpuPerMillion: workload != .idle && workload != .buy
        case .cpuPerConverged: workload != .idle && workload != .storm && workload != .scenario
        case .changesPerCommit:
            switch workload {
            case .hot, .keyed, .mux, .catalog, .buy, .mixed: true
            case .storm, .resume, .idle, .scenario: false
            }
        case .rssPerWatch, .socketBytesPerConnection: workload != .buy && workload != .scenario
        case .rssPerConnection: workload != .buy
        case .answerBytes, .lost, .gaps, .duplicates, .reorderings, .foreign, .unchanged, .closes:
            workload != .scenario
        case .plays, .failures: workload == .scenario
        case .bytesPerSecond, .serverCPU, .residentBytes, .residentGrowth, .valueBytes, .fsyncP50, .fsyncP99,
            .deliveries, .changes, .conflated, .refusals, .tlsHandshakes, .tlsResumed, .generatorCPU:
            true
        }
    }

    package var meaning: String {
        switch self {
        case .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean:
            "from when a change was meant to be made to when a watcher was shown it, or a newer one"
        case .answerP50, .answerP99, .answerMax: "from when a change was meant to be made to its answer"
        case .firstP50, .firstP99, .firstMax: "from when a connection was meant to be made to its first value"
        case .deliveriesPerSecond: "values that showed a watcher something new"
        case .changesPerSecond: "changes that were answered"
        case .convergedPerSecond:
            "changes that every watcher has seen, or a newer one; where watchers read slowly, fewer"
        case .opensPerSecond: "connections made, opened and given their first value"
        case .bytesPerSecond: "bytes received"
        case .cpuPerMillion: "processor time of the server for a million deliveries"
        case .cpuPerConverged: "processor time of the server for a converged change"
        case .serverCPU: "share of a core that the server used"
        case .rssPerWatch: "resident memory of the server for a watch, its connection included"
        case .rssPerConnection: "resident memory of the server for a connection with its watches"
        case .socketBytesPerConnection: "kernel memory of both ends of a connection"
        case .residentBytes: "resident memory of the server when the load ended"
        case .residentGrowth: "how it grew, by a straight line through the second half of the time"
        case .valueBytes: "bytes of a value's message"
        case .answerBytes: "bytes of an answer's message"
        case .fsyncP50, .fsyncP99: "fdatasync of 16 KiB in the directory of the store, before the round"
        case .pushBeyondFsync: "push_p99 less fsync_p50: what is not the disk's"
        case .changesPerCommit: "changes in a group commit, as the server counts"
        case .encodingsPerChange: "values that the server encoded for a change"
        case .compressionsPerChange: "values that the server compressed for a change"
        case .due: "changes that were meant to be made in the window: answered, refused, lost or unsent"
        case .answered: "of those that were due, the ones that were answered, whenever"
        case .refused: "of those that were due, the ones that were refused"
        case .refusedShare: "the share of those"
        case .unsent: "of those that were due, the ones that were not even sent in time"
        case .unopened: "connections that had no first value when the round ended"
        case .deliveries: "values that showed a watcher something new"
        case .changes: "changes that were answered in the window, whenever they were due"
        case .conflated: "changes that a watcher was not shown because a newer one was"
        case .lost: "changes that had no answer when the round ended"
        case .gaps: "watchers that were not shown the last change"
        case .duplicates: "values that came twice"
        case .reorderings: "values that came after a newer one"
        case .foreign: "values of changes that somebody else made"
        case .unchanged: "streams that came back and were told that nothing had changed"
        case .refusals: "calls that ended with an error"
        case .closes: "connections that were closed by the server"
        case .tlsHandshakes: "handshakes of TLS that came to their end, over the whole round"
        case .tlsResumed: "of those, the ones that went on from a session before: a fraction of the work"
        case .plays: "accounts that went the way of the scenario's first to its end"
        case .failures: "accounts that did not: refused, not told, or told something else"
        case .generatorCPU: "share of its core that the generator used"
        case .lagP99: "how late changes were sent"
        }
    }

    /// What a run lacked that has not measured it, as the end of a sentence; empty where that is not known.
    var isMissingBecause: String {
        switch self {
        case .cpuPerMillion, .cpuPerConverged, .serverCPU, .rssPerWatch, .rssPerConnection, .residentBytes:
            ": it could not look at the server's process; with --connect, give --pid"
        case .fsyncP50, .fsyncP99, .pushBeyondFsync, .changesPerCommit:
            ": its server had no store on a disk; give --store"
        case .residentGrowth: ": half a minute says nothing; make it longer, with --duration"
        default: ""
        }
    }

    package static let latencies: [Figure] = [
        .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean, .answerP50, .answerP99, .answerMax, .firstP50,
        .firstP99, .firstMax,
    ]
}

extension Figure.Unit {
    /// For people.
    package func text(_ value: Double) -> String {
        switch self {
        case .nanoseconds: duration(nanoseconds: value)
        case .seconds: "\(decimals(value, 3)) s"
        case .bytes: value.magnitude < 1e7 ? "\(grouped(value)) B" : "\(digits(value / 1e6)) MB"
        case .perSecond: "\(grouped(value))/s"
        case .bytesPerSecond: "\(decimals(value / 1e6, 1)) MB/s"
        case .share: "\(decimals(value * 100, 1)) %"
        case .count: grouped(value)
        case .quotient: digits(value)
        }
    }
}

/// `1.23 ms`: three digits.
package func duration(nanoseconds: Double) -> String {
    switch nanoseconds.magnitude {
    case ..<1e3: "\(decimals(nanoseconds, 0)) ns"
    case ..<1e6: "\(digits(nanoseconds / 1e3)) µs"
    case ..<1e9: "\(digits(nanoseconds / 1e6)) ms"
    default: "\(digits(nanoseconds / 1e9)) s"
    }
}

/// Three significant digits.
func digits(_ value: Double) -> String {
    switch value.magnitude {
    case ..<10: decimals(value, 2)
    case ..<100: decimals(value, 1)
    default: decimals(value, 0)
    }
}

/// With so many digits behind the point, rounded.
package func decimals(_ value: Double, _ count: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "-" }
    var scale: Double = 1
    for _ in 0..<count { scale *= 10 }
    let scaled = Int64((value * scale).rounded())
    guard count > 0 else { return String(scaled) }
    let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
    let fraction = String(rest)
    return (scaled < 0 ? "-" : "") + "\(whole)." + String(repeating: "0", count: count - fraction.count) + fraction
}

/// `12,345`.
package func grouped(_ value: Double) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "-" }
    if value.magnitude < 10, value != value.rounded() { return decimals(value, 2) }
    var result = ""
    for (index, digit) in String(Int64(value.rounded()).magnitude).reversed().enumerated() {
        if index > 0, index % 3 == 0 { result.append(",") }
        result.append(digit)
    }
    return (value < 0 ? "-" : "") + String(result.reversed())
}
