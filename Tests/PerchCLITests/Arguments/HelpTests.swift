import Glibc
import PerchTesting
import Testing

@testable import PerchCLI

/// One command of the table, by its path.
struct Page: CustomTestStringConvertible {
    let path: [CommandSpec]

    var testDescription: String { Invocation.name(of: self.path) }
    var fileName: String { self.path.map(\.name).joined(separator: "-") + ".txt" }

    static func all(below path: [CommandSpec] = [CommandTable.root]) -> [Page] {
        [Page(path: path)] + path[path.count - 1].commands.flatMap { Self.all(below: path + [$0]) }
    }
}

/// Help is a contract with people and with those who grep: a change must be seen. The files are written anew by
/// `PERCH_TEST_WRITE_GOLDEN=1 swift test --filter help`.
@Suite struct `help` {
    private static let folder = "Tests/PerchCLITests/Golden"
    private static let rewrites = getenv("PERCH_TEST_WRITE_GOLDEN") != nil

    private static func expect(_ text: String, in name: String) {
        if Self.rewrites {
            TemporaryDirectory.write(Array(text.utf8), to: "\(Repository.path)/\(Self.folder)/\(name)")
        }
        #expect(text == Repository.text("\(Self.folder)/\(name)"), "\(name): see the comment of this suite")
    }

    @Test(arguments: Page.all())
    func `the help of a command equals its golden file`(_ page: Page) {
        Self.expect(Help.text(for: page.path), in: page.fileName)
    }

    @Test func `the help of exit codes equals its golden file`() {
        Self.expect(Help.exitCodes(), in: "exit-codes.txt")
    }

    @Test func `the help of the connection options equals its golden file`() {
        Self.expect(Help.connection(), in: "connection.txt")
    }

    @Test(arguments: [60, 80, 100]) func `the help fits the given columns`(_ width: Int) {
        let pages = Page.all().map { Help.text(for: $0.path, width: width) }
        for text in pages + [Help.exitCodes(width: width), Help.connection(width: width)] {
            for line in text.split(separator: "\n") where line.count > width {
                // One word, such as a list of choices without a space, cannot be broken.
                #expect(line.split(separator: " ").count <= 2, "\(line)")
                #expect(width < 80, "\(line)")
            }
        }
    }

    @Test func `the help has eighty columns in a pipe, and up to a hundred on a terminal`() {
        #expect(Help.columns(of: RecordedConsole()) == 80)
        #expect(Help.columns(of: RecordedConsole(isTerminal: true)) == 80)
    }

    @Test func `the help has each store command and each server setting under a heading`() throws {
        let store = try #require(CommandTable.root.commands.first { $0.name == "store" })
        for command in store.commands where !command.isHidden { #expect(command.heading != nil, "\(command.name)") }
        let serve = try #require(CommandTable.root.commands.first { $0.name == "serve" })
        let names = Set(serve.options.map(\.name))
        let grouped = ServeTable.headings.flatMap(\.settings)
        #expect(Set(grouped).isSubset(of: names), "a heading names a setting that is gone")
        #expect(Set(grouped).count == grouped.count, "a setting is under two headings")
    }

    @Test func `the help lists the connection options once, not for each command`() {
        let text = Help.text(for: [CommandTable.root, CommandTable.root.commands.first { $0.name == "doctor" }!])
        #expect(!text.contains("--tls-server-name"))
        #expect(text.contains("perch help connection"))
        #expect(Help.connection().contains("--tls-server-name NAME"))
    }

    @Test func `no golden file remains of a removed command`() {
        let names = Page.all().map(\.fileName) + ["exit-codes.txt", "connection.txt"]
        #expect(TemporaryDirectory.names(in: "\(Repository.path)/\(Self.folder)") == names.sorted())
    }
}
