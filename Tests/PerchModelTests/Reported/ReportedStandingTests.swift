import PerchBase
import PerchModel
import PerchModelCheck
import Testing

/// A reported line at each instant, rule by rule. Instants are days.
@Suite struct `a reported line` {
    private static let day: Int64 = 86_400_000
    private let leeway = Self.day

    private func at(_ day: Double) -> Instant { Instant(milliseconds: Int64(day * Double(Self.day))) }

    private func period(
        _ id: TransactionID, _ begin: Double, _ end: Double, signed: Double? = nil,
        _ change: (inout Transaction) -> Void = { _ in }
    ) -> Transaction {
        var transaction = Transaction(
            id: id, originalID: 1, appBundleID: "a", productID: "pro", productType: .autoRenewable,
            purchaseDate: self.at(begin), originalPurchaseDate: self.at(0), environment: .production,
            storefront: Storefront(countryCode: "USA"), reason: id == 1 ? .purchase : .renewal,
            signedDate: self.at(signed ?? begin))
        transaction.expirationDate = self.at(end)
        transaction.subscriptionGroupID = "g"
        transaction.webOrderLineItemID = "w\(id)"
        change(&transaction)
        return transaction
    }

    private func renewal(_ date: Double, signed: Double, _ change: (inout RenewalInfo) -> Void = { _ in })
        -> RenewalInfo
    {
        var info = RenewalInfo(
            originalTransactionID: 1, currentProductID: "pro", willAutoRenew: true, renewalDate: self.at(date),
            recentSubscriptionStartDate: self.at(0), environment: .production, signedDate: self.at(signed))
        change(&info)
        return info
    }

    private func line(_ transactions: [Transaction], _ infos: [RenewalInfo] = [], saysDate: Bool = true)
        -> ReportedOriginal
    {
        var line = ReportedOriginal(id: 1)
        for (place, one) in transactions.enumerated() {
            _ = line.fold(one, stamp: ReportStamp(signed: one.signedDate, content: Digest(high: 0, low: UInt64(place))))
        }
        for one in infos {
            _ = line.fold(
                one, renewalDate: saysDate ? one.renewalDate : nil,
                stamp: ReportStamp(signed: one.signedDate, content: .zero))
        }
        return line
    }

    private func expect(
        _ line: ReportedOriginal, _ expected: [(day: Double, state: RenewalState?)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (day, state) in expected {
            let found = line.standing(at: self.at(day), leewayMilliseconds: self.leeway)?.state
            #expect(found == state, "at day \(day)", sourceLocation: sourceLocation)
        }
    }

    @Test func `awaits news at its boundary for the leeway, and is overdue after it`() {
        let line = self.line([self.period(1, 0, 30)])
        self.expect(
            line,
            [
                (-1, nil), (0, .subscribed), (29.999, .subscribed), (30, .subscribed), (30.999, .subscribed),
                (31, .expired),
            ])
        #expect(line.standing(at: self.at(29), leewayMilliseconds: self.leeway)?.awaitsNews == false)
        #expect(line.standing(at: self.at(30), leewayMilliseconds: self.leeway)?.awaitsNews == true)
        #expect(line.standing(at: self.at(31), leewayMilliseconds: self.leeway)?.isOverdue == true)
        #expect(line.nextCrossing(after: self.at(0), leewayMilliseconds: self.leeway) == self.at(30))
        #expect(line.nextCrossing(after: self.at(30), leewayMilliseconds: self.leeway) == self.at(31))
        #expect(line.nextCrossing(after: self.at(31), leewayMilliseconds: self.leeway) == nil)
        #expect(line.nextCrossing(after: self.at(-1), leewayMilliseconds: self.leeway) == self.at(0))
    }

    @Test func `that will not renew ends at its boundary`() {
        let off = self.line([self.period(1, 0, 30)], [self.renewal(30, signed: 5) { $0.willAutoRenew = false }])
        self.expect(off, [(6, .subscribed), (29.999, .subscribed), (30, .expired)])
        #expect(off.standing(at: self.at(40), leewayMilliseconds: self.leeway)?.isOverdue == false)
        for intent in Int32(1)...5 {
            let ended = self.line(
                [self.period(1, 0, 30)],
                [self.renewal(30, signed: 30) { $0.expirationReason = ExpirationReason(rawValue: intent) }])
            self.expect(ended, [(29, .subscribed), (30, .expired)])
        }
    }

    @Test func `is in grace, then in retry, then expired`() {
        let line = self.line(
            [self.period(1, 0, 30)],
            [
                self.renewal(30, signed: 30) {
                    $0.isInBillingRetry = true
                    $0.gracePeriodExpirationDate = self.at(46)
                }
            ])
        self.expect(
            line,
            [
                (29, .subscribed), (30, .inGracePeriod), (45.9, .inGracePeriod), (46, .inBillingRetryPeriod),
                (89.9, .inBillingRetryPeriod), (90, .expired),
            ])
        #expect(line.nextCrossing(after: self.at(30), leewayMilliseconds: self.leeway) == self.at(46))
        #expect(line.nextCrossing(after: self.at(46), leewayMilliseconds: self.leeway) == self.at(90))
    }

    /// Real notifications have been seen with the grace date and without the retry flag.
    @Test func `is in grace by the date alone`() {
        let line = self.line(
            [self.period(1, 0, 30)], [self.renewal(30, signed: 30) { $0.gracePeriodExpirationDate = self.at(46) }])
        self.expect(line, [(30, .inGracePeriod), (46, .expired)])
    }

    @Test func `is not moved by renewal information of another period`() {
        // The renewal arrived; what was said about the period before does not count any more.
        let old = self.renewal(30, signed: 31) { $0.isInBillingRetry = true }
        let line = self.line([self.period(1, 0, 30), self.period(2, 32, 62)], [old])
        self.expect(line, [(31, .inBillingRetryPeriod), (32, .subscribed), (62, .subscribed), (63, .expired)])
        // What says no period speaks of the last one.
        let undated = self.line([self.period(1, 0, 30), self.period(2, 30, 60)], [old], saysDate: false)
        self.expect(undated, [(59, .subscribed), (60, .inBillingRetryPeriod)])
    }

    @Test func `whose transaction was missed is subscribed until the date that renewal information names`() {
        let line = self.line([self.period(1, 0, 30)], [self.renewal(60, signed: 30)])
        self.expect(
            line, [(30, .subscribed), (59.9, .subscribed), (60, .subscribed), (60.9, .subscribed), (61, .expired)])
        #expect(line.standing(at: self.at(40), leewayMilliseconds: self.leeway)?.awaitsNews == true)
        let ended = self.line([self.period(1, 0, 30)], [self.renewal(60, signed: 40) { $0.willAutoRenew = false }])
        self.expect(ended, [(59, .subscribed), (60, .expired)])
        let retried = self.line([self.period(1, 0, 30)], [self.renewal(60, signed: 60) { $0.isInBillingRetry = true }])
        self.expect(retried, [(59, .subscribed), (60, .inBillingRetryPeriod), (119.9, .inBillingRetryPeriod)])
        // It was over for a while and began again: what it was in between is known.
        let gap = self.line([self.period(1, 0, 30), self.period(2, 50, 80)], [self.renewal(80, signed: 50)])
        self.expect(gap, [(30.5, .subscribed), (31, .expired), (49, .expired), (50, .subscribed)])
    }

    @Test func `takes a renewal that came early at its own begin`() {
        let line = self.line([self.period(1, 0, 30), self.period(2, 30, 60, signed: 29)])
        #expect(line.head(at: self.at(29.9))?.id == 1)
        #expect(line.head(at: self.at(30))?.id == 2)
        #expect(line.nextCrossing(after: self.at(29), leewayMilliseconds: self.leeway) == self.at(30))
        self.expect(line, [(30, .subscribed), (59, .subscribed)])
    }

    @Test func `is revoked from the instant of the refund of its head, and of no other period`() {
        let refund: (inout Transaction) -> Void = { $0.revocation = Revocation(date: self.at(40), reason: .other) }
        let head = self.line([self.period(1, 0, 30), self.period(2, 30, 60, refund)])
        self.expect(head, [(39, .subscribed), (40, .revoked), (90, .revoked)])
        #expect(head.nextCrossing(after: self.at(30), leewayMilliseconds: self.leeway) == self.at(40))
        let older = self.line([self.period(1, 0, 30, refund), self.period(2, 30, 60)])
        self.expect(older, [(41, .subscribed)])
    }

    @Test func `begins with any report, a refund included`() {
        let line = self.line([
            self.period(5, 120, 150) { $0.revocation = Revocation(date: self.at(130), reason: .other) }
        ])
        self.expect(line, [(119, nil), (120, .subscribed), (130, .revoked)])
    }

    @Test func `leaves out what an upgrade left behind, from its begin`() {
        let line = self.line([
            self.period(1, 0, 30) { $0.isUpgraded = true }, self.period(2, 10, 40) { $0.productID = "max" },
        ])
        self.expect(line, [(-1, nil), (5, .subscribed), (10, .subscribed)])
        #expect(line.head(at: self.at(5))?.productID == "pro")
        #expect(line.head(at: self.at(20))?.productID == "max")
        #expect(line.trimmed(at: self.at(20)).periods.map(\.reported.productID) == ["max"])
        let unrelated = self.line([self.period(1, 0, 30) { $0.isUpgraded = true }, self.period(2, 30, 60)])
        self.expect(unrelated, [(5, nil), (30, .subscribed)])
        let alone = self.line([self.period(1, 0, 30) { $0.isUpgraded = true }])
        self.expect(alone, [(5, nil), (31, nil)])
    }

    /// Renewals come up to a day before and up to the leeway after the boundary: nobody sees a gap.
    @Test func `shows no expired gap while news comes within the leeway`() {
        for delay in stride(from: -1.0, to: 1.0, by: 0.125) {
            var known = [self.period(1, 0, 30)]
            for number in 1...12 {
                let begin = Double(number) * 30
                let arrival = begin + delay
                for now in stride(from: begin - 2, to: begin + 2, by: 0.25) {
                    if now >= arrival, known.count == number {
                        known.append(self.period(TransactionID(number + 1), begin, begin + 30, signed: arrival))
                    }
                    self.expect(self.line(known), [(now, .subscribed)])
                }
            }
        }
    }

    @Test func `foretells a renewal at its boundary, and an end where one is known`() {
        let renewing = self.line([self.period(1, 0, 30)], [self.renewal(30, signed: 0)])
        let forecast = renewing.forecast(after: self.at(5), leewayMilliseconds: self.leeway)
        #expect(forecast?.kind == .renewal && forecast?.at == self.at(30) && forecast?.state == .subscribed)
        let ending = self.line([self.period(1, 0, 30)], [self.renewal(30, signed: 5) { $0.willAutoRenew = false }])
        let end = ending.forecast(after: self.at(5), leewayMilliseconds: self.leeway)
        #expect(end?.kind == .expiry && end?.at == self.at(30) && end?.state == .expired)
        let awaited = renewing.forecast(after: self.at(30), leewayMilliseconds: self.leeway)
        #expect(awaited?.kind == .expiry && awaited?.at == self.at(31) && awaited?.state == .expired)
    }
}

@Suite struct `Entitlements of a reported account` {
    @Test func `have the latest purchase of a non-renewing subscription, unless it is refunded`() {
        func pass(_ id: TransactionID, revoked: Bool = false) -> Transaction {
            let bought = Instant(milliseconds: Int64(id) * 1_000)
            var transaction = Transaction(
                id: id, originalID: id, appBundleID: "a", productID: "pass", productType: .nonRenewable,
                purchaseDate: bought, originalPurchaseDate: bought, environment: .production,
                storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: bought)
            if revoked { transaction.revocation = Revocation(date: bought, reason: .other, type: .refundFull) }
            return transaction
        }
        func owned(_ transactions: [Transaction]) -> [TransactionID] {
            var record = ReportedRecord()
            for one in transactions {
                record.change(one.id) {
                    _ = $0.fold(one, stamp: ReportStamp(signed: one.signedDate, content: .zero))
                }
            }
            return ReportedLives.holdings(of: record, at: Instant(milliseconds: 9_000)).entitlements.map(\.value.id)
        }
        #expect(owned([pass(1), pass(2)]) == [2])
        #expect(owned([pass(1), pass(2, revoked: true)]) == [1])
    }
}

@Suite struct `An explanation of a reported account` {
    private func record(_ change: (inout ReportedOriginal) -> Void) -> AccountRecord {
        var record = AccountRecord(account: 1, app: 1)
        var reported = ReportedRecord()
        reported.change(7, change)
        record.reported = reported
        return record
    }

    private func transaction(revoked: Instant? = nil) -> Transaction {
        var transaction = Transaction(
            id: 7, originalID: 7, appBundleID: "com.example.app", productID: "pro", productType: .autoRenewable,
            purchaseDate: Instant(milliseconds: 1_000), originalPurchaseDate: Instant(milliseconds: 1_000),
            environment: .production, storefront: Storefront(countryCode: "USA"), reason: .purchase,
            signedDate: Instant(milliseconds: 1_000))
        transaction.subscriptionGroupID = "g"
        transaction.expirationDate = Instant(milliseconds: 5_000)
        transaction.revocation = revoked.map { Revocation(date: $0, reason: .other, type: .refundFull) }
        return transaction
    }

    private let app = AppState(
        number: 1, bundleID: "com.example.app", environment: .production, revision: 1, effective: .distantPast,
        committed: .distantPast, catalogue: .empty, catalogueRevision: 1, catalogueSource: "", settings: AppSettings(),
        clock: .running(offsetMilliseconds: 0))

    private func rules(_ record: AccountRecord, at milliseconds: Int64) -> [String] {
        let now = Instant(milliseconds: milliseconds)
        let status = explainStatus(of: record, inGroup: "g", rows: [], app: self.app, at: now)
        let product = explainEntitlement(of: record, toProduct: "pro", rows: [], app: self.app, at: now)
        #expect(status.isEntitled == product.isEntitled)
        #expect(
            status.isEntitled == (currentEntitlement(of: record, toProduct: "pro", app: self.app, at: now).value != nil)
        )
        return status.explanations.map(\.rule)
    }

    @Test func `names the rule that decides at each instant`() {
        let stamp = ReportStamp(signed: Instant(milliseconds: 1_000), content: Digest(high: 1, low: 1))
        let record = self.record { _ = $0.fold(self.transaction(), stamp: stamp) }
        #expect(self.rules(record, at: 999) == ["NEVER_SUBSCRIBED"], "it has not begun")
        #expect(self.rules(record, at: 4_999) == ["PERIOD_LASTS"])
        #expect(self.rules(record, at: 5_000) == ["AWAITS_RENEWAL"])
        #expect(self.rules(record, at: 5_000 + 86_400_000) == ["ENDED"])
        let refunded = self.record {
            _ = $0.fold(self.transaction(revoked: Instant(milliseconds: 2_000)), stamp: stamp)
        }
        #expect(self.rules(refunded, at: 3_000) == ["REVOKED"])
        let failed = self.record { line in
            _ = line.fold(self.transaction(), stamp: stamp)
            var info = RenewalInfo(
                originalTransactionID: 7, currentProductID: "pro", willAutoRenew: true,
                renewalDate: Instant(milliseconds: 5_000), recentSubscriptionStartDate: Instant(milliseconds: 1_000),
                environment: .production, signedDate: Instant(milliseconds: 5_000))
            info.isInBillingRetry = true
            info.gracePeriodExpirationDate = Instant(milliseconds: 9_000)
            _ = line.fold(info, renewalDate: Instant(milliseconds: 5_000), stamp: stamp)
        }
        #expect(self.rules(failed, at: 8_999) == ["GRACE_PERIOD"])
        #expect(self.rules(failed, at: 9_000) == ["BILLING_RETRY"])
    }
}
