import PerchBase
import PerchModel
import PerchWire

// Samples of operations, settings and their results.
extension Samples {
    mutating func orderedOffer() -> OrderedOffer {
        OrderedOffer(type: self.value(), id: self.text(), signature: self.text())
    }

    mutating func order() -> PurchaseOrder {
        var order = PurchaseOrder(
            productID: self.text(), quantity: self.u32(), appAccountToken: self.text(), offer: self.orderedOffer())
        order.introductoryEligibility = self.value()
        order.introductoryEligibilitySignature = self.text()
        order.billingPlan = self.value()
        order.date = self.instant()
        order.renewalBehaviour = self.value()
        order.simulatesAskToBuy = true
        order.seenStorefront = self.text()
        order.continuesInNewStorefront = true
        return order
    }

    private mutating func target() -> OperationTarget {
        self.next() % 2 == 0 ? .transaction(self.u64()) : .product("product \(self.text())")
    }

    /// Each operation in turn, so that a few dozen seeds cover every field.
    mutating func operation() -> StoreOperation {
        let operations: [StoreOperation] = [
            .buy(self.order()),
            .refund(
                self.target(), reason: self.value(),
                share: .part(milliPercent: UInt32.random(in: 1...100_000, using: &self))
            ),
            .refund(self.target(), reason: self.value(), share: self.next() % 2 == 0 ? .full : .prorated),
            .reverseRefund(self.target()), .declineRefund(self.target()), .requestConsumption(self.target()),
            .renew(self.target()), .expire(self.target()), .setAutoRenew(self.target(), isOn: true),
            .resolveBilling(self.target()), .setCharges(fail: true), .setCharges(fail: false), .setCharges(fail: nil),
            .raisePrice(self.target(), milliunits: self.i64(), needsConsent: self.next() % 2 == 0),
            .raisePrice(self.target(), milliunits: self.i64(), needsConsent: nil),
            .answerPriceIncrease(self.target(), agrees: true),
            .extendRenewal(self.target(), milliseconds: self.i64()),
            .share(self.target(), member: self.text()), .stopSharing(self.target(), member: "berta"),
            .stopSharing(nil, member: nil), .decidePurchase(id: self.u64(), approves: true),
            .deleteTransaction(self.u64()), .clearTransactions,
            .createIntent(productID: self.text(), offer: self.orderedOffer()), .endIntent(id: self.u64()),
            .setStorefront(self.text()), .postMessage, .setPayments(isAllowed: true),
            .setAppTransaction(
                AppTransactionTerms(
                    originalAppVersion: self.text(), originalPurchaseDate: self.instant(),
                    originalPlatform: self.value(), environment: self.value())),
        ]
        return operations[Int(self.next() % UInt64(operations.count))]
    }

    private mutating func edit() -> ProductEdit {
        var edit = ProductEdit(productID: self.text())
        edit.priceMilliunits = self.i64()
        edit.displayName = self.text()
        edit.isWithdrawn = true
        edit.isFamilyShareable = true
        edit.offers = self.list { samples in
            var offer = OfferEdit(type: samples.value(), id: samples.text())
            offer.isRemoved = true
            offer.paymentMode = samples.value()
            offer.priceMilliunits = samples.i64()
            offer.period = samples.period()
            offer.periodCount = samples.u32()
            offer.eligibility = samples.texts()
            offer.isEligible = true
            offer.isStackable = true
            offer.winBackRule = WinBackRuleEdit(
                paidMonths: samples.u32(), lapsedMonthsMin: samples.u32(), lapsedMonthsMax: samples.u32(),
                waitMonths: samples.u32())
            offer.codes = samples.list { samples in
                OfferCode(code: samples.text(), redemptionLimit: samples.u32(), until: samples.instant())
            }
            return offer
        }
        return edit
    }

    mutating func settings() -> [AppSettingChange] {
        [
            .askToBuy(true), .interruptedPurchases(false), .billingRetryOnRenewal(true), .gracePeriod(true),
            .gracePeriodDays(self.u32()), .gracePeriodForAllRenewals(true), .dialogs(true), .timeRate(self.i32()),
            .storefront(self.text()), .locale(self.text()),
            .simulatedError(self.value(), SimulatedError(rawValue: 1 + self.i32() / 2)),
            .simulatedError(self.value(), nil), .product(self.edit()), .reset,
        ]
    }
}
