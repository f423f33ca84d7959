/// One measured value at one moment, named by the Prometheus conventions. Labels must not contain an account.
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

/// All values of one name: a Prometheus metric family.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        /// Only grows while the process runs; its name ends in `_total`.
        case counter
        case gauge
        case histogram
    }

    /// The unit of a histogram's integers, which determines its bucket ends.
    package enum Scale: Sendable {
        /// Recorded in whole microseconds, exposed in seconds. A recorded 7 took 7 to 8 microseconds, so a bucket ends
        /// exactly at a power of two microseconds.
        case microseconds
        /// Counted items. A bucket ends at one less than a power of two.
        case count
    }

    package let name: String
    package let kind: Kind
    package let help: String
    package fileprivate(set) var values: [(labels: String, value: Double)] = []
    package fileprivate(set) var histogram: (values: Histogram, scale: Scale)?
}

/// Metrics of several threads, added up by name and label, in the order in which names first appear.
///
/// There is no shared registry on hot paths. Each thread counts in its own plain integers and returns a copy on
/// request, so counting needs neither a lock nor an atomic.
package struct MetricSamples: Sendable {
    package private(set) var families: [MetricFamily] = []
    private var index: [String: Int] = [:]
    private var series: [String: Int] = [:]

    package init() {}

    /// Adds to a counter or gauge to which several threads contribute. A name that ends in `_total` is a counter.
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

    /// Adds to a histogram recorded in microseconds; its name ends in `_seconds`.
    package mutating func add(seconds name: String, _ histogram: Histogram, help: String) {
        self.add(histogram, .microseconds, name, help: help)
    }

    /// Adds to a histogram of counted items.
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
            precondition(self.families[known].kind == kind, "\(name) is used as \(kind) and as another kind")
            return known
        }
        self.index[name] = self.families.count
        self.families.append(MetricFamily(name: name, kind: kind, help: help))
        return self.families.count - 1
    }

    /// The sum over all labels; nil for an unknown name or a histogram.
    package func total(_ name: String) -> Double? {
        guard let known = self.index[name], self.families[known].kind != .histogram else { return nil }
        return self.families[known].values.reduce(0) { $0 + $1.value }
    }

    /// One value; nil unless the name has these labels.
    package func value(_ name: String, labels: String = "") -> Double? {
        guard let family = self.index[name], let place = self.series[name + "{" + labels] else { return nil }
        return self.families[family].values[place].value
    }

    /// All values as single samples. A histogram becomes its count, sum, maximum and three quantiles.
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
    /// The factor from recorded integers to the exposed unit.
    var unit: Double {
        switch self {
        case .microseconds: 1e-6
        case .count: 1
        }
    }

    /// Buckets end at these powers of two: 16 microseconds to 17 seconds, and 1 to 32,767 items.
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
