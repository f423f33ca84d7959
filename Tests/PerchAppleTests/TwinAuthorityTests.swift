import PerchBase
import PerchJSON
import Testing

@testable import PerchApple

@Suite struct `the authority of a twin` {
    private let responder = "http://127.0.0.1:7450/ocsp"

    @Test func `is kept with all its keys`() throws {
        let authority = try TwinAuthority.make(responder: self.responder)
        let again = try TwinAuthority(stored: authority.stored)
        #expect(
            again.stored == authority.stored && again.keyID == authority.keyID && again.issuerID == authority.issuerID)
        #expect(try again.moved(to: self.responder).stored == authority.stored)
        var damaged = authority.stored
        damaged.removeLast()
        #expect(throws: AuthorityFault.damaged) { try TwinAuthority(stored: damaged) }
    }

    @Test func `issues certificates again for another address, under the same root`() throws {
        let authority = try TwinAuthority.make(responder: self.responder)
        let moved = try authority.moved(to: "http://127.0.0.1:7451/ocsp")
        #expect(moved.rootDER == authority.rootDER && moved.callerPEM == authority.callerPEM)
        #expect(try moved.values.leaf != authority.values.leaf)
        for one in [authority, moved] {
            var signer = AppleSigner(try one.values)
            let text = Array(signer.sign(Array(transactionJSON.utf8)).utf8)
            #expect(fault(of: text, roots: try .sandbox(further: [authority.rootDER])) == nil)
        }
    }

    @Test func `has no answer to what is no request`() throws {
        let authority = try TwinAuthority.make(responder: self.responder)
        #expect(authority.answer(ocsp: [], at: Instant(milliseconds: 0)) == nil)
        #expect(authority.answer(ocsp: [0x30, 0x03, 1, 2, 3], at: Instant(milliseconds: 0)) == nil)
    }

    /// RFC 6979, A.2.5: P-256 with SHA-256.
    @Test(arguments: [
        (
            "sample",
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        ),
        (
            "test",
            "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
        ),
    ])
    func `signs again as the standard says`(_ message: String, _ signature: String) throws {
        // PKCS #8 of the key in the standard.
        let text =
            "MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCDJr6nYRbp1FmtcIVdnsdaTTlDD2zbomxJ7imIrEg9nIQ=="
        let bytes = try #require(Base64.decode(text))
        let key = try #require(Certificates.Key(pkcs8: bytes))
        let signed = try #require(key.signAgain(Array(message.utf8)))
        #expect(signed.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == signature)
        #expect(key.verifies(signed, over: Array(message.utf8)))
    }

    @Test func `signs a payload again with the same text`() throws {
        let authority = try TwinAuthority.make(responder: self.responder)
        let (one, other) = (SharedAppleSigner(try authority.values), SharedAppleSigner(try authority.values))
        let text = one.signAgain(Array(transactionJSON.utf8))
        #expect(other.signAgain(Array(transactionJSON.utf8)) == text)
        #expect(fault(of: Array(text.utf8), roots: try .sandbox(further: [authority.rootDER])) == nil)
    }
}

@Suite struct `tokens of callers` {
    private let wall = Instant(milliseconds: 1_800_000_000_000)
    private static let now = Int64(1_800_000_000)

    /// A token by the key that `TwinAuthority` gives out, signed by hand.
    private func token(_ authority: TwinAuthority, _ change: (inout [String: String]) -> Void = { _ in }) throws
        -> String
    {
        var parts = [
            "alg": "\"ES256\"", "kid": "\"\(authority.keyID)\"", "iss": "\"\(authority.issuerID)\"",
            "aud": "\"appstoreconnect-v1\"", "bid": "\"com.example.app\"", "exp": "\(Self.now + 300)",
        ]
        change(&parts)
        func object(_ names: [String]) -> String {
            "{" + names.compactMap { name in parts[name].map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
        }
        let signed = [object(["alg", "kid", "crit"]), object(["iss", "aud", "bid", "exp", "iat"])].map {
            Base64URL.encode(Array($0.utf8))
        }.joined(separator: ".")
        let lines = authority.callerPEM.split(separator: "\n").dropFirst().dropLast()
        let bytes = try #require(Base64.decode(lines.joined()))
        let key = try #require(Certificates.Key(pkcs8: bytes))
        let signature = try #require(key.sign(Array(signed.utf8)))
        return signed + "." + Base64URL.encode(signature)
    }

    @Test func `name an app, with and without iat`() throws {
        let authority = try TwinAuthority.make(responder: "http://127.0.0.1:7450/ocsp")
        let callers = try #require(authority.callers)
        #expect(try callers.bundleID(of: self.token(authority), at: self.wall) == "com.example.app")
        let dated = try self.token(authority) { $0["iat"] = "\(Self.now)" }
        #expect(try callers.bundleID(of: dated, at: self.wall) == "com.example.app")
    }

    @Test(arguments: [
        ("alg", "\"HS256\""), ("kid", "\"AAAAAAAAAA\""), ("kid", nil), ("iss", "\"other\""), ("iss", nil),
        ("aud", "\"appstoreconnect-v2\""), ("aud", "[\"appstoreconnect-v1\"]"), ("bid", nil), ("bid", "\"\""),
        ("exp", nil),
        ("exp", "\(now)"), ("exp", "\(now - 3_600)"), ("exp", "\(now + 3_700)"), ("exp", "\"\(now + 300)\""),
        ("iat", "\(now + 61)"), ("iat", "\(now - 3_400)"), ("crit", "[\"x\"]"),
    ])
    func `are refused`(_ name: String, _ value: String?) throws {
        let authority = try TwinAuthority.make(responder: "http://127.0.0.1:7450/ocsp")
        let callers = try #require(authority.callers)
        let text = try self.token(authority) { $0[name] = value }
        #expect(throws: CallerFault.self) { try callers.bundleID(of: text, at: self.wall) }
    }

    @Test func `of another key are refused`() throws {
        let (one, other) = (
            try TwinAuthority.make(responder: "http://127.0.0.1:1/ocsp"),
            try TwinAuthority.make(responder: "http://127.0.0.1:1/ocsp")
        )
        let text = try self.token(other) { parts in
            parts["kid"] = "\"\(one.keyID)\""
            parts["iss"] = "\"\(one.issuerID)\""
        }
        let callers = try #require(one.callers)
        #expect(throws: CallerFault.self) { try callers.bundleID(of: text, at: self.wall) }
    }
}
