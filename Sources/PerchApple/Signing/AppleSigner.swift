import PerchBase
import PerchJSON

/// Signs payloads as compact JWS in Apple's format. Used by one thread.
///
/// A payload that was signed before keeps its bytes while they are cached: ECDSA signatures differ each time, and a reader
/// compares.
package struct AppleSigner: ~Copyable {
    private let key: Certificates.Key
    /// The header's letters with the dot behind them.
    private let header: [UInt8]
    private var recent: [[UInt8]: String] = [:]
    private var older: [[UInt8]: String] = [:]
    /// Signatures that were made, for metrics and tests.
    package private(set) var signaturesMade: UInt64 = 0

    package init(_ authority: AppleAuthority) {
        guard let key = Certificates.Key(pkcs8: authority.leafKey) else {
            preconditionFailure("an authority has checked its key")
        }
        self.key = key
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", "ES256")
        header.key("x5c")
        header.beginArray()
        for certificate in [authority.leaf, authority.intermediate, authority.root] {
            header.string(Base64.encode(certificate))
        }
        header.endArray()
        header.endObject()
        do throws(JSONOverflow) {
            self.header = Array(Base64URL.encode(try header.finish()).utf8) + [UInt8(ascii: ".")]
        } catch {
            preconditionFailure("a header has a few kilobytes")
        }
    }

    package var signaturesKept: Int { self.recent.count + self.older.count }

    /// The compact JWS of a payload.
    package mutating func sign(_ payload: [UInt8]) -> String {
        if let text = self.recent[payload] { return text }
        let text = self.older[payload] ?? self.signature(of: payload, under: self.header)
        if self.recent.count >= Limits.appleSignaturesKeptMax / 2 {
            self.older = self.recent
            self.recent = [:]
        }
        self.recent[payload] = text
        return text
    }

    /// The compact JWS of a payload under another header, for checks. It is not cached.
    package mutating func sign(_ payload: [UInt8], withHeader header: [UInt8]) -> String {
        self.signature(of: payload, under: Array(Base64URL.encode(header).utf8) + [UInt8(ascii: ".")])
    }

    private mutating func signature(of payload: [UInt8], under header: [UInt8]) -> String {
        let signed = header + Array(Base64URL.encode(payload).utf8)
        guard let signature = self.key.sign(signed) else { preconditionFailure("a P-256 key signs") }
        self.signaturesMade += 1
        return String(decoding: signed, as: UTF8.self) + "." + Base64URL.encode(signature)
    }
}
