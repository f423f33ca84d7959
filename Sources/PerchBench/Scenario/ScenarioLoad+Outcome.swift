import PerchBase

extension ScenarioLoad {
    /// The result. Read it after the loop has ended.
    package var outcome: RoundResult {
        var result = RoundResult()
        result.failure = self.results.failure
        if self.results.failure == nil, self.results.failed > 0 {
            result.failure = "\(self.results.failed) of \(self.players.count) accounts differ from the first one"
        }
        result.refusals = self.results.refusals
        result.findings = self.results.findings
        result.intervals = self.recorder.intervals
        result.percentiles = self.recorder.percentiles
        let seconds = self.recorder.seconds
        guard seconds > 0 else { return result }
        var figures = self.recorder.latencyFigures
        figures[.deliveriesPerSecond] = Double(self.recorder.deliveries) / seconds
        figures[.changesPerSecond] = Double(self.recorder.changes) / seconds
        figures[.bytesPerSecond] = Double(self.recorder.bytes) / seconds
        figures[.deliveries] = Double(self.recorder.deliveries)
        figures[.changes] = Double(self.recorder.changes)
        figures[.conflated] = Double(self.results.conflated)
        figures[.refusals] = Double(self.results.refusals.values.reduce(0, +))
        // An interrupted round completes no account.
        figures[.plays] = self.passing.isEnding ? Double(self.players.count - self.results.failed) : 0
        figures[.failures] = Double(self.results.failed)
        figures[.valueBytes] = Double(self.results.valueBytes)
        if self.serverProcess != nil {
            figures[.serverCPU] = self.measures.usage.serverCPU / seconds
            if self.recorder.deliveries > 0 {
                figures[.cpuPerMillion] = self.measures.usage.serverCPU * 1e6 / Double(self.recorder.deliveries)
            }
            figures[.rssPerConnection] = Double(self.measures.memory.grown) / Double(self.players.count)
            if let last = self.recorder.intervals.last { figures[.residentBytes] = Double(last.residentBytes) }
        }
        let share = self.measures.usage.generatorCPU / seconds
        let lag = self.recorder.lag.value(atQuantile: 0.99)
        figures[.generatorCPU] = share
        figures[.lagP99] = Double(lag)
        result.generatorBound = RoundResult.generatorBound(
            share: share, wait: self.sharesCore ? 0 : self.measures.usage.generatorWait / seconds, lagNanoseconds: lag,
            pushNanoseconds: self.recorder.push.count > 0 ? self.recorder.push.value(atQuantile: 0.99) : .max)
        result.figures = figures
        return result
    }
}
