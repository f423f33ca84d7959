import PerchIdentity
import PerchModel
import PerchWire

struct SubmitNotification: SubmissionMethod {
    let asked: SubmitNotificationRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) { try Check.present(self.asked.signedPayload, "signed_payload") }

    func work(_ context: MethodContext) -> IngestWork {
        .notification(self.asked.signedPayload, reach: context.caller.isIntake ? .all : context.caller.identity.apps)
    }

    /// What the store has no room for is right, so it is kept.
    func refused(_ refusal: Refusal) -> Step? {
        guard refusal.reason == .recordLimit else { return nil }
        return .server(.ingest(.keep(self.asked.signedPayload, WireStatus(refusal))))
    }
}
