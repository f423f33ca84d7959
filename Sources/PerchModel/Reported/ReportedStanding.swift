package import PerchBase

/// A reported line at an instant.
package struct ReportedStanding: Hashable, Sendable {
    package var state: RenewalState
    package var transaction: Transaction
    /// The period is over, and nothing says that the line has ended: its renewal is awaited.
    package var awaitsNews = false
    /// News was awaited for the whole leeway and did not come.
    package var isOverdue = false
}

extension ReportedOriginal {
    /// Apple retries a failed charge for 60 days.
    private static let retryMilliseconds: Int64 = 60 * 86_400_000

    /// The line at an instant; nil before its first period.
    ///
    /// Boundaries are half-open: at exactly the end of a period it is over. The first rule that applies decides. The
    /// status that Apple computed is compared and counted elsewhere, and never folded.
    package func standing(at now: Instant, leewayMilliseconds: Int64) -> ReportedStanding? {
        let periods = self.periods(at: now)
        guard let place = periods.lastIndex(where: { $0.reported.purchaseDate <= now }) else { return nil }
        let head = periods[place].transaction
        var standing = ReportedStanding(state: .expired, transaction: head)
        if let revocation = head.revocation, revocation.date <= now {
            standing.state = .revoked
            return standing
        }
        guard let end = head.expirationDate, now >= end else {
            standing.state = .subscribed
            return standing
        }
        let renewal = self.spoken(of: head, isLast: place == periods.count - 1)
        // Renewal information of a later period: the news of that period is still to come.
        if let next = renewal?.renewalDate, next > end, now < next {
            standing.state = .subscribed
            standing.awaitsNews = true
            return standing
        }
        let boundary = max(end, renewal?.renewalDate ?? end)
        if let info = renewal?.info {
            if let grace = info.gracePeriodExpirationDate, now < grace {
                standing.state = .inGracePeriod
                return standing
            }
            if info.isInBillingRetry, now < boundary.advanced(byMilliseconds: Self.retryMilliseconds) {
                standing.state = .inBillingRetryPeriod
                return standing
            }
            if info.expirationReason != nil || !info.willAutoRenew { return standing }
        }
        if now < boundary.advanced(byMilliseconds: leewayMilliseconds) {
            standing.state = .subscribed
            standing.awaitsNews = true
        } else {
            standing.isOverdue = true
        }
        return standing
    }

    /// The renewal information, if it is about this period: its renewal date is the period's end, or it has none. Of the last
    /// known period it may also be about a later one.
    private func spoken(of head: Transaction, isLast: Bool) -> RenewalRegister? {
        guard let renewal = self.renewal else { return nil }
        guard let date = renewal.renewalDate, let end = head.expirationDate else { return isLast ? renewal : nil }
        return date == end || (isLast && date > end) ? renewal : nil
    }

    /// The end of the latest period that has begun: a grace period that was reported with it counts, what was refunded does not.
    func serviceEnd(at now: Instant) -> Instant? {
        let periods = self.periods(at: now)
        guard let place = periods.lastIndex(where: { $0.reported.purchaseDate <= now }),
            let end = periods[place].reported.expirationDate
        else { return nil }
        let renewal = self.spoken(of: periods[place].transaction, isLast: place == periods.count - 1)
        let served = max(end, renewal?.info.gracePeriodExpirationDate ?? end)
        return min(served, periods[place].reported.revocation?.date ?? served)
    }

    /// Where the leeway of the period at `now` begins, if that period is over.
    func leewayStart(at now: Instant) -> Instant {
        let periods = self.periods(at: now)
        guard let place = periods.lastIndex(where: { $0.reported.purchaseDate <= now }),
            let end = periods[place].reported.expirationDate
        else { return .distantFuture }
        let renewal = self.spoken(of: periods[place].transaction, isLast: place == periods.count - 1)
        return max(end, renewal?.renewalDate ?? end)
    }

    /// All instants at which the standing can change by itself.
    func instants(leewayMilliseconds: Int64) -> [Instant] {
        var instants: [Instant] = []
        for register in self.registers.values {
            instants.append(register.reported.purchaseDate)
            if let end = register.reported.expirationDate {
                instants += [end, end.advanced(byMilliseconds: leewayMilliseconds)]
            }
            if let revocation = register.reported.revocation { instants.append(revocation.date) }
        }
        if let renewal = self.renewal {
            if let grace = renewal.info.gracePeriodExpirationDate { instants.append(grace) }
            let last = self.periods.last?.reported.expirationDate
            if let boundary = [renewal.renewalDate, last].compactMap({ $0 }).max() {
                instants += [
                    boundary, boundary.advanced(byMilliseconds: leewayMilliseconds),
                    boundary.advanced(byMilliseconds: Self.retryMilliseconds),
                ]
            }
            for register in self.periods {
                guard let end = register.reported.expirationDate else { continue }
                instants.append(end.advanced(byMilliseconds: Self.retryMilliseconds))
            }
        }
        return instants
    }

    /// The next instant after `now` at which the standing differs; nil if only news can change it.
    package func nextCrossing(after now: Instant, leewayMilliseconds: Int64) -> Instant? {
        let before = self.standing(at: now, leewayMilliseconds: leewayMilliseconds)
        let later = Set(self.instants(leewayMilliseconds: leewayMilliseconds)).filter {
            $0 > now && $0 < .distantFuture
        }
        return later.sorted().first {
            self.standing(at: $0, leewayMilliseconds: leewayMilliseconds) != before
        }
    }

    /// When it stops entitling if nothing more is reported; nil if it does not entitle, or never stops.
    package func entitlementEnd(after now: Instant, leewayMilliseconds: Int64) -> Instant? {
        var instant = now
        while self.standing(at: instant, leewayMilliseconds: leewayMilliseconds)?.state.isEntitled == true {
            guard let next = self.nextCrossing(after: instant, leewayMilliseconds: leewayMilliseconds) else {
                return nil
            }
            instant = next
        }
        return instant > now ? instant : nil
    }

    /// The next change: the renewal if one is due, else the next change of the state.
    package func forecast(after now: Instant, leewayMilliseconds: Int64) -> Forecast? {
        guard let standing = self.standing(at: now, leewayMilliseconds: leewayMilliseconds) else {
            return self.nextCrossing(after: now, leewayMilliseconds: leewayMilliseconds).map {
                self.forecast(at: $0, .renewal, leewayMilliseconds)
            }
        }
        if standing.state == .subscribed, !standing.awaitsNews, let end = standing.transaction.expirationDate,
            self.standing(at: end, leewayMilliseconds: leewayMilliseconds)?.state == .subscribed
        {
            return self.forecast(at: end, .renewal, leewayMilliseconds)
        }
        guard let next = self.nextCrossing(after: now, leewayMilliseconds: leewayMilliseconds) else { return nil }
        let kind: ForecastKind =
            switch standing.state {
            case .inGracePeriod: .graceEnd
            case .inBillingRetryPeriod: .retryEnd
            case .subscribed: .expiry
            default: .renewal
            }
        return self.forecast(at: next, kind, leewayMilliseconds)
    }

    private func forecast(at instant: Instant, _ kind: ForecastKind, _ leewayMilliseconds: Int64) -> Forecast {
        let then = self.standing(at: instant, leewayMilliseconds: leewayMilliseconds)
        return Forecast(
            at: instant, kind: kind, originalTransactionID: self.id, state: then?.state ?? RenewalState(rawValue: 0))
    }
}
