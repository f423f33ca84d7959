import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire

/// A client that says whatever it likes to a whole server, behind a greeting: the server stays consistent, serves another
/// client, and keeps nothing of this one once it is gone.
final class SessionTarget: FuzzTarget {
    static let name = "session"
    static let reaches = ["PerchCore", "PerchWire/Frames"]

    /// The world of many inputs: the effects of one are present for the next. Replaced at intervals.
    private var world = SessionTarget.newWorld()
    private var inputs = 0
    private static let inputsPerWorld = 500
    /// Number of inputs between two questions of the witness: damage to the server does not disappear.
    private static let inputsPerWitness = 8
    /// A second client, served beside the fuzzed one over all inputs of a world.
    private var witness: WireClient
    /// Revisions after which a world is replaced, because older worlds are slower.
    private static let revisionsPerWorld: UInt64 = 1_000

    init() { self.witness = self.world.welcomedClient() }

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

    /// A client's bytes for these requests, one call after another, and a CANCEL of the first.
    private static func bytes(_ requests: some Sequence<Request>) -> [UInt8] {
        let client = WireClient(socket: SimulatedSocket(number: 1))
        for request in requests { client.call(request) }
        client.cancel(1)
        client.ping()
        _ = client.socket.deliverToServer()
        return client.socket.serverReadable
    }

    func run(_ bytes: [UInt8]) -> Bool {
        self.inputs += 1
        if self.inputs % Self.inputsPerWorld == 0 || self.world.history.revision > Self.revisionsPerWorld {
            self.renew()
        }
        let before = self.world.loops[0].core.census
        let revision = self.world.history.revision
        let client = self.world.connect()
        client.hello(heartbeatSeconds: 600)
        // In two pieces, as a network may deliver it; the answers may be unreadable for this client.
        let cut = bytes.count / 2
        for piece in [bytes[..<cut], bytes[cut...]] {
            client.sendBytes(Array(piece))
            self.settle(client)
        }
        self.world.checkInvariants()
        client.socket.reset()
        client.end()
        self.settle(client)
        self.world.forgetEndedClients()
        self.checkNothingIsLeft(before)
        let hasWritten = self.world.history.revision > revision

        guard self.inputs % Self.inputsPerWitness == 0 else { return hasWritten }
        self.witness.forgetEvents()
        let stream = self.witness.call(.getProducts(ProductsRequest(productIDs: ["gold"])))
        self.settle(self.witness)
        hold(!self.witness.messages(on: stream).isEmpty, "another client is not answered: \(self.witness.events)")
        return hasWritten
    }

    /// Checks that only the witness is left, as before.
    private func checkNothingIsLeft(_ before: LoopCensus) {
        let after = self.world.loops[0].core.census
        hold(after.connections == 1 && after.calls == 0 && after.dying == 0, "a connection is left: \(after)")
        hold(after.views == 0 && after.accounts == 0, "a view is left: \(after)")
        hold(after.payloads == before.payloads, "\(after.payloads - before.payloads) payloads are leaked")
        hold(after.handshakes == 0 && after.partialBytes == 0, "a part of a frame is left: \(after)")
    }

    /// No call has more renewals to settle than an input can wait for.
    private static func newWorld() -> World {
        var setup = World.Setup()
        setup.storeLimits.renewalsPerAdvanceMax = 100
        return World(setup)
    }

    /// Checks the old world as a whole: all clients close, and it must be empty.
    private func renew() {
        self.world.checkNothingIsLeft()
        self.world = Self.newWorld()
        self.witness = self.world.welcomedClient()
    }

    /// Like `World.settle`, for one client and one loop; the fuzzed client ignores its input.
    private func settle(_ client: WireClient) {
        let loop = self.world.loops[0]
        for _ in 0..<10_000 {
            let hasSent = client.socket.deliverToServer()
            let bytes = client.socket.deliverToClient()
            if client === self.witness, !bytes.isEmpty { client.take(bytes) }
            let hasTurned = loop.hasWork(at: self.world.monotonic)
            if hasTurned { self.world.turn() }
            let hasStored = self.world.storeHasWork
            if hasStored { self.world.runStore() }
            if !hasSent, bytes.isEmpty, !hasTurned, !hasStored { return }
        }
        hold(false, "the server does not come to rest")
    }
}
