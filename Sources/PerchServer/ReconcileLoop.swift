import PerchApple
import PerchBase
import PerchCore
import PerchIdentity
import PerchLoop
import PerchMetrics
import PerchModel
import PerchReconciler
import PerchSender
import PerchStore
import PerchWire
import Synchronization

/// Events for the reconciler's thread.
enum ReconcileEvent: Sendable {
    /// Of several nodes one has the right to ask the App Store, and until when; nil: this one has it no longer.
    case maySend(until: MonotonicTime?)
    case answered(ticket: UInt64, SenderResult)
    case verified(ticket: UInt64, ControlAnswer)
    case stored(ticket: UInt64, StoreAnswer)
    /// Somebody asks for a run.
    case run(ReconcileRun, of: AppNumber)
    /// Those that are asked about from now on, and what sends the requests; nil where there is no app.
    case apps([ReconciledApp], Sender?)
}

/// An app that the App Store is asked about.
struct ReconciledApp: Sendable, Equatable {
    var number: AppNumber
    var app: AppleApp
    var environment: AppEnvironment
    var api: AppleAppsFile.ServerAPISettings
}

/// What the reconciler's thread has found, read by the control thread. Sendable without a claim: one lock guards all state.
final class ReconcileFigures: Sendable {
    struct Counts: Sendable {
        var reports: [AppWork.Report] = []
        var sender = SenderFigures()
        /// Since the last complete walk over the notifications that failed, of the app where it is longest ago.
        var unfetchedMilliseconds: Int64 = 0
        /// Another node asks the App Store, or none does.
        var isIdle = false
    }

    private struct State: Sendable {
        var counts = Counts()
        var apps: Set<AppNumber> = []
        /// By app: the run that is under way, or was last.
        var runs: [AppNumber: ReconcileRun] = [:]
        var lastRun: UInt64 = 0
    }

    private let state = Mutex(State())
    private let asks = Atomic<Bool>(false)

    /// Whether there is an app to ask about. Any thread may look, as often as it likes.
    var asksAboutApps: Bool { self.asks.load(ordering: .relaxed) }

    func asks(about app: AppNumber) -> Bool { self.state.withLock { $0.apps.contains(app) } }

    func begin(asking apps: [AppNumber]) {
        self.state.withLock { $0.apps = Set(apps) }
        self.asks.store(!apps.isEmpty, ordering: .relaxed)
    }

    var counts: Counts { self.state.withLock { $0.counts } }

    func publish(_ counts: Counts) { self.state.withLock { $0.counts = counts } }

    func run(of app: AppNumber) -> ReconcileRun? { self.state.withLock { $0.runs[app] } }

    enum NewRun {
        case begins(ReconcileRun)
        /// Another one, perhaps of another manner.
        case isUnderWay(ReconcileRun)
    }

    /// A run of an app that may begin, or the one that is under way.
    func newRun(of app: AppNumber, isRehearsal: Bool, isWhole: Bool, at now: Instant) -> NewRun {
        self.state.withLock { state in
            if let run = state.runs[app], !run.isDone { return .isUnderWay(run) }
            state.lastRun += 1
            let run = ReconcileRun(number: state.lastRun, isRehearsal: isRehearsal, isWhole: isWhole, began: now)
            state.runs[app] = run
            return .begins(run)
        }
    }

    /// A run that ended while the next one was given out does not hide that one.
    func publish(_ run: ReconcileRun, of app: AppNumber) {
        self.state.withLock { state in
            guard state.runs[app].map({ $0.number <= run.number }) ?? true else { return }
            state.runs[app] = run
        }
    }

    /// The reconciler is gone, and with it what it had not ended.
    func endRuns(_ reason: String) {
        self.state.withLock { state in
            for (app, run) in state.runs where !run.isDone {
                state.runs[app]?.isDone = true
                state.runs[app]?.problem = reason
            }
        }
    }
}

/// Whether requests about an app may go to the App Store now, asked on the sender's thread before each attempt. Sendable without a
/// claim: one lock guards all state.
final class SendPermit: Sendable {
    private struct State: Sendable {
        /// Nil: this node has no right to ask.
        var until: MonotonicTime?
        /// Apps whose key was refused, and until when nothing is sent for them.
        var paused: [Int: MonotonicTime] = [:]
    }

    private let state = Mutex(State())

    func isGranted(_ app: Int) -> Bool {
        let now = Clocks.monotonic()
        return self.state.withLock { state in
            guard let until = state.until, now < until else { return false }
            return state.paused[app].map { $0 <= now } ?? true
        }
    }

    /// Returns whether something that was granted no longer is.
    func set(until: MonotonicTime?, paused: [Int: MonotonicTime]) -> Bool {
        self.state.withLock { state in
            defer { (state.until, state.paused) = (until, paused) }
            return (state.until != nil && until == nil) || paused.keys.contains { state.paused[$0] == nil }
        }
    }
}

/// The reconciler's thread, before it starts.
struct ReconcileThread {
    let loop: EventLoop
    let inbox: Inbox<ReconcileEvent>
    let figures = ReconcileFigures()

    init() throws(SystemError) {
        self.loop = try EventLoop(name: "perch-reconcile")
        self.inbox = Inbox<ReconcileEvent>(wake: self.loop.wake)
    }

    func driver(
        store: Inbox<StoreRequest>, asker: Int, intake: Inbox<IntakeTask>, isShared: Bool, _ clock: StoreClock,
        _ log: Log
    ) -> ReconcileLoop {
        ReconcileLoop(
            inbox: self.inbox, store: store, asker: asker, intake: intake, mayAlwaysSend: !isShared, clock: clock,
            figures: self.figures, log: log)
    }
}

/// Drives the reconciler on its own thread: between the sender, the verifier of signed values and the store. Nothing on it is urgent.
final class ReconcileLoop: LoopDriver {
    private var apps: [ReconciledApp] = []
    private let inbox: Inbox<ReconcileEvent>
    private var sender: Sender?
    /// Another one for each reconciler: requests of an earlier one are not sent under the right, or the key, of the next.
    private var permit = SendPermit()
    private let store: Inbox<StoreRequest>
    private let asker: Int
    private let intake: Inbox<IntakeTask>
    private let clock: StoreClock
    private let figures: ReconcileFigures
    private let log: Log
    private var maySendUntil: MonotonicTime?
    /// Nil while another node asks.
    private var reconciler: Reconciler?
    private var began: Instant = .distantPast
    private var firstTicket: UInt64 = 1
    private var events: [ReconcileEvent] = []
    /// Runs that somebody has asked for since the last turn.
    private var wanted: [(run: ReconcileRun, app: AppNumber)] = []

    init(
        inbox: Inbox<ReconcileEvent>, store: Inbox<StoreRequest>, asker: Int, intake: Inbox<IntakeTask>,
        mayAlwaysSend: Bool, clock: StoreClock, figures: ReconcileFigures, log: Log
    ) {
        self.inbox = inbox
        self.store = store
        self.asker = asker
        self.intake = intake
        self.maySendUntil = mayAlwaysSend ? .distantFuture : nil
        self.clock = clock
        self.figures = figures
        self.log = log
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {}

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.inbox.take(into: &self.events)
        let wall = self.clock.now()
        for event in self.events { self.handle(event, wall) }
        self.events.removeAll(keepingCapacity: true)
        guard let until = self.maySendUntil, now < until else {
            self.giveUp("this node has lost the right to ask the App Store; begin again on the one that has it")
            self.publish(wall)
            return nil
        }
        guard !self.apps.isEmpty else {
            self.publish(wall)
            return nil
        }
        if self.reconciler == nil { self.began = wall }
        var reconciler =
            self.reconciler
            ?? Reconciler(
                self.apps.map {
                    Reconciler.App(
                        number: $0.number, app: $0.app, keyID: $0.api.key.id,
                        finishesTransactions: $0.api.finishesTransactions,
                        setsAccountTokens: $0.api.setsAccountTokens)
                }, now: wall, firstTicket: self.firstTicket)
        for (run, app) in self.wanted { self.begin(run, of: app, &reconciler) }
        self.wanted = []
        let next = reconciler.turn(now: wall)
        let effects = reconciler.takeEffects()
        for (index, app) in self.apps.enumerated() {
            if let run = reconciler.run(index) { self.figures.publish(run, of: app.number) }
        }
        self.reconciler = reconciler
        self.permit(until, reconciler, now: now, wall)
        for effect in effects { self.perform(effect) }
        self.publish(wall)
        let due = now.advanced(byMilliseconds: max(0, next.milliseconds(since: wall)))
        return min(due, until)
    }

    private func permit(_ until: MonotonicTime, _ reconciler: borrowing Reconciler, now: MonotonicTime, _ wall: Instant)
    {
        var paused: [Int: MonotonicTime] = [:]
        for app in self.apps.indices {
            let pause = reconciler.pausedUntil(app).milliseconds(since: wall)
            if pause > 0 { paused[app] = now.advanced(byMilliseconds: pause) }
        }
        if self.permit.set(until: until, paused: paused) { self.sender?.endUnwanted() }
    }

    /// Answers to what is under way come to tickets that no later reconciler has. What waits to be sent is not sent.
    private func giveUp(_ reason: String) {
        self.wanted = []
        self.figures.endRuns(reason)
        guard let reconciler = self.reconciler else { return }
        if self.permit.set(until: nil, paused: [:]) { self.sender?.endUnwanted() }
        self.permit = SendPermit()
        self.firstTicket = reconciler.unusedTicket
        self.reconciler = nil
    }

    private func publish(_ wall: Instant) {
        var counts = ReconcileFigures.Counts()
        counts.reports = self.reconciler?.reports ?? []
        counts.sender = self.sender?.figures ?? SenderFigures()
        counts.isIdle = self.reconciler == nil
        let walks = counts.reports.map { $0.lastWalk ?? $0.since ?? self.began }
        counts.unfetchedMilliseconds = walks.min().map { max(0, wall.milliseconds(since: $0)) } ?? 0
        self.figures.publish(counts)
    }

    private func handle(_ event: ReconcileEvent, _ wall: Instant) {
        switch event {
        case .maySend(let until): self.maySendUntil = until
        case .answered(let ticket, let result): self.reconciler?.answered(ticket, result, now: wall)
        case .stored(let ticket, let answer): self.reconciler?.stored(ticket, answer, now: wall)
        case .verified(let ticket, let answer):
            self.reconciler?.verified(ticket, Self.verified(answer), now: wall)
        case .run(let run, let app): self.wanted.append((run, app))
        case .apps(let apps, let sender):
            // It begins as after a start, from the stored places.
            self.giveUp("the file of --apple-apps was read again, and says something else; begin again")
            (self.apps, self.sender) = (apps, sender)
        }
    }

    private func begin(_ run: ReconcileRun, of app: AppNumber, _ reconciler: inout Reconciler) {
        guard let index = self.apps.firstIndex(where: { $0.number == app }) else { return }
        let what = run.isRehearsal ? "a rehearsal of asking the App Store begins" : "the App Store is asked now"
        let name = self.apps[index].app
        self.log.write(
            .info, what,
            [
                LogField("bundle_id", name.bundleID), LogField("environment", "\(name.environment)"),
                LogField("run", run.number), LogField("everything", "\(run.isWhole)"),
            ])
        reconciler.begin(run, of: index)
    }

    private static func verified(_ answer: ControlAnswer) -> Reconciler.Verified {
        switch answer {
        case .reported(let mutation, let refused):
            .mutation(
                mutation, isLetter: false, refused: refused.count,
                mayPass: refused.contains { ErrorReason(rawValue: $0.reason).map { !Self.isFinal($0) } ?? false })
        case .deadLetter(let mutation, _): .mutation(mutation, isLetter: true, refused: 0)
        case .refused(let reason, let message, _): .refused(message, isFinal: Self.isFinal(reason))
        case .response, .failed: preconditionFailure("the intake answers with a mutation or a refusal")
        }
    }

    /// A root may be installed, an app may be named again, and what was full may have room.
    private static func isFinal(_ reason: ErrorReason) -> Bool {
        switch reason {
        case .notToldApp, .appleUntrusted: false
        default: !reason.retry.passesWithTime
        }
    }

    private func perform(_ effect: Reconciler.Effect) {
        switch effect {
        case .ask(let body, let ticket):
            self.store.post(StoreRequest(loop: self.asker, ticket: ticket, body))
        case .keep(let item, let ticket):
            self.store.post(
                StoreRequest(loop: self.asker, ticket: ticket, .mutate(.item(.keep(item, limit: 1)))))
        case .verify(let texts, let app, let ticket):
            let asked = self.apps[app]
            self.intake.post(
                IntakeTask(
                    reconciling: ticket,
                    .fetched(texts, bundleID: asked.app.bundleID, environment: asked.environment)))
        case .send(let call, let app, let ticket): self.send(call, app, ticket)
        case .tell(let note, let app): self.tell(note, self.apps[app].app)
        }
    }

    private func send(_ call: AppleAPICall, _ index: Int, _ ticket: UInt64) {
        let app = self.apps[index]
        guard let method = SenderRequest.Method(rawValue: call.method) else {
            preconditionFailure("\(call.method) is no method of a request")
        }
        let subject = app.app
        let lane = SenderLane(
            "\(subject.bundleID) \(subject.environment.rawValue) \(call.name) \(app.api.baseURL)",
            perThousandSeconds: call.perThousandSeconds(in: subject.environment), burst: call.burst)
        var request = SenderRequest(method, app.api.baseURL + call.path, lane: lane)
        request.headers = ["Accept: application/json"]
        request.body = call.body
        if !call.body.isEmpty { request.headers.append("Content-Type: application/json") }
        let key = app.api.key
        request.authorization = { "Bearer " + key.token(for: subject.bundleID, at: Clocks.wall()) }
        request.isRetried = { AppleAPIAnswer($0.body)?.error?.isRetryable == true }
        let permit = self.permit
        request.isWanted = { permit.isGranted(index) }
        let inbox = self.inbox
        guard let sender = self.sender else { preconditionFailure("an app is asked about, and nothing sends") }
        sender.send(request) { inbox.post(.answered(ticket: ticket, $0)) }
    }

    private func tell(_ note: Reconciler.Note, _ app: AppleApp) {
        let fields = [
            LogField("bundle_id", app.bundleID), LogField("environment", app.environment.rawValue),
        ]
        switch note {
        case .found(let message, let original):
            self.log.write(.info, message, original == 0 ? fields : fields + [LogField("original", original)])
        case .settled(let message): self.log.write(.info, message, fields)
        case .problem(let message): self.log.repeated(.warning, message, fields)
        }
    }
}
