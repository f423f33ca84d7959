import PerchModel

/// Business events since the start: purchases, renewals, refunds and ends.
package struct Milestones: Sendable, Equatable {
    package var purchases: UInt64 = 0
    package var renewals: UInt64 = 0
    package var renewalsFailed: UInt64 = 0
    package var refunds: UInt64 = 0
    package var subscriptionsEnded: UInt64 = 0

    package init() {}

    /// Counts the facts of a change that was committed. By place: an element that is handed out is copied.
    mutating func count(_ accounts: [AccountChange]) {
        for account in accounts.indices {
            for fact in accounts[account].facts.indices {
                switch accounts[account].facts[fact].body {
                case .purchased: self.purchases += 1
                case .renewed: self.renewals += 1
                case .renewalFailed: self.renewalsFailed += 1
                case .revoked: self.refunds += 1
                case .lapsed, .expiredEarly: self.subscriptionsEnded += 1
                default: break
                }
            }
        }
    }
}
