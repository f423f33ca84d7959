import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct GetEntitlements: RecordMethod {
    let asked: GetEntitlementsRequest

    func answer(_ read: AccountRead) -> TaskState<[NamedEntitlement]> {
        let viewed = namedEntitlements(of: read.record, app: read.app, at: read.now)
        let shown = read.info(
            .entitlements, read.context.codec.digest(of: viewed.value), forecast: viewed.forecast)
        return .success(viewed.value, shown)
    }
}
