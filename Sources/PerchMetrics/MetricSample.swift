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

/// Samples of many owners, added up by name and label, in the order in which the names first came.
///
/// There is no shared registry that hot paths write to: each thread counts in plain integers of its own and hands over
/// a copy when it is asked. So counting needs neither a lock nor an atomic.
package struct MetricSamples: Sendable {
    package private(set) var samples: [MetricSample] = []
    private var index: [String: Int] = [:]

    package init() {}

    /// Adds to a counter or gauge that several threads have a share of.
    package mutating func add(_ name: String, labels: String = "", _ value: some BinaryInteger, help: String) {
        self.add(MetricSample(name, labels: labels, Double(value), help: help))
    }

    package mutating func add(_ sample: MetricSample) {
        let key = sample.name + "{" + sample.labels
        if let known = self.index[key] {
            self.samples[known].value += sample.value
        } else {
            self.index[key] = self.samples.count
            self.samples.append(sample)
        }
    }

    /// Count, sum, maximum and quantiles of a histogram recorded in microseconds, in seconds.
    package mutating func add(seconds name: String, _ histogram: Histogram, help: String) {
        let scale = 1e-6
        for quantile in [0.5, 0.99, 0.999] {
            let value = Double(histogram.value(atQuantile: quantile)) * scale
            self.add(MetricSample(name, labels: "quantile=\"\(quantile)\"", value, help: help))
        }
        self.add(MetricSample(name + "_count", Double(histogram.count), help: help))
        self.add(MetricSample(name + "_sum", histogram.sum * scale, help: help))
        self.add(MetricSample(name + "_max", Double(histogram.max) * scale, help: help))
    }
}
