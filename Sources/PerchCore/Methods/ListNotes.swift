import PerchStore
import PerchWire

struct ListNotes: MethodHandler {
    let asked: ListNotesRequest

    func begin(_ context: MethodContext) -> Step { .ask(.notes(context.key(ofAccount: self.asked.account))) }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .notes(let notes) = found else { preconditionFailure("notes were asked for") }
        return Self.step(NoteList(notes: notes))
    }
}
