import PerchCore
import PerchSimulation
import PerchStore
import PerchWire

/// A client that says whatever it likes in HTTP/2 or HTTP/1.1: the server stays consistent, serves another client, and keeps
/// nothing of this one once it is gone.
///
/// The first byte of an input chooses: even for HTTP/2, whose preface and SETTINGS are sent for it; odd for bytes as they are.
final class WebTarget: FuzzTarget {
    static let name = "web"
    static let reaches = ["PerchCore/Transport/HTTP", "PerchCore/Transport/HTTP2"]

    private var world = World()
    private var inputs = 0
    private static let inputsPerWorld = 500
    private static let preface =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

    init() {}

    static func seeds() -> [[UInt8]] {
        let codec = MessageCodec()
        func message(_ request: Request) -> [UInt8] {
            guard let encoded = try? codec.encode(request) else { fatalError("fuzz: a request cannot be encoded") }
            return Array(encoded.prefixed)
        }
        func frame(_ kind: UInt8, _ flags: UInt8, _ stream: UInt8, _ body: [UInt8]) -> [UInt8] {
            [0, UInt8(body.count >> 8), UInt8(body.count & 255), kind, flags, 0, 0, 0, stream] + body
        }
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        func head(_ path: String, _ type: String = "application/grpc", _ more: [(String, String)] = []) -> [UInt8] {
            // POST and http by index, the others as literals.
            [0x83, 0x86, 4] + text(path) + [0x0F, 0x10] + text(type)
                + more.flatMap { [0] + text($0.0) + text($0.1) }
        }
        let watch = "/perch.v1.EntitlementService/SubscriptionStatusTask"
        let status: Request = .subscriptionStatusTask(SubscriptionStatusRequest(account: "anna", groupID: "plans"))
        let groups = [("perch-groups", "1"), ("grpc-accept-encoding", "gzip,deflate"), ("grpc-timeout", "5S")]
        let calls =
            frame(1, 4, 1, head(watch, "application/grpc", groups)) + frame(0, 1, 1, message(status))
            + frame(8, 0, 1, [0, 0, 0, 9]) + frame(4, 0, 0, [0, 4, 0, 0, 0, 1]) + frame(3, 0, 1, [0, 0, 0, 8])
        let web =
            frame(1, 4, 1, head("/perch.v1.AdminService/ListApps", "application/json"))
            + frame(0, 1, 1, Array("{}".utf8))
        let reflection =
            frame(1, 4, 3, head("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"))
            + frame(0, 0, 3, [0, 0, 0, 0, 2, 0x3A, 0]) + frame(0, 1, 3, [])
            + frame(1, 5, 5, head("/grpc.health.v1.Health/Watch")) + frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
        let one =
            "POST /perch.v1.AdminService/ListApps HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        let get =
            "GET \(watch)?account=anna&groupId=plans HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n"
        return [
            [0] + calls, [0] + web, [0] + reflection, [1] + Self.preface + calls,
            [1] + Array((one + "content-length: 2\r\n\r\n{}").utf8),
            [1] + Array((one + "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n").utf8), [1] + Array(get.utf8),
        ]
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        self.inputs += 1
        if self.inputs % Self.inputsPerWorld == 0 {
            self.world.checkNothingIsLeft()
            self.world = World()
        }
        let before = self.world.loops[0].core.census
        let opened = self.world.loops[0].core.counters.callsOpened
        let socket = SimulatedSocket(number: 9)
        self.world.loops[0].backlog.append(socket)
        let said = (first & 1 == 0 ? Self.preface : []) + bytes[1...]
        let cut = said.count / 2
        for piece in [said[..<cut], said[cut...]] {
            socket.clientSends(Array(piece))
            self.settle(socket)
        }
        self.world.checkInvariants()
        let hasCalled = self.world.loops[0].core.counters.callsOpened > opened
        socket.reset()
        self.settle(socket)
        let after = self.world.loops[0].core.census
        hold(after.connections == 0 && after.calls == 0 && after.dying == 0, "a connection is left: \(after)")
        hold(after.views == 0 && after.accounts == 0, "a view is left: \(after)")
        hold(after.payloads == before.payloads, "\(after.payloads - before.payloads) payloads are leaked")
        hold(after.handshakes == 0 && after.partialBytes == 0, "a part of a frame is left: \(after)")
        return hasCalled
    }

    private func settle(_ socket: SimulatedSocket) {
        let loop = self.world.loops[0]
        for _ in 0..<10_000 {
            let hasSent = socket.deliverToServer()
            let bytes = socket.deliverToClient()
            let hasTurned = loop.hasWork(at: self.world.monotonic)
            if hasTurned { self.world.turn() }
            let hasStored = self.world.storeHasWork
            if hasStored { self.world.runStore() }
            if !hasSent, bytes.isEmpty, !hasTurned, !hasStored { return }
        }
        hold(false, "the server does not come to rest")
    }
}
