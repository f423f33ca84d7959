package import PerchBase
package import PerchModel
import PerchStore

/// One thing that happens in a model's check: drawn from its own seed when its turn comes, from what is there then. So
/// a sequence that lost some of its events is still a sequence.
package struct ModelEvent: Hashable, Sendable {
    package var seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    package static func sequence(seed: UInt64, count: Int) -> [ModelEvent] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in ModelEvent(seed: random.next()) }
    }
}

/// What an event comes to.
package enum ModelAction: Hashable, Sendable, CustomStringConvertible {
    case operate(account: Int, StoreOperation)
    case sync(account: Int)
    case finish(account: Int, TransactionID)
    case configure([AppSettingChange])
    case advance(to: Instant)
    /// The last operation, again, with its key.
    case again

    package var description: String {
        switch self {
        case .operate(let account, let operation): "\(ModelWorld.accounts[account]): \(operation)"
        case .sync(let account): "\(ModelWorld.accounts[account]): sync"
        case .finish(let account, let id): "\(ModelWorld.accounts[account]): finish \(id)"
        case .configure(let changes): "configure \(changes)"
        case .advance(let instant): "advance to \(instant)"
        case .again: "again"
        }
    }
}

extension ModelEvent {
    package func action(in world: ModelWorld) -> ModelAction {
        var draw = Draw(world: world, random: SeededRandom(seed: self.seed))
        return draw.action()
    }

    private struct Draw {
        let world: ModelWorld
        var random: SeededRandom
        var account = 0

        init(world: ModelWorld, random: SeededRandom) {
            self.world = world
            self.random = random
            // Most happens to the first two, so that something happens to somebody who has a past.
            self.account = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3][self.random.below(10)]
        }

        mutating func action() -> ModelAction {
            switch self.random.below(100) {
            case 0..<26: .operate(account: self.account, .buy(self.order()))
            case 26..<44: .advance(to: self.instant())
            case 44..<48:
                self.about {
                    .refund($0, reason: .other, share: [.full, .prorated, .part(milliPercent: 30_000)][$1.below(3)])
                }
            case 48..<51: .operate(account: self.account, .reverseRefund(self.refunded()))
            case 51..<57: self.about { .setAutoRenew($0, isOn: $1.below(3) == 0) }
            case 57..<60: self.about { target, _ in .renew(target) }
            case 60..<62: self.about { target, _ in .expire(target) }
            case 62..<66: self.about { target, _ in .resolveBilling(target) }
            case 66..<69:
                .operate(account: self.account, .setCharges(fail: [true, true, false, nil][self.random.below(4)]))
            case 69..<72:
                self.about {
                    .raisePrice(
                        $0, milliunits: 1_000 * Int64(2 + $1.below(30)), needsConsent: [true, false, nil][$1.below(3)])
                }
            case 72..<75: self.about { .answerPriceIncrease($0, agrees: $1.bool()) }
            case 75..<77: self.about { .extendRenewal($0, milliseconds: Int64(1 + $1.below(20)) * 86_400_000) }
            case 77..<80: self.about { .share($0, member: ModelWorld.accounts[$1.below(4)]) }
            case 80..<82: self.stopSharing()
            case 82..<84: self.pending()
            case 84..<85: .operate(account: self.account, .deleteTransaction(self.transaction()))
            case 85: self.random.below(3) == 0 ? .operate(account: self.account, .clearTransactions) : .again
            case 86:
                .operate(
                    account: self.account,
                    .createIntent(productID: self.random.element(ModelShop.subscriptions), offer: nil))
            case 87:
                .operate(account: self.account, .endIntent(id: self.world.record(self.account)?.intents.first?.id ?? 7))
            case 88: .operate(account: self.account, .setStorefront(self.random.element(["", "FRA", "JPN"])))
            case 89: .sync(account: self.account)
            case 90..<93: .finish(account: self.account, self.transaction())
            case 93..<97: .configure([self.setting()])
            default: .again
            }
        }

        private mutating func about(
            _ operation: (OperationTarget, inout SeededRandom) -> StoreOperation
        ) -> ModelAction {
            let target = self.target()
            return .operate(account: self.account, operation(target, &self.random))
        }

        /// Mostly something that is there.
        private mutating func target() -> OperationTarget {
            if let record = self.world.record(self.account), !record.lines.isEmpty, self.random.below(3) > 0 {
                let line = self.random.element(record.lines)
                return self.random.bool() ? .product(line.latest.productID) : .transaction(line.latest.id)
            }
            if self.random.below(4) > 0 { return .transaction(self.transaction()) }
            return .product(self.random.element(ModelShop.subscriptions + ModelShop.others))
        }

        /// Mostly something that was refunded: anything else is only refused.
        private mutating func refunded() -> OperationTarget {
            let refunded = self.world.rows(self.account).map(\.transaction).filter { $0.revocation != nil }
            if refunded.isEmpty || self.random.below(4) == 0 { return self.target() }
            return .transaction(self.random.element(refunded).id)
        }

        private mutating func transaction() -> TransactionID {
            let rows = self.world.rows(self.account)
            return rows.isEmpty ? UInt64(self.random.below(4)) : self.random.element(rows).transaction.id
        }

        private mutating func order() -> PurchaseOrder {
            let all = ModelShop.subscriptions + ModelShop.subscriptions + ModelShop.others
            var order = PurchaseOrder(productID: self.random.element(all))
            switch self.random.below(12) {
            case 0: order.offer = OrderedOffer(type: .promotional, id: self.random.element(["half", "upfront", "no"]))
            case 1: order.offer = OrderedOffer(type: .code, id: self.random.element(["WELCOME", "LOYAL"]))
            case 2: order.offer = OrderedOffer(type: .winBack, id: self.random.element(["back", "soon"]))
            case 3: order.introductoryEligibility = self.random.bool() ? .allowed : .denied
            case 4: order.quantity = UInt32(1 + self.random.below(3))
            case 5: order.simulatesAskToBuy = true
            case 7: order.appAccountToken = "7E3FB204-2DB1-4BBB-9A33-BF4C3B1B6B0D"
            case 6:
                order.date = self.world.now.advanced(byMilliseconds: -Int64(self.random.below(100)) * 86_400_000)
                order.renewalBehaviour = self.random.bool() ? .renewUntilNow : .cancelImmediately
            default: break
            }
            if order.offer != nil { order.productID = "silver" }
            return order
        }

        private mutating func pending() -> ModelAction {
            let waiting = self.world.record(self.account)?.pendingPurchases ?? []
            let id = waiting.isEmpty ? 5 : self.random.element(waiting).id
            return .operate(account: self.account, .decidePurchase(id: id, approves: self.random.below(3) > 0))
        }

        private mutating func stopSharing() -> ModelAction {
            let target = self.random.optional { _ in true } == nil ? nil : self.target()
            let member = self.random.optional { ModelWorld.accounts[$0.below(4)] }
            return .operate(account: self.account, .stopSharing(target, member: member))
        }

        private mutating func setting() -> AppSettingChange {
            switch self.random.below(10) {
            case 0: .askToBuy(self.random.below(4) == 0)
            case 1: .interruptedPurchases(self.random.below(4) == 0)
            case 2, 3: .billingRetryOnRenewal(self.random.bool())
            case 4, 5: .gracePeriod(self.random.bool())
            case 6: .gracePeriodDays(self.random.element([3, 16, 28]))
            case 7: .gracePeriodForAllRenewals(self.random.bool())
            // A charge that recovers keeps its boundary: under a month of half a minute it would make up for thousands.
            case 8 where !self.chargesFail: .timeRate(self.random.element([0, 0, 15]))
            default: .product(self.edit())
            }
        }

        private var chargesFail: Bool {
            ModelWorld.accounts.indices.contains { account in
                self.world.record(account)?.lines.contains { $0.retry != nil } ?? false
            }
        }

        private mutating func edit() -> ProductEdit {
            var edit = ProductEdit(productID: self.random.element(ModelShop.subscriptions))
            edit.isWithdrawn = self.random.below(4) == 0
            return edit
        }

        /// The next boundary, just before or after it, or some way on.
        private mutating func instant() -> Instant {
            let now = self.world.now
            let boundaries = (self.world.record(self.account)?.lines ?? []).compactMap { line in
                line.forecast(after: now, leewayMilliseconds: nil)?.at
            }
            // Under a month of half a minute no farther than some periods: not a million.
            let isReal = self.world.state.settings.timeRate == .realTime
            let farthest = now.advanced(byMilliseconds: isReal ? .max / 4 : 600_000)
            if let next = boundaries.min(), self.random.below(3) > 0 {
                let instant = next.advanced(byMilliseconds: [0, 0, 0, -1, 1, 3_600_000][self.random.below(6)])
                return min(max(now, instant), farthest)
            }
            let days = Int64([1, 3, 10, 31, 62, 200][self.random.below(6)])
            return min(now.advanced(byMilliseconds: days * 86_400_000), farthest)
        }
    }
}
