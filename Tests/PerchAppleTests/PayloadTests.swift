import PerchBase
import PerchJSON
import PerchModel
import Testing

@testable import PerchApple

@Suite struct `a payload` {
    private func fields(_ text: String) throws -> PayloadFields {
        PayloadFields(try JSONReader.read(Array(text.utf8)))
    }

    @Test func `keeps fields and values that nobody knows yet`() throws {
        let payload = TransactionPayload(
            try self.fields(
                #"{"type":"Bundle","future":{"a":[1]},"commitmentInfo":{"more":1},"inAppOwnershipType":"LENT"}"#))
        #expect(payload.type == "Bundle" && payload.ownershipType == "LENT")
        #expect(payload.unknownFields == ["commitmentInfo.more", "future"])
        #expect(payload.fields.value["future"]?["a"]?.array?.count == 1)
        #expect(payload.mistypedFields.isEmpty)
    }

    @Test func `reads a field of another type as missing, and names it`() throws {
        let payload = TransactionPayload(
            try self.fields(
                #"{"transactionId":12,"price":"9","isUpgraded":1,"purchaseDate":"x","commitmentInfo":[],"quantity":null}"#
            ))
        #expect(payload.transactionID == nil && payload.price == nil && payload.isUpgraded == nil)
        #expect(payload.purchaseDate == nil && payload.commitmentInfo == nil)
        #expect(payload.mistypedFields == ["commitmentInfo", "isUpgraded", "price", "purchaseDate", "transactionId"])
    }

    @Test(arguments: [
        ("1697679936049.7297", Int64(1_697_679_936_049)), ("-62135769600000", -62_135_769_600_000), ("0", 0),
        ("-0.5", -1), ("1e3", 1_000),
    ])
    func `reads instants, and rounds fractions down`(_ text: String, _ milliseconds: Int64) throws {
        #expect(try self.fields("{\"d\":\(text)}").instant("d")?.milliseconds == milliseconds)
    }

    @Test(arguments: ["1e300", "9223372036854775808", "\"1\"", "null", "true"])
    func `has no instant that does not fit`(_ text: String) throws {
        #expect(try self.fields("{\"d\":\(text)}").instant("d") == nil)
    }

    /// Each documented field has an accessor that reads it: a payload with one field reads as something else than an
    /// empty one.
    @Test func `has an accessor for every documented field`() throws {
        try self.checkAccessors(TransactionPayload.self)
        try self.checkAccessors(RenewalInfoPayload.self, but: ["deviceVerification", "deviceVerificationNonce"])
        try self.checkAccessors(AppTransactionPayload.self, but: ["requestDate"])
        try self.checkAccessors(NotificationPayload.self)
        try self.checkAccessors(RealtimeRequestPayload.self)
    }

    private func checkAccessors<Payload: ApplePayload>(_ type: Payload.Type, but left: Set<String> = []) throws {
        let empty = Self.readings(Payload(try self.fields("{}")))
        for (name, shape) in Payload.shape where !left.contains(name) {
            let value =
                switch shape {
                case .text: "\"t\""
                case .integer, .instant: "7"
                case .boolean: "true"
                case .texts: "[\"t\"]"
                case .object: "{}"
                case .objects: "[{}]"
                }
            let payload = Payload(try self.fields("{\"\(name)\":\(value)}"))
            #expect(Self.readings(payload) != empty, "\(name) of \(type)")
            #expect(payload.unknownFields.isEmpty && payload.mistypedFields.isEmpty, "\(name) of \(type)")
        }
    }

    private static func readings(_ payload: any ApplePayload) -> [String] {
        switch payload {
        case let one as TransactionPayload:
            let texts: [String?] = [
                one.transactionID, one.originalTransactionID, one.webOrderLineItemID, one.bundleID, one.productID,
                one.subscriptionGroupID, one.type, one.appAccountToken, one.ownershipType, one.revocationType,
                one.offerID, one.offerDiscountType, one.offerPeriod, one.environment, one.storefront,
                one.storefrontID, one.transactionReason, one.currency, one.appTransactionID, one.billingPlanType,
                one.deviceVerification, one.deviceVerificationNonce,
            ]
            let numbers: [Int64?] = [
                one.quantity, one.revocationReason, one.revocationPercentage, one.offerType, one.price,
                one.purchaseDate?.milliseconds, one.originalPurchaseDate?.milliseconds,
                one.expiresDate?.milliseconds, one.signedDate?.milliseconds, one.revocationDate?.milliseconds,
            ]
            let objects = [one.commitmentInfo, one.advancedCommerceInfo].map { $0 == nil ? "" : "object" }
            return texts.map { $0 ?? "" } + numbers.map { $0.map { "\($0)" } ?? "" } + objects + [
                "\(one.isUpgraded ?? false)"
            ]
        case let one as RenewalInfoPayload:
            let texts: [String?] = [
                one.originalTransactionID, one.productID, one.autoRenewProductID, one.offerID, one.offerDiscountType,
                one.offerPeriod, one.environment, one.currency, one.appAccountToken, one.appTransactionID,
                one.renewalBillingPlanType,
            ]
            let numbers: [Int64?] = [
                one.autoRenewStatus, one.expirationIntent, one.priceIncreaseStatus, one.offerType, one.renewalPrice,
                one.gracePeriodExpiresDate?.milliseconds, one.signedDate?.milliseconds,
                one.recentSubscriptionStartDate?.milliseconds, one.renewalDate?.milliseconds,
            ]
            let objects = [one.commitmentInfo, one.advancedCommerceInfo].map { $0 == nil ? "" : "object" }
            return texts.map { $0 ?? "" } + numbers.map { $0.map { "\($0)" } ?? "" } + objects
                + ["\(one.isInBillingRetryPeriod ?? false)"] + (one.eligibleWinBackOfferIDs ?? [])
        case let one as AppTransactionPayload:
            let texts: [String?] = [
                one.receiptType, one.bundleID, one.applicationVersion, one.originalApplicationVersion,
                one.deviceVerification, one.deviceVerificationNonce, one.appTransactionID, one.originalPlatform,
            ]
            let numbers: [Int64?] = [
                one.appAppleID, one.versionExternalIdentifier, one.receiptCreationDate?.milliseconds,
                one.originalPurchaseDate?.milliseconds, one.preorderDate?.milliseconds,
            ]
            return texts.map { $0 ?? "" } + numbers.map { $0.map { "\($0)" } ?? "" }
        case let one as NotificationPayload:
            let objects = [one.data, one.summary, one.externalPurchaseToken, one.appData].map {
                $0 == nil ? "" : "object"
            }
            return [one.type, one.subtype, one.uuid, one.version].map { $0 ?? "" } + objects
                + ["\(one.signedDate?.milliseconds ?? 0)"]
        case let one as RealtimeRequestPayload:
            return [
                one.originalTransactionID, one.productID, one.userLocale, one.requestIdentifier, one.environment,
            ].map { $0 ?? "" } + ["\(one.appAppleID ?? 0)", "\(one.signedDate?.milliseconds ?? 0)"]
        default: return []
        }
    }

    @Test func `of a notification names the values inside`() throws {
        let data = NotificationPayload(
            try self.fields(
                #"{"data":{"signedTransactionInfo":"t","signedRenewalInfo":"r","status":4,"consumptionRequestReason":"LEGAL"}}"#
            ))
        #expect(data.signedTransaction == "t" && data.signedRenewalInfo == "r" && data.status == 4)
        #expect(data.consumptionRequestReason == "LEGAL")
        let app = NotificationPayload(try self.fields(#"{"appData":{"signedAppTransactionInfo":"a"}}"#))
        #expect(app.signedAppTransaction == "a" && app.signedTransaction == nil)
    }
}

@Suite struct `a model value of a payload` {
    private func transaction(_ more: String = "", base: String? = nil) throws -> Transaction {
        let text =
            base
            ?? #"{"transactionId":"12","bundleId":"a","productId":"p","purchaseDate":5,"signedDate":9,"type":"Consumable"\#(more)}"#
        return try TransactionPayload(PayloadFields(try JSONReader.read(Array(text.utf8)))).transaction()
    }

    @Test func `is whole with what a transaction needs, and without the rest`() throws {
        let one = try self.transaction()
        #expect(one.id == 12 && one.originalID == 12 && one.originalPurchaseDate == one.purchaseDate)
        #expect(one.quantity == 1 && one.ownership == .purchased && one.offer == nil && one.revocation == nil)
        #expect(one.productType == .consumable && one.price == nil && one.appAccountToken.isEmpty)
    }

    @Test(arguments: ["transactionId", "bundleId", "productId", "purchaseDate", "signedDate"])
    func `is refused without a field that it needs`(_ name: String) throws {
        let all = [
            ("transactionId", "\"12\""), ("bundleId", "\"a\""), ("productId", "\"p\""), ("purchaseDate", "5"),
            ("signedDate", "9"),
        ]
        let text = all.filter { $0.0 != name }.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        #expect(throws: PayloadFault(field: name)) { try self.transaction(base: "{\(text)}") }
    }

    @Test(arguments: ["\"\"", "\"-1\"", "\"+1\"", "\"01\"", "\"18446744073709551616\"", "\"1x\"", "12"])
    func `is refused with a transaction number that is none`(_ id: String) {
        let text =
            "{\"transactionId\":\(id),\"bundleId\":\"a\",\"productId\":\"p\",\"purchaseDate\":5,\"signedDate\":9}"
        #expect(throws: PayloadFault(field: "transactionId")) { try self.transaction(base: text) }
    }

    @Test func `is refused where a subscription has no end`() {
        let text =
            #"{"transactionId":"1","bundleId":"a","productId":"p","purchaseDate":5,"signedDate":9,"type":"Auto-Renewable Subscription"}"#
        #expect(throws: PayloadFault(field: "expiresDate")) { try self.transaction(base: text) }
    }

    @Test func `reads names of newer versions as unspecified`() throws {
        let one = try self.transaction(
            #","inAppOwnershipType":"LENT","transactionReason":"GIFT","offerType":9,"offerDiscountType":"X","revocationDate":3,"revocationType":"Y","billingPlanType":"Z""#
        )
        #expect(one.ownership.rawValue == 0 && one.reason.rawValue == 0 && one.billingPlan.rawValue == 0)
        #expect(one.offer?.type.rawValue == 9 && one.offer?.paymentMode.rawValue == 0)
        #expect(one.revocation?.type.rawValue == 0 && one.revocation?.date.milliseconds == 3)
    }

    @Test func `has a name in both directions for every value`() {
        func check<Value: OpenEnumeration>(_ table: AppleNames.Table<Value>) {
            #expect(table.values.map(\.rawValue).sorted() == (1..<Int32(Value.names.count)).map { $0 })
            for value in table.values { #expect(table.value(of: table.name(of: value)) == value) }
            #expect(table.value(of: "none").rawValue == 0 && table.value(of: nil).rawValue == 0)
        }
        check(AppleNames.productType)
        check(AppleNames.ownership)
        check(AppleNames.reason)
        check(AppleNames.revocation)
        check(AppleNames.payment)
        check(AppleNames.billingPlan)
        check(AppleNames.environment)
    }

    @Test func `of renewal information is as told, also where it contradicts itself`() throws {
        let text =
            #"{"originalTransactionId":"7","productId":"p","autoRenewStatus":0,"signedDate":9,"expirationIntent":1,"isInBillingRetryPeriod":true,"priceIncreaseStatus":0,"renewalDate":8,"eligibleWinBackOfferIds":["w"],"renewalPrice":990,"currency":"EUR"}"#
        let info = try RenewalInfoPayload(PayloadFields(try JSONReader.read(Array(text.utf8)))).renewalInfo()
        #expect(info.expirationReason == .autoRenewDisabled && info.isInBillingRetry && !info.willAutoRenew)
        #expect(info.priceIncreaseStatus == .pending && info.eligibleWinBackOfferIDs == ["w"])
        #expect(info.renewalPrice == Money(milliunits: 990, currency: "EUR"))
        for name in ["originalTransactionId", "productId", "autoRenewStatus", "signedDate"] {
            let cut = text.replacing("\"\(name)\"", with: "\"x\"")
            #expect(throws: PayloadFault(field: name)) {
                try RenewalInfoPayload(PayloadFields(try JSONReader.read(Array(cut.utf8)))).renewalInfo()
            }
        }
    }
}
