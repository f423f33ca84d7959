import PerchModel
import PerchStore
import PerchWire

struct ListAudit: MethodHandler {
    let asked: ListAuditRequest

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    func begin(_ context: MethodContext) -> Step {
        let after = AuditEntry.key(ofRevision: self.asked.afterRevision).key
        return .ask(.items(.audit, groups: [[]], after: after, limit: self.asked.pageSize.pageLimit))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .items(let items, let hasMore) = found else { preconditionFailure("items were asked for") }
        var page = AuditPage()
        page.entries = items.compactMap { item in
            AuditEntry(item).map { AuditLine($0, revision: AuditEntry.revision(of: item.key)) }
        }
        page.hasMore = hasMore
        return Self.step(page)
    }
}

extension AuditLine {
    fileprivate init(_ entry: AuditEntry, revision: UInt64) {
        self.init(
            revision: revision, at: entry.at, subject: entry.subject, address: entry.address, method: entry.method,
            what: entry.what, bundleID: entry.bundleID, environment: entry.environment, account: entry.accountKey)
    }
}
