import PerchBase
import PerchModel
import PerchStore

/// The expected state at an instant.
struct ReferenceLook {
    let instant: Instant
    /// By account and group.
    let statuses: [[[ReferenceStatus]]]
}

// Later writing does not change the past, except for purchases in the past, which count from their own date.
extension ReferenceComparison {
    /// Number of events between two samples. Each sample is compared again until a purchase dated before it.
    private static let eventsPerLook = 4
    private static let looksKept = 16

    mutating func faultInPast(_ action: ModelAction, answer: ModelWorld.Answer) -> String? {
        if let date = self.reference.boughtAt, date < self.reference.now {
            self.looks.removeAll { $0.instant >= date }
            if let found = self.fault(inPurchaseAt: date, action, answer) { return found }
        }
        self.events += 1
        // All events of one instant belong to that instant.
        if let last = self.looks.last, last.instant >= self.reference.now { self.looks.removeLast() }
        guard self.events % Self.eventsPerLook == 0 else { return nil }
        let account = self.events / Self.eventsPerLook % ModelWorld.accounts.count
        let found = self.looks.isEmpty ? nil : self.fault(in: self.looks[self.events % self.looks.count], account)
        let statuses = ModelWorld.accounts.indices.map { account in
            ModelShop.groups.map { self.reference.statuses(account, in: $0) }
        }
        if self.looks.count == Self.looksKept { self.looks.removeFirst() }
        self.looks.append(ReferenceLook(instant: self.reference.now, statuses: statuses))
        return found
    }

    private func fault(in look: ReferenceLook, _ account: Int) -> String? {
        for (group, wanted) in zip(ModelShop.groups, look.statuses[account]) {
            guard let viewed = self.statuses(account, in: group, asOf: look.instant) else {
                return "it is not told what there was at \(look.instant)"
            }
            if let found = self.fault(in: viewed, wanted, group) {
                return "\(ModelWorld.accounts[account]): as of \(look.instant): \(found)"
            }
        }
        return nil
    }

    /// A purchase in the past without a renewal since looks the same as of its date.
    private func fault(inPurchaseAt date: Instant, _ action: ModelAction, _ answer: ModelWorld.Answer) -> String? {
        guard case .operate(let account, _) = action,
            case .done(.transaction(let bought, wasHeld: false, _), _) = answer,
            case let group = bought.subscriptionGroupID, !group.isEmpty
        else { return nil }
        var then = self.reference
        then.now = date
        then.shops.removeAll { $0.from > date }
        let isBought = { (status: ReferenceStatus) in !status.line.isShared && status.latest.begin == date }
        guard let wanted = then.statuses(account, in: group).first(where: isBought) else { return nil }
        let viewed = self.statuses(account, in: group, asOf: date)?.first { $0.transaction.value.id == bought.id }
        guard let viewed else { return "as of \(date), at which it was bought, transaction \(bought.id) is not there" }
        return self.fault(in: [viewed], [wanted], group).map { "as of \(date), at which it was bought: \($0)" }
    }

    private func statuses(_ account: Int, in group: String, asOf instant: Instant) -> [SubscriptionStatus]? {
        let known = KnownAs(revision: 0, instant: instant)
        guard
            case .recordAsKnown(let record, let app)? = self.world.read(.recordAsKnown(self.world.key(account), known))
        else { return nil }
        return subscriptionStatuses(of: record, inGroup: group, app: app, at: instant).value.statuses
    }
}
