package import PerchApple
import PerchBase
import PerchJSON
package import PerchModel
import PerchStore

/// The file of `--apple-apps`: the apps of the App Store that the server takes values for, as JSON.
///
///     {"apps": [
///         {"bundle_id": "com.example.app", "environment": "production", "app_apple_id": 1234567890,
///          "leeway_minutes": 1440, "claims": "transfer",
///          "server_api": {"key": "AuthKey_ABC123DEFG.p8", "key_id": "ABC123DEFG", "issuer_id": "…"}},
///         {"bundle_id": "com.example.app", "environment": "sandbox", "roots": ["perch-root.pem"]}]}
package struct AppleAppsFile {
    /// One app.
    package struct Entry: Sendable {
        package var bundleID: String
        package var environment: AppEnvironment
        package var intake: IntakeApp
        /// Nil: as usual for the environment.
        package var leewayMilliseconds: Int64?
        package var claims: ClaimPolicy
        /// Nil: nothing asks the App Store back.
        package var api: ServerAPISettings?
    }

    /// How the App Store Server API is asked about an app.
    package struct ServerAPISettings: Sendable, Equatable {
        package var key: AppleAPIKey
        /// Without a slash at its end.
        package var baseURL: String
        /// The server behind `base_url` may have an address that is not public.
        package var allowsPrivateAddresses = false
        /// The App Store is told which transactions were finished, and the tokens of the accounts that purchases were claimed for.
        package var finishesTransactions = false
        package var setsAccountTokens = false

        /// Plain http, which the sender takes to loopback alone.
        package var isPlain: Bool { self.baseURL.hasPrefix("http://") }
    }

    package var entries: [Entry] = []

    /// Reads the file; paths of roots are relative to its directory.
    package init(path: String) throws(ServerError) {
        let bytes = try KeyFiles.read(path, limit: Limits.appleAppsFileBytesMax).bytes
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(bytes)
        } catch {
            throw ServerError("--apple-apps: \(path): \(error)")
        }
        guard let apps = value["apps"]?.array, !apps.isEmpty else {
            throw ServerError("--apple-apps: \(path) has no list named apps; deploy/README.md shows one")
        }
        var directory = ""
        if let slash = path.lastIndex(of: "/") { directory = String(path[...slash]) }
        for (index, app) in apps.enumerated() {
            do throws(ServerError) {
                let entry = try Self.entry(app, directory: directory)
                guard !self.entries.contains(where: { $0.intake.app == entry.intake.app }) else {
                    throw ServerError("\(entry.bundleID), \(entry.environment) stands there twice")
                }
                self.entries.append(entry)
            } catch {
                throw ServerError("--apple-apps: \(path), app \(index + 1): \(error)")
            }
        }
    }

    /// The apps as the intake knows them. Refused where the store lacks one.
    func intakeEntries(
        number: (String, AppEnvironment) -> AppNumber?
    ) throws(ServerError) -> [IntakeEntry] {
        var entries: [IntakeEntry] = []
        for entry in self.entries {
            guard let app = number(entry.bundleID, entry.environment) else {
                throw .settings(
                    "--apple-apps names \(entry.bundleID), \(entry.environment), which the store does not have; start once without --apple-apps, with --add-app and its --catalog, --bundle-id and --environment"
                )
            }
            entries.append(IntakeEntry(app: entry.intake, number: app, environment: entry.environment))
        }
        return entries
    }

    private static let members: Set = [
        "bundle_id", "environment", "app_apple_id", "leeway_minutes", "claims", "roots", "server_api",
    ]

    private static func entry(_ value: JSONValue, directory: String) throws(ServerError) -> Entry {
        guard let members = value.members else { throw ServerError("it is no object") }
        if let stranger = members.first(where: { !Self.members.contains($0.key) }) {
            throw ServerError(
                "there is no member \(printable(stranger.key)); there are \(Self.members.sorted().joined(separator: ", "))"
            )
        }
        guard let bundleID = value["bundle_id"]?.string, !bundleID.isEmpty else {
            throw ServerError("bundle_id is missing")
        }
        let roots = try Self.roots(value["roots"], directory: directory)
        let intake: IntakeApp
        let environment: AppEnvironment
        switch value["environment"]?.string {
        case "production":
            guard let id = value["app_apple_id"]?.integer, id > 0 else {
                throw ServerError("app_apple_id is missing; App Store Connect shows it as Apple ID of the app")
            }
            guard roots.isEmpty else { throw ServerError("roots is for sandbox apps; production trusts Apple alone") }
            (environment, intake) = (.production, .production(bundleID: bundleID, appAppleID: id))
        case "sandbox":
            environment = .sandbox
            do throws(RootFault) {
                intake = try .sandbox(bundleID: bundleID, further: roots)
            } catch {
                throw ServerError("roots: \(error)")
            }
        default: throw ServerError("environment must be production or sandbox")
        }
        var leeway: Int64?
        if let given = value["leeway_minutes"] {
            guard let minutes = given.integer, minutes >= 0, minutes <= Limits.leewayMillisecondsMax / 60_000 else {
                throw ServerError("leeway_minutes must be 0 to \(Limits.leewayMillisecondsMax / 60_000)")
            }
            leeway = minutes * 60_000
        }
        var claims = ClaimPolicy.transfer
        if let given = value["claims"] {
            guard let policy = given.string.flatMap({ ClaimPolicy(named: $0) }) else {
                let names = ClaimPolicy.allCases.map(\.description).joined(separator: ", ")
                throw ServerError("claims must be one of \(names)")
            }
            claims = policy
        }
        return Entry(
            bundleID: bundleID, environment: environment, intake: intake, leewayMilliseconds: leeway, claims: claims,
            api: try value["server_api"].map { (value) throws(ServerError) in
                try Self.serverAPI(value, intake.app.environment, directory: directory)
            })
    }

    private static let apiMembers: Set = [
        "key", "key_id", "issuer_id", "base_url", "allow_private_addresses", "finish_transactions",
        "set_account_tokens",
    ]

    private static func serverAPI(
        _ value: JSONValue, _ environment: AppleApp.Environment, directory: String
    ) throws(ServerError) -> ServerAPISettings {
        guard let members = value.members else { throw ServerError("server_api is no object") }
        if let stranger = members.first(where: { !Self.apiMembers.contains($0.key) }) {
            throw ServerError(
                "server_api has no member \(printable(stranger.key)); there are \(Self.apiMembers.sorted().joined(separator: ", "))"
            )
        }
        guard let name = value["key"]?.string, !name.isEmpty else {
            throw ServerError("server_api: key is missing; it names the .p8 file that App Store Connect gave out")
        }
        let path = name.hasPrefix("/") ? name : directory + name
        let file = try KeyFiles.read(path, limit: Limits.appleCertificateBytesMax)
        guard !file.isOpenToOthers else {
            throw ServerError(
                "server_api: \(path) holds a secret, and others can read it (mode \(String(file.mode, radix: 8))); `chmod 600` it, and revoke the key in App Store Connect if it may be known"
            )
        }
        let key: AppleAPIKey
        do throws(AppleAPIKeyFault) {
            key = try AppleAPIKey(
                p8: file.bytes, id: value["key_id"]?.string ?? "", issuerID: value["issuer_id"]?.string ?? "")
        } catch {
            throw ServerError("server_api: \(path): \(error)")
        }
        var baseURL = value["base_url"]?.string ?? environment.serverAPI
        while baseURL.hasSuffix("/") { baseURL.removeLast() }
        guard baseURL.hasPrefix("https://") || Self.isLoopback(baseURL) else {
            throw ServerError("server_api: base_url must begin with https://, or be http:// on 127.0.0.1 or [::1]")
        }
        var settings = ServerAPISettings(key: key, baseURL: baseURL)
        settings.finishesTransactions = try Self.boolean(value, "finish_transactions")
        settings.setsAccountTokens = try Self.boolean(value, "set_account_tokens")
        settings.allowsPrivateAddresses = try Self.boolean(value, "allow_private_addresses")
        guard value["allow_private_addresses"] == nil || value["base_url"] != nil else {
            throw ServerError("server_api: allow_private_addresses is for a base_url; Apple's addresses are public")
        }
        return settings
    }

    /// False where it is not there.
    private static func boolean(_ value: JSONValue, _ name: String) throws(ServerError) -> Bool {
        guard let given = value[name] else { return false }
        guard let boolean = given.boolean else { throw ServerError("server_api: \(name) must be true or false") }
        return boolean
    }

    private static func isLoopback(_ url: String) -> Bool {
        ["http://127.0.0.1", "http://[::1]"].contains { host in
            url == host || url.hasPrefix(host + ":") || url.hasPrefix(host + "/")
        }
    }

    private static func roots(_ value: JSONValue?, directory: String) throws(ServerError) -> [[UInt8]] {
        guard let value else { return [] }
        guard let names = value.array else { throw ServerError("roots is no list of files") }
        var roots: [[UInt8]] = []
        for name in names {
            guard let text = name.string, !text.isEmpty else { throw ServerError("roots holds what is no file") }
            let path = text.hasPrefix("/") ? text : directory + text
            let bytes = try KeyFiles.read(path, limit: 2 * Limits.appleCertificateBytesMax).bytes
            roots.append(try Self.certificate(bytes, path))
        }
        return roots
    }

    /// One certificate, in PEM or in DER.
    private static func certificate(_ bytes: [UInt8], _ path: String) throws(ServerError) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN") else { return bytes }
        let lines = text.split(whereSeparator: \.isNewline).map { String($0) }
        guard let begin = lines.firstIndex(of: "-----BEGIN CERTIFICATE-----"),
            let end = lines[begin...].firstIndex(of: "-----END CERTIFICATE-----"),
            let decoded = Base64.decode(lines[(begin + 1)..<end].joined())
        else { throw ServerError("\(path) holds no certificate in PEM") }
        return decoded
    }

    /// A mutation that gives an app the settings of its entry, if they differ.
    static func mutation(_ app: AppNumber, _ entry: Entry) -> Mutation {
        Mutation(.app(app), needsTestApp: false) { view throws(Refusal) in
            var settings = view.app.settings
            entry.apply(to: &settings)
            guard settings != view.app.settings else { return .unchanged(answer: .none) }
            var change = AppChange()
            change.settings = settings
            return .commitApp(change, answer: .none)
        }
    }
}

extension AppleAppsFile.Entry {
    func apply(to settings: inout AppSettings) {
        settings.leewayMilliseconds = self.leewayMilliseconds
        settings.claimPolicy = self.claims
        settings.finishesAtAppStore = self.api?.finishesTransactions ?? false
        settings.setsTokensAtAppStore = self.api?.setsAccountTokens ?? false
    }
}
