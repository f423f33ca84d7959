import PerchBase
import Synchronization

/// The IDs of tokens that callers used since the server started, for all loops: a revocation of another ID may be a
/// misspelt one.
///
/// It keeps the first `Limits.seenTokensMax` IDs, as hashes. Beyond that every ID counts as seen, so that no answer claims
/// more than the server knows.
package final class SeenTokens: Sendable {
    private let hashes = Mutex<Set<Digest>>([])

    package init() {}

    func insert(_ id: String) {
        let hash = Digest(of: Array(id.utf8))
        self.hashes.withLock { hashes in
            if hashes.count < Limits.seenTokensMax { hashes.insert(hash) }
        }
    }

    func contains(_ id: String) -> Bool {
        let hash = Digest(of: Array(id.utf8))
        return self.hashes.withLock { $0.count >= Limits.seenTokensMax || $0.contains(hash) }
    }
}
