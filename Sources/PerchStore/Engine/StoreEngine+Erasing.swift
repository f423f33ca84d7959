import PerchBase
import PerchModel

// Erasing an account: everything that is known of it leaves the store. Its revisions stay, without its facts, so that cursors
// and positions of others stay valid.
extension StoreEngine {
    /// Erases the account of a key, in one revision. Answers the number of facts that went.
    ///
    /// An account goes too if all its purchases came to this one and no key leads to it any more. An anonymous customer who has
    /// signed in leaves such an account, and so does one whose first purchases were not claimed at once.
    func erase(
        _ key: AccountKey, of mutation: Mutation, app: AppState, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        guard let account = try self.account(of: key) else {
            return .refused(Refusal(.accountUnknown, "there is no such account; it may have been erased already"))
        }
        var erased: [ErasedAccount] = []
        try self.read(account, app, into: &erased)
        if app.isTestApp, let refusal = try self.refusalOfSharing(erased) { return .refused(refusal) }
        let now = app.clock.now(wall: call.wall)
        var stored = self.nextChange(of: app.number, wall: call.wall, batch.header)
        var side = SideWrites()
        var erasure = Erasure(erased.map(\.record.account))
        try self.collect(erased, app, &erasure, &side)
        side.erasure = erasure
        stored.side = side
        for account in erasure.accounts {
            let keys = try self.storage.names(of: account).filter { !$0.isInternal }
            stored.erasedKeys += keys.map { ($0, account) }
        }
        let records = Dictionary(uniqueKeysWithValues: erased.map { ($0.record.account, $0.record) })
        let facts = erased.map {
            AccountFacts(account: $0.record.account, facts: [Fact(.reported(.erased), effective: now)])
        }
        let accounts = try self.fold(
            facts, into: &stored, known: Known(others: records), origin: mutation.origin, app: app)
        self.remember(erasedBy: stored, isOwn: true)
        return try self.write(
            &stored, accounts: accounts, answer: .number(UInt64(erased.reduce(0) { $0 + $1.facts.count })),
            of: mutation, asOf: now, keeps: false, &batch)
    }

    /// Remembers the keys of accounts that a change of any node erases. A copy that goes past an erasure and does not find it here begins
    /// again.
    func remember(erasedBy change: StoredChange, isOwn: Bool = false) {
        for stored in change.facts where stored.fact.reported == .erased {
            self.appChanges.pastRecords.remove(stored.account)
        }
        self.appChanges.erasedKeys.add(erasedBy: change, isOwn: isOwn)
    }

    private struct ErasedAccount {
        var record: AccountRecord
        var facts: [DatedFact]
    }

    /// An account with its facts, then those whose purchases came to it and that nobody can name any more.
    private func read(
        _ account: AccountNumber, _ app: AppState, into erased: inout [ErasedAccount]
    ) throws(StorageError) {
        guard let record = try self.record(account) else { preconditionFailure("account \(account) has no record") }
        let facts = try self.storage.facts(of: account, after: 0, through: .max >> 1, limit: .max)
        erased.append(ErasedAccount(record: record, facts: facts))
        for dated in facts {
            guard case .gained(_, let source) = dated.fact.reported,
                !erased.contains(where: { $0.record.account == source }),
                try self.storage.key(of: source) == nil, let left = try self.record(source),
                left.reported?.originals.isEmpty ?? true
            else { continue }
            try self.read(source, app, into: &erased)
        }
    }

    /// A member's copies follow the purchaser's record.
    private func refusalOfSharing(_ erased: [ErasedAccount]) throws(StorageError) -> Refusal? {
        for old in erased {
            let owns = old.record.shares.isEmpty
            let rows = try self.storage.transactions(of: old.record.account, TransactionQuery(limit: .max))
            guard !owns || rows.contains(where: { $0.transaction.ownership == .familyShared }) else { continue }
            return Refusal(
                .accountShares,
                "the account shares purchases with family members; end the sharing first: `perch store stop-sharing`")
        }
        return nil
    }

    /// What is written beside facts and records about the accounts.
    private func collect(
        _ erased: [ErasedAccount], _ app: AppState, _ erasure: inout Erasure, _ side: inout SideWrites
    ) throws(StorageError) {
        let gone = Set(erasure.accounts)
        var revisions: Set<UInt64> = []
        var originals: [ReportedOriginal] = []
        for old in erased {
            side.removedAliases += try self.storage.names(of: old.record.account)
            for dated in old.facts { revisions.insert(dated.revision) }
            let notes = ItemKey.noteGroup(of: old.record.account, app: app.number)
            side.removedItems += try self.allItems(.note, group: notes).map(\.key)
            let archived = try self.archivedOriginals(of: old.record.account, app.number)
            side.removedItems += archived.map { .archived($0.id, of: old.record.account, app: app.number) }
            for original in (old.record.reported?.originals ?? []) + archived {
                for alias in original.links.aliases.keys.sorted() {
                    side.removedItems.append(.link(alias, app: app.number, original: original.id))
                }
                for order in original.orders.sorted() {
                    side.removedItems.append(.order(order, app: app.number, original: original.id))
                }
                let group = ItemKey.seenGroup(original.id, app: app.number)
                side.removedItems += try self.allItems(.seenReport, group: group).map(\.key)
                side.items.append(StoredItem(.erased(original.id, app: app.number), []))
                originals.append(original)
            }
        }
        var instants: Set<Instant> = []
        for revision in revisions.sorted() {
            guard let row = try self.storage.commitRows(after: revision - 1, limit: 1)?.first, row.revision == revision
            else { continue }
            instants.insert(row.committed)
            guard let detail = row.detail, detail.aliases.contains(where: { gone.contains($0.account) }) else {
                continue
            }
            erasure.commits.append(CommitDetailEdit(revision: revision, detail: detail.without(gone)))
        }
        // An answer is kept in the revision of its change, at the instant of its commit.
        for instant in instants.sorted() {
            for kept in try self.storage.answers(keptAt: instant)
            where revisions.contains(kept.answer.position.revision) && kept.key.app == app.number {
                erasure.answers.append(kept.key)
            }
        }
        side.removedItems += Self.appStoreItems(of: originals, app.number)
        // Dead letters and notifications say of themselves whom they are about.
        let about = Self.named(by: originals)
        for group in [DeadLetter.known, DeadLetter.strange] where !about.isEmpty {
            for item in try self.allItems(.deadLetter, group: group) {
                guard let letter = DeadLetter(item), !about.isDisjoint(with: letter.about) else { continue }
                side.removedItems.append(item.key)
            }
        }
        guard !about.isEmpty else { return }
        for item in try self.allItems(.notification, group: KeptNotification.group) {
            guard let kept = KeptNotification(item, withJWS: false), !about.isDisjoint(with: kept.about) else {
                continue
            }
            side.removedItems.append(item.key)
        }
    }

    /// Where the questions of the App Store about purchases and the updates for it would be. An app's whole list of them may be long, so
    /// it is not read.
    private static func appStoreItems(of originals: [ReportedOriginal], _ app: AppNumber) -> [ItemKey] {
        let ids = Set(originals.map(\.id))
        let transactions = Set(originals.flatMap { $0.registers.values.flatMap(\.ids) }).union(ids).sorted()
        return ids.sorted().map { AppStoreUpdate.tokenKey($0, app: app) }
            + transactions.flatMap { [AppStoreUpdate.finishKey($0, app: app), ConsumptionCase.key($0, app: app)] }
    }

    /// Originals and names of customers, as dead letters have them.
    private static func named(by originals: [ReportedOriginal]) -> Set<String> {
        var names: Set<String> = []
        for original in originals {
            names.insert(DeadLetter.about(original: original.id))
            for alias in original.links.aliases.keys { names.insert(DeadLetter.about(alias)) }
        }
        return names
    }

    func allItems(_ kind: ItemKind, group: [UInt8]) throws(StorageError) -> [StoredItem] {
        var items: [StoredItem] = []
        while true {
            let page = try self.listItems(
                kind, group: group, after: items.last?.key.key ?? [], limit: Limits.pageSizeMax)
            items += page
            if page.count < Limits.pageSizeMax { return items }
        }
    }

    func listItems(
        _ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int
    ) throws(StorageError) -> [StoredItem] {
        let items = try self.storage.items(kind, group: group, after: key, limit: limit)
        self.counters.itemsListed += UInt64(items.count)
        return items
    }
}
