import Glibc
import PerchApple
import PerchModel
import PerchTesting
import Testing

@testable import PerchServer

/// The file of `--apple-apps`.
@Suite struct `the apps of the App Store` {
    private static let made = MadeCertificate("key")

    /// A file with one sandbox app, whose `server_api` has these members beside the key.
    private static func read(_ members: String, mode: mode_t = 0o600) throws -> AppleAppsFile {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write(Self.made.key, to: directory.file("key.p8"))
        chmod(directory.file("key.p8"), mode)
        let text = """
            {"apps": [{"bundle_id": "com.example.app", "environment": "sandbox", "server_api": {
                "key": "key.p8", "key_id": "ABC", "issuer_id": "issuer"\(members)}}]}
            """
        TemporaryDirectory.write(Array(text.utf8), to: directory.file("apple.json"))
        return try AppleAppsFile(path: directory.file("apple.json"))
    }

    @Test(arguments: [
        ("", false, false), (#","finish_transactions":true"#, true, false),
        (#","set_account_tokens":true"#, false, true),
        (#","finish_transactions":false,"set_account_tokens":false"#, false, false),
    ])
    func `are told to the App Store what they ask for`(_ members: String, _ finishes: Bool, _ setsTokens: Bool) throws {
        let entry = try #require(try Self.read(members).entries.first)
        #expect(entry.api?.finishesTransactions == finishes && entry.api?.setsAccountTokens == setsTokens)
        var settings = AppSettings()
        entry.apply(to: &settings)
        #expect(settings.finishesAtAppStore == finishes && settings.setsTokensAtAppStore == setsTokens)
    }

    @Test(arguments: [
        (#","finish_transactions":1"#, "finish_transactions must be true or false"),
        (#","set_account_tokens":"yes""#, "set_account_tokens must be true or false"),
        (
            #","allow_private_addresses":0,"base_url":"https://10.0.0.1""#,
            "allow_private_addresses must be true or false"
        ),
        (#","allow_private_addresses":true"#, "allow_private_addresses is for a base_url"),
        (#","finish":true"#, "server_api has no member finish; there are "),
        (#","base_url":"http://example.com""#, "base_url must begin with https://"),
    ])
    func `are refused with what is wrong`(_ members: String, _ message: String) {
        let error = #expect(throws: ServerError.self) { try Self.read(members) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test func `are the same if nothing that is asked with differs`() throws {
        let known = try #require(try Self.read("").entries.first?.api)
        #expect(try Self.read("").entries.first?.api == known, "the key was read again")
        for other in [#","finish_transactions":true"#, #","base_url":"https://example.com""#] {
            #expect(try Self.read(other).entries.first?.api != known)
        }
        let another = try AppleAPIKey(p8: MadeCertificate("another key").key, id: "ABC", issuerID: "issuer")
        #expect(another != known.key, "under the same name")
        #expect(try AppleAPIKey(p8: Self.made.key, id: "ABC", issuerID: "issuer") == known.key)
        #expect(try AppleAPIKey(p8: Self.made.key, id: "ABD", issuerID: "issuer") != known.key)
    }

    @Test func `have a key that nobody else reads`() {
        let error = #expect(throws: ServerError.self) { try Self.read("", mode: 0o640) }
        #expect(error?.description.contains("others can read it (mode 640); `chmod 600` it") == true)
    }
}
