/// Whether an account's charges fail.
public struct ChargeOutcome: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["asTheApp", "succeed", "fail"]
    /// As the app's setting says.
    public static let asTheApp = Self(rawValue: 0)
    public static let succeed = Self(rawValue: 1)
    public static let fail = Self(rawValue: 2)

    /// Nil: the app's setting decides.
    package init(fails: Bool?) {
        self = fails.map { $0 ? .fail : .succeed } ?? .asTheApp
    }
}
