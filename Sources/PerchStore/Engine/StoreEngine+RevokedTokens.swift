import PerchBase
import PerchModel

// Revoked tokens: durable before the call is answered. They take a revision without accounts, so every loop of every node
// learns of them by the feed of changes.
extension StoreEngine {
    /// The revoked tokens that are not forgotten yet, for loops that begin.
    package var revoked: [RevokedToken] {
        self.revocations.map { RevokedToken(id: $0.key, expires: $0.value) }.sorted { $0.id < $1.id }
    }

    /// Revokes tokens: all requests of a tick in one commit and one revision.
    func revoke(_ requests: [StoreRequest], wall: Instant, into outbox: inout Outbox) {
        guard !requests.isEmpty else { return }
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: requests) { (batch: inout Batch) throws(StorageError) in
            let wall = self.decisionTime(wall)
            var known = try self.forgetRevokedTokens(before: wall)
            var fresh: [RevokedToken] = []
            for request in requests {
                let answer: StoreAnswer
                switch request.body {
                case .revoke(let token, let audit):
                    answer = self.revoke(token, &known, &fresh)
                    batch.revocations = known
                    // A line of the audit trail has a revision of its own.
                    if audit != nil { try self.write(&fresh, audit, wall, &batch) }
                case .note(let audit):
                    answer = .revoked(wasRevoked: false)
                    try self.write(&fresh, audit, wall, &batch)
                default: continue
                }
                batch.answers.append(Batch.Answered(loop: request.loop, ticket: request.ticket, answer: answer))
            }
            batch.revocations = known
            if !fresh.isEmpty { try self.write(&fresh, nil, wall, &batch) }
        }
        self.publishNews(into: &outbox)
        self.send(&batch, error, to: requests, into: &outbox)
    }

    /// Writes revocations and who asked for them as one revision.
    private func write(
        _ fresh: inout [RevokedToken], _ audit: AuditEntry?, _ wall: Instant, _ batch: inout Batch
    ) throws(StorageError) {
        var stored = self.nextChange(of: 0, wall: wall, batch.header)
        stored.revoked = fresh
        stored.note(audit)
        try self.write(&stored, accounts: [], &batch)
        fresh = []
    }

    private func revoke(
        _ token: RevokedToken, _ known: inout [String: Instant], _ fresh: inout [RevokedToken]
    ) -> StoreAnswer {
        let expires = known[token.id]
        if let expires, expires >= token.expires { return .revoked(wasRevoked: true) }
        guard known.count < self.limits.revokedTokensMax else {
            return .refused(self.tooManyRevocations(known.count))
        }
        known[token.id] = token.expires
        fresh.append(token)
        return .revoked(wasRevoked: expires != nil)
    }

    /// The revoked tokens without those that have ended anyway, which storage forgets. Clocks may differ by the skew.
    private func forgetRevokedTokens(before wall: Instant) throws(StorageError) -> [String: Instant] {
        let instant = wall.advanced(byMilliseconds: -Limits.tokenSkewMilliseconds)
        guard self.revocations.contains(where: { $0.value < instant }) else { return self.revocations }
        try self.storage.forgetRevokedTokens(before: instant)
        return self.revocations.filter { $0.value >= instant }
    }

    private func tooManyRevocations(_ count: Int) -> Refusal {
        Refusal(
            .revocationLimit,
            "\(count) tokens are taken back already, the limit is \(self.limits.revokedTokensMax); take the key away that signed them",
            found: Int64(count), limit: Int64(self.limits.revokedTokensMax))
    }
}
