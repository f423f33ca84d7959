import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// Notes for the log that name a caller.
extension Service {
    mutating func noteGreeting(_ connection: Int32, as identity: UInt32, _ tables: inout Tables) {
        guard tables.notesEverything else { return }
        var note = LoopNote(kind: .greeted, connection: connection)
        let caller = self.identities[identity].identity
        // A customer's subject is their account, or tells it.
        note.subject = caller.account == nil ? caller.label : "a caller of one account"
        tables.keep(note)
    }

    /// Notes a committed change by an administrator or a test.
    mutating func noteChange(
        _ call: Int32, _ what: String, _ pending: PendingCall, at revision: UInt64?, _ tables: inout Tables
    ) {
        var note = LoopNote(kind: .change, connection: tables.calls[call].connection)
        note.what = what
        note.method = pending.request.method.path
        note.subject = self.identity(ofCall: call, tables).label
        note.revision = revision
        if pending.request.app != nil, let app = tables.apps[pending.app] {
            note.app = (app.bundleID, app.environment)
        }
        tables.keep(note)
    }
}
