import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Checks of a request that need no store: its fields, and the token that it resumes from.
extension LoopCore {
    static func check(_ request: Request) throws(CallRefusal) {
        if let account = request.account, !Self.isOptional(account, in: request) { try Self.checkAccount(account) }
        if let key = request.idempotencyKey { try Self.checkIdempotencyKey(key) }
        switch request {
        case .productsTask(let asked), .getProducts(let asked): try Self.check(asked)
        case .getImage(let asked): try Self.check(asked)
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked):
            try Self.check(asked)
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked):
            try Self.present(asked.productID, "product_id")
        case .purchase(let asked): try Self.check(asked.order, at: Self.purchasedOrder)
        case .listTransactions(let asked): try Self.checkPage(asked.pageSize)
        case .listUnfinished(let asked): try Self.checkPage(asked.pageSize)
        case .getLatestTransaction(let asked): try Self.present(asked.productID, "product_id")
        case .appChanges(let asked): try Self.check(asked)
        case .operate(let asked): try Self.check(asked)
        case .listAccounts(let asked): try Self.checkPage(asked.pageSize)
        case .configure(let asked): try Self.check(asked)
        case .redeemOfferCode(let asked): try Self.present(asked.code, "code")
        case .manageSubscriptions(let asked): try Self.present(asked.productID, "product_id")
        case .resolveBillingIssue(let asked): try Self.present(asked.productID, "product_id")
        case .answerPriceIncrease(let asked): try Self.present(asked.productID, "product_id")
        case .grantEntitlement(let asked): try Self.check(asked)
        case .revokeGrant(let asked): try Self.checkEntitlement(asked.name)
        case .listPlanOptions(let asked):
            try Self.check(locale: asked.locale)
            try Self.present(asked.groupID, "group_id")
        case .getOfferEligibility(let asked): try Self.present(asked.productID + asked.groupID, "group_id")
        case .explain(let asked): try Self.check(asked)
        case .setClock(let asked): try Self.check(asked)
        case .getAppPolicies(let asked): try Self.check(locale: asked.locale)
        case .submitTransaction(let asked): try Self.check(asked)
        case .findAccount(let asked): try Self.check(asked)
        case .attachAlias(let asked): try Self.checkOne([asked.appAccountToken, asked.appTransactionID])
        case .detachAlias(let asked): try Self.checkOne([asked.appAccountToken, asked.appTransactionID])
        case .mergeAccounts(let asked): try Self.checkAccount(asked.intoAccount, field: "into_account")
        case .submitNotification(let asked): try Self.present(asked.signedPayload, "signed_payload")
        case .listAudit(let asked): try Self.checkPage(asked.pageSize)
        case .listDeadLetters(let asked): try Self.checkPage(asked.pageSize)
        case .listUnclaimed(let asked): try Self.checkPage(asked.pageSize)
        case .retryDeadLetter(let asked): try Self.present(asked.id, "id")
        case .dropDeadLetter(let asked): try Self.present(asked.id, "id")
        case .backup(let asked): try Self.check(asked)
        case .revokeToken(let asked): try Self.check(asked)
        case .offerConsoleCode(let asked): try Self.check(asked)
        // The other methods need no more than an account and a key.
        default: break
        }
    }

    private static func check(_ asked: OfferConsoleCodeRequest) throws(CallRefusal) {
        let count = asked.token.utf8.count
        guard (1...Limits.tokenBytesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid, "token has \(count) bytes; it must have 1 to \(Limits.tokenBytesMax)",
                details: [.field("token"), .found(count), .limit(Limits.tokenBytesMax)])
        }
    }

    /// An operation on a transaction needs no account, so its request checks the account itself. A submission without an
    /// account claims nothing.
    private static func isOptional(_ account: String, in request: Request) -> Bool {
        request.method == .operate || request.method == .submitTransaction && account.isEmpty
    }

    private static func check(_ asked: GrantEntitlementRequest) throws(CallRefusal) {
        try Self.checkEntitlement(asked.name)
        guard asked.tier.utf8.count <= Limits.entitlementNameBytesMax else {
            throw CallRefusal(
                .fieldInvalid,
                "tier has \(asked.tier.utf8.count) bytes, the limit is \(Limits.entitlementNameBytesMax)",
                details: [.field("tier"), .found(asked.tier.utf8.count), .limit(Limits.entitlementNameBytesMax)])
        }
        guard asked.reason.utf8.count <= Limits.accountKeyBytesMax else {
            throw CallRefusal(
                .fieldInvalid,
                "reason has \(asked.reason.utf8.count) bytes, the limit is \(Limits.accountKeyBytesMax)",
                details: [.field("reason"), .found(asked.reason.utf8.count), .limit(Limits.accountKeyBytesMax)])
        }
    }

    private static func check(_ asked: FindAccountRequest) throws(CallRefusal) {
        try Self.checkOne([
            asked.transactionID == 0 ? "" : "transaction", asked.appAccountToken, asked.appTransactionID,
        ])
    }

    private static func check(_ asked: SubmitTransactionRequest) throws(CallRefusal) {
        let count = asked.signedValues.count
        guard (1...Limits.appleSubmissionValuesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid,
                "signed_values has \(count) values; it must have 1 to \(Limits.appleSubmissionValuesMax)",
                details: [.field("signed_values"), .found(count), .limit(Limits.appleSubmissionValuesMax)])
        }
    }

    private static func check(_ asked: SubscriptionStatusRequest) throws(CallRefusal) {
        guard asked.allGroups else { return try Self.present(asked.groupID, "group_id") }
        guard asked.groupID.isEmpty else {
            throw CallRefusal(
                .fieldInvalid, "group_id names a group, and all_groups asks for all; send one of them",
                details: [.field("group_id")])
        }
    }

    private static func check(_ asked: ProductsRequest) throws(CallRefusal) {
        guard asked.productIDs.allSatisfy({ !$0.isEmpty }) else {
            throw CallRefusal(
                .fieldInvalid, "a product identifier in product_ids is empty",
                details: [.field("product_ids")])
        }
        try Self.check(locale: asked.locale, storefront: asked.storefront)
    }

    private static func check(_ asked: GetImageRequest) throws(CallRefusal) {
        try Self.present(asked.imageID, "image_id")
        guard asked.knownHash.isEmpty || asked.knownHash.count == ContentHash.byteCount else {
            throw CallRefusal(
                .fieldInvalid,
                "known_hash has \(asked.knownHash.count) bytes; send the \(ContentHash.byteCount) of content_hash, or none",
                details: [.field("known_hash"), .found(asked.knownHash.count)])
        }
    }

    private static func check(_ asked: AppChangesRequest) throws(CallRefusal) {
        guard asked.cursor.isEmpty || !asked.fromOldest else {
            throw CallRefusal(
                .fieldInvalid, "from_oldest and a cursor name two places to begin; leave one of them out",
                details: [.field("from_oldest")])
        }
    }

    private static func check(_ asked: OperateRequest) throws(CallRefusal) {
        guard let operation = asked.operation else {
            throw CallRefusal(
                .fieldMissing, "operation is not set; it names exactly one operation",
                details: [.field("operation")])
        }
        if operation.transaction == nil || !asked.account.isEmpty { try Self.checkAccount(asked.account) }
        switch operation {
        case .buy(let order): try Self.check(order, at: Self.operatedOrder)
        case .createIntent(let product, _): try Self.present(product, "operation.create_intent.product_id")
        case .share(_, let member): try Self.checkAccount(member, field: "operation.share.member")
        case .stopSharing(_, let member?): try Self.checkAccount(member, field: "operation.stop_sharing.member")
        default: break
        }
    }

    private static func check(_ asked: ConfigureRequest) throws(CallRefusal) {
        guard !asked.settings.isEmpty else {
            throw CallRefusal(
                .fieldMissing, "settings is empty; name what is to be changed",
                details: [.field("settings")])
        }
    }

    private static func check(_ asked: ExplainRequest) throws(CallRefusal) {
        switch asked.about {
        case .group(let id)?: try Self.present(id, "group_id")
        case .product(let id)?: try Self.present(id, "product_id")
        case nil:
            throw CallRefusal(
                .fieldMissing, "about is not set; name a group_id or a product_id",
                details: [.field("about")])
        }
    }

    private static func check(_ asked: SetClockRequest) throws(CallRefusal) {
        guard let change = asked.change else {
            throw CallRefusal(
                .fieldMissing, "no change is named; freeze, resume or advance the clock",
                details: [.field("change")])
        }
        if case .advanceToBoundary(let name) = change {
            try Self.checkAccount(name, field: "advance_to_boundary.account")
        }
    }

    private static func check(_ asked: BackupRequest) throws(CallRefusal) {
        try Self.present(asked.path, "path")
        guard asked.path.utf8.first == UInt8(ascii: "/") else {
            throw CallRefusal(
                .fieldInvalid, "path is not absolute; the server's working directory is not the caller's",
                details: [.field("path")])
        }
    }

    private static func check(_ asked: RevokeTokenRequest) throws(CallRefusal) {
        let count = asked.tokenID.utf8.count
        guard (1...Limits.revocationIDBytesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid,
                "token_id has \(count) bytes; it must have 1 to \(Limits.revocationIDBytesMax), `perch token inspect` shows it",
                details: [.field("token_id"), .found(count), .limit(Limits.revocationIDBytesMax)])
        }
    }

    private static func present(_ value: String, _ field: String) throws(CallRefusal) {
        guard !value.isEmpty else {
            throw CallRefusal(
                .fieldMissing, "\(field) is empty; it says what is asked for", details: [.field(field)])
        }
    }

    private static func checkPage(_ size: UInt32) throws(CallRefusal) {
        guard size <= Limits.pageSizeMax else {
            throw CallRefusal(
                .fieldInvalid, "page_size is \(size), the limit is \(Limits.pageSizeMax)",
                details: [.field("page_size"), .found(size), .limit(Limits.pageSizeMax)])
        }
    }

    /// Checked here, because the model accepts any text and would answer in the app's language and in US dollars.
    private static func check(locale: String, storefront: String = "") throws(CallRefusal) {
        do throws(Refusal) {
            if !locale.isEmpty { try checkLocale(locale, field: "locale") }
            if !storefront.isEmpty { try checkCountry(storefront, field: "storefront") }
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }

    /// The order's field in a `PurchaseRequest`, and in an `OperateRequest`.
    static var purchasedOrder: String { "order" }
    static var operatedOrder: String { "operation.buy" }

    /// Checks the required fields of every order. `path` is the order's field in its request.
    static func check(
        key: [UInt8], account: String, _ order: PurchaseOrder, at path: String = purchasedOrder
    ) throws(CallRefusal) {
        try Self.checkAccount(account)
        try Self.checkIdempotencyKey(key)
        try Self.check(order, at: path)
    }

    private static func checkEntitlement(_ name: String) throws(CallRefusal) {
        let count = name.utf8.count
        guard (1...Limits.entitlementNameBytesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid, "name has \(count) bytes; it must have 1 to \(Limits.entitlementNameBytesMax)",
                details: [.field("name"), .found(count), .limit(Limits.entitlementNameBytesMax)])
        }
    }

    /// Exactly one of the names of a customer must be given.
    private static func checkOne(_ names: [String]) throws(CallRefusal) {
        let count = names.count { !$0.isEmpty }
        guard count == 1 else {
            throw CallRefusal(
                count == 0 ? .fieldMissing : .fieldInvalid,
                "\(count) names of a customer are given; give exactly one of app_account_token, app_transaction_id and, to find an account, transaction_id",
                details: [.field("app_account_token"), .found(count), .limit(1)])
        }
        guard names.allSatisfy({ $0.utf8.count <= Limits.accountKeyBytesMax }) else {
            throw CallRefusal(
                .fieldInvalid, "a name of a customer has more than \(Limits.accountKeyBytesMax) bytes",
                details: [.field("app_account_token"), .limit(Limits.accountKeyBytesMax)])
        }
    }

    private static func checkAccount(_ key: String, field: String = "account") throws(CallRefusal) {
        let count = key.utf8.count
        guard (1...Limits.accountKeyBytesMax).contains(count) else {
            throw CallRefusal(
                .accountKey,
                "the account key in \(field) has \(count) bytes; it must have 1 to \(Limits.accountKeyBytesMax)",
                details: [.field(field), .found(count), .limit(Limits.accountKeyBytesMax)])
        }
    }

    private static func checkIdempotencyKey(_ bytes: [UInt8]) throws(CallRefusal) {
        guard bytes.count <= Limits.idempotencyKeyBytesMax else {
            throw CallRefusal(
                .fieldInvalid,
                "idempotency_key has \(bytes.count) bytes, the limit is \(Limits.idempotencyKeyBytesMax)",
                details: [.field("idempotency_key"), .found(bytes.count), .limit(Limits.idempotencyKeyBytesMax)])
        }
    }

    private static func check(_ order: PurchaseOrder, at path: String) throws(CallRefusal) {
        guard !order.productID.isEmpty else {
            throw CallRefusal(
                .fieldMissing, "\(path).product_id is empty; it says what is bought",
                details: [.field("\(path).product_id")])
        }
        guard order.accountToken.other.isEmpty else {
            throw CallRefusal(
                .fieldInvalid, "\(path).app_account_token is not a UUID such as 123e4567-e89b-12d3-a456-426614174000",
                details: [.field("\(path).app_account_token")])
        }
        if let date = order.date, date.isPerhapsSeconds {
            throw CallRefusal(
                .fieldInvalid,
                "\(path).purchase_date_ms is \(date.milliseconds) (\(date)), which looks like seconds; send milliseconds",
                details: [
                    .field("\(path).purchase_date_ms"), .found(date.milliseconds),
                    StatusDetail(key: "expected", value: "milliseconds since 1970, from 1973 on"),
                ])
        }
        // Refuses enumeration values of a newer contract instead of treating them as unspecified.
        guard order.introductoryEligibility.isKnownOrUnspecified else {
            throw unknown("introductory_eligibility", order.introductoryEligibility.rawValue)
        }
        guard order.renewalBehaviour.isKnownOrUnspecified else {
            throw unknown("renewal_behaviour", order.renewalBehaviour.rawValue)
        }
        func unknown(_ name: String, _ found: Int32) -> CallRefusal {
            CallRefusal(
                .fieldInvalid, "\(path).\(name) is \(found), which this server does not know; leave it out",
                details: [.field("\(path).\(name)"), .found(found)])
        }
    }

    /// This store in this epoch, as the origin of its tokens.
    var origin: TokenOrigin { TokenOrigin(store: self.identity, epoch: self.epoch) }

    /// `what`: the kind of token.
    func requireOwn(_ origin: TokenOrigin, _ what: String) throws(CallRefusal) {
        guard origin == self.origin else {
            throw CallRefusal(
                .tokenOtherStore, "the \(what) is of \(origin), this is \(self.origin); begin without one")
        }
    }

    /// A position of lost history must not count as reached, because this one came to the same revision with other changes.
    func requireOwn(_ position: Position) throws(CallRefusal) {
        guard position.epoch == 0 || position.epoch == self.epoch else {
            throw CallRefusal(
                .tokenOtherStore,
                "at_least is a position of epoch \(position.epoch), this store has epoch \(self.epoch) since a restore or a "
                    + "failover lost changes; ask without at_least, and make the change again if its result is missing",
                details: [.field("at_least"), .found(Int64(position.epoch))])
        }
    }

    /// The token that a call resumes from; nil: the call starts fresh.
    func token(of request: Request, of app: AppNumber) throws(CallRefusal) -> ResumeToken? {
        guard let bytes = request.resumeToken, !bytes.isEmpty else { return nil }
        return try self.token(bytes, of: request, app: app)
    }

    /// The same; with `forgives` a token that is refused counts as none.
    func token(of request: Request, of app: AppNumber, forgives: Bool) throws(CallRefusal) -> ResumeToken? {
        guard forgives else { return try self.token(of: request, of: app) }
        do throws(CallRefusal) {
            return try self.token(of: request, of: app)
        } catch {
            return nil
        }
    }

    private func token(
        _ bytes: [UInt8], of request: Request, app: AppNumber
    ) throws(CallRefusal) -> ResumeToken {
        let token: ResumeToken
        do throws(TokenError) {
            token = try ResumeToken(bytes)
        } catch {
            throw CallRefusal(WireStatus(error))
        }
        try self.requireOwn(token.origin, ResumeToken.name)
        let watched = request.watched.map { (view: $0.view, account: $0.account.map { self.canonical($0, app) }) }
        guard token.app == app, token.view == watched?.view.digest(app: app, account: watched?.account ?? []) else {
            throw CallRefusal(
                .tokenOtherView, "the token belongs to a call with other parameters; begin without a token")
        }
        return token
    }
}

extension Instant {
    /// Whether a number of milliseconds is probably in seconds: as milliseconds it lies before 1973, and as seconds
    /// before 5138.
    var isPerhapsSeconds: Bool { (1..<100_000_000_000).contains(self.milliseconds) }
}
