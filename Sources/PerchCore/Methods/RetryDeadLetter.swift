import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct RetryDeadLetter: MethodHandler {
    let asked: RetryDeadLetterRequest

    var auditNote: AuditNote { .audited(printable(self.asked.id)) }

    func check() throws(CallRefusal) { try Check.present(self.asked.id, "id") }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        .ask(.item(try Check.deadLetter(self.asked.id)))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        switch found {
        case .items(let items, _):
            guard let item = items.first, let letter = DeadLetter(item) else {
                throw CallRefusal(
                    .deadLetterUnknown, "there is no such dead letter; it may have been taken meanwhile")
            }
            return .server(.ingest(.retry(letter, item.key)))
        case .mutated(.reported(let outcome), let position):
            return Self.step(RetryAnswer(position: position, newsCount: outcome.news))
        default: preconditionFailure("a dead letter was asked for, or taken")
        }
    }
}
