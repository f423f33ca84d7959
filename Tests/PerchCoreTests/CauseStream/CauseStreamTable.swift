/// Something that happens, and that some streams must push and others must not.
enum Happening: String, CaseIterable {
    case purchaseOfConsumable = "purchase of a consumable"
    case purchaseOfNonConsumable = "purchase of a non-consumable"
    case purchaseOfAutoRenewable = "purchase of an auto-renewable subscription"
    case purchaseOfNonRenewable = "purchase of a non-renewing subscription"
    case purchaseOfWhatIsHeld = "purchase of what is held"
    case upgrade = "purchase of a higher level"
    case downgrade = "purchase of a lower level"
    case renewal = "renewal at the boundary"
    case forcedRenewal = "renewal that is forced"
    case refund = "refund"
    case expiry = "expiry, as time passes"
    case forcedExpiry = "expiry that is forced"
    case cataloguePrice = "catalogue: another price"
    case catalogueName = "catalogue: another name"
    case catalogueSame = "catalogue: the same again"
    case clockWithinPeriod = "clock moved, no boundary"
    case clockOverExpiry = "clock moved over an expiry"
    case clockOverRenewal = "clock moved over a renewal"
    case clockFrozen = "clock frozen"
    case autoRenewOff = "auto-renew off"
    case autoRenewOn = "auto-renew on"
    case finish = "finish"
    case timeRate = "time rate set"
    case otherAccount = "purchase by another account"
    case storefront = "storefront and locale of the file"
    case refundOfOlder = "refund of an older transaction"
    case refundOfLastAfterEnd = "refund of the last one after the end"
    case refundReversed = "refund taken back"
    case refundDeclined = "refund declined"
    case recoveryInGrace = "charge recovers in the grace period"
    case recoveryInRetry = "charge recovers in billing retry"
    case retryEnds = "billing retry ends"
    case cancelInGrace = "auto-renew off in the grace period"
    case cancelInRetry = "auto-renew off in billing retry"
    case familyShares = "family member shares"
    case familyStops = "family member stops sharing"
    case priceAsked = "higher price asked"
    case priceInformed = "higher price told"
    case priceAgreed = "higher price agreed to"
    case priceNotAgreed = "period ends, higher price not agreed to"
    case withdrawn = "period ends, product withdrawn"
    case extended = "renewal extended"
    case deleted = "transaction deleted"
    case cleared = "transactions cleared"
    case graceBegins = "charge fails, grace period on"
    case retryBegins = "charge fails, grace period off"
    case intentBegun = "purchase begun outside the app"
    case intentTaken = "purchase of what was begun outside the app"
    case intentDismissed = "purchase begun outside the app is dismissed"
    case messagePosted = "message posted"
}

/// A stream, open before it happens: of all products, of the account's group, of the product in question, of the account.
enum StreamKind: String, CaseIterable {
    case products = "ProductsTask"
    case status = "SubscriptionStatusTask"
    case entitlement = "CurrentEntitlementTask"
    case updates = "TransactionUpdates"
    case intents = "PurchaseIntents"
    case messages = "Messages"
}

enum Cell: String {
    case push
    /// Must not push.
    case silent
}

/// What each stream does. A row or a cell that is missing fails a test; so does one that is wrong.
let causeStreamTable: [Happening: [StreamKind: Cell]] = [
    .purchaseOfConsumable: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .push, .intents: .silent,
        .messages: .silent,
    ],
    .purchaseOfNonConsumable: [
        .products: .silent, .status: .silent, .entitlement: .push, .updates: .push, .intents: .silent,
        .messages: .silent,
    ],
    .purchaseOfAutoRenewable: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .purchaseOfNonRenewable: [
        .products: .silent, .status: .silent, .entitlement: .push, .updates: .push, .intents: .silent,
        .messages: .silent,
    ],
    .purchaseOfWhatIsHeld: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .upgrade: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .downgrade: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .renewal: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .forcedRenewal: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .refund: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .expiry: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .forcedExpiry: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .cataloguePrice: [
        .products: .push, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .catalogueName: [
        .products: .push, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .catalogueSame: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .clockWithinPeriod: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .clockOverExpiry: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .clockOverRenewal: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .clockFrozen: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .autoRenewOff: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .autoRenewOn: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .finish: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .timeRate: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .otherAccount: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .storefront: [
        .products: .push, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .refundOfOlder: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .push, .intents: .silent,
        .messages: .silent,
    ],
    .refundOfLastAfterEnd: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .push, .intents: .silent,
        .messages: .silent,
    ],
    .refundReversed: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .refundDeclined: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .recoveryInGrace: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .push,
    ],
    .recoveryInRetry: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .push,
    ],
    .retryEnds: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .push,
    ],
    .cancelInGrace: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent, .messages: .push,
    ],
    .cancelInRetry: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .push,
    ],
    .familyShares: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .familyStops: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .priceAsked: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .push,
    ],
    .priceInformed: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .priceAgreed: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .push,
    ],
    .priceNotAgreed: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent, .messages: .push,
    ],
    .withdrawn: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .extended: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .push, .intents: .silent, .messages: .silent,
    ],
    .deleted: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .cleared: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent,
        .messages: .silent,
    ],
    .graceBegins: [
        .products: .silent, .status: .push, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .push,
    ],
    .retryBegins: [
        .products: .silent, .status: .push, .entitlement: .push, .updates: .silent, .intents: .silent, .messages: .push,
    ],
    .intentBegun: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .push,
        .messages: .silent,
    ],
    .intentTaken: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .push, .intents: .push,
        .messages: .silent,
    ],
    .intentDismissed: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .push,
        .messages: .silent,
    ],
    .messagePosted: [
        .products: .silent, .status: .silent, .entitlement: .silent, .updates: .silent, .intents: .silent,
        .messages: .push,
    ],
]

/// The table for readers: `CauseStreamTable.md`.
func causeStreamMarkdown() -> String {
    var lines = [
        "# What each stream pushes",
        "",
        "Generated from `CauseStreamTable.swift`, where every cell is a test. Write it anew with",
        "`PERCH_WRITE_TABLES=1 swift test --filter CauseStreamTests`. The entitlement is that of the product in question;",
        "the status that of the group `plans`; products are all of the shop's. Cells of the last two columns follow the",
        "cadence of messages and the queue of intents, sections 10 and 17 of the model.",
        "",
        "| Happening | " + StreamKind.allCases.map(\.rawValue).joined(separator: " | ") + " |",
        "|---|" + String(repeating: "---|", count: StreamKind.allCases.count),
    ]
    for happening in Happening.allCases {
        let cells = StreamKind.allCases.map { stream in
            causeStreamTable[happening]?[stream].map { $0 == .push ? "**push**" : "–" } ?? "?"
        }
        lines.append("| \(happening.rawValue) | " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
}
