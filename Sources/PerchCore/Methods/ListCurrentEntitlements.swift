import PerchModel
import PerchWire

struct ListCurrentEntitlements: RecordMethod {
    let asked: ListCurrentEntitlementsRequest

    func answer(_ read: AccountRead) throws(Refusal) -> EntitlementList {
        try refuseIfSimulated(.currentEntitlement, app: read.app)
        var list = currentEntitlements(of: read.record, app: read.app, at: read.now)
        if read.isSigned { read.signing.sign(&list) }
        return EntitlementList(transactions: list, info: read.info())
    }
}
