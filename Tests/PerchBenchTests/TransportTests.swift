import PerchBench
import PerchLoop
import PerchScenario
import PerchTesting
import Testing
import TestingThreads

/// The generator over gRPC, each time with a server of its own.
@Suite(.onOwnThreads) struct `a workload over gRPC` {
    private static func settings(_ workload: Workload, watches: Int = 24) -> BenchSettings {
        var settings = tiny(workload, watches: watches)
        settings.transport = .grpc
        return settings
    }

    private static func expectSound(_ report: BenchReport) {
        for target in report.targets {
            #expect(target.failure == nil, "\(target.name)")
            for figure in [Figure.lost, .gaps, .reorderings, .foreign, .refusals, .closes, .duplicates] {
                #expect(target.figures[figure] ?? 0 == 0, "\(target.name): \(figure.rawValue)")
            }
        }
    }

    @Test(arguments: [Workload.hot, .keyed, .mux, .buy])
    func `that changes accounts does the same work as over perch/1`(_ workload: Workload) throws {
        var settings = Self.settings(workload)
        settings.outstanding = min(settings.outstanding, 8)
        settings.durationNanoseconds = 400_000_000
        if workload == .buy {
            (settings.watches, settings.connections, settings.keys, settings.writers) = (0, 0, 40, 4)
            settings.outstanding = 4
        }
        let report = try measured(settings, hasFloor: true, hasOwnProtocol: true)
        Self.expectSound(report)
        #expect(report.targets.map(\.name) == ["perch", "floor", "perch/1"])
        for target in report.targets {
            #expect(target.figures[workload == .buy ? .changes : .deliveries] ?? 0 > 0, "\(target.name)")
        }
        if workload != .buy {
            // Numbers differ in their length.
            let lengths = [0, 2].map { report.targets[$0].figures[.valueBytes] ?? 0 }
            #expect(lengths[0] > 100 && abs(lengths[0] - lengths[1]) < 16, "\(lengths)")
            #expect(report.targets[0].figures[.encodingsPerChange] ?? 2 <= 1.01)
        }
        #expect(report.ratios(of: 2)[.cpuPerMillion] != nil || workload == .buy)
    }

    @Test(arguments: [Workload.storm, .resume, .idle])
    func `that connects opens every watch`(_ workload: Workload) throws {
        let report = try measured(Self.settings(workload))
        Self.expectSound(report)
        if workload == .resume { #expect(report.targets[0].figures[.unchanged] ?? 0 > 0) }
        if workload == .storm { #expect(report.targets[0].figures[.opensPerSecond] ?? 0 > 0) }
    }

    /// 3,000 calls have more bytes than the window of a connection, as have 3,000 changes at a time.
    @Test func `waits for the server's window`() throws {
        var settings = Self.settings(.mux, watches: 3_000)
        settings.outstanding = 3_000
        // A busy machine takes longer than a tiny run for one round.
        settings.durationNanoseconds = 2_000_000_000
        let report = try measured(settings)
        Self.expectSound(report)
        #expect(report.targets[0].figures[.deliveries] ?? 0 > 0)
    }

    @Test func `gives window back`() throws {
        var settings = Self.settings(.hot, watches: 16)
        settings.connections = 1
        settings.durationNanoseconds = 1_000_000_000
        // Else the server could send only 64 KiB on the connection.
        func hasWindow(_ target: BenchReport.Target) -> Bool {
            (target.figures[.deliveries] ?? 0) * (target.figures[.valueBytes] ?? 0) > 256 * 1024
        }
        let report = try measured(settings, hasEnough: hasWindow)
        Self.expectSound(report)
        #expect(hasWindow(report.targets[0]), "\(report.targets[0].figures)")
    }

    @Test func `reports the server's refusal with its reason`() throws {
        var settings = Self.settings(.hot)
        settings.product = "bench.nothing"
        let error = #expect(throws: BenchError.self) { try measured(settings) }
        #expect(error?.description.contains("PURCHASE_PRODUCT_UNAVAILABLE") == true, "\(error?.description ?? "")")
        #expect(error?.refusal?.code == 9, "\(String(describing: error?.refusal))")
    }

    @Test(arguments: [Workload.catalog, .mixed, .scenario])
    func `is refused if its requests are too long`(_ workload: Workload) {
        #expect(Self.settings(workload).refusal?.contains("use --transport perch") == true)
    }
}
