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

    @Test func `a stream of events hands on the unfinished ones, then the place where new events begin, then those`()
        throws
    {
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

    @Test func `a stream continues after its last event on the next connection`() throws {
        try self.open(after: [40])
        try self.server.say(Sample.event(7, cursor: [60]), on: 1)
        #expect(self.server.actions().events(1) == [7])
        try self.server.reconnect()
        #expect(try self.cursorSent == [60])
    }

    @Test func `a resumed stream that hears its cursor first has that cursor and no event`() throws {
        try self.open(after: [40])
        try self.server.say(.transactionUpdates(TransactionEvent(cursor: [40], revision: 5)), on: 1)
        let items = self.server.actions().flatMap { action -> [UpdateItem] in
            guard case .events(1, let items) = action else { return [] }
            return items
        }
        #expect(items == [UpdateItem(update: nil, cursor: UpdateCursor(bytes: [40]))])
        try self.server.reconnect()
        #expect(try self.cursorSent == [40])
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

    @Test func `a stream of events leaves out what this client caused, and still passes its place`() throws {
        try self.open(after: [40])
        try self.server.say(Sample.event(7, cursor: [60], origin: ScriptedServer.clientID), on: 1)
        try self.server.say(Sample.event(8, cursor: [61], origin: [4]), on: 1)
        try self.server.say(Sample.event(9, cursor: [62], origin: ScriptedServer.clientID), on: 1)
        #expect(self.server.actions().events(1) == [8])
        try self.server.reconnect()
        #expect(try self.cursorSent == [62])
    }

    @Test func `a stream of events hands on what this client caused where that was asked for`() throws {
        try self.open(after: [40], includesOwn: true)
        try self.server.say(Sample.event(7, cursor: [60], origin: ScriptedServer.clientID), on: 1)
        #expect(self.server.actions().events(1) == [7])
    }

    // MARK: Changes of this client's own

    private func change(_ id: ItemID, _ revision: UInt64?) throws {
        self.server.core.call(id, Sample.clock, timeoutMilliseconds: 5_000)
        guard let revision else { return }
        try self.answer(try self.server.call().stream, revision)
    }

    private func answer(_ stream: UInt32, _ revision: UInt64) throws {
        let position = Position(revision: revision, asOf: Instant(milliseconds: 1))
        try self.server.answer(.setClock(SetClockResponse(position: position)), on: stream)
    }

    private func event(_ id: TransactionID, own: Bool = true) throws {
        try self.server.say(
            Sample.event(id, cursor: [UInt8(id)], origin: own ? ScriptedServer.clientID : [4]), on: 1)
    }

    @Test func `own events before their answer wait for it and delay later events, and are then left out`() throws {
        try self.open(after: [4])
        try self.change(2, nil)
        let call = try self.server.call().stream
        try self.event(6)
        try self.event(7, own: false)
        #expect(self.server.actions().isEmpty)
        try self.answer(call, 6)
        let actions = self.server.actions()
        #expect(actions.events(1) == [7])
        guard case .events(1, let items)? = actions.last else {
            Issue.record("nothing was handed on")
            return
        }
        #expect(items.map(\.cursor?.bytes) == [[6], [7]], "its place is passed")
    }

    @Test func `own events after their answer are left out, even if another call is pending or in doubt`() throws {
        try self.open(after: [4])
        try self.change(2, 6)
        try self.change(3, nil)
        try self.event(6)
        _ = self.server.actions()
        self.server.core.cancelCall(3)
        try self.event(6)
        #expect(self.server.actions().events(1).isEmpty)
    }

    enum Loss: CaseIterable { case late, cancelled, broken, failed }

    @Test(arguments: Loss.allCases)
    func `own events with a lost answer are delivered, before or after the loss is known`(_ loss: Loss) throws {
        try self.open(after: [4])
        try self.change(2, 6)
        try self.change(3, nil)
        let call = try self.server.call().stream
        try self.event(7)
        #expect(self.server.actions().events(1).isEmpty)
        var stream: UInt32 = 1
        switch loss {
        case .late: self.server.advance(5_000)
        case .cancelled: self.server.core.cancelCall(3)
        case .failed: try self.server.end(call, .storeFailed)
        case .broken:
            let actions = try self.server.reconnect()
            #expect(actions.error(3)?.reason == .outcomeUnknown && actions.events(1) == [7])
            stream = try self.server.call().stream
        }
        if loss != .broken {
            let actions = self.server.actions()
            #expect(actions.error(3)?.mayHaveHappened == true && actions.events(1) == [7])
        }
        // There may be more events of doubtful calls: a caller that cancels one of two does not know which was done.
        try self.server.say(Sample.event(8, cursor: [8], origin: ScriptedServer.clientID), on: stream)
        #expect(self.server.actions().events(1) == [8])
        try self.server.say(Sample.event(6, cursor: [9], origin: ScriptedServer.clientID), on: stream)
        #expect(self.server.actions().events(1).isEmpty, "that was told")
    }

    @Test func `that are refused leave no doubt`() throws {
        try self.open(after: [4])
        try self.change(2, nil)
        try self.server.end(try self.server.call().stream, .clockBackwards)
        _ = self.server.actions()
        try self.event(6)
        #expect(self.server.actions().events(1).isEmpty)
    }

    @Test func `undecided own events delay at most a consumer's limit of events, and then the stream continues`() throws
    {
        try self.open(after: [4])
        try self.change(2, nil)
        let call = try self.server.call().stream
        try self.event(6)
        for number in 0..<Limits.clientEventsMax { try self.event(7 + TransactionID(number % 200), own: false) }
        let sent = try self.server.sent()
        #expect(sent.map(\.kind) == [.cancel], "the server keeps the rest")
        try self.answer(call, 6)
        #expect(self.server.actions().events(1).count == Limits.clientEventsMax - 1)
        guard case .transactionUpdates(let request)? = try self.server.call().request else {
            Issue.record("it does not go on")
            return
        }
        #expect(request.cursor == [UInt8(7 + (Limits.clientEventsMax - 2) % 200)], "after the last that it took")
    }

    /// Remembered only as long as there is something in doubt, and then no more than the limit: twice is better than never.
    @Test func `a stream of events are remembered within their limit, the newest of them`() {
        var own = OwnMutations()
        func change(_ revision: UInt64) {
            let before = own.sent()
            let position = Position(revision: revision, asOf: Instant(milliseconds: 1))
            own.ended(sentAfter: before, .success(.setClock(SetClockResponse(position: position))))
        }
        for revision in 1...10_000 as ClosedRange<UInt64> { change(revision) }
        #expect(own.toldCount < 100 && own.knowledge(of: 1) == .told, "nothing is in doubt")
        let before = own.sent()
        #expect(own.knowledge(of: 10_001) == .undecided && own.knowledge(of: 10_000) == .told)
        own.ended(
            sentAfter: before,
            .failure(PerchError(code: .cancelled, reason: "CANCELLED", message: "", mayHaveHappened: true)))
        let last = 10_002 + UInt64(Limits.clientToldRevisionsMax) * 3
        for revision in 10_002...last { change(revision) }
        #expect(own.toldCount <= Limits.clientToldRevisionsMax)
        #expect(own.knowledge(of: 10_001) == .untold && own.knowledge(of: last) == .told)
        #expect(own.knowledge(of: last - 1_000) == .told && own.knowledge(of: 10_002) == .untold)
    }

    @Test func `events of many calls are delivered once each`() throws {
        try self.open(after: [4])
        try self.change(900, nil)
        let doubtful = try self.server.call().stream
        self.server.core.cancelCall(900)
        #expect(try self.server.sent().map(\.kind) == [.cancel])
        for number in 0..<500 as Range<UInt64> { try self.change(1_000 + number, 10 + number) }
        try self.server.end(doubtful, .cancelled)
        _ = self.server.actions()
        for revision in 9..<511 as Range<UInt64> {
            try self.server.say(
                Sample.event(revision, cursor: [1], origin: ScriptedServer.clientID), on: 1)
        }
        #expect(self.server.actions().events(1) == [9, 510], "all but those had their answers")
    }

    @Test(arguments: [
        ErrorReason.cursorTooOld, .cursorMalformed, .tokenOtherStore, .tokenFuture, .permissionDenied,
    ])
    func `a stream of events ends with why when going on would leave a gap`(_ reason: ErrorReason) throws {
        try self.open(after: [40])
        try self.server.end(1, reason, "begin anew")
        guard case .endUpdates(1, let error)? = self.server.actions().last else {
            Issue.record("it did not end")
            return
        }
        #expect(error.reason.rawValue == reason.rawValue && error.message == "begin anew")
        #expect(try self.server.sent().isEmpty)
    }

    @Test func `that the server ends for now is opened again after a pause, where it was`() throws {
        try self.open(after: [40])
        try self.server.end(1, .storeFailed)
        #expect(try self.server.sent().isEmpty)
        #expect(try self.server.advanceToWake() <= 1_000)
        #expect(try self.cursorSent == [40])
    }

    @Test func `a stream with a slow consumer is cancelled, drops later events, and resumes at its cursor`() throws {
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

    @Test func `a stream beside watches is delivered at once, and makes the watches wait for each other`() throws {
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

    @Test func `an empty event is a breach`() throws {
        try self.open()
        try self.server.say(.transactionUpdates(TransactionEvent()), on: 1)
        #expect(self.server.actions().refused?.reason == .protocolBreach)
    }

    @Test func `a stream without a consumer is cancelled, and ends with its client`() throws {
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
                        code: .cancelled, reason: .closed, message: "the client was closed; make another one")
                )))
    }
}
