import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Fan-out: from the store's events to views computed once and watches with a pending value.
extension Views {
    /// Prefetches the data of the next events: an account, and the first of its views.
    func prefetch(_ events: [StoreEvent], from start: Int) {
        let count = min(events.count - start, Limits.prefetchedAtOnce)
        guard count > 1 else { return }
        // As many as `Limits.prefetchedAtOnce`.
        var numbers = InlineArray<16, AccountNumber>(repeating: 0)
        var named = 0
        for index in 0..<count {
            guard case .change(let change) = events[start + index], let record = change.record else { continue }
            numbers[named] = record.account
            self.prefetchFirstLook(numbers[named])
            named += 1
        }
        var slots = InlineArray<16, Int32>(repeating: -1)
        for index in 0..<named {
            slots[index] = self.firstLook(numbers[index])
            if slots[index] >= 0 { self.accounts.prefetch(slots[index]) }
        }
        for index in 0..<named where slots[index] >= 0 {
            slots[index] = self.accounts[slots[index]].firstView
            if slots[index] >= 0 { self.slots.prefetch(slots[index]) }
        }
    }

    /// A committed change. An account without watches costs one lookup.
    mutating func took(_ change: Change, _ tables: inout Tables, _ sink: inout some Sink) {
        if !change.aliases.isEmpty { self.name(change.aliases, &tables, &sink) }
        for name in change.unnamed { self.lookUpAgain(name, &tables, &sink) }
        // By index, because iterating would copy each element.
        if let record = change.record {
            var slot = self.firstOfNumber(record.account)
            while slot >= 0 {
                self.took(record, cause: change.cause, slot, &tables, &sink)
                if self.accounts[slot].firstUpdates >= 0, let first = change.first {
                    self.tookEvents(of: first, slot, &tables, &sink)
                }
                slot = self.accounts[slot].nextOfNumber
            }
        }
        for place in change.others.indices {
            var slot = self.firstOfNumber(change.others[place].record.account)
            while slot >= 0 {
                self.took(change.others[place].record, cause: change.others[place].cause, slot, &tables, &sink)
                if self.accounts[slot].firstUpdates >= 0 {
                    self.tookEvents(of: change.others[place], slot, &tables, &sink)
                }
                slot = self.accounts[slot].nextOfNumber
            }
        }
        if let app = change.app { self.apply(app, cause: change.appCause, &tables, &sink) }
        if !self.appChanges.isEmpty || !self.appStreams.copies.isEmpty { self.tookAppChange(change) }
    }

    private mutating func name(
        _ aliases: [(key: AccountKey, account: AccountNumber)], _ tables: inout Tables, _ sink: inout some Sink
    ) {
        for (key, account) in aliases {
            if let text = key.attachedText {
                self.lookUpAgain(text, &tables, &sink)
            } else if case let slot = self.findAccount(key), slot >= 0 {
                self.setNumber(slot, account)
            }
        }
    }

    /// A name of a customer was attached or detached: whether it leads to an account only the store knows. No bookmark passes before
    /// the answer, and no account's changes belong to the slot.
    private mutating func lookUpAgain(_ key: AccountKey, _ tables: inout Tables, _ sink: inout some Sink) {
        let slot = self.findAccount(key)
        guard slot >= 0 else { return }
        self.forgetNumber(slot)
        self.accounts[slot].awaitsNumber = true
        self.sweep.append(slot)
        self.holdUpdates(of: slot, &tables, &sink)
    }

    /// An account's record arrived: all its views are computed at the end of the tick.
    mutating func took(
        _ record: AccountRecord?, cause: Cause, _ slot: Int32, _ tables: inout Tables, _ sink: inout some Sink
    ) {
        if self.accounts[slot].news < 0 {
            self.accounts[slot].news = Int32(self.listedAccounts.count)
            self.listedAccounts.append(slot)
            self.news.append(AccountNews(record: record, cause: cause))
        } else {
            let place = Int(self.accounts[slot].news)
            self.news[place].record = record
            if cause != .unspecified { self.news[place].cause = cause }
        }
        var view = self.accounts[slot].firstView
        while view >= 0 {
            self.listView(view, &tables)
            view = self.slots[view].nextInAccount
        }
    }

    /// An app changed. Products are computed at once. Records of dependent views are requested again, a bounded number
    /// a tick, and no bookmark passes this revision before all are done.
    mutating func apply(_ app: AppState, cause: Cause, _ tables: inout Tables, _ sink: inout some Sink) {
        let before = tables.apps[app.number]
        tables.apps[app.number] = app
        guard let before else { return }
        let catalogueChanged = before.catalogueRevision != app.catalogueRevision
        // The model decides which settings affect a view; an equal value is not sent.
        if catalogueChanged || before.settings != app.settings {
            var view: Int32 = 0
            while view < self.slots.extent {
                if self.slots.isTaken(view), self.slots[view].app == app.number {
                    self.slots[view].pendingCause = catalogueChanged ? .catalog : .setting
                    if self.slots[view].account < 0 {
                        self.listView(view, &tables)
                    } else {
                        self.sweep.append(self.slots[view].account)
                    }
                }
                view += 1
            }
        }
        if cause == .clock { self.raiseCrossings(of: app.number, cause: .clock, &tables, &sink) }
    }

    /// Maximum number of records requested in one tick after an app changed.
    private static let sweepPerTurn = 1_024

    mutating func sweepOn(_ tables: inout Tables) {
        guard !self.sweep.isEmpty else { return }
        let count = min(Self.sweepPerTurn, self.sweep.count)
        for slot in self.sweep.suffix(count) where self.accounts.isTaken(slot) { self.askForRecord(slot, &tables) }
        self.sweep.removeLast(count)
        self.loads.sweptThrough = self.loads.asked
    }

    /// Whether data of an applied revision is still on its way to its watches.
    var isSweeping: Bool { !self.sweep.isEmpty || self.loads.answered < self.loads.sweptThrough }

    /// The store has answered the question for an account's record.
    mutating func tookAnswer(
        _ answer: consuming StoreAnswer, _ slot: Int32, generation: UInt32, _ tables: inout Tables,
        _ sink: inout some Sink
    ) {
        self.loads.answered += 1
        guard self.accounts.isTaken(slot, generation: generation) else { return }
        self.accounts[slot].isAsked = false
        switch answer {
        case .record(let record):
            if let record { self.setNumber(slot, record.account) } else { self.forgetNumber(slot) }
            self.releaseUpdates(of: slot, &tables)
            self.loadedAgain(slot)
            // The record in a change of this tick is equally new, and has its cause.
            self.took(record, cause: .unspecified, slot, &tables, &sink)
        case .refused(let refusal):
            if !self.accounts[slot].hasNumber { self.accounts[slot].awaitsNumber = true }
            self.failViews(of: slot, refusal, &tables, &sink)
        default:
            preconditionFailure("a record was asked for")
        }
    }

    /// The store has answered what was asked before: see `reportBarriers`.
    mutating func holdBarrier(_ number: UInt64) { self.loads.barriers.append((number, self.loads.asked)) }

    /// A barrier is reached when every earlier question is answered, computed and planned for writing.
    mutating func reportBarriers(_ tables: inout Tables) {
        guard !self.loads.barriers.isEmpty, self.sweep.isEmpty else { return }
        let answered = self.loads.answered
        var reached: [UInt64] = []
        self.loads.barriers.removeAll { barrier in
            guard answered >= barrier.asked else { return false }
            reached.append(barrier.number)
            return true
        }
        for number in reached {
            tables.asks.append(StoreRequest(loop: tables.loop, ticket: 0, .barrierReached(number)))
        }
    }

    /// When the views have work again, in milliseconds of the monotonic clock; nil: at the next event.
    func nextTime(_ tables: borrowing Tables) -> Int64? {
        if !self.sweep.isEmpty || !self.listedViews.isEmpty { return tables.now.monotonic }
        var next = self.failedAccounts.isEmpty ? Int64.max : self.asksAgainAt
        for (app, heap) in self.crossings {
            guard let time = heap.nextTime, let state = tables.apps[app], case .running = state.clock else { continue }
            next = min(next, tables.now.monotonic + max(0, time - tables.clock(of: app).milliseconds))
        }
        return next == .max ? nil : next
    }

    /// Computes every listed view, once.
    mutating func computeViews(_ tables: inout Tables, _ sink: inout some Sink) {
        var index = 0
        while index < self.listedViews.count {
            let view = self.listedViews[index]
            index += 1
            self.prefetchWatch(after: index, tables)
            guard self.slots.isTaken(view), self.slots[view].isListed else { continue }
            self.slots[view].isListed = false
            self.compute(view, &tables, &sink)
        }
        self.listedViews.removeAll(keepingCapacity: true)
        for slot in self.listedAccounts where self.accounts.isTaken(slot) {
            self.accounts[slot].news = -1
        }
        self.listedAccounts.removeAll(keepingCapacity: true)
        self.news.removeAll(keepingCapacity: true)
    }

    /// Prefetches the watch two views ahead, and the connection of the one after the next.
    @inline(__always)
    private func prefetchWatch(after index: Int, _ tables: borrowing Tables) {
        let last = self.listedViews.count - 1
        let (near, far) = (self.listedViews[min(index + 1, last)], self.listedViews[min(index + 2, last)])
        if self.slots.isTaken(far) {
            if self.slots[far].firstWatch >= 0 { tables.calls.prefetch(self.slots[far].firstWatch) }
            if self.slots[far].account >= 0 { self.accounts.prefetch(self.slots[far].account) }
        }
        guard self.slots.isTaken(near) else { return }
        let (watch, account) = (self.slots[near].firstWatch, self.slots[near].account)
        if watch >= 0 { tables.connections.prefetch(tables.calls[watch].connection) }
        if account >= 0 { self.accountKeys.prefetch(self.accounts[account].keyPlace) }
    }

    /// Computes one view at `applied` and the app's clock. An equal value is not sent.
    private mutating func compute(_ view: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        let slot = self.slots[view]
        guard let app = tables.apps[slot.app] else { preconditionFailure("a view of an app that is gone") }
        let now = app.clock.now(wall: tables.now.wall)
        tables.counters.viewsComputed += 1
        var record: AccountRecord?
        var recordCause = Cause.unspecified
        if slot.account >= 0 {
            let place = self.accounts[slot.account].news
            guard place >= 0 else {
                self.askForRecord(slot.account, &tables)
                return
            }
            record = self.news[Int(place)].record
            recordCause = self.news[Int(place)].cause
        }
        var info = ValueInfo()
        let revision: UInt64
        if let record, record.revision >= app.revision {
            (revision, info.committed) = (record.revision, record.committed)
        } else {
            // For products, and accounts without facts, the value depends on the app alone.
            (revision, info.committed) = (app.revision, app.committed)
        }
        info.position = Position(revision: revision, asOf: now)

        let key = self.viewKeys[slot.key]
        var crossing: Instant?
        var digest = Digest.zero
        let value = self.value(of: key, record, app, at: now, &info, &crossing, digest: &digest, &tables)
        self.setCrossing(view, crossing ?? .distantFuture)
        self.catchUpWithClock(view, &tables, &sink)

        let isNew = slot.state != .ready || slot.digest != digest || slot.hasFailed
        let needsFirst = self.hasWaiting(view, tables)
        self.slots[view].pendingCause = .unspecified
        if !isNew, !needsFirst { return }
        if !isNew {
            // The value is unchanged for its watches, but a new watch needs it and the encodings were freed.
            info.position = Position(
                revision: max(slot.position.revision, revision), asOf: max(slot.position.asOf, now))
        }
        let cause = isNew ? Self.cause(of: recordCause, slot) : slot.cause
        let token = ResumeToken(
            store: tables.identity, epoch: tables.epoch, app: slot.app, view: self.tokenDigest(of: slot),
            position: info.position, digest: digest)
        let previous = isNew ? slot.digest : self.encodings(of: view).previousDigest
        if isNew { self.rememberSaid(view, &tables) }
        self.dropEncodings(view, &tables)
        self.slots[view].state = .ready
        self.setFailed(view, false)
        self.slots[view].digest = digest
        self.slots[view].position = info.position
        self.slots[view].cause = cause

        let wants = self.distribute(view, digest, isNew: isNew, &tables, &sink)
        self.encode(
            view, key, value, &info, token, cause: cause, previous: previous,
            snapshot: wants.snapshot || self.slots[view].watchCount > 1, change: wants.change,
            unchanged: wants.unchanged, &tables)
    }

    /// The cause of a new value: that of its record, else the reason for computing it, else time.
    @inline(__always)
    private static func cause(of record: Cause, _ slot: ViewSlot) -> Cause {
        if record != .unspecified { return record }
        return slot.pendingCause == .unspecified ? .expiry : slot.pendingCause
    }

    /// A view's value for a record, with its digest and its next crossing.
    @inline(__always)
    private mutating func value(
        of key: ViewKey, _ record: AccountRecord?, _ app: AppState, at now: Instant, _ info: inout ValueInfo,
        _ crossing: inout Instant?, digest: inout Digest, _ tables: inout Tables
    ) -> ViewValue {
        if let failure = key.api.flatMap({ simulatedFailure(of: $0, app: app) }).map({ WireStatus($0).failure }) {
            digest = Digest(of: Array("\(failure.reason) \(failure.message)".utf8))
            return .failure(failure)
        }
        switch key {
        case .status(let group, _):
            let viewed =
                group.isEmpty
                ? statusesOfAllGroups(of: record, app: app, at: now)
                : subscriptionStatuses(of: record, inGroup: group, app: app, at: now)
            digest = tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            if viewed.value.statuses.isEmpty, !group.isEmpty { info.isNotInCatalog = app.catalogue.group(group) == nil }
            return .statuses(viewed.value)
        case .entitlement(let product, _):
            var outlook = Outlook()
            let shown = entitlement(of: record, toProduct: product, app: app, at: now, noting: &outlook)
            digest = tables.codec.digest(of: shown)
            (crossing, info.forecast) = (outlook.nextCrossing, outlook.forecast)
            if shown == nil { info.isNotInCatalog = app.catalogue.product(product) == nil }
            return .entitlement(shown)
        case .products(let ids, let locale, let storefront):
            let shown = products(ids, locale: locale, storefront: storefront, app: app)
            digest = tables.codec.digest(of: shown)
            return .products(shown)
        case .intents:
            let viewed = purchaseIntents(of: record)
            digest = tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .intents(viewed.value)
        case .entitlements:
            let viewed = namedEntitlements(of: record, app: app, at: now)
            digest = tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .entitlements(viewed.value)
        case .messages:
            let viewed = storeMessages(of: record, app: app, at: now)
            digest = tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .messages(viewed.value)
        }
    }

    /// The forms of a value that watches need.
    private struct Wants {
        var snapshot = false
        var change = false
        var unchanged = false
    }

    /// Marks the watches of a computed view that have to send the value.
    @inline(__always)
    private mutating func distribute(
        _ view: Int32, _ digest: Digest, isNew: Bool, _ tables: inout Tables, _ sink: inout some Sink
    ) -> Wants {
        var wants = Wants()
        var call = self.slots[view].firstWatch
        while call >= 0 {
            if tables.calls[call].flags.contains(.isWaiting) {
                self.readyForFirst(call, &tables, &sink)
            } else if isNew {
                // The new value replaces an unsent one, including `unchanged`. If the value equals the last one sent,
                // nothing is pending.
                tables.calls[call].flags.remove(.hasUnsentUnchanged)
                if !self.lateReaders.isEmpty, self.lateReaders[call] == digest {
                    self.lateReaders[call] = nil
                    tables.calls[call].flags.remove(.hasUnsentValue)
                } else if !tables.callTokens.isEmpty, tables.callTokens[call]?.digest == digest {
                    // The value equals the watch's token, and nothing was sent yet: the answer is `unchanged`.
                    tables.calls[call].flags.formUnion([.hasUnsentValue, .hasUnsentUnchanged])
                    sink.ready(call, &tables)
                } else {
                    tables.calls[call].flags.insert(.hasUnsentValue)
                    sink.ready(call, &tables)
                }
            }
            if tables.calls[call].flags.contains(.hasUnsentValue) {
                if tables.calls[call].flags.contains(.hasUnsentUnchanged) {
                    wants.unchanged = true
                } else if tables.calls[call].flags.contains(.isFirst) {
                    wants.snapshot = true
                } else {
                    wants.change = true
                }
            }
            call = tables.calls[call].nextInTarget
        }
        return wants
    }

    /// Before a view changes, stores the last sent digest for the watches with a pending value. Their encodings are
    /// kept.
    mutating func rememberSaid(_ view: Int32, _ tables: inout Tables) {
        guard self.slots[view].encodings >= 0 else { return }
        let said = self.encodings(of: view).previousDigest
        var call = self.slots[view].firstWatch
        while call >= 0 {
            let flags = tables.calls[call].flags
            if flags.contains(.hasUnsentValue), !flags.contains(.isFirst), self.lateReaders[call] == nil {
                self.lateReaders[call] = said
            }
            call = tables.calls[call].nextInTarget
        }
    }

    /// Whether a watch waits for the value that has not received it.
    func hasWaiting(_ view: Int32, _ tables: borrowing Tables) -> Bool {
        var call = self.slots[view].firstWatch
        while call >= 0 {
            let flags = tables.calls[call].flags
            if flags.contains(.isWaiting) { return true }
            // A watch with a full stream has a pending value whose encoding was freed.
            if flags.contains(.hasUnsentValue), self.encoding(for: call, zlib: false, tables).isNone { return true }
            call = tables.calls[call].nextInTarget
        }
        return false
    }

    /// The digest of a view in tokens.
    private func tokenDigest(of slot: ViewSlot) -> Digest {
        guard slot.account >= 0 else {
            return self.viewKeys.digest(
                of: slot.key, app: slot.app, account: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        let account = self.accounts[slot.account]
        return self.viewKeys.digest(
            of: slot.key, app: slot.app,
            account: self.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount)))
    }
}
