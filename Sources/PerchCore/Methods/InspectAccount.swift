import PerchBase
import PerchModel
import PerchWire

struct InspectAccount: RecordMethod {
    let asked: InspectAccountRequest

    func answer(_ read: AccountRead) throws(Refusal) -> AccountInspection {
        guard let record = read.record else {
            throw Refusal(.accountUnknown, "there is no such account; a purchase opens one")
        }
        return AccountInspection(of: record, read.app, at: read.position)
    }
}

extension AccountInspection {
    init(of record: AccountRecord, _ app: AppState, at position: Position) {
        let now = position.asOf
        self.init(
            position: position,
            groups: record.groupIDs(in: app.catalogue).map {
                GroupStatuses(
                    groupID: $0, statuses: subscriptionStatuses(of: record, inGroup: $0, app: app, at: now).value)
            },
            owned: record.owned(in: app, at: now),
            pendingPurchases: record.pendingPurchases,
            intents: record.intents,
            shares: record.shares.map { FamilySharing(original: $0.original, memberOriginal: $0.memberOriginal) },
            storefront: record.storefront, charges: ChargeOutcome(fails: record.chargesFail),
            appTransactionID: record.appTransactionID,
            awaitingSync: record.awaitingSync.map { verified($0, app: app) },
            arePaymentsForbidden: record.arePaymentsForbidden, redeemedOffers: record.redeemedOffers)
    }
}

extension AccountRecord {
    /// What the account owns for good: of an App Store app, what entitles now.
    func owned(in app: AppState, at now: Instant) -> [Verified<Transaction>] {
        guard self.told != nil else { return self.owned.map { verified($0, app: app) } }
        return currentEntitlements(of: self, app: app, at: now).filter { $0.value.productType != .autoRenewable }
    }
}
