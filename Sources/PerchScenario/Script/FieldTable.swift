import PerchModel

/// The kind of a field's value, which determines how it is written.
enum FieldKind: Hashable, Sendable {
    case text, instant, flag, money, number, percent, offer, reference, list, period
    /// One of these names, in any spelling.
    case names([String])
}

/// The phrases of all fields, for the parser, the documentation and the messages.
enum FieldTable {
    struct Row: Sendable {
        var field: Field
        /// The first one is its name in messages.
        var phrases: [String]
        var kind: FieldKind
    }

    static let transaction: [Row] = [
        Row(field: .transaction, phrases: ["transaction", "id"], kind: .reference),
        Row(field: .original, phrases: ["original transaction", "original id", "original"], kind: .reference),
        Row(field: .product, phrases: ["product", "product id"], kind: .text),
        Row(field: .type, phrases: ["type"], kind: .names(ProductType.names)),
        Row(field: .group, phrases: ["group"], kind: .text),
        Row(field: .purchased, phrases: ["purchase date", "purchased", "bought", "from"], kind: .instant),
        Row(field: .originallyPurchased, phrases: ["original purchase date"], kind: .instant),
        Row(field: .expires, phrases: ["expires", "expiration date", "until", "ends"], kind: .instant),
        Row(field: .quantity, phrases: ["quantity"], kind: .number),
        Row(field: .upgraded, phrases: ["is upgraded", "upgraded"], kind: .flag),
        Row(field: .ownership, phrases: ["ownership"], kind: .names(OwnershipType.names)),
        Row(field: .offer, phrases: ["with offer", "offer"], kind: .offer),
        Row(
            field: .revokedAt, phrases: ["revocation date", "revoked at", "revoked on", "refunded at"], kind: .instant),
        Row(
            field: .revocationReason, phrases: ["revocation reason", "refund reason"],
            kind: .names(RevocationReason.names)),
        Row(
            field: .revocationType, phrases: ["revocation type", "refund type"], kind: .names(RevocationType.names)),
        Row(
            field: .percentage, phrases: ["revocation percentage", "refund percentage", "percentage"], kind: .percent),
        Row(field: .token, phrases: ["app account token", "token"], kind: .text),
        Row(field: .storefront, phrases: ["storefront"], kind: .text),
        Row(field: .environment, phrases: ["environment"], kind: .names(AppEnvironment.names)),
        Row(field: .transactionReason, phrases: ["transaction reason"], kind: .names(TransactionReason.names)),
        Row(field: .price, phrases: ["price", "paid", "charged"], kind: .money),
        Row(field: .billingPlan, phrases: ["billing plan", "billed"], kind: .names(BillingPlanType.names)),
        Row(
            field: .verification, phrases: ["verification error", "verification"],
            kind: .names(VerificationFailure.names)),
        Row(field: .webOrderLineItem, phrases: ["web order line item id", "web order line item"], kind: .text),
        Row(field: .appTransaction, phrases: ["app transaction id", "app transaction"], kind: .text),
        Row(field: .billingPeriodNumber, phrases: ["billing period number", "billing period"], kind: .number),
        Row(field: .totalBillingPeriods, phrases: ["total billing periods"], kind: .number),
        Row(
            field: .commitmentUntil, phrases: ["commitment until", "commitment expiration date"], kind: .instant),
        Row(field: .commitmentPrice, phrases: ["commitment price"], kind: .money),
        Row(field: .commitmentRenews, phrases: ["commitment renews"], kind: .flag),
    ]

    static let status: [Row] =
        [
            Row(field: .state, phrases: ["state"], kind: .names(RenewalState.names)),
            Row(field: .autoRenew, phrases: ["will auto renew", "auto renew"], kind: .flag),
            Row(
                field: .preference, phrases: ["auto renew preference", "preference", "next product"], kind: .text),
            Row(
                field: .expirationReason, phrases: ["expiration reason", "because", "reason"],
                kind: .names(ExpirationReason.names)),
            Row(field: .retrying, phrases: ["is in billing retry", "retrying"], kind: .flag),
            Row(
                field: .graceUntil,
                phrases: ["grace period expiration date", "grace period until", "grace until"], kind: .instant),
            Row(field: .retryUntil, phrases: ["billing retry until", "retry until"], kind: .instant),
            Row(
                field: .priceIncrease, phrases: ["price increase status", "price increase"],
                kind: .names(PriceIncreaseStatus.names + ["none"])),
            Row(field: .renewalDate, phrases: ["renewal date"], kind: .instant),
            Row(field: .renewalPrice, phrases: ["renewal price", "next price"], kind: .money),
            Row(field: .renewalOffer, phrases: ["renewal offer", "next offer"], kind: .offer),
            Row(
                field: .winBacks, phrases: ["eligible win back offer ids", "win back offers", "win backs", "win back"],
                kind: .list),
            Row(
                field: .runStart, phrases: ["recent subscription start date", "subscribed since", "run since"],
                kind: .instant),
            Row(
                field: .renewalBillingPlan, phrases: ["renewal billing plan"], kind: .names(BillingPlanType.names)),
            Row(
                field: .effectiveReason, phrases: ["effective because", "effective reason"],
                kind: .names(EffectiveReason.names)),
        ] + Self.value + Self.transaction

    static let value: [Row] = [
        Row(field: .cause, phrases: ["caused by", "cause"], kind: .names(Cause.names)),
        Row(field: .nextChangeAt, phrases: ["next change at", "changes at"], kind: .instant),
        Row(field: .nextChange, phrases: ["next change"], kind: .names(ForecastKind.names + ["none"])),
    ]

    static let product: [Row] =
        [
            Row(field: .available, phrases: ["available"], kind: .flag),
            Row(field: .name, phrases: ["display name", "name"], kind: .text),
            Row(field: .details, phrases: ["description"], kind: .text),
            Row(field: .displayPrice, phrases: ["display price"], kind: .text),
            Row(field: .price, phrases: ["price"], kind: .money),
            Row(field: .currency, phrases: ["currency"], kind: .text),
            Row(field: .storefront, phrases: ["storefront"], kind: .text),
            Row(field: .type, phrases: ["type"], kind: .names(ProductType.names)),
            Row(field: .shareable, phrases: ["family shareable", "shareable"], kind: .flag),
            Row(field: .level, phrases: ["group level", "level"], kind: .number),
            Row(field: .period, phrases: ["period"], kind: .period),
            Row(field: .groupName, phrases: ["group display name", "group name"], kind: .text),
            Row(field: .group, phrases: ["group"], kind: .text),
            Row(field: .introductoryOffer, phrases: ["introductory offer", "intro offer", "trial"], kind: .offer),
            Row(field: .promotionalOffers, phrases: ["promotional offers", "promotional offer"], kind: .list),
            Row(field: .winBackOffers, phrases: ["win back offers", "win back offer"], kind: .list),
            Row(field: .billingPlans, phrases: ["billing plans"], kind: .list),
            Row(field: .image, phrases: ["promotional image", "image"], kind: .text),
        ] + Self.value

    static let event: [Row] =
        [Row(field: .event, phrases: ["event"], kind: .names(TransactionEventKind.names))] + Self.transaction

    static let message: [Row] = [
        Row(field: .message, phrases: ["reason"], kind: .names(MessageReason.names)),
        Row(field: .since, phrases: ["since", "at"], kind: .instant),
        Row(field: .product, phrases: ["product", "about", "for"], kind: .text),
        Row(field: .offerID, phrases: ["offer"], kind: .text),
        Row(field: .original, phrases: ["original transaction", "original"], kind: .reference),
    ]

    static let intent: [Row] = [
        Row(field: .product, phrases: ["product"], kind: .text),
        Row(field: .offer, phrases: ["with offer", "offer"], kind: .offer),
        Row(field: .since, phrases: ["since", "at"], kind: .instant),
    ]

    static let pending: [Row] = [
        Row(field: .product, phrases: ["product"], kind: .text),
        Row(field: .pendingReason, phrases: ["reason", "because"], kind: .names(PendingReason.names)),
        Row(field: .quantity, phrases: ["quantity"], kind: .number),
        Row(field: .offer, phrases: ["with offer", "offer"], kind: .offer),
        Row(field: .since, phrases: ["since", "at"], kind: .instant),
    ]

    static let plan: [Row] = [
        Row(field: .product, phrases: ["product"], kind: .text),
        Row(field: .relation, phrases: ["relation"], kind: .names(PlanRelation.names + ["none"])),
        Row(field: .atRenewal, phrases: ["at renewal", "takes effect at renewal"], kind: .flag),
        Row(field: .preferred, phrases: ["preferred"], kind: .flag),
        Row(field: .offer, phrases: ["with offer", "offer"], kind: .offer),
        Row(field: .price, phrases: ["price"], kind: .money),
    ]

    static let eligibility: [Row] = [
        Row(field: .eligible, phrases: ["is eligible", "eligible"], kind: .flag),
        Row(field: .reason, phrases: ["because", "reason"], kind: .text),
        Row(field: .product, phrases: ["product", "of", "for"], kind: .text),
    ]

    static let explanation: [Row] = [
        Row(field: .rule, phrases: ["rule"], kind: .text),
        Row(field: .entitled, phrases: ["entitled"], kind: .flag),
        Row(field: .state, phrases: ["state"], kind: .names(RenewalState.names)),
        Row(field: .original, phrases: ["original transaction", "original"], kind: .reference),
        Row(field: .nextChangeAt, phrases: ["next change at", "changes at"], kind: .instant),
        Row(field: .nextChange, phrases: ["next change"], kind: .names(ForecastKind.names + ["none"])),
        Row(field: .sentence, phrases: ["says", "message"], kind: .text),
    ]

    static let clock: [Row] = [
        Row(field: .now, phrases: ["now", "at"], kind: .instant),
        Row(field: .frozen, phrases: ["frozen"], kind: .flag),
        Row(field: .timeRate, phrases: ["time rate"], kind: .text),
    ]

    static let appTransactionRows: [Row] = [
        Row(field: .appTransaction, phrases: ["app transaction id", "id"], kind: .text),
        Row(field: .bundleID, phrases: ["bundle id", "bundle"], kind: .text),
        Row(field: .originalVersion, phrases: ["original version", "version"], kind: .text),
        Row(field: .originallyPurchased, phrases: ["original purchase date", "got"], kind: .instant),
        Row(field: .platform, phrases: ["original platform", "platform"], kind: .names(AppPlatform.names)),
        Row(field: .mayPay, phrases: ["can make payments", "payments"], kind: .flag),
        Row(field: .environment, phrases: ["environment"], kind: .names(AppEnvironment.names)),
        Row(
            field: .verification, phrases: ["verification error", "verification"],
            kind: .names(VerificationFailure.names)),
    ]

    static let policies: [Row] = [
        Row(field: .licence, phrases: ["licence agreement", "licence", "license"], kind: .text),
        Row(field: .privacyText, phrases: ["privacy policy text", "privacy policy", "privacy text"], kind: .text),
        Row(field: .privacyURL, phrases: ["privacy policy url", "privacy url"], kind: .text),
    ]

    /// The rows of all subjects.
    static let all: [Row] = [
        Self.status, Self.product, Self.event, Self.message, Self.intent, Self.pending, Self.plan, Self.eligibility,
        Self.explanation, Self.clock, Self.appTransactionRows, Self.policies,
    ].flatMap { $0 }

    private static let titles: [Field: String] = {
        var titles: [Field: String] = [:]
        for row in Self.all where titles[row.field] == nil { titles[row.field] = row.phrases[0] }
        return titles
    }()

    /// The name of a field in messages.
    static func title(_ field: Field) -> String { Self.titles[field] ?? field.rawValue }
}
