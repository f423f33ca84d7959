import PerchBase
import PerchCatalogue
import PerchCore
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore
import PerchWire

/// What comes to the control thread.
enum ControlEvent: Sendable {
    case request(loop: Int, ticket: UInt64, ControlRequest)
    case report(number: UInt64, LoopCounters, LoopCensus, Acceptor.Counters, loop: Int)
    case storeReport(number: UInt64, StoreEngine.Counters, Histogram, StoreCensus)
    case storeAnswer(ticket: UInt64, StoreAnswer)
    case drained(loop: Int)
    case storeFailed(String)
    case storeStopped
}

/// The main thread while a server runs: signals, catalogue files, reports, and the end. Nothing on it is in a hurry.
final class ControlLoop: LoopDriver {
    private let loop: EventLoop
    private let settings: ServerSettings
    private let inbox: Inbox<ControlEvent>
    private let loops: [Inbox<LoopEvent>]
    private let store: Inbox<StoreRequest>
    private let questions: Inbox<StoreQuestion>
    private let signals: SignalSource
    private let apps: [(settings: ServerSettings.AppSettings, number: AppNumber)]
    private let identity: StoreIdentity
    private let epoch: UInt32
    private let started: MonotonicTime
    private var events: [ControlEvent] = []
    private var reports: [UInt64: Report] = [:]
    private var nextReport: UInt64 = 1
    private var drain: Drain?
    /// Set when the server has ended, with the process's exit status.
    private(set) var exitStatus: Int32?

    static let signalTag: UInt64 = 1

    /// A report under way: who asked, and what has come.
    private struct Report {
        var loop: Int
        var ticket: UInt64
        var loopsAwaited: Int
        var storeAwaited = true
        var samples = MetricSamples()
        var findings: [Finding] = []
        var revision: UInt64 = 0
    }

    private struct Drain {
        var loopsLeft: Set<Int>
        var deadline: MonotonicTime
        var isStoreAsked = false
    }

    init(
        loop: EventLoop, settings: ServerSettings, inbox: Inbox<ControlEvent>, loops: [Inbox<LoopEvent>],
        store: Inbox<StoreRequest>, questions: Inbox<StoreQuestion>, signals: SignalSource,
        apps: [(settings: ServerSettings.AppSettings, number: AppNumber)], identity: StoreIdentity, epoch: UInt32
    ) {
        self.loop = loop
        self.settings = settings
        self.inbox = inbox
        self.loops = loops
        self.store = store
        self.questions = questions
        self.signals = signals
        self.apps = apps
        self.identity = identity
        self.epoch = epoch
        self.started = Clocks.monotonic()
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        guard tag == Self.signalTag else { return }
        while let signal = self.signals.next() {
            switch signal {
            case .terminate, .interrupt:
                if self.drain != nil {
                    say("a second signal: ending at once")
                    self.end(1)
                } else {
                    self.beginDrain()
                }
            case .hangUp:
                self.reloadCatalogues()
            }
        }
    }

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.inbox.take(into: &self.events)
        for event in self.events { self.handle(event) }
        self.events.removeAll(keepingCapacity: true)
        if let drain = self.drain {
            if drain.loopsLeft.isEmpty || now >= drain.deadline { self.stopStore() }
            return self.exitStatus == nil ? drain.deadline : nil
        }
        return nil
    }

    private func handle(_ event: ControlEvent) {
        switch event {
        case .request(let loop, let ticket, let request):
            self.handle(request, loop: loop, ticket: ticket)
        case .report(let number, let counters, let census, let acceptor, let loop):
            self.report(number, counters, census, acceptor, loop: loop)
        case .storeReport(let number, let counters, let batches, let census):
            self.report(number, counters, batches, census)
        case .storeAnswer(let ticket, let answer):
            self.reloaded(ticket, answer)
        case .drained(let loop):
            self.drain?.loopsLeft.remove(loop)
        case .storeFailed(let message):
            // Nothing may be acknowledged after this; who waits for an answer must not get one.
            say(message)
            self.end(1)
        case .storeStopped:
            say("stopped")
            self.end(0)
        }
    }

    private func end(_ status: Int32) {
        self.exitStatus = status
        self.loop.stop()
    }

    // MARK: Stopping

    private func beginDrain() {
        say("stopping: \(self.loops.count) loops tell their connections, within \(self.settings.drainMilliseconds) ms")
        let deadline = Clocks.monotonic().advanced(byMilliseconds: self.settings.drainMilliseconds + 3_000)
        self.drain = Drain(loopsLeft: Set(self.loops.indices), deadline: deadline)
        for loop in self.loops { loop.post(.drain) }
    }

    private func stopStore() {
        guard self.drain?.isStoreAsked == false else { return }
        self.drain?.isStoreAsked = true
        self.drain?.deadline = .distantFuture
        self.questions.post(.stop)
    }

    // MARK: Catalogues

    private func reloadCatalogues() {
        for (index, app) in self.apps.enumerated() {
            do throws(ServerError) {
                let loaded = try CatalogueFile.load(app.settings.catalogPath)
                let mutation = Self.mutation(
                    app.number, loaded, source: app.settings.catalogPath, timeRate: app.settings.timeRate)
                self.store.post(
                    StoreRequest(loop: self.loops.count, ticket: UInt64(index), .mutate(mutation)))
            } catch {
                say("the catalogue of \(app.settings.bundleID) stays as it was: \(error)")
            }
        }
    }

    private func reloaded(_ ticket: UInt64, _ answer: StoreAnswer) {
        let app = self.apps[Int(ticket)].settings
        switch answer {
        case .mutated(_, let position):
            say("the catalogue of \(app.bundleID) is that of \(app.catalogPath) at revision \(position.revision)")
        case .refused(let refusal):
            say("the catalogue of \(app.bundleID) stays as it was: \(refusal.message)")
        default:
            preconditionFailure("a mutation was asked for")
        }
    }

    /// Replaces an app's catalogue where it differs.
    static func mutation(
        _ app: AppNumber, _ loaded: LoadedCatalogue, source: String, timeRate: TimeRate?
    ) -> Mutation {
        var settings = loaded.settings
        if let timeRate { settings.timeRate = timeRate }
        let fileSettings = settings
        let (catalogue, images) = (loaded.catalogue, loaded.images)
        return Mutation(.app(app), needsTestApp: false) { view throws(Refusal) in
            var change = AppChange()
            change.fileSettings = fileSettings
            if view.app.catalogue != catalogue || view.app.catalogueSource != source {
                change.catalogue = (catalogue, source)
                change.images = images
            } else if view.fileSettings == fileSettings {
                return .unchanged(answer: .none)
            }
            return .commitApp(change, answer: .none)
        }
    }

    private func handle(_ request: ControlRequest, loop: Int, ticket: UInt64) {
        switch request {
        case .serverStatus:
            let number = self.nextReport
            self.nextReport += 1
            self.reports[number] = Report(loop: loop, ticket: ticket, loopsAwaited: self.loops.count)
            for inbox in self.loops { inbox.post(.report(number: number)) }
            self.questions.post(.report(number: number))
        case .checkCatalog(let file, let images):
            self.answer(loop, ticket) { () throws(CatalogueError) in
                let loaded = try StoreKitFile.load(file, images: images.map { ImageFile(id: $0.id, bytes: $0.content) })
                return .response(.checkCatalog(CheckCatalogResponse(summary: Self.summary(loaded))))
            }
        case .loadCatalog(let app, let file, let images, let source, _):
            self.answer(loop, ticket) { () throws(CatalogueError) in
                let loaded = try StoreKitFile.load(file, images: images.map { ImageFile(id: $0.id, bytes: $0.content) })
                let name = source.isEmpty ? "a call" : source
                return .mutation(Self.mutation(app, loaded, source: name, timeRate: nil), Self.summary(loaded))
            }
        }
    }

    private func answer(_ loop: Int, _ ticket: UInt64, _ work: () throws(CatalogueError) -> ControlAnswer) {
        let answer: ControlAnswer
        do throws(CatalogueError) {
            answer = try work()
        } catch {
            answer = .refused(
                .catalogInvalid, "the catalogue cannot be used: \(error)",
                [
                    StatusDetail(key: "line", value: "\(error.place.line)"),
                    StatusDetail(key: "column", value: "\(error.place.column)"),
                ])
        }
        self.loops[loop].post(.control(ticket: ticket, answer))
    }

    private static func summary(_ loaded: LoadedCatalogue) -> CatalogSummary {
        var summary = CatalogSummary(counting: loaded.catalogue)
        summary.warnings = loaded.warnings.map {
            CatalogWarning(
                line: UInt32(clamping: $0.place.line), column: UInt32(clamping: $0.place.column),
                productID: $0.productID, message: $0.message)
        }
        return summary
    }

    // MARK: Reports

    private func report(
        _ number: UInt64, _ counters: LoopCounters, _ census: LoopCensus, _ acceptor: Acceptor.Counters, loop: Int
    ) {
        guard var report = self.reports.removeValue(forKey: number) else { return }
        report.samples.add(counters, census, acceptor)
        report.loopsAwaited -= 1
        self.finish(number, report)
    }

    private func report(
        _ number: UInt64, _ counters: StoreEngine.Counters, _ batches: Histogram, _ census: StoreCensus
    ) {
        guard var report = self.reports.removeValue(forKey: number) else { return }
        report.samples.add(counters, batches, census)
        report.revision = census.revision
        report.storeAwaited = false
        self.finish(number, report)
    }

    private func finish(_ number: UInt64, _ report: Report) {
        guard report.loopsAwaited == 0, !report.storeAwaited else {
            self.reports[number] = report
            return
        }
        var samples = report.samples
        samples.add("perch_loops", self.loops.count, help: "Loops, each a thread with its own listener.")
        samples.add(
            "perch_uptime_seconds", Clocks.monotonic().nanoseconds(since: self.started) / 1_000_000_000,
            help: "Time since the server was ready.")
        let descriptors = DescriptorLimit.current
        samples.add("perch_descriptors_limit", descriptors, help: "Descriptors that the process may have.")
        var findings: [Finding] = []
        if descriptors < 4_096 {
            findings.append(
                Finding(
                    level: "warning", subject: "descriptors",
                    message:
                        "the process may have \(descriptors) descriptors, so about \(descriptors - Limits.descriptorsReserved) connections",
                    remedy: "raise it: LimitNOFILE= in the unit, or ulimit -n"))
        } else {
            findings.append(
                Finding(
                    level: "ok", subject: "descriptors",
                    message: "room for \(descriptors - Limits.descriptorsReserved) connections", remedy: ""))
        }
        if self.settings.store == .memory {
            findings.append(
                Finding(
                    level: "warning", subject: "store", message: "the store is in memory and ends with the process",
                    remedy: "give --store a directory to keep what is bought"))
        }
        let status = ServerStatus(
            version: self.settings.version, storeID: self.identity.bytes, epoch: self.epoch,
            revision: report.revision,
            metrics: samples.samples.map { Metric(name: $0.name, labels: $0.labels, value: $0.value, help: $0.help) },
            findings: findings)
        self.loops[report.loop].post(.control(ticket: report.ticket, .response(.getServerStatus(status))))
    }
}
