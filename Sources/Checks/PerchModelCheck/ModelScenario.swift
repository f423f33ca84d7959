import PerchBase
import PerchModel
import PerchStore

/// The events of a sequence as a scenario: `perch scenario run` plays the same steps against any server.
///
/// It contains the events and the refusals, which it expects because a scenario ends at an unexpected one. A person
/// adds the expected results.
package enum ModelScenario {
    package static func text(of actions: [ModelAction], head: [String] = []) -> String {
        var lines = head.map { "# " + $0.replacing("\n", with: " ") }
        lines.append("start \(ModelWorld.begin)")
        lines.append("accounts \(ModelWorld.accounts.joined(separator: ", "))")
        for product in ModelShop.catalogue().products { lines += self.lines(of: product) }
        lines.append("")
        let world = ModelWorld()
        // Only a completed request can be repeated, and only some requests have a key on the wire.
        var isAnsweredAgain = false
        for action in actions {
            let step = self.step(action, in: world)
            let answer = ModelCheck.perform(action, in: world)
            switch (action, answer) {
            case (.again, _): lines.append(isAnsweredAgain ? step : "# \(step)")
            case (_, .refused(let refusal)):
                lines.append("\(step) -> refused")
                lines.append("# \(refusal.reason): \(refusal.message)")
            default: lines.append(step)
            }
            switch (action, answer) {
            case (.operate, .done), (.configure, .done): isAnsweredAgain = true
            case (.again, _), (.advance, _): break
            default: isAnsweredAgain = false
            }
        }
        lines.append("")
        lines.append("# What was seen in the end, right or wrong:")
        lines += self.sights(in: world).map { "# " + $0 }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The statuses of all accounts, as text.
    private static func sights(in world: ModelWorld) -> [String] {
        var sights: [String] = []
        for account in ModelWorld.accounts.indices {
            for group in ModelShop.groups {
                let statuses = subscriptionStatuses(
                    of: world.record(account), inGroup: group, app: world.state, at: world.now
                ).value.statuses
                for status in statuses {
                    let transaction = status.transaction.value
                    let info = status.renewalInfo.value
                    sights.append(
                        "\(ModelWorld.accounts[account]), \(group): \(status.state) \(transaction.productID), transaction "
                            + "\(transaction.id), \(transaction.ownership), until \(info.renewalDate), "
                            + (info.willAutoRenew ? "renews" : "does not renew"))
                }
            }
        }
        return sights.isEmpty ? ["nobody is subscribed"] : sights
    }

    // MARK: Steps

    private static func step(_ action: ModelAction, in world: ModelWorld) -> String {
        switch action {
        case .operate(let account, let operation): "\(ModelWorld.accounts[account]): \(self.step(operation))"
        case .sync(let account): "\(ModelWorld.accounts[account]): sync"
        case .finish(let account, let id): "\(ModelWorld.accounts[account]): finish transaction \(id)"
        case .configure(let changes):
            changes.map { self.step($0, settings: world.state.settings) }.joined(separator: "\n")
        case .advance(let instant): "at \(instant)"
        case .again: "again"
        }
    }

    private static func step(_ operation: StoreOperation) -> String {
        switch operation {
        case .buy(let order): self.step(order)
        case .refund(let target, let reason, let share):
            "refund \(self.what(target))" + (reason == .developerIssue ? " because developer issue" : "")
                + self.suffix(share)
        case .reverseRefund(let target): "reverse refund of \(self.what(target))"
        case .declineRefund(let target): "decline refund of \(self.what(target))"
        case .requestConsumption(let target): "request consumption of \(self.what(target))"
        case .renew(let target): "renew \(self.what(target))"
        case .expire(let target): "expire \(self.what(target))"
        case .setAutoRenew(let target, let isOn): "auto-renew \(isOn ? "on" : "off") \(self.what(target))"
        case .resolveBilling(let target): "resolve billing \(self.what(target))"
        case .setPayments(let isAllowed): "payments \(isAllowed ? "on" : "off")"
        case .setAppTransaction(let terms):
            "app transaction" + (terms.originalAppVersion.isEmpty ? "" : " version \(terms.originalAppVersion)")
                + (terms.originalPlatform == .unspecified ? "" : " on \(terms.originalPlatform)")
        case .setCharges(let fail): fail.map { $0 ? "fail renewals" : "charges succeed" } ?? "charges as set"
        case .raisePrice(let target, let milliunits, let needsConsent):
            "raise price of \(self.what(target)) to \(self.price(milliunits))"
                + (needsConsent.map { $0 ? " with consent" : " without consent" } ?? "")
        case .answerPriceIncrease(let target, let agrees):
            (agrees ? "consent " : "decline price increase ") + self.what(target)
        case .extendRenewal(let target, let milliseconds): "extend \(self.what(target)) by \(milliseconds)ms"
        case .share(let target, let member): "share \(self.what(target)) with \(member)"
        case .stopSharing(let target, let member):
            "stop sharing" + (target.map { " " + self.what($0) } ?? "") + (member.map { " with " + $0 } ?? "")
        case .decidePurchase(let id, let approves): "\(approves ? "approve" : "decline") transaction \(id)"
        case .deleteTransaction(let id): "delete transaction \(id)"
        case .clearTransactions: "clear transactions"
        case .createIntent(let product, let offer): "intent \(product)" + (offer.map { " with " + self.name($0) } ?? "")
        case .endIntent(let id): "dismiss intent transaction \(id)"
        case .setStorefront(let storefront): "storefront \(storefront.isEmpty ? "none" : storefront)"
        case .postMessage: "post message"
        }
    }

    private static func what(_ target: OperationTarget) -> String {
        switch target {
        case .transaction(let id): "transaction \(id)"
        case .product(let id): id
        }
    }

    private static func suffix(_ share: RefundShare) -> String {
        switch share {
        case .full: ""
        case .prorated: " prorated"
        case .part(let milliPercent): " \(Money(milliunits: Int64(milliPercent), currency: "").decimal())%"
        }
    }

    private static func step(_ order: PurchaseOrder) -> String {
        var step = "buy \(order.productID)" + (order.isByApp ? "" : " outside the app")
        if !order.appAccountToken.isEmpty { step += " token \(order.appAccountToken)" }
        if order.billingPlan == .monthly { step += " billed monthly" }
        if order.billingPlan == .upFront { step += " billed up front" }
        if order.quantity != 1 { step += " quantity \(order.quantity)" }
        if let offer = order.offer { step += " with \(self.name(offer))" }
        if order.introductoryEligibility == .allowed { step += " with trial" }
        if order.introductoryEligibility == .denied { step += " without trial" }
        if let date = order.date { step += " dated \(date)" }
        if order.renewalBehaviour == .renewUntilNow { step += " renewing until now" }
        if order.renewalBehaviour == .cancelImmediately { step += " cancelled immediately" }
        if order.simulatesAskToBuy { step += " asking to buy" }
        if !order.seenStorefront.isEmpty { step += " seen in \(order.seenStorefront)" }
        if order.continuesInNewStorefront, !order.seenStorefront.isEmpty { step += " continuing" }
        return step
    }

    private static func name(_ offer: OrderedOffer) -> String {
        switch offer.type {
        case .promotional: "promotional \(offer.id)"
        case .code: "code \(offer.id)"
        default: "win-back \(offer.id)"
        }
    }

    private static func step(_ change: AppSettingChange, settings: AppSettings) -> String {
        func onOff(_ isOn: Bool) -> String { isOn ? "on" : "off" }
        return switch change {
        case .askToBuy(let isOn): "ask to buy \(onOff(isOn))"
        case .interruptedPurchases(let isOn): "interrupted purchases \(onOff(isOn))"
        case .billingRetryOnRenewal(let isOn): "billing retry \(onOff(isOn))"
        case .gracePeriod(let isOn): "grace period \(onOff(isOn))"
        // A length alone switches the grace period on.
        case .gracePeriodDays(let days): "grace period \(onOff(settings.isGracePeriodEnabled)) \(days) days"
        case .gracePeriodForAllRenewals(let all): "grace period for \(all ? "all renewals" : "paid renewals only")"
        case .dialogs(let isOn): "dialogs \(onOff(isOn))"
        case .timeRate(let number): "time rate \(number)"
        case .storefront(let country): "storefront \(country)"
        case .locale(let locale): "locale \(locale)"
        case .simulatedError(let api, let error): error.map { "fail \(api) with \($0)" } ?? "disarm \(api)"
        case .product(let edit): self.step(edit)
        case .reset: "reset settings"
        }
    }

    private static func step(_ edit: ProductEdit) -> String {
        if let price = edit.priceMilliunits { return "price of \(edit.productID) \(self.price(price))" }
        return "\(edit.isWithdrawn == true ? "withdraw" : "reinstate") \(edit.productID)"
    }

    // MARK: The catalogue

    private static func lines(of product: CatalogueProduct) -> [String] {
        var line = "product \(product.id)"
        var offers: [String] = []
        switch product.type {
        case .consumable: line += " consumable"
        case .nonConsumable: line += " non-consumable"
        case .nonRenewable: line += " non-renewing"
        default: break
        }
        if let subscription = product.subscription {
            line += " \(self.length(subscription.period)) group \(subscription.groupID) level \(subscription.level)"
            if let monthly = subscription.billingPlans.first(where: { $0.type == .monthly }) {
                line += " monthly plan at \(self.price(monthly.price.milliunits))"
            }
            for offer in subscription.introductoryOffers { line += " intro \(self.terms(of: offer))" }
            for offer in subscription.promotionalOffers {
                offers.append("promotional \(offer.id) \(self.terms(of: offer))")
            }
            for code in product.codeOffers {
                let who: [(CodeOffer.Eligibility, String)] = [
                    (.new, "new"), (.existing, "existing"), (.expired, "expired"),
                ]
                let named = who.filter { code.eligibility.contains($0.0) }.map(\.1).joined(separator: ", ")
                let stackable = code.isStackable ? " stackable" : ""
                offers.append(
                    "code \(code.offer.id) \(self.terms(of: code.offer)) for \(named)\(stackable)"
                        + self.codes(of: code))
            }
            for winBack in subscription.winBackOffers {
                let rule = winBack.rule.map {
                    "paid \($0.paidMonthsMin) months, lapsed \($0.lapsedMonthsMin) to \($0.lapsedMonthsMax) months, "
                        + "wait \($0.waitMonths) months"
                }
                let who = [winBack.isEligible ? "eligible" : nil, rule].compactMap { $0 }.joined(separator: ", ")
                offers.append("win-back \(winBack.offer.id) \(self.terms(of: winBack.offer)) \(who)")
            }
        }
        if product.subscription == nil {
            offers += product.codeOffers.map {
                "code \($0.offer.id) once at \(self.price($0.offer.price.milliunits))" + self.codes(of: $0)
            }
        }
        line += " price \(self.price(product.price.milliunits))" + (product.isFamilyShareable ? " shareable" : "")
        return [line] + offers.map { "offer \(product.id) \($0)" }
    }

    private static func codes(of offer: CodeOffer) -> String {
        if offer.codes.isEmpty { return "" }
        return " listing "
            + offer.codes.map { $0.code + ($0.redemptionLimit > 0 ? " \($0.redemptionLimit) times" : "") }.joined(
                separator: ", ")
    }

    private static func terms(of offer: SubscriptionOffer) -> String {
        let length = self.length(offer.period)
        let price = self.price(offer.price.milliunits)
        return switch offer.paymentMode {
        case .freeTrial: "free \(length)"
        case .payUpFront: "\(length) up front at \(price)"
        default: "\(offer.periodCount) x \(length) at \(price)"
        }
    }

    private static func length(_ period: Period) -> String {
        switch period.unit {
        case .week: "\(period.value)w"
        case .month: "\(period.value)mo"
        case .year: "\(period.value)y"
        default: "\(period.value)d"
        }
    }

    private static func price(_ milliunits: Int64) -> String {
        Money(milliunits: milliunits, currency: "").decimal()
    }
}

extension String {
    fileprivate func replacing(_ old: Character, with new: Character) -> String {
        String(self.map { $0 == old ? new : $0 })
    }
}
