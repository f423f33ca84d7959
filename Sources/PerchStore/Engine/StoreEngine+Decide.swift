import PerchBase
import PerchModel

/// A call whose mutation is decided: whom to answer, and the wall clock.
struct Call {
    var loop: Int
    var ticket: UInt64
    var wall: Instant
}

/// The inputs of a decision.
struct Participants {
    var app: StoredAppState
    /// The app's clock.
    var now: Instant
    /// The subject's record; nil for an app.
    var record: AccountRecord?
    /// The transaction that the subject was named by.
    var row: TransactionRow?
    /// The record of the mutation's other account.
    var member: AccountRecord?
    /// Accounts that this mutation opens.
    var opened: [(key: AccountKey, record: AccountRecord)] = []

    init(app: StoredAppState, wall: Instant) {
        self.app = app
        self.now = app.state.clock.now(wall: wall)
    }
}

// Deciding: from a mutation to facts, through storage's reads.
extension StoreEngine {
    /// Decides one mutation and writes the result. Nil: it waits, and is answered later.
    func decide(
        _ mutation: Mutation, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer? {
        if let reported = mutation.reported, reported.isOfStore {
            return try self.decideItem(reported, of: mutation, call, &batch)
        }
        if let opening = mutation.opening { return try self.open(opening, of: mutation, call, &batch) }
        guard let app = batch.apps[mutation.app] else {
            return .refused(Refusal(.appUnknown, "this store has no app with number \(mutation.app)"))
        }
        if mutation.needsTestApp, !app.state.isTestApp { return .refused(Self.noTestApp(app.state)) }
        if !mutation.key.isEmpty {
            let key = MutationKey(app: mutation.app, bytes: mutation.key)
            if let answer = try self.keptAnswer(to: key, mutation.keyDigest, call, &batch) { return answer }
        }
        if let reported = mutation.reported { return try self.decide(reported, of: mutation, app: app, call, &batch) }
        var people = Participants(app: app, wall: call.wall)
        switch try self.find(&people, of: mutation, call, &batch) {
        case .complete:
            return try self.decide(mutation, people, call, &batch)
        case .refused(let refusal):
            return try self.keep(refusal, of: mutation, people, call, batch.header)
        case .behind:
            batch.deferred.append(StoreRequest(loop: call.loop, ticket: call.ticket, .mutate(mutation)))
            return nil
        }
    }

    private static func noTestApp(_ app: AppState) -> Refusal {
        Refusal(
            .notATestApp,
            "\(app.bundleID) is an app of the \(app.environment) store, which alone makes its transactions; use an xcode app to rehearse"
        )
    }

    /// The answer that a mutation's key was given before; nil for a new key.
    func keptAnswer(
        to key: MutationKey, _ digest: Digest, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer? {
        // Exact, although old answers are deleted only once an hour.
        let keptSince = call.wall.advanced(byMilliseconds: -self.limits.answersKeptMilliseconds)
        guard let kept = try self.storage.answer(to: key), kept.kept >= keptSince else { return nil }
        guard kept.digest == digest else {
            return .refused(
                Refusal(
                    .keyReused,
                    "this idempotency key was used for another request not long ago; make a new key for each request"
                ))
        }
        batch.replays += 1
        if let refusal = kept.refusal { return .refused(refusal) }
        return .mutated(kept.result, kept.position)
    }

    // MARK: Participants

    private enum Search {
        case complete
        case refused(Refusal)
        /// An account has too many renewals to attempt in this batch.
        case behind
    }

    private static let accountUnknown = Refusal(.accountUnknown, "there is no such account; a purchase opens one")

    /// Finds the subject and the other account, with their due renewals settled: a decision sees every line with its
    /// attempts recorded.
    private func find(
        _ people: inout Participants, of mutation: Mutation, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> Search {
        let app = people.app.state
        if let refusal = try self.findSubject(&people, of: mutation, batch.header) { return .refused(refusal) }
        if let current = people.record {
            guard let settled = try self.settle(current, app: app, through: people.now, wall: call.wall, &batch)
            else { return .behind }
            people.record = settled
            if let id = people.row?.transaction.id { people.row = try self.storage.transaction(app.number, id) }
        }
        guard let key = mutation.other else { return .complete }
        if let account = try self.account(of: key), let found = try self.record(account) {
            guard let settled = try self.settle(found, app: app, through: people.now, wall: call.wall, &batch)
            else { return .behind }
            people.member = settled
            // Settling one account's renewals may have written to the other's shared lines.
            if let current = people.record, people.opened.isEmpty {
                people.record = try self.record(current.account)
            }
        } else if mutation.opensOther {
            let fresh = self.freshRecord(app: app.number, opened: people.opened.count, batch.header)
            people.member = fresh
            people.opened.append((key, fresh))
        } else {
            return .refused(
                Refusal(.accountUnknown, "there is no such account to share with; sharing with it opens one"))
        }
        return .complete
    }

    /// Finds the subject, or returns the reason of its absence.
    private func findSubject(
        _ people: inout Participants, of mutation: Mutation, _ header: StoreHeader
    ) throws(StorageError) -> Refusal? {
        let app = people.app.state.number
        switch mutation.subject {
        case .app:
            return nil
        case .account(let key, let opens):
            if let account = try self.account(of: key) {
                people.record = try self.record(account)
                return nil
            }
            guard opens else { return Self.accountUnknown }
            let fresh = self.freshRecord(app: app, opened: 0, header)
            people.record = fresh
            people.opened.append((key, fresh))
            return nil
        case .owner(_, let id):
            return try self.findOwner(&people, of: id)
        case .transaction(let key, let id):
            guard let account = try self.account(of: key) else { return Self.accountUnknown }
            return try self.findOwner(&people, of: id, isOnly: account)
        }
    }

    /// `isOnly`: the one account that may own the transaction.
    private func findOwner(
        _ people: inout Participants, of id: TransactionID, isOnly account: AccountNumber? = nil
    ) throws(StorageError) -> Refusal? {
        let app = people.app.state.number
        if let row = try self.storage.transaction(app, id), account == nil || row.account == account,
            let owner = try self.record(row.account), owner.app == app
        {
            people.row = row
            people.record = owner
            return nil
        }
        return Refusal(
            .transactionUnknown, "there is no transaction \(id) here; `perch get history` lists what there is")
    }

    /// An empty record for an account that is being opened. `count`: accounts that this mutation has opened already.
    func freshRecord(app: AppNumber, opened count: Int, _ header: StoreHeader) -> AccountRecord {
        let number = header.nextAccount + AccountNumber(count)
        var fresh = AccountRecord(account: number, app: app)
        fresh.appTransactionID = String(7_000_000_000_000 + number)
        return fresh
    }

    // MARK: Rounds

    /// Runs the decision until it has all the rows it needs, then writes the result.
    private func decide(
        _ mutation: Mutation, _ people: Participants, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer? {
        var fetched: [TransactionRow] = []
        var answers: [RowNeed: [Transaction]] = [:]
        var rows: [Transaction] = []
        var redemptions: [OfferCodeName: UInt64] = [:]
        for _ in 0..<Limits.decisionRoundsMax {
            var view = DecisionView(
                app: people.app, now: people.now, wall: call.wall, record: people.record, transaction: people.row,
                fetched: fetched, member: people.member,
                numbers: TransactionNumbers(next: batch.header.nextTransaction))
            view.answers = answers
            view.rows = rows
            view.redemptions = redemptions
            let decision: Decision
            do throws(Refusal) {
                decision = try mutation.decide(&view)
            } catch {
                return try self.keep(error, of: mutation, people, call, batch.header)
            }
            switch decision {
            case .need(let query):
                fetched = try self.storage.transactions(of: Self.account(of: people), query)
            case .needRows(.redemptions(let name)):
                redemptions[name] = try self.redemptions(of: name, people.app.state.number)
            case .needRows(let need):
                let found = try self.rows(need, of: Self.account(of: people), people.app.state.number)
                answers[need] = found
                rows.append(contentsOf: found)
            case .unchanged(let answer):
                let answer = Self.signed(answer, people.app.state)
                return try self.keep(answer, of: mutation, people, call, batch.header)
            case .commit(let accountFacts, let answer):
                return try self.apply(
                    accountFacts, answer: Self.signed(answer, people.app.state), of: mutation, people,
                    numbers: view.numbers, call, &batch)
            case .commitApp(let appChange, let answer):
                if let refusal = try self.refusalOfAdvance(appChange, app: people.app.state, wall: call.wall) {
                    return try self.keep(refusal, of: mutation, people, call, batch.header)
                }
                return try self.apply(appChange, answer: answer, of: mutation, people, call, &batch)
            }
        }
        preconditionFailure("a decision asked for more \(Limits.decisionRoundsMax) times")
    }

    /// The answer with the failure that is armed for the app's signatures. It is kept with the mutation's key, so a repeated call
    /// gets the same one.
    private static func signed(_ answer: MutationResult, _ app: AppState) -> MutationResult {
        let failure = simulatedVerification(app)
        guard failure != .noFailure, case .transaction(let transaction, let wasHeld, _) = answer else { return answer }
        return .transaction(transaction, wasHeld: wasHeld, failure: failure)
    }

    private static func account(of people: Participants) -> AccountNumber {
        guard let record = people.record else { preconditionFailure("a decision about an app asked for transactions") }
        return record.account
    }

    /// Keeps an answer that changed nothing, and so has no revision: repeated later, the call might change something.
    func keep(
        _ answer: MutationResult, of mutation: Mutation, _ people: Participants, _ call: Call,
        _ header: StoreHeader
    ) throws(StorageError) -> StoreAnswer {
        let position = Position(revision: header.revision, asOf: people.now)
        if !mutation.key.isEmpty {
            let kept = KeptAnswer(digest: mutation.keyDigest, result: answer, position: position, kept: call.wall)
            try self.storage.keep(kept, for: MutationKey(app: mutation.app, bytes: mutation.key))
        }
        return .mutated(answer, position)
    }

    /// Keeps a final refusal where another node may still have an earlier attempt under its key.
    private func keep(
        _ refusal: Refusal, of mutation: Mutation, _ people: Participants, _ call: Call, _ header: StoreHeader
    ) throws(StorageError) -> StoreAnswer {
        if !mutation.key.isEmpty, refusal.reason.isFinal, self.storage.keepsRefusals {
            let kept = KeptAnswer(
                digest: mutation.keyDigest, result: .none, refusal: refusal,
                position: Position(revision: header.revision, asOf: people.now), kept: call.wall)
            try self.storage.keep(kept, for: MutationKey(app: mutation.app, bytes: mutation.key))
        }
        return .refused(refusal)
    }

    /// Reads the rows that a decision needs.
    func rows(_ need: RowNeed, of account: AccountNumber, _ app: AppNumber) throws(StorageError) -> [Transaction] {
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.isNewestFirst = true
        query.includesFinishedConsumables = true
        switch need {
        case .transaction(let id):
            guard let row = try self.storage.transaction(app, id), row.account == account else { return [] }
            return [row.transaction]
        case .product(let id):
            query.productID = id
            return try self.storage.transactions(of: account, query).map(\.transaction)
        case .all:
            return try self.storage.transactions(of: account, query).map(\.transaction)
        case .redemptions:
            preconditionFailure("redemptions of a code are no rows")
        case .newest(let kind):
            // Page by page: an account may have any number of rows, and the newest match is usually near.
            query.productID = kind.productID
            query.limit = Limits.rowsPerLook
            while true {
                let page = try self.storage.transactions(of: account, query)
                if let row = page.first(where: { kind.includes($0.transaction) }) { return [row.transaction] }
                guard page.count == query.limit, let last = page.last else { return [] }
                query.after = TransactionQuery.Place(
                    purchaseDate: last.transaction.purchaseDate, id: last.transaction.id)
            }
        }
    }
}
