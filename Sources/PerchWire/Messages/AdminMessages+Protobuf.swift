import CPerchProto
import PerchBase
import PerchModel

extension AppSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__App>, _ arena: Arena) {
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = .init(self.environment)
        message.pointee.product_count = self.productCount
        message.pointee.catalog_source = arena.text(self.catalogSource)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__App>) {
        self.init(
            bundleID: String(wire: message.pointee.bundle_id),
            environment: AppEnvironment(message.pointee.environment), productCount: message.pointee.product_count,
            catalogSource: String(wire: message.pointee.catalog_source)
        )
    }
}

extension AppList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAppsResponse>, _ arena: Arena) {
        (message.pointee.n_apps, message.pointee.apps) = arena.list(self.apps) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAppsResponse>) {
        self.init(apps: readList(message.pointee.n_apps, message.pointee.apps) { AppSummary($0) })
    }
}

extension CatalogWarning {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogWarning>, _ arena: Arena) {
        message.pointee.line = self.line
        message.pointee.column = self.column
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.message = arena.text(self.message)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogWarning>) {
        self.init(
            line: message.pointee.line, column: message.pointee.column,
            productID: String(wire: message.pointee.product_id), message: String(wire: message.pointee.message)
        )
    }
}

extension CatalogSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogSummary>, _ arena: Arena) {
        message.pointee.schema_version = arena.text(self.schemaVersion)
        message.pointee.consumable_count = self.consumableCount
        message.pointee.non_consumable_count = self.nonConsumableCount
        message.pointee.non_renewing_count = self.nonRenewingCount
        message.pointee.subscription_count = self.subscriptionCount
        message.pointee.group_count = self.groupCount
        message.pointee.introductory_offer_count = self.introductoryOfferCount
        message.pointee.promotional_offer_count = self.promotionalOfferCount
        message.pointee.code_offer_count = self.codeOfferCount
        message.pointee.win_back_offer_count = self.winBackOfferCount
        message.pointee.image_count = self.imageCount
        (message.pointee.n_warnings, message.pointee.warnings) = arena.list(self.warnings) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogSummary>) {
        self.init(
            schemaVersion: String(wire: message.pointee.schema_version),
            consumableCount: message.pointee.consumable_count,
            nonConsumableCount: message.pointee.non_consumable_count,
            nonRenewingCount: message.pointee.non_renewing_count,
            subscriptionCount: message.pointee.subscription_count, groupCount: message.pointee.group_count,
            introductoryOfferCount: message.pointee.introductory_offer_count,
            promotionalOfferCount: message.pointee.promotional_offer_count,
            codeOfferCount: message.pointee.code_offer_count, winBackOfferCount: message.pointee.win_back_offer_count,
            warnings: readList(message.pointee.n_warnings, message.pointee.warnings) { CatalogWarning($0) },
            imageCount: message.pointee.image_count
        )
    }
}

extension CatalogImage {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogImage>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.content = arena.bytes(self.content)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogImage>) {
        self.init(id: String(wire: message.pointee.id), content: [UInt8](message.pointee.content))
    }
}

extension CatalogImageInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogImageInfo>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.content_hash = arena.bytes(self.contentHash)
        message.pointee.byte_count = self.byteCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogImageInfo>) {
        self.init(
            id: String(wire: message.pointee.id), contentHash: [UInt8](message.pointee.content_hash),
            byteCount: message.pointee.byte_count)
    }
}

extension CheckCatalogRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__CheckCatalogRequest>, _ arena: Arena) {
        message.pointee.file = arena.bytes(self.file)
        (message.pointee.n_images, message.pointee.images) = arena.list(self.images) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CheckCatalogRequest>) {
        self.init(
            file: [UInt8](message.pointee.file),
            images: readList(message.pointee.n_images, message.pointee.images) { CatalogImage($0) })
    }
}

extension CheckCatalogResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__CheckCatalogResponse>, _ arena: Arena) {
        if !self.summary.isBlank { message.pointee.summary = arena.message { self.summary.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CheckCatalogResponse>) {
        self.init(summary: read(message.pointee.summary) { CatalogSummary($0) } ?? CatalogSummary())
    }
}

extension LoadCatalogRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__LoadCatalogRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.file = arena.bytes(self.file)
        message.pointee.source = arena.text(self.source)
        (message.pointee.n_images, message.pointee.images) = arena.list(self.images) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__LoadCatalogRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(), file: [UInt8](message.pointee.file),
            source: String(wire: message.pointee.source),
            images: readList(message.pointee.n_images, message.pointee.images) { CatalogImage($0) }
        )
    }
}

extension LoadCatalogResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__LoadCatalogResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if !self.summary.isBlank { message.pointee.summary = arena.message { self.summary.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__LoadCatalogResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            summary: read(message.pointee.summary) { CatalogSummary($0) } ?? CatalogSummary()
        )
    }
}

extension GetCatalogRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetCatalogRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCatalogRequest>) {
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference())
    }
}

extension CatalogContents {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetCatalogResponse>, _ arena: Arena) {
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        (message.pointee.n_group_ids, message.pointee.group_ids) = arena.texts(self.groupIDs)
        message.pointee.source = arena.text(self.source)
        message.pointee.revision = self.revision
        if !self.summary.isBlank { message.pointee.summary = arena.message { self.summary.write(to: $0, arena) } }
        (message.pointee.n_images, message.pointee.images) = arena.list(self.images) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCatalogResponse>) {
        self.init(
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            groupIDs: readTexts(message.pointee.n_group_ids, message.pointee.group_ids),
            source: String(wire: message.pointee.source), revision: message.pointee.revision,
            summary: read(message.pointee.summary) { CatalogSummary($0) } ?? CatalogSummary(),
            images: readList(message.pointee.n_images, message.pointee.images) { CatalogImageInfo($0) }
        )
    }
}

extension Metric {
    func write(to message: UnsafeMutablePointer<Perch__V1__Metric>, _ arena: Arena) {
        message.pointee.name = arena.text(self.name)
        message.pointee.labels = arena.text(self.labels)
        message.pointee.value = self.value
        message.pointee.help = arena.text(self.help)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Metric>) {
        self.init(
            name: String(wire: message.pointee.name), labels: String(wire: message.pointee.labels),
            value: message.pointee.value, help: String(wire: message.pointee.help)
        )
    }
}

extension Finding {
    func write(to message: UnsafeMutablePointer<Perch__V1__Finding>, _ arena: Arena) {
        message.pointee.level = arena.text(self.level)
        message.pointee.subject = arena.text(self.subject)
        message.pointee.message = arena.text(self.message)
        message.pointee.remedy = arena.text(self.remedy)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Finding>) {
        self.init(
            level: String(wire: message.pointee.level), subject: String(wire: message.pointee.subject),
            message: String(wire: message.pointee.message), remedy: String(wire: message.pointee.remedy)
        )
    }
}

extension ServerStatus {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetServerStatusResponse>, _ arena: Arena) {
        message.pointee.version = arena.text(self.version)
        message.pointee.store_id = arena.bytes(self.storeID)
        message.pointee.epoch = self.epoch
        message.pointee.revision = self.revision
        (message.pointee.n_metrics, message.pointee.metrics) = arena.list(self.metrics) { $0.write(to: $1, arena) }
        (message.pointee.n_findings, message.pointee.findings) = arena.list(self.findings) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetServerStatusResponse>) {
        self.init(
            version: String(wire: message.pointee.version), storeID: [UInt8](message.pointee.store_id),
            epoch: message.pointee.epoch, revision: message.pointee.revision,
            metrics: readList(message.pointee.n_metrics, message.pointee.metrics) { Metric($0) },
            findings: readList(message.pointee.n_findings, message.pointee.findings) { Finding($0) }
        )
    }
}

extension BackupRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__BackupRequest>, _ arena: Arena) {
        message.pointee.path = arena.text(self.path)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BackupRequest>) {
        self.init(path: String(wire: message.pointee.path))
    }
}

extension BackupSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__BackupResponse>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.byte_count = self.byteCount
        message.pointee.duration_ms = self.durationMilliseconds
        message.pointee.longest_stall_us = self.longestStallMicroseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BackupResponse>) {
        self.init(
            revision: message.pointee.revision, byteCount: message.pointee.byte_count,
            durationMilliseconds: message.pointee.duration_ms,
            longestStallMicroseconds: message.pointee.longest_stall_us)
    }
}

extension RevokeTokenRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RevokeTokenRequest>, _ arena: Arena) {
        message.pointee.token_id = arena.text(self.tokenID)
        message.pointee.expires_at_ms = self.expires?.milliseconds ?? 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RevokeTokenRequest>) {
        let expires = message.pointee.expires_at_ms
        self.init(
            tokenID: String(wire: message.pointee.token_id),
            expires: expires == 0 ? nil : Instant(milliseconds: expires))
    }
}

extension RevokeTokenResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__RevokeTokenResponse>, _ arena: Arena) {
        message.pointee.already_revoked = self.wasRevoked ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RevokeTokenResponse>) {
        self.init(wasRevoked: message.pointee.already_revoked != 0)
    }
}
