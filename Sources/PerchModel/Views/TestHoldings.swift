import PerchBase

/// The holdings of a test app's account: what this store decided, and what the app's catalogue makes of it.
struct TestHoldings: Holdings {
    let record: AccountRecord?
    let app: AppState
    let now: Instant

    var leeway: Int64? { self.app.renewalLeewayMilliseconds }

    // MARK: Subscription lines

    func lines(inGroup groupID: String) -> [Line] {
        let lines = self.record?.lines.filter { $0.groupID == groupID } ?? []
        return lines.filter(\.isOwn) + lines.filter { !$0.isOwn }
    }

    func level(of line: Line) -> Int32 {
        // A withdrawn product keeps the level of service it was bought at.
        let held = self.app.catalogue.product(line.latest.productID)?.subscription
        return held?.level ?? (line.level == 0 ? .max : line.level)
    }

    func note(_ line: Line, in outlook: inout Outlook) {
        self.noteCrossing(of: line, in: &outlook)
        self.noteForecast(of: line, in: &outlook)
    }

    private func noteCrossing(of line: Line, in outlook: inout Outlook) {
        outlook.note(crossing: line.nextCrossing(after: self.now, leewayMilliseconds: self.leeway)?.at, forecast: nil)
    }

    private func noteForecast(of line: Line, in outlook: inout Outlook) {
        outlook.note(crossing: nil, forecast: self.forecast(of: line))
    }

    func forecast(of line: Line) -> Forecast? {
        line.forecast(
            after: self.now, leewayMilliseconds: self.leeway,
            attempt: self.record.map { foreseenAttempt(of: line, in: $0, app: self.app) } ?? .subscribed)
    }

    func winBacks(inGroup groupID: String) -> (offerIDs: [String], nextChange: Forecast?) {
        let rules = self.rules(inGroup: groupID)
        let winBacks = rules.winBacks
        let change = rules.line.flatMap { line in
            winBacks.nextChange.map { at in
                Forecast(
                    at: at, kind: .offerWindow, originalTransactionID: line.originalID,
                    state: line.state(at: self.now, leewayMilliseconds: self.leeway))
            }
        }
        return (winBacks.eligible.map(\.offer.offer.id), change)
    }

    func status(of line: Line, winBacks: [String]) -> SubscriptionStatus? {
        let state = line.state(at: self.now, leewayMilliseconds: self.leeway)
        let retryIsOver = line.retry != nil && state == .expired
        // Within a commitment the line renews whatever the customer's switch says, unless another cause has ended it. The
        // switch then shows in the commitment's own flag.
        let renews = (line.willAutoRenew || line.isCommitted) && line.lapse == nil && !retryIsOver
        var info = RenewalInfo(
            originalTransactionID: line.originalID, currentProductID: line.latest.productID, willAutoRenew: renews,
            renewalDate: line.boundary, recentSubscriptionStartDate: line.recentStart,
            environment: self.app.environment, signedDate: line.latest.signedDate)
        info.accountToken = line.latest.contents.fields.writtenAccountToken
        info.appTransactionID = self.record?.appTransactionID ?? ""
        info.priceIncreaseStatus = line.increase?.status ?? .noIncreasePending
        info.renewalBillingPlan = line.latest.billingPlan
        info.commitment = line.latest.commitment
        info.commitment?.willRenew = line.willAutoRenew && !retryIsOver
        switch state {
        case .inGracePeriod, .inBillingRetryPeriod:
            info.isInBillingRetry = true
            info.expirationReason = .billingError
            if state == .inGracePeriod { info.gracePeriodExpirationDate = line.retry?.graceUntil }
        case .expired:
            info.expirationReason = line.endReason
        default:
            break
        }
        if line.isOwn {
            for id in winBacks where !info.eligibleWinBackOfferIDs.contains(id) {
                info.eligibleWinBackOfferIDs.append(id)
            }
        }
        // Also in grace and billing retry: receipts that Apple publishes have `auto_renew_product_id` there.
        if let next = line.renewalProductID(at: self.now, leewayMilliseconds: self.leeway) {
            info.autoRenewPreference = next
            info.renewalBillingPlan = line.nextBillingPlan
            if let product = self.app.catalogue.product(next), let subscription = product.subscription,
                let billing = nextBilling(of: line, product, subscription)
            {
                info.renewalBillingPlan = billing.plan
                let next = nextCharge(of: line, for: product, subscription)
                info.renewalPrice = Money(
                    milliunits: next.milliunits, currency: line.latest.price?.currency ?? next.currency)
                info.offer = line.nextOffer?.offer.applied
            }
        }
        return SubscriptionStatus(
            state: state, transaction: verified(line.latest, app: self.app), renewalInfo: verified(info, app: self.app))
    }

    /// This store attempts each renewal when it is due.
    func awaitedUntil(original id: TransactionID) -> Instant? { nil }

    func serviceEnd(original id: TransactionID) -> Instant? {
        self.record?.lines.first { $0.originalID == id }?.serviceEnd
    }

    var lineCount: Int { self.record?.lines.count ?? 0 }

    var ownLines: [(state: RenewalState, isOverdue: Bool)] {
        self.record?.lines.filter(\.isOwn).map {
            ($0.state(at: self.now, leewayMilliseconds: self.leeway), false)
        } ?? []
    }

    // MARK: Owned transactions

    func entitlement(toProduct productID: String, noting outlook: inout Outlook) -> Verified<Transaction>? {
        guard let record = self.record else { return nil }
        var best: Transaction?
        /// The line of `best`, by its place.
        var bestLine: Int?
        func consider(_ transaction: Transaction, line: Int?) {
            if best.map({ Self.precedes(transaction, $0) }) ?? true { (best, bestLine) = (transaction, line) }
        }
        for transaction in record.owned where transaction.productID == productID { consider(transaction, line: nil) }
        for index in record.lines.indices where record.lines[index].latest.productID == productID {
            self.noteCrossing(of: record.lines[index], in: &outlook)
            if record.lines[index].state(at: self.now, leewayMilliseconds: self.leeway).isEntitled {
                consider(record.lines[index].latest, line: index)
            }
        }
        // Only the line that entitles: the end of another's billing retry changes nothing here.
        if let bestLine { self.noteForecast(of: record.lines[bestLine], in: &outlook) }
        return best.map { verified($0, app: self.app) }
    }

    var entitling: [Transaction] {
        guard let record = self.record else { return [] }
        let lines = record.lines.filter { $0.state(at: self.now, leewayMilliseconds: self.leeway).isEntitled }
        return record.owned + lines.map(\.latest)
    }

    static func precedes(_ left: Transaction, _ right: Transaction) -> Bool {
        precedesByEnd(left, right) ?? (left.id > right.id)
    }

    var owned: [Verified<Transaction>] { self.record?.owned.map { verified($0, app: self.app) } ?? [] }

    var unclaimedCount: Int { 0 }

    // MARK: Offers and the customer

    private func rules(inGroup groupID: String) -> OfferRules {
        OfferRules(record: self.record, groupID: groupID, app: self.app, now: self.now)
    }

    func offers(inGroup groupID: String) -> any GroupOffers { self.rules(inGroup: groupID) }

    var appTransaction: AppTransaction {
        var shown = AppTransaction(
            id: self.record?.appTransactionID ?? "", bundleID: self.app.bundleID, environment: self.app.environment)
        let terms = self.record?.appTransaction ?? AppTransactionTerms()
        shown.originalAppVersion = terms.originalAppVersion.isEmpty ? "1.0" : terms.originalAppVersion
        shown.originalPurchaseDate = terms.originalPurchaseDate ?? Self.firstPurchaseOfTheSandbox
        shown.originalPlatform = terms.originalPlatform == .unspecified ? .iOS : terms.originalPlatform
        if terms.environment != .unspecified { shown.environment = terms.environment }
        return shown
    }

    /// When every customer of the sandbox has bought the app: 2013-08-01, midnight in Cupertino.
    private static let firstPurchaseOfTheSandbox = Instant(milliseconds: 1_375_340_400_000)

    var payments: Eligibility { Eligibility(canMakePayments(self.record, app: self.app)) }
}

extension OfferRules: GroupOffers {
    var introductoryEligibility: Eligibility {
        self.app.catalogue.group(self.groupID) == nil ? .ineligible : self.introductory.eligibility
    }

    func ruling(onCode code: CodeOffer, of product: CatalogueProduct) -> OfferRuling? {
        self.ruling(on: code, of: product)
    }

    func ruling(onWinBack offer: WinBackOffer) -> OfferRuling { self.ruling(on: offer) }

    func ordered(_ winBacks: [(product: CatalogueProduct, offer: WinBackOffer)]) -> [(
        product: CatalogueProduct, offer: WinBackOffer
    )] { winBacks.sorted(by: Self.isBetter) }

    var heldPlan: HeldPlan? { self.heldLine.map { HeldPlan($0, self.app.catalogue) } }

    var preferredProductID: String? {
        self.line?.renewalProductID(at: self.now, leewayMilliseconds: self.app.renewalLeewayMilliseconds)
    }
}
