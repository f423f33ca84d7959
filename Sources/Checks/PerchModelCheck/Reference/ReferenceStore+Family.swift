import PerchBase
import PerchModel

// Family sharing: section 14 of the model.
extension ReferenceStore {
    mutating func share(_ target: OperationTarget, with name: String, _ account: Int) -> String? {
        guard let place = self.place(of: target, account),
            let member = ModelWorld.accounts.firstIndex(of: name), member != account
        else { return "what is not there was shared" }
        let shared = self.accounts[account].transactions[place]
        if shared.isShared { return "what is shared was shared on" }
        self.accounts[member].isOpen = true
        let isShared = self.shares.contains {
            $0.purchaser == account && $0.first == shared.first && $0.member == member
        }
        if isShared { return nil }
        var share = ReferenceShare(purchaser: account, first: shared.first, member: member, began: self.now)
        // A one-time purchase older than the sharing arrives when the member restores.
        share.waits = shared.group.isEmpty && shared.begin != self.now
        self.shares.append(share)
        self.mirror(account, at: self.now)
        return nil
    }

    mutating func stopSharing(_ target: OperationTarget?, with name: String?, _ account: Int) -> String? {
        let place = target.flatMap { self.place(of: $0, account) }
        if target != nil, place == nil { return "what is not there was not shared any more" }
        self.endShares(
            of: place.map { self.accounts[account].transactions[$0].first }, account,
            with: name.flatMap { ModelWorld.accounts.firstIndex(of: $0) })
        return nil
    }

    /// Without `first` all shares, without `member` all members.
    mutating func endShares(of first: Int?, _ account: Int, with member: Int? = nil) {
        for share in self.shares where share.purchaser == account {
            if let first, share.first != first { continue }
            if let member, share.member != member { continue }
            self.revoke(share, at: self.now)
            self.shares.removeAll {
                $0.purchaser == account && $0.first == share.first && $0.member == share.member
            }
        }
    }

    /// Shares that waited for a restore arrive now, unless they were refunded meanwhile.
    mutating func sync(_ account: Int) {
        for place in self.shares.indices where self.shares[place].member == account && self.shares[place].waits {
            let purchaser = self.shares[place].purchaser
            let source = self.accounts[purchaser].transaction(self.shares[place].first)
            guard let source, source.refund == nil else { continue }
            self.shares[place].waits = false
            self.copy(source, nil, place)
        }
    }

    /// The member loses the shared transactions at once.
    private mutating func revoke(_ share: ReferenceShare, at instant: Instant) {
        guard let place = self.latestCopy(of: share) else { return }
        if self.accounts[share.member].transactions[place].refund != nil { return }
        self.accounts[share.member].transactions[place].refund = Revocation(
            date: instant, reason: .other, type: .familyRevoke)
    }

    private func latestCopy(of share: ReferenceShare) -> Int? {
        guard let first = share.memberFirst else { return nil }
        return self.accounts[share.member].transactions.lastIndex { $0.first == first && !$0.isUpgraded }
    }

    /// Copies the purchaser's lines to every member as of an instant, which may be before the sharing.
    mutating func mirror(_ account: Int, at instant: Instant) {
        for place in self.shares.indices where self.shares[place].purchaser == account && !self.shares[place].waits {
            self.mirror(place, account, at: max(instant, self.shares[place].began))
        }
    }

    private mutating func mirror(_ place: Int, _ account: Int, at instant: Instant) {
        let share = self.shares[place]
        let known = self.accounts[account]
        let line = known.linePlace(of: share.first).map { known.lines[$0] }
        guard let latest = line.flatMap({ known.latest(of: $0) }) ?? known.transaction(share.first) else { return }
        if latest.serial != share.copied {
            guard self.shop.products[latest.product]?.isFamilyShareable != false else {
                self.shares[place].copied = latest.serial
                return self.revoke(share, at: instant)
            }
            if let old = self.latestCopy(of: share), let copied = share.copied,
                self.accounts[share.member].transactions[old].refund == nil,
                self.accounts[share.member].transactions[old].copyOf == copied
            {
                // Upgraded and shortened periods are upgraded and shortened for the member too.
                let left = known.transaction(copied)
                self.accounts[share.member].transactions[old].isUpgraded = left?.isUpgraded ?? false
                if let end = left?.end { self.accounts[share.member].transactions[old].end = end }
            }
            self.copy(latest, line, place)
        } else if let copy = self.latestCopy(of: share),
            self.accounts[share.member].transactions[copy].copyOf == latest.serial
        {
            if latest.refund != nil {
                self.revoke(share, at: instant)
                // The switch is the customer's, and stays with the refunded line.
                return self.follow(line, place)
            }
            self.accounts[share.member].transactions[copy].refund = nil
            self.accounts[share.member].transactions[copy].end = latest.end
            self.accounts[share.member].transactions[copy].commitment = latest.commitment
        } else {
            // After a deletion the rest no longer follows the purchaser, until the next period.
            return
        }
        self.follow(line, place)
    }

    private mutating func copy(_ latest: ReferenceTransaction, _ line: ReferenceLine?, _ place: Int) {
        let member = self.shares[place].member
        let serial = self.takeSerial()
        let first = self.shares[place].memberFirst ?? serial
        let old = self.accounts[member].transactions.last { $0.first == first }
        var copy = ReferenceTransaction(
            serial: serial, first: first, product: latest.product, type: latest.type, begin: latest.begin,
            lineBegin: old?.lineBegin ?? latest.begin, price: latest.price, storefront: latest.storefront)
        copy.group = latest.group
        copy.end = latest.end
        copy.reason = latest.reason
        copy.offer = latest.offer
        copy.offerPeriod = latest.offerPeriod
        copy.billing = latest.billing
        copy.commitment = latest.commitment
        copy.isShared = true
        copy.copyOf = latest.serial
        self.shares[place].memberFirst = first
        self.shares[place].copied = latest.serial
        self.accounts[member].transactions.append(copy)
        guard let line else { return }
        if self.accounts[member].linePlace(of: first) == nil {
            self.accounts[member].lines.append(
                ReferenceLine(
                    first: first, group: line.group, isShared: true, nextPlan: line.nextPlan,
                    nextBilling: line.nextBilling, runBegin: line.runBegin))
        }
    }

    /// Copies the state of the purchaser's line to the member's.
    private mutating func follow(_ line: ReferenceLine?, _ place: Int) {
        let share = self.shares[place]
        guard let line, let first = share.memberFirst, let old = self.accounts[share.member].linePlace(of: first) else {
            return
        }
        var copy = ReferenceLine(
            first: first, group: line.group, isShared: true, willRenew: line.willRenew, nextPlan: line.nextPlan,
            nextBilling: line.nextBilling, runBegin: line.runBegin)
        copy.failure = line.failure
        copy.ending = line.ending
        copy.raise = line.raise
        copy.lastRaise = line.lastRaise
        copy.agreedPrice = line.agreedPrice
        copy.waiting = line.waiting
        self.accounts[share.member].lines[old] = copy
    }
}
