import PerchBase
import PerchStore
import Testing

@testable import PerchTwin

@Suite struct `the outbox of a twin` {
    private func at(_ hours: Int64) -> Instant { Instant(milliseconds: hours * 3_600_000) }

    private func mishap(_ text: String) throws -> DeliveryMishap { try #require(DeliveryMishap(Array(text.utf8))) }

    private static func add(_ uuids: [String], _ now: Instant, _ outbox: inout TwinOutbox) -> [Bool] {
        var taken: [Bool] = []
        for uuid in uuids { taken.append(outbox.add(uuid, now: now)) }
        return taken
    }

    /// Sends what is due, and returns it.
    private func sent(_ outbox: inout TwinOutbox, _ now: Instant, _ result: SendAttemptResult = .success) -> [String] {
        var all: [String] = []
        while let uuid = outbox.next(now: now) {
            let other = outbox.next(now: now)
            #expect(other == nil, "one at a time")
            outbox.ended(SendAttempt(at: now, result: result))
            all.append(uuid)
        }
        return all
    }

    private func expect(
        _ uuids: [String], _ outbox: inout TwinOutbox, _ now: Instant, _ result: SendAttemptResult = .success
    ) {
        let found = self.sent(&outbox, now, result)
        #expect(found == uuids)
    }

    @Test func `tries six times, at Apple's hours`() {
        var outbox = TwinOutbox()
        let added = Self.add(["a"], self.at(0), &outbox)
        #expect(added == [true])
        var hours: [Int64] = []
        for hour in Int64(0)...400 where self.sent(&outbox, self.at(hour), .status) == ["a"] { hours.append(hour) }
        #expect(hours == [0, 1, 13, 37, 85, 157])
        #expect(outbox.isIdle && outbox.attempts["a"]?.count == 6)
    }

    @Test func `sends in order, and no more once delivered`() {
        var outbox = TwinOutbox()
        for uuid in ["a", "b", "c"] { _ = outbox.add(uuid, now: self.at(0)) }
        self.expect(["a", "b", "c"], &outbox, self.at(0))
        self.expect([], &outbox, self.at(1_000))
        #expect(outbox.isIdle)
    }

    @Test func `goes on after a start where it was`() {
        let attempts = [
            "a": [SendAttempt(at: self.at(0), result: .success)],
            "b": [SendAttempt(at: self.at(0), result: .status), SendAttempt(at: self.at(1), result: .timedOut)],
        ]
        var outbox = TwinOutbox(attempts: attempts, lost: ["c"])
        let added = Self.add(["a", "b", "c", "d"], self.at(2), &outbox)
        #expect(added == [true, true, true, true])
        self.expect(["d"], &outbox, self.at(2))
        self.expect(["b"], &outbox, self.at(13))
    }

    @Test func `loses, delays, doubles and reorders what it is told to`() throws {
        var outbox = TwinOutbox()
        outbox.add(try self.mishap(#"{"deliver":"lose"}"#))
        outbox.add(try self.mishap(#"{"deliver":"delay","milliseconds":3600000}"#))
        outbox.add(try self.mishap(#"{"deliver":"double"}"#))
        outbox.add(try self.mishap(#"{"deliver":"reorder","times":3}"#))
        let added = Self.add(["a", "b", "c", "d", "e", "f", "g"], self.at(0), &outbox)
        #expect(added == [false, true, true, true, true, true, true])
        self.expect(["c", "c", "f", "e", "d", "g"], &outbox, self.at(0))
        self.expect(["b"], &outbox, self.at(1))
        #expect(outbox.attempts["c"]?.count == 2 && outbox.attempts["a"] == nil && outbox.isIdle)
    }

    @Test(arguments: [
        "{}", #"{"deliver":"eat"}"#, #"{"deliver":"delay"}"#, #"{"deliver":"lose","milliseconds":1}"#,
        #"{"deliver":"lose","times":0}"#, #"{"deliver":"lose","other":1}"#, "nonsense",
    ])
    func `refuses other mishaps`(_ text: String) { #expect(DeliveryMishap(Array(text.utf8)) == nil) }

    @Test func `tests once`() {
        var outbox = TwinOutbox()
        outbox.test("t", now: self.at(0))
        self.expect(["t"], &outbox, self.at(0), .noResponse)
        self.expect([], &outbox, self.at(500))
    }

    @Test func `writes notes that are read again`() {
        let place = ChangePlace(
            revision: 7, ordinal: 2, crossing: DueEntry(instant: Instant(milliseconds: -5), account: 9))
        let notes: [OutboxNote] = [
            .begins(app: "com.example", store: "a", ChangePlaceText(place)), .lost(uuid: "x"),
            .attempt(uuid: "y", SendAttempt(at: self.at(3), result: .tlsIssue)),
        ]
        for note in notes {
            #expect(OutboxNote(line: Array(note.line.dropLast())) == note)
            #expect(OutboxNote(line: Array(note.line.dropLast(4))) == nil)
        }
    }
}
