package import PerchBase

/// Why a copy says that an account is entitled. Unspecified: it is not, until the next segment of the name begins.
public struct EntitlementReason: OpenEnumeration {
    /// The contract's number.
    public let rawValue: Int32
    /// Creates one from the contract's number, also one that this version does not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// The names of the known values, by number.
    public static let names = ["unspecified", "subscribed", "inGracePeriod", "renewalAwaited", "purchased", "granted"]
    /// The period of a subscription.
    public static let subscribed = Self(rawValue: 1)
    /// The grace period after a failed charge.
    public static let inGracePeriod = Self(rawValue: 2)
    /// The period is over, and whether it was renewed is not known yet.
    public static let renewalAwaited = Self(rawValue: 3)
    /// A purchase that does not expire.
    public static let purchased = Self(rawValue: 4)
    /// A grant.
    public static let granted = Self(rawValue: 5)
}

/// One name's entitlement for a stretch of time.
///
/// Segments of a name are in order. The first has begun, and each later one begins where the one before ends.
package struct EntitlementSegment: Hashable, Sendable {
    package var grade: EntitlementGrade
    package var reason: EntitlementReason
    /// Without this instant; `distantFuture`: by itself it never ends.
    package var until: Instant

    package init(_ grade: EntitlementGrade, _ reason: EntitlementReason, until: Instant) {
        self.grade = grade
        self.reason = reason
        self.until = until
    }
}

/// A name, and one of its tiers. Empty: none.
package struct EntitlementGrade: Hashable, Sendable {
    package var name: String
    package var tier: String

    package init(name: String, tier: String) {
        self.name = name
        self.tier = tier
    }
}

/// An app's mapping from products and groups to names, prepared for many accounts.
///
/// It gives the same answers as `namedEntitlements(of:app:at:)` at every instant from `now` on.
package struct EntitlementPlan: Sendable {
    /// What the mapping can give, in its order, each once.
    package let grades: [EntitlementGrade]
    private let catalogue: Catalogue
    private let rules: [Rule]
    /// Places in `rules`.
    private let ofProduct: [String: [Int]]
    private let ofGroup: [String: [Int]]
    /// The first rule of each grade.
    private let places: [EntitlementGrade: Int]
    /// The place of a grant without a tier, by name. Names that are not here: behind all.
    private let placeOfNone: [String: Int]
    private let leewayMilliseconds: Int64?
    /// False: every signature of the test app is set to fail, so its purchases give nothing.
    private let isTrusted: Bool

    private struct Rule: Sendable {
        var grade: EntitlementGrade
        /// Of a group: the product that the period must have; nil: any.
        var productID: String?
        var level: Int32?
        var tierPlace: Int
    }

    package init(_ app: AppState) {
        let mapping = app.catalogue.entitlements
        var places: [EntitlementGrade: Int] = [:]
        var lastPlace: [String: Int] = [:]
        var rules: [Rule] = []
        var grades: [EntitlementGrade] = []
        var (ofProduct, ofGroup): ([String: [Int]], [String: [Int]]) = ([:], [:])
        for (index, rule) in mapping.enumerated() {
            let grade = EntitlementGrade(name: rule.name, tier: rule.tier)
            let place = places[grade] ?? index
            if place == index {
                places[grade] = index
                grades.append(grade)
            }
            lastPlace[rule.name] = max(lastPlace[rule.name] ?? 0, place)
            rules.append(
                Rule(
                    grade: grade, productID: rule.productID.isEmpty ? nil : rule.productID, level: rule.level,
                    tierPlace: place))
            let product = app.catalogue.product(rule.productID)
            let group = rule.groupID.isEmpty ? product?.subscription?.groupID ?? "" : rule.groupID
            if group.isEmpty {
                ofProduct[rule.productID, default: []].append(index)
            } else {
                ofGroup[group, default: []].append(index)
            }
        }
        self.grades = grades
        self.catalogue = app.catalogue
        self.rules = rules
        self.ofProduct = ofProduct
        self.ofGroup = ofGroup
        self.places = places
        // A grant without a tier adds time to the last tier where that is none either, and else stands behind all.
        self.placeOfNone = lastPlace.compactMapValues { mapping[$0].tier.isEmpty ? $0 : nil }
        self.leewayMilliseconds = app.renewalLeewayMilliseconds
        self.isTrusted = !app.isTestApp || simulatedVerification(app) == .noFailure
    }

    /// What the sources of an account give from an instant on, by name in bytewise order. A name that ends in nothing has no
    /// segment for it.
    package func segments(of sources: [EntitlementSource], after now: Instant) -> [EntitlementSegment] {
        var candidates: [Candidate] = []
        for source in sources { self.add(source, of: sources, to: &candidates) }
        candidates.removeAll { $0.end <= now }
        if candidates.count == 1, candidates[0].from <= now {
            let only = candidates[0]
            return [EntitlementSegment(only.grade, only.reason, until: only.end)]
        }
        var segments: [EntitlementSegment] = []
        let names = Set(candidates.map(\.grade.name)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names { Self.append(candidates.filter { $0.grade.name == name }, after: now, to: &segments) }
        return segments
    }

    /// A source that gives a name.
    private struct Candidate {
        var grade: EntitlementGrade
        var reason: EntitlementReason
        var from: Instant
        var end: Instant
        /// The place among others that are active at the same instant: the least is shown.
        var tierPlace: Int
        var shown: Instant
        var isStore: Bool
        var rank: Int

        func precedes(_ other: Candidate) -> Bool {
            if self.tierPlace != other.tierPlace { return self.tierPlace < other.tierPlace }
            if self.shown != other.shown { return self.shown > other.shown }
            if self.isStore != other.isStore { return self.isStore }
            return self.rank < other.rank
        }
    }

    private func add(_ source: EntitlementSource, of sources: [EntitlementSource], to candidates: inout [Candidate]) {
        let end = source.end(leewayMilliseconds: self.leewayMilliseconds)
        guard source.from < end else { return }
        if source.kind == .granted {
            let grade = EntitlementGrade(name: source.productID, tier: source.groupID)
            let place = (grade.tier.isEmpty ? self.placeOfNone[grade.name] : self.places[grade]) ?? .max
            candidates.append(
                Candidate(
                    grade: grade, reason: .granted, from: source.from, end: end, tierPlace: place, shown: source.shown,
                    isStore: false, rank: self.rules.count))
            return
        }
        guard self.isTrusted else { return }
        for rank in self.ofProduct[source.productID] ?? [] {
            let rule = self.rules[rank]
            candidates.append(
                Candidate(
                    grade: rule.grade, reason: .purchased, from: source.from, end: end, tierPlace: rule.tierPlace,
                    shown: .distantFuture, isStore: true, rank: rank))
        }
        guard source.kind != .purchased, !self.ofGroup.isEmpty else { return }
        let listed = source.groupProductID.isEmpty ? nil : self.catalogue.product(source.groupProductID)
        let group = listed?.subscription?.groupID ?? source.groupID
        for rank in self.ofGroup[group] ?? [] {
            let rule = self.rules[rank]
            if let product = rule.productID, product != source.productID { continue }
            if let level = rule.level, self.catalogue.product(source.productID)?.subscription?.level != level {
                continue
            }
            candidates.append(
                Candidate(
                    grade: rule.grade, reason: source.kind.reason, from: source.from, end: end,
                    tierPlace: rule.tierPlace, shown: self.shownEnd(of: source, among: sources), isStore: true,
                    rank: rank))
        }
    }

    /// The end that readers see: where a renewal is awaited, that of the last period that follows without a gap.
    private func shownEnd(of source: EntitlementSource, among sources: [EntitlementSource]) -> Instant {
        guard source.kind == .awaited else { return source.shown }
        var end = source.end(leewayMilliseconds: self.leewayMilliseconds)
        while let next = sources.first(where: {
            $0.line == source.line && $0.from <= end && end < $0.end(leewayMilliseconds: self.leewayMilliseconds)
        }) {
            end = next.end(leewayMilliseconds: self.leewayMilliseconds)
        }
        return end
    }

    /// Appends the segments of one name.
    private static func append(
        _ candidates: [Candidate], after now: Instant, to segments: inout [EntitlementSegment]
    ) {
        let instants = Set(candidates.flatMap { [$0.from, $0.end] }).filter { $0 > now && $0 < .distantFuture }.sorted()
        var from = now
        var last: Int?
        let first = segments.count
        for until in instants + [.distantFuture] {
            let active = candidates.indices.filter { candidates[$0].from <= from && from < candidates[$0].end }
            let best = active.min { candidates[$0].precedes(candidates[$1]) }
            from = until
            if segments.count > first, best == last {
                segments[segments.count - 1].until = until
                continue
            }
            last = best
            let none = EntitlementGrade(name: candidates[0].grade.name, tier: "")
            let found = best.map { candidates[$0] }
            segments.append(EntitlementSegment(found?.grade ?? none, found?.reason ?? .unspecified, until: until))
        }
        if segments[segments.count - 1].reason == .unspecified { segments.removeLast() }
    }
}

extension EntitlementSource.Kind {
    fileprivate var reason: EntitlementReason {
        switch self {
        case .subscribed: .subscribed
        case .inGracePeriod: .inGracePeriod
        case .awaited: .renewalAwaited
        case .purchased: .purchased
        case .granted: .granted
        }
    }
}
