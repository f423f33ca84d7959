public import PerchBase
import PerchWire

/// Which moment a read is about.
///
///     try await client.subscriptionStatus(account: "anna", group: "plans", asOf: .at(end))
public struct AsOf: Hashable, Sendable {
    /// An instant of the app's clock, past or to come: the same rules, asked of then. Nil: its clock now.
    public var instant: Instant?
    /// What was known at this revision. Nil: what is known now.
    public var revision: UInt64?

    /// Creates a point in the past. With neither part it means the present.
    public init(instant: Instant? = nil, revision: UInt64? = nil) {
        self.instant = instant
        self.revision = revision
    }

    /// Now, with what is known now.
    public static let now = AsOf()

    /// At an instant, with what is known now.
    public static func at(_ instant: Instant) -> AsOf { AsOf(instant: instant) }

    /// With what was known at a revision, asked of now.
    public static func knownAt(_ revision: UInt64) -> AsOf { AsOf(revision: revision) }

    var onWire: PerchWire.AsOf { PerchWire.AsOf(instant: self.instant, revision: self.revision ?? 0) }
}
