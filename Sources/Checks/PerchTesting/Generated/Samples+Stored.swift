// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

package import PerchModel

extension SeededRandom {
    /// Every field is random, and has its usual value often enough.
    package mutating func transaction() -> Transaction {
        var value = Transaction(
            id: self.uint64(),
            originalID: self.uint64(),
            appBundleID: self.string(),
            productID: self.string(),
            productType: self.open(),
            purchaseDate: self.instant(),
            originalPurchaseDate: self.instant(),
            environment: self.open(),
            storefront: self.storefront(),
            reason: self.open(),
            signedDate: self.instant()
        )
        if self.bool() { value.originalID = value.id }
        if self.bool() { value.originalPurchaseDate = value.purchaseDate }
        if self.bool() { value.signedDate = value.purchaseDate }
        value.webOrderLineItemID = self.string()
        value.appTransactionID = self.string()
        value.subscriptionGroupID = self.string()
        value.expirationDate = self.optional { $0.instant() }
        value.quantity = self.bool() ? 1 : self.uint32()
        value.isUpgraded = self.bool()
        value.ownership = self.open()
        value.offer = self.optional { $0.transactionOffer() }
        value.revocation = self.optional { $0.revocation() }
        value.appAccountToken = self.accountToken()
        value.price = self.optional { $0.money() }
        value.deviceVerification = self.bytes(upTo: 20)
        value.deviceVerificationNonce = self.string()
        value.billingPlan = self.open()
        value.commitment = self.optional { $0.commitment() }
        value.advancedCommerceInfo = self.bytes(upTo: 20)
        return value
    }
}
