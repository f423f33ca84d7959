import PerchBase
import PerchModel
package import PerchStore
import PerchWire

// Fan-out: from the store's events to views computed once and watches with a pending value.
extension LoopCore {
    /// Applies the store's events of a tick, in commit order. Takes each out of the list, because iterating would copy
    /// it with all its references. The list is then empty and keeps its capacity.
    package mutating func handle(_ events: inout [StoreEvent]) {
        for place in events.indices {
            if place % Limits.prefetchedAtOnce == 0 { self.prefetch(events, from: place) }
            var event = StoreEvent.taken
            swap(&event, &events[place])
            self.handle(event)
        }
        events.removeAll(keepingCapacity: true)
    }

    /// Prefetches the data of the next events: an account, and the first of its views.
    private func prefetch(_ events: [StoreEvent], from start: Int) {
        let count = min(events.count - start, Limits.prefetchedAtOnce)
        guard count > 1 else { return }
        // As many as `Limits.prefetchedAtOnce`.
        var numbers = InlineArray<16, AccountNumber>(repeating: 0)
        var named = 0
        for index in 0..<count {
            guard case .change(let change) = events[start + index], let record = change.record else { continue }
            numbers[named] = record.account
            self.views.prefetchFirstLook(numbers[named])
            named += 1
        }
        var slots = InlineArray<16, Int32>(repeating: -1)
        for index in 0..<named {
            slots[index] = self.views.firstLook(numbers[index])
            if slots[index] >= 0 { self.views.accounts.prefetch(slots[index]) }
        }
        for index in 0..<named where slots[index] >= 0 {
            slots[index] = self.views.accounts[slots[index]].firstView
            if slots[index] >= 0 { self.views.slots.prefetch(slots[index]) }
        }
    }

    package mutating func handle(_ event: consuming StoreEvent) {
        switch consume event {
        case .change(let change): self.apply(change)
        case .answer(let number, let answer): self.answered(number, answer)
        case .barrier(let number): self.service.heldBarriers.append((number, self.service.askedCount))
        case .failed(let message): self.service.storeFailure = message
        }
    }

    /// Applies one committed change. An account without watches costs one lookup.
    private mutating func apply(_ change: Change) {
        precondition(
            change.revision == self.tables.applied + 1, "revision \(change.revision) came after \(self.tables.applied)")
        self.tables.applied = change.revision
        self.tables.counters.changesApplied += 1
        // The store may have read the clock after this tick began. Its decisions must not show as of an earlier
        // instant.
        self.tables.now.wall = max(self.tables.now.wall, change.committed)
        if !change.aliases.isEmpty { self.name(change.aliases) }
        // By index, because iterating would copy each element.
        if let record = change.record {
            var slot = self.views.firstOfNumber(record.account)
            while slot >= 0 {
                self.took(record, cause: change.cause, slot)
                if self.views.accounts[slot].firstUpdates >= 0, let first = change.first {
                    self.tookEvents(of: first, slot)
                }
                slot = self.views.accounts[slot].nextOfNumber
            }
        }
        for place in change.others.indices {
            var slot = self.views.firstOfNumber(change.others[place].record.account)
            while slot >= 0 {
                self.took(change.others[place].record, cause: change.others[place].cause, slot)
                if self.views.accounts[slot].firstUpdates >= 0 { self.tookEvents(of: change.others[place], slot) }
                slot = self.views.accounts[slot].nextOfNumber
            }
        }
        if let app = change.app { self.apply(app, cause: change.appCause) }
        if !self.views.appChanges.isEmpty { self.tookAppChange(change) }
        if !change.revoked.isEmpty { self.revoke(change.revoked) }
    }

    private mutating func name(_ aliases: [(key: AccountKey, account: AccountNumber)]) {
        for (key, account) in aliases {
            let slot = self.views.findAccount(key)
            if slot >= 0 { self.views.setNumber(slot, account) }
        }
    }

    /// An account's record arrived: all its views are computed at the end of the tick.
    private mutating func took(_ record: AccountRecord?, cause: Cause, _ slot: Int32) {
        if self.views.accounts[slot].news < 0 {
            self.views.accounts[slot].news = Int32(self.views.listedAccounts.count)
            self.views.listedAccounts.append(slot)
            self.views.news.append(AccountNews(record: record, cause: cause))
        } else {
            let place = Int(self.views.accounts[slot].news)
            self.views.news[place].record = record
            if cause != .unspecified { self.views.news[place].cause = cause }
        }
        var view = self.views.accounts[slot].firstView
        while view >= 0 {
            self.listView(view)
            view = self.views.slots[view].nextInAccount
        }
    }

    /// An app changed. Products are computed at once. Records of dependent views are requested again, a bounded number
    /// a tick, and no bookmark passes this revision before all are done.
    private mutating func apply(_ app: AppState, cause: Cause) {
        let before = self.tables.apps[app.number]
        self.tables.apps[app.number] = app
        guard let before else { return }
        let catalogueChanged = before.catalogueRevision != app.catalogueRevision
        // The model decides which settings affect a view; an equal value is not sent.
        if catalogueChanged || before.settings != app.settings {
            var view: Int32 = 0
            while view < self.views.slots.extent {
                if self.views.slots.isTaken(view), self.views.slots[view].app == app.number {
                    self.views.slots[view].pendingCause = catalogueChanged ? .catalog : .setting
                    if self.views.slots[view].account < 0 {
                        self.listView(view)
                    } else {
                        self.views.sweep.append(self.views.slots[view].account)
                    }
                }
                view += 1
            }
        }
        if cause == .clock { self.raiseCrossings(of: app.number, cause: .clock) }
    }

    /// Maximum number of records requested in one tick after an app changed.
    private static let sweepPerTurn = 1_024

    mutating func sweepOn() {
        guard !self.views.sweep.isEmpty else { return }
        let count = min(Self.sweepPerTurn, self.views.sweep.count)
        for slot in self.views.sweep.suffix(count) where self.views.accounts.isTaken(slot) { self.askForRecord(slot) }
        self.views.sweep.removeLast(count)
        self.views.sweptThrough = self.service.askedCount
    }

    /// Whether data of an applied revision is still on its way to its watches.
    var isSweeping: Bool { !self.views.sweep.isEmpty || self.service.answeredCount < self.views.sweptThrough }

    private mutating func answered(_ number: UInt64, _ answer: consuming StoreAnswer) {
        switch self.redeem(number) {
        case .account(let slot, let generation):
            self.service.answeredCount += 1
            guard self.views.accounts.isTaken(slot, generation: generation) else { return }
            self.views.accounts[slot].isAsked = false
            switch answer {
            case .record(let record):
                if let record { self.views.setNumber(slot, record.account) }
                self.loadedAgain(slot)
                // The record in a change of this tick is equally new, and has its cause.
                self.took(record, cause: .unspecified, slot)
            case .refused(let refusal):
                self.failViews(of: slot, refusal)
            default:
                preconditionFailure("a record was asked for")
            }
        case .call(let call, let generation):
            guard self.tables.calls.isTaken(call, generation: generation) else { return }
            switch self.tables.calls[call].state {
            case .order: self.finishOrder(call, answer)
            case .unary: self.finishUnary(call, answer)
            case .watch, .updates, .appChanges, .several, .ending: return
            }
        case .updates(let call, let generation):
            guard self.tables.calls.isTaken(call, generation: generation), self.tables.calls[call].isFeed else {
                return
            }
            self.finishUpdates(call, answer)
        case .look:
            self.finishAppSearch(answer)
        }
    }

    /// Computes every listed view, once.
    mutating func computeViews() {
        var index = 0
        while index < self.views.listedViews.count {
            let view = self.views.listedViews[index]
            index += 1
            self.prefetchWatch(after: index)
            guard self.views.slots.isTaken(view), self.views.slots[view].isListed else { continue }
            self.views.slots[view].isListed = false
            self.compute(view)
        }
        self.views.listedViews.removeAll(keepingCapacity: true)
        for slot in self.views.listedAccounts where self.views.accounts.isTaken(slot) {
            self.views.accounts[slot].news = -1
        }
        self.views.listedAccounts.removeAll(keepingCapacity: true)
        self.views.news.removeAll(keepingCapacity: true)
    }

    /// Prefetches the watch two views ahead, and the connection of the one after the next.
    @inline(__always)
    private func prefetchWatch(after index: Int) {
        let last = self.views.listedViews.count - 1
        let (near, far) = (self.views.listedViews[min(index + 1, last)], self.views.listedViews[min(index + 2, last)])
        if self.views.slots.isTaken(far) {
            if self.views.slots[far].firstWatch >= 0 { self.tables.calls.prefetch(self.views.slots[far].firstWatch) }
            if self.views.slots[far].account >= 0 { self.views.accounts.prefetch(self.views.slots[far].account) }
        }
        guard self.views.slots.isTaken(near) else { return }
        let (watch, account) = (self.views.slots[near].firstWatch, self.views.slots[near].account)
        if watch >= 0 { self.tables.connections.prefetch(self.tables.calls[watch].connection) }
        if account >= 0 { self.views.accountKeys.prefetch(self.views.accounts[account].keyPlace) }
    }

    /// Computes one view at `applied` and the app's clock. An equal value is not sent.
    private mutating func compute(_ view: Int32) {
        let slot = self.views.slots[view]
        guard let app = self.tables.apps[slot.app] else { preconditionFailure("a view of an app that is gone") }
        let now = app.clock.now(wall: self.tables.now.wall)
        self.tables.counters.viewsComputed += 1
        var record: AccountRecord?
        var recordCause = Cause.unspecified
        if slot.account >= 0 {
            let place = self.views.accounts[slot.account].news
            guard place >= 0 else {
                self.askForRecord(slot.account)
                return
            }
            record = self.views.news[Int(place)].record
            recordCause = self.views.news[Int(place)].cause
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

        let key = self.views.viewKeys[slot.key]
        var crossing: Instant?
        var digest = Digest.zero
        let value = self.value(of: key, record, app, at: now, &info, &crossing, digest: &digest)
        self.setCrossing(view, crossing ?? .distantFuture)
        self.catchUpWithClock(view)

        let isNew = slot.state != .ready || slot.digest != digest || slot.hasFailed
        let needsFirst = self.hasWaiting(view)
        self.views.slots[view].pendingCause = .unspecified
        if !isNew, !needsFirst { return }
        if !isNew {
            // The value is unchanged for its watches, but a new watch needs it and the encodings were freed.
            info.position = Position(
                revision: max(slot.position.revision, revision), asOf: max(slot.position.asOf, now))
        }
        let cause = isNew ? Self.cause(of: recordCause, slot) : slot.cause
        let token = ResumeToken(
            store: self.tables.identity, epoch: self.tables.epoch, app: slot.app, view: self.digest(of: slot),
            position: info.position, digest: digest)
        let previous = isNew ? slot.digest : self.encodings(of: view).previousDigest
        if isNew { self.rememberSaid(view) }
        self.dropEncodings(view)
        self.views.slots[view].state = .ready
        self.setFailed(view, false)
        self.views.slots[view].digest = digest
        self.views.slots[view].position = info.position
        self.views.slots[view].cause = cause

        let wants = self.distribute(view, digest, isNew: isNew)
        self.encode(
            view, key, value, &info, token, cause: cause, previous: previous,
            snapshot: wants.snapshot || self.views.slots[view].watchCount > 1, change: wants.change,
            unchanged: wants.unchanged)
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
        _ crossing: inout Instant?, digest: inout Digest
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
            digest = self.tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            if viewed.value.statuses.isEmpty, !group.isEmpty { info.isNotInCatalog = app.catalogue.group(group) == nil }
            return .statuses(viewed.value)
        case .entitlement(let product, _):
            var outlook = Outlook()
            let shown = entitlement(of: record, toProduct: product, app: app, at: now, noting: &outlook)
            digest = self.tables.codec.digest(of: shown)
            (crossing, info.forecast) = (outlook.nextCrossing, outlook.forecast)
            if shown == nil { info.isNotInCatalog = app.catalogue.product(product) == nil }
            return .entitlement(shown)
        case .products(let ids, let locale, let storefront):
            let shown = products(ids, locale: locale, storefront: storefront, app: app)
            digest = self.tables.codec.digest(of: shown)
            return .products(shown)
        case .intents:
            let viewed = purchaseIntents(of: record)
            digest = self.tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .intents(viewed.value)
        case .entitlements:
            let viewed = namedEntitlements(of: record, app: app, at: now)
            digest = self.tables.codec.digest(of: viewed.value)
            (crossing, info.forecast) = (viewed.nextCrossing, viewed.forecast)
            return .entitlements(viewed.value)
        case .messages:
            let viewed = storeMessages(of: record, app: app, at: now)
            digest = self.tables.codec.digest(of: viewed.value)
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
    private mutating func distribute(_ view: Int32, _ digest: Digest, isNew: Bool) -> Wants {
        var wants = Wants()
        var call = self.views.slots[view].firstWatch
        while call >= 0 {
            if self.tables.calls[call].flags.contains(.isWaiting) {
                self.readyForFirst(call)
            } else if isNew {
                // The new value replaces an unsent one, including `unchanged`. If the value equals the last one sent,
                // nothing is pending.
                self.tables.calls[call].flags.remove(.owesUnchanged)
                if !self.views.lateReaders.isEmpty, self.views.lateReaders[call] == digest {
                    self.views.lateReaders[call] = nil
                    self.tables.calls[call].flags.remove(.owesValue)
                } else if !self.tables.callTokens.isEmpty, self.tables.callTokens[call]?.digest == digest {
                    // The value equals the watch's token, and nothing was sent yet: the answer is `unchanged`.
                    self.tables.calls[call].flags.formUnion([.owesValue, .owesUnchanged])
                    self.transport.ready(call, &self.tables)
                } else {
                    self.tables.calls[call].flags.insert(.owesValue)
                    self.transport.ready(call, &self.tables)
                }
            }
            if self.tables.calls[call].flags.contains(.owesValue) {
                if self.tables.calls[call].flags.contains(.owesUnchanged) {
                    wants.unchanged = true
                } else if self.tables.calls[call].flags.contains(.isFirst) {
                    wants.snapshot = true
                } else {
                    wants.change = true
                }
            }
            call = self.tables.calls[call].nextInTarget
        }
        return wants
    }

    /// Before a view changes, stores the last sent digest for the watches with a pending value. Their encodings are
    /// kept.
    mutating func rememberSaid(_ view: Int32) {
        guard self.views.slots[view].encodings >= 0 else { return }
        let said = self.encodings(of: view).previousDigest
        var call = self.views.slots[view].firstWatch
        while call >= 0 {
            let flags = self.tables.calls[call].flags
            if flags.contains(.owesValue), !flags.contains(.isFirst), self.views.lateReaders[call] == nil {
                self.views.lateReaders[call] = said
            }
            call = self.tables.calls[call].nextInTarget
        }
    }

    /// Whether a watch waits for the value that has not received it. `mutating`, like `digest(of:_:)`.
    mutating func hasWaiting(_ view: Int32) -> Bool {
        var call = self.views.slots[view].firstWatch
        while call >= 0 {
            let flags = self.tables.calls[call].flags
            if flags.contains(.isWaiting) { return true }
            // A watch with a full stream has a pending value whose encoding was freed.
            if flags.contains(.owesValue), self.encoding(for: call, zlib: false).isNone { return true }
            call = self.tables.calls[call].nextInTarget
        }
        return false
    }

    /// The digest of a view in tokens.
    private func digest(of slot: ViewSlot) -> Digest {
        guard slot.account >= 0 else {
            return self.views.viewKeys.digest(
                of: slot.key, app: slot.app, account: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        let account = self.views.accounts[slot.account]
        return self.views.viewKeys.digest(
            of: slot.key, app: slot.app,
            account: self.views.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount)))
    }
}
