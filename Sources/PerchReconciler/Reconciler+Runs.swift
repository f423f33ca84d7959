import PerchApple
package import PerchBase
package import PerchModel
import PerchStore

/// A run that somebody has asked for: everything is looked at now.
package struct ReconcileRun: Hashable, Sendable {
    package enum Source: String, Hashable, Sendable {
        case notification, subscription, history
        /// Not found: the App Store refuses to be told something.
        case update
    }

    /// What no notification had told, or the App Store refuses to be told.
    package struct Difference: Hashable, Sendable {
        package var source: Source
        /// 0: it is not known.
        package var original: TransactionID
        package var message: String

        package init(source: Source, original: TransactionID, message: String) {
            self.source = source
            self.original = original
            self.message = message
        }

        /// What a notification says of itself.
        init(notification text: String) {
            self.init(
                source: .notification, original: AppleIntake.about(text).originals.first ?? 0,
                message: "a notification was not taken")
            guard let outer = AppleIntake.outer(text) else { return }
            let type = printable(outer.type ?? "of no type")
            self.message = "\(type)\(outer.signedDate.map { " of \($0)" } ?? "") was not taken"
        }

        /// How the App Store's answer differs from what is known; nil: it does not, or is about another subscription of the customer.
        init?(_ line: AppleSubscriptionStatus, _ known: EndedSubscription) {
            guard line.original == known.original else { return nil }
            let hasRenewed = (line.end ?? .distantPast) > known.end
            guard hasRenewed || line.state.map({ $0 != known.state }) ?? false else { return nil }
            let state = line.state.map { "\($0)" } ?? "of no state"
            self.init(
                source: .subscription, original: known.original,
                message: "the App Store says \(state)\(line.end.map { ", period until \($0)" } ?? ""); "
                    + "known is \(known.state), period until \(known.end)")
        }
    }

    package var number: UInt64
    package var isRehearsal: Bool
    package var isWhole: Bool
    package var began: Instant
    package var isDone = false
    package var differences: [Difference] = []
    package var more = 0
    package var notifications = 0
    package var subscriptions = 0
    package var histories = 0
    /// What could not be looked at; empty: nothing.
    package var problem = ""

    package init(number: UInt64, isRehearsal: Bool, isWhole: Bool, began: Instant) {
        self.number = number
        self.isRehearsal = isRehearsal
        self.isWhole = isWhole
        self.began = began
    }

    /// How it was asked for, for messages.
    package var manner: String {
        (self.isRehearsal ? "a rehearsal" : "for real") + (self.isWhole ? " of everything" : " of what is due")
    }

    enum Scan<Place: Hashable & Sendable>: Hashable, Sendable {
        case from(Place)
        case asked
        case done
    }

    struct Work: Sendable {
        var progress: ReconcileRun
        var wantsWalk = true
        var scan = Scan<AccountNumber>.from(0)
        var unread = Scan<AccountNumber>.from(0)
        /// What the App Store refuses is listed by rehearsals, since no run changes it.
        var updates: Scan<[UInt8]>
        /// Nothing more is asked.
        var isStopped = false
        /// Questions about subscriptions, and parts of answers that are not stored yet.
        var checks = 0

        init(_ progress: ReconcileRun) {
            self.progress = progress
            self.updates = progress.isRehearsal ? .from([]) : .done
        }

        mutating func found(_ difference: Difference?) {
            guard let difference else { return }
            guard self.progress.differences.count < Limits.reconcileDifferencesMax else {
                self.progress.more += 1
                return
            }
            self.progress.differences.append(difference)
        }

        mutating func stop(_ problem: String) {
            guard !self.progress.isDone else { return }
            self.isStopped = true
            self.note(problem)
        }

        mutating func note(_ problem: String) {
            if self.progress.problem.isEmpty { self.progress.problem = problem }
        }
    }
}

extension Reconciler {
    /// The run of an app that is under way, or was last.
    package func run(_ app: Int) -> ReconcileRun? { self.works[app].run?.progress }

    /// Begins a run. One that is under way goes on instead.
    package mutating func begin(_ run: ReconcileRun, of app: Int) {
        guard self.works[app].run.map(\.progress.isDone) ?? true else { return }
        self.works[app].run = ReconcileRun.Work(run)
    }

    /// Does what may be done now.
    mutating func goOnWithRun(_ app: Int, _ now: Instant) {
        guard var run = self.works[app].run, !run.progress.isDone else { return }
        if run.isStopped {
            run.wantsWalk = false
            if run.scan != .asked { run.scan = .done }
            if run.unread != .asked { run.unread = .done }
            if run.updates != .asked { run.updates = .done }
            self.works[app].run = run
            self.works[app].unread.removeAll(where: \.isRun)
        }
        let number = self.works[app].app.number
        if run.wantsWalk, self.works[app].walk == nil {
            self.works[app].run?.wantsWalk = false
            var walk = self.works[app].walk(now: now)
            walk.isRun = true
            if run.progress.isWhole {
                walk.onlyFailures = false
                walk.from = now.advanced(
                    byMilliseconds: -(self.works[app].app.app.environment.notificationDays - 1) * 86_400_000)
            }
            self.begin(walk, app)
        }
        if case .from(let account) = run.scan, run.checks < Limits.reconcileChecksMax {
            self.works[app].run?.scan = .asked
            self.effects.append(
                .ask(
                    .awaited(
                        number, from: account, isWhole: run.progress.isWhole, limit: Limits.reconcileScannedAtOnce),
                    ticket: self.begin(.runScan(app))))
        }
        if case .from(let account) = run.unread, self.works[app].unread.isEmpty {
            self.works[app].run?.unread = .asked
            self.effects.append(
                .ask(
                    .unread(
                        number, from: account, since: now, isWhole: run.progress.isWhole,
                        limit: Limits.reconcileScannedAtOnce), ticket: self.begin(.unread(app, isRun: true))))
        }
        if case .from(let key) = run.updates {
            self.works[app].run?.updates = .asked
            self.effects.append(
                .ask(
                    .items(
                        .appStoreUpdate, groups: [ItemKey.appGroup(number)], after: key,
                        limit: Limits.reconcileUpdatesAtOnce), ticket: self.begin(.runUpdates(app))))
        }
        let reads =
            self.works[app].readings.values.contains(where: \.isRun) || self.works[app].unread.contains(where: \.isRun)
        guard !run.wantsWalk, self.works[app].walk?.isRun != true, run.scan == .done, run.unread == .done,
            run.updates == .done, run.checks == 0, !reads
        else { return }
        self.works[app].run?.progress.isDone = true
    }

    mutating func tookRunScan(_ answer: StoreAnswer, _ app: Int, _ now: Instant) {
        guard case .ended(let found, let through, let hasMore) = answer else {
            self.works[app].run?.scan = .done
            self.works[app].run?.note("the store could not be looked through for subscriptions")
            return
        }
        self.works[app].run?.scan = hasMore ? .from(through.account) : .done
        self.works[app].run?.checks += found.count
        self.works[app].run?.progress.subscriptions += found.count
        for one in found { self.send(.statuses(one.transaction), app, .statuses(app, one, isRun: true)) }
    }

    mutating func tookRunUpdates(_ answer: StoreAnswer, _ app: Int) {
        guard case .items(let items, let hasMore) = answer else {
            self.works[app].run?.updates = .done
            self.works[app].run?.note("the store could not be looked through for refused updates")
            return
        }
        for update in items.lazy.compactMap({ AppStoreUpdate($0) }) where !update.message.isEmpty {
            let refused = RefusedUpdate(what: update.what, reason: update.message)
            self.works[app].run?.found(
                ReconcileRun.Difference(source: .update, original: update.transaction, message: "\(refused)"))
        }
        self.works[app].run?.updates = hasMore ? .from(items.last?.key.key ?? []) : .done
    }

    mutating func endRunCheck(_ app: Int, _ problem: String? = nil) {
        self.works[app].run?.checks -= 1
        if let problem { self.works[app].run?.note(problem) }
    }
}
