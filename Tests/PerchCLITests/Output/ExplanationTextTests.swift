import PerchBase
import PerchModel
import Testing

@testable import PerchCLI
@testable import PerchClient

private let noon = CivilTime(year: 2026, month: 11, day: 21, milliseconds: 43_200_000).instant
private let writer = TextWriter(isColoured: false)

private func lines(_ value: Explanations, account: String = "alice", supposing event: String = "") -> [String] {
    writer.explanations(
        Positioned(value, position: Position(revision: 8, asOf: noon)), account: account, supposing: event)
}

@Suite struct `an explanation for people` {
    private let lasts = Explanation(
        rule: "PERIOD_LASTS", message: "The period of transaction 1 lasts until 2026-11-21T12:00:30Z.",
        originalTransactionID: 1, state: .subscribed, isEntitled: true,
        facts: [ExplainedFact(transactionID: 1, field: "expiration_date_ms", value: "2026-11-21T12:00:30Z")],
        nextChange: nil, nextMessage: "At 2026-11-21T12:00:30Z it renews.")

    @Test func `names the account, says each sentence once, and has distances`() {
        let value = Explanations(
            message: "Transaction 1 entitles the account in group plus. " + self.lasts.message, isEntitled: true,
            explanations: [self.lasts])
        #expect(
            lines(value) == [
                "Transaction 1 entitles alice in group plus.", "as of 2026-11-21T12:00:00Z on the app's clock", "",
                "subscription of transaction 1  subscribed  entitles  PERIOD_LASTS",
                "  The period of transaction 1 lasts until 2026-11-21T12:00:30Z (in 30s).",
                "  transaction 1 expiration_date_ms = 2026-11-21T12:00:30Z (in 30s)",
                "  At 2026-11-21T12:00:30Z (in 30s) it renews.",
            ])
    }

    @Test(arguments: [40, 60, 80]) func `an explanation for people breaks lines between words`(_ width: Int) {
        let value = Explanations(message: self.lasts.message, isEntitled: true, explanations: [self.lasts, self.lasts])
        let found = Positioned(value, position: Position(revision: 8, asOf: noon))
        let broken = writer.explanations(found, account: "alice", width: width)
        #expect(broken.contains { $0.hasPrefix("  ") && $0.count <= width })
        for line in broken where line.count > width { #expect(!line.hasPrefix("  "), "\(line)") }
        func words(_ lines: [String]) -> [Substring] { lines.joined(separator: " ").split(separator: " ") }
        #expect(words(broken) == words(lines(value)))
    }

    @Test func `an explanation for people does not repeat an answer that is the only sentence`() {
        let sentence = "The account never subscribed in group plus."
        let never = Explanation(
            rule: "NEVER_SUBSCRIBED", message: sentence, originalTransactionID: nil, state: .unspecified,
            isEntitled: false, facts: [], nextChange: nil, nextMessage: "Nothing changes by itself.")
        let shown = lines(Explanations(message: sentence, isEntitled: false, explanations: [never]))
        #expect(
            shown == [
                "alice never subscribed in group plus.", "as of 2026-11-21T12:00:00Z on the app's clock", "",
                "NEVER_SUBSCRIBED", "  Nothing changes by itself.",
            ])
    }

    @Test func `an explanation for people keeps an answer whole that does not end with the first explanation`() {
        let value = Explanations(
            message: "Nothing entitles the account in group plus. None of its 2 lines does.", isEntitled: false,
            explanations: [self.lasts, self.lasts])
        #expect(lines(value)[0] == "Nothing entitles alice in group plus. None of its 2 lines does.")
        #expect(lines(value).filter { $0.contains("The period of") }.count == 2)
    }

    @Test(arguments: [
        ("since 2026-11-19T12:00:00Z and", "since 2026-11-19T12:00:00Z (2d ago) and"),
        ("2026-11-21T12:00:00.500Z", "2026-11-21T12:00:00.500Z (now)"),
        ("2026-11-21T12:00:00Z2026-11-21T13:00:00Z", "2026-11-21T12:00:00Z (now)2026-11-21T13:00:00Z (in 1h)"),
        ("2026-13-41T12:00:00Z, 2026-11-21", "2026-13-41T12:00:00Z, 2026-11-21"), ("", ""),
    ])
    func `an explanation for people has the distance behind each instant`(_ text: String, _ shown: String) {
        #expect(TextWriter.withDistances(text, from: noon) == shown)
    }

    @Test func `an explanation for people begins with the sentences for the customer, and what would be`() {
        let renews = ExpectedChange(at: noon, message: "Plus renews", kind: .renewal, originalTransactionID: 1)
        var value = Explanations(
            message: "The account owns it.", isEntitled: true, explanations: [], summary: "alice has Plus.",
            changes: [renews])
        value.grants = [
            ExplainedGrant(
                name: "beta", grantedBy: "ada", reason: "", since: noon, until: nil, tier: "",
                message: "granted on 3 March by ada")
        ]
        value.supposed = SupposedOutcome(summary: "Plus was refunded.", isEntitled: false, changes: [])
        #expect(
            lines(value, supposing: "refund") == [
                "alice has Plus.", "  2026-11-21T12:00:00Z  Plus renews", "", "refund: Plus was refunded.",
                "  beta: granted on 3 March by ada", "", "alice owns it.",
                "as of 2026-11-21T12:00:00Z on the app's clock",
            ])
        (value.supposed, value.grants, value.changes) = (nil, [], [])
        value.history = [HistoryEntry(at: noon, message: "Bought Plus\u{1B} (by ada)", kind: .purchase)]
        value.historyIsCut = true
        #expect(
            lines(value) == [
                "alice has Plus.", "", "  2026-11-21T12:00:00Z  Bought Plus\\u{1b} (by ada)",
                "  older entries are left out", "", "alice owns it.", "as of 2026-11-21T12:00:00Z on the app's clock",
            ])
    }

    @Test(arguments: [
        ("charge fails", Supposition(event: .chargeFails)), ("refund", Supposition(event: .refund)),
        ("cancel", Supposition(event: .cancelled)), ("price agreed", Supposition(event: .priceAgreed)),
        ("price agreed 5.99", Supposition(event: .priceAgreed, priceMilliunits: 5_990)),
        ("price refused", Supposition(event: .priceNotAgreed)),
        ("change to app.plus.yearly", Supposition(event: .planChange, productID: "app.plus.yearly")),
        ("change to", nil), ("price agreed much", nil), ("price agreed 0", nil), ("", nil), ("charges fail", nil),
    ])
    func `a supposed event is read from its words`(_ text: String, _ expected: Supposition?) {
        #expect(Supposition(parsing: text) == expected)
    }

    @Test func `an explanation for people cannot steer a terminal by its account`() {
        let value = Explanations(message: "The account owns it.", isEntitled: true, explanations: [])
        #expect(!lines(value, account: "a\u{1B}[2J").joined().contains("\u{1B}"))
    }
}

@Suite struct `a note for people` {
    @Test func `keeps its lines, and steers no terminal`() {
        let note = CustomerNote(id: 7, at: noon, author: "ann", text: "She called.\r\nAgain.\n\u{1B}[2J")
        #expect(
            CommandRun.lines(of: note) == [
                "7  2026-11-21T12:00:00Z  ann: She called.", "    Again.", "    \\u{1b}[2J",
            ])
    }
}

@Suite struct `a distance` {
    @Test(
        arguments: [
            (0, "now"), (999, "now"), (-999, "now"), (1_000, "in 1s"), (-1_500, "1s ago"), (90_061_000, "in 1d1h"),
            (-172_800_000, "2d ago"),
        ] as [(Int64, String)])
    func `a distance has two units at most`(_ milliseconds: Int64, _ words: String) {
        #expect(relative(noon.advanced(byMilliseconds: milliseconds), to: noon) == words)
    }
}
