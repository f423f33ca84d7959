import PerchModel
import PerchWire

struct Reconcile: ServerMethod {
    typealias Answer = ReconcileProgress
    let asked: ReconcileRequest

    /// Only what begins a run is audited, once it has begun: how far one is changes nothing.
    var auditNote: AuditNote {
        guard self.asked.run == 0 else { return .notAudited }
        return .audited(
            (self.asked.isRehearsal ? "rehearses " : "") + (self.asked.isWhole ? "everything" : "what is due"))
    }

    func control(_ context: MethodContext) throws(CallRefusal) -> ControlRequest {
        try context.requireReportedApp()
        return .reconcile(
            app: context.app.number, run: self.asked.run, isRehearsal: self.asked.isRehearsal,
            isWhole: self.asked.isWhole, audit: context.entry(self.auditNote, .reconcile))
    }
}
