import PerchBase
package import PerchModel

extension BillingRetry: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.failedAt)
        writer.write(self.until)
        writer.write(self.graceUntil)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let failedAt = try Instant(from: &reader)
        let until = try Instant(from: &reader)
        self.init(failedAt: failedAt, until: until, graceUntil: try reader.optional())
    }
}

extension RenewalExtension: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.original)
        writer.write(self.instant)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(original: try reader.uint64(), instant: try reader.value())
    }
}

extension AppTransactionTerms: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.originalAppVersion)
        writer.write(self.originalPurchaseDate)
        self.originalPlatform.write(to: &writer)
        self.environment.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            originalAppVersion: try reader.string(), originalPurchaseDate: try reader.optional(),
            originalPlatform: try AppPlatform(from: &reader), environment: try AppEnvironment(from: &reader))
    }
}

extension RedeemedOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.productID)
        writer.write(self.offerID)
        writer.write(self.code)
        writer.write(self.transactionID)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            productID: try reader.string(), offerID: try reader.string(), code: try reader.string(),
            transactionID: try reader.uint64())
    }
}

extension BillingPlanType {
    /// The plan that the product of the next period was ordered with. Form 1 has forgotten it, and what waited was
    /// charged up front.
    init(ofNextPeriodFrom reader: inout ByteReader) throws(DecodingFault) {
        self = reader.form < 2 ? .unspecified : try BillingPlanType(from: &reader)
    }
}

extension Line: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.latest)
        writer.write(self.willAutoRenew)
        writer.write(self.preference)
        self.preferredBillingPlan.write(to: &writer)
        writer.write(self.anchorDay)
        writer.write(self.offerInForce)
        writer.write(self.offerPeriodsLeft)
        writer.write(self.retry)
        writer.write(self.lapse)
        writer.write(self.increase)
        writer.write(self.lastIncrease)
        writer.write(self.agreedPrice)
        writer.write(self.queuedOffer)
        writer.write(self.level)
        writer.write(self.recentStart)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let latest = try Transaction(from: &reader)
        let willAutoRenew = try reader.bool()
        let preference = try reader.string()
        let preferredBillingPlan = try BillingPlanType(ofNextPeriodFrom: &reader)
        let anchorDay = try reader.int64()
        let offerInForce = try reader.optional(SubscriptionOffer.self)
        let offerPeriodsLeft = try reader.int32()
        let retry = try reader.optional(BillingRetry.self)
        let lapse = try reader.optional(ExpirationReason.self)
        let increase = try reader.optional(PriceIncrease.self)
        let lastIncrease = try reader.optional(Instant.self)
        let agreedPrice = try reader.optional(Money.self)
        let queuedOffer = try reader.optional(SubscriptionOffer.self)
        let level = try reader.int32()
        self.init(latest: latest, preference: preference, recentStart: try reader.value())
        self.willAutoRenew = willAutoRenew
        self.preferredBillingPlan = preferredBillingPlan
        self.anchorDay = anchorDay
        self.offerInForce = offerInForce
        self.offerPeriodsLeft = offerPeriodsLeft
        self.retry = retry
        self.lapse = lapse
        self.increase = increase
        self.lastIncrease = lastIncrease
        self.agreedPrice = agreedPrice
        self.queuedOffer = queuedOffer
        self.level = level
    }
}

extension LineTerms: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.preference)
        self.preferredBillingPlan.write(to: &writer)
        writer.write(self.anchorDay)
        writer.write(self.offerInForce)
        writer.write(self.offerPeriodsLeft)
        writer.write(self.recentStart)
        writer.write(self.queuedOffer)
        writer.write(self.agreedPrice)
        writer.write(self.lastIncrease)
        writer.write(self.level)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let preference = try reader.string()
        let preferredBillingPlan = try BillingPlanType(ofNextPeriodFrom: &reader)
        let anchorDay = try reader.int64()
        let offerInForce = try reader.optional(SubscriptionOffer.self)
        let offerPeriodsLeft = try reader.int32()
        self.init(
            preference: preference, anchorDay: anchorDay, offerInForce: offerInForce,
            offerPeriodsLeft: offerPeriodsLeft, recentStart: try reader.value())
        self.preferredBillingPlan = preferredBillingPlan
        self.queuedOffer = try reader.optional()
        self.agreedPrice = try reader.optional()
        self.lastIncrease = try reader.optional()
        self.level = try reader.int32()
    }
}

extension AccountRecord {
    package func sealed() -> [UInt8] {
        SealedBlob.seal(.record(self.account)) { self.writeFields(to: &$0) }
    }

    package init(unsealing bytes: [UInt8], of account: AccountNumber) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .record(account)) { (reader) throws(DecodingFault) in
            try AccountRecord(of: account, fieldsFrom: &reader)
        }
    }

    /// All but the account's number, which is part of the key.
    func writeFields(to writer: inout ByteWriter) {
        writer.write(self.app)
        writer.write(self.revision)
        writer.write(self.committed)
        writer.write(self.appTransactionID)
        writer.write(self.lines)
        writer.write(self.owned)
        writer.write(self.histories)
        writer.write(self.pendingPurchases)
        writer.write(self.intents)
        writer.write(self.shares)
        writer.write(self.awaitingSync)
        writer.write(self.storefront)
        writer.write(self.chargesFail)
        writer.write(self.messagePosted)
        writer.write(self.extensions)
        writer.write(self.refundRequests)
        writer.write(self.reported)
        writer.write(self.grants)
        let isNeeded = self.arePaymentsForbidden || self.appTransaction != nil || !self.redeemedOffers.isEmpty
        guard writer.has(form: 5, isNeeded: isNeeded) else { return }
        writer.write(self.arePaymentsForbidden)
        writer.write(self.appTransaction)
        writer.write(self.redeemedOffers)
    }

    init(of account: AccountNumber, fieldsFrom reader: inout ByteReader) throws(DecodingFault) {
        var record = AccountRecord(account: account, app: try reader.uint32())
        try record.change { (fields) throws(DecodingFault) in
            fields.revision = try reader.uint64()
            fields.committed = try reader.value()
            fields.appTransactionID = try reader.string()
            fields.lines = try reader.array()
            fields.owned = try reader.array()
            fields.histories = try reader.array()
            fields.pendingPurchases = try reader.array()
            fields.intents = try reader.array()
            fields.shares = try reader.array()
            fields.awaitingSync = try reader.array()
            fields.storefront = try reader.string()
            fields.chargesFail = try reader.optional()
            fields.messagePosted = try reader.optional()
            // Forms 1 and 2 did not keep them: they are counted from then on.
            guard reader.form >= 3 else { return }
            fields.extensions = try reader.array()
            fields.refundRequests = try reader.array()
            // Form 3 had no App Store apps.
            guard reader.form >= 4 else { return }
            fields.reported = try reader.optional()
            fields.grants = try reader.array()
            // Before form 5 no code was counted, and all payments were allowed.
            guard reader.form >= 5 else { return }
            fields.arePaymentsForbidden = try reader.bool()
            fields.appTransaction = try reader.optional()
            fields.redeemedOffers = try reader.array()
        }
        self = record
    }
}

extension Transaction {
    /// The encoded row of an account; the finished flag is stored beside it.
    package func sealed(account: AccountNumber) -> [UInt8] {
        SealedBlob.seal(.transaction(self.id, account: account)) { $0.write(self) }
    }

    package init(
        unsealing bytes: [UInt8], id: TransactionID, account: AccountNumber
    ) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .transaction(id, account: account)) { (reader) throws(DecodingFault) in
            let transaction = try Transaction(from: &reader)
            guard transaction.id == id else { throw .invalid("transaction number", atOffset: reader.offset) }
            return transaction
        }
    }
}
