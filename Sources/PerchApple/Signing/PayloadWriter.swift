package import PerchBase
import PerchJSON
package import PerchModel

/// Writes payloads in Apple's format, for the environment Sandbox: Apple's libraries skip the signature of Xcode's.
package enum PayloadWriter {
    static let environment = AppleApp.Environment.sandbox.rawValue

    /// The payload of a transaction.
    package static func transaction(_ transaction: Transaction) -> [UInt8] {
        self.object { writer in
            writer.member("transactionId", String(transaction.id))
            writer.member("originalTransactionId", String(transaction.originalID))
            writer.text("webOrderLineItemId", transaction.webOrderLineItemID)
            writer.member("bundleId", transaction.appBundleID)
            writer.member("productId", transaction.productID)
            writer.text("subscriptionGroupIdentifier", transaction.subscriptionGroupID)
            writer.instant("purchaseDate", transaction.purchaseDate)
            writer.instant("originalPurchaseDate", transaction.originalPurchaseDate)
            writer.instant("expiresDate", transaction.expirationDate)
            writer.member("quantity", transaction.quantity)
            writer.text("type", AppleNames.productType.name(of: transaction.productType))
            writer.text("appAccountToken", transaction.appAccountToken)
            writer.text("inAppOwnershipType", AppleNames.ownership.name(of: transaction.ownership))
            writer.instant("signedDate", transaction.signedDate)
            self.revocation(transaction.revocation, &writer)
            if transaction.isUpgraded { writer.member("isUpgraded", true) }
            self.offer(transaction.offer, &writer)
            writer.member("environment", self.environment)
            writer.text("storefront", transaction.storefront.countryCode)
            writer.text("storefrontId", transaction.storefront.id)
            writer.text("transactionReason", AppleNames.reason.name(of: transaction.reason))
            self.price(transaction.price, key: "price", &writer)
            writer.text("appTransactionId", transaction.appTransactionID)
            writer.text("billingPlanType", AppleNames.billingPlan.name(of: transaction.billingPlan))
            self.commitment(transaction.commitment, &writer)
            self.advancedCommerce(transaction.advancedCommerceInfo, &writer)
            if !transaction.deviceVerification.isEmpty {
                writer.member("deviceVerification", Base64.encode(transaction.deviceVerification))
                writer.text("deviceVerificationNonce", transaction.deviceVerificationNonce)
            }
        }
    }

    /// The payload of renewal information.
    package static func renewalInfo(_ info: RenewalInfo, signed instant: Instant? = nil) -> [UInt8] {
        self.object { writer in
            writer.member("originalTransactionId", String(info.originalTransactionID))
            writer.member("productId", info.currentProductID)
            writer.text("autoRenewProductId", info.autoRenewPreference)
            writer.member("autoRenewStatus", info.willAutoRenew ? 1 : 0)
            if let reason = info.expirationReason { writer.member("expirationIntent", reason.rawValue) }
            writer.member("isInBillingRetryPeriod", info.isInBillingRetry)
            writer.instant("gracePeriodExpiresDate", info.gracePeriodExpirationDate)
            if info.priceIncreaseStatus == .pending { writer.member("priceIncreaseStatus", 0) }
            if info.priceIncreaseStatus == .agreed { writer.member("priceIncreaseStatus", 1) }
            self.offer(info.offer, &writer)
            writer.instant("signedDate", instant ?? info.signedDate)
            writer.member("environment", self.environment)
            writer.instant("recentSubscriptionStartDate", info.recentSubscriptionStartDate)
            writer.instant("renewalDate", info.renewalDate)
            self.price(info.renewalPrice, key: "renewalPrice", &writer)
            if !info.eligibleWinBackOfferIDs.isEmpty {
                writer.key("eligibleWinBackOfferIds")
                writer.beginArray()
                for id in info.eligibleWinBackOfferIDs { writer.string(id) }
                writer.endArray()
            }
            writer.text("appAccountToken", info.appAccountToken)
            writer.text("appTransactionId", info.appTransactionID)
            writer.text("renewalBillingPlanType", AppleNames.billingPlan.name(of: info.renewalBillingPlan))
            guard let commitment = info.commitment else { return }
            writer.key("commitmentInfo")
            writer.beginObject()
            writer.text("commitmentAutoRenewProductId", info.autoRenewPreference)
            writer.member("commitmentAutoRenewStatus", commitment.willRenew ? 1 : 0)
            writer.text(
                "commitmentRenewalBillingPlanType", AppleNames.billingPlan.name(of: info.renewalBillingPlan))
            writer.instant("commitmentRenewalDate", commitment.expirationDate)
            writer.member("commitmentRenewalPrice", commitment.price.milliunits)
            writer.endObject()
        }
    }

    /// The payload of an app transaction, signed at an instant.
    package static func appTransaction(_ transaction: AppTransaction, signed instant: Instant) -> [UInt8] {
        self.object { writer in
            let isProduction = transaction.environment == .production
            writer.member("receiptType", isProduction ? AppleApp.Environment.production.rawValue : self.environment)
            writer.member("bundleId", transaction.bundleID)
            writer.member("applicationVersion", "1.0")
            writer.instant("receiptCreationDate", instant)
            if let date = transaction.originalPurchaseDate { writer.instant("originalPurchaseDate", date) }
            writer.member("originalApplicationVersion", transaction.originalAppVersion)
            writer.text("appTransactionId", transaction.id)
            writer.member("originalPlatform", "\(transaction.originalPlatform)")
        }
    }

    // MARK: Parts

    static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        do throws(JSONOverflow) {
            return try writer.finish()
        } catch {
            preconditionFailure("a record's texts are bounded far below the writer's limit")
        }
    }

    private static func revocation(_ revocation: Revocation?, _ writer: inout JSONWriter) {
        guard let revocation else { return }
        writer.instant("revocationDate", revocation.date)
        writer.member("revocationReason", revocation.reason == .developerIssue ? 1 : 0)
        writer.text("revocationType", AppleNames.revocation.name(of: revocation.type))
        if revocation.type != .familyRevoke { writer.member("revocationPercentage", revocation.percentageMilli) }
    }

    private static func offer(_ offer: TransactionOffer?, _ writer: inout JSONWriter) {
        guard let offer else { return }
        writer.member("offerType", offer.type.rawValue)
        writer.text("offerIdentifier", offer.id)
        writer.text("offerDiscountType", AppleNames.payment.name(of: offer.paymentMode))
        writer.text("offerPeriod", offer.period?.description)
    }

    private static func price(_ price: Money?, key: String, _ writer: inout JSONWriter) {
        guard let price else { return }
        writer.member(key, price.milliunits)
        writer.text("currency", price.currency)
    }

    private static func commitment(_ commitment: Commitment?, _ writer: inout JSONWriter) {
        guard let commitment else { return }
        writer.key("commitmentInfo")
        writer.beginObject()
        writer.member("billingPeriodNumber", commitment.billingPeriodNumber)
        writer.member("totalBillingPeriods", commitment.totalBillingPeriods)
        writer.instant("commitmentExpiresDate", commitment.expirationDate)
        writer.member("commitmentPrice", commitment.price.milliunits)
        writer.endObject()
    }

    /// Passed through where it is JSON.
    private static func advancedCommerce(_ bytes: [UInt8], _ writer: inout JSONWriter) {
        guard !bytes.isEmpty, let value = try? JSONReader.read(bytes), value.members != nil else { return }
        writer.key("advancedCommerceInfo")
        writer.value(value)
    }
}

extension JSONWriter {
    /// A member, unless its text is nil or empty: Apple leaves out what there is not.
    mutating func text(_ key: String, _ value: String?) {
        guard let value, !value.isEmpty else { return }
        self.member(key, value)
    }

    mutating func instant(_ key: String, _ value: Instant?) {
        guard let value else { return }
        self.member(key, value.milliseconds)
    }
}
