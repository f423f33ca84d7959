import PerchBase
import PerchClient
import PerchModel
import PerchWire
import Testing

@Suite struct `a stream of events` {
    private let server = ScriptedServer()

    private func open(after cursor: [UInt8] = [], includesOwn: Bool = false) throws {
        self.server.core.followUpdates(
            1, TransactionUpdatesRequest(account: "anna", cursor: cursor), includesOwn: includesOwn)
        try self.server.connect()
        #expect(try self.cursorSent == cursor)
    }

    private var cursorSent: [UInt8]? {
        get throws {
            guard case .transactionUpdates(let request)? = try self.server.call().request else { return nil }
            return request.cursor
        }
    }

    private let marker = Response.transactionUpdates(TransactionEvent(cursor: [50], revision: 5))

    @Test func `hands on the unfinished ones, then the place where new events begin, then those`() throws {
        try self.open()
        try self.server.say(Sample.event(1, cursor: []), on: 1)
        try self.server.say(self.marker, on: 1)
        try self.server.say(Sample.event(7, cursor: [60]), on: 1)
        let items = self.server.actions().flatMap { action -> [UpdateItem] in
            guard case .events(1, let items) = action else { return [] }
            return items
        }
        #expect(items.map { $0.update?.transaction.value.id } == [1, nil, 7])
        #expect(items.map { $0.cursor?.bytes } == [nil, [50], [60]])
    }

    @Test func `goes on after the last event on the next connection`() throws {
        try self.open(after: [40])
        try self.server.say(Sample.event(7, cursor: [60]), on: 1)
        #expect(self.server.actions().events(1) == [7])
        try self.server.reconnect()
        #expect(try self.cursorSent == [60])
    }

    @Test func `that broke among the unfinished ones hands on those that are new or have changed`() throws {
        try self.open()
        try self.server.say(Sample.event(1, cursor: []), on: 1)
        try self.server.say(Sample.event(2, cursor: []), on: 1)
        #expect(self.server.actions().events(1) == [1, 2])
        try self.server.reconnect()
        #expect(try self.cursorSent == [])
        var revoked = Sample.transaction(1)
        revoked.value.revocation = Revocation(
            date: Instant(milliseconds: 5), reason: .other, type: .refundFull, percentageMilli: 100_000)
        try self.server.say(
            .transactionUpdates(TransactionEvent(transaction: revoked, kind: .unfinished, revision: 1)), on: 2)
        try self.server.say(Sample.event(2, cursor: []), on: 2)
        try self.server.say(Sample.event(3, cursor: []), on: 2)
        #expect(self.server.actions().events(1) == [1, 3])
    }

    @Test func `leaves out what this client caused, and still passes its place`() throws {
        try self.open(after: [40])
        try self.server.say(Sample.event(7, cursor: [60], origin: ScriptedServer.clientID), on: 1)
        try self.server.say(Sample.event(8, cursor: [61], origin: [4]), on: 1)
        try self.server.say(Sample.event(9, cursor: [62], origin: ScriptedServer.clientID), on: 1)
        #expect(self.server.actions().events(1) == [8])
        try self.server.reconnect()
        #expect(try self.cursorSent == [62])
    }

    @Test func `hands on what this client caused where that was asked for`() throws {
        try self.open(after: [40], includesOwn: true)
        try self.server.say(Sample.event(7, cursor: [60], origin: ScriptedServer.clientID), on: 1)
        #expect(self.server.actions().events(1) == [7])
    }

    @Test(arguments: [
        ErrorReason.cursorTooOld, .cursorMalformed, .tokenOtherStore, .tokenFuture, .permissionDenied,
    ])
    func `ends with why when going on would leave a gap`(_ reason: ErrorReason) throws {
        try self.open(after: [40])
        try self.server.end(1, reason, "begin anew")
        guard case .endUpdates(1, let error)? = self.server.actions().last else {
            Issue.record("it did not end")
            return
        }
        #expect(error.reason == reason.rawValue && error.message == "begin anew")
        #expect(try self.server.sent().isEmpty)
    }

    @Test func `that the server ends for now is opened again after a pause, where it was`() throws {
        try self.open(after: [40])
        try self.server.end(1, .storeFailed)
        #expect(try self.server.sent().isEmpty)
        #expect(try self.server.advanceToWake() <= 1_000)
        #expect(try self.cursorSent == [40])
    }

    @Test func `whose consumer has enough is cancelled, drops what comes, and goes on where it was`() throws {
        try self.open(after: [40])
        try self.server.say(Sample.event(7, cursor: [60]), on: 1)
        self.server.core.pauseUpdates(1)
        #expect(try self.server.sent().map(\.kind) == [.cancel])
        _ = self.server.actions()
        try self.server.say(Sample.event(8, cursor: [61]), on: 1)
        try self.server.end(1, .cancelled)
        #expect(self.server.actions().isEmpty)
        try self.server.reconnect()
        #expect(try self.server.sent().isEmpty, "a pause outlasts a connection")
        self.server.core.resumeUpdates(1)
        #expect(try self.cursorSent == [60])
        self.server.core.resumeUpdates(1)
        #expect(try self.server.sent().isEmpty)
    }

    @Test func `beside watches is handed on at once, and makes them wait for each other`() throws {
        self.server.core.followUpdates(
            1, TransactionUpdatesRequest(account: "anna", cursor: [40]), includesOwn: false)
        self.server.core.watch(2, Sample.watch, atLeast: nil)
        try self.server.connect()
        // Watches are opened first.
        #expect(try self.server.sent().map { $0.request?.method } == [.currentEntitlementTask, .transactionUpdates])
        try self.server.say(.currentEntitlementTask(.loading), on: 1)
        try self.server.say(Sample.event(7, cursor: [60]), on: 2)
        #expect(self.server.actions().events(1) == [7])
        try self.server.say(Sample.entitled(7, revision: 7), on: 1)
        #expect(self.server.actions().isEmpty, "it is one of two watches now")
        try self.server.beat(7)
        #expect(self.server.actions().shown(2) == ["7"])
    }

    @Test func `with an event that says nothing is a breach`() throws {
        try self.open()
        try self.server.say(.transactionUpdates(TransactionEvent()), on: 1)
        #expect(self.server.actions().waiting?.reason == PerchError.protocolBreach)
    }

    @Test func `that nobody listens to is cancelled, and ends with its client`() throws {
        try self.open()
        self.server.core.unfollowUpdates(1)
        #expect(try self.server.sent().map(\.kind) == [.cancel])
        self.server.core.followUpdates(2, TransactionUpdatesRequest(account: "anna"), includesOwn: false)
        self.server.core.close()
        #expect(
            self.server.actions().contains(
                .endUpdates(
                    2,
                    .init(
                        code: .cancelled, reason: PerchError.closed, message: "the client was closed; make another one")
                )))
    }
}
