package import PerchBase
package import PerchModel

/// A subscription of an App Store app whose last known period is over, whatever else is known of it.
package struct EndedSubscription: Hashable, Sendable {
    package var original: TransactionID
    /// A transaction of the last known period.
    package var transaction: TransactionID
    package var end: Instant
    /// What is known of it now.
    package var state: RenewalState

    package init(original: TransactionID, transaction: TransactionID, end: Instant, state: RenewalState) {
        self.original = original
        self.transaction = transaction
        self.end = end
        self.state = state
    }
}
