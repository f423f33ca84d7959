import PerchApple
package import PerchBase
import PerchJSON
package import PerchModel
import PerchStore

/// A notification to deliver.
package struct TwinDelivery: Sendable {
    package let app: AppNumber
    package let uuid: String
    package let payload: String

    /// The body of the request: `{"signedPayload": …}`.
    package var body: [UInt8] { TwinResponse { $0.member("signedPayload", self.payload) }.body }
}

/// What is remembered of an outbox for the next start, as a line of JSON.
package enum OutboxNote: Hashable, Sendable {
    /// Notifications are to be delivered after this place.
    case begins(app: String, ChangePlaceText)
    /// `payload`: with the first attempt of a notification that has another one, the signed bytes of all of them.
    case attempt(app: String, uuid: String, SendAttempt, payload: String?)
    /// A mishap has lost it.
    case lost(app: String, uuid: String)

    /// The bundle identifier of the app.
    var app: String {
        switch self {
        case .begins(let app, _), .attempt(let app, _, _, _), .lost(let app, _): app
        }
    }

    package var line: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", self.app)
        switch self {
        case .begins(_, let place):
            writer.member("after", place.text)
        case .attempt(_, let uuid, let attempt, let payload):
            writer.member("uuid", uuid)
            writer.member("at", attempt.at.milliseconds)
            writer.member("result", attempt.result.rawValue)
            if let payload { writer.member("payload", payload) }
        case .lost(_, let uuid):
            writer.member("lost", uuid)
        }
        writer.endObject()
        guard let bytes = try? writer.finish() else { preconditionFailure("a line is as long as a notification") }
        return bytes + [UInt8(ascii: "\n")]
    }

    /// Nil for a line that is damaged: a crash may have cut off the last one.
    package init?(line: [UInt8]) {
        guard let value = try? JSONReader.read(line), value.members != nil, let app = value["app"]?.string else {
            return nil
        }
        if let place = value["after"]?.string.flatMap({ ChangePlaceText($0) }) {
            self = .begins(app: app, place)
        } else if let uuid = value["lost"]?.string {
            self = .lost(app: app, uuid: uuid)
        } else if let uuid = value["uuid"]?.string, let at = value["at"]?.integer,
            let result = value["result"]?.string.flatMap({ SendAttemptResult(rawValue: $0) })
        {
            let attempt = SendAttempt(at: Instant(milliseconds: at), result: result)
            self = .attempt(app: app, uuid: uuid, attempt, payload: value["payload"]?.string)
        } else {
            return nil
        }
    }
}

/// A place in the changes of an app, as a text.
package struct ChangePlaceText: Hashable, Sendable {
    let place: ChangePlace

    init(_ place: ChangePlace) { self.place = place }

    init?(_ text: String) {
        let parts = text.split(separator: " ").map { String($0) }
        guard parts.count == 4, let revision = UInt64(parts[0]), let ordinal = UInt32(parts[1]),
            let milliseconds = Int64(parts[2]), let account = AccountNumber(parts[3])
        else { return nil }
        self.place = ChangePlace(
            revision: revision, ordinal: ordinal,
            crossing: DueEntry(instant: Instant(milliseconds: milliseconds), account: account))
    }

    var text: String {
        let crossing = self.place.crossing
        return "\(self.place.revision) \(self.place.ordinal) \(crossing.instant.milliseconds) \(crossing.account)"
    }
}

/// The delivery of an app's notifications.
struct Delivering {
    var outbox: TwinOutbox
    /// What was added to the outbox, or happened before it began; nil: it has not begun.
    var through: ChangePlace?
    /// The place that was noted last.
    var noted: ChangePlace?
    /// The app's clock.
    var clock: AppClock?
    /// Payloads of test notifications, by UUID, oldest first.
    var tests: [(uuid: String, payload: String)] = []
}

extension TwinDesk {
    /// Identity and epoch of the store, as a name of its own.
    package var storeText: String { ContentHash(of: self.store).description }

    /// Begins to deliver, after what an earlier process has noted of this store.
    package func deliver(after notes: [OutboxNote]) {
        let notes = Dictionary(grouping: notes, by: \.app)
        for app in self.apps {
            let own = notes[app.bundleID] ?? []
            var place: ChangePlace?
            for note in own { if case .begins(_, let begins) = note { place = begins.place } }
            self.deliveries[app.number] = Delivering(outbox: TwinOutbox(own), through: place, noted: place)
        }
    }

    /// Everything that the next start must know.
    package var notes: [OutboxNote] {
        self.apps.flatMap { app -> [OutboxNote] in
            guard let delivering = self.deliveries[app.number] else { return [] }
            let place = delivering.noted.map { OutboxNote.begins(app: app.bundleID, ChangePlaceText($0)) }
            return delivering.outbox.notes(app: app.bundleID) + [place].compactMap { $0 }
        }
    }

    /// Reads what has happened since, and puts it into the outboxes. Its answer says nothing. `note`: for the next start.
    package func look(at app: TwinApp, wall: Instant, note: @escaping (OutboxNote) -> Void) -> TwinStep {
        guard let delivering = self.deliveries[app.number] else { return .answer(TwinResponse(status: 200)) }
        // First of all, so that what a server is asked as soon as it runs is delivered too.
        guard delivering.through != nil else { return self.begin(app, note) }
        // An account that cannot be: its answer has the app.
        return .ask(.history(AccountKey(app: app.number, bytes: [0]), nil)) { answer throws(TwinError) in
            guard case .history(let history) = answer else { throw .generalRetryable }
            self.deliveries[app.number]?.clock = history.app.clock
            return self.fill(app, now: history.app.clock.now(wall: wall), note)
        }
    }

    /// A backend is told of what happens from now on.
    private func begin(_ app: TwinApp, _ note: @escaping (OutboxNote) -> Void) -> TwinStep {
        .ask(.changes(ChangesAsked(app: app.number, start: .now))) { answer throws(TwinError) in
            guard case .changes(let page) = answer else { throw .generalRetryable }
            self.deliveries[app.number]?.through = page.through
            self.noteProgress(of: app, note)
            return .answer(TwinResponse(status: 200))
        }
    }

    /// Adds what has happened, as far as there is room.
    private func fill(_ app: TwinApp, now: Instant, _ note: @escaping (OutboxNote) -> Void) -> TwinStep {
        guard let delivering = self.deliveries[app.number], let through = delivering.through,
            delivering.outbox.hasRoom
        else { return .answer(TwinResponse(status: 200)) }
        return self.fill(app, from: .after(through), now: now, note)
    }

    private func fill(
        _ app: TwinApp, from start: ChangesAsked.Start, now: Instant, _ note: @escaping (OutboxNote) -> Void
    ) -> TwinStep {
        .ask(.changes(ChangesAsked(app: app.number, start: start))) { answer throws(TwinError) in
            switch answer {
            case .changes(let page):
                var writer = NoticeWriter(store: self.store)
                for entry in page.entries { writer.add(entry) }
                for notice in writer.notices {
                    let item = OutboxItem(uuid: notice.uuid, place: notice.place, content: .notice(notice))
                    if self.deliveries[app.number]?.outbox.add(item, now: now) == false {
                        note(.lost(app: app.bundleID, uuid: notice.uuid))
                    }
                }
                self.deliveries[app.number]?.through = page.through
                if !page.entries.isEmpty { self.noteProgress(of: app, note) }
                return page.isComplete ? .answer(TwinResponse(status: 200)) : self.fill(app, now: now, note)
            case .refused(let refusal) where refusal.reason == .cursorTooOld && start != .oldest:
                // Nothing was delivered for long: what happened meanwhile is sent as far as the changes reach back.
                return self.fill(app, from: .oldest, now: now, note)
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("changes were asked for")
            }
        }
    }

    /// Notes how far each notification was tried: the next start need not look further back.
    private func noteProgress(of app: TwinApp, _ note: (OutboxNote) -> Void) {
        guard let delivering = self.deliveries[app.number], let through = delivering.through,
            let place = delivering.outbox.settled(through: through), place != delivering.noted
        else { return }
        self.deliveries[app.number]?.noted = place
        note(.begins(app: app.bundleID, ChangePlaceText(place)))
    }

    /// What is to be sent now; one at a time of each app.
    package func nextDelivery(wall: Instant) -> TwinDelivery? {
        for app in self.apps {
            guard let clock = self.deliveries[app.number]?.clock,
                let item = self.deliveries[app.number]?.outbox.next(now: clock.now(wall: wall))
            else { continue }
            let payload =
                switch item.content {
                case .notice(let notice):
                    self.signer.signAgain(notice.payload(bundleID: app.bundleID, signer: self.signer))
                case .signed(let payload): payload
                }
            return TwinDelivery(app: app.number, uuid: item.uuid, payload: payload)
        }
        return nil
    }

    /// An attempt has ended.
    package func delivered(
        _ delivery: TwinDelivery, _ result: SendAttemptResult, wall: Instant, note: (OutboxNote) -> Void
    ) {
        guard let app = self.apps.first(where: { $0.number == delivery.app }),
            let clock = self.deliveries[app.number]?.clock
        else { preconditionFailure("what no app has was delivered") }
        let attempt = SendAttempt(at: clock.now(wall: wall), result: result)
        let ended = self.deliveries[app.number]?.outbox.ended(attempt, payload: delivery.payload, app: app.bundleID)
        if let ended { note(ended) }
        self.noteProgress(of: app, note)
    }

    /// Lets something go wrong with the next notifications of an app. What has happened until now is no part of them. `then` is told how
    /// many mishaps wait; nil: too many, or the app has no deliveries.
    package func order(
        _ mishap: DeliveryMishap, for app: TwinApp, wall: Instant, note: @escaping (OutboxNote) -> Void,
        then: @escaping (Int?) -> Void
    ) -> TwinStep {
        self.following(self.look(at: app, wall: wall, note: note)) {
            guard let count = self.deliveries[app.number]?.outbox.mishapCount, count < Limits.twinMishapsMax else {
                return then(nil)
            }
            self.deliveries[app.number]?.outbox.add(mishap)
            then(count + 1)
        }
    }

    /// Whether further notifications of an app wait, because many came behind one that a mishap delays.
    package func isHeldUp(_ app: TwinApp) -> Bool { self.deliveries[app.number]?.outbox.isHeldUp == true }

    package static func heldUp(_ app: TwinApp) -> String {
        "\(Limits.twinUntriedMax) notifications of \(printable(app.bundleID)) came behind one that a mishap delays, and further ones wait for it; "
            + "advance the app's clock to when it is due"
    }

    /// Whether notifications of an app are delivered.
    package func delivers(_ app: TwinApp) -> Bool { self.deliveries[app.number] != nil }

    /// Does something after the last question of a step.
    private func following(_ step: TwinStep, _ work: @escaping () -> Void) -> TwinStep {
        switch step {
        case .answer:
            work()
            return step
        case .ask(let body, let then):
            return .ask(body) { answer throws(TwinError) in
                let next: TwinStep
                do throws(TwinError) {
                    next = try then(answer)
                } catch {
                    // The store is out of reach: the mishap waits all the same.
                    work()
                    throw error
                }
                return self.following(next, work)
            }
        }
    }

    // MARK: Tests

    func requestTest(_ call: Call) throws(TwinError) -> TwinStep {
        guard self.deliveries[call.app.number] != nil, call.request.host != .production else { throw .noTestURL }
        return .ask(.history(AccountKey(app: call.app.number, bytes: [0]), nil)) { answer throws(TwinError) in
            guard case .history(let history) = answer else { throw .generalRetryable }
            let state = history.app
            let now = state.clock.now(wall: call.wall)
            self.testCount += 1
            let name = Array("test \(call.wall.milliseconds) \(self.testCount)".utf8)
            let uuid = UUIDText.of(ContentHash(of: self.store + name).bytes)
            let payload = PayloadWriter.notification(
                OutgoingNotification(
                    type: "TEST", uuid: uuid, signedDate: now, bundleID: call.app.bundleID,
                    content: .data(transaction: nil, renewalInfo: nil, status: nil, consumptionReason: nil)))
            let signed = self.signer.signAgain(payload)
            if self.deliveries[call.app.number]?.tests.count ?? 0 >= Limits.twinTestsKept {
                self.deliveries[call.app.number]?.tests.removeFirst()
            }
            self.deliveries[call.app.number]?.clock = state.clock
            self.deliveries[call.app.number]?.tests.append((uuid, signed))
            self.deliveries[call.app.number]?.outbox.test(uuid, signed, now: now)
            return .answer { $0.member("testNotificationToken", "\(uuid)_\(now.milliseconds)") }
        }
    }

    func testStatus(_ token: String, _ call: Call) throws(TwinError) -> TwinStep {
        let uuid = token.split(separator: "_").first.map { String($0) } ?? ""
        guard token.utf8.count <= Limits.twinPageTokenBytesMax, uuid.utf8.count == 36 else { throw .invalidTestToken }
        guard let test = self.deliveries[call.app.number]?.tests.first(where: { $0.uuid == uuid }),
            call.request.host != .production
        else { throw .testNotFound }
        return .answer { writer in
            writer.member("signedPayload", test.payload)
            self.write(self.deliveries[call.app.number]?.outbox.attempts[uuid] ?? [], &writer)
        }
    }

    func write(_ attempts: [SendAttempt], _ writer: inout JSONWriter) {
        writer.key("sendAttempts")
        writer.beginArray()
        for attempt in attempts {
            writer.beginObject()
            writer.member("attemptDate", attempt.at.milliseconds)
            writer.member("sendAttemptResult", attempt.result.rawValue)
            writer.endObject()
        }
        writer.endArray()
    }
}
