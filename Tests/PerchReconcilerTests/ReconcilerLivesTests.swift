import PerchApple
import PerchBase
import PerchModel
import PerchReconciler
import PerchSender
import PerchStore
import Testing

/// Days of a store and an App Store that fail at random, with kills at random instants.
private struct Days {
    static let start = Instant(milliseconds: 1_800_000_000_000)
    static let hour: Int64 = 3_600_000

    /// When an answer about each subscription was asked for that was stored.
    private(set) var settled: [TransactionID: [Instant]] = [:]
    private(set) var requests = 0
    let ends: [(end: Instant, original: TransactionID)]

    private var random: SplitMix64
    private var now = Self.start
    private var reconciler: Reconciler
    private var place: ReconciledPlace?
    /// What is under way, by the instant at which it ends.
    private var underWay: [(at: Instant, asked: Instant, effect: Reconciler.Effect)] = []
    private var originals: [UInt64: TransactionID] = [:]
    private var askedAt: [UInt64: Instant] = [:]
    private var isQuiet = false

    init(seed: UInt64, subscriptions: Int) {
        var random = SplitMix64(seed: seed)
        self.ends = (1...subscriptions).map { number in
            (Self.start.advanced(byMilliseconds: Int64(random.below(Int(48 * Self.hour)))), TransactionID(number))
        }.sorted { $0.end < $1.end }
        self.random = random
        self.reconciler = Self.begin(at: Self.start, firstTicket: 1)
    }

    private static func begin(at now: Instant, firstTicket: UInt64) -> Reconciler {
        Reconciler(
            [
                Reconciler.App(
                    number: 7, app: .sandbox(bundleID: "com.example.app"), keyID: "KEY", finishesTransactions: true,
                    setsAccountTokens: true)
            ], now: now,
            firstTicket: firstTicket)
    }

    /// Plays until each delay of each end has passed, and then two quiet hours.
    mutating func play() {
        let last = Self.start.advanced(byMilliseconds: 48 * Self.hour + (Limits.reconcileDelaysMilliseconds.max() ?? 0))
        var quietSince: Instant?
        while quietSince.map({ self.now.milliseconds(since: $0) < 2 * Self.hour }) ?? true {
            if quietSince == nil, self.now >= last { quietSince = self.now }
            self.isQuiet = quietSince != nil
            let due = self.reconciler.turn(now: self.now)
            self.begin()
            if !self.isQuiet, self.random.below(300) == 0 { self.kill() }
            let next = min(due, self.underWay.map(\.at).min() ?? .distantFuture)
            self.now = max(self.now.advanced(byMilliseconds: 1), next)
            self.end()
        }
    }

    /// The process is gone with what was under way. What the store was asked for may have happened.
    private mutating func kill() {
        for (_, _, effect) in self.underWay {
            if case .keep(let item, _) = effect, self.random.below(2) == 0 { self.place = ReconciledPlace(item) }
        }
        self.underWay = []
        self.now = self.now.advanced(byMilliseconds: Int64(self.random.below(Int(3 * Self.hour))))
        self.reconciler = Self.begin(at: self.now, firstTicket: 1)
        self.originals = [:]
        self.askedAt = [:]
    }

    private mutating func begin() {
        for effect in self.reconciler.takeEffects() {
            let takes = Int64(self.random.below(self.isQuiet ? 1_000 : 300_000)) + 1
            if case .send = effect { self.requests += 1 }
            self.underWay.append((self.now.advanced(byMilliseconds: takes), self.now, effect))
        }
    }

    private mutating func end() {
        while let place = self.underWay.firstIndex(where: { $0.at <= self.now }) {
            let (_, asked, effect) = self.underWay.remove(at: place)
            self.end(effect, asked: asked)
            self.begin()
        }
    }

    private var fails: Bool { mutating get { !self.isQuiet && self.random.below(4) == 0 } }

    private mutating func end(_ effect: Reconciler.Effect, asked: Instant) {
        let refusal = StoreAnswer.refused(Refusal(.storeUnreachable, "away"))
        switch effect {
        case .tell: break
        case .send(let call, _, let ticket): self.answer(call, ticket, asked: asked)
        case .verify(_, _, let ticket):
            let mutation = Mutation.reported(.reports([], source: .history, claimant: nil), app: 7)
            // Its mutation has another ticket, which is the next one.
            let original = self.originals.removeValue(forKey: ticket)
            self.reconciler.verified(
                ticket,
                self.fails ? .refused("no root", isFinal: false) : .mutation(mutation, isLetter: false, refused: 0),
                now: self.now)
            for effect in self.reconciler.effects {
                guard case .ask(.mutate, let next) = effect else { continue }
                self.originals[next] = original
                self.askedAt[next] = self.askedAt.removeValue(forKey: ticket)
            }
        case .keep(let item, let ticket):
            let fails = self.fails
            if !fails { self.place = ReconciledPlace(item) }
            self.stored(ticket, fails ? refusal : .mutated(.none, Position(revision: 1, asOf: self.now)))
        case .ask(let body, let ticket):
            guard !self.fails else { return self.stored(ticket, refusal) }
            self.store(body, ticket)
        }
    }

    private mutating func stored(_ ticket: UInt64, _ answer: StoreAnswer) {
        self.reconciler.stored(ticket, answer, now: self.now)
    }

    private mutating func store(_ body: StoreRequest.Body, _ ticket: UInt64) {
        switch body {
        case .item: self.stored(ticket, .items(self.place.map { [$0.item(7)] } ?? [], hasMore: false))
        case .ended(_, let after, let through, let limit):
            // Account numbers are those of the subscriptions.
            let found = self.ends.filter { one in
                one.end <= through
                    && (one.end > after.instant || one.end == after.instant && one.original > after.account)
            }.prefix(limit)
            let subscriptions = found.map { one in
                EndedSubscription(original: one.original, transaction: one.original, end: one.end, state: .subscribed)
            }
            let last = found.count == limit ? found.last : nil
            self.stored(
                ticket,
                .ended(
                    subscriptions,
                    through: last.map { DueEntry(instant: $0.end, account: $0.original) }
                        ?? DueEntry(instant: through, account: AccountNumber(Int64.max)), hasMore: last != nil))
        case .unread: self.stored(ticket, .unread([], next: 0, hasMore: false))
        case .items: self.stored(ticket, .items([], hasMore: false))
        case .awaited(_, let account, _, _):
            self.stored(
                ticket, .ended([], through: DueEntry(instant: .distantPast, account: account), hasMore: false))
        case .mutate:
            if let original = self.originals.removeValue(forKey: ticket),
                let asked = self.askedAt.removeValue(forKey: ticket)
            {
                self.settled[original, default: []].append(asked)
            }
            self.stored(ticket, .mutated(.reported(ReportedOutcome()), Position(revision: 1, asOf: self.now)))
        default: Issue.record("the store was asked something else")
        }
    }

    private mutating func answer(_ call: AppleAPICall, _ ticket: UInt64, asked: Instant) {
        guard !self.fails else {
            let kinds: [SenderFault.Kind] = [.timeout, .stopped, .connect]
            let kind = kinds[self.random.below(kinds.count)]
            return self.reconciler.answered(ticket, .failure(SenderFault(kind, "away")), now: self.now)
        }
        var answer = SenderAnswer(status: 200)
        switch call {
        case .statuses(let id):
            answer.body = Array(
                """
                {"data":[{"lastTransactions":[
                  {"status":1,"originalTransactionId":"\(id)","signedTransactionInfo":"a.b.c"}]}]}
                """.utf8)
            self.reconciler.answered(ticket, .success(answer), now: self.now)
            for effect in self.reconciler.effects {
                guard case .verify(_, _, let next) = effect, self.originals[next] == nil else { continue }
                (self.originals[next], self.askedAt[next]) = (id, asked)
            }
            return
        case .notifications: answer.body = Array("{\"notificationHistory\":[]}".utf8)
        default: answer.body = Array("{\"testNotificationToken\":\"a\"}".utf8)
        }
        self.reconciler.answered(ticket, .success(answer), now: self.now)
    }
}

@Suite struct `a reconciler that is killed` {
    /// Each ended subscription is asked about after each delay, and the answer is stored, whatever fails and whenever the process ends.
    @Test(arguments: 1...8) func `it forgets no subscription`(_ seed: UInt64) {
        var days = Days(seed: seed, subscriptions: 40)
        days.play()
        for (end, original) in days.ends {
            for delay in Limits.reconcileDelaysMilliseconds {
                let due = end.advanced(byMilliseconds: delay)
                #expect(
                    days.settled[original]?.contains { $0 >= due } == true,
                    "seed \(seed): \(original), \(delay) ms after its end")
            }
        }
        // Nor does it ask without end.
        #expect(days.requests < 40 * 4 * 20, "seed \(seed): \(days.requests) requests")
    }
}
