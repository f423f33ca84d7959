import PerchBase
import Testing

@testable import PerchModel

extension TestAccount {
    /// What happened, oldest first, in the words of a reader.
    func history(_ locale: String = "en") -> [String] {
        var told = happenings(
            of: 1, self.facts.enumerated().map { HistoryFact(revision: UInt64($0.offset + 1), fact: $0.element) },
            app: self.runningApp, at: self.now)
        for place in told.indices where told[place].revision != 0 { told[place].by = "ada" }
        return TextReader(locale: locale, offsetMinutes: 0).history(
            told, in: self.runningApp, at: self.now, forCustomer: false
        ).map { "\($0.at.day) \($0.message)" }
    }
}

extension Instant {
    /// `2026-02-10`.
    fileprivate var day: String { String("\(self)".prefix(10)) }
}

@Suite struct `What happened to an account of a test app` {
    @Test func `free days leave the purchase as it was`() throws {
        var fay = TestAccount()
        try fay.buy("silver")
        fay.advance(days: 9)
        let before = fay.history()
        #expect(before == ["2026-01-10 Bought silver for $9.99, until 10 February (by ada)"])
        try fay.operate(.extendRenewal(.product("silver"), milliseconds: 7 * 86_400_000))
        fay.advance(days: 3)
        #expect(fay.history() == before + ["2026-01-19 silver was given 7 days more, until 17 February (by ada)"])
        #expect(fay.history("de").last == "2026-01-19 silver bekam 7 Tage mehr, bis 17. Februar (von ada)")
        try fay.operate(.extendRenewal(.product("silver"), milliseconds: 86_400_000))
        #expect(fay.history().last == "2026-01-22 silver was given 1 day more, until 18 February (by ada)")
    }

    @Test func `a charge that failed stays when it is resolved`() throws {
        var gina = TestAccount(settings: Shop.settings(grace: true))
        try gina.buy("silver")
        try gina.operate(.setCharges(fail: true))
        gina.advance(to: at("2026-02-15"))
        let failed = gina.history()
        #expect(
            failed.suffix(2) == [
                "2026-01-10 Charges were set to fail (by ada)",
                "2026-02-10 The charge for silver failed, and access goes on until 26 February",
            ])
        try gina.operate(.resolveBilling(.product("silver")))
        gina.advance(days: 5)
        // The period begins where the last one ended, and the charge is of the day on which it was resolved.
        #expect(
            gina.history() == failed + [
                "2026-02-15 The charge succeeded: renewed silver for $9.99, until 10 March (by ada)",
                "2026-02-15 Charges were set to what the app's setting says (by ada)",
            ])
        #expect(
            gina.history("de")[3]
                == "2026-02-15 Die Abbuchung gelang, verlängert: silver für 9,99\u{A0}$, bis 10. März (von ada)"
        )
        gina.advance(to: at("2026-03-11"))
        #expect(gina.history().last?.hasPrefix("2026-03-10 Renewed silver for $9.99, until ") == true)
    }

    @Test func `access that ends, and a store that stops trying`() throws {
        var clara = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try clara.buy("silver")
        clara.advance(to: at("2026-06-01"))
        #expect(
            clara.history().dropFirst() == [
                "2026-02-10 The charge for silver failed, and access goes on until 26 February",
                "2026-02-26 Access to silver ended, because no charge had succeeded",
                "2026-04-11 The store stopped trying to charge for silver",
            ])
        #expect(
            clara.history("de").dropFirst() == [
                "2026-02-10 Die Abbuchung für silver schlug fehl, der Zugang bleibt bis 26. Februar",
                "2026-02-26 Der Zugang zu silver endete, weil keine Abbuchung gelungen war",
                "2026-04-11 Der Store versuchte nicht länger, für silver abzubuchen",
            ])
        var bob = TestAccount(settings: Shop.settings(billingIssues: true))
        try bob.buy("silver")
        bob.advance(to: at("2026-02-20"))
        try bob.setAutoRenew(false)
        #expect(
            bob.history().dropFirst() == [
                "2026-02-10 The charge for silver failed, and access ended",
                "2026-02-20 Renewal of silver was switched off (by ada)",
                "2026-02-20 silver ended: renewal was switched off",
            ])
    }

    @Test func `a price, the answer to it, and the end`() throws {
        var lena = TestAccount()
        try lena.buy("silver")
        try lena.operate(.raisePrice(.product("silver"), milliunits: 12_990, needsConsent: true))
        var kate = lena
        try lena.operate(.answerPriceIncrease(.product("silver"), agrees: true))
        lena.advance(days: 40)
        #expect(
            lena.history() == [
                "2026-01-10 Bought silver for $9.99, until 10 February (by ada)",
                "2026-01-10 A higher price of silver was announced, $12.99, and needs agreement (by ada)",
                "2026-01-10 The higher price of silver, $12.99, was agreed to (by ada)",
                "2026-02-10 Renewed silver for $12.99, until 10 March (by ada)",
            ])
        #expect(
            lena.history("de")[2] == "2026-01-10 Dem höheren Preis von silver, 12,99\u{A0}$, wurde zugestimmt (von ada)"
        )
        kate.advance(days: 40)
        #expect(kate.history().last == "2026-02-10 silver ended: the higher price was not agreed to")
        try kate.buy("gold")
        try kate.operate(.raisePrice(.product("gold"), milliunits: 20_990, needsConsent: false))
        #expect(
            kate.history().last == "2026-02-19 The price of gold was raised to $20.99 from the next renewal on (by ada)"
        )
    }

    @Test func `changes of plan, refunds, and an end that was chosen`() throws {
        var alice = TestAccount()
        try alice.buy("gold")
        try alice.buy("bronze")
        try alice.setAutoRenew(false)
        try alice.setAutoRenew(true)
        let told = alice.history()
        #expect(told[1] == "2026-01-10 gold will become bronze with the next period (by ada)")
        #expect(told[2] == "2026-01-10 Renewal of gold was switched off (by ada)")
        #expect(told.last == "2026-01-10 Renewal of gold was switched on (by ada)")
        try alice.setAutoRenew(false)
        alice.advance(to: at("2026-02-20"))
        #expect(alice.history().last == "2026-02-10 gold ended: renewal was switched off")
        try alice.buy("coins", quantity: 2)
        let coins = try #require(alice.rows.last)
        #expect(alice.history().last?.hasPrefix("2026-02-20 Bought 2 × coins for $") == true)
        try alice.refund(coins.id)
        #expect(alice.history().last?.hasPrefix("2026-02-20 Refunded coins, $") == true)
        try alice.operate(.reverseRefund(.transaction(coins.id)))
        #expect(alice.history().last == "2026-02-20 The refund of coins was taken back (by ada)")
        try alice.operate(.setPayments(isAllowed: false))
        #expect(alice.history("de").last == "2026-02-20 Zahlungen wurden verboten (von ada)")
        try alice.operate(.deleteTransaction(coins.id))
        #expect(alice.history().last == "2026-02-20 Transaction \(coins.id) was deleted (by ada)")
    }

    @Test func `grants`() throws {
        var hana = TestAccount()
        func tell(_ fact: ReportedFact, to account: inout TestAccount) {
            account.commit([Fact(.reported(fact), effective: account.now, source: .grant, stamp: account.now)])
        }
        for (name, until) in [("plus", nil), ("beta", at("2026-01-20"))] {
            tell(
                .granted(
                    EntitlementGrant(name: name, until: until, reason: "the app, it was down", since: hana.now)),
                to: &hana)
        }
        hana.advance(days: 20)
        tell(.grantEnded(name: "plus"), to: &hana)
        #expect(
            hana.history() == [
                "2026-01-10 plus was given, without an end, because: “the app, it was down” (by ada)",
                "2026-01-10 beta was given, until 20 January, because: “the app, it was down” (by ada)",
                "2026-01-20 The grant of beta ended", "2026-01-30 The grant of plus was taken back (by ada)",
            ])
        #expect(
            hana.history("de")[0] == "2026-01-10 plus wurde gegeben, ohne Ende, weil: „the app, it was down“ (von ada)")
        // A customer is not shown who, nor the words for the record.
        let told = happenings(
            of: 1, hana.facts.map { HistoryFact(revision: 1, fact: $0) }, app: hana.app, at: hana.now
        ).map { each in
            var named = each
            (named.by, named.otherKey) = ("ada", "ivy")
            return named
        }
        let shown = TextReader(locale: "", offsetMinutes: 0).history(
            told, in: hana.app, at: hana.now, forCustomer: true)
        #expect(shown.map(\.message).prefix(1) == ["plus was given, without an end"])
        #expect(shown.allSatisfy { $0.by.isEmpty && $0.account.isEmpty && !$0.message.contains("ada") })
    }

    @Test func `nothing of what has not come`() throws {
        var alice = TestAccount()
        #expect(alice.history() == [])
        try alice.buy("silver")
        try alice.setAutoRenew(false)
        let past = happenings(
            of: 1, alice.facts.map { HistoryFact(revision: 1, fact: $0) }, app: alice.app, at: at("2026-01-09"))
        #expect(past.isEmpty)
    }
}

private let dayLength: Int64 = 86_400_000
private let start = at("2026-06-10")

@Suite struct `What happened to an account of the App Store` {
    private var facts: [HistoryFact] = []
    private var record = AccountRecord(account: 1, app: 1)
    private static let app: AppState = {
        var account = TestAccount()
        account.settings.leewayMilliseconds = dayLength
        return account.app(clock: .running(offsetMilliseconds: 0), environment: .production)
    }()

    private static func onDay(_ days: Int64) -> Instant { start.advanced(byMilliseconds: days * dayLength) }

    private static func period(_ number: TransactionID, from: Int64, to: Int64, signed: Int64? = nil) -> Transaction {
        var transaction = Shop.transaction(number, of: "silver", from: onDay(from), to: onDay(to))
        transaction.originalID = 11
        transaction.webOrderLineItemID = "w\(number)"
        transaction.price = usd(9_990)
        transaction.reason = number == 11 ? .purchase : .renewal
        transaction.signedDate = onDay(signed ?? from)
        return transaction
    }

    /// One notification: a transaction, with what it says of the renewal.
    private mutating func report(
        _ transaction: Transaction?, on day: Int64, ends: Int64, _ change: (inout RenewalInfo) -> Void = { _ in }
    ) {
        var facts: [Fact] = []
        if let transaction {
            let known = self.record.reported?.original(11) ?? ReportedOriginal(id: 11)
            if let fact = known.fact(of: transaction, content: .zero) {
                facts.append(
                    Fact(
                        .reported(.transaction(fact)), effective: transaction.purchaseDate, source: .notification,
                        stamp: transaction.signedDate))
            }
        }
        var info = RenewalInfo(
            originalTransactionID: 11, currentProductID: "silver", willAutoRenew: true, renewalDate: Self.onDay(ends),
            recentSubscriptionStartDate: start, environment: .production, signedDate: Self.onDay(day))
        info.autoRenewPreference = "silver"
        change(&info)
        facts.append(
            Fact(
                .reported(.renewal(info, renewalDate: Self.onDay(ends), content: .zero)), effective: info.signedDate,
                source: .notification, stamp: info.signedDate))
        self.tell(facts)
    }

    private mutating func tell(_ facts: [Fact]) {
        let revision = UInt64(self.facts.count + 1)
        for fact in facts {
            self.record.apply(fact)
            self.facts.append(HistoryFact(revision: revision, fact: fact))
        }
    }

    private func history(on day: Int64, locale: String = "en") -> [String] {
        TextReader(locale: locale, offsetMinutes: 0).history(
            happenings(of: 1, self.facts, app: Self.app, at: Self.onDay(day)), in: Self.app, at: Self.onDay(day),
            forCustomer: false
        ).map { "\($0.at.day) \($0.message)" }
    }

    @Test mutating func `a failed charge, its end, and a charge that succeeded`() {
        self.report(Self.period(11, from: 0, to: 30), on: 0, ends: 30)
        #expect(self.history(on: 1) == ["2026-06-10 Bought silver for $9.99, until 10 July"])
        self.report(nil, on: 30, ends: 30) { info in
            info.isInBillingRetry = true
            info.gracePeriodExpirationDate = Self.onDay(36)
        }
        let failed = self.history(on: 31)
        #expect(failed.last == "2026-07-10 The charge for silver failed, and access goes on until 16 July")
        #expect(self.history(on: 40).last == "2026-07-16 Access to silver ended, because no charge had succeeded")
        self.report(Self.period(12, from: 41, to: 71), on: 41, ends: 71)
        #expect(self.history(on: 42)[1] == failed[1])
        #expect(
            self.history(on: 42).last == "2026-07-21 The charge succeeded: renewed silver for $9.99, until 20 August")
    }

    @Test mutating func `switches, a price, a refund, and an end`() {
        self.report(Self.period(11, from: 0, to: 30), on: 0, ends: 30)
        self.report(nil, on: 3, ends: 30) { $0.willAutoRenew = false }
        self.report(nil, on: 4, ends: 30) { $0.priceIncreaseStatus = .pending }
        self.report(nil, on: 5, ends: 30) { info in
            info.priceIncreaseStatus = .agreed
            info.renewalPrice = usd(12_990)
        }
        var extended = Self.period(11, from: 0, to: 37)
        extended.signedDate = Self.onDay(6)
        self.report(extended, on: 6, ends: 37) { $0.priceIncreaseStatus = .agreed }
        var refunded = extended
        refunded.signedDate = Self.onDay(9)
        refunded.revocation = Revocation(date: Self.onDay(8), reason: .other)
        self.report(refunded, on: 9, ends: 37) { $0.priceIncreaseStatus = .agreed }
        #expect(
            self.history(on: 12) == [
                "2026-06-10 Bought silver for $9.99, until 10 July",
                "2026-06-13 Renewal of silver was switched off", "2026-06-14 Renewal of silver was switched on",
                "2026-06-14 A higher price of silver was announced, and needs agreement",
                "2026-06-15 The higher price of silver, $12.99, was agreed to",
                "2026-06-16 silver was given 7 days more, until 17 July", "2026-06-18 Refunded silver, $9.99",
            ])
        #expect(
            self.history(on: 12, locale: "de")[3]
                == "2026-06-14 Ein höherer Preis von silver wurde angekündigt und braucht Zustimmung")
    }

    @Test mutating func `an end that was reported, one that was not, and a report that came late`() {
        self.report(Self.period(11, from: 0, to: 30), on: 0, ends: 30)
        #expect(self.history(on: 40).last == "2026-07-10 silver ended, and whether it renewed was not reported")
        // The next period had begun when the first one ended.
        self.report(Self.period(12, from: 30, to: 60, signed: 45), on: 45, ends: 60)
        #expect(
            self.history(on: 46) == [
                "2026-06-10 Bought silver for $9.99, until 10 July",
                "2026-07-10 Renewed silver for $9.99, until 9 August",
            ])
        self.report(nil, on: 50, ends: 60) { $0.willAutoRenew = false }
        #expect(self.history(on: 70).last == "2026-08-09 silver ended: renewal was switched off")
    }

    @Test mutating func `a purchase that came from another account, and went to a third`() {
        self.report(Self.period(11, from: 0, to: 30), on: 0, ends: 30)
        let original = self.record.reported?.original(11)
        self.tell([Fact(.reported(.lost(11, rows: [11])), effective: Self.onDay(2))])
        let left = self.history(on: 3)
        #expect(
            left == [
                "2026-06-10 Bought silver for $9.99, until 10 July",
                "2026-06-12 silver (transaction 11) was moved from here to another account",
            ])
        // It came back, and left again.
        let gone = [
            Happening(.wentTo(product: "gold"), at: Self.onDay(1), 9, other: 3),
            Happening(.wentTo(product: "silver"), at: Self.onDay(2), 11, other: 2),
            Happening(.wentTo(product: "silver"), at: Self.onDay(4), 11, other: 3),
        ]
        let summary = Summary(
            of: self.record, called: "ivy", about: .all, rows: [], happenings: gone, app: Self.app, at: Self.onDay(9),
            for: TextReader(locale: "de", offsetMinutes: 0))
        #expect(
            summary.text
                == "ivy hat zurzeit nichts. gold wurde am 11. Juni zu einem anderen Konto übertragen. silver wurde am 14. Juni zu einem anderen Konto übertragen."
        )
        guard let original else { return }
        var ines: [Happening] = happenings(
            of: 2,
            [HistoryFact(revision: 4, fact: Fact(.reported(.gained(original, from: 1)), effective: Self.onDay(2)))],
            app: Self.app, at: Self.onDay(3))
        #expect(ines.allSatisfy { $0.other == 1 })
        // Who moved it has not bought it.
        #expect(ines.map(\.revision) == [0, 4])
        for place in ines.indices {
            ines[place].otherKey = "ivy"
            if ines[place].revision != 0 { ines[place].by = "ada" }
        }
        let told = TextReader(locale: "de", offsetMinutes: 0).history(
            ines, in: Self.app, at: Self.onDay(3), forCustomer: false)
        #expect(
            told.map(\.message) == [
                "Gekauft: silver für 9,99\u{A0}$, bis 10. Juli, von ivy",
                "silver (Transaktion 11) wurde von ivy hierher übertragen (von ada)",
            ])
        #expect(told.map(\.account) == ["ivy", "ivy"])
    }
}
