import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Requests that change something, as decisions for the store's thread: pure, repeatable, over what the store shows.
extension LoopCore {
    /// The farthest that one call may move a clock.
    private static let advanceMillisecondsMax: Int64 = 100 * 366 * 86_400_000

    func mutation(for request: Request, app: AppNumber) throws(CallRefusal) -> Mutation {
        switch request {
        case .purchase(let asked):
            if let offer = asked.offer {
                throw CallRefusal(
                    .purchaseInvalidOffer,
                    "\(offer.type) offers are not sold yet; introductory offers apply by themselves",
                    details: [StatusDetail(key: "field", value: "offer")])
            }
            let order = PurchaseOrder(
                productID: asked.productID, quantity: max(asked.quantity, 1),
                appAccountToken: asked.appAccountToken.lowercased())
            return self.keyed(
                asked.idempotencyKey,
                self.purchase(order, account: asked.account, app: app),
                parts: ["purchase", asked.account, asked.productID, "\(order.quantity)", order.appAccountToken])

        case .buyProduct(let asked):
            let order = PurchaseOrder(productID: asked.productID, quantity: max(asked.quantity, 1))
            return self.keyed(
                asked.idempotencyKey, self.purchase(order, account: asked.account, app: app),
                parts: ["buy", asked.account, asked.productID, "\(order.quantity)"])

        case .finish(let asked):
            let key = AccountKey(app: app, bytes: Array(asked.account.utf8))
            let id = asked.transactionID
            let mutation = Mutation(.transaction(key, id), needsTestApp: false) { view throws(Refusal) in
                guard let row = view.transaction else { preconditionFailure("the store did not fetch the transaction") }
                if row.isFinished { return .unchanged(answer: .none) }
                let fact = Fact(.finished(id), effective: view.now)
                return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
            }
            return self.keyed(asked.idempotencyKey, mutation, parts: ["finish", asked.account, "\(id)"])

        case .refundTransaction(let asked):
            let reason = asked.reason == .unspecified ? RevocationReason.other : asked.reason
            let mutation = Mutation(.owner(app: app, of: asked.transactionID), needsTestApp: true) {
                view throws(Refusal) in
                guard let row = view.transaction else { preconditionFailure("the store did not fetch the transaction") }
                if row.transaction.productType == .nonRenewable, view.fetched.isEmpty {
                    var query = TransactionQuery(limit: Limits.pageSizeMax)
                    query.productID = row.transaction.productID
                    query.isNewestFirst = true
                    return .need(query)
                }
                let (facts, transaction) = try decideRefund(
                    of: row.transaction, reason: reason, others: view.fetched.map(\.transaction), now: view.now)
                let answer = MutationResult.transaction(transaction, wasHeld: false)
                if facts.isEmpty { return .unchanged(answer: answer) }
                return .commit([AccountFacts(account: row.account, facts: facts)], answer: answer)
            }
            return self.keyed(
                asked.idempotencyKey, mutation, parts: ["refund", "\(asked.transactionID)", "\(reason.rawValue)"])

        case .setAutoRenew(let asked):
            let isOn = asked.isEnabled
            let mutation = Mutation(.owner(app: app, of: asked.transactionID), needsTestApp: true) {
                view throws(Refusal) in
                guard let row = view.transaction else { preconditionFailure("the store did not fetch the transaction") }
                let record = view.accountRecord
                guard let index = record.lineIndex(original: row.transaction.originalID) else {
                    throw Refusal(
                        .notASubscription,
                        "transaction \(row.transaction.id) is of a \(row.transaction.productType), which never renews")
                }
                let facts = try decideAutoRenew(isOn, line: record.lines[index], app: view.app, now: view.now)
                if facts.isEmpty { return .unchanged(answer: .none) }
                return .commit([AccountFacts(account: record.account, facts: facts)], answer: .none)
            }
            return self.keyed(
                asked.idempotencyKey, mutation, parts: ["auto-renew", "\(asked.transactionID)", "\(isOn)"])

        case .forceRenewal(let asked):
            let product = asked.productID
            let mutation = self.onLine(account: asked.account, product: product, app: app) {
                view, line throws(Refusal) in
                let (facts, transaction) = try decideForcedRenewal(
                    of: line, record: view.accountRecord, app: view.app, now: view.now, numbers: &view.numbers)
                return .commit(
                    [AccountFacts(account: view.accountRecord.account, facts: facts)],
                    answer: .transaction(transaction, wasHeld: false))
            }
            return self.keyed(asked.idempotencyKey, mutation, parts: ["renew", asked.account, product])

        case .expireSubscription(let asked):
            let product = asked.productID
            let mutation = self.onLine(account: asked.account, product: product, app: app) {
                view, line throws(Refusal) in
                let facts = try decideExpiry(of: line, app: view.app, now: view.now)
                return .commit([AccountFacts(account: view.accountRecord.account, facts: facts)], answer: .none)
            }
            return self.keyed(asked.idempotencyKey, mutation, parts: ["expire", asked.account, product])

        case .setClock(let asked):
            guard let change = asked.change else { preconditionFailure("a clock change was checked to be there") }
            return self.clockMutation(change, app: app)

        case .setTimeRate(let asked):
            guard let rate = TimeRate(rawValue: asked.timeRate) else {
                throw CallRefusal(
                    .fieldInvalid,
                    "there is no time rate \(asked.timeRate); `perch store clock --help` lists them",
                    details: [StatusDetail(key: "field", value: "time_rate")])
            }
            return Mutation(.app(app), needsTestApp: true) { view throws(Refusal) in
                if view.app.settings.timeRate == rate { return .unchanged(answer: .none) }
                var change = AppChange()
                change.settings = view.app.settings
                change.settings?.timeRate = rate
                return .commitApp(change, answer: .none)
            }

        default:
            preconditionFailure("\(request.method) changes nothing")
        }
    }

    private func purchase(_ order: PurchaseOrder, account: String, app: AppNumber) -> Mutation {
        let key = AccountKey(app: app, bytes: Array(account.utf8))
        return Mutation(.account(key, opens: true), needsTestApp: true) { view throws(Refusal) in
            let record = view.accountRecord
            let outcome = try decidePurchase(
                order, record: record, app: view.app, now: view.now, numbers: &view.numbers)
            let answer = MutationResult.transaction(outcome.transaction, wasHeld: outcome.wasHeld)
            if outcome.facts.isEmpty { return .unchanged(answer: answer) }
            return .commit([AccountFacts(account: record.account, facts: outcome.facts)], answer: answer)
        }
    }

    /// A decision about the own line of an account that holds a product.
    private func onLine(
        account: String, product: String, app: AppNumber,
        _ decide: @escaping @Sendable (inout DecisionView, Line) throws(Refusal) -> Decision
    ) -> Mutation {
        let key = AccountKey(app: app, bytes: Array(account.utf8))
        return Mutation(.account(key, opens: false), needsTestApp: true) { view throws(Refusal) in
            guard let known = view.app.catalogue.product(product) else {
                throw Refusal(.productUnknown, "product \(product) is not in the catalogue of \(view.app.bundleID)")
            }
            guard known.subscription != nil else {
                throw Refusal(.notASubscription, "product \(product) is a \(known.type), which never renews")
            }
            guard let line = view.accountRecord.lines.first(where: { $0.isOwn && $0.latest.productID == product })
            else {
                throw Refusal(.notSubscribed, "the account does not hold \(product); buy it first")
            }
            return try decide(&view, line)
        }
    }

    private func clockMutation(_ change: ClockChange, app: AppNumber) -> Mutation {
        let target: @Sendable (DecisionView) throws(Refusal) -> Instant? = { view throws(Refusal) in
            switch change {
            case .freeze, .resume:
                return nil
            case .advanceBy(let delta):
                guard delta >= 0 else {
                    throw Refusal(.clockBackwards, "the clock cannot go back by \(-delta) ms; it only goes forward")
                }
                guard delta <= Self.advanceMillisecondsMax else {
                    throw Refusal(
                        .advanceLimit,
                        "the clock would go forward by \(delta) ms, the limit of one call is \(Self.advanceMillisecondsMax)"
                    )
                }
                return view.now.advanced(byMilliseconds: delta)
            case .advanceTo(let instant):
                guard instant >= view.now else {
                    throw Refusal(.clockBackwards, "the clock is at \(view.now), it cannot go back to \(instant)")
                }
                guard instant.milliseconds(since: view.now) <= Self.advanceMillisecondsMax else {
                    throw Refusal(
                        .advanceLimit,
                        "from \(view.now) to \(instant) is more than one call may go: \(Self.advanceMillisecondsMax) ms"
                    )
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
            subject = .account(AccountKey(app: app, bytes: Array(account.utf8)), opens: false)
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
                return .unchanged(answer: StoreEngine.clockResult(view.app, wall: view.wall, settledCount: 0))
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
        return mutation
    }

    private func keyed(_ key: [UInt8], _ mutation: Mutation, parts: [String]) -> Mutation {
        guard !key.isEmpty else { return mutation }
        var mutation = mutation
        mutation.key = key
        mutation.keyDigest = ViewKey.products(ids: parts, locale: "", storefront: "").digest(app: 0, account: [])
        return mutation
    }

    // MARK: Answers

    /// The response of a method whose mutation came to `result`.
    func response(to request: Request, _ result: MutationResult, at position: Position) -> Response {
        switch (request, result) {
        case (.purchase, .transaction(let transaction, let wasHeld)):
            return .purchase(
                PurchaseResponse(
                    position: position, result: .success, transaction: Verified(transaction), wasHeld: wasHeld))
        case (.buyProduct, .transaction(let transaction, let wasHeld)):
            return .buyProduct(
                BuyProductResponse(position: position, transaction: Verified(transaction), wasHeld: wasHeld))
        case (.refundTransaction, .transaction(let transaction, _)):
            return .refundTransaction(ChangedTransaction(position: position, transaction: Verified(transaction)))
        case (.forceRenewal, .transaction(let transaction, _)):
            return .forceRenewal(ChangedTransaction(position: position, transaction: Verified(transaction)))
        case (.finish, _): return .finish(Acknowledgement(position: position))
        case (.setAutoRenew, _): return .setAutoRenew(Acknowledgement(position: position))
        case (.expireSubscription, _): return .expireSubscription(Acknowledgement(position: position))
        case (.setTimeRate, _): return .setTimeRate(Acknowledgement(position: position))
        case (.setClock, .clock(let now, let isFrozen, let offset, let rate, let settled)):
            return .setClock(
                SetClockResponse(
                    position: position,
                    clock: ClockState(
                        now: now, isFrozen: isFrozen, offsetMilliseconds: offset, timeRate: rate.rawValue),
                    settledCount: settled))
        default:
            preconditionFailure("\(request.method) came to a result of another method")
        }
    }
}
