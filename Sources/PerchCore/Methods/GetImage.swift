import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct GetImage: MethodHandler {
    let asked: GetImageRequest

    func check() throws(CallRefusal) {
        try Check.present(self.asked.imageID, "image_id")
        let count = self.asked.knownHash.count
        guard count == 0 || count == ContentHash.byteCount else {
            throw CallRefusal(
                .fieldInvalid,
                "known_hash has \(count) bytes; send the \(ContentHash.byteCount) of content_hash, or none",
                details: [.field("known_hash"), .found(count)])
        }
    }

    /// The catalogue has the hash of an image, so a caller with the current bytes is answered at once.
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        let catalogue = context.app.catalogue
        guard let image = catalogue.image(self.asked.imageID) else { throw self.unknown(context.app) }
        guard self.asked.knownHash == image.hash.bytes else { return .ask(.image(context.app.number, image.hash)) }
        return .answer(
            Self.response(ImageAnswer(contentHash: image.hash.bytes, isUnchanged: true)), counting: \.imagesUnchanged)
    }

    /// No bytes: the catalogue was replaced in the meantime. That change is already applied, so the newer catalogue is asked.
    /// Repetition needs another catalogue load each time.
    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .image(let bytes, let hash) = found else { preconditionFailure("an image was asked for") }
        guard let bytes else { return try self.begin(context) }
        return .answer(
            Self.response(
                ImageAnswer(
                    contentHash: hash.bytes, contentType: ImageContent.contentType(of: bytes) ?? "", content: bytes)),
            counting: \.imagesSent)
    }

    private func unknown(_ app: AppState) -> CallRefusal {
        let (id, count) = (self.asked.imageID, app.catalogue.images.count)
        let advice =
            count == 0
            ? "it has none; load a bundle directory with Assets/\(id).png"
            : "it has \(count); ask for the promotional_image_id of a product"
        return CallRefusal(
            .imageUnknown, "the catalogue of \(app.bundleID) has no image \(id); \(advice)",
            details: [.field("image_id"), StatusDetail(key: "found", value: id)])
    }
}
