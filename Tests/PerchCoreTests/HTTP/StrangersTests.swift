import PerchBase
import PerchIdentity
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// On an address of its own.
private typealias Caller = PlainClient

extension PlainClient {
    fileprivate func get(host: String, _ fields: String = "") -> String {
        self.say("GET \(readPath)?account=anna&groupId=plans HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
    }
}

private let readPath = "/perch.v1.EntitlementService/GetSubscriptionStatus"

/// A token whose signature is another key's, with a name of its own.
private func badToken(_ number: Int) -> String { Gate.token(.read, id: "bad-\(number)", key: strangeKey) }

private let strangeKey: TokenKey = {
    guard let key = TokenKey.generate(.eddsa, id: "main") else { preconditionFailure("no randomness") }
    return key
}()

@Suite struct `a page of a foreign site whose name resolves to this machine` {
    @Test(arguments: [
        "", "Authorization: Bearer made-up\r\n", "Origin: http://evil.example\r\n", "Perch-Client-Id: x\r\n",
        "Authorization: Bearer made-up\r\nOrigin: http://evil.example\r\nAccept: text/event-stream\r\n",
    ])
    func `reads and buys nothing, whatever fields it invents`(fields: String) {
        let world = World()
        let caller = Caller(world)
        #expect(caller.get(host: "evil.example:7447", fields).hasPrefix("HTTP/1.1 421 "))
        let body = #"{"account":"anna","order":{"productId":"gold"}}"#
        let bought = caller.say(
            "POST /perch.v1.TransactionService/Purchase HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        #expect(bought.hasPrefix("HTTP/1.1 421 ") && bought.contains("--allow-host evil.example"), "\(bought)")
        #expect(!caller.get(host: "localhost").contains("gold"))
    }

    @Test func `is refused over HTTP/2, and by an absolute target`() {
        let world = World()
        let client = HTTP2Client(world)
        var block = HeaderBlock()
        for (name, value) in [
            (":method", "POST"), (":scheme", "http"), (":path", readPath), (":authority", "evil.example"),
            ("content-type", "application/grpc"), ("te", "trailers"), ("authorization", "Bearer x"),
        ] { block.add(name, value) }
        let stream = client.open(readPath, [], .endStream, padded: { _ in block.bytes })
        client.settle()
        #expect(client[stream].head[":status"] == "421")
        let answer = Caller(world).say(
            "GET http://evil.example\(readPath)?account=anna&groupId=plans HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 421 "), "\(answer)")
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST:7447", true), ("localhost.", true), ("shop.localhost", true),
        ("127.0.0.1:7447", true), ("127.9.9.9", true), ("[::1]:7447", true), ("evil.example", false),
        ("localhost.evil.example", false), ("127.0.0.1.evil.example", false), ("evil.example:127", false),
        ("localhost:80.evil.example", false), ("localhost@evil.example", false), ("[::1]evil.example", false),
        ("192.168.1.7", false), ("127.0.0.256", false), ("127.0.0", false), ("[::2]", false), ("perch", false),
    ])
    func `has no name of loopback`(host: String, isTaken: Bool) {
        #expect((HostRule(.loopback).refusal(of: Array(host.utf8)) == nil) == isTaken)
        #expect(Caller(World()).get(host: host).hasPrefix("HTTP/1.1 \(isTaken ? "200" : "421") "))
    }

    @Test func `reaches a listener off loopback by none but its own names and addresses`() {
        let rule = HostRule(.addresses, names: ["perch", "Shop.Example.com:7447"])
        func takes(_ host: String) -> Bool { rule.refusal(of: Array(host.utf8)) == nil }
        for host in ["perch:7447", "PERCH", "shop.example.com", "10.0.0.7:7447", "[fd00::7]", "localhost", ""] {
            #expect(takes(host), "\(host)")
        }
        for host in ["evil.example", "perch.evil.example", "10.0.0.7.nip.io", "[fd00::7].evil.example"] {
            #expect(!takes(host), "\(host)")
        }
        #expect(HostRule(.addresses, names: ["*"]).refusal(of: Array("evil.example".utf8)) == nil)
    }

    @Test func `gets no further with a server that asks for credentials, by any name`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let caller = Caller(world)
        #expect(caller.get(host: "perch.example.com").hasPrefix("HTTP/1.1 401 "))
        let token = Gate.token(.read)
        #expect(caller.get(host: "perch.example.com", "Authorization: \(token)\r\n").hasPrefix("HTTP/1.1 200 "))
    }
}

@Suite struct `memory before credentials over HTTP/2` {
    /// Heads with one field of 3.9 kB, which the table holds and each names again.
    private func openBombs(_ client: HTTP2Client, count: Int, field: String) {
        let value = [UInt8](repeating: UInt8(ascii: "z"), count: 3_900)
        let rest = value.count - 127
        let entry: [UInt8] =
            [0x40, UInt8(field.utf8.count)] + Array(field.utf8) + [0x7F, UInt8(rest & 0x7F | 0x80), UInt8(rest >> 7)]
            + value
        for index in 0..<count {
            _ = client.open(
                readPath, [], padded: { $0 + (index == 0 ? entry : [0xBE]) })
        }
        client.settle()
    }

    @Test(arguments: ["authorization", "x-any", "perch-client-id", "origin"])
    func `one connection holds what a connection may, however many requests name one long field`(field: String) {
        let world = World()
        let client = HTTP2Client(world)
        self.openBombs(client, count: 4_000, field: field)
        let held = world.loops[0].core.transport.admission.partialFrames.weight
        #expect(held <= Limits.httpRequestsBytesMax && client.goAways.isEmpty, "\(held)")
    }

    @Test func `a stranger's unfinished bodies are bounded, and time out, and the connection lives`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let client = HTTP2Client(world)
        // The first byte of each message says that 10,000 bytes come; 9,000 do.
        let body = [0, 0, 0, 0x27, 0x10] + [UInt8](repeating: 0, count: 6_000)
        let streams = (0..<90).map { _ in
            let stream = client.open(readPath)
            client.send(.data, [], stream, body)
            client.settle()
            return stream
        }
        let held = world.loops[0].core.handshakeBytes
        #expect(held <= Limits.unidentifiedHeldBytesMax, "\(held)")
        let refused = streams.filter {
            client[$0].trailers["grpc-message"]?.contains("wait on this connection") == true
        }
        #expect(refused.count > 40 && refused.count < 90, "\(refused.count)")
        world.advance(10_700)
        client.settle()
        #expect(streams.allSatisfy { client[$0].hasEnded } && client.goAways.isEmpty)
        #expect(world.loops[0].core.handshakeBytes == 0)
        // The same connection becomes a known one.
        let good = client.call(.readStatus(), [("authorization", Gate.token(.read))])
        client.settle()
        #expect(client[good].trailers["grpc-status"] == "0")
    }

    @Test func `few streams are open before the first valid credentials, which may come in a head`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let client = HTTP2Client(world)
        for _ in 0..<Limits.unidentifiedStreamsMax { _ = client.open(readPath) }
        let refused = client.open(readPath)
        client.settle()
        #expect(client[refused].resetCode == HTTP2Error.refusedStream.rawValue && client.goAways.isEmpty)
        let good = client.open(readPath, [("authorization", Gate.token(.read))])
        let more = client.open(readPath)
        client.settle()
        #expect(client[good].resetCode == nil && client[more].resetCode == nil)
        #expect(world.loops[0].core.handshakes == 0)
    }

    @Test func `a token in a head that is not taken is refused before its body`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let client = HTTP2Client(world)
        let stream = client.open(readPath, [("authorization", badToken(0))])
        client.settle()
        #expect(client[stream].trailers["grpc-status"] == "16" && world.loops[0].core.handshakeBytes == 0)
    }

    @Test
    func `incomplete requests of known callers share the bound of partial frames, and end without their connections`() {
        let world = World.limitedFrames(bytes: 40_000)
        let clients = (0..<3).map { _ in HTTP2Client(world) }
        let body = [0, 0, 0, 0x80, 0] + [UInt8](repeating: 0, count: 7_000)
        var streams: [(HTTP2Client, UInt32)] = []
        for client in clients {
            for _ in 0..<3 {
                let stream = client.open(readPath)
                client.send(.data, [], stream, body)
                client.settle()
                streams.append((client, stream))
            }
        }
        for client in clients { client.settle() }
        #expect(world.loops[0].core.transport.admission.partialFrames.weight <= 40_000)
        #expect(clients.allSatisfy { $0.goAways.isEmpty })
        let ended = streams.filter { $0.0[$0.1].hasEnded }
        #expect(!ended.isEmpty && ended.count < streams.count, "\(ended.count)")
    }

    @Test func `a preface alone is timed out, and so is a stranger who asks nothing`() {
        let world = World()
        let client = HTTP2Client(world, says: false)
        client.socket.clientSends(HTTP2.preface)
        _ = client.socket.deliverToServer()
        world.advance(10_100)
        client.settle()
        #expect(
            client.goAways.map(\.text) == [
                "HELLO_TIMEOUT: no request came within 10000 ms of connecting; connect when you have one"
            ])
        let gate = Gate.world()
        let silent = HTTP2Client(gate)
        gate.advance(10_100)
        silent.settle()
        #expect(silent.goAways.first?.text.hasPrefix("HELLO_TIMEOUT") == true)
    }

    @Test func `a header block that never ends is timed out`() {
        let world = Gate.world()
        let client = HTTP2Client(world)
        client.send(.headers, [], 1, Array(HTTP2Client.head(readPath)[..<20]))
        client.settle()
        #expect(world.loops[0].core.handshakeBytes > 0)
        world.advance(10_700)
        client.settle()
        #expect(client.goAways.first?.text.hasPrefix("FRAME_TIMEOUT") == true)
        #expect(world.loops[0].core.handshakeBytes == 0)
    }
}

@Suite struct `bad tokens over HTTP` {
    private func verified(_ world: World) -> UInt64 { world.loops[0].core.counters.credentialsVerified }

    @Test func `share a budget of verifications, close nothing, and known tokens do not wait`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let client = HTTP2Client(world)
        let good = Gate.token(.read)
        let first = client.call(.readStatus(), [("authorization", good)])
        client.settle()
        #expect(client[first].trailers["grpc-status"] == "0")
        let before = self.verified(world)
        let count = Limits.verificationsPerTurn + 4
        let bad = (0..<count).map { client.call(.readStatus(), [("authorization", badToken($0))]) }
        let known = client.call(.readStatus(), [("authorization", good)])
        _ = client.socket.deliverToServer()
        world.turn()
        #expect(self.verified(world) - before <= UInt64(Limits.verificationsPerTurn))
        client.settle()
        #expect(client[known].trailers["grpc-status"] == "0" && client.goAways.isEmpty)
        #expect(bad.filter { client[$0].trailers["grpc-status"] == "16" }.count >= Limits.verificationsPerTurn)
        for stream in bad where client[stream].trailers["grpc-status"] != "16" {
            #expect(client[stream].trailers["grpc-status"] == "8", "\(client[stream].trailers)")
        }
    }

    @Test func `get 429 beyond it, with the time to wait`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let callers = (0..<Limits.verificationsPerTurn + 8).map { Caller(world, number: 9_300 + Int32($0)) }
        // The first token of each connection has its own budget.
        for (index, caller) in callers.enumerated() {
            #expect(
                caller.get(host: "a", "Authorization: \(badToken(1_000 + index))\r\n").hasPrefix("HTTP/1.1 401 "))
        }
        for (index, caller) in callers.enumerated() {
            let request =
                "GET \(readPath)?account=anna&groupId=plans HTTP/1.1\r\nHost: a\r\nAuthorization: \(badToken(2_000 + index))\r\n\r\n"
            caller.socket.clientSends(Array(request.utf8))
            _ = caller.socket.deliverToServer()
        }
        world.settle()
        let answers = callers.map { $0.say("") }
        #expect(answers.filter { $0.hasPrefix("HTTP/1.1 401 ") }.count == Limits.verificationsPerTurn)
        let others = answers.filter { $0.hasPrefix("HTTP/1.1 429 ") }
        #expect(others.count == 8 && others.allSatisfy { $0.contains("unknown tokens were verified at once") })
        #expect(world.loops[0].core.counters.refusalsByReason[.credentialsRate] == 8)
    }

    @Test func `are verified once, until the keys change`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let caller = Caller(world)
        let token = badToken(7)
        for _ in 0..<50 { #expect(caller.get(host: "a", "Authorization: \(token)\r\n").hasPrefix("HTTP/1.1 401 ")) }
        #expect(self.verified(world) == 1)
        let key = strangeKey
        world.loops[0].core.trust(Gate.authenticator([key]))
        #expect(caller.get(host: "a", "Authorization: \(token)\r\n").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `that are not valid yet are verified again`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        var claims = TokenClaims(
            expires: World.begin.advanced(byMilliseconds: 7_200_000), apps: Gate.shop, scope: .read)
        claims.audience = ["perch"]
        claims.notBefore = World.begin.advanced(byMilliseconds: 100_000)
        let token = "Bearer " + ((try? claims.signed(by: Gate.key)) ?? "")
        let caller = Caller(world)
        #expect(caller.get(host: "a", "Authorization: \(token)\r\n").hasPrefix("HTTP/1.1 401 "))
        world.advance(60_000)
        #expect(caller.get(host: "a", "Authorization: \(token)\r\n").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `of many new connections are verified over several ticks, on each wire`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let clients = (0..<Limits.firstVerificationsPerTurn + 20).map { _ in world.connect() }
        for (index, client) in clients.enumerated() {
            client.hello(authorization: Gate.token(.read, id: "first-\(index)"))
            _ = client.socket.deliverToServer()
        }
        world.turn()
        #expect(self.verified(world) == UInt64(Limits.firstVerificationsPerTurn))
        world.settle()
        #expect(clients.allSatisfy { $0.welcome != nil })
    }
}

@Suite struct `the meter of work` {
    @Test func `lets a flood of refused calls take its part of a tick, and answers the others in the same one`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let client = HTTP2Client(world)
        let caller = Caller(world, number: 9_400)
        let known = "Authorization: \(Gate.token(.read))\r\n"
        #expect(caller.get(host: "a", known).hasPrefix("HTTP/1.1 200 "))
        let streams = (0..<1_000).map { _ in
            client.open("/perch.v1.EntitlementService/NoSuchMethod", [], .endStream)
        }
        let before = world.loops[0].core.counters.callsRefused
        caller.socket.clientSends(
            Array("GET \(readPath)?account=anna&groupId=plans HTTP/1.1\r\nHost: a\r\n\(known)\r\n".utf8))
        while client.socket.deliverToServer() {}
        _ = caller.socket.deliverToServer()
        let opened = world.loops[0].core.counters.callsOpened
        world.turn()
        let refused = Int(world.loops[0].core.counters.callsRefused - before)
        #expect(refused > 0 && refused <= Limits.workPerConnection / WorkMeter.head, "\(refused)")
        #expect(world.loops[0].core.counters.callsOpened - opened == UInt64(refused) + 1)
        #expect(world.loops[0].core.counters.inputsDeferred > 0)
        client.settle()
        #expect(streams.allSatisfy { client[$0].hasEnded || client[$0].resetCode != nil } && client.goAways.isEmpty)
        #expect(caller.say("").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `gives each connection its least, whatever the others spend`() {
        var meter = WorkMeter()
        meter.begin()
        for connection in 0..<40 {
            meter.read(Int32(connection))
            #expect(!meter.isEmpty)
            while !meter.isEmpty { meter.spend(1) }
            // The rest of one read is no new part.
            meter.read(Int32(connection))
            #expect(meter.isEmpty)
        }
        meter.begin()
        meter.read(39)
        #expect(!meter.isEmpty)
    }

    @Test func `lets connections that send ahead take turns, so that two hundred of them lengthen no tick`() {
        let world = World()
        let callers = (0..<200).map { Caller(world, number: 10_000 + $0) }
        let request = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for caller in callers {
            caller.socket.clientSends(Array(String(repeating: request, count: 8).utf8))
            while caller.socket.deliverToServer() {}
        }
        // Each is read once, and its first request is answered.
        world.turn()
        var answers = [Int](repeating: 0, count: callers.count)
        func hear() -> Int {
            let before = answers.reduce(0, +)
            for (place, caller) in callers.enumerated() {
                let heard = String(decoding: caller.socket.deliverToClient(), as: UTF8.self)
                answers[place] += heard.components(of: "HTTP/1.1 404 ")
            }
            return answers.reduce(0, +) - before
        }
        #expect(hear() == callers.count)
        let most = Limits.workPausedPerTurn / (WorkMeter.visit + WorkMeter.head + WorkMeter.refusal) + 1
        #expect(most < callers.count)
        let late = Caller(world, number: 9_999)
        var ticks = 0
        while world.loops[0].core.hasPausedInput, ticks < 1_000 {
            if ticks == 5 {
                late.socket.clientSends(Array(request.utf8))
                while late.socket.deliverToServer() {}
            }
            world.turn()
            let count = hear()
            #expect(count > 0 && count <= most, "\(count) in tick \(ticks)")
            #expect((answers.max() ?? 0) - (answers.min() ?? 0) <= 1, "\(answers)")
            if ticks == 5 {
                #expect(late.socket.deliverToClient().starts(with: Array("HTTP/1.1 404 ".utf8)), "a new request waits")
            }
            ticks += 1
        }
        #expect(answers.allSatisfy { $0 == 8 })
        world.checkInvariants()
    }

    @Test func `lets connections of HTTP 2 take turns with calls that are refused, and with tokens that are wrong`() {
        for isToken in [false, true] {
            let world = isToken ? Gate.world { $0.core.hosts = HostRule(.any) } : World()
            let clients = (0..<60).map { _ in HTTP2Client(world) }
            for (place, client) in clients.enumerated() {
                for number in 0..<20 {
                    _ =
                        isToken
                        ? client.open(readPath, [("authorization", badToken(100 * place + number))], .endStream)
                        : client.open("/perch.v1.EntitlementService/NoSuchMethod", [], .endStream)
                }
                while client.socket.deliverToServer() {}
            }
            // Each is read once, and has its least.
            world.turn()
            let least = WorkMeter.frame + WorkMeter.head
            let most = UInt64((Limits.workPausedPerTurn + Limits.workPerConnectionMin) / least + 1)
            let before = world.loops[0].core.counters.framesIn
            world.turn()
            let frames = world.loops[0].core.counters.framesIn - before
            #expect(frames > 0 && frames <= most && most < 120, "\(frames)")
            for client in clients { client.settle() }
            #expect(clients.allSatisfy { $0.goAways.isEmpty } && !world.loops[0].core.hasPausedInput)
        }
    }

    @Test func `changes nothing for 500 purchases in one read of perch 1`() {
        let world = World()
        let client = world.welcomedClient()
        for _ in 0..<500 { client.call(.buy("coins")) }
        world.settle()
        #expect(world.loops[0].core.counters.inputsDeferred == 0)
    }
}

@Suite struct `a request that comes in pieces over HTTP/1` {
    private static let head =
        "POST \(readPath) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `has its head parsed once`() {
        let world = World()
        let caller = Caller(world)
        _ = caller.say(Self.head)
        #expect(world.loops[0].core.transport.http.heads1.count == 1)
        let body = #"{"account":"anna","groupId":"plans"}"#
        for letter in body { #expect(caller.say("1\r\n\(letter)\r\n") == "") }
        #expect(world.loops[0].core.transport.http.heads1.count == 1)
        #expect(caller.say("0\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(world.loops[0].core.transport.http.heads1.isEmpty)
        // The next request has its own.
        #expect(caller.get(host: "localhost").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `may have any line of its head in a piece of its own`() {
        let caller = Caller(World())
        let lines = "GET \(readPath)?account=anna&groupId=plans HTTP/1.1\r\nHost: localhost\r\nX-Any: 1\r\n"
        for line in lines.split(separator: "\r\n") { #expect(caller.say("\(line)\r\n") == "") }
        #expect(caller.say("\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(caller.say("GET / HTTP/1.1\r\n") == "")
        #expect(caller.say("Host: x\n").hasPrefix("HTTP/1.1 400 "))
    }

    @Test func `may have a long body at once behind a good token, and a short one without`() {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        func post(_ fields: String, _ number: Int32) -> String {
            let body = #"{"account":"anna","groupId":"plans"}"# + String(repeating: " ", count: 30_000)
            return Caller(world, number: number).say(
                "POST \(readPath) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
        }
        #expect(post("Authorization: \(Gate.token(.read))\r\n", 9_500).hasPrefix("HTTP/1.1 200 "))
        #expect(post("Authorization: \(badToken(3))\r\n", 9_501).hasPrefix("HTTP/1.1 413 "))
    }
}

@Suite struct `watches of health` {
    @Test func `are as many as a connection may have`() {
        let world = World()
        let client = HTTP2Client(world)
        let streams = (0...Limits.healthWatchesMax).map { _ in
            let stream = client.open("/grpc.health.v1.Health/Watch")
            client.send(.data, .endStream, stream, [0, 0, 0, 0, 0])
            return stream
        }
        client.settle()
        #expect(streams.dropLast().allSatisfy { !client[$0].hasEnded })
        #expect(streams.last.map { client[$0].trailers["grpc-status"] } == "8")
        #expect(streams.dropLast().allSatisfy { client[$0].messages.count == 1 })
        world.loops[0].core.beginDrain()
        world.turn()
        client.settle()
        #expect(streams.dropLast().allSatisfy { client[$0].hasEnded })
    }

    @Test func `hear that the server leaves before they end`() {
        let world = World()
        let client = HTTP2Client(world)
        let stream = client.open("/grpc.health.v1.Health/Watch")
        client.send(.data, .endStream, stream, [0, 0, 0, 0, 0])
        client.settle()
        world.drain()
        client.settle()
        #expect(client[stream].messages.map { $0.suffix(2) } == [[8, 1], [8, 2]])
        #expect(client[stream].trailers["grpc-status"] == "14" && client.hasEnded)
    }
}

@Suite struct `a call of reflection` {
    @Test func `is answered up to its limit`() {
        let client = HTTP2Client(World())
        let stream = client.open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        let ask: [UInt8] = [0, 0, 0, 0, 3, 0x22, 1, UInt8(ascii: "x")]
        client.window(0, 1 << 20)
        for _ in 0..<Limits.reflectionRequestsMax { client.send(.data, [], stream, ask) }
        client.settle()
        #expect(client[stream].messages.count == Limits.reflectionRequestsMax)
        #expect(client[stream].trailers["grpc-status"] == "8")
    }
}

@Suite struct `the audit trail` {
    @Test func `has who revoked a token, each with a line of its own`() throws {
        let world = Gate.world { $0.core.hosts = HostRule(.any) }
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ops"))
        for id in ["stolen", "lost"] {
            admin.call(.revokeToken(RevokeTokenRequest(tokenID: id)))
        }
        world.settle()
        guard case .listAudit(let page)? = try world.require(.listAudit(ListAuditRequest()), from: admin) as Response?
        else { return }
        #expect(page.entries.map(\.what) == ["stolen", "lost"])
        #expect(page.entries.allSatisfy { $0.method.hasSuffix("/RevokeToken") && $0.subject.contains("ops") })
        #expect(Set(page.entries.map(\.revision)).count == 2)
    }

    @Test func `has the account of each change until it is erased`() throws {
        let world = World()
        let admin = world.welcomedClient()
        func accounts() throws -> [String] {
            guard
                case .listAudit(let page)? = try world.require(.listAudit(ListAuditRequest()), from: admin) as Response?
            else { return ["no page"] }
            return page.entries.map { "\($0.method.split(separator: "/").last ?? "") \($0.account)" }
        }
        for account in ["anna", "ben"] {
            _ =
                try world.require(
                    .operate(OperateRequest(account: account, operation: .setCharges(fail: true))), from: admin)
                as Response?
        }
        _ = try world.require(.setClock(SetClockRequest(change: .freeze)), from: admin) as Response?
        #expect(try accounts() == ["Operate anna", "Operate ben", "SetClock "])
        _ = try world.require(.eraseAccount(EraseAccountRequest(account: "anna")), from: admin) as Response?
        // The trail stays, and names nobody who was erased.
        #expect(try accounts() == ["Operate ", "Operate ben", "SetClock ", "EraseAccount "])
    }
}

@Suite struct `an answer over HTTP` {
    @Test func `is no page, whatever a browser guesses`() {
        let caller = Caller(World())
        for answer in [
            caller.get(host: "localhost"), caller.get(host: "evil.example"),
            caller.say("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ] {
            #expect(answer.split(separator: "x-content-type-options: nosniff").count == 2, "\(answer)")
        }
    }
}

extension World {
    fileprivate static func limitedFrames(bytes: Int) -> World {
        var setup = World.Setup()
        setup.core.partialFramesBytesMax = bytes
        return World(setup)
    }
}
