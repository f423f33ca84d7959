import PerchWire

/// The permission that an RPC needs.
package struct Permission: BitwiseCopyable, Hashable, Sendable {
    /// How far a call reaches. An identity for less is refused.
    package enum Reach: UInt8, BitwiseCopyable, Hashable, Sendable {
        /// The account that the request names.
        case account
        /// Data of the app that every account may see.
        case catalogue
        /// All accounts of the app.
        case app
        /// The server, with all its apps.
        case server
    }

    /// Nil: no credentials are needed.
    package let scope: Scope?
    package let reach: Reach

    init(_ scope: Scope, _ reach: Reach) {
        self.scope = scope
        self.reach = reach
    }

    private init() {
        self.scope = nil
        self.reach = .catalogue
    }

    /// Of a method that everyone may call.
    static let open = Permission()

    /// Why an identity may never call this method, whatever the request; nil if it may.
    package func refusal(of identity: Identity) -> Refusal? {
        guard let needed = self.scope else { return nil }
        guard let scope = identity.scope else { return .noCredentials }
        guard needed == .ingest ? identity.ingests || scope == .admin : scope >= needed else {
            return .scope(needed: needed, held: scope)
        }
        if let account = identity.account, self.reach == .app || self.reach == .server {
            return .tooNarrow(
                needed: self.reach == .app ? "every account of the app" : "the whole server", held: account)
        }
        if self.reach == .server, identity.apps != .all {
            return .tooNarrow(needed: "the whole server", held: identity.apps.description)
        }
        return nil
    }

    package enum Refusal: Hashable, Sendable {
        case noCredentials
        case scope(needed: Scope, held: Scope)
        case tooNarrow(needed: String, held: String)
    }
}
