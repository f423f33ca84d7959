import PerchBench
import Testing

@Suite struct `a condition to fail on` {
    struct Written: CustomTestStringConvertible {
        let text: String
        let figure: Figure
        let relation: FailCondition.Relation
        let bound: Double
        var isRatio = false

        var testDescription: String { self.text }
    }

    @Test(arguments: [
        Written(text: "push_p99>20ms", figure: .pushP99, relation: .above, bound: 20e6),
        Written(text: "push_p50 >= 1.5us", figure: .pushP50, relation: .atLeast, bound: 1_500),
        Written(text: "first_max<2s", figure: .firstMax, relation: .below, bound: 2e9),
        Written(text: "gaps>0", figure: .gaps, relation: .above, bound: 0),
        Written(text: "gaps!=0", figure: .gaps, relation: .unequal, bound: 0),
        Written(text: "push_max==0", figure: .pushMax, relation: .equal, bound: 0),
        Written(text: "cpu_per_million>4s", figure: .cpuPerMillion, relation: .above, bound: 4),
        Written(text: "rss_per_connection<=1KiB", figure: .rssPerConnection, relation: .atMost, bound: 1_024),
        Written(text: "rss_per_watch>256", figure: .rssPerWatch, relation: .above, bound: 256),
        Written(text: "generator_cpu>90%", figure: .generatorCPU, relation: .above, bound: 0.9),
        Written(text: "server_cpu>0", figure: .serverCPU, relation: .above, bound: 0),
        Written(text: "refused_share>1%", figure: .refusedShare, relation: .above, bound: 0.01),
        Written(text: "changes_per_second<500/s", figure: .changesPerSecond, relation: .below, bound: 500),
        Written(text: "bytes_per_second>1MB/s", figure: .bytesPerSecond, relation: .above, bound: 1e6),
        Written(text: "rss>1GiB", figure: .residentBytes, relation: .above, bound: 1_073_741_824),
        Written(text: "deliveries_per_second<100000", figure: .deliveriesPerSecond, relation: .below, bound: 100_000),
        Written(
            text: "deliveries_per_second:ratio<0.9", figure: .deliveriesPerSecond, relation: .below, bound: 0.9,
            isRatio: true),
    ])
    func `a condition to fail on is parsed from its text`(_ written: Written) throws {
        let condition = try FailCondition(parsing: written.text)
        #expect(condition.figure == written.figure)
        #expect(condition.relation == written.relation)
        #expect(abs(condition.bound - written.bound) < 1e-9 * max(1, written.bound))
        #expect(condition.isRatio == written.isRatio)
        #expect(condition.description == written.text)
    }

    @Test(arguments: [
        ("push_p99", "has no comparison"), ("", "has no comparison"), ("push_p98>20ms", "which is not a figure"),
        (">20ms", "which is not a figure"), ("push_p99>20", "which has no unit"),
        ("push_p99>fast", "expected a number"),
        ("push_p99>20min", "the unit \"min\""), ("push_p99>", "expected a number"), ("gaps>1ms", "it takes none"),
        ("push_p99>.5ms", "expected a number"), ("push_p99=>20ms", "which is not a figure"),
        ("gaps:ratio>1", "has none"), ("gaps>1>2", "the unit \">2\""), ("server_cpu>50", "write shares in %"),
        ("refused_share>0.01", "write shares in %"), ("rss>1MB/s", "the unit \"MB/s\""),
    ])
    func `a condition to fail on is refused with a reason`(_ text: String, _ reason: String) {
        let fault = #expect(throws: FailCondition.Fault.self) { try FailCondition(parsing: text) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }

    @Test func `a mistyped figure gets a suggestion`() {
        let fault = #expect(throws: FailCondition.Fault.self) { try FailCondition(parsing: "psuh_p99>20ms") }
        #expect(fault?.word == "psuh_p99")
        #expect(fault?.candidates.contains("push_p99") == true)
    }

    @Test func `reports the measured value if it holds`() throws {
        let figures: [Figure: Double] = [.pushP99: 25e6, .gaps: 0]
        #expect(
            try FailCondition(parsing: "push_p99>20ms").breach(in: figures, ratios: [:], isCompared: false)
                == "push_p99>20ms: it is 25.0 ms")
        #expect(try FailCondition(parsing: "push_p99>30ms").breach(in: figures, ratios: [:], isCompared: false) == nil)
        #expect(try FailCondition(parsing: "gaps>0").breach(in: figures, ratios: [:], isCompared: false) == nil)
        #expect(
            try FailCondition(parsing: "push_p99:ratio>1.2").breach(
                in: figures, ratios: [.pushP99: 1.5], isCompared: true)
                == "push_p99:ratio>1.2: it is 1.500")
    }

    @Test func `on an unmeasured figure fails the bench`() throws {
        let unmeasured = try FailCondition(parsing: "first_p99>1s").breach(in: [:], ratios: [:], isCompared: false)
        #expect(unmeasured?.contains("did not measure first_p99") == true)
        let alone = try FailCondition(parsing: "push_p50:ratio>1").breach(
            in: [.pushP50: 1], ratios: [:], isCompared: false)
        #expect(alone?.contains("add --floor") == true)
        let both = try FailCondition(parsing: "push_p50:ratio>1").breach(
            in: [.pushP50: 1], ratios: [:], isCompared: true)
        #expect(both?.hasSuffix("on both sides") == true)
        let blind = try FailCondition(parsing: "cpu_per_million>1s").breach(in: [:], ratios: [:], isCompared: false)
        #expect(blind?.contains("add --pid") == true)
    }

    @Test func `a condition to fail on fails if the generator was the bottleneck`() throws {
        #expect(RoundResult.generatorBound(share: 0.949, lagNanoseconds: 5_000_000) == nil)
        #expect(RoundResult.generatorBound(share: 0.95, lagNanoseconds: 0)?.contains("95 % of its core") == true)
        let behind = RoundResult.generatorBound(share: 0.1, lagNanoseconds: 5_000_001)
        #expect(behind?.contains("at p99 was 5.00 ms") == true)
        func late(_ lag: Int64, of push: Int64) -> String? {
            RoundResult.generatorBound(share: 0.1, lagNanoseconds: lag, pushNanoseconds: push)
        }
        #expect(late(2_430_000, of: 2_620_000)?.contains("more than half") == true)
        #expect(late(2_430_000, of: 4_860_000) == nil)
        #expect(late(999_999, of: 1_000_000) == nil, "a short delay is the machine's")
        let elsewhere = RoundResult.generatorBound(share: 0.2, wait: 0.52, lagNanoseconds: nil)
        #expect(elsewhere?.contains("waited 52 % of the time for its core") == true)
        #expect(RoundResult.generatorBound(share: 0.2, wait: 0.09, lagNanoseconds: nil) == nil)

        var round = RoundResult()
        round.figures = [.gaps: 0]
        round.generatorBound = RoundResult.generatorBound(share: 0.99, lagNanoseconds: 0)
        var report = BenchReport(title: "hot", workload: "hot")
        report.targets = [BenchReport.Target(name: "perch", rounds: [round])]
        report.check([try FailCondition(parsing: "gaps>0")])
        #expect(report.breaches.count == 1)
        #expect(report.breaches.first?.hasPrefix("generator-bound: with perch") == true)
        // Without a condition a generator-bound round is reported, but the bench succeeds.
        report.check([])
        #expect(report.breaches.isEmpty)
    }

    @Test func `a condition to fail on is not needed to fail a round that did not measure its purpose`() {
        func end(closed: Int = 0, refused: UInt64 = 0, due: UInt64 = 0) -> String? {
            RoundResult.badEnd(
                closedUnasked: closed, closes: closed > 0 ? ["WRITE_STALLED": closed] : [:], refused: refused, due: due,
                refusals: refused > 0 ? ["CALL_RATE": Int(refused), "A": 1] : [:])
        }
        #expect(end() == nil && end(due: 10) == nil)
        #expect(
            end(closed: 20)?.hasPrefix("the server closed 20 connections of watchers that were reading (WRITE_STALLED")
                == true)
        // Some refusals may be the subject of the measurement; most refusals are not.
        #expect(end(refused: 4, due: 10) == nil)
        #expect(end(refused: 5, due: 10)?.hasPrefix("the server refused 5 of 10 changes (A 1, CALL_RATE 5)") == true)
        #expect(end(refused: 10, due: 10) != nil)
    }
}
