import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

@testable import PerchCore

/// An app that another node of the store has made, while this one has not heard of it.
@Suite struct `an app of another node` {
    private static let later = AppReference(bundleID: "com.example.later")
    private static let unknown = AppReference(bundleID: "com.example.unknown")
    private let database = SharedDatabase()
    private let node: SharedNode
    private let other: SharedNode

    init() {
        self.node = self.database.node()
        self.other = self.database.node()
    }

    private func world() -> (world: World, client: WireClient) {
        var setup = World.Setup()
        setup.storage = self.node
        setup.core.sharesStore = true
        let world = World(setup)
        return (world, world.welcomedClient())
    }

    private func make(_ app: AppReference) throws {
        let engine = try StoreEngine(storage: self.other, loops: 1, cacheBytesMax: 1 << 20)
        _ = try engine.openApp(
            app.bundleID, .xcode, catalogue: TestShop.catalogue(), source: "test", fileSettings: TestShop.settings(),
            wall: World.begin)
    }

    private static func read(_ app: AppReference) -> Request {
        .getSubscriptionStatus(SubscriptionStatusRequest(app: app, account: "anna", groupID: "plans"))
    }

    private static func watch(_ app: AppReference) -> Request {
        .subscriptionStatusTask(SubscriptionStatusRequest(app: app, account: "anna", groupID: "plans"))
    }

    private static func buy(_ app: AppReference) -> Request {
        .purchase(
            PurchaseRequest(
                app: app, account: "anna", order: PurchaseOrder(productID: "gold"), idempotencyKey: [1, 2, 3]))
    }

    @Test(arguments: [Self.read(Self.later), Self.buy(Self.later), .getClock(ClockRequest(app: Self.later))])
    func `is found by the first call`(_ request: Request) throws {
        let (world, client) = self.world()
        try self.make(Self.later)
        try world.require(request, from: client)
        world.checkNothingIsLeft()
    }

    @Test func `is found by watches, alone and several together`() throws {
        let (world, client) = self.world()
        try self.make(Self.later)
        let alone = client.call(Self.watch(Self.later))
        let own = AppReference(bundleID: TestShop.bundleID)
        let several = client.call(.watch(WatchRequest(watches: [Self.watch(Self.later), Self.watch(own)])))
        world.advance(Limits.feedPollMilliseconds)
        #expect(client.statuses(on: alone).last?.value != nil)
        #expect(client.status(of: several) == nil)
        #expect(client.messages(on: several).count >= 2)
        let wrong = client.call(.watch(WatchRequest(watches: [Self.watch(own), Self.watch(Self.unknown)])))
        world.advance(Limits.feedPollMilliseconds)
        #expect(client.status(of: wrong)?.reason == "APP_UNKNOWN")
        world.checkInvariants()
    }

    @Test func `is refused if no node has it, and costs the database one look in a while`() throws {
        let (world, client) = self.world()
        let before = world.engine.counters.reads
        var calls: [UInt32] = []
        for round in 0..<20 {
            for _ in 0..<10 {
                calls.append(client.call(round % 2 == 0 ? Self.read(Self.unknown) : Self.watch(Self.unknown)))
            }
            world.advance(Limits.feedPollMilliseconds / 10)
        }
        world.advance(Limits.feedPollMilliseconds)
        for call in calls { #expect(client.status(of: call)?.reason == "APP_UNKNOWN") }
        #expect((1...5).contains(world.engine.counters.reads - before), "\(calls.count) calls within two pauses")
        world.checkNothingIsLeft()
    }

    @Test func `is not looked for by a node that has the store alone`() throws {
        let world = World()
        let client = world.welcomedClient()
        let call = client.call(Self.read(Self.unknown))
        while world.deliver(client) {}
        world.turn()
        while world.deliver(client) {}
        #expect(client.status(of: call)?.reason == "APP_UNKNOWN")
    }

    @Test func `is not called unknown while the store is out of reach`() throws {
        let (world, client) = self.world()
        try self.make(Self.later)
        self.node.isCut = true
        let (response, status) = world.answer(to: Self.read(Self.later), from: client)
        #expect(response == nil && status?.reason == "STORE_UNREACHABLE")
        let asked = client.call(Self.read(Self.later))
        while world.deliver(client) {}
        world.turn()
        world.loops[0].core.vouches(false)
        let late = client.call(Self.read(Self.later))
        while world.deliver(client) {}
        world.turn()
        while world.deliver(client) {}
        for call in [asked, late] { #expect(client.status(of: call)?.reason == "STORE_UNREACHABLE") }
        world.loops[0].core.vouches(true)
        self.node.isCut = false
        world.advance(Limits.feedPollMilliseconds)
        try world.require(Self.read(Self.later), from: client)
        world.checkNothingIsLeft()
    }

    @Test func `is no longer looked for by a call that ends`() throws {
        let (world, client) = self.world()
        let refused = client.call(Self.read(Self.unknown))
        world.settle()
        #expect(client.status(of: refused)?.reason == "APP_UNKNOWN")
        // The next look is a while away.
        let cancelled = client.call(Self.watch(Self.unknown))
        world.settle()
        #expect(client.status(of: cancelled) == nil)
        client.cancel(cancelled)
        world.settle()
        world.checkInvariants()
        let dead = world.welcomedClient()
        _ = dead.call(Self.read(Self.unknown))
        world.settle()
        dead.end()
        world.advance(2 * Limits.feedPollMilliseconds)
        world.checkNothingIsLeft()
    }
}
