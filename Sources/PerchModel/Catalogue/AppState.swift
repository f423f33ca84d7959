package import PerchBase

/// Number of an app within a store.
package typealias AppNumber = UInt32
/// Number of an account within a store; the callers' keys are aliases of it.
package typealias AccountNumber = UInt64

/// Who gets an original transaction that another account has, where the app's backend submits it for an account.
package enum ClaimPolicy: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The account that it was submitted for.
    case transfer = 0
    /// The same, if the original entitles the other account to nothing.
    case transferIfInactive = 1
    /// The account that has it.
    case keep = 2

    package var description: String {
        switch self {
        case .transfer: "transfer"
        case .transferIfInactive: "transfer-if-inactive"
        case .keep: "keep"
        }
    }

    package init?(named name: String) {
        guard let policy = Self.allCases.first(where: { $0.description == name }) else { return nil }
        self = policy
    }
}

/// Settings of an app: the catalogue file sets their first values, and the test store changes them.
package struct AppSettings: Hashable, Sendable {
    package var timeRate: TimeRate = .realTime
    /// ISO 3166-1 alpha-3.
    package var storefront = "USA"
    package var locale = "en_US"
    /// Purchases wait for a decision.
    package var isAskToBuyEnabled = false
    /// Purchases are interrupted until resolved.
    package var areBillingIssuesEnabled = false
    /// Renewals fail into billing retry.
    package var areRenewalBillingIssuesEnabled = false
    /// A failed renewal keeps the customer entitled for a while.
    package var isGracePeriodEnabled = false
    /// 3, 16 or 28.
    package var gracePeriodDays: Int64 = 16
    /// Dialogs are on: a purchase of the app itself waits for the customer's decision. A setting overrides the catalogue
    /// file, whose `_disableDialogs: false` switches them on. Without a word they are off.
    package var asksBeforePurchases = false
    /// A trial whose first charge fails has a grace period too; otherwise only paid periods have one.
    package var hasGracePeriodForAllRenewals = true
    package var simulatedErrors = SimulatedErrors()
    /// How long a subscription stays subscribed after its period where its news may be late; nil: as usual for the
    /// environment. Not for test apps.
    package var leewayMilliseconds: Int64?
    package var claimPolicy = ClaimPolicy.transfer
    /// The App Store is told which transactions were finished. Not for test apps.
    package var finishesAtAppStore = false
    /// The App Store is told the token of the account that a purchase was claimed for or moved to. Not for test apps.
    package var setsTokensAtAppStore = false

    package init() {}
}

/// An app's clock. It never runs backwards.
package enum AppClock: Hashable, Sendable {
    /// The wall clock plus an offset in milliseconds.
    case running(offsetMilliseconds: Int64)
    /// Standing still.
    case frozen(at: Instant)

    package func now(wall: Instant) -> Instant {
        switch self {
        case .running(let offset): wall.advanced(byMilliseconds: offset)
        case .frozen(let instant): instant
        }
    }
}

/// An app's catalogue, settings and clock at one revision. Immutable, shared by all threads.
package final class AppState: Sendable {
    package let number: AppNumber
    package let bundleID: String
    package let environment: AppEnvironment
    /// The revision that made this state.
    package let revision: UInt64
    /// The instant of the app's clock from which this state is in force.
    package let effective: Instant
    /// When that revision was committed, by the wall clock.
    package let committed: Instant
    package let catalogue: Catalogue
    /// The revision that loaded the catalogue.
    package let catalogueRevision: UInt64
    /// Origin of the catalogue, as a text for operators.
    package let catalogueSource: String
    package let settings: AppSettings
    package let clock: AppClock
    /// Storefront and currency for accounts that have no storefront of their own. Looked up once, because every
    /// purchase needs it.
    package let storefront: Storefront
    private let currency: String

    package init(
        number: AppNumber, bundleID: String, environment: AppEnvironment, revision: UInt64, effective: Instant,
        committed: Instant, catalogue: Catalogue, catalogueRevision: UInt64, catalogueSource: String,
        settings: AppSettings, clock: AppClock
    ) {
        self.number = number
        self.bundleID = bundleID
        self.environment = environment
        self.revision = revision
        self.effective = effective
        self.committed = committed
        self.catalogue = catalogue
        self.catalogueRevision = catalogueRevision
        self.catalogueSource = catalogueSource
        self.settings = settings
        self.clock = clock
        self.storefront = Storefronts.storefront(settings.storefront)
        self.currency = Storefronts.currency(of: settings.storefront)
    }

    /// The currency of a storefront, most often its own.
    func currency(of storefront: Storefront) -> String {
        storefront.countryCode == self.storefront.countryCode
            ? self.currency : Storefronts.currency(of: storefront.countryCode)
    }

    /// Whether Perch itself is the store of this app.
    package var isTestApp: Bool { self.environment == .xcode }

    /// How long a renewing line may stay at its boundary without a recorded attempt; nil for no limit.
    ///
    /// In a test app the store's own driver attempts the renewal. Elsewhere the notification may be late; one day
    /// covers the delays seen with Apple's notifications. In Apple's sandbox a month lasts five minutes.
    package var renewalLeewayMilliseconds: Int64? {
        if self.isTestApp { return nil }
        return self.settings.leewayMilliseconds
            ?? (self.environment == .sandbox ? Limits.sandboxLeewayMilliseconds : Limits.leewayMilliseconds)
    }

    /// The subscription that renews most often at the app's time rate, and its period in milliseconds; nil if the
    /// catalogue has no subscription.
    ///
    /// Ignores the calendar, because the choice needs no more precision than months of 28 to 31 days allow.
    package func shortestRenewal(from start: Instant) -> (productID: String, milliseconds: Int64)? {
        var shortest: (productID: String, milliseconds: Int64)?
        for product in self.catalogue.products {
            guard let subscription = product.subscription else { continue }
            let plans = subscription.billingPlans.isEmpty ? [.unspecified] : subscription.billingPlans.map(\.type)
            for case let terms? in plans.map({ billingTerms(of: product, subscription, plan: $0) }) {
                let end = self.settings.timeRate.end(of: terms.period, from: start, anchorDay: CivilTime(start).day)
                let length = max(1, end.milliseconds(since: start))
                if length < shortest?.milliseconds ?? .max { shortest = (product.id, length) }
            }
        }
        return shortest
    }
}
