import PerchModel
import PerchStore
import PerchWire

struct GetLatestTransaction: TransactionsMethod {
    let asked: LatestTransactionRequest

    var page: TransactionsAsked { TransactionsAsked(size: 1, token: []) }

    var query: TransactionQuery {
        var query = TransactionQuery(limit: 1)
        query.productID = self.asked.productID
        query.isNewestFirst = true
        return query
    }

    func check() throws(CallRefusal) { try Check.present(self.asked.productID, "product_id") }

    func answer(_ page: TransactionPage, _ context: MethodContext) -> LatestTransaction {
        LatestTransaction(
            transaction: page.transactions.first, position: page.position,
            isNotInCatalog: page.transactions.isEmpty && context.app.catalogue.product(self.asked.productID) == nil)
    }
}
