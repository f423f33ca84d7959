internal import CPerchCrypto
internal import CPerchX509
import PerchBase

/// Certificate chains and keys by libcrypto. Only this file imports it in PerchApple; no pointer leaves it.
enum Certificates {
    /// The public or private key of a leaf. Used on the thread that made it.
    final class Key {
        private let key: OpaquePointer

        fileprivate init(_ key: OpaquePointer) { self.key = key }

        deinit { perch_key_free(self.key) }

        /// Reads a private key from PKCS #8 DER; nil if it is none of P-256.
        convenience init?(pkcs8 bytes: [UInt8]) {
            guard let key = perch_key_pkcs8(bytes, bytes.count) else { return nil }
            guard perch_key_kind(key) == PERCH_KEY_P256 else {
                perch_key_free(key)
                return nil
            }
            self.init(key)
        }

        func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
            signature.count == 64 && perch_verify(self.key, message, message.count, signature) == 1
        }

        func sign(_ message: [UInt8]) -> [UInt8]? {
            var signature = [UInt8](repeating: 0, count: 64)
            return perch_sign(self.key, message, message.count, &signature) == 1 ? signature : nil
        }

        /// The same signature each time. It takes longer than `sign`.
        func signAgain(_ message: [UInt8]) -> [UInt8]? {
            var signature = [UInt8](repeating: 0, count: 64)
            return perch_sign_again(self.key, message, message.count, &signature) == 1 ? signature : nil
        }
    }

    /// A chain that reached a trusted root.
    struct Chain {
        let key: Key
        /// Seconds since the Unix epoch: from the first to before the second, all three certificates are valid.
        let begins: Int64
        let ends: Int64
    }

    /// Checks a chain at an instant against roots in DER.
    static func check(
        leaf: [UInt8], intermediate: [UInt8], roots: [[UInt8]], seconds: Int64
    ) throws(VerificationFault) -> Chain {
        var found = perch_chain()
        let key = self.withBytes([leaf, intermediate] + roots) { bytes in
            bytes.withUnsafeBufferPointer { bytes in
                perch_chain_check(
                    bytes[0], bytes[1], bytes.baseAddress.map { $0 + 2 }, roots.count, seconds, &found)
            }
        }
        if let key { return Chain(key: Key(key), begins: found.begins, ends: found.ends) }
        throw self.fault(found, seconds)
    }

    private static func fault(_ found: perch_chain, _ seconds: Int64) -> VerificationFault {
        let place = ChainPlace(rawValue: Int(found.place)) ?? .root
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        let instant = overflow ? .distantFuture : Instant(milliseconds: milliseconds)
        switch Int(found.fault) {
        case PERCH_CHAIN_NOT_DER: return .certificate(place)
        case PERCH_CHAIN_NOT_YET_VALID: return .notYetValid(place, at: instant)
        case PERCH_CHAIN_ENDED: return .ended(place, at: instant)
        case PERCH_CHAIN_NO_MARKER: return .noMarker(place)
        case PERCH_CHAIN_OTHER_KEY: return .keyType
        case PERCH_CHAIN_NO_PATH:
            return .untrusted(place, String(cString: perch_chain_detail(found.detail)))
        default: return .untrusted(place, "out of memory")
        }
    }

    /// Whether bytes are one self-signed certificate in DER.
    static func isRoot(_ bytes: [UInt8]) -> Bool { perch_certificate_is_root(bytes, bytes.count) == 1 }

    /// A certificate and its private key in PKCS #8, both DER.
    struct Issued {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    /// Issues a certificate; nil if the machine has no randomness or no memory.
    static func issue(_ recipe: CertificateRecipe) -> Issued? {
        var issue = perch_issue()
        issue.begins = recipe.begins
        issue.ends = recipe.ends
        issue.is_authority = recipe.isAuthority ? 1 : 0
        issue.path_length = Int32(recipe.pathLength ?? -1)
        issue.is_p384 = recipe.isP384 ? 1 : 0
        issue.lacks_identifiers = recipe.lacksIdentifiers ? 1 : 0
        var (certificate, key): (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
        var (certificateCount, keyCount) = (0, 0)
        let texts = [recipe.commonName, recipe.organisation, recipe.marker, recipe.responder, recipe.names]
        let isMade = self.withBytes([recipe.issuer?.certificate ?? [], recipe.issuer?.key ?? []]) { bytes in
            self.withTexts(texts) { texts in
                issue.common_name = texts[0]
                issue.organisation = texts[1]
                issue.marker = texts[2]
                issue.responder = texts[3]
                issue.names = texts[4]
                issue.issuer = bytes[0]
                issue.issuer_key = bytes[1]
                return perch_certificate_issue(&issue, &certificate, &certificateCount, &key, &keyCount)
            }
        }
        guard isMade == 1 else { return nil }
        defer {
            perch_issued_free(certificate, certificateCount)
            perch_issued_free(key, keyCount)
        }
        return Issued(
            certificate: Array(UnsafeBufferPointer(start: certificate, count: certificateCount)),
            key: Array(UnsafeBufferPointer(start: key, count: keyCount)))
    }

    /// A certificate that a responder vouches for, and its issuer.
    struct Vouched {
        let certificate: [UInt8]
        let issuer: Issued
    }

    /// The answer to an OCSP request, valid for some seconds; nil if the bytes are no request about an issuer of the list.
    static func answer(_ request: [UInt8], _ vouched: [Vouched], seconds: Int64, validSeconds: Int64) -> [UInt8]? {
        var answer: UnsafeMutablePointer<UInt8>?
        var count = 0
        let parts = [request] + vouched.flatMap { [$0.certificate, $0.issuer.certificate, $0.issuer.key] }
        let isMade = self.withBytes(parts) { bytes in
            let pairs = vouched.indices.map { index in
                perch_vouched(
                    certificate: bytes[1 + index * 3], issuer: bytes[2 + index * 3], issuer_key: bytes[3 + index * 3])
            }
            return perch_ocsp_answer(bytes[0], pairs, pairs.count, seconds, validSeconds, &answer, &count)
        }
        guard isMade == 1 else { return nil }
        defer { perch_issued_free(answer, count) }
        return Array(UnsafeBufferPointer(start: answer, count: count))
    }

    /// Calls `body` with all texts as C strings, which live until it returns; nil for nil.
    private static func withTexts<Result>(_ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        func add(_ index: Int, _ views: [UnsafePointer<CChar>?]) -> Result {
            guard index < texts.count else { return body(views) }
            guard let text = texts[index] else { return add(index + 1, views + [nil]) }
            return text.withCString { add(index + 1, views + [$0]) }
        }
        return add(0, [])
    }

    /// Calls `body` with views of all arrays, which live until it returns.
    private static func withBytes<Result>(_ arrays: [[UInt8]], _ body: ([perch_bytes]) -> Result) -> Result {
        func add(_ index: Int, _ views: [perch_bytes]) -> Result {
            guard index < arrays.count else { return body(views) }
            return arrays[index].withUnsafeBufferPointer { bytes in
                add(index + 1, views + [perch_bytes(start: bytes.baseAddress, count: bytes.count)])
            }
        }
        return add(0, [])
    }
}
