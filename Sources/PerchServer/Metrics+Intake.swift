import PerchBase
import PerchCore
import PerchMetrics
import PerchWire

// Figures of the intake of values of the App Store.
extension MetricSamples {
    /// What came to the port of notifications and was not taken.
    mutating func add(requestsOfAppStore counters: LoopCounters) {
        // A series that is there before the first refusal, so that an alert sees the first one.
        let none = [LoopCounters.NotificationRefusal(status: 413, reason: ErrorReason.appleTooLong.rawValue): UInt64(0)]
        for (refusal, count) in none.merging(counters.notificationsRefused, uniquingKeysWith: { $1 }).sorted(by: {
            ($0.key.status, $0.key.reason) < ($1.key.status, $1.key.reason)
        }) {
            self.add(
                "perch_apple_notifications_refused_total",
                labels: Exposition.label("status", "\(refusal.status)") + ","
                    + Exposition.label("reason", refusal.reason), count,
                help: "Notifications of the App Store that were not taken, by HTTP status and reason of the answer.")
        }
        for (status, count) in [404: 0].merging(counters.strayRequests, uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) {
            self.add(
                "perch_apple_stray_requests_total", labels: Exposition.label("status", "\(status)"), count,
                help: "Requests on the port of notifications that were none, by HTTP status of the answer.")
        }
    }

    mutating func add(signed: UInt64) {
        self.add(
            "perch_signatures_total", signed,
            help: "Values of test apps that were signed; one that is cached is not signed again.")
    }

    mutating func add(_ counts: IntakeFigures.Counts, waiting: Int) {
        for (name, count) in counts.taken.sorted(by: { $0.key < $1.key }) {
            let parts = name.split(separator: " ").map { String($0) }
            self.add(
                "perch_apple_values_total",
                labels: Exposition.label("source", parts[0]) + "," + Exposition.label("type", parts[1]), count,
                help: "Values of the App Store that were verified, by source and type.")
        }
        for (reason, count) in counts.refused.sorted(by: { $0.key < $1.key }) {
            self.add(
                "perch_apple_refused_total", labels: Exposition.label("reason", reason), count,
                help: "Values of the App Store that were refused, by reason.")
        }
        self.add(
            "perch_apple_dead_letters_total", counts.deadLetters,
            help: "Notifications that were kept as dead letters, retries too.")
        self.add(
            "perch_apple_unknown_fields_total", counts.unknownFields,
            help: "Fields of verified values that this version does not know.")
        self.add(
            "perch_apple_chains_checked_total", counts.chainsChecked,
            help: "Certificate chains that were checked; known ones are not checked again.")
        self.add("perch_apple_waiting", waiting + counts.strangersWaiting, help: "Values that wait to be verified.")
        guard let last = counts.lastNotification else { return }
        self.add(
            "perch_apple_last_notification_timestamp_seconds", seconds: Double(last.milliseconds) / 1_000,
            help: "When the last notification came.")
        self.add(
            "perch_apple_lag_seconds", seconds: Double(counts.lagMilliseconds) / 1_000,
            help: "Of the last notification: the time between its signature and its arrival.")
    }
}
