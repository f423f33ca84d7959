import PerchBase
import PerchModel

/// Laws about one event, for what the reference does not predict: that something changes nothing, and what no view and no row
/// shows.
struct ModelLaws {
    let before: ModelSnapshot
    let after: ModelSnapshot

    func breach(of action: ModelAction, answer: ModelWorld.Answer) -> String? {
        let hasChanged = self.after.revision != self.before.revision
        switch answer {
        case .refused(let refusal):
            if hasChanged { return "refused (\(refusal.reason)), and something changed" }
            return refusal.message.isEmpty ? "refused without a word" : nil
        case .stuck: return "the store did not come to rest"
        case .differs(let first, let again): return "asked again, it answered \(again), not \(first)"
        case .done: break
        }
        switch action {
        case .again: return hasChanged ? "asking again changed something" : nil
        case .configure: return self.after.records == self.before.records ? nil : "a setting changed a record"
        case .operate(let account, let operation): return self.breach(of: operation, account, hasChanged)
        case .finish, .sync, .advance: return nil
        }
    }

    private func breach(of operation: StoreOperation, _ account: Int, _ hasChanged: Bool) -> String? {
        let record = self.after.records[account]
        switch operation {
        case .declineRefund, .requestConsumption: return hasChanged ? nil : "no reader of changes is told"
        case .createIntent(let product, let offer):
            guard let last = record?.intents.last, last.productID == product, last.offer == offer else {
                return "no intent to buy \(product) with \(String(describing: offer)) came"
            }
            return nil
        case .postMessage:
            let posted = record?.messagePosted
            return posted == self.after.now ? nil : "a message was posted at \(String(describing: posted))"
        default: return nil
        }
    }
}
