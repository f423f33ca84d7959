import PerchBase
import PerchJSON
package import PerchModel

/// A payload that the model cannot hold: a field that it needs is missing or unusable.
package struct PayloadFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let field: String

    package var description: String { "the field \(self.field) is missing, or has a value that Perch cannot use" }
}

extension PayloadFields {
    /// The identifier of a transaction: a decimal number of 64 bits without sign or leading zeros.
    func transactionID(_ name: String) -> TransactionID? {
        guard let text = self.text(name), let id = TransactionID(text), String(id) == text else { return nil }
        return id
    }

    fileprivate func requiredTransactionID(_ name: String) throws(PayloadFault) -> TransactionID {
        guard let id = self.transactionID(name) else { throw PayloadFault(field: name) }
        return id
    }

    fileprivate func requiredText(_ name: String) throws(PayloadFault) -> String {
        guard let text = self.text(name), !text.isEmpty else { throw PayloadFault(field: name) }
        return text
    }

    fileprivate func requiredInstant(_ name: String) throws(PayloadFault) -> Instant {
        guard let instant = self.instant(name) else { throw PayloadFault(field: name) }
        return instant
    }

    /// The offer fields, which transactions and renewal information share.
    fileprivate var offer: TransactionOffer? {
        guard let type = self.integer("offerType").flatMap({ Int32(exactly: $0) }) else { return nil }
        return TransactionOffer(
            id: self.text("offerIdentifier") ?? "", type: OfferType(rawValue: type),
            paymentMode: AppleNames.payment.value(of: self.text("offerDiscountType")),
            period: self.text("offerPeriod").flatMap { Period(iso8601: $0) })
    }
}

extension TransactionPayload {
    /// The model's transaction. Throws where a field is missing that it needs; other missing fields read as unspecified.
    package func transaction() throws(PayloadFault) -> Transaction {
        let fields = self.fields
        let id = try fields.requiredTransactionID("transactionId")
        let originalID =
            fields.value["originalTransactionId"] == nil
            ? id : try fields.requiredTransactionID("originalTransactionId")
        let purchaseDate = try fields.requiredInstant("purchaseDate")
        var transaction = Transaction(
            id: id, originalID: originalID, appBundleID: try fields.requiredText("bundleId"),
            productID: try fields.requiredText("productId"),
            productType: AppleNames.productType.value(of: self.type), purchaseDate: purchaseDate,
            originalPurchaseDate: self.originalPurchaseDate ?? purchaseDate,
            environment: AppleNames.environment.value(of: self.environment),
            storefront: Storefront(countryCode: self.storefront ?? "", id: self.storefrontID ?? ""),
            reason: AppleNames.reason.value(of: self.transactionReason),
            signedDate: try fields.requiredInstant("signedDate"))
        if transaction.productType == .autoRenewable, self.expiresDate == nil {
            throw PayloadFault(field: "expiresDate")
        }
        transaction.change { self.fill(&$0) }
        return transaction
    }

    private func fill(_ transaction: inout TransactionFields) {
        transaction.webOrderLineItemID = self.webOrderLineItemID ?? ""
        transaction.subscriptionGroupID = self.subscriptionGroupID ?? ""
        transaction.expirationDate = self.expiresDate
        transaction.quantity = self.quantity.flatMap { UInt32(exactly: $0) } ?? 1
        transaction.isUpgraded = self.isUpgraded ?? false
        transaction.ownership = self.ownershipType.map { AppleNames.ownership.value(of: $0) } ?? .purchased
        transaction.appAccountToken = self.appAccountToken?.lowercased() ?? ""
        transaction.appTransactionID = self.appTransactionID ?? ""
        transaction.billingPlan = AppleNames.billingPlan.value(of: self.billingPlanType)
        if let price = self.price {
            transaction.price = Money(milliunits: price, currency: self.currency ?? "")
        }
        transaction.offer = self.fields.offer
        if let date = self.revocationDate {
            transaction.revocation = Revocation(
                date: date, reason: self.revocationReason == 1 ? .developerIssue : .other,
                type: self.revocationType.map { AppleNames.revocation.value(of: $0) } ?? .refundFull,
                percentageMilli: self.revocationPercentage.flatMap { UInt32(exactly: $0) } ?? 100_000)
        }
        if let info = self.commitmentInfo, let expires = info.instant("commitmentExpiresDate") {
            transaction.commitment = Commitment(
                billingPeriodNumber: info.integer("billingPeriodNumber").flatMap { UInt32(exactly: $0) } ?? 0,
                totalBillingPeriods: info.integer("totalBillingPeriods").flatMap { UInt32(exactly: $0) } ?? 0,
                expirationDate: expires,
                price: Money(milliunits: info.integer("commitmentPrice") ?? 0, currency: self.currency ?? ""),
                willRenew: false)
        }
        if let info = self.advancedCommerceInfo { transaction.advancedCommerceInfo = info.json }
        if let verification = self.deviceVerification, let bytes = Base64.decode(verification) {
            transaction.deviceVerification = bytes
            transaction.deviceVerificationNonce = self.deviceVerificationNonce ?? ""
        }
    }
}

extension PayloadFields {
    /// The object as JSON.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.value(self.value)
        // It was read within the limits of a signed value, far below those of a writer.
        return (try? writer.finish()) ?? []
    }
}

extension RenewalInfoPayload {
    /// The model's renewal information, as told.
    package func renewalInfo() throws(PayloadFault) -> RenewalInfo {
        let fields = self.fields
        guard let status = self.autoRenewStatus else { throw PayloadFault(field: "autoRenewStatus") }
        let signedDate = try fields.requiredInstant("signedDate")
        let renewalDate = self.renewalDate ?? signedDate
        var info = RenewalInfo(
            originalTransactionID: try fields.requiredTransactionID("originalTransactionId"),
            currentProductID: try fields.requiredText("productId"), willAutoRenew: status == 1,
            renewalDate: renewalDate, recentSubscriptionStartDate: self.recentSubscriptionStartDate ?? renewalDate,
            environment: AppleNames.environment.value(of: self.environment), signedDate: signedDate)
        info.autoRenewPreference = self.autoRenewProductID
        info.expirationReason = self.expirationIntent.flatMap { Int32(exactly: $0) }.map {
            ExpirationReason(rawValue: $0)
        }
        info.isInBillingRetry = self.isInBillingRetryPeriod ?? false
        info.gracePeriodExpirationDate = self.gracePeriodExpiresDate
        info.priceIncreaseStatus =
            switch self.priceIncreaseStatus {
            case nil: .noIncreasePending
            case 0: .pending
            default: .agreed
            }
        if let price = self.renewalPrice {
            info.renewalPrice = Money(milliunits: price, currency: self.currency ?? "")
        }
        info.offer = fields.offer
        info.eligibleWinBackOfferIDs = self.eligibleWinBackOfferIDs ?? []
        info.appAccountToken = self.appAccountToken?.lowercased() ?? ""
        info.appTransactionID = self.appTransactionID ?? ""
        info.renewalBillingPlan = AppleNames.billingPlan.value(of: self.renewalBillingPlanType)
        if let commitment = self.commitmentInfo, let date = commitment.instant("commitmentRenewalDate") {
            info.commitment = Commitment(
                billingPeriodNumber: 0, totalBillingPeriods: 0, expirationDate: date,
                price: Money(
                    milliunits: commitment.integer("commitmentRenewalPrice") ?? 0, currency: self.currency ?? ""),
                willRenew: commitment.integer("commitmentAutoRenewStatus") == 1)
        }
        return info
    }
}
