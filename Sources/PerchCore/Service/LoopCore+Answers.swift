import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Unary calls whose answer came.
extension LoopCore {
    mutating func finishUnary(_ call: Int32, _ answer: StoreAnswer) {
        guard let pending = self.pendingUnary[call] else { return }
        switch answer {
        case .refused(let refusal):
            self.end(call, WireStatus(refusal))
        case .record(let record):
            self.answer(call, self.viewNow(pending.request, record, app: pending.app))
        case .transactions(let rows, let hasMore):
            self.answer(call, self.page(pending, rows, hasMore: hasMore))
        case .mutated(let result, let position):
            if let summary = pending.summary {
                self.answer(call, .loadCatalog(LoadCatalogResponse(position: position, summary: summary)))
            } else {
                self.answer(call, self.response(to: pending.request, result, at: position, app: pending.app))
            }
        case .image(let bytes, let hash):
            self.finishImage(call, pending, bytes, hash)
        case .events:
            preconditionFailure("no unary call asks for events")
        }
    }

    /// The server's own answer to a control request.
    package mutating func handle(control number: UInt64, _ answer: ControlAnswer) {
        guard case .call(let call, let generation)? = self.tickets.removeValue(forKey: number) else {
            preconditionFailure("control answer \(number) was never asked for")
        }
        guard self.calls.isTaken(call, generation: generation), self.calls[call].kind == .unary else { return }
        switch answer {
        case .response(let response):
            self.answer(call, response)
        case .refused(let reason, let message, let details):
            self.end(call, WireStatus(reason, message, details: details))
        case .mutation(var mutation, let summary):
            mutation.origin = self.clientIDs[self.calls[call].connection] ?? []
            self.pendingUnary[call]?.summary = summary
            self.ask(.call(call, generation: generation), .mutate(mutation))
        }
    }

    /// A transaction as the app's callers get it: unverified where that is simulated.
    func verified(_ transaction: Transaction, _ app: AppNumber) -> Verified<Transaction> {
        let simulated = self.apps[app]?.settings.simulatedErrors[.verification]?.verificationFailure
        return Verified(transaction, failure: simulated ?? .verified)
    }

    func productsNow(_ asked: ProductsRequest, app number: AppNumber) -> TaskState<Products> {
        guard let app = self.apps[number] else { preconditionFailure("a call of an app that is gone") }
        let value = products(asked.productIDs, locale: asked.locale, storefront: asked.storefront, app: app)
        return .success(value, self.infoNow(record: nil, app: app, forecast: nil))
    }

    private func infoNow(record: AccountRecord?, app: AppState, forecast: Forecast?) -> ValueInfo {
        var info = ValueInfo()
        let isRecordNewer = record.map { $0.revision >= app.revision } ?? false
        info.position = Position(
            revision: isRecordNewer ? record?.revision ?? 0 : app.revision, asOf: app.clock.now(wall: self.now.wall))
        info.committed = isRecordNewer ? record?.committed ?? app.committed : app.committed
        info.cause = .snapshot
        info.forecast = forecast
        return info
    }

    /// The unary reads of a view, computed now. A read's token resumes a stream of the same view.
    private func viewNow(_ request: Request, _ record: AccountRecord?, app number: AppNumber) -> Response {
        guard let app = self.apps[number] else { preconditionFailure("a call of an app that is gone") }
        let now = app.clock.now(wall: self.now.wall)
        func token(_ key: ViewKey, account: String, _ position: Position, _ digest: Digest) -> [UInt8] {
            ResumeToken(
                store: self.identity, epoch: self.epoch, app: number,
                view: key.digest(app: number, account: Array(account.utf8)), position: position, digest: digest
            ).bytes
        }
        switch request {
        case .getSubscriptionStatus(let asked):
            let viewed = subscriptionStatuses(of: record, inGroup: asked.groupID, app: app, at: now)
            var info = self.infoNow(record: record, app: app, forecast: viewed.forecast)
            info.token = token(
                .status(group: asked.groupID), account: asked.account, info.position,
                self.codec.digest(of: viewed.value))
            return .getSubscriptionStatus(.success(viewed.value, info))
        case .getCurrentEntitlement(let asked):
            let viewed = currentEntitlement(of: record, toProduct: asked.productID, app: app, at: now)
            var info = self.infoNow(record: record, app: app, forecast: viewed.forecast)
            info.token = token(
                .entitlement(product: asked.productID), account: asked.account, info.position,
                self.codec.digest(of: viewed.value))
            return .getCurrentEntitlement(.success(viewed.value, info))
        case .listCurrentEntitlements:
            let list = currentEntitlements(of: record, app: app, at: now)
            return .listCurrentEntitlements(
                EntitlementList(transactions: list, info: self.infoNow(record: record, app: app, forecast: nil)))
        default:
            preconditionFailure("\(request.method) does not read a record")
        }
    }

    private func page(_ pending: PendingCall, _ rows: [TransactionRow], hasMore: Bool) -> Response {
        let position = Position(revision: self.applied, asOf: self.clock(of: pending.app))
        if case .getLatestTransaction = pending.request {
            return .getLatestTransaction(
                LatestTransaction(transaction: rows.first.map { Verified($0.transaction) }, position: position))
        }
        var page = TransactionPage(transactions: rows.map { Verified($0.transaction) }, position: position)
        var query = TransactionQuery(limit: 1)
        let account: String
        switch pending.request {
        case .listTransactions(let asked):
            account = asked.account
            query.productID = asked.productID.isEmpty ? nil : asked.productID
            query.includesFinishedConsumables = asked.includesFinishedConsumables
        case .listUnfinished(let asked):
            account = asked.account
            query.unfinishedOnly = true
        default:
            preconditionFailure("\(pending.request.method) does not list transactions")
        }
        if hasMore, let last = rows.last {
            page.nextPageToken =
                PageToken(
                    query: self.queryDigest(query, account: account, app: pending.app),
                    purchaseDate: last.transaction.purchaseDate, id: last.transaction.id
                ).bytes
        }
        if case .listUnfinished = pending.request { return .listUnfinished(page) }
        return .listTransactions(page)
    }
}
