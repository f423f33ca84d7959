import PerchMetrics

/// The log's warnings about limits: each limit that was reached since the last check, with its count. So a flood costs
/// one line per limit in ten seconds, and no loop ever writes a line.
struct Attention {
    struct Notice: Equatable {
        /// `perch_refusals_total{reason="CALLS_LIMIT"}`.
        var series: String
        /// What it counts, for people.
        var limits: String
        var count: UInt64
    }

    private var before: [String: Double] = [:]

    /// The counters that grew since the last call, in the order of the table.
    mutating func notices(_ samples: MetricSamples) -> [Notice] {
        var notices: [Notice] = []
        for (metric, labels) in LimitCounter.series where !Self.isOrdinary(metric) {
            let series = labels.isEmpty ? metric : "\(metric){\(labels)}"
            let value = samples.value(metric, labels: labels) ?? 0
            let grown = value - (self.before[series] ?? 0)
            self.before[series] = value
            guard grown > 0 else { continue }
            let limits = LimitCounter.all.filter { $0.metric == metric && $0.labels == labels }.map(\.shown)
            notices.append(Notice(series: series, limits: limits.joined(separator: ", "), count: UInt64(grown)))
        }
        return notices
    }

    /// Limits that normal operation reaches: counted, but not logged.
    static func isOrdinary(_ metric: String) -> Bool {
        [
            "perch_identities_ended_total", "perch_store_checkpoints_total", "perch_record_cache_evictions_total",
            "perch_http_connections_expired_total", "perch_inputs_deferred_total",
        ].contains(metric)
    }
}
