package import PerchBase

/// Number of an app within a store.
package typealias AppNumber = UInt32
/// Number of an account within a store; the callers' keys are aliases of it.
package typealias AccountNumber = UInt64

/// Settings of an app, as its catalogue file begins them and the test store changes them.
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
    /// Dialogs are on: a purchase waits for the customer's decision. A setting overrides the catalogue file, whose
    /// `_disableDialogs` overrides Xcode's default, which is on.
    package var asksBeforePurchases = false
    /// A trial's end that fails to be charged has a grace period too; otherwise only paid periods have one.
    package var hasGracePeriodForAllRenewals = true
    package var simulatedErrors = SimulatedErrors()

    package init() {}
}

/// An app's clock. It never runs backwards.
package enum AppClock: Hashable, Sendable {
    /// The wall clock and so many milliseconds.
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
    /// The instant of the app's clock from which it is in force.
    package let effective: Instant
    /// When that revision was committed, by the wall clock.
    package let committed: Instant
    package let catalogue: Catalogue
    /// The revision that loaded the catalogue.
    package let catalogueRevision: UInt64
    /// Where the catalogue came from, for people.
    package let catalogueSource: String
    package let settings: AppSettings
    package let clock: AppClock
    /// Where it sells to an account that has no storefront of its own, and in which currency. Looked up once: every
    /// purchase asks.
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

    /// How long a line that renews may stay at its boundary without a recorded attempt; nil for "without end".
    ///
    /// In a test app the store's own driver will come. Elsewhere the news may be late; a day covers what Apple's
    /// notifications were seen to need.
    package var renewalLeewayMilliseconds: Int64? { self.isTestApp ? nil : 86_400_000 }

    /// The subscription that renews most often at the app's time rate, and after how long; nil where none can be held.
    ///
    /// Instants of the calendar are of no matter here: months of 28 days and of 31 are nearly as many in a century.
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
