import PerchBase
import PerchModel
import PerchWire

struct SubmitTransaction: SubmissionMethod {
    let asked: SubmitTransactionRequest

    var auditNote: AuditNote { .notAudited }

    /// A submission without an account claims nothing.
    var needsAccount: Bool { !self.asked.account.isEmpty }

    func check() throws(CallRefusal) {
        let count = self.asked.signedValues.count
        guard (1...Limits.appleSubmissionValuesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid,
                "signed_values has \(count) values; it must have 1 to \(Limits.appleSubmissionValuesMax)",
                details: [.field("signed_values"), .found(count), .limit(Limits.appleSubmissionValuesMax)])
        }
    }

    func work(_ context: MethodContext) throws(CallRefusal) -> IngestWork {
        let app = context.app
        guard !app.isTestApp else {
            throw CallRefusal(
                .notToldApp,
                "\(app.bundleID) is a test app, whose store is Perch; submit values for its sandbox or production app"
            )
        }
        return .values(
            self.asked.signedValues, bundleID: app.bundleID, environment: app.environment,
            claimant: Array(self.asked.account.utf8))
    }
}
