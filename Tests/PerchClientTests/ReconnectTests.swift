import Glibc
import PerchBase
import PerchClient
import PerchCore
import PerchModel
import PerchStore
import PerchWire
import Testing

/// Clients and a server in one world without sockets, with connections that break where a test wants them to.
private final class World {
    let server: MemoryServer
    private(set) var now = Moment(monotonic: 0, wall: Instant(milliseconds: 1_700_000_000_000))
    private var clients: [Client] = []
    private var lastSocket: Int32 = 0

    /// A client's core, and the values that its consumers would have seen.
    final class Client {
        var core: ClientCore
        var connection: Int32 = -1
        var socket: Int32 = -1
        /// Bytes on their way from the server.
        var incoming: [UInt8] = []
        /// Bytes that may still pass, each way, before the connection breaks; nil for any number.
        var cutIncoming: Int?
        var cutOutgoing: Int?
        var received = 0
        var sent = 0
        var cuts = 0

        var shown: [ItemID: [EntitlementTaskState<WatchValue>]] = [:]
        var events: [ItemID: [UpdateItem]] = [:]
        var results: [ItemID: Result<Response, PerchError>] = [:]
        var errors: [PerchError] = []
        /// For each batch of actions: which watches had news in it.
        var groups: [[ItemID]] = []

        init(_ name: UInt8, now: ClientTime, codec: MessageCodec) {
            var settings = ClientSettings(name: "test/1", clientID: [name])
            settings.waitsForServer = true
            self.core = ClientCore(settings: settings, codec: codec, seed: UInt64(name), now: now)
        }
    }

    init(timeRate: TimeRate = .realTime) throws {
        self.server = try MemoryServer(self.now, timeRate: timeRate)
        self.server.send = { [unowned self] socket, bytes in
            guard let client = self.clients.first(where: { $0.socket == socket }) else { return .broken }
            client.incoming += bytes
            return .wrote(bytes.count)
        }
        self.server.closed = { [unowned self] _, socket in
            guard let client = self.clients.first(where: { $0.socket == socket }) else { return }
            client.socket = -1
        }
    }

    private let codec = MessageCodec()

    func client(_ name: UInt8) -> Client {
        let client = Client(name, now: self.clientTime, codec: self.codec)
        self.clients.append(client)
        return client
    }

    private var clientTime: ClientTime { ClientTime(monotonic: self.now.monotonic, wall: self.now.wall) }

    /// Lets everything happen that can happen without time.
    func settle() {
        for _ in 0..<1_000 {
            var isQuiet = true
            for client in self.clients where self.carry(client) { isQuiet = false }
            if isQuiet { return }
        }
        preconditionFailure("the world does not come to rest")
    }

    func advance(_ milliseconds: Int64) {
        self.now.monotonic += milliseconds
        self.now.wall = self.now.wall.advanced(byMilliseconds: milliseconds)
        self.server.step(self.now)
        self.settle()
        for client in self.clients { client.core.tick(self.clientTime) }
        self.settle()
    }

    /// Steps of a tenth of a second, until every client is connected again.
    func recover() {
        for _ in 0..<10_000 {
            self.settle()
            if self.clients.allSatisfy({ $0.socket >= 0 }) { return }
            self.advance(100)
        }
        preconditionFailure("a client does not come back")
    }

    /// One exchange with one client; false if there was nothing.
    private func carry(_ client: Client) -> Bool {
        var didSomething = self.perform(client)
        if !client.core.output.isEmpty, client.socket >= 0 {
            didSomething = true
            let room = client.cutOutgoing ?? .max
            let bytes = Array(client.core.output.prefix(room))
            client.core.output.removeFirst(bytes.count)
            client.sent += bytes.count
            if client.cutOutgoing != nil { client.cutOutgoing = room - bytes.count }
            self.server.step(self.now) { $0.received(client.connection, bytes.span.bytes) }
            if client.cutOutgoing == 0 {
                client.cutOutgoing = nil
                self.cut(client)
            }
        }
        if !client.incoming.isEmpty {
            didSomething = true
            let room = client.cutIncoming ?? .max
            let bytes = Array(client.incoming.prefix(room))
            client.incoming.removeFirst(bytes.count)
            client.received += bytes.count
            if client.cutIncoming != nil { client.cutIncoming = room - bytes.count }
            client.core.advance(to: self.clientTime)
            client.core.received(bytes.span.bytes)
            if client.cutIncoming == 0 {
                client.cutIncoming = nil
                self.cut(client)
            }
        }
        return self.perform(client) || didSomething
    }

    private func cut(_ client: Client) {
        client.cuts += 1
        client.incoming.removeAll()
        if client.socket >= 0 {
            client.socket = -1
            self.server.step(self.now) { $0.broken(client.connection) }
        }
        client.core.ended("cut by the test")
    }

    private func perform(_ client: Client) -> Bool {
        guard !client.core.actions.isEmpty else { return false }
        let actions = client.core.actions
        client.core.actions.removeAll()
        var group: [ItemID] = []
        for action in actions {
            switch action {
            case .connect:
                self.lastSocket += 1
                client.socket = self.lastSocket
                client.incoming.removeAll()
                self.server.step(self.now) { core in
                    client.connection = core.accepted(socket: client.socket, isLoopback: true)
                }
                client.core.connected(authorization: "")
            case .disconnect:
                guard client.socket >= 0 else { break }
                client.socket = -1
                client.incoming.removeAll()
                self.server.step(self.now) { $0.peerEnded(client.connection) }
            case .connection: break
            case .finish(let id, let result): client.results[id] = result
            case .show(let id, let state, let isNews):
                guard isNews else { break }
                client.shown[id, default: []].append(state)
                group.append(id)
            case .endWatch(let id): client.errors.append(.clientClosed("watch \(id)"))
            case .events(let id, let items): client.events[id, default: []] += items
            case .endUpdates(_, let error), .endCopy(_, let error): client.errors.append(error)
            case .copyPart, .copyHeard, .copyLost: break
            }
        }
        if !group.isEmpty { client.groups.append(group) }
        return true
    }
}

extension PerchError {
    fileprivate static func clientClosed(_ what: String) -> PerchError {
        PerchError(code: .cancelled, reason: "ENDED", message: what)
    }
}

extension EntitlementTaskState<WatchValue> {
    /// The newest transaction in it.
    fileprivate var transactionID: TransactionID? {
        switch self.value {
        case .entitlement(let transaction): transaction?.value.id
        case .statuses(let statuses): statuses.effective?.transaction.value.id
        case .products, .intents, .messages, .named, nil: nil
        }
    }
}

@Suite struct `a client over broken connections` {
    private static let statuses = Request.subscriptionStatusTask(
        SubscriptionStatusRequest(account: "anna", groupID: "premium"))
    private static let entitlement = Request.currentEntitlementTask(
        CurrentEntitlementRequest(account: "anna", productID: "gold"))

    private static func buy(_ product: String, key: UInt8) -> Request {
        .operate(
            OperateRequest(
                account: "anna", idempotencyKey: [key], operation: .buy(PurchaseOrder(productID: product))))
    }

    /// A customer's month: earlier purchases, a subscription, coins, a renewal. The connection of the watching client breaks once,
    /// after the given number of bytes. Returns the bytes sent each way.
    private func month(cutIncoming: Int? = nil, cutOutgoing: Int? = nil) throws -> (received: Int, sent: Int) {
        let world = try World(timeRate: try #require(TimeRate(named: "oneRenewalEveryThirtySeconds")))
        let shop = world.client(1)
        shop.core.call(1, Self.buy("coins", key: 1), timeoutMilliseconds: 600_000)
        world.settle()

        let client = world.client(2)
        client.cutIncoming = cutIncoming
        client.cutOutgoing = cutOutgoing
        client.core.watch(10, Self.statuses, atLeast: nil)
        client.core.watch(11, Self.entitlement, atLeast: nil)
        client.core.followUpdates(12, TransactionUpdatesRequest(account: "anna"), includesOwn: false)
        world.settle()
        shop.core.call(2, Self.buy("gold", key: 2), timeoutMilliseconds: 600_000)
        world.settle()
        client.core.call(20, Self.buy("licence", key: 3), timeoutMilliseconds: 600_000)
        world.settle()
        world.recover()
        world.advance(31_000)
        world.recover()
        shop.core.call(3, Self.buy("coins", key: 4), timeoutMilliseconds: 600_000)
        world.settle()
        world.recover()
        world.advance(1)

        #expect(client.errors.isEmpty && shop.errors.isEmpty, "\(client.errors) \(shop.errors)")
        #expect(client.cuts == (cutIncoming == nil && cutOutgoing == nil ? 0 : 1))
        try self.check(client, world, shop, "the break was after \(cutIncoming ?? 0) bytes in, \(cutOutgoing ?? 0) out")
        return (client.received, client.sent)
    }

    private func check(
        _ client: World.Client, _ world: World, _ shop: World.Client, _ place: Comment
    ) throws {
        // The true state, read by another client.
        shop.core.call(
            30, .listTransactions(ListTransactionsRequest(account: "anna", includesFinishedConsumables: true)),
            timeoutMilliseconds: 600_000)
        shop.core.call(
            31, .getSubscriptionStatus(SubscriptionStatusRequest(account: "anna", groupID: "premium")),
            timeoutMilliseconds: 600_000)
        shop.core.call(
            32, .getCurrentEntitlement(CurrentEntitlementRequest(account: "anna", productID: "gold")),
            timeoutMilliseconds: 600_000)
        world.settle()
        guard case .success(.listTransactions(let page))? = shop.results[30],
            case .success(.getSubscriptionStatus(.success(let statuses, _)))? = shop.results[31],
            case .success(.getCurrentEntitlement(.success(let entitlement, _)))? = shop.results[32]
        else {
            Issue.record("\(shop.results)")
            return
        }
        let bought = page.transactions.map(\.value.id)
        // Coins, gold, the licence, a renewal of gold, coins: nothing was bought twice.
        #expect(
            page.transactions.map(\.value.productID).sorted() == ["coins", "coins", "gold", "gold", "licence"], place)

        // Events: each once, in order, none missing; the client's own is left out.
        guard case .success(.operate(let own))? = client.results[20] else {
            Issue.record("\(client.results)")
            return
        }
        let told = (client.events[12] ?? []).compactMap(\.update)
        let ownID = try #require(own.transaction?.value.id)
        let fresh = told.filter { $0.kind != .unfinished }.map(\.transaction.value.id)
        #expect(Set(told.map(\.transaction.value.id)).subtracting([ownID]) == Set(bought).subtracting([ownID]), place)
        #expect(fresh.count == Set(fresh).count && fresh == fresh.sorted(), place)
        #expect(told.count == Set(told.map(\.transaction.value.id)).count, place)

        // Streams: no value twice in a row, none that was not newer, and the last one is what is so.
        for id in [10, 11] as [ItemID] {
            let shown = client.shown[id] ?? []
            for (before, after) in zip(shown, shown.dropFirst()) { #expect(before.value != after.value, place) }
            let positions = shown.compactMap(\.info?.position)
            #expect(positions == positions.sorted() && positions.count == shown.count, place)
        }
        #expect(client.shown[10]?.last?.value == .statuses(statuses), place)
        #expect(client.shown[11]?.last?.value == .entitlement(entitlement), place)
        // Two views of one thing agree whenever both are shown together.
        for group in client.groups where group.count > 1 { #expect(Set(group) == [10, 11], place) }
    }

    @Test func `a month is seen whole without a break`() throws {
        let (received, sent) = try self.month()
        #expect(received > 1_000 && sent > 300)
    }

    /// Every thirteenth byte, which falls on all parts of headers and messages; with `PERCH_TEST_EVERY_BYTE` set, every
    /// byte.
    private static func places(upTo count: Int) -> StrideTo<Int> {
        let isThorough = getenv("PERCH_TEST_EVERY_BYTE") != nil
        return stride(from: 1, to: count, by: isThorough ? 1 : 13)
    }

    @Test func `a month is seen whole with a break after any byte that came`() throws {
        for byte in Self.places(upTo: try self.month().received) { _ = try self.month(cutIncoming: byte) }
    }

    @Test func `a month is seen whole with a break after any byte that was sent`() throws {
        for byte in Self.places(upTo: try self.month().sent) { _ = try self.month(cutOutgoing: byte) }
    }
}
