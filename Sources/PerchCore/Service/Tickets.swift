import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// What an answer of the store, or of the server, is for.
enum Ticket {
    /// The record of a watched account.
    case account(Int32, generation: UInt32)
    /// A unary call that waits.
    case call(Int32, generation: UInt32)
    /// The next events, or unfinished transactions, of a stream.
    case updates(Int32, generation: UInt32)
}

/// What a unary call still has to do when its answer comes.
struct PendingCall {
    var request: Request
    var app: AppNumber
    /// Set while a catalogue is being written.
    var summary: CatalogSummary?
}

/// A call that waits until the loop is at a position.
struct Waiter {
    var call: Int32
    var generation: UInt32
    var position: Position
    var app: AppNumber
    var request: Request
}
