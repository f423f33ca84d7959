import PerchBase
import Testing

@testable import PerchModel

/// A customer's page in words: what `Explain` says, for one reader.
struct Told {
    var locale = "en"
    var offset: Int32 = 0
    var called = "alice"
    var scope = SummaryScope.all

    func callAsFunction(
        _ record: AccountRecord?, rows: [Transaction], _ app: AppState, at now: Instant
    ) -> String {
        Summary(
            of: record, called: self.called, about: self.scope, rows: rows, app: app, at: now,
            for: TextReader(locale: self.locale, offsetMinutes: self.offset)
        ).text
    }

    func callAsFunction(_ account: TestAccount) -> String {
        self(account.record, rows: account.rowsNewestFirst, account.runningApp, at: account.now)
    }

    func changes(_ account: TestAccount) -> [String] {
        expectedChanges(
            of: account.record, about: self.scope, app: account.runningApp, at: account.now,
            for: TextReader(locale: self.locale, offsetMinutes: self.offset)
        ).map { "\($0.at): \($0.message)" }
    }

    func supposed(_ supposition: Supposition, _ account: TestAccount) throws -> String {
        try self.supposed(
            supposition, account.record, rows: account.rowsNewestFirst, account.runningApp, at: account.now)
    }

    func supposed(
        _ supposition: Supposition, _ record: AccountRecord?, rows: [Transaction], _ app: AppState, at now: Instant
    ) throws -> String {
        func summary(_ record: AccountRecord?) -> Summary {
            Summary(
                of: record, called: self.called, about: self.scope, rows: rows, app: app, at: now,
                for: TextReader(locale: self.locale, offsetMinutes: self.offset))
        }
        let supposed = try supposing(supposition, of: record, rows: rows, app: app, at: now)
        let price = supposedPrice(supposition, of: record, rows: rows, app: app, at: now)
        return summary(supposed).text(supposedBeside: summary(record), price: price)
    }
}

extension TestAccount {
    var rowsNewestFirst: [Transaction] { self.rows.sorted { ($0.purchaseDate, $0.id) > ($1.purchaseDate, $1.id) } }

    /// The shop's clock stands, which is told too.
    var runningApp: AppState { self.app(clock: .running(offsetMilliseconds: 0)) }

    func app(clock: AppClock, environment: AppEnvironment = .xcode) -> AppState {
        AppState(
            number: 1, bundleID: "com.example.shop", environment: environment, revision: 1,
            effective: Instant(milliseconds: 0), committed: Instant(milliseconds: 0), catalogue: self.catalogue,
            catalogueRevision: 1, catalogueSource: "test", settings: self.settings, clock: clock)
    }
}

private let english = Told()
private let german = Told(locale: "de")

@Suite struct `What a customer is told of a test app` {
    @Test func `a subscription that renews`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        #expect(english(alice) == "alice has silver until 10 February, then it renews for $9.99.")
        #expect(german(alice) == "alice hat silver bis 10. Februar, danach verlängert es sich für 9,99\u{A0}$.")
        #expect(
            english.changes(alice) == [
                "2026-02-10T00:00:00Z: silver renews for $9.99", "2026-03-10T00:00:00Z: silver renews for $9.99",
                "2026-04-10T00:00:00Z: silver renews for $9.99",
            ])
    }

    @Test func `a subscription that was cancelled, and that has ended`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        try alice.setAutoRenew(false)
        #expect(english(alice) == "alice has silver until 10 February. It does not renew.")
        #expect(german(alice) == "alice hat silver bis 10. Februar. Es verlängert sich nicht.")
        #expect(english.changes(alice) == ["2026-02-10T00:00:00Z: silver ends"])
        alice.advance(to: at("2026-02-20"))
        #expect(english(alice) == "alice had silver until 10 February: renewal was switched off.")
        #expect(german(alice) == "alice hatte silver bis 10. Februar: die Verlängerung war ausgeschaltet.")
    }

    @Test func `a charge that fails`() throws {
        var alice = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try alice.buy("silver")
        #expect(english(alice) == "alice has silver until 10 February. The next charge is set to fail.")
        #expect(
            english.changes(alice) == [
                "2026-02-10T00:00:00Z: The charge for silver will fail, and access goes on for a while",
                "2026-02-26T00:00:00Z: Access to silver ends, unless a charge succeeds",
                "2026-04-11T00:00:00Z: The store stops trying to charge for silver",
            ])
        alice.advance(to: at("2026-02-15"))
        #expect(
            english(alice)
                == "The card was declined on 10 February. alice keeps silver until 26 February, and then loses it unless a charge succeeds."
        )
        #expect(
            german(alice)
                == "Die Zahlung wurde am 10. Februar abgelehnt. alice behält silver bis 26. Februar und verliert es dann, wenn keine Abbuchung gelingt."
        )
        alice.advance(to: at("2026-03-15"))
        #expect(
            english(alice)
                == "The card was declined on 10 February, and alice has no access to silver until a charge succeeds. The store goes on trying."
        )
        alice = TestAccount(settings: Shop.settings(billingIssues: true))
        try alice.buy("lifetime")
        try alice.buy("silver")
        alice.advance(to: at("2026-03-15"))
        #expect(
            english(alice)
                == "alice owns lifetime. The card was declined on 10 February, and no charge for silver has succeeded since. The store goes on trying."
        )
        alice.advance(to: at("2026-06-01"))
        #expect(english(alice) == "alice owns lifetime.")
        var bob = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try bob.buy("silver")
        bob.advance(to: at("2026-06-01"))
        // Access went on through the grace period.
        #expect(
            Told(called: "bob")(bob)
                == "bob had silver until 26 February: the card was declined and no later charge succeeded.")
        #expect(
            Told(scope: .group("G"))(alice)
                == "alice had silver until 10 February: the card was declined and no later charge succeeded.")
    }

    @Test func `a refund`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        alice.advance(days: 5)
        try alice.refund(1)
        alice.advance(days: 5)
        #expect(english(alice) == "silver was refunded on 15 January, and alice has no access to it.")
        #expect(german(alice) == "silver wurde am 15. Januar erstattet, und alice hat keinen Zugang mehr dazu.")
        try alice.buy("lifetime")
        try alice.refund(2)
        alice.advance(days: 5)
        #expect(
            Told(scope: .product("lifetime"))(alice)
                == "lifetime was refunded on 20 January, and alice has no access to it.")
    }

    @Test func `purchases that last, several lines, and nothing at all`() throws {
        var alice = TestAccount()
        #expect(english(alice) == "alice has bought nothing yet.")
        #expect(english(alice.record, rows: [], alice.runningApp, at: alice.now) == "alice has bought nothing yet.")
        #expect(english(nil, rows: [], alice.runningApp, at: alice.now) == "alice has bought nothing yet.")
        #expect(Told(scope: .group("G"))(alice) == "alice has not bought G.")
        #expect(Told(scope: .product("gold"))(alice) == "alice has not bought gold.")
        try alice.buy("coins")
        #expect(english(alice) == "alice bought coins on 10 January, 0:00 UTC.")
        #expect(german(alice) == "alice hat coins am 10. Januar, 0:00 Uhr UTC gekauft.")
        #expect(Told(scope: .product("coins"))(alice) == "alice bought coins on 10 January, 0:00 UTC.")
        var dora = alice
        try dora.refund(1)
        #expect(english(dora) == "alice bought coins on 10 January, 0:00 UTC, and it was refunded.")
        try dora.buy("coins")
        #expect(
            english(dora) == "alice bought coins 2 times, most recently on 10 January, 0:00 UTC. Refunded: 1 of 2.")
        var twice = alice
        try twice.buy("coins")
        #expect(english(twice) == "alice bought coins 2 times, most recently on 10 January, 0:00 UTC.")
        try alice.buy("lifetime")
        try alice.buy("season")
        #expect(english(alice) == "alice owns lifetime and season.")
        try alice.buy("silver")
        try alice.buy("weekly")
        #expect(
            english(alice)
                == "alice has silver until 10 February, then it renews for $9.99. alice has weekly until 17 January, then it renews for $1.99. alice owns lifetime and season."
        )
    }

    @Test func `a change of plan, and one that waits`() throws {
        var alice = TestAccount()
        try alice.buy("gold")
        try alice.buy("bronze")
        #expect(english(alice) == "alice has gold until 10 February, then it becomes bronze for $4.99.")
        #expect(german(alice) == "alice hat gold bis 10. Februar, danach wird es bronze für 4,99\u{A0}$.")
        #expect(english.changes(alice).first == "2026-02-10T00:00:00Z: bronze renews for $4.99")
    }

    @Test func `a higher price that waits for an answer`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        try alice.operate(.raisePrice(.product("silver"), milliunits: 15_000, needsConsent: true))
        #expect(
            english(alice)
                == "alice has silver until 10 February. It renews only if alice agrees to the higher price of $15.00.")
        #expect(
            german(alice)
                == "alice hat silver bis 10. Februar. Es verlängert sich nur, wenn alice dem höheren Preis von 15,00\u{A0}$ zustimmt."
        )
        #expect(
            english.changes(alice) == [
                "2026-02-10T00:00:00Z: silver ends, unless the higher price of $15.00 is agreed to"
            ])
        var bob = alice
        try bob.operate(.answerPriceIncrease(.product("silver"), agrees: false))
        #expect(english.changes(bob) == ["2026-02-10T00:00:00Z: silver ends"])
        try alice.operate(.answerPriceIncrease(.product("silver"), agrees: true))
        #expect(english(alice) == "alice has silver until 10 February, then it renews for $15.00.")
    }

    @Test func `a product that is no longer sold`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        try alice.withdraw("silver")
        #expect(
            english(alice)
                == "alice has silver until 10 February. It does not renew, because the product is no longer sold.")
    }

    @Test func `a free trial, and a commitment`() throws {
        var alice = TestAccount(
            catalogue: Shop.catalogue(introductory: Shop.introductory(.freeTrial, Period(1, .week))))
        try alice.buy("silver")
        #expect(english(alice) == "alice has a free trial of silver until 17 January, then it renews for $9.99.")
        var bob = TestAccount(catalogue: Shop.billedMonthly())
        try bob.buyMonthly()
        #expect(
            Told(called: "bob")(bob) == "bob has silver.yearly until 10 January 2027, then it renews.")
    }

    @Test func `what was granted`() throws {
        var alice = TestAccount()
        for (name, until) in [("plus", at("2026-01-20")), ("beta", nil), ("old", at("2026-01-09"))] {
            let grant = EntitlementGrant(
                name: name, until: until, reason: "outage", since: at("2026-01-08"), tier: "")
            alice.record.apply(Fact(.reported(.granted(grant)), effective: alice.now))
        }
        #expect(
            english(alice)
                == "alice was given plus on 8 January, until 20 January. alice was given beta on 8 January, without an end."
        )
        #expect(
            german(alice)
                == "alice hat plus am 8. Januar geschenkt bekommen, bis 20. Januar. alice hat beta am 8. Januar geschenkt bekommen, ohne Ende."
        )
        #expect(english.changes(alice) == ["2026-01-20T00:00:00Z: The grant of plus ends"])
        let reader = TextReader(locale: "en", offsetMinutes: 0)
        let grants = reader.grants(of: alice.record, by: ["plus": "ada"], at: alice.now, forCustomer: false)
        #expect(
            grants.map(\.message) == [
                "ada gave it on 8 January, 0:00 UTC, until 20 January, because: “outage”",
                "given on 8 January, 0:00 UTC, without an end, because: “outage”",
                "given on 8 January, 0:00 UTC, until 9 January, 0:00 UTC, because: “outage”",
            ])
        let words = TextReader(locale: "de", offsetMinutes: 0).grants(
            of: alice.record, by: ["beta": "ada"], at: alice.now, forCustomer: false)
        #expect(words[1].message == "von ada am 8. Januar, 0:00 Uhr UTC gegeben, ohne Ende, weil: „outage“")
        #expect(grants.map(\.grantedBy) == ["ada", "", ""])
        let shown = reader.grants(of: alice.record, by: ["plus": "ada"], at: alice.now, forCustomer: true)
        #expect(
            shown.allSatisfy {
                $0.grantedBy.isEmpty && $0.reason.isEmpty && $0.message.hasPrefix("given on 8 January, 0:00 UTC, ")
                    && !$0.message.contains("because")
            })
    }

    @Test func `a clock that stands`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        let app = alice.app(clock: .frozen(at: alice.now))
        #expect(
            english(alice.record, rows: alice.rowsNewestFirst, app, at: alice.now)
                == "alice has silver until 10 February, then it renews for $9.99. The clock of this test app is stopped, so nothing changes until it runs again."
        )
    }

    @Test func `a purchase that waits for approval`() throws {
        var settings = AppSettings()
        settings.isAskToBuyEnabled = true
        var alice = TestAccount(settings: settings)
        try alice.operate(.buy(PurchaseOrder(productID: "silver")))
        #expect(english(alice) == "A purchase of silver has been waiting for approval since 10 January, 0:00 UTC.")
    }

    @Test func `a customer without a name that can be read out`() throws {
        var alice = TestAccount()
        try alice.buy("silver")
        let uuid = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"
        #expect(
            Told(called: uuid)(alice) == "The customer has silver until 10 February, then it renews for $9.99.")
        #expect(
            Told(locale: "de_AT", called: uuid)(alice)
                == "Dieses Konto hat silver bis 10. Februar, danach verlängert es sich für $\u{A0}9,99.")
        #expect(Told(called: "\u{5D0}\u{202E}b")(alice).hasPrefix("\u{2068}\u{5D0}b\u{2069} has silver"))
        #expect(Told(called: "a\u{7}b")(alice).hasPrefix("ab has silver"))
    }

    @Test func `days of the reader's clock`() throws {
        var alice = TestAccount(at: at("2026-12-30T23:30:00Z"))
        try alice.buy("weekly")
        #expect(english(alice).hasPrefix("alice has weekly until 6 January 2027,"))
        #expect(Told(offset: 60)(alice).hasPrefix("alice has weekly until 7 January 2027,"))
        #expect(Told(offset: -24 * 30)(alice).hasPrefix("alice has weekly until 6 January 2027,"))
        alice.advance(days: 6)
        #expect(Told(offset: 60)(alice).hasPrefix("alice has weekly until 7 January, 0:30 UTC+1,"))
        #expect(Told(offset: -210)(alice).hasPrefix("alice has weekly until 6 January, 20:00 UTC-3:30,"))
    }

    @Test func `what would be after an event`() throws {
        var alice = TestAccount(settings: Shop.settings(grace: true))
        try alice.buy("silver")
        alice.advance(days: 5)
        let record = alice.record
        let failed = try english.supposed(Supposition(event: .chargeFails), alice)
        #expect(
            failed
                == "The card would be declined. alice would keep silver until 31 January, and then lose it unless a charge succeeded."
        )
        #expect(
            try english.supposed(Supposition(event: .refund), alice)
                == "silver would be refunded, and alice would have no access to it.")
        #expect(
            try german.supposed(Supposition(event: .refund), alice)
                == "silver würde erstattet, und alice hätte keinen Zugang mehr dazu.")
        #expect(
            try english.supposed(Supposition(event: .cancelled), alice)
                == "alice would have silver until 10 February. It would not renew.")
        #expect(
            try english.supposed(Supposition(event: .planChange, productID: "gold"), alice)
                == "alice would have gold until 15 February, then it would renew for $19.99.")
        #expect(
            try english.supposed(Supposition(event: .planChange, productID: "bronze"), alice)
                == "alice would have silver until 10 February, then it would become bronze for $4.99.")
        #expect(
            try english.supposed(Supposition(event: .priceAgreed, priceMilliunits: 12_990), alice)
                == "The price would be $12.99. alice would have silver until 10 February, then it would renew for $12.99."
        )
        #expect(
            try german.supposed(Supposition(event: .priceNotAgreed), alice)
                == "Der Preis wäre 10,99\u{A0}$. alice hätte silver bis 10. Februar. Es würde sich nicht verlängern.")
        #expect(alice.record == record)
        #expect(throws: Refusal.self) {
            try english.supposed(Supposition(event: .planChange, productID: "platinum"), alice)
        }
        #expect(throws: Refusal.self) {
            try english.supposed(Supposition(event: .cancelled, originalTransactionID: 99), alice)
        }
        #expect(throws: Refusal.self) { try english.supposed(Supposition(event: .cancelled), TestAccount()) }
        try alice.buy("lifetime")
        #expect(
            try english.supposed(Supposition(event: .refund, originalTransactionID: 2), alice)
                == "alice has silver until 10 February, then it renews for $9.99.")
    }

    @Test func `what cannot be, because no charge comes or the plan is of another group`() throws {
        var alice = TestAccount(settings: Shop.settings(grace: true))
        try alice.buy("silver")
        #expect(throws: Refusal.self) {
            try english.supposed(Supposition(event: .planChange, productID: "weekly"), alice)
        }
        #expect(throws: Refusal.self) {
            try english.supposed(Supposition(event: .planChange, productID: "lifetime"), alice)
        }
        // Whoever has both changes the one that the plan belongs to.
        try alice.buy("weekly")
        let changed = try english.supposed(Supposition(event: .planChange, productID: "gold"), alice)
        #expect(changed.contains("alice would have gold") && changed.contains("alice has weekly"), "\(changed)")
        #expect(throws: Refusal.self) {
            let original = try alice.line("H").originalID
            return try english.supposed(
                Supposition(event: .planChange, productID: "gold", originalTransactionID: original), alice)
        }
        var bob = TestAccount(settings: Shop.settings(grace: true))
        try bob.buy("silver")
        try bob.setAutoRenew(false)
        #expect(throws: Refusal.self) { try english.supposed(Supposition(event: .chargeFails), bob) }
    }

    @Test func `in a grace period, one more charge that fails changes nothing`() throws {
        var alice = TestAccount(settings: Shop.settings(grace: true))
        try alice.buy("silver")
        try alice.operate(.setCharges(fail: true))
        try alice.advanceToBoundary()
        alice.advance(days: 3)
        #expect(alice.state() == .inGracePeriod)
        #expect(
            try english.supposed(Supposition(event: .chargeFails), alice) == "Nothing would change. " + english(alice))
        alice.advance(days: 20)
        #expect(alice.state() == .inBillingRetryPeriod)
        #expect(
            try english.supposed(Supposition(event: .chargeFails), alice) == "Nothing would change. " + english(alice))
    }
}

private let dayLength: Int64 = 86_400_000
private let present = at("2026-06-10")

@Suite struct `What a customer is told of an app of the App Store` {
    private static let app: AppState = {
        var account = TestAccount()
        account.settings.leewayMilliseconds = dayLength
        account.settings.isGracePeriodEnabled = true
        return account.app(clock: .running(offsetMilliseconds: 0), environment: .production)
    }()

    /// A line of silver; days count from now.
    private static func line(
        from: Int64 = -10, to: Int64 = 20, renews: Bool? = true, product: String = "silver",
        original: TransactionID = 11, beside held: AccountRecord = AccountRecord(account: 1, app: 1),
        transaction change: (inout Transaction) -> Void = { _ in },
        info changeInfo: (inout RenewalInfo) -> Void = { _ in }
    ) -> AccountRecord {
        func onDay(_ days: Int64) -> Instant { present.advanced(byMilliseconds: days * dayLength) }
        var transaction = Shop.transaction(original, of: product, from: onDay(from), to: onDay(to))
        transaction.webOrderLineItemID = "1"
        transaction.price = usd(9_990)
        change(&transaction)
        var record = held
        if let fact = ReportedOriginal(id: original).fact(of: transaction, content: .zero) {
            record.apply(Fact(.reported(.transaction(fact)), effective: present))
        }
        guard let renews else { return record }
        var info = RenewalInfo(
            originalTransactionID: original, currentProductID: product, willAutoRenew: renews, renewalDate: onDay(to),
            recentSubscriptionStartDate: onDay(from), environment: .production, signedDate: onDay(from))
        info.autoRenewPreference = renews ? product : nil
        info.renewalPrice = renews ? usd(9_990) : nil
        changeInfo(&info)
        record.apply(Fact(.reported(.renewal(info, renewalDate: onDay(to), content: .zero)), effective: present))
        return record
    }

    private static func told(_ record: AccountRecord?, _ told: Told = english) -> String {
        told(record, rows: [], Self.app, at: present)
    }

    private static func changes(_ record: AccountRecord) -> [String] {
        expectedChanges(
            of: record, about: .all, app: Self.app, at: present, for: TextReader(locale: "", offsetMinutes: 0)
        ).map { "\($0.at): \($0.message)" }
    }

    @Test func `once what was bought twice`() {
        let sentence = "alice has silver until 30 June, then it renews for $9.99."
        #expect(
            Self.told(Self.line(original: 12, beside: Self.line()))
                == sentence + " There are 2 such purchases, and each is charged.")
        #expect(
            Self.told(Self.line(original: 12, beside: Self.line()), german).hasSuffix(
                " Es gibt 2 solche Käufe, und jeder wird abgebucht."))
        let stopped = Self.line(renews: false, original: 12, beside: Self.line(renews: false))
        #expect(Self.told(stopped) == "alice has silver until 30 June. It does not renew.")
        let other = Self.line(to: 21, original: 12, beside: Self.line())
        #expect(Self.told(other).contains("until 30 June") && Self.told(other).contains("until 1 July"))
    }

    @Test func `no more than was reported`() {
        #expect(Self.told(Self.line()) == "alice has silver until 30 June, then it renews for $9.99.")
        #expect(Self.changes(Self.line()) == ["2026-06-30T00:00:00Z: silver renews for $9.99"])
        #expect(
            Self.told(Self.line(renews: nil)) == "alice has silver until 30 June. Whether it renews was not reported.")
        #expect(
            Self.told(Self.line(renews: nil), german)
                == "alice hat silver bis 30. Juni. Ob es sich verlängert, wurde nicht gemeldet.")
        #expect(
            Self.changes(Self.line(renews: nil)) == [
                "2026-06-30T00:00:00Z: The period of silver ends, and whether it renews was not reported"
            ])
        #expect(Self.told(Self.line(renews: false)) == "alice has silver until 30 June. It does not renew.")
        #expect(Self.changes(Self.line(renews: false)) == ["2026-06-30T00:00:00Z: silver ends"])
        #expect(Self.told(nil) == "alice has bought nothing yet.")
    }

    @Test func `news that is awaited, and that never came`() {
        let awaited = Self.line(from: -30, to: 0)
        #expect(
            Self.told(awaited)
                == "The period of silver ended on 10 June, 0:00 UTC, and its renewal has not been reported. alice keeps silver until 11 June, 0:00 UTC while the report is awaited."
        )
        #expect(
            Self.told(Self.line(from: -40, to: -10))
                == "alice had silver until 31 May. Whether it renewed was not reported.")
        #expect(
            Self.told(Self.line(from: -40, to: -10, renews: nil))
                == "alice had silver until 31 May. Whether it renewed was not reported.")
        #expect(
            Self.told(Self.line(from: -40, to: -10, renews: false))
                == "alice had silver until 31 May: renewal was switched off.")
    }

    @Test func `a charge that failed`() {
        let grace = Self.line(
            from: -31, to: -1,
            info: { info in
                info.isInBillingRetry = true
                info.gracePeriodExpirationDate = present.advanced(byMilliseconds: 5 * dayLength)
            })
        #expect(
            Self.told(grace)
                == "The card was declined on 9 June, 0:00 UTC. alice keeps silver until 15 June, and then loses it unless a charge succeeds."
        )
        #expect(Self.changes(grace).first == "2026-06-15T00:00:00Z: Access to silver ends, unless a charge succeeds")
        let over = Self.line(
            from: -50, to: -20,
            info: { info in
                info.willAutoRenew = false
                info.expirationReason = .billingError
                info.gracePeriodExpirationDate = present.advanced(byMilliseconds: -5 * dayLength)
            })
        #expect(
            Self.told(over)
                == "alice had silver until 5 June: the card was declined and no later charge succeeded.")
        let retry = Self.line(from: -40, to: -10, info: { $0.isInBillingRetry = true })
        #expect(
            Self.told(retry)
                == "The card was declined on 31 May, and alice has no access to silver until a charge succeeds. The store goes on trying."
        )
    }

    @Test func `a family, a refund, and a price that waits`() {
        let shared = Self.line(transaction: { $0.ownership = .familyShared })
        #expect(Self.told(shared) == "alice has silver, shared by a family member, until 30 June.")
        #expect(Self.told(shared, german) == "alice hat silver über die Familienfreigabe bis 30. Juni.")
        let unshared = Self.line(transaction: {
            $0.ownership = .familyShared
            $0.revocation = Revocation(date: present, reason: .other, type: .familyRevoke)
        })
        #expect(Self.told(unshared) == "silver is no longer shared with alice.")
        let refunded = Self.line(transaction: {
            $0.revocation = Revocation(date: present.advanced(byMilliseconds: -5 * dayLength), reason: .other)
        })
        #expect(Self.told(refunded) == "silver was refunded on 5 June, and alice has no access to it.")
        let waiting = Self.line(info: { $0.priceIncreaseStatus = .pending })
        #expect(
            Self.told(waiting)
                == "alice has silver until 30 June. It renews only if alice agrees to the higher price.")
        #expect(
            Self.changes(waiting) == ["2026-06-30T00:00:00Z: silver ends, unless the higher price is agreed to"])
    }

    @Test func `what would be after an event`() throws {
        let record = Self.line()
        func supposed(_ supposition: Supposition) throws -> String {
            try english.supposed(supposition, record, rows: [], Self.app, at: present)
        }
        #expect(
            try supposed(Supposition(event: .chargeFails))
                == "The card would be declined. alice would keep silver until 26 June, and then lose it unless a charge succeeded."
        )
        #expect(
            try supposed(Supposition(event: .refund))
                == "silver would be refunded, and alice would have no access to it.")
        #expect(
            try supposed(Supposition(event: .cancelled))
                == "alice would have silver until 30 June. It would not renew.")
        #expect(
            try supposed(Supposition(event: .priceNotAgreed))
                == "The price would be $10.99. alice would have silver until 30 June. It would not renew.")
        #expect(
            try supposed(Supposition(event: .priceAgreed, priceMilliunits: 12_990))
                == "The price would be $12.99. alice would have silver until 30 June, then it would renew for $12.99.")
        #expect(
            try supposed(Supposition(event: .planChange, productID: "gold"))
                == "alice would have gold until 10 July, then it would renew for $19.99.")
        #expect(
            try supposed(Supposition(event: .planChange, productID: "bronze"))
                == "alice would have silver until 30 June, then it would become bronze for $4.99.")
        #expect(throws: Refusal.self) { try supposed(Supposition(event: .planChange, productID: "weekly")) }
        #expect(throws: Refusal.self) { try supposed(Supposition(event: .cancelled, originalTransactionID: 12)) }
        #expect(record == Self.line())
    }

    @Test func `what would be after an event that needs a renewal`() throws {
        func supposed(_ supposition: Supposition, _ record: AccountRecord) throws -> String {
            try english.supposed(supposition, record, rows: [], Self.app, at: present)
        }
        let off = Self.line(renews: false)
        #expect(throws: Refusal.self) { try supposed(Supposition(event: .chargeFails), off) }
        #expect(
            try supposed(Supposition(event: .priceAgreed), off)
                == "Nothing would change. alice has silver until 30 June. It does not renew.")
        // Nothing was reported of its renewal: the event says that it renews.
        #expect(
            try supposed(Supposition(event: .chargeFails), Self.line(renews: nil)).hasPrefix(
                "The card would be declined."))
        let grace = Self.line(
            from: -31, to: -1,
            info: { info in
                info.isInBillingRetry = true
                info.gracePeriodExpirationDate = present.advanced(byMilliseconds: 5 * dayLength)
            })
        #expect(
            try supposed(Supposition(event: .chargeFails), grace) == "Nothing would change. " + Self.told(grace))
        let ended = Self.line(from: -40, to: -10, renews: false)
        #expect(throws: Refusal.self) { try supposed(Supposition(event: .chargeFails), ended) }
        #expect(throws: Refusal.self) {
            try supposed(Supposition(event: .planChange, productID: "gold"), ended)
        }
    }
}

@Suite struct `The texts for people` {
    @Test func `join lists in their own language`() {
        let (english, german) = (
            TextReader(locale: "en", offsetMinutes: 0), TextReader(locale: "de_AT", offsetMinutes: 0)
        )
        #expect(english.list([]) == "" && english.list(["A"]) == "A" && english.list(["A", "B"]) == "A and B")
        #expect(german.list(["A", "B", "C"]) == "A, B und C")
    }

    @Test func `say what to do where no account has a name`() {
        let german = TextReader(locale: "de", offsetMinutes: 0)
        let app = TestAccount().runningApp
        let reported = TestAccount().app(clock: .running(offsetMilliseconds: 0), environment: .production)
        #expect(
            german.unknown("kate", in: app) == "Noch hat kein Konto diesen Namen: kate. Der erste Kauf legt es an.")
        #expect(
            german.unknown("kate", in: reported)
                == "Kein Konto hat diesen Namen: kate. Suchen Sie nach einem anderen Namen, etwa einer Bestellnummer oder einer E-Mail-Adresse."
        )
    }

    @Test func `are said in each language in other words`() {
        for key in TextKey.allCases {
            let words = TextTable.all.map { $0[key].replacing(/\{\w+\}/, with: "") }
            #expect(Set(words).count == words.count || words[0].allSatisfy { !$0.isLetter }, "\(key): \(words)")
        }
    }

    @Test func `are whole in each language, with the same places`() {
        func places(_ text: String) -> Set<String> {
            Set(text.matches(of: /\{(\w+)\}/).map { String($0.output.1) })
        }
        for table in TextTable.all {
            #expect(table.months.count == 12)
            for key in TextKey.allCases {
                // A language may call the customer where another does not.
                let (own, first) = (places(table[key]), places(TextTable.english[key]))
                #expect(
                    own.subtracting(["who", "whom"]) == first.subtracting(["who", "whom"]), "\(table.language) \(key)")
            }
        }
        #expect(TextTable.table(of: "de-CH").language == "de")
        #expect(TextTable.table(of: "fr").language == "en")
    }

    @Test(arguments: ["he ", "she ", "his ", "her ", " er ", " sie ", " ihr", "sein "])
    func `do not know whether a customer is a man or a woman`(_ pronoun: String) {
        for table in TextTable.all {
            for key in TextKey.allCases {
                let words = " " + table[key].lowercased().replacing(/[.,;:]/, with: " ") + " "
                #expect(!words.contains(" " + pronoun.trimmingPrefix(" ") + " "), "\(table.language): \(table[key])")
            }
        }
    }
}
