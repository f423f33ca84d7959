import PerchApple
import PerchBase
import PerchJSON

/// Values that the App Store is said to have signed.
///
/// The first byte is the kind of input:
/// - 0: a whole value.
/// - 1: a payload. The target signs it, because no fuzzer guesses a signature.
/// - 2: a header and a payload, which the target signs. In the header, `$L`, `$I` and `$R` stand for the certificates.
final class SignedValuesTarget: FuzzTarget {
    static let name = "signed-values"
    static let reaches = ["PerchApple/Verification", "PerchApple/Signing"]

    private static let now = Instant(milliseconds: 1_767_225_600_000)

    private let authority: AppleAuthority
    private let roots: TrustedRoots

    init() {
        do {
            self.authority = try AppleAuthority.make()
            self.roots = try .sandbox(further: [self.authority.root])
        } catch {
            fatalError("fuzz: no authority: \(error)")
        }
    }

    static func seeds() -> [[UInt8]] {
        let header = #"{"alg":"ES256","x5c":["$L","$I","$R"]}"#
        return [
            [0] + Array("eyJhbGciOiJFUzI1NiIsIng1YyI6WyJBQUFBIiwiQUFBQSIsIkFBQUEiXX0.e30.AAAA".utf8),
            [1] + Array(#"{"signedDate":1767225600000,"environment":"Sandbox"}"#.utf8),
            [1] + Array(#"{"receiptCreationDate":1767225600000.5,"a":[1,{"b":null}]}"#.utf8),
            [2] + Array(header.utf8), [2] + Array(#"{"typ":"JWT","x5c":["$L","$I","AAAA"],"alg":"ES256"}"#.utf8),
            [2] + Array(#"{"alg":"none","x5c":["$L","$I"]}"#.utf8),
        ]
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        let rest = Array(bytes.dropFirst())
        switch first {
        case 0:
            hold(!self.opens(rest, of: self.roots), "a value without a signature of ours opens")
            return false
        case 1:
            var signer = AppleSigner(self.authority)
            let text = Array(signer.sign(rest).utf8)
            hold(!self.opens(text, of: .apple), "a value opens without its root")
            return self.opens(text, of: self.roots)
        case 2: return self.opens(self.value(withHeader: rest), of: self.roots)
        default: return false
        }
    }

    private func value(withHeader header: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var rest = header[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "$"), let letter = rest.popFirst() else {
                text.append(byte)
                continue
            }
            switch letter {
            case UInt8(ascii: "L"): text += Array(Base64.encode(self.authority.leaf).utf8)
            case UInt8(ascii: "I"): text += Array(Base64.encode(self.authority.intermediate).utf8)
            case UInt8(ascii: "R"): text += Array(Base64.encode(self.authority.root).utf8)
            default: text += [byte, letter]
            }
        }
        var signer = AppleSigner(self.authority)
        return Array(signer.sign([UInt8(ascii: "{"), UInt8(ascii: "}")], withHeader: text).utf8)
    }

    /// Whether it opens: the same without the cache and with it.
    private func opens(_ text: [UInt8], of roots: TrustedRoots) -> Bool {
        var verifier = AppleVerifier(roots: roots)
        let first = Self.opens(text, by: &verifier)
        hold(Self.opens(text, by: &verifier) == first, "a value is judged otherwise by the cache")
        hold(verifier.chainsKept == (first ? 1 : 0), "\(verifier.chainsKept) chains are kept")
        return first
    }

    private static func opens(_ text: [UInt8], by verifier: inout AppleVerifier) -> Bool {
        do throws(VerificationFault) {
            _ = try verifier.open(text, now: Self.now)
            return true
        } catch {
            hold(!error.description.isEmpty && error.code.hasPrefix("APPLE_"), "a fault without a reason")
            return false
        }
    }
}
