package import PerchBase
package import PerchJSON

/// Verifies values that the App Store signed, against one set of trusted roots.
///
/// Chains are checked at the instant at which a value was signed, so old values stay valid after their certificates end.
/// A verifier caches chains and is used by one thread. It reaches no network: certificates are not asked about by OCSP.
package struct AppleVerifier {
    private struct Known {
        let chain: Certificates.Chain
        var lastUse: UInt64
    }

    package let roots: TrustedRoots
    /// By the header's letters. Only headers whose value had a good signature, so that a client cannot fill the cache.
    private var known: [[UInt8]: Known] = [:]
    private var uses: UInt64 = 0
    /// Chains that were checked, for metrics and tests.
    package private(set) var chainsChecked: UInt64 = 0

    package init(roots: TrustedRoots) { self.roots = roots }

    package var chainsKept: Int { self.known.count }

    /// Whether a chain with this header, in its letters, was good before.
    func knows(_ header: [UInt8]) -> Bool { self.known[header] != nil }

    /// Verifies chain and signature, and returns the payload. `AppleApp` then checks the app.
    ///
    /// `now` is used for a payload that does not say when it was signed.
    package mutating func open(
        _ text: [UInt8], limit: Int = Limits.appleSignedBytesMax, now: Instant
    ) throws(VerificationFault) -> JSONValue {
        try self.open(try SignedText(text, limit: limit), now: now)
    }

    /// The same for a value that was split before.
    mutating func open(_ value: SignedText, now: Instant) throws(VerificationFault) -> JSONValue {
        let seconds = Self.effectiveSeconds(of: value.payload, now: now)
        if let known = self.known[value.header], known.chain.begins <= seconds, seconds < known.chain.ends {
            guard known.chain.key.verifies(value.signature, over: value.signed) else { throw .signature }
            self.uses += 1
            self.known[value.header]?.lastUse = self.uses
            return value.payload
        }
        let chain = try self.check(try value.chain(), seconds: seconds)
        guard chain.key.verifies(value.signature, over: value.signed) else { throw .signature }
        self.keep(chain, for: value.header)
        return value.payload
    }

    /// Checks the certificates of a header, in Base64, without a cache.
    package mutating func check(chain: [String], seconds: Int64) throws(VerificationFault) {
        guard chain.count == 3 else { throw .chainLength(chain.count) }
        _ = try self.check(chain, seconds: seconds)
    }

    private mutating func check(_ chain: [String], seconds: Int64) throws(VerificationFault) -> Certificates.Chain {
        self.chainsChecked += 1
        return try Certificates.check(
            leaf: try Self.certificate(chain[0], .leaf), intermediate: try Self.certificate(chain[1], .intermediate),
            roots: self.roots.certificates, seconds: seconds)
    }

    private static func certificate(_ text: String, _ place: ChainPlace) throws(VerificationFault) -> [UInt8] {
        guard text.utf8.count <= Limits.appleCertificateBytesMax * 2, let bytes = Base64.decode(text),
            !bytes.isEmpty, bytes.count <= Limits.appleCertificateBytesMax
        else { throw .certificate(place) }
        return bytes
    }

    private mutating func keep(_ chain: Certificates.Chain, for header: [UInt8]) {
        self.uses += 1
        if self.known.count >= Limits.appleChainsKeptMax, self.known[header] == nil,
            let oldest = self.known.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
        {
            self.known[oldest] = nil
        }
        self.known[header] = Known(chain: chain, lastUse: self.uses)
    }

    /// The second at which the chain must have been valid: the payload's signing date, of an app transaction its creation
    /// date, else now.
    private static func effectiveSeconds(of payload: JSONValue, now: Instant) -> Int64 {
        let fields = PayloadFields(payload)
        let signed = fields.instant("signedDate") ?? fields.instant("receiptCreationDate") ?? now
        let (seconds, rest) = signed.milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return rest < 0 ? seconds - 1 : seconds
    }
}
