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
        Written(text: "deliveries_per_second<100000", figure: .deliveriesPerSecond, relation: .below, bound: 100_000),
        Written(
            text: "deliveries_per_second:ratio<0.9", figure: .deliveriesPerSecond, relation: .below, bound: 0.9,
            isRatio: true),
    ])
    func `is read as it is written`(_ written: Written) throws {
        let condition = try FailCondition(parsing: written.text)
        #expect(condition.figure == written.figure)
        #expect(condition.relation == written.relation)
        #expect(abs(condition.bound - written.bound) < 1e-9 * max(1, written.bound))
        #expect(condition.isRatio == written.isRatio)
        #expect(condition.description == written.text)
    }

    @Test(arguments: [
        ("push_p99", "has no comparison"), ("", "has no comparison"), ("push_p98>20ms", "which is no figure"),
        (">20ms", "which is no figure"), ("push_p99>20", "which has no unit"), ("push_p99>fast", "should be a number"),
        ("push_p99>20min", "the unit \"min\""), ("push_p99>", "should be a number"), ("gaps>1ms", "it takes none"),
        ("push_p99>.5ms", "should be a number"), ("push_p99=>20ms", "which is no figure"),
        ("gaps:ratio>1", "has none"), ("gaps>1>2", "the unit \">2\""),
    ])
    func `is refused with what is wrong`(_ text: String, _ reason: String) {
        let fault = #expect(throws: FailCondition.Fault.self) { try FailCondition(parsing: text) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }

    @Test func `that misses its figure by a letter names what there is`() {
        let fault = #expect(throws: FailCondition.Fault.self) { try FailCondition(parsing: "psuh_p99>20ms") }
        #expect(fault?.word == "psuh_p99")
        #expect(fault?.candidates.contains("push_p99") == true)
    }

    @Test func `holds or not, and says what was measured`() throws {
        let figures: [Figure: Double] = [.pushP99: 25e6, .gaps: 0]
        #expect(
            try FailCondition(parsing: "push_p99>20ms").breach(in: figures, ratios: [:])
                == "push_p99>20ms: it is 25.0 ms")
        #expect(try FailCondition(parsing: "push_p99>30ms").breach(in: figures, ratios: [:]) == nil)
        #expect(try FailCondition(parsing: "gaps>0").breach(in: figures, ratios: [:]) == nil)
        #expect(
            try FailCondition(parsing: "push_p99:ratio>1.2").breach(in: figures, ratios: [.pushP99: 1.5])
                == "push_p99:ratio>1.2: it is 1.500")
    }

    @Test func `on what was not measured is a failure, and not a pass`() throws {
        let unmeasured = try FailCondition(parsing: "first_p99>1s").breach(in: [:], ratios: [:])
        #expect(unmeasured?.contains("has not measured first_p99") == true)
        let alone = try FailCondition(parsing: "push_p50:ratio>1").breach(in: [.pushP50: 1], ratios: [:])
        #expect(alone?.contains("give --floor") == true)
    }

    @Test func `fails with a reason of its own where the generator was the bottleneck`() throws {
        #expect(RoundResult.generatorBound(share: 0.949, lagNanoseconds: 5_000_000) == nil)
        #expect(RoundResult.generatorBound(share: 0.95, lagNanoseconds: 0)?.contains("95 % of its core") == true)
        #expect(RoundResult.generatorBound(share: 0.1, lagNanoseconds: 5_000_001)?.contains("5.00 ms late") == true)

        var round = RoundResult()
        round.figures = [.gaps: 0]
        round.generatorBound = RoundResult.generatorBound(share: 0.99, lagNanoseconds: 0)
        var report = BenchReport(title: "hot", workload: "hot")
        report.targets = [BenchReport.Target(name: "perch", rounds: [round])]
        report.judge([try FailCondition(parsing: "gaps>0")])
        #expect(report.breaches.count == 1)
        #expect(report.breaches.first?.hasPrefix("generator-bound: with perch") == true)
        // Who asked for nothing is shown it, and not failed.
        report.judge([])
        #expect(report.breaches.isEmpty)
    }
}
