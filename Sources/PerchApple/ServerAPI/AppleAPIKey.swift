package import PerchBase
import PerchJSON
import Synchronization

/// A key of App Store Connect for the App Store Server API, and who it belongs to. It signs the tokens of requests; its private part
/// never leaves it.
package final class AppleAPIKey: Sendable, Equatable {
    /// As App Store Connect shows it, and as the name of the downloaded file has it.
    package let id: String
    package let issuerID: String
    private let key: Mutex<Certificates.Key>

    /// Reads the file that App Store Connect gives out: one private key of P-256, PKCS #8 in PEM.
    package init(p8 bytes: [UInt8], id: String, issuerID: String) throws(AppleAPIKeyFault) {
        guard !id.isEmpty, !issuerID.isEmpty else { throw .unnamed }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let begin = lines.firstIndex(of: "-----BEGIN PRIVATE KEY-----"),
            let end = lines[begin...].firstIndex(of: "-----END PRIVATE KEY-----"),
            let decoded = Base64.decode(lines[(begin + 1)..<end].joined()),
            let key = Certificates.Key(pkcs8: decoded)
        else { throw .noKey }
        self.id = id
        self.issuerID = issuerID
        self.key = Mutex(key)
    }

    /// Whether both are one key under one name. The private parts are compared by what they sign.
    package static func == (one: AppleAPIKey, other: AppleAPIKey) -> Bool {
        if one === other { return true }
        guard one.id == other.id, one.issuerID == other.issuerID else { return false }
        let probe = Array(one.id.utf8)
        guard let signature = one.key.withLock({ $0.sign(probe) }) else { preconditionFailure("a P-256 key signs") }
        return other.key.withLock { $0.verifies(signature, over: probe) }
    }

    /// A token for requests about one app: JWT with ES256, good for `lifeSeconds`.
    package func token(for bundleID: String, at now: Instant, lifeSeconds: Int64 = 300) -> String {
        let seconds = now.milliseconds / 1_000
        let header = Self.json { writer in
            writer.member("alg", "ES256")
            writer.member("kid", self.id)
            writer.member("typ", "JWT")
        }
        let claims = Self.json { writer in
            writer.member("iss", self.issuerID)
            writer.member("iat", seconds)
            writer.member("exp", seconds + lifeSeconds)
            writer.member("aud", "appstoreconnect-v1")
            writer.member("bid", bundleID)
        }
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(claims)
        guard let signature = self.key.withLock({ $0.sign(Array(signed.utf8)) }) else {
            preconditionFailure("a P-256 key signs")
        }
        return signed + "." + Base64URL.encode(signature)
    }

    private static func json(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        do throws(JSONOverflow) {
            return try writer.finish()
        } catch {
            preconditionFailure("a token has a few hundred bytes")
        }
    }
}

/// Why a file is no key for the App Store Server API.
package enum AppleAPIKeyFault: Error, Hashable, Sendable, CustomStringConvertible {
    case noKey
    case unnamed

    package var description: String {
        switch self {
        case .noKey:
            "it holds no private key as App Store Connect gives it out: PKCS #8 in PEM, of P-256; "
                + "download an In-App Purchase key"
        case .unnamed: "key_id and issuer_id are needed; App Store Connect shows both beside the key"
        }
    }
}
