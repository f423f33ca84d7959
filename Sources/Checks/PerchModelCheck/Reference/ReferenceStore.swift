import PerchBase
import PerchModel
import PerchStore

/// Settings and products of the app from one instant on.
struct ReferenceShop {
    let from: Instant
    var settings = AppSettings()
    var products: [String: CatalogueProduct]

    func sold(_ id: String) -> CatalogueProduct? { self.products[id].flatMap { $0.isWithdrawn ? nil : $0 } }
    func plan(_ id: String) -> CatalogueSubscription? { self.products[id]?.subscription }
    var rate: ReferenceRate { ReferenceRate(self.settings.timeRate) }
}

/// A second store, written from the document of the semantics only. `ReferenceComparison` compares the model with it.
///
/// It receives events, refusals, and the numbers that the store assigned to transactions. It never reads a record.
/// Where the model remembers, the reference searches its own list of expected transactions: an offer of three periods
/// was charged as often as the list shows. `ReferenceComparison` alone lists what it does not predict.
struct ReferenceStore {
    var accounts: [ReferenceAccount]
    var shares: [ReferenceShare] = []
    /// Oldest first.
    var shops: [ReferenceShop]
    var now: Instant
    private var nextSerial = 0
    /// The store's numbers of transactions, and the reverse.
    private(set) var serials: [TransactionID: Int] = [:]
    private(set) var numbers: [Int: TransactionID] = [:]
    /// The expected transaction in the last answer.
    var answered: (serial: Int, wasHeld: Bool)?
    /// The date of the last event's purchase.
    var boughtAt: Instant?

    init(_ catalogue: Catalogue, accounts count: Int, at now: Instant) {
        self.accounts = (0..<count).map { _ in ReferenceAccount() }
        self.now = now
        let products = Dictionary(uniqueKeysWithValues: catalogue.products.map { ($0.id, $0) })
        self.shops = [ReferenceShop(from: .distantPast, products: products)]
    }

    /// The current settings and products.
    var shop: ReferenceShop { self.shops[self.shops.count - 1] }

    func shop(at instant: Instant) -> ReferenceShop {
        self.shops.last { $0.from <= instant } ?? self.shops[0]
    }

    mutating func name(_ serial: Int, _ number: TransactionID) {
        self.serials[number] = serial
        self.numbers[serial] = number
    }

    /// A deleted transaction may return under its number.
    mutating func forget(_ serials: [Int]) {
        for serial in serials { if let number = self.numbers[serial] { self.serials[number] = nil } }
        // A deleted purchase redeemed nothing.
        for account in self.accounts.indices {
            self.accounts[account].redeemed.removeAll { serials.contains($0.serial) }
        }
    }

    mutating func takeSerial() -> Int {
        defer { self.nextSerial += 1 }
        return self.nextSerial
    }

    // MARK: What happens

    /// Applies an event that the store has answered. Returns a mistake of the store, nil for none.
    mutating func live(_ action: ModelAction, answer: ModelWorld.Answer) -> String? {
        self.answered = nil
        self.boughtAt = nil
        let isDone = self.isDone(action)
        guard case .done(let result, _) = answer else {
            guard case .refused(let refusal) = answer, isDone == true else { return nil }
            return "it should be done, and is refused: \(refusal.message)"
        }
        if isDone == false { return "it should be refused, and is done" }
        var found: String?
        if case .operate(let account, let operation) = action, self.opens(operation, account, result) {
            self.accounts[account].isOpen = true
        }
        switch action {
        case .operate(let account, let operation): found = self.operate(operation, account, result)
        case .sync(let account): self.sync(account)
        case .finish(let account, let number):
            if let place = self.serials[number].flatMap({ self.accounts[account].place(of: $0) }) {
                self.accounts[account].transactions[place].isFinished = true
            }
        case .configure(let changes): self.configure(changes)
        case .advance(let instant): self.now = instant
        case .again: break
        }
        self.settle()
        return found
    }

    /// The first fact of an account creates it.
    private func opens(_ operation: StoreOperation, _ account: Int, _ result: MutationResult) -> Bool {
        switch operation {
        case .buy: result != .cancelled
        case .createIntent: true
        case .setCharges(let fail): fail != self.accounts[account].chargesFail
        case .setStorefront(let storefront): storefront != self.accounts[account].storefront
        case .setPayments(let isAllowed): isAllowed == self.accounts[account].paymentsAreForbidden
        case .setAppTransaction(let terms): terms != self.accounts[account].appTransaction
        default: false
        }
    }

    private mutating func operate(_ operation: StoreOperation, _ account: Int, _ result: MutationResult) -> String? {
        switch operation {
        case .buy(let order):
            if let found = self.fault(in: result, of: order, account) { return found }
            switch result {
            case .pending(let number):
                self.accounts[account].pending.append(ReferencePending(number: number, order: order))
                return nil
            case .cancelled: return nil
            default: return self.buy(order, account)
            }
        case .decidePurchase(let number, _):
            guard let place = self.accounts[account].pending.firstIndex(where: { $0.number == number }) else {
                return "purchase \(number) was decided, which does not wait"
            }
            let order = self.accounts[account].pending.remove(at: place).order
            if case .transaction = result { return self.buy(order, account) }
            return nil
        case .refund(let target, let reason, let share): return self.refund(target, reason, share, account)
        case .reverseRefund(let target): return self.reverseRefund(target, account)
        case .renew(let target): return self.renewNow(target, account)
        case .resolveBilling(let target): return self.recover(target, account)
        case .expire(let target): return self.expire(target, account)
        case .setAutoRenew(let target, let isOn): return self.setAutoRenew(target, isOn: isOn, account)
        case .setCharges(let fail): self.accounts[account].chargesFail = fail
        case .setPayments(let isAllowed): self.accounts[account].paymentsAreForbidden = !isAllowed
        case .setAppTransaction(let terms): self.accounts[account].appTransaction = terms
        case .raisePrice(let target, let milliunits, let needsConsent):
            return self.raisePrice(target, milliunits, needsConsent: needsConsent, account)
        case .answerPriceIncrease(let target, let agrees): return self.answerPrice(target, agrees: agrees, account)
        case .extendRenewal(let target, let milliseconds): return self.extend(target, milliseconds, account)
        case .share(let target, let member): return self.share(target, with: member, account)
        case .stopSharing(let target, let member): return self.stopSharing(target, with: member, account)
        case .deleteTransaction(let number): self.delete(number, account)
        case .clearTransactions: self.clear(account)
        case .setStorefront(let storefront): self.accounts[account].storefront = storefront
        case .createIntent(let product, _):
            if case .number(let number) = result { self.accounts[account].intents.append((number, product)) }
        case .endIntent(let number): self.accounts[account].intents.removeAll { $0.number == number }
        case .declineRefund, .requestConsumption, .postMessage: break
        }
        return nil
    }

    private mutating func configure(_ changes: [AppSettingChange]) {
        var shop = ReferenceShop(from: self.now, settings: self.shop.settings, products: self.shop.products)
        for change in changes {
            switch change {
            case .askToBuy(let isOn): shop.settings.isAskToBuyEnabled = isOn
            case .interruptedPurchases(let isOn): shop.settings.areBillingIssuesEnabled = isOn
            case .billingRetryOnRenewal(let isOn): shop.settings.areRenewalBillingIssuesEnabled = isOn
            case .gracePeriod(let isOn): shop.settings.isGracePeriodEnabled = isOn
            case .gracePeriodDays(let days): shop.settings.gracePeriodDays = Int64(days)
            case .gracePeriodForAllRenewals(let isOn): shop.settings.hasGracePeriodForAllRenewals = isOn
            case .dialogs(let isOn): shop.settings.asksBeforePurchases = isOn
            case .timeRate(let number): shop.settings.timeRate = TimeRate(rawValue: number) ?? shop.settings.timeRate
            case .storefront(let country): shop.settings.storefront = country
            case .locale(let locale): shop.settings.locale = locale
            case .simulatedError(let api, let error): shop.settings.simulatedErrors[api] = error
            case .reset: shop.settings = AppSettings()
            case .product(let edit):
                if let price = edit.priceMilliunits { shop.products[edit.productID]?.price.milliunits = price }
                if let isWithdrawn = edit.isWithdrawn { shop.products[edit.productID]?.isWithdrawn = isWithdrawn }
                if let isShareable = edit.isFamilyShareable {
                    shop.products[edit.productID]?.isFamilyShareable = isShareable
                }
            }
        }
        self.shops.append(shop)
    }

    // MARK: What is meant

    /// The account's transaction that a target means.
    func place(of target: OperationTarget, _ account: Int) -> Int? {
        let known = self.accounts[account]
        switch target {
        case .transaction(let number):
            return self.serials[number].flatMap { known.place(of: $0) }
        case .product(let product):
            if self.shop.plan(product) != nil {
                return known.lines.lazy.filter { !$0.isShared }.compactMap { known.latestPlace(of: $0) }
                    .first { known.transactions[$0].product == product }
            }
            let own = known.transactions.indices.filter {
                known.transactions[$0].product == product && !known.transactions[$0].isShared
            }
            return own.max { self.isOlder(known.transactions[$0], than: known.transactions[$1]) }
        }
    }

    /// The account's own line that a target means.
    func linePlace(of target: OperationTarget, _ account: Int) -> Int? {
        let known = self.accounts[account]
        var first: Int?
        // A line keeps its original number, also without that transaction.
        if case .transaction(let number) = target {
            first = known.lines.first { self.numbers[$0.first] == number }?.first
        }
        first = first ?? self.place(of: target, account).map { known.transactions[$0].first }
        return first.flatMap { known.linePlace(of: $0) }.flatMap { known.lines[$0].isShared ? nil : $0 }
    }

    func isOlder(_ left: ReferenceTransaction, than right: ReferenceTransaction) -> Bool {
        (left.begin, left.serial) < (right.begin, right.serial)
    }

    // MARK: What a period is and costs

    func storefront(of account: Int, in shop: ReferenceShop) -> Storefront {
        let own = self.accounts[account].storefront
        return Storefronts.storefront(own.isEmpty ? shop.settings.storefront : own)
    }

    /// A new period of a plan from `begin` on, or the charge for another product.
    func charge(
        _ product: CatalogueProduct, _ account: Int, in shop: ReferenceShop, from begin: Instant, serial: Int,
        billed: BillingPlanType = .unspecified, offer: SubscriptionOffer? = nil, offerPeriod: Int32 = 1,
        agreed: Money? = nil, countedFrom day: Int64? = nil
    ) -> ReferenceTransaction {
        let storefront = self.storefront(of: account, in: shop)
        var price = product.price
        price.currency = Storefronts.currency(of: storefront.countryCode)
        var charged = ReferenceTransaction(
            serial: serial, first: serial, product: product.id, type: product.type, begin: begin, lineBegin: begin,
            price: price, storefront: storefront)
        guard let plan = product.subscription else { return charged }
        charged.group = plan.groupID
        charged.billing = plan.billingPlans.isEmpty ? .unspecified : billed == .monthly ? .monthly : .upFront
        var length = plan.period
        if billed == .monthly, let monthly = plan.billingPlans.first(where: { $0.type == .monthly }) {
            charged.price.milliunits = monthly.price.milliunits
            length = Period(1, .month)
        }
        if let agreed { charged.price.milliunits = agreed.milliunits }
        if let offer {
            charged.offer = offer
            charged.offerPeriod = offerPeriod
            charged.price.milliunits = offer.paymentMode == .freeTrial ? 0 : offer.price.milliunits
            if offer.paymentMode != .payAsYouGo { length = offer.period }
        }
        let counted = day ?? ReferenceCalendar.date(of: begin).day
        charged.end = shop.rate.end(of: length, from: begin, countedFrom: counted)
        let isOfMonths = length.unit == .month || length.unit == .year
        charged.countedFrom = isOfMonths ? counted : nil
        return charged
    }
}
