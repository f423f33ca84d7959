public import PerchBase
public import PerchModel
import PerchWire

/// An app of a server.
public struct AppSummary: Hashable, Sendable {
    public var bundleID: String
    public var environment: AppEnvironment
    /// Products in its catalogue.
    public var productCount: Int
    /// Where its catalogue came from, for people.
    public var catalogSource: String

    init(_ app: PerchWire.AppSummary) {
        self.bundleID = app.bundleID
        self.environment = app.environment
        self.productCount = Int(app.productCount)
        self.catalogSource = app.catalogSource
    }
}

/// A place in a catalogue file where something is odd.
public struct CatalogWarning: Hashable, Sendable {
    /// From 1; 0 where there is none.
    public var line: Int
    /// From 1; 0 where there is none.
    public var column: Int
    /// Empty for none.
    public var productID: String
    /// What is odd, and what was made of it.
    public var message: String

    init(_ warning: PerchWire.CatalogWarning) {
        self.line = Int(warning.line)
        self.column = Int(warning.column)
        self.productID = warning.productID
        self.message = warning.message
    }
}

/// What is in a catalogue file.
public struct CatalogSummary: Hashable, Sendable {
    /// Such as `4.0`.
    public var schemaVersion: String
    public var consumableCount: Int
    public var nonConsumableCount: Int
    public var nonRenewingCount: Int
    public var subscriptionCount: Int
    public var groupCount: Int
    public var introductoryOfferCount: Int
    public var promotionalOfferCount: Int
    public var codeOfferCount: Int
    public var winBackOfferCount: Int
    /// Promotional images.
    public var imageCount: Int
    /// What is odd.
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

/// An image file of a catalogue: of a bundle directory, `Assets/<id>.png`.
public struct CatalogImage: Hashable, Sendable {
    /// What products name it by.
    public var id: String
    /// PNG or JPEG.
    public var content: [UInt8]

    public init(id: String, content: [UInt8]) {
        self.id = id
        self.content = content
    }

    var message: PerchWire.CatalogImage { PerchWire.CatalogImage(id: self.id, content: self.content) }
}

/// An image that a catalogue holds.
public struct CatalogImageInfo: Hashable, Sendable {
    /// What products name it by.
    public var id: String
    /// SHA-256, 32 bytes.
    public var contentHash: [UInt8]
    public var byteCount: UInt32

    init(_ info: PerchWire.CatalogImageInfo) {
        self.id = info.id
        self.contentHash = info.contentHash
        self.byteCount = info.byteCount
    }
}

/// A catalogue that is in force.
public struct LoadedCatalog: Hashable, Sendable {
    /// Where the change stands.
    public var position: Position
    /// What is in it.
    public var summary: CatalogSummary
}

/// What a catalogue holds.
public struct CatalogContents: Hashable, Sendable {
    /// In the order of the file.
    public var productIDs: [String]
    /// In the order of the file.
    public var groupIDs: [String]
    /// Where it came from, for people.
    public var source: String
    /// The revision that loaded it.
    public var revision: UInt64
    /// It in numbers, without warnings.
    public var summary: CatalogSummary
    /// By identifier.
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
    /// By the Prometheus conventions.
    public var name: String
    /// `key="value"`, comma-separated; empty for none.
    public var labels: String
    public var value: Double
    /// What it means.
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
    /// `ok`, `warning` or `problem`.
    public var level: String
    /// What was looked at.
    public var subject: String
    /// What was found, with the numbers.
    public var message: String
    /// What to do about it; empty with `ok`.
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
    /// Of the server program.
    public var version: String
    /// Names the store for ever; nil if the server sent no such name.
    public var storeID: StoreIdentity?
    public var epoch: UInt32
    /// The newest one.
    public var revision: UInt64
    /// Every counter, gauge and histogram.
    public var metrics: [Metric]
    /// What the server finds of itself.
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
    /// The revision that it holds, and every one before.
    public var revision: UInt64
    /// Length of the file.
    public var byteCount: UInt64
    public var duration: Duration
    /// The longest that it kept the store from other work at a time.
    public var longestStall: Duration

    init(_ summary: PerchWire.BackupSummary) {
        self.revision = summary.revision
        self.byteCount = summary.byteCount
        self.duration = .milliseconds(Int64(clamping: summary.durationMilliseconds))
        self.longestStall = .microseconds(Int64(clamping: summary.longestStallMicroseconds))
    }
}
