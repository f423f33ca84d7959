import PerchBase

extension BenchReport {
    /// One page that needs nothing but itself: no script, no font, no image from elsewhere. Charts are inline SVG, in
    /// the colours of whoever looks, light or dark.
    package var html: String {
        let figures = self.targets.map(\.figures)
        var page = Self.head("perch bench \(self.title)")
        if !self.breaches.isEmpty {
            page += "<ul class=\"bad\">" + self.breaches.map { "<li>\(escaped($0))</li>" }.joined() + "</ul>\n"
        }
        for target in self.targets {
            if let reason = target.generatorBound {
                page +=
                    "<p class=\"bad\"><b>Generator-bound.</b> The figures of \(escaped(target.name)) are not the "
                    + "server’s: \(escaped(reason)).</p>\n"
            }
            let findings = target.reasons + target.rounds.flatMap(\.findings).prefix(Limits.benchFindingsMax)
            if !findings.isEmpty {
                page += "<ul class=\"bad\">" + findings.map { "<li>\(escaped($0))</li>" }.joined() + "</ul>\n"
            }
            if let failure = target.failure {
                page += "<p class=\"bad\"><b>\(escaped(target.name)) did not end well:</b> \(escaped(failure))</p>\n"
            }
        }
        page +=
            "<p class=\"what\">"
            + self.settings.map { "\(escaped($0.name)) <b>\(escaped($0.value))</b>" }
            .joined(separator: " · ") + "</p>\n"
        page +=
            "<p class=\"what\">\(escaped(self.machine.processorName)), \(self.machine.processors) processors, Linux "
            + "\(escaped(self.machine.kernel)), load \(decimals(self.machine.load, 2)) before and "
            + "\(decimals(self.loadAfter, 2)) after</p>\n"
        page += self.notes.map { "<p class=\"what\">\(escaped($0))</p>\n" }.joined()
        page += self.tiles(figures)
        page += self.charts
        page += self.table(figures)
        page += "</body></html>\n"
        return page
    }

    /// Up to the heading, whose words are not broken.
    static func head(_ title: String) -> String {
        let words = title.split(separator: " ").map { "<span>\(escaped(String($0)))</span>" }.joined(separator: " ")
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(escaped(title))</title>
            <style>\(Self.style)</style></head><body>
            <h1>\(words)</h1>

            """
    }

    private static let style = """
        :root{--ground:#fcfcfb;--card:#fff;--ink:#1a1c20;--soft:#5d636e;--line:#dfe2e7;--bad:#b42318;--good:#1a7f37;
        --s0:#2563c9;--s1:#c2570c;--s2:#5b7f1b}
        @media(prefers-color-scheme:dark){:root{--ground:#14161a;--card:#1c1f25;--ink:#e8eaee;--soft:#9aa1ad;
        --line:#333842;--bad:#ff8a7a;--good:#6fd18b;--s0:#7aa9ff;--s1:#f2a25c;--s2:#a8cf5f}}
        body{margin:0 auto;max-width:68rem;padding:2rem 1.25rem 4rem;background:var(--ground);color:var(--ink);
        font:15px/1.5 system-ui,sans-serif}
        h1{font-size:1.5rem;margin:0 0 .5rem}h1 span{white-space:nowrap}h2{font-size:1rem;margin:0 0 .25rem}
        .what{color:var(--soft);margin:.1rem 0}.bad{color:var(--bad)}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.75rem;margin:1.5rem 0}
        .tile,.chart{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem}
        .tile b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}.tile span{display:block;color:var(--soft);font-size:.85rem;line-height:1.35}
        .better{color:var(--good)}.worse{color:var(--bad)}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr));gap:.75rem;margin:1.5rem 0}
        svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font:12px system-ui,sans-serif}
        .grid{stroke:var(--line)}.l0{stroke:var(--s0)}.l1{stroke:var(--s1)}.l2{stroke:var(--s2)}
        .d0{fill:var(--s0)}.d1{fill:var(--s1)}.d2{fill:var(--s2)}
        path{fill:none;stroke-width:1.75;stroke-linejoin:round}.thin{stroke-width:1.25;stroke-dasharray:4 3}
        .key{color:var(--soft);font-size:.85rem}.key i{display:inline-block;width:.8rem;height:.2rem;vertical-align:middle;
        margin:0 .35rem 0 .8rem}.k0{background:var(--s0)}.k1{background:var(--s1)}.k2{background:var(--s2)}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        td,th{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
        td:first-child,th:first-child{text-align:left}td.why{text-align:left;color:var(--soft);white-space:normal}
        """

    private func tiles(_ figures: [[Figure: Double]]) -> String {
        let wanted: [Figure] = [
            .deliveriesPerSecond, .opensPerSecond, .changesPerSecond, .pushP50, .pushP99, .firstP50, .answerP50,
            .cpuPerMillion, .rssPerConnection,
        ]
        let ratios = self.ratios
        let base = escaped(self.targets.first { $0.name == "floor" }?.name ?? self.targets.last?.name ?? "")
        let tiles = wanted.compactMap { figure -> String? in
            guard let value = figures.first?[figure] else { return nil }
            let ratio = ratios[figure].map { "<span>\(decimals($0, 2)) × \(base)</span>" } ?? ""
            return
                "<div class=\"tile\"><b>\(escaped(figure.unit.text(value)))</b><span>\(figure.rawValue)</span>\(ratio)</div>"
        }
        return "<div class=\"tiles\">" + tiles.prefix(6).joined() + "</div>\n"
    }

    private func table(_ figures: [[Figure: Double]]) -> String {
        let columns = self.ratioColumns
        var rows = ""
        for figure in Figure.allCases where figures.contains(where: { $0[figure] != nil }) {
            rows += "<tr><td>\(figure.rawValue)</td>"
            for each in figures { rows += "<td>\(each[figure].map { escaped(figure.unit.text($0)) } ?? "")</td>" }
            for column in columns { rows += "<td>\(column.ratios[figure].map { decimals($0, 3) } ?? "")</td>" }
            rows += "<td class=\"why\">\(escaped(figure.meaning))</td></tr>\n"
        }
        let names = self.targets.map(\.name) + columns.map(\.name)
        let head = names.map { "<th>\(escaped($0))</th>" }.joined()
        return "<div class=\"wide\"><table><tr><th></th>\(head)<th></th></tr>\n\(rows)</table></div>\n"
    }

    // MARK: Charts

    var charts: String {
        let all = self.targets.map { target in target.rounds.map(\.intervals) }
        let first = self.targets.first?.rounds.first
        let isSilent = first?.intervals.allSatisfy { $0.deliveries == 0 } ?? true
        let isAboutOpens = isSilent && first?.intervals.contains { $0.opens > 0 } ?? false
        let isAboutChanges = isSilent && !isAboutOpens
        var charts: [Chart] = []
        let rate = isAboutOpens ? "Opens a second" : isAboutChanges ? "Changes a second" : "Deliveries a second"
        charts.append(
            Chart(title: rate, unit: .perSecond, all, names: self.names) { interval in
                let count = isAboutOpens ? interval.opens : isAboutChanges ? interval.changes : interval.deliveries
                return interval.length > 0 && !interval.isAfterWindow ? Double(count) / interval.length : nil
            })
        charts.append(
            Chart(title: "Latency over time, median", unit: .nanoseconds, all, names: self.names) {
                $0.pushP50.map(Double.init)
            })
        charts.append(
            Chart(title: "Latency over time, 99 %", unit: .nanoseconds, all, names: self.names) {
                $0.pushP99.map(Double.init)
            })
        charts.append(Chart(percentilesOf: self.targets))
        charts.append(
            Chart(title: "Resident memory of the server", unit: .bytes, all, names: self.names) {
                $0.residentBytes > 0 ? Double($0.residentBytes) : nil
            })
        charts.append(
            Chart(title: "Processor of the server", unit: .share, all, names: self.names) {
                $0.isAfterWindow ? nil : $0.serverCPU
            })
        return "<div class=\"charts\">" + charts.compactMap(\.svg).joined() + "</div>\n"
    }

    private var names: [String] { self.targets.map(\.name) }
}

/// A text of somebody's, as it may stand in HTML.
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
