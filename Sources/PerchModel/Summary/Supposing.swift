package import PerchBase

/// The record of an account after an event that has not happened. A branch: nothing of it is stored.
///
/// `rows`: the account's newest transactions, newest first.
package func supposing(
    _ supposition: Supposition, of record: AccountRecord?, rows: [Transaction], app: AppState, at now: Instant
) throws(Refusal) -> AccountRecord {
    guard let record else {
        throw Refusal(
            .accountUnknown, "there is no such account, so nothing of it can be supposed; buy something first")
    }
    return app.isTestApp
        ? try suppose(supposition, of: record, rows: rows, app: app, at: now)
        : try supposeReported(supposition, of: record, app: app, at: now)
}

/// The price that an event supposes: the one that is named, or a tenth more. Nil for an event without a price.
package func supposedPrice(
    _ supposition: Supposition, of record: AccountRecord?, rows: [Transaction], app: AppState, at now: Instant
) -> Money? {
    guard supposition.event == .priceAgreed || supposition.event == .priceNotAgreed else { return nil }
    var agreed = supposition
    agreed.event = .priceAgreed
    guard let supposed = try? supposing(agreed, of: record, rows: rows, app: app, at: now) else { return nil }
    let before = renewalPrices(of: record, app: app, at: now)
    return renewalPrices(of: supposed, app: app, at: now).first { before[$0.key] != $0.value }?.value
}

/// The next price of each line, by its first transaction.
private func renewalPrices(of record: AccountRecord?, app: AppState, at now: Instant) -> [TransactionID: Money] {
    var prices: [TransactionID: Money] = [:]
    for status in statusesOfAllGroups(of: record, app: app, at: now).value.statuses {
        prices[status.transaction.value.originalID] = status.renewalInfo.value.renewalPrice
    }
    return prices
}

/// Nothing that the event could be about.
private func missing(_ what: String) -> Refusal {
    Refusal(
        .transactionUnknown, "the account has no \(what) that this could happen to; name one that it has",
        field: "suppose.original_transaction_id")
}

private func noCharge(for productID: String) -> Refusal {
    Refusal(
        .notSubscribed, "the subscription to \(productID) does not renew, so no charge comes that could fail",
        field: "suppose.event")
}

private func notEntitled(_ productID: String, _ state: RenewalState) -> Refusal {
    Refusal(
        .notSubscribed, "the subscription to \(productID) is \(state), so nothing of it changes", field: "suppose.event"
    )
}

/// The plan that a change leads to.
private func planOnSale(
    _ productID: String, _ app: AppState
) throws(Refusal) -> (CatalogueProduct, CatalogueSubscription) {
    guard let product = app.catalogue.productOnSale(productID), let subscription = product.subscription else {
        throw Refusal(
            .productUnknown, "\(printable(productID)) is no subscription that is sold in \(app.bundleID)",
            field: "suppose.product_id")
    }
    return (product, subscription)
}

private func otherGroup(_ productID: String, than held: String) -> Refusal {
    Refusal(
        .productUnknown, "\(printable(productID)) is in another group than \(held), so it is no change of plan",
        field: "suppose.product_id")
}

// MARK: Test apps

/// Decides what the store would decide.
private func suppose(
    _ supposition: Supposition, of record: AccountRecord, rows: [Transaction], app: AppState, at now: Instant
) throws(Refusal) -> AccountRecord {
    var supposed = record
    var numbers = TransactionNumbers(next: .max >> 2)
    func carryOut(_ operation: StoreOperation) throws(Refusal) {
        for fact in try facts(of: operation, on: supposed, rows: rows, app: app, at: now, numbers: &numbers) {
            supposed.apply(fact)
        }
    }
    switch supposition.event {
    case .planChange:
        let group = try planOnSale(supposition.productID, app).1.groupID
        let line = try line(supposition, record, app, now, inGroup: group)
        guard line.groupID == group else {
            throw otherGroup(supposition.productID, than: line.latest.productID)
        }
        try requireEntitled(line, app: app, now: now)
        try carryOut(.buy(PurchaseOrder(productID: supposition.productID)))
    case .refund:
        try carryOut(.refund(.transaction(try refundable(supposition, record, app, now)), reason: .other, share: .full))
    case .cancelled:
        let line = try line(supposition, record, app, now)
        try carryOut(.setAutoRenew(.transaction(line.latest.id), isOn: false))
    case .priceAgreed, .priceNotAgreed:
        let line = try line(supposition, record, app, now)
        let target = OperationTarget.transaction(line.latest.id)
        let (product, subscription) = try renewingProduct(of: line, app: app)
        let held = standardPrice(of: line, for: product, subscription).milliunits
        let price = supposition.priceMilliunits > 0 ? supposition.priceMilliunits : tenthMore(held)
        try carryOut(.raisePrice(target, milliunits: price, needsConsent: true))
        try carryOut(.answerPriceIncrease(target, agrees: supposition.event == .priceAgreed))
    case .chargeFails:
        let line = try line(supposition, record, app, now)
        let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
        // The charge has failed, and one more failure does not move the end.
        if state == .inGracePeriod || state == .inBillingRetryPeriod { return record }
        try requireEntitled(line, app: app, now: now)
        guard line.awaitsAttempt, line.foreseenLapse(in: app.catalogue) == nil else {
            throw noCharge(for: line.latest.productID)
        }
        let (product, subscription) = try renewingProduct(of: line, app: app)
        var ended = line
        if now < line.boundary {
            ended.latest.expirationDate = now
            ended.latest.signedDate = now
            let cut = ended
            supposed.change { fields in
                guard let place = fields.lines.firstIndex(where: { $0.originalID == cut.originalID }) else { return }
                fields.lines[place] = cut
            }
        }
        let retry = billingRetry(of: ended, product, subscription, app: app, at: now)
        supposed.apply(Fact(.renewalFailed(original: line.originalID, retry: retry), effective: now))
    default:
        preconditionFailure("the event was checked")
    }
    return supposed
}

private func facts(
    of operation: StoreOperation, on record: AccountRecord, rows: [Transaction], app: AppState, at now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> [Fact] {
    var answers: [RowNeed: [Transaction]] = [:]
    while true {
        let found = answers.values.flatMap { $0 }
        let subject = OperationSubject(record: record, rows: answers.isEmpty ? nil : found, answers: answers)
        switch try decide(operation, on: subject, app: app, now: now, numbers: &numbers) {
        case .done(let outcome): return outcome.facts
        case .needs(let need):
            precondition(answers[need] == nil, "a decision asked twice for \(need)")
            answers[need] = rows.answer(to: need)
        }
    }
}

extension [Transaction] {
    /// Of the newest rows.
    fileprivate func answer(to need: RowNeed) -> [Transaction] {
        switch need {
        case .transaction(let id): self.filter { $0.id == id }
        case .product(let id): self.filter { $0.productID == id }
        case .all: self
        case .newest(let kind): Array(self.lazy.filter { kind.includes($0) }.prefix(1))
        case .redemptions: []
        }
    }
}

/// The line that is meant: an own one, and where none is named, one of `group` first.
private func line(
    _ supposition: Supposition, _ record: AccountRecord, _ app: AppState, _ now: Instant, inGroup group: String? = nil
) throws(Refusal) -> Line {
    var own = record.lines.filter(\.isOwn)
    if supposition.originalTransactionID != 0 {
        guard let line = own.first(where: { $0.originalID == supposition.originalTransactionID }) else {
            throw missing("subscription of its own with this number")
        }
        return line
    }
    if let group, own.contains(where: { $0.groupID == group }) { own.removeAll { $0.groupID != group } }
    let leeway = app.renewalLeewayMilliseconds
    let entitled = own.filter { $0.state(at: now, leewayMilliseconds: leeway).isEntitled }
    guard let line = (entitled.isEmpty ? own : entitled).max(by: { $0.boundary < $1.boundary }) else {
        throw missing("subscription of its own")
    }
    return line
}

private func refundable(
    _ supposition: Supposition, _ record: AccountRecord, _ app: AppState, _ now: Instant
) throws(Refusal) -> TransactionID {
    if supposition.originalTransactionID != 0 {
        let line = record.lines.first { $0.isOwn && $0.originalID == supposition.originalTransactionID }
        return line?.latest.id ?? supposition.originalTransactionID
    }
    if let line = try? line(supposition, record, app, now) { return line.latest.id }
    guard let owned = record.owned.last(where: { $0.ownership != .familyShared }) else {
        throw missing("purchase of its own")
    }
    return owned.id
}

/// Rounded up to hundredths, as prices are.
private func tenthMore(_ milliunits: Int64) -> Int64 { (milliunits + max(1, milliunits / 10) + 9) / 10 * 10 }

// MARK: Apps of the App Store

/// Folds what the App Store would report. What it decides itself, such as the length of a retry, is not foretold beyond its documents.
private func supposeReported(
    _ supposition: Supposition, of record: AccountRecord, app: AppState, at now: Instant
) throws(Refusal) -> AccountRecord {
    let leeway = app.renewalLeewayMilliseconds ?? 0
    let originals = record.reported?.originals ?? []
    let wanted = supposition.originalTransactionID
    func isOwn(_ original: ReportedOriginal) -> Bool { original.head(at: now)?.ownership != .familyShared }
    let candidates = originals.filter { wanted == 0 ? isOwn($0) : $0.id == wanted }
    func entitles(_ original: ReportedOriginal) -> Bool {
        !original.entitling(at: now, leewayMilliseconds: leeway).isEmpty
    }
    var lines = candidates.filter(\.isSubscription)
    if supposition.event == .planChange {
        let group = try planOnSale(supposition.productID, app).1.groupID
        let alike = lines.filter { $0.groupID(in: app.catalogue) == group }
        if !alike.isEmpty { lines = alike }
    }
    let line = lines.last(where: entitles) ?? lines.last
    let target = supposition.event == .refund ? line ?? candidates.last(where: entitles) ?? candidates.last : line
    guard let target, let head = target.head(at: now) else {
        throw missing(supposition.event == .refund ? "purchase" : "subscription")
    }
    let newest = target.registers.values.map(\.stamp.signed) + [target.renewal?.stamp.signed ?? now, now]
    let signed = (newest.max() ?? now).advanced(byMilliseconds: 1)
    let stamp = ReportStamp(signed: signed, content: .zero)
    var transaction = head
    transaction.signedDate = signed
    var changed = target
    let standing = target.standing(at: now, leewayMilliseconds: leeway)
    let state = standing?.state ?? .expired
    var info = standing.map { target.renewalInfo(of: $0) }
    let renews = info.map { $0.willAutoRenew || $0.isUnreported } ?? false
    info?.signedDate = signed
    info?.isUnreported = false
    func report(_ info: RenewalInfo?, ending end: Instant?) {
        if let info { _ = changed.fold(info, renewalDate: end, stamp: stamp) }
    }
    switch supposition.event {
    case .refund:
        transaction.revocation = Revocation(date: now, reason: .other)
        _ = changed.fold(transaction, stamp: stamp)
    case .cancelled, .priceNotAgreed:
        info?.willAutoRenew = false
        info?.autoRenewPreference = nil
        info?.renewalPrice = nil
        report(info, ending: head.expirationDate)
    case .priceAgreed:
        info?.willAutoRenew = renews
        info?.priceIncreaseStatus = .agreed
        let held = info?.renewalPrice ?? head.price
        info?.renewalPrice = held.map {
            let price = supposition.priceMilliunits > 0 ? supposition.priceMilliunits : tenthMore($0.milliunits)
            return Money(milliunits: price, currency: $0.currency)
        }
        report(info, ending: head.expirationDate)
    case .chargeFails:
        // The charge has failed, and one more failure does not move the end.
        if state == .inGracePeriod || state == .inBillingRetryPeriod { return record }
        guard state.isEntitled else { throw notEntitled(head.productID, state) }
        guard renews else { throw noCharge(for: head.productID) }
        transaction.expirationDate = min(head.expirationDate ?? now, now)
        _ = changed.fold(transaction, stamp: stamp)
        info?.willAutoRenew = true
        info?.isInBillingRetry = true
        info?.expirationReason = .billingError
        info?.gracePeriodExpirationDate = grace(after: now, of: head, app)
        info?.renewalDate = transaction.expirationDate ?? now
        report(info, ending: transaction.expirationDate)
    case .planChange:
        guard state.isEntitled else { throw notEntitled(head.productID, state) }
        try change(&changed, from: head, to: supposition.productID, info, stamp, app, now)
    default:
        preconditionFailure("the event was checked")
    }
    var supposed = record
    supposed.reported?.change(target.id) { $0 = changed }
    return supposed
}

/// The end of a grace period, where the app's catalogue says that it has one.
private func grace(after now: Instant, of head: Transaction, _ app: AppState) -> Instant? {
    guard app.settings.isGracePeriodEnabled, let period = app.catalogue.product(head.productID)?.subscription?.period
    else { return nil }
    let length = TimeRate.realTime.graceMilliseconds(for: period, days: app.settings.gracePeriodDays)
    return now.advanced(byMilliseconds: length)
}

/// An upgrade begins at once, every other change of plan with the next period.
private func change(
    _ line: inout ReportedOriginal, from head: Transaction, to productID: String, _ info: RenewalInfo?,
    _ stamp: ReportStamp, _ app: AppState, _ now: Instant
) throws(Refusal) {
    let (product, next) = try planOnSale(productID, app)
    guard next.groupID == app.catalogue.groupID(of: head) else { throw otherGroup(productID, than: head.productID) }
    let currency = head.price?.currency ?? app.currency(of: app.storefront)
    let price = Money(milliunits: product.price.milliunits, currency: currency)
    var info = info
    info?.willAutoRenew = true
    info?.autoRenewPreference = productID
    info?.renewalPrice = price
    var end = head.expirationDate
    let held = app.catalogue.product(head.productID)?.subscription
    if let held, next.level < held.level {
        var left = head
        left.isUpgraded = true
        left.signedDate = stamp.signed
        _ = line.fold(left, stamp: stamp)
        end = TimeRate.realTime.end(of: next.period, from: now, anchorDay: 0)
        var upgraded = head
        upgraded.id = .max >> 2
        upgraded.productID = productID
        upgraded.webOrderLineItemID = "supposed"
        upgraded.purchaseDate = now
        upgraded.signedDate = stamp.signed
        upgraded.expirationDate = end
        upgraded.price = price
        upgraded.offer = nil
        upgraded.revocation = nil
        _ = line.fold(upgraded, stamp: stamp)
        info?.currentProductID = productID
    }
    if let info { _ = line.fold(info, renewalDate: end, stamp: stamp) }
}
