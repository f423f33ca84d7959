import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

/// The operations of test stores, called on the two other stores: each method and each operation, one by one.
@Suite(.onChosenStorage) struct OtherStoresTests {
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
        .setPayments(isAllowed: false), .setAppTransaction(AppTransactionTerms()),
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
        let row = MethodCase.of(method)
        let (isOnlyTesting, request) = (row.isOnlyTesting, row.request)
        let (world, client) = self.world(environment)
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

    @Test func `no operation of the contract is left out`() throws {
        let root = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }
        let contract = String(
            decoding: TemporaryDirectory.read("\(root)/proto/perch/v1/store_operation.proto"), as: UTF8.self)
        let message = try #require(contract.split(separator: "message StoreOperation {").last)
        let oneof = try #require(message.split(separator: "}").first)
        let fields = oneof.split(separator: "\n").count { $0.hasSuffix(";") }
        #expect(fields == Self.operations.count)
    }
}
