import PerchBase
import PerchModel
import Testing

/// Compares the forecast of a period's end with the actual result.
@Suite struct `the forecast of a renewal` {
    struct Life: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var settings = AppSettings()
        var state: RenewalState
        var live: @Sendable (inout TestAccount) throws -> Void

        init(
            _ name: String, _ settings: AppSettings = AppSettings(), is state: RenewalState,
            _ live: @escaping @Sendable (inout TestAccount) throws -> Void = { _ in }
        ) {
            self.testDescription = name
            self.settings = settings
            self.state = state
            self.live = live
        }
    }

    @Test(arguments: [
        Life("as nothing was said", is: .subscribed),
        Life("renewal off", is: .expired) { try $0.setAutoRenew(false) },
        Life("charges of all fail", Shop.settings(billingIssues: true), is: .inBillingRetryPeriod),
        Life("charges of all fail, with grace", Shop.settings(billingIssues: true, grace: true), is: .inGracePeriod),
        Life("charges of all but this one fail", Shop.settings(billingIssues: true), is: .subscribed) {
            _ = try $0.operate(.setCharges(fail: false))
        },
        Life("charges of this one fail", is: .inBillingRetryPeriod) { _ = try $0.operate(.setCharges(fail: true)) },
        Life("charges of this one fail, with grace", Shop.settings(grace: true), is: .inGracePeriod) {
            _ = try $0.operate(.setCharges(fail: true))
        },
        Life("a price that is not agreed", Shop.settings(billingIssues: true), is: .expired) {
            let id = try $0.line().latest.id
            _ = try $0.operate(.raisePrice(.transaction(id), milliunits: 19_990, needsConsent: true))
        },
        Life("a price that is left behind", is: .subscribed) {
            let id = try $0.line().latest.id
            _ = try $0.operate(.raisePrice(.transaction(id), milliunits: 19_990, needsConsent: true))
            try $0.buy("bronze")
        },
        Life("a plan that was withdrawn", Shop.settings(billingIssues: true, grace: true), is: .expired) {
            try $0.withdraw("silver")
        },
        Life("the next plan was withdrawn", is: .expired) {
            try $0.buy("bronze")
            try $0.withdraw("bronze")
        },
    ])
    func `a forecast renewal happens as forecast`(_ life: Life) throws {
        var account = TestAccount(at: at("2026-01-10"), settings: life.settings)
        try account.buy("silver")
        try life.live(&account)
        let boundary = try account.line().boundary
        let status = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now)
        let held = currentEntitlement(of: account.record, toProduct: "silver", app: account.app, at: account.now)
        let explained = explainStatus(of: account.record, inGroup: "G", rows: [], app: account.app, at: account.now)
        #expect(status.forecast?.at == boundary && status.forecast?.state == life.state)
        #expect(status.forecast?.kind == (life.state == .expired ? .expiry : .renewal))
        #expect(held.forecast == status.forecast)
        #expect(explained.explanations.first?.nextChange == status.forecast)
        // A read as of the boundary sees it before the store has attempted the renewal.
        let ahead = foreseen(account.record, app: account.app, at: boundary)
        let read = subscriptionStatuses(of: ahead, inGroup: "G", app: account.app, at: boundary).value
        #expect(read.statuses.first?.state == life.state)
        try account.advanceToBoundary()
        #expect(account.state() == life.state)
        if life.state != .subscribed { #expect(read == account.statuses()) }
    }
}
