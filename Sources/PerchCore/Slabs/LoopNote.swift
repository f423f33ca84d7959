import PerchBase
package import PerchModel
import PerchWire

/// A note for the server's log: a change by an administrator or a test, and at level `debug` each connection and call.
/// Contains no account and no credential.
package struct LoopNote: Sendable {
    package enum Kind: Sendable {
        /// An administrative or test call has changed the store.
        case change
        case opened, greeted, closed
        case called, ended
        /// A notification of the App Store was not taken.
        case notificationRefused

        package var message: String {
            switch self {
            case .change: "a call changed something"
            case .opened: "a connection was accepted"
            case .greeted: "a client said HELLO"
            case .closed: "a connection is closed"
            case .called: "a call began"
            case .ended: "a call ended"
            case .notificationRefused: "a notification of the App Store was refused"
            }
        }
    }

    package var kind: Kind
    package var connection: Int32
    /// Who called; never a secret.
    package var subject = ""
    package var method = ""
    package var what = ""
    package var app: (bundleID: String, environment: AppEnvironment)?
    package var revision: UInt64?
    /// How a call ended.
    package var status = ""
    package var stream: UInt32?
}

extension Tables {
    /// Adds a note for this tick. Notes beyond `Limits.notesPerTurnMax` are dropped and
    /// counted.
    mutating func note(_ kind: LoopNote.Kind, _ connection: Int32, what: String = "") {
        self.keep(LoopNote(kind: kind, connection: connection, what: what))
    }

    mutating func keep(_ note: LoopNote) {
        guard self.notes.count < Limits.notesPerTurnMax else {
            self.counters.notesDropped += 1
            return
        }
        self.notes.append(note)
    }

    /// A notification of the App Store was not taken. Counted by the answer, because the App Store sends some of them again and others
    /// never.
    mutating func noteRefusedNotification(_ connection: Int32, _ status: Int, _ reason: String, _ text: String) {
        let refusal = LoopCounters.NotificationRefusal(status: status, reason: reason)
        self.counters.notificationsRefused[refusal, default: 0] += 1
        var note = LoopNote(kind: .notificationRefused, connection: connection, what: text)
        note.status = "\(status) \(reason)"
        self.keep(note)
    }

    mutating func noteClosing(_ connection: Int32) {
        if self.notesEverything { self.note(.closed, connection) }
    }

    mutating func noteCall(_ call: Int32) {
        guard self.notesEverything else { return }
        var note = LoopNote(kind: .called, connection: self.calls[call].connection)
        note.method = self.calls[call].method.path
        note.stream = self.calls[call].stream
        self.keep(note)
    }

    mutating func noteEnd(_ call: Int32, _ reason: String) {
        guard self.notesEverything else { return }
        var note = LoopNote(kind: .ended, connection: self.calls[call].connection)
        note.method = self.calls[call].method.path
        note.stream = self.calls[call].stream
        note.status = reason
        self.keep(note)
    }
}
