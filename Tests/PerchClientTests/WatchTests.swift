import PerchBase
import PerchClient
import PerchModel
import PerchWire
import Testing

import struct PerchClient.ValueInfo

@Suite struct `a state stream` {
    private let server = ScriptedServer()

    /// Opens watches 1 to `count`, on streams 1 to `count`.
    private func open(_ count: ItemID = 1) throws {
        for id in 1...count { self.server.core.watch(id, Sample.watch, atLeast: nil) }
        try self.server.connect()
        #expect(try self.server.sent().map(\.stream) == (1...UInt32(count)).map { $0 })
    }

    private var tokenSent: [UInt8]? {
        get throws {
            guard case .currentEntitlementTask(let request)? = try self.server.call().request else { return nil }
            return request.resumeToken
        }
    }

    @Test func `a single stream is shown at once, with the value's position`() throws {
        try self.open()
        try self.server.say(.currentEntitlementTask(.loading), on: 1)
        #expect(self.server.actions().isEmpty, "its consumers have been loading since they came")
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        let info = ValueInfo(
            position: Position(revision: 6, asOf: Instant(milliseconds: 10)), committed: Instant(milliseconds: 0),
            cause: .purchase, token: [6])
        #expect(
            self.server.actions()
                == [.show(1, .success(.entitlement(Sample.transaction(4)), info: info), isNews: true)])
    }

    @Test func `never shows an equal value twice in a row, but knows where it stands now`() throws {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        _ = self.server.actions()
        try self.server.say(Sample.entitled(4, revision: 7), on: 1)
        let actions = self.server.actions()
        #expect(actions.shown(1).isEmpty && actions.count == 1)
        guard case .show(_, .success(_, let info), isNews: false)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(info.position.revision == 7 && info.token == [7])
    }

    @Test func `a stream distinguishes no entitlement from no value`() throws {
        try self.open()
        try self.server.say(Sample.entitled(nil, revision: 6), on: 1)
        #expect(self.server.actions().shown(1) == ["none"])
    }

    @Test func `a stream shows a failure once, with the last good value, and then success even with an equal value`()
        throws
    {
        try self.open()
        let failure = Response.currentEntitlementTask(
            .failure(Failure(reason: "LOAD_FAILED", message: "told to"), Sample.info(7)))
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        try self.server.say(failure, on: 1)
        try self.server.say(failure, on: 1)
        try self.server.say(Sample.entitled(4, revision: 8), on: 1)
        #expect(self.server.actions().shown(1) == ["4", "LOAD_FAILED after 4", "4"])
    }

    @Test func `reads compressed values where that was offered`() throws {
        try self.open()
        let text = String(repeating: "premium ", count: 400)
        var transaction = Sample.transaction(4)
        transaction.value.appAccountToken = text
        let response = Response.currentEntitlementTask(.success(transaction, Sample.info(6)))
        let bytes = try #require(try self.server.compressed(response))
        self.server.receive(self.server.frame(.message, stream: 1, compressed: true, bytes))
        #expect(self.server.actions().shown(1) == ["4"])
    }

    // MARK: Groups

    @Test func `several streams are held until the BEAT, and then shown together with their newest values`() throws {
        try self.open(3)
        for stream in 1...3 as ClosedRange<UInt32> {
            try self.server.say(.currentEntitlementTask(.loading), on: stream)
        }
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        try self.server.say(Sample.entitled(5, revision: 6), on: 2)
        try self.server.say(Sample.entitled(6, revision: 7), on: 1)
        #expect(self.server.actions().isEmpty)
        try self.server.beat(7)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["6"] && actions.shown(2) == ["5"] && actions.shown(3).isEmpty)
        try self.server.beat(7)
        #expect(self.server.actions().isEmpty)
    }

    @Test func `a state stream counts as one of several from its first message only`() throws {
        try self.open(2)
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        #expect(self.server.actions().shown(1) == ["4"], "the other one has not spoken yet")
        try self.server.say(Sample.entitled(4, revision: 6), on: 2)
        #expect(self.server.actions().isEmpty)
        try self.server.beat(6)
        #expect(self.server.actions().shown(2) == ["4"])
    }

    @Test func `that is left alone by the STATUS of the other is shown then`() throws {
        try self.open(2)
        for stream in 1...2 as ClosedRange<UInt32> {
            try self.server.say(.currentEntitlementTask(.loading), on: stream)
        }
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        try self.server.say(Sample.entitled(5, revision: 6), on: 2)
        self.server.core.unwatch(2)
        #expect(self.server.actions().isEmpty, "until its STATUS the other one counts")
        try self.server.end(2, .cancelled)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["4"] && actions.shown(2).isEmpty)
    }

    @Test func `that was cancelled before it spoke counts when it does speak`() throws {
        try self.open(2)
        self.server.core.unwatch(2)
        try self.server.say(.currentEntitlementTask(.loading), on: 2)
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        #expect(self.server.actions().isEmpty)
        try self.server.end(2, .cancelled)
        #expect(self.server.actions().shown(1) == ["4"])
    }

    // MARK: Groups after a reconnect

    /// Watches 1 to `count` that show transaction 4, over a new connection; the streams of their calls.
    private func reopen(_ count: ItemID = 2) throws -> [UInt32] {
        try self.open(count)
        for stream in 1...UInt32(count) { try self.server.say(Sample.entitled(4, revision: 6), on: stream) }
        try self.server.beat(6)
        try self.server.reconnect()
        let sent = try self.server.sent()
        #expect(sent.map { $0.request?.watchToken } == Array(repeating: [6], count: Int(count)))
        _ = self.server.actions()
        return sent.map(\.stream)
    }

    private func unchanged(_ revision: UInt64) -> Response {
        .currentEntitlementTask(.unchanged(Sample.info(revision)))
    }

    @Test func `that was answered first after a reconnect waits for the first answer of the other`() throws {
        let streams = try self.reopen()
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[0])
        #expect(self.server.actions().isEmpty, "5 beside an old 4 is a state that never was")
        try self.server.beat(7)
        #expect(self.server.actions().isEmpty, "the server had not read the second CALL when it sent this BEAT")
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[1])
        #expect(self.server.actions().isEmpty, "a push to the first may belong to the same group")
        try self.server.beat(7)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["5"] && actions.shown(2) == ["5"])
    }

    @Test func `an unchanged stream after a reconnect completes the group of the other`() throws {
        let streams = try self.reopen()
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[1])
        try self.server.say(self.unchanged(6), on: streams[0])
        try self.server.beat(7)
        #expect(self.server.actions().shown(2) == ["5"])
    }

    @Test func `a single stream is shown at once after a reconnect, too`() throws {
        let streams = try self.reopen(1)
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[0])
        #expect(self.server.actions().shown(1) == ["5"])
    }

    @Test func `a refused or cancelled stream does not delay the others after a reconnect`() throws {
        let streams = try self.reopen(3)
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[0])
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[1])
        try self.server.beat(7)
        #expect(self.server.actions().isEmpty)
        try self.server.end(streams[2], .behind)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["5"] && actions.shown(2) == ["5"])
        #expect(actions.shown(3) == ["BEHIND after 4"])

        let other = ScriptedServer()
        for id in 1...2 as ClosedRange<ItemID> { other.core.watch(id, Sample.watch, atLeast: nil, token: [1]) }
        try other.connect()
        try other.say(Sample.entitled(5, revision: 7), on: 1)
        #expect(other.actions().isEmpty)
        other.core.unwatch(2)
        #expect(other.actions().shown(1) == ["5"])
    }

    @Test func `a state stream waits for one whose token was refused and that is called again without it`() throws {
        let streams = try self.reopen()
        try self.server.say(Sample.entitled(5, revision: 7), on: streams[0])
        try self.server.end(streams[1], .tokenOtherStore)
        let again = try self.server.call()
        #expect(again.request?.watchToken == [])
        try self.server.say(.currentEntitlementTask(.loading), on: again.stream)
        try self.server.beat(7)
        #expect(self.server.actions().isEmpty)
        try self.server.say(Sample.entitled(5, revision: 7), on: again.stream)
        try self.server.beat(7)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["5"] && actions.shown(2) == ["5"])
    }

    @Test func `a state stream is not shown alone while the server stops and ends the other`() throws {
        try self.open(2)
        for stream in 1...2 as ClosedRange<UInt32> { try self.server.say(Sample.entitled(4, revision: 6), on: stream) }
        try self.server.beat(6)
        _ = self.server.actions()
        try self.server.say(Sample.entitled(5, revision: 7), on: 1)
        try self.server.say(Sample.entitled(5, revision: 7), on: 2)
        try self.server.drain(Drain(reason: "SHUTTING_DOWN", jitterMilliseconds: 2_000))
        try self.server.end(2, .shuttingDown)
        #expect(self.server.actions().isEmpty)
    }

    @Test func `a state stream keeps a good value that a failure in the same group came after`() throws {
        try self.open(2)
        for stream in 1...2 as ClosedRange<UInt32> {
            try self.server.say(.currentEntitlementTask(.loading), on: stream)
        }
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        let failure = Response.currentEntitlementTask(.failure(Failure(reason: "LOAD_FAILED"), Sample.info(7)))
        try self.server.say(failure, on: 1)
        try self.server.say(failure, on: 1)
        try self.server.beat(7)
        #expect(self.server.actions().shown(1) == ["LOAD_FAILED after 4"])
        try self.server.reconnect()
        let tokens = try self.server.sent().map { sent -> [UInt8] in
            guard case .currentEntitlementTask(let request)? = sent.request else { return [99] }
            return request.resumeToken
        }
        #expect(tokens == [[6], []])
    }

    @Test func `a state stream shows nothing of a group whose connection broke before its BEAT`() throws {
        try self.open(2)
        for stream in 1...2 as ClosedRange<UInt32> {
            try self.server.say(.currentEntitlementTask(.loading), on: stream)
        }
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        #expect(try self.server.reconnect().shown(1).isEmpty)
        #expect(try self.server.sent().count == 2)
        try self.server.beat(6)
        #expect(self.server.actions().isEmpty)
    }

    // MARK: Coming back

    @Test func `a stream resumes with the token of its last value, and unchanged is not delivered`() throws {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        #expect(self.server.actions().shown(1) == ["4"])
        #expect(try self.server.reconnect().shown(1).isEmpty, "the last value stays through a disconnect")
        #expect(try self.tokenSent == [6])
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9, cause: .snapshot))), on: 2)
        let actions = self.server.actions()
        #expect(actions.shown(1).isEmpty)
        guard case .show(_, .success(_, let info), isNews: false)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(info.position.revision == 9 && info.cause == .purchase, "what led to the value is not forgotten")
        try self.server.reconnect()
        #expect(try self.tokenSent == [9])
        try self.server.say(Sample.entitled(5, revision: 10), on: 3)
        #expect(self.server.actions().shown(1) == ["5"])
    }

    @Test func `after a failure is a success again when the server says that nothing has changed`() throws {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        try self.server.say(.currentEntitlementTask(.failure(Failure(reason: "LOAD_FAILED"), Sample.info(7))), on: 1)
        try self.server.reconnect()
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: try self.server.call().stream)
        #expect(self.server.actions().shown(1) == ["4"])
    }

    @Test(arguments: [1, 2])
    func `a stream starts fresh in another store or epoch, and an equal value is not delivered`(_ difference: Int)
        throws
    {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        _ = self.server.actions()
        try self.server.reconnect {
            if difference == 1 { $0.epoch = 2 } else { $0.storeID = [UInt8](repeating: 8, count: 16) }
        }
        #expect(try self.tokenSent == [])
        try self.server.say(.currentEntitlementTask(.loading), on: 2)
        try self.server.say(Sample.entitled(4, revision: 2), on: 2)
        #expect(self.server.actions().shown(1).isEmpty)
        try self.server.say(Sample.entitled(5, revision: 3), on: 2)
        #expect(self.server.actions().shown(1) == ["5"])
    }

    @Test(arguments: [ErrorReason.tokenMalformed, .tokenOtherView, .tokenOtherStore, .tokenFuture])
    func `a stream with a refused token starts fresh at once, silently`(_ reason: ErrorReason) throws {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        try self.server.reconnect()
        try self.server.end(try self.server.call().stream, reason)
        #expect(try self.tokenSent == [])
        #expect(self.server.actions().isEmpty)
    }

    @Test func `unchanged without a token is a breach`() throws {
        try self.open()
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: 1)
        let actions = self.server.actions()
        #expect(actions.refused?.reason == .protocolBreach)
        #expect(actions.shown(1) == ["final PROTOCOL_BREACH after nothing"])
    }

    @Test func `a state stream demands a position until its first value`() throws {
        let position = Position(revision: 3, asOf: Instant(milliseconds: 4))
        func demanded() throws -> Position? {
            guard case .currentEntitlementTask(let request)? = try self.server.call().request else { return nil }
            return request.atLeast
        }
        self.server.core.watch(1, Sample.watch, atLeast: position)
        try self.server.connect()
        #expect(try demanded() == position)
        try self.server.reconnect()
        #expect(try demanded() == position)
        try self.server.say(Sample.entitled(4, revision: 6), on: 2)
        try self.server.reconnect()
        #expect(try demanded() == nil)
    }

    @Test func `a stream without consumers for a while resumes from the last value they saw`() throws {
        let info = ValueInfo(
            position: Position(revision: 6, asOf: Instant(milliseconds: 0)), committed: Instant(milliseconds: 0),
            cause: .purchase, token: [6])
        self.server.core.watch(1, Sample.watch, atLeast: nil, last: .entitlement(Sample.transaction(4)), info: info)
        try self.server.connect()
        #expect(try self.tokenSent == [6])
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: 1)
        #expect(self.server.actions().shown(1) == ["4"], "they are loading until it is known that nothing has changed")
        try self.server.reconnect()
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: 2)
        #expect(self.server.actions().shown(1).isEmpty)
    }

    @Test func `that begins with a token for another store than is known hears that it is refused`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        _ = try self.server.call()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        self.server.core.ended("killed")
        self.server.core.watch(2, Sample.watch, atLeast: nil, token: [6])
        try self.server.advanceToWake()
        try self.server.connect { $0.epoch = 2 }
        let sent = try self.server.sent()
        #expect(
            sent.map { $0.request?.watchToken } == [[], [6]],
            "the first may start again; only the consumer of the second knows its value")
        _ = self.server.actions()
        try self.server.end(sent[1].stream, .tokenOtherStore)
        #expect(self.server.actions().shown(2) == ["final TOKEN_OTHER_STORE after nothing"])
    }

    @Test func `that ends, or is left, in the middle of a group takes no place in it`() throws {
        try self.open(4)
        for stream in 1...4 as ClosedRange<UInt32> {
            try self.server.say(Sample.entitled(UInt64(stream), revision: 6), on: stream)
        }
        _ = self.server.actions()
        for stream in 1...4 as ClosedRange<UInt32> {
            try self.server.say(Sample.entitled(10 + UInt64(stream), revision: 7), on: stream)
        }
        self.server.core.unwatch(2)
        try self.server.end(3, .appUnknown)
        _ = self.server.actions()
        try self.server.beat(7)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["11"] && actions.shown(4) == ["14"])
        #expect(actions.shown(2).isEmpty && actions.shown(3).isEmpty)
    }

    @Test func `that begins with a token whose value its consumers keep says that it is unchanged, once`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil, token: [6])
        try self.server.connect()
        #expect(try self.tokenSent == [6])
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: 1)
        #expect(self.server.actions().shown(1) == ["unchanged"])
        try self.server.reconnect()
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: 2)
        #expect(self.server.actions().shown(1).isEmpty)
        try self.server.say(Sample.entitled(4, revision: 10), on: 2)
        #expect(self.server.actions().shown(1) == ["4"])
    }

    // MARK: Refusals

    @Test(arguments: [
        ErrorReason.accountKey, .appUnknown, .permissionDenied, .unknownMethod, .fieldInvalid, .unauthenticated,
        .requestTooLong, .inflateLimit,
    ])
    func `that is refused for good says why, with the last value, and ends`(_ reason: ErrorReason) throws {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        _ = self.server.actions()
        try self.server.end(1, reason)
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["final \(reason.rawValue) after 4"] && actions.last == .endWatch(1))
        try self.server.beat()
        #expect(try self.server.sent().isEmpty)
    }

    @Test(arguments: [ErrorReason.behind, .storeFailed, .internal, .callsLimit])
    func `that is refused for now says so, and is opened again after a pause`(_ reason: ErrorReason) throws {
        try self.open()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        _ = self.server.actions()
        try self.server.end(1, reason)
        #expect(self.server.actions().shown(1) == ["\(reason.rawValue) after 4"])
        #expect(try self.server.sent().isEmpty)
        #expect(try self.server.advanceToWake() <= 1_000)
        #expect(try self.tokenSent == [6])
        try self.server.say(.currentEntitlementTask(.unchanged(Sample.info(9))), on: 2)
        #expect(self.server.actions().shown(1) == ["4"])
    }

    @Test func `that is refused for a while is not opened again before the server has said`() throws {
        try self.open()
        let status = WireStatus(
            .callRate, "too many calls", details: [StatusDetail(key: "retry_after_ms", value: "7000")])
        try self.server.end(1, status.status)
        let pause = try self.server.advanceToWake()
        #expect(pause >= 7_000 && pause <= 8_000)
        #expect(try self.tokenSent == [])
    }

    @Test func `a stream without consumers is cancelled, and later messages are dropped`() throws {
        try self.open()
        self.server.core.unwatch(1)
        #expect(try self.server.sent().map(\.kind) == [.cancel])
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        try self.server.end(1, .cancelled)
        #expect(self.server.actions().isEmpty)
        self.server.core.unwatch(1)
        #expect(self.server.output.isEmpty, "twice is a race, and ignored")
    }

    @Test func `a state stream takes a number that no call of this connection has`() throws {
        try self.open(3)
        self.server.core.unwatch(2)
        try self.server.end(1, .cancelled)
        _ = try self.server.sent()
        for id in 10..<20 as Range<ItemID> { self.server.core.watch(id, Sample.watch, atLeast: nil) }
        let streams = try self.server.sent().map(\.stream)
        #expect(Set(streams).count == 10 && !streams.contains(2) && !streams.contains(3))
    }

    @Test func `a stream of an ended client is over`() throws {
        try self.open()
        self.server.core.close()
        #expect(self.server.actions().contains(.endWatch(1)))
        self.server.core.watch(2, Sample.watch, atLeast: nil)
        let actions = self.server.actions()
        #expect(actions.shown(2) == ["final CLOSED after nothing"] && actions.last == .endWatch(2))
    }
}
