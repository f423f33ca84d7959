import PerchBase

/// Every RPC of the contract: the one table of paths, shapes and lengths. What each needs of its
/// caller stands in `PerchIdentity.Permission`.
package enum Method: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
    case productsTask, subscriptionStatusTask, currentEntitlementTask
    case getProducts, getImage, getSubscriptionStatus, getCurrentEntitlement, listCurrentEntitlements
    case listPlanOptions, getOfferEligibility, getAppPolicies, explain
    case purchase, finish, listTransactions, listUnfinished, getLatestTransaction, transactionUpdates
    case sync, requestRefund, redeemOfferCode, manageSubscriptions, getAppTransaction, purchaseIntents, messages
    case operate, inspectAccount, listAccounts, configure, getSettings, getClock, setClock
    case listApps, checkCatalog, loadCatalog, getCatalog, getServerStatus, backup, revokeToken

    /// As in gRPC: `/package.Service/Method`.
    package var path: String { Self.paths[Int(self.rawValue)] }

    /// Whether the answer is a stream: it has no end of its own.
    package var isStreaming: Bool {
        switch self {
        case .productsTask, .subscriptionStatusTask, .currentEntitlementTask, .transactionUpdates, .purchaseIntents,
            .messages:
            true
        default: false
        }
    }

    /// Longest request, in bytes. Only catalogue files are long.
    package var requestBytesMax: Int {
        switch self {
        case .checkCatalog, .loadCatalog: Limits.catalogRequestBytesMax
        default: Limits.requestBytesMax
        }
    }

    /// The method of that path; nil where there is none.
    package init?(path: String) {
        guard let method = Self.byPath[path] else { return nil }
        self = method
    }

    /// In the order of the cases; a test checks it against the contract's own names.
    private static let paths: [String] = {
        let entitlement = "/perch.v1.EntitlementService/"
        let transaction = "/perch.v1.TransactionService/"
        let testStore = "/perch.v1.TestStoreService/"
        let admin = "/perch.v1.AdminService/"
        return [
            entitlement + "ProductsTask", entitlement + "SubscriptionStatusTask",
            entitlement + "CurrentEntitlementTask", entitlement + "GetProducts", entitlement + "GetImage",
            entitlement + "GetSubscriptionStatus", entitlement + "GetCurrentEntitlement",
            entitlement + "ListCurrentEntitlements", entitlement + "ListPlanOptions",
            entitlement + "GetOfferEligibility", entitlement + "GetAppPolicies", entitlement + "Explain",
            transaction + "Purchase", transaction + "Finish", transaction + "ListTransactions",
            transaction + "ListUnfinished", transaction + "GetLatestTransaction", transaction + "TransactionUpdates",
            transaction + "Sync", transaction + "RequestRefund", transaction + "RedeemOfferCode",
            transaction + "ManageSubscriptions", transaction + "GetAppTransaction", transaction + "PurchaseIntents",
            transaction + "Messages",
            testStore + "Operate", testStore + "InspectAccount", testStore + "ListAccounts", testStore + "Configure",
            testStore + "GetSettings", testStore + "GetClock", testStore + "SetClock",
            admin + "ListApps", admin + "CheckCatalog", admin + "LoadCatalog", admin + "GetCatalog",
            admin + "GetServerStatus", admin + "Backup", admin + "RevokeToken",
        ]
    }()

    private static let byPath = Dictionary(uniqueKeysWithValues: Self.allCases.map { ($0.path, $0) })
}
