import PerchBase
import PerchModel
import PerchStore
import PerchWire

extension AccountSummary {
    /// One line about an account, in a list for people.
    init(of record: AccountRecord, _ app: AppState, at now: Instant) {
        self.init()
        let holdings = holdings(of: record, in: app, at: now)
        let owned = holdings.owned
        self.lineCount = UInt32(clamping: holdings.lineCount)
        self.ownedCount = UInt32(clamping: owned.count)
        self.pendingCount = UInt32(clamping: record.pendingPurchases.count)
        self.revision = record.revision
        var chosen: (status: SubscriptionStatus, forecast: Forecast?)?
        for group in record.groupIDs(in: app.catalogue) {
            let viewed = holdings.statuses(inGroup: group)
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
                self.productID = newest.productID
                self.transactionID = newest.id
                self.originalTransactionID = newest.originalID
                self.isFamilyShared = newest.ownership == .familyShared
                self.appAccountToken = newest.appAccountToken
            }
            return
        }
        let transaction = status.transaction.value
        self.state = status.state
        self.productID = transaction.productID
        self.transactionID = transaction.id
        self.originalTransactionID = transaction.originalID
        self.expirationDate = transaction.expirationDate
        self.willAutoRenew = status.renewalInfo.value.willAutoRenew
        self.nextChange = forecast
        self.isFamilyShared = transaction.ownership == .familyShared
        self.isRefunded = transaction.revocation != nil
        self.isPriceIncreasePending = status.renewalInfo.value.priceIncreaseStatus == .pending
        self.appAccountToken = transaction.appAccountToken
        return
    }

    /// Whether a line says more about its account than another: an entitling one does, then the one that ends last.
    private static func matters(_ status: SubscriptionStatus, more other: SubscriptionStatus?) -> Bool {
        guard let other else { return true }
        if status.entitles != other.entitles { return status.entitles }
        guard let end = status.transaction.value.expirationDate else { return false }
        return other.transaction.value.expirationDate.map { end > $0 } ?? true
    }
}
