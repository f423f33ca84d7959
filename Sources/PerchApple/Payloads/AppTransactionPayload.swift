package import PerchBase

/// Apple's `AppTransaction`, the payload of a signed app transaction.
package struct AppTransactionPayload: ApplePayload {
    package let fields: PayloadFields
    package init(_ fields: PayloadFields) { self.fields = fields }

    package static let shape: [String: FieldShape] = [
        "receiptType": .text, "appAppleId": .integer, "bundleId": .text, "applicationVersion": .text,
        "versionExternalIdentifier": .integer, "receiptCreationDate": .instant, "originalPurchaseDate": .instant,
        "originalApplicationVersion": .text, "deviceVerification": .text, "deviceVerificationNonce": .text,
        "preorderDate": .instant, "appTransactionId": .text, "originalPlatform": .text, "requestDate": .instant,
    ]

    /// The environment.
    package var receiptType: String? { self.fields.text("receiptType") }
    package var appAppleID: Int64? { self.fields.integer("appAppleId") }
    package var bundleID: String? { self.fields.text("bundleId") }
    package var applicationVersion: String? { self.fields.text("applicationVersion") }
    package var versionExternalIdentifier: Int64? { self.fields.integer("versionExternalIdentifier") }
    /// When it was signed.
    package var receiptCreationDate: Instant? { self.fields.instant("receiptCreationDate") }
    package var originalPurchaseDate: Instant? { self.fields.instant("originalPurchaseDate") }
    package var originalApplicationVersion: String? { self.fields.text("originalApplicationVersion") }
    package var deviceVerification: String? { self.fields.text("deviceVerification") }
    package var deviceVerificationNonce: String? { self.fields.text("deviceVerificationNonce") }
    package var preorderDate: Instant? { self.fields.instant("preorderDate") }
    package var appTransactionID: String? { self.fields.text("appTransactionId") }
    package var originalPlatform: String? { self.fields.text("originalPlatform") }
}
