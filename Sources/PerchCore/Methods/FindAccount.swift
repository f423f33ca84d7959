import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct FindAccount: MethodHandler {
    let asked: FindAccountRequest

    func check() throws(CallRefusal) {
        try Check.oneName([
            self.asked.transactionID == 0 ? "" : "transaction", self.asked.appAccountToken, self.asked.appTransactionID,
        ])
    }

    func begin(_ context: MethodContext) -> Step {
        let sought: AccountSought =
            self.asked.transactionID > 0
            ? .transaction(self.asked.transactionID)
            : .alias(AccountAlias(token: self.asked.appAccountToken, id: self.asked.appTransactionID))
        return .ask(.find(context.app.number, sought))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .found(let account) = found else { preconditionFailure("an account was sought") }
        guard let account else {
            throw CallRefusal(.accountUnknown, "no account has it; no report named it, or another app's did")
        }
        return Self.step(
            AccountFound(
                account: String(decoding: account.key, as: UTF8.self), isUnclaimed: account.isUnclaimed,
                originalTransactionIDs: Self.originals(of: account.record).map { String($0) }))
    }

    /// Those that were reported. Of a test app nothing was.
    private static func originals(of record: AccountRecord) -> [TransactionID] {
        if let reported = record.reported { return reported.originals.map(\.id) }
        return Set(record.lines.map(\.originalID) + record.owned.map(\.originalID)).sorted()
    }
}
