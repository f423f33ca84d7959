import PerchBase
import PerchModel
import Testing

@Suite struct `plan options` {
    private static func options(_ account: TestAccount) -> [PlanOption] {
        planOptions(of: account.record, inGroup: "G", locale: "", app: account.app, at: account.now)
    }

    @Test func `an account without a plan has every option, by level, with its offer`() {
        let account = TestAccount(catalogue: OfferShop.catalogue())
        let options = Self.options(account)
        #expect(options.map(\.product.id) == ["gold", "silver", "silver.twin", "silver.yearly", "bronze"])
        #expect(options.allSatisfy { $0.relation == .unspecified && !$0.isPreferred && !$0.takesEffectAtRenewal })
        #expect(options.map { $0.offer?.type } == [nil, .introductory, .introductory, nil, nil])
    }

    @Test func `each option has its relation to the current plan, and its instant of effect`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver") { $0.introductoryEligibility = .denied }
        let options = Self.options(account)
        #expect(options.map(\.relation) == [.upgrade, .current, .crossgrade, .crossgrade, .downgrade])
        #expect(options.map(\.takesEffectAtRenewal) == [false, false, false, true, true])
        #expect(options.map(\.isPreferred) == [false, true, false, false, false])
        #expect(options.map { $0.offer?.type } == [nil, nil, .introductory, nil, nil])
        try account.order("bronze")
        #expect(Self.options(account).map(\.isPreferred) == [false, false, false, false, true])
        try account.setAutoRenew(false)
        #expect(Self.options(account).allSatisfy { !$0.isPreferred })
    }

    /// Statuses and plan options name the same next plan, in each state of a line.
    @Test(arguments: [true, false])
    func `the preferred plan is the status's preference, also while a charge fails`(_ hasGrace: Bool) throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true, grace: hasGrace))
        try account.buy("silver")
        func check(_ preference: String?, _ price: Int64?) throws {
            let info = try account.renewalInfo()
            #expect(info.autoRenewPreference == preference && info.renewalPrice == price.map { usd($0) })
            #expect(Self.options(account).filter(\.isPreferred).map(\.product.id) == (preference.map { [$0] } ?? []))
        }
        try check("silver", 9_990)
        try account.advanceToBoundary()
        #expect(account.state() == (hasGrace ? .inGracePeriod : .inBillingRetryPeriod))
        try check("silver", 9_990)
        if hasGrace {
            try account.buy("bronze")
            #expect(account.state() == .inGracePeriod, "a downgrade waits for the charge")
            try check("bronze", 4_990)
        }
        try account.setAutoRenew(false)
        try check(nil, nil)
    }

    @Test func `within a commitment the plan of the next period is the one that is committed to`() throws {
        var account = TestAccount(at: at("2026-01-31"), catalogue: Shop.billedMonthly())
        try account.buyMonthly()
        try account.buy("bronze")
        #expect(try account.renewalInfo().autoRenewPreference == "silver.yearly")
        #expect(Self.options(account).filter(\.isPreferred).map(\.product.id) == ["silver.yearly"])
    }

    @Test func `a withdrawn product is no option, and prices are those of the account's storefront`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.ask(.setStorefront("DEU"))
        account.catalogue = OfferShop.changed(account.catalogue) { if $0.id == "gold" { $0.isWithdrawn = true } }
        #expect(Self.options(account).map(\.product.id) == ["silver", "silver.twin", "silver.yearly", "bronze"])
        #expect(Self.options(account).allSatisfy { $0.product.price.currency == "EUR" })
        #expect(planOptions(of: nil, inGroup: "nowhere", locale: "", app: account.app, at: account.now).isEmpty)
    }
}

@Suite struct `the reads of eligibility` {
    private static func reported(_ account: TestAccount, _ product: String = "silver") -> [String: String] {
        let eligibility = offerEligibility(
            of: account.record, inGroup: "G", product: product, app: account.app, at: account.now)
        return Dictionary(uniqueKeysWithValues: eligibility.offers.map { ("\($0.type) \($0.offerID)", $0.reason) })
    }

    @Test func `the reported eligibility is the one that purchases use`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        #expect(
            Self.reported(account) == [
                "introductory ": "ELIGIBLE", "promotional half": "NEVER_SUBSCRIBED", "code WELCOME": "ELIGIBLE",
                "code STAY": "OTHER_CATEGORY", "code BACK": "OTHER_CATEGORY", "code STACK": "ELIGIBLE",
                "winBack return": "NEVER_SUBSCRIBED", "winBack again": "NEVER_SUBSCRIBED",
            ])
        try account.order("silver")
        #expect(
            Self.reported(account) == [
                "introductory ": "INTRODUCTORY_USED", "promotional half": "ELIGIBLE", "code WELCOME": "OTHER_CATEGORY",
                "code STAY": "ELIGIBLE", "code BACK": "OTHER_CATEGORY", "code STACK": "ELIGIBLE",
                "winBack return": "SUBSCRIBED", "winBack again": "SUBSCRIBED",
            ])
        #expect(Self.reported(account, "bronze") == ["code STAY": "DOWNGRADE"])
        try account.expire()
        #expect(Self.reported(account)["winBack return"] == "PAID_TOO_SHORT")
        #expect(Self.reported(account)["winBack again"] == "ELIGIBLE")
        #expect(Self.reported(account)["code BACK"] == "ELIGIBLE")
    }

    @Test func `a group's offers are complete, win-back offers last, and unknown products have none`() throws {
        let account = TestAccount(catalogue: OfferShop.catalogue())
        let group = offerEligibility(of: nil, inGroup: "G", product: "", app: account.app, at: account.now)
        #expect(group.isEligibleForIntroductory)
        #expect(group.offers.suffix(2).map(\.offerID) == ["again", "return"])
        #expect(Set(group.offers.map(\.productID)) == ["silver", "silver.twin", "silver.yearly", "gold", "bronze"])
        #expect(offerEligibility(of: nil, inGroup: "x", product: "", app: account.app, at: account.now).offers.isEmpty)
        #expect(
            offerEligibility(of: nil, inGroup: "", product: "coins", app: account.app, at: account.now).offers.isEmpty)
    }

    @Test func `each word has a meaning for people`() {
        #expect(Set(OfferRuling.allCases.map(\.rawValue)).count == OfferRuling.allCases.count)
    }
}

@Suite struct `policies` {
    private static let app = Shop.app(
        catalogue: Catalogue(
            products: [], groups: [], schemaVersion: "4.0",
            policies: AppPolicies(
                licenceAgreement: "Be nice.",
                privacyPolicies: [
                    AppPolicies.PrivacyPolicy(locale: "fr", text: "Rien.", url: ""),
                    AppPolicies.PrivacyPolicy(locale: "en_US", text: "Nothing.", url: "https://example.com/en"),
                ])))

    @Test(arguments: [("fr_CA", "fr"), ("en-US", "en_US"), ("de_DE", "en_US"), ("", "en_US"), ("fr", "fr")])
    func `the privacy policy is found as texts of products are`(_ locale: String, _ found: String) {
        let shown = appPolicies(locale: locale, app: Self.app)
        #expect(shown.licenceAgreement == "Be nice.")
        #expect(shown.privacyPolicyLocale == found)
        #expect(shown.privacyPolicyText == (found == "fr" ? "Rien." : "Nothing."))
    }

    @Test func `an app without any has none`() {
        #expect(appPolicies(locale: "de", app: Shop.app()) == ShownPolicies(licenceAgreement: ""))
    }
}
