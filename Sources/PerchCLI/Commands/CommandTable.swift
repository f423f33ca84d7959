import PerchBase
import PerchModel

/// Every command of `perch`.
package enum CommandTable {
    package static let root: CommandSpec = {
        var root = CommandSpec("perch", "Perch knows who owns what, and pushes each change to every client.")
        root.commands = [
            ServeTable.serve, Self.consoleOfServer, Self.watch, Self.get, Self.explain, StoreTable.store, Self.catalog,
            ScenarioTable.scenario,
            EntitlementTable.entitlements, EntitlementTable.copy, AppleTable.audit, AppleTable.ingest,
            AppleTable.deadLetters, AppleTable.apple,
            AppleTable.account, AppleTable.root, AppleTable.twin, TokenTable.token, AppTable.app, ContextTable.context,
            BenchTable.bench,
            BackupTable.backup, BackupTable.restore, Self.doctor, Self.nodes,
            CompletionTable.completion, CompletionTable.manual,
            Self.leaf("version", "Print the version.", .version, [], []),
        ]
        root.examples = [
            ("perch serve --catalog Shop.storekit", "Serve a test store of this catalogue on loopback."),
            ("perch watch status alice plus", "See each change of alice's subscription in the group plus."),
            ("perch store buy alice pro.monthly", "Buy, from another terminal."),
        ]
        return root
    }()

    // MARK: What commands share

    static let account = OperandSpec("ACCOUNT", .text, .one, "The account, by your own key for it.")
    static let product = OperandSpec("PRODUCT", .text, .one, "The product's identifier.")
    static let group = OperandSpec("GROUP", .text, .one, "The subscription group's identifier.")
    static let groupOrAll = OperandSpec(
        "GROUP", .text, .optional, "The subscription group's identifier; all groups if not given.")
    static let transaction = OperandSpec("ID", .transactionID, .one, "The transaction's number.")

    static let output = OptionSpec(
        "output", .choice(OutputFormat.allCases.map(\.rawValue)), "FORMAT", default: OutputFormat.text.rawValue,
        "How data is printed: for people, as indented JSON, or as one JSON object a line."
    )
    .short("o").inEnvironment().group(.general)

    /// Options of every command that asks a server. Not `timeout`, which means another thing for watches.
    static let client: [OptionSpec] =
        [
            OptionSpec(
                "server", .address, "HOST:PORT", default: "127.0.0.1:7447",
                "The server; several of one store between commas."
            )
            .inEnvironment().group(.client),
            OptionSpec("context", .text, "NAME", "The saved connection of that name: `perch context --help`.")
                .inEnvironment().group(.client),
        ] + Self.tls.map { $0.group(.client) } + [
            OptionSpec("bundle-id", .text, "ID", "The app; not needed where the server has one.")
                .inEnvironment().group(.client),
            Self.environment.inEnvironment().group(.client),
            OptionSpec(
                "credentials-file", .text, "FILE",
                "A file with the credentials, read again for each connection. Secrets never stand on a command line."
            )
            .inEnvironment().group(.client),
        ]

    /// Options of the connection's TLS.
    static let tls: [OptionSpec] = [
        OptionSpec(flag: "tls", "Speak TLS with the server, and trust the authorities that this system trusts."),
        OptionSpec(
            "tls-ca", .text, "FILE",
            "Speak TLS, and trust the authorities in this file of PEM instead; `system` for --tls."
        ).inEnvironment(),
        OptionSpec(
            "tls-server-name", .text, "NAME",
            "The name that the server's certificate must have; the address's if not given."
        ).inEnvironment(),
        OptionSpec("tls-certificate", .text, "FILE", "Speak TLS, and show this certificate where the server asks.")
            .inEnvironment(),
        OptionSpec("tls-key", .text, "FILE", "The certificate's key, in a file that only its owner can read.")
            .inEnvironment(),
    ]

    static let environment = OptionSpec(
        "environment", .environment, "NAME", "The app's store.")

    static let answerTimeout = OptionSpec(
        "timeout", .duration(1...Limits.commandTimeoutMilliseconds), "DURATION", default: "10s",
        "How long to wait for the answer."
    )
    .inEnvironment().group(.client)

    /// Options of a command that asks once.
    static func asking(_ own: [OptionSpec] = []) -> [OptionSpec] {
        own + Self.client + [Self.answerTimeout, Self.output]
    }

    static func leaf(
        _ name: String, _ summary: String, _ action: Action, _ operands: [OperandSpec], _ options: [OptionSpec]
    ) -> CommandSpec {
        var command = CommandSpec(name, summary)
        command.action = action
        command.operands = operands
        command.options = options
        return command
    }

    // MARK: watch

    private static let shownIn: [OptionSpec] = [
        OptionSpec("locale", .text, "LOCALE", "Language of names, such as de_DE; the app's if not given."),
        OptionSpec(
            "storefront", .storefront(orWord: nil), "CODE", "Country of prices, such as DEU; the app's if not given."),
    ]

    private static let watching: [OptionSpec] = [
        OptionSpec(
            "since", .text, "FILE",
            "Begin after the value whose token is in this file: an equal value is not printed again."),
        OptionSpec(
            "token-file", .text, "FILE",
            "As --since, and keep the token of each new value in the file, to resume from it next time."),
        OptionSpec(
            "count", .count(1...1_000_000_000), "N", "End after so many values; `loading` and `unchanged` are none."
        ).short("n"),
        OptionSpec(
            "timeout", .duration(1...Limits.commandTimeoutMilliseconds), "DURATION",
            "End after this time; with --count it is an error (5) if fewer values came."),
    ]

    private static let watch: CommandSpec = {
        var watch = CommandSpec("watch", "See values now and at each change.")
        watch.discussion = [
            "A watch lasts until it is interrupted. It reconnects when its connection is lost, and then prints only what is "
                + "new.",
            "Times are of the app's clock, in UTC. The first column of `perch watch updates` is the wall clock when the "
                + "server committed the event.",
        ]
        let options = Self.watching + Self.client + [Self.output]
        var status = Self.leaf(
            "status", "The statuses of an account in a subscription group, or in all.", .watchStatus,
            [Self.account, Self.groupOrAll],
            options)
        status.examples = [
            ("perch watch status alice plus", "One line for each change, until Ctrl-C."),
            (
                "perch watch status alice plus --token-file alice.token -o ndjson",
                "For a program: start again with the same file, and no value comes twice."
            ),
        ]
        watch.commands = [
            Self.leaf(
                "products", "Products of the catalogue.", .watchProducts,
                [OperandSpec("ID", .text, .many, "Identifiers of products.")], Self.shownIn + options),
            status,
            Self.leaf(
                "entitlement", "The transaction that entitles an account to a product, or none.", .watchEntitlement,
                [Self.account, Self.product], options),
            Self.leaf(
                "entitlements", "Everything that an account owns, by its names in the app.", .watchEntitlements,
                [Self.account], options),
            Self.leaf(
                "updates", "Each new or changed transaction of an account, exactly once.", .watchUpdates,
                [Self.account], options),
            Self.changes,
            Self.leaf(
                "intents", "Purchases that the customer began outside the app.", .watchIntents, [Self.account],
                options),
            Self.leaf(
                "messages", "Messages of the store to the customer.", .watchMessages, [Self.account], options),
        ]
        return watch
    }()

    /// Causes of changes, without that of a first value.
    private static let causes = Cause.names.dropFirst(2).map { String($0) }

    private static let changes: CommandSpec = {
        var changes = Self.leaf(
            "changes", "Every change of every account of the app, exactly once.", .watchChanges, [],
            [
                OptionSpec(
                    flag: "from-oldest",
                    "Without a cursor: begin with the oldest change that the server can resume, not with the next one."),
                OptionSpec("cause", .contract("CAUSE", Self.causes), "CAUSE", "Only changes with this cause.")
                    .repeatable(),
                OptionSpec("group", .text, "GROUP", "Only changes of statuses in this group.").repeatable(),
                OptionSpec("product", .text, "PRODUCT", "Only changes of entitlements to this product.").repeatable(),
                OptionSpec(flag: "entitlements-only", "Only changes of what an account may use."),
            ] + Self.watching + Self.client + [Self.output])
        changes.discussion = [
            "Services use it where they would otherwise want webhooks. Expiries of accounts that nobody watches are included. "
                + "The credentials must not be of one account.",
            "With several --group and --product, a change is shown if one of them fits.",
        ]
        changes.examples = [
            (
                "perch watch changes --token-file changes.cursor -o ndjson",
                "For a program: start again with the same file, and no change is left out."
            )
        ]
        return changes
    }()

    // MARK: get

    static let limit = OptionSpec("limit", .count(1...1_000_000_000), "N", "The greatest number of results.")

    static let jws = OptionSpec(
        flag: "jws",
        "The signed forms, as the App Store signs them: as text one a line and nothing else. Test apps only; `perch apple-root "
            + "show` prints the certificate that verifies them.")

    private static let get: CommandSpec = {
        var get = CommandSpec("get", "Ask once.")
        var image = Self.leaf(
            "image", "A promotional image of the catalogue.", .getImage,
            [OperandSpec("ID", .text, .one, "The promotional_image_id of a product.")],
            Self.asking([OptionSpec("to", .text, "FILE", "Where to put it; standard output if left out.")]))
        image.examples = [("perch get image 6F1C2A90 --to icon.png", "Keep the image of a product.")]
        get.commands = [
            Self.leaf(
                "products", "Products of the catalogue.", .getProducts,
                [OperandSpec("ID", .text, .many, "Identifiers of products.")], Self.asking(Self.shownIn)),
            Self.leaf(
                "status", "The statuses of an account in a subscription group, or in all.", .getStatus,
                [Self.account, Self.groupOrAll], Self.asking(Self.moment + [Self.jws])),
            Self.leaf(
                "entitlement", "The transaction that entitles an account to a product, or none.", .getEntitlement,
                [Self.account, Self.product], Self.asking(Self.moment + [Self.jws])),
            Self.leaf(
                "entitlements", "Everything that an account is entitled to.", .getEntitlements, [Self.account],
                Self.asking(Self.moment + [Self.jws])),
            Self.leaf(
                "history", "The transactions of an account, oldest first.", .getHistory, [Self.account],
                Self.asking([
                    OptionSpec("product", .text, "PRODUCT", "Only of this product."),
                    OptionSpec(flag: "finished-consumables", "Finished consumables too."), Self.limit, Self.jws,
                ])),
            Self.leaf(
                "unfinished", "The transactions that were not finished, oldest first.", .getUnfinished,
                [Self.account], Self.asking([Self.limit, Self.jws])),
            Self.leaf(
                "latest", "The newest transaction of a product, revoked ones included.", .getLatest,
                [Self.account, Self.product], Self.asking([Self.jws])),
            image,
            Self.leaf("apps", "The apps of the server.", .getApps, [], Self.asking()),
        ]
        get.commands.insert(contentsOf: Self.rules, at: get.commands.count - 2)
        return get
    }()

    private static let rules: [CommandSpec] = {
        let locale = OptionSpec("locale", .text, "LOCALE", "Language, such as de_DE; the app's if not given.")
        var offers = Self.leaf(
            "offers", "The offers that an account may use, and why not the others.", .getOffers, [Self.account],
            Self.asking([
                OptionSpec("product", .text, "PRODUCT", "The offers of this product."),
                OptionSpec("group", .text, "GROUP", "The offers of all products of this subscription group."),
            ]))
        offers.examples = [("perch get offers alice --group plus", "All offers of a group, with the reason of each.")]
        return [
            Self.leaf(
                "plan-options", "The plans of a group, and what choosing each would do to the one that is held.",
                .getPlanOptions, [Self.account, Self.group], Self.asking([locale])),
            offers,
            Self.leaf(
                "policies", "The app's licence agreement and privacy policy.", .getPolicies, [], Self.asking([locale])),
            Self.leaf(
                "app-transaction", "The record of an account's first use of the app.", .getAppTransaction,
                [Self.account], Self.asking([Self.jws])),
            Self.leaf(
                "can-make-payments", "Whether an account may make payments.", .getCanMakePayments, [Self.account],
                Self.asking()),
            Self.leaf(
                "settings", "The settings of a test store, and its armed failures.", .getSettings, [], Self.asking()),
        ]
    }()

    // MARK: explain

    private static let moment: [OptionSpec] = [
        OptionSpec(
            "at", .moment, "INSTANT",
            "As of this instant, past or to come: 2026-03-01T00:00:00Z, or 10m and -2d from the app's clock."),
        OptionSpec("known-at", .count(1...Int64.max), "REVISION", "With the knowledge of this revision."),
    ]

    private static let explaining: [OptionSpec] =
        Self.moment + [
            OptionSpec(
                "if", .text, "EVENT",
                "What would be after an event: 'charge fails', 'refund', 'cancel', 'change to PRODUCT', 'price agreed 5.99' or "
                    + "'price refused'. Nothing is changed."),
            OptionSpec("locale", .text, "LOCALE", "Language of the sentences for the customer: en or de."),
        ]

    private static let explain: CommandSpec = {
        var explain = Self.leaf(
            "explain", "What an account has, in sentences for the customer, and the rules that decide.",
            .explainAccount, [Self.account],
            Self.asking(
                Self.explaining + [OptionSpec(flag: "history", "Also what happened to the account, newest first.")]))
        explain.examples = [
            ("perch explain alice", "What alice has, why, and what comes next."),
            ("perch explain alice --locale de", "Die Sätze auf Deutsch."),
            ("perch explain alice --if 'charge fails'", "What would alice keep?"),
            ("perch explain alice --history", "What happened to alice's purchases, and who did it."),
        ]
        var status = Self.leaf(
            "status", "Why an account is subscribed in a group, or not.", .explainStatus, [Self.account, Self.group],
            Self.asking(Self.explaining))
        status.examples = [
            ("perch explain status alice plus", "Why, now."),
            (
                "perch explain status alice plus --at 2026-12-24T00:00:00Z",
                "The answer of the same rules for Christmas Eve."
            ),
            ("perch explain status alice plus --at -2d", "Their answer two days ago."),
        ]
        explain.commands = [
            status,
            Self.leaf(
                "entitlement", "Why an account is entitled to a product, or not.", .explainEntitlement,
                [Self.account, Self.product], Self.asking(Self.explaining)),
        ]
        return explain
    }()

    // MARK: catalog

    private static let catalog: CommandSpec = {
        var catalog = CommandSpec("catalog", "Check, load and show catalogues.")
        let file = OperandSpec(
            "FILE", .text, .one,
            "A .storekit file, a bundle directory with Configuration.storekit and Assets in it, or - for standard input."
        )
        var check = Self.leaf(
            "check", "Read a catalogue file, and report its contents and its oddities. Asks no server.",
            .catalogCheck, [file], [Self.output])
        check.discussion = ["Warnings are for people to check. A file that cannot be used is a failure (1)."]
        catalog.commands = [
            check,
            Self.leaf(
                "load", "Replace the app's catalogue until the server reads its --catalog again; changes are pushed.",
                .catalogLoad, [file],
                Self.asking()),
            Self.leaf(
                "show", "The products, prices and groups of the app's catalogue.", .catalogShow, [], Self.asking()),
        ]
        return catalog
    }()

    // MARK: console

    private static let consoleOfServer: CommandSpec = {
        var console = Self.leaf(
            "console", "Print the address of the server's console, or open it in a browser.", .console, [],
            [OptionSpec(flag: "open", "Open it in the browser of this system, by `xdg-open`.")] + Self.asking())
        console.discussion = [
            "It first asks the server for the page, and prints the address only if the page is there.",
            "With --credentials-file the address ends in a code that is good once, and for a minute. The page exchanges it for "
                + "the token in that file, so what the page may do is what the token may do. The token itself is never in an "
                + "address.",
        ]
        console.examples = [
            ("perch console --open", "The console of the server on this machine."),
            (
                "perch console --server perch.example.com:7447 --tls --credentials-file me.token",
                "With the rights of a token."
            ),
        ]
        return console
    }()

    // MARK: nodes

    private static let nodes: CommandSpec = {
        var nodes = Self.leaf("nodes", "List the nodes of a store on PostgreSQL.", .nodes, [], Self.asking())
        nodes.discussion = [
            "Each with its version, the revision that it has applied, its open calls, and its last heartbeat. A node that was "
                + "killed is listed for an hour."
        ]
        return nodes
    }()

    // MARK: doctor

    private static let doctor: CommandSpec = {
        var doctor = Self.leaf(
            "doctor", "Find problems of this machine and the server, with a remedy for each.", .doctor, [],
            [
                OptionSpec(
                    "store", .text, "PATH",
                    "The store, or a directory for one: measures an fsync and the free space there. Without it, and where "
                        + "no server answers, the current directory is measured."
                ).inEnvironment(),
                OptionSpec(flag: "metrics", "Print the server's metrics before the findings."),
            ] + Self.asking())
        doctor.discussion = [
            "Checks this machine, and asks the server about itself where one answers. The findings come in the order ok, "
                + "warning, problem, and the last line counts them. Ends with 1 if there is a problem. With --output json "
                + "the answer always holds the metrics."
        ]
        doctor.examples = [
            ("perch doctor --store /var/lib/perch", "Check the machine, the store's disk and the server."),
            ("perch doctor --metrics | grep _seconds", "Read one kind of metric without a scraper."),
        ]
        return doctor
    }()
}
