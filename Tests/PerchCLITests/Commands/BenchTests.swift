import PerchBench
import PerchCLI
import PerchTesting
import Testing

/// `perch bench` up to the start of a server.
@Suite struct `perch bench` {
    private static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) -> (code: ExitCode?, data: String, talk: String) {
        let console = RecordedConsole()
        let tool = Tool(console: console)
        switch tool.plan(["bench"] + arguments, environment: [:]) {
        case .done(let code): return (code, console.data, console.talk)
        case .bench(let job):
            let code = tool.runBench(job, executable: "/nowhere/perch", environment: environment)
            return (code, console.data, console.talk)
        case .serve, .run: return (nil, console.data, console.talk)
        }
    }

    struct Refusal: CustomTestStringConvertible {
        let arguments: [String]
        let says: [String]

        var testDescription: String { self.arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Refusal(arguments: [], says: ["perch bench needs a command: hot, keyed"]),
        Refusal(arguments: ["hto"], says: ["no command \"hto\"", "Did you mean `perch bench hot`?"]),
        Refusal(
            arguments: ["hot", "--fail-if", "psuh_p99>20ms"],
            says: ["--fail-if \"psuh_p99>20ms\" names \"psuh_p99\"", "Did you mean push_p99?"]),
        Refusal(
            arguments: ["hot", "--fail-if", "gaps>0", "--fail-if", "push_p99>20"],
            says: ["which has no unit", "Did you mean 20ms?"]),
        Refusal(arguments: ["hot", "--fail-if", "push_p99:ratio>2"], says: ["a ratio is to the floor", "--floor"]),
        Refusal(arguments: ["hot", "--fail-if", "push_p99>20mz"], says: ["the unit \"mz\"", "Did you mean ms?"]),
        Refusal(
            arguments: ["idle", "--fail-if", "push_p99>20ms"],
            says: ["idle does not measure push_p99", "`perch bench figures` says which workloads do"]),
        Refusal(
            arguments: ["hot", "--rate", "5", "--closed", "1"], says: ["--rate is an open loop", "give one of them"]),
        Refusal(arguments: ["hot", "--rate", "0"], says: ["--rate is \"0\", it can be from 1 to 10000000"]),
        Refusal(arguments: ["hot", "--accounts", "5"], says: ["has no option --accounts"]),
        Refusal(arguments: ["mixed", "--floor"], says: ["has no option --floor"]),
        Refusal(arguments: ["hot", "--one-loop"], says: ["--one-loop compares several loops", "--loops 2"]),
        Refusal(arguments: ["scenario"], says: ["FILE"]),
        Refusal(
            arguments: ["scenario", "a.scenario", "--connect", "127.0.0.1:7447"], says: ["has no option --connect"]),
        Refusal(arguments: ["mux", "--watchers", "70000"], says: ["the 65536 watches that a connection may have"]),
        Refusal(arguments: ["keyed", "--connections", "2000"], says: ["2000 connections would share 1000 watches"]),
        Refusal(
            arguments: ["hot", "--floor", "--connect", "127.0.0.1:7447"],
            says: ["--floor goes with a server", "--connect"]
        ),
        Refusal(arguments: ["hot", "--redis", "--connect", "127.0.0.1:7447"], says: ["--redis goes with a server"]),
        Refusal(arguments: ["hot", "--pid", "1"], says: ["--pid goes with --connect"]),
        Refusal(arguments: ["keyed", "--tls-ca", "ca.pem"], says: ["--tls-ca goes with --connect"]),
        Refusal(arguments: ["buy", "--credentials-file", "f"], says: ["--credentials-file goes with --connect"]),
        Refusal(
            arguments: ["catalog", "--connect", "127.0.0.1:7447"],
            says: ["would replace the catalogue", "--replace-catalog"]),
        Refusal(
            arguments: ["hot", "--connect", "300.1.1.1:7447"],
            says: ["--connect", "neither a host name nor an IPv4 or IPv6 address"]),
        Refusal(
            arguments: ["hot", "--rate", "1000000", "--duration", "2h"], says: ["use a shorter duration"]),
        Refusal(arguments: ["compare", "one.json"], says: ["needs AFTER"]),
    ])
    func `the bench refuses impossible options with the next step`(_ refusal: Refusal) {
        let (code, data, talk) = Self.run(refusal.arguments)
        #expect(code == .usage)
        #expect(data.isEmpty)
        for part in refusal.says { #expect(talk.contains(part), "\(talk)") }
        #expect(talk.contains("--help"), "\(talk)")
    }

    @Test func `a bench without a startable server fails, and leaves nothing behind`() {
        let directory = TemporaryDirectory()
        let (code, data, talk) = Self.run(["hot", "--watchers", "1"], environment: ["TMPDIR": directory.path])
        #expect(code == .failure)
        #expect(data.isEmpty)
        #expect(talk.contains("ended at its start"), "\(talk)")
        #expect(TemporaryDirectory.names(in: directory.path).isEmpty)
    }

    @Test func `names what to install where there is no Redis`() {
        let (code, _, talk) = Self.run(["hot", "--redis"])
        #expect(code == .failure)
        #expect(talk.contains("apt-get install redis-server"), "\(talk)")
    }

    @Test func `lists every figure that a condition may name`() {
        let (code, data, _) = Self.run(["figures"])
        #expect(code == .success)
        for figure in Figure.allCases { #expect(data.contains(figure.rawValue)) }
    }

    @Test func `the bench compares two files`() {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write(
            Array(
                #"{"type":"report","format":1,"title":"hot","targets":[{"name":"perch","figures":{"push_p50":1000}}]}"#
                    .utf8), to: directory.file("a.json"))
        TemporaryDirectory.write(
            Array(
                #"{"type":"report","format":1,"title":"hot","targets":[{"name":"perch","figures":{"push_p50":1500}}]}"#
                    .utf8), to: directory.file("b.json"))
        let (code, data, _) = Self.run(["compare", directory.file("a.json"), directory.file("b.json")])
        #expect(code == .success)
        #expect(data.contains("perch push_p50") && data.contains("+50.0 %") && data.contains("worse"))

        let missing = Self.run(["compare", directory.file("a.json"), directory.file("c.json")])
        #expect(missing.code == .failure)
        #expect(missing.talk.contains("c.json could not be read"))
        TemporaryDirectory.write(Array("{}".utf8), to: directory.file("c.json"))
        let other = Self.run(["compare", directory.file("a.json"), directory.file("c.json")])
        #expect(other.code == .failure)
        #expect(other.talk.contains("is not a report of perch bench"))
    }
}
