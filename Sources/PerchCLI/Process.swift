import Glibc

/// What the kernel gave this process.
package enum Process {
    /// Without the program's name.
    package static var arguments: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// Of a name that stands there twice, the first counts, as for `getenv`.
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

/// Ctrl-C and SIGTERM for commands that ask: they end at once. Nothing needs to be put in order, since data is written
/// as it comes and files are replaced whole; the server sees the connection close.
package enum Interruption {
    package static func endTheProcess() {
        for number in [SIGINT, SIGTERM] { signal(number, endedBySignal) }
    }
}

/// On whatever thread, in the middle of whatever: only what a signal handler may call.
private func endedBySignal(_ number: Int32) {
    let line: StaticString = "\nperch: interrupted\n"
    _ = write(2, line.utf8Start, line.utf8CodeUnitCount)
    _exit(130)
}
