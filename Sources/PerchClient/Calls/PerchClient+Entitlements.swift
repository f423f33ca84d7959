public import PerchBase
public import PerchModel
import PerchWire

// Entitlements by their names in the app.
extension PerchClient {
    /// The named entitlements of an account, once: one for each name of the app's file, and one for each other granted name.
    public func namedEntitlements(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> [NamedEntitlement] {
        let request = GetEntitlementsRequest(app: self.app, account: account, atLeast: atLeast)
        return try await self.call(Calls.getEntitlements, request, timeout: timeout) { state in
            guard case .success(let entitlements, _) = state else { return nil }
            return entitlements
        }
    }

    /// The named entitlements of an account as a signed pass (compact JWS), and when it ends.
    public func pass(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> (pass: String, expires: Instant) {
        let request = GetPassRequest(app: self.app, account: account, atLeast: atLeast)
        let answer = try await self.call(Calls.getPass, request, timeout: timeout)
        return (answer.pass, answer.expiresAt)
    }

    /// Grants a named entitlement, which replaces an earlier grant of that name. `until` nil: it has no end. `tier`: one of the
    /// entitlement's tiers in the app's file; empty for time without a tier.
    public func grantEntitlement(
        _ name: String, to account: String, until: Instant? = nil, reason: String = "", tier: String = "",
        idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> GrantedEntitlement {
        let request = GrantEntitlementRequest(
            app: self.app, account: account, name: name, until: until, reason: reason,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey, tier: tier)
        return try await self.call(Calls.grantEntitlement, request, timeout: timeout) { answer in
            answer.position.map { GrantedEntitlement(position: $0, knownNames: answer.knownNames) }
        }
    }

    /// Ends a grant. Without one, nothing changes.
    public func revokeGrant(
        _ name: String, of account: String, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = RevokeGrantRequest(app: self.app, account: account, name: name)
        return try await self.call(Calls.revokeGrant, request, timeout: timeout) { $0.position }
    }
}

/// A grant that was made.
public struct GrantedEntitlement: Hashable, Sendable {
    /// Where the change stands.
    public var position: Position
    /// The app's named entitlements, if the granted name is none of them: it may be misspelt.
    public var knownNames: [String]

    /// Creates an answer from its parts, for tests.
    public init(position: Position, knownNames: [String] = []) {
        self.position = position
        self.knownNames = knownNames
    }
}
