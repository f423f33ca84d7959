import PerchBase
import PerchModel

// Effects of time and operations on the next period: sections 12, 13 and 16 of the model.
extension ReferenceStore {
    /// All due charges, one after the other.
    ///
    /// `shop` determines the price; without it, the catalogue at the time of the charge.
    mutating func settle(_ account: Int, in shop: ReferenceShop? = nil) {
        while let due = self.due(account) {
            self.attempt(due.place, account, in: shop ?? self.shop(at: due.instant), at: due.instant)
            self.mirror(account, at: due.instant)
        }
    }

    /// All due charges of all accounts: oldest first, at one instant in the order of accounts.
    mutating func settle() {
        while let due = self.earliestDue() {
            self.attempt(due.place, due.account, in: self.shop(at: due.instant), at: due.instant)
            self.mirror(due.account, at: due.instant)
        }
    }

    private func earliestDue() -> (account: Int, place: Int, instant: Instant)? {
        var earliest: (account: Int, place: Int, instant: Instant)?
        for account in self.accounts.indices {
            guard let due = self.due(account), due.instant < earliest?.instant ?? .distantFuture else { continue }
            earliest = (account, due.place, due.instant)
        }
        return earliest
    }

    /// The earliest end of an own period with a charge, if it has passed.
    private func due(_ account: Int) -> (place: Int, instant: Instant)? {
        var earliest: (place: Int, instant: Instant)?
        let known = self.accounts[account]
        for (place, line) in known.lines.enumerated() where !line.isShared && known.renews(line) {
            guard let end = known.latest(of: line)?.end, end <= self.now else { continue }
            if let earliest, earliest.instant <= end { continue }
            earliest = (place, end)
        }
        return earliest
    }

    private mutating func attempt(_ place: Int, _ account: Int, in shop: ReferenceShop, at instant: Instant) {
        let line = self.accounts[account].lines[place]
        guard let held = self.accounts[account].latest(of: line) else { return }
        let next = self.accounts[account].nextPlan(of: line)
        if shop.sold(next) == nil {
            self.accounts[account].lines[place].end(.productUnavailable)
        } else if let raise = line.raise, !raise.isAgreed, self.accounts[account].staysInPlan(line) {
            self.accounts[account].lines[place].end(.didNotConsentToPriceIncrease)
        } else if self.accounts[account].chargesFail ?? shop.settings.areRenewalBillingIssuesEnabled {
            let known = self.accounts[account]
            let offer = known.staysInPlan(line) && held.hasOfferLeft ? held.offer : known.redeemed(for: line)
            let isFree = (offer?.price ?? shop.sold(next)?.price)?.milliunits == 0
            self.accounts[account].lines[place].failure = self.failure(
                of: held, intoFree: isFree, in: shop, at: instant)
        } else {
            self.renew(place, account, in: shop, from: instant, goesOn: true)
        }
    }

    /// The retry period of a failed charge, and its grace period.
    private func failure(
        of held: ReferenceTransaction, intoFree isFree: Bool, in shop: ReferenceShop, at instant: Instant
    ) -> ReferenceFailure {
        let rate = shop.rate
        if held.owesCharges {
            return ReferenceFailure(at: instant, retryEnd: instant.advanced(byMilliseconds: rate.retry / 2 * 3))
        }
        var failure = ReferenceFailure(at: instant, retryEnd: instant.advanced(byMilliseconds: rate.retry))
        let settings = shop.settings
        let isPaidToPaid = held.price.milliunits > 0 && !isFree
        if settings.isGracePeriodEnabled, settings.hasGracePeriodForAllRenewals || isPaidToPaid {
            let unit = shop.plan(held.product)?.period.unit
            let grace = rate.grace(isWeekly: unit == .week || unit == .day, days: settings.gracePeriodDays)
            failure.graceEnd = instant.advanced(byMilliseconds: grace)
        }
        return failure
    }

    /// The next period of a line, with its terms.
    ///
    /// `goesOn`: it begins at the natural end of the last one, so its months count from the same day.
    mutating func renew(_ place: Int, _ account: Int, in shop: ReferenceShop, from begin: Instant, goesOn: Bool) {
        var line = self.accounts[account].lines[place]
        guard let held = self.accounts[account].latest(of: line) else { return }
        let next = self.accounts[account].nextPlan(of: line)
        guard let product = shop.products[next] else { return }
        let isSame = self.accounts[account].staysInPlan(line)
        let billed = self.accounts[account].nextBilling(of: line)
        var offer: SubscriptionOffer?
        var offerPeriod: Int32 = 1
        if isSame, held.hasOfferLeft {
            (offer, offerPeriod) = (held.offer, held.offerPeriod + 1)
        } else if let redeemed = self.accounts[account].redeemed(for: line) {
            offer = redeemed
            line.waiting = nil
        }
        if isSame {
            if let raise = line.raise, raise.isAgreed { line.agreedPrice = raise.price }
        } else {
            line.agreedPrice = nil
            if next != held.product { line.lastRaise = nil }
        }
        line.raise = nil
        var day: Int64?
        if goesOn, let counted = held.countedFrom, ReferenceCalendar.leads(counted, to: begin) { day = counted }
        var charged = self.charge(
            product, account, in: shop, from: begin, serial: self.takeSerial(),
            billed: billed, offer: offer, offerPeriod: offerPeriod,
            agreed: line.agreedPrice, countedFrom: day)
        charged.reason = .renewal
        charged.first = line.first
        charged.lineBegin = held.lineBegin
        charged.token = held.token
        self.commit(&charged, after: isSame ? held : nil, in: shop)
        charged.commitment?.willRenew = line.willRenew
        if !self.run(of: line, account, goingOnAt: begin) { line.runBegin = begin }
        line.failure = nil
        line.ending = nil
        if !held.owesCharges { (line.nextPlan, line.nextBilling) = (next, charged.billing) }
        self.accounts[account].lines[place] = line
        self.accounts[account].transactions.append(charged)
    }

    // MARK: By hand

    /// The next period begins now, or after grace at the end of the last one.
    mutating func renewNow(_ target: OperationTarget, _ account: Int) -> String? {
        guard let place = self.linePlace(of: target, account) else { return "what is no line renewed" }
        let known = self.accounts[account]
        let line = known.lines[place]
        guard let latest = known.latestPlace(of: line), let end = known.transactions[latest].end else { return nil }
        if self.shop.sold(known.nextPlan(of: line)) == nil { return "what is not sold renewed" }
        let isCut = self.now < end
        if isCut { self.accounts[account].transactions[latest].end = self.now }
        self.renew(place, account, in: self.shop, from: isCut ? self.now : end, goesOn: !isCut)
        self.answerLatest(place, account)
        self.mirror(account, at: self.now)
        return nil
    }

    /// A charge recovers: in grace as if it had not failed, later from now on.
    mutating func recover(_ target: OperationTarget, _ account: Int) -> String? {
        guard let place = self.linePlace(of: target, account) else { return "what is no line recovered" }
        let known = self.accounts[account]
        let line = known.lines[place]
        let state = known.state(of: line, at: self.now)
        guard let end = known.latest(of: line)?.end, [.inGracePeriod, .inBillingRetryPeriod].contains(state) else {
            return "a line that is \(state) recovered"
        }
        let isInGrace = state == .inGracePeriod
        self.renew(place, account, in: self.shop, from: isInGrace ? end : self.now, goesOn: isInGrace)
        if known.chargesFail == true { self.accounts[account].chargesFail = nil }
        self.answerLatest(place, account)
        self.mirror(account, at: self.now)
        return nil
    }

    private mutating func answerLatest(_ place: Int, _ account: Int) {
        let known = self.accounts[account]
        guard let latest = known.latest(of: known.lines[place]) else { return }
        self.answered = (latest.serial, false)
    }

    /// The period ends now, without renewal.
    mutating func expire(_ target: OperationTarget, _ account: Int) -> String? {
        guard let place = self.linePlace(of: target, account) else { return "what is no line expired" }
        guard let latest = self.accounts[account].latestPlace(of: self.accounts[account].lines[place]) else {
            return nil
        }
        if let end = self.accounts[account].transactions[latest].end, self.now < end {
            self.accounts[account].transactions[latest].end = self.now
        }
        self.accounts[account].lines[place].endFailure(at: self.now)
        self.accounts[account].lines[place].end(self.accounts[account].lines[place].ending ?? .autoRenewDisabled)
        self.mirror(account, at: self.now)
        return nil
    }

    /// Switching renewal off during a failed charge ends the line at once.
    mutating func setAutoRenew(_ target: OperationTarget, isOn: Bool, _ account: Int) -> String? {
        guard let place = self.linePlace(of: target, account) else { return "what is no line was switched" }
        let known = self.accounts[account]
        var line = known.lines[place]
        guard let held = known.latest(of: line) else { return nil }
        if isOn {
            line.switchOn(held)
        } else if line.willRenew {
            line.switchOff(held, at: self.now)
        }
        self.accounts[account].lines[place] = line
        self.mirror(account, at: self.now)
        return nil
    }

    mutating func extend(_ target: OperationTarget, _ milliseconds: Int64, _ account: Int) -> String? {
        guard let place = self.linePlace(of: target, account),
            let latest = self.accounts[account].latestPlace(of: self.accounts[account].lines[place]),
            let end = self.accounts[account].transactions[latest].end
        else { return "what is no line was extended" }
        self.accounts[account].transactions[latest].end = end.advanced(byMilliseconds: milliseconds)
        self.accounts[account].lines[place].extensions.append(self.now)
        if var commitment = self.accounts[account].transactions[latest].commitment {
            commitment.expirationDate = commitment.expirationDate.advanced(byMilliseconds: milliseconds)
            self.accounts[account].transactions[latest].commitment = commitment
        }
        self.mirror(account, at: self.now)
        return nil
    }

    // MARK: Prices

    mutating func raisePrice(
        _ target: OperationTarget, _ milliunits: Int64, needsConsent: Bool?, _ account: Int
    ) -> String? {
        guard let place = self.linePlace(of: target, account) else { return "the price of what is no line was raised" }
        let known = self.accounts[account]
        var line = known.lines[place]
        guard let held = known.latest(of: line), let usual = self.usualPrice(of: held) else { return nil }
        let agreed = line.raise.flatMap { $0.isAgreed ? $0.price : nil } ?? line.agreedPrice
        let now = (agreed ?? usual).milliunits
        let isYearly = held.billing != .monthly && self.shop.plan(held.product)?.period.unit == .year
        let isMuch = 2 * (milliunits - now) > now && milliunits - now > (isYearly ? 50_000 : 5_000)
        let isAgain = line.lastRaise.map { last in
            let day = ReferenceCalendar.date(of: last).day
            return self.now < self.shop.rate.end(of: Period(1, .year), from: last, countedFrom: day)
        }
        let currency = Storefronts.currency(of: self.storefront(of: account, in: self.shop).countryCode)
        let asks = needsConsent ?? (isMuch || isAgain == true)
        if let raise = line.raise, raise.isAgreed { line.agreedPrice = raise.price }
        line.raise = (Money(milliunits: milliunits, currency: currency), !asks)
        line.lastRaise = self.now
        self.accounts[account].lines[place] = line
        self.mirror(account, at: self.now)
        return nil
    }

    /// The catalogue's price for such a period, without an offer.
    func usualPrice(of held: ReferenceTransaction) -> Money? {
        guard let product = self.shop.products[held.product] else { return nil }
        let monthly = product.subscription?.billingPlans.first { $0.type == .monthly }
        return held.billing == .monthly ? monthly?.price ?? product.price : product.price
    }

    mutating func answerPrice(_ target: OperationTarget, agrees: Bool, _ account: Int) -> String? {
        guard let place = self.linePlace(of: target, account), let raise = self.accounts[account].lines[place].raise,
            let held = self.accounts[account].latest(of: self.accounts[account].lines[place])
        else { return "a price was answered without a question" }
        if raise.isAgreed { return agrees ? nil : "a price was declined that is agreed" }
        if agrees {
            self.accounts[account].lines[place].raise = (raise.price, true)
            self.accounts[account].lines[place].ending = nil
            // Consent switches renewal on, also after an earlier refusal.
            self.accounts[account].lines[place].switchOn(held)
        } else {
            self.accounts[account].lines[place].end(.didNotConsentToPriceIncrease)
        }
        self.mirror(account, at: self.now)
        return nil
    }
}
