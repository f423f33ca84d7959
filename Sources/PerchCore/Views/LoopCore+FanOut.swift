import PerchBase
import PerchModel
package import PerchStore
import PerchWire

// Fan-out: from what the store says to views computed once and watches that owe their stream a value.
extension LoopCore {
    /// What the store says in a turn, in commit order. Each is taken out of the list: one that is handed out is copied, with
    /// all that it refers to. The list is empty then, and has kept its room.
    package mutating func handle(_ events: inout [StoreEvent]) {
        for place in events.indices {
            if place % Limits.prefetchedAtOnce == 0 { self.prefetch(events, from: place) }
            var event = StoreEvent.taken
            swap(&event, &events[place])
            self.handle(event)
        }
        events.removeAll(keepingCapacity: true)
    }

    /// What the next events, from a place on, concern: an account, and the first of its views.
    private func prefetch(_ events: [StoreEvent], from start: Int) {
        let count = min(events.count - start, Limits.prefetchedAtOnce)
        guard count > 1 else { return }
        // As many as `Limits.prefetchedAtOnce`.
        var numbers = InlineArray<16, AccountNumber>(repeating: 0)
        var named = 0
        for index in 0..<count {
            guard case .change(let change) = events[start + index], !change.accounts.isEmpty else { continue }
            numbers[named] = change.accounts[0].record.account
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
            if slots[index] >= 0 { self.views.prefetch(slots[index]) }
        }
    }

    package mutating func handle(_ event: consuming StoreEvent) {
        switch consume event {
        case .change(let change): self.apply(change)
        case .answer(let number, let answer): self.answered(number, answer)
        case .barrier(let number): self.heldBarriers.append((number, self.askedCount))
        case .failed(let message): self.storeFailure = message
        }
    }

    /// One committed change: for an account that nobody watches here it costs one lookup.
    private mutating func apply(_ change: Change) {
        precondition(change.revision == self.applied + 1, "revision \(change.revision) came after \(self.applied)")
        self.applied = change.revision
        self.counters.changesApplied += 1
        // The store may have looked at the clock after this turn began. What it decided then is not shown as of before.
        self.now.wall = max(self.now.wall, change.committed)
        if !change.aliases.isEmpty { self.name(change.aliases) }
        // By place, as events are: what is handed out is copied.
        for place in change.accounts.indices {
            var slot = self.firstOfNumber(change.accounts[place].record.account)
            while slot >= 0 {
                self.took(change.accounts[place].record, cause: change.accounts[place].cause, slot)
                if self.accounts[slot].firstUpdates >= 0 { self.tookEvents(of: change.accounts[place], slot) }
                slot = self.accounts[slot].nextOfNumber
            }
        }
        if let app = change.app { self.apply(app, cause: change.appCause) }
        if !change.revoked.isEmpty { self.revoke(change.revoked) }
    }

    private mutating func name(_ aliases: [(key: AccountKey, account: AccountNumber)]) {
        for (key, account) in aliases {
            let slot = self.findAccount(key)
            if slot >= 0 { self.setNumber(slot, account) }
        }
    }

    /// An account's record came: all its views are computed at the end of the turn.
    private mutating func took(_ record: AccountRecord?, cause: Cause, _ slot: Int32) {
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
            self.listView(view)
            view = self.views[view].nextInAccount
        }
    }

    /// An app changed. Products are computed at once; what depends on a record is asked for again, a bounded number a
    /// turn, and no bookmark passes this revision before all of it is done.
    private mutating func apply(_ app: AppState, cause: Cause) {
        let before = self.apps[app.number]
        self.apps[app.number] = app
        guard let before else { return }
        let catalogueChanged = before.catalogueRevision != app.catalogueRevision
        // Which settings a view is made of is the model's matter: an equal value disturbs nobody.
        if catalogueChanged || before.settings != app.settings {
            var view: Int32 = 0
            while view < self.views.extent {
                if self.views.isTaken(view), self.views[view].app == app.number {
                    self.views[view].pendingCause = catalogueChanged ? .catalog : .setting
                    if self.views[view].account < 0 {
                        self.listView(view)
                    } else {
                        self.sweep.append(self.views[view].account)
                    }
                }
                view += 1
            }
        }
        if cause == .clock { self.raiseCrossings(of: app.number, cause: .clock) }
    }

    /// Accounts whose records are asked for again after an app changed, in one turn.
    private static let sweepPerTurn = 1_024

    private mutating func sweepOn() {
        guard !self.sweep.isEmpty else { return }
        let count = min(Self.sweepPerTurn, self.sweep.count)
        for slot in self.sweep.suffix(count) where self.accounts.isTaken(slot) { self.askForRecord(slot) }
        self.sweep.removeLast(count)
        self.sweptThrough = self.askedCount
    }

    /// Whether something that changed at an applied revision is still on its way to its watches.
    var isSweeping: Bool { !self.sweep.isEmpty || self.answeredCount < self.sweptThrough }

    private mutating func answered(_ number: UInt64, _ answer: consuming StoreAnswer) {
        switch self.redeem(number) {
        case .account(let slot, let generation):
            self.answeredCount += 1
            guard self.accounts.isTaken(slot, generation: generation) else { return }
            self.accounts[slot].isAsked = false
            switch answer {
            case .record(let record):
                if let record { self.setNumber(slot, record.account) }
                // What came with a change in this turn is as new as this, and knows its cause.
                self.took(record, cause: .unspecified, slot)
            case .refused(let refusal):
                self.failViews(of: slot, refusal)
            default:
                preconditionFailure("a record was asked for")
            }
        case .call(let call, let generation):
            guard self.calls.isTaken(call, generation: generation) else { return }
            switch self.calls[call].kind {
            case .order: self.finishOrder(call, answer)
            case .unary: self.finishUnary(call, answer)
            case .watch, .updates, .ending: return
            }
        case .updates(let call, let generation):
            guard self.calls.isTaken(call, generation: generation), self.calls[call].kind == .updates else { return }
            self.finishUpdates(call, answer)
        }
    }

    /// Ends the input of a turn: what is due is raised, and every listed view is computed, once.
    package mutating func endInput() {
        self.runTimers()
        self.wakeWaiters()
        self.sweepOn()
        let answered = self.listedConnections.count
        self.computeViews()
        self.putWatchersFirst(after: answered)
        self.releaseGroups()
    }

    /// Lets those who watch be written to before those who were answered in this turn, if they are few: the change is theirs
    /// one write earlier, and who made it knows of it.
    private mutating func putWatchersFirst(after answered: Int) {
        let watchers = self.listedConnections.count - answered
        guard answered > 0, watchers > 0, watchers <= Limits.watchersBeforeAnswers else { return }
        self.listedConnections[..<answered].reverse()
        self.listedConnections[answered...].reverse()
        self.listedConnections.reverse()
    }

    /// Groups that waited for the end of a sweep get their BEAT.
    private mutating func releaseGroups() {
        guard !self.heldGroups.isEmpty, !self.isSweeping else { return }
        for connection in self.heldGroups where self.connections.isTaken(connection) { self.list(connection) }
        self.heldGroups.removeAll()
    }

    private mutating func computeViews() {
        var index = 0
        while index < self.listedViews.count {
            let view = self.listedViews[index]
            index += 1
            self.prefetchWatch(after: index)
            guard self.views.isTaken(view), self.views[view].isListed else { continue }
            self.views[view].isListed = false
            self.compute(view)
        }
        self.listedViews.removeAll(keepingCapacity: true)
        for slot in self.listedAccounts where self.accounts.isTaken(slot) { self.accounts[slot].news = -1 }
        self.listedAccounts.removeAll(keepingCapacity: true)
        self.news.removeAll(keepingCapacity: true)
    }

    /// Whom the next views are to be told to, and under which name, is looked at soon: of the third from here who it is, of
    /// the second where he is.
    @inline(__always)
    private func prefetchWatch(after index: Int) {
        let last = self.listedViews.count - 1
        let (near, far) = (self.listedViews[min(index + 1, last)], self.listedViews[min(index + 2, last)])
        if self.views.isTaken(far) {
            if self.views[far].firstWatch >= 0 { self.calls.prefetch(self.views[far].firstWatch) }
            if self.views[far].account >= 0 { self.accounts.prefetch(self.views[far].account) }
        }
        guard self.views.isTaken(near) else { return }
        let (watch, account) = (self.views[near].firstWatch, self.views[near].account)
        if watch >= 0 { self.connections.prefetch(self.calls[watch].connection) }
        if account >= 0 { self.accountKeys.prefetch(self.accounts[account].keyPlace) }
    }

    /// Computes one view at `applied` and the app's clock. An equal value disturbs nobody.
    private mutating func compute(_ view: Int32) {
        let slot = self.views[view]
        guard let app = self.apps[slot.app] else { preconditionFailure("a view of an app that is gone") }
        let now = app.clock.now(wall: self.now.wall)
        self.counters.viewsComputed += 1
        var record: AccountRecord?
        var recordCause = Cause.unspecified
        if slot.account >= 0 {
            let place = self.accounts[slot.account].news
            guard place >= 0 else {
                self.askForRecord(slot.account)
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
            // Products, and accounts about which nothing was ever written: the app is what the value is made of.
            (revision, info.committed) = (app.revision, app.committed)
        }
        info.position = Position(revision: revision, asOf: now)

        let key = self.viewKeys[slot.key]
        var crossing: Instant?
        var digest = Digest.zero
        let value = self.value(of: key, record, app, at: now, &info, &crossing, digest: &digest)
        self.setCrossing(view, crossing ?? .distantFuture)
        self.views[view].isStale = false

        let isNew = slot.state != .ready || slot.digest != digest || slot.hasFailed
        let needsFirst = self.hasWaiting(view)
        self.views[view].pendingCause = .unspecified
        if !isNew, !needsFirst { return }
        if !isNew {
            // Nothing new for those who look; somebody came, and the encodings were let go.
            info.position = Position(
                revision: max(slot.position.revision, revision), asOf: max(slot.position.asOf, now))
        }
        let cause = isNew ? Self.cause(of: recordCause, slot) : slot.cause
        let token = ResumeToken(
            store: self.identity, epoch: self.epoch, app: slot.app, view: self.digest(of: key, slot),
            position: info.position, digest: digest)
        let previous = isNew ? slot.digest : self.encodings(of: view).previousDigest
        if isNew { self.rememberSaid(view) }
        self.dropEncodings(view)
        self.views[view].state = .ready
        self.views[view].hasFailed = false
        self.views[view].digest = digest
        self.views[view].position = info.position
        self.views[view].cause = cause

        let wants = self.distribute(view, digest, isNew: isNew)
        self.encode(
            view, key, value, &info, token, cause: cause, previous: previous,
            snapshot: wants.snapshot || self.views[view].watchCount > 1, change: wants.change,
            unchanged: wants.unchanged)
    }

    /// What led to a new value: what came with its record, else what its view was listed for, else time.
    @inline(__always)
    private static func cause(of record: Cause, _ slot: ViewSlot) -> Cause {
        if record != .unspecified { return record }
        return slot.pendingCause == .unspecified ? .expiry : slot.pendingCause
    }

    /// What a view shows of a record, with its digest and its next crossing.
    @inline(__always)
    private mutating func value(
        of key: ViewKey, _ record: AccountRecord?, _ app: AppState, at now: Instant, _ info: inout ValueInfo,
        _ crossing: inout Instant?, digest: inout Digest
    ) -> ViewValue {
        if let failure = key.api.flatMap({ simulatedFailure(of: $0, app: app) }).map({ WireStatus($0).failure }) {
            digest = Digest(of: Array("\(failure.reason) \(failure.message)".utf8))
            return .failure(failure)
        }
        switch key {
        case .status(let group):
            let viewed = subscriptionStatuses(of: record, inGroup: group, app: app, at: now)
            digest = self.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .statuses(viewed.value)
        case .entitlement(let product):
            var outlook = Outlook()
            let shown = entitlement(of: record, toProduct: product, app: app, at: now, noting: &outlook)
            digest = self.codec.digest(of: shown)
            (crossing, info.forecast) = (outlook.nextCrossing, outlook.forecast)
            return .entitlement(shown)
        case .products(let ids, let locale, let storefront):
            let shown = products(ids, locale: locale, storefront: storefront, app: app)
            digest = self.codec.digest(of: shown)
            return .products(shown)
        case .intents:
            let viewed = purchaseIntents(of: record)
            digest = self.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .intents(viewed.value)
        case .messages:
            let viewed = storeMessages(of: record, app: app, at: now)
            digest = self.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .messages(viewed.value)
        }
    }

    /// The forms of a value that somebody is owed.
    private struct Wants {
        var snapshot = false
        var change = false
        var unchanged = false
    }

    /// Goes through the watches of a view that has been computed: who owes its stream what.
    @inline(__always)
    private mutating func distribute(_ view: Int32, _ digest: Digest, isNew: Bool) -> Wants {
        var wants = Wants()
        var call = self.views[view].firstWatch
        while call >= 0 {
            if self.calls[call].flags.contains(.isWaiting) {
                self.readyForFirst(call)
            } else if isNew {
                // A value that was owed and not taken is replaced, `unchanged` too: it no longer is. Where it has come
                // back to what was said last, nothing is owed any more.
                self.calls[call].flags.remove(.owesUnchanged)
                if !self.lateReaders.isEmpty, self.lateReaders[call] == digest {
                    self.lateReaders[call] = nil
                    self.calls[call].flags.remove(.owesValue)
                } else if !self.callTokens.isEmpty, self.callTokens[call]?.digest == digest {
                    // What it came with, before anything was said to it: it is owed an answer, and that is `unchanged`.
                    self.calls[call].flags.formUnion([.owesValue, .owesUnchanged])
                    self.ready(call)
                } else {
                    self.calls[call].flags.insert(.owesValue)
                    self.ready(call)
                }
            }
            if self.calls[call].flags.contains(.owesValue) {
                if self.calls[call].flags.contains(.owesUnchanged) {
                    wants.unchanged = true
                } else if self.calls[call].flags.contains(.isFirst) {
                    wants.snapshot = true
                } else {
                    wants.change = true
                }
            }
            call = self.calls[call].nextInTarget
        }
        return wants
    }

    /// A view is about to change: what was said to those who still owe the value before is remembered for them. Whoever
    /// owes it has its encodings.
    private mutating func rememberSaid(_ view: Int32) {
        guard self.views[view].encodings >= 0 else { return }
        let said = self.encodings(of: view).previousDigest
        var call = self.views[view].firstWatch
        while call >= 0 {
            let flags = self.calls[call].flags
            if flags.contains(.owesValue), !flags.contains(.isFirst), self.lateReaders[call] == nil {
                self.lateReaders[call] = said
            }
            call = self.calls[call].nextInTarget
        }
    }

    /// Whether somebody has to be given the value who has not been told it. `mutating` as `digest(of:_:)`.
    private mutating func hasWaiting(_ view: Int32) -> Bool {
        var call = self.views[view].firstWatch
        while call >= 0 {
            let flags = self.calls[call].flags
            if flags.contains(.isWaiting) { return true }
            // Somebody whose stream was full owes a value that was let go.
            if flags.contains(.owesValue), self.encoding(for: call, zlib: false).isNone { return true }
            call = self.calls[call].nextInTarget
        }
        return false
    }

    /// The name of a view in tokens.
    private func digest(of key: ViewKey, _ slot: ViewSlot) -> Digest {
        guard slot.account >= 0 else { return key.digest(app: slot.app, account: []) }
        let account = self.accounts[slot.account]
        return key.digest(
            app: slot.app, account: self.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount)))
    }

    /// A load failed: a state, not the end. The next good load pushes success.
    private mutating func failViews(of slot: Int32, _ refusal: Refusal) {
        var view = self.accounts[slot].firstView
        while view >= 0 {
            self.rememberSaid(view)
            self.views[view].hasFailed = true
            self.views[view].state = .empty
            let status = WireStatus(refusal)
            var info = ValueInfo()
            // Not `applied`: the next good value stands at the revision that made it, which may be older.
            let app = self.views[view].app
            info.position = Position(
                revision: max(self.views[view].position.revision, self.apps[app]?.revision ?? 0),
                asOf: self.clock(of: app))
            info.committed = self.now.wall
            let response = self.viewKeys[self.views[view].key].failed(status.failure, info)
            let previous = self.views[view].digest
            self.dropEncodings(view)
            let payload = self.encoded { codec throws(MessageError) in try codec.encode(response) }
            self.payloads.retain(payload)
            var encodings = Encodings()
            encodings.previousDigest = previous
            (encodings.snapshot, encodings.change) = (payload, payload)
            self.keepEncodings(view, encodings)
            self.views[view].digest = .zero
            var call = self.views[view].firstWatch
            while call >= 0 {
                self.readyForFirst(call)
                self.calls[call].flags.remove(.owesUnchanged)
                self.calls[call].flags.insert(.owesValue)
                self.ready(call)
                call = self.calls[call].nextInTarget
            }
            view = self.views[view].nextInAccount
        }
    }
}
