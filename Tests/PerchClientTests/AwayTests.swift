import PerchBase
import PerchClient
import PerchModel
import PerchTesting
import PerchWire
import Testing

@Suite struct `a client without a server` {
    private let refused = PerchError(code: .unavailable, reason: .connectFailed, message: "nothing listens")

    private func server(failureAfter milliseconds: Int64?) -> ScriptedServer {
        let server = ScriptedServer { $0.failureAfterMilliseconds = milliseconds }
        server.core.watch(1, Sample.watch, atLeast: nil)
        return server
    }

    /// Lets every attempt fail until the time has come.
    private func fail(_ server: ScriptedServer, until milliseconds: Int64) throws -> [ClientAction] {
        let end = server.time.monotonic + milliseconds
        var actions: [ClientAction] = []
        while server.time.monotonic < end {
            let now = server.actions()
            actions += now
            if now.contains(.connect) { server.core.connectFailed(self.refused) }
            server.advance(
                min(max(try #require(server.nextWake) - server.time.monotonic, 0), end - server.time.monotonic))
        }
        return actions + server.actions()
    }

    @Test func `shows nothing but loading, and says since when`() throws {
        let server = self.server(failureAfter: nil)
        let began = server.time.wall
        #expect(try self.fail(server, until: 120_000).shown(1).isEmpty)
        #expect(server.disconnectedSince == began)
    }

    @Test func `shows a failure once after the time in its options, and the value when it comes`() throws {
        let server = self.server(failureAfter: 5_000)
        #expect(try self.fail(server, until: 4_999).shown(1).isEmpty)
        #expect(try self.fail(server, until: 60_000).shown(1) == ["CONNECT_FAILED after nothing"])
        server.core.watch(2, Sample.watch, atLeast: nil)
        #expect(server.actions().shown(2) == ["CONNECT_FAILED after nothing"], "a late one need not wait again")
        while !server.core.actions.contains(.connect) { try server.advanceToWake() }
        try server.connect()
        #expect(server.disconnectedSince == nil)
        for stream in 1...2 as ClosedRange<UInt32> { try server.say(Sample.entitled(4, revision: 6), on: stream) }
        try server.beat(6)
        let actions = server.actions()
        #expect(actions.shown(1) == ["4"] && actions.shown(2) == ["4"])
    }

    @Test func `keeps the last value with the failure`() throws {
        let server = self.server(failureAfter: 5_000)
        try server.connect()
        try server.say(Sample.entitled(4, revision: 6), on: 1)
        _ = server.actions()
        server.core.ended("cut")
        let cut = server.time.wall
        #expect(try self.fail(server, until: 4_999).shown(1).isEmpty)
        #expect(try self.fail(server, until: 10).shown(1) == ["CONNECT_FAILED after 4"])
        #expect(server.disconnectedSince == cut)
    }

    @Test func `that nobody needs is not away`() throws {
        let server = self.server(failureAfter: nil)
        server.core.connectFailed(self.refused)
        server.core.unwatch(1)
        try server.advanceToWake()
        #expect(server.disconnectedSince == nil)
    }

    @Test func `ends its streams with that reason when it is closed`() throws {
        let server = self.server(failureAfter: nil)
        try server.connect()
        server.core.close()
        #expect(server.actions().shown(1) == ["final CLOSED after nothing"])
    }
}

@Suite struct `reasons` {
    @Test func `of the contract each have a static member`() throws {
        let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(folder)/Sources/PerchClient/Values/PerchError+Reasons.swift"
        let source = String(decoding: TemporaryDirectory.read(path), as: UTF8.self)
        for reason in ErrorReason.allCases {
            #expect(source.contains("Self(rawValue: \"\(reason.rawValue)\")"), "\(reason.rawValue)")
        }
    }

    @Test func `that need a fresh start are those of tokens and cursors`() {
        #expect(PerchError.Reason.cursorTooOld.needsFreshStart && PerchError.Reason.tokenOtherStore.needsFreshStart)
        #expect(!PerchError.Reason.behind.needsFreshStart && !PerchError.Reason("OF_A_NEWER_SERVER").needsFreshStart)
    }

    @Test func `read as their words`() {
        #expect("\(PerchError.Reason.appUnknown)" == "APP_UNKNOWN" && PerchError.Reason.appUnknown == "APP_UNKNOWN")
        #expect("\(PerchError(code: .notFound, reason: .appUnknown, message: "no"))" == "notFound APP_UNKNOWN: no")
    }
}

@Suite struct `options of calls` {
    @Test func `send metadata in the order of its names`() throws {
        let server = ScriptedServer()
        let metadata = [Metadata(key: "traceparent", value: [48])]
        server.core.call(1, Sample.read, timeoutMilliseconds: 5_000, metadata: metadata)
        try server.connect()
        #expect(try server.call().metadata == metadata)
    }
}
