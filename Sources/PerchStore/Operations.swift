package import PerchModel

extension Mutation {
    /// One operation of a test store on an account, or on the account that owns the transaction it names.
    ///
    /// `account` nil: the operation's target is a transaction, which determines the account.
    package static func operation(
        _ operation: StoreOperation, account: AccountKey?, app: AppNumber, origin: [UInt8] = []
    ) -> Mutation {
        let subject: Subject
        if let account {
            subject = .account(account, opens: operation.opensAccount)
        } else {
            guard let id = operation.transaction else {
                preconditionFailure("an operation without an account names no transaction")
            }
            subject = .owner(app: app, of: id)
        }
        let other = operation.member.map { AccountKey(app: app, bytes: Array($0.utf8)) }
        var opensOther = false
        if case .share = operation { opensOther = true }
        return Mutation(subject, other: other, opensOther: opensOther, operation, origin: origin)
    }

    /// Delivers shared transactions that wait for the customer to restore.
    package static func sync(_ account: AccountKey) -> Mutation {
        Mutation(.account(account, opens: false), needsTestApp: false) { view throws(Refusal) in
            try refuseIfSimulated(.appStoreSync, app: view.app)
            let facts = decideSync(view.accountRecord, now: view.now)
            if facts.isEmpty { return .unchanged(answer: .none) }
            return .commit([AccountFacts(account: view.accountRecord.account, facts: facts)], answer: .none)
        }
    }
}

extension StoreOperation {
    /// The transaction that the operation names, if it names one.
    package var transaction: TransactionID? {
        let target: OperationTarget? =
            switch self {
            case .refund(let target, _, _), .reverseRefund(let target), .declineRefund(let target),
                .requestConsumption(let target), .renew(let target), .expire(let target),
                .setAutoRenew(let target, _), .resolveBilling(let target), .raisePrice(let target, _, _),
                .answerPriceIncrease(let target, _), .extendRenewal(let target, _), .share(let target, _):
                target
            case .stopSharing(let target, _):
                target
            case .deleteTransaction(let id):
                .transaction(id)
            case .buy, .setCharges, .decidePurchase, .clearTransactions, .createIntent, .endIntent, .setStorefront,
                .postMessage, .setPayments, .setAppTransaction:
                nil
            }
        guard case .transaction(let id) = target else { return nil }
        return id
    }
}

extension OperationSubject {
    /// The decision's view of an account.
    package init(_ view: DecisionView) {
        self.init(
            record: view.accountRecord, rows: view.answers.isEmpty ? nil : view.rows, member: view.member,
            answers: view.answers, redemptions: view.redemptions)
    }
}

extension Decision {
    /// Decides an operation of a test store from a view.
    init(of operation: StoreOperation, _ view: inout DecisionView) throws(Refusal) {
        let subject = OperationSubject(view)
        self.init(
            try PerchModel.decide(operation, on: subject, app: view.app, now: view.now, numbers: &view.numbers),
            of: subject)
    }

    /// The rows that the model asks for, or the facts that it decided.
    package init(_ decision: OperationDecision, of subject: OperationSubject) {
        switch decision {
        case .needs(let need): self = .needRows(need)
        case .done(let outcome): self.init(outcome, of: subject)
        }
    }

    /// Facts of the subject, then those of the other account, in one revision.
    package init(_ outcome: OperationOutcome, of subject: OperationSubject) {
        let answer: MutationResult
        if outcome.isCancelled {
            answer = .cancelled
        } else if let transaction = outcome.transaction {
            answer = .transaction(transaction, wasHeld: outcome.wasHeld)
        } else if let number = outcome.number {
            let isHeld = outcome.facts.contains { fact in
                if case .purchaseHeld(let pending) = fact.body { return pending.id == number }
                return false
            }
            answer = isHeld ? .pending(id: number) : .number(number)
        } else {
            answer = .none
        }
        if outcome.memberFacts.isEmpty {
            // As nearly all are.
            self =
                outcome.facts.isEmpty
                ? .unchanged(answer: answer)
                : .commit([AccountFacts(account: subject.record.account, facts: outcome.facts)], answer: answer)
            return
        }
        var accounts: [AccountFacts] = []
        if !outcome.facts.isEmpty {
            accounts.append(AccountFacts(account: subject.record.account, facts: outcome.facts))
        }
        guard let member = subject.member else { preconditionFailure("facts of a member that nobody named") }
        accounts.append(AccountFacts(account: member.account, facts: outcome.memberFacts))
        self = .commit(accounts, answer: answer)
    }
}
