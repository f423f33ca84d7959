import PerchBase
import PerchModel

// Finding customers by any name, and the notes beside them.
extension StoreEngine {
    // MARK: Customers

    /// Whole names first, then keys that begin with the text, then those that do so in other capitals. Reads a number of rows that only the limit bounds.
    func customers(_ sought: CustomersSought, _ app: AppNumber) throws(StorageError) -> StoreAnswer {
        var found = FoundNames(sought)
        try self.findKey(&found, app)
        try self.findEmail(&found, app)
        try self.findPurchase(&found, app)
        try self.findAlias(&found, app)
        var hasMore = try self.findPrefix(&found, app)
        if !hasMore { hasMore = try self.findInOtherCapitals(&found, app) }
        return .customers(found.names, hasMore: hasMore)
    }

    private func findKey(_ found: inout FoundNames, _ app: AppNumber) throws(StorageError) {
        guard found.seeks(.account) || found.seeks(.alias) else { return }
        let key = AccountKey(app: app, bytes: Array(found.text.utf8))
        guard let account = try self.account(withOwn: key) else { return }
        try self.add(account, by: key.bytes, &found)
    }

    /// An account by one of its keys: by its own, or by an alias.
    private func add(
        _ account: AccountNumber, by key: [UInt8], _ found: inout FoundNames
    ) throws(StorageError) {
        guard let first = try self.storage.key(of: account) else { return }
        let kind: CustomerNameKind = first == key ? .account : .alias
        if found.seeks(kind) {
            found.add(FoundName(key: first, kind: kind, name: String(decoding: key, as: UTF8.self)))
        }
    }

    private func findEmail(_ found: inout FoundNames, _ app: AppNumber) throws(StorageError) {
        guard found.seeks(.emailHash), let hash = EmailHash.hash(of: found.text) else { return }
        for key in [AccountKey.email(hash, app: app), AccountKey(app: app, bytes: Array(hash.description.utf8))] {
            guard let account = try self.account(withOwn: key), let first = try self.storage.key(of: account) else {
                continue
            }
            found.add(FoundName(key: first, kind: .emailHash, name: hash.description))
        }
    }

    private func findPurchase(_ found: inout FoundNames, _ app: AppNumber) throws(StorageError) {
        if let id = TransactionID(found.text), id <= TransactionID.max >> 1 {
            let row = try self.storage.transaction(app, id)
            var account = row?.account
            for key in [AccountKey.original(id, app: app), .otherTransaction(id, app: app)] where account == nil {
                account = try self.storage.account(key)
            }
            if let account {
                let original = row?.transaction.originalID ?? id
                let kinds: [CustomerNameKind] = original == id ? [.originalTransaction, .transaction] : [.transaction]
                if let kind = kinds.first(where: found.seeks) { try self.add(account, kind, original, &found) }
                // A test store gives each transaction an order of the same number.
                if let row, row.transaction.webOrderLineItemID == found.text, found.seeks(.order) {
                    try self.add(account, .order, original, &found)
                }
            }
        }
        guard found.seeks(.order) else { return }
        let orders = try self.storage.items(
            .order, group: ItemKey.orderGroup(found.text, app: app), after: [], limit: found.limit)
        try self.add(ownersOf: orders, .order, app, &found)
    }

    private func findAlias(_ found: inout FoundNames, _ app: AppNumber) throws(StorageError) {
        var aliases: [(CustomerNameKind, AccountAlias)] = []
        if AccountToken(found.text) != nil {
            aliases.append((.appAccountToken, .appAccountToken(WrittenAccountToken(found.text).text)))
        }
        aliases.append((.appTransaction, .appTransactionID(found.text)))
        for (kind, alias) in aliases where found.seeks(kind) {
            if let account = try self.storage.account(.attached(alias, app: app)) {
                try self.add(account, kind, nil, &found)
            }
            if case .appAccountToken(let token) = alias,
                let account = try self.account(withOwn: .token(token, app: app))
            {
                try self.add(account, kind, nil, &found)
            }
            let links = try self.storage.items(
                .link, group: ItemKey.linkGroup(alias, app: app), after: [], limit: found.limit)
            try self.add(ownersOf: links, kind, app, &found)
        }
    }

    private func add(
        ownersOf items: [StoredItem], _ kind: CustomerNameKind, _ app: AppNumber, _ found: inout FoundNames
    ) throws(StorageError) {
        for id in items.map(\.key.linkedOriginal) {
            guard let account = try self.storage.account(.original(id, app: app)) else { continue }
            try self.add(account, kind, id, &found)
        }
    }

    /// An account that something of its purchases leads to; not one whose purchases went to another.
    private func add(
        _ account: AccountNumber, _ kind: CustomerNameKind, _ original: TransactionID?, _ found: inout FoundNames
    ) throws(StorageError) {
        let key = try self.storage.key(of: account)
        if key == nil, try self.record(account)?.reported?.isUnclaimed != true { return }
        found.add(FoundName(key: key ?? [], kind: kind, name: found.text, original: original))
    }

    /// Keys that begin with the text. True: there are more.
    private func findPrefix(_ found: inout FoundNames, _ app: AppNumber) throws(StorageError) -> Bool {
        guard found.seeks(.account) || found.seeks(.alias) else { return false }
        let start = Array(found.text.utf8)
        let keys = try self.storage.keys(of: app, after: start, limit: found.limit + 1)
        for key in keys.prefix(while: { $0.starts(with: start) }) {
            guard !found.isFull else { return true }
            guard let account = try self.storage.account(AccountKey(app: app, bytes: key)) else { continue }
            try self.add(account, by: key, &found)
        }
        // Several keys may be of one customer, or of a kind that nobody asked for.
        return keys.count > found.limit && keys.allSatisfy { $0.starts(with: start) }
    }

    /// Keys that begin with the text if capitals do not count. True: there may be more.
    private func findInOtherCapitals(_ found: inout FoundNames, _ app: AppNumber) throws(StorageError) -> Bool {
        guard found.seeks(.account) || found.seeks(.alias) else { return false }
        let (start, spellings) = (Array(found.text.utf8), NameSpellings(found.text))
        var place = NameSpellings.place(before: spellings.first)
        for _ in 0..<Limits.customerPlacesMax {
            let keys = try self.storage.keys(of: app, after: place, limit: Limits.customerKeysAtOnce)
            guard let last = keys.last else { return false }
            place = last
            for key in keys {
                guard let spelling = spellings.least(from: key) else { return false }
                guard key.starts(with: spelling) else {
                    place = NameSpellings.place(before: spelling)
                    break
                }
                if spelling == start {
                    // The search before has told these.
                    place = start + [0xFF]
                    break
                }
                guard !found.isFull else { return true }
                guard let account = try self.storage.account(AccountKey(app: app, bytes: key)) else { continue }
                try self.add(account, by: key, &found)
            }
        }
        return true
    }

    // MARK: Notes

    func notes(of account: AccountNumber, _ app: AppNumber) throws(StorageError) -> [CustomerNote] {
        let group = ItemKey.noteGroup(of: account, app: app)
        return try self.storage.items(.note, group: group, after: [], limit: Limits.notesMax).compactMap {
            CustomerNote($0)
        }
    }

    func note(
        _ text: String, by author: String, on key: AccountKey, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        guard let account = try self.account(key, work) else { return Self.noAccountToNote }
        let app = work.app.number
        let count = try self.storage.itemCount(.note, group: ItemKey.noteGroup(of: account, app: app))
        guard count < Limits.notesMax else {
            return Refusal(
                .recordLimit, "the account has \(count) notes, the limit is \(Limits.notesMax); delete some",
                found: Int64(count), limit: Int64(Limits.notesMax))
        }
        let note = CustomerNote(id: work.revision, at: work.now, author: author, text: text)
        work.side.items.append(note.item(of: account, app: app))
        (work.noted, work.made) = (account, work.revision)
        return nil
    }

    func dropNote(
        _ id: UInt64, of key: AccountKey, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        guard let account = try self.account(key, work) else { return Self.noAccountToNote }
        let place = ItemKey.note(id, of: account, app: work.app.number)
        guard try self.storage.item(place) != nil else { return nil }
        work.side.removedItems.append(place)
        work.noted = account
        return nil
    }

    /// Gives the notes of an account to the one that it is merged into: within the limit for one account.
    func moveNotes(
        of source: AccountNumber, to target: AccountNumber, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        let app = work.app.number
        var count = 0
        for account in [source, target] {
            count += try self.storage.itemCount(.note, group: ItemKey.noteGroup(of: account, app: app))
        }
        guard count <= Limits.notesMax else {
            return Refusal(
                .recordLimit,
                "the two accounts have \(count) notes, the limit for one is \(Limits.notesMax); delete some first",
                found: Int64(count), limit: Int64(Limits.notesMax))
        }
        for note in try self.notes(of: source, app) {
            work.side.removedItems.append(.note(note.id, of: source, app: app))
            work.side.items.append(note.item(of: target, app: app))
        }
        return nil
    }

    private static let noAccountToNote = Refusal(
        .accountUnknown, "there is no such account; a purchase, a report or a grant opens one")
}

/// What a search has found so far: each account once, by the first name that matched.
private struct FoundNames {
    let text: String
    let limit: Int
    private let kinds: Set<CustomerNameKind>
    private(set) var names: [FoundName] = []

    init(_ sought: CustomersSought) {
        self.text = sought.text
        self.limit = sought.limit
        self.kinds = sought.kinds
    }

    func seeks(_ kind: CustomerNameKind) -> Bool { self.kinds.isEmpty || self.kinds.contains(kind) }

    var isFull: Bool { self.names.count >= self.limit }

    mutating func add(_ name: FoundName) {
        let isKnown = self.names.contains { known in
            name.key.isEmpty ? known.key.isEmpty && known.original == name.original : known.key == name.key
        }
        if !isKnown, !self.isFull { self.names.append(name) }
    }
}

extension CustomerNote {
    func item(of account: AccountNumber, app: AppNumber) -> StoredItem {
        var writer = ByteWriter()
        writer.write(self.at.milliseconds)
        writer.write(self.author)
        writer.write(self.text)
        return StoredItem(.note(self.id, of: account, app: app), writer.bytes)
    }

    /// Nil if it is damaged, which its checksum would have shown before.
    fileprivate init?(_ item: StoredItem) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            self.init(
                id: AuditEntry.revision(of: item.key), at: Instant(milliseconds: try reader.int64()),
                author: try reader.string(), text: try reader.string())
        } catch {
            return nil
        }
    }
}
