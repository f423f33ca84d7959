import PerchBase
import PerchCatalogue
import PerchClient
import PerchJSON
import PerchModel
import PerchWire

import struct PerchClient.AppSummary
import struct PerchClient.CatalogContents
import struct PerchClient.CatalogSummary
import struct PerchClient.ClockChange
import struct PerchClient.ServerStatus
import struct PerchClient.ValueInfo

// The client's values as the contract's messages, for JSON.

extension ValueInfo {
    var message: PerchWire.ValueInfo {
        PerchWire.ValueInfo(
            position: self.position, committed: self.committed, cause: self.cause, forecast: self.forecast,
            token: self.token, isNotInCatalog: self.isNotInCatalog)
    }
}

extension Snapshot {
    var message: TaskState<Value> { .success(self.value, self.info.message) }
}

extension EntitlementTaskState {
    var message: TaskState<Value> {
        switch self {
        case .loading: .loading
        case .failure(let failure, _):
            .failure(Failure(reason: failure.reason.rawValue, message: failure.message), PerchWire.ValueInfo())
        case .success(let value, let info): .success(value, info.message)
        case .unchanged(let info): .unchanged(info.message)
        }
    }
}

extension TransactionUpdate {
    var message: TransactionEvent {
        TransactionEvent(
            transaction: self.transaction, kind: self.kind, cursor: self.cursor?.bytes ?? [], revision: self.revision,
            committed: self.committed, originClientID: self.originClientID)
    }
}

extension OperationResult {
    var message: OperateResponse {
        let result: PurchaseResult =
            switch self.purchase {
            case .success?: .success
            case .userCancelled?: .userCancelled
            case .pending?: .pending
            case .unknown(let rawValue)?: PurchaseResult(rawValue: rawValue)
            case nil: .unspecified
            }
        return OperateResponse(
            position: self.position, transaction: self.transaction, purchaseResult: result, wasHeld: self.wasHeld,
            number: self.number ?? 0)
    }
}

extension PromotionalImage {
    func message(withContent: Bool) -> ImageAnswer {
        ImageAnswer(
            contentHash: self.contentHash, contentType: self.contentType, isUnchanged: self.content == nil,
            content: withContent ? self.content ?? [] : [])
    }
}

extension AppClockState {
    var message: ClockState {
        ClockState(
            now: self.now, isFrozen: self.isFrozen, offsetMilliseconds: milliseconds(of: self.offset),
            timeRate: self.timeRate)
    }
}

extension ClockChange {
    var message: SetClockResponse {
        SetClockResponse(
            position: self.position, clock: self.clock.message, settledCount: self.settledCount,
            renewedCount: self.renewedCount, failedCount: self.failedCount)
    }
}

extension Positioned<AccountDetails> {
    var message: AccountInspection {
        let details = self.value
        return AccountInspection(
            position: self.position,
            groups: details.groups.map { GroupStatuses(groupID: $0.id, statuses: $0.statuses) }, owned: details.owned,
            pendingPurchases: details.pendingPurchases, intents: details.purchaseIntents,
            shares: details.shares.map {
                FamilySharing(original: $0.originalTransactionID, memberOriginal: $0.memberOriginalTransactionID)
            }, storefront: details.storefront, charges: details.charges, appTransactionID: details.appTransactionID,
            awaitingSync: details.awaitingSync, arePaymentsForbidden: details.arePaymentsForbidden,
            redeemedOffers: details.redeemedOffers)
    }
}

extension ShownPolicies {
    var message: AppPoliciesAnswer {
        AppPoliciesAnswer(
            licenceAgreement: self.licenceAgreement, privacyPolicyText: self.privacyPolicyText,
            privacyPolicyURL: self.privacyPolicyURL, privacyPolicyLocale: self.privacyPolicyLocale,
            showsDialogs: self.showsDialogs)
    }
}

// MARK: Administration

extension PerchWire.CatalogSummary {
    /// For a file that this command read.
    init(_ summary: CatalogueSummary, _ warnings: [CatalogueWarning]) {
        self.init(schemaVersion: summary.schemaVersion)
        self.consumableCount = UInt32(clamping: summary.consumableCount)
        self.nonConsumableCount = UInt32(clamping: summary.nonConsumableCount)
        self.nonRenewingCount = UInt32(clamping: summary.nonRenewingCount)
        self.subscriptionCount = UInt32(clamping: summary.subscriptionCount)
        self.groupCount = UInt32(clamping: summary.groupCount)
        self.introductoryOfferCount = UInt32(clamping: summary.introductoryOfferCount)
        self.promotionalOfferCount = UInt32(clamping: summary.promotionalOfferCount)
        self.codeOfferCount = UInt32(clamping: summary.codeOfferCount)
        self.winBackOfferCount = UInt32(clamping: summary.winBackOfferCount)
        self.imageCount = UInt32(clamping: summary.imageCount)
        self.warnings = warnings.map {
            PerchWire.CatalogWarning(
                line: $0.place.line, column: $0.place.column, productID: $0.productID, message: $0.message)
        }
    }
}

extension ServerStatus {
    /// Replaces the server's findings by those of this machine.
    func message(_ findings: [DoctorFinding]) -> PerchWire.ServerStatus {
        PerchWire.ServerStatus(
            version: self.version, storeID: self.storeID?.bytes ?? [], epoch: self.epoch, revision: self.revision,
            metrics: self.metrics.map {
                PerchWire.Metric(name: $0.name, labels: $0.labels, value: $0.value, help: $0.help)
            }, findings: findings.map(\.finding), appleRootPEM: self.appleRootPEM)
    }
}

extension DoctorFinding {
    var finding: PerchWire.Finding {
        PerchWire.Finding(
            level: self.level.rawValue, subject: self.subject, message: self.message, remedy: self.remedy)
    }
}

func milliseconds(of duration: Duration) -> Int64 {
    duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
}
