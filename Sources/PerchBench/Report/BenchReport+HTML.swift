import PerchBase
import PerchConsole
import PerchJSON

extension BenchReport {
    /// The report as a self-contained page that asks for nothing, with the console's style and charts.
    ///
    /// Its policy allows one script, by its hash: the one that draws. Without scripts all figures are there, and a caption in
    /// words stands for each chart.
    package var html: String {
        let figures = self.targets.map(\.figures)
        var page = Self.head("perch bench \(self.title)")
        page += "<p class=\"what\">\(escaped(Self.origin(self.version, self.startedAt)))</p>\n"
        page += "<h2>Conclusion</h2>\n<p class=\"verdict\">\(escaped(self.conclusion.joined(separator: " ")))</p>\n"
        page += self.checkList
        page += self.findings
        page += self.tiles(figures)
        page += self.charts
        page += "<h2>All figures</h2>\n" + self.table(figures)
        page += self.conditions
        return page + Self.end
    }

    /// Draws the charts.
    static let script = ConsoleFiles.chart + "drawReport();\n"
    static let end = "<script type=\"module\">\(Self.script)</script></body></html>\n"

    private static func hash(_ text: String) -> String {
        "'sha256-\(Base64.encode(ContentHash(of: Array(text.utf8)).bytes))'"
    }

    private static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src \(Self.hash(ConsoleFiles.style)); "
        + "script-src \(Self.hash(Self.script))"

    /// Everything up to the heading, whose words are not broken.
    static func head(_ title: String) -> String {
        let words = title.split(separator: " ").map { "<span>\(escaped(String($0)))</span>" }.joined(separator: " ")
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width,initial-scale=1">
            <meta http-equiv="content-security-policy" content="\(Self.policy)">
            <title>\(escaped(title))</title>
            <style>\(ConsoleFiles.style)</style></head><body class="report">
            <h1>\(words)</h1>

            """
    }

    /// The version and the date of a report, as far as they are known.
    static func origin(_ version: String, _ startedAt: Instant?) -> String {
        let version = version.isEmpty ? "Perch, unknown version" : "Perch \(version)"
        guard let startedAt else { return "\(version), unknown date" }
        let text = startedAt.description.split(separator: "T")
        let time = text.count > 1 ? " \(text[1].prefix(5)) UTC" : ""
        return "\(version), \(text[0])\(time)"
    }

    /// The conditions, each with a check mark or a cross.
    private var checkList: String {
        let items = self.allChecks.map { check -> String in
            let requirement = escaped(check.requirement)
            guard let breach = check.breach else {
                return "<li><b class=\"better\" aria-label=\"passed\">✓</b> \(requirement)</li>"
            }
            let prefix = check.condition + ": "
            let reason = breach.hasPrefix(prefix) ? String(breach.dropFirst(prefix.count)) : breach
            return "<li class=\"bad\"><b aria-label=\"failed\">✗</b> \(requirement): \(escaped(reason))</li>"
        }
        return "<h2>Conditions</h2>\n<ul class=\"checks\">\(items.joined())</ul>\n"
    }

    private var findings: String {
        var page = ""
        for target in self.targets {
            if let reason = target.generatorBound {
                page +=
                    "<p class=\"bad\"><b>Generator-bound.</b> The figures of \(escaped(Self.title(of: target.name))) "
                    + "describe the load generator, not the server: \(escaped(reason)).</p>\n"
            }
            let findings = target.reasons + target.rounds.flatMap(\.findings).prefix(Limits.benchFindingsMax)
            if !findings.isEmpty {
                page += "<ul class=\"bad\">" + findings.map { "<li>\(escaped($0))</li>" }.joined() + "</ul>\n"
            }
        }
        return page
    }

    /// The settings and the machine.
    private var conditions: String {
        var page = "<h2>Setup</h2>\n<p class=\"what\">"
        page += self.settings.map { "\(escaped($0.name)) <b>\(escaped($0.value))</b>" }.joined(separator: " · ")
        page += "</p>\n<p class=\"what\">\(escaped(self.machine.processorName)), \(self.machine.processors) processors"
        page += ", Linux \(escaped(self.machine.kernel)), load \(decimals(self.machine.load, 2)) before and "
        page += "\(decimals(self.loadAfter, 2)) after</p>\n"
        page += self.notes.map { "<p class=\"what\">\(escaped($0))</p>\n" }.joined()
        return page
    }

    private func tiles(_ figures: [[Figure: Double]]) -> String {
        let wanted: [Figure] = [
            .deliveriesPerSecond, .opensPerSecond, .changesPerSecond, .pushP50, .pushP99, .firstP50, .answerP50,
            .cpuPerMillion, .rssPerConnection,
        ]
        let ratios = self.ratios
        let base = self.baseline.map {
            $0.name == "floor" ? "the baseline server's" : "that of \(Self.title(of: $0.name))"
        }
        let tiles = wanted.compactMap { figure -> String? in
            guard let value = figures.first?[figure] else { return nil }
            var lines = "<b>\(escaped(figure.unit.text(value)))</b>"
            let quantile =
                switch figure {
                case .pushP50, .firstP50, .answerP50: "median "
                case .pushP99: "p99 of the "
                default: ""
                }
            lines += "<span>\(quantile)\(escaped(figure.meaning))</span>"
            if let ratio = ratios[figure], let base {
                lines += "<span>\(decimals(ratio, 2)) times \(escaped(base))\(figure.betterText)</span>"
            }
            return "<div class=\"tile\">\(lines)</div>"
        }
        return "<div class=\"tiles\">" + tiles.prefix(6).joined() + "</div>\n"
    }

    private func table(_ figures: [[Figure: Double]]) -> String {
        let base = self.baseline.map { Self.title(of: $0.name) } ?? ""
        let columns: [(name: String, ratios: [Figure: Double])] = self.targets.indices.compactMap { place in
            let ratios = self.ratios(of: place)
            return ratios.isEmpty ? nil : ("\(Self.title(of: self.targets[place].name)) ÷ \(base)", ratios)
        }
        func cell(_ name: String, _ text: String) -> String {
            "<td data-name=\"\(escaped(name))\">\(escaped(text))</td>"
        }
        func empty() -> String { "<td></td>" }
        var rows = ""
        for figure in Figure.allCases where figures.contains(where: { $0[figure] != nil }) {
            rows += "<tr><td>\(figure.rawValue)</td>"
            for (target, each) in zip(self.targets, figures) {
                rows += each[figure].map { cell(Self.title(of: target.name), figure.unit.text($0)) } ?? empty()
            }
            var hasRatio = false
            for column in columns {
                hasRatio = hasRatio || column.ratios[figure] != nil
                rows += column.ratios[figure].map { cell(column.name, decimals($0, 3)) } ?? empty()
            }
            rows += "<td class=\"why\">\(escaped(figure.meaning))\(hasRatio ? figure.betterText : "")</td></tr>\n"
        }
        let names = self.targets.map { Self.title(of: $0.name) } + columns.map(\.name)
        let head = names.map { "<th>\(escaped($0))</th>" }.joined()
        let note =
            columns.isEmpty
            ? ""
            : "<p class=\"what\">A ratio is the left server's figure divided by the right server's, 1 if they are "
                + "equal. The rounds alternate, and the ratio is the median over all pairs of rounds.</p>\n"
        return note
            + "<table><tr class=\"names\"><th>figure</th>\(head)<th class=\"why\">definition</th></tr>\n"
            + "\(rows)</table>\n"
    }

    // MARK: Charts

    var charts: String {
        let all = self.targets.map { target in target.rounds.map(\.intervals) }
        let first = self.targets.first?.rounds.first
        let isSilent = first?.intervals.allSatisfy { $0.deliveries == 0 } ?? true
        let isAboutOpens = isSilent && first?.intervals.contains { $0.opens > 0 } ?? false
        let isAboutChanges = isSilent && !isAboutOpens
        var charts: [Chart] = []
        let rate =
            isAboutOpens
            ? "Connections opened per second" : isAboutChanges ? "Changes per second" : "Deliveries per second"
        charts.append(
            Chart(title: rate, unit: .perSecond, all, names: self.names) { interval in
                let count = isAboutOpens ? interval.opens : isAboutChanges ? interval.changes : interval.deliveries
                return interval.length > 0 && !interval.isAfterWindow ? Double(count) / interval.length : nil
            })
        charts.append(
            Chart(title: "Push latency over time, median", unit: .nanoseconds, all, names: self.names) {
                $0.pushP50.map(Double.init)
            })
        charts.append(
            Chart(title: "Push latency over time, p99", unit: .nanoseconds, all, names: self.names) {
                $0.pushP99.map(Double.init)
            })
        charts.append(Chart(percentilesOf: self.targets))
        charts.append(
            Chart(title: "Resident memory of the server", unit: .bytes, all, names: self.names) {
                $0.residentBytes > 0 ? Double($0.residentBytes) : nil
            })
        charts.append(
            Chart(title: "CPU use of the server (100 % is one core)", unit: .share, all, names: self.names) {
                $0.isAfterWindow ? nil : $0.serverCPU
            })
        return "<div class=\"charts\">" + charts.compactMap(\.html).joined() + "</div>\n"
    }

    private var names: [String] { self.targets.map { Self.title(of: $0.name) } }
}

extension Figure {
    /// The direction that is better, for a ratio or a change; empty if neither is.
    var betterText: String { self.isBetterHigher.map { $0 ? " (higher is better)" : " (lower is better)" } ?? "" }
}

/// Escapes a text for HTML.
func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}
