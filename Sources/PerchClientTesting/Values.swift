public import PerchBase
public import PerchClient
public import PerchModel
import PerchWire

public import struct PerchClient.AppSummary
public import struct PerchClient.BackupSummary
public import struct PerchClient.CatalogContents
public import struct PerchClient.CatalogSummary
public import struct PerchClient.CatalogWarning
public import struct PerchClient.Finding
public import struct PerchClient.Metric
public import struct PerchClient.ServerStatus

// Initialisers of values that otherwise only a server makes.

extension Submission {
    /// Creates the outcome of a submission.
    public init(
        position: Position, newsCount: Int = 0, staleCount: Int = 0, duplicateCount: Int = 0,
        refused: [RefusedSubmission] = []
    ) {
        self.init(
            SubmissionAnswer(
                position: position, newsCount: UInt32(newsCount), staleCount: UInt32(staleCount),
                duplicateCount: UInt32(duplicateCount),
                refused: refused.map {
                    RefusedValue(index: UInt32($0.index), reason: $0.reason.rawValue, message: $0.message)
                }))
    }
}

extension PurchaseInNeed {
    /// Creates a purchase that needs somebody.
    public init(
        originalTransactionID: String, productID: String, account: String = "", isUnclaimed: Bool = false,
        isOverdue: Bool = false, appAccountTokens: [String] = [], appTransactionIDs: [String] = [],
        originalPurchaseDate: Instant, end: Instant? = nil, state: RenewalState = .unspecified
    ) {
        self.init(
            UnclaimedPurchase(
                originalTransactionID: originalTransactionID, productID: productID, account: account,
                isUnclaimed: isUnclaimed, isOverdue: isOverdue, appAccountTokens: appAccountTokens,
                appTransactionIDs: appTransactionIDs, originalPurchaseDate: originalPurchaseDate, end: end,
                state: state))
    }
}

extension DeadLetter {
    /// Creates a dead letter.
    public init(
        id: String, received: Instant, reason: PerchError.Reason, message: String, bundleID: String = "",
        environment: String = "", notificationType: String = "", byteCount: Int = 0
    ) {
        self.init(
            DeadLetterSummary(
                id: id, received: received, reason: reason.rawValue, message: message, bundleID: bundleID,
                environment: environment, notificationType: notificationType, byteCount: UInt32(byteCount)))
    }
}

extension AppChange {
    /// Creates a change of an account, or of the app itself where `account` is nil.
    public init(
        account: String?, cause: Cause, groups: [Group] = [], entitlements: [Entitlement] = [], position: Position,
        committed: Instant, originClientID: [UInt8] = [], cursor: UpdateCursor
    ) {
        let event = FeedEvent(
            account: account ?? "", cause: cause == .unspecified ? .setting : cause, groups: groups.map(\.message),
            entitlements: entitlements.map(\.message), position: position, committed: committed,
            originClientID: originClientID, cursor: cursor.bytes)
        guard let change = AppChange(event) else { preconditionFailure("a change with a cause is one") }
        self = change
    }
}

extension AppChange.Group {
    /// Creates a group in which a status has changed.
    public init(id: String, statuses: SubscriptionStatuses) {
        self.init(message: GroupStatuses(groupID: id, statuses: statuses))
    }
}

extension AppChange.Entitlement {
    /// Creates a changed entitlement; `transaction` nil: not entitled.
    public init(productID: String, transaction: Verified<Transaction>?) {
        self.init(message: EntitlementChange(productID: productID, transaction: transaction))
    }
}

extension AppSummary {
    /// Creates an app of a server.
    public init(bundleID: String, environment: AppEnvironment, productCount: Int = 0, catalogSource: String = "") {
        self.init(
            PerchWire.AppSummary(
                bundleID: bundleID, environment: environment, productCount: UInt32(productCount),
                catalogSource: catalogSource))
    }
}

extension CatalogWarning {
    /// Creates a warning about a catalogue file.
    public init(line: Int = 0, column: Int = 0, productID: String = "", message: String) {
        self.init(
            PerchWire.CatalogWarning(
                line: UInt32(line), column: UInt32(column), productID: productID, message: message))
    }
}

extension CatalogSummary {
    /// Creates the content of a catalogue in numbers.
    public init(
        schemaVersion: String, consumableCount: Int = 0, nonConsumableCount: Int = 0, nonRenewingCount: Int = 0,
        subscriptionCount: Int = 0, groupCount: Int = 0, warnings: [CatalogWarning] = []
    ) {
        self.init(
            PerchWire.CatalogSummary(
                schemaVersion: schemaVersion, consumableCount: UInt32(consumableCount),
                nonConsumableCount: UInt32(nonConsumableCount), nonRenewingCount: UInt32(nonRenewingCount),
                subscriptionCount: UInt32(subscriptionCount), groupCount: UInt32(groupCount),
                warnings: warnings.map(\.contract)))
    }
}

extension CatalogContents {
    /// Creates the content of a catalogue.
    public init(productIDs: [String], groupIDs: [String] = [], source: String = "", revision: UInt64 = 0) {
        self.init(
            PerchWire.CatalogContents(productIDs: productIDs, groupIDs: groupIDs, source: source, revision: revision))
    }
}

extension ServerStatus {
    /// Creates the state of a server.
    public init(
        version: String, storeID: StoreIdentity? = nil, epoch: UInt32 = 0, revision: UInt64 = 0, metrics: [Metric] = [],
        findings: [Finding] = []
    ) {
        self.init(
            PerchWire.ServerStatus(
                version: version, storeID: storeID?.bytes ?? [], epoch: epoch, revision: revision,
                metrics: metrics.map {
                    PerchWire.Metric(name: $0.name, labels: $0.labels, value: $0.value, help: $0.help)
                },
                findings: findings.map {
                    PerchWire.Finding(level: $0.level, subject: $0.subject, message: $0.message, remedy: $0.remedy)
                }))
    }
}

extension Metric {
    /// Creates a measured value.
    public init(name: String, labels: String = "", value: Double, help: String = "") {
        self.init(PerchWire.Metric(name: name, labels: labels, value: value, help: help))
    }
}

extension Finding {
    /// Creates a finding.
    public init(level: String, subject: String, message: String, remedy: String = "") {
        self.init(PerchWire.Finding(level: level, subject: subject, message: message, remedy: remedy))
    }
}

extension BackupSummary {
    /// Creates the outcome of a backup.
    public init(revision: UInt64, byteCount: UInt64, duration: Duration, longestStall: Duration = .zero) {
        let (seconds, attoseconds) = longestStall.components
        let (whole, rest) = duration.components
        self.init(
            PerchWire.BackupSummary(
                revision: revision, byteCount: byteCount,
                durationMilliseconds: UInt64(whole) * 1_000 + UInt64(rest / 1_000_000_000_000_000),
                longestStallMicroseconds: UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)))
    }
}
