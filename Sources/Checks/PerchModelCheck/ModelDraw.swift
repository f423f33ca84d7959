import PerchBase
import PerchModel
import PerchStore
import PerchTesting

/// Draws the details of an event from the state at its turn.
struct ModelDraw {
    let world: ModelWorld
    let mix: ModelMix
    var random: SeededRandom
    let account: Int

    init(_ event: ModelEvent, in world: ModelWorld) {
        self.world = world
        self.mix = event.mix
        self.random = SeededRandom(seed: event.seed)
        self.account = self.random.element(event.mix.accounts)
    }

    private var record: AccountRecord? { self.world.record(self.account) }
    private var transactions: [Transaction] { self.world.rows(self.account).map(\.transaction) }

    mutating func action() -> ModelAction {
        let kind = self.mix.kind(&self.random)
        // Pending purchases and requests are drawn on purpose, because random events would seldom answer them.
        if let record, [.buy, .advance, .again].contains(kind), self.random.below(4) == 0 {
            if !record.pendingPurchases.isEmpty, kind != .advance { return self.pending() }
            if !record.awaitingSync.isEmpty { return .sync(account: self.account) }
            if !self.fitting(.isAsked, in: record).isEmpty { return self.action(.answerPrice) }
            if !self.fitting(.fails, in: record).isEmpty { return self.action(.resolveBilling) }
        }
        return self.action(kind)
    }

    private mutating func action(_ kind: ModelKind) -> ModelAction {
        switch kind {
        case .buy: .operate(account: self.account, .buy(self.order()))
        case .advance: .advance(to: self.instant())
        case .refund: self.refund()
        case .reverseRefund: .operate(account: self.account, .reverseRefund(self.refunded()))
        case .declineRefund: self.about { target, _ in .declineRefund(target) }
        case .requestConsumption: self.about { target, _ in .requestConsumption(target) }
        case .autoRenew: self.about(.runs) { .setAutoRenew($0, isOn: $1.below(3) == 0) }
        case .renew: self.about(.runs) { target, _ in .renew(target) }
        case .expire: self.about(.runs) { target, _ in .expire(target) }
        case .resolveBilling: self.about(.fails) { target, _ in .resolveBilling(target) }
        case .charges:
            .operate(account: self.account, .setCharges(fail: self.charges()))
        case .payments:
            // Ends soon what keeps an account from buying.
            .operate(
                account: self.account,
                .setPayments(isAllowed: self.record?.arePaymentsForbidden == true || self.random.below(3) > 0))
        case .appTransaction:
            .operate(
                account: self.account,
                .setAppTransaction(
                    AppTransactionTerms(
                        originalAppVersion: self.random.element(["", "1.2"]),
                        originalPlatform: self.random.element([.unspecified, .macOS]))))
        case .raisePrice:
            self.about(.runs) {
                .raisePrice(
                    $0, milliunits: 1_000 * Int64(2 + $1.below(30)), needsConsent: [true, false, nil][$1.below(3)])
            }
        case .answerPrice:
            self.about(.isAsked) { .answerPriceIncrease($0, agrees: $1.bool()) }
        case .extend: self.about(.runs) { .extendRenewal($0, milliseconds: Int64(1 + $1.below(20)) * 86_400_000) }
        case .share: self.share()
        case .stopSharing: self.stopSharing()
        case .decidePurchase: self.pending()
        case .delete: .operate(account: self.account, .deleteTransaction(self.transaction()))
        case .clear: .operate(account: self.account, .clearTransactions)
        case .createIntent: self.intent()
        case .endIntent: self.endIntent()
        case .storefront: .operate(account: self.account, .setStorefront(self.random.element(["", "FRA", "JPN"])))
        case .postMessage: .operate(account: self.account, .postMessage)
        case .sync: .sync(account: self.account)
        case .finish: .finish(account: self.account, self.transaction())
        case .configure: self.configuration()
        case .again: .again
        }
    }

    // MARK: What it is about

    private mutating func about(_ operation: (OperationTarget, inout SeededRandom) -> StoreOperation) -> ModelAction {
        let target = self.target()
        return .operate(account: self.account, operation(target, &self.random))
    }

    /// The state of a line in which most events are not refused.
    private enum Fitness {
        /// Its period runs.
        case runs
        /// Its charge fails.
        case fails
        /// The store asked its customer for a higher price.
        case isAsked
    }

    private func fitting(_ fitness: Fitness, in record: AccountRecord) -> [Line] {
        var lines: [Line] = []
        for line in record.lines where line.isOwn && line.latest.revocation == nil {
            switch fitness {
            case .runs: if self.world.now < line.boundary { lines.append(line) }
            case .fails: if let retry = line.retry, self.world.now < retry.until { lines.append(line) }
            case .isAsked:
                guard self.world.now < line.boundary, let increase = line.increase else { continue }
                if increase.status == .pending { lines.append(line) }
            }
        }
        return lines
    }

    /// Mostly an own line in that state: of this account, otherwise of another one.
    private mutating func about(
        _ fitness: Fitness, _ operation: (OperationTarget, inout SeededRandom) -> StoreOperation
    ) -> ModelAction {
        let found = self.accounts { !self.fitting(fitness, in: $0).isEmpty }
        guard let account = found.first, let record = self.world.record(account), self.random.below(4) > 0 else {
            return self.about(operation)
        }
        let line = self.random.element(self.fitting(fitness, in: record))
        let target = self.random.bool() ? OperationTarget.product(line.latest.productID) : .transaction(line.latest.id)
        return .operate(account: account, operation(target, &self.random))
    }

    /// Accounts with a line in that state, this one first.
    private func accounts(where isFit: (AccountRecord) -> Bool) -> [Int] {
        let accounts = [self.account] + ModelWorld.accounts.indices.filter { $0 != self.account }
        return accounts.filter { self.world.record($0).map(isFit) ?? false }
    }

    /// Mostly an existing one.
    private mutating func target() -> OperationTarget {
        if let record, !record.lines.isEmpty, self.random.below(3) > 0 {
            let line = self.random.element(record.lines)
            return self.random.bool() ? .product(line.latest.productID) : .transaction(line.latest.id)
        }
        if self.random.below(4) > 0 { return .transaction(self.transaction()) }
        return .product(self.random.element(ModelShop.subscriptions + ModelShop.others))
    }

    /// Mostly a refunded transaction, because any other is refused.
    private mutating func refunded() -> OperationTarget {
        let refunded = self.transactions.filter { $0.revocation != nil }
        if refunded.isEmpty || self.random.below(4) == 0 { return self.target() }
        return .transaction(self.random.element(refunded).id)
    }

    /// Mostly a shareable transaction, of this account or of another one.
    private mutating func share() -> ModelAction {
        let catalogue = self.world.state.catalogue
        let isShareable = { (row: Transaction) in
            row.ownership == .purchased && catalogue.product(row.productID)?.isFamilyShareable == true
        }
        let found = self.accounts {
            $0.owned.contains(where: isShareable) || $0.lines.map(\.latest).contains(where: isShareable)
        }
        let account = found.first ?? self.account
        let held = self.world.record(account).map { $0.owned + $0.lines.map(\.latest) } ?? []
        let fit = held.filter(isShareable)
        var target = self.target()
        if !fit.isEmpty, self.random.below(4) > 0 {
            let row = self.random.element(fit)
            target = self.random.bool() ? .transaction(row.id) : .product(row.productID)
        }
        let others = ModelWorld.accounts.indices.filter { $0 != account }
        let member = self.random.below(12) == 0 ? account : self.random.element(others)
        return .operate(account: account, .share(target, member: ModelWorld.accounts[member]))
    }

    /// One of the account's transactions, half of the time among the newest because most are old renewals. Seldom one
    /// of another account.
    private mutating func transaction() -> TransactionID {
        let isOthers = self.random.below(16) == 0
        let rows =
            isOthers ? self.world.rows((self.account + 1) % ModelWorld.accounts.count) : self.world.rows(self.account)
        guard !rows.isEmpty else { return UInt64(self.random.below(4)) }
        if !isOthers, self.random.below(3) == 0, let row = self.lasting.last {
            return self.random.bool() ? row.id : self.random.element(self.lasting).id
        }
        return self.random.element(self.random.bool() ? Array(rows.suffix(5)) : rows).transaction.id
    }

    /// Transactions without renewal, own and shared. Otherwise nearly all repeated purchases, refunds and deletions
    /// would be of subscriptions.
    private var lasting: [Transaction] { self.transactions.filter { $0.productType != .autoRenewable } }

    private mutating func refund() -> ModelAction {
        let reason = self.random.below(4) == 0 ? RevocationReason.developerIssue : .other
        let kept = self.lasting.filter { $0.revocation == nil && $0.ownership == .purchased }
        if let row = kept.last, self.random.bool() {
            let any = self.random.element(kept)
            let target = self.random.bool() ? OperationTarget.transaction(any.id) : .product(row.productID)
            return .operate(account: self.account, .refund(target, reason: reason, share: .full))
        }
        return self.about {
            .refund($0, reason: reason, share: [.full, .prorated, .part(milliPercent: 30_000)][$1.below(3)])
        }
    }

    private mutating func stopSharing() -> ModelAction {
        let target = self.random.bool() ? nil : self.target()
        let member = self.random.optional { $0.element(ModelWorld.accounts) }
        let account = self.accounts { !$0.shares.isEmpty }.first ?? self.account
        return .operate(account: account, .stopSharing(target, member: member))
    }

    private mutating func endIntent() -> ModelAction {
        let account = self.accounts { !$0.intents.isEmpty }.first ?? self.account
        return .operate(account: account, .endIntent(id: self.world.record(account)?.intents.first?.id ?? 7))
    }

    private mutating func pending() -> ModelAction {
        let waiting = self.record?.pendingPurchases ?? []
        let id = waiting.isEmpty ? 5 : self.random.element(waiting).id
        return .operate(account: self.account, .decidePurchase(id: id, approves: self.random.below(3) > 0))
    }

    private mutating func intent() -> ModelAction {
        let product = self.random.element(ModelShop.subscriptions + ModelShop.others)
        let offer = self.random.below(3) == 0 ? self.offer() : nil
        return .operate(
            account: self.account, .createIntent(productID: offer?.productID ?? product, offer: offer?.offer))
    }

    // MARK: Purchases

    private mutating func order() -> PurchaseOrder {
        let all = ModelShop.subscriptions + ModelShop.others
        var order = PurchaseOrder(
            productID: self.random.element(self.random.below(4) > 0 ? self.mix.favourites : all))
        if self.random.below(8) == 0, let row = self.lasting.last { order.productID = row.productID }
        if let intended = self.record?.intents.first, self.random.below(6) == 0 {
            order.productID = intended.productID
            order.offer = intended.offer
        } else if self.random.below(4) == 0 {
            let chosen = self.offer()
            (order.productID, order.offer) = (chosen.productID, chosen.offer)
        }
        if self.random.below(8) == 0 { order.introductoryEligibility = self.random.bool() ? .allowed : .denied }
        if self.random.below(order.productID == "coins" ? 2 : 24) == 0 {
            order.quantity = UInt32(self.random.below(12))
        }
        if order.productID == "silver.yearly", self.random.bool() {
            order.billingPlan = self.random.element([.monthly, .monthly, .upFront])
        }
        if self.random.below(14) == 0 { order.simulatesAskToBuy = true }
        if self.random.below(8) == 0 { order.appAccountToken = "7E3FB204-2DB1-4BBB-9A33-BF4C3B1B6B0D" }
        if self.random.below(12) == 0 {
            order.date = self.world.now.advanced(byMilliseconds: -Int64(self.random.below(100)) * 86_400_000)
            order.renewalBehaviour = self.random.element([.unspecified, .renewUntilNow, .cancelImmediately])
        }
        if self.random.below(16) == 0 {
            order.seenStorefront = self.random.element(["USA", "FRA"])
            order.continuesInNewStorefront = self.random.bool()
        }
        if self.random.below(3) == 0 { order.isByApp = true }
        return order
    }

    /// Mostly an offer that the account is eligible for, or one that exists; seldom an unknown one.
    private mutating func offer() -> (productID: String, offer: OrderedOffer) {
        let told = subscriptionStatuses(
            of: self.record, inGroup: "plans", app: self.world.state, at: self.world.now
        ).value.statuses.flatMap(\.renewalInfo.value.eligibleWinBackOfferIDs)
        if !told.isEmpty, self.random.below(3) > 0 {
            return ("silver", OrderedOffer(type: .winBack, id: self.random.element(told)))
        }
        let offers: [(String, OfferType, String)] = [
            ("silver", .promotional, "half"), ("silver", .promotional, "upfront"), ("silver", .promotional, "no"),
            ("gold", .promotional, "gold.half"), ("bronze", .promotional, "half"), ("silver", .code, "WELCOME"),
            ("silver", .code, "LOYAL"), ("silver.twin", .code, "BEHIND"), ("silver", .winBack, "back"),
            ("silver", .winBack, "soon"), ("coins", .code, "SPRING"), ("coins", .code, "GIFT"),
            ("lifetime", .code, "LIFELONG"), ("bronze", .code, "ONE"), ("bronze", .code, "TWO"),
        ]
        let (product, type, id) = self.random.element(offers)
        return (product, OrderedOffer(type: type, id: id))
    }

    // MARK: The app

    private mutating func configuration() -> ModelAction {
        let first = self.setting()
        return .configure(self.random.below(6) == 0 ? [first, self.setting()] : [first])
    }

    /// Ends conditions soon that keep an account from buying.
    private mutating func charges() -> Bool? {
        let record = self.world.record(self.account)
        return record?.chargesFail == true
            ? self.random.element([false, false, false, nil]) : self.random.element([true, false, false, nil])
    }

    private mutating func setting() -> AppSettingChange {
        let settings = self.world.state.settings
        // A setting that prevents all purchases lasts for a short time only.
        if let armed = settings.simulatedErrors.entries.first, self.random.bool() {
            return .simulatedError(armed.api, nil)
        }
        if settings.asksBeforePurchases, self.random.bool() { return .dialogs(false) }
        return switch self.random.below(20) {
        case 0: .askToBuy(self.random.below(4) == 0)
        case 1: .interruptedPurchases(self.random.below(4) == 0)
        case 2: .dialogs(self.random.below(4) == 0)
        case 3...5: .billingRetryOnRenewal(self.random.bool())
        case 6...8: .gracePeriod(self.random.below(4) > 0)
        case 9: .gracePeriodDays(self.random.element([3, 16, 28]))
        case 10: .gracePeriodForAllRenewals(self.random.bool())
        // A recovered charge keeps its boundary. With a month of half a minute it would have to catch up on thousands.
        case 11 where !self.chargesFail: .timeRate(self.random.element([0, 0, 0, 0, 15, 6, 1003]))
        case 12: .storefront(self.random.element(["USA", "USA", "FRA"]))
        case 13: .locale(self.random.element(["en_US", "fr_FR"]))
        case 14: self.failure()
        case 15: .reset
        default: .product(self.edit())
        }
    }

    private mutating func failure() -> AppSettingChange {
        let api = StoreKitAPI(rawValue: Int32(1 + self.random.below(StoreKitAPI.names.count - 1)))
        let errors = SimulatedError.names.indices.map { SimulatedError(rawValue: Int32($0)) }
        return .simulatedError(api, self.random.element(errors.filter { $0.isPossible(for: api) }))
    }

    private var chargesFail: Bool {
        ModelWorld.accounts.indices.contains { account in
            self.world.record(account)?.lines.contains { $0.retry != nil } ?? false
        }
    }

    private mutating func edit() -> ProductEdit {
        var edit = ProductEdit(productID: self.random.element(ModelShop.subscriptions + ModelShop.others))
        if self.random.below(3) == 0 {
            edit.priceMilliunits = 1_000 * Int64(1 + self.random.below(60))
        } else {
            edit.isWithdrawn = self.random.below(4) == 0
        }
        return edit
    }

    // MARK: Time

    /// At the same time of day.
    private static func lastDayOfMonth(after now: Instant) -> Instant {
        var date = CivilTime(now.advanced(byMilliseconds: 86_400_000))
        date.day = CivilTime.days(inMonth: date.month, of: date.year)
        return date.instant
    }

    /// The next boundary or the edge of an offer, just before or after it, or a random duration.
    private mutating func instant() -> Instant {
        let now = self.world.now
        let record = self.record
        var boundaries = (record?.lines ?? []).compactMap { $0.forecast(after: now, leewayMilliseconds: nil)?.at }
        for group in ModelShop.groups {
            let viewed = subscriptionStatuses(of: record, inGroup: group, app: self.world.state, at: now)
            if let crossing = viewed.nextCrossing { boundaries.append(crossing) }
        }
        // With a month of half a minute a few periods, not a million.
        let isReal = self.world.state.settings.timeRate == .realTime
        let farthest = now.advanced(byMilliseconds: isReal ? .max / 4 : 600_000)
        if let next = boundaries.min(), self.random.below(3) > 0 {
            let instant = next.advanced(byMilliseconds: [0, 0, 0, -1, 1, 3_600_000][self.random.below(6)])
            return min(max(now, instant), farthest)
        }
        // Purchases on the last day of a month distinguish the shorter months.
        if isReal, self.random.below(3) == 0 { return Self.lastDayOfMonth(after: now) }
        let days = Int64([1, 3, 10, 31, 62, 200][self.random.below(6)])
        return min(now.advanced(byMilliseconds: days * 86_400_000), farthest)
    }
}
