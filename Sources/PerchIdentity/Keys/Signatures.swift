internal import CPerchCrypto
import PerchBase

/// Signatures by libcrypto, for one key and one message at a time. Only this file imports libcrypto; no pointer leaves it.
///
/// Each use creates a handle, so that keys stay plain values. It costs about ten microseconds, once for each connection.
enum Signatures {
    private struct Handle: ~Copyable {
        let key: OpaquePointer

        init?(_ key: OpaquePointer?) {
            guard let key else { return nil }
            self.key = key
        }

        deinit { perch_key_free(self.key) }
    }

    /// `isChecked`: the numbers were found to be a key when they were read.
    private static func handle(_ material: TokenKey.Material, isChecked: Bool) -> Handle? {
        switch material {
        case .p256(let x, let y, let d):
            guard x.count == 32, y.count == 32, d.map({ $0.count == 32 }) ?? true else { return nil }
            guard let d else { return Handle(perch_key_p256(x, y, nil, isChecked ? 1 : 0)) }
            return Handle(perch_key_p256(x, y, d, isChecked ? 1 : 0))
        case .ed25519(let x, let seed):
            guard x.count == 32, seed.map({ $0.count == 32 }) ?? true else { return nil }
            guard let seed else { return Handle(perch_key_ed25519(x, nil)) }
            return Handle(perch_key_ed25519(x, seed))
        case .secret:
            return nil
        }
    }

    /// Whether the numbers are a key: a point of the curve, and a private half that matches it.
    static func isSound(_ material: TokenKey.Material) -> Bool {
        if case .secret(let bytes) = material { return bytes.count >= Limits.tokenSecretBytesMin }
        return Self.handle(material, isChecked: false) != nil
    }

    static func verify(_ signature: [UInt8], over message: [UInt8], by key: TokenKey) -> Bool {
        if case .secret(let secret) = key.material {
            guard signature.count == 32, let own = Self.hmac(message, secret) else { return false }
            return perch_equal(signature, own, 32) == 1
        }
        guard signature.count == 64, let handle = Self.handle(key.material, isChecked: true) else { return false }
        return perch_verify(handle.key, message, message.count, signature) == 1
    }

    /// The signature; nil if the key cannot sign.
    static func sign(_ message: [UInt8], by key: TokenKey) -> [UInt8]? {
        if case .secret(let secret) = key.material { return Self.hmac(message, secret) }
        guard key.isSecret, let handle = Self.handle(key.material, isChecked: true) else { return nil }
        var signature = [UInt8](repeating: 0, count: 64)
        return perch_sign(handle.key, message, message.count, &signature) == 1 ? signature : nil
    }

    private static func hmac(_ message: [UInt8], _ secret: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: 32)
        return perch_hmac(secret, secret.count, message, message.count, &code) == 1 ? code : nil
    }

    /// A new key; nil if the machine has no randomness.
    static func generate(_ algorithm: SignatureAlgorithm) -> TokenKey.Material? {
        let kind: Int
        switch algorithm {
        case .hs256:
            guard let secret = Self.random(Limits.tokenSecretBytesMin) else { return nil }
            return .secret(secret)
        case .es256: kind = PERCH_KEY_P256
        case .eddsa: kind = PERCH_KEY_ED25519
        }
        guard let handle = Handle(perch_key_generate(Int32(kind))) else { return nil }
        return Self.material(handle)
    }

    /// The first key of a PEM text; nil if it has no key of a supported type.
    static func pem(_ text: [UInt8]) -> TokenKey.Material? {
        var isPrivate: Int32 = 0
        guard let handle = Handle(perch_key_pem(text, text.count, &isPrivate)) else { return nil }
        return Self.material(handle)
    }

    private static func material(_ handle: borrowing Handle) -> TokenKey.Material? {
        var open = [UInt8](repeating: 0, count: 64)
        var secret = [UInt8](repeating: 0, count: 32)
        let count = perch_key_public(handle.key, &open)
        let isSecret = perch_key_private(handle.key, &secret) == 1
        switch (Int(perch_key_kind(handle.key)), count) {
        case (PERCH_KEY_P256, 64):
            return .p256(x: Array(open[..<32]), y: Array(open[32...]), d: isSecret ? secret : nil)
        case (PERCH_KEY_ED25519, 32):
            return .ed25519(x: Array(open[..<32]), seed: isSecret ? secret : nil)
        default:
            return nil
        }
    }

    static func random(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return perch_random(&bytes, count) == 1 ? bytes : nil
    }
}
