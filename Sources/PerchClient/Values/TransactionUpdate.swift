public import PerchBase
public import PerchModel
import PerchWire

/// Something that happened to a transaction.
public struct TransactionUpdate: Hashable, Sendable {
    /// As it is after the event.
    public var transaction: Verified<Transaction>
    /// What happened; `unfinished` for those replayed at the start.
    public var kind: TransactionEventKind
    /// Where a later call goes on after this event; nil for those replayed at the start.
    public var cursor: UpdateCursor?
    /// The revision of the event.
    public var revision: UInt64
    /// When it was committed, by the wall clock.
    public var committed: Instant
    /// The client that caused it; empty for the store itself.
    public var originClientID: [UInt8]

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

    /// Nil for the message that only says where new events begin.
    init?(_ event: TransactionEvent) {
        guard let transaction = event.transaction else { return nil }
        self.init(
            transaction: transaction, kind: event.kind,
            cursor: event.cursor.isEmpty ? nil : UpdateCursor(bytes: event.cursor), revision: event.revision,
            committed: event.committed, originClientID: event.originClientID)
    }
}

/// A place in the events of an account: opaque, good on any connection to the same store.
public struct UpdateCursor: Hashable, Sendable {
    /// To be kept somewhere, and handed back as it is.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
