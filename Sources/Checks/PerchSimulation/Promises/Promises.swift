package import PerchBase
import PerchModel
import PerchSQLite
import PerchStore
package import PerchWire

/// Checks the messages of a connection against the promises of a stream: ordered, unique, reliable, atomic, resumable,
/// bookmarkable, and events exactly once. Each breach is a sentence in `breaches`.
package struct Promises {
    package private(set) var breaches: [String] = []

    package init() {}

    package mutating func breach(_ promise: String, _ what: @autoclosure () -> String) {
        self.breaches.append("\(promise): \(what())")
    }

    private mutating func require(_ isKept: Bool, _ promise: String, _ what: @autoclosure () -> String) {
        if !isKept { self.breach(promise, what()) }
    }

    // MARK: A restart

    /// Checks a server that starts on the files of a dead one: every commit is present, and time continues. `committed`
    /// is the last commit that the dead server had confirmed, `wall` the last time on its clock.
    package mutating func restarted(_ world: World, committed: UInt64, wall: Instant) {
        do throws(StorageError) {
            let revision = try world.storage.header().revision
            self.require(
                revision >= committed, "durable", "revision \(committed) was committed, \(revision) is there")
            for difference in try world.history.differences(from: world.storage, SimulatedCustomer.accounts) {
                self.breach("durable", "after a restart \(difference)")
            }
            if let storage = world.storage as? SQLiteStorage {
                for finding in try storage.findings() { self.breach("durable", "SQLite finds: \(finding)") }
            }
        } catch {
            self.breach("durable", "after a restart the store cannot be read: \(error)")
        }
        self.require(world.wall >= wall, "ordered", "the clock showed \(wall), after a restart it shows \(world.wall)")
    }

    // MARK: State streams

    package mutating func heard<Value>(
        _ state: TaskState<Value>, _ wrap: (Value) -> SeenValue, on watch: SeenWatch, _ world: World
    ) {
        defer { watch.messageCount += 1 }
        if watch.messageCount == 0 { watch.revisionAtFirst = world.history.revision }
        switch state {
        case .loading:
            self.require(
                watch.messageCount == 0 && !watch.hadToken, "loading",
                "came as message \(watch.messageCount) of a call with\(watch.hadToken ? "" : "out") a token")
        case .failure(let failure, _):
            self.breach("reliable", "a failure, though nothing failed: \(failure)")
        case .success(let value, let info):
            self.heard(wrap(value), info, on: watch, world)
        case .unchanged(let info):
            self.require(
                watch.messageCount == 0 && watch.hadToken, "resumable",
                "unchanged came as message \(watch.messageCount)")
            self.checkPosition(info, watch, world)
            let value = world.history.value(of: watch.subject, at: info.position.revision, asOf: info.position.asOf)
            self.require(
                value == watch.value, "resumable",
                "unchanged at \(info.position), but \(watch.subject) was \(told(watch.value)) and is \(told(value))")
            watch.said = watch.value
            watch.position = info.position
            watch.token = info.token
            watch.tokenPosition = info.position
        }
    }

    private mutating func heard(_ value: SeenValue, _ info: ValueInfo, on watch: SeenWatch, _ world: World) {
        self.checkPosition(info, watch, world)
        self.require(watch.said != value, "unique", "\(watch.subject) was said twice in a row: \(told(value))")
        let truth = world.history.value(of: watch.subject, at: info.position.revision, asOf: info.position.asOf)
        self.require(
            value == truth, "reliable",
            "\(watch.subject) at \(info.position) is \(told(truth)), said was \(told(value))")
        let isFirst = watch.said == nil
        self.require(
            (info.cause == .snapshot) == isFirst && info.cause != .unspecified, "cause",
            "\(isFirst ? "the first value" : "a change") of \(watch.subject) tells \(info.cause)")
        watch.said = value
        watch.value = value
        watch.position = info.position
        watch.token = info.token
        watch.tokenPosition = info.position
    }

    /// An app's clock is never below an instant that a client has seen, whatever froze or moved it since.
    package mutating func heardInstant(_ instant: Instant, of what: String, _ world: World) {
        let clock = world.history.clock(at: world.history.revision, wall: world.latestWall)
        self.require(instant <= clock, "ordered", "\(what) showed the instant \(instant), and the clock is at \(clock)")
    }

    private mutating func checkPosition(_ info: ValueInfo, _ watch: SeenWatch, _ world: World) {
        let position = info.position
        self.heardInstant(position.asOf, of: "\(watch.subject)", world)
        self.require(
            position.revision >= watch.position.revision && position.asOf >= watch.position.asOf, "ordered",
            "\(watch.subject) came at \(position) after \(watch.position)")
        self.require(
            !watch.hadToken || position >= watch.tokenPosition, "ordered",
            "\(watch.subject) came at \(position) upon a token of \(watch.tokenPosition)")
        self.require(
            position.revision <= world.history.revision, "durable",
            "\(watch.subject) came at \(position), committed is \(world.history.revision)")
        self.require(
            info.committed == world.history.commitTimes[position.revision] || position.revision == 1, "committed",
            "\(watch.subject) at \(position) was committed \(info.committed)")
        guard let token = try? ResumeToken(info.token) else {
            self.breach("resumable", "the token of \(watch.subject) cannot be read")
            return
        }
        let isSame = token.position.revision == position.revision && token.position.asOf == position.asOf
        self.require(isSame && token.app == 1, "resumable", "the token stands at \(token.position)")
        self.require(
            token.epoch == position.epoch, "resumable", "the token is of epoch \(token.epoch), not \(position.epoch)")
    }

    // MARK: Groups and bookmarks

    /// Checks a BEAT on a connection with these open watches.
    package mutating func heard(_ beat: Beat, after last: UInt64, _ watches: [SeenWatch], _ world: World) {
        let revision = beat.revision
        self.require(revision >= last, "bookmarkable", "beat \(revision) after beat \(last)")
        self.require(revision <= world.history.revision, "durable", "beat \(revision) of \(world.history.revision)")
        let open = watches.filter { $0.stream != nil && $0.said != nil }
        // At one revision, the beat's or a newer one, every watch has sent its value.
        let agreed = (revision...max(revision, world.history.revision)).first { candidate in
            open.allSatisfy { self.isSaid($0, at: candidate, world) }
        }
        if agreed == nil {
            let dirty = open.filter { !self.isSaid($0, at: revision, world) }
            self.breach(
                dirty.isEmpty ? "atomic" : "bookmarkable",
                "at beat \(revision) no revision fits all watches; not said at \(revision): \(dirty.map(\.subject))")
        }
        self.checkOneInstant(open.filter { !$0.isUpdates }, beat, world)
        for watch in watches where watch.isUpdates && watch.stream != nil && watch.hasMarker && watch.messageCount > 0 {
            guard case .updates(let account) = watch.subject, let start = watch.start else { continue }
            let from = EventPlace(revision: max(start.revision, watch.revisionAtFirst), ordinal: .max)
            let due = world.history.events(of: world.history.key(account))
                .filter { $0.place > from && $0.place.revision <= revision }.map(\.place)
            if let missing = due.first(where: { $0 > (watch.place ?? start) }) {
                self.breach("bookmarkable", "beat \(revision) passed event \(missing) of \(account)")
            }
        }
    }

    /// At a beat every watch has said its value of one revision and one instant: those of the beat.
    private mutating func checkOneInstant(_ open: [SeenWatch], _ beat: Beat, _ world: World) {
        let history = world.history
        let instant = history.clock(at: beat.revision, wall: beat.serverTime)
        let late = open.filter { history.value(of: $0.subject, at: beat.revision, asOf: instant) != $0.said }
        self.require(
            late.isEmpty, "atomic",
            "at beat \(beat.revision) the clock is at \(instant), and what was said no longer holds: "
                + late.map { "\($0.subject) at \($0.position)" }.joined(separator: ", "))
    }

    private func isSaid(_ watch: SeenWatch, at revision: UInt64, _ world: World) -> Bool {
        let history = world.history
        if history.revisionOfState(watch.subject, at: revision) <= watch.position.revision {
            // Its inputs are from that revision, unless it is from a later one.
            return history.revisionOfState(watch.subject, at: revision) == watch.position.revision
                || history.value(of: watch.subject, at: revision, asOf: watch.position.asOf) == watch.said
        }
        if history.value(of: watch.subject, at: revision, asOf: watch.position.asOf) == watch.said { return true }
        let now = history.clock(at: revision, wall: world.wall)
        return history.value(of: watch.subject, at: revision, asOf: now) == watch.said
    }

    // MARK: Events

    package mutating func heard(_ event: TransactionEvent, on watch: SeenWatch, _ world: World) {
        guard case .updates(let account) = watch.subject else { preconditionFailure("an event on \(watch.subject)") }
        if watch.messageCount == 0 { watch.revisionAtFirst = world.history.revision }
        watch.messageCount += 1
        if event.kind == .unfinished {
            self.require(!watch.hadToken && !watch.hasMarker, "events", "an unfinished one after the marker")
            self.require(event.cursor.isEmpty, "events", "an unfinished one has a cursor")
            guard let id = event.transaction?.value.id else { return }
            self.require(!watch.unfinished.contains(id), "events", "unfinished \(id) came twice")
            watch.unfinished.append(id)
            return
        }
        guard let cursor = try? EventCursor(event.cursor) else {
            self.breach("events", "a cursor cannot be read")
            return
        }
        let place = EventPlace(revision: cursor.revision, ordinal: cursor.ordinal)
        watch.token = event.cursor
        guard let transaction = event.transaction?.value else {
            if watch.hadToken {
                self.require(
                    watch.messageCount == 1, "events", "a marker as message \(watch.messageCount) after a cursor")
                self.require(place == watch.place, "events", "the marker \(place) is not the cursor that was sent")
                return
            }
            self.require(!watch.hasMarker, "events", "a second marker")
            watch.hasMarker = true
            watch.start = place
            watch.place = place
            self.checkUnfinished(watch, account, place, world)
            return
        }
        self.require(
            watch.hasMarker && !(watch.hadToken && watch.messageCount == 1), "events", "an event before the marker")
        self.require(
            watch.place.map { place > $0 } ?? false, "events",
            "event \(place) of \(account) after \(String(describing: watch.place))")
        watch.place = place
        watch.events.append(place)
        let truth = world.history.events(of: world.history.key(account)).first { $0.place == place }
        self.require(
            truth.map { $0.transaction == transaction && $0.kind == event.kind && $0.origin == event.originClientID }
                ?? false, "events", "event \(place) of \(account) is \(String(describing: truth)), said \(event)")
    }

    /// Every transaction unfinished then and now was listed, and none from after the marker.
    private mutating func checkUnfinished(_ watch: SeenWatch, _ account: String, _ start: EventPlace, _ world: World) {
        let bought = world.history.events(of: world.history.key(account))
            .filter { $0.kind == .purchased || $0.kind == .renewed }
        for event in bought {
            let id = event.transaction.id
            let isListed = watch.unfinished.contains(id)
            let isFinished = (try? world.storage.transaction(world.app, id))?.isFinished ?? true
            if event.place <= start {
                self.require(isListed || isFinished, "events", "unfinished \(id) of \(account) was left out")
            } else {
                self.require(!isListed, "events", "\(id) is newer than the marker, and was listed as unfinished")
            }
        }
    }

    // MARK: At rest

    /// Whether a watch waits for an instant that a frozen clock never comes to: it was shown without a lease.
    package func mayWaitForGood(_ watch: SeenWatch, _ world: World) -> Bool {
        let now = world.history.clock(at: world.history.revision, wall: world.wall)
        return world.hasEverRunUnleased && watch.said == nil && !watch.hasMarker && watch.awaited > now
    }

    /// At rest every open watch has the newest value, and every stream the last event.
    package mutating func checkAtRest(_ watches: [SeenWatch], _ world: World) {
        let revision = world.history.revision
        let now = world.history.clock(at: revision, wall: world.wall)
        for watch in watches where watch.stream != nil {
            if self.mayWaitForGood(watch, world) { continue }
            guard case .updates(let account) = watch.subject else {
                let truth = world.history.value(of: watch.subject, at: revision, asOf: now)
                self.require(
                    watch.said == truth, "reliable",
                    "at rest \(watch.subject) is \(told(truth)), last said at \(watch.position): \(told(watch.said))")
                continue
            }
            self.require(watch.hasMarker, "events", "no marker came for \(account)")
            guard let start = watch.start else { continue }
            let due = world.history.events(of: world.history.key(account)).map(\.place).filter { $0 > start }
            self.require(
                watch.events == due, "events",
                "at rest \(account) had \(due.count) events after \(start), heard were \(watch.events.count)")
        }
    }
}

private func told(_ value: SeenValue?) -> String {
    switch value {
    case nil: "nothing"
    case .statuses(let statuses):
        statuses.statuses.map {
            "\($0.state) \($0.transaction.value.id) until \($0.renewalInfo.value.renewalDate) renews \($0.renewalInfo.value.willAutoRenew) as \($0.renewalInfo.value.autoRenewPreference ?? "-") at \($0.renewalInfo.value.renewalPrice?.milliunits ?? 0)"
        }.joined(separator: ", ") + " [\(statuses.effectiveIndex ?? -1)]"
    case .entitlement(let transaction): "\(transaction?.value.id ?? 0)"
    case .intents(let intents): "intents \(intents.map(\.id))"
    case .messages(let messages): messages.map { "\($0.reason) since \($0.since)" }.joined(separator: ", ")
    case .products(let products):
        products.products.map { "\($0.id) \($0.displayName) \($0.displayPrice)" }.joined(separator: ", ")
    }
}
