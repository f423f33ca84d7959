import PerchBase
import PerchJSON
import PerchLoop
package import PerchModel
package import PerchTLS
import PerchWire

/// Plays one scenario against one server.
///
/// Two connections: one is the app, which buys, finishes and watches; the other is the store, an operator's and the
/// customer's elsewhere. So the app's stream of transactions leaves out what the app itself did, as StoreKit's does.
/// Belongs to one thread, and waits for each answer: a scenario has one order of events.
package final class ScenarioRunner {
    package struct Options: Sendable {
        package var address: String
        package var authorization = ""
        /// The TLS context and the name that the server's certificate must have; nil for plaintext.
        package var tls: (context: TLSContext, name: TLSServerName)?
        package var app: (bundleID: String, environment: AppEnvironment) = ("", .unspecified)
        /// Whether the server serves this scenario alone. Names and dates are then used unchanged.
        package var ownsServer = false
        package var clientName = "perch scenario"

        package init(address: String) { self.address = address }
    }

    /// Reads a file that the scenario names.
    package typealias ReadFile = (_ path: String) throws(ScenarioFailure) -> [UInt8]

    let scenario: Scenario
    let options: Options
    let readFile: ReadFile
    let app: ScenarioConnection
    let store: ScenarioConnection
    let appReference: AppReference
    var report: ScenarioReport
    /// The requests and pushes, for a replay.
    var trace = ScenarioTrace()

    /// The highest position that the server has reported.
    var position = Position(revision: 0, asOf: .distantPast)
    /// The time of the server's clock.
    var now = Instant(milliseconds: 0)
    /// Months added to the dates of the file: a multiple of 48, which keeps the calendar.
    var shiftMonths: Int64 = 0
    /// Appended to each account's name on a shared server.
    var accountSuffix = ""
    /// Whether the clock is frozen.
    var isFrozen = true
    /// Subscription groups of the catalogue that is in force.
    var groups: [String] = []
    /// The group of `status` without a group: the only one of the first catalogue.
    private(set) var onlyGroup: String?
    var watches: [WatchKey: OpenWatch] = [:]
    /// Transactions by the names that the file gives them.
    var transactions: [String: Named] = [:]
    var outcome: Outcome?
    /// Whether purchases wait for a decision. In a scenario `buy` means that the customer agrees, whatever the catalogue
    /// file says of dialogs; `dialogs on` makes purchases wait.
    private var hasDialogs = false
    /// The last request with an idempotency key, for `again`.
    var lastKeyed: (connection: ScenarioConnection, request: Request, account: String)?
    /// The line of the last step.
    var step: ScenarioLine?
    /// Streams with an expectation since the last step.
    var mentioned: Set<WatchKey> = []

    struct Named {
        var transaction: Transaction
        var account: String
    }

    /// The outcome of a step.
    struct Outcome {
        enum Result {
            case done
            case pending
            case cancelled
            case refused(RefusedCall)
        }

        var result: Result
        var account = ""
        var transaction: Verified<Transaction>?
        var wasHeld = false
        /// Whether a request or a pending purchase was approved; nil if there was none.
        var isApproved: Bool?
        var appliesAtRenewal = false
        var settledCount: UInt64?
        var isPurchase = false
        /// Whether an expectation covered it.
        var isJudged = false
    }

    package static func run(
        _ scenario: Scenario, file: String, options: Options, readFile: @escaping ReadFile
    ) -> ScenarioReport {
        self.trace(scenario, file: file, options: options, readFile: readFile).report
    }

    /// Runs a scenario and returns a trace of its steps.
    package static func trace(
        _ scenario: Scenario, file: String, options: Options, readFile: @escaping ReadFile
    ) -> (report: ScenarioReport, trace: ScenarioTrace) {
        let began = Clocks.monotonic()
        var report: ScenarioReport
        var trace = ScenarioTrace()
        do throws(ScenarioFailure) {
            let runner = try ScenarioRunner(scenario, file: file, options: options, readFile: readFile)
            do throws(ScenarioFailure) {
                try runner.play()
            } catch {
                runner.report.failure = error.description
                runner.report.refusal = error.refusal
                if let step = runner.step {
                    runner.report.failure = "at line \(step.place.line), `\(step.text)`: \(error)"
                }
            }
            report = runner.report
            trace = runner.trace
        } catch {
            report = ScenarioReport(file: file)
            report.failure = error.description
            report.refusal = error.refusal
        }
        report.milliseconds = Clocks.monotonic().milliseconds(since: began)
        return (report, trace)
    }

    private init(
        _ scenario: Scenario, file: String, options: Options, readFile: @escaping ReadFile
    ) throws(ScenarioFailure) {
        self.scenario = scenario
        self.options = options
        self.readFile = readFile
        self.report = ScenarioReport(file: file)
        self.appReference = AppReference(bundleID: options.app.bundleID, environment: options.app.environment)
        self.app = try ScenarioConnection(
            to: options.address, tls: options.tls, authorization: options.authorization, name: options.clientName)
        self.store = try ScenarioConnection(
            to: options.address, tls: options.tls, authorization: options.authorization, name: options.clientName)
        self.app.onAnswer = { [unowned self] in self.trace.asked(.app, $0, $1) }
        self.store.onAnswer = { [unowned self] in self.trace.asked(.store, $0, $1) }
    }

    private func play() throws(ScenarioFailure) {
        try self.prepare()
        for (index, line) in self.scenario.lines.enumerated() {
            switch line.content {
            case .step(let step):
                guard self.closeStep() else {
                    self.report.skippedCount = self.scenario.lines.count - index
                    return
                }
                self.report.stepCount += 1
                self.step = line
                self.trace.begin(line)
                self.beginStep()
                try self.perform(step)
                try self.settle()
                if self.isRefused, !self.isOutcomeExpected(from: index + 1) {
                    _ = self.closeStep()
                    self.report.skippedCount = self.scenario.lines.count - index - 1
                    return
                }
            case .expectation(let expectation):
                self.report.checkCount += expectation.items.reduce(0) { $0 + $1.checks.count }
                try self.judge(expectation, line)
            }
        }
        _ = self.closeStep()
    }

    private var isRefused: Bool {
        if case .refused? = self.outcome?.result { true } else { false }
    }

    /// Whether an expectation before the next step is about this step's outcome.
    private func isOutcomeExpected(from index: Int) -> Bool {
        for line in self.scenario.lines[index...] {
            guard case .expectation(let expectation) = line.content else { return false }
            guard expectation.subject == .outcome else { continue }
            let checks = expectation.items.flatMap(\.checks)
            if checks.contains(where: { if case .capture = $0.kind { false } else { true } }) { return true }
        }
        return false
    }

    private func beginStep() {
        self.outcome = nil
        self.mentioned.removeAll()
        for watch in self.watches.values { watch.beginStep() }
    }

    /// Reports unexpected pushes and an unexpected refusal of the last step. Returns false after a refusal, because the
    /// following lines would only repeat it.
    private func closeStep() -> Bool {
        guard let step = self.step else { return true }
        if self.scenario.isStrict {
            let keys = self.watches.keys.filter { !self.mentioned.contains($0) }
            for key in keys.sorted(by: { $0.description < $1.description }) {
                guard let watch = self.watches[key], watch.pushCount > 0 else { continue }
                self.differ(
                    step.place, step, "this step pushed on \(key), and nothing below it expects that",
                    expected: "silence on \(key)", seen: self.describe(watch))
            }
        }
        if let outcome = self.outcome, !outcome.isJudged, case .refused(let refusal) = outcome.result {
            self.differ(
                step.place, step, "the server refused this step, and nothing below it expects that",
                expected: "success", seen: "refused \(refusal.reason): \(refusal.message)")
            return false
        }
        return true
    }

    func differ(
        _ place: SourcePlace, _ line: ScenarioLine, _ message: String, expected: String = "", seen: String = ""
    ) {
        self.report.differences.append(
            ScenarioReport.Difference(
                place: place, line: line.text, message: message, expected: expected, seen: seen))
    }

    // MARK: Before the first step

    private func prepare() throws(ScenarioFailure) {
        if !self.options.ownsServer {
            self.accountSuffix = "-" + String(UInt64.random(in: .min ... .max), radix: 36)
            // Settings and armed failures of an earlier run must not affect this one.
            try self.change(
                .configure(ConfigureRequest(app: self.appReference, settings: [.reset])), "reset the settings")
        }
        if let source = self.scenario.catalogue { try self.load(source) }
        try self.findGroups()
        self.onlyGroup = self.groups.count == 1 ? self.groups[0] : nil
        self.note(self.scenario.settings)
        let settings = [.dialogs(self.hasDialogs)] + self.scenario.settings
        let request = self.keyed(.configure(ConfigureRequest(app: self.appReference, settings: settings)))
        try self.change(request, "set what stands above the first step")
        // `again` may be the first step.
        if !self.scenario.settings.isEmpty { self.lastKeyed = (self.store, request, "") }
        try self.setStart()
        var explicit: Set<WatchKey> = []
        for case .step(.watch(let key)) in self.scenario.lines.map(\.content) { explicit.insert(self.spelt(key)) }
        for case .expectation(let expectation) in self.scenario.lines.map(\.content) {
            guard case .watch(let key) = expectation.subject else { continue }
            if !explicit.contains(self.spelt(key)) { try self.open(key) }
        }
        try self.settle()
        for watch in self.watches.values { watch.beginStep() }
    }

    /// A change that the scenario cannot do without.
    private func change(_ request: Request, _ what: String) throws(ScenarioFailure) {
        switch try self.store.ask(request) {
        case .success(let response): self.reached(response.position)
        case .failure(let refusal):
            throw ScenarioFailure("the server did not \(what): \(refusal.reason): \(refusal.message)")
        }
    }

    func reached(_ position: Position?) {
        guard let position else { return }
        self.position = max(self.position, position)
    }

    /// Loads a catalogue, and sets what a file cannot express.
    func load(_ source: CatalogueSource) throws(ScenarioFailure) {
        switch try self.loading(source) {
        case .success: break
        case .failure(let refusal):
            throw ScenarioFailure("the server did not load the catalogue: \(refusal.reason): \(refusal.message)")
        }
    }

    func loading(_ source: CatalogueSource) throws(ScenarioFailure) -> Result<Response, RefusedCall> {
        var edits: [AppSettingChange] = []
        let file: [UInt8]
        let name: String
        switch source {
        case .file(let path):
            file = try self.readFile(path)
            name = path
        case .text(let text):
            file = Array(text.utf8)
            name = self.report.file
        case .inline(let catalogue):
            file = try Self.file(of: catalogue)
            edits = catalogue.edits
            name = self.report.file
        case .named(let block):
            guard let catalogue = self.scenario.namedCatalogues[block] else {
                throw ScenarioFailure("no catalogue is called \(block)")
            }
            file = try Self.file(of: catalogue)
            edits = catalogue.edits
            name = "\(self.report.file), catalogue \(block)"
        }
        // The file's own word on dialogs would replace the scenario's.
        edits.append(.dialogs(self.hasDialogs))
        let request = LoadCatalogRequest(app: self.appReference, file: file, source: name)
        let answer = try self.store.ask(.loadCatalog(request))
        guard case .success(let response) = answer else { return answer }
        self.reached(response.position)
        return try self.store.ask(.configure(ConfigureRequest(app: self.appReference, settings: edits)))
    }

    /// Notes what the scenario sets of dialogs. Answers with the settings as the server gets them: a reset would put the
    /// catalogue file's word on dialogs in force.
    @discardableResult
    func note(_ settings: [AppSettingChange]) -> [AppSettingChange] {
        var isReset = false
        for setting in settings {
            switch setting {
            case .dialogs(let isOn): self.hasDialogs = isOn
            case .reset: (self.hasDialogs, isReset) = (false, true)
            default: break
            }
        }
        return isReset ? settings + [.dialogs(self.hasDialogs)] : settings
    }

    private static func file(of catalogue: ScenarioCatalogue) throws(ScenarioFailure) -> [UInt8] {
        do throws(JSONOverflow) {
            return try catalogue.file()
        } catch {
            throw ScenarioFailure("the catalogue of this file: \(error)")
        }
    }

    func findGroups() throws(ScenarioFailure) {
        self.groups = []
        guard
            case .success(.getCatalog(let contents)) = try self.store.ask(
                .getCatalog(GetCatalogRequest(app: self.appReference)))
        else { return }
        self.groups = contents.groupIDs
    }

    /// The clock is frozen at the start, or at the first instant with the same place in the calendar that is not past.
    private func setStart() throws(ScenarioFailure) {
        guard case .success(.getClock(let answer)) = try self.store.ask(.getClock(ClockRequest(app: self.appReference)))
        else { throw ScenarioFailure("the server does not tell the clock of the app; is it a test app?") }
        self.now = answer.clock.now
        while self.shifted(self.scenario.start) < self.now { self.shiftMonths += 48 }
        if !answer.clock.isFrozen { try self.moveClock(.freeze) }
        let start = self.shifted(self.scenario.start)
        if start > self.now { try self.moveClock(.advanceTo(start)) }
        // The clock ran until it was frozen, so the shifted start may be past: shift it further.
        while self.shifted(self.scenario.start) < self.now { self.shiftMonths += 48 }
        if self.shifted(self.scenario.start) > self.now {
            try self.moveClock(.advanceTo(self.shifted(self.scenario.start)))
        }
    }

    private func moveClock(_ change: ClockChange) throws(ScenarioFailure) {
        switch try self.store.ask(.setClock(SetClockRequest(app: self.appReference, change: change))) {
        case .success(.setClock(let answer)):
            self.now = answer.clock.now
            self.reached(answer.position)
        case .failure(let refusal):
            throw ScenarioFailure("the clock cannot be set: \(refusal.reason): \(refusal.message)")
        case .success(let other):
            throw ScenarioFailure("the clock was answered with \(other.method.path)")
        }
    }

    // MARK: The calendar of the file

    /// An instant of the file as the server has it.
    func shifted(_ instant: Instant) -> Instant { Self.moved(instant, months: self.shiftMonths) }

    /// A setting with its instants as the server has them.
    func shifted(_ setting: AppSettingChange) -> AppSettingChange {
        guard case .product(var edit) = setting else { return setting }
        for offer in edit.offers.indices {
            for code in edit.offers[offer].codes.indices {
                let until = edit.offers[offer].codes[code].until
                edit.offers[offer].codes[code].until = until.map { self.shifted($0) }
            }
        }
        return .product(edit)
    }

    /// An instant of the server as the file would have it.
    func unshifted(_ instant: Instant) -> Instant { Self.moved(instant, months: -self.shiftMonths) }

    private static func moved(_ instant: Instant, months: Int64) -> Instant {
        guard months != 0, instant != .distantFuture, instant != .distantPast else { return instant }
        let civil = CivilTime(instant)
        return civil.adding(months: months, anchorDay: civil.day).instant
    }

    func resolve(_ expression: InstantExpression, account: String) throws(ScenarioFailure) -> Instant? {
        let base: Instant
        switch expression.base {
        case .absolute(let instant): base = self.shifted(instant)
        case .start: base = self.shifted(self.scenario.start)
        case .now: base = self.now
        case .transaction(let reference, let field):
            guard let transaction = try self.find(reference, account: account) else { return nil }
            switch field {
            case .purchased: base = transaction.purchaseDate
            case .revokedAt:
                guard let revocation = transaction.revocation else { return nil }
                base = revocation.date
            default:
                guard let expires = transaction.expirationDate else { return nil }
                base = expires
            }
        }
        return expression.offset.end(from: base)
    }

    func key(_ account: String) -> String { account + self.accountSuffix }
}
