import CPerchProto
import PerchBase
import PerchModel
import Testing

@testable import PerchWire

/// Compares the hand-written codec of the push path with protobuf-c.
@Suite struct `the push path's own writer and reader` {
    private let codec = MessageCodec()

    /// Each of them empties a field, so that omitted fields are tried too.
    private static let emptyings: [@Sendable (inout Verified<Transaction>) -> Void] = [
        { $0.jws = "" }, { $0.failure = .noFailure }, { $0.value.id = 0 }, { $0.value.originalID = 0 },
        { $0.value.webOrderLineItemID = "" }, { $0.value.appBundleID = "" }, { $0.value.appTransactionID = "" },
        { $0.value.productID = "" }, { $0.value.productType = .unspecified }, { $0.value.subscriptionGroupID = "" },
        { $0.value.purchaseDate.milliseconds = 0 }, { $0.value.originalPurchaseDate.milliseconds = -1 },
        { $0.value.expirationDate = nil }, { $0.value.expirationDate = Instant(milliseconds: 0) },
        { $0.value.quantity = 0 }, { $0.value.isUpgraded = false }, { $0.value.ownership = .unspecified },
        { $0.value.offer = nil }, { $0.value.offer?.period = nil }, { $0.value.offer?.id = "" },
        { $0.value.revocation = nil }, { $0.value.revocation?.percentageMilli = 0 },
        { $0.value.appAccountToken = "" }, { $0.value.environment = .unspecified },
        { $0.value.storefront = Storefront(countryCode: "") }, { $0.value.storefront.id = "" },
        { $0.value.reason = TransactionReason(rawValue: -3) }, { $0.value.price = nil },
        { $0.value.price = Money(milliunits: 0, currency: "") }, { $0.value.signedDate.milliseconds = 0 },
        { $0.value.deviceVerification = [] }, { $0.value.deviceVerificationNonce = "" },
        { $0.value.billingPlan = .unspecified }, { $0.value.commitment = nil },
        { $0.value.commitment?.price = Money(milliunits: 0, currency: "") },
        { $0.value.commitment?.willRenew = false }, { $0.value.advancedCommerceInfo = [] },
        { $0.value.productID = "cut\0short" }, { $0.value.productID = "\0" },
        { $0.value.appBundleID = String(repeating: "long", count: 3_000) },
        { $0.value = Transaction.blank },
    ]

    private static func transaction(_ samples: inout Samples) -> Verified<Transaction> {
        var transaction = samples.verified()
        for _ in 0..<Int.random(in: 0...12, using: &samples) {
            Self.emptyings.randomElement(using: &samples)!(&transaction)
        }
        return transaction
    }

    private static func info(_ samples: inout Samples) -> ValueInfo {
        var info = samples.info()
        switch samples.next() % 6 {
        case 0: info = ValueInfo()
        case 1: info.forecast = nil
        case 2: info.token = []
        case 3: info.position = Position(revision: 0, asOf: Instant(milliseconds: 0))
        case 4: info.forecast?.state = .expired
        default: break
        }
        return info
    }

    private static func statuses(_ samples: inout Samples) -> SubscriptionStatuses {
        var statuses = samples.statuses()
        if samples.next() % 8 == 0 { statuses.statuses = [] }
        for index in statuses.statuses.indices {
            statuses.statuses[index].transaction = Self.transaction(&samples)
            switch samples.next() % 8 {
            case 0: statuses.statuses[index].renewalInfo = Verified(.blank)
            case 1: statuses.statuses[index].renewalInfo.value.eligibleWinBackOfferIDs = ["", "a", ""]
            case 2: statuses.statuses[index].renewalInfo.value.gracePeriodExpirationDate = Instant(milliseconds: 0)
            case 3: statuses.statuses[index].renewalInfo.value.autoRenewPreference = ""
            case 4: statuses.statuses[index].renewalInfo.value.commitment = nil
            case 5: statuses.statuses[index].renewalInfo.value.offer = nil
            default: break
            }
        }
        if samples.next() % 2 == 0 { statuses.effectiveIndex = samples.next() % 2 == 0 ? nil : 0 }
        return statuses
    }

    @Test func `values are written byte for byte as protobuf-c writes them`() throws {
        for seed in 1...400 {
            var samples = Samples(seed: UInt64(seed))
            let (statuses, info) = (Self.statuses(&samples), Self.info(&samples))
            #expect(
                [UInt8](try self.codec.encodeStatuses(statuses, info).prefixed)
                    == [UInt8](
                        try self.codec.encode(Response.subscriptionStatusTask(.success(statuses, info))).prefixed),
                "seed \(seed)")
            for value in [Self.transaction(&samples), nil] {
                #expect(
                    [UInt8](try self.codec.encodeEntitlement(value, info).prefixed)
                        == [UInt8](
                            try self.codec.encode(Response.currentEntitlementTask(.success(value, info))).prefixed),
                    "seed \(seed)")
            }
        }
    }

    @Test func `answers and beats are written byte for byte as protobuf-c writes them`() throws {
        let arena = self.codec.arena
        for seed in 1...200 {
            var samples = Samples(seed: UInt64(seed))
            let transaction = samples.next() % 4 == 0 ? nil : Self.transaction(&samples)
            let position = samples.next() % 4 == 0 ? nil : samples.position()
            let operated = OperateResponse(
                position: position, transaction: transaction, purchaseResult: samples.value(),
                wasHeld: samples.next() % 2 == 0, number: samples.next() % 2)
            #expect(
                [UInt8](try self.codec.encode(.operate(operated)).message)
                    == [UInt8](
                        try self.codec.pack(Perch__V1__OperateResponse.self) { operated.write(to: $0, arena) }.message),
                "seed \(seed)")
            var bought = PurchaseResponse(position: position, result: samples.value())
            (bought.transaction, bought.wasHeld) = (transaction, samples.next() % 2 == 0)
            bought.pendingNumber = samples.next() % 2
            #expect(
                [UInt8](try self.codec.encode(.purchase(bought)).message)
                    == [UInt8](
                        try self.codec.pack(Perch__V1__PurchaseResponse.self) { bought.write(to: $0, arena) }.message),
                "seed \(seed)")
            let beat = Beat(revision: samples.next() % 3, serverTime: samples.instant())
            #expect(
                [UInt8](try self.codec.encode(beat).message)
                    == [UInt8](try self.codec.pack(Perch__Wire__V1__Beat.self) { beat.write(to: $0, arena) }.message),
                "seed \(seed)")
        }
    }

    @Test func `digests are those of the messages that protobuf-c packs`() {
        let arena = self.codec.arena
        for seed in 1...200 {
            var samples = Samples(seed: UInt64(seed))
            let (statuses, transaction) = (Self.statuses(&samples), Self.transaction(&samples))
            #expect(
                self.codec.digest(of: statuses)
                    == self.codec.digest(Perch__V1__SubscriptionStatuses.self) { statuses.write(to: $0, arena) },
                "seed \(seed)")
            // A verified transaction without rare fields is digested by its fields: see `SaleBytesTests`.
            if transaction.failure == .noFailure, transaction.value.contents.fields.rare == nil { continue }
            #expect(
                self.codec.digest(of: transaction)
                    == self.codec.digest(Perch__V1__CurrentEntitlement.self) { message in
                        message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
                    }, "seed \(seed)")
        }
    }

    /// The second and third time are copies; transactions with equal IDs replace each other.
    @Test func `a transaction that was written before is written as it was the first time`() throws {
        let remembering = MessageCodec(serves: true)
        for seed in 1...100 {
            var samples = Samples(seed: UInt64(seed))
            let info = Self.info(&samples)
            var transactions = (0..<6).map { _ in Self.transaction(&samples) }
            for index in transactions.indices { transactions[index].value.id = UInt64(index % 3) + 512 }
            for round in 0..<12 {
                let value = transactions[Int(samples.next() % 6)]
                let what = "seed \(seed), round \(round)"
                if samples.next() % 2 == 0 {
                    #expect(remembering.digest(of: value) == self.codec.digest(of: value), "\(what)")
                }
                let answer = OperateResponse(transaction: value, number: UInt64(round))
                #expect(
                    [UInt8](try remembering.encode(answer).message) == [UInt8](try self.codec.encode(answer).message),
                    "\(what)")
                #expect(
                    [UInt8](try remembering.encodeEntitlement(value, info).message)
                        == [UInt8](try self.codec.encodeEntitlement(value, info).message), "\(what)")
            }
        }
    }

    @Test func `a token is written in its place as its bytes are`() throws {
        for seed in 1...50 {
            var samples = Samples(seed: UInt64(seed))
            let (statuses, value) = (Self.statuses(&samples), Self.transaction(&samples))
            let token = ResumeToken(
                store: StoreIdentity(high: samples.next(), low: 1), epoch: UInt32(seed), app: 7,
                view: Digest(high: samples.next(), low: samples.next()), position: samples.position(),
                digest: Digest(high: 0, low: samples.next()))
            var info = Self.info(&samples)
            info.token = []
            var whole = info
            whole.token = token.bytes
            #expect(
                [UInt8](try self.codec.encodeEntitlement(value, info, token: token).message)
                    == [UInt8](try self.codec.encodeEntitlement(value, whole).message), "seed \(seed)")
            #expect(
                [UInt8](try self.codec.encodeStatuses(statuses, info, token: token).message)
                    == [UInt8](try self.codec.encodeStatuses(statuses, whole).message), "seed \(seed)")
        }
    }

    @Test func `a number of any length is written as protobuf-c writes it`() throws {
        let arena = self.codec.arena
        for shift in 0..<64 as Range<UInt64> {
            for offset in [UInt64.max, 0, 1] {
                let beat = Beat(revision: (1 << shift) &+ offset, serverTime: Instant(milliseconds: Int64(shift)))
                #expect(
                    [UInt8](try self.codec.encode(beat).message)
                        == [UInt8](
                            try self.codec.pack(Perch__Wire__V1__Beat.self) { beat.write(to: $0, arena) }.message),
                    "2^\(shift)")
            }
        }
    }

    @Test func `a value over the limit of a frame is refused by its size`() {
        var samples = Samples(seed: 1)
        var transaction = samples.verified()
        transaction.jws = String(repeating: "x", count: Limits.frameBytesMax + 1)
        #expect(throws: MessageError.self) { try self.codec.encodeEntitlement(transaction, ValueInfo()) }
        transaction.jws = ""
        #expect(throws: Never.self) { try self.codec.encodeEntitlement(transaction, ValueInfo()) }
    }

    // MARK: Reading

    /// Orders as callers write them, and everything else that the same methods can be asked.
    private static func requests(_ samples: inout Samples) -> [Request] {
        let order = PurchaseOrder(
            productID: samples.text(), quantity: samples.next() % 3 == 0 ? 0 : 1,
            appAccountToken: samples.next() % 2 == 0 ? "" : samples.text())
        let app =
            samples.next() % 2 == 0 ? AppReference() : AppReference(bundleID: "com.example.a", environment: .xcode)
        return [
            .operate(OperateRequest(app: app, account: samples.text(), operation: .buy(order))),
            .purchase(PurchaseRequest(app: app, account: samples.text(), order: order)),
            .currentEntitlementTask(CurrentEntitlementRequest(app: app, account: samples.text(), productID: "p")),
            samples.request(.operate), samples.request(.purchase), samples.request(.currentEntitlementTask),
        ]
    }

    /// The general way's result for the bytes; nil if it refuses them.
    private func longWay(_ method: PerchWire.Method, _ bytes: [UInt8]) -> Request? {
        do {
            switch method {
            case .operate:
                return .operate(
                    try OperateRequest(try self.codec.request(Perch__V1__OperateRequest.self, bytes.span.bytes)))
            case .purchase:
                return .purchase(
                    PurchaseRequest(try self.codec.request(Perch__V1__PurchaseRequest.self, bytes.span.bytes)))
            default:
                return .currentEntitlementTask(
                    CurrentEntitlementRequest(
                        try self.codec.request(Perch__V1__CurrentEntitlementTaskRequest.self, bytes.span.bytes)))
            }
        } catch {
            return nil
        }
    }

    private static func quickWay(
        _ method: PerchWire.Method, _ bytes: [UInt8], names: RecentTexts? = nil
    ) -> Request? {
        bytes.withUnsafeBytes { buffer in
            switch method {
            case .operate: QuickReader.operateRequest(buffer, names: names).map { .operate($0) }
            case .purchase: QuickReader.purchaseRequest(buffer, names: names).map { .purchase($0) }
            default: QuickReader.entitlementRequest(buffer, names: names).map { .currentEntitlementTask($0) }
            }
        }
    }

    @Test func `the quick way and the general way read the same, also of damaged bytes`() throws {
        var quick = 0
        let names = RecentTexts()
        defer { names.destroy() }
        for seed in 1...30 {
            var samples = Samples(seed: UInt64(seed))
            for request in Self.requests(&samples) {
                let bytes = [UInt8](try self.codec.encode(request).message)
                for length in 0...bytes.count {
                    let cut = Array(bytes[..<length])
                    if let read = Self.quickWay(request.method, cut, names: names) {
                        #expect(read == self.longWay(request.method, cut), "seed \(seed), cut to \(length)")
                        quick += 1
                    }
                }
                for _ in 0..<40 where !bytes.isEmpty {
                    var damaged = bytes
                    damaged[Int(samples.next() % UInt64(bytes.count))] ^= 1 << UInt8(samples.next() % 8)
                    if let read = Self.quickWay(request.method, damaged, names: names) {
                        #expect(read == self.longWay(request.method, damaged), "seed \(seed)")
                    }
                }
            }
        }
        #expect(quick > 100, "nothing is read the quick way any more")
    }

    @Test func `a name that was read lately is the same text, and one that shares its place is another`() throws {
        let names = RecentTexts()
        defer { names.destroy() }
        func read(_ text: String) -> String? { Array(text.utf8).withUnsafeBytes { names.text($0) } }
        // Equal where they are looked up by: in length, and in the first and last eight bytes.
        let twins = ["com.example.one.premium", "com.example.two.premium", "com.example.thé.premium"]
        #expect(Set(twins.map(\.utf8.count)).count == 2)
        let lengths = (0...70).map { String(repeating: "n", count: $0) }
        for text in twins + twins + lengths + twins.reversed() + lengths + ["ü", "naïve.café.crème", "a.b"] {
            #expect(read(text) == text)
            #expect(read(text) == text, "the second time")
        }
    }

    @Test func `invalid text is refused, also beside a cached one`() throws {
        let names = RecentTexts()
        defer { names.destroy() }
        let good = Array("com.example.premium".utf8)
        for place in good.indices {
            for wrong: UInt8 in [0, 0x80, 0xC0, 0xFF] {
                #expect(good.withUnsafeBytes { names.text($0) } == "com.example.premium")
                var bad = good
                bad[place] = wrong
                #expect(bad.withUnsafeBytes { names.text($0) } == nil, "0x\(String(wrong, radix: 16)) at \(place)")
            }
        }
    }

    @Test func `a greeting that is read the quick way is what the long way reads, also of damaged bytes`() throws {
        func quickWay(_ bytes: [UInt8]) -> Hello? { bytes.withUnsafeBytes { QuickReader.hello($0) } }
        func longWay(_ bytes: [UInt8]) -> Hello? {
            (try? self.codec.request(Perch__Wire__V1__Hello.self, bytes.span.bytes)).map { Hello($0) }
        }
        let hellos = [
            Hello(protocolVersion: 1), Hello(protocolVersion: 1, clientName: "load", heartbeatSeconds: 600),
            Hello(
                protocolVersion: 1, authorization: "Bearer abc", clientName: "ü", accepts: [.zlib, .identity],
                heartbeatSeconds: 10, clientID: [1, 2, 0xFF]),
            Hello(protocolVersion: 1, accepts: [Encoding](repeating: .zlib, count: 9)),
        ]
        var quick = 0
        for hello in hellos {
            let bytes = [UInt8](try self.codec.encode(hello).message)
            if quickWay(bytes) == hello { quick += 1 }
            #expect(try self.codec.decodeHello(bytes.span.bytes) == hello)
            for length in 0...bytes.count {
                let cut = Array(bytes[..<length])
                if let read = quickWay(cut) { #expect(read == longWay(cut), "cut to \(length)") }
            }
            for place in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[place] ^= 1 << UInt8(bit)
                    if let read = quickWay(damaged) { #expect(read == longWay(damaged), "byte \(place), bit \(bit)") }
                }
            }
        }
        #expect(quick == 3, "what lists nine encodings, and nothing else, is read the long way")
    }

    @Test func `an ordinary call is read the quick way, and one with metadata the long way`() throws {
        let order = OperateRequest(account: "a", operation: .buy(PurchaseOrder(productID: "p")))
        let plain = [UInt8](try self.codec.encodeCall(.operate(order), timeoutMilliseconds: 300).message)
        let call = try #require(plain.withUnsafeBytes { QuickReader.call($0) })
        #expect(try call == self.codec.decodeCall(plain.span.bytes))
        #expect(call.method == .operate && call.timeoutMilliseconds == 300)
        #expect(Self.quickWay(.operate, Array(plain[call.request])) == .operate(order))

        let metadata = [Metadata(key: "authorization", value: [1])]
        let told = [UInt8](try self.codec.encodeCall(.operate(order), metadata: metadata).message)
        #expect(told.withUnsafeBytes { QuickReader.call($0) } == nil)
        #expect(try self.codec.decodeCall(told.span.bytes).metadata == metadata)

        let unknown = [UInt8](
            try self.codec.encodeCall(
                path: "/perch.v1.TestStoreService/Operates", request: UnsafeRawBufferPointer(start: nil, count: 0)
            )
            .message)
        #expect(unknown.withUnsafeBytes { QuickReader.call($0) } == nil)
        #expect(try self.codec.decodeCall(unknown.span.bytes).method == nil)
        #expect(try self.codec.decodeCall(unknown.span.bytes).path == "/perch.v1.TestStoreService/Operates")
    }

    @Test(arguments: PerchWire.Method.allCases)
    func `every path is found among its bytes, and nothing like it`(_ method: PerchWire.Method) {
        var path = Array(method.path.utf8)
        #expect(path.withUnsafeBytes { PerchWire.Method(path: $0) } == method)
        path[2] ^= 1
        #expect(path.withUnsafeBytes { PerchWire.Method(path: $0) } == nil)
        path[2] ^= 1
        path.removeLast()
        #expect(path.withUnsafeBytes { PerchWire.Method(path: $0) } == nil)
    }
}
