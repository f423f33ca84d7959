/// Every number that a bench measures, with its name in reports, comparisons and --fail-if.
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
    case generatorWakeups = "generator_wakeups_per_second"
    case lagP99 = "lag_p99"

    package enum Unit: Sendable { case nanoseconds, seconds, bytes, perSecond, bytesPerSecond, share, count, quotient }

    package var unit: Unit {
        switch self {
        case .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean, .answerP50, .answerP99, .answerMax,
            .firstP50, .firstP99, .firstMax, .lagP99, .cpuPerConverged, .fsyncP50, .fsyncP99, .pushBeyondFsync:
            .nanoseconds
        case .cpuPerMillion: .seconds
        case .deliveriesPerSecond, .changesPerSecond, .convergedPerSecond, .opensPerSecond, .generatorWakeups:
            .perSecond
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

    /// Whether a higher value is better; nil if neither direction is.
    package var isBetterHigher: Bool? {
        switch self {
        case .deliveriesPerSecond, .changesPerSecond, .convergedPerSecond, .opensPerSecond, .changesPerCommit: true
        // Fewer bytes may only mean better compression.
        case .bytesPerSecond, .due, .answered, .deliveries, .changes, .conflated, .foreign, .unchanged, .valueBytes,
            .answerBytes, .serverCPU,
            .generatorCPU, .generatorWakeups, .lagP99, .fsyncP50, .fsyncP99, .tlsHandshakes, .tlsResumed, .plays,
            .residentBytes:
            nil
        default: false
        }
    }

    /// Combines several rounds. Maxima, and counts of errors, must not be hidden by a median.
    package func over(_ rounds: [Double]) -> Double {
        switch self {
        case .pushMax, .answerMax, .firstMax: rounds.max() ?? 0
        default: self.unit == .count ? rounds.reduce(0, +) : median(rounds)
        }
    }

    /// Whether a comparison with the baseline server is meaningful.
    package var hasRatio: Bool {
        switch self {
        case .due, .answered, .refused, .refusedShare, .unsent, .deliveries, .changes, .conflated, .lost, .unopened,
            .gaps,
            .duplicates, .reorderings, .foreign, .unchanged, .refusals, .closes, .tlsHandshakes, .tlsResumed, .plays,
            .failures, .generatorCPU, .generatorWakeups, .lagP99, .valueBytes, .answerBytes,
            .serverCPU,
            .socketBytesPerConnection,
            .fsyncP50, .fsyncP99, .pushBeyondFsync, .residentBytes, .residentGrowth, .encodingsPerChange,
            .compressionsPerChange:
            false
        default: true
        }
    }

    /// Whether this workload can measure the figure. Conditions on others are refused before the load starts.
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
            .deliveries, .changes, .conflated, .refusals, .tlsHandshakes, .tlsResumed, .generatorCPU,
            .generatorWakeups:
            true
        }
    }

    package var meaning: String {
        switch self {
        case .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean:
            "time from a change's planned start until a watcher received it, or a newer one"
        case .answerP50, .answerP99, .answerMax: "time from a change's planned start to its answer"
        case .firstP50, .firstP99, .firstMax: "time from a connection's planned start to its first value"
        case .deliveriesPerSecond: "new values received by watchers, each second"
        case .changesPerSecond: "changes answered, each second"
        case .convergedPerSecond:
            "changes that every watcher has seen, or a newer one; lower with slow readers"
        case .opensPerSecond: "connections that got their first value, each second"
        case .bytesPerSecond: "bytes received, each second"
        case .cpuPerMillion: "CPU time of the server for a million deliveries"
        case .cpuPerConverged: "CPU time of the server for a change delivered to every watcher"
        case .serverCPU: "CPU use of the server; 100 % is one core"
        case .rssPerWatch: "resident memory of the server for each watch and its share of a connection"
        case .rssPerConnection: "resident memory of the server for each connection and its watches"
        case .socketBytesPerConnection: "kernel memory for both ends of a connection"
        case .residentBytes: "resident memory of the server at the end of the load"
        case .residentGrowth: "growth of resident memory: slope of a line through the second half of the run"
        case .valueBytes: "length of a value's message"
        case .answerBytes: "length of an answer's message"
        case .fsyncP50, .fsyncP99: "duration of an fdatasync of 16 KiB in the store's directory, before the round"
        case .pushBeyondFsync: "push_p99 minus fsync_p50: the part that the disk does not explain"
        case .changesPerCommit: "changes in a group commit, counted by the server"
        case .encodingsPerChange: "values that the server encoded for each change"
        case .compressionsPerChange: "values that the server compressed for each change"
        case .due: "changes planned in the window: answered, refused, lost or unsent"
        case .answered: "due changes that were answered, even after the window"
        case .refused: "due changes that the server refused"
        case .refusedShare: "share of due changes that the server refused"
        case .unsent: "due changes that the generator did not send in time"
        case .unopened: "connections without a first value at the end of the round"
        case .deliveries: "new values received by watchers"
        case .changes: "changes answered in the window, including those planned before"
        case .conflated: "changes that a watcher skipped because a newer one replaced them"
        case .lost: "changes without an answer at the end of the round"
        case .gaps: "watchers that never received the last change"
        case .duplicates: "values received twice"
        case .reorderings: "values received after a newer one"
        case .foreign: "values of changes by other clients"
        case .unchanged: "resumed streams that were unchanged"
        case .refusals: "calls that ended with an error"
        case .closes: "connections closed by the server"
        case .tlsHandshakes: "completed TLS handshakes, over the whole round"
        case .tlsResumed: "TLS handshakes that resumed a session, which cost a fraction of a full one"
        case .plays: "accounts whose scenario ended like the first account's"
        case .failures: "accounts whose scenario differed: refused, missing or different values"
        case .generatorCPU: "CPU use of the generator; 100 % is its core"
        case .generatorWakeups:
            "times that the generator went to sleep and was woken, each second: each may add the time of a wake-up to a latency"
        case .lagP99: "send lateness: how late the generator sent changes"
        }
    }

    /// The reason why a run did not measure the figure, as the end of a sentence; empty if unknown.
    var isMissingBecause: String {
        switch self {
        case .cpuPerMillion, .cpuPerConverged, .serverCPU, .rssPerWatch, .rssPerConnection, .residentBytes:
            ": the server's process could not be read; with --connect, add --pid"
        case .fsyncP50, .fsyncP99, .pushBeyondFsync, .changesPerCommit:
            ": the server had no store on a disk; add --store"
        case .residentGrowth: ": runs of less than half a minute are not significant; increase --duration"
        default: ""
        }
    }

    package static let latencies: [Figure] = [
        .pushP50, .pushP90, .pushP99, .pushP999, .pushMax, .pushMean, .answerP50, .answerP99, .answerMax, .firstP50,
        .firstP99, .firstMax,
    ]
}

extension Figure.Unit {
    /// Formats a value for people.
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

/// Three significant digits: `1.23 ms`.
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

/// Rounds to the given number of decimals.
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
