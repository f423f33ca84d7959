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
            // What the store has no room for is right, so it is kept. A dead letter that is taken again stays where it is.
            if case .submitNotification(let asked) = pending.request, refusal.reason == .recordLimit {
                return self.control(
                    call, pending.request, of: pending.app, .ingest(.keep(asked.signedPayload, WireStatus(refusal))))
            }
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
            if case .listUnclaimed = pending.request {
                return self.answer(
                    call, .listUnclaimed(self.unclaimed(accounts, hasMore: hasMore, app: pending.app)))
            }
            self.answer(call, .listAccounts(self.summaries(accounts, hasMore: hasMore, app: pending.app)))
        case .transactions(let rows, let hasMore):
            self.answer(call, self.page(pending, rows, hasMore: hasMore))
        case .mutated(let result, let position):
            if let refusal = pending.refusal { return self.end(call, refusal) }
            self.noteChange(call, pending, at: position.revision)
            var response = self.response(to: pending.request, result, at: position, of: pending.app)
            if !pending.refusedValues.isEmpty, case .submitTransaction(var answer) = response {
                answer.refused = pending.refusedValues
                response = .submitTransaction(answer)
            }
            self.answer(call, response)
        case .image(let bytes, let hash):
            self.finishImage(call, pending, bytes, hash)
        case .revoked(let wasRevoked):
            self.noteChange(call, pending, at: nil)
            guard case .revokeToken(let asked) = pending.request else {
                preconditionFailure("\(pending.request.method) revokes no token")
            }
            let wasSeen = self.service.seenTokens.contains(asked.tokenID)
            self.answer(call, .revokeToken(RevokeTokenResponse(wasRevoked: wasRevoked, wasSeen: wasSeen)))
        case .code(let bytes): self.finishCode(call, pending, bytes)
        case .items(let items, let hasMore):
            self.finishItems(call, pending, items, hasMore: hasMore)
        case .exported(let account): self.finishExport(call, pending, account)
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
        case .told(var mutation, let refused):
            guard var pending = self.pendingCall(call) else { return }
            if !refused.isEmpty {
                pending.refusedValues = refused
                self.hold(call, pending)
            }
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
        let now = request.asOf?.instant ?? self.clock(of: app.number)
        let record = self.foreseen(record, app, at: now)
        let read = AccountRead(
            record: record, app: app, now: now, isOfNow: request.asOf?.isBlank ?? true,
            account: request.account.map { self.canonical(Array($0.utf8), app.number) } ?? [],
            isSigned: request.includesJWS == true)
        let position = Position(revision: self.applied, asOf: now)
        switch request {
        case .getSubscriptionStatus(let asked): return .getSubscriptionStatus(self.status(asked, read))
        case .getCurrentEntitlement(let asked): return .getCurrentEntitlement(self.entitlement(asked, read))
        case .getEntitlements:
            let viewed = namedEntitlements(of: record, app: app, at: now)
            let shown = self.info(
                read, .entitlements, self.codec.digest(of: viewed.value), forecast: viewed.forecast)
            return .getEntitlements(.success(viewed.value, shown))
        case .getPass(let asked): return .getPass(try self.pass(for: asked.account, read, at: position))
        case .listCurrentEntitlements:
            try refuseIfSimulated(.currentEntitlement, app: app)
            var list = currentEntitlements(of: record, app: app, at: now)
            if read.isSigned { self.sign(&list, app.number) }
            return .listCurrentEntitlements(
                EntitlementList(
                    transactions: list, info: self.info(record: record, app: app, at: now, forecast: nil)))
        case .listPlanOptions(let asked):
            let options = planOptions(of: record, inGroup: asked.groupID, locale: asked.locale, app: app, at: now)
            return .listPlanOptions(
                PlanOptionList(
                    options: options, position: position, isNotInCatalog: app.catalogue.group(asked.groupID) == nil,
                    introductoryEligibility: introductoryEligibility(
                        of: record, inGroup: asked.groupID, app: app, at: now)))
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
                    canMakePayments: canMakePayments(record, app: app),
                    jws: read.isSigned ? self.signed(found, app.number) : "",
                    originalAppVersion: found.value.originalAppVersion,
                    originalPurchaseDate: found.value.originalPurchaseDate,
                    originalPlatform: found.value.originalPlatform,
                    arePaymentsForbidden: app.isTestApp && record?.arePaymentsForbidden == true,
                    paymentsEligibility: paymentsEligibility(record, app: app)))
        case .inspectAccount:
            guard let record else {
                throw Refusal(.accountUnknown, "there is no such account; a purchase opens one")
            }
            return .inspectAccount(self.inspection(of: record, app, at: now))
        default:
            preconditionFailure("\(request.method) does not read a record")
        }
    }

    private func status(_ asked: SubscriptionStatusRequest, _ read: AccountRead) -> TaskState<SubscriptionStatuses> {
        if let (failure, info) = self.failure(of: .subscriptionStatus, read) { return .failure(failure, info) }
        let viewed =
            asked.allGroups
            ? statusesOfAllGroups(of: read.record, app: read.app, at: read.now)
            : subscriptionStatuses(of: read.record, inGroup: asked.groupID, app: read.app, at: read.now)
        var shown = self.info(
            read, .status(group: asked.groupID, isSigned: read.isSigned),
            self.codec.digest(of: viewed.value), forecast: viewed.forecast)
        shown.isNotInCatalog =
            viewed.value.statuses.isEmpty && !asked.allGroups && read.app.catalogue.group(asked.groupID) == nil
        var statuses = viewed.value
        if read.isSigned { self.sign(&statuses, read.app.number, at: shown.position) }
        return .success(statuses, shown)
    }

    private func entitlement(_ asked: CurrentEntitlementRequest, _ read: AccountRead) -> TaskState<
        Verified<Transaction>?
    > {
        if let (failure, info) = self.failure(of: .currentEntitlement, read) { return .failure(failure, info) }
        let viewed = currentEntitlement(of: read.record, toProduct: asked.productID, app: read.app, at: read.now)
        var shown = self.info(
            read, .entitlement(product: asked.productID, isSigned: read.isSigned),
            self.codec.digest(of: viewed.value), forecast: viewed.forecast)
        shown.isNotInCatalog = viewed.value == nil && read.app.catalogue.product(asked.productID) == nil
        var transaction = viewed.value
        if read.isSigned, transaction != nil { self.sign(&transaction!, read.app.number) }
        return .success(transaction, shown)
    }

    /// What a client gets with a value. A read of now has the token of a stream of the same view.
    private func info(
        _ read: AccountRead, _ key: ViewKey, _ digest: Digest, forecast: Forecast?
    ) -> ValueInfo {
        var info = self.info(record: read.record, app: read.app, at: read.now, forecast: forecast)
        guard read.isOfNow else { return info }
        info.token = self.token(key, account: read.account, read.app.number, info.position, digest)
        return info
    }

    private func failure(of api: StoreKitAPI, _ read: AccountRead) -> (Failure, ValueInfo)? {
        simulatedFailure(of: api, app: read.app).map {
            (WireStatus($0).failure, self.info(record: read.record, app: read.app, at: read.now, forecast: nil))
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

    /// What the account owns for good: of an App Store app, what entitles now.
    static func owned(by record: AccountRecord, _ app: AppState, at now: Instant) -> [Verified<Transaction>] {
        guard record.told != nil else { return record.owned.map { PerchModel.verified($0, app: app) } }
        return currentEntitlements(of: record, app: app, at: now).filter { $0.value.productType != .autoRenewable }
    }

    func inspection(of record: AccountRecord, _ app: AppState, at now: Instant) -> AccountInspection {
        AccountInspection(
            position: Position(revision: self.applied, asOf: now),
            groups: record.groupIDs(in: app.catalogue).map {
                GroupStatuses(
                    groupID: $0, statuses: subscriptionStatuses(of: record, inGroup: $0, app: app, at: now).value)
            },
            owned: Self.owned(by: record, app, at: now),
            pendingPurchases: record.pendingPurchases,
            intents: record.intents,
            shares: record.shares.map { FamilySharing(original: $0.original, memberOriginal: $0.memberOriginal) },
            storefront: record.storefront, charges: ChargeOutcome(fails: record.chargesFail),
            appTransactionID: record.appTransactionID,
            awaitingSync: record.awaitingSync.map { PerchModel.verified($0, app: app) },
            arePaymentsForbidden: record.arePaymentsForbidden, redeemedOffers: record.redeemedOffers)
    }

    /// Whether the catalogue has no such product.
    private func isUnknown(_ productID: String, _ app: AppNumber) -> Bool {
        self.apps[app]?.catalogue.product(productID) == nil
    }

    private func page(_ pending: PendingCall, _ rows: [TransactionRow], hasMore: Bool) -> Response {
        let position = Position(revision: self.applied, asOf: self.clock(of: pending.app))
        var shown = rows.map { self.verified($0.transaction, pending.app) }
        if pending.request.includesJWS == true { self.sign(&shown, pending.app) }
        if case .getLatestTransaction(let asked) = pending.request {
            return .getLatestTransaction(
                LatestTransaction(
                    transaction: shown.first, position: position,
                    isNotInCatalog: rows.isEmpty && self.isUnknown(asked.productID, pending.app)))
        }
        var page = TransactionPage(transactions: shown, position: position)
        var query = TransactionQuery(limit: 1)
        switch pending.request {
        case .listTransactions(let asked):
            query.productID = asked.productID.isEmpty ? nil : asked.productID
            query.includesFinishedConsumables = asked.includesFinishedConsumables
            page.isNotInCatalog = rows.isEmpty && query.productID.map { self.isUnknown($0, pending.app) } ?? false
        case .listUnfinished:
            query.unfinishedOnly = true
        default:
            preconditionFailure("\(pending.request.method) does not list transactions")
        }
        if hasMore { page.nextPageToken = self.pageToken(after: rows, of: query, pending) }
        if case .listUnfinished = pending.request { return .listUnfinished(page) }
        return .listTransactions(page)
    }

    /// Where a list of transactions goes on.
    func pageToken(after rows: [TransactionRow], of query: TransactionQuery, _ pending: PendingCall) -> [UInt8] {
        guard let last = rows.last?.transaction else { return [] }
        return PageToken(
            origin: self.origin,
            query: self.queryDigest(query, account: pending.request.account ?? "", of: pending.app),
            purchaseDate: last.purchaseDate, id: last.id
        ).bytes
    }
}

/// What a read of an account is answered from.
struct AccountRead {
    let record: AccountRecord?
    let app: AppState
    let now: Instant
    /// False for a read of another moment.
    let isOfNow: Bool
    let account: [UInt8]
    /// True for a caller that wants the signed forms.
    let isSigned: Bool
}
