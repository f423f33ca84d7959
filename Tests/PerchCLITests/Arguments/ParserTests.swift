import PerchCLI
import Testing

/// A command line as a shell would cut it, without quotes.
func words(_ line: String) -> [String] {
    line.split(separator: " ").map(String.init)
}

func parsed(_ line: String) throws -> Invocation {
    let result = try ArgumentParser(CommandTable.root).parse(words(line))
    guard case .run(let invocation) = result else { throw UsageError("`\(line)` runs nothing") }
    return invocation
}

struct Refusal: CustomTestStringConvertible {
    let line: String
    let message: String
    let suggestion: String?

    init(_ line: String, _ message: String, suggesting suggestion: String? = nil) {
        self.line = line
        self.message = message
        self.suggestion = suggestion
    }

    var testDescription: String { self.line }
}

@Suite struct `the command line` {
    @Test func `operands and options may stand in any order behind their command`() throws {
        for line in [
            "store buy anna coins --quantity 3 --timeout 5s", "store buy --quantity=3 anna --timeout=5s coins",
            "store buy --timeout 5s --quantity 3 -- anna coins",
        ] {
            let invocation = try parsed(line)
            #expect(invocation.action == .storeBuy)
            #expect(invocation.operands == [[.text("anna")], [.text("coins")]])
            #expect(invocation.written == ["quantity": .number(3), "timeout": .number(5_000)])
        }
    }

    @Test func `a word after two dashes is an operand, whatever it looks like`() throws {
        let invocation = try parsed("get status -- -anna --premium")
        #expect(invocation.operands == [[.text("-anna")], [.text("--premium")]])
    }

    @Test func `an account may be called like a command`() throws {
        #expect(try parsed("store clock next show").operands == [[.text("show")]])
        #expect(try parsed("store buy clock buy").operands == [[.text("clock")], [.text("buy")]])
    }

    @Test func `several operands are taken together`() throws {
        #expect(try parsed("watch products a b c -n 2").operands == [[.text("a"), .text("b"), .text("c")]])
    }

    @Test func `a command with commands of its own may do something without them`() throws {
        #expect(try parsed("store clock").action == .clockShow)
        #expect(try parsed("store clock freeze").action == .clockFreeze)
        #expect(try parsed("store clock -o json").action == .clockShow)
    }

    @Test func `a flag may be taken back`() throws {
        #expect(try parsed("serve --allow-unauthenticated=false").written == ["allow-unauthenticated": .flag(false)])
        #expect(try parsed("serve --allow-unauthenticated").written == ["allow-unauthenticated": .flag(true)])
    }

    @Test func `the command line operations take the account first, then a product or a transaction`() throws {
        for name in ["refund", "reverse-refund", "decline-refund", "consumption", "renew", "expire", "resolve"] {
            let invocation = try parsed("store \(name) anna 7")
            #expect(invocation.operands == [[.text("anna")], [.text("7")]], "\(name)")
        }
        #expect(try parsed("store auto-renew 7 7 off").operands == [[.text("7")], [.text("7")], [.text("off")]])
    }

    /// A command of one account that does not begin with ACCOUNT would be the exception that people have to remember.
    @Test func `ACCOUNT is the first argument of each command that has it`() {
        func check(_ command: CommandSpec) {
            if let index = command.operands.firstIndex(where: { $0.name == "ACCOUNT" }) {
                #expect(index == 0, "\(command.name)")
            }
            for operand in command.operands where operand.name == "TARGET" {
                #expect(command.operands.first?.name == "ACCOUNT", "\(command.name)")
            }
            for each in command.commands { check(each) }
        }
        check(CommandTable.root)
    }

    @Test func `a distance to the past is a value, not an option`() throws {
        let back = Value.duration(CalendarDuration(milliseconds: -2 * 86_400_000))
        #expect(try parsed("explain status anna plus --at -2d").written == ["at": back])
        #expect(try parsed("explain status anna plus --at=-2d").written == ["at": back])
        #expect(
            try parsed("get status anna plus --at 10m").written
                == ["at": .duration(CalendarDuration(milliseconds: 600_000))])
    }

    @Test(arguments: ["--help", "-h", "help"])
    func `help is asked for before or behind the command`(_ word: String) throws {
        let line = word == "help" ? "help store buy" : "store buy \(word)"
        guard case .help(let path) = try ArgumentParser(CommandTable.root).parse(words(line)) else {
            Issue.record("`\(line)` is no help")
            return
        }
        #expect(Invocation.name(of: path) == "perch store buy")
    }

    @Test func `help is given although the rest is not right`() throws {
        guard case .help = try ArgumentParser(CommandTable.root).parse(words("store buy --help")) else {
            Issue.record("operands were asked for first")
            return
        }
    }

    @Test(arguments: [
        Refusal("wacth", "perch has no command \"wacth\"", suggesting: "`perch watch`"),
        Refusal("Store", "perch has no command \"Store\"", suggesting: "`perch store`"),
        Refusal("ticket", "perch has no command \"ticket\""),
        Refusal("token", "perch token needs a command: create, inspect, revoke or key"),
        Refusal("store byu anna x", "perch store has no command \"byu\"", suggesting: "`perch store buy`"),
        Refusal(
            "store clock adv 3d", "perch store clock has no command \"adv\"", suggesting: "`perch store clock advance`"),
        Refusal("get app", "perch get has no command \"app\"", suggesting: "`perch get apps`"),
        Refusal("help serv", "perch has no command \"serv\"", suggesting: "`perch serve`"),
        Refusal("help exit-code", "perch has no command \"exit-code\"", suggesting: "`perch exit-codes`"),
        Refusal("serve --lisen :1", "perch serve has no option --lisen", suggesting: "--listen"),
        Refusal("serve --time 1m", "perch serve has no option --time", suggesting: "--time-rate"),
        Refusal("--vresion", "perch has no option --vresion", suggesting: "--version"),
        Refusal("serve --version", "perch serve has no option --version"),
        Refusal(
            "get apps --password x", "perch get apps has no option --password", suggesting: "--credentials-file FILE"),
        Refusal("get apps --json", "perch get apps has no option --json", suggesting: "--output json"),
        Refusal("--json", "perch has no option --json", suggesting: "`perch COMMAND --output json`"),
        Refusal("serve --port 7500", "perch serve has no option --port", suggesting: "--listen 127.0.0.1:PORT"),
        Refusal("get apps --port 7500", "perch get apps has no option --port", suggesting: "--server HOST:PORT"),
        Refusal("buy anna x", "perch has no command \"buy\"", suggesting: "`perch store buy`"),
        Refusal(
            "status anna x", "perch has no command \"status\"",
            suggesting: "`perch watch status`, `perch get status` or `perch explain status`"),
        Refusal("get apps -x", "perch get apps has no option -x"),
        Refusal("get apps -ojson", "perch get apps has no option -ojson"),
        Refusal("serve --listen", "--listen needs a value: --listen ADDRESS:PORT"),
        Refusal("serve --listen --loops 2", "--listen needs a value: --listen ADDRESS:PORT"),
        Refusal("serve --loops 1 --loops 2", "--loops is given twice"),
        Refusal("serve now", "perch serve takes no argument, and \"now\" is one more"),
        Refusal(
            "explain staus anna", "perch explain takes one argument, ACCOUNT, and \"anna\" is one more",
            suggesting: "`perch explain status`"),
        Refusal("explain anna berta", "perch explain takes one argument, ACCOUNT, and \"berta\" is one more"),
        Refusal("watch entitlement anna", "perch watch entitlement needs PRODUCT: the product's identifier."),
        Refusal(
            "watch status anna premium more",
            "perch watch status takes 2 arguments, ACCOUNT GROUP, and \"more\" is one more"),
        Refusal("watch products", "perch watch products needs ID: identifiers of products."),
        Refusal("get status --output=", "--output is \"\", it can be text, json or ndjson"),
        Refusal("get apps -o yaml", "--output is \"yaml\", it can be text, json or ndjson"),
        Refusal("get apps -o jsno", "--output is \"jsno\", it can be text, json or ndjson", suggesting: "json"),
        Refusal("store auto-renew anna 7 maybe", "SWITCH is \"maybe\", it can be on or off"),
        Refusal("store finish anna last", "ID is \"last\", it should be the number of a transaction"),
        Refusal(
            "store finish anna 18446744073709551616",
            "ID is \"18446744073709551616\", it should be the number of a transaction"),
        Refusal(
            "store refund 7", "perch store refund takes the account first, then the transaction",
            suggesting: "`perch store refund ACCOUNT 7`"),
        Refusal(
            "store auto-renew 7 off", "perch store auto-renew takes the account first, then the transaction",
            suggesting: "`perch store auto-renew ACCOUNT 7 off`"),
        Refusal(
            "store delete 7", "perch store delete takes the account first, then the transaction",
            suggesting: "`perch store delete ACCOUNT 7`"),
        Refusal(
            "store refund anna",
            "perch store refund needs TARGET: a product that the account holds, or the number of one of its transactions."
        ),
        Refusal("store auto-renew 7 of", "perch store auto-renew needs SWITCH: whether it renews."),
        Refusal("explain status anna plus --at -d", "--at needs a value: --at INSTANT"),
        Refusal("get history anna --limit -2", "--limit needs a value: --limit N"),
        Refusal("store buy a b --quantity 0", "--quantity is \"0\", it can be from 1 to 10"),
        Refusal("store buy a b --quantity +1", "--quantity is \"+1\", it should be a number"),
        Refusal("serve --allow-unauthenticated=maybe", "--allow-unauthenticated is \"maybe\", it can be true or false"),
        Refusal(
            "get apps --server localhost", "--server is \"localhost\", it should be HOST:PORT such as 127.0.0.1:7447",
            suggesting: "localhost:7447"),
        Refusal("store auto-renew anna 7 of", "SWITCH is \"of\", it can be on or off", suggesting: "off"),
        Refusal("get apps --server h:70000", "--server is \"h:70000\", it should be HOST:PORT such as 127.0.0.1:7447"),
        Refusal(
            "store clock to tomorrow",
            "INSTANT is \"tomorrow\", it should be a UTC time such as 2026-11-21T09:30:00Z, or a date"),
        Refusal("store clock to 1969-12-31", "INSTANT is \"1969-12-31\", it should be from 1970 to 9999"),
        Refusal(
            "store clock rate oneRenewalEveryMinut",
            "RATE is \"oneRenewalEveryMinut\", which is no rate; `perch store clock rate --help` lists them",
            suggesting: "oneRenewalEveryMinute"),
    ])
    func `an invalid command line is refused with a valid one`(_ refusal: Refusal) {
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser(CommandTable.root).parse(words(refusal.line))
        }
        #expect(error?.message == refusal.message)
        #expect(error?.suggestion == refusal.suggestion)
    }

    @Test func `control characters of the input cannot reach the terminal through a refusal`() {
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser(CommandTable.root).parse(["get", "apps", "--\u{1B}[2J"])
        }
        #expect(error?.description.unicodeScalars.contains("\u{1B}") == false)
    }

    @Test func `a group without a command is refused with its commands, but for hidden ones`() throws {
        let store = try #require(CommandTable.root.commands.first { $0.name == "store" })
        let shown = store.commands.filter { !$0.isHidden }.map(\.name)
        #expect(shown.contains("buy") && !shown.contains("generate"))
        let error = #expect(throws: UsageError.self) { try ArgumentParser(CommandTable.root).parse(["store"]) }
        let list = shown.dropLast().joined(separator: ", ")
        let last = try #require(shown.last)
        #expect(error?.description.hasPrefix("perch store needs a command: \(list) or \(last)") == true)
    }

    @Test func `every action has exactly one command, but for the clock that is shown by its own name too`() {
        func actions(_ command: CommandSpec) -> [Action] {
            (command.action.map { [$0] } ?? []) + command.commands.flatMap { actions($0) }
        }
        let counts = Dictionary(actions(CommandTable.root).map { ($0, 1) }, uniquingKeysWith: +)
        for action in Action.allCases {
            #expect(counts[action] == (action == .clockShow ? 2 : 1), "\(action)")
        }
    }

    @Test func `options of a command have names of their own, and defaults that can be read`() throws {
        func check(_ command: CommandSpec) throws {
            #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
            let letters = command.options.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(command.name)")
            for option in command.options {
                if let standard = option.defaultText { _ = try option.kind.parse(standard) }
                #expect(option.help.hasSuffix("."), "--\(option.name)")
            }
            for each in command.commands { try check(each) }
        }
        try check(CommandTable.root)
    }
}
