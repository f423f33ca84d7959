import PerchModel
import PerchWire

struct GetSubscriptionStatus: RecordMethod {
    let asked: SubscriptionStatusRequest

    func check() throws(CallRefusal) { try Check.status(self.asked) }

    func answer(_ read: AccountRead) -> TaskState<SubscriptionStatuses> {
        if let (failure, info) = read.failure(of: .subscriptionStatus) { return .failure(failure, info) }
        let group = self.asked.groupID
        let viewed =
            self.asked.allGroups
            ? statusesOfAllGroups(of: read.record, app: read.app, at: read.now)
            : subscriptionStatuses(of: read.record, inGroup: group, app: read.app, at: read.now)
        var shown = read.info(
            self.asked.viewKey, read.context.codec.digest(of: viewed.value), forecast: viewed.forecast)
        shown.isNotInCatalog =
            viewed.value.statuses.isEmpty && !self.asked.allGroups && read.app.catalogue.group(group) == nil
        var statuses = viewed.value
        if read.isSigned { read.signing.sign(&statuses, at: shown.position) }
        return .success(statuses, shown)
    }
}
