import Glibc
import PerchBase
import PerchModel
import Testing

/// A situation to explain. It starts at an instant, with transactions from an ID on.
struct ExplainedSituation: Sendable, CustomTestStringConvertible {
    var name: String
    var live: @Sendable (Instant, TransactionID) throws -> Explanations

    var testDescription: String { self.name }

    init(
        _ name: String, status: String? = nil, entitlement: String? = nil, settings: AppSettings = AppSettings(),
        catalogue: Catalogue = Shop.catalogue(), _ live: @escaping @Sendable (inout TestAccount) throws -> Void
    ) {
        self.name = name
        self.live = { begin, first in
            var account = TestAccount(at: begin, catalogue: catalogue, settings: settings)
            account.numbers = TransactionNumbers(next: first)
            try live(&account)
            let rows = account.rows.sorted { ($0.purchaseDate, $0.id) > ($1.purchaseDate, $1.id) }
            if let entitlement {
                return explainEntitlement(
                    of: account.record, toProduct: entitlement, rows: rows.filter { $0.productID == entitlement },
                    app: account.app, at: account.now)
            }
            let group = status ?? "G"
            return explainStatus(
                of: account.record, inGroup: group, rows: rows.filter { $0.subscriptionGroupID == group },
                app: account.app, at: account.now)
        }
    }

    /// As `perch explain` prints it.
    static func text(_ explanations: Explanations) -> String {
        var lines = [explanations.message]
        for explanation in explanations.explanations {
            let entitles = explanation.isEntitled ? ", entitles" : ""
            lines.append("- \(explanation.rule)\(entitles): \(explanation.message)")
            for fact in explanation.facts { lines.append("  - \(fact.transactionID) \(fact.field) = \(fact.value)") }
            lines.append("  - \(explanation.nextMessage)")
        }
        return lines.joined(separator: "\n")
    }

    static let all: [ExplainedSituation] = [
        ExplainedSituation("never subscribed") { _ in },
        ExplainedSituation("subscribed") { try $0.buy("silver") },
        ExplainedSituation("renewal off") { account in
            try account.buy("silver")
            try account.setAutoRenew(false)
        },
        ExplainedSituation("downgrade pending") { account in
            try account.buy("gold")
            try account.buy("bronze")
        },
        ExplainedSituation("upgraded") { account in
            try account.buy("silver")
            account.advance(days: 3)
            try account.buy("gold")
        },
        ExplainedSituation("upgraded from", entitlement: "silver") { account in
            try account.buy("silver")
            account.advance(days: 3)
            try account.buy("gold")
        },
        ExplainedSituation("in grace", settings: Shop.settings(billingIssues: true, grace: true)) { account in
            try account.buy("silver")
            try account.advanceToBoundary()
        },
        ExplainedSituation("in retry", settings: Shop.settings(billingIssues: true)) { account in
            try account.buy("silver")
            try account.advanceToBoundary()
        },
        ExplainedSituation("grace over", settings: Shop.settings(billingIssues: true, grace: true)) { account in
            try account.buy("silver")
            account.advance(days: 50)
        },
        ExplainedSituation("retry in vain", settings: Shop.settings(billingIssues: true)) { account in
            try account.buy("silver")
            account.advance(days: 100)
        },
        ExplainedSituation("expired", entitlement: "silver") { account in
            try account.buy("silver")
            try account.setAutoRenew(false)
            account.advance(days: 40)
        },
        ExplainedSituation("refunded") { account in
            let bought = try account.buy("silver")
            account.advance(days: 2)
            try account.refund(bought.transaction.id)
        },
        ExplainedSituation("older period refunded") { account in
            let bought = try account.buy("silver")
            account.advance(days: 40)
            try account.refund(bought.transaction.id)
        },
        ExplainedSituation("price increase asked") { account in
            let bought = try account.buy("silver")
            _ = try account.operate(
                .raisePrice(.transaction(bought.transaction.id), milliunits: 19_990, needsConsent: true))
        },
        ExplainedSituation("price increase not agreed") { account in
            let bought = try account.buy("silver")
            _ = try account.operate(
                .raisePrice(.transaction(bought.transaction.id), milliunits: 19_990, needsConsent: true))
            account.advance(days: 40)
        },
        ExplainedSituation("price increase declined") { account in
            let bought = try account.buy("silver")
            let target = OperationTarget.transaction(bought.transaction.id)
            _ = try account.operate(.raisePrice(target, milliunits: 19_990, needsConsent: true))
            _ = try account.operate(.answerPriceIncrease(target, agrees: false))
        },
        ExplainedSituation("price increase of a plan that is left") { account in
            let bought = try account.buy("silver")
            _ = try account.operate(
                .raisePrice(.transaction(bought.transaction.id), milliunits: 19_990, needsConsent: true))
            try account.buy("bronze")
        },
        ExplainedSituation("withdrawn while it lasts") { account in
            try account.buy("silver")
            try account.withdraw("silver")
        },
        ExplainedSituation("downgrade to what was withdrawn") { account in
            try account.buy("gold")
            try account.buy("bronze")
            try account.withdraw("bronze")
        },
        ExplainedSituation("charge told to fail") { account in
            try account.buy("silver")
            _ = try account.operate(.setCharges(fail: true))
        },
        ExplainedSituation("charge told to fail, with grace", settings: Shop.settings(grace: true)) { account in
            try account.buy("silver")
            _ = try account.operate(.setCharges(fail: true))
        },
        ExplainedSituation("committed", catalogue: Shop.billedMonthly()) { account in
            try account.buyMonthly()
            account.advance(days: 40)
        },
        ExplainedSituation("committed and cancelled", catalogue: Shop.billedMonthly()) { account in
            try account.buyMonthly()
            try account.setAutoRenew(false)
        },
        ExplainedSituation("committed, with another plan behind it", catalogue: Shop.billedMonthly()) { account in
            try account.buyMonthly()
            try account.buy("bronze")
        },
        ExplainedSituation(
            "committed and not charged", settings: Shop.settings(billingIssues: true), catalogue: Shop.billedMonthly()
        ) { account in
            try account.buyMonthly()
            try account.setAutoRenew(false)
            try account.advanceToBoundary()
        },
        ExplainedSituation("the last charge of a commitment", catalogue: Shop.billedMonthly()) { account in
            try account.buyMonthly()
            try account.setAutoRenew(false)
            account.advance(days: 350)
        },
        ExplainedSituation("own and shared") { account in
            try account.buy("silver")
            var purchaser = TestAccount(at: account.now)
            purchaser.numbers = TransactionNumbers(next: account.numbers.next)
            try purchaser.buy("gold")
            var line = try purchaser.line()
            line.latest.ownership = .familyShared
            account.commit([Fact(.sharedLineSet(line, isNew: true), effective: account.now)])
        },
        ExplainedSituation("bought for good", entitlement: "lifetime") { try $0.buy("lifetime") },
        ExplainedSituation("bought for good and refunded", entitlement: "lifetime") { account in
            let bought = try account.buy("lifetime")
            try account.refund(bought.transaction.id)
        },
        ExplainedSituation("without end", entitlement: "season") { account in
            try account.buy("season")
            account.advance(days: 400)
        },
        ExplainedSituation("a consumable", entitlement: "coins") { try $0.buy("coins") },
        ExplainedSituation(
            "granted what the group gives",
            catalogue: Shop.catalogue().replacing(entitlements: [
                EntitlementRule(name: "plus", groupID: "G"), EntitlementRule(name: "other", groupID: "H"),
            ])
        ) { account in
            try account.buy("silver")
            try account.setAutoRenew(false)
            account.advance(days: 40)
            for name in ["plus", "other"] {
                let grant = EntitlementGrant(name: name, until: nil, reason: "outage", since: account.now)
                account.record.apply(Fact(.reported(.granted(grant)), effective: account.now))
            }
        },
        ExplainedSituation("win-back eligible", catalogue: OfferShop.catalogue()) { account in
            try account.buy("silver")
            try account.setAutoRenew(false)
            account.advance(days: 75)
        },
    ]
}

@Suite struct `an explanation` {
    private static let file: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast().joined(separator: "/") + "/Explanations.md"
    }()

    private static let begin = at("2026-01-10")

    private static func section(_ situation: ExplainedSituation) throws -> String {
        "## \(situation.name)\n\n" + ExplainedSituation.text(try situation.live(Self.begin, 1)) + "\n"
    }

    /// `PERCH_TEST_WRITE_GOLDEN=1 swift test --filter ExplanationTests` writes them again: read the difference.
    @Test func `the explanation of each situation equals its golden file`() throws {
        let texts = try ExplainedSituation.all.map(Self.section)
        let text = "# What is explained, and how\n\n" + texts.joined(separator: "\n")
        if getenv("PERCH_TEST_WRITE_GOLDEN") != nil {
            let file = try #require(fopen(Self.file, "w"))
            defer { fclose(file) }
            fputs(text, file)
        }
        let file = try #require(fopen(Self.file, "r"))
        defer { fclose(file) }
        var agreed: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { agreed += buffer.prefix(count) }
        #expect(String(decoding: agreed, as: UTF8.self) == text)
    }

    /// An explanation names the deciding data: other instants and other IDs give another text.
    @Test(arguments: ExplainedSituation.all.filter { !["never subscribed", "a consumable"].contains($0.name) })
    func `changes when its facts do`(_ situation: ExplainedSituation) throws {
        let text = ExplainedSituation.text(try situation.live(Self.begin, 1))
        let later = ExplainedSituation.text(
            try situation.live(Self.begin.advanced(byMilliseconds: day), 1))
        let renumbered = ExplainedSituation.text(try situation.live(Self.begin, 41))
        #expect(text != later)
        #expect(text != renumbered)
    }

    @Test func `of everything, a grant is one of the reasons`() {
        var alice = TestAccount()
        let grant = EntitlementGrant(
            name: "plus", until: at("2026-02-01"), reason: "outage", since: at("2026-01-09"), tier: "")
        alice.record.apply(Fact(.reported(.granted(grant)), effective: alice.now))
        func explained() -> Explanations {
            explainEverything(of: alice.record, rows: [], app: alice.app, at: alice.now)
        }
        #expect(explained().isEntitled && explained().explanations.map(\.rule) == ["GRANTED"])
        #expect(
            explained().explanations.first?.message
                == "An administrator granted plus at 2026-01-09T00:00:00Z, until 2026-02-01T00:00:00Z.")
        alice.advance(to: at("2026-02-01"))
        #expect(!explained().isEntitled && explained().explanations.isEmpty)
    }

    /// The answer in one sentence says the same as the view that it explains.
    @Test(arguments: ExplainedSituation.all)
    func `an explanation entitles where one of its parts does`(_ situation: ExplainedSituation) throws {
        let value = try situation.live(Self.begin, 1)
        #expect(value.isEntitled == value.explanations.contains(where: \.isEntitled))
        #expect(value.explanations.first?.isEntitled == value.isEntitled)
        let rules = Set(ExplanationRule.allCases.map(\.rawValue))
        #expect(value.explanations.allSatisfy { rules.contains($0.rule) })
    }
}
