import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

struct Explain: MethodHandler {
    let asked: ExplainRequest

    func check() throws(CallRefusal) {
        switch self.asked.about {
        case .group(let id)?: try Check.present(id, "group_id")
        case .product(let id)?: try Check.present(id, "product_id")
        case nil: break
        }
        try Check.reader(self.asked.locale, self.asked.utcOffsetMinutes)
        if let supposed = self.asked.suppose { try Check.supposition(supposed) }
        guard !self.asked.withHistory || self.asked.about == nil else {
            throw CallRefusal(
                .fieldInvalid,
                "with_history is set; only an answer about the whole account has a history, so leave out about",
                details: [.field("with_history")])
        }
    }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        try Check.readable(self.asked.asOf)
        return .ask(
            .history(
                context.key(ofAccount: self.asked.account), context.known(self.asked.asOf),
                withGranters: self.showsGranters(context), withHappenings: self.asked.withHistory))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .history(let history) = found else { preconditionFailure("a history was asked for") }
        let read = AccountRead(history.record, history.app, of: self, context)
        var answer = self.why(read, history.rows)
        let reader = TextReader(locale: self.asked.locale, offsetMinutes: self.asked.utcOffsetMinutes)
        let isForCustomer = !self.showsGranters(context)
        let happenings = isForCustomer ? history.happenings.map(\.forCustomer) : history.happenings
        let present = self.summary(read.record, read, history.rows, happenings, reader)
        answer.value.summary = present.text
        answer.value.changes = self.changes(read.record, read, reader)
        if read.record == nil, self.mayLearnOfAccounts(context) {
            answer.value.summary = reader.unknown(self.asked.account, in: read.app)
            if self.asked.about == nil { answer.value.message = "No account has this name." }
        }
        if self.asked.about == nil {
            answer.value.grants = reader.grants(
                of: read.record, by: history.granters, at: read.now, forCustomer: isForCustomer)
        }
        answer.value.history = reader.history(
            happenings.reversed(), in: read.app, at: read.now, forCustomer: isForCustomer)
        answer.value.historyIsCut = history.isCut
        if let supposed = self.asked.suppose {
            let record = try self.supposing(supposed, read, history.rows)
            let summary = self.summary(record, read, history.rows, happenings, reader)
            let price = supposedPrice(supposed, of: read.record, rows: history.rows, app: read.app, at: read.now)
            answer.value.supposed = SupposedOutcome(
                summary: summary.text(supposedBeside: present, price: price), isEntitled: summary.isEntitled,
                changes: self.changes(record, read, reader))
        }
        return Self.step(answer)
    }

    /// Only an answer about the whole account has grants, and a customer is not shown who granted them.
    private func showsGranters(_ context: MethodContext) -> Bool {
        self.asked.about == nil && context.caller.identity.account == nil
    }

    /// Whether the caller may learn that there is no such account: credentials of one account may not, and of an earlier revision it
    /// is not known.
    private func mayLearnOfAccounts(_ context: MethodContext) -> Bool {
        context.caller.identity.account == nil && self.asked.asOf.revision == 0
    }

    private func why(_ read: AccountRead, _ rows: [Transaction]) -> ExplainAnswer {
        let (app, now) = (read.app, read.now)
        switch self.asked.about {
        case .group(let id)?:
            let rows = rows.filter { $0.subscriptionGroupID == id }
            return ExplainAnswer(
                value: explainStatus(of: read.record, inGroup: id, rows: rows, app: app, at: now),
                position: read.position, isNotInCatalog: rows.isEmpty && app.catalogue.group(id) == nil)
        case .product(let id)?:
            let rows = rows.filter { $0.productID == id }
            return ExplainAnswer(
                value: explainEntitlement(of: read.record, toProduct: id, rows: rows, app: app, at: now),
                position: read.position, isNotInCatalog: rows.isEmpty && app.catalogue.product(id) == nil)
        case nil:
            return ExplainAnswer(
                value: explainEverything(of: read.record, rows: rows, app: app, at: now), position: read.position)
        }
    }

    /// What an account has, as it is or as it is supposed to be.
    private func summary(
        _ record: AccountRecord?, _ read: AccountRead, _ rows: [Transaction], _ happenings: [Happening],
        _ reader: TextReader
    ) -> Summary {
        Summary(
            of: record, called: self.asked.account, about: self.scope, rows: rows, happenings: happenings,
            app: read.app, at: read.now, for: reader)
    }

    /// What time brings.
    private func changes(_ record: AccountRecord?, _ read: AccountRead, _ reader: TextReader) -> [ExpectedChange] {
        expectedChanges(of: record, about: self.scope, app: read.app, at: read.now, for: reader)
    }

    private var scope: SummaryScope {
        switch self.asked.about {
        case .group(let id)?: .group(id)
        case .product(let id)?: .product(id)
        case nil: .all
        }
    }

    private func supposing(
        _ supposed: Supposition, _ read: AccountRead, _ rows: [Transaction]
    ) throws(CallRefusal) -> AccountRecord {
        do throws(Refusal) {
            return try PerchModel.supposing(supposed, of: read.record, rows: rows, app: read.app, at: read.now)
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }
}
