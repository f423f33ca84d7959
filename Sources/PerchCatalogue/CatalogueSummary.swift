package import PerchModel

/// The counts of a catalogue.
package struct CatalogueSummary: Hashable, Sendable, CustomStringConvertible {
    /// Such as `4.0`; empty if the file has none.
    package var schemaVersion = ""
    package var consumableCount = 0
    package var nonConsumableCount = 0
    package var nonRenewingCount = 0
    /// Auto-renewable subscriptions.
    package var subscriptionCount = 0
    package var groupCount = 0
    package var introductoryOfferCount = 0
    package var promotionalOfferCount = 0
    package var codeOfferCount = 0
    package var winBackOfferCount = 0
    /// Number of promotional images.
    package var imageCount = 0

    package init() {}

    package init(of catalogue: Catalogue) {
        self.schemaVersion = catalogue.schemaVersion
        self.groupCount = catalogue.groups.count
        self.imageCount = catalogue.images.count
        for product in catalogue.products {
            switch product.type {
            case .consumable: self.consumableCount += 1
            case .nonConsumable: self.nonConsumableCount += 1
            case .nonRenewable: self.nonRenewingCount += 1
            case .autoRenewable: self.subscriptionCount += 1
            default: break
            }
            guard let subscription = product.subscription else { continue }
            self.introductoryOfferCount += subscription.introductoryOffers.count
            self.promotionalOfferCount += subscription.promotionalOffers.count
            self.codeOfferCount += subscription.codeOffers.count
            self.winBackOfferCount += subscription.winBackOffers.count
        }
    }

    package var productCount: Int {
        self.consumableCount + self.nonConsumableCount + self.nonRenewingCount + self.subscriptionCount
    }

    package var offerCount: Int {
        self.introductoryOfferCount + self.promotionalOfferCount + self.codeOfferCount + self.winBackOfferCount
    }

    /// One line of text: `schema 4.0: 6 products (…), 1 subscription group, 6 offers (…)`.
    package var description: String {
        func list(_ parts: [(Int, String)]) -> String {
            let present = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            return present.isEmpty ? "" : " (\(present.joined(separator: ", ")))"
        }
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let products = list([
            (self.consumableCount, "consumable"), (self.nonConsumableCount, "non-consumable"),
            (self.nonRenewingCount, "non-renewing"), (self.subscriptionCount, "auto-renewable"),
        ])
        let offers = list([
            (self.introductoryOfferCount, "introductory"), (self.promotionalOfferCount, "promotional"),
            (self.codeOfferCount, "code"), (self.winBackOfferCount, "win-back"),
        ])
        let schema = self.schemaVersion.isEmpty ? "schema not stated" : "schema \(self.schemaVersion)"
        let images = self.imageCount == 0 ? "" : ", \(count(self.imageCount, "image"))"
        return "\(schema): \(count(self.productCount, "product"))\(products), "
            + "\(count(self.groupCount, "subscription group")), \(count(self.offerCount, "offer"))\(offers)\(images)"
    }
}
