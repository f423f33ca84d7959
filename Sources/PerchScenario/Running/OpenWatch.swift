import PerchBase
import PerchModel
import PerchWire

/// The value of a state stream.
enum StreamValue: Hashable, Sendable {
    case products(Products)
    case statuses(SubscriptionStatuses)
    case entitlement(Verified<Transaction>?)
    case intents([PurchaseIntent])
    case messages([StoreMessage])
}

/// The state of a stream at one time.
enum StreamState: Hashable, Sendable {
    case loading
    case failure(Failure)
    case success(StreamValue)
}

/// One watched stream of a scenario, with all messages since the last step.
final class OpenWatch {
    let key: WatchKey
    let stream: UInt32
    private(set) var state = StreamState.loading
    private(set) var info: ValueInfo?
    /// Values and failures since the last step, without `loading`.
    private(set) var pushes: [(state: StreamState, info: ValueInfo)] = []
    /// Events since the last step, without those that the account itself caused in the app.
    private(set) var events: [TransactionEvent] = []
    /// Promises of the contract that were broken since this was asked last.
    var breaches: [String] = []
    private var hasBegun = false

    init(_ key: WatchKey, stream: UInt32) {
        self.key = key
        self.stream = stream
    }

    var pushCount: Int { self.pushes.count + self.events.count }

    func beginStep() {
        self.pushes.removeAll()
        self.events.removeAll()
    }

    /// `actor` is the account of the step. All accounts share one client here, unlike real customers. So a purchase in
    /// the app of one account is foreign to another account with which it is shared.
    func take(_ response: Response, ownClient: [UInt8], actor: String?) {
        switch response {
        case .productsTask(let state): self.take(state) { .products($0) }
        case .subscriptionStatusTask(let state): self.take(state) { .statuses($0) }
        case .currentEntitlementTask(let state): self.take(state) { .entitlement($0) }
        case .purchaseIntents(let state): self.take(state) { .intents($0) }
        case .messages(let state): self.take(state) { .messages($0) }
        case .transactionUpdates(let event):
            guard event.transaction != nil else { return }
            if event.originClientID == ownClient, self.key.account == actor { return }
            self.events.append(event)
        default: self.breaches.append("a message of \(response.method.path) came on this stream")
        }
    }

    private func take<Value>(_ state: TaskState<Value>, _ wrap: (Value) -> StreamValue) {
        switch state {
        case .loading:
            if self.hasBegun { self.breaches.append("`loading` came after the first message") }
            self.state = .loading
        case .failure(let failure, let info): self.push(.failure(failure), info)
        case .success(let value, let info): self.push(.success(wrap(value)), info)
        case .unchanged: self.breaches.append("`unchanged` came, and no token was sent")
        }
        self.hasBegun = true
    }

    private func push(_ state: StreamState, _ info: ValueInfo) {
        if state == self.state { self.breaches.append("an equal value was pushed twice in a row") }
        if let last = self.info, info.position < last.position {
            self.breaches.append("the position fell from \(last.position) to \(info.position)")
        }
        self.state = state
        self.info = info
        self.pushes.append((state, info))
    }
}
