package import PerchWire

/// The server's own counters that a bench evaluates.
package struct ServerCounters: Equatable, Sendable {
    package var changes = 0.0
    package var commits = 0.0
    package var encodings = 0.0
    package var compressions = 0.0

    package init() {}

    package init(_ metrics: [Metric]) {
        for metric in metrics {
            switch metric.name {
            case "perch_store_changes_total": self.changes += metric.value
            case "perch_store_batches_total": self.commits += metric.value
            case "perch_views_encoded_total": self.encodings += metric.value
            case "perch_values_compressed_total": self.compressions += metric.value
            default: break
            }
        }
    }

    /// The differences between two readings. Empty if the server did not count, or nothing changed.
    package static func figures(from before: ServerCounters, to after: ServerCounters) -> [Figure: Double] {
        let changes = after.changes - before.changes
        guard changes > 0 else { return [:] }
        var figures: [Figure: Double] = [:]
        if after.commits > before.commits {
            figures[.changesPerCommit] = changes / (after.commits - before.commits)
        }
        // The baseline server encodes nothing, because its values are prebuilt.
        if after.encodings > before.encodings {
            figures[.encodingsPerChange] = (after.encodings - before.encodings) / changes
            figures[.compressionsPerChange] = (after.compressions - before.compressions) / changes
        }
        return figures
    }
}
