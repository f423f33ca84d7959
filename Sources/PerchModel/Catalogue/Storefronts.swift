/// Currencies of storefronts, and how a price is written in a locale: a committed table, without ICU.
///
/// What the table does not know is written in the plain form `USD 9.99`, which everybody can read.
package enum Storefronts {
    /// Country (ISO 3166-1 alpha-3), Apple's number of its storefront, its currency.
    private static let table: [(country: String, id: String, currency: String)] = [
        ("ARE", "143481", "AED"), ("AUS", "143460", "AUD"), ("AUT", "143445", "EUR"), ("BEL", "143446", "EUR"),
        ("BGR", "143526", "EUR"), ("BRA", "143503", "BRL"), ("CAN", "143455", "CAD"), ("CHE", "143459", "CHF"),
        ("CHL", "143483", "CLP"), ("CHN", "143465", "CNY"), ("COL", "143501", "COP"), ("CZE", "143489", "CZK"),
        ("DEU", "143443", "EUR"), ("DNK", "143458", "DKK"), ("ESP", "143454", "EUR"), ("EST", "143518", "EUR"),
        ("FIN", "143447", "EUR"), ("FRA", "143442", "EUR"), ("GBR", "143444", "GBP"), ("GRC", "143448", "EUR"),
        ("HKG", "143463", "HKD"), ("HUN", "143482", "HUF"), ("IDN", "143476", "IDR"), ("IND", "143467", "INR"),
        ("IRL", "143449", "EUR"), ("ISR", "143491", "ILS"), ("ITA", "143450", "EUR"), ("JPN", "143462", "JPY"),
        ("KOR", "143466", "KRW"), ("LTU", "143520", "EUR"), ("LUX", "143451", "EUR"), ("LVA", "143519", "EUR"),
        ("MEX", "143468", "MXN"), ("MYS", "143473", "MYR"), ("NLD", "143452", "EUR"), ("NOR", "143457", "NOK"),
        ("NZL", "143461", "NZD"), ("PER", "143507", "PEN"), ("PHL", "143474", "PHP"), ("POL", "143478", "PLN"),
        ("PRT", "143453", "EUR"), ("ROU", "143487", "RON"), ("SAU", "143479", "SAR"), ("SGP", "143464", "SGD"),
        ("SVK", "143496", "EUR"), ("SVN", "143499", "EUR"), ("SWE", "143456", "SEK"), ("THA", "143475", "THB"),
        ("TUR", "143480", "TRY"), ("TWN", "143470", "TWD"), ("USA", "143441", "USD"), ("VNM", "143471", "VND"),
        ("ZAF", "143472", "ZAR"),
    ]
    private static let index = Dictionary(uniqueKeysWithValues: Self.table.enumerated().map { ($1.country, $0) })

    /// Decimals that a currency is written with, where that is not two.
    private static let decimals: [String: Int] = ["JPY": 0, "KRW": 0, "VND": 0, "CLP": 0, "IDR": 0, "HUF": 0, "TWD": 0]

    /// Where a symbol stands and what separates decimals, by locale; and the symbol, by currency.
    private static let symbols: [String: String] = [
        "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "CN¥", "KRW": "₩", "INR": "₹", "BRL": "R$",
        "CAD": "CA$", "AUD": "A$", "MXN": "MX$", "NZD": "NZ$", "HKD": "HK$", "TWD": "NT$", "ILS": "₪", "VND": "₫",
    ]
    /// Languages that write the amount before the symbol, with a comma.
    private static let trailing: Set<String> = [
        "bg", "cs", "da", "de", "es", "et", "fi", "fr", "hu", "it", "lt", "lv", "nb", "no", "pl", "pt", "ro", "ru",
        "sk", "sl", "sv", "uk",
    ]
    /// Locales that write their own currency's symbol plainly, and so may not write another one's like it.
    private static let home: [String: (currency: String, symbol: String, other: (currency: String, symbol: String))] = {
        let dollars = [
            "en_CA": "CAD", "fr_CA": "CAD", "en_AU": "AUD", "es_MX": "MXN", "en_NZ": "NZD", "zh_TW": "TWD",
            "zh_Hant": "TWD", "en_HK": "HKD",
        ]
        .mapValues { (currency: $0, symbol: "$", other: (currency: "USD", symbol: "US$")) }
        let yuan = (currency: "CNY", symbol: "¥", other: (currency: "JPY", symbol: "JP¥"))
        return dollars.merging(["zh": yuan, "zh_CN": yuan, "zh_Hans": yuan]) { first, _ in first }
    }()

    package static func storefront(_ country: String) -> Storefront {
        Storefront(countryCode: country, id: Self.index[country].map { Self.table[$0].id } ?? "")
    }

    /// The currency of a storefront; US dollars where the table does not know it, as Xcode does.
    package static func currency(of country: String) -> String {
        Self.index[country].map { Self.table[$0].currency } ?? "USD"
    }

    package static func isKnown(_ country: String) -> Bool { Self.index[country] != nil }

    /// A price for people. `locale` may be written with underscores or hyphens.
    package static func display(_ price: Money, locale: String) -> String {
        let locale = String(locale.map { $0 == "-" ? "_" : $0 })
        let language = String(locale.split(separator: "_").first ?? "")
        let amount = price.decimal(decimals: Self.decimals[price.currency] ?? 2)
        guard let symbol = Self.symbol(of: price.currency, in: locale) else { return "\(price.currency) \(amount)" }
        let isTrailing = Self.trailing.contains(language) && !["pt_BR", "es_MX", "es_US"].contains(locale)
        guard isTrailing || locale == "pt_BR" else { return symbol + amount }
        let commaAmount = String(amount.map { $0 == "." ? "," : $0 })
        return isTrailing ? "\(commaAmount)\u{A0}\(symbol)" : "\(symbol)\u{A0}\(commaAmount)"
    }

    /// How a locale writes a currency; nil for its code.
    private static func symbol(of currency: String, in locale: String) -> String? {
        if let home = Self.home[locale] {
            if currency == home.currency { return home.symbol }
            if currency == home.other.currency { return home.other.symbol }
        }
        return Self.symbols[currency]
    }
}
