import PerchStore
import PerchWire

struct Sync: ChangeMethod {
    let asked: SyncRequest

    var auditNote: AuditNote { .notAudited }

    func mutation(_ context: MethodContext) -> Mutation {
        Mutation.sync(context.key(ofAccount: self.asked.account))
    }
}
