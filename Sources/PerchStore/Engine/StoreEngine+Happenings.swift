import PerchBase
import PerchModel

// What happened to an account: told by its facts, with who did it from the audit trail.
extension StoreEngine {
    /// Adds the newest happenings. None of an account with more facts than may be told again: each is looked at beside the others.
    func addHappenings(
        to history: inout AccountHistory, _ known: KnownAs?, withAuthors: Bool, wall: Instant
    ) throws(StorageError) {
        guard let record = history.record else { return }
        let revision = known.map(\.revision) ?? 0
        let most = min(self.factsPerReadMax, Limits.historyFactsMax)
        let facts = try self.storage.facts(
            of: record.account, after: 0, through: revision == 0 ? .max >> 1 : revision,
            limit: most + 1)
        guard facts.count <= most else {
            history.isCut = true
            return
        }
        let now = history.app.clock.now(wall: wall)
        var told = happenings(
            of: record.account, facts.lazy.map { HistoryFact(revision: $0.revision, fact: $0.fact) },
            app: history.app, at: min(now, known?.instant ?? now))
        history.isCut = told.count > Limits.historyEntriesMax
        told.removeFirst(max(0, told.count - Limits.historyEntriesMax))
        var authors: [UInt64: AuditEntry?] = [:]
        for place in told.indices {
            let revision = told[place].revision
            if withAuthors, revision != 0 {
                if authors[revision] == nil { authors[revision] = try self.audit(of: revision) }
                told[place].by = Self.author(of: told[place].what, in: authors[revision] ?? nil)
            }
            if case .wentTo = told[place].what {
                told[place].other = try self.receiver(of: told[place].transactionID, from: record.account, revision)
            }
        }
        history.happenings = []
        for each in told {
            if let known = try self.naming(each) { history.happenings.append(known) }
        }
    }

    private func audit(of revision: UInt64) throws(StorageError) -> AuditEntry? {
        try self.storage.item(AuditEntry.key(ofRevision: revision)).flatMap { AuditEntry($0) }
    }

    /// Who did something, as the audit trail says; empty where it has no line, where everybody may, and where the line is about something
    /// else: who lets a notification be read again did not do what it says, and a merger gives grants anew.
    private static func author(of what: Happening.What, in entry: AuditEntry?) -> String {
        guard let entry, entry.author != AuditEntry.everyone, !entry.method.hasSuffix("RetryDeadLetter")
        else { return "" }
        if case .granted = what, entry.method.hasSuffix("MergeAccounts") { return "" }
        return entry.author
    }

    /// The account that an original came to.
    private func receiver(
        of id: TransactionID, from account: AccountNumber, _ revision: UInt64
    ) throws(StorageError) -> AccountNumber? {
        for stored in try self.storage.facts(ofRevision: revision) {
            if case .gained(let original, account) = stored.fact.reported, original.id == id { return stored.account }
        }
        return nil
    }

    /// With the key of the other account. A purchase that nobody had claimed before came from no customer: then it is no move.
    private func naming(_ happening: Happening) throws(StorageError) -> Happening? {
        guard let other = happening.other else { return happening }
        var named = happening
        if let key = try self.storage.key(of: other) {
            named.otherKey = String(decoding: key, as: UTF8.self)
            return named
        }
        guard try self.record(other)?.reported?.isUnclaimed == true else { return named }
        if case .cameFrom = happening.what { return nil }
        named.other = nil
        return named
    }
}
