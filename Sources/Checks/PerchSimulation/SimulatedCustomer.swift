import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import PerchWire

/// A simulated client program. It watches, buys, disconnects in every possible way, and resumes with its tokens.
final class SimulatedCustomer {
    let clientID: [UInt8]
    private(set) var client: WireClient?
    private(set) var watches: [SeenWatch] = []
    private var pending: [UInt32: Pending] = [:]
    private var unansweredPurchases: [(account: String, product: String, key: [UInt8])] = []
    private var lastBeat: UInt64 = 0
    private var heartbeats = 0
    /// The highest position in an answer to a mutation.
    private var acknowledged: Position?
    /// Transactions in answers to purchases, by idempotency key.
    private(set) var bought: [[UInt8]: TransactionID] = [:]
    private var known: [TransactionID] = []
    /// Shareable transactions and their owners.
    private var owned: [(account: String, product: String)] = []
    /// The token of the last HELLO; nil for none.
    var token: SimulatedToken?
    var isTokenOver = false
    /// Whether that token had ended when the connection was made.
    var cameWithEnded = false
    /// The tokens of open calls, by stream.
    var callers: [UInt32: SimulatedCaller] = [:]
    unowned let simulation: Simulation

    enum Pending {
        case read(WatchSubject, atLeast: Position?)
        case list(account: String, atLeast: Position?, expected: [TransactionID])
        case purchase(account: String, product: String, key: [UInt8])
        case revocation(SimulatedToken)
        case clock
        case change
    }

    static let accounts = ["anna", "berta", "carl"]
    /// Shareable products, in most lives.
    static let shared: Set = ["gold", "silver", "weekly", "lifetime"]

    init(_ number: Int, _ simulation: Simulation) {
        self.clientID = [UInt8(number)]
        self.simulation = simulation
    }

    var world: World { self.simulation.world }
    var random: SeededRandom {
        get { self.simulation.random }
        set { self.simulation.random = newValue }
    }

    var isConnected: Bool { self.client?.isOpen ?? false }

    // MARK: Connections

    func connect() {
        let client = self.world.connect(loop: self.random.below(self.world.loops.count))
        self.client = client
        self.lastBeat = 0
        client.onEvent = { [unowned self] in self.heard($0) }
        client.hello(
            clientID: self.clientID, heartbeatSeconds: UInt32(self.random.below(40)),
            accepts: self.random.bool() ? [.zlib] : [], authorization: self.showToken())
        if self.random.below(4) != 0 {
            for watch in self.watches where self.random.below(4) != 0 { self.open(watch) }
        }
    }

    private func lost() {
        // Most clients close an ended connection; the server drops the others.
        if self.random.below(5) != 0 { self.client?.socket.clientEnds() }
        for watch in self.watches { watch.closed() }
        for case .purchase(let account, let product, let key) in self.pending.keys.sorted().map({ self.pending[$0] }) {
            self.unansweredPurchases.append((account, product, key))
        }
        self.pending.removeAll()
        self.callers.removeAll()
    }

    /// Disconnects in one of several ways.
    func leave() {
        guard let client = self.client else { return }
        if self.random.bool() {
            client.socket.reset()
            client.end()
        } else {
            client.socket.clientEnds()
        }
    }

    // MARK: Acting

    func act() {
        guard let client = self.client, client.isOpen else {
            self.connect()
            return
        }
        switch self.random.below(100) {
        case ..<22: self.openSomething()
        case ..<28: self.cancelSomething()
        case ..<40: self.buy()
        case ..<50: self.share()
        case ..<58: self.change()
        case ..<66: self.moveTime()
        case ..<70: self.loadCatalogue()
        case ..<84: self.read()
        case ..<87: client.ping(Array(repeating: UInt8(self.random.below(256)), count: 8))
        case ..<93: client.socket.isStalled.toggle()
        case ..<95: client.socket.capacity = self.random.element([1, 64, 700, 4_096, 128 * 1024])
        case ..<96: self.leave()
        case ..<98: self.revokeSomething()
        case ..<99:
            // Sends a complete invalid header. Fewer bytes would be the beginning of the next frame, and the server
            // would rightly wait for the rest.
            let garbage = UInt8(self.random.below(256))
            client.sendBytes([UInt8](repeating: garbage, count: 9 + self.random.below(30)))
        default: client.sendFrame(.cancel, stream: UInt32(1 + self.random.below(50)), [])
        }
    }

    private func openSomething() {
        let closed = self.watches.filter { $0.stream == nil }
        if !closed.isEmpty, self.random.bool() {
            self.open(self.random.element(closed))
            return
        }
        guard self.watches.count < 8 else { return }
        let account = self.someAccount()
        let subject: WatchSubject =
            switch self.random.below(9) {
            case 7: .intents(account: account)
            case 8: .messages(account: account)
            case 0, 1: .status(account: account, group: self.random.element(TestShop.groups))
            case 2, 3: .entitlement(account: account, product: self.random.element(TestShop.all))
            case 4: .products(ids: self.randomProducts(), locale: self.random.bool() ? "" : "de")
            default: .updates(account: account)
            }
        let watch = SeenWatch(subject)
        self.watches.append(watch)
        self.open(watch)
    }

    private func randomProducts() -> [String] {
        let ids = TestShop.all.filter { _ in self.random.bool() }
        return ids.isEmpty ? ["nothing"] : ids
    }

    private func open(_ watch: SeenWatch) {
        guard let client = self.client, watch.stream == nil else { return }
        let withToken = !watch.token.isEmpty && self.random.below(5) != 0
        let atLeast = self.random.below(4) == 0 ? self.acknowledged : nil
        let stream = self.ask(
            client, watch.subject.request(token: withToken ? watch.token : [], atLeast: atLeast),
            timeoutMilliseconds: self.random.below(12) == 0 ? 1 + UInt64(self.random.below(20_000)) : 0)
        watch.opened(on: stream, withToken: withToken, atLeast: atLeast)
    }

    private func cancelSomething() {
        let open = self.watches.filter { $0.stream != nil }
        guard !open.isEmpty, let stream = self.random.element(open).stream else { return }
        self.client?.cancel(stream)
    }

    private func buy() {
        if !self.unansweredPurchases.isEmpty, self.random.bool() {
            let again = self.unansweredPurchases.removeFirst()
            self.send(
                .purchase(
                    PurchaseRequest(
                        account: again.account, order: PurchaseOrder(productID: again.product),
                        idempotencyKey: again.key)),
                .purchase(account: again.account, product: again.product, key: again.key))
            return
        }
        let account = self.someAccount()
        let product = self.random.element(TestShop.all)
        let key = self.clientID + self.simulation.nextKey()
        self.send(
            .purchase(PurchaseRequest(account: account, order: PurchaseOrder(productID: product), idempotencyKey: key)),
            .purchase(account: account, product: product, key: key))
    }

    /// Shares a transaction with another member of the family, or stops sharing it. Later changes then affect both
    /// accounts.
    private func share() {
        guard let (owner, product) = self.owned.isEmpty ? nil : self.random.element(self.owned) else {
            self.buy()
            return
        }
        let member = self.random.element(Self.accounts.filter { $0 != owner })
        let operation: StoreOperation =
            self.random.below(4) == 0
            ? .stopSharing(self.random.bool() ? .product(product) : nil, member: self.random.bool() ? member : nil)
            : .share(.product(product), member: member)
        self.send(.operate(OperateRequest(account: owner, operation: operation)), .change)
    }

    private func change() {
        let account = self.someAccount()
        let id = self.known.isEmpty ? 1 : self.random.element(self.known)
        let plan = self.random.element(["gold", "silver", "weekly"])
        let request: Request =
            switch self.random.below(10) {
            case 6:
                .operate(OperateRequest(account: account, operation: .createIntent(productID: plan, offer: nil)))
            case 7: .operate(OperateRequest(account: account, operation: .postMessage))
            case 8: .operate(OperateRequest(account: account, operation: .setCharges(fail: self.random.bool())))
            case 9: .operate(OperateRequest(account: account, operation: .resolveBilling(.product(plan))))
            case 0: .operate(OperateRequest(operation: .refund(.transaction(id), reason: .other, share: .full)))
            case 1, 2:
                .operate(OperateRequest(operation: .setAutoRenew(.transaction(id), isOn: self.random.bool())))
            case 3: .operate(OperateRequest(account: account, operation: .renew(.product(plan))))
            case 4: .operate(OperateRequest(account: account, operation: .expire(.product(plan))))
            default: .finish(FinishRequest(account: account, transactionID: id))
            }
        self.send(request, .change)
    }

    private func moveTime() {
        let change: ClockChange =
            switch self.random.below(10) {
            case 0, 1: .freeze
            case 2: .resume
            case 3...5: .advanceBy(milliseconds: Int64(self.random.below(Int(TestShop.month))))
            case 6: .advanceBy(milliseconds: Int64(self.random.below(Int(TestShop.month) * 8)))
            default: .advanceToBoundary(account: self.random.element(Self.accounts))
            }
        if self.random.below(8) == 0 {
            let rates = ["monthlyRenewalEveryFiveMinutes", "oneRenewalEveryTenSeconds", "oneRenewalEveryMinute"]
            let rate = TimeRate(named: self.random.element(rates))?.rawValue ?? 0
            self.send(.configure(ConfigureRequest(settings: [.timeRate(rate)])), .change)
        } else {
            self.send(.setClock(SetClockRequest(change: change)), .change)
        }
    }

    private func loadCatalogue() {
        let files = self.world.catalogueFiles.keys.sorted { $0.lexicographicallyPrecedes($1) }
        self.send(.loadCatalog(LoadCatalogRequest(file: self.random.element(files), source: "simulated")), .change)
    }

    private func read() {
        let account = self.someAccount()
        let atLeast = self.random.bool() ? self.acknowledged : nil
        switch self.random.below(6) {
        case 5: self.send(.getClock(ClockRequest()), .clock)
        case 0:
            let product = self.random.element(TestShop.all)
            self.send(
                .getCurrentEntitlement(
                    CurrentEntitlementRequest(account: account, productID: product, atLeast: atLeast)),
                .read(.entitlement(account: account, product: product), atLeast: atLeast))
        case 1:
            let ids = self.randomProducts()
            self.send(
                .getProducts(ProductsRequest(productIDs: ids, atLeast: atLeast)),
                .read(.products(ids: ids, locale: ""), atLeast: atLeast))
        case 2:
            let mine = self.world.history.events(of: self.world.history.key(account))
                .filter { $0.kind == .purchased && $0.place.revision <= atLeast?.revision ?? 0 }
            let request = ListTransactionsRequest(
                account: account, includesFinishedConsumables: true, pageSize: 500, atLeast: atLeast)
            self.send(
                .listTransactions(request),
                .list(account: account, atLeast: atLeast, expected: mine.map(\.transaction.id)))
        default:
            let group = self.random.element(TestShop.groups)
            self.send(
                .getSubscriptionStatus(SubscriptionStatusRequest(account: account, groupID: group, atLeast: atLeast)),
                .read(.status(account: account, group: group), atLeast: atLeast))
        }
    }

    func send(_ request: Request, _ expected: Pending) {
        guard let client = self.client else { return }
        let timeout = self.random.below(15) == 0 ? UInt64(1 + self.random.below(3_000)) : 0
        self.pending[self.ask(client, request, timeoutMilliseconds: timeout)] = expected
    }

    // MARK: Hearing

    private func heard(_ event: WireClient.Event) {
        switch event {
        case .message(let stream, let response): self.heard(response, on: stream)
        case .status(let stream, let status):
            if let watch = self.watches.first(where: { $0.stream == stream }) {
                if status.reason == "CURSOR_TOO_OLD" { watch.token = [] }
                watch.closed()
            }
            let asked = self.pending.removeValue(forKey: stream)
            if case .purchase(let account, let product, let key)? = asked,
                status.reason == "DEADLINE" || status.reason == "STORE_FULL"
            {
                self.unansweredPurchases.append((account, product, key))
            }
            self.heardEnd(status, of: self.callers.removeValue(forKey: stream))
            var expected: Set = [
                "", "CANCELLED", "DEADLINE", "BEHIND", "STORE_FULL", "ACCOUNT_UNKNOWN", "TRANSACTION_UNKNOWN",
                "NOT_SUBSCRIBED", "NOT_A_SUBSCRIPTION", "PRODUCT_UNKNOWN", "REFUND_NOT_POSSIBLE",
                "PURCHASE_PRODUCT_UNAVAILABLE", "PURCHASE_NOT_ALLOWED", "TOKEN_OTHER_VIEW", "NOT_IN_RETRY",
                "INTENT_LIMIT",
                "NOT_SHAREABLE", "NOT_SHARED",
            ]
            if self.simulation.tokens != nil { expected.formUnion(Self.refusalsOfCallers) }
            // A store with a failed disk reports that until its process ends.
            let isFailed = status.reason == "STORE_FAILED" && self.simulation.hasDiskFailed
            if isFailed, case .purchase(let account, let product, let key)? = asked {
                self.unansweredPurchases.append((account, product, key))
            }
            if !expected.contains(status.reason), !isFailed {
                self.simulation.promises.breach("answers", "a call was refused: \(status.reason): \(status.message)")
            }
        case .beat(let beat):
            self.simulation.promises.heard(beat, after: self.lastBeat, self.watches, self.world)
            self.lastBeat = beat.revision
        case .ended:
            self.lost()
        case .welcome:
            if self.cameWithEnded {
                self.simulation.promises.breach("permission", "a token was taken after \(self.token?.expires as Any)")
            }
        case .drain(let drain):
            if drain.reason.hasPrefix("CREDENTIALS_") {
                self.isTokenOver = true
                self.checkEnd(drain.reason, self.token)
            }
        case .ping, .pong:
            break
        }
    }

    private func heard(_ response: Response, on stream: UInt32) {
        let watch = self.watches.first { $0.stream == stream }
        if let caller = self.callers[stream] {
            let info = watch == nil ? nil : response.streamedInfo
            self.checkMay(caller, committed: info?.committed, revision: info?.revision)
        }
        if let watch {
            switch response {
            case .productsTask(let state):
                self.simulation.promises.heard(state, SeenValue.products, on: watch, self.world)
            case .subscriptionStatusTask(let state):
                self.simulation.promises.heard(state, SeenValue.statuses, on: watch, self.world)
            case .currentEntitlementTask(let state):
                self.simulation.promises.heard(state, SeenValue.entitlement, on: watch, self.world)
            case .purchaseIntents(let state):
                self.simulation.promises.heard(state, SeenValue.intents, on: watch, self.world)
            case .messages(let state):
                self.simulation.promises.heard(state, SeenValue.messages, on: watch, self.world)
            case .transactionUpdates(let event): self.simulation.promises.heard(event, on: watch, self.world)
            default: self.simulation.promises.breach("answers", "\(response) came on a watch")
            }
            return
        }
        guard let expected = self.pending[stream] else {
            self.simulation.promises.breach("answers", "an answer came on stream \(stream), which asked nothing")
            return
        }
        self.heard(response, for: expected)
    }

    private func heard(_ response: Response, for expected: Pending) {
        switch (response, expected) {
        case (.purchase(let purchase), .purchase(let account, let product, let key)):
            self.acknowledge(purchase.position)
            guard let id = purchase.transaction?.value.id else { return }
            if let before = self.bought[key], before != id, !purchase.wasHeld {
                self.simulation.promises.breach("durable", "key \(key) bought \(before), and then \(id)")
            }
            self.bought[key] = id
            if Self.shared.contains(product) { self.owned.append((account, product)) }
            self.known.append(id)
        case (.getSubscriptionStatus(let state), .read(let subject, let atLeast)):
            self.check(state.value.map { .statuses($0) }, state.info, subject, atLeast)
        case (.getCurrentEntitlement(.success(let value, let info)), .read(let subject, let atLeast)):
            self.check(.entitlement(value), info, subject, atLeast)
        case (.getProducts(let state), .read(let subject, let atLeast)):
            self.check(state.value.map { .products($0) }, state.info, subject, atLeast)
        case (.listTransactions(let page), .list(let account, let atLeast, let expected)):
            let ids = Set(page.transactions.map(\.value.id))
            if let missing = expected.first(where: { !ids.contains($0) }) {
                self.simulation.promises.breach(
                    "durable", "the list of \(account) at \(page.position) lacks \(missing)")
            }
            if let atLeast, page.position.revision < atLeast.revision {
                self.simulation.promises.breach("at least", "a list at \(page.position), demanded was \(atLeast)")
            }
        case (.getClock(let answer), .clock):
            self.simulation.promises.heardInstant(answer.clock.now, of: "the clock", self.world)
        case (.revokeToken, .revocation(let token)):
            if self.world.revokedSince[token.id] == nil {
                self.simulation.promises.breach("durable", "token \(token.id) is said to be taken back, and is not")
            }
            self.simulation.tokens?.acknowledge(token)
        case (.operate(let done), _):
            self.acknowledge(done.position)
        case (.finish(let done), _), (.configure(let done), _):
            self.acknowledge(done.position)
        case (.setClock(let clock), _):
            self.acknowledge(clock.position)
        case (.loadCatalog(let loaded), _):
            self.acknowledge(loaded.position)
        default:
            self.simulation.promises.breach("answers", "\(response) answers something else")
        }
    }

    private func acknowledge(_ position: Position?) {
        guard let position else {
            self.simulation.promises.breach("durable", "a change was answered without its position")
            return
        }
        if position.revision > self.world.history.revision {
            self.simulation.promises.breach(
                "durable", "\(position) is answered, \(self.world.history.revision) committed")
        }
        self.acknowledged = max(self.acknowledged ?? position, position)
    }

    /// A read returns committed data, at or after the required position.
    private func check(_ value: SeenValue?, _ info: ValueInfo?, _ subject: WatchSubject, _ atLeast: Position?) {
        guard let value, let info else {
            self.simulation.promises.breach("reliable", "a read of \(subject) came to no value")
            return
        }
        self.simulation.promises.heardInstant(info.position.asOf, of: "a read of \(subject)", self.world)
        let history = self.world.history
        let revision = max(info.position.revision, history.revisionOfState(subject, at: atLeast?.revision ?? 1))
        if history.value(of: subject, at: revision, asOf: info.position.asOf) != value {
            self.simulation.promises.breach(
                "read your write", "\(subject) was read at \(info.position) as of before \(String(describing: atLeast))"
            )
        }
    }
}
