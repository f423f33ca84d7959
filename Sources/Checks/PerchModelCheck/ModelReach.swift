import PerchBase
import PerchModel
import PerchStore

/// Counts the events and states of sequences. A law finds nothing in states that no sequence reaches.
package struct ModelReach: Sendable {
    /// By name: numbers of events, or of moments after an event.
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    /// Runs a sequence without laws.
    package mutating func live(seed: UInt64, events count: Int) {
        let world = ModelWorld()
        for event in ModelEvent.sequence(seed: seed, count: count) {
            let action = event.action(in: world)
            let answer = ModelCheck.perform(action, in: world)
            self.note(action, answer)
            for account in ModelWorld.accounts.indices {
                if let record = world.record(account) { self.note(record, at: world.now) }
            }
            if world.state.settings.timeRate != .realTime { self.note("app: another time rate") }
            for armed in world.state.settings.simulatedErrors.entries { self.note("app: \(armed.api) fails") }
        }
        for account in ModelWorld.accounts.indices { self.note(world.rows(account).map(\.transaction)) }
    }

    private mutating func note(_ name: String) { self.counts[name, default: 0] += 1 }

    private mutating func note(_ action: ModelAction, _ answer: ModelWorld.Answer) {
        var done = "done"
        if case .refused = answer { done = "refused" }
        switch action {
        case .operate(_, let operation):
            self.note("\(done): \(Self.word("\(operation)"))")
            guard case .buy(let order) = operation else { return }
            self.note("\(done): buy, \(order.offer.map { "\($0.type)" } ?? "no offer")")
            if order.date != nil { self.note("\(done): buy, dated") }
            if order.isByApp { self.note("\(done): buy, by the app") }
            if order.billingPlan != .unspecified { self.note("\(done): buy, \(order.billingPlan)") }
            if !order.seenStorefront.isEmpty { self.note("\(done): buy, a storefront was seen") }
        case .sync: self.note("\(done): sync")
        case .finish: self.note("\(done): finish")
        case .advance: self.note("\(done): advance")
        case .again: self.note("\(done): again")
        case .configure(let changes):
            for change in changes { self.note("\(done): configure \(Self.word("\(change)"))") }
        }
    }

    private static func word(_ text: String) -> String { String(text.prefix { $0 != "(" }) }

    private mutating func note(_ record: AccountRecord, at now: Instant) {
        for line in record.lines {
            let owner = line.isOwn ? "own" : "shared"
            self.note("line: \(owner), \(line.state(at: now, leewayMilliseconds: nil))")
            if let increase = line.increase { self.note("line: \(owner), increase \(increase.status)") }
            if line.lastIncrease != nil { self.note("line: \(owner), was raised") }
            if line.offerPeriodsLeft > 0 { self.note("line: \(owner), offer in force") }
            if line.queuedOffer != nil { self.note("line: \(owner), offer waits") }
            if line.preference != line.latest.productID { self.note("line: \(owner), another plan comes") }
            if line.preferredBillingPlan == .monthly { self.note("line: \(owner), another plan comes, billed monthly") }
            if let lapse = line.lapse { self.note("line: \(owner), ended by \(lapse)") }
            if line.isCommitted { self.note("line: \(owner), committed") }
        }
        if Set(record.lines.map(\.groupID)).count < record.lines.count {
            self.note("account: several lines in a group")
        }
        for pending in record.pendingPurchases { self.note("account: waits, \(pending.reason)") }
        for owned in record.owned { self.note("account: owns \(owned.productID), \(owned.ownership)") }
        if !record.awaitingSync.isEmpty { self.note("account: awaits a sync") }
        if !record.intents.isEmpty { self.note("account: intends") }
        for share in Set(record.shares.map(\.original)) {
            let count = record.shares.count { $0.original == share }
            self.note("account: shares with \(count)")
        }
    }

    private mutating func note(_ rows: [Transaction]) {
        for row in rows {
            self.note("row: \(row.productID), \(row.ownership), \(row.reason)")
            if let offer = row.offer { self.note("row: offer \(offer.type) \(offer.id)") }
            if row.isUpgraded { self.note("row: upgraded") }
            if let revocation = row.revocation { self.note("row: \(row.productType), \(revocation.type)") }
        }
        for product in ModelShop.others {
            let own = rows.filter { $0.productID == product && $0.ownership == .purchased }
            let refunded = own.count { $0.revocation != nil }
            if refunded > 1 { self.note("history: \(product), \(refunded) refunded") }
            if own.count > 2, refunded > 0 { self.note("history: \(product), more than two, and one refunded") }
            let isShared = rows.contains { $0.productID == product && $0.ownership == .familyShared }
            if isShared, !own.isEmpty { self.note("history: \(product), own and shared") }
        }
    }
}
