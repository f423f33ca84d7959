public import PerchModel

/// Which changes of an app a stream has. An empty list includes all.
public struct AppChangeFilter: Hashable, Sendable {
    /// Only changes with one of these causes.
    public var causes: [Cause] = []
    /// Only changes of statuses in one of these groups, or of entitlements to one of `products`.
    public var groups: [String] = []
    /// Only changes of entitlements to one of these products, or of statuses in one of `groups`.
    public var products: [String] = []
    /// Only changes of an entitlement.
    public var entitlementsOnly = false

    /// Creates a filter that includes everything.
    public init() {}
}
