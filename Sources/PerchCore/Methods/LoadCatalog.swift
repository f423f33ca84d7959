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

    func control(_ context: MethodContext) -> ControlRequest {
        if context.named == nil {
            return .openGuest(
                bundleID: self.asked.app.bundleID, file: self.asked.file, images: self.asked.images,
                source: self.asked.source, audit: context.entry(self.auditNote, .loadCatalog))
        }
        return .loadCatalog(
            app: context.app.number, file: self.asked.file, images: self.asked.images, source: self.asked.source,
            origin: context.caller.clientID, audit: context.entry(self.auditNote, .loadCatalog))
    }
}
