import PerchBase
import PerchModel
import PerchModelCheck
import Testing

@Suite struct `reports of a reported app` {
    /// `modelcheck told 10000` does the same for more sets, in a release build.
    @Test(arguments: [UInt64(1), 101, 201, 301]) func `lead to one result in any order, and however often they come`(
        _ first: UInt64
    ) {
        var tally = ReportedCheck.Tally()
        for seed in first..<first + 6 {
            if let breach = ReportedCheck.breach(seed: seed, orders: 6, tally: &tally) {
                Issue.record("seed \(seed): \(breach)")
            }
        }
    }

    @Test func `of the check reach every state`() {
        var tally = ReportedCheck.Tally()
        var missing = Set(RenewalState.names.dropFirst() + ["none", "subscribed, news awaited"])
        for seed in UInt64(1)...60 where !missing.isEmpty {
            _ = ReportedCheck.breach(seed: seed, orders: 0, tally: &tally)
            missing.subtract(tally.states.keys)
        }
        #expect(missing == [])
    }

    private func purchase(_ id: TransactionID, original: TransactionID, signed: Int64) -> Transaction {
        Transaction(
            id: id, originalID: original, appBundleID: "a", productID: "lifetime", productType: .nonConsumable,
            purchaseDate: Instant(milliseconds: 0), originalPurchaseDate: Instant(milliseconds: 0),
            environment: .production, storefront: Storefront(countryCode: "USA"), reason: .purchase,
            signedDate: Instant(milliseconds: signed))
    }

    private static func lifetime(_ record: ReportedRecord?, at milliseconds: Int64) -> Verified<Transaction>? {
        var outlook = Outlook()
        return ReportedLives.holdings(of: record, at: Instant(milliseconds: milliseconds)).entitlement(
            toProduct: "lifetime", noting: &outlook)
    }

    private func digest(_ low: UInt64) -> Digest { Digest(high: 0, low: low) }

    @Test func `of one purchase show its lowest ID, and every ID resolves`() {
        var book = ReportedBook()
        #expect(book.fold(.transaction(self.purchase(9, original: 7, signed: 3), content: self.digest(1))) == .news)
        #expect(book.fold(.transaction(self.purchase(7, original: 7, signed: 1), content: self.digest(2))) == .news)
        #expect(book.fold(.transaction(self.purchase(8, original: 7, signed: 2), content: self.digest(3))) == .news)
        let record = book.records[.unclaimed(.original(7))]
        #expect(Self.lifetime(record, at: 0)?.value.id == 7)
        #expect(record?.originals.first?.registers.count == 1)
        for id in [TransactionID(7), 8, 9] { #expect(book.original(ofTransaction: id) == 7) }
        #expect(book.original(ofTransaction: 10) == nil)
    }

    @Test func `say which were news`() {
        var book = ReportedBook()
        let newer = ReportedValue.transaction(self.purchase(7, original: 7, signed: 3), content: self.digest(1))
        let older = ReportedValue.transaction(self.purchase(7, original: 7, signed: 1), content: self.digest(2))
        #expect(book.fold(newer) == .news)
        #expect(book.fold(newer) == .duplicate)
        #expect(book.fold(older) == .stale)
        let tie = ReportedValue.transaction(self.purchase(7, original: 7, signed: 3), content: self.digest(2))
        #expect(book.fold(tie) == .news)
        #expect(book.fold(newer) == .stale)
    }

    @Test func `take a refund back that is missing under a newer stamp, whichever arrives first`() {
        var refunded = self.purchase(7, original: 7, signed: 2)
        refunded.revocation = Revocation(date: Instant(milliseconds: 2), reason: .other)
        let reports: [ReportedValue] = [
            .transaction(self.purchase(7, original: 7, signed: 1), content: self.digest(1)),
            .transaction(refunded, content: self.digest(2)),
            .transaction(self.purchase(7, original: 7, signed: 3), content: self.digest(3)),
        ]
        func isEntitled(_ order: [Int]) -> Bool {
            var book = ReportedBook()
            for place in order { _ = book.fold(reports[place]) }
            return Self.lifetime(book.records.values.first, at: 9) != nil
        }
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] { #expect(isEntitled(order)) }
        for order in [[0, 1], [1, 0], [1]] { #expect(!isEntitled(order)) }
    }

    private static func token(_ end: String) -> String { "00000000-0000-0000-0000-00000000000" + end }

    @Test func `belong to whom a claim names, else to the newest alias that is known`() {
        var book = ReportedBook()
        var first = self.purchase(7, original: 7, signed: 1)
        (first.appAccountToken, first.appTransactionID) = (Self.token("1"), "704")
        var second = self.purchase(7, original: 7, signed: 2)
        second.appAccountToken = Self.token("2")
        func owner() -> ReportedOwner? { book.originals[7].map { book.owner(of: $0) } }

        _ = book.fold(.transaction(first, content: self.digest(1)))
        #expect(owner() == .unclaimed(.alias(.appTransactionID("704"))))
        _ = book.fold(.alias(.appAccountToken(Self.token("1")), AccountClaim(account: 1, revision: 1)))
        #expect(owner() == .account(1))
        _ = book.fold(.transaction(second, content: self.digest(2)))
        // The newer token names no account that is known.
        #expect(owner() == .account(1))
        _ = book.fold(.alias(.appAccountToken(Self.token("2")), AccountClaim(account: 2, revision: 2)))
        #expect(owner() == .account(2))
        _ = book.fold(.claim(original: 7, AccountClaim(account: 3, revision: 3)))
        #expect(owner() == .account(3))
        #expect(book.fold(.claim(original: 7, AccountClaim(account: 1, revision: 2))) == .stale)
        #expect(owner() == .account(3))
        // An alias that moves takes along what it names.
        _ = book.fold(.alias(.appAccountToken(Self.token("2")), AccountClaim(account: 1, revision: 4)))
        #expect(owner() == .account(3))
    }
}
