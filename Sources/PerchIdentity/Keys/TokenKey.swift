import PerchBase

/// The algorithm of a signature. It belongs to the key; `alg` of a token must agree.
package enum SignatureAlgorithm: String, Hashable, Sendable, CaseIterable {
    case es256 = "ES256"
    case eddsa = "EdDSA"
    case hs256 = "HS256"
}

/// A key that verifies or signs tokens: plain bytes, checked when they were read.
///
/// Its description is its name, so its secret is never printed.
package struct TokenKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package enum Material: Hashable, Sendable {
        /// ECDSA with P-256; 32 bytes each.
        case p256(x: [UInt8], y: [UInt8], d: [UInt8]?)
        /// Ed25519; 32 bytes each.
        case ed25519(x: [UInt8], seed: [UInt8]?)
        /// HMAC with SHA-256.
        case secret([UInt8])
    }

    /// `kid`, by which tokens name the key.
    package let id: String
    package let material: Material

    package init(id: String, material: Material) {
        self.id = id
        self.material = material
    }

    package var algorithm: SignatureAlgorithm {
        switch self.material {
        case .p256: .es256
        case .ed25519: .eddsa
        case .secret: .hs256
        }
    }

    /// Whether the key can sign, and so must stay secret.
    package var isSecret: Bool {
        switch self.material {
        case .p256(_, _, let d): d != nil
        case .ed25519(_, let seed): seed != nil
        case .secret: true
        }
    }

    /// The public half; nil if the whole key is secret.
    package var publicHalf: TokenKey? {
        switch self.material {
        case .p256(let x, let y, _): TokenKey(id: self.id, material: .p256(x: x, y: y, d: nil))
        case .ed25519(let x, _): TokenKey(id: self.id, material: .ed25519(x: x, seed: nil))
        case .secret: nil
        }
    }

    /// Whether both keys verify the same tokens.
    package func verifiesSame(as other: TokenKey) -> Bool {
        self.id == other.id && (self.publicHalf ?? self) == (other.publicHalf ?? other)
    }

    package var description: String { "key \(quoted(self.id)) (\(self.algorithm.rawValue))" }
    package var customMirror: Mirror { Mirror(self, children: ["id": self.id, "algorithm": self.algorithm.rawValue]) }
}

/// The reason why a file is not a key, with the next step.
package struct KeyFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
