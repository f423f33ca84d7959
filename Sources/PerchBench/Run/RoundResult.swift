import PerchBase
package import PerchScenario

/// What one round with one target came to.
package struct RoundResult: Sendable {
    package var figures: [Figure: Double] = [:]
    package var intervals: [Recorder.Interval] = []
    /// What most latencies of the round are, at growing quantiles: pushes, or, where none are, first values or answers.
    package var percentiles: [Percentile] = []
    package var closes: [String: Int] = [:]
    package var refusals: [String: Int] = [:]
    /// What went wrong, in words; not all of it.
    package var findings: [String] = []
    /// Why the round ended before its time, or with something that never came; nil if it did not.
    package var failure: String?
    /// How the server refused, where that ended it.
    package var refusal: ServerRefusal?
    /// Why its figures are the generator's and not the server's; nil if they are the server's.
    package var generatorBound: String?

    package init() {}

    package struct Percentile: Hashable, Sendable {
        package var quantile: Double
        package var nanoseconds: Int64

        package init(quantile: Double, nanoseconds: Int64) {
            self.quantile = quantile
            self.nanoseconds = nanoseconds
        }
    }

    static let quantiles: [Double] = [
        0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99999,
        1,
    ]

    /// Why a round that was like this measured its generator.
    package static func generatorBound(share: Double, lagNanoseconds: Int64) -> String? {
        if share >= Limits.benchBusyShareMax {
            return "the generator used \(decimals(share * 100, 0)) % of its core (limit "
                + "\(decimals(Limits.benchBusyShareMax * 100, 0)) %)"
        }
        if lagNanoseconds > Limits.benchLagMilliseconds * 1_000_000 {
            return "one change in a hundred was sent \(duration(nanoseconds: Double(lagNanoseconds))) late or later "
                + "(limit \(Limits.benchLagMilliseconds) ms)"
        }
        return nil
    }
}

extension Recorder {
    /// What most latencies are: pushes, or, where none are, first values or answers.
    var percentiles: [RoundResult.Percentile] {
        let shown = self.push.count > 0 ? self.push : self.first.count > 0 ? self.first : self.answer
        return RoundResult.quantiles.map {
            RoundResult.Percentile(quantile: $0, nanoseconds: shown.value(atQuantile: $0))
        }
    }

    var latencyFigures: [Figure: Double] {
        var figures: [Figure: Double] = [:]
        func times(_ histogram: LatencyHistogram, _ names: [(Figure, Double)]) {
            guard histogram.count > 0 else { return }
            for (figure, quantile) in names { figures[figure] = Double(histogram.value(atQuantile: quantile)) }
        }
        times(self.push, [(.pushP50, 0.5), (.pushP90, 0.9), (.pushP99, 0.99), (.pushP999, 0.999), (.pushMax, 1)])
        if self.push.count > 0 { figures[.pushMean] = self.push.mean }
        times(self.answer, [(.answerP50, 0.5), (.answerP99, 0.99), (.answerMax, 1)])
        times(self.first, [(.firstP50, 0.5), (.firstP99, 0.99), (.firstMax, 1)])
        return figures
    }
}

extension Generator {
    /// After the loop has ended.
    package var outcome: RoundResult {
        var result = RoundResult()
        result.failure = self.failure
        result.refusal = self.refusal
        result.closes = self.closes
        result.refusals = self.refusals
        result.intervals = self.recorder.intervals
        let recorder = self.recorder
        let seconds = recorder.seconds
        result.percentiles = recorder.percentiles
        guard seconds > 0 else { return result }

        var figures = recorder.latencyFigures
        let counts = self.ledger.counts
        let workload = self.settings.workload
        if self.settings.watches > 0, workload != .storm, workload != .idle, workload != .resume {
            figures[.deliveriesPerSecond] = Double(recorder.deliveries) / seconds
            figures[.convergedPerSecond] = Double(recorder.converged) / seconds
        }
        if recorder.changes > 0 { figures[.changesPerSecond] = Double(recorder.changes) / seconds }
        if recorder.opens > 0, workload == .storm || workload == .resume {
            figures[.opensPerSecond] = Double(recorder.opens) / seconds
        }
        figures[.bytesPerSecond] = Double(recorder.bytes) / seconds
        figures[.deliveries] = Double(recorder.deliveries)
        figures[.changes] = Double(recorder.changes)
        figures[.conflated] = Double(recorder.conflated)
        figures[.lost] = Double(self.lost)
        figures[.gaps] = Double(counts.gaps)
        figures[.duplicates] = Double(counts.duplicates)
        figures[.reorderings] = Double(counts.reorderings)
        figures[.foreign] = Double(counts.foreign)
        figures[.unchanged] = Double(self.unchanged)
        figures[.refusals] = Double(self.refusals.values.reduce(0, +))
        figures[.closes] = Double(self.closes.values.reduce(0, +))
        if let secure = self.secure {
            figures[.tlsHandshakes] = Double(secure.handshakes)
            figures[.tlsResumed] = Double(secure.resumed)
        }
        figures[.valueBytes] = Double(self.valueBytes)
        if self.answerBytes > 0 { figures[.answerBytes] = Double(self.answerBytes) }
        if let before = self.counting.before, let after = self.counting.after {
            figures.merge(ServerCounters.figures(from: before, to: after)) { $1 }
        }
        if self.serverProcess != nil { self.addServer(&figures, seconds) }

        let share = self.window.generatorCPU / seconds
        let lag = recorder.lag.value(atQuantile: 0.99)
        figures[.generatorCPU] = share
        if recorder.lag.count > 0 { figures[.lagP99] = Double(lag) }
        result.generatorBound = RoundResult.generatorBound(
            share: share, lagNanoseconds: self.settings.rate == nil ? 0 : lag)
        result.figures = figures
        return result
    }

    private func addServer(_ figures: inout [Figure: Double], _ seconds: Double) {
        if let cpu = self.window.serverCPU {
            figures[.serverCPU] = cpu / seconds
            let units = self.recorder.isAboutFirsts ? self.recorder.opens : self.recorder.deliveries
            let converged = self.settings.watches == 0 ? self.recorder.changes : self.recorder.converged
            if units > 0 { figures[.cpuPerMillion] = cpu * 1e6 / Double(units) }
            if converged > 0 { figures[.cpuPerConverged] = cpu * 1e9 / Double(converged) }
        }
        if let last = self.recorder.intervals.last, last.residentBytes > 0 {
            figures[.residentBytes] = Double(last.residentBytes)
        }
        if let growth = self.recorder.residentGrowthPerSecond { figures[.residentGrowth] = growth * 3_600 }
        guard self.settings.connections > 0, let base = self.memory.baseResident, let grown = self.memory.resident
        else {
            return
        }
        let resident = Double(max(0, grown - base))
        let sockets = Double(max(0, self.memory.sockets - self.memory.baseSockets))
        figures[.rssPerWatch] = resident / Double(self.settings.watches)
        figures[.rssPerConnection] = resident / Double(self.settings.connections)
        figures[.socketBytesPerConnection] = sockets / Double(self.settings.connections)
    }
}
