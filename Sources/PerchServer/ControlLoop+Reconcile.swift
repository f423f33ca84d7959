import PerchBase
import PerchCore
import PerchLoop
import PerchModel
import PerchReconciler
import PerchStore
import PerchWire

extension ControlLoop {
    /// Gives the reconciler's thread the apps of the file.
    func ask(about apps: AppStoreApps) throws(SystemError) {
        guard let thread = self.parts.appStore.reconcile else { return }
        try self.asking.adopt(apps, thread)
    }

    /// Begins a run of the reconciler, or says how far it is.
    func reconcile(
        _ app: AppNumber, run number: UInt64, isRehearsal: Bool, isWhole: Bool, _ audit: AuditEntry?
    ) -> ControlAnswer {
        guard let thread = self.parts.appStore.reconcile, thread.figures.asks(about: app) else {
            return .refused(
                .notToldApp,
                "nothing asks the App Store about this app: server_api is missing in the file of --apple-apps", [])
        }
        guard !thread.figures.counts.isIdle else {
            return .refused(
                .leaseWait,
                "another node of this store asks the App Store, or none has begun yet; send this to the one that does",
                [])
        }
        if number == 0 {
            switch thread.figures.newRun(
                of: app, isRehearsal: isRehearsal, isWhole: isWhole, at: Clocks.wall())
            {
            case .begins(let run):
                thread.inbox.post(.run(run, of: app))
                if let audit { self.note(audit) }
                return .response(.reconcile(ReconcileProgress(run)))
            case .isUnderWay(let run):
                guard run.isRehearsal == isRehearsal, run.isWhole == isWhole else {
                    return .refused(
                        .reconcileRunning,
                        "run \(run.number) of this app is under way since \(run.began), \(run.manner); wait for its end, or ask for it by its number",
                        [])
                }
                return .response(.reconcile(ReconcileProgress(run)))
            }
        }
        guard let run = thread.figures.run(of: app), run.number == number else {
            return .refused(
                .fieldInvalid, "run is \(number), which this server does not know; 0 begins one", [.field("run")])
        }
        return .response(.reconcile(ReconcileProgress(run)))
    }
}

extension ReconcileProgress {
    fileprivate init(_ run: ReconcileRun) {
        self.init(
            run: run.number, isDone: run.isDone,
            differences: run.differences.map { difference in
                ReconcileDifference(
                    source: difference.source.rawValue, originalTransactionID: difference.original,
                    message: difference.message)
            }, moreCount: UInt32(clamping: run.more), notificationCount: UInt32(clamping: run.notifications),
            subscriptionCount: UInt32(clamping: run.subscriptions), historyCount: UInt32(clamping: run.histories),
            problem: run.problem)
    }
}
