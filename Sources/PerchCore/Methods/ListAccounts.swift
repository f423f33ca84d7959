import PerchModel
import PerchStore
import PerchWire

struct ListAccounts: MethodHandler {
    let asked: ListAccountsRequest

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        let (size, token) = (self.asked.pageSize, self.asked.pageToken)
        return .ask(try context.accounts(size, after: token, withRecords: self.asked.withSummaries))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        switch found {
        case .keys(let keys, let hasMore):
            Self.step(
                AccountPage(
                    accounts: keys.map { String(decoding: $0, as: UTF8.self) },
                    nextPageToken: context.pageToken(after: hasMore ? keys.last : nil)))
        case .accounts(let accounts, let next):
            Self.step(
                AccountPage(
                    accounts: accounts.map { String(decoding: $0.key, as: UTF8.self) },
                    nextPageToken: context.pageToken(after: next),
                    summaries: accounts.map { AccountSummary(of: $0.record, context.app, at: context.now) }))
        default: preconditionFailure("accounts were asked for")
        }
    }
}
