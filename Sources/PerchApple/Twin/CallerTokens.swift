package import PerchBase
import PerchJSON

/// Checks the tokens with which backends call the App Store Server API. Used on one thread.
package final class CallerTokens {
    private let key: Certificates.Key
    private let keyID: String
    private let issuerID: String

    init(key: Certificates.Key, keyID: String, issuerID: String) {
        self.key = key
        self.keyID = keyID
        self.issuerID = issuerID
    }

    /// The `bid` of a good token.
    package func bundleID(of token: String, at wall: Instant) throws(CallerFault) -> String {
        let signed: SignedText
        do throws(VerificationFault) {
            signed = try SignedText(Array(token.utf8), limit: Limits.tokenBytesMax)
        } catch {
            throw CallerFault("the token is no JWT: \(error)")
        }
        guard let header = Base64URL.decode(signed.header.span.bytes).flatMap({ try? JSONReader.read($0) }) else {
            throw CallerFault("the token's header is no JSON")
        }
        guard header["alg"]?.string == "ES256" else { throw CallerFault("alg is not ES256") }
        guard header["kid"]?.string == self.keyID else { throw CallerFault("kid is not \(self.keyID)") }
        guard header["crit"] == nil, header["b64"] == nil else { throw CallerFault("the header asks for extensions") }
        guard self.key.verifies(signed.signature, over: signed.signed) else {
            throw CallerFault("the signature is not that of the key \(self.keyID)")
        }
        let claims = signed.payload
        guard claims["iss"]?.string == self.issuerID else { throw CallerFault("iss is not \(self.issuerID)") }
        guard claims["aud"]?.string == "appstoreconnect-v1" else { throw CallerFault("aud is not appstoreconnect-v1") }
        guard let end = claims["exp"]?.integer else { throw CallerFault("exp is missing") }
        let now = wall.milliseconds / 1_000
        guard end > now else { throw CallerFault("exp has passed; is the clock right?") }
        guard end <= now + Limits.callerTokenSeconds + Limits.callerClockSeconds else {
            throw CallerFault("exp is more than \(Limits.callerTokenSeconds / 60) minutes ahead; is the clock right?")
        }
        // Apple's Python library sends no iat.
        if let begin = claims["iat"]?.integer {
            guard begin <= now + Limits.callerClockSeconds else {
                throw CallerFault("iat is in the future; is the clock right?")
            }
            // The end lies ahead, so this cannot overflow; the beginning is the caller's, and may be any number.
            guard begin >= end - Limits.callerTokenSeconds else {
                throw CallerFault("the token lives for more than \(Limits.callerTokenSeconds / 60) minutes")
            }
        }
        guard let bundleID = claims["bid"]?.string, !bundleID.isEmpty else { throw CallerFault("bid is missing") }
        return bundleID
    }
}

/// Why a caller's token is refused. For the log: the App Store does not say.
package struct CallerFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
