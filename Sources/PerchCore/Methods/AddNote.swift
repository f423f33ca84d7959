import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A note is text beside an account, in every environment. The audit trail has that it was written, and not the text.
struct AddNote: ChangeMethod {
    let asked: AddNoteRequest

    var auditNote: AuditNote { .audited("") }

    func check() throws(CallRefusal) {
        try Check.present(self.asked.text, "text")
        try Check.atMost(Limits.noteBytesMax, self.asked.text, "text")
    }

    func mutation(_ context: MethodContext) -> Mutation {
        .reported(
            .note(self.asked.text, by: context.author, on: context.key(ofAccount: self.asked.account)),
            app: context.app.number)
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> NoteAdded {
        guard case .number(let id) = result else { preconditionFailure("a note has a number") }
        return NoteAdded(position: position, noteID: id)
    }
}
