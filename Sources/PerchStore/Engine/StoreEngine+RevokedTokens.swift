import PerchBase
import PerchModel

// Tokens that were taken back: durable before it is answered, and then every loop is told. Not part of any view, and so of
// no revision.
extension StoreEngine {
    /// What is taken back and not forgotten yet, for loops that begin.
    package var revoked: [RevokedToken] {
        self.revocations.map { RevokedToken(id: $0.key, expires: $0.value) }.sorted { $0.id < $1.id }
    }

    /// Takes tokens back, all that wait in one commit.
    func revoke(_ requests: [StoreRequest], wall: Instant, into outbox: inout Outbox) {
        guard !requests.isEmpty else { return }
        var answers: [(request: StoreRequest, answer: StoreAnswer)] = []
        var fresh: [RevokedToken] = []
        let before = self.revocations
        var changes: [Change] = []
        self.batch(&changes) { (_: inout [Change]) throws(StorageError) in
            try self.forgetRevokedTokens(before: wall)
            for request in requests {
                guard case .revoke(let revocation) = request.body else { continue }
                if let expires = self.revocations[revocation.id], expires >= revocation.expires {
                    answers.append((request, .revoked(wasRevoked: true)))
                    continue
                }
                guard self.revocations.count < self.limits.revokedTokensMax else {
                    answers.append((request, .refused(self.tooManyRevocations)))
                    continue
                }
                let known = self.revocations.updateValue(revocation.expires, forKey: revocation.id)
                try self.storage.revoke(revocation)
                if known == nil { fresh.append(revocation) }
                answers.append((request, .revoked(wasRevoked: known != nil)))
            }
        } failed: { error in
            self.revocations = before
            fresh.removeAll()
            let refusal = self.isFull(error) ? Refusal(.storeFull, error.description) : self.failedRefusal
            answers = requests.map { ($0, .refused(refusal)) }
        }
        if !fresh.isEmpty { outbox.broadcast(.revoked(fresh)) }
        for (request, answer) in answers {
            if case .refused = answer { self.counters.refusals += 1 }
            outbox.answer(request, answer)
        }
    }

    /// Tokens that would be over anyway need not be remembered; clocks that differ are allowed for.
    private func forgetRevokedTokens(before wall: Instant) throws(StorageError) {
        let instant = wall.advanced(byMilliseconds: -Limits.tokenSkewMilliseconds)
        guard self.revocations.contains(where: { $0.value < instant }) else { return }
        try self.storage.forgetRevokedTokens(before: instant)
        self.revocations = self.revocations.filter { $0.value >= instant }
    }

    private var tooManyRevocations: Refusal {
        Refusal(
            .revocationLimit,
            "\(self.revocations.count) tokens are taken back already, the limit is \(self.limits.revokedTokensMax); take the key away that signed them",
            found: Int64(self.revocations.count), limit: Int64(self.limits.revokedTokensMax))
    }
}
