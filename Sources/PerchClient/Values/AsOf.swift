public import PerchBase
import PerchWire

/// The moment of a read.
///
///     try await client.subscriptionStatus(account: "anna", group: "plans", asOf: .at(end))
public struct AsOf: Hashable, Sendable {
    /// An instant of the app's clock, past or future: the same rules, applied at that instant. Nil: now.
    public var instant: Instant?
    /// Uses only facts up to this revision. Nil: all facts known now.
    public var revision: UInt64?

    /// Creates a point in the past. With neither part it means the present.
    public init(instant: Instant? = nil, revision: UInt64? = nil) {
        self.instant = instant
        self.revision = revision
    }

    /// The present, with all known facts.
    public static let now = AsOf()

    /// An instant, with all known facts.
    public static func at(_ instant: Instant) -> AsOf { AsOf(instant: instant) }

    /// The present, with the facts known at a revision.
    public static func knownAt(_ revision: UInt64) -> AsOf { AsOf(revision: revision) }

    var onWire: PerchWire.AsOf { PerchWire.AsOf(instant: self.instant, revision: self.revision ?? 0) }
}
