package import PerchBase

extension Limits {
    /// Milliseconds for which a node has the right to send requests to other servers; each heartbeat renews it. The node itself counts
    /// the second value less.
    package static let senderLeaseMilliseconds: Int64 = 15_000
    package static let senderLeaseMarginMilliseconds: Int64 = 3_000
}
