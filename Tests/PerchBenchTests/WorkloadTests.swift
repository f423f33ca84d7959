import Glibc
import PerchBench
import PerchLoop
import PerchScenario
import PerchTLS
import PerchTesting
import Testing

/// Each workload at its smallest, with a server of its own. Serialised: each has a process, and keeps to a core.
@Suite(.serialized) struct `a workload` {
    /// What must be so whatever is done, and however fast.
    private static func expectSound(_ report: BenchReport, _ targets: [String] = ["perch"]) {
        #expect(report.targets.map(\.name) == targets)
        for target in report.targets {
            let figures = target.figures
            #expect(target.failure == nil, "\(target.name)")
            for figure in [Figure.lost, .gaps, .reorderings, .foreign, .refusals, .closes] {
                #expect(figures[figure] == 0, "\(target.name): \(figure.rawValue)")
            }
            // What is told by second is what is told in all, and what was due came to something.
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

    @Test func `of one hot account reaches every watcher`() throws {
        let report = try measured(tiny(.hot), hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        for target in report.targets {
            let figures = target.figures
            #expect(figures[.deliveries] ?? 0 > 0)
            #expect(figures[.duplicates] == 0)
            // One at a time: nothing is passed over.
            #expect(figures[.conflated] == 0)
            #expect(figures[.cpuPerMillion] ?? 0 > 0)
        }
        // The floor was told how long the server's values are.
        #expect(report.targets[1].figures[.valueBytes] == report.targets[0].figures[.valueBytes])
        #expect(report.ratios[.pushP50] != nil)
    }

    @Test func `of an account for each connection shows each its own`() throws {
        var settings = tiny(.keyed)
        settings.rate = 400
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        for target in report.targets { #expect(target.figures[.duplicates] == 0) }
        // What was meant to be sent was sent, however late.
        #expect(report.targets[0].figures[.lagP99] != nil)
    }

    @Test func `of many watches on one connection`() throws {
        var settings = tiny(.mux, watches: 50)
        settings.outstanding = 8
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        #expect(report.targets.allSatisfy { $0.figures[.deliveries] ?? 0 > 0 })
    }

    @Test(arguments: [false, true]) func `of a catalogue that is edited, compressed or not`(_ zlib: Bool) throws {
        var settings = tiny(.catalog, watches: 5)
        settings.acceptsZlib = zlib
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        let bytes = report.targets[0].figures[.valueBytes] ?? 0
        #expect(zlib ? bytes < 10_000 : bytes > 15_000)
        // Whatever the number of watchers.
        #expect(report.targets[0].figures[.encodingsPerChange].map { $0 <= 1 } == true)
        #expect(report.targets[0].figures[.compressionsPerChange].map { zlib ? $0 > 0 && $0 <= 1 : $0 == 0 } == true)
        #expect(report.targets[1].figures[.valueBytes] == bytes)
    }

    @Test func `of a storm opens every connection`() throws {
        let report = try measured(tiny(.storm, watches: 60), hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        #expect(report.targets.allSatisfy { $0.figures[.opensPerSecond] ?? 0 > 0 && $0.figures[.firstP99] != nil })
    }

    @Test func `of coming back tells of exactly what has changed`() throws {
        var settings = tiny(.resume, watches: 60)
        settings.changedPercent = 25
        let report = try measured(settings)
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[.unchanged] == 45)
        #expect(figures[.deliveries] == 15)
        #expect(figures[.duplicates] == 0)
    }

    @Test func `of standing still costs memory and no deliveries`() throws {
        var settings = tiny(.idle, watches: 90)
        settings.connections = 30
        let report = try measured(settings, hasFloor: true)
        Self.expectSound(report, ["perch", "floor"])
        let figures = report.targets[0].figures
        #expect(figures[.deliveries] == 0)
        #expect(figures[.rssPerConnection] != nil)
        #expect(figures[.socketBytesPerConnection] != nil)
    }

    @Test func `of buying is answered from a store on disk`() throws {
        var settings = tiny(.buy, watches: 0)
        settings.keys = 20
        settings.writers = 4
        settings.outstanding = 4
        let directory = TemporaryDirectory()
        let report = try measured(settings, hasFloor: true, store: directory.path)
        Self.expectSound(report, ["perch", "floor"])
        for target in report.targets {
            #expect(target.figures[.answerP99] != nil)
            // As many as are in the batch are answered by one fsync.
            #expect(target.figures[.changesPerCommit].map { $0 >= 1 && $0 <= 4 } == true, "\(target.name)")
            #expect(target.figures[.fsyncP50] ?? 0 > 0)
        }
        #expect(report.targets[1].figures[.answerBytes] == report.targets[0].figures[.answerBytes])
    }

    @Test func `of pushing what is durable tells what was not the disk's`() throws {
        var settings = tiny(.keyed)
        settings.rate = 200
        let directory = TemporaryDirectory()
        let report = try measured(settings, store: directory.path)
        Self.expectSound(report)
        let figures = report.targets[0].figures
        let beyond = try #require(figures[.pushBeyondFsync])
        #expect(beyond == (figures[.pushP99] ?? 0) - (figures[.fsyncP50] ?? 0))
    }

    @Test func `of two loops is held against one`() throws {
        let report = try measured(tiny(.hot), loops: 2)
        Self.expectSound(report, ["perch", "one loop"])
        #expect(report.ratios[.cpuPerMillion] ?? 0 > 0)
        #expect(report.targets.allSatisfy { $0.figures[.deliveries] ?? 0 > 0 })
    }

    @Test func `of all at once survives churn and slow readers`() throws {
        var settings = tiny(.mixed, watches: 40)
        settings.rate = 200
        settings.churnPerSecond = 40
        settings.slowPercent = 10
        let report = try measured(settings)
        Self.expectSound(report)
        #expect(report.targets[0].figures[.deliveries] ?? 0 > 0)
    }

    /// Who comes back without its token is told what it knows, and that is no duplicate of the server's.
    @Test func `that comes back to compressed values comes back with its token`() throws {
        var settings = tiny(.mixed, watches: 40)
        settings.rate = 100
        settings.churnPerSecond = 200
        settings.acceptsZlib = true
        let report = try measured(settings)
        Self.expectSound(report)
        #expect(report.targets[0].figures[.duplicates] == 0)
        #expect(report.targets[0].figures[.unchanged] ?? 0 > 0)
    }

    /// Only where somebody has installed it: `make bench-redis` does.
    @Test(.enabled(if: Program.redis != nil), arguments: [Workload.hot, .keyed, .mux, .storm, .idle])
    func `that Redis can do is done with it too`(_ workload: Workload) throws {
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

    /// Two benches on one server: the second finds accounts that have bought, and its own changes come after.
    @Test func `is done to a server that is there already, and again`() throws {
        let directory = TemporaryDirectory()
        let catalogue = directory.file("bench.storekit")
        TemporaryDirectory.write(BenchCatalogue(viewBytes: 2_000).file(edition: 0), to: catalogue)
        let (child, address) = try Program.start([
            "serve", "--listen", "127.0.0.1:0", "--catalog", catalogue, "--loops", "2",
        ])
        defer { child.kill() }
        for _ in 0..<2 {
            var settings = tiny(.keyed)
            settings.durationNanoseconds = 500_000_000
            let report = try measured(settings, server: .address(address, process: child.number))
            Self.expectSound(report)
            #expect(report.targets[0].figures[.deliveries] ?? 0 > 0)
            #expect(report.targets[0].figures[.serverCPU] != nil)
        }
        // A product that it does not sell is refused with the server's own words.
        var other = tiny(.hot)
        other.product = "bench.nothing"
        let error = #expect(throws: BenchError.self) {
            try measured(other, server: .address(address, process: nil))
        }
        #expect(error?.description.contains("a purchase was refused") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("--product") == true, "\(error?.description ?? "")")
        #expect(error?.refusal?.reason == "PURCHASE_PRODUCT_UNAVAILABLE")
        // One that begins without purchases finds that out later: that nothing was bought is no success.
        var unsold = tiny(.buy, watches: 0)
        unsold.keys = unsold.writers
        unsold.product = "bench.nothing"
        var refused = try measured(unsold, server: .address(address, process: nil))
        refused.judge([])
        let figures = refused.targets[0].figures
        #expect(figures[.refused] ?? 0 > 0 && figures[.answered] == 0 && figures[.refusedShare] == 1)
        #expect(refused.breaches.contains { $0.contains("were refused (PURCHASE_PRODUCT_UNAVAILABLE") })
        #expect(refused.html.contains("with PURCHASE_PRODUCT_UNAVAILABLE"))
        // A process that is not the server's would have the server cost nothing.
        let (stranger, _) = try Self.serving(in: directory)
        defer { stranger.kill() }
        kill(stranger.number, SIGSTOP)
        let strange = try measured(tiny(.hot), server: .address(address, process: stranger.number))
        #expect(strange.targets[0].failure?.contains("process \(stranger.number) used no processor") == true)
        // Nobody listens there: no server ever has the port of an echo.
        let silent = SocketAddress.loopback(port: 7)
        let nobody = #expect(throws: BenchError.self) {
            try measured(tiny(.hot), server: .address(silent, process: nil))
        }
        #expect(nobody?.refusal == ServerRefusal(code: 14), "\(nobody?.description ?? "")")
        // One that is bought once and for all: every further purchase writes and pushes nothing, and nothing is lost.
        for workload in [Workload.hot, .buy] {
            other = tiny(workload)
            other.product = BenchCatalogue(viewBytes: 2_000).itemIDs[0]
            let owned = #expect(throws: BenchError.self) {
                try measured(other, server: .address(address, process: nil))
            }
            #expect(owned?.description.contains("is a product of the type nonConsumable") == true, "\(workload)")
        }
        var access = BenchAccess()
        access.tls = (try TLSContext(client: TLSContext.ClientFiles()), TLSServerName("127.0.0.1"))
        let naked = #expect(throws: BenchError.self) {
            try measured(tiny(.hot), server: .address(address, access: access, process: nil))
        }
        #expect(naked?.description.contains("does it have TLS") == true, "\(naked?.description ?? "")")
    }

    private static func serving(in directory: TemporaryDirectory) throws -> (ChildProcess, SocketAddress) {
        let catalogue = directory.file("bench.storekit")
        TemporaryDirectory.write(BenchCatalogue(viewBytes: 2_000).file(edition: 0), to: catalogue)
        return try Program.start(["serve", "--listen", "127.0.0.1:0", "--catalog", catalogue])
    }

    /// What is not answered is in no histogram of answers, and must not look as if nothing had happened.
    @Test(arguments: [Workload.hot, .buy]) func `on a server that freezes fails, with all that it waited`(
        _ workload: Workload
    ) throws {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.serving(in: directory)
        defer { child.kill() }
        var settings = tiny(workload, watches: workload == .buy ? 0 : 8)
        if workload == .buy { settings.keys = settings.writers }
        settings.rate = 200
        settings.warmupNanoseconds = 0
        settings.durationNanoseconds = 1_000_000_000
        settings.settleNanoseconds = 300_000_000
        let number = child.number
        var report = try measured(settings, server: .address(address, process: number)) { milliseconds in
            if milliseconds > 400 { kill(number, SIGSTOP) }
        }
        let figures = report.targets[0].figures
        #expect(figures[.lost] ?? 0 >= 50)
        #expect(figures[.answerMax] ?? 0 >= 300e6)
        #expect(workload == .buy || figures[.pushP90] ?? 0 >= 300e6)
        report.judge([])
        #expect(report.breaches.contains { $0.contains("had no answer") }, "\(report.breaches)")
    }

    @Test func `on a server that ends tells of its processor nothing that cannot be`() throws {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.serving(in: directory)
        defer { child.kill() }
        var settings = tiny(.hot, watches: 8)
        settings.rate = 200
        settings.durationNanoseconds = 1_000_000_000
        let number = child.number
        let report = try measured(settings, server: .address(address, process: number)) { milliseconds in
            if milliseconds > 500 { kill(number, SIGKILL) }
        }
        #expect(report.targets[0].failure?.contains("closed") == true, "\(report.targets[0].failure ?? "")")
        let figures = report.targets[0].figures
        #expect(figures[.deliveries] ?? 0 > 0)
        for figure in [Figure.serverCPU, .cpuPerMillion, .cpuPerConverged, .rssPerWatch] {
            #expect(figures[figure] ?? 0 >= 0, "\(figure.rawValue)")
        }
    }

    /// Whoever sees a server stand still presses Ctrl-C: just then it must not be as if nothing had been.
    @Test func `that is interrupted while its server stands still tells what was waiting`() throws {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.serving(in: directory)
        defer { child.kill() }
        var settings = tiny(.hot, watches: 8)
        settings.rate = 200
        settings.warmupNanoseconds = 0
        settings.durationNanoseconds = 5_000_000_000
        let number = child.number
        let report = try measured(settings, server: .address(address, process: number), isInterruptedAt: 1_000) {
            if $0 > 400 { kill(number, SIGSTOP) }
        }
        kill(number, SIGCONT)
        let figures = report.targets[0].figures
        #expect(report.targets[0].failure == Generator.interrupted)
        #expect(figures[.lost] ?? 0 >= 50)
        #expect(figures[.answerMax] ?? 0 >= 300e6 && figures[.pushMax] ?? 0 >= 300e6)
        #expect(figures[.due] == (figures[.answered] ?? 0) + (figures[.lost] ?? 0))
    }

    /// First values are timed by when they were meant to come, also those that did not.
    @Test func `of a storm that its server does not end tells how long the others waited`() throws {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.serving(in: directory)
        defer { child.kill() }
        var settings = tiny(.storm, watches: 60)
        settings.rate = 100
        let number = child.number
        let report = try measured(settings, server: .address(address, process: number), isInterruptedAt: 1_200) {
            if $0 > 400 { kill(number, SIGSTOP) }
        }
        kill(number, SIGCONT)
        let figures = report.targets[0].figures
        #expect(figures[.unopened] ?? 0 >= 10)
        #expect(figures[.firstMax] ?? 0 >= 400e6)
    }

    /// The values that come then pass changes over, and each of those has been waited for.
    @Test func `on a server that stands still for a while tells of every change that waited`() throws {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.serving(in: directory)
        defer { child.kill() }
        var settings = tiny(.hot, watches: 8)
        settings.rate = 200
        settings.warmupNanoseconds = 0
        settings.durationNanoseconds = 1_200_000_000
        let number = child.number
        let report = try measured(settings, server: .address(address, process: number)) { milliseconds in
            kill(number, milliseconds > 300 && milliseconds < 800 ? SIGSTOP : SIGCONT)
        }
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[.conflated] ?? 0 >= 8 * 50)
        // Of 240 changes a hundred waited for up to half a second.
        #expect(figures[.pushP90] ?? 0 >= 200e6)
    }

    /// A server as it stands somewhere: nothing without TLS, nothing without credentials.
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
    func `is done over TLS, with credentials`(_ workload: Workload) throws {
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
        // A purchase needs to say who it is.
        let refused = #expect(throws: BenchError.self) { try measured(settings, server: server(access)) }
        #expect(refused?.description.contains("UNAUTHENTICATED") == true, "\(refused?.description ?? "")")
        #expect(refused?.refusal == ServerRefusal(code: 16, reason: "UNAUTHENTICATED"), "for the exit code")
        // There is one server, so nobody needs to be told which.
        #expect(refused?.description.hasPrefix("perch: ") == false)

        access.authorization = authorization
        let report = try measured(settings, server: server(access))
        Self.expectSound(report)
        let figures = report.targets[0].figures
        #expect(figures[workload.hasWindow ? .deliveries : .opensPerSecond] ?? 0 > 0)
        #expect(report.settings.contains { $0.value == "\(address), over TLS" })
        // Whoever comes back goes on from the session that he had: else a resumption over TLS would measure handshakes.
        let resumed = figures[.tlsResumed] ?? -1
        switch workload {
        case .resume: #expect(resumed == Double(settings.connections))
        case .mixed: #expect(resumed > 0)
        default: #expect(resumed == 0)
        }
        let whole = (figures[.tlsHandshakes] ?? 0) - resumed
        let expected = Double(settings.writers + settings.connections)
        // One that is dropped before it was established has nothing to come back with.
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

    @Test func `is not begun where nobody listens`() throws {
        let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let address = Sockets.localAddress(listener.number)
        Sockets.close(listener.release())
        let error = #expect(throws: BenchError.self) {
            try measured(tiny(.hot), server: .address(address, process: nil))
        }
        #expect(error?.description.contains("refused") == true, "\(error?.description ?? "")")
    }

    @Test func `ends in order when it is interrupted, with what it has`() throws {
        var settings = tiny(.keyed)
        settings.durationNanoseconds = 3_600_000_000_000
        settings.rate = 100
        let report = try measured(settings, isInterruptedAfter: 200)
        #expect(report.targets[0].failure == Generator.interrupted)
        #expect(report.targets[0].figures[.deliveries] != nil)
    }

    @Test func `spreads watches over connections without losing one`() {
        for (watches, connections) in [(10, 3), (7, 7), (100, 1), (1_000, 999)] {
            var settings = BenchSettings(.keyed, watches: watches)
            settings.connections = connections
            let places = (0..<watches).map { Generator.connection(of: $0, settings) }
            #expect(places == places.sorted())
            #expect(Set(places) == Set(0..<connections))
        }
    }

    @Test func `of several loops has the other cores, and the generator's where they are too few`() {
        #expect(Bench.places(among: [0, 1], loops: 1) == [0])
        #expect(Bench.places(among: [0, 1], loops: 2) == [0, 1])
        #expect(Bench.places(among: [2, 3, 6, 7], loops: 2) == [2, 6, 7])
        #expect(Bench.places(among: [2, 3, 6, 7], loops: 4) == [2, 3, 6, 7])
        #expect(Bench.places(among: [5], loops: 2).isEmpty)
        // To wait for a core that was shared on purpose is not the finding of something else there.
        #expect(!Bench.sharesCore([0], among: [0, 1]) && Bench.sharesCore([0, 1], among: [0, 1]))
        #expect(!Bench.sharesCore([2, 6, 7], among: [2, 3, 6, 7]) && Bench.sharesCore([], among: [5]))
    }

    @Test func `that cannot be is refused with its numbers`() throws {
        var poor = BenchSettings(.buy, watches: 0)
        poor.keys = 63
        #expect(poor.refusal?.contains("64 writers need an account each, and there are 63") == true)
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
        #expect(endless.refusal?.contains("make it shorter") == true)

        let many = BenchSettings(.idle, watches: 2_000_000)
        let error = #expect(throws: BenchError.self) { try measured(many) }
        #expect(error?.description.contains("descriptors") == true, "\(error?.description ?? "")")
    }
}
