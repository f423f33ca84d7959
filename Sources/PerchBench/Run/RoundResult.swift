import PerchBase
package import PerchScenario

/// The result of one round with one target.
package struct RoundResult: Sendable {
    package var figures: [Figure: Double] = [:]
    package var intervals: [Recorder.Interval] = []
    /// Latencies at growing quantiles: of pushes; without pushes, of first values or answers.
    package var percentiles: [Percentile] = []
    package var closes: [String: Int] = [:]
    package var refusals: [String: Int] = [:]
    /// Failures in words; a selection.
    package var findings: [String] = []
    /// The reason why the round ended early, or has missing events; nil if it succeeded.
    package var failure: String?
    /// The server's refusal that ended the round, if any.
    package var refusal: ServerRefusal?
    /// The reason why the figures describe the generator instead of the server; nil if they describe the server.
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

    /// The reason why a finished round did not measure its purpose; nil if it did.
    ///
    /// `closedUnasked` counts watcher connections that the server closed although they read. `refused` of the `due`
    /// changes in the window were refused. `closes` and `refusals` count by reason.
    package static func badEnd(
        closedUnasked: Int, closes: [String: Int], refused: UInt64, due: UInt64, refusals: [String: Int]
    ) -> String? {
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        if closedUnasked > 0 {
            return
                "the server closed \(closedUnasked) connections of watchers that were reading (\(list(closes))), so the "
                + "figures lack their values"
        }
        if refused > 0, refused >= due - refused {
            return
                "the server refused \(refused) of \(due) changes (\(list(refusals))), so the figures describe mostly "
                + "refusals"
        }
        return nil
    }

    /// The reason why a round counts as generator-bound; nil if it does not.
    ///
    /// `lagNanoseconds` is the send lateness at p99, nil without a schedule. `pushNanoseconds` is the push latency at
    /// p99. `wait` is the share of time that other work occupied the core.
    package static func generatorBound(
        share: Double, wait: Double = 0, lagNanoseconds: Int64?, pushNanoseconds: Int64 = .max
    ) -> String? {
        if share >= Limits.benchBusyShareMax {
            return "the generator used \(decimals(share * 100, 0)) % of its core (limit "
                + "\(decimals(Limits.benchBusyShareMax * 100, 0)) %)"
        }
        if wait >= Limits.benchWaitShareMax {
            return
                "the generator waited \(decimals(wait * 100, 0)) % of the time for its core, which other work occupied "
                + "(limit \(decimals(Limits.benchWaitShareMax * 100, 0)) %)"
        }
        guard let lag = lagNanoseconds else { return nil }
        let late = "the send lateness at p99 was \(duration(nanoseconds: Double(lag)))"
        if lag > Limits.benchLagMilliseconds * 1_000_000 { return late + " (limit \(Limits.benchLagMilliseconds) ms)" }
        if lag > Limits.benchLagShareMilliseconds * 1_000_000, lag > pushNanoseconds / 2 {
            return late + ", more than half of the push latency at p99"
        }
        return nil
    }
}

extension Recorder {
    /// Latencies of pushes; without pushes, of first values or answers.
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
    /// The result. Read it after the loop has ended.
    package var outcome: RoundResult {
        var result = RoundResult()
        result.failure = self.results.failure
        result.refusal = self.results.refusal
        result.closes = self.results.closes
        result.refusals = self.results.refusals
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
        if recorder.due > 0 {
            figures[.due] = Double(recorder.due)
            figures[.answered] = Double(recorder.answered)
            figures[.refused] = Double(recorder.refused)
            figures[.refusedShare] = Double(recorder.refused) / Double(recorder.due)
            figures[.unsent] = Double(recorder.unsent)
        }
        if recorder.first.count > 0 { figures[.unopened] = Double(self.results.unopened) }
        figures[.conflated] = Double(recorder.conflated)
        figures[.lost] = Double(self.results.lost)
        figures[.gaps] = Double(counts.gaps)
        figures[.duplicates] = Double(counts.duplicates)
        figures[.reorderings] = Double(counts.reorderings)
        figures[.foreign] = Double(counts.foreign)
        figures[.unchanged] = Double(self.results.unchanged)
        figures[.refusals] = Double(self.results.refusals.values.reduce(0, +))
        figures[.closes] = Double(self.results.closes.values.reduce(0, +))
        if let secure = self.secure {
            figures[.tlsHandshakes] = Double(secure.handshakes)
            figures[.tlsResumed] = Double(secure.resumed)
        }
        figures[.valueBytes] = Double(self.results.messageLengths.value)
        if self.results.messageLengths.answer > 0 { figures[.answerBytes] = Double(self.results.messageLengths.answer) }
        if let before = self.results.counting.before, let after = self.results.counting.after {
            figures.merge(ServerCounters.figures(from: before, to: after)) { $1 }
        }
        if self.serverProcess != nil { self.addServer(&figures, seconds) }

        // A generator that polls is busy only while it finds something to do.
        let share = max(0, self.measures.window.generatorCPU - Double(self.measures.window.idle) / 1e9) / seconds
        let lag = recorder.lag.value(atQuantile: 0.99)
        figures[.generatorCPU] = share
        figures[.generatorWakeups] = Double(self.measures.window.sleeps) / seconds
        if recorder.lag.count > 0 { figures[.lagP99] = Double(lag) }
        result.generatorBound = RoundResult.generatorBound(
            share: share, wait: self.sharesCore ? 0 : self.measures.window.generatorWait / seconds,
            lagNanoseconds: self.settings.rate == nil || recorder.lag.count == 0 ? nil : lag,
            pushNanoseconds: recorder.push.count > 0 ? recorder.push.value(atQuantile: 0.99) : .max)
        result.figures = figures
        return result
    }

    private func addServer(_ figures: inout [Figure: Double], _ seconds: Double) {
        if let cpu = self.measures.window.serverCPU {
            figures[.serverCPU] = cpu / seconds
            let units = self.recorder.isAboutFirsts ? self.recorder.opens : self.recorder.deliveries
            let converged = self.settings.watches == 0 ? self.recorder.changes : self.recorder.converged
            if units > 0 { figures[.cpuPerMillion] = cpu * 1e6 / Double(units) }
            if converged > 0 { figures[.cpuPerConverged] = cpu * 1e9 / Double(converged) }
        }
        if let last = self.recorder.intervals.last(where: { !$0.isAfterWindow }), last.residentBytes > 0 {
            figures[.residentBytes] = Double(last.residentBytes)
        }
        if let growth = self.recorder.residentGrowthPerSecond { figures[.residentGrowth] = growth * 3_600 }
        guard self.settings.connections > 0, let base = self.measures.memory.baseResident,
            let grown = self.measures.memory.resident
        else {
            return
        }
        let resident = Double(max(0, grown - base))
        let sockets = Double(max(0, self.measures.memory.sockets - self.measures.memory.baseSockets))
        figures[.rssPerWatch] = resident / Double(self.settings.watches)
        figures[.rssPerConnection] = resident / Double(self.settings.connections)
        figures[.socketBytesPerConnection] = sockets / Double(self.settings.connections)
    }
}
