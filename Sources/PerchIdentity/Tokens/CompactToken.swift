import PerchBase
import PerchJSON

/// A parsed token in compact form (RFC 7515, section 3.1), not verified yet.
///
/// The parser has limits and accepts one form: three parts, unpadded base64url, JSON without duplicate keys. It ignores
/// every key that a header contains or points to, and refuses extensions (`crit`) and tokens without a signature.
package struct CompactToken: Sendable {
    /// The signed bytes: header and payload as received, with the dot between them.
    package let signed: [UInt8]
    package let signature: [UInt8]
    /// `alg` of the token. The algorithm of the key decides.
    package let algorithm: String
    /// `kid`; nil if the token names none.
    package let keyID: String?
    let payload: JSONValue

    package init(_ text: some Collection<UInt8>) throws(CredentialFault) {
        guard text.count <= Limits.tokenBytesMax else {
            throw .tooLong(bytes: text.count, limit: Limits.tokenBytesMax)
        }
        let text = Array(text)
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty else {
            throw .malformed("it has \(parts.count) parts, a signed one has three with dots between them")
        }
        guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else {
            throw .malformed(
                text.contains { $0 <= UInt8(ascii: " ") }
                    ? "there is white space in it; send the token alone, without the end of its line"
                    : "a part of it is not unpadded base64url")
        }
        let fields = try Self.object(header, "header")
        self.payload = try Self.object(payload, "payload")
        self.signature = signature
        self.signed = Array(text[..<parts[1].endIndex])
        guard let algorithm = fields["alg"]?.string else { throw .malformed("its header has no alg") }
        self.algorithm = algorithm
        for member in ["crit", "b64"] where fields[member] != nil {
            throw .malformed("its header asks for extensions (\(member)), and there are none here")
        }
        switch fields["kid"] {
        case nil: self.keyID = nil
        case let kid?:
            guard let id = kid.string, id.utf8.count <= Limits.tokenKeyIDBytesMax else {
                throw .malformed("its kid is no text of up to \(Limits.tokenKeyIDBytesMax) bytes")
            }
            self.keyID = id
        }
    }

    private static func object(_ bytes: [UInt8], _ part: String) throws(CredentialFault) -> JSONValue {
        var limits = JSONLimits()
        limits.bytes = Limits.tokenBytesMax
        limits.depth = Limits.tokenDepthMax
        limits.values = Limits.tokenValuesMax
        limits.stringBytes = Limits.tokenBytesMax
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(bytes, limits: limits)
        } catch {
            // The reader's error is left out, because it quotes the token.
            throw .malformed("its \(part) is not the JSON of a token")
        }
        guard value.members != nil else { throw .malformed("its \(part) is no JSON object") }
        return value
    }

    /// Signs a payload.
    package static func signing(_ payload: [UInt8], by key: TokenKey) throws(KeyFault) -> String {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", key.algorithm.rawValue)
        header.member("kid", key.id)
        header.member("typ", "JWT")
        header.endObject()
        let bytes: [UInt8]
        do throws(JSONOverflow) {
            bytes = try header.finish()
        } catch {
            preconditionFailure("a header has a hundred bytes")
        }
        let signed = Base64URL.encode(bytes) + "." + Base64URL.encode(payload)
        guard let signature = Signatures.sign(Array(signed.utf8), by: key) else {
            throw KeyFault("\(key) is the public half; sign with the file that holds the private one")
        }
        return signed + "." + Base64URL.encode(signature)
    }
}
