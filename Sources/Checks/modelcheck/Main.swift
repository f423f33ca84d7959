import Glibc
import PerchModelCheck
import PerchTesting

/// Checks the laws and invariants of the model on random sequences of operations on a test store.
///
///     modelcheck COUNT [FROM] [EVENTS]     checks COUNT sequences of 200 events, with seeds from FROM (1) on
///     modelcheck write SEED [EVENTS]       prints one of them as a scenario
///     modelcheck reach COUNT [FROM]        counts operations and states in COUNT sequences, without checks
///     modelcheck told COUNT [FROM]         checks COUNT sets of reports of App Store apps, each in 20 orders with duplicates
///
/// Exits with 1 if a law is broken: then it prints the fewest events that break it, and writes them as a scenario
/// that `perch scenario run` plays, into .build/modelcheck. Exits with 2 for invalid arguments.
@main
enum Main {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "write" { self.writeScenario() }
        if CommandLine.arguments.dropFirst().first == "reach" { self.tellReach() }
        if CommandLine.arguments.dropFirst().first == "told" { self.checkReported() }
        let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
        guard (1...3).contains(numbers.count), !numbers.contains(nil), let count = numbers[0], count > 0 else {
            self.explain()
        }
        let first = numbers.count > 1 ? numbers[1] ?? 1 : 1
        let events = numbers.count > 2 ? Int(numbers[2] ?? 200) : 200
        var tally = ModelCheck.Tally()
        var broken = 0
        let began = Self.seconds()
        var said = began
        for seed in first..<first + count {
            if let failure = ModelCheck.live(seed: seed, events: events, tally: &tally) {
                broken += 1
                Self.say("seed \(seed): \(failure.breach)")
                for action in failure.actions { Self.say("    \(action)") }
                Self.say("to see it again: modelcheck 1 \(seed) \(events)")
                Self.say("as a scenario: \(Self.keep(failure.scenario, "seed-\(seed).scenario"))")
                if broken == 5 { break }
            }
            if Self.seconds() - said > 10 {
                said = Self.seconds()
                Self.say("seed \(seed): \(tally.events) events so far")
            }
        }
        let took = max(Self.seconds() - began, 0.001)
        Self.say(
            "\(count) sequences from seed \(first), \(tally.events) events, \(tally.refusals) of them refused, "
                + "\(tally.revisions) revisions, in \(Int(took.rounded(.up))) s: \(broken) broken")
        exit(broken == 0 ? 0 : 1)
    }

    private static func explain() -> Never {
        Self.say("modelcheck COUNT [FROM] [EVENTS]")
        Self.say("modelcheck write SEED [EVENTS]")
        Self.say("modelcheck reach COUNT [FROM]")
        Self.say("modelcheck told COUNT [FROM]")
        exit(2)
    }

    private static func checkReported() -> Never {
        let numbers = CommandLine.arguments.dropFirst(2).map { UInt64($0) }
        guard (1...2).contains(numbers.count), let count = numbers[0], count > 0 else { self.explain() }
        exit(Reported.check(count: count, from: numbers.count > 1 ? numbers[1] ?? 1 : 1, say: self.say) ? 0 : 1)
    }

    private static func tellReach() -> Never {
        let numbers = CommandLine.arguments.dropFirst(2).map { UInt64($0) }
        guard (1...2).contains(numbers.count), let count = numbers[0], count > 0 else { self.explain() }
        let first = numbers.count > 1 ? numbers[1] ?? 1 : 1
        var reach = ModelReach()
        for seed in first..<first + count { reach.live(seed: seed, events: 200) }
        for (name, times) in reach.counts.sorted(by: { $0.key < $1.key }) { Self.say("\(times)\t\(name)") }
        exit(0)
    }

    private static func writeScenario() -> Never {
        let numbers = CommandLine.arguments.dropFirst(2).map { UInt64($0) }
        guard (1...2).contains(numbers.count), let seed = numbers[0], let count = numbers.count > 1 ? numbers[1] : 200
        else { self.explain() }
        let actions = ModelCheck.actions(of: ModelEvent.sequence(seed: seed, count: Int(clamping: count)))
        Self.say(ModelScenario.text(of: actions, head: ["`modelcheck write \(seed) \(count)`"]))
        exit(0)
    }

    /// Writes the text, and returns its path.
    private static func keep(_ text: String, _ name: String) -> String {
        let directory = ".build/modelcheck"
        mkdir(".build", 0o755)
        mkdir(directory, 0o755)
        let path = "\(directory)/\(name)"
        TemporaryDirectory.write(Array(text.utf8), to: path)
        return path
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
}
