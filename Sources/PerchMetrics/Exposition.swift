/// Prometheus' text format, version 0.0.4, for `/metrics`.
///
/// https://prometheus.io/docs/instrumenting/exposition_formats/
package enum Exposition {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package static func text(_ samples: MetricSamples) -> [UInt8] {
        var text = ""
        for family in samples.families {
            text += "# HELP \(family.name) \(Self.escapedHelp(family.help))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for (labels, value) in family.values {
                let braces = labels.isEmpty ? "" : "{\(labels)}"
                text += "\(family.name)\(braces) \(Self.number(value))\n"
            }
            if let (histogram, scale) = family.histogram { Self.write(histogram, scale, of: family.name, into: &text) }
        }
        return Array(text.utf8)
    }

    private static func write(
        _ histogram: Histogram, _ scale: MetricFamily.Scale, of name: String, into text: inout String
    ) {
        for exponent in scale.exponents {
            let count = histogram.count(belowPowerOfTwo: exponent)
            text += "\(name)_bucket{le=\"\(Self.number(scale.bound(exponent)))\"} \(count)\n"
        }
        text += "\(name)_bucket{le=\"+Inf\"} \(histogram.count)\n"
        text += "\(name)_sum \(Self.number(histogram.sum * scale.unit))\n"
        text += "\(name)_count \(histogram.count)\n"
    }

    /// Formats whole numbers without a fraction.
    package static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { String($0) } ?? String(value)
    }

    private static func escapedHelp(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// A label with its value, such as `reason="STORE_FULL"`.
    package static func label(_ name: String, _ value: some StringProtocol) -> String {
        var result = "\(name)=\""
        for character in value.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }
}
