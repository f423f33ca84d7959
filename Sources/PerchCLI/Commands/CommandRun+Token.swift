import Glibc
import PerchBase
import PerchClient
import PerchIdentity
import PerchLoop
import PerchModel
import PerchServer
import PerchWire

// `perch token`: secrets come from files and go into files.
extension CommandRun {
    func token() async throws {
        switch self.invocation.action {
        case .tokenCreate: try self.createToken()
        case .tokenInspect: try self.inspectToken()
        case .tokenRevoke: try await self.revokeToken()
        case .tokenKeyCreate: try self.createKey()
        default: preconditionFailure("\(self.invocation.action) is no command of tokens")
        }
    }

    private func require(_ option: String, _ example: String) throws(UsageError) -> String {
        guard let text = self.settings.text(option) else {
            throw UsageError("\(self.invocation.name) needs --\(option) \(example)", command: self.invocation.name)
        }
        return text
    }

    // MARK: create

    private func createToken() throws {
        let path = try self.require("key", "FILE")
        let apps = self.settings.texts("app")
        guard !apps.isEmpty else {
            throw UsageError("perch token create needs --app ID", command: self.invocation.name)
        }
        let key = try self.signingKey(path)
        let now = Clocks.wall()
        let reach: AppReach
        do throws(CredentialFault) {
            reach = try AppReach(apps, environment: apps == ["*"] ? nil : self.settings.text("environment"))
        } catch {
            throw UsageError("--app: * stands alone, for every app", command: self.invocation.name)
        }
        // Whole seconds, like the claims, so that the printed time is exact.
        let expires = Instant(milliseconds: (now.milliseconds + (self.settings.number("expires") ?? 0)) / 1_000 * 1_000)
        let named = self.settings.text("scope") ?? Scope.read.name
        guard let (scope, ingests) = Scope.several(named: named, allowsOthers: false) else {
            throw UsageError(
                "--scope is \(printable(named)); it must name one of \(Scope.names), or several with commas between them",
                command: self.invocation.name)
        }
        var claims = TokenClaims(expires: expires, apps: reach, scope: scope)
        claims.ingests = ingests
        claims.issuer = self.settings.text("issuer") ?? ""
        claims.audience = [self.settings.text("audience") ?? Authenticator.standardAudience]
        claims.subject = self.settings.text("subject") ?? ""
        claims.account = self.settings.text("account")
        claims.issued = now
        claims.notBefore = now
        guard let id = TokenClaims.newID() else {
            throw CommandFailure(.failure, "this machine gives no random numbers")
        }
        claims.id = id
        let token: String
        do throws(KeyFault) {
            token = try claims.signed(by: key)
            // A token that servers would refuse is not handed out, such as one for an account of 300 bytes.
            _ = try Self.checked(token, by: key, claims)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        if let file = self.settings.text("to") {
            try Self.write(Array((token + "\n").utf8), to: file)
        } else {
            try self.console.data(token + "\n")
        }
        self.console.talk(
            "perch: token \(id) for \(reach), scope \(claims.scopes), until \(expires), signed with \(key)")
        if expires.milliseconds(since: now) > Limits.tokenLifeMilliseconds {
            let days = Limits.tokenLifeMilliseconds / 86_400_000
            self.console.talk(
                "perch: servers refuse a token that ends more than \(days) days ahead, unless they run with a longer --token-life"
            )
        }
    }

    private static func checked(
        _ token: String, by key: TokenKey, _ claims: TokenClaims
    ) throws(KeyFault) -> Identity {
        var authenticator = try Authenticator(keys: [key])
        authenticator.audience = claims.audience[0]
        // The server decides about the life of tokens.
        authenticator.lifeMilliseconds = .max
        do throws(CredentialFault) {
            return try authenticator.identity(ofToken: Array(token.utf8), now: claims.issued ?? claims.expires)
        } catch {
            throw KeyFault("\(error)")
        }
    }

    private func signingKey(_ path: String) throws(CommandFailure) -> TokenKey {
        let keys: [TokenKey]
        do throws(ServerError) {
            keys = try KeyFiles.keys(ofFile: path)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        guard keys.count == 1, let key = keys.first else {
            throw CommandFailure(
                .failure, "\(printable(path)) holds \(keys.count) keys; name a file with the one to sign with")
        }
        guard key.isSecret else {
            throw CommandFailure(
                .failure, "\(printable(path)) holds the public half; sign with the file that holds the private one")
        }
        return key
    }

    // MARK: key create

    private func createKey() throws {
        let path = try self.require("to", "FILE, such as keys/main.jwk")
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        let stem = name.hasSuffix(".jwk") ? String(name.dropLast(4)) : name
        let algorithm: SignatureAlgorithm =
            switch self.settings.text("algorithm") {
            case "eddsa": .eddsa
            case "hs256": .hs256
            default: .es256
            }
        let id = self.settings.text("id") ?? stem
        guard id.utf8.count <= Limits.tokenKeyIDBytesMax else {
            throw UsageError(
                "--id has \(id.utf8.count) bytes, the limit is \(Limits.tokenKeyIDBytesMax)",
                command: self.invocation.name)
        }
        guard let key = TokenKey.generate(algorithm, id: id) else {
            throw CommandFailure(.failure, "this machine gives no random numbers")
        }
        // Overwriting a key would revoke every token that it has signed.
        guard !Files.exists(path) else {
            throw CommandFailure(
                .failure, "\(printable(path)) is there already; name another file, or move that one away")
        }
        try Self.write(key.jwk, to: path)
        guard let half = key.publicHalf else {
            self.console.talk("perch: \(key) in \(printable(path)); servers need this file too, and can sign with it")
            return
        }
        let open = (path.hasSuffix(".jwk") ? String(path.dropLast(4)) : path) + ".pub.jwk"
        do throws(FileFault) {
            try Files.replace(open, with: half.jwk)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        self.console.talk("perch: \(key) in \(printable(path)); servers need only \(printable(open))")
    }

    /// Writes a secret. In a directory that others can write, a link would lead it to where they read.
    private static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        guard !Files.isLink(path) else {
            throw CommandFailure(
                .failure,
                "\(printable(path)) is a link, and a secret does not follow one; name the file itself with --to, or remove the link"
            )
        }
        do throws(FileFault) {
            try Files.replace(path, with: bytes, for: .owner)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }

    // MARK: inspect

    func readToken(_ path: String) throws(CommandFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try Files.read(path, limitBytes: 2 * Limits.tokenBytesMax)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        // The format that clients read: the first line, with or without a scheme before the token.
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        let word = Array("Bearer ".utf8)
        return line.starts(with: word) ? Array(line.dropFirst(word.count)) : Array(line)
    }

    private func inspectToken() throws {
        let bytes = try self.readToken(self.text("FILE"))
        let token: CompactToken
        let claims: TokenClaims
        do throws(CredentialFault) {
            token = try CompactToken(bytes)
            claims = try TokenClaims(of: token)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        var verdict: Result<Identity, CredentialFault>?
        let now = Clocks.wall()
        if let path = self.settings.text("token-keys") {
            var settings = AuthenticationSettings()
            settings.tokenKeysPath = path
            settings.audience = self.settings.text("token-audience") ?? settings.audience
            settings.issuer = self.settings.text("token-issuer")
            settings.tokenLifeMilliseconds = self.settings.number("token-life") ?? settings.tokenLifeMilliseconds
            let authenticator: Authenticator
            do throws(ServerError) {
                guard let read = try KeyFiles.authenticator(settings) else { preconditionFailure("keys were named") }
                authenticator = read
            } catch {
                throw CommandFailure(.failure, "\(error)")
            }
            do throws(CredentialFault) {
                verdict = .success(try authenticator.identity(ofToken: bytes, now: now))
            } catch {
                verdict = .failure(error)
            }
        }
        try self.show(token, claims, verdict, now: now)
        if case .failure(let fault) = verdict { throw CommandFailure(.denied, "\(fault)") }
    }

    private func show(
        _ token: CompactToken, _ claims: TokenClaims, _ verdict: Result<Identity, CredentialFault>?, now: Instant
    ) throws(ReaderGone) {
        let id = Authenticator.revocationID(of: token, claims)
        let (names, environment): ([String], String) =
            switch claims.apps {
            case .all: (["*"], "")
            case .apps(let apps): (apps.map(\.bundleID), apps.first?.environment.description ?? "")
            }
        let word =
            switch verdict {
            case nil: "not checked: give --token-keys"
            case .success?: "taken"
            case .failure?: "refused"
            }
        try self.printer.print { json in
            json.text("id", id)
            json.text("key", token.keyID ?? "")
            json.text("algorithm", token.algorithm)
            json.text("subject", claims.subject)
            json.text("issuer", claims.issuer)
            json.texts("audience", claims.audience)
            json.texts("app", names)
            json.text("environment", environment)
            json.text("scope", claims.scopes)
            json.text("account", claims.account ?? "")
            json.text("expires", "\(claims.expires)")
            if let notBefore = claims.notBefore { json.text("notBefore", "\(notBefore)") }
            json.text("verdict", verdict == nil ? "" : word)
        } text: { _ in
            var rows = [
                ("id", printable(id)), ("key", "\(printable(token.keyID ?? "none")) (\(printable(token.algorithm)))"),
                ("subject", printable(claims.subject)), ("issuer", printable(claims.issuer)),
                ("audience", printable(claims.audience.joined(separator: ", "))), ("app", "\(claims.apps)"),
                ("scope", claims.scopes), ("account", claims.account.map { printable($0) } ?? "every one"),
            ]
            if let notBefore = claims.notBefore { rows.append(("valid from", "\(notBefore)")) }
            let rest = claims.expires.milliseconds(since: now)
            rows.append(
                ("valid until", "\(claims.expires), " + (rest > 0 ? "for another " + Self.time(rest) : "which is over"))
            )
            let life = self.settings.number("token-life") ?? Limits.tokenLifeMilliseconds
            if rest > life {
                rows.append(("finding", "it lives longer than the server accepts: --token-life is \(Self.time(life))"))
            }
            if case .success? = verdict {
                rows.append(("server", "\(word), unless it was revoked"))
            } else {
                rows.append(("server", word))
            }
            return rows.map { "\($0.0.padded(to: 12))\($0.1.isEmpty ? "none" : $0.1)" }
        }
    }

    /// Rounded down to whole days, hours, minutes or seconds: the largest unit of which there are two.
    private static func time(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        for (unit, name) in [(86_400, "days"), (3_600, "hours"), (60, "minutes")] as [(Int64, String)]
        where seconds >= 2 * unit {
            return "\(seconds / unit) \(name)"
        }
        return "\(seconds) s"
    }

    // MARK: revoke

    private func revokeToken() async throws {
        let id: String
        var expires: Instant?
        switch (self.settings.text("token-file"), self.settings.text("id")) {
        case (let path?, nil):
            let bytes = try self.readToken(path)
            do throws(CredentialFault) {
                let token = try CompactToken(bytes)
                let claims = try TokenClaims(of: token)
                id = Authenticator.revocationID(of: token, claims)
                expires = claims.expires
            } catch {
                throw CommandFailure(.failure, "\(error)")
            }
        case (nil, let given?):
            id = given
        default:
            throw UsageError(
                "perch token revoke needs one of --token-file FILE and --id ID", command: self.invocation.name)
        }
        let outcome = try await self.withClient { try await $0.revokeToken(id, expires: expires) }
        guard self.printer.format == .text else {
            let answer = RevokeTokenResponse(wasRevoked: outcome.wasRevoked, wasSeen: outcome.wasSeen)
            return try self.printer.print(.revokeToken(answer)) { _ in [] }
        }
        let unseen = outcome.wasSeen ? "" : "; no caller used it since this start of the server, so check the ID"
        self.console.talk(
            "perch: token \(printable(id)) " + (outcome.wasRevoked ? "was revoked before" : "is revoked") + unseen)
    }
}
