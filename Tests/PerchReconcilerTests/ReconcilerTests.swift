import PerchApple
import PerchBase
import PerchModel
import PerchReconciler
import PerchSender
import PerchStore
import Testing

/// A reconciler of one sandbox app, with a clock and an App Store of the test's.
struct Played {
    static let start = Instant(milliseconds: 1_800_000_000_000)
    static let minute: Int64 = 60_000

    var reconciler: Reconciler
    var now: Instant
    /// What was asked and is not answered.
    var sent: [(call: AppleAPICall, ticket: UInt64)] = []
    var verify: [(texts: [String], ticket: UInt64)] = []
    var asked: [(body: StoreRequest.Body, ticket: UInt64)] = []
    /// Places that are to be stored.
    var kept: [(item: StoredItem, ticket: UInt64)] = []
    var notes: [Reconciler.Note] = []

    init(
        _ place: ReconciledPlace? = nil, keyID: String = "KEY", environment: AppleApp.Environment = .sandbox,
        at start: Instant = Self.start, since milliseconds: Int64 = Limits.reconcileTestPauseMilliseconds,
        finishes: Bool = true, setsTokens: Bool = true
    ) {
        self.now = start
        let app: AppleApp =
            environment == .sandbox
            ? .sandbox(bundleID: "com.example.app") : .production(bundleID: "com.example.app", appAppleID: 1)
        self.reconciler = Reconciler(
            [
                Reconciler.App(
                    number: 7, app: app, keyID: keyID, finishesTransactions: finishes, setsAccountTokens: setsTokens)
            ], now: start.advanced(byMilliseconds: -milliseconds), firstTicket: 1)
        self.turn()
        guard case .item(.reconciled(7))? = self.asked.first?.body else {
            Issue.record("it begins with its place")
            return
        }
        self.store(.items(place.map { [$0.item(7)] } ?? [], hasMore: false))
    }

    mutating func turn(after milliseconds: Int64 = 0) {
        self.now = self.now.advanced(byMilliseconds: milliseconds)
        _ = self.reconciler.turn(now: self.now)
        self.collect()
    }

    mutating func collect() {
        for effect in self.reconciler.takeEffects() {
            switch effect {
            case .send(let call, _, let ticket): self.sent.append((call, ticket))
            case .verify(let texts, _, let ticket): self.verify.append((texts, ticket))
            case .ask(let body, let ticket): self.asked.append((body, ticket))
            case .keep(let item, let ticket): self.kept.append((item, ticket))
            case .tell(let note, _): self.notes.append(note)
            }
        }
    }

    /// Answers the first call that fits.
    mutating func answer(_ name: String, _ status: Int = 200, _ body: String = "", date: String = "") {
        guard let place = self.sent.firstIndex(where: { $0.call.name == name }) else {
            Issue.record("nothing asked for \(name)")
            return
        }
        var answer = SenderAnswer(status: status)
        answer.body = Array(body.utf8)
        answer.date = date
        self.reconciler.answered(self.sent.remove(at: place).ticket, .success(answer), now: self.now)
        self.collect()
    }

    mutating func fail(_ name: String, _ kind: SenderFault.Kind) {
        guard let place = self.sent.firstIndex(where: { $0.call.name == name }) else {
            Issue.record("nothing asked for \(name)")
            return
        }
        self.reconciler.answered(
            self.sent.remove(at: place).ticket, .failure(SenderFault(kind, "no way")), now: self.now)
        self.collect()
    }

    /// Answers the store's first question.
    mutating func store(_ answer: StoreAnswer) {
        guard !self.asked.isEmpty else {
            Issue.record("the store was not asked")
            return
        }
        self.reconciler.stored(self.asked.removeFirst().ticket, answer, now: self.now)
        self.collect()
    }

    /// Verifies everything, and stores it as news or as known.
    mutating func learn(news: UInt32) {
        self.accept()
        var outcome = ReportedOutcome()
        outcome.news = news
        outcome.notices = news > 0 ? 1 : 0
        self.storeMutations(.mutated(.reported(outcome), Position(revision: 1, asOf: Self.start)))
    }

    /// Verifies everything.
    mutating func accept() {
        while !self.verify.isEmpty {
            let next = self.verify.removeFirst()
            let mutation = Mutation.reported(.reports([], source: .history, claimant: nil), app: 7)
            self.reconciler.verified(
                next.ticket, .mutation(mutation, isLetter: false, refused: 0), now: self.now)
            self.collect()
        }
    }

    mutating func storeMutations(_ answer: StoreAnswer) {
        while let place = self.asked.firstIndex(where: { if case .mutate = $0.body { true } else { false } }) {
            self.reconciler.stored(self.asked.remove(at: place).ticket, answer, now: self.now)
            self.collect()
        }
    }

    /// The place that would be stored after an hour.
    mutating func placeAfterAnHour() -> ReconciledPlace? {
        self.kept = []
        self.turn(after: Limits.reconcileSaveMilliseconds)
        return self.kept.last.flatMap { ReconciledPlace($0.item) }
    }

    /// Answers all questions for ends: these ones to the first of a delay, none to the others.
    mutating func ends(_ ended: [EndedSubscription], delay: Int64) {
        while let place = self.asked.firstIndex(where: { if case .ended = $0.body { true } else { false } }) {
            let (body, ticket) = self.asked.remove(at: place)
            guard case .ended(_, _, let through, _) = body else { return }
            let isIt = through == self.now.advanced(byMilliseconds: -delay)
            self.reconciler.stored(
                ticket,
                .ended(isIt ? ended : [], through: DueEntry(instant: through, account: 0), hasMore: false),
                now: self.now)
            self.collect()
        }
    }

    var report: AppWork.Report { self.reconciler.reports[0] }
    var calls: [String] { self.sent.map(\.call.name).sorted() }
}

@Suite struct `the reconciler` {
    private static let minute: Int64 = 60_000

    /// A process that is started again and again asks for none.
    @Test func `it asks for no test notification in its first second`() {
        var played = Played(since: 0)
        played.turn(after: Limits.reconcileTestPauseMilliseconds - 1)
        #expect(played.calls == ["notification_history"])
        played.turn(after: 1)
        #expect(played.calls == ["notification_history", "test"])
    }

    @Test func `it asks for a test notification at the start, and for what became of it`() {
        var played = Played()
        #expect(played.calls == ["notification_history", "test"])
        played.answer("test", 200, "{\"testNotificationToken\":\"a b/1\"}")
        #expect(played.report.test == .asked(at: Played.start))
        played.turn(after: 30_000)
        guard case .testStatus(let token)? = played.sent.first(where: { $0.call.name == "test" })?.call else {
            return #expect(Bool(false), "what became of it")
        }
        #expect(token == "a b/1")
        #expect(AppleAPICall.testStatus(token: token).path == "/inApps/v1/notifications/test/a%20b%2F1")
        // Nothing became of it yet.
        played.answer("test", 200, "{\"signedPayload\":\"x\",\"sendAttempts\":[]}")
        played.turn(after: 30_000)
        played.answer("test", 200, "{\"sendAttempts\":[{\"attemptDate\":1,\"sendAttemptResult\":\"SUCCESS\"}]}")
        #expect(played.report.test == .arrived(at: played.now))
        played.turn(after: 60_000)
        #expect(!played.calls.contains("test"))
    }

    @Test(
        arguments: [
            "TIMED_OUT", "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
        ])
    func `a test notification that did not arrive is a problem, until another one has arrived`(_ result: String) {
        var played = Played()
        played.answer("test", 200, "{\"testNotificationToken\":\"a\"}")
        played.turn(after: 30_000)
        played.answer("test", 200, "{\"sendAttempts\":[{\"sendAttemptResult\":\"\(result)\"}]}")
        guard case .failed(let message, _) = played.report.test else { return #expect(Bool(false)) }
        let expected = "the App Store's test notification did not arrive: \(result)"
        #expect(message == expected)
        #expect(played.notes == [.problem(expected)])
        // The next start knows it, before its own has arrived.
        played.kept = []
        played.turn()
        let place = played.kept.last.flatMap { ReconciledPlace($0.item) }
        #expect(place?.testFailed == played.now)
        guard case .failed(_, played.now) = Played(place).report.test else { return #expect(Bool(false), "forgotten") }
        // Another one is asked for an hour later. It is a problem until then.
        played.turn(after: Limits.reconcileTestAgainMilliseconds - 1)
        #expect(!played.calls.contains("test"))
        played.turn(after: 1)
        played.answer("test", 200, "{\"testNotificationToken\":\"b\"}")
        guard case .failed = played.report.test else { return #expect(Bool(false), "it is still a problem") }
        played.turn(after: 30_000)
        guard case .testStatus("b")? = played.sent.last?.call else { return #expect(Bool(false), "the other one") }
        played.kept = []
        played.answer("test", 200, "{\"sendAttempts\":[{\"sendAttemptResult\":\"SUCCESS\"}]}")
        #expect(played.report.test == .arrived(at: played.now))
        played.turn()
        #expect(played.kept.last.flatMap { ReconciledPlace($0.item) }?.testFailed == nil)
        #expect(played.kept.count == 1)
    }

    @Test func `a test notification of which nothing is told is given up after ten looks`() {
        var played = Played()
        played.answer("test", 200, "{\"testNotificationToken\":\"a\"}")
        for look in 1...10 {
            played.turn(after: 30_000)
            played.answer("test", 404, "{\"errorCode\":4040008,\"errorMessage\":\"none\"}")
            if case .failed = played.report.test { #expect(look == 10) }
        }
        #expect(played.notes.count == 1)
        played.turn(after: Limits.reconcileTestAgainMilliseconds)
        guard case .requestTest? = played.sent.last?.call else { return #expect(Bool(false), "another one") }
    }

    @Test func `an app without a URL is told, and asked about again`() {
        var played = Played()
        played.answer("test", 404, "{\"errorCode\":4040007,\"errorMessage\":\"none\"}")
        #expect(played.notes == [.problem("no URL for notifications is set in App Store Connect")])
        played.turn(after: Limits.reconcileTestAgainMilliseconds)
        #expect(played.calls.contains("test"))
    }

    // MARK: Notifications that failed

    @Test(arguments: [(AppleApp.Environment.sandbox, 29), (.production, 179)] as [(AppleApp.Environment, Int64)])
    func `the first walk goes as far back as the App Store keeps notifications`(
        _ environment: AppleApp.Environment, _ days: Int64
    ) {
        let played = Played(environment: environment)
        guard case .notifications(let from, let to, true, "")? = played.sent.last?.call else {
            return #expect(Bool(false))
        }
        #expect(to == Played.start)
        #expect(Played.start.milliseconds(since: from) == days * 86_400_000)
    }

    @Test func `a page is stored before the next one is asked for, and the place only after the last`() {
        var played = Played()
        played.answer(
            "notification_history", 200,
            """
            {"hasMore":true,"paginationToken":"next","notificationHistory":[
              {"signedPayload":"one","sendAttempts":[]},{"signedPayload":"two"}]}
            """)
        #expect(played.verify.map(\.texts) == [["one"], ["two"]])
        #expect(!played.calls.contains("notification_history"))
        played.learn(news: 1)
        guard case .notifications(_, _, true, "next")? = played.sent.last?.call else {
            return #expect(Bool(false), "the next page")
        }
        played.answer("notification_history", 200, "{\"hasMore\":false,\"notificationHistory\":[]}")
        #expect(played.report.lastWalk == played.now)
        #expect(played.report.found["notification"] == 2)
        // The next one is a day later, and begins an hour before this one's end.
        played.turn(after: 86_400_000 - 1)
        #expect(!played.calls.contains("notification_history"))
        played.turn(after: 1)
        guard case .notifications(let from, _, true, "")? = played.sent.last?.call else {
            return #expect(Bool(false), "the next walk")
        }
        #expect(from == Played.start.advanced(byMilliseconds: -3_600_000))
    }

    @Test func `what was known is no find`() {
        var played = Played()
        played.answer("notification_history", 200, "{\"notificationHistory\":[{\"signedPayload\":\"one\"}]}")
        played.learn(news: 0)
        #expect(played.report.found["notification"] == 0)
        #expect(played.report.lastWalk != nil)
    }

    /// Its values may be older than what is known, or known by another way.
    @Test(arguments: [(0, 1, 0), (1, 0, 1), (1, 1, 0)] as [(UInt32, UInt32, UInt32)])
    func `a notification is a find if it had not come before`(_ notices: UInt32, _ stale: UInt32, _ news: UInt32) {
        var played = Played()
        played.answer("notification_history", 200, "{\"notificationHistory\":[{\"signedPayload\":\"one\"}]}")
        played.accept()
        var outcome = ReportedOutcome()
        (outcome.notices, outcome.stale, outcome.news) = (notices, stale, news)
        played.storeMutations(.mutated(.reported(outcome), Position(revision: 1, asOf: played.now)))
        #expect(played.report.found["notification"] == UInt64(notices))
    }

    @Test func `a walk whose notification the store refuses does not count, and comes again`() {
        var played = Played()
        played.answer("notification_history", 200, "{\"notificationHistory\":[{\"signedPayload\":\"one\"}]}")
        let verify = played.verify.removeFirst()
        played.reconciler.verified(
            verify.ticket,
            .mutation(.reported(.reports([], source: .history, claimant: nil), app: 7), isLetter: false, refused: 0),
            now: played.now)
        played.collect()
        played.storeMutations(.refused(Refusal(.storeUnreachable, "away")))
        #expect(played.report.lastWalk == nil)
        played.turn(after: Limits.reconcileRetryMilliseconds)
        guard case .notifications(let from, _, true, "")? = played.sent.last?.call else {
            return #expect(Bool(false), "again")
        }
        #expect(played.now.milliseconds(since: from) == 29 * 86_400_000)
    }

    @Test func `a value that is refused is counted, and the walk goes on`() {
        var played = Played()
        played.answer("notification_history", 200, "{\"notificationHistory\":[{\"signedPayload\":\"one\"}]}")
        played.reconciler.verified(
            played.verify.removeFirst().ticket, .refused("chain", isFinal: true), now: played.now)
        #expect(played.report.refused == 1)
        #expect(played.report.lastWalk != nil)
    }

    /// An app that no file names any more, a root that is not installed.
    @Test func `a value that other settings would let pass is fetched again, after those behind it`() {
        var played = Played()
        played.answer(
            "notification_history", 200,
            "{\"hasMore\":true,\"paginationToken\":\"next\",\"notificationHistory\":[{\"signedPayload\":\"one\"}]}")
        played.reconciler.verified(
            played.verify.removeFirst().ticket, .refused("not told to this app", isFinal: false), now: played.now)
        played.collect()
        guard case .notifications(_, _, true, "next")? = played.sent.last?.call else {
            return #expect(Bool(false), "the next page")
        }
        played.answer("notification_history", 200, "{\"notificationHistory\":[{\"signedPayload\":\"two\"}]}")
        played.learn(news: 1)
        #expect(played.report.found["notification"] == 1)
        #expect(played.report.lastWalk == nil)
        #expect(played.placeAfterAnHour()?.notifications == nil)
        guard case .notifications(let from, _, true, "")? = played.sent.last?.call else {
            return #expect(Bool(false), "again")
        }
        #expect(played.now.milliseconds(since: from) == 29 * 86_400_000)
    }

    @Test func `a restart knows when failures were last fetched, and since when they are not`() {
        var played = Played()
        #expect(played.report.since == Played.start)
        // The first place is stored at once.
        played.turn()
        let first = played.kept.last.flatMap { ReconciledPlace($0.item) }
        #expect(first?.since == Played.start)
        #expect(first?.ends == Played.start.advanced(byMilliseconds: -Limits.reconcileLookBackMilliseconds))
        var place = ReconciledPlace()
        place.since = Played.start.advanced(byMilliseconds: -3 * 86_400_000)
        #expect(Played(place).report.since == place.since)
        place.notifications = Played.start.advanced(byMilliseconds: -2 * 86_400_000)
        #expect(Played(place).report.lastWalk == place.notifications)
    }

    @Test func `a restart goes on where the last one was`() {
        var place = ReconciledPlace()
        place.notifications = Played.start.advanced(byMilliseconds: -5 * 3_600_000)
        place.ends = Played.start.advanced(byMilliseconds: -2 * 3_600_000)
        let played = Played(place)
        guard case .notifications(let from, _, true, "")? = played.sent.last?.call else { return #expect(Bool(false)) }
        #expect(Played.start.milliseconds(since: from) == 6 * 3_600_000)
        let first = played.asked.compactMap { asked -> (Instant, Instant)? in
            guard case .ended(7, let after, let through, _) = asked.body else { return nil }
            return (after.instant, through)
        }
        #expect(first.count == 4)
        for (delay, (after, through)) in zip(Limits.reconcileDelaysMilliseconds, first) {
            #expect(Played.start.milliseconds(since: after) == 2 * 3_600_000 + delay)
            #expect(Played.start.milliseconds(since: through) == delay)
        }
    }

    @Test func `a place is read as it was written`() {
        var place = ReconciledPlace()
        place.notifications = Played.start
        place.acceptedKey = "KEY"
        place.since = Played.start.advanced(byMilliseconds: 1)
        place.testFailed = Played.start.advanced(byMilliseconds: 2)
        #expect(ReconciledPlace(place.item(7)) == place)
        #expect(ReconciledPlace(StoredItem(.reconciled(7), [1])) == nil)
    }

    // MARK: Subscriptions whose period is over

    private static func ended(_ state: RenewalState = .subscribed) -> EndedSubscription {
        EndedSubscription(
            original: 100, transaction: 101, end: Played.start.advanced(byMilliseconds: -10 * Self.minute),
            state: state)
    }

    /// A transaction whose payload says when its period ends. Nothing of it is verified here.
    private static func transaction(end: Instant) -> String {
        func part(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
        return "\(part("{}")).\(part("{\"expiresDate\":\(end.milliseconds)}")).\(part("x"))"
    }

    private static func statuses(_ status: Int, end: Instant) -> String {
        """
        {"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[
          {"status":\(status),"originalTransactionId":"100","signedTransactionInfo":"\(Self.transaction(end: end))",
           "signedRenewalInfo":"renewal"}]}]}
        """
    }

    @Test func `a subscription is asked about at each delay after its end`() {
        #expect(Limits.reconcileDelaysMilliseconds == [600_000, 3_600_000, 21_600_000, 86_400_000])
        for delay in Limits.reconcileDelaysMilliseconds {
            var played = Played()
            played.ends([Self.ended()], delay: delay)
            #expect(played.calls.filter { $0 == "statuses" }.count == 1)
            guard case .statuses(101)? = played.sent.last?.call else { return #expect(Bool(false)) }
        }
    }

    @Test(
        arguments: [
            // Apple's status, whether the period it states is later, what is known; whether it is a find.
            (1, true, .subscribed, true), (1, true, .expired, true), (2, false, .expired, false),
            (2, false, .subscribed, true),
            (3, false, .subscribed, true), (3, false, .inBillingRetryPeriod, false), (4, false, .inGracePeriod, false),
            (5, false, .expired, true), (1, false, .subscribed, false),
        ] as [(Int, Bool, RenewalState, Bool)])
    func `a difference to what is known is a find`(
        _ status: Int, _ isLater: Bool, _ known: RenewalState, _ isFind: Bool
    ) {
        var played = Played()
        let one = Self.ended(known)
        played.ends([one], delay: 600_000)
        let end = isLater ? one.end.advanced(byMilliseconds: 30 * 86_400_000) : one.end
        played.answer("statuses", 200, Self.statuses(status, end: end))
        #expect(played.verify.map(\.texts.count) == [2])
        played.learn(news: 1)
        #expect(played.report.found["subscription"] == (isFind ? 1 : 0))
        #expect(played.report.checks == 1)
    }

    @Test func `a subscription is asked about once at a time, and again after a failure, though no sweep finds it`() {
        var played = Played()
        played.ends([Self.ended(), Self.ended()], delay: 600_000)
        played.turn(after: Self.minute)
        played.ends([Self.ended()], delay: 600_000)
        #expect(played.calls.filter { $0 == "statuses" }.count == 1)
        played.fail("statuses", .timeout)
        #expect(played.report.failures == ["timeout": 1])
        played.turn(after: Limits.reconcileRetryMilliseconds - 1)
        played.ends([], delay: 600_000)
        #expect(!played.calls.contains("statuses"))
        played.turn(after: 1)
        played.ends([], delay: 600_000)
        #expect(played.calls.filter { $0 == "statuses" }.count == 1)
    }

    /// An outage, a lost right, a store without room: what an answer would have brought is not there.
    @Test(arguments: ["unanswered", "timeout", "stopped", "500", "retryable", "rate", "nothing", "untrusted", "full"])
    func `the stored place does not pass a subscription whose answer is not stored`(_ way: String) {
        var played = Played()
        let one = Self.ended()
        played.ends([one], delay: 600_000)
        switch way {
        case "timeout": played.fail("statuses", .timeout)
        case "stopped": played.fail("statuses", .stopped)
        case "500": played.answer("statuses", 500, "oops")
        case "retryable": played.answer("statuses", 404, "{\"errorCode\":4040004,\"errorMessage\":\"later\"}")
        case "rate": played.answer("statuses", 429, "{\"errorCode\":4290000,\"errorMessage\":\"slow down\"}")
        case "nothing": played.answer("statuses", 200, "{}")
        case "untrusted":
            played.answer("statuses", 200, Self.statuses(1, end: one.end))
            played.reconciler.verified(
                played.verify.removeFirst().ticket, .refused("no root", isFinal: false), now: played.now)
        case "full":
            played.answer("statuses", 200, Self.statuses(1, end: one.end))
            played.accept()
            played.storeMutations(.refused(Refusal(.storeFull, "full")))
        default: break
        }
        guard let place = played.placeAfterAnHour(), let ends = place.ends else {
            return #expect(Bool(false), "a place")
        }
        #expect(ends <= one.end.advanced(byMilliseconds: 600_000))
        // The next reconciler looks for its end again.
        let next = Played(place, at: played.now)
        let afters = next.asked.compactMap { asked -> Instant? in
            guard case .ended(_, let after, _, _) = asked.body else { return nil }
            return after.instant
        }
        #expect(afters.first.map { $0 <= one.end } == true)
    }

    @Test(arguments: ["told", "unknown", "nothing told", "untrusted for good"])
    func `the stored place goes on once an answer is stored, or there is none`(_ way: String) {
        var played = Played()
        let one = Self.ended()
        played.ends([], delay: 600_000)
        played.turn(after: Self.minute)
        played.ends([one], delay: 600_000)
        switch way {
        case "unknown": played.answer("statuses", 404, "{\"errorCode\":4040010,\"errorMessage\":\"no such\"}")
        case "nothing told": played.answer("statuses", 200, "{\"data\":[]}")
        case "untrusted for good":
            played.answer("statuses", 200, Self.statuses(1, end: one.end))
            played.reconciler.verified(
                played.verify.removeFirst().ticket, .refused("chain", isFinal: true), now: played.now)
        default:
            played.answer("statuses", 200, Self.statuses(1, end: one.end))
            played.learn(news: 1)
        }
        let swept = played.now
        #expect(played.placeAfterAnHour()?.ends == swept)
    }

    @Test func `what was asked before a later delay is no answer for it`() {
        var played = Played()
        let one = Self.ended()
        played.ends([one], delay: 600_000)
        played.turn(after: 50 * Self.minute)
        played.ends([one], delay: 3_600_000)
        #expect(played.calls.filter { $0 == "statuses" }.count == 1)
        played.answer("statuses", 200, Self.statuses(1, end: one.end))
        played.learn(news: 0)
        played.turn()
        #expect(played.calls.filter { $0 == "statuses" }.count == 1)
        played.answer("statuses", 200, Self.statuses(1, end: one.end))
        played.learn(news: 0)
        played.turn()
        #expect(!played.calls.contains("statuses"))
    }

    @Test func `a look that the store refused is looked again`() {
        var played = Played()
        func afters() -> [Instant] {
            played.asked.compactMap { asked in
                guard case .ended(_, let after, _, _) = asked.body else { return nil }
                return after.instant
            }
        }
        let first = afters()
        while !played.asked.isEmpty { played.store(.refused(Refusal(.storeUnreachable, "away"))) }
        played.turn(after: Self.minute)
        #expect(afters() == first)
    }

    @Test func `all accounts are looked through at the start and each day, some at a time`() {
        var played = Played()
        func scan() -> (AccountNumber, UInt64)? {
            for asked in played.asked {
                if case .awaited(7, let account, false, _) = asked.body { return (account, asked.ticket) }
            }
            return nil
        }
        for (from, next, hasMore) in [(0, 100, true), (100, 150, false), (0, 150, false)] as [(UInt64, UInt64, Bool)] {
            guard let (account, ticket) = scan() else { return #expect(Bool(false), "from \(from)") }
            #expect(account == from)
            played.asked = []
            played.reconciler.stored(
                ticket,
                .ended([Self.ended()], through: DueEntry(instant: .distantPast, account: next), hasMore: hasMore),
                now: played.now)
            played.collect()
            played.turn(after: 0)
            #expect(scan() == nil)
            played.turn(after: hasMore ? Limits.reconcileScanPauseMilliseconds : 86_400_000)
        }
        #expect(played.calls.filter { $0 == "statuses" }.count == 1)
    }

    // MARK: The key

    @Test func `a key that was never accepted, one that was revoked, and a clock that is off`() {
        let date = "Fri, 15 Jan 2027 08:00:00 GMT"
        func message(_ place: ReconciledPlace?, date: String) -> String {
            var played = Played(place)
            played.answer("test", 401, "", date: date)
            guard case .refused(let message, _) = played.report.key else { return "" }
            // Nothing more is asked for ten minutes.
            played.sent = []
            played.turn(after: Limits.reconcileRetryMilliseconds - 1)
            #expect(played.sent.isEmpty)
            played.turn(after: 1)
            #expect(!played.sent.isEmpty)
            return message
        }
        #expect(Played.start.milliseconds == 1_800_000_000_000)
        #expect(message(nil, date: date).contains("never accepted it"))
        #expect(message(nil, date: "").contains("never accepted it"))
        var place = ReconciledPlace()
        place.acceptedKey = "KEY"
        #expect(message(place, date: date).contains("probably revoked"))
        #expect(message(place, date: "Fri, 15 Jan 2027 09:00:00 GMT").contains("60 minutes behind"))
        #expect(message(place, date: "Fri, 15 Jan 2027 07:00:00 GMT").contains("60 minutes ahead"))
    }

    @Test func `a key that is accepted is remembered`() {
        var played = Played()
        played.answer("notification_history", 200, "{\"notificationHistory\":[]}")
        #expect(played.report.key == .accepted(at: played.now))
    }

    @Test(arguments: ["", "[]", "{", "\u{0}", "{\"data\":3}", "{\"notificationHistory\":[{}]}"])
    func `answers that are none change nothing`(_ body: String) {
        var played = Played()
        played.ends([Self.ended()], delay: 600_000)
        for name in ["test", "notification_history", "statuses"] { played.answer(name, 200, body) }
        played.learn(news: 0)
        #expect(played.report.found == ["notification": 0, "subscription": 0, "history": 0])
    }
}
