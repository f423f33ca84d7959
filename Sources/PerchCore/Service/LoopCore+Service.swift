import PerchBase
import PerchModel
import PerchStore
import PerchWire

// What each method does. Knows identities, requests and answers; not which transport carries them.
extension LoopCore {
    /// Begins a call whose request is decoded: attaches a watch, asks the store, or answers at once.
    mutating func begin(_ call: Int32, _ request: Request) throws(CallRefusal) {
        let app = try self.app(of: request)
        try self.check(request)
        if let token = try self.token(of: request, app: app) {
            self.callTokens[call] = token
            self.calls[call].flags.insert(.hasToken)
            try self.wait(call, request, app: app, for: token.position)
            return
        }
        if let position = request.atLeast {
            try self.wait(call, request, app: app, for: position)
            return
        }
        try self.proceed(call, request, app: app)
    }

    /// Goes on now if the loop is at `position`, else later.
    private mutating func wait(
        _ call: Int32, _ request: Request, app: AppNumber, for position: Position
    ) throws(CallRefusal) {
        let needed = request.atLeast.map { max($0, position) } ?? position
        let asOf = request.atLeast.map { max($0.asOf, position.asOf) } ?? position.asOf
        let goal = Position(revision: needed.revision, asOf: asOf)
        if self.isAt(goal, app: app) {
            try self.proceed(call, request, app: app)
            return
        }
        let generation = self.calls.generation(call)
        self.waiters.append(
            Waiter(call: call, generation: generation, position: goal, app: app, request: request))
        if request.method.isStreaming, !self.calls[call].flags.contains(.hasToken),
            request.method != .transactionUpdates
        {
            self.sayLoading(call)
        }
        guard !self.calls[call].hasDeadline else { return }
        self.scheduleDeadline(.behind(call, generation), at: self.now.monotonic + self.settings.behindWaitMilliseconds)
    }

    func isAt(_ position: Position, app: AppNumber) -> Bool {
        self.applied >= position.revision && self.clock(of: app) >= position.asOf
    }

    /// Calls that waited for a position that has come.
    mutating func wakeWaiters() {
        guard !self.waiters.isEmpty else { return }
        let waiting = self.waiters
        self.waiters = waiting.filter { !self.isAt($0.position, app: $0.app) }
        guard self.waiters.count < waiting.count else { return }
        for waiter in waiting
        where self.isAt(waiter.position, app: waiter.app)
            && self.calls.isTaken(waiter.call, generation: waiter.generation)
        {
            do throws(CallRefusal) {
                try self.proceed(waiter.call, waiter.request, app: waiter.app)
            } catch {
                self.end(waiter.call, error.status)
            }
        }
    }

    /// The app's clock, as of this turn.
    func clock(of app: AppNumber) -> Instant {
        self.apps[app].map { $0.clock.now(wall: self.now.wall) } ?? self.now.wall
    }

    private mutating func proceed(_ call: Int32, _ request: Request, app: AppNumber) throws(CallRefusal) {
        switch request {
        case .productsTask(let asked):
            self.watch(call, app: app, account: nil, self.key(asked))
        case .subscriptionStatusTask(let asked):
            self.watch(call, app: app, account: Array(asked.account.utf8), .status(group: asked.groupID))
        case .currentEntitlementTask(let asked):
            self.watch(call, app: app, account: Array(asked.account.utf8), .entitlement(product: asked.productID))
        case .transactionUpdates(let asked):
            try self.watchUpdates(call, asked, app: app)
        case .purchaseIntents(let asked):
            self.watch(call, app: app, account: Array(asked.account.utf8), .intents)
        case .messages(let asked):
            self.watch(call, app: app, account: Array(asked.account.utf8), .messages)

        case .getProducts(let asked):
            self.answer(call, .getProducts(self.productsNow(asked, app: app)))
        case .getImage(let asked):
            try self.askForImage(call, request, asked, app: app)
        case .getSubscriptionStatus(let asked):
            try self.askForRecord(call, request, app: app, account: asked.account, asOf: asked.asOf)
        case .getCurrentEntitlement(let asked):
            try self.askForRecord(call, request, app: app, account: asked.account, asOf: asked.asOf)
        case .listCurrentEntitlements(let asked):
            try self.askForRecord(call, request, app: app, account: asked.account, asOf: asked.asOf)
        case .listPlanOptions(let asked):
            try self.askForRecord(call, request, app: app, account: asked.account)
        case .getOfferEligibility(let asked):
            try self.askForRecord(call, request, app: app, account: asked.account)
        case .getAppTransaction(let asked):
            try self.askForRecord(call, request, app: app, account: asked.account)
        case .inspectAccount(let asked):
            try self.requireTestApp(app)
            try self.askForRecord(call, request, app: app, account: asked.account)
        case .getAppPolicies(let asked):
            guard let state = self.apps[app] else { throw self.unknownApp }
            let shown = appPolicies(locale: asked.locale, app: state)
            self.answer(
                call,
                .getAppPolicies(
                    AppPoliciesAnswer(
                        licenceAgreement: shown.licenceAgreement, privacyPolicyText: shown.privacyPolicyText,
                        privacyPolicyURL: shown.privacyPolicyURL, privacyPolicyLocale: shown.privacyPolicyLocale)))
        case .explain(let asked):
            try self.requireReadable(asked.asOf)
            let key = AccountKey(app: app, bytes: Array(asked.account.utf8))
            self.ask(call, request, app: app, .history(key, self.known(asked.asOf, app)))
        case .listAccounts(let asked):
            try self.requireTestApp(app)
            try self.askForAccounts(call, request, asked, app: app)
        case .getSettings:
            try self.requireTestApp(app)
            guard let state = self.apps[app] else { throw self.unknownApp }
            self.answer(call, .getSettings(SettingsList(settings: changes(making: state.settings))))
        case .listTransactions, .listUnfinished, .getLatestTransaction:
            try self.askForTransactions(call, request, app: app)

        case .purchase, .finish:
            var mutation = try self.mutation(for: request, app: app)
            mutation.origin = self.clientIDs[self.calls[call].connection] ?? []
            self.ask(call, request, app: app, .mutate(mutation))
        case .operate, .configure, .setClock, .sync, .requestRefund, .redeemOfferCode, .manageSubscriptions:
            // What happens outside the app has no origin: every reader of the account's transactions hears of it.
            self.ask(call, request, app: app, .mutate(try self.mutation(for: request, app: app)))

        case .getClock:
            guard let state = self.apps[app] else { throw self.unknownApp }
            guard state.isTestApp else { throw self.notATestApp(state) }
            guard
                case .clock(let now, let isFrozen, let offset, let rate, _) =
                    StoreEngine.clockResult(state, wall: self.now.wall, settledCount: 0)
            else { preconditionFailure("a clock is a clock") }
            self.answer(
                call,
                .getClock(
                    ClockResponse(
                        clock: ClockState(
                            now: now, isFrozen: isFrozen, offsetMilliseconds: offset, timeRate: rate.rawValue))))

        case .listApps:
            let apps = self.apps.values.sorted {
                ($0.bundleID, $0.environment.rawValue) < ($1.bundleID, $1.environment.rawValue)
            }
            self.answer(
                call,
                .listApps(
                    AppList(
                        apps: apps.map {
                            AppSummary(
                                bundleID: $0.bundleID, environment: $0.environment,
                                productCount: UInt32($0.catalogue.products.count), catalogSource: $0.catalogueSource)
                        })))
        case .getCatalog:
            guard let state = self.apps[app] else { throw self.unknownApp }
            self.answer(
                call,
                .getCatalog(
                    CatalogContents(
                        productIDs: state.catalogue.products.map(\.id), groupIDs: state.catalogue.groups.map(\.id),
                        source: state.catalogueSource, revision: state.catalogueRevision,
                        summary: CatalogSummary(counting: state.catalogue),
                        images: state.catalogue.images.map {
                            CatalogImageInfo(id: $0.id, contentHash: $0.hash.bytes, byteCount: $0.byteCount)
                        })))
        case .checkCatalog(let asked):
            self.control(call, request, app: app, .checkCatalog(file: asked.file, images: asked.images))
        case .loadCatalog(let asked):
            let origin = self.clientIDs[self.calls[call].connection] ?? []
            self.control(
                call, request, app: app,
                .loadCatalog(
                    app: app, file: asked.file, images: asked.images, source: asked.source, origin: origin))
        case .getServerStatus:
            self.control(call, request, app: app, .serverStatus)
        }
    }

    private func key(_ asked: ProductsRequest) -> ViewKey {
        var seen: Set<String> = []
        return .products(
            ids: asked.productIDs.filter { seen.insert($0).inserted }, locale: asked.locale,
            storefront: asked.storefront)
    }

    private var unknownApp: CallRefusal {
        CallRefusal(.appUnknown, "this server has no such app; `perch get apps` lists them")
    }

    private func requireTestApp(_ app: AppNumber) throws(CallRefusal) {
        guard let state = self.apps[app] else { throw self.unknownApp }
        guard state.isTestApp else {
            throw CallRefusal(
                .notATestApp,
                "\(state.bundleID) is an app of the \(state.environment) store, which alone knows its accounts; use an xcode app to rehearse"
            )
        }
    }

    private func notATestApp(_ app: AppState) -> CallRefusal {
        CallRefusal(
            .notATestApp,
            "\(app.bundleID) is an app of the \(app.environment) store; only xcode apps have a clock of their own")
    }

    // MARK: Asking the store

    mutating func ask(_ call: Int32, _ request: Request, app: AppNumber, _ body: StoreRequest.Body) {
        self.pendingUnary[call] = PendingCall(request: request, app: app)
        self.ask(.call(call, generation: self.calls.generation(call)), body)
    }

    mutating func ask(_ ticket: Ticket, _ body: StoreRequest.Body) {
        let number = self.nextTicket
        self.nextTicket += 1
        self.tickets[number] = ticket
        self.effects.append(.ask(StoreRequest(loop: self.loop, ticket: number, body)))
    }

    private mutating func control(_ call: Int32, _ request: Request, app: AppNumber, _ control: ControlRequest) {
        self.pendingUnary[call] = PendingCall(request: request, app: app)
        let number = self.nextTicket
        self.nextTicket += 1
        self.tickets[number] = .call(call, generation: self.calls.generation(call))
        self.effects.append(.control(ticket: number, control))
    }

    /// The hash of an image is in the catalogue, so who has the bytes is answered at once.
    private mutating func askForImage(
        _ call: Int32, _ request: Request, _ asked: GetImageRequest, app: AppNumber
    ) throws(CallRefusal) {
        guard let state = self.apps[app] else { throw self.unknownApp }
        guard let image = state.catalogue.image(asked.imageID) else { throw self.unknownImage(asked.imageID, state) }
        guard asked.knownHash != image.hash.bytes else {
            self.counters.imagesUnchanged += 1
            self.answer(call, .getImage(ImageAnswer(contentHash: image.hash.bytes, isUnchanged: true)))
            return
        }
        self.ask(call, request, app: app, .image(app, image.hash))
    }

    private func unknownImage(_ id: String, _ app: AppState) -> CallRefusal {
        let count = app.catalogue.images.count
        let advice =
            count == 0
            ? "it has none; load a bundle directory with Assets/\(id).png"
            : "it has \(count); ask for the promotional_image_id of a product"
        return CallRefusal(
            .imageUnknown, "the catalogue of \(app.bundleID) has no image \(id); \(advice)",
            details: [StatusDetail(key: "field", value: "image_id"), StatusDetail(key: "found", value: id)])
    }

    /// An image came from the store; nil if the catalogue was replaced on the way. That change is applied already, for it
    /// came before, so the newer catalogue is asked. Nobody can keep this going without loading catalogues.
    mutating func finishImage(_ call: Int32, _ pending: PendingCall, _ bytes: [UInt8]?, _ hash: ContentHash) {
        guard case .getImage(let asked) = pending.request else {
            preconditionFailure("\(pending.request.method) asks for no image")
        }
        guard let bytes else {
            do throws(CallRefusal) {
                try self.askForImage(call, pending.request, asked, app: pending.app)
            } catch {
                self.end(call, error.status)
            }
            return
        }
        self.counters.imagesSent += 1
        self.answer(
            call,
            .getImage(
                ImageAnswer(
                    contentHash: hash.bytes, contentType: ImageContent.contentType(of: bytes) ?? "", content: bytes)))
    }

    private mutating func askForAccounts(
        _ call: Int32, _ request: Request, _ asked: ListAccountsRequest, app: AppNumber
    ) throws(CallRefusal) {
        var after: [UInt8] = []
        if !asked.pageToken.isEmpty {
            let token: AccountPageToken
            do throws(TokenError) {
                token = try AccountPageToken(asked.pageToken)
            } catch {
                throw CallRefusal(WireStatus(error))
            }
            guard token.app == app else {
                throw CallRefusal(
                    .cursorMalformed, "the page token belongs to another app; send it with the app it came from")
            }
            after = token.key
        }
        let limit = asked.pageSize == 0 ? Limits.pageSizeDefault : Int(asked.pageSize)
        self.ask(call, request, app: app, .keys(app, after: after, limit: limit))
    }

    /// Instants that a read may be about: those that a civil date has four digits for.
    private static let readableMilliseconds: ClosedRange<Int64> = 0...253_402_300_799_999

    private mutating func askForRecord(
        _ call: Int32, _ request: Request, app: AppNumber, account: String, asOf: AsOf = AsOf()
    ) throws(CallRefusal) {
        try self.requireReadable(asOf)
        let key = AccountKey(app: app, bytes: Array(account.utf8))
        let known = self.known(asOf, app)
        self.ask(call, request, app: app, known.map { .recordAsKnown(key, $0) } ?? .record(key))
    }

    /// The past that a read is about; nil where what is known now will do: for now, and for what is to come.
    private func known(_ asOf: AsOf, _ app: AppNumber) -> KnownAs? {
        let past = asOf.instant.flatMap { $0 < self.clock(of: app) ? $0 : nil }
        return asOf.revision == 0 && past == nil ? nil : KnownAs(revision: asOf.revision, instant: past)
    }

    private func requireReadable(_ asOf: AsOf) throws(CallRefusal) {
        if let instant = asOf.instant, !Self.readableMilliseconds.contains(instant.milliseconds) {
            throw CallRefusal(
                .fieldInvalid,
                "as_of.at_ms is \(instant.milliseconds), which is not from 1970 to 9999; ask for an instant in between",
                details: [
                    StatusDetail(key: "field", value: "as_of.at_ms"),
                    StatusDetail(key: "found", value: "\(instant.milliseconds)"),
                    StatusDetail(key: "limit", value: "\(Self.readableMilliseconds.upperBound)"),
                ])
        }
    }

    private mutating func askForTransactions(_ call: Int32, _ request: Request, app: AppNumber) throws(CallRefusal) {
        func limit(_ size: UInt32) -> Int {
            size == 0 ? Limits.pageSizeDefault : Int(size)
        }
        var query: TransactionQuery
        let account: String
        var token: [UInt8] = []
        switch request {
        case .listTransactions(let asked):
            query = TransactionQuery(limit: limit(asked.pageSize))
            query.productID = asked.productID.isEmpty ? nil : asked.productID
            query.includesFinishedConsumables = asked.includesFinishedConsumables
            (account, token) = (asked.account, asked.pageToken)
        case .listUnfinished(let asked):
            query = TransactionQuery(limit: limit(asked.pageSize))
            query.unfinishedOnly = true
            (account, token) = (asked.account, asked.pageToken)
        case .getLatestTransaction(let asked):
            query = TransactionQuery(limit: 1)
            query.productID = asked.productID
            query.isNewestFirst = true
            account = asked.account
        default:
            preconditionFailure("not a question about transactions")
        }
        if !token.isEmpty {
            let page: PageToken
            do throws(TokenError) {
                page = try PageToken(token)
            } catch {
                throw CallRefusal(WireStatus(error))
            }
            guard page.query == self.queryDigest(query, account: account, app: app) else {
                throw CallRefusal(
                    .cursorMalformed, "the page token belongs to another list; send it with the request it came from")
            }
            query.after = TransactionQuery.Place(purchaseDate: page.purchaseDate, id: page.id)
        }
        self.ask(
            call, request, app: app,
            .transactions(AccountKey(app: app, bytes: Array(account.utf8)), query))
    }

    func queryDigest(_ query: TransactionQuery, account: String, app: AppNumber) -> Digest {
        ViewKey.products(
            ids: [
                account, query.productID ?? "", "\(query.unfinishedOnly) \(query.includesFinishedConsumables)",
            ], locale: "", storefront: ""
        ).digest(app: app, account: [])
    }

    // MARK: Reading a request

    /// The app that a request names, or the only one there is.
    private func app(of request: Request) throws(CallRefusal) -> AppNumber {
        guard let reference = request.appReference else { return 0 }
        if reference.isBlank {
            guard self.apps.count == 1, let only = self.apps.keys.first else {
                throw CallRefusal(
                    .appAmbiguous, "this server has \(self.apps.count) apps; name one by bundle_id and environment")
            }
            return only
        }
        let named = self.apps.values.filter {
            (reference.bundleID.isEmpty || $0.bundleID == reference.bundleID)
                && (reference.environment == .unspecified || $0.environment == reference.environment)
        }
        guard named.count < 2 else {
            throw CallRefusal(
                .appAmbiguous,
                "\(named.count) apps of this server fit that name; name the bundle_id and the environment")
        }
        guard let app = named.first else { throw self.unknownApp }
        return app.number
    }

    private func check(_ request: Request) throws(CallRefusal) {
        func account(_ key: String) throws(CallRefusal) {
            let count = key.utf8.count
            guard (1...Limits.accountKeyBytesMax).contains(count) else {
                throw CallRefusal(
                    .accountKey, "the account key has \(count) bytes; it must have 1 to \(Limits.accountKeyBytesMax)",
                    details: [
                        StatusDetail(key: "field", value: "account"), StatusDetail(key: "found", value: "\(count)"),
                        StatusDetail(key: "limit", value: "\(Limits.accountKeyBytesMax)"),
                    ])
            }
        }
        func present(_ value: String, _ field: String) throws(CallRefusal) {
            guard !value.isEmpty else {
                throw CallRefusal(
                    .fieldMissing, "\(field) is empty; it says what is asked for",
                    details: [StatusDetail(key: "field", value: field)])
            }
        }
        func page(_ size: UInt32) throws(CallRefusal) {
            guard size <= Limits.pageSizeMax else {
                throw CallRefusal(
                    .fieldInvalid, "page_size is \(size), the limit is \(Limits.pageSizeMax)",
                    details: [
                        StatusDetail(key: "field", value: "page_size"), StatusDetail(key: "found", value: "\(size)"),
                        StatusDetail(key: "limit", value: "\(Limits.pageSizeMax)"),
                    ])
            }
        }
        func key(_ bytes: [UInt8]) throws(CallRefusal) {
            guard bytes.count <= Limits.idempotencyKeyBytesMax else {
                throw CallRefusal(
                    .fieldInvalid,
                    "idempotency_key has \(bytes.count) bytes, the limit is \(Limits.idempotencyKeyBytesMax)",
                    details: [
                        StatusDetail(key: "field", value: "idempotency_key"),
                        StatusDetail(key: "found", value: "\(bytes.count)"),
                        StatusDetail(key: "limit", value: "\(Limits.idempotencyKeyBytesMax)"),
                    ])
            }
        }
        switch request {
        case .productsTask(let asked), .getProducts(let asked):
            guard !asked.productIDs.isEmpty else {
                throw CallRefusal(
                    .fieldMissing, "product_ids is empty; name the products to watch",
                    details: [StatusDetail(key: "field", value: "product_ids")])
            }
            guard asked.productIDs.allSatisfy({ !$0.isEmpty }) else {
                throw CallRefusal(
                    .fieldInvalid, "a product identifier in product_ids is empty",
                    details: [StatusDetail(key: "field", value: "product_ids")])
            }
        case .getImage(let asked):
            try present(asked.imageID, "image_id")
            guard asked.knownHash.isEmpty || asked.knownHash.count == ContentHash.byteCount else {
                throw CallRefusal(
                    .fieldInvalid,
                    "known_hash has \(asked.knownHash.count) bytes; send the \(ContentHash.byteCount) of content_hash, or none",
                    details: [
                        StatusDetail(key: "field", value: "known_hash"),
                        StatusDetail(key: "found", value: "\(asked.knownHash.count)"),
                    ])
            }
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked):
            try account(asked.account)
            try present(asked.groupID, "group_id")
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked):
            try account(asked.account)
            try present(asked.productID, "product_id")
        case .listCurrentEntitlements(let asked): try account(asked.account)
        case .purchase(let asked):
            try account(asked.account)
            try key(asked.idempotencyKey)
            try self.check(asked.order)
        case .finish(let asked):
            try account(asked.account)
            try key(asked.idempotencyKey)
        case .listTransactions(let asked):
            try account(asked.account)
            try page(asked.pageSize)
        case .listUnfinished(let asked):
            try account(asked.account)
            try page(asked.pageSize)
        case .getLatestTransaction(let asked):
            try account(asked.account)
            try present(asked.productID, "product_id")
        case .transactionUpdates(let asked): try account(asked.account)
        case .operate(let asked):
            try key(asked.idempotencyKey)
            guard let operation = asked.operation else {
                throw CallRefusal(
                    .fieldInvalid, "operation is not set; it names exactly one operation",
                    details: [StatusDetail(key: "field", value: "operation")])
            }
            if operation.transaction == nil || !asked.account.isEmpty { try account(asked.account) }
            switch operation {
            case .buy(let order): try self.check(order)
            case .createIntent(let product, _): try present(product, "operation.create_intent.product_id")
            case .share(_, let member): try account(member)
            case .stopSharing(_, let member?): try account(member)
            default: break
            }
        case .inspectAccount(let asked): try account(asked.account)
        case .listAccounts(let asked): try page(asked.pageSize)
        case .configure(let asked):
            try key(asked.idempotencyKey)
            guard !asked.settings.isEmpty else {
                throw CallRefusal(
                    .fieldMissing, "settings is empty; name what is to be changed",
                    details: [StatusDetail(key: "field", value: "settings")])
            }
        case .sync(let asked):
            try account(asked.account)
            try key(asked.idempotencyKey)
        case .requestRefund(let asked):
            try account(asked.account)
            try key(asked.idempotencyKey)
        case .redeemOfferCode(let asked):
            try account(asked.account)
            try present(asked.code, "code")
            try key(asked.idempotencyKey)
        case .manageSubscriptions(let asked):
            try account(asked.account)
            try present(asked.productID, "product_id")
            try key(asked.idempotencyKey)
        case .getAppTransaction(let asked): try account(asked.account)
        case .purchaseIntents(let asked), .messages(let asked): try account(asked.account)
        case .listPlanOptions(let asked):
            try account(asked.account)
            try present(asked.groupID, "group_id")
        case .getOfferEligibility(let asked):
            try account(asked.account)
            try present(asked.productID + asked.groupID, "group_id")
        case .explain(let asked):
            try account(asked.account)
            switch asked.about {
            case .group(let id)?: try present(id, "group_id")
            case .product(let id)?: try present(id, "product_id")
            case nil:
                throw CallRefusal(
                    .fieldInvalid, "about is not set; name a group_id or a product_id",
                    details: [StatusDetail(key: "field", value: "about")])
            }
        case .setClock(let asked):
            guard let change = asked.change else {
                throw CallRefusal(
                    .fieldMissing, "no change is named; freeze, resume or advance the clock",
                    details: [StatusDetail(key: "field", value: "change")])
            }
            if case .advanceToBoundary(let name) = change { try account(name) }
        case .checkCatalog, .loadCatalog, .getCatalog, .getClock, .getSettings, .getAppPolicies, .listApps,
            .getServerStatus:
            break
        }
    }

    private func check(_ order: PurchaseOrder) throws(CallRefusal) {
        guard !order.productID.isEmpty else {
            throw CallRefusal(
                .fieldMissing, "order.product_id is empty; it says what is bought",
                details: [StatusDetail(key: "field", value: "order.product_id")])
        }
        try Self.checkToken(order.appAccountToken)
    }

    /// A UUID in its usual form, or nothing.
    private static func checkToken(_ token: String) throws(CallRefusal) {
        guard !token.isEmpty else { return }
        let groups = token.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isHex = groups.allSatisfy { group in
            group.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
            }
        }
        guard groups.map(\.count) == [8, 4, 4, 4, 12], isHex else {
            throw CallRefusal(
                .fieldInvalid, "order.app_account_token is not a UUID such as 123e4567-e89b-12d3-a456-426614174000",
                details: [StatusDetail(key: "field", value: "order.app_account_token")])
        }
    }

    private func token(of request: Request, app: AppNumber) throws(CallRefusal) -> ResumeToken? {
        let bytes: [UInt8]
        let view: Digest
        switch request {
        case .productsTask(let asked):
            bytes = asked.resumeToken
            view = self.key(asked).digest(app: app, account: [])
        case .subscriptionStatusTask(let asked):
            bytes = asked.resumeToken
            view = ViewKey.status(group: asked.groupID).digest(app: app, account: Array(asked.account.utf8))
        case .currentEntitlementTask(let asked):
            bytes = asked.resumeToken
            view = ViewKey.entitlement(product: asked.productID).digest(app: app, account: Array(asked.account.utf8))
        case .purchaseIntents(let asked):
            bytes = asked.resumeToken
            view = ViewKey.intents.digest(app: app, account: Array(asked.account.utf8))
        case .messages(let asked):
            bytes = asked.resumeToken
            view = ViewKey.messages.digest(app: app, account: Array(asked.account.utf8))
        default:
            return nil
        }
        guard !bytes.isEmpty else { return nil }
        let token: ResumeToken
        do throws(TokenError) {
            token = try ResumeToken(bytes)
        } catch {
            throw CallRefusal(WireStatus(error))
        }
        guard token.store == self.identity, token.epoch == self.epoch else {
            throw CallRefusal(
                .tokenOtherStore,
                "the token is of store \(token.store) epoch \(token.epoch), this is \(self.identity) epoch \(self.epoch); begin without a token"
            )
        }
        guard token.view == view, token.app == app else {
            throw CallRefusal(
                .tokenOtherView, "the token belongs to a call with other parameters; begin without a token")
        }
        return token
    }
}

extension Request {
    /// Nil for methods that are about the server and not about an app.
    var appReference: AppReference? {
        switch self {
        case .productsTask(let asked), .getProducts(let asked): asked.app
        case .getImage(let asked): asked.app
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked): asked.app
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked): asked.app
        case .listCurrentEntitlements(let asked): asked.app
        case .purchase(let asked): asked.app
        case .finish(let asked): asked.app
        case .listTransactions(let asked): asked.app
        case .listUnfinished(let asked): asked.app
        case .getLatestTransaction(let asked): asked.app
        case .transactionUpdates(let asked): asked.app
        case .sync(let asked): asked.app
        case .requestRefund(let asked): asked.app
        case .redeemOfferCode(let asked): asked.app
        case .manageSubscriptions(let asked): asked.app
        case .getAppTransaction(let asked): asked.app
        case .purchaseIntents(let asked), .messages(let asked): asked.app
        case .listPlanOptions(let asked): asked.app
        case .getOfferEligibility(let asked): asked.app
        case .getAppPolicies(let asked): asked.app
        case .explain(let asked): asked.app
        case .operate(let asked): asked.app
        case .inspectAccount(let asked): asked.app
        case .listAccounts(let asked): asked.app
        case .configure(let asked): asked.app
        case .getSettings(let asked): asked.app
        case .getClock(let asked): asked.app
        case .setClock(let asked): asked.app
        case .loadCatalog(let asked): asked.app
        case .getCatalog(let asked): asked.app
        case .listApps, .checkCatalog, .getServerStatus: nil
        }
    }

    /// "At least this position", where a caller demanded it.
    var atLeast: Position? {
        switch self {
        case .productsTask(let asked), .getProducts(let asked): asked.atLeast
        case .getImage(let asked): asked.atLeast
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked): asked.atLeast
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked): asked.atLeast
        case .listCurrentEntitlements(let asked): asked.atLeast
        case .listTransactions(let asked): asked.atLeast
        case .listUnfinished(let asked): asked.atLeast
        case .getLatestTransaction(let asked): asked.atLeast
        case .transactionUpdates(let asked): asked.atLeast
        case .getAppTransaction(let asked): asked.atLeast
        case .purchaseIntents(let asked), .messages(let asked): asked.atLeast
        case .listPlanOptions(let asked): asked.atLeast
        case .getOfferEligibility(let asked): asked.atLeast
        case .explain(let asked): asked.atLeast
        case .inspectAccount(let asked): asked.atLeast
        default: nil
        }
    }
}
