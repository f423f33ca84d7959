package import PerchModel

/// The first reads of a tick: what `Storage.prefetch` fetches in one request.
///
/// A decision may need more once it has seen these: rows, other members of a family, earlier states of the app. Those are
/// point reads, and further rounds.
package struct ReadPlan: Equatable, Sendable {
    /// Keys of accounts, each with its record.
    package var keys: [AccountKey] = []
    /// Accounts by number, each with its record.
    package var accounts: [AccountNumber]
    /// Transactions, each with its owner's record.
    package var transactions: [TransactionName] = []
    /// Idempotency keys, each with the answer that is kept for it.
    package var answers: [MutationKey] = []

    package struct TransactionName: Hashable, Sendable {
        package var app: AppNumber
        package var id: TransactionID

        package init(app: AppNumber, id: TransactionID) {
            self.app = app
            self.id = id
        }
    }

    package init(requests: [StoreRequest], accounts: [AccountNumber]) {
        self.accounts = accounts
        for request in requests { self.add(request.body) }
    }

    private mutating func add(_ body: StoreRequest.Body) {
        switch body {
        case .record(let key), .recordAsKnown(let key, _), .history(let key, _, _, _), .transactions(let key, _),
            .events(let key, _, _):
            self.keys.append(key)
        case .recordOf(let account):
            self.accounts.append(account)
        case .mutate(let mutation):
            self.add(mutation)
        case .order(let order):
            self.keys.append(order.accountKey)
            if let key = order.mutationKey { self.answers.append(key) }
        case .keys, .accounts, .image, .changes, .copySlice, .revoke, .note, .code, .look, .barrierReached, .item,
            .items, .find, .customers, .notes, .export, .ended, .awaited, .unread:
            break
        }
    }

    private mutating func add(_ mutation: Mutation) {
        switch mutation.subject {
        case .account(let key, _):
            self.keys.append(key)
        case .owner(let app, let id):
            self.transactions.append(TransactionName(app: app, id: id))
        case .transaction(let key, let id):
            self.keys.append(key)
            self.transactions.append(TransactionName(app: key.app, id: id))
        case .app:
            break
        }
        if let other = mutation.other { self.keys.append(other) }
        if !mutation.key.isEmpty { self.answers.append(MutationKey(app: mutation.app, bytes: mutation.key)) }
    }
}
