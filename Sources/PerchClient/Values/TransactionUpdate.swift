public import PerchBase
public import PerchModel
import PerchWire

/// An event of a transaction.
public struct TransactionUpdate: Hashable, Sendable {
    /// The transaction after the event.
    public var transaction: Verified<Transaction>
    /// Kind of the event; `unfinished` for a replayed transaction.
    public var kind: TransactionEventKind
    /// Place of the event, from which a later stream resumes; nil for a replayed transaction.
    public var cursor: UpdateCursor?
    /// The revision of the event.
    public var revision: UInt64
    /// Commit time, by the wall clock.
    public var committed: Instant
    /// The client that caused the event; empty for the store itself.
    public var originClientID: [UInt8]

    /// Creates an update from its parts, for tests.
    public init(
        transaction: Verified<Transaction>, kind: TransactionEventKind, cursor: UpdateCursor?, revision: UInt64,
        committed: Instant, originClientID: [UInt8]
    ) {
        self.transaction = transaction
        self.kind = kind
        self.cursor = cursor
        self.revision = revision
        self.committed = committed
        self.originClientID = originClientID
    }

    /// Nil for the message that only marks where new events begin.
    init?(_ event: TransactionEvent) {
        guard let transaction = event.transaction else { return nil }
        self.init(
            transaction: transaction, kind: event.kind,
            cursor: event.cursor.isEmpty ? nil : UpdateCursor(bytes: event.cursor), revision: event.revision,
            committed: event.committed, originClientID: event.originClientID)
    }
}

/// A place in the events of an account. Opaque, and valid on every connection to the same store.
public struct UpdateCursor: Hashable, Sendable {
    /// The bytes to store.
    public var bytes: [UInt8]

    /// Creates a cursor from the bytes of an earlier one.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
