public import PerchBase
public import PerchModel
import PerchWire

/// An app of a server.
public struct AppSummary: Hashable, Sendable {
    /// Bundle identifier of the app.
    public var bundleID: String
    /// Environment of the app: production, sandbox or xcode.
    public var environment: AppEnvironment
    /// Number of products in the catalogue.
    public var productCount: Int
    /// Origin of the catalogue, as a text for operators.
    public var catalogSource: String

    init(_ app: PerchWire.AppSummary) {
        self.bundleID = app.bundleID
        self.environment = app.environment
        self.productCount = Int(app.productCount)
        self.catalogSource = app.catalogSource
    }
}

/// A suspicious place in a catalogue file.
public struct CatalogWarning: Hashable, Sendable {
    /// Line, from 1; 0 for none.
    public var line: Int
    /// Column, from 1; 0 for none.
    public var column: Int
    /// The product concerned; empty for none.
    public var productID: String
    /// The problem, and how the server reads the place.
    public var message: String

    init(_ warning: PerchWire.CatalogWarning) {
        self.line = Int(warning.line)
        self.column = Int(warning.column)
        self.productID = warning.productID
        self.message = warning.message
    }
}

/// The content of a catalogue file, in numbers.
public struct CatalogSummary: Hashable, Sendable {
    /// Version of the file's schema, such as `4.0`.
    public var schemaVersion: String
    /// Number of consumables.
    public var consumableCount: Int
    /// Number of non-consumables.
    public var nonConsumableCount: Int
    /// Number of non-renewing subscriptions.
    public var nonRenewingCount: Int
    /// Number of auto-renewable subscriptions.
    public var subscriptionCount: Int
    /// Number of subscription groups.
    public var groupCount: Int
    /// Number of introductory offers.
    public var introductoryOfferCount: Int
    /// Number of promotional offers.
    public var promotionalOfferCount: Int
    /// Number of offers with codes.
    public var codeOfferCount: Int
    /// Number of win-back offers.
    public var winBackOfferCount: Int
    /// Number of promotional images.
    public var imageCount: Int
    /// Suspicious places in the file.
    public var warnings: [CatalogWarning]

    init(_ summary: PerchWire.CatalogSummary) {
        self.schemaVersion = summary.schemaVersion
        self.consumableCount = Int(summary.consumableCount)
        self.nonConsumableCount = Int(summary.nonConsumableCount)
        self.nonRenewingCount = Int(summary.nonRenewingCount)
        self.subscriptionCount = Int(summary.subscriptionCount)
        self.groupCount = Int(summary.groupCount)
        self.introductoryOfferCount = Int(summary.introductoryOfferCount)
        self.promotionalOfferCount = Int(summary.promotionalOfferCount)
        self.codeOfferCount = Int(summary.codeOfferCount)
        self.winBackOfferCount = Int(summary.winBackOfferCount)
        self.imageCount = Int(summary.imageCount)
        self.warnings = summary.warnings.map { CatalogWarning($0) }
    }
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
    /// Identifier of the image, as products name it.
    public var id: String
    /// SHA-256 of the image: 32 bytes.
    public var contentHash: [UInt8]
    /// Length of the image, in bytes.
    public var byteCount: UInt32

    init(_ info: PerchWire.CatalogImageInfo) {
        self.id = info.id
        self.contentHash = info.contentHash
        self.byteCount = info.byteCount
    }
}

/// The catalogue that a load made current.
public struct LoadedCatalog: Hashable, Sendable {
    /// Position of the change.
    public var position: Position
    /// The content of the catalogue, in numbers.
    public var summary: CatalogSummary
}

/// The content of the server's catalogue.
public struct CatalogContents: Hashable, Sendable {
    /// Product identifiers, in the order of the file.
    public var productIDs: [String]
    /// Identifiers of the subscription groups, in the order of the file.
    public var groupIDs: [String]
    /// Origin of the catalogue, as a text for operators.
    public var source: String
    /// The revision that loaded it.
    public var revision: UInt64
    /// The content in numbers, without warnings.
    public var summary: CatalogSummary
    /// Images, sorted by identifier.
    public var images: [CatalogImageInfo]

    init(_ contents: PerchWire.CatalogContents) {
        self.productIDs = contents.productIDs
        self.groupIDs = contents.groupIDs
        self.source = contents.source
        self.revision = contents.revision
        self.summary = CatalogSummary(contents.summary)
        self.images = contents.images.map { CatalogImageInfo($0) }
    }
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

    init(_ metric: PerchWire.Metric) {
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

    init(_ finding: PerchWire.Finding) {
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

    init(_ status: PerchWire.ServerStatus) {
        self.version = status.version
        self.storeID = StoreIdentity(bytes: status.storeID)
        self.epoch = status.epoch
        self.revision = status.revision
        self.metrics = status.metrics.map { Metric($0) }
        self.findings = status.findings.map { Finding($0) }
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

    init(_ summary: PerchWire.BackupSummary) {
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
}
