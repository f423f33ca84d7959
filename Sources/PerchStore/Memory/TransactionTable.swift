import PerchModel

/// Transaction rows by app and ID.
///
/// This store numbers its own transactions one after the other, for all apps together. Their rows stand in an array, and a
/// lookup is an index. Rows whose ID another store has given are in a dictionary.
struct TransactionTable {
    /// The app is the last field but one, because it fits into padding there.
    struct Row {
        var account: AccountNumber
        var transaction: Transaction
        var app: AppNumber
        var isFinished: Bool

        var asTransactionRow: TransactionRow {
            TransactionRow(account: self.account, transaction: self.transaction, isFinished: self.isFinished)
        }
    }

    private struct Key: Hashable {
        var app: AppNumber
        var id: TransactionID
    }

    private var own = PagedLog<Row?>()
    private var others: [Key: Row] = [:]

    func destroy() { self.own.destroy() }

    subscript(app: AppNumber, id: TransactionID) -> Row? {
        if id < UInt64(self.own.count), let row = self.own[Int(id)], row.app == app { return row }
        return self.others.isEmpty ? nil : self.others[Key(app: app, id: id)]
    }

    /// Adds a row that is not there yet. `isOwn`: this store has given its ID.
    mutating func insert(_ row: Row, isOwn: Bool) {
        let id = row.transaction.id
        guard isOwn, id >= UInt64(self.own.count) || self.own[Int(id)] == nil else {
            self.others[Key(app: row.app, id: id)] = row
            return
        }
        while UInt64(self.own.count) <= id { self.own.append(nil) }
        self.own[Int(id)] = row
    }

    /// Replaces or removes an existing row.
    mutating func replace(_ app: AppNumber, _ id: TransactionID, with row: Row?) {
        if id < UInt64(self.own.count), self.own[Int(id)]?.app == app {
            self.own[Int(id)] = row
        } else {
            self.others[Key(app: app, id: id)] = row
        }
    }
}
