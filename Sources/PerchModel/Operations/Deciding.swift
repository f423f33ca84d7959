package import PerchBase

/// Decides one operation on one account at `now`. Pure: the same input gives the same facts.
///
/// The caller settles the record's due attempts first. `subject.member` is set if `operation.member` names an account.
package func decide(
    _ operation: StoreOperation, on subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    switch operation {
    case .buy(let order):
        try decideOrder(order, subject, app: app, now: now, numbers: &numbers)
    case .decidePurchase(let id, let approves):
        try decidePending(id, approves: approves, subject, app: app, now: now, numbers: &numbers)
    case .createIntent(let product, let offer):
        try decideIntent(product, offer: offer, subject, app: app, now: now, numbers: &numbers)
    case .endIntent(let id):
        try decideEndOfIntent(id, subject, now: now)
    case .setStorefront(let storefront):
        try decideStorefront(storefront, subject, now: now)
    case .postMessage:
        try decideMessage(subject, now: now)
    case .refund(let target, let reason, let share):
        try decideRefund(of: target, reason: reason, share: share, subject, app: app, now: now)
    case .reverseRefund(let target):
        try decideReversal(of: target, subject, app: app, now: now)
    case .declineRefund(let target):
        try decideReview(of: target, subject, app: app, now: now) { .refundDeclined($0) }
    case .requestConsumption(let target):
        try decideReview(of: target, subject, app: app, now: now) { .consumptionRequested($0) }
    case .renew(let target):
        try decideForcedRenewal(of: target, subject, app: app, now: now, numbers: &numbers)
    case .expire(let target):
        try decideExpiry(of: target, subject, app: app, now: now)
    case .setAutoRenew(let target, let isOn):
        try decideAutoRenew(isOn, of: target, subject, app: app, now: now)
    case .resolveBilling(let target):
        try decideRecovery(of: target, subject, app: app, now: now, numbers: &numbers)
    case .setCharges(let fail):
        try decideCharges(fail: fail, subject, now: now)
    case .setPayments(let isAllowed):
        try decidePayments(isAllowed: isAllowed, subject, now: now)
    case .setAppTransaction(let terms):
        try decideAppTransaction(terms, subject, now: now)
    case .raisePrice(let target, let milliunits, let needsConsent):
        try decidePriceIncrease(
            of: target, milliunits: milliunits, needsConsent: needsConsent, subject, app: app, now: now)
    case .answerPriceIncrease(let target, let agrees):
        try decidePriceAnswer(of: target, agrees: agrees, subject, app: app, now: now)
    case .extendRenewal(let target, let milliseconds):
        try decideExtension(of: target, milliseconds: milliseconds, subject, app: app, now: now)
    case .share(let target, _):
        try decideSharing(of: target, subject, app: app, now: now, numbers: &numbers)
    case .stopSharing(let target, _):
        try decideEndOfSharing(of: target, subject, app: app, now: now)
    case .deleteTransaction(let id):
        try decideDeletion(of: id, subject, app: app, now: now)
    case .clearTransactions:
        try decideClearing(subject, app: app, now: now)
    }
}

extension StoreOperation {
    /// The key of the other account that the operation names, if it names one.
    package var member: String? {
        switch self {
        case .share(_, let member): member
        case .stopSharing(_, let member): member
        default: nil
        }
    }

    /// Whether the operation opens an account that does not exist.
    package var opensAccount: Bool {
        switch self {
        case .buy, .createIntent, .setStorefront, .setCharges, .setPayments, .setAppTransaction: true
        default: false
        }
    }
}
