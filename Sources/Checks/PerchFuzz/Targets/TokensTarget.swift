import PerchBase
import PerchWire

/// Values that callers send back: resume tokens, event cursors, page tokens. A decoded token must encode to the same
/// bytes.
final class TokensTarget: FuzzTarget {
    static let name = "tokens"
    static let reaches = ["PerchWire/Tokens.swift"]

    static func seeds() -> [[UInt8]] {
        let store = StoreIdentity(high: 1, low: 2)
        let digest = Digest(high: 3, low: 4)
        let position = Position(revision: 5, asOf: Instant(milliseconds: 6))
        let origin = TokenOrigin(store: store, epoch: 1)
        let tokens = [
            ResumeToken(store: store, epoch: 1, app: 1, view: digest, position: position, digest: digest).bytes,
            EventCursor(store: store, epoch: 1, view: digest, revision: 7, ordinal: 8).bytes,
            PageToken(origin: origin, query: digest, purchaseDate: Instant(milliseconds: 9), id: 10).bytes,
            AccountPageToken(origin: origin, app: 1, key: [11]).bytes,
        ]
        return tokens.map { [0] + $0 } + tokens.map { [1] + $0.dropLast(4) }
    }

    /// With an odd first byte the rest is given its checksum: else nothing that a fuzzer makes would come past it.
    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        var token = Array(bytes.dropFirst())
        if first % 2 == 1 {
            let checksum = CRC32C.checksum(token)
            withUnsafeBytes(of: checksum.bigEndian) { token.append(contentsOf: $0) }
        }
        let read = [
            (try? ResumeToken(token))?.bytes, (try? EventCursor(token))?.bytes, (try? PageToken(token))?.bytes,
            (try? AccountPageToken(token))?.bytes,
        ].compactMap { $0 }
        hold(read.allSatisfy { $0 == token }, "a token is read as another")
        return !read.isEmpty
    }
}
