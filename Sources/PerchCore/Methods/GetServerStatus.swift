import PerchWire

struct GetServerStatus: ServerMethod {
    typealias Answer = ServerStatus

    func control(_ context: MethodContext) -> ControlRequest { .serverStatus }
}
