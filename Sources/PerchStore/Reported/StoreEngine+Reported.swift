import PerchBase
import PerchModel

/// A change of an App Store app while it is decided: accounts as its facts leave them, and what is written beside them.
struct ReportedWork {
    let app: AppState
    let now: Instant
    let revision: UInt64
    var outcome = ReportedOutcome()
    /// Accounts in the order in which they were touched, each with its facts.
    private(set) var touched: [AccountFacts] = []
    /// Records before the change.
    private(set) var before: [AccountNumber: AccountRecord] = [:]
    /// Records as the facts so far leave them.
    private(set) var after: [AccountNumber: AccountRecord] = [:]
    /// Keys that name another account from now on; nil: none.
    private(set) var names: [AccountKey: AccountNumber?] = [:]
    /// In the order in which they were written.
    private(set) var writtenNames: [AccountKey] = []
    var side = SideWrites()
    var nextAccount: AccountNumber
    /// The account beside which something was written, without a fact of its own.
    var noted: AccountNumber?
    /// The number of what the change made; nil for most.
    var made: UInt64?
    /// Why a claim was refused, although the reports are kept.
    var refusal: Refusal?

    /// The account that the change is about: of a move or a merger the one that gains.
    var gainer: AccountNumber? {
        self.noted ?? self.touched.first { !$0.loses }?.account
            ?? self.writtenNames.lazy.compactMap { self.names[$0] ?? nil }.first
    }

    init(app: AppState, now: Instant, header: StoreHeader) {
        self.app = app
        self.now = now
        self.revision = header.revision + 1
        self.nextAccount = header.nextAccount
    }

    mutating func show(_ record: AccountRecord) {
        self.before[record.account] = record
        self.after[record.account] = record
    }

    mutating func add(_ fact: Fact, to account: AccountNumber) {
        self.after[account]?.apply(fact)
        if let place = self.touched.firstIndex(where: { $0.account == account }) {
            self.touched[place].facts.append(fact)
        } else {
            self.touched.append(AccountFacts(account: account, facts: [fact]))
        }
    }

    mutating func name(_ key: AccountKey, _ account: AccountNumber?) {
        if self.names.updateValue(account, forKey: key) == nil { self.writtenNames.append(key) }
    }

    var isEmpty: Bool { self.touched.isEmpty && self.writtenNames.isEmpty && self.side == SideWrites() }
}

extension AccountFacts {
    fileprivate var loses: Bool {
        self.facts.contains { if case .lost = $0.reported { true } else { false } }
    }
}

// App Store apps: reports are folded into the account that owns their original. Several accounts change in one revision.
extension StoreEngine {
    /// Decides a change of an App Store app, and writes it.
    func decide(
        _ request: ReportedRequest, of mutation: Mutation, app: StoredAppState, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        if case .erase(let key) = request { return try self.erase(key, of: mutation, app: app.state, call, &batch) }
        let now = app.state.clock.now(wall: call.wall)
        var work = ReportedWork(app: app.state, now: now, header: batch.header)
        if let refusal = try self.carryOut(request, &work) { return .refused(refusal) }
        if mutation.isRehearsal {
            return .mutated(.reported(work.outcome), Position(revision: batch.header.revision, asOf: now))
        }
        try self.queueTokens(&work)
        try self.archive(&work)
        guard !work.isEmpty else {
            if let refusal = work.refusal { return .refused(refusal) }
            return try self.keep(
                .reported(work.outcome), of: mutation, Participants(app: app, wall: call.wall), call, batch.header)
        }
        var stored = self.nextChange(of: app.state.number, wall: call.wall, batch.header)
        stored.nextAccount = work.nextAccount
        for key in work.writtenNames {
            if let account = work.names[key] ?? nil {
                stored.aliases.append((key, account))
            } else {
                work.side.removedAliases.append(key)
            }
        }
        if work.side != SideWrites() { stored.side = work.side }
        // What an account loses is written before another gains it: rows of a purchase are those of its last owner.
        let facts = work.touched.filter(\.loses) + work.touched.filter { !$0.loses }
        let accounts = try self.fold(
            facts, into: &stored, known: Known(others: work.before), origin: mutation.origin, app: app.state)
        let answer = try self.write(
            &stored, accounts: accounts, answer: work.made.map { .number($0) } ?? .reported(work.outcome),
            of: mutation, asOf: now, about: work.gainer, keeps: work.refusal == nil, &batch)
        guard let refusal = work.refusal, case .mutated = answer else { return answer }
        return .refused(refusal)
    }

    /// Keeps or drops an item.
    func decideItem(
        _ request: ReportedRequest, of mutation: Mutation, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        var side = SideWrites()
        switch request {
        case .keep(let item, let limit):
            if try self.storage.item(item.key) == nil {
                let count = try self.storage.itemCount(item.key.kind, group: item.key.group)
                guard count < limit else {
                    return .refused(
                        Refusal(
                            .itemLimit, "\(count) of them are kept, the limit is \(limit); retry or drop some",
                            found: Int64(count), limit: Int64(limit)))
                }
            }
            side.items.append(item)
        case .drop(let key):
            guard try self.storage.item(key) != nil else {
                return .refused(Refusal(.itemUnknown, "there is no such dead letter; it may have been taken meanwhile"))
            }
            side.removedItems.append(key)
        case .reports, .attach, .detach, .attachEmail, .detachEmail, .claim, .merge, .note, .dropNote, .grant, .erase,
            .answer, .answered, .updated, .read:
            preconditionFailure("a change of an app")
        }
        var stored = self.nextChange(of: 0, wall: call.wall, batch.header)
        stored.side = side
        return try self.write(
            &stored, answer: .reported(ReportedOutcome()), of: mutation, asOf: call.wall, keeps: false, &batch)
    }

    /// Notes who had what changes its account, by a key that callers use. An unclaimed account has none.
    private func note(previous owner: AccountNumber?, _ work: inout ReportedWork) throws(StorageError) {
        if let owner { work.outcome.previousKey = try self.storage.key(of: owner) ?? [] }
    }

    private func carryOut(_ request: ReportedRequest, _ work: inout ReportedWork) throws(StorageError) -> Refusal? {
        switch request {
        case .keep, .drop: preconditionFailure("an item is of the store itself")
        case .erase: preconditionFailure("an account is erased by a change of its own")
        case .reports(let reports, let source, let claimant, let names, let notice, let item):
            try self.fold(reports, source, claimant, &work)
            if let claimant, !names.isEmpty {
                let account = try self.open(claimant, &work)
                for name in names { try self.attach(name, to: account, &work) }
            }
            if let notice { try self.note(notice, about: reports, &work) }
            if let kept = notice?.kept { try self.keep(kept, &work) }
            if let item, try self.storage.item(item) != nil { work.side.removedItems.append(item) }
        case .attach(let alias, let key):
            let owner = try self.named(alias, work)
            let account = try self.open(key, &work)
            try self.note(previous: owner == account ? nil : owner, &work)
            return try self.attach(alias, to: account, &work)
        case .detach(let alias):
            guard let account = try self.account(.attached(alias, app: work.app.number), work) else {
                return Refusal(.accountUnknown, "no account has this alias")
            }
            try self.note(previous: account, &work)
            work.name(.attached(alias, app: work.app.number), nil)
            _ = try self.record(account, &work)
            work.add(Fact(.reported(.unnamed(alias)), effective: work.now), to: account)
            try self.resolve(linkedWith: alias, &work)
        case .attachEmail(let hash, let key):
            let name = AccountKey.email(hash, app: work.app.number)
            let owner = try self.account(name, work)
            let account = try self.open(key, &work)
            try self.note(previous: owner == account ? nil : owner, &work)
            try self.attach(name, to: account, &work)
        case .detachEmail(let hash):
            let name = AccountKey.email(hash, app: work.app.number)
            guard let account = try self.account(name, work) else {
                return Refusal(.accountUnknown, "no account has this e-mail address")
            }
            try self.note(previous: account, &work)
            work.name(name, nil)
            work.noted = account
        case .note(let text, let author, let key):
            return try self.note(text, by: author, on: key, &work)
        case .dropNote(let id, let key):
            return try self.dropNote(id, of: key, &work)
        case .claim(let id, let key):
            guard let owner = try self.account(.original(id, app: work.app.number), work) else {
                return Refusal(
                    .transactionUnknown,
                    "no report named the original transaction \(id); submit one of its transactions first")
            }
            let account = try self.open(key, &work)
            try self.note(previous: owner == account ? nil : owner, &work)
            try self.claim(id, for: account, &work)
        case .merge(let key, let other):
            return try self.merge(key, into: other, &work)
        case .grant(let grant, let key):
            return try self.grant(grant, to: key, &work)
        case .answer(let id, let answer):
            return try self.answer(id, with: answer, &work)
        case .answered(let id, let answer, let message):
            return try self.note(id, took: answer, refusing: message, &work)
        case .updated(let update, let message):
            try self.note(update, refusing: message, &work)
        case .read(let history, let originals):
            return try self.note(history, of: originals, &work)
        }
        return nil
    }
}
