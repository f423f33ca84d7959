import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct SetClock: ChangeMethod {
    let asked: SetClockRequest

    var auditNote: AuditNote { .audited(self.asked.change.map { nameOfCase($0) } ?? "") }

    var accountsNamed: [String] {
        if case .advanceToBoundary(let account)? = self.asked.change { [account] } else { [] }
    }

    func check() throws(CallRefusal) {
        guard let change = self.asked.change else {
            throw CallRefusal(
                .fieldMissing, "no change is named; freeze, resume or advance the clock",
                details: [.field("change")])
        }
        if case .advanceToBoundary(let name) = change {
            try Check.account(name, field: "advance_to_boundary.account")
        }
    }

    func mutation(_ context: MethodContext) -> Mutation {
        guard let change = self.asked.change else { preconditionFailure("a clock change was checked to be there") }
        var subject = Subject.app(context.app.number)
        if case .advanceToBoundary(let account) = change {
            subject = .account(context.key(ofAccount: account), opens: false)
        }
        var mutation = Mutation(subject, needsTestApp: true) { view throws(Refusal) in
            var appChange = AppChange()
            switch (change, view.app.clock) {
            case (.freeze, .running):
                appChange.clock = .frozen(at: view.now)
            case (.resume, .frozen(let at)):
                appChange.clock = .running(offsetMilliseconds: at.milliseconds(since: view.wall))
            case (.freeze, .frozen), (.resume, .running):
                return .unchanged(answer: StoreEngine.clockResult(view.app, wall: view.wall, settled: RenewalCount()))
            case (_, .running(let offset)):
                let goal = try change.goal(view)
                appChange.clock = .running(offsetMilliseconds: offset + goal.milliseconds(since: view.now))
            case (_, .frozen):
                appChange.clock = .frozen(at: try change.goal(view))
            }
            return .commitApp(appChange, answer: .none)
        }
        mutation.waitsForSettling = true
        if case .freeze = change { mutation.stopsClock = true }
        return mutation
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> SetClockResponse {
        guard case .clock(let now, let isFrozen, let offset, let rate, let settled) = result else {
            preconditionFailure("a clock is a clock")
        }
        return SetClockResponse(
            position: position,
            clock: ClockState(now: now, isFrozen: isFrozen, offsetMilliseconds: offset, timeRate: rate.rawValue),
            settledCount: settled.settled, renewedCount: settled.renewed, failedCount: settled.failed)
    }
}

extension ClockChange {
    /// Where an advance leads to.
    fileprivate func goal(_ view: DecisionView) throws(Refusal) -> Instant {
        switch self {
        case .freeze, .resume:
            preconditionFailure("an advance has a target")
        case .advanceBy(let delta):
            guard delta >= 0 else {
                throw Refusal(
                    .clockBackwards,
                    "the clock cannot go back by \(exactly(milliseconds: delta).dropFirst()); it only goes forward")
            }
            guard delta <= Limits.advanceMillisecondsMax else {
                throw Refusal(
                    .advanceLimit,
                    "the clock would go forward by \(exactly(milliseconds: delta)), the limit of one call is \(exactly(milliseconds: Limits.advanceMillisecondsMax)); advance in several calls",
                    field: "advance_by_ms", found: delta, limit: Limits.advanceMillisecondsMax)
            }
            return view.now.advanced(byMilliseconds: delta)
        case .advanceTo(let instant):
            guard instant >= view.now else {
                let advice = instant.isPerhapsSeconds ? "; advance_to_ms is in milliseconds, not in seconds" : ""
                throw Refusal(
                    .clockBackwards, "the clock is at \(view.now), it cannot go back to \(instant)\(advice)",
                    field: "advance_to_ms", found: instant.milliseconds)
            }
            guard instant.milliseconds(since: view.now) <= Limits.advanceMillisecondsMax else {
                throw Refusal(
                    .advanceLimit,
                    "from \(view.now) to \(instant) is further than one call can go, \(exactly(milliseconds: Limits.advanceMillisecondsMax)); advance in several calls",
                    field: "advance_to_ms", limit: Limits.advanceMillisecondsMax)
            }
            return instant
        case .advanceToBoundary:
            let leeway = view.app.renewalLeewayMilliseconds
            let next = view.accountRecord.lines.compactMap { line in
                line.forecast(after: view.now, leewayMilliseconds: leeway)?.at
            }.min()
            guard let next else {
                throw Refusal(
                    .notSubscribed, "nothing will happen to this account by itself; buy a subscription first")
            }
            return next
        }
    }
}
