import PerchBase

/// What reports say about an account's offers in a group. The App Store knows more, so what they do not say is unknown.
///
/// | Offer | Eligible | Not eligible | Else |
/// |---|---|---|---|
/// | introductory | the history was read to its end, and no period of the group has such an offer | a period or the next charge of the group has such an offer | unknown |
/// | promotional | the account bought a subscription of the group | | unknown |
/// | win-back | the newest renewal information of a line that is over names it | the account is subscribed, or a charge is retried | unknown |
/// | code | | | unknown |
struct ReportedOfferRules {
    /// The account's own lines of the group. Shared ones say nothing about its offers.
    private let lines: [(line: ReportedOriginal, standing: ReportedStanding)]
    private let renewalOffers: [TransactionOffer]
    /// Whether what the lines say is everything.
    private let isWhole: Bool
    private let catalogue: Catalogue

    init(of record: AccountRecord?, inGroup groupID: String, app: AppState, at now: Instant) {
        let leeway = app.renewalLeewayMilliseconds ?? 0
        let own = (record?.reported?.originals ?? []).filter { line in
            line.isSubscription && line.groupID(in: app.catalogue) == groupID
                && line.periods.last?.reported.ownership != .familyShared
        }
        self.catalogue = app.catalogue
        self.isWhole = record?.reported?.history != nil
        self.renewalOffers = own.compactMap { $0.renewal?.info.offer }
        self.lines = own.compactMap { line in
            line.standing(at: now, leewayMilliseconds: leeway).map { (line, $0) }
        }
    }

    /// The line that the account holds: of several the one whose period ends last.
    var held: (line: ReportedOriginal, standing: ReportedStanding)? {
        self.lines.filter { $0.standing.state.isEntitled }.max {
            let (one, other) = ($0.standing.transaction.expirationDate, $1.standing.transaction.expirationDate)
            return (one ?? .distantFuture) < (other ?? .distantFuture)
        }
    }

    var introductory: OfferRuling {
        let offers = self.lines.flatMap { $0.line.registers.values.compactMap(\.reported.offer) } + self.renewalOffers
        if offers.contains(where: { $0.type == .introductory }) { return .introductoryUsed }
        return self.isWhole ? .eligible : .notReported
    }

    var promotional: OfferRuling { self.lines.isEmpty ? .notReported : .eligible }

    func ruling(onWinBack id: String) -> OfferRuling {
        if self.held != nil { return .subscribed }
        if self.lines.contains(where: { $0.standing.state == .inBillingRetryPeriod }) { return .inBillingRetry }
        return self.winBacks.contains { $0.offerID == id } ? .eligible : .notReported
    }

    /// The win-back offers that the newest renewal information names, best first, each with the line that it is about.
    var winBacks: [(line: ReportedOriginal, offerID: String)] {
        guard self.held == nil else { return [] }
        let over = self.lines.filter { $0.standing.state == .expired && !$0.standing.isOverdue }
        let newest = over.max {
            let (one, other) = ($0.line.renewal?.stamp, $1.line.renewal?.stamp)
            guard let other else { return false }
            return one.map { $0 < other } ?? true
        }
        guard let line = newest?.line, let info = line.renewal?.info else { return [] }
        return info.eligibleWinBackOfferIDs.map { (line, $0) }
    }
}

extension ReportedOfferRules: GroupOffers {
    var introductoryEligibility: Eligibility { self.introductory.eligibility }

    func ruling(onCode code: CodeOffer, of product: CatalogueProduct) -> OfferRuling? {
        product.subscription == nil ? nil : .notReported
    }

    func ruling(onWinBack offer: WinBackOffer) -> OfferRuling { self.ruling(onWinBack: offer.offer.id) }

    /// Apple lists the best first; the order of the others is that of the catalogue.
    func ordered(_ winBacks: [(product: CatalogueProduct, offer: WinBackOffer)]) -> [(
        product: CatalogueProduct, offer: WinBackOffer
    )] {
        let reported = self.winBacks.map(\.offerID)
        let ranked = winBacks.map { (rank: reported.firstIndex(of: $0.offer.offer.id) ?? .max, winBack: $0) }
        return ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element.winBack)
    }

    var heldPlan: HeldPlan? {
        (self.held?.standing.transaction).map {
            HeldPlan(productID: $0.productID, isCommitted: $0.commitment != nil, self.catalogue)
        }
    }

    var preferredProductID: String? {
        self.held.map { $0.line.renewalInfo(of: $0.standing) }.flatMap {
            $0.willAutoRenew && !$0.isUnreported ? $0.autoRenewPreference ?? $0.currentProductID : nil
        }
    }
}

extension ReportedHoldings {
    /// What reports say that the App Store tells the customer.
    ///
    /// | Reason | From | Until |
    /// |---|---|---|
    /// | billingIssue | the end of the period that was not charged | the line recovers or ends |
    /// | priceIncreaseConsent | the report that the increase waits | a report that it does not, or the line ends |
    /// | winBackOffer | the report that names the offer | a report that does not, or the account subscribes |
    package var messages: Viewed<[StoreMessage]> {
        var viewed = Viewed<[StoreMessage]>(value: [])
        let (app, now, leeway) = (self.app, self.now, self.leeway)
        var groups: [String] = []
        for line in self.originals where line.isSubscription {
            guard let standing = line.standing(at: now, leewayMilliseconds: leeway) else { continue }
            if let next = line.nextChange(after: now, leewayMilliseconds: leeway), next < .distantFuture {
                viewed.outlook.note(
                    Forecast(at: next, kind: .message, originalTransactionID: line.id, state: standing.state))
            }
            guard standing.transaction.ownership != .familyShared else { continue }
            let group = line.groupID(in: app.catalogue)
            if !groups.contains(group) { groups.append(group) }
            switch standing.state {
            case .inGracePeriod, .inBillingRetryPeriod:
                viewed.value.append(
                    StoreMessage(
                        reason: .billingIssue, since: standing.transaction.expirationDate ?? now,
                        originalTransactionID: line.id, productID: standing.transaction.productID))
            case .subscribed:
                guard let renewal = line.renewal, renewal.info.priceIncreaseStatus == .pending else { continue }
                viewed.value.append(
                    StoreMessage(
                        reason: .priceIncreaseConsent, since: renewal.stamp.signed, originalTransactionID: line.id,
                        productID: standing.transaction.productID))
            default: break
            }
        }
        for group in groups {
            let rules = ReportedOfferRules(of: self.record, inGroup: group, app: app, at: now)
            guard let best = rules.winBacks.first, let renewal = best.line.renewal else { continue }
            let product = app.catalogue.products.first { product in
                product.subscription?.winBackOffers.contains { $0.offer.id == best.offerID } ?? false
            }
            viewed.value.append(
                StoreMessage(
                    reason: .winBackOffer, since: renewal.stamp.signed, originalTransactionID: best.line.id,
                    productID: product?.id ?? renewal.info.currentProductID, offerID: best.offerID))
        }
        viewed.value.sort { ($0.since, $0.reason.rawValue) < ($1.since, $1.reason.rawValue) }
        return viewed
    }
}
