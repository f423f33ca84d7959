import Glibc
import PerchBench
import PerchLoop
import PerchScenario
import PerchTLS
import PerchTesting
import Testing
import TestingThreads

/// Each workload at its smallest, with its own server.
@Suite(.onOwnThreads) struct `a workload` {
    /// Requirements of every workload at any speed.
    private static func expectSound(_ report: BenchReport, _ targets: [String] = ["perch"]) {
        #expect(report.targets.map(\.name) == targets)
        for target in report.targets {
            let figures = target.figures
            #expect(target.failure == nil, "\(target.name)")
            for figure in [Figure.lost, .gaps, .reorderings, .foreign, .refusals, .closes] {
                #expect(figures[figure] == 0, "\(target.name): \(figure.rawValue)")
            }
            // The seconds add up to the totals, and every due change has a result.
            for round in target.rounds {
                func count(_ figure: Figure) -> UInt64 { UInt64(round.figures[figure] ?? 0) }
                #expect(round.intervals.reduce(0) { $0 + $1.deliveries } == count(.deliveries), "\(target.name)")
                #expect(round.intervals.reduce(0) { $0 + $1.changes } == count(.changes), "\(target.name)")
                if let slowest = round.figures[.pushMax] {
                    #expect(round.intervals.compactMap(\.pushMax).max().map(Double.init) == slowest, "\(target.name)")
                }
                #expect(count(.due) == count(.answered) + count(.unsent), "\(target.name): \(round.figures)")
            }
            let workload = Workload(rawValue: report.workload)
            let strange = figures.keys.filter { !(workload.map($0.isMeasured) ?? false) }.map(\.rawValue)
            #expect(strange.isEmpty, "\(target.name): --fail-if would be refused: \(strange)")
        }
    }

    @Test func `a workload with one hot account reaches every watcher`() throws {
        let report = try measured(tiny(.hot), hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        for target in report.targets {
            let figures = target.figures
            #expect(figures[.deliveries] ?? 0 > 0)
            #expect(figures[.duplicates] == 0)
            // One change at a time: none is skipped.
            #expect(figures[.conflated] == 0)
            #expect(figures[.cpuPerMillion] ?? 0 > 0)
        }
        // The baseline server imitates the length of the server's values.
        #expect(report.targets[1].figures[.valueBytes] == report.targets[0].figures[.valueBytes])
        #expect(report.ratios[.pushP50] != nil)
    }

    @Test func `a workload with an account for each connection shows each its own`() throws {
        var settings = tiny(.keyed)
        settings.rate = 400
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        for target in report.targets { #expect(target.figures[.duplicates] == 0) }
        // All planned changes were sent, even if late.
        #expect(report.targets[0].figures[.lagP99] != nil)
    }

    @Test func `a workload with many watches on one connection reaches each of them`() throws {
        var settings = tiny(.mux, watches: 50)
        settings.outstanding = 8
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        #expect(report.targets.allSatisfy { $0.figures[.deliveries] ?? 0 > 0 })
    }

    @Test(arguments: BenchChange.allCases) func `a workload makes every kind of change`(_ change: BenchChange) throws {
        var settings = tiny(.mux, watches: 30)
        settings.outstanding = 8
        settings.change = change
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        let figures = report.targets[0].figures
        #expect(figures[.deliveries] ?? 0 > 0)
        #expect(figures[.duplicates] == 0)
        // A generator that polls seldom sleeps, and is busy only while it finds work.
        #expect(figures[.generatorWakeups] != nil)
        #expect(figures[.generatorCPU].map { $0 < 1 } == true)
    }

    @Test(arguments: [false, true]) func `a workload with catalogue edits works compressed and uncompressed`(
        _ zlib: Bool
    ) throws {
        var settings = tiny(.catalog, watches: 5)
        settings.acceptsZlib = zlib
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        let bytes = report.targets[0].figures[.valueBytes] ?? 0
        #expect(zlib ? bytes < 10_000 : bytes > 15_000)
        // For any number of watchers.
        #expect(report.targets[0].figures[.encodingsPerChange].map { $0 <= 1 } == true)
        #expect(report.targets[0].figures[.compressionsPerChange].map { zlib ? $0 > 0 && $0 <= 1 : $0 == 0 } == true)
        #expect(report.targets[1].figures[.valueBytes] == bytes)
    }

    @Test func `a workload with a connection storm opens every connection`() throws {
        let report = try measured(tiny(.storm, watches: 60), hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        #expect(report.targets.allSatisfy { $0.figures[.opensPerSecond] ?? 0 > 0 && $0.figures[.firstP99] != nil })
    }

    /// A connection is open once the end of its copy has come.
    @Test func `a workload with copies reads each to its end`() throws {
        var settings = tiny(.storm, watches: 3)
        settings.keys = 400
        settings.readsCopies = true
        let report = try measured(settings)
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[.firstP99] != nil && figures[.unopened] == 0)
    }

    @Test func `a workload with resumed connections delivers exactly the changed values`() throws {
        var settings = tiny(.resume, watches: 60)
        settings.changedPercent = 25
        let report = try measured(settings)
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[.unchanged] == 45)
        #expect(figures[.deliveries] == 15)
        #expect(figures[.duplicates] == 0)
    }

    @Test func `a workload with idle connections costs memory and no deliveries`() throws {
        var settings = tiny(.idle, watches: 90)
        settings.connections = 30
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        let figures = report.targets[0].figures
        #expect(figures[.deliveries] == 0)
        #expect(figures[.rssPerConnection] != nil)
        #expect(figures[.socketBytesPerConnection] != nil)
    }

    @Test func `a workload with purchases is answered from a store on disk`() throws {
        var settings = tiny(.buy, watches: 0)
        settings.keys = 20
        settings.writers = 4
        settings.outstanding = 4
        let directory = TemporaryDirectory()
        let report = try measured(
            settings, hasFloor: true, store: directory.path,
            hasEnough: { $0.figures[.answerP99] != nil && $0.figures[.fsyncP50] ?? 0 > 0 })
        Self.expectSound(report, ["perch", "floor"])
        for target in report.targets {
            #expect(target.figures[.answerP99] != nil)
            // One fsync answers all changes of a batch.
            #expect(target.figures[.changesPerCommit].map { $0 >= 1 && $0 <= 4 } == true, "\(target.name)")
            #expect(target.figures[.fsyncP50] ?? 0 > 0)
        }
        #expect(report.targets[1].figures[.answerBytes] == report.targets[0].figures[.answerBytes])
    }

    @Test func `a workload with durable pushes reports the time beyond the disk's`() throws {
        var settings = tiny(.keyed)
        settings.rate = 200
        let directory = TemporaryDirectory()
        let report = try measured(
            settings, store: directory.path, hasEnough: { $0.figures[.pushBeyondFsync] != nil })
        Self.expectSound(report)
        let figures = report.targets[0].figures
        let beyond = try #require(figures[.pushBeyondFsync])
        #expect(beyond == (figures[.pushP99] ?? 0) - (figures[.fsyncP50] ?? 0))
    }

    @Test func `a workload with two loops is compared with one`() throws {
        let report = try measured(tiny(.hot), loops: 2)
        Self.expectSound(report, ["perch", "one loop"])
        #expect(report.ratios[.cpuPerMillion] ?? 0 > 0)
        #expect(report.targets.allSatisfy { $0.figures[.deliveries] ?? 0 > 0 })
    }

    @Test func `a workload with mixed load survives reconnects and slow readers`() throws {
        var settings = tiny(.mixed, watches: 40)
        settings.rate = 200
        settings.churnPerSecond = 40
        settings.slowPercent = 10
        let report = try measured(settings)
        Self.expectSound(report)
        #expect(report.targets[0].figures[.deliveries] ?? 0 > 0)
    }

    /// A client that reconnects without its token would receive its known value again, which is not the server's
    /// duplicate.
    @Test func `a workload with compressed values resumes with its token`() throws {
        var settings = tiny(.mixed, watches: 40)
        settings.rate = 100
        settings.churnPerSecond = 200
        settings.acceptsZlib = true
        let report = try measured(settings, hasEnough: { $0.figures[.unchanged] ?? 0 > 0 })
        Self.expectSound(report)
        #expect(report.targets[0].figures[.duplicates] == 0)
        #expect(report.targets[0].figures[.unchanged] ?? 0 > 0)
    }

    /// Only if Redis is installed, as by `make bench-redis`.
    @Test(.enabled(if: Program.redis != nil), arguments: [Workload.hot, .keyed, .mux, .storm, .idle])
    func `that Redis supports also runs with Redis`(_ workload: Workload) throws {
        var settings = tiny(workload)
        settings.outstanding = min(settings.outstanding, 8)
        let report = try measured(settings, hasFloor: true, redis: Program.redis)
        Self.expectSound(report, ["perch", "floor", "redis"])
        let figures = report.targets[2].figures
        #expect(figures[.duplicates] == 0)
        switch workload {
        case .storm: #expect(figures[.opensPerSecond] ?? 0 > 0)
        case .idle: #expect(figures[.rssPerConnection] ?? 0 > 0)
        default:
            #expect(figures[.deliveries] ?? 0 > 0)
            #expect(figures[.valueBytes] == report.targets[0].figures[.valueBytes])
        }
        #expect(report.ratios(of: 1).isEmpty)
        #expect(!report.ratios(of: 2).isEmpty || workload == .idle)
    }

    /// Two benches on one server: the second one finds accounts with purchases, and its own changes follow them.
    @Test func `a workload runs twice against a running server`() throws {
        let directory = TemporaryDirectory()
        let catalogue = directory.file("bench.storekit")
        TemporaryDirectory.write(BenchCatalogue(viewBytes: 2_000).file(edition: 0), to: catalogue)
        let (child, address) = try Program.start([
            "serve", "--listen", "127.0.0.1:0", "--catalog", catalogue, "--loops", "2",
        ])
        defer { child.kill() }
        for _ in 0..<2 {
            var settings = tiny(.keyed)
            let report = try scaled(until: { Self.figure(.deliveries, $0) > 0 }) { scale in
                settings.durationNanoseconds = 500_000_000 * scale
                return try measured(settings, server: .address(address, process: child.number))
            }
            Self.expectSound(report)
            #expect(report.targets[0].figures[.deliveries] ?? 0 > 0)
            #expect(report.targets[0].figures[.serverCPU] != nil)
        }
        // The server's own message for an unknown product.
        var other = tiny(.hot)
        other.product = "bench.nothing"
        let error = #expect(throws: BenchError.self) {
            try measured(other, server: .address(address, process: nil))
        }
        #expect(error?.description.contains("the server refused a purchase") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("--product") == true, "\(error?.description ?? "")")
        #expect(error?.refusal?.reason == "PURCHASE_PRODUCT_UNAVAILABLE")
        // A bench without seeding notices later: a run without purchases is no success.
        var unsold = tiny(.buy, watches: 0)
        unsold.keys = unsold.writers
        unsold.product = "bench.nothing"
        var window = unsold.durationNanoseconds
        var refused = try scaled(until: { Self.figure(.refused, $0) > 0 }) { scale in
            unsold.durationNanoseconds = window * scale
            return try measured(unsold, server: .address(address, process: nil))
        }
        refused.check([])
        let figures = refused.targets[0].figures
        #expect(figures[.refused] ?? 0 > 0 && figures[.answered] == 0 && figures[.refusedShare] == 1)
        #expect(refused.breaches.contains { $0.contains("changes (PURCHASE_PRODUCT_UNAVAILABLE") })
        #expect(refused.html.contains("with PURCHASE_PRODUCT_UNAVAILABLE"))
        // A process that is not the server would appear to use no CPU time.
        let (stranger, _) = try Self.serving(in: directory)
        defer { stranger.kill() }
        kill(stranger.number, SIGSTOP)
        // It stops when it has a core next, and uses that until then.
        var status: Int32 = 0
        #expect(waitpid(stranger.number, &status, WUNTRACED) == stranger.number)
        var idle = tiny(.hot)
        window = idle.durationNanoseconds
        let strange = try scaled(until: { Self.figure(.changes, $0) > 0 }) { scale in
            idle.durationNanoseconds = window * scale
            return try measured(idle, server: .address(address, process: stranger.number))
        }
        #expect(strange.targets[0].failure?.contains("process \(stranger.number) used no CPU time") == true)
        // No process listens on the echo port.
        let silent = SocketAddress.loopback(port: 7)
        let nobody = #expect(throws: BenchError.self) {
            try measured(tiny(.hot), server: .address(silent, process: nil))
        }
        #expect(nobody?.refusal == ServerRefusal(code: 14), "\(nobody?.description ?? "")")
        // A product that is bought once: further purchases write and push nothing, and nothing is lost.
        for workload in [Workload.hot, .buy] {
            other = tiny(workload)
            other.product = BenchCatalogue(viewBytes: 2_000).itemIDs[0]
            window = other.durationNanoseconds
            let owned = scaled(until: { $0.contains("has the type nonConsumable") }) { scale -> String in
                other.durationNanoseconds = window * scale
                do throws(any Error) {
                    return "\(try measured(other, server: .address(address, process: nil)).targets[0].figures)"
                } catch { return "\(error)" }
            }
            #expect(owned.contains("has the type nonConsumable"), "\(workload): \(owned)")
        }
        var access = BenchAccess()
        access.tls = (try TLSContext(client: TLSContext.ClientFiles()), TLSServerName("127.0.0.1"))
        let naked = #expect(throws: BenchError.self) {
            try measured(tiny(.hot), server: .address(address, access: access, process: nil))
        }
        #expect(naked?.description.contains("check that the server has TLS") == true, "\(naked?.description ?? "")")
    }

    private static func serving(in directory: TemporaryDirectory) throws -> (ChildProcess, SocketAddress) {
        let catalogue = directory.file("bench.storekit")
        TemporaryDirectory.write(BenchCatalogue(viewBytes: 2_000).file(edition: 0), to: catalogue)
        return try Program.start(["serve", "--listen", "127.0.0.1:0", "--catalog", catalogue])
    }

    /// A bench of a server of its own, which `eachTurn` may stop or end.
    private static func onServer(
        _ settings: BenchSettings, isInterruptedAt milliseconds: Int64 = .max,
        eachTurn: @escaping @Sendable (_ number: Int32, _ milliseconds: Int64) -> Void
    ) throws -> BenchReport {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.serving(in: directory)
        defer { child.kill() }
        let number = child.number
        return try measured(
            settings, server: .address(address, process: number), isInterruptedAt: milliseconds,
            eachTurn: { eachTurn(number, $0) })
    }

    private static func figure(_ figure: Figure, _ report: BenchReport) -> Double {
        report.targets[0].figures[figure] ?? 0
    }

    /// Missing answers are in no histogram of answers, so they must fail the round.
    @Test(arguments: [Workload.hot, .buy]) func `on a frozen server fails, with all waiting times`(
        _ workload: Workload
    ) throws {
        var settings = tiny(workload, watches: workload == .buy ? 0 : 8)
        if workload == .buy { settings.keys = settings.writers }
        settings.rate = 200
        settings.warmupNanoseconds = 0
        settings.settleNanoseconds = 300_000_000
        var report = try scaled(until: { Self.figure(.lost, $0) >= 50 && Self.figure(.answerMax, $0) >= 300e6 }) {
            scale in
            settings.durationNanoseconds = 1_000_000_000 * scale
            return try Self.onServer(settings) { number, milliseconds in
                if milliseconds > 400 * scale { kill(number, SIGSTOP) }
            }
        }
        let figures = report.targets[0].figures
        #expect(figures[.lost] ?? 0 >= 50)
        #expect(figures[.answerMax] ?? 0 >= 300e6)
        #expect(workload == .buy || figures[.pushP90] ?? 0 >= 300e6)
        report.check([])
        #expect(report.breaches.contains { $0.contains("had no answer") }, "\(report.breaches)")
    }

    @Test func `on a server that exits reports no impossible CPU figures`() throws {
        var settings = tiny(.hot, watches: 8)
        settings.rate = 200
        let report = try scaled(until: { Self.figure(.deliveries, $0) > 0 }) { scale in
            settings.durationNanoseconds = 1_000_000_000 * scale
            return try Self.onServer(settings) { number, milliseconds in
                if milliseconds > 500 * scale { kill(number, SIGKILL) }
            }
        }
        #expect(report.targets[0].failure?.contains("closed") == true, "\(report.targets[0].failure ?? "")")
        let figures = report.targets[0].figures
        #expect(figures[.deliveries] ?? 0 > 0)
        for figure in [Figure.serverCPU, .cpuPerMillion, .cpuPerConverged, .rssPerWatch] {
            #expect(figures[figure] ?? 0 >= 0, "\(figure.rawValue)")
        }
    }

    /// A user who sees a server stall presses Ctrl-C, so the waiting times must count just then.
    @Test func `interrupted during a server stall reports all waiting times`() throws {
        var settings = tiny(.hot, watches: 8)
        settings.rate = 200
        settings.warmupNanoseconds = 0
        let report = try scaled(until: { Self.figure(.lost, $0) >= 50 && Self.figure(.pushMax, $0) >= 300e6 }) {
            scale in
            settings.durationNanoseconds = 5_000_000_000 * scale
            return try Self.onServer(settings, isInterruptedAt: 1_000 * scale) { number, milliseconds in
                if milliseconds > 400 * scale { kill(number, SIGSTOP) }
            }
        }
        let figures = report.targets[0].figures
        #expect(report.targets[0].failure == Generator.interrupted)
        #expect(figures[.lost] ?? 0 >= 50)
        #expect(figures[.answerMax] ?? 0 >= 300e6 && figures[.pushMax] ?? 0 >= 300e6)
        #expect(figures[.due] == (figures[.answered] ?? 0) + (figures[.lost] ?? 0))
    }

    /// First values count from their planned start, including those that never arrive.
    @Test func `a workload with an unfinished storm reports the waiting times`() throws {
        var settings = tiny(.storm, watches: 60)
        let report = try scaled(until: { Self.figure(.unopened, $0) >= 10 && Self.figure(.firstMax, $0) >= 400e6 }) {
            scale in
            settings.rate = 100 / Int(scale)
            return try Self.onServer(settings, isInterruptedAt: 1_200 * scale) { number, milliseconds in
                if milliseconds > 400 * scale { kill(number, SIGSTOP) }
            }
        }
        let figures = report.targets[0].figures
        #expect(figures[.unopened] ?? 0 >= 10)
        #expect(figures[.firstMax] ?? 0 >= 400e6)
    }

    /// The values after the stall skip changes, and each of those changes has waited.
    @Test func `on a server that stalls times every delayed change`() throws {
        var settings = tiny(.hot, watches: 8)
        settings.rate = 200
        settings.warmupNanoseconds = 0
        let report = try scaled(until: { Self.figure(.conflated, $0) >= 400 && Self.figure(.pushP90, $0) >= 200e6 }) {
            scale in
            settings.durationNanoseconds = 1_200_000_000 * scale
            return try Self.onServer(settings) { number, milliseconds in
                kill(number, milliseconds > 300 * scale && milliseconds < 800 * scale ? SIGSTOP : SIGCONT)
            }
        }
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[.conflated] ?? 0 >= 8 * 50)
        // Of 240 changes a hundred waited for up to half a second.
        #expect(figures[.pushP90] ?? 0 >= 200e6)
    }

    /// A server that requires TLS and credentials.
    private static func guarded(
        in directory: TemporaryDirectory
    ) throws -> (ChildProcess, SocketAddress, authority: MadeCertificate, authorization: String) {
        let authority = MadeCertificate.authority()
        let made = MadeCertificate.server(of: authority)
        for (name, bytes) in [
            ("server.pem", made.certificate), ("server.key", made.key),
            ("bench.storekit", BenchCatalogue(viewBytes: 2_000).file(edition: 0)),
        ] {
            TemporaryDirectory.write(bytes, to: directory.file(name))
            chmod(directory.file(name), 0o600)
        }
        try Program.run(["token", "key", "create", "--to", directory.file("main.jwk")])
        try Program.run([
            "token", "create", "--key", directory.file("main.jwk"), "--app", BenchCatalogue.bundleID, "--environment",
            "xcode", "--scope", "test", "--to", directory.file("bench.token"),
        ])
        let (child, address) = try Program.start([
            "serve", "--listen", "127.0.0.1:0", "--catalog", directory.file("bench.storekit"), "--bundle-id",
            BenchCatalogue.bundleID, "--tls-certificate", directory.file("server.pem"), "--tls-key",
            directory.file("server.key"), "--token-keys", directory.file("main.pub.jwk"),
        ])
        let token = String(decoding: TemporaryDirectory.read(directory.file("bench.token")), as: UTF8.self)
        return (child, address, authority, "Bearer " + token.filter { !$0.isWhitespace })
    }

    @Test(arguments: [Workload.keyed, .storm, .resume, .mixed])
    func `a workload runs over TLS with credentials`(_ workload: Workload) throws {
        let directory = TemporaryDirectory()
        let (child, address, authority, authorization) = try Self.guarded(in: directory)
        defer { child.kill() }
        var files = TLSContext.ClientFiles()
        files.authorities = authority.certificate
        var access = BenchAccess()
        access.tls = (try TLSContext(client: files), TLSServerName("127.0.0.1"))
        let server = { (access: BenchAccess) in
            Bench.Server.address(address, access: access, process: child.number)
        }
        var settings = tiny(workload)
        settings.churnPerSecond = workload == .mixed ? 40 : 0
        settings.outstanding = min(settings.outstanding, 8)
        // A purchase requires an identity.
        let refused = #expect(throws: BenchError.self) { try measured(settings, server: server(access)) }
        #expect(refused?.description.contains("UNAUTHENTICATED") == true, "\(refused?.description ?? "")")
        #expect(refused?.refusal == ServerRefusal(code: 16, reason: "UNAUTHENTICATED"), "for the exit code")
        // With one server, messages need no server name.
        #expect(refused?.description.hasPrefix("perch: ") == false)

        access.authorization = authorization
        let known = access
        let wanted: [Figure]
        switch workload {
        case .keyed: wanted = [.deliveries]
        case .mixed: wanted = [.deliveries, .tlsResumed]
        default: wanted = []
        }
        let report = try scaled(until: { report in wanted.allSatisfy { Self.figure($0, report) > 0 } }) { scale in
            var settings = settings
            settings.durationNanoseconds *= scale
            return try measured(settings, server: server(known))
        }
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[workload.hasWindow ? .deliveries : .opensPerSecond] ?? 0 > 0)
        #expect(report.settings.contains { $0.value == "\(address), over TLS" })
        // A reconnecting client resumes its session; otherwise the workload `resume` over TLS would measure full
        // handshakes.
        let resumed = figures[.tlsResumed] ?? -1
        switch workload {
        case .resume: #expect(resumed == Double(settings.connections))
        case .mixed: #expect(resumed > 0)
        default: #expect(resumed == 0)
        }
        let whole = (figures[.tlsHandshakes] ?? 0) - resumed
        let expected = Double(settings.writers + settings.connections)
        // A connection that is lost during its handshake has no session to resume.
        #expect(workload == .mixed ? whole >= expected : whole == expected)

        var plain = access
        plain.tls = nil
        let naked = #expect(throws: BenchError.self) { try measured(settings, server: server(plain)) }
        #expect(naked?.description.contains("TLS_REQUIRED") == true, "\(naked?.description ?? "")")
        #expect(naked?.refusal?.reason == "TLS_REQUIRED")
        #expect(naked?.description.contains("perch: --tls") == true, "\(naked?.description ?? "")")

        access.tls?.name = TLSServerName("perch.example.com")
        let other = #expect(throws: BenchError.self) { try measured(settings, server: server(access)) }
        #expect(other?.description.contains("--tls-server-name") == true, "\(other?.description ?? "")")
        files.authorities = MadeCertificate.authority("Another Authority").certificate
        access.tls = (try TLSContext(client: files), TLSServerName("127.0.0.1"))
        let stranger = #expect(throws: BenchError.self) { try measured(settings, server: server(access)) }
        #expect(stranger?.description.contains("--tls-ca") == true, "\(stranger?.description ?? "")")
    }

    @Test func `a workload does not start without a server`() throws {
        let port = SilentPort()
        let address = try SocketAddress(parsing: port.address)
        let error = #expect(throws: BenchError.self) {
            try measured(tiny(.hot), server: .address(address, process: nil))
        }
        #expect(error?.description.contains("refused") == true, "\(error?.description ?? "")")
        withExtendedLifetime(port) {}
    }

    @Test func `a workload ends cleanly with its results when interrupted`() throws {
        var settings = tiny(.keyed)
        settings.durationNanoseconds = 3_600_000_000_000
        settings.rate = 100
        // How many turns a start takes depends on how often the server runs meanwhile.
        let report = try scaled(until: { $0.targets[0].figures[.deliveries] != nil }) { scale in
            try measured(settings, isInterruptedAfter: 200 * Int(scale))
        }
        #expect(report.targets[0].failure == Generator.interrupted)
        #expect(report.targets[0].figures[.deliveries] != nil)
    }

    @Test func `a workload spreads all watches over the connections`() {
        for (watches, connections) in [(10, 3), (7, 7), (100, 1), (1_000, 999)] {
            var settings = BenchSettings(.keyed, watches: watches)
            settings.connections = connections
            let places = (0..<watches).map { Generator.connection(of: $0, settings) }
            #expect(places == places.sorted())
            #expect(Set(places) == Set(0..<connections))
        }
    }

    @Test func `a workload with several loops uses the other cores, and the generator's if needed`() {
        #expect(Bench.places(among: [0, 1], loops: 1) == [0])
        #expect(Bench.places(among: [0, 1], loops: 2) == [0, 1])
        #expect(Bench.places(among: [2, 3, 6, 7], loops: 2) == [2, 6, 7])
        #expect(Bench.places(among: [2, 3, 6, 7], loops: 4) == [2, 3, 6, 7])
        #expect(Bench.places(among: [5], loops: 2).isEmpty)
        // Waiting for a deliberately shared core is not reported as foreign load.
        #expect(!Bench.sharesCore([0], among: [0, 1]) && Bench.sharesCore([0, 1], among: [0, 1]))
        #expect(!Bench.sharesCore([2, 6, 7], among: [2, 3, 6, 7]) && Bench.sharesCore([], among: [5]))
    }

    @Test func `a workload with impossible settings is refused with the numbers`() throws {
        var poor = BenchSettings(.buy, watches: 0)
        poor.keys = 63
        #expect(poor.refusal?.contains("64 writers need 64 accounts, and there are 63") == true)
        var crowded = BenchSettings(.mux, watches: 65_537)
        #expect(crowded.refusal?.contains("65536") == true)
        crowded.connections = 2
        #expect(crowded.refusal == nil)
        var scattered = BenchSettings(.keyed, watches: 10)
        scattered.connections = 11
        #expect(scattered.refusal?.contains("11 connections") == true)
        var crowd = BenchSettings(.scenario)
        crowd.keys = 1_000_000
        #expect(crowd.refusal?.contains("100000") == true)
        var endless = BenchSettings(.keyed, watches: 10)
        endless.rate = 10_000_000
        endless.durationNanoseconds = 3_600_000_000_000
        #expect(endless.refusal?.contains("use a shorter duration") == true)

        let many = BenchSettings(.idle, watches: 2_000_000)
        let error = #expect(throws: BenchError.self) { try measured(many) }
        #expect(error?.description.contains("descriptors") == true, "\(error?.description ?? "")")
    }
}
