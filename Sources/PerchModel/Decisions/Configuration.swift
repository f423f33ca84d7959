/// One setting of an app.
public enum AppSettingChange: Hashable, Sendable {
    case askToBuy(Bool)
    case interruptedPurchases(Bool)
    case billingRetryOnRenewal(Bool)
    case gracePeriod(Bool)
    /// 3, 16 or 28.
    case gracePeriodDays(UInt32)
    case gracePeriodForAllRenewals(Bool)
    case dialogs(Bool)
    /// A value of `SKTestSession.TimeRate`.
    case timeRate(Int32)
    /// Alpha-3.
    case storefront(String)
    case locale(String)
    /// A nil error disarms.
    case simulatedError(StoreKitAPI, SimulatedError?)
    case product(ProductEdit)
    /// Restores all settings except products to the catalogue file's, and disarms all failures.
    case reset
}

/// Settings and catalogue after the changes, applied in order: all of them or none. `catalogue` is nil if no product
/// changes.
package func decideConfiguration(
    _ changes: [AppSettingChange], settings: AppSettings, fileSettings: AppSettings, catalogue: Catalogue
) throws(Refusal) -> (settings: AppSettings, catalogue: Catalogue?) {
    var settings = settings
    var products = catalogue
    for change in changes {
        switch change {
        case .askToBuy(let isOn): settings.isAskToBuyEnabled = isOn
        case .interruptedPurchases(let isOn): settings.areBillingIssuesEnabled = isOn
        case .billingRetryOnRenewal(let isOn): settings.areRenewalBillingIssuesEnabled = isOn
        case .gracePeriod(let isOn): settings.isGracePeriodEnabled = isOn
        case .gracePeriodForAllRenewals(let isOn): settings.hasGracePeriodForAllRenewals = isOn
        case .dialogs(let isOn): settings.asksBeforePurchases = isOn
        case .gracePeriodDays(let days):
            guard [3, 16, 28].contains(days) else {
                throw Refusal(
                    .fieldInvalid, "a grace period of \(days) days; the App Store has 3, 16 and 28",
                    field: "settings.grace_period_days", found: Int64(days))
            }
            settings.gracePeriodDays = Int64(days)
        case .timeRate(let number):
            guard let rate = TimeRate(rawValue: number) else {
                throw Refusal(
                    .fieldInvalid, "there is no time rate \(number); `perch store clock --help` lists them",
                    field: "settings.time_rate")
            }
            settings.timeRate = rate
        case .storefront(let country):
            try checkCountry(country, field: "settings.storefront")
            settings.storefront = country
        case .locale(let text):
            try checkLocale(text, field: "settings.locale")
            settings.locale = String(text.map { $0 == "-" ? "_" : $0 })
        case .simulatedError(let api, let error):
            try check(error, for: api)
            settings.simulatedErrors[api] = error
        case .product(let edit):
            products = try edited(products, by: edit, locale: settings.locale)
        case .reset:
            settings = fileSettings
            settings.simulatedErrors = SimulatedErrors()
        }
    }
    return (settings, products == catalogue ? nil : products)
}

/// The changes that would produce these settings: one of each kind, then one for each armed failure.
package func changes(making settings: AppSettings) -> [AppSettingChange] {
    let kinds: [AppSettingChange] = [
        .askToBuy(settings.isAskToBuyEnabled), .interruptedPurchases(settings.areBillingIssuesEnabled),
        .billingRetryOnRenewal(settings.areRenewalBillingIssuesEnabled), .gracePeriod(settings.isGracePeriodEnabled),
        .gracePeriodDays(UInt32(clamping: settings.gracePeriodDays)),
        .gracePeriodForAllRenewals(settings.hasGracePeriodForAllRenewals), .dialogs(settings.asksBeforePurchases),
        .timeRate(settings.timeRate.rawValue), .storefront(settings.storefront), .locale(settings.locale),
    ]
    return kinds + settings.simulatedErrors.entries.map { .simulatedError($0.api, $0.error) }
}

/// Checks for a language, or language and country, with underscores as in catalogue files, or with hyphens.
package func checkLocale(_ text: String, field: String) throws(Refusal) {
    // A language has two or three letters; script, country and variant follow.
    let parts = text.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    let isLocale =
        text.utf8.count <= 35 && (2...3).contains(parts[0].count) && parts[0].allSatisfy { $0.isLetter }
        && parts.dropFirst().allSatisfy { part in
            (2...8).contains(part.count)
                && part.allSatisfy { $0.isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    guard isLocale else {
        throw Refusal(
            .fieldInvalid, "the locale does not look like en_US; write a language, or language and country",
            field: field)
    }
}

extension UInt8 {
    /// Of ASCII.
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}

private func check(_ error: SimulatedError?, for api: StoreKitAPI) throws(Refusal) {
    guard api.isKnown else {
        throw Refusal(
            .fieldInvalid, "there is no part \(api) of the store to fail; see StoreKitApi in the contract",
            field: "settings.simulated_error.api")
    }
    guard let error else { return }
    guard error.isPossible(for: api) else {
        let possible = SimulatedError.names.indices.map { SimulatedError(rawValue: Int32($0)) }
            .filter { $0.isPossible(for: api) }.map(\.description).joined(separator: ", ")
        throw Refusal(
            .fieldInvalid, "\(api) cannot fail with \(error) in StoreKit; it can with \(possible)",
            field: "settings.simulated_error.error")
    }
}
