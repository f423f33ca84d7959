package import PerchApple
package import PerchBase
package import PerchModel
package import PerchSender
package import PerchStore

/// Asks the App Store for what it did not deliver, as a stepped value: instants and answers in, requests out. No I/O, no clock.
///
/// Six duties for each app: a test notification at the start, notifications that failed, the state of each subscription whose
/// period is over or whose renewal is awaited, the histories of customers whose purchases were claimed, answers about purchases whose
/// customers want refunds, and updates of purchases. What it learns is verified and folded as if it had been delivered.
package struct Reconciler: Sendable {
    package enum Effect: Sendable {
        /// To the App Store, about an app.
        case send(AppleAPICall, app: Int, ticket: UInt64)
        /// To the verifier of signed values.
        case verify([String], app: Int, ticket: UInt64)
        /// To the store.
        case ask(StoreRequest.Body, ticket: UInt64)
        /// To the store: the place that a later reconciler begins at.
        case keep(StoredItem, ticket: UInt64)
        /// To the log.
        case tell(Note, app: Int)
    }

    /// What operators are told.
    package enum Note: Hashable, Sendable {
        case found(String, TransactionID)
        case problem(String)
        case settled(String)
    }

    /// Of the verifier.
    package enum Verified: Sendable {
        /// Good values, or a dead letter.
        /// `mayPass`: a change of the settings may let a refused one pass.
        case mutation(Mutation, isLetter: Bool, refused: Int, mayPass: Bool = false)
        /// Nothing of it can be stored. `isFinal`: nor ever will be, whatever the settings.
        case refused(String, isFinal: Bool)
    }

    enum Task: Sendable {
        case load(Int)
        case save(Int)
        case requestTest(Int)
        case testStatus(Int)
        case page(Int)
        case ends(Int, delay: Int)
        case scan(Int)
        case statuses(Int, EndedSubscription, isRun: Bool)
        /// Accounts whose histories are to be read.
        case unread(Int, isRun: Bool)
        case history(Int, AccountNumber)
        /// What the App Store asks about purchases.
        case questions(Int)
        case answer(Int, ConsumptionCase)
        /// What the App Store is to be told about purchases.
        case updates(Int)
        case update(Int, AppStoreUpdate)
        /// What the App Store said to an update is stored.
        case noted(Int, ItemKey)
        /// A change of the store whose result nobody waits for: what it is about is looked for again.
        case told(Int)
        /// Subscriptions that a run asks about.
        case runScan(Int)
        /// Updates that a rehearsal lists where the App Store refuses them.
        case runUpdates(Int)
        /// What was learned is verified, and then written.
        case learn(Int, Subject)
    }

    enum Subject: Sendable {
        /// With what it says of itself.
        case notification(ReconcileRun.Difference)
        /// With how the App Store's answer differs from what is known; nil: it does not.
        case subscription(EndedSubscription, ReconcileRun.Difference?, isRun: Bool)
        case history(AccountNumber)
    }

    var works: [AppWork]
    private var tasks: [UInt64: Task] = [:]
    private var nextTicket: UInt64
    package internal(set) var effects: [Effect] = []

    /// Tickets begin at one that no earlier reconciler of the process has given out.
    package init(_ apps: [App], now: Instant, firstTicket: UInt64) {
        self.works = apps.map { AppWork($0, now: now) }
        self.nextTicket = firstTicket
    }

    package var unusedTicket: UInt64 { self.nextTicket }

    package mutating func takeEffects() -> [Effect] {
        defer { self.effects = [] }
        return self.effects
    }

    /// Until when nothing is asked about an app, because its key was refused.
    package func pausedUntil(_ app: Int) -> Instant { self.works[app].pausedUntil }

    /// By app, for metrics, the log and `perch doctor`.
    package var reports: [AppWork.Report] { self.works.map(\.report) }

    mutating func begin(_ task: Task) -> UInt64 {
        defer { self.nextTicket += 1 }
        self.tasks[self.nextTicket] = task
        return self.nextTicket
    }

    // MARK: Time

    /// Does what is due, and returns when something is due next.
    package mutating func turn(now: Instant) -> Instant {
        for app in self.works.indices {
            if self.works[app].pausedUntil <= now { self.turn(app, now) } else { self.goOnWithRun(app, now) }
        }
        return self.works.map(\.nextDue).min() ?? now.advanced(byMilliseconds: Limits.reconcileSweepMilliseconds)
    }

    private mutating func turn(_ app: Int, _ now: Instant) {
        guard self.works[app].isLoaded else {
            guard self.works[app].nextLoad <= now else { return }
            self.works[app].nextLoad = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
            self.effects.append(
                .ask(.item(.reconciled(self.works[app].app.number)), ticket: self.begin(.load(app))))
            return
        }
        if let due = self.works[app].nextTest, due <= now {
            self.works[app].nextTest = nil
            if let token = self.works[app].testToken {
                self.send(.testStatus(token: token), app, .testStatus(app))
            } else {
                self.send(.requestTest, app, .requestTest(app))
            }
        }
        if self.works[app].walk == nil, self.works[app].nextWalk <= now {
            self.begin(self.works[app].walk(now: now), app)
        }
        if self.works[app].nextSweep <= now {
            self.works[app].nextSweep = now.advanced(byMilliseconds: Limits.reconcileSweepMilliseconds)
            for delay in self.works[app].sweeps.indices { self.sweep(app, delay: delay, now) }
        }
        for (original, check) in self.works[app].checks {
            guard let again = check.again, again <= now else { continue }
            self.works[app].checks[original]?.again = nil
            self.works[app].checks[original]?.asked = now
            self.send(.statuses(check.ended.transaction), app, .statuses(app, check.ended, isRun: false))
        }
        if let due = self.works[app].nextScan, due <= now { self.scan(app, now) }
        if let due = self.works[app].nextUnread, due <= now { self.scanHistories(app, now) }
        if let due = self.works[app].questions.next, due <= now { self.askForQuestions(app) }
        if let due = self.works[app].updates.next, due <= now { self.askForUpdates(app) }
        self.goOnWithRun(app, now)
        if self.works[app].nextSave <= now { self.save(app, now) }
    }

    mutating func begin(_ walk: AppWork.Walk, _ app: Int) {
        self.works[app].walk = walk
        self.send(
            .notifications(from: walk.from, to: walk.to, onlyFailures: walk.onlyFailures, page: ""), app, .page(app))
    }

    mutating func send(_ call: AppleAPICall, _ app: Int, _ task: Task) {
        self.works[app].report.requests[call.name, default: 0] += 1
        self.effects.append(.send(call, app: app, ticket: self.begin(task)))
    }

    private mutating func save(_ app: Int, _ now: Instant) {
        self.works[app].nextSave = now.advanced(byMilliseconds: Limits.reconcileSaveMilliseconds)
        self.works[app].place.ends = self.works[app].endsDone
        let item = self.works[app].place.item(self.works[app].app.number)
        self.effects.append(.keep(item, ticket: self.begin(.save(app))))
    }

    // MARK: Answers of the App Store

    package mutating func answered(_ ticket: UInt64, _ result: SenderResult, now: Instant) {
        guard let task = self.tasks.removeValue(forKey: ticket) else { return }
        switch task {
        case .requestTest(let app):
            guard let answer = self.open(result, app, now) else {
                self.works[app].nextTest = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
                return
            }
            if answer.error?.lacksURL == true {
                return self.failTest(app, "no URL for notifications is set in App Store Connect", now)
            }
            guard let token = answer.testToken else {
                let reason = answer.error.map { "\($0.code) \(printable($0.message))" } ?? "an answer without a token"
                return self.failTest(app, "the App Store refuses to send a test notification: \(reason)", now)
            }
            self.works[app].testToken = token
            self.works[app].testLooks = 0
            // A failure stays in sight until another one has arrived.
            if case .failed = self.works[app].report.test {} else { self.works[app].report.test = .asked(at: now) }
            self.works[app].nextTest = now.advanced(byMilliseconds: Limits.reconcileTestFirstMilliseconds)
        case .testStatus(let app):
            self.tookTestStatus(self.open(result, app, now), app, now)
        case .page(let app):
            self.tookPage(self.open(result, app, now), app, now)
        case .statuses(let app, let ended, let isRun):
            self.tookStatuses(self.open(result, app, now), of: ended, isRun: isRun, app, now)
        case .history(let app, let account): self.tookHistory(self.open(result, app, now), of: account, app, now)
        case .answer(let app, let asked): self.tookReply(self.open(result, app, now), to: asked, app, now)
        case .update(let app, let update): self.tookReply(self.open(result, app, now), to: update, app, now)
        case .load, .save, .ends, .scan, .learn, .unread, .questions, .updates, .noted, .told, .runScan,
            .runUpdates:
            preconditionFailure("ticket \(ticket) asked another than the App Store")
        }
    }

    /// Another one is asked for later: its cause may go without a restart of this server.
    private mutating func failTest(_ app: Int, _ reason: String, _ now: Instant) {
        let message = String(printable(reason).prefix(200))
        self.works[app].report.test = .failed(message, at: now)
        self.works[app].testToken = nil
        self.works[app].nextTest = now.advanced(byMilliseconds: Limits.reconcileTestAgainMilliseconds)
        self.tell(.problem(message), app)
        guard self.works[app].place.testFailed == nil else { return }
        self.works[app].place.testFailed = now
        self.works[app].nextSave = now
    }

    private mutating func tookTestStatus(_ answer: AppleAPIAnswer?, _ app: Int, _ now: Instant) {
        self.works[app].testLooks += 1
        guard let result = answer?.sendResults?.first else {
            guard self.works[app].testLooks < Limits.reconcileTestLooksMax else {
                return self.failTest(app, "the App Store says nothing of what became of its test notification", now)
            }
            self.works[app].nextTest = now.advanced(byMilliseconds: Limits.reconcileTestMilliseconds)
            return
        }
        guard result == "SUCCESS" else {
            return self.failTest(app, "the App Store's test notification did not arrive: \(result)", now)
        }
        self.works[app].testToken = nil
        self.works[app].report.test = .arrived(at: now)
        self.tell(.settled("the App Store's test notification arrived"), app)
        guard self.works[app].place.testFailed != nil else { return }
        self.works[app].place.testFailed = nil
        self.works[app].nextSave = now
    }

    // MARK: Notifications that failed

    private mutating func tookPage(_ answer: AppleAPIAnswer?, _ app: Int, _ now: Instant) {
        guard self.works[app].walk != nil else { return }
        guard let page = answer?.notifications else { return self.endWalk(app, isComplete: false, now) }
        self.works[app].walk?.pages += 1
        self.works[app].walk?.next = page.next
        if self.works[app].walk?.isRun == true {
            self.works[app].run?.progress.notifications += page.values.count
        }
        for text in page.values {
            self.works[app].walk?.awaited += 1
            let subject = Subject.notification(ReconcileRun.Difference(notification: text))
            self.effects.append(.verify([text], app: app, ticket: self.begin(.learn(app, subject))))
        }
        self.goOn(app, now)
    }

    /// Asks for the next page once all notifications of this one are stored.
    private mutating func goOn(_ app: Int, _ now: Instant) {
        guard let walk = self.works[app].walk, walk.awaited == 0 else { return }
        guard !walk.hasFailed, walk.pages < Limits.reconcilePagesMax else {
            return self.endWalk(app, isComplete: false, now)
        }
        guard let next = walk.next else { return self.endWalk(app, isComplete: !walk.isIncomplete, now) }
        self.send(
            .notifications(from: walk.from, to: walk.to, onlyFailures: walk.onlyFailures, page: next), app, .page(app))
    }

    private mutating func endWalk(_ app: Int, isComplete: Bool, _ now: Instant) {
        guard let walk = self.works[app].walk else { return }
        self.works[app].walk = nil
        if walk.isRun {
            if !isComplete { self.works[app].noteNotAll() }
            // A rehearsal has stored nothing.
            guard self.works[app].run?.progress.isRehearsal == false else { return }
        }
        guard isComplete else {
            self.works[app].nextWalk = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
            return
        }
        self.works[app].nextWalk = now.advanced(byMilliseconds: Limits.reconcileWalkMilliseconds)
        self.works[app].place.notifications = walk.to
        self.works[app].report.lastWalk = now
        self.save(app, now)
    }

    // MARK: Subscriptions whose period is over

    private mutating func sweep(_ app: Int, delay: Int, _ now: Instant) {
        let sweep = self.works[app].sweeps[delay]
        guard !sweep.isAsked, self.works[app].checks.count < Limits.reconcileChecksMax else { return }
        let through = now.advanced(byMilliseconds: -sweep.delayMilliseconds)
        guard through > sweep.after.instant else { return }
        self.works[app].sweeps[delay].isAsked = true
        self.effects.append(
            .ask(
                .ended(
                    self.works[app].app.number, after: sweep.after, through: through,
                    limit: Limits.reconcileChecksMax), ticket: self.begin(.ends(app, delay: delay))))
    }

    private mutating func tookEnds(_ answer: StoreAnswer, _ app: Int, delay: Int, _ now: Instant) {
        self.works[app].sweeps[delay].isAsked = false
        // Where the store refuses, the next sweep begins at the same place.
        guard case .ended(let ended, let through, let hasMore) = answer else { return }
        self.works[app].sweeps[delay].after = through
        self.works[app].sweeps[delay].hasMore = hasMore
        for one in ended {
            let place = one.end.advanced(byMilliseconds: self.works[app].sweeps[delay].delayMilliseconds)
            self.check(one, app, place: place, now)
        }
        if hasMore { self.sweep(app, delay: delay, now) }
    }

    private mutating func check(_ one: EndedSubscription, _ app: Int, place: Instant?, _ now: Instant) {
        guard self.works[app].add(one, place: place, now: now) else { return }
        self.send(.statuses(one.transaction), app, .statuses(app, one, isRun: false))
    }

    /// The App Store's answer about a subscription is stored, or says that there is nothing.
    private mutating func settle(_ original: TransactionID, _ app: Int, _ now: Instant) {
        self.works[app].settle(original, now: now)
        for delay in self.works[app].sweeps.indices where self.works[app].sweeps[delay].hasMore {
            self.sweep(app, delay: delay, now)
        }
    }

    /// It is asked about again later. Until then the stored place does not pass it.
    private mutating func retry(_ original: TransactionID, _ app: Int, _ now: Instant) {
        self.works[app].checks[original]?.hasFailed = false
        self.works[app].checks[original]?.again = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
    }

    /// Looks through all accounts for what is awaited, some at a time: a subscription whose first report came after its end has no end
    /// ahead that a sweep would find.
    private mutating func scan(_ app: Int, _ now: Instant) {
        guard self.works[app].checks.count < Limits.reconcileChecksMax else {
            self.works[app].nextScan = now.advanced(byMilliseconds: Limits.reconcileSweepMilliseconds)
            return
        }
        self.works[app].nextScan = nil
        self.effects.append(
            .ask(
                .awaited(
                    self.works[app].app.number, from: self.works[app].scanned, limit: Limits.reconcileScannedAtOnce),
                ticket: self.begin(.scan(app))))
    }

    private mutating func tookScan(_ answer: StoreAnswer, _ app: Int, _ now: Instant) {
        guard case .ended(let ended, let through, let hasMore) = answer else {
            self.works[app].nextScan = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
            return
        }
        self.works[app].scanned = hasMore ? through.account : 0
        self.works[app].nextScan = now.advanced(
            byMilliseconds: hasMore ? Limits.reconcileScanPauseMilliseconds : Limits.reconcileWalkMilliseconds)
        for one in ended { self.check(one, app, place: nil, now) }
    }

    private mutating func tookStatuses(
        _ answer: AppleAPIAnswer?, of ended: EndedSubscription, isRun: Bool, _ app: Int, _ now: Instant
    ) {
        guard let lines = answer?.statuses else {
            guard let error = answer?.error, !error.isRetryable else {
                guard isRun else { return self.retry(ended.original, app, now) }
                return self.endRunCheck(app, "the App Store did not answer about \(ended.original)")
            }
            self.tell(
                .problem("the App Store tells nothing of \(ended.original): \(error.code) \(printable(error.message))"),
                app)
            return isRun ? self.endRunCheck(app) : self.settle(ended.original, app, now)
        }
        self.works[app].report.checks += 1
        let told = lines.filter { !$0.values.isEmpty }
        if isRun, self.works[app].run?.progress.isRehearsal == true {
            for line in told { self.works[app].run?.found(ReconcileRun.Difference(line, ended)) }
            return self.endRunCheck(app)
        }
        guard !told.isEmpty else { return isRun ? self.endRunCheck(app) : self.settle(ended.original, app, now) }
        if isRun {
            self.works[app].run?.checks += told.count - 1
        } else {
            self.works[app].checks[ended.original]?.awaited = told.count
        }
        for line in told {
            let subject = Subject.subscription(ended, ReconcileRun.Difference(line, ended), isRun: isRun)
            self.effects.append(.verify(line.values, app: app, ticket: self.begin(.learn(app, subject))))
        }
    }

    // MARK: What is learned

    package mutating func verified(_ ticket: UInt64, _ verified: Verified, now: Instant) {
        guard let task = self.tasks.removeValue(forKey: ticket) else { return }
        guard case .learn(let app, let subject) = task else {
            preconditionFailure("ticket \(ticket) asked another than the verifier")
        }
        switch verified {
        case .refused(let reason, let isFinal):
            self.works[app].report.refused += 1
            self.tell(.problem("a value that the App Store answered is refused: \(reason)"), app)
            self.lacks(subject, app)
            self.learned(subject, app, isFinal ? .done : .notAsItIs, now)
        case .mutation(let mutation, let isLetter, let refused, let mayPass):
            self.works[app].report.refused += UInt64(refused) + (isLetter ? 1 : 0)
            if refused > 0 {
                self.tell(.problem("\(refused) of the values that the App Store answered are refused"), app)
            }
            if refused > 0 || isLetter { self.lacks(subject, app) }
            if mayPass, case .subscription(let ended, _, false) = subject {
                self.works[app].checks[ended.original]?.hasFailed = true
            }
            guard self.isRehearsal(subject, app) else {
                self.effects.append(.ask(.mutate(mutation), ticket: self.begin(.learn(app, subject))))
                return
            }
            guard !isLetter else {
                if case .notification(let difference) = subject { self.works[app].run?.found(difference) }
                return self.learned(subject, app, .done, now)
            }
            self.effects.append(.ask(.mutate(mutation.rehearsed), ticket: self.begin(.learn(app, subject))))
        }
    }

    /// Something of an answer is not stored: a history does not count, and a run says so.
    private mutating func lacks(_ subject: Subject, _ app: Int) {
        switch subject {
        case .history(let account): self.works[app].readings[account]?.hasFailed = true
        case .subscription(let ended, _, true):
            self.works[app].run?.note("a value that the App Store answered about \(ended.original) is refused")
        case .subscription, .notification: break
        }
    }

    package mutating func stored(_ ticket: UInt64, _ answer: StoreAnswer, now: Instant) {
        guard let task = self.tasks.removeValue(forKey: ticket) else { return }
        switch task {
        case .load(let app):
            guard case .items(let items, _) = answer else { return }
            self.works[app].load(items.first.flatMap { ReconciledPlace($0) } ?? ReconciledPlace(), now: now)
            self.turn(app, now)
        case .save(let app):
            // It is tried again soon: without it, a restart asks for more than it needs, and never for less.
            if case .refused = answer {
                self.works[app].nextSave = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
            }
        case .ends(let app, let delay): self.tookEnds(answer, app, delay: delay, now)
        case .scan(let app): self.tookScan(answer, app, now)
        case .learn(let app, let subject): self.wrote(answer, subject, app, now)
        case .unread(let app, let isRun): self.tookUnread(answer, isRun: isRun, app, now)
        case .questions(let app): self.tookQuestions(answer, app, now)
        case .updates(let app): self.tookUpdates(answer, app, now)
        case .noted(let app, let key): self.works[app].updates.underWay.remove(key)
        case .runScan(let app): self.tookRunScan(answer, app, now)
        case .runUpdates(let app): self.tookRunUpdates(answer, app)
        case .told: break
        case .requestTest, .testStatus, .page, .statuses, .history, .answer, .update:
            preconditionFailure("ticket \(ticket) asked the App Store")
        }
    }

    private mutating func wrote(_ answer: StoreAnswer, _ subject: Subject, _ app: Int, _ now: Instant) {
        switch answer {
        case .mutated(.reported(let outcome), _):
            self.count(outcome, subject, app)
            self.learned(subject, app, .done, now)
        case .refused(let refusal):
            // What would be refused again keeps the others waiting no longer. An app that is told nothing may be told again.
            let learned: Learned =
                refusal.reason == .notToldApp ? .notAsItIs : refusal.reason.isFinal ? .done : .notNow
            self.works[app].report.refused += refusal.reason.isFinal ? 1 : 0
            self.tell(.problem("the store refused what the App Store answered: \(refusal.message)"), app)
            self.lacks(subject, app)
            self.learned(subject, app, learned, now)
        default: preconditionFailure("a mutation was asked for")
        }
    }

    private func isRehearsal(_ subject: Subject, _ app: Int) -> Bool {
        guard self.works[app].run?.progress.isRehearsal == true else { return false }
        switch subject {
        case .notification: return self.works[app].walk?.isRun == true
        case .subscription(_, _, let isRun): return isRun
        case .history(let account): return self.works[app].readings[account]?.isRun == true
        }
    }

    private mutating func count(_ outcome: ReportedOutcome, _ subject: Subject, _ app: Int) {
        let isRehearsal = self.isRehearsal(subject, app)
        switch subject {
        case .notification(let difference) where outcome.notices > 0:
            if self.works[app].walk?.isRun == true { self.works[app].run?.found(difference) }
            guard !isRehearsal else { return }
            self.works[app].report.found["notification", default: 0] += 1
            self.tell(.found("a notification that the App Store could not deliver was fetched", 0), app)
        case .subscription(let ended, let difference?, let isRun) where outcome.news > 0:
            if isRun { self.works[app].run?.found(difference) }
            self.works[app].report.found["subscription", default: 0] += 1
            self.tell(
                .found("no notification told what the App Store answers about a subscription", ended.original), app)
        case .history(let account) where outcome.changed > 0:
            guard let reading = self.works[app].readings[account] else { return }
            let count = outcome.changed
            if reading.isRun {
                self.works[app].run?.found(
                    ReconcileRun.Difference(
                        source: .history, original: reading.asking.original,
                        message: "\(count) transactions of the customer's history were not told"))
            }
            guard !isRehearsal else { return }
            self.works[app].report.found["history", default: 0] += UInt64(count)
            self.tell(.found("no notification told what a customer's history has", reading.asking.original), app)
        case .notification, .subscription, .history: break
        }
    }

    /// What became of a value.
    enum Learned {
        /// It is stored, or never can be.
        case done
        /// The store has no room, or is out of reach.
        case notNow
        /// It may be stored with other settings.
        case notAsItIs
    }

    private mutating func learned(_ subject: Subject, _ app: Int, _ learned: Learned, _ now: Instant) {
        switch subject {
        case .notification:
            guard self.works[app].walk != nil else { return }
            self.works[app].walk?.awaited -= 1
            switch learned {
            case .done: break
            case .notNow: self.works[app].walk?.hasFailed = true
            case .notAsItIs: self.works[app].walk?.isIncomplete = true
            }
            self.goOn(app, now)
        case .subscription(let ended, _, true):
            self.endRunCheck(
                app, learned == .done ? nil : "what the App Store answers about \(ended.original) could not be stored")
        case .history(let account): self.learnedHistory(learned, of: account, app, now)
        case .subscription(let ended, _, false):
            guard var check = self.works[app].checks[ended.original] else { return }
            check.awaited -= 1
            check.hasFailed = check.hasFailed || learned != .done
            self.works[app].checks[ended.original] = check
            guard check.awaited == 0 else { return }
            if check.hasFailed { self.retry(ended.original, app, now) } else { self.settle(ended.original, app, now) }
        }
    }

    // MARK: The key, and what goes wrong

    mutating func tell(_ note: Note, _ app: Int) { self.effects.append(.tell(note, app: app)) }

    /// The answer's JSON, success or error; nil: there is none, and why is noted.
    private mutating func open(_ result: SenderResult, _ app: Int, _ now: Instant) -> AppleAPIAnswer? {
        switch result {
        case .failure(let fault):
            self.works[app].report.failures[fault.kind.rawValue, default: 0] += 1
            if fault.kind != .stopped {
                let message = "the App Store cannot be asked: \(fault)"
                self.works[app].report.silence = AppWork.Report.Silence(message: message, at: now)
                self.tell(.problem(message), app)
            }
            return nil
        case .success(let answer) where answer.status == 401:
            self.works[app].report.failures["key", default: 0] += 1
            let message = self.works[app].keyRefused(answer, now: now)
            self.works[app].report.key = .refused(message, at: now)
            self.works[app].report.silence = nil
            // Nothing else would fare better. A key that was put right counts after the next start.
            self.works[app].pausedUntil = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
            self.works[app].run?.stop(message)
            self.tell(.problem(message), app)
            return nil
        case .success(let answer):
            // A request that is taken may have an answer without a body.
            let body = answer.isSuccess && answer.body.isEmpty ? Array("{}".utf8) : answer.body
            guard let opened = AppleAPIAnswer(body), answer.isSuccess || opened.error != nil else {
                self.works[app].report.failures["status", default: 0] += 1
                let message = "the App Store answered \(answer.status), without its JSON"
                self.works[app].report.silence = AppWork.Report.Silence(message: message, at: now)
                self.tell(.problem(message), app)
                return nil
            }
            self.works[app].keyAccepted(now: now)
            if let error = opened.error {
                self.works[app].report.failures["\(error.code)", default: 0] += 1
            }
            return opened
        }
    }
}
