import PerchBase
package import PerchModel
package import PerchStore

// The rows of what entitles each account: see `Schema.statements`.
extension SQLiteStorage {
    package var keepsSources: Bool { true }

    package func sources(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> SourcesPage? {
        if !self.hasAllSources {
            if try self.lacksSources() { return nil }
            self.hasAllSources = true
        }
        var page = SourcesPage(next: end)
        try self.run(
            .sourcesFrom, [.integer(Int64(app)), .number(account), .number(end), .integer(Int64(limit))]
        ) { (row) throws(StorageError) in
            let (account, blob) = (row.uint64(0), row.bytes(1))
            let sources = try Self.unsealing("what entitles account \(account)") { () throws(DecodingFault) in
                try SourcesRow.unsealed(blob, of: account, app: app)
            }
            page.rows.append((account, sources))
            return true
        }
        if page.rows.count == limit, let last = page.rows.last { page.next = last.account + 1 }
        return page
    }

    func write(_ sources: [EntitlementSource], of account: AccountNumber, app: AppNumber) throws(StorageError) {
        guard !sources.isEmpty else {
            return try self.write(.deleteSources, [.integer(Int64(app)), .stored(account)])
        }
        let blob = SourcesRow.sealed(sources, of: account, app: app)
        try self.write(.setSources, [.integer(Int64(app)), .stored(account), .bytes(blob)])
    }

    package func lacksSources() throws(StorageError) -> Bool {
        try self.first(.sourcesToFill, []) { (_) throws(StorageError) in true } ?? false
    }

    /// Also rows of sources that have ended: the app's clock is not known here, and readers pass them over.
    package func fillSources(limit: Int) throws(StorageError) {
        guard let next = try self.first(.sourcesToFill, [], { (row) throws(StorageError) in row.uint64(0) }) else {
            return
        }
        let end = self.currentHeader.nextAccount
        let (records, rest) = try self.records(from: next, before: end, limit: limit)
        for record in records {
            let sources = record.entitlementSources(after: .distantPast)
            try self.write(sources, of: record.account, app: record.app)
        }
        try self.write(.deleteSourcesToFill, [])
        if rest < end { try self.write(.setSources, [.integer(0), .stored(rest), .null]) }
    }
}
