package import PerchBase

/// The place of a report among all reports of one thing: when the App Store signed it, then its content.
///
/// Reports arrive in any order and more than once. Of two reports of one thing the one with the greater stamp holds,
/// whichever arrived first. So folding reports is a join of a semilattice: commutative, associative and idempotent.
package struct ReportStamp: Hashable, Comparable, Sendable {
    package var signed: Instant
    /// Digest of the payload's canonical bytes. It decides between two reports that were signed in one millisecond.
    package var content: Digest

    package init(signed: Instant, content: Digest) {
        self.signed = signed
        self.content = content
    }

    package static func < (left: ReportStamp, right: ReportStamp) -> Bool {
        if left.signed != right.signed { return left.signed < right.signed }
        return (left.content.high, left.content.low) < (right.content.high, right.content.low)
    }
}

/// What folding a report did.
package enum FoldOutcome: Hashable, Sendable {
    /// The state changed.
    case news
    /// A report with a greater stamp is known already. Nothing changed.
    case stale
    /// The same report is known already. Nothing changed.
    case duplicate
}
