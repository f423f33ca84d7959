package import PerchBase
import PerchJSON
package import PerchModel
import PerchStore

/// What came of an attempt to deliver a notification, by Apple's names.
package enum SendAttemptResult: String, Hashable, Sendable, CaseIterable {
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case noResponse = "NO_RESPONSE"
    case socketIssue = "SOCKET_ISSUE"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    case status = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"

    /// Of an answer of the backend. The App Store takes 200 to 206 for yes.
    package init(status: Int) { self = (200...206).contains(status) ? .success : .status }
}

/// An attempt to deliver a notification, on the app's clock.
package struct SendAttempt: Hashable, Sendable {
    package var at: Instant
    package var result: SendAttemptResult

    package init(at: Instant, result: SendAttemptResult) {
        self.at = at
        self.result = result
    }
}

/// A notification that an outbox holds.
struct OutboxItem {
    enum Content {
        case notice(TwinNotice)
        /// It is signed, because it was tried before or is a test.
        case signed(String)
    }

    let uuid: String
    /// In the changes of the app; nil of a test.
    let place: ChangePlace?
    let content: Content
}

/// The notifications of an app that are to be delivered, one at a time, with Apple's retries on the app's clock.
///
///     waiting ──due──▶ under way ──200 to 206──▶ done
///        ▲                 └── refused ──┐ after 1, 12, 24, 48, 72 h; done after the last
///        └───────────────────────────────┘
///
/// It owns what it sends: the book of notices may forget a notification that still waits here.
struct TwinOutbox {
    /// Hours until the next attempt, each after the attempt before.
    static let retryHours: [Int64] = [1, 12, 24, 48, 72]

    private struct Entry {
        var uuid: String
        var due: Instant
        /// Of two entries that are due, the lesser goes first.
        var order: Int
    }

    /// A notification that was not tried yet.
    private struct Untried {
        var uuid: String
        var place: ChangePlace
        var isTried = false
    }

    private(set) var attempts: [String: [SendAttempt]] = [:]
    private var items: [String: OutboxItem] = [:]
    private var waiting: [Entry] = []
    private var underWay: String?
    private var nextOrder = 0
    private var mishaps: [DeliveryMishap] = []
    /// Notifications that a mishap holds until enough are there.
    private var held: [String] = []
    /// Tests among what waits.
    private var tests: Set<String> = []
    /// Notifications that a mishap has lost.
    private var lost: Set<String> = []
    /// In the order of their places.
    private var untried: [Untried] = []
    /// The last place up to which each notification was tried or lost; nil: none of this process.
    private var settled: ChangePlace?
    /// Notifications that are done, oldest first. Their attempts are remembered for the history and for a start.
    private var done: [String] = []
    private let untriedMax: Int

    /// What was noted before a start.
    init(_ notes: [OutboxNote] = [], untriedMax: Int = Limits.twinUntriedMax) {
        self.untriedMax = untriedMax
        for note in notes {
            switch note {
            case .begins: break
            case .lost(_, let uuid): if self.lost.insert(uuid).inserted { self.finish(uuid) }
            case .attempt(_, let uuid, let attempt, let payload):
                if let payload {
                    self.items[uuid] = OutboxItem(uuid: uuid, place: nil, content: .signed(payload))
                }
                self.attempts[uuid, default: []].append(attempt)
            }
        }
        for (uuid, attempts) in self.attempts.sorted(by: { ($0.value[0].at, $0.key) < ($1.value[0].at, $1.key) }) {
            if let due = Self.nextDue(after: attempts), self.items[uuid] != nil {
                self.enqueue(uuid, due: due)
            } else {
                self.finish(uuid)
            }
        }
    }

    /// Notifications that wait, and the one that is under way.
    var count: Int { self.waiting.count + self.held.count + (self.underWay == nil ? 0 : 1) }

    /// Whether further notifications are accepted. Otherwise they wait in the changes of the store.
    var hasRoom: Bool { self.count < Limits.twinOutboxMax && !self.isHeldUp }

    /// So many came behind one that was not tried that further ones wait for it.
    var isHeldUp: Bool { self.untried.count >= self.untriedMax }

    /// The place after which a start must look again. `through`: all up to there was added.
    func settled(through: ChangePlace) -> ChangePlace? { self.untried.isEmpty ? through : self.settled }

    /// What a start must know, except for the place. The attempts of what waits come last, so that none of them is forgotten.
    func notes(app: String) -> [OutboxNote] {
        func attempts(_ uuid: String) -> [OutboxNote] {
            var payload: String?
            if case .signed(let text)? = self.items[uuid]?.content { payload = text }
            return (self.attempts[uuid] ?? []).enumerated().map { (index, attempt) in
                .attempt(app: app, uuid: uuid, attempt, payload: index == 0 ? payload : nil)
            }
        }
        let over: [OutboxNote] = self.done.flatMap { uuid in
            self.lost.contains(uuid) ? [.lost(app: app, uuid: uuid)] : attempts(uuid)
        }
        return over + self.items.keys.sorted().flatMap { attempts($0) }
    }

    /// A notification that happened. What was delivered, given up or lost before a start is not sent again, and what was refused waits for its
    /// next attempt. False: a mishap loses it.
    mutating func add(_ item: OutboxItem, now: Instant) -> Bool {
        let uuid = item.uuid
        let isKnown = self.lost.contains(uuid) || self.attempts[uuid] != nil
        guard isKnown || self.items[uuid] == nil else { return true }
        if let place = item.place { self.untried.append(Untried(uuid: uuid, place: place)) }
        guard !isKnown else {
            self.noteTried(uuid)
            return true
        }
        self.items[uuid] = item
        guard !self.mishaps.isEmpty else {
            self.enqueue(uuid, due: now)
            return true
        }
        self.mishaps[0].times -= 1
        let mishap = self.mishaps[0]
        if mishap.times == 0 { self.mishaps.removeFirst() }
        switch mishap.kind {
        case .lose:
            self.lost.insert(uuid)
            self.finish(uuid)
            self.noteTried(uuid)
            return false
        case .delay(let milliseconds): self.enqueue(uuid, due: now.advanced(byMilliseconds: milliseconds))
        case .double:
            self.enqueue(uuid, due: now)
            self.enqueue(uuid, due: now)
        case .reorder:
            self.held.append(uuid)
            guard mishap.times == 0 else { return true }
            for uuid in self.held.reversed() { self.enqueue(uuid, due: now) }
            self.held = []
        }
        return true
    }

    /// A test notification, which no mishap concerns. One attempt is all it has.
    mutating func test(_ uuid: String, _ payload: String, now: Instant) {
        self.items[uuid] = OutboxItem(uuid: uuid, place: nil, content: .signed(payload))
        self.tests.insert(uuid)
        self.enqueue(uuid, due: now)
    }

    private mutating func enqueue(_ uuid: String, due: Instant) {
        self.waiting.append(Entry(uuid: uuid, due: due, order: self.nextOrder))
        self.nextOrder += 1
    }

    mutating func add(_ mishap: DeliveryMishap) { self.mishaps.append(mishap) }
    var mishapCount: Int { self.mishaps.count }

    /// The notification to send now, if there is one and none is under way.
    mutating func next(now: Instant) -> OutboxItem? {
        guard self.underWay == nil else { return nil }
        let due = self.waiting.indices.filter { self.waiting[$0].due <= now }
        guard let place = due.min(by: { self.waiting[$0].order < self.waiting[$1].order }) else { return nil }
        let uuid = self.waiting.remove(at: place).uuid
        guard let item = self.items[uuid] else { preconditionFailure("notification \(uuid) waits without its content") }
        self.underWay = uuid
        return item
    }

    /// The attempt has ended. Returns its note.
    mutating func ended(_ attempt: SendAttempt, payload: String, app: String) -> OutboxNote {
        guard let uuid = self.underWay, let item = self.items[uuid] else {
            preconditionFailure("no notification is under way")
        }
        self.underWay = nil
        self.attempts[uuid, default: []].append(attempt)
        self.noteTried(uuid)
        var note = OutboxNote.attempt(app: app, uuid: uuid, attempt, payload: nil)
        // One that is sent twice has another entry, which is its retry.
        let isWaiting = self.waiting.contains { $0.uuid == uuid }
        let due = isWaiting || self.tests.contains(uuid) ? nil : Self.nextDue(after: self.attempts[uuid] ?? [])
        guard isWaiting || due != nil else {
            self.items[uuid] = nil
            self.tests.remove(uuid)
            self.finish(uuid)
            return note
        }
        if case .notice = item.content {
            // Its next attempt has these bytes, whatever the changes, the certificates and the version are then.
            self.items[uuid] = OutboxItem(uuid: uuid, place: item.place, content: .signed(payload))
            note = .attempt(app: app, uuid: uuid, attempt, payload: payload)
        }
        if let due { self.enqueue(uuid, due: due) }
        return note
    }

    private mutating func noteTried(_ uuid: String) {
        guard let index = self.untried.firstIndex(where: { $0.uuid == uuid && !$0.isTried }) else { return }
        self.untried[index].isTried = true
        while let first = self.untried.first, first.isTried {
            self.untried.removeFirst()
            // Those of one change share its place.
            if self.untried.first.map({ $0.place > first.place }) ?? true { self.settled = first.place }
        }
    }

    /// Nothing follows for a notification. The oldest of those are forgotten.
    private mutating func finish(_ uuid: String) {
        self.items[uuid] = nil
        self.done.append(uuid)
        guard self.done.count >= 2 * Limits.twinDeliveriesKept else { return }
        let excess = self.done.count - Limits.twinDeliveriesKept
        for uuid in self.done.prefix(excess) {
            self.attempts[uuid] = nil
            self.lost.remove(uuid)
        }
        self.done.removeFirst(excess)
    }

    /// When the next attempt is due; nil where none follows.
    private static func nextDue(after attempts: [SendAttempt]) -> Instant? {
        guard let last = attempts.last, !attempts.contains(where: { $0.result == .success }),
            attempts.count <= self.retryHours.count
        else { return nil }
        return last.at.advanced(byMilliseconds: self.retryHours[attempts.count - 1] * 3_600_000)
    }
}

/// What goes wrong on purpose with the next notifications.
package struct DeliveryMishap: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// It is never sent, and stands in the history without an attempt.
        case lose
        /// It is sent later, on the app's clock.
        case delay(milliseconds: Int64)
        /// It is sent twice.
        case double
        /// The next ones are held until all are there, and sent in the reverse order.
        case reorder
    }

    let kind: Kind
    var times: UInt32

    /// Nil where the kind is none of notifications, or the numbers are out of range.
    package init?(_ kind: MishapKind, times: UInt32, milliseconds: Int64) {
        self.times = times
        guard (1...Limits.mishapTimesMax).contains(times) else { return nil }
        switch kind {
        case .lose where milliseconds == 0: self.kind = .lose
        case .double where milliseconds == 0: self.kind = .double
        case .reorder where milliseconds == 0 && times <= Limits.mishapReorderMax: self.kind = .reorder
        case .delay where (1...Limits.mishapDelayMillisecondsMax).contains(milliseconds):
            self.kind = .delay(milliseconds: milliseconds)
        default: return nil
        }
    }

    /// From a JSON object such as `{"deliver": "delay", "milliseconds": 60000, "times": 3}`. Nil for anything else.
    package init?(_ body: [UInt8]) {
        guard let value = try? JSONReader.read(body), let members = value.members,
            members.allSatisfy({ ["deliver", "times", "milliseconds"].contains($0.key) }),
            let kind = value["deliver"]?.string.flatMap({ MishapKind(named: $0) }),
            let times = UInt32(exactly: value["times"] == nil ? 1 : value["times"]?.integer ?? 0)
        else { return nil }
        self.init(kind, times: times, milliseconds: value["milliseconds"]?.integer ?? 0)
    }
}
