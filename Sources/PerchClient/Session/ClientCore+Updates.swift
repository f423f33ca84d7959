import PerchBase
import PerchModel
package import PerchWire

/// An item of a stream of events: an event, or only a position that it has passed.
package struct UpdateItem: Hashable, Sendable {
    /// Nil for the position at which new events begin, which a resumed stream hears first, and for this client's own events.
    package var update: TransactionUpdate?
    /// A change of an app; nil for a position that a stream of changes has passed.
    package var change: AppChange?
    /// The cursor after this item; nil for unfinished transactions, which have none yet.
    package var cursor: UpdateCursor?

    package init(update: TransactionUpdate?, change: AppChange? = nil, cursor: UpdateCursor?) {
        self.update = update
        self.change = change
        self.cursor = cursor
    }
}

/// A request for a stream of events, which goes on from a cursor.
package struct EventsRequest: Sendable {
    let method: Method
    /// The place at which it begins; empty for the beginning.
    let start: [UInt8]
    /// The request that goes on from a cursor.
    let request: @Sendable ([UInt8]) -> Request

    package init(_ method: Method, after start: [UInt8], _ request: @escaping @Sendable ([UInt8]) -> Request) {
        self.method = method
        self.start = start
        self.request = request
    }
}

/// One stream of events, over all its connections.
struct Updates {
    let request: EventsRequest
    let includesOwn: Bool
    var stream: UInt32?
    /// Whether its first message arrived on this connection, so that it counts as a watch.
    var hasSpoken = false
    /// The cursor after the last applied event. Empty: from the beginning.
    var cursor: [UInt8]
    /// Unfinished transactions that were delivered before there was a cursor. If they come again after a broken
    /// connection, only changed ones are delivered.
    var replayed: [TransactionID: Digest] = [:]
    /// The consumer's queue is full, so no events are requested.
    var isPaused = false
    /// Events from the first one on that may be this client's own and that no answer has reported yet. They are delivered, or
    /// left out, when its calls have ended.
    var undecided: [Undecided] = []
    var refusals = 0
    var retry = TimerHeap.ID.none

    /// An event that waits for delivery.
    struct Undecided {
        var update: TransactionUpdate?
        var change: AppChange?
        var cursor: UpdateCursor?
        /// The revision, if this client caused the event.
        var ownRevision: UInt64?
    }

    /// The queue here or at the consumer is full: the server keeps later events.
    var isFull: Bool { self.isPaused || self.undecided.count >= Limits.clientEventsMax }

    mutating func lost() {
        self.stream = nil
        self.hasSpoken = false
    }
}

/// Knowledge about the changes of this client: whether an answer has reported them. An event of a change whose answer
/// was lost is the only news of it, so it is not left out.
package struct OwnMutations {
    /// Knowledge about one change of this client.
    package enum Knowledge {
        /// An answer has reported it.
        case told
        /// A pending call may have caused it.
        case undecided
        /// The call that caused it ended without reporting it.
        case untold
    }

    /// The highest known revision: calls sent from now on get a later one.
    private var seen: UInt64 = 0
    /// Pending mutations: their number by the revision known before they were sent. A later call has seen no lower
    /// revision, so the list is ascending and its first entry is the oldest.
    private var underWay: [(before: UInt64, count: Int)] = []
    /// Revisions that answers have reported. Only those after the oldest pending or doubtful call are needed: an earlier change
    /// was answered, or there would be a doubt.
    private var told: Set<UInt64> = []
    /// Number of revisions above which those that are not needed are removed.
    private var toldLimit = 64
    /// The earliest revision after which a mutation was sent whose outcome is unknown.
    private var doubtedSince: UInt64?

    package init() {}

    /// How many answers are remembered.
    package var toldCount: Int { self.told.count }

    /// Notes a revision.
    package mutating func saw(_ revision: UInt64) { self.seen = max(self.seen, revision) }

    /// Notes a mutation that is sent for the first time; returns a revision from before it.
    package mutating func sent() -> UInt64 {
        if self.underWay.last?.before == self.seen {
            self.underWay[self.underWay.count - 1].count += 1
        } else {
            self.underWay.append((before: self.seen, count: 1))
        }
        return self.seen
    }

    package mutating func ended(sentAfter before: UInt64, _ result: Result<Response, PerchError>) {
        switch result {
        case .success(let response):
            if let revision = response.position?.revision {
                self.told.insert(revision)
                self.saw(revision)
            }
        case .failure(let error):
            if error.mayHaveHappened { self.doubtedSince = min(self.doubtedSince ?? before, before) }
        }
        guard let place = self.underWay.firstIndex(where: { $0.before == before }) else {
            preconditionFailure("a mutation has ended that was not sent")
        }
        self.underWay[place].count -= 1
        if self.underWay[place].count == 0 { self.underWay.remove(at: place) }
        if self.told.count > self.toldLimit { self.forget() }
    }

    private mutating func forget() {
        let horizon = min(self.underWay.first?.before ?? .max, self.doubtedSince ?? .max)
        self.told = self.told.filter { $0 > horizon }
        if self.told.count > Limits.clientToldRevisionsMax {
            // A duplicate event is better than a lost one.
            let kept = self.told.sorted().suffix(Limits.clientToldRevisionsMax / 2)
            self.told = Set(kept)
        }
        self.toldLimit = min(max(64, self.told.count * 2), Limits.clientToldRevisionsMax)
    }

    /// Knowledge about the change of this client at `revision`.
    package func knowledge(of revision: UInt64) -> Knowledge {
        if self.told.contains(revision) { return .told }
        if let oldest = self.underWay.first?.before, oldest < revision { return .undecided }
        return self.doubtedSince.map { $0 < revision } == true ? .untold : .told
    }
}

// Streams of events: nothing is left out and nothing comes twice, over any number of connections.
extension ClientCore {
    /// Opens a stream of events after `cursor`, or with the unfinished transactions first.
    package mutating func followEvents(_ id: ItemID, _ request: EventsRequest, includesOwn: Bool) {
        let failure: PerchError?
        if case .closed = self.link { failure = .clientClosed } else { failure = self.limitReached }
        if let failure {
            self.actions.append(.endUpdates(id, failure))
            return
        }
        self.updates[id] = Updates(request: request, includesOwn: includesOwn, cursor: request.start)
        self.connectIfWanted()
        self.openUpdates(id)
    }

    /// Nobody listens any more.
    package mutating func unfollowUpdates(_ id: ItemID) {
        guard let updates = self.updates.removeValue(forKey: id) else { return }
        self.deadlines.cancel(updates.retry)
        if let stream = updates.stream { self.abandon(stream, isWatch: true, hasSpoken: updates.hasSpoken) }
    }

    /// The consumer's queue is full: the server keeps later events.
    package mutating func pauseUpdates(_ id: ItemID) {
        guard var updates = self.updates[id], !updates.isPaused else { return }
        if let stream = updates.stream { self.abandon(stream, isWatch: true, hasSpoken: updates.hasSpoken) }
        updates.lost()
        updates.isPaused = true
        self.deadlines.cancel(updates.retry)
        self.updates[id] = updates
    }

    /// The consumer has caught up.
    package mutating func resumeUpdates(_ id: ItemID) {
        guard self.updates[id]?.isPaused == true else { return }
        self.updates[id]?.isPaused = false
        self.openUpdates(id)
    }

    mutating func openUpdates(_ id: ItemID) {
        guard self.canOpen, let updates = self.updates[id], updates.stream == nil, !updates.isFull else { return }
        self.deadlines.cancel(updates.retry)
        let request = updates.request.request(updates.cursor)
        do throws(PerchError) {
            let stream = try self.open(request, timeoutMilliseconds: 0, as: .updates(id))
            self.updates[id]?.stream = stream
        } catch {
            self.updates[id] = nil
            self.actions.append(.endUpdates(id, error))
        }
    }

    /// Delivers an event at once, because no BEAT follows an event that changes no view. The values of its revision may
    /// come after it.
    mutating func tookEvent(_ id: ItemID, _ response: Response?) {
        guard var updates = self.updates[id] else { preconditionFailure("an event of a stream that is gone") }
        switch response {
        case .transactionUpdates(let event)? where event.transaction == nil && event.cursor.isEmpty:
            return self.breach("an event has neither a transaction nor a cursor")
        case .appChanges(let event)? where event.cursor.isEmpty:
            return self.breach("a change has no cursor")
        default: break
        }
        if !updates.hasSpoken {
            updates.hasSpoken = true
            self.spokenCount += 1
        }
        updates.refusals = 0
        let news: Updates.Undecided?
        switch response {
        case .transactionUpdates(let event)?: news = self.news(event, &updates)
        case .appChanges(let event)?:
            updates.cursor = event.cursor
            news = Updates.Undecided(change: AppChange(event), cursor: UpdateCursor(bytes: event.cursor))
        default: preconditionFailure("an event was read as something else")
        }
        guard let news else {
            self.updates[id] = updates
            return
        }
        updates.undecided.append(news)
        self.handOn(id, &updates)
        if !updates.undecided.isEmpty { self.undecidedUpdates.insert(id) }
        if updates.isFull, let stream = updates.stream {
            self.abandon(stream, isWatch: true, hasSpoken: updates.hasSpoken)
            updates.lost()
        }
        self.updates[id] = updates
    }

    /// An event for delivery; nil if it was delivered before.
    private func news(_ event: TransactionEvent, _ updates: inout Updates) -> Updates.Undecided? {
        let update = TransactionUpdate(event)
        guard !event.cursor.isEmpty else {
            // Unfinished transactions at the start.
            guard let transaction = event.transaction else { return nil }
            let digest = self.codec.digest(of: transaction)
            guard updates.replayed.updateValue(digest, forKey: transaction.value.id) != digest else { return nil }
            return Updates.Undecided(update: update)
        }
        updates.cursor = event.cursor
        updates.replayed.removeAll()
        let isOwn = event.originClientID == self.settings.clientID && !event.originClientID.isEmpty
        return Updates.Undecided(
            update: update, cursor: UpdateCursor(bytes: event.cursor),
            ownRevision: isOwn && !updates.includesOwn ? event.revision : nil)
    }

    /// Delivers the decided events, in order.
    private mutating func handOn(_ id: ItemID, _ updates: inout Updates) {
        var items: [UpdateItem] = []
        for event in updates.undecided {
            var item = UpdateItem(update: event.update, change: event.change, cursor: event.cursor)
            if let revision = event.ownRevision {
                let knowledge = self.own.knowledge(of: revision)
                if knowledge == .undecided { break }
                if knowledge == .told { item.update = nil }
            }
            items.append(item)
        }
        updates.undecided.removeFirst(items.count)
        guard !items.isEmpty else { return }
        if case .events(id, var earlier)? = self.actions.last {
            earlier.append(contentsOf: items)
            self.actions[self.actions.count - 1] = .events(id, earlier)
        } else {
            self.actions.append(.events(id, items))
        }
    }

    /// Decides about the events that waited for a mutation of this client, which has ended.
    mutating func judgeOwnEvents() {
        for id in self.undecidedUpdates.sorted() {
            guard var updates = self.updates[id] else {
                self.undecidedUpdates.remove(id)
                continue
            }
            self.handOn(id, &updates)
            if updates.undecided.isEmpty { self.undecidedUpdates.remove(id) }
            self.updates[id] = updates
            self.openUpdates(id)
        }
    }

    mutating func updatesEnded(_ id: ItemID, _ status: Status) {
        guard var updates = self.updates[id] else { preconditionFailure("a STATUS for a stream that is gone") }
        let error = self.refused(status)
        switch StreamRefusal(status, canReauthenticate: self.settings.canReauthenticate) {
        case .comeBack, .later:
            self.retry(id, error, &updates.refusals, &updates.retry)
            self.updates[id] = updates
        case .reauthenticate:
            self.leave(error)
        case .final, .withoutToken:
            // Starting again without the cursor would leave a gap, so the consumer decides.
            self.updates[id] = nil
            self.actions.append(.endUpdates(id, error))
        }
    }
}
