import PerchModel
import PerchStore
import PerchWire

struct Explain: MethodHandler {
    let asked: ExplainRequest

    func check() throws(CallRefusal) {
        switch self.asked.about {
        case .group(let id)?: try Check.present(id, "group_id")
        case .product(let id)?: try Check.present(id, "product_id")
        case nil:
            throw CallRefusal(
                .fieldMissing, "about is not set; name a group_id or a product_id", details: [.field("about")])
        }
    }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        try Check.readable(self.asked.asOf)
        return .ask(.history(context.key(ofAccount: self.asked.account), context.known(self.asked.asOf)))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .history(let record, let rows, let app) = found, let about = self.asked.about else {
            preconditionFailure("a history was asked for")
        }
        return Self.step(self.answer(AccountRead(record, app, of: self, context), rows, about))
    }

    private func answer(_ read: AccountRead, _ rows: [Transaction], _ about: ExplainRequest.About) -> ExplainAnswer {
        let (app, now) = (read.app, read.now)
        switch about {
        case .group(let id):
            let rows = rows.filter { $0.subscriptionGroupID == id }
            return ExplainAnswer(
                value: explainStatus(of: read.record, inGroup: id, rows: rows, app: app, at: now),
                position: read.position, isNotInCatalog: rows.isEmpty && app.catalogue.group(id) == nil)
        case .product(let id):
            let rows = rows.filter { $0.productID == id }
            return ExplainAnswer(
                value: explainEntitlement(of: read.record, toProduct: id, rows: rows, app: app, at: now),
                position: read.position, isNotInCatalog: rows.isEmpty && app.catalogue.product(id) == nil)
        }
    }
}
