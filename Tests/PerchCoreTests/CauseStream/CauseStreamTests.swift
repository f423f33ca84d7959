import Glibc
import PerchBase
import PerchCore
import PerchModel
import PerchStore
import PerchTesting
import PerchWire
import Testing

/// Each cell of the table, through the real wire: the stream is open and at rest, it happens, and the stream says one
/// thing or nothing.
@Suite struct CauseStreamTests {
    @Test(arguments: Happening.allCases, StreamKind.allCases)
    func `a stream pushes what it must and nothing else`(happening: Happening, stream: StreamKind) throws {
        let cell = try #require(causeStreamTable[happening]?[stream], "the table has no such cell")
        let stage = try Stage(happening)
        let world = stage.world
        let watcher = world.welcomedClient(heartbeatSeconds: 600)
        let number = watcher.call(stage.request(stream))
        world.settle()
        let before = watcher.messages(on: number).count
        #expect(before > 0)
        try stage.happen()
        world.settle()
        let pushed = watcher.messages(on: number).count - before
        #expect(watcher.status(of: number) == nil)
        switch cell {
        // A forced renewal and an upgrade are two events: the period that ends, and the one that begins.
        case .push: #expect(stream == .updates ? (1...2).contains(pushed) : pushed == 1)
        case .silent: #expect(pushed == 0)
        }
        world.checkNothingIsLeft()
    }

    @Test func `the table has a row for each happening and a cell for each stream`() {
        #expect(Set(causeStreamTable.keys) == Set(Happening.allCases))
        for happening in Happening.allCases {
            #expect(Set((causeStreamTable[happening] ?? [:]).keys) == Set(StreamKind.allCases), "\(happening.rawValue)")
        }
        for stream in StreamKind.allCases {
            let cells = causeStreamTable.values.compactMap { $0[stream] }
            #expect(cells.contains(.push) && cells.contains(.silent), "\(stream.rawValue)")
        }
    }

    @Test func `the table that people read is the table that is tested`() throws {
        let path = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/CauseStreamTable.md"
        if getenv("PERCH_WRITE_TABLES") != nil {
            TemporaryDirectory.write(Array(causeStreamMarkdown().utf8), to: path)
        }
        let committed = String(decoding: TemporaryDirectory.read(path), as: UTF8.self)
        #expect(committed == causeStreamMarkdown(), "write it anew: PERCH_WRITE_TABLES=1")
    }
}

/// A world brought to just before something happens.
private struct Stage {
    let world: World
    let actor: WireClient
    let happening: Happening
    private var held: Transaction?
    /// The product whose entitlement is watched.
    private var product = "gold"

    init(_ happening: Happening) throws {
        self.world = World()
        self.actor = self.world.welcomedClient()
        self.happening = happening
        switch happening {
        case .purchaseOfConsumable: self.product = "coins"
        case .purchaseOfNonConsumable: self.product = "lifetime"
        case .purchaseOfNonRenewable: self.product = "season"
        case .purchaseOfAutoRenewable: break
        case .upgrade: self.held = try self.world.buy("silver", from: self.actor)
        default: self.held = try self.world.buy("gold", from: self.actor)
        }
        switch happening {
        case .expiry, .clockOverExpiry, .autoRenewOn:
            try self.world.require(.autoRenew(self.held?.id ?? 0, false), from: self.actor)
        default:
            break
        }
    }

    func request(_ stream: StreamKind) -> Request {
        switch stream {
        case .products: .products()
        case .status: .status()
        case .entitlement: .entitlement(product: self.product)
        case .updates: .updates()
        }
    }

    func happen() throws {
        switch self.happening {
        case .purchaseOfConsumable, .purchaseOfNonConsumable, .purchaseOfAutoRenewable, .purchaseOfNonRenewable:
            try self.world.buy(self.product, from: self.actor)
        case .purchaseOfWhatIsHeld, .upgrade: try self.world.buy("gold", from: self.actor)
        case .downgrade: try self.world.buy("silver", from: self.actor)
        case .renewal, .expiry: self.world.advance(TestShop.month)
        case .forcedRenewal:
            self.world.advance(10_000)
            try self.require(.operate(.renew(.product("gold")), "anna"))
        case .refund: try self.require(.refund(self.id))
        case .forcedExpiry:
            self.world.advance(10_000)
            try self.require(.operate(.expire(.product("gold")), "anna"))
        case .cataloguePrice: try self.load(TestShop.catalogue(prices: ["gold": 24_990]))
        case .catalogueName: try self.load(TestShop.catalogue(names: ["gold": "Pure gold"]))
        case .catalogueSame: try self.load(TestShop.catalogue())
        case .clockWithinPeriod: try self.require(.clock(.advanceBy(milliseconds: TestShop.month / 2)))
        case .clockOverExpiry, .clockOverRenewal:
            try self.require(.clock(.advanceBy(milliseconds: TestShop.month)))
        case .clockFrozen: try self.require(.clock(.freeze))
        case .autoRenewOff: try self.require(.autoRenew(self.id, false))
        case .autoRenewOn: try self.require(.autoRenew(self.id, true))
        case .finish: try self.require(.finish(FinishRequest(account: "anna", transactionID: self.id)))
        case .timeRate:
            let rate = TimeRate(named: "oneRenewalEveryTenSeconds")?.rawValue ?? 0
            try self.require(.configure(.timeRate(rate)))
        case .otherAccount: try self.world.buy("gold", "berta", from: self.actor)
        case .storefront:
            try self.load(TestShop.catalogue(), TestShop.settings(storefront: "DEU", locale: "de"))
        }
    }

    private var id: TransactionID { self.held?.id ?? 0 }

    private func require(_ request: Request) throws { try self.world.require(request, from: self.actor) }

    private func load(_ catalogue: Catalogue, _ settings: AppSettings = TestShop.settings()) throws {
        self.world.catalogueFiles[[1]] = (catalogue, settings)
        try self.require(.loadCatalog(LoadCatalogRequest(file: [1], source: "test")))
    }
}
