package import PerchBase
package import PerchModel

extension StoreEngine {
    /// Attempts what is due in each test app, oldest first, one commit for each app. True: more may be due.
    func settleDue(wall: Instant, into outbox: inout Outbox) -> Bool {
        var hasMore = false
        for number in self.apps.numbers {
            guard let app = self.apps[number]?.state, app.isTestApp else { continue }
            let now = app.clock.now(wall: wall)
            do throws(StorageError) {
                guard let due = try self.earliestDue(number), due <= now else { continue }
            } catch {
                self.fail(error)
                return false
            }
            hasMore = true
            var batch = self.takeBatch()
            let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
                let wall = self.decisionTime(wall)
                // An attempt may make its account due again by now. That belongs to the same batch: a clock that moves far
                // makes many periods of one account, and each would wait for the disk by itself.
                while batch.changes.count < Limits.attemptsPerBatchMax {
                    let due = try self.storage.due(
                        number, through: now, limit: Limits.attemptsPerBatchMax - batch.changes.count)
                    if due.isEmpty { break }
                    try self.storage.prefetch([], accounts: due.map(\.account))
                    for entry in due { try self.attempt(entry, wall: wall, &batch) }
                }
            }
            self.publishNews(into: &outbox)
            // Without space, or without a connection, due attempts stay due.
            self.send(&batch, error, to: [], into: &outbox)
            if self.failure != nil || self.unresolved != nil { return false }
        }
        return hasMore
    }

    private func attempt(_ entry: DueEntry, wall: Instant, _ batch: inout Batch) throws(StorageError) {
        guard let record = try self.record(entry.account) else {
            throw .corrupt("account \(entry.account) is due at \(entry.instant) but has no record")
        }
        _ = try self.attempt(record, at: entry.instant, wall: wall, &batch)
    }

    /// The result of a search for due renewals.
    struct DueLook {
        /// A renewal is due by now.
        var isNow = false
        /// The wall time of the next renewal; nil: none is due, or its app's clock is frozen.
        var wake: Instant?
    }

    /// Runs in every tick. Usually nothing is due. A node whose clock does not agree with the storage's settles nothing.
    func lookForDue(wall: Instant) -> DueLook {
        var look = DueLook()
        if let sharing = self.storage.sharing, sharing.clockJump != 0 { return look }
        for number in self.apps.numbers {
            guard let app = self.apps[number], app.state.isTestApp else { continue }
            do throws(StorageError) {
                guard let due = try self.earliestDue(number) else { continue }
                if due <= app.state.clock.now(wall: wall) { look.isNow = true }
                guard case .running(let offset) = app.state.clock else { continue }
                let wake = due.advanced(byMilliseconds: -offset)
                look.wake = min(look.wake ?? wake, wake)
            } catch {
                self.fail(error)
                return look
            }
        }
        return look
    }

    /// The refusal of a clock move that would renew a subscription more often than one call may.
    ///
    /// No other change makes past renewals due: a purchase in the past brings its own renewals, and a line that a reversed
    /// refund restores has lapsed.
    func refusalOfAdvance(_ change: AppChange, app: AppState, wall: Instant) throws(StorageError) -> Refusal? {
        guard app.isTestApp, let target = change.clock?.now(wall: wall),
            let due = try self.storage.earliestDue(app.number), due < target,
            let shortest = app.shortestRenewal(from: target)
        else { return nil }
        let count = target.milliseconds(since: due) / shortest.milliseconds
        guard count > self.limits.renewalsPerAdvanceMax else { return nil }
        return Refusal(
            .advanceLimit,
            "until \(target) a subscription of \(shortest.productID) would renew \(count) times at the time rate "
                + "\(app.settings.timeRate), the limit of one call is \(self.limits.renewalsPerAdvanceMax); advance by less, or "
                + "at a slower rate",
            found: count, limit: self.limits.renewalsPerAdvanceMax)
    }

    /// Sends a barrier through every loop for each clock move whose due renewals are settled.
    func finishSettlings(wall: Instant, into outbox: inout Outbox) {
        if self.settlings.isEmpty { return }
        var waiting: [Batch.Settling] = []
        for settling in self.settlings {
            do throws(StorageError) {
                if let due = try self.earliestDue(settling.app), due <= settling.target {
                    waiting.append(settling)
                    continue
                }
            } catch {
                self.fail(error)
                return
            }
            let number = self.barriers.next
            self.barriers.next += 1
            self.barriers.underWay[number] = Barrier(settling: settling, loopsAwaited: self.loopCount)
            outbox.broadcast(.barrier(number))
        }
        self.settlings = waiting
    }

    /// Whether the wall clock of all threads must stand still while these requests run: one of them stops an app's clock. Until
    /// every loop has applied that, a running clock would show instants after the one at which it stops.
    package func stopsClock(_ requests: [StoreRequest]) -> Bool {
        if !self.deferred.isEmpty, self.deferred.contains(where: { $0.mutation?.stopsClock ?? false }) { return true }
        for place in requests.indices {
            if case .mutate(let mutation) = requests[place].body, mutation.stopsClock { return true }
        }
        return false
    }

    /// Whether the clock must go on standing after a run: a loop has yet to apply what stops an app's clock.
    package var isClockStopping: Bool {
        self.settlings.contains { $0.stopsClock } || self.barriers.underWay.values.contains { $0.settling.stopsClock }
            || self.stopsClock(self.unresolved?.requests ?? [])
    }

    func reached(_ number: UInt64, wall: Instant, into outbox: inout Outbox) {
        guard var barrier = self.barriers.underWay[number] else {
            preconditionFailure("barrier \(number) was never set")
        }
        barrier.loopsAwaited -= 1
        guard barrier.loopsAwaited == 0 else {
            self.barriers.underWay[number] = barrier
            return
        }
        self.barriers.underWay[number] = nil
        let settling = barrier.settling
        guard let app = self.apps[settling.app]?.state else { preconditionFailure("app \(settling.app) is gone") }
        let answer = Self.clockResult(
            app, wall: wall, settled: self.counters.attemptsSettled - settling.attemptsBefore)
        let position = Position(revision: self.header.revision, asOf: max(settling.target, app.clock.now(wall: wall)))
        outbox.events[settling.loop].append(.answer(ticket: settling.ticket, .mutated(answer, position)))
    }

    package static func clockResult(_ app: AppState, wall: Instant, settled: RenewalCount) -> MutationResult {
        let now = app.clock.now(wall: wall)
        switch app.clock {
        case .frozen:
            return .clock(
                now: now, isFrozen: true, offsetMilliseconds: now.milliseconds(since: wall),
                timeRate: app.settings.timeRate, settled: settled)
        case .running(let offset):
            return .clock(
                now: now, isFrozen: false, offsetMilliseconds: offset, timeRate: app.settings.timeRate,
                settled: settled)
        }
    }
}
