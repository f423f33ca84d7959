import PerchBase
import PerchClient
import PerchClientTesting
import PerchModel
import Synchronization
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `a double` {
    private let perch = FakePerch()

    @Test func `shows what accounts own, and each change once`() async throws {
        var states = self.perch.client.entitlementsTask(account: "anna").makeAsyncIterator()
        #expect(await states.next()?.value == [])
        self.perch.give("plus", to: "anna", tier: "gold")
        let owned = await states.next()?.value
        #expect(owned?.map(\.name) == ["plus"] && owned?.first?.isActive == true && owned?.first?.tier == "gold")
        self.perch.give("plus", to: "bob")
        self.perch.take("plus", from: "anna")
        #expect(await states.next()?.value?.first?.isActive == false)
        #expect(try await self.perch.client.namedEntitlements(account: "bob").map(\.name) == ["plus"])
        #expect(self.perch.asked == ["EntitlementService/EntitlementsTask", "EntitlementService/GetEntitlements"])
    }

    @Test func `takes grants as a server does`() async throws {
        let granted = try await self.perch.client.grantEntitlement("plus", to: "anna")
        #expect(granted.position.revision > 1 && granted.knownNames.isEmpty)
        #expect(try await self.perch.client.namedEntitlements(account: "anna").first?.isLifetime == true)
    }

    @Test func `fails as it is told, and recovers`() async throws {
        let task = self.perch.client.subscriptionStatusTask(account: "anna", group: "plus")
        var states = task.makeAsyncIterator()
        #expect(await states.next()?.value?.statuses == [])
        self.perch.fail(with: PerchError(code: .unavailable, reason: .connectFailed, message: "no server"))
        guard case .failure(let failure, let last)? = await states.next() else {
            Issue.record("no failure")
            return
        }
        #expect(failure.reason == .connectFailed && !failure.isFinal && last != nil)
        let error = await #expect(throws: PerchError.self) {
            try await self.perch.client.namedEntitlements(account: "a")
        }
        #expect(error?.reason == .connectFailed)
        self.perch.fail(with: nil)
        #expect(await states.next()?.value?.statuses == [])
    }

    @Test func `names what it does not answer`() async throws {
        let error = await #expect(throws: PerchError.self) { try await self.perch.client.apps() }
        #expect(error?.code == .unimplemented && error?.message.contains("ListApps") == true)
    }

    @Test func `delivers events and changes`() async throws {
        var changes = self.perch.client.appChanges().makeAsyncIterator()
        let change = AppChange(
            account: "anna", cause: .purchase, position: Position(revision: 3, asOf: Instant(milliseconds: 1)),
            committed: Instant(milliseconds: 1), cursor: UpdateCursor(bytes: [3]))
        self.perch.deliver(change)
        #expect(try await changes.next() == change)
        self.perch.client.close()
        let error = await #expect(throws: PerchError.self) { try await changes.next() }
        #expect(error?.reason == .closed)
    }

    @Test func `lets an observer see calls, which may add metadata`() async throws {
        let seen = Seen()
        var options = PerchClientOptions()
        options.observer = seen
        let perch = FakePerch(options: options)
        _ = try await perch.client.namedEntitlements(account: "anna")
        await #expect(throws: PerchError.self) { try await perch.client.apps() }
        #expect(seen.lines == ["GetEntitlements", "GetEntitlements ok", "ListApps", "ListApps UNKNOWN_METHOD"])
        var wrong = CallOptions()
        wrong.metadata = ["a b": "c"]
        let error = await PerchClient.$callOptions.withValue(wrong) {
            await #expect(throws: PerchError.self) { try await perch.client.namedEntitlements(account: "anna") }
        }
        #expect(error?.reason == .fieldInvalid)
    }

    @Test func `has a copy, which is complete at once`() async throws {
        self.perch.give("plus", to: "anna", tier: "gold")
        let copy = try self.perch.client.copy()
        try await copy.ready()
        #expect(try copy.has("anna", "plus") && copy.entitlement("anna", "plus")?.tier == "gold")
        self.perch.give("plus", to: "bob")
        #expect(try copy.has("bob", "plus") && copy.names == ["plus"])
        self.perch.take("plus", from: "anna")
        #expect(try !copy.has("anna", "plus") && copy.age != nil)
        self.perch.client.close()
        #expect(throws: PerchError.self) { try copy.has("anna", "plus") }
    }

    @Test func `has a copy of the names and the shard that are asked for`() async throws {
        self.perch.give("plus", to: "anna")
        self.perch.give("pro", to: "bob")
        let some = try self.perch.client.copy(names: ["plus"])
        #expect(try some.names == ["plus"] && some.has("anna", "plus") && some.count == 1)
        #expect(#expect(throws: PerchError.self) { try some.has("bob", "pro") }?.reason == .entitlementUnknown)
        self.perch.give("plus", to: "bob")
        #expect(try some.has("bob", "plus") && some.count == 2)
        let shards = try (0..<2).map { try self.perch.client.copy(shard: CopyShard($0, of: 2)) }
        for account in ["anna", "bob"] {
            #expect(try shards[CopyShard.number(of: account, count: 2)].has(account, "plus"))
        }
        #expect(shards.map(\.count).reduce(0, +) == 2)
    }

    @Test func `ends a copy as it is told, and opens none once it is closed`() async throws {
        self.perch.give("plus", to: "anna")
        let copy = try self.perch.client.copy()
        let away = PerchError(code: .unavailable, reason: .connectFailed, message: "no server")
        self.perch.fail(with: away)
        self.perch.give("plus", to: "bob")
        #expect(try copy.error == nil && !copy.has("bob", "plus"))
        let late = try self.perch.client.copy()
        #expect(!late.isReady)
        self.perch.fail(with: nil)
        #expect(try copy.has("bob", "plus") && late.has("anna", "plus"))
        let revoked = PerchError(code: .unauthenticated, reason: "TOKEN_REVOKED", message: "it was revoked")
        self.perch.fail(with: revoked)
        #expect(try copy.error == revoked && copy.has("bob", "plus"))
        #expect(try self.perch.client.copy().error == revoked)
        self.perch.fail(with: nil)
        self.perch.client.close()
        let closed = try self.perch.client.copy()
        #expect(await #expect(throws: PerchError.self) { try await closed.ready() }?.reason == .closed)
    }

    @Test func `runs until it is closed, or its task is cancelled`() async throws {
        let client = self.perch.client
        let running = Task { await client.run() }
        client.close()
        await running.value
        let other = FakePerch().client
        let cancelled = Task { await other.run() }
        cancelled.cancel()
        await cancelled.value
        #expect(other.connection.current == .closed)
    }
}

private final class Seen: PerchClientObserver {
    private let inside = Mutex<[String]>([])

    var lines: [String] { self.inside.withLock { $0 } }

    func callBegins(_ call: ObservedCall, metadata: inout [String: String]) {
        metadata["traceparent"] = "00-\(call.id)"
        self.inside.withLock { $0.append(call.method) }
    }

    func callEnded(_ call: ObservedCall, after duration: Duration, error: PerchError?) {
        self.inside.withLock { $0.append("\(call.method) \(error.map { $0.reason.rawValue } ?? "ok")") }
    }
}
