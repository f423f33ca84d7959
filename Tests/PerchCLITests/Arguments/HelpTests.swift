import Glibc
import PerchCLI
import PerchTesting
import Testing

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
    func `of a command is what was agreed`(_ page: Page) {
        Self.expect(Help.text(for: page.path), in: page.fileName)
    }

    @Test func `of exit codes is what was agreed`() {
        Self.expect(Help.exitCodes(), in: "exit-codes.txt")
    }

    @Test func `fits a terminal of ninety columns`() {
        for page in Page.all() {
            for line in Help.text(for: page.path).split(separator: "\n") { #expect(line.count <= 90, "\(line)") }
        }
    }

    @Test func `has no page for a command that is gone`() {
        let names = Page.all().map(\.fileName) + ["exit-codes.txt"]
        #expect(TemporaryDirectory.names(in: "\(Repository.path)/\(Self.folder)") == names.sorted())
    }
}
