package import PerchApple
package import PerchBase
package import PerchModel
import PerchSender
import PerchStore

/// An update of a purchase that the App Store refuses for good.
package struct RefusedUpdate: Hashable, Sendable, CustomStringConvertible {
    /// With the transaction. A token is the customer's and is not named.
    package var what: String
    /// Apple's number and words.
    package var reason: String

    package init(what: String, reason: String) {
        self.what = what
        self.reason = reason
    }

    package var description: String { "the App Store refuses \(self.what): \(self.reason)" }

    /// What the operator can do.
    package var remedy: String {
        switch self.reason.prefix(while: \.isNumber) {
        case "4000006", "4040010":
            "it is a purchase of the other environment, or of another app; submit it there"
        case "4000185": "nothing: the App Store keeps no token for a family member's purchase"
        case "4000187": "nothing: the App Store keeps tokens for original transactions alone"
        default: "look the number up in Apple's documentation of the App Store Server API"
        }
    }
}

/// What is under way and due for one app.
package struct AppWork: Sendable {
    /// For operators.
    package struct Report: Hashable, Sendable {
        package enum Test: Hashable, Sendable {
            case none
            case asked(at: Instant)
            case arrived(at: Instant)
            case failed(String, at: Instant)
        }

        package enum Key: Hashable, Sendable {
            case unused
            case accepted(at: Instant)
            case refused(String, at: Instant)
        }

        /// Why the last request had no answer, and when.
        package struct Silence: Hashable, Sendable {
            package var message: String
            package var at: Instant

            package init(message: String, at: Instant) {
                self.message = message
                self.at = at
            }
        }

        package var bundleID: String
        package var environment: AppleApp.Environment
        /// Nil: the last request was answered.
        package var silence: Silence?
        package var test = Test.none
        package var key = Key.unused
        /// When notifications that failed were last fetched to their end, by any node of the store.
        package var lastWalk: Instant?
        /// When the App Store was first asked, by any node of the store; nil until it is read.
        package var since: Instant?
        /// Requests by the name of the call.
        package var requests: [String: UInt64] = [:]
        /// Requests without a good answer, by the kind of the fault or Apple's number.
        package var failures: [String: UInt64] = [:]
        /// What no notification had told, by how it was found.
        package var found: [String: UInt64] = ["notification": 0, "subscription": 0, "history": 0]
        /// Subscriptions that were asked about.
        package var checks: UInt64 = 0
        /// Customers' histories that were read to their ends.
        package var histories: UInt64 = 0
        /// Values that the App Store answered and that were refused.
        package var refused: UInt64 = 0
        /// Questions about purchases, by what became of them, and the earliest deadline of those that wait for an answer.
        package var questions: [ConsumptionState: Int] = [:]
        package var nextDeadline: Instant?
        /// What the App Store is still to be told about purchases, and what it refuses for good, as the last look found it.
        package var updatesWaiting = 0
        package var updatesRefused = 0
        /// Those of them that wait because the settings say no longer that the App Store is told.
        package var updatesHeld = 0
        /// When the oldest one that is told was asked for.
        package var oldestUpdate: Instant?
        /// Some of the refused ones, each with why.
        package var refusedUpdates: [RefusedUpdate] = []

        /// A look at a long list takes minutes. Until its end the counts only grow, as they do after a start.
        mutating func tookUpdates(_ seen: Updates, isEnd: Bool) {
            self.updatesWaiting = isEnd ? seen.waiting : max(self.updatesWaiting, seen.waiting)
            self.updatesHeld = isEnd ? seen.held : max(self.updatesHeld, seen.held)
            self.updatesRefused = isEnd ? seen.refused : max(self.updatesRefused, seen.refused)
            self.oldestUpdate = isEnd ? seen.oldest : [self.oldestUpdate, seen.oldest].compactMap { $0 }.min()
            if isEnd || self.refusedUpdates.count < seen.named.count { self.refusedUpdates = seen.named }
        }

        package init(bundleID: String, environment: AppleApp.Environment) {
            self.bundleID = bundleID
            self.environment = environment
        }
    }

    /// A walk over the notifications of a time, or those that failed.
    struct Walk: Sendable {
        var from: Instant
        var to: Instant
        var onlyFailures = true
        /// It belongs to a run that somebody has asked for.
        var isRun = false
        /// Notifications of this page that are not stored yet.
        var awaited = 0
        var next: String?
        var pages = 0
        /// The store refused something for now, so the next pages would fare no better.
        var hasFailed = false
        /// A value was refused that a change of the settings may let pass. The next pages are read, and the walk comes again.
        var isIncomplete = false
    }

    /// Subscriptions that ended some time ago, in the order of their ends.
    struct Sweep: Sendable {
        var delayMilliseconds: Int64
        var after = DueEntry(instant: .distantPast, account: 0)
        var isAsked = false
        /// Others follow in the store, and wait until fewer are asked about.
        var hasMore = false
    }

    /// A subscription that is asked about until what the App Store answers is stored, or the answer says that there is nothing.
    struct Check: Sendable {
        var ended: EndedSubscription
        /// Where a sweep begins that finds it again; nil: no sweep has found it.
        var place: Instant?
        /// When it was last asked about.
        var asked: Instant
        /// A sweep has found it since, and what was asked earlier is no answer for that one.
        var next: Instant?
        /// When it is asked about again; nil: an answer is awaited.
        var again: Instant?
        /// Parts of the answer that are not stored yet.
        var awaited = 0
        var hasFailed = false
    }

    /// The histories of one account's customers while they are read, one after the other.
    struct Reading: Sendable {
        var item: UnreadHistory
        var isRun: Bool
        /// Where earlier readings ended, and what is still to be asked for.
        var rest: [ReportedHistory.Place]
        var asking = ReportedHistory.Place(original: 0, revision: "")
        var hasMore = false
        /// Originals that stand in a history that was read.
        var covered: Set<TransactionID>
        var places: [ReportedHistory.Place] = []
        var hasFailed = false

        init(_ item: UnreadHistory, isRun: Bool) {
            self.item = item
            self.isRun = isRun
            self.rest = item.places
            // What was in a history stays in it.
            self.covered = item.places.isEmpty ? [] : Set(item.originals)
        }
    }

    /// What the App Store asks about purchases, and the answers that it is to get.
    struct Questions: Sendable {
        /// When the store is looked through for them; nil: it is just now.
        var next: Instant?
        /// The key after which the look goes on.
        var after: [UInt8] = []
        var seen: [ConsumptionState: Int] = [:]
        var earliestDeadline: Instant?
        /// Answers that are under way (nil), or were and are sent again at an instant.
        var answering: [TransactionID: Instant?] = [:]
    }

    /// What the App Store is to be told about purchases.
    struct Updates: Sendable {
        /// When the store is looked through for them; nil: it is just now.
        var next: Instant?
        /// The key after which the look goes on.
        var after: [UInt8] = []
        var underWay: Set<ItemKey> = []
        var waiting = 0
        var refused = 0
        var held = 0
        var oldest: Instant?
        var named: [RefusedUpdate] = []
    }

    let app: Reconciler.App
    var place = ReconciledPlace()
    var isLoaded = false
    var nextLoad: Instant
    var nextTest: Instant?
    var testToken: String?
    var testLooks = 0
    var walk: Walk?
    var nextWalk: Instant
    var sweeps = Limits.reconcileDelaysMilliseconds.map { Sweep(delayMilliseconds: $0) }
    var nextSweep: Instant
    var nextScan: Instant?
    /// The account from which the walk over all accounts goes on.
    var scanned: AccountNumber = 0
    var nextSave: Instant = .distantFuture
    var checks: [TransactionID: Check] = [:]
    /// When accounts are looked through for histories that are to be read; nil: they are just now.
    var nextUnread: Instant?
    var unreadFrom: AccountNumber = 0
    var unread: [(item: UnreadHistory, isRun: Bool)] = []
    var readings: [AccountNumber: Reading] = [:]
    var questions = Questions()
    var updates = Updates()
    var run: ReconcileRun.Work?
    var pausedUntil: Instant = .distantPast
    var report: Report

    init(_ app: Reconciler.App, now: Instant) {
        self.app = app
        self.nextLoad = now
        self.nextTest = now.advanced(byMilliseconds: Limits.reconcileTestPauseMilliseconds)
        self.nextWalk = now
        self.nextSweep = now
        self.report = Report(bundleID: app.app.bundleID, environment: app.app.environment)
    }

    /// When something of it is due next, if nothing happens before.
    var nextDue: Instant {
        guard self.isLoaded else { return max(self.nextLoad, self.pausedUntil) }
        let due = [
            self.nextTest, self.walk == nil ? self.nextWalk : nil, self.nextSweep, self.nextScan, self.nextSave,
            self.checks.values.compactMap(\.again).min(), self.nextUnread, self.questions.next,
            self.updates.next,
        ]
        return max(due.compactMap { $0 }.min() ?? .distantFuture, self.pausedUntil)
    }

    /// Goes on from where an earlier reconciler was.
    mutating func load(_ place: ReconciledPlace, now: Instant) {
        self.isLoaded = true
        self.nextScan = now
        self.nextUnread = now
        self.questions.next = now
        self.updates.next = now
        self.place = place
        let done = place.ends ?? now.advanced(byMilliseconds: -Limits.reconcileLookBackMilliseconds)
        self.place.ends = done
        self.place.since = place.since ?? now
        self.report.since = self.place.since
        self.report.lastWalk = place.notifications
        if let failed = place.testFailed {
            self.report.test = .failed("it had not arrived before this server or node began to ask", at: failed)
        }
        for delay in self.sweeps.indices {
            let after = done.advanced(byMilliseconds: -self.sweeps[delay].delayMilliseconds)
            self.sweeps[delay].after = DueEntry(instant: after, account: 0)
        }
        // The first place is stored at once, so that no number of short lives loses where the first one began.
        self.nextSave = place.since == nil ? now : now.advanced(byMilliseconds: Limits.reconcileSaveMilliseconds)
    }

    /// The instant up to which every sweep has looked, each its delay ago, and what it found is settled: a reconciler that begins
    /// here finds again whatever is not.
    var endsDone: Instant {
        let swept = self.sweeps.map { $0.after.instant.advanced(byMilliseconds: $0.delayMilliseconds) }
        return (swept + self.checks.values.compactMap(\.place)).min() ?? .distantPast
    }

    /// A sweep, whose place is an instant, or a scan has found a subscription. Returns whether it is asked about now.
    mutating func add(_ ended: EndedSubscription, place: Instant?, now: Instant) -> Bool {
        guard var known = self.checks[ended.original] else {
            self.checks[ended.original] = Check(ended: ended, place: place, asked: now)
            return true
        }
        if let place {
            known.place = min(known.place ?? place, place)
            if known.again == nil, known.asked < place { known.next = max(known.next ?? place, place) }
        }
        self.checks[ended.original] = known
        return false
    }

    /// What the App Store answers about a subscription is stored, or it says that there is nothing.
    mutating func settle(_ original: TransactionID, now: Instant) {
        guard let next = self.checks[original]?.next else {
            self.checks[original] = nil
            return
        }
        self.checks[original]?.place = next
        self.checks[original]?.next = nil
        self.checks[original]?.again = now
    }

    /// From an hour before the last one ended, as far as the App Store keeps notifications.
    func walk(now: Instant) -> Walk {
        // A day less, so that a clock that is a little slow asks for nothing that is gone.
        let kept = now.advanced(byMilliseconds: -(self.app.app.environment.notificationDays - 1) * 86_400_000)
        let last = self.place.notifications?.advanced(byMilliseconds: -Limits.reconcileOverlapMilliseconds)
        return Walk(from: max(kept, last ?? kept), to: now)
    }

    // MARK: The key

    /// Not all notifications could be fetched and stored: why, as far as it is known.
    mutating func noteNotAll() {
        var why = self.report.silence?.message ?? "not all notifications could be fetched and stored"
        if case .refused(let message, _) = self.report.key { why = message }
        self.run?.note(why)
    }

    mutating func keyAccepted(now: Instant) {
        self.report.silence = nil
        self.report.key = .accepted(at: now)
        guard self.place.acceptedKey != self.app.keyID else { return }
        self.place.acceptedKey = self.app.keyID
        self.nextSave = now
    }

    /// Why the App Store refuses the key, as far as can be told: its answer is 401 and nothing else.
    func keyRefused(_ answer: SenderAnswer, now: Instant) -> String {
        let name = "the key \(printable(self.app.keyID)) for \(printable(self.app.app.bundleID))"
        if let theirs = Instant(httpDate: answer.date) {
            let off = now.milliseconds(since: theirs)
            if abs(off) > Limits.reconcileClockMilliseconds {
                let minutes = (abs(off) + 30_000) / 60_000
                return
                    "the App Store refuses \(name) (401), and this machine's clock is \(minutes) minutes \(off > 0 ? "ahead" : "behind"), the limit is \(Limits.reconcileClockMilliseconds / 60_000); set the clock"
            }
        }
        if self.place.acceptedKey == self.app.keyID {
            return
                "the App Store refuses \(name) (401), which it accepted before: it was probably revoked; make another In-App Purchase key in App Store Connect and put it into server_api"
        }
        return
            "the App Store refuses \(name) (401), and never accepted it: compare key_id, issuer_id and bundle_id with App Store Connect, and see that it is an In-App Purchase key"
    }
}
