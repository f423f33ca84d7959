import PerchModel
import PerchWire

struct Reconcile: ServerMethod {
    typealias Answer = ReconcileProgress
    let asked: ReconcileRequest

    /// The changes are the App Store's. That somebody asked for them stands in the log.
    var auditNote: AuditNote { .notAudited }

    func control(_ context: MethodContext) throws(CallRefusal) -> ControlRequest {
        try context.requireReportedApp()
        return .reconcile(
            app: context.app.number, run: self.asked.run, isRehearsal: self.asked.isRehearsal,
            isWhole: self.asked.isWhole)
    }
}
