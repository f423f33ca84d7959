package import PerchBase
package import PerchModel
import PerchStore
import PerchTesting

/// One event of a sequence. It has its own seed and draws its details from the state at its turn, so a sequence without
/// some of its events is still valid.
package struct ModelEvent: Hashable, Sendable {
    package var seed: UInt64
    /// The frequencies of its sequence.
    package var mix: ModelMix

    package static func sequence(seed: UInt64, count: Int) -> [ModelEvent] {
        var random = SeededRandom(seed: seed)
        let mix = ModelMix(&random)
        return (0..<count).map { _ in ModelEvent(seed: random.next(), mix: mix) }
    }
}

/// The details of an event.
package enum ModelAction: Hashable, Sendable, CustomStringConvertible {
    case operate(account: Int, StoreOperation)
    case sync(account: Int)
    case finish(account: Int, TransactionID)
    case configure([AppSettingChange])
    case advance(to: Instant)
    /// Repeats the last operation under its key.
    case again

    package var description: String {
        switch self {
        case .operate(let account, let operation): "\(ModelWorld.accounts[account]): \(operation)"
        case .sync(let account): "\(ModelWorld.accounts[account]): sync"
        case .finish(let account, let id): "\(ModelWorld.accounts[account]): finish \(id)"
        case .configure(let changes): "configure \(changes)"
        case .advance(let instant): "advance to \(instant)"
        case .again: "again"
        }
    }
}

extension ModelEvent {
    package func action(in world: ModelWorld) -> ModelAction {
        var draw = ModelDraw(self, in: world)
        return draw.action()
    }
}
