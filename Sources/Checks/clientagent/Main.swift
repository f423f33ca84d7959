import Glibc

/// The Swift client as a program of its own.
///
///     clientagent agent                           plays the cases of copies: `Tests/Clients/run`
///     clientagent figures ADDRESS NAME SECONDS    what a copy costs: `Tests/Copies/run figures`
@main
enum Main {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.count) {
        case ("agent", 1): await Agent.run()
        case ("figures", 4):
            try await Figures.run(
                address: words[words.startIndex + 1], name: words[words.startIndex + 2],
                seconds: Int(words[words.startIndex + 3]) ?? 10)
        default:
            Self.put(
                Array("usage: clientagent agent | clientagent figures ADDRESS NAME SECONDS\n".utf8), to: STDERR_FILENO)
            exit(2)
        }
    }

    static func put(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }
}
