import PerchApple
import PerchBase
import PerchModel
import PerchReconciler
import PerchSender
import PerchStore
import Testing

extension Played {
    /// Answers the first question of the store that fits.
    mutating func reply(_ answer: StoreAnswer, to fits: (StoreRequest.Body) -> Bool) {
        guard let place = self.asked.firstIndex(where: { fits($0.body) }) else {
            Issue.record("the store was not asked")
            return
        }
        self.reconciler.stored(self.asked.remove(at: place).ticket, answer, now: self.now)
        self.collect()
    }

    mutating func questions(_ asked: [ConsumptionCase]) {
        self.reply(.items(asked.map { $0.item(7) }, hasMore: false)) {
            if case .items(.consumption, _, _, _) = $0 { true } else { false }
        }
    }

    mutating func unread(_ accounts: [UnreadHistory]) {
        self.reply(.unread(accounts, next: 0, hasMore: false)) { if case .unread = $0 { true } else { false } }
    }

    var isAskingForQuestions: Bool {
        self.asked.contains { if case .items(.consumption, _, _, _) = $0.body { true } else { false } }
    }

    /// Mutations that are asked for, and not answered.
    var mutations: Int { self.asked.count { if case .mutate = $0.body { true } else { false } } }
    var statuses: Int { self.calls.count { $0 == "statuses" } }
}

/// A signed transaction, of which nothing is verified here.
private func transaction(of original: TransactionID) -> String {
    func part(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
    return "\(part("{}")).\(part("{\"originalTransactionId\":\"\(original)\"}")).\(part("x"))"
}

private func page(_ originals: [TransactionID], revision: String, hasMore: Bool = false) -> String {
    let values = originals.map { "\"\(transaction(of: $0))\"" }.joined(separator: ",")
    return "{\"revision\":\"\(revision)\",\"hasMore\":\(hasMore),\"signedTransactions\":[\(values)]}"
}

@Suite struct `answers about purchases` {
    private static func asked(_ state: ConsumptionState = .answered, id: TransactionID = 101) -> ConsumptionCase {
        var asked = ConsumptionCase(transaction: id, original: 100, reason: "OTHER", asked: Played.start)
        asked.state = state
        asked.answer = ConsumptionAnswer(hasConsent: true, delivery: .delivered)
        return asked
    }

    @Test func `are sent once, and noted when the App Store has taken them`() {
        var played = Played()
        played.questions([Self.asked(), Self.asked(.open, id: 102), Self.asked(.sent, id: 103)])
        guard case .consumption(101, let answer)? = played.sent.first(where: { $0.call.name == "consumption" })?.call
        else { return #expect(Bool(false), "it is sent") }
        #expect(answer == Self.asked().answer)
        #expect(played.report.questions == [.answered: 1, .open: 1, .sent: 1])
        #expect(played.report.nextDeadline == Self.asked().deadline)
        // The store is looked through again, and it is under way.
        played.turn(after: Limits.reconcileQuestionsMilliseconds)
        played.questions([Self.asked()])
        #expect(played.calls.filter { $0 == "consumption" }.count == 1)
        played.answer("consumption", 202, "")
        #expect(played.mutations == 1)
    }

    @Test(arguments: ["timeout", "500", "rate"]) func `are sent again after a failure`(_ way: String) {
        var played = Played()
        played.questions([Self.asked()])
        switch way {
        case "500": played.answer("consumption", 500, "oops")
        case "rate": played.answer("consumption", 429, "{\"errorCode\":4290000,\"errorMessage\":\"slow down\"}")
        default: played.fail("consumption", .timeout)
        }
        #expect(played.mutations == 0)
        played.turn(after: Limits.reconcileAnswerMilliseconds - 1)
        played.questions([Self.asked()])
        #expect(!played.calls.contains("consumption"))
        played.turn(after: Limits.reconcileQuestionsMilliseconds)
        played.questions([Self.asked()])
        #expect(played.calls.contains("consumption"))
    }

    @Test func `that the App Store refuses are noted, and not sent again`() {
        var played = Played()
        played.questions([Self.asked()])
        played.answer("consumption", 400, "{\"errorCode\":4000044,\"errorMessage\":\"no consent\"}")
        #expect(played.mutations == 1)
        #expect(played.notes == [.problem("the App Store refuses the answer about 101: 4000044 no consent")])
    }

    @Test func `are not sent after the deadline, and a question is forgotten a day later`() {
        var played = Played()
        played.questions([])
        played.turn(after: 12 * 3_600_000)
        played.questions([Self.asked()])
        #expect(!played.calls.contains("consumption") && played.mutations == 0)
        played.turn(after: Limits.reconcileForgetMilliseconds + 1)
        played.questions([Self.asked()])
        #expect(!played.calls.contains("consumption") && played.mutations == 1)
    }
}

private func isUpdateLook(_ body: StoreRequest.Body) -> Bool {
    if case .items(.appStoreUpdate, _, _, _) = body { true } else { false }
}

@Suite struct `updates of purchases` {
    private static let finish = AppStoreUpdate(.finish, of: 101, asked: Played.start)
    private static let token = AppStoreUpdate(
        .token("7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"), of: 100, asked: Played.start)

    private static func found(_ played: inout Played, _ updates: [AppStoreUpdate], hasMore: Bool = false) {
        played.reply(.items(updates.map { $0.item(7) }, hasMore: hasMore), to: isUpdateLook)
    }

    private static func calls(_ played: Played) -> [AppleAPICall] {
        played.sent.map(\.call).filter { ["finish", "account_token"].contains($0.name) }
    }

    @Test func `are sent once, and dropped when the App Store has taken them`() {
        var played = Played()
        Self.found(&played, [Self.finish, Self.token])
        #expect(
            Self.calls(played) == [.finish(101), .accountToken(100, "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d")])
        #expect(played.report.updatesWaiting == 2 && played.report.oldestUpdate == Played.start)
        // The store is looked through again, and they are under way: until what the App Store said is stored.
        played.answer("finish", 200)
        played.turn(after: Limits.reconcileUpdatesMilliseconds)
        Self.found(&played, [Self.finish, Self.token])
        #expect(Self.calls(played).map(\.name) == ["account_token"])
        #expect(played.mutations == 1)
        played.storeMutations(.mutated(.reported(ReportedOutcome()), Position(revision: 1, asOf: played.now)))
        played.answer("account_token", 200)
        played.storeMutations(.refused(Refusal(.storeFull, "no room")))
        played.turn(after: Limits.reconcileUpdatesMilliseconds)
        Self.found(&played, [Self.token])
        #expect(Self.calls(played).map(\.name) == ["account_token"], "what could not be stored is told again")
    }

    @Test(arguments: ["timeout", "500", "rate", "retryable"]) func `are sent again after a failure`(_ way: String) {
        var played = Played()
        Self.found(&played, [Self.finish])
        switch way {
        case "500": played.answer("finish", 500, "oops")
        case "rate": played.answer("finish", 429, "{\"errorCode\":4290000,\"errorMessage\":\"slow down\"}")
        case "retryable": played.answer("finish", 404, "{\"errorCode\":4040006,\"errorMessage\":\"try again\"}")
        default: played.fail("finish", .timeout)
        }
        #expect(played.mutations == 0)
        played.turn(after: Limits.reconcileAnswerMilliseconds - 1)
        #expect(!played.asked.contains { isUpdateLook($0.body) }, "others would fare no better now")
        played.turn(after: 1)
        Self.found(&played, [Self.finish])
        #expect(Self.calls(played) == [.finish(101)])
    }

    @Test func `that the App Store refuses are named without the token, and forgotten a month later`() {
        var played = Played()
        Self.found(&played, [Self.token])
        played.answer("account_token", 400, "{\"errorCode\":4000187,\"errorMessage\":\"no original\"}")
        #expect(played.mutations == 1)
        let what = "the account token of the original transaction 100"
        #expect(played.notes == [.problem("the App Store refuses \(what): 4000187 no original")])
        played.storeMutations(.mutated(.reported(ReportedOutcome()), Position(revision: 1, asOf: played.now)))
        var refused = Self.token
        refused.message = "4000187 no original"
        played.turn(after: Limits.reconcileUpdatesMilliseconds)
        Self.found(&played, [refused])
        #expect(Self.calls(played).isEmpty)
        #expect(played.report.updatesRefused == 1 && played.report.updatesWaiting == 0)
        #expect(played.report.refusedUpdates == [RefusedUpdate(what: what, reason: "4000187 no original")])
        played.turn(after: Limits.reconcileRefusedMilliseconds + 1)
        let before = played.mutations
        Self.found(&played, [refused])
        #expect(played.mutations == before + 1 && played.report.updatesRefused == 0)
    }

    @Test(arguments: [(true, false), (false, true), (false, false)])
    func `that the settings do not ask for wait, and nobody is late`(_ finishes: Bool, _ setsTokens: Bool) {
        var played = Played(finishes: finishes, setsTokens: setsTokens)
        Self.found(&played, [Self.finish, Self.token])
        let told = (finishes ? ["finish"] : []) + (setsTokens ? ["account_token"] : [])
        #expect(Self.calls(played).map(\.name) == told)
        #expect(played.report.updatesWaiting == 2 && played.report.updatesHeld == 2 - told.count)
        #expect(played.report.oldestUpdate == (told.isEmpty ? nil : Played.start))
        #expect(played.mutations == 0, "they stay in the store")
    }

    @Test func `that wait for nothing are read at a pace, and counted as they are seen`() {
        var played = Played(finishes: false)
        var refused = Self.token
        refused.message = "4000187 no original"
        func isAsked() -> Bool { played.asked.contains { isUpdateLook($0.body) } }
        Self.found(&played, [Self.finish, refused], hasMore: true)
        played.turn()
        #expect(!isAsked(), "the store has other work")
        #expect(
            played.report.updatesWaiting == 1 && played.report.updatesHeld == 1 && played.report.updatesRefused == 1)
        played.turn(after: Limits.reconcileScanPauseMilliseconds)
        #expect(isAsked())
        Self.found(&played, [AppStoreUpdate(.finish, of: 102, asked: Played.start)])
        #expect(played.report.updatesHeld == 2 && played.report.refusedUpdates.count == 1)
        // Then it begins again at the front, and what has gone is no longer counted at its end.
        played.turn(after: Limits.reconcileUpdatesMilliseconds)
        Self.found(&played, [Self.finish], hasMore: true)
        #expect(played.report.updatesHeld == 2)
        played.turn(after: Limits.reconcileScanPauseMilliseconds)
        Self.found(&played, [])
        #expect(played.report.updatesHeld == 1 && played.report.updatesRefused == 0)
    }

    @Test func `are all counted, and told a hundred at a time`() {
        var played = Played()
        func page(_ first: TransactionID) -> [AppStoreUpdate] {
            (first..<first + TransactionID(Limits.reconcileUpdatesAtOnce)).map {
                AppStoreUpdate(.finish, of: $0, asked: Played.start)
            }
        }
        Self.found(&played, page(1), hasMore: true)
        played.turn(after: Limits.reconcileScanPauseMilliseconds)
        Self.found(&played, page(101), hasMore: true)
        #expect(Self.calls(played).count == 100 && played.report.updatesWaiting == 200, "no more are under way")
        played.answer("finish", 200)
        played.storeMutations(.mutated(.reported(ReportedOutcome()), Position(revision: 1, asOf: played.now)))
        played.turn(after: Limits.reconcileScanPauseMilliseconds)
        let look = played.asked.first { isUpdateLook($0.body) }?.body
        guard case .items(_, _, let after, 100)? = look else { return #expect(Bool(false), "the next page") }
        #expect(after == page(101).last?.key(7).key)
        Self.found(&played, page(201))
        #expect(Self.calls(played).last == .finish(201) && Self.calls(played).count == 100)
        #expect(played.report.updatesWaiting == 300)
        // The next look begins at the front, with those that there was no room for.
        for _ in 0..<100 {
            played.answer("finish", 200)
            played.storeMutations(.mutated(.reported(ReportedOutcome()), Position(revision: 1, asOf: played.now)))
        }
        played.turn(after: Limits.reconcileUpdatesMilliseconds)
        Self.found(&played, page(101))
        #expect(Self.calls(played).first == .finish(101) && Self.calls(played).count == 100)
    }
}

@Suite struct `histories of customers` {
    private static func account(
        _ originals: [TransactionID], places: [ReportedHistory.Place] = []
    ) -> UnreadHistory {
        UnreadHistory(account: 5, originals: originals, places: places)
    }

    @Test func `are read to their ends, for each customer of the account`() {
        var played = Played()
        played.unread([Self.account([100, 200, 300])])
        guard case .history(100, "")? = played.sent.last?.call else { return #expect(Bool(false), "the first") }
        played.answer("history", 200, page([100], revision: "r1", hasMore: true))
        #expect(!played.calls.contains("history"), "a page is stored before the next one is asked for")
        played.learn(news: 1)
        guard case .history(100, "r1")? = played.sent.last?.call else { return #expect(Bool(false), "the next page") }
        played.answer("history", 200, page([200], revision: "r2"))
        played.learn(news: 0)
        // 300 is another customer's.
        guard case .history(300, "")? = played.sent.last?.call else { return #expect(Bool(false), "the other one") }
        played.answer("history", 200, page([], revision: "r3"))
        #expect(played.mutations == 1 && played.report.histories == 1)
        // A week later: only what is new.
        played.turn(after: 7 * 86_400_000)
        let places = [
            ReportedHistory.Place(original: 100, revision: "r2"), ReportedHistory.Place(original: 300, revision: "r3"),
        ]
        played.unread([Self.account([100, 200, 300], places: places)])
        for (original, revision) in [(100, "r2"), (300, "r3")] as [(TransactionID, String)] {
            guard case .history(original, revision)? = played.sent.last?.call else {
                return #expect(Bool(false), "after \(revision)")
            }
            played.answer("history", 200, page([], revision: "later"))
        }
        #expect(!played.calls.contains("history") && played.report.histories == 2)
    }

    @Test func `begin anew at a revision that is unknown, and end at one that comes again`() {
        var played = Played()
        played.unread([Self.account([100], places: [ReportedHistory.Place(original: 100, revision: "other")])])
        played.answer("history", 400, "{\"errorCode\":4000005,\"errorMessage\":\"revision\"}")
        guard case .history(100, "")? = played.sent.last?.call else {
            return #expect(Bool(false), "from the beginning")
        }
        played.answer("history", 200, page([100], revision: "r", hasMore: true))
        played.learn(news: 1)
        played.answer("history", 200, page([100], revision: "r", hasMore: true))
        #expect(!played.calls.contains("history") && played.report.histories == 0 && played.mutations == 0)
    }

    @Test(arguments: ["timeout", "unknown", "refused", "letter", "final", "full"])
    func `do not count where something is missing`(_ way: String) {
        var played = Played()
        played.unread([Self.account([100])])
        switch way {
        case "timeout": played.fail("history", .timeout)
        case "unknown": played.answer("history", 404, "{\"errorCode\":4040010,\"errorMessage\":\"none\"}")
        default:
            played.answer("history", 200, page([100], revision: "r"))
            let mutation = Mutation.reported(.reports([], source: .history, claimant: nil), app: 7)
            let verified: Reconciler.Verified =
                way == "final"
                ? .refused("no value", isFinal: true)
                : .mutation(mutation, isLetter: way == "letter", refused: way == "refused" ? 1 : 0)
            played.reconciler.verified(played.verify.removeFirst().ticket, verified, now: played.now)
            played.collect()
            played.storeMutations(
                way == "full"
                    ? .refused(Refusal(.storeFull, "full"))
                    : .mutated(.reported(ReportedOutcome()), Position(revision: 1, asOf: played.now)))
        }
        #expect(played.report.histories == 0 && played.mutations == 0)
        // The next look finds it again.
        played.turn(after: 86_400_000)
        played.unread([Self.account([100])])
        #expect(played.calls.contains("history"))
    }
}

@Suite struct `a run` {
    private static let known = EndedSubscription(
        original: 100, transaction: 101, end: Played.start.advanced(byMilliseconds: 86_400_000), state: .subscribed)

    private static func begun(isRehearsal: Bool, isWhole: Bool = false) -> Played {
        var played = Played()
        // The duties of the start are done.
        played.answer("notification_history", 200, "{\"notificationHistory\":[]}")
        played.unread([])
        played.questions([])
        played.reconciler.begin(
            ReconcileRun(number: 1, isRehearsal: isRehearsal, isWhole: isWhole, began: played.now), of: 0)
        played.turn()
        return played
    }

    private static func scan(_ played: inout Played, _ found: [EndedSubscription], isWhole: Bool = false) {
        // The first question of this kind is the daily one.
        for answer in [[], found] {
            played.reply(.ended(answer, through: DueEntry(instant: .distantPast, account: 0), hasMore: false)) {
                if case .awaited = $0 { true } else { false }
            }
        }
    }

    @Test(arguments: [false, true]) func `of everything asks for all notifications and subscriptions`(_ isWhole: Bool) {
        let played = Self.begun(isRehearsal: false, isWhole: isWhole)
        guard case .notifications(let from, _, let onlyFailures, "")? = played.sent.last?.call else {
            return #expect(Bool(false), "it begins with the notifications")
        }
        #expect(onlyFailures != isWhole)
        #expect(played.now.milliseconds(since: from) == (isWhole ? 29 * 86_400_000 : 3_600_000))
        let scans = played.asked.compactMap { if case .awaited(_, _, let all, _) = $0.body { all } else { nil } }
        #expect(scans == [false, isWhole])
        #expect(played.reconciler.run(0)?.isDone == false)
    }

    @Test func `that is rehearsed lists what differs, and stores nothing`() {
        var played = Self.begun(isRehearsal: true)
        played.kept = []
        played.answer("notification_history", 200, "{\"notificationHistory\":[{\"signedPayload\":\"one\"}]}")
        Self.scan(&played, [Self.known])
        played.unread([UnreadHistory(account: 5, originals: [100], places: [])])
        for _ in 0..<2 { played.reply(.items([], hasMore: false), to: isUpdateLook) }
        played.answer(
            "statuses", 200,
            "{\"data\":[{\"lastTransactions\":[{\"status\":2,\"originalTransactionId\":\"100\",\"signedTransactionInfo\":\"a.b.c\"}]}]}"
        )
        played.answer("history", 200, page([100], revision: "r"))
        #expect(played.verify.count == 2, "the notification, and the history")
        played.accept()
        let rehearsals = played.asked.compactMap { asked in
            if case .mutate(let mutation) = asked.body { mutation.isRehearsal } else { nil }
        }
        #expect(rehearsals == [true, true])
        var outcome = ReportedOutcome()
        (outcome.news, outcome.changed, outcome.notices) = (1, 1, 1)
        played.storeMutations(.mutated(.reported(outcome), Position(revision: 1, asOf: played.now)))
        played.turn()
        let run = played.reconciler.run(0)
        #expect(run?.isDone == true && run?.problem == "")
        #expect(
            run?.differences.map(\.source).sorted { $0.rawValue < $1.rawValue } == [
                .history, .notification, .subscription,
            ])
        #expect(
            run?.differences.first { $0.source == .subscription }?.message.hasPrefix("the App Store says expired")
                == true)
        #expect(run?.notifications == 1 && run?.subscriptions == 1 && run?.histories == 1)
        #expect(played.report.found == ["notification": 0, "subscription": 0, "history": 0])
        #expect(played.mutations == 0 && played.kept.isEmpty, "no place goes on")
    }

    @Test(arguments: [true, false])
    func `lists all updates that the App Store refuses where it is rehearsed, and changes none`(_ isRehearsal: Bool) {
        var played = Self.begun(isRehearsal: isRehearsal)
        var refused = AppStoreUpdate(.finish, of: 101, asked: Played.start)
        refused.message = "4040010 not found"
        let waiting = AppStoreUpdate(.finish, of: 102, asked: Played.start)
        let before = played.mutations
        // The look of the duty comes first.
        played.reply(.items([], hasMore: false), to: isUpdateLook)
        guard isRehearsal else { return #expect(!played.asked.contains { isUpdateLook($0.body) }, "it repairs none") }
        played.reply(.items([refused.item(7)], hasMore: true), to: isUpdateLook)
        played.turn()
        var other = AppStoreUpdate(.token("7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"), of: 100, asked: Played.start)
        other.message = "4000187 no original"
        played.reply(.items([waiting.item(7), other.item(7)], hasMore: false), to: isUpdateLook)
        let found = played.reconciler.run(0)?.differences.filter { $0.source == .update }
        #expect(found?.map(\.original) == [101, 100])
        #expect(
            found?.last?.message
                == "the App Store refuses the account token of the original transaction 100: 4000187 no original")
        #expect(played.mutations == before)
    }

    @Test func `ends when the key is refused`() {
        var played = Self.begun(isRehearsal: true)
        Self.scan(&played, [Self.known])
        played.unread([UnreadHistory(account: 5, originals: [100], places: [])])
        played.answer("notification_history", 401)
        for name in ["statuses", "history"] { played.fail(name, .stopped) }
        for _ in 0..<2 { played.reply(.items([], hasMore: false), to: isUpdateLook) }
        played.turn()
        #expect(played.reconciler.run(0)?.isDone == true)
        #expect(played.reconciler.run(0)?.problem.contains("401") == true)
    }

    @Test func `repairs, and says what it could not look at`() {
        var played = Self.begun(isRehearsal: false)
        played.fail("notification_history", .timeout)
        #expect(played.report.silence?.message == "the App Store cannot be asked: no way")
        Self.scan(&played, [Self.known])
        played.unread([])
        played.answer(
            "statuses", 200,
            "{\"data\":[{\"lastTransactions\":[{\"status\":2,\"originalTransactionId\":\"100\",\"signedTransactionInfo\":\"a.b.c\"}]}]}"
        )
        #expect(played.reconciler.run(0)?.isDone == false)
        played.learn(news: 1)
        played.turn()
        let run = played.reconciler.run(0)
        #expect(run?.isDone == true)
        #expect(run?.problem == "the App Store cannot be asked: no way")
        #expect(played.report.silence == nil, "the answer after that one")
        #expect(run?.differences.map(\.source) == [.subscription])
        #expect(played.report.found["subscription"] == 1)
        // Another one may begin.
        played.reconciler.begin(ReconcileRun(number: 2, isRehearsal: true, isWhole: false, began: played.now), of: 0)
        #expect(played.reconciler.run(0)?.number == 2)
        played.reconciler.begin(ReconcileRun(number: 3, isRehearsal: true, isWhole: false, began: played.now), of: 0)
        #expect(played.reconciler.run(0)?.number == 2, "one that is under way goes on")
    }
}
