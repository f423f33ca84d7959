import Glibc
import PerchBench
import PerchLoop
import PerchWire
import Testing

@Suite struct `a server's counters` {
    private static func counters(_ changes: Double, _ commits: Double, _ encodings: Double) -> ServerCounters {
        ServerCounters([
            Metric(name: "perch_store_changes_total", value: changes),
            Metric(name: "perch_store_batches_total", value: commits),
            // From two loops.
            Metric(name: "perch_views_encoded_total", labels: "loop=\"0\"", value: encodings),
            Metric(name: "perch_views_encoded_total", labels: "loop=\"1\"", value: encodings),
            Metric(name: "perch_connections", value: 7),
        ])
    }

    @Test func `a server's counters are reported for each change and each commit`() {
        let figures = ServerCounters.figures(from: Self.counters(10, 5, 4), to: Self.counters(110, 15, 54))
        #expect(figures[.changesPerCommit] == 10)
        #expect(figures[.encodingsPerChange] == 1)
        #expect(figures[.compressionsPerChange] == 0)
    }

    @Test func `give no figures without changes or counters`() {
        let same = Self.counters(10, 5, 4)
        #expect(ServerCounters.figures(from: same, to: same).isEmpty)
        #expect(ServerCounters.figures(from: ServerCounters(), to: ServerCounters([])).isEmpty)
        // The baseline server without a store reports changes but no commits.
        let figures = ServerCounters.figures(from: Self.counters(0, 0, 0), to: Self.counters(9, 0, 0))
        #expect(figures.isEmpty)
    }
}

@Suite struct `figures of a process` {
    /// No upper bound, because other tests run on other threads of this process.
    @Test func `are finer than a hundredth of a second`() throws {
        let before = try #require(ProcessFigures(process: getpid()))
        let began = ThreadClock.nanoseconds()
        while ThreadClock.nanoseconds() < began + 1_000_000 {}
        let after = try #require(ProcessFigures(process: getpid()))
        #expect(after.cpuSeconds - before.cpuSeconds >= 0.001)
        #expect(after.residentBytes > 1_000_000)
    }

    @Test func `count the sleeps of a thread`() {
        let before = ProcessFigures.threadSleeps()
        for _ in 0..<5 { poll(nil, 0, 1) }
        let after = ProcessFigures.threadSleeps()
        #expect(after - before >= 5 && after - before < 100)
    }

    @Test func `are nil for a missing process`() {
        #expect(ProcessFigures(process: Int32.max) == nil)
    }
}

@Suite struct `the measurement window` {
    @Test func `the measurement window contains planned events by second and in total, and received values`() {
        var recorder = Recorder()
        recorder.begin(at: 1_000)
        recorder.recordPush(intended: 999, arrived: 1_100)
        recorder.recordReached([998, 999, 1_000].span, arrived: 1_010)
        recorder.tick(at: 1_500, residentBytes: 0, serverCPU: 0, generatorCPU: 0)
        recorder.recordPush(intended: 1_900, arrived: 1_930, times: 3)
        recorder.end(at: 2_000)
        recorder.recordReached([1_000, 1_001].span, arrived: 2_000, isTimed: false)
        // Planned in the window, but late.
        recorder.recordPush(intended: 1_999, arrived: 5_000)
        recorder.recordMissedAnswer(intended: 1_999, at: 9_999)
        recorder.recordMissedAnswer(intended: 2_000, at: 9_999)
        #expect((recorder.deliveries, recorder.conflated) == (1, 2))
        #expect((recorder.push.count, recorder.push.value(atQuantile: 0), recorder.push.max) == (5, 10, 3_001))
        #expect((recorder.answer.count, recorder.changes) == (1, 0))
        #expect(recorder.intervals.map(\.pushMax) == [10])
        // Events after the window have their own interval.
        recorder.tick(at: 2_000, residentBytes: 0, serverCPU: 0, generatorCPU: 0)
        #expect(!recorder.hasNews)
        recorder.recordPush(intended: 1_000, arrived: 6_000)
        #expect(recorder.hasNews)
        recorder.tick(at: 7_000, residentBytes: 0, serverCPU: 0, generatorCPU: 0)
        #expect(recorder.intervals.map(\.isAfterWindow) == [false, false, true])
        #expect(recorder.intervals.map(\.pushMax) == [10, 3_001, 5_000])
    }

    @Test func `the measurement window counts every due change by its result`() {
        var recorder = Recorder()
        recorder.begin(at: 1_000)
        recorder.end(at: 2_000)
        recorder.recordDue(intended: 999, at: 1_000)
        for intended in [Int64(1_000), 1_500, 1_999] { recorder.recordDue(intended: intended, at: 2_000) }
        recorder.recordDue(intended: 1_990, at: 2_000, times: 2, isSent: false)
        recorder.recordRefusal(intended: 1_000)
        recorder.recordRefusal(intended: 2_000)
        recorder.recordAnswer(intended: 1_999, at: 1_999)
        recorder.recordAnswer(intended: 1_500, at: 9_000)
        recorder.recordAnswer(intended: 10, at: 1_001)
        #expect((recorder.due, recorder.unsent, recorder.refused, recorder.answered) == (5, 2, 1, 2))
        #expect(recorder.changes == 2, "one answer to an earlier change, and one to a change of the window")
        #expect(recorder.lag.count == 5)
    }

    @Test func `the measurement window contains every first value planned in it, even late ones`() {
        var recorder = Recorder()
        recorder.begin(at: 1_000)
        recorder.end(at: 2_000)
        recorder.recordFirst(intended: 900, at: 1_100)
        recorder.recordFirst(intended: 1_000, at: 1_100)
        recorder.recordFirst(intended: 1_500, at: 5_000)
        recorder.recordMissedFirst(intended: 1_600, at: 9_000)
        #expect((recorder.opens, recorder.first.count, recorder.first.max) == (2, 3, 7_400))
    }

    @Test func `the measurement window has no times without pushes`() {
        var recorder = Recorder()
        recorder.begin(at: 0)
        recorder.tick(at: 1_000, residentBytes: 0, serverCPU: 0, generatorCPU: 0)
        #expect(recorder.intervals[0].pushP50 == nil && recorder.intervals[0].pushMax == nil)
    }

    @Test func `first values are kept separate from pushes`() {
        var recorder = Recorder()
        recorder.isAboutFirsts = true
        recorder.begin(at: 0)
        recorder.recordFirst(intended: 0, at: 50)
        recorder.recordPush(intended: 1, arrived: 9)
        recorder.tick(at: 100, residentBytes: 0, serverCPU: 0, generatorCPU: 0)
        #expect((recorder.push.count, recorder.push.max, recorder.intervals[0].pushMax) == (1, 8, 50))
    }
}

@Suite struct `memory growth` {
    private static func recorder(_ bytes: [Int]) -> Recorder {
        var recorder = Recorder()
        recorder.begin(at: 0)
        for (second, bytes) in bytes.enumerated() {
            recorder.tick(
                at: Int64(second + 1) * 1_000_000_000, residentBytes: bytes, serverCPU: 0, generatorCPU: 0)
        }
        return recorder
    }

    @Test func `is the slope over the second half`() throws {
        // A cache fills in the first twenty seconds; then memory grows by 1,000 bytes a second.
        let bytes = (0..<40).map { $0 < 20 ? 1_000_000 * $0 : 20_000_000 + 1_000 * $0 }
        let growth = try #require(Self.recorder(bytes).residentGrowthPerSecond)
        #expect(abs(growth - 1_000) < 0.001)
        let flat = try #require(Self.recorder(Array(repeating: 5_000_000, count: 40)).residentGrowthPerSecond)
        #expect(flat == 0)
    }

    @Test func `is nil for a short run, or for an unreadable process`() {
        #expect(Self.recorder(Array(repeating: 5_000_000, count: 28)).residentGrowthPerSecond == nil)
        #expect(Self.recorder(Array(repeating: 0, count: 60)).residentGrowthPerSecond == nil)
    }
}

@Suite struct `the catalogue of a bench` {
    @Test func `the catalogue of a bench has different editions of equal length`() {
        let catalogue = BenchCatalogue(viewBytes: 5_000)
        let editions = [0, 1, 2, 99, 999_999].map { catalogue.file(edition: $0) }
        #expect(Set(editions).count == editions.count)
        #expect(Set(editions.map(\.count)).count == 1)
    }
}

@Suite struct `the store of the baseline server` {
    private static func source(_ path: String) throws -> String {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        let root = parts.dropLast(3).joined(separator: "/")
        return try #require(ProcessFigures.text("\(root)/\(path)"), "\(path) cannot be read")
    }

    /// The `CREATE …` statements, without the layout.
    private static func statements(_ source: String) -> [String] {
        source.split { "\";".contains($0) }.map(String.init).reduce(into: [String]()) { found, piece in
            let words = piece.split { " \n\\".contains($0) }.joined(separator: " ")
            if words.hasPrefix("CREATE ") {
                found.append(words)
            } else if let last = found.last, last.contains("("),
                last.filter({ $0 == "(" }).count > last.filter({ $0 == ")" }).count
                    || words == "WITHOUT ROWID"
            {
                found[found.count - 1] = "\(last) \(words)"
            }
        }.map { $0.replacing("  ", with: " ").replacing("( ", with: "(").replacing(" )", with: ")") }
    }

    /// With other tables the baseline server would measure something else.
    @Test func `the store of the baseline server has the same tables and indexes as Perch's store`() throws {
        let own = Self.statements(try Self.source("Sources/CPerchFloor/store.c"))
        let real = Self.statements(try Self.source("Sources/PerchSQLite/Schema.swift"))
        #expect(own.count == 6)
        for statement in own { #expect(real.contains(statement), "\(statement)\n\(real)") }
    }
}
