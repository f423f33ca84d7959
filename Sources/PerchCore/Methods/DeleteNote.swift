import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

/// The notes are read first: whose a note is never changes.
struct DeleteNote: MethodHandler {
    let asked: DeleteNoteRequest

    var auditNote: AuditNote { .audited("") }

    func begin(_ context: MethodContext) -> Step { .ask(.notes(context.key(ofAccount: self.asked.account))) }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        switch found {
        case .notes(let notes):
            let note = notes.first { $0.id == self.asked.noteID }
            if let note, note.author != context.author, context.caller.identity.scope != .admin {
                throw CallRefusal(
                    .permissionDenied,
                    "note \(note.id) was written by \(note.author); whoever wrote a note deletes it, or credentials with the scope admin",
                    details: [StatusDetail(key: "needed", value: Scope.admin.name)])
            }
            let key = context.key(ofAccount: self.asked.account)
            return .change(.reported(.dropNote(self.asked.noteID, of: key), app: context.app.number))
        case .mutated(_, let position):
            return Self.step(Acknowledgement(position: position))
        default:
            preconditionFailure("a note was to be deleted")
        }
    }
}
