import PerchBase
import PerchModel

// Expectations: items between commas, each with one or more checks.
extension LineCursor {
    /// Behind `expect`.
    mutating func expectation(_ said: String?) throws(ScenarioFault) -> Expectation {
        _ = self.take("that")
        if let (subject, shape) = try self.subject(said) {
            _ = self.take(.colon)
            _ = self.take("to be", "is", "are")
            return Expectation(subject: subject, items: try self.items(shape))
        }
        _ = self.take("outcome", "result")
        _ = self.take(.colon)
        let items = try self.items(.outcome)
        return Expectation(subject: .outcome, items: items)
    }

    /// Everything up to the end of the line.
    mutating func items(_ shape: Shape) throws(ScenarioFault) -> [Expectation.Item] {
        var items: [Expectation.Item] = []
        repeat {
            _ = self.take("and")
            let start = self.index
            let place = self.place
            var checks: [Expectation.Check] = []
            var state: RenewalState?
            while !self.isAtBreak {
                if !checks.isEmpty, self.take("and") {
                    guard !self.isAtBreak else { throw self.expected(Self.what(shape)) }
                    continue
                }
                _ = self.take("is", "are", "it")
                guard !self.isAtBreak else { break }
                checks += try self.checks(shape, &state)
            }
            guard !checks.isEmpty else { throw self.expected(Self.what(shape)) }
            items.append(Expectation.Item(place: place, text: self.text(from: start), checks: checks))
        } while self.take(.comma)
        return items
    }

    private static func what(_ shape: Shape) -> String {
        switch shape {
        case .status: "a state, a field or `unchanged`"
        case .outcome: "an outcome such as `refused`, `held` or `pending`"
        case .entitlement: "`none`, a transaction, a field or `unchanged`"
        default: "what is expected"
        }
    }

    /// The source text from a token to the one before the next.
    private func text(from start: Int) -> String {
        self.tokens[start..<self.index].map { $0.kind == .quoted ? "\"\($0.text)\"" : $0.text }.joined(separator: " ")
    }

    // MARK: Checks

    /// One check, or a few that one phrase means.
    private mutating func checks(
        _ shape: Shape, _ state: inout RenewalState?
    ) throws(ScenarioFault) -> [Expectation.Check] {
        let start = self.index
        let place = self.place
        func check(_ line: LineCursor, _ kind: Expectation.Kind) -> Expectation.Check {
            Expectation.Check(place: place, text: line.text(from: start), kind: kind)
        }
        if shape.isStream, let rule = try self.pushRule() { return [check(self, .pushes(rule))] }
        if self.isNext("as"), self.index + 1 < self.tokens.count {
            _ = self.take("as")
            return [check(self, .capture(try self.newName()))]
        }
        if let kind = try self.general(shape) { return [check(self, kind)] }
        if let kinds = try self.special(shape, &state) { return kinds.map { check(self, $0) } }
        if shape.isList, self.take("last") {
            _ = self.take(.colon)
            return [check(self, .select(.last))]
        }
        let isNegated = self.take("not", "no", "without")
        if let kind = try self.field(shape, isNegated: isNegated, state) { return [check(self, kind)] }
        if let kind = try self.bareWord(shape, isNegated: isNegated) { return [check(self, kind)] }
        throw self.expected(Self.what(shape), among: Self.vocabulary(shape))
    }

    private static func vocabulary(_ shape: Shape) -> [String] {
        var words = shape.rows.flatMap { $0.phrases.map { $0.replacing(" ", with: "-") } }
        if shape.isStream { words += ["unchanged", "pushes", "none", "failure", "loading"] }
        switch shape {
        case .status: words += RenewalState.names.dropFirst() + ["renews", "own", "shared", "count", "never"]
        case .events: words += TransactionEventKind.names.dropFirst()
        case .messages: words += MessageReason.names.dropFirst()
        case .outcome:
            words += ["success", "new", "held", "pending", "cancelled", "refused", "approved", "declined", "settled"]
        default: break
        }
        return words
    }

    mutating func newName() throws(ScenarioFault) -> String {
        guard let token = self.peek, token.kind == .word else { throw self.expected("a name") }
        guard token.text.first?.isLetter == true, !token.text.contains(".") else {
            throw ScenarioFault(token.place, "\(quoted(token.text)) is no name: it begins with a letter and has no dot")
        }
        guard !ScenarioWords.reserved.contains(token.normalised) else {
            throw ScenarioFault(
                token.place,
                "\(quoted(token.text)) is a word of the scenario language and names no transaction; "
                    + "write another name, such as T1")
        }
        guard !self.names.products.contains(token.text) else {
            throw ScenarioFault(
                token.place, "\(quoted(token.text)) is a product already; call the transaction otherwise")
        }
        self.index += 1
        self.names.transactions.insert(token.text)
        return token.text
    }

    private mutating func pushRule() throws(ScenarioFault) -> Expectation.PushRule? {
        if self.take(
            "unchanged", "silent", "silence", "no push", "not pushed", "no pushes", "pushes nothing", "must not push",
            "does not push")
        {
            return .never
        }
        guard self.take("pushes", "pushed", "push") else { return nil }
        if self.take("once") { return .exactly(1) }
        if self.take("twice") { return .exactly(2) }
        let isAtLeast = self.take("at least")
        guard let count = self.optionalNumber() else {
            if isAtLeast { throw self.expected("a number") }
            return .atLeast(1)
        }
        _ = self.take("times", "values")
        return isAtLeast ? .atLeast(Int(clamping: count)) : .exactly(Int(clamping: count))
    }

    /// Checks that every subject has.
    private mutating func general(_ shape: Shape) throws(ScenarioFault) -> Expectation.Kind? {
        if shape.isStream, self.take("loading") { return .loading }
        if shape != .outcome, self.take("failure", "fails", "failed") {
            let needsReason = self.take("with")
            return .failure(try self.reasonWord(isRequired: needsReason))
        }
        // In an explanation it is an ordinary field, beside the reason and the next change.
        if shape != .explanation, self.take("not entitled") { return Expectation.Kind.none }
        if self.take(
            "none", "nothing", "empty", "never subscribed", "no transactions", "no transaction",
            "no statuses", "nobody")
        {
            return Expectation.Kind.none
        }
        if !shape.isList, shape != .outcome, shape != .settings, self.take("any", "some", "not none") { return .some }
        if shape.isList, self.take("including", "includes", "contains", "among others") { return .including }
        if shape.isList || shape == .status, self.take("count", "lines") {
            return .count(Int(clamping: try self.number("how many")))
        }
        if shape.isList, let count = self.countOf() { return .count(count) }
        return nil
    }

    /// `3 transactions`, `2 lines`, `no events`.
    private mutating func countOf() -> Int? {
        let start = self.index
        if let count = self.optionalNumber() {
            if self.take(
                "transactions", "transaction", "events", "event", "messages", "message", "intents", "intent",
                "purchases", "purchase", "plans", "plan", "offers", "offer")
            {
                return Int(clamping: count)
            }
        }
        self.index = start
        return nil
    }

    /// A reason code, as one word or several; nil at the end of the item.
    private mutating func reasonWord(isRequired: Bool) throws(ScenarioFault) -> String? {
        var words: [String] = []
        while let token = self.peek, token.kind == .word || token.kind == .quoted, !self.isNext("and") {
            words.append(token.text)
            self.index += 1
        }
        if isRequired, words.isEmpty { throw self.expected("a reason") }
        return words.isEmpty ? nil : words.joined(separator: "_")
    }

    // MARK: Checks of some subjects

    private mutating func special(
        _ shape: Shape, _ state: inout RenewalState?
    ) throws(ScenarioFault) -> [Expectation.Kind]? {
        switch shape {
        case .status: return try self.statusChecks(&state)
        case .entitlement, .transaction, .transactions: return try self.transactionChecks(shape)
        case .outcome:
            if let result = try self.result() { return [.result(result)] }
            return try self.transactionChecks(shape)
        case .events:
            if let kind = self.optionalName(TransactionEventKind.self) {
                return [.field(.event, .text(kind.description), isNegated: false)]
            }
            if self.take("renewal") { return [.field(.event, .text("renewed"), isNegated: false)] }
            if self.take("purchase") { return [.field(.event, .text("purchased"), isNegated: false)] }
            if self.take("refunded") { return [.field(.event, .text("revoked"), isNegated: false)] }
            return try self.transactionChecks(shape)
        case .messages:
            guard let reason = self.optionalName(MessageReason.self) else { return nil }
            return [.field(.message, .text(reason.description), isNegated: false)]
        case .pending:
            guard let reason = self.optionalName(PendingReason.self) else { return nil }
            return [.field(.pendingReason, .text(reason.description), isNegated: false)]
        case .plans:
            if let relation = self.optionalName(PlanRelation.self) {
                return [.field(.relation, .text(relation.description), isNegated: false)]
            }
            if self.take("now") { return [.field(.atRenewal, .flag(false), isNegated: false)] }
            return nil
        case .eligibility: return try self.eligibilityChecks()
        case .products(let ids): return try self.productChecks(ids)
        case .clock:
            if self.take("running") { return [.field(.frozen, .flag(false), isNegated: false)] }
            return nil
        case .appTransaction:
            if self.take("unverified") { return [.field(.verification, .some, isNegated: false)] }
            if self.take("verified") { return [.field(.verification, .none, isNegated: false)] }
            return nil
        case .settings:
            guard let settings = try self.settings() else { return nil }
            return settings.map { .setting($0) }
        default: return nil
        }
    }

    private mutating func result() throws(ScenarioFault) -> Expectation.ResultRule? {
        if self.take("refused", "refuses", "fails", "failure", "fail", "error") {
            let needsReason = self.take("with", "because of", "because")
            return .refused(try self.reasonWord(isRequired: needsReason))
        }
        if self.take("already held", "held") { return .held }
        if self.take("a new transaction", "new transaction", "new") { return .new }
        if self.take("success", "succeeds", "bought", "done", "ok") { return .success }
        if self.take("pending", "waits") { return .pending }
        if self.take("user cancelled", "cancelled", "canceled") { return .cancelled }
        if self.take("approved") { return .approved }
        if self.take("declined") { return .declined }
        if self.take("applies at renewal") { return .appliesAtRenewal }
        if self.take("settled", "settles") {
            return .settled(Int(clamping: try self.number("how many renewals were settled")))
        }
        return nil
    }

    private mutating func statusChecks(_ state: inout RenewalState?) throws(ScenarioFault) -> [Expectation.Kind]? {
        if self.take("effective own line", "effective is own", "effective own") {
            return [.select(.effective), .field(.ownership, .text("purchased"), isNegated: false)]
        }
        if self.take("effective shared line", "effective is shared", "effective shared") {
            return [.select(.effective), .field(.ownership, .text("familyShared"), isNegated: false)]
        }
        if let selection = try self.lineSelection() { return [.select(selection)] }
        let start = self.index
        if self.take("not"), let other = self.stateName() {
            return [.field(.state, .text(other.description), isNegated: true)]
        }
        self.index = start
        if let found = self.stateName() {
            state = found
            return [.field(.state, .text(found.description), isNegated: false)]
        }
        if self.take("until", "through") {
            let field: Field
            switch state {
            case .inGracePeriod?: field = .graceUntil
            case .inBillingRetryPeriod?: field = .retryUntil
            default: field = .expires
            }
            if self.take("none") { return [.field(field, .none, isNegated: false)] }
            return [.field(field, .instant(try self.instant()), isNegated: false)]
        }
        if state == .expired || state == .revoked, self.take("since") {
            let field: Field = state == .revoked ? .revokedAt : .expires
            return [.field(field, .instant(try self.instant()), isNegated: false)]
        }
        if self.take("does not renew", "no auto renew", "will not renew", "not renewing", "auto renew off") {
            return [.field(.autoRenew, .flag(false), isNegated: false)]
        }
        if self.take("renews to", "renews as", "renews into", "then") {
            return [
                .field(.autoRenew, .flag(true), isNegated: false),
                .field(.preference, .text(try self.product()), isNegated: false),
            ]
        }
        if self.take("renews at", "renews on") {
            return [
                .field(.autoRenew, .flag(true), isNegated: false),
                .field(.renewalDate, .instant(try self.instant()), isNegated: false),
            ]
        }
        if self.take("renews", "renewing") { return [.field(.autoRenew, .flag(true), isNegated: false)] }
        if self.take("unverified") { return [.field(.verification, .some, isNegated: false)] }
        if self.take("verified") { return [.field(.verification, .none, isNegated: false)] }
        return nil
    }

    private mutating func lineSelection() throws(ScenarioFault) -> Expectation.Selection? {
        if self.take("own line", "own") {
            _ = self.take(.colon)
            return .own
        }
        if self.take("family shared", "shared line", "shared") {
            _ = self.take(.colon)
            return .shared
        }
        if self.isNext("effective because") || self.isNext("effective reason") { return nil }
        if self.take("effective line", "effective") {
            _ = self.take(.colon)
            return .effective
        }
        if self.isNext("line"),
            let number = self.index + 1 < self.tokens.count
                ? Self.number(self.tokens[self.index + 1].text) : nil
        {
            self.index += 2
            _ = self.take(.colon)
            return .number(Int(clamping: number))
        }
        return nil
    }

    private mutating func stateName() -> RenewalState? {
        // Dates that begin like a state are fields of the table.
        for phrase in [
            "grace until", "grace period until", "grace period expiration date", "retry until", "billing retry until",
            "revoked at", "revoked on",
        ] where self.isNext(phrase) { return nil }
        if let state = self.optionalName(RenewalState.self) { return state }
        if self.take("in billing retry period", "in billing retry", "billing retry", "in retry", "retry") {
            return .inBillingRetryPeriod
        }
        if self.take("in grace period", "in grace", "grace period", "grace") { return .inGracePeriod }
        if self.take("active") { return .subscribed }
        return nil
    }

    private mutating func transactionChecks(_ shape: Shape) throws(ScenarioFault) -> [Expectation.Kind]? {
        if self.take("unverified") { return [.field(.verification, .some, isNegated: false)] }
        if self.take("verified") { return [.field(.verification, .none, isNegated: false)] }
        if self.take("not revoked", "not refunded") { return [.field(.revokedAt, .none, isNegated: false)] }
        if self.isNext("revoked at") || self.isNext("revoked on") || self.isNext("refunded at") { return nil }
        if self.take("revoked", "refunded") { return [.field(.revokedAt, .some, isNegated: false)] }
        if self.take("family shared", "shared") {
            return [.field(.ownership, .text("familyShared"), isNegated: false)]
        }
        if self.take("own") { return [.field(.ownership, .text("purchased"), isNegated: false)] }
        if shape == .entitlement, self.take("entitled", "held") { return [.some] }
        if shape == .transactions || shape == .transaction || shape == .entitlement || shape == .outcome {
            if self.take("a renewal", "renewal") {
                return [.field(.transactionReason, .text("renewal"), isNegated: false)]
            }
            if self.take("a purchase", "purchase") {
                return [.field(.transactionReason, .text("purchase"), isNegated: false)]
            }
        }
        if shape == .transaction, self.take("exists") { return [.some] }
        return nil
    }

    private mutating func eligibilityChecks() throws(ScenarioFault) -> [Expectation.Kind]? {
        if self.take("introductory offer", "introductory", "intro offer", "intro") {
            return [.field(.offerType, .text("introductory"), isNegated: false)] + (self.verdict() ?? [])
        }
        if let offer = try self.optionalOrderedOffer() {
            return [
                .field(.offerType, .text(offer.type.description), isNegated: false),
                .field(.offerID, .text(offer.id), isNegated: false),
            ] + (self.verdict() ?? [])
        }
        return self.verdict()
    }

    private mutating func verdict() -> [Expectation.Kind]? {
        if self.take("not eligible", "ineligible") { return [.field(.eligible, .flag(false), isNegated: false)] }
        if self.take("eligible") { return [.field(.eligible, .flag(true), isNegated: false)] }
        return self.optionalSwitch().map { [.field(.eligible, .flag($0), isNegated: false)] }
    }

    private mutating func productChecks(_ ids: [String]) throws(ScenarioFault) -> [Expectation.Kind]? {
        if let token = self.peek, token.kind == .quoted || token.kind == .word, ids.contains(token.text) {
            self.index += 1
            _ = self.take(.colon)
            return [.select(.product(token.text))]
        }
        if self.take("unavailable") { return [.field(.available, .flag(false), isNegated: false)] }
        return nil
    }

    // MARK: Fields

    private mutating func field(
        _ shape: Shape, isNegated: Bool, _ state: RenewalState?
    ) throws(ScenarioFault) -> Expectation.Kind? {
        var found: (row: FieldTable.Row, index: Int)?
        for row in shape.rows {
            for phrase in row.phrases {
                var copy = self
                guard copy.takePhrase(phrase) else { continue }
                if copy.index > found?.index ?? -1 { found = (row, copy.index) }
            }
        }
        guard let found else { return nil }
        self.index = found.index
        _ = self.take(.colon)
        if found.row.kind == .flag {
            return .field(found.row.field, .flag((self.optionalSwitch() ?? true) != isNegated), isNegated: false)
        }
        if isNegated, self.isAtBreak { return .field(found.row.field, .none, isNegated: false) }
        let negated = self.take("not") != isNegated
        return .field(found.row.field, try self.value(found.row), isNegated: negated)
    }

    private mutating func value(_ row: FieldTable.Row) throws(ScenarioFault) -> Expected {
        if case .names(let names) = row.kind {
            for name in names.sorted(by: { $0.count > $1.count }) where name != "unspecified" && self.takePhrase(name) {
                // The first name is that of nothing: `noIncreasePending`, `noFailure`.
                return name == "none" || name == names[0] ? .none : .text(name)
            }
            if self.take("none", "nothing") { return .none }
            if self.take("some", "any") { return .some }
            throw self.expected(
                "one of the values of `\(row.phrases[0])`", among: names.filter { $0 != "unspecified" })
        }
        if self.take("none", "nothing") { return .none }
        // In quotes it is a text.
        if self.take("some", "any") { return .some }
        switch row.kind {
        case .text: return .text(try self.word("the value of `\(row.phrases[0])`"))
        case .instant:
            _ = self.take("at", "on")
            return .instant(try self.instant())
        case .money:
            let price = try self.money()
            return .money(price.milliunits, currency: price.currency)
        case .number: return .number(try self.number("a number"))
        case .percent:
            if let percent = self.optionalPercent() { return .number(Int64(percent)) }
            return .number(try self.number("a part such as 50%") * 1_000)
        case .offer: return try self.expectedOffer()
        case .reference: return .reference(try self.reference("a transaction"))
        case .period: return .period(try self.period())
        case .list:
            var list: [String] = []
            while let token = self.peek, token.kind == .word || token.kind == .quoted, !self.isNext("and") {
                list.append(token.text)
                self.index += 1
            }
            guard !list.isEmpty else { throw self.expected("identifiers, or `none`") }
            return .list(list)
        case .flag, .names: preconditionFailure("read above")
        }
    }

    /// A word alone: a product, or a transaction by its name.
    private mutating func bareWord(_ shape: Shape, isNegated: Bool) throws(ScenarioFault) -> Expectation.Kind? {
        switch shape {
        case .products, .clock, .settings, .policies, .appTransaction, .explanation: return nil
        default: break
        }
        guard let token = self.peek, token.kind == .word || token.kind == .quoted else { return nil }
        if token.kind == .word, self.names.transactions.contains(token.text) {
            self.index += 1
            return .field(.transaction, .reference(.named(token.text)), isNegated: isNegated)
        }
        if self.isNext("latest") || self.isNext("first") || self.isNext("transaction") {
            return .field(.transaction, .reference(try self.reference()), isNegated: isNegated)
        }
        let isKnown = token.kind == .quoted || self.names.products.contains(token.text)
        // If the products are unknown, a word is a product unless it resembles a keyword.
        guard isKnown || (!self.names.areProductsKnown && nearest(to: token.text, in: Self.vocabulary(shape)) == nil)
        else { return nil }
        self.index += 1
        return .field(.product, .text(token.text), isNegated: isNegated)
    }
}
