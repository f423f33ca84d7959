import PerchBase
import PerchCatalogue
import PerchModel
import PerchTesting
import Testing

@testable import PerchCLI

@Suite struct `a catalogue for people` {
    @Test func `a catalogue for people has prices, periods and levels under the groups`() {
        func product(_ id: String, _ type: ProductType, _ price: String, level: Int32? = nil) -> Product {
            var product = Product(
                id: id, type: type, displayName: id.uppercased(), description: "",
                price: Money(milliunits: 0, currency: "USD"), displayPrice: price, isFamilyShareable: false,
                storefront: Storefront(countryCode: "USA"))
            product.subscription = level.map {
                SubscriptionInfo(groupID: "plus", groupDisplayName: "", groupLevel: $0, period: Period(1, .month))
            }
            return product
        }
        let products = [
            product("coins", .consumable, "$0.99"), product("silver", .autoRenewable, "$4.99", level: 2),
            product("gold", .autoRenewable, "$12.99", level: 1),
        ]
        #expect(
            TextWriter(isColoured: false).catalogue(products, groups: ["plus", "empty"]) == [
                "subscription group plus", "  level 1  gold    $12.99 for 1 month  GOLD",
                "  level 2  silver  $4.99 for 1 month   SILVER", "subscription group empty", "other products",
                "  consumable  coins   $0.99               COINS",
            ])
    }

    @Test func `a catalogue for people says what a purchase waits for, and since when`() {
        let noon = CivilTime(year: 2026, month: 11, day: 21, milliseconds: 43_200_000).instant
        let waits = PendingPurchase(
            id: 2, reason: .askToBuy, order: PurchaseOrder(productID: "gold"),
            since: noon.advanced(byMilliseconds: -90_000))
        #expect(
            TextWriter(isColoured: false).pending(waits, now: noon)
                == "purchase 2  gold  waits since 2026-11-21T11:58:30Z (1m30s ago): ask to buy; approve or decline 2")
    }
}
