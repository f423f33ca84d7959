import PerchApple
import PerchBase
import PerchMetrics
import PerchModel
import PerchReconciler
import PerchSender

// Figures of asking the App Store back.
extension MetricSamples {
    mutating func add(_ counts: ReconcileFigures.Counts) {
        for call in AppleAPICall.names {
            self.add(
                "perch_app_store_requests_total", labels: Exposition.label("call", call),
                counts.reports.reduce(0) { $0 + ($1.requests[call] ?? 0) },
                help: "Requests to the App Store Server API, by call.")
        }
        let failures = counts.reports.reduce(into: [String: UInt64]()) { $0.merge($1.failures, uniquingKeysWith: +) }
        for (reason, count) in failures.sorted(by: { $0.key < $1.key }) {
            self.add(
                "perch_app_store_failures_total", labels: Exposition.label("reason", reason), count,
                help: "Requests without a good answer, by the kind of the fault or Apple's number.")
        }
        for way in ["notification", "subscription", "history"] {
            self.add(
                "perch_app_store_found_total", labels: Exposition.label("source", way),
                counts.reports.reduce(0) { $0 + ($1.found[way] ?? 0) },
                help: "What no notification had told, by how it was found.")
        }
        self.add(
            "perch_app_store_checks_total", counts.reports.reduce(0) { $0 + $1.checks },
            help: "Subscriptions past their end that the App Store was asked about.")
        self.add(
            "perch_app_store_histories_total", counts.reports.reduce(0) { $0 + $1.histories },
            help: "Histories of customers that were read to their ends.")
        for state in ["open", "answered", "refused"] {
            self.add(
                "perch_app_store_questions", labels: Exposition.label("state", state),
                counts.reports.reduce(0) { $0 + ($1.questions[ConsumptionState(named: state) ?? .unspecified] ?? 0) },
                help: "Questions about purchases whose customers want refunds, until their deadlines.")
        }
        let deadlines = counts.reports.compactMap(\.nextDeadline)
        self.add(
            "perch_app_store_question_deadline_seconds",
            seconds: Double(deadlines.min()?.milliseconds ?? 0) / 1_000,
            help: "When the first question without a good answer has its deadline, in Unix seconds; 0 for none.")
        for (state, count) in [
            ("waiting", counts.reports.reduce(0) { $0 + $1.updatesWaiting }),
            ("held", counts.reports.reduce(0) { $0 + $1.updatesHeld }),
            ("refused", counts.reports.reduce(0) { $0 + $1.updatesRefused }),
        ] {
            self.add(
                "perch_app_store_updates", labels: Exposition.label("state", state), count,
                help:
                    "Finished transactions and account tokens that the App Store is still to be told, those of them that a setting holds back, and those that it refuses."
            )
        }
        let oldest = counts.reports.compactMap(\.oldestUpdate)
        self.add(
            "perch_app_store_update_oldest_seconds", seconds: Double(oldest.min()?.milliseconds ?? 0) / 1_000,
            help: "When the oldest that waits and is not held back was asked for, in Unix seconds; 0 for none.")
        self.add(
            "perch_app_store_throttles_total", counts.sender.throttles, help: "Answers with 429.")
        self.add(
            "perch_app_store_retries_total", counts.sender.retries, help: "Attempts that were repeated.")
        self.add(
            "perch_app_store_waiting", counts.sender.waiting, help: "Requests that wait or are under way.")
        self.add(
            "perch_app_store_keys_refused", counts.reports.count { if case .refused = $0.key { true } else { false } },
            help: "Apps whose key the App Store refuses.")
        self.add(
            "perch_app_store_tests_failed", counts.reports.count { if case .failed = $0.test { true } else { false } },
            help: "Apps whose test notification did not arrive.")
        self.add(
            "perch_app_store_unfetched_seconds", seconds: Double(counts.unfetchedMilliseconds) / 1_000,
            help:
                "Time since notifications that failed were last fetched to their end by any node, of the app where it is longest ago, or since it is first asked about; 0 on nodes that do not ask."
        )
    }
}
