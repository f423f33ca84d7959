import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct RevokeGrant: ChangeMethod {
    let asked: RevokeGrantRequest

    var auditNote: AuditNote { .audited(printable(self.asked.name)) }

    func check() throws(CallRefusal) { try Check.entitlement(self.asked.name) }

    func mutation(_ context: MethodContext) -> Mutation {
        let name = self.asked.name
        return Mutation(.account(context.key(ofAccount: self.asked.account), opens: false), needsTestApp: false) {
            view throws(Refusal) in
            let record = view.accountRecord
            guard record.grants.contains(where: { $0.name == name }) else { return .unchanged(answer: .none) }
            let fact = Fact(.reported(.grantEnded(name: name)), effective: view.now, source: .grant, stamp: view.wall)
            return .commit([AccountFacts(account: record.account, facts: [fact])], answer: .none)
        }
    }
}
