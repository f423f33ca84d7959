import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

struct LoadCatalog: ServerMethod {
    typealias Answer = LoadCatalogResponse

    let asked: LoadCatalogRequest

    var auditNote: AuditNote { .audited(printable(self.asked.source)) }

    /// A guest is made by its first catalogue.
    var opensApp: Bool { GuestApps.isGuest(self.asked.app.bundleID, .xcode) }

    private var files: CatalogFiles {
        CatalogFiles(file: self.asked.file, images: self.asked.images, entitlements: self.asked.entitlements)
    }

    func check() throws(CallRefusal) { try self.files.check() }

    func control(_ context: MethodContext) -> ControlRequest {
        let audit = context.entry(self.auditNote, .loadCatalog)
        if context.named == nil {
            return .openGuest(
                self.files, bundleID: self.asked.app.bundleID, source: self.asked.source, audit: audit)
        }
        return .loadCatalog(
            self.files, app: context.app.number, source: self.asked.source, origin: context.caller.clientID,
            audit: audit)
    }
}
