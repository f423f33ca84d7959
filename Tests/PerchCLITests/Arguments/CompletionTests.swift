import Glibc
import PerchTesting
import Testing

@testable import PerchCLI

/// Shell completions and man pages come from the table of commands, so they are complete.
@Suite struct `completion and man pages` {
    private static let pages = Completion.pages(CommandTable.root)

    @Test func `name each command and each option`() {
        let texts = [Completion.bash(Self.pages), Completion.zsh(Self.pages), Completion.fish(Self.pages)]
        for page in Page.all() {
            let isHidden = page.path.contains { $0.isHidden }
            let name = Invocation.name(of: page.path)
            for text in texts {
                #expect(text.contains("'\(name)'") || text.contains("\"\(name)\"") != isHidden, "\(name)")
            }
            guard !isHidden else { continue }
            for option in page.path[page.path.count - 1].options {
                #expect(texts[0].contains("--\(option.name)") && texts[2].contains("-l \(option.name)"))
            }
        }
    }

    /// Runs the completion as bash does, for a line with the cursor at its end.
    private func completed(_ line: String, in folder: TemporaryDirectory) -> [String] {
        let script = folder.file("perch.bash")
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        TemporaryDirectory.write(
            Array(
                (Completion.bash(Self.pages)
                    + "COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count - 1)\n_perch\n"
                    + "printf '%s\\n' \"${COMPREPLY[@]}\" > \(folder.file("answer"))\n").utf8), to: script)
        guard system("bash \(script)") == 0 else { return ["bash failed"] }
        return String(decoding: TemporaryDirectory.read(folder.file("answer")), as: UTF8.self)
            .split(separator: "\n").map { String($0) }
    }

    @Test(arguments: [
        ("perch sto", ["store"]), ("perch watch sta", ["status"]), ("perch store auto-renew 7 o", ["on", "off"]),
        ("perch get apps --out", ["--output"]), ("perch get apps --output n", ["ndjson"]),
        ("perch get apps -o j", ["json"]), ("perch store clock adv", ["advance"]),
    ])
    func `complete in bash what was begun`(_ line: String, _ words: [String]) {
        #expect(self.completed(line, in: TemporaryDirectory()) == words)
    }

    @Test func `man pages name each command, and no line is a request by mistake`() {
        let pages = ManPage.all(CommandTable.root)
        #expect(pages.first?.name == "perch")
        #expect(pages.contains { $0.name == "perch-store" && $0.text.contains("PERCH STORE BUY") })
        let requests: Set = [".TH", ".SH", ".SS", ".TP", ".PP", ".EX", ".EE", ".B", ".I", ".\\\""]
        for page in pages {
            for line in page.text.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
                let word = line.prefix { $0 != " " }
                #expect(requests.contains(String(word)), "\(page.name): \(line)")
            }
            #expect(page.text.firstMatch(of: /\.S[HS] [^\n]*\n\.PP/) == nil, "\(page.name): an empty paragraph")
        }
    }
}

@Suite struct `contexts` {
    private func settings(_ line: [String], in home: TemporaryDirectory, _ more: [String: String] = [:]) throws
        -> Settings
    {
        guard case .run(let invocation) = try ArgumentParser(CommandTable.root).parse(line) else {
            preconditionFailure("a command")
        }
        let environment = ["XDG_CONFIG_HOME": home.path].merging(more) { $1 }
        return try Settings(
            invocation, root: CommandTable.root,
            from: Settings.Sources(environment: environment) { (path) throws(FileFault) in
                try Files.read(path, limitBytes: 65_536)
            })
    }

    private func write(_ text: String, in home: TemporaryDirectory) {
        mkdir(home.file("perch"), 0o700)
        TemporaryDirectory.write(Array(text.utf8), to: home.file("perch/contexts"))
    }

    @Test func `fill in what neither the line nor the environment says`() throws {
        let home = TemporaryDirectory()
        self.write(
            "current = a\n\n[a]\nserver = 10.0.0.1:7447\ntls-ca = /ca.pem\n\n[b]\nserver = 10.0.0.2:7447\n", in: home)
        let used = try self.settings(["get", "apps"], in: home)
        #expect(used.text("server") == "10.0.0.1:7447" && used.text("tls-ca") == "/ca.pem")
        #expect(used.entry("server")?.origin == .context(name: "a"))
        #expect(try self.settings(["get", "apps", "--context", "b"], in: home).text("server") == "10.0.0.2:7447")
        #expect(try self.settings(["get", "apps"], in: home, ["PERCH_CONTEXT": "b"]).text("tls-ca") == nil)
        let given = try self.settings(["get", "apps", "--server", "h:1"], in: home, ["PERCH_TLS_CA": "/x"])
        #expect(given.text("server") == "h:1" && given.text("tls-ca") == "/x")
    }

    @Test func `contexts have no effect on a server, nor where there are none`() throws {
        let home = TemporaryDirectory()
        #expect(try self.settings(["get", "apps"], in: home).text("server") == "127.0.0.1:7447")
        self.write("current = a\n\n[a]\ntls-certificate = /client.pem\n", in: home)
        #expect(try self.settings(["serve"], in: home).text("tls-certificate") == nil)
    }

    @Test(arguments: [
        ("current = x\n", "there is no context \"x\" in "), ("[a]\nsecret = 1\n", "line 2: \"secret\" is no option"),
        ("[a]\nserver\n", "line 2: \"server\" is neither"),
        ("current = a\n[a]\nserver = http://h:1\n", "server of the context \"a\" is \"http://h:1\""),
    ])
    func `that cannot be used are refused with where it stands`(_ text: String, _ message: String) {
        let home = TemporaryDirectory()
        self.write(text, in: home)
        let error = #expect(throws: UsageError.self) { try self.settings(["get", "apps"], in: home) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func `contexts are read as they were written`() throws {
        var contexts = Contexts()
        contexts.current = "a"
        contexts["a"] = ["server": "h:1", "credentials-file": "/t"]
        contexts["b"] = ["server": "[::1]:7447"]
        #expect(try Contexts(contexts.text, at: "contexts") == contexts)
        contexts["a"] = nil
        #expect(contexts.all.map(\.name) == ["b"])
    }
}
