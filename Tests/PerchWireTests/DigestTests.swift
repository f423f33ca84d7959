import PerchBase
import PerchModel
import Testing

@testable import PerchWire

@Suite struct `digests of values` {
    private let codec = MessageCodec()

    private static func transaction() -> Verified<Transaction> {
        var samples = Samples(seed: 77)
        return samples.verified()
    }

    private static func status() -> SubscriptionStatus {
        var samples = Samples(seed: 78)
        return samples.statuses().statuses[0]
    }

    @Test func `signing again changes no digest`() {
        let transaction = Self.transaction()
        var signed = transaction
        signed.jws += "x"
        signed.value.signedDate.milliseconds += 1
        signed.value.deviceVerification = [9]
        signed.value.deviceVerificationNonce = "other"
        #expect(self.codec.digest(of: signed) == self.codec.digest(of: transaction))

        let status = Self.status()
        var again = status
        again.transaction.value.signedDate.milliseconds += 1
        again.transaction.jws = ""
        again.renewalInfo.value.signedDate.milliseconds += 1
        again.renewalInfo.jws = ""
        #expect(
            self.codec.digest(of: SubscriptionStatuses(statuses: [again]))
                == self.codec.digest(of: SubscriptionStatuses(statuses: [status])))
    }

    static let transactionChanges: [(String, @Sendable (inout Verified<Transaction>) -> Void)] = [
        ("failure", { $0.failure = .noFailure }), ("id", { $0.value.id += 1 }),
        ("originalID", { $0.value.originalID += 1 }), ("webOrderLineItemID", { $0.value.webOrderLineItemID += "x" }),
        ("appBundleID", { $0.value.appBundleID += "x" }), ("appTransactionID", { $0.value.appTransactionID += "x" }),
        ("productID", { $0.value.productID += "x" }), ("productType", { $0.value.productType = .unspecified }),
        ("subscriptionGroupID", { $0.value.subscriptionGroupID += "x" }),
        ("purchaseDate", { $0.value.purchaseDate.milliseconds += 1 }),
        ("originalPurchaseDate", { $0.value.originalPurchaseDate.milliseconds += 1 }),
        ("expirationDate", { $0.value.expirationDate = nil }), ("quantity", { $0.value.quantity &+= 1 }),
        ("isUpgraded", { $0.value.isUpgraded = false }), ("ownership", { $0.value.ownership = .unspecified }),
        ("offer", { $0.value.offer = nil }), ("offer.id", { $0.value.offer?.id += "x" }),
        ("offer.type", { $0.value.offer?.type = .unspecified }),
        ("offer.paymentMode", { $0.value.offer?.paymentMode = .unspecified }),
        ("offer.period", { $0.value.offer?.period = nil }), ("revocation", { $0.value.revocation = nil }),
        ("revocation.date", { $0.value.revocation?.date.milliseconds += 1 }),
        ("revocation.reason", { $0.value.revocation?.reason = .unspecified }),
        ("revocation.type", { $0.value.revocation?.type = .unspecified }),
        ("revocation.percentage", { $0.value.revocation?.percentageMilli &+= 1 }),
        ("appAccountToken", { $0.value.appAccountToken += "x" }),
        ("environment", { $0.value.environment = .unspecified }),
        ("storefront.countryCode", { $0.value.storefront.countryCode += "x" }),
        ("storefront.id", { $0.value.storefront.id += "x" }), ("reason", { $0.value.reason = .unspecified }),
        ("price", { $0.value.price = nil }), ("price.milliunits", { $0.value.price?.milliunits += 1 }),
        ("price.currency", { $0.value.price?.currency += "x" }),
        ("billingPlan", { $0.value.billingPlan = .unspecified }), ("commitment", { $0.value.commitment = nil }),
        ("commitment.number", { $0.value.commitment?.billingPeriodNumber &+= 1 }),
        ("commitment.total", { $0.value.commitment?.totalBillingPeriods &+= 1 }),
        ("commitment.end", { $0.value.commitment?.expirationDate.milliseconds += 1 }),
        ("commitment.price", { $0.value.commitment?.price.milliunits += 1 }),
        ("commitment.willRenew", { $0.value.commitment?.willRenew = false }),
        ("advancedCommerceInfo", { $0.value.advancedCommerceInfo.append(1) }),
    ]

    @Test func `every other field of a transaction changes the digest, each to another one`() {
        var digests: Set<Digest> = [self.codec.digest(of: nil as Verified<Transaction>?)]
        #expect(digests.insert(self.codec.digest(of: Self.transaction())).inserted)
        for (field, change) in Self.transactionChanges {
            var changed = Self.transaction()
            change(&changed)
            #expect(changed != Self.transaction(), "\(field) is part of equality")
            #expect(digests.insert(self.codec.digest(of: changed)).inserted, "\(field)")
        }
    }

    static let statusChanges: [(String, @Sendable (inout SubscriptionStatus) -> Void)] = [
        ("state", { $0.state = .unspecified }), ("failure", { $0.renewalInfo.failure = .noFailure }),
        ("transaction", { $0.transaction.value.id += 1 }),
        ("originalTransactionID", { $0.renewalInfo.value.originalTransactionID += 1 }),
        ("currentProductID", { $0.renewalInfo.value.currentProductID += "x" }),
        ("willAutoRenew", { $0.renewalInfo.value.willAutoRenew = false }),
        ("autoRenewPreference", { $0.renewalInfo.value.autoRenewPreference = nil }),
        ("expirationReason", { $0.renewalInfo.value.expirationReason = nil }),
        ("isInBillingRetry", { $0.renewalInfo.value.isInBillingRetry = false }),
        ("gracePeriodExpirationDate", { $0.renewalInfo.value.gracePeriodExpirationDate = nil }),
        ("priceIncreaseStatus", { $0.renewalInfo.value.priceIncreaseStatus = .noIncreasePending }),
        ("renewalDate", { $0.renewalInfo.value.renewalDate.milliseconds += 1 }),
        ("renewalPrice", { $0.renewalInfo.value.renewalPrice = nil }),
        ("offer", { $0.renewalInfo.value.offer = nil }),
        ("eligibleWinBackOfferIDs", { $0.renewalInfo.value.eligibleWinBackOfferIDs.reverse() }),
        ("recentStart", { $0.renewalInfo.value.recentSubscriptionStartDate.milliseconds += 1 }),
        ("appAccountToken", { $0.renewalInfo.value.appAccountToken += "x" }),
        ("appTransactionID", { $0.renewalInfo.value.appTransactionID += "x" }),
        ("environment", { $0.renewalInfo.value.environment = .unspecified }),
        ("renewalBillingPlan", { $0.renewalInfo.value.renewalBillingPlan = .unspecified }),
        ("commitment", { $0.renewalInfo.value.commitment = nil }),
        ("isUnreported", { $0.renewalInfo.value.isUnreported.toggle() }),
    ]

    @Test func `every other field of a status changes the digest, each to another one`() {
        var digests: Set<Digest> = [self.codec.digest(of: SubscriptionStatuses(statuses: []))]
        #expect(digests.insert(self.codec.digest(of: SubscriptionStatuses(statuses: [Self.status()]))).inserted)
        for (field, change) in Self.statusChanges {
            var changed = Self.status()
            change(&changed)
            #expect(changed != Self.status(), "\(field) is part of equality")
            #expect(
                digests.insert(self.codec.digest(of: SubscriptionStatuses(statuses: [changed]))).inserted, "\(field)")
        }
        let one = SubscriptionStatuses(statuses: [Self.status()], effectiveIndex: 0)
        #expect(digests.insert(self.codec.digest(of: one)).inserted)
        #expect(
            digests.insert(
                self.codec.digest(
                    of: SubscriptionStatuses(
                        statuses: [Self.status()], effectiveIndex: 0, effectiveReason: .onlyEntitled)
                )
            ).inserted)
    }

    static let productChanges: [(String, @Sendable (inout Product) -> Void)] = [
        ("id", { $0.id += "x" }), ("type", { $0.type = .unspecified }), ("displayName", { $0.displayName += "x" }),
        ("description", { $0.description += "x" }), ("price", { $0.price.milliunits += 1 }),
        ("displayPrice", { $0.displayPrice += "x" }), ("isFamilyShareable", { $0.isFamilyShareable = false }),
        ("promotionalImageID", { $0.promotionalImageID += "x" }),
        ("promotionalImageHash", { $0.promotionalImageHash.append(1) }), ("subscription", { $0.subscription = nil }),
        ("groupID", { $0.subscription?.groupID += "x" }),
        ("groupDisplayName", { $0.subscription?.groupDisplayName += "x" }),
        ("groupLevel", { $0.subscription?.groupLevel &+= 1 }), ("period", { $0.subscription?.period.value &+= 1 }),
        ("introductoryOffers", { $0.subscription?.introductoryOffers = [] }),
        ("promotionalOffers", { $0.subscription?.promotionalOffers = [] }),
        ("winBackOffers", { $0.subscription?.winBackOffers = [] }),
        ("offer.price", { $0.subscription?.winBackOffers[0].price.milliunits += 1 }),
        ("billingPlans", { $0.subscription?.billingPlans = [] }),
        ("plan.chargeCount", { $0.subscription?.billingPlans[0].chargeCount &+= 1 }),
        ("storefront", { $0.storefront.id += "x" }), ("json", { $0.jsonRepresentation.append(1) }),
    ]

    @Test func `every field of a product changes the digest, each to another one`() {
        var samples = Samples(seed: 79)
        let product = samples.product()
        let plain = Products(products: [product], unavailableIDs: [])
        var digests: Set<Digest> = [self.codec.digest(of: Products(products: [], unavailableIDs: []))]
        #expect(digests.insert(self.codec.digest(of: plain)).inserted)
        #expect(digests.insert(self.codec.digest(of: Products(products: [product], unavailableIDs: ["x"]))).inserted)
        for (field, change) in Self.productChanges {
            var changed = product
            change(&changed)
            let digest = self.codec.digest(of: Products(products: [changed], unavailableIDs: []))
            #expect(digests.insert(digest).inserted, "\(field)")
        }
    }

    @Test func `a digest does not disturb the last encoded message`() throws {
        let encoded = try self.codec.encode(Beat(revision: 5))
        _ = self.codec.digest(of: Self.transaction())
        #expect([UInt8](encoded.message) == [8, 5])
    }
}
