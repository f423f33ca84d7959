import PerchBase
import PerchModel

// Subscriptions whose last known period is over, for who asks the App Store about them.
extension StoreEngine {
    /// The end of a period is a crossing of its account, so the index of crossings has it. A crossing at which no last period ends is
    /// of another kind, or a renewal was reported since.
    func ended(
        _ app: AppNumber, after: DueEntry, through: Instant, limit: Int, wall: Instant
    ) throws(StorageError) -> StoreAnswer {
        let crossings = try self.storage.crossings(app, after: after, through: through, limit: limit)
        guard let state = self.apps[app]?.state else { return .ended([], through: after, hasMore: false) }
        let (now, leeway) = (state.clock.now(wall: wall), state.renewalLeewayMilliseconds ?? 0)
        var ended: [EndedSubscription] = []
        for crossing in crossings {
            guard let reported = try self.record(crossing.account)?.reported else { continue }
            for original in reported.originals where original.isSubscription {
                guard let head = original.head(at: crossing.instant), head.expirationDate == crossing.instant,
                    original.head(at: .distantFuture)?.id == head.id,
                    let standing = original.standing(at: now, leewayMilliseconds: leeway)
                else { continue }
                ended.append(
                    EndedSubscription(
                        original: original.id, transaction: head.id, end: crossing.instant, state: standing.state))
            }
        }
        let last = crossings.count == limit ? crossings.last : nil
        return .ended(
            ended, through: last ?? DueEntry(instant: through, account: AccountNumber(Int64.max)), hasMore: last != nil)
    }

    /// Subscriptions of some accounts whose news is awaited or overdue: of those whose first report came after their end, the index of
    /// crossings knows nothing. `isWhole`: every subscription. It leaves the cache of records alone.
    func awaited(
        _ app: AppNumber, from account: AccountNumber, isWhole: Bool, limit: Int, wall: Instant
    ) throws(StorageError) -> StoreAnswer {
        guard let state = self.apps[app]?.state else {
            return .ended([], through: DueEntry(instant: .distantPast, account: account), hasMore: false)
        }
        let (now, leeway) = (state.clock.now(wall: wall), state.renewalLeewayMilliseconds ?? 0)
        let end = self.header.nextAccount
        let page = try self.storage.records(from: account, before: end, limit: limit)
        var ended: [EndedSubscription] = []
        for record in page.records where record.app == app {
            for original in record.reported?.originals ?? [] where original.isSubscription {
                guard let standing = original.standing(at: now, leewayMilliseconds: leeway),
                    isWhole || standing.awaitsNews || standing.isOverdue, let end = standing.transaction.expirationDate
                else { continue }
                ended.append(
                    EndedSubscription(
                        original: original.id, transaction: standing.transaction.id, end: end, state: standing.state))
            }
        }
        return .ended(
            ended, through: DueEntry(instant: .distantPast, account: page.next), hasMore: page.next < end)
    }
}
