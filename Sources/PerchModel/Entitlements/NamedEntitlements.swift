public import PerchBase

/// One thing that gives an entitlement: a product, or a group with, perhaps, one level of service.
package struct EntitlementRule: Hashable, Sendable {
    /// The name that clients ask for.
    package var name: String
    /// The product; empty for a group.
    package var productID: String
    /// The subscription group; empty for a product.
    package var groupID: String
    /// The level of service in the group; nil for each.
    package var level: Int32?
    /// What the app calls this kind of the entitlement, such as `premium`; empty for none.
    package var tier: String

    package init(name: String, productID: String = "", groupID: String = "", level: Int32? = nil, tier: String = "") {
        self.name = name
        self.productID = productID
        self.groupID = groupID
        self.level = level
        self.tier = tier
    }
}

/// What gives an entitlement.
public struct EntitlementOrigin: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "store", "grant"]
    /// A purchase or subscription.
    public static let store = Self(rawValue: 1)
    /// An administrator's grant.
    public static let grant = Self(rawValue: 2)
}

/// An entitlement by its name in the app, whatever gives it.
public struct NamedEntitlement: Hashable, Sendable {
    /// Its name in the file of entitlements, or of the grant.
    public var name: String
    /// The account has it now.
    public var isActive = false
    /// When it ends unless it renews; nil: never, or it is not active.
    public var until: Instant?
    /// It has no end.
    public var isLifetime = false
    /// The subscription that gives it renews.
    public var willRenew = false
    /// No report says whether it renews; `willRenew` is a guess.
    public var isRenewalUnknown = false
    /// Of the subscription that gives it; unspecified for another source.
    public var state = RenewalState.unspecified
    /// When it began.
    public var since: Instant?
    /// What gives it, or gave it last.
    public var origin = EntitlementOrigin(rawValue: 0)
    /// The product that gives it; empty for a grant.
    public var productID = ""
    /// What the app calls this kind of it, such as `premium`; empty for none.
    public var tier = ""
    /// Whether the customer bought it, or shares it.
    public var ownership = OwnershipType.unspecified
    /// It is not of the App Store's production.
    public var isSandbox = false
    /// One word on why it is so, such as `subscribed`, `refunded`, `unverified` or `granted`.
    public var reason = "never"

    /// Creates a value from its parts.
    public init(name: String) { self.name = name }
}

/// An administrator's grant of a named entitlement. It touches no purchase.
package struct EntitlementGrant: Hashable, Sendable {
    package var name: String
    /// When it ends; nil: never.
    package var until: Instant?
    /// The administrator's words.
    package var reason: String
    package var since: Instant
    /// One of the entitlement's tiers in the app's mapping; empty for none.
    package var tier: String

    package init(name: String, until: Instant?, reason: String, since: Instant, tier: String = "") {
        self.name = name
        self.until = until
        self.reason = reason
        self.since = since
        self.tier = tier
    }
}

extension EntitlementGrant {
    package func lasts(at now: Instant) -> Bool { self.until.map { now < $0 } ?? true }

    /// Why it cannot be granted to an account that has other grants; nil if it can.
    package func refusal(beside grants: [EntitlementGrant], app: AppState, at now: Instant) -> Refusal? {
        if let until = self.until, until <= now {
            return Refusal(
                .fieldInvalid,
                "until_ms is \(until), which is not in the future; the app's clock is at \(now)", field: "until_ms",
                found: until.milliseconds)
        }
        let rules = app.catalogue.entitlements.filter { $0.name == self.name }
        if !self.tier.isEmpty, !rules.isEmpty, !rules.contains(where: { $0.tier == self.tier }) {
            let tiers = rules.map(\.tier).filter { !$0.isEmpty }.reduce(into: [String]()) { tiers, tier in
                if !tiers.contains(tier) { tiers.append(tier) }
            }
            return Refusal(
                .fieldInvalid,
                "\(printable(self.name)) has no tier \(printable(self.tier)) in the app's file of entitlements; "
                    + (tiers.isEmpty ? "it has none" : "it has \(tiers.map { printable($0) }.joined(separator: ", "))"),
                field: "tier")
        }
        let others = grants.count { $0.name != self.name }
        guard others < Limits.grantsMax else {
            return Refusal(
                .recordLimit, "the account has \(others) grants, the limit is \(Limits.grantsMax); revoke some",
                found: Int64(others), limit: Int64(Limits.grantsMax))
        }
        return nil
    }
}

/// The named entitlements of an account: one for each name of the app's mapping, and one for each granted name beside it. By name.
///
/// Among active sources the tier that stands first in the mapping wins, then a lifetime, then the latest end, then a purchase
/// before a grant. A grant without a tier is behind all tiers of its name, so it never takes one away.
package func namedEntitlements(
    of record: AccountRecord?, app: AppState, at now: Instant
) -> Viewed<[NamedEntitlement]> {
    var viewed = Viewed<[NamedEntitlement]>(value: [])
    var best: [String: (entitlement: NamedEntitlement, place: SourcePlace)] = [:]
    let rules = app.catalogue.entitlements
    func offer(_ candidate: NamedEntitlement, rank: Int) {
        let place = SourcePlace(candidate, rank: rank, among: rules)
        if let held = best[candidate.name], !(place < held.place) { return }
        best[candidate.name] = (candidate, place)
    }
    let isSandbox = app.environment != .production
    let holdings = holdings(of: record, in: app, at: now)
    for (rank, rule) in rules.enumerated() {
        var none = NamedEntitlement(name: rule.name)
        none.isSandbox = isSandbox
        offer(none, rank: .max)
        for candidate in candidates(rule, of: holdings, noting: &viewed.outlook) {
            offer(candidate, rank: rank)
        }
    }
    for grant in record?.grants ?? [] {
        var granted = NamedEntitlement(name: grant.name)
        granted.isSandbox = isSandbox
        granted.origin = .grant
        granted.since = grant.since
        granted.isActive = grant.lasts(at: now)
        granted.until = grant.until
        granted.tier = grant.tier
        granted.isLifetime = grant.until == nil
        granted.reason = granted.isActive ? "granted" : "grantEnded"
        if granted.isActive { viewed.outlook.note(crossing: grant.until, forecast: nil) }
        offer(granted, rank: rules.count)
    }
    viewed.value = best.values.map(\.entitlement).sorted { $0.name < $1.name }
    return viewed
}

/// Why something that would entitle does not: its signature is not trusted.
private let unverifiedReason = "unverified"

/// The place of a source among those of one name: the least is shown. Each part is an order, so the whole is one, whatever the number
/// of sources.
private struct SourcePlace: Comparable {
    private let isActive: Bool
    private let isUnverified: Bool
    /// The place of its tier in the mapping.
    private let tier: Int
    private let end: Instant
    private let isStore: Bool
    private let rank: Int

    init(_ source: NamedEntitlement, rank: Int, among rules: [EntitlementRule]) {
        self.isActive = source.isActive
        self.isUnverified = source.reason == unverifiedReason
        self.tier = Self.tier(of: source, among: rules)
        let none: Instant = source.isActive ? .distantFuture : .distantPast
        self.end = source.isLifetime ? .distantFuture : source.until ?? none
        self.isStore = source.origin == .store
        self.rank = rank
    }

    /// The place of the tier's first rule. A grant without a tier has that of the last tier if this is none either, which adds time to
    /// it, and else stands behind all.
    private static func tier(of source: NamedEntitlement, among rules: [EntitlementRule]) -> Int {
        func place(_ tier: String) -> Int? { rules.firstIndex { $0.name == source.name && $0.tier == tier } }
        guard source.origin == .grant, source.tier.isEmpty else { return place(source.tier) ?? .max }
        let last = rules.filter { $0.name == source.name }.compactMap { place($0.tier) }.max()
        return last.flatMap { rules[$0].tier.isEmpty ? $0 : nil } ?? .max
    }

    static func < (left: SourcePlace, right: SourcePlace) -> Bool {
        if left.isActive != right.isActive { return left.isActive }
        // Of those that are not active, one that only misses its verification says most, then the one that lasted longest.
        if left.isUnverified != right.isUnverified { return left.isUnverified }
        if left.isActive, left.tier != right.tier { return left.tier < right.tier }
        if left.end != right.end { return left.end > right.end }
        if left.isStore != right.isStore { return left.isStore }
        return left.rank < right.rank
    }
}

/// What a rule finds in an account.
private func candidates(
    _ rule: EntitlementRule, of holdings: any Holdings, noting outlook: inout Outlook
) -> [NamedEntitlement] {
    let app = holdings.app
    let product = app.catalogue.product(rule.productID)
    let group = rule.groupID.isEmpty ? product?.subscription?.groupID ?? "" : rule.groupID
    guard !group.isEmpty else { return purchase(rule, of: holdings, noting: &outlook) }
    let viewed = holdings.statuses(inGroup: group)
    outlook.note(crossing: viewed.nextCrossing, forecast: viewed.forecast)
    return viewed.value.statuses.compactMap { status in
        let transaction = status.transaction.value
        if !rule.productID.isEmpty, transaction.productID != rule.productID { return nil }
        if let level = rule.level, app.catalogue.product(transaction.productID)?.subscription?.level != level {
            return nil
        }
        let info = status.renewalInfo.value
        var found = NamedEntitlement(name: rule.name)
        found.isSandbox = app.environment != .production
        found.isActive = status.entitles
        if status.isVerified {
            let end = found.isActive ? nil : holdings.serviceEnd(original: transaction.originalID)
            found.until =
                status.state == .inGracePeriod
                ? info.gracePeriodExpirationDate : end ?? transaction.expirationDate
        }
        if found.isActive, found.until.map({ $0 <= holdings.now }) ?? false {
            // The period is over and its renewal is awaited: it lasts until that wait ends.
            found.until = holdings.awaitedUntil(original: transaction.originalID)
        }
        found.willRenew = found.isActive && info.willAutoRenew
        found.isRenewalUnknown = found.isActive && info.isUnreported
        found.state = status.state
        found.since = transaction.originalPurchaseDate
        found.origin = .store
        found.productID = transaction.productID
        found.tier = rule.tier
        found.ownership = transaction.ownership
        found.reason = status.isVerified ? "\(status.state)" : unverifiedReason
        return found
    }
}

private func purchase(
    _ rule: EntitlementRule, of holdings: any Holdings, noting outlook: inout Outlook
) -> [NamedEntitlement] {
    let shown = holdings.entitlement(toProduct: rule.productID, noting: &outlook)
    guard let shown else { return [] }
    let transaction = shown.value
    var found = NamedEntitlement(name: rule.name)
    found.isSandbox = holdings.app.environment != .production
    found.isActive = shown.isVerified
    found.isLifetime = shown.isVerified
    found.since = transaction.originalPurchaseDate
    found.origin = .store
    found.productID = transaction.productID
    found.tier = rule.tier
    found.ownership = transaction.ownership
    found.reason = shown.isVerified ? "purchased" : unverifiedReason
    return [found]
}
