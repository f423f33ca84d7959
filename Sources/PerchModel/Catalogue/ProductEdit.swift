public import PerchBase

/// A change of one product of a catalogue. Nil fields stay unchanged.
public struct ProductEdit: Hashable, Sendable {
    /// Which.
    public var productID: String
    /// The new price, in thousandths of the currency's unit.
    public var priceMilliunits: Int64?
    /// In all locales.
    public var displayName: String?
    /// Whether the product is withdrawn from sale. The catalogue keeps it, but it is unavailable.
    public var isWithdrawn: Bool?
    /// Whether it can be shared with the family.
    public var isFamilyShareable: Bool?
    /// Replaced by identifier, or added.
    public var offers: [OfferEdit] = []

    /// Creates a value from its parts.
    public init(productID: String) { self.productID = productID }
}

/// An offer of a product: replaced, added or removed.
public struct OfferEdit: Hashable, Sendable {
    /// Introductory, promotional, code or win-back.
    public var type: OfferType
    /// For a code, its reference name; empty for introductory.
    public var id: String
    /// Removes the offer; other fields are then ignored.
    public var isRemoved = false
    /// How it is paid.
    public var paymentMode: PaymentMode = .unspecified
    /// Price in thousandths of the currency's unit; 0 for a free trial.
    public var priceMilliunits: Int64 = 0
    /// Its period.
    public var period = Period(1, .month)
    /// Pay as you go: number of billing periods; 0 means 1.
    public var periodCount: UInt32 = 0
    /// For a code: the account categories that may redeem it, of `new`, `existing` and `expired`; empty means all.
    public var eligibility: [String] = []
    /// For a code: whether it applies after the introductory offer, if the account is eligible for that.
    public var isStackable = false
    /// For a code: what customers enter. None: its reference name is the code, without a limit.
    public var codes: [OfferCode] = []
    /// For a win-back offer: Xcode's switch.
    public var isEligible = false
    /// For a win-back offer: the rule of eligibility; nil: no account is eligible by rule.
    public var winBackRule: WinBackRuleEdit?

    /// Creates a value from its parts.
    public init(type: OfferType, id: String) {
        self.type = type
        self.id = id
    }
}

extension Catalogue {
    /// The products that have offers of codes, each with edits that would make those offers: so many offers, and so many codes.
    package func codeOffers(limit: Int) -> [ProductEdit] {
        var (offersLeft, codesLeft) = (limit, limit)
        var edits: [ProductEdit] = []
        for product in self.products where !product.codeOffers.isEmpty && offersLeft > 0 {
            var edit = ProductEdit(productID: product.id)
            for offer in product.codeOffers.prefix(offersLeft) {
                var made = offer.asEdit
                made.codes = Array(made.codes.prefix(codesLeft))
                codesLeft -= made.codes.count
                edit.offers.append(made)
            }
            offersLeft -= edit.offers.count
            edits.append(edit)
        }
        return edits
    }
}

extension CodeOffer {
    fileprivate var asEdit: OfferEdit {
        var edit = OfferEdit(type: .code, id: self.offer.id)
        edit.paymentMode = self.offer.paymentMode
        edit.priceMilliunits = self.offer.price.milliunits
        edit.period = self.offer.period
        edit.periodCount = UInt32(clamping: self.offer.periodCount)
        edit.eligibility = [("new", Eligibility.new), ("existing", .existing), ("expired", .expired)].filter {
            self.eligibility.contains($1)
        }.map(\.0)
        edit.isStackable = self.isStackable
        edit.codes = self.codes
        return edit
    }
}

/// A code of an offer, as customers enter it.
public struct OfferCode: Hashable, Sendable {
    /// The code: 1 to 64 bytes.
    public var code: String
    /// Number of redemptions, of all accounts together: 1 for a one-time-use code, 0 for no limit.
    public var redemptionLimit: UInt32
    /// From when it cannot be redeemed; nil for no end.
    public var until: Instant?

    /// Creates a value from its parts.
    public init(code: String, redemptionLimit: UInt32 = 0, until: Instant? = nil) {
        self.code = code
        self.redemptionLimit = redemptionLimit
        self.until = until
    }
}

/// The conditions of a win-back offer, in months.
public struct WinBackRuleEdit: Hashable, Sendable {
    /// Months that the customer must have paid for.
    public var paidMonths: UInt32
    /// Months since the end of the subscription, at least.
    public var lapsedMonthsMin: UInt32
    /// Months since the end of the subscription, at most.
    public var lapsedMonthsMax: UInt32
    /// Months that must pass between two win-back offers.
    public var waitMonths: UInt32

    /// Creates a value from its parts.
    public init(paidMonths: UInt32, lapsedMonthsMin: UInt32, lapsedMonthsMax: UInt32, waitMonths: UInt32) {
        self.paidMonths = paidMonths
        self.lapsedMonthsMin = lapsedMonthsMin
        self.lapsedMonthsMax = lapsedMonthsMax
        self.waitMonths = waitMonths
    }
}

/// The catalogue with one product changed. `locale` is the locale of a product's first name, if the product has no name
/// yet.
///
/// The product's own JSON stays as in the file.
package func edited(_ catalogue: Catalogue, by edit: ProductEdit, locale: String) throws(Refusal) -> Catalogue {
    guard let index = catalogue.products.firstIndex(where: { $0.id == edit.productID }) else {
        throw Refusal(
            .productUnknown,
            "product \(edit.productID) is not in the catalogue; `perch catalog show` lists what is")
    }
    var products = catalogue.products
    if let price = edit.priceMilliunits {
        try requirePrice(price, of: edit.productID, field: "settings.product.price_milliunits")
        products[index].price.milliunits = price
        products[index].subscription?.setUpFrontPrice(price)
    }
    if let name = edit.displayName {
        if products[index].localizations.isEmpty {
            products[index].localizations = [Localization(locale: locale, displayName: name, description: "")]
        }
        for place in products[index].localizations.indices { products[index].localizations[place].displayName = name }
    }
    if let isWithdrawn = edit.isWithdrawn { products[index].isWithdrawn = isWithdrawn }
    if let isShareable = edit.isFamilyShareable { products[index].isFamilyShareable = isShareable }
    for offer in edit.offers { try apply(offer, to: &products[index]) }
    return catalogue.replacing(products: products)
}

private func requirePrice(_ milliunits: Int64, of what: String, field: String) throws(Refusal) {
    guard milliunits >= 0 else {
        throw Refusal(
            .fieldInvalid,
            "the price of \(what) is \(Money(milliunits: milliunits, currency: "").decimal()); it can be 0 or more",
            field: field,
            found: milliunits)
    }
}

private func apply(_ edit: OfferEdit, to product: inout CatalogueProduct) throws(Refusal) {
    guard var subscription = product.subscription else { return try applyCode(edit, to: &product) }
    let name = "the \(edit.type) offer \(edit.id) of \(product.id)"
    guard edit.type.isKnown, edit.id.isEmpty == (edit.type == .introductory) else {
        throw Refusal(
            .fieldInvalid,
            "an offer is introductory, without an identifier, or promotional, code or winBack with one; this is \(name)",
            field: "settings.product.offers.type")
    }
    let offer = edit.isRemoved ? nil : try subscriptionOffer(edit, name, currency: product.price.currency)
    switch edit.type {
    case .introductory:
        // Edits the offer without a billing plan; offers of other billing plans come from the file.
        subscription.introductoryOffers.replace({ $0.billingPlan != .monthly }, with: offer)
    case .promotional:
        subscription.promotionalOffers.replace({ $0.id == edit.id }, with: offer)
    case .code:
        let eligibility = try codeEligibility(edit.eligibility, name)
        try check(edit.codes, of: name)
        let code = offer.map {
            CodeOffer(offer: $0, eligibility: eligibility, isStackable: edit.isStackable, codes: edit.codes)
        }
        subscription.codeOffers.replace({ $0.offer.id == edit.id }, with: code)
    default:
        let rule = try edit.winBackRule.map { rule throws(Refusal) in try winBackRule(rule, name) }
        let winBack = offer.map {
            WinBackOffer(offer: $0, isEligible: edit.isEligible, isHighPriority: false, rule: rule)
        }
        subscription.winBackOffers.replace({ $0.offer.id == edit.id }, with: winBack)
    }
    let counts = [
        subscription.promotionalOffers.count, subscription.codeOffers.count, subscription.winBackOffers.count,
    ]
    if let count = counts.max(), count > Limits.editedOffersMax {
        throw Refusal(
            .fieldInvalid,
            "product \(product.id) would have \(count) \(edit.type) offers, the limit is \(Limits.editedOffersMax); "
                + "remove some",
            field: "settings.product.offers", found: Int64(count), limit: Int64(Limits.editedOffersMax))
    }
    product.subscription = subscription
}

/// Edits the offer of a code of a product that is no subscription. It has one payment.
private func applyCode(_ edit: OfferEdit, to product: inout CatalogueProduct) throws(Refusal) {
    let name = "the \(edit.type) offer \(edit.id) of \(product.id)"
    guard edit.type == .code, !edit.id.isEmpty else {
        throw Refusal(
            .notASubscription,
            "product \(product.id) is a \(product.type); only auto-renewable subscriptions have offers other than those of "
                + "codes, which have a reference name")
    }
    var code: CodeOffer?
    if !edit.isRemoved {
        guard edit.paymentMode == .oneTime else {
            throw Refusal(
                .fieldInvalid,
                "the payment mode of \(name) is \(edit.paymentMode); a \(product.type) product is paid once, write oneTime",
                field: "settings.product.offers.payment_mode")
        }
        try requirePrice(edit.priceMilliunits, of: name, field: "settings.product.offers.price_milliunits")
        try check(edit.codes, of: name)
        code = CodeOffer(
            offer: .oneTime(edit.id, price: Money(milliunits: edit.priceMilliunits, currency: product.price.currency)),
            eligibility: .all, isStackable: false, codes: edit.codes)
    }
    product.codeOffers.replace({ $0.offer.id == edit.id }, with: code)
    guard product.codeOffers.count <= Limits.editedOffersMax else {
        throw Refusal(
            .fieldInvalid,
            "product \(product.id) would have \(product.codeOffers.count) code offers, the limit is "
                + "\(Limits.editedOffersMax); remove some",
            field: "settings.product.offers", found: Int64(product.codeOffers.count),
            limit: Int64(Limits.editedOffersMax))
    }
}

extension SubscriptionOffer {
    /// An offer of a code of a product that is no subscription.
    package static func oneTime(_ id: String, price: Money) -> SubscriptionOffer {
        SubscriptionOffer(id: id, type: .code, paymentMode: .oneTime, price: price, period: Period(1, .day))
    }
}

extension CodeOffer.Eligibility {
    package static let all: Self = [.new, .existing, .expired]
}

/// Codes are entered by customers, each in one offer.
private func check(_ codes: [OfferCode], of name: String) throws(Refusal) {
    let field = "settings.product.offers.codes"
    guard codes.count <= Limits.offerCodesMax else {
        throw Refusal(
            .fieldInvalid, "\(name) has \(codes.count) codes, the limit is \(Limits.offerCodesMax)", field: field,
            found: Int64(codes.count), limit: Int64(Limits.offerCodesMax))
    }
    for code in codes {
        guard (1...Limits.offerCodeBytesMax).contains(code.code.utf8.count) else {
            throw Refusal(
                .fieldInvalid,
                "a code of \(name) has \(code.code.utf8.count) bytes; write 1 to \(Limits.offerCodeBytesMax)",
                field: "\(field).code", found: Int64(code.code.utf8.count), limit: Int64(Limits.offerCodeBytesMax))
        }
    }
    guard Set(codes.map(\.code)).count == codes.count else {
        throw Refusal(.fieldInvalid, "\(name) lists a code twice; write each once", field: "\(field).code")
    }
}

private func subscriptionOffer(
    _ edit: OfferEdit, _ name: String, currency: String
) throws(Refusal) -> SubscriptionOffer {
    guard [.freeTrial, .payAsYouGo, .payUpFront].contains(edit.paymentMode) else {
        throw Refusal(
            .fieldInvalid,
            "the payment mode of \(name) is \(edit.paymentMode); write freeTrial, payAsYouGo or payUpFront",
            field: "settings.product.offers.payment_mode")
    }
    try requirePrice(edit.priceMilliunits, of: name, field: "settings.product.offers.price_milliunits")
    guard edit.period.unit.isKnown, (1...10_000).contains(edit.period.value) else {
        throw Refusal(
            .fieldInvalid, "the period of \(name) is \(edit.period); write 1 to 10000 days, weeks, months or years",
            field: "settings.product.offers.period")
    }
    let count = max(edit.periodCount, 1)
    guard count == 1 || (edit.paymentMode == .payAsYouGo && count <= 1_000) else {
        throw Refusal(
            .fieldInvalid,
            "\(name) has \(count) periods; pay as you go has 1 to 1000, a free trial and pay up front have one",
            field: "settings.product.offers.period_count", found: Int64(count))
    }
    // A free trial costs nothing, whatever price is given with it.
    let price = edit.paymentMode == .freeTrial ? 0 : edit.priceMilliunits
    return SubscriptionOffer(
        id: edit.id, type: edit.type, paymentMode: edit.paymentMode,
        price: Money(milliunits: price, currency: currency), period: edit.period, periodCount: Int32(count))
}

private func codeEligibility(_ words: [String], _ name: String) throws(Refusal) -> CodeOffer.Eligibility {
    if words.isEmpty { return .all }
    var eligibility: CodeOffer.Eligibility = []
    for word in words {
        switch word {
        case "new": eligibility.insert(.new)
        case "existing": eligibility.insert(.existing)
        case "expired": eligibility.insert(.expired)
        default:
            throw Refusal(
                .fieldInvalid, "\(name) is for \(word); write new, existing or expired",
                field: "settings.product.offers.eligibility")
        }
    }
    return eligibility
}

private func winBackRule(_ edit: WinBackRuleEdit, _ name: String) throws(Refusal) -> WinBackRule {
    guard edit.paidMonths <= 1_200, (1...24).contains(edit.lapsedMonthsMin),
        (edit.lapsedMonthsMin...24).contains(edit.lapsedMonthsMax), (2...24).contains(edit.waitMonths)
    else {
        throw Refusal(
            .fieldInvalid,
            "the rule of \(name) is \(edit.paidMonths) months paid, \(edit.lapsedMonthsMin) to \(edit.lapsedMonthsMax) "
                + "lapsed, \(edit.waitMonths) to wait; write 0 to 1200, 1 to 24, and 2 to 24",
            field: "settings.product.offers.win_back_rule")
    }
    var rule = WinBackRule()
    rule.paidMonthsMin = Int32(edit.paidMonths)
    rule.lapsedMonthsMin = Int32(edit.lapsedMonthsMin)
    rule.lapsedMonthsMax = Int32(edit.lapsedMonthsMax)
    rule.waitMonths = Int32(edit.waitMonths)
    return rule
}

extension CatalogueSubscription {
    /// The up-front plan costs what the product costs.
    fileprivate mutating func setUpFrontPrice(_ milliunits: Int64) {
        for index in self.billingPlans.indices where self.billingPlans[index].type == .upFront {
            self.billingPlans[index].price.milliunits = milliunits
            self.billingPlans[index].commitmentPrice.milliunits = milliunits
        }
    }
}

extension Array {
    /// Replaces the first matching element, or appends; nil removes all matching elements.
    fileprivate mutating func replace(_ isMeant: (Element) -> Bool, with element: Element?) {
        guard let element else { return self.removeAll(where: isMeant) }
        if let index = self.firstIndex(where: isMeant) {
            self[index] = element
        } else {
            self.append(element)
        }
    }
}
