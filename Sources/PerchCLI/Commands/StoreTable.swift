import PerchModel

/// The rows of `perch store`: the operations of a test store.
enum StoreTable {
    static let store: CommandSpec = {
        var store = CommandSpec("store", "Make things happen in a test store.")
        store.discussion = [
            "Only apps of the environment `xcode` are test stores. Others refuse everything but `finish`."
        ]
        store.commands = [
            CommandTable.leaf(
                "buy", "Buy a product. A new account is created.", .storeBuy,
                [CommandTable.account, CommandTable.product],
                CommandTable.asking(
                    [
                        OptionSpec("quantity", .count(1...10), "N", default: "1", "How many, of a consumable.")
                    ] + OperationTable.offer + [
                        OptionSpec(
                            "token", .uuid, "UUID", "Your own identifier, passed through as the app account token."),
                        OptionSpec(
                            "introductory", .contract("INTRODUCTORY_ELIGIBILITY", ["allowed", "denied"]), "WHETHER",
                            "Whether the introductory offer is allowed, regardless of the history."),
                        OptionSpec(
                            "plan", .contract("BILLING_PLAN_TYPE", ["upFront", "monthly"]), "PLAN",
                            "The billing plan, where there are several."),
                        OptionSpec("at", .moment, "INSTANT", "Bought at this instant in the past, such as -2d."),
                        OptionSpec(
                            "then", .contract("RENEWAL_BEHAVIOUR", ["renewUntilNow", "cancelImmediately"]), "WHAT",
                            "What follows a purchase in the past. In a test app it renews until now if not given."),
                        OptionSpec(flag: "ask-to-buy", "Wait for approval, whatever the setting."),
                        Self.key,
                    ])),
            CommandTable.leaf(
                "finish", "Mark a transaction as delivered.", .storeFinish,
                [CommandTable.account, CommandTable.transaction], CommandTable.asking([Self.key])),
            Self.refund,
            CommandTable.leaf(
                "renew", "End the current period now and renew.", .storeRenew,
                [CommandTable.account, OperationTable.target], CommandTable.asking([Self.key])),
            CommandTable.leaf(
                "expire", "End a subscription now, for good.", .storeExpire,
                [CommandTable.account, OperationTable.target], CommandTable.asking([Self.key])),
            CommandTable.leaf(
                "auto-renew", "Switch the renewal of a subscription on or off.", .storeAutoRenew,
                [CommandTable.account, OperationTable.target, OperationTable.renewal], CommandTable.asking([Self.key])),
            Self.clock, Self.migrate, Self.restored, Self.generate,
        ]
        store.commands.insert(contentsOf: OperationTable.commands, at: store.commands.count - 3)
        store.commands = store.commands.map { command in
            var command = command
            command.heading = command.heading ?? Self.headings.first { $0.commands.contains(command.name) }?.name
            return command
        }
        return store
    }()

    /// The sections of the help for commands whose rows do not name one. A test requires a section for each command.
    static let headings: [(name: String, commands: Set<String>)] = [
        ("Buying", ["buy", "finish", "approve", "decline", "intent", "end-intent"]),
        ("Refunds", ["refund", "reverse-refund", "decline-refund", "consumption"]),
        (
            "Subscriptions",
            [
                "renew", "expire", "auto-renew", "resolve", "charges", "extend", "raise-price",
                "agree-price",
                "decline-price",
            ]
        ),
        (
            "Accounts",
            [
                "list", "inspect", "watch", "share", "stop-sharing", "storefront", "can-make-payments",
                "app-transaction", "message", "delete", "clear",
            ]
        ),
        ("The app", ["clock", "set", "fail", "mishap", "reset", "product"]),
        ("The store itself", ["migrate", "restored"]),
    ]

    private static let refund: CommandSpec = {
        var refund = CommandTable.leaf(
            "refund", "Refund a transaction, or a part of it.", .storeRefund,
            [CommandTable.account, OperationTable.target],
            CommandTable.asking([
                Self.refundReason,
                OptionSpec(flag: "prorated", "Only the part of the period that was not used."),
                OptionSpec("percent", .text, "PERCENT", "Only so much, such as 50 or 12.5; all of it if not given."),
                Self.key,
            ]))
        refund.examples = [
            ("perch store refund alice pro.monthly", "The newest transaction of the product, all of it."),
            ("perch store refund alice 7 --prorated", "The rest of the period; access ends at once."),
            ("perch store refund alice 7 --percent 50 --reason developer-issue", "Half of it."),
        ]
        return refund
    }()

    private static let migrate: CommandSpec = {
        var migrate = CommandTable.leaf(
            "migrate", "Copy a stopped store in a file to PostgreSQL, which several servers may share.", .storeMigrate,
            [],
            [
                OptionSpec("from", .text, "PATH", "The store: a directory, or a file that ends in .db; must be given."),
                OptionSpec(
                    "to", .text, "URL",
                    "A database without a store: postgres://USER@HOST/DATABASE, password in the file of PGPASSFILE; must be given."
                ),
            ])
        migrate.discussion = [
            "The store keeps its identity and its revisions, and gets the next epoch: clients restart their watches. All is "
                + "written in one transaction, so nothing is there after an interruption. The file stays as it is."
        ]
        migrate.examples = [
            (
                "perch store migrate --from /var/lib/perch --to postgres://perch@db.example.com/perch",
                "Then: perch serve --store postgres://perch@db.example.com/perch"
            )
        ]
        return migrate
    }()

    private static let restored: CommandSpec = {
        var restored = CommandTable.leaf(
            "restored", "Declare that an earlier state of the store was put back.", .storeRestored, [],
            [
                OptionSpec(
                    "store", .text, "PLACE",
                    "The store: postgres://USER@HOST/DATABASE, password in the file of PGPASSFILE, or the directory or file of a "
                        + "stopped server; must be given.")
            ])
        restored.discussion = [
            "The store gets the next epoch: clients restart their watches, and tokens and cursors of what is lost are refused. Numbers of "
                + "transactions and accounts begin anew above those that were given out. Nodes that run end, and their supervisor starts "
                + "them again.",
            "A node on a database notices most restores by itself: it compares the log with the newest revision that it has shown, when it "
                + "connects again and when it starts. Where no node ran on the same machine before, only you know.",
            "perch restore does the same for a file. A file that was put back otherwise, as by a snapshot of the disk, is declared here.",
        ]
        restored.examples = [
            (
                "perch store restored --store postgres://perch@db.example.com/perch",
                "After the restore, before the nodes start."
            ),
            ("perch store restored --store /var/lib/perch", "A snapshot of the disk was put back."),
        ]
        return restored
    }()

    /// Hidden, because only measurements need it.
    private static let generate: CommandSpec = {
        var generate = CommandTable.leaf(
            "generate", "Write a new store of many accounts, each with a subscription, to measure with.",
            .storeGenerate,
            [
                OperandSpec(
                    "PATH", .text, .one, "Where: a directory, or a file that ends in .db, as for `perch serve --store`."
                )
            ],
            [
                OptionSpec("accounts", .count(1...100_000_000), "N", default: "1000000", "How many: user-1 and so on."),
                OptionSpec("catalog", .text, "FILE", "The catalogue; must be given."),
                OptionSpec(
                    "bundle-id", .bundleID, "ID", default: "com.example.app", "The bundle identifier of its app."),
                OptionSpec(
                    "product", .text, "PRODUCT", "The product that each bought; the first subscription if not given."),
            ])
        generate.examples = [
            (
                "perch store generate big.db --catalog Shop.storekit --accounts 1000000",
                "Then: perch serve --store big.db"
            )
        ]
        generate.isHidden = true
        return generate
    }()

    static let refundReason = OptionSpec(
        "reason", .contract("REVOCATION_REASON", ["other", "developer-issue"]), "REASON", default: "other",
        "Why the customer asked for it.")

    static let key = OptionSpec(
        "idempotency-key", .text, "TEXT",
        "Makes the command safe to repeat: the same text gives the same answer for seven days.")

    private static let clock: CommandSpec = {
        let options = CommandTable.asking()
        var clock = CommandTable.leaf(
            "clock", "Show or move the app's clock, which only goes forward.", .clockShow, [], options)
        var advance = CommandTable.leaf(
            "advance", "Move the clock forward, and settle what is due on the way.", .clockAdvance,
            [
                OperandSpec(
                    "DURATION", .calendarDuration, .one, "How far: 90s, 36h, 3d, 2w; 1mo and 1y by the calendar.")
            ],
            options)
        advance.examples = [("perch store clock advance 1mo2d", "A calendar month and two days.")]
        var rate = CommandTable.leaf(
            "rate", "Set how long a period lasts, from the next period on.", .clockRate,
            [OperandSpec("RATE", .timeRate, .one, "A name of these, or its number.")], options)
        rate.discussion = ["Rates: " + TimeRate.all.map { "\($0.name) (\($0.rawValue))" }.joined(separator: ", ") + "."]
        clock.commands = [
            CommandTable.leaf("show", "Show the clock.", .clockShow, [], options),
            CommandTable.leaf("freeze", "Freeze the clock.", .clockFreeze, [], options),
            CommandTable.leaf("resume", "Let the clock run on from its instant.", .clockResume, [], options),
            advance,
            CommandTable.leaf(
                "to", "Move the clock forward to an instant.", .clockTo,
                [OperandSpec("INSTANT", .instant, .one, "A UTC time such as 2026-11-21T09:30:00Z, or a date.")],
                options),
            CommandTable.leaf(
                "next", "Move the clock to the next instant at which something is due for an account.", .clockNext,
                [CommandTable.account], options),
            rate,
        ]
        return clock
    }()
}
