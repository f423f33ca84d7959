import PerchBase
import PerchModel

// Refunds and deletions: sections 14 and 18 of the model.
extension ReferenceStore {
    mutating func refund(
        _ target: OperationTarget, _ reason: RevocationReason, _ share: RefundShare, _ account: Int
    ) -> String? {
        guard let place = self.place(of: target, account) else { return "what is not there was refunded" }
        var refunded = self.accounts[account].transactions[place]
        if refunded.isShared { return "what is only shared was refunded" }
        if refunded.refund != nil {
            self.answered = (refunded.serial, true)
            return nil
        }
        var part: UInt32 = 100_000
        switch share {
        case .full: break
        case .part(let given): part = given
        case .prorated:
            guard let end = refunded.end else { return "a part of no period was refunded" }
            let length = end.milliseconds(since: refunded.begin)
            let left = min(length, max(0, end.milliseconds(since: self.now)))
            part = length > 0 ? UInt32(left * 100_000 / length) : 0
        }
        refunded.refund = Revocation(
            date: self.now, reason: reason, type: part == 100_000 ? .refundFull : .refundProrated,
            percentageMilli: part)
        self.accounts[account].transactions[place] = refunded
        self.answered = (refunded.serial, false)
        self.mirror(account, at: self.now)
        return nil
    }

    /// Everything is as without the refund, but the time that has passed costs nothing.
    mutating func reverseRefund(_ target: OperationTarget, _ account: Int) -> String? {
        guard let place = self.place(of: target, account) else { return "what is not there was taken back" }
        var refunded = self.accounts[account].transactions[place]
        guard refunded.refund != nil else { return nil }
        refunded.refund = nil
        self.accounts[account].transactions[place] = refunded
        self.answered = (refunded.serial, false)
        self.endUnattempted(refunded, account)
        self.mirror(account, at: self.now)
        return nil
    }

    /// A period that returned after its end had no charge at its end, so the reason is unknown.
    private mutating func endUnattempted(_ latest: ReferenceTransaction, _ account: Int) {
        let known = self.accounts[account]
        guard let end = latest.end, end <= self.now, let place = known.linePlace(of: latest.first),
            known.latest(of: known.lines[place])?.serial == latest.serial, known.renews(known.lines[place])
        else { return }
        self.accounts[account].lines[place].end(.unknown)
    }

    mutating func delete(_ number: TransactionID, _ account: Int) {
        if let place = self.accounts[account].pending.firstIndex(where: { $0.number == number }) {
            self.accounts[account].pending.remove(at: place)
            return
        }
        guard let serial = self.serials[number], let place = self.accounts[account].place(of: serial) else { return }
        let deleted = self.accounts[account].transactions.remove(at: place)
        self.forget([serial])
        if deleted.group.isEmpty, !deleted.isShared { self.endShares(of: deleted.first, account) }
        guard let place = self.accounts[account].linePlace(of: deleted.first) else { return }
        let line = self.accounts[account].lines[place]
        let wasLatest = !self.accounts[account].transactions.contains {
            $0.first == line.first && !$0.isUpgraded && $0.serial > deleted.serial
        }
        guard !deleted.isUpgraded, wasLatest else { return }
        if !line.isShared {
            self.endShares(of: line.first, account)
            // The upgrade was deleted: the plan that it left behind is held again.
            if let left = self.accounts[account].transactions.lastIndex(where: { $0.first == line.first }) {
                self.accounts[account].transactions[left].isUpgraded = false
            }
        }
        guard let left = self.accounts[account].latestPlace(of: line) else {
            self.accounts[account].lines.remove(at: place)
            return
        }
        // An older period remains, without a following one.
        let latest = self.accounts[account].transactions[left]
        self.accounts[account].transactions[left].offerPeriod = latest.offer?.periodCount ?? 0
        var older = ReferenceLine(
            first: line.first, group: line.group, isShared: line.isShared, nextPlan: latest.product,
            nextBilling: latest.billing, runBegin: min(line.runBegin, latest.begin))
        older.extensions = line.extensions
        let isOver = latest.end.map { $0 <= self.now } ?? false
        older.willRenew = line.willRenew && !isOver
        // The reason for the end is known only if the customer had switched renewal off.
        let wasSwitchedOff = !line.willRenew && line.ending ?? .autoRenewDisabled == .autoRenewDisabled
        if isOver, !wasSwitchedOff || latest.owesCharges { older.ending = .unknown }
        if latest.product == deleted.product {
            (older.agreedPrice, older.lastRaise) = (line.agreedPrice, line.lastRaise)
        }
        self.accounts[account].lines[place] = older
    }

    mutating func clear(_ account: Int) {
        let storefront = self.accounts[account].storefront
        let chargesFail = self.accounts[account].chargesFail
        let paymentsAreForbidden = self.accounts[account].paymentsAreForbidden
        let appTransaction = self.accounts[account].appTransaction
        self.endShares(of: nil, account)
        // Shares that waited for a sync no longer wait.
        for place in self.shares.indices where self.shares[place].member == account && self.shares[place].waits {
            self.shares[place].waits = false
            self.shares[place].copied = self.shares[place].first
        }
        self.forget(self.accounts[account].transactions.map(\.serial))
        self.accounts[account] = ReferenceAccount()
        self.accounts[account].isOpen = true
        self.accounts[account].storefront = storefront
        self.accounts[account].chargesFail = chargesFail
        self.accounts[account].paymentsAreForbidden = paymentsAreForbidden
        self.accounts[account].appTransaction = appTransaction
    }
}
