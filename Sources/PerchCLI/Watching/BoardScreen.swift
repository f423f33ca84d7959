import PerchBase
import PerchModel

/// Order, filter and scroll position of the board. A value that keys change.
struct BoardScreen: Hashable, Sendable {
    enum Order: String, Hashable, Sendable, CaseIterable {
        case product, account, state, next
    }

    enum Key: Hashable, Sendable {
        case up, down, pageUp, pageDown, home, end, enter, escape, erase, interrupt
        case text(Character)
    }

    enum Reaction: Hashable, Sendable {
        case none, redraw, quit
    }

    private(set) var order: Order
    /// Rows whose product, account, group, state or badges contain it.
    private(set) var filter = ""
    /// Whether keys are letters of the filter.
    private(set) var isTyping = false
    /// The first row on the screen.
    private(set) var offset = 0

    init(order: Order = .product) { self.order = order }

    /// `page`: rows on the screen. `count`: rows that the filter shows.
    mutating func press(_ key: Key, page: Int, count: Int) -> Reaction {
        let before = self
        if key == .interrupt { return .quit }
        if self.isTyping {
            self.type(key)
        } else {
            switch key {
            case .text("q"), .text("Q"): return .quit
            case .up, .text("k"): self.offset -= 1
            case .down, .text("j"): self.offset += 1
            case .pageUp, .text("b"): self.offset -= max(1, page)
            case .pageDown, .text(" "): self.offset += max(1, page)
            case .home, .text("g"): self.offset = 0
            case .end, .text("G"): self.offset = count
            case .text("s"):
                let all = Order.allCases
                self.order = all[((all.firstIndex(of: self.order) ?? 0) + 1) % all.count]
                self.offset = 0
            case .text("/"): self.isTyping = true
            case .escape: self.filter = ""
            default: break
            }
        }
        self.offset = max(0, min(self.offset, count - 1))
        return self == before ? .none : .redraw
    }

    private mutating func type(_ key: Key) {
        switch key {
        case .text(let letter): if self.filter.count < Self.filterMax { self.filter.append(letter) }
        case .erase: self.filter = String(self.filter.dropLast())
        case .enter: self.isTyping = false
        case .escape:
            self.isTyping = false
            self.filter = ""
        default: return
        }
        self.offset = 0
    }

    private static let filterMax = 40

    /// Keeps the last screen full. `last`: the first row of the last screen.
    mutating func clamp(to last: Int) {
        self.offset = max(0, min(self.offset, last))
    }

    /// The rows that are shown, in order.
    func arranged(_ rows: [BoardRow]) -> [BoardRow] {
        let wanted = self.filter.lowercased()
        let shown = wanted.isEmpty ? rows : rows.filter { Self.words(of: $0).contains(wanted) }
        return shown.sorted { left, right in
            switch self.order {
            case .product where left.productID != right.productID: left.productID < right.productID
            case .state where left.state != right.state: left.state < right.state
            case .next where left.next.at != right.next.at:
                (left.next.at ?? .distantFuture) < (right.next.at ?? .distantFuture)
            default: left.key < right.key
            }
        }
    }

    private static func words(of row: BoardRow) -> String {
        ([row.productID, row.key.account, row.key.group, row.state] + row.badges.map(\.rawValue))
            .joined(separator: " ").lowercased()
    }
}

extension BoardScreen.Key {
    /// Keys from the bytes of a terminal. Unknown sequences are skipped; a lone escape is the key.
    static func keys(in bytes: [UInt8]) -> [BoardScreen.Key] {
        var keys: [BoardScreen.Key] = []
        var rest = bytes[...]
        while let first = rest.first {
            if first == 0x1B {
                keys += Self.sequence(&rest).map { [$0] } ?? []
                continue
            }
            let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
            let text = String(validating: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
            switch first {
            case 3: keys.append(.interrupt)
            case 8, 127: keys.append(.erase)
            case 10, 13: keys.append(.enter)
            case 0..<32: break
            default: keys += (text?.first).map { [.text($0)] } ?? []
            }
        }
        return keys
    }

    private static func sequence(_ rest: inout ArraySlice<UInt8>) -> BoardScreen.Key? {
        rest = rest.dropFirst()
        guard let opening = rest.first, opening == UInt8(ascii: "[") || opening == UInt8(ascii: "O") else {
            return .escape
        }
        rest = rest.dropFirst()
        let parameters = rest.prefix { (0x20...0x3F).contains($0) }
        rest = rest.dropFirst(parameters.count)
        guard let final = rest.popFirst() else { return nil }
        switch (final, String(decoding: parameters, as: UTF8.self)) {
        case (UInt8(ascii: "A"), _): return .up
        case (UInt8(ascii: "B"), _): return .down
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return .end
        case (UInt8(ascii: "~"), "5"): return .pageUp
        case (UInt8(ascii: "~"), "6"): return .pageDown
        default: return nil
        }
    }
}
