import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Accounts of customers, for administrators: whose a transaction is, and whose it is to be.
extension LoopCore {
    mutating func administer(_ call: Int32, _ request: Request, of app: AppNumber) throws(CallRefusal) {
        func key(_ name: String) -> AccountKey { AccountKey(app: app, bytes: Array(name.utf8)) }
        let change: ToldRequest
        switch request {
        case .findAccount(let asked):
            let sought: AccountSought =
                asked.transactionID > 0
                ? .transaction(asked.transactionID)
                : .alias(Self.alias(token: asked.appAccountToken, id: asked.appTransactionID))
            return self.ask(call, request, of: app, .find(app, sought))
        case .exportAccount(let asked):
            return self.ask(call, request, of: app, .export(key(asked.account), Self.exportedTransactions))
        case .eraseAccount(let asked):
            return self.ask(call, request, of: app, .mutate(.told(.erase(key(asked.account)), app: app)))
        case .attachAlias(let asked):
            change = .attach(
                Self.alias(token: asked.appAccountToken, id: asked.appTransactionID), to: key(asked.account))
        case .detachAlias(let asked):
            change = .detach(Self.alias(token: asked.appAccountToken, id: asked.appTransactionID))
        case .moveTransaction(let asked):
            change = .claim(asked.originalTransactionID, for: key(asked.account))
        case .mergeAccounts(let asked):
            change = .merge(key(asked.account), into: key(asked.intoAccount))
        default:
            preconditionFailure("\(request.method) administers no account")
        }
        try self.requireToldApp(app)
        self.ask(call, request, of: app, .mutate(.told(change, app: app)))
    }

    func requireToldApp(_ app: AppNumber) throws(CallRefusal) {
        let state = self.state(of: app)
        guard state.isTestApp else { return }
        throw CallRefusal(
            .notToldApp,
            "\(state.bundleID) is a test app, whose purchases stay with the account that made them; use its sandbox or production app"
        )
    }

    /// The purchases of some accounts that need somebody. An account with several keys is listed under the first of them on a page.
    func unclaimed(
        _ accounts: [(key: [UInt8], record: AccountRecord)], hasMore: Bool, app number: AppNumber
    ) -> UnclaimedPage {
        guard let app = self.apps[number] else { preconditionFailure("a call of an app that is gone") }
        let now = self.clock(of: number)
        var page = UnclaimedPage()
        var seen: Set<AccountNumber> = []
        for (key, record) in accounts where seen.insert(record.account).inserted {
            guard let told = record.told else { continue }
            let name = told.isUnclaimed ? "" : String(decoding: key, as: UTF8.self)
            page.purchases += told.originals.compactMap { original in
                UnclaimedPurchase(
                    original, account: name, isUnclaimed: told.isUnclaimed,
                    leewayMilliseconds: app.renewalLeewayMilliseconds ?? 0, at: now)
            }
        }
        if hasMore, let last = accounts.last {
            page.nextPageToken = AccountPageToken(origin: self.origin, app: number, key: last.key).bytes
        }
        return page
    }

    /// Grants of named entitlements: facts of any account, in every environment.
    mutating func grant(_ request: Request, of app: AppNumber) throws(CallRefusal) -> Mutation {
        switch request {
        case .grantEntitlement(let asked):
            let key = Self.key(asked.account, app)
            let (name, until, reason) = (asked.name, asked.until, asked.reason)
            let asIs = EntitlementGrant(
                name: name, until: until, reason: reason, since: self.clock(of: app), tier: asked.tier)
            if !self.state(of: app).isTestApp {
                return self.keyed(asked.idempotencyKey, .told(.grant(asIs, to: key), app: app), request)
            }
            let mutation = Mutation(.account(key, opens: true), needsTestApp: false) { view throws(Refusal) in
                let record = view.accountRecord
                var grant = asIs
                grant.since = view.now
                if let refusal = grant.refusal(beside: record.grants, app: view.app, at: view.now) { throw refusal }
                let fact = Fact(.told(.granted(grant)), effective: view.now, source: .grant, stamp: view.wall)
                return .commit([AccountFacts(account: record.account, facts: [fact])], answer: .none)
            }
            return self.keyed(asked.idempotencyKey, mutation, request)
        case .revokeGrant(let asked):
            let key = Self.key(asked.account, app)
            let name = asked.name
            return Mutation(.account(key, opens: false), needsTestApp: false) { view throws(Refusal) in
                let record = view.accountRecord
                guard record.grants.contains(where: { $0.name == name }) else { return .unchanged(answer: .none) }
                let fact = Fact(.told(.grantEnded(name: name)), effective: view.now, source: .grant, stamp: view.wall)
                return .commit([AccountFacts(account: record.account, facts: [fact])], answer: .none)
            }
        default:
            preconditionFailure("\(request.method) grants nothing")
        }
    }

    private static func alias(token: String, id: String) -> AccountAlias {
        token.isEmpty ? .appTransactionID(id) : .appAccountToken(WrittenAccountToken(token).text)
    }

    /// As ListTransactions asks for all of them, so that it takes the page token.
    private static let exportedTransactions = {
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.includesFinishedConsumables = true
        return query
    }()

    mutating func finishExport(_ call: Int32, _ pending: PendingCall, _ account: ExportedAccount?) {
        guard let account, let app = self.apps[pending.app] else {
            return self.end(call, WireStatus(.accountUnknown, "there is no such account; it may have been erased"))
        }
        var export = AccountExport(keys: account.keys.map { String(decoding: $0, as: UTF8.self) })
        for alias in account.aliases {
            switch alias {
            case .appAccountToken(let token): export.appAccountTokens.append(token)
            case .appTransactionID(let id): export.appTransactionIDs.append(id)
            }
        }
        export.inspection = self.inspection(of: account.record, app, at: self.clock(of: pending.app))
        export.transactions = account.rows.map { self.verified($0.transaction, pending.app) }
        if account.hasMore {
            export.nextPageToken = self.pageToken(after: account.rows, of: Self.exportedTransactions, pending)
        }
        export.grants = account.record.grants
        self.answer(call, .exportAccount(export))
    }

    mutating func finishFinding(_ call: Int32, _ pending: PendingCall, _ found: FoundAccount?) {
        guard let found else {
            return self.end(
                call, WireStatus(.accountUnknown, "no account has it; no report named it, or another app's did"))
        }
        self.answer(
            call,
            .findAccount(
                AccountFound(
                    account: String(decoding: found.key, as: UTF8.self), isUnclaimed: found.isUnclaimed,
                    originalTransactionIDs: found.record.told?.originals.map { String($0.id) } ?? [])))
    }
}

extension UnclaimedPurchase {
    /// Nil: it needs nobody.
    fileprivate init?(
        _ original: ToldOriginal, account: String, isUnclaimed: Bool, leewayMilliseconds leeway: Int64, at now: Instant
    ) {
        let standing = original.isSubscription ? original.standing(at: now, leewayMilliseconds: leeway) : nil
        let isOverdue = standing?.isOverdue ?? false
        guard isUnclaimed || isOverdue else { return nil }
        let latest = standing?.transaction ?? original.periods.last?.transaction
        self.init(
            originalTransactionID: String(original.id),
            productID: latest?.productID ?? original.renewal?.info.currentProductID ?? "", account: account,
            isUnclaimed: isUnclaimed, isOverdue: isOverdue, end: latest?.expirationDate,
            state: standing?.state ?? .unspecified)
        if original.originalPurchaseDate < .distantFuture { self.originalPurchaseDate = original.originalPurchaseDate }
        for alias in original.links.newestFirst {
            switch alias {
            case .appAccountToken(let token): self.appAccountTokens.append(token)
            case .appTransactionID(let id): self.appTransactionIDs.append(id)
            }
        }
    }
}

extension MoveAnswer {
    init(_ outcome: ToldOutcome, at position: Position) {
        self.init(position: position, movedCount: outcome.moved)
    }
}
