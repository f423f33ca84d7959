import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore

@Suite struct `Apps in memory beside the store's` {
    private static let guest = AppReference(bundleID: GuestApps.prefix + "birds", environment: .xcode)

    private static func world(hosts: Bool = true) -> World {
        var setup = World.Setup()
        setup.core.hostsGuests = hosts
        let world = World(setup)
        world.catalogueFiles[[1]] = (TestShop.catalogue(), TestShop.settings())
        return world
    }

    private static func load(_ app: AppReference) -> Request {
        .loadCatalog(LoadCatalogRequest(app: app, file: [1], source: "birds"))
    }

    @Test func `are made by LoadCatalog, sell by their name, and are in no list`() throws {
        let world = Self.world()
        let client = world.welcomedClient()
        try world.require(Self.load(Self.guest), from: client)
        let order = PurchaseOrder(productID: "gold")
        try world.require(.purchase(PurchaseRequest(app: Self.guest, account: "ben", order: order)), from: client)
        guard case .listApps(let list) = try world.require(.listApps, from: client) else { throw NoAnswer() }
        #expect(list.apps.map(\.bundleID) == [TestShop.bundleID])
        // Whoever names no app means the store's own, which has no such customer.
        let status = SubscriptionStatusRequest(account: "ben", groupID: "plus")
        let own = try world.require(.getSubscriptionStatus(status), from: client)
        var named = status
        named.app = Self.guest
        #expect(try world.require(.getSubscriptionStatus(named), from: client) != own)
    }

    @Test func `are loaded again like any app`() throws {
        let world = Self.world()
        let client = world.welcomedClient()
        try world.require(Self.load(Self.guest), from: client)
        try world.require(Self.load(Self.guest), from: client)
        #expect(world.engine.apps.states.count == 2)
    }

    @Test func `are refused where the server keeps none, and under other names`() throws {
        let closed = Self.world(hosts: false)
        let client = closed.welcomedClient()
        client.call(Self.load(Self.guest))
        closed.settle()
        #expect(closed.engine.apps.states.count == 1)
        let open = Self.world()
        let caller = open.welcomedClient()
        for name in ["com.example.other", "perch.examples"] {
            caller.call(Self.load(AppReference(bundleID: name, environment: .xcode)))
        }
        caller.call(Self.load(AppReference(bundleID: Self.guest.bundleID, environment: .production)))
        open.settle()
        #expect(open.engine.apps.states.count == 1)
    }

    private struct NoAnswer: Error {}
}
