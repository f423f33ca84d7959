import PerchBase
import PerchJSON
import PerchModel

/// An image file that came with a catalogue, under the name that products call it by.
package struct ImageFile: Hashable, Sendable {
    package var id: String
    package var bytes: [UInt8]

    package init(id: String, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}

extension CatalogueLoader {
    /// A product's reference to its image.
    struct NamedImage {
        var id: String
        var place: JSONPlace
        var productID: String
    }

    mutating func promotionalImageID(_ fields: inout Fields) -> String {
        let place = fields.placeOf("promotionalImageID") ?? fields.place
        let id = fields.text("promotionalImageID", &self.findings)
        guard !id.isEmpty else { return "" }
        guard id.utf8.count <= Limits.catalogueIdentifierBytes else {
            self.findings.warn(
                .leftOut, at: place,
                "the ID of an image has \(id.utf8.count) bytes, the limit is \(Limits.catalogueIdentifierBytes); left out"
            )
            return ""
        }
        self.namedImages.append(NamedImage(id: id, place: place, productID: self.findings.productID))
        return id
    }

    /// The images that products name, of the files that came. Too long a one refuses: it would be in the way of all
    /// others. One that is missing, or no image, leaves the product without.
    mutating func images(of files: [ImageFile]) throws(CatalogueError) -> (
        images: [CatalogueImage], contents: [ImageContent]
    ) {
        var images: [CatalogueImage] = []
        var contents: [ImageContent] = []
        var total = 0
        var looked: Set<String> = []
        defer { self.findings.productID = "" }
        for named in self.namedImages where looked.insert(named.id).inserted {
            self.findings.productID = named.productID
            guard let file = files.first(where: { $0.id == named.id }) else {
                let advice =
                    files.isEmpty
                    ? "images come with a bundle directory, as Assets/\(named.id).png" : "no such file is in Assets"
                self.findings.warn(
                    .image, at: named.place, "the image \(quoted(named.id)) is missing; \(advice)")
                continue
            }
            guard file.bytes.count <= Limits.catalogueImageBytes else {
                throw self.findings.error(
                    .imageTooLong, at: named.place,
                    "the image \(quoted(named.id)) has \(file.bytes.count) bytes, the limit is "
                        + "\(Limits.catalogueImageBytes); make it smaller")
            }
            guard ImageContent.contentType(of: file.bytes) != nil else {
                self.findings.warn(
                    .image, at: named.place, "the image \(quoted(named.id)) is neither PNG nor JPEG; left out")
                continue
            }
            total += file.bytes.count
            guard total <= Limits.catalogueImagesBytes else {
                throw self.findings.error(
                    .imageTooLong, at: named.place,
                    "the images up to \(quoted(named.id)) have \(total) bytes together, the limit is "
                        + "\(Limits.catalogueImagesBytes); make them smaller")
            }
            let content = ImageContent(file.bytes)
            images.append(
                CatalogueImage(id: named.id, hash: content.hash, byteCount: UInt32(file.bytes.count)))
            contents.append(content)
        }
        self.findings.productID = ""
        for file in files where !looked.contains(file.id) {
            self.findings.warn(
                .image, at: .start, "no product names the image \(quoted(file.id)); left out")
        }
        return (images.sorted { $0.id < $1.id }, contents)
    }
}
