package import PerchBase
package import PerchModel
package import PerchStore

/// A seeded sequence of changes as a store makes them, and the questions about them.
///
/// A value: a copy from before a batch describes the store at that time.
package struct StorageScript: Sendable {
    package var random: SeededRandom
    package private(set) var revision: UInt64 = 0
    package private(set) var accounts: [AccountRecord] = []
    package private(set) var keys: [AccountKey] = []
    package private(set) var answerKeys: [MutationKey] = []
    package private(set) var rows: [TransactionRow] = []
    /// Transactions of App Store apps. Few IDs, the same in both apps, so that most are written again, often for another account.
    package private(set) var reportedRows: [TransactionRow] = []
    /// Every item that was ever written.
    package private(set) var itemKeys: Set<ItemKey> = []
    private var dueInstants: [AccountNumber: Instant] = [:]
    private var crossings: [AccountNumber: Set<Instant>] = [:]
    private var catalogues: [AppNumber: (revision: UInt64, catalogue: Catalogue)] = [:]
    private var clock: Int64 = 0

    /// Whether there are App Store apps, items, and keys that move. A store of an earlier schema has none.
    private let isTold: Bool

    package init(seed: UInt64, isTold: Bool = true) {
        self.random = SeededRandom(seed: seed)
        self.isTold = isTold
    }

    /// Two apps, few purchase dates and few due instants, so that many are equal.
    package static let apps: [AppNumber] = [1, 2]
    package static let days = (0..<6).map { Instant(milliseconds: 1_700_000_000_000 + $0 * 86_400_000) }

    /// One revision with up to `size` changes.
    package mutating func change(size: Int = 4) -> StoredChange {
        self.revision += 1
        self.clock += Int64(self.random.below(3))
        var change = StoredChange(
            revision: self.revision, committed: Instant(milliseconds: 1_000 + self.clock),
            app: self.random.element(Self.apps), nextTransaction: 1, nextAccount: 1)
        for _ in 0...self.random.below(size) {
            switch self.random.below(self.isTold ? 16 : 12) {
            case 0, 1: self.openAccount(in: &change)
            case 2...5: self.insertTransaction(in: &change)
            case 6: self.updateTransaction(in: &change)
            case 7: self.finishTransaction(in: &change)
            case 8: self.addFact(in: &change)
            case 9: self.revokeToken(in: &change)
            case 10: self.changeApp(in: &change)
            case 12: self.tellTransaction(in: &change)
            case 13: self.loseTransaction(in: &change)
            case 14: self.changeItem(in: &change)
            case 15: self.changeAlias(in: &change)
            default: self.keepAnswer(in: &change)
            }
        }
        change.nextTransaction = TransactionID(self.rows.count + 1)
        change.nextAccount = AccountNumber(self.accounts.count + 1)
        return change
    }

    private mutating func openAccount(in change: inout StoredChange) {
        let number = AccountNumber(self.accounts.count + 1)
        let record = AccountRecord(account: number, app: change.appNumber)
        self.accounts.append(record)
        let key = AccountKey(app: record.app, bytes: Array("user-\(number)".utf8))
        self.keys.append(key)
        change.aliases.append((key, number))
        change.facts.append(self.fact(.opened(appTransactionID: self.random.string()), number))
        self.touch(record, in: &change)
    }

    private mutating func insertTransaction(in change: inout StoredChange) {
        guard let record = self.anyAccount(of: change.appNumber) else { return }
        var transaction = self.random.transaction()
        transaction.id = TransactionID(self.rows.count + 1)
        self.shape(&transaction)
        transaction.revocation = nil
        let terms = self.random.optional { Boxed($0.lineTerms()) }
        change.facts.append(self.fact(.purchased(transaction, terms: terms), record.account))
        self.rows.append(TransactionRow(account: record.account, transaction: transaction, isFinished: false))
        self.touch(record, in: &change)
    }

    private mutating func updateTransaction(in change: inout StoredChange) {
        guard let index = self.anyRow(of: change.appNumber) else { return }
        var transaction = self.random.transaction()
        transaction.id = self.rows[index].transaction.id
        self.shape(&transaction)
        self.rows[index].transaction = transaction
        let body: Fact.Body = self.random.bool() ? .revoked(transaction, fallback: nil) : .upgradedFrom(transaction)
        change.facts.append(self.fact(body, self.rows[index].account))
    }

    private mutating func finishTransaction(in change: inout StoredChange) {
        guard let index = self.anyRow(of: change.appNumber) else { return }
        self.rows[index].isFinished = true
        change.facts.append(self.fact(.finished(self.rows[index].transaction.id), self.rows[index].account))
    }

    private mutating func addFact(in change: inout StoredChange) {
        guard let record = self.anyAccount(of: change.appNumber) else { return }
        let body = Fact.Body.autoRenewSet(original: self.random.uint64(), isOn: true, preference: self.random.string())
        change.facts.append(self.fact(body, record.account))
        self.touch(record, in: &change)
    }

    private mutating func changeApp(in change: inout StoredChange) {
        // One revision changes an app once.
        guard change.app == nil else { return }
        let app = change.appNumber
        if self.catalogues[app] == nil || self.random.bool() {
            self.catalogues[app] = (self.revision, self.random.catalogue())
        }
        guard let catalogue = self.catalogues[app] else { return }
        let state = AppState(
            number: app, bundleID: "app.\(app)", environment: .xcode, revision: self.revision,
            effective: Instant(milliseconds: self.clock), committed: change.committed,
            catalogue: catalogue.catalogue, catalogueRevision: catalogue.revision,
            catalogueSource: self.random.string(), settings: self.random.settings(), clock: self.random.clock())
        change.app = StoredAppState(state: state, fileSettings: self.random.settings())
        change.appCause = .setting
    }

    private mutating func tellTransaction(in change: inout StoredChange) {
        guard let record = self.anyAccount(of: change.appNumber) else { return }
        var transaction = self.random.transaction()
        transaction.id = Self.reportedIDs + TransactionID(self.random.below(12))
        transaction.originalID = transaction.id
        self.shape(&transaction)
        var original = ReportedOriginal(id: transaction.id)
        let reported: ReportedFact
        if self.random.bool(), let report = original.fact(of: transaction, content: self.random.digest()) {
            reported = .transaction(report)
        } else {
            _ = original.fold(
                transaction, stamp: ReportStamp(signed: transaction.signedDate, content: self.random.digest()))
            reported = .gained(original, from: 0)
        }
        change.facts.append(self.fact(.reported(reported), record.account))
        self.removeReported(transaction.id, of: change.appNumber)
        self.reportedRows.append(TransactionRow(account: record.account, transaction: transaction, isFinished: false))
        self.touch(record, in: &change)
    }

    /// Sometimes of an account that does not have the transaction, which changes nothing.
    private mutating func loseTransaction(in change: inout StoredChange) {
        guard let record = self.anyAccount(of: change.appNumber) else { return }
        let id = Self.reportedIDs + TransactionID(self.random.below(12))
        change.facts.append(self.fact(.reported(.lost(id, rows: [id])), record.account))
        self.reportedRows.removeAll { $0.transaction.id == id && $0.account == record.account }
        self.touch(record, in: &change)
    }

    private mutating func removeReported(_ id: TransactionID, of app: AppNumber) {
        let accounts = self.accounts
        self.reportedRows.removeAll { $0.transaction.id == id && accounts[Int($0.account) - 1].app == app }
    }

    private static let reportedIDs: TransactionID = 1_000_000

    private mutating func changeItem(in change: inout StoredChange) {
        var side = change.side ?? SideWrites()
        let key = ItemKey(
            self.random.element([.link, .deadLetter]), group: self.random.bytes(upTo: 1),
            key: self.random.bytes(upTo: 2))
        self.itemKeys.insert(key)
        if self.random.below(3) > 0 {
            side.items.append(StoredItem(key, self.random.bytes(upTo: 2_000)))
        } else {
            side.removedItems.append(key)
        }
        change.side = side
    }

    /// A key that names another account from now on, or none.
    private mutating func changeAlias(in change: inout StoredChange) {
        let app = change.appNumber
        let keys = self.keys.filter { $0.app == app }
        guard let record = self.anyAccount(of: app), !keys.isEmpty else { return }
        let key = self.random.element(keys)
        if self.random.bool() {
            change.aliases.append((key, record.account))
        } else {
            var side = change.side ?? SideWrites()
            side.removedAliases.append(key)
            change.side = side
        }
    }

    private mutating func revokeToken(in change: inout StoredChange) {
        change.revoked.append(
            RevokedToken(id: self.random.element(["a", "b", "c"]), expires: self.random.element(Self.days)))
    }

    private mutating func keepAnswer(in change: inout StoredChange) {
        let key = MutationKey(app: self.random.element(Self.apps), bytes: self.random.bytes(upTo: 3))
        if !self.answerKeys.contains(key) { self.answerKeys.append(key) }
        var answer = self.random.keptAnswer()
        answer.kept = self.random.element(Self.days)
        change.answer = Boxed(KeyedAnswer(key: key, answer: answer))
    }

    private mutating func shape(_ transaction: inout Transaction) {
        transaction.purchaseDate = self.random.element(Self.days)
        transaction.productID = self.random.element(["coins", "pro", "monthly"])
        if self.random.bool() { transaction.productType = .consumable }
    }

    private mutating func fact(_ body: Fact.Body, _ account: AccountNumber) -> StoredFact {
        StoredFact(
            account: account, fact: Fact(body, effective: self.random.instant()),
            origin: self.random.bytes(upTo: 3))
    }

    private mutating func anyAccount(of app: AppNumber) -> AccountRecord? {
        let accounts = self.accounts.filter { $0.app == app }
        return accounts.isEmpty ? nil : self.random.element(accounts)
    }

    private mutating func anyRow(of app: AppNumber) -> Int? {
        let places = self.rows.indices.filter { self.app(of: self.rows[$0]) == app }
        return places.isEmpty ? nil : self.random.element(places)
    }

    package func app(of row: TransactionRow) -> AppNumber { self.accounts[Int(row.account) - 1].app }

    /// A new record of an account, and sometimes another due instant. A revision writes each record once.
    private mutating func touch(_ record: AccountRecord, in change: inout StoredChange) {
        guard !change.records.contains(where: { $0.record.account == record.account }) else { return }
        var record = record
        record.revision = self.revision
        record.committed = change.committed
        record.lines = self.random.array(upTo: 2) { $0.line() }
        self.accounts[Int(record.account) - 1] = record
        let previous = self.dueInstants[record.account]
        let due = self.random.bool() ? previous : self.random.optional { $0.element(Self.days) }
        self.dueInstants[record.account] = due
        change.records.append(StoredRecord(record, due: due, previousDue: previous))
        let (before, after) = (
            self.crossings[record.account] ?? [], Set(self.random.array(upTo: 2) { $0.element(Self.days) })
        )
        self.crossings[record.account] = after
        if before != after {
            change.crossings.append(
                CrossingMoves(
                    account: record.account, removed: before.subtracting(after).sorted(),
                    added: after.subtracting(before).sorted()))
        }
    }
}

extension Storage {
    /// All answers of this store about the changes of a script. Two stores with the same content have equal answers.
    package func transcript(of script: StorageScript) throws(StorageError) -> [String] {
        func digest(_ bytes: [UInt8]?) -> String { bytes.map { Digest(of: $0).description } ?? "none" }
        func rows(_ rows: [TransactionRow]) -> String {
            rows.map { "\($0.transaction.id)\($0.isFinished ? "f" : "")" }.joined(separator: " ")
        }
        var lines = ["header \(try self.header())"]
        for state in try self.appStates() {
            lines.append("app \(state.state.number) newest \(digest(state.sealed()))")
        }
        for app in StorageScript.apps {
            for effective in stride(from: Int64(-1), through: 60, by: 4) {
                let state = try self.appState(app, inForceAt: Instant(milliseconds: effective))
                let catalogue = state.map { $0.state.catalogue.sealed(app: app, revision: 0) }
                lines.append("app \(app) at \(effective): \(digest(state?.sealed())) \(digest(catalogue))")
            }
            let due = try self.due(app, through: .distantFuture, limit: 10_000)
            lines.append("due \(app): \(due.map { "\($0.instant.milliseconds)/\($0.account)" })")
            lines.append("earliest \(app): \(String(describing: try self.earliestDue(app)))")
            lines += try self.transcriptOfCrossings(app)
            let keys = try self.keys(of: app, after: [], limit: 10_000)
            lines.append("keys of \(app): \(keys)")
            for (index, key) in keys.enumerated() {
                let next = try self.keys(of: app, after: key, limit: 2)
                lines.append("keys after \(key): \(next) \(next == Array(keys.dropFirst(index + 1).prefix(2)))")
            }
        }
        for key in script.keys { lines.append("alias \(key.bytes): \(try self.account(key) ?? 0)") }
        for key in script.answerKeys {
            lines.append("answer \(key.app) \(key.bytes): \(digest(try self.answer(to: key)?.sealed(to: key)))")
        }
        for row in script.rows {
            let found = try self.transaction(script.app(of: row), row.transaction.id)
            let blob = found.map { $0.transaction.sealed(account: $0.account) }
            lines.append("row \(row.transaction.id): \(digest(blob)) \(found?.isFinished ?? false)")
        }
        lines += try self.toldTranscript(of: script)
        lines.append("revoked \(try self.revokedTokens())")
        for revision in 0...script.revision + 1 {
            lines.append("commit \(revision): \(String(describing: try self.commitTime(of: revision)))")
        }
        for revision in 0...script.revision {
            let facts = try self.facts(ofRevision: revision).map { "\($0.account) \($0.fact.cause) \($0.origin)" }
            lines.append("facts of revision \(revision): \(facts)")
            let rows = try self.commitRows(after: revision, limit: 2) ?? []
            lines.append("rows after \(revision): \(rows.map { "\($0.revision) \($0.app) \($0.committed)" })")
        }
        for account in script.accounts.map(\.account) {
            lines.append("key of \(account): \(try self.key(of: account) ?? [])")
            lines.append("record \(account): \(digest(try self.record(account)?.sealed()))")
            for revision in [0, script.revision / 2, script.revision] {
                let facts = try self.facts(of: account, after: 0, through: revision, limit: 10_000)
                lines.append("facts of \(account) through \(revision): \(facts.map(\.revision)) \(facts.count)")
            }
            for isNewestFirst in [false, true] {
                var query = TransactionQuery(limit: 10_000)
                query.isNewestFirst = isNewestFirst
                lines.append("list \(account): \(rows(try self.transactions(of: account, query)))")
                query.productID = "coins"
                lines.append("coins \(account): \(rows(try self.transactions(of: account, query)))")
                query.productID = nil
                query.includesFinishedConsumables = true
                lines.append("all \(account): \(rows(try self.transactions(of: account, query)))")
                query.unfinishedOnly = true
                lines.append("unfinished \(account): \(rows(try self.transactions(of: account, query)))")
            }
            let facts = try self.facts(of: account)
            lines.append("facts \(account): \(facts.map { "\($0.effective.milliseconds) \($0.cause)" })")
            let start = EventPlace(revision: 0, ordinal: 0)
            for event in try self.events(of: account, after: start, limit: 10_000) {
                lines.append(
                    "event \(account) \(event.place.revision)/\(event.place.ordinal) at \(event.committed) \(event.kind) "
                        + "\(event.origin) \(digest(event.transaction.sealed(account: account)))")
            }
        }
        return lines
    }

    private func transcriptOfCrossings(_ app: AppNumber) throws(StorageError) -> [String] {
        var lines: [String] = []
        let first = DueEntry(instant: .distantPast, account: 0)
        let crossings = try self.crossings(app, after: first, through: .distantFuture, limit: 10_000)
        lines.append("crossings \(app): \(crossings.map { "\($0.instant.milliseconds)/\($0.account)" })")
        for entry in crossings {
            let next = try self.crossings(app, after: entry, through: StorageScript.days[3], limit: 2)
            lines.append("crossings after \(entry.instant.milliseconds)/\(entry.account): \(next)")
        }
        return lines
    }

    /// The answers about App Store apps and items.
    private func toldTranscript(of script: StorageScript) throws(StorageError) -> [String] {
        func digest(_ bytes: [UInt8]?) -> String { bytes.map { Digest(of: $0).description } ?? "none" }
        var lines: [String] = []
        for row in script.reportedRows {
            let found = try self.transaction(script.app(of: row), row.transaction.id)
            let blob = found.map { $0.transaction.sealed(account: $0.account) }
            lines.append("told \(row.transaction.id) of \(found?.account ?? 0): \(digest(blob))")
        }
        for key in script.itemKeys.sorted(by: { "\($0)" < "\($1)" }) {
            let listed = try self.items(key.kind, group: key.group, after: key.key, limit: 10_000).map(\.key.key)
            let count = try self.itemCount(key.kind, group: key.group)
            lines.append("item \(key): \(digest(try self.item(key)?.value)), then \(listed) of \(count)")
        }
        return lines
    }
}
