public import PerchBase
public import PerchModel
package import PerchWire

/// An app of a server.
public struct AppSummary: Hashable, Sendable {
    package let message: PerchWire.AppSummary

    package init(_ app: PerchWire.AppSummary) { self.message = app }

    /// Bundle identifier of the app.
    public var bundleID: String { self.message.bundleID }
    /// Environment of the app: production, sandbox or xcode.
    public var environment: AppEnvironment { self.message.environment }
    /// Number of products in the catalogue.
    public var productCount: Int { Int(self.message.productCount) }
    /// Origin of the catalogue, as a text for operators.
    public var catalogSource: String { self.message.catalogSource }
}

/// A suspicious place in a catalogue file.
public struct CatalogWarning: Hashable, Sendable {
    package let contract: PerchWire.CatalogWarning

    package init(_ warning: PerchWire.CatalogWarning) { self.contract = warning }

    /// Line, from 1; 0 for none.
    public var line: Int { Int(self.contract.line) }
    /// Column, from 1; 0 for none.
    public var column: Int { Int(self.contract.column) }
    /// The product concerned; empty for none.
    public var productID: String { self.contract.productID }
    /// The problem, and how the server reads the place.
    public var message: String { self.contract.message }
}

/// The content of a catalogue file, in numbers.
public struct CatalogSummary: Hashable, Sendable {
    package let message: PerchWire.CatalogSummary

    package init(_ summary: PerchWire.CatalogSummary) { self.message = summary }

    /// Version of the file's schema, such as `4.0`.
    public var schemaVersion: String { self.message.schemaVersion }
    /// Number of consumables.
    public var consumableCount: Int { Int(self.message.consumableCount) }
    /// Number of non-consumables.
    public var nonConsumableCount: Int { Int(self.message.nonConsumableCount) }
    /// Number of non-renewing subscriptions.
    public var nonRenewingCount: Int { Int(self.message.nonRenewingCount) }
    /// Number of auto-renewable subscriptions.
    public var subscriptionCount: Int { Int(self.message.subscriptionCount) }
    /// Number of subscription groups.
    public var groupCount: Int { Int(self.message.groupCount) }
    /// Number of introductory offers.
    public var introductoryOfferCount: Int { Int(self.message.introductoryOfferCount) }
    /// Number of promotional offers.
    public var promotionalOfferCount: Int { Int(self.message.promotionalOfferCount) }
    /// Number of offers with codes.
    public var codeOfferCount: Int { Int(self.message.codeOfferCount) }
    /// Number of win-back offers.
    public var winBackOfferCount: Int { Int(self.message.winBackOfferCount) }
    /// Number of promotional images.
    public var imageCount: Int { Int(self.message.imageCount) }
    /// Suspicious places in the file.
    public var warnings: [CatalogWarning] { self.message.warnings.map { CatalogWarning($0) } }
}

/// An image file of a catalogue. In a bundle directory it is `Assets/<id>.png`.
public struct CatalogImage: Hashable, Sendable {
    /// Identifier of the image, as products name it.
    public var id: String
    /// Bytes of a PNG or JPEG file.
    public var content: [UInt8]

    /// Creates an image of a catalogue.
    public init(id: String, content: [UInt8]) {
        self.id = id
        self.content = content
    }

    var message: PerchWire.CatalogImage { PerchWire.CatalogImage(id: self.id, content: self.content) }
}

/// An image in the server's catalogue.
public struct CatalogImageInfo: Hashable, Sendable {
    package let message: PerchWire.CatalogImageInfo

    package init(_ info: PerchWire.CatalogImageInfo) { self.message = info }

    /// Identifier of the image, as products name it.
    public var id: String { self.message.id }
    /// SHA-256 of the image: 32 bytes.
    public var contentHash: [UInt8] { self.message.contentHash }
    /// Length of the image, in bytes.
    public var byteCount: UInt32 { self.message.byteCount }
}

/// The catalogue that a load made current.
public struct LoadedCatalog: Hashable, Sendable {
    /// Position of the change.
    public var position: Position
    /// The content of the catalogue, in numbers.
    public var summary: CatalogSummary

    /// Creates a loaded catalogue from its parts, for tests.
    public init(position: Position, summary: CatalogSummary) {
        self.position = position
        self.summary = summary
    }
}

/// The content of the server's catalogue.
public struct CatalogContents: Hashable, Sendable {
    package let message: PerchWire.CatalogContents

    package init(_ contents: PerchWire.CatalogContents) { self.message = contents }

    /// Product identifiers, in the order of the file.
    public var productIDs: [String] { self.message.productIDs }
    /// Identifiers of the subscription groups, in the order of the file.
    public var groupIDs: [String] { self.message.groupIDs }
    /// Origin of the catalogue, as a text for operators.
    public var source: String { self.message.source }
    /// The revision that loaded it.
    public var revision: UInt64 { self.message.revision }
    /// The content in numbers, without warnings.
    public var summary: CatalogSummary { CatalogSummary(self.message.summary) }
    /// Images, sorted by identifier.
    public var images: [CatalogImageInfo] { self.message.images.map { CatalogImageInfo($0) } }
}

/// One measured value.
public struct Metric: Hashable, Sendable {
    /// Name, by the conventions of Prometheus.
    public var name: String
    /// Labels as `key="value"`, separated by commas; empty for none.
    public var labels: String
    /// The measured value.
    public var value: Double
    /// Meaning of the metric.
    public var help: String

    package init(_ metric: PerchWire.Metric) {
        self.name = metric.name
        self.labels = metric.labels
        self.value = metric.value
        self.help = metric.help
    }
}

/// A finding of the server about itself.
public struct Finding: Hashable, Sendable {
    /// Severity: `ok`, `warning` or `problem`.
    public var level: String
    /// The examined part of the server.
    public var subject: String
    /// The result, with the numbers.
    public var message: String
    /// The next step for the operator; empty with `ok`.
    public var remedy: String

    package init(_ finding: PerchWire.Finding) {
        self.level = finding.level
        self.subject = finding.subject
        self.message = finding.message
        self.remedy = finding.remedy
    }
}

/// The state of a server.
public struct ServerStatus: Hashable, Sendable {
    /// Version of the server program.
    public var version: String
    /// Permanent identity of the store; nil if the server sent none.
    public var storeID: StoreIdentity?
    /// Epoch of the store: it rises with each restore from a backup.
    public var epoch: UInt32
    /// The newest revision.
    public var revision: UInt64
    /// All counters, gauges and histograms.
    public var metrics: [Metric]
    /// Findings of the server about itself.
    public var findings: [Finding]
    /// The root certificate behind the signed values of test apps, in PEM; empty if the server has none.
    public var appleRootPEM: String

    package init(_ status: PerchWire.ServerStatus) {
        self.version = status.version
        self.storeID = StoreIdentity(bytes: status.storeID)
        self.epoch = status.epoch
        self.revision = status.revision
        self.metrics = status.metrics.map { Metric($0) }
        self.findings = status.findings.map { Finding($0) }
        self.appleRootPEM = status.appleRootPEM
    }
}

/// A copy of a server's store, complete and on its disk.
public struct BackupSummary: Hashable, Sendable {
    /// The newest revision in the copy.
    public var revision: UInt64
    /// Length of the file, in bytes.
    public var byteCount: UInt64
    /// Time from the start of the copy to its end.
    public var duration: Duration
    /// Longest time that the copy blocked other work of the store at once.
    public var longestStall: Duration

    package init(_ summary: PerchWire.BackupSummary) {
        self.revision = summary.revision
        self.byteCount = summary.byteCount
        self.duration = .milliseconds(Int64(clamping: summary.durationMilliseconds))
        self.longestStall = .microseconds(Int64(clamping: summary.longestStallMicroseconds))
    }
}

/// The outcome of revoking a token.
public struct TokenRevocation: Hashable, Sendable {
    /// Whether the token was revoked before.
    public var wasRevoked: Bool
    /// Whether a caller used the token since the server started. Otherwise the ID may be a wrong one.
    public var wasSeen: Bool

    /// Creates an outcome from its parts, for tests.
    public init(wasRevoked: Bool, wasSeen: Bool) {
        self.wasRevoked = wasRevoked
        self.wasSeen = wasSeen
    }
}
