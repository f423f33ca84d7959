import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct DropDeadLetter: ChangeMethod {
    let asked: DropDeadLetterRequest

    var auditNote: AuditNote { .audited(printable(self.asked.id)) }

    func check() throws(CallRefusal) { try Check.present(self.asked.id, "id") }

    func mutation(_ context: MethodContext) throws(CallRefusal) -> Mutation {
        .item(.drop(try Check.deadLetter(self.asked.id)))
    }
}
