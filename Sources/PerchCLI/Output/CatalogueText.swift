import PerchBase
import PerchClient
import PerchModel

extension TextWriter {
    /// Products of a catalogue under their groups, highest level first, then those of no group.
    func catalogue(_ products: [Product], groups: [String]) -> [String] {
        let width = products.map { printable($0.id).count }.max() ?? 0
        let prices = Dictionary(uniqueKeysWithValues: products.map { ($0.id, Self.price(of: $0)) })
        let priceWidth = prices.values.map(\.count).max() ?? 0
        func row(_ product: Product, _ place: String, _ placeWidth: Int) -> String {
            var cells = [
                "  " + place.padded(to: placeWidth), printable(product.id).padded(to: width),
                (prices[product.id] ?? "").padded(to: priceWidth), printable(product.displayName),
            ]
            cells += product.subscription?.introductoryOffers.map { "first \(self.terms($0))" } ?? []
            return cells.joined(separator: "  ").trimmed
        }
        var lines: [String] = []
        var rest = products
        for group in groups {
            let members = rest.filter { $0.subscription?.groupID == group }
                .sorted { ($0.subscription?.groupLevel ?? 0, $0.id) < ($1.subscription?.groupLevel ?? 0, $1.id) }
            rest.removeAll { $0.subscription?.groupID == group }
            lines.append("subscription group \(printable(group))")
            let places = members.map { "level \($0.subscription?.groupLevel ?? 0)" }
            let placeWidth = places.map(\.count).max() ?? 0
            lines += zip(members, places).map { row($0, $1, placeWidth) }
        }
        guard !rest.isEmpty else { return lines }
        let types = rest.map { Self.words($0.type) }
        let typeWidth = types.map(\.count).max() ?? 0
        return lines + ["other products"] + zip(rest, types).map { row($0, $1, typeWidth) }
    }

    /// `USD 4.99 for 1 month`.
    private static func price(of product: Product) -> String {
        let period = product.subscription.map { " for \(Self.words($0.period))" } ?? ""
        return printable(product.displayPrice) + period
    }

    /// A pending purchase, and the commands that end it.
    func pending(_ value: PendingPurchase, now: Instant) -> String {
        "purchase \(value.id)  \(printable(value.order.productID))  waits since \(value.since) "
            + "(\(relative(value.since, to: now))): \(Self.words(value.reason)); approve or decline \(value.id)"
    }
}
