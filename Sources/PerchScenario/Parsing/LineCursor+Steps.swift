import PerchBase
import PerchModel

// Steps. Each function reads its verb and its arguments, or nothing at all.
extension LineCursor {
    /// The first words of lines, for suggestions.
    static let verbs = [
        "advance", "again", "agree", "answer", "approve", "arm", "ask", "at", "auto-renew", "billing", "buy", "call",
        "cancel",
        "card",
        "charges", "clear", "consent", "decline", "delay", "delete", "dialogs", "disarm", "dismiss", "double", "expect",
        "expire",
        "extend",
        "fail", "finish", "force", "freeze", "grace", "intent", "interrupted", "load", "locale", "lose", "manage",
        "next",
        "offer", "post", "price", "product", "purchase", "raise", "redeem", "refund", "reinstate", "remove", "rename",
        "renew", "reorder", "request", "reset", "resolve", "restore", "resume", "reverse", "set", "share", "stop",
        "storefront",
        "sync", "take", "time", "to", "turn", "unwatch", "wait", "watch", "withdraw",
    ]

    // MARK: Time

    mutating func clockStep(_ said: String? = nil) throws(ScenarioFault) -> ClockStep? {
        if self.take("freeze the clock", "freeze clock", "freeze") { return .freeze }
        if self.take("resume the clock", "resume clock", "resume", "run the clock") { return .resume }
        if self.take(
            "advance to the next boundary", "advance to next boundary", "to the next boundary", "to next boundary",
            "next boundary", "next")
        {
            let account = try self.accountSuffix(or: said)
            return .toNextBoundary(account: try self.account(account))
        }
        if self.take("advance to", "go to", "wait until", "at", "on", "until") {
            return .to(try self.instant())
        }
        if self.take("advance by", "advance", "wait for", "wait", "after") {
            return .to(InstantExpression(base: .now, offset: try self.duration("a duration")))
        }
        if self.isDateNext { return .to(try self.instant()) }
        if let token = self.peek, token.kind == .word, token.text.first == "+" {
            return .to(InstantExpression(base: .now, offset: try self.duration("a duration")))
        }
        return nil
    }

    // MARK: Mishaps

    /// What goes wrong where the server is the App Store of a backend.
    mutating func mishap() throws(ScenarioFault) -> ScenarioMishap? {
        if self.take("answer") { return try self.answerMishap() }
        let start = self.place
        var mishap: ScenarioMishap
        if self.take("lose") {
            mishap = ScenarioMishap(kind: .lose)
        } else if self.take("double") {
            mishap = ScenarioMishap(kind: .double)
        } else if self.take("reorder") {
            mishap = ScenarioMishap(kind: .reorder)
        } else if self.take("delay") {
            mishap = ScenarioMishap(kind: .delay)
        } else {
            return nil
        }
        _ = self.take("the next", "next")
        if let count = self.optionalNumber() { mishap.times = try self.times(count, start) }
        guard self.take("notifications", "notification") else {
            throw self.expected("`notification`, or a number of `notifications`")
        }
        guard mishap.kind == .delay else { return mishap }
        guard self.take("by") else { throw self.expected("`by` and how much later, such as `by 5h`") }
        let place = self.place
        let length = try self.duration("how much later")
        guard length.months == 0, length.milliseconds > 0 else {
            throw ScenarioFault(place, "a delay is a length of time with hours or days, such as 5h")
        }
        mishap.milliseconds = length.milliseconds
        return mishap
    }

    private mutating func answerMishap() throws(ScenarioFault) -> ScenarioMishap {
        let place = self.place
        let kinds: [Int64: MishapKind] = [429: .rateLimit, 500: .error, 503: .unavailable]
        guard let status = self.optionalNumber(), let kind = kinds[status] else {
            throw ScenarioFault(place, "a request is answered 429, 500 or 503")
        }
        var mishap = ScenarioMishap(kind: kind)
        if let count = self.optionalNumber() {
            mishap.times = try self.times(count, place)
            guard self.take("times") else { throw self.expected("`times`") }
        }
        if self.take("to") { mishap.path = try self.word("a path such as \"/inApps/v2/history\"") }
        return mishap
    }

    private func times(_ count: Int64, _ place: SourcePlace) throws(ScenarioFault) -> UInt32 {
        guard count > 0, let times = UInt32(exactly: count) else {
            throw ScenarioFault(place, "a mishap happens 1 time or more")
        }
        return times
    }

    // MARK: Who

    /// The account of a line: the one in front, or the only one of the file.
    func account(_ said: String?) throws(ScenarioFault) -> String {
        if let said { return said }
        switch self.names.accounts.count {
        case 0: return Scenario.defaultAccount
        case 1: return self.names.accounts[0]
        default:
            let known = self.names.accounts.joined(separator: ", ")
            throw ScenarioFault(
                self.tokens[0].place,
                "whose? this file has \(known); write it in front, such as `\(self.names.accounts[0]): \(self.text)`")
        }
    }

    // MARK: Purchases

    mutating func purchase(_ said: String?) throws(ScenarioFault) -> Step? {
        guard self.take("buy", "purchase") else { return nil }
        var isOutside = self.take("outside the app", "outside")
        var order = ScenarioOrder(order: PurchaseOrder(productID: ""))
        var seen: Set<String> = isOutside ? ["the place"] : []
        if let count = self.optionalNumber() {
            order.order.quantity = try self.quantity(count)
            seen.insert("the quantity")
        }
        order.order.productID = try self.product("what to buy")
        var said = said
        while !self.isAtBreak, !self.isNext("as") {
            if let account = try self.accountSuffix(besides: said) {
                said = account
                try self.requireFirst("the account", &seen)
            } else if self.take("outside the app", "outside", "elsewhere") {
                isOutside = true
                try self.requireFirst("the place", &seen)
            } else {
                try self.requireFirst(try self.purchaseOption(&order), &seen)
            }
        }
        return .buy(account: try self.account(said), order, isOutside: isOutside)
    }

    private func quantity(_ count: Int64) throws(ScenarioFault) -> UInt32 {
        guard let quantity = UInt32(exactly: count) else { throw ScenarioFault(self.place, "too many to be counted") }
        // The contract's 0 means 1, which nobody means who writes 0.
        guard quantity > 0 else { throw ScenarioFault(self.place, "buying 0 buys nothing; write 1 or more") }
        return quantity
    }

    /// Reads one option, and returns its kind.
    private mutating func purchaseOption(_ order: inout ScenarioOrder) throws(ScenarioFault) -> String {
        if self.take("without introductory offer", "without intro offer", "without intro", "without trial") {
            order.order.introductoryEligibility = .denied
            return "the introductory offer"
        }
        if self.take("with", "using"), self.isAtBreak { throw self.expected("an offer") }
        if self.take("introductory offer", "introductory", "intro offer", "intro", "trial") {
            try self.introductoryOption(&order)
            return "the introductory offer"
        }
        if let offer = try self.optionalOrderedOffer() {
            order.order.offer = offer
            return "the offer"
        }
        if self.take("quantity", "times", "x") {
            order.order.quantity = try self.quantity(try self.number("how many"))
            return "the quantity"
        }
        if let token = self.peek, token.kind == .word, token.text.first == "x",
            let count = Self.number(token.text.dropFirst())
        {
            self.index += 1
            order.order.quantity = try self.quantity(count)
            return "the quantity"
        }
        if self.take("app account token", "token") {
            order.order.appAccountToken = try self.word("a UUID").lowercased()
            return "the token"
        }
        if self.take("billed", "billing plan", "billing") {
            order.order.billingPlan = try self.name(BillingPlanType.self, "a billing plan")
            return "the billing plan"
        }
        return try self.simulationOption(&order)
    }

    private mutating func introductoryOption(_ order: inout ScenarioOrder) throws(ScenarioFault) {
        if self.take("denied") {
            order.order.introductoryEligibility = .denied
        } else {
            order.order.introductoryEligibility = .allowed
            _ = self.take("allowed")
        }
        if self.take("signed", "signature", "jws") {
            order.order.introductoryEligibilitySignature = try self.word("a signature")
        }
    }

    /// An option that only a test store has.
    private mutating func simulationOption(_ order: inout ScenarioOrder) throws(ScenarioFault) -> String {
        if self.take("dated", "purchase date", "bought on", "bought at") {
            order.date = try self.instant("when it was bought")
            return "the date"
        }
        if self.take("renewing until now", "renew until now") {
            order.order.renewalBehaviour = .renewUntilNow
            return "its renewal"
        }
        if self.take("cancelled immediately", "cancelling immediately", "cancel immediately") {
            order.order.renewalBehaviour = .cancelImmediately
            return "its renewal"
        }
        if self.take("asking to buy", "asks to buy", "ask to buy", "asking") {
            order.order.simulatesAskToBuy = true
            return "asking to buy"
        }
        if self.take("seen in", "seen storefront") {
            order.order.seenStorefront = try self.word("a storefront such as USA")
            return "the storefront"
        }
        if self.take("continuing in new storefront", "continuing", "continue in new storefront") {
            order.order.continuesInNewStorefront = true
            return "continuing"
        }
        throw self.expected(
            "an option of a purchase",
            among: [
                "quantity", "promotional", "win-back", "code", "trial", "token", "billed", "dated",
                "renewing until now", "cancelled immediately", "asking to buy", "seen in", "continuing", "outside",
                "as",
            ])
    }

    // MARK: What a transaction manager does

    mutating func accountStep(_ said: String?) throws(ScenarioFault) -> Step? {
        let start = self.index
        if let operation = try self.operation(said) {
            let account = try self.accountSuffix(or: said)
            return .operate(account: try self.account(account), operation)
        }
        self.index = start
        return try self.customerStep(said)
    }

    private mutating func operation(_ said: String?) throws(ScenarioFault) -> AccountOperation? {
        if let operation = try self.refundOperation() { return operation }
        if let operation = try self.periodOperation() { return operation }
        if let operation = try self.billingOperation() { return operation }
        if let operation = try self.priceOperation() { return operation }
        if let operation = try self.sharingOperation() { return operation }
        if let operation = try self.waitingOperation() { return operation }
        return try self.otherOperation(said)
    }

    private mutating func refundOperation() throws(ScenarioFault) -> AccountOperation? {
        if self.take("reverse the refund of", "reverse refund of", "reverse refund", "take back refund of", "unrefund")
        {
            return .reverseRefund(try self.reference())
        }
        if self.take("decline refund of", "decline refund", "decline the refund of") {
            return .declineRefund(try self.reference())
        }
        if self.take("request consumption of", "request consumption", "ask for consumption of") {
            return .requestConsumption(try self.reference())
        }
        guard self.take("refund") else { return nil }
        let target = try self.reference()
        var reason = RevocationReason.other
        var share = RefundShare.full
        var seen: Set<String> = []
        while !self.isAtBreak, !self.isNext("as"), !self.isNext("of"), !self.isNext("for") {
            var option = "the share"
            if self.take("because of", "because", "reason") {
                _ = self.take("a")
                reason = try self.name(RevocationReason.self, "`other` or `developer issue`")
                option = "the reason"
            } else if self.take("prorated") {
                share = .prorated
            } else if self.take("full", "fully", "in full") {
                share = .full
            } else if let percent = self.optionalPercent() {
                share = .part(milliPercent: percent)
            } else {
                throw self.expected("`because`, `prorated`, `full`, or a part such as 50%")
            }
            try self.requireFirst(option, &seen)
        }
        return .refund(target, reason: reason, share: share)
    }

    mutating func optionalPercent() -> UInt32? {
        guard let token = self.peek, token.kind == .word, token.text.last == "%",
            let milli = Money.milliunits(parsing: token.text.dropLast()), let percent = UInt32(exactly: milli)
        else { return nil }
        self.index += 1
        return percent
    }

    private mutating func periodOperation() throws(ScenarioFault) -> AccountOperation? {
        if self.take("force renewal of", "force a renewal of", "renew") { return .renew(try self.reference()) }
        if self.take("expire") { return .expire(try self.reference()) }
        if self.take("turn off auto renew", "turn auto renew off", "switch auto renew off", "auto renew off") {
            return .setAutoRenew(try self.lineTarget(), isOn: false)
        }
        if self.take("turn on auto renew", "turn auto renew on", "switch auto renew on", "auto renew on") {
            return .setAutoRenew(try self.lineTarget(), isOn: true)
        }
        if self.take("auto renew") { throw self.expected("`on` or `off`") }
        if self.take("cancel") { return .setAutoRenew(try self.lineTarget(), isOn: false) }
        if self.take("extend the renewal of", "extend renewal of", "extend renewal", "extend") {
            let target = self.isNext("by") ? nil : try self.lineTarget()
            _ = self.take("by")
            return .extendRenewal(target, by: try self.duration("by how much"))
        }
        return nil
    }

    /// A subscription; may be omitted if there is only one.
    private mutating func lineTarget() throws(ScenarioFault) -> Reference? {
        let start = self.index
        if self.take("of", "for") {
            // `for alice` is about whose.
            if let token = self.peek, self.names.accounts.contains(token.text) {
                self.index = start
                return nil
            }
        }
        guard !self.isAtBreak, !self.isNext("as"), !self.isNext("by"), !self.isNext("to") else { return nil }
        return try self.reference()
    }

    private mutating func billingOperation() throws(ScenarioFault) -> AccountOperation? {
        if self.take(
            "fail renewals", "fail renewal", "fail charges", "fail charge", "fail payments", "fail payment",
            "fail billing", "charges fail", "payments fail", "renewals fail", "card fails", "card declines")
        {
            return .setCharges(fail: true)
        }
        if self.take("charges succeed", "payments succeed", "renewals succeed", "card works") {
            return .setCharges(fail: false)
        }
        if self.take("charges as set", "charges as settings", "charges by setting") { return .setCharges(fail: nil) }
        if self.take("can make payments", "payments") { return .setPayments(isAllowed: try self.requiredSwitch()) }
        if self.take("resolve purchase of", "resolve purchase", "resolve interruption of", "resolve interruption") {
            return .decidePurchase(try self.waiting(), approves: true)
        }
        if self.take(
            "resolve billing issue", "resolve billing", "resolve issue", "resolve payment", "resolve")
        {
            return .resolveBilling(try self.lineTarget())
        }
        return nil
    }

    private mutating func priceOperation() throws(ScenarioFault) -> AccountOperation? {
        if self.take("raise the price of", "raise price of", "raise price", "increase price of", "increase price") {
            let target = self.isNext("to") ? nil : try self.lineTarget()
            _ = self.take("to")
            let price = try self.price()
            var consent: Bool?
            if self.take("with consent", "needing consent", "asking for consent") {
                consent = true
            } else if self.take("without consent", "no consent") {
                consent = false
            }
            return .raisePrice(target, milliunits: price, needsConsent: consent)
        }
        if self.take(
            "consent to price increase", "consent to the price increase", "agree to price increase",
            "agree to the price increase", "accept price increase", "consent", "agree")
        {
            return .answerPriceIncrease(try self.lineTarget(), agrees: true)
        }
        if self.take("decline price increase", "decline the price increase", "refuse price increase") {
            return .answerPriceIncrease(try self.lineTarget(), agrees: false)
        }
        return nil
    }

    private mutating func sharingOperation() throws(ScenarioFault) -> AccountOperation? {
        if self.take("stop sharing") {
            var target: Reference?
            if !self.isAtBreak, !self.isNext("with") { target = try self.reference() }
            var member: String?
            if self.take("with") { member = try self.member() }
            return .stopSharing(target, member: member)
        }
        guard self.take("share") else { return nil }
        let target = try self.reference()
        guard self.take("with") else { throw self.expected("`with` and the family member") }
        return .share(target, member: try self.member())
    }

    private mutating func member() throws(ScenarioFault) -> String {
        let place = self.place
        let member = try self.word("the family member")
        try self.requireDeclared(member, at: place)
        return member
    }

    /// A pending purchase: `gold`, `transaction 7`, or nothing for the oldest. Its number is a transaction's number.
    private mutating func waiting() throws(ScenarioFault) -> Waiting {
        if self.take("transaction", "number") {
            let number = try self.number("its number")
            guard self.isNext("of"), self.index + 1 < self.tokens.count,
                !self.names.accounts.contains(self.tokens[self.index + 1].text), self.take("of")
            else { return .number(UInt64(number)) }
            return .place(Int(number), product: try self.product())
        }
        return try self.optionalProduct().map { .product($0) } ?? .oldest
    }

    private mutating func waitingOperation() throws(ScenarioFault) -> AccountOperation? {
        if self.take("approve purchase of", "approve the purchase of", "approve purchase", "approve", "confirm") {
            return .decidePurchase(try self.waiting(), approves: true)
        }
        if self.take("decline purchase of", "decline the purchase of", "decline purchase", "decline") {
            return .decidePurchase(try self.waiting(), approves: false)
        }
        if self.take("dismiss intent for", "dismiss intent", "take intent for", "take intent", "end intent") {
            return .endIntent(try self.waiting())
        }
        if self.take("begin a purchase of", "begin purchase of", "create intent for", "intent for", "intent") {
            let product = try self.product()
            guard self.take("with") else {
                return .createIntent(product: product, offer: try self.optionalOrderedOffer())
            }
            guard let offer = try self.optionalOrderedOffer() else {
                throw self.expected("an offer", among: ["promotional", "win-back", "code"])
            }
            return .createIntent(product: product, offer: offer)
        }
        return nil
    }

    private mutating func otherOperation(_ said: String?) throws(ScenarioFault) -> AccountOperation? {
        if self.take("delete") { return .deleteTransaction(try self.reference()) }
        if self.take("clear all transactions", "clear transactions", "clear") { return .clearTransactions }
        if self.take("post a message", "post message", "message") { return .postMessage }
        if self.take("set app transaction", "app transaction") { return .setAppTransaction(try self.appTransaction()) }
        // With an account in front it is that account's storefront, otherwise the app's.
        if said != nil, self.take("storefront", "move to storefront", "move to", "moves to") {
            if self.take("none", "of the app") { return .setStorefront("") }
            return .setStorefront(try self.word("a storefront such as FRA"))
        }
        return nil
    }

    /// `version 1.2, got 2020-05-01, on macOS, in production`: each at most once, all of them optional.
    private mutating func appTransaction() throws(ScenarioFault) -> AppTransactionTerms {
        var terms = AppTransactionTerms()
        var seen: Set<String> = []
        while !self.isAtBreak, self.optionalAccountIsNotNext {
            if self.take(.comma) { continue }
            let option: String
            if self.take("original version", "version") {
                terms.originalAppVersion = try self.word("a version such as 1.2")
                option = "the version"
            } else if self.take("originally purchased", "original date", "got") {
                let place = self.place
                let text = try self.word("an instant such as 2020-05-01T00:00:00Z")
                guard let time = CivilTime(parsing: text) else {
                    throw ScenarioFault(place, "\(quoted(text)) is no instant such as 2020-05-01T00:00:00Z")
                }
                terms.originalPurchaseDate = time.instant
                option = "the date"
            } else if self.take("platform", "on") {
                terms.originalPlatform = try self.name(AppPlatform.self, "a platform such as iOS")
                option = "the platform"
            } else if self.take("environment", "in") {
                terms.environment = try self.name(AppEnvironment.self, "an environment such as production")
                option = "the environment"
            } else {
                throw self.expected("a part of the app transaction", among: ["version", "got", "on", "in"])
            }
            try self.requireFirst(option, &seen)
        }
        return terms
    }

    private var optionalAccountIsNotNext: Bool {
        var copy = self
        return copy.optionalAccountSuffix() == nil
    }

    /// Calls of TransactionService, which the customer's app makes.
    private mutating func customerStep(_ said: String?) throws(ScenarioFault) -> Step? {
        if self.take("finish all", "finish everything") { return .finish(account: try self.account(said), .all) }
        if self.take("finish") {
            let target = try self.reference()
            return .finish(account: try self.account(try self.accountSuffix(or: said)), .one(target))
        }
        if self.take("sync", "restore purchases", "restore") { return .sync(account: try self.account(said)) }
        if self.take("request a refund of", "request refund of", "request refund for", "request refund") {
            let target = try self.reference()
            var reason = RevocationReason.other
            var text = ""
            var seen: Set<String> = []
            while !self.isAtBreak, !self.isNext("as") {
                var option = "the reason"
                if self.take("because of", "because", "reason") {
                    reason = try self.name(RevocationReason.self, "`other` or `developer issue`")
                } else if self.take("text", "saying", "with text") || self.peek?.kind == .quoted {
                    text = try self.word("what the customer wrote")
                    option = "the text"
                } else {
                    throw self.expected("`because` or `saying \"…\"`")
                }
                try self.requireFirst(option, &seen)
            }
            return .requestRefund(account: try self.account(said), target, reason: reason, text: text)
        }
        if self.take("redeem offer code", "redeem code", "redeem") {
            let code = try self.word("the code, or its offer's reference name")
            let product = self.take("for", "of") ? try self.product() : ""
            return .redeem(account: try self.account(said), code: code, product: product)
        }
        if self.take("manage subscriptions", "manage subscription", "manage") {
            let product = try self.product("the product that is held")
            _ = self.take("auto renew")
            return .manage(account: try self.account(said), product: product, autoRenew: try self.requiredSwitch())
        }
        if self.take("call", "name") { return .name(account: try self.account(said), try self.reference()) }
        return nil
    }
}
