/// What all transactions of a product have in common until its price or the app's storefront changes.
///
/// Behind one reference, which a new transaction shares with those before it: copying these texts one by one was a third
/// of the cost of a transaction. Immutable, shared by all threads.
package final class SaleTerms: Hashable, Sendable {
    package let fields: SaleFields

    package init(_ fields: SaleFields) { self.fields = fields }

    package static func == (left: SaleTerms, right: SaleTerms) -> Bool {
        left === right || left.fields == right.fields
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.fields) }

    /// The terms of a new transaction: those of an account's earlier transaction, if nothing of them has changed. A codec
    /// encodes shared terms once.
    static func shared(_ fields: SaleFields, with record: AccountRecord) -> SaleTerms {
        for transaction in record.owned where transaction.contents.fields.sale.fields == fields {
            return transaction.contents.fields.sale
        }
        return SaleTerms(fields)
    }
}

extension SaleTerms: CustomReflectable {
    /// Shows the fields, without the storage behind them.
    package var customMirror: Mirror { Mirror(reflecting: self.fields) }
}

/// The fields of `SaleTerms`. `Transaction` documents them.
package struct SaleFields: Hashable, Sendable {
    package var productID: String
    package var productType: ProductType
    package var environment: AppEnvironment
    package var reason: TransactionReason
    package var billingPlan: BillingPlanType = .unspecified
    package var appBundleID: String
    package var subscriptionGroupID = ""
    package var storefront: Storefront
    package var price: Money?

    package init(
        productID: String, productType: ProductType, environment: AppEnvironment, reason: TransactionReason,
        appBundleID: String, subscriptionGroupID: String = "", storefront: Storefront, price: Money? = nil
    ) {
        self.productID = productID
        self.productType = productType
        self.environment = environment
        self.reason = reason
        self.appBundleID = appBundleID
        self.subscriptionGroupID = subscriptionGroupID
        self.storefront = storefront
        self.price = price
    }
}

extension TransactionFields {
    package var productID: String {
        get { self.sale.fields.productID }
        set { if newValue != self.sale.fields.productID { self.changeSale { $0.productID = newValue } } }
    }
    package var productType: ProductType {
        get { self.sale.fields.productType }
        set { if newValue != self.sale.fields.productType { self.changeSale { $0.productType = newValue } } }
    }
    package var environment: AppEnvironment {
        get { self.sale.fields.environment }
        set { if newValue != self.sale.fields.environment { self.changeSale { $0.environment = newValue } } }
    }
    package var reason: TransactionReason {
        get { self.sale.fields.reason }
        set { if newValue != self.sale.fields.reason { self.changeSale { $0.reason = newValue } } }
    }
    package var billingPlan: BillingPlanType {
        get { self.sale.fields.billingPlan }
        set { if newValue != self.sale.fields.billingPlan { self.changeSale { $0.billingPlan = newValue } } }
    }
    package var appBundleID: String {
        get { self.sale.fields.appBundleID }
        set { if newValue != self.sale.fields.appBundleID { self.changeSale { $0.appBundleID = newValue } } }
    }
    package var subscriptionGroupID: String {
        get { self.sale.fields.subscriptionGroupID }
        set {
            guard newValue != self.sale.fields.subscriptionGroupID else { return }
            self.changeSale { $0.subscriptionGroupID = newValue }
        }
    }
    package var storefront: Storefront {
        get { self.sale.fields.storefront }
        set { if newValue != self.sale.fields.storefront { self.changeSale { $0.storefront = newValue } } }
    }
    package var price: Money? {
        get { self.sale.fields.price }
        set { if newValue != self.sale.fields.price { self.changeSale { $0.price = newValue } } }
    }

    private mutating func changeSale(_ body: (inout SaleFields) -> Void) {
        var fields = self.sale.fields
        body(&fields)
        self.sale = SaleTerms(fields)
    }
}
