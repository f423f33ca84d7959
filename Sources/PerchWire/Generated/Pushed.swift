// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

import PerchBase
import PerchModel

extension Position {
    func write(to writer: inout PushWriter) {
        writer.number(3, self.epoch == 0 ? writer.epoch : self.epoch)
        writer.instant(2, self.asOf)
        writer.number(1, self.revision)
    }
}

extension Money {
    func write(to writer: inout PushWriter) {
        writer.text(2, self.currency)
        writer.number(1, UInt64(bitPattern: self.milliunits))
    }
}

extension Storefront {
    func write(to writer: inout PushWriter) {
        writer.text(2, self.id)
        writer.text(1, self.countryCode)
    }
}

extension Revocation {
    func write(to writer: inout PushWriter) {
        writer.number(4, self.percentageMilli)
        writer.value(3, self.type)
        writer.value(2, self.reason)
        writer.instant(1, self.date)
    }
}

extension TransactionOffer {
    func write(to writer: inout PushWriter) {
        if let value = self.period { writer.message(4) { value.write(to: &$0) } }
        writer.value(3, self.paymentMode)
        writer.value(2, self.type)
        writer.text(1, self.id)
    }
}

extension Commitment {
    func write(to writer: inout PushWriter) {
        writer.flag(5, self.willRenew)
        if !self.price.isBlank { writer.message(4) { self.price.write(to: &$0) } }
        writer.instant(3, self.expirationDate)
        writer.number(2, self.totalBillingPeriods)
        writer.number(1, self.billingPeriodNumber)
    }
}

extension Transaction {
    func write(to writer: inout PushWriter) {
        let contents = self.contents
        writer.transaction(self) { writer in
            if let rare = contents.fields.rare {
                writer.bytes(27, rare.value.advancedCommerceInfo)
                if let value = rare.value.commitment { writer.message(26) { value.write(to: &$0) } }
            }
            writer.value(25, contents.fields.billingPlan)
        } signatures: { writer in
            if let rare = contents.fields.rare {
                writer.text(24, rare.value.deviceVerificationNonce)
                writer.bytes(23, rare.value.deviceVerification)
            }
            writer.instant(22, contents.fields.signedDate)
        } head: { writer in
            if let value = contents.fields.price { writer.message(21) { value.write(to: &$0) } }
            writer.value(20, contents.fields.reason)
            if !contents.fields.storefront.isBlank { writer.message(19) { contents.fields.storefront.write(to: &$0) } }
            writer.value(18, contents.fields.environment)
            writer.text(17, contents.fields.writtenAccountToken)
            if let rare = contents.fields.rare {
                if let value = rare.value.revocation { writer.message(16) { value.write(to: &$0) } }
                if let value = rare.value.offer { writer.message(15) { value.write(to: &$0) } }
            }
            writer.value(14, contents.fields.ownership)
            writer.flag(13, contents.fields.isUpgraded)
            writer.number(12, contents.fields.quantity)
            if let value = contents.fields.expirationDate { writer.present(11, UInt64(bitPattern: value.milliseconds)) }
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

extension RenewalInfo {
    func write(to writer: inout PushWriter) {
        writer.flag(20, self.isUnreported)
        if let value = self.commitment { writer.message(19) { value.write(to: &$0) } }
        writer.value(18, self.renewalBillingPlan)
        if !writer.omitsSignatures {
            writer.instant(17, self.signedDate)
        }
        writer.value(16, self.environment)
        writer.text(15, self.appTransactionID)
        writer.text(14, self.accountToken)
        writer.instant(13, self.recentSubscriptionStartDate)
        for value in self.eligibleWinBackOfferIDs.reversed() {
            writer.item(12, value)
        }
        if let value = self.offer { writer.message(11) { value.write(to: &$0) } }
        if let value = self.renewalPrice { writer.message(10) { value.write(to: &$0) } }
        writer.instant(9, self.renewalDate)
        writer.value(8, self.priceIncreaseStatus)
        if let value = self.gracePeriodExpirationDate { writer.present(7, UInt64(bitPattern: value.milliseconds)) }
        writer.flag(6, self.isInBillingRetry)
        if let value = self.expirationReason { writer.value(5, value) }
        if let value = self.autoRenewPreference { writer.text(4, value) }
        writer.flag(3, self.willAutoRenew)
        writer.text(2, self.currentProductID)
        writer.number(1, self.originalTransactionID)
    }
}

extension SubscriptionStatus {
    func write(to writer: inout PushWriter) {
        if !self.renewalInfo.isBlank { writer.message(3) { self.renewalInfo.write(to: &$0) } }
        if !self.transaction.isBlank { writer.message(2) { self.transaction.write(to: &$0) } }
        writer.value(1, self.state)
    }
}

extension GroupEffective {
    func write(to writer: inout PushWriter) {
        writer.value(3, self.reason)
        writer.number(2, self.index)
        writer.text(1, self.groupID)
    }
}

extension SubscriptionStatuses {
    func write(to writer: inout PushWriter) {
        for value in self.effectiveInGroups.reversed() {
            writer.message(4) { value.write(to: &$0) }
        }
        writer.value(3, self.effectiveReason)
        if let value = self.effectiveIndex { writer.present(2, UInt64(UInt32(value))) }
        for value in self.statuses.reversed() {
            writer.message(1) { value.write(to: &$0) }
        }
    }
}

extension Bookmark {
    func write(to writer: inout PushWriter) {
        writer.instant(2, self.serverTime)
        writer.number(1, self.revision)
    }
}

extension Forecast {
    func write(to writer: inout PushWriter) {
        writer.flag(5, self.state.isEntitled)
        writer.value(4, self.state)
        writer.number(3, self.originalTransactionID)
        writer.value(2, self.kind)
        writer.instant(1, self.at)
    }
}

extension OperateResponse {
    func write(to writer: inout PushWriter) {
        writer.number(5, self.number)
        writer.flag(4, self.wasHeld)
        writer.value(3, self.purchaseResult)
        if let value = self.transaction { writer.message(2) { value.write(to: &$0) } }
        if let value = self.position { writer.message(1) { value.write(to: &$0) } }
    }
}

extension PurchaseResponse {
    func write(to writer: inout PushWriter) {
        writer.number(5, self.pendingNumber)
        writer.flag(4, self.wasHeld)
        if let value = self.transaction { writer.message(3) { value.write(to: &$0) } }
        writer.value(2, self.result)
        if let value = self.position { writer.message(1) { value.write(to: &$0) } }
    }
}

extension Beat {
    func write(to writer: inout PushWriter) {
        writer.instant(2, self.serverTime)
        writer.number(1, self.revision)
    }
}
