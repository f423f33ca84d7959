import Glibc
import PerchBase
import PerchCatalogue
import PerchJSON
import PerchModel
import Testing

/// The business models of the example applications: what their named entitlements say, told by the App Store.
@Suite struct `an example application` {
    private static let now = Instant(milliseconds: 1_800_000_000_000)
    private static let day: Int64 = 86_400_000

    private static func file(_ name: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
        let file = try #require(fopen("\(root)/Examples/\(name)", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    private static func app(_ name: String, environment: AppEnvironment = .production) throws -> AppState {
        let loaded = try StoreKitFile.load(
            try Self.file("\(name).storekit"), entitlements: try Self.file("\(name).entitlements.json"))
        return AppState(
            number: 1, bundleID: "com.example.app", environment: environment, revision: 1, effective: .distantPast,
            committed: .distantPast, catalogue: loaded.catalogue, catalogueRevision: 1, catalogueSource: name,
            settings: AppSettings(), clock: .running(offsetMilliseconds: 0))
    }

    /// What an account was told.
    private struct Account {
        var app: AppState
        var record = AccountRecord(account: 1, app: 1)
        var next: TransactionID = 1

        init(_ app: AppState) { self.app = app }

        mutating func bought(
            _ product: String, of original: TransactionID? = nil, daysAgo: Int64 = 1, revoked: Bool = false,
            isShared: Bool = false
        ) throws {
            let found = try #require(self.app.catalogue.product(product))
            let begin = now.advanced(byMilliseconds: -daysAgo * day)
            var transaction = Transaction(
                id: self.next, originalID: original ?? self.next, appBundleID: "com.example.app", productID: product,
                productType: found.type, purchaseDate: begin, originalPurchaseDate: begin, environment: .production,
                storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: begin)
            self.next += 1
            if let subscription = found.subscription {
                transaction.subscriptionGroupID = subscription.groupID
                transaction.expirationDate = TimeRate.realTime.end(
                    of: subscription.period, from: begin, anchorDay: CivilTime(begin).day)
                transaction.webOrderLineItemID = "w\(transaction.id)"
            }
            if isShared { transaction.ownership = .familyShared }
            if revoked {
                transaction.revocation = Revocation(date: begin, reason: .other, type: .refundFull)
                transaction.signedDate = now
                transaction.id -= 1
                transaction.originalID = transaction.id
            }
            self.tell(.transaction(Self.report(transaction)))
        }

        static func report(_ transaction: Transaction) -> ReportedTransaction {
            ReportedTransaction(
                reported: transaction, content: Digest(high: transaction.id, low: 1), shown: transaction,
                kind: .purchased)
        }

        mutating func reported(renewalOf original: TransactionID, _ change: (inout RenewalInfo) -> Void) throws {
            let line = try #require(self.record.reported?.original(original)?.head(at: now))
            let end = try #require(line.expirationDate)
            var info = RenewalInfo(
                originalTransactionID: original, currentProductID: line.productID, willAutoRenew: true,
                renewalDate: end, recentSubscriptionStartDate: line.purchaseDate, environment: .production,
                signedDate: now)
            change(&info)
            self.tell(.renewal(info, renewalDate: end, content: Digest(high: original, low: 2)))
        }

        mutating func tell(_ fact: ReportedFact) { self.record.apply(Fact(.reported(fact), effective: now)) }

        func named(_ name: String, at instant: Instant = now) -> NamedEntitlement? {
            namedEntitlements(of: self.record, app: self.app, at: instant).value.first { $0.name == name }
        }
    }

    @Test func `Songs: a bought song is there for ever, and a refund takes it away`() throws {
        var account = Account(try Self.app("songs"))
        #expect(account.named("drunk")?.isActive == false && account.named("drunk")?.reason == "never")
        try account.bought("com.meet.storekit.for.swiftui.drunk")
        let song = try #require(account.named("drunk"))
        #expect(song.isActive && song.isLifetime && song.until == nil && song.origin == .store)
        #expect(account.named("cold-winter")?.isActive == false)
        try account.bought("com.meet.storekit.for.swiftui.drunk", revoked: true)
        #expect(account.named("drunk")?.isActive == false)
    }

    @Test func `Backyard Birds: the highest level of service wins, own or shared`() throws {
        var account = Account(try Self.app("backyard-birds"))
        try account.bought("pass.individual")
        #expect(account.named("pass")?.tier == "individual" && account.named("pass")?.willRenew == true)
        try account.bought("pass.premium", daysAgo: 20, isShared: true)
        #expect(account.named("pass")?.tier == "premium", "although the own one ends later")
        #expect(account.named("pass")?.ownership == .familyShared)
        // Food is an inventory, not an entitlement.
        try account.bought("pellet.box")
        #expect(namedEntitlements(of: account.record, app: account.app, at: Self.now).value.map(\.name) == ["pass"])
    }

    @Test func `Flower Movie: grace counts, retry does not, and the plan stands beside it`() throws {
        var account = Account(try Self.app("flower-movie"))
        try account.bought("com.pass.monthly", daysAgo: 40)
        #expect(account.named("movies")?.isActive == false, "the news did not come within the leeway")
        try account.reported(renewalOf: 1) {
            $0.isInBillingRetry = true
            $0.gracePeriodExpirationDate = Self.now.advanced(byMilliseconds: Self.day)
        }
        let grace = try #require(account.named("movies"))
        #expect(grace.isActive && grace.state == .inGracePeriod && grace.tier == "monthly")
        #expect(grace.until == Self.now.advanced(byMilliseconds: Self.day))
        let after = try #require(account.named("movies", at: Self.now.advanced(byMilliseconds: Self.day)))
        #expect(!after.isActive && after.state == .inBillingRetryPeriod && !after.willRenew)
        // An upgrade to the year.
        try account.bought("com.pass.yearly", of: 1, daysAgo: 0)
        #expect(account.named("movies")?.tier == "yearly")
    }

    @Test func `Destination Video: premium or basic, by level`() throws {
        var account = Account(try Self.app("destination-video", environment: .sandbox))
        try account.bought("video.basic.yearly")
        #expect(account.named("watch")?.tier == "basic" && account.named("watch")?.isSandbox == true)
        try account.bought("video.premium.monthly", of: 1, daysAgo: 0)
        #expect(account.named("watch")?.tier == "premium")
    }

    @Test func `a grant entitles beside purchases, and never hides a better one`() throws {
        var account = Account(try Self.app("destination-video"))
        let week = Self.now.advanced(byMilliseconds: 7 * Self.day)
        account.tell(.granted(EntitlementGrant(name: "watch", until: week, reason: "sorry", since: Self.now)))
        account.tell(.granted(EntitlementGrant(name: "press", until: nil, reason: "", since: Self.now)))
        let granted = try #require(account.named("watch"))
        #expect(granted.isActive && granted.origin == .grant && granted.until == week && granted.reason == "granted")
        #expect(account.named("press")?.isLifetime == true, "a name that no file has")
        #expect(account.named("watch", at: week)?.isActive == false)
        #expect(namedEntitlements(of: account.record, app: account.app, at: Self.now).nextCrossing == week)
        try account.bought("video.basic.monthly")
        #expect(account.named("watch")?.origin == .store, "it ends later")
        account.tell(.grantEnded(name: "press"))
        #expect(account.named("press") == nil)
    }

    @Test(arguments: [
        "[]", "{}", #"{"entitlements":[{"name":"","from":[{"product":"com.pass.yearly"}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[]}]}"#, #"{"entitlements":[{"name":"a","from":[{}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"product":"none"}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"none"}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"506F71A6","level":0}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"506F71A6","level":2}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"506F71A6","level":"1"}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"506F71A6","level":4294967297}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"506F71A6","product":"com.pass.yearly"}]}]}"#,
        #"{"entitlements":[{"name":"a","from":[{"group":"506F71A6"}]},{"name":"a","from":[{"group":"506F71A6"}]}]}"#,
    ])
    func `a file that is probably mistaken is refused`(_ text: String) throws {
        let catalogue = try Self.file("flower-movie.storekit")
        #expect(throws: CatalogueError.self) { try StoreKitFile.load(catalogue, entitlements: Array(text.utf8)) }
    }

    @Test func `a level that no product has is named with its group`() throws {
        let catalogue = try Self.file("flower-movie.storekit")
        let text = #"{"entitlements":[{"name":"plus","from":[{"group":"506F71A6","level":7}]}]}"#
        let error = #expect(throws: CatalogueError.self) {
            try StoreKitFile.load(catalogue, entitlements: Array(text.utf8))
        }
        let message = try #require(error).description
        #expect(message.contains("plus") && message.contains("level 7") && message.contains("506F71A6"), "\(message)")
    }

    @Test(
        arguments: [
            ("{\n  \"entitlements\": [\n    {\"name\": \"a\",\n     \"from\": [{\"product\": \"none\"}]}]}", 4, 27),
            ("{\n  \"entitlements\": 7}", 2, 19), ("\n{", 2, 2), ("", 1, 1),
            ("{\"entitlements\":[\n{\"name\":\"a\",\n\"from\":[]}]}", 3, 8),
        ] as [(String, UInt32, UInt32)])
    func `a mistake has its place in the file of entitlements`(_ text: String, _ line: UInt32, _ column: UInt32) throws
    {
        let catalogue = try Self.file("flower-movie.storekit")
        let error = #expect(throws: CatalogueError.self) {
            try StoreKitFile.load(catalogue, entitlements: Array(text.utf8))
        }
        let found = try #require(error)
        #expect(found.isOfEntitlements && found.reason == .badEntitlement)
        #expect(found.place == JSONPlace(line: line, column: column), "\(found)")
        #expect(throws: CatalogueError.self) { try StoreKitFile.load(Array("{".utf8)) }
    }
}
