import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchWire
import Testing

/// Several watches in one call: each message names its watch, and nothing else differs from the watches' own methods.
@Suite(.onChosenStorage) struct SeveralWatchesTests {
    private func heard(_ client: WireClient, _ stream: UInt32) -> [(watch: UInt32, response: Response)] {
        client.messages(on: stream).compactMap { message in
            guard case .watch(let told) = message, case .response(let response) = told.content else { return nil }
            return (told.watch, response)
        }
    }

    private func token(_ response: Response?) -> [UInt8] {
        switch response {
        case .subscriptionStatusTask(let state)?: state.info?.token ?? []
        case .currentEntitlementTask(let state)?: state.info?.token ?? []
        case .productsTask(let state)?: state.info?.token ?? []
        case .transactionUpdates(let event)?: event.cursor
        default: []
        }
    }

    private static let four = WatchRequest(watches: [.products(), .status(), .entitlement(), .updates()])

    @Test(arguments: [[], [Encoding.zlib]])
    func `each message names its watch, and a purchase reaches those that it changes`(accepts: [Encoding]) throws {
        let world = World()
        let client = world.welcomedClient(accepts: accepts)
        let stream = client.call(.watch(Self.four))
        world.settle()
        #expect(self.heard(client, stream).map(\.watch).sorted() == [0, 1, 2, 3])
        for (watch, response) in self.heard(client, stream) {
            #expect(response.method == Self.four.watches[Int(watch)].method)
        }
        try world.buy("gold", from: client)
        let news = self.heard(client, stream).dropFirst(4)
        #expect(news.map(\.watch).sorted() == [1, 2, 3])
        guard case .subscriptionStatusTask(let state)? = news.first(where: { $0.watch == 1 })?.response else {
            Issue.record("the status was not pushed")
            return
        }
        #expect(state.value?.states == [.subscribed])
        #expect(state.info?.cause == .purchase)
        client.cancel(stream)
        world.settle()
        #expect(client.status(of: stream)?.code == 1)
        try world.buy("coins", from: client)
        #expect(self.heard(client, stream).count == 7)
        world.checkNothingIsLeft()
    }

    @Test func `a call with the tokens of another is answered by unchanged, watch by watch`() throws {
        let world = World()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let stream = client.call(.watch(Self.four))
        world.settle()
        var tokens: [UInt32: [UInt8]] = [:]
        for (watch, response) in self.heard(client, stream) { tokens[watch] = self.token(response) }
        let resumed = WatchRequest(watches: [
            .updates(cursor: try #require(tokens[3])), .status(token: try #require(tokens[1])),
            .products(token: try #require(tokens[0])), .status("berta"),
        ])
        let again = client.call(.watch(resumed))
        client.cancel(stream)
        world.settle()
        let answers = Dictionary(self.heard(client, again).map { ($0.watch, $0.response) }) { first, _ in first }
        guard case .subscriptionStatusTask(let status)? = answers[1], case .productsTask(let products)? = answers[2],
            case .subscriptionStatusTask(let other)? = answers[3], case .transactionUpdates(let place)? = answers[0]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(status.isUnchanged && products.isUnchanged)
        #expect(other.value?.states == [])
        #expect(place.transaction == nil)
        try world.buy("coins", from: client)
        #expect(self.heard(client, again).last?.watch == 0)
        world.checkNothingIsLeft()
    }

    @Test(arguments: [
        ([], "FIELD_MISSING", "watches"),
        ([Request](repeating: .status(), count: 257), "FIELD_INVALID", "257"),
        ([.products(), .status(""), .status()], "ACCOUNT_KEY", "1"),
        ([.products(), .products(token: [1, 2, 3])], "TOKEN_MALFORMED", "1"),
    ])
    func `a call is refused as a whole, and names the watch`(watches: [Request], reason: String, told: String) throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.watch(WatchRequest(watches: watches)))
        world.settle()
        let status = try #require(client.status(of: stream))
        #expect(status.reason == reason, "\(status)")
        #expect(status.details.contains { $0.value == told }, "\(status)")
        #expect(self.heard(client, stream).isEmpty)
        #expect(world.loops[0].core.counters.callsOpened == world.loops[0].core.counters.callsEnded)
        world.checkNothingIsLeft()
    }

    @Test func `an entry without a request is refused`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.watch, requestBytes: [0x0A, 0])
        world.settle()
        #expect(try #require(client.status(of: stream)).code == 3)
        world.checkNothingIsLeft()
    }

    @Test func `the same watch twice, and one that another call has too, are each answered`() throws {
        let world = World()
        let client = world.welcomedClient()
        let alone = client.call(.status())
        let stream = client.call(.watch(WatchRequest(watches: [.status(), .status()])))
        world.settle()
        try world.buy("gold", from: client)
        #expect(self.heard(client, stream).map(\.watch).sorted() == [0, 0, 1, 1])
        #expect(client.statuses(on: alone).last?.value?.states == [.subscribed])
        client.cancel(alone)
        world.settle()
        try world.require(.refund(1), from: client)
        #expect(self.heard(client, stream).count == 6)
        world.checkNothingIsLeft()
    }

    @Test func `a watch that waits for its position does not delay the others`() throws {
        let world = World()
        let client = world.welcomedClient()
        let ahead = Position(revision: 2, asOf: world.wall)
        let stream = client.call(.watch(WatchRequest(watches: [.status(atLeast: ahead), .products()])))
        world.settle()
        #expect(self.heard(client, stream).map(\.watch) == [1])
        try world.buy("gold", from: client)
        #expect(self.heard(client, stream).map(\.watch) == [1, 0])
        world.checkNothingIsLeft()
    }
}
