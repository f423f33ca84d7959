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
import Synchronization

/// Events for the reconciler's thread.
enum ReconcileEvent: Sendable {
    /// Of several nodes one has the right to ask the App Store, and until when; nil: this one has it no longer.
    case maySend(until: MonotonicTime?)
    case answered(ticket: UInt64, SenderResult)
    case verified(ticket: UInt64, ControlAnswer)
    case stored(ticket: UInt64, StoreAnswer)
}

/// An app that the App Store is asked about.
struct ReconciledApp: Sendable {
    var entry: IntakeEntry
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

    private let state = Mutex(Counts())

    var counts: Counts { self.state.withLock { $0 } }

    func publish(_ counts: Counts) { self.state.withLock { $0 = counts } }
}

/// The reconciler's thread, before it starts.
struct ReconcileThread {
    let loop: EventLoop
    let inbox: Inbox<ReconcileEvent>
    let figures = ReconcileFigures()
    let sender: Sender
    private let apps: [ReconciledApp]

    init(_ apps: [ReconciledApp], _ network: CurlNetwork) throws(SystemError) {
        self.loop = try EventLoop(name: "perch-reconcile")
        self.inbox = Inbox<ReconcileEvent>(wake: self.loop.wake)
        self.apps = apps
        var random = SystemRandomNumberGenerator()
        self.sender = try Sender(network, seed: random.next())
    }

    /// Loads libcurl for these apps. It takes plain http to loopback only where a file says so.
    static func network(for apps: [ReconciledApp]) throws(SenderUnavailable) -> CurlNetwork {
        var rules = SenderRules()
        rules.allowsLoopbackHTTP = apps.contains { $0.api.isPlain }
        return try CurlNetwork(rules)
    }

    func driver(
        store: Inbox<StoreRequest>, asker: Int, intake: Inbox<IntakeTask>, isShared: Bool, _ clock: StoreClock,
        _ log: Log
    ) -> ReconcileLoop {
        ReconcileLoop(
            apps: self.apps, inbox: self.inbox, sender: self.sender, store: store, asker: asker, intake: intake,
            mayAlwaysSend: !isShared, clock: clock, figures: self.figures, log: log)
    }
}

/// Drives the reconciler on its own thread: between the sender, the verifier of signed values and the store. Nothing on it is urgent.
final class ReconcileLoop: LoopDriver {
    private let apps: [ReconciledApp]
    private let inbox: Inbox<ReconcileEvent>
    private let sender: Sender
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

    init(
        apps: [ReconciledApp], inbox: Inbox<ReconcileEvent>, sender: Sender, store: Inbox<StoreRequest>, asker: Int,
        intake: Inbox<IntakeTask>, mayAlwaysSend: Bool, clock: StoreClock, figures: ReconcileFigures, log: Log
    ) {
        self.apps = apps
        self.inbox = inbox
        self.sender = sender
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
            self.giveUp()
            self.publish(wall)
            return nil
        }
        if self.reconciler == nil { self.began = wall }
        var reconciler =
            self.reconciler
            ?? Reconciler(
                self.apps.map {
                    Reconciler.App(number: $0.entry.number, app: $0.entry.app.app, keyID: $0.api.key.id)
                }, now: wall, firstTicket: self.firstTicket)
        let next = reconciler.turn(now: wall)
        let effects = reconciler.takeEffects()
        self.reconciler = reconciler
        for effect in effects { self.perform(effect) }
        self.publish(wall)
        let due = now.advanced(byMilliseconds: max(0, next.milliseconds(since: wall)))
        return min(due, until)
    }

    /// Answers to what is under way come to tickets that no later reconciler has.
    private func giveUp() {
        guard let reconciler = self.reconciler else { return }
        self.firstTicket = reconciler.unusedTicket
        self.reconciler = nil
    }

    private func publish(_ wall: Instant) {
        var counts = ReconcileFigures.Counts()
        counts.reports = self.reconciler?.reports ?? []
        counts.sender = self.sender.figures
        counts.isIdle = self.reconciler == nil
        let walks = counts.reports.map { $0.lastWalk ?? self.began }
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
        }
    }

    private static func verified(_ answer: ControlAnswer) -> Reconciler.Verified {
        switch answer {
        case .reported(let mutation, let refused): .mutation(mutation, isLetter: false, refused: refused.count)
        case .deadLetter(let mutation, _): .mutation(mutation, isLetter: true, refused: 0)
        case .refused(_, let message, _): .refused(message)
        case .response, .failed: preconditionFailure("the intake answers with a mutation or a refusal")
        }
    }

    private func perform(_ effect: Reconciler.Effect) {
        switch effect {
        case .ask(let body, let ticket):
            self.store.post(StoreRequest(loop: self.asker, ticket: ticket, body))
        case .verify(let texts, let app, let ticket):
            let entry = self.apps[app].entry
            self.intake.post(
                IntakeTask(
                    reconciling: ticket,
                    .fetched(texts, bundleID: entry.app.app.bundleID, environment: entry.environment)))
        case .send(let call, let app, let ticket): self.send(call, self.apps[app], ticket)
        case .tell(let note, let app): self.tell(note, self.apps[app].entry.app.app)
        }
    }

    private func send(_ call: AppleAPICall, _ app: ReconciledApp, _ ticket: UInt64) {
        guard let method = SenderRequest.Method(rawValue: call.method) else {
            preconditionFailure("\(call.method) is no method of a request")
        }
        let subject = app.entry.app.app
        let lane = SenderLane(
            "\(subject.bundleID) \(subject.environment.rawValue) \(call.name)",
            perThousandSeconds: call.perThousandSeconds(in: subject.environment), burst: call.burst)
        var request = SenderRequest(method, app.api.baseURL + call.path, lane: lane)
        request.headers = ["Accept: application/json"]
        request.body = call.body
        if !call.body.isEmpty { request.headers.append("Content-Type: application/json") }
        let key = app.api.key
        request.authorization = { "Bearer " + key.token(for: subject.bundleID, at: Clocks.wall()) }
        request.isRetried = { AppleAPIAnswer($0.body)?.error?.isRetryable == true }
        let inbox = self.inbox
        self.sender.send(request) { inbox.post(.answered(ticket: ticket, $0)) }
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
