import PerchBase
import PerchModel
import PerchWire

// Carrying out steps.
extension ScenarioRunner {
    func perform(_ step: Step) throws(ScenarioFailure) {
        switch step {
        case .buy(let account, let order, let isOutside): try self.buy(account, order, isOutside: isOutside)
        case .operate(let account, let operation): try self.operate(account, operation)
        case .finish(let account, let target): try self.finish(account, target)
        case .sync(let account):
            try self.act(
                self.app, .sync(SyncRequest(app: self.appReference, account: self.key(account))), account)
        case .requestRefund(let account, let target, let reason, let text):
            guard let id = try self.identify(target, account) else { return }
            try self.act(
                self.app,
                .requestRefund(
                    RefundRequest(
                        app: self.appReference, account: self.key(account), transactionID: id, reason: reason,
                        text: text)), account)
        case .redeem(let account, let code, let product):
            try self.act(
                self.app,
                .redeemOfferCode(
                    RedeemOfferCodeRequest(
                        app: self.appReference, account: self.key(account), code: code, productID: product)), account)
        case .manage(let account, let product, let isOn):
            try self.act(
                self.app,
                .manageSubscriptions(
                    ManageSubscriptionsRequest(
                        app: self.appReference, account: self.key(account), productID: product, isAutoRenewOn: isOn)),
                account)
        case .configure(let settings):
            let settings = self.note(settings.map { self.shifted($0) })
            try self.act(self.store, .configure(ConfigureRequest(app: self.appReference, settings: settings)), "")
        case .again:
            guard let last = self.lastKeyed else {
                throw ScenarioFailure("nothing was bought, operated or set before that could be asked for again")
            }
            self.take(try last.connection.ask(last.request), last.account)
        case .load(let source):
            self.take(try self.loading(source), "")
            try self.findGroups()
        case .mishap(let mishap):
            try self.act(
                self.store,
                .orderMishap(
                    OrderMishapRequest(
                        app: self.appReference, kind: mishap.kind, times: mishap.times,
                        delayMilliseconds: mishap.milliseconds, path: mishap.path)), "")
        case .clock(let step): try self.move(step)
        case .watch(let key):
            try self.close(key)
            try self.open(key)
        case .unwatch(let key): try self.close(key)
        case .name(let account, let reference):
            var outcome = Outcome(result: .done, account: account)
            outcome.transaction = try self.find(reference, account: account).map { Verified($0) }
            if outcome.transaction == nil {
                outcome.result = .refused(self.noTransaction(reference, account))
            }
            self.outcome = outcome
        }
    }

    /// Sends a request, and keeps its outcome.
    private func act(_ connection: ScenarioConnection, _ request: Request, _ account: String) throws(ScenarioFailure) {
        let keyed = self.keyed(request)
        if keyed.idempotencyKey?.isEmpty == false { self.lastKeyed = (connection, keyed, account) }
        self.take(try connection.ask(keyed), account)
    }

    /// The request with a new idempotency key, where `again` repeats requests of its kind.
    func keyed(_ request: Request) -> Request {
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        switch request {
        case .purchase(var asked):
            asked.idempotencyKey = key
            return .purchase(asked)
        case .operate(var asked):
            asked.idempotencyKey = key
            return .operate(asked)
        case .configure(var asked):
            asked.idempotencyKey = key
            return .configure(asked)
        default:
            return request
        }
    }

    private func take(_ answer: Result<Response, RefusedCall>, _ account: String) {
        var outcome = Outcome(result: .done, account: account)
        switch answer {
        case .failure(let refusal): outcome.result = .refused(refusal)
        case .success(let response):
            self.reached(response.position)
            switch response {
            case .purchase(let answer):
                self.take(answer.result, &outcome)
                outcome.transaction = answer.transaction
                outcome.wasHeld = answer.wasHeld
            case .operate(let answer):
                if answer.purchaseResult != .unspecified { self.take(answer.purchaseResult, &outcome) }
                outcome.transaction = answer.transaction
                outcome.wasHeld = answer.wasHeld
            case .requestRefund(let answer):
                outcome.isApproved = answer.isApproved
                outcome.transaction = answer.transaction
            case .redeemOfferCode(let answer):
                outcome.transaction = answer.transaction
                outcome.appliesAtRenewal = answer.appliesAtRenewal
            case .setClock(let answer):
                self.now = answer.clock.now
                self.isFrozen = answer.clock.isFrozen
                outcome.settledCount = answer.settledCount
            default: break
            }
        }
        self.outcome = outcome
    }

    private func take(_ result: PurchaseResult, _ outcome: inout Outcome) {
        outcome.isPurchase = true
        switch result {
        case .pending: outcome.result = .pending
        case .userCancelled: outcome.result = .cancelled
        default: outcome.result = .done
        }
    }

    // MARK: The app and the customer

    private func buy(_ account: String, _ wanted: ScenarioOrder, isOutside: Bool) throws(ScenarioFailure) {
        var order = wanted.order
        if let date = wanted.date {
            guard let instant = try self.resolve(date, account: account) else {
                throw ScenarioFailure("the date of this purchase depends on a transaction that does not have it")
            }
            order.date = instant
        }
        if isOutside {
            try self.act(
                self.store,
                .operate(
                    OperateRequest(app: self.appReference, account: self.key(account), operation: .buy(order))),
                account)
        } else {
            try self.act(
                self.app,
                .purchase(PurchaseRequest(app: self.appReference, account: self.key(account), order: order)), account)
        }
        // The store says that nothing was bought now; what was asked for says that something comes of it later.
        if let outcome = self.outcome, outcome.wasHeld, let held = outcome.transaction?.value {
            self.outcome?.appliesAtRenewal =
                held.productType == .autoRenewable && (held.productID != order.productID || order.offer != nil)
        }
    }

    private func finish(_ account: String, _ target: FinishTarget) throws(ScenarioFailure) {
        let ids: [TransactionID]
        switch target {
        case .all: ids = try self.list(.unfinished(account: account)).map(\.value.id)
        case .one(let reference):
            guard let id = try self.identify(reference, account) else { return }
            ids = [id]
        }
        self.outcome = Outcome(result: .done, account: account)
        for id in ids {
            try self.act(
                self.app,
                .finish(FinishRequest(app: self.appReference, account: self.key(account), transactionID: id)), account)
        }
    }

    private func move(_ step: ClockStep) throws(ScenarioFailure) {
        let change: ClockChange
        switch step {
        case .freeze: change = .freeze
        case .resume: change = .resume
        case .toNextBoundary(let account): change = .advanceToBoundary(account: self.key(account))
        case .to(let expression):
            if !self.isFrozen { try self.lookAtClock() }
            guard let instant = try self.resolve(expression, account: "") else {
                throw ScenarioFailure("this instant depends on a transaction that does not have it")
            }
            guard instant >= self.now else {
                throw ScenarioFailure(
                    "the clock stands at \(self.unshifted(self.now)) and never runs backwards, to \(self.unshifted(instant))"
                )
            }
            change = .advanceTo(instant)
        }
        try self.act(self.store, .setClock(SetClockRequest(app: self.appReference, change: change)), "")
    }

    func lookAtClock() throws(ScenarioFailure) {
        guard case .success(.getClock(let answer)) = try self.store.ask(.getClock(ClockRequest(app: self.appReference)))
        else { return }
        self.now = answer.clock.now
        self.isFrozen = answer.clock.isFrozen
    }

    // MARK: The store

    private func operate(_ account: String, _ operation: AccountOperation) throws(ScenarioFailure) {
        guard let resolved = try self.resolve(operation, account) else { return }
        try self.act(
            self.store,
            .operate(OperateRequest(app: self.appReference, account: self.key(account), operation: resolved)), account)
        if case .decidePurchase(_, let approves) = operation, case .done? = self.outcome?.result {
            self.outcome?.isApproved = approves
        }
    }

    /// Nil if the transaction does not exist: the step then has that outcome.
    private func resolve(
        _ operation: AccountOperation, _ account: String
    ) throws(ScenarioFailure) -> StoreOperation? {
        func target(_ reference: Reference?) throws(ScenarioFailure) -> OperationTarget? {
            try self.target(reference, account)
        }
        switch operation {
        case .refund(let reference, let reason, let share):
            return try target(reference).map { .refund($0, reason: reason, share: share) }
        case .reverseRefund(let reference): return try target(reference).map { .reverseRefund($0) }
        case .declineRefund(let reference): return try target(reference).map { .declineRefund($0) }
        case .requestConsumption(let reference): return try target(reference).map { .requestConsumption($0) }
        case .renew(let reference): return try target(reference).map { .renew($0) }
        case .expire(let reference): return try target(reference).map { .expire($0) }
        case .setAutoRenew(let reference, let isOn): return try target(reference).map { .setAutoRenew($0, isOn: isOn) }
        case .resolveBilling(let reference): return try target(reference).map { .resolveBilling($0) }
        case .setCharges(let fail): return .setCharges(fail: fail)
        case .raisePrice(let reference, let milliunits, let consent):
            return try target(reference).map { .raisePrice($0, milliunits: milliunits, needsConsent: consent) }
        case .answerPriceIncrease(let reference, let agrees):
            return try target(reference).map { .answerPriceIncrease($0, agrees: agrees) }
        case .extendRenewal(let reference, let duration):
            return try self.extension(reference, duration, account)
        case .share(let reference, let member):
            return try target(reference).map { .share($0, member: self.key(member)) }
        case .stopSharing(let reference, let member):
            let what = try reference.flatMap { (reference) throws(ScenarioFailure) in try target(reference) }
            if reference != nil, what == nil { return nil }
            return .stopSharing(what, member: member.map { self.key($0) })
        case .decidePurchase(let waiting, let approves):
            return try self.pendingNumber(waiting, account).map { .decidePurchase(id: $0, approves: approves) }
        case .deleteTransaction(let reference):
            return try self.identify(reference, account).map { .deleteTransaction($0) }
        case .clearTransactions: return .clearTransactions
        case .createIntent(let product, let offer): return .createIntent(productID: product, offer: offer)
        case .endIntent(let waiting): return try self.intentNumber(waiting, account).map { .endIntent(id: $0) }
        case .setStorefront(let storefront): return .setStorefront(storefront)
        case .postMessage: return .postMessage
        case .setPayments(let isAllowed): return .setPayments(isAllowed: isAllowed)
        case .setAppTransaction(var terms):
            terms.originalPurchaseDate = terms.originalPurchaseDate.map { self.shifted($0) }
            return .setAppTransaction(terms)
        }
    }

    /// A calendar month is counted from the end of the period.
    private func `extension`(
        _ reference: Reference?, _ duration: ScenarioDuration, _ account: String
    ) throws(ScenarioFailure) -> StoreOperation? {
        guard let target = try self.target(reference, account) else { return nil }
        guard duration.months != 0 else { return .extendRenewal(target, milliseconds: duration.milliseconds) }
        let status = try self.ownStatus(account)
        guard let end = status?.renewalInfo.value.renewalDate else {
            throw ScenarioFailure("nothing is held whose end could move by months; write days, such as 30d")
        }
        return .extendRenewal(target, milliseconds: duration.end(from: end).milliseconds(since: end))
    }

    /// The target of an operation; if omitted, the only subscription.
    private func target(_ reference: Reference?, _ account: String) throws(ScenarioFailure) -> OperationTarget? {
        guard let reference else {
            guard let status = try self.ownStatus(account) else {
                self.refuse(
                    "NOT_SUBSCRIBED", "\(account) has no own subscription; name one", account)
                return nil
            }
            return .transaction(status.transaction.value.originalID)
        }
        if case .product(let product) = reference { return .product(product) }
        return try self.identify(reference, account).map { .transaction($0) }
    }

    /// The account's own line, of the first group that has one.
    private func ownStatus(_ account: String) throws(ScenarioFailure) -> SubscriptionStatus? {
        for group in self.groups {
            let request = SubscriptionStatusRequest(
                app: self.appReference, account: self.key(account), groupID: group, atLeast: self.position)
            guard
                case .success(.getSubscriptionStatus(.success(let statuses, _))) = try self.app.ask(
                    .getSubscriptionStatus(request))
            else { continue }
            let own = statuses.statuses.first { $0.transaction.value.ownership != .familyShared }
            if let own { return own }
        }
        return nil
    }

    func inspect(_ account: String) throws(ScenarioFailure) -> AccountInspection? {
        let request = InspectAccountRequest(
            app: self.appReference, account: self.key(account), atLeast: self.position)
        guard case .success(.inspectAccount(let inspection)) = try self.store.ask(.inspectAccount(request)) else {
            return nil
        }
        return inspection
    }

    private func pendingNumber(_ waiting: Waiting, _ account: String) throws(ScenarioFailure) -> UInt64? {
        if case .number(let number) = waiting { return number }
        let purchases = try self.inspect(account)?.pendingPurchases ?? []
        if let found = waiting.chosen(of: purchases, { $0.order.productID }) { return found.id }
        self.refuse("PENDING_UNKNOWN", "no purchase of \(account) waits", account)
        return nil
    }

    private func intentNumber(_ waiting: Waiting, _ account: String) throws(ScenarioFailure) -> UInt64? {
        if case .number(let number) = waiting { return number }
        let intents = try self.inspect(account)?.intents ?? []
        if let found = waiting.chosen(of: intents, { $0.productID }) { return found.id }
        self.refuse("INTENT_UNKNOWN", "no intent of \(account) waits", account)
        return nil
    }

    // MARK: Transactions

    private func noTransaction(_ reference: Reference, _ account: String) -> RefusedCall {
        RefusedCall(
            code: 5, reason: "TRANSACTION_UNKNOWN", message: "\(account) has no transaction that is \(reference)")
    }

    private func refuse(_ reason: String, _ message: String, _ account: String) {
        self.outcome = Outcome(
            result: .refused(RefusedCall(code: 9, reason: reason, message: message)), account: account)
    }

    /// The ID of a transaction; if it does not exist, the step has that outcome.
    private func identify(_ reference: Reference, _ account: String) throws(ScenarioFailure) -> TransactionID? {
        if case .number(let number) = reference { return number }
        if let transaction = try self.find(reference, account: account) { return transaction.id }
        self.outcome = Outcome(result: .refused(self.noTransaction(reference, account)), account: account)
        return nil
    }

    /// A transaction as it is now.
    func find(_ reference: Reference, account: String) throws(ScenarioFailure) -> Transaction? {
        switch reference {
        case .named(let name):
            guard let named = self.transactions[name] else { return nil }
            return try self.refreshed(named.transaction, named.account)
        case .number(let number):
            return try self.history(account, nil).first { $0.value.id == number }?.value
        case .product(let product), .latest(.some(let product)):
            let request = LatestTransactionRequest(
                app: self.appReference, account: self.key(account), productID: product, atLeast: self.position)
            guard case .success(.getLatestTransaction(let answer)) = try self.app.ask(.getLatestTransaction(request))
            else { return nil }
            return answer.transaction?.value
        case .latest(.none): return try self.history(account, nil).last?.value
        case .first(let product): return try self.history(account, product).first?.value
        case .renewal(let number, let product):
            let renewals = try self.history(account, product).map(\.value).filter { $0.reason == .renewal }
            return number >= 1 && number <= renewals.count ? renewals[number - 1] : nil
        }
    }

    /// The transaction may have been refunded since it was named, so it is read again.
    private func refreshed(_ transaction: Transaction, _ account: String) throws(ScenarioFailure) -> Transaction {
        let all = try self.history(account, transaction.productID)
        return all.first { $0.value.id == transaction.id }?.value ?? transaction
    }

    func history(_ account: String, _ product: String?) throws(ScenarioFailure) -> [Verified<Transaction>] {
        try self.list(.history(account: account, product: product, includesFinishedConsumables: true))
    }

    /// All pages of a list.
    func list(_ subject: Expectation.Subject) throws(ScenarioFailure) -> [Verified<Transaction>] {
        var all: [Verified<Transaction>] = []
        var token: [UInt8] = []
        repeat {
            let request: Request
            switch subject {
            case .history(let account, let product, let includes):
                request = .listTransactions(
                    ListTransactionsRequest(
                        app: self.appReference, account: self.key(account), productID: product ?? "",
                        includesFinishedConsumables: includes, pageSize: 500, pageToken: token, atLeast: self.position))
            case .unfinished(let account):
                request = .listUnfinished(
                    ListUnfinishedRequest(
                        app: self.appReference, account: self.key(account), pageSize: 500, pageToken: token,
                        atLeast: self.position))
            default: preconditionFailure("only histories have pages")
            }
            let page: TransactionPage
            switch try self.app.ask(request) {
            case .success(.listTransactions(let answer)), .success(.listUnfinished(let answer)): page = answer
            case .failure(let refusal) where refusal.code == 5: return all
            case .failure(let refusal):
                throw ScenarioFailure("a list was refused: \(refusal.reason): \(refusal.message)")
            case .success(let other): throw ScenarioFailure("a list was answered with \(other.method.path)")
            }
            all += page.transactions
            token = page.nextPageToken
        } while !token.isEmpty && all.count < Limits.scenarioTransactionsMax
        return all
    }
}

extension Waiting {
    fileprivate func chosen<Each>(of all: [Each], _ product: (Each) -> String) -> Each? {
        switch self {
        case .product(let wanted): return all.first { product($0) == wanted }
        case .place(let place, let wanted):
            return place < 1 ? nil : all.filter { product($0) == wanted }.dropFirst(place - 1).first
        case .oldest, .number: return all.first
        }
    }
}
