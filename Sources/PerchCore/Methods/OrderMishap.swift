import PerchBase
import PerchModel
import PerchWire

/// A mishap of the twin of the App Store, which waits on the control thread.
struct OrderMishap: ServerMethod {
    typealias Answer = OrderMishapResponse

    let asked: OrderMishapRequest

    var auditNote: AuditNote { .audited("\(self.asked.kind) \(max(self.asked.times, 1))") }

    func check() throws(CallRefusal) {
        guard self.asked.kind.isKnown else {
            throw CallRefusal(
                .fieldMissing,
                "kind is not set, or is newer than this server; known: "
                    + MishapKind.names.dropFirst().joined(separator: ", "), details: [.field("kind")])
        }
        let most = self.asked.kind == .reorder ? Limits.mishapReorderMax : Limits.mishapTimesMax
        guard self.asked.times <= most else {
            throw CallRefusal(
                .fieldInvalid, "times is \(self.asked.times), the limit for \(self.asked.kind) is \(most)",
                details: [.field("times")])
        }
        if self.asked.kind == .delay {
            guard (1...Limits.mishapDelayMillisecondsMax).contains(self.asked.delayMilliseconds) else {
                throw CallRefusal(
                    .fieldInvalid,
                    "delay_ms is \(self.asked.delayMilliseconds); a delay is 1 to \(Limits.mishapDelayMillisecondsMax)",
                    details: [.field("delay_ms")])
            }
        } else if self.asked.delayMilliseconds != 0 {
            throw CallRefusal(
                .fieldInvalid, "delay_ms is set, and \(self.asked.kind) delays nothing", details: [.field("delay_ms")])
        }
        guard self.asked.path.isEmpty || self.asked.path.hasPrefix("/") && self.asked.kind.isOfRequests else {
            throw CallRefusal(
                .fieldInvalid,
                self.asked.kind.isOfRequests
                    ? "path begins with no /; a request has a path such as /inApps/v2/history"
                    : "path is set, and \(self.asked.kind) concerns notifications, which have none",
                details: [.field("path")])
        }
        try Check.atMost(Limits.mishapPathBytesMax, self.asked.path, "path")
    }

    func control(_ context: MethodContext) throws(CallRefusal) -> ControlRequest {
        try context.requireTestApp()
        return .mishap(
            self.asked, bundleID: context.app.bundleID, audit: context.entry(self.auditNote, .orderMishap))
    }
}
