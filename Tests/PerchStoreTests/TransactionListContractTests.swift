import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

@Suite struct `Every storage's lists of transactions` {
    @Test(arguments: all)
    func `leave out finished consumables unless asked for or refunded`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let transactions = [
            ChangeBuilder.transaction(1, day: 1, type: .consumable),
            ChangeBuilder.transaction(2, day: 2, type: .consumable),
            ChangeBuilder.transaction(3, day: 3, type: .consumable),
            ChangeBuilder.transaction(4, day: 4, type: .nonConsumable),
            ChangeBuilder.transaction(5, day: 5, type: .autoRenewable),
        ]
        try store.write(builder.facts(1, transactions.map { .purchased($0, terms: nil) }))
        func list(_ change: (inout TransactionQuery) -> Void = { _ in }) throws -> [TransactionID] {
            var query = TransactionQuery(limit: 9)
            change(&query)
            return try store.storage.transactions(of: 1, query).map(\.transaction.id)
        }
        #expect(try list() == [1, 2, 3, 4, 5], "unfinished ones are there")
        // 1 is finished, 2 finished and then refunded, 3 refunded and then finished, 4 finished.
        let refunded = (2...3).map { ChangeBuilder.transaction($0, day: Int64($0), type: .consumable, isRevoked: true) }
        try store.write([
            builder.facts(1, [.finished(1), .finished(2), .finished(4), .revoked(refunded[1], fallback: nil)]),
            builder.facts(1, [.revoked(refunded[0], fallback: nil), .finished(3)]),
        ])
        #expect(try list() == [2, 3, 4, 5])
        #expect(try list { $0.includesFinishedConsumables = true } == [1, 2, 3, 4, 5])
        #expect(try list { $0.unfinishedOnly = true } == [5])
        #expect(try list { $0.isNewestFirst = true } == [5, 4, 3, 2])
        #expect(try store.storage.transaction(1, 2)?.isFinished == true, "a refund leaves it finished")
        // A reversed refund: the transaction is a finished consumable again.
        try store.write(builder.facts(1, [.upgradedFrom(transactions[1])]))
        #expect(try list() == [3, 4, 5])
    }

    @Test(arguments: all)
    func `every storage's lists of transactions are of one product where one is named`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let transactions = ["pro", "coins", "pro", "Pro"].enumerated().map {
            ChangeBuilder.transaction(TransactionID($0.offset + 1), product: $0.element)
        }
        try store.write(builder.facts(1, transactions.map { .purchased($0, terms: nil) } + [.finished(1)]))
        var query = TransactionQuery(limit: 9)
        query.productID = "pro"
        #expect(try store.storage.transactions(of: 1, query).map(\.transaction.id) == [1, 3])
        query.unfinishedOnly = true
        #expect(try store.storage.transactions(of: 1, query).map(\.transaction.id) == [3])
        query.productID = "none"
        #expect(try store.storage.transactions(of: 1, query) == [])
    }

    @Test(arguments: all)
    func `go on exactly after a place, also between equal dates, in both directions`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let days: [Int64] = [1, 1, 1, 0, 2, 1, 2, 0]
        let transactions = days.enumerated().map { index, day in
            ChangeBuilder.transaction(TransactionID(index + 1), day: day)
        }
        try store.write(builder.facts(1, transactions.map { .purchased($0, terms: nil) }))
        let oldestFirst: [TransactionID] = [4, 8, 1, 2, 3, 6, 5, 7]
        for isNewestFirst in [false, true] {
            let order = isNewestFirst ? oldestFirst.reversed() : oldestFirst
            for (index, id) in order.enumerated() {
                var query = TransactionQuery(limit: 3)
                query.isNewestFirst = isNewestFirst
                query.after = TransactionQuery.Place(
                    purchaseDate: transactions[Int(id) - 1].purchaseDate, id: id)
                let page = try store.storage.transactions(of: 1, query).map(\.transaction.id)
                #expect(page == Array(order.dropFirst(index + 1).prefix(3)), "after \(id)")
            }
        }
    }

    @Test(arguments: all)
    func `go on after a place where nothing is, and after one beyond all numbers`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try implementation.make()
        var builder = ChangeBuilder()
        let transactions = [1, 3, 5].map { ChangeBuilder.transaction($0) }
        try store.write(builder.facts(1, transactions.map { .purchased($0, terms: nil) }))
        func list(after id: TransactionID, at date: Instant, isNewestFirst: Bool) throws -> [TransactionID] {
            var query = TransactionQuery(limit: 9)
            query.isNewestFirst = isNewestFirst
            query.after = TransactionQuery.Place(purchaseDate: date, id: id)
            return try store.storage.transactions(of: 1, query).map(\.transaction.id)
        }
        let date = ChangeBuilder.start
        #expect(try list(after: 2, at: date, isNewestFirst: false) == [3, 5])
        #expect(try list(after: 4, at: date, isNewestFirst: true) == [3, 1])
        #expect(try list(after: .max, at: date, isNewestFirst: false) == [])
        #expect(try list(after: .max, at: date, isNewestFirst: true) == [5, 3, 1])
        #expect(try list(after: 0, at: .distantPast, isNewestFirst: false) == [1, 3, 5])
        #expect(try list(after: .max, at: .distantFuture, isNewestFirst: true) == [5, 3, 1])
        #expect(try list(after: 0, at: .distantPast, isNewestFirst: true) == [])
    }

    @Test(arguments: all)
    func `give the same whole in pages of any size`(_ implementation: StorageImplementation) throws {
        let store = try implementation.make()
        var script = StorageScript(seed: 21)
        try store.write((0..<480).map { _ in script.change() })
        let account = try #require(
            script.accounts.map(\.account).max { left, right in
                script.rows.count { $0.account == left } < script.rows.count { $0.account == right }
            })
        let rows = (script.rows + script.reportedRows).filter { $0.account == account }
        try #require(rows.count > 10)
        for isNewestFirst in [false, true] {
            for product in [nil, "coins", "pro"] {
                for kind in 0..<3 {
                    var query = TransactionQuery(limit: 0)
                    query.isNewestFirst = isNewestFirst
                    query.productID = product
                    query.unfinishedOnly = kind == 1
                    query.includesFinishedConsumables = kind == 2
                    let whole = rows.filter(query.includes).sorted { left, right in
                        let (a, b) = (left.transaction, right.transaction)
                        let isBefore = (a.purchaseDate, a.id) < (b.purchaseDate, b.id)
                        return isNewestFirst ? !isBefore && a.id != b.id : isBefore
                    }
                    for size in [1, 2, 3, 100] {
                        query.limit = size
                        query.after = nil
                        var listed: [TransactionRow] = []
                        while true {
                            let page = try store.storage.transactions(of: account, query)
                            listed += page
                            guard page.count == size, let last = page.last?.transaction else { break }
                            query.after = TransactionQuery.Place(purchaseDate: last.purchaseDate, id: last.id)
                        }
                        #expect(listed == whole, "\(query)")
                    }
                }
            }
        }
    }
}
