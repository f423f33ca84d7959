import PerchBase
import PerchModel
import Testing

@testable import PerchScenario

/// A file of which only the faults matter.
private func faults(_ text: String) -> [String] { ScenarioParser.parse(text).faults.map(\.description) }

private let head = "product gold monthly 9.99 group club\nproduct silver monthly 4.99 group club level 2\n"

/// The steps below a head that knows gold and silver.
private func steps(_ text: String) -> [Step] {
    let parsed = ScenarioParser.parse(head + text)
    #expect(parsed.faults == [])
    return parsed.scenario.lines.compactMap { if case .step(let step) = $0.content { step } else { nil } }
}

private func checks(_ text: String) -> [PerchScenario.Expectation.Kind] {
    let parsed = ScenarioParser.parse(head + text)
    #expect(parsed.faults == [])
    return parsed.scenario.lines.flatMap { line -> [PerchScenario.Expectation.Kind] in
        guard case .expectation(let expectation) = line.content else { return [] }
        return expectation.items.flatMap { $0.checks.map(\.kind) }
    }
}

@Suite("Reading a scenario")
struct ParserTests {
    @Test(arguments: [
        "+1mo", "+1 month", "advance 1mo", "wait 1mo", "ADVANCE BY 1 Month", "after 1mo  # by the calendar",
    ])
    func `a month is a month however it is written`(_ line: String) {
        guard case .clock(.to(let expression))? = steps(line).first else {
            Issue.record("no move of the clock")
            return
        }
        #expect(expression == InstantExpression(base: .now, offset: ScenarioDuration(months: 1)))
    }

    @Test(arguments: [
        "at 2026-03-01T10:00:00Z", "2026-03-01 10:00", "on 2026-03-01T10:00Z", "advance to 2026-03-01T10:00:00Z",
        "at 2026-03-01 10:00:00",
    ])
    func `an instant is one however it is written`(_ line: String) {
        guard case .clock(.to(let expression))? = steps(line).first else {
            Issue.record("no move of the clock")
            return
        }
        let instant = CivilTime(year: 2026, month: 3, day: 1, milliseconds: 36_000_000).instant
        #expect(expression == InstantExpression(base: .absolute(instant)))
    }

    @Test(arguments: [
        ("1y2d", 12, 172_800_000), ("+1mo-1s", 1, -1_000), ("90s", 0, 90_000), ("-1d12h", 0, -129_600_000),
    ])
    func `durations add up`(_ text: String, months: Int64, milliseconds: Int64) {
        #expect(ScenarioDuration(parsing: text) == ScenarioDuration(months: months, milliseconds: milliseconds))
    }

    @Test(arguments: ["", "1", "+", "1x", "mo", "1mo1", "99999999999999999999d", "900000000y", "1y2", "+-1d"])
    func `a text that is no duration is not accepted`(_ text: String) {
        #expect(ScenarioDuration(parsing: text) == nil)
    }

    @Test func `a leading account is the line's account, with or without a colon`() {
        let parsed = ScenarioParser.parse(head + "alice: buy gold\nalice buys gold\nalice shares gold with bob\n")
        #expect(parsed.faults == [])
        #expect(parsed.scenario.accounts == ["alice", "bob"])
        guard
            case .step(.operate("alice", .share(.product("gold"), member: "bob")))? = parsed.scenario.lines.last?
                .content
        else {
            Issue.record("alice does not share")
            return
        }
    }

    @Test func `with several accounts, a line names one`() {
        let text = head + "alice: buy gold\nbob: buy gold\nbuy silver\n"
        #expect(
            faults(text) == ["5:1: whose? this file has alice, bob; write it in front, such as `alice: buy silver`"])
    }

    @Test func `a state may be followed by its product and its end`() {
        #expect(
            checks("expect status club: inGracePeriod gold until start+16d, pushes once") == [
                .field(.state, .text("inGracePeriod"), isNegated: false),
                .field(.product, .text("gold"), isNegated: false),
                .field(
                    .graceUntil,
                    .instant(
                        InstantExpression(base: .start, offset: ScenarioDuration(milliseconds: 16 * 86_400_000))),
                    isNegated: false),
                .pushes(.exactly(1)),
            ])
    }

    @Test(arguments: [
        ("unchanged", PerchScenario.Expectation.PushRule.never), ("silent", .never), ("no push", .never),
        ("pushes", .atLeast(1)),
        ("pushes twice", .exactly(2)), ("pushed 3 times", .exactly(3)), ("pushes at least 2", .atLeast(2)),
    ])
    func `pushes can be said in several ways`(_ text: String, rule: PerchScenario.Expectation.PushRule) {
        #expect(checks("expect entitlement gold: \(text)") == [.pushes(rule)])
    }

    @Test func `not entitled is no entitlement, and of an explanation one field of several`() {
        #expect(checks("expect entitlement gold: not entitled") == [PerchScenario.Expectation.Kind.none])
        #expect(
            checks("expect explanation of entitlement gold: not entitled") == [
                .field(.entitled, .flag(false), isNegated: false)
            ])
    }

    @Test(arguments: ["entitlement gold", "status club", "app transaction", "explanation of status club"])
    func `any applies to subjects that are no list`(_ subject: String) {
        #expect(checks("expect \(subject): any") == [.some])
    }

    @Test(arguments: ["buy gold as A outside the app -> new", "buy gold outside the app as A -> new"])
    func `a name may stand among the options`(_ step: String) {
        #expect(faults(head + step + "\nrefund A\nexpect history: A") == [])
        #expect(checks(step).first == .capture("A"))
    }

    @Test func `a transaction may be called like an article`() {
        #expect(faults(head + "alice: buy gold as A\nalice: share A with bob\nalice: refund the gold") == [])
    }

    @Test func `charges as set take no target`() {
        #expect(faults(head + "charges as set") == [])
    }

    @Test func `a state can be denied`() {
        #expect(checks("expect status club: not expired") == [.field(.state, .text("expired"), isNegated: true)])
        #expect(checks("expect status club: not renewing") == [.field(.autoRenew, .flag(false), isNegated: false)])
    }

    @Test func `a name is known below the line that gives it`() {
        #expect(
            checks("buy gold as T1\nexpect entitlement gold: T1") == [
                .capture("T1"), .field(.transaction, .reference(.named("T1")), isNegated: false),
            ])
        #expect(faults(head + "expect entitlement gold: T1\nbuy gold as T1").count == 1)
    }

    @Test func `a time may stand before what happens then`() {
        let parsed = ScenarioParser.parse(head + "+1mo alice: expect status club: expired")
        #expect(parsed.faults == [])
        #expect(parsed.scenario.lines.map(\.place.column) == [1, 13])
    }

    @Test(
        arguments: [
            ("grace period 28 days", [.gracePeriod(true), .gracePeriodDays(28)]),
            (
                "grace period 28 days for paid renewals only",
                [.gracePeriod(true), .gracePeriodDays(28), .gracePeriodForAllRenewals(false)]
            ),
            ("grace period off 3 days", [.gracePeriod(false), .gracePeriodDays(3)]),
            ("grace period for all renewals", [.gracePeriodForAllRenewals(true)]),
        ] as [(String, [AppSettingChange])])
    func `a grace period's length switches it on`(_ line: String, _ settings: [AppSettingChange]) {
        #expect(ScenarioParser.parse(head + line).scenario.settings == settings)
    }

    @Test func `a setting above the first step is in force from the beginning`() {
        let parsed = ScenarioParser.parse(head + "ask to buy on\nbuy gold\nask to buy off")
        #expect(parsed.scenario.settings == [.askToBuy(true)])
        #expect(parsed.scenario.stepCount == 2)
    }

    @Test(arguments: [
        ("byu gold", "3:1: \"byu\" begins no step; did you mean `buy`?"),
        ("alice byus gold", "3:7: \"byus\" is nothing that \"alice\" can do; did you mean `buys`?"),
        ("alice buy gold", "3:7: \"buy\" is nothing that \"alice\" can do; did you mean `buys`?"),
        ("alice finihses gold", "3:7: \"finihses\" is nothing that \"alice\" can do; did you mean `finishes`?"),
        ("accounts carl\ncarl byus gold", "4:6: \"byus\" is nothing that \"carl\" can do; did you mean `buys`?"),
        ("alice gold", "3:1: \"alice\" begins no step; proto/scenario/README.md lists all"),
        ("buy golf", "3:5: the catalogue has no product \"golf\"; did you mean `gold`?"),
        (
            "expect status clbu: subscribed",
            "3:15: the catalogue has no group \"clbu\"; did you mean `club`?"
        ),
        (
            "expect status club: subscribbed",
            "3:21: expected a state, a field or `unchanged`, but found \"subscribbed\"; did you mean `subscribed`?"
        ),
        (
            "expect entitlement gold: pushs",
            "3:26: expected `none`, a transaction, a field or `unchanged`, but found \"pushs\"; did you mean `pushes`?"
        ),
        ("buy \"gold", "3:5: this quote has no end on its line; close it with \""),
        ("refund", "3:7: the line ends where a product or a transaction is expected"),
        ("share gold with", "3:16: the line ends where the family member is expected"),
        ("freeze gold", "3:8: \"gold\" begins no step; proto/scenario/README.md lists all"),
        (
            "load winter",
            "3:6: no catalogue is called \"winter\"; `catalog winter`, products and `end` above this line make one"
        ),
        ("catalog winter", "3:9: the catalogue \"winter\" has no `end`"),
    ])
    func `a mistake is reported with its place and the expected form`(_ line: String, message: String) {
        #expect(faults(head + line) == [message])
    }

    @Test func `all mistakes of a file are reported in order, up to the limit`() {
        let lines = String(repeating: "byu gold\n", count: Limits.scenarioFaultsMax + 5)
        let parsed = ScenarioParser.parse(head + lines)
        #expect(parsed.faultCount == Limits.scenarioFaultsMax + 5)
        #expect(parsed.faults.count == Limits.scenarioFaultsMax)
        #expect(parsed.faults.map(\.place) == parsed.faults.map(\.place).sorted())
    }

    @Test func `line breaks of every system count lines`() {
        #expect(faults("product gold monthly 9.99\r\nbuy golf\r\n").first?.hasPrefix("2:5:") == true)
        #expect(faults("product gold monthly 9.99\rbuy golf").first?.hasPrefix("2:5:") == true)
    }
}
