package import PerchBase

/// The rule that decided about a line, a product or a group.
package enum ExplanationRule: String, Hashable, Sendable, CaseIterable {
    case neverSubscribed = "NEVER_SUBSCRIBED"
    case revoked = "REVOKED"
    case unverified = "UNVERIFIED"
    case periodLasts = "PERIOD_LASTS"
    case awaitsRenewal = "AWAITS_RENEWAL"
    case gracePeriod = "GRACE_PERIOD"
    case billingRetry = "BILLING_RETRY"
    case renewalOff = "RENEWAL_OFF"
    case retryInVain = "RETRY_IN_VAIN"
    case priceNotAgreed = "PRICE_NOT_AGREED"
    case productWithdrawn = "PRODUCT_WITHDRAWN"
    case ended = "ENDED"
    case otherProductHeld = "OTHER_PRODUCT_HELD"
    case owned = "OWNED"
    case ownedWithoutEnd = "OWNED_WITHOUT_END"
    case neverBought = "NEVER_BOUGHT"
    case refunded = "REFUNDED"
    case consumable = "CONSUMABLE"
    case unknownProduct = "UNKNOWN_PRODUCT"
    case granted = "GRANTED"
}

extension Explanation {
    init(
        _ rule: ExplanationRule, _ message: String, originalTransactionID: TransactionID? = nil,
        state: RenewalState = .unspecified, isEntitled: Bool = false, facts: [ExplainedFact] = [],
        next: Forecast? = nil, nextMessage: String = "Nothing changes by itself."
    ) {
        self.init(
            rule: rule.rawValue, message: message, originalTransactionID: originalTransactionID, state: state,
            isEntitled: isEntitled, facts: facts, nextChange: next, nextMessage: nextMessage)
    }
}

extension Explanation {
    /// The explanation of something whose signature is not trusted: whatever it says, it entitles to nothing.
    func unlessUnverified(_ failure: VerificationFailure, _ transaction: TransactionID) -> Explanation {
        guard failure != .noFailure else { return self }
        var explained = self
        explained.rule = ExplanationRule.unverified.rawValue
        explained.isEntitled = false
        explained.message =
            "Transaction \(transaction) is not verified (\(failure)), so it entitles to nothing. Apart from that: "
            + self.message
        explained.facts.insert(
            ExplainedFact(transactionID: transaction, field: "verification_error", value: "\(failure)"), at: 0)
        return explained
    }
}

extension SubscriptionStatus {
    /// Why it is not trusted: its transaction first.
    fileprivate var failure: VerificationFailure {
        self.transaction.isVerified ? self.renewalInfo.failure : self.transaction.failure
    }
}

/// Explains an account's statuses in a group.
///
/// `rows` are the account's newest transactions of the group. They add what a record does not have: older refunded
/// periods, and periods that an upgrade left behind.
package func explainStatus(
    of record: AccountRecord?, inGroup group: String, rows: [Transaction], app: AppState, at now: Instant
) -> Explanations {
    let lines = explainLines(of: record, inGroup: group, rows: rows, app: app, at: now)
    return lines.isEntitled ? lines : lines.beside(record?.grants(giving: group, app: app, at: now) ?? [])
}

/// Without the grants that give what the group gives.
private func explainLines(
    of record: AccountRecord?, inGroup group: String, rows: [Transaction], app: AppState, at now: Instant
) -> Explanations {
    let holdings = holdings(of: record, in: app, at: now)
    let statuses = holdings.statuses(inGroup: group).value
    guard !statuses.statuses.isEmpty else {
        let known = app.catalogue.group(group) != nil
        let sentence =
            known
            ? "The account never subscribed in group \(group)."
            : "The account never subscribed in group \(group), which is not in the catalogue of \(app.bundleID)."
        return Explanations(
            message: sentence, isEntitled: false, explanations: [Explanation(.neverSubscribed, sentence)])
    }
    var explanations = holdings.explanations(of: statuses, inGroup: group, rows: rows)
    guard let effective = statuses.effectiveIndex, effective < explanations.count else {
        return Explanations(
            message: "Nothing entitles the account in group \(group)." + holdings.summary(ofEnded: explanations),
            isEntitled: false, explanations: explanations)
    }
    let counting = statuses.statuses[effective].transaction.value
    explanations.insert(explanations.remove(at: effective), at: 0)
    let message =
        "Transaction \(counting.id) of \(counting.productID) entitles the account in group \(group)"
        + holdings.reason(statuses.effectiveReason, lines: explanations.count) + ". " + explanations[0].message
    return Explanations(message: message, isEntitled: true, explanations: explanations)
}

/// Explains why an account is entitled to a product, or not.
///
/// `rows`: the account's newest transactions of the product.
package func explainEntitlement(
    of record: AccountRecord?, toProduct productID: String, rows: [Transaction], app: AppState, at now: Instant
) -> Explanations {
    func answer(_ explanations: [Explanation], isEntitled: Bool) -> Explanations {
        let verb = isEntitled ? "is entitled" : "is not entitled"
        return Explanations(
            message: "The account \(verb) to \(productID). " + (explanations.first?.message ?? ""),
            isEntitled: isEntitled, explanations: explanations)
    }
    let product = app.catalogue.product(productID)
    let holdings = holdings(of: record, in: app, at: now)
    var outlook = Outlook()
    let counting = holdings.entitlement(toProduct: productID, noting: &outlook)?.verifiedValue
    let explanations = holdings.explanations(ofProduct: productID, counting: counting, rows: rows)
    if !explanations.isEmpty { return answer(explanations, isEntitled: counting != nil) }
    if let product, product.type == .consumable {
        return answer(
            [Explanation(.consumable, "\(productID) is a consumable, and those never entitle.")], isEntitled: false)
    }
    if let refunded = rows.first(where: { $0.productID == productID && $0.revocation != nil }) {
        return answer([explanation(ofRefunded: refunded)], isEntitled: false)
    }
    if product == nil, rows.isEmpty {
        return answer(
            [
                Explanation(
                    .unknownProduct,
                    "\(productID) is not in the catalogue of \(app.bundleID), and the account never bought it.")
            ], isEntitled: false)
    }
    return answer([Explanation(.neverBought, "The account never bought \(productID).")], isEntitled: false)
}

extension AccountRecord {
    /// Grants in force of entitlements that subscriptions of a group give, as the app's mapping says.
    fileprivate func grants(giving group: String, app: AppState, at now: Instant) -> [EntitlementGrant] {
        let catalogue = app.catalogue
        let names = catalogue.entitlements.filter { rule in
            rule.groupID == group || catalogue.product(rule.productID)?.subscription?.groupID == group
        }.map(\.name)
        return self.grants.filter { $0.lasts(at: now) && names.contains($0.name) }
    }
}

extension Explanations {
    /// Where the store gives nothing, grants may.
    fileprivate func beside(_ grants: [EntitlementGrant]) -> Explanations {
        guard !grants.isEmpty else { return self }
        var explained = self
        explained.isEntitled = true
        explained.explanations = grants.map { explanation(of: $0) } + self.explanations
        explained.message =
            grants.map { explanation(of: $0).message }.joined(separator: " ") + " Apart from that: " + self.message
        return explained
    }
}

private func explanation(of grant: EntitlementGrant) -> Explanation {
    let end = grant.until.map { "until \($0)" } ?? "without an end"
    return Explanation(
        .granted, "An administrator granted \(grant.name) at \(grant.since), \(end).", isEntitled: true,
        nextMessage: grant.until.map { "At \($0) the grant ends." } ?? "Nothing changes by itself.")
}

/// Explanations of everything that an account has, at most.
private let explanationsMax = 100

/// Why nothing entitles an account: `count` of its lines and purchases were looked at.
private func nothingCounts(_ count: Int, _ rows: [Transaction]) -> String {
    switch (count, rows.isEmpty) {
    case (0, true): "The account has no line, no purchase and no grant."
    case (0, false): "No purchase of the account entitles it, and no grant does."
    case (1, _): "The account's only line or purchase does not entitle it."
    default: "None of the account's \(count) lines and purchases entitles it."
    }
}

/// Explains everything that an account has: its lines, group by group, then its purchases without an end.
///
/// `rows`: the account's newest transactions.
package func explainEverything(
    of record: AccountRecord?, rows: [Transaction], app: AppState, at now: Instant
) -> Explanations {
    var explanations: [Explanation] = []
    for group in (record?.groupIDs(in: app.catalogue) ?? []).sorted() where explanations.count < explanationsMax {
        let rows = rows.filter { app.catalogue.groupID(of: $0) == group }
        explanations += explainLines(of: record, inGroup: group, rows: rows, app: app, at: now).explanations
    }
    let products = Set(holdings(of: record, in: app, at: now).owned.map(\.value.productID)).sorted()
    for product in products where explanations.count < explanationsMax {
        let rows = rows.filter { $0.productID == product }
        explanations += explainEntitlement(of: record, toProduct: product, rows: rows, app: app, at: now).explanations
    }
    let entitling = explanations.count(where: \.isEntitled)
    let granted = (record?.grants ?? []).filter { $0.lasts(at: now) }
    let grants = granted.count
    let sources = [
        entitling == 0 ? nil : "\(entitling) of \(explanations.count) lines and purchases",
        grants == 0 ? nil : "\(grants) grant\(grants == 1 ? "" : "s")",
    ].compactMap { $0 }
    let message =
        sources.isEmpty
        ? nothingCounts(explanations.count, rows)
        : "The account is entitled by \(sources.joined(separator: " and "))."
    explanations = granted.map { explanation(of: $0) } + explanations
    return Explanations(
        message: message, isEntitled: !sources.isEmpty,
        explanations: Array(
            (explanations.filter(\.isEntitled) + explanations.filter { !$0.isEntitled })
                .prefix(explanationsMax)))
}

// MARK: The holdings of a test app

extension TestHoldings {
    func explanations(of statuses: SubscriptionStatuses, inGroup groupID: String, rows: [Transaction]) -> [Explanation]
    {
        zip(statuses.statuses, self.lines(inGroup: groupID)).map { status, line in
            self.explanation(of: line, status, rows: rows)
        }
    }

    func summary(ofEnded explanations: [Explanation]) -> String {
        explanations.count == 1 ? " \(explanations[0].message)" : " None of its \(explanations.count) lines does."
    }

    func reason(_ reason: EffectiveReason, lines: Int) -> String {
        switch reason {
        case .highestLevel: ", for it has the highest level of service of \(lines) lines"
        case .ownBeforeShared: ", for it is the account's own and the other is shared with it, at the same level"
        case .latestExpiration: ", for it ends later than another at the same level"
        default: ""
        }
    }

    func explanations(ofProduct productID: String, counting: Transaction?, rows: [Transaction]) -> [Explanation] {
        guard let record = self.record else { return [] }
        var explanations: [Explanation] = []
        for owned in record.owned where owned.productID == productID {
            explanations.append(
                PerchModel.explanation(ofOwned: owned).unlessUnverified(simulatedVerification(self.app), owned.id))
        }
        for group in Set(record.lines.map(\.groupID)).sorted() {
            for (status, line) in zip(self.statuses(inGroup: group).value.statuses, self.lines(inGroup: group)) {
                if line.latest.productID == productID {
                    explanations.append(self.explanation(of: line, status, rows: rows))
                } else if let left = rows.first(where: { $0.originalID == line.originalID }) {
                    explanations.append(self.explanation(of: left, leftFor: line, status))
                }
            }
        }
        if let counting,
            let index = explanations.firstIndex(where: {
                $0.isEntitled && $0.originalTransactionID == counting.originalID
            })
        {
            explanations.insert(explanations.remove(at: index), at: 0)
        }
        return explanations
    }

    private func explanation(of line: Line, _ status: SubscriptionStatus, rows: [Transaction]) -> Explanation {
        let transaction = status.transaction.value
        let info = status.renewalInfo.value
        var facts: [ExplainedFact] = []
        func fact(_ field: String, _ value: String) {
            facts.append(ExplainedFact(transactionID: transaction.id, field: field, value: value))
        }
        let what =
            "transaction \(transaction.id) of \(transaction.productID)" + (line.isOwn ? "" : ", which is shared,")
        let rule: ExplanationRule
        var message: String
        switch status.state {
        case .revoked:
            rule = .revoked
            let revocation = transaction.revocation
            fact("revocation.date_ms", "\(revocation?.date ?? self.now)")
            fact("revocation.type", "\(revocation?.type ?? .unspecified)")
            message =
                revocation?.type == .familyRevoke
                ? "\(what) is no longer shared since \(revocation?.date ?? self.now)."
                : "\(what) was refunded on \(revocation?.date ?? self.now)."
        case .subscribed where info.renewalDate <= self.now:
            rule = .awaitsRenewal
            fact("renewal_date_ms", "\(info.renewalDate)")
            message =
                "the renewal of \(what) is due since \(info.renewalDate) and not recorded yet; it stays in force until the news comes."
        case .subscribed:
            rule = .periodLasts
            fact("expiration_date_ms", "\(info.renewalDate)")
            message = "the period of \(what) lasts until \(info.renewalDate)."
        case .inGracePeriod:
            rule = .gracePeriod
            fact("expiration_date_ms", "\(info.renewalDate)")
            fact("grace_period_expiration_date_ms", "\(info.gracePeriodExpirationDate ?? self.now)")
            message =
                "the charge of \(line.retry?.failedAt ?? info.renewalDate) failed, and \(what) entitles until the grace period ends at \(info.gracePeriodExpirationDate ?? self.now)."
        case .inBillingRetryPeriod:
            rule = .billingRetry
            fact("is_in_billing_retry", "true")
            let grace = line.retry?.graceUntil.map { "; the grace period ended at \($0)" } ?? ""
            message =
                "the charge of \(line.retry?.failedAt ?? info.renewalDate) failed\(grace), and the store tries again until \(line.retry?.until ?? self.now)."
        default:
            rule = expiryRule(info.expirationReason)
            fact("expiration_date_ms", "\(info.renewalDate)")
            fact("expiration_reason", "\(info.expirationReason ?? .unknown)")
            message = expiryMessage(info, line: line, what: what)
        }
        // Related facts about the line, which answer the reader's next questions.
        for note in notes(on: line, info, rows: rows, app: self.app) {
            message += " " + note.text
            facts.append(note.fact)
        }
        let next = self.forecast(of: line)
        return Explanation(
            rule, message.capitalisedFirst, originalTransactionID: line.originalID, state: status.state,
            isEntitled: status.state.isEntitled, facts: facts, next: next,
            nextMessage: nextMessage(next, line: line, info)
        ).unlessUnverified(status.failure, transaction.id)
    }

    /// A product that the line held before it changed its plan.
    private func explanation(of left: Transaction, leftFor line: Line, _ status: SubscriptionStatus) -> Explanation {
        let held = line.latest
        let how = left.isUpgraded ? "was left behind by a change of plan, to" : "was followed by"
        let field = left.isUpgraded ? "is_upgraded" : "original_id"
        let facts = [
            ExplainedFact(
                transactionID: left.id, field: field, value: left.isUpgraded ? "true" : "\(left.originalID)"),
            ExplainedFact(transactionID: held.id, field: "product_id", value: held.productID),
        ]
        let next = self.forecast(of: line)
        return Explanation(
            .otherProductHeld,
            "Transaction \(left.id) of \(left.productID) \(how) transaction \(held.id) of \(held.productID) on \(held.purchaseDate), which is \(status.state).",
            originalTransactionID: line.originalID, state: status.state, facts: facts, next: next,
            nextMessage: nextMessage(next, line: line, status.renewalInfo.value))
    }
}

private func expiryRule(_ reason: ExpirationReason?) -> ExplanationRule {
    switch reason {
    case .autoRenewDisabled?: .renewalOff
    case .billingError?: .retryInVain
    case .didNotConsentToPriceIncrease?: .priceNotAgreed
    case .productUnavailable?: .productWithdrawn
    default: .ended
    }
}

private func expiryMessage(_ info: RenewalInfo, line: Line, what: String) -> String {
    switch info.expirationReason {
    case .autoRenewDisabled?:
        "the period of \(what) ended at \(info.renewalDate), and renewal was switched off."
    case .billingError?:
        "the charge for the period after \(info.renewalDate) failed, and the store tried in vain until \(line.retry?.until ?? info.renewalDate)."
    case .didNotConsentToPriceIncrease?:
        "the period of \(what) ended at \(info.renewalDate), and the customer had not agreed to the higher price."
    case .productUnavailable?:
        "the period of \(what) ended at \(info.renewalDate), and \(line.preference) was no longer for sale."
    default:
        "the period of \(what) ended at \(info.renewalDate)."
    }
}

private struct Note {
    var text: String
    var fact: ExplainedFact

    init(_ text: String, _ transaction: TransactionID, _ field: String, _ value: String) {
        self.text = text
        self.fact = ExplainedFact(transactionID: transaction, field: field, value: value)
    }
}

/// Facts that do not decide the state now, but that readers ask about.
private func notes(on line: Line, _ info: RenewalInfo, rows: [Transaction], app: AppState) -> [Note] {
    var notes: [Note] = []
    let id = line.latest.id
    // The customer's switch is on, but the line will not renew.
    let lapse = info.willAutoRenew && info.expirationReason == nil ? line.foreseenLapse(in: app.catalogue) : nil
    if lapse == .productUnavailable {
        notes.append(
            Note(
                "The plan of the next period, \(line.nextProductID), is not sold any more as it was ordered.", id,
                "auto_renew_preference", line.nextProductID))
    } else if let preference = info.autoRenewPreference, preference != info.currentProductID {
        let billed = info.renewalBillingPlan == .monthly ? ", billed monthly" : ""
        let start = info.isInBillingRetry ? "When the charge succeeds," : "From then on"
        notes.append(
            Note(
                "\(start) the plan is \(preference)\(billed).", id, "auto_renew_preference", preference))
    } else if info.autoRenewPreference != nil, info.renewalBillingPlan.named != line.latest.billingPlan.named {
        let start = info.isInBillingRetry ? "When the charge succeeds," : "From then on"
        let billed = info.renewalBillingPlan == .monthly ? "monthly" : "up front"
        notes.append(
            Note(
                "\(start) it is billed \(billed).", id, "renewal_billing_plan", "\(info.renewalBillingPlan)"))
    } else if !info.willAutoRenew, info.expirationReason == nil {
        notes.append(Note("Renewal is switched off.", id, "will_auto_renew", "false"))
    }
    if let commitment = info.commitment, line.isCommitted, info.willAutoRenew, line.latest.revocation == nil {
        let end =
            !commitment.willRenew
            ? ", and charged until then although renewal is switched off"
            : line.preference != line.latest.productID ? "; from then on the plan is \(line.preference)" : ""
        notes.append(
            Note(
                "It is charge \(commitment.billingPeriodNumber) of \(commitment.totalBillingPeriods) of a commitment until \(commitment.expirationDate)\(end).",
                id, "commitment.will_renew", "\(commitment.willRenew)"))
    }
    if let offer = info.offer {
        notes.append(
            Note(
                "The \(offer.type) offer\(offer.id.isEmpty ? "" : " \(offer.id)") applies to the next period.", id,
                "offer.id", offer.id))
    }
    if info.priceIncreaseStatus != .noIncreasePending, info.expirationReason == nil, let increase = line.increase {
        let answer: String
        if info.priceIncreaseStatus == .agreed {
            answer = "is agreed"
        } else if !line.willAutoRenew {
            answer = "was not agreed to"
        } else if !line.keepsPlan {
            answer = "would wait for the customer's answer if the plan stayed as it is"
        } else {
            answer = "waits for the customer's answer, without which it ends"
        }
        notes.append(
            Note(
                "A price of \(increase.price) \(answer).", id, "price_increase_status", "\(info.priceIncreaseStatus)"))
    }
    if !info.eligibleWinBackOfferIDs.isEmpty {
        let offers = info.eligibleWinBackOfferIDs.joined(separator: ", ")
        notes.append(Note("The customer can be won back with \(offers).", id, "eligible_win_back_offer_ids", offers))
    }
    let older = rows.filter { $0.originalID == line.originalID && $0.id != line.latest.id }
    if let refunded = older.first(where: { $0.revocation != nil }), let revocation = refunded.revocation {
        notes.append(
            Note(
                "Transaction \(refunded.id), an earlier period, was refunded on \(revocation.date), which does not touch this one.",
                refunded.id, "revocation.date_ms", "\(revocation.date)"))
    }
    if let left = older.first(where: \.isUpgraded) {
        notes.append(
            Note(
                "Transaction \(left.id) of \(left.productID) was left behind by a change of plan.", left.id,
                "is_upgraded", "true"))
    }
    return notes
}

private func nextMessage(_ next: Forecast?, line: Line, _ info: RenewalInfo) -> String {
    guard let next else { return "Nothing changes by itself." }
    switch next.kind {
    case .renewal where next.state == .inGracePeriod:
        return
            "At \(next.at) the charge is set to fail; the grace period then begins, and it still entitles."
    case .renewal where next.state == .inBillingRetryPeriod:
        return
            "At \(next.at) the charge is set to fail; it then no longer entitles while the store tries again."
    case .renewal:
        let price = info.renewalPrice.map { " for \($0)" } ?? ""
        return "At \(next.at) it renews as \(info.autoRenewPreference ?? line.preference)\(price)."
    case .graceEnd: return "At \(next.at) the grace period ends, and it no longer entitles."
    case .retryEnd: return "At \(next.at) the store stops trying, and it is over."
    case .offerWindow: return "At \(next.at) the available win-back offers change."
    case .message: return "At \(next.at) the messages for the customer change."
    default:
        return next.state.isEntitled
            ? "At \(next.at) it is \(next.state)." : "At \(next.at) it ends, and it no longer entitles."
    }
}

// MARK: Products without an end, and what is no longer held

private func explanation(ofOwned owned: Transaction) -> Explanation {
    let shared = owned.ownership == .familyShared ? ", shared by a member of the family," : ""
    let isNonRenewing = owned.productType == .nonRenewable
    let fact = ExplainedFact(
        transactionID: owned.id, field: "purchase_date_ms", value: "\(owned.purchaseDate)")
    return Explanation(
        isNonRenewing ? .ownedWithoutEnd : .owned,
        isNonRenewing
            ? "Transaction \(owned.id)\(shared) of \(owned.purchaseDate) is the latest that was not refunded; the store knows no end of a non-renewing subscription."
            : "Transaction \(owned.id)\(shared) of \(owned.purchaseDate) was not refunded or revoked.",
        originalTransactionID: owned.originalID, isEntitled: true, facts: [fact])
}

private func explanation(ofRefunded refunded: Transaction) -> Explanation {
    guard let revocation = refunded.revocation else { preconditionFailure("it was looked for by its refund") }
    let verb = revocation.type == .familyRevoke ? "is no longer shared since" : "was refunded on"
    let fact = ExplainedFact(
        transactionID: refunded.id, field: "revocation.date_ms", value: "\(revocation.date)")
    return Explanation(
        .refunded, "Transaction \(refunded.id) \(verb) \(revocation.date).",
        originalTransactionID: refunded.originalID, facts: [fact])
}

extension String {
    var capitalisedFirst: String { self.prefix(1).uppercased() + self.dropFirst() }
}
