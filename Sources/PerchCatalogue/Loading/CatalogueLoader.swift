import PerchBase
import PerchJSON
import PerchModel

/// Builds a catalogue from one document.
///
/// A mistake about products, prices or periods refuses the file. For every other mistake the loader takes the plainest
/// reading, and adds a warning with its place.
struct CatalogueLoader {
    var findings = Findings()
    /// The currency of the file's storefront. The file itself has numbers only.
    var currency = "USD"
    var groups: [CatalogueGroup] = []
    /// Of all products, in the order of the file.
    var namedImages: [NamedImage] = []
    private var products: [CatalogueProduct] = []
    /// The first place of each product ID, including products that are left out.
    private var productPlaces: [String: JSONPlace] = [:]

    /// The list that contains an entry.
    enum Shelf: Hashable {
        case products, nonRenewing
        case group(id: String)
    }

    mutating func load(_ root: JSONValue, _ files: [ImageFile]) throws(CatalogueError) -> LoadedCatalogue {
        guard var fields = Fields(root) else {
            throw self.findings.error(
                .wrongShape, at: root.place, "a StoreKit configuration is a JSON object, this is \(root.kind)")
        }
        let isStated = fields.placeOf("version") != nil && fields.placeOf("identifier") != nil
        let version = self.schemaVersion(fields.take("version"))
        let (settings, failures) = self.settings(fields.take("settings"))
        let policies = self.policies(fields.take("appPolicies"))
        self.currency = Storefronts.currency(of: settings.storefront)

        var shelves = [
            (Shelf.products, try fields.list("products", self.findings)),
            (Shelf.nonRenewing, try fields.list("nonRenewingSubscriptions", self.findings)),
        ]
        shelves += try self.takeGroups(try fields.list("subscriptionGroups", self.findings))
        // Files have their lists in any order. Products keep the order of the file.
        shelves.removeAll { $0.1.isEmpty }
        shelves.sort { ($0.1.first?.place ?? .start) < ($1.1.first?.place ?? .start) }
        for (shelf, entries) in shelves {
            for entry in entries { try self.takeProduct(entry, on: shelf) }
        }

        for key in ["subscriptionBundleGroups", "subscriptionSuiteGroups"] { self.reportSuites(fields.take(key), key) }
        // The key pair signs promotional offers and holds a private key, so the loader does not read it.
        fields.ignore("identifier", "subscriptionOffersKeyPair")
        fields.reportUnknown(in: "the file", to: &self.findings)

        try self.requireProducts(root.place, isConfiguration: isStated && !version.isEmpty)
        let (images, contents) = try self.images(of: files)
        let catalogue = Catalogue(
            products: self.products, groups: self.groups, schemaVersion: version, policies: policies, images: images)
        return LoadedCatalogue(
            catalogue: catalogue, settings: settings, failures: failures, images: contents,
            summary: CatalogueSummary(of: catalogue), warnings: self.findings.all)
    }

    /// Names the products of Xcode 27's suites and bundles, which are of types of their own: an app finds them with a newer
    /// StoreKit, and Perch does not sell them. A group that is only named has nothing to report.
    private mutating func reportSuites(_ value: JSONValue?, _ key: String) {
        guard let value else { return }
        guard let groups = value.array else {
            self.findings.warn(
                .unsupported, at: value.place, "\(quoted(key)) should be a list, not \(value.kind); ignored")
            return
        }
        for group in groups {
            guard var fields = Fields(group) else { continue }
            for entry in fields.take("subscriptions")?.array ?? [] {
                guard var product = Fields(entry) else { continue }
                let id = product.take("productID")
                self.findings.productID = id?.string ?? ""
                let type = product.take("type")?.string ?? "no type"
                self.findings.warn(
                    .unsupported, at: id?.place ?? entry.place,
                    "a product of the type \(quoted(type)) is not sold here: only apps with StoreKit of 2026 find it; left out"
                )
                self.findings.productID = ""
            }
        }
    }

    /// Refuses a file without a product that can be sold. A new file of Xcode states an identifier and a version and has
    /// no products yet: it is an empty catalogue, with a warning.
    private mutating func requireProducts(_ place: JSONPlace, isConfiguration: Bool) throws(CatalogueError) {
        guard self.products.isEmpty else { return }
        let count = self.productPlaces.count
        guard count == 0, isConfiguration else {
            let first = self.findings.all.first { $0.reason == .unsupported }
            let message =
                count == 0
                ? "no product in the file, expected at least one; is this a StoreKit configuration?"
                : "no product that can be sold, of \(count) in the file"
                    + (first.map { "; the first is at \($0)" } ?? "")
            throw self.findings.error(.noUsableProduct, at: place, message)
        }
        self.findings.warn(
            .noProducts, at: place, "no product in the file; the catalogue is empty until products are added")
    }

    /// Shown to people. No field depends on it, because real files state one version and have the fields of another.
    private mutating func schemaVersion(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        guard var fields = Fields(value), let first = fields.take("major"), let second = fields.take("minor"),
            let major = self.integer(first, "major"), let minor = self.integer(second, "minor")
        else {
            self.findings.warn(
                .unusableValue, at: value.place,
                "\"version\" is \(Self.found(value)), expected an object with the integers major and minor; "
                    + "used as not stated")
            return ""
        }
        fields.reportUnknown(in: "the version", to: &self.findings)
        let newest = Self.newestSchema
        if major < 1 || minor < 0 || (major, minor) > newest {
            self.findings.warn(
                .schemaVersion, at: value.place,
                "the schema version is \(major).\(minor), versions 1.0 to \(newest.major).\(newest.minor) are known; "
                    + "known keys are used, check the catalogue with `perch catalog show`")
        }
        return "\(major).\(minor)"
    }

    /// The newest version seen in a real file.
    private static let newestSchema: (major: Int64, minor: Int64) = (6, 3)

    private mutating func policies(_ value: JSONValue?) -> AppPolicies {
        guard let value else { return AppPolicies() }
        guard var fields = Fields(value) else {
            self.findings.warn(
                .unusableValue, at: value.place, "\"appPolicies\" should be an object, not \(value.kind); ignored")
            return AppPolicies()
        }
        var policies = AppPolicies(licenceAgreement: fields.text("eula", &self.findings))
        for entry in fields.softList("policies", &self.findings) {
            var entry = entry
            let policy = AppPolicies.PrivacyPolicy(
                locale: self.locale(&entry), text: entry.text("policyText", &self.findings),
                url: entry.text("policyURL", &self.findings))
            entry.reportUnknown(in: "a policy", to: &self.findings)
            // Xcode writes an empty policy for a missing one.
            if !policy.text.isEmpty || !policy.url.isEmpty { policies.privacyPolicies.append(policy) }
        }
        fields.reportUnknown(in: "the policies", to: &self.findings)
        return policies
    }

    /// All groups before all products, so that a product may name a group that stands behind it.
    private mutating func takeGroups(_ entries: [JSONValue]) throws(CatalogueError) -> [(Shelf, [JSONValue])] {
        var shelves: [(Shelf, [JSONValue])] = []
        var places: [String: JSONPlace] = [:]
        for entry in entries {
            guard var fields = Fields(entry) else {
                throw self.findings.error(
                    .wrongShape, at: entry.place, "a subscription group should be an object, not \(entry.kind)")
            }
            let value = fields.take("id")
            let id = try self.identifier(value, "the ID of a subscription group", in: fields)
            // A group is its ID, which each of its subscriptions repeats. So for StoreKit two entries with one ID are one
            // group, with the names of the first.
            if let first = places[id] {
                self.findings.warn(
                    .duplicateGroup, at: value?.place ?? entry.place,
                    "the subscription group \(quoted(id)) stands already at \(first); its subscriptions are taken into that one"
                )
                fields.ignore("name", "localizations")
                shelves.append((.group(id: id), try fields.list("subscriptions", self.findings)))
                fields.reportUnknown(in: "a subscription group", to: &self.findings)
                continue
            }
            places[id] = value?.place ?? entry.place
            let name = fields.text("name", &self.findings)
            let texts = self.localizations(&fields, of: "the group \(quoted(id))")
            shelves.append((.group(id: id), try fields.list("subscriptions", self.findings)))
            fields.reportUnknown(in: "a subscription group", to: &self.findings)
            self.groups.append(CatalogueGroup(id: id, name: name, localizations: texts))
        }
        return shelves
    }

    private mutating func takeProduct(_ entry: JSONValue, on shelf: Shelf) throws(CatalogueError) {
        guard var fields = Fields(entry) else {
            throw self.findings.error(
                .wrongShape, at: entry.place, "a product should be an object, not \(entry.kind)")
        }
        let value = fields.take("productID")
        let id = try self.identifier(value, "the ID of a product", in: fields)
        let place = value?.place ?? entry.place
        self.findings.productID = id
        defer { self.findings.productID = "" }
        if let first = self.productPlaces[id] {
            throw self.findings.error(
                .duplicateProduct, at: place,
                "this product ID stands already at \(first); remove one of the two or rename it")
        }
        self.productPlaces[id] = place
        guard let product = try self.product(id, &fields, of: entry, on: shelf) else { return }
        self.products.append(product)
    }

    // MARK: Parts that several have

    /// An identifier, by which everything else refers to the entry. Without one the file is refused.
    func identifier(_ value: JSONValue?, _ what: String, in fields: Fields) throws(CatalogueError) -> String {
        guard let value else {
            throw self.findings.error(.badIdentifier, at: fields.place, "\(what) is missing")
        }
        guard let id = value.string, !id.isEmpty else {
            let found = value.string == nil ? value.kind : "an empty one"
            throw self.findings.error(
                .badIdentifier, at: value.place, "\(what) should be a string with characters, not \(found)")
        }
        guard id.utf8.count <= Limits.catalogueIdentifierBytes else {
            throw self.findings.error(
                .badIdentifier, at: value.place,
                "\(what) has \(id.utf8.count) bytes, the limit is \(Limits.catalogueIdentifierBytes); shorten it")
        }
        return id
    }

    /// In the underscore form, by which texts are looked up.
    mutating func locale(_ fields: inout Fields) -> String {
        let value = fields.take("locale")
        guard let text = value?.string, !text.isEmpty else {
            self.findings.warn(
                .unusableValue, at: value?.place ?? fields.place,
                "a locale is missing; the text is shown where no other one fits")
            return ""
        }
        let locale = String(text.map { $0 == "-" ? "_" : $0 })
        if !Locales.isKnown(locale) {
            self.findings.warn(
                .locale, at: value?.place ?? fields.place,
                "the locale \(quoted(locale)) is unknown, expected a language and a region such as en_US; "
                    + "its text is shown to clients that ask for exactly this locale")
        }
        return locale
    }

    /// Texts by locale. `owner` is nil for a product, which should have one.
    mutating func localizations(_ fields: inout Fields, of owner: String? = nil) -> [Localization] {
        var texts: [Localization] = []
        for entry in fields.softList("localizations", &self.findings) {
            var entry = entry
            let text = Localization(
                locale: self.locale(&entry), displayName: entry.text("displayName", &self.findings),
                description: entry.text("description", &self.findings))
            entry.reportUnknown(in: "a localization", to: &self.findings)
            if texts.contains(where: { $0.locale == text.locale }) {
                self.findings.warn(
                    .leftOut, at: entry.place, "a second localization for \(quoted(text.locale)); left out")
                continue
            }
            // Descriptions are empty in most files: only a missing name is worth a word.
            if text.displayName.isEmpty {
                let what = owner.map { " of \($0)" } ?? ""
                self.findings.warn(
                    .emptyLocalization, at: entry.place,
                    "the localization \(quoted(text.locale))\(what) has no display name; shown empty")
            }
            texts.append(text)
        }
        if texts.isEmpty, owner == nil {
            self.findings.warn(
                .emptyLocalization, at: fields.place, "no localization; name and description are shown empty")
        }
        return texts
    }

    /// A price of the key, which may be missing or, in files of Xcode 12 and in later ones grown from them, empty: the
    /// product is then free, and reported.
    mutating func price(_ fields: inout Fields, _ key: String, otherwise fallback: Money? = nil)
        throws(CatalogueError) -> Money
    {
        let value = fields.take(key)
        let text: String
        switch value?.content {
        case .string(let string): text = string
        case .number(let digits):
            // Its digits are as exact as a string's.
            text = digits
            self.findings.warn(
                .unusableValue, at: value?.place ?? fields.place,
                "\(quoted(key)) should be a string, not a number; read as written")
        case nil: text = ""
        default:
            throw self.findings.error(
                .badPrice, at: value?.place ?? fields.place,
                "\(quoted(key)) should be a string with a price, not \(value?.kind ?? "nothing")")
        }
        guard !text.isEmpty else {
            if let fallback { return fallback }
            self.findings.warn(.noPrice, at: value?.place ?? fields.place, "\(quoted(key)) is missing; sold for 0")
            return Money(milliunits: 0, currency: self.currency)
        }
        guard let milliunits = Money.milliunits(parsing: text) else {
            throw self.findings.error(
                .badPrice, at: value?.place ?? fields.place,
                "\(quoted(key)) is \(quoted(text)); write a price as digits with '.' and at most three decimals, "
                    + "as \"9.99\"")
        }
        return Money(milliunits: milliunits, currency: self.currency)
    }

    mutating func period(_ fields: inout Fields, _ key: String) throws(CatalogueError) -> Period {
        guard let value = fields.take(key) else {
            throw self.findings.error(
                .badPeriod, at: fields.place, "\(quoted(key)) is missing; write an ISO 8601 period, as \"P1M\"")
        }
        guard let text = value.string else {
            throw self.findings.error(
                .badPeriod, at: value.place, "\(quoted(key)) should be a string, as \"P1M\", not \(value.kind)")
        }
        // Only the canonical form: neither "P+1M" nor "P01M".
        guard let period = Period(iso8601: text), period.description == text else {
            throw self.findings.error(
                .badPeriod, at: value.place,
                "\(quoted(key)) is \(quoted(text)); write an ISO 8601 period of one unit, as \"P3D\", \"P1W\", \"P1M\", "
                    + "\"P1Y\"")
        }
        return period
    }
}
