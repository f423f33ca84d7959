import Glibc
import PerchSimulation

/// Measures the cost of one change in our own code, from its CALL frame to the pushed value and the answer: no sockets,
/// no threads.
///
///     pushcost mux|keyed|hot [CHANGES] [WATCHES] [BATCH]      100,000 purchases, 10,000 watches, 256 changes a tick
///     pushcost once [CHANGES] [WATCHES] [BATCH]               as mux, each purchase with an idempotency key
///     pushcost renewals [CHANGES] [WATCHES] [BATCH]           as mux, each change renews a subscription
///     pushcost fan|fan-grpc [CHANGES] [WATCHES] [BATCH]       one account, its watches on ten connections, by gRPC or not
///     pushcost storm [CONNECTIONS] [ACCOUNTS] [BATCH]         connections that open, receive a value and close
///
/// The frames of the changes are written before the measurement. Prints the nanoseconds of a change, or of a connection. For a figure that does not depend on other load, count
/// instructions:
///
///     valgrind --tool=callgrind --toggle-collect=perch_measured .build/release/pushcost mux 10000
@main
enum Main {
    private static let names = ["mux", "keyed", "hot", "once", "renewals", "fan", "fan-grpc", "storm"]

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().map { Int($0) }
        guard let name = arguments.first, Self.names.contains(name), numbers.count <= 3,
            numbers.allSatisfy({ $0.map { $0 > 0 } ?? false })
        else {
            Self.say("pushcost \(Self.names.joined(separator: "|")) [CHANGES] [WATCHES] [BATCH]")
            exit(2)
        }
        let changes = numbers.count > 0 ? numbers[0] ?? 0 : 100_000
        let watches = numbers.count > 1 ? numbers[1] ?? 0 : 10_000
        let batch = numbers.count > 2 ? numbers[2] ?? 0 : 256
        var setup = PushLoad.Setup(
            watches: watches, connections: ["keyed", "hot"].contains(name) ? watches : 1, batch: batch)
        if name == "hot" { setup.accounts = 1 }
        if name == "fan" || name == "fan-grpc" {
            (setup.accounts, setup.connections) = (1, 10)
            setup.speaksGRPC = name == "fan-grpc"
        }
        if name == "once" { setup.change = .keyedPurchase }
        if name == "renewals" { setup.change = .renewal }
        if name == "storm" { setup.connections = 0 }
        let load = PushLoad(setup)
        load.warmUp()
        if name != "storm" { load.prepare(changes: changes) }
        let before = (values: load.values, writes: load.writes)
        let began = Self.nanoseconds()
        _ = Self.thread
        Self.work = { if name == "storm" { load.storm(connections: changes) } else { load.runPrepared() } }
        perchMeasured()
        let took = Self.nanoseconds() - began
        Self.say(
            "\(name): \(changes) times, \(load.values - before.values) values in \(load.writes - before.writes) writes, "
                + "\(took / changes) ns each")
    }

    /// Because: set and called by the one thread there is, which `perchMeasured` checks.
    nonisolated(unsafe) fileprivate static var work: (() -> Void)?
    fileprivate static let thread = pthread_self()

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    private static func nanoseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Int(now.tv_sec) * 1_000_000_000 + Int(now.tv_nsec)
    }
}

/// A function with a name for callgrind, and so without arguments.
@inline(never)
@c(perch_measured)
public func perchMeasured() {
    precondition(pthread_equal(pthread_self(), Main.thread) != 0, "pushcost has one thread")
    Main.work?()
}
