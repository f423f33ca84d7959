package import PerchBase
package import PerchModel

// The value of an absent message. A property that always has a value is omitted from its message if it is blank, as
// proto3 omits a 0.

extension Instant {
    fileprivate static var zero: Instant { Instant(milliseconds: 0) }
}

extension Position {
    package static var blank: Position { Position(revision: 0, asOf: .zero) }
    package var isBlank: Bool { self.revision == 0 && self.asOf.milliseconds == 0 }
}

extension Money {
    static var blank: Money { Money(milliunits: 0, currency: "") }
    var isBlank: Bool { self.milliunits == 0 && self.currency.isEmpty }
}

extension Storefront {
    static var blank: Storefront { Storefront(countryCode: "") }
    var isBlank: Bool { self.countryCode.isEmpty && self.id.isEmpty }
}

extension Period {
    static var blank: Period { Period(0, .unspecified) }
    var isBlank: Bool { self.value == 0 && self.unit == .unspecified }
}

extension Product {
    static var blank: Product {
        Product(
            id: "", type: .unspecified, displayName: "", description: "", price: .blank, displayPrice: "",
            isFamilyShareable: false, storefront: .blank)
    }
    var isBlank: Bool { self.id.isEmpty && self == .blank }
}

extension Transaction {
    static var blank: Transaction {
        var transaction = Transaction(
            id: 0, originalID: 0, appBundleID: "", productID: "", productType: .unspecified, purchaseDate: .zero,
            originalPurchaseDate: .zero, environment: .unspecified, storefront: .blank, reason: .unspecified,
            signedDate: .zero)
        transaction.quantity = 0
        transaction.ownership = .unspecified
        return transaction
    }

    /// The first comparison decides for every real transaction.
    var isBlank: Bool {
        self.id == 0 && self.productID.isEmpty && self == .blank && self.signedDate.milliseconds == 0
            && self.deviceVerification.isEmpty && self.deviceVerificationNonce.isEmpty
    }
}

extension Verified<Transaction> {
    static var blank: Self { Self(Transaction.blank) }
    var isBlank: Bool { self.value.isBlank && self.failure.rawValue == 0 && self.jws.isEmpty }
}

extension RenewalInfo {
    static var blank: RenewalInfo {
        RenewalInfo(
            originalTransactionID: 0, currentProductID: "", willAutoRenew: false, renewalDate: .zero,
            recentSubscriptionStartDate: .zero, environment: .unspecified, signedDate: .zero)
    }

    var isBlank: Bool {
        self.originalTransactionID == 0 && self.currentProductID.isEmpty && self == .blank
            && self.signedDate.milliseconds == 0
    }
}

extension Verified<RenewalInfo> {
    static var blank: Self { Self(RenewalInfo.blank) }
    var isBlank: Bool { self.value.isBlank && self.failure.rawValue == 0 && self.jws.isEmpty }
}

extension SubscriptionStatuses {
    package static var blank: SubscriptionStatuses { SubscriptionStatuses(statuses: []) }
    package var isBlank: Bool { self == .blank }
}

extension PurchaseOrder {
    package static var blank: PurchaseOrder { PurchaseOrder(productID: "", quantity: 0) }
    package var isBlank: Bool { self.productID.isEmpty && self == .blank }
}
