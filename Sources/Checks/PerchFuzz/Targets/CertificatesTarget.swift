import PerchApple
import PerchBase
import PerchJSON

/// Certificates in DER.
///
/// The first byte says what the rest is: 0 a root as it is configured; 1 and 2 a leaf or an intermediate as it is; 3 and 4
/// changes of a good leaf or intermediate, each of four bytes: two of the place, the operation, its byte.
final class CertificatesTarget: FuzzTarget {
    static let name = "certificates"
    static let reaches = ["PerchApple/Verification"]

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
        let apple = TrustedRoots.apple.certificates[0]
        return [
            [0] + apple, [1] + apple, [2] + apple, [3], [4], [3, 0, 4, 0, 1], [4, 1, 9, 1, 0x30], [3, 0, 200, 2, 0],
        ]
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        let rest = Array(bytes.dropFirst())
        switch first {
        case 0: return (try? TrustedRoots.sandbox(further: [rest])) != nil
        case 1: return self.judge(leaf: rest, intermediate: self.authority.intermediate)
        case 2: return self.judge(leaf: self.authority.leaf, intermediate: rest)
        case 3:
            return self.judge(
                leaf: Self.changed(self.authority.leaf, rest), intermediate: self.authority.intermediate)
        case 4:
            return self.judge(
                leaf: self.authority.leaf, intermediate: Self.changed(self.authority.intermediate, rest))
        default: return false
        }
    }

    private static func changed(_ certificate: [UInt8], _ edits: [UInt8]) -> [UInt8] {
        var bytes = certificate
        var rest = edits[...]
        while rest.count >= 4, !bytes.isEmpty {
            let edit = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            let place = (Int(edit[0]) << 8 | Int(edit[1])) % bytes.count
            switch edit[2] % 3 {
            case 0: bytes[place] ^= edit[3]
            case 1: bytes.insert(edit[3], at: place)
            default: bytes.remove(at: place)
            }
        }
        return bytes
    }

    /// Only the chain that was issued is accepted, byte by byte.
    private func judge(leaf: [UInt8], intermediate: [UInt8]) -> Bool {
        var verifier = AppleVerifier(roots: self.roots)
        let chain = [leaf, intermediate, self.authority.root].map { Base64.encode($0) }
        let isAccepted = (try? verifier.check(chain: chain, seconds: 1_767_225_600)) != nil
        hold(
            isAccepted == (leaf == self.authority.leaf && intermediate == self.authority.intermediate),
            "a chain is \(isAccepted ? "accepted" : "refused")")
        return isAccepted
    }
}
