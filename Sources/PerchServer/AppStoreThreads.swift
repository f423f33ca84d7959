import PerchCore
import PerchLoop
import PerchModel
import PerchSender
import PerchStore

/// The apps of the App Store, as the file of `--apple-apps` names them.
struct AppStoreApps {
    /// Nil: there is no file.
    let intake: [IntakeEntry]?
    /// Those with a key.
    let reconciled: [ReconciledApp]
    let network: CurlNetwork?
    /// Production apps without a key.
    let withoutKey: [String]

    init(_ file: AppleAppsFile?, _ entries: [IntakeEntry]?) throws(ServerError) {
        self.intake = entries
        let named = file?.entries ?? []
        self.reconciled = zip(named, entries ?? []).compactMap { entry, app in
            entry.api.map { ReconciledApp(entry: app, api: $0) }
        }
        self.withoutKey = named.filter { $0.environment == .production && $0.api == nil }.map(\.bundleID)
        do throws(SenderUnavailable) {
            self.network = self.reconciled.isEmpty ? nil : try ReconcileThread.network(for: self.reconciled)
        } catch {
            throw ServerError("server_api in the file of --apple-apps: \(error)")
        }
    }
}

/// The threads for these apps, before they start: one verifies signed values, one asks the App Store back.
struct AppStoreThreads {
    let intake: IntakeThread?
    let reconcile: ReconcileThread?
    let withoutKey: [String]

    /// Where there is no such app.
    init() {
        self.intake = nil
        self.reconcile = nil
        self.withoutKey = []
    }

    init(_ apps: AppStoreApps) throws(SystemError) {
        self.intake = try apps.intake.map { (entries) throws(SystemError) in try IntakeThread(entries) }
        self.reconcile = try apps.network.map { (network) throws(SystemError) in
            try ReconcileThread(apps.reconciled, network)
        }
        self.withoutKey = apps.withoutKey
    }

    var loops: [EventLoop] { [self.intake?.loop, self.reconcile?.loop].compactMap { $0 } }

    /// What runs on each of their loops, and the sender, whose thread has started then.
    func drivers(
        _ loops: [Inbox<LoopEvent>], store: Inbox<StoreRequest>, isShared: Bool, _ clock: StoreClock, _ log: Log
    ) throws(SystemError) -> (drivers: [(EventLoop, any LoopDriver)], sender: Sender?) {
        guard let intake = self.intake else { return ([], nil) }
        let verifier = intake.driver(loops: loops, reconciler: self.reconcile?.inbox, clock)
        guard let reconcile = self.reconcile else { return ([(intake.loop, verifier)], nil) }
        let asking = try reconcile.driver(
            store: store, asker: loops.count + 1, intake: intake.inbox, isShared: isShared, clock, log)
        return ([(intake.loop, verifier), (reconcile.loop, asking)], asking.sender)
    }
}
