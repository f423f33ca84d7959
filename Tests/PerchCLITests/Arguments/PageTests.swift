import PerchTesting
import Testing

@testable import PerchCLI

/// The commands that pages show, read as this program reads them.
@Suite struct `commands on pages` {
    private static let pages = [
        "README.md", "deploy/README.md", "deploy/postgres.md", "deploy/rehearsal.md", "proto/README.md",
        "proto/scenario/README.md", "proto/clients/README.md", "proto/clients/python/README.md",
        "Sources/PerchClient/PerchClient.docc/GettingStarted.md", "Sources/PerchClient/PerchClient.docc/Copy.md",
        "Sources/PerchConsole/PerchConsole.docc/Design.md", "Sources/PerchCLI/PerchCLI.docc/Design.md",
    ]

    @Test(arguments: Self.pages) func `in blocks to paste are understood`(_ page: String) {
        for command in PageCommands(Repository.text(page)).pasted {
            do throws(UsageError) {
                _ = try ArgumentParser(CommandTable.root).parse(command)
            } catch {
                Issue.record("\(page): perch \(command.joined(separator: " ")): \(error.message)")
            }
        }
    }

    @Test(arguments: Self.pages) func `within sentences have the names and options that there are`(_ page: String) {
        for command in PageCommands(Repository.text(page)).mentioned {
            guard let fault = Self.fault(of: command) else { continue }
            Issue.record("\(page): perch \(command.joined(separator: " ")): \(fault)")
        }
    }

    /// A sentence may name a group's command by the group, such as `perch watch --since FILE`.
    private static func fault(of words: [String]) -> String? {
        var command = CommandTable.root
        for word in words {
            if word.hasPrefix("--") {
                let name = String(word.dropFirst(2).prefix { $0 != "=" })
                let found = Self.all(below: command).contains { $0.options.contains { $0.name == name } }
                if !found, name != "help", name != "version" { return "there is no option \(word)" }
            } else if let next = command.commands.first(where: { $0.name == word }) {
                command = next
            } else if word == "help" {
                return nil
            } else if command.operands.isEmpty, !command.commands.isEmpty, word.contains(where: \.isLowercase) {
                return "there is no command \(word)"
            } else {
                // What follows are operands, and options among them.
                continue
            }
        }
        return nil
    }

    private static func all(below command: CommandSpec) -> [CommandSpec] {
        [command] + command.commands.flatMap { Self.all(below: $0) }
    }

    @Test func `are found in blocks and in sentences, as a shell reads them`() {
        let text = """
            Say `perch get apps` and
            `perch serve --listen 1`, not `rm`.
            ```sh
            A=b sudo perch backup "/a b/$(date).db" --timeout 1h && perch doctor   # perch no
            cat x | .build/debug/perch ingest - \\
                --bundle-id 'it' >file; echo perch
            ```
            """
        let found = PageCommands(text)
        #expect(found.mentioned == [["get", "apps"], ["serve", "--listen", "1"]])
        #expect(
            found.pasted == [
                ["backup", "/a b/1.db", "--timeout", "1h"], ["doctor"], ["ingest", "-", "--bundle-id", "it"],
            ])
    }
}

/// The commands of `perch` on a page in Markdown, without the name of the program.
struct PageCommands {
    /// Of blocks marked `sh` or `console`.
    private(set) var pasted: [[String]] = []
    /// Of code within sentences.
    private(set) var mentioned: [[String]] = []

    init(_ page: String) {
        var block: String?
        var isShell = false
        var prose = ""
        for line in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if let text = block, isShell { self.pasted += Self.commands(text) }
                isShell = line == "```sh" || line == "```console"
                block = block == nil ? "" : nil
            } else if let text = block {
                block = text + (line.hasPrefix("$ ") ? String(line.dropFirst(2)) : line) + "\n"
            } else {
                prose += line + " "
            }
        }
        for (place, code) in prose.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        where !place.isMultiple(of: 2) { self.mentioned += Self.commands(String(code)) }
    }

    /// The commands of a text of shell. A substitution and a variable become `1`.
    private static func commands(_ text: String) -> [[String]] {
        var found: [[String]] = []
        var words: [String] = []
        func end() {
            while let first = words.first, first == "sudo" || first.contains("=") && !first.hasPrefix("-") {
                words.removeFirst()
            }
            if let name = words.first, name == "perch" || name.hasSuffix("/perch"), words.count > 1 {
                found.append(Array(words.dropFirst()))
            }
            words = []
        }
        var word: String?
        func endWord() {
            if let text = word { words.append(text) }
            word = nil
        }
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\":
                if rest.first != "\n" { word = (word ?? "") + rest.prefix(1) }
                rest = rest.dropFirst()
            case "'", "\"":
                word = (word ?? "") + Self.replacingSubstitutions(rest.prefix { $0 != character })
                rest = rest.drop { $0 != character }.dropFirst()
            case "$":
                if rest.first == "(" {
                    rest = rest.drop { $0 != ")" }.dropFirst()
                } else {
                    rest = rest.drop { $0.isLetter || $0 == "_" || $0 == "{" || $0 == "}" }
                }
                word = (word ?? "") + "1"
            case "#" where word == nil: rest = rest.drop { $0 != "\n" }
            case ">", "<":
                // What is read or written is no argument.
                endWord()
                rest = rest.drop { ">&< ".contains($0) }.drop { !$0.isWhitespace && $0 != ";" }
            case "\n", ";", "&", "|", "(", ")": endWord(); end()
            case " ", "\t": endWord()
            default: word = (word ?? "") + String(character)
            }
        }
        endWord()
        end()
        return found
    }

    private static func replacingSubstitutions(_ text: Substring) -> String {
        var (result, rest) = ("", text)
        while let character = rest.popFirst() {
            guard character == "$" else { result.append(character); continue }
            rest = rest.first == "(" ? rest.drop { $0 != ")" }.dropFirst() : rest.drop { $0.isLetter || $0 == "_" }
            result += "1"
        }
        return result
    }
}
