package import PerchBase

/// The result of a bench: each target's rounds, their combined figures, and the ratios to the baseline server.
package struct BenchReport: Sendable {
    package struct Target: Sendable {
        /// `perch`, `perch/1` (beside another transport), `floor` (the baseline server), `grpc` or `redis`.
        package var name: String
        package var rounds: [RoundResult] = []

        package init(name: String, rounds: [RoundResult] = []) {
            self.name = name
            self.rounds = rounds
        }

        /// Medians of the rounds, sums of counts, and the largest of maxima. Rounds that ended early are included;
        /// their failure is reported.
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

    /// The command in words: `hot --watchers 1000`.
    package var title: String
    package var workload: String
    /// Name and value of each setting, in order.
    package var settings: [(name: String, value: String)] = []
    /// The version of Perch that ran the bench; empty if unknown.
    package var version = ""
    /// The start of the bench; nil if unknown.
    package var startedAt: Instant?
    package var machine = MachineFigures()
    /// Load average at the end.
    package var loadAfter = 0.0
    /// Conditions that a reader of the figures must know.
    package var notes: [String] = []
    /// The first target is the measured one; the baseline server follows.
    package var targets: [Target] = []
    /// Violated conditions, each as a sentence.
    package var breaches: [String] = []

    /// A requirement on the run, and how the run violated it.
    package struct Check: Equatable, Sendable {
        package var requirement: String
        /// Nil if the requirement is met.
        package var breach: String?
        /// The condition's text, which starts its breach; empty for the requirements on every run.
        package var condition = ""
    }

    /// The requirements of the user's conditions.
    package var checks: [Check] = []

    package init(title: String, workload: String) {
        self.title = title
        self.workload = workload
    }

    /// Ratios of the first target to the baseline server: medians of the ratios of each pair of rounds, so that drift
    /// between pairs cancels out.
    package var ratios: [Figure: Double] { self.ratios(of: 0) }

    /// Ratios of any target to the baseline server; without one, of the first target to the second. Empty for the
    /// baseline server itself.
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

    /// The requirements on every run, as far as it measured them, followed by the user's.
    package var allChecks: [Check] {
        func first(_ reason: KeyPath<Target, String?>) -> String? {
            self.targets.lazy.compactMap { target in
                target[keyPath: reason].map { "\(Self.title(of: target.name)): \($0)" }
            }.first
        }
        var checks = [
            Check(requirement: "Every round ran to its end", breach: first(\.failure)),
            Check(requirement: "The load generator was not the bottleneck", breach: first(\.generatorBound)),
        ]
        let figures = self.targets.first?.figures ?? [:]
        let zeros: [(Figure, String)] = [
            (.lost, "Every change was answered"), (.gaps, "Every watcher received the last change"),
            (.reorderings, "No value arrived after a newer one"),
            (.failures, "Every account ended like the first one"),
        ]
        for (figure, requirement) in zeros {
            guard let count = figures[figure] else { continue }
            let breach = count == 0 ? nil : "\(figure.rawValue): \(figure.unit.text(count))"
            checks.append(Check(requirement: requirement, breach: breach))
        }
        return checks + self.checks
    }

    /// A target's name for readers.
    package static func title(of name: String) -> String {
        switch name {
        case "perch": "Perch"
        case "floor": "baseline server"
        case "redis": "Redis"
        case "one loop": "Perch with one loop"
        case "perch/1": "Perch over perch/1"
        case "grpc": "gRPC server"
        default: name
        }
    }

    /// The target to which ratios are relative; nil without a comparison.
    var baseline: Target? {
        self.targets.first { $0.name == "floor" } ?? (self.targets.count > 1 ? self.targets[1] : nil)
    }

    /// The columns of ratios, each with its target.
    var ratioColumns: [(name: String, ratios: [Figure: Double])] {
        self.targets.indices.compactMap { place in
            let ratios = self.ratios(of: place)
            guard !ratios.isEmpty else { return nil }
            return (self.targets.count > 2 ? "\(self.targets[place].name) ratio" : "ratio", ratios)
        }
    }

    /// Checks the conditions. A generator-bound figure fails every condition on it.
    package mutating func check(_ conditions: [FailCondition]) {
        let figures = self.targets.first?.figures ?? [:]
        let isCompared = self.targets.count > 1
        self.checks = conditions.map {
            Check(
                requirement: $0.requirement,
                breach: $0.breach(in: figures, ratios: self.ratios, isCompared: isCompared),
                condition: $0.description)
        }
        self.breaches = self.checks.compactMap(\.breach)
        if !conditions.isEmpty {
            for target in self.targets {
                guard let reason = target.generatorBound else { continue }
                self.breaches.append("generator-bound: with \(target.name), \(reason)")
            }
        }
        for target in self.targets {
            guard let failure = target.failure else { continue }
            self.breaches.append("a round with \(target.name) failed: \(failure)")
        }
    }
}

/// The median; for an even number the mean of the two middle values. Requires at least one value.
package func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
