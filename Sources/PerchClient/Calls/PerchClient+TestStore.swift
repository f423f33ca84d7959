public import PerchBase
public import PerchModel
import PerchWire

// Operations of a transaction manager, for test apps only. Other apps refuse them with `NOT_A_TEST_APP`.
extension PerchClient {
    /// Performs one operation on one account: buy, refund, renew, share and so on. Returns after the commit.
    ///
    /// `account` may be empty if the operation names a transaction. A repeated call with the same key happens once.
    @discardableResult
    public func operate(
        _ operation: StoreOperation, account: String? = nil, idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> OperationResult {
        var operation = operation
        if case .buy(let order) = operation { operation = .buy(try order.onWire()) }
        let request = OperateRequest(
            app: self.app, account: account ?? "", idempotencyKey: idempotencyKey ?? .newIdempotencyKey,
            operation: operation)
        return try await self.call(Calls.operate, request, timeout: timeout) { answer in
            guard let position = answer.position else { return nil }
            var result = OperationResult(
                position: position, transaction: answer.transaction, wasHeld: answer.wasHeld,
                number: answer.number == 0 ? nil : answer.number)
            if answer.purchaseResult != .unspecified {
                result.purchase = Purchase.Result(
                    answer.purchaseResult, transaction: answer.transaction, number: answer.number)
            }
            return result
        }
    }

    /// Changes settings, armed failures and products of the app: all in one revision, or none.
    @discardableResult
    public func configure(
        _ settings: [AppSettingChange], idempotencyKey: [UInt8]? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Position {
        let request = ConfigureRequest(
            app: self.app, settings: settings, idempotencyKey: idempotencyKey ?? .newIdempotencyKey)
        return try await self.call(Calls.configure, request, timeout: timeout) { $0.position }
    }

    /// The settings of the app, and its armed failures, as a list that `configure` accepts.
    public func settings(timeout: Duration? = nil) async throws(PerchError) -> [AppSettingChange] {
        try await self.call(Calls.getSettings, SettingsRequest(app: self.app), timeout: timeout) { $0.settings }
    }

    /// The store's record of an account.
    public func inspect(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<AccountDetails> {
        let request = InspectAccountRequest(app: self.app, account: account, atLeast: atLeast)
        return try await self.call(Calls.inspectAccount, request, timeout: timeout) { answer in
            Positioned(AccountDetails(answer), position: answer.position)
        }
    }

    /// The keys of all accounts of the app, in bytewise order. `timeout` is that of each page.
    public func accounts(pageSize: Int = 0, timeout: Duration? = nil) -> AccountPages {
        let request = ListAccountsRequest(app: self.app, pageSize: UInt32(clamping: pageSize))
        return AccountPages { (token) async throws(PerchError) in
            var request = request
            request.pageToken = token
            return try await self.call(Calls.listAccounts, request, timeout: timeout) { page in
                (page.accounts, page.nextPageToken)
            }
        }
    }

    /// Lets something go wrong with notifications to a backend, or with its requests, where the server is its App Store.
    ///
    /// `delay`: how much later a delayed notification is sent, on the app's clock. `path`: how the path of a request begins.
    /// Returns how many mishaps of the kind of event wait, with this one. The client never repeats this call.
    @discardableResult
    public func orderMishap(
        _ kind: MishapKind, times: Int = 1, delay: Duration? = nil, path: String = "", timeout: Duration? = nil
    ) async throws(PerchError) -> Int {
        let request = OrderMishapRequest(
            app: self.app, kind: kind, times: UInt32(clamping: times),
            delayMilliseconds: delay?.signedMilliseconds ?? 0, path: path)
        return try await self.call(Calls.orderMishap, request, timeout: timeout) { Int($0.waiting) }
    }

    // MARK: Time

    /// The clock of the app.
    public func clock(timeout: Duration? = nil) async throws(PerchError) -> AppClockState {
        try await self.call(Calls.getClock, ClockRequest(app: self.app), timeout: timeout) { answer in
            AppClockState(answer.clock)
        }
    }

    /// Freezes, resumes or advances the clock. Returns after everything due up to the new instant is settled and
    /// visible.
    ///
    /// The client never repeats this call, because a repeated advance goes twice as far. If the connection breaks, the
    /// error is `OUTCOME_UNKNOWN`, and reading the clock shows the outcome.
    public func setClock(_ move: ClockMove, timeout: Duration? = nil) async throws(PerchError) -> ClockChange {
        let request = SetClockRequest(app: self.app, change: move.change)
        return try await self.call(Calls.setClock, request, timeout: timeout) { answer in
            guard let position = answer.position else { return nil }
            return ClockChange(
                position: position, clock: AppClockState(answer.clock), settledCount: answer.settledCount,
                renewedCount: answer.renewedCount, failedCount: answer.failedCount)
        }
    }
}
