import PerchBase
import PerchModel

// Family sharing: the effects of a purchaser's change on the members.
extension StoreEngine {
    /// Adds the facts that a change of purchasers means for the members of their families, in the same revision.
    ///
    /// The only place that spreads sharing, so no decision handles it. An account without shares costs one check of an
    /// empty list.
    func withFamily(
        _ accountFacts: [AccountFacts], known: Known, app: AppState, now: Instant, numbers: inout TransactionNumbers,
        _ header: StoreHeader
    ) throws(StorageError) -> [AccountFacts] {
        if let subject = known.subject, accountFacts.count == 1, accountFacts[0].account == subject.account,
            familyShares(of: subject, after: accountFacts[0].facts).isEmpty
        {
            // The usual case.
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

    /// The instant at which an account began to share. Only a purchase in the past needs it. If it is beyond
    /// `factsPerReadMax` facts, no read of the past reaches it either.
    func began(
        _ share: FamilyShare, of account: AccountNumber, _ header: StoreHeader
    ) throws(StorageError) -> Instant {
        let facts = try self.storage.facts(
            of: account, after: 0, through: header.revision, limit: self.factsPerReadMax)
        return facts.last { $0.fact.body == .sharingBegan(share) }?.fact.effective ?? .distantPast
    }

    /// Start date of the member's remaining copies of a shared subscription whose line is no longer in the record. A tester
    /// may have deleted all other copies. Then only the rows have the date, and the next shared period needs it.
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

    /// Drops reinstatements of transactions that a tester has deleted. A record forgets revoked transactions, so only the
    /// rows show whether they still exist.
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

    /// The records that the decision saw. They are not read again.
    struct Known {
        var subject: AccountRecord?
        var member: AccountRecord?
        var others: [AccountNumber: AccountRecord] = [:]

        subscript(account: AccountNumber) -> AccountRecord? {
            if let subject = self.subject, subject.account == account { return subject }
            if let member = self.member, member.account == account { return member }
            return self.others.isEmpty ? nil : self.others[account]
        }
    }

    /// The record of an account that facts are about. It exists, or it is being opened.
    func record(_ account: AccountNumber, _ known: Known) throws(StorageError) -> AccountRecord {
        if let record = known[account] { return record }
        guard let record = try self.record(account) else {
            preconditionFailure("facts for account \(account), which is not")
        }
        return record
    }
}
