public import PerchBase
import PerchLoop
public import PerchModel
import PerchTLS
import PerchWire

/// A client of a Perch server, with the vocabulary of StoreKit: streams of products, statuses and entitlements, and calls.
///
/// The client connects at the first call or stream, and keeps one connection for all of them. It reconnects automatically:
/// streams resume, and calls are repeated where that is safe. All clients of a process share one thread; every method can be
/// used from any task. A client ends with `close`, or when it and all its streams are released.
///
///     let client = try PerchClient()
///     for await state in client.currentEntitlementTask(account: "anna", product: "gold.monthly") {
///         if case .success(let transaction, _) = state { show(isEntitled: transaction?.verifiedValue != nil) }
///     }
public final class PerchClient: Sendable {
    /// Names this client across its connections: 16 random bytes, the origin of what its own calls cause.
    public let id: [UInt8]

    let loop: ClientLoop
    let app: AppReference
    /// Whether calls ask for signed forms.
    let includesJWS: Bool
    private let number: ItemID
    private let callTimeoutMilliseconds: Int64
    let observer: (any PerchClientObserver)?
    private let connectionCell = ConnectionCell()

    /// Makes a client; nothing is sent yet.
    ///
    /// `address` is a host name or an address, with a port: `perch.internal:7447`, `127.0.0.1:7447`, `[::1]:7447`. A name is
    /// looked up for each connection, and all its addresses are tried. Several servers of one store
    /// stand between commas: the client goes on with the next one when one goes away. `app` may be left out where the server, or the
    /// identity, has exactly one.
    public convenience init(
        address: String = "127.0.0.1:7447", app: AppIdentifier? = nil, options: PerchClientOptions = .init()
    ) throws(PerchError) {
        try self.init(address: address, app: app, options: options, on: try ClientLoop.shared())
    }

    /// Creates a client on the caller's own thread, which must outlive the client.
    package init(
        address: String, app: AppIdentifier? = nil, options: PerchClientOptions = .init(), on loop: ClientLoop
    ) throws(PerchError) {
        let destination = try Self.parse(address)
        try options.check()
        if let tls = options.tls, tls.serverName == nil, destination.host == nil {
            throw PerchError(
                code: .invalidArgument, reason: .addressInvalid,
                message:
                    "the servers of \"\(address)\" have different names; set the name that their certificate has in common"
            )
        }
        self.id = .random(count: 16)
        self.loop = loop
        self.app = AppReference(app)
        self.includesJWS = options.includesJWS
        self.number = loop.newID()
        self.callTimeoutMilliseconds = options.callTimeout.wholeMilliseconds
        self.observer = options.observer
        var settings = ClientSettings(name: options.name, clientID: self.id)
        settings.acceptsCompression = options.acceptsCompression
        settings.heartbeatSeconds = options.heartbeatSeconds
        settings.connectTimeoutMilliseconds = options.connectTimeout.wholeMilliseconds
        settings.reconnectBaseMilliseconds = options.reconnectBase.wholeMilliseconds
        settings.reconnectCapMilliseconds = options.reconnectCap.wholeMilliseconds
        settings.waitsForServer = options.waitsForServer
        if case .failure(let after) = options.whileDisconnected {
            settings.failureAfterMilliseconds = after.wholeMilliseconds
        }
        switch options.authorization {
        case .file: settings.canReauthenticate = true
        // The client's only credential is its certificate, whose file is read for each connection.
        case .none: settings.canReauthenticate = options.tls?.certificatePath != nil
        case .value: break
        }
        loop.post(
            .add(
                client: self.number,
                ClientConfiguration(
                    destination: destination, settings: settings, authorization: options.authorization,
                    tls: options.tls, observer: options.observer,
                    serverName: TLSServerName(options.tls?.serverName, ofAddress: address),
                    seed: .random(in: .min ... .max)),
                self.connectionCell))
    }

    deinit { self.loop.post(.remove(client: self.number)) }

    /// Ends every stream, every call and the connection. Later calls fail with `CLOSED`.
    public func close() {
        self.loop.post(.remove(client: self.number))
    }

    /// Keeps the client for as long as the task runs, for programs that are built from services: returns when the client is
    /// closed, and closes it when the task is cancelled.
    ///
    ///     try await withThrowingTaskGroup { group in
    ///         group.addTask { await client.run() }
    ///         …
    ///     }
    public func run() async {
        for await state in self.connection where state == .closed { break }
        self.close()
    }

    /// Since when there is no connection although a call or a stream needs one, by the wall clock; nil while there is one, or none
    /// is needed. Values are as old as this at least.
    public var disconnectedSince: Instant? { self.connectionCell.disconnectedSince }

    /// The state of the connection, and its changes.
    public var connection: ConnectionStates { ConnectionStates(self, self.connectionCell) }

    private static func parse(_ address: String) throws(PerchError) -> Destination {
        do throws(SocketAddressFault) {
            let parsed = try Destination(parsing: address)
            guard parsed.port == 0 else { return parsed }
        } catch {
            throw PerchError(code: .invalidArgument, reason: .addressInvalid, message: "\(error)")
        }
        throw PerchError(
            code: .invalidArgument, reason: .addressInvalid,
            message: "port 0 in \"\(address)\" cannot be connected to; the server says on which port it listens")
    }

    func post(_ command: ItemCommand) {
        self.loop.post(.item(client: self.number, command))
    }

    // MARK: Streams

    /// Products with their prices, and unavailable identifiers: now, and whenever the catalogue changes.
    ///
    /// An empty `locale` (such as `en_US`) or `storefront` (such as `USA`) means the app's. A request may have 64 KiB:
    /// some thousands of identifiers.
    public func productsTask(
        _ ids: [String], locale: String = "", storefront: String = "", atLeast: Position? = nil
    ) -> EntitlementTask<Products> {
        let request = ProductsRequest(app: self.app, productIDs: ids, locale: locale, storefront: storefront)
        return EntitlementTask(
            OpenWatch(self, .productsTask(request), atLeast: atLeast, wrap: { .products($0) }) { value in
                guard case .products(let products) = value else { return nil }
                return products
            })
    }

    /// The statuses of an account in a subscription group: now, and at each change, also by time alone.
    public func subscriptionStatusTask(
        account: String, group: String, atLeast: Position? = nil
    ) -> EntitlementTask<SubscriptionStatuses> {
        let request = SubscriptionStatusRequest(
            app: self.app, account: account, groupID: group, includesJWS: self.includesJWS)
        return EntitlementTask(
            OpenWatch(self, .subscriptionStatusTask(request), atLeast: atLeast, wrap: { .statuses($0) }) { value in
                guard case .statuses(let statuses) = value else { return nil }
                return statuses
            })
    }

    /// The statuses of an account in all groups, one group after another: now, and at each change, also by time alone.
    public func subscriptionStatusTaskOfAllGroups(
        account: String, atLeast: Position? = nil
    ) -> EntitlementTask<SubscriptionStatuses> {
        let request = SubscriptionStatusRequest(
            app: self.app, account: account, includesJWS: self.includesJWS, allGroups: true)
        return EntitlementTask(
            OpenWatch(self, .subscriptionStatusTask(request), atLeast: atLeast, wrap: { .statuses($0) }) { value in
                guard case .statuses(let statuses) = value else { return nil }
                return statuses
            })
    }

    /// The transaction that entitles an account to a product, or nil: now, and at each change, also by time alone.
    public func currentEntitlementTask(
        account: String, product: String, atLeast: Position? = nil
    ) -> EntitlementTask<Verified<Transaction>?> {
        let request = CurrentEntitlementRequest(
            app: self.app, account: account, productID: product, includesJWS: self.includesJWS)
        return EntitlementTask(
            OpenWatch(self, .currentEntitlementTask(request), atLeast: atLeast, wrap: { .entitlement($0) }) { value in
                guard case .entitlement(let transaction) = value else { return nil }
                return .some(transaction)
            })
    }

    /// Everything that an account owns, by its names in the app, whatever gives it: now, and at each change, also by time alone.
    ///
    /// One entry for each name of the app's file, and one for each other name that was granted.
    public func entitlementsTask(account: String, atLeast: Position? = nil) -> EntitlementTask<[NamedEntitlement]> {
        let request = AccountWatchRequest(app: self.app, account: account)
        return EntitlementTask(
            OpenWatch(self, .entitlementsTask(request), atLeast: atLeast, wrap: { .named($0) }) { value in
                guard case .named(let entitlements) = value else { return nil }
                return entitlements
            })
    }

    /// The purchases that a customer began outside the app, now and at each change.
    public func purchaseIntents(account: String, atLeast: Position? = nil) -> EntitlementTask<[PurchaseIntent]> {
        let request = AccountWatchRequest(app: self.app, account: account)
        return EntitlementTask(
            OpenWatch(self, .purchaseIntents(request), atLeast: atLeast, wrap: { .intents($0) }) { value in
                guard case .intents(let intents) = value else { return nil }
                return intents
            })
    }

    /// The store's messages for the customer: the current ones, and each change, also by time alone.
    public func messages(account: String, atLeast: Position? = nil) -> EntitlementTask<[StoreMessage]> {
        let request = AccountWatchRequest(app: self.app, account: account)
        return EntitlementTask(
            OpenWatch(self, .messages(request), atLeast: atLeast, wrap: { .messages($0) }) { value in
                guard case .messages(let messages) = value else { return nil }
                return messages
            })
    }

    /// The events of an account's transactions after `cursor`; without one, the unfinished transactions first.
    ///
    /// Events of this client's own calls are left out if their answers reported them, unless `includingOwn`. A change
    /// whose answer was lost, by a timeout, a cancelled task or a broken connection, is delivered.
    public func transactionUpdates(
        account: String, after cursor: UpdateCursor? = nil, includingOwn: Bool = false
    ) -> TransactionUpdates {
        let (app, includesJWS) = (self.app, self.includesJWS)
        let request = EventsRequest(.transactionUpdates, after: cursor?.bytes ?? []) { cursor in
            .transactionUpdates(
                TransactionUpdatesRequest(app: app, account: account, cursor: cursor, includesJWS: includesJWS))
        }
        return TransactionUpdates(UpdatesStart(self, request, includesOwn: includingOwn))
    }

    /// Every change of every account of the app after `cursor`, also by time alone; without one, from now on.
    ///
    /// `fromOldest` begins, without a cursor, with the oldest change that a cursor may stand before: a day or 100,000
    /// revisions ago. Changes of this client's own calls are delivered like all others.
    public func appChanges(
        after cursor: UpdateCursor? = nil, fromOldest: Bool = false, filter: AppChangeFilter = AppChangeFilter()
    ) -> AppChanges {
        let app = self.app
        let request = EventsRequest(.appChanges, after: cursor?.bytes ?? []) { cursor in
            .appChanges(
                AppChangesRequest(
                    app: app, cursor: cursor, fromOldest: fromOldest && cursor.isEmpty, causes: filter.causes,
                    groupIDs: filter.groups, productIDs: filter.products, entitlementsOnly: filter.entitlementsOnly))
        }
        return AppChanges(UpdatesStart(self, request, includesOwn: true))
    }

    // MARK: Calls

    /// Calls a method of the contract.
    func call<Asked, Answer: Sendable>(
        _ method: ContractCall<Asked, Answer>, _ asked: Asked, timeout: Duration?
    ) async throws(PerchError) -> Answer {
        try await self.call(method, asked, timeout: timeout) { $0 }
    }

    /// Calls a method of the contract, and returns what `read` makes of its answer; nil: the answer lacks what this version needs.
    func call<Asked, Answer, Value: Sendable>(
        _ method: ContractCall<Asked, Answer>, _ asked: Asked, timeout: Duration?,
        _ read: (Answer) throws(PerchError) -> Value?
    ) async throws(PerchError) -> Value {
        let request = method.wrap(asked)
        // The request is not sent yet, so it cannot have happened.
        if Task.isCancelled { throw .cancelledHere }
        let options = Self.callOptions
        let id = self.loop.newID()
        let observed = ObservedCall(id: id, path: method.method.path)
        var entries = options.metadata
        self.observer?.callBegins(observed, metadata: &entries)
        let began = ContinuousClock.now
        do throws(PerchError) {
            let value = try await self.call(id, method, request, options, timeout, entries, read)
            self.observer?.callEnded(observed, after: began.duration(to: .now), error: nil)
            return value
        } catch {
            self.observer?.callEnded(observed, after: began.duration(to: .now), error: error)
            throw error
        }
    }

    private func call<Asked, Answer, Value: Sendable>(
        _ id: ItemID, _ method: ContractCall<Asked, Answer>, _ request: Request, _ options: CallOptions,
        _ timeout: Duration?, _ entries: [String: String], _ read: (Answer) throws(PerchError) -> Value?
    ) async throws(PerchError) -> Value {
        let metadata = try [Metadata](entries)
        let timeoutMilliseconds = options.milliseconds(timeout, else: self.callTimeoutMilliseconds)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                self.post(
                    .call(id, request, timeoutMilliseconds: timeoutMilliseconds, metadata: metadata, caller))
                // The flag of cancellation is set before its handler runs, so an earlier cancellation is seen here.
                if Task.isCancelled { self.post(.cancel(id)) }
            }
        } onCancel: {
            self.post(.cancel(id))
        }
        let response = try result.get()
        guard let answer = method.unwrap(response), let value = try read(answer) else {
            throw PerchError(
                code: .unimplemented, reason: .newerServer,
                message: "\(request.method.path) was answered without what this version needs; use a newer one",
                mayHaveHappened: Repeatability(request).isMutation)
        }
        return value
    }
}

extension TLSServerName {
    /// The name in the options, else the address's.
    fileprivate init(_ name: String?, ofAddress address: String) {
        if let name { self.init(name) } else { self.init(ofAddress: String(address.prefix { $0 != "," })) }
    }
}

extension [UInt8] {
    /// Of the system's generator.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// A new idempotency key, for a caller without one.
    static var newIdempotencyKey: [UInt8] { .random(count: 16) }
}
