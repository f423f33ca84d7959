/// Storefronts of the App Store, their currencies, and display prices: committed tables, without ICU.
///
/// A currency or locale outside the tables gets the plain form `USD 9.99`.
package enum Storefronts {
    /// Country (ISO 3166-1 alpha-3), Apple's number of its storefront, and the currency of Apple's prices there: US
    /// dollars in many countries that have a currency of their own, such as Kuwait.
    private static let table: [(country: String, id: String, currency: String)] = [
        ("AGO", "143564", "USD"), ("AIA", "143538", "USD"), ("ARE", "143481", "AED"), ("ARG", "143505", "USD"),
        ("ARM", "143524", "USD"), ("ATG", "143540", "USD"), ("AUS", "143460", "AUD"), ("AUT", "143445", "EUR"),
        ("AZE", "143568", "USD"), ("BEL", "143446", "EUR"), ("BGR", "143526", "EUR"), ("BHR", "143559", "USD"),
        ("BHS", "143539", "USD"), ("BLR", "143565", "USD"), ("BLZ", "143555", "USD"), ("BMU", "143542", "USD"),
        ("BOL", "143556", "USD"), ("BRA", "143503", "BRL"), ("BRB", "143541", "USD"), ("BRN", "143560", "USD"),
        ("BWA", "143525", "USD"), ("CAN", "143455", "CAD"), ("CHE", "143459", "CHF"), ("CHL", "143483", "CLP"),
        ("CHN", "143465", "CNY"), ("COL", "143501", "COP"), ("CRI", "143495", "USD"), ("CYM", "143544", "USD"),
        ("CYP", "143557", "EUR"), ("CZE", "143489", "CZK"), ("DEU", "143443", "EUR"), ("DMA", "143545", "USD"),
        ("DNK", "143458", "DKK"), ("DOM", "143508", "USD"), ("DZA", "143563", "USD"), ("ECU", "143509", "USD"),
        ("EGY", "143516", "EGP"), ("ESP", "143454", "EUR"), ("EST", "143518", "EUR"), ("FIN", "143447", "EUR"),
        ("FRA", "143442", "EUR"), ("GBR", "143444", "GBP"), ("GHA", "143573", "USD"), ("GRC", "143448", "EUR"),
        ("GRD", "143546", "USD"), ("GTM", "143504", "USD"), ("GUY", "143553", "USD"), ("HKG", "143463", "HKD"),
        ("HND", "143510", "USD"), ("HRV", "143494", "EUR"), ("HUN", "143482", "HUF"), ("IDN", "143476", "IDR"),
        ("IND", "143467", "INR"), ("IRL", "143449", "EUR"), ("ISL", "143558", "USD"), ("ISR", "143491", "ILS"),
        ("ITA", "143450", "EUR"), ("JAM", "143511", "USD"), ("JOR", "143528", "USD"), ("JPN", "143462", "JPY"),
        ("KAZ", "143517", "KZT"), ("KEN", "143529", "USD"), ("KNA", "143548", "USD"), ("KOR", "143466", "KRW"),
        ("KWT", "143493", "USD"), ("LBN", "143497", "USD"), ("LCA", "143549", "USD"), ("LKA", "143486", "USD"),
        ("LTU", "143520", "EUR"), ("LUX", "143451", "EUR"), ("LVA", "143519", "EUR"), ("MAC", "143515", "USD"),
        ("MDA", "143523", "USD"), ("MDG", "143531", "USD"), ("MEX", "143468", "MXN"), ("MKD", "143530", "USD"),
        ("MLI", "143532", "USD"), ("MLT", "143521", "EUR"), ("MSR", "143547", "USD"), ("MUS", "143533", "USD"),
        ("MYS", "143473", "MYR"), ("NER", "143534", "USD"), ("NGA", "143561", "NGN"), ("NIC", "143512", "USD"),
        ("NLD", "143452", "EUR"), ("NOR", "143457", "NOK"), ("NZL", "143461", "NZD"), ("OMN", "143562", "USD"),
        ("PAK", "143477", "PKR"), ("PAN", "143485", "USD"), ("PER", "143507", "PEN"), ("PHL", "143474", "PHP"),
        ("POL", "143478", "PLN"), ("PRT", "143453", "EUR"), ("PRY", "143513", "USD"), ("QAT", "143498", "QAR"),
        ("ROU", "143487", "RON"), ("RUS", "143469", "RUB"), ("SAU", "143479", "SAR"), ("SEN", "143535", "USD"),
        ("SGP", "143464", "SGD"), ("SLV", "143506", "USD"), ("SUR", "143554", "USD"), ("SVK", "143496", "EUR"),
        ("SVN", "143499", "EUR"), ("SWE", "143456", "SEK"), ("TCA", "143552", "USD"), ("THA", "143475", "THB"),
        ("TTO", "143551", "USD"), ("TUN", "143536", "USD"), ("TUR", "143480", "TRY"), ("TWN", "143470", "TWD"),
        ("TZA", "143572", "TZS"), ("UGA", "143537", "USD"), ("UKR", "143492", "USD"), ("URY", "143514", "USD"),
        ("USA", "143441", "USD"), ("UZB", "143566", "USD"), ("VCT", "143550", "USD"), ("VEN", "143502", "USD"),
        ("VGB", "143543", "USD"), ("VNM", "143471", "VND"), ("YEM", "143571", "USD"), ("ZAF", "143472", "ZAR"),
    ]

    /// The countries of the table as numbers, in the table's order, which is ascending.
    private static let codes = Self.table.map { Self.code(of: $0.country) }

    /// The three letters of a country as one number; 0 for other lengths.
    private static func code(of country: String) -> UInt32 {
        let letters = country.utf8Span.span
        guard letters.count == 3 else { return 0 }
        return UInt32(letters[0]) << 16 | UInt32(letters[1]) << 8 | UInt32(letters[2])
    }

    /// Binary search over numbers: a purchase looks up three countries, and comparing or hashing texts costs more.
    private static func place(of country: String) -> Int? {
        let code = Self.code(of: country)
        let codes = Self.codes.span
        var low = 0
        var high = codes.count
        while low < high {
            let middle = (low + high) / 2
            if codes[middle] < code { low = middle + 1 } else { high = middle }
        }
        return low < codes.count && codes[low] == code ? low : nil
    }

    /// Decimals of currencies that do not have two. Forints, rupiah and Taiwan dollars have hundredths by law; the App
    /// Store shows them without, and so does Perch.
    private static let decimals: [String: Int] = [
        "BHD": 3, "CLP": 0, "HUF": 0, "IDR": 0, "JOD": 3, "JPY": 0, "KRW": 0, "KWD": 3, "OMR": 3, "TND": 3, "TWD": 0,
        "VND": 0,
    ]

    package static func storefront(_ country: String) -> Storefront {
        Storefront(countryCode: country, id: self.place(of: country).map { Self.table[$0].id } ?? "")
    }

    /// The currency of a storefront; US dollars for an unknown one, as in Xcode.
    package static func currency(of country: String) -> String {
        self.place(of: country).map { Self.table[$0].currency } ?? "USD"
    }

    package static func isKnown(_ country: String) -> Bool { self.place(of: country) != nil }

    /// For tests: every country of the table.
    package static var countries: [String] { Self.table.map(\.country) }

    /// A display price. `locale` may use underscores or hyphens; empty means American English.
    ///
    /// A catalogue price may have more decimals than the storefront's currency. All are shown, because the full amount
    /// is charged.
    package static func display(_ price: Money, locale: String) -> String {
        let usual = Self.decimals[price.currency] ?? 2
        let isWhole = price.milliunits % 1_000 == 0
        let amount = price.decimal(decimals: usual == 0 && !isWhole ? 2 : usual)
        let locale = locale.isEmpty ? "en_US" : String(locale.map { $0 == "-" ? "_" : $0 })
        guard let form = PriceForm.form(of: locale) else { return "\(price.currency) \(amount)" }
        return form.text(amount, price.currency)
    }
}
