import PerchBase
import PerchIdentity

/// Tokens that were not taken, by their hash, so that one that comes again costs no signature. It keeps the newest
/// `Limits.refusedTokensKept`.
struct RefusedTokens {
    private var faults: [ContentHash: CredentialFault] = [:]
    /// A ring of the hashes, oldest at `next` once it is full.
    private var order: [ContentHash] = []
    private var next = 0

    subscript(hash: ContentHash) -> CredentialFault? { self.faults.isEmpty ? nil : self.faults[hash] }

    mutating func insert(_ hash: ContentHash, _ fault: CredentialFault) {
        guard self.faults.updateValue(fault, forKey: hash) == nil else { return }
        guard self.order.count == Limits.refusedTokensKept else { return self.order.append(hash) }
        self.faults[self.order[self.next]] = nil
        self.order[self.next] = hash
        self.next = (self.next + 1) % self.order.count
    }

    /// Other keys are taken from now on.
    mutating func removeAll() { self = RefusedTokens() }
}

extension CredentialFault {
    /// Whether the same token stays refused as long as the keys do.
    var isLasting: Bool {
        switch self {
        case .malformed, .tooLong, .untrusted, .misdirected, .expired, .revoked: true
        case .notYetValid, .livesTooLong: false
        }
    }
}
