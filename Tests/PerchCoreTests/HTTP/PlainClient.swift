import PerchBase
import PerchSimulation

@testable import PerchCore

/// A client of HTTP/1.1 in memory.
struct PlainClient {
    let world: World
    let socket: SimulatedSocket

    init(_ world: World = World(), number: Int32? = nil, address: PeerAddress? = nil, isIntake: Bool = false) {
        self.world = world
        let before = Int(world.loops[0].core.counters.connectionsAccepted) + world.loops[0].backlog.count
        self.socket = SimulatedSocket(number: number ?? 9_500 + Int32(before))
        self.socket.address = address
        self.socket.isIntake = isIntake
        world.loops[0].backlog.append(self.socket)
    }

    /// Sends text, and returns what the server answers.
    func say(_ text: String) -> String {
        self.socket.clientSends(Array(text.utf8))
        return self.hear()
    }

    func hear() -> String {
        var heard: [UInt8] = []
        var isMoving = true
        while isMoving {
            isMoving = self.socket.deliverToServer()
            self.world.settle()
            let bytes = self.socket.deliverToClient()
            if !bytes.isEmpty { isMoving = true }
            heard += bytes
        }
        self.world.loops[0].core.checkInvariants()
        return String(decoding: heard, as: UTF8.self)
    }

    /// Shuts down the client's writing side, and returns what the server still says.
    func end() -> String {
        self.socket.clientEnds()
        return self.hear()
    }

    var isClosed: Bool { self.socket.isAtEndForClient }

    func get(_ query: String, _ fields: String = "") -> String {
        self.say(
            "GET /perch.v1.EntitlementService/GetSubscriptionStatus?\(query) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
        )
    }

    /// A stream as server-sent events.
    func events(_ method: String, _ query: String, _ fields: String = "") -> String {
        self.say(
            "GET /perch.v1.\(method)?\(query) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\(fields)\r\n"
        )
    }

    func post(_ path: String, _ body: String, type: String = "application/json", _ fields: String = "") -> String {
        self.say(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n\(fields)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }
}
