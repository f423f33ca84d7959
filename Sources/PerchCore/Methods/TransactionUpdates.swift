import PerchWire

struct TransactionUpdates: MethodHandler {
    typealias Answer = TransactionEvent

    let asked: TransactionUpdatesRequest

    func begin(_ context: MethodContext) -> Step { .updates(self.asked) }
}
