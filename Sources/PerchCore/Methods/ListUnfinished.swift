import PerchModel
import PerchStore
import PerchWire

struct ListUnfinished: TransactionsMethod {
    let asked: ListUnfinishedRequest

    var page: TransactionsAsked { TransactionsAsked(size: self.asked.pageSize, token: self.asked.pageToken) }

    var query: TransactionQuery {
        var query = TransactionQuery(limit: 1)
        query.unfinishedOnly = true
        return query
    }

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    func answer(_ page: TransactionPage, _ context: MethodContext) -> TransactionPage { page }
}
