package import PerchBase

/// The next changes that time alone brings to an account, at most `limit`, soonest first.
///
/// A test app decides its renewals itself, so they are played forward. Of an app of the App Store only what was reported is foreseen,
/// up to the first renewal of each line.
package func expectedChanges(
    of record: AccountRecord?, about scope: SummaryScope, app: AppState, at now: Instant, for reader: TextReader,
    limit: Int = 3
) -> [ExpectedChange] {
    guard let record else { return [] }
    var future = Future(record: record, app: app, now: now, scope: scope, reader: reader)
    var changes = app.isTestApp ? future.played(limit) : future.reported(limit)
    if scope == .all {
        for grant in record.grants {
            guard let until = grant.until, until > now else { continue }
            let name = TextReader.isolated(grant.name)
            changes.append(
                ExpectedChange(
                    at: until, message: reader.text(.grantWillEnd, ["product": name]), kind: .unspecified,
                    grant: grant.name))
        }
    }
    return Array(changes.sorted { ($0.at, $0.originalTransactionID) < ($1.at, $1.originalTransactionID) }.prefix(limit))
}

/// A branch of what may come.
private struct Future {
    var record: AccountRecord
    let app: AppState
    let now: Instant
    let scope: SummaryScope
    let reader: TextReader

    // MARK: Test apps

    /// Attempts beyond those that are shown: an account may have many lines that are not asked about.
    private static let stepsMax = 64

    mutating func played(_ limit: Int) -> [ExpectedChange] {
        var changes: [ExpectedChange] = []
        // No number of the branch is ever shown or stored.
        var numbers = TransactionNumbers(next: .max >> 2)
        var time = self.now
        for _ in 0..<Self.stepsMax {
            guard changes.count < limit, let next = self.nextInstant(after: time) else { break }
            time = next
            let before = self.record
            for fact in settleRenewals(of: before, app: self.app, at: next, numbers: &numbers) {
                self.record.apply(fact)
            }
            for line in before.lines where self.includes(line.latest) {
                guard let after = self.record.lines.first(where: { $0.originalID == line.originalID }),
                    let change = self.change(of: line, to: after, at: next)
                else { continue }
                changes.append(change)
            }
        }
        return changes
    }

    private func nextInstant(after time: Instant) -> Instant? {
        let instants = self.record.lines.compactMap { line -> Instant? in
            if line.awaitsAttempt, line.boundary > time, line.boundary < .distantFuture { return line.boundary }
            // A shared line renews with its purchaser's, which this account's record does not have.
            if line.awaitsAttempt, !line.isOwn { return nil }
            return line.nextCrossing(after: time, leewayMilliseconds: nil)?.at
        }
        return instants.min()
    }

    private func change(of line: Line, to after: Line, at instant: Instant) -> ExpectedChange? {
        let product = self.name(line.latest.productID)
        func change(_ kind: ForecastKind, _ key: TextKey, _ values: [String: String] = [:]) -> ExpectedChange {
            ExpectedChange(
                at: instant, message: self.reader.text(key, ["product": product].merging(values) { $1 }), kind: kind,
                originalTransactionID: line.originalID)
        }
        if after.latest.id != line.latest.id {
            let name = ["product": self.name(after.latest.productID)]
            guard let price = after.latest.price else { return change(.renewal, .willRenew, name) }
            return change(.renewal, .willRenewFor, name.merging(["price": self.reader.price(price)]) { $1 })
        }
        if line.retry == nil, let retry = after.retry {
            let isInGrace = retry.graceUntil != nil
            return change(.renewal, isInGrace ? .willFailWithAccess : .willFailWithoutAccess)
        }
        if line.awaitsAttempt, !line.isOwn, line.boundary == instant { return change(.renewal, .willRenew) }
        let before = line.state(at: instant.advanced(byMilliseconds: -1), leewayMilliseconds: nil)
        let state = after.state(at: instant, leewayMilliseconds: nil)
        guard before != state else { return nil }
        switch before {
        case .inGracePeriod: return change(.graceEnd, .willLoseAccess)
        case .inBillingRetryPeriod: return change(.retryEnd, .willStopTrying)
        default: return state.isEntitled ? nil : self.end(of: line, at: instant)
        }
    }

    /// A period ends. A customer who was asked about a price can still prevent it.
    private func end(of line: Line, at instant: Instant) -> ExpectedChange {
        var values = ["product": self.name(line.latest.productID)]
        var key = TextKey.willEnd
        let lapses = line.foreseenLapse(in: self.app.catalogue) == .didNotConsentToPriceIncrease
        if lapses, line.willAutoRenew, let increase = line.increase, increase.status == .pending {
            key = .willEndUnlessAgreedTo
            values["price"] = self.reader.price(increase.price)
        }
        return ExpectedChange(
            at: instant, message: self.reader.text(key, values), kind: .expiry,
            originalTransactionID: line.originalID)
    }

    // MARK: Apps of the App Store

    func reported(_ limit: Int) -> [ExpectedChange] {
        let leeway = self.app.renewalLeewayMilliseconds ?? 0
        return (self.record.reported?.originals ?? []).filter(\.isSubscription).flatMap { line in
            self.changes(of: line, leewayMilliseconds: leeway, limit)
        }
    }

    private func changes(of line: ReportedOriginal, leewayMilliseconds leeway: Int64, _ limit: Int) -> [ExpectedChange]
    {
        var changes: [ExpectedChange] = []
        var time = self.now
        while changes.count < limit, let forecast = line.forecast(after: time, leewayMilliseconds: leeway) {
            time = forecast.at
            guard let standing = line.standing(at: time.advanced(byMilliseconds: -1), leewayMilliseconds: leeway),
                self.includes(standing.transaction)
            else { continue }
            let info = line.renewalInfo(of: standing)
            let renewing = info.autoRenewPreference ?? standing.transaction.productID
            var values = ["product": self.name(standing.transaction.productID)]
            var key: TextKey?
            switch forecast.kind {
            case .renewal where info.isUnreported: key = .willEndUnreported
            case .renewal where info.priceIncreaseStatus == .pending: key = .willEndUnlessAgreed
            case .renewal:
                values["product"] = self.name(renewing)
                values["price"] = info.renewalPrice.map { self.reader.price($0) }
                key = info.renewalPrice == nil ? .willRenew : .willRenewFor
            case .graceEnd: key = .willLoseAccess
            case .retryEnd: key = .willStopTrying
            case .expiry where !forecast.state.isEntitled: key = .willEnd
            default: break
            }
            if let key {
                changes.append(
                    ExpectedChange(
                        at: forecast.at, message: self.reader.text(key, values), kind: forecast.kind,
                        originalTransactionID: line.id))
            }
            // What follows a renewal is not known before it is reported.
            if forecast.kind == .renewal { break }
        }
        return changes
    }

    private func includes(_ transaction: Transaction) -> Bool {
        switch self.scope {
        case .all: true
        case .group(let id): self.app.catalogue.groupID(of: transaction) == id
        case .product(let id): transaction.productID == id
        }
    }

    private func name(_ id: String) -> String { self.reader.name(ofProduct: id, in: self.app) }
}
