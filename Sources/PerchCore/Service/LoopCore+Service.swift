import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// The service: what each method does. It knows identities, requests and answers, but no transport.
extension LoopCore {
    /// Begins a call with a decoded request: attaches a watch, asks the store, or answers at once.
    ///
    /// `forgivesToken`: a resume token that is refused, or that this server does not reach in a moment, is left out.
    mutating func begin(_ call: Int32, _ request: Request, forgivesToken: Bool = false) throws(CallRefusal) {
        switch request {
        case .operate(let asked) where asked.isOrder: return try self.order(call, asked)
        case .purchase(let asked): return try self.order(call, asked, request)
        case .watch(let asked): return try self.beginSeveral(call, asked)
        default: break
        }
        if case .loadCatalog(let asked) = request, try self.opensGuest(call, request, asked) { return }
        let app: AppNumber
        if let reference = request.app { app = try self.app(reference, ofCall: call) } else { app = 0 }
        try self.permit(call, request, of: app)
        try Self.check(request)
        if let position = request.atLeast { try self.requireOwn(position) }
        if let token = try self.token(of: request, of: app, forgives: forgivesToken) {
            self.service.callTokens[call] = token
            self.calls[call].flags.insert(.hasToken)
            try self.wait(call, request, of: app, for: token.position, forgivesToken: forgivesToken)
            return
        }
        if let position = request.atLeast {
            try self.wait(call, request, of: app, for: position)
            return
        }
        try self.proceed(call, request, of: app)
    }

    /// Continues now if the loop is at `position`, else later.
    private mutating func wait(
        _ call: Int32, _ request: Request, of app: AppNumber, for position: Position, forgivesToken: Bool = false
    ) throws(CallRefusal) {
        let needed = request.atLeast.map { max($0, position) } ?? position
        let asOf = request.atLeast.map { max($0.asOf, position.asOf) } ?? position.asOf
        let goal = Position(revision: needed.revision, asOf: asOf)
        if self.isAt(goal, of: app) {
            try self.proceed(call, request, of: app)
            return
        }
        try self.requireRoom(WaitingCalls.bytesPerWaiter)
        let generation = self.calls.generation(call)
        self.service.waiting.add(
            Waiter(
                call: call, generation: generation, position: goal, app: app, request: request,
                forgivesToken: forgivesToken))
        if request.method.isStreaming, !self.calls[call].flags.contains(.hasToken),
            request.method != .transactionUpdates, request.method != .appChanges
        {
            self.sayLoading(call)
        }
        guard forgivesToken || !self.calls[call].hasDeadline else { return }
        let wait =
            forgivesToken
            ? min(Limits.forgivenTokenMilliseconds, self.settings.behindWaitMilliseconds)
            : self.settings.behindWaitMilliseconds
        self.scheduleDeadline(.behind(call, generation), at: self.now.monotonic + wait)
    }

    /// A call waited in vain for the position of a token that it may do without.
    mutating func forgiveToken(_ call: Int32, _ waiter: Waiter) {
        self.service.waiting.remove(call)
        self.service.callTokens[call] = nil
        self.calls[call].flags.remove(.hasToken)
        do throws(CallRefusal) {
            try self.proceed(call, waiter.request, of: waiter.app)
        } catch {
            self.end(call, error.status)
        }
    }

    func isAt(_ position: Position, of app: AppNumber) -> Bool {
        self.applied >= position.revision && self.clock(of: app) >= position.asOf
    }

    /// Wakes the calls whose position has been reached.
    mutating func wakeWaiters() {
        guard !self.service.waiting.isEmpty else { return }
        var waiting = WaitingCalls()
        swap(&waiting, &self.service.waiting)
        let (woken, held) = waiting.take(applied: self.applied) { self.clock(of: $0) }
        swap(&waiting, &self.service.waiting)
        for call in held { self.awaitInstant(call) }
        for waiter in woken where self.calls.isTaken(waiter.call, generation: waiter.generation) {
            do throws(CallRefusal) {
                try self.proceed(waiter.call, waiter.request, of: waiter.app)
            } catch {
                self.end(waiter.call, error.status)
            }
        }
    }

    /// A stream that waits for its instant delays bookmarks: its first value may be older than the bookmark's revision.
    /// A stream that waits for a revision does not.
    private mutating func awaitInstant(_ call: Int32) {
        guard self.calls[call].method.isStreaming, !self.calls[call].flags.contains(.isWaiting) else { return }
        self.calls[call].flags.insert(.isWaiting)
        self.holdBeats(for: call)
    }

    /// The app's clock, as of this tick.
    func clock(of app: AppNumber) -> Instant {
        self.apps[app].map { $0.clock.now(wall: self.now.wall) } ?? self.now.wall
    }

    private mutating func proceed(_ call: Int32, _ request: Request, of app: AppNumber) throws(CallRefusal) {
        switch request {
        case .productsTask, .subscriptionStatusTask, .currentEntitlementTask, .purchaseIntents, .messages,
            .entitlementsTask:
            guard let watched = request.watched else { preconditionFailure("a watch is of something") }
            self.watch(call, of: app, account: watched.account.map { self.canonical($0, app) }, watched.view)
        case .transactionUpdates(let asked):
            try self.watchUpdates(call, asked, of: app)
        case .appChanges(let asked):
            try self.watchAppChanges(call, asked, of: app)

        case .getProducts(let asked):
            self.answer(call, .getProducts(self.productsNow(asked, app: app)))
        case .getImage(let asked):
            try self.askForImage(call, request, asked, of: app)
        case .getSubscriptionStatus, .getCurrentEntitlement, .listCurrentEntitlements, .getEntitlements, .getPass,
            .listPlanOptions, .getOfferEligibility, .getAppTransaction, .inspectAccount:
            guard let account = request.account else { preconditionFailure("a record is of an account") }
            try self.askForRecord(call, request, of: app, account: account, asOf: request.asOf ?? AsOf())
        case .getAppPolicies(let asked): self.answerPolicies(call, asked, of: app)
        case .explain(let asked):
            try self.requireReadable(asked.asOf)
            let key = Self.key(asked.account, app)
            self.ask(call, request, of: app, .history(key, self.known(asked.asOf, app)))
        case .listAccounts(let asked):
            try self.askForAccounts(call, request, asked, of: app)
        case .getSettings:
            try self.requireTestApp(app)
            let state = self.state(of: app)
            self.answer(call, .getSettings(SettingsList(settings: changes(making: state.settings))))
        case .listTransactions, .listUnfinished, .getLatestTransaction:
            try self.askForTransactions(call, request, of: app)

        case .watch:
            preconditionFailure("several watches begin each by itself")
        case .purchase:
            preconditionFailure("a purchase is an order")
        case .finish:
            var mutation = try self.mutation(for: request, of: app)
            mutation.origin = self.clientID(ofCall: call)
            self.ask(call, request, of: app, .mutate(mutation))
        case .getClock: try self.answerClock(call, of: app)

        case .listApps: self.answerApps(call)
        case .getCatalog: self.answerCatalog(call, of: app)
        case .checkCatalog(let asked):
            self.control(call, request, of: app, .checkCatalog(file: asked.file, images: asked.images))
        case .loadCatalog(let asked):
            let origin = self.clientID(ofCall: call)
            self.control(
                call, request, of: app,
                .loadCatalog(
                    app: app, file: asked.file, images: asked.images, source: asked.source, origin: origin,
                    audit: self.auditEntry(call, request, of: app)))
        case .getServerStatus: self.control(call, request, of: app, .serverStatus)
        case .backup(let asked):
            self.control(
                call, request, of: app, .backup(path: asked.path, audit: self.auditEntry(call, request, of: app)))
        case .revokeToken(let asked):
            self.ask(
                call, request, of: app,
                .revoke(try self.revocation(asked), audit: self.auditEntry(call, request, of: app)))
        case .offerConsoleCode(let asked):
            try self.offer(call, request, asked, of: app)
        case .redeemConsoleCode(let asked):
            try self.redeem(call, request, asked, of: app)
        case .grantEntitlement, .revokeGrant:
            self.ask(call, request, of: app, .mutate(try self.grant(request, of: app)))
        case .listUnclaimed(let asked):
            try self.askForUnclaimed(call, request, asked, of: app)
        case .findAccount, .attachAlias, .detachAlias, .moveTransaction, .mergeAccounts, .eraseAccount, .exportAccount:
            try self.administer(call, request, of: app)
        case .listAudit(let asked): self.askForAudit(call, request, asked, of: app)
        case .submitTransaction, .submitNotification, .listDeadLetters, .retryDeadLetter, .dropDeadLetter:
            try self.ingest(call, request, of: app)
        default:
            // A change outside the app has no origin: every reader of the account's transactions receives it.
            self.ask(call, request, of: app, .mutate(try self.mutation(for: request, of: app)))
        }
    }

    private mutating func askForAudit(_ call: Int32, _ request: Request, _ asked: ListAuditRequest, of app: AppNumber) {
        let limit = asked.pageSize == 0 ? Limits.pageSizeDefault : Int(asked.pageSize)
        self.ask(
            call, request, of: app,
            .items(.audit, groups: [[]], after: AuditEntry.key(ofRevision: asked.afterRevision).key, limit: limit))
    }

    private mutating func answerPolicies(_ call: Int32, _ asked: AppPoliciesRequest, of app: AppNumber) {
        let state = self.state(of: app)
        let shown = appPolicies(locale: asked.locale, app: state)
        self.answer(
            call,
            .getAppPolicies(
                AppPoliciesAnswer(
                    licenceAgreement: shown.licenceAgreement, privacyPolicyText: shown.privacyPolicyText,
                    privacyPolicyURL: shown.privacyPolicyURL, privacyPolicyLocale: shown.privacyPolicyLocale,
                    showsDialogs: state.isTestApp && state.settings.asksBeforePurchases)))
    }

    private mutating func answerClock(_ call: Int32, of app: AppNumber) throws(CallRefusal) {
        let state = self.state(of: app)
        guard state.isTestApp else { throw self.notATestApp(state) }
        guard
            case .clock(let now, let isFrozen, let offset, let rate, _) =
                StoreEngine.clockResult(state, wall: self.now.wall, settled: RenewalCount())
        else { preconditionFailure("a clock is a clock") }
        self.answer(
            call,
            .getClock(
                ClockResponse(
                    clock: ClockState(
                        now: now, isFrozen: isFrozen, offsetMilliseconds: offset, timeRate: rate.rawValue))))
    }

    /// The apps that the caller may reach, by name.
    private mutating func answerApps(_ call: Int32) {
        let identity = self.identity(ofCall: call)
        let apps = self.apps.listed.filter { identity.apps.includes($0.name) }.sorted {
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
    }

    /// `LoadCatalog` for a guest that is not there yet: it is made. False for any other app.
    private mutating func opensGuest(
        _ call: Int32, _ request: Request, _ asked: LoadCatalogRequest
    ) throws(CallRefusal) -> Bool {
        let name = AppName(bundleID: asked.app.bundleID, environment: .xcode)
        guard self.settings.hostsGuests, GuestApps.isGuest(name.bundleID, name.environment),
            asked.app.environment == .xcode || asked.app.environment == .unspecified,
            !self.apps.all.contains(where: { $0.name == name }), self.identity(ofCall: call).apps.includes(name)
        else { return false }
        try Self.check(request)
        self.control(
            call, request, of: 0,
            .openGuest(
                bundleID: name.bundleID, file: asked.file, images: asked.images, source: asked.source,
                audit: self.auditEntry(call, request, of: 0)))
        return true
    }

    private mutating func answerCatalog(_ call: Int32, of app: AppNumber) {
        let state = self.state(of: app)
        self.answer(
            call,
            .getCatalog(
                CatalogContents(
                    productIDs: state.catalogue.products.map(\.id), groupIDs: state.catalogue.groups.map(\.id),
                    source: state.catalogueSource, revision: state.catalogueRevision,
                    summary: CatalogSummary(counting: state.catalogue),
                    images: state.catalogue.images.map {
                        CatalogImageInfo(id: $0.id, contentHash: $0.hash.bytes, byteCount: $0.byteCount)
                    }, codeOffers: state.catalogue.codeOffers(limit: Limits.offerCodesMax))))
    }

    /// The app of a call, found when the call began. Apps of open calls are never removed.
    func state(of app: AppNumber) -> AppState {
        guard let state = self.apps[app] else { preconditionFailure("a call of an app that is gone") }
        return state
    }

    /// The refusal for a request that names no app among those of the credentials.
    private func unknownApp(_ reference: AppReference, _ reach: AppReach) -> CallRefusal {
        if reference.isBlank, case .apps = reach {
            return CallRefusal(
                .appUnknown,
                "the request names no app, the credentials are for \(reach), and this server has no such app; load its catalogue first",
                details: [StatusDetail(key: "found", value: reach.description)])
        }
        let environment = reference.environment == .unspecified ? "" : " (\(reference.environment))"
        let asked = (reference.bundleID.isEmpty ? "any" : printable(reference.bundleID)) + environment
        let told = reference.bundleID.isEmpty ? "of the environment \(reference.environment)" : asked
        let others = self.apps.all.filter { $0.bundleID == reference.bundleID && reach.includes($0.name) }
        let also =
            others.isEmpty ? "" : ", it has it as \(others.map(\.environment.description).joined(separator: " and "))"
        return CallRefusal(
            .appUnknown, "this server has no app \(told)\(also); `perch get apps` lists what there is",
            details: [StatusDetail(key: "found", value: asked)])
    }

    private func requireTestApp(_ app: AppNumber) throws(CallRefusal) {
        let state = self.state(of: app)
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

    /// `code`: of the console.
    mutating func ask(
        _ call: Int32, _ request: Request, of app: AppNumber, _ body: StoreRequest.Body, code: String = ""
    ) {
        guard self.mayRead || !request.method.isSafe else { return self.end(call, Self.outOfReach) }
        self.hold(call, PendingCall(request: request, app: app, code: code, asksStore: true))
        guard case .mutate(let mutation) = body else {
            return self.ask(.call(call, generation: self.calls.generation(call)), body)
        }
        self.ask(
            .call(call, generation: self.calls.generation(call)),
            .mutate(self.audited(mutation, call, request, of: app)))
    }

    mutating func ask(_ ticket: Ticket, _ body: consuming StoreRequest.Body) {
        self.asks.append(StoreRequest(loop: self.loop, ticket: self.issue(ticket), body))
    }

    mutating func control(_ call: Int32, _ request: Request, of app: AppNumber, _ control: ControlRequest) {
        self.hold(call, PendingCall(request: request, app: app))
        let ticket = self.issue(.call(call, generation: self.calls.generation(call)))
        self.effects.append(.control(ticket: ticket, control))
    }

    /// The catalogue has the hash of an image, so a caller with the current bytes is answered at once.
    private mutating func askForImage(
        _ call: Int32, _ request: Request, _ asked: GetImageRequest, of app: AppNumber
    ) throws(CallRefusal) {
        let state = self.state(of: app)
        guard let image = state.catalogue.image(asked.imageID) else { throw self.unknownImage(asked.imageID, state) }
        guard asked.knownHash != image.hash.bytes else {
            self.counters.imagesUnchanged += 1
            self.answer(call, .getImage(ImageAnswer(contentHash: image.hash.bytes, isUnchanged: true)))
            return
        }
        self.ask(call, request, of: app, .image(app, image.hash))
    }

    private func unknownImage(_ id: String, _ app: AppState) -> CallRefusal {
        let count = app.catalogue.images.count
        let advice =
            count == 0
            ? "it has none; load a bundle directory with Assets/\(id).png"
            : "it has \(count); ask for the promotional_image_id of a product"
        return CallRefusal(
            .imageUnknown, "the catalogue of \(app.bundleID) has no image \(id); \(advice)",
            details: [.field("image_id"), StatusDetail(key: "found", value: id)])
    }

    /// Answers with an image from the store; nil if the catalogue was replaced in the meantime. That change is already
    /// applied, so the newer catalogue is asked. Repetition needs another catalogue load each time.
    mutating func finishImage(_ call: Int32, _ pending: PendingCall, _ bytes: [UInt8]?, _ hash: ContentHash) {
        guard case .getImage(let asked) = pending.request else {
            preconditionFailure("\(pending.request.method) asks for no image")
        }
        guard let bytes else {
            do throws(CallRefusal) {
                try self.askForImage(call, pending.request, asked, of: pending.app)
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

    private mutating func askForUnclaimed(
        _ call: Int32, _ request: Request, _ asked: ListUnclaimedRequest, of app: AppNumber
    ) throws(CallRefusal) {
        try self.requireToldApp(app)
        let page = ListAccountsRequest(pageSize: asked.pageSize, pageToken: asked.pageToken, withSummaries: true)
        try self.askForAccounts(call, request, page, of: app, after: AccountKey.beforeUnclaimed)
    }

    private mutating func askForAccounts(
        _ call: Int32, _ request: Request, _ asked: ListAccountsRequest, of app: AppNumber, after first: [UInt8] = []
    ) throws(CallRefusal) {
        var after = first
        if !asked.pageToken.isEmpty {
            let token: AccountPageToken
            do throws(TokenError) {
                token = try AccountPageToken(asked.pageToken)
            } catch {
                throw CallRefusal(WireStatus(error))
            }
            try self.requireOwn(token.origin, AccountPageToken.name)
            guard token.app == app else {
                throw CallRefusal(
                    .cursorMalformed, "the page token belongs to another app; send it with the app it came from")
            }
            after = token.key
        }
        let limit = asked.pageSize == 0 ? Limits.pageSizeDefault : Int(asked.pageSize)
        self.ask(
            call, request, of: app,
            asked.withSummaries
                ? .accounts(app, after: after, limit: limit) : .keys(app, after: after, limit: limit))
    }

    private mutating func askForRecord(
        _ call: Int32, _ request: Request, of app: AppNumber, account: String, asOf: AsOf = AsOf()
    ) throws(CallRefusal) {
        try self.requireReadable(asOf)
        let key = Self.key(account, app)
        let known = self.known(asOf, app)
        self.ask(call, request, of: app, known.map { .recordAsKnown(key, $0) } ?? .record(key))
    }

    /// The past moment of a read; nil for the present and the future.
    private func known(_ asOf: AsOf, _ app: AppNumber) -> KnownAs? {
        let past = asOf.instant.flatMap { $0 < self.clock(of: app) ? $0 : nil }
        return asOf.revision == 0 && past == nil ? nil : KnownAs(revision: asOf.revision, instant: past)
    }

    private func requireReadable(_ asOf: AsOf) throws(CallRefusal) {
        if let instant = asOf.instant, !Limits.readableMilliseconds.contains(instant.milliseconds) {
            throw CallRefusal(
                .fieldInvalid,
                "as_of.at_ms is \(instant.milliseconds), which is not from 1970 to 9999; ask for an instant in between",
                details: [
                    .field("as_of.at_ms"),
                    .found(instant.milliseconds),
                    StatusDetail(key: "expected", value: "0 to \(Limits.readableMilliseconds.upperBound)"),
                ])
        }
    }

    private mutating func askForTransactions(_ call: Int32, _ request: Request, of app: AppNumber) throws(CallRefusal) {
        func limit(_ size: UInt32) -> Int {
            let asked = size == 0 ? Limits.pageSizeDefault : Int(size)
            return request.includesJWS == true ? min(asked, Limits.signedPageSizeMax) : asked
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
            try self.requireOwn(page.origin, PageToken.name)
            guard page.query == self.queryDigest(query, account: account, of: app) else {
                throw CallRefusal(
                    .cursorMalformed, "the page token belongs to another list; send it with the request it came from")
            }
            query.after = TransactionQuery.Place(purchaseDate: page.purchaseDate, id: page.id)
        }
        self.ask(
            call, request, of: app,
            .transactions(Self.key(account, app), query))
    }

    func queryDigest(_ query: TransactionQuery, account: String, of app: AppNumber) -> Digest {
        ViewKey.products(
            ids: [
                account, query.productID ?? "", "\(query.unfinishedOnly) \(query.includesFinishedConsumables)",
            ], locale: "", storefront: ""
        ).lastingDigest(app: app, account: [])
    }

    // MARK: Reading a request

    /// The app that a request names, or the only one that the caller may use.
    mutating func app(_ reference: AppReference, ofCall call: Int32) throws(CallRefusal) -> AppNumber {
        // Without an authenticator every caller may use every app, and most servers have one.
        if !self.service.hasAuthenticator, let only = self.apps.only, only.fits(reference) { return only.number }
        let identity = self.identity(ofCall: call)
        func fits(_ app: AppName) -> Bool {
            (reference.bundleID.isEmpty || app.bundleID == reference.bundleID)
                && (reference.environment == .unspecified || app.environment == reference.environment)
        }
        // Decided by the name alone, so that the refusal does not reveal which other apps the server has.
        if case .apps(let apps) = identity.apps, !apps.contains(where: fits) {
            throw CallRefusal(
                .permissionDenied,
                "the credentials are for \(identity.apps), and the request is about another app; ask with credentials for that one",
                details: [StatusDetail(key: "needed", value: "app")])
        }
        // A guest is named in full.
        let named = self.apps.all.filter {
            identity.apps.includes($0.name) && fits($0.name) && (!$0.isGuest || $0.bundleID == reference.bundleID)
        }
        guard named.count < 2 else {
            throw CallRefusal(
                .appAmbiguous,
                reference.isBlank
                    ? "there are \(named.count) apps that the credentials are for; name one by bundle_id and environment"
                    : "\(named.count) apps of this server fit that name; name the bundle_id and the environment")
        }
        guard let app = named.first else { throw self.unknownApp(reference, identity.apps) }
        return app.number
    }
}

extension AppState {
    /// What identities name it by.
    var name: AppName { AppName(bundleID: self.bundleID, environment: self.environment) }

    /// Whether an app matches the request's reference.
    func fits(_ reference: AppReference) -> Bool {
        (reference.bundleID.isEmpty || self.bundleID == reference.bundleID)
            && (reference.environment == .unspecified || self.environment == reference.environment)
    }
}
