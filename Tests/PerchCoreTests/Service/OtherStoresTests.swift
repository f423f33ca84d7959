import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

/// The operations of test stores, called on the two other stores: each method and each operation, one by one.
@Suite struct OtherStoresTests {
    /// Of every method: whether only an `xcode` app has it. A method without a row fails the test.
    private static let isOnlyTesting: [PerchWire.Method: Bool] = [
        .productsTask: false, .subscriptionStatusTask: false, .currentEntitlementTask: false, .getProducts: false,
        .getImage: false, .getSubscriptionStatus: false, .getCurrentEntitlement: false,
        .listCurrentEntitlements: false, .listPlanOptions: false, .getOfferEligibility: false,
        .getAppPolicies: false, .explain: false,
        // Methods that create transactions, or ask the store of a customer to.
        .purchase: true, .requestRefund: true, .redeemOfferCode: true, .manageSubscriptions: true,
        // Methods that deliver or read existing transactions.
        .finish: false, .sync: false, .listTransactions: false, .listUnfinished: false,
        .getLatestTransaction: false, .transactionUpdates: false, .getAppTransaction: false,
        .purchaseIntents: false, .messages: false,
        .operate: true, .inspectAccount: true, .listAccounts: true, .configure: true, .getSettings: true,
        .getClock: true, .setClock: true,
        .listApps: false, .checkCatalog: false, .loadCatalog: false, .getCatalog: false, .getServerStatus: false,
        .backup: false, .revokeToken: false, .offerConsoleCode: false, .redeemConsoleCode: false,
    ]

    /// A request that a test store would look at. Of all methods: the compiler asks for new ones.
    private static func request(_ method: PerchWire.Method) -> Request {
        switch method {
        case .productsTask: .productsTask(ProductsRequest(productIDs: ["gold"]))
        case .subscriptionStatusTask: .status()
        case .currentEntitlementTask: .entitlement(product: "gold")
        case .getProducts: .getProducts(ProductsRequest(productIDs: ["gold"]))
        case .getImage: .getImage(GetImageRequest(imageID: "none"))
        case .getSubscriptionStatus: .readStatus()
        case .getCurrentEntitlement:
            .getCurrentEntitlement(CurrentEntitlementRequest(account: "anna", productID: "gold"))
        case .listCurrentEntitlements: .listCurrentEntitlements(ListCurrentEntitlementsRequest(account: "anna"))
        case .listPlanOptions: .listPlanOptions(PlanOptionsRequest(account: "anna", groupID: "plans"))
        case .getOfferEligibility: .getOfferEligibility(OfferEligibilityRequest(account: "anna", productID: "gold"))
        case .getAppPolicies: .getAppPolicies(AppPoliciesRequest())
        case .explain: .explain(ExplainRequest(account: "anna", about: .group("plans")))
        case .purchase: .buy("gold")
        case .finish: .finish(FinishRequest(account: "anna", transactionID: 1))
        case .listTransactions: .listTransactions(ListTransactionsRequest(account: "anna"))
        case .listUnfinished: .listUnfinished(ListUnfinishedRequest(account: "anna"))
        case .getLatestTransaction: .getLatestTransaction(LatestTransactionRequest(account: "anna", productID: "gold"))
        case .transactionUpdates: .updates()
        case .sync: .sync(SyncRequest(account: "anna"))
        case .requestRefund: .requestRefund(RefundRequest(account: "anna", transactionID: 1))
        case .redeemOfferCode: .redeemOfferCode(RedeemOfferCodeRequest(account: "anna", code: "WELCOME"))
        case .manageSubscriptions:
            .manageSubscriptions(ManageSubscriptionsRequest(account: "anna", productID: "gold"))
        case .getAppTransaction: .getAppTransaction(AppTransactionRequest(account: "anna"))
        case .purchaseIntents: .purchaseIntents(AccountWatchRequest(account: "anna"))
        case .messages: .messages(AccountWatchRequest(account: "anna"))
        case .operate: .operate(.clearTransactions, "anna")
        case .inspectAccount: .inspectAccount(InspectAccountRequest(account: "anna"))
        case .listAccounts: .listAccounts(ListAccountsRequest())
        case .configure: .configure(.askToBuy(true))
        case .getSettings: .getSettings(SettingsRequest())
        case .getClock: .getClock(ClockRequest())
        case .setClock: .clock(.freeze)
        case .listApps: .listApps
        case .checkCatalog: .checkCatalog(CheckCatalogRequest(file: [1]))
        case .loadCatalog: .loadCatalog(LoadCatalogRequest(file: [1], source: "test"))
        case .getCatalog: .getCatalog(GetCatalogRequest())
        case .getServerStatus: .getServerStatus
        case .backup: .backup(BackupRequest(path: ""))
        case .revokeToken: .revokeToken(RevokeTokenRequest(tokenID: "none"))
        case .offerConsoleCode: .offerConsoleCode(OfferConsoleCodeRequest(token: "a.b.c"))
        case .redeemConsoleCode: .redeemConsoleCode(RedeemConsoleCodeRequest(code: "none"))
        }
    }

    /// One of each field of the contract's `StoreOperation`.
    private static let operations: [StoreOperation] = [
        .buy(PurchaseOrder(productID: "gold")), .refund(.transaction(1), reason: .other, share: .full),
        .reverseRefund(.transaction(1)), .declineRefund(.transaction(1)), .requestConsumption(.transaction(1)),
        .renew(.product("gold")), .expire(.product("gold")), .setAutoRenew(.product("gold"), isOn: false),
        .resolveBilling(.product("gold")), .setCharges(fail: true),
        .raisePrice(.product("gold"), milliunits: 99_990, needsConsent: nil),
        .answerPriceIncrease(.product("gold"), agrees: true), .extendRenewal(.product("gold"), milliseconds: 1_000),
        .share(.product("gold"), member: "berta"), .stopSharing(nil, member: nil),
        .decidePurchase(id: 1, approves: true), .deleteTransaction(1), .clearTransactions,
        .createIntent(productID: "gold", offer: nil), .endIntent(id: 1), .setStorefront("DEU"), .postMessage,
    ]

    private static let stores: [AppEnvironment] = [.production, .sandbox]

    private func world(_ environment: AppEnvironment) -> (world: World, client: WireClient) {
        var setup = World.Setup()
        setup.environment = environment
        let world = World(setup)
        world.catalogueFiles[[1]] = (TestShop.catalogue(), TestShop.settings())
        return (world, world.welcomedClient())
    }

    @Test(arguments: Self.stores, PerchWire.Method.allCases)
    func `a method of the test store is refused, and no other`(
        _ environment: AppEnvironment, _ method: PerchWire.Method
    ) throws {
        let isOnlyTesting = try #require(Self.isOnlyTesting[method] as Bool?, "\(method.path) has no row")
        let (world, client) = self.world(environment)
        let request = Self.request(method)
        #expect(request.method == method)
        guard !method.isStreaming else {
            let number = client.call(request)
            world.settle()
            #expect(client.status(of: number) == nil && !isOnlyTesting)
            return
        }
        let (response, status) = world.answer(to: request, from: client)
        if isOnlyTesting {
            #expect(response == nil)
            #expect(status?.code == StatusCode.failedPrecondition.rawValue)
            #expect(status?.reason == "NOT_A_TEST_APP")
            #expect(status?.message.contains(environment.description) == true)
        } else {
            #expect(status?.reason != "NOT_A_TEST_APP")
        }
    }

    @Test(arguments: Self.stores, Self.operations)
    func `an operation of the test store is refused`(_ environment: AppEnvironment, _ operation: StoreOperation) {
        let (world, client) = self.world(environment)
        let revision = world.engine.header.revision
        let (response, status) = world.answer(to: .operate(operation, "anna"), from: client)
        #expect(response == nil)
        #expect(status?.code == StatusCode.failedPrecondition.rawValue)
        #expect(status?.reason == "NOT_A_TEST_APP")
        #expect(world.engine.header.revision == revision)
    }

    @Test func `no method and no operation of the contract is left out`() throws {
        #expect(Set(Self.isOnlyTesting.keys) == Set(PerchWire.Method.allCases))
        let root = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }
        let contract = String(
            decoding: TemporaryDirectory.read("\(root)/proto/perch/v1/store_operation.proto"), as: UTF8.self)
        let message = try #require(contract.split(separator: "message StoreOperation {").last)
        let oneof = try #require(message.split(separator: "}").first)
        let fields = oneof.split(separator: "\n").count { $0.hasSuffix(";") }
        #expect(fields == Self.operations.count)
    }
}
