import PerchBase
import PerchCatalogue
import PerchModel
import PerchSimulation
import PerchStore

/// Catalogue files: a loaded catalogue can sell, and a refusal has a place and a reason.
final class CatalogueTarget: FuzzTarget {
    static let name = "catalogue"
    static let reaches = ["PerchCatalogue"]

    static func seeds() -> [[UInt8]] {
        let files = [
            #"{"identifier":"A","version":{"major":4,"minor":0},"products":[],"subscriptionGroups":[],"settings":{}}"#,
            #"""
            {"identifier":"B","version":{"major":3,"minor":0},"settings":{"_timeRate":6,"_storefront":"USA","_locale":"de"},
            "products":[{"displayPrice":"0.99","familyShareable":false,"internalID":"1","localizations":[{"description":"d",
            "displayName":"n","locale":"en_US"}],"productID":"coins","referenceName":null,"type":"Consumable"}],
            "subscriptionGroups":[{"id":"G","localizations":[],"name":"plans","subscriptions":[{"adHocOffers":[],
            "codeOffers":[],"displayPrice":"4.99","familyShareable":false,"groupNumber":1,"internalID":"2",
            "introductoryOffer":{"internalID":"3","paymentMode":"free","subscriptionPeriod":"P1W"},"localizations":[],
            "productID":"gold","recurringSubscriptionPeriod":"P1M","referenceName":"g","subscriptionGroupID":"G",
            "type":"RecurringSubscription","winbackOffers":[]}]}]}
            """#,
        ]
        return files.map { Array($0.utf8) }
    }

    func run(_ bytes: [UInt8]) -> Bool {
        do throws(CatalogueError) {
            let loaded = try StoreKitFile.load(bytes)
            let state = AppState(
                number: 1, bundleID: "fuzz", environment: .xcode, revision: 1, effective: .distantPast,
                committed: World.begin, catalogue: loaded.catalogue, catalogueRevision: 1, catalogueSource: "fuzz",
                settings: loaded.settings, clock: .running(offsetMilliseconds: 0))
            let ids = loaded.catalogue.products.map(\.id)
            let shown = products(ids, locale: "", storefront: "", app: state)
            hold(
                shown.products.count + shown.unavailableIDs.count == Set(ids).count,
                "a product is neither shown nor not")
            let sealed = loaded.catalogue.sealed(app: 1, revision: 1)
            let stored = try? Catalogue.unsealed(sealed, app: 1, revision: 1)
            hold(stored == loaded.catalogue, "a loaded catalogue does not come back from the store")
            return true
        } catch {
            hold(!error.description.isEmpty, "a refusal says nothing")
            return false
        }
    }
}
