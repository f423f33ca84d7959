package import PerchBase

/// Apple's `ResponseBodyV2DecodedPayload`: an App Store Server Notification, version 2.
///
/// It says what happened in one of four objects. Type and subtype are hints: what counts are the signed values inside.
package struct NotificationPayload: ApplePayload {
    package let fields: PayloadFields
    package init(_ fields: PayloadFields) { self.fields = fields }

    package static let shape: [String: FieldShape] = [
        "notificationType": .text, "subtype": .text, "notificationUUID": .text, "version": .text,
        "signedDate": .instant,
        "data": .object([
            "environment": .text, "appAppleId": .integer, "bundleId": .text, "bundleVersion": .text,
            "signedTransactionInfo": .text, "signedRenewalInfo": .text, "status": .integer,
            "consumptionRequestReason": .text,
        ]),
        "summary": .object([
            "environment": .text, "appAppleId": .integer, "bundleId": .text, "productId": .text,
            "requestIdentifier": .text, "storefrontCountryCodes": .texts, "succeededCount": .integer,
            "failedCount": .integer,
        ]),
        "externalPurchaseToken": .object([
            "externalPurchaseId": .text, "tokenCreationDate": .instant, "appAppleId": .integer, "bundleId": .text,
        ]),
        "appData": .object([
            "appAppleId": .integer, "bundleId": .text, "environment": .text, "signedAppTransactionInfo": .text,
        ]),
    ]

    package var type: String? { self.fields.text("notificationType") }
    package var subtype: String? { self.fields.text("subtype") }
    /// The same in each retry of one notification.
    package var uuid: String? { self.fields.text("notificationUUID") }
    package var version: String? { self.fields.text("version") }
    package var signedDate: Instant? { self.fields.instant("signedDate") }
    package var data: PayloadFields? { self.fields.object("data") }
    package var summary: PayloadFields? { self.fields.object("summary") }
    package var externalPurchaseToken: PayloadFields? { self.fields.object("externalPurchaseToken") }
    package var appData: PayloadFields? { self.fields.object("appData") }

    /// The object that names the app: the first of the four that is there, as in Apple's libraries.
    private var subject: PayloadFields? {
        self.data ?? self.summary ?? self.externalPurchaseToken ?? self.appData
    }

    package var bundleID: String? { self.subject?.text("bundleId") }
    package var appAppleID: Int64? { self.subject?.integer("appAppleId") }

    /// A token has no environment: the prefix of its ID decides.
    package var environment: String? {
        if self.data == nil, self.summary == nil, let token = self.externalPurchaseToken {
            return token.text("externalPurchaseId")?.hasPrefix("SANDBOX") == true ? "Sandbox" : "Production"
        }
        return self.subject?.text("environment")
    }

    package var signedTransaction: String? { self.data?.text("signedTransactionInfo") }
    package var signedRenewalInfo: String? { self.data?.text("signedRenewalInfo") }
    package var signedAppTransaction: String? { self.appData?.text("signedAppTransactionInfo") }
    /// The state that Apple computed for an auto-renewable subscription: 1 to 5. Compared, never folded.
    package var status: Int64? { self.data?.integer("status") }
    package var consumptionRequestReason: String? { self.data?.text("consumptionRequestReason") }
}

/// Apple's `DecodedRealtimeRequestBody`, a request of the Retention Messaging API. All seven fields are required.
package struct RealtimeRequestPayload: ApplePayload {
    package let fields: PayloadFields
    package init(_ fields: PayloadFields) { self.fields = fields }

    package static let shape: [String: FieldShape] = [
        "originalTransactionId": .text, "appAppleId": .integer, "productId": .text, "userLocale": .text,
        "requestIdentifier": .text, "environment": .text, "signedDate": .instant,
    ]

    package var originalTransactionID: String? { self.fields.text("originalTransactionId") }
    package var appAppleID: Int64? { self.fields.integer("appAppleId") }
    package var productID: String? { self.fields.text("productId") }
    package var userLocale: String? { self.fields.text("userLocale") }
    package var requestIdentifier: String? { self.fields.text("requestIdentifier") }
    package var environment: String? { self.fields.text("environment") }
    package var signedDate: Instant? { self.fields.instant("signedDate") }
}
