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
        let state = self.state(of: app)
        guard !state.isTestApp else {
            throw CallRefusal(
                .notToldApp,
                "\(state.bundleID) is a test app, whose purchases stay with the account that made them; use its sandbox or production app"
            )
        }
        self.ask(call, request, of: app, .mutate(.told(change, app: app)))
    }

    /// Grants of named entitlements: facts of any account, in every environment.
    mutating func grant(_ request: Request, of app: AppNumber) throws(CallRefusal) -> Mutation {
        switch request {
        case .grantEntitlement(let asked):
            let key = Self.key(asked.account, app)
            let (name, until, reason) = (asked.name, asked.until, asked.reason)
            let mutation = Mutation(.account(key, opens: true), needsTestApp: false) { view throws(Refusal) in
                let record = view.accountRecord
                let grant = EntitlementGrant(name: name, until: until, reason: reason, since: view.now)
                if let until, until <= view.now {
                    throw Refusal(
                        .fieldInvalid,
                        "until_ms is \(until), which is not in the future; the app's clock is at \(view.now)",
                        field: "until_ms", found: until.milliseconds)
                }
                let others = record.grants.count { $0.name != name }
                guard others < Limits.grantsMax else {
                    throw Refusal(
                        .recordLimit, "the account has \(others) grants, the limit is \(Limits.grantsMax); revoke some",
                        found: Int64(others), limit: Int64(Limits.grantsMax))
                }
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

extension MoveAnswer {
    init(_ outcome: ToldOutcome, at position: Position) {
        self.init(position: position, movedCount: outcome.moved)
    }
}
