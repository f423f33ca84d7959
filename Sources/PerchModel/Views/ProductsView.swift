import PerchBase

/// Products in the order of the request, without duplicates, in its locale and storefront. Products withdrawn from sale
/// count as unavailable.
package func products(
    _ ids: [String], locale requestedLocale: String, storefront requestedStorefront: String, app: AppState
) -> Products {
    let locale = requestedLocale.isEmpty ? app.settings.locale : requestedLocale
    let country = requestedStorefront.isEmpty ? app.settings.storefront : requestedStorefront
    let storefront = Storefronts.storefront(country)
    let currency = Storefronts.currency(of: country)
    var result = Products(products: [], unavailableIDs: [])
    var seen: Set<String> = []
    for id in ids where seen.insert(id).inserted {
        guard let product = app.catalogue.productOnSale(id) else {
            result.unavailableIDs.append(id)
            continue
        }
        result.products.append(
            shown(product, locale: locale, storefront: storefront, currency: currency, app: app))
    }
    return result
}

private func shown(
    _ product: CatalogueProduct, locale: String, storefront: Storefront, currency: String, app: AppState
) -> Product {
    // The file has one price for all storefronts: the number stays, the currency is the storefront's.
    func priced(_ money: Money) -> (Money, String) {
        let price = Money(milliunits: money.milliunits, currency: currency)
        return (price, Storefronts.display(price, locale: locale))
    }
    func shownOffer(_ offer: SubscriptionOffer) -> SubscriptionOffer {
        var offer = offer
        (offer.price, offer.displayPrice) = priced(offer.price)
        return offer
    }
    let text = localization(product.localizations, for: locale, appLocale: app.settings.locale)
    let (price, displayPrice) = priced(product.price)
    var result = Product(
        id: product.id, type: product.type, displayName: text?.displayName ?? "",
        description: text?.description ?? "", price: price, displayPrice: displayPrice,
        isFamilyShareable: product.isFamilyShareable, storefront: storefront)
    result.promotionalImageID = product.promotionalImageID
    result.promotionalImageHash = app.catalogue.image(product.promotionalImageID)?.hash.bytes ?? []
    result.jsonRepresentation = product.json
    if let subscription = product.subscription {
        let group = app.catalogue.group(subscription.groupID)
        let groupText = localization(group?.localizations ?? [], for: locale, appLocale: app.settings.locale)
        var info = SubscriptionInfo(
            groupID: subscription.groupID, groupDisplayName: groupText?.displayName ?? "",
            groupLevel: subscription.level, period: subscription.period)
        info.introductoryOffers = subscription.introductoryOffers.map(shownOffer)
        info.promotionalOffers = subscription.promotionalOffers.map(shownOffer)
        info.winBackOffers = subscription.winBackOffers.map { shownOffer($0.offer) }
        info.billingPlans = subscription.billingPlans.map { plan in
            var plan = plan
            (plan.price, plan.displayPrice) = priced(plan.price)
            (plan.commitmentPrice, plan.commitmentDisplayPrice) = priced(plan.commitmentPrice)
            return plan
        }
        result.subscription = info
    }
    return result
}

/// The texts for a locale. Tried in order: the exact locale, its prefixes without region and so on, any locale of the
/// same language, the app's locale, `en_US`, the first.
func localization(_ all: [Localization], for locale: String, appLocale: String) -> Localization? {
    best(all, for: locale, appLocale: appLocale, by: \.locale)
}

/// The best match for a locale, by the same order.
func best<Text>(
    _ all: [Text], for locale: String, appLocale: String, by localeOf: (Text) -> String
) -> Text? {
    func exact(_ wanted: String) -> Text? {
        let wanted = wanted.replacing("-", with: "_")
        return all.first { localeOf($0) == wanted }
    }
    func language(_ wanted: String) -> Text? {
        var parts = wanted.split(whereSeparator: { $0 == "_" || $0 == "-" })
        guard let language = parts.first else { return nil }
        while parts.count > 1 {
            parts.removeLast()
            if let text = exact(parts.joined(separator: "_")) { return text }
        }
        // Taiwan, Hong Kong and Macau use traditional characters, all others simplified ones; readers prefer their own
        // script.
        if language == "zh",
            let text = exact(["TW", "HK", "MO", "Hant"].contains { wanted.contains($0) } ? "zh_Hant" : "zh_Hans")
        {
            return text
        }
        return exact(String(language)) ?? all.first { localeOf($0).hasPrefix(language + "_") }
    }
    return exact(locale) ?? language(locale) ?? exact(appLocale) ?? exact("en_US") ?? all.first
}

extension String {
    fileprivate func replacing(_ old: Character, with new: Character) -> String {
        String(self.map { $0 == old ? new : $0 })
    }
}
