import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct RevokeToken: MethodHandler {
    let asked: RevokeTokenRequest

    var auditNote: AuditNote { .audited(printable(self.asked.tokenID)) }

    func check() throws(CallRefusal) {
        let count = self.asked.tokenID.utf8.count
        guard (1...Limits.revocationIDBytesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid,
                "token_id has \(count) bytes; it must have 1 to \(Limits.revocationIDBytesMax), `perch token inspect` shows it",
                details: [.field("token_id"), .found(count), .limit(Limits.revocationIDBytesMax)])
        }
    }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        .ask(.revoke(try self.revocation(context), audit: context.entry(self.auditNote, .revokeToken)))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .revoked(let wasRevoked) = found else { preconditionFailure("a token was to be revoked") }
        let wasSeen = context.access.seenTokens.contains(self.asked.tokenID)
        return Self.step(RevokeTokenResponse(wasRevoked: wasRevoked, wasSeen: wasSeen))
    }

    /// Kept until the token ends, and at least as long as a token may live, because the caller may not know the token's end.
    ///
    /// An end that is not in the future is refused, because the store would drop the revocation at once.
    private func revocation(_ context: MethodContext) throws(CallRefusal) -> RevokedToken {
        let now = context.wall
        if let expires = self.asked.expires, expires <= now {
            let found = expires.milliseconds
            let advice =
                expires.isPerhapsSeconds
                ? "a token's exp is in seconds, this field is in milliseconds: multiply by 1000"
                : "a token that has ended needs no revocation; send its end in milliseconds, or 0 where you do not know it"
            throw CallRefusal(
                .fieldInvalid, "expires_at_ms is \(found) (\(expires)), which is not in the future; \(advice)",
                details: [
                    .field("expires_at_ms"), .found(found),
                    StatusDetail(key: "expected", value: "0, or more than \(now.milliseconds)"),
                ])
        }
        let earliest = now.advanced(byMilliseconds: context.access.tokenLifeMilliseconds)
        return RevokedToken(id: self.asked.tokenID, expires: max(self.asked.expires ?? .distantFuture, earliest))
    }
}
