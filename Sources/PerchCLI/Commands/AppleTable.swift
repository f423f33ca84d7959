import PerchBase
import PerchModel

/// `perch ingest`, `perch dead-letters`, `perch apple` and `perch account`: apps whose store is Apple's.
enum AppleTable {
    static let ingest: CommandSpec = {
        var ingest = CommandTable.leaf(
            "ingest", "Submit signed values of the App Store: transactions, renewal information, notifications.",
            .ingest,
            [
                OperandSpec(
                    "FILE", .text, .many,
                    "Files, or directories of them, with one value a line: a compact JWS, or a JSON object with "
                        + "signedPayload as Apple posts it, and with account where a value has its own. `-` for standard input."
                )
            ],
            CommandTable.asking([
                OptionSpec(
                    "account", .text, "ACCOUNT",
                    "The account that bought what a line does not name one for; the names in the values decide otherwise."
                ),
                OptionSpec(
                    flag: "keep-going", "Go on after a value that is refused, and report each of them at the end."),
            ]))
        ingest.discussion = [
            "The order does not matter, and a value that is known changes nothing: a run that was interrupted can be "
                + "started again. Values are sent 50 at a time; progress stands on standard error.",
            "The credentials need the scope ingest, for the app.",
        ]
        ingest.examples = [
            ("perch ingest history/", "Backfill what was fetched from the App Store Server API."),
            ("perch ingest --account alice receipt.jws", "Submit what alice's device has."),
            (
                "jq -c '{account: .user, signedPayload: .jws}' export.ndjson | perch ingest -",
                "Import what another system knows, each value for its account."
            ),
        ]
        return ingest
    }()

    static let apple: CommandSpec = {
        var apple = CommandSpec("apple", "What the App Store is asked, and what it asks.")
        apple.commands = [Self.reconcile, Self.consumption]
        apple.examples = [
            ("perch apple reconcile --dry-run", "What would a look at the App Store find?"),
            ("perch apple consumption list", "Whose refunds does the App Store ask about?"),
        ]
        return apple
    }()

    private static let reconcile: CommandSpec = {
        var reconcile = CommandTable.leaf(
            "reconcile", "Ask the App Store now for what it did not deliver, and wait for the end.", .appleReconcile,
            [],
            CommandTable.asking([
                OptionSpec(flag: "dry-run", "Print what differs, and change nothing."),
                OptionSpec(
                    flag: "everything",
                    "Every notification that the App Store still has, each subscription and each customer's history."),
            ]))
        reconcile.discussion = [
            "Without --everything: notifications that could not be delivered, subscriptions whose renewal is awaited, and the histories "
                + "of customers whose purchases were claimed. A server with a key does that by itself; this is for now.",
            "The App Store's limits hold, of which Perch takes half: 25 requests a second, 2.5 in the sandbox. --timeout is for one "
                + "question; the run goes on when this command is ended.",
            "With --dry-run it also lists the finished transactions and account tokens that the App Store refuses to be told.",
            "The exit status is that of a failure where something could not be looked at. It is tried again later.",
        ]
        reconcile.examples = [
            ("perch apple reconcile --dry-run -o json", "What differs, for a program."),
            ("perch apple reconcile --everything", "After an import, or when a backup was restored."),
        ]
        return reconcile
    }()

    private static let consumption: CommandSpec = {
        var consumption = CommandSpec(
            "consumption", "Questions of the App Store about purchases whose customers want refunds.")
        var answer = CommandTable.leaf(
            "answer", "Answer one.", .appleConsumptionAnswer, [CommandTable.transaction],
            CommandTable.asking([
                OptionSpec(
                    flag: "consent", "The customer agrees that the App Store gets these data. It must be given."),
                OptionSpec(
                    "delivery",
                    .contract("CONSUMPTION_DELIVERY", Array(ConsumptionDelivery.names.dropFirst())), "WORD",
                    "Whether it was delivered, and why not. It must be given."),
                OptionSpec("consumed", .count(0...100), "PERCENT", "How much of it was consumed."),
                OptionSpec(flag: "sample", "There was a free sample, or a trial."),
                OptionSpec(
                    "preference", .contract("REFUND_PREFERENCE", Array(RefundPreference.names.dropFirst())), "WORD",
                    "What the app would decide."),
            ]))
        answer.discussion = [
            "The answer is stored, and then sent: again after a failure, also after a restart, until the deadline. The list shows what "
                + "became of it. The App Store decides."
        ]
        answer.examples = [
            (
                "perch apple consumption answer 2000000123456789 --consent --delivery delivered --consumed 80 --preference decline",
                "It works, and most of it is used up."
            )
        ]
        consumption.commands = [
            CommandTable.leaf(
                "list", "All whose deadline was not more than a day ago.", .appleConsumptionList, [],
                CommandTable.asking()),
            answer,
        ]
        consumption.examples = [("perch apple consumption list -o ndjson", "For a program.")]
        return consumption
    }()

    static let root: CommandSpec = {
        var root = CommandSpec("apple-root", "The authority that signs values of test apps.")
        var show = CommandTable.leaf(
            "show", "Print its certificate, in PEM.", .appleRootShow, [], CommandTable.asking())
        show.discussion = [
            "It belongs to the store. Give it to Apple's libraries as the root certificate, with the environment Sandbox, and they "
                + "verify what Perch signs; or to another Perch, as a root of a sandbox app in --apple-apps."
        ]
        show.examples = [
            ("perch apple-root show > perch-root.pem", "Keep it for the tests of a backend."),
            (
                "perch get history alice --jws | perch ingest - --server 127.0.0.1:7457",
                "Tell another Perch what alice bought here."
            ),
        ]
        root.commands = [show]
        return root
    }()

    static let twin: CommandSpec = {
        var twin = CommandTable.leaf(
            "twin", "Print what a backend needs to meet the twin of the App Store.", .twin,
            [OperandSpec("DIRECTORY", .text, .one, "The server's --twin-directory.")],
            [
                OptionSpec("app", .text, "ID", "The bundle identifier of the test app, for the claim bid."),
                CommandTable.output,
            ])
        twin.discussion = [
            "A backend that uses Apple's library runs against the twin unchanged: HTTPS_PROXY leads its requests there, "
                + "REQUESTS_CA_BUNDLE makes it believe the twin's certificate, and the key, its number and its issuer stand for those "
                + "of App Store Connect. The same root is the one that its verifier is given, with the environment Sandbox.",
            "The text can be read by a shell. It holds the path of the key, and no secret.",
        ]
        twin.examples = [
            (
                "perch serve --catalog Shop.storekit --twin-listen on --twin-directory twin",
                "A test store that stands in for the App Store."
            ),
            ("eval \"$(perch twin twin --app com.example.shop)\"", "Then a backend, in the same shell, meets it."),
        ]
        return twin
    }()

    static let audit: CommandSpec = {
        var audit = CommandTable.leaf(
            "audit", "Administrative and test changes: who asked for what, from where.", .audit, [],
            CommandTable.asking([
                OptionSpec("after", .count(0...Int64.max), "REVISION", "Only changes after this revision."),
                CommandTable.limit,
            ]))
        audit.discussion = ["Oldest first. Purchases of customers are not among them."]
        audit.examples = [("perch audit --after 1200 -o ndjson", "What is new, for a program.")]
        return audit
    }()

    static let deadLetters: CommandSpec = {
        var letters = CommandSpec("dead-letters", "Notifications whose signature was good and that were not taken.")
        let id = OperandSpec("ID", .text, .one, "The identifier that the list shows.")
        letters.commands = [
            CommandTable.leaf("list", "All of them, oldest first.", .deadLettersList, [], CommandTable.asking()),
            CommandTable.leaf(
                "retry", "Take one now; without ID, each that can be taken.", .deadLettersRetry,
                [OperandSpec("ID", .text, .optional, "The identifier that the list shows.")], CommandTable.asking()),
            CommandTable.leaf("drop", "Delete one.", .deadLettersDrop, [id], CommandTable.asking()),
        ]
        letters.examples = [
            ("perch dead-letters list", "What waits, and why."),
            ("perch dead-letters retry", "After the app was added to --apple-apps: take what waited for it."),
        ]
        return letters
    }()

    static let account: CommandSpec = {
        var account = CommandSpec("account", "Whose a purchase of the App Store is, and whose it is to be.")
        let name: [OptionSpec] = [
            OptionSpec("token", .text, "UUID", "The app's own UUID for its customer: appAccountToken."),
            OptionSpec("app-transaction", .text, "ID", "Apple's number of the customer in this app: appTransactionId."),
        ]
        let email = OptionSpec(
            "email", .text, "ADDRESS", "The customer's e-mail address, of which only the hash is sent.")
        let transaction = OptionSpec("transaction", .text, "ID", "Any transaction of the customer.")
        account.commands = [
            CommandTable.leaf(
                "find",
                "Customers by any name: the beginning of a key, a transaction, an order, a token, an e-mail address.",
                .accountFind,
                [
                    OperandSpec(
                        "NAME", .text, .optional,
                        "Any name of a customer; credentials with the scope read are enough. The options need admin, and find what "
                            + "was reported too.")
                ],
                CommandTable.asking([transaction] + name + [CommandTable.limit])),
            CommandTable.leaf(
                "note", "Write a note beside a customer.", .accountNote,
                [CommandTable.account, OperandSpec("TEXT", .text, .one, "The note.")], CommandTable.asking()),
            CommandTable.leaf(
                "notes", "The notes beside a customer, oldest first.", .accountNotes, [CommandTable.account],
                CommandTable.asking()),
            CommandTable.leaf(
                "delete-note", "Delete a note: an own one, or anybody's with the scope admin.", .accountDeleteNote,
                [CommandTable.account, OperandSpec("ID", .transactionID, .one, "The note's number.")],
                CommandTable.asking()),
            CommandTable.leaf(
                "unclaimed",
                "Purchases of no account that is known, and subscriptions whose renewal was never reported.",
                .accountUnclaimed, [], CommandTable.asking()),
            CommandTable.leaf(
                "attach", "A customer's name belongs to the account from now on.", .accountAttach,
                [CommandTable.account],
                CommandTable.asking(name + [email])),
            CommandTable.leaf(
                "detach", "A customer's name belongs to no account from now on.", .accountDetach, [],
                CommandTable.asking(name + [email])),
            CommandTable.leaf(
                "move", "Give an original transaction to the account, whatever the claim policy says.", .accountMove,
                [CommandTable.account, CommandTable.transaction], CommandTable.asking()),
            CommandTable.leaf(
                "merge", "Give everything of an account to another, and its key too.", .accountMerge,
                [CommandTable.account, OperandSpec("INTO", .text, .one, "The account that gets everything.")],
                CommandTable.asking()),
            Self.erase,
            CommandTable.leaf(
                "export", "Print everything that the store knows of the account, as JSON.", .accountExport,
                [CommandTable.account], CommandTable.asking()),
        ]
        account.examples = [
            ("perch account find 2000000123456789", "Whose transaction or order is it?"),
            ("perch account find ali", "Whose key begins so?"),
            ("perch account note alice 'promised a week'", "For the next person who answers alice."),
            ("perch account unclaimed", "Who bought, and got nothing?"),
            ("perch account attach alice --token 7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d", "That is alice."),
            ("perch account merge anonymous-17 alice", "The anonymous customer has signed in as alice."),
            ("perch account export alice > alice.json", "Alice wants to see what is stored."),
            ("perch account erase alice --yes", "Alice wants it to be gone."),
        ]
        return account
    }()

    private static let erase: CommandSpec = {
        var erase = CommandTable.leaf(
            "erase", "Erase everything that the store knows of the account.", .accountErase, [CommandTable.account],
            CommandTable.asking([OptionSpec(flag: "yes", "Do it: it cannot be undone.")]))
        erase.discussion = [
            "Transactions, names, grants and kept answers of the account go, and so do dead letters about it; streams of the account "
                + "show that it owns nothing. Backups keep what they hold. Later reports of the App Store about its purchases are not "
                + "kept until a submission names an account for them.",
            "An account that shares purchases with family members is refused: end the sharing first, by perch store stop-sharing.",
        ]
        return erase
    }()
}
