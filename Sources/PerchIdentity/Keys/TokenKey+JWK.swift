import PerchBase
import PerchJSON

// Keys in files: JWK, JWK sets (RFC 7517, 7518, 8037) and PEM.
extension TokenKey {
    /// A new key with an ID; nil if the machine has no randomness.
    package static func generate(_ algorithm: SignatureAlgorithm, id: String) -> TokenKey? {
        Signatures.generate(algorithm).map { TokenKey(id: id, material: $0) }
    }

    /// The keys of a file: a JWK, a JWK set or a PEM text. `name` is the `kid` of a key without one.
    ///
    /// Keys of a set with another purpose are left out. A file without a usable key is refused.
    package static func read(_ bytes: [UInt8], name: String) throws(KeyFault) -> [TokenKey] {
        guard bytes.count <= Limits.tokenKeyFileBytesMax else {
            throw KeyFault("it has more than \(Limits.tokenKeyFileBytesMax) bytes; one key has a few hundred")
        }
        let text = Array(bytes.withoutByteOrderMark)
        if text.starts(with: Array("-----BEGIN".utf8)) {
            guard let material = Signatures.pem(text) else {
                throw KeyFault(
                    "it holds no key of P-256 or Ed25519 that opens without a password; make one with `perch token key create`"
                )
            }
            return [TokenKey(id: name, material: material)]
        }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONReader.read(bytes)
        } catch {
            throw KeyFault("it is neither PEM nor JSON: at \(error.place), \(error.reason)")
        }
        guard let entries = document["keys"]?.array else { return [try TokenKey(jwk: document, name: name)] }
        guard entries.count <= Limits.tokenKeysMax else {
            throw KeyFault("it holds \(entries.count) keys, the limit is \(Limits.tokenKeysMax)")
        }
        var keys: [TokenKey] = []
        for (index, entry) in entries.enumerated() where Self.isForTokens(entry) {
            do throws(KeyFault) {
                keys.append(try TokenKey(jwk: entry, name: entries.count == 1 ? name : nil))
            } catch {
                throw KeyFault("key \(index + 1) of the set: \(error)")
            }
        }
        guard !keys.isEmpty else { throw KeyFault("none of its \(entries.count) keys is for ES256, EdDSA or HS256") }
        return keys
    }

    /// Whether a key of a set has a known type and is not for encryption.
    private static func isForTokens(_ jwk: JSONValue) -> Bool {
        if let use = jwk["use"]?.string, use != "sig" { return false }
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("EC", "P-256"), ("OKP", "Ed25519"), ("oct", _): return true
        default: return false
        }
    }

    private init(jwk: JSONValue, name: String?) throws(KeyFault) {
        guard jwk.members != nil else { throw KeyFault("it is \(jwk.kind), a key is an object with kty") }
        func bytes(_ member: String) throws(KeyFault) -> [UInt8] {
            guard let text = jwk[member]?.string, let bytes = Base64URL.decode(Array(text.utf8)) else {
                throw KeyFault("its member \(member) is missing, or not unpadded base64url")
            }
            return bytes
        }
        guard let id = jwk["kid"]?.string ?? name, !id.isEmpty, id.utf8.count <= Limits.tokenKeyIDBytesMax else {
            throw KeyFault(
                "its kid is missing or longer than \(Limits.tokenKeyIDBytesMax) bytes; tokens name it by that")
        }
        let isPrivate = jwk["d"] != nil
        let material: Material
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("EC", "P-256"):
            material = .p256(x: try bytes("x"), y: try bytes("y"), d: isPrivate ? try bytes("d") : nil)
        case ("OKP", "Ed25519"):
            material = .ed25519(x: try bytes("x"), seed: isPrivate ? try bytes("d") : nil)
        case ("oct", _):
            let secret = try bytes("k")
            guard secret.count >= Limits.tokenSecretBytesMin else {
                throw KeyFault(
                    "its secret has \(secret.count) bytes, HS256 needs at least \(Limits.tokenSecretBytesMin)")
            }
            material = .secret(secret)
        default:
            throw KeyFault("its kty and crv are none of EC P-256, OKP Ed25519 and oct")
        }
        self.init(id: id, material: material)
        if let algorithm = jwk["alg"]?.string, algorithm != self.algorithm.rawValue {
            throw KeyFault("its alg is \(quoted(algorithm)), and a key of its kind signs \(self.algorithm.rawValue)")
        }
        guard Signatures.isSound(material) else {
            throw KeyFault("its numbers are no key: a point off the curve, or a private half that is another's")
        }
    }

    /// The key as a JWK for a file, with its secret half if it has one.
    package var jwk: [UInt8] {
        var writer = JSONWriter(layout: .indented)
        self.write(to: &writer)
        do throws(JSONOverflow) {
            return try writer.finish()
        } catch {
            preconditionFailure("a key has a few hundred bytes")
        }
    }

    /// A set of the public halves of keys, for whoever verifies.
    package static func publicSet(_ keys: [TokenKey]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("keys")
        writer.beginArray()
        for key in keys.compactMap(\.publicHalf) { key.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        do throws(JSONOverflow) {
            return try writer.finish()
        } catch {
            preconditionFailure("a key has a few hundred bytes")
        }
    }

    private func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self.material {
        case .p256(let x, let y, let d):
            writer.member("kty", "EC")
            writer.member("crv", "P-256")
            writer.member("x", Base64URL.encode(x))
            writer.member("y", Base64URL.encode(y))
            if let d { writer.member("d", Base64URL.encode(d)) }
        case .ed25519(let x, let seed):
            writer.member("kty", "OKP")
            writer.member("crv", "Ed25519")
            writer.member("x", Base64URL.encode(x))
            if let seed { writer.member("d", Base64URL.encode(seed)) }
        case .secret(let secret):
            writer.member("kty", "oct")
            writer.member("k", Base64URL.encode(secret))
        }
        writer.member("kid", self.id)
        writer.member("alg", self.algorithm.rawValue)
        writer.member("use", "sig")
        writer.endObject()
    }
}
