import PerchApple
package import PerchBase
import PerchJSON
package import PerchModel
import PerchStore

/// A notification to deliver.
package struct TwinDelivery: Sendable {
    package let app: AppNumber
    package let uuid: String
    /// The body of the request: `{"signedPayload": …}`.
    package let body: [UInt8]
}

/// What is remembered of an outbox for the next start, as a line of JSON.
package enum OutboxNote: Hashable, Sendable {
    /// Notifications of this store, and of this epoch of it, are to be delivered after this place.
    case begins(app: String, store: String, ChangePlaceText)
    case attempt(uuid: String, SendAttempt)
    /// A mishap has lost it.
    case lost(uuid: String)

    package var line: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        switch self {
        case .begins(let app, let store, let place):
            writer.member("app", app)
            writer.member("store", store)
            writer.member("after", place.text)
        case .attempt(let uuid, let attempt):
            writer.member("uuid", uuid)
            writer.member("at", attempt.at.milliseconds)
            writer.member("result", attempt.result.rawValue)
        case .lost(let uuid):
            writer.member("lost", uuid)
        }
        writer.endObject()
        guard let bytes = try? writer.finish() else { preconditionFailure("a line has a hundred bytes") }
        return bytes + [UInt8(ascii: "\n")]
    }

    /// Nil for a line that is damaged: a crash may have cut off the last one.
    package init?(line: [UInt8]) {
        guard let value = try? JSONReader.read(line), value.members != nil else { return nil }
        if let app = value["app"]?.string, let store = value["store"]?.string,
            let place = value["after"]?.string.flatMap({ ChangePlaceText($0) })
        {
            self = .begins(app: app, store: store, place)
        } else if let uuid = value["lost"]?.string {
            self = .lost(uuid: uuid)
        } else if let uuid = value["uuid"]?.string, let at = value["at"]?.integer,
            let result = value["result"]?.string.flatMap({ SendAttemptResult(rawValue: $0) })
        {
            self = .attempt(uuid: uuid, SendAttempt(at: Instant(milliseconds: at), result: result))
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
    /// The app's clock.
    var clock: AppClock?
    /// Payloads of test notifications, by UUID.
    var tests: [String: String] = [:]
}

extension TwinDesk {
    private var storeText: String { ContentHash(of: self.store).description }

    /// Begins to deliver, after what an earlier process has noted. What it noted of another store, or of before a restore, is no place here.
    package func deliver(after notes: [OutboxNote]) {
        var attempts: [String: [SendAttempt]] = [:]
        var lost: Set<String> = []
        var places: [String: ChangePlace] = [:]
        for note in notes {
            switch note {
            case .begins(let app, let store, let place): if store == self.storeText { places[app] = place.place }
            case .attempt(let uuid, let attempt): attempts[uuid, default: []].append(attempt)
            case .lost(let uuid): lost.insert(uuid)
            }
        }
        for app in self.apps {
            self.deliveries[app.number] = Delivering(
                outbox: TwinOutbox(attempts: attempts, lost: lost), through: places[app.bundleID])
        }
    }

    /// Reads what has happened since, and puts it into the outboxes. Its answer says nothing. `note`: for the next start.
    package func look(at app: TwinApp, wall: Instant, note: @escaping (OutboxNote) -> Void) -> TwinStep {
        guard let delivering = self.deliveries[app.number] else { return .answer(TwinResponse(status: 200)) }
        // An account that cannot be: its answer has the app.
        return .ask(.history(AccountKey(app: app.number, bytes: [0]), nil)) { answer throws(TwinError) in
            guard case .history(let history) = answer else { throw .generalRetryable }
            let state = history.app
            self.deliveries[app.number]?.clock = state.clock
            guard delivering.through != nil else { return self.begin(app, note) }
            return self.upToDate(app) { () throws(TwinError) in
                self.fill(app, now: state.clock.now(wall: wall), note)
                return .answer(TwinResponse(status: 200))
            }
        }
    }

    /// A backend is told of what happens from now on.
    private func begin(_ app: TwinApp, _ note: @escaping (OutboxNote) -> Void) -> TwinStep {
        .ask(.changes(ChangesAsked(app: app.number, start: .now))) { answer throws(TwinError) in
            guard case .changes(let page) = answer else { throw .generalRetryable }
            self.deliveries[app.number]?.through = page.through
            note(.begins(app: app.bundleID, store: self.storeText, ChangePlaceText(page.through)))
            return .answer(TwinResponse(status: 200))
        }
    }

    private func fill(_ app: TwinApp, now: Instant, _ note: (OutboxNote) -> Void) {
        guard let through = self.deliveries[app.number]?.through, let book = self.books[app.number],
            let end = book.through
        else { return }
        for notice in book.notices where notice.place > through {
            if self.deliveries[app.number]?.outbox.add(notice.uuid, now: now) == false {
                note(.lost(uuid: notice.uuid))
            }
        }
        self.deliveries[app.number]?.through = max(through, end)
        // With nothing left to send, the next start need not look back.
        if end > through, self.deliveries[app.number]?.outbox.isIdle == true {
            note(.begins(app: app.bundleID, store: self.storeText, ChangePlaceText(end)))
        }
    }

    /// What is to be sent now; one at a time of each app.
    package func nextDelivery(wall: Instant) -> TwinDelivery? {
        for app in self.apps {
            guard let clock = self.deliveries[app.number]?.clock,
                let uuid = self.deliveries[app.number]?.outbox.next(now: clock.now(wall: wall))
            else { continue }
            let notice = self.books[app.number]?.notices.first { $0.uuid == uuid }
            let payload =
                self.deliveries[app.number]?.tests[uuid]
                ?? notice.map { self.signer.signAgain($0.payload(bundleID: app.bundleID, signer: self.signer)) } ?? ""
            let response = TwinResponse { $0.member("signedPayload", payload) }
            return TwinDelivery(app: app.number, uuid: uuid, body: response.body)
        }
        return nil
    }

    /// An attempt has ended.
    package func delivered(_ delivery: TwinDelivery, _ result: SendAttemptResult, wall: Instant) -> OutboxNote {
        let clock = self.deliveries[delivery.app]?.clock ?? .running(offsetMilliseconds: 0)
        let attempt = SendAttempt(at: clock.now(wall: wall), result: result)
        self.deliveries[delivery.app]?.outbox.ended(attempt)
        return .attempt(uuid: delivery.uuid, attempt)
    }

    /// Lets something go wrong with the next notifications of all apps. False: too many mishaps wait.
    package func add(_ mishap: DeliveryMishap) -> Bool {
        guard self.deliveries.values.allSatisfy({ $0.outbox.mishapCount < Limits.twinMishapsMax }) else { return false }
        for app in self.apps { self.deliveries[app.number]?.outbox.add(mishap) }
        return true
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
            if self.deliveries[call.app.number]?.tests.count ?? 0 >= Limits.twinTestsKept {
                self.deliveries[call.app.number]?.tests = [:]
            }
            self.deliveries[call.app.number]?.clock = state.clock
            self.deliveries[call.app.number]?.tests[uuid] = self.signer.signAgain(payload)
            self.deliveries[call.app.number]?.outbox.test(uuid, now: now)
            return .answer { $0.member("testNotificationToken", "\(uuid)_\(now.milliseconds)") }
        }
    }

    func testStatus(_ token: String, _ call: Call) throws(TwinError) -> TwinStep {
        let uuid = token.split(separator: "_").first.map { String($0) } ?? ""
        guard token.utf8.count <= Limits.twinPageTokenBytesMax, uuid.utf8.count == 36 else { throw .invalidTestToken }
        guard let payload = self.deliveries[call.app.number]?.tests[uuid], call.request.host != .production else {
            throw .testNotFound
        }
        return .answer { writer in
            writer.member("signedPayload", payload)
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
