import PerchBase
import PerchClient
import PerchModel
import PerchWire
import Testing

@Suite struct `a call` {
    private let server = ScriptedServer()
    private let id: ItemID = 77

    @Test func `a call waits for the connection that it asks for, and is answered`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        #expect(self.server.output.isEmpty, "nothing goes out before WELCOME")
        try self.server.connect()
        let call = try self.server.call()
        #expect(call.request == Sample.read)
        #expect(call.timeoutMilliseconds == 4_800, "the server's answer must come before the client gives up")
        try self.server.answer(Sample.noEntitlement, on: call.stream)
        #expect(self.server.actions() == [.finish(self.id, .success(Sample.noEntitlement))])
        #expect(self.server.nextWake == 76_000, "only the watchdog is left")
    }

    @Test func `that is refused has the reason, the numbers and the code of the server`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        try self.server.connect()
        try self.server.end(try self.server.call().stream, .appUnknown, "no such app")
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.code == .notFound && error.reason == "APP_UNKNOWN" && error.message == "no such app")
        #expect(!error.mayHaveHappened)
    }

    @Test func `that the server does not have names the server's version`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        try self.server.connect()
        try self.server.end(try self.server.call().stream, .unknownMethod, "there is no such method")
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.details["server_version"] == "9" && error.message.contains("older than this client"))
        #expect(error.message.contains("the version 9") && !error.isTransient)
    }

    @Test func `that only reads is sent once more when its connection breaks, and then lost`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 500_000)
        try self.server.connect()
        _ = try self.server.call()
        try self.server.reconnect()
        #expect(try self.server.call().request == Sample.read)
        self.server.core.ended("cut again")
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.reason == .connectionLost && error.code == .unavailable && !error.mayHaveHappened)
    }

    @Test func `a call with an idempotency key is sent again with the same key`() throws {
        self.server.core.call(self.id, Sample.keyed, timeoutMilliseconds: 500_000)
        try self.server.connect()
        for _ in 1..<Limits.clientMutationAttemptsMax {
            #expect(try self.server.call().request == Sample.keyed)
            #expect(try self.server.reconnect().result(self.id) == nil)
        }
        #expect(try self.server.call().request == Sample.keyed)
        self.server.core.ended("cut for the last time")
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.mayHaveHappened && error.reason == .outcomeUnknown)
        #expect(error.message.contains("\(Limits.clientMutationAttemptsMax) times"))
    }

    @Test(arguments: [
        Sample.clock, .configure(ConfigureRequest(settings: [.timeRate(1)])),
        .loadCatalog(LoadCatalogRequest(file: [1])),
        .operate(OperateRequest(account: "anna", operation: .buy(PurchaseOrder(productID: "gold")))),
    ])
    func `a call that might happen twice is never sent again, and reports an unknown outcome`(_ request: Request) throws
    {
        self.server.core.call(self.id, request, timeoutMilliseconds: 500_000)
        try self.server.connect()
        _ = try self.server.call()
        self.server.core.ended("cut")
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.code == .unknown && error.reason == .outcomeUnknown && error.mayHaveHappened)
        #expect(error.details["reason"] == "CONNECTION_LOST")
    }

    @Test func `that was never sent survives a broken connection, whatever it does`() throws {
        self.server.core.call(1, Sample.read, timeoutMilliseconds: 500_000)
        try self.server.connect()
        _ = try self.server.call()
        try self.server.drain(Drain(reason: "SHUTTING_DOWN"))
        self.server.core.call(self.id, Sample.clock, timeoutMilliseconds: 500_000)
        #expect(try self.server.sent().isEmpty, "a server that drains is asked nothing new")
        try self.server.reconnect()
        let sent = try self.server.sent()
        #expect(sent.map(\.request) == [Sample.read, Sample.clock], "the older first")
    }

    @Test func `that the server was too late for, since it stops, goes to the next connection`() throws {
        self.server.core.call(self.id, Sample.keyed, timeoutMilliseconds: 500_000)
        try self.server.connect()
        try self.server.end(try self.server.call().stream, .shuttingDown)
        #expect(self.server.actions().result(self.id) == nil)
        try self.server.reconnect()
        #expect(try self.server.call().request == Sample.keyed)
    }

    @Test func `a call without a server fails at once with the reason, also between two attempts`()
        throws
    {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        let refused = PerchError(code: .unavailable, reason: .connectFailed, message: "refused")
        #expect(self.server.actions().contains(.connect))
        self.server.core.connectFailed(refused)
        #expect(self.server.actions().error(self.id) == refused)
        // A watch keeps the client trying.
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        self.server.core.connectFailed(refused)
        _ = self.server.actions()
        self.server.core.call(78, Sample.read, timeoutMilliseconds: 5_000)
        let error = try #require(self.server.actions().error(78))
        #expect(error.reason == .connectFailed && error.message.hasPrefix("refused; the next try is in "))
    }

    @Test func `a call can wait for a server, up to its timeout`() throws {
        let server = ScriptedServer { $0.waitsForServer = true }
        server.core.call(self.id, Sample.read, timeoutMilliseconds: 100_000)
        for _ in 0..<3 {
            #expect(server.actions().contains(.connect))
            server.core.connectFailed(PerchError(code: .unavailable, reason: .connectFailed, message: "no"))
            #expect(server.actions().result(self.id) == nil)
            try server.advanceToWake()
        }
        try server.connect()
        try server.answer(Sample.noEntitlement, on: try server.call().stream)
        #expect(server.actions().result(self.id) == .success(Sample.noEntitlement))
    }

    @Test func `a call ends at its timeout, is cancelled, and a late answer is dropped`() throws {
        self.server.core.call(self.id, Sample.keyed, timeoutMilliseconds: 5_000)
        try self.server.connect()
        let stream = try self.server.call().stream
        self.server.advance(4_999)
        #expect(self.server.actions().isEmpty)
        self.server.advance(1)
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.code == .deadlineExceeded && error.mayHaveHappened && error.message.contains("5000 ms"))
        #expect(try self.server.sent().map(\.kind) == [.cancel])
        try self.server.answer(.operate(OperateResponse()), on: stream)
        #expect(self.server.actions().isEmpty)
    }

    @Test func `that its caller cancelled is cancelled at the server, and its number rests until STATUS`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        try self.server.connect()
        let stream = try self.server.call().stream
        self.server.core.cancelCall(self.id)
        #expect(self.server.actions().error(self.id)?.code == .cancelled)
        #expect(try self.server.sent().map { [$0.kind == .cancel, $0.stream == stream] } == [[true, true]])
        self.server.core.cancelCall(self.id)
        #expect(self.server.actions().isEmpty && self.server.output.isEmpty, "twice is a race, and ignored")
        try self.server.say(Sample.noEntitlement, on: stream)
        try self.server.end(stream, .cancelled)
        #expect(self.server.actions().isEmpty)
    }

    @Test func `that waits and is cancelled is never sent`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        self.server.core.call(78, Sample.read, timeoutMilliseconds: 5_000)
        self.server.core.cancelCall(self.id)
        try self.server.connect()
        #expect(try self.server.sent().count == 1)
    }

    @Test func `a call with a NUL in a text is refused by the client, because C would cut the text`() throws {
        let request = Request.getCurrentEntitlement(CurrentEntitlementRequest(account: "an\u{0}na", productID: "gold"))
        self.server.core.call(self.id, request, timeoutMilliseconds: 5_000)
        let error = try #require(try self.server.connect().error(self.id))
        #expect(error.reason == "TEXT_HAS_NUL" && error.details == ["field": "account", "at_byte": "2"])
        #expect(try self.server.sent().isEmpty)
    }

    @Test func `a call over the server's limit is refused by the client, and the connection stays`() throws {
        self.server.core.call(1, Sample.read, timeoutMilliseconds: 5_000)
        try self.server.connect { $0.limits?.frameBytes = 1_000 }
        _ = try self.server.call()
        self.server.core.call(
            self.id, .checkCatalog(CheckCatalogRequest(file: .init(repeating: 32, count: 2_000))),
            timeoutMilliseconds: 5_000)
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.code == .resourceExhausted && error.details["limit"] == "1000" && !error.mayHaveHappened)
        #expect(try self.server.sent().isEmpty)
    }

    @Test func `beyond as many as a server takes is refused here`() throws {
        for number in 0..<Limits.clientCallsMax {
            self.server.core.call(ItemID(number) + 1_000, Sample.read, timeoutMilliseconds: 5_000)
        }
        #expect(!self.server.actions().contains { if case .finish = $0 { true } else { false } })
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.reason == "CALLS_LIMIT" && error.details == ["found": "65536", "limit": "65536"])
    }

    @Test func `after the end of the client fails, and those under way do too`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        try self.server.connect()
        self.server.core.close()
        let actions = self.server.actions()
        #expect(actions.error(self.id)?.reason == .closed)
        #expect(actions.contains(.disconnect) && actions.last == .connection(.closed))
        self.server.core.call(78, Sample.read, timeoutMilliseconds: 5_000)
        #expect(self.server.actions().error(78)?.reason == .closed)
        #expect(self.server.nextWake == nil)
    }

    @Test func `that changes something, and is under way when the client ends, may have happened`() throws {
        self.server.core.call(1, Sample.clock, timeoutMilliseconds: 5_000)
        try self.server.connect()
        self.server.core.call(2, Sample.read, timeoutMilliseconds: 5_000)
        self.server.core.close()
        let actions = self.server.actions()
        #expect(actions.error(1)?.reason == .closed && actions.error(1)?.mayHaveHappened == true)
        #expect(actions.error(2)?.mayHaveHappened == false)
    }

    @Test(arguments: [0, -1] as [Int64]) func `a call without time left fails before it is sent`(_ timeout: Int64)
        throws
    {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        _ = try self.server.sent()
        self.server.core.call(self.id, Sample.clock, timeoutMilliseconds: timeout)
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.reason == "DEADLINE" && !error.mayHaveHappened)
        #expect(try self.server.sent().isEmpty)
    }

    @Test func `a cancelled waiting call leaves the others in their order`() throws {
        for id in 1...9 as ClosedRange<ItemID> {
            self.server.core.call(id, Sample.read, timeoutMilliseconds: ItemID.Stride(id) == 5 ? 1 : 5_000)
        }
        for id in [8, 1, 3, 2, 9] as [ItemID] { self.server.core.cancelCall(id) }
        self.server.advance(1)
        self.server.core.call(10, Sample.clock, timeoutMilliseconds: 5_000)
        let ended = try self.server.connect()
        #expect([1, 2, 3, 5, 8, 9].allSatisfy { ended.error($0) != nil })
        #expect(try self.server.sent().map(\.request) == [Sample.read, Sample.read, Sample.read, Sample.clock])
        for stream in 1...3 as ClosedRange<UInt32> { try self.server.answer(Sample.noEntitlement, on: stream) }
        let answered = self.server.actions()
        #expect([4, 6, 7].allSatisfy { answered.result($0) == .success(Sample.noEntitlement) })
    }

    @Test func `made a while after the last try is worth a try of its own`() throws {
        let server = ScriptedServer { $0.reconnectBaseMilliseconds = 100 }
        server.core.watch(1, Sample.watch, atLeast: nil)
        for _ in 0..<12 {
            server.core.connectFailed(PerchError(code: .unavailable, reason: .connectFailed, message: "no"))
            if server.nextWake.map({ $0 - server.time.monotonic > 200 }) == true { break }
            try server.advanceToWake()
        }
        _ = server.actions()
        server.core.call(2, Sample.read, timeoutMilliseconds: 5_000)
        #expect(server.actions().error(2)?.reason == .connectFailed, "that was just tried")
        server.advance(100)
        server.core.call(3, Sample.read, timeoutMilliseconds: 0)
        #expect(server.actions().error(3)?.reason == "DEADLINE")
        #expect(server.nextWake != nil, "the watch still waits for its time")
        server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        try server.connect()
        _ = server.actions()
        let call = try #require(try server.sent().last)
        try server.answer(Sample.noEntitlement, on: call.stream)
        #expect(server.actions().result(self.id) == .success(Sample.noEntitlement))
    }

    @Test func `that waited in vain says why there was no connection`() throws {
        let server = ScriptedServer { $0.waitsForServer = true }
        server.core.call(self.id, Sample.read, timeoutMilliseconds: 100)
        server.core.connectFailed(
            PerchError(code: .unauthenticated, reason: .tlsUntrusted, message: "another authority"))
        server.advance(100)
        let error = try #require(server.actions().error(self.id))
        #expect(error.reason == "DEADLINE" && error.message.contains("TLS_UNTRUSTED: another authority"))
    }

    @Test func `that a stopping server has not begun is sent again even if it could not be repeated`() throws {
        self.server.core.call(self.id, Sample.clock, timeoutMilliseconds: 500_000)
        try self.server.connect()
        try self.server.end(try self.server.call().stream, .shuttingDown)
        #expect(self.server.actions().result(self.id) == nil)
        // The server sends the same status again and again without closing: the client must give up.
        for _ in 0..<Limits.clientReadAttemptsMax {
            try self.server.reconnect()
            try self.server.end(try self.server.call().stream, .shuttingDown)
        }
        let error = try #require(self.server.actions().error(self.id))
        #expect(error.reason == "SHUTTING_DOWN" && !error.mayHaveHappened)
    }

    // MARK: Credentials that have ended

    private static let answers: [(request: Request, answer: Response)] = [
        (Sample.read, Sample.noEntitlement),
        (Sample.keyed, .operate(OperateResponse(position: Sample.info(6).position))),
        (Sample.clock, .setClock(SetClockResponse(position: Sample.info(6).position))),
    ]

    @Test(arguments: Self.answers)
    func `a call with expired credentials is repeated with those of the next connection`(
        _ request: Request, _ answer: Response
    ) throws {
        let server = ScriptedServer { $0.canReauthenticate = true }
        server.core.call(1, Sample.clock, timeoutMilliseconds: 500_000)
        server.core.call(2, request, timeoutMilliseconds: 500_000)
        try server.connect()
        #expect(try server.sent().map(\.stream) == [1, 2])
        try server.end(2, .credentialsExpired)
        #expect(!server.actions().contains(.disconnect), "another attempt is running, and its result would be unknown")
        server.core.call(3, Sample.read, timeoutMilliseconds: 500_000)
        #expect(try server.sent().isEmpty, "there the old ones count")
        let moved = Self.answers[2].answer
        try server.answer(moved, on: 1)
        let actions = server.actions()
        #expect(actions.result(1) == .success(moved) && actions.contains(.disconnect))
        try server.advanceToWake()
        try server.connect()
        let sent = try server.sent()
        #expect(sent.map(\.request) == [request, Sample.read])
        try server.answer(answer, on: sent[0].stream)
        #expect(server.actions().result(2) == .success(answer))
    }

    @Test func `a call without better credentials is refused with the reason`() throws {
        self.server.core.call(self.id, Sample.read, timeoutMilliseconds: 5_000)
        try self.server.connect()
        try self.server.end(1, .credentialsExpired)
        #expect(self.server.actions().error(self.id)?.reason == "CREDENTIALS_EXPIRED")

        let other = ScriptedServer { $0.canReauthenticate = true }
        other.core.call(self.id, Sample.clock, timeoutMilliseconds: 5_000)
        try other.connect()
        try other.end(1, .credentialsExpired)
        try other.advanceToWake()
        #expect(other.actions().contains(.connect))
        other.core.connected(authorization: "")
        try other.drain(Drain(reason: "CREDENTIALS_EXPIRED", message: "it has ended", isFinal: true))
        let error = try #require(other.actions().error(self.id))
        #expect(error.reason == "CREDENTIALS_EXPIRED" && !error.mayHaveHappened)
    }

    @Test func `a call says nothing of accounts, tokens and keys in what may be logged`() throws {
        let request = Request.purchase(
            PurchaseRequest(
                account: "secret-account", order: PurchaseOrder(productID: "gold", appAccountToken: "secret-token"),
                idempotencyKey: Array("secret-key".utf8)))
        self.server.core.call(self.id, request, timeoutMilliseconds: 5_000)
        try self.server.connect()
        self.server.advance(5_000)
        let error = try #require(self.server.actions().error(self.id))
        #expect(!"\(error)\(error.details)".contains("secret"))
    }
}
