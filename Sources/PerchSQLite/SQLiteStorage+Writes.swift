package import PerchBase
package import PerchModel
package import PerchStore

extension SQLiteStorage {
    package func apply(_ change: StoredChange) throws(StorageError) {
        if let erasure = change.side?.erasure { try self.erase(erasure, of: change.appNumber) }
        let first = change.facts.first
        try self.write(
            .insertCommit,
            [
                .stored(change.revision), .integer(change.committed.milliseconds), .integer(Int64(change.appNumber)),
                .stored(change.nextTransaction), .stored(change.nextAccount),
                CommitDetail(of: change).map { .bytes($0.sealed(revision: change.revision)) } ?? .null,
                first.map { .stored($0.account) } ?? .null,
                first.map { .bytes($0.sealed(at: EventPlace(revision: change.revision, ordinal: 0))) } ?? .null,
            ])
        for (ordinal, stored) in change.facts.enumerated() {
            let place = EventPlace(revision: change.revision, ordinal: UInt32(ordinal))
            try self.write(stored, at: place)
            try self.write(stored.fact.rowWrite, at: place, account: stored.account, app: change.appNumber)
        }
        for stored in change.records {
            let (record, due, previousDue) = (stored.record, stored.due, stored.previousDue)
            try self.write(.setRecord, [.stored(record.account), .bytes(record.sealed())])
            if let sources = stored.sources { try self.write(sources, of: record.account, app: record.app) }
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
        for moves in change.crossings { try self.write(moves, app: change.appNumber) }
        for (key, account) in change.aliases {
            try self.write(.setAlias, [.integer(Int64(key.app)), .bytes(key.bytes), .stored(account)])
        }
        if let app = change.app { try self.write(app) }
        if let app = change.app, let images = change.images { try self.write(images, of: app.state.number) }
        for token in change.revoked { try self.revoke(token) }
        if let side = change.side { try self.write(side) }
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

    /// The first fact of a change stands in its commit row.
    private func write(_ stored: StoredFact, at place: EventPlace) throws(StorageError) {
        if place.ordinal > 0 {
            try self.write(
                .insertFact,
                [
                    .stored(place.revision), .integer(Int64(place.ordinal)), .stored(stored.account),
                    .bytes(stored.sealed(at: place)),
                ])
        }
        try self.write(
            .insertEntry,
            [
                .stored(stored.account), .integer(EntryKind.fact.rawValue), .integer(-Int64(place.revision)),
                .integer(-Int64(place.ordinal)), .integer(stored.fact.event == nil ? 0 : 1), .null, .null,
            ])
    }

    private func write(
        _ write: TransactionWrite?, at fact: EventPlace, account: AccountNumber, app: AppNumber
    ) throws(StorageError) {
        switch write {
        case .insert(let transaction):
            let place = TransactionPlace(
                id: transaction.id, account: account, purchaseDate: transaction.purchaseDate, state: 0,
                spends: Self.spends(transaction))
            try self.write(
                .insertPlace,
                [
                    .integer(Int64(app)), .stored(place.id), .stored(account),
                    .integer(place.purchaseDate.milliseconds), .integer(place.spends ? 1 : 0),
                ])
            try self.write(transaction, at: place, in: fact)
        case .update(let transaction):
            guard let held = try self.place(of: transaction.id, app: app) else { return }
            var place = held
            place.purchaseDate = transaction.purchaseDate
            place.spends = Self.spends(transaction)
            if held.state != 0 { place.state = place.spends ? 2 : 1 }
            try self.write(.deleteEntry, held.key)
            try self.write(transaction, at: place, in: fact)
            try self.set(place, app: app)
        case .finish(let id):
            guard var place = try self.place(of: id, app: app), place.state == 0 else { return }
            let key = place.key
            place.state = place.spends ? 2 : 1
            try self.write(.moveEntry, key + [.integer(place.kind)])
            try self.set(place, app: app)
        case .delete(let id):
            guard let place = try self.place(of: id, app: app) else { return }
            try self.write(.deleteEntry, place.key)
            try self.write(.deletePlace, [.integer(Int64(app)), .stored(id)])
        case .deleteAll:
            try self.write(.deletePlaces, [.integer(Int64(app)), .stored(account)])
            try self.write(.deleteTransactions, [.stored(account)])
        case .rewrite(let remove, let add):
            for id in remove {
                guard let place = try self.place(of: id, app: app), place.account == account else { continue }
                try self.write(.deleteEntry, place.key)
                try self.write(.deletePlace, [.integer(Int64(app)), .stored(id)])
            }
            for transaction in add { try self.put(transaction, account: account, app: app) }
        case nil:
            break
        }
    }

    /// Writes the row of a transaction among those of its account. The fact holds the transaction itself.
    private func write(
        _ transaction: Transaction, at place: TransactionPlace, in fact: EventPlace
    ) throws(StorageError) {
        try self.write(
            .insertEntry,
            place.key + [
                .integer(Self.mark(ofProduct: transaction.productID)), .stored(fact.revision),
                .integer(Int64(fact.ordinal)),
            ])
    }

    /// Writes a transaction of an App Store app with a blob of its own. It may belong to another account until now.
    private func put(
        _ transaction: Transaction, account: AccountNumber, app: AppNumber
    ) throws(StorageError) {
        if let held = try self.place(of: transaction.id, app: app) { try self.write(.deleteEntry, held.key) }
        let place = TransactionPlace(
            id: transaction.id, account: account, purchaseDate: transaction.purchaseDate, state: 0,
            spends: Self.spends(transaction))
        try self.write(
            .putPlace,
            [
                .integer(Int64(app)), .stored(place.id), .stored(account), .integer(place.purchaseDate.milliseconds),
                .integer(place.spends ? 1 : 0),
            ])
        try self.write(
            .insertOwnEntry,
            place.key + [
                .integer(Self.mark(ofProduct: transaction.productID)), .bytes(transaction.sealed(account: account)),
            ])
    }

    private func set(_ place: TransactionPlace, app: AppNumber) throws(StorageError) {
        try self.write(
            .setPlace,
            [
                .integer(Int64(app)), .stored(place.id), .integer(place.purchaseDate.milliseconds),
                .integer(place.state), .integer(place.spends ? 1 : 0),
            ])
    }

    /// Whether the transaction is no longer listed once it is finished: see `TransactionQuery.includes`.
    private static func spends(_ transaction: Transaction) -> Bool {
        transaction.productType == .consumable && transaction.revocation == nil
    }

    private func write(_ moves: CrossingMoves, app: AppNumber) throws(StorageError) {
        let (app, account) = (Statement.Value.integer(Int64(app)), Statement.Value.stored(moves.account))
        for instant in moves.removed {
            try self.write(.deleteCrossing, [app, .integer(instant.milliseconds), account])
        }
        for instant in moves.added {
            try self.write(.insertCrossing, [app, .integer(instant.milliseconds), account])
        }
    }

    package func forgetCrossings(_ app: AppNumber, through entry: DueEntry) throws(StorageError) {
        try self.write(
            .forgetCrossings, [.integer(Int64(app)), .integer(entry.instant.milliseconds), .number(entry.account)])
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

    /// Sets the epoch, which makes earlier tokens invalid, and the next numbers: see `StoreRestore`.
    func beginEpoch(_ epoch: UInt32, numbersFrom first: UInt64) {
        self.requireBatch()
        self.currentHeader.epoch = epoch
        self.currentHeader.nextTransaction = first
        self.currentHeader.nextAccount = first
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
