import PerchModel

/// What happened in a business since the start: purchases, renewals, refunds and ends.
package struct Milestones: Sendable, Equatable {
    package var purchases: UInt64 = 0
    package var renewals: UInt64 = 0
    package var renewalsFailed: UInt64 = 0
    package var refunds: UInt64 = 0
    package var subscriptionsEnded: UInt64 = 0

    package init() {}

    mutating func count(_ fact: Fact) {
        switch fact.body {
        case .purchased: self.purchases += 1
        case .renewed: self.renewals += 1
        case .renewalFailed: self.renewalsFailed += 1
        case .revoked: self.refunds += 1
        case .lapsed, .expiredEarly: self.subscriptionsEnded += 1
        case .reported(.transaction(let report)) where report.shown != nil:
            switch report.kind {
            case .purchased: self.purchases += 1
            case .renewed: self.renewals += 1
            case .revoked: self.refunds += 1
            default: break
            }
        default: break
        }
    }

    /// Adds those of a batch that was committed.
    mutating func add(_ other: Milestones) {
        self.purchases += other.purchases
        self.renewals += other.renewals
        self.renewalsFailed += other.renewalsFailed
        self.refunds += other.refunds
        self.subscriptionsEnded += other.subscriptionsEnded
    }
}
