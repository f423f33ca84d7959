// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

package import PerchWire

extension Permission {
    /// What a method needs, as the contract says it (`Scope: …` in the comment of each method).
    ///
    /// `Tests/PerchCoreTests/PermissionMatrix.md` shows what each row means for each identity.
    package init(for method: Method) {
        switch method {
            case .productsTask: self.init(.read, .catalogue)
            case .subscriptionStatusTask: self.init(.read, .account)
            case .currentEntitlementTask: self.init(.read, .account)
            case .entitlementsTask: self.init(.read, .account)
            case .getEntitlements: self.init(.read, .account)
            case .getPass: self.init(.read, .account)
            case .getProducts: self.init(.read, .catalogue)
            case .getImage: self.init(.read, .catalogue)
            case .getSubscriptionStatus: self.init(.read, .account)
            case .getCurrentEntitlement: self.init(.read, .account)
            case .listCurrentEntitlements: self.init(.read, .account)
            case .listPlanOptions: self.init(.read, .account)
            case .getOfferEligibility: self.init(.read, .account)
            case .getAppPolicies: self.init(.read, .catalogue)
            case .appChanges: self.init(.read, .app)
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
            case .resolveBillingIssue: self.init(.write, .account)
            case .answerPriceIncrease: self.init(.write, .account)
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
            case .getServerStatus: self.init(.admin, .server)
            case .backup: self.init(.admin, .server)
            case .revokeToken: self.init(.admin, .server)
            case .offerConsoleCode: self.init(.read, .catalogue)
            case .redeemConsoleCode: self = .open
            case .findAccount: self.init(.admin, .app)
            case .listUnclaimed: self.init(.admin, .app)
            case .attachAlias: self.init(.admin, .app)
            case .detachAlias: self.init(.admin, .app)
            case .moveTransaction: self.init(.admin, .app)
            case .mergeAccounts: self.init(.admin, .app)
            case .eraseAccount: self.init(.admin, .app)
            case .exportAccount: self.init(.admin, .app)
            case .grantEntitlement: self.init(.admin, .app)
            case .revokeGrant: self.init(.admin, .app)
            case .listAudit: self.init(.admin, .server)
            case .listDeadLetters: self.init(.admin, .server)
            case .retryDeadLetter: self.init(.admin, .server)
            case .dropDeadLetter: self.init(.admin, .server)
            case .submitTransaction: self.init(.ingest, .account)
            case .submitNotification: self.init(.ingest, .app)
            case .watch: self.init(.read, .catalogue)
        }
    }
}
