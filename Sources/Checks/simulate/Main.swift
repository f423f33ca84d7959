import Glibc
import PerchSimulation

/// Runs more seeds, and cuts the power more often, than a test run has time for.
///
///     simulate seeds COUNT [FROM]     runs COUNT simulations, with seeds from FROM (1) on
///     simulate seed SEED              runs one of them and prints each step
///     simulate cuts COUNT [FROM]      cuts the power COUNT times, with seeds from FROM (1) on
///     simulate nodes COUNT [FROM]     runs three nodes on one database COUNT times, with seeds from FROM (1) on
///
/// Exits with 1 if a promise is broken, and prints the command that repeats it; with 2 for invalid arguments.
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst().map { String($0) }
        guard let verb = arguments.first, arguments.count <= 3,
            let number = arguments.dropFirst().first.flatMap({ UInt64($0) }),
            let first = arguments.count == 3 ? UInt64(arguments[2]) : 1
        else { Self.refuse() }
        switch verb {
        case "seeds": Self.live(number, from: first)
        case "seed" where arguments.count == 2: Self.tell(number)
        case "nodes": Self.share(number, from: first)
        case "cuts": Self.cut(Int(clamping: number), from: first)
        default: Self.refuse()
        }
    }

    private static func refuse() -> Never {
        Self.say(
            "simulate seeds COUNT [FROM] | simulate seed SEED | simulate cuts COUNT [FROM] | simulate nodes COUNT [FROM]"
        )
        exit(2)
    }

    /// Flushed at once, so that a long run shows its progress through a pipe.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    private static func seconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    private static func rate(_ count: Int, since began: Double, _ what: String) -> String {
        let took = max(Self.seconds() - began, 0.001)
        return "\(count) \(what) in \(Int(took.rounded(.up))) s, \((Double(count) / took * 10).rounded() / 10) a second"
    }

    private static func live(_ count: UInt64, from first: UInt64) {
        let began = Self.seconds()
        var said = began
        var total = Simulation.Totals()
        for seed in first..<first + count {
            let report = Simulation(seed: seed).run(steps: Simulation.usualSteps)
            total.add(report)
            for breach in report.breaches.prefix(3) { Self.say("seed \(seed): \(breach)") }
            if !report.breaches.isEmpty {
                Self.say("to see it again: make simulate SEEDS=1 FROM=\(seed); step by step: simulate seed \(seed)")
            }
            if total.brokenSeeds.count == 5 { break }
            if Self.seconds() - said > 10 {
                said = Self.seconds()
                Self.say("\(Self.rate(total.seeds, since: began, "seeds")); at seed \(seed)")
            }
        }
        Self.say("\(Self.rate(total.seeds, since: began, "seeds")): \(total)")
        exit(total.brokenSeeds.isEmpty ? 0 : 1)
    }

    private static func tell(_ seed: UInt64) {
        let simulation = Simulation(seed: seed)
        simulation.isTold = true
        let report = simulation.run(steps: Simulation.usualSteps)
        for breach in report.breaches { Self.say("seed \(seed): \(breach)") }
        exit(report.breaches.isEmpty ? 0 : 1)
    }

    private static func share(_ count: UInt64, from first: UInt64) {
        let began = Self.seconds()
        var said = began
        var total = NodesSimulation.Totals()
        for seed in first..<first + count {
            total.add(NodesSimulation.run(seed: seed))
            if total.breaches.count >= 5 { break }
            if Self.seconds() - said > 10 {
                said = Self.seconds()
                Self.say(Self.rate(total.seeds, since: began, "seeds"))
            }
        }
        for breach in total.breaches { Self.say(breach) }
        Self.say("\(Self.rate(total.seeds, since: began, "seeds")): \(total)")
        if let breach = total.breaches.first?.split(separator: ":").first?.split(separator: " ").last {
            Self.say("to see it again: simulate nodes 1 \(breach)")
        }
        exit(total.breaches.isEmpty ? 0 : 1)
    }

    private static func cut(_ count: Int, from first: UInt64) {
        let began = Self.seconds()
        var said = began
        let report = PowerCuts.run(cuts: count, seed: first) { report in
            guard Self.seconds() - said > 10 else { return }
            said = Self.seconds()
            Self.say(Self.rate(report.cuts, since: began, "cuts"))
        }
        for breach in report.breaches { Self.say(breach) }
        Self.say("\(Self.rate(report.cuts, since: began, "cuts")): \(report)")
        if !report.breaches.isEmpty { Self.say("to see it again: simulate cuts \(count) \(first)") }
        exit(report.breaches.isEmpty ? 0 : 1)
    }
}
