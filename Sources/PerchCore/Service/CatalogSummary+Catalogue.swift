package import PerchModel
package import PerchWire

extension CatalogSummary {
    /// The counts of a catalogue, without the warnings about its file.
    package init(counting catalogue: Catalogue) {
        self.init(schemaVersion: catalogue.schemaVersion)
        self.groupCount = UInt32(catalogue.groups.count)
        self.imageCount = UInt32(catalogue.images.count)
        for product in catalogue.products {
            switch product.type {
            case .consumable: self.consumableCount += 1
            case .nonConsumable: self.nonConsumableCount += 1
            case .nonRenewable: self.nonRenewingCount += 1
            case .autoRenewable: self.subscriptionCount += 1
            default: break
            }
            guard let subscription = product.subscription else { continue }
            self.introductoryOfferCount += UInt32(subscription.introductoryOffers.count)
            self.promotionalOfferCount += UInt32(subscription.promotionalOffers.count)
            self.codeOfferCount += UInt32(subscription.codeOffers.count)
            self.winBackOfferCount += UInt32(subscription.winBackOffers.count)
        }
    }
}
