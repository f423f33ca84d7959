package import PerchBase

/// The purchases that a customer began outside the app, oldest first. Only facts change them.
package func purchaseIntents(of record: AccountRecord?) -> Viewed<[PurchaseIntent]> {
    Viewed(value: record?.intents ?? [])
}

/// The store's messages for a customer, oldest first.
///
/// | Reason | From | Until |
/// |---|---|---|
/// | billingIssue | the failure, and each reminder | the next reminder, or the end of the retry period |
/// | priceIncreaseConsent | it was asked | it is answered, or the period ends |
/// | winBackOffer | the best offer can be had | it cannot, or another one is better |
/// | generic | it was posted | a day after |
///
/// Days scale with the time rate: a retry period has sixty. Own lines only, because an account that is shared with pays
/// nothing.
package func storeMessages(of record: AccountRecord?, app: AppState, at now: Instant) -> Viewed<[StoreMessage]> {
    holdings(of: record, in: app, at: now).messages
}

extension TestHoldings {
    var messages: Viewed<[StoreMessage]> {
        var viewed = Viewed<[StoreMessage]>(value: [])
        guard let record = self.record else { return viewed }
        let (app, now, leeway) = (self.app, self.now, self.leeway)
        for line in record.lines {
            // The state of a shared line decides whether the account's own line was lost.
            viewed.note(line.nextCrossing(after: now, leewayMilliseconds: leeway)?.at, about: line, in: .unspecified)
            guard line.isOwn else { continue }
            let state = line.state(at: now, leewayMilliseconds: leeway)
            if state == .inGracePeriod || state == .inBillingRetryPeriod, let retry = line.retry {
                let (since, next) = billingReminder(
                    of: retry, days: line.isCommitted ? 90 : 60, at: now)
                viewed.tell(.billingIssue, since: since, about: line, productID: line.latest.productID)
                viewed.note(next, about: line, in: state)
            }
            if state == .subscribed, line.awaitsAttempt, line.keepsPlan,
                let increase = line.increase, increase.status == .pending
            {
                viewed.tell(
                    .priceIncreaseConsent, since: increase.asked, about: line, productID: line.latest.productID,
                    price: increase.price)
            }
            let winBacks = OfferRules(record: record, groupID: line.groupID, app: app, now: now).winBacks
            if let best = winBacks.eligible.first {
                viewed.tell(
                    .winBackOffer, since: best.window.from, about: line, productID: best.product.id,
                    offerID: best.offer.offer.id)
            }
            viewed.note(winBacks.nextChange, about: line, in: state)
        }
        if let posted = record.messagePosted {
            let end = posted.advanced(byMilliseconds: max(app.settings.timeRate.retryMilliseconds / 60, 1))
            if now < end {
                viewed.value.append(StoreMessage(reason: .generic, since: posted))
                viewed.note(end, about: nil, in: .unspecified)
            }
        }
        viewed.value.sort { ($0.since, $0.reason.rawValue) < ($1.since, $1.reason.rawValue) }
        return viewed
    }
}

/// Hours after a failed charge at which its customer is reminded: on days 1 to 3 every 24, on 4 to 16 every 72,
/// on 17 to 30 every 96, on later days every 120.
private let reminderHours: [Int64] = {
    let spans: [(fromDay: Int64, toDay: Int64, every: Int64)] = [(1, 3, 24), (4, 16, 72), (17, 30, 96), (31, 90, 120)]
    return spans.flatMap { span in
        Array(stride(from: (span.fromDay - 1) * 24, to: span.toDay * 24, by: Int(span.every)))
    }
}()

/// The reminder in force, and the next one before the retry period ends.
private func billingReminder(of retry: BillingRetry, days: Int64, at now: Instant) -> (since: Instant, next: Instant?) {
    let length = retry.until.milliseconds(since: retry.failedAt)
    var since = retry.failedAt
    for hours in reminderHours where hours < days * 24 {
        // Multiplies first, because dividing first would lose milliseconds. A length of years times hours of months
        // does not overflow.
        let reminder = retry.failedAt.advanced(byMilliseconds: length * hours / (days * 24))
        if reminder > now { return (since, reminder) }
        since = reminder
    }
    return (since, nil)
}

extension Viewed<[StoreMessage]> {
    fileprivate mutating func tell(
        _ reason: MessageReason, since: Instant, about line: Line, productID: String, offerID: String = "",
        price: Money? = nil
    ) {
        self.value.append(
            StoreMessage(
                reason: reason, since: since, originalTransactionID: line.originalID, productID: productID,
                offerID: offerID, price: price))
    }

    /// The messages may change at `instant`.
    fileprivate mutating func note(_ instant: Instant?, about line: Line?, in state: RenewalState) {
        guard let instant, instant < .distantFuture else { return }
        self.outlook.note(
            Forecast(at: instant, kind: .message, originalTransactionID: line?.originalID ?? 0, state: state))
    }
}
