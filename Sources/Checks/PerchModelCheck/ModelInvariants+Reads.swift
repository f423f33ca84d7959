import PerchBase
import PerchModel
import PerchStore

// Reads return the written data: lists by their rules, and the past unchanged.
extension ModelInvariants {
    /// `finished` has the finished transactions, from the facts.
    func read(_ account: Int, _ rows: [TransactionRow], finished: Set<TransactionID>) -> String? {
        self.listed(account, rows, finished) ?? self.known(account) ?? self.passed(account, rows)
    }

    /// Section 9: all transactions except consumables that are finished and not refunded; and the unfinished ones.
    private func listed(_ account: Int, _ rows: [TransactionRow], _ finished: Set<TransactionID>) -> String? {
        for row in rows where row.isFinished != finished.contains(row.transaction.id) {
            return "transaction \(row.transaction.id) is \(row.isFinished ? "" : "not ")finished"
        }
        let isSpent = { (row: TransactionRow) in
            row.transaction.productType == .consumable && row.transaction.revocation == nil
                && finished.contains(row.transaction.id)
        }
        // Small pages, so that lists have several.
        let all = TransactionQuery(limit: 7)
        var newestFirst = all
        newestFirst.isNewestFirst = true
        var withSpent = all
        withSpent.includesFinishedConsumables = true
        var unfinished = all
        unfinished.unfinishedOnly = true
        let unspent = rows.filter { !isSpent($0) }
        let lists: [(name: String, query: TransactionQuery, wanted: [TransactionRow])] = [
            ("all", all, unspent), ("all, newest first", newestFirst, unspent.reversed()),
            ("all with finished consumables", withSpent, rows),
            ("unfinished", unfinished, rows.filter { !finished.contains($0.transaction.id) }),
        ]
        for list in lists {
            let found = self.world.list(account, list.query)
            if found == list.wanted { continue }
            let names = { (rows: [TransactionRow]?) in "\(rows?.map(\.transaction.id) ?? [])" }
            return "the list \(list.name) has \(names(found)), not \(names(list.wanted))"
        }
        return nil
    }

    /// A read at an earlier revision returns the state of that revision, also after purchases in the past.
    private func known(_ account: Int) -> String? {
        guard !self.looks.isEmpty else { return nil }
        let look = self.looks[self.looks.count / 2]
        let known = KnownAs(revision: look.revision, instant: nil)
        let answer = self.world.read(.recordAsKnown(self.world.key(account), known))
        guard case .recordAsKnown(let record, let app)? = answer else {
            return "it is not told what was known at revision \(look.revision)"
        }
        if app.revision != look.app.revision { return "the app of revision \(look.revision) is \(app.revision)" }
        let wanted = look.records[account]
        return record == wanted
            ? nil
            : "at revision \(look.revision) it was \(String(describing: wanted)), and is \(String(describing: record))"
    }

    /// A read as of an instant returns everything effective up to it, in any order of writing.
    private func passed(_ account: Int, _ rows: [TransactionRow]) -> String? {
        guard let number = self.world.number(of: account) else { return nil }
        let facts = self.world.storage.facts(of: number)
        for instant in Set(rows.suffix(2).map(\.transaction.purchaseDate) + self.bought(intoThePast: facts)) {
            let known = KnownAs(revision: 0, instant: instant)
            let answer = self.world.read(.recordAsKnown(self.world.key(account), known))
            guard case .recordAsKnown(let record, _)? = answer else {
                return "it is not told what there was at \(instant)"
            }
            var wanted: AccountRecord?
            for fact in facts where fact.effective <= instant {
                var then = wanted ?? AccountRecord(account: number, app: self.world.app)
                // A change in the past reaches the family too, possibly before the sharing.
                if let line = fact.line, then.lineIndex(original: line) == nil { continue }
                then.apply(fact)
                wanted = then
            }
            wanted?.revision = record?.revision ?? 0
            if let committed = record?.committed { wanted?.committed = committed }
            if record != wanted { return "as of \(instant) it was \(String(describing: record))" }
            for line in record?.lines ?? [] where !line.isOwn {
                guard let begun = Self.began(line, in: facts), instant < begun else { continue }
                return "as of \(instant) line \(line.originalID) was shared, which began at \(begun)"
            }
        }
        return nil
    }

    /// The first dates of shared transactions for the member, in the order of writing.
    private static func began(_ shared: Line, in facts: [Fact]) -> Instant? {
        facts.first {
            guard case .sharedLineSet(let line, _) = $0.body else { return false }
            return line.originalID == shared.originalID
        }?.effective
    }

    /// The last dates that were written after later ones.
    private func bought(intoThePast facts: [Fact]) -> [Instant] {
        let dated = zip(facts, facts.dropFirst()).filter { $1.effective < $0.effective }
        return dated.suffix(2).map(\.1.effective)
    }
}
