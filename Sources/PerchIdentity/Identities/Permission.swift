package import PerchWire

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

    package let scope: Scope
    package let reach: Reach

    private init(_ scope: Scope, _ reach: Reach) {
        self.scope = scope
        self.reach = reach
    }

    /// The one table of RPC and scope. A method without a row does not compile.
    /// `Tests/PerchCoreTests/PermissionMatrix.md` shows the result of each row.
    package init(for method: Method) {
        switch method {
        case .productsTask: self.init(.read, .catalogue)
        case .subscriptionStatusTask: self.init(.read, .account)
        case .currentEntitlementTask: self.init(.read, .account)
        case .getProducts: self.init(.read, .catalogue)
        case .getImage: self.init(.read, .catalogue)
        case .getSubscriptionStatus: self.init(.read, .account)
        case .getCurrentEntitlement: self.init(.read, .account)
        case .listCurrentEntitlements: self.init(.read, .account)
        case .listPlanOptions: self.init(.read, .account)
        case .getOfferEligibility: self.init(.read, .account)
        case .getAppPolicies: self.init(.read, .catalogue)
        case .explain: self.init(.read, .account)

        case .purchase: self.init(.write, .account)
        case .finish: self.init(.write, .account)
        case .listTransactions: self.init(.read, .account)
        case .listUnfinished: self.init(.read, .account)
        case .getLatestTransaction: self.init(.read, .account)
        case .transactionUpdates: self.init(.read, .account)
        case .sync: self.init(.write, .account)
        case .requestRefund: self.init(.write, .account)
        case .redeemOfferCode: self.init(.write, .account)
        case .manageSubscriptions: self.init(.write, .account)
        case .getAppTransaction: self.init(.read, .account)
        case .purchaseIntents: self.init(.read, .account)
        case .messages: self.init(.read, .account)

        case .operate: self.init(.test, .account)
        case .inspectAccount: self.init(.test, .account)
        case .listAccounts: self.init(.test, .app)
        case .configure: self.init(.test, .app)
        case .getSettings: self.init(.test, .catalogue)
        case .getClock: self.init(.test, .catalogue)
        case .setClock: self.init(.test, .app)

        case .listApps: self.init(.admin, .app)
        case .checkCatalog: self.init(.admin, .catalogue)
        case .loadCatalog: self.init(.admin, .app)
        case .getCatalog: self.init(.admin, .app)
        case .getServerStatus, .backup: self.init(.admin, .server)
        case .revokeToken: self.init(.admin, .server)
        }
    }

    /// Why an identity may never call this method, whatever the request; nil if it may.
    package func refusal(of identity: Identity) -> Refusal? {
        guard let scope = identity.scope else { return .noCredentials }
        guard scope >= self.scope else { return .scope(needed: self.scope, held: scope) }
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
