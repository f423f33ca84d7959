import PerchBase
import PerchModel

/// The kind of subject of an expectation, which determines its checks.
enum Shape: Hashable, Sendable {
    case outcome
    case products([String])
    case status
    case entitlement
    /// One transaction.
    case transaction
    /// Several, each an item.
    case transactions
    case events
    case intents
    case messages
    case pending
    case plans
    case eligibility
    case explanation
    case clock
    case settings
    case appTransaction
    case policies

    var rows: [FieldTable.Row] {
        switch self {
        case .outcome, .transaction: FieldTable.transaction
        case .transactions: FieldTable.transaction
        case .entitlement: FieldTable.value + FieldTable.transaction
        case .products: FieldTable.product
        case .status: FieldTable.status
        case .events: FieldTable.event
        case .intents: FieldTable.intent
        case .messages: FieldTable.message
        case .pending: FieldTable.pending
        case .plans: FieldTable.plan
        case .eligibility: FieldTable.eligibility
        case .explanation: FieldTable.explanation
        case .clock: FieldTable.clock
        case .appTransaction: FieldTable.appTransactionRows
        case .policies: FieldTable.policies
        case .settings: []
        }
    }

    /// Whether each item between commas is one entry of a list.
    var isList: Bool {
        switch self {
        case .transactions, .events, .intents, .messages, .pending, .plans, .eligibility: true
        default: false
        }
    }

    /// Whether the server pushes it.
    var isStream: Bool {
        switch self {
        case .products, .status, .entitlement, .events, .intents, .messages: true
        default: false
        }
    }
}

// Subjects of expectations.
extension LineCursor {
    static let subjects = [
        "status", "entitlement", "products", "product", "updates", "messages", "intents", "history", "unfinished",
        "latest",
        "transaction", "entitlements", "eligibility", "plans", "pending", "explanation", "clock", "settings",
        "policies",
        "app transaction", "refused", "success", "held", "new", "pending", "cancelled",
    ]

    /// The stream of `watch` and `expect`; nil if the line names none.
    mutating func watchKey(_ said: String?) throws(ScenarioFault) -> (WatchKey, Shape)? {
        if self.take("subscription status", "statuses", "status") {
            if self.take("of all groups", "all groups") {
                return (.status(account: try self.account(try self.accountSuffix(or: said)), group: ""), .status)
            }
            var group: String?
            if let token = self.peek, token.kind == .quoted || token.kind == .word, !self.isAccountNext {
                group = try self.group()
            }
            return (.status(account: try self.account(try self.accountSuffix(or: said)), group: group), .status)
        }
        if self.isNext("entitlements") { return nil }
        if self.take("current entitlement", "entitlement") {
            _ = self.take("to", "for")
            let product = try self.product()
            let account = try self.account(try self.accountSuffix(or: said))
            return (.entitlement(account: account, product: product), .entitlement)
        }
        if self.take("products", "product") { return try self.productsKey() }
        if self.take("transaction updates", "updates") {
            return (.updates(account: try self.account(try self.accountSuffix(or: said))), .events)
        }
        if self.take("purchase intents", "intents") {
            return (.intents(account: try self.account(try self.accountSuffix(or: said))), .intents)
        }
        if self.take("messages") {
            return (.messages(account: try self.account(try self.accountSuffix(or: said))), .messages)
        }
        return nil
    }

    private var isAccountNext: Bool {
        var copy = self
        return copy.optionalAccountSuffix() != nil
    }

    private mutating func group() throws(ScenarioFault) -> String {
        self.skipFillers()
        _ = self.take("group", "of group")
        guard let token = self.peek else { throw self.expected("a subscription group") }
        if token.kind == .word, self.names.areProductsKnown, !self.names.groups.contains(token.text) {
            if self.names.products.contains(token.text) {
                throw ScenarioFault(
                    token.place,
                    "\(quoted(token.text)) is a product, and a status belongs to a group: there are "
                        + self.names.groups.sorted().joined(separator: ", "))
            }
            let meant = nearest(to: token.text, in: self.names.groups.sorted())
            throw ScenarioFault(
                token.place,
                "the catalogue has no group \(quoted(token.text))"
                    + (meant.map { "; did you mean `\($0)`?" }
                        ?? "; put a colon before what is expected, and the group, if there are several, before the colon")
            )
        }
        return try self.word("a subscription group")
    }

    private mutating func productsKey() throws(ScenarioFault) -> (WatchKey, Shape) {
        var ids = [try self.product()]
        while self.take(.comma) || self.take("and") { ids.append(try self.product()) }
        // A product may follow without a comma.
        while let token = self.peek, token.kind == .quoted || self.names.products.contains(token.text) {
            ids.append(token.text)
            self.index += 1
        }
        var storefront = ""
        var locale = ""
        var seen: Set<String> = []
        while true {
            if self.take("with storefront", "in storefront", "in") {
                storefront = try self.word("a storefront such as FRA")
                try self.requireFirst("the storefront", &seen)
            } else if self.take("with locale", "locale") {
                locale = try self.word("a locale such as fr_FR")
                try self.requireFirst("the locale", &seen)
            } else {
                break
            }
        }
        return (.products(ids, locale: locale, storefront: storefront), .products(ids))
    }

    /// The subject of an expectation; nil for the outcome of the last step.
    mutating func subject(_ said: String?) throws(ScenarioFault) -> (Expectation.Subject, Shape)? {
        self.skipFillers()
        if self.take("explanation of", "explanation for", "explanation", "explain") {
            guard let (key, _) = try self.watchKey(said) else { throw self.expected("`status` or `entitlement`") }
            var instant: InstantExpression?
            if self.take("as of", "at") { instant = try self.instant() }
            return (.explanation(key, instant), .explanation)
        }
        if self.take("app transaction") {
            return (.appTransaction(account: try self.account(try self.accountSuffix(or: said))), .appTransaction)
        }
        if let (key, shape) = try self.watchKey(said) {
            guard self.take("as of") else { return (.watch(key), shape) }
            guard shape == .status || shape == .entitlement else {
                throw self.expected("nothing here: only a status or an entitlement can be asked as of another instant")
            }
            return (.asOf(key, try self.instant()), shape)
        }
        if self.take("history") { return try self.historySubject(said) }
        if self.take("unfinished") {
            return (.unfinished(account: try self.account(try self.accountSuffix(or: said))), .transactions)
        }
        if self.take("current entitlements", "all entitlements", "entitlements") {
            return (.entitlements(account: try self.account(try self.accountSuffix(or: said))), .transactions)
        }
        if self.take("offer eligibility", "eligibility") { return try self.eligibilitySubject(said) }
        if self.take("plan options", "plans") {
            var group: String?
            if let token = self.peek, token.kind != .colon, !self.isAccountNext { group = try self.group() }
            return (.plans(account: try self.account(try self.accountSuffix(or: said)), group: group), .plans)
        }
        if self.isNext("clock") || self.isNext("the clock") {
            _ = self.take("the clock", "clock")
            return (.clock, .clock)
        }
        if self.take("settings") { return (.settings, .settings) }
        if self.take("app policies", "policies") {
            let locale = self.take("with locale", "in") ? try self.word("a locale") : ""
            return (.policies(locale: locale), .policies)
        }
        if self.take("pending purchases") { return try self.pendingSubject(said) }
        // `pending` alone is an outcome; with a colon or an account it is the list.
        var ahead = self
        if ahead.take("pending"), ahead.peek?.kind == .colon || ahead.optionalAccountSuffix() != nil {
            _ = self.take("pending")
            return try self.pendingSubject(said)
        }
        return try self.transactionSubject(said)
    }

    private mutating func pendingSubject(_ said: String?) throws(ScenarioFault) -> (Expectation.Subject, Shape) {
        (.pending(account: try self.account(try self.accountSuffix(or: said))), .pending)
    }

    private mutating func historySubject(_ said: String?) throws(ScenarioFault) -> (Expectation.Subject, Shape) {
        var said = said
        var product: String?
        var includes = false
        var seen: Set<String> = []
        while let token = self.peek, token.kind != .colon {
            if let account = try self.accountSuffix(besides: said) {
                said = account
                try self.requireFirst("the account", &seen)
            } else if self.take("with finished consumables", "including finished consumables") {
                includes = true
                try self.requireFirst("finished consumables", &seen)
            } else if self.take("of", "for") {
                product = try self.product()
                try self.requireFirst("the product", &seen)
            } else {
                break
            }
        }
        let account = try self.account(said)
        return (.history(account: account, product: product, includesFinishedConsumables: includes), .transactions)
    }

    private mutating func eligibilitySubject(_ said: String?) throws(ScenarioFault) -> (Expectation.Subject, Shape) {
        var said = try self.accountSuffix(or: said)
        var product: String?
        var group: String?
        _ = self.take("for", "of")
        if self.take("group") {
            group = try self.word("a subscription group")
        } else if let token = self.peek, token.kind == .word || token.kind == .quoted {
            if self.names.groups.contains(token.text), !self.names.products.contains(token.text) {
                group = try self.word("a subscription group")
            } else {
                product = try self.product()
            }
        }
        said = try self.accountSuffix(or: said)
        return (
            .eligibility(account: try self.account(said), product: product, group: group), .eligibility
        )
    }

    private mutating func transactionSubject(
        _ said: String?
    ) throws(ScenarioFault) -> (Expectation.Subject, Shape)? {
        let start = self.index
        let isNamed = self.peek.map { $0.kind == .word && self.names.transactions.contains($0.text) } ?? false
        guard
            isNamed || self.isNext("latest") || self.isNext("first") || self.isNext("newest") || self.isNext("oldest")
                || self.isNext("transaction") || self.isNext("renewal")
        else { return nil }
        guard let reference = try self.optionalReference() else { return nil }
        if case .product = reference {
            self.index = start
            return nil
        }
        let account: String
        if case .named = reference, self.names.accounts.count > 1, said == nil {
            // A name is of the account that it was given for.
            account = ""
        } else {
            account = try self.account(try self.accountSuffix(or: said))
        }
        return (.transaction(account: account, reference), .transaction)
    }
}
