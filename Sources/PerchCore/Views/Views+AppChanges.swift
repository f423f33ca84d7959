import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A stream of an app's changes. It holds a place and at most one page: what is not sent is read again.
struct AppChangesState {
    enum Phase {
        /// The store has changes after the place, or may have.
        case behind
        /// Everything up to the app's clock was sent.
        case live
    }

    var app: AppNumber
    var filter: ChangesFilter
    var phase = Phase.behind
    /// Its first message says where it begins.
    var hasUnsentPlace = true
    var start: ChangesAsked.Start
    /// The revision of the last cursor that was sent.
    var saidRevision: UInt64 = 0
    /// The newest change of the app that this loop has applied, if it is newer than the last page.
    var newest: UInt64 = 0
    /// The store's revision when the last page was read.
    var readRevision: UInt64 = 0
    /// A question is under way.
    var isAsked = false
    /// Encoded changes that wait for space in the stream, oldest first.
    var ready: [EncodedEvent] = []
    /// Number of sent changes in `ready`.
    var taken = 0
    /// After `ready` everything has been sent.
    var isCompleteAfterReady = false
    /// Fires at the next crossing of an account of the app.
    var timer = TimerHeap.ID.none
}

/// The changes that a stream asks for.
struct ChangesFilter {
    var causes: [Cause]
    var groupIDs: [String]
    var productIDs: [String]
    var entitlementsOnly: Bool

    init(_ asked: AppChangesRequest) {
        self.causes = asked.causes
        self.groupIDs = asked.groupIDs
        self.productIDs = asked.productIDs
        self.entitlementsOnly = asked.entitlementsOnly
    }

    func includes(_ change: EncodedChange) -> Bool {
        if !self.causes.isEmpty, !self.causes.contains(change.cause) { return false }
        if self.entitlementsOnly, !change.changesEntitlement { return false }
        if self.groupIDs.isEmpty, self.productIDs.isEmpty { return true }
        return change.groupIDs.contains(where: self.groupIDs.contains)
            || change.productIDs.contains(where: self.productIDs.contains)
    }
}

/// A change in the form that all streams of a tick share.
struct EncodedChange {
    var payload: PayloadHandle
    var cause: Cause
    var groupIDs: [String]
    /// Of entitlements and of consumables.
    var productIDs: [String]
    var changesEntitlement: Bool
}

/// Identifies a change on a loop.
struct ChangeName: Hashable {
    var app: AppNumber
    var place: ChangePlace
}

// Streams of an app's changes: each change exactly once and in order, across reconnects, at the reader's pace.
//
// The store reads every page, for streams that catch up and for those that are live. So the order of facts and of time is
// decided in one place. A change of the app, or the next crossing, only makes a live stream ask again.
extension Views {
    mutating func watchAppChanges(
        _ call: Int32, _ asked: AppChangesRequest, of app: AppNumber, _ tables: inout Tables, _ sink: inout some Sink
    ) throws(CallRefusal) {
        var start = asked.fromOldest ? ChangesAsked.Start.oldest : .now
        if !asked.cursor.isEmpty {
            let cursor = try CallRefusal.reading { () throws(TokenError) in try ChangesCursor(asked.cursor) }
            try tables.requireOwn(cursor.origin, ChangesCursor.name)
            guard cursor.app == app else {
                throw CallRefusal(.tokenOtherView, "the cursor belongs to another app; begin without one")
            }
            start = .after(
                ChangePlace(
                    revision: cursor.revision,
                    ordinal: cursor.revision == 0 ? ChangePlace.allAccounts : cursor.ordinal,
                    crossing: DueEntry(instant: cursor.instant, account: cursor.account)))
        }
        tables.calls[call].state = .appChanges
        self.setBehind(call, true, &tables, &sink)
        self.appChanges[call] = AppChangesState(app: app, filter: ChangesFilter(asked), start: start)
        self.resumeAppChanges(call, &tables)
    }

    mutating func leaveAppChanges(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard let state = self.appChanges.removeValue(forKey: call) else { return }
        for event in state.ready[state.taken...] { tables.payloads.release(event.payload) }
        if state.timer != .none { self.crossings[state.app]?.cancel(state.timer) }
        self.setBehind(call, false, &tables, &sink)
    }

    /// Asks for the next page, if the stream has sent all and is not live.
    mutating func resumeAppChanges(_ call: Int32, _ tables: inout Tables) {
        guard let state = self.appChanges[call], !state.isAsked, state.taken == state.ready.count else { return }
        if case .live = state.phase { return }
        self.appChanges[call]?.isAsked = true
        tables.ask(
            .updates(call, generation: tables.calls.generation(call)),
            .changes(ChangesAsked(app: state.app, start: state.start)))
    }

    /// The store has answered a stream. Returns the refusal that ends it.
    mutating func finishAppChanges(
        _ call: Int32, _ answer: StoreAnswer, _ tables: inout Tables, _ sink: inout some Sink
    ) -> Refusal? {
        guard var state = self.appChanges.removeValue(forKey: call) else { return nil }
        state.isAsked = false
        state.ready.removeAll()
        state.taken = 0
        let page: ChangePage
        switch answer {
        case .changes(let found):
            page = found
        case .refused(let refusal):
            self.appChanges[call] = state
            return refusal
        default:
            preconditionFailure("changes were asked for")
        }
        if state.hasUnsentPlace {
            state.ready.append(self.encodedPlace(page.from, app: state.app, &tables))
            state.hasUnsentPlace = false
            state.saidRevision = page.from.revision
        }
        for entry in page.entries {
            let change = self.encodedChange(entry, app: state.app, &tables)
            guard state.filter.includes(change) else { continue }
            tables.payloads.retain(change.payload)
            state.ready.append(Self.event(change.payload, at: entry.place))
            state.saidRevision = entry.place.revision
        }
        if page.through.revision >= state.saidRevision + Limits.changesMarkerRevisions {
            state.ready.append(self.encodedPlace(page.through, app: state.app, &tables))
            state.saidRevision = page.through.revision
        }
        state.start = .after(page.through)
        state.phase = .behind
        state.readRevision = page.revision
        state.isCompleteAfterReady = page.isComplete && state.newest <= page.revision
        if state.isCompleteAfterReady { self.setTimer(&state, call, at: page.nextCrossing) }
        let isEmpty = state.ready.isEmpty
        if isEmpty { self.finishReadyChanges(call, &state, &tables, &sink) }
        self.appChanges[call] = state
        if isEmpty { self.resumeAppChanges(call, &tables) } else { sink.ready(call, &tables) }
        return nil
    }

    /// The message that has only a cursor and its position. A place before all revisions has no instant.
    private mutating func encodedPlace(_ place: ChangePlace, app: AppNumber, _ tables: inout Tables) -> EncodedEvent {
        let instant = max(place.crossing.instant, Instant(milliseconds: 0))
        let event = FeedEvent(
            position: Position(revision: place.revision, asOf: instant), cursor: self.cursorBytes(place, app, tables))
        let payload = tables.encoded { codec throws(MessageError) in try codec.encode(.appChanges(event)) }
        return Self.event(payload, at: place)
    }

    static func event(_ payload: PayloadHandle, at place: ChangePlace) -> EncodedEvent {
        EncodedEvent(place: EventPlace(revision: place.revision, ordinal: place.ordinal), payload: payload)
    }

    private mutating func finishReadyChanges(
        _ call: Int32, _ state: inout AppChangesState, _ tables: inout Tables, _ sink: inout some Sink
    ) {
        guard state.isCompleteAfterReady else { return }
        state.isCompleteAfterReady = false
        state.phase = .live
        self.setBehind(call, false, &tables, &sink)
    }

    private mutating func setTimer(_ state: inout AppChangesState, _ call: Int32, at instant: Instant?) {
        if state.timer != .none { self.crossings[state.app]?.cancel(state.timer) }
        state.timer = .none
        guard let instant else { return }
        var heap = self.crossings.removeValue(forKey: state.app) ?? TimerHeap()
        state.timer = heap.schedule(at: instant.milliseconds, payload: CrossingTimer.appChanges(call).packed)
        self.crossings[state.app] = heap
    }

    /// The app's clock has reached a crossing.
    mutating func appChangesDue(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        self.appChanges[call]?.timer = .none
        self.fallBehindInChanges(call, &tables, &sink)
    }

    /// A change was applied: the streams of its app ask for it at the end of the input of this tick.
    mutating func tookAppChange(_ change: Change) {
        guard let app = change.app?.number ?? change.record?.app else { return }
        self.newestAppChanges[app] = change.revision
    }

    private mutating func fallBehindInChanges(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        self.appChanges[call]?.isCompleteAfterReady = false
        guard case .live? = self.appChanges[call]?.phase else { return }
        self.appChanges[call]?.phase = .behind
        self.setBehind(call, true, &tables, &sink)
        self.appStreams.changesToAsk.append(call)
    }

    /// Asks for what the changes and the clock of this tick have brought.
    mutating func askForAppChanges(_ tables: inout Tables, _ sink: inout some Sink) {
        if !self.newestAppChanges.isEmpty {
            for call in self.appChanges.keys.sorted() {
                guard let state = self.appChanges[call],
                    let revision = self.newestAppChanges[state.app], revision > state.readRevision
                else { continue }
                self.appChanges[call]?.newest = revision
                self.fallBehindInChanges(call, &tables, &sink)
            }
            self.newestAppChanges.removeAll(keepingCapacity: true)
        }
        guard !self.appStreams.changesToAsk.isEmpty else { return }
        for call in self.appStreams.changesToAsk where self.appChanges[call] != nil {
            self.resumeAppChanges(call, &tables)
        }
        self.appStreams.changesToAsk.removeAll(keepingCapacity: true)
    }

    mutating func appChangeTaken(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard var state = self.appChanges.removeValue(forKey: call) else {
            preconditionFailure("a change was taken by a stream that is gone")
        }
        let event = state.ready[state.taken]
        state.taken += 1
        tables.counters.appChangesSent += 1
        tables.payloads.release(event.payload)
        let isDone = state.taken == state.ready.count
        if isDone { self.finishReadyChanges(call, &state, &tables, &sink) }
        self.appChanges[call] = state
        if isDone { self.resumeAppChanges(call, &tables) }
    }

    // MARK: Encoding

    /// A change, encoded once a tick for all streams.
    private mutating func encodedChange(_ entry: ChangeEntry, app: AppNumber, _ tables: inout Tables) -> EncodedChange {
        let name = ChangeName(app: app, place: entry.place)
        if let known = self.encodedChanges[name] { return known }
        var event = FeedEvent(
            cause: entry.cause, position: entry.position, committed: entry.committed, originClientID: entry.origin,
            cursor: self.cursorBytes(entry.place, app, tables))
        if let account = entry.account {
            event.account = String(decoding: account.key, as: UTF8.self)
            self.compare(account, at: entry.position.asOf, into: &event, tables)
            self.noteFacts(entry.facts.filter(\.isOfChanges), of: account, into: &event)
        }
        var encoded = EncodedChange(
            payload: .none, cause: event.cause, groupIDs: event.groups.map(\.groupID),
            productIDs: event.entitlements.map(\.productID) + event.consumables.map(\.value.productID),
            changesEntitlement: !event.entitlements.isEmpty)
        encoded.payload = self.encodedChange(event, &tables)
        self.encodedChanges[name] = encoded
        return encoded
    }

    private mutating func encodedChange(_ event: FeedEvent, _ tables: inout Tables) -> PayloadHandle {
        do throws(MessageError) {
            let whole = try tables.codec.encode(.appChanges(event))
            let payload = tables.payloads.insert(whole.prefixed)
            if tables.payloads[payload].count - 5 <= tables.settings.frameBytesMax { return payload }
            tables.payloads.release(payload)
        } catch {}
        // An account with thousands of lines: its reader has to ask for the values.
        var short = event
        (short.groups, short.entitlements, short.consumables) = ([], [], [])
        return tables.encoded { codec throws(MessageError) in try codec.encode(.appChanges(short)) }
    }

    /// The statuses and entitlements that differ, each after the change.
    private func compare(
        _ account: ChangedAccount, at instant: Instant, into event: inout FeedEvent, _ tables: borrowing Tables
    ) {
        let app = account.app
        let parts: ChangedParts
        // Time is compared with the instant before; facts are compared at their own instant.
        var earlier = instant
        if account.isCrossing {
            earlier = instant.advanced(byMilliseconds: -1)
            parts = ChangedParts(
                of: account.after, crossingAt: instant, leewayMilliseconds: app.renewalLeewayMilliseconds,
                catalogue: app.catalogue)
        } else {
            parts = ChangedParts(from: account.before, to: account.after, catalogue: app.catalogue)
        }
        for group in parts.groups {
            let before = subscriptionStatuses(of: account.before, inGroup: group, app: app, at: earlier).value
            let after = subscriptionStatuses(of: account.after, inGroup: group, app: app, at: instant).value
            guard tables.codec.digest(of: before) != tables.codec.digest(of: after) else { continue }
            event.groups.append(GroupStatuses(groupID: group, statuses: after))
        }
        for product in parts.products {
            let before = currentEntitlement(of: account.before, toProduct: product, app: app, at: earlier).value
            let after = currentEntitlement(of: account.after, toProduct: product, app: app, at: instant).value
            guard tables.codec.digest(of: before) != tables.codec.digest(of: after) else { continue }
            event.entitlements.append(EntitlementChange(productID: product, transaction: after))
        }
    }

    /// What the facts of a change say beside statuses and entitlements: consumables, and the notification that brought it.
    private func noteFacts(_ facts: [Fact], of account: ChangedAccount, into event: inout FeedEvent) {
        for fact in facts {
            if let (transaction, _) = fact.event, transaction.productType == .consumable {
                event.consumables.removeAll { $0.value.id == transaction.id }
                event.consumables.append(PerchModel.verified(transaction, app: account.app))
            }
            guard case .notified(let notice, let reason) = fact.reported else { continue }
            event.notification = notice
            guard notice.type == "CONSUMPTION_REQUEST" else { continue }
            event.consumptionRequest = ConsumptionRequest(
                transactionID: notice.transactionID, reason: reason,
                deadline: notice.signed.advanced(byMilliseconds: Limits.consumptionAnswerMilliseconds))
        }
    }

    func cursorBytes(_ place: ChangePlace, _ app: AppNumber, _ tables: borrowing Tables) -> [UInt8] {
        ChangesCursor(
            origin: tables.origin, app: app, revision: place.revision, ordinal: place.ordinal,
            instant: place.crossing.instant, account: place.crossing.account
        ).bytes
    }

    /// Once a tick: the shared encodings are let go.
    mutating func forgetEncodedChanges(_ tables: inout Tables) {
        guard !self.encodedChanges.isEmpty else { return }
        for change in self.encodedChanges.values { tables.payloads.release(change.payload) }
        self.encodedChanges.removeAll(keepingCapacity: true)
    }
}

/// The owner of a timer in an app's heap of crossings.
enum CrossingTimer {
    case view(Int32)
    case appChanges(Int32)

    /// One bit of kind above the 32 of the index.
    var packed: UInt64 {
        switch self {
        case .view(let index): UInt64(UInt32(bitPattern: index))
        case .appChanges(let index): 1 << 32 | UInt64(UInt32(bitPattern: index))
        }
    }

    init(packed: UInt64) {
        let index = Int32(bitPattern: UInt32(truncatingIfNeeded: packed))
        self = packed >> 32 == 0 ? .view(index) : .appChanges(index)
    }
}
