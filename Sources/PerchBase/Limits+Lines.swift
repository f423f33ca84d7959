// MARK: What one operation on a subscription may do

extension Limits {
    /// Members of a family, beside the purchaser, with whom an account may share. The App Store's own number.
    package static let familyMembersMax = 5

    /// The farthest that one call may move a renewal: 90 days, as the App Store's own extension. A second call may go
    /// on from there.
    package static let renewalExtensionMillisecondsMax: Int64 = 90 * 86_400_000

    /// Rows that are read at a time while the newest one of a kind is looked for.
    package static let rowsPerLook = 500
}
