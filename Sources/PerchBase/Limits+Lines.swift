// MARK: One operation on a subscription

extension Limits {
    /// Family members, beside the purchaser, with whom an account may share: the App Store's number.
    package static let familyMembersMax = 5

    /// Longest renewal extension of one call, in milliseconds: 90 days, as in the App Store. A second call may extend
    /// further.
    package static let renewalExtensionMillisecondsMax: Int64 = 90 * 86_400_000

    /// Rows that are read at a time to find the newest one of a kind.
    package static let rowsPerLook = 500
}
