import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A change of who owns what the App Store reported.
protocol AccountMove: ChangeMethod where Answer == MoveAnswer {
    func move(_ context: MethodContext) -> ReportedRequest
}

extension AccountMove {
    func mutation(_ context: MethodContext) throws(CallRefusal) -> Mutation {
        try context.requireReportedApp()
        return .reported(self.move(context), app: context.app.number)
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> MoveAnswer {
        guard case .reported(let outcome) = result else { preconditionFailure("a move has an outcome") }
        return MoveAnswer(
            position: position, movedCount: outcome.moved,
            previousAccount: String(decoding: outcome.previousKey, as: UTF8.self))
    }
}

/// Values of the App Store: a thread of their own verifies them, then the store takes them.
protocol SubmissionMethod: MethodHandler where Answer == SubmissionAnswer {
    func work(_ context: MethodContext) throws(CallRefusal) -> IngestWork
}

extension SubmissionMethod {
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step { .server(.ingest(try self.work(context))) }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .mutated(.reported(let outcome), let position) = found else {
            preconditionFailure("a submission has an outcome")
        }
        var answer = SubmissionAnswer(
            position: position, newsCount: outcome.news, staleCount: outcome.stale,
            duplicateCount: outcome.duplicates)
        answer.refused = context.refusedValues
        return Self.step(answer)
    }
}

extension MethodContext {
    /// One operation of a test store on an account.
    func operation(_ operation: StoreOperation, of account: String) -> Mutation {
        .operation(operation, account: self.key(ofAccount: account), app: self.app.number)
    }
}

extension Mutation {
    /// Adds a check for an armed failure of this part of the store.
    func failing(as api: StoreKitAPI) -> Mutation {
        self.deciding { view throws(Refusal) in
            try refuseIfSimulated(api, app: view.app)
            return try self.decide(&view)
        }
    }
}

extension MutationResult {
    /// The contract's result of a purchase outcome.
    var purchaseResult: PurchaseResult {
        switch self {
        case .transaction: .success
        case .pending: .pending
        case .cancelled: .userCancelled
        case .none, .number, .clock, .reported: .unspecified
        }
    }
}

extension AccountAlias {
    /// Of the two fields of a request, the one that is filled.
    init(token: String, id: String) {
        self = token.isEmpty ? .appTransactionID(id) : .appAccountToken(WrittenAccountToken(token).text)
    }
}

/// The name of an enum's case, without its payload, which contains account keys.
func nameOfCase(_ value: some Any) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
}
