import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The state of a stream of events. It holds a cursor, not messages: it requests unsent events again.
struct UpdatesState {
    enum Phase {
        /// Asks the store for the current end of the events.
        case starting
        /// Sends the transactions that were unfinished when it began, page by page.
        case unfinished(after: TransactionQuery.Place?, isLast: Bool)
        /// Everything up to the cursor was sent; events of a change are sent at once.
        case live
        /// The store has events after the cursor that are not here.
        case behind
    }

    var account: Int32
    var key: AccountKey
    /// Its events have signed forms.
    var isSigned: Bool
    var phase: Phase
    /// The call came with a cursor, and its first message has yet to say that the cursor holds.
    var owesPlace: Bool
    /// The last event that was sent.
    var cursor: EventPlace
    /// Transactions from this ID on are newer than the start.
    var startBound: TransactionID = 0
    /// A question is under way.
    var isAsked = false
    /// Encoded events that wait for space in the stream, oldest first: at most one page.
    var ready: [EncodedEvent] = []
    /// Number of sent events in `ready`.
    var taken = 0
    /// The cursor after all of `ready` is sent, and whether the stream is live then.
    var through: EventPlace
    var isCompleteAfterReady = false
}

/// An encoded event. The payload has one reference for each holder.
struct EncodedEvent {
    var place: EventPlace
    var payload: PayloadHandle
}

// Streams of events: each event exactly once and in order, across reconnects, or a refusal, never a part.
extension LoopCore {
    /// Events asked for at once.
    private static let eventsPerPage = 64

    mutating func watchUpdates(_ call: Int32, _ asked: TransactionUpdatesRequest, of app: AppNumber) throws(CallRefusal)
    {
        let key = AccountKey(app: app, bytes: self.tables.canonical(Array(asked.account.utf8), app))
        var cursor: EventPlace?
        if !asked.cursor.isEmpty {
            let read = try CallRefusal.reading { () throws(TokenError) in try EventCursor(asked.cursor) }
            try self.tables.requireOwn(read.origin, EventCursor.name)
            guard read.view == Self.updatesDigest(key) else {
                throw CallRefusal(.tokenOtherView, "the cursor belongs to another account; begin without one")
            }
            cursor = EventPlace(revision: read.revision, ordinal: read.ordinal)
        }
        let account = self.accountSlot(key)
        self.tables.calls[call].state = .updates(account: account)
        let first = self.views.accounts[account].firstUpdates
        self.tables.calls[call].nextInTarget = first
        self.tables.calls[call].previousInTarget = -1
        if first >= 0 { self.tables.calls[first].previousInTarget = call }
        self.views.accounts[account].firstUpdates = call
        self.views.accounts[account].tenantCount += 1
        self.setBehind(call, true)
        let place = cursor ?? EventPlace(revision: 0, ordinal: 0)
        self.views.updates[call] = UpdatesState(
            account: account, key: key, isSigned: asked.includesJWS, phase: cursor == nil ? .starting : .behind,
            owesPlace: cursor != nil,
            cursor: place, through: place)
        // The number of the account comes with its record; changes find the stream by it.
        if !self.views.accounts[account].hasNumber { self.askForRecord(account) }
        self.resumeUpdates(call)
    }

    static func updatesDigest(_ key: AccountKey) -> Digest {
        ViewKey.products(ids: ["updates"], locale: "", storefront: "").lastingDigest(app: key.app, account: key.bytes)
    }

    mutating func leaveUpdates(_ call: Int32) {
        guard let state = self.views.updates.removeValue(forKey: call) else { return }
        for event in state.ready[state.taken...] { self.tables.payloads.release(event.payload) }
        self.setBehind(call, false)
        let slot = self.tables.calls[call]
        if slot.previousInTarget >= 0 {
            self.tables.calls[slot.previousInTarget].nextInTarget = slot.nextInTarget
        } else {
            self.views.accounts[state.account].firstUpdates = slot.nextInTarget
        }
        if slot.nextInTarget >= 0 { self.tables.calls[slot.nextInTarget].previousInTarget = slot.previousInTarget }
        self.releaseAccount(state.account)
    }

    /// Requests the next events, if the stream has sent all and is not live.
    mutating func resumeUpdates(_ call: Int32) {
        if self.tables.calls[call].method == .appChanges { return self.resumeAppChanges(call) }
        guard let state = self.views.updates[call], !state.isAsked, state.taken == state.ready.count else { return }
        let body: StoreRequest.Body
        switch state.phase {
        case .live:
            return
        case .starting:
            body = .events(state.key, after: nil, limit: 0)
        case .unfinished(let place, _):
            var query = TransactionQuery(limit: Self.eventsPerPage)
            query.unfinishedOnly = true
            query.after = place
            body = .transactions(state.key, query)
        case .behind:
            body = .events(state.key, after: state.cursor, limit: Self.eventsPerPage)
        }
        self.views.updates[call]?.isAsked = true
        self.tables.ask(.updates(call, generation: self.tables.calls.generation(call)), body)
    }

    mutating func finishUpdates(_ call: Int32, _ answer: StoreAnswer) {
        if self.tables.calls[call].method == .appChanges { return self.finishAppChanges(call, answer) }
        guard var state = self.views.updates[call] else { return }
        state.isAsked = false
        state.ready.removeAll()
        state.taken = 0
        switch answer {
        case .events(let events, let through, let isComplete, let nextTransaction):
            if case .starting = state.phase {
                state.cursor = through
                state.through = through
                state.startBound = nextTransaction
                state.phase = .unfinished(after: nil, isLast: false)
                state.isCompleteAfterReady = false
            } else {
                if state.owesPlace {
                    state.ready.append(self.encodePlace(of: state))
                    state.owesPlace = false
                }
                for event in events { state.ready.append(self.encodeEvent(event, state.key, isSigned: state.isSigned)) }
                state.through = through
                state.isCompleteAfterReady = isComplete
                if state.ready.isEmpty { self.finishReady(call, &state) }
            }
        case .transactions(let rows, let hasMore):
            for row in rows where row.transaction.id < state.startBound {
                var shown = Verified(row.transaction)
                if state.isSigned { self.tables.signing(of: state.key.app).sign(&shown) }
                let event = TransactionEvent(transaction: shown, kind: .unfinished)
                state.ready.append(
                    EncodedEvent(place: state.cursor, payload: self.encodeEvent(event)))
            }
            if let last = rows.last {
                state.phase = .unfinished(
                    after: TransactionQuery.Place(
                        purchaseDate: last.transaction.purchaseDate, id: last.transaction.id), isLast: !hasMore)
            }
            if !hasMore {
                // Its cursor is the position at which new events begin.
                state.ready.append(self.encodePlace(of: state))
                state.phase = .behind
            }
        case .refused(let refusal):
            self.views.updates[call] = state
            self.end(call, WireStatus(refusal))
            return
        default:
            preconditionFailure("events were asked for")
        }
        self.views.updates[call] = state
        if state.ready.isEmpty {
            self.resumeUpdates(call)
        } else {
            self.transport.ready(call, &self.tables)
        }
    }

    private mutating func finishReady(_ call: Int32, _ state: inout UpdatesState) {
        if case .behind = state.phase, state.isCompleteAfterReady {
            state.cursor = state.through
            state.phase = .live
            state.isCompleteAfterReady = false
            self.setBehind(call, false)
        }
    }

    /// A stream of events that is behind delays bookmarks.
    mutating func setBehind(_ call: Int32, _ isBehind: Bool) {
        guard self.tables.calls[call].flags.contains(.isWaiting) != isBehind else { return }
        if isBehind {
            self.tables.calls[call].flags.insert(.isWaiting)
            self.transport.holdBeats(for: call, &self.tables)
        } else {
            self.tables.calls[call].flags.remove(.isWaiting)
            self.transport.releaseBeats(for: call, &self.tables)
        }
        // A bookmark may have waited for this.
        if !isBehind { self.transport.caughtUp(call, &self.tables) }
    }

    /// The message without a transaction: its cursor is the place after which events follow.
    private mutating func encodePlace(of state: UpdatesState) -> EncodedEvent {
        let place = TransactionEvent(
            cursor: self.cursorBytes(state.cursor, state.key), revision: state.cursor.revision,
            committed: self.tables.now.wall
        )
        return EncodedEvent(place: state.cursor, payload: self.encodeEvent(place))
    }

    private mutating func encodeEvent(_ event: AccountEvent, _ key: AccountKey, isSigned: Bool) -> EncodedEvent {
        var shown = Verified(event.transaction)
        if isSigned { self.tables.signing(of: key.app).sign(&shown) }
        let response = TransactionEvent(
            transaction: shown, kind: event.kind, cursor: self.cursorBytes(event.place, key),
            revision: event.place.revision, committed: event.committed, originClientID: event.origin)
        return EncodedEvent(place: event.place, payload: self.encodeEvent(response))
    }

    private mutating func encodeEvent(_ event: TransactionEvent) -> PayloadHandle {
        self.tables.encoded { codec throws(MessageError) in try codec.encode(.transactionUpdates(event)) }
    }

    private func cursorBytes(_ place: EventPlace, _ key: AccountKey) -> [UInt8] {
        EventCursor(
            store: self.tables.identity, epoch: self.tables.epoch, view: Self.updatesDigest(key),
            revision: place.revision,
            ordinal: place.ordinal
        ).bytes
    }

    // MARK: What changes bring

    /// Handles the events of a change: encoded once for all live streams of the account, and once more for those with signed
    /// forms. Kept until the end of the tick.
    mutating func tookEvents(of change: AccountChange, _ slot: Int32) {
        let events = change.events
        guard !events.isEmpty else { return }
        let key = self.views.accountKey(slot)
        var (plain, signed): ([EncodedEvent], [EncodedEvent]) = ([], [])
        var call = self.views.accounts[slot].firstUpdates
        while call >= 0 {
            if case .live? = self.views.updates[call]?.phase {
                let isSigned = self.views.updates[call]?.isSigned == true
                if isSigned, signed.isEmpty {
                    signed = events.map { self.encodeEvent($0, key, isSigned: true) }
                } else if !isSigned, plain.isEmpty {
                    plain = events.map { self.encodeEvent($0, key, isSigned: false) }
                }
                if self.transport.isFull(call, self.tables) {
                    // A slow reader keeps its cursor, and requests the events when there is space.
                    self.fallBehind(call)
                } else {
                    self.giveLive(call, isSigned ? signed : plain)
                }
            } else {
                // An unsent page is no longer complete.
                self.views.updates[call]?.isCompleteAfterReady = false
            }
            call = self.tables.calls[call].nextInTarget
        }
        for event in plain + signed { self.tables.payloads.release(event.payload) }
    }

    private mutating func giveLive(_ call: Int32, _ events: [EncodedEvent]) {
        guard var state = self.views.updates.removeValue(forKey: call) else { return }
        if state.taken == state.ready.count {
            state.ready.removeAll(keepingCapacity: true)
            state.taken = 0
        }
        guard state.ready.count - state.taken + events.count <= Self.eventsPerPage else {
            self.views.updates[call] = state
            self.fallBehind(call)
            self.resumeUpdates(call)
            return
        }
        for event in events { self.tables.payloads.retain(event.payload) }
        state.ready.append(contentsOf: events)
        self.views.updates[call] = state
        self.transport.ready(call, &self.tables)
    }

    /// A live stream has no space for the newest change. All earlier events are sent or ready, so it continues from
    /// there. Its last event's cursor may be too old.
    private mutating func fallBehind(_ call: Int32) {
        self.views.updates[call]?.phase = .behind
        self.views.updates[call]?.cursor = EventPlace(revision: self.tables.applied - 1, ordinal: .max)
        self.setBehind(call, true)
        self.transport.ready(call, &self.tables)
    }

    // MARK: Saying them

    func hasEventsToSay(_ call: Int32) -> Bool {
        if self.tables.calls[call].method == .appChanges {
            guard let state = self.views.appChanges[call] else { return false }
            return state.taken < state.ready.count
        }
        guard let state = self.views.updates[call] else { return false }
        return state.taken < state.ready.count
    }

    /// The unsent events of a stream, oldest first.
    func eventsReady(_ call: Int32) -> ArraySlice<EncodedEvent> {
        if self.tables.calls[call].method == .appChanges {
            guard let state = self.views.appChanges[call] else { return [] }
            return state.ready[state.taken...]
        }
        guard let state = self.views.updates[call] else { return [] }
        return state.ready[state.taken...]
    }

    mutating func eventTaken(_ call: Int32) {
        if self.tables.calls[call].method == .appChanges { return self.appChangeTaken(call) }
        guard var state = self.views.updates.removeValue(forKey: call) else {
            preconditionFailure("an event was taken by a stream that is gone")
        }
        let event = state.ready[state.taken]
        state.taken += 1
        state.cursor = max(state.cursor, event.place)
        self.tables.counters.eventsPushed += 1
        self.tables.payloads.release(event.payload)
        let isDone = state.taken == state.ready.count
        if isDone { self.finishReady(call, &state) }
        self.views.updates[call] = state
        if isDone { self.resumeUpdates(call) }
    }
}
