import PerchModel
import PerchWire

struct SubscriptionStatusTask: WatchMethod {
    let asked: SubscriptionStatusRequest

    var view: ViewKey { self.asked.viewKey }

    func check() throws(CallRefusal) { try Check.status(self.asked) }
}

extension SubscriptionStatusRequest {
    var viewKey: ViewKey { .status(group: self.groupID, isSigned: self.includesJWS) }
}
