package import PerchBase
import PerchModel
package import PerchStore

extension SQLiteStorage {
    package func apply(_ change: StoredChange) throws(StorageError) {
        try self.write(
            .insertCommit,
            [
                .stored(change.revision), .integer(change.committed.milliseconds), .integer(Int64(change.appNumber)),
                .stored(change.nextTransaction), .stored(change.nextAccount),
                CommitDetail(of: change).map { .bytes($0.sealed(revision: change.revision)) } ?? .null,
            ])
        for (ordinal, stored) in change.facts.enumerated() {
            let place = EventPlace(revision: change.revision, ordinal: UInt32(ordinal))
            try self.write(
                .insertFact,
                [
                    .stored(place.revision), .integer(Int64(place.ordinal)), .stored(stored.account),
                    .integer(stored.fact.event == nil ? 0 : 1), .bytes(stored.sealed(at: place)),
                ])
            try self.write(stored.fact.rowWrite, account: stored.account, app: change.appNumber)
        }
        for stored in change.records {
            let (record, due, previousDue) = (stored.record, stored.due, stored.previousDue)
            try self.write(.setRecord, [.stored(record.account), .bytes(record.sealed())])
            guard due != previousDue else { continue }
            let (app, account) = (Int64(record.app), record.account)
            if let previousDue {
                try self.write(
                    .deleteDue, [.integer(app), .integer(previousDue.milliseconds), .stored(account)])
            }
            if let due {
                try self.write(.insertDue, [.integer(app), .integer(due.milliseconds), .stored(account)])
            }
        }
        for (key, account) in change.aliases {
            try self.write(.setAlias, [.integer(Int64(key.app)), .bytes(key.bytes), .stored(account)])
        }
        if let app = change.app { try self.write(app) }
        if let app = change.app, let images = change.images { try self.write(images, of: app.state.number) }
        for token in change.revoked { try self.revoke(token) }
        if let keyed = change.answer?.value { try self.keep(keyed.answer, for: keyed.key) }
        self.currentHeader.revision = change.revision
        self.currentHeader.nextTransaction = change.nextTransaction
        self.currentHeader.nextAccount = change.nextAccount
    }

    package func keep(_ answer: KeptAnswer, for key: MutationKey) throws(StorageError) {
        try self.write(
            .setAnswer,
            [
                .integer(Int64(key.app)), .bytes(key.bytes), .integer(answer.kept.milliseconds),
                .bytes(answer.sealed(to: key)),
            ])
    }

    private func write(
        _ write: TransactionWrite?, account: AccountNumber, app: AppNumber
    ) throws(StorageError) {
        let app = Statement.Value.integer(Int64(app))
        switch write {
        case .insert(let transaction):
            try self.write(
                .insertTransaction,
                [
                    app, .stored(transaction.id), .stored(account), .integer(transaction.purchaseDate.milliseconds),
                    Self.spends(transaction), .integer(Self.mark(ofProduct: transaction.productID)),
                    .bytes(transaction.sealed(account: account)),
                ])
        case .update(let transaction):
            try self.write(
                .updateTransaction,
                [
                    app, .stored(transaction.id), .integer(transaction.purchaseDate.milliseconds),
                    Self.spends(transaction), .integer(Self.mark(ofProduct: transaction.productID)),
                    .bytes(transaction.sealed(account: account)),
                ])
        case .finish(let id):
            try self.write(.finishTransaction, [app, .stored(id)])
        case .delete(let id):
            try self.write(.deleteTransaction, [app, .stored(id)])
        case .deleteAll:
            try self.write(.deleteTransactions, [.stored(account)])
        case nil:
            break
        }
    }

    /// Whether the transaction is no longer listed once it is finished: see `TransactionQuery.includes`.
    private static func spends(_ transaction: Transaction) -> Statement.Value {
        .integer(transaction.productType == .consumable && transaction.revocation == nil ? 1 : 0)
    }

    private func write(_ app: StoredAppState) throws(StorageError) {
        let state = app.state
        let (number, revision) = (Int64(state.number), state.catalogueRevision)
        let isStored = try self.first(.hasCatalogue, [.integer(number), .number(revision)]) { _ in true }
        if isStored == nil {
            let blob = state.catalogue.sealed(app: state.number, revision: revision)
            try self.write(.insertCatalogue, [.integer(number), .stored(revision), .bytes(blob)])
        }
        let effective = state.effective.milliseconds
        try self.write(
            .insertAppState,
            [
                .integer(number), .integer(effective), .stored(state.revision), .stored(revision),
                .bytes(app.sealed()),
            ])
        try self.write(.setApp, [.integer(number), .integer(effective), .stored(state.revision)])
    }

    /// Writes new images, and deletes unused ones. Most images of a new catalogue are stored already.
    private func write(_ images: [ImageContent], of app: AppNumber) throws(StorageError) {
        var stored: [[UInt8]] = []
        try self.run(.imageHashes, [.integer(Int64(app))]) { (row) throws(StorageError) in
            stored.append(row.bytes(0))
            return true
        }
        let wanted = Set(images.map(\.hash.bytes))
        for hash in stored where !wanted.contains(hash) {
            try self.write(.deleteImage, [.integer(Int64(app)), .bytes(hash)])
        }
        var present = Set(stored)
        for image in images where present.insert(image.hash.bytes).inserted {
            try self.write(
                .insertImage, [.integer(Int64(app)), .bytes(image.hash.bytes), .bytes(image.sealed(app: app))])
        }
    }

    /// Sets the epoch, which makes earlier tokens invalid: see `StoreRestore`.
    func setEpoch(_ epoch: UInt32) {
        self.requireBatch()
        self.currentHeader.epoch = epoch
    }

    package func setLease(until instant: Instant) throws(StorageError) {
        self.requireBatch()
        self.currentHeader.lease = instant
    }

    func revoke(_ revocation: RevokedToken) throws(StorageError) {
        try self.write(
            .setRevocation,
            [
                .bytes(Array(revocation.id.utf8)), .integer(revocation.expires.milliseconds),
                .bytes(revocation.sealed()),
            ])
    }

    package func forgetRevokedTokens(before instant: Instant) throws(StorageError) {
        try self.write(.forgetRevokedTokens, [.integer(instant.milliseconds)])
    }

    package func forgetAnswers(before instant: Instant) throws(StorageError) {
        try self.write(.forgetAnswers, [.integer(instant.milliseconds)])
    }
}
