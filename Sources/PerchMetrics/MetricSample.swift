/// One measured value at one moment, named by the Prometheus conventions. Never with an account in a label.
package struct MetricSample: Hashable, Sendable {
    package var name: String
    /// `key="value"`, comma-separated; empty for none.
    package var labels: String
    package var value: Double
    package var help: String

    package init(_ name: String, labels: String = "", _ value: Double, help: String) {
        self.name = name
        self.labels = labels
        self.value = value
        self.help = help
    }
}

/// All values of one name: what Prometheus calls a family.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        /// Only grows while the process lives; its name ends in `_total`.
        case counter
        case gauge
        case histogram
    }

    /// What a histogram's integers stand for, and so where its buckets end.
    package enum Scale: Sendable {
        /// Recorded in whole microseconds, shown in seconds. A recorded 7 took 7 to 8 microseconds, so a bucket ends at a
        /// power of two microseconds, exactly.
        case microseconds
        /// Counted things. A bucket ends at one less than a power of two.
        case count
    }

    package let name: String
    package let kind: Kind
    package let help: String
    package fileprivate(set) var values: [(labels: String, value: Double)] = []
    package fileprivate(set) var histogram: (values: Histogram, scale: Scale)?
}

/// Figures of many owners, added up by name and label, in the order in which the names first came.
///
/// There is no shared registry that hot paths write to: each thread counts in plain integers of its own and hands over
/// a copy when it is asked. So counting needs neither a lock nor an atomic.
package struct MetricSamples: Sendable {
    package private(set) var families: [MetricFamily] = []
    private var index: [String: Int] = [:]
    private var series: [String: Int] = [:]

    package init() {}

    /// Adds to a counter or gauge that several threads have a share of. A name that ends in `_total` is a counter's.
    package mutating func add(_ name: String, labels: String = "", _ value: some BinaryInteger, help: String) {
        self.add(MetricSample(name, labels: labels, Double(value), help: help))
    }

    package mutating func add(_ name: String, labels: String = "", seconds value: Double, help: String) {
        self.add(MetricSample(name, labels: labels, value, help: help))
    }

    package mutating func add(_ sample: MetricSample) {
        let family = self.family(
            sample.name, sample.name.hasSuffix("_total") ? .counter : .gauge, help: sample.help)
        let key = sample.name + "{" + sample.labels
        if let known = self.series[key] {
            self.families[family].values[known].value += sample.value
        } else {
            self.series[key] = self.families[family].values.count
            self.families[family].values.append((sample.labels, sample.value))
        }
    }

    /// Adds to a histogram that was recorded in microseconds; its name ends in `_seconds`.
    package mutating func add(seconds name: String, _ histogram: Histogram, help: String) {
        self.add(histogram, .microseconds, name, help: help)
    }

    /// Adds to a histogram of counted things.
    package mutating func add(counts name: String, _ histogram: Histogram, help: String) {
        self.add(histogram, .count, name, help: help)
    }

    private mutating func add(_ histogram: Histogram, _ scale: MetricFamily.Scale, _ name: String, help: String) {
        let family = self.family(name, .histogram, help: help)
        var sum = self.families[family].histogram?.values ?? Histogram()
        sum.merge(histogram)
        self.families[family].histogram = (sum, scale)
    }

    private mutating func family(_ name: String, _ kind: MetricFamily.Kind, help: String) -> Int {
        if let known = self.index[name] {
            precondition(self.families[known].kind == kind, "\(name) is a \(kind) and something else")
            return known
        }
        self.index[name] = self.families.count
        self.families.append(MetricFamily(name: name, kind: kind, help: help))
        return self.families.count - 1
    }

    /// The sum over all labels; nil for a name that is not there, or is a histogram's.
    package func total(_ name: String) -> Double? {
        guard let known = self.index[name], self.families[known].kind != .histogram else { return nil }
        return self.families[known].values.reduce(0) { $0 + $1.value }
    }

    /// One value; nil where there is none of this name and these labels.
    package func value(_ name: String, labels: String = "") -> Double? {
        guard let family = self.index[name], let place = self.series[name + "{" + labels] else { return nil }
        return self.families[family].values[place].value
    }

    /// Each value apart. A histogram tells count, sum, maximum and three quantiles: what a person looks for first.
    package var samples: [MetricSample] {
        self.families.flatMap { family -> [MetricSample] in
            guard let (histogram, scale) = family.histogram else {
                return family.values.map { MetricSample(family.name, labels: $0.labels, $0.value, help: family.help) }
            }
            let unit = scale.unit
            var samples = [0.5, 0.99, 0.999].map { quantile in
                MetricSample(
                    family.name, labels: "quantile=\"\(quantile)\"",
                    Double(histogram.value(atQuantile: quantile)) * unit, help: family.help)
            }
            samples.append(MetricSample(family.name + "_count", Double(histogram.count), help: family.help))
            samples.append(MetricSample(family.name + "_sum", histogram.sum * unit, help: family.help))
            samples.append(MetricSample(family.name + "_max", Double(histogram.max) * unit, help: family.help))
            return samples
        }
    }
}

extension MetricFamily.Scale {
    /// What one of the recorded integers is worth.
    var unit: Double {
        switch self {
        case .microseconds: 1e-6
        case .count: 1
        }
    }

    /// Buckets end at these powers of two: 16 microseconds to 17 seconds, and 1 to 32,767 things.
    var exponents: ClosedRange<Int> {
        switch self {
        case .microseconds: 4...24
        case .count: 1...15
        }
    }

    /// The largest value of the bucket that ends at a power of two.
    func bound(_ exponent: Int) -> Double {
        switch self {
        case .microseconds: Double(1 << exponent) / 1e6
        case .count: Double((1 << exponent) - 1)
        }
    }
}
