import Glibc
import PerchApple
import PerchBase
import PerchCore
import PerchIdentity
import PerchLoop
import PerchModel
import PerchStore
import PerchWire
import Synchronization

/// Work for the intake's thread, and the call of a loop that waits for it.
struct IntakeTask: Sendable {
    var loop: Int
    var ticket: UInt64
    var work: IngestWork
    /// The apps from now on, instead of work: their file was read again.
    var entries: [IntakeEntry]?
    /// The reconciler asks, and not a loop.
    var isReconciling = false

    /// Work of the reconciler.
    init(reconciling ticket: UInt64, _ work: IngestWork) {
        self.init(loop: 0, ticket: ticket, work: work)
        self.isReconciling = true
    }

    init(loop: Int, ticket: UInt64, work: IngestWork) {
        self.loop = loop
        self.ticket = ticket
        self.work = work
    }

    init(entries: [IntakeEntry]) {
        self.init(loop: 0, ticket: 0, work: .notification("", reach: .all))
        self.entries = entries
    }
}

/// An app that takes values of the App Store.
struct IntakeEntry: Sendable {
    var app: IntakeApp
    var number: AppNumber
    var environment: AppEnvironment
}

/// Figures of the intake, read by the control thread. Sendable without a claim: all state is behind one lock, which is taken once
/// for each value.
final class IntakeFigures: Sendable {
    struct Counts: Sendable {
        /// Values taken, by source and type.
        var taken: [String: UInt64] = [:]
        /// Values refused, by reason.
        var refused: [String: UInt64] = [:]
        var deadLetters: UInt64 = 0
        /// Fields of payloads that this version does not know.
        var unknownFields: UInt64 = 0
        var chainsChecked: UInt64 = 0
        /// Of the last notification: between its signature and its arrival.
        var lagMilliseconds: Int64 = 0
        /// Notifications with an unknown chain that wait behind others.
        var strangersWaiting = 0
        var lastNotification: Instant?
    }

    private let state = Mutex(Counts())

    var counts: Counts { self.state.withLock { $0 } }

    func change(_ body: (inout Counts) -> Void) { self.state.withLock { body(&$0) } }
}

/// The intake's thread, before it starts.
struct IntakeThread {
    let loop: EventLoop
    let inbox: Inbox<IntakeTask>
    let figures = IntakeFigures()
    private let entries: [IntakeEntry]

    init(_ entries: [IntakeEntry]) throws(SystemError) {
        self.loop = try EventLoop(name: "perch-intake")
        self.inbox = Inbox<IntakeTask>(wake: self.loop.wake)
        self.entries = entries
    }

    func driver(
        loops: [Inbox<LoopEvent>], reconciler: Inbox<ReconcileEvent>, _ clock: StoreClock
    ) -> IntakeLoop {
        IntakeLoop(
            inbox: self.inbox, loops: loops, reconciler: reconciler, clock: clock, figures: self.figures,
            entries: self.entries)
    }
}

/// Verifies signed values on a thread of its own, so that certificate chains cost no loop its time. It has a lower priority than
/// the loops, because strangers can send it work.
final class IntakeLoop: LoopDriver {
    private let inbox: Inbox<IntakeTask>
    private let loops: [Inbox<LoopEvent>]
    private let reconciler: Inbox<ReconcileEvent>
    private let clock: StoreClock
    private let figures: IntakeFigures
    private var intake: AppleIntake
    private var entries: [IntakeEntry]
    private var tasks: [IntakeTask] = []
    private var strangers: ArraySlice<IntakeTask> = []
    private var strangersTold = 0
    private var hasLowered = false

    init(
        inbox: Inbox<IntakeTask>, loops: [Inbox<LoopEvent>], reconciler: Inbox<ReconcileEvent>, clock: StoreClock,
        figures: IntakeFigures, entries: [IntakeEntry]
    ) {
        self.inbox = inbox
        self.loops = loops
        self.reconciler = reconciler
        self.clock = clock
        self.figures = figures
        self.entries = entries
        self.intake = AppleIntake(entries.map(\.app))
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {}

    func turn(now: MonotonicTime) -> MonotonicTime? {
        if !self.hasLowered {
            self.hasLowered = true
            // 0: the calling thread. A machine that forbids it only lacks the precaution.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        }
        // While so many strangers wait, further work stays in the inbox, whose length the loops bound.
        if self.strangers.count < Limits.intakeQueueMax { self.inbox.take(into: &self.tasks) }
        for task in self.tasks {
            if let entries = task.entries {
                self.entries = entries
                self.intake = AppleIntake(entries.map(\.app))
                continue
            }
            if self.isStrange(task.work) { self.strangers.append(task) } else { self.finish(task) }
        }
        self.tasks.removeAll(keepingCapacity: true)
        if let stranger = self.strangers.popFirst() { self.finish(stranger) }
        let waiting = self.strangers.count
        if waiting != self.strangersTold { self.figures.change { $0.strangersWaiting = waiting } }
        self.strangersTold = waiting
        return waiting == 0 ? nil : now
    }

    /// Whether a notification has a chain that was never good. A chain costs as much as five signatures, and anyone can send one,
    /// so what has a known chain goes first.
    private func isStrange(_ work: IngestWork) -> Bool {
        guard case .notification(let text, _) = work else { return false }
        return !self.intake.knowsChain(of: text)
    }

    private func finish(_ task: IntakeTask) {
        let answer = self.answer(task.work)
        if task.isReconciling {
            self.reconciler.post(.verified(ticket: task.ticket, answer))
        } else {
            self.loops[task.loop].post(.control(ticket: task.ticket, answer))
        }
    }

    private func answer(_ work: IngestWork) -> ControlAnswer {
        switch work {
        case .values(let texts, let bundleID, let environment, let claimant):
            return self.values(texts, bundleID, environment, claimant)
        case .notification(let text, let reach):
            do throws(IntakeRefusal) {
                return try self.notification(text, reach: reach, dropping: nil)
            } catch {
                return self.refusal(error, of: text)
            }
        case .fetched(let texts, let bundleID, let environment):
            return self.fetched(texts, bundleID, environment)
        case .keep(let text, let status):
            // The store had no room for what the value says. It is kept, and taken when there is.
            return self.letter(
                of: text, reason: status.reason?.rawValue ?? "\(status.code)", message: status.message,
                isStrange: false,
                status)
        case .retry(let letter, let key):
            do throws(IntakeRefusal) {
                return try self.notification(letter.jws, reach: .all, dropping: key)
            } catch {
                self.count(error)
                return .refused(Self.reason(error), error.message, Self.details(error))
            }
        }
    }

    // MARK: Submissions

    private func values(
        _ texts: [String], _ bundleID: String, _ environment: AppEnvironment, _ claimant: [UInt8]
    ) -> ControlAnswer {
        guard
            let entry = self.entries.first(where: {
                $0.app.app.bundleID == bundleID && $0.environment == environment
            })
        else {
            return .refused(
                .notToldApp,
                "this server takes no values for \(bundleID), \(environment); name it in the file of --apple-apps", [])
        }
        var reports: [ReportedValue] = []
        var names: [AccountAlias] = []
        var refusals: [(value: RefusedValue, error: IntakeRefusal)] = []
        for (index, text) in texts.enumerated() {
            do throws(IntakeRefusal) {
                let report = try self.intake.value(text, for: entry.app.app, now: self.clock.now())
                self.took(report, source: "submission")
                reports += report.reports
                if !report.appTransactionID.isEmpty { names.append(.appTransactionID(report.appTransactionID)) }
            } catch {
                self.count(error)
                let value = RefusedValue(index: UInt32(index), reason: error.code, message: error.message)
                refusals.append((value, error))
            }
        }
        if let first = refusals.first, refusals.count == texts.count {
            return .refused(
                Self.reason(first.error), "value 1: \(first.error.message)",
                Self.details(first.error) + [.field("signed_values"), StatusDetail(key: "index", value: "0")])
        }
        let key = claimant.isEmpty ? nil : AccountKey(app: entry.number, bytes: claimant)
        return .reported(
            .reported(.reports(reports, source: .submission, claimant: key, names: names), app: entry.number),
            refused: refusals.map(\.value))
    }

    // MARK: Values that the App Store answered

    /// They are verified and folded as if they had been delivered. What was refused alone is kept, if its outer signature is good.
    private func fetched(_ texts: [String], _ bundleID: String, _ environment: AppEnvironment) -> ControlAnswer {
        guard
            let entry = self.entries.first(where: {
                $0.app.app.bundleID == bundleID && $0.environment == environment
            })
        else {
            return .refused(.notToldApp, "the file of --apple-apps does not name \(bundleID), \(environment)", [])
        }
        var reports: [ReportedValue] = []
        var notice: NotedNotification?
        var refused: [RefusedValue] = []
        for (index, text) in texts.enumerated() {
            do throws(IntakeRefusal) {
                let now = self.clock.now()
                let report = try self.intake.value(text, for: entry.app.app, now: now)
                self.took(report, source: "history")
                reports += report.reports
                guard report.kind == .notification else { continue }
                notice = Self.notice(of: report, kept: environment == .sandbox ? Self.kept(text, report, now) : nil)
            } catch {
                if texts.count == 1 { return self.refusal(error, of: text) }
                self.count(error)
                refused.append(RefusedValue(index: UInt32(index), reason: error.code, message: error.message))
            }
        }
        return .reported(
            .reported(.reports(reports, source: .history, claimant: nil, notice: notice), app: entry.number),
            refused: refused)
    }

    // MARK: Notifications

    private func notification(
        _ text: String, reach: AppReach, dropping item: ItemKey?
    ) throws(IntakeRefusal) -> ControlAnswer {
        let now = self.clock.now()
        let report = try self.intake.notification(text, now: now)
        guard let entry = self.entries.first(where: { $0.app.app == report.app }) else {
            preconditionFailure("the intake knows an app that the server does not")
        }
        let name = AppName(bundleID: report.app.bundleID, environment: entry.environment)
        guard reach.includes(name) else {
            return .refused(
                .permissionDenied,
                "the credentials are for \(reach), and the notification is of another app; send it with credentials for that one",
                [StatusDetail(key: "needed", value: "app")])
        }
        self.took(report, source: "notification")
        self.figures.change { counts in
            counts.lastNotification = now
            counts.lagMilliseconds = max(0, now.milliseconds(since: report.signed))
        }
        return .reported(
            .reported(
                .reports(
                    report.reports, source: .notification, claimant: nil,
                    notice: Self.notice(
                        of: report, kept: entry.environment == .sandbox ? Self.kept(text, report, now) : nil),
                    dropping: item), app: entry.number))
    }

    /// What accounts note of a notification.
    private static func notice(of report: SourceReport, kept: KeptNotification?) -> NotedNotification {
        func short(_ text: String) -> String { String(text.prefix(Limits.reportedNoticeTextMax)) }
        var id: TransactionID = 0
        for case .transaction(let transaction, _) in report.reports { id = transaction.id }
        return NotedNotification(
            NotificationNotice(
                type: short(report.type), subtype: short(report.subtype), uuid: short(report.eventID),
                signed: report.signed, transactionID: id), consumptionReason: short(report.consumptionReason),
            kept: kept)
    }

    private static func kept(_ text: String, _ report: SourceReport, _ now: Instant) -> KeptNotification {
        KeptNotification(
            received: now, signed: report.signed, bundleID: report.app.bundleID, type: report.type,
            subtype: report.subtype, jws: text, about: Self.about(text))
    }

    private static func about(_ text: String) -> [String] {
        let about = AppleIntake.about(text)
        return about.originals.map { DeadLetter.about(original: $0) } + about.aliases.map { DeadLetter.about($0) }
    }

    /// A refusal that the caller is told at once, or once the value is kept.
    private func refusal(_ refusal: IntakeRefusal, of text: String) -> ControlAnswer {
        self.count(refusal)
        let (reason, details) = (Self.reason(refusal), Self.details(refusal))
        guard refusal.isDeadLetter else { return .refused(reason, refusal.message, details) }
        return self.letter(
            of: text, reason: reason.rawValue, message: refusal.message, isStrange: refusal.kind == .notConfigured,
            WireStatus(reason, refusal.message, details: details))
    }

    /// Keeps a value as a dead letter; then its call is refused.
    private func letter(
        of text: String, reason: String, message: String, isStrange: Bool, _ status: WireStatus
    ) -> ControlAnswer {
        self.figures.change { $0.deadLetters += 1 }
        let outer = AppleIntake.outer(text)
        let letter = DeadLetter(
            received: self.clock.now(), reason: reason, message: message, bundleID: outer?.bundleID ?? "",
            environment: outer?.environment ?? "", notificationType: outer?.type ?? "", jws: text,
            about: Self.about(text))
        let item = letter.item(signed: outer?.signedDate ?? letter.received, isStrange: isStrange)
        var status = status
        status.details.append(.kept)
        return .deadLetter(
            .item(.keep(item, limit: isStrange ? Limits.strangeDeadLettersMax : Limits.deadLettersMax)), status)
    }

    // MARK: Parts

    private func took(_ report: SourceReport, source: String) {
        let type = Self.types.contains(report.type) ? report.type : report.type.isEmpty ? report.kind.rawValue : "other"
        self.figures.change { counts in
            counts.taken["\(source) \(type)", default: 0] += 1
            counts.unknownFields += UInt64(report.unknownFields.count)
            counts.chainsChecked = self.intake.chainsChecked
        }
    }

    private func count(_ refusal: IntakeRefusal) {
        self.figures.change { counts in
            counts.refused[refusal.code, default: 0] += 1
            counts.chainsChecked = self.intake.chainsChecked
        }
    }

    /// Apple's types. Others are counted together, so that a sender cannot make metrics.
    private static let types: Set = [
        "SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_PREF",
        "OFFER_REDEEMED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED", "PRICE_INCREASE", "REFUND",
        "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE", "RENEWAL_EXTENDED",
        "RENEWAL_EXTENSION", "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT", "TEST",
    ]

    private static func reason(_ refusal: IntakeRefusal) -> ErrorReason {
        guard let reason = ErrorReason(rawValue: refusal.code) else {
            preconditionFailure("\(refusal.code) is no reason of the contract")
        }
        return reason
    }

    private static func details(_ refusal: IntakeRefusal) -> [StatusDetail] {
        refusal.libraryStatus.map { [StatusDetail(key: "apple_library_status", value: $0.rawValue)] } ?? []
    }
}
