import PerchBase

/// Explanations by the rules of `ReportedOriginal.standing`.
extension ReportedHoldings {
    package func explanations(
        of statuses: SubscriptionStatuses, inGroup groupID: String, rows: [Transaction]
    ) -> [Explanation] {
        statuses.statuses.compactMap { status in
            self.record?.reported?.original(status.transaction.value.originalID).flatMap {
                explanation(of: $0, leewayMilliseconds: self.leeway, at: self.now)
            }
        }
    }

    package func summary(ofEnded explanations: [Explanation]) -> String {
        explanations.first.map { " " + $0.message } ?? ""
    }

    package func reason(_ reason: EffectiveReason, lines: Int) -> String { "" }

    /// Those that entitle first.
    package func explanations(
        ofProduct productID: String, counting: Transaction?, rows: [Transaction]
    ) -> [Explanation] {
        let explanations = self.originals.compactMap { original -> Explanation? in
            guard original.registers.values.contains(where: { $0.reported.productID == productID }) else { return nil }
            if original.isSubscription {
                guard var explained = explanation(of: original, leewayMilliseconds: self.leeway, at: self.now) else {
                    return nil
                }
                if let held = original.head(at: self.now), held.productID != productID {
                    explained.rule = ExplanationRule.otherProductHeld.rawValue
                    explained.message =
                        "\(productID) was followed by transaction \(held.id) of \(held.productID). "
                        + explained.message
                    explained.isEntitled = false
                }
                return explained
            }
            return original.periods.last.map { explanation(ofPurchase: $0.transaction, at: self.now) }
        }
        return explanations.filter(\.isEntitled) + explanations.filter { !$0.isEntitled }
    }
}

private func explanation(
    of line: ReportedOriginal, leewayMilliseconds leeway: Int64, at now: Instant
) -> Explanation? {
    guard let standing = line.standing(at: now, leewayMilliseconds: leeway) else { return nil }
    let transaction = standing.transaction
    let info = line.renewal?.info
    let end = transaction.expirationDate ?? now
    let shared = transaction.ownership == .familyShared ? ", which is shared," : ""
    let what = "transaction \(transaction.id) of \(transaction.productID)\(shared)"
    var facts: [ExplainedFact] = []
    func fact(_ field: String, _ value: String) {
        facts.append(ExplainedFact(transactionID: transaction.id, field: field, value: value))
    }
    let rule: ExplanationRule
    let message: String
    switch standing.state {
    case .revoked:
        rule = .revoked
        let revocation = transaction.revocation
        fact("revocation.date_ms", "\(revocation?.date ?? now)")
        message =
            revocation?.type == .familyRevoke
            ? "\(what) is no longer shared since \(revocation?.date ?? now)."
            : "\(what) was refunded on \(revocation?.date ?? now)."
    case .subscribed where standing.awaitsNews:
        rule = .awaitsRenewal
        fact("expiration_date_ms", "\(end)")
        message =
            "the period of \(what) ended at \(end), and nothing says that the line has ended; it stays in force for the app's leeway, because the news may be late."
    case .subscribed:
        rule = .periodLasts
        fact("expiration_date_ms", "\(end)")
        message = "the period of \(what) lasts until \(end)."
    case .inGracePeriod:
        rule = .gracePeriod
        fact("grace_period_expiration_date_ms", "\(info?.gracePeriodExpirationDate ?? now)")
        message =
            "a charge failed, and \(what) entitles until the grace period ends at \(info?.gracePeriodExpirationDate ?? now)."
    case .inBillingRetryPeriod:
        rule = .billingRetry
        fact("is_in_billing_retry", "true")
        message = "a charge for the period after \(end) failed, and the App Store tries again."
    default:
        fact("expiration_date_ms", "\(end)")
        if let reason = info?.expirationReason { fact("expiration_reason", "\(reason)") }
        (rule, message) = ending(of: what, end, info, isOverdue: standing.isOverdue)
    }
    let next = line.forecast(after: now, leewayMilliseconds: leeway)
    return Explanation(
        rule, message.capitalisedFirst, originalTransactionID: line.id, state: standing.state,
        isEntitled: standing.state.isEntitled, facts: facts, next: next,
        nextMessage: next.map {
            // What does not entitle now does not stop then.
            standing.state.isEntitled && !$0.state.isEntitled
                ? "At \($0.at) it no longer entitles: \($0.state)." : "At \($0.at) it is \($0.state)."
        } ?? "Nothing changes by itself.")
}

private func ending(
    of what: String, _ end: Instant, _ info: RenewalInfo?, isOverdue: Bool
) -> (ExplanationRule, String) {
    if isOverdue {
        return (.ended, "the period of \(what) ended at \(end), and its news did not come within the app's leeway.")
    }
    switch info?.expirationReason {
    case .autoRenewDisabled?:
        return (.renewalOff, "the period of \(what) ended at \(end), and renewal was switched off.")
    case .billingError?:
        return (.retryInVain, "the period of \(what) ended at \(end), and the App Store could not charge.")
    case .didNotConsentToPriceIncrease?:
        return (
            .priceNotAgreed,
            "the period of \(what) ended at \(end), and the customer had not agreed to the higher price."
        )
    case .productUnavailable?:
        return (.productWithdrawn, "the period of \(what) ended at \(end), and the product was no longer for sale.")
    default:
        return info?.willAutoRenew == false
            ? (.renewalOff, "the period of \(what) ended at \(end), and renewal was switched off.")
            : (.ended, "the period of \(what) ended at \(end).")
    }
}

private func explanation(ofPurchase purchase: Transaction, at now: Instant) -> Explanation {
    if purchase.productType == .consumable {
        return Explanation(
            .consumable, "\(purchase.productID) is a consumable, and those never entitle.",
            originalTransactionID: purchase.originalID)
    }
    if let revocation = purchase.revocation, revocation.date <= now {
        let verb = revocation.type == .familyRevoke ? "is no longer shared since" : "was refunded on"
        return Explanation(
            .refunded, "Transaction \(purchase.id) \(verb) \(revocation.date).",
            originalTransactionID: purchase.originalID,
            facts: [
                ExplainedFact(transactionID: purchase.id, field: "revocation.date_ms", value: "\(revocation.date)")
            ])
    }
    return Explanation(
        purchase.productType == .nonRenewable ? .ownedWithoutEnd : .owned,
        "Transaction \(purchase.id) of \(purchase.purchaseDate) was not refunded or revoked.",
        originalTransactionID: purchase.originalID, isEntitled: purchase.purchaseDate <= now,
        facts: [
            ExplainedFact(transactionID: purchase.id, field: "purchase_date_ms", value: "\(purchase.purchaseDate)")
        ])
}
