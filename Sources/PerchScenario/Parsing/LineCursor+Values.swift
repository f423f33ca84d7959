import PerchBase
import PerchModel

// Values: instants, durations, prices, products, transactions.
extension LineCursor {
    // MARK: Time

    /// `+1mo`, `30d`, `1 month 2 days`, `+1mo -1s`. Nil if the next word is no duration.
    mutating func optionalDuration() throws(ScenarioFault) -> ScenarioDuration? {
        var total: ScenarioDuration?
        while let token = self.peek, token.kind == .word {
            var length = total ?? ScenarioDuration()
            if let parsed = ScenarioDuration(parsing: token.text) {
                // Each piece has its own sign or unit, so a following piece adds to the same duration.
                guard length.add(1, ScenarioDuration(months: parsed.months)),
                    length.add(1, ScenarioDuration(milliseconds: parsed.milliseconds))
                else { throw ScenarioFault(token.place, "this is longer than can be counted") }
                self.index += 1
            } else if let (sign, count) = Self.signedNumber(token.text), self.index + 1 < self.tokens.count,
                self.tokens[self.index + 1].kind == .word,
                let unit = ScenarioDuration.unit(self.tokens[self.index + 1].text)
            {
                guard length.add(count, unit, sign) else {
                    throw ScenarioFault(token.place, "this is longer than can be counted")
                }
                self.index += 2
            } else {
                break
            }
            total = length
        }
        return total
    }

    private static func signedNumber(_ text: String) -> (sign: Int64, count: Int64)? {
        switch text.first {
        case "+": Self.number(text.dropFirst()).map { (1, $0) }
        case "-": Self.number(text.dropFirst()).map { (-1, $0) }
        default: Self.number(text).map { (1, $0) }
        }
    }

    mutating func duration(_ what: String) throws(ScenarioFault) -> ScenarioDuration {
        guard let duration = try self.optionalDuration() else {
            throw self.expected("\(what), such as 1mo, 30d, 12h or 90s")
        }
        return duration
    }

    /// Whether the next word can only be a date.
    var isDateNext: Bool {
        guard let token = self.peek, token.kind == .word, token.text.count >= 10 else { return false }
        return CivilTime(parsing: token.text.prefix(10)) != nil
    }

    /// A date, a duration from now, `start`, `now`, or a date of a transaction such as `T1.expires`; then durations.
    mutating func instant(_ what: String = "an instant") throws(ScenarioFault) -> InstantExpression {
        guard let expression = try self.optionalInstant() else {
            throw self.expected("\(what), such as 2026-03-01, 2026-03-01T10:00:00Z, +1mo or start+1mo")
        }
        return expression
    }

    mutating func optionalInstant() throws(ScenarioFault) -> InstantExpression? {
        guard let token = self.peek, token.kind == .word else { return nil }
        if self.isDateNext { return try self.date() }
        if let offset = try self.optionalDuration() { return InstantExpression(base: .now, offset: offset) }
        // `start+1mo` in one word.
        let split = token.text.firstIndex { $0 == "+" || $0 == "-" } ?? token.text.endIndex
        let name = String(token.text[..<split])
        let tail = token.text[split...]
        let base: InstantExpression.Base
        if name.lowercased() == "start" {
            base = .start
        } else if name.lowercased() == "now" {
            base = .now
        } else if let dot = name.lastIndex(of: "."), let field = Self.dateField(name[name.index(after: dot)...]) {
            let owner = String(name[..<dot])
            guard self.names.transactions.contains(owner) else {
                throw ScenarioFault(
                    token.place,
                    "no transaction is called \(quoted(owner)) yet; `as \(owner)` behind a step calls one so")
            }
            base = .transaction(.named(owner), field)
        } else {
            return nil
        }
        var offset = ScenarioDuration()
        if !tail.isEmpty {
            guard let parsed = ScenarioDuration(parsing: tail) else {
                throw ScenarioFault(token.place, "\(quoted(String(tail))) is no duration, such as +1mo, +30d or -1s")
            }
            offset = parsed
        }
        self.index += 1
        return try self.adding(InstantExpression(base: base, offset: offset))
    }

    private static func dateField(_ text: some StringProtocol) -> Field? {
        switch Token.normalise(text) {
        case "expires", "expirationdate", "until", "end", "ends": .expires
        case "purchased", "purchasedate", "bought", "begin", "begins": .purchased
        case "revoked", "revokedat", "refunded": .revokedAt
        default: nil
        }
    }

    /// Durations with a sign behind an instant.
    private mutating func adding(_ expression: InstantExpression) throws(ScenarioFault) -> InstantExpression {
        var expression = expression
        guard let sign = self.peek?.text.first, self.peek?.kind == .word, sign == "+" || sign == "-" else {
            return expression
        }
        guard let more = try self.optionalDuration() else { throw self.expected("a duration") }
        guard expression.offset.add(1, ScenarioDuration(months: more.months)),
            expression.offset.add(1, ScenarioDuration(milliseconds: more.milliseconds))
        else { throw ScenarioFault(self.place, "this is longer than can be counted") }
        return expression
    }

    /// `2026-03-01`, `2026-03-01T10:00Z`, `2026-03-01 10:00:00`, each in UTC, each with a tail such as `+1mo`.
    private mutating func date() throws(ScenarioFault) -> InstantExpression {
        guard let token = self.peek else { throw self.expected("a date") }
        var text = token.text[...]
        var offset = ScenarioDuration()
        if let sign = text.dropFirst(10).firstIndex(where: { $0 == "+" || $0 == "-" }) {
            guard let parsed = ScenarioDuration(parsing: text[sign...]) else {
                throw ScenarioFault(
                    token.place, "\(quoted(String(text[sign...]))) is no duration; times are in UTC, and end with Z")
            }
            offset = parsed
            text = text[..<sign]
        }
        var whole = String(text)
        var used = 1
        if whole.count == 10, offset.isZero, self.index + 1 < self.tokens.count {
            let next = self.tokens[self.index + 1]
            if next.kind == .word, next.text.contains(":"), next.text.first?.isNumber == true {
                whole += "T" + next.text
                used = 2
            }
        }
        if whole.count > 10 {
            if whole.last == "z" { whole = whole.dropLast() + "Z" }
            if whole.last != "Z" { whole += "Z" }
            if whole.count(where: { $0 == ":" }) == 1 { whole = whole.dropLast() + ":00Z" }
        }
        guard let time = CivilTime(parsing: whole.uppercased()) else {
            throw ScenarioFault(
                token.place, "\(quoted(token.text)) is no instant, such as 2026-03-01 or 2026-03-01T10:00:00Z")
        }
        self.index += used
        return try self.adding(InstantExpression(base: .absolute(time.instant), offset: offset))
    }

    // MARK: Money

    /// A price in thousandths: `9.99`, `free`. It has no currency, because the storefront determines that.
    mutating func optionalPrice() throws(ScenarioFault) -> Int64? {
        guard let price = try self.optionalMoney() else { return nil }
        guard price.currency == nil else {
            throw ScenarioFault(
                self.tokens[self.index - 1].place, "a price has no currency here: the storefront determines it")
        }
        return price.milliunits
    }

    mutating func price() throws(ScenarioFault) -> Int64 {
        guard let price = try self.optionalPrice() else { throw self.expected("a price, such as 9.99") }
        return price
    }

    /// An expected price: `9.99`, `9.99 EUR`, `free`.
    mutating func money() throws(ScenarioFault) -> (milliunits: Int64, currency: String?) {
        guard let money = try self.optionalMoney() else { throw self.expected("a price, such as 9.99 or 9.99 EUR") }
        return money
    }

    private mutating func optionalMoney() throws(ScenarioFault) -> (milliunits: Int64, currency: String?)? {
        guard let token = self.peek, token.kind == .word else { return nil }
        if self.take("free", "nothing") { return (0, nil) }
        guard let milliunits = Money.milliunits(parsing: token.text) else {
            guard let symbol = token.text.first, symbol.isCurrencySymbol else { return nil }
            throw ScenarioFault(
                token.place, "\(quoted(token.text)) has a currency sign; write the digits, such as 9.99")
        }
        self.index += 1
        guard let next = self.peek, next.kind == .word, next.text.count == 3,
            next.text.allSatisfy({ $0.isASCII && $0.isUppercase })
        else { return (milliunits, nil) }
        self.index += 1
        return (milliunits, next.text)
    }

    // MARK: Periods

    /// `1w`, `P1M`, `3 months`, `monthly`.
    mutating func optionalPeriod() throws(ScenarioFault) -> Period? {
        if self.take("weekly") { return Period(1, .week) }
        if self.take("monthly") { return Period(1, .month) }
        if self.take("bimonthly", "two monthly") { return Period(2, .month) }
        if self.take("quarterly", "three monthly") { return Period(3, .month) }
        if self.take("half yearly", "semi annual", "six monthly") { return Period(6, .month) }
        if self.take("yearly", "annual", "annually") { return Period(1, .year) }
        let start = self.index
        let hasEvery = self.take("every", "each")
        if let token = self.peek, token.kind == .word, let period = Period(iso8601: token.text.uppercased()) {
            self.index += 1
            return period
        }
        if let length = try self.optionalDuration() {
            guard let period = Self.period(length) else {
                throw ScenarioFault(
                    self.tokens[start].place, "\(length) is no period: write days, weeks, months or years")
            }
            return period
        }
        if hasEvery { throw self.expected("a period, such as 1mo") }
        return nil
    }

    mutating func period() throws(ScenarioFault) -> Period {
        guard let period = try self.optionalPeriod() else { throw self.expected("a period, such as 1w, 1mo or 1y") }
        return period
    }

    private static func period(_ length: ScenarioDuration) -> Period? {
        let day: Int64 = 86_400_000
        switch (length.months, length.milliseconds) {
        case (1..., 0):
            let isYears = length.months % 12 == 0
            return Period(Int32(isYears ? length.months / 12 : length.months), isYears ? .year : .month)
        case (0, day...) where length.milliseconds % day == 0 && length.milliseconds / day <= 10_000:
            let days = length.milliseconds / day
            return days % 7 == 0 ? Period(Int32(days / 7), .week) : Period(Int32(days), .day)
        default: return nil
        }
    }

    // MARK: Names

    /// A product. A product outside of the catalogue must be quoted.
    mutating func product(_ what: String = "a product") throws(ScenarioFault) -> String {
        self.skipFillers()
        guard let token = self.peek, token.kind == .word || token.kind == .quoted else { throw self.expected(what) }
        try self.requireKnown(token)
        self.index += 1
        return token.text
    }

    private func requireKnown(_ token: Token) throws(ScenarioFault) {
        guard token.kind == .word, self.names.areProductsKnown, !self.names.products.contains(token.text) else {
            return
        }
        let meant = nearest(to: token.text, in: self.names.products.sorted())
        throw ScenarioFault(
            token.place,
            "the catalogue has no product \(quoted(token.text))"
                + (meant.map { "; did you mean `\($0)`?" } ?? "; put it in quotes if that is meant"))
    }

    /// A transaction: a name that was given, `latest PRODUCT`, `first PRODUCT`, `transaction 7`, or what is held of a
    /// product.
    mutating func reference(_ what: String = "a product or a transaction") throws(ScenarioFault) -> Reference {
        guard let reference = try self.optionalReference() else { throw self.expected(what) }
        return reference
    }

    mutating func optionalReference() throws(ScenarioFault) -> Reference? {
        self.skipFillers()
        if self.isNext("transaction") {
            let start = self.index
            _ = self.take("transaction")
            if let number = self.optionalNumber() { return .number(UInt64(number)) }
            if let token = self.peek, self.names.transactions.contains(token.text) {
                self.index += 1
                return .named(token.text)
            }
            self.index = start
        }
        if self.isNext("renewal") {
            let start = self.index
            _ = self.take("renewal")
            if let number = self.optionalNumber() {
                guard self.take("of") else { throw self.expected("the product of the renewal", among: ["of"]) }
                return .renewal(Int(number), product: try self.product())
            }
            self.index = start
        }
        if self.take("latest", "newest") { return .latest(product: try self.optionalProduct()) }
        if self.take("first", "oldest") { return .first(product: try self.optionalProduct()) }
        guard let token = self.peek, token.kind == .word || token.kind == .quoted else { return nil }
        if token.kind == .word, self.names.transactions.contains(token.text) {
            self.index += 1
            return .named(token.text)
        }
        // Grammar words that may follow an omitted transaction.
        let keywords = ["as", "with", "for", "to", "by", "because", "of", "on", "off"]
        guard token.kind == .quoted || !keywords.contains(token.normalised) else { return nil }
        try self.requireKnownTarget(token)
        self.index += 1
        return .product(token.text)
    }

    private func requireKnownTarget(_ token: Token) throws(ScenarioFault) {
        guard token.kind == .word, self.names.areProductsKnown, !self.names.products.contains(token.text) else {
            return
        }
        let meant = nearest(to: token.text, in: self.names.products.union(self.names.transactions).sorted())
        throw ScenarioFault(
            token.place,
            "\(quoted(token.text)) is neither a product of the catalogue nor the name of a transaction"
                + (meant.map { "; did you mean `\($0)`?" } ?? "; `as NAME` behind a step names what it makes"))
    }

    mutating func optionalProduct() throws(ScenarioFault) -> String? {
        guard let token = self.peek, token.kind == .word || token.kind == .quoted else { return nil }
        guard token.kind == .quoted || self.names.products.contains(token.text) || !self.names.areProductsKnown,
            !["as", "with", "for", "to", "by", "of", "because"].contains(token.normalised)
        else { return nil }
        self.index += 1
        return token.text
    }

    /// `of NAME`, `for NAME`, `by NAME`, where NAME is an account of the file.
    mutating func optionalAccountSuffix() -> String? {
        for word in ["of", "for", "by"] where self.isNext(word) {
            guard self.index + 1 < self.tokens.count, self.names.accounts.contains(self.tokens[self.index + 1].text)
            else { continue }
            self.index += 2
            return self.tokens[self.index - 1].text
        }
        return nil
    }

    // MARK: Offers

    /// `promotional spring`, `win-back return`, `code WELCOME`; nil if no offer follows.
    mutating func optionalOrderedOffer() throws(ScenarioFault) -> OrderedOffer? {
        let type: OfferType
        if self.take("promotional offer", "promotional", "promo offer", "promo") {
            type = .promotional
        } else if self.take("win back offer", "win back") {
            type = .winBack
        } else if self.take("offer code", "code") {
            type = .code
        } else if self.take("offer") {
            type = .promotional
        } else {
            return nil
        }
        var offer = OrderedOffer(type: type, id: try self.word("the name of the offer"))
        if self.take("signed", "signature", "jws") { offer.signature = try self.word("a signature") }
        return offer
    }

    // MARK: Expected offers

    /// `introductory`, `promotional spring`, `free trial`, `pay up front`.
    mutating func expectedOffer() throws(ScenarioFault) -> Expected {
        var type: OfferType?
        var mode: PaymentMode?
        var id: String?
        while !self.isAtBreak {
            if mode == nil, self.take("free trial", "trial", "free") {
                mode = .freeTrial
            } else if mode == nil, self.take("pay as you go") {
                mode = .payAsYouGo
            } else if mode == nil, self.take("pay up front", "up front") {
                mode = .payUpFront
            } else if type == nil, self.take("introductory", "intro") {
                type = .introductory
            } else if type == nil, let named = self.optionalOfferType() {
                type = named
                if let token = self.peek, token.kind == .word || token.kind == .quoted, !self.isNext("and") {
                    id = token.text
                    self.index += 1
                }
            } else {
                break
            }
        }
        if type == nil, mode == nil {
            id = try self.word("an offer, such as `introductory`, `promotional NAME` or `none`")
        }
        return .offer(type: type, mode: mode, id: id)
    }

    private mutating func optionalOfferType() -> OfferType? {
        if self.take("promotional", "promo") { return .promotional }
        if self.take("win back") { return .winBack }
        if self.take("offer code", "code") { return .code }
        return nil
    }
}

extension Character {
    fileprivate var isCurrencySymbol: Bool { "$€£¥₩₹".contains(self) }
}
