import PerchModel

// Exporting an account: what the store has of it, for the customer or for another system.
extension StoreEngine {
    func export(_ key: AccountKey, _ query: TransactionQuery) throws(StorageError) -> ExportedAccount? {
        guard let account = try self.account(of: key), let record = try self.record(account) else { return nil }
        var query = query
        query.limit += 1
        var rows = try self.storage.transactions(of: account, query)
        let hasMore = rows.count == query.limit
        if hasMore { rows.removeLast() }
        let names = try self.storage.names(of: account)
        var aliases = Set(names.compactMap(\.attachedAlias))
        for original in (record.reported?.originals ?? []) + (try self.archivedOriginals(of: account, key.app)) {
            aliases.formUnion(original.links.aliases.keys)
        }
        return ExportedAccount(
            record: record, keys: names.lazy.filter { !$0.isInternal }.map(\.bytes), aliases: aliases.sorted(),
            emailHashes: names.compactMap(\.emailHash), rows: rows, hasMore: hasMore,
            notes: try self.notes(of: account, key.app))
    }
}
