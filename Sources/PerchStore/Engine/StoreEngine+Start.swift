package import PerchBase
package import PerchModel

// The start of a server: before there is any loop.
extension StoreEngine {
    /// Runs a mutation before there is any loop, at the start of a server.
    ///
    /// False: there was no space, nothing has changed, and the store can serve.
    package func mutateAtStart(_ mutation: Mutation, wall: Instant, machine: Instant) throws(StorageError) -> Bool {
        var outbox = Outbox(loops: 1)
        _ = self.run(
            [StoreRequest(loop: 0, ticket: 0, .mutate(mutation))], wall: wall, machine: machine, into: &outbox)
        if let failure = self.failure { throw failure }
        for case .answer(_, .refused(let refusal)) in outbox.events[0] {
            guard refusal.reason == .storeFull else { throw .failed(refusal.message) }
            return false
        }
        return true
    }

    /// Creates an app unless the store has it, at the start of a server.
    package func openApp(
        _ bundleID: String, _ environment: AppEnvironment, catalogue: Catalogue, images: [ImageContent] = [],
        source: String, fileSettings: AppSettings, clock: AppClock = .running(offsetMilliseconds: 0),
        secrets: [StoredItem] = [], wall: Instant
    ) throws(StorageError) -> AppNumber {
        if let app = self.app(bundleID, environment) { return app.number }
        var number = self.apps.next
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
            // Another node may have been first.
            if let app = self.app(bundleID, environment) {
                number = app.number
                return
            }
            number = try self.openApp(
                bundleID, environment, catalogue: catalogue, images: images, source: source,
                fileSettings: fileSettings, clock: clock, secrets: secrets, wall: self.decisionTime(wall), &batch
            ).number
        }
        if let error { throw error }
        self.give(back: batch)
        return number
    }

    /// Writes a new app, with the next number.
    func openApp(
        _ bundleID: String, _ environment: AppEnvironment, catalogue: Catalogue, images: [ImageContent],
        source: String, fileSettings: AppSettings, clock: AppClock, secrets: [StoredItem] = [],
        audit: AuditEntry? = nil, wall: Instant, _ batch: inout Batch
    ) throws(StorageError) -> AppState {
        let number = batch.apps.next
        var stored = self.nextChange(of: number, wall: wall, batch.header)
        let state = AppState(
            number: number, bundleID: bundleID, environment: environment, revision: stored.revision,
            effective: .distantPast, committed: wall, catalogue: catalogue, catalogueRevision: stored.revision,
            catalogueSource: source, settings: fileSettings, clock: clock)
        let app = StoredAppState(state: state, fileSettings: fileSettings)
        stored.app = app
        stored.appCause = .catalog
        stored.images = images
        try self.add(secrets, to: &stored)
        stored.note(audit)
        try self.write(&stored, accounts: [], &batch)
        batch.apps[number] = app
        return state
    }

    /// A secret of the store, such as its authority; nil if it has none yet.
    package func secret(_ kind: ItemKind) throws(StorageError) -> [UInt8]? {
        try self.storage.item(ItemKey(kind))?.value
    }

    /// Keeps secrets that the store does not have by now. `openApp` keeps them with the first app of a new store; this is for stores
    /// of earlier versions.
    package func keep(_ secrets: [StoredItem], wall: Instant) throws(StorageError) {
        guard try self.missing(secrets).isEmpty == false else { return }
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
            let wall = self.decisionTime(wall)
            var stored = self.nextChange(of: 0, wall: wall, batch.header)
            try self.add(secrets, to: &stored)
            guard stored.side != nil else { return }
            try self.write(&stored, accounts: [], &batch)
        }
        if let error { throw error }
        self.give(back: batch)
    }

    /// A secret under its key; nil if there is none.
    package func secret(_ key: ItemKey) throws(StorageError) -> [UInt8]? { try self.storage.item(key)?.value }

    /// Replaces secrets, unless another node has replaced the one of `key` since it had `value`.
    package func replace(
        _ secrets: [StoredItem], where key: ItemKey, was value: [UInt8]?, wall: Instant
    ) throws(StorageError) {
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
            guard try self.storage.item(key)?.value == value else { return }
            let wall = self.isShared ? max(wall, self.newestCommit) : wall
            var stored = self.nextChange(of: 0, wall: wall, batch.header)
            var side = SideWrites()
            side.items = secrets
            stored.side = side
            try self.write(&stored, accounts: [], &batch)
        }
        if let error { throw error }
        self.give(back: batch)
    }

    private func add(_ secrets: [StoredItem], to stored: inout StoredChange) throws(StorageError) {
        let missing = try self.missing(secrets)
        guard !missing.isEmpty else { return }
        var side = SideWrites()
        side.items = missing
        stored.side = side
    }

    /// Another node may have been first.
    private func missing(_ secrets: [StoredItem]) throws(StorageError) -> [StoredItem] {
        var missing: [StoredItem] = []
        for secret in secrets where try self.storage.item(secret.key) == nil { missing.append(secret) }
        return missing
    }
}
