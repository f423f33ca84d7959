import Glibc
import PerchLoop
import Synchronization

/// The arguments and the environment of this process.
package enum Process {
    /// Without the program's name.
    package static var arguments: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// The file of this program, to start a child of the same program.
    package static var executable: String { "/proc/self/exe" }

    /// The first entry of a name counts, as for `getenv`.
    package static var environment: [String: String] {
        var result: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            next += 1
            guard let equals = text.firstIndex(of: "="), result[String(text[..<equals])] == nil else { continue }
            result[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return result
    }
}

/// Ctrl-C and SIGTERM end a command that asks a server at once. No cleanup is needed: data is written as it comes, files
/// are replaced whole, and the server sees the connection close.
package enum Interruption {
    package static func endTheProcess() {
        for number in [SIGINT, SIGTERM] { signal(number, endedBySignal) }
    }
}

extension Interruption {
    /// For a command that cleans up after an interrupt. It polls `isAsked`.
    package static func remember() {
        for number in [SIGINT, SIGTERM] { signal(number, rememberedSignal) }
        // The terminal has closed. A process under nohup ignores that.
        if !SignalSource.isIgnored(SIGHUP) { signal(SIGHUP, rememberedSignal) }
    }

    package static var isAsked: Bool { wasInterrupted.load(ordering: .relaxed) }
}

private let wasInterrupted = Atomic<Bool>(false)

/// The second signal ends the process at once.
private func rememberedSignal(_ number: Int32) {
    if wasInterrupted.exchange(true, ordering: .relaxed) { _exit(130) }
}

/// Runs on any thread at any point, so it calls only async-signal-safe functions.
private func endedBySignal(_ number: Int32) {
    let line: StaticString = "\nperch: interrupted\n"
    _ = write(2, line.utf8Start, line.utf8CodeUnitCount)
    _exit(130)
}
