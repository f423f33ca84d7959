import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// What is particular to one method of the contract: one file in `Methods`, and a row of the generated `Request.handler`.
///
/// A handler is its request. It reaches nothing but the context that it is handed, and changes nothing: it returns the next step,
/// and the service takes it. Around it the service does what every method needs, in this order: permission (from the contract), `check`,
/// the caller's account, the resume token, the wait for a position; then `begin`, and `finish` for each answer to a question.
///
/// The generated table makes each method a `SafeMethod` or a `ChangingMethod`, as the contract says, and `Effect` keeps it from being
/// both. So a method without a handler does not compile, nor does one that changes something and does not say what the audit trail
/// gets, nor a `ChangeMethod` behind a method that the contract calls free of side effects. What `begin` and `finish` return has no such
/// type: the service stops the process if a `SafeMethod` returns `.change`, or asks the store for a mutation.
protocol MethodHandler: Sendable {
    associatedtype Answer
    /// `ChangesNothing` or `ChangesSomething`.
    associatedtype Effect

    /// The response of this method. Generated.
    static func response(_ answer: Answer) -> Response
    /// The fields that many requests have, nil where this one has none. Generated.
    var account: String? { get }
    var asOf: AsOf? { get }
    var includesJWS: Bool { get }

    /// Whether the app is made by the call, so that it need not be there.
    var opensApp: Bool { get }
    /// Whether the account must be named.
    var needsAccount: Bool { get }
    /// Every account that the request names, for callers that may use only one.
    var accountsNamed: [String] { get }
    /// The view that the call watches; nil for other calls.
    var watchedView: ViewKey? { get }
    /// What the audit trail and the log get.
    var auditNote: AuditNote { get }

    /// Refuses what no store could answer. The account and the idempotency key are checked before.
    func check() throws(CallRefusal)
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step
    /// The store's answer to the last question; never a refusal.
    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step
    /// What follows the store's refusal; nil: the call ends with it.
    func refused(_ refusal: Refusal) -> Step?
}

/// What a method does next.
enum Step {
    /// `counting`: a counter that goes up by one.
    case answer(Response, counting: WritableKeyPath<LoopCounters, UInt64>? = nil)
    case refuse(WireStatus)
    /// Ask the store. `keeping`: a text that the method gets back with the answer.
    case ask(StoreRequest.Body, keeping: String = "")
    /// Change the store, under the request's idempotency key and with its audit note.
    case change(Mutation)
    /// Ask the server around the loop.
    case server(ControlRequest)
    case updates(TransactionUpdatesRequest)
    case appChanges(AppChangesRequest)
    case copy(AppEntitlementsRequest)
    case several(WatchRequest)
}

/// What the audit trail and the log say of a call that changed something.
enum AuditNote {
    /// What was changed, without an account and without a secret.
    case audited(String)
    /// A customer's own change, or nothing: there are ten thousand a second.
    case notAudited
}

enum ChangesNothing {}
enum ChangesSomething {}

/// A method that changes nothing. The generated table says which methods do.
protocol SafeMethod: MethodHandler where Effect == ChangesNothing {}

/// A method that changes something, so it says what is audited.
protocol ChangingMethod: MethodHandler where Effect == ChangesSomething {}

extension SafeMethod {
    var auditNote: AuditNote { .notAudited }
}

extension MethodHandler {
    var account: String? { nil }
    var asOf: AsOf? { nil }
    var includesJWS: Bool { false }
    var opensApp: Bool { false }
    var needsAccount: Bool { true }
    var accountsNamed: [String] { self.account.map { [$0] } ?? [] }
    var watchedView: ViewKey? { nil }

    func check() throws(CallRefusal) {}

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        preconditionFailure("\(Self.self) asks nothing, and got \(found)")
    }

    func refused(_ refusal: Refusal) -> Step? { nil }

    static func step(_ answer: Answer) -> Step { .answer(Self.response(answer)) }
}

// MARK: The usual kinds

/// A watch of a view.
protocol WatchMethod: MethodHandler {
    var view: ViewKey { get }
}

extension WatchMethod {
    var watchedView: ViewKey? { self.view }

    func begin(_ context: MethodContext) -> Step {
        preconditionFailure("the service attaches a watch to its view")
    }
}

/// A read that is answered from what the loop has: its apps and the present moment.
protocol AppMethod: MethodHandler {
    func answer(_ context: MethodContext) throws(CallRefusal) -> Answer
}

extension AppMethod {
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step { Self.step(try self.answer(context)) }
}

/// A read of an account's record, now or as of another moment.
protocol RecordMethod: MethodHandler {
    func answer(_ read: AccountRead) throws(Refusal) -> Answer
}

extension RecordMethod {
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        let asOf = self.asOf ?? AsOf()
        try Check.readable(asOf)
        let key = context.key(ofAccount: self.account ?? "")
        return .ask(context.known(asOf).map { .recordAsKnown(key, $0) } ?? .record(key))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        let read: AccountRead
        switch found {
        case .record(let record): read = AccountRead(record, context.app, of: self, context)
        case .recordAsKnown(let record, let app): read = AccountRead(record, app, of: self, context)
        default: preconditionFailure("\(Self.self) asks for a record, and got \(found)")
        }
        do throws(Refusal) {
            return Self.step(try self.answer(read))
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }
}

/// One change of the store.
protocol ChangeMethod: MethodHandler where Effect == ChangesSomething {
    func mutation(_ context: MethodContext) throws(CallRefusal) -> Mutation
    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> Answer
}

extension ChangeMethod {
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step { .change(try self.mutation(context)) }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .mutated(let result, let position) = found else {
            preconditionFailure("\(Self.self) changes the store, and got \(found)")
        }
        return Self.step(self.answer(result, at: position, context))
    }
}

extension ChangeMethod where Answer == Acknowledgement {
    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> Acknowledgement {
        Acknowledgement(position: position)
    }
}

/// A task of the server around the loop, which gives the answer itself.
protocol ServerMethod: MethodHandler {
    func control(_ context: MethodContext) throws(CallRefusal) -> ControlRequest
}

extension ServerMethod {
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step { .server(try self.control(context)) }
}
