import PerchMetrics
import Testing

@Suite struct `the text for Prometheus` {
    private func text(_ fill: (inout MetricSamples) -> Void) -> String {
        var samples = MetricSamples()
        fill(&samples)
        return String(decoding: Exposition.text(samples), as: UTF8.self)
    }

    @Test func `writes help and type once for a name, followed by all of its labels`() {
        let text = self.text { samples in
            samples.add("a_total", labels: Exposition.label("x", "1"), 1, help: "A.")
            samples.add("b", 7, help: "B.")
            samples.add("a_total", labels: Exposition.label("x", "2"), 2, help: "A.")
            samples.add("a_total", labels: Exposition.label("x", "1"), 3, help: "A.")
        }
        #expect(
            text == """
                # HELP a_total A.
                # TYPE a_total counter
                a_total{x="1"} 4
                a_total{x="2"} 2
                # HELP b B.
                # TYPE b gauge
                b 7

                """)
    }

    @Test func `the text for Prometheus escapes characters that would end a label or a line`() {
        #expect(Exposition.label("x", "a\"b\\c\nd") == #"x="a\"b\\c\nd""#)
        #expect(self.text { $0.add("a", 1, help: "one\ntwo \\ three") }.hasPrefix(#"# HELP a one\ntwo \\ three"#))
    }

    @Test func `writes whole numbers without a fraction, and NaN and infinity as Prometheus expects`() {
        #expect(Exposition.number(3) == "3")
        #expect(Exposition.number(0.25) == "0.25")
        #expect(Exposition.number(.infinity) == "+Inf")
        #expect(Exposition.number(-.infinity) == "-Inf")
        #expect(Exposition.number(.nan) == "NaN")
        #expect(Exposition.number(1e300) == "1e+300")
    }

    @Test func `a histogram of times counts each value at or below the end of its bucket`() {
        var histogram = Histogram()
        // Values are truncated to microseconds: 15 means less than 16, and 16 means 16 or more.
        for value: UInt64 in [0, 15, 16, 1_023, 1_024, 40_000_000] { histogram.record(value) }
        let lines = self.text { $0.add(seconds: "t_seconds", histogram, help: "T.") }.split(separator: "\n")
        #expect(lines[1] == "# TYPE t_seconds histogram")
        #expect(lines[2] == #"t_seconds_bucket{le="1.6e-05"} 2"#)
        #expect(lines[3] == #"t_seconds_bucket{le="3.2e-05"} 3"#)
        #expect(lines.contains(#"t_seconds_bucket{le="0.001024"} 4"#))
        #expect(lines.contains(#"t_seconds_bucket{le="0.002048"} 5"#))
        #expect(lines.contains(#"t_seconds_bucket{le="16.777216"} 5"#))
        #expect(lines.contains(#"t_seconds_bucket{le="+Inf"} 6"#))
        #expect(lines.last == "t_seconds_count 6")
        #expect(lines[lines.count - 2] == "t_seconds_sum 40.002078")
    }

    @Test func `a histogram of counts ends its buckets at one less than a power of two`() {
        var histogram = Histogram()
        for value: UInt64 in [1, 2, 3, 4, 32_767, 32_768] { histogram.record(value) }
        let lines = self.text { $0.add(counts: "c", histogram, help: "C.") }.split(separator: "\n")
        #expect(lines[2] == #"c_bucket{le="1"} 1"#)
        #expect(lines[3] == #"c_bucket{le="3"} 3"#)
        #expect(lines[4] == #"c_bucket{le="7"} 4"#)
        #expect(lines.contains(#"c_bucket{le="32767"} 5"#))
        #expect(lines.contains(#"c_bucket{le="+Inf"} 6"#))
    }

    @Test func `histograms of several threads are merged`() {
        var samples = MetricSamples()
        var (one, other) = (Histogram(), Histogram())
        one.record(5)
        other.record(9)
        samples.add(seconds: "t_seconds", one, help: "T.")
        samples.add(seconds: "t_seconds", other, help: "T.")
        #expect(samples.families.count == 1)
        #expect(samples.samples.first { $0.name == "t_seconds_count" }?.value == 2)
        #expect(samples.samples.first { $0.name == "t_seconds_max" }?.value == 9e-6)
    }
}
