import PerchBase
import PerchJSON
import PerchModel

extension CatalogueLoader {
    /// Introductory offers: at most one for each billing plan.
    ///
    /// `introductoryOffer` is what older files have; newer ones have the list, often with the same offer beside it.
    mutating func introductoryOffers(_ fields: inout Fields) throws(CatalogueError) -> [SubscriptionOffer] {
        var offers: [SubscriptionOffer] = []
        for entry in fields.softList("introductoryOffers", &self.findings) {
            var entry = entry
            guard let offer = try self.offer(&entry, .introductory) else { continue }
            guard !offers.contains(where: { $0.plan == offer.plan }) else {
                self.findings.warn(
                    .leftOut, at: entry.place, "a second introductory offer for the same billing plan; left out")
                continue
            }
            offers.append(offer)
        }
        guard let value = fields.take("introductoryOffer") else { return offers }
        guard var entry = Fields(value) else {
            self.findings.warn(
                .leftOut, at: value.place, "\"introductoryOffer\" should be an object, not \(value.kind); left out")
            return offers
        }
        guard let offer = try self.offer(&entry, .introductory) else { return offers }
        if let listed = offers.first(where: { $0.plan == offer.plan }) {
            if !listed.says(theSameAs: offer) {
                self.findings.warn(
                    .leftOut, at: entry.place,
                    "\"introductoryOffer\" differs from the one in \"introductoryOffers\", which is taken; left out")
            }
            return offers
        }
        return offers + [offer]
    }

    mutating func promotionalOffers(_ fields: inout Fields) throws(CatalogueError) -> [SubscriptionOffer] {
        var offers: [SubscriptionOffer] = []
        for entry in fields.softList("adHocOffers", &self.findings) {
            var entry = entry
            guard let offer = try self.offer(&entry, .promotional) else { continue }
            if self.isNew(offer, beside: offers, entry) { offers.append(offer) }
        }
        return offers
    }

    mutating func codeOffers(_ fields: inout Fields) throws(CatalogueError) -> [CodeOffer] {
        var offers: [CodeOffer] = []
        for entry in fields.softList("codeOffers", &self.findings) {
            var entry = entry
            let eligibility = self.eligibility(&entry)
            let isStackable = entry.flag("isStackable", &self.findings)
            let codes = try self.codes(&entry)
            guard let offer = try self.offer(&entry, .code) else { continue }
            guard self.isNew(offer, beside: offers.map(\.offer), entry) else { continue }
            offers.append(CodeOffer(offer: offer, eligibility: eligibility, isStackable: isStackable, codes: codes))
        }
        return offers
    }

    /// The offers of codes of a product that is no subscription. Each is one payment, whatever its mode is called.
    mutating func oneTimeOffers(_ fields: inout Fields) throws(CatalogueError) -> [CodeOffer] {
        var offers: [CodeOffer] = []
        for entry in fields.softList("codeOffers", &self.findings) {
            var entry = entry
            let codes = try self.codes(&entry)
            let id = entry.text("referenceName", &self.findings)
            let mode = entry.take("paymentMode")
            if mode?.string == "none" { continue }
            let isFree = mode?.string == "free"
            let price = isFree ? self.freePrice(&entry) : try self.price(&entry, "displayPrice")
            // All customers may redeem a code of such a product, and it has no periods.
            entry.ignore(
                "internalID", "eligibility", "isStackable", "offerID", "subscriptionPeriod", "numberOfPeriods",
                "billingPlanType")
            entry.reportUnknown(in: "an offer", to: &self.findings)
            guard self.isRedeemable(id, .code, entry) else { continue }
            let offer = SubscriptionOffer.oneTime(id, price: price)
            guard self.isNew(offer, beside: offers.map(\.offer), entry) else { continue }
            offers.append(CodeOffer(offer: offer, eligibility: .all, isStackable: false, codes: codes))
        }
        return offers
    }

    /// What customers enter: `"perch": {"codes": [{"code": "SPRING", "redemptions": 500, "until": "2027-01-01T00:00:00Z"}]}`.
    private mutating func codes(_ fields: inout Fields) throws(CatalogueError) -> [OfferCode] {
        guard let value = fields.take("perch") else { return [] }
        let offer = "the code offer \(quoted(fields.peek("referenceName")?.string ?? ""))"
        guard var ours = Fields(value) else {
            throw self.findings.error(
                .badRule, at: value.place, "\"perch\" of \(offer) should be an object, not \(value.kind)")
        }
        guard let list = ours.take("codes")?.array else {
            throw self.findings.error(
                .badRule, at: value.place, "\"perch\" of \(offer) should have \"codes\", a list of objects with a code")
        }
        if let unknown = ours.firstUntaken {
            throw self.findings.error(
                .badRule, at: unknown.place,
                "\"perch\" of \(offer) has no key \(quoted(unknown.key)); its only key is codes")
        }
        guard list.count <= Limits.offerCodesMax else {
            throw self.findings.error(
                .badRule, at: value.place, "\(offer) has \(list.count) codes, the limit is \(Limits.offerCodesMax)")
        }
        var codes: [OfferCode] = []
        for entry in list { codes.append(try self.code(entry, beside: codes, of: offer)) }
        return codes
    }

    private mutating func code(
        _ entry: JSONValue, beside codes: [OfferCode], of offer: String
    ) throws(CatalogueError) -> OfferCode {
        guard var fields = Fields(entry), let text = fields.take("code")?.string,
            (1...Limits.offerCodeBytesMax).contains(text.utf8.count)
        else {
            throw self.findings.error(
                .badRule, at: entry.place,
                "a code of \(offer) should be an object with \"code\", 1 to \(Limits.offerCodeBytesMax) bytes")
        }
        guard !codes.contains(where: { $0.code == text }) else {
            throw self.findings.error(.badRule, at: entry.place, "\(offer) lists the code \(quoted(text)) twice")
        }
        var code = OfferCode(code: text)
        if let limit = fields.take("redemptions") {
            guard let count = limit.integer.flatMap({ UInt32(exactly: $0) }), count > 0 else {
                throw self.findings.error(
                    .badRule, at: limit.place,
                    "\"redemptions\" of the code \(quoted(text)) is \(Self.found(limit)); write 1 to \(UInt32.max)")
            }
            code.redemptionLimit = count
        }
        code.until = try self.instant(&fields, "until", "the code \(quoted(text))")
        if let unknown = fields.firstUntaken {
            throw self.findings.error(
                .badRule, at: unknown.place,
                "the code \(quoted(text)) has no key \(quoted(unknown.key)); the keys are code, redemptions and until")
        }
        return code
    }

    mutating func winBackOffers(_ fields: inout Fields) throws(CatalogueError) -> [WinBackOffer] {
        var offers: [WinBackOffer] = []
        for entry in fields.softList("winbackOffers", &self.findings) {
            var entry = entry
            let isEligible = entry.flag("isEligible", &self.findings)
            let isHighPriority = self.isHighPriority(&entry)
            let rule = try self.winBackRule(&entry)
            guard let offer = try self.offer(&entry, .winBack) else { continue }
            guard self.isNew(offer, beside: offers.map(\.offer), entry) else { continue }
            offers.append(
                WinBackOffer(offer: offer, isEligible: isEligible, isHighPriority: isHighPriority, rule: rule))
        }
        return offers
    }

    // MARK: Our own keys

    /// The eligibility rule of a win-back offer: `"perch": {"paidMonths": 1, "lapsedMonths": [1, 24], "waitMonths": 2, "from": …}`.
    ///
    /// Only Perch reads these keys, so a wrong value is no habit of another tool. It refuses the file, because the offer
    /// would go to the wrong customers.
    private mutating func winBackRule(_ fields: inout Fields) throws(CatalogueError) -> WinBackRule? {
        guard let value = fields.take("perch") else { return nil }
        let offer = "the win-back offer \(quoted(fields.peek("offerID")?.string ?? ""))"
        guard var ours = Fields(value) else {
            throw self.findings.error(
                .badRule, at: value.place, "\"perch\" of \(offer) should be an object, not \(value.kind)")
        }
        var rule = WinBackRule()
        if let months = ours.take("paidMonths") {
            rule.paidMonthsMin = try self.months(months, Self.paidMonths, "paidMonths", offer)
        }
        if let lapsed = ours.take("lapsedMonths") {
            guard let bounds = lapsed.array, bounds.count == 2 else {
                throw self.findings.error(
                    .badRule, at: lapsed.place,
                    "\"lapsedMonths\" of \(offer) should be a list of the least and the most, as [1, 24]")
            }
            rule.lapsedMonthsMin = try self.months(bounds[0], Self.lapsedMonths, "lapsedMonths", offer)
            rule.lapsedMonthsMax = try self.months(bounds[1], Self.lapsedMonths, "lapsedMonths", offer)
            guard rule.lapsedMonthsMin <= rule.lapsedMonthsMax else {
                throw self.findings.error(
                    .badRule, at: lapsed.place,
                    "\"lapsedMonths\" of \(offer) is \(rule.lapsedMonthsMin) to \(rule.lapsedMonthsMax), which nobody "
                        + "is; write the least first")
            }
        }
        if let months = ours.take("waitMonths") {
            rule.waitMonths = try self.months(months, Self.waitMonths, "waitMonths", offer)
        }
        rule.from = try self.instant(&ours, "from", offer)
        let untilPlace = ours.placeOf("until") ?? value.place
        rule.until = try self.instant(&ours, "until", offer)
        if let from = rule.from, let until = rule.until, from >= until {
            throw self.findings.error(
                .badRule, at: untilPlace,
                "\(offer) ends at \(CivilTime(until)), and begins only at \(CivilTime(from)); write a later end")
        }
        if let unknown = ours.firstUntaken {
            throw self.findings.error(
                .badRule, at: unknown.place,
                "\"perch\" of \(offer) has no key \(quoted(unknown.key)); the keys are paidMonths, lapsedMonths, "
                    + "waitMonths, from and until")
        }
        return rule
    }

    // The range that App Store Connect accepts. It has no maximum for paid months; a hundred years is Perch's.
    private static let paidMonths: ClosedRange<Int32> = 1...1_200
    private static let lapsedMonths: ClosedRange<Int32> = 1...24
    private static let waitMonths: ClosedRange<Int32> = 2...24

    private func months(
        _ value: JSONValue, _ bounds: ClosedRange<Int32>, _ key: String, _ offer: String
    ) throws(CatalogueError) -> Int32 {
        guard let count = value.integer.flatMap({ Int32(exactly: $0) }), bounds.contains(count) else {
            let found = Self.found(value)
            throw self.findings.error(
                .badRule, at: value.place,
                "\(quoted(key)) of \(offer) is \(found); write \(bounds.lowerBound) to \(bounds.upperBound) months")
        }
        return count
    }

    private func instant(_ fields: inout Fields, _ key: String, _ offer: String) throws(CatalogueError) -> Instant? {
        guard let value = fields.take(key) else { return nil }
        guard let text = value.string, let time = CivilTime(parsing: text) else {
            let found = value.string.map(quoted) ?? value.kind
            throw self.findings.error(
                .badRule, at: value.place,
                "\(quoted(key)) of \(offer) is \(found); write an instant in UTC, as \"2026-01-01T00:00:00Z\"")
        }
        return time.instant
    }

    // MARK: One offer

    /// The keys that all kinds of offers have. Nil, with a warning, for an unusable offer. An unreadable period or price
    /// refuses the file, because customers would be charged by it.
    private mutating func offer(_ fields: inout Fields, _ type: OfferType) throws(CatalogueError)
        -> SubscriptionOffer?
    {
        let name = fields.text("referenceName", &self.findings)
        let statedID = fields.text("offerID", &self.findings)
        let id: String
        switch type {
        case .introductory: id = ""
        case .code: id = name
        default: id = statedID
        }
        let plan = self.billingPlan(&fields)
        let modeValue = fields.take("paymentMode")
        let mode: PaymentMode
        switch modeValue?.string {
        case "free": mode = .freeTrial
        case "payAsYouGo": mode = .payAsYouGo
        case "payUpFront": mode = .payUpFront
        case "none":
            // What Xcode writes where no offer is chosen.
            return nil
        default:
            // The mode is newer than this version, so the other keys may mean something else.
            let found = modeValue?.string.map(quoted) ?? modeValue?.kind ?? "missing"
            self.findings.warn(
                .leftOut, at: modeValue?.place ?? fields.place,
                "the payment mode of an offer is \(found), not free, payAsYouGo or payUpFront; the offer is left out")
            return nil
        }
        let period = try self.period(&fields, "subscriptionPeriod")
        let price = mode == .freeTrial ? self.freePrice(&fields) : try self.price(&fields, "displayPrice")
        let count = self.periodCount(&fields, mode)
        // Keys of the other kinds of offers are known and have no meaning here.
        fields.ignore("internalID", "eligibility", "isStackable", "isEligible", "priority")
        fields.reportUnknown(in: "an offer", to: &self.findings)

        guard type == .introductory || self.isRedeemable(id, type, fields) else { return nil }
        var offer = SubscriptionOffer(
            id: id, type: type, paymentMode: mode, price: price, period: period, periodCount: count)
        offer.billingPlan = plan
        return offer
    }

    /// Whether an offer can be named in a purchase.
    private mutating func isRedeemable(_ id: String, _ type: OfferType, _ fields: Fields) -> Bool {
        if (1...Limits.catalogueIdentifierBytes).contains(id.utf8.count) { return true }
        let key = type == .code ? "referenceName" : "offerID"
        self.findings.warn(
            .leftOut, at: fields.place,
            "a \(type) offer is redeemed by its \"\(key)\", which has \(id.utf8.count) bytes, not 1 to "
                + "\(Limits.catalogueIdentifierBytes); the offer is left out")
        return false
    }

    /// Free wins over a price that an earlier payment mode left behind.
    private mutating func freePrice(_ fields: inout Fields) -> Money {
        if let value = fields.take("displayPrice") {
            let isNothing = value.string.map { $0.isEmpty || Money.milliunits(parsing: $0) == 0 } ?? false
            if !isNothing {
                let found = value.string.map(quoted) ?? value.kind
                self.findings.warn(
                    .freeOfferWithPrice, at: value.place, "a free offer has the price \(found); it stays free")
            }
        }
        return Money(milliunits: 0, currency: self.currency)
    }

    private mutating func periodCount(_ fields: inout Fields, _ mode: PaymentMode) -> Int32 {
        guard let value = fields.take("numberOfPeriods") else { return 1 }
        let bound: Int64 = mode == .payAsYouGo ? 10_000 : 1
        guard let count = self.integer(value, "numberOfPeriods"), (1...bound).contains(count),
            let result = Int32(exactly: count)
        else {
            let expected = mode == .payAsYouGo ? "1 to \(bound)" : "1, because its period is the whole offer"
            self.findings.warn(
                .unusableValue, at: value.place,
                "\"numberOfPeriods\" of this offer is \(Self.found(value)), expected \(expected); used as 1")
            return 1
        }
        return result
    }

    private mutating func isNew(_ offer: SubscriptionOffer, beside offers: [SubscriptionOffer], _ fields: Fields)
        -> Bool
    {
        guard offers.contains(where: { $0.id == offer.id && $0.plan == offer.plan }) else { return true }
        self.findings.warn(
            .leftOut, at: fields.place, "a second \(offer.type) offer \(quoted(offer.id)) of this product; left out")
        return false
    }

    /// The customers who may redeem a code. A missing key means none.
    private mutating func eligibility(_ fields: inout Fields) -> CodeOffer.Eligibility {
        guard let value = fields.take("eligibility") else {
            self.findings.warn(
                .unusableValue, at: fields.place, "an offer code without \"eligibility\"; no account may redeem it")
            return []
        }
        var eligibility: CodeOffer.Eligibility = []
        for entry in value.array ?? [value] {
            switch entry.string {
            case "new": eligibility.insert(.new)
            case "existing": eligibility.insert(.existing)
            case "expired": eligibility.insert(.expired)
            default:
                self.findings.warn(
                    .unusableValue, at: entry.place,
                    "the eligibility \(entry.string.map(quoted) ?? entry.kind) is unknown; ignored")
            }
        }
        return eligibility
    }

    private mutating func isHighPriority(_ fields: inout Fields) -> Bool {
        guard let value = fields.take("priority") else { return false }
        switch value.string {
        case "high": return true
        case "normal": return false
        default:
            self.findings.warn(
                .unusableValue, at: value.place,
                "the priority \(value.string.map(quoted) ?? value.kind) is unknown; taken as normal")
            return false
        }
    }
}

extension SubscriptionOffer {
    /// The plan of an offer. Without billing plans it is the plan that every subscription has.
    fileprivate var plan: BillingPlanType { self.billingPlan == .unspecified ? .upFront : self.billingPlan }

    fileprivate func says(theSameAs other: SubscriptionOffer) -> Bool {
        self.paymentMode == other.paymentMode && self.price == other.price && self.period == other.period
            && self.periodCount == other.periodCount
    }
}
