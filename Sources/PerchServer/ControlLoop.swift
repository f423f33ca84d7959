import PerchApple
import PerchBase
import PerchCatalogue
import PerchCore
import PerchHTTP
import PerchIdentity
import PerchJSON
import PerchLoop
import PerchMetrics
import PerchModel
import PerchSQLite
import PerchStore
import PerchTwin
import PerchWire

/// Events for the control thread.
enum ControlEvent: Sendable {
    case request(loop: Int, ticket: UInt64, ControlRequest)
    case report(number: UInt64, LoopReport, loop: Int)
    case storeReport(number: UInt64, StoreReport)
    /// The store ran out of disk space, or has space again.
    case storeRoom(isThere: Bool)
    /// The database of the store is out of reach, or back.
    case storeReach(ReachObstacle?, reason: String)
    /// The clock of the database has jumped against this node's; 0: they agree again.
    case storeClock(jumpMilliseconds: Int64)
    case storeAnswer(ticket: UInt64, StoreAnswer)
    /// The store's thread has copied the store, or failed.
    case copied(CopyOutcome)
    /// A backup is complete under its final name; its length in bytes.
    case backupNamed(Result<Int64, CopyFault>)
    /// An attempt of the twin to deliver a notification has ended.
    case delivered(TwinDelivery, SendAttemptResult)
    /// A request of a performance test of the twin has ended.
    case probed(TwinProbe, SendAttemptResult, body: [UInt8], milliseconds: Int64)
    case drained(loop: Int)
    case storeFailed(String)
    case storeStopped
    /// Log notes of one tick of a loop.
    case notes([LoopNote], loop: Int)
    /// A loop reports at most one of these per second.
    case handshakeFailed(peer: SocketAddress?, reason: String, text: String)
}

/// The main thread of a running server: signals, catalogue files, reports, HTTP and shutdown. Nothing on it is urgent.
final class ControlLoop: LoopDriver {
    let parts: Parts
    var desk: ReportDesk
    var readiness: ReadyState
    let started: MonotonicTime
    let startedWall: Instant
    var http: HTTPService?
    /// Nil where it is off.
    var twin: TwinService?
    private var events: [ControlEvent] = []
    private var attention = Attention()
    private var nextAttention: MonotonicTime
    private var nextPing: MonotonicTime?
    /// When the store last committed for the watchdog and every loop ticked.
    var provenAt: MonotonicTime?
    private var isProbed = false
    /// Number of pages that reported threads as late.
    var latePages: UInt64 = 0
    var catalogues = CatalogueWrites()
    var reloadedFiles = ReloadedFiles()
    var asking = AppStoreAsking()
    var backups = Backups()
    var keeper: TLSKeeper?
    /// When to warn of the certificate's end again.
    var nextCertificateWarning = MonotonicTime.zero
    private var groupDifferencesTold = 0
    /// Number of refused credentials at the last check.
    private var refusalsTold: UInt64 = 0
    var drain: Drain?
    /// The process's exit status, set when the server has ended.
    private(set) var exitStatus: Int32?

    static let signalTag: UInt64 = 1

    /// The dependencies of a control loop.
    struct Parts {
        var loop: EventLoop
        var settings: ServerSettings
        var inbox: Inbox<ControlEvent>
        var loops: [Inbox<LoopEvent>]
        var store: Inbox<StoreRequest>
        var questions: Inbox<StoreQuestion>
        var signals: SignalSource
        var apps: [(settings: ServerSettings.AppSettings, number: AppNumber)]
        var identity: StoreIdentity
        var epoch: UInt32
        /// Where the loops listen.
        var address: SocketAddress
        var manager: ServiceManager
        var log: Log
        /// Nil where TLS is off.
        var keeper: TLSKeeper?
        /// What takes values of the App Store, and asks it back.
        var appStore = AppStoreThreads()
        /// The apps of the store at the start.
        var appleNumbers: [AppName: AppNumber] = [:]
        /// Empty where there is no test app.
        var appleRootPEM = ""
        /// Nil where there is no test app.
        var signer: SharedAppleSigner?
    }

    /// Nil where no app takes values of the App Store.
    var intake: Inbox<IntakeTask>? { self.parts.appStore.intake?.inbox }

    struct Drain {
        var loopsLeft: Set<Int>
        var deadline: MonotonicTime
        var isStoreAsked = false
    }

    init(_ parts: Parts) {
        self.parts = parts
        self.keeper = parts.keeper
        self.started = Clocks.monotonic()
        self.startedWall = Clocks.wall()
        self.desk = ReportDesk(loops: parts.loops.count)
        self.readiness = ReadyState(since: self.startedWall)
        self.nextAttention = self.started.advanced(byMilliseconds: Limits.attentionMilliseconds)
        self.nextPing = parts.manager.watchdogInterval == nil ? nil : self.started
    }

    var log: Log { self.parts.log }

    /// Starts answering HTTP; returns the address. Must be called before the loop runs.
    func listenForHTTP(
        _ listener: consuming Descriptor, _ hosts: HostRule = HostRule(.any)
    ) throws(SystemError) -> SocketAddress {
        let http = try HTTPService(
            listener, on: self.parts.loop, hosts: hosts, wall: Clocks.wall
        ) { [unowned self] question in
            self.asked(question)
        }
        self.http = http
        return http.address
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        guard tag == Self.signalTag else {
            if let twin = self.twin, twin.ready(tag: tag, readable: readable, writable: writable, hungUp: hungUp) {
                return
            }
            self.http?.ready(tag: tag, readable: readable, writable: writable, hungUp: hungUp)
            return
        }
        while let signal = self.parts.signals.next() {
            switch signal {
            case .terminate, .interrupt:
                if self.drain != nil {
                    self.log.warning("a second signal: ending at once")
                    self.end(1)
                } else {
                    self.beginDrain()
                }
            case .hangUp:
                self.reloadKeys()
                self.reload()
            case .user1:
                let level = self.log.toggleDebug()
                self.log.write(
                    .info, "the log level changed by SIGUSR1; the next SIGUSR1 changes it back",
                    [LogField("level", level.name)])
            }
        }
    }

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.parts.inbox.take(into: &self.events)
        for event in self.events { self.handle(event) }
        self.events.removeAll(keepingCapacity: true)
        for report in self.desk.late(now: now) { self.finish(report) }
        self.probe(now)
        self.attend(now)
        var next = self.nextAttention
        for deadline in [self.nextPing, self.desk.nextDeadline, self.http?.turn(now: now), self.twin?.turn(now: now)] {
            if let deadline { next = min(next, deadline) }
        }
        if let drain = self.drain {
            if drain.loopsLeft.isEmpty || now >= drain.deadline { self.stopStore() }
            if let drain = self.drain { next = min(next, drain.deadline) }
        }
        return self.exitStatus == nil ? next : nil
    }

    private func handle(_ event: ControlEvent) {
        switch event {
        case .request(let loop, let ticket, let request):
            self.handle(request, loop: loop, ticket: ticket)
        case .report(let number, let part, let loop):
            if let report = self.desk.took(number, loop: loop, part) { self.finish(report) }
        case .storeReport(let number, let part):
            if let report = self.desk.took(number, store: part) { self.finish(report) }
        case .storeRoom(let isThere):
            self.roomChanged(isThere)
        case .storeReach(let obstacle, let reason):
            self.reachChanged(obstacle, reason)
        case .storeClock(let jump):
            self.clockChanged(jump)
        case .storeAnswer(let ticket, let answer):
            if TwinService.isTicket(ticket) {
                self.twin?.answered(ticket, answer)
            } else {
                self.wroteCatalogue(ticket, answer)
            }
        case .delivered(let delivery, let result): self.twin?.delivered(delivery, result)
        case .probed(let probe, let result, let body, let milliseconds):
            self.twin?.probed(probe, result, body: body, milliseconds: milliseconds)
        case .copied(let outcome):
            self.copied(outcome)
        case .backupNamed(let result):
            self.named(result)
        case .drained(let loop):
            self.drain?.loopsLeft.remove(loop)
        case .storeFailed(let message):
            // After this nothing may be acknowledged, so waiting callers get no answer.
            self.log.error(message)
            self.parts.manager.tell("failed: \(message)")
            self.end(1)
        case .storeStopped:
            let cutOff = self.drain?.loopsLeft.count ?? 0
            if cutOff > 0 {
                self.log.warning(
                    "stopped: some connections had not closed and were cut off; a longer --drain waits longer",
                    LogField("loops", cutOff))
            } else {
                self.log.info("stopped")
            }
            self.end(0)
        case .notes(let notes, let loop):
            for note in notes { self.write(note, loop: loop) }
        case .handshakeFailed(let peer, let reason, let text):
            self.log.repeated(
                .info, "a TLS handshake failed", LogField("reason", reason), LogField("error", text),
                LogField("peer", peer?.description ?? ""))
        }
    }

    private func write(_ note: LoopNote, loop: Int) {
        var fields: [LogField] = []
        if !note.subject.isEmpty { fields.append(LogField("subject", note.subject)) }
        if !note.method.isEmpty { fields.append(LogField("method", note.method)) }
        if !note.what.isEmpty { fields.append(LogField("what", note.what)) }
        if let app = note.app {
            fields.append(LogField("bundle_id", app.bundleID))
            fields.append(LogField("environment", "\(app.environment)"))
        }
        if let revision = note.revision { fields.append(LogField("revision", revision)) }
        if !note.status.isEmpty { fields.append(LogField("status", note.status)) }
        if let stream = note.stream { fields.append(LogField("stream", stream)) }
        fields.append(LogField("connection", "\(loop)-\(note.connection)"))
        guard note.kind != .notificationRefused else {
            return self.log.repeated(.warning, note.kind.message, fields)
        }
        self.log.write(note.kind == .change ? .info : .debug, note.kind.message, fields)
    }

    private func end(_ status: Int32) {
        self.exitStatus = status
        self.parts.loop.stop()
    }

    // MARK: Stopping

    private func beginDrain() {
        let patience = self.parts.settings.drainMilliseconds
        self.log.info(
            "stopping: every connection is told", LogField("loops", self.parts.loops.count),
            LogField("within_ms", patience + Self.closingMilliseconds))
        self.parts.manager.stopping("stopping: telling every connection")
        _ = self.readiness.set(Self.isStopping, at: Clocks.wall())
        let deadline = Clocks.monotonic().advanced(byMilliseconds: patience + Self.closingMilliseconds)
        self.parts.questions.post(.node(calls: 0, isDraining: true))
        self.drain = Drain(loopsLeft: Set(self.parts.loops.indices), deadline: deadline)
        for loop in self.parts.loops { loop.post(.drain) }
    }

    /// Extra time after the drain, in which connections close.
    private static let closingMilliseconds: Int64 = 3_000

    private func stopStore() {
        guard self.drain?.isStoreAsked == false else { return }
        self.drain?.isStoreAsked = true
        self.drain?.deadline = .distantFuture
        self.parts.questions.post(.stop)
    }

    private static let isStopping = "the server is stopping; go to another, or come back when it has started again"
    private static let isWithoutRoom =
        "the disk of the store is full: writes are refused, reads and streams continue; free at least \(Limits.storeRoomBytes >> 20) MiB, and writing resumes automatically"

    private func roomChanged(_ isThere: Bool) {
        if isThere {
            self.log.info("the disk of the store has space again: writing resumes")
        } else {
            self.log.warning("the disk of the store is full: writes are refused, reads and streams continue")
        }
        guard self.drain == nil else { return }
        if !self.parts.settings.isReadyWithoutRoom {
            _ = self.readiness.set(isThere ? nil : Self.isWithoutRoom, at: Clocks.wall())
        }
        self.parts.manager.tell(isThere ? self.summary() : Self.isWithoutRoom)
    }

    private func clockChanged(_ jump: Int64) {
        guard jump != 0 else { return self.log.info("the clock of the database agrees with this node's again") }
        let lasts = max(Limits.clockJumpMilliseconds, 2 * abs(jump)) / 1_000
        self.log.warning(
            "the clock of the database has jumped: this node goes on with its own, and settles no renewal until the two agree, "
                + "or for \(lasts) s, after which it follows; look at the time service of the database's machine",
            LogField("jump_ms", jump), LogField("limit_ms", Limits.clockToleranceMilliseconds))
    }

    /// `reason`: why a connection was last given up. It may name addresses, so it is for the log only.
    private func reachChanged(_ obstacle: ReachObstacle?, _ reason: String) {
        if let obstacle {
            self.log.warning(
                "\(obstacle.finding): reads and writes are refused, streams stay open; \(obstacle.advice)",
                LogField("reason", reason))
        } else {
            self.log.info("the database of the store is in reach again")
        }
        guard self.drain == nil else { return }
        let state = obstacle.map { "\($0.finding): \($0.advice); this node resumes automatically" }
        _ = self.readiness.set(state, at: Clocks.wall())
        self.parts.manager.tell(state ?? self.summary())
    }

    // MARK: Keys

    /// Identities of removed keys and certificate names end.
    private func reloadKeys() {
        guard self.drain == nil, self.parts.settings.hasAuthenticator else { return }
        do throws(ServerError) {
            guard let authenticator = try KeyFiles.authenticator(self.parts.settings.authentication) else { return }
            for loop in self.parts.loops { loop.post(.trust(authenticator)) }
            self.reloadedFiles.took(ReloadedFiles.keys, fault: nil)
            self.log.info(
                "keys and names of certificates are those of their files", LogField("keys", authenticator.keys.count),
                LogField("certificates", authenticator.certificates.count))
        } catch {
            self.reloadedFiles.took(ReloadedFiles.keys, fault: "\(error)")
            self.log.error("keys and names of certificates stay as they were: \(error)")
        }
    }

    // MARK: Reports

    func ask(
        _ asker: ReportAsker, loops: Bool, store: Bool, proves: Bool = false, deadline: MonotonicTime
    ) {
        let number = self.desk.open(asker, loops: loops, store: store, deadline: deadline)
        if loops { for inbox in self.parts.loops { inbox.post(.report(number: number)) } }
        if store { self.parts.questions.post(.report(number: number, proves: proves)) }
    }

    /// All threads have answered, or some are late.
    private func finish(_ report: ReportDesk.Report) {
        switch report.asker {
        case .call(let loop, let ticket):
            self.parts.loops[loop].post(.control(ticket: ticket, .response(.getServerStatus(self.status(report)))))
        case .page(let connection, let page):
            let answer = self.answer(page, report)
            // Logs only the names of our own pages; other paths are the client's text.
            self.log.debug(
                "a page was answered", LogField("page", page.rawValue), LogField("status", answer.status.rawValue))
            self.http?.answer(connection, answer)
        case .watchdog:
            self.isProbed = false
            guard report.isComplete, report.store?.failure == nil else {
                self.log.repeated(
                    .warning, "the watchdog is not told that all works", LogField("unanswered", report.awaited))
                return
            }
            self.provenAt = Clocks.monotonic()
            self.log.debug("the watchdog is notified")
            self.parts.manager.ping()
        case .attention:
            guard report.isComplete else {
                self.log.warning("a thread does not answer", LogField("unanswered", report.awaited))
                return
            }
            for notice in self.attention.notices(self.samples(report)) {
                self.log.warning(
                    "a limit was reached", LogField("series", notice.series), LogField("limits", notice.limits),
                    LogField("count", notice.count))
            }
            self.tellRefusals(report)
            for difference in (report.store?.groupDifferences ?? []).dropFirst(self.groupDifferencesTold) {
                self.log.warning(
                    "a group has two names: \(difference); the catalogue's holds",
                    LogField("bundle_id", difference.bundleID))
                self.groupDifferencesTold += 1
            }
            if report.store?.sharing != nil, self.drain == nil {
                let calls = report.loops.reduce(0) { $0 + ($1?.census.calls ?? 0) }
                self.parts.questions.post(.node(calls: calls, isDraining: false))
            }
            if self.drain == nil { self.parts.manager.tell(self.summary(report)) }
        }
    }

    /// Logs refused credentials at most once per interval, with the last reason, so that guessing keys does not fill
    /// the log.
    private func tellRefusals(_ report: ReportDesk.Report) {
        let count = report.loops.reduce(0) { $0 + ($1?.counters.credentialsRefused ?? 0) }
        guard count > self.refusalsTold else { return }
        self.log.warning(
            "credentials were refused", LogField("count", count - self.refusalsTold),
            LogField("last", report.loops.compactMap { $0?.credentialRefusal }.last { !$0.isEmpty } ?? ""))
        self.refusalsTold = count
    }

    /// Asks every thread on behalf of the watchdog, and makes the store commit.
    private func probe(_ now: MonotonicTime) {
        guard let interval = self.parts.manager.watchdogInterval, let due = self.nextPing, due <= now else { return }
        self.nextPing = now.advanced(byNanoseconds: interval)
        // One probe at a time, so that a hanging thread does not collect probes.
        guard !self.isProbed, self.drain?.isStoreAsked != true else { return }
        self.isProbed = true
        self.ask(
            .watchdog, loops: true, store: true, proves: true, deadline: now.advanced(byNanoseconds: interval))
    }

    /// Logs the limits reached since the last check.
    private func attend(_ now: MonotonicTime) {
        guard self.nextAttention <= now else { return }
        self.nextAttention = now.advanced(byMilliseconds: Limits.attentionMilliseconds)
        self.keepSecure(now)
        guard self.drain?.isStoreAsked != true else { return }
        self.ask(
            .attention, loops: true, store: true, deadline: now.advanced(byMilliseconds: Limits.attentionMilliseconds))
    }

    // MARK: HTTP

    private func asked(_ question: HTTPService.Question) {
        let connection = question.connection
        if question.request.path == "/" {
            self.http?.answer(connection, HTTPResponse(.ok, Page.index))
            return
        }
        guard let page = Page(rawValue: question.request.path) else {
            let pages = Page.allCases.map(\.rawValue).joined(separator: ", ")
            self.http?.answer(connection, HTTPResponse(.notFound, "there is no such page; there are \(pages)"))
            return
        }
        if page == .readiness, let reason = self.readiness.reason {
            self.http?.answer(connection, HTTPResponse(.serviceUnavailable, reason))
            return
        }
        guard self.drain?.isStoreAsked != true || page == .health else {
            self.http?.answer(connection, HTTPResponse(.serviceUnavailable, Self.isStopping))
            return
        }
        self.ask(
            .page(connection: connection, page), loops: page.asksLoops, store: page.asksStore,
            deadline: Clocks.monotonic().advanced(byMilliseconds: Limits.probeMilliseconds))
    }

    private func answer(_ page: Page, _ report: ReportDesk.Report) -> HTTPResponse {
        let unanswered =
            "\(report.awaited) did not answer within \(Limits.probeMilliseconds) ms; if this goes on, restart the server"
        if !report.isComplete { self.latePages += 1 }
        switch page {
        case .health:
            return report.isComplete ? HTTPResponse(.ok, "ok") : HTTPResponse(.serviceUnavailable, unanswered)
        case .readiness:
            guard let store = report.store else { return HTTPResponse(.serviceUnavailable, unanswered) }
            if let reason = store.failure ?? self.readiness.reason {
                return HTTPResponse(.serviceUnavailable, reason)
            }
            return HTTPResponse(.ok, "ready")
        case .metrics:
            guard report.isComplete else { return HTTPResponse(.serviceUnavailable, unanswered) }
            return HTTPResponse(
                .ok, contentType: Exposition.contentType, body: Exposition.text(self.samples(report)))
        case .status:
            // Answers with the known figures, especially if a thread is late.
            return HTTPResponse(
                report.isComplete ? .ok : .serviceUnavailable, contentType: "application/json",
                body: self.page(report).json())
        }
    }

    private func page(_ report: ReportDesk.Report) -> StatusPage {
        StatusPage(
            version: self.parts.settings.version, started: self.startedWall, now: Clocks.wall(),
            readiness: self.readiness, storeIdentity: self.parts.identity.description, epoch: self.parts.epoch,
            storeKind: self.parts.settings.store.kind, loops: report.loops,
            loopInboxes: self.parts.loops.map(\.depth), store: report.store, storeInbox: self.parts.store.depth,
            controlInbox: self.parts.inbox.depth, process: self.processFigures(), samples: self.samples(report),
            filesNotInUse: self.filesNotInUse, awaited: report.awaited)
    }
}
