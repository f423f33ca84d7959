import PerchBase
import PerchModel
import Testing

/// A transaction whose signature is not trusted entitles to nothing, and every view says so.
@Suite struct `what is not verified` {
    /// `invalidSignature`.
    private static let failure = VerificationFailure(rawValue: 4)

    private static func account() throws -> TestAccount {
        let rules = [
            EntitlementRule(name: "club", groupID: "G", tier: "member"),
            EntitlementRule(name: "album", productID: "lifetime"),
        ]
        var account = TestAccount(catalogue: Shop.catalogue().replacing(entitlements: rules))
        try account.buy("silver")
        try account.buy("lifetime")
        return account
    }

    private static func failing() throws -> TestAccount {
        var account = try Self.account()
        account.settings.simulatedErrors[.verification] = .invalidSignature
        return account
    }

    @Test func `its status stays, and does not count`() throws {
        let account = try Self.failing()
        let statuses = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now).value
        #expect(statuses.statuses.map(\.state) == [.subscribed])
        #expect(statuses.statuses.map(\.transaction.failure) == [Self.failure])
        #expect(statuses.effectiveIndex == nil)
        #expect(statuses.effectiveReason == .unspecified)
        #expect(statuses.effective == nil)
        let all = statusesOfAllGroups(of: account.record, app: account.app, at: account.now).value
        #expect(all.statuses.count == 1 && all.effectiveInGroups.isEmpty)
    }

    @Test func `one part that is not trusted is enough`() throws {
        let account = try Self.account()
        var status = try #require(
            subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now).value.effective)
        #expect(status.entitles)
        status.renewalInfo.failure = VerificationFailure(rawValue: 6)
        #expect(!status.entitles, "a grace period stands in the renewal information")
        status.renewalInfo.failure = .noFailure
        status.transaction.failure = VerificationFailure(rawValue: 1)
        #expect(!status.entitles)
    }

    @Test func `no name is active, and the reason says why`() throws {
        let account = try Self.failing()
        let named = namedEntitlements(of: account.record, app: account.app, at: account.now).value
        #expect(named.map(\.name) == ["album", "club"])
        #expect(named.map(\.isActive) == [false, false])
        #expect(named.map(\.reason) == ["unverified", "unverified"])
        #expect(named.map(\.until) == [nil, nil], "no end that a reader could compare with its clock")
        #expect(named.map(\.isLifetime) == [false, false])
        #expect(named.map(\.willRenew) == [false, false])
    }

    @Test func `a name that a grant gives stays active`() throws {
        var account = try Self.failing()
        account.record.grants = [EntitlementGrant(name: "club", until: nil, reason: "goodwill", since: account.now)]
        let named = namedEntitlements(of: account.record, app: account.app, at: account.now).value
        #expect(named.first { $0.name == "club" }?.isActive == true)
        #expect(named.first { $0.name == "club" }?.origin == .grant)
    }

    @Test func `the current entitlement is shown, and is none`() throws {
        let account = try Self.failing()
        for product in ["silver", "lifetime"] {
            let shown = currentEntitlement(of: account.record, toProduct: product, app: account.app, at: account.now)
                .value
            #expect(shown?.failure == Self.failure)
            #expect(shown?.verifiedValue == nil)
        }
        #expect(
            currentEntitlements(of: account.record, app: account.app, at: account.now).allSatisfy { !$0.isVerified })
    }

    @Test func `the explanation says so first, and keeps the rest`() throws {
        let account = try Self.failing()
        let status = explainStatus(
            of: account.record, inGroup: "G", rows: account.rows, app: account.app, at: account.now)
        #expect(!status.isEntitled)
        #expect(status.message.hasPrefix("Nothing entitles the account in group G."))
        #expect(status.explanations.map(\.rule) == ["UNVERIFIED"])
        #expect(status.explanations.map(\.isEntitled) == [false])
        #expect(status.explanations.first?.state == .subscribed)
        #expect(status.explanations.first?.facts.first?.field == "verification_error")
        #expect(status.explanations.first?.facts.first?.value == "invalidSignature")
        #expect(status.explanations.first?.message.contains("not verified (invalidSignature)") == true)
        #expect(status.explanations.first?.message.contains("lasts until") == true)
        for product in ["silver", "lifetime"] {
            let why = explainEntitlement(
                of: account.record, toProduct: product, rows: account.rows.filter { $0.productID == product },
                app: account.app, at: account.now)
            #expect(!why.isEntitled)
            #expect(why.message.hasPrefix("The account is not entitled to \(product)."))
            #expect(why.explanations.map(\.rule) == ["UNVERIFIED"])
        }
    }

    @Test func `disarmed, everything counts again`() throws {
        var account = try Self.failing()
        account.settings.simulatedErrors[.verification] = nil
        let named = namedEntitlements(of: account.record, app: account.app, at: account.now).value
        #expect(named.map(\.isActive) == [true, true])
        #expect(
            subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now).value
                .effectiveIndex
                == 0)
    }
}
