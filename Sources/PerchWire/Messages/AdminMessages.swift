package import PerchBase
package import PerchModel

/// An app of a server.
package struct AppSummary: Hashable, Sendable {
    /// Its bundle identifier.
    package var bundleID: String
    /// Its store.
    package var environment: AppEnvironment
    /// Products in its catalogue.
    package var productCount: UInt32
    /// Where its catalogue came from, for people.
    package var catalogSource: String

    package init(
        bundleID: String = "", environment: AppEnvironment = .unspecified, productCount: UInt32 = 0,
        catalogSource: String = ""
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.productCount = productCount
        self.catalogSource = catalogSource
    }
}

/// The apps of a server.
package struct AppList: Hashable, Sendable {
    /// By bundle identifier.
    package var apps: [AppSummary]

    package init(apps: [AppSummary] = []) {
        self.apps = apps
    }
}

/// A place in a catalogue file where something is odd.
package struct CatalogWarning: Hashable, Sendable {
    /// From 1; 0 where there is none.
    package var line: UInt32
    /// From 1; 0 where there is none.
    package var column: UInt32
    /// Empty for none.
    package var productID: String
    /// What is odd, and what was made of it.
    package var message: String

    package init(line: UInt32 = 0, column: UInt32 = 0, productID: String = "", message: String = "") {
        self.line = line
        self.column = column
        self.productID = productID
        self.message = message
    }
}

/// What is in a catalogue.
package struct CatalogSummary: Hashable, Sendable {
    /// Such as `4.0`.
    package var schemaVersion: String
    package var consumableCount: UInt32
    package var nonConsumableCount: UInt32
    package var nonRenewingCount: UInt32
    package var subscriptionCount: UInt32
    package var groupCount: UInt32
    package var introductoryOfferCount: UInt32
    package var promotionalOfferCount: UInt32
    package var codeOfferCount: UInt32
    package var winBackOfferCount: UInt32
    /// What is odd.
    package var warnings: [CatalogWarning]
    package var imageCount: UInt32

    package init(
        schemaVersion: String = "", consumableCount: UInt32 = 0, nonConsumableCount: UInt32 = 0,
        nonRenewingCount: UInt32 = 0, subscriptionCount: UInt32 = 0, groupCount: UInt32 = 0,
        introductoryOfferCount: UInt32 = 0, promotionalOfferCount: UInt32 = 0, codeOfferCount: UInt32 = 0,
        winBackOfferCount: UInt32 = 0, warnings: [CatalogWarning] = [], imageCount: UInt32 = 0
    ) {
        self.schemaVersion = schemaVersion
        self.consumableCount = consumableCount
        self.nonConsumableCount = nonConsumableCount
        self.nonRenewingCount = nonRenewingCount
        self.subscriptionCount = subscriptionCount
        self.groupCount = groupCount
        self.introductoryOfferCount = introductoryOfferCount
        self.promotionalOfferCount = promotionalOfferCount
        self.codeOfferCount = codeOfferCount
        self.winBackOfferCount = winBackOfferCount
        self.warnings = warnings
        self.imageCount = imageCount
    }
}

/// An image file of a catalogue.
package struct CatalogImage: Hashable, Sendable {
    /// What products name it by.
    package var id: String
    package var content: [UInt8]

    package init(id: String = "", content: [UInt8] = []) {
        self.id = id
        self.content = content
    }
}

/// Asks what is in a file.
package struct CheckCatalogRequest: Hashable, Sendable {
    /// The file.
    package var file: [UInt8]
    package var images: [CatalogImage]

    package init(file: [UInt8] = [], images: [CatalogImage] = []) {
        self.file = file
        self.images = images
    }
}

/// What is in a file.
package struct CheckCatalogResponse: Hashable, Sendable {
    /// The summary.
    package var summary: CatalogSummary

    package init(summary: CatalogSummary = CatalogSummary()) {
        self.summary = summary
    }
}

/// Replaces an app's catalogue.
package struct LoadCatalogRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The file.
    package var file: [UInt8]
    /// Where it came from, for people.
    package var source: String
    package var images: [CatalogImage]

    package init(
        app: AppReference = AppReference(), file: [UInt8] = [], source: String = "", images: [CatalogImage] = []
    ) {
        self.app = app
        self.file = file
        self.source = source
        self.images = images
    }
}

/// The catalogue is loaded.
package struct LoadCatalogResponse: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// What is in it.
    package var summary: CatalogSummary

    package init(position: Position? = nil, summary: CatalogSummary = CatalogSummary()) {
        self.position = position
        self.summary = summary
    }
}

/// Asks what a catalogue holds.
package struct GetCatalogRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference

    package init(app: AppReference = AppReference()) {
        self.app = app
    }
}

/// An image that a catalogue holds.
package struct CatalogImageInfo: Hashable, Sendable {
    /// What products name it by.
    package var id: String
    /// SHA-256.
    package var contentHash: [UInt8]
    package var byteCount: UInt32

    package init(id: String = "", contentHash: [UInt8] = [], byteCount: UInt32 = 0) {
        self.id = id
        self.contentHash = contentHash
        self.byteCount = byteCount
    }
}

/// What a catalogue holds.
package struct CatalogContents: Hashable, Sendable {
    /// In the order of the file.
    package var productIDs: [String]
    /// In the order of the file.
    package var groupIDs: [String]
    /// Where it came from, for people.
    package var source: String
    /// The revision that loaded it.
    package var revision: UInt64
    /// Without warnings.
    package var summary: CatalogSummary
    /// By identifier.
    package var images: [CatalogImageInfo]

    package init(
        productIDs: [String] = [], groupIDs: [String] = [], source: String = "", revision: UInt64 = 0,
        summary: CatalogSummary = CatalogSummary(), images: [CatalogImageInfo] = []
    ) {
        self.productIDs = productIDs
        self.groupIDs = groupIDs
        self.source = source
        self.revision = revision
        self.summary = summary
        self.images = images
    }
}

/// One measured value.
package struct Metric: Hashable, Sendable {
    /// By the Prometheus conventions.
    package var name: String
    /// `key="value"`, comma-separated; empty for none.
    package var labels: String
    package var value: Double
    /// What it means.
    package var help: String

    package init(name: String = "", labels: String = "", value: Double = 0, help: String = "") {
        self.name = name
        self.labels = labels
        self.value = value
        self.help = help
    }
}

/// A finding of the server about itself.
package struct Finding: Hashable, Sendable {
    /// `ok`, `warning` or `problem`.
    package var level: String
    /// What was looked at.
    package var subject: String
    /// What was found, with the numbers.
    package var message: String
    /// What to do about it; empty with `ok`.
    package var remedy: String

    package init(level: String = "", subject: String = "", message: String = "", remedy: String = "") {
        self.level = level
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }
}

/// The state of a server.
package struct ServerStatus: Hashable, Sendable {
    /// Of the server program.
    package var version: String
    /// Identity of the store: 16 bytes.
    package var storeID: [UInt8]
    /// Epoch of the store.
    package var epoch: UInt32
    /// The newest one.
    package var revision: UInt64
    /// Every counter, gauge and histogram.
    package var metrics: [Metric]
    /// What the server finds of itself.
    package var findings: [Finding]

    package init(
        version: String = "", storeID: [UInt8] = [], epoch: UInt32 = 0, revision: UInt64 = 0, metrics: [Metric] = [],
        findings: [Finding] = []
    ) {
        self.version = version
        self.storeID = storeID
        self.epoch = epoch
        self.revision = revision
        self.metrics = metrics
        self.findings = findings
    }
}

/// Asks for a copy of the store.
package struct BackupRequest: Hashable, Sendable {
    /// Where to, on the server's machine.
    package var path: String

    package init(path: String = "") { self.path = path }
}

/// A copy that is complete and on the disk.
package struct BackupSummary: Hashable, Sendable {
    /// The revision that it holds, and every one before.
    package var revision: UInt64
    /// Length of the file.
    package var byteCount: UInt64
    package var durationMilliseconds: UInt64
    /// The longest that it kept the store from other work at a time.
    package var longestStallMicroseconds: UInt64

    package init(
        revision: UInt64 = 0, byteCount: UInt64 = 0, durationMilliseconds: UInt64 = 0,
        longestStallMicroseconds: UInt64 = 0
    ) {
        self.revision = revision
        self.byteCount = byteCount
        self.durationMilliseconds = durationMilliseconds
        self.longestStallMicroseconds = longestStallMicroseconds
    }
}

/// Takes a token back.
package struct RevokeTokenRequest: Hashable, Sendable {
    /// Its `jti`, or `sha256:` and a hash; never the token.
    package var tokenID: String
    /// When it would have ended by itself; 0 in the contract is nil here.
    package var expires: Instant?

    package init(tokenID: String = "", expires: Instant? = nil) {
        self.tokenID = tokenID
        self.expires = expires
    }
}

/// The token is taken back.
package struct RevokeTokenResponse: Hashable, Sendable {
    package var wasRevoked: Bool

    package init(wasRevoked: Bool = false) { self.wasRevoked = wasRevoked }
}
