import PerchBase
import PerchModel

// Products and offers in their short form.
extension LineCursor {
    /// Behind `product`: `gold monthly 9.99 group club level 1 trial 1w shareable name "Gold"`.
    mutating func catalogueEntry() throws(ScenarioFault) -> ScenarioCatalogue.Entry {
        let id = try self.word("the product's identifier")
        var draft = ProductDraft(
            entry: ScenarioCatalogue.Entry(id: id, type: .nonConsumable, milliunits: 0, name: id))
        _ = self.take(.colon)
        var seen: Set<String> = []
        while !self.isAtEnd {
            if self.take(.comma) { continue }
            let start = self.index
            let property = try self.property(&draft)
            guard property != "introductory offer" || !seen.contains("the introductory offer") else {
                throw ScenarioFault(
                    self.tokens[start].place,
                    "\(quoted(id)) has two introductory offers, and StoreKit allows one for each product; remove one")
            }
            try self.requireFirst("the \(property)", &seen)
        }
        guard let price = draft.price else {
            throw ScenarioFault(self.place, "\(quoted(id)) has no price; write it, such as 9.99")
        }
        draft.entry.milliunits = price
        try self.finish(&draft.entry, draft.type)
        return draft.entry
    }

    /// A product line as far as it has been read.
    private struct ProductDraft {
        var entry: ScenarioCatalogue.Entry
        var type: ProductType?
        var price: Int64?
    }

    /// Reads one property of a product, and returns which.
    private mutating func property(_ draft: inout ProductDraft) throws(ScenarioFault) -> String {
        if let type = self.optionalType() {
            draft.type = type
            return "type"
        }
        if self.take("group", "in group", "in") {
            draft.entry.group = try self.word("a subscription group")
            return "group"
        }
        if self.take("level") {
            draft.entry.level = try self.number("a level of service, 1 for the highest")
            return "level"
        }
        if self.take("trial") {
            var trial = OfferEdit(type: .introductory, id: "")
            trial.paymentMode = .freeTrial
            trial.period = try self.period()
            draft.entry.offers.append(trial)
            return "introductory offer"
        }
        if self.take("introductory offer", "introductory", "intro") {
            draft.entry.offers.append(try self.offerTerms(OfferEdit(type: .introductory, id: "")))
            return "introductory offer"
        }
        if self.take("family shareable", "shareable", "shared with family") {
            draft.entry.isShareable = self.optionalSwitch() ?? true
            return "family sharing"
        }
        if self.take("name", "called") {
            draft.entry.name = try self.word("a name")
            return "name"
        }
        if self.take("description") {
            draft.entry.details = try self.word("a description")
            return "description"
        }
        return try self.priceProperty(&draft)
    }

    private mutating func optionalType() -> ProductType? {
        if self.take("non consumable") { return .nonConsumable }
        if self.take("consumable") { return .consumable }
        if self.take("non renewing subscription", "non renewing", "non renewable") { return .nonRenewable }
        if self.take("auto renewable subscription", "auto renewable", "subscription") { return .autoRenewable }
        return nil
    }

    private mutating func priceProperty(_ draft: inout ProductDraft) throws(ScenarioFault) -> String {
        if self.take("or monthly plan at", "monthly plan at", "monthly plan", "billed monthly at") {
            draft.entry.monthlyPlanMilliunits = try self.price()
            return "monthly plan"
        }
        if self.take("at", "for", "price", "costs") {
            draft.price = try self.price()
            return "price"
        }
        if let price = try self.optionalPrice() {
            draft.price = price
            return "price"
        }
        if let period = try self.optionalPeriod() {
            draft.entry.period = period
            return "period"
        }
        throw self.expected(
            "a type, a period, a price, `group`, `level`, `trial`, `intro`, `shareable`, `name` or `description`")
    }

    private func finish(_ entry: inout ScenarioCatalogue.Entry, _ type: ProductType?) throws(ScenarioFault) {
        guard let type = type ?? (entry.period == nil ? nil : .autoRenewable) else {
            throw ScenarioFault(
                self.tokens[0].place,
                "\(quoted(entry.id)) needs a type or a period: consumable, non-consumable, non-renewing, or such as monthly"
            )
        }
        entry.type = type
        if type == .autoRenewable {
            guard let period = entry.period else {
                throw ScenarioFault(
                    self.tokens[0].place, "\(quoted(entry.id)) renews, and needs a period such as monthly")
            }
            let billing = [
                Period(1, .week), Period(1, .month), Period(2, .month), Period(3, .month), Period(6, .month),
                Period(1, .year),
            ]
            guard billing.contains(period) else {
                throw ScenarioFault(
                    self.tokens[0].place,
                    "\(period) is no billing period: there are 1w, 1mo, 2mo, 3mo, 6mo and 1y")
            }
            if entry.group.isEmpty { entry.group = "main" }
        }
        if entry.offers.contains(where: { $0.codes.contains { $0.until != nil } }) {
            // A catalogue is loaded before the instants of the file have a place on the server's clock.
            throw ScenarioFault(
                self.tokens[0].place,
                "the end of a code is set by a step, such as `offer \(entry.id) code NAME … until …`")
        }
        if type != .autoRenewable,
            entry.period != nil || !entry.offers.allSatisfy({ $0.paymentMode == .oneTime })
                || !entry.group.isEmpty
        {
            throw ScenarioFault(
                self.tokens[0].place,
                "\(quoted(entry.id)) is a \(type): only subscriptions have a period, a group or offers beside codes that are paid once"
            )
        }
    }

    /// `free 1w`, `3 x 1mo at 4.99`, `1mo at 4.99`, `1y up front at 29.99`, followed by the eligible customers.
    mutating func offerTerms(_ offer: OfferEdit) throws(ScenarioFault) -> OfferEdit {
        var offer = offer
        if offer.type == .code, self.take("once", "one time") {
            offer.paymentMode = .oneTime
            _ = self.take("at", "for")
            offer.priceMilliunits = try self.price()
            try self.offerAudience(&offer)
            return offer
        }
        if self.take("free trial", "free", "trial") {
            _ = self.take("for")
            offer.paymentMode = .freeTrial
            offer.period = try self.period()
        } else {
            if let token = self.peek, token.kind == .word, self.index + 1 < self.tokens.count,
                self.tokens[self.index + 1].normalised == "x", let count = Self.number(token.text)
            {
                offer.periodCount = UInt32(clamping: count)
                self.index += 2
            }
            offer.paymentMode = .payAsYouGo
            offer.period = try self.period()
            if offer.periodCount == 0, self.take("x", "times") {
                offer.periodCount = UInt32(clamping: try self.number("how many periods"))
            }
            if self.take("paid up front", "pay up front", "up front") { offer.paymentMode = .payUpFront }
            _ = self.take("at", "for")
            offer.priceMilliunits = try self.price()
            if offer.paymentMode != .payUpFront, self.take("paid up front", "pay up front", "up front") {
                offer.paymentMode = .payUpFront
            }
        }
        try self.offerAudience(&offer)
        return offer
    }

    private mutating func offerAudience(_ offer: inout OfferEdit) throws(ScenarioFault) {
        if offer.type == .code {
            try self.codeAudience(&offer)
            if self.take("listing") { try self.codes(&offer) }
        }
        guard offer.type == .winBack else { return }
        var seen: Set<String> = []
        while !self.isAtEnd {
            if self.take(.comma) || self.take("and") {
                guard !self.isAtEnd else { throw self.expected("`eligible`, `paid`, `lapsed` or `wait`") }
                continue
            }
            if self.take("eligible") {
                offer.isEligible = true
                try self.requireFirst("`eligible`", &seen)
                continue
            }
            let condition = self.peek.map { "`\($0.text)`" } ?? ""
            var rule =
                offer.winBackRule
                ?? WinBackRuleEdit(paidMonths: 1, lapsedMonthsMin: 1, lapsedMonthsMax: 24, waitMonths: 2)
            if self.take("after paying", "after paid", "paid") {
                rule.paidMonths = try self.months()
            } else if self.take("lapsed") {
                rule.lapsedMonthsMin = try self.months()
                if self.take("to", "until") { rule.lapsedMonthsMax = try self.months() }
            } else if self.take("again after", "wait") {
                rule.waitMonths = try self.months()
            } else {
                return
            }
            try self.requireFirst(condition, &seen)
            offer.winBackRule = rule
        }
    }

    /// `for new, expired`, and `stackable` before or behind it.
    private mutating func codeAudience(_ offer: inout OfferEdit) throws(ScenarioFault) {
        if self.take("stackable") { offer.isStackable = true }
        guard self.take("for") else { return }
        var seen: Set<String> = []
        repeat {
            try self.requireFirst("\(quoted(self.peek?.normalised ?? "the end"))", &seen)
            if self.take("new customers", "new") {
                offer.eligibility.append("new")
            } else if self.take("existing customers", "existing") {
                offer.eligibility.append("existing")
            } else if self.take("expired customers", "expired") {
                offer.eligibility.append("expired")
            } else if !offer.eligibility.isEmpty, self.take("stackable") {
                offer.isStackable = true
            } else {
                throw self.expected(
                    "`new`, `existing` or `expired`", among: ["new", "existing", "expired", "stackable"])
            }
        } while self.take(.comma) || self.take("and")
        if self.take("stackable") { offer.isStackable = true }
    }

    /// Behind `listing`: `SPRING 500 times until 2026-03-01T00:00:00Z and GIFT1 once`.
    private mutating func codes(_ offer: inout OfferEdit) throws(ScenarioFault) {
        repeat {
            var code = OfferCode(code: try self.word("a code"))
            if self.take("once") {
                code.redemptionLimit = 1
            } else if let count = self.optionalNumber() {
                guard let limit = UInt32(exactly: count), limit > 0 else {
                    throw ScenarioFault(self.place, "a code is redeemed 1 to \(UInt32.max) times")
                }
                code.redemptionLimit = limit
                guard self.take("times", "time") else { throw self.expected("`times`") }
            }
            if self.take("until") {
                let place = self.place
                let text = try self.word("an instant such as 2026-03-01T00:00:00Z")
                guard let time = CivilTime(parsing: text) else {
                    throw ScenarioFault(place, "\(quoted(text)) is no instant such as 2026-03-01T00:00:00Z")
                }
                code.until = time.instant
            }
            offer.codes.append(code)
        } while self.take(.comma) || self.take("and")
    }

    /// `3`, `3 months`, `3mo`.
    private mutating func months() throws(ScenarioFault) -> UInt32 {
        let place = self.place
        if let length = try self.optionalDuration() {
            guard length.milliseconds == 0, length.months >= 0 else {
                throw ScenarioFault(place, "this is counted in months")
            }
            return UInt32(clamping: length.months)
        }
        let count = try self.number("a number of months")
        _ = self.take("months", "month")
        return UInt32(clamping: count)
    }

    /// Behind `offer`: `gold promotional spring free 1mo`.
    mutating func offerEdit() throws(ScenarioFault) -> (product: String, offer: OfferEdit) {
        let product = try self.product()
        let offer = try self.offerName()
        _ = self.take(.colon)
        return (product, try self.offerTerms(offer))
    }

    /// `introductory`, `promotional spring`, `code WELCOME`, `win-back return`.
    mutating func offerName() throws(ScenarioFault) -> OfferEdit {
        if self.take("introductory offer", "introductory", "intro") { return OfferEdit(type: .introductory, id: "") }
        guard let named = try self.optionalOrderedOffer() else {
            throw self.expected("`introductory`, `promotional NAME`, `code NAME` or `win-back NAME`")
        }
        return OfferEdit(type: named.type, id: named.id)
    }
}
