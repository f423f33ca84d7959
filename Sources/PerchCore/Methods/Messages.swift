import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct Messages: WatchMethod {
    typealias Answer = TaskState<[StoreMessage]>

    let asked: AccountWatchRequest

    var view: ViewKey { .messages }
}
