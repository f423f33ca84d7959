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
        let holdings = holdings(of: record, in: app, at: position.asOf)
        self.init(
            position: position,
            groups: record.groupIDs(in: app.catalogue).map {
                GroupStatuses(groupID: $0, statuses: holdings.statuses(inGroup: $0).value)
            },
            owned: holdings.owned,
            pendingPurchases: record.pendingPurchases,
            intents: record.intents,
            shares: record.shares.map { FamilySharing(original: $0.original, memberOriginal: $0.memberOriginal) },
            storefront: record.storefront, charges: ChargeOutcome(fails: record.chargesFail),
            appTransactionID: record.appTransactionID,
            awaitingSync: record.awaitingSync.map { verified($0, app: app) },
            arePaymentsForbidden: record.arePaymentsForbidden, redeemedOffers: record.redeemedOffers)
    }
}
