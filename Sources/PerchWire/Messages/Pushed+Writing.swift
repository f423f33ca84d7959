import PerchBase
import PerchModel

// What is pushed, and what a purchase is answered with, as `PushWriter` writes it: fields from the highest number to the
// lowest. A test compares each of them with what protobuf-c makes of the same values.

extension Position {
    func write(to writer: inout PushWriter) {
        writer.instant(2, self.asOf)
        writer.number(1, self.revision)
    }
}

extension Money {
    fileprivate func write(to writer: inout PushWriter) {
        writer.text(2, self.currency)
        writer.number(1, UInt64(bitPattern: self.milliunits))
    }
}

extension TransactionOffer {
    fileprivate func write(to writer: inout PushWriter) {
        if let period = self.period {
            writer.message(4) {
                $0.number(2, UInt32(bitPattern: period.value))
                $0.value(1, period.unit)
            }
        }
        writer.value(3, self.paymentMode)
        writer.value(2, self.type)
        writer.text(1, self.id)
    }
}

extension Revocation {
    fileprivate func write(to writer: inout PushWriter) {
        writer.number(4, self.percentageMilli)
        writer.value(3, self.type)
        writer.value(2, self.reason)
        writer.instant(1, self.date)
    }
}

extension Commitment {
    fileprivate func write(to writer: inout PushWriter) {
        writer.flag(5, self.willRenew)
        if !self.price.isBlank { writer.message(4) { self.price.write(to: &$0) } }
        writer.instant(3, self.expirationDate)
        writer.number(2, self.totalBillingPeriods)
        writer.number(1, self.billingPeriodNumber)
    }
}

extension Transaction {
    fileprivate func write(to writer: inout PushWriter) {
        let contents = self.contents
        writer.transaction(self) { writer in
            if let rare = contents.fields.rare {
                writer.bytes(27, rare.value.advancedCommerceInfo)
                if let commitment = rare.value.commitment { writer.message(26) { commitment.write(to: &$0) } }
            }
            writer.value(25, contents.fields.billingPlan)
        } signatures: { writer in
            if let rare = contents.fields.rare {
                writer.text(24, rare.value.deviceVerificationNonce)
                writer.bytes(23, rare.value.deviceVerification)
            }
            writer.instant(22, contents.fields.signedDate)
        } head: { writer in
            if let price = contents.fields.price { writer.message(21) { price.write(to: &$0) } }
            writer.value(20, contents.fields.reason)
            if !contents.fields.storefront.isBlank {
                writer.message(19) {
                    $0.text(2, contents.fields.storefront.id)
                    $0.text(1, contents.fields.storefront.countryCode)
                }
            }
            writer.value(18, contents.fields.environment)
            writer.text(17, contents.fields.appAccountToken)
            if let rare = contents.fields.rare {
                if let revocation = rare.value.revocation { writer.message(16) { revocation.write(to: &$0) } }
                if let offer = rare.value.offer { writer.message(15) { offer.write(to: &$0) } }
            }
            writer.value(14, contents.fields.ownership)
            writer.flag(13, contents.fields.isUpgraded)
            writer.number(12, contents.fields.quantity)
            if let end = contents.fields.expirationDate { writer.present(11, UInt64(bitPattern: end.milliseconds)) }
            writer.instant(10, contents.fields.originalPurchaseDate)
            writer.instant(9, contents.fields.purchaseDate)
            writer.text(8, contents.fields.subscriptionGroupID)
            writer.value(7, contents.fields.productType)
            writer.text(6, contents.fields.productID)
            writer.text(5, contents.fields.appTransactionID)
            writer.text(4, contents.fields.appBundleID)
            writer.text(3, contents.fields.webOrderLineItemID)
            writer.number(2, contents.fields.originalID)
            writer.number(1, contents.fields.id)
        }
    }
}

extension Verified<Transaction> {
    func write(to writer: inout PushWriter) {
        if !writer.omitsSignatures { writer.text(3, self.jws) }
        writer.value(2, self.failure)
        if !self.value.isBlank { writer.message(1) { self.value.write(to: &$0) } }
    }
}

extension RenewalInfo {
    fileprivate func write(to writer: inout PushWriter) {
        if let commitment = self.commitment { writer.message(19) { commitment.write(to: &$0) } }
        writer.value(18, self.renewalBillingPlan)
        if !writer.omitsSignatures { writer.instant(17, self.signedDate) }
        writer.value(16, self.environment)
        writer.text(15, self.appTransactionID)
        writer.text(14, self.appAccountToken)
        writer.instant(13, self.recentSubscriptionStartDate)
        for id in self.eligibleWinBackOfferIDs.reversed() { writer.item(12, id) }
        if let offer = self.offer { writer.message(11) { offer.write(to: &$0) } }
        if let price = self.renewalPrice { writer.message(10) { price.write(to: &$0) } }
        writer.instant(9, self.renewalDate)
        writer.value(8, self.priceIncreaseStatus)
        if let end = self.gracePeriodExpirationDate { writer.present(7, UInt64(bitPattern: end.milliseconds)) }
        writer.flag(6, self.isInBillingRetry)
        if let reason = self.expirationReason { writer.value(5, reason) }
        if let preference = self.autoRenewPreference { writer.text(4, preference) }
        writer.flag(3, self.willAutoRenew)
        writer.text(2, self.currentProductID)
        writer.number(1, self.originalTransactionID)
    }
}

extension Verified<RenewalInfo> {
    fileprivate func write(to writer: inout PushWriter) {
        if !writer.omitsSignatures { writer.text(3, self.jws) }
        writer.value(2, self.failure)
        if !self.value.isBlank { writer.message(1) { self.value.write(to: &$0) } }
    }
}

extension SubscriptionStatuses {
    func write(to writer: inout PushWriter) {
        writer.value(3, self.effectiveReason)
        if let index = self.effectiveIndex { writer.present(2, UInt64(UInt32(index))) }
        for status in self.statuses.reversed() {
            writer.message(1) {
                if !status.renewalInfo.isBlank { $0.message(3) { status.renewalInfo.write(to: &$0) } }
                if !status.transaction.isBlank { $0.message(2) { status.transaction.write(to: &$0) } }
                $0.value(1, status.state)
            }
        }
    }
}

extension ValueInfo {
    /// `token`: the one to be written, where it is not in `token` as bytes.
    func write(to writer: inout PushWriter, token: ResumeToken? = nil) {
        if let token { writer.token(5, token) } else { writer.bytes(5, self.token) }
        if let forecast = self.forecast {
            writer.message(4) {
                $0.flag(5, forecast.state.isEntitled)
                $0.value(4, forecast.state)
                $0.number(3, forecast.originalTransactionID)
                $0.value(2, forecast.kind)
                $0.instant(1, forecast.at)
            }
        }
        writer.value(3, self.cause)
        writer.instant(2, self.committed)
        if !self.position.isBlank { writer.message(1) { self.position.write(to: &$0) } }
    }
}

extension OperateResponse {
    func write(to writer: inout PushWriter) {
        writer.number(5, self.number)
        writer.flag(4, self.wasHeld)
        writer.value(3, self.purchaseResult)
        if let transaction = self.transaction { writer.message(2) { transaction.write(to: &$0) } }
        if let position = self.position { writer.message(1) { position.write(to: &$0) } }
    }
}

extension PurchaseResponse {
    func write(to writer: inout PushWriter) {
        writer.number(5, self.pendingNumber)
        writer.flag(4, self.wasHeld)
        if let transaction = self.transaction { writer.message(3) { transaction.write(to: &$0) } }
        writer.value(2, self.result)
        if let position = self.position { writer.message(1) { position.write(to: &$0) } }
    }
}

extension Beat {
    func write(to writer: inout PushWriter) {
        writer.instant(2, self.serverTime)
        writer.number(1, self.revision)
    }
}
