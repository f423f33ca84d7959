import PerchBase
import PerchMetrics
import PerchModel

/// A batch whose commit lost its connection, until storage says whether it was written.
struct UnresolvedBatch {
    var batch: Batch
    /// The requests that run again if it was not written.
    var requests: [StoreRequest]
}

// Committing: one batch at a time, accepted after its commit, run again if possible.
extension StoreEngine {
    /// Decides all mutations, commits once, answers all.
    func commitTogether(
        _ mutations: [StoreRequest], wall: Instant, machine: Instant, into outbox: inout Outbox
    ) {
        let renewsLease = self.header.lease.advanced(byMilliseconds: -Limits.leaseRenewalMilliseconds) <= machine
        guard renewsLease || !mutations.isEmpty else { return }
        if self.unresolved != nil {
            self.deferred = mutations + self.deferred
            return
        }
        var batch = self.takeBatch()
        batch.answers.reserveCapacity(mutations.count)
        batch.changes.reserveCapacity(mutations.count)
        let error = self.commit(&batch, of: mutations) { (batch: inout Batch) throws(StorageError) in
            let wall = self.decisionTime(wall)
            if renewsLease { try self.renewLease(machine, &batch) }
            try self.forgetAnswers(wall, &batch)
            // A span hands out no copies.
            let requests = mutations.span
            for place in requests.indices {
                if place % Limits.prefetchedAtOnce == 0 { self.storage.warm(mutations, from: place) }
                let call = Call(loop: requests[place].loop, ticket: requests[place].ticket, wall: wall)
                let decided: StoreAnswer?
                switch requests[place].body {
                case .order(let order): decided = try self.decide(order, call, &batch)
                case .mutate(let mutation): decided = try self.decide(mutation, call, &batch)
                default: continue
                }
                if let answer = decided {
                    batch.answers.append(Batch.Answered(loop: call.loop, ticket: call.ticket, answer: answer))
                }
            }
        }
        self.counters.batchSizeMax = max(self.counters.batchSizeMax, UInt64(mutations.count))
        self.publishNews(into: &outbox)
        self.send(&batch, error, to: mutations, into: &outbox)
    }

    /// The changes and answers of a batch that was committed, or the refusals of one that was not.
    func send(
        _ batch: inout Batch, _ error: StorageError?, to requests: [StoreRequest], into outbox: inout Outbox
    ) {
        if let error {
            // Still unresolved: answered later.
            if self.unresolved != nil { return }
            let refusal = self.refusal(of: error)
            batch.answers = requests.map {
                Batch.Answered(loop: $0.loop, ticket: $0.ticket, answer: .refused(refusal))
            }
        }
        outbox.reserve(changes: batch.changes.count, answers: batch.answers.count)
        self.publish(batch.changes, into: &outbox)
        for place in batch.answers.indices {
            // Swapped out: to hand out an element copies it, with everything that it refers to.
            var answer = StoreAnswer.taken
            swap(&answer, &batch.answers[place].answer)
            if case .refused = answer { self.counters.refusals += 1 }
            outbox.answer(loop: batch.answers[place].loop, ticket: batch.answers[place].ticket, answer)
        }
        self.give(back: batch)
    }

    /// An empty batch. `give(back:)` keeps the capacity of its lists.
    func takeBatch() -> Batch {
        guard let batch = self.reused.batch.take() else { return Batch(header: self.header, apps: self.apps) }
        return batch
    }

    func give(back batch: consuming Batch) {
        guard batch.isWorthKeeping else { return }
        batch.start(header: self.header, apps: self.apps)
        self.reused.batch = batch
    }

    /// Runs `body` between the storage's `begin` and `commit`, and accepts the batch. Nil: committed.
    ///
    /// After a failure the engine is unchanged, and the batch is empty. The body runs again after `superseded`, and
    /// after `unknown` if the storage says that nothing was written. `requests` are the requests that the body answers:
    /// while the outcome stays unknown, they wait in `unresolved`.
    func commit(
        _ batch: inout Batch, of requests: [StoreRequest], _ body: (inout Batch) throws(StorageError) -> Void
    ) -> StorageError? {
        var runs = 1
        while true {
            let error: StorageError
            do throws(StorageError) {
                try self.storage.begin()
                if self.isShared { try self.refresh() }
                batch.start(header: self.header, apps: self.apps)
                try body(&batch)
                let began = self.timing.stopwatch?()
                try self.storage.commit()
                if let began, let ended = self.timing.stopwatch?() {
                    self.timing.commitMicroseconds.record(ended &- began)
                    self.timing.firstCommit = self.timing.firstCommit ?? ended
                }
                self.accept(&batch)
                return nil
            } catch let thrown {
                error = thrown
            }
            self.storage.rollback()
            switch error {
            case .unknown:
                switch self.outcome(of: batch) {
                case .written:
                    self.accept(&batch)
                    return nil
                case .notWritten:
                    break
                case .failed(let failure):
                    return self.give(up: &batch, failure)
                case .unknown:
                    self.unresolved = UnresolvedBatch(batch: batch, requests: requests)
                    self.fail(error)
                    return error
                }
            case .superseded:
                break
            case .full, .unreachable, .failed, .historyLost, .corrupt, .newerSchema, .newerForm, .olderSchema:
                return self.give(up: &batch, error)
            }
            self.discard(&batch)
            guard runs < Limits.batchRunsMax else {
                return self.give(up: &batch, .unreachable("a batch ran \(runs) times, and others were always first"))
            }
            runs += 1
            self.counters.reruns += 1
        }
    }

    private enum Outcome {
        case written
        case notWritten
        /// The storage cannot say so yet.
        case unknown
        case failed(StorageError)
    }

    /// Whether a batch was written whose commit lost its connection.
    private func outcome(of batch: Batch) -> Outcome {
        // A batch without a revision writes a lease and kept answers only. To write them twice changes nothing.
        guard let last = batch.changes.last?.revision else { return .notWritten }
        do throws(StorageError) {
            return try self.storage.hasCommitted(last) ? .written : .notWritten
        } catch {
            return error.isPassing ? .unknown : .failed(error)
        }
    }

    /// Asks again for the outcome of an unresolved batch, then answers it or runs its requests again. False: still unknown.
    func resolve(into outbox: inout Outbox) -> Bool {
        guard var pending = self.unresolved.take() else { return true }
        switch self.outcome(of: pending.batch) {
        case .unknown:
            self.unresolved = pending
            return false
        case .written:
            self.accept(&pending.batch)
            // Changes of others that the batch was decided on may still wait to be sealed.
            self.publishNews(into: &outbox)
            self.send(&pending.batch, nil, to: [], into: &outbox)
        case .notWritten:
            self.discard(&pending.batch)
            self.counters.reruns += 1
            self.deferred = pending.requests + self.deferred
        case .failed(let error):
            let failure = self.give(up: &pending.batch, error)
            self.send(&pending.batch, failure, to: pending.requests, into: &outbox)
        }
        return true
    }

    private func give(up batch: inout Batch, _ error: StorageError) -> StorageError {
        self.discard(&batch)
        self.fail(error)
        return error
    }

    /// Drops a batch's decisions. Its records leave the cache.
    private func discard(_ batch: inout Batch) {
        for change in batch.changes {
            if let record = change.record { self.cache.remove(record.account) }
            for account in change.others { self.cache.remove(account.record.account) }
        }
        batch.start(header: self.header, apps: self.apps)
    }

    /// Accepts a committed batch's decisions.
    private func accept(_ batch: inout Batch) {
        self.header = batch.header
        self.apps = batch.apps
        if self.isShared, let last = batch.changes.last {
            self.others.newestCommit = max(self.newestCommit, last.committed)
        }
        for move in batch.dueMoves { self.follow(move) }
        if !batch.deferred.isEmpty { self.deferred += batch.deferred }
        if !batch.settlings.isEmpty { self.settlings += batch.settlings }
        if let revocations = batch.revocations { self.revocations = revocations }
        if let swept = batch.answersSwept { self.answersSwept = swept }
        self.counters.attemptsSettled += batch.attemptsSettled
        self.counters.replays += batch.replays
        if !batch.changes.isEmpty { self.timing.batchChanges.record(UInt64(batch.changes.count)) }
        self.wrote(batch.changes.count)
        self.counters.batches += 1
        self.counters.changes += UInt64(batch.changes.count)
        self.counters.milestones.add(batch.milestones)
    }

    /// Deletes old kept answers and old crossings, once an hour.
    private func forgetAnswers(_ wall: Instant, _ batch: inout Batch) throws(StorageError) {
        guard self.answersSwept.advanced(byMilliseconds: 3_600_000) < wall else { return }
        try self.storage.forgetAnswers(before: wall.advanced(byMilliseconds: -self.limits.answersKeptMilliseconds))
        // What is left of old crossings goes a second later.
        let hasMore = try self.forgetCrossings(wall)
        batch.answersSwept = hasMore ? wall.advanced(byMilliseconds: -3_599_000) : wall
    }
}
