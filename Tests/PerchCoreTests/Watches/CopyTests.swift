import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

extension Request {
    static func copy(
        token: [UInt8] = [], names: [String] = [], shard: UInt32 = 0, of shardCount: UInt32 = 0
    ) -> Request {
        .appEntitlements(
            AppEntitlementsRequest(resumeToken: token, names: names, shard: shard, shardCount: shardCount))
    }
}

/// A copy as a client keeps it. It reads what the contract says of the columns, and nothing else.
private struct CopyReader {
    struct Segment: Hashable {
        var grade: EntitlementGrade
        var until: Int64
        var reason: UInt8
    }

    private(set) var entries: [String: [Segment]] = [:]
    /// The account of each alias.
    private(set) var aliases: [String: String] = [:]
    private(set) var names: [String] = []
    private(set) var position: Position?
    private(set) var token: [UInt8] = []
    private(set) var clock: CopyClock?
    /// Copies that were complete.
    private(set) var completeCount = 0
    private(set) var resumedCount = 0
    /// The revision of each change, in the order of the messages.
    private(set) var revisions: [UInt64] = []
    private var grades: [EntitlementGrade] = []
    private var building: (entries: [String: [Segment]], aliases: [String: String])?
    private var taken = 0

    /// Reads the messages that have come since the last time.
    mutating func read(_ client: WireClient, _ stream: UInt32) throws {
        let messages = client.messages(on: stream)
        for message in messages[self.taken...] {
            guard case .appEntitlements(let part) = message else { continue }
            try self.take(part)
        }
        self.taken = messages.count
    }

    /// A new call goes on.
    mutating func reconnect() {
        self.taken = 0
        self.building = nil
    }

    private mutating func take(_ part: CopyPart) throws {
        if let begin = part.begin {
            (self.grades, self.names, self.clock) = (begin.grades, begin.names, begin.clock)
            if begin.isResumed {
                #expect(self.completeCount > 0, "a copy goes on that was never complete")
                self.resumedCount += 1
            } else {
                self.building = ([:], [:])
            }
        }
        if let batch = part.accounts {
            if var building = self.building {
                Self.apply(batch, self.grades, to: &building.entries, &building.aliases)
                self.building = building
                #expect(batch.position == nil && batch.resumeToken.isEmpty, "a copy that is not complete has a place")
            } else {
                Self.apply(batch, self.grades, to: &self.entries, &self.aliases)
                let position = try #require(batch.position)
                self.move(to: position, batch.resumeToken)
                if !batch.keyEnds.isEmpty { self.revisions.append(position.revision) }
            }
            if let clock = batch.clock { self.clock = clock }
        }
        if let end = part.end {
            let built = try #require(self.building)
            (self.entries, self.aliases) = built
            self.building = nil
            self.completeCount += 1
            self.move(to: end.position, end.resumeToken)
        }
    }

    private mutating func move(to position: Position, _ token: [UInt8]) {
        if let before = self.position {
            #expect(before.revision <= position.revision && before.asOf <= position.asOf, "\(before) then \(position)")
        }
        self.position = position
        self.token = token
        #expect(!token.isEmpty)
    }

    private static func apply(
        _ batch: CopyBatch, _ grades: [EntitlementGrade], to entries: inout [String: [Segment]],
        _ aliases: inout [String: String]
    ) {
        let grades = grades + batch.moreGrades
        var (key, segment, alias) = (0, 0, 0)
        for account in batch.keyEnds.indices {
            let name = String(decoding: batch.keys[key..<Int(batch.keyEnds[account])], as: UTF8.self)
            key = Int(batch.keyEnds[account])
            let end = Int(batch.segmentEnds[account])
            let segments = (segment..<end).map {
                Segment(grade: grades[Int(batch.grades[$0])], until: batch.untils[$0], reason: batch.reasons[$0])
            }
            segment = end
            entries[name] = segments.isEmpty ? nil : segments
            aliases = aliases.filter { $0.value != name }
            while alias < batch.aliasAccounts.count, Int(batch.aliasAccounts[alias]) == account {
                let begin = alias == 0 ? 0 : Int(batch.aliasEnds[alias - 1])
                let other = String(decoding: batch.aliases[begin..<Int(batch.aliasEnds[alias])], as: UTF8.self)
                aliases[other] = name
                alias += 1
            }
        }
        #expect(segment == batch.untils.count && key == batch.keys.count && alias == batch.aliasEnds.count)
    }

    /// The names that an account has, each with its tier.
    func shown(_ account: String, at instant: Instant) -> [String: String] {
        var shown: [String: String] = [:]
        var seen: Set<String> = []
        let entry = self.entries[account] ?? self.aliases[account].flatMap { self.entries[$0] }
        for segment in entry ?? []
        where instant.milliseconds < segment.until && seen.insert(segment.grade.name).inserted {
            if segment.reason != 0 { shown[segment.grade.name] = segment.grade.tier }
        }
        return shown
    }
}

/// A world with a mapping, and a copy of it.
private struct Copied {
    static let mapping = [
        EntitlementRule(name: "plus", groupID: "plans", level: 1, tier: "gold"),
        EntitlementRule(name: "plus", groupID: "plans", level: 2, tier: "silver"),
        EntitlementRule(name: "plus", productID: "lifetime", tier: "silver"),
        EntitlementRule(name: "news", groupID: "news"),
        EntitlementRule(name: "season", productID: "season"),
    ]

    let world: World
    let client: WireClient
    var stream: UInt32
    var reader = CopyReader()

    init(_ change: (inout World.Setup) -> Void = { _ in }, _ request: Request? = .copy()) throws {
        var setup = World.Setup()
        setup.catalogue = setup.catalogue.replacing(entitlements: Self.mapping)
        change(&setup)
        self.world = World(setup)
        self.client = self.world.welcomedClient()
        self.stream = 0
        if let request { try self.call(request) }
    }

    mutating func call(_ request: Request) throws {
        self.stream = self.client.call(request)
        self.reader.reconnect()
        try self.read()
    }

    mutating func read() throws {
        self.world.settle()
        try self.reader.read(self.client, self.stream)
    }

    /// What the server says of an account now.
    func answered(_ account: String) throws -> [String: String] {
        let answer = try self.world.require(
            .getEntitlements(GetEntitlementsRequest(account: account)), from: self.client)
        guard case .getEntitlements(let state) = answer, let value = state.value else { return [:] }
        return Dictionary(uniqueKeysWithValues: value.filter(\.isActive).map { ($0.name, $0.tier) })
    }

    /// Compares the copy with the server, account by account.
    mutating func compare(_ accounts: [String], _ why: String = "") throws {
        try self.read()
        for account in accounts {
            let shown = self.reader.shown(account, at: self.world.wall)
            #expect(try self.answered(account) == shown, "\(account) \(why)")
        }
    }
}

/// AppEntitlements: a copy of all accounts, and then every change.
@Suite(.onChosenStorage) struct `Copies of an app's entitlements` {
    private static let accounts = (0..<12).map { "account-\($0)" }

    @Test func `begin with every account that has something, and go on with each change`() throws {
        var copied = try Copied({ _ in }, nil)
        try copied.world.buy("gold", "anna", from: copied.client)
        try copied.world.buy("coins", "bert", from: copied.client)
        try copied.world.buy("lifetime", "cora", from: copied.client)
        try copied.call(.copy())
        #expect(copied.reader.completeCount == 1)
        #expect(copied.reader.names == ["plus", "news", "season"])
        #expect(copied.reader.entries.keys.sorted() == ["anna", "cora"])
        #expect(copied.reader.shown("anna", at: copied.world.wall) == ["plus": "gold"])
        #expect(copied.reader.shown("cora", at: copied.world.wall) == ["plus": "silver"])
        #expect(copied.reader.position?.revision == copied.world.engine.header.revision)
        #expect(copied.reader.clock?.isTestApp == true)
        try copied.world.buy("season", "bert", from: copied.client)
        try copied.compare(["anna", "bert", "cora", "nobody"])
        #expect(copied.reader.position?.revision == copied.world.engine.header.revision)
        copied.world.checkInvariants()
        copied.world.checkNothingIsLeft()
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `are what the server says, whatever happens`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var copied = try Copied { $0.settings = TestShop.settings(billingIssues: random.bool(), grace: random.bool()) }
        let catalogues = [Copied.mapping, Array(Copied.mapping.reversed()), Array(Copied.mapping.dropLast(2))]
        for (place, mapping) in catalogues.enumerated() {
            copied.world.catalogueFiles[[UInt8(place)]] = (
                TestShop.catalogue().replacing(entitlements: mapping), TestShop.settings()
            )
        }
        for step in 0..<120 {
            let account = random.element(Self.accounts)
            let why = "seed \(seed), step \(step)"
            switch random.below(16) {
            case 0, 1, 2, 3:
                _ = copied.world.answer(to: .buy(random.element(TestShop.all), account), from: copied.client)
            case 4:
                _ = copied.world.answer(
                    to: .operate(.setAutoRenew(.product(random.element(TestShop.all)), isOn: random.bool()), account),
                    from: copied.client)
            case 5:
                _ = copied.world.answer(
                    to: .operate(
                        .refund(.product(random.element(TestShop.all)), reason: .other, share: .full), account),
                    from: copied.client)
            case 6:
                _ = copied.world.answer(
                    to: .grantEntitlement(
                        GrantEntitlementRequest(
                            account: account, name: random.element(["plus", "extra", "news"]),
                            until: random.optional { _ in copied.world.wall.advanced(byMilliseconds: 90_000) })),
                    from: copied.client)
            case 7:
                _ = copied.world.answer(
                    to: .eraseAccount(EraseAccountRequest(account: account)), from: copied.client)
            case 8 where random.below(3) == 0:
                try copied.world.require(
                    .loadCatalog(LoadCatalogRequest(file: [UInt8(random.below(3))], source: "test")),
                    from: copied.client)
            case 9:
                copied.client.cancel(copied.stream)
                copied.world.settle()
                let isResumed = random.bool()
                // Changes that the copy has not seen.
                _ = copied.world.answer(to: .buy(random.element(TestShop.all), account), from: copied.client)
                try copied.call(.copy(token: isResumed ? copied.reader.token : []))
            default: copied.world.advance(Int64(random.below(120_000)))
            }
            try copied.compare(Self.accounts, why)
        }
        #expect(copied.reader.completeCount > 1 && copied.reader.resumedCount > 0)
        copied.world.checkInvariants()
        copied.world.checkNothingIsLeft()
    }

    /// The walk takes many slices, and the store commits between them.
    @Test func `miss nothing that happens while they are read`() throws {
        var copied = try Copied({ $0.sendBufferBytes = 2_048 }, nil)
        let accounts = (0..<700).map { "customer-\($0)" }
        for account in accounts where account.hasSuffix("3") || account.hasSuffix("7") {
            try copied.world.buy("lifetime", account, from: copied.client)
        }
        for account in accounts where account.hasSuffix("4") {
            try copied.world.buy("coins", account, from: copied.client)
        }
        copied.stream = copied.client.call(.copy())
        for round in 0..<60 {
            copied.world.turn()
            copied.world.runStore()
            if round % 3 == 0 { _ = copied.client.call(.buy("season", accounts[round * 11 % 700])) }
        }
        try copied.compare(accounts)
        #expect(copied.reader.completeCount == 1)
        copied.world.checkInvariants()
    }

    /// The check value of the checksum's catalogue: clients have it in their standard libraries.
    @Test func `are divided by the CRC-32 of zlib`() {
        #expect(CRC32.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.checksum([]) == 0)
    }

    @Test func `of shards are the whole together`() throws {
        var copied = try Copied({ _ in }, nil)
        for account in Self.accounts { try copied.world.buy("lifetime", account, from: copied.client) }
        try copied.call(.copy())
        var together: [String] = []
        for shard in UInt32(0)..<3 {
            var reader = CopyReader()
            let stream = copied.client.call(.copy(shard: shard, of: 3))
            copied.world.settle()
            try reader.read(copied.client, stream)
            #expect(reader.completeCount == 1)
            together += reader.entries.keys
        }
        #expect(together.sorted() == Self.accounts.sorted())
        let (_, status) = copied.world.answer(to: .copy(shard: 3, of: 3), from: copied.client)
        #expect(status?.reason == "FIELD_INVALID")
    }

    @Test func `have only the names that are asked for`() throws {
        var copied = try Copied({ _ in }, .copy(names: ["season", "unknown"]))
        try copied.world.buy("lifetime", "anna", from: copied.client)
        try copied.world.buy("season", "bert", from: copied.client)
        try copied.read()
        #expect(copied.reader.entries.keys.sorted() == ["bert"])
        #expect(copied.reader.names == ["plus", "news", "season"])
    }

    /// A token has a checksum and no secret, so any reader can make one.
    @Test(arguments: [(UInt64(0), UInt32(0)), (0, 7), (1, 0), (.max, 0), (.max, .max)])
    func `read on or begin again for a token that nobody gave`(_ revision: UInt64, _ ordinal: UInt32) throws {
        var copied = try Copied()
        try copied.world.buy("lifetime", "anna", from: copied.client)
        try copied.read()
        var token = try CopyToken(copied.reader.token)
        token.place.revision = revision
        token.place.ordinal = ordinal
        copied.client.cancel(copied.stream)
        try copied.call(.copy(token: token.bytes))
        try copied.compare(["anna"])
    }

    @Test func `begin again for a token of another list of names`() throws {
        var copied = try Copied()
        try copied.world.buy("lifetime", "anna", from: copied.client)
        try copied.read()
        let token = copied.reader.token
        copied.client.cancel(copied.stream)
        try copied.call(.copy(token: token, names: ["plus"]))
        #expect(copied.reader.completeCount == 2 && copied.reader.resumedCount == 0)
        copied.client.cancel(copied.stream)
        try copied.call(.copy(token: [1, 2, 3]))
        #expect(copied.reader.completeCount == 3)
        copied.client.cancel(copied.stream)
        try copied.call(.copy(token: copied.reader.token))
        #expect(copied.reader.completeCount == 3 && copied.reader.resumedCount == 1)
        try copied.compare(["anna"])
    }

    /// A bookmark says at once when a call has sent what its caller missed. It does not wait for the heartbeat.
    @Test(arguments: [0, 3]) func `say when everything that was missed has been sent`(_ missed: Int) throws {
        var copied = try Copied()
        try copied.world.buy("lifetime", "anna", from: copied.client)
        try copied.read()
        let token = copied.reader.token
        copied.client.cancel(copied.stream)
        copied.world.settle()
        for index in 0..<missed { try copied.world.buy("lifetime", "missed-\(index)", from: copied.client) }
        let before = copied.client.events.count
        try copied.call(.copy(token: token))
        let events = copied.client.events[before...]
        let beat = try #require(events.lastIndex { if case .beat = $0 { true } else { false } })
        let lastMessage = try #require(events.lastIndex { if case .message = $0 { true } else { false } })
        #expect(beat > lastMessage && copied.reader.resumedCount == 1 && copied.reader.revisions.count >= missed)
        let count = copied.client.beats.count
        try copied.read()
        #expect(copied.client.beats.count == count)
    }

    @Test func `say that the app's clock was moved or stopped`() throws {
        var copied = try Copied()
        try copied.world.buy("gold", "anna", from: copied.client)
        try copied.world.require(.clock(.freeze), from: copied.client)
        try copied.read()
        #expect(copied.reader.clock?.isFrozen == true)
        try copied.world.require(.clock(.resume), from: copied.client)
        try copied.world.require(.clock(.advanceBy(milliseconds: 3_600_000)), from: copied.client)
        try copied.read()
        let clock = try #require(copied.reader.clock)
        #expect(!clock.isFrozen && clock.appTime.milliseconds(since: clock.serverTime) >= 3_600_000)
    }

    /// A reported app: several accounts change in one revision, keys move, and the App Store reports ahead and late.
    @Test(arguments: [UInt64(1), 2, 3]) func `of a reported app follow moves, merges and erasures`(
        _ seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        var copied = try Copied {
            $0.environment = .sandbox
            $0.settings.leewayMilliseconds = 60_000
        }
        var shards = (UInt32(0)..<2).map { shard in
            (stream: copied.client.call(.copy(shard: shard, of: 2)), reader: CopyReader())
        }
        var store = ReportedStore()
        for step in 0..<100 {
            for request in store.step(&random, at: copied.world.wall) {
                copied.world.mutate(.reported(request, app: copied.world.app))
                copied.world.settle()
            }
            if random.below(3) == 0 { copied.world.advance(Int64(random.below(200_000))) }
            // By names too, which move from one account to another.
            try copied.compare(ReportedStore.accounts + ReportedStore.names, "seed \(seed), step \(step)")
            var together: [String: [CopyReader.Segment]] = [:]
            var aliases: [String: String] = [:]
            for place in shards.indices {
                try shards[place].reader.read(copied.client, shards[place].stream)
                together.merge(shards[place].reader.entries) { first, _ in first }
                for (alias, account) in shards[place].reader.aliases {
                    #expect(
                        aliases.updateValue(account, forKey: alias) == nil, "\(alias) is in both shards, seed \(seed)")
                }
            }
            #expect(together == copied.reader.entries, "shards of seed \(seed), step \(step)")
            #expect(aliases == copied.reader.aliases, "shards of seed \(seed), step \(step)")
        }
        // Both accounts of a merge are in one message.
        #expect(Set(copied.reader.revisions).count == copied.reader.revisions.count)
        #expect(copied.reader.completeCount == 1 && copied.reader.revisions.count > 20)
        copied.world.checkInvariants()
    }

    /// A name of a customer is another key of the account, for reads, watches and copies.
    @Test func `answer by a name of the customer as reads and watches do, wherever it goes`() throws {
        var copied = try Copied { $0.environment = .sandbox }
        let token = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"
        for account in ["anna", "bert"] {
            try copied.world.require(
                .grantEntitlement(GrantEntitlementRequest(account: account, name: account == "anna" ? "plus" : "news")),
                from: copied.client)
        }
        let watch = copied.client.call(.entitlementsTask(AccountWatchRequest(account: token)))
        func watched() -> [String] {
            copied.world.settle()
            guard case .entitlementsTask(let state)? = copied.client.messages(on: watch).last, let list = state.value
            else { return [] }
            return list.filter(\.isActive).map(\.name)
        }
        func name(_ account: String?) throws {
            let alias = AccountAlias.appAccountToken(token)
            copied.world.mutate(
                .reported(
                    account.map { .attach(alias, to: AccountKey(app: copied.world.app, bytes: Array($0.utf8))) }
                        ?? .detach(alias),
                    app: copied.world.app))
            try copied.compare(["anna", "bert", token], "of \(account ?? "nobody")")
            #expect(try copied.answered(token.uppercased()) == copied.answered(token))
        }
        #expect(watched() == [])
        for (account, names) in [("anna", ["plus"]), ("bert", ["news"]), (nil, []), ("anna", ["plus"])] {
            try name(account)
            #expect(watched() == names, "of \(account ?? "nobody")")
        }
        // A change of the account is one of the name.
        try copied.world.require(
            .grantEntitlement(GrantEntitlementRequest(account: "anna", name: "season")), from: copied.client)
        try copied.compare(["anna", "bert", token])
        #expect(watched() == ["plus", "season"])
        // A change by the name is one of the account.
        try copied.world.require(
            .grantEntitlement(GrantEntitlementRequest(account: token, name: "extra")), from: copied.client)
        try copied.compare(["anna", "bert", token])
        #expect(watched() == ["extra", "plus", "season"] && copied.reader.entries["anna"]?.count == 3)
        copied.world.checkInvariants()
    }

    /// The account has nothing, so copies do not have it: they would give its key what another account has.
    @Test(arguments: ["7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d", "704000000000000001"])
    func `know no name that is the key of another account`(_ name: String) throws {
        var copied = try Copied { $0.environment = .sandbox }
        let client = copied.client
        for account in ["anna", name] {
            try copied.world.require(
                .grantEntitlement(GrantEntitlementRequest(account: account, name: "plus")), from: client)
        }
        try copied.world.require(.revokeGrant(RevokeGrantRequest(account: name, name: "plus")), from: client)
        var asked = AttachAliasRequest(account: "anna")
        if name.contains("-") { asked.appAccountToken = name } else { asked.appTransactionID = name }
        let (_, status) = copied.world.answer(to: .attachAlias(asked), from: client)
        #expect(status?.reason == "OWNED_BY_OTHER" && status?.message.contains("perch account merge") == true)
        try copied.compare(["anna", name])
        // The next step that the refusal names.
        try copied.world.require(
            .mergeAccounts(MergeAccountsRequest(account: name, intoAccount: "anna")), from: client)
        try copied.world.require(.attachAlias(asked), from: client)
        try copied.compare(["anna", name])
        #expect(copied.reader.entries.keys.sorted() == [name] && copied.reader.aliases["anna"] == name)
        copied.world.checkInvariants()
    }

    /// The bytes that the aim counts: keys of 15 bytes, one name, no alias.
    @Test func `take few bytes`() throws {
        var columns: [Int] = []
        for count in [100, 200] {
            let copied = try Copied({ _ in }, nil)
            for number in 0..<count {
                let digits = String(number)
                let key = "customer-" + String(repeating: "0", count: 6 - digits.count) + digits
                try copied.world.buy("lifetime", key, from: copied.client)
            }
            let stream = copied.client.call(.copy())
            copied.world.settle()
            let codec = MessageCodec()
            let bytes = try copied.client.messages(on: stream).map { try codec.encode($0).message.count }.reduce(0, +)
            columns.append(bytes)
        }
        #expect(columns[1] - columns[0] <= 100 * 40, "\(columns)")
    }
}

/// What an App Store reports of some customers, and what administrators do with their accounts.
private struct ReportedStore {
    static let accounts = (0..<6).map { "customer-\($0)" }
    /// Apple's numbers of customers.
    static let names = (0..<4).map { "n\($0)" }

    private var nextID: TransactionID = 100
    /// The newest period of each line.
    private var lines: [Transaction] = []
    private var stamps: Int64 = 0

    mutating func step(_ random: inout SeededRandom, at now: Instant) -> [ReportedRequest] {
        self.stamps += 1
        let account = Self.key(random.element(Self.accounts))
        switch random.below(13) {
        case 0, 1: return [self.bought(random.element(["gold", "silver", "weekly"]), account, now)]
        case 2: return [self.bought(random.element(["lifetime", "season"]), account, now)]
        case 3, 4:
            guard let place = self.lines.indices.randomElement(using: &random) else { return [] }
            return [self.renewed(place, now)]
        case 5:
            guard let line = self.lines.randomElement(using: &random), let end = line.expirationDate else { return [] }
            return [self.reported(line, end, grace: random.optional { Int64($0.below(300_000)) }, random.bool(), now)]
        case 6:
            guard let place = self.lines.indices.randomElement(using: &random) else { return [] }
            self.lines[place].revocation = Revocation(
                date: now.advanced(byMilliseconds: Int64(random.below(100_000))), reason: .other, type: .refundFull)
            return [self.reports([self.lines[place]], nil, now)]
        case 7:
            let until = random.optional { now.advanced(byMilliseconds: 1_000 + Int64($0.below(200_000))) }
            let grant = EntitlementGrant(
                name: random.element(["plus", "extra"]), until: until, reason: "", since: now,
                tier: random.element(["", "gold"]))
            return [.grant(grant, to: account)]
        case 8: return [.attach(.appTransactionID(random.element(Self.names)), to: account)]
        case 9: return [.merge(account, into: Self.key(random.element(Self.accounts)))]
        // What a name owns goes with the name.
        case 10: return [self.bought("lifetime", nil, now, name: random.element(Self.names))]
        case 11: return [.detach(.appTransactionID(random.element(Self.names)))]
        default: return random.below(3) == 0 ? [.erase(account)] : []
        }
    }

    private static func key(_ account: String) -> AccountKey { AccountKey(app: 1, bytes: Array(account.utf8)) }

    private mutating func bought(
        _ product: String, _ account: AccountKey?, _ now: Instant, name: String? = nil
    ) -> ReportedRequest {
        let isLine = ["gold", "silver", "weekly"].contains(product)
        self.nextID += 100
        var transaction = Transaction(
            id: self.nextID, originalID: self.nextID, appBundleID: TestShop.bundleID, productID: product,
            productType: isLine ? .autoRenewable : product == "season" ? .nonRenewable : .nonConsumable,
            purchaseDate: now, originalPurchaseDate: now, environment: .sandbox,
            storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: now)
        transaction.appTransactionID = name ?? ""
        if isLine {
            transaction.subscriptionGroupID = product == "weekly" ? "news" : "plans"
            transaction.webOrderLineItemID = "w\(self.nextID)"
            transaction.expirationDate = now.advanced(byMilliseconds: 300_000)
            self.lines.append(transaction)
        }
        return self.reports([transaction], account, now)
    }

    /// The next period, which begins where the last one ends: perhaps later than now.
    private mutating func renewed(_ place: Int, _ now: Instant) -> ReportedRequest {
        var next = self.lines[place]
        next.id += 1
        next.revocation = nil
        next.purchaseDate = next.expirationDate ?? now
        next.expirationDate = next.purchaseDate.advanced(byMilliseconds: 300_000)
        next.webOrderLineItemID = "w\(next.id)"
        self.lines[place] = next
        return self.reports([next], nil, now)
    }

    private func reported(
        _ line: Transaction, _ end: Instant, grace: Int64?, _ renews: Bool, _ now: Instant
    ) -> ReportedRequest {
        var info = RenewalInfo(
            originalTransactionID: line.originalID, currentProductID: line.productID, willAutoRenew: renews,
            renewalDate: end, recentSubscriptionStartDate: line.originalPurchaseDate, environment: .sandbox,
            signedDate: now.advanced(byMilliseconds: self.stamps))
        info.isInBillingRetry = grace != nil
        info.gracePeriodExpirationDate = grace.map { end.advanced(byMilliseconds: $0) }
        return .reports([.renewal(info, renewalDate: end, content: .zero)], source: .notification, claimant: nil)
    }

    private func reports(_ transactions: [Transaction], _ account: AccountKey?, _ now: Instant) -> ReportedRequest {
        .reports(
            transactions.map { transaction in
                var signed = transaction
                signed.signedDate = now.advanced(byMilliseconds: self.stamps)
                return .transaction(signed, content: .zero)
            }, source: account == nil ? .notification : .submission, claimant: account)
    }
}
