import PerchBase
import PerchStore
import Testing

@testable import PerchTwin

@Suite struct `endpoints of the twin` {
    @Test(arguments: [
        ("GET", "/inApps/v1/transactions/12", TwinEndpoint.transactionInfo("12")),
        ("GET", "/inApps/v1/transactions/appTransactions/12", .appTransaction("12")),
        ("POST", "/inApps/v1/transactions/12/finish", .finish("12")),
        ("PUT", "/inApps/v1/transactions/consumption/12", .consumption("12", version: 1)),
        ("PUT", "/inApps/v2/transactions/consumption/12", .consumption("12", version: 2)),
        ("PUT", "/inApps/v1/transactions/12/appAccountToken", .accountToken("12")),
        ("GET", "/inApps/v1/history/12", .transactionHistory("12", version: 1)),
        ("GET", "/inApps/v2/history/12", .transactionHistory("12", version: 2)),
        ("GET", "/inApps/v1/subscriptions/12", .subscriptionStatuses("12")),
        ("PUT", "/inApps/v1/subscriptions/extend/12", .extend("12")),
        ("POST", "/inApps/v1/subscriptions/extend/mass", .extendAll),
        ("GET", "/inApps/v1/subscriptions/extend/mass/a.b/r", .extendedAll(product: "a.b", request: "r")),
        ("GET", "/inApps/v2/refund/lookup/12", .refundHistory("12")),
        ("GET", "/inApps/v1/lookup/MT12", .orderLookup("MT12")),
        ("POST", "/inApps/v1/notifications/history", .notificationHistory),
        ("POST", "/inApps/v1/notifications/test", .requestTest),
        ("GET", "/inApps/v1/notifications/test/a", .testStatus("a")),
        ("PUT", "/inApps/v1/messaging/image/a", .messaging(.uploadImage("a"))),
        ("GET", "/inApps/v1/messaging/image/list", .messaging(.images)),
        ("PUT", "/inApps/v1/messaging/message/a", .messaging(.uploadMessage("a"))),
        ("GET", "/inApps/v1/messaging/message/list", .messaging(.messages)),
        ("PUT", "/inApps/v1/messaging/default/p/en-US", .messaging(.setDefault(product: "p", locale: "en-US"))),
        ("GET", "/inApps/v1/messaging/default/p/en-US", .messaging(.defaultMessage(product: "p", locale: "en-US"))),
        ("PUT", "/inApps/v1/messaging/realtime/url", .messaging(.setRealtimeURL)),
        ("GET", "/inApps/v1/messaging/realtime/url", .messaging(.realtimeURL)),
        ("POST", "/inApps/v1/messaging/performanceTest", .messaging(.beginTest)),
        ("GET", "/inApps/v1/messaging/performanceTest/result/a", .messaging(.testResult("a"))),
    ])
    func `are those of Apple`(_ method: String, _ path: String, _ endpoint: TwinEndpoint) {
        #expect(TwinEndpoint(method: method, path: path) == endpoint)
        #expect(TwinEndpoint(method: "PATCH", path: path) == nil)
        #expect(TwinEndpoint(method: method, path: path + "/more") == nil)
        #expect(TwinEndpoint(method: method, path: "/x" + path) == nil)
    }

    @Test func `know no other path`() {
        for path in ["", "/", "/inApps", "/inApps/v1/transactions", "/inApps/v3/history/1", "/metrics"] {
            #expect(TwinEndpoint(method: "GET", path: path) == nil)
        }
    }
}

@Suite struct `rates of the twin` {
    private let rate = TwinRate("x", 10)

    private func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000).advanced(byMilliseconds: milliseconds)
    }

    /// A request that is allowed, or has to wait for so many milliseconds.
    private func expect(
        _ wait: Int64?, _ rates: inout TwinRates, _ app: String, _ host: TwinHost, _ rate: TwinRate, at moment: Int64
    ) {
        let found = rates.take(app, host, rate, now: self.at(moment))
        #expect(found == wait)
    }

    @Test func `allow ten seconds at once, then a request each tenth of a second`() {
        var rates = TwinRates()
        for _ in 0..<100 { self.expect(nil, &rates, "a", .local, self.rate, at: 0) }
        self.expect(100, &rates, "a", .local, self.rate, at: 0)
        self.expect(40, &rates, "a", .local, self.rate, at: 60)
        self.expect(nil, &rates, "a", .local, self.rate, at: 100)
        self.expect(100, &rates, "a", .local, self.rate, at: 100)
        self.expect(nil, &rates, "b", .local, self.rate, at: 100)
        self.expect(nil, &rates, "a", .local, TwinRate("y", 10), at: 100)
    }

    @Test func `are a tenth in the sandbox`() {
        var rates = TwinRates()
        for _ in 0..<10 { self.expect(nil, &rates, "a", .sandbox, self.rate, at: 0) }
        self.expect(1_000, &rates, "a", .sandbox, self.rate, at: 0)
        self.expect(nil, &rates, "a", .local, self.rate, at: 0)
    }

    /// Whoever asks often gets no more, and loses nothing by asking.
    @Test func `count each moment once`() {
        var (rates, taken) = (TwinRates(), 0)
        for millisecond in Int64(0)...10_000
        where rates.take("a", .sandbox, self.rate, now: self.at(millisecond)) == nil {
            taken += 1
        }
        #expect(taken == 20)
        for _ in 0..<10 { _ = rates.take("a", .sandbox, self.rate, now: self.at(10_000_000_000)) }
        self.expect(1_000, &rates, "a", .sandbox, self.rate, at: 10_000_000_000)
    }
}

@Suite struct `pages of the twin` {
    private func request(_ query: [(String, String)]) -> TwinRequest {
        var request = TwinRequest(method: "GET", path: "/", host: .local)
        request.query = query.map { TwinRequest.Field(name: $0.0, value: $0.1) }
        return request
    }

    @Test func `have tokens that belong to their query`() throws {
        let asked = [("productId", "a"), ("productId", "b")]
        let first = try PageRequest(self.request(asked), kind: "h2", customer: 1, isDescending: false)
        #expect(first.after == nil)
        let place = PageRequest.Place(place: EventPlace(revision: 7, ordinal: 3), id: 9)
        let token = first.token(after: place)
        let next = try PageRequest(
            self.request(asked.reversed() + [("revision", token)]), kind: "h2", customer: 1, isDescending: false)
        #expect(next.after?.place == place.place && next.after?.id == 9)
        for (query, kind) in [([("productId", "a")], "h2"), (asked, "h1")] {
            #expect(throws: TwinError.invalidRevision) {
                try PageRequest(
                    self.request(query + [("revision", token)]), kind: kind, customer: 1, isDescending: false)
            }
        }
        for wrong in ["x", "_____", token + "0x", String(repeating: "a", count: 101)] {
            #expect(throws: TwinError.invalidRevision) {
                try PageRequest(
                    self.request(asked + [("revision", wrong)]), kind: "h2", customer: 1, isDescending: false)
            }
        }
    }

    @Test(arguments: [
        ("sort", "UP", TwinError.invalidSort), ("startDate", "x", .invalidStart), ("startDate", "-1", .invalidStart),
        ("endDate", "1.5", .invalidEnd), ("productId", "", .invalidProductID),
        ("productType", "BOOK", .invalidProductType),
        ("subscriptionGroupIdentifier", "", .invalidGroupID), ("inAppOwnershipType", "MINE", .invalidOwnership),
        ("revoked", "maybe", .invalidRevoked),
    ])
    func `refuse a filter by its field`(_ name: String, _ value: String, _ error: TwinError) {
        #expect(throws: error) { try TransactionFilter(self.request([(name, value)]), version: 2) }
    }

    @Test func `refuse a range that is empty`() {
        #expect(throws: TwinError.startAfterEnd) {
            try TransactionFilter(self.request([("startDate", "5"), ("endDate", "5")]), version: 2)
        }
    }
}

@Suite struct `images for retention messages` {
    /// The beginning of a PNG: its size and colour, and the names of the chunks behind.
    private func png(_ width: UInt32, _ height: UInt32, colour: UInt8 = 2, chunks: [String] = ["IDAT"]) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let head = bytes(13) + Array("IHDR".utf8) + bytes(width) + bytes(height) + [8, colour, 0, 0, 0] + bytes(0)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + head
            + chunks.flatMap { bytes(1) + Array($0.utf8) + [0] + bytes(0) }
    }

    @Test func `have Apple's sizes and no transparency`() {
        #expect(ImageSize.full.fits(self.png(3_840, 2_160)) && ImageSize.full.fits(self.png(3_840, 160, colour: 3)))
        #expect(ImageSize.bulletPoint.fits(self.png(64, 64)))
        for wrong in [
            self.png(3_839, 2_160), self.png(3_840, 2_161), self.png(3_840, 159), self.png(3_840, 2_160, colour: 6),
            self.png(3_840, 2_160, colour: 3, chunks: ["PLTE", "tRNS", "IDAT"]), Array("GIF89a".utf8), [],
            Array(self.png(3_840, 2_160).prefix(32)),
        ] { #expect(!ImageSize.full.fits(wrong)) }
        #expect(!ImageSize.bulletPoint.fits(self.png(0, 64)))
    }
}
