import PerchBase
import PerchStore
import Testing

@testable import PerchTwin

@Suite struct `the outbox of a twin` {
    private func at(_ hours: Int64) -> Instant { Instant(milliseconds: hours * 3_600_000) }

    private func mishap(_ text: String) throws -> DeliveryMishap { try #require(DeliveryMishap(Array(text.utf8))) }

    private static func place(_ revision: UInt64) -> ChangePlace {
        ChangePlace(through: revision, at: Instant(milliseconds: 0))
    }

    private static func item(_ uuid: String, at revision: UInt64 = 1) -> OutboxItem {
        OutboxItem(uuid: uuid, place: Self.place(revision), content: .signed("signed \(uuid)"))
    }

    private static func add(_ uuids: [String], _ now: Instant, _ outbox: inout TwinOutbox) -> [Bool] {
        var taken: [Bool] = []
        for uuid in uuids { taken.append(outbox.add(Self.item(uuid), now: now)) }
        return taken
    }

    /// Sends what is due, and returns it.
    private func sent(
        _ outbox: inout TwinOutbox, _ now: Instant, _ result: SendAttemptResult = .success, once: Bool = false
    ) -> [String] {
        var all: [String] = []
        while let item = outbox.next(now: now) {
            let other = outbox.next(now: now)?.uuid
            #expect(other == nil, "one at a time")
            _ = outbox.ended(SendAttempt(at: now, result: result), payload: "signed \(item.uuid)", app: "x")
            all.append(item.uuid)
            if once { break }
        }
        return all
    }

    private func expect(
        _ uuids: [String], _ outbox: inout TwinOutbox, _ now: Instant, _ result: SendAttemptResult = .success,
        once: Bool = false
    ) {
        let found = self.sent(&outbox, now, result, once: once)
        #expect(found == uuids)
    }

    @Test func `tries six times, at Apple's hours`() {
        var outbox = TwinOutbox()
        let added = Self.add(["a"], self.at(0), &outbox)
        #expect(added == [true])
        var hours: [Int64] = []
        for hour in Int64(0)...400 where self.sent(&outbox, self.at(hour), .status) == ["a"] { hours.append(hour) }
        #expect(hours == [0, 1, 13, 37, 85, 157])
        #expect(outbox.count == 0 && outbox.attempts["a"]?.count == 6)
    }

    @Test func `sends in order, and no more once delivered`() {
        var outbox = TwinOutbox()
        _ = Self.add(["a", "b", "c"], self.at(0), &outbox)
        self.expect(["a", "b", "c"], &outbox, self.at(0))
        self.expect([], &outbox, self.at(1_000))
        #expect(outbox.count == 0)
    }

    @Test func `goes on after a start where it was`() {
        func attempt(_ uuid: String, _ hour: Int64, _ result: SendAttemptResult, _ payload: String? = nil) -> OutboxNote
        {
            .attempt(app: "x", uuid: uuid, SendAttempt(at: self.at(hour), result: result), payload: payload)
        }
        var outbox = TwinOutbox([
            attempt("a", 0, .success), attempt("b", 0, .status, "of b"), attempt("b", 1, .timedOut),
            .lost(app: "x", uuid: "c"), attempt("e", 0, .status, "of e"),
        ])
        let added = Self.add(["a", "b", "c", "d"], self.at(2), &outbox)
        #expect(added == [true, true, true, true])
        // What was refused needs no change of the store: `e` is not added.
        self.expect(["e", "d"], &outbox, self.at(2))
        let retried = outbox.next(now: self.at(13))
        guard case .signed("of b")? = retried?.content else {
            Issue.record("the bytes of the first attempt: \(String(describing: retried))")
            return
        }
    }

    /// Whatever was written anew says what the lines before it said.
    @Test func `is the same after a start with its own notes`() throws {
        var outbox = TwinOutbox()
        outbox.add(try self.mishap(#"{"deliver":"lose"}"#))
        _ = Self.add(["lost", "sent", "refused", "untried"], self.at(0), &outbox)
        self.expect(["sent"], &outbox, self.at(0), .success, once: true)
        self.expect(["refused"], &outbox, self.at(0), .status, once: true)
        var next = TwinOutbox(outbox.notes(app: "x"))
        #expect(next.notes(app: "x").count == outbox.notes(app: "x").count)
        _ = Self.add(["lost", "sent", "refused", "untried"], self.at(1), &next)
        self.expect(["refused", "untried"], &next, self.at(1))
    }

    /// A start reads on from the oldest one that was not tried, and must still know what came behind it.
    @Test func `takes no more while many came behind one that is delayed`() throws {
        var outbox = TwinOutbox(untriedMax: 3)
        outbox.add(try self.mishap(#"{"deliver":"delay","milliseconds":3600000}"#))
        _ = Self.add(["late", "b"], self.at(0), &outbox)
        self.expect(["b"], &outbox, self.at(0))
        #expect(outbox.hasRoom && !outbox.isHeldUp)
        _ = Self.add(["c"], self.at(0), &outbox)
        self.expect(["c"], &outbox, self.at(0))
        #expect(!outbox.hasRoom && outbox.isHeldUp, "tried or not, they are counted")
        self.expect(["late"], &outbox, self.at(1))
        #expect(outbox.hasRoom && !outbox.isHeldUp)
    }

    @Test func `settles in the order of the changes`() {
        var outbox = TwinOutbox()
        for (index, uuid) in ["a", "b", "c", "d"].enumerated() {
            _ = outbox.add(Self.item(uuid, at: index < 2 ? 5 : UInt64(index) + 4), now: self.at(0))
        }
        let end = Self.place(9)
        #expect(outbox.settled(through: end) == nil)
        // Of two notifications of one change, one is not enough. A refused one has its next attempt without the change.
        var settled: [ChangePlace?] = []
        for result in [SendAttemptResult.success, .status, .success, .success] {
            let item = outbox.next(now: self.at(0))
            _ = outbox.ended(SendAttempt(at: self.at(0), result: result), payload: "p", app: "x")
            #expect(item != nil)
            settled.append(outbox.settled(through: end))
        }
        #expect(settled == [nil, Self.place(5), Self.place(6), end])
    }

    @Test func `has room for so many, and remembers so many that are done`() {
        var outbox = TwinOutbox()
        for number in 0..<Limits.twinOutboxMax {
            #expect(outbox.hasRoom)
            _ = outbox.add(Self.item("\(number)"), now: self.at(0))
        }
        #expect(!outbox.hasRoom)
        _ = self.sent(&outbox, self.at(0))
        #expect(outbox.hasRoom)
        for number in 0..<(2 * Limits.twinDeliveriesKept) {
            _ = outbox.add(Self.item("x\(number)"), now: self.at(0))
            let item = outbox.next(now: self.at(0))
            #expect(item?.uuid == "x\(number)")
            _ = outbox.ended(SendAttempt(at: self.at(0), result: .success), payload: "", app: "x")
        }
        #expect(outbox.attempts.count < 2 * Limits.twinDeliveriesKept)
        #expect(outbox.attempts["0"] == nil && outbox.attempts["x\(2 * Limits.twinDeliveriesKept - 1)"] != nil)
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
        #expect(outbox.attempts["c"]?.count == 2 && outbox.attempts["a"] == nil && outbox.count == 0)
    }

    @Test(arguments: [
        "{}", #"{"deliver":"eat"}"#, #"{"deliver":"delay"}"#, #"{"deliver":"lose","milliseconds":1}"#,
        #"{"deliver":"lose","times":0}"#, #"{"deliver":"reorder","times":1001}"#, #"{"deliver":"lose","other":1}"#,
        "nonsense",
        #"{"deliver":"error"}"#, #"{"deliver":"lose","times":1000001}"#,
    ])
    func `refuses other mishaps`(_ text: String) { #expect(DeliveryMishap(Array(text.utf8)) == nil) }

    @Test func `tests once`() {
        var outbox = TwinOutbox()
        outbox.test("t", "signed t", now: self.at(0))
        self.expect(["t"], &outbox, self.at(0), .noResponse)
        self.expect([], &outbox, self.at(500))
    }

    @Test func `writes notes that are read again`() {
        let place = ChangePlace(
            revision: 7, ordinal: 2, crossing: DueEntry(instant: Instant(milliseconds: -5), account: 9))
        let attempt = SendAttempt(at: self.at(3), result: .tlsIssue)
        let notes: [OutboxNote] = [
            .begins(app: "com.example", ChangePlaceText(place)), .lost(app: "com.example", uuid: "x"),
            .attempt(app: "com.example", uuid: "y", attempt, payload: nil),
            .attempt(app: "com.example", uuid: "z", attempt, payload: "a.b.c"),
        ]
        for note in notes {
            #expect(OutboxNote(line: Array(note.line.dropLast())) == note)
            #expect(OutboxNote(line: Array(note.line.dropLast(4))) == nil)
        }
    }
}
