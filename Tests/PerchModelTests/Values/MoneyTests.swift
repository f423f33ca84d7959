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
    func `what is not a plain decimal of at most three places that fits is refused`(_ text: String) {
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
        DisplayRow(9_900_000, "KRW", "ko", "₩9900"),
        DisplayRow(9_990, "BRL", "pt_BR", "R$\u{A0}9,99"),
        DisplayRow(9_990, "BRL", "pt-BR", "R$\u{A0}9,99"),
        DisplayRow(9_990, "EUR", "pt_PT", "9,99\u{A0}€"),
        DisplayRow(9_990, "CAD", "en_CA", "$9.99"),
        DisplayRow(9_990, "CAD", "en-CA", "$9.99"),
        DisplayRow(9_990, "CAD", "fr_CA", "9,99\u{A0}$"),
        DisplayRow(9_990, "CAD", "en_US", "CA$9.99"),
        DisplayRow(9_990, "USD", "en_CA", "US$9.99"),
        DisplayRow(9_990, "USD", "fr_CA", "9,99\u{A0}US$"),
        DisplayRow(9_990, "USD", "es_MX", "US$9.99"),
        DisplayRow(9_990, "MXN", "es_MX", "$9.99"),
        DisplayRow(9_990, "CHF", "de_CH", "CHF 9.99"),
        DisplayRow(9_990, "SGD", "en_SG", "SGD 9.99"),
    ])
    func `a price is written as the locale writes it, and plainly where the table does not know the currency`(
        _ row: DisplayRow
    ) {
        let price = Money(milliunits: row.milliunits, currency: row.currency)
        #expect(Storefronts.display(price, locale: row.locale) == row.text)
    }

    @Test(arguments: [
        ("en_CA", ["CAD", "USD", "AUD"]), ("es_MX", ["MXN", "USD"]), ("en_AU", ["AUD", "USD", "NZD"]),
        ("zh_Hant", ["TWD", "USD", "HKD"]), ("zh_Hans", ["CNY", "JPY"]), ("ja", ["CNY", "JPY"]),
        ("en_US", ["USD", "CAD", "AUD", "MXN", "NZD", "HKD", "TWD", "SGD", "JPY", "CNY"]),
    ])
    func `two currencies are never written alike in one locale`(_ locale: String, _ currencies: [String]) {
        let texts = currencies.map { Storefronts.display(Money(milliunits: 1_000, currency: $0), locale: locale) }
        #expect(Set(texts).count == currencies.count, "\(texts)")
    }

    @Test(arguments: [
        ("USA", "143441", "USD"), ("ESP", "143454", "EUR"), ("GBR", "143444", "GBP"), ("SGP", "143464", "SGD"),
        ("JPN", "143462", "JPY"), ("COL", "143501", "COP"), ("PRT", "143453", "EUR"), ("FIN", "143447", "EUR"),
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
