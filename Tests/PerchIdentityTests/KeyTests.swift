import PerchBase
import PerchModel
import Testing

@testable import PerchIdentity

@Suite struct `A key` {
    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key goes into a file and comes back, and its public half without its secret`(
        _ algorithm: SignatureAlgorithm
    )
        throws
    {
        let key = Forge.key(algorithm)
        #expect(try TokenKey.read(key.jwk, name: "unused") == [key])
        #expect(key.isSecret)
        guard let half = key.publicHalf else {
            #expect(algorithm == .hs256)
            return
        }
        #expect(!half.isSecret)
        #expect(try TokenKey.read(half.jwk, name: "unused") == [half])
        #expect(half.verifiesSame(as: key))
        #expect(Signatures.sign([1], by: half) == nil)
    }

    @Test func `a key is read from PEM, under the file's name`() throws {
        let ed25519 = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
            -----END PRIVATE KEY-----

            """
        let keys = try TokenKey.read(Array(ed25519.utf8), name: "rfc8037")
        #expect(keys.map(\.id) == ["rfc8037"])
        #expect(try TokenKey.read([0xEF, 0xBB, 0xBF] + Array(ed25519.utf8), name: "rfc8037") == keys)
        #expect(keys[0].algorithm == .eddsa)
        guard case .ed25519(let x, _?) = keys[0].material else { return #expect(Bool(false)) }
        #expect(Base64URL.encode(x) == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        let rsa =
            "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\n-----END PUBLIC KEY-----\n"
        #expect(throws: KeyFault.self) { try TokenKey.read(Array(rsa.utf8), name: "rsa") }
    }

    @Test(arguments: [
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}"#,
        #"{"kty":"EC","crv":"P-384","x":"AAAA","y":"AAAA"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
        #"{"kty":"oct","k":"c2hvcnQ"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","alg":"HS256"}"#,
        #"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#,
        #"{"keys":[]}"#,
        #"{"keys":[{"kty":"RSA","n":"AAAA","e":"AQAB","kid":"r"}]}"#,
        #"[]"#, "", "no key",
    ])
    func `that is none is refused, and its text is not shown`(_ text: String) {
        do throws(KeyFault) {
            _ = try TokenKey.read(Array(text.utf8), name: "file")
            #expect(Bool(false), "it was taken")
        } catch {
            #expect(!error.description.contains("c2hvcnQ"))
        }
    }

    @Test func `a usable key of a set is accepted beside unusable ones`() throws {
        let set =
            #"{"keys":[{"kty":"RSA","n":"AAAA","e":"AQAB","kid":"r"},{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"e","use":"sig"}]}"#
        #expect(try TokenKey.read(Array(set.utf8), name: "set").map(\.id) == ["e"])
    }

    @Test func `a key shows nothing of its secret when it is printed`() {
        for key in Forge.keys.values {
            var text = ""
            dump(key, to: &text)
            text += "\(key) \(String(reflecting: key))"
            let secret: [UInt8] =
                switch key.material {
                case .p256(_, _, let d): d ?? []
                case .ed25519(_, let seed): seed ?? []
                case .secret(let bytes): bytes
                }
            #expect(!text.contains(Base64URL.encode(secret)))
            #expect(!text.contains("\(secret[0]), \(secret[1]), \(secret[2])"))
        }
    }

    @Test func `two keys with one name stop a server from starting`() throws {
        let other = try #require(TokenKey.generate(.es256, id: "key-ES256"))
        #expect(throws: KeyFault.self) { try Authenticator(keys: [Forge.key(.es256), other]) }
        #expect(throws: Never.self) { try Authenticator(keys: [Forge.key(.es256), Forge.key(.es256)]) }
    }

    @Test func `that is taken away takes its tokens along`() throws {
        let identity = try Forge.judge(Forge.token()).get()
        #expect(Forge.authenticator.stillTrusts(identity))
        #expect(try !Authenticator(keys: [Forge.key(.eddsa)]).stillTrusts(identity))
        let replaced = try #require(TokenKey.generate(.es256, id: "key-ES256"))
        #expect(try !Authenticator(keys: [replaced]).stillTrusts(identity))
    }
}

@Suite struct `Bytes as text` {
    @Test func `each value has one Base64 text`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            #expect(Base64URL.decode(Array(Base64URL.encode(bytes).utf8)) == bytes)
        }
        for text in ["A", "AA=", "AA==", "AB", "AAB", "A+AA", "A/AA", "A A", "AAAAA", "Ä"] {
            #expect(Base64URL.decode(Array(text.utf8)) == nil, "\(text)")
        }
    }
}

@Suite struct `A certificate` {
    private func certificate(_ names: [String], common: String = "", byte: UInt8 = 1) -> PeerCertificate {
        PeerCertificate(
            commonName: common, names: names, fingerprint: [UInt8](repeating: byte, count: 32),
            notAfter: Instant(milliseconds: 5))
    }

    private let file = """
        {"identities": [
            {"name": "backend.example.com", "app": "com.example.shop", "environment": "xcode", "scope": "read"},
            {"fingerprint": "\(String(repeating: "02:", count: 31))02", "app": "*", "scope": "admin", "subject": "ops"}]}
        """

    @Test func `a certificate stands for whom the operator's file says`() throws {
        let map = try CertificateIdentities(reading: Array(self.file.utf8))
        #expect(map.count == 2)
        let backend = try #require(map.identity(of: self.certificate(["x", "backend.example.com"])))
        #expect(backend.scope == .read)
        #expect(backend.subject == "backend.example.com")
        #expect(backend.expires == Instant(milliseconds: 5))
        #expect(map.identity(of: self.certificate([], byte: 2))?.scope == .admin)
        #expect(map.identity(of: self.certificate([], common: "backend.example.com"))?.scope == .read)
        // Alternative names are what the authority vouches for; a common name beside them is only text.
        #expect(map.identity(of: self.certificate(["other"], common: "backend.example.com")) == nil)
        #expect(map.identity(of: self.certificate([])) == nil)
    }

    @Test(arguments: [
        "[]", "{}", #"{"identities": [{"scope": "read", "app": "*"}]}"#,
        #"{"identities": [{"name": "a", "fingerprint": "00", "scope": "read", "app": "*"}]}"#,
        #"{"identities": [{"fingerprint": "00", "scope": "read", "app": "*"}]}"#,
        #"{"identities": [{"name": "a", "scope": "all", "app": "*"}]}"#,
        #"{"identities": [{"name": "a", "scope": "read"}]}"#,
        #"{"identities": [{"name": "a", "scope": "read", "app": "x"}]}"#,
        #"{"identities": [{"name": "a", "scope": "read", "app": "*", "acount": "b"}]}"#,
        #"{"identities": [{"name": "a", "scope": "read", "app": "*"}, {"name": "a", "scope": "test", "app": "*"}]}"#,
    ])
    func `an invalid file of certificates gives no identity`(_ text: String) {
        #expect(throws: KeyFault.self) { try CertificateIdentities(reading: Array(text.utf8)) }
    }
}
