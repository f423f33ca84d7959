package import PerchBase
import PerchJSON
import PerchModel
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

/// The notifications of an app that are to be delivered, one at a time, with Apple's retries on the app's clock.
///
///     waiting ──due──▶ under way ──200 to 206──▶ done
///        ▲                 └── refused ──┐ after 1, 12, 24, 48, 72 h; done after the last
///        └───────────────────────────────┘
struct TwinOutbox {
    /// Hours until the next attempt, each after the attempt before.
    static let retryHours: [Int64] = [1, 12, 24, 48, 72]

    private struct Entry {
        var uuid: String
        var due: Instant
        /// Of two entries that are due, the lesser goes first.
        var order: Int
    }

    private(set) var attempts: [String: [SendAttempt]] = [:]
    private var waiting: [Entry] = []
    private var underWay: String?
    private var nextOrder = 0
    private var tests: Set<String> = []
    private var mishaps: [DeliveryMishap] = []
    /// Notifications that a mishap holds until enough are there.
    private var held: [String] = []

    /// Notifications that a mishap has lost.
    private var lost: Set<String>

    /// What was noted before a start.
    init(attempts: [String: [SendAttempt]] = [:], lost: Set<String> = []) {
        self.attempts = attempts
        self.lost = lost
    }

    var isIdle: Bool { self.waiting.isEmpty && self.underWay == nil && self.held.isEmpty }

    /// A notification that happened. What was delivered, given up or lost before a start is not sent again. False: a mishap loses it.
    mutating func add(_ uuid: String, now: Instant) -> Bool {
        guard !self.lost.contains(uuid) else { return true }
        let before = self.attempts[uuid] ?? []
        guard before.isEmpty else {
            if let due = Self.nextDue(after: before) { self.enqueue(uuid, due: due) }
            return true
        }
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
    mutating func test(_ uuid: String, now: Instant) {
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
    mutating func next(now: Instant) -> String? {
        guard self.underWay == nil else { return nil }
        let due = self.waiting.indices.filter { self.waiting[$0].due <= now }
        guard let place = due.min(by: { self.waiting[$0].order < self.waiting[$1].order }) else { return nil }
        self.underWay = self.waiting.remove(at: place).uuid
        return self.underWay
    }

    /// The attempt has ended.
    mutating func ended(_ attempt: SendAttempt) {
        guard let uuid = self.underWay else { preconditionFailure("no notification is under way") }
        self.underWay = nil
        self.attempts[uuid, default: []].append(attempt)
        // One that is sent twice has another entry, which is its retry.
        guard !self.tests.contains(uuid), !self.waiting.contains(where: { $0.uuid == uuid }) else { return }
        if let due = Self.nextDue(after: self.attempts[uuid] ?? []) { self.enqueue(uuid, due: due) }
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
    var times: Int64

    /// From a JSON object such as `{"deliver": "delay", "milliseconds": 60000, "times": 3}`. Nil for anything else.
    package init?(_ body: [UInt8]) {
        guard let value = try? JSONReader.read(body), let members = value.members,
            members.allSatisfy({ ["deliver", "times", "milliseconds"].contains($0.key) })
        else { return nil }
        self.times = value["times"] == nil ? 1 : value["times"]?.integer ?? 0
        guard (1...Limits.twinMishapTimesMax).contains(self.times) else { return nil }
        let milliseconds = value["milliseconds"]?.integer
        switch (value["deliver"]?.string, milliseconds) {
        case ("lose", nil): self.kind = .lose
        case ("double", nil): self.kind = .double
        case ("reorder", nil): self.kind = .reorder
        case ("delay", let milliseconds?) where (1...Limits.twinDelayMillisecondsMax).contains(milliseconds):
            self.kind = .delay(milliseconds: milliseconds)
        default: return nil
        }
    }
}
