import PerchBase
import PerchBench
import PerchLoop
import PerchModel
import PerchScenario
import PerchTesting
import PerchWire
import Testing
import TestingThreads

/// A scenario for several accounts.
@Suite(.onOwnThreads) struct `a scenario for many` {
    private static let text = """
        start 2026-01-31T10:00:00Z
        product gold monthly 9.99 group club level 2
        product silver monthly 4.99 group club level 3

        alice: buy gold as T1
        expect status club of alice: pushes once, subscribed gold
        expect entitlement gold of alice: pushes once, T1
        alice: buy silver asking to buy -> pending
        alice: approve silver
        +1mo
        expect status club of alice: pushes once
        refund T1 for alice
        expect updates of alice: revoked T1
        bob: buy gold
        """

    private static func script(_ text: String) throws -> Bench.Script {
        let parsed = ScenarioParser.parse(text) { (_) throws(ScenarioParser.CatalogueUnreadable) in ([], []) }
        try #require(parsed.faults.isEmpty, "\(parsed.faults.map(\.message))")
        return Bench.Script(parsed.scenario, file: "test.scenario") { (name) throws(ScenarioFailure) in
            throw ScenarioFailure("there is no \(name)")
        }
    }

    private static func settings(_ accounts: Int) -> BenchSettings {
        var settings = BenchSettings(.scenario)
        settings.keys = accounts
        settings.connections = accounts
        settings.rate = 2_000
        // A server that stands still for some seconds is no failure.
        settings.settleNanoseconds = 300_000_000_000
        return settings
    }

    @Test func `a scenario for many runs to its end for each account, with timed pushes`() throws {
        let report = try measured(Self.settings(8), script: Self.script(Self.text))
        let figures = report.targets[0].figures
        #expect(report.targets[0].failure == nil)
        #expect(report.targets[0].rounds[0].findings == [])
        #expect((figures[.plays], figures[.failures], figures[.refusals]) == (8, 0, 0))
        // Each account has at least the purchase on two streams, the renewal, and the refund.
        #expect(figures[.deliveries] ?? 0 >= 8 * 4)
        #expect(figures[.changes] ?? 0 >= 8 * 4)
        #expect(figures[.pushP99] ?? 0 > 0)
        #expect(report.text.contains { $0.hasPrefix("failures") })
    }

    @Test func `a scenario for many does not start if it fails for one account`() throws {
        let wrong = Self.text.replacing("subscribed gold", with: "expired gold")
        let error = #expect(throws: BenchError.self) {
            try measured(Self.settings(2), script: Self.script(wrong))
        }
        #expect(error?.description.contains("test.scenario:6:") == true, "\(error?.description ?? "")")
    }

    /// Changes the first account's record, so that the others differ.
    @Test func `a scenario for many counts accounts with different or missing data`() throws {
        let script = try Self.script(Self.text)
        let (address, _, trace) = try Self.traced(script)
        defer { address.child.kill() }
        var other = trace
        let line = try #require(other.passages.firstIndex { $0.text.contains("buy gold as T1") })
        let key = try #require(other.passages[line].pushes.keys.first { "\($0)".hasPrefix("entitlement") })
        other.passages[line].pushes[key] = [.currentEntitlementTask(.success(nil, ValueInfo()))]
        // An account may differ for another reason too: while the server stands still, any value is late.
        func differs(_ result: RoundResult, _ why: String) -> Bool {
            result.figures[.failures] == 3 && result.findings.first?.contains(why) == true
        }
        func silence(_ wait: Int64) -> String {
            "did not send within \(duration(nanoseconds: Double(wait) * 1e6)): none, but gold"
        }
        let (wrong, wait) = try scaled(until: { differs($0.0, silence($0.1)) }) { scale in
            (try Self.played(other, accounts: 3, wait: 300 * scale), 300 * scale)
        }
        #expect((wrong.figures[.failures], wrong.figures[.plays]) == (3, 0))
        #expect(wrong.findings.first?.contains(silence(wait)) == true, "\(wrong.findings)")
        // The round failed, and missing values count with their waiting time.
        #expect(
            wrong.failure != nil && wrong.figures[.pushMax] ?? 0 >= Double(wait) * 1e6, "\(wrong.figures)")

        var quiet = trace
        quiet.passages[line].pushes[key] = []
        let surprised = try scaled(until: { differs($0, "nothing more") }) { scale in
            try Self.played(quiet, accounts: 3, wait: 300 * scale)
        }
        #expect(surprised.figures[.failures] == 3)
        #expect(surprised.findings.first?.contains("nothing more") == true, "\(surprised.findings)")

        var refused = trace
        refused.passages[line].asks[0].request = .purchase(
            PurchaseRequest(account: "alice", order: PurchaseOrder(productID: "bronze")))
        let failed = try scaled(until: { differs($0, "refused") }) { scale in
            try Self.played(refused, accounts: 3, wait: 300 * scale)
        }
        #expect(failed.figures[.failures] == 3)
        #expect(failed.refusals.values.reduce(0, +) == 3)
        #expect(failed.failure?.contains("every account differs") == true)
    }

    private static func server() throws -> (child: ChildProcess, address: SocketAddress) {
        let directory = TemporaryDirectory()
        let catalogue = directory.file("bench.storekit")
        TemporaryDirectory.write(BenchCatalogue(viewBytes: 1_000).file(edition: 0), to: catalogue)
        let (child, address) = try Program.start([
            "serve", "--listen", "127.0.0.1:0", "--catalog", catalogue, "--loops", "1", "--clock",
            "2026-01-31T10:00:00Z",
        ])
        return (child, address)
    }

    private static func traced(
        _ script: Bench.Script
    ) throws -> ((child: ChildProcess, address: SocketAddress), ScenarioReport, ScenarioTrace) {
        let server = try Self.server()
        var options = ScenarioRunner.Options(address: "\(server.address)")
        options.ownsServer = true
        let (report, trace) = ScenarioRunner.trace(
            script.scenario, file: script.file, options: options, readFile: script.readFile)
        try #require(report.isPassed, "\(report.failure ?? "") \(report.differences.map(\.message))")
        return (server, report, trace)
    }

    /// `wait`: for values and answers, in milliseconds.
    private static func played(_ trace: ScenarioTrace, accounts: Int, wait: Int64 = 300) throws -> RoundResult {
        let server = try Self.server()
        defer { server.child.kill() }
        let loop = try EventLoop(name: "scenario-test")
        var settings = Self.settings(accounts)
        settings.settleNanoseconds = wait * 1_000_000
        let load = try ScenarioLoad(
            ScenarioProgram(trace, file: "test.scenario"), settings, address: server.address, serverProcess: nil,
            loop: loop
        ) { _ in }
        loop.run(load)
        return load.outcome
    }
}
