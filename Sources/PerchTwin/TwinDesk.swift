package import PerchApple
package import PerchBase
import PerchJSON
package import PerchModel
package import PerchStore

/// A test app that the twin serves.
package struct TwinApp: Hashable, Sendable {
    package var bundleID: String
    package var number: AppNumber

    package init(bundleID: String, number: AppNumber) {
        self.bundleID = bundleID
        self.number = number
    }
}

/// What a request has come to: its answer, or a question for the store.
package indirect enum TwinStep {
    case answer(TwinResponse)
    case ask(StoreRequest.Body, then: (StoreAnswer) throws(TwinError) -> TwinStep)

    static func answer(_ body: (inout JSONWriter) -> Void) -> TwinStep { .answer(TwinResponse(body)) }
}

/// Answers the App Store Server API from the facts of a test store. A value of one thread, without socket and clock.
package final class TwinDesk {
    let signer: SharedAppleSigner
    package let apps: [TwinApp]
    private let callers: CallerTokens
    private var rates = TwinRates()
    private var mishaps: [TwinMishap] = []
    /// Identity and epoch of the store.
    let store: [UInt8]
    /// Mass extensions, by product and request.
    var massExtensions: [MassExtension.Name: MassExtension] = [:]
    var books: [AppNumber: NoticeBook] = [:]
    /// Empty where nothing is delivered.
    var deliveries: [AppNumber: Delivering] = [:]
    var testCount: UInt64 = 0
    var messagings: [MessagingKey: TwinMessaging] = [:]
    var performanceTests: [String: PerformanceTest] = [:]
    /// Apps that may have an endpoint in production.
    var passedTests: Set<AppNumber> = []

    package init(apps: [TwinApp], callers: CallerTokens, signer: SharedAppleSigner, store: [UInt8]) {
        self.apps = apps
        self.store = store
        self.callers = callers
        self.signer = signer
    }

    /// Lets something go wrong with the next requests. Returns how many mishaps wait; nil: too many.
    package func add(_ mishap: TwinMishap) -> Int? {
        guard self.mishaps.count < Limits.twinMishapsMax else { return nil }
        self.mishaps.append(mishap)
        return self.mishaps.count { $0.app == mishap.app }
    }

    /// What was asked so far, as JSON: the requests of each rate, and the most of them within a second.
    package var counts: [UInt8] {
        TwinResponse { writer in
            writer.key("rates")
            writer.beginArray()
            for (key, tally) in self.rates.tallies.sorted(by: {
                ($0.key.app, $0.key.rate.name) < ($1.key.app, $1.key.rate.name)
            }) {
                writer.beginObject()
                writer.member("bundleId", key.app)
                writer.member("rate", key.rate.name)
                writer.member("sandbox", key.isSandbox)
                writer.member("requests", tally.all)
                writer.member("mostInASecond", tally.most)
                writer.member("allowedInASecond", key.rate.perSecond)
                writer.endObject()
            }
            writer.endArray()
        }.body
    }

    /// A caller, its app, and the moment of its request.
    struct Call {
        let app: TwinApp
        let request: TwinRequest
        /// The wall clock. Apps have their own, which follows it.
        let wall: Instant
    }

    /// Begins a request. `wall`: the clock of the store; `machine`: that of the machine, by which tokens end.
    package func begin(_ request: TwinRequest, wall: Instant, machine: Instant, now: MonotonicTime) -> TwinStep {
        let app: TwinApp
        do throws(CallerFault) {
            app = try self.caller(request, at: machine)
        } catch {
            var response = TwinResponse(status: 401)
            response.reason = error.description
            return .answer(response)
        }
        guard let endpoint = TwinEndpoint(method: request.method, path: request.path) else {
            var response = TwinResponse(status: 404)
            response.reason = "the twin has no \(request.method) \(request.path)"
            return .answer(response)
        }
        if let wait = self.rates.take(app.bundleID, request.host, endpoint.rate, now: now) {
            var response = TwinResponse(TwinError.rateLimit)
            response.retryAfter = machine.advanced(byMilliseconds: wait)
            response.reason = "the rate of \(endpoint.rate.name) is used up"
            return .answer(response)
        }
        for place in self.mishaps.indices where self.mishaps[place].meets(request, of: app.bundleID) {
            let answer = self.mishaps[place].answer(at: machine)
            if self.mishaps[place].isOver { self.mishaps.remove(at: place) }
            return .answer(answer)
        }
        let call = Call(app: app, request: request, wall: wall)
        do throws(TwinError) {
            return try self.step(endpoint, call)
        } catch {
            return .answer(TwinResponse(error))
        }
    }

    /// Goes on with the answer of the store.
    package func resume(
        _ then: (StoreAnswer) throws(TwinError) -> TwinStep, with answer: StoreAnswer
    ) -> TwinStep {
        do throws(TwinError) {
            return try then(answer)
        } catch {
            return .answer(TwinResponse(error))
        }
    }

    private func caller(_ request: TwinRequest, at machine: Instant) throws(CallerFault) -> TwinApp {
        guard let authorization = request.authorization else { throw CallerFault("there is no Authorization field") }
        let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bearer" else {
            throw CallerFault("the Authorization field is not `Bearer` and a token")
        }
        let bundleID = try self.callers.bundleID(of: String(words[1]), at: machine)
        guard let app = self.apps.first(where: { $0.bundleID == bundleID }) else {
            throw CallerFault("bid \(bundleID.prefix(100)) is no test app of this server")
        }
        return app
    }

    private func step(_ endpoint: TwinEndpoint, _ call: Call) throws(TwinError) -> TwinStep {
        switch endpoint {
        case .transactionInfo(let id): try self.transactionInfo(id, call)
        case .transactionHistory(let id, let version): try self.history(id, version: version, call)
        case .subscriptionStatuses(let id): try self.statuses(id, call)
        case .orderLookup(let id): try self.order(id, call)
        case .refundHistory(let id): try self.refunds(id, call)
        case .appTransaction(let id): try self.appTransaction(id, call)
        case .extend(let id): try self.extend(id, call)
        case .extendAll: try self.extendAll(call)
        case .extendedAll(let product, let request): try self.extendedAll(product, request, call)
        case .finish(let id): try self.finish(id, call)
        case .notificationHistory: try self.notificationHistory(call)
        case .requestTest: try self.requestTest(call)
        case .testStatus(let token): try self.testStatus(token, call)
        case .consumption(let id, let version): try self.consumption(id, version: version, call)
        case .accountToken(let id): try self.setAccountToken(id, call)
        case .messaging(let endpoint): try self.messaging(endpoint, call)
        }
    }

    // MARK: Customers

    /// A transaction number in a path.
    static func number(_ text: String, else error: TwinError) throws(TwinError) -> TransactionID {
        guard let id = TransactionID(text), id > 0, id <= TransactionID(Int64.max), text.utf8.count <= 20 else {
            throw error
        }
        return id
    }

    /// The customer that has a transaction. Production knows nobody: every purchase here is one of the sandbox.
    func customer(
        of id: TransactionID, _ call: Call, else error: TwinError,
        then: @escaping (FoundAccount) throws(TwinError) -> TwinStep
    ) throws(TwinError) -> TwinStep {
        guard call.request.host != .production else { throw error }
        return .ask(.find(call.app.number, .transaction(id))) { answer throws(TwinError) in
            switch answer {
            case .found(let account?): return try then(account)
            case .found(nil): throw error
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("an account was sought")
            }
        }
    }

    /// All transactions of a customer, oldest first.
    func rows(
        of key: AccountKey, includesFinishedConsumables: Bool = true, _ known: [TransactionRow] = [],
        then: @escaping ([TransactionRow]) throws(TwinError) -> TwinStep
    ) -> TwinStep {
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.includesFinishedConsumables = includesFinishedConsumables
        query.after = known.last.map { .init(purchaseDate: $0.transaction.purchaseDate, id: $0.transaction.id) }
        return .ask(.transactions(key, query)) { answer throws(TwinError) in
            switch answer {
            case .transactions(let rows, let hasMore):
                let all = known + rows
                guard hasMore else { return try then(all) }
                guard all.count < Limits.twinEventsMax else { throw .general }
                return self.rows(
                    of: key, includesFinishedConsumables: includesFinishedConsumables, all, then: then)
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("transactions were asked for")
            }
        }
    }

    /// One transaction, and the customer that has it.
    func transaction(
        _ id: TransactionID, _ call: Call, else error: TwinError,
        then: @escaping (FoundAccount, TransactionRow) throws(TwinError) -> TwinStep
    ) throws(TwinError) -> TwinStep {
        try self.customer(of: id, call, else: error) { account in
            self.rows(of: AccountKey(app: call.app.number, bytes: account.key)) { rows throws(TwinError) in
                guard let row = rows.first(where: { $0.transaction.id == id }) else { throw error }
                return try then(account, row)
            }
        }
    }

    /// The customer's record, and the app.
    func record(
        of account: FoundAccount, _ call: Call,
        then: @escaping (AccountRecord, AppState) throws(TwinError) -> TwinStep
    ) -> TwinStep {
        .ask(.history(AccountKey(app: call.app.number, bytes: account.key), nil)) { answer throws(TwinError) in
            switch answer {
            case .history(let history):
                guard let record = history.record else { throw .transactionNotFound }
                return try then(record, history.app)
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("a record was asked for")
            }
        }
    }

    // MARK: Signed values

    func signed(_ transaction: Transaction) -> String {
        let payload = PayloadWriter.transaction(transaction)
        return self.signer.sign(payload, at: transaction.signedDate) { _ in payload }.text
    }

    /// Signed at the instant of its first reader: a record does not say when a line has changed.
    func signed(_ info: RenewalInfo, of record: AccountRecord, at now: Instant) -> String {
        let key =
            PayloadWriter.renewalInfo(info, signed: Instant(milliseconds: 0)) + Array("\(record.revision)".utf8)
        return self.signer.sign(key, at: now) { PayloadWriter.renewalInfo(info, signed: $0) }.text
    }

    func signed(_ transaction: AppTransaction, at now: Instant) -> String {
        let key = PayloadWriter.appTransaction(transaction, signed: Instant(milliseconds: 0))
        return self.signer.sign(key, at: now) { PayloadWriter.appTransaction(transaction, signed: $0) }.text
    }
}

extension TwinError {
    /// What the App Store would say where the store refuses.
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .accountUnknown, .transactionUnknown: self = .transactionNotFound
        case .extensionInvalid: self = .invalidExtendByDays
        case .extensionIneligible:
            self = refusal.limit == nil ? .extensionIneligible : .extensionLimit
        case .notSubscribed, .notASubscription: self = .extensionIneligible
        case .storeFull, .storeUnreachable: self = .generalRetryable
        default: self = .general
        }
    }
}
