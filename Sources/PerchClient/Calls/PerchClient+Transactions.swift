public import PerchBase
public import PerchModel
import PerchWire

// Buying, finishing, and what was bought.
//
// Every mutation carries an idempotency key, the caller's or a random one, and is repeated under it when the connection
// breaks: it happens once. Its position, handed to a read as `atLeast`, makes that read see it.
extension PerchClient {
    /// Buys a product, as an app does.
    public func purchase(
        _ product: String, account: String, options: PurchaseOptions = .init(), timeout: Duration? = nil
    ) async throws(PerchError) -> Purchase {
        let request = PurchaseRequest(
            app: self.app, account: account, productID: product, quantity: try quantityOnWire(options.quantity),
            appAccountToken: options.appAccountToken,
            offer: options.offer.map { PurchaseOffer(type: $0.type, id: $0.id, jws: $0.jws) },
            billingPlan: options.billingPlan, idempotencyKey: options.idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.purchase(request), timeout: timeout) { response in
            guard case .purchase(let answer) = response else { return nil }
            let result: Purchase.Result
            switch answer.result {
            case .success:
                guard let transaction = answer.transaction else { return nil }
                result = .success(transaction)
            case .userCancelled: result = .userCancelled
            case .pending: result = .pending
            default: result = .unknown(rawValue: answer.result.rawValue)
            }
            return Purchase(result: result, position: answer.position, wasHeld: answer.wasHeld)
        }
    }

    /// Says that what was bought is delivered; where that stands.
    @discardableResult
    public func finish(
        _ transaction: TransactionID, account: String, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = FinishRequest(
            app: self.app, account: account, transactionID: transaction,
            idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(.finish(request), timeout: timeout) { response in
            guard case .finish(let answer) = response else { return nil }
            return answer.position
        }
    }

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
            atLeast: atLeast)
        return TransactionPages { (token) async throws(PerchError) in
            var request = request
            request.pageToken = token
            return try await self.call(.listTransactions(request), timeout: timeout) { response in
                guard case .listTransactions(let page) = response else { return nil }
                return TransactionPage(page)
            }
        }
    }

    /// What an account has bought and was not delivered yet, oldest first.
    public func unfinished(
        account: String, pageSize: Int = 0, atLeast: Position? = nil, timeout: Duration? = nil
    ) -> TransactionPages {
        let request = ListUnfinishedRequest(
            app: self.app, account: account, pageSize: UInt32(clamping: pageSize), atLeast: atLeast)
        return TransactionPages { (token) async throws(PerchError) in
            var request = request
            request.pageToken = token
            return try await self.call(.listUnfinished(request), timeout: timeout) { response in
                guard case .listUnfinished(let page) = response else { return nil }
                return TransactionPage(page)
            }
        }
    }

    /// The newest transaction of an account for a product, or nil.
    public func latestTransaction(
        account: String, product: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Verified<Transaction>?> {
        let request = LatestTransactionRequest(app: self.app, account: account, productID: product, atLeast: atLeast)
        return try await self.call(.getLatestTransaction(request), timeout: timeout) { response in
            guard case .getLatestTransaction(let answer) = response else { return nil }
            return Positioned(answer.transaction, position: answer.position)
        }
    }
}

/// On the wire 0 means 1; a caller who says 0 or less means something else, and is refused.
func quantityOnWire(_ quantity: Int) throws(PerchError) -> UInt32 {
    guard quantity >= 1, let onWire = UInt32(exactly: quantity) else {
        throw PerchError(
            WireStatus(
                .purchaseInvalidQuantity, "a quantity of \(quantity) cannot be bought; it is at least 1",
                details: [.found(quantity), StatusDetail(key: "limit", value: "1")]))
    }
    return onWire
}
