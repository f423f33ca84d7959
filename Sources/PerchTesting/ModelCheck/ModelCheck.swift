import PerchBase
import PerchModel
import PerchStore

/// Lives sequences of events against the model's laws and invariants, and shrinks what breaks one.
package enum ModelCheck {
    package struct Failure: Sendable {
        package var seed: UInt64
        package var breach: String
        /// The fewest events that were found to break it, as they were lived.
        package var actions: [ModelAction]
    }

    /// What was lived, so that a check that did next to nothing is seen.
    package struct Tally: Sendable {
        package var events = 0
        package var refusals = 0
        package var revisions: UInt64 = 0

        package init() {}
    }

    /// Nil: nothing was broken.
    package static func live(seed: UInt64, events count: Int, tally: inout Tally) -> Failure? {
        let events = ModelEvent.sequence(seed: seed, count: count)
        guard let breach = self.breach(of: events, tally: &tally) else { return nil }
        let (fewest, last) = self.shrunk(events, breach)
        return Failure(seed: seed, breach: last, actions: self.actions(of: fewest))
    }

    /// The first thing that is broken.
    private static func breach(of events: [ModelEvent], tally: inout Tally) -> String? {
        let world = ModelWorld()
        var before = ModelSnapshot(of: world)
        for (index, event) in events.enumerated() {
            let action = event.action(in: world)
            let answer = self.perform(action, in: world)
            let after = ModelSnapshot(of: world)
            tally.events += 1
            if case .refused = answer { tally.refusals += 1 }
            tally.revisions += after.revision - before.revision
            let found =
                self.order(of: world, from: before.revision)
                ?? ModelLaws(action, before, after, answer: answer).breach() ?? ModelInvariants(world).breach()
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
            // What was refused was not kept: asked again, it may well be done.
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

    /// Revisions rise by one, and an event is told for each transaction that came or changed.
    private static func order(of world: ModelWorld, from revision: UInt64) -> String? {
        var last = revision
        for change in world.takeChanges() {
            if change.revision != last + 1 { return "revision \(change.revision) came after \(last)" }
            last = change.revision
            for account in change.accounts {
                for event in account.events where event.place.revision != change.revision {
                    return "an event of revision \(event.place.revision) came with \(change.revision)"
                }
            }
        }
        return last == world.revision ? nil : "revision \(world.revision) was not told"
    }

    // MARK: Shrinking

    /// Fewer events that break something: halves are left out, then quarters, and so on to single ones.
    private static func shrunk(_ events: [ModelEvent], _ breach: String) -> ([ModelEvent], String) {
        var events = events
        var breach = breach
        var tally = Tally()
        var chunk = events.count / 2
        while chunk > 0 {
            var start = 0
            while start < events.count {
                var fewer = events
                fewer.removeSubrange(start..<min(start + chunk, events.count))
                if let found = self.breach(of: fewer, tally: &tally) {
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

    private static func actions(of events: [ModelEvent]) -> [ModelAction] {
        let world = ModelWorld()
        return events.map { event in
            let action = event.action(in: world)
            _ = self.perform(action, in: world)
            return action
        }
    }
}
