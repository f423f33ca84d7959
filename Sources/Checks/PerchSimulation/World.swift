package import PerchBase
package import PerchCore
package import PerchIdentity
package import PerchModel
import PerchSQLite
package import PerchStore
package import PerchWire

/// A whole server on one thread, with simulated sockets and time: loops, a store, and the network to their clients.
/// Tests drive it by hand; `Simulation` drives it from a seed.
package final class World {
    package struct Setup {
        package var loops = 1
        package var core = CoreSettings()
        package var catalogue = TestShop.catalogue()
        package var settings = TestShop.settings()
        package var environment = AppEnvironment.xcode
        package var storage: (any Storage)?
        /// Keeps the store in SQLite on this disk, if no storage is given.
        package var disk: FaultyDisk?
        /// Bytes that a server may have on their way to a client.
        package var sendBufferBytes = 128 * 1024
        package var cacheBytesMax = 1 << 20
        package var storeLimits = StoreLimits()
        /// Nil: every caller may do everything.
        package var authenticator: Authenticator?
        /// Bundle identifiers of apps beside the shop's, with its catalogue.
        package var moreApps: [String] = []

        package init() { self.core.passKey = TokenKey.generate(.es256, id: "pass") }
    }

    package static let identity = StoreIdentity(high: 0x5045_5243_4800_0001, low: 0x7E57_0000_0000_0002)
    package static let begin = Instant(milliseconds: 1_767_225_600_000)

    package let app: AppNumber = 1
    package private(set) var storage: any Storage
    package private(set) var engine: StoreEngine
    package private(set) var loops: [SimulatedLoop]
    package private(set) var clients: [WireClient] = []
    package private(set) var history: History
    package private(set) var monotonic: Int64 = 1_000_000
    /// The time of the server's clock, which never runs backwards.
    package private(set) var wall = World.begin
    package private(set) var machine = World.begin
    /// The latest time that the clock of any server of this world has shown.
    package private(set) var latestWall = World.begin
    /// Requests of the loops that the store has not seen yet.
    package private(set) var storeInbox: [StoreRequest] = []
    private var clockState = ClockState()
    /// When the store wants to run again, by the machine's clock; nil for "when something is asked".
    package private(set) var storeWake: Instant?
    package private(set) var storeFailure: String?
    package let conditions: SimulatedLoop.Conditions
    private let setup: Setup
    private var nextSocket: Int32 = 100
    /// Also those whose client has gone without closing.
    private var sockets: [SimulatedSocket] = []
    /// Catalogues that a LoadCatalog call may name, by the bytes of its file.
    package var catalogueFiles: [[UInt8]: (catalogue: Catalogue, settings: AppSettings)] = [:]
    /// The images of those that have some.
    package var catalogueImages: [[UInt8]: [ImageContent]] = [:]
    private var own = OwnMutations()
    /// Tokens that the store revoked, and the last revision before each.
    package private(set) var revokedSince: [String: UInt64] = [:]

    /// What stops the server's clock, and how it passed its lease.
    private struct ClockState {
        /// The clock has passed its lease, because the disk had no space for a new one.
        var hasRunUnleased = false
        /// Any server of this world has.
        var hasEverRunUnleased = false
        /// The machine's clock was seen beyond the lease.
        var isAwaited = false
        /// A run of the store stops an app's clock, and not all loops have applied that.
        var isHeld = false
    }

    /// Mutations that the world asked the store for, as the server does for itself.
    private struct OwnMutations {
        var answers: [UInt64: StoreAnswer] = [:]
        var nextTicket: UInt64 = 1
        /// LoadCatalog calls that wait for theirs.
        var loads: [UInt64: (loop: Int, ticket: UInt64, summary: CatalogSummary)] = [:]
    }

    /// Whether the clock has passed its lease, because the disk had no space for a new one.
    package var hasRunUnleased: Bool { self.clockState.hasRunUnleased }
    /// Whether any server of this world has.
    package var hasEverRunUnleased: Bool { self.clockState.hasEverRunUnleased }
    /// Answers to mutations that the world asked for itself.
    package var ownAnswers: [UInt64: StoreAnswer] { self.own.answers }

    package init(_ setup: Setup = Setup(), conditions: SimulatedLoop.Conditions = SimulatedLoop.Conditions()) {
        self.setup = setup
        self.conditions = conditions
        self.storage = Self.openStorage(setup)
        do throws(StorageError) {
            self.engine = try StoreEngine(
                storage: self.storage, loops: setup.loops, cacheBytesMax: setup.cacheBytesMax,
                limits: setup.storeLimits)
            _ = try self.engine.openApp(
                TestShop.bundleID, setup.environment, catalogue: setup.catalogue, source: "test",
                fileSettings: setup.settings, wall: World.begin)
            for bundleID in setup.moreApps {
                _ = try self.engine.openApp(
                    bundleID, setup.environment, catalogue: setup.catalogue, source: "test",
                    fileSettings: setup.settings, wall: World.begin)
            }
            self.engine.prove(machine: World.begin)
        } catch {
            preconditionFailure("a new store cannot be opened: \(error)")
        }
        self.history = History(revision: self.engine.header.revision, apps: Self.apps(of: self.engine))
        self.loops = Self.makeLoops(self.engine, setup, Moment(monotonic: 1_000_000, wall: World.begin))
        self.storeWake = World.begin
    }

    /// Opens a new store where the setup names none: tests run their worlds on other storage by it.
    @TaskLocal package static var newStorage: @Sendable () -> any Storage = { MemoryStorage(identity: World.identity) }

    private static func openStorage(_ setup: Setup) -> any Storage {
        if let storage = setup.storage { return storage }
        guard let disk = setup.disk else { return Self.newStorage() }
        do {
            return try disk.open()
        } catch {
            preconditionFailure("a store on a healthy disk cannot be opened: \(error)")
        }
    }

    private static func apps(of engine: StoreEngine) -> [AppState] {
        engine.apps.states
    }

    private static func makeLoops(_ engine: StoreEngine, _ setup: Setup, _ now: Moment) -> [SimulatedLoop] {
        let quotas = SharedQuotas()
        return (0..<setup.loops).map { index in
            SimulatedLoop(
                LoopCore(
                    loop: index, identity: engine.header.identity, epoch: engine.header.epoch,
                    revision: engine.header.revision, apps: Self.apps(of: engine), settings: setup.core,
                    authenticator: setup.authenticator, revocations: engine.revoked, quotas: quotas, now: now))
        }
    }

    package var now: Moment { Moment(monotonic: self.monotonic, wall: self.wall) }

    // MARK: Clients

    package func connect(
        loop: Int = 0, certificate: PeerCertificate? = nil, address: PeerAddress? = nil
    ) -> WireClient {
        let socket = SimulatedSocket(number: self.nextSocket, capacity: self.setup.sendBufferBytes)
        socket.certificate = certificate
        socket.address = address
        self.nextSocket += 1
        self.sockets.removeAll { $0.isClosedByServer }
        self.sockets.append(socket)
        let client = WireClient(socket: socket)
        self.clients.append(client)
        self.loops[loop].backlog.append(socket)
        return client
    }

    /// A client that has greeted and was welcomed.
    package func welcomedClient(
        loop: Int = 0, clientID: [UInt8] = [], heartbeatSeconds: UInt32 = 600, accepts: [Encoding] = [],
        authorization: String = "", certificate: PeerCertificate? = nil
    ) -> WireClient {
        let client = self.connect(loop: loop, certificate: certificate)
        client.hello(
            clientID: clientID, heartbeatSeconds: heartbeatSeconds, accepts: accepts, authorization: authorization)
        self.settle()
        precondition(client.welcome != nil, "a client was not welcomed")
        return client
    }

    /// The messages of a call that ends automatically, and its status.
    package func answer(
        to request: Request, from client: WireClient, timeoutMilliseconds: UInt64 = 0
    ) -> (response: Response?, status: Status?) {
        let stream = client.call(request, timeoutMilliseconds: timeoutMilliseconds)
        self.settle()
        return (client.messages(on: stream).last, client.status(of: stream))
    }

    package func forgetEndedClients() { self.clients.removeAll { !$0.isOpen } }

    // MARK: Steps

    package func beginTurn(_ loop: Int) { self.loops[loop].begin(self.now, self.conditions) }

    package func finishTurn(_ loop: Int) {
        let loop = self.loops[loop]
        loop.finish(self.conditions)
        self.storeInbox.append(contentsOf: loop.asks)
        loop.asks.removeAll()
        let controls = loop.controls
        loop.controls.removeAll()
        for (ticket, request) in controls {
            if let answer = self.answer(to: request, from: loop.index, ticket) {
                loop.inbox.append(.control(ticket: ticket, answer))
            }
        }
    }

    package func turn(_ loop: Int = 0) {
        if !self.loops[loop].isInTurn { self.beginTurn(loop) }
        self.finishTurn(loop)
    }

    /// One run of the store, over all that waits for it.
    package func runStore() {
        self.beginStoreRun()
        self.finishStoreRun()
    }

    /// The results of a run of the store that the loops have not received yet.
    private var outbox: StoreEngine.Outbox?

    /// Whether a run has begun and the loops are not told of it.
    package var isStoreRunning: Bool { self.outbox != nil }

    /// The first half of a run: the store reads the clock, decides and commits. Loops may turn before the second half, as while a
    /// disk syncs.
    package func beginStoreRun() {
        precondition(self.outbox == nil, "a run of the store began inside a run")
        let requests = self.storeInbox
        self.storeInbox.removeAll()
        if self.engine.stopsClock(requests) { self.clockState.isHeld = true }
        var outbox = StoreEngine.Outbox(loops: self.loops.count, askers: 1)
        self.storeWake = self.engine.run(requests, wall: self.wall, machine: self.machine, into: &outbox)
        // A process that died in a decision sends no results.
        if self.isDead { return }
        for event in outbox.events[0] {
            if case .change(let change) = event {
                self.history.append(change)
                self.noteRevoked(change)
            }
            if case .failed(let message) = event { self.storeFailure = message }
        }
        self.outbox = outbox
    }

    /// The second half: the loops are told.
    package func finishStoreRun() {
        guard let outbox = self.outbox.take() else { return }
        defer { self.extendClock() }
        for (loop, events) in zip(self.loops, outbox.events) {
            loop.inbox.append(contentsOf: events.map { LoopArrival.store($0) })
        }
        for case .answer(let ticket, let answer) in outbox.events[self.loops.count] {
            self.took(answer, to: ticket)
        }
    }

    private func noteRevoked(_ change: Change) {
        for token in change.revoked where self.revokedSince[token.id] == nil {
            self.revokedSince[token.id] = change.revision - 1
        }
    }

    /// Asks the store for a change, as the server does for itself.
    @discardableResult
    package func mutate(_ mutation: Mutation) -> UInt64 {
        let ticket = self.own.nextTicket
        self.own.nextTicket += 1
        self.storeInbox.append(StoreRequest(loop: self.loops.count, ticket: ticket, .mutate(mutation)))
        return ticket
    }

    private func took(_ answer: StoreAnswer, to ticket: UInt64) {
        guard let load = self.own.loads.removeValue(forKey: ticket) else {
            self.own.answers[ticket] = answer
            return
        }
        let told: ControlAnswer
        switch answer {
        case .mutated(_, let position):
            told = .response(.loadCatalog(LoadCatalogResponse(position: position, summary: load.summary)))
        case .refused(let refusal): told = .failed(refusal)
        default: preconditionFailure("a mutation was asked for")
        }
        self.loops[load.loop].inbox.append(.control(ticket: load.ticket, told))
    }

    package var storeHasWork: Bool {
        if self.isStoreRunning { return true }
        guard self.storeFailure == nil else { return !self.storeInbox.isEmpty }
        return !self.storeInbox.isEmpty || (self.storeWake.map { $0 <= self.machine } ?? false)
    }

    /// Moves what is on its way between a client and its server; says whether there was anything.
    package func deliver(_ client: WireClient) -> Bool {
        let hasSent = client.socket.deliverToServer()
        let bytes = client.socket.deliverToClient()
        if !bytes.isEmpty || (client.isOpen && client.socket.isAtEndForClient) {
            client.take(bytes)
            return true
        }
        return hasSent
    }

    /// Runs everything that needs no time, until there is nothing left to do.
    package func settle() {
        var rounds = 0
        while true {
            var moved = false
            for client in self.clients where self.deliver(client) { moved = true }
            for loop in self.loops where loop.hasWork(at: self.monotonic) {
                self.turn(loop.index)
                moved = true
            }
            if self.storeHasWork {
                if self.isStoreRunning { self.finishStoreRun() } else { self.runStore() }
                moved = true
            }
            if !moved { return }
            rounds += 1
            precondition(rounds < 100_000, "the world does not come to rest")
        }
    }

    /// Traps if a loop's tables contradict each other.
    package func checkInvariants() {
        for loop in self.loops { loop.core.checkInvariants() }
    }

    /// Closes every client at once; traps if a loop keeps any of their state.
    package func checkNothingIsLeft() {
        for socket in self.sockets { socket.reset() }
        self.settle()
        for loop in self.loops { loop.core.checkIsEmpty() }
    }

    // MARK: Time

    /// All clocks advance at once; sleeping components see it when they wake.
    package func jump(_ milliseconds: Int64) {
        self.monotonic += milliseconds
        self.setMachineClock(by: milliseconds)
    }

    /// Sets the machine's clock, forward or back. The server's clock follows it, or stops.
    package func setMachineClock(by milliseconds: Int64) {
        self.machine = self.machine.advanced(byMilliseconds: milliseconds)
        self.lookAtMachine()
    }

    /// The server's clock goes along with the machine's, up to the lease that is on the disk; there the store is woken.
    private func lookAtMachine() {
        if self.clockState.isHeld { return }
        let bound = self.engine.clockBound
        self.wall = max(self.wall, min(self.machine, bound))
        self.latestWall = max(self.latestWall, self.wall)
        // A failed store writes no lease any more: its process is about to end.
        if self.machine > bound, self.engine.failure == nil, !self.clockState.isAwaited {
            self.clockState.isAwaited = true
            self.storeWake = min(self.storeWake ?? self.machine, self.machine)
        }
        let isExcused = self.clockState.hasRunUnleased || self.engine.isWithoutRoom
        self.clockState.hasRunUnleased = isExcused && self.wall > self.engine.header.lease
        if self.clockState.hasRunUnleased { self.clockState.hasEverRunUnleased = true }
    }

    /// Extends the clock, as the store's thread does after each tick.
    private func extendClock() {
        if self.clockState.isHeld, !self.engine.isClockStopping {
            self.clockState.isHeld = false
            for loop in self.loops { loop.inbox.append(.clockWentOn) }
        }
        self.lookAtMachine()
        guard self.clockState.isAwaited, self.machine <= self.engine.clockBound else { return }
        self.clockState.isAwaited = false
        for loop in self.loops { loop.inbox.append(.clockWentOn) }
    }

    /// Milliseconds to the next timer; nil if there is none.
    package var nextWake: Int64? {
        var next: Int64?
        for loop in self.loops {
            if let wake = loop.wake { next = min(next ?? .max, max(0, wake - self.monotonic)) }
        }
        if let wake = self.storeWake { next = min(next ?? .max, max(0, wake.milliseconds(since: self.machine))) }
        return next
    }

    /// Advances time, and wakes each sleeper exactly at its timer.
    package func advance(_ milliseconds: Int64) {
        var left = milliseconds
        self.settle()
        while left > 0 {
            let step = min(left, max(1, self.nextWake ?? left))
            self.jump(step)
            left -= step
            self.settle()
        }
    }

    // MARK: The server around the cores

    private func answer(to request: ControlRequest, from loop: Int, _ ticket: UInt64) -> ControlAnswer? {
        switch request {
        case .loadCatalog(let files, let app, let source, let origin, let audit):
            guard let loaded = self.catalogueFiles[files.file] else {
                return .refused(.catalogInvalid, "the test has no such catalogue", [])
            }
            var mutation = Self.load(
                app, loaded.catalogue, settings: loaded.settings, source: source,
                images: self.catalogueImages[files.file] ?? [])
            mutation.origin = origin
            mutation.audit = audit
            let summary = CatalogSummary(schemaVersion: loaded.catalogue.schemaVersion)
            self.own.loads[self.mutate(mutation)] = (loop, ticket, summary)
            return nil
        case .openGuest(let files, let bundleID, let source, let audit):
            guard let loaded = self.catalogueFiles[files.file] else {
                return .refused(.catalogInvalid, "the test has no such catalogue", [])
            }
            var mutation = Mutation(
                opening: GuestOpening(
                    bundleID: bundleID, catalogue: loaded.catalogue, images: self.catalogueImages[files.file] ?? [],
                    source: source, settings: loaded.settings))
            mutation.audit = audit
            let summary = CatalogSummary(schemaVersion: loaded.catalogue.schemaVersion)
            self.own.loads[self.mutate(mutation)] = (loop, ticket, summary)
            return nil
        case .checkCatalog: return .response(.checkCatalog(CheckCatalogResponse()))
        case .serverStatus: return .response(.getServerStatus(ServerStatus(version: "simulated")))
        case .backup: return .refused(.backupFailed, "a simulated store has no file", [])
        case .ingest, .reconcile:
            return .refused(.notToldApp, "a simulated server takes no values of the App Store", [])
        case .mishap: return .refused(.noTwin, "a simulated server has no twin of the App Store", [])
        }
    }

    /// Replaces an app's catalogue and the settings of its file, if they differ.
    package static func load(
        _ app: AppNumber, _ catalogue: Catalogue, settings: AppSettings, source: String,
        images: [ImageContent] = []
    ) -> Mutation {
        Mutation(.app(app), needsTestApp: false) { view in
            var change = AppChange()
            change.fileSettings = settings
            if view.app.catalogue != catalogue || view.app.catalogueSource != source {
                change.catalogue = (catalogue, source)
                change.images = images
            } else if view.fileSettings == settings {
                return .unchanged(answer: .none)
            }
            return .commitApp(change, answer: .none)
        }
    }

    /// Gives every loop other keys and names, as SIGHUP does.
    package func trust(_ authenticator: Authenticator) {
        for loop in self.loops { loop.inbox.append(.trust(authenticator)) }
    }

    /// Stops every loop, as SIGTERM does.
    package func drain() {
        for loop in self.loops { loop.inbox.append(.drain) }
    }

    /// As after a long time without the store.
    package func sendAway() {
        for loop in self.loops { loop.inbox.append(.sendAway) }
    }

    /// A new engine over the same storage, as after a restart; loops and clients are gone.
    package func reopenEngine() throws(StorageError) -> StoreEngine {
        try StoreEngine(storage: self.storage, loops: self.setup.loops, cacheBytesMax: self.setup.cacheBytesMax)
    }

    // MARK: Death and return

    /// The disk has seen the process die.
    package var isDead: Bool { self.setup.disk?.isProcessDead ?? false }

    /// Kills the server between two writes and starts another on its files. Clients see their connections end and
    /// reconnect. Returns the last revision that the dead server had committed.
    package func restart(after loss: FaultyDisk.Loss) -> UInt64 {
        let committed = max(self.history.revision, self.engine.header.revision)
        for socket in self.sockets {
            // A surviving kernel sends its remaining bytes and closes in order.
            if loss == .power { socket.reset() }
            socket.close()
        }
        self.storeInbox.removeAll()
        self.outbox = nil
        self.own = OwnMutations(nextTicket: self.own.nextTicket)
        self.storeFailure = nil
        if let disk = self.setup.disk {
            disk.killProcess()
            self.storage.close()
            disk.start(after: loss)
            self.storage = Self.openStorage(self.setup)
        }
        do throws(StorageError) {
            self.engine = try self.reopenEngine()
            for change in try self.history.catchUp(with: self.storage) { self.noteRevoked(change) }
        } catch {
            preconditionFailure("a store that was left by a dead process cannot be read: \(error)")
        }
        // Not the machine's clock yet: the store's first run renews the lease.
        self.wall = self.engine.header.lease
        self.clockState.isAwaited = false
        self.clockState.isHeld = false
        self.clockState.hasRunUnleased = false
        self.loops = Self.makeLoops(self.engine, self.setup, self.now)
        self.storeWake = self.machine
        return committed
    }
}
