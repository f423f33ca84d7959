import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The page of transactions that a request asks for.
struct TransactionsAsked {
    /// 0: the usual size.
    let size: UInt32
    let token: [UInt8]
}

/// A list of an account's transactions.
protocol TransactionsMethod: MethodHandler {
    var page: TransactionsAsked { get }
    /// Which transactions. The limit and the place are the page's.
    var query: TransactionQuery { get }
    func answer(_ page: TransactionPage, _ context: MethodContext) -> Answer
}

extension TransactionsMethod {
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        var query = self.query
        query.limit = self.page.size.pageLimit
        if self.includesJWS { query.limit = min(query.limit, Limits.signedPageSizeMax) }
        if !self.page.token.isEmpty {
            query.after = try context.place(self.page.token, in: query, account: self.account ?? "")
        }
        return .ask(.transactions(context.key(ofAccount: self.account ?? ""), query))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .transactions(let rows, let hasMore) = found else {
            preconditionFailure("transactions were asked for")
        }
        var shown = rows.map { verified($0.transaction, app: context.app) }
        if self.includesJWS { context.signing.sign(&shown) }
        var page = TransactionPage(transactions: shown, position: context.position)
        if hasMore { page.nextPageToken = context.pageToken(after: rows, of: self.query, account: self.account ?? "") }
        return Self.step(self.answer(page, context))
    }
}

extension UInt32 {
    /// The number of elements that a request's `page_size` asks for.
    var pageLimit: Int { self == 0 ? Limits.pageSizeDefault : Int(self) }
}

extension MethodContext {
    /// Where a list of transactions goes on.
    func pageToken(after rows: [TransactionRow], of query: TransactionQuery, account: String) -> [UInt8] {
        guard let last = rows.last?.transaction else { return [] }
        return PageToken(
            origin: self.origin, query: self.digest(of: query, account), purchaseDate: last.purchaseDate, id: last.id
        ).bytes
    }

    fileprivate func place(
        _ token: [UInt8], in query: TransactionQuery, account: String
    ) throws(CallRefusal) -> TransactionQuery.Place {
        let page = try CallRefusal.reading { () throws(TokenError) in try PageToken(token) }
        try self.requireOwn(page.origin, PageToken.name)
        guard page.query == self.digest(of: query, account) else {
            throw CallRefusal(
                .cursorMalformed, "the page token belongs to another list; send it with the request it came from")
        }
        return TransactionQuery.Place(purchaseDate: page.purchaseDate, id: page.id)
    }

    private func digest(of query: TransactionQuery, _ account: String) -> Digest {
        ViewKey.products(
            ids: [
                account, query.productID ?? "", "\(query.unfinishedOnly) \(query.includesFinishedConsumables)",
            ], locale: "", storefront: ""
        ).lastingDigest(app: self.app.number, account: [])
    }

    // MARK: Accounts

    /// The question for a page of the app's accounts. `first`: the key after which a list without a token begins. `once`: an account with
    /// several keys is in the list under its first key alone.
    func accounts(
        _ size: UInt32, after token: [UInt8], first: [UInt8] = [], once: Bool = false, withRecords: Bool
    ) throws(CallRefusal) -> StoreRequest.Body {
        var after = first
        if !token.isEmpty {
            let page = try CallRefusal.reading { () throws(TokenError) in try AccountPageToken(token) }
            try self.requireOwn(page.origin, AccountPageToken.name)
            guard page.app == self.app.number else {
                throw CallRefusal(
                    .cursorMalformed, "the page token belongs to another app; send it with the app it came from")
            }
            after = page.key
        }
        let (app, limit) = (self.app.number, size.pageLimit)
        return withRecords
            ? .accounts(app, after: after, limit: limit, once: once) : .keys(app, after: after, limit: limit)
    }

    /// Where a list of accounts goes on; empty at its end.
    func pageToken(after key: [UInt8]?) -> [UInt8] {
        guard let key else { return [] }
        return AccountPageToken(origin: self.origin, app: self.app.number, key: key).bytes
    }
}
