package import PerchBase
package import PerchModel
package import PerchWire

// What the App Store is asked, and what it asks. For `perch apple`.
extension PerchClient {
    /// Begins a run of the reconciler, or asks how far one is; `run` 0 begins.
    package func reconcile(
        run: UInt64 = 0, isRehearsal: Bool, isWhole: Bool, timeout: Duration? = nil
    ) async throws(PerchError) -> ReconcileProgress {
        try await self.call(
            Calls.reconcile,
            ReconcileRequest(app: self.app, isRehearsal: isRehearsal, isWhole: isWhole, run: run), timeout: timeout)
    }

    /// Questions about purchases whose customers want refunds, the earliest deadline first.
    package func consumption(timeout: Duration? = nil) async throws(PerchError) -> [ConsumptionItem] {
        var items: [ConsumptionItem] = []
        var token: [UInt8] = []
        repeat {
            let request = ListConsumptionRequest(
                app: self.app, pageSize: UInt32(Limits.pageSizeMax), pageToken: token)
            let page = try await self.call(Calls.listConsumption, request, timeout: timeout)
            items += page.cases
            token = page.nextPageToken
        } while !token.isEmpty
        return items.sorted { ($0.deadline, $0.transactionID) < ($1.deadline, $1.transactionID) }
    }

    /// Answers one.
    package func answerConsumption(
        _ transaction: TransactionID, _ answer: ConsumptionAnswer, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        try await self.call(
            Calls.answerConsumption,
            AnswerConsumptionRequest(app: self.app, transactionID: transaction, answer: answer), timeout: timeout
        ) { $0.position }
    }
}
