import PerchBase
import PerchModel

// Settings of the app and edits of products: each changes its subject, and nothing else.
extension ModelLaws {
    func configured(_ changes: [AppSettingChange]) -> String? {
        if self.after.records != self.before.records { return "a setting changed a record" }
        var settings = self.before.app.settings
        var products = self.before.app.catalogue.products
        for change in changes {
            switch change {
            case .askToBuy(let isOn): settings.isAskToBuyEnabled = isOn
            case .interruptedPurchases(let isOn): settings.areBillingIssuesEnabled = isOn
            case .billingRetryOnRenewal(let isOn): settings.areRenewalBillingIssuesEnabled = isOn
            case .gracePeriod(let isOn): settings.isGracePeriodEnabled = isOn
            case .gracePeriodDays(let days): settings.gracePeriodDays = Int64(days)
            case .gracePeriodForAllRenewals(let isOn): settings.hasGracePeriodForAllRenewals = isOn
            case .dialogs(let isOn): settings.asksBeforePurchases = isOn
            case .timeRate(let number): settings.timeRate = TimeRate(rawValue: number) ?? settings.timeRate
            case .storefront(let country): settings.storefront = country
            case .locale(let locale): settings.locale = locale
            case .simulatedError(let api, let error): settings.simulatedErrors[api] = error
            case .reset: settings = AppSettings()
            case .product(let edit):
                guard let index = products.firstIndex(where: { $0.id == edit.productID }) else { continue }
                products[index].isWithdrawn = edit.isWithdrawn ?? products[index].isWithdrawn
                if let price = edit.priceMilliunits { products[index].price.milliunits = price }
            }
        }
        if self.after.app.settings != settings { return "the settings are \(self.after.app.settings), not \(settings)" }
        // Billing up front costs the price of the product.
        let terms = { (product: CatalogueProduct) in
            (product.id, product.price.milliunits, product.isWithdrawn, product.isFamilyShareable)
        }
        for (found, wanted) in zip(self.after.app.catalogue.products, products) where terms(found) != terms(wanted) {
            return "\(found.id) is \(terms(found)), not \(terms(wanted))"
        }
        return nil
    }
}
