import PerchBase
import PerchBench

/// The rows of `perch bench`: a command for each workload, and the tools for reports.
enum BenchTable {
    static let bench: CommandSpec = {
        var bench = CommandSpec("bench", "Measure a server under load.")
        bench.discussion = [
            "Starts a server on one core and makes the load on another. Measures each change from its scheduled "
                + "moment to the arrival of its value. With --floor, a bare server in C does the same "
                + "work in turns with it: what this kernel can do at best."
        ]
        bench.commands = Workload.allCases.map(Self.command) + [Self.compare, Self.figures, Self.floorServer]
        bench.examples = [
            ("perch bench hot --watchers 1000 --closed 1 --floor --pairs 5", "One change at a time to 1,000 watchers."),
            (
                "perch bench keyed --rate 20000 --fail-if 'push_p99>20ms' --fail-if 'gaps>0'",
                "For a script: the exit code says whether it was good enough."
            ),
            (
                "perch bench idle --watchers 10000 --report idle.html",
                "The memory of a connection, as a report for a browser."
            ),
        ]
        return bench
    }()

    /// The workload of a command of `bench`; nil for the tools.
    static func workload(of action: Action) -> Workload? {
        switch action {
        case .benchHot: .hot
        case .benchKeyed: .keyed
        case .benchMux: .mux
        case .benchCatalog: .catalog
        case .benchStorm: .storm
        case .benchResume: .resume
        case .benchIdle: .idle
        case .benchBuy: .buy
        case .benchMixed: .mixed
        case .benchScenario: .scenario
        default: nil
        }
    }

    /// Whether it is a tool of `bench`.
    static func isBeside(_ action: Action) -> Bool {
        switch action {
        case .benchCompare, .benchFigures, .benchFloorServer: true
        default: false
        }
    }

    private static func action(of workload: Workload) -> Action {
        switch workload {
        case .hot: .benchHot
        case .keyed: .benchKeyed
        case .mux: .benchMux
        case .catalog: .benchCatalog
        case .storm: .benchStorm
        case .resume: .benchResume
        case .idle: .benchIdle
        case .buy: .benchBuy
        case .mixed: .benchMixed
        case .scenario: .benchScenario
        }
    }

    private static func command(_ workload: Workload) -> CommandSpec {
        CommandTable.leaf(
            workload.rawValue, workload.summary, Self.action(of: workload),
            workload == .scenario ? [OperandSpec("FILE", .text, .one, "A scenario: proto/scenario/README.md.")] : [],
            Self.load(workload) + Self.timing(workload) + Self.target(workload) + Self.result)
    }

    // MARK: Options

    private static func count(
        _ name: String, _ range: ClosedRange<Int64>, _ standard: String?, _ help: String
    ) -> OptionSpec {
        OptionSpec(name, .count(range), "N", default: standard, help)
    }

    /// Options of the load.
    private static func load(_ workload: Workload) -> [OptionSpec] {
        let watchesMax = Int64(Limits.benchWatchesMax)
        let watchers = Self.count("watchers", 1...watchesMax, "1000", "Watches in all.")
        let connections = Self.count(
            "connections", 1...1_000_000, nil, "Number of connections that share them; one each if not given.")
        let accounts = Self.count(
            "accounts", 1...99_999_999, nil, "Accounts to watch and change; one for each watch if not given.")
        let rate = Self.count(
            "rate", 1...10_000_000, nil, "Changes a second, by a fixed schedule (open loop).")
        let closed = Self.count(
            "closed", 1...1_000_000, nil,
            "Instead of a rate: changes at a time that have not reached all their watchers."
        )
        let zlib = OptionSpec(flag: "zlib", "Watchers accept compressed messages.")
        func change(_ kinds: [BenchChange], _ help: String) -> OptionSpec {
            OptionSpec(
                "change", .choice(kinds.map(\.rawValue)), "NAME", default: BenchChange.purchase.rawValue, help)
        }
        let anyChange = change(
            BenchChange.allCases,
            "What a change is: a purchase with an idempotency key and an account token, one without the key, or a "
                + "renewal of a subscription whose status is watched.")
        switch workload {
        case .hot: return [watchers, connections, rate, closed, anyChange]
        case .keyed: return [watchers, connections, accounts, rate, closed, anyChange]
        case .mux: return [watchers, rate, closed, anyChange]
        case .catalog:
            return [
                watchers, connections, rate, closed,
                OptionSpec(
                    "view-bytes", .bytes(1...2 * 1024 * 1024), "SIZE", default: "100000B",
                    "About so large is the view of the products."), zlib,
                OptionSpec(
                    flag: "replace-catalog",
                    "With --connect, and only then: the app's catalogue there is lost, and that of the bench takes its place."
                ),
            ]
        case .storm: return [watchers, connections, accounts] + Self.storm
        case .resume:
            return [
                watchers, connections, accounts,
                Self.count("changed", 0...100, "10", "Accounts in a hundred that change while all are disconnected."),
            ]
        case .idle: return [watchers, connections, accounts]
        case .buy:
            return [
                Self.count("writers", 1...1_024, "64", "Connections that buy, each waiting for its answer."),
                Self.count("accounts", 1...99_999_999, "10000", "Accounts that buy."), rate,
                change(
                    [.purchase, .keylessPurchase],
                    "What a change is: a purchase with an idempotency key and an account token, or one without the key."
                ),
            ]
        case .scenario:
            return [
                Self.count(
                    "accounts", 1...Int64(Limits.benchPlayersMax), "1000",
                    "Number of accounts that play it, each with its own connection."),
                Self.count("rate", 1...1_000_000, "1000", "Accounts that play a line per second."),
                OptionSpec(
                    "patience", .duration(1...3_600_000), "DURATION", default: "5s",
                    "An account that gets no push for this long counts as forgotten."),
            ]
        case .mixed:
            return [
                watchers, connections, rate,
                Self.count("churn", 0...10_000, "10", "Connections that are broken and come back, a second."),
                Self.count("slow", 0...100, "1", "Connections in a hundred that do not read while changes are made."),
                zlib,
            ]
        }
    }

    private static let storm: [OptionSpec] = [
        Self.count("rate", 1...10_000_000, nil, "Connections a second, by a fixed schedule."),
        Self.count(
            "closed", 1...Int64(Limits.benchHandshakesAtOnceMax), "\(Limits.benchHandshakesMax)",
            "Connections under way at a time; as many as watchers are all clients of a server that has restarted."
        ),
        OptionSpec(
            flag: "copies",
            "Each reads a whole copy of the app's entitlements: its first value is there with the end of the copy."
        ),
    ]

    private static func timing(_ workload: Workload) -> [OptionSpec] {
        let hour: Int64 = 3_600_000
        let duration = OptionSpec(
            "duration", .duration(1...24 * hour), "DURATION", default: "10s", "How long is measured.")
        let warmup = OptionSpec(
            "warmup", .duration(0...hour), "DURATION", default: "1s", "How long the load runs before that.")
        switch workload {
        case .storm, .resume, .scenario: return []
        case .idle: return [duration]
        default: return [duration, warmup]
        }
    }

    /// Options of the measured server.
    private static func target(_ workload: Workload) -> [OptionSpec] {
        var options: [OptionSpec] = []
        if workload != .scenario {
            options += Self.elsewhere
        }
        options += [
            OptionSpec(
                "store", .text, "PATH", default: workload == .buy ? "." : "memory",
                "Of its own server: `memory`, or a directory in which each round has a store for as long as it lasts."),
            OptionSpec(
                "loops", .count(1...64), "N", default: "1", "Threads of the bench's server that hold connections."),
        ]
        if workload.hasFloor {
            options.append(
                OptionSpec(flag: "floor", "Do the same with a bare server in C, in turns, and say the ratio."))
        }
        if workload != .scenario, BenchTransport.grpc.isAble(workload) {
            options += [
                OptionSpec(
                    "transport", .choice(BenchTransport.allCases.map(\.rawValue)), "NAME", default: "perch",
                    "The protocol between the bench and the server: perch/1, or gRPC without TLS."),
                OptionSpec(
                    flag: "own-protocol", "With --transport grpc: do the same over perch/1, in turns."),
                OptionSpec(
                    "grpc-server", .text, "PROGRAM",
                    "With --transport grpc: do the same with this server, in turns. Tests/Bench/Peer/build makes one of gRPC "
                        + "for C++."),
            ]
        }
        if workload.hasRedis {
            options.append(
                OptionSpec(
                    flag: "redis",
                    "Do the same with publish and subscribe of redis-server, in turns; install it first."))
            options.append(
                OptionSpec(
                    "redis-script", .text, "FILE", default: nil,
                    "With --redis: a library of Lua functions whose `buy` Redis calls for each change, and which publishes it."
                ))
        }
        if workload == .hot || workload == .keyed {
            options.append(
                OptionSpec(
                    flag: "one-loop", "Do the same with one loop instead of --loops, in turns, and say the ratio."))
        }
        options += [
            Self.count(
                "pairs", 1...1_000, "1",
                workload.hasFloor
                    ? "Rounds; with --floor each is a pair. Medians stand for them." : "Rounds. Medians stand for them."
            )
        ]
        if workload != .scenario {
            options.append(OptionSpec("seed", .count(0...Int64.max), "N", default: "1", "Which changes are made."))
        }
        return options
    }

    /// Options for a running server.
    private static let elsewhere: [OptionSpec] =
        [
            OptionSpec(
                "connect", .address, "HOST:PORT",
                "Measure this server instead of starting one. Accounts bench-… will buy --product there, so use a store that "
                    + "you can lose."),
            OptionSpec(
                "pid", .count(1...4_194_304), "N",
                "Process of the --connect server on this machine: reports its memory and processor time too."
            ),
            OptionSpec("product", .text, "PRODUCT", default: "bench.pass", "A non-renewing product, to be bought."),
        ] + Self.access

    /// Options of the connection to it.
    static let access: [OptionSpec] =
        [
            OptionSpec("bundle-id", .text, "ID", "The app, of --connect; not needed where the server has one.")
                .group(.client),
            CommandTable.environment.group(.client),
            OptionSpec("credentials-file", .text, "FILE", "A file with the credentials, of --connect.").group(.client),
        ] + CommandTable.tls.map { $0.group(.client) }

    private static let result: [OptionSpec] = [
        OptionSpec(
            "fail-if", .text, "CONDITION",
            "End with 1 if this holds, such as 'push_p99>20ms', 'gaps>0' or 'cpu_per_million:ratio>1.1'. May be repeated."
        ).repeatable(),
        OptionSpec("report", .text, "FILE", "Write a page with charts, which needs nothing but itself."),
        CommandTable.output,
    ]

    // MARK: Beside

    private static let compare = CommandTable.leaf(
        "compare", "Hold two reports against each other.", .benchCompare,
        [
            OperandSpec("BEFORE", .text, .one, "What --output json or ndjson has printed."),
            OperandSpec("AFTER", .text, .one, "The same, later."),
        ], [OptionSpec("report", .text, "FILE", "Write it as a page too, with the charts of both over each other.")])

    private static let figures = CommandTable.leaf(
        "figures", "List what is measured, for --fail-if and readers of reports.", .benchFigures, [], [])

    private static let floorServer: CommandSpec = {
        var command = CommandTable.leaf(
            "floor-server", "Run the bare server of --floor until it is killed.", .benchFloorServer, [],
            [
                OptionSpec("port", .count(0...65_535), "N", default: "0", "Of 127.0.0.1; 0 takes a free one."),
                OptionSpec(
                    "value-bytes",
                    .bytes(Int64(FloorServer.valueBytes.lowerBound)...Int64(FloorServer.valueBytes.upperBound)), "SIZE",
                    default: "300B", "Length of the message that watchers are sent."),
                OptionSpec(
                    "answer-bytes",
                    .bytes(
                        Int64(FloorServer.answerBytes.lowerBound)...Int64(FloorServer.answerBytes.upperBound)), "SIZE",
                    default: "0B", "Length of the answer to a change; the shortest there is if it is less than that."),
                OptionSpec(
                    "store", .text, "PATH", default: nil,
                    "A directory: each change is durable in a file there before it is answered."),
            ])
        // The bench starts its children with it. It serves other generators too.
        command.isHidden = true
        return command
    }()
}
