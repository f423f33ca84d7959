import PerchBase
import PerchClient
import PerchModel

// MARK: entitlement_service.proto: plans, offers, policies

extension ContractWriter {
    /// `PlanOption`.
    mutating func planOption(_ value: PlanOption) {
        self.message("product") { $0.product(value.product) }
        self.choice("relation", value.relation, "PLAN_RELATION")
        self.flag("takes_effect_at_renewal", value.takesEffectAtRenewal)
        self.flag("preferred", value.isPreferred)
        self.transactionOffer("offer", value.offer)
    }

    /// `ListPlanOptionsResponse`.
    mutating func planOptions(_ found: Positioned<[PlanOption]>) {
        self.messages("options", found.value) { $0.planOption($1) }
        self.position("position", found.position)
    }

    /// `OfferEligibility`.
    mutating func eligibility(_ value: OfferEligibility) {
        self.text("product_id", value.productID)
        self.choice("type", value.type, "OFFER_TYPE")
        self.text("offer_id", value.offerID)
        self.flag("eligible", value.isEligible)
        self.text("reason", value.reason)
        self.text("message", value.message)
        self.billingPlan("billing_plan", value.billingPlan)
    }

    /// `GetOfferEligibilityResponse`.
    mutating func eligibilities(_ found: Positioned<OfferEligibilities>) {
        self.flag("introductory_eligible", found.value.isEligibleForIntroductory)
        self.messages("offers", found.value.offers) { $0.eligibility($1) }
        self.position("position", found.position)
    }

    /// `GetAppPoliciesResponse`.
    mutating func policies(_ value: ShownPolicies) {
        self.text("licence_agreement", value.licenceAgreement)
        self.text("privacy_policy_text", value.privacyPolicyText)
        self.text("privacy_policy_url", value.privacyPolicyURL)
        self.text("privacy_policy_locale", value.privacyPolicyLocale)
    }
}

// MARK: transaction_service.proto, test_store_service.proto

extension ContractWriter {
    /// `GetAppTransactionResponse`.
    mutating func appTransaction(_ found: Positioned<Verified<AppTransaction>>) {
        let value = found.value.value
        self.text("app_transaction_id", value.id)
        self.text("bundle_id", value.bundleID)
        self.environment(value.environment)
        self.choice("verification_error", found.value.failure, "VERIFICATION_ERROR")
        self.position("position", found.position)
    }

    /// `AppSetting`, as a server answers it.
    mutating func setting(_ value: AppSettingChange) {
        switch value {
        case .askToBuy(let isOn): self.flag("ask_to_buy", ifAny: isOn)
        case .interruptedPurchases(let isOn): self.flag("interrupted_purchases", ifAny: isOn)
        case .billingRetryOnRenewal(let isOn): self.flag("billing_retry_on_renewal", ifAny: isOn)
        case .gracePeriod(let isOn): self.flag("grace_period", ifAny: isOn)
        case .gracePeriodDays(let days): self.number("grace_period_days", ifAny: Int(days))
        case .gracePeriodForAllRenewals(let isOn): self.flag("grace_period_for_all_renewals", ifAny: isOn)
        case .dialogs(let isOn): self.flag("dialogs", ifAny: isOn)
        case .timeRate(let rate): self.number("time_rate", ifAny: Int(rate))
        case .storefront(let code): self.text("storefront", ifAny: code)
        case .locale(let locale): self.text("locale", ifAny: locale)
        case .simulatedError(let api, let error):
            self.message("simulated_error") { json in
                json.choice("api", api, "STORE_KIT_API")
                json.choice("error", error ?? SimulatedError(rawValue: 0), "STORE_KIT_ERROR")
            }
        // These two are asked for, and never answered: a product is the catalogue's, and a reset is over when it is done.
        case .product, .reset: break
        }
    }

    /// `GetSettingsResponse`.
    mutating func settings(_ values: [AppSettingChange]) {
        self.messages("settings", values) { $0.setting($1) }
    }
}

// MARK: For people

extension TextWriter {
    func planOption(_ value: PlanOption, width: Int) -> String {
        let product = value.product
        var text = "\(printable(product.id).padded(to: width))  "
        let relation = value.relation == .unspecified ? "" : value.relation.description
        text += value.relation == .current ? self.paint(.green, relation.padded(to: 10)) : relation.padded(to: 10)
        text += "  \(printable(product.displayPrice))"
        if let subscription = product.subscription {
            text += " for \(Self.words(subscription.period)), level \(subscription.groupLevel)"
        }
        if let offer = value.offer { text += ", \(self.offer(offer))" }
        if value.relation != .current { text += value.takesEffectAtRenewal ? "  from the next period" : "  at once" }
        if value.isPreferred, value.relation != .current { text += "  " + self.paint(.yellow, "chosen") }
        return text
    }

    /// The offer of a transaction in words, such as `introductory offer, free trial`.
    func offer(_ value: TransactionOffer) -> String {
        "\(Self.words(value.type)) offer" + (value.id.isEmpty ? "" : " \(printable(value.id))")
            + (value.paymentMode == .unspecified ? "" : ", \(Self.words(value.paymentMode))")
    }

    func eligibilities(_ value: OfferEligibilities) -> [String] {
        let introductory = value.isEligibleForIntroductory ? self.paint(.green, "yes") : self.paint(.red, "no ")
        return ["\(introductory)  an introductory offer of this group"]
            + value.offers.map { offer in
                let verdict = offer.isEligible ? self.paint(.green, "yes") : self.paint(.red, "no ")
                let id = offer.offerID.isEmpty ? "" : " \(printable(offer.offerID))"
                let plan = offer.billingPlan == .unspecified ? "" : ", billed \(Self.words(offer.billingPlan))"
                let why = offer.isEligible ? "" : "  \(printable(offer.message)) (\(printable(offer.reason)))"
                return "\(verdict)  \(printable(offer.productID))  \(Self.words(offer.type)) offer\(id)\(plan)\(why)"
            }
    }

    func policies(_ value: ShownPolicies) -> [String] {
        func text(_ text: String) -> String { text.isEmpty ? self.paint(.dim, "none") : printable(text) }
        let locale = value.privacyPolicyLocale.isEmpty ? "" : " (\(printable(value.privacyPolicyLocale)))"
        return [
            "licence agreement  \(text(value.licenceAgreement))",
            "privacy policy     \(text(value.privacyPolicyText))\(locale)",
            "privacy address    \(text(value.privacyPolicyURL))",
        ]
    }

    func appTransaction(_ value: Verified<AppTransaction>) -> String {
        let id = value.value.id.isEmpty ? "none yet" : printable(value.value.id)
        return "app transaction \(id)  \(printable(value.value.bundleID))  \(value.value.environment)"
            + (value.isVerified ? "" : "  " + self.paint(.red, "unverified: \(value.failure)"))
    }

    /// By the names that `perch store set` and `perch store fail` take.
    func setting(_ value: AppSettingChange) -> String? {
        func line(_ name: SettingName, _ value: String) -> String { "\(name.rawValue.padded(to: 13)) \(value)" }
        func line(_ name: SettingName, _ isOn: Bool) -> String {
            line(name, isOn ? self.paint(.yellow, "on") : "off")
        }
        switch value {
        case .askToBuy(let isOn): return line(.askToBuy, isOn)
        case .interruptedPurchases(let isOn): return line(.interrupted, isOn)
        case .billingRetryOnRenewal(let isOn): return line(.billingRetry, isOn)
        case .gracePeriod(let isOn): return line(.grace, isOn)
        case .gracePeriodDays(let days): return line(.graceDays, String(days))
        case .gracePeriodForAllRenewals(let isOn): return line(.graceForAll, isOn)
        case .dialogs(let isOn): return line(.dialogs, isOn)
        case .timeRate(let rate): return line(.timeRate, TimeRate(rawValue: rate)?.name ?? String(rate))
        case .storefront(let code): return line(.storefront, printable(code))
        case .locale(let locale): return line(.locale, printable(locale))
        case .simulatedError(let api, let error):
            return error.map { self.paint(.red, "fails") + "         \(api) with \($0)" }
        case .product, .reset: return nil
        }
    }

    /// Each offer of a product on a line of its own.
    func offers(of product: Product) -> [String] {
        guard let subscription = product.subscription else { return [] }
        let all = subscription.introductoryOffers + subscription.promotionalOffers + subscription.winBackOffers
        return all.map { offer in
            let id = offer.id.isEmpty ? "" : " \(printable(offer.id))"
            return "\(Self.words(offer.type)) offer\(id): \(self.terms(offer))"
        }
    }
}
