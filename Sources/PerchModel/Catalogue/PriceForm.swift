/// The price format of a locale: digits, grouping, and the position of the currency.
struct PriceForm: Sendable {
    enum Digits: Sendable {
        /// 1,234.50
        case point
        /// 1.234,50
        case comma
        /// 1 234,50, with a no-break space.
        case space
        /// 1 234,50, with a narrow no-break space.
        case narrow
        /// 1’234.50
        case swiss

        var decimal: String { self == .point || self == .swiss ? "." : "," }

        var group: String {
            switch self {
            case .point: ","
            case .comma: "."
            case .space: "\u{A0}"
            case .narrow: "\u{202F}"
            case .swiss: "\u{2019}"
            }
        }
    }

    enum Place: Sendable {
        case leading, leadingSpaced, trailing
    }

    private let digits: Digits
    private let place: Place
    /// The locale's own symbols, by currency.
    private let symbols: [String: String]
    /// The common symbols that this locale uses; nil for all.
    private let keeps: Set<String>?
    /// 1,23,456: groups of two in front of the last three.
    private let isIndian: Bool
    /// Number of integer digits from which grouping begins.
    private let groupsFrom: Int

    /// `symbols` as `USD=US$ PHP`: a currency without a symbol shows its code.
    private init(
        _ digits: Digits, _ place: Place, _ symbols: String = "", keeps: String? = nil, isIndian: Bool = false,
        groupsFrom: Int = 4
    ) {
        self.digits = digits
        self.place = place
        var table: [String: String] = [:]
        for entry in symbols.split(separator: " ") {
            let parts = entry.split(separator: "=").map(String.init)
            table[parts[0]] = parts.count == 2 ? parts[1] : parts[0]
        }
        self.symbols = table
        self.keeps = keeps.map { Set($0.split(separator: " ").map(String.init)) }
        self.isIndian = isIndian
        self.groupsFrom = groupsFrom
    }

    /// The format of a locale in underscore form: its own, or that of the longest prefix in the table. Nil if the table
    /// lacks the language.
    static func form(of locale: String) -> PriceForm? {
        var parts = locale.split(separator: "_")
        while !parts.isEmpty {
            let name = parts.joined(separator: "_")
            if let form = Self.table[Self.aliases[name] ?? name] { return form }
            if parts.count == 2, let shared = Self.shared[String(parts[0])] { return Self.table[shared] }
            parts.removeLast()
        }
        return nil
    }

    /// `amount` is a plain decimal, such as `-1234.5`.
    func text(_ amount: String, _ currency: String) -> String {
        let sign = amount.hasPrefix("-") ? "-" : ""
        let parts = amount.dropFirst(sign.count).split(separator: ".", omittingEmptySubsequences: false)
        var number = self.grouped(String(parts[0]))
        if parts.count == 2 { number += self.digits.decimal + parts[1] }
        let symbol = self.symbol(of: currency)
        switch self.place {
        case .trailing: return "\(sign)\(number)\u{A0}\(symbol)"
        case .leadingSpaced: return "\(sign)\(symbol)\u{A0}\(number)"
        case .leading:
            // Letters do not touch digits.
            let space = symbol.last?.isLetter == true ? "\u{A0}" : ""
            return "\(sign)\(symbol)\(space)\(number)"
        }
    }

    private func grouped(_ whole: String) -> String {
        guard whole.count >= self.groupsFrom else { return whole }
        var groups: [Substring] = []
        var rest = whole[...]
        while !rest.isEmpty {
            let count = self.isIndian && !groups.isEmpty ? 2 : 3
            groups.append(rest.suffix(count))
            rest = rest.dropLast(count)
        }
        return groups.reversed().joined(separator: self.digits.group)
    }

    private func symbol(of currency: String) -> String {
        if let own = self.symbols[currency] { return own }
        if let keeps = self.keeps, !keeps.contains(currency) { return currency }
        return Self.common[currency] ?? currency
    }

    // MARK: The table

    /// Symbols for locales without a symbol of their own.
    private static let common: [String: String] = [
        "AUD": "A$", "BRL": "R$", "CAD": "CA$", "CNY": "CN¥", "EUR": "€", "GBP": "£", "HKD": "HK$", "ILS": "₪",
        "INR": "₹", "JPY": "¥", "KRW": "₩", "MXN": "MX$", "NZD": "NZ$", "PHP": "₱", "TWD": "NT$", "USD": "$",
        "VND": "₫",
    ]

    /// The parent locale of regions without a format of their own: English except the United States, Spanish except
    /// Spain.
    private static let shared = ["en": "en_001", "es": "es_419"]

    private static let aliases = [
        "en_US": "en", "en_PH": "en", "es_ES": "es", "no": "nb", "nn": "nb", "zh": "zh_Hans", "zh_CN": "zh_Hans",
        "zh_SG": "zh_Hans_SG", "zh_TW": "zh_Hant", "zh_HK": "zh_Hant_HK", "zh_MO": "zh_Hant_HK", "iw": "he",
        "in": "id", "es_PR": "es_US", "es_BO": "es_AR", "es_EC": "es_AR", "es_PY": "es_AR", "es_UY": "es_AR",
        "es_VE": "es_AR", "es_CR": "es_AR",
    ]

    private static let french = PriceForm(
        .narrow, .trailing,
        "AUD=$AU CAD=$CA CLP=$CL COP=$CO GBP=£GB MXN=$MX NZD=$NZ SGD=$SG USD=$US CNY HKD JPY PHP TWD")

    /// From the CLDR, as in Babel 2.18, without direction marks. The yen sign is narrow in Japanese too, as in the App
    /// Store. Right-to-left languages with their own digits are left out: see `Storefronts.display`.
    private static let table: [String: PriceForm] = [
        "en": PriceForm(.point, .leading),
        "en_GB": PriceForm(.point, .leading, "JPY=JP¥ USD=US$"),
        "en_CA": PriceForm(.point, .leading, "CAD=$ JPY=JP¥ USD=US$"),
        "en_AU": PriceForm(.point, .leading, "AUD=$", keeps: ""),
        "en_NZ": PriceForm(.point, .leading, "JPY=JP¥ NZD=$ USD=US$"),
        "en_IE": PriceForm(.point, .leading, "JPY=JP¥ USD=US$"),
        "en_IN": PriceForm(.point, .leading, "JPY=JP¥", isIndian: true),
        "en_SG": PriceForm(.point, .leading, "JPY=JP¥ SGD=$ USD=US$"),
        "en_HK": PriceForm(.point, .leading, "JPY=JP¥ USD=US$"),
        "en_ZA": PriceForm(.space, .leading, "JPY=JP¥ USD=US$ ZAR=R"),
        "en_001": PriceForm(.point, .leading, "JPY=JP¥ USD=US$"),
        "fr": Self.french,
        "fr_CA": PriceForm(
            .space, .trailing,
            "AUD=$\u{A0}AU CAD=$ HKD=$\u{A0}HK NZD=$\u{A0}NZ SGD=$\u{A0}SG USD=$\u{A0}US ILS INR KRW MXN PHP TWD VND"),
        "fr_CH": Self.french,
        "de": PriceForm(.comma, .trailing, "AUD=AU$ THB=฿ PHP"),
        "de_AT": PriceForm(.comma, .leadingSpaced, "AUD=AU$ THB=฿ PHP"),
        "de_CH": PriceForm(.swiss, .leadingSpaced, "AUD=AU$ THB=฿ EUR PHP"),
        "es": PriceForm(.comma, .trailing, "THB=฿ USD=US$", keeps: "EUR VND", groupsFrom: 5),
        "es_419": PriceForm(.point, .leading, keeps: ""),
        "es_MX": PriceForm(.point, .leading, "MXN=$", keeps: ""),
        "es_US": PriceForm(.point, .leading, keeps: "JPY USD"),
        "es_AR": PriceForm(.comma, .leading, "USD=US$", keeps: ""),
        "es_CL": PriceForm(.comma, .leading, "CLP=$ USD=US$", keeps: ""),
        "es_CO": PriceForm(.comma, .leading, "COP=$ USD=US$", keeps: ""),
        "es_PE": PriceForm(.point, .leadingSpaced, "PEN=S/", keeps: ""),
        "it": PriceForm(.comma, .trailing, "THB=฿", keeps: "AUD CAD CNY EUR GBP ILS NZD PHP"),
        "it_CH": PriceForm(.swiss, .leadingSpaced, "THB=฿", keeps: "AUD CAD CNY EUR GBP ILS NZD PHP"),
        "nl": PriceForm(.comma, .leadingSpaced, "AUD=AU$ CAD=C$ JPY=JP¥ THB=฿ USD=US$ PHP"),
        "pt": PriceForm(.comma, .leadingSpaced, "AUD=AU$ JPY=JP¥ THB=฿ USD=US$ PHP"),
        "pt_PT": PriceForm(.space, .trailing, "AUD=AU$ JPY=JP¥ THB=฿ USD=US$ PHP", groupsFrom: 5),
        "da": PriceForm(.comma, .trailing, "AUD=AU$ DKK=kr. JPY=JP¥ THB=฿ USD=US$ PHP"),
        "sv": PriceForm(.space, .trailing, "BRL=BR$ DKK=Dkr EGP=EG£ NOK=Nkr SEK=kr USD=US$", keeps: "CAD EUR ILS MXN"),
        "nb": PriceForm(.space, .trailing, "NOK=kr", keeps: "EUR GBP"),
        "fi": PriceForm(.space, .trailing, keeps: "EUR GBP JPY USD"),
        "is": PriceForm(.comma, .trailing, "JPY=JP¥", keeps: "CNY HKD ILS"),
        "pl": PriceForm(.space, .trailing, "PLN=zł", keeps: "BRL EUR", groupsFrom: 5),
        "cs": PriceForm(.space, .trailing, "AUD=AU$ CZK=Kč JPY=JP¥ USD=US$ ILS INR PHP VND"),
        "sk": PriceForm(.space, .trailing, "ILS=NIS", keeps: "EUR MXN"),
        "hu": PriceForm(.space, .trailing, "HUF=Ft", keeps: "JPY"),
        "ro": PriceForm(.comma, .trailing, keeps: ""),
        "bg": PriceForm(.space, .trailing, "BGN=лв. USD=щ.д.", keeps: "EUR", groupsFrom: 5),
        "hr": PriceForm(.comma, .trailing, keeps: "EUR"),
        "sl": PriceForm(.comma, .trailing, "AUD BRL CAD GBP MXN NZD PHP TWD"),
        "el": PriceForm(.comma, .trailing, "JPY=JP¥ THB=฿ PHP"),
        "tr": PriceForm(.comma, .leading, "AUD=AU$ THB=฿ TRY=₺ PHP"),
        "uk": PriceForm(.space, .trailing, "UAH=₴", keeps: "JPY"),
        "ru": PriceForm(.space, .trailing, "RUB=₽ THB=฿ UAH=₴ PHP"),
        "lt": PriceForm(.space, .trailing, keeps: "EUR"),
        "lv": PriceForm(.space, .trailing, "AUD=AU$ THB=฿ PHP", groupsFrom: 5),
        "et": PriceForm(.space, .trailing, "AUD=AU$ THB=฿ PHP", groupsFrom: 5),
        "ja": PriceForm(.point, .leading, "CNY=元 PHP"),
        "ko": PriceForm(.point, .leading, "AUD=AU$ JPY=JP¥ USD=US$ PHP"),
        "zh_Hans": PriceForm(.point, .leading, "AUD=AU$ CNY=¥ JPY=JP¥ USD=US$ PHP"),
        "zh_Hant": PriceForm(.point, .leading, "AUD=AU$ KRW=￦ TWD=$ USD=US$ PHP"),
        "zh_Hant_HK": PriceForm(.point, .leading, "AUD=AU$ USD=US$ PHP"),
        "zh_Hans_SG": PriceForm(.point, .leading, "AUD=AU$ CNY=¥ JPY=JP¥ SGD=$ USD=US$ PHP"),
        "th": PriceForm(.point, .leading, "AUD=AU$ THB=฿ USD=US$ PHP"),
        "vi": PriceForm(.comma, .trailing, "AUD=AU$ THB=฿ USD=US$ PHP"),
        "id": PriceForm(.comma, .leading, "AUD=AU$ IDR=Rp INR=Rs JPY=JP¥ THB=฿ USD=US$ PHP"),
        "ms": PriceForm(.point, .leading, "JPY=JP¥ MYR=RM CAD MXN PHP USD"),
        "hi": PriceForm(.point, .leading, "JPY=JP¥ THB=฿ PHP", isIndian: true),
        "he": PriceForm(.point, .trailing, "THB=฿ PHP"),
        "ca": PriceForm(.comma, .trailing, "AUD=AU$ THB=฿ BRL CAD CNY MXN PHP USD", groupsFrom: 5),
        "fil": PriceForm(.point, .leading, "THB=฿"),
        "kk": PriceForm(.space, .trailing, "JPY=JP¥ KZT=₸ RUB=₽ THB=฿ PHP"),
    ]
}
