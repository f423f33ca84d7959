package import PerchBase

/// A product that is sold now, prepared for plain purchases: those of one account, now, without an offer, a subscription
/// or a wait, which are nearly all.
///
/// Every purchase that `decidePlainPurchase` decides, `decideOrder` decides the same. A test compares them.
package struct PreparedSale: Sendable {
    /// Of one piece.
    private let terms: SaleTerms
    private let unitPrice: Money
    private let type: ProductType

    /// Nil where the purchases of a product, or of the app, take the general way.
    package init?(_ product: CatalogueProduct, app: AppState) {
        let settings = app.settings
        guard app.isTestApp, settings.simulatedErrors.entries.isEmpty, !settings.isAskToBuyEnabled,
            !settings.areBillingIssuesEnabled, !settings.asksBeforePurchases,
            !settings.areRenewalBillingIssuesEnabled, product.type != .autoRenewable, !product.isWithdrawn
        else { return nil }
        self.type = product.type
        self.unitPrice = product.price
        self.terms = SaleTerms(
            SaleFields(
                productID: product.id, productType: product.type, environment: app.environment, reason: .purchase,
                appBundleID: app.bundleID, subscriptionGroupID: product.subscription?.groupID ?? "",
                storefront: app.storefront, price: priced(product.price, in: app.storefront, app: app)))
    }

    /// The terms of a number of pieces; nil where that many are not sold at once.
    fileprivate func terms(of quantity: UInt32) -> SaleTerms? {
        if quantity == 1 { return self.terms }
        guard self.type == .consumable, (1...purchaseQuantityMax).contains(quantity),
            let price = self.unitPrice.multiplied(by: Int64(quantity)), let currency = self.terms.fields.price?.currency
        else { return nil }
        var fields = self.terms.fields
        fields.price = Money(milliunits: price.milliunits, currency: currency)
        return SaleTerms(fields)
    }
}

/// The transaction of a plain purchase; nil where it needs the general decision. No attempt of the account is due by `now`.
package func decidePlainPurchase(
    _ sale: PreparedSale, quantity: UInt32, accountToken: AccountToken?, record: AccountRecord, now: Instant,
    id: TransactionID
) -> Transaction? {
    guard !record.hasRareFields, let terms = sale.terms(of: quantity) else { return nil }
    if terms.fields.productType == .nonConsumable,
        record.owned.contains(where: { $0.productID == terms.fields.productID && $0.ownership == .purchased })
    {
        return nil
    }
    return Transaction(
        TransactionFields(
            id: id, originalID: id, purchaseDate: now, sale: terms, hasAccountUUID: accountToken != nil,
            quantity: quantity, originalPurchaseDate: now, signedDate: now,
            accountUUID: accountToken ?? TransactionFields.noUUID, appTransactionID: record.appTransactionID))
}
