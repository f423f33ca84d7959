import PerchBase

// Operations on an account's holdings. Each finds its target, asks for the rows it needs, and returns facts.
// `StoreOperations.swift` and `Renewal.swift` define the single steps.

// MARK: What a target names

/// The account's own line that a target names.
private func ownLine(
    _ target: OperationTarget, _ subject: OperationSubject, app: AppState
) throws(Refusal) -> Found<Line> {
    let record = subject.record
    switch target {
    case .product(let id):
        if let line = record.lines.first(where: { $0.isOwn && $0.latest.productID == id }) { return .found(line) }
        if let product = app.catalogue.product(id), product.type != .autoRenewable {
            throw Refusal(.notASubscription, "\(id) is a \(product.type), which never renews; name a subscription")
        }
        if record.lines.contains(where: { $0.latest.productID == id }) {
            throw Refusal(
                .notSubscribed,
                "\(id) is shared with the account by a family member; name the account that bought it")
        }
        try requireKnown(id, app: app)
        throw Refusal(.notSubscribed, "the account does not hold \(id); buy it first")

    case .transaction(let id):
        let known = record.lines.first { $0.latest.id == id || $0.originalID == id }
        if let known { return .found(try own(known)) }
        switch subject.rows(.transaction(id)) {
        case .needs(let need):
            return .needs(need)
        case .found(let rows):
            guard let row = rows.first else { throw unknown(id) }
            guard row.productType == .autoRenewable else {
                throw Refusal(
                    .notASubscription,
                    "transaction \(id) is of a \(row.productType), which never renews; name one of a subscription")
            }
            guard let line = record.lines.first(where: { $0.originalID == row.originalID }) else {
                throw Refusal(
                    .notSubscribed,
                    "all that is left of the subscription of transaction \(id) was upgraded; buy it again")
            }
            return .found(try own(line))
        }
    }
}

/// Advises to buy a product only if the catalogue has it.
private func requireKnown(_ product: String, app: AppState) throws(Refusal) {
    guard app.catalogue.product(product) == nil else { return }
    throw Refusal(
        .productUnknown,
        "product \(product) is not in the catalogue of \(app.bundleID), and the account has none; `perch catalog show` lists what is"
    )
}

private func own(_ line: Line) throws(Refusal) -> Line {
    if line.isOwn { return line }
    throw Refusal(
        .notSubscribed,
        "the subscription to \(line.latest.productID) is shared by a family member; name a transaction of the member who bought it"
    )
}

private func unknown(_ id: TransactionID) -> Refusal {
    Refusal(.transactionUnknown, "the account has no transaction \(id); `perch get history` lists what it has")
}

/// The transaction of a target: for a product the account's newest own one, for a subscription its line's latest.
func transaction(
    _ target: OperationTarget, _ subject: OperationSubject, app: AppState
) throws(Refusal) -> Found<Transaction> {
    let record = subject.record
    switch target {
    case .transaction(let id):
        if let line = record.lines.first(where: { $0.latest.id == id }) { return .found(line.latest) }
        if let owned = record.owned.first(where: { $0.id == id }) { return .found(owned) }
        switch subject.rows(.transaction(id)) {
        case .needs(let need): return .needs(need)
        case .found(let rows):
            guard let row = rows.first else { throw unknown(id) }
            return .found(row)
        }
    case .product(let id):
        if let line = record.lines.first(where: { $0.isOwn && $0.latest.productID == id }) {
            return .found(line.latest)
        }
        var kind = RowKind()
        kind.productID = id
        kind.ownership = .purchased
        switch subject.newest(kind) {
        case .needs(let need): return .needs(need)
        case .found(let row):
            guard let row, row.productType != .autoRenewable else {
                try requireKnown(id, app: app)
                throw Refusal(.transactionUnknown, "the account has bought no \(id) that it still has; buy it first")
            }
            return .found(row)
        }
    }
}

// MARK: Refunds

func decideRefund(
    of target: OperationTarget, reason: RevocationReason, share: RefundShare, _ subject: OperationSubject,
    app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    switch try transaction(target, subject, app: app) {
    case .needs(let need):
        return .needs(need)
    case .found(let row):
        var others: [Transaction] = []
        if row.productType != .autoRenewable, subject.record.owned.contains(where: { $0.id == row.id }) {
            // The purchase before this one entitles again.
            switch subject.newest(keptRow(like: row)) {
            case .needs(let need): return .needs(need)
            case .found(let other): if let other { others.append(other) }
            }
        }
        let reason = reason == .unspecified ? RevocationReason.other : reason
        let (facts, refunded) = try decideRefund(of: row, reason: reason, share: share, others: others, now: now)
        return .done(OperationOutcome(facts, transaction: refunded, wasHeld: facts.isEmpty))
    }
}

/// Other transactions of the same product and ownership that were not refunded.
func keptRow(like row: Transaction) -> RowKind {
    var kind = RowKind()
    kind.productID = row.productID
    kind.ownership = row.ownership
    kind.isKept = true
    kind.except = row.id
    return kind
}

/// Reverses a refund. The state follows from the dates again: a subscription whose period has ended in the meantime
/// returns as expired, because the store attempts no renewal of a refunded line.
func decideReversal(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    switch try transaction(target, subject, app: app) {
    case .needs(let need):
        return .needs(need)
    case .found(let row):
        guard row.ownership == .purchased else {
            throw Refusal(
                .refundNotPossible,
                "transaction \(row.id) is \(row.ownership); reverse the refund of the member who shares it")
        }
        guard row.revocation != nil else {
            throw Refusal(.refundNotPossible, "transaction \(row.id) was not refunded; there is nothing to reverse")
        }
        var restored = row
        restored.revocation = nil
        restored.signedDate = now
        var facts = [Fact(.reinstated(restored), effective: now)]
        if let line = subject.record.lines.first(where: { $0.latest.id == row.id }) {
            var again = line
            again.latest = restored
            if again.awaitsAttempt, again.boundary <= now {
                facts.append(Fact(.lapsed(original: again.originalID, reason: .unknown), effective: now))
            }
        }
        return .done(OperationOutcome(facts, transaction: restored))
    }
}

/// A step of a refund that changes no purchase, and that the developer hears of. It fails if the transaction does not exist.
func decideReview(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    _ fact: (Transaction) -> Fact.Body
) throws(Refusal) -> OperationDecision {
    switch try transaction(target, subject, app: app) {
    case .needs(let need): .needs(need)
    case .found(let row):
        .done(OperationOutcome([Fact(fact(row), effective: now)], transaction: row, wasHeld: true))
    }
}

// MARK: Renewal

func decideForcedRenewal(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    switch try ownLine(target, subject, app: app) {
    case .needs(let need):
        return .needs(need)
    case .found(let line):
        let (facts, transaction) = try decideForcedRenewal(
            of: line, record: subject.record, app: app, now: now, numbers: &numbers)
        return .done(OperationOutcome(facts, transaction: transaction))
    }
}

func decideExpiry(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    switch try ownLine(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let line): return .done(OperationOutcome(try decideExpiry(of: line, app: app, now: now)))
    }
}

func decideAutoRenew(
    _ isOn: Bool, of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    switch try ownLine(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let line): return .done(OperationOutcome(try decideAutoRenew(isOn, line: line, app: app, now: now)))
    }
}

/// The customer's payment works again. Within the grace period the billing cycle stays; after it, a new cycle begins.
func decideRecovery(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    let line: Line
    switch try ownLine(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): line = found
    }
    let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
    guard state == .inGracePeriod || state == .inBillingRetryPeriod else {
        if let retry = line.retry, state == .expired {
            throw Refusal(
                .notInRetry,
                "the store stopped charging for \(line.latest.productID) at \(retry.until); buy it again")
        }
        throw Refusal(
            .notInRetry, "the subscription to \(line.latest.productID) is \(state); no charge of it is failing")
    }
    let (product, subscription) = try renewingProduct(of: line, app: app)
    var renewing = line
    var start = line.boundary
    if state == .inBillingRetryPeriod {
        renewing.anchorDay = 0
        start = now
    }
    let fact = renewal(
        of: renewing, product, subscription, record: subject.record, app: app, from: start, at: now, numbers: &numbers)
    guard case .renewed(let transaction, _) = fact.body else { preconditionFailure("a forced renewal did not renew") }
    var facts = [fact]
    // The card works again: what the account itself was told to let fail does not fail any more.
    if subject.record.chargesFail == true { facts.append(Fact(.chargesSet(fail: nil), effective: now)) }
    return .done(OperationOutcome(facts, transaction: transaction))
}

func decideCharges(fail: Bool?, _ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    if subject.record.chargesFail == fail { return .done(OperationOutcome()) }
    return .done(OperationOutcome([Fact(.chargesSet(fail: fail), effective: now)]))
}

func decidePayments(isAllowed: Bool, _ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    if subject.record.arePaymentsForbidden == !isAllowed { return .done(OperationOutcome()) }
    return .done(OperationOutcome([Fact(.paymentsSet(isAllowed: isAllowed), effective: now)]))
}

/// Sets what the account's app transaction says of the customer's first use of the app.
func decideAppTransaction(
    _ terms: AppTransactionTerms, _ subject: OperationSubject, now: Instant
) throws(Refusal) -> OperationDecision {
    let field = "operation.set_app_transaction"
    let length = terms.originalAppVersion.utf8.count
    guard length <= Limits.appVersionBytesMax else {
        throw Refusal(
            .fieldInvalid, "the original version has \(length) bytes, the limit is \(Limits.appVersionBytesMax)",
            field: "\(field).original_app_version", found: Int64(length), limit: Int64(Limits.appVersionBytesMax))
    }
    guard terms.originalPlatform.isKnown || terms.originalPlatform == .unspecified else {
        let known = AppPlatform.names.dropFirst().joined(separator: ", ")
        throw Refusal(
            .fieldInvalid, "there is no platform \(terms.originalPlatform); write one of \(known)",
            field: "\(field).original_platform")
    }
    guard terms.environment.isKnown || terms.environment == .unspecified else {
        throw Refusal(
            .fieldInvalid, "there is no environment \(terms.environment); write production, sandbox or xcode",
            field: "\(field).environment")
    }
    if let date = terms.originalPurchaseDate,
        !(Limits.readableMilliseconds.lowerBound...now.milliseconds).contains(date.milliseconds)
    {
        throw Refusal(
            .fieldInvalid, "the original purchase date is \(date); write an instant from 1970 until now, \(now)",
            field: "\(field).original_purchase_date_ms", found: date.milliseconds, limit: now.milliseconds)
    }
    if (subject.record.appTransaction ?? AppTransactionTerms()) == terms { return .done(OperationOutcome()) }
    return .done(OperationOutcome([Fact(.appTransactionSet(terms), effective: now)]))
}

// MARK: Prices

/// Asks the customer for a higher price from the next period on, or announces it.
func decidePriceIncrease(
    of target: OperationTarget, milliunits: Int64, needsConsent: Bool?, _ subject: OperationSubject, app: AppState,
    now: Instant
) throws(Refusal) -> OperationDecision {
    let line: Line
    switch try ownLine(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): line = found
    }
    try requireEntitled(line, app: app, now: now)
    guard line.willAutoRenew, line.retry == nil else {
        throw Refusal(
            .notSubscribed,
            "the subscription to \(line.latest.productID) does not renew, so it has no next price; switch renewal on first"
        )
    }
    let (product, subscription) = try renewingProduct(of: line, app: app)
    guard line.keepsPlan else {
        let next = product.id == line.latest.productID ? "another billing plan" : product.id
        throw Refusal(
            .priceIncreaseInvalid,
            "the subscription to \(line.latest.productID) changes to \(next) at its renewal; cancel the change, or wait for it"
        )
    }
    if line.isCommitted, let commitment = line.latest.commitment {
        throw Refusal(
            .priceIncreaseInvalid,
            "the price of \(product.id) is fixed by a commitment until \(commitment.expirationDate); raise it in the last of its "
                + "\(commitment.totalBillingPeriods) periods, this is number \(commitment.billingPeriodNumber)")
    }
    let held = standardPrice(of: line, for: product, subscription)
    guard milliunits > held.milliunits else {
        throw Refusal(
            .priceIncreaseInvalid,
            "the new price \(Money(milliunits: milliunits, currency: held.currency)) is not higher than the present one, \(held); `perch store product \(product.id) --price` lowers a price"
        )
    }
    let isAsked =
        needsConsent
        ?? priceIncreaseNeedsConsent(
            from: held.milliunits, to: milliunits,
            period: line.latest.billingPlan == .monthly ? commitmentPeriod(of: subscription) : subscription.period,
            lastIncrease: line.lastIncrease,
            rate: app.settings.timeRate, now: now)
    let increase = PriceIncrease(
        price: Money(milliunits: milliunits, currency: held.currency), asked: now,
        status: isAsked ? .pending : .agreed)
    return .done(
        OperationOutcome(
            [Fact(.priceRaised(original: line.originalID, increase), effective: now)], transaction: line.latest,
            wasHeld: true))
}

/// Whether a customer has to agree to an increase: it exceeds 50 % and 5 units of the currency per period (50 if the
/// period is a year), or is the second one within a year. The caller adds what a country's law demands. A commitment
/// paid monthly has periods of one month.
///
/// The App Store's thresholds are published in US dollars only. Perch uses the same numbers for every currency.
private func priceIncreaseNeedsConsent(
    from old: Int64, to new: Int64, period: Period, lastIncrease: Instant?, rate: TimeRate, now: Instant
) -> Bool {
    if let lastIncrease, now < rate.end(of: Period(1, .year), from: lastIncrease, anchorDay: 0) { return true }
    let threshold: Int64 = period.unit == .year ? 50_000 : 5_000
    let rise = new - old
    return rise > old / 2 && rise > threshold
}

func decidePriceAnswer(
    of target: OperationTarget, agrees: Bool, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    let line: Line
    switch try ownLine(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): line = found
    }
    try requireEntitled(line, app: app, now: now)
    guard let increase = line.increase else {
        throw Refusal(
            .noPriceIncrease,
            "no higher price of \(line.latest.productID) waits for an answer; ask for one with `perch store raise-price`"
        )
    }
    if increase.status == .agreed {
        if agrees { return .done(OperationOutcome([], transaction: line.latest, wasHeld: true)) }
        throw Refusal(
            .noPriceIncrease,
            "the higher price of \(line.latest.productID) is agreed, it can only be escaped by switching renewal off")
    }
    var facts: [Fact] = []
    if agrees || line.lapse == nil {
        facts.append(Fact(.priceAnswered(original: line.originalID, agrees: agrees), effective: now))
    }
    if agrees, !line.willAutoRenew {
        // The customer had declined, which had switched renewal off.
        facts.append(
            Fact(
                .autoRenewSet(original: line.originalID, isOn: true, preference: line.latest.productID), effective: now)
        )
    }
    return .done(OperationOutcome(facts, transaction: line.latest, wasHeld: true))
}

// MARK: Dates

/// Moves the end of the current period later. The transaction stays the same and ends later.
func decideExtension(
    of target: OperationTarget, milliseconds: Int64, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    guard (1...Limits.renewalExtensionMillisecondsMax).contains(milliseconds) else {
        throw Refusal(
            .extensionInvalid,
            "the renewal would move by \(exactly(milliseconds: milliseconds)); it can move later by 1ms to \(exactly(milliseconds: Limits.renewalExtensionMillisecondsMax)) at a time",
            field: "operation.extend_renewal.by_ms", found: milliseconds, limit: Limits.renewalExtensionMillisecondsMax)
    }
    let line: Line
    switch try ownLine(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): line = found
    }
    let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
    guard state == .subscribed, line.boundary < .distantFuture else {
        throw Refusal(
            .notSubscribed,
            "the subscription to \(line.latest.productID) is \(state); only a period that runs can be extended")
    }
    try refuseIneligibleExtension(of: line, record: subject.record, app: app, now: now)
    var extended = line.latest
    extended.expirationDate = line.boundary.advanced(byMilliseconds: milliseconds)
    extended.signedDate = now
    if let commitment = extended.commitment {
        extended.commitment?.expirationDate = commitment.expirationDate.advanced(byMilliseconds: milliseconds)
    }
    return .done(OperationOutcome([Fact(.extended(extended), effective: now)], transaction: extended))
}

/// The rules of `SubscriptionExtensionIneligibleError` (App Store Server API) for a running period, and of Apple's
/// "Extending the renewal date for auto-renewable subscriptions": at least one period was paid for.
private func refuseIneligibleExtension(
    of line: Line, record: AccountRecord, app: AppState, now: Instant
) throws(Refusal) {
    let product = line.latest.productID
    if line.latest.offer?.paymentMode == .freeTrial {
        throw Refusal(
            .extensionIneligible,
            "the subscription to \(product) is in a free offer period until \(line.boundary); extend it after that")
    }
    let isPaid = (line.latest.price?.milliunits ?? 0) > 0
    guard isPaid || (record.history(ofGroup: line.groupID)?.paidMilliseconds ?? 0) > 0 else {
        throw Refusal(
            .extensionIneligible,
            "no period of the subscription to \(product) was paid for; an extension needs one that was")
    }
    let extensions = record.extensions.filter { $0.original == line.originalID }
    guard extensions.count >= Limits.renewalExtensionsMax, let first = extensions.first else { return }
    let days = Period(Limits.renewalExtensionDays, .day)
    let end = app.settings.timeRate.end(of: days, from: first.instant, anchorDay: 0)
    guard now < end else { return }
    throw Refusal(
        .extensionIneligible,
        "the subscription to \(product) was extended \(extensions.count) times since \(first.instant), the limit is "
            + "\(Limits.renewalExtensionsMax) in \(days.value) days; extend it again from \(end) on",
        found: Int64(extensions.count), limit: Int64(Limits.renewalExtensionsMax))
}

// MARK: Family

func decideSharing(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    guard let member = subject.member else { preconditionFailure("an operation to share without a member") }
    guard member.account != subject.record.account else {
        throw Refusal(.notShareable, "an account cannot share with itself; name another member of the family")
    }
    let held: Transaction
    switch try transaction(target, subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): held = found
    }
    guard held.ownership == .purchased else {
        throw Refusal(
            .notShareable, "\(held.productID) is shared with the account itself; the member who bought it can share it")
    }
    guard held.productType == .autoRenewable || held.productType == .nonConsumable else {
        throw Refusal(
            .notShareable,
            "a \(held.productType) cannot be shared; only subscriptions and non-consumables can, if the catalogue says so"
        )
    }
    guard app.catalogue.product(held.productID)?.isFamilyShareable == true else {
        throw Refusal(
            .notShareable, "the catalogue does not make \(held.productID) family shareable; set `familyShareable` there"
        )
    }
    let record = subject.record
    let original: TransactionID
    let line = record.lines.first { $0.originalID == held.originalID }
    if held.productType == .autoRenewable {
        guard let line else {
            throw Refusal(.notSubscribed, "the account no longer holds \(held.productID); buy it first")
        }
        try requireEntitled(line, app: app, now: now)
        guard app.catalogue.product(line.latest.productID)?.isFamilyShareable == true else {
            throw Refusal(
                .notShareable,
                "the catalogue does not make \(line.latest.productID) family shareable; set `familyShareable` there")
        }
        original = line.originalID
    } else {
        guard record.owned.contains(where: { $0.id == held.id }) else {
            throw Refusal(.notSubscribed, "transaction \(held.id) was refunded; buy \(held.productID) again first")
        }
        original = held.id
    }
    if let share = record.shares.first(where: { $0.original == original && $0.member == member.account }) {
        // He has it already.
        let has = member.lineIndex(original: share.memberOriginal).map { member.lines[$0].latest }
        let owned = (member.owned + member.awaitingSync).first { $0.id == share.memberOriginal }
        return .done(OperationOutcome([], transaction: has ?? owned ?? held, wasHeld: true))
    }
    let members = Set(record.shares.map(\.member)).union([member.account])
    guard members.count <= Limits.familyMembersMax else {
        throw Refusal(
            .familyLimit,
            "the account shares with \(members.count - 1) members already, the limit is \(Limits.familyMembersMax); stop sharing with one first",
            found: Int64(members.count - 1), limit: Int64(Limits.familyMembersMax))
    }
    let share = FamilyShare(original: original, member: member.account, memberOriginal: numbers.take())
    let copy = mirrored(
        Line(latest: line?.latest ?? held, preference: "", recentStart: now), as: share, id: share.memberOriginal,
        originalPurchaseDate: nil, of: member)
    // `mirroredFacts` adds the member's facts, as it does for every later change.
    return .done(OperationOutcome([Fact(.sharingBegan(share), effective: now)], transaction: copy.latest))
}

func decideEndOfSharing(
    of target: OperationTarget?, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    var shares = subject.record.shares
    if let target {
        let held: Transaction
        switch try transaction(target, subject, app: app) {
        case .needs(let need): return .needs(need)
        case .found(let found): held = found
        }
        shares.removeAll { $0.original != held.originalID }
    }
    if let member = subject.member { shares.removeAll { $0.member != member.account } }
    guard !shares.isEmpty else {
        throw Refusal(.notShared, "the account shares nothing of that kind; `perch store share` begins it")
    }
    return .done(OperationOutcome(ends(of: shares, at: now)))
}

func ends(of shares: [FamilyShare], at now: Instant) -> [Fact] {
    shares.map { Fact(.sharingEnded(original: $0.original, member: $0.member), effective: now) }
}
