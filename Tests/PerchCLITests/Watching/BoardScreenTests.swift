import PerchBase
import PerchModel
import Testing

@testable import PerchCLI

private func row(_ product: String, _ account: String, _ number: UInt64, next: Int64) -> BoardRow {
    BoardRow(
        key: BoardRow.Key(account: account, kind: .subscription, group: "club", number: number), productID: product,
        state: "subscribed", renewalState: .subscribed,
        next: BoardRow.Next(at: Instant(milliseconds: next), kind: .renewal, text: "renews"))
}

private let rows = [
    row("gold", "bob", 1, next: 1), row("silver", "alice", 2, next: 3), row("gold", "alice", 3, next: 2),
]

@Suite struct `the screen of the board` {
    private func pressed(_ keys: [BoardScreen.Key], page: Int = 2, count: Int = 10) -> BoardScreen {
        var screen = BoardScreen()
        for key in keys { _ = screen.press(key, page: page, count: count) }
        return screen
    }

    @Test func `the screen of the board quits with q, unless q is a letter of the filter`() {
        var screen = BoardScreen()
        #expect(screen.press(.text("q"), page: 1, count: 1) == .quit)
        #expect(screen.press(.interrupt, page: 1, count: 1) == .quit)
        #expect(screen.press(.text("/"), page: 1, count: 1) == .redraw)
        #expect(screen.press(.text("q"), page: 1, count: 1) == .redraw)
        #expect(screen.filter == "q")
        #expect(screen.press(.interrupt, page: 1, count: 1) == .quit)
    }

    @Test func `the screen of the board scrolls by rows and pages, and not past the ends`() {
        #expect(self.pressed([.down, .text("j")]).offset == 2)
        #expect(self.pressed([.up]).offset == 0)
        #expect(self.pressed([.pageDown, .text(" ")]).offset == 4)
        #expect(self.pressed([.pageDown, .pageDown, .pageUp, .up]).offset == 1)
        #expect(self.pressed([.end]).offset == 9)
        #expect(self.pressed([.end, .home]).offset == 0)
        #expect(self.pressed([.down], count: 0).offset == 0)
        var screen = self.pressed([.end])
        screen.clamp(to: 8)
        #expect(screen.offset == 8, "the last screen is full")
    }

    @Test func `the screen of the board sorts by each column in turn`() {
        func order(_ count: Int) -> [String] {
            self.pressed(Array(repeating: .text("s"), count: count)).arranged(rows).map {
                "\($0.productID) \($0.key.account)"
            }
        }
        #expect(order(0) == ["gold alice", "gold bob", "silver alice"])
        #expect(order(1) == ["silver alice", "gold alice", "gold bob"])
        #expect(order(3) == ["gold bob", "gold alice", "silver alice"])
        #expect(order(4) == order(0))
    }

    @Test func `the screen of the board filters by a text in any case, until it is dropped`() {
        var screen = self.pressed([.text("/")] + "BOB".map { .text($0) } + [.enter])
        #expect(!screen.isTyping)
        #expect(screen.arranged(rows).map(\.key.account) == ["bob"])
        #expect(screen.press(.escape, page: 1, count: 1) == .redraw)
        #expect(screen.arranged(rows).count == 3)
        #expect(self.pressed([.text("/"), .text("x"), .erase, .erase]).filter.isEmpty)
        #expect(self.pressed([.text("/"), .text("x"), .escape]).filter.isEmpty)
        let long = self.pressed([.text("/")] + Array(repeating: .text("x"), count: 1_000))
        #expect(long.filter.count == 40)
    }

    @Test(
        arguments: [
            ("\u{1B}[A\u{1B}[B\u{1B}OA", [.up, .down, .up]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
            ("\u{1B}[H\u{1B}[4~", [.home, .end]), ("\u{1B}", [.escape]), ("q\r\u{7F}", [.text("q"), .enter, .erase]),
            ("\u{1B}[1;5C\u{1B}[99~x", [.text("x")]), ("\u{E9}\u{1F600}", [.text("\u{E9}"), .text("\u{1F600}")]),
            ("\u{3}", [.interrupt]), ("\t\u{1}", []), ("\u{1B}[", []),
        ] as [(String, [BoardScreen.Key])])
    func `reads the keys of a terminal`(_ text: String, _ keys: [BoardScreen.Key]) {
        #expect(BoardScreen.Key.keys(in: Array(text.utf8)) == keys)
    }

    @Test func `reads any bytes without a trap`() {
        var state: UInt64 = 1
        for _ in 0..<2_000 {
            let bytes = (0..<8).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return [0x1B, 0x5B, 0xC3, 0xE2, 0x41, 0x7E, 0x35, 0xFF][Int(state >> 61)]
            }
            _ = BoardScreen.Key.keys(in: bytes)
        }
    }
}
