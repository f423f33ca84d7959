package import PerchBase
package import PerchModel

/// An account whose customers' histories are to be read.
package struct UnreadHistory: Hashable, Sendable {
    package var account: AccountNumber
    package var originals: [TransactionID]
    /// Where the last reading ended; empty for none.
    package var places: [ReportedHistory.Place]

    package init(account: AccountNumber, originals: [TransactionID], places: [ReportedHistory.Place]) {
        self.account = account
        self.originals = originals
        self.places = places
    }
}

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
