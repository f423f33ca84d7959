import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchSimulation
import PerchWire

/// A world that asks its callers who they are, and the tokens for it.
enum Gate {
    static let key: TokenKey = {
        guard let key = TokenKey.generate(.eddsa, id: "main") else { preconditionFailure("no randomness") }
        return key
    }()

    static let backend = PeerCertificate(
        commonName: "backend.example.com", names: ["backend.example.com"],
        fingerprint: [UInt8](repeating: 7, count: 32), notAfter: World.begin.advanced(byMilliseconds: 3_600_000))

    static func authenticator(_ keys: [TokenKey] = [Gate.key]) -> Authenticator {
        let file =
            #"{"identities":[{"name":"backend.example.com","app":"\#(TestShop.bundleID)","environment":"xcode","scope":"write"}]}"#
        do {
            var authenticator = try Authenticator(keys: keys.map { $0.publicHalf ?? $0 })
            authenticator.certificates = try CertificateIdentities(reading: Array(file.utf8))
            return authenticator
        } catch {
            preconditionFailure("\(error)")
        }
    }

    static func world(_ change: (inout World.Setup) -> Void = { _ in }) -> World {
        var setup = World.Setup()
        setup.authenticator = Self.authenticator()
        change(&setup)
        return World(setup)
    }

    static let shop = AppReach.apps([AppName(bundleID: TestShop.bundleID, environment: .xcode)])

    /// `Bearer` and a token, valid for an hour from the world's beginning.
    static func token(
        _ scope: Scope, ingests: Bool = false, app: AppReach = Self.shop, account: String? = nil, id: String = "",
        subject: String = "tests", audience: String = "perch", lifetime: Int64 = 3_600_000, key: TokenKey = Self.key
    ) -> String {
        var claims = TokenClaims(expires: World.begin.advanced(byMilliseconds: lifetime), apps: app, scope: scope)
        claims.ingests = ingests || scope == .ingest
        claims.audience = [audience]
        claims.account = account
        claims.id = id
        claims.subject = subject
        do throws(KeyFault) {
            return "Bearer " + (try claims.signed(by: key))
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
