import PerchCatalogue
import PerchModel
import Testing

@Suite struct `settings in a file` {
    private func settings(_ json: String) throws -> (AppSettings, [CatalogueWarning]) {
        let loaded = try Made.settings(json).load()
        return (loaded.settings, loaded.warnings)
    }

    @Test(arguments: TimeRate.all)
    func `every time rate that Xcode has used is taken`(_ rate: TimeRate) throws {
        let (settings, warnings) = try self.settings(
            "{\"_timeRate\":\(rate.rawValue),\"_compatibilityTimeRate\":{\"3\":6}}")
        #expect(settings.timeRate == rate)
        #expect(warnings == [])
    }

    @Test(arguments: [
        ("14", "{\"3\":6}", 6 as Int32), ("14", "{\"3\":6,\"5\":1004}", 1004), ("14", "{\"5\":7,\"3\":6}", 6),
        ("14", "{\"10\":15,\"9\":6}", 15), ("14", "6", 6), ("2000", "{\"3\":99}", 0), ("14", "\"6\"", 6),
        ("14", "null", 0), ("-1", "{}", 0), ("1.5", "1002", 1002), ("\"fast\"", "{\"3\":1}", 1),
        ("99999999999", "13", 13),
    ])
    func `an unknown time rate falls back to the newest known compatible one, then to real time, and is reported`(
        _ rate: String, _ compatible: String, _ expected: Int32
    ) throws {
        let (settings, warnings) = try self.settings("{\"_timeRate\":\(rate),\"_compatibilityTimeRate\":\(compatible)}")
        #expect(settings.timeRate.rawValue == expected)
        #expect(warnings.map(\.reason) == [.timeRate])
        #expect(warnings[0].message.contains("taken as \(expected) (\(settings.timeRate.name))"))
    }

    @Test func `a file without a time rate uses real time, whatever the compatible rate`() throws {
        let (settings, warnings) = try self.settings("{\"_compatibilityTimeRate\":{\"3\":6}}")
        #expect(settings.timeRate == .realTime)
        #expect(warnings == [])
    }

    @Test(
        arguments: [
            ("_askToBuyEnabled", \AppSettings.isAskToBuyEnabled), ("_billingIssuesEnabled", \.areBillingIssuesEnabled),
            ("_renewalBillingIssuesEnabled", \.areRenewalBillingIssuesEnabled),
            ("_billingGracePeriodEnabled", \.isGracePeriodEnabled),
        ] as [(String, any WritableKeyPath<AppSettings, Bool> & Sendable)])
    func `each switch is itself and no other`(
        _ key: String, _ path: any WritableKeyPath<AppSettings, Bool> & Sendable
    ) throws {
        var expected = Made.defaults
        expected[keyPath: path] = true
        #expect(try self.settings("{\"\(key)\":true}") == (expected, []))
        #expect(try self.settings("{\"\(key)\":false}") == (Made.defaults, []))
        let (settings, warnings) = try self.settings("{\"\(key)\":1}")
        #expect(settings == Made.defaults)
        #expect(warnings.map(\.reason) == [.unusableValue])
    }

    @Test func `dialogs are on where the file says so, and off where it says nothing`() throws {
        for text in ["{\"_disableDialogs\":true}", "{}"] {
            #expect(try !self.settings(text).0.asksBeforePurchases, "\(text)")
        }
        for text in ["{\"_disableDialogs\":false}", "{\"_disableDialogs\":1}"] {
            #expect(try self.settings(text).0.asksBeforePurchases, "\(text)")
        }
    }

    @Test func `a storefront and a locale are taken, the locale in the underscore form`() throws {
        let (settings, warnings) = try self.settings("{\"_storefront\":\"MEX\",\"_locale\":\"es-MX\"}")
        #expect(settings.storefront == "MEX")
        #expect(settings.locale == "es_MX")
        #expect(warnings == [])
    }

    @Test func `a storefront whose currency we do not know is kept, and its prices are dollars`() throws {
        let loaded = try Made.settings("{\"_storefront\":\"PRK\"}").load()
        #expect(loaded.settings.storefront == "PRK")
        #expect(loaded.catalogue.product("a")?.price.currency == "USD")
        #expect(loaded.reasons == [.unusableValue])
    }

    @Test(arguments: ["\"US\"", "\"usa\"", "\"USAA\"", "\"ÜSA\"", "7", "\"\""])
    func `a storefront that is none is the United States, and reported`(_ storefront: String) throws {
        let (settings, warnings) = try self.settings("{\"_storefront\":\(storefront)}")
        #expect(settings.storefront == "USA")
        #expect(warnings.map(\.reason) == [.unusableValue])
    }

    @Test(arguments: ["\"\"", "\"e\"", "\"en US\"", "\"日本\"", "7", "\"\\u001b[31m\""])
    func `a locale that is none is American English, and reported`(_ locale: String) throws {
        let (settings, warnings) = try self.settings("{\"_locale\":\(locale)}")
        #expect(settings.locale == "en_US")
        #expect(warnings.map(\.reason) == [.unusableValue])
    }

    @Test(arguments: ["\"1005\"", "1005.0"])
    func `a time rate that can only mean one number is that number, with a warning`(_ rate: String) throws {
        let (settings, warnings) = try self.settings("{\"_timeRate\":\(rate)}")
        #expect(settings.timeRate.rawValue == 1005)
        #expect(warnings.map(\.reason) == [.unusableValue])
    }

    @Test func `a locale of a language that does not exist is kept and reported`() throws {
        let (settings, warnings) = try self.settings("{\"_locale\":\"xx_YY\"}")
        #expect(settings.locale == "xx_YY")
        #expect(warnings.map(\.reason) == [.locale])
    }

    @Test(arguments: ["[]", "\"\"", "1"])
    func `settings that are no object are the defaults, and reported`(_ json: String) throws {
        let (settings, warnings) = try self.settings(json)
        #expect(settings == Made.defaults)
        #expect(warnings.map(\.reason) == [.unusableValue])
    }
}
