package import PerchBase
package import PerchJSON

extension BenchReport {
    /// Increase it when old readers would misread a new report.
    package static let formatVersion = 1

    package func json(_ layout: JSONWriter.Layout) throws(JSONOverflow) -> [UInt8] {
        var json = JSONWriter(limitBytes: 256 * 1024 * 1024, layout: layout)
        json.beginObject()
        json.member("type", "report")
        json.member("format", Self.formatVersion)
        json.member("title", self.title)
        json.member("workload", self.workload)
        json.member("perch_version", self.version)
        json.member("started_at", self.startedAt?.description ?? "")
        json.key("settings")
        json.beginObject()
        for (name, value) in self.settings { json.member(name, value) }
        json.endObject()
        json.key("machine")
        json.beginObject()
        json.member("kernel", self.machine.kernel)
        json.member("processor", self.machine.processorName)
        json.member("processors", self.machine.processors)
        json.key("load_before")
        json.double(self.machine.load)
        json.key("load_after")
        json.double(self.loadAfter)
        json.endObject()
        json.list("notes", self.notes)
        json.key("targets")
        json.beginArray()
        for (place, target) in self.targets.enumerated() { Self.write(target, self.ratios(of: place), &json) }
        json.endArray()
        json.key("ratios")
        json.figures(self.ratios)
        json.list("breaches", self.breaches)
        json.endObject()
        return try json.finish()
    }

    private static func write(_ target: Target, _ ratios: [Figure: Double], _ json: inout JSONWriter) {
        json.beginObject()
        json.member("name", target.name)
        json.member("generator_bound", target.generatorBound != nil)
        json.key("figures")
        json.figures(target.figures)
        json.key("ratios")
        json.figures(ratios)
        json.key("rounds")
        json.beginArray()
        for round in target.rounds { Self.write(round, &json) }
        json.endArray()
        json.endObject()
    }

    private static func write(_ round: RoundResult, _ json: inout JSONWriter) {
        json.beginObject()
        if let failure = round.failure { json.member("failure", failure) }
        if let reason = round.generatorBound { json.member("generator_bound", reason) }
        json.key("figures")
        json.figures(round.figures)
        json.counts("closes", round.closes)
        json.counts("refusals", round.refusals)
        json.list("findings", round.findings)
        json.key("percentiles")
        json.beginArray()
        for each in round.percentiles {
            json.beginObject()
            json.key("quantile")
            json.double(each.quantile)
            json.member("ns", each.nanoseconds)
            json.endObject()
        }
        json.endArray()
        json.key("intervals")
        json.beginArray()
        for interval in round.intervals { json.interval(interval) }
        json.endArray()
        json.endObject()
    }

    /// One line for one second of progress.
    package static func json(_ news: Bench.News) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", "interval")
        json.member("target", news.target)
        json.member("round", news.round)
        json.member("stage", news.progress.stage)
        json.member("connections", news.progress.connections)
        json.key("interval")
        json.interval(news.progress.interval)
        json.endObject()
        do throws(JSONOverflow) {
            return try json.finish()
        } catch {
            preconditionFailure("cannot write a line of progress: \(error)")
        }
    }
}

extension JSONWriter {
    /// In the order of the table, so that equal reports have equal text.
    fileprivate mutating func figures(_ values: [Figure: Double]) {
        self.beginObject()
        for figure in Figure.allCases {
            guard let value = values[figure] else { continue }
            self.key(figure.rawValue)
            self.double(value)
        }
        self.endObject()
    }

    fileprivate mutating func counts(_ key: String, _ values: [String: Int]) {
        self.key(key)
        self.beginObject()
        for (name, count) in values.sorted(by: { $0.key < $1.key }) { self.member(name, count) }
        self.endObject()
    }

    fileprivate mutating func list(_ key: String, _ values: [String]) {
        self.key(key)
        self.beginArray()
        for value in values { self.string(value) }
        self.endArray()
    }

    fileprivate mutating func interval(_ value: Recorder.Interval) {
        self.beginObject()
        for (key, number) in [
            ("end_s", value.end), ("length_s", value.length), ("server_cpu", value.serverCPU),
            ("generator_cpu", value.generatorCPU),
        ] {
            self.key(key)
            self.double(number)
        }
        self.member("deliveries", value.deliveries)
        self.member("changes", value.changes)
        self.member("opens", value.opens)
        for (key, time) in [
            ("push_p50_ns", value.pushP50), ("push_p99_ns", value.pushP99), ("push_max_ns", value.pushMax),
        ] {
            self.key(key)
            if let time { self.integer(time) } else { self.null() }
        }
        self.member("rss_bytes", value.residentBytes)
        if value.isAfterWindow { self.member("after_window", true) }
        self.endObject()
    }
}

/// The figures of an earlier report, for a comparison.
package struct ReportFigures: Sendable {
    package var title: String
    package var settings: [String: String]
    package var workload: String
    package var version = ""
    package var startedAt: Instant?
    package var targets: [Target]
    /// Rounds of the first target, for charts.
    package var rounds: [RoundResult]

    /// The machine's properties in order, each with its name.
    package var machine: [(name: String, value: String)] = []

    package struct Target: Sendable {
        package var name: String
        package var isGeneratorBound: Bool
        /// The reason why one of its rounds failed; nil if none did.
        package var failure: String?
        package var figures: [Figure: Double]
        /// The ratios to the baseline server, or to the other target.
        package var ratios: [Figure: Double] = [:]
        /// Figures of each round if there are several, to estimate the noise.
        package var rounds: [[Figure: Double]] = []
    }

    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Reads a report, or the last line of its ndjson.
    package init(_ bytes: [UInt8]) throws(Fault) {
        var limits = JSONLimits()
        limits.bytes = bytes.count
        limits.values = .max
        let last = bytes.split(separator: UInt8(ascii: "\n")).last.map { Array($0) } ?? []
        let isLines = last.first == UInt8(ascii: "{") && last.count > 1
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONReader.read(isLines ? last : bytes, limits: limits)
        } catch {
            throw Fault(description: "is not JSON: \(error)")
        }
        guard document["type"]?.string == "report", let format = document["format"]?.integer else {
            throw Fault(description: "is not a report of perch bench; create one with --output json")
        }
        guard format == BenchReport.formatVersion else {
            throw Fault(
                description:
                    "has report format \(format), this program reads format \(BenchReport.formatVersion)")
        }
        self.title = document["title"]?.string ?? ""
        self.workload = document["workload"]?.string ?? ""
        self.version = document["perch_version"]?.string ?? ""
        self.startedAt = document["started_at"]?.string.flatMap { CivilTime(parsing: $0) }?.instant
        self.rounds = (document["targets"]?.array?.first?["rounds"]?.array ?? []).map { Self.round($0) }
        self.settings = [:]
        for member in document["settings"]?.members ?? [] { self.settings[member.key] = member.value.string }
        let machine = document["machine"]
        self.machine = [
            ("kernel", machine?["kernel"]?.string ?? ""), ("processor", machine?["processor"]?.string ?? ""),
            ("processors", machine?["processors"]?.integer.map { "\($0)" } ?? ""),
        ]
        guard let targets = document["targets"]?.array, !targets.isEmpty else {
            throw Fault(description: "contains no measurements: it has no targets")
        }
        self.targets = targets.map { target in
            let rounds = target["rounds"]?.array ?? []
            return Target(
                name: target["name"]?.string ?? "", isGeneratorBound: target["generator_bound"]?.boolean ?? false,
                failure: rounds.lazy.compactMap { $0["failure"]?.string }.first,
                figures: Self.figures(target["figures"]), ratios: Self.figures(target["ratios"]),
                rounds: rounds.map { Self.figures($0["figures"]) })
        }
    }

    private static func figures(_ json: JSONValue?) -> [Figure: Double] {
        var figures: [Figure: Double] = [:]
        for member in json?.members ?? [] {
            guard let figure = Figure(rawValue: member.key) else { continue }
            figures[figure] = member.value.double
        }
        return figures
    }

    private static func round(_ json: JSONValue) -> RoundResult {
        var round = RoundResult()
        round.percentiles = (json["percentiles"]?.array ?? []).map {
            RoundResult.Percentile(quantile: $0["quantile"]?.double ?? 0, nanoseconds: Self.whole($0["ns"]))
        }
        round.intervals = (json["intervals"]?.array ?? []).map { json in
            func number(_ key: String) -> Double { json[key]?.double ?? 0 }
            var interval = Recorder.Interval()
            (interval.end, interval.length) = (number("end_s"), number("length_s"))
            (interval.serverCPU, interval.generatorCPU) = (number("server_cpu"), number("generator_cpu"))
            interval.deliveries = UInt64(Self.whole(json["deliveries"]))
            interval.changes = UInt64(Self.whole(json["changes"]))
            interval.opens = UInt64(Self.whole(json["opens"]))
            interval.pushP50 = Self.time(json["push_p50_ns"])
            interval.pushP99 = Self.time(json["push_p99_ns"])
            interval.pushMax = Self.time(json["push_max_ns"])
            interval.isAfterWindow = json["after_window"]?.boolean ?? false
            interval.residentBytes = Int(Self.whole(json["rss_bytes"]))
            return interval
        }
        return round
    }

    /// Nil for null, and for 0, which earlier formats used for missing values.
    private static func time(_ value: JSONValue?) -> Int64? {
        let nanoseconds = Self.whole(value)
        return nanoseconds > 0 ? nanoseconds : nil
    }

    /// Reads a number of an untrusted file; 0 for invalid or out-of-range numbers.
    private static func whole(_ value: JSONValue?) -> Int64 {
        max(0, value?.double.flatMap { Int64(exactly: $0.rounded()) } ?? 0)
    }
}
