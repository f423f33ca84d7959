import PerchCore
import PerchModel
import PerchTesting
import PerchWire

/// A client that says whatever it likes to a whole server, behind a greeting: the server stays consistent, serves another
/// client, and keeps nothing of this one once it is gone.
final class SessionTarget: FuzzTarget {
    static let name = "session"
    static let reaches = ["PerchCore", "PerchWire/Frames"]

    /// The world of many inputs: what one leaves behind is there for the next. Made anew now and then.
    private var world = World()
    private var inputs = 0
    private static let inputsPerWorld = 500

    static func seeds() -> [[UInt8]] {
        let requests: [Request] = [
            .subscriptionStatusTask(SubscriptionStatusRequest(account: "anna", groupID: "plans")),
            .currentEntitlementTask(CurrentEntitlementRequest(account: "anna", productID: "gold")),
            .productsTask(ProductsRequest(productIDs: ["gold", "coins"])),
            .transactionUpdates(TransactionUpdatesRequest(account: "anna")),
            .purchase(PurchaseRequest(account: "anna", order: PurchaseOrder(productID: "gold"), idempotencyKey: [1])),
            .listTransactions(ListTransactionsRequest(account: "anna", pageSize: 5)),
            .operate(OperateRequest(operation: .setAutoRenew(.transaction(1), isOn: false))),
            .operate(OperateRequest(operation: .refund(.transaction(1), reason: .other, share: .prorated))),
            .operate(OperateRequest(account: "anna", operation: .renew(.product("gold")))),
            .operate(OperateRequest(account: "anna", operation: .share(.product("gold"), member: "ben"))),
            .configure(ConfigureRequest(settings: [.askToBuy(true)])),
            .setClock(SetClockRequest(change: .advanceBy(milliseconds: 1_000))),
        ]
        return [requests[...]].map(Self.bytes) + requests.map { Self.bytes([$0]) }
    }

    /// What a client sends for these, one call after another, and a CANCEL of the first.
    private static func bytes(_ requests: some Sequence<Request>) -> [UInt8] {
        let client = WireClient(socket: SimulatedSocket(number: 1))
        for request in requests { client.call(request) }
        client.cancel(1)
        client.ping()
        _ = client.socket.deliverToServer()
        return client.socket.serverReadable
    }

    func run(_ bytes: [UInt8]) {
        self.inputs += 1
        if self.inputs % Self.inputsPerWorld == 0 { self.world = World() }
        let client = self.world.welcomedClient()
        // In two pieces, as a network may have it; and what it is answered it need not understand.
        let cut = bytes.count / 2
        for piece in [bytes[..<cut], bytes[cut...]] {
            client.sendBytes(Array(piece))
            self.settle(deaf: client)
        }
        self.world.checkInvariants()
        client.socket.reset()
        client.end()
        self.settle(deaf: client)
        self.world.forgetEndedClients()

        let witness = self.world.welcomedClient()
        let answer = self.world.answer(
            to: .getProducts(ProductsRequest(productIDs: ["gold"])), from: witness)
        hold(answer.response != nil, "another client is not answered: \(String(describing: answer.status))")
        witness.socket.reset()
        witness.end()
        self.settle(deaf: witness)
        self.world.forgetEndedClients()
        for loop in self.world.loops { loop.core.checkIsEmpty() }
    }

    /// As `World.settle`, for a client that reads without listening.
    private func settle(deaf client: WireClient) {
        for _ in 0..<10_000 {
            let hasSent = client.socket.deliverToServer()
            let hasRead = !client.socket.deliverToClient().isEmpty
            let loop = self.world.loops[0]
            let hasTurned = loop.hasWork(at: self.world.monotonic)
            if hasTurned { self.world.turn() }
            let hasStored = self.world.storeHasWork
            if hasStored { self.world.runStore() }
            if !hasSent, !hasRead, !hasTurned, !hasStored { return }
        }
        hold(false, "the server does not come to rest")
    }
}
