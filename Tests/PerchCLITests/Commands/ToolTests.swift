import Glibc
import PerchCatalogue
import PerchClient
import PerchJSON
import PerchServer
import PerchTesting
import Testing
import TestingThreads

@testable import PerchCLI

private func planned(
    _ arguments: [String], _ environment: [String: String] = [:]
) -> (code: ExitCode?, data: String, talk: String) {
    let console = RecordedConsole()
    let plan = Tool(console: console).plan(arguments, environment: environment)
    var code: ExitCode?
    if case .done(let done) = plan { code = done }
    return (code, console.data, console.talk)
}

private func ran(_ arguments: [String], console: RecordedConsole = RecordedConsole()) async -> (
    code: ExitCode, data: String, talk: String
) {
    let tool = Tool(console: console)
    // Nobody listens there. At the address that commands ask by themselves a server of the person who tests may run.
    switch tool.plan(arguments, environment: ["PERCH_SERVER": "127.0.0.1:1"]) {
    case .done(let code): return (code, console.data, console.talk)
    case .serve: return (.failure, console.data, "a server was started")
    case .bench(let job):
        return (tool.runBench(job, executable: "/nowhere/perch", environment: [:]), console.data, console.talk)
    case .run(let job): return (await tool.run(job), console.data, console.talk)
    }
}

@Suite(.onOwnThreads) struct `the tool` {
    @Test func `help and version are data, and are asked for`() {
        let help = planned(["--help"])
        #expect(help.code == .success)
        #expect(help.data.hasPrefix("Perch knows who owns what"))
        #expect(help.talk.isEmpty)
        #expect(planned([]).data == help.data)
        for arguments in [["--version"], ["-V"]] {
            #expect(planned(arguments).data == "perch \(Tool.version)\n")
        }
        #expect(planned(["help", "exit-codes"]).data == Help.exitCodes())
    }

    @Test func `a mistake is talk, with exit code 2 and where to read on`() {
        let wrong = planned(["store", "by"])
        #expect(wrong.code == .usage)
        #expect(wrong.data.isEmpty)
        #expect(
            wrong.talk
                == "perch: perch store has no command \"by\"\nDid you mean `perch store buy`?\nSee `perch store --help`."
        )
    }

    @Test func `the address of a console is printed only where one is`() async {
        let missing = await ran(["console", "--server", "127.0.0.1:1"])
        #expect(missing.code == .unavailable && missing.data.isEmpty)
        #expect(missing.talk.contains("Connection refused"), "\(missing.talk)")
        #expect(missing.talk.contains("Start a server with `perch serve`"), "\(missing.talk)")
    }

    @Test func `help is given in an environment that nothing else would run in`() {
        #expect(planned(["serve", "--help"], ["PERCH_LISTN": "x"]).code == .success)
        #expect(planned(["serve"], ["PERCH_LISTN": "x"]).code == .usage)
    }

    @Test func `serve is planned with its settings, and shows them on request`() {
        let console = RecordedConsole()
        guard case .serve(let settings) = Tool(console: console).plan(["serve"], environment: ["PERCH_LOOPS": "2"])
        else {
            Issue.record("no server was planned")
            return
        }
        #expect(settings.loops == 2)
        let shown = planned(["serve", "--show-config"], ["PERCH_LOOPS": "2"])
        #expect(shown.code == .success)
        #expect(shown.data.contains("loops = 2 "))
    }

    /// The apps of the store keep their environment, so an operator who names another one is mistaken.
    @Test(arguments: [
        ("--time-rate realTime", "--time-rate (command line)"), ("--clock 1970-01-01", "--clock (command line)"),
    ])
    func `an option of a catalogue's app is refused without a catalogue`(_ line: String, _ says: String) {
        let words = line.split(separator: " ").map(String.init)
        let refused = planned(["serve", "--store", "s"] + words)
        #expect(
            refused.code == .usage && refused.talk.contains(says) && refused.talk.contains("give the catalogue too"))
        let shown = planned(["serve", "--store", "s", "--show-config"] + words)
        #expect(shown.code == .usage && shown.data.contains("store = s") && shown.talk.contains(says))
        #expect(planned(["serve", "--catalog", "a.storekit"] + words).code == nil, "planned, and not done")
    }

    @Test(arguments: [
        " com.example.app", "com.example.app ", "com.example\napp", "a b", "", "caf\u{E9}",
        String(repeating: "a", count: 256),
    ])
    func `a bundle identifier is of what one can be of: it is in the store for good`(_ id: String) {
        let refused = planned(["serve", "--catalog", "a.storekit", "--bundle-id", id])
        #expect(refused.code == .usage && refused.talk.contains("--bundle-id is"))
    }

    @Test func `a reader that has had enough is no failure`() async {
        let console = RecordedConsole(readerTakes: 0)
        let path = "\(Repository.path)/deploy/sample.storekit"
        let result = await ran(["catalog", "check", path], console: console)
        #expect(result.code == .success)
        #expect(result.talk.isEmpty)
    }

    @Test func `an address that is none is a mistake of who typed it`() async {
        let result = await ran(["get", "apps", "--server", "example..invalid:7447"])
        #expect(result.code == .usage)
        #expect(result.data.isEmpty)
        #expect(result.talk.hasPrefix("perch: --server is \"example..invalid:7447\", it should be HOST:PORT"))
    }

    /// A free port of loopback, also by its name; and invalid names.
    @Test(arguments: [
        ("127.0.0.1:1", ExitCode.unavailable, "no connection to 127.0.0.1:1: Connection refused"),
        ("localhost:1", .unavailable, "no connection to localhost:1: Connection refused"),
        ("example..invalid:1", .usage, "\"example..invalid\" in \"example..invalid:1\" is neither a host name"),
    ])
    func `a scenario that has no server to play on ends as another command does`(
        _ server: String, _ code: ExitCode, _ says: String
    ) async throws {
        let file = "\(Repository.path)/proto/scenario/grace.scenario"
        let result = await ran(["scenario", "run", file, "--server", server])
        #expect(result.code == code)
        #expect(result.data.contains(says) || result.talk.contains(says), "\(result)")
    }
}

@Suite(.onOwnThreads) struct `several scenarios of which some cannot be read` {
    private let folder = TemporaryDirectory()
    private var sound: String { self.file("sound", "product gold monthly 9.99\nbuy gold\n") }
    private var wrong: String { self.file("wrong", "product gold monthly 9.99\nbyu gold\n") }
    private var latin: String {
        let path = self.folder.file("latin.scenario")
        TemporaryDirectory.write(Array("buy ".utf8) + [0xE9], to: path)
        return path
    }
    private var missing: String { self.folder.file("missing.scenario") }

    private func file(_ name: String, _ text: String) -> String {
        let path = self.folder.file("\(name).scenario")
        TemporaryDirectory.write(Array(text.utf8), to: path)
        return path
    }

    @Test func `all scenarios are checked although some cannot be read, and the command fails`() async {
        let result = await ran(["scenario", "check", self.missing, self.sound, self.latin, self.wrong])
        #expect(result.code == .failure)
        #expect(result.data.contains("missing.scenario: error:"))
        #expect(result.data.contains("missing.scenario could not be read: No such file or directory"))
        #expect(result.data.contains("sound.scenario: 1 steps, 0 expectations"))
        #expect(result.data.contains("latin.scenario is not UTF-8 text"))
        #expect(result.data.contains("wrong.scenario:2:1: error:"))
    }

    @Test func `unreadable scenarios are failures in the summary and in the JUnit file`() async {
        let junit = self.folder.file("results.xml")
        let result = await ran([
            "scenario", "run", self.missing, self.sound, self.wrong, self.latin, "--junit", junit, "--server",
            "127.0.0.1:1",
        ])
        #expect(result.code == .failure)
        #expect(result.talk.contains("4 scenarios: 0 passed, 4 failed"))
        #expect(result.data.contains("sound.scenario: could not be played"))
        let xml = String(decoding: TemporaryDirectory.read(junit), as: UTF8.self)
        #expect(xml.contains("tests=\"4\" failures=\"4\""))
        #expect(xml.contains("missing.scenario could not be read"))
    }

    @Test func `include a directory without a scenario`() async {
        let empty = TemporaryDirectory()
        let other = await ran(["scenario", "check", empty.path, self.sound])
        #expect(other.code == .failure)
        #expect(other.data.contains("has no file that ends in .scenario"))
        #expect(other.data.contains("sound.scenario: 1 steps"))
    }
}

@Suite(.onOwnThreads) struct `every command` {
    @Test(arguments: Page.all().filter { $0.path[$0.path.count - 1].action != nil })
    func `every command finds the options that it asks for in its own table`(_ page: Page) throws {
        guard let action = page.path[page.path.count - 1].action, action != .serve else { return }
        let invocation = Invocation(path: page.path, action: action, written: [:], operands: [])
        let sources = Settings.Sources(environment: [:]) { (path) throws(FileFault) in throw FileFault(path) }
        let settings = try Settings(invocation, root: CommandTable.root, from: sources)
        let run = CommandRun(Tool.Job(invocation: invocation, settings: settings), console: RecordedConsole())
        #expect(run.printer.format == .text)
        // A scenario counts every message, so it uses a separate connection instead of a client.
        if settings.has("server"), settings.has("timeout") { _ = try run.makeClient() }
    }
}

@Suite(.onOwnThreads) struct `store generate` {
    private let catalogue = "\(Repository.path)/deploy/sample.storekit"

    @Test func `writes a store that is not listed among the commands`() async {
        let folder = TemporaryDirectory()
        let path = folder.file("big.db")
        let result = await ran(["store", "generate", path, "--catalog", self.catalogue, "--accounts", "20"])
        #expect(result.code == .success)
        #expect(result.data.isEmpty)
        #expect(result.talk.contains("20 of 20 accounts"))
        #expect(TemporaryDirectory.names(in: folder.path).contains("big.db"))
        #expect(!planned(["store", "--help"]).data.contains("generate"))
    }

    @Test func `the command overwrites nothing, and needs a catalogue with a subscription`() async {
        let folder = TemporaryDirectory()
        let path = folder.file("big.db")
        #expect(await ran(["store", "generate", path]).code == .usage)
        let coins = ["--catalog", self.catalogue, "--accounts", "1", "--product", "app.perch.coins"]
        #expect(await ran(["store", "generate", path] + coins).code == .failure)
        #expect(TemporaryDirectory.names(in: folder.path).isEmpty)
        TemporaryDirectory.write([1, 2, 3], to: path)
        #expect(
            await ran(["store", "generate", path, "--catalog", self.catalogue, "--accounts", "1"]).code == .failure)
        #expect(TemporaryDirectory.read(path) == [1, 2, 3])
    }
}

@Suite(.onOwnThreads) struct `restore` {
    @Test func `restoring a file that is no backup changes nothing`() async {
        let folder = TemporaryDirectory()
        TemporaryDirectory.write(Array("hello".utf8), to: folder.file("notes.txt"))
        let place = folder.file("store")
        let result = await ran(["restore", folder.file("notes.txt"), place])
        #expect(result.code == .failure)
        #expect(result.talk.contains("is no store of Perch"))
        #expect(!Files.exists(place))
        mkdir(place, 0o700)
        _ = await ran(["restore", folder.file("notes.txt"), place])
        #expect(Files.exists(place))
    }

    @Test func `a restore refuses the path memory, because it would make a directory of that name`() async {
        let result = await ran(["restore", "/nowhere/perch.db", "memory"])
        #expect(result.code == .usage)
        #expect(result.talk.contains("./memory"))
        #expect(!Files.exists("memory"))
    }

    @Test func `restoring a directory names the file to use instead`() async {
        let folder = TemporaryDirectory()
        let result = await ran(["restore", "--verify", folder.path])
        #expect(result.code == .failure)
        #expect(
            result.talk == "perch: \(folder.path) is no regular file; name the file that perch backup has made")
    }
}

@Suite(.onOwnThreads) struct `catalog check` {
    @Test func `the check lists a file's contents without a server`() async {
        let path = "\(Repository.path)/deploy/sample.storekit"
        let text = await ran(["catalog", "check", path])
        #expect(text.code == .success)
        #expect(text.data.hasPrefix("\(path): schema 4.0: 6 products"))
        let json = await ran(["catalog", "check", path, "-o", "ndjson"])
        #expect(json.data.hasPrefix("{\"summary\":{\"schemaVersion\":\"4.0\",\"consumableCount\":1,"))
        #expect(json.data.filter { $0 == "\n" }.count == 1)
    }

    @Test func `the check accepts a bundle directory`() async {
        let folder = TemporaryDirectory()
        TemporaryDirectory.write(
            TemporaryDirectory.read("\(Repository.path)/deploy/sample.storekit"),
            to: folder.file("Configuration.storekit"))
        #expect(await ran(["catalog", "check", folder.path]).code == .success)
    }

    /// A bundle with one product, whose image is `icon`, and images with the given sizes beside it.
    private static func bundle(_ images: [String: Int]) -> TemporaryDirectory {
        let folder = TemporaryDirectory()
        let file = """
            {"products": [{"productID": "a", "type": "NonConsumable", "displayPrice": "1.99",
            "promotionalImageID": "icon", "localizations": [{"locale": "en_US", "displayName": "A"}]}]}
            """
        TemporaryDirectory.write(Array(file.utf8), to: folder.file("Configuration.storekit"))
        mkdir(folder.file("Assets"), 0o700)
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        for (name, count) in images {
            let bytes = signature + [UInt8](repeating: 0, count: count - signature.count)
            TemporaryDirectory.write(bytes, to: folder.file("Assets/\(name)"))
        }
        return folder
    }

    @Test func `a load sends the images of a bundle, and ignores other files`() async {
        let folder = Self.bundle(["icon.png": 100, ".DS_Store": 8, ".png": 8])
        let result = await ran(["catalog", "check", folder.path])
        #expect(result.code == .success)
        #expect(
            result.data
                == "\(folder.path): schema not stated: 1 product (1 non-consumable), 0 subscription groups, 0 offers, 1 image\n"
        )
        let json = await ran(["catalog", "check", folder.path, "-o", "ndjson"])
        #expect(json.data.contains("\"imageCount\":1"))
    }

    @Test func `the check names missing and surplus images of a bundle`() async {
        let folder = Self.bundle(["other.png": 100])
        let result = await ran(["catalog", "check", folder.path])
        #expect(result.code == .success)
        #expect(result.data.contains(":2:23: warning: product \"a\": the image \"icon\" is missing"))
        #expect(result.data.contains(":1:1: warning: no product names the image \"other\"; left out"))
    }

    @Test func `an image beyond the limit is refused with the limit`() async {
        let folder = Self.bundle(["icon.png": 1024 * 1024 + 1])
        let result = await ran(["catalog", "check", folder.path])
        #expect(result.code == .failure)
        #expect(result.data.isEmpty)
        #expect(result.talk.contains("Assets/icon.png has more than 1048576 bytes, the limit; make the image smaller"))
    }

    @Test func `a bundle larger than a request is refused with both numbers`() async {
        let folder = Self.bundle(["a.png": 1 << 20, "b.png": 1 << 20, "c.png": 1 << 20, "icon.png": 1 << 20])
        let result = await ran(["catalog", "load", folder.path, "--server", "127.0.0.1:1"])
        #expect(result.code == .failure)
        #expect(result.talk.contains("bytes with its 4 images, a request can have 4194304; let the server read it"))
    }

    @Test func `an image is never written to a terminal`() async {
        let console = RecordedConsole(isTerminal: true)
        let result = await ran(["get", "image", "icon", "--server", "127.0.0.1:1"], console: console)
        #expect(result.code == .usage)
        #expect(result.talk.contains("--to FILE"))
    }

    @Test func `the check prints each warning with its place, as compilers do`() async {
        let folder = TemporaryDirectory()
        let path = folder.file("Odd.storekit")
        let file = """
            {"products": [{"productID": "a", "type": "NonConsumable", "displayPrice": "1.99", "internalID": "1"}],
             "novelty": 1}
            """
        TemporaryDirectory.write(Array(file.utf8), to: path)
        let result = await ran(["catalog", "check", path])
        #expect(result.code == .success)
        #expect(result.data.contains("\(path):2:2: warning: the key \"novelty\" is unknown in the file; ignored\n"))
        let json = await ran(["catalog", "check", path, "-o", "json"])
        #expect(json.data.contains("\"line\": 2,\n        \"column\": 2,\n        \"message\": \"the key"))
    }

    @Test(arguments: ["", "{", "[]", "{\"products\": []}"])
    func `an unusable file is refused with the place`(_ content: String) async {
        let folder = TemporaryDirectory()
        let path = folder.file("Bad.storekit")
        TemporaryDirectory.write(Array(content.utf8), to: path)
        let result = await ran(["catalog", "check", path])
        #expect(result.code == .failure)
        #expect(result.data.isEmpty)
        #expect(result.talk.hasPrefix("perch: \(path): line "))
    }

    @Test func `the greeting says whether purchases wait for a decision, as the file has it`() throws {
        func line(_ settings: String) throws -> String {
            let file = """
                {"products": [{"productID": "a", "type": "Consumable", "displayPrice": "1"}], "settings": \(settings)}
                """
            return Serve.dialogs(try StoreKitFile.load(Array(file.utf8)).settings)
        }
        #expect(try line("{\"_disableDialogs\": false}").hasPrefix("dialogs: on, each purchase of the app waits"))
        #expect(try line("{}").hasPrefix("dialogs: off, purchases happen at once"))
        #expect(try line("{\"_disableDialogs\": true}") == line("{}"))
    }

    @Test func `a missing file is refused`() async {
        let result = await ran(["catalog", "check", "/nowhere/Shop.storekit"])
        #expect(result.code == .failure)
        #expect(result.talk.contains("/nowhere/Shop.storekit"))
    }
}

@Suite(.onOwnThreads) struct `an error with -o json` {
    @Test func `is one document on standard error, with code, reason and exit code`() async throws {
        let gone = await ran(["get", "status", "alice", "plus", "--server", "127.0.0.1:1", "-o", "json"])
        #expect(gone.code == .unavailable && gone.data.isEmpty)
        let error = try #require(JSONReader.read(Array(gone.talk.utf8))["error"])
        #expect(error["code"]?.string == "unavailable" && error["reason"]?.string == "CONNECT_FAILED")
        #expect(error["exitCode"]?.integer == Int64(ExitCode.unavailable.rawValue))
        #expect(error["message"]?.string?.contains("CONNECT_FAILED") == false)
        #expect(error["advice"]?.string?.contains("perch serve") == true)
    }

    @Test(arguments: [
        ["get", "status", "-o", "json"], ["nosuch", "--output=ndjson"],
        ["store", "auto-renew", "gus", "--output", "json"],
    ])
    func `of the command line is a document too`(_ words: [String]) async throws {
        let refused = await ran(words)
        let error = try #require(JSONReader.read(Array(refused.talk.utf8))["error"])
        #expect(refused.code == .usage && refused.data.isEmpty)
        #expect(error["exitCode"]?.integer == Int64(ExitCode.usage.rawValue))
        #expect(error["message"]?.string?.isEmpty == false)
    }

    @Test(arguments: [["get", "status", "-o", "text"], ["get", "status", "--", "-o", "json"], ["nosuch"]])
    func `of the command line stays text where nobody asks for JSON`(_ words: [String]) async {
        let refused = await ran(words)
        #expect(refused.talk.hasPrefix("perch: ") && !refused.talk.contains("{"))
    }

    @Test func `names the command instead of the method`() {
        let error = PerchError(
            code: .permissionDenied, reason: "PERMISSION_DENIED",
            message: "/perch.v1.TestStoreService/Operate needs the scope test, the credentials have write")
        #expect(error.told(of: "perch store buy").contains("`perch store buy` needs the scope test"))
    }

    @Test func `of a file has a message and the exit code`() async throws {
        let missing = await ran(["catalog", "check", "/nowhere.storekit", "-o", "json"])
        let error = try #require(JSONReader.read(Array(missing.talk.utf8))["error"])
        #expect(error["message"]?.string?.contains("/nowhere.storekit") == true && missing.code != .success)
    }
}
