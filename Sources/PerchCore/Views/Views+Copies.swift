import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A copy of an app's entitlements that a call fills and keeps up to date. It holds a place and at most one page of batches.
struct CopyState {
    enum Phase {
        /// Asks where the changes begin that the walk over the accounts may miss.
        case starting
        /// Walks over the accounts.
        case walking(from: AccountNumber)
        /// Reads the changes since the walk began. The copy is complete at `through`; nil: not known yet.
        case completing(through: UInt64?)
        /// Reads the changes of a complete copy: the store has more, or may have.
        case behind
        /// Everything was sent.
        case live
    }

    var app: AppNumber
    var content: CopyContent
    /// The app's clock as the reader knows it.
    var clock: AppClock
    var phase: Phase
    /// The first message of the call, or of another copy, was not made yet.
    var hasUnsentBegin = true
    /// From where changes are read.
    var start: ChangesAsked.Start
    /// The place after the last revision that was read whole.
    var whole: ChangePlace
    /// The revision that is being read. Its accounts are in one batch, although they may come in several pages.
    var open: OpenRevision?
    /// The revision of the last position that was sent.
    var saidRevision: UInt64 = 0
    /// The newest change of the app that this loop has applied, if it is newer than the last page.
    var newest: UInt64 = 0
    /// The store's revision when the last page was read.
    var readRevision: UInt64 = 0
    /// A question is under way.
    var isAsked = false
    /// Encoded parts that wait for space in the stream, oldest first.
    var ready: [EncodedEvent] = []
    /// Number of sent parts in `ready`.
    var taken = 0
    /// After `ready` everything has been sent.
    var isCompleteAfterReady = false
    /// The call goes on, and a bookmark is to say when all that it missed was sent. A new copy has `end` for that.
    var owesBookmark = false
    /// Since when the copy is not up to date, by the monotonic clock; nil: it is.
    var behindSince: Int64?

    var isFilling: Bool {
        switch self.phase {
        case .starting, .walking, .completing: true
        case .behind, .live: false
        }
    }
}

/// What a copy has read of a revision.
struct OpenRevision {
    var columns: CopyColumns
    var hasClock = false
    /// The place after its last entry so far.
    var place: ChangePlace
    var committed: Instant
}

/// Identifies a batch among those of a tick.
struct BatchName: Hashable {
    enum Place: Hashable {
        /// A part of the slice that begins at an account and goes up to the next one's. A tick may have two of them, read before and
        /// after a change, at two instants, or by rows and by records.
        case slice(AccountNumber, next: AccountNumber?, revision: UInt64, at: Instant, part: Int)
        /// The changes after one place and up to another.
        case changes(after: ChangePlace, through: ChangePlace, hasPosition: Bool, clock: AppClock?)
    }

    var app: AppNumber
    var asked: CopyAskedFor
    /// A tick may apply a new state of the app between two batches.
    var catalogueRevision: UInt64
    var checksum: UInt32
    var place: Place

    init(_ state: CopyState, _ place: Place) {
        self.app = state.app
        self.asked = state.content.asked
        self.catalogueRevision = state.content.catalogueRevision
        self.checksum = state.content.checksum
        self.place = place
    }
}

// Copies of an app's entitlements: all accounts, and then every change. A call that stops reading holds one cursor and one page.
//
// The walk over the accounts goes on while the store commits. So the changes since its beginning are read after it, and the copy is
// complete at a position that is no earlier than the end of the walk: every entry is whole, so it does not matter that the walk has
// seen some of these changes.
extension Views {
    mutating func beginCopy(
        _ call: Int32, _ asked: AppEntitlementsRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some Sink
    ) {
        tables.calls[call].state = .copy
        self.setBehind(call, true, &tables, &sink)
        guard let state = tables.apps[app] else { preconditionFailure("app \(app) is gone") }
        let content = CopyContent(state, CopyAskedFor(asked))
        var copy = CopyState(
            app: app, content: content, clock: state.clock, phase: .starting, start: .now,
            whole: ChangePlace(through: 0, at: .distantPast))
        copy.behindSince = tables.now.monotonic
        // A token that is of no use begins a new copy: the reader keeps the one that it has until then.
        if let token = try? CopyToken(asked.resumeToken), token.place.origin == tables.origin,
            token.place.app == app, token.catalogueRevision == content.catalogueRevision,
            token.content == content.checksum
        {
            copy.phase = .behind
            copy.saidRevision = token.place.revision
            copy.whole = ChangePlace(
                revision: token.place.revision, ordinal: token.place.ordinal,
                crossing: DueEntry(instant: token.place.instant, account: token.place.account))
            copy.start = .after(copy.whole)
            copy.ready = [Self.encodedBegin(copy, isResumed: true, &tables)]
            (copy.hasUnsentBegin, copy.owesBookmark) = (false, true)
        }
        let isReady = !copy.ready.isEmpty
        self.appStreams.copies[call] = copy
        if isReady { sink.ready(call, &tables) } else { self.resumeCopy(call, &tables) }
    }

    mutating func leaveCopy(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard let state = self.appStreams.copies.removeValue(forKey: call) else { return }
        for event in state.ready[state.taken...] { tables.payloads.release(event.payload) }
        self.setBehind(call, false, &tables, &sink)
    }

    /// Begins another copy on the same stream. Nothing of this one waits to be sent.
    private mutating func beginAgain(
        _ call: Int32, _ state: inout CopyState, _ tables: inout Tables, _ sink: inout some Sink
    ) {
        let app = Self.app(of: state, tables)
        state.content = CopyContent(app, state.content.asked)
        state.clock = app.clock
        (state.phase, state.start, state.open, state.hasUnsentBegin) = (.starting, .now, nil, true)
        state.owesBookmark = false
        self.setBehind(call, true, &tables, &sink)
    }

    /// Asks for what comes next, if the stream has sent all and is not live.
    mutating func resumeCopy(_ call: Int32, _ tables: inout Tables) {
        guard let state = self.appStreams.copies[call], !state.isAsked, state.taken == state.ready.count else {
            return
        }
        let body: StoreRequest.Body
        switch state.phase {
        case .live:
            return
        case .walking(let account):
            body = .copySlice(CopyAsked(app: state.app, from: account))
        case .starting, .completing, .behind:
            body = .changes(ChangesAsked(app: state.app, start: state.start, isForCopy: true))
        }
        self.appStreams.copies[call]?.isAsked = true
        tables.ask(.updates(call, generation: tables.calls.generation(call)), body)
    }

    /// The store has answered a copy. Returns the refusal that ends it.
    mutating func finishCopyStep(
        _ call: Int32, _ answer: StoreAnswer, _ tables: inout Tables, _ sink: inout some Sink
    ) -> Refusal? {
        guard var state = self.appStreams.copies.removeValue(forKey: call) else { return nil }
        state.isAsked = false
        state.ready.removeAll(keepingCapacity: true)
        state.taken = 0
        if !state.content.isOf(Self.app(of: state, tables)) {
            self.beginAgain(call, &state, &tables, &sink)
        } else {
            switch answer {
            case .copySlice(let slice):
                self.add(slice, to: &state, &tables)
            case .changes(let page):
                if !self.add(page, to: &state, &tables) { self.beginAgain(call, &state, &tables, &sink) }
            case .refused(let refusal) where refusal.reason == .cursorTooOld || refusal.reason == .tokenFuture:
                self.beginAgain(call, &state, &tables, &sink)
            case .refused(let refusal):
                self.appStreams.copies[call] = state
                return refusal
            default:
                preconditionFailure("a part of a copy was asked for")
            }
        }
        let isEmpty = state.ready.isEmpty
        if isEmpty { self.finishReadyParts(call, &state, &tables, &sink) }
        self.appStreams.copies[call] = state
        if isEmpty { self.resumeCopy(call, &tables) } else { sink.ready(call, &tables) }
        return nil
    }

    private mutating func finishReadyParts(
        _ call: Int32, _ state: inout CopyState, _ tables: inout Tables, _ sink: inout some Sink
    ) {
        guard state.isCompleteAfterReady else { return }
        state.isCompleteAfterReady = false
        (state.phase, state.behindSince) = (.live, nil)
        self.setBehind(call, false, &tables, &sink)
        guard state.owesBookmark else { return }
        state.owesBookmark = false
        sink.vouch(for: call, &tables)
    }

    mutating func copyPartTaken(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard var state = self.appStreams.copies.removeValue(forKey: call) else {
            preconditionFailure("a part was taken by a copy that is gone")
        }
        let event = state.ready[state.taken]
        state.taken += 1
        tables.counters.copyPartsSent += 1
        tables.counters.copyBytesSent += UInt64(tables.payloads[event.payload].count)
        tables.payloads.release(event.payload)
        let isDone = state.taken == state.ready.count
        if isDone { self.finishReadyParts(call, &state, &tables, &sink) }
        self.appStreams.copies[call] = state
        if isDone { self.resumeCopy(call, &tables) }
    }

    /// Asks for the changes that this tick has brought.
    mutating func askForCopies(_ tables: inout Tables, _ sink: inout some Sink) {
        guard !self.appStreams.copies.isEmpty, !self.newestAppChanges.isEmpty else { return }
        for call in self.appStreams.copies.keys.sorted() {
            guard var state = self.appStreams.copies[call],
                let revision = self.newestAppChanges[state.app], revision > state.readRevision
            else { continue }
            state.newest = revision
            state.isCompleteAfterReady = false
            let isLive = if case .live = state.phase { true } else { false }
            if isLive { (state.phase, state.behindSince) = (.behind, tables.now.monotonic) }
            self.appStreams.copies[call] = state
            guard isLive else { continue }
            self.setBehind(call, true, &tables, &sink)
            self.resumeCopy(call, &tables)
        }
        if self.appChanges.isEmpty { self.newestAppChanges.removeAll(keepingCapacity: true) }
    }

    // MARK: The walk

    private mutating func add(_ slice: CopySlice, to state: inout CopyState, _ tables: inout Tables) {
        guard case .walking(let from) = state.phase else { preconditionFailure("a slice of a walk that is over") }
        var columns = CopyColumns(state.content)
        func place(_ part: Int) -> BatchName.Place {
            .slice(from, next: slice.next, revision: slice.revision, at: slice.now, part: part)
        }
        var part = 0
        for row in slice.rows where state.content.includes(row.names.key) {
            let segments = state.content.plan.segments(of: row.sources, after: slice.now)
            guard segments.contains(where: state.content.includes) else { continue }
            columns.add(row.names, segments)
            guard columns.isFull else { continue }
            self.append(columns.take(), place(part), to: &state, &tables)
            part += 1
        }
        if !columns.isEmpty { self.append(columns.take(), place(part), to: &state, &tables) }
        state.phase = slice.next.map { .walking(from: $0) } ?? .completing(through: nil)
    }

    // MARK: Changes

    /// Adds a page of changes. False: the copy cannot go on from here.
    private mutating func add(_ page: ChangePage, to state: inout CopyState, _ tables: inout Tables) -> Bool {
        if state.hasUnsentBegin {
            state.ready.append(Self.encodedBegin(state, isResumed: false, &tables))
            state.hasUnsentBegin = false
        }
        state.start = .after(page.through)
        state.readRevision = page.revision
        if case .starting = state.phase {
            state.whole = page.through
            state.phase = .walking(from: 1)
            return true
        }
        // The walk has seen no later commit: this page was read after it.
        if case .completing(nil) = state.phase { state.phase = .completing(through: page.revision) }
        guard self.add(page.entries, to: &state, &tables) else { return false }
        if page.through.ordinal == ChangePlace.allAccounts {
            self.closeRevision(of: &state, &tables)
            state.whole = page.through
        }
        let whole = state.whole
        if case .completing(let through?) = state.phase, whole.revision >= through {
            state.phase = .behind
            let end = CopyEnd(position: Self.position(whole), resumeToken: Self.token(whole, state, tables).bytes)
            state.ready.append(Self.encoded(CopyPart(end: end), at: whole, &tables))
            state.saidRevision = whole.revision
            tables.counters.copiesCompleted += 1
        }
        if case .behind = state.phase {
            if whole.revision >= state.saidRevision + Limits.changesMarkerRevisions {
                self.append(
                    CopyBatch(), from: page.from, through: whole, Instant(milliseconds: 0), to: &state, &tables)
            }
            state.isCompleteAfterReady = page.isComplete && state.newest <= page.revision
        }
        return true
    }

    /// Adds the batches of changes, one for each revision that changes something. False: an account was erased whose key is not known any
    /// more.
    private mutating func add(
        _ entries: [ChangeEntry], to state: inout CopyState, _ tables: inout Tables
    ) -> Bool {
        for entry in entries {
            if let open = state.open, open.place.revision < entry.place.revision {
                self.closeRevision(of: &state, &tables)
            }
            // Moved out and back: a second reference would have the columns copied.
            var open =
                state.open.take()
                ?? OpenRevision(
                    columns: CopyColumns(state.content), place: entry.place, committed: entry.committed)
            (open.place, open.committed) = (entry.place, entry.committed)
            if let account = entry.account {
                guard Self.add(account, at: entry.position.asOf, to: &open.columns, state) else { return false }
            } else if entry.cause == .clock {
                open.hasClock = true
            }
            state.open = open
        }
        return true
    }

    /// Makes a batch of the revision that was read, if it changes something.
    private mutating func closeRevision(of state: inout CopyState, _ tables: inout Tables) {
        guard var open = state.open.take() else { return }
        let app = Self.app(of: state, tables)
        let isClockNew = open.hasClock && state.clock != app.clock
        if !open.columns.isEmpty || isClockNew {
            var batch = open.columns.take()
            if isClockNew {
                state.clock = app.clock
                batch.clock = Self.clock(of: app, tables)
            }
            self.append(batch, from: state.whole, through: open.place, open.committed, to: &state, &tables)
        }
        state.whole = open.place
    }

    /// Adds an account that has changed, if the copy shows it. False: its key is not known any more.
    private static func add(
        _ account: ChangedAccount, at now: Instant, to columns: inout CopyColumns, _ state: CopyState
    ) -> Bool {
        guard let names = account.names else { return false }
        if account.isErased {
            for key in [names.key] + names.otherKeys { columns.remove(key) }
            return true
        }
        let plan = state.content.plan
        let after = plan.segments(of: account.after.entitlementSources(after: now), after: now)
            .filter(state.content.includes)
        let before = plan.segments(of: account.before.entitlementSources(after: now), after: now)
            .filter(state.content.includes)
        guard account.hasOtherNames else {
            if before != after { columns.add(names, after) }
            return true
        }
        if before.isEmpty, after.isEmpty, names.otherKeys.isEmpty { return true }
        // Each may have had an entry of its own before. A new copy has none for them, and no message has room for all keys of a crowd.
        guard names.otherKeys.count <= Limits.copyAliasesMax else { return false }
        for key in names.otherKeys { columns.remove(key) }
        columns.add(names, after)
        return true
    }

    // MARK: Encoding

    private mutating func append(
        _ batch: CopyBatch, _ place: BatchName.Place, to state: inout CopyState, _ tables: inout Tables
    ) {
        let name = BatchName(state, place)
        let payload = self.shared(name, &tables) { CopyPart(accounts: batch) }
        state.ready.append(
            EncodedEvent(place: EventPlace(revision: 0, ordinal: UInt32(state.ready.count)), payload: payload))
    }

    private mutating func append(
        _ batch: CopyBatch, from: ChangePlace, through: ChangePlace, _ committed: Instant, to state: inout CopyState,
        _ tables: inout Tables
    ) {
        // Until its end a copy stands nowhere.
        let hasPosition = if case .completing = state.phase { false } else { true }
        let name = BatchName(
            state,
            .changes(
                after: from, through: through, hasPosition: hasPosition, clock: batch.clock.map { _ in state.clock }))
        let token = Self.token(through, state, tables)
        let payload = self.shared(name, &tables) {
            var batch = batch
            if hasPosition {
                batch.position = Self.position(through)
                batch.committed = committed
                batch.resumeToken = token.bytes
            }
            return CopyPart(accounts: batch)
        }
        state.ready.append(
            EncodedEvent(place: EventPlace(revision: through.revision, ordinal: through.ordinal), payload: payload))
        if hasPosition { state.saidRevision = through.revision }
    }

    /// A part that is encoded once in a tick for all calls at the same place. The payload has a reference for this call.
    private mutating func shared(
        _ name: BatchName, _ tables: inout Tables, _ make: () -> CopyPart
    ) -> PayloadHandle {
        if let known = self.appStreams.encodedBatches[name] {
            tables.payloads.retain(known)
            return known
        }
        let part = make()
        let payload = tables.encoded { codec throws(MessageError) in try codec.encode(.appEntitlements(part)) }
        tables.payloads.retain(payload)
        self.appStreams.encodedBatches[name] = payload
        return payload
    }

    private static func encoded(
        _ part: CopyPart, at place: ChangePlace, _ tables: inout Tables
    ) -> EncodedEvent {
        let payload = tables.encoded { codec throws(MessageError) in try codec.encode(.appEntitlements(part)) }
        return EncodedEvent(place: EventPlace(revision: place.revision, ordinal: place.ordinal), payload: payload)
    }

    private static func encodedBegin(
        _ state: CopyState, isResumed: Bool, _ tables: inout Tables
    ) -> EncodedEvent {
        let begin = CopyBegin(
            isResumed: isResumed, grades: state.content.plan.grades, names: state.content.names,
            clock: Self.clock(of: Self.app(of: state, tables), tables))
        return Self.encoded(CopyPart(begin: begin), at: ChangePlace(through: 0, at: .distantPast), &tables)
    }

    private static func app(of state: CopyState, _ tables: borrowing Tables) -> AppState {
        guard let app = tables.apps[state.app] else { preconditionFailure("app \(state.app) is gone") }
        return app
    }

    private static func clock(of state: AppState, _ tables: borrowing Tables) -> CopyClock {
        let isFrozen = if case .frozen = state.clock { true } else { false }
        return CopyClock(
            appTime: state.clock.now(wall: tables.now.wall), serverTime: tables.now.wall, isFrozen: isFrozen,
            isTestApp: state.isTestApp)
    }

    private static func position(_ place: ChangePlace) -> Position {
        Position(revision: place.revision, asOf: max(place.crossing.instant, Instant(milliseconds: 0)))
    }

    private static func token(
        _ place: ChangePlace, _ state: CopyState, _ tables: borrowing Tables
    ) -> CopyToken {
        CopyToken(
            place: ChangesCursor(
                origin: tables.origin, app: state.app, revision: place.revision, ordinal: place.ordinal,
                instant: place.crossing.instant, account: place.crossing.account),
            catalogueRevision: state.content.catalogueRevision, content: state.content.checksum)
    }

    /// Once a tick: the shared encodings are let go.
    mutating func forgetEncodedBatches(_ tables: inout Tables) {
        guard !self.appStreams.encodedBatches.isEmpty else { return }
        for payload in self.appStreams.encodedBatches.values { tables.payloads.release(payload) }
        self.appStreams.encodedBatches.removeAll(keepingCapacity: true)
    }
}
