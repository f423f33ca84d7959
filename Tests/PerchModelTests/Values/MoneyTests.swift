import PerchBase
import PerchModel
import Testing

@Suite struct `money` {
    @Test(
        arguments: [
            ("0", 0), ("29", 29_000), ("4900", 4_900_000), ("0.5", 500), ("0.99", 990), ("9.990", 9_990), ("0.001", 1),
            ("007.5", 7_500), ("9223372036854775.807", .max),
        ] as [(String, Int64)])
    func `a decimal is read exactly`(_ text: String, _ milliunits: Int64) {
        #expect(Money.milliunits(parsing: text) == milliunits)
    }

    @Test(arguments: [
        "", " ", ".", ".5", "5.", "1..2", "1.2.3", "-1", "+1", "1,5", "1 000", "1_000", " 1", "1 ", "1e3", "0x10",
        "NaN", "inf", "9.9999", "0.0000", "１", "٣", "$1", "1\u{0}", "9223372036854775.808", "9223372036854776",
        "92233720368547758070", "99999999999999999999999999999999",
    ])
    func `a text that is no plain decimal of at most three places is refused`(_ text: String) {
        #expect(Money.milliunits(parsing: text) == nil)
    }

    @Test(
        arguments: [
            (9_990, 2, "9.99"), (29_000, 2, "29.00"), (29_000, 0, "29"), (500, 2, "0.50"), (1, 2, "0.001"),
            (1_230, 0, "1.23"), (0, 2, "0.00"), (-9_990, 2, "-9.99"), (.max, 2, "9223372036854775.807"),
            (.min, 2, "-9223372036854775.808"),
        ] as [(Int64, Int, String)])
    func `an amount is written with at least the asked decimals, and none is lost`(
        _ milliunits: Int64, _ decimals: Int, _ text: String
    ) {
        #expect(usd(milliunits).decimal(decimals: decimals) == text)
    }

    @Test func `an amount times a count does not wrap around`() {
        #expect(usd(990).multiplied(by: 10) == usd(9_900))
        #expect(usd(.max).multiplied(by: 1) == usd(.max))
        #expect(usd(.max).multiplied(by: 2) == nil)
    }

    @Test func `an amount says its currency`() {
        #expect(Money(milliunits: 10_990, currency: "EUR").description == "EUR 10.99")
    }
}

/// A price as a customer reads it.
struct DisplayRow: Sendable, CustomTestStringConvertible {
    let milliunits: Int64
    let currency: String
    let locale: String
    let text: String

    init(_ milliunits: Int64, _ currency: String, _ locale: String, _ text: String) {
        self.milliunits = milliunits
        self.currency = currency
        self.locale = locale
        self.text = text
    }

    var testDescription: String { "\(self.currency) in \(self.locale): \(self.text)" }
}

@Suite struct `display prices` {
    @Test(arguments: [
        DisplayRow(9_990, "USD", "en_US", "$9.99"),
        DisplayRow(29_000, "USD", "en_US", "$29.00"),
        DisplayRow(9_990, "USD", "en-US", "$9.99"),
        DisplayRow(9_990, "USD", "", "$9.99"),
        DisplayRow(9_990, "USD", "de_DE", "9,99\u{A0}$"),
        DisplayRow(9_990, "EUR", "de_DE", "9,99\u{A0}€"),
        DisplayRow(9_990, "EUR", "fr", "9,99\u{A0}€"),
        DisplayRow(9_990, "EUR", "en_US", "€9.99"),
        DisplayRow(9_990, "GBP", "en_GB", "£9.99"),
        DisplayRow(980_000, "JPY", "ja", "¥980"),
        DisplayRow(9_900_000, "KRW", "ko", "₩9,900"),
        DisplayRow(9_990, "BRL", "pt_BR", "R$\u{A0}9,99"),
        DisplayRow(9_990, "BRL", "pt-BR", "R$\u{A0}9,99"),
        DisplayRow(9_990, "EUR", "pt_PT", "9,99\u{A0}€"),
        DisplayRow(9_990, "CAD", "en_CA", "$9.99"),
        DisplayRow(9_990, "CAD", "en-CA", "$9.99"),
        DisplayRow(9_990, "CAD", "fr_CA", "9,99\u{A0}$"),
        DisplayRow(9_990, "CAD", "en_US", "CA$9.99"),
        DisplayRow(9_990, "USD", "en_CA", "US$9.99"),
        DisplayRow(9_990, "USD", "fr_CA", "9,99\u{A0}$\u{A0}US"),
        DisplayRow(9_990, "USD", "es_MX", "USD\u{A0}9.99"),
        DisplayRow(9_990, "MXN", "es_MX", "$9.99"),
        DisplayRow(9_990, "CHF", "de_CH", "CHF\u{A0}9.99"),
        DisplayRow(9_990, "SGD", "en_SG", "$9.99"),
        DisplayRow(9_990, "SGD", "en_US", "SGD\u{A0}9.99"),
        DisplayRow(1_234_567_890, "USD", "en_US", "$1,234,567.89"),
        DisplayRow(123_450, "USD", "en_US", "$123.45"),
        DisplayRow(-1_234_500, "USD", "en_US", "-$1,234.50"),
        DisplayRow(1_234_500, "EUR", "de_DE", "1.234,50\u{A0}€"),
        DisplayRow(1_234_500, "EUR", "de_AT", "€\u{A0}1.234,50"),
        DisplayRow(1_234_500, "CHF", "de_CH", "CHF\u{A0}1’234.50"),
        DisplayRow(1_234_500, "EUR", "fr_FR", "1\u{202F}234,50\u{A0}€"),
        DisplayRow(1_234_500, "EUR", "es_ES", "1234,50\u{A0}€"),
        DisplayRow(12_345_500, "EUR", "es_ES", "12.345,50\u{A0}€"),
        DisplayRow(1_234_500, "MXN", "es_MX", "$1,234.50"),
        DisplayRow(4_900_000, "COP", "es_CO", "$4.900,00"),
        DisplayRow(4_900_000, "USD", "es_VE", "US$4.900,00"),
        DisplayRow(9_990, "USD", "es_GT", "USD\u{A0}9.99"),
        DisplayRow(1_234_500, "BRL", "pt_BR", "R$\u{A0}1.234,50"),
        DisplayRow(1_234_500, "SEK", "sv_SE", "1\u{A0}234,50\u{A0}kr"),
        DisplayRow(1_234_500, "PLN", "pl", "1234,50\u{A0}zł"),
        DisplayRow(1_234_567_000, "INR", "en_IN", "₹12,34,567.00"),
        DisplayRow(1_234_567_000, "INR", "hi", "₹12,34,567.00"),
        DisplayRow(1_234_567_000, "TRY", "tr", "₺1.234.567,00"),
        DisplayRow(2_990_000, "HUF", "hu", "2\u{A0}990\u{A0}Ft"),
        DisplayRow(90_000, "TWD", "zh_TW", "$90"),
        DisplayRow(90_000, "TWD", "zh_Hant_TW", "$90"),
        DisplayRow(68_000, "HKD", "zh_HK", "HK$68.00"),
        DisplayRow(68_000, "CNY", "zh_CN", "¥68.00"),
        DisplayRow(1_250, "KWD", "en_US", "KWD\u{A0}1.250"),
        DisplayRow(1_000, "KWD", "en_GB", "KWD\u{A0}1.000"),
        DisplayRow(9_990, "USD", "en_DE", "US$9.99"),
        // An amount without coins in the currency is still charged exactly.
        DisplayRow(9_990, "JPY", "ja_JP", "¥9.99"),
        DisplayRow(9_900, "JPY", "ja_JP", "¥9.90"),
        // Languages that the table does not know.
        DisplayRow(1_234_500, "USD", "ar_AE", "USD 1234.50"),
        DisplayRow(9_990, "KWD", "ar", "KWD 9.990"),
        DisplayRow(9_990, "USD", "x", "USD 9.99"),
        DisplayRow(9_990, "USD", "_", "USD 9.99"),
    ])
    func `a price is written as the locale writes it, and plainly where the table does not know the currency`(
        _ row: DisplayRow
    ) {
        let price = Money(milliunits: row.milliunits, currency: row.currency)
        #expect(Storefronts.display(price, locale: row.locale) == row.text)
    }

    @Test(arguments: [
        "en_US", "en_GB", "en_CA", "fr_CA", "en_AU", "en_NZ", "en_SG", "en_HK", "en_IN", "en_ZA", "es", "es_MX",
        "es_US",
        "es_AR", "es_CL", "es_CO", "fr", "de", "it", "nl", "pt_BR", "pt_PT", "da", "sv", "nb", "fi", "pl", "cs", "hu",
        "ro",
        "bg", "el", "tr", "uk", "ru", "ja", "ko", "zh_Hans", "zh_Hant", "zh_HK", "zh_SG", "th", "vi", "id", "ms", "hi",
        "he",
        "ar",
    ])
    func `two currencies are never written alike in one locale`(_ locale: String) {
        let currencies = Set(Storefronts.countries.map { Storefronts.currency(of: $0) })
        let texts = currencies.map { Storefronts.display(Money(milliunits: 1_000, currency: $0), locale: locale) }
        // Whole currencies and others differ in their digits: compares the text around the digits.
        let frames = texts.map { $0.filter { !"0123456789., \u{A0}".contains($0) } }
        #expect(Set(frames).count == currencies.count, "\(frames.sorted())")
    }

    @Test func `the storefronts are those of the App Store, each once and with its own number`() {
        let countries = Storefronts.countries
        #expect(countries.count >= 100)
        #expect(Set(countries).count == countries.count)
        #expect(Set(countries.map { Storefronts.storefront($0).id }).count == countries.count)
        for country in countries { #expect(Storefronts.currency(of: country).utf8.count == 3) }
    }

    @Test(arguments: [
        ("USA", "143441", "USD"), ("ESP", "143454", "EUR"), ("GBR", "143444", "GBP"), ("SGP", "143464", "SGD"),
        ("JPN", "143462", "JPY"), ("COL", "143501", "COP"), ("PRT", "143453", "EUR"), ("FIN", "143447", "EUR"),
        ("ISL", "143558", "USD"), ("KWT", "143493", "USD"), ("ARE", "143481", "AED"), ("NGA", "143561", "NGN"),
    ])
    func `the storefronts that catalogue files use are known`(_ country: String, _ id: String, _ currency: String) {
        #expect(Storefronts.storefront(country) == Storefront(countryCode: country, id: id))
        #expect(Storefronts.currency(of: country) == currency)
        #expect(Storefronts.isKnown(country))
    }

    @Test(arguments: ["", "US", "usa", "XXX"])
    func `an unknown storefront keeps its code, has no number, and sells in dollars`(_ country: String) {
        #expect(Storefronts.storefront(country) == Storefront(countryCode: country))
        #expect(Storefronts.currency(of: country) == "USD")
        #expect(!Storefronts.isKnown(country))
    }
}
