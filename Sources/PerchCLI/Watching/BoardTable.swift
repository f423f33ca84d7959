import PerchBase
import PerchModel

/// The rows of the board laid out for a width. Product and account give way to a narrow terminal; badges and the next
/// change are never cut: they move to separate lines.
struct BoardTable {
    private enum Layout {
        /// All in one line.
        case wide(hasGroup: Bool)
        /// The next change below.
        case stacked
        /// Badges and the next change below.
        case narrow
    }

    /// Width of each column, of which the last has none.
    private struct Widths {
        var product: Int
        var account: Int
        var group: Int
        var state: Int
        var badges: Int
    }

    private static let gap = 2
    private static let productMin = 12
    private static let accountMin = 7
    static let clock = "ON THE APP'S CLOCK"

    let head: [String]
    /// The lines of each row.
    let items: [[String]]

    init(_ rows: [BoardRow], now: Instant, width: Int, paint: Paint) {
        let nexts = rows.map { Self.next($0.next, now: now) }
        func widest(_ head: String, _ texts: [String]) -> Int { texts.map(\.count).reduce(head.count, max) }
        var widths = Widths(
            product: widest("PRODUCT", rows.map { printable($0.productID) }),
            account: widest("ACCOUNT", rows.map { printable($0.key.account) }),
            group: widest("GROUP", rows.map { printable($0.key.group) }), state: widest("STATE", rows.map(\.state)),
            badges: widest("BADGES", rows.map { Self.badges($0) }))
        let layout = Self.layout(&widths, next: nexts.map(\.count).max() ?? 0, width: width)
        let next = "NEXT \(Self.clock)"
        let head = Self.line(("PRODUCT", "ACCOUNT", "GROUP", "STATE"), "BADGES", next: next, widths, layout, width)
        switch layout {
        case .wide: self.head = ["", head]
        case .stacked: self.head = [head, "    " + next]
        case .narrow: self.head = [head, "    BADGES, " + next]
        }
        self.items = zip(rows, nexts).map { row, next in
            let texts = (
                printable(row.productID), printable(row.key.account), printable(row.key.group), row.state
            )
            let first = Self.line(
                texts, Self.badges(row), next: next, widths, layout, width, paint: Self.painter(row, paint))
            let badges = row.badges.map { paint($0.colour, $0.rawValue) }.joined(separator: " ")
            switch layout {
            case .wide: return [first]
            case .stacked: return [first] + Self.wrapped(next, width)
            case .narrow:
                return [first] + (row.badges.isEmpty ? [] : Self.wrapped(badges, plain: Self.badges(row), width))
                    + Self.wrapped(next, width)
            }
        }
    }

    /// Narrows product and account as far as the layout needs.
    private static func layout(_ widths: inout Widths, next: Int, width: Int) -> Layout {
        let state = widths.state + Self.gap
        let badges = widths.badges + Self.gap
        let tail = state + badges + next
        if widths.product + widths.account + widths.group + 3 * Self.gap + tail <= width {
            return .wide(hasGroup: true)
        }
        if Self.squeeze(&widths, into: width - tail) { return .wide(hasGroup: false) }
        if Self.squeeze(&widths, into: width - state - widths.badges) { return .stacked }
        if !Self.squeeze(&widths, into: width - widths.state) {
            widths.product = max(1, min(widths.product, width / 2 - Self.gap))
            widths.account = max(1, min(widths.account, width / 2 - Self.gap))
        }
        return .narrow
    }

    /// Makes product and account fit, with their gaps. False where they would become too short.
    private static func squeeze(_ widths: inout Widths, into space: Int) -> Bool {
        let room = space - 2 * Self.gap
        let least = min(widths.product, Self.productMin) + min(widths.account, Self.accountMin)
        guard room >= least else { return false }
        let excess = widths.product + widths.account - room
        guard excess > 0 else { return true }
        let fromAccount = min(excess, max(0, widths.account - max(Self.accountMin, room / 3)))
        widths.account -= fromAccount
        widths.product -= excess - fromAccount
        return true
    }

    private static func line(
        _ texts: (product: String, account: String, group: String, state: String), _ badges: String, next: String,
        _ widths: Widths, _ layout: Layout, _ width: Int,
        paint: (_ state: String, _ badges: String) -> (String, String) = { ($0, $1) }
    ) -> String {
        var line = Self.fitted(texts.product, widths.product) + "  " + Self.fitted(texts.account, widths.account)
        if case .wide(hasGroup: true) = layout { line += "  " + Self.fitted(texts.group, widths.group) }
        let painted = paint(texts.state, badges)
        let statePad = String(repeating: " ", count: max(0, widths.state - texts.state.count))
        let badgesPad = String(repeating: " ", count: max(0, widths.badges - badges.count))
        switch layout {
        case .wide: return line + "  " + painted.0 + statePad + "  " + painted.1 + badgesPad + "  " + next
        case .stacked: return line + "  " + painted.0 + statePad + (badges.isEmpty ? "" : "  " + painted.1)
        case .narrow:
            let room = width - widths.product - widths.account - 2 * Self.gap
            return room > 0
                ? line + "  " + paint(String(texts.state.prefix(room)), badges).0 : String(line.prefix(width))
        }
    }

    private static func painter(_ row: BoardRow, _ paint: Paint) -> (String, String) -> (String, String) {
        { state, _ in
            let colour: Paint.Colour? = row.renewalState.map {
                $0 == .subscribed ? .green : $0.isEntitled ? .yellow : .red
            }
            return (
                colour.map { paint($0, state) } ?? state,
                row.badges.map { paint($0.colour, $0.rawValue) }.joined(separator: " ")
            )
        }
    }

    private static func badges(_ row: BoardRow) -> String { row.badges.map(\.rawValue).joined(separator: " ") }

    static func next(_ next: BoardRow.Next, now: Instant) -> String {
        if let since = next.since { return "\(next.text), \(relative(since, to: now))" }
        guard let at = next.at else { return next.text }
        return "\(next.text) \(relative(at, to: now))"
    }

    /// A text in its column, with `…` for what does not fit.
    static func fitted(_ text: String, _ width: Int) -> String {
        text.count <= width ? text.padded(to: width) : text.prefix(max(0, width - 1)) + "…"
    }

    /// Whole words on indented lines. A painted text has its plain form beside it, of the same words.
    private static func wrapped(_ text: String, plain: String? = nil, _ width: Int) -> [String] {
        let words = text.split(separator: " ")
        let lengths = (plain ?? text).split(separator: " ").map(\.count)
        var lines: [String] = []
        var line = "   "
        var length = 3
        for (word, size) in zip(words, lengths) {
            if length > 3, length + 1 + size > width {
                lines.append(line)
                (line, length) = ("   ", 3)
            }
            line += " " + word
            length += 1 + size
        }
        return lines + [line]
    }
}

/// `in 9s`, `2d ago` or `now`.
func relative(_ instant: Instant, to now: Instant) -> String {
    let left = instant.milliseconds(since: now)
    if abs(left) < 1_000 { return "now" }
    return left > 0 ? "in \(roughly(milliseconds: left))" : "\(roughly(milliseconds: left)) ago"
}
