import PerchApple
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
    /// Nil where no app has a key.
    let network: CurlNetwork?
    let rules: SenderRules?
    /// Apps without a key.
    let withoutKey: [AppleApp]

    /// Loads libcurl where an app has a key.
    init(_ file: AppleAppsFile?, _ entries: [IntakeEntry]?) throws(ServerError) {
        self.intake = entries
        let named = file?.entries ?? []
        self.reconciled = zip(named, entries ?? []).compactMap { entry, app in
            entry.api.map {
                ReconciledApp(number: app.number, app: app.app.app, environment: app.environment, api: $0)
            }
        }
        self.rules = SenderRules(for: self.reconciled)
        self.withoutKey = zip(named, entries ?? []).compactMap { $0.api == nil ? $1.app.app : nil }
        do throws(SenderUnavailable) {
            self.network = try self.rules.map { (rules) throws(SenderUnavailable) in try CurlNetwork(rules) }
        } catch {
            throw ServerError("server_api in the file of --apple-apps: \(error)")
        }
    }
}

extension SenderRules {
    /// Plain http to loopback, and private addresses, are for all apps where one says so. Nil where no app is asked about.
    fileprivate init?(for apps: [ReconciledApp]) {
        guard !apps.isEmpty else { return nil }
        self.init()
        self.allowsLoopbackHTTP = apps.contains { $0.api.isPlain }
        self.allowsPrivateAddresses = apps.contains { $0.api.allowsPrivateAddresses }
    }
}

/// The apps that the App Store is asked about, as the control thread gave them to the reconciler's, and the sender for them. Its owner
/// must call `stop` once that thread has ended.
struct AppStoreAsking {
    private var apps: [ReconciledApp] = []
    private(set) var withoutKey: [AppleApp] = []
    private var sender: Sender?
    private var rules: SenderRules?

    /// Gives the thread what the file says now, if it differs. The sender stays where its rules do, so no limit of the App Store is
    /// forgotten.
    mutating func adopt(_ apps: AppStoreApps, _ thread: ReconcileThread) throws(SystemError) {
        self.withoutKey = apps.withoutKey
        guard apps.reconciled != self.apps else { return }
        let old = self.sender
        if apps.rules != self.rules {
            var random = SystemRandomNumberGenerator()
            self.sender = try apps.network.map { (network) throws(SystemError) in
                try Sender(network, seed: random.next())
            }
            self.rules = apps.rules
        }
        self.apps = apps.reconciled
        thread.figures.begin(asking: self.apps.map(\.number))
        thread.inbox.post(.apps(self.apps, self.sender))
        // The thread may still hand it requests, which end at once.
        if let old, old !== self.sender { old.stop() }
    }

    mutating func stop() {
        self.sender?.stop()
        self.sender = nil
    }
}

/// The threads for apps of the App Store, before they start: one verifies signed values, one asks the App Store back.
struct AppStoreThreads {
    let intake: IntakeThread?
    let reconcile: ReconcileThread?

    /// Where there is no such app.
    init() {
        self.intake = nil
        self.reconcile = nil
    }

    init(_ apps: AppStoreApps) throws(SystemError) {
        self.intake = try apps.intake.map { (entries) throws(SystemError) in try IntakeThread(entries) }
        // Without a key it waits for one.
        self.reconcile = apps.intake == nil ? nil : try ReconcileThread()
    }

    var loops: [EventLoop] { [self.intake?.loop, self.reconcile?.loop].compactMap { $0 } }

    /// What runs on each of their loops.
    func drivers(
        _ loops: [Inbox<LoopEvent>], store: Inbox<StoreRequest>, isShared: Bool, _ clock: StoreClock, _ log: Log
    ) -> [(EventLoop, any LoopDriver)] {
        guard let intake = self.intake, let reconcile = self.reconcile else { return [] }
        return [
            (intake.loop, intake.driver(loops: loops, reconciler: reconcile.inbox, clock)),
            (
                reconcile.loop,
                reconcile.driver(
                    store: store, asker: loops.count + 1, intake: intake.inbox, isShared: isShared, clock, log)
            ),
        ]
    }
}
