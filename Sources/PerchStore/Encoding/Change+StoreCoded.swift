import PerchBase
package import PerchModel

/// The parts of a change that its commit row keeps, because no fact and no record holds them.
///
/// `Storage.changes(after:limit:)` needs them. Most changes have none: their rows hold no blob.
package struct CommitDetail: Sendable {
    package var aliases: [(key: AccountKey, account: AccountNumber)] = []
    /// The cause of the app's change; unspecified if the change has no app state.
    package var appCause = Cause.unspecified
    package var revoked: [RevokedToken] = []

    /// Nil for a change without such parts.
    package init?(of change: StoredChange) {
        guard !change.aliases.isEmpty || change.app != nil || !change.revoked.isEmpty else { return nil }
        self.init(partsOf: change)
    }

    fileprivate init(partsOf change: StoredChange) {
        self.aliases = change.aliases
        self.appCause = change.appCause
        self.revoked = change.revoked
    }

    package func sealed(revision: UInt64) -> [UInt8] {
        SealedBlob.seal(.commit(revision)) { self.write(to: &$0) }
    }

    package init(unsealing bytes: [UInt8], revision: UInt64) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .commit(revision)) { (reader) throws(DecodingFault) in
            try CommitDetail(from: &reader)
        }
    }
}

extension CommitDetail: Hashable {
    package static func == (left: CommitDetail, right: CommitDetail) -> Bool {
        left.aliases.elementsEqual(right.aliases) { $0 == $1 } && left.appCause == right.appCause
            && left.revoked == right.revoked
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.appCause)
        hasher.combine(self.revoked)
    }

    var isEmpty: Bool { self.aliases.isEmpty && self.appCause == .unspecified && self.revoked.isEmpty }

    /// Without the keys of some accounts; nil if nothing is left.
    func without(_ accounts: Set<AccountNumber>) -> CommitDetail? {
        var rest = self
        rest.aliases.removeAll { accounts.contains($0.account) }
        return rest.isEmpty ? nil : rest
    }
}

extension CommitDetail: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(UInt64(self.aliases.count))
        for (key, account) in self.aliases {
            writer.write(key.app)
            writer.write(key.bytes)
            writer.write(account)
        }
        self.appCause.write(to: &writer)
        writer.write(UInt64(self.revoked.count))
        for token in self.revoked {
            writer.write(token.id)
            writer.write(token.expires)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        for _ in 0..<(try reader.uint64()) {
            let key = AccountKey(app: try reader.uint32(), bytes: try reader.blob())
            self.aliases.append((key, try reader.uint64()))
        }
        self.appCause = try Cause(from: &reader)
        for _ in 0..<(try reader.uint64()) {
            self.revoked.append(RevokedToken(id: try reader.string(), expires: try reader.value()))
        }
    }
}

extension StoredChange {
    /// The whole change, for a feed that other nodes read: all but the kept answer, the images and the catalogue.
    package func sealed() -> [UInt8] {
        SealedBlob.seal(.change(self.revision)) { writer in
            writer.write(self.committed)
            writer.write(self.appNumber)
            writer.write(self.nextTransaction)
            writer.write(self.nextAccount)
            writer.write(UInt64(self.facts.count))
            for stored in self.facts {
                writer.write(stored.account)
                writer.write(stored.fact)
                writer.write(stored.origin)
            }
            writer.write(UInt64(self.records.count))
            for stored in self.records {
                writer.write(stored.record.account)
                stored.record.writeFields(to: &writer)
                writer.write(stored.due)
                writer.write(stored.previousDue)
            }
            // An account that is erased gets no name, so a name of it here is one that it had.
            var detail = CommitDetail(partsOf: self)
            detail.aliases += self.erasedKeys
            writer.write(detail)
            writer.write(self.app != nil)
            self.app?.writeFields(to: &writer)
        }
    }

    /// `catalogueOf` returns the catalogue that the app loaded at a revision.
    package init(
        unsealing bytes: [UInt8], revision: UInt64,
        catalogueOf: (AppNumber, UInt64) throws(DecodingFault) -> Catalogue
    ) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .change(revision)) { (reader) throws(DecodingFault) in
            let committed = try Instant(from: &reader)
            let app = try reader.uint32()
            let nextTransaction = try reader.uint64()
            var change = StoredChange(
                revision: revision, committed: committed, app: app, nextTransaction: nextTransaction,
                nextAccount: try reader.uint64())
            for _ in 0..<(try reader.uint64()) {
                let account = try reader.uint64()
                let fact = try Fact(from: &reader)
                change.facts.append(StoredFact(account: account, fact: fact, origin: try reader.blob()))
            }
            for _ in 0..<(try reader.uint64()) {
                let record = try AccountRecord(of: try reader.uint64(), fieldsFrom: &reader)
                let due = try reader.optional(Instant.self)
                change.records.append(StoredRecord(record, due: due, previousDue: try reader.optional()))
            }
            change.add(try reader.value(CommitDetail.self))
            let erased = change.facts.filter { $0.fact.reported == .erased }.map(\.account)
            if !erased.isEmpty {
                change.erasedKeys = change.aliases.filter { erased.contains($0.account) }
                change.aliases.removeAll { erased.contains($0.account) }
            }
            if try reader.bool() {
                change.app = try StoredAppState.read(from: &reader, app: app, revision: revision) {
                    (catalogueRevision) throws(DecodingFault) in
                    try catalogueOf(app, catalogueRevision)
                }
            }
            return change
        }
    }

    mutating func add(_ detail: CommitDetail) {
        self.aliases = detail.aliases
        self.appCause = detail.appCause
        self.revoked = detail.revoked
    }
}
