/// What a bench came to: for each target its rounds and what stands for them, and the ratio to the floor.
package struct BenchReport: Sendable {
    package struct Target: Sendable {
        /// `perch`, `floor` or `redis`.
        package var name: String
        package var rounds: [RoundResult] = []

        package init(name: String, rounds: [RoundResult] = []) {
            self.name = name
            self.rounds = rounds
        }

        /// Medians of the rounds; sums of what is counted; of maxima the largest. Rounds that ended early count too: they
        /// say so.
        package var figures: [Figure: Double] {
            var result: [Figure: Double] = [:]
            for figure in Figure.allCases {
                let values = self.rounds.compactMap { $0.figures[figure] }
                guard !values.isEmpty else { continue }
                result[figure] = figure.over(values)
            }
            return result
        }

        package var failure: String? { self.rounds.lazy.compactMap(\.failure).first }
        package var generatorBound: String? { self.rounds.lazy.compactMap(\.generatorBound).first }
    }

    /// What it was, in words: `hot --watchers 1000`.
    package var title: String
    package var workload: String
    /// Name and value of each setting, in order.
    package var settings: [(name: String, value: String)] = []
    package var machine = MachineFigures()
    /// Load average at the end.
    package var loadAfter = 0.0
    /// What a reader of the figures must know.
    package var notes: [String] = []
    /// The first is what is measured; a floor stands behind it.
    package var targets: [Target] = []
    /// Conditions that were breached, each a sentence.
    package var breaches: [String] = []

    package init(title: String, workload: String) {
        self.title = title
        self.workload = workload
    }

    /// Of the first target to the floor. Of pairs, the median of the ratios of each pair: what drifts between two pairs
    /// is in neither.
    package var ratios: [Figure: Double] { self.ratios(of: 0) }

    /// Of any target to the floor; of the first to the second where there is no floor. Empty for the floor itself.
    package func ratios(of target: Int) -> [Figure: Double] {
        let base = self.targets.firstIndex { $0.name == "floor" } ?? 1
        guard self.targets.count > base, target != base else { return [:] }
        var result: [Figure: Double] = [:]
        for figure in Figure.allCases where figure.hasRatio {
            let pairs = zip(self.targets[target].rounds, self.targets[base].rounds).compactMap {
                own, other -> Double? in
                guard let own = own.figures[figure], let other = other.figures[figure], other > 0 else { return nil }
                return own / other
            }
            if !pairs.isEmpty { result[figure] = median(pairs) }
        }
        return result
    }

    /// The columns of ratios: of whom, and what.
    var ratioColumns: [(name: String, ratios: [Figure: Double])] {
        self.targets.indices.compactMap { place in
            let ratios = self.ratios(of: place)
            guard !ratios.isEmpty else { return nil }
            return (self.targets.count > 2 ? "\(self.targets[place].name) ratio" : "ratio", ratios)
        }
    }

    /// Looks whether what must not be is. A figure that is the generator's own fails every condition on it.
    package mutating func judge(_ conditions: [FailCondition]) {
        let figures = self.targets.first?.figures ?? [:]
        let isCompared = self.targets.count > 1
        self.breaches = conditions.compactMap { $0.breach(in: figures, ratios: self.ratios, isCompared: isCompared) }
        if !conditions.isEmpty {
            for target in self.targets {
                guard let reason = target.generatorBound else { continue }
                self.breaches.append("generator-bound: with \(target.name), \(reason)")
            }
        }
        for target in self.targets {
            guard let failure = target.failure else { continue }
            self.breaches.append("a round with \(target.name) did not end well: \(failure)")
        }
    }
}

/// Of an even number, the mean of the two in the middle. At least one.
package func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
