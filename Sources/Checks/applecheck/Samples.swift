import PerchApple
import PerchBase
import PerchModel

/// One value of every shape that Perch signs: each field once filled and once left out.
enum Samples {
    struct Sample {
        let kind: String
        let jws: String
    }

    private static let now = Instant(milliseconds: 1_790_000_000_000)
    private static let month: Int64 = 30 * 86_400_000

    static func all(_ signer: inout AppleSigner) -> [Sample] {
        var samples: [Sample] = []
        for transaction in self.transactions() {
            samples.append(Sample(kind: "transaction", jws: signer.sign(PayloadWriter.transaction(transaction))))
        }
        for info in self.renewalInfos() {
            samples.append(Sample(kind: "renewalInfo", jws: signer.sign(PayloadWriter.renewalInfo(info))))
        }
        let app = AppTransaction(id: "704", bundleID: "com.example.app", environment: .xcode)
        samples.append(
            Sample(kind: "appTransaction", jws: signer.sign(PayloadWriter.appTransaction(app, signed: self.now))))
        let (transaction, info) = (samples[0].jws, samples.first { $0.kind == "renewalInfo" }?.jws)
        for (type, subtype, content) in self.contents(transaction, info, samples[samples.count - 1].jws) {
            let notification = OutgoingNotification(
                type: type, subtype: subtype, uuid: "5a1c2d9e-0b7f-4a52-9d8b-3f6e7a9c0d11", signedDate: self.now,
                bundleID: "com.example.app", content: content)
            samples.append(Sample(kind: "notification", jws: signer.sign(PayloadWriter.notification(notification))))
        }
        return samples
    }

    private static func contents(
        _ transaction: String, _ info: String?, _ app: String
    ) -> [(String, String?, OutgoingNotification.Content)] {
        let full = OutgoingNotification.Content.data(
            transaction: transaction, renewalInfo: info, status: 1, consumptionReason: nil)
        let types: [(String, String?)] = [
            ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", "RESUBSCRIBE"), ("DID_RENEW", nil),
            ("DID_RENEW", "BILLING_RECOVERY"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
            ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"), ("DID_CHANGE_RENEWAL_PREF", nil), ("OFFER_REDEEMED", nil),
            ("OFFER_REDEEMED", "UPGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"),
            ("DID_FAIL_TO_RENEW", nil), ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "VOLUNTARY"),
            ("EXPIRED", "BILLING_RETRY"), ("EXPIRED", "PRICE_INCREASE"), ("EXPIRED", "PRODUCT_NOT_FOR_SALE"),
            ("EXPIRED", nil), ("PRICE_INCREASE", "PENDING"), ("PRICE_INCREASE", "ACCEPTED"), ("REFUND", nil),
            ("REFUND_REVERSED", nil), ("REFUND_DECLINED", nil), ("REVOKE", nil), ("RENEWAL_EXTENDED", nil),
            ("RENEWAL_EXTENSION", "FAILURE"), ("A_TYPE_OF_TOMORROW", "AND_ITS_SUBTYPE"),
        ]
        return types.map { ($0.0, $0.1, full) } + [
            (
                "ONE_TIME_CHARGE", nil,
                .data(transaction: transaction, renewalInfo: nil, status: nil, consumptionReason: nil)
            ),
            (
                "CONSUMPTION_REQUEST", nil,
                .data(
                    transaction: transaction, renewalInfo: info, status: 1, consumptionReason: "UNINTENDED_PURCHASE")
            ),
            ("TEST", nil, .data(transaction: nil, renewalInfo: nil, status: nil, consumptionReason: nil)),
            (
                "RENEWAL_EXTENSION", "SUMMARY",
                .summary(
                    productID: "pro", requestID: "758883e8-151b-47b7-abd0-60c4d804c2f5", storefronts: ["USA", "DEU"],
                    succeeded: 5, failed: 2)
            ),
            (
                "EXTERNAL_PURCHASE_TOKEN", "UNREPORTED",
                .externalPurchaseToken(id: "SANDBOX_b2158121-7af9-49d4-9561-1f588205523e", created: self.now)
            ),
            ("RESCIND_CONSENT", nil, .appData(appTransaction: app)),
        ]
    }

    private static func transactions() -> [Transaction] {
        var plain = Transaction(
            id: 0, originalID: 0, appBundleID: "com.example.app", productID: "coins", productType: .consumable,
            purchaseDate: self.now, originalPurchaseDate: self.now, environment: .xcode,
            storefront: Storefront(countryCode: "USA", id: "143441"), reason: .purchase, signedDate: self.now)
        plain.quantity = 3
        plain.price = Money(milliunits: 2_970, currency: "USD")

        var full = plain
        full.id = .max
        full.originalID = 17
        full.productID = "pro.monthly"
        full.productType = .autoRenewable
        full.subscriptionGroupID = "21539821"
        full.webOrderLineItemID = "900000000000001"
        full.expirationDate = self.now.advanced(byMilliseconds: self.month)
        full.quantity = 1
        full.reason = .renewal
        full.isUpgraded = true
        full.ownership = .familyShared
        full.offer = TransactionOffer(
            id: "spring", type: .promotional, paymentMode: .payAsYouGo, period: Period(1, .month))
        full.revocation = Revocation(
            date: self.now, reason: .developerIssue, type: .refundProrated, percentageMilli: 50_000)
        full.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        full.appTransactionID = "704"
        full.billingPlan = .monthly
        full.commitment = Commitment(
            billingPeriodNumber: 2, totalBillingPeriods: 12,
            expirationDate: self.now.advanced(byMilliseconds: 10 * self.month),
            price: Money(milliunits: 99_990, currency: "USD"), willRenew: true)
        full.advancedCommerceInfo = Array(
            #"{"requestReferenceId":"r","taxCode":"C003","period":"P1M","items":[{"SKU":"s","price":5}]}"#.utf8)
        full.deviceVerification = [1, 2, 3]
        full.deviceVerificationNonce = "48ccfa42-7431-4f22-9908-7e88983e105a"

        var results = [plain, full]
        for type in [ProductType.nonConsumable, .nonRenewable] {
            var one = plain
            one.productType = type
            results.append(one)
        }
        for type in [OfferType.introductory, .code, .winBack] {
            for mode in [PaymentMode.freeTrial, .payUpFront, .oneTime] {
                var one = full
                one.offer = TransactionOffer(
                    id: type == .introductory ? "" : "o", type: type, paymentMode: mode, period: Period(3, .day))
                one.revocation = Revocation(
                    date: self.now, reason: .other, type: mode == .oneTime ? .familyRevoke : .refundFull)
                results.append(one)
            }
        }
        return results
    }

    private static func renewalInfos() -> [RenewalInfo] {
        let plain = RenewalInfo(
            originalTransactionID: 17, currentProductID: "pro.monthly", willAutoRenew: true,
            renewalDate: self.now.advanced(byMilliseconds: self.month), recentSubscriptionStartDate: self.now,
            environment: .xcode, signedDate: self.now)
        var full = plain
        full.willAutoRenew = false
        full.autoRenewPreference = "pro.yearly"
        full.expirationReason = .billingError
        full.isInBillingRetry = true
        full.gracePeriodExpirationDate = self.now
        full.priceIncreaseStatus = .pending
        full.renewalPrice = Money(milliunits: 9_990, currency: "EUR")
        full.offer = TransactionOffer(id: "back", type: .winBack, paymentMode: .payUpFront, period: Period(1, .year))
        full.eligibleWinBackOfferIDs = ["one", "two"]
        full.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        full.appTransactionID = "704"
        full.renewalBillingPlan = .upFront
        full.commitment = Commitment(
            billingPeriodNumber: 0, totalBillingPeriods: 0, expirationDate: self.now,
            price: Money(milliunits: 1, currency: "EUR"), willRenew: true)
        var results = [plain, full]
        for number in Int32(1)...5 {
            var one = full
            one.expirationReason = ExpirationReason(rawValue: number)
            one.priceIncreaseStatus = .agreed
            results.append(one)
        }
        return results
    }
}
