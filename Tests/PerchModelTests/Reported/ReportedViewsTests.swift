import PerchBase
import PerchModel
import Testing

private let dayLength: Int64 = 86_400_000
private let present = Instant(milliseconds: 1_800_000_000_000)

private func onDay(_ days: Int64) -> Instant { present.advanced(byMilliseconds: days * dayLength) }

/// Every read of an app of the App Store, for customers in different situations, beside what Apple's library and documents say. What no
/// report says is unknown.
@Suite struct `A customer of the App Store` {
    private static let app: AppState = {
        let catalogue = OfferShop.catalogue().replacing(entitlements: [
            EntitlementRule(name: "plus", groupID: "G", level: 1, tier: "gold"),
            EntitlementRule(name: "plus", groupID: "G", level: 2, tier: "silver"),
        ])
        var settings = AppSettings()
        settings.leewayMilliseconds = dayLength
        return AppState(
            number: 1, bundleID: "com.example.app", environment: .production, revision: 1, effective: .distantPast,
            committed: present, catalogue: catalogue, catalogueRevision: 1, catalogueSource: "",
            settings: settings, clock: .running(offsetMilliseconds: 0))
    }()

    /// A subscription of thirty days; days count from now. Apple's number of the group is not the catalogue's name of it.
    private struct Line {
        var product = "silver"
        var from: Int64 = -10
        var to: Int64 = 20
        var offer: OfferType?
        var isShared = false
        var revoked: Int64?
        var renews: Bool? = true
        var nextProduct: String?
        var change: (inout RenewalInfo) -> Void = { _ in }

        func record() -> AccountRecord {
            var transaction = Transaction(
                id: 11, originalID: 11, appBundleID: "com.example.app", productID: self.product,
                productType: .autoRenewable, purchaseDate: onDay(self.from), originalPurchaseDate: onDay(self.from),
                environment: .production, storefront: Storefront(countryCode: "USA"), reason: .purchase,
                signedDate: onDay(self.from))
            transaction.subscriptionGroupID = "21475432"
            transaction.webOrderLineItemID = "1"
            transaction.expirationDate = onDay(self.to)
            transaction.appTransactionID = "7011"
            if self.isShared { transaction.ownership = .familyShared }
            if let offer {
                transaction.offer = TransactionOffer(id: "", type: offer, paymentMode: .freeTrial, period: nil)
            }
            if let revoked = self.revoked {
                transaction.revocation = Revocation(date: onDay(revoked), reason: .other, type: .refundFull)
            }
            var record = AccountRecord(account: 1, app: 1)
            var original = ReportedOriginal(id: 11)
            if let fact = original.fact(of: transaction, content: .zero) {
                record.apply(Fact(.reported(.transaction(fact)), effective: present))
            }
            if let renews {
                var info = RenewalInfo(
                    originalTransactionID: 11, currentProductID: self.product, willAutoRenew: renews,
                    renewalDate: onDay(self.to), recentSubscriptionStartDate: onDay(self.from),
                    environment: .production,
                    signedDate: onDay(self.from))
                info.autoRenewPreference = renews ? self.nextProduct ?? self.product : nil
                self.change(&info)
                record.apply(
                    Fact(.reported(.renewal(info, renewalDate: onDay(self.to), content: .zero)), effective: present))
                _ = original.fold(
                    info, renewalDate: onDay(self.to), stamp: ReportStamp(signed: present, content: .zero))
            }
            return record
        }
    }

    /// What is read of a customer, in a line.
    private static func cells(_ record: AccountRecord?) -> [String] {
        let statuses = subscriptionStatuses(of: record, inGroup: "G", app: Self.app, at: present).value
        let named = namedEntitlements(of: record, app: Self.app, at: present).value.first
        let offers = offerEligibility(of: record, inGroup: "G", product: "silver", app: Self.app, at: present)
        func eligibility(_ id: String) -> String {
            offers.offers.first { $0.offerID == id }.map { "\($0.eligibility)" } ?? "none"
        }
        let plans = planOptions(of: record, inGroup: "G", locale: "", app: Self.app, at: present)
        let relations = plans.filter { $0.relation != .unspecified }.map { "\($0.product.id) \($0.relation)" }
        let messages = storeMessages(of: record, app: Self.app, at: present).value.map { "\($0.reason) \($0.offerID)" }
        let number = (try? appTransaction(of: record, app: Self.app))?.value.id ?? "refused"
        #expect(offers.isEligibleForIntroductory == false, "the frozen bool is false while it is unknown")
        #expect(offers.offers.allSatisfy { $0.isEligible == ($0.eligibility == .eligible) })
        #expect(plans.allSatisfy { $0.offer == nil }, "no offer is named that might not apply")
        #expect(paymentsEligibility(record, app: Self.app) == .unknown)
        #expect(
            introductoryEligibility(of: record, inGroup: "G", app: Self.app, at: present) == offers.introductory)
        if let named, named.isActive { #expect(named.until.map { $0 > present } ?? true) }
        return [
            statuses.statuses.map { "\($0.state)" }.joined(separator: " "),
            currentEntitlement(of: record, toProduct: "silver", app: Self.app, at: present).value == nil ? "no" : "yes",
            named.map { $0.isActive ? $0.tier : "no" } ?? "none", "\(offers.introductory)", eligibility("half"),
            eligibility("again"), eligibility("STAY"), relations.joined(separator: ", "),
            plans.filter(\.isPreferred).map(\.product.id).joined(), messages.joined(separator: ", "), number,
        ]
    }

    private static func retrying(_ info: inout RenewalInfo) { info.isInBillingRetry = true }

    private static let customers: [(who: String, record: AccountRecord?, cells: [String])] = [
        (
            "nobody knows", nil,
            ["", "no", "no", "unknown", "unknown", "unknown", "unknown", "", "", "", ""]
        ),
        (
            "in a free trial", Line(offer: .introductory).record(),
            [
                "subscribed", "yes", "silver", "ineligible", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade",
                "silver", "", "7011",
            ]
        ),
        (
            "subscribed at the full price", Line().record(),
            [
                "subscribed", "yes", "silver", "unknown", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade",
                "silver", "", "7011",
            ]
        ),
        (
            "has switched renewal off", Line(renews: false).record(),
            [
                "subscribed", "yes", "silver", "unknown", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade", "",
                "", "7011",
            ]
        ),
        (
            "goes down at the renewal", Line(nextProduct: "bronze").record(),
            [
                "subscribed", "yes", "silver", "unknown", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade",
                "bronze", "", "7011",
            ]
        ),
        (
            "only shares it", Line(isShared: true).record(),
            ["subscribed", "yes", "silver", "unknown", "unknown", "unknown", "unknown", "", "", "", "7011"]
        ),
        (
            "is in a grace period",
            Line(from: -40, to: -10) {
                Self.retrying(&$0)
                $0.gracePeriodExpirationDate = onDay(5)
            }.record(),
            [
                "inGracePeriod", "yes", "silver", "unknown", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade",
                "silver", "billingIssue ", "7011",
            ]
        ),
        (
            "is in billing retry", Line(from: -40, to: -10, change: Self.retrying).record(),
            [
                "inBillingRetryPeriod", "no", "no", "unknown", "eligible", "ineligible", "unknown", "", "",
                "billingIssue ",
                "7011",
            ]
        ),
        (
            "was refunded", Line(revoked: -1).record(),
            ["revoked", "no", "no", "unknown", "eligible", "unknown", "unknown", "", "", "", "7011"]
        ),
        (
            "left, and may come back",
            Line(from: -40, to: -10, renews: false) { $0.eligibleWinBackOfferIDs = ["again"] }.record(),
            ["expired", "no", "no", "unknown", "eligible", "eligible", "unknown", "", "", "winBackOffer again", "7011"]
        ),
        (
            "was asked for a higher price", Line { $0.priceIncreaseStatus = .pending }.record(),
            [
                "subscribed", "yes", "silver", "unknown", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade",
                "silver", "priceIncreaseConsent ",
                "7011",
            ]
        ),
        (
            "should have renewed an hour ago", Line(from: -30, to: 0).record(),
            [
                "subscribed", "yes", "silver", "unknown", "eligible", "ineligible", "unknown",
                "gold upgrade, silver current, silver.twin crossgrade, silver.yearly crossgrade, bronze downgrade",
                "silver", "", "7011",
            ]
        ),
    ]

    private static let columns = [
        "status", "entitlement", "named", "introductory", "promotional", "win-back", "code", "G", "next plan",
        "messages", "app transaction",
    ]

    @Test(arguments: customers.indices) func `is told what is known, and nothing else`(_ index: Int) {
        let customer = Self.customers[index]
        for (column, (found, expected)) in zip(Self.columns, zip(Self.cells(customer.record), customer.cells)) {
            #expect(found == expected, "\(customer.who): \(column)")
        }
    }

    @Test func `has an end in the future while a renewal is awaited`() throws {
        let record = Line(from: -30, to: 0).record()
        let named = try #require(namedEntitlements(of: record, app: Self.app, at: present).value.first)
        #expect(named.isActive && named.until == onDay(1), "the end of the leeway")
        #expect(
            namedEntitlements(of: record, app: Self.app, at: onDay(1)).value.first?.isActive == false,
            "and then it is over")
    }

    @Test func `keeps the tier of a purchase beside a grant, whatever lasts longer`() throws {
        var record = Line().record()
        func shown() throws -> NamedEntitlement {
            try #require(namedEntitlements(of: record, app: Self.app, at: present).value.first)
        }
        func grant(_ tier: String, until: Instant?) {
            record.apply(
                Fact(
                    .reported(
                        .granted(
                            EntitlementGrant(name: "plus", until: until, reason: "", since: present, tier: tier))),
                    effective: present))
        }
        grant("", until: nil)
        #expect(try shown().tier == "silver" && shown().origin == .store)
        grant("gold", until: onDay(1))
        #expect(try shown().tier == "gold" && shown().origin == .grant)
        grant("silver", until: onDay(100))
        #expect(try shown().tier == "silver" && shown().until == onDay(100))
        record.apply(Fact(.reported(.grantEnded(name: "plus")), effective: present))
        #expect(try shown().origin == .store)
    }

    @Test func `may be granted only a tier that the file has`() {
        func refusal(_ name: String, _ tier: String) -> Refusal.Reason? {
            EntitlementGrant(name: name, until: nil, reason: "", since: present, tier: tier)
                .refusal(beside: [], app: Self.app, at: present)?.reason
        }
        #expect(refusal("plus", "gold") == nil && refusal("plus", "") == nil)
        #expect(refusal("plus", "platinum") == .fieldInvalid)
        #expect(refusal("press", "any") == nil, "a name that stands in no file has any tier")
    }
}
