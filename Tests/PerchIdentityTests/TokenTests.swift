import PerchBase
import PerchModel
import Testing

@testable import PerchIdentity

@Suite struct `A token` {
    @Test(arguments: SignatureAlgorithm.allCases)
    func `a token of each algorithm is accepted, with its claims`(_ algorithm: SignatureAlgorithm) throws {
        let identity = try Forge.judge(
            Forge.token(algorithm) { claims in
                claims.account = "anna"
                claims.scope = .test
            }
        ).get()
        #expect(identity.scope == .test)
        #expect(identity.account == "anna")
        #expect(identity.apps == .apps([AppName(bundleID: "com.example.shop", environment: .xcode)]))
        #expect(identity.expires == Forge.now.advanced(byMilliseconds: 60_000))
        #expect(identity.subject == "backend")
        guard case .token(let key, "token-1") = identity.source else { throw Surprise() }
        #expect(key.id == "key-\(algorithm.rawValue)")
    }

    struct Surprise: Error {}

    @Test func `the examples of RFC 7515 and RFC 8037 have the printed signatures`() throws {
        func key(_ jwk: String) throws -> TokenKey { try TokenKey.read(Array(jwk.utf8), name: "rfc")[0] }
        let payload =
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let vectors: [(jwk: String, token: String)] = [
            (
                #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
                "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
            ),
            (
                #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#,
                "eyJhbGciOiJFUzI1NiJ9.\(payload).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
            ),
            (
                #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
            ),
        ]
        for (jwk, text) in vectors {
            let key = try key(jwk)
            let parts = text.split(separator: ".")
            let signed = Array((parts[0] + "." + parts[1]).utf8)
            var signature = try #require(Base64URL.decode(Array(parts[2].utf8)))
            #expect(Signatures.verify(signature, over: signed, by: key))
            #expect(Signatures.verify(signature, over: signed, by: key.publicHalf ?? key))
            signature[17] ^= 1
            #expect(!Signatures.verify(signature, over: signed, by: key))
        }
    }

    /// A forged or damaged token, and the expected reaction.
    struct Forgery: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let expected: String
        let token: @Sendable () -> String

        init(_ name: String, _ expected: String, _ token: @escaping @Sendable () -> String) {
            self.testDescription = name
            self.expected = expected
            self.token = token
        }
    }

    private static func header(_ algorithm: String, kid: String = "key-ES256", _ more: String = "") -> String {
        #"{"alg":"\#(algorithm)","kid":"\#(kid)"\#(more)}"#
    }

    private static let payload =
        #"{"aud":"perch","exp":1767225660,"app":"com.example.shop","environment":"xcode","scope":"admin"}"#

    private static func signed(_ header: String, _ payload: String, by algorithm: SignatureAlgorithm = .es256) -> String
    {
        let text = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        let signature = Signatures.sign(Array(text.utf8), by: Forge.key(algorithm)) ?? []
        return text + "." + Base64URL.encode(signature)
    }

    private static func payload(_ member: String, _ value: String?) -> String {
        var members = [
            "aud": #""perch""#, "exp": "1767225660", "app": #""com.example.shop""#, "environment": #""xcode""#,
            "scope": #""read""#,
        ]
        members[member] = value
        return "{" + members.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
            + "}"
    }

    @Test(arguments: [
        Forgery("without a signature, alg none", "untrusted") {
            Forge.token(header: header("none"), payload: payload, signature: [])
        },
        Forgery("the public key as the secret of HS256", "untrusted") {
            // The public key is known to everyone.
            let text =
                Base64URL.encode(Array(header("HS256").utf8)) + "." + Base64URL.encode(Array(payload.utf8))
            let secret = TokenKey(
                id: "key-ES256", material: .secret(Forge.key(.es256).publicHalf?.jwk ?? []))
            return text + "." + Base64URL.encode(Signatures.sign(Array(text.utf8), by: secret) ?? [])
        },
        Forgery("signed by another key under a known kid", "untrusted") {
            let other = TokenKey.generate(.es256, id: "key-ES256") ?? Forge.key(.es256)
            return (try? Forge.claims().signed(by: other)) ?? ""
        },
        Forgery("of a key that is not known", "untrusted") {
            let other = TokenKey.generate(.eddsa, id: "another") ?? Forge.key(.es256)
            return (try? Forge.claims().signed(by: other)) ?? ""
        },
        Forgery("alg of another key", "untrusted") { signed(header("EdDSA"), payload) },
        Forgery("alg in small letters", "untrusted") { signed(header("es256"), payload) },
        Forgery("no kid among several keys", "untrusted") { signed(#"{"alg":"ES256"}"#, payload) },
        Forgery("an embedded key in the header", "untrusted") {
            signed(header("ES256", kid: "mine", #","jwk":{"kty":"oct","k":"AAAA"}"#), payload)
        },
        Forgery("crit", "malformed") { signed(header("ES256", #","crit":["exp"]"#), payload) },
        Forgery("b64", "malformed") { signed(header("ES256", #","b64":false"#), payload) },
        Forgery("alg twice", "malformed") { signed(header("ES256", #","alg":"none""#), payload) },
        Forgery("padding", "malformed") { Forge.token() + "=" },
        Forgery("two parts", "malformed") { "abcd.efgh" },
        Forgery("four parts", "malformed") { Forge.token() + ".abcd" },
        Forgery("nothing", "malformed") { "" },
        Forgery("too long", "malformed") { String(repeating: "a", count: 8 * 1024 + 1) },
        Forgery("a payload that is a list", "malformed") { signed(header("ES256"), "[]") },
        Forgery("nested too deep", "malformed") {
            signed(header("ES256"), payload("x", String(repeating: "[", count: 8) + String(repeating: "]", count: 8)))
        },
        Forgery("no exp", "malformed") { signed(header("ES256"), payload("exp", nil)) },
        Forgery("exp as text", "malformed") { signed(header("ES256"), payload("exp", #""1767225660""#)) },
        Forgery("exp beyond all dates", "malformed") { signed(header("ES256"), payload("exp", "1e300")) },
        Forgery("no app", "malformed") { signed(header("ES256"), payload("app", nil)) },
        Forgery("no environment", "malformed") { signed(header("ES256"), payload("environment", nil)) },
        Forgery("an environment of somebody else", "malformed") {
            signed(header("ES256"), payload("environment", #""staging""#))
        },
        Forgery("* among other apps", "malformed") {
            signed(header("ES256"), payload("app", #"["*","com.example.shop"]"#))
        },
        Forgery("no scope", "malformed") { signed(header("ES256"), payload("scope", nil)) },
        Forgery("a scope that is none of ours", "malformed") {
            signed(header("ES256"), payload("scope", #""openid""#))
        },
        Forgery("an empty account", "malformed") { signed(header("ES256"), payload("account", #""""#)) },
        Forgery("an account that is no text", "malformed") { signed(header("ES256"), payload("account", "null")) },
        Forgery("no audience", "misdirected") { signed(header("ES256"), payload("aud", nil)) },
        Forgery("another audience", "misdirected") { signed(header("ES256"), payload("aud", #"["other","x"]"#)) },
        Forgery("ours among several", "taken") { signed(header("ES256"), payload("aud", #"["other","perch"]"#)) },
        Forgery("several scopes, some not ours", "taken") {
            signed(header("ES256"), payload("scope", #""openid read write""#))
        },
        Forgery("ended", "expired") { signed(header("ES256"), payload("exp", "1767225600")) },
        Forgery("ends in a thousandth", "taken") { signed(header("ES256"), payload("exp", "1767225600.001")) },
        Forgery("begins in a minute", "taken") { signed(header("ES256"), payload("nbf", "1767225660")) },
        Forgery("begins in more than a minute", "notYetValid") {
            signed(header("ES256"), payload("nbf", "1767225661"))
        },
    ])
    func `a token is judged`(_ forgery: Forgery) {
        let result = Forge.judge(forgery.token())
        #expect(result.word == forgery.expected, "\(result)")
    }

    @Test func `a token with one flipped bit is never accepted`() {
        let token = Array(Forge.token(.eddsa).utf8)
        for index in token.indices {
            var damaged = token
            damaged[index] ^= 1
            #expect(Forge.judge(String(decoding: damaged, as: UTF8.self)).word != "taken", "byte \(index)")
        }
    }

    @Test func `a token is not taken for less than Bearer`() {
        for text in ["", "Bearer", "Basic " + Forge.token(), Forge.token()] {
            #expect(throws: CredentialFault.self) {
                try Forge.authenticator.identity(ofAuthorization: text, now: Forge.now)
            }
        }
        #expect(throws: Never.self) {
            try Forge.authenticator.identity(ofAuthorization: "bearer " + Forge.token(), now: Forge.now)
        }
    }

    @Test func `names its issuer where one is asked for`() {
        var strict = Forge.authenticator
        strict.issuer = "tests"
        #expect(Forge.judge(Forge.token(), by: strict).word == "taken")
        #expect(Forge.judge(Forge.token { $0.issuer = "others" }, by: strict).word == "misdirected")
    }

    @Test func `a token without a jti is revoked by its signed part, whatever its signature`() throws {
        let first = try CompactToken(Array(Forge.token { $0.id = "" }.utf8))
        let second = try CompactToken(Array(Forge.token { $0.id = "" }.utf8))
        // ECDSA draws a number: two signatures of the same.
        #expect(first.signature != second.signature)
        let claims = try TokenClaims(of: first)
        #expect(Authenticator.revocationID(of: first, claims) == Authenticator.revocationID(of: second, claims))
        #expect(Authenticator.revocationID(of: first, claims).hasPrefix("sha256:"))
    }

    @Test func `a token never appears in messages about it`() {
        let token = Forge.token()
        let parts = token.split(separator: ".")
        for text in [token + "x", "x" + token, token.replacingOccurrence(of: ".", with: "!")] {
            guard case .failure(let fault) = Forge.judge(text) else { continue }
            for part in parts { #expect(!fault.description.contains(part.prefix(12))) }
        }
    }
}

extension String {
    fileprivate func replacingOccurrence(of old: Character, with new: Character) -> String {
        String(self.map { $0 == old ? new : $0 })
    }

    @Test func `that ends later than the server accepts is refused, and says by how much`() throws {
        let day: Int64 = 86_400_000
        func judge(_ days: Int64, by authenticator: Authenticator = Forge.authenticator) -> CredentialFault? {
            let token = Forge.token { $0.expires = Forge.now.advanced(byMilliseconds: days * day) }
            guard case .failure(let fault) = Forge.judge(token, by: authenticator) else { return nil }
            return fault
        }
        #expect(judge(400) == nil)
        let fault = try #require(judge(401))
        #expect(
            fault
                == .livesTooLong(
                    until: Forge.now.advanced(byMilliseconds: 401 * day), from: Forge.now, limitMilliseconds: 400 * day)
        )
        #expect("\(fault)".contains("401 days ahead") && "\(fault)".contains("400 days at most (token-life)"))
        var longer = Forge.authenticator
        longer.lifeMilliseconds = 500 * day
        #expect(judge(401, by: longer) == nil && judge(501, by: longer) != nil)
    }
}
