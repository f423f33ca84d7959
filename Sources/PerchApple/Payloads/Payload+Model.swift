import PerchBase
import PerchJSON
package import PerchModel

/// A payload that the model cannot hold: a field that it needs is missing or unusable.
package struct PayloadFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let field: String

    package var description: String { "the field \(self.field) is missing, or has a value that Perch cannot use" }
}

extension PayloadFields {
    /// The identifier of a transaction: a decimal number without sign or leading zeros that every storage holds.
    func transactionID(_ name: String) -> TransactionID? {
        guard let text = self.text(name), let id = TransactionID(text), String(id) == text,
            Limits.reportedTransactionIDs.contains(id)
        else { return nil }
        return id
    }

    /// A date that calendar arithmetic can take; nil where there is none. Throws for a date of another century than those of four
    /// digits, and for what is no date.
    fileprivate func usableInstant(_ name: String) throws(PayloadFault) -> Instant? {
        guard let value = self.value[name], !value.isNull else { return nil }
        guard let instant = value.instant, Limits.readableMilliseconds.contains(instant.milliseconds) else {
            throw PayloadFault(field: name)
        }
        return instant
    }

    /// An amount of money in thousandths that arithmetic can take; nil where there is none.
    fileprivate func usableAmount(_ name: String) throws(PayloadFault) -> Int64? {
        guard let amount = self.integer(name) else { return nil }
        guard Limits.reportedAmounts.contains(amount) else { throw PayloadFault(field: name) }
        return amount
    }

    /// A text of a length that keys and rows may have; nil where there is none.
    func usableText(_ name: String) throws(PayloadFault) -> String? {
        guard let text = self.text(name) else { return nil }
        guard text.utf8.count <= Limits.reportedTextBytesMax, !text.utf8.contains(0) else {
            throw PayloadFault(field: name)
        }
        return text
    }

    fileprivate func requiredTransactionID(_ name: String) throws(PayloadFault) -> TransactionID {
        guard let id = self.transactionID(name) else { throw PayloadFault(field: name) }
        return id
    }

    fileprivate func requiredText(_ name: String) throws(PayloadFault) -> String {
        guard let text = try self.usableText(name), !text.isEmpty else { throw PayloadFault(field: name) }
        return text
    }

    fileprivate func requiredInstant(_ name: String) throws(PayloadFault) -> Instant {
        guard let instant = try self.usableInstant(name) else { throw PayloadFault(field: name) }
        return instant
    }

    /// The offer fields, which transactions and renewal information share.
    fileprivate func offer() throws(PayloadFault) -> TransactionOffer? {
        guard let type = self.integer("offerType").flatMap({ Int32(exactly: $0) }) else { return nil }
        return TransactionOffer(
            id: try self.usableText("offerIdentifier") ?? "", type: OfferType(rawValue: type),
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
            originalPurchaseDate: try fields.usableInstant("originalPurchaseDate") ?? purchaseDate,
            environment: AppleNames.environment.value(of: self.environment),
            storefront: Storefront(countryCode: self.storefront ?? "", id: self.storefrontID ?? ""),
            reason: AppleNames.reason.value(of: self.transactionReason),
            signedDate: try fields.requiredInstant("signedDate"))
        if transaction.productType == .autoRenewable, self.expiresDate == nil {
            throw PayloadFault(field: "expiresDate")
        }
        try transaction.change { (transaction) throws(PayloadFault) in try self.fill(&transaction) }
        return transaction
    }

    private func fill(_ transaction: inout TransactionFields) throws(PayloadFault) {
        transaction.webOrderLineItemID = try self.fields.usableText("webOrderLineItemId") ?? ""
        transaction.subscriptionGroupID = try self.fields.usableText("subscriptionGroupIdentifier") ?? ""
        transaction.expirationDate = try self.fields.usableInstant("expiresDate")
        transaction.quantity = self.quantity.flatMap { UInt32(exactly: $0) } ?? 1
        transaction.isUpgraded = self.isUpgraded ?? false
        transaction.ownership = self.ownershipType.map { AppleNames.ownership.value(of: $0) } ?? .purchased
        transaction.appAccountToken = try self.fields.usableText("appAccountToken")?.lowercased() ?? ""
        transaction.appTransactionID = try self.fields.usableText("appTransactionId") ?? ""
        transaction.billingPlan = AppleNames.billingPlan.value(of: self.billingPlanType)
        if let price = try self.fields.usableAmount("price") {
            transaction.price = Money(milliunits: price, currency: self.currency ?? "")
        }
        transaction.offer = try self.fields.offer()
        if let date = try self.fields.usableInstant("revocationDate") {
            transaction.revocation = Revocation(
                date: date, reason: self.revocationReason == 1 ? .developerIssue : .other,
                type: self.revocationType.map { AppleNames.revocation.value(of: $0) } ?? .refundFull,
                percentageMilli: self.revocationPercentage.flatMap { UInt32(exactly: $0) } ?? 100_000)
        }
        if let info = self.commitmentInfo, let expires = try info.usableInstant("commitmentExpiresDate") {
            transaction.commitment = Commitment(
                billingPeriodNumber: info.integer("billingPeriodNumber").flatMap { UInt32(exactly: $0) } ?? 0,
                totalBillingPeriods: info.integer("totalBillingPeriods").flatMap { UInt32(exactly: $0) } ?? 0,
                expirationDate: expires,
                price: Money(milliunits: try info.usableAmount("commitmentPrice") ?? 0, currency: self.currency ?? ""),
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
        let renewalDate = try fields.usableInstant("renewalDate") ?? signedDate
        let recentStart = try fields.usableInstant("recentSubscriptionStartDate")
        var info = RenewalInfo(
            originalTransactionID: try fields.requiredTransactionID("originalTransactionId"),
            currentProductID: try fields.requiredText("productId"), willAutoRenew: status == 1,
            renewalDate: renewalDate, recentSubscriptionStartDate: recentStart ?? renewalDate,
            environment: AppleNames.environment.value(of: self.environment), signedDate: signedDate)
        info.autoRenewPreference = try fields.usableText("autoRenewProductId")
        info.expirationReason = self.expirationIntent.flatMap { Int32(exactly: $0) }.map {
            ExpirationReason(rawValue: $0)
        }
        info.isInBillingRetry = self.isInBillingRetryPeriod ?? false
        info.gracePeriodExpirationDate = try fields.usableInstant("gracePeriodExpiresDate")
        info.priceIncreaseStatus =
            switch self.priceIncreaseStatus {
            case nil: .noIncreasePending
            case 0: .pending
            default: .agreed
            }
        if let price = try fields.usableAmount("renewalPrice") {
            info.renewalPrice = Money(milliunits: price, currency: self.currency ?? "")
        }
        info.offer = try fields.offer()
        info.eligibleWinBackOfferIDs = self.eligibleWinBackOfferIDs ?? []
        info.appAccountToken = try fields.usableText("appAccountToken")?.lowercased() ?? ""
        info.appTransactionID = try fields.usableText("appTransactionId") ?? ""
        info.renewalBillingPlan = AppleNames.billingPlan.value(of: self.renewalBillingPlanType)
        if let commitment = self.commitmentInfo, let date = try commitment.usableInstant("commitmentRenewalDate") {
            info.commitment = Commitment(
                billingPeriodNumber: 0, totalBillingPeriods: 0, expirationDate: date,
                price: Money(
                    milliunits: try commitment.usableAmount("commitmentRenewalPrice") ?? 0,
                    currency: self.currency ?? ""),
                willRenew: commitment.integer("commitmentAutoRenewStatus") == 1)
        }
        return info
    }
}
