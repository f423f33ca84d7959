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
        authority: [UInt8]? = nil, wall: Instant
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
            number = batch.apps.next
            let wall = self.isShared ? max(wall, self.newestCommit) : wall
            var stored = self.nextChange(
                of: number, wall: wall, nextTransaction: batch.header.nextTransaction, batch.header)
            let state = AppState(
                number: number, bundleID: bundleID, environment: environment, revision: stored.revision,
                effective: .distantPast, committed: wall, catalogue: catalogue, catalogueRevision: stored.revision,
                catalogueSource: source, settings: fileSettings, clock: clock)
            let app = StoredAppState(state: state, fileSettings: fileSettings)
            stored.app = app
            stored.appCause = .catalog
            stored.images = images
            if let authority { try self.add(authority, to: &stored) }
            try self.write(&stored, accounts: [], &batch)
            batch.apps[number] = app
        }
        if let error { throw error }
        self.give(back: batch)
        return number
    }

    /// The store's authority; nil if it has none yet.
    package func authority() throws(StorageError) -> [UInt8]? {
        try self.storage.item(ItemKey(.authority))?.value
    }

    /// Keeps an authority, unless the store has one by now. `openApp` keeps it with the first app of a new store; this is for stores
    /// of earlier versions.
    package func keep(authority: [UInt8], wall: Instant) throws(StorageError) {
        if try self.authority() != nil { return }
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
            let wall = self.isShared ? max(wall, self.newestCommit) : wall
            var stored = self.nextChange(of: 0, wall: wall, nextTransaction: batch.header.nextTransaction, batch.header)
            try self.add(authority, to: &stored)
            guard stored.side != nil else { return }
            try self.write(&stored, accounts: [], &batch)
        }
        if let error { throw error }
        self.give(back: batch)
    }

    /// Another node may have been first.
    private func add(_ authority: [UInt8], to stored: inout StoredChange) throws(StorageError) {
        guard try self.authority() == nil else { return }
        var side = SideWrites()
        side.items = [StoredItem(ItemKey(.authority), authority)]
        stored.side = side
    }
}
