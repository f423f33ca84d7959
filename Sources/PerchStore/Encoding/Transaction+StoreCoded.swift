import PerchBase
import PerchModel

/// The transaction fields that are written: those that differ from their usual value.
private struct Fields: OptionSet {
    let rawValue: UInt32

    static let originalID = Self(rawValue: 1 << 0)
    static let webOrderLineItemID = Self(rawValue: 1 << 1)
    static let appTransactionID = Self(rawValue: 1 << 2)
    static let subscriptionGroupID = Self(rawValue: 1 << 3)
    static let originalPurchaseDate = Self(rawValue: 1 << 4)
    static let expirationDate = Self(rawValue: 1 << 5)
    static let quantity = Self(rawValue: 1 << 6)
    static let isUpgraded = Self(rawValue: 1 << 7)
    static let ownership = Self(rawValue: 1 << 8)
    static let offer = Self(rawValue: 1 << 9)
    static let revocation = Self(rawValue: 1 << 10)
    static let appAccountToken = Self(rawValue: 1 << 11)
    static let price = Self(rawValue: 1 << 12)
    static let signedDate = Self(rawValue: 1 << 13)
    static let deviceVerification = Self(rawValue: 1 << 14)
    static let deviceVerificationNonce = Self(rawValue: 1 << 15)
    static let billingPlan = Self(rawValue: 1 << 16)
    static let commitment = Self(rawValue: 1 << 17)
    static let advancedCommerceInfo = Self(rawValue: 1 << 18)
    static let all = Self(rawValue: 1 << 19 - 1)

    /// The fields in which a transaction differs from one with only the mandatory fields.
    init(of transaction: Transaction) {
        self = []
        func mark(_ field: Fields, _ differs: Bool) { if differs { self.insert(field) } }
        mark(.originalID, transaction.originalID != transaction.id)
        mark(.webOrderLineItemID, !transaction.webOrderLineItemID.isEmpty)
        mark(.appTransactionID, !transaction.appTransactionID.isEmpty)
        mark(.subscriptionGroupID, !transaction.subscriptionGroupID.isEmpty)
        mark(.originalPurchaseDate, transaction.originalPurchaseDate != transaction.purchaseDate)
        mark(.expirationDate, transaction.expirationDate != nil)
        mark(.quantity, transaction.quantity != 1)
        mark(.isUpgraded, transaction.isUpgraded)
        mark(.ownership, transaction.ownership != .purchased)
        mark(.offer, transaction.offer != nil)
        mark(.revocation, transaction.revocation != nil)
        mark(.appAccountToken, !transaction.contents.fields.writtenAccountToken.isEmpty)
        mark(.price, transaction.price != nil)
        mark(.signedDate, transaction.signedDate != transaction.purchaseDate)
        mark(.deviceVerification, !transaction.deviceVerification.isEmpty)
        mark(.deviceVerificationNonce, !transaction.deviceVerificationNonce.isEmpty)
        mark(.billingPlan, transaction.billingPlan != .unspecified)
        mark(.commitment, transaction.commitment != nil)
        mark(.advancedCommerceInfo, !transaction.advancedCommerceInfo.isEmpty)
    }

    init(rawValue: UInt32) { self.rawValue = rawValue }
}

extension Transaction: StoreCoded {
    func write(to writer: inout ByteWriter) {
        let fields = Fields(of: self)
        writer.write(fields.rawValue)
        writer.write(self.id)
        writer.write(self.appBundleID)
        writer.write(self.productID)
        self.productType.write(to: &writer)
        writer.write(self.purchaseDate)
        self.environment.write(to: &writer)
        writer.write(self.storefront.countryCode)
        writer.write(self.storefront.id)
        self.reason.write(to: &writer)
        if fields.contains(.originalID) { writer.write(self.originalID) }
        if fields.contains(.webOrderLineItemID) { writer.write(self.webOrderLineItemID) }
        if fields.contains(.appTransactionID) { writer.write(self.appTransactionID) }
        if fields.contains(.subscriptionGroupID) { writer.write(self.subscriptionGroupID) }
        if fields.contains(.originalPurchaseDate) { writer.write(self.originalPurchaseDate) }
        if let expirationDate { writer.write(expirationDate) }
        if fields.contains(.quantity) { writer.write(self.quantity) }
        if fields.contains(.ownership) { self.ownership.write(to: &writer) }
        if let offer { writer.write(offer) }
        if let revocation { writer.write(revocation) }
        if fields.contains(.appAccountToken) { writer.write(self.appAccountToken) }
        if let price { writer.write(price) }
        if fields.contains(.signedDate) { writer.write(self.signedDate) }
        if fields.contains(.deviceVerification) { writer.write(self.deviceVerification) }
        if fields.contains(.deviceVerificationNonce) { writer.write(self.deviceVerificationNonce) }
        if fields.contains(.billingPlan) { self.billingPlan.write(to: &writer) }
        if let commitment { writer.write(commitment) }
        if fields.contains(.advancedCommerceInfo) { writer.write(self.advancedCommerceInfo) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        let fields = Fields(rawValue: try reader.uint32())
        guard fields.isSubset(of: .all) else { throw .invalid("set of fields", atOffset: start) }
        let id = try reader.uint64()
        let appBundleID = try reader.string()
        let productID = try reader.string()
        let productType = try ProductType(from: &reader)
        let purchaseDate = try Instant(from: &reader)
        let environment = try AppEnvironment(from: &reader)
        let storefront = Storefront(countryCode: try reader.string(), id: try reader.string())
        let reason = try TransactionReason(from: &reader)
        self.init(
            id: id, originalID: id, appBundleID: appBundleID, productID: productID, productType: productType,
            purchaseDate: purchaseDate, originalPurchaseDate: purchaseDate, environment: environment,
            storefront: storefront, reason: reason, signedDate: purchaseDate)
        try self.change { rest throws(DecodingFault) in
            rest.isUpgraded = fields.contains(.isUpgraded)
            if fields.contains(.originalID) { rest.originalID = try reader.uint64() }
            if fields.contains(.webOrderLineItemID) { rest.webOrderLineItemID = try reader.string() }
            if fields.contains(.appTransactionID) { rest.appTransactionID = try reader.string() }
            if fields.contains(.subscriptionGroupID) { rest.subscriptionGroupID = try reader.string() }
            if fields.contains(.originalPurchaseDate) { rest.originalPurchaseDate = try reader.value() }
            if fields.contains(.expirationDate) { rest.expirationDate = try reader.value(Instant.self) }
            if fields.contains(.quantity) { rest.quantity = try reader.uint32() }
            if fields.contains(.ownership) { rest.ownership = try OwnershipType(from: &reader) }
            if fields.contains(.offer) { rest.offer = try reader.value(TransactionOffer.self) }
            if fields.contains(.revocation) { rest.revocation = try reader.value(Revocation.self) }
            if fields.contains(.appAccountToken) { rest.appAccountToken = try reader.string() }
            if fields.contains(.price) { rest.price = try reader.value(Money.self) }
            if fields.contains(.signedDate) { rest.signedDate = try reader.value() }
            if fields.contains(.deviceVerification) { rest.deviceVerification = try reader.blob() }
            if fields.contains(.deviceVerificationNonce) { rest.deviceVerificationNonce = try reader.string() }
            if fields.contains(.billingPlan) { rest.billingPlan = try BillingPlanType(from: &reader) }
            if fields.contains(.commitment) { rest.commitment = try reader.value(Commitment.self) }
            if fields.contains(.advancedCommerceInfo) { rest.advancedCommerceInfo = try reader.blob() }
        }
    }
}

extension TransactionOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        self.type.write(to: &writer)
        self.paymentMode.write(to: &writer)
        writer.write(self.period)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.string()
        let type = try OfferType(from: &reader)
        let paymentMode = try PaymentMode(from: &reader)
        self.init(id: id, type: type, paymentMode: paymentMode, period: try reader.optional())
    }
}

extension Revocation: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.date)
        self.reason.write(to: &writer)
        self.type.write(to: &writer)
        writer.write(self.percentageMilli)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let date = try Instant(from: &reader)
        let reason = try RevocationReason(from: &reader)
        let type = try RevocationType(from: &reader)
        self.init(date: date, reason: reason, type: type, percentageMilli: try reader.uint32())
    }
}

extension Commitment: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.billingPeriodNumber)
        writer.write(self.totalBillingPeriods)
        writer.write(self.expirationDate)
        writer.write(self.price)
        writer.write(self.willRenew)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let number = try reader.uint32()
        let total = try reader.uint32()
        let expirationDate = try Instant(from: &reader)
        let price = try Money(from: &reader)
        self.init(
            billingPeriodNumber: number, totalBillingPeriods: total, expirationDate: expirationDate, price: price,
            willRenew: try reader.bool())
    }
}
