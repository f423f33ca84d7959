import PerchBase

/// What a caller must be allowed to do.
package enum Scope: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    /// Look at views and transactions.
    case read = 1
    /// Buy and finish.
    case write = 2
    /// Make things happen in a test app.
    case test = 3
    /// Run the server.
    case admin = 4

    package static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
}

/// Every RPC of the contract: the one table of paths, shapes, lengths and scopes.
package enum Method: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
    case productsTask, subscriptionStatusTask, currentEntitlementTask
    case getProducts, getImage, getSubscriptionStatus, getCurrentEntitlement, listCurrentEntitlements
    case listPlanOptions, getOfferEligibility, getAppPolicies, explain
    case purchase, finish, listTransactions, listUnfinished, getLatestTransaction, transactionUpdates
    case sync, requestRefund, redeemOfferCode, manageSubscriptions, getAppTransaction, purchaseIntents, messages
    case operate, inspectAccount, listAccounts, configure, getSettings, getClock, setClock
    case listApps, checkCatalog, loadCatalog, getCatalog, getServerStatus, backup

    /// As in gRPC: `/package.Service/Method`.
    package var path: String { Self.table[Int(self.rawValue)].path }

    /// What the caller must be allowed to do.
    package var scope: Scope { Self.table[Int(self.rawValue)].scope }

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
    private static let table: [(path: String, scope: Scope)] = {
        let entitlement = "/perch.v1.EntitlementService/"
        let transaction = "/perch.v1.TransactionService/"
        let testStore = "/perch.v1.TestStoreService/"
        let admin = "/perch.v1.AdminService/"
        return [
            (entitlement + "ProductsTask", .read), (entitlement + "SubscriptionStatusTask", .read),
            (entitlement + "CurrentEntitlementTask", .read), (entitlement + "GetProducts", .read),
            (entitlement + "GetImage", .read),
            (entitlement + "GetSubscriptionStatus", .read), (entitlement + "GetCurrentEntitlement", .read),
            (entitlement + "ListCurrentEntitlements", .read), (entitlement + "ListPlanOptions", .read),
            (entitlement + "GetOfferEligibility", .read), (entitlement + "GetAppPolicies", .read),
            (entitlement + "Explain", .read),
            (transaction + "Purchase", .write), (transaction + "Finish", .write),
            (transaction + "ListTransactions", .read), (transaction + "ListUnfinished", .read),
            (transaction + "GetLatestTransaction", .read), (transaction + "TransactionUpdates", .read),
            (transaction + "Sync", .write), (transaction + "RequestRefund", .write),
            (transaction + "RedeemOfferCode", .write), (transaction + "ManageSubscriptions", .write),
            (transaction + "GetAppTransaction", .read), (transaction + "PurchaseIntents", .read),
            (transaction + "Messages", .read),
            (testStore + "Operate", .test), (testStore + "InspectAccount", .test),
            (testStore + "ListAccounts", .test), (testStore + "Configure", .test),
            (testStore + "GetSettings", .test), (testStore + "GetClock", .test), (testStore + "SetClock", .test),
            (admin + "ListApps", .admin), (admin + "CheckCatalog", .admin), (admin + "LoadCatalog", .admin),
            (admin + "GetCatalog", .admin), (admin + "GetServerStatus", .admin),
            (admin + "Backup", .admin),
        ]
    }()

    private static let byPath = Dictionary(uniqueKeysWithValues: Self.allCases.map { ($0.path, $0) })
}
