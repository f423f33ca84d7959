import PerchBase
import PerchJSON
import PerchModel
import PerchTesting
import Testing

@testable import PerchApple

@Suite struct `a private authority` {
    @Test func `signs what verifies with its root alone`() throws {
        let authority = try AppleAuthority.make()
        var signer = AppleSigner(authority)
        let text = Array(signer.sign(Array(transactionJSON.utf8)).utf8)
        #expect(fault(of: text, roots: try .sandbox(further: [authority.root])) == nil)
        #expect(fault(of: text, roots: .apple) != nil)
        #expect(fault(of: text, roots: try .sandbox(further: [try AppleAuthority.make().root])) != nil)
    }

    /// A test clock may show any of these.
    @Test(arguments: [Int64(0), 1_700_000_000_000, 32_503_680_000_000, 253_402_300_798_000])
    func `is valid at any date of a test clock`(_ milliseconds: Int64) throws {
        let authority = try AppleAuthority.make()
        var signer = AppleSigner(authority)
        let text = Array(signer.sign(Array("{\"signedDate\":\(milliseconds)}".utf8)).utf8)
        #expect(fault(of: text, roots: try .sandbox(further: [authority.root])) == nil)
    }

    @Test func `is read back from its parts, and checked`() throws {
        let (one, other) = (try AppleAuthority.make(), try AppleAuthority.make())
        let again = try AppleAuthority(
            root: one.root, intermediate: one.intermediate, leaf: one.leaf, leafKey: one.leafKey)
        #expect(again.rootFingerprint == one.rootFingerprint)
        #expect(throws: AuthorityFault.noKey) {
            try AppleAuthority(root: one.root, intermediate: one.intermediate, leaf: one.leaf, leafKey: [1])
        }
        #expect(throws: AuthorityFault.chain(.signature)) {
            try AppleAuthority(
                root: one.root, intermediate: one.intermediate, leaf: one.leaf, leafKey: other.leafKey)
        }
        #expect(throws: AuthorityFault.self) {
            try AppleAuthority(
                root: other.root, intermediate: one.intermediate, leaf: one.leaf, leafKey: one.leafKey)
        }
    }

    @Test func `shows its root`() throws {
        let authority = try AppleAuthority.make()
        let lines = authority.rootPEM.split(separator: "\n")
        #expect(lines.first == "-----BEGIN CERTIFICATE-----" && lines.last == "-----END CERTIFICATE-----")
        #expect(Base64.decode(lines.dropFirst().dropLast().joined()) == authority.root)
        #expect(authority.rootFingerprint.utf8.count == 95)
    }

    @Test func `signs a value once while it is cached`() throws {
        var signer = AppleSigner(try AppleAuthority.make())
        let first = signer.sign([1])
        #expect(signer.sign([1]) == first)
        #expect(signer.signaturesMade == 1)
        #expect(signer.sign([2]) != first)
        #expect(signer.signaturesMade == 2)
    }

    @Test func `keeps what is used, however much is signed meanwhile`() throws {
        let signer = SharedAppleSigner(try AppleAuthority.make())
        let (key, began) = (Array("used".utf8), Instant(milliseconds: 1_000))
        let first = signer.sign(key, at: began) { _ in Array("{}".utf8) }
        for round in 0..<Limits.appleSignaturesKeptMax * 2 {
            if round % 100 == 0 {
                let again = signer.sign(key, at: Instant(milliseconds: 2_000)) { _ in Array("{\"later\":1}".utf8) }
                #expect(again.text == first.text && again.instant == began)
            }
            _ = signer.sign(Array("\(round)".utf8), at: began) { _ in [] }
        }
        #expect(signer.signaturesMade == UInt64(Limits.appleSignaturesKeptMax * 2 + 1))
    }

    @Test func `gives a value a wrong signature where verification is to fail`() throws {
        let authority = try AppleAuthority.make()
        let signer = SharedAppleSigner(authority)
        let roots = try TrustedRoots.sandbox(further: [authority.root])
        for value in 0..<16 {
            let signed = signer.sign([UInt8(value)], at: Instant(milliseconds: 0)) { _ in
                Array("{\"signedDate\":\(value)}".utf8)
            }
            #expect(fault(of: Array(signed.text.utf8), roots: roots) == nil)
            #expect(fault(of: Array(signed.spoiled.utf8), roots: roots) == .signature)
            #expect(signed.spoiled.utf8.count == signed.text.utf8.count)
        }
    }

    @Test func `is read back from a store's bytes, and refused when they are damaged`() throws {
        let authority = try AppleAuthority.make()
        let stored = authority.stored
        let again = try AppleAuthority(stored: stored)
        #expect(again.root == authority.root && again.leafKey == authority.leafKey)
        for count in stride(from: 0, to: stored.count, by: 7) {
            #expect(throws: AuthorityFault.self) { try AppleAuthority(stored: Array(stored.prefix(count))) }
        }
        #expect(throws: AuthorityFault.damaged) { try AppleAuthority(stored: stored + [0]) }
        #expect(throws: AuthorityFault.damaged) { try AppleAuthority(stored: stored + [0, 0]) }
    }
}

@Suite struct `a signed value of a test store` {
    /// Every field of the model comes back from the payload, except those that Apple's format does not have.
    @Test func `holds all that a transaction says`() throws {
        var random = SeededRandom(seed: 30)
        for _ in 0..<2_000 {
            var transaction = self.transaction(&random)
            let bytes = PayloadWriter.transaction(transaction)
            let payload = TransactionPayload(PayloadFields(try JSONReader.read(bytes)))
            #expect(payload.unknownFields.isEmpty && payload.mistypedFields.isEmpty)
            transaction.environment = .sandbox
            transaction.commitment?.willRenew = false
            if transaction.revocation?.type == .familyRevoke { transaction.revocation?.percentageMilli = 100_000 }
            let again = try payload.transaction()
            #expect(again == transaction)
            #expect(again.deviceVerification == transaction.deviceVerification)
            #expect(again.signedDate == transaction.signedDate)
        }
    }

    private func transaction(_ random: inout SeededRandom) -> Transaction {
        func any<Value: OpenEnumeration>(_ table: AppleNames.Table<Value>) -> Value {
            table.values[Int.random(in: table.values.indices, using: &random)]
        }
        func instant() -> Instant { Instant(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &random)) }
        func money() -> Money { Money(milliunits: Int64.random(in: 0...9_999_990, using: &random), currency: "USD") }
        var one = Transaction(
            id: UInt64.random(in: Limits.reportedTransactionIDs, using: &random),
            originalID: UInt64.random(in: 0...9, using: &random),
            appBundleID: "com.example.app", productID: "p\"\u{E9}/", productType: any(AppleNames.productType),
            purchaseDate: instant(), originalPurchaseDate: instant(), environment: .xcode,
            storefront: Storefront(countryCode: "DEU", id: Bool.random(using: &random) ? "143443" : ""),
            reason: any(AppleNames.reason), signedDate: instant())
        if one.productType == .autoRenewable || Bool.random(using: &random) { one.expirationDate = instant() }
        one.quantity = UInt32.random(in: 1...10, using: &random)
        one.isUpgraded = Bool.random(using: &random)
        one.ownership = any(AppleNames.ownership)
        if Bool.random(using: &random) { one.price = money() }
        if Bool.random(using: &random) { one.billingPlan = any(AppleNames.billingPlan) }
        if Bool.random(using: &random) {
            one.offer = TransactionOffer(
                id: Bool.random(using: &random) ? "o" : "",
                type: OfferType(rawValue: Int32.random(in: 1...5, using: &random)),
                paymentMode: any(AppleNames.payment), period: Bool.random(using: &random) ? Period(3, .month) : nil)
        }
        if Bool.random(using: &random) {
            one.revocation = Revocation(
                date: instant(), reason: Bool.random(using: &random) ? .other : .developerIssue,
                type: any(AppleNames.revocation), percentageMilli: UInt32.random(in: 0...100_000, using: &random))
        }
        if Bool.random(using: &random), one.price != nil {
            one.commitment = Commitment(
                billingPeriodNumber: 1, totalBillingPeriods: 12, expirationDate: instant(), price: money(),
                willRenew: true)
        }
        if Bool.random(using: &random) {
            one.deviceVerification = [1, 2]
            one.deviceVerificationNonce = "n"
            one.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
            one.advancedCommerceInfo = Array(#"{"taxCode":"C1"}"#.utf8)
            (one.webOrderLineItemID, one.subscriptionGroupID, one.appTransactionID) = ("1", "g", "704")
        }
        return one
    }

    @Test func `holds all that renewal information says`() throws {
        var random = SeededRandom(seed: 31)
        for _ in 0..<1_000 {
            func instant() -> Instant { Instant(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &random)) }
            var info = RenewalInfo(
                originalTransactionID: UInt64.random(in: Limits.reportedTransactionIDs, using: &random),
                currentProductID: "p",
                willAutoRenew: Bool.random(using: &random), renewalDate: instant(),
                recentSubscriptionStartDate: instant(), environment: .xcode, signedDate: instant())
            info.isInBillingRetry = Bool.random(using: &random)
            info.priceIncreaseStatus = PriceIncreaseStatus(rawValue: Int32.random(in: 0...2, using: &random))
            if Bool.random(using: &random) {
                info.autoRenewPreference = "q"
                info.expirationReason = ExpirationReason(rawValue: Int32.random(in: 1...5, using: &random))
                info.gracePeriodExpirationDate = instant()
            }
            if Bool.random(using: &random) {
                info.renewalPrice = Money(milliunits: 9_990, currency: "EUR")
                info.offer = TransactionOffer(
                    id: "w", type: .winBack, paymentMode: .freeTrial, period: Period(1, .week))
                info.eligibleWinBackOfferIDs = ["a", "b"]
                info.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
                info.appTransactionID = "704"
                info.renewalBillingPlan = .monthly
                info.commitment = Commitment(
                    billingPeriodNumber: 0, totalBillingPeriods: 0, expirationDate: instant(),
                    price: Money(milliunits: 5, currency: "EUR"), willRenew: Bool.random(using: &random))
            }
            let payload = RenewalInfoPayload(PayloadFields(try JSONReader.read(PayloadWriter.renewalInfo(info))))
            #expect(payload.unknownFields.isEmpty && payload.mistypedFields.isEmpty)
            info.environment = .sandbox
            #expect(try payload.renewalInfo() == info)
        }
    }

    @Test func `keeps the lists of signatures bounded`() throws {
        var signer = AppleSigner(try AppleAuthority.make())
        for number in 0..<Limits.appleSignaturesKeptMax + 10 {
            _ = signer.sign([UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
        }
        #expect(signer.signaturesKept <= Limits.appleSignaturesKeptMax)
        #expect(signer.signaturesMade == UInt64(Limits.appleSignaturesKeptMax + 10))
    }
}
