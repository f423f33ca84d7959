import PerchBase
import PerchModel
import PerchScenario
import PerchWire

// Translates a request of the first account to another account.

extension Request {
    /// The account of a request; nil for requests about the app.
    var account: String? {
        switch self {
        case .purchase(let request): request.account
        case .finish(let request): request.account
        case .sync(let request): request.account
        case .requestRefund(let request): request.account
        case .redeemOfferCode(let request): request.account
        case .manageSubscriptions(let request): request.account
        case .resolveBillingIssue(let request): request.account
        case .answerPriceIncrease(let request): request.account
        case .operate(let request): request.account
        case .inspectAccount(let request): request.account
        case .subscriptionStatusTask(let request): request.account
        case .currentEntitlementTask(let request): request.account
        case .transactionUpdates(let request): request.account
        case .purchaseIntents(let request), .messages(let request), .entitlementsTask(let request): request.account
        default: nil
        }
    }

    /// The same request for another account, at `position` or later. Nil if it refers to a number that the account does
    /// not have.
    func personal(_ likeness: Likeness, suffix: String, atLeast position: Position) -> Request? {
        switch self {
        case .purchase(var request):
            request.account += suffix
            request.idempotencyKey = Self.own(request.idempotencyKey, suffix)
            return .purchase(request)
        case .finish(var request):
            guard let id = likeness.transaction(of: request.transactionID) else { return nil }
            request.transactionID = id
            request.account += suffix
            return .finish(request)
        case .sync(var request):
            request.account += suffix
            return .sync(request)
        case .requestRefund(var request):
            guard let id = likeness.transaction(of: request.transactionID) else { return nil }
            request.transactionID = id
            request.account += suffix
            return .requestRefund(request)
        case .redeemOfferCode(var request):
            request.account += suffix
            return .redeemOfferCode(request)
        case .manageSubscriptions(var request):
            request.account += suffix
            return .manageSubscriptions(request)
        case .resolveBillingIssue(var request):
            request.account += suffix
            return .resolveBillingIssue(request)
        case .answerPriceIncrease(var request):
            request.account += suffix
            return .answerPriceIncrease(request)
        case .operate(var request):
            guard let operation = request.operation?.personal(likeness, suffix) else { return nil }
            request.operation = operation
            request.account += suffix
            request.idempotencyKey = Self.own(request.idempotencyKey, suffix)
            return .operate(request)
        case .inspectAccount(var request):
            request.account += suffix
            request.atLeast = position
            return .inspectAccount(request)
        case .setClock(var request):
            if case .advanceToBoundary(let account)? = request.change {
                request.change = .advanceToBoundary(account: account + suffix)
            }
            return .setClock(request)
        default: return self.personalWatch(suffix: suffix, atLeast: position)
        }
    }

    /// Each account uses its own idempotency keys, and repeats a request with the same key.
    private static func own(_ key: [UInt8], _ suffix: String) -> [UInt8] {
        key.isEmpty ? key : key + suffix.utf8.suffix(max(0, Limits.idempotencyKeyBytesMax - key.count))
    }

    private func personalWatch(suffix: String, atLeast position: Position) -> Request {
        switch self {
        case .productsTask(var request):
            request.atLeast = position
            return .productsTask(request)
        case .subscriptionStatusTask(var request):
            request.account += suffix
            request.atLeast = position
            return .subscriptionStatusTask(request)
        case .currentEntitlementTask(var request):
            request.account += suffix
            request.atLeast = position
            return .currentEntitlementTask(request)
        case .transactionUpdates(var request):
            request.account += suffix
            request.atLeast = position
            return .transactionUpdates(request)
        case .purchaseIntents(var request):
            request.account += suffix
            request.atLeast = position
            return .purchaseIntents(request)
        case .messages(var request):
            request.account += suffix
            request.atLeast = position
            return .messages(request)
        default: return self
        }
    }
}

extension StoreOperation {
    fileprivate func personal(_ likeness: Likeness, _ suffix: String) -> StoreOperation? {
        func own(_ target: OperationTarget) -> OperationTarget? {
            guard case .transaction(let first) = target else { return target }
            return likeness.transaction(of: first).map { .transaction($0) }
        }
        switch self {
        case .buy, .setCharges, .setPayments, .setAppTransaction, .clearTransactions, .createIntent, .setStorefront,
            .postMessage:
            return self
        case .refund(let target, let reason, let share):
            return own(target).map { .refund($0, reason: reason, share: share) }
        case .reverseRefund(let target): return own(target).map { .reverseRefund($0) }
        case .declineRefund(let target): return own(target).map { .declineRefund($0) }
        case .requestConsumption(let target): return own(target).map { .requestConsumption($0) }
        case .renew(let target): return own(target).map { .renew($0) }
        case .expire(let target): return own(target).map { .expire($0) }
        case .setAutoRenew(let target, let isOn): return own(target).map { .setAutoRenew($0, isOn: isOn) }
        case .resolveBilling(let target): return own(target).map { .resolveBilling($0) }
        case .raisePrice(let target, let milliunits, let needsConsent):
            return own(target).map { .raisePrice($0, milliunits: milliunits, needsConsent: needsConsent) }
        case .answerPriceIncrease(let target, let agrees):
            return own(target).map { .answerPriceIncrease($0, agrees: agrees) }
        case .extendRenewal(let target, let milliseconds):
            return own(target).map { .extendRenewal($0, milliseconds: milliseconds) }
        case .share(let target, let member): return own(target).map { .share($0, member: member + suffix) }
        case .stopSharing(nil, let member): return .stopSharing(nil, member: member.map { $0 + suffix })
        case .stopSharing(.some(let target), let member):
            return own(target).map { .stopSharing($0, member: member.map { $0 + suffix }) }
        case .decidePurchase(let id, let approves):
            return likeness.waiting(of: id).map { .decidePurchase(id: $0, approves: approves) }
        case .endIntent(let id): return likeness.waiting(of: id).map { .endIntent(id: $0) }
        case .deleteTransaction(let id): return likeness.transaction(of: id).map { .deleteTransaction($0) }
        }
    }
}

extension Response {
    /// A stream's value in a few words, to show why an account differs.
    var words: String {
        switch self {
        case .productsTask(.success(let products, _)): "\(products.products.count) products"
        case .subscriptionStatusTask(.success(let value, _)):
            value.statuses.isEmpty
                ? "no status"
                : value.statuses.map { status in
                    let transaction = status.transaction.value
                    return "\(status.state) \(transaction.productID)"
                        + (transaction.expirationDate.map { " until \($0)" } ?? "")
                        + (status.renewalInfo.value.willAutoRenew ? ", renews" : ", does not renew")
                }.joined(separator: "; ")
        case .currentEntitlementTask(.success(let transaction, _)): transaction.map { Self.words($0.value) } ?? "none"
        case .purchaseIntents(.success(let intents, _)): "\(intents.count) intents"
        case .messages(.success(let messages, _)): "\(messages.count) messages"
        case .transactionUpdates(let event):
            "\(event.kind) \(event.transaction.map { Self.words($0.value) } ?? "")"
        case .productsTask(.failure(let failure, _)), .subscriptionStatusTask(.failure(let failure, _)),
            .currentEntitlementTask(.failure(let failure, _)):
            "failure \(failure.reason)"
        case .purchase(let answer): "\(answer.result) \(answer.transaction.map { Self.words($0.value) } ?? "")"
        case .operate(let answer):
            "\(answer.purchaseResult) \(answer.transaction.map { Self.words($0.value) } ?? "")"
        default: self.method.path
        }
    }

    private static func words(_ transaction: Transaction) -> String {
        "\(transaction.productID), transaction \(transaction.id)"
            + (transaction.expirationDate.map { " until \($0)" } ?? "")
            + (transaction.revocation == nil ? "" : ", revoked")
    }

    /// The position of a value; nil if it has none.
    var valuePosition: Position? {
        switch self {
        case .productsTask(let state): state.position
        case .subscriptionStatusTask(let state): state.position
        case .currentEntitlementTask(let state): state.position
        case .purchaseIntents(let state): state.position
        case .messages(let state): state.position
        default: nil
        }
    }
}

extension TaskState {
    fileprivate var position: Position? {
        switch self {
        case .loading: nil
        case .failure(_, let info), .success(_, let info), .unchanged(let info): info.position
        }
    }
}
