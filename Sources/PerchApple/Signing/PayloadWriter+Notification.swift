package import PerchBase
import PerchJSON

/// A notification to be signed: Apple's version 2 for the environment Sandbox.
package struct OutgoingNotification: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A transaction and renewal information, signed; both nil in a TEST notification.
        case data(transaction: String?, renewalInfo: String?, status: Int?, consumptionReason: String?)
        case summary(
            productID: String, requestID: String, storefronts: [String], succeeded: Int64, failed: Int64)
        /// A token of an external purchase. Its ID begins with SANDBOX.
        case externalPurchaseToken(id: String, created: Instant)
        case appData(appTransaction: String?)
    }

    package var type: String
    package var subtype: String?
    package var uuid: String
    package var signedDate: Instant
    package var bundleID: String
    package var content: Content

    package init(
        type: String, subtype: String? = nil, uuid: String, signedDate: Instant, bundleID: String, content: Content
    ) {
        self.type = type
        self.subtype = subtype
        self.uuid = uuid
        self.signedDate = signedDate
        self.bundleID = bundleID
        self.content = content
    }
}

extension PayloadWriter {
    /// The payload of a notification.
    package static func notification(_ notification: OutgoingNotification) -> [UInt8] {
        self.object { writer in
            writer.member("notificationType", notification.type)
            writer.text("subtype", notification.subtype)
            writer.member("notificationUUID", notification.uuid)
            writer.key(self.key(of: notification.content))
            writer.beginObject()
            writer.member("bundleId", notification.bundleID)
            if case .externalPurchaseToken = notification.content {
            } else {
                writer.member("environment", self.environment)
            }
            self.content(notification.content, &writer)
            writer.endObject()
            writer.member("version", "2.0")
            writer.instant("signedDate", notification.signedDate)
        }
    }

    private static func key(of content: OutgoingNotification.Content) -> String {
        switch content {
        case .data: "data"
        case .summary: "summary"
        case .externalPurchaseToken: "externalPurchaseToken"
        case .appData: "appData"
        }
    }

    private static func content(_ content: OutgoingNotification.Content, _ writer: inout JSONWriter) {
        switch content {
        case .data(let transaction, let renewalInfo, let status, let consumptionReason):
            writer.text("signedTransactionInfo", transaction)
            writer.text("signedRenewalInfo", renewalInfo)
            if let status { writer.member("status", status) }
            writer.text("consumptionRequestReason", consumptionReason)
        case .summary(let productID, let requestID, let storefronts, let succeeded, let failed):
            writer.member("productId", productID)
            writer.member("requestIdentifier", requestID)
            if !storefronts.isEmpty {
                writer.key("storefrontCountryCodes")
                writer.beginArray()
                for storefront in storefronts { writer.string(storefront) }
                writer.endArray()
            }
            writer.member("succeededCount", succeeded)
            writer.member("failedCount", failed)
        case .externalPurchaseToken(let id, let created):
            writer.member("externalPurchaseId", id)
            writer.instant("tokenCreationDate", created)
        case .appData(let appTransaction):
            writer.text("signedAppTransactionInfo", appTransaction)
        }
    }
}
