// MARK: One operation on a subscription

extension Limits {
    /// Family members, beside the purchaser, with whom an account may share: the App Store's number.
    package static let familyMembersMax = 5

    /// Milliseconds by which one call may move a renewal later: 90 days, the App Store's own limit. More is refused with
    /// `EXTENSION_INVALID`.
    package static let renewalExtensionMillisecondsMax: Int64 = 90 * 86_400_000

    /// Extensions that a line may have in any `renewalExtensionDays`: the App Store's own limit. One more is refused with
    /// `EXTENSION_INELIGIBLE`.
    package static let renewalExtensionsMax = 2

    /// Days of the window in which extensions are counted. At other time rates than real time the window scales as
    /// periods do.
    package static let renewalExtensionDays: Int32 = 365

    /// Refund requests that an account's record remembers, so that a second one for a transaction is refused. Beyond
    /// that the oldest is forgotten.
    package static let refundRequestsKept = 100

    /// Rows that are read at a time to find the newest one of a kind.
    package static let rowsPerLook = 500
}
