import PerchModel
import PerchWire

struct GetAppTransaction: RecordMethod {
    let asked: AppTransactionRequest

    func answer(_ read: AccountRead) throws(Refusal) -> AppTransactionAnswer {
        let (record, app) = (read.record, read.app)
        let found = try appTransaction(of: record, app: app)
        return AppTransactionAnswer(
            appTransactionID: found.value.id, bundleID: found.value.bundleID,
            environment: found.value.environment, failure: found.failure, position: read.position,
            canMakePayments: canMakePayments(record, app: app),
            jws: read.isSigned ? read.signing.signed(found) : "",
            originalAppVersion: found.value.originalAppVersion,
            originalPurchaseDate: found.value.originalPurchaseDate,
            originalPlatform: found.value.originalPlatform,
            arePaymentsForbidden: app.isTestApp && record?.arePaymentsForbidden == true,
            paymentsEligibility: paymentsEligibility(record, app: app))
    }
}
