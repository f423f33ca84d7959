import PerchBase
import PerchModel
import PerchWire

/// A mishap of the twin of the App Store, which waits on the control thread.
struct OrderMishap: ServerMethod {
    typealias Answer = OrderMishapResponse

    let asked: OrderMishapRequest

    var auditNote: AuditNote { .audited("\(self.asked.kind) \(max(self.asked.times, 1))") }

    func check() throws(CallRefusal) {
        let (kind, times, delay, path) = (
            self.asked.kind, self.asked.times, self.asked.delayMilliseconds, self.asked.path
        )
        guard kind.isKnown else {
            let known = MishapKind.names.dropFirst().joined(separator: ", ")
            throw CallRefusal(
                .fieldMissing, "kind is not set, or is newer than this server; known: \(known)",
                details: [.field("kind")])
        }
        let most = kind == .reorder ? Limits.mishapReorderMax : Limits.mishapTimesMax
        guard times <= most else {
            throw Self.invalid("times", "is \(times), the limit for \(kind) is \(most)")
        }
        let delays: ClosedRange<Int64> = kind == .delay ? 1...Limits.mishapDelayMillisecondsMax : 0...0
        guard delays.contains(delay) else {
            throw Self.invalid(
                "delay_ms", "is \(delay); for \(kind) it is \(delays.lowerBound) to \(delays.upperBound)")
        }
        guard path.isEmpty || path.hasPrefix("/") && kind.isOfRequests else {
            throw Self.invalid("path", "is set; only requests have one, and it begins with / as in /inApps/v2/history")
        }
        try Check.atMost(Limits.mishapPathBytesMax, path, "path")
    }

    private static func invalid(_ field: String, _ text: String) -> CallRefusal {
        CallRefusal(.fieldInvalid, "\(field) \(text)", details: [.field(field)])
    }

    func control(_ context: MethodContext) throws(CallRefusal) -> ControlRequest {
        try context.requireTestApp()
        return .mishap(
            self.asked, bundleID: context.app.bundleID, audit: context.entry(self.auditNote, .orderMishap))
    }
}
