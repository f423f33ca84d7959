import CPerchProto
import PerchBase
import PerchModel

extension Transaction {
    /// What an absent message reads as.
    static var blank: Transaction {
        let zero = Instant(milliseconds: 0)
        var transaction = Transaction(
            id: 0, originalID: 0, appBundleID: "", productID: "", productType: .unspecified, purchaseDate: zero,
            originalPurchaseDate: zero, environment: .unspecified, storefront: .blank, reason: .unspecified,
            signedDate: zero)
        transaction.quantity = 0
        transaction.ownership = .unspecified
        return transaction
    }

    /// Says nothing at all. The first look decides for every real one.
    var isBlank: Bool {
        self.id == 0 && self.productID.isEmpty && self == .blank && self.signedDate.milliseconds == 0
            && self.deviceVerification.isEmpty && self.deviceVerificationNonce.isEmpty
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__Transaction>, _ arena: Arena) {
        message.pointee.id = self.id
        message.pointee.original_id = self.originalID
        message.pointee.web_order_line_item_id = arena.text(self.webOrderLineItemID)
        message.pointee.app_bundle_id = arena.text(self.appBundleID)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.product_type = .init(self.productType)
        message.pointee.subscription_group_id = arena.text(self.subscriptionGroupID)
        message.pointee.purchase_date_ms = self.purchaseDate.milliseconds
        message.pointee.original_purchase_date_ms = self.originalPurchaseDate.milliseconds
        if let expirationDate = self.expirationDate {
            message.pointee.expiration_case = PERCH__V1__TRANSACTION__EXPIRATION_EXPIRATION_DATE_MS
            message.pointee.expiration_date_ms = expirationDate.milliseconds
        }
        message.pointee.purchased_quantity = self.quantity
        message.pointee.is_upgraded = self.isUpgraded ? 1 : 0
        message.pointee.ownership_type = .init(self.ownership)
        if let offer = self.offer { message.pointee.offer = arena.message { offer.write(to: $0, arena) } }
        if let revocation = self.revocation {
            message.pointee.revocation = arena.message { revocation.write(to: $0, arena) }
        }
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.environment = .init(self.environment)
        if !self.storefront.isBlank {
            message.pointee.storefront = arena.message { self.storefront.write(to: $0, arena) }
        }
        message.pointee.reason = .init(self.reason)
        if let price = self.price { message.pointee.price = arena.message { price.write(to: $0, arena) } }
        message.pointee.billing_plan = .init(self.billingPlan)
        if let commitment = self.commitment {
            message.pointee.commitment = arena.message { commitment.write(to: $0, arena) }
        }
        message.pointee.advanced_commerce_info = arena.bytes(self.advancedCommerceInfo)
        if arena.omitsSignatures { return }
        message.pointee.signed_date_ms = self.signedDate.milliseconds
        message.pointee.device_verification = arena.bytes(self.deviceVerification)
        message.pointee.device_verification_nonce = arena.text(self.deviceVerificationNonce)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Transaction>) {
        self.init(
            id: message.pointee.id, originalID: message.pointee.original_id,
            appBundleID: String(wire: message.pointee.app_bundle_id),
            productID: String(wire: message.pointee.product_id),
            productType: ProductType(message.pointee.product_type),
            purchaseDate: Instant(milliseconds: message.pointee.purchase_date_ms),
            originalPurchaseDate: Instant(milliseconds: message.pointee.original_purchase_date_ms),
            environment: AppEnvironment(message.pointee.environment),
            storefront: read(message.pointee.storefront) { Storefront($0) } ?? .blank,
            reason: TransactionReason(message.pointee.reason),
            signedDate: Instant(milliseconds: message.pointee.signed_date_ms))
        self.change {
            $0.webOrderLineItemID = String(wire: message.pointee.web_order_line_item_id)
            $0.appTransactionID = String(wire: message.pointee.app_transaction_id)
            $0.subscriptionGroupID = String(wire: message.pointee.subscription_group_id)
            if message.pointee.expiration_case == PERCH__V1__TRANSACTION__EXPIRATION_EXPIRATION_DATE_MS {
                $0.expirationDate = Instant(milliseconds: message.pointee.expiration_date_ms)
            }
            $0.quantity = message.pointee.purchased_quantity
            $0.isUpgraded = message.pointee.is_upgraded != 0
            $0.ownership = OwnershipType(message.pointee.ownership_type)
            $0.offer = read(message.pointee.offer) { TransactionOffer($0) }
            $0.revocation = read(message.pointee.revocation) { Revocation($0) }
            $0.appAccountToken = String(wire: message.pointee.app_account_token)
            $0.price = read(message.pointee.price) { Money($0) }
            $0.deviceVerification = [UInt8](message.pointee.device_verification)
            $0.deviceVerificationNonce = String(wire: message.pointee.device_verification_nonce)
            $0.billingPlan = BillingPlanType(message.pointee.billing_plan)
            $0.commitment = read(message.pointee.commitment) { Commitment($0) }
            $0.advancedCommerceInfo = [UInt8](message.pointee.advanced_commerce_info)
        }
    }
}

extension Verified<Transaction> {
    var isBlank: Bool { self.value.isBlank && self.failure.rawValue == 0 && self.jws.isEmpty }

    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionResult>, _ arena: Arena) {
        if !self.value.isBlank { message.pointee.transaction = arena.message { self.value.write(to: $0, arena) } }
        message.pointee.verification_error = .init(self.failure)
        if !arena.omitsSignatures { message.pointee.jws = arena.text(self.jws) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionResult>) {
        self.init(
            read(message.pointee.transaction) { Transaction($0) } ?? .blank,
            failure: VerificationFailure(message.pointee.verification_error), jws: String(wire: message.pointee.jws))
    }

    static var blank: Self { Self(Transaction.blank) }
}
