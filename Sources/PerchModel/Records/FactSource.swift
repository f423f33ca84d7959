/// Where a fact comes from.
///
/// An open enumeration: a store keeps numbers that a newer version wrote.
package struct FactSource: OpenEnumeration {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let names = ["decision", "notification", "submission", "history", "grant"]
    /// This store decided it: a purchase, a renewal, an operation of a test store.
    package static let decision = Self(rawValue: 0)
    /// A verified App Store notification.
    package static let notification = Self(rawValue: 1)
    /// The app or its backend submitted a verified transaction.
    package static let submission = Self(rawValue: 2)
    /// The App Store Server API answered with a verified transaction.
    package static let history = Self(rawValue: 3)
    /// An administrator's grant.
    package static let grant = Self(rawValue: 4)
}
