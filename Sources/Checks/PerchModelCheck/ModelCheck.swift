import PerchBase
import PerchModel
import PerchStore

/// Runs sequences of events against the model's laws and invariants, and shrinks a failing sequence.
package enum ModelCheck {
    package struct Failure: Sendable {
        package var seed: UInt64
        package var breach: String
        /// The smallest failing sequence found, in its order.
        package var actions: [ModelAction]

        /// The same events for `perch scenario run`.
        package var scenario: String {
            ModelScenario.text(
                of: self.actions, head: ["Found by `modelcheck 1 \(self.seed)`, and shrunk.", "Broken: \(self.breach)"])
        }
    }

    /// An additional law about the state before and after an event. Nil if it holds.
    package typealias Law = (_ before: ModelSnapshot, _ after: ModelSnapshot) -> String?

    /// Counts of the sequence, which reveal a check that did almost nothing.
    package struct Tally: Sendable {
        package var events = 0
        package var refusals = 0
        package var revisions: UInt64 = 0

        package init() {}
    }

    /// Nil if nothing failed. `law` is an additional law, for tests of this check.
    package static func live(
        seed: UInt64, events count: Int, tally: inout Tally, law: Law = { _, _ in nil }
    ) -> Failure? {
        let events = ModelEvent.sequence(seed: seed, count: count)
        guard let breach = self.breach(of: events, tally: &tally, law) else { return nil }
        let (fewest, last) = self.shrunk(events, breach, law)
        return Failure(seed: seed, breach: last, actions: self.actions(of: fewest))
    }

    /// Number of events after which the check examines all accounts, not only those that a revision touched. It also
    /// does so at the end.
    private static let eventsPerWholeLook = 25

    /// The first failure.
    private static func breach(of events: [ModelEvent], tally: inout Tally, _ law: Law) -> String? {
        let world = ModelWorld()
        var before = ModelSnapshot(of: world)
        var invariants = ModelInvariants(world)
        var reference = ReferenceComparison(world)
        for (index, event) in events.enumerated() {
            let action = event.action(in: world)
            let answer = self.perform(action, in: world)
            let looksAtAll = (index + 1) % self.eventsPerWholeLook == 0 || index == events.count - 1
            let after = ModelSnapshot(of: world, after: looksAtAll ? nil : before)
            tally.events += 1
            if case .refused = answer { tally.refusals += 1 }
            tally.revisions += after.revision - before.revision
            let found =
                self.order(of: world, before, after)
                ?? ModelLaws(before: before, after: after).breach(of: action, answer: answer)
                ?? invariants.breach(in: after, looksAtAll: looksAtAll)
                ?? reference.breach(of: action, answer: answer, in: after) ?? law(before, after)
            if let found { return "event \(index), \(action): \(found)" }
            before = after
        }
        return nil
    }

    static func perform(_ action: ModelAction, in world: ModelWorld) -> ModelWorld.Answer {
        switch action {
        case .operate(let account, let operation):
            return world.ask(.operation(operation, account: world.key(account), app: world.app))
        case .sync(let account):
            return world.ask(.sync(world.key(account)))
        case .finish(let account, let id):
            return world.ask(self.finish(id, of: world.key(account)))
        case .configure(let changes):
            return world.ask(self.configure(changes, app: world.app))
        case .advance(let instant):
            return world.advance(to: instant)
        case .again:
            // The store keeps no refusal, so the same request may succeed later.
            guard let (_, first) = world.lastKeyed, case .done = first, let again = world.askAgain() else {
                return .done(.none, Position(revision: world.revision, asOf: world.now))
            }
            return first == again ? again : .differs(first: "\(first)", again: "\(again)")
        }
    }

    private static func finish(_ id: TransactionID, of account: AccountKey) -> Mutation {
        Mutation(.transaction(account, id), needsTestApp: false) { view in
            guard let row = view.transaction, !row.isFinished else { return .unchanged(answer: .none) }
            let fact = Fact(.finished(id), effective: view.now)
            return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
        }
    }

    private static func configure(_ changes: [AppSettingChange], app: AppNumber) -> Mutation {
        Mutation(.app(app), needsTestApp: true) { view throws(Refusal) in
            let (settings, catalogue) = try decideConfiguration(
                changes, settings: view.app.settings, fileSettings: view.fileSettings, catalogue: view.app.catalogue)
            var change = AppChange()
            change.settings = settings
            if let catalogue { change.catalogue = (catalogue, view.app.catalogueSource) }
            return .commitApp(change, answer: .none)
        }
    }

    /// Revisions rise by one, and events report exactly the new and changed transactions.
    private static func order(of world: ModelWorld, _ before: ModelSnapshot, _ after: ModelSnapshot) -> String? {
        var last = before.revision
        var events: [AccountNumber: [AccountEvent]] = [:]
        for change in world.takeChanges() {
            if change.revision != last + 1 { return "revision \(change.revision) came after \(last)" }
            last = change.revision
            for account in change.accounts {
                for event in account.events where event.place.revision != change.revision {
                    return "an event of revision \(event.place.revision) came with \(change.revision)"
                }
                events[account.record.account, default: []] += account.events
            }
        }
        if last != world.revision { return "revision \(world.revision) was not told" }
        for account in ModelWorld.accounts.indices {
            guard let number = after.records[account]?.account else { continue }
            let told = events[number, default: []]
            if let found = self.fault(in: told, before.rows[account], after.rows[account]) {
                return "\(ModelWorld.accounts[account]): \(found)"
            }
        }
        return nil
    }

    private static func fault(
        in told: [AccountEvent], _ before: [TransactionRow], _ after: [TransactionRow]
    ) -> String? {
        if told.isEmpty, before.count == after.count, before.map(\.transaction) == after.map(\.transaction) {
            return nil
        }
        let known = Dictionary(uniqueKeysWithValues: before.map { ($0.transaction.id, $0.transaction) })
        for row in after.map(\.transaction) {
            guard let old = known[row.id] else {
                let kind: TransactionEventKind = row.reason == .renewal ? .renewed : .purchased
                // A pending purchase of the family that was refunded returns with the reversal.
                guard told.contains(where: { $0.transaction.id == row.id && [kind, .reinstated].contains($0.kind) })
                else {
                    return "transaction \(row.id) came, and was not told as \(kind)"
                }
                continue
            }
            guard row != old else { continue }
            let kind: TransactionEventKind =
                (old.revocation == nil) == (row.revocation == nil)
                ? .changed : row.revocation == nil ? .reinstated : .revoked
            guard told.contains(where: { $0.transaction == row && $0.kind == kind }) else {
                return "transaction \(row.id) changed, and was not told as \(kind)"
            }
        }
        let there = Set(after.map(\.transaction.id))
        let stranger = told.first { !there.contains($0.transaction.id) }
        return stranger.map { "transaction \($0.transaction.id) was reported, but is missing" }
    }

    // MARK: Shrinking

    /// Shrinks a failing sequence: leaves out halves, then quarters, down to single events.
    private static func shrunk(_ events: [ModelEvent], _ breach: String, _ law: Law) -> ([ModelEvent], String) {
        var events = events
        var breach = breach
        var tally = Tally()
        var chunk = events.count / 2
        while chunk > 0 {
            var start = 0
            while start < events.count {
                var fewer = events
                fewer.removeSubrange(start..<min(start + chunk, events.count))
                if let found = self.breach(of: fewer, tally: &tally, law) {
                    events = fewer
                    breach = found
                } else {
                    start += chunk
                }
            }
            chunk /= 2
        }
        return (events, breach)
    }

    /// The scenario of a sequence, whether it fails or not.
    package static func actions(of events: [ModelEvent]) -> [ModelAction] {
        let world = ModelWorld()
        return events.map { event in
            let action = event.action(in: world)
            _ = self.perform(action, in: world)
            return action
        }
    }
}
