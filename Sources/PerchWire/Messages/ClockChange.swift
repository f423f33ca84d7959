package import PerchBase

/// A change of an app's clock.
package enum ClockChange: Hashable, Sendable {
    case freeze
    case resume
    case advanceBy(milliseconds: Int64)
    case advanceTo(Instant)
    /// To the next instant at which something is due for this account.
    case advanceToBoundary(account: String)
}
