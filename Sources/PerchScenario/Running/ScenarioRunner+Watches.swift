import PerchBase
import PerchModel
import PerchWire

// Streams: opening, and hearing everything that they have to say about a step.
extension ScenarioRunner {
    func open(_ key: WatchKey) throws(ScenarioFailure) {
        let key = self.spelt(key)
        guard self.watches[key] == nil else { return }
        let request = try self.request(for: key)
        let stream = try self.app.open(request)
        self.watches[key] = OpenWatch(key, stream: stream)
        self.trace.opened(key, request)
    }

    func close(_ key: WatchKey) throws(ScenarioFailure) {
        let key = self.spelt(key)
        guard let watch = self.watches.removeValue(forKey: key) else { return }
        try self.app.cancel(watch.stream)
        self.trace.closed(key)
    }

    /// One stream has one spelling: `status` is `status club` if that is the only group.
    func spelt(_ key: WatchKey) -> WatchKey {
        guard case .status(let account, nil) = key, let group = self.onlyGroup else { return key }
        return .status(account: account, group: group)
    }

    private func request(for key: WatchKey) throws(ScenarioFailure) -> Request {
        switch key {
        case .products(let ids, let locale, let storefront):
            return .productsTask(
                ProductsRequest(
                    app: self.appReference, productIDs: ids, locale: locale, storefront: storefront,
                    atLeast: self.position))
        case .status(let account, let group):
            return .subscriptionStatusTask(
                SubscriptionStatusRequest(
                    app: self.appReference, account: self.key(account), groupID: try self.group(group),
                    atLeast: self.position, allGroups: group?.isEmpty == true))
        case .entitlement(let account, let product):
            return .currentEntitlementTask(
                CurrentEntitlementRequest(
                    app: self.appReference, account: self.key(account), productID: product, atLeast: self.position))
        case .updates(let account):
            return .transactionUpdates(
                TransactionUpdatesRequest(
                    app: self.appReference, account: self.key(account), atLeast: self.position))
        case .intents(let account):
            return .purchaseIntents(
                AccountWatchRequest(app: self.appReference, account: self.key(account), atLeast: self.position))
        case .messages(let account):
            return .messages(
                AccountWatchRequest(app: self.appReference, account: self.key(account), atLeast: self.position))
        }
    }

    func group(_ said: String?) throws(ScenarioFailure) -> String {
        if let said { return said }
        if self.groups.count == 1 { return self.groups[0] }
        throw ScenarioFailure("the catalogue has several groups, or none: write which one, such as `status club`")
    }

    /// Receives everything up to the position of the last step.
    func settle() throws(ScenarioFailure) {
        try self.app.settle(at: self.position, app: self.appReference)
        self.hear()
        for watch in self.watches.values {
            if let status = self.app.status(of: watch.stream) {
                throw ScenarioFailure("the server ended the stream \(watch.key): \(status.reason): \(status.message)")
            }
            try self.compareWithRead(watch)
        }
        self.reportBreaches()
    }

    private func hear() {
        let byStream = Dictionary(uniqueKeysWithValues: self.watches.values.map { ($0.stream, $0) })
        for message in self.app.takeHeard() {
            guard let watch = byStream[message.stream] else { continue }
            watch.take(message.response, ownClient: self.app.clientID, actor: self.outcome?.account)
            self.trace.heard(watch.key, message.response, ownClient: self.app.clientID)
        }
    }

    /// A stream and the read of the same view say the same. Where they do not, the stream lags or the read is wrong: the
    /// contract allows neither.
    private func compareWithRead(_ watch: OpenWatch) throws(ScenarioFailure) {
        guard let read = try self.read(watch.key), read != watch.state else { return }
        // The clock may run between the two.
        guard self.isFrozen else { return }
        watch.breaches.append(
            "the read of the same view says something else: \(self.describe(read)), the stream says \(self.describe(watch.state))"
        )
    }

    private func read(_ key: WatchKey) throws(ScenarioFailure) -> StreamState? {
        let request: Request
        switch key {
        case .products(let ids, let locale, let storefront):
            request = .getProducts(
                ProductsRequest(
                    app: self.appReference, productIDs: ids, locale: locale, storefront: storefront,
                    atLeast: self.position))
        case .status(let account, let group):
            request = .getSubscriptionStatus(
                SubscriptionStatusRequest(
                    app: self.appReference, account: self.key(account), groupID: try self.group(group),
                    atLeast: self.position, allGroups: group?.isEmpty == true))
        case .entitlement(let account, let product):
            request = .getCurrentEntitlement(
                CurrentEntitlementRequest(
                    app: self.appReference, account: self.key(account), productID: product, atLeast: self.position))
        case .updates, .intents, .messages: return nil
        }
        guard case .success(let response) = try self.app.ask(request) else { return nil }
        return Self.state(of: response)
    }

    static func state(of response: Response) -> StreamState? {
        switch response {
        case .getProducts(.success(let value, _)): .success(.products(value))
        case .getSubscriptionStatus(.success(let value, _)): .success(.statuses(value))
        case .getCurrentEntitlement(.success(let value, _)): .success(.entitlement(value))
        case .getProducts(.failure(let failure, _)), .getSubscriptionStatus(.failure(let failure, _)),
            .getCurrentEntitlement(.failure(let failure, _)):
            .failure(failure)
        default: nil
        }
    }

    private func reportBreaches() {
        for watch in self.watches.values.sorted(by: { $0.stream < $1.stream }) where !watch.breaches.isEmpty {
            for breach in watch.breaches {
                let line = self.step ?? self.scenario.lines.first
                self.report.differences.append(
                    ScenarioReport.Difference(
                        place: line?.place ?? SourcePlace(line: 1, column: 1), line: line?.text ?? "",
                        message: "a promise of the stream \(watch.key) was broken: \(breach)"))
            }
            watch.breaches.removeAll()
        }
    }

    // MARK: Words for people

    func describe(_ watch: OpenWatch) -> String {
        if case .updates = watch.key {
            return watch.events.isEmpty
                ? "no events"
                : watch.events.map { "\($0.kind) \($0.transaction.map { Sight($0).summary } ?? "")" }
                    .joined(separator: ", ")
        }
        let value = self.describe(watch.state)
        switch watch.pushes.count {
        case 0: return "\(value), not pushed"
        case 1: return "\(value), pushed once (\(watch.info?.cause.description ?? "no cause"))"
        case let count:
            return "\(value), the last of \(count): "
                + watch.pushes.map { "\(self.describe($0.state)) (\($0.info.cause))" }.joined(separator: "; ")
        }
    }

    func describe(_ state: StreamState) -> String {
        switch state {
        case .loading: "loading"
        case .failure(let failure): "failure \(failure.reason)"
        case .success(.products(let products)):
            (products.products.map { "\($0.id) \($0.price)" } + products.unavailableIDs.map { "\($0) unavailable" })
                .joined(separator: ", ")
        case .success(.statuses(let statuses)):
            statuses.statuses.isEmpty ? "none" : statuses.statuses.map { self.describe($0) }.joined(separator: "; ")
        case .success(.entitlement(let transaction)): transaction.map { self.describe($0.value) } ?? "none"
        case .success(.intents(let intents)):
            intents.isEmpty ? "none" : intents.map(\.productID).joined(separator: ", ")
        case .success(.messages(let messages)):
            messages.isEmpty
                ? "none" : messages.map { "\($0.reason) since \(self.unshifted($0.since))" }.joined(separator: ", ")
        }
    }

    private func describe(_ status: SubscriptionStatus) -> String {
        let renewal = status.renewalInfo.value
        var text = "\(status.state) \(self.describe(status.transaction.value))"
        if let grace = renewal.gracePeriodExpirationDate { text += ", grace until \(self.unshifted(grace))" }
        text += renewal.willAutoRenew ? ", renews" : ", does not renew"
        if let preference = renewal.autoRenewPreference, preference != renewal.currentProductID {
            text += " to \(preference)"
        }
        if let reason = renewal.expirationReason { text += ", because \(reason)" }
        return text
    }

    func describe(_ transaction: Transaction) -> String {
        let name = self.transactions.filter { $0.value.transaction.id == transaction.id }.keys.sorted().first
        var text = "\(transaction.productID) (\(name.map { "\($0), " } ?? "")transaction \(transaction.id)"
        if transaction.ownership == .familyShared { text += ", shared" }
        if transaction.revocation != nil { text += ", revoked" }
        if transaction.isUpgraded { text += ", upgraded" }
        text += ")"
        if let end = transaction.expirationDate { text += " until \(self.unshifted(end))" }
        return text
    }
}
