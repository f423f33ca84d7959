import PerchBase
import PerchModel
import PerchStore

/// Invariants of a store at every moment. Each returns a sentence about a failure.
///
/// They follow the document of the model, not its code, and compute results in another way. What the reference predicts has no
/// invariant here.
///
/// A value that accompanies a world. It checks an account when that or the app changed, and all accounts on request.
/// Facts are only appended, so a fold continues from its last position.
package struct ModelInvariants {
    let world: ModelWorld
    /// The state at the last full check. Reads of the past must still return it.
    private(set) var looks: [ModelSnapshot] = []
    private var folds = ModelWorld.accounts.map { _ in Fold() }
    private var seen: ModelSnapshot?

    package init(_ world: ModelWorld) { self.world = world }

    /// The state that follows from the facts of an account.
    fileprivate struct Fold {
        var record: AccountRecord?
        var factCount = 0
        /// All finished transactions.
        var finished: Set<TransactionID> = []
    }

    package mutating func breach(in snapshot: ModelSnapshot, looksAtAll: Bool) -> String? {
        defer { self.seen = snapshot }
        let app = snapshot.app
        let now = snapshot.now
        let isSameApp = self.seen?.app.revision == app.revision
        for account in ModelWorld.accounts.indices {
            guard let record = snapshot.records[account] else { continue }
            let isSame = isSameApp && self.seen?.records[account]?.revision == record.revision
            if isSame, !looksAtAll { continue }
            let rows = snapshot.rows[account]
            let found =
                self.rebuilt(record, account, anew: looksAtAll, now: now)
                ?? self.breach(in: record, rows, app: app, now: now)
                ?? self.paid(record, rows)
                ?? (looksAtAll ? self.read(account, rows, finished: self.folds[account].finished) : nil)
            if let found { return "\(ModelWorld.accounts[account]): \(found)" }
        }
        if looksAtAll { self.looks.append(snapshot) }
        return isSameApp ? nil : self.sold(app)
    }

    private func breach(
        in record: AccountRecord, _ rows: [TransactionRow], app: AppState, now: Instant
    ) -> String? {
        self.bounded(record) ?? self.agreesWithRows(record, rows) ?? self.settled(record, now: now)
            ?? self.crossings(record, app: app, now: now) ?? self.told(record, app: app, now: now)
    }

    /// A record rebuilt from its facts equals the stored record.
    private mutating func rebuilt(_ record: AccountRecord, _ account: Int, anew: Bool, now: Instant) -> String? {
        var fold = anew ? Fold() : self.folds[account]
        let facts = self.world.storage.facts(of: record.account).dropFirst(fold.factCount)
        var folded = fold.record ?? AccountRecord(account: record.account, app: record.app)
        for fact in facts {
            if case .finished(let id) = fact.body { fold.finished.insert(id) }
            folded.apply(fact)
            if fact.effective > now { return "a fact of \(fact.effective) is of the future" }
        }
        folded.revision = record.revision
        folded.committed = record.committed
        fold.factCount += facts.count
        fold.record = folded
        self.folds[account] = fold
        return folded == record ? nil : "the record is not the fold of its facts: \(folded) is not \(record)"
    }

    /// One own line for each group; every line, owned product and share once.
    private func bounded(_ record: AccountRecord) -> String? {
        for group in Set(record.lines.map(\.groupID)).sorted() {
            let own = record.lines.filter { $0.isOwn && $0.groupID == group }
            if own.count > 1 { return "\(own.count) own lines in \(group)" }
        }
        if Set(record.lines.map(\.originalID)).count != record.lines.count { return "two lines begin with one number" }
        let owned = record.owned.map {
            "\($0.productID)/\($0.ownership)" + ($0.ownership == .familyShared ? "/\($0.originalID)" : "")
        }
        if Set(owned).count != owned.count { return "a product is owned twice: \(owned)" }
        if record.owned.contains(where: { $0.revocation != nil }) { return "something revoked is owned" }
        if Set(record.pendingPurchases.map(\.id)).count != record.pendingPurchases.count {
            return "two purchases that wait have one number"
        }
        return nil
    }

    /// The record agrees with its rows, and has the latest of them.
    private func agreesWithRows(_ record: AccountRecord, _ rows: [TransactionRow]) -> String? {
        let transactions: [Transaction] = rows.map(\.transaction)
        var byID: [TransactionID: Transaction] = [:]
        for transaction in transactions {
            if byID.updateValue(transaction, forKey: transaction.id) != nil { return "two rows have one number" }
        }
        for line in record.lines {
            guard byID[line.latest.id] == line.latest else {
                return
                    "line \(line.originalID) holds \(line.latest), its row is \(String(describing: byID[line.latest.id]))"
            }
            let inLine: [Transaction] = transactions.filter { $0.originalID == line.originalID && !$0.isUpgraded }
            if let newest = inLine.max(by: { $0.id < $1.id }), newest.id != line.latest.id {
                return "line \(line.originalID) holds transaction \(line.latest.id), the newest is \(newest.id)"
            }
            if line.latest.isUpgraded { return "the latest of line \(line.originalID) was left behind" }
        }
        for row in transactions {
            if row.appTransactionID != record.appTransactionID { return "transaction \(row.id) is of another account" }
            // Only the purchaser sees the token of a purchase.
            if row.ownership != .purchased, !row.appAccountToken.isEmpty {
                return "transaction \(row.id) is shared with the purchaser's token"
            }
            if let first = byID[row.originalID], row.originalPurchaseDate != first.purchaseDate {
                return "transaction \(row.id) began at \(row.originalPurchaseDate), its line at \(first.purchaseDate)"
            }
        }
        for owned in record.owned where byID[owned.id] != owned {
            return "it owns \(owned), its row is \(String(describing: byID[owned.id]))"
        }
        for row in transactions where row.productType == .nonConsumable || row.productType == .nonRenewable {
            let isOwned = record.owned.contains { $0.productID == row.productID && $0.ownership == row.ownership }
            if row.revocation == nil, !isOwned {
                return "transaction \(row.id) of \(row.productID) was not refunded, and is not owned"
            }
        }
        return nil
    }

    /// The history that offers depend on follows from the existing rows, whatever was cut, refunded or deleted.
    private func paid(_ record: AccountRecord, _ rows: [TransactionRow]) -> String? {
        for group in ModelShop.groups {
            let own = rows.map(\.transaction).filter { $0.subscriptionGroupID == group && $0.ownership == .purchased }
            guard let history = record.histories.first(where: { $0.groupID == group }) else {
                if own.isEmpty { continue }
                return "nothing is remembered of the \(own.count) transactions in \(group)"
            }
            if own.isEmpty { return "something is remembered of \(group), where nothing is left" }
            if history.paidMilliseconds != Self.paidMilliseconds(own) {
                return "\(history.paidMilliseconds) ms are paid for in \(group), not \(Self.paidMilliseconds(own))"
            }
            // The wait is between redemptions. A renewal at the offer's price is not one.
            let redeemed = own.filter { $0.offer?.type == .winBack && $0.reason == .purchase }
            let wonBack = redeemed.map(\.purchaseDate).max()
            if history.lastWinBack != wonBack { return "won back at \(String(describing: history.lastWinBack))" }
        }
        return nil
    }

    /// Paid periods without refunds, each from its purchase to its end.
    static func paidMilliseconds(_ rows: [Transaction]) -> Int64 {
        var milliseconds: Int64 = 0
        for row in rows where row.revocation == nil && row.price?.milliunits != 0 {
            milliseconds += row.expirationDate?.milliseconds(since: row.purchaseDate) ?? 0
        }
        return milliseconds
    }

    /// Everything due is attempted, and the due index agrees.
    private func settled(_ record: AccountRecord, now: Instant) -> String? {
        if let due = record.attemptDue, due <= now { return "an attempt of \(due) is not settled at \(now)" }
        let entries = self.world.storage.due(self.world.app, through: .distantFuture, limit: .max)
            .filter { $0.account == record.account }
        let expected = record.attemptDue.map { [$0] } ?? []
        return entries.map(\.instant) == expected ? nil : "due are \(entries), the record says \(expected)"
    }

    /// A view changes at its next crossing and not before, at whatever time it is read.
    private func crossings(_ record: AccountRecord, app: AppState, now: Instant) -> String? {
        for group in ModelShop.groups {
            let view = { (instant: Instant) in
                subscriptionStatuses(of: record, inGroup: group, app: app, at: instant)
            }
            let here = view(now)
            let horizon = now.advanced(byMilliseconds: 800 * 86_400_000)
            let crossing = min(here.nextCrossing ?? horizon, horizon)
            let middle = now.advanced(byMilliseconds: crossing.milliseconds(since: now) / 2)
            for instant in [middle, crossing.advanced(byMilliseconds: -1)] where instant > now {
                if view(instant).value != here.value {
                    return "\(group) changes before \(crossing): at \(instant) it is not what it is at \(now)"
                }
            }
            if here.nextCrossing != nil, crossing < horizon, view(crossing).value == here.value {
                return "\(group) does not change at its crossing \(crossing)"
            }
        }
        return nil
    }
}
