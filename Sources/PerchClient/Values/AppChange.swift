public import PerchBase
public import PerchModel
package import PerchWire

/// A change of an account, or of the app itself.
public struct AppChange: Hashable, Sendable {
    /// A subscription group in which a status has changed.
    public struct Group: Hashable, Sendable {
        package let message: GroupStatuses

        package init(message: GroupStatuses) { self.message = message }

        /// Identifier of the subscription group.
        public var id: String { self.message.groupID }
        /// All statuses of the account in the group, after the change.
        public var statuses: SubscriptionStatuses { self.message.statuses }
    }

    /// A product to which the entitlement has changed.
    public struct Entitlement: Hashable, Sendable {
        package let message: EntitlementChange

        package init(message: EntitlementChange) { self.message = message }

        /// The product.
        public var productID: String { self.message.productID }
        /// The transaction that entitles after the change; nil: not entitled.
        public var transaction: Verified<Transaction>? { self.message.transaction }
    }

    package let message: FeedEvent

    /// Nil for a message that has only a cursor.
    package init?(_ message: FeedEvent) {
        guard !message.account.isEmpty || message.cause != .unspecified else { return nil }
        self.message = message
    }

    /// The caller's key of the account; nil: the app's catalogue, clock or settings have changed.
    public var account: String? { self.message.account.isEmpty ? nil : self.message.account }
    /// Why. Unspecified for a change that no value shows.
    public var cause: Cause { self.message.cause }
    /// The groups in which a status has changed.
    public var groups: [Group] { self.message.groups.map { Group(message: $0) } }
    /// The products to which the entitlement has changed.
    public var entitlements: [Entitlement] { self.message.entitlements.map { Entitlement(message: $0) } }
    /// Revision and instant on the app's clock; never less than those of the change before.
    public var position: Position { self.message.position }
    /// Commit time by the wall clock; of a change by time, that of the account's last change.
    public var committed: Instant { self.message.committed }
    /// The client that caused the change; empty for the store itself.
    public var originClientID: [UInt8] { self.message.originClientID }
    /// The place from which a later stream goes on after this change.
    public var cursor: UpdateCursor { UpdateCursor(bytes: self.message.cursor) }
}
