public import PerchBase
public import PerchModel
package import PerchWire

// Purchases, finishing, and transactions.
//
// Every mutation carries an idempotency key, the caller's or a random one. If the connection breaks, the client repeats
// it with that key, so it happens once. A read whose `atLeast` is the mutation's position sees the mutation.
extension PerchClient {
    /// Buys a product, as an app does.
    ///
    /// A repeated call with the same key buys once. Without a key the client makes a random one, for its own
    /// repetitions. `isConfirmed` says that the customer has agreed in the app's own payment sheet: where the test app's
    /// dialogs are on, any other purchase is pending until somebody decides it.
    public func purchase(
        _ order: PurchaseOrder, account: String, isConfirmed: Bool = false, idempotencyKey: [UInt8]? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> Purchase {
        let request = PurchaseRequest(
            app: self.app, account: account, order: try order.onWire(),
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey, isConfirmed: isConfirmed)
        return try await self.call(Calls.purchase, request, timeout: timeout) { answer in
            guard
                let result = Purchase.Result(
                    answer.result, transaction: answer.transaction, number: answer.pendingNumber)
            else { return nil }
            return Purchase(result: result, position: answer.position, wasHeld: answer.wasHeld)
        }
    }

    /// Buys one of a product, without options.
    public func purchase(
        _ product: String, account: String, isConfirmed: Bool = false, idempotencyKey: [UInt8]? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> Purchase {
        try await self.purchase(
            PurchaseOrder(productID: product), account: account, isConfirmed: isConfirmed,
            idempotencyKey: idempotencyKey, timeout: timeout)
    }

    /// Marks a transaction as delivered. Returns the position of the change.
    @discardableResult
    public func finish(
        _ transaction: TransactionID, account: String, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = FinishRequest(
            app: self.app, account: account, transactionID: transaction,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(Calls.finish, request, timeout: timeout) { $0.position }
    }

    // MARK: What a customer asks for

    /// Restores purchases: delivers what waits for the customer's request. Never removes anything.
    @discardableResult
    public func sync(
        account: String, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = SyncRequest(
            app: self.app, account: account, idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(Calls.sync, request, timeout: timeout) { $0.position }
    }

    /// Asks for a refund: approved, unless the text says `REJECT` under the reason other. Test apps only.
    public func requestRefund(
        of transaction: TransactionID, account: String, reason: RevocationReason = .other, text: String = "",
        idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> RefundOutcome {
        let request = RefundRequest(
            app: self.app, account: account, transactionID: transaction, reason: reason, text: text,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(Calls.requestRefund, request, timeout: timeout) { answer in
            guard let position = answer.position else { return nil }
            return RefundOutcome(
                position: position, isApproved: answer.isApproved, transaction: answer.transaction)
        }
    }

    /// Redeems an offer code, known by its reference name. Test apps only.
    ///
    /// `product` is needed only if several products have a code of that name.
    public func redeemOfferCode(
        _ code: String, account: String, product: String = "", idempotencyKey: [UInt8]? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> Redemption {
        let request = RedeemOfferCodeRequest(
            app: self.app, account: account, code: code, productID: product,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(Calls.redeemOfferCode, request, timeout: timeout) { answer in
            guard let position = answer.position,
                let transaction = answer.transaction
            else { return nil }
            return Redemption(
                position: position, transaction: transaction, appliesAtRenewal: answer.appliesAtRenewal)
        }
    }

    /// Switches the renewal of a subscription on or off, as in the sheet of subscriptions. Test apps only.
    @discardableResult
    public func manageSubscriptions(
        account: String, product: String, autoRenew: Bool, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = ManageSubscriptionsRequest(
            app: self.app, account: account, productID: product, isAutoRenewOn: autoRenew,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(Calls.manageSubscriptions, request, timeout: timeout) { $0.position }
    }

    /// The record of the account's first use of the app.
    public func appTransaction(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Verified<AppTransaction>> {
        let answer = try await self.appTransactionAnswer(account: account, atLeast: atLeast, timeout: timeout)
        let value = AppTransaction(
            id: answer.appTransactionID, bundleID: answer.bundleID, environment: answer.environment,
            originalAppVersion: answer.originalAppVersion, originalPurchaseDate: answer.originalPurchaseDate,
            originalPlatform: answer.originalPlatform)
        return Positioned(Verified(value, failure: answer.failure, jws: answer.jws), position: answer.position)
    }

    /// The whole answer of GetAppTransaction.
    package func appTransactionAnswer(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> AppTransactionAnswer {
        let request = AppTransactionRequest(
            app: self.app, account: account, atLeast: atLeast, includesJWS: self.includesJWS)
        return try await self.call(Calls.getAppTransaction, request, timeout: timeout)
    }

    /// Whether the account may make payments, as StoreKit's `AppStore.canMakePayments`.
    ///
    /// False while payments of a test account are forbidden: the server refuses all its purchases. False too while its
    /// charges are set to fail: the server refuses its paid purchases.
    public func canMakePayments(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Bool> {
        let answer = try await self.appTransactionAnswer(account: account, atLeast: atLeast, timeout: timeout)
        return Positioned(answer.canMakePayments, position: answer.position)
    }

    // MARK: What was bought

    /// The transactions of an account, oldest first, of one product or of all.
    ///
    /// Consumables that are finished are left out unless `includingFinishedConsumables`. Pages have `pageSize`
    /// transactions, the server's default where it is 0; `timeout` is that of each page.
    public func transactions(
        account: String, product: String? = nil, includingFinishedConsumables: Bool = false, pageSize: Int = 0,
        atLeast: Position? = nil, timeout: Duration? = nil
    ) -> TransactionPages {
        let request = ListTransactionsRequest(
            app: self.app, account: account, productID: product ?? "",
            includesFinishedConsumables: includingFinishedConsumables, pageSize: UInt32(clamping: pageSize),
            atLeast: atLeast, includesJWS: self.includesJWS)
        return TransactionPages { (token) async throws(PerchError) in
            var request = request
            request.pageToken = token
            return try await self.call(Calls.listTransactions, request, timeout: timeout) { page in
                TransactionPage(page)
            }
        }
    }

    /// Transactions of an account that are not delivered yet, oldest first.
    public func unfinished(
        account: String, pageSize: Int = 0, atLeast: Position? = nil, timeout: Duration? = nil
    ) -> TransactionPages {
        let request = ListUnfinishedRequest(
            app: self.app, account: account, pageSize: UInt32(clamping: pageSize), atLeast: atLeast,
            includesJWS: self.includesJWS)
        return TransactionPages { (token) async throws(PerchError) in
            var request = request
            request.pageToken = token
            return try await self.call(Calls.listUnfinished, request, timeout: timeout) { page in
                TransactionPage(page)
            }
        }
    }

    /// The newest transaction of an account for a product, or nil.
    public func latestTransaction(
        account: String, product: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Verified<Transaction>?> {
        let request = LatestTransactionRequest(
            app: self.app, account: account, productID: product, atLeast: atLeast, includesJWS: self.includesJWS)
        return try await self.call(Calls.getLatestTransaction, request, timeout: timeout) { answer in
            return Positioned(
                answer.transaction, position: answer.position, isNotInCatalog: answer.isNotInCatalog)
        }
    }
}

extension PurchaseOrder {
    /// On the wire 0 means 1. A caller that passes 0 means something else, so it is refused.
    func onWire() throws(PerchError) -> PurchaseOrder {
        guard self.quantity >= 1 else {
            throw PerchError(
                WireStatus(
                    .purchaseInvalidQuantity, "a quantity of 0 cannot be bought; it is at least 1",
                    details: [.found(0), StatusDetail(key: "limit", value: "1")]))
        }
        return self
    }
}

extension Purchase.Result {
    /// Nil for a success without its transaction.
    init?(_ result: PurchaseResult, transaction: Verified<Transaction>?, number: UInt64) {
        switch result {
        case .success:
            guard let transaction else { return nil }
            self = .success(transaction)
        case .userCancelled: self = .userCancelled
        case .pending: self = .pending(number: number)
        default: self = .unknown(rawValue: result.rawValue)
        }
    }
}
