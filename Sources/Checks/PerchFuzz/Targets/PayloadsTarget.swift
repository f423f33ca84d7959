import PerchApple
import PerchBase
import PerchJSON
import PerchModel

/// Payloads of Apple's signed values: JSON that was signed, and may still say anything.
final class PayloadsTarget: FuzzTarget {
    static let name = "payloads"
    static let reaches = ["PerchApple/Payloads", "PerchApple/Signing"]

    private static let kinds: [any ApplePayload.Type] = [
        TransactionPayload.self, RenewalInfoPayload.self, AppTransactionPayload.self, NotificationPayload.self,
        RealtimeRequestPayload.self,
    ]

    static func seeds() -> [[UInt8]] {
        [
            #"{"transactionId":"12","originalTransactionId":"11","bundleId":"a","productId":"p","purchaseDate":5,"expiresDate":9.5,"signedDate":7,"type":"Auto-Renewable Subscription","offerType":1,"offerDiscountType":"FREE_TRIAL","offerPeriod":"P1M","revocationDate":8,"price":990,"currency":"USD","commitmentInfo":{"commitmentExpiresDate":4,"commitmentPrice":3},"advancedCommerceInfo":{"items":[{"SKU":"s"}]},"environment":"Sandbox"}"#,
            #"{"originalTransactionId":"7","productId":"p","autoRenewStatus":1,"signedDate":9,"renewalDate":8,"renewalPrice":5,"currency":"EUR","eligibleWinBackOfferIds":["w"],"priceIncreaseStatus":1,"commitmentInfo":{"commitmentRenewalDate":2},"environment":"Sandbox"}"#,
            #"{"notificationType":"DID_RENEW","data":{"bundleId":"a","environment":"Sandbox","status":1,"signedTransactionInfo":"a.b.c"},"signedDate":1}"#,
            #"{"externalPurchaseToken":{"bundleId":"a","externalPurchaseId":"SANDBOX_1"}}"#,
            #"{"summary":{"bundleId":"a","storefrontCountryCodes":["USA"]},"appData":[]}"#,
            #"{"receiptType":"Production","bundleId":"a","appAppleId":7,"receiptCreationDate":-62135769600000}"#,
        ].map { Array($0.utf8) }
    }

    func run(_ bytes: [UInt8]) -> Bool {
        var limits = JSONLimits()
        limits.depth = Limits.appleDepthMax
        limits.values = Limits.appleValuesMax
        guard let value = try? JSONReader.read(bytes, limits: limits), let members = value.members else {
            return false
        }
        let fields = PayloadFields(value)
        for kind in Self.kinds {
            let payload = kind.init(fields)
            let known = Set(kind.shape.keys)
            let named = members.count { known.contains($0.key) }
            hold(payload.unknownFields.count >= members.count - named, "an unknown field is not named")
            hold(payload.mistypedFields.count <= bytes.count, "fields without bytes")
        }
        for app in [AppleApp.sandbox(bundleID: "a"), .production(bundleID: "a", appAppleID: 7)] {
            _ = try? app.notification(value)
            _ = try? app.appTransaction(value)
            _ = try? app.realtimeRequest(value)
        }
        self.writeAgain(fields)
        return true
    }

    /// What the model has of a value is signed and read as the same.
    private func writeAgain(_ fields: PayloadFields) {
        if var transaction = try? TransactionPayload(fields).transaction() {
            transaction.environment = .sandbox
            let again = Self.transaction(PayloadWriter.transaction(transaction))
            // Names of newer versions are not written, and then what depends on them is not read: a second time is the last.
            let third = again.flatMap { Self.transaction(PayloadWriter.transaction($0)) }
            hold(again != nil && again == third, "a transaction that we wrote is read as another")
        }
        if let info = try? RenewalInfoPayload(fields).renewalInfo() {
            let again = Self.renewalInfo(PayloadWriter.renewalInfo(info))
            let third = again.flatMap { Self.renewalInfo(PayloadWriter.renewalInfo($0)) }
            hold(again != nil && again == third, "renewal information that we wrote is read as another")
        }
    }

    private static func transaction(_ bytes: [UInt8]) -> Transaction? {
        (try? JSONReader.read(bytes)).flatMap { try? TransactionPayload(PayloadFields($0)).transaction() }
    }

    private static func renewalInfo(_ bytes: [UInt8]) -> RenewalInfo? {
        (try? JSONReader.read(bytes)).flatMap { try? RenewalInfoPayload(PayloadFields($0)).renewalInfo() }
    }
}
