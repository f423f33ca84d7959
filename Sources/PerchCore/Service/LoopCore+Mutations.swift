import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Mutations, as decisions for the store's thread: pure, repeatable functions of the store's state.
extension LoopCore {
    mutating func mutation(for request: Request, of app: AppNumber) throws(CallRefusal) -> Mutation {
        switch request {
        case .operate(let asked):
            guard let operation = asked.operation?.meant else {
                preconditionFailure("an operation was checked to be there")
            }
            let account = asked.account.isEmpty ? nil : Self.key(asked.account, app)
            return self.keyed(asked.idempotencyKey, .operation(operation, account: account, app: app), request)

        case .sync(let asked):
            let sync = Mutation.sync(Self.key(asked.account, app)).failing(as: .appStoreSync)
            return self.keyed(asked.idempotencyKey, sync, request)

        case .requestRefund(let asked):
            let (id, reason, text) = (asked.transactionID, asked.reason, asked.text)
            let subject = Subject.account(Self.key(asked.account, app), opens: false)
            let mutation = Mutation(subject, needsTestApp: true) { view throws(Refusal) in
                let subject = OperationSubject(view)
                let decision = try decideRefundRequest(
                    of: id, reason: reason, text: text, subject, app: view.app, now: view.now)
                return Decision(decision, of: subject)
            }
            return self.keyed(asked.idempotencyKey, mutation, request)

        case .redeemOfferCode(let asked):
            let (code, product) = (asked.code, asked.productID)
            let subject = Subject.account(Self.key(asked.account, app), opens: true)
            let mutation = Mutation(subject, needsTestApp: true) { view throws(Refusal) in
                let subject = OperationSubject(view)
                let decision = try decideRedemption(
                    ofCode: code, productID: product, subject, app: view.app, now: view.now, numbers: &view.numbers)
                return Decision(decision, of: subject)
            }
            return self.keyed(asked.idempotencyKey, mutation, request)

        case .manageSubscriptions(let asked):
            let operation = StoreOperation.setAutoRenew(.product(asked.productID), isOn: asked.isAutoRenewOn)
            let mutation = Mutation.operation(operation, account: Self.key(asked.account, app), app: app)
            return self.keyed(asked.idempotencyKey, mutation.failing(as: .manageSubscriptions), request)

        case .resolveBillingIssue(let asked):
            let mutation = Mutation.operation(
                .resolveBilling(.product(asked.productID)), account: Self.key(asked.account, app), app: app)
            return self.keyed(asked.idempotencyKey, mutation, request)

        case .answerPriceIncrease(let asked):
            let operation = StoreOperation.answerPriceIncrease(.product(asked.productID), agrees: asked.agrees)
            let mutation = Mutation.operation(operation, account: Self.key(asked.account, app), app: app)
            return self.keyed(asked.idempotencyKey, mutation, request)

        case .finish(let asked):
            let id = asked.transactionID
            let subject = Subject.transaction(Self.key(asked.account, app), id)
            let mutation = Mutation(subject, needsTestApp: false) { view throws(Refusal) in
                guard let row = view.transaction else { preconditionFailure("the store did not fetch the transaction") }
                if row.isFinished { return .unchanged(answer: .none) }
                let fact = Fact(.finished(id), effective: view.now)
                return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
            }
            return self.keyed(asked.idempotencyKey, mutation, request)

        case .configure(let asked):
            return self.keyed(asked.idempotencyKey, Self.configuration(asked.settings, of: app), request)

        case .setClock(let asked):
            guard let change = asked.change else { preconditionFailure("a clock change was checked to be there") }
            return self.clockMutation(change, of: app)

        default:
            throw CallRefusal(.unknownMethod, "this server does not implement \(request.method.path)")
        }
    }

    static func key(_ account: String, _ app: AppNumber) -> AccountKey {
        let text = account.utf8Span.span
        return AccountKey(app: app, bytes: text.withUnsafeBytes { [UInt8]($0) })
    }

    /// A key as views and tokens compare it: in an app of the App Store the case of a UUID makes no difference.
    func canonical(_ account: [UInt8], _ app: AppNumber) -> [UInt8] {
        guard account.count == AccountToken.textBytes, self.apps[app]?.isTestApp == false else { return account }
        return AccountKey(app: app, bytes: account).canonical.bytes
    }

    private static func configuration(_ settings: [AppSettingChange], of app: AppNumber) -> Mutation {
        Mutation(.app(app), needsTestApp: true) { view throws(Refusal) in
            let after = try decideConfiguration(
                settings, settings: view.app.settings, fileSettings: view.fileSettings,
                catalogue: view.app.catalogue)
            var change = AppChange()
            if after.settings != view.app.settings { change.settings = after.settings }
            if let catalogue = after.catalogue {
                change.catalogue = (catalogue, view.app.catalogueSource)
            }
            if change.settings == nil, change.catalogue == nil { return .unchanged(answer: .none) }
            return .commitApp(change, answer: .none)
        }
    }

    private func clockMutation(_ change: ClockChange, of app: AppNumber) -> Mutation {
        let target: @Sendable (DecisionView) throws(Refusal) -> Instant? = { view throws(Refusal) in
            switch change {
            case .freeze, .resume:
                return nil
            case .advanceBy(let delta):
                guard delta >= 0 else {
                    throw Refusal(
                        .clockBackwards,
                        "the clock cannot go back by \(exactly(milliseconds: delta).dropFirst()); it only goes forward")
                }
                guard delta <= Limits.advanceMillisecondsMax else {
                    throw Refusal(
                        .advanceLimit,
                        "the clock would go forward by \(exactly(milliseconds: delta)), the limit of one call is \(exactly(milliseconds: Limits.advanceMillisecondsMax)); advance in several calls",
                        field: "advance_by_ms", found: delta, limit: Limits.advanceMillisecondsMax)
                }
                return view.now.advanced(byMilliseconds: delta)
            case .advanceTo(let instant):
                guard instant >= view.now else {
                    let advice = instant.isPerhapsSeconds ? "; advance_to_ms is in milliseconds, not in seconds" : ""
                    throw Refusal(
                        .clockBackwards, "the clock is at \(view.now), it cannot go back to \(instant)\(advice)",
                        field: "advance_to_ms", found: instant.milliseconds)
                }
                guard instant.milliseconds(since: view.now) <= Limits.advanceMillisecondsMax else {
                    throw Refusal(
                        .advanceLimit,
                        "from \(view.now) to \(instant) is further than one call can go, \(exactly(milliseconds: Limits.advanceMillisecondsMax)); advance in several calls",
                        field: "advance_to_ms", limit: Limits.advanceMillisecondsMax)
                }
                return instant
            case .advanceToBoundary:
                let leeway = view.app.renewalLeewayMilliseconds
                let lines = view.accountRecord.lines
                let next = lines.compactMap { line in
                    line.forecast(after: view.now, leewayMilliseconds: leeway)?.at
                }.min()
                guard let next else {
                    throw Refusal(
                        .notSubscribed, "nothing will happen to this account by itself; buy a subscription first")
                }
                return next
            }
        }
        var subject = Subject.app(app)
        if case .advanceToBoundary(let account) = change {
            subject = .account(Self.key(account, app), opens: false)
        }
        var mutation = Mutation(subject, needsTestApp: true) { view throws(Refusal) in
            var appChange = AppChange()
            let clock = view.app.clock
            switch (change, clock) {
            case (.freeze, .running):
                appChange.clock = .frozen(at: view.now)
            case (.resume, .frozen(let at)):
                appChange.clock = .running(offsetMilliseconds: at.milliseconds(since: view.wall))
            case (.freeze, .frozen), (.resume, .running):
                return .unchanged(answer: StoreEngine.clockResult(view.app, wall: view.wall, settled: RenewalCount()))
            case (_, .running(let offset)):
                guard let goal = try target(view) else { preconditionFailure("an advance has a target") }
                appChange.clock = .running(offsetMilliseconds: offset + goal.milliseconds(since: view.now))
            case (_, .frozen):
                guard let goal = try target(view) else { preconditionFailure("an advance has a target") }
                appChange.clock = .frozen(at: goal)
            }
            return .commitApp(appChange, answer: .none)
        }
        mutation.waitsForSettling = true
        if case .freeze = change { mutation.stopsClock = true }
        return mutation
    }

    /// A mutation with an idempotency key happens once. The key covers the whole request, so that it cannot be used for
    /// another one.
    mutating func keyed(_ key: [UInt8], _ mutation: consuming Mutation, _ request: Request) -> Mutation {
        guard !key.isEmpty else { return mutation }
        do throws(MessageError) {
            let encoded = try self.codec.encode(request)
            mutation.repeatable(
                under: key, of: Digest(of: Array(request.method.path.utf8) + Array(encoded.message)))
        } catch {
            preconditionFailure("a request that was decoded cannot be encoded: \(error)")
        }
        return mutation
    }

    // MARK: Answers

    /// The response of a method for its mutation's `result`.
    mutating func response(
        to request: Request, _ result: MutationResult, at position: Position, of app: AppNumber
    ) -> Response {
        switch (request, result) {
        case (.operate(let asked), let result):
            if case .decidePurchase? = asked.operation {
                return .operate(self.operateResponse(result, at: position, isPurchase: true))
            }
            return .operate(self.operateResponse(result, at: position, isPurchase: false))
        case (.sync, _): return .sync(Acknowledgement(position: position))
        case (.resolveBillingIssue, _): return .resolveBillingIssue(Acknowledgement(position: position))
        case (.answerPriceIncrease, _): return .answerPriceIncrease(Acknowledgement(position: position))
        case (.manageSubscriptions, _): return .manageSubscriptions(Acknowledgement(position: position))
        case (.requestRefund, .transaction(let transaction, let isAsItWas, let failure)):
            return .requestRefund(
                RefundAnswer(
                    position: position, isApproved: !isAsItWas, transaction: Verified(transaction, failure: failure)))
        case (.redeemOfferCode, .transaction(let transaction, let wasHeld, let failure)):
            return .redeemOfferCode(
                RedeemedCode(
                    position: position, transaction: Verified(transaction, failure: failure),
                    appliesAtRenewal: wasHeld))
        case (.configure, _): return .configure(Acknowledgement(position: position))
        case (.finish, _): return .finish(Acknowledgement(position: position))
        case (.submitTransaction, .told(let outcome)):
            return .submitTransaction(SubmissionAnswer(outcome, at: position))
        case (.submitNotification, .told(let outcome)):
            return .submitNotification(SubmissionAnswer(outcome, at: position))
        case (.retryDeadLetter, .told(let outcome)):
            return .retryDeadLetter(RetryAnswer(position: position, newsCount: outcome.news))
        case (.grantEntitlement, _): return .grantEntitlement(Acknowledgement(position: position))
        case (.revokeGrant, _): return .revokeGrant(Acknowledgement(position: position))
        case (.attachAlias, .told(let outcome)): return .attachAlias(MoveAnswer(outcome, at: position))
        case (.detachAlias, .told(let outcome)): return .detachAlias(MoveAnswer(outcome, at: position))
        case (.moveTransaction, .told(let outcome)): return .moveTransaction(MoveAnswer(outcome, at: position))
        case (.mergeAccounts, .told(let outcome)): return .mergeAccounts(MoveAnswer(outcome, at: position))
        case (.eraseAccount, .number(let count)):
            return .eraseAccount(EraseAccountResponse(position: position, factCount: count))
        case (.dropDeadLetter, _): return .dropDeadLetter(Acknowledgement(position: position))
        case (.setClock, .clock(let now, let isFrozen, let offset, let rate, let settled)):
            return .setClock(
                SetClockResponse(
                    position: position,
                    clock: ClockState(
                        now: now, isFrozen: isFrozen, offsetMilliseconds: offset, timeRate: rate.rawValue),
                    settledCount: settled.settled, renewedCount: settled.renewed, failedCount: settled.failed))
        default:
            preconditionFailure("\(request.method) came to a result of another method")
        }
    }
}

extension MutationResult {
    /// The contract's result of a purchase outcome.
    var purchaseResult: PurchaseResult {
        switch self {
        case .transaction: .success
        case .pending: .pending
        case .cancelled: .userCancelled
        case .none, .number, .clock, .told: .unspecified
        }
    }
}

extension Mutation {
    /// Adds a check for an armed failure of this part of the store.
    fileprivate func failing(as api: StoreKitAPI) -> Mutation {
        self.deciding { view throws(Refusal) in
            try refuseIfSimulated(api, app: view.app)
            return try self.decide(&view)
        }
    }
}

extension StoreOperation {
    /// The operation with the contract's defaults for the fields that the caller left out.
    var meant: StoreOperation {
        switch self {
        case .buy(let order) where order.saysWhatIsMeant:
            return self
        case .buy(var order):
            order.quantity = max(order.quantity, 1)
            return .buy(order)
        case .refund(let target, .unspecified, let share):
            return .refund(target, reason: .other, share: share)
        default:
            return self
        }
    }
}
