import PerchWire

struct CheckCatalog: ServerMethod {
    typealias Answer = CheckCatalogResponse

    let asked: CheckCatalogRequest

    func control(_ context: MethodContext) -> ControlRequest {
        .checkCatalog(file: self.asked.file, images: self.asked.images)
    }
}
