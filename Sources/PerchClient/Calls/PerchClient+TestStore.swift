public import PerchBase
public import PerchModel
import PerchWire

// What a transaction manager does, in test apps only; elsewhere all of it is refused with `NOT_A_TEST_APP`.
extension PerchClient {
    /// Buys a product outside the app.
    public func buy(
        _ product: String, account: String, quantity: Int = 1, idempotencyKey: [UInt8]? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> TransactionChange {
        let request = BuyProductRequest(
            app: self.app, account: account, productID: product, quantity: try quantityOnWire(quantity),
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.buyProduct(request), timeout: timeout) { response in
            guard case .buyProduct(let answer) = response, let position = answer.position,
                let transaction = answer.transaction
            else { return nil }
            return TransactionChange(position: position, transaction: transaction, wasHeld: answer.wasHeld)
        }
    }

    /// Refunds a transaction; it comes back revoked.
    public func refund(
        _ transaction: TransactionID, reason: RevocationReason = .other, idempotencyKey: [UInt8]? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> TransactionChange {
        let request = RefundTransactionRequest(
            app: self.app, transactionID: transaction, reason: reason,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.refundTransaction(request), timeout: timeout) { response in
            guard case .refundTransaction(let answer) = response else { return nil }
            return TransactionChange(answer)
        }
    }

    /// Switches the renewal of a subscription on or off; `transaction` is any of its line.
    @discardableResult
    public func setAutoRenew(
        _ isEnabled: Bool, transaction: TransactionID, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = SetAutoRenewRequest(
            app: self.app, transactionID: transaction, isEnabled: isEnabled,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.setAutoRenew(request), timeout: timeout) { response in
            guard case .setAutoRenew(let answer) = response else { return nil }
            return answer.position
        }
    }

    /// Ends the current period of a subscription now, and renews it.
    public func forceRenewal(
        of product: String, account: String, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> TransactionChange {
        let request = ForceRenewalRequest(
            app: self.app, account: account, productID: product,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.forceRenewal(request), timeout: timeout) { response in
            guard case .forceRenewal(let answer) = response else { return nil }
            return TransactionChange(answer)
        }
    }

    /// Ends the current period of a subscription now, for good.
    @discardableResult
    public func expire(
        _ product: String, account: String, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = ExpireSubscriptionRequest(
            app: self.app, account: account, productID: product,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.expireSubscription(request), timeout: timeout) { response in
            guard case .expireSubscription(let answer) = response else { return nil }
            return answer.position
        }
    }

    // MARK: Time

    /// The clock of the app.
    public func clock(timeout: Duration? = nil) async throws(PerchError) -> AppClockState {
        try await self.call(.getClock(ClockRequest(app: self.app)), timeout: timeout) { response in
            guard case .getClock(let answer) = response else { return nil }
            return AppClockState(answer.clock)
        }
    }

    /// Freezes, resumes or advances the clock; returns when all that is due by then is settled and can be seen.
    ///
    /// Never repeated by the client, for an advance that happens twice goes twice as far: when the connection breaks
    /// under it, the error is `OUTCOME_UNKNOWN`, and the clock tells.
    public func setClock(_ move: ClockMove, timeout: Duration? = nil) async throws(PerchError) -> ClockChange {
        let request = SetClockRequest(app: self.app, change: move.change)
        return try await self.call(.setClock(request), timeout: timeout) { response in
            guard case .setClock(let answer) = response, let position = answer.position else { return nil }
            return ClockChange(
                position: position, clock: AppClockState(answer.clock), settledCount: answer.settledCount)
        }
    }

    /// Sets how long a period lasts, from the next one on. Never repeated by the client.
    @discardableResult
    public func setTimeRate(_ rate: TimeRate, timeout: Duration? = nil) async throws(PerchError) -> Position {
        let request = SetTimeRateRequest(app: self.app, timeRate: rate.rawValue)
        return try await self.call(.setTimeRate(request), timeout: timeout) { response in
            guard case .setTimeRate(let answer) = response else { return nil }
            return answer.position
        }
    }
}

extension TransactionChange {
    fileprivate init?(_ answer: ChangedTransaction) {
        guard let position = answer.position, let transaction = answer.transaction else { return nil }
        self.init(position: position, transaction: transaction)
    }
}
