package import PerchBase

/// The products of a group on sale, with the relation of each to the account's current plan. Sorted by level of
/// service, then in catalogue order. Prices are in the account's storefront.
package func planOptions(
    of record: AccountRecord?, inGroup groupID: String, locale: String, app: AppState, at now: Instant
) -> [PlanOption] {
    let rules = OfferRules(record: record, groupID: groupID, app: app, now: now)
    let held = rules.heldLine
    let preferred = rules.line?.renewalProductID(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
    let plans = app.catalogue.products.enumerated()
        .filter { !$1.isWithdrawn && $1.subscription?.groupID == groupID }
        .sorted { ($0.element.subscription?.level ?? 0, $0.offset) < ($1.element.subscription?.level ?? 0, $1.offset) }
        .map(\.element)
    let shown = products(
        plans.map(\.id), locale: locale, storefront: storefront(of: record, app: app).countryCode, app: app)
    if !app.isTestApp {
        return toldPlanOptions(of: record, plans: plans, shown: shown.products, inGroup: groupID, app: app, at: now)
    }
    return zip(plans, shown.products).map { plan, product in
        let change = held.map { planChange(from: $0, to: plan, catalogue: app.catalogue) }
        var offer: TransactionOffer?
        if change == nil || change == .now, rules.introductory == .eligible {
            offer = plan.subscription?.introductoryOffers.first { belongs($0, to: .upFront) }?.applied
        }
        return PlanOption(
            product: product, relation: relation(of: plan, to: held, catalogue: app.catalogue),
            takesEffectAtRenewal: change == .atRenewal,
            isPreferred: plan.id == preferred, offer: offer)
    }
}

private func relation(of plan: CatalogueProduct, to held: Line?, catalogue: Catalogue) -> PlanRelation {
    guard let held else { return .unspecified }
    if held.latest.productID == plan.id { return .current }
    guard let target = plan.subscription, let level = heldPlan(of: held, catalogue: catalogue)?.level else {
        return .crossgrade
    }
    return target.level < level ? .upgrade : target.level > level ? .downgrade : .crossgrade
}

/// The account's eligibility for the offers of a product, or of all products of a group. Computed for each read;
/// StoreKit keeps its first answer.
package func offerEligibility(
    of record: AccountRecord?, inGroup groupID: String, product productID: String, app: AppState, at now: Instant
) -> OfferEligibilities {
    let group = productID.isEmpty ? groupID : app.catalogue.product(productID)?.subscription?.groupID ?? groupID
    if !app.isTestApp {
        return toldOfferEligibility(of: record, inGroup: group, product: productID, app: app, at: now)
    }
    let rules = OfferRules(record: record, groupID: group, app: app, now: now)
    let isKnown = app.catalogue.group(group) != nil
    let isIntroductory = isKnown && rules.introductory == .eligible
    var result = OfferEligibilities(
        isEligibleForIntroductory: isIntroductory, offers: [], introductory: Eligibility(isIntroductory))
    var winBacks: [(product: CatalogueProduct, offer: WinBackOffer)] = []
    for product in app.catalogue.products where productID.isEmpty || product.id == productID {
        guard let subscription = product.subscription else {
            guard product.id == productID else { continue }
            result.offers += product.codeOffers.map {
                eligibility(of: $0.offer, product, rules.ruling(on: $0, of: product))
            }
            continue
        }
        guard subscription.groupID == group else { continue }
        func tell(_ offer: SubscriptionOffer, _ ruling: OfferRuling) {
            result.offers.append(eligibility(of: offer, product, ruling))
        }
        for offer in subscription.introductoryOffers { tell(offer, rules.introductory) }
        // Also those of another billing plan than the held one: bought with that plan, they begin at the renewal.
        for offer in subscription.promotionalOffers { tell(offer, rules.promotional) }
        for code in subscription.codeOffers { tell(code.offer, rules.ruling(on: code, of: product)) }
        winBacks += subscription.winBackOffers.map { (product, $0) }
    }
    for winBack in winBacks.sorted(by: OfferRules.isBetter) {
        result.offers.append(eligibility(of: winBack.offer.offer, winBack.product, rules.ruling(on: winBack.offer)))
    }
    return result
}

func eligibility(
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
    if !app.isTestApp {
        return ToldOfferRules(of: record, inGroup: groupID, app: app, at: now).introductory.eligibility
    }
    guard app.catalogue.group(groupID) != nil else { return .ineligible }
    return OfferRules(record: record, groupID: groupID, app: app, now: now).introductory.eligibility
}

/// What is known of whether the account may make payments. The App Store says it on the device only.
package func paymentsEligibility(_ record: AccountRecord?, app: AppState) -> Eligibility {
    app.isTestApp ? Eligibility(canMakePayments(record, app: app)) : .unknown
}

/// Whether the account may make payments. A store refuses every purchase while payments are forbidden, and paid ones while
/// the account's charges are set to fail.
package func canMakePayments(_ record: AccountRecord?, app: AppState) -> Bool {
    guard app.isTestApp, let record else { return true }
    return !record.arePaymentsForbidden && record.chargesFail != true
}

/// The record of an account's first use of the app, or the failure armed for it.
package func appTransaction(of record: AccountRecord?, app: AppState) throws(Refusal) -> Verified<AppTransaction> {
    try refuseIfSimulated(.appTransaction, app: app)
    let id = app.isTestApp ? record?.appTransactionID : record?.told?.appTransactionID
    var shown = AppTransaction(
        id: id ?? "", bundleID: app.bundleID, environment: app.environment)
    // Of other apps the App Store alone knows it.
    guard app.isTestApp else { return verified(shown, app: app) }
    let terms = record?.appTransaction ?? AppTransactionTerms()
    shown.originalAppVersion = terms.originalAppVersion.isEmpty ? "1.0" : terms.originalAppVersion
    shown.originalPurchaseDate = terms.originalPurchaseDate ?? firstPurchaseOfTheSandbox
    shown.originalPlatform = terms.originalPlatform == .unspecified ? .iOS : terms.originalPlatform
    if terms.environment != .unspecified { shown.environment = terms.environment }
    return verified(shown, app: app)
}

/// When every customer of the sandbox has bought the app: 2013-08-01, midnight in Cupertino.
private let firstPurchaseOfTheSandbox = Instant(milliseconds: 1_375_340_400_000)
