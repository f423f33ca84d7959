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
    var hasUnsentPlace: Bool
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
extension Views {
    /// Events asked for at once.
    private static let eventsPerPage = 64

    mutating func watchUpdates(
        _ call: Int32, _ asked: TransactionUpdatesRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some Sink
    ) throws(CallRefusal) {
        let key = AccountKey(app: app, bytes: tables.canonical(Array(asked.account.utf8), app))
        var cursor: EventPlace?
        if !asked.cursor.isEmpty {
            let read = try CallRefusal.reading { () throws(TokenError) in try EventCursor(asked.cursor) }
            try tables.requireOwn(read.origin, EventCursor.name)
            guard read.view == Self.updatesDigest(key) else {
                throw CallRefusal(.tokenOtherView, "the cursor belongs to another account; begin without one")
            }
            cursor = EventPlace(revision: read.revision, ordinal: read.ordinal)
        }
        let account = self.accountSlot(key)
        tables.calls[call].state = .updates(account: account)
        let first = self.accounts[account].firstUpdates
        tables.calls[call].nextInTarget = first
        tables.calls[call].previousInTarget = -1
        if first >= 0 { tables.calls[first].previousInTarget = call }
        self.accounts[account].firstUpdates = call
        self.accounts[account].holderCount += 1
        self.setBehind(call, true, &tables, &sink)
        let place = cursor ?? EventPlace(revision: 0, ordinal: 0)
        self.updates[call] = UpdatesState(
            account: account, key: key, isSigned: asked.includesJWS, phase: cursor == nil ? .starting : .behind,
            hasUnsentPlace: cursor != nil,
            cursor: place, through: place)
        // The number of the account comes with its record; changes find the stream by it.
        if !self.accounts[account].hasNumber { self.askForRecord(account, &tables) }
        self.resumeUpdates(call, &tables)
    }

    static func updatesDigest(_ key: AccountKey) -> Digest {
        ViewKey.products(ids: ["updates"], locale: "", storefront: "").lastingDigest(app: key.app, account: key.bytes)
    }

    mutating func leaveUpdates(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard let state = self.updates.removeValue(forKey: call) else { return }
        for event in state.ready[state.taken...] { tables.payloads.release(event.payload) }
        self.setBehind(call, false, &tables, &sink)
        let slot = tables.calls[call]
        if slot.previousInTarget >= 0 {
            tables.calls[slot.previousInTarget].nextInTarget = slot.nextInTarget
        } else {
            self.accounts[state.account].firstUpdates = slot.nextInTarget
        }
        if slot.nextInTarget >= 0 { tables.calls[slot.nextInTarget].previousInTarget = slot.previousInTarget }
        self.releaseAccount(state.account)
    }

    /// Requests the next events, if the stream has sent all and is not live.
    mutating func resumeUpdates(_ call: Int32, _ tables: inout Tables) {
        if tables.calls[call].method == .appChanges { return self.resumeAppChanges(call, &tables) }
        if tables.calls[call].state == .copy { return self.resumeCopy(call, &tables) }
        guard let state = self.updates[call], !state.isAsked, state.taken == state.ready.count else { return }
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
            if self.accounts[state.account].awaitsNumber { return }
            body = .events(state.key, after: state.cursor, limit: Self.eventsPerPage)
        }
        self.updates[call]?.isAsked = true
        tables.ask(.updates(call, generation: tables.calls.generation(call)), body)
    }

    /// The store has answered a stream. Returns the refusal that ends it.
    mutating func finishUpdates(
        _ call: Int32, _ answer: StoreAnswer, _ tables: inout Tables, _ sink: inout some Sink
    ) -> Refusal? {
        if tables.calls[call].method == .appChanges { return self.finishAppChanges(call, answer, &tables, &sink) }
        if tables.calls[call].state == .copy { return self.finishCopyStep(call, answer, &tables, &sink) }
        guard var state = self.updates[call] else { return nil }
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
                if state.hasUnsentPlace {
                    state.ready.append(self.encodePlace(of: state, &tables))
                    state.hasUnsentPlace = false
                }
                for event in events {
                    state.ready.append(self.encodeEvent(event, state.key, isSigned: state.isSigned, &tables))
                }
                state.through = through
                state.isCompleteAfterReady = isComplete && !self.accounts[state.account].awaitsNumber
                if state.ready.isEmpty { self.finishReady(call, &state, &tables, &sink) }
            }
        case .transactions(let rows, let hasMore):
            for row in rows where row.transaction.id < state.startBound {
                var shown = Verified(row.transaction)
                if state.isSigned { tables.signing(of: state.key.app).sign(&shown) }
                let event = TransactionEvent(transaction: shown, kind: .unfinished)
                state.ready.append(EncodedEvent(place: state.cursor, payload: self.encodeEvent(event, &tables)))
            }
            if let last = rows.last {
                state.phase = .unfinished(
                    after: TransactionQuery.Place(
                        purchaseDate: last.transaction.purchaseDate, id: last.transaction.id), isLast: !hasMore)
            }
            if !hasMore {
                // Its cursor is the position at which new events begin.
                state.ready.append(self.encodePlace(of: state, &tables))
                state.phase = .behind
            }
        case .refused(let refusal):
            self.updates[call] = state
            return refusal
        default:
            preconditionFailure("events were asked for")
        }
        self.updates[call] = state
        if state.ready.isEmpty {
            self.resumeUpdates(call, &tables)
        } else {
            sink.ready(call, &tables)
        }
        return nil
    }

    private mutating func finishReady(
        _ call: Int32, _ state: inout UpdatesState, _ tables: inout Tables, _ sink: inout some Sink
    ) {
        if case .behind = state.phase, state.isCompleteAfterReady {
            state.cursor = state.through
            state.phase = .live
            state.isCompleteAfterReady = false
            self.setBehind(call, false, &tables, &sink)
        }
    }

    /// A stream of events that is behind delays bookmarks.
    mutating func setBehind(_ call: Int32, _ isBehind: Bool, _ tables: inout Tables, _ sink: inout some Sink) {
        guard tables.calls[call].flags.contains(.isWaiting) != isBehind else { return }
        if isBehind {
            tables.calls[call].flags.insert(.isWaiting)
            sink.holdBeats(for: call, &tables)
        } else {
            tables.calls[call].flags.remove(.isWaiting)
            sink.releaseBeats(for: call, &tables)
        }
        // A bookmark may have waited for this.
        if !isBehind { sink.caughtUp(call, &tables) }
    }

    /// The message without a transaction: its cursor is the place after which events follow.
    private mutating func encodePlace(of state: UpdatesState, _ tables: inout Tables) -> EncodedEvent {
        let place = TransactionEvent(
            cursor: self.cursorBytes(state.cursor, state.key, tables), revision: state.cursor.revision,
            committed: tables.now.wall
        )
        return EncodedEvent(place: state.cursor, payload: self.encodeEvent(place, &tables))
    }

    private mutating func encodeEvent(_ event: AccountEvent, _ key: AccountKey, isSigned: Bool, _ tables: inout Tables)
        -> EncodedEvent
    {
        var shown = Verified(event.transaction)
        if isSigned { tables.signing(of: key.app).sign(&shown) }
        let response = TransactionEvent(
            transaction: shown, kind: event.kind, cursor: self.cursorBytes(event.place, key, tables),
            revision: event.place.revision, committed: event.committed, originClientID: event.origin)
        return EncodedEvent(place: event.place, payload: self.encodeEvent(response, &tables))
    }

    private mutating func encodeEvent(_ event: TransactionEvent, _ tables: inout Tables) -> PayloadHandle {
        tables.encoded { codec throws(MessageError) in try codec.encode(.transactionUpdates(event)) }
    }

    func cursorBytes(_ place: EventPlace, _ key: AccountKey, _ tables: borrowing Tables) -> [UInt8] {
        EventCursor(
            store: tables.identity, epoch: tables.epoch, view: Self.updatesDigest(key),
            revision: place.revision,
            ordinal: place.ordinal
        ).bytes
    }

    // MARK: What changes bring

    /// Handles the events of a change: encoded once for all live streams of the account, and once more for those with signed
    /// forms. Kept until the end of the tick.
    mutating func tookEvents(of change: AccountChange, _ slot: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        let events = change.events
        guard !events.isEmpty else { return }
        let key = self.accountKey(slot)
        var (plain, signed): ([EncodedEvent], [EncodedEvent]) = ([], [])
        var call = self.accounts[slot].firstUpdates
        while call >= 0 {
            if case .live? = self.updates[call]?.phase {
                let isSigned = self.updates[call]?.isSigned == true
                if isSigned, signed.isEmpty {
                    signed = events.map { self.encodeEvent($0, key, isSigned: true, &tables) }
                } else if !isSigned, plain.isEmpty {
                    plain = events.map { self.encodeEvent($0, key, isSigned: false, &tables) }
                }
                if sink.isFull(call, tables) {
                    // A slow reader keeps its cursor, and requests the events when there is space.
                    self.fallBehind(call, &tables, &sink)
                } else {
                    self.giveLive(call, isSigned ? signed : plain, &tables, &sink)
                }
            } else {
                // An unsent page is no longer complete.
                self.updates[call]?.isCompleteAfterReady = false
            }
            call = tables.calls[call].nextInTarget
        }
        for event in plain + signed { tables.payloads.release(event.payload) }
    }

    /// The key leads to another account from this change on, or to none. The streams read on once its number is known.
    mutating func holdUpdates(of slot: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        var call = self.accounts[slot].firstUpdates
        while call >= 0 {
            if case .live? = self.updates[call]?.phase {
                self.fallBehind(call, &tables, &sink)
            } else {
                self.updates[call]?.isCompleteAfterReady = false
            }
            call = tables.calls[call].nextInTarget
        }
    }

    /// The number of the key's account is known.
    mutating func releaseUpdates(of slot: Int32, _ tables: inout Tables) {
        guard self.accounts[slot].awaitsNumber else { return }
        self.accounts[slot].awaitsNumber = false
        var call = self.accounts[slot].firstUpdates
        while call >= 0 {
            self.resumeUpdates(call, &tables)
            call = tables.calls[call].nextInTarget
        }
    }

    private mutating func giveLive(
        _ call: Int32, _ events: [EncodedEvent], _ tables: inout Tables, _ sink: inout some Sink
    ) {
        guard var state = self.updates.removeValue(forKey: call) else { return }
        if state.taken == state.ready.count {
            state.ready.removeAll(keepingCapacity: true)
            state.taken = 0
        }
        guard state.ready.count - state.taken + events.count <= Self.eventsPerPage else {
            self.updates[call] = state
            self.fallBehind(call, &tables, &sink)
            self.resumeUpdates(call, &tables)
            return
        }
        for event in events { tables.payloads.retain(event.payload) }
        state.ready.append(contentsOf: events)
        self.updates[call] = state
        sink.ready(call, &tables)
    }

    /// A live stream has no space for the newest change. All earlier events are sent or ready, so it continues from
    /// there. Its last event's cursor may be too old.
    private mutating func fallBehind(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        self.updates[call]?.phase = .behind
        self.updates[call]?.cursor = EventPlace(revision: tables.applied - 1, ordinal: .max)
        self.setBehind(call, true, &tables, &sink)
        sink.ready(call, &tables)
    }

    // MARK: Saying them

    func hasEventsToSay(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        if tables.calls[call].method == .appChanges {
            guard let state = self.appChanges[call] else { return false }
            return state.taken < state.ready.count
        }
        if let copy = self.appStreams.copies[call] { return copy.taken < copy.ready.count }
        guard let state = self.updates[call] else { return false }
        return state.taken < state.ready.count
    }

    /// The unsent events of a stream, oldest first.
    func eventsReady(_ call: Int32, _ tables: borrowing Tables) -> ArraySlice<EncodedEvent> {
        if tables.calls[call].method == .appChanges {
            guard let state = self.appChanges[call] else { return [] }
            return state.ready[state.taken...]
        }
        if let copy = self.appStreams.copies[call] { return copy.ready[copy.taken...] }
        guard let state = self.updates[call] else { return [] }
        return state.ready[state.taken...]
    }

    mutating func eventTaken(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        if tables.calls[call].method == .appChanges { return self.appChangeTaken(call, &tables, &sink) }
        if tables.calls[call].state == .copy { return self.copyPartTaken(call, &tables, &sink) }
        guard var state = self.updates.removeValue(forKey: call) else {
            preconditionFailure("an event was taken by a stream that is gone")
        }
        let event = state.ready[state.taken]
        state.taken += 1
        state.cursor = max(state.cursor, event.place)
        tables.counters.eventsPushed += 1
        tables.payloads.release(event.payload)
        let isDone = state.taken == state.ready.count
        if isDone { self.finishReady(call, &state, &tables, &sink) }
        self.updates[call] = state
        if isDone { self.resumeUpdates(call, &tables) }
    }
}
