import PerchBase
import PerchModel
package import PerchWire

/// What a stream of events hands on: an event, or only a place that it has passed.
package struct UpdateItem: Hashable, Sendable {
    /// Nil for the place where new events begin, and for this client's own events.
    package var update: TransactionUpdate?
    /// Where the stream goes on after this; nil among the unfinished ones, which have no place yet.
    package var cursor: UpdateCursor?

    package init(update: TransactionUpdate?, cursor: UpdateCursor?) {
        self.update = update
        self.cursor = cursor
    }
}

/// One stream of events, over all its connections.
struct Updates {
    let request: TransactionUpdatesRequest
    let includesOwn: Bool
    var stream: UInt32?
    /// Its first message has come on this connection: it counts as a watch.
    var hasSpoken = false
    /// Where it goes on: after the last applied event. Empty: from the beginning.
    var cursor: [UInt8]
    /// The unfinished transactions that were handed on before there was a cursor: when they come again, because the
    /// connection broke among them, only what has changed is news.
    var replayed: [TransactionID: Digest] = [:]
    /// The consumer has enough: nothing is asked for.
    var isPaused = false
    var refusals = 0
    var retry = TimerHeap.ID.none

    mutating func lost() {
        self.stream = nil
        self.hasSpoken = false
    }
}

// Streams of events: nothing is left out and nothing comes twice, over any number of connections.
extension ClientCore {
    /// Opens a stream of events after `cursor`, or with the unfinished transactions first.
    package mutating func followUpdates(
        _ id: ItemID, _ request: TransactionUpdatesRequest, includesOwn: Bool
    ) {
        let failure: PerchError?
        if case .closed = self.link { failure = .clientClosed } else { failure = self.limitReached }
        if let failure {
            self.actions.append(.endUpdates(id, failure))
            return
        }
        self.updates[id] = Updates(request: request, includesOwn: includesOwn, cursor: request.cursor)
        self.connectIfWanted()
        self.openUpdates(id)
    }

    /// Nobody listens any more.
    package mutating func unfollowUpdates(_ id: ItemID) {
        guard let updates = self.updates.removeValue(forKey: id) else { return }
        self.deadlines.cancel(updates.retry)
        if let stream = updates.stream { self.abandon(stream, isWatch: true, hasSpoken: updates.hasSpoken) }
    }

    /// The consumer has enough for now: the server keeps what comes next.
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
        guard self.canOpen, let updates = self.updates[id], updates.stream == nil, !updates.isPaused else { return }
        self.deadlines.cancel(updates.retry)
        var request = updates.request
        request.cursor = updates.cursor
        do throws(PerchError) {
            let stream = try self.open(.transactionUpdates(request), timeoutMilliseconds: 0, as: .updates(id))
            self.updates[id]?.stream = stream
        } catch {
            self.updates[id] = nil
            self.actions.append(.endUpdates(id, error))
        }
    }

    /// An event came: it is handed on at once, for no BEAT follows an event that changes no view. The values of its
    /// revision may come after it.
    mutating func tookEvent(_ id: ItemID, _ response: Response?) {
        guard var updates = self.updates[id] else { preconditionFailure("an event of a stream that is gone") }
        guard case .transactionUpdates(let event)? = response else {
            preconditionFailure("an event was read as something else")
        }
        if event.transaction == nil, event.cursor.isEmpty {
            return self.breach("an event has neither a transaction nor a cursor")
        }
        if !updates.hasSpoken {
            updates.hasSpoken = true
            self.spokenCount += 1
        }
        updates.refusals = 0
        let item = self.item(event, &updates)
        self.updates[id] = updates
        guard let item else { return }
        if case .events(id, var items)? = self.actions.last {
            items.append(item)
            self.actions[self.actions.count - 1] = .events(id, items)
        } else {
            self.actions.append(.events(id, [item]))
        }
    }

    /// What is handed on of an event; nil if it was handed on before.
    private func item(_ event: TransactionEvent, _ updates: inout Updates) -> UpdateItem? {
        let update = TransactionUpdate(event)
        guard !event.cursor.isEmpty else {
            // Among the unfinished ones at the start.
            guard let transaction = event.transaction else { return nil }
            let digest = self.codec.digest(of: transaction)
            guard updates.replayed.updateValue(digest, forKey: transaction.value.id) != digest else { return nil }
            return UpdateItem(update: update, cursor: nil)
        }
        updates.cursor = event.cursor
        updates.replayed.removeAll()
        let isOwn = event.originClientID == self.settings.clientID && !event.originClientID.isEmpty
        return UpdateItem(
            update: isOwn && !updates.includesOwn ? nil : update, cursor: UpdateCursor(bytes: event.cursor))
    }

    mutating func updatesEnded(_ id: ItemID, _ status: Status) {
        guard var updates = self.updates[id] else { preconditionFailure("a STATUS for a stream that is gone") }
        let error = PerchError(status)
        switch StreamRefusal(status, canReauthenticate: self.settings.canReauthenticate) {
        case .comeBack, .later:
            self.retry(id, &updates.refusals, &updates.retry)
            self.updates[id] = updates
        case .reauthenticate:
            self.lost(error)
        case .final, .withoutToken:
            // Going on without the cursor would leave a gap: the consumer decides.
            self.updates[id] = nil
            self.actions.append(.endUpdates(id, error))
        }
    }
}
