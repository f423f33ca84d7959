import Glibc
import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

/// Each cell of the table, through the real wire: the stream is open and at rest, it happens, and the stream says one
/// thing or nothing.
@Suite(.onChosenStorage) struct CauseStreamTests {
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

/// A world in the state just before an event.
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
        case .intentBegun, .intentTaken, .intentDismissed: self.product = "coins"
        case .upgrade: self.held = try self.world.buy("silver", from: self.actor)
        case .familyShares, .familyStops:
            try self.load(Self.familyCatalogue)
            try self.world.buy("gold", "berta", from: self.actor)
        default: self.held = try self.world.buy("gold", from: self.actor)
        }
        switch happening {
        case .expiry, .clockOverExpiry, .autoRenewOn:
            try self.world.require(.autoRenew(self.held?.id ?? 0, false), from: self.actor)
        case .refundOfOlder:
            self.world.advance(TestShop.month)
        case .refundOfLastAfterEnd:
            try self.operate(.expire(self.gold))
        case .refundReversed:
            try self.require(.refund(self.id))
        case .recoveryInGrace, .cancelInGrace:
            try self.load(TestShop.catalogue(), TestShop.settings(grace: true))
            try self.operate(.setCharges(fail: true))
            self.world.advance(TestShop.month)
        case .recoveryInRetry, .cancelInRetry:
            try self.operate(.setCharges(fail: true))
            self.world.advance(TestShop.month)
        case .retryEnds:
            // Up to the last moment: messages of the failing charge come again and again until then.
            try self.operate(.setCharges(fail: true))
            self.world.advance(3 * TestShop.month - 1)
        case .familyStops:
            try self.operate(.share(self.gold, member: "anna"), "berta")
        case .priceAgreed, .priceNotAgreed:
            try self.operate(.raisePrice(self.gold, milliunits: 24_990, needsConsent: true))
        case .withdrawn:
            try self.load(TestShop.catalogue(without: ["gold"]))
        case .graceBegins:
            try self.load(TestShop.catalogue(), TestShop.settings(grace: true))
            try self.operate(.setCharges(fail: true))
        case .retryBegins:
            try self.operate(.setCharges(fail: true))
        case .intentTaken, .intentDismissed:
            try self.operate(.createIntent(productID: "coins", offer: nil))
        default:
            break
        }
    }

    private let gold = OperationTarget.product("gold")

    /// The shop, with every product shareable that a family can share.
    private static let familyCatalogue: Catalogue = {
        let shop = TestShop.catalogue()
        let products = shop.products.map { product in
            var product = product
            product.isFamilyShareable = true
            return product
        }
        return Catalogue(products: products, groups: shop.groups, schemaVersion: shop.schemaVersion)
    }()

    /// An operation of the test store, past the wire.
    private func operate(_ operation: StoreOperation, _ account: String = "anna") throws {
        let key = AccountKey(app: 1, bytes: Array(account.utf8))
        let ticket = self.world.mutate(.operation(operation, account: key, app: 1))
        self.world.settle()
        guard case .mutated = self.world.ownAnswers[ticket] else {
            Issue.record("\(operation) was answered \(String(describing: self.world.ownAnswers[ticket]))")
            return
        }
    }

    func request(_ stream: StreamKind) -> Request {
        switch stream {
        case .products: .products()
        case .status: .status()
        case .entitlement: .entitlement(product: self.product)
        case .updates: .updates()
        case .intents: .purchaseIntents(AccountWatchRequest(account: "anna"))
        case .messages: .messages(AccountWatchRequest(account: "anna"))
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
        case .refundOfOlder, .refundOfLastAfterEnd:
            try self.operate(.refund(.transaction(self.id), reason: .other, share: .full))
        case .refundReversed: try self.operate(.reverseRefund(.transaction(self.id)))
        case .refundDeclined: try self.operate(.declineRefund(self.gold))
        case .recoveryInGrace, .recoveryInRetry: try self.operate(.resolveBilling(self.gold))
        case .retryEnds: self.world.advance(1)
        case .cancelInGrace, .cancelInRetry: try self.operate(.setAutoRenew(self.gold, isOn: false))
        case .familyShares: try self.operate(.share(self.gold, member: "anna"), "berta")
        case .familyStops: try self.operate(.stopSharing(self.gold, member: "anna"), "berta")
        case .priceAsked: try self.operate(.raisePrice(self.gold, milliunits: 24_990, needsConsent: true))
        case .priceInformed: try self.operate(.raisePrice(self.gold, milliunits: 20_990, needsConsent: nil))
        case .priceAgreed: try self.operate(.answerPriceIncrease(self.gold, agrees: true))
        case .priceNotAgreed, .withdrawn: self.world.advance(TestShop.month)
        case .extended: try self.operate(.extendRenewal(self.gold, milliseconds: 10_000))
        case .deleted: try self.operate(.deleteTransaction(self.id))
        case .cleared: try self.operate(.clearTransactions)
        case .graceBegins, .retryBegins: self.world.advance(TestShop.month)
        case .intentBegun: try self.operate(.createIntent(productID: "coins", offer: nil))
        case .intentTaken: try self.world.buy("coins", from: self.actor)
        case .intentDismissed: try self.operate(.endIntent(id: try #require(try self.intent)))
        case .messagePosted: try self.operate(.postMessage)
        }
    }

    /// The number of the intent that waits.
    private var intent: UInt64? {
        get throws {
            let asked = Request.inspectAccount(InspectAccountRequest(account: "anna"))
            guard case .inspectAccount(let found) = try self.world.require(asked, from: self.actor) else { return nil }
            return found.intents.first?.id
        }
    }

    private var id: TransactionID { self.held?.id ?? 0 }

    private func require(_ request: Request) throws { try self.world.require(request, from: self.actor) }

    private func load(_ catalogue: Catalogue, _ settings: AppSettings = TestShop.settings()) throws {
        self.world.catalogueFiles[[1]] = (catalogue, settings)
        try self.require(.loadCatalog(LoadCatalogRequest(file: [1], source: "test")))
    }
}
