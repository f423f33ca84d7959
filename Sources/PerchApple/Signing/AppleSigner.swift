package import PerchBase
import PerchJSON
import Synchronization

/// The signer of a server: its loops share it, so that a value has the same bytes on each.
package final class SharedAppleSigner: Sendable {
    private let signer: Mutex<AppleSigner>

    package init(_ authority: AppleAuthority) { self.signer = Mutex(AppleSigner(authority)) }

    /// The compact JWS of what has this key: signed now, unless it is cached. `payload` gets the instant.
    package func sign(_ key: [UInt8], at instant: Instant, payload: (Instant) -> [UInt8]) -> AppleSigner.Signed {
        if let known = self.signer.withLock({ $0.known(key) }) { return known }
        let payload = payload(instant)
        // Another loop may have signed it by now.
        return self.signer.withLock { $0.sign(payload, key: key, at: instant) }
    }

    /// The compact JWS of a payload, the same text each time, also by another process with this authority.
    package func signAgain(_ payload: [UInt8]) -> String { self.signer.withLock { $0.signAgain(payload) } }

    /// Signatures that were made, for metrics.
    package var signaturesMade: UInt64 { self.signer.withLock { $0.signaturesMade } }
}

/// Signs payloads as compact JWS in Apple's format. Used by one thread.
///
/// A payload that was signed before keeps its bytes while they are cached: ECDSA signatures differ each time, and a reader
/// compares.
package struct AppleSigner: ~Copyable {
    private let key: Certificates.Key
    /// The header's letters with the dot behind them.
    private let header: [UInt8]
    private var recent: [[UInt8]: Signed] = [:]
    private var older: [[UInt8]: Signed] = [:]
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
        self.sign(payload, key: payload, at: Instant(milliseconds: 0)).text
    }

    /// What was signed under a key, while it is cached. What is used stays.
    mutating func known(_ key: [UInt8]) -> Signed? {
        if let known = self.recent[key] { return known }
        guard let known = self.older[key] else { return nil }
        self.keep(known, key)
        return known
    }

    /// The compact JWS of what has this key: the payload signed now, unless it is cached.
    mutating func sign(_ payload: [UInt8], key: [UInt8], at instant: Instant) -> Signed {
        if let known = self.known(key) { return known }
        let signed = Signed(text: self.signature(of: payload, under: self.header), instant: instant)
        self.keep(signed, key)
        return signed
    }

    private mutating func keep(_ signed: Signed, _ key: [UInt8]) {
        if self.recent.count >= Limits.appleSignaturesKeptMax / 2 {
            self.older = self.recent
            self.recent = [:]
        }
        self.recent[key] = signed
    }

    /// The compact JWS of a payload, the same text each time (RFC 6979). It is not cached.
    mutating func signAgain(_ payload: [UInt8]) -> String {
        let signed = self.header + Array(Base64URL.encode(payload).utf8)
        guard let signature = self.key.signAgain(signed) else { preconditionFailure("a P-256 key signs") }
        self.signaturesMade += 1
        return String(decoding: signed, as: UTF8.self) + "." + Base64URL.encode(signature)
    }

    /// The compact JWS of a payload under another header, for checks. It is not cached.
    package mutating func sign(_ payload: [UInt8], withHeader header: [UInt8]) -> String {
        self.signature(of: payload, under: Array(Base64URL.encode(header).utf8) + [UInt8(ascii: ".")])
    }

    /// A signed value and when it was signed.
    package struct Signed: Sendable {
        package let text: String
        package let instant: Instant

        /// The value with a wrong signature, for a store whose verification is to fail.
        package var spoiled: String {
            guard let dot = self.text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
            let signature = self.text[dot...].dropFirst()
            return self.text[...dot] + (signature.first == "A" ? "B" : "A") + signature.dropFirst()
        }
    }

    private mutating func signature(of payload: [UInt8], under header: [UInt8]) -> String {
        let signed = header + Array(Base64URL.encode(payload).utf8)
        guard let signature = self.key.sign(signed) else { preconditionFailure("a P-256 key signs") }
        self.signaturesMade += 1
        return String(decoding: signed, as: UTF8.self) + "." + Base64URL.encode(signature)
    }
}
