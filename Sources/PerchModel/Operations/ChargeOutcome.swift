/// Whether an account's charges fail.
public struct ChargeOutcome: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["asTheApp", "succeed", "fail"]
    /// As the app's setting says.
    public static let asTheApp = Self(rawValue: 0)
    /// They succeed.
    public static let succeed = Self(rawValue: 1)
    /// They fail.
    public static let fail = Self(rawValue: 2)

    /// Nil: the app's setting decides.
    package init(fails: Bool?) {
        self = fails.map { $0 ? .fail : .succeed } ?? .asTheApp
    }
}
