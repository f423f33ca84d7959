import PerchBase
import PerchIdentity
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// A subscription's notification has some 20 kB: two signed values with three certificates each, within a third.
@Suite struct `a notification of the App Store` {
    enum Port: CaseIterable {
        case apples, main
    }

    private static func body(_ bytes: Int) -> String {
        #"{"signedPayload":"\#(String(repeating: "A", count: bytes))"}"#
    }

    private static func world(hasCredentials: Bool) -> World { hasCredentials ? Gate.world() : World() }

    private static func path(_ port: Port) -> String {
        port == .apples ? "/apple/notifications" : "/perch.v1.IngestService/SubmitNotification"
    }

    private static func overHTTP1(_ body: String, to port: Port, _ world: World, chunks: Bool = false) -> String {
        let token = port == .main ? "Authorization: \(Gate.token(.ingest))\r\n" : ""
        let head =
            "POST \(Self.path(port)) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(token)"
        let client = PlainClient(world, isIntake: port == .apples)
        if chunks {
            return client.say(
                "\(head)Transfer-Encoding: chunked\r\n\r\n\(PlainClient.chunk(body))\(PlainClient.chunk(""))")
        }
        return client.say("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static func overHTTP2(_ body: String, to port: Port, _ world: World) -> String {
        let client = HTTP2Client(world, isIntake: port == .apples)
        let token = port == .main ? [("authorization", Gate.token(.ingest))] : []
        let stream = client.open(Self.path(port), token, type: "application/json")
        var rest = Array(body.utf8)[...]
        while !rest.isEmpty {
            let part = rest.prefix(16_384)
            rest = rest.dropFirst(part.count)
            client.send(.data, rest.isEmpty ? .endStream : [], stream, Array(part))
            client.settle()
        }
        return client.streams[stream]?.head[":status"] ?? client.streams[stream]?.trailers[":status"] ?? "none"
    }

    /// In a simulated server the intake refuses all of them: 503, and so they got there.
    @Test(arguments: [true, false], Port.allCases)
    func `of 128 KiB is taken on both ports and by both versions of HTTP`(hasCredentials: Bool, port: Port) {
        for bytes in [17_000, 20_000, 66_000, Limits.appleNotificationBytesMax] {
            let reached = port == .apples ? "503" : "400"
            for chunks in [false, true] {
                let world = Self.world(hasCredentials: hasCredentials)
                let answer = Self.overHTTP1(Self.body(bytes), to: port, world, chunks: chunks)
                #expect(answer.hasPrefix("HTTP/1.1 \(reached) "), "\(bytes) bytes, \(chunks): \(answer.prefix(300))")
                #expect(answer.contains("NOT_TOLD_APP") || answer.contains("simulated"), "\(answer.prefix(400))")
            }
            let status = Self.overHTTP2(Self.body(bytes), to: port, Self.world(hasCredentials: hasCredentials))
            #expect(status == reached, "\(bytes) bytes over HTTP/2")
        }
    }

    @Test(arguments: [true, false], Port.allCases)
    func `that is too long is refused, counted and noted`(hasCredentials: Bool, port: Port) {
        let body = Self.body(Limits.appleRequestBytesMax + 1)
        for isHTTP2 in [false, true] {
            let world = Self.world(hasCredentials: hasCredentials)
            let status =
                isHTTP2
                ? Self.overHTTP2(body, to: port, world)
                : String(Self.overHTTP1(body, to: port, world).dropFirst(9).prefix(3))
            let expected = port == .apples || !isHTTP2 ? "413" : "429"
            #expect(status == expected, "HTTP/2: \(isHTTP2)")
            let refused = world.loops[0].core.counters.notificationsRefused
            #expect(refused.map(\.key.reason) == ["APPLE_TOO_LONG"] && refused.values.reduce(0, +) == 1, "\(refused)")
        }
    }

    /// The App Store may never send again what was answered 4xx, so those are for bytes that can never become right.
    @Test(arguments: [
        (ErrorReason.appleMalformed, 400), (.messageMalformed, 400), (.appleTooLong, 413), (.requestTooLong, 413),
        (.appleSignature, 403), (.appleNoMarker, 403), (.appleChainLength, 403), (.appleUntrusted, 503),
        (.appleAlgorithm, 503), (.appleAppUnknown, 503), (.notToldApp, 503), (.intakeFull, 503), (.recordLimit, 503),
        (.storeFull, 503), (.deadLetterLimit, 503), (.shuttingDown, 503), (.frameTimeout, 503),
    ])
    func `is answered 4xx only where nothing can make it right`(reason: ErrorReason, status: Int) {
        #expect(WireStatus(reason, "").intakeHTTPStatus == status)
        #expect(WireStatus(reason, "", details: [.kept]).intakeHTTPStatus == 503)
    }

    @Test(arguments: [
        ("POST /", 404), ("POST /perch.v1.AdminService/ListApps", 404), ("GET /", 404),
        ("GET /apple/notifications", 405),
    ])
    func `is told from other requests on its port, which are counted apart`(request: String, status: Int) {
        let world = World()
        let answer = PlainClient(world, isIntake: true).say(
            "\(request) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        let counters = world.loops[0].core.counters
        #expect(counters.notificationsRefused.isEmpty)
        #expect(counters.strayRequests == [status: 1])
    }

    @Test func `is told from what is no HTTP, and counted where its body is too long for its head`() {
        let strange = World()
        _ = PlainClient(strange, isIntake: true).say("GARBAGE\r\n\r\n")
        #expect(strange.loops[0].core.counters.notificationsRefused.isEmpty)
        #expect(strange.loops[0].core.counters.strayRequests == [400: 1])
        let long = World()
        let length = Limits.appleRequestBytesMax + 100
        let answer = PlainClient(long, isIntake: true).say(
            "POST /apple/notifications HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
        #expect(long.loops[0].core.counters.notificationsRefused.values.reduce(0, +) == 1)
        #expect(long.loops[0].core.counters.strayRequests.isEmpty)
    }
}
