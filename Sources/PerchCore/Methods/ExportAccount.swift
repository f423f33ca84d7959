import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct ExportAccount: MethodHandler {
    let asked: ExportAccountRequest

    func begin(_ context: MethodContext) -> Step {
        .ask(.export(context.key(ofAccount: self.asked.account), Self.transactions))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .exported(let account) = found else { preconditionFailure("an account was to be exported") }
        guard let account else {
            throw CallRefusal(.accountUnknown, "there is no such account; it may have been erased")
        }
        var export = AccountExport(keys: account.keys.map { String(decoding: $0, as: UTF8.self) })
        for alias in account.aliases {
            switch alias {
            case .appAccountToken(let token): export.appAccountTokens.append(token)
            case .appTransactionID(let id): export.appTransactionIDs.append(id)
            }
        }
        export.inspection = AccountInspection(of: account.record, context.app, at: context.position)
        export.transactions = account.rows.map { verified($0.transaction, app: context.app) }
        if account.hasMore {
            export.nextPageToken = context.pageToken(
                after: account.rows, of: Self.transactions, account: self.asked.account)
        }
        export.grants = account.record.grants
        export.notes = account.notes
        export.emailSha256s = account.emailHashes
        return Self.step(export)
    }

    /// As ListTransactions asks for all of them, so that it takes the page token.
    private static let transactions = {
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.includesFinishedConsumables = true
        return query
    }()
}
