import PerchCore
import PerchMetrics

// The figures of copies of apps' entitlements.
extension MetricSamples {
    mutating func addCopies(_ counters: LoopCounters, _ copies: [String: CopyCensus], loop: Int) {
        for (caller, copies) in copies.sorted(by: { $0.key < $1.key }) {
            let labels = Exposition.label("caller", caller)
            self.add("perch_copies", labels: labels, copies.count, help: "Open copies of an app's entitlements.")
            self.add(
                "perch_copies_filling", labels: labels, copies.fillingCount,
                help: "Of those, the ones that are not complete yet.")
            self.add(
                "perch_copy_age_seconds", labels: labels + "," + Exposition.label("loop", "\(loop)"),
                seconds: Double(copies.behindMilliseconds) / 1_000,
                help: "For how long a copy has not been up to date, the longest of each caller and loop.")
        }
        self.add(
            "perch_copy_parts_pushed_total", counters.copyPartsSent,
            help: "Messages given to copies of an app's entitlements.")
        self.add(
            "perch_copy_pushed_bytes_total", counters.copyBytesSent,
            help: "Bytes of these messages, before compression.")
        self.add(
            "perch_copies_completed_total", counters.copiesCompleted,
            help: "Copies of an app's entitlements that were read from the beginning to their end.")
    }
}
