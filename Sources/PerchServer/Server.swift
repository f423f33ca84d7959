import Glibc
import PerchApple
import PerchBase
import PerchCatalogue
import PerchConsole
import PerchCore
import PerchIdentity
import PerchLoop
import PerchMetrics
package import PerchModel
import PerchPostgres
import PerchSQLite
import PerchSender
import PerchStore
import PerchTLS

/// Assembles a server and runs it on the calling thread until it is stopped.
///
/// Threads: this one for signals and files (`ControlLoop`), one for the store (`StoreLoop`), and the loops
/// (`ServerLoop`). They share only inboxes and a clock.
package enum Server {
    /// Serves until SIGTERM or SIGINT; returns the exit status. `ready` is called once, when connections are accepted.
    package static func run(
        _ settings: ServerSettings, ready: (Ready) -> Void = { _ in }
    ) throws(ServerError) -> Int32 {
        if settings.endsWithParent { try Self.bindToParent() }
        SignalSource.block()
        DescriptorLimit.raise()
        let log = Log(settings.log, settings.supervision)
        if !settings.ignoredVariables.isEmpty {
            log.debug(
                "variables of the environment are links to services, and no settings",
                LogField("names", settings.ignoredVariables.joined(separator: " ")))
        }
        let listeners = try Listeners(settings, log: log)
        let keeper = settings.tls.mode == .off ? nil : try TLSKeeper(settings.tls, wall: Clocks.wall())
        let authenticator = try KeyFiles.authenticator(settings.authentication)
        let catalogues = try settings.apps.map { (app) throws(ServerError) in
            (app, try CatalogueFile.load(app.catalogPath))
        }
        let apple = try settings.appleAppsPath.map { (path) throws(ServerError) in
            try Self.forbidCore()
            return try AppleAppsFile(path: path)
        }
        let engine = try Self.open(settings, listeners, log)
        // The greeting for operators has the revision; programs get an event.
        if log.isForPrograms, case .file(let path) = settings.store, engine.header.revision == 0 {
            log.info("a new store was begun, with nothing in it", LogField("path", path))
        }
        if case .file(let path) = settings.store { Self.warn(ofOpenDirectoryOf: StorePath.path(for: path), log) }
        let lease = engine.header.lease
        let offset = engine.sharing?.clockOffset ?? .min
        engine.prove(machine: StoreClock.machine(offset: offset))
        let clock = StoreClock(notBefore: max(lease, engine.newestPassed), bound: engine.clockBound)
        clock.follow(offset: offset)
        try Self.checkEnvironments(settings, engine)
        try Self.checkStatedApp(settings, engine)
        try Self.checkNewApps(settings, engine)
        let fresh = try StoreSecrets.missing(in: engine, settings, wall: clock.now())
        let apps = try Self.openApps(catalogues, engine, clock, fresh, log)
        try StoreSecrets.rotate(in: engine, after: settings.passKeyMilliseconds, wall: clock.now())
        let secrets = try StoreSecrets(of: engine, keeping: fresh, wall: clock.now())
        let intake = try Self.intakeEntries(apple, engine, clock)
        let appStore = try AppStoreApps(apple, intake)
        let twin = try settings.twinDirectory.map { (directory) throws(ServerError) in
            try TwinSetup(
                directory: directory, notifying: settings.twinNotify, listeners, wall: clock.now())
        }

        do throws(SystemError) {
            return try Self.run(
                settings, listeners: listeners, keeper: keeper, authenticator: authenticator, engine: engine,
                clock: clock, apps: apps, appStore: appStore, secrets: secrets.signing(by: twin), twin: twin, log: log,
                ready: ready)
        } catch {
            throw ServerError("\(error)")
        }
    }

    /// A core would have the key of the App Store Server API, which the file names now, or when it is read again.
    private static func forbidCore() throws(ServerError) {
        do throws(SystemError) {
            try CoreDump.forbid()
        } catch {
            throw ServerError("--apple-apps: \(error)")
        }
    }

    private static func bindToParent() throws(ServerError) {
        do throws(SystemError) {
            try ParentProcess.bind()
        } catch {
            throw ServerError("--with-parent: \(error)")
        }
    }

    /// The greeting of a server that is ready.
    package struct Ready: Sendable {
        package var address: String
        /// Address of HTTP; nil if it is off.
        package var http: String?
        /// Address of Apple's notifications; nil if it is off.
        package var apple: String?
        /// Address of the twin of the App Store; nil if it is off.
        package var twin: String?
        package var apps: [AppState]
        package var revision: UInt64
        package var storeIdentity: String
        /// Where browsers find the console; nil if it is off.
        package var console: String?
    }

    private static func open(
        _ settings: ServerSettings, _ listeners: Listeners, _ log: Log
    ) throws(ServerError) -> StoreEngine {
        let storage: any Storage
        switch settings.store {
        case .memory:
            storage = MemoryStorage(identity: Self.newIdentity())
        case .database(let url):
            storage = try Self.open(database: url, settings, listeners, log)
        case .file(let path):
            let file = StorePath.path(for: path)
            // Otherwise a mistyped path would leave an unwanted store behind.
            if settings.apps.isEmpty, StoreFile.isVacant(file), !StoreFile.hasLogAlone(file) {
                throw .settings(
                    "there is no store at \(file), and no app for a new one; give --catalog a .storekit file, or is --store what was meant?"
                )
            }
            do throws(StoreOpenError) {
                let store = try SQLiteStorage(path: StorePath.file(for: path))
                if let schema = store.convertedSchema {
                    log.info(
                        "the store was converted to this version's schema", LogField("path", path),
                        LogField("from_schema", schema), LogField("to_schema", SQLiteStorage.schemaVersion))
                }
                storage = store
            } catch {
                throw ServerError("\(error)")
            }
        }
        do throws(StorageError) {
            // In memory, guests are as gone with the process as the store is.
            let hostsGuests = listeners.servesConsole(settings) && !storage.holdsRecords && !storage.isShared
            return try StoreEngine(
                storage: hostsGuests ? GuestStorage(beside: storage) : storage, loops: Self.loopCount(settings),
                cacheBytesMax: settings.recordCacheBytesMax,
                limits: settings.storeLimits)
        } catch {
            throw ServerError("\(error)")
        }
    }

    /// Opens the store in a database. Its name among the nodes is that of the machine and the listener.
    private static func open(
        database url: String, _ settings: ServerSettings, _ listeners: Listeners, _ log: Log
    ) throws(ServerError) -> PostgresStorage {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let node = NodeIdentity(
            id: .random(in: 1 ... .max), name: "\(name) \(settings.listen)", version: settings.version)
        do throws(PostgresOpenError) {
            let storage = try StartWait.open(
                try PostgresLocation(url), node: node, memory: NodeMemory.directory(log), listeners, settings, log)
            if let lost = storage.lostRevision {
                log.warning(
                    "the database lacks what was shown, as after a restore: its epoch has risen, so clients restart their watches",
                    LogField("lost_revision", lost), LogField("epoch", storage.header().epoch))
            }
            let others = storage.nodes.filter { !$0.isGone && $0.id != node.id }
            if storage.hasGrown {
                log.info(
                    "the tables in the database have grown for this version; nodes of the version before go on beside it"
                )
            }
            if !others.isEmpty {
                log.info(
                    "other nodes have the store open", LogField("names", others.map(\.name).joined(separator: "; ")))
            }
            return storage
        } catch {
            throw ServerError("\(error)")
        }
    }

    private static func newConsoleCodes() -> ConsoleCodes {
        ConsoleCodes {
            var random = SystemRandomNumberGenerator()
            return random.next()
        }
    }

    private static func newIdentity() -> StoreIdentity {
        var random = SystemRandomNumberGenerator()
        return StoreIdentity(high: random.next(), low: random.next())
    }

    static func loopCount(_ settings: ServerSettings) -> Int {
        settings.loops > 0 ? settings.loops : max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Serving test apps together with apps of the App Store needs an explicit setting, also if one of them is in the
    /// store from an earlier start. Checked before anything is written, because apps stay in a store.
    static func checkEnvironments(_ settings: ServerSettings, _ engine: StoreEngine) throws(ServerError) {
        guard !settings.isMixingEnvironmentsAllowed else { return }
        let kept = engine.apps.states
        let all =
            kept.map { (name: "\($0.bundleID), \($0.environment), in the store", environment: $0.environment) }
            + settings.apps.map {
                (name: "\($0.bundleID), \($0.environment), of --catalog and --environment", environment: $0.environment)
            }
        guard let test = all.last(where: { $0.environment == .xcode }),
            let real = all.last(where: { $0.environment != .xcode })
        else { return }
        throw ServerError(
            "test apps and apps of the App Store would share a server: \(test.name), and \(real.name); give the right --environment (PERCH_ENVIRONMENT), or use a separate server and --store for each, or write out --allow-mixed-environments"
        )
    }

    /// Without a catalogue, the store's apps are served unchanged. A named app must then be one of them. Names from the
    /// environment, which other commands use too, are not checked.
    static func checkStatedApp(_ settings: ServerSettings, _ engine: StoreEngine) throws(ServerError) {
        guard settings.apps.isEmpty, let stated = settings.statedApp else { return }
        let kept = engine.apps.states
        let isThere = kept.contains { app in
            (stated.bundleID ?? app.bundleID) == app.bundleID
                && (stated.environment ?? app.environment) == app.environment
        }
        guard !isThere else { return }
        let what = [stated.bundleID.map { "--bundle-id \($0)" }, stated.environment.map { "--environment \($0)" }]
        throw .settings(
            "no app in the store is that of \(what.compactMap { $0 }.joined(separator: " and ")); it has "
                + kept.map { "\($0.bundleID), \($0.environment)" }.joined(separator: "; ")
                + "; name that, or another --store, or give the --catalog of an app that is new")
    }

    /// A store keeps its apps, so an unknown name is probably misspelt.
    static func checkNewApps(_ settings: ServerSettings, _ engine: StoreEngine) throws(ServerError) {
        let kept = engine.apps.states
        guard !settings.isAddingApp, !kept.isEmpty else { return }
        for app in settings.apps where engine.app(app.bundleID, app.environment) == nil {
            let names = kept.map { "\($0.bundleID), \($0.environment)" }.joined(separator: "; ")
            throw .settings(
                "the store has no app \(app.bundleID), \(app.environment) (--bundle-id, --environment); it has \(names); "
                    + "name that one, or add the new one with --add-app")
        }
    }

    /// Opens new apps, and loads the file's catalogue into known apps if it has changed.
    private static func openApps(
        _ catalogues: [(ServerSettings.AppSettings, LoadedCatalogue)], _ engine: StoreEngine, _ clock: StoreClock,
        _ secrets: [StoredItem], _ log: Log
    ) throws(ServerError) -> [(settings: ServerSettings.AppSettings, number: AppNumber)] {
        var result: [(settings: ServerSettings.AppSettings, number: AppNumber)] = []
        for (settings, loaded) in catalogues {
            let others = engine.apps.states.map { "\($0.bundleID), \($0.environment)" }
            var fileSettings = loaded.settings
            if let rate = settings.timeRate { fileSettings.timeRate = rate }
            do throws(StorageError) {
                let known = engine.app(settings.bundleID, settings.environment)
                let isKnown = known != nil
                if let known, !engine.hasOtherNodes, known.catalogueSource != settings.catalogPath,
                    known.catalogue != loaded.catalogue
                {
                    log.warning(
                        "the catalogue in the store came from elsewhere, and the one of the file replaces it; give that one as --catalog to keep it",
                        LogField("bundle_id", settings.bundleID), LogField("stored", known.catalogueSource),
                        LogField("file", settings.catalogPath))
                }
                let number = try engine.openApp(
                    settings.bundleID, settings.environment, catalogue: loaded.catalogue,
                    images: loaded.images, source: settings.catalogPath, fileSettings: fileSettings,
                    clock: settings.clock.map { .frozen(at: $0) } ?? .running(offsetMilliseconds: 0),
                    secrets: secrets,
                    wall: clock.now())
                if !isKnown, !others.isEmpty {
                    log.info(
                        "an app was added to the store; `perch app remove` takes it out while it has no account",
                        LogField("bundle_id", settings.bundleID), LogField("environment", "\(settings.environment)"),
                        LogField("beside", others.joined(separator: "; ")))
                }
                if let known, engine.hasOtherNodes {
                    if known.catalogue != loaded.catalogue {
                        log.warning(
                            "the catalogue of the file differs from the one that the nodes of this store serve, which stays; send SIGHUP to load the file's",
                            LogField("bundle_id", settings.bundleID), LogField("file", settings.catalogPath))
                    }
                } else if isKnown {
                    let mutation = ControlLoop.mutation(
                        number, loaded, source: settings.catalogPath, timeRate: settings.timeRate)
                    if try !engine.mutateAtStart(mutation, wall: clock.now(), machine: clock.machine()) {
                        log.warning(
                            "there is no room in the store, so what has changed in the catalogue's file is not in it; free some space and send SIGHUP",
                            LogField("file", settings.catalogPath))
                    }
                    if let known, !known.catalogue.entitlements.isEmpty, !loaded.hasEntitlements {
                        log.warning(
                            "the named entitlements stay as they were: \(ReloadedFiles.entitlementsAreGone)",
                            LogField("bundle_id", settings.bundleID), LogField("file", settings.catalogPath))
                    }
                }
                result.append((settings, number))
            } catch {
                throw ServerError("\(error)")
            }
        }
        guard !engine.apps.isEmpty else {
            throw .settings("there is no app to serve; give --catalog a .storekit file")
        }
        return result
    }

    /// The apps that take values of the App Store, with the settings of their file. Nil: none was named.
    private static func intakeEntries(
        _ file: AppleAppsFile?, _ engine: StoreEngine, _ clock: StoreClock
    ) throws(ServerError) -> [IntakeEntry]? {
        guard let file else { return nil }
        let entries = try file.intakeEntries { engine.app($0, $1)?.number }
        for (entry, app) in zip(file.entries, entries) {
            do throws(StorageError) {
                _ = try engine.mutateAtStart(
                    AppleAppsFile.mutation(app.number, entry), wall: clock.now(), machine: clock.machine())
            } catch {
                throw ServerError("\(error)")
            }
        }
        return entries
    }

    private static func run(
        _ settings: ServerSettings, listeners: Listeners, keeper: TLSKeeper?, authenticator: Authenticator?,
        engine: StoreEngine, clock: StoreClock, apps: [(settings: ServerSettings.AppSettings, number: AppNumber)],
        appStore: AppStoreApps, secrets: StoreSecrets, twin: TwinSetup?, log: Log, ready: (Ready) -> Void
    ) throws(SystemError) -> Int32 {
        let count = Self.loopCount(settings)
        let budget = ConnectionBudget.ofProcess(keeping: listeners.isHTTPOn ? Limits.httpConnectionsMax : 0)
        let controlLoop = try EventLoop(name: "perch-control")
        let storeLoop = try EventLoop(name: "perch-store")
        let eventLoops = try (0..<count).map { (index) throws(SystemError) in
            try EventLoop(name: "perch-loop-\(index)")
        }
        let control = Inbox<ControlEvent>(wake: controlLoop.wake)
        // A store in memory never waits, so with a single loop it needs no thread.
        let hasOwnThread = settings.store != .memory || count > 1
        let storeWake = hasOwnThread ? storeLoop.wake : eventLoops[0].wake
        clock.wakes(storeWake)
        let store = Inbox<StoreRequest>(wake: storeWake)
        let questions = Inbox<StoreQuestion>(wake: storeWake)
        let limits = SharedLimits(loops: count)
        let inboxes = eventLoops.map { Inbox<LoopEvent>(wake: $0.wake) }
        let others = try AppStoreThreads(appStore)
        let signer = secrets.authority.map { SharedAppleSigner($0) }
        let (quotas, seenTokens, consoleCodes) = (SharedQuotas(), SeenTokens(), Self.newConsoleCodes())
        var core = CoreSettings(settings, loops: count, connections: budget.limit, passKey: secrets.passKey)
        core.serve(on: listeners, settings, secrets, engine)
        let states = engine.apps.states
        let moment = Moment(monotonic: Clocks.monotonic().nanoseconds / 1_000_000, wall: clock.now())

        let storeDriver = StoreLoop(
            engine: engine, inbox: store, questions: questions, loops: inboxes, control: control, clock: clock,
            reconciler: others.reconcile, poller: storeLoop.poller)
        let (revision, revoked) = (engine.beginLoops(), engine.revoked)
        let (identity, epoch) = (engine.header.identity, engine.header.epoch)

        // Everything that can fail comes before the first thread.
        var mainListeners = try listeners.open(loops: count)
        Self.warn(ofFew: budget.limit, log)
        let appleAcceptor = try Self.acceptApple(listeners, on: eventLoops[0].poller, budget)
        let drivers = try eventLoops.enumerated().map { (index, eventLoop) throws(SystemError) in
            let acceptor = try Self.accept(mainListeners.next(), on: eventLoop.poller, budget, settings.tls)
            return ServerLoop(
                loop: eventLoop, index: index,
                core: LoopCore(
                    loop: index, identity: identity, epoch: epoch, revision: revision, apps: states, settings: core,
                    authenticator: authenticator, revocations: revoked, quotas: quotas,
                    seenTokens: seenTokens, consoleCodes: consoleCodes, signer: signer, now: moment),
                acceptor: acceptor, inbox: inboxes[index], store: store, control: control, clock: clock,
                limits: limits, log: log,
                port: TLSPort(mode: settings.tls.mode, context: keeper?.context, tickets: keeper?.tickets),
                isInherited: listeners.isInherited, ownStore: hasOwnThread ? nil : storeDriver,
                appStore: .init(acceptor: index == 0 ? appleAcceptor : nil, intake: others.intake?.inbox))
        }
        let address = mainListeners.address
        let signals = try SignalSource(on: controlLoop.poller, tag: ControlLoop.signalTag)
        let manager = ServiceManager(settings.supervision, log: log)
        let driver = ControlLoop(
            ControlLoop.Parts(
                loop: controlLoop, settings: settings, inbox: control, loops: inboxes, store: store,
                questions: questions, signals: signals, apps: apps, identity: identity, epoch: epoch,
                address: address, manager: manager, log: log, keeper: keeper, appStore: others,
                appleNumbers: engine.apps.numbersByName, appleRootPEM: secrets.authority?.rootPEM ?? "",
                signer: signer))
        let http = try driver.listen(listeners, for: twin, states, clock)
        let readiness = Ready(
            address: address.description, http: http?.description, apple: appleAcceptor?.address.description,
            twin: driver.twin?.address.description, apps: states, revision: revision,
            storeIdentity: identity.description,
            console: listeners.servesConsole(settings) ? Self.consoleURL(address, settings.tls.mode) : nil)
        var threads = hasOwnThread ? [try Self.start(storeLoop, storeDriver)] : []
        threads += try Self.start(others.drivers(inboxes, store: store, isShared: engine.sharing != nil, clock, log))
        try driver.ask(about: appStore)
        for (eventLoop, driver) in zip(eventLoops, drivers) { threads.append(try Self.start(eventLoop, driver)) }
        ready(readiness)
        manager.ready("serving on \(address)")
        if let keeper { driver.tellCertificate(keeper) }
        Self.log(readiness, settings, loops: count, log)
        controlLoop.run(driver)
        return Self.end(driver, eventLoops + [storeLoop] + others.loops, threads)
    }

    private static func accept(
        _ listener: consuming Descriptor, on poller: Poller, _ budget: ConnectionBudget, _ tls: TLSSettings
    ) throws(SystemError) -> Acceptor {
        // If TLS is required, no client could read the farewell.
        let farewell = tls.mode == .required ? [] : Farewell.noRoom(limit: budget.limit)
        return try Acceptor(listener, tag: ServerLoop.listenerTag, on: poller, budget: budget, farewell: farewell)
    }

    private static func acceptApple(
        _ listeners: Listeners, on poller: Poller, _ budget: ConnectionBudget
    ) throws(SystemError) -> Acceptor? {
        guard listeners.isAppleOn else { return nil }
        return try Acceptor(listeners.openApple(), tag: ServerLoop.appleListenerTag, on: poller, budget: budget)
    }

    private static func consoleURL(_ address: SocketAddress, _ mode: TLSSettings.Mode) -> String {
        "\(mode == .required ? "https" : "http")://\(address)\(ConsoleFiles.entrance)"
    }

    /// Stops what still runs, and returns the exit status.
    private static func end(
        _ driver: ControlLoop, _ loops: [EventLoop], _ threads: [LoopThread]
    ) -> Int32 {
        // A failed store may hang in the kernel, so no thread waits for it.
        let status = driver.exitStatus ?? 1
        if status != 0 { exit(status) }
        driver.twin?.stop()
        for loop in loops { loop.stop() }
        for thread in threads { thread.join() }
        driver.asking.stop()
        return status
    }

    /// Others who can write where the store lies can take its place.
    private static func warn(ofOpenDirectoryOf path: String, _ log: Log) {
        var status = stat()
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard stat(directory, &status) == 0, status.st_mode & 0o002 != 0 else { return }
        log.warning(
            "other users of this machine can write the directory of the store, and so replace it; take that away with chmod o-w",
            LogField("directory", directory), LogField("mode", String(status.st_mode & 0o7777, radix: 8)))
    }

    private static func warn(ofFew connections: Int, _ log: Log) {
        guard connections < Limits.connectionsFew else { return }
        log.warning(
            "there are descriptors for few connections; raise LimitNOFILE= in the unit, or ulimit -n",
            LogField("connections", connections), LogField("kept_for_the_server", Limits.descriptorsReserved))
    }

    private static func log(_ ready: Ready, _ settings: ServerSettings, loops: Int, _ log: Log) {
        guard log.isForPrograms else { return }
        log.info(
            "serving", LogField("address", ready.address), LogField("http", ready.http ?? "off"),
            LogField("version", settings.version), LogField("loops", loops), LogField("revision", ready.revision))
    }

    private static func start(_ drivers: [(EventLoop, any LoopDriver)]) throws(SystemError) -> [LoopThread] {
        var threads: [LoopThread] = []
        for (loop, driver) in drivers { threads.append(try Self.start(loop, driver)) }
        return threads
    }

    /// Gives a driver to its loop's thread.
    private static func start(_ loop: EventLoop, _ driver: any LoopDriver) throws(SystemError) -> LoopThread {
        // Safe, because the driver was made here, is not used here again, and lives on its thread from now on. A store
        // in memory, which two drivers share, has no thread. The loop traps violations: it is bound to one
        // thread, and each use of its poller is checked to be on that thread.
        nonisolated(unsafe) let moved = driver
        return try loop.start(moved)
    }
}

extension StoredApps {
    fileprivate var numbersByName: [AppName: AppNumber] {
        Dictionary(self.states.map { (AppName(bundleID: $0.bundleID, environment: $0.environment), $0.number) }) {
            first, _ in
            first
        }
    }
}
