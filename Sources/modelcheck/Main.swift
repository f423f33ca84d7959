import Glibc
import PerchTesting

/// Lives random sequences of everything that can be done to a test store, against the laws and invariants of the model.
///
///     modelcheck COUNT [FROM] [EVENTS]     so many sequences of 200 events, of the seeds from FROM (1) on
///
/// Ends with 1 where something was broken, and prints the fewest events that break it; with 2 where it was not understood.
@main
enum Main {
    static func main() {
        let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
        guard (1...3).contains(numbers.count), !numbers.contains(nil), let count = numbers[0], count > 0 else {
            Self.say("modelcheck COUNT [FROM] [EVENTS]")
            exit(2)
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

    /// At once, so that a long run shows where it is when it is looked at through a pipe.
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
