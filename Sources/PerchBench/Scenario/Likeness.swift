import PerchModel
import PerchWire

/// Compares the data of one account with that of the first account, except for its own numbers.
///
/// Two accounts with equal actions get equal data, except for the numbers of transactions, pending purchases and
/// intents. The numbers are paired at their first occurrence and must stay paired.
struct Likeness {
    /// This account's numbers, by those of the first account.
    private var transactions = Pairs()
    private var waiting = Pairs()

    private struct Pairs {
        private var own: [UInt64: UInt64] = [:]
        private var first: [UInt64: UInt64] = [:]

        /// Returns false if one of the two is already paired with another number.
        mutating func pair(_ own: UInt64, with first: UInt64) -> Bool {
            if let known = self.first[own] { return known == first }
            guard self.own[first] == nil else { return false }
            self.own[first] = own
            self.first[own] = first
            return true
        }

        func own(of first: UInt64) -> UInt64? { self.own[first] }
    }

    /// This account's number for the first account's; nil if it has not occurred yet.
    func transaction(of first: TransactionID) -> TransactionID? { self.transactions.own(of: first) }

    func waiting(of first: UInt64) -> UInt64? { self.waiting.own(of: first) }

    /// Whether this account's response equals the first account's. If it does, new numbers are paired.
    mutating func matches(_ own: Response, _ first: Response) -> Bool {
        var trial = self
        guard trial.compare(own, first) else { return false }
        self = trial
        return true
    }

    private mutating func compare(_ own: Response, _ first: Response) -> Bool {
        switch (own, first) {
        case (.productsTask(let own), .productsTask(let first)):
            return Self.compare(own, first) { $0 == $1 }
        case (.subscriptionStatusTask(let own), .subscriptionStatusTask(let first)):
            return Self.compare(own, first) { self.compare($0, $1) }
        case (.currentEntitlementTask(let own), .currentEntitlementTask(let first)):
            return Self.compare(own, first) { self.compare($0, $1) }
        case (.purchaseIntents(let own), .purchaseIntents(let first)):
            return Self.compare(own, first) { own, first in
                self.each(own, first) { likeness, own, first in
                    likeness.waiting.pair(own.id, with: first.id) && own.productID == first.productID
                        && own.offer == first.offer && own.since == first.since
                }
            }
        case (.messages(let own), .messages(let first)):
            return Self.compare(own, first) { own, first in
                self.each(own, first) { likeness, own, first in
                    likeness.pair(own.originalTransactionID, first.originalTransactionID)
                        && own.reason == first.reason && own.since == first.since
                        && own.productID == first.productID && own.offerID == first.offerID
                }
            }
        case (.transactionUpdates(let own), .transactionUpdates(let first)):
            return own.kind == first.kind && self.compare(own.transaction, first.transaction)
        case (.purchase(let own), .purchase(let first)):
            return own.result == first.result && own.wasHeld == first.wasHeld
                && self.compare(own.transaction, first.transaction)
                && self.pairWaiting(own.pendingNumber, first.pendingNumber)
        case (.operate(let own), .operate(let first)):
            return own.purchaseResult == first.purchaseResult && own.wasHeld == first.wasHeld
                && self.compare(own.transaction, first.transaction) && self.pairWaiting(own.number, first.number)
        case (.requestRefund(let own), .requestRefund(let first)):
            return own.isApproved == first.isApproved && self.compare(own.transaction, first.transaction)
        case (.redeemOfferCode(let own), .redeemOfferCode(let first)):
            return own.appliesAtRenewal == first.appliesAtRenewal && self.compare(own.transaction, first.transaction)
        case (.inspectAccount(let own), .inspectAccount(let first)):
            return self.each(own.pendingPurchases, first.pendingPurchases) { likeness, own, first in
                likeness.pairWaiting(own.id, first.id) && own.order.productID == first.order.productID
            }
                && self.each(own.intents, first.intents) { likeness, own, first in
                    likeness.pairWaiting(own.id, first.id) && own.productID == first.productID
                }
        default:
            // Other answers contain only a position and a number of accounts.
            return own.method == first.method
        }
    }

    private static func compare<Value>(
        _ own: TaskState<Value>, _ first: TaskState<Value>, _ isLike: (Value, Value) -> Bool
    ) -> Bool {
        switch (own, first) {
        case (.success(let own, _), .success(let first, _)): isLike(own, first)
        case (.failure(let own, _), .failure(let first, _)): own.reason == first.reason
        case (.loading, .loading), (.unchanged, .unchanged): true
        default: false
        }
    }

    private mutating func each<Value>(
        _ own: [Value], _ first: [Value], _ isLike: (inout Likeness, Value, Value) -> Bool
    ) -> Bool {
        guard own.count == first.count else { return false }
        for (own, first) in zip(own, first) where !isLike(&self, own, first) { return false }
        return true
    }

    /// The number 0 means no pending purchase.
    private mutating func pairWaiting(_ own: UInt64, _ first: UInt64) -> Bool {
        own == 0 || first == 0 ? own == first : self.waiting.pair(own, with: first)
    }

    private mutating func pair(_ own: TransactionID?, _ first: TransactionID?) -> Bool {
        guard let own, let first else { return own == first }
        return self.transactions.pair(own, with: first)
    }

    private mutating func compare(_ own: SubscriptionStatuses, _ first: SubscriptionStatuses) -> Bool {
        own.effectiveIndex == first.effectiveIndex && own.effectiveReason == first.effectiveReason
            && self.each(own.statuses, first.statuses) { likeness, own, first in
                own.state == first.state && likeness.compare(own.transaction, first.transaction)
                    && likeness.compare(own.renewalInfo, first.renewalInfo)
            }
    }

    private mutating func compare(_ own: Verified<RenewalInfo>, _ first: Verified<RenewalInfo>) -> Bool {
        guard self.pair(own.value.originalTransactionID, first.value.originalTransactionID) else { return false }
        var own = own
        own.value.originalTransactionID = first.value.originalTransactionID
        own.value.appTransactionID = first.value.appTransactionID
        return own == first
    }

    private mutating func compare(_ own: Verified<Transaction>?, _ first: Verified<Transaction>?) -> Bool {
        guard var own, let first else { return own == nil && first == nil }
        guard self.pair(own.value.id, first.value.id), self.pair(own.value.originalID, first.value.originalID)
        else { return false }
        own.value.id = first.value.id
        own.value.originalID = first.value.originalID
        // Derived from the account and the transaction's number.
        own.value.appTransactionID = first.value.appTransactionID
        own.value.webOrderLineItemID = first.value.webOrderLineItemID
        return own == first
    }
}
