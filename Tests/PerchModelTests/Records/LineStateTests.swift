import PerchBase
import PerchModel
import Testing

/// A line, and its expected state just before, at and just after an instant.
struct BoundaryCase: Sendable, CustomTestStringConvertible {
    let name: String
    let leeway: Int64?
    let instant: Instant
    let before: RenewalState
    let after: RenewalState
    let prepare: @Sendable (inout Line) -> Void

    init(
        _ name: String, leeway: Int64? = nil, at instant: Instant, _ before: RenewalState, _ after: RenewalState,
        _ prepare: @escaping @Sendable (inout Line) -> Void
    ) {
        self.name = name
        self.leeway = leeway
        self.instant = instant
        self.before = before
        self.after = after
        self.prepare = prepare
    }

    var testDescription: String { self.name }
}

@Suite struct `the state of a line` {
    static let start = at("2026-01-10")
    static let end = at("2026-02-10")
    static let graceEnd = at("2026-02-26")
    static let retryEnd = at("2026-04-11")

    static func line() -> Line {
        Line(
            latest: Shop.transaction(1, of: "silver", from: Self.start, to: Self.end), preference: "silver",
            recentStart: Self.start)
    }

    static let grace = BillingRetry(failedAt: end, until: retryEnd, graceUntil: graceEnd)
    static let retry = BillingRetry(failedAt: end, until: retryEnd, graceUntil: nil)

    @Test(arguments: [
        BoundaryCase("with renewal off it expires at its boundary", at: Self.end, .subscribed, .expired) {
            $0.willAutoRenew = false
        },
        BoundaryCase("with its product withdrawn it expires at its boundary", at: Self.end, .subscribed, .expired) {
            $0.lapse = .productUnavailable
            $0.willAutoRenew = false
        },
        BoundaryCase(
            "while its attempt is awaited it stays subscribed at its boundary", at: Self.end, .subscribed, .subscribed
        ) { _ in },
        BoundaryCase(
            "outside test apps it also stays subscribed at its boundary", leeway: day, at: Self.end, .subscribed,
            .subscribed
        ) { _ in },
        BoundaryCase(
            "outside test apps it expires when the leeway has passed", leeway: day,
            at: Self.end.advanced(byMilliseconds: day), .subscribed, .expired
        ) { _ in },
        BoundaryCase(
            "without leeway it expires at its boundary", leeway: 0, at: Self.end, .subscribed, .expired
        ) { _ in },
        BoundaryCase(
            "with renewal off there is no leeway", leeway: day, at: Self.end, .subscribed, .expired
        ) { $0.willAutoRenew = false },
        BoundaryCase("a failed charge with grace begins the grace period", at: Self.end, .subscribed, .inGracePeriod) {
            $0.retry = Self.grace
        },
        BoundaryCase(
            "a failed charge without grace begins the retry period", at: Self.end, .subscribed, .inBillingRetryPeriod
        ) { $0.retry = Self.retry },
        BoundaryCase("grace ends in retry", at: Self.graceEnd, .inGracePeriod, .inBillingRetryPeriod) {
            $0.retry = Self.grace
        },
        BoundaryCase("retry ends expired", at: Self.retryEnd, .inBillingRetryPeriod, .expired) {
            $0.retry = Self.grace
        },
        BoundaryCase(
            "the leeway is not for a line whose charge failed", leeway: day, at: Self.end, .subscribed,
            .inBillingRetryPeriod
        ) { $0.retry = Self.retry },
        BoundaryCase(
            "a refund in the middle of a period revokes", at: at("2026-01-20"), .subscribed, .revoked
        ) { $0.latest.revocation = Revocation(date: at("2026-01-20"), reason: .other) },
        BoundaryCase("a refund in grace revokes", at: at("2026-02-12"), .inGracePeriod, .revoked) {
            $0.retry = Self.grace
            $0.latest.revocation = Revocation(date: at("2026-02-12"), reason: .other)
        },
        BoundaryCase("a refund in retry revokes", at: at("2026-03-12"), .inBillingRetryPeriod, .revoked) {
            $0.retry = Self.grace
            $0.latest.revocation = Revocation(date: at("2026-03-12"), reason: .other)
        },
        BoundaryCase("a refund after the end revokes", at: at("2026-05-12"), .expired, .revoked) {
            $0.retry = Self.grace
            $0.latest.revocation = Revocation(date: at("2026-05-12"), reason: .other)
        },
        BoundaryCase(
            "revoked comes before all else: the period's end changes nothing", at: Self.end, .revoked, .revoked
        ) {
            $0.retry = Self.grace
            $0.latest.revocation = Revocation(date: at("2026-01-20"), reason: .other)
        },
    ])
    func `changes at exactly the instant, not a millisecond before or after`(_ row: BoundaryCase) {
        var line = Self.line()
        row.prepare(&line)
        let states = [-1, 0, 1].map {
            line.state(at: row.instant.advanced(byMilliseconds: $0), leewayMilliseconds: row.leeway)
        }
        #expect(states == [row.before, row.after, row.after])
    }

    @Test func `a line that awaits its attempt in a test app stays subscribed however late the attempt is`() {
        let line = Self.line()
        #expect(line.attemptDue == Self.end)
        #expect(line.state(at: .distantFuture, leewayMilliseconds: nil) == .subscribed)
        #expect(line.nextCrossing(after: Self.start, leewayMilliseconds: nil) == nil)
    }

    @Test func `the leeway is a day in production, two minutes in the sandbox, and without end in test apps`() {
        #expect(Shop.app(environment: .xcode).renewalLeewayMilliseconds == nil)
        #expect(Shop.app(environment: .production).renewalLeewayMilliseconds == day)
        #expect(Shop.app(environment: .sandbox).renewalLeewayMilliseconds == 120_000)
    }

    @Test(arguments: [
        BoundaryCase("renewal off", at: Self.end, .subscribed, .expired) { $0.willAutoRenew = false },
        BoundaryCase("a failed charge", at: Self.end, .subscribed, .expired) { $0.retry = Self.retry },
        BoundaryCase("a product withdrawn", at: Self.end, .subscribed, .expired) { $0.lapse = .productUnavailable },
        BoundaryCase("a refund", at: Self.end, .subscribed, .expired) {
            $0.latest.revocation = Revocation(date: at("2026-01-20"), reason: .other)
        },
        BoundaryCase("no end", at: Self.end, .subscribed, .expired) { $0.latest.expirationDate = nil },
        BoundaryCase("a purchaser in the family, with whom it renews", at: Self.end, .subscribed, .expired) {
            $0.latest.ownership = .familyShared
        },
    ])
    func `the store attempts nothing for a line with`(_ row: BoundaryCase) {
        var line = Self.line()
        row.prepare(&line)
        #expect(line.attemptDue == nil)
    }

    @Test(
        arguments: [
            (Self.start, ForecastKind.renewal, Self.end, RenewalState.subscribed, true, nil),
            (Self.start, .expiry, Self.end, .expired, false, nil),
            (Self.end, .graceEnd, Self.graceEnd, .inBillingRetryPeriod, true, Self.grace),
            (Self.graceEnd, .retryEnd, Self.retryEnd, .expired, true, Self.grace),
            (Self.end, .retryEnd, Self.retryEnd, .expired, true, Self.retry),
        ] as [(Instant, ForecastKind, Instant, RenewalState, Bool, BillingRetry?)])
    func `a forecast has the next automatic change and its instant`(
        _ now: Instant, _ kind: ForecastKind, _ instant: Instant, _ state: RenewalState, _ renews: Bool,
        _ retry: BillingRetry?
    ) {
        var line = Self.line()
        line.willAutoRenew = renews
        line.retry = retry
        #expect(
            line.forecast(after: now, leewayMilliseconds: nil)
                == Forecast(at: instant, kind: kind, originalTransactionID: 1, state: state))
    }

    @Test func `nothing is forecast for a line that has ended`() {
        var line = Self.line()
        line.willAutoRenew = false
        #expect(line.forecast(after: Self.end, leewayMilliseconds: nil) == nil)
        line.retry = Self.grace
        #expect(line.forecast(after: Self.retryEnd, leewayMilliseconds: nil) == nil)
    }
}

@Suite struct `crossings` {
    /// A line with anything that a record could hold, and more.
    static func randomLine(using random: inout SplitMix64) -> Line {
        func instant() -> Instant { Instant(milliseconds: Int64.random(in: 0...12, using: &random)) }
        let start = instant()
        let end = start.advanced(byMilliseconds: Int64.random(in: 0...6, using: &random))
        var line = Line(
            latest: Shop.transaction(
                1, of: "silver", from: start, to: Int.random(in: 0..<20, using: &random) == 0 ? nil : end),
            preference: "silver", recentStart: start)
        line.willAutoRenew = Bool.random(using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 {
            let until = end.advanced(byMilliseconds: Int64.random(in: 0...8, using: &random))
            let grace = end.advanced(byMilliseconds: Int64.random(in: 0...8, using: &random))
            line.retry = BillingRetry(
                failedAt: end, until: until, graceUntil: Bool.random(using: &random) ? grace : nil)
        }
        if Int.random(in: 0..<5, using: &random) == 0 { line.lapse = .productUnavailable }
        if Int.random(in: 0..<4, using: &random) == 0 {
            line.latest.revocation = Revocation(date: instant(), reason: .other)
        }
        return line
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `a line's state stays until the next crossing, and changes there as forecast`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<150 {
            let line = Self.randomLine(using: &random)
            let leeway: Int64? = Bool.random(using: &random) ? nil : Int64.random(in: 0...5, using: &random)
            func state(_ milliseconds: Int64) -> RenewalState {
                line.state(at: Instant(milliseconds: milliseconds), leewayMilliseconds: leeway)
            }
            for now in Int64(-2)...40 {
                let crossing = line.nextCrossing(after: Instant(milliseconds: now), leewayMilliseconds: leeway)
                let firstChange = (now...45).first { state($0) != state(now) }
                if crossing?.at.milliseconds != firstChange || crossing.map({ $0.state }) != firstChange.map(state) {
                    Issue.record("seed \(seed): after \(now) \(line) crosses at \(String(describing: crossing))")
                    return
                }
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `a view's value stays until its next crossing, and a status changes there`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            let record = Self.randomRecord(using: &random)
            let app = Shop.app(environment: Bool.random(using: &random) ? .xcode : .production)
            let near = Array(-2...30 as ClosedRange<Int64>)
            let instants = near + near.map { $0 + day }
            var statuses: [Viewed<SubscriptionStatuses>] = []
            var silver: [Viewed<Verified<Transaction>?>] = []
            for now in instants.map(Instant.init(milliseconds:)) {
                statuses.append(subscriptionStatuses(of: record, inGroup: "G", app: app, at: now))
                silver.append(currentEntitlement(of: record, toProduct: "silver", app: app, at: now))
            }
            // From the last instant backwards: when each value changes next.
            var (statusChange, silverChange): (Int64?, Int64?) = (nil, nil)
            for index in instants.indices.reversed() {
                if statuses[index].nextCrossing?.milliseconds != statusChange {
                    Issue.record(
                        "seed \(seed): statuses of \(instants[index]) change at \(String(describing: statusChange))")
                    return
                }
                if let silverChange, silver[index].nextCrossing.map({ $0.milliseconds > silverChange }) ?? true {
                    Issue.record("seed \(seed): entitlement of \(instants[index]) changes at \(silverChange)")
                    return
                }
                guard index > 0 else { break }
                if statuses[index].value != statuses[index - 1].value { statusChange = instants[index] }
                if silver[index].value != silver[index - 1].value { silverChange = instants[index] }
            }
        }
    }

    /// An own line and two shared ones, of two products.
    static func randomRecord(using random: inout SplitMix64) -> AccountRecord {
        var record = AccountRecord(account: 1, app: 1)
        for (index, product) in ["silver", "gold", "silver"].enumerated() {
            var line = Self.randomLine(using: &random)
            line.latest.id = TransactionID(index)
            line.latest.originalID = TransactionID(index)
            line.latest.productID = product
            if index > 0 { line.latest.ownership = .familyShared }
            record.lines.append(line)
        }
        return record
    }
}
