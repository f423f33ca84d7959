import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore

/// An `EventSource` of a browser: it comes back by itself after an end, never after another status than 200, and sends the
/// identifier of its last event.
@Suite struct `an EventSource` {
    private static let watch = "EntitlementService/SubscriptionStatusTask"
    private static let query = "account=anna&groupId=plans"

    private static func lastID(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) } ?? ""
    }

    private static func retries(_ text: String) -> [Int64] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("retry: ") }.compactMap { Int64($0.dropFirst(7)) }
    }

    @Test func `is told when to come back, and not all at one moment`() {
        let world = World()
        let retries = (0..<40).flatMap { index in
            Self.retries(PlainClient(world).events(Self.watch, "account=a\(index)&groupId=plans"))
        }
        #expect(retries.count == 40 && retries.allSatisfy { Limits.eventRetryMilliseconds.contains($0) })
        #expect(Set(retries).count > 20)
    }

    @Test func `resumes by the identifier of its last event`() {
        let world = World()
        let id = Self.lastID(PlainClient(world).events(Self.watch, Self.query))
        let again = PlainClient(world).events(Self.watch, Self.query, "Last-Event-ID: \(id)\r\n")
        #expect(!id.isEmpty && again.hasPrefix("HTTP/1.1 200 OK") && again.contains(#""unchanged""#), "\(again)")
    }

    // A token of another store, of another view, of an older form, and no token at all.
    @Test(arguments: ["other store", "other view", "AAAA", "not base64!", "Zm9yZ290dGVu"])
    func `gets the value if its identifier is refused`(kind: String) throws {
        let world = World()
        var id = kind
        if kind == "other store" {
            var setup = World.Setup()
            setup.storage = MemoryStorage(
                identity: try #require(StoreIdentity(bytes: [UInt8](repeating: 9, count: 16))))
            id = Self.lastID(PlainClient(World(setup)).events(Self.watch, Self.query))
            #expect(!id.isEmpty)
        } else if kind == "other view" {
            id = Self.lastID(PlainClient(world).events(Self.watch, "account=bert&groupId=plans"))
        }
        try world.buy("gold", from: world.welcomedClient())
        let answer = PlainClient(world).events(Self.watch, Self.query, "Last-Event-ID: \(id)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains("RENEWAL_STATE_SUBSCRIBED"), "\(answer)")
        // A token of the address is the developer's, and is refused as before.
        let wrong = PlainClient(world).events(Self.watch, Self.query + "&resumeToken=AAAA")
        #expect(wrong.hasPrefix("HTTP/1.1 400") && wrong.contains("TOKEN_MALFORMED"), "\(wrong)")
    }

    // A backup was restored, or the token is of another node: nothing says when the position will be reached.
    @Test func `gets the value within seconds if its identifier is ahead of the server`() throws {
        let ahead = World()
        let buyer = ahead.welcomedClient()
        for _ in 0..<5 { try ahead.buy("coins", from: buyer) }
        try ahead.buy("gold", from: buyer)
        let id = Self.lastID(PlainClient(ahead).events(Self.watch, Self.query))
        let world = World()
        let client = PlainClient(world)
        let answer = client.events(Self.watch, Self.query, "Last-Event-ID: \(id)\r\n")
        #expect(!answer.contains(#""success""#), "another loop may only be a moment behind")
        world.advance(2_100)
        #expect(client.hear().contains(#""success""#))
        // One that the server reaches in time is resumed.
        let late = PlainClient(world)
        _ = late.events(Self.watch, Self.query, "Last-Event-ID: \(id)\r\n")
        let seller = world.welcomedClient()
        for _ in 0..<5 { try world.buy("coins", from: seller) }
        try world.buy("gold", from: seller)
        world.advance(1_000)
        let resumed = late.hear()
        #expect(resumed.contains(#""unchanged""#) || resumed.contains("RENEWAL_STATE_SUBSCRIBED"), "\(resumed)")
        #expect(!resumed.contains(#""loading""#), "\(resumed)")
    }

    @Test func `is told the reason of an end, and when to come back`() {
        var setup = World.Setup()
        setup.core.streamAgeMilliseconds = 100_000
        let world = World(setup)
        let client = PlainClient(world)
        _ = client.events(Self.watch, Self.query)
        world.advance(121_000)
        let end = client.hear()
        #expect(end.contains("event: end\nretry: ") && end.contains(#""reason":"AGE_LIMIT""#), "\(end)")
        #expect(Self.retries(end).allSatisfy { $0 <= 1_500 } && !end.contains("\nid"))
    }

    @Test func `that is refused for a while gets an event instead of a status`() {
        var setup = World.Setup()
        setup.core.callsBytesMax = 1
        let answer = PlainClient(World(setup)).events(Self.watch, Self.query)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains("event: end\nretry: "), "\(answer)")
        #expect(answer.contains("CALLS_BYTES_LIMIT"))
        let drained = World()
        drained.loops[0].inbox.append(.drain)
        let final = PlainClient().events(Self.watch, "account=&groupId=plans")
        #expect(final.hasPrefix("HTTP/1.1 400"), "a final refusal stays one: \(final)")
    }

    @Test func `of events whose cursor is refused is told so, and begins without it`() {
        let answer = PlainClient().events(
            "TransactionService/TransactionUpdates", "account=anna", "Last-Event-ID: AAAA\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains("CURSOR_MALFORMED"), "\(answer)")
        #expect(answer.contains("event: end\nretry: ") && answer.contains("\nid\ndata: "), "\(answer)")
    }
}
