import PerchModel
import PerchStore

/// The results of a tick's plan, each with what is known to be missing, and the batch's own writes over them.
struct KnownReads {
    var accounts: [AccountKey: AccountNumber?] = [:]
    var records: [AccountNumber: AccountRecord?] = [:]
    var transactions: [ReadPlan.TransactionName: TransactionRow?] = [:]
    var answers: [MutationKey: KeptAnswer?] = [:]
    /// The facts of the commits that were last read.
    var facts: [UInt64: [StoredFact]] = [:]

    init() {}

    /// `rows` are those of the plan's commands, in their order.
    init(_ planned: [PlannedRead], _ rows: ArraySlice<Rows>) throws(StorageError) {
        for (read, rows) in zip(planned, rows) {
            switch read {
            case .keys(let keys):
                for key in keys { self.accounts[key] = .some(nil) }
                for row in 0..<rows.count {
                    let account = rows.uint64(row, 1)
                    self.accounts[keys[Int(rows.int64(row, 0)) - 1]] = account
                    if !rows.isNull(row, 2) {
                        self.records[account] = try PostgresStorage.record(rows.bytes(row, 2), of: account)
                    }
                }
            case .records(let accounts):
                for account in accounts { self.records[account] = .some(nil) }
                for row in 0..<rows.count {
                    let account = rows.uint64(row, 0)
                    self.records[account] = try PostgresStorage.record(rows.bytes(row, 1), of: account)
                }
            case .transactions(let names):
                for name in names { self.transactions[name] = .some(nil) }
                for row in 0..<rows.count {
                    let name = names[Int(rows.int64(row, 0)) - 1]
                    let found = try PostgresStorage.transaction(name, rows, row)
                    self.transactions[name] = found
                    if !rows.isNull(row, 2) {
                        self.records[found.account] = try PostgresStorage.record(rows.bytes(row, 2), of: found.account)
                    }
                }
            case .answers(let keys):
                for key in keys { self.answers[key] = .some(nil) }
                for row in 0..<rows.count {
                    let key = keys[Int(rows.int64(row, 0)) - 1]
                    self.answers[key] = try PostgresStorage.answer(rows.bytes(row, 1), to: key)
                }
            }
        }
    }

    /// A change of the batch.
    mutating func follow(_ change: StoredChange) {
        for (key, account) in change.aliases { self.accounts[key] = account }
        for key in change.side?.removedAliases ?? [] { self.accounts[key] = .some(nil) }
        for stored in change.records { self.records[stored.record.account] = stored.record }
        for key in change.side?.erasure?.answers ?? [] { self.answers[key] = .some(nil) }
        if change.side?.erasure != nil {
            self.transactions = [:]
            self.facts = [:]
        }
        if let keyed = change.answer?.value { self.answers[keyed.key] = keyed.answer }
        if !self.transactions.isEmpty, change.facts.contains(where: { $0.fact.rowWrite != nil }) {
            self.transactions = [:]
        }
    }
}

/// One command of a plan.
enum PlannedRead {
    case keys([AccountKey])
    case records([AccountNumber])
    case transactions([ReadPlan.TransactionName])
    case answers([MutationKey])

    var command: Command {
        switch self {
        case .keys(let keys):
            Command(.planKeys, [.integers(keys.map { Int64($0.app) }), .blobs(keys.map(\.bytes))])
        case .records(let accounts):
            Command(.planRecords, [.integers(accounts.map { Int64(clamping: $0) })])
        case .transactions(let names):
            Command(
                .planTransactions,
                [.integers(names.map { Int64($0.app) }), .integers(names.map { Int64(clamping: $0.id) })])
        case .answers(let keys):
            Command(.planAnswers, [.integers(keys.map { Int64($0.app) }), .blobs(keys.map(\.bytes))])
        }
    }
}

extension ReadPlan {
    /// The plan's reads, each thing once.
    var commands: [PlannedRead] {
        var reads: [PlannedRead] = []
        if !self.keys.isEmpty { reads.append(.keys(Array(Set(self.keys)))) }
        if !self.accounts.isEmpty { reads.append(.records(Array(Set(self.accounts)))) }
        if !self.transactions.isEmpty { reads.append(.transactions(Array(Set(self.transactions)))) }
        if !self.answers.isEmpty { reads.append(.answers(Array(Set(self.answers)))) }
        return reads
    }
}
