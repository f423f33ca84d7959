import PerchBase
import PerchJSON

/// A compact JWS, split and decoded but not verified. Its form is strict: three parts of unpadded base64url, JSON objects
/// without duplicate keys, no extensions. So a signed value has one form.
struct SignedText {
    /// The header's letters. Apple signs all values of a certificate chain with the same header.
    let header: [UInt8]
    /// Header and payload as they were signed, with the dot between them.
    let signed: [UInt8]
    let payload: JSONValue
    /// Empty where the value has none.
    let signature: [UInt8]

    init(_ text: [UInt8], limit: Int) throws(VerificationFault) {
        guard text.count <= limit else { throw .tooLong(bytes: text.count, limit: limit) }
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw .notCompact(parts.count > 3 ? "it has more than three parts" : "it has \(parts.count) parts")
        }
        guard !parts[0].isEmpty, let payload = Base64URL.decode(text.span.bytes.extracting(parts[1].indices)),
            let signature = Base64URL.decode(text.span.bytes.extracting(parts[2].indices))
        else { throw .notCompact("a part is not unpadded base64url") }
        self.header = Array(parts[0])
        self.signed = Array(text[..<parts[1].endIndex])
        self.payload = try Self.object(payload, "payload")
        self.signature = signature
    }

    /// The header's algorithm and certificates. Checks them in the order of Apple's library.
    func chain() throws(VerificationFault) -> [String] {
        guard let bytes = Base64URL.decode(self.header.span.bytes) else {
            throw .notCompact("a part is not unpadded base64url")
        }
        let header = try Self.object(bytes, "header")
        for member in ["crit", "b64"] where header[member] != nil { throw .extended(member) }
        guard let certificates = header["x5c"]?.array, !certificates.isEmpty else { throw .noChain }
        guard header["alg"]?.string == "ES256" else {
            throw .algorithm(String((header["alg"]?.string ?? "").prefix(16)))
        }
        guard certificates.count == 3 else { throw .chainLength(certificates.count) }
        return certificates.map { $0.string ?? "" }
    }

    private static func object(_ bytes: [UInt8], _ part: String) throws(VerificationFault) -> JSONValue {
        var limits = JSONLimits()
        limits.bytes = Limits.appleNotificationBytesMax
        limits.depth = Limits.appleDepthMax
        limits.values = Limits.appleValuesMax
        limits.stringBytes = Limits.appleNotificationBytesMax
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(bytes, limits: limits)
        } catch {
            throw .notJSON(part)
        }
        guard value.members != nil else { throw .notJSON(part) }
        return value
    }
}
