package import PerchBase

/// The products of a group on sale, with the relation of each to the account's current plan. Sorted by level of
/// service, then in catalogue order. Prices are in the account's storefront.
package func planOptions(
    of record: AccountRecord?, inGroup groupID: String, locale: String, app: AppState, at now: Instant
) -> [PlanOption] {
    let offers = holdings(of: record, in: app, at: now).offers(inGroup: groupID)
    let (held, preferred) = (offers.heldPlan, offers.preferredProductID)
    let plans = app.catalogue.products.enumerated()
        .filter { !$1.isWithdrawn && $1.subscription?.groupID == groupID }
        .sorted { ($0.element.subscription?.level ?? 0, $0.offset) < ($1.element.subscription?.level ?? 0, $1.offset) }
        .map(\.element)
    let shown = products(
        plans.map(\.id), locale: locale, storefront: storefront(of: record, app: app).countryCode, app: app)
    return zip(plans, shown.products).map { plan, product in
        let change = held?.change(to: plan)
        var offer: TransactionOffer?
        if change == nil || change == .now, offers.introductory == .eligible {
            offer = plan.subscription?.introductoryOffers.first { belongs($0, to: .upFront) }?.applied
        }
        return PlanOption(
            product: product, relation: held?.relation(to: plan) ?? .unspecified,
            takesEffectAtRenewal: change == .atRenewal, isPreferred: plan.id == preferred, offer: offer)
    }
}

/// The account's eligibility for the offers of a product, or of all products of a group. Computed for each read;
/// StoreKit keeps its first answer.
package func offerEligibility(
    of record: AccountRecord?, inGroup groupID: String, product productID: String, app: AppState, at now: Instant
) -> OfferEligibilities {
    let group = productID.isEmpty ? groupID : app.catalogue.product(productID)?.subscription?.groupID ?? groupID
    let offers = holdings(of: record, in: app, at: now).offers(inGroup: group)
    let introductory = offers.introductoryEligibility
    var result = OfferEligibilities(
        isEligibleForIntroductory: introductory == .eligible, offers: [], introductory: introductory)
    var winBacks: [(product: CatalogueProduct, offer: WinBackOffer)] = []
    for product in app.catalogue.products where productID.isEmpty || product.id == productID {
        func tell(_ offer: SubscriptionOffer, _ ruling: OfferRuling?) {
            if let ruling { result.offers.append(eligibility(of: offer, product, ruling)) }
        }
        guard let subscription = product.subscription else {
            guard product.id == productID else { continue }
            for code in product.codeOffers { tell(code.offer, offers.ruling(onCode: code, of: product)) }
            continue
        }
        guard subscription.groupID == group else { continue }
        for offer in subscription.introductoryOffers { tell(offer, offers.introductory) }
        // Also those of another billing plan than the held one: bought with that plan, they begin at the renewal.
        for offer in subscription.promotionalOffers { tell(offer, offers.promotional) }
        for code in subscription.codeOffers { tell(code.offer, offers.ruling(onCode: code, of: product)) }
        winBacks += subscription.winBackOffers.map { (product, $0) }
    }
    for (product, winBack) in offers.ordered(winBacks) {
        result.offers.append(eligibility(of: winBack.offer, product, offers.ruling(onWinBack: winBack)))
    }
    return result
}

private func eligibility(
    of offer: SubscriptionOffer, _ product: CatalogueProduct, _ ruling: OfferRuling
) -> OfferEligibility {
    let ruling = product.isWithdrawn ? .productWithdrawn : ruling
    return OfferEligibility(
        productID: product.id, type: offer.type, offerID: offer.id, isEligible: ruling == .eligible,
        reason: ruling.rawValue, message: ruling.message, billingPlan: offer.billingPlan,
        eligibility: ruling.eligibility)
}

/// An app's policies. The privacy policy is selected by locale like the texts of products.
package func appPolicies(locale: String, app: AppState) -> ShownPolicies {
    let policies = app.catalogue.policies
    var shown = ShownPolicies(licenceAgreement: policies.licenceAgreement)
    let wanted = locale.isEmpty ? app.settings.locale : locale
    if let found = best(policies.privacyPolicies, for: wanted, appLocale: app.settings.locale, by: \.locale) {
        shown.privacyPolicyText = found.text
        shown.privacyPolicyURL = found.url
        shown.privacyPolicyLocale = found.locale
    }
    return shown
}

/// The account's eligibility for an introductory offer in a group.
package func introductoryEligibility(
    of record: AccountRecord?, inGroup groupID: String, app: AppState, at now: Instant
) -> Eligibility {
    holdings(of: record, in: app, at: now).offers(inGroup: groupID).introductoryEligibility
}

/// What is known of whether the account may make payments. The App Store says it on the device only.
package func paymentsEligibility(_ record: AccountRecord?, app: AppState) -> Eligibility {
    holdings(of: record, in: app, at: .distantPast).payments
}

/// Whether the account may make payments. A store refuses every purchase while payments are forbidden, and paid ones while
/// the account's charges are set to fail.
package func canMakePayments(_ record: AccountRecord?, app: AppState) -> Bool {
    guard let record else { return true }
    return !record.arePaymentsForbidden && record.chargesFail != true
}

/// The record of an account's first use of the app, or the failure armed for it.
package func appTransaction(of record: AccountRecord?, app: AppState) throws(Refusal) -> Verified<AppTransaction> {
    try refuseIfSimulated(.appTransaction, app: app)
    return verified(holdings(of: record, in: app, at: .distantPast).appTransaction, app: app)
}
