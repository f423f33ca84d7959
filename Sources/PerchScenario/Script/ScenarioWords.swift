import PerchModel

/// The words of the scenario language. Tests compare this table with the parser and with proto/scenario/README.md, so
/// that the parser reads no word that the page does not list.
package enum ScenarioWords {
    /// Every phrase that the parser reads, in alphabetical order. The names of fields are in `FieldTable`.
    package static let phrases = [
        "a", "a new transaction", "a purchase", "a renewal", "accept price increase", "account", "accounts", "active",
        "advance", "advance by", "advance to", "advance to next boundary", "advance to the next boundary", "after",
        "after paid", "after paying", "again", "again after", "agree", "agree to price increase",
        "agree to the price increase", "all entitlements", "all groups", "all renewals", "allowed", "already held",
        "among others", "and", "annual", "annually", "answer", "any", "app account token", "app policies",
        "app storefront", "app transaction", "applies at renewal", "approve", "approve purchase", "approve purchase of",
        "approve the purchase of", "approved", "are", "arm", "as", "as of", "ask again", "ask for consumption of",
        "ask to buy", "asking", "asking for consent", "asking to buy", "asks to buy", "at", "at least", "auto renew",
        "auto renew off", "auto renew on", "auto renewable", "auto renewable subscription", "because", "because of",
        "begin a purchase of", "begin purchase of", "billed", "billed monthly at", "billing", "billing plan",
        "billing retry", "billing retry on renewal", "bimonthly", "bought", "bought at", "bought on", "buy", "by",
        "call", "called", "can make payments", "cancel", "cancel immediately", "canceled", "cancelled",
        "cancelled immediately", "cancelling immediately", "card declines", "card fails", "card works", "catalog",
        "catalogue", "charges as set", "charges as settings", "charges by setting", "charges fail", "charges succeed",
        "clear", "clear all transactions", "clear transactions", "clock", "code", "code redemption", "confirm",
        "consent", "consent to price increase", "consent to the price increase", "consumable", "contains",
        "continue in new storefront", "continuing", "continuing in new storefront", "costs", "count",
        "create intent for", "current entitlement", "current entitlements", "dated", "decline",
        "decline price increase", "decline purchase", "decline purchase of", "decline refund", "decline refund of",
        "decline the price increase", "decline the purchase of", "decline the refund of", "declined", "delay", "delete",
        "denied", "description", "dialogs", "disarm", "disarm all", "disarm everything", "dismiss intent",
        "dismiss intent for", "does not push", "does not renew", "done", "double", "each", "edit", "effective",
        "effective because", "effective is own", "effective is shared", "effective line", "effective own",
        "effective own line", "effective reason", "effective shared", "effective shared line", "eligibility",
        "eligible", "elsewhere", "empty", "end", "end intent", "entitled", "entitlement", "entitlements", "environment",
        "error", "event", "events", "every", "existing", "existing customers", "exists", "expect", "expects", "expire",
        "expired", "expired customers", "explain", "explanation", "explanation for", "explanation of", "extend",
        "extend renewal", "extend renewal of", "extend the renewal of", "fail", "fail billing", "fail charge",
        "fail charges", "fail payment", "fail payments", "fail renewal", "fail renewals", "failed", "fails", "failure",
        "family shareable", "family shared", "finish", "finish all", "finish everything", "first", "for",
        "for all renewals", "for paid renewals", "for paid renewals only", "force a renewal of", "force renewal of",
        "free", "free trial", "freeze", "freeze clock", "freeze the clock", "full", "fully", "go to", "got", "grace",
        "grace period", "group", "half yearly", "held", "history", "in", "in billing retry", "in billing retry period",
        "in full", "in grace", "in grace period", "in group", "in retry", "in storefront", "includes", "including",
        "including finished consumables", "increase price", "increase price of", "ineligible", "intent", "intent for",
        "intents", "interrupted purchases", "intro", "intro offer", "introductory", "introductory offer", "is", "it",
        "jws", "lapsed", "last", "latest", "level", "line", "lines", "listing", "load", "load catalog",
        "load catalogue", "load the catalogue", "loading", "locale", "lose", "manage", "manage subscription",
        "manage subscriptions", "manage subscriptions sheet", "message", "messages", "month", "monthly", "monthly plan",
        "monthly plan at", "months", "move to", "move to storefront", "moves to", "must not push", "name",
        "needing consent", "never subscribed", "new", "new customers", "new transaction", "newest", "next",
        "next boundary", "no", "no auto renew", "no consent", "no push", "no pushes", "no statuses", "no transaction",
        "no transactions", "nobody", "non consumable", "non renewable", "non renewing", "non renewing subscription",
        "none", "not", "not eligible", "not entitled", "not none", "not pushed", "not refunded", "not renewing",
        "not revoked", "nothing", "notification", "notifications", "now", "number", "of", "of all groups", "of group",
        "of the app", "offer", "offer code", "offer code redeem sheet", "offer eligibility", "offers", "ok", "oldest",
        "on", "once", "one time", "or monthly plan at", "original date", "original version", "originally purchased",
        "outcome", "outside", "outside the app", "own", "own line", "paid", "paid renewals only", "paid up front",
        "pay as you go", "pay up front", "payments", "payments fail", "payments succeed", "pending",
        "pending purchases", "plan", "plan options", "plans", "platform", "policies", "post a message", "post message",
        "price", "price of", "product", "products", "promo", "promo offer", "promotional", "promotional offer",
        "prorated", "purchase", "purchase date", "purchase intents", "purchases", "push", "pushed", "pushes",
        "pushes nothing", "quantity", "quarterly", "raise price", "raise price of", "raise the price of", "reason",
        "redeem", "redeem code", "redeem offer code", "refund", "refund request sheet", "refund requests", "refunded",
        "refunded at", "refuse price increase", "refused", "refuses", "reinstate", "remove offer", "rename", "renew",
        "renew until now", "renewal", "renewals fail", "renewals succeed", "renewing", "renewing until now", "renews",
        "renews as", "renews at", "renews into", "renews on", "renews to", "reorder", "request a refund of",
        "request consumption", "request consumption of", "request refund", "request refund for", "request refund of",
        "reset", "reset settings", "reset to default state", "resolve", "resolve billing", "resolve billing issue",
        "resolve interruption", "resolve interruption of", "resolve issue", "resolve payment", "resolve purchase",
        "resolve purchase of", "restore", "restore purchases", "result", "resume", "resume clock", "resume the clock",
        "retry", "return to sale", "reverse refund", "reverse refund of", "reverse the refund of", "revoked",
        "revoked at", "revoked on", "run the clock", "running", "saying", "seen in", "seen storefront", "sees", "sell",
        "semi annual", "set", "set app transaction", "set locale", "set price of", "set storefront", "set the price of",
        "set time rate", "settings", "settled", "settles", "share", "shareable", "shared", "shared line",
        "shared with family", "signature", "signed", "silence", "silent", "since", "six monthly", "some", "stackable",
        "start", "status", "statuses", "stop sharing", "stop watching", "storefront", "storefront of the app", "strict",
        "subscription", "subscription status", "succeeds", "success", "switch auto renew off", "switch auto renew on",
        "sync", "take back refund of", "take intent", "take intent for", "text", "that", "the clock", "the next",
        "then", "three monthly", "through", "time", "time rate", "times", "to", "to be", "to next boundary",
        "to the next boundary", "token", "transaction", "transaction updates", "transactions", "trial",
        "turn auto renew off", "turn auto renew on", "turn off auto renew", "turn on auto renew", "twice",
        "two monthly", "unavailable", "unchanged", "unfinished", "unrefund", "until", "unverified", "unwatch",
        "up front", "updates", "user cancelled", "using", "values", "verified", "version", "wait", "wait for",
        "wait until", "waits", "watch", "weekly", "will not renew", "win back", "win back offer", "with",
        "with consent", "with finished consumables", "with locale", "with storefront", "with text", "withdraw",
        "withdrawn", "without", "without consent", "without intro", "without intro offer", "without introductory offer",
        "without trial", "x", "yearly",
    ]

    /// Every word of a phrase, of a field or of a field's value, without hyphens and in small letters.
    ///
    /// A transaction with such a name would be read as the keyword in some places, so `as NAME` refuses it.
    static let reserved: Set<String> = {
        var words: Set<String> = []
        for text in Self.phrases + Self.fieldPhrases + Self.values {
            for word in Self.words(of: text) { words.insert(Token.normalise(word)) }
            words.insert(Token.normalise(text))
        }
        // An article. A transaction may have this name: the parser looks for names before it skips articles.
        words.remove("a")
        return words
    }()

    /// The phrases of all fields.
    package static var fieldPhrases: [String] { FieldTable.all.flatMap(\.phrases) }

    /// The values that fields and items can have by name.
    private static var values: [String] {
        var values = FieldTable.all.flatMap { (row) -> [String] in
            if case .names(let names) = row.kind { names } else { [] }
        }
        values += RenewalState.names
        values += TransactionEventKind.names
        values += MessageReason.names
        values += PendingReason.names
        values += PlanRelation.names
        return values
    }

    /// The words of a phrase, or of a name in camelCase: `grace`, `period` of `gracePeriod`.
    static func words(of text: String) -> [String] {
        var words: [String] = [""]
        for character in text {
            if character == " " || character == "-" {
                words.append("")
            } else if character.isUppercase, words.last?.last?.isLowercase == true {
                words.append(String(character))
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }
}
