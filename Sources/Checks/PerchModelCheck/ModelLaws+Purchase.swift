import PerchBase
import PerchModel
import PerchStore

// Results of purchases: sections 10, 11 and 15 of the model.
extension ModelLaws {
    func bought(_ order: PurchaseOrder, _ account: Int, isApproved: Bool = false) -> String? {
        guard case .done(let result, _) = self.answer else { return nil }
        guard case .transaction(let transaction, let wasHeld, _) = result else {
            return self.after.rows[account] == self.before.rows[account] ? nil : "not bought, and there are rows"
        }
        // A held or pending transaction is returned unchanged.
        if order.renewalBehaviour == .cancelImmediately,
            let new = self.line(of: transaction, account, self.after), new.willAutoRenew,
            new != self.line(of: transaction, account, self.before)
        {
            return "cancelled immediately, and it renews"
        }
        if wasHeld {
            if self.after.rows[account].count != self.before.rows[account].count { return "held, and bought" }
            return order.date == nil ? self.held(order, transaction, account) : nil
        }
        guard order.date == nil else { return nil }
        if transaction.purchaseDate != self.after.now { return "bought at \(transaction.purchaseDate)" }
        if transaction.productID != order.productID { return "bought \(transaction.productID)" }
        if transaction.appAccountToken != order.appAccountToken.lowercased() {
            return "bought with the token \(transaction.appAccountToken)"
        }
        let settings = self.before.app.settings
        if !isApproved {
            // A purchase outside the app has no dialog.
            let hasDialog = order.isByApp && settings.asksBeforePurchases
            let waits = settings.isAskToBuyEnabled || settings.areBillingIssuesEnabled || hasDialog
            if order.simulatesAskToBuy || waits { return "bought, and nobody was asked" }
            if let error = settings.simulatedErrors[.purchase] { return "bought, and it was to fail with \(error)" }
        }
        let own = self.before.records[account]?.storefront ?? ""
        let storefront = own.isEmpty ? settings.storefront : own
        if order.billingPlan != .unspecified, transaction.billingPlan != order.billingPlan {
            return "ordered \(order.billingPlan), billed \(transaction.billingPlan)"
        }
        if transaction.storefront.countryCode != storefront { return "bought in \(transaction.storefront.countryCode)" }
        if !isApproved, !order.continuesInNewStorefront, !["", storefront].contains(order.seenStorefront) {
            return "bought in \(storefront), having seen \(order.seenStorefront)"
        }
        if let intent = self.after.records[account]?.intents.first(where: { $0.productID == order.productID }) {
            return "bought, and intent \(intent.id) to buy it waits"
        }
        guard let product = self.before.app.catalogue.product(order.productID) else { return "bought what is not sold" }
        guard let subscription = product.subscription else {
            let owned = self.before.records[account]?.owned.contains {
                $0.productID == product.id && $0.ownership == .purchased
            }
            if product.type == .nonConsumable, owned == true { return "bought, and owned before" }
            let offer = Self.codeOffer(order, of: product)?.offer
            if transaction.offer?.id != offer?.id { return "bought with \(String(describing: transaction.offer))" }
            let price = offer?.price ?? product.price
            return transaction.price?.milliunits == price.milliunits * Int64(order.quantity)
                ? nil : "\(order.quantity) for \(String(describing: transaction.price))"
        }
        let old = self.before.line(account, subscription.groupID)
        guard let new = self.after.line(account, subscription.groupID), new.latest.id == transaction.id else {
            return "bought, and the line holds something else"
        }
        if !new.willAutoRenew { return "bought, and will not renew" }
        if self.state(new, self.after) != .subscribed {
            return "bought, and \(String(describing: self.state(new, self.after)))"
        }
        if let old, transaction.originalID != old.originalID { return "the line has a new number" }
        if let old, self.state(old, self.before)?.isEntitled == true {
            let left = self.after.rows[account].first { $0.transaction.id == old.latest.id }
            if left?.transaction.isUpgraded != true { return "the plan changed, and nothing was left behind" }
            if old.latest.productID == order.productID { return "bought, and held" }
            guard let held = self.before.app.catalogue.product(old.latest.productID)?.subscription else { return nil }
            if subscription.level > held.level { return "a downgrade took effect at once" }
            if subscription.level == held.level, subscription.period != held.period {
                return "a crossgrade of another length took effect at once"
            }
        }
        return self.run(of: new, after: old) ?? self.offered(transaction, order, account)
            ?? self.priced(transaction, product, subscription)
    }

    /// Price and length are the offer's, or the product's.
    private func priced(
        _ transaction: Transaction, _ product: CatalogueProduct, _ subscription: CatalogueSubscription
    ) -> String? {
        let offers =
            subscription.introductoryOffers + subscription.promotionalOffers + subscription.codeOffers.map(\.offer)
            + subscription.winBackOffers.map(\.offer)
        let rate = self.before.app.settings.timeRate
        guard let terms = product.terms(billed: transaction.billingPlan) else { return "bought without terms" }
        if let found = Self.fault(inCharge: transaction, after: nil) { return found }
        guard let applied = transaction.offer else {
            let end = rate.end(
                of: terms.length, from: transaction.purchaseDate, anchorDay: CivilTime(transaction.purchaseDate).day)
            if transaction.expirationDate != end {
                return "a period until \(String(describing: transaction.expirationDate)), not \(end)"
            }
            return transaction.price?.milliunits == terms.price.milliunits
                ? nil : "costs \(String(describing: transaction.price)), not \(terms.price)"
        }
        guard let offer = offers.first(where: { $0.type == applied.type && $0.id == applied.id }) else {
            return "an offer that is not there: \(applied)"
        }
        let length = offer.paymentMode == .payAsYouGo ? terms.length : offer.period
        let end = rate.end(
            of: length, from: transaction.purchaseDate, anchorDay: CivilTime(transaction.purchaseDate).day)
        if transaction.expirationDate != end {
            return "an offer until \(String(describing: transaction.expirationDate)), not \(end)"
        }
        return transaction.price?.milliunits == offer.price.milliunits
            ? nil : "costs \(String(describing: transaction.price)), not \(offer.price)"
    }

    /// The offer of the code that was entered; nil without one.
    private static func codeOffer(_ order: PurchaseOrder, of product: CatalogueProduct) -> CodeOffer? {
        guard let entered = order.offer, entered.type == .code else { return nil }
        return product.codeOffers.first { offer in
            offer.codes.isEmpty ? offer.offer.id == entered.id : offer.codes.contains { $0.code == entered.id }
        }
    }

    /// The held transaction is returned if it was ordered, or if the order waits for the renewal.
    private func held(_ order: PurchaseOrder, _ transaction: Transaction, _ account: Int) -> String? {
        guard let product = self.before.app.catalogue.product(order.productID), let plan = product.subscription else {
            if transaction.productID != order.productID { return "held is \(transaction.productID)" }
            return transaction.ownership == .purchased ? nil : "what is only shared was not bought"
        }
        guard let old = self.before.line(account, plan.groupID), self.state(old, self.before)?.isEntitled == true,
            let new = self.after.line(account, plan.groupID), new.latest == old.latest, transaction == old.latest
        else { return "held, and nothing is" }
        let isSame = old.latest.productID == order.productID
        let held = self.before.app.catalogue.product(old.latest.productID)?.subscription
        if let held, !isSame, plan.level < held.level { return "an upgrade waits" }
        if let held, !isSame, plan.level == held.level, plan.period == held.period { return "a crossgrade waits" }
        let isSwitch = isSame && order.billingPlan != .unspecified
        if !isSame || old.willAutoRenew || order.offer != nil || isSwitch && old.latest.billingPlan != order.billingPlan
        {
            if new.preference != order.productID { return "ordered, and the next plan is \(new.preference)" }
            let isToBeMonthly = (isSame && !isSwitch ? old.latest.billingPlan : order.billingPlan) == .monthly
            let waiting = new.preferredBillingPlan
            let isMonthly = (isSame && waiting == .unspecified ? new.latest.billingPlan : waiting) == .monthly
            if isMonthly != isToBeMonthly { return "ordered billed \(order.billingPlan), and it waits otherwise" }
            // After a declined price or a cancellation, an order of the next plan switches renewal on.
            if !new.willAutoRenew, order.renewalBehaviour != .cancelImmediately { return "ordered, and nothing renews" }
        }
        let name = Self.codeOffer(order, of: product)?.offer.id ?? order.offer?.id
        if let name, new.queuedOffer?.id != name { return "the offer \(name) is forgotten" }
        return nil
    }

    /// Section 4: a run of periods continues over a lapse of less than 60 days.
    private func run(of new: Line, after old: Line?) -> String? {
        guard let old else { return new.recentStart == self.after.now ? nil : "a run begins at \(new.recentStart)" }
        let served = max(old.boundary, old.retry?.graceUntil ?? old.boundary)
        let end = min(served, old.latest.revocation?.date ?? served)
        let goesOn = self.before.now < end.advanced(byMilliseconds: 60 * 86_400_000)
        let wanted = goesOn ? old.recentStart : self.after.now
        return new.recentStart == wanted ? nil : "the run begins at \(new.recentStart), not \(wanted)"
    }

    /// The applied offer: the ordered one, otherwise the introductory one, once for each group. A code behind an
    /// introductory offer counts as none.
    private func offered(_ transaction: Transaction, _ order: PurchaseOrder, _ account: Int) -> String? {
        let code = self.before.app.catalogue.product(order.productID).flatMap { Self.codeOffer(order, of: $0) }
        let isBehind = code?.isStackable == true && transaction.offer?.type == .introductory
        if let offer = order.offer, !isBehind {
            return transaction.offer?.id == code?.offer.id ?? offer.id && transaction.offer?.type == offer.type
                ? nil : "ordered with \(offer.id), bought with \(String(describing: transaction.offer))"
        }
        let wasUsed = self.before.rows[account].contains {
            $0.transaction.subscriptionGroupID == transaction.subscriptionGroupID
                && $0.transaction.offer?.type == .introductory && $0.transaction.ownership == .purchased
        }
        let mayHave =
            order.introductoryEligibility == .allowed || (order.introductoryEligibility == .byHistory && !wasUsed)
        let plan = self.before.app.catalogue.product(order.productID)?.subscription
        let wanted = mayHave ? plan?.introductoryOffers.first : nil
        return transaction.offer?.type == wanted?.type
            ? nil : "the introductory offer is \(String(describing: transaction.offer))"
    }

    // MARK: Refusals

    /// A sentence if an operation was refused without reason; nil if this law does not decide.
    func wrongly(_ operation: StoreOperation, _ account: Int) -> String? {
        let onSale = { (product: String) in self.before.app.catalogue.productOnSale(product) != nil }
        let own = { (target: OperationTarget) -> (line: Line, state: RenewalState)? in
            guard let line = self.line(target, account, self.before), line.isOwn,
                let state = self.state(line, self.before)
            else { return nil }
            return (line, state)
        }
        let row = { (id: TransactionID) in
            self.before.rows[account].first { $0.transaction.id == id }?.transaction
        }
        let record = self.before.records[account]
        switch operation {
        case .buy where record?.arePaymentsForbidden == true: return nil
        case .buy(let order):
            let isPlain =
                order.offer == nil && order.date == nil && order.billingPlan == .unspecified && onSale(order.productID)
            let quantity: ClosedRange<UInt32> = order.productID == "coins" ? 1...10 : 1...1
            let fails = self.before.app.settings.simulatedErrors[.purchase] != nil
            let waiting = record?.pendingPurchases.count ?? 0
            // The reference says which purchases are refused while charges fail.
            let mayFail = record?.chargesFail ?? self.before.app.settings.areRenewalBillingIssuesEnabled
            let isFree = !mayFail && !fails
            return isFree && isPlain && quantity.contains(order.quantity) && waiting < 10 ? "it is for sale" : nil
        case .setAutoRenew(let target, _):
            guard let (_, state) = own(target), state != .expired, state != .revoked else { return nil }
            return "the line is \(state)"
        case .expire(let target):
            return own(target).flatMap { $0.state.isEntitled ? "the line is \($0.state)" : nil }
        case .renew(let target), .resolveBilling(let target):
            guard let (line, state) = own(target), onSale(line.nextPlan) else { return nil }
            if case .renew = operation {
                let isAsked = line.increase?.status == .pending && line.staysInPlan
                return state.isEntitled && !isAsked ? "the line is \(state)" : nil
            }
            return state == .inGracePeriod || state == .inBillingRetryPeriod ? "the line is \(state)" : nil
        case .extendRenewal(let target, _):
            guard let (line, state) = own(target) else { return nil }
            let isExtended = record?.extensions.contains { $0.original == line.originalID } == true
            let isPaid = line.latest.price?.milliunits ?? 0 > 0
            return state == .subscribed && isPaid && !isExtended ? "the period runs" : nil
        case .refund(.transaction(let id), _, .full):
            return row(id).flatMap { $0.ownership == .purchased ? "it was bought" : nil }
        case .declineRefund(.transaction(let id)), .requestConsumption(.transaction(let id)):
            return row(id) == nil ? nil : "it is there"
        case .reverseRefund(.transaction(let id)):
            return row(id).flatMap { $0.ownership == .purchased && $0.revocation != nil ? "it was refunded" : nil }
        case .deleteTransaction(let id):
            return row(id) == nil ? nil : "it is there"
        case .share(.product(let product), let member):
            guard ["gold", "silver"].contains(product), member != ModelWorld.accounts[account],
                let (_, state) = own(.product(product)), state.isEntitled
            else { return nil }
            return "it can be shared"
        case .stopSharing(nil, nil):
            return record?.shares.isEmpty == false ? "something is shared" : nil
        case .decidePurchase(let id, approves: false):
            return record?.pendingPurchases.contains { $0.id == id } == true ? "it waits" : nil
        case .clearTransactions:
            return record == nil ? nil : "there is an account"
        default:
            return nil
        }
    }
}
