import PerchModel
import PerchTesting

/// Kinds of events, and their default number in 300.
package enum ModelKind: CaseIterable, Sendable {
    case buy, advance, refund, reverseRefund, declineRefund, requestConsumption
    case autoRenew, renew, expire, resolveBilling, charges, payments, appTransaction
    case raisePrice, answerPrice, extend, share, stopSharing, decidePurchase, delete, clear
    case createIntent, endIntent, storefront, postMessage, sync, finish, configure, again

    var weight: Int {
        switch self {
        case .buy: 72
        case .advance: 54
        case .autoRenew: 18
        case .refund, .resolveBilling, .configure: 12
        case .reverseRefund, .renew, .charges, .raisePrice, .answerPrice, .share, .again: 9
        case .expire, .extend, .stopSharing, .decidePurchase, .delete, .finish: 6
        case .createIntent, .storefront, .sync, .payments: 4
        case .endIntent, .postMessage, .appTransaction: 2
        case .declineRefund, .requestConsumption, .clear: 1
        }
    }
}

/// The frequencies of events in a sequence, drawn for each sequence.
///
/// With equal frequencies, no sequence would have many rare events, and three rare events in a row would not occur in a
/// hundred sequences. One sequence in four has equal frequencies all the same.
package struct ModelMix: Hashable, Sendable {
    /// In the order of `ModelKind.allCases`.
    private let weights: [Int]
    /// Three purchases in four are of these products.
    let favourites: [String]
    /// Weights of the accounts.
    let accounts: [Int]

    init(_ random: inout SeededRandom) {
        let all = ModelShop.subscriptions + ModelShop.others
        guard random.below(4) > 0 else {
            self.weights = ModelKind.allCases.map(\.weight)
            self.favourites = ModelShop.subscriptions + all
            self.accounts = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3]
            return
        }
        self.weights = ModelKind.allCases.map { kind in
            let factor = random.element([0, 1, 1, 4])
            // Without purchases and time almost nothing happens.
            return kind.weight * ([.buy, .advance].contains(kind) ? max(factor, 1) : factor)
        }
        let count = 1 + random.below(4)
        self.favourites = (0..<count).map { _ in random.element(all) }
        self.accounts = random.element([[0, 0, 0, 0, 1, 1, 1, 2, 2, 3], [0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 2, 3]])
    }

    func kind(_ random: inout SeededRandom) -> ModelKind {
        var left = random.below(self.weights.reduce(0, +))
        for (kind, weight) in zip(ModelKind.allCases, self.weights) {
            if left < weight { return kind }
            left -= weight
        }
        return .advance
    }
}
