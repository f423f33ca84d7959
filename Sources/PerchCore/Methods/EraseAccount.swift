import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct EraseAccount: ChangeMethod {
    let asked: EraseAccountRequest

    var auditNote: AuditNote { .audited("") }

    func mutation(_ context: MethodContext) -> Mutation {
        .reported(.erase(context.key(ofAccount: self.asked.account)), app: context.app.number)
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> EraseAccountResponse {
        guard case .number(let count) = result else { preconditionFailure("an erasure counts its facts") }
        return EraseAccountResponse(position: position, factCount: count)
    }
}
