import PerchModel
import PerchStore
import PerchWire

struct ListConsumption: MethodHandler {
    let asked: ListConsumptionRequest

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    /// A page token is the key of the last one before.
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        try context.requireReportedApp()
        let token = self.asked.pageToken
        guard token.isEmpty || token.count == 8 else {
            throw CallRefusal(.cursorMalformed, "the page token is none of a list of questions; begin without one")
        }
        return .ask(
            .items(
                .consumption, groups: [ItemKey.appGroup(context.app.number)], after: token,
                limit: self.asked.pageSize.pageLimit))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .items(let items, let hasMore) = found else { preconditionFailure("items were asked for") }
        var page = ConsumptionPage()
        page.cases = items.compactMap { ConsumptionCase($0).map { ConsumptionItem($0) } }
        if hasMore, let last = items.last { page.nextPageToken = last.key.key }
        return Self.step(page)
    }
}

extension ConsumptionItem {
    fileprivate init(_ asked: ConsumptionCase) {
        self.init(
            transactionID: asked.transaction, reason: asked.reason, asked: asked.asked, deadline: asked.deadline,
            state: asked.state, message: asked.message, answer: asked.answer)
    }
}
