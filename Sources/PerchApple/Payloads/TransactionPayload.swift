package import PerchBase

/// Apple's `JWSTransactionDecodedPayload`. Texts of enumerations are raw, so that values of newer versions stay readable.
package struct TransactionPayload: ApplePayload {
    package let fields: PayloadFields
    package init(_ fields: PayloadFields) { self.fields = fields }

    package static let shape: [String: FieldShape] = [
        "transactionId": .text, "originalTransactionId": .text, "webOrderLineItemId": .text, "bundleId": .text,
        "productId": .text, "subscriptionGroupIdentifier": .text, "purchaseDate": .instant,
        "originalPurchaseDate": .instant, "expiresDate": .instant, "quantity": .integer, "type": .text,
        "appAccountToken": .text, "inAppOwnershipType": .text, "signedDate": .instant, "revocationDate": .instant,
        "revocationReason": .integer, "revocationType": .text, "revocationPercentage": .integer,
        "isUpgraded": .boolean, "offerType": .integer, "offerIdentifier": .text, "offerDiscountType": .text,
        "offerPeriod": .text, "environment": .text, "storefront": .text, "storefrontId": .text,
        "transactionReason": .text, "currency": .text, "price": .integer, "appTransactionId": .text,
        "billingPlanType": .text,
        "commitmentInfo": .object([
            "billingPeriodNumber": .integer, "totalBillingPeriods": .integer, "commitmentExpiresDate": .instant,
            "commitmentPrice": .integer,
        ]),
        "advancedCommerceInfo": .object(AdvancedCommerceShapes.transaction),
        "deviceVerification": .text, "deviceVerificationNonce": .text,
    ]

    package var transactionID: String? { self.fields.text("transactionId") }
    package var originalTransactionID: String? { self.fields.text("originalTransactionId") }
    package var webOrderLineItemID: String? { self.fields.text("webOrderLineItemId") }
    package var bundleID: String? { self.fields.text("bundleId") }
    package var productID: String? { self.fields.text("productId") }
    package var subscriptionGroupID: String? { self.fields.text("subscriptionGroupIdentifier") }
    package var purchaseDate: Instant? { self.fields.instant("purchaseDate") }
    package var originalPurchaseDate: Instant? { self.fields.instant("originalPurchaseDate") }
    package var expiresDate: Instant? { self.fields.instant("expiresDate") }
    package var quantity: Int64? { self.fields.integer("quantity") }
    package var type: String? { self.fields.text("type") }
    package var appAccountToken: String? { self.fields.text("appAccountToken") }
    package var ownershipType: String? { self.fields.text("inAppOwnershipType") }
    package var signedDate: Instant? { self.fields.instant("signedDate") }
    package var revocationDate: Instant? { self.fields.instant("revocationDate") }
    package var revocationReason: Int64? { self.fields.integer("revocationReason") }
    package var revocationType: String? { self.fields.text("revocationType") }
    package var revocationPercentage: Int64? { self.fields.integer("revocationPercentage") }
    package var isUpgraded: Bool? { self.fields.boolean("isUpgraded") }
    package var offerType: Int64? { self.fields.integer("offerType") }
    package var offerID: String? { self.fields.text("offerIdentifier") }
    package var offerDiscountType: String? { self.fields.text("offerDiscountType") }
    package var offerPeriod: String? { self.fields.text("offerPeriod") }
    package var environment: String? { self.fields.text("environment") }
    package var storefront: String? { self.fields.text("storefront") }
    package var storefrontID: String? { self.fields.text("storefrontId") }
    package var transactionReason: String? { self.fields.text("transactionReason") }
    package var currency: String? { self.fields.text("currency") }
    /// In thousandths of the currency's unit.
    package var price: Int64? { self.fields.integer("price") }
    package var appTransactionID: String? { self.fields.text("appTransactionId") }
    package var billingPlanType: String? { self.fields.text("billingPlanType") }
    package var commitmentInfo: PayloadFields? { self.fields.object("commitmentInfo") }
    package var advancedCommerceInfo: PayloadFields? { self.fields.object("advancedCommerceInfo") }
    /// Base64 of the device verification.
    package var deviceVerification: String? { self.fields.text("deviceVerification") }
    package var deviceVerificationNonce: String? { self.fields.text("deviceVerificationNonce") }
}
