import PerchApple
import PerchBase
import PerchModel
import PerchStore

// Histories of customers: weekly, and once where a claim has given an account something.
extension Reconciler {
    /// Looks through all accounts, some at a time.
    mutating func scanHistories(_ app: Int, _ now: Instant) {
        guard self.works[app].unread.isEmpty else {
            self.works[app].nextUnread = now.advanced(byMilliseconds: Limits.reconcileSweepMilliseconds)
            return
        }
        self.works[app].nextUnread = nil
        let since = now.advanced(byMilliseconds: -Limits.reconcileHistoryMilliseconds)
        self.effects.append(
            .ask(
                .unread(
                    self.works[app].app.number, from: self.works[app].unreadFrom, since: since, isWhole: false,
                    limit: Limits.reconcileScannedAtOnce), ticket: self.begin(.unread(app, isRun: false))))
    }

    mutating func tookUnread(_ answer: StoreAnswer, isRun: Bool, _ app: Int, _ now: Instant) {
        guard case .unread(let items, let next, let hasMore) = answer else {
            if isRun {
                self.works[app].run?.unread = .done
                self.works[app].run?.note("the store could not be looked through for customers")
            } else {
                self.works[app].nextUnread = now.advanced(byMilliseconds: Limits.reconcileRetryMilliseconds)
            }
            return
        }
        self.works[app].unread += items.map { ($0, isRun) }
        if isRun {
            self.works[app].run?.unread = hasMore ? .from(next) : .done
        } else {
            self.works[app].unreadFrom = hasMore ? next : 0
            self.works[app].nextUnread = now.advanced(
                byMilliseconds: hasMore ? Limits.reconcileScanPauseMilliseconds : Limits.reconcileWalkMilliseconds)
        }
        self.readNext(app, now)
    }

    private mutating func readNext(_ app: Int, _ now: Instant) {
        while self.works[app].readings.count < Limits.reconcileReadingsMax, !self.works[app].unread.isEmpty {
            let (item, isRun) = self.works[app].unread.removeFirst()
            guard self.works[app].readings[item.account] == nil else { continue }
            self.works[app].readings[item.account] = AppWork.Reading(item, isRun: isRun)
            self.askNext(of: item.account, app, now)
        }
    }

    /// The next customer of an account, or the end.
    private mutating func askNext(of account: AccountNumber, _ app: Int, _ now: Instant) {
        guard let reading = self.works[app].readings[account] else { return }
        guard !reading.hasFailed else { return self.endReading(of: account, app, now) }
        if let place = reading.rest.first {
            self.works[app].readings[account]?.rest.removeFirst()
            return self.ask(place, of: account, app)
        }
        guard let original = reading.item.originals.first(where: { !reading.covered.contains($0) }) else {
            return self.endReading(of: account, app, now)
        }
        guard reading.places.count < Limits.reconcileCustomersMax else {
            self.works[app].readings[account]?.hasFailed = true
            return self.endReading(of: account, app, now)
        }
        self.ask(ReportedHistory.Place(original: original, revision: ""), of: account, app)
    }

    private mutating func ask(_ place: ReportedHistory.Place, of account: AccountNumber, _ app: Int) {
        self.works[app].readings[account]?.asking = place
        self.send(.history(place.original, revision: place.revision), app, .history(app, account))
    }

    mutating func tookHistory(_ answer: AppleAPIAnswer?, of account: AccountNumber, _ app: Int, _ now: Instant) {
        guard let reading = self.works[app].readings[account] else { return }
        guard let page = answer?.history else {
            if let error = answer?.error {
                // A revision of another server, or one that is not known any more: from the beginning.
                if !error.isRetryable, !reading.asking.revision.isEmpty {
                    return self.ask(
                        ReportedHistory.Place(original: reading.asking.original, revision: ""), of: account, app)
                }
                let message = "\(error.code) \(printable(error.message))"
                self.tell(.problem("the App Store has no history of \(reading.asking.original): \(message)"), app)
            }
            self.works[app].readings[account]?.hasFailed = true
            return self.endReading(of: account, app, now)
        }
        guard !page.hasMore || page.revision != reading.asking.revision else {
            self.tell(.problem("the App Store's history of \(reading.asking.original) does not go on"), app)
            self.works[app].readings[account]?.hasFailed = true
            return self.endReading(of: account, app, now)
        }
        self.works[app].readings[account]?.asking.revision = page.revision
        self.works[app].readings[account]?.hasMore = page.hasMore
        self.works[app].readings[account]?.covered.insert(reading.asking.original)
        self.works[app].readings[account]?.covered.formUnion(page.values.compactMap { AppleAPIAnswer.original(of: $0) })
        guard !page.values.isEmpty else { return self.learnedHistory(.done, of: account, app, now) }
        self.effects.append(.verify(page.values, app: app, ticket: self.begin(.learn(app, .history(account)))))
    }

    /// A page is stored, or cannot be.
    mutating func learnedHistory(_ learned: Learned, of account: AccountNumber, _ app: Int, _ now: Instant) {
        guard let reading = self.works[app].readings[account] else { return }
        guard learned == .done else {
            self.works[app].readings[account]?.hasFailed = true
            return self.endReading(of: account, app, now)
        }
        guard !reading.hasMore else { return self.ask(reading.asking, of: account, app) }
        self.works[app].readings[account]?.places.append(reading.asking)
        self.askNext(of: account, app, now)
    }

    /// One that failed is found again by the next look.
    private mutating func endReading(of account: AccountNumber, _ app: Int, _ now: Instant) {
        guard let reading = self.works[app].readings.removeValue(forKey: account) else { return }
        if reading.isRun {
            self.works[app].run?.progress.histories += 1
            if reading.hasFailed {
                self.works[app].run?.note("the history of \(reading.asking.original) could not be read and stored")
            }
        }
        let isRehearsed = reading.isRun && self.works[app].run?.progress.isRehearsal == true
        if !reading.hasFailed, !isRehearsed {
            self.works[app].report.histories += 1
            let history = ReportedHistory(read: now, places: reading.places)
            // The account's own ones first: by them the store finds it.
            let own = reading.item.originals
            self.effects.append(
                .ask(
                    .mutate(
                        .reported(
                            .read(history, of: own + reading.covered.subtracting(own).sorted()),
                            app: self.works[app].app.number)),
                    ticket: self.begin(.told(app))))
        }
        self.readNext(app, now)
    }
}
