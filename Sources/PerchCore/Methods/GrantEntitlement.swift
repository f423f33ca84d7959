import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A grant is a fact of an account, in every environment.
struct GrantEntitlement: ChangeMethod {
    let asked: GrantEntitlementRequest

    var auditNote: AuditNote { .audited(printable(self.asked.name)) }

    func check() throws(CallRefusal) {
        try Check.entitlement(self.asked.name)
        try Check.atMost(Limits.entitlementNameBytesMax, self.asked.tier, "tier")
        try Check.atMost(Limits.accountKeyBytesMax, self.asked.reason, "reason")
    }

    func answer(
        _ result: MutationResult, at position: Position, _ context: MethodContext
    ) -> GrantEntitlementResponse {
        var known: [String] = []
        for rule in context.app.catalogue.entitlements where !known.contains(rule.name) { known.append(rule.name) }
        return GrantEntitlementResponse(
            position: position, knownNames: known.contains(self.asked.name) ? [] : known)
    }

    func mutation(_ context: MethodContext) -> Mutation {
        let key = context.key(ofAccount: self.asked.account)
        let asIs = EntitlementGrant(
            name: self.asked.name, until: self.asked.until, reason: self.asked.reason, since: context.now,
            tier: self.asked.tier)
        if !context.app.isTestApp { return .reported(.grant(asIs, to: key), app: context.app.number) }
        return Mutation(.account(key, opens: true), needsTestApp: false) { view throws(Refusal) in
            let record = view.accountRecord
            var grant = asIs
            grant.since = view.now
            if let refusal = grant.refusal(beside: record.grants, app: view.app, at: view.now) { throw refusal }
            let fact = Fact(.reported(.granted(grant)), effective: view.now, source: .grant, stamp: view.wall)
            return .commit([AccountFacts(account: record.account, facts: [fact])], answer: .none)
        }
    }
}
