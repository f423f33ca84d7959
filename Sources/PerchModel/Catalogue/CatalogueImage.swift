package import PerchBase

/// A promotional image of a catalogue, without its bytes.
package struct CatalogueImage: Hashable, Sendable {
    /// The name by which products refer to the image.
    package var id: String
    package var hash: ContentHash
    package var byteCount: UInt32

    package init(id: String, hash: ContentHash, byteCount: UInt32) {
        self.id = id
        self.hash = hash
        self.byteCount = byteCount
    }
}

/// The bytes of an image. They are stored by hash, so names and catalogues that share an image store it once.
package struct ImageContent: Hashable, Sendable {
    package let hash: ContentHash
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.hash = ContentHash(of: bytes)
        self.bytes = bytes
    }

    /// The content type by the first bytes; nil for anything but PNG and JPEG.
    package static func contentType(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        return nil
    }
}
