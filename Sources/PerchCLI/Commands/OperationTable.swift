import PerchBase
import PerchModel

/// The rows of `perch store` that change one account, or set something in the app.
enum OperationTable {
    static let commands: [CommandSpec] =
        Self.refunds + Self.renewals + Self.prices + Self.family + Self.waiting + Self.records + Self.customers
        + Self.app

    static let target = OperandSpec(
        "TARGET", .target, .one, "A product that the account holds, or the number of one of its transactions.")
    static let number = OperandSpec("NUMBER", .transactionID, .one, "Its number.")

    /// `heading`: its section of the help; nil where `StoreTable.headings` names it.
    static func leaf(
        _ name: String, _ summary: String, _ action: Action, _ operands: [OperandSpec], _ options: [OptionSpec] = [],
        heading: String? = nil
    ) -> CommandSpec {
        var command = CommandTable.leaf(
            name, summary, action, operands, CommandTable.asking(options + [StoreTable.key]))
        command.heading = heading
        return command
    }

    private static let refunds = [
        Self.leaf(
            "reverse-refund", "Reverse a refund.", .storeReverseRefund,
            [CommandTable.account, Self.target]),
        Self.leaf(
            "decline-refund", "Decline a refund as the store; no purchase changes.", .storeDeclineRefund,
            [CommandTable.account, Self.target]),
        Self.leaf(
            "consumption", "Ask as the store how a purchase was used; no purchase changes.", .storeConsumption,
            [CommandTable.account, Self.target]),
    ]

    private static let renewals = [
        Self.leaf(
            "resolve", "Renew a subscription in its grace or retry period.", .storeResolve,
            [CommandTable.account, Self.target]),
        Self.leaf(
            "charges", "Set whether the account's charges fail from now on.", .storeCharges,
            [
                CommandTable.account,
                OperandSpec(
                    "OUTCOME",
                    .contract("CHARGE_OUTCOME", ["fail", "succeed", "as-app"], naming: ["as-app": "UNSPECIFIED"]), .one,
                    "The outcome of charges."),
            ]),
        Self.leaf(
            "extend", "Move the end of the current period later.", .storeExtend,
            [
                CommandTable.account, Self.target,
                OperandSpec("DURATION", .calendarDuration, .one, "By how much: 36h, 3d, 2w."),
            ]),
    ]

    private static let prices = [
        Self.leaf(
            "raise-price", "Raise the price of a subscription from its next period on.", .storeRaisePrice,
            [
                CommandTable.account, Self.target,
                OperandSpec("PRICE", .text, .one, "The new price of a period, such as 12.99."),
            ],
            [
                OptionSpec(
                    "consent", .contract("PRICE_CONSENT", ["needed", "not-needed"]), "WHETHER",
                    "Whether the customer has to agree; by the size of the increase if not given.")
            ]),
        Self.leaf(
            "agree-price", "Agree to a price increase for the customer.", .storeAgreePrice,
            [CommandTable.account, Self.target]),
        Self.leaf(
            "decline-price", "Refuse a price increase for the customer: renewal goes off.", .storeDeclinePrice,
            [CommandTable.account, Self.target]),
    ]

    private static let family = [
        Self.share,
        Self.leaf(
            "stop-sharing", "Stop sharing everything with all members, or less by an option.", .storeStopSharing,
            [CommandTable.account],
            [
                OptionSpec("target", .text, "TARGET", "Only this product or transaction."),
                OptionSpec("member", .text, "MEMBER", "Only with this member."),
            ]),
    ]

    private static let share: CommandSpec = {
        var share = Self.leaf(
            "share", "Share what an account bought with a member of its family.", .storeShare,
            [
                CommandTable.account, Self.target,
                OperandSpec("MEMBER", .text, .one, "The member's account; it is made if there is none."),
            ])
        share.discussion = [
            "A subscription reaches the member at once. Anything else waits until the member restores: perch store sync MEMBER."
        ]
        share.examples = [
            ("perch store share alice app.perch.lifetime bob", "What alice bought once."),
            ("perch store sync bob", "Now bob has it too."),
        ]
        return share
    }()

    private static let waiting = [
        Self.leaf("approve", "Approve a pending purchase.", .storeApprove, [CommandTable.account, Self.number]),
        Self.leaf("decline", "Decline a pending purchase.", .storeDecline, [CommandTable.account, Self.number]),
        Self.leaf(
            "intent", "Begin a purchase outside the app; nothing is bought until the app buys.", .storeIntent,
            [CommandTable.account, CommandTable.product], Self.offer),
        Self.leaf(
            "end-intent", "Remove a purchase intent.", .storeEndIntent, [CommandTable.account, Self.number]),
        Self.leaf("message", "Post a message of the store to the account.", .storeMessage, [CommandTable.account]),
    ]

    private static let records = [
        Self.leaf(
            "delete", "Delete a transaction, as if it had never been.", .storeDelete,
            [CommandTable.account, CommandTable.transaction]),
        Self.leaf("clear", "Delete all transactions of an account.", .storeClear, [CommandTable.account]),
        Self.leaf(
            "storefront", "Set the account's own storefront.", .storeStorefront,
            [
                CommandTable.account,
                OperandSpec(
                    "CODE", .storefront(orWord: "app"), .one, "A country such as DEU, or `app` for that of the app."),
            ]),
        Self.leaf(
            "can-make-payments", "Allow or forbid payments of an account, as Screen Time does; renewals go on.",
            .storeCanMakePayments,
            [
                CommandTable.account,
                OperandSpec("SWITCH", .toggle, .one, "`off` forbids them: every purchase is refused."),
            ]),
        {
            var command = Self.leaf(
                "app-transaction", "Set the record of an account's first use of the app; what is left out is as usual.",
                .storeAppTransaction, [CommandTable.account],
                [
                    OptionSpec(
                        "original-version", .text, "VERSION",
                        "The version that the customer got first; 1.0 if not given."),
                    OptionSpec("original-date", .instant, "INSTANT", "When they got it; 1 August 2013 if not given."),
                    OptionSpec(
                        "platform",
                        .contract(
                            "APP_PLATFORM", Array(AppPlatform.names.dropFirst()),
                            naming: [
                                "iOS": "IOS", "macOS": "MACOS", "tvOS": "TVOS", "visionOS": "VISIONOS",
                                "watchOS": "WATCHOS",
                            ]), "PLATFORM", "On what; iOS if not given."),
                    OptionSpec(
                        "receipt-type", .contract("ENVIRONMENT", Array(AppEnvironment.names.dropFirst())),
                        "ENVIRONMENT",
                        "What it names as its store; the app's own if not given."),
                ])
            command.examples = [
                (
                    "perch store app-transaction alice --original-version 1.2 --platform macOS",
                    "A customer from before the subscription, as the app sees it."
                )
            ]
            return command
        }(),
    ]

    static let renewal = OperandSpec("SWITCH", .toggle, .one, "Whether it renews.")

    /// An offer to buy with.
    static let offer = [
        OptionSpec(
            "offer", .text, "ID",
            "Buy with this offer; a code by its reference name. Introductory offers apply automatically."
        ),
        OptionSpec(
            "offer-type", .contract("OFFER_TYPE", ["promotional", "code", "winBack"]), "TYPE", default: "promotional",
            "What kind of offer --offer is."),
    ]

    private static let watch: CommandSpec = {
        var watch = CommandTable.leaf(
            "watch", "Show the accounts live: a table on a terminal, a line for each change elsewhere.", .storeWatch,
            [OperandSpec("ACCOUNT", .text, .any, "The accounts; all of the app if none is given.")],
            [
                OptionSpec("product", .text, "PRODUCT", "Only of this product; may be given several times.")
                    .repeatable(),
                OptionSpec(
                    "state", .state, "STATE",
                    "Only subscriptions in this state, or things of this kind; may be given several times."
                ).repeatable(),
                OptionSpec(
                    "sort", .choice(BoardScreen.Order.allCases.map(\.rawValue)), "COLUMN", default: "product",
                    "Order of the table."),
                OptionSpec("count", .count(1...1_000_000_000), "N", "End after so many lines.").short("n"),
                OptionSpec(
                    "timeout", .duration(1...Limits.commandTimeoutMilliseconds), "DURATION",
                    "End after this time; with --count it is an error (5) if fewer lines came."),
            ] + CommandTable.client + [CommandTable.output])
        watch.discussion = [
            "Keys of the table: the arrows, space and b scroll, s sorts by another column, / filters by a text, Esc shows all "
                + "again, q quits. NEXT and RECENT count from the app's clock, which the first line shows.",
            "Badges mark what needs attention: GRACE and RETRY for a failing charge, RENEWAL-OFF, PLAN-CHANGE, PRICE for an "
                + "increase without an answer, TRIAL and OFFER for the current period, NEXT-OFFER, WIN-BACK, SHARED, "
                + "REVOKED, UNVERIFIED, and COUNTS for the line that entitles where a group has several. NEXT is the next "
                + "change that happens automatically.",
            "The server pushes changes. Pending purchases and new accounts have no stream: the command reads them every "
                + "ten seconds, and after each push. With `--output ndjson`, or in a pipe, each change is a line.",
        ]
        watch.examples = [
            ("perch store watch", "Everything of the app, until Ctrl-C."),
            ("perch store watch --state inGracePeriod --state inBillingRetryPeriod", "Accounts whose charges fail."),
            ("perch store watch alice bob -o ndjson", "For a program: the changes of these two accounts."),
        ]
        return watch
    }()

    private static let app: [CommandSpec] = {
        let options = CommandTable.asking([StoreTable.key])
        var set = CommandTable.leaf(
            "set", "Change a setting of the app.", .storeSet,
            [
                OperandSpec("NAME", .settingName, .one, "Which setting."),
                OperandSpec(
                    "VALUE", .text, .one, "on or off; 3, 16 or 28 days; a time rate, a country or a locale by name."),
            ], options)
        set.examples = [("perch store set billing-retry on", "Renewals fail from now on.")]
        var fail = CommandTable.leaf(
            "fail", "Make a part of the store fail until `off`.", .storeFail,
            [
                OperandSpec(
                    "API", .contract("STORE_KIT_API", Array(StoreKitAPI.names.dropFirst())), .one, "Which part."),
                OperandSpec(
                    "ERROR",
                    .contract(
                        "STORE_KIT_ERROR", ["off"] + SimulatedError.names.dropFirst(), naming: ["off": "UNSPECIFIED"]),
                    .one, "How; `off` disarms."),
            ], options)
        var list = CommandTable.leaf(
            "list", "The accounts of the app, or the transactions and pending purchases of one.", .storeList,
            [OperandSpec("ACCOUNT", .text, .optional, "The account.")], CommandTable.asking([CommandTable.limit]))
        list.discussion = [
            "With --output json or ndjson it has the transactions; `perch store inspect` has the pending purchases as JSON."
        ]
        fail.examples = [("perch store fail loadProducts networkError", "Watches of products get a failure.")]
        var mishap = CommandTable.leaf(
            "mishap", "Let something go wrong with notifications or requests of a twin's backend.", .storeMishap,
            [
                OperandSpec(
                    "KIND",
                    .contract(
                        "MISHAP_KIND",
                        ["lose", "delay", "double", "reorder", "answer-429", "answer-500", "answer-503"],
                        naming: ["answer-429": "RATE_LIMIT", "answer-500": "ERROR", "answer-503": "UNAVAILABLE"]),
                    .one, "What happens to the next notification, or how the next request is answered.")
            ],
            CommandTable.asking([
                OptionSpec("times", .count(1...1_000_000), "COUNT", "With how many of them; 1 if not given."),
                OptionSpec(
                    "by", .duration(1...Limits.mishapDelayMillisecondsMax), "DURATION",
                    "How much later a delayed notification is sent, such as 5h."),
                OptionSpec("path", .text, "PATH", "How the path of the request begins, such as /inApps/v2/history."),
            ]))
        mishap.discussion = [
            "For servers with --twin-listen. `lose`, `delay`, `double` and `reorder` concern notifications to --twin-notify."
        ]
        mishap.examples = [
            ("perch store mishap lose --times 3", "The next three notifications are never sent."),
            ("perch store mishap answer-429 --path /inApps/v2/history", "The next request for history gets 429."),
        ]
        return [
            set, fail, mishap,
            CommandTable.leaf(
                "reset", "Restore the settings of the catalogue file, and disarm failures.", .storeReset, [], options),
            CommandTable.leaf(
                "product", "Change a product of the catalogue, or show it with its offers if nothing is to change.",
                .storeProduct,
                [CommandTable.product],
                CommandTable.asking([
                    OptionSpec("price", .text, "PRICE", "The new price, such as 12.99."),
                    OptionSpec("name", .text, "TEXT", "The new display name, in all locales."),
                    OptionSpec("withdrawn", .toggle, "SWITCH", "Whether it is withdrawn from sale."),
                    OptionSpec("sharing", .toggle, "SWITCH", "Whether families may share it."),
                    StoreTable.key,
                ])),
            Self.watch,
            list,
            CommandTable.leaf(
                "inspect", "All that the store knows about an account.", .storeInspect, [CommandTable.account],
                CommandTable.asking()),
        ]
    }()
}

/// The settings that `perch store set` changes.
enum SettingName: String, CaseIterable {
    case askToBuy = "ask-to-buy"
    case interrupted
    case billingRetry = "billing-retry"
    case grace
    case graceDays = "grace-days"
    case graceForAll = "grace-for-all"
    case dialogs
    case timeRate = "time-rate"
    case storefront
    case locale
}

extension SettingName {
    /// The field of the contract's AppSetting.
    var jsonName: String {
        switch self {
        case .askToBuy: "askToBuy"
        case .interrupted: "interruptedPurchases"
        case .billingRetry: "billingRetryOnRenewal"
        case .grace: "gracePeriod"
        case .graceDays: "gracePeriodDays"
        case .graceForAll: "gracePeriodForAllRenewals"
        case .dialogs: "dialogs"
        case .timeRate: "timeRate"
        case .storefront: "storefront"
        case .locale: "locale"
        }
    }
}

extension ValueKind {
    static let settingName = ValueKind.choice(
        SettingName.allCases.map(\.rawValue),
        json: Dictionary(uniqueKeysWithValues: SettingName.allCases.map { ($0.jsonName, $0.rawValue) }))

    /// Values of `perch store watch --state`: states of the contract, and kinds of rows.
    static let state: ValueKind = {
        let states = Array(RenewalState.names.dropFirst())
        guard case .choice(_, let json) = ValueKind.contract("RENEWAL_STATE", states) else { return .text }
        return .choice(StoreBoard.Filter.stateNames, json: json)
    }()
}
