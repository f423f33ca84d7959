import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct PurchaseIntents: WatchMethod {
    typealias Answer = TaskState<[PurchaseIntent]>

    let asked: AccountWatchRequest

    var view: ViewKey { .intents }
}
