package import PerchBase

/// The verification status of Apple's server libraries.
package enum AppleLibraryStatus: String, Sendable {
    case verificationFailure = "VERIFICATION_FAILURE"
    case invalidAppIdentifier = "INVALID_APP_IDENTIFIER"
    case invalidCertificate = "INVALID_CERTIFICATE"
    case invalidChainLength = "INVALID_CHAIN_LENGTH"
    case invalidEnvironment = "INVALID_ENVIRONMENT"
}

/// A certificate of a chain.
package enum ChainPlace: Int, Sendable, CustomStringConvertible {
    case leaf, intermediate, root

    package var description: String {
        switch self {
        case .leaf: "the leaf certificate"
        case .intermediate: "the intermediate certificate"
        case .root: "the root certificate"
        }
    }
}

/// Why a signed value is refused. It quotes no payload, because that may hold personal data.
package enum VerificationFault: Error, Hashable, Sendable {
    /// More bytes than a signed value may have.
    case tooLong(bytes: Int, limit: Int)
    /// Not three parts of strict base64url, each not empty.
    case notCompact(String)
    /// A part is not the JSON object of a signed value.
    case notJSON(String)
    /// The header requires an extension.
    case extended(String)
    /// The header has no certificates.
    case noChain
    /// `alg` is missing or is not ES256.
    case algorithm(String)
    case chainLength(Int)
    /// A certificate is not strict base64 of DER.
    case certificate(ChainPlace)
    /// No path to a trusted root.
    case untrusted(ChainPlace, String)
    case notYetValid(ChainPlace, at: Instant)
    case ended(ChainPlace, at: Instant)
    /// Apple's marker extension is missing.
    case noMarker(ChainPlace)
    /// The leaf's key is not of P-256.
    case keyType
    /// The signature does not match header and payload.
    case signature
    /// The bundle ID is not the app's.
    case bundleID(found: String?, expected: String)
    /// A production value names another Apple ID of the app.
    case appAppleID(found: Int64?, expected: Int64?)
    case environment(found: String?, expected: String)
    /// A field that this kind of payload must have is missing or has another type.
    case missingField(String)

    /// A stable reason code, for metrics and answers.
    package var code: String {
        switch self {
        case .tooLong: "APPLE_TOO_LONG"
        case .notCompact, .notJSON, .extended, .missingField: "APPLE_MALFORMED"
        case .noChain: "APPLE_NO_CHAIN"
        case .algorithm: "APPLE_ALGORITHM"
        case .chainLength: "APPLE_CHAIN_LENGTH"
        case .certificate: "APPLE_CERTIFICATE"
        case .untrusted, .keyType: "APPLE_UNTRUSTED"
        case .notYetValid, .ended: "APPLE_CERTIFICATE_TIME"
        case .noMarker: "APPLE_NO_MARKER"
        case .signature: "APPLE_SIGNATURE"
        case .bundleID, .appAppleID: "APPLE_APP_IDENTIFIER"
        case .environment: "APPLE_ENVIRONMENT"
        }
    }

    /// The name that Apple's Python library gives to this fault.
    package var libraryStatus: AppleLibraryStatus {
        switch self {
        case .chainLength: .invalidChainLength
        case .certificate: .invalidCertificate
        case .bundleID, .appAppleID: .invalidAppIdentifier
        case .environment: .invalidEnvironment
        case .tooLong, .notCompact, .notJSON, .extended, .noChain, .algorithm, .untrusted, .notYetValid, .ended,
            .noMarker, .keyType, .signature, .missingField:
            .verificationFailure
        }
    }
}

extension VerificationFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let bytes, let limit): "the signed value has \(bytes) bytes, the limit is \(limit)"
        case .notCompact(let what): "the value is not a compact JWS: \(what)"
        case .notJSON(let part): "the \(part) is not a JSON object within the limits of a signed value"
        case .extended(let member): "the header requires the extension \(quoted(member)), which Perch does not have"
        case .noChain: "the header has no certificates (x5c)"
        case .algorithm(let name): "the header's alg is \(quoted(name)), expected ES256"
        case .chainLength(let count): "the header has \(count) certificates, expected exactly 3"
        case .certificate(let place): "\(place) is not strict Base64 of one certificate in DER"
        case .untrusted(let place, let why): "the chain does not reach a trusted root, at \(place): \(why)"
        case .notYetValid(let place, let instant): "\(place) is not valid yet at \(instant)"
        case .ended(let place, let instant): "\(place) is no longer valid at \(instant)"
        case .noMarker(let place): "\(place) lacks the extension with which Apple marks certificates of the App Store"
        case .keyType: "the key of the leaf certificate is not of P-256"
        case .signature: "the signature does not match"
        case .bundleID(let found, let expected): "the bundle ID is \(shown(found)), expected \(quoted(expected))"
        case .appAppleID(let found, let expected):
            "the Apple ID of the app is \(shown(found.map { "\($0)" })), expected \(shown(expected.map { "\($0)" }))"
        case .environment(let found, let expected): "the environment is \(shown(found)), expected \(expected)"
        case .missingField(let name): "the field \(name) is missing, has another type, or a value that no store holds"
        }
    }

    private func shown(_ text: String?) -> String { text.map { quoted($0) } ?? "missing" }
}
