import PerchBase
import PerchJSON
import PerchModel

extension CatalogueLoader {
    /// The initial settings of an app. Nothing here refuses a file: invalid settings get their defaults.
    mutating func settings(_ value: JSONValue?) -> (AppSettings, [FileFailure]) {
        var settings = AppSettings()
        guard let value else { return (settings, []) }
        guard var fields = Fields(value) else {
            self.findings.warn(
                .unusableValue, at: value.place,
                "\"settings\" should be an object, not \(value.kind); defaults are used")
            return (settings, [])
        }
        settings.timeRate = self.timeRate(&fields)
        settings.storefront = self.storefront(&fields, otherwise: settings.storefront)
        settings.locale = self.settingsLocale(&fields, otherwise: settings.locale)
        settings.isAskToBuyEnabled = fields.flag("_askToBuyEnabled", &self.findings)
        settings.areBillingIssuesEnabled = fields.flag("_billingIssuesEnabled", &self.findings)
        settings.areRenewalBillingIssuesEnabled = fields.flag("_renewalBillingIssuesEnabled", &self.findings)
        settings.isGracePeriodEnabled = fields.flag("_billingGracePeriodEnabled", &self.findings)
        // A file that does not say so has no dialogs: nobody sits before them where a server is the store.
        let saysDialogs = fields.placeOf("_disableDialogs") != nil
        settings.asksBeforePurchases = !fields.flag("_disableDialogs", &self.findings) && saysDialogs
        let failures = self.failures(&fields)
        fields.ignore(
            "_applicationInternalID", "_developerTeamID", "_lastSynchronizedDate", "_shouldSetupSyncOnLoad")
        fields.reportUnknown(in: "the settings", to: &self.findings)
        return (settings, failures)
    }

    private mutating func timeRate(_ fields: inout Fields) -> TimeRate {
        let wanted = fields.take("_timeRate")
        let compatible = fields.take("_compatibilityTimeRate")
        guard let wanted else { return .realTime }
        if let rate = Self.knownRate(wanted) {
            _ = self.integer(wanted, "_timeRate")
            return rate
        }
        // Older tools read the second key where the first is newer than they are. So do we.
        var candidates: [JSONValue] = []
        if let compatible {
            // Its keys look like schema numbers: the newest that names a rate we know.
            let members = compatible.members ?? []
            candidates = members.sorted { (Int($0.key) ?? 0) > (Int($1.key) ?? 0) }.map(\.value)
            if members.isEmpty { candidates = [compatible] }
        }
        let fallback = candidates.lazy.compactMap(Self.knownRate).first
        let rate = fallback ?? .realTime
        let number = Self.found(wanted)
        let source = fallback == nil ? "" : ", from _compatibilityTimeRate"
        self.findings.warn(
            .timeRate, at: wanted.place,
            "the time rate \(number) is unknown; taken as \(rate.rawValue) (\(rate.name))\(source)")
        return rate
    }

    private static func knownRate(_ value: JSONValue) -> TimeRate? {
        (value.integer ?? Self.wholeNumber(value)).flatMap { Int32(exactly: $0) }.flatMap { TimeRate(rawValue: $0) }
    }

    private mutating func storefront(_ fields: inout Fields, otherwise fallback: String) -> String {
        guard let value = fields.take("_storefront") else { return fallback }
        let letters = "A"..."Z" as ClosedRange<Unicode.Scalar>
        guard let country = value.string, country.unicodeScalars.count == 3,
            country.unicodeScalars.allSatisfy({ letters.contains($0) })
        else {
            self.findings.warn(
                .unusableValue, at: value.place,
                "the storefront is \(Self.found(value)), expected a country of three capital letters such as \"USA\"; "
                    + "used as \(fallback)")
            return fallback
        }
        if !Storefronts.isKnown(country) {
            self.findings.warn(
                .unusableValue, at: value.place,
                "the currency of the storefront \(country) is unknown; prices are in \(Storefronts.currency(of: country))"
            )
        }
        return country
    }

    private mutating func settingsLocale(_ fields: inout Fields, otherwise fallback: String) -> String {
        guard let value = fields.take("_locale") else { return fallback }
        guard let locale = value.string, (2...35).contains(locale.utf8.count),
            locale.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || $0 == "_" || $0 == "-")
            })
        else {
            self.findings.warn(
                .unusableValue, at: value.place,
                "the locale is \(Self.found(value)), expected a form such as \"en_US\"; used as \(fallback)")
            return fallback
        }
        let result = String(locale.map { $0 == "-" ? "_" : $0 })
        if !Locales.isKnown(result) {
            self.findings.warn(
                .locale, at: value.place,
                "the locale \(quoted(result)) is unknown, expected a language and a region such as en_US; "
                    + "texts fall back to those of en_US")
        }
        return result
    }
}
