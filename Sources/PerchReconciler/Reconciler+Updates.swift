import PerchApple
import PerchBase
import PerchModel
import PerchStore

// What the App Store is told about purchases: which transactions were finished, and whose they are. The store has it, so a kill forgets
// nothing: it is looked for again. To tell something twice changes nothing at the App Store.
extension Reconciler {
    mutating func askForUpdates(_ app: Int) {
        self.works[app].updates.next = nil
        self.effects.append(
            .ask(
                .items(
                    .appStoreUpdate, groups: [ItemKey.appGroup(self.works[app].app.number)],
                    after: self.works[app].updates.after, limit: Limits.reconcileUpdatesAtOnce),
                ticket: self.begin(.updates(app))))
    }

    mutating func tookUpdates(_ answer: StoreAnswer, _ app: Int, _ now: Instant) {
        self.works[app].updates.next = now.advanced(byMilliseconds: Limits.reconcileUpdatesMilliseconds)
        guard case .items(let items, let hasMore) = answer else { return }
        for item in items {
            guard let update = AppStoreUpdate(item) else { continue }
            self.took(update, item.key, app, now)
        }
        self.works[app].updates.after = hasMore ? items.last?.key.key ?? [] : []
        let seen = self.works[app].updates
        self.works[app].report.tookUpdates(seen, isEnd: !hasMore)
        guard !hasMore else {
            // At a pace, because a long list would keep the store's thread from other work.
            self.works[app].updates.next = now.advanced(byMilliseconds: Limits.reconcileScanPauseMilliseconds)
            return
        }
        self.works[app].updates = AppWork.Updates(next: seen.next, underWay: seen.underWay)
    }

    private mutating func took(_ update: AppStoreUpdate, _ key: ItemKey, _ app: Int, _ now: Instant) {
        guard update.message.isEmpty else {
            guard now.milliseconds(since: update.asked) <= Limits.reconcileRefusedMilliseconds else {
                // Unless another update has taken its place.
                self.effects.append(
                    .ask(
                        .mutate(.reported(.updated(update, refusing: nil), app: self.works[app].app.number)),
                        ticket: self.begin(.told(app))))
                return
            }
            self.works[app].updates.refused += 1
            guard self.works[app].updates.named.count < Limits.reconcileRefusedNamedMax else { return }
            self.works[app].updates.named.append(RefusedUpdate(what: update.what, reason: update.message))
            return
        }
        self.works[app].updates.waiting += 1
        guard self.works[app].app.tells(update) else {
            self.works[app].updates.held += 1
            return
        }
        self.works[app].updates.oldest = min(self.works[app].updates.oldest ?? update.asked, update.asked)
        // A later look finds those that there is no room for.
        guard self.works[app].updates.underWay.count < Limits.reconcileUpdatesAtOnce,
            self.works[app].updates.underWay.insert(key).inserted
        else { return }
        switch update.kind {
        case .finish: self.send(.finish(update.transaction), app, .update(app, update))
        case .token(let token): self.send(.accountToken(update.transaction, token), app, .update(app, update))
        }
    }

    mutating func tookReply(_ reply: AppleAPIAnswer?, to update: AppStoreUpdate, _ app: Int, _ now: Instant) {
        let number = self.works[app].app.number
        let key = update.key(number)
        guard let reply, reply.error?.isRetryable != true else {
            self.works[app].updates.underWay.remove(key)
            // It stays in the store, and the next look finds it. Others would fare no better now.
            let again = now.advanced(byMilliseconds: Limits.reconcileAnswerMilliseconds)
            if let next = self.works[app].updates.next { self.works[app].updates.next = max(next, again) }
            return
        }
        let refusal = reply.error.map { "\($0.code) \(printable($0.message))" }
        if let refusal { self.tell(.problem("the App Store refuses \(update.what): \(refusal)"), app) }
        self.effects.append(
            .ask(
                .mutate(.reported(.updated(update, refusing: refusal), app: number)),
                ticket: self.begin(.noted(app, key))))
    }
}

extension AppStoreUpdate {
    /// For the log and `perch doctor`. A token is the customer's and is not named.
    var what: String {
        switch self.kind {
        case .finish: "to finish the transaction \(self.transaction)"
        case .token: "the account token of the original transaction \(self.transaction)"
        }
    }
}
