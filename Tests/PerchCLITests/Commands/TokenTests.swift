import Glibc
import PerchBase
import PerchIdentity
import PerchServer
import PerchTesting
import Testing
import TestingThreads

@testable import PerchCLI

/// `perch token`: files in, files out, and no secret anywhere else.
@Suite(.onOwnThreads) struct `perch token` {
    private let directory = TemporaryDirectory()

    private func ran(_ line: String) async -> (code: ExitCode, data: String, talk: String) {
        let console = RecordedConsole()
        let tool = Tool(console: console)
        let words = line.split(separator: " ").map { word in
            word.hasPrefix("@") ? self.directory.file(String(word.dropFirst())) : String(word)
        }
        guard case .run(let job) = tool.plan(words, environment: [:]) else {
            return (.usage, console.data, console.talk)
        }
        return (await tool.run(job), console.data, console.talk)
    }

    private func mode(_ name: String) -> mode_t {
        var info = stat()
        return stat(self.directory.file(name), &info) == 0 ? info.st_mode & 0o777 : 0
    }

    @Test(arguments: ["es256", "eddsa"])
    func `the command makes a key, signs a token with it, and inspects the token`(_ algorithm: String) async throws {
        let made = await self.ran("token key create --algorithm \(algorithm) --to @main.jwk")
        #expect(made.code == .success && made.data.isEmpty)
        #expect(self.mode("main.jwk") == 0o600 && self.mode("main.pub.jwk") == 0o644)
        let signed = await self.ran(
            "token create --key @main.jwk --app com.example.app --scope write --account alice --to @alice.token")
        #expect(signed.code == .success && signed.data.isEmpty)
        #expect(self.mode("alice.token") == 0o600)
        let token = String(decoding: TemporaryDirectory.read(self.directory.file("alice.token")), as: UTF8.self)
        #expect(!signed.talk.contains(token.prefix(20)))
        let shown = await self.ran("token inspect @alice.token --token-keys @main.pub.jwk")
        #expect(shown.code == .success)
        for word in ["com.example.app (xcode)", "write", "alice", "taken"] { #expect(shown.data.contains(word)) }
        let unjudged = await self.ran("token inspect @alice.token -o json")
        #expect(unjudged.code == .success && unjudged.data.contains("\"scope\": \"write\""))
        #expect(!unjudged.data.contains("\"verdict\""))
        let elsewhere = await self.ran("token inspect @alice.token --token-keys @main.pub.jwk --token-audience other")
        #expect(elsewhere.code == .denied && elsewhere.data.contains("refused"))
    }

    @Test func `a secret does not follow a link`() async {
        _ = await self.ran("token key create --algorithm eddsa --to @main.jwk")
        let (link, target) = (self.directory.file("linked.token"), self.directory.file("elsewhere"))
        #expect(symlink(target, link) == 0)
        let made = await self.ran("token create --key @main.jwk --app x --to @linked.token")
        #expect(made.code == .failure && made.talk.contains("is a link"), "\(made.talk)")
        #expect(access(target, F_OK) != 0)
        let key = await self.ran("token key create --to @linked.token")
        #expect(key.code == .failure && access(target, F_OK) != 0)
    }

    @Test func `a command without --to writes only the token to standard output`() async throws {
        _ = await self.ran("token key create --algorithm hs256 --to @main.jwk")
        let made = await self.ran("token create --key @main.jwk --app * --scope admin --expires 1h")
        #expect(made.code == .success)
        #expect(made.data.split(separator: ".").count == 3 && made.data.hasSuffix("\n"))
        #expect(access(self.directory.file("main.pub.jwk"), F_OK) != 0, "a secret has no public half")
    }

    @Test func `that lives longer than a server accepts is a finding, with the server's keys a refusal`() async {
        _ = await self.ran("token key create --algorithm eddsa --to @main.jwk")
        let made = await self.ran("token create --key @main.jwk --app x --expires 500d --to @long.token")
        #expect(made.code == .success && made.talk.contains("more than 400 days ahead"))
        let shown = await self.ran("token inspect @long.token")
        #expect(shown.code == .success && shown.data.contains("finding     it lives longer than the server accepts"))
        let judged = await self.ran("token inspect @long.token --token-keys @main.pub.jwk")
        #expect(judged.code == .denied && judged.talk.contains("the token lives too long"))
        let longer = await self.ran("token inspect @long.token --token-keys @main.pub.jwk --token-life 600d")
        #expect(longer.code == .success && !longer.data.contains("finding"))
    }

    @Test(arguments: [
        ("token create --app x", "--key"), ("token create --key @main.jwk", "--app"),
        ("token create --key @main.pub.jwk --app x", "public half"),
        ("token create --key @none.jwk --app x", "@none.jwk"),
        ("token create --key @open.jwk --app x", "others can read"),
        ("token create --key @main.jwk --app x --app *", "stands alone"),
        ("token key create --to @main.jwk", "there already"), ("token key create", "--to"),
        ("token inspect @main.jwk", "parts"), ("token revoke", "--token-file"),
        ("token revoke --id a --token-file @main.jwk", "one of"),
    ])
    func `a refusal has the cause and the next step`(_ line: String, _ word: String) async {
        _ = await self.ran("token key create --to @main.jwk")
        TemporaryDirectory.write(
            TemporaryDirectory.read(self.directory.file("main.jwk")), to: self.directory.file("open.jwk"))
        chmod(self.directory.file("open.jwk"), 0o640)
        let result = await self.ran(line)
        #expect(result.code == .failure || result.code == .usage)
        #expect(result.data.isEmpty)
        #expect(result.talk.contains(word.hasPrefix("@") ? self.directory.file(String(word.dropFirst())) : word))
    }

    @Test func `a refusal names the missing option`() async {
        let result = await self.ran("token create --app x")
        #expect(result.talk == "perch: perch token create needs --key FILE\nSee `perch token create --help`.")
    }

    @Test func `servers read a directory of keys, and refuse a secret that others can read`() async throws {
        _ = await self.ran("token key create --algorithm eddsa --to @first.jwk")
        _ = await self.ran("token key create --to @second.jwk")
        var settings = AuthenticationSettings()
        settings.tokenKeysPath = self.directory.path
        TemporaryDirectory.write(Array("not a key".utf8), to: self.directory.file("notes.txt"))
        // The private half and the public half of one key are one key.
        #expect(try KeyFiles.authenticator(settings)?.keys.keys.sorted() == ["first", "second"])
        chmod(self.directory.file("second.jwk"), 0o604)
        #expect(throws: ServerError.self) { try KeyFiles.authenticator(settings) }
        #expect(unlink(self.directory.file("second.jwk")) == 0)
        #expect(try KeyFiles.authenticator(settings)?.keys.count == 2)
        settings.certificateIdentitiesPath = self.directory.file("nowhere.json")
        #expect(throws: ServerError.self) { try KeyFiles.authenticator(settings) }
        #expect(try KeyFiles.authenticator(AuthenticationSettings()) == nil)
    }
}
