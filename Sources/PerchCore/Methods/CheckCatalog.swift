import PerchWire

struct CheckCatalog: ServerMethod {
    typealias Answer = CheckCatalogResponse

    let asked: CheckCatalogRequest

    private var files: CatalogFiles {
        CatalogFiles(file: self.asked.file, images: self.asked.images, entitlements: self.asked.entitlements)
    }

    func check() throws(CallRefusal) { try self.files.check() }

    func control(_ context: MethodContext) -> ControlRequest { .checkCatalog(self.files) }
}
