import PerchCatalogue
import PerchModel
import Testing

@Suite struct `our own sample` {
    @Test func `the catalogue that make run serves loads without a warning`() throws {
        let loaded = try StoreKitFile.load(try Samples.ours())
        #expect(loaded.warnings == [])
        #expect(
            loaded.summary.description
                == "schema 4.0: 6 products (1 consumable, 1 non-consumable, 1 non-renewing, 3 auto-renewable), "
                + "1 subscription group, 6 offers (3 introductory, 1 promotional, 1 code, 1 win-back)")
        #expect(loaded.settings.timeRate.name == "monthlyRenewalEveryThirtySeconds")
        #expect(loaded.settings.storefront == "USA")
        #expect(loaded.settings.locale == "en_US")
        for product in loaded.catalogue.products { #expect(product.localizations.map(\.locale) == ["en_US", "de"]) }
    }

    @Test func `its plans are what the documentation shows`() throws {
        let catalogue = try StoreKitFile.load(try Samples.ours()).catalogue
        #expect(
            Set(catalogue.products.map(\.id)) == [
                "app.perch.coins", "app.perch.lifetime", "app.perch.season", "app.perch.plus.monthly",
                "app.perch.plus.yearly", "app.perch.pro.monthly",
            ])
        #expect(catalogue.group("plus")?.name == "Perch Plus")
        let plusMonthly = try #require(catalogue.product("app.perch.plus.monthly"))
        #expect(plusMonthly.price.description == "USD 4.99")
        #expect(plusMonthly.subscription?.level == 2)
        #expect(plusMonthly.subscription?.introductoryOffers.map(\.paymentMode) == [.freeTrial])
        #expect(plusMonthly.subscription?.introductoryOffers.map(\.period) == [Period(1, .week)])
        let plusYearly = try #require(catalogue.product("app.perch.plus.yearly"))
        #expect(plusYearly.price.description == "USD 49.99")
        #expect(plusYearly.subscription?.period == Period(1, .year))
        #expect(plusYearly.subscription?.introductoryOffers.map(\.paymentMode) == [.payUpFront])
        let pro = try #require(catalogue.product("app.perch.pro.monthly"))
        #expect(pro.price.description == "USD 9.99")
        #expect(pro.subscription?.level == 1)
        #expect(pro.subscription?.introductoryOffers.map(\.periodCount) == [3])
        #expect(pro.subscription?.promotionalOffers.map(\.id) == ["app.perch.pro.half"])
        #expect(pro.subscription?.codeOffers.map(\.offer.id) == ["QUARTER"])
        #expect(pro.subscription?.winBackOffers.map(\.offer.id) == ["app.perch.pro.comeback"])
    }
}
