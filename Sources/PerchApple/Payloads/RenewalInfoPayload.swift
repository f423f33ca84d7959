package import PerchBase

/// Apple's `JWSRenewalInfoDecodedPayload`. It has no bundle ID: it belongs to an app through what it came with.
package struct RenewalInfoPayload: ApplePayload {
    package let fields: PayloadFields
    package init(_ fields: PayloadFields) { self.fields = fields }

    package static let shape: [String: FieldShape] = [
        "originalTransactionId": .text, "productId": .text, "autoRenewProductId": .text, "autoRenewStatus": .integer,
        "expirationIntent": .integer, "isInBillingRetryPeriod": .boolean, "gracePeriodExpiresDate": .instant,
        "priceIncreaseStatus": .integer, "offerType": .integer, "offerIdentifier": .text, "offerDiscountType": .text,
        "offerPeriod": .text, "signedDate": .instant, "environment": .text, "recentSubscriptionStartDate": .instant,
        "renewalDate": .instant, "renewalPrice": .integer, "currency": .text, "eligibleWinBackOfferIds": .texts,
        "appAccountToken": .text, "appTransactionId": .text, "renewalBillingPlanType": .text,
        "commitmentInfo": .object([
            "commitmentAutoRenewProductId": .text, "commitmentAutoRenewStatus": .integer,
            "commitmentRenewalBillingPlanType": .text, "commitmentRenewalDate": .instant,
            "commitmentRenewalPrice": .integer,
        ]),
        "advancedCommerceInfo": .object(AdvancedCommerceShapes.renewal),
        "deviceVerification": .text, "deviceVerificationNonce": .text,
    ]

    package var originalTransactionID: String? { self.fields.text("originalTransactionId") }
    package var productID: String? { self.fields.text("productId") }
    package var autoRenewProductID: String? { self.fields.text("autoRenewProductId") }
    package var autoRenewStatus: Int64? { self.fields.integer("autoRenewStatus") }
    package var expirationIntent: Int64? { self.fields.integer("expirationIntent") }
    package var isInBillingRetryPeriod: Bool? { self.fields.boolean("isInBillingRetryPeriod") }
    package var gracePeriodExpiresDate: Instant? { self.fields.instant("gracePeriodExpiresDate") }
    package var priceIncreaseStatus: Int64? { self.fields.integer("priceIncreaseStatus") }
    package var offerType: Int64? { self.fields.integer("offerType") }
    package var offerID: String? { self.fields.text("offerIdentifier") }
    package var offerDiscountType: String? { self.fields.text("offerDiscountType") }
    package var offerPeriod: String? { self.fields.text("offerPeriod") }
    package var signedDate: Instant? { self.fields.instant("signedDate") }
    package var environment: String? { self.fields.text("environment") }
    package var recentSubscriptionStartDate: Instant? { self.fields.instant("recentSubscriptionStartDate") }
    package var renewalDate: Instant? { self.fields.instant("renewalDate") }
    /// In thousandths of the currency's unit.
    package var renewalPrice: Int64? { self.fields.integer("renewalPrice") }
    package var currency: String? { self.fields.text("currency") }
    package var eligibleWinBackOfferIDs: [String]? { self.fields.texts("eligibleWinBackOfferIds") }
    package var appAccountToken: String? { self.fields.text("appAccountToken") }
    package var appTransactionID: String? { self.fields.text("appTransactionId") }
    package var renewalBillingPlanType: String? { self.fields.text("renewalBillingPlanType") }
    package var commitmentInfo: PayloadFields? { self.fields.object("commitmentInfo") }
    package var advancedCommerceInfo: PayloadFields? { self.fields.object("advancedCommerceInfo") }
}
