import PerchModel
import PerchStore
import PerchWire

struct ListTransactions: TransactionsMethod {
    let asked: ListTransactionsRequest

    var page: TransactionsAsked { TransactionsAsked(size: self.asked.pageSize, token: self.asked.pageToken) }

    var query: TransactionQuery {
        var query = TransactionQuery(limit: 1)
        query.productID = self.asked.productID.isEmpty ? nil : self.asked.productID
        query.includesFinishedConsumables = self.asked.includesFinishedConsumables
        return query
    }

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    func answer(_ page: TransactionPage, _ context: MethodContext) -> TransactionPage {
        var page = page
        page.isNotInCatalog =
            page.transactions.isEmpty && !self.asked.productID.isEmpty
            && context.app.catalogue.product(self.asked.productID) == nil
        return page
    }
}
