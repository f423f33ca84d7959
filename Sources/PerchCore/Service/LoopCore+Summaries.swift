import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Lists of accounts for people: one line for each account.
extension LoopCore {
    /// A page of accounts with their summaries.
    func summaries(
        _ accounts: [(key: [UInt8], record: AccountRecord)], hasMore: Bool, app number: AppNumber
    ) -> AccountPage {
        guard let app = self.apps[number] else { preconditionFailure("a call of an app that is gone") }
        let now = self.clock(of: number)
        let token =
            hasMore ? accounts.last.map { AccountPageToken(origin: self.origin, app: number, key: $0.key).bytes } : nil
        return AccountPage(
            accounts: accounts.map { String(decoding: $0.key, as: UTF8.self) }, nextPageToken: token ?? [],
            summaries: accounts.map { Self.summary(of: $0.record, app, at: now) })
    }

    private static func summary(of record: AccountRecord, _ app: AppState, at now: Instant) -> AccountSummary {
        var summary = AccountSummary()
        let owned = Self.owned(by: record, app, at: now)
        let toldLines = record.told?.originals.count { $0.isSubscription } ?? 0
        summary.lineCount = UInt32(clamping: record.lines.count + toldLines)
        summary.ownedCount = UInt32(clamping: owned.count)
        summary.pendingCount = UInt32(clamping: record.pendingPurchases.count)
        summary.revision = record.revision
        var chosen: (status: SubscriptionStatus, forecast: Forecast?)?
        for group in record.groupIDs(in: app.catalogue) {
            let viewed = subscriptionStatuses(of: record, inGroup: group, app: app, at: now)
            // Where no line entitles, the one that ended last.
            let status =
                viewed.value.effective
                ?? viewed.value.statuses.max {
                    ($0.transaction.value.expirationDate ?? now) < ($1.transaction.value.expirationDate ?? now)
                }
            guard let status, Self.matters(status, more: chosen?.status) else { continue }
            chosen = (status, viewed.forecast)
        }
        guard let (status, forecast) = chosen else {
            if let newest = owned.map(\.value).max(by: { $0.purchaseDate < $1.purchaseDate }) {
                summary.productID = newest.productID
                summary.transactionID = newest.id
                summary.originalTransactionID = newest.originalID
                summary.isFamilyShared = newest.ownership == .familyShared
                summary.appAccountToken = newest.appAccountToken
            }
            return summary
        }
        let transaction = status.transaction.value
        summary.state = status.state
        summary.productID = transaction.productID
        summary.transactionID = transaction.id
        summary.originalTransactionID = transaction.originalID
        summary.expirationDate = transaction.expirationDate
        summary.willAutoRenew = status.renewalInfo.value.willAutoRenew
        summary.nextChange = forecast
        summary.isFamilyShared = transaction.ownership == .familyShared
        summary.isRefunded = transaction.revocation != nil
        summary.isPriceIncreasePending = status.renewalInfo.value.priceIncreaseStatus == .pending
        summary.appAccountToken = transaction.appAccountToken
        return summary
    }

    /// Whether a line says more about its account than another: an entitling one does, then the one that ends last.
    private static func matters(_ status: SubscriptionStatus, more other: SubscriptionStatus?) -> Bool {
        guard let other else { return true }
        if status.entitles != other.entitles { return status.entitles }
        guard let end = status.transaction.value.expirationDate else { return false }
        return other.transaction.value.expirationDate.map { end > $0 } ?? true
    }
}
