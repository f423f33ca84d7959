import PerchBase
import PerchModel

// Family sharing: what a change of a purchaser means for the members.
extension StoreEngine {
    /// Facts of accounts, and after them what they come to for the members of their families, in the same revision.
    ///
    /// The one place where sharing spreads: no decision has to think of it. An account that shares nothing costs a look
    /// at an empty list.
    func withFamily(
        _ accountFacts: [AccountFacts], known: Known, app: AppState, now: Instant, numbers: inout TransactionNumbers,
        _ header: StoreHeader
    ) throws(StorageError) -> [AccountFacts] {
        if let subject = known.subject, accountFacts.count == 1, accountFacts[0].account == subject.account,
            familyShares(of: subject, after: accountFacts[0].facts).isEmpty
        {
            // As nearly all do: nothing to go through again.
            return accountFacts
        }
        var result = accountFacts
        for entry in accountFacts {
            let before = try self.record(entry.account, known)
            for share in familyShares(of: before, after: entry.facts) {
                var member = try self.record(share.member, known)
                let index = result.firstIndex { $0.account == share.member }
                if let index { for fact in result[index].facts { member.apply(fact) } }
                let isDated = entry.facts.contains { $0.effective < now }
                let mirrored = mirroredFacts(
                    of: entry.facts, purchaser: before, share: share,
                    began: isDated ? try self.began(share, of: entry.account, header) : .distantPast,
                    copiesBegan: try self.copiesBegan(share, member, before: entry.facts), member: member, app: app,
                    numbers: &numbers)
                let facts = try self.withoutDeleted(mirrored, app.number)
                if facts.isEmpty { continue }
                if let index {
                    result[index].facts += facts
                } else {
                    result.append(AccountFacts(account: share.member, facts: facts))
                }
            }
        }
        return result
    }

    /// When an account began to share. Only what a test store bought into the past has to know; where it is too long ago
    /// to be looked for, nothing that is read about the past goes back to it either.
    func began(
        _ share: FamilyShare, of account: AccountNumber, _ header: StoreHeader
    ) throws(StorageError) -> Instant {
        let facts = try self.storage.facts(of: account, through: header.revision, limit: self.factsPerReadMax)
        return facts.last { $0.fact.body == .sharingBegan(share) }?.fact.effective ?? .distantPast
    }

    /// When the copies of what is shared began that a member still has of a line, where a period is to begin and his record
    /// has the line no longer: a tester took out all but what an upgrade had left behind, and only the rows know.
    func copiesBegan(
        _ share: FamilyShare, _ member: AccountRecord, before facts: [Fact]
    ) throws(StorageError) -> Instant? {
        guard member.lineIndex(original: share.memberOriginal) == nil, beginsPeriod(facts, of: share) else {
            return nil
        }
        var kind = RowKind()
        kind.originalID = share.memberOriginal
        return try self.rows(.newest(kind), of: member.account, member.app).first?.originalPurchaseDate
    }

    /// What a member has taken out of his test store does not come back when a refund is taken back: a record forgets what
    /// was revoked, so only the rows know whether it is still there.
    func withoutDeleted(_ facts: [Fact], _ app: AppNumber) throws(StorageError) -> [Fact] {
        var kept: [Fact] = []
        for fact in facts {
            if case .reinstated(let transaction) = fact.body, try self.storage.transaction(app, transaction.id) == nil {
                continue
            }
            kept.append(fact)
        }
        return kept
    }

    /// The records of the accounts that a mutation names, as its decision saw them: they are not looked up again.
    struct Known {
        var subject: AccountRecord?
        var member: AccountRecord?

        subscript(account: AccountNumber) -> AccountRecord? {
            if let subject = self.subject, subject.account == account { return subject }
            if let member = self.member, member.account == account { return member }
            return nil
        }
    }

    /// The record of an account that facts are about: it is there, or it is being opened.
    func record(_ account: AccountNumber, _ known: Known) throws(StorageError) -> AccountRecord {
        if let record = known[account] { return record }
        guard let record = try self.record(account) else {
            preconditionFailure("facts for account \(account), which is not")
        }
        return record
    }
}
