import PerchBase
import PerchJSON

@testable import PerchApple

/// A chain in Apple's profile whose parts a test can spoil.
struct TestChain {
    var root: Certificates.Issued
    var intermediate: Certificates.Issued
    var leaf: Certificates.Issued

    init(
        root: (inout CertificateRecipe) -> Void = { _ in }, intermediate: (inout CertificateRecipe) -> Void = { _ in },
        leaf: (inout CertificateRecipe) -> Void = { _ in }
    ) throws {
        var recipe = CertificateRecipe(commonName: "Root", isAuthority: true, isP384: true)
        root(&recipe)
        self.root = try Self.issued(recipe)
        recipe = CertificateRecipe(
            commonName: "Intermediate", marker: AppleMarkers.intermediate, issuer: self.root, isAuthority: true,
            pathLength: 0, isP384: true)
        intermediate(&recipe)
        self.intermediate = try Self.issued(recipe)
        recipe = CertificateRecipe(commonName: "Leaf", marker: AppleMarkers.leaf, issuer: self.intermediate)
        leaf(&recipe)
        self.leaf = try Self.issued(recipe)
    }

    struct NotIssued: Error {}

    static func issued(_ recipe: CertificateRecipe) throws -> Certificates.Issued {
        guard let issued = Certificates.issue(recipe) else { throw NotIssued() }
        return issued
    }

    var certificates: [[UInt8]] { [self.leaf.certificate, self.intermediate.certificate, self.root.certificate] }

    var trusted: TrustedRoots {
        get throws { try .sandbox(further: [self.root.certificate]) }
    }

    /// A compact JWS with any header members and certificates.
    func sign(
        _ payload: String, algorithm: String? = "ES256", certificates: [[UInt8]]? = nil, more: String = "",
        key: [UInt8]? = nil
    ) throws -> [UInt8] {
        let chain = (certificates ?? self.certificates).map { "\"" + Base64.encode($0) + "\"" }
        let alg = algorithm.map { "\"alg\":\"\($0)\"," } ?? ""
        let header = "{" + alg + more + "\"x5c\":[" + chain.joined(separator: ",") + "]}"
        return try self.sign(payload, header: header, key: key)
    }

    func sign(_ payload: String, header: String, key: [UInt8]? = nil) throws -> [UInt8] {
        let signed =
            Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        guard let key = Certificates.Key(pkcs8: key ?? self.leaf.key), let signature = key.sign(Array(signed.utf8))
        else { throw NotIssued() }
        return Array((signed + "." + Base64URL.encode(signature)).utf8)
    }
}

/// The seconds of `signedDate` in the payloads of these tests.
let signedSeconds: Int64 = 1_700_000_000
let signedDate = Instant(milliseconds: signedSeconds * 1_000)

let transactionJSON = """
    {"transactionId":"12","originalTransactionId":"11","bundleId":"com.example.app","productId":"pro",\
    "purchaseDate":1699999999000,"expiresDate":1702591999000,"type":"Auto-Renewable Subscription",\
    "environment":"Sandbox","signedDate":\(signedDate.milliseconds)}
    """

/// What a verifier finds wrong; nil if nothing.
func fault(
    _ verifier: inout AppleVerifier, _ text: [UInt8], limit: Int = Limits.appleSignedBytesMax
) -> VerificationFault? {
    do throws(VerificationFault) {
        _ = try verifier.open(text, limit: limit, now: signedDate)
        return nil
    } catch {
        return error
    }
}

func fault(of text: [UInt8], roots: TrustedRoots) -> VerificationFault? {
    var verifier = AppleVerifier(roots: roots)
    return fault(&verifier, text)
}
