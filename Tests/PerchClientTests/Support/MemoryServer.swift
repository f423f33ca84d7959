import PerchBase
import PerchCore
import PerchModel
import PerchStore
import Testing

/// A whole server without threads and files: a loop's core and a store's engine, stepped together.
///
/// The owner transports the bytes: `send` accepts as many as fit, `closed` is called at the end.
final class MemoryServer {
    let engine: StoreEngine
    var core: LoopCore
    var send: (_ socket: Int32, [UInt8]) -> WriteResult = { _, bytes in .wrote(bytes.count) }
    var listen: (_ connection: Int32, _ socket: Int32, _ reading: Bool, _ writing: Bool) -> Void = { _, _, _, _ in }
    var closed: (_ connection: Int32, _ socket: Int32) -> Void = { _, _ in }
    private var requests: [StoreRequest] = []
    /// When the store wants to run next, by the wall clock.
    private var storeWake: Instant?

    /// A shop with a month of gold, coins to spend, and a licence for life.
    init(_ now: Moment, timeRate: TimeRate = .realTime, _ coreSettings: CoreSettings = CoreSettings()) throws {
        self.engine = try StoreEngine(
            storage: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)), loops: 1, cacheBytesMax: 1 << 20)
        var gold = Self.product("gold", .autoRenewable)
        gold.subscription = CatalogueSubscription(groupID: "premium", level: 1, period: Period(1, .month))
        let catalogue = Catalogue(
            products: [gold, Self.product("coins", .consumable), Self.product("licence", .nonConsumable)],
            groups: [CatalogueGroup(id: "premium", name: "Premium", localizations: [])], schemaVersion: "4.0")
        var settings = AppSettings()
        settings.timeRate = timeRate
        let number = try self.engine.openApp(
            "shop", .xcode, catalogue: catalogue, source: "test", fileSettings: settings, wall: now.wall)
        let app = try #require(self.engine.apps[number]?.state)
        self.core = LoopCore(
            loop: 0, identity: self.engine.header.identity, epoch: 1, revision: self.engine.header.revision,
            apps: [app], settings: coreSettings, now: now)
    }

    private static func product(_ id: String, _ type: ProductType) -> CatalogueProduct {
        CatalogueProduct(
            id: id, type: type, referenceName: id, price: Money(milliunits: 990, currency: "USD"),
            isFamilyShareable: false, localizations: [])
    }

    /// When the core wants to be stepped next, in milliseconds of the monotonic clock.
    private var coreWake: Int64?

    /// When there is something to do by time alone, in milliseconds of the monotonic clock.
    func nextWake(_ now: Moment) -> Int64 {
        let store = self.storeWake.map { now.monotonic + max(0, $0.milliseconds(since: now.wall)) }
        return min(self.coreWake ?? .max, store ?? .max)
    }

    /// Runs ticks until `now` has no more work. `input` delivers bytes from the sockets.
    func step(_ now: Moment, _ input: (inout LoopCore) -> Void = { _ in }) {
        self.core.begin(now)
        self.core.takePausedInput()
        input(&self.core)
        self.endTurn()
        for _ in 0..<10_000 {
            var outbox = StoreEngine.Outbox(loops: 1)
            let asked = self.requests
            self.requests.removeAll()
            self.storeWake = self.engine.run(asked, wall: now.wall, into: &outbox)
            let events = outbox.events[0]
            if events.isEmpty, asked.isEmpty, (self.storeWake ?? .distantFuture) > now.wall { return }
            self.core.begin(now)
            for event in events { self.core.handle(event) }
            self.endTurn()
        }
        preconditionFailure("the server does not come to rest")
    }

    private func endTurn() {
        self.core.endInput()
        self.execute()
        while true {
            let count = self.core.planWrites()
            if count == 0 { break }
            for index in 0..<count {
                let write = self.core.plannedWrite(index)
                var bytes: [UInt8] = []
                for segment in 0..<write.segmentCount {
                    bytes.append(contentsOf: self.core.segment(segment, of: write))
                }
                self.core.wrote(index, self.send(write.socket, bytes))
            }
            self.execute()
        }
        self.coreWake = self.core.endTurn()
        self.execute()
    }

    private func execute() {
        self.requests.append(contentsOf: self.core.asks)
        self.core.asks.removeAll()
        let effects = self.core.effects
        self.core.effects.removeAll()
        for effect in effects {
            switch effect {
            case .listen(let connection, let socket, let reading, let writing):
                self.listen(connection, socket, reading, writing)
            case .close(let connection, let socket): self.closed(connection, socket)
            case .shutDownWriting, .control, .drained: break
            }
        }
    }
}
