import PerchBase
import PerchModel

// What happened to an account: told by its facts, with who did it from the audit trail.
extension StoreEngine {
    /// Adds the newest happenings. None of an account with more facts than a read may go through.
    func addHappenings(
        to history: inout AccountHistory, _ known: KnownAs?, wall: Instant
    ) throws(StorageError) {
        guard let record = history.record else { return }
        let revision = known.map(\.revision) ?? 0
        let facts = try self.storage.facts(
            of: record.account, after: 0, through: revision == 0 ? .max >> 1 : revision,
            limit: self.factsPerReadMax + 1)
        guard facts.count <= self.factsPerReadMax else {
            history.isCut = true
            return
        }
        let now = history.app.clock.now(wall: wall)
        var told = happenings(
            of: record.account, facts.lazy.map { HistoryFact(revision: $0.revision, fact: $0.fact) },
            app: history.app, at: min(now, known?.instant ?? now))
        history.isCut = told.count > Limits.historyEntriesMax
        told.removeFirst(max(0, told.count - Limits.historyEntriesMax))
        var authors: [UInt64: String] = [:]
        for place in told.indices {
            let revision = told[place].revision
            if revision != 0 {
                if authors[revision] == nil { authors[revision] = try self.author(of: revision) }
                told[place].by = authors[revision] ?? ""
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

    /// Who changed something, as the audit trail says; empty where it has no line, or where everybody may.
    private func author(of revision: UInt64) throws(StorageError) -> String {
        let item = try self.storage.item(AuditEntry.key(ofRevision: revision))
        let author = item.flatMap { AuditEntry($0) }?.author ?? ""
        return author == AuditEntry.everyone ? "" : author
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
