// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

import PerchBase
import PerchModel

extension Transaction: StoreCoded {
    func write(to writer: inout ByteWriter) {
        var present: UInt32 = 0
        if self.originalID != self.id { present |= 1 << 0 }
        if !self.webOrderLineItemID.isEmpty { present |= 1 << 1 }
        if !self.appTransactionID.isEmpty { present |= 1 << 2 }
        if !self.subscriptionGroupID.isEmpty { present |= 1 << 3 }
        if self.originalPurchaseDate != self.purchaseDate { present |= 1 << 4 }
        if self.expirationDate != nil { present |= 1 << 5 }
        if self.quantity != 1 { present |= 1 << 6 }
        if self.isUpgraded { present |= 1 << 7 }
        if self.ownership != .purchased { present |= 1 << 8 }
        if self.offer != nil { present |= 1 << 9 }
        if self.revocation != nil { present |= 1 << 10 }
        if !self.contents.fields.writtenAccountToken.isEmpty { present |= 1 << 11 }
        if self.price != nil { present |= 1 << 12 }
        if self.signedDate != self.purchaseDate { present |= 1 << 13 }
        if !self.deviceVerification.isEmpty { present |= 1 << 14 }
        if !self.deviceVerificationNonce.isEmpty { present |= 1 << 15 }
        if self.billingPlan != .unspecified { present |= 1 << 16 }
        if self.commitment != nil { present |= 1 << 17 }
        if !self.advancedCommerceInfo.isEmpty { present |= 1 << 18 }
        writer.write(present)
        writer.write(self.id)
        writer.write(self.appBundleID)
        writer.write(self.productID)
        self.productType.write(to: &writer)
        writer.write(self.purchaseDate)
        self.environment.write(to: &writer)
        self.storefront.write(to: &writer)
        self.reason.write(to: &writer)
        if present & (1 << 0) != 0 { writer.write(self.originalID) }
        if present & (1 << 1) != 0 { writer.write(self.webOrderLineItemID) }
        if present & (1 << 2) != 0 { writer.write(self.appTransactionID) }
        if present & (1 << 3) != 0 { writer.write(self.subscriptionGroupID) }
        if present & (1 << 4) != 0 { writer.write(self.originalPurchaseDate) }
        if let value = self.expirationDate { writer.write(value) }
        if present & (1 << 6) != 0 { writer.write(self.quantity) }
        if present & (1 << 8) != 0 { self.ownership.write(to: &writer) }
        if let value = self.offer { value.write(to: &writer) }
        if let value = self.revocation { value.write(to: &writer) }
        if present & (1 << 11) != 0 { writer.write(self.appAccountToken) }
        if let value = self.price { value.write(to: &writer) }
        if present & (1 << 13) != 0 { writer.write(self.signedDate) }
        if present & (1 << 14) != 0 { writer.write(self.deviceVerification) }
        if present & (1 << 15) != 0 { writer.write(self.deviceVerificationNonce) }
        if present & (1 << 16) != 0 { self.billingPlan.write(to: &writer) }
        if let value = self.commitment { value.write(to: &writer) }
        if present & (1 << 18) != 0 { writer.write(self.advancedCommerceInfo) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        let present = try reader.uint32()
        guard present < 1 << 19 else { throw .invalid("set of fields", atOffset: start) }
        let id = try reader.uint64()
        let appBundleID = try reader.string()
        let productID = try reader.string()
        let productType = try ProductType(from: &reader)
        let purchaseDate = try Instant(from: &reader)
        let environment = try AppEnvironment(from: &reader)
        let storefront = try Storefront(from: &reader)
        let reason = try TransactionReason(from: &reader)
        self.init(
            id: id,
            originalID: id,
            appBundleID: appBundleID,
            productID: productID,
            productType: productType,
            purchaseDate: purchaseDate,
            originalPurchaseDate: purchaseDate,
            environment: environment,
            storefront: storefront,
            reason: reason,
            signedDate: purchaseDate
        )
        try self.change {
            rest throws(DecodingFault) in
            if present & (1 << 0) != 0 { rest.originalID = try reader.uint64() }
            if present & (1 << 1) != 0 { rest.webOrderLineItemID = try reader.string() }
            if present & (1 << 2) != 0 { rest.appTransactionID = try reader.string() }
            if present & (1 << 3) != 0 { rest.subscriptionGroupID = try reader.string() }
            if present & (1 << 4) != 0 { rest.originalPurchaseDate = try Instant(from: &reader) }
            if present & (1 << 5) != 0 { rest.expirationDate = try Instant(from: &reader) }
            if present & (1 << 6) != 0 { rest.quantity = try reader.uint32() }
            if present & (1 << 7) != 0 { rest.isUpgraded = true }
            if present & (1 << 8) != 0 { rest.ownership = try OwnershipType(from: &reader) }
            if present & (1 << 9) != 0 { rest.offer = try TransactionOffer(from: &reader) }
            if present & (1 << 10) != 0 { rest.revocation = try Revocation(from: &reader) }
            if present & (1 << 11) != 0 { rest.appAccountToken = try reader.string() }
            if present & (1 << 12) != 0 { rest.price = try Money(from: &reader) }
            if present & (1 << 13) != 0 { rest.signedDate = try Instant(from: &reader) }
            if present & (1 << 14) != 0 { rest.deviceVerification = try reader.blob() }
            if present & (1 << 15) != 0 { rest.deviceVerificationNonce = try reader.string() }
            if present & (1 << 16) != 0 { rest.billingPlan = try BillingPlanType(from: &reader) }
            if present & (1 << 17) != 0 { rest.commitment = try Commitment(from: &reader) }
            if present & (1 << 18) != 0 { rest.advancedCommerceInfo = try reader.blob() }
        }
    }
}
