import PerchBase
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// `--max-connection-age` moves clients to another server, and fails no call.
@Suite struct `an old connection` {
    private static func world() -> World {
        var setup = World.Setup()
        setup.core.connectionAgeMilliseconds = 100_000
        return World(setup)
    }

    @Test func `of HTTP/2 says so twice, serves what is on its way, and ends after its last call`() throws {
        let world = Self.world()
        let client = HTTP2Client(world)
        client.answersPings = false
        let watch = client.call(.status())
        client.settle()
        while client.goAways.isEmpty, world.monotonic < 2_000_000 {
            world.advance(1_000)
            client.settle()
        }
        #expect(client.goAways.map(\.last) == [0x7FFF_FFFF] && client.goAways[0].code == 0)
        // This call was sent before the client knew.
        let late = client.call(.listApps)
        client.settle()
        #expect(client.code(late) == 0)
        client.send(.ping, .ack, 0, [UInt8](repeating: 0x70, count: 8))
        client.settle()
        #expect(client.goAways.map(\.last) == [0x7FFF_FFFF, late])
        // The watch goes on, with every change.
        try world.buy("gold", from: world.welcomedClient())
        client.settle()
        #expect(client.code(watch) == nil && client.statuses(watch).last?.value?.statuses.count == 1)
        #expect(!client.hasEnded)
        client.socket.clientSends(HTTP2.reset(watch, .cancel))
        client.settle()
        #expect(client.hasEnded)
    }

    @Test func `of HTTP/2 whose peer answers no PING is told its last stream all the same`() {
        let world = Self.world()
        let client = HTTP2Client(world)
        client.answersPings = false
        client.settle()
        world.advance(140_000)
        client.settle()
        #expect(client.goAways.map(\.last) == [0x7FFF_FFFF, 0] && client.hasEnded)
    }

    @Test func `is told the end of its calls if the server stops after that`() {
        let world = Self.world()
        let client = HTTP2Client(world)
        let watch = client.call(.status())
        client.settle()
        world.advance(121_000)
        client.settle()
        #expect(client.goAways.count == 2 && client.code(watch) == nil)
        world.drain()
        client.settle()
        #expect(client.code(watch) == 14 && client.hasEnded && client.goAways.count == 2)
    }

    @Test func `of HTTP/1.1 says so with its next response`() {
        let world = Self.world()
        let client = PlainClient(world)
        #expect(!client.get("account=anna&groupId=plans").contains("connection: close"))
        world.advance(130_000)
        #expect(!client.isClosed)
        let answer = client.get("account=anna&groupId=plans")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains("\r\nconnection: close\r\n"))
        #expect(answer.contains(#""success""#) && client.isClosed)
    }

    @Test(arguments: [1, 2, 5]) func `of HTTP/1.1 answers all requests that have come, and says so with the last`(
        count: Int
    ) {
        let world = Self.world()
        let client = PlainClient(world)
        _ = client.get("account=anna&groupId=plans")
        world.advance(130_000)
        let request =
            "GET /perch.v1.EntitlementService/GetSubscriptionStatus?account=anna&groupId=plans HTTP/1.1\r\nHost: localhost\r\n\r\n"
        // A file and a refusal are answered at once, a call when the store has answered.
        let others = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let answers = client.say(String(repeating: request + others, count: count))
        #expect(answers.components(of: #""success""#) == count, "\(answers)")
        #expect(answers.components(of: "HTTP/1.1 404 ") == count, "\(answers)")
        #expect(answers.components(of: "connection: close") == 1 && client.isClosed, "\(answers)")
        #expect(answers.split(separator: "HTTP/1.1 ").last?.contains("connection: close") == true, "\(answers)")
        _ = client.end()
        world.loops[0].core.checkIsEmpty()
    }

    @Test func `of HTTP/1.1 answers a request that comes while another is answered`() {
        let world = Self.world()
        let client = PlainClient(world)
        _ = client.get("account=anna&groupId=plans")
        world.advance(130_000)
        let request =
            "GET /perch.v1.EntitlementService/GetSubscriptionStatus?account=ben&groupId=plans HTTP/1.1\r\nHost: localhost\r\n\r\n"
        // The second comes with a read of its own, before the store has answered the first.
        client.socket.clientSends(Array(request.utf8))
        _ = client.socket.deliverToServer()
        world.turn()
        client.socket.clientSends(Array(request.utf8))
        let answers = client.hear()
        #expect(answers.components(of: #""success""#) == 2, "\(answers)")
        #expect(answers.components(of: "connection: close") == 1 && client.isClosed, "\(answers)")
    }

    @Test func `of HTTP/1.1 cuts no stream`() throws {
        let world = Self.world()
        let client = PlainClient(world)
        let query = "EntitlementService/SubscriptionStatusTask"
        #expect(client.events(query, "account=anna&groupId=plans").contains(#""success""#))
        world.advance(130_000)
        #expect(!client.hear().contains("event: end") && !client.isClosed)
        try world.buy("gold", from: world.welcomedClient())
        #expect(client.hear().contains("RENEWAL_STATE_SUBSCRIBED"))
    }
}

@Suite struct `a client of HTTP/1.1 that ends its writing side` {
    private static let request =
        "GET /perch.v1.EntitlementService/GetSubscriptionStatus?account=anna&groupId=plans HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test func `gets its answer`() {
        let client = PlainClient()
        client.socket.clientSends(Array(Self.request.utf8))
        let answer = client.end()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains(#""success""#) && client.isClosed)
        client.world.loops[0].core.checkIsEmpty()
    }

    @Test func `gets all its answers`() {
        let client = PlainClient()
        client.socket.clientSends(Array((Self.request + Self.request + Self.request).utf8))
        let answer = client.end()
        #expect(answer.components(of: #""success""#) == 3 && client.isClosed, "\(answer)")
        client.world.loops[0].core.checkIsEmpty()
    }

    @Test(arguments: ["GET / HT", "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", "\r\n"])
    func `within a request is told so`(part: String) {
        let client = PlainClient()
        _ = client.get("account=anna&groupId=plans")
        _ = client.say(part)
        let answer = client.end()
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.contains("within a request") || part == "\r\n", "\(answer)")
        #expect(client.isClosed)
        client.world.loops[0].core.checkIsEmpty()
    }

    @Test func `keeps its stream, and one that has gone altogether is noticed at once`() throws {
        let world = World()
        let client = PlainClient(world)
        _ = client.events("EntitlementService/SubscriptionStatusTask", "account=anna&groupId=plans")
        // A word at once, which a kernel without a reader answers with a reset.
        #expect(client.end().contains("bookmark"))
        try world.buy("gold", from: world.welcomedClient())
        #expect(client.hear().contains("RENEWAL_STATE_SUBSCRIBED"))
        client.socket.reset()
        world.settle()
    }
}
