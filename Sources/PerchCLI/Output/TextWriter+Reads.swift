import PerchBase
import PerchClient
import PerchModel

import struct PerchWire.AppTransactionAnswer

// Answers of reads for people.

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

    func unknown(_ isNotInCatalog: Bool) -> String { isNotInCatalog ? ", which is not in the catalogue" : "" }

    /// Of a group or a product that the catalogue does not have.
    func noEligibilities(of subject: String) -> [String] {
        ["\(self.paint(.red, "no "))  an offer of \(subject), which is not in the catalogue"]
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

    func appTransaction(_ value: AppTransactionAnswer) -> String {
        let id = value.appTransactionID.isEmpty ? "none yet" : printable(value.appTransactionID)
        let version = value.originalAppVersion.isEmpty ? "" : "  first \(printable(value.originalAppVersion))"
        let date = value.originalPurchaseDate.map { "  got \($0)" } ?? ""
        let platform = value.originalPlatform == .unspecified ? "" : "  on \(value.originalPlatform)"
        return "app transaction \(id)  \(printable(value.bundleID))  \(value.environment)\(version)\(date)\(platform)"
            + (value.failure == .unspecified ? "" : "  " + self.paint(.red, "unverified: \(value.failure)"))
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

    /// A line for each offer of a product.
    func offers(of product: Product) -> [String] {
        guard let subscription = product.subscription else { return [] }
        let all = subscription.introductoryOffers + subscription.promotionalOffers + subscription.winBackOffers
        return all.map { offer in
            let id = offer.id.isEmpty ? "" : " \(printable(offer.id))"
            return "\(Self.words(offer.type)) offer\(id): \(self.terms(offer))"
        }
    }
}

extension TextWriter {
    /// The contents of an account, a line for each thing.
    func inspection(_ value: AccountDetails, now: Instant) -> [String] {
        var lines = ["app transaction \(printable(value.appTransactionID))"]
        if !value.storefront.isEmpty { lines.append("storefront \(printable(value.storefront))") }
        if value.charges != .asTheApp { lines.append("charges \(value.charges)") }
        if value.arePaymentsForbidden { lines.append(self.paint(.yellow, "payments are forbidden")) }
        for offer in value.redeemedOffers {
            let code = offer.code.isEmpty ? "" : " by \(printable(offer.code))"
            lines.append("redeemed the offer \(printable(offer.offerID)) of \(printable(offer.productID))\(code)")
        }
        for group in value.groups {
            // The row of `perch store watch`, without forecasts, which only streams have.
            let rows = BoardRow.rows(of: group.statuses, account: "", group: group.id, forecast: nil)
            for (status, row) in zip(group.statuses.statuses, rows) {
                lines.append(
                    "group \(printable(group.id))  \(status.state)  \(self.transaction(status.transaction))")
                lines.append("  " + self.boardBadges(row, now: now))
            }
        }
        lines += value.owned.map { "owned  " + self.transaction($0) }
        lines += value.pendingPurchases.map {
            "purchase \($0.id) of \(printable($0.order.productID)) waits since \($0.since): \($0.reason)"
        }
        lines += value.purchaseIntents.map { self.intent($0) }
        lines += value.shares.map {
            "shares \($0.originalTransactionID) as \($0.memberOriginalTransactionID)"
        }
        lines += value.awaitingSync.map { "comes with sync  " + self.transaction($0) }
        return lines
    }

    func intent(_ value: PurchaseIntent) -> String {
        "intent \(value.id) to buy \(printable(value.productID)) since \(value.since)"
            + (value.offer.map { " with the \($0.type) offer \(printable($0.id))" } ?? "")
    }

    func intents(_ values: [PurchaseIntent], _ info: ValueInfo) -> [String] {
        guard !values.isEmpty else { return ["\(info.position.asOf)  no purchase intents"] }
        return values.map { "\(info.position.asOf)  " + self.intent($0) }
    }

    func named(_ values: [NamedEntitlement], _ info: ValueInfo) -> [String] {
        guard !values.isEmpty else { return ["\(info.position.asOf)  no entitlement has a name here"] }
        return values.map { "\(info.position.asOf)  " + CommandRun.line(of: $0) }
    }

    func storeMessages(_ values: [StoreMessage], _ info: ValueInfo) -> [String] {
        guard !values.isEmpty else { return ["\(info.position.asOf)  no messages"] }
        return values.map { message in
            "\(info.position.asOf)  \(message.reason) since \(message.since)"
                + (message.productID.isEmpty ? "" : "  \(printable(message.productID))")
                + (message.offerID.isEmpty ? "" : "  offer \(printable(message.offerID))")
        }
    }
}
