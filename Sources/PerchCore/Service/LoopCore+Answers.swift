import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Unary calls whose answer came.
extension LoopCore {
    mutating func finishUnary(_ call: Int32, _ answer: StoreAnswer) {
        guard let pending = self.pendingCall(call) else { return }
        switch answer {
        case .refused(let refusal):
            self.refuse(call, refusal)
        case .record(let record):
            guard let app = self.apps[pending.app] else { preconditionFailure("a call of an app that is gone") }
            self.answerView(call, pending.request, record, app)
        case .recordAsKnown(let record, let app):
            self.answerView(call, pending.request, record, app)
        case .history(let record, let rows, let app):
            self.answer(call, .explain(self.explanation(pending.request, record, rows, app)))
        case .keys(let keys, let hasMore):
            let token =
                hasMore ? keys.last.map { AccountPageToken(origin: self.origin, app: pending.app, key: $0).bytes } : nil
            self.answer(
                call,
                .listAccounts(
                    AccountPage(
                        accounts: keys.map { String(decoding: $0, as: UTF8.self) }, nextPageToken: token ?? [])))
        case .accounts(let accounts, let hasMore):
            self.answer(call, .listAccounts(self.summaries(accounts, hasMore: hasMore, app: pending.app)))
        case .transactions(let rows, let hasMore):
            self.answer(call, self.page(pending, rows, hasMore: hasMore))
        case .mutated(let result, let position):
            if let refusal = pending.refusal { return self.end(call, refusal) }
            self.noteChange(call, pending, at: position.revision)
            self.answer(call, self.response(to: pending.request, result, at: position, app: pending.app))
        case .image(let bytes, let hash):
            self.finishImage(call, pending, bytes, hash)
        case .revoked(let wasRevoked):
            self.noteChange(call, pending, at: nil)
            guard case .revokeToken(let asked) = pending.request else {
                preconditionFailure("\(pending.request.method) revokes no token")
            }
            let wasSeen = self.service.seenTokens.contains(asked.tokenID)
            self.answer(call, .revokeToken(RevokeTokenResponse(wasRevoked: wasRevoked, wasSeen: wasSeen)))
        case .items(let items, let hasMore):
            self.finishItems(call, pending, items, hasMore: hasMore)
        case .found(let found):
            self.finishFinding(call, pending, found)
        case .events, .changes:
            preconditionFailure("no unary call asks for events")
        }
    }

    /// The server's own answer to a control request.
    package mutating func handle(control number: UInt64, _ answer: ControlAnswer) {
        guard case .call(let call, let generation) = self.redeem(number) else {
            preconditionFailure("control answer \(number) is for no call")
        }
        guard self.calls.isTaken(call, generation: generation), case .unary = self.calls[call].state else { return }
        switch answer {
        case .response(let response):
            if case .loadCatalog(let loaded) = response, let pending = self.pendingCall(call) {
                self.noteChange(call, pending, at: loaded.position?.revision)
            }
            self.answer(call, response)
        case .refused(let reason, let message, let details):
            self.end(call, WireStatus(reason, message, details: details))
        case .failed(let refusal):
            self.refuse(call, refusal)
        case .told(var mutation):
            guard let pending = self.pendingCall(call) else { return }
            if let key = pending.request.idempotencyKey { mutation = self.keyed(key, mutation, pending.request) }
            self.ask(.call(call, generation: generation), .mutate(mutation))
        case .deadLetter(let mutation, let status):
            guard var pending = self.pendingCall(call) else { return }
            pending.refusal = status
            self.hold(call, pending)
            self.ask(.call(call, generation: generation), .mutate(mutation))
        }
    }

    /// A transaction in the form that the app's callers see.
    func verified(_ transaction: Transaction, _ app: AppNumber) -> Verified<Transaction> {
        guard let app = self.apps[app] else { preconditionFailure("a call of an app that is gone") }
        return PerchModel.verified(transaction, app: app)
    }

    func productsNow(_ asked: ProductsRequest, app number: AppNumber) -> TaskState<Products> {
        guard let app = self.apps[number] else { preconditionFailure("a call of an app that is gone") }
        var info = self.info(record: nil, app: app, at: app.clock.now(wall: self.now.wall), forecast: nil)
        if let refusal = simulatedFailure(of: .loadProducts, app: app) {
            return .failure(WireStatus(refusal).failure, info)
        }
        let value = products(asked.productIDs, locale: asked.locale, storefront: asked.storefront, app: app)
        info.token = self.token(asked.viewKey, account: [], number, info.position, self.codec.digest(of: value))
        return .success(value, info)
    }

    /// The resume token of a view's value in a read.
    private func token(
        _ view: ViewKey, account: [UInt8], _ app: AppNumber, _ position: Position, _ digest: Digest
    ) -> [UInt8] {
        ResumeToken(
            store: self.identity, epoch: self.epoch, app: app, view: view.digest(app: app, account: account),
            position: position, digest: digest
        ).bytes
    }

    private func info(record: AccountRecord?, app: AppState, at now: Instant, forecast: Forecast?) -> ValueInfo {
        var info = ValueInfo()
        let isRecordNewer = record.map { $0.revision >= app.revision } ?? false
        info.position = Position(revision: isRecordNewer ? record?.revision ?? 0 : app.revision, asOf: now)
        info.committed = isRecordNewer ? record?.committed ?? app.committed : app.committed
        info.cause = .snapshot
        info.forecast = forecast
        return info
    }

    private mutating func answerView(_ call: Int32, _ request: Request, _ record: AccountRecord?, _ app: AppState) {
        do throws(Refusal) {
            self.answer(call, try self.view(request, record, app))
        } catch {
            self.end(call, WireStatus(error))
        }
    }

    /// The answer of a read of an account: computed now, or as of the requested moment, by the same functions.
    ///
    /// A read's token resumes a stream of the same view; a read of another moment has none.
    private func view(
        _ request: Request, _ record: AccountRecord?, _ app: AppState
    ) throws(Refusal) -> Response {
        let asOf = request.asOf
        let now = asOf.instant ?? self.clock(of: app.number)
        let record = self.foreseen(record, app, at: now)
        func info(_ key: ViewKey, account: String, _ digest: Digest, forecast: Forecast?) -> ValueInfo {
            var info = self.info(record: record, app: app, at: now, forecast: forecast)
            guard asOf.isBlank else { return info }
            info.token = self.token(key, account: Array(account.utf8), app.number, info.position, digest)
            return info
        }
        func failure(_ api: StoreKitAPI) -> (Failure, ValueInfo)? {
            simulatedFailure(of: api, app: app).map {
                (WireStatus($0).failure, self.info(record: record, app: app, at: now, forecast: nil))
            }
        }
        let position = Position(revision: self.applied, asOf: now)
        switch request {
        case .getSubscriptionStatus(let asked):
            if let (failure, info) = failure(.subscriptionStatus) {
                return .getSubscriptionStatus(.failure(failure, info))
            }
            let viewed = subscriptionStatuses(of: record, inGroup: asked.groupID, app: app, at: now)
            var shown = info(
                .status(group: asked.groupID), account: asked.account, self.codec.digest(of: viewed.value),
                forecast: viewed.forecast)
            shown.isNotInCatalog = viewed.value.statuses.isEmpty && app.catalogue.group(asked.groupID) == nil
            return .getSubscriptionStatus(.success(viewed.value, shown))
        case .getCurrentEntitlement(let asked):
            if let (failure, info) = failure(.currentEntitlement) {
                return .getCurrentEntitlement(.failure(failure, info))
            }
            let viewed = currentEntitlement(of: record, toProduct: asked.productID, app: app, at: now)
            var shown = info(
                .entitlement(product: asked.productID), account: asked.account, self.codec.digest(of: viewed.value),
                forecast: viewed.forecast)
            shown.isNotInCatalog = viewed.value == nil && app.catalogue.product(asked.productID) == nil
            return .getCurrentEntitlement(.success(viewed.value, shown))
        case .getEntitlements(let asked):
            let viewed = namedEntitlements(of: record, app: app, at: now)
            let shown = info(
                .entitlements, account: asked.account, self.codec.digest(of: viewed.value), forecast: viewed.forecast)
            return .getEntitlements(.success(viewed.value, shown))
        case .listCurrentEntitlements:
            try refuseIfSimulated(.currentEntitlement, app: app)
            let list = currentEntitlements(of: record, app: app, at: now)
            return .listCurrentEntitlements(
                EntitlementList(
                    transactions: list, info: self.info(record: record, app: app, at: now, forecast: nil)))
        case .listPlanOptions(let asked):
            let options = planOptions(of: record, inGroup: asked.groupID, locale: asked.locale, app: app, at: now)
            return .listPlanOptions(
                PlanOptionList(
                    options: options, position: position, isNotInCatalog: app.catalogue.group(asked.groupID) == nil))
        case .getOfferEligibility(let asked):
            let value = offerEligibility(
                of: record, inGroup: asked.groupID, product: asked.productID, app: app, at: now)
            let isKnown =
                asked.productID.isEmpty
                ? app.catalogue.group(asked.groupID) != nil : app.catalogue.product(asked.productID) != nil
            return .getOfferEligibility(
                OfferEligibilityAnswer(value: value, position: position, isNotInCatalog: !isKnown))
        case .getAppTransaction:
            let found = try appTransaction(of: record, app: app)
            return .getAppTransaction(
                AppTransactionAnswer(
                    appTransactionID: found.value.id, bundleID: found.value.bundleID,
                    environment: found.value.environment, failure: found.failure, position: position,
                    canMakePayments: canMakePayments(record, app: app)))
        case .inspectAccount:
            guard let record else {
                throw Refusal(.accountUnknown, "there is no such account; a purchase opens one")
            }
            return .inspectAccount(self.inspection(of: record, app, at: now))
        default:
            preconditionFailure("\(request.method) does not read a record")
        }
    }

    /// The record as a read of the future sees it. Reads of the present leave the attempts to the store.
    private func foreseen(_ record: AccountRecord?, _ app: AppState, at instant: Instant) -> AccountRecord? {
        guard let record, instant > self.clock(of: app.number) else { return record }
        return PerchModel.foreseen(record, app: app, at: instant)
    }

    /// The explanation, as of the requested moment.
    private func explanation(
        _ request: Request, _ record: AccountRecord?, _ rows: [Transaction], _ app: AppState
    ) -> ExplainAnswer {
        guard case .explain(let asked) = request, let about = asked.about else {
            preconditionFailure("\(request.method) asks for no explanation")
        }
        let now = asked.asOf.instant ?? self.clock(of: app.number)
        let record = self.foreseen(record, app, at: now)
        let position = Position(revision: self.applied, asOf: now)
        switch about {
        case .group(let id):
            let rows = rows.filter { $0.subscriptionGroupID == id }
            return ExplainAnswer(
                value: explainStatus(of: record, inGroup: id, rows: rows, app: app, at: now), position: position,
                isNotInCatalog: rows.isEmpty && app.catalogue.group(id) == nil)
        case .product(let id):
            let rows = rows.filter { $0.productID == id }
            return ExplainAnswer(
                value: explainEntitlement(of: record, toProduct: id, rows: rows, app: app, at: now),
                position: position, isNotInCatalog: rows.isEmpty && app.catalogue.product(id) == nil)
        }
    }

    /// What the account owns for good: of a told app, what entitles now.
    static func owned(by record: AccountRecord, _ app: AppState, at now: Instant) -> [Verified<Transaction>] {
        guard record.told != nil else { return record.owned.map { PerchModel.verified($0, app: app) } }
        return currentEntitlements(of: record, app: app, at: now).filter { $0.value.productType != .autoRenewable }
    }

    private func inspection(of record: AccountRecord, _ app: AppState, at now: Instant) -> AccountInspection {
        AccountInspection(
            position: Position(revision: self.applied, asOf: now),
            groups: record.groupIDs.map {
                GroupStatuses(
                    groupID: $0, statuses: subscriptionStatuses(of: record, inGroup: $0, app: app, at: now).value)
            },
            owned: Self.owned(by: record, app, at: now),
            pendingPurchases: record.pendingPurchases,
            intents: record.intents,
            shares: record.shares.map { FamilySharing(original: $0.original, memberOriginal: $0.memberOriginal) },
            storefront: record.storefront, charges: ChargeOutcome(fails: record.chargesFail),
            appTransactionID: record.appTransactionID,
            awaitingSync: record.awaitingSync.map { PerchModel.verified($0, app: app) })
    }

    /// Whether the catalogue has no such product.
    private func isUnknown(_ productID: String, _ app: AppNumber) -> Bool {
        self.apps[app]?.catalogue.product(productID) == nil
    }

    private func page(_ pending: PendingCall, _ rows: [TransactionRow], hasMore: Bool) -> Response {
        let position = Position(revision: self.applied, asOf: self.clock(of: pending.app))
        if case .getLatestTransaction(let asked) = pending.request {
            return .getLatestTransaction(
                LatestTransaction(
                    transaction: rows.first.map { self.verified($0.transaction, pending.app) }, position: position,
                    isNotInCatalog: rows.isEmpty && self.isUnknown(asked.productID, pending.app)))
        }
        var page = TransactionPage(
            transactions: rows.map { self.verified($0.transaction, pending.app) }, position: position)
        var query = TransactionQuery(limit: 1)
        let account: String
        switch pending.request {
        case .listTransactions(let asked):
            account = asked.account
            query.productID = asked.productID.isEmpty ? nil : asked.productID
            query.includesFinishedConsumables = asked.includesFinishedConsumables
            page.isNotInCatalog = rows.isEmpty && query.productID.map { self.isUnknown($0, pending.app) } ?? false
        case .listUnfinished(let asked):
            account = asked.account
            query.unfinishedOnly = true
        default:
            preconditionFailure("\(pending.request.method) does not list transactions")
        }
        if hasMore, let last = rows.last {
            page.nextPageToken =
                PageToken(
                    origin: self.origin, query: self.queryDigest(query, account: account, app: pending.app),
                    purchaseDate: last.transaction.purchaseDate, id: last.transaction.id
                ).bytes
        }
        if case .listUnfinished = pending.request { return .listUnfinished(page) }
        return .listTransactions(page)
    }
}

extension Request {
    /// The moment of a read; blank for now, and for other requests.
    var asOf: AsOf {
        switch self {
        case .getSubscriptionStatus(let asked): asked.asOf
        case .getCurrentEntitlement(let asked): asked.asOf
        case .listCurrentEntitlements(let asked): asked.asOf
        case .getEntitlements(let asked): asked.asOf
        default: AsOf()
        }
    }
}
