import PerchBase
import PerchClient
import PerchModel
import PerchWire
import Testing

@Suite struct `a connection` {
    private let server = ScriptedServer()

    @Test func `a connection is made when first something is asked, and not before`() throws {
        #expect(self.server.actions().isEmpty && self.server.nextWake == nil)
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        #expect(self.server.actions() == [.connect, .connection(.connecting)])
    }

    @Test func `a connection begins with a HELLO that says who the client is and what it reads`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        self.server.core.connected(authorization: "Bearer x")
        let hello = try #require(try self.server.sent().first)
        #expect(
            try MessageCodec().decodeHello(hello.payload.span.bytes)
                == Hello(
                    protocolVersion: 1, authorization: "Bearer x", clientName: "test/1", accepts: [.zlib],
                    heartbeatSeconds: 30, clientID: ScriptedServer.clientID))
    }

    @Test func `a connection reports the server's identity`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        let actions = try self.server.connect { $0.heartbeatSeconds = 12 }
        let info = ServerInfo(
            since: self.server.time.wall, version: "9",
            storeID: StoreIdentity(bytes: [UInt8](repeating: 7, count: 16)), epoch: 1, revision: 5,
            heartbeat: .seconds(12))
        #expect(actions.contains(.connection(.connected(info))))
    }

    @Test func `a connection without WELCOME in time is given up`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        self.server.core.connected(authorization: "")
        self.server.advance(9_999)
        #expect(!self.server.actions().contains(.disconnect))
        self.server.advance(1)
        let actions = self.server.actions()
        #expect(actions.contains(.disconnect) && actions.waiting?.reason == .welcomeTimeout)
    }

    @Test func `a connection is dead after two and a half heartbeats of silence, and any byte is a sign of life`()
        throws
    {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect { $0.heartbeatSeconds = 10 }
        self.server.advance(24_000)
        try self.server.beat()
        self.server.advance(24_999)
        #expect(self.server.actions().isEmpty)
        self.server.advance(1)
        let actions = self.server.actions()
        #expect(actions.contains(.disconnect) && actions.waiting?.reason == .connectionSilent)
        #expect(actions.waiting?.message.contains("25000 ms") == true)
    }

    @Test func `that cannot be made is tried again after pauses drawn from bounds that double up to the cap`() throws {
        var longest: [Int64] = Array(repeating: 0, count: 9)
        for seed in 0..<200 as Range<UInt64> {
            let server = ScriptedServer(seed: seed)
            server.core.watch(1, Sample.watch, atLeast: nil)
            for attempt in longest.indices {
                #expect(server.actions().contains(.connect))
                server.core.connectFailed(PerchError(code: .unavailable, reason: "X", message: ""))
                longest[attempt] = max(longest[attempt], try server.advanceToWake())
            }
        }
        let bounds: [Int64] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]
        for (longest, bound) in zip(longest, bounds) { #expect(longest <= bound && longest > bound * 9 / 10) }
    }

    @Test func `a connection begins with short pauses again only after it was stable`() throws {
        func pauses(lasting milliseconds: Int64, seed: UInt64) throws -> Int64 {
            let server = ScriptedServer(seed: seed)
            server.core.watch(1, Sample.watch, atLeast: nil)
            var longest: Int64 = 0
            for _ in 0..<8 {
                try server.connect()
                server.advance(milliseconds)
                server.core.ended("cut")
                longest = max(longest, try server.advanceToWake())
            }
            return longest
        }
        #expect(try (0..<20).map { try pauses(lasting: 10_000, seed: $0) }.max()! <= 1_000)
        #expect(try (0..<20).map { try pauses(lasting: 9_999, seed: $0) }.max()! > 30_000)
    }

    @Test func `a connection is opened again after DRAIN's time plus a part of its jitter`() throws {
        var pauses: Set<Int64> = []
        for seed in 0..<50 as Range<UInt64> {
            let server = ScriptedServer(seed: seed)
            server.core.watch(1, Sample.watch, atLeast: nil)
            try server.connect()
            let stream = try server.call().stream
            try server.drain(
                Drain(reason: "SHUTTING_DOWN", reconnectAfterMilliseconds: 5_000, jitterMilliseconds: 2_000))
            #expect(server.actions().isEmpty, "calls go on until they are told")
            try server.end(stream, .shuttingDown)
            try server.drain(Drain(reason: "SHUTTING_DOWN", isFinal: true))
            let actions = server.actions()
            #expect(actions.contains(.disconnect) && actions.waiting?.reason == "SHUTTING_DOWN")
            #expect(actions.shown(1).isEmpty, "consumers need not know")
            pauses.insert(try server.advanceToWake())
        }
        #expect(pauses.allSatisfy { (5_000...7_000).contains($0) } && pauses.count > 40)
    }

    @Test func `that is refused before WELCOME says why to those who call, and comes back as DRAIN says`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        self.server.core.call(2, Sample.read, timeoutMilliseconds: 5_000)
        self.server.core.connected(authorization: "")
        try self.server.drain(
            Drain(reason: "CONNECTION_LIMIT", message: "full", reconnectAfterMilliseconds: 30_000, isFinal: true))
        let actions = self.server.actions()
        #expect(actions.error(2)?.reason == "CONNECTION_LIMIT" && actions.error(2)?.code == .resourceExhausted)
        #expect(try self.server.advanceToWake() == 30_000)
    }

    /// Ten thousand clients of a full server would otherwise come back twice a second, for ever.
    @Test func `that is sent away again and again comes back less and less often, and no sooner than DRAIN says`()
        throws
    {
        var longest: [Int64] = Array(repeating: 0, count: 8)
        for seed in 0..<100 as Range<UInt64> {
            let server = ScriptedServer(seed: seed) { $0.canReauthenticate = true }
            server.core.watch(1, Sample.watch, atLeast: nil)
            for attempt in longest.indices {
                server.core.connected(authorization: "")
                try server.drain(
                    Drain(
                        reason: "HANDSHAKE_LIMIT", reconnectAfterMilliseconds: 200, jitterMilliseconds: 1_000,
                        isFinal: true))
                let pause = try server.advanceToWake()
                #expect(pause >= 200)
                longest[attempt] = max(longest[attempt], pause)
            }
        }
        #expect(longest[0] <= 1_200)
        #expect(longest[4] > 12_000 && longest[7] > 50_000 && longest[7] <= 60_000)
    }

    @Test func `a client reconnects after a random pause if DRAIN has no times`() throws {
        var pauses: Set<Int64> = []
        for seed in 0..<50 as Range<UInt64> {
            let server = ScriptedServer(seed: seed)
            server.core.watch(1, Sample.watch, atLeast: nil)
            try server.connect()
            try server.drain(Drain(reason: "WRITE_STALLED", isFinal: true))
            pauses.insert(try server.advanceToWake())
        }
        #expect(pauses.allSatisfy { $0 <= 1_000 } && pauses.count > 30)
    }

    @Test func `a connection is not kept away for longer than the limit by any DRAIN`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        try self.server.drain(Drain(reconnectAfterMilliseconds: .max, jitterMilliseconds: .max, isFinal: true))
        #expect(try self.server.advanceToWake() == Limits.clientAwayMillisecondsMax)
    }

    @Test func `a connection that no call needs is not opened again`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        self.server.core.unwatch(1)
        self.server.core.ended("cut")
        #expect(self.server.actions().last == .connection(.idle))
        #expect(self.server.nextWake == nil)
    }

    @Test func `answers PING with the same bytes, and ignores a PONG`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        _ = try self.server.sent()
        self.server.receive(self.server.frame(.pong, [1, 2, 3, 4, 5, 6, 7, 8]))
        self.server.receive(self.server.frame(.ping, [8, 7, 6, 5, 4, 3, 2, 1]))
        #expect(try self.server.sent().map(\.payload) == [[8, 7, 6, 5, 4, 3, 2, 1]])
    }

    @Test func `a connection does not queue PONGs for a server that reads nothing`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        let ping = self.server.frame(.ping, [8, 7, 6, 5, 4, 3, 2, 1])
        for _ in 0..<20_000 { self.server.receive(ping) }
        #expect(self.server.output.count <= Limits.clientPongBytesMax + 64)
    }

    @Test func `a connection takes bytes in pieces of any size`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        let stream = try self.server.call().stream
        let bytes = self.server.frame(.message, stream: stream, try self.server.bytes(Sample.entitled(4, revision: 6)))
        for byte in bytes { self.server.receive([byte]) }
        #expect(self.server.actions().shown(1) == ["4"])
    }

    @Test(arguments: [ErrorReason.unauthenticated, .credentialsExpired, .credentialsRevoked, .credentialsUntrusted])
    func `a connection with new credentials is opened after the old ones are refused, if new ones may exist`(
        _ reason: ErrorReason
    ) throws {
        let server = ScriptedServer { $0.canReauthenticate = true }
        server.core.watch(1, Sample.watch, atLeast: nil)
        try server.connect()
        try server.end(try server.call().stream, reason)
        let actions = server.actions()
        #expect(actions.contains(.disconnect) && actions.shown(1).isEmpty, "the next ones may be good")
        try server.advanceToWake()
        #expect(server.actions().contains(.connect))
        server.core.connected(authorization: "")
        try server.drain(Drain(reason: reason.rawValue, message: "no better", isFinal: true))
        #expect(server.actions().shown(1) == ["\(reason.rawValue) after nothing"])
        try server.advanceToWake()
        try server.connect()
        try server.say(Sample.entitled(4, revision: 6), on: try server.call().stream)
        #expect(server.actions().shown(1) == ["4"])
    }

    @Test func `a long connection is opened again at once when its credentials end`() throws {
        let server = ScriptedServer { $0.canReauthenticate = true }
        server.core.watch(1, Sample.watch, atLeast: nil)
        try server.connect()
        server.advance(Limits.clientStableMilliseconds)
        try server.end(try server.call().stream, .credentialsExpired)
        #expect(try server.advanceToWake() == 0)
        try server.connect()
        try server.end(try server.call().stream, .credentialsExpired)
        let pause = try server.advanceToWake()
        #expect(pause > 0, "but not again and again")
    }

    static let standing: [PerchError] = [
        PerchError(code: .unauthenticated, reason: .tlsUntrusted, message: "another authority"),
        PerchError(code: .unauthenticated, reason: .tlsWrongName, message: "another name"),
        PerchError(code: .unauthenticated, reason: .tlsExpired, message: "expired"),
        PerchError(code: .unauthenticated, reason: .tlsRefused, message: "no certificate"),
        PerchError(code: .unauthenticated, reason: .authorizationUnreadable, message: "no such file"),
        PerchError(code: .invalidArgument, reason: .tlsFiles, message: "no such file"),
        PerchError(code: .unavailable, reason: .tlsFailed, message: "no TLS"),
        PerchError(code: .unavailable, reason: .tlsIncompatible, message: "no common version"),
    ]

    @Test func `an alert of TLS before WELCOME is a server that wants TLS`() throws {
        self.server.core.call(1, Sample.read, timeoutMilliseconds: 900_000)
        self.server.core.connected(authorization: "")
        _ = self.server.actions()
        self.server.receive([0x15, 3, 1, 0, 2, 2, 70])
        let actions = self.server.actions()
        let error = try #require(actions.refused)
        #expect(actions.contains(.disconnect) && error.reason == .tlsRequired && !error.isTransient)
    }

    @Test(arguments: Self.standing)
    func `every consumer learns that a connection needs help, and when it is back`(
        _ error: PerchError
    ) throws {
        for id in 1...2 as ClosedRange<ItemID> { self.server.core.watch(id, Sample.watch, atLeast: nil) }
        self.server.core.followUpdates(3, TransactionUpdatesRequest(account: "anna"), includesOwn: false)
        for expected in [["\(error.reason) after nothing"], []] {
            self.server.core.connectFailed(error)
            let actions = self.server.actions()
            #expect(actions.shown(1) == expected && actions.shown(2) == expected)
            #expect(!actions.contains { if case .endUpdates = $0 { true } else { false } })
            try self.server.advanceToWake()
        }
        try self.server.connect()
        try self.server.say(Sample.entitled(4, revision: 6), on: 1)
        #expect(self.server.actions().shown(1) == ["4"])
    }

    @Test func `that time may bring is waited for without a word`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        let refused = PerchError(code: .unavailable, reason: .connectFailed, message: "refused")
        self.server.core.connectFailed(refused)
        #expect(self.server.actions().shown(1).isEmpty)
        try self.server.advanceToWake()
        self.server.core.connected(authorization: "")
        try self.server.drain(Drain(reason: "CONNECTION_LIMIT", message: "too many", isFinal: true))
        #expect(self.server.actions().shown(1).isEmpty)
    }

    @Test func `refused credentials that do not change end every stream`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        self.server.core.followUpdates(2, TransactionUpdatesRequest(account: "anna"), includesOwn: false)
        self.server.core.connected(authorization: "Bearer garbage")
        try self.server.drain(Drain(reason: "CREDENTIALS_MALFORMED", message: "no token", isFinal: true))
        let actions = self.server.actions()
        #expect(actions.shown(1) == ["final CREDENTIALS_MALFORMED after nothing"])
        guard
            case .endUpdates(2, let error)? = actions.first(where: { if case .endUpdates = $0 { true } else { false } })
        else {
            Issue.record("the events go on")
            return
        }
        #expect(error.reason == "CREDENTIALS_MALFORMED" && error.code == .unauthenticated)
        #expect(actions.last == .connection(.refused(error)) && self.server.nextWake == nil)
    }

    // MARK: Reasons that waiting does not change

    static let final = ErrorReason.allCases.filter { $0.retry == .no || $0.retry == .newCredentials }

    @Test(arguments: Self.final)
    func `that is refused for good is not made again, and every stream and call says why`(_ reason: ErrorReason) throws
    {
        for isGreeting in [true, false] {
            let server = ScriptedServer()
            server.core.watch(1, Sample.watch, atLeast: nil)
            server.core.followUpdates(2, TransactionUpdatesRequest(account: "anna"), includesOwn: false)
            server.core.call(3, Sample.read, timeoutMilliseconds: 50_000)
            if isGreeting { server.core.connected(authorization: "") } else { try server.connect() }
            try server.drain(
                Drain(
                    reason: reason.rawValue, message: "no", reconnectAfterMilliseconds: 60_000,
                    jitterMilliseconds: 60_000, isFinal: true))
            let actions = server.actions()
            let refusal = PerchError(
                code: .init(rawValue: reason.code.rawValue), reason: .init(rawValue: reason.rawValue), message: "no")
            #expect(!refusal.isTransient)
            #expect(actions.shown(1) == ["final \(reason.rawValue) after nothing"])
            #expect(actions.contains(.endUpdates(2, refusal)) && actions.error(3) == refusal)
            #expect(actions.last == .connection(.refused(refusal)) && server.nextWake == nil)
            server.core.call(4, Sample.read, timeoutMilliseconds: 50_000)
            #expect(
                server.actions() == [.connect, .connection(.connecting)], "who asks again may have changed something")
        }
    }

    @Test
    func `a connection with refused credentials is opened again when their file changes, or after DRAIN's time`()
        throws
    {
        let server = ScriptedServer { $0.canReauthenticate = true }
        server.core.watch(1, Sample.watch, atLeast: nil)
        server.core.connected(authorization: "Bearer old")
        try server.drain(
            Drain(
                reason: "CREDENTIALS_EXPIRED", message: "over", reconnectAfterMilliseconds: 60_000, isFinal: true))
        #expect(server.actions().shown(1) == ["CREDENTIALS_EXPIRED after nothing"])
        let pause = try server.advanceToWake()
        #expect(pause <= 1_000 && server.actions().contains(.connect), "to look at the file")
        #expect(server.refusal(of: "Bearer new") == nil)
        var waited = pause
        while let refusal = server.refusal(of: "Bearer old") {
            #expect(refusal.reason == "CREDENTIALS_EXPIRED" && waited < 60_000)
            server.core.connectFailed(refusal)
            waited += try server.advanceToWake()
        }
        #expect(waited >= 60_000)
    }

    // MARK: A server that breaks the protocol

    struct Breach: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The state of the connection: before WELCOME, or with a call on stream 1.
        var isGreeting = false
        var bytes: [UInt8]
        var says: String

        init(_ name: String, isGreeting: Bool = false, _ bytes: [UInt8], _ says: String) {
            self.testDescription = name
            self.isGreeting = isGreeting
            self.bytes = bytes
            self.says = says
        }
    }

    @Test(arguments: [
        Breach("an unknown kind", [99], "frame kind 99 is unknown"),
        Breach("a reserved flag", [4, 0, 0, 1, 2, 0, 0, 0, 0], "reserved bits"),
        Breach("a frame over the limit", [4, 0, 0, 1, 0, 0, 64, 0, 1], "4194305 bytes, the limit is 4194304"),
        Breach("HELLO from a server", [1, 0, 0, 0, 0, 0, 0, 0, 0], "only clients send it"),
        Breach("CALL from a server", [3, 0, 0, 1, 0, 0, 0, 0, 0], "only clients send it"),
        Breach("CANCEL from a server", [6, 0, 0, 1, 0, 0, 0, 0, 0], "only clients send it"),
        Breach("a second WELCOME", [2, 0, 0, 0, 0, 0, 0, 0, 0], "WELCOME came twice"),
        Breach("MESSAGE on stream 0", [4, 0, 0, 0, 0, 0, 0, 0, 0], "belongs to a call"),
        Breach("STATUS on stream 0", [5, 0, 0, 0, 0, 0, 0, 0, 0], "belongs to a call"),
        Breach("MESSAGE for no call", [4, 0, 0, 9, 0, 0, 0, 0, 0], "stream 9, which has no call"),
        Breach("STATUS for no call", [5, 0, 0, 9, 0, 0, 0, 0, 0], "stream 9, which has no call"),
        Breach("BEAT on a stream", [7, 0, 0, 1, 0, 0, 0, 0, 0], "came on stream 1"),
        Breach("a short PING", [8, 0, 0, 0, 0, 0, 0, 0, 1, 0], "has 1 bytes, and needs 8"),
        Breach("a compressed STATUS", [5, 0, 0, 1, 1, 0, 0, 0, 0], "came compressed"),
        Breach("a MESSAGE that is not zlib", [4, 0, 0, 1, 1, 0, 0, 0, 2, 1, 2], "corrupt"),
        Breach("a MESSAGE that is cut", [4, 0, 0, 1, 0, 0, 0, 0, 1, 0x1A], "cannot be read"),
        Breach("a STATUS that is no message", [5, 0, 0, 1, 0, 0, 0, 0, 1, 0xFF], "cannot be read"),
        Breach("OK without an answer", [5, 0, 0, 1, 0, 0, 0, 0, 0], "without the answer"),
        Breach("BEAT before WELCOME", isGreeting: true, [7, 0, 0, 0, 0, 0, 0, 0, 0], "came before WELCOME"),
        Breach("MESSAGE before WELCOME", isGreeting: true, [4, 0, 0, 1, 0, 0, 0, 0, 0], "came before WELCOME"),
        Breach("HTTP", isGreeting: true, Array("HTTP/1.1 400".utf8), "frame kind 72 is unknown"),
    ])
    func `a server that breaks the protocol is left for good, and every call ends with the breach`(
        _ breach: Breach
    ) throws {
        self.server.core.call(1, Sample.read, timeoutMilliseconds: 900_000)
        if breach.isGreeting {
            self.server.core.connected(authorization: "")
        } else {
            try self.server.connect()
            #expect(try self.server.call().stream == 1)
        }
        _ = self.server.actions()
        self.server.receive(breach.bytes)
        let actions = self.server.actions()
        let error = try #require(actions.refused)
        #expect(actions.contains(.disconnect) && actions.error(1) != nil)
        #expect(error.reason == .protocolBreach && error.code == .internal && !error.isTransient)
        #expect(error.message.contains(breach.says), "\(error)")
        self.server.receive([7, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(self.server.actions().isEmpty, "what comes behind is nobody's")
        self.server.core.call(2, Sample.read, timeoutMilliseconds: 900_000)
        #expect(self.server.actions().contains(.connect), "a new call tries once more")
    }

    @Test func `a connection to a newer server continues without messages for newer clients`() throws {
        self.server.core.watch(1, Sample.watch, atLeast: nil)
        try self.server.connect()
        let stream = try self.server.call().stream
        self.server.receive(self.server.frame(.message, stream: stream, [0xFA, 0x07, 0x00]))
        #expect(self.server.actions().isEmpty)
        try self.server.say(Sample.entitled(4, revision: 6), on: stream)
        #expect(self.server.actions().shown(1) == ["4"])
        self.server.core.call(2, Sample.read, timeoutMilliseconds: 5_000)
        let call = try self.server.call().stream
        self.server.receive(self.server.frame(.message, stream: call, []))
        try self.server.end(call)
        #expect(self.server.actions().error(2)?.reason == .newerServer)
    }
}
